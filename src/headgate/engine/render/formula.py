"""What a column's header can say for all of its rows: a constant, what it is made of, how its cells begin or end."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from os.path import commonprefix
from typing import Final

from headgate.engine import jsontext
from headgate.engine.render.paths import path_text
from headgate.engine.render.rows import HIDDEN, Column

CELL: Final = "cell"

_MIN_SAVED: Final = 6
"""Characters a shared beginning or end must have per row to be worth the header text."""
_MAX_PIECES: Final = 6
_REFERENCE: Final = re.compile(r"[A-Za-z_][\w.\[\]-]*\Z")
_LITERALS: Final = ("true", "false", "null", CELL)
_STARTS_CLEANLY: Final = re.compile(r"[ /:=@?&#]")
References = dict[str, list[str | None]]
_DATE: Final = re.compile(r"\d{4}-\d\d")


@dataclass(frozen=True, slots=True)
class Formula:
    text: str
    """As it stands in the header, from `=` or `:` on."""
    has_cell: bool
    cells: Sequence[bytes | None] = ()
    """What is left for the rows to say, when `has_cell`."""


def find_formulas(columns: Sequence[Column]) -> list[Formula | None]:
    """One entry per column, None where the cells stand whole. At least one column always does."""
    formulas: list[Formula | None] = [None if column.witness else _constant(column) for column in columns]
    if len(columns[0].cells) > 1:
        _find_derived(columns, formulas)
    if all(formula is not None and not formula.has_cell for formula in formulas):
        formulas[0] = None
    return formulas


def _constant(column: Column) -> Formula | None:
    seen = set(column.cells)
    seen.discard(HIDDEN)
    if len(seen) != 1 or None in seen:
        return None
    return Formula("=" + str(seen.pop(), "utf-8"), has_cell=False)  # type: ignore[arg-type]


def _find_derived(columns: Sequence[Column], formulas: list[Formula | None]) -> None:
    """Columns that hold text made of other columns refer to them, shorter ones first: url before comments_url."""
    open_columns = [n for n, formula in enumerate(formulas) if formula is None]
    composed = sorted((n for n in open_columns if _is_composed(columns[n])), key=lambda n: _text_length(columns[n]))
    if not composed:
        return
    references: References = {}
    for n in open_columns:
        if n not in composed:
            _offer(references, columns[n])
    for n in composed:
        if not columns[n].witness:
            formulas[n] = _derive(columns[n].cells, references)
        if (formula := formulas[n]) is None or formula.has_cell:
            _offer(references, columns[n])


def _is_composed(column: Column) -> bool:
    """Whether the cells are all texts with parts: a path, an address, several words. Dates are not."""
    first = next((cell for cell in column.cells if cell), b"")
    if first[:1] != b'"' or len(first) < 8 or _DATE.match(first[1:9].decode(errors="ignore")):
        return False
    if not any(mark in first for mark in (b"/", b" ", b"@")):
        return False
    return all(cell is not None and cell[:1] in (b'"', HIDDEN) for cell in column.cells)


def _text_length(column: Column) -> int:
    return sum(len(cell) for cell in column.cells if cell)


def _offer(references: References, column: Column) -> None:
    """Let formulas name this column if its name is plain; rows where it holds no short text cannot use it."""
    name = path_text(column.path)
    if name not in _LITERALS and _REFERENCE.match(name):
        references[name] = [_reference_text(cell) for cell in column.cells]


def _reference_text(cell: bytes | None) -> str | None:
    if not cell:
        return None
    if cell[:1] == b'"':
        return jsontext.string_value(cell) or None
    return cell.decode() if cell.isdigit() else None


def _derive(cells: Sequence[bytes | None], references: References) -> Formula | None:
    """Take the texts apart from the left: what all share, then a column all go on with, and so on."""
    texts = [jsontext.string_value(cell) for cell in cells if cell]
    if len(texts) < len(cells):
        references = {name: [v for v, cell in zip(values, cells, strict=True) if cell] for name, values in references.items()}
    pieces: list[str] = []
    rests = texts
    while len(pieces) < _MAX_PIECES:
        shared = commonprefix(rests)
        found = _next_reference(rests, shared, references)
        if found is None:
            break
        literal, name, rests = found
        pieces += [jsontext.quote(literal), name] if literal else [name]
    shared = commonprefix(rests)
    if all(rest == shared for rest in rests):
        if shared:
            pieces.append(jsontext.quote(shared))
        return Formula("=" + "+".join(pieces), has_cell=False)
    return _partly(pieces, rests, cells)


def _next_reference(rests: list[str], shared: str, references: References) -> tuple[str, str, list[str]] | None:
    """The longest column whose text stands right behind the shared beginning (or overlaps it) in every row."""
    first = rests[0]
    best: tuple[int, str, list[str], int] | None = None
    for name, values in references.items():
        value = values[0]
        if value is None or (best and len(value) <= best[0]) or value not in first:
            continue
        texts = [text for text in values if text is not None]
        if len(texts) < len(values):
            continue
        for cut in {len(shared), len(shared) - len(commonprefix(texts))}:
            if 0 <= cut and first.startswith(value, cut) and len(value) > 1 and _all_go_on(rests, texts, cut):
                best = (len(value), name, texts, cut)
    if best is None:
        return None
    _, name, texts, cut = best
    return shared[:cut], name, [rest[cut + len(text) :] for rest, text in zip(rests, texts, strict=True)]


def _all_go_on(rests: list[str], texts: list[str], cut: int) -> bool:
    return all(rest.startswith(text, cut) for rest, text in zip(rests, texts, strict=True))


def _partly(pieces: list[str], rests: list[str], cells: Sequence[bytes | None]) -> Formula | None:
    """A shared beginning and end around the cell, cut where a word or path part ends so that ids stay whole."""
    head = commonprefix(rests)
    cut = max((found.end() for found in _STARTS_CLEANLY.finditer(head)), default=0)
    head, rests = head[:cut], [rest[cut:] for rest in rests]
    tail = commonprefix([rest[::-1] for rest in rests])[::-1]
    start = _STARTS_CLEANLY.search(tail)
    tail = tail[start.start() :] if start else ""
    if tail:
        rests = [rest[: -len(tail)] for rest in rests]
    first = next(cell for cell in cells if cell)
    if len(first) - 2 - len(rests[0]) < _MIN_SAVED or not all(rests):
        return None
    around = [*pieces, *([jsontext.quote(head)] if head else []), CELL, *([jsontext.quote(tail)] if tail else [])]
    pending = iter(rests)
    left = [jsontext.quote(next(pending)).encode() if cell else cell for cell in cells]
    return Formula(":" + "+".join(around), True, left)
