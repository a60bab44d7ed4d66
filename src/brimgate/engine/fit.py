"""Find the largest number of parts whose rendering stays within a budget."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.forms import AUTO, Rendered, render
from brimgate.engine.jsontext import Children
from brimgate.engine.lazy import LazySequence
from brimgate.engine.policy import Policy
from brimgate.engine.tokens.estimator import Estimator

_FULL: Final = 0.89
"""A page this full is not tried again with more parts: that would cost another rendering for little gain."""
_AIM: Final = 0.965
_FIRST_AIM: Final = 0.925
"""Aim of the first try, based on a few parts: a row less than might fit is cheaper than another rendering."""
_NEARLY: Final = 1.08
_PROBE: Final = 6
_MAX_TRIES: Final = 24
_AMPLE: Final = 0.75
"""A page no fuller than this is certainly not larger than the largest."""
_UNLIKELY: Final = 1.5
"""What seems to be this many times over the budget is not tried."""
_TOKENS_PER_BYTE: Final = 0.15
"""Used for JSON whose parts are too big to try a few first."""

Size = Callable[[int], float]
"""The approximate bytes of the first n parts."""
INDEX: Final = "#"
"""The name of the member that tells the number of an item in its list."""
_INDEX_KEY: Final = b'"#"'
_LEAST_CHARS: Final = 16


@dataclass(frozen=True, slots=True)
class Fitted:
    count: int
    rendered: "Rendered"
    tokens: int


def fit(
    render: "Callable[[int], Rendered]",
    most: int,
    size: Size,
    budget: int,
    estimator: Estimator,
    asked: int = 0,
) -> Fitted | None:
    """Return the most parts that fit, or nearly the most. None if not even one fits.

    `asked` is the number that a caller asks for. A larger number never gives fewer, though more parts may take fewer
    tokens, in another form: nobody gets more than whoever asks for everything.
    """
    line = _probe(render, most, size, budget, estimator)
    if not asked:
        return _nearly_most(render, most, size, budget, estimator, line)
    asked = min(asked, most)
    made: Fitted | None = None
    if line.tokens_for(size(asked)) <= _UNLIKELY * budget:
        made = _fitted(render, asked, estimator)
        if made.tokens <= _AMPLE * budget:
            return made
    found = _nearly_most(render, most, size, budget, estimator, line)
    largest = found and _most(render, found, most, budget, estimator)
    if largest is None or asked >= largest.count:
        return largest
    for count in range(asked, 0, -1):
        made = made if made is not None and made.count == count else _fitted(render, count, estimator)
        if made.tokens <= budget:
            return made
    return None


def _fitted(render: "Callable[[int], Rendered]", count: int, estimator: Estimator) -> Fitted:
    rendered = render(count)
    return Fitted(count, rendered, estimator.ceiling(rendered.text))


def _most(
    render: "Callable[[int], Rendered]", best: Fitted, most: int, budget: int, estimator: Estimator
) -> Fitted:
    """Return the most parts that fit, given nearly the most."""
    step = 1
    while best.count < most:
        made = _fitted(render, min(best.count + step, most), estimator)
        if made.tokens > budget:
            if step == 1:
                break
            step = 1
        else:
            best, step = made, 2 * step
    return best


def _nearly_most(
    render: "Callable[[int], Rendered]",
    most: int,
    size: Size,
    budget: int,
    estimator: Estimator,
    line: "_Line",
) -> Fitted | None:
    best: Fitted | None = None
    too_many = most + 1
    count = _count_at(size, most, line.bytes_for(budget * _FIRST_AIM))
    for _ in range(_MAX_TRIES):
        rendered = render(count)
        tokens = estimator.ceiling(rendered.text)
        line = line.through(size(count), tokens)
        following = _count_at(size, most, line.bytes_for(budget * _AIM))
        if tokens <= budget:
            best = Fitted(count, rendered, tokens)
            if tokens >= _FULL * budget or count + 1 >= too_many:
                break
        else:
            too_many = count
            following = min(following, int(count * budget * _AIM / tokens))
        low = best.count if best else 0
        if too_many - low <= 1:
            break
        count = min(max(following, low + 1), too_many - 1)
    return _rounded(best, render, min(most, too_many - 1), budget, estimator)


def _rounded(
    best: Fitted | None,
    render: "Callable[[int], Rendered]",
    most: int,
    budget: int,
    estimator: Estimator,
) -> Fitted | None:
    """Take all the parts that were asked for where nearly all fit: 50 are worth another rendering, 48 are not."""
    if best is None or not best.count < most <= best.count * _NEARLY:
        return best
    rendered = render(most)
    tokens = estimator.ceiling(rendered.text)
    return Fitted(most, rendered, tokens) if tokens <= budget else best


@dataclass(frozen=True, slots=True)
class _Line:
    """Tokens as a linear function of bytes: a table's header is paid once, its rows each time."""

    size: float
    tokens: float
    rate: float

    def bytes_for(self, tokens: float) -> float:
        return self.size + (tokens - self.tokens) / self.rate

    def tokens_for(self, size: float) -> float:
        return self.tokens + (size - self.size) * self.rate

    def through(self, size: float, tokens: int) -> "_Line":
        if size == self.size or not self.size:
            return _Line(size, tokens, max(tokens / max(size, 1), 1e-4))
        rate = (tokens - self.tokens) / (size - self.size)
        return _Line(size, tokens, rate if rate > self.rate / 4 else self.rate)


def _count_at(size: Size, most: int, wanted: float) -> int:
    """Return how many parts have `wanted` bytes; at least one."""
    return max(1, bisect_right(range(1, most + 1), wanted, key=size))


def _probe(
    render: "Callable[[int], Rendered]", most: int, size: Size, budget: int, estimator: Estimator
) -> _Line:
    """Measure what a few parts cost."""
    few = min(_PROBE, most)
    if most <= _PROBE or size(few) > budget:
        return _Line(0, 0, _TOKENS_PER_BYTE)
    text = render(few).text
    rows = text.rsplit("\n", few)
    rows_stand_alone = len(rows) > few
    alone = estimator.ceiling("\n".join(rows[1:])) if rows_stand_alone else estimator.ceiling(text)
    tokens = estimator.ceiling(text) if rows_stand_alone else alone
    return _Line(size(few), tokens, max(alone / max(size(few), 1), 1e-4))


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
    """The number of the next unit (or byte of the text)."""
    missing: Sequence[str] = ()
    remark: str = ""
    is_clipped: bool = False
    """Not even one unit fits, and only a part of it is shown."""
    sections: list[str] = field(default_factory=lambda: [])
    pointer: str = ""
    """Where what is shown lies below what was looked at."""
    example: str = ""
    """The pointer, inside the list, of an item or of what is left out of it."""


class _ListItems(LazySequence[bytes]):
    """The raw text of the children of a list or object, each taken when it is needed."""

    def __init__(self, data: bytes, children: Children) -> None:
        self._data, self._children = data, children

    def __len__(self) -> int:
        return len(self._children)

    def part(self, at: int) -> bytes:
        return self._data[self._children.starts[at] : self._children.ends[at]]


def list_items(document: Document) -> Sequence[bytes]:
    children = document.open(document.root)
    return _ListItems(document.data, children) if children else []


def indexed(raw: bytes, at: int | str) -> bytes:
    """Put its number or key in front of an item, so that its details can be requested by path."""
    label = msgspec.json.encode(at)
    if raw[:1] != b"{":
        return b'{"%s":%s,"value":%s}' % (INDEX.encode(), label, raw)
    inner = raw[1:].lstrip()
    return b'{"%s":%s%s%s' % (INDEX.encode(), label, b"" if inner[:1] == b"}" else b",", inner)


def numbered(raws: Sequence[bytes], first: int, form: str) -> list[bytes] | None:
    """Put numbers in front of the items of a page. None if they are no objects, have such a member, or JSON is asked for."""
    if form != AUTO or any(raw[:1] != b"{" or _INDEX_KEY in raw for raw in raws):
        return None
    return [indexed(raw, at) for at, raw in enumerate(raws, first)]


def fit_units(
    pick: Callable[[int], bytes],
    start: int,
    most: int,
    room: int,
    policy: Policy,
    *,
    is_list: bool = True,
    asked: int = 0,
) -> Fitted | None:
    """Fit as many units as possible from `start` on. Return None if not even one fits."""
    picked: dict[int, bytes] = {}

    def rendered(count: int) -> Rendered:
        for at in range(start, start + count):
            if at not in picked:
                picked[at] = pick(at)
        units = [picked[at] for at in range(start, start + count)]
        raw = b"[" + b",".join(units) + b"]" if is_list else units[0]
        return render(jsontext.canonical(raw), policy.format, policy.estimator)

    picked[start] = pick(start)
    each = len(picked[start])
    return fit(rendered, most, lambda count: each * count, room, policy.estimator, asked)


def _rest_of(text: str, start: int, end: int) -> str:
    """Say how much of a text is missing, and where."""
    before, after = start, max(len(text) - end, 0)
    if not before:
        return f" … [{after:,} more characters"
    if not after:
        return f" [{before:,} characters before"
    return f" … [{before:,} characters before, {after:,} after"


def clipped(text: str, around: int, note: str, room: int, policy: Policy) -> Fitted:
    """Cut one unit that does not fit even alone: keep the part around a place, and say how much is missing."""
    size = min(len(text), room * 8)
    while True:
        start = max(0, min(around - size // 3, len(text) - size))
        kept = text[start : start + size]
        shown = f"{'… ' if start else ''}{kept}{_rest_of(text, start, start + size)}{note}]"
        tokens = policy.estimator.ceiling(shown)
        if tokens <= room or size <= _LEAST_CHARS:
            return Fitted(1, Rendered("text", shown), tokens)
        size = int(size * min(0.9, max(room, 1) / tokens * 0.95))
