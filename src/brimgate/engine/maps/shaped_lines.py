"""Read rows from lines that all have one shape and no heading: `date time size path`, `time host program[pid]: message`.

The shape is learned from a sample: fields that nearly all lines have at their beginning, and at their end, are columns; what
stands between them is the text. Columns are named by what they hold.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.maps.survey import TextLines

_MIN_LINES: Final = 20
_SAMPLED: Final = 300
_MAX_LINE_CHARS: Final = 400
_MAX_FIELDS: Final = 24
_LEAST: Final = 0.8
"""The share of lines that must have the shape."""
_AGREEING: Final = 0.9
"""The share of lines, of those that go on, that must have the same sort of field at one position."""
_FEW: Final = 16
_FEW_OF: Final = 12
_MIN_COLUMNS: Final = 2
TEXT: Final = "text"
_CLOCK: Final = r"\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?"
_SORTS: Final = {
    "time": rf"\d{{4}}[-/]\d\d[-/]\d\d(?:[T ]{_CLOCK})?(?:Z| ?[+-]\d\d:?\d\d(?!\d))?"
    rf"|\d{{1,2}}/[A-Z][a-z]{{2}}/\d{{4}}:{_CLOCK}(?: [+-]\d{{4}})?"
    rf"|(?:[A-Z][a-z]{{2}} )?[A-Z][a-z]{{2}} [ \d]\d (?:{_CLOCK}(?: \d{{4}}(?!\d))?|\d{{4}}(?!\d))|{_CLOCK}(?=[\s,\])]|$)",
    "quoted": r'"[^"]*"',
    "number": r"[-+]?\d[\d,]*(?:\.\d+)?(?:%|[A-Za-zµ]{1,3})?(?=[\s,;:)\]>|]|$)",
    "mark": r"[\[\](){}<>|=,;:]|-->|->|- ",
    "word": r"[^\s\"\[\](){}<>=,;|]+(?:\[\d+\])?:?",
}
"""What a field can be: the first that fits."""
_FIELD: Final = re.compile(
    r"\s*+(?:" + "|".join(f"(?P<{sort}>{pattern})" for sort, pattern in _SORTS.items()) + ")"
)
_OWN_NUMBER: Final = re.compile(r"(?:\[\d+\])?:?\Z")
_CODE: Final = re.compile(r"(?=.*\d)[0-9A-Za-z_.:/-]{4,}\Z|/|[\w.-]+/")


@dataclass(frozen=True, slots=True)
class _Field:
    sort: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Shape:
    """The sorts of the fields at the beginning and at the end of every line; a mark is its own sort."""

    first: tuple[str, ...]
    last: tuple[str, ...]
    is_whole: bool
    """Whether the lines are nothing but these fields."""


def shaped_rows(text: TextLines) -> Rows | None:
    """Return the rows of lines of one shape, with the numbers of their lines; None if they have none in common."""
    filled = [line for line in text.sample if line.strip()]
    if len(filled) < _MIN_LINES:
        return None
    shape = _learned([_fields(line) for line in filled])
    if shape is None:
        return None
    read = _prefix_reader(shape) if not shape.last else partial(_cells, shape=shape)
    rows: list[list[str]] = []
    places: list[int] = []
    count = 0
    for number, line in enumerate(text.lines, 1):
        if not line.strip():
            continue
        count += 1
        cells = read(line)
        if cells is not None:
            rows.append(cells)
            places.append(number)
    if len(rows) < max(_MIN_LINES, _LEAST * count):
        return None
    return _named(rows, places, shape)


def _fields(line: str) -> list[_Field]:
    found: list[_Field] = []
    for match in _FIELD.finditer(line[:_MAX_LINE_CHARS]):
        sort = match.lastgroup or ""
        start, end = match.span(sort)
        found.append(_Field(match[sort] if sort == "mark" else sort, match[sort], start, end))
        if len(found) == _MAX_FIELDS:
            break
    return found


def _learned(lines: Sequence[list[_Field]]) -> _Shape | None:
    width, count = Counter(tuple(field.sort for field in fields) for fields in lines).most_common(1)[0]
    if count >= _LEAST * len(lines) and len(width) < _MAX_FIELDS and _is_table(width):
        return _Shape(width, (), is_whole=True)
    first = _agreed(lines)
    rest = [fields[len(first) :] for fields in lines if tuple(f.sort for f in fields[: len(first)]) == first]
    if len(rest) < _LEAST * len(lines):
        return None
    last = _agreed([fields[::-1] for fields in rest if len(fields) < _MAX_FIELDS - len(first)] or [[]])
    shape = _Shape(first, last[::-1], is_whole=False)
    values = sum(sort.isalpha() for sort in (*first, *last))
    return shape if values >= _MIN_COLUMNS else None


def _is_table(sorts: Sequence[str]) -> bool:
    """Return whether fields are those of a table: sentences have words only."""
    values = [sort for sort in sorts if sort.isalpha()]
    return len(values) > _MIN_COLUMNS and values.count("word") < 0.7 * len(values)


def _agreed(lines: Sequence[list[_Field]]) -> tuple[str, ...]:
    """Return the sorts of fields that nearly all lines begin with. A word belongs to them if there are few of its place."""
    agreed: list[str] = []
    alive = list(lines)
    while alive:
        at = len(agreed)
        going_on = [fields for fields in alive if len(fields) > at]
        if len(going_on) < _AGREEING * len(alive):
            break
        sort, count = Counter(fields[at].sort for fields in going_on).most_common(1)[0]
        alive = [fields for fields in going_on if fields[at].sort == sort]
        if count < _AGREEING * len(going_on) or len(alive) < _LEAST * len(lines):
            break
        if sort == "word" and not _is_column([fields[at].text for fields in alive]):
            break
        agreed.append(sort)
    return tuple(agreed)


def _is_column(words: Sequence[str]) -> bool:
    """Return whether words of one position are values: a few that repeat, or names with digits or slashes."""
    bare = [_OWN_NUMBER.sub("", word) for word in words]
    if len(set(bare)) <= max(_FEW, len(bare) // _FEW_OF):
        return True
    return sum(map(bool, map(_CODE.match, bare))) > _AGREEING * len(bare)


def _cells(line: str, shape: _Shape) -> list[str] | None:
    """Return the values of a line, those of the columns first and last, the text between them."""
    fields = _fields(line)
    first, last = len(shape.first), len(shape.last)
    if not first + last <= len(fields) < _MAX_FIELDS:
        return None
    beginning, ending = fields[:first], fields[-last:]
    if (*(field.sort for field in beginning), *(field.sort for field in ending)) != (
        *shape.first,
        *shape.last,
    ):
        return None
    start = beginning[-1].end if first else 0
    return [*_values(beginning), line[start : ending[0].start].strip(), *_values(ending)]


def _prefix_reader(shape: _Shape) -> Callable[[str], list[str] | None]:
    """Return what `_cells` does for a shape without last columns: one pattern reads a line ten times as fast."""
    known = list(_SORTS)
    parts: list[str] = []
    for sort in shape.first:
        name = sort if sort in _SORTS else "mark"
        earlier = "|".join(_SORTS[one] for one in known[: known.index(name)])
        # A field is what it is taken for first: a line of many times would be tried in all ways, for seconds.
        own = f"((?>{_SORTS[name]}))" if name == sort else re.escape(sort)
        parts.append(rf"\s*+(?!{earlier}){own}" if earlier else rf"\s*+{own}")
    pattern = re.compile("".join(parts) + (r"\s*\Z" if shape.is_whole else ""))
    strip = [_STRIPPED.get(sort, str) for sort in shape.first if sort.isalpha()]

    def read(line: str) -> list[str] | None:
        found = pattern.match(line)
        if found is None:
            return None
        values = [bare(value) for bare, value in zip(strip, found.groups(), strict=True)]
        return values if shape.is_whole else [*values, line[found.end() :].strip()]

    return read


def _word(text: str) -> str:
    return _OWN_NUMBER.sub("", text) if text[-1] in ":]" else text


_STRIPPED: Final[dict[str, Callable[[str], str]]] = {"quoted": lambda text: text[1:-1], "word": _word}


def _values(fields: Sequence[_Field]) -> list[str]:
    return [_STRIPPED.get(field.sort, str)(field.text) for field in fields if field.sort.isalpha()]


def _named(rows: Sequence[list[str]], places: list[int], shape: _Shape) -> Rows | None:
    """Name the columns by what they hold, and leave out those that never differ."""
    sorts = [sort for sort in shape.first if sort.isalpha()]
    sorts += [] if shape.is_whole else [TEXT]
    sorts += [sort for sort in shape.last if sort.isalpha()]
    columns = list(zip(*rows, strict=True))
    names: dict[str, int] = {}
    taken: Counter[str] = Counter()
    for at, (sort, values) in enumerate(zip(sorts, columns, strict=True)):
        if len(set(values)) > 1 or sort == "time":
            name = _name(sort, values)
            taken[name] += 1
            names[f"{name}{taken[name] if taken[name] > 1 else ''}"] = at
    if len(names) < _MIN_COLUMNS:
        return None
    made: list[dict[str, Any]] = [{name: row[at] for name, at in names.items()} for row in rows]
    return Rows(made, places, "line")


def _name(sort: str, values: Sequence[str]) -> str:
    if sort == "word" and sum("/" in value for value in values) > _AGREEING * len(values):
        return "path"
    return {"quoted": TEXT, "number": "value"}.get(sort, sort)  # "number" would be the name of an id
