"""Evidence and classes that the generators of this set share."""

# ruff: noqa: SIM905, S608

from collections.abc import Iterable
from datetime import datetime

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Evidence, Lines, Notes, Page

ALONE = "once,rare,single,only one,only 1,unusual,odd,outlier,one row,stands out".split(",")
CLASH = (
    "mismatch,not match,n't match,differ,disagree,contradict,inconsisten,instead of,should be,wrong,≠,!=, vs,"
    "expected,discrepan,conflict,but "
).split(",")


def split(words: str) -> list[str]:
    return words.split("|")


def read(telling: Iterable[object] | str, alone: Iterable[object]) -> tuple[list[str], list[str]]:
    """What is told beside a name and what is told by itself; in a text, + marks both and ^ the latter alone."""
    if not isinstance(telling, str):
        return [str(one) for one in telling], [str(one) for one in alone]
    words = telling.split("|")
    by_itself = [one[1:] for one in words if one[:1] in "+^"]
    return [one.removeprefix("+") for one in words if one[:1] != "^"], [*by_itself, *map(str, alone)]


def rare(*values: object) -> Evidence:
    """A value that stands once in the whole, told by itself: with its count of one or a word for it."""
    found: list[tuple[str, ...]] = []
    for one in map(str, values):
        for sep in (": ", " ", " (", "=", " ×", " × ", "×", " x", " | ", "|", "\t", ":", " = ", " – ", " - "):
            found += [(f"{one}{sep}1",), (f'{one}"{sep}1',), (f"{one}`{sep}1",), (f"{one}'{sep}1",)]
        if not one.isdigit():
            found += [(f"1{sep}{one}",) for sep in (" ", "× ", " × ", "x ", ": ", "|", "\t", " `", ' "')]
            found += [(one, word) for word in ALONE if len(one) > 5]
    return tuple(found)


def lapse(seconds: float) -> list[str]:
    """The spellings of a duration."""
    whole = round(seconds)
    minutes, rest = divmod(whole, 60)
    forms = [
        f"{whole} s",
        f"{whole}s",
        f"{seconds:.1f}",
        f"{seconds:.2f}",
        f"{seconds:.3f}",
        f"{whole}-second",
        f"{whole - 1} s",
    ]
    forms += [f"{minutes} m", f"{minutes}m", f"{minutes + 1} m", f"{minutes + 1}m", f"{whole / 60:.1f} m"]
    forms += [f"{minutes}:{rest:02d}", f"{minutes}-minute", f"{whole / 60:.1f}m"]
    if minutes >= 60:
        hours, over = divmod(minutes, 60)
        forms += [f"{hours} h", f"{hours}h", f"{hours}:{over:02d}", f"{whole / 3600:.1f} h", f"{hours + 1} h"]
        forms += [f"{hours}-hour", f"{whole / 3600:.1f}h", f"{hours + 1}h"]
    if minutes >= 2880:
        days = whole / 86400
        forms += [f"{int(days)} d", f"{int(days)}d", f"{days:.1f} d", f"{days:.1f}d", f"{int(days) + 1} d"]
        forms += [f"{int(days)}-day"]
    return forms


PAUSE = [*w.LEAP[:9], "after", "between", "nothing", "idle", "delay", "interval", "interrupt"]


def pause(start: datetime, end: datetime, *places: object) -> Evidence:
    """A pause in what else goes on without one: its ends, or how long it is beside a word or a place."""
    a, b = f"{start:%H:%M:%S}", f"{end:%H:%M:%S}"
    forms = lapse((end - start).total_seconds())
    return (*w.pairs(forms, [*PAUSE, a, b, *places]), (a, b), *w.pairs([a, b], [*w.LEAP[:9], "nothing"]))


def large(number: float) -> list[str]:
    """The spellings of a large number."""
    forms = [str(number), f"{number:.0f}", f"{number:.1f}", f"{number:.2f}", f"{number:.2e}"]
    for size, words in ((1e3, ("k", " k", " thousand")), (1e6, ("M", " M", " million")), (1e9, ("B", " G"))):
        if number >= size:
            for text in (f"{number / size:.0f}", f"{number / size:.1f}", f"{number / size:.2f}"):
                forms += [text + word for word in words]
    return list(dict.fromkeys(forms))


def lost(places: Iterable[object], fields: Iterable[str], size: int = 0) -> Evidence:
    """A field that one item lacks, by its place or by the number of those that have it."""
    names, wanted = [str(one) for one in places], list(fields)
    found = tuple((one, field, word) for one in names for field in wanted for word in w.GONE)
    forms = ["1 missing", "missing: 1", "missing in 1", "missing 1", "1 without", "all but one", "all but 1"]
    forms += ["1 row", "missing from 1", "missing in one", "1 lack", "absent in 1", "1 null", "1 empty"]
    if size:
        forms += [f"{size - 1} of {size}", f"{size - 1}/{size}", f"1 of {size}", f"1/{size}", f"{size - 1}"]
    return found + w.pairs(wanted, forms)


def clash(told: float, real: float, places: Iterable[object]) -> Evidence:
    """What is told versus what is."""
    return w.pairs(w.spell(told), w.spell(real)) + w.pairs(CLASH, places)


def hop(before: object, after: object, missing: Iterable[object], *places: object) -> Evidence:
    """A gap between two numbers, with a place and a word for it."""
    arrows = [f"{before}{sep}{after}" for sep in (" → ", "→", " to ", " -> ", "->", "..", " and ", ", ", "|")]
    spots, words = [str(one) for one in places], w.LEAP[:9]
    found = w.pairs(arrows, [*spots, *words]) + tuple(
        (str(one), word, name) for one in missing for word in words for name in spots
    )
    return found + tuple((str(before), str(after), word) for word in words)


class Rows(Lines):
    """Facts about the rows of a text."""

    def row(
        self,
        what: str,
        i: int,
        telling: Iterable[object] | str,
        names: Iterable[object],
        *searches: str,
        hidden: str = "",
        sql: str = "",
        alone: Iterable[object] = (),
        derived: bool = False,
    ) -> None:
        """A telling value with a name of its row or one of the spellings of its place."""
        values, alone = read(telling, alone)
        evidence = w.pairs(values, self.places(i, *names))
        evidence += w.pairs([one for one in values if len(one) >= 5], [i, i + 1]) + rare(*alone)
        self.give(what, i, evidence, *searches, hidden=hidden, sql=sql, derived=derived)

    def give(
        self,
        what: str,
        i: int,
        evidence: Evidence,
        *searches: str,
        hidden: str = "",
        sql: str = "",
        derived: bool = True,
    ) -> None:
        """A fact at a row with evidence of its own."""
        asked = sql or w.find(searches[0])
        self.say(what, evidence, *searches, line=i + self.first, hidden=hidden, sql=asked, derived=derived)

    def places(self, i: int, *names: object) -> list[object]:
        line = i + self.first
        more = [f"row {i}", f"row {i + 1}", f"#{i}", f"#{i + 1}", f"[{i}]", f"/{i}", f"item {i}"]
        return [*names, line, *more]


def tell(
    page: Page,
    what: str,
    mark: str,
    telling: list | str,
    names: list,
    *searches: str,
    alone: Iterable[object] = (),
    hidden: str = "",
    sql: str = "",
    derived: bool = False,
    more: Evidence = (),
) -> None:
    """A telling value beside a name or the number of its line, or told as the only one."""
    line = page.at[mark]
    spots = [*names, line, line - 1, line + 1]
    telling, alone = read(telling, alone)
    evidence = w.pairs(telling, spots) + rare(*alone) + tuple(more) + _verbatim(page, line, telling, hidden)
    asked = sql or w.find(searches[0])
    page.say(what, evidence, *searches, line=line, hidden=hidden, sql=asked, derived=derived)


def _verbatim(page: Page, line: int, telling: Iterable[object], hidden: str) -> Evidence:
    """The line itself or the one below, if there is only one like it and it tells the fact; without its secret."""
    lines, found = [one.strip() for one in page.lines], []
    for own in lines[line - 1 : line + 1]:
        if lines.count(own) == 1 and any(str(one) in own for one in telling):
            part = own.split(hidden)[0].strip() if hidden else own[:70].strip()
            found += [(part,)] if len(part) >= 16 else []
    return tuple(found)


def spots_of(pointer: str) -> list[str]:
    """The spellings of a place in a document: of its pointer and of the first item of a list on its way."""
    parts = pointer.split("/")[1:]
    found = [pointer, ".".join(parts)]
    for at, part in enumerate(parts):
        if part.isdigit():
            base, i = (parts[at - 1] if at else ""), int(part)
            found += ["/" + "/".join(parts[: at + 1]), f"{base}[{i}]", f"{base}/{i}", f"{base} {i}"]
            found += [f"#{i}", f"item {i}", f"row {i}", f"index {i}", f"[{i}]", f"#{i + 1}", f"row {i + 1}"]
            found += [f"{i}|", f"n={i}", f"{base}.{i}"]
            break
    return found


class Doc(Notes):
    """Facts about places of a document."""

    def at(
        self,
        what: str,
        pointer: str,
        telling: Iterable[object] | str,
        names: Iterable[object],
        *searches: str,
        alone: Iterable[object] = (),
        hidden: str = "",
        sql: str = "",
        derived: bool = False,
        more: Evidence = (),
    ) -> None:
        """A telling value beside a name or the place of its item, or told as the only one."""
        telling, alone = read(telling, alone)
        evidence = w.pairs(telling, [*names, *spots_of(pointer)]) + rare(*alone) + tuple(more)
        self.say(what, evidence, *searches, pointer=pointer, hidden=hidden, sql=sql, derived=derived)

    def gone(
        self,
        pointer: str,
        field: str,
        names: Iterable[object],
        size: int = 0,
        sql: str = "",
        more: tuple = (),
    ) -> None:
        """A field that one item lacks."""
        evidence = lost([*names, *spots_of(pointer)], [field, *more], size)
        self.say("missing field", evidence, field, pointer=pointer, sql=sql, derived=True)

    def twice(
        self,
        one: str,
        two: str,
        ident: object,
        names: tuple,
        *searches: str,
        sql: str = "",
        short: Iterable[str] = (),
    ) -> None:
        """A value that two items share; the names are one for each."""
        evidence = (*w.same(ident), tuple(map(str, names)), (one, two), *w.pairs(short, w.SAME))
        self.say("duplicate", evidence, str(ident), *searches, pointer=two, sql=sql, derived=True)

    def ranged(self, low: object, high: object, *searches: str, sql: str = "") -> None:
        self.say("range", ((str(low), str(high)),), *searches, sql=sql, derived=True)
