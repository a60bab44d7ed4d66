"""Evidence and classes that the generators of this set share."""

# ruff: noqa: SIM905, S608

from collections.abc import Iterable
from datetime import datetime

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Evidence, Lines, Page

ALONE = "once,rare,single,only one,only 1,unusual,odd,outlier,one row,stands out".split(",")


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


def pause(start: datetime, end: datetime, *places: object) -> Evidence:
    """A pause in what else goes on without one: its ends, or how long it is beside a word or a place."""
    seconds = round((end - start).total_seconds())
    minutes, rest = divmod(seconds, 60)
    forms = [f"{seconds} s", f"{seconds}s", f"{seconds}.", f"{minutes} min", f"{minutes} m", f"{minutes}m"]
    forms += [f"{minutes + 1} min", f"{seconds / 60:.1f} min", f"{minutes}:{rest:02d}", f"{minutes}-minute"]
    forms += [f"{seconds} sec", f"{seconds}-second", f"{minutes + 1}m", f"{seconds}"]
    if minutes >= 60:
        hours, over = divmod(minutes, 60)
        forms += [f"{hours} h", f"{hours}h", f"{hours}:{over:02d}", f"{seconds / 3600:.1f} h"]
        forms += [f"{hours} hour", f"{seconds / 3600:.1f}h"]
    a, b = f"{start:%H:%M:%S}", f"{end:%H:%M:%S}"
    words = [*w.LEAP[:9], "after", "between", "nothing", "idle", "delay", "interval", "interrupt"]
    return (*w.pairs(forms, [*words, a, b, *places]), (a, b), *w.pairs([a, b], [*w.LEAP[:9], "nothing"]))


class Rows(Lines):
    """Facts about the rows of a text."""

    def row(
        self,
        what: str,
        i: int,
        telling: Iterable[object],
        names: Iterable[object],
        *searches: str,
        hidden: str = "",
        sql: str = "",
        alone: Iterable[object] = (),
        derived: bool = False,
    ) -> None:
        """A telling value with a name of its row or one of the spellings of its place."""
        values = [str(one) for one in telling]
        line = i + self.first
        evidence = w.pairs(values, self.places(i, *names))
        clear = [one for one in values if len(one) >= 5]
        evidence += w.pairs(clear, [i, i + 1]) + rare(*alone)
        asked = sql or w.find(searches[0])
        self.say(what, evidence, *searches, line=line, hidden=hidden, sql=asked, derived=derived)

    def places(self, i: int, *names: object) -> list[object]:
        line = i + self.first
        return [
            *names,
            line,
            f"row {i}",
            f"row {i + 1}",
            f"#{i}",
            f"#{i + 1}",
            f"[{i}]",
            f"/{i}",
            f"item {i}",
        ]


def tell(
    page: Page,
    what: str,
    mark: str,
    telling: list,
    names: list,
    *searches: str,
    alone: tuple = (),
    hidden: str = "",
    sql: str = "",
    derived: bool = False,
) -> None:
    """A telling value beside a name or the number of its line, or told as the only one."""
    line = page.at[mark]
    spots = [*names, line, line - 1, line + 1]
    evidence = w.pairs(telling, spots) + rare(*alone)
    asked = sql or w.find(searches[0])
    page.say(what, evidence, *searches, line=line, hidden=hidden, sql=asked, derived=derived)
