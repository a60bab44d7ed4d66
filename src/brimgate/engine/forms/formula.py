"""What a column's header can say for all rows: a constant, a combination of columns, how the cells begin or end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.forms.cells import OUTSIDE, Gap
from brimgate.engine.forms.column_paths import path_text
from brimgate.engine.forms.column_tree import Column

CELL: Final = "cell"

_MIN_SAVED: Final = 6
"""Characters per row that a shared beginning or end must have to be worth the header text."""
_MIN_ROWS_AROUND: Final = 6
"""With fewer rows, texts stay whole: the header would save little and tear them apart."""
_MAX_PIECES: Final = 6
_MAX_REFERENCES: Final = 60
"""Each column of texts is compared with at most this many others."""
_REFERENCE: Final = re.compile(r"[A-Za-z_][\w.\[\]-]*\Z")
_LITERALS: Final = ("true", "false", "null", CELL)
_STARTS_CLEANLY: Final = re.compile(r"[ /:=@?&#]")
References = dict[str, Column]
_DATE: Final = re.compile(r"\d{4}-\d\d")
_LEAST_SHARE: Final = 0.1
"""What formulas must save of a table together: with less, a reader has more trouble than they spare."""
_IDENTIFYING: Final = re.compile(
    r"(?:^|[_-])(?:id|uuid|guid|key|name|title|subject|label|slug|number|ref)\Z|[a-z](?:Id|Name|Title|Key)\Z"
)
"""The keys of members that tell one row from another; they stay whole."""
_NUMBER_CHARS: Final = 6
_SAMPLE: Final = 12


@dataclass(frozen=True, slots=True)
class Formula:
    text: str
    """The text in the header, from `=` or `:` on."""
    has_cell: bool
    cells: Sequence[Any] = ()
    """What is left for the rows to say, when `has_cell`."""


def find_formulas(columns: Sequence[Column], *, derive: bool = True) -> list[Formula | None]:
    """Return one entry per column, None where the cells stay whole. At least one column always stays whole."""
    formulas: list[Formula | None] = [
        None if column.witness or column.is_child else _constant(column) for column in columns
    ]
    if derive and len(columns[0].cells) > 1:
        derived = list(formulas)
        _find_derived(columns, derived)
        if derived != formulas and _saved(columns, formulas, derived) >= _LEAST_SHARE * _size(
            columns, formulas
        ):
            formulas = derived
    if all(formula is not None and not formula.has_cell for formula in formulas):
        formulas[0] = None
    return formulas


def _saved(columns: Sequence[Column], before: list[Formula | None], after: list[Formula | None]) -> float:
    """Return about how many characters formulas take out of the rows, less what they add to the header."""
    saved = 0.0
    for column, old, formula in zip(columns, before, after, strict=True):
        if formula is not None and old is None:
            saved += _chars(column.cells) - _chars(formula.cells) - len(formula.text)
    return saved


def _size(columns: Sequence[Column], formulas: list[Formula | None]) -> float:
    """Return about how many characters the rows have without formulas."""
    pairs = zip(columns, formulas, strict=True)
    return sum(_chars(column.cells) + len(column.cells) for column, formula in pairs if formula is None)


def _chars(cells: Sequence[Any]) -> float:
    """Estimate the characters of a column from some of its cells."""
    few = cells[:: len(cells) // _SAMPLE + 1]
    return sum(map(_cell_chars, few)) * len(cells) / max(len(few), 1)


def _cell_chars(cell: Any) -> int:
    if isinstance(cell, str):
        return len(cell)
    return len(msgspec.json.encode(cell)) if isinstance(cell, (dict, list)) else _NUMBER_CHARS


def _constant(column: Column) -> Formula | None:
    shown = column.cells
    first, middle, last = shown[0], shown[len(shown) // 2], shown[-1]
    if first not in OUTSIDE and (_differs(first, last) or _differs(first, middle)):
        return None
    kinds = set(map(type, shown))
    if Gap in kinds:
        shown = [cell for cell in shown if cell is not Gap.HIDDEN and cell is not Gap.GONE]
        first = shown[0]
        kinds = set(map(type, shown))
    # Equality is not enough: in Python 1 equals True and 1.0, also inside a list, and 0.0 equals -0.0.
    if len(kinds) > 1 or first is Gap.ABSENT:
        return None
    if isinstance(first, (dict, list, float)):
        same = {msgspec.json.encode(cell) for cell in shown}
        return Formula("=" + same.pop().decode(), has_cell=False) if len(same) == 1 else None
    if shown.count(first) < len(shown):
        return None
    return Formula("=" + msgspec.json.encode(first).decode(), has_cell=False)


def _differs(first: Any, other: Any) -> bool:
    return first != other and other is not Gap.HIDDEN and other is not Gap.GONE


def _find_derived(columns: Sequence[Column], formulas: list[Formula | None]) -> None:
    """Write columns of text in terms of other columns, shorter ones first: url before comments_url."""
    open_columns = [n for n, formula in enumerate(formulas) if formula is None]
    open_columns = [n for n in open_columns if not columns[n].is_child]
    composed = sorted(
        (n for n in open_columns if _is_composed(columns[n])), key=lambda n: _text_length(columns[n].cells)
    )
    if not composed:
        return
    identifying = _identifying(columns, open_columns)
    references: References = {}
    for n in sorted(set(open_columns).difference(composed)):
        _offer(references, columns[n])
    for n in composed:
        if not columns[n].witness and n not in identifying:
            formulas[n] = _derive(columns[n].cells, references)
        if (formula := formulas[n]) is None or formula.has_cell:
            _offer(references, columns[n])


def _identifying(columns: Sequence[Column], open_columns: list[int]) -> set[int]:
    """Return the columns by which a reader knows the rows: those with such a name, else the first that is never equal."""
    named = {n for n in open_columns if _is_identifying(columns[n])}
    if named:
        return named
    for n in open_columns:
        cells = columns[n].cells
        if all(type(cell) in (str, int) for cell in cells) and len(set(cells)) == len(cells):
            return {n}
    return set()


def _is_identifying(column: Column) -> bool:
    key = column.path[-1].key if column.path else ""
    return isinstance(key, str) and _IDENTIFYING.search(key) is not None


def _is_composed(column: Column) -> bool:
    """Return whether the cells are all texts with parts: a path or an address. Dates and sentences are not."""
    first = next((cell for cell in column.cells if cell not in OUTSIDE), None)
    if type(first) is not str or len(first) < 6 or _DATE.match(first):
        return False
    if not any(mark in first for mark in "/@"):
        return False
    return set(map(type, column.cells)) == {str} or all(
        type(cell) is str or cell in OUTSIDE for cell in column.cells
    )


def _text_length(cells: Sequence[Any]) -> int:
    return sum(len(cell) for cell in cells if type(cell) is str)


def _offer(references: References, column: Column) -> None:
    """Let formulas name this column if its name is plain."""
    if len(references) >= _MAX_REFERENCES:
        return
    name = path_text(column.path)
    if name not in _LITERALS and _REFERENCE.match(name):
        references[name] = column


def _reference_text(cell: Any) -> str | None:
    if type(cell) is str:
        return cell or None
    return str(cell) if type(cell) is int and 0 <= cell < 1 << 64 else None


def _derive(cells: Sequence[Any], references: References) -> Formula | None:
    """Take the texts apart from the left: what all share, then a column that all continue with, and so on."""
    shown = [at for at, cell in enumerate(cells) if cell not in OUTSIDE]
    texts = [cells[at] for at in shown]
    pieces: list[str] = []
    rests = texts
    while len(pieces) < _MAX_PIECES:
        shared = _shared_start(rests)
        found = _next_reference(rests, shared, references, shown)
        if found is None:
            break
        literal, name, rests = found
        pieces += [jsontext.quote(literal), name] if literal else [name]
    shared = _shared_start(rests)
    if all(rest == shared for rest in rests):
        if shared:
            pieces.append(jsontext.quote(shared))
        return Formula("=" + "+".join(pieces), has_cell=False)
    return _partly(pieces, rests, cells)


def _next_reference(
    rests: list[str], shared: str, references: References, shown: list[int]
) -> tuple[str, str, list[str]] | None:
    """Find the longest column whose text follows the shared beginning (or overlaps it) in every row."""
    first = rests[0]
    best: tuple[int, str, list[str], int] | None = None
    for name, column in references.items():
        value = _reference_text(column.cells[shown[0]])
        if value is None or len(value) < 2 or (best and len(value) <= best[0]) or value not in first:
            continue
        values = [_reference_text(column.cells[at]) for at in shown]
        texts = [text for text in values if text is not None]
        if len(texts) < len(values):
            continue
        for cut in {len(shared), len(shared) - len(_shared_start(texts))}:
            if cut >= 0 and first.startswith(value, cut) and _all_go_on(rests, texts, cut):
                best = (len(value), name, texts, cut)
    if best is None:
        return None
    _, name, texts, cut = best
    return shared[:cut], name, [rest[cut + len(text) :] for rest, text in zip(rests, texts, strict=True)]


def _shared_start(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    for at, (one, other) in enumerate(zip(first, last, strict=False)):
        if one != other:
            return first[:at]
    return min(first, last, key=len)


def _all_go_on(rests: list[str], texts: list[str], cut: int) -> bool:
    return all(rest.startswith(text, cut) for rest, text in zip(rests, texts, strict=True))


def _partly(pieces: list[str], rests: list[str], cells: Sequence[Any]) -> Formula | None:
    """Find a shared beginning and end around the cell, cut where a word or path part ends so that ids stay whole."""
    head = _shared_start(rests)
    cut = max((found.end() for found in _STARTS_CLEANLY.finditer(head)), default=0)
    head, rests = head[:cut], [rest[cut:] for rest in rests]
    tail = _shared_start([rest[::-1] for rest in rests])[::-1]
    start = _STARTS_CLEANLY.search(tail)
    tail = tail[start.start() :] if start else ""
    if tail:
        rests = [rest[: -len(tail)] for rest in rests]
    first = next(cell for cell in cells if cell not in OUTSIDE)
    if len(rests) < _MIN_ROWS_AROUND or len(first) - len(rests[0]) < _MIN_SAVED or not all(rests):
        return None
    around = [
        *pieces,
        *([jsontext.quote(head)] if head else []),
        CELL,
        *([jsontext.quote(tail)] if tail else []),
    ]
    pending = iter(rests)
    return Formula(
        ":" + "+".join(around), True, [cell if cell in OUTSIDE else next(pending) for cell in cells]
    )
