"""What derived views have in common: chosen fields, matches of a search, a range of lines. Each says that it is one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine import jsontext
from brimgate.engine.document import Source
from brimgate.engine.fit import Fitted, fit
from brimgate.engine.forms import Rendered, render
from brimgate.engine.policy import Policy

INDEX: Final = "#"
"""Name of the member that tells which item of the list this is."""
_LEAST_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class Selection:
    kind: str
    label: str
    text: str
    form: str
    tokens: int
    total: dict[str, int]
    shown: dict[str, int]
    following: int | None = None
    """Number of the unit (or byte of the text) that comes next."""
    missing: Sequence[str] = ()
    remark: str = ""
    is_clipped: bool = False
    """Not even one unit fits, and only a part of it is shown."""
    sections: list[str] = field(default_factory=lambda: [])


def list_items(source: Source) -> list[bytes]:
    children = source.open(source.root)
    if not children:
        return []
    return [source.data[start:end] for start, end in zip(children.starts, children.ends, strict=True)]


def indexed(raw: bytes, at: int) -> bytes:
    """The item with its number in front, so that its details can be asked for by path."""
    if raw[:1] != b"{":
        return b'{"%s":%d,"value":%s}' % (INDEX.encode(), at, raw)
    inner = raw[1:].lstrip()
    return b'{"%s":%d%s%s' % (INDEX.encode(), at, b"" if inner[:1] == b"}" else b",", inner)


def fit_units(
    pick: Callable[[int], bytes], start: int, most: int, room: int, policy: Policy, *, is_list: bool = True
) -> Fitted | None:
    """As many units from `start` on as fit; None when not even one does."""
    picked: dict[int, bytes] = {}

    def rendered(count: int) -> Rendered:
        for at in range(start, start + count):
            if at not in picked:
                picked[at] = pick(at)
        units = [picked[at] for at in range(start, start + count)]
        raw = b"[" + b",".join(units) + b"]" if is_list else units[0]
        return render(jsontext.canonical(raw), policy.form, policy.estimator)

    picked[start] = pick(start)
    each = len(picked[start])
    return fit(rendered, most, lambda count: each * count, room, policy.estimator)


def clipped(text: str, around: int, note: str, room: int, policy: Policy) -> Fitted:
    """One unit that does not fit even alone: the part of it around a place, with how much is missing."""
    size = min(len(text), room * 8)
    while True:
        start = max(0, min(around - size // 3, len(text) - size))
        kept = text[start : start + size]
        shown = f"{'… ' if start else ''}{kept} … [{len(text) - len(kept):,} more characters{note}]"
        tokens = policy.estimator.ceiling(shown)
        if tokens <= room or size <= _LEAST_CHARS:
            return Fitted(1, Rendered("text", shown), tokens)
        size = int(size * min(0.9, max(room, 1) / tokens * 0.95))
