"""Evidence that the generators of this set share."""

# ruff: noqa: S608

from collections.abc import Iterable
from datetime import datetime

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Evidence, Items

PAUSE = (
    "gap",
    "silence",
    "silent",
    "pause",
    "jump",
    "quiet",
    "no events",
    "no entries",
    "nothing",
    "missing",
)


def hush(before: datetime, after: datetime, zone: str = "") -> Evidence:
    """A long time without an entry: both of its ends, or one of them or its length with a word for it."""
    found: list[tuple[str, ...]] = []
    for form in ("%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%H:%M:%S", "%m-%dT%H:%M", "%m-%d %H:%M"):
        a, b = f"{before:{form}}{zone}", f"{after:{form}}{zone}"
        found += [(a, b), *w.pairs([a, b], PAUSE)]
    found += [(f"{before:%Y-%m-%dT%H:%M}", f"{after:%H:%M}"), (f"{before:%Y-%m-%d %H:%M}", f"{after:%H:%M}")]
    length = (after - before).total_seconds()
    hours, minutes = int(length // 3600), int(length // 60)
    spelled = [
        f"{hours}h",
        f"{hours} h",
        f"{length / 3600:.1f}",
        f"{hours}:{minutes % 60:02d}",
        str(int(length)),
    ]
    if hours < 3:
        spelled += [
            f"{minutes}m",
            f"{minutes} m",
            f"{length / 60:.0f} m",
            f"{length / 60:.0f}m",
            f"{length / 60:.1f}",
        ]
    return (*found, *w.pairs(spelled, PAUSE))


def field(
    items: Items,
    what: str,
    i: int,
    telling: Iterable[object],
    path: str,
    *searches: str,
    hidden: str = "",
    sql: Iterable[str] = (),
) -> None:
    """A telling name of a field beside the item that it is odd in; stricter than `Items.one` with the place."""
    base = items.base
    places = [
        f"{base}/{i}",
        f"{base[1:]}[{i}]",
        f"[{i}]",
        f"#{i}",
        f"item {i}",
        f"row {i}",
        f"index {i}",
        f"#{i + 1}",
    ]
    evidence = w.pairs(telling, [*items.names[i], *places])
    items.say(what, evidence, *searches, pointer=f"{base}/{i}{path}", hidden=hidden, sql=sql)


def beside(word: str, mark: str) -> str:
    """The lines of a document that match a word or a /regex/, each with the nearest line above that holds a mark."""
    found = w.find(word).replace("text LIKE", "a.text LIKE").replace("text REGEXP", "a.text REGEXP")
    above = (
        f"(SELECT b.text FROM lines b WHERE b.n < a.n AND b.text LIKE '%{mark}%' ORDER BY b.n DESC LIMIT 1)"
    )
    return found.replace("SELECT n, text FROM lines", f"SELECT a.n, a.text, {above} AS owner FROM lines a")
