"""Vocabulary, random helpers and builders of evidence and of queries shared by the fourth set of generators."""

# ruff: noqa: SIM905

import json
import random
import string
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from bench.fidelity.planted import Fact, _stands, normal

Evidence = tuple[tuple[str, ...], ...]

GIVEN = (
    "Adele Bruno Celia Dario Edith Franz Gina Henrik Isolde Jakub Klara Leon Mila Noor Oskar Petra Quentin Rania "
    "Stefan Thea Ugo Viktor Wanda Yara Zeno Agnes Boris Clara Dmitri Eszter Fabio Gloria Hamid Ilse Joao Kaja"
).split()
FAMILY = (
    "Alvarez Bauer Carlsen Diaz Engel Fabre Gruber Horvat Iversen Jansen Keller Lehmann Marino Nagy Olsen Pereira "
    "Ruiz Schmid Toth Ulrich Vidal Wagner Yamada Zeller Berger Costa Dubois Egger Ferreira Grimm Hoffer"
).split()
TEAMS = (
    "accounts alerts archive auth billing booking cart catalog claims content delivery devices discovery exports fleet "
    "forms fraud fulfil gateway geo graph inbox insights inventory invoicing ledger loans mapping market media metrics "
    "offers partners payout places planner policy pricing profile quotes rates returns reviews rewards roster routes "
    "rules scoring search sensors sessions shipping stock storage support survey sync tariffs telemetry tickets tours "
    "tracking transit uploads usage vault vendors video wallet"
).split()
THINGS = (
    "account address agenda album amount anchor answer badge balance banner basket block board border branch bucket "
    "bundle button campaign canvas card carrier cell chapter chart circle clause client column comment contract corner "
    "coupon cover credit cursor dataset deposit digest disc domain draft drawer driver edge editor element engine entry "
    "event export factor family feature field figure filter flag folder footer form frame garden grid group handle "
    "header holder icon image index input item journal kernel label layer layout leaf lesson letter level line link "
    "locale logo loop machine margin marker matrix member menu message meter mirror model module mount network node "
    "note notice number object offer order outlet output owner packet page panel parcel partner path pattern payload "
    "period phase photo picture piece pixel plan plate point port post prefix price printer profile project quota "
    "range ratio reader receipt record region relay request reserve result review ribbon river root route rule sample "
    "scale schema scope screen script seat section segment series shape sheet shelf shop signal site slice slot socket "
    "source space spring stage stamp station step store stream style subject suffix summary switch symbol table target "
    "task template term theme thread ticket tile timer title topic track trail transfer tray tree tunnel type unit "
    "value variant vector version view visit volume voucher wheel widget window wire word worker zone"
).split()
PLAIN = (
    "active annual basic blank blue bright broad central clear common compact current daily deep direct double early "
    "external final first fixed flat free fresh full general gentle global green half hidden inner internal joint large "
    "late light linear little local long main major manual minor mixed mobile modern monthly narrow native neutral new "
    "normal old open outer partial plain prime public quick quiet random rapid recent regular remote round second "
    "shared short silent simple single slow small smooth soft solid spare square standard static steady strict strong "
    "tall thin upper usual valid visual warm weekly whole wide young"
).split()
DOING = (
    "accept add adjust apply arrange assign attach build carry change check choose clean close collect combine compare "
    "compile compute confirm connect convert copy count create cut decode deliver describe detect divide draw drop edit "
    "encode enter expand extend fetch fill filter find finish fold follow format forward gather group guide handle hold "
    "import insert inspect join keep launch lead learn lift limit list load locate lower map mark match measure merge "
    "mount move name note offer open order pack parse pass pause pick place plan prepare present press print promote "
    "publish pull push raise read receive record reduce refresh register release remind rename render repeat replace "
    "report request reset resize resolve restore return review rotate save scan select send serve share shift show sign "
    "sort split start stop store submit switch test trace train translate trim turn update use verify visit wait walk "
    "watch wrap write"
).split()
TOWNS = (
    "Aachen Basel Cadiz Dijon Essen Ferrara Girona Halle Innsbruck Jena Kassel Linz Metz Namur Oulu Parma Rouen Siena "
    "Trento Uppsala Vaasa Worms Zadar Arles Bologna Chur Delft Evora Freiburg Gera Huelva Ivrea"
).split()


def pick(rng: random.Random, weights: dict[str, float]) -> str:
    """One key by its weight."""
    return rng.choices(list(weights), list(weights.values()))[0]


def people(rng: random.Random, count: int) -> list[str]:
    return rng.sample([f"{one} {two}" for one in GIVEN for two in FAMILY], count)


def login(name: str) -> str:
    return name.lower().replace(" ", ".")


def near(rng: random.Random, middle: float, spread: float, low: float, high: float) -> float:
    """A number around a middle, never outside its range."""
    return min(high, max(low, rng.gauss(middle, spread)))


def hexes(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789abcdef", k=count))


def alnum(rng: random.Random, count: int) -> str:
    return "".join(rng.choices(string.ascii_letters + string.digits, k=count))


def uuid(rng: random.Random) -> str:
    h = hexes(rng, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-b{h[17:20]}-{h[20:]}"


def camel(*parts: str) -> str:
    return "".join(part[0].upper() + part[1:] for part in parts)


def lower_camel(*parts: str) -> str:
    name = camel(*parts)
    return name[0].lower() + name[1:]


def distinct(rng: random.Random, count: int, make: Callable[[random.Random], str]) -> list[str]:
    """So many different values of a maker."""
    seen: dict[str, None] = {}
    while len(seen) < count:
        seen[make(rng)] = None
    return list(seen)


def two(rng: random.Random, sep: str = "-") -> str:
    """A name of two words."""
    return f"{rng.choice(PLAIN)}{sep}{rng.choice(THINGS)}"


def sentence(rng: random.Random) -> str:
    """A dull English sentence."""
    a, b, c = rng.sample(THINGS, 3)
    x, y = rng.sample(PLAIN, 2)
    v, u = rng.sample(DOING, 2)
    return rng.choice(
        (
            f"The {x} {a} can {v} one {b} for every {y} {c}.",
            f"When a {a} is {x}, the {b} will {v} the {c} first.",
            f"Most {a} entries {v} the {x} {b} and then {u} the {c}.",
            f"You may {v} the {a} together with its {y} {b}.",
            f"A {x} {a} stays with the {b} that it came from.",
            f"It is usual to {v} the {b} before you {u} the {x} {a}.",
            f"The {a} and the {b} share one {y} {c}.",
            f"Use the {x} {a} to {v} and to {u} the {b}.",
        )
    )


def paragraph(rng: random.Random, least: int = 3, most: int = 6) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(least, most)))


def heading(rng: random.Random) -> str:
    return (
        f"{rng.choice(DOING).capitalize()} the {rng.choice(PLAIN)} {rng.choice(THINGS)} {rng.choice(THINGS)}"
    )


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    lines, line = [], indent
    for word in text.split():
        if len(line) + len(word) > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return [*lines, line.rstrip()]


class Clock:
    """Moments with jitter."""

    def __init__(self, rng: random.Random, start: datetime, low: float, high: float) -> None:
        self.rng, self.now, self.low, self.high = rng, start, low, high

    def tick(self) -> datetime:
        self.now += timedelta(seconds=self.rng.uniform(self.low, self.high))
        return self.now


def spots(
    rng: random.Random, size: int, count: int, apart: int = 5, low: float = 0.06, high: float = 0.95
) -> list[int]:
    """So many positions of a list, away from its ends and from each other, in random order."""
    places = list(range(int(size * low), int(size * high)))
    free = len(places) - (count - 1) * (apart - 1)
    assert free >= count, (size, count, apart)
    found = [places[at + k * (apart - 1)] for k, at in enumerate(sorted(rng.sample(range(free), count)))]
    rng.shuffle(found)
    return found


# Evidence

SAME = "duplicate,twice,2 times,2×,×2, x2,2x,repeated,not unique,appears 2,double,2 of them".split(",")
GONE = "missing,without,absent,lacks,no ,not ,null,empty,only,except,all but,∅,none,unset".split(",")
LEAP = "gap,missing,jump,skip,not consecutive,absent,silence,pause,lost,→,..,–".split(",")


def pairs(left: Iterable[object], right: Iterable[object]) -> Evidence:
    """Each of the left with each of the right."""
    rights = list(right)
    return tuple((str(one), str(two)) for one in left for two in rights)


def spell(value: float) -> list[str]:
    """The spellings of a number."""
    if isinstance(value, int):
        return [str(value), f"{value}.0"]
    return list(dict.fromkeys([str(value), f"{value:.2f}", f"{value:.3f}", str(round(value, 4))]))


def same(ident: object, *places: object) -> Evidence:
    """A duplicate: its id and a word for it, or both places."""
    both = (tuple(str(one) for one in places),) if len(places) > 1 else ()
    return (*pairs([ident], SAME), (f"{ident}|2",), *both)


def count(number: int, *names: object) -> Evidence:
    """How often a value occurs; the names are spellings of the value."""
    found: list[tuple[str, ...]] = []
    for one in map(str, names):
        found += [(one, str(number)), (one, f"{one}\n{number}"), (f'"{one}"', str(number))]
        for sep in (
            ": ",
            " ",
            " (",
            "=",
            " ×",
            " × ",
            "×",
            " x",
            '": ',
            "` ",
            "` (",
            " | ",
            "\t",
            '" (',
            ":",
            "|",
        ):
            found.append((f"{one}{sep}{number}",))
        for sep in (" – ", " - ", "` × ", "`: ", " n=", '" ×', '" ', "' (", ", ", " = ", " → ", "` ×"):
            found.append((f"{one}{sep}{number}",))
        for sep in (" ", "× ", " × ", "x ", " of ", ": ", "|", "\t", " `", ' "', " with ", " are ", " in "):
            found.append((f"{number}{sep}{one}",))
    return tuple(found)


def gone(places: Iterable[object], *fields: str) -> Evidence:
    """A missing field: the identity or place of its item with the name of the field."""
    names = [str(one) for one in places]
    return pairs(names, fields) + tuple(
        (one, field, word) for one in names for field in fields for word in GONE
    )


def gap(missing: Sequence[object], before: object, after: object) -> Evidence:
    """A gap in what is consecutive."""
    found: list[tuple[str, ...]] = [(str(one),) for one in missing if len(str(one)) >= 4]
    found += [(str(one), word) for one in missing for word in LEAP[:9]]
    found += [(str(before), str(after)), (f"{before}|{after}",), (f"{after}|{before}",)]
    found += [(str(before), str(after), word) for word in LEAP]
    found += [(str(one), word) for one in (before, after) for word in LEAP[:9]]
    return tuple(found)


def span(start: str, end: str) -> Evidence:
    """A range of moments, written as in the text."""
    forms: list[tuple[str, ...]] = [(start, end)]
    for old, new in (("T", " "), (" ", "T")):
        if old in start:
            forms.append((start.replace(old, new), end.replace(old, new)))
    return tuple(forms)


def known(telling: Iterable[object], names: Iterable[object], base: str, at: int) -> Evidence:
    """A telling value with the identity or the place of its item; a bare number only beside a clear value."""
    values = [str(one) for one in telling]
    words = ("#", "item ", "row ", "index ", "n=")
    more = [
        *names,
        f"{base}/{at}",
        f"[{at}]",
        *(f"{one}{at}" for one in words),
        f"#{at + 1}",
        f"row {at + 1}",
    ]
    clear = [one for one in values if len(one) >= (5 if one.strip("-").isdigit() else 4)]
    return pairs(values, more) + pairs(clear, [at])


# Queries


def quoted(word: str) -> str:
    return "'" + word.replace("'", "''") + "'"


def find(word: str, more: str = "") -> str:
    """The lines that hold a word or match a /regex/."""
    rest = f" {more}" if more else ""
    if len(word) > 2 and word[0] == word[-1] == "/":
        return f"SELECT n, text FROM lines WHERE text REGEXP {quoted(word[1:-1])}{rest}"  # noqa: S608
    return f"SELECT n, text FROM lines WHERE text LIKE {quoted(f'%{word}%')}{rest}"  # noqa: S608


def how_many(label: str, word: str) -> str:
    """How many lines hold a word or match a /regex/."""
    return find(word).replace("SELECT n, text", f'SELECT count(*) AS "{label}"', 1)


class Notes:
    """Collects the facts of one case."""

    def __init__(self) -> None:
        self.items: list[tuple[Fact, bool]] = []

    def say(
        self,
        what: str,
        evidence: Evidence,
        *searches: str,
        pointer: str = "",
        line: int = 0,
        hidden: str = "",
        sql: Iterable[str] = (),
        derived: bool = False,
    ) -> None:
        """Add a fact; a derived one is written nowhere in the text, so what stands there by accident is dropped."""
        assert searches, what
        queries = (sql,) if isinstance(sql, str) else tuple(sql)
        self.items.append((Fact(what, evidence, tuple(searches), pointer, line, hidden, queries), derived))

    def tally(self, number: int, names: Sequence[object], *searches: str, sql: Iterable[str] = ()) -> None:
        """A count by category, or of all."""
        self.say("count", count(number, *names), *searches, sql=sql, derived=True)

    def parts(self, text: str) -> tuple[str, list[Fact]]:
        try:
            shape = json.dumps(json.loads(text), indent=1)
        except ValueError:
            shape = text
        lines = normal(shape).split("\n")
        facts = []
        for fact, derived in self.items:
            if derived:
                kept = tuple(one for one in fact.evidence if not _stands(tuple(map(normal, one)), lines))
                assert kept, ("all evidence is accidental", fact.what, fact.evidence[:4])
                fact = Fact(
                    fact.what, kept, fact.searches, fact.pointer, fact.line, fact.hidden, fact.queries
                )
            facts.append(fact)
        assert 14 <= len(facts) <= 16, len(facts)
        return text, facts


class Lines(Notes):
    """Facts about a text whose rows begin at a known line."""

    def __init__(self, first: int = 1) -> None:
        super().__init__()
        self.first = first

    def one(
        self,
        what: str,
        at: int,
        telling: Iterable[object],
        names: Iterable[object],
        *searches: str,
        hidden: str = "",
        sql: Iterable[str] = (),
        derived: bool = False,
    ) -> None:
        """A telling value with a name of its row or the number of its line."""
        line = at + self.first
        asked = sql or (find(searches[0]),)
        evidence = pairs(telling, [*names, line])
        self.say(what, evidence, *searches, line=line, hidden=hidden, sql=asked, derived=derived)


class Page(Lines):
    """A text built line by line, with remembered places."""

    def __init__(self) -> None:
        super().__init__(0)
        self.lines: list[str] = []
        self.at: dict[str, int] = {}

    def add(self, *lines: str, mark: str = "", shift: int = 0) -> None:
        """Add lines; the mark remembers the first of them (or one further down)."""
        if mark:
            assert mark not in self.at, mark
            self.at[mark] = len(self.lines) + 1 + shift
        self.lines += lines

    def here(
        self,
        what: str,
        mark: str,
        telling: Iterable[object],
        names: Iterable[object],
        *searches: str,
        hidden: str = "",
        sql: Iterable[str] = (),
    ) -> None:
        self.one(what, self.at[mark], telling, names, *searches, hidden=hidden, sql=sql)

    def done(self) -> tuple[str, list[Fact]]:
        assert not any("\n" in line for line in self.lines)
        return self.parts("\n".join(self.lines) + "\n")


class Items(Notes):
    """Facts about the items of one list of a document."""

    def __init__(self, base: str, names: Sequence[Iterable[object]], ident: str = "") -> None:
        super().__init__()
        self.base, self.names, self.ident = base, names, ident

    def one(
        self,
        what: str,
        i: int,
        telling: Iterable[object],
        path: str,
        *searches: str,
        hidden: str = "",
        sql: Iterable[str] = (),
    ) -> None:
        """A telling value with a name or the place of its item."""
        evidence = known(telling, self.names[i], self.base, i)
        self.say(what, evidence, *searches, pointer=f"{self.base}/{i}{path}", hidden=hidden, sql=sql)

    def lost(
        self, i: int, field: str, path: str = "", sql: Iterable[str] = (), more: Sequence[str] = ()
    ) -> None:
        """A field that one item lacks."""
        places = [*self.names[i], f"{self.base}/{i}", f"#{i}", f"item {i}", f"row {i}"]
        evidence = gone(places, field, *more)
        self.say("missing field", evidence, field, pointer=f"{self.base}/{i}{path}", sql=sql, derived=True)

    def twice(
        self, i: int, j: int, ident: object, path: str, *searches: str, sql: Iterable[str] = ()
    ) -> None:
        """An id that two items share."""
        both = [(f"{self.base}/{i}", f"{self.base}/{j}"), (f"{i}|{ident}", f"{j}|{ident}"), (f"{ident}|2",)]
        both += [(str(one), str(two)) for one in self.names[i] for two in self.names[j] if one != two]
        evidence = (*same(ident), *both)
        asked = (str(ident), *searches)
        self.say("duplicate", evidence, *asked, pointer=f"{self.base}/{j}{path}", sql=sql, derived=True)
