"""Vocabulary, invented values and ways to say facts, shared by the generators of this set."""

import base64
import json
import random
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bench.fidelity.planted import Fact

FIRST = """Anna Bruno Carla David Elena Farid Greta Hassan Ines Jonas Karin Liam Mona Nikhil Olga Pavel Rosa
Samir Tara Ulrich Vera Wei Yusuf Zoe Marta Oscar Petra Diego Lena Tomas Aisha Ben Chloe Dario Emil
Freya Gita Hugo""".split()
LAST = """Abel Berger Castillo Dietrich Eriksen Fontaine Gruber Haddad Ivanov Jansen Keller Lindqvist Moreau
Novak Okafor Petrov Quinn Rossi Schmidt Tanaka Ueda Vargas Weber Xu Yilmaz Zimmer Larsen Marino
Nguyen Olsen Price Romano""".split()
CITIES = (
    """Lisbon Porto Vienna Prague Zurich Geneva Turin Milan Bologna Lyon Nantes Ghent Utrecht Aarhus Bergen
Malmo Tampere Riga Tallinn Gdansk Krakow Brno Graz Split Valencia Seville Cork Leeds""".split()
)
SERVICES = """auth billing cart catalog checkout courier customer delivery feed gateway geo identity inventory
invoice ledger loyalty mailer media notifier order partner payment pricing profile quota recommender
refund report review scheduler search session shipping stock subscription tax ticket translation
upload wallet webhook""".split()
NOUNS = (
    """account address adapter archive asset batch branch bucket buffer cache channel client cluster column
config contract counter coupon cursor device document draft endpoint entity event export filter
folder handler header image intake index item job key label layout lease limit link list locale lock
mapping member message meter metric module node note offer option owner packet page parcel parser
partition path plan policy pool position profile query queue range record region registry request
resource result role route row rule sample schema segment series shard signal site snapshot source
stage state store stream subject tenant thread timer topic track unit value vendor version view
volume window worker zone""".split()
)
VERBS = """apply assign attach build check clear close collect compare compute convert copy create decode
delete describe detach encode expand export fetch filter find flush format group handle ingest
insert join list load lookup merge move normalize open order parse patch prepare print publish push
read rebuild reduce register release remove render resolve restore route save scan schedule select
send serialize split start store sync track trim update validate verify visit walk wrap write""".split()
ADJECTIVES = (
    """active ambient base basic brief calm clean common compact current daily default direct dynamic early
empty even external fast final first fixed flat general global inner internal known large late light
linear local main manual median minor mixed native nested new next normal open outer partial plain
primary private public quick recent regular remote shared short simple single small soft stable
static steady strict sub temporary total typical upper usual valid weekly wide""".split()
)
_SUBJECTS = """The {n} service;Each {n};A {a} {n};The {a} {n};Every {n} of the {m};The {n} of a {m};
The operator;An administrator;The {n} handler;The {a} {n} of the {m};A client;The reader""".replace(
    "\n", ""
).split(";")
_MIDDLES = """keeps the {n} of its {m};is described by a {a} {n};reads the {n} before the {m};
writes one {n} per {m};may refer to a {a} {n};belongs to exactly one {n};holds a copy of the {a} {n};
is written next to the {n};takes its {n} from the {m};compares the {a} {n} with the {m};
hands the {n} over to the {m};lists the {n} together with its {m};follows the {a} {n}""".replace(
    "\n", ""
).split(";")
_TAILS = """;;; when the {n} is opened; as long as the {m} is in use; unless the {a} {n} says otherwise;
 in the order in which they were created; so that the {m} stays readable; at the end of each {n};
 and leaves the {m} as it was; if a {a} {m} is given; as shown in the {n} view""".replace("\n", "").split(";")
TWICE = (
    "duplicate",
    "twice",
    "2 times",
    "2×",
    "2x",
    "x2",
    "×2",
    "repeated",
    "not unique",
    "same id",
    "two records",
)
ABSENT = ("missing", "absent", "without", "lacks", "no value", "null", "empty", "not present", "not set")
Tell = str | tuple[str, ...]


def person(rng: random.Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def email_of(name: str, domain: str = "example.com") -> str:
    return f"{name.lower().replace(' ', '.')}@{domain}"


def hexes(rng: random.Random, size: int) -> str:
    return "".join(rng.choices("0123456789abcdef", k=size))


def token(rng: random.Random, size: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(rng.choices(letters, k=size))


def uuid_of(rng: random.Random) -> str:
    return f"{hexes(rng, 8)}-{hexes(rng, 4)}-4{hexes(rng, 3)}-a{hexes(rng, 3)}-{hexes(rng, 12)}"


def aws_key(rng: random.Random) -> str:
    return "AKIA" + token(rng, 16, string.ascii_uppercase + "234567")


def github_token(rng: random.Random) -> str:
    return "ghp_" + token(rng, 36)


def stripe_key(rng: random.Random) -> str:
    return "sk_live_" + token(rng, 24)


def jwt(rng: random.Random) -> str:
    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    head = part({"alg": "HS256", "typ": "JWT"})
    return f"{head}.{part({'sub': hexes(rng, 8), 'role': 'admin', 'exp': 1893456000})}.{token(rng, 43)}"


def key_block(rng: random.Random) -> list[str]:
    """A private key in PEM form; its letters are random."""
    body = [token(rng, 64, string.ascii_letters + string.digits + "+/") for _ in range(12)]
    return ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----"]


def ip_of(rng: random.Random, first: str = "10.") -> str:
    return first + ".".join(str(rng.randint(2, 250)) for _ in range(4 - first.count(".")))


def _filled(rng: random.Random, form: str) -> str:
    return form.format(n=rng.choice(NOUNS), m=rng.choice(NOUNS), a=rng.choice(ADJECTIVES))


def sentence(rng: random.Random) -> str:
    """A dull sentence that says nothing odd."""
    return (
        "".join(
            (
                _filled(rng, rng.choice(_SUBJECTS)),
                " ",
                _filled(rng, rng.choice(_MIDDLES)),
                _filled(rng, rng.choice(_TAILS)),
            )
        ).replace("  ", " ")
        + "."
    )


def paragraph(rng: random.Random, low: int = 3, high: int = 6) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(low, high)))


def wrapped(text: str, width: int = 78, indent: str = "") -> list[str]:
    """The lines of a paragraph."""
    lines, line = [], indent
    for word in text.split():
        if len(line) + len(word) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return [*lines, line.rstrip()] if line.strip() else lines


def name_of(rng: random.Random, joint: str = "_") -> str:
    return f"{rng.choice(VERBS)}{joint}{rng.choice(NOUNS)}"


def names_of(rng: random.Random, count: int, joint: str = "_", parts: int = 2) -> list[str]:
    """Different names of a verb or adjective and a noun."""
    made: dict[str, None] = {}
    while len(made) < count:
        words = [
            rng.choice(ADJECTIVES if parts > 2 else VERBS),
            *(rng.choice(NOUNS) for _ in range(parts - 1)),
        ]
        made[joint.join(words)] = None
    return list(made)


def weighted(rng: random.Random, **weights: float) -> str:
    return rng.choices(list(weights), list(weights.values()))[0]


def spots(
    rng: random.Random, size: int, count: int, low: float = 0.06, high: float = 0.94, apart: int = 9
) -> list[int]:
    """Different places in a list, not near each other, in random order."""
    first, last = int(size * low), int(size * high)
    room = last - first - apart * (count - 1)
    assert room > count, (size, count)
    found = sorted(rng.sample(range(room), count))
    places = [first + at + apart * number for number, at in enumerate(found)]
    rng.shuffle(places)
    return places


def before(rng: random.Random, place: int, taken: tuple[int, ...]) -> int:
    """A place before another one that holds no fact."""
    return rng.choice([at for at in range(2, max(5, place - 3)) if at not in taken and at < place])


def times(rng: random.Random, start: datetime, count: int, seconds: float) -> list[datetime]:
    """Moments with jitter around a step."""
    made, now = [], start
    for _ in range(count):
        now += timedelta(seconds=rng.uniform(0.35, 1.65) * seconds)
        made.append(now)
    return made


def _numbers(pointer: str) -> list[str]:
    return [part for part in pointer.split("/") if part.isdigit()]


def found(
    what: str,
    names: Iterable[str],
    tells: Iterable[Tell],
    searches: Sequence[str],
    *,
    pointer: str = "",
    record: str = "",
    line: int = 0,
    hidden: str = "",
    common: bool = False,
) -> Fact:
    """A fact of one record: its name or place, with any of the tells (`common`: these are no rare words)."""
    many = [(tell,) if isinstance(tell, str) else tell for tell in tells]
    who = [(name,) for name in names]
    number = (_numbers(record or pointer) or [""])[-1]
    if record or pointer:
        who.append((record or pointer,))
    if number:
        who.append((f"#{number}",))
    if line:
        who += [(f"line {line}",), (f"l{line}",), (f"#{line}",)]
    for bare in (number, str(line) if line else ""):
        if bare:
            who += [(bare, word) for word in ABSENT] if common else [(bare,)]
    evidence = tuple((*tell, *one) for tell in many for one in who)
    return Fact(what, evidence, tuple(searches), pointer, line, hidden)


def gone(
    names: Iterable[str], field: str, *, record: str = "", line: int = 0, what: str = "missing field"
) -> Fact:
    """A record that lacks a field which all others have."""
    return found(what, names, [field], [field, "missing"], pointer=record, line=line, common=True)


def twice(name: str, search: str, *, pointer: str = "", line: int = 0, both: Sequence[str] = ()) -> Fact:
    """A unique name that stands twice; `both` are its two places."""
    evidence = [(name, word) for word in TWICE]
    if both:
        evidence.append((name, *both))
    return Fact("duplicate", tuple(evidence), (search, "duplicate"), pointer, line)


def gap(
    before: str, after: str, lost: Sequence[str], search: str, *, pointer: str = "", line: int = 0
) -> Fact:
    """Numbers that are left out of a run of numbers."""
    evidence: list[tuple[str, ...]] = [(one,) for one in lost]
    evidence.append((before, after))
    evidence += [(one, word) for one in (before, after) for word in ("gap", "missing", "skip", "jump")]
    return Fact("gap", tuple(evidence), (search, "missing"), pointer, line)


_JOINED = (
    "{0}: {1}",
    "{0} {1}",
    "{0} ({1}",
    "{0}={1}",
    "{0} = {1}",
    "{0}: {1}",
    "{0} ×{1}",
    "{0} × {1}",
    "{0}×{1}",
    "{1} {0}",
    "{1}× {0}",
    "{1} × {0}",
    "{0}' {1}",
    "{0}': {1}",
    '{0}" {1}',
    '{0}": {1}',
    "{0} | {1}",
    "{0}[{1}",
    "{0} x{1}",
    "{0}` {1}",
    "{0}` ({1}",
    '{0}" ({1}',
    "{0}: {1}",
    "{0}, {1}",
    "{0} — {1}",
    "{0} - {1}",
    "{0} – {1}",
    '{0}" ×{1}',
    '{0}" × {1}',
)


def joined(*pairs: tuple[str, object]) -> tuple[tuple[str, ...], ...]:
    """Words with their numbers next to them: for answers on one line, where all words are near each other."""
    return tuple(
        tuple(form.format(word, number) for word, number in pairs) for form in dict.fromkeys(_JOINED)
    )


def tops(column: str, values: Iterable[str], searches: Sequence[str] = (), tight: bool = False) -> Fact:
    """The two most frequent values of a column, with their counts or shares."""
    counts = Counter(values)
    (one, first), (_, second) = counts.most_common(2)
    whole = sum(counts.values())
    evidence: list[tuple[str, ...]] = []
    for two in [value for value, count in counts.items() if count == second and value != one]:
        pair = ((one, first), (two, second))
        evidence += joined(*pair) if tight else [(one, str(first), two, str(second))]
        evidence += _shares(pair, whole, tight)
    return Fact(f"counts by {column}", tuple(evidence), tuple(searches) or (column, one))


def _shares(pair: tuple[tuple[str, int], ...], whole: int, tight: bool) -> list[tuple[str, ...]]:
    """Two values with their shares of the whole."""
    evidence: list[tuple[str, ...]] = []
    (one, first), (two, second) = pair
    for form in ("{:.0f}%", "{:.0f} %", "{:.1f}%", "{:.1f} %"):
        shares = form.format(100 * first / whole), form.format(100 * second / whole)
        evidence += (
            joined((one, shares[0]), (two, shares[1])) if tight else [(one, shares[0], two, shares[1])]
        )
    return evidence


def outline(names: Sequence[str], searches: Sequence[str], more: Iterable[tuple[str, ...]] = ()) -> Fact:
    """Names that stand one after another in an outline: any three neighbours (the middle one first)."""
    near = [(names[at], names[at - 1], names[at + 1]) for at in range(1, len(names) - 1)]
    return Fact("outline", (*near, *more), tuple(searches))


def total(
    count: int, things: Iterable[str], searches: Sequence[str] = ("total",), tight: bool = False
) -> Fact:
    """How many records the answer has."""
    if tight:
        made = [one for thing in things for one in joined((thing, count))]
        return Fact("total", (*made, (f"[{count}]",)), tuple(searches))
    return Fact("total", tuple((str(count), thing) for thing in things), tuple(searches))


def reach(first: str, last: str, search: str, *, days: bool = False) -> Fact:
    """The first and last moment of a column, given as ISO texts."""
    evidence = [(first[:16], last[:16]), (first[:16].replace("T", " "), last[:16].replace("T", " "))]
    if days:
        evidence.append((first[:10], last[:10]))
    return Fact("time range", tuple(dict.fromkeys(evidence)), (search, "earliest"))


def secret(
    names: Iterable[str],
    kinds: Iterable[str],
    value: str,
    searches: Sequence[str],
    *,
    pointer: str = "",
    record: str = "",
    line: int = 0,
    context: str = "",
) -> Fact:
    """A secret: the kind or name of the key, with where it is or with the words before it (`context`)."""
    tells = [*kinds, "secret", "credential"]
    made = found("secret", names, tells, searches, pointer=pointer, record=record, line=line, hidden=value)
    if not context:
        return made
    seen = tuple((context, word) for word in (*tells, "redacted", "***", "masked", "hidden"))
    return replace(made, evidence=(*made.evidence, *seen))


def zulu(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _scalar(value: object) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def shown_raw(document: object, facts: list[Fact]) -> list[Fact]:
    """Add the raw form of a fact's value as evidence, where that form stands only once in the answer."""
    text = json.dumps(document)
    made = []
    for fact in facts:
        if (
            not fact.pointer
            or fact.hidden
            or fact.what in ("contradiction", "duplicate", "gap", "missing field")
        ):
            made.append(fact)
            continue
        inner, last = document, ""
        parent: object = None
        for part in fact.pointer.split("/")[1:]:
            last = part.replace("~1", "/").replace("~0", "~")
            parent = inner
            inner = inner[int(last)] if isinstance(inner, list) else inner[last]  # type: ignore[index]
        extra: list[tuple[str, ...]] = []
        if isinstance(parent, list) and _scalar(inner) and len(parent) > 2 and int(last) > 0:
            extra.append(tuple(json.dumps(one) for one in parent[int(last) - 1 : int(last) + 2]))
        elif isinstance(parent, dict) and _scalar(inner):
            raw = f"{json.dumps(last)}: {json.dumps(inner)}"
            if sum(text.count(raw + end) for end in ",}") == 1 and len(raw) < 200:
                extra += [(raw,), (raw.replace('": ', '":', 1),)]
        made.append(replace(fact, evidence=(*fact.evidence, *extra)))
    return made


def shown_lines(text: str, facts: list[Fact]) -> list[Fact]:
    """Add the raw line of a fact as evidence, where that line stands only once in the answer."""
    lines = text.split("\n")
    made = []
    for fact in facts:
        raw = lines[fact.line - 1].strip() if fact.line else ""
        plain = (
            raw
            and not fact.hidden
            and fact.what not in ("contradiction", "duplicate", "gap", "missing field")
        )
        if plain and sum(raw in line for line in lines) == 1 and 8 <= len(raw) <= 160:
            fact = replace(fact, evidence=(*fact.evidence, (raw,)))
        made.append(fact)
    return made
