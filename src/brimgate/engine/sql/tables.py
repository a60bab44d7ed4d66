"""Read the tables of an answer: JSON by its lists, a text by its columns if it has any, and always by its lines."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from brimgate.engine.document import Document
from brimgate.engine.highlights.odd_lines import is_continued
from brimgate.engine.highlights.row_source import Rows, read_rows
from brimgate.engine.highlights.table_columns import pairs_of
from brimgate.engine.maps.block_tables import block_tables
from brimgate.engine.maps.document_tables import document_tables
from brimgate.engine.maps.line_times import log_times
from brimgate.engine.maps.nested_tables import cell_rows, is_list, is_object, key_name
from brimgate.engine.maps.shaped_lines import shaped_rows
from brimgate.engine.maps.survey import TextLines
from brimgate.engine.maps.text_table import text_rows
from brimgate.engine.matcher import compiled
from brimgate.engine.pointer import escaped, pointer_steps
from brimgate.engine.sql.line_columns import line_columns
from brimgate.engine.sql.places import MAIN, NUMBER, TEXT, VALUES, Keys, TablePlace, table_places, value_at

PARENT: Final = "parent"
LINES: Final = "lines"
_OTHERS: Final = "other_fields"
_MAX_COLUMNS: Final = 1_000
_MAX_PAIRS: Final = 40
_MAX_DEPTH: Final = 12
_MAX_LISTED_BYTES: Final = 4 << 20
"""Lists that are tables of their own are not kept a second time in the rows around them, if they are larger together."""
_WIDE: Final = 1 << 63
_DIGITS: Final = r"\d\.\d{14}|\d{15}\.\d|\d[eE][+-]?\d{3}"
"""Numbers that may not be those of any program."""
_PLAIN_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,15})?\Z")
_LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|SEVERE|ALERT|EMERG|PANIC)\b"
    r"|(?<=[\[=\"])(trace|debug|info|notice|warn|warning|error|err|critical|crit|fatal|alert|emerg|panic)\b"
)
_LEVEL_CHARS: Final = 160
_LETTER: Final = re.compile(r"([IWEF])\d{4} \d\d:")
_OF_LETTER: Final = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
"""As klog writes them: E0318 03:07:06."""

Flat = dict[str, Any]


@dataclass(slots=True)
class SqlColumn:
    name: str
    key: str
    """What the answer calls it: another name if two columns differ only in upper and lower case."""
    kind: str
    """number, text, boolean, json or mixed: some of it is of another kind, or a number too large for SQL, kept as text."""


@dataclass(slots=True)
class SqlTable:
    name: str
    of: str
    """Where it is in the answer."""
    columns: list[SqlColumn]
    rows: list[tuple[Any, ...]]
    word: str = ""
    """Another name for it: what the answer calls it."""
    parent: str = ""
    """The table of the items around its rows; `parent_column` has their numbers, which are `parent_number` there."""
    parent_column: str = ""
    parent_number: str = ""
    present: list[frozenset[str] | None] = field(default_factory=list["frozenset[str] | None"])
    """For each row the fields it has, where it has not all: a field that is absent is not null."""


def tables_of(document: Document) -> list[SqlTable]:
    """Return all tables of an answer, the main one first."""
    if document.is_json:
        return json_tables(document)
    return text_tables(document)


# JSON


def json_tables(document: Document) -> list[SqlTable]:
    value = decode_exactly(document.data)
    focus = document.focus
    main = tuple(pointer_steps(focus.pointer)) if focus.pointer else ()
    places = table_places(value, main)
    columns = document.inside(focus.node).columns if document.head(focus.node) == b"[" else ()
    if columns and places and is_list(held := value_at(value, places[0].keys)):
        held[:] = [dict(zip(columns, row, strict=False)) if is_list(row) else row for row in held]
    made: dict[str, SqlTable] = {}
    numbered: dict[str, list[tuple[int, Any]]] = {}
    for place in places:
        items = _items_at(value, place, numbered)
        numbered[place.name] = items
        made[place.name] = table = _table_of(place, items)
        if place.parent:
            table.parent, table.parent_column = place.parent.name, table.columns[1].name
            table.parent_number = made[place.parent.name].columns[0].name
    tops = {place.keys for place in places if place.parent is None}
    leaves = dict(_leaves(value, "", (), tops))
    if leaves:
        name = VALUES if made else MAIN
        held = {NUMBER: range(len(leaves)), "path": list(leaves), "value": list(leaves.values())}
        made[name] = _table(name, "values in no list", held)
    return list(made.values())


def decode_exactly(data: bytes) -> Any:
    """Decode JSON. A number that no program holds exactly becomes its text."""
    if compiled(_DIGITS).search(data):  # ten times as quick here as the regular expressions of Python
        return _EXACTLY.decode(data)
    return msgspec.json.decode(data)


def _number(text: str) -> float | str:
    value = float(text)
    return value if _digits(text) == _digits(repr(value)) else text


def _digits(text: str) -> tuple[str, int]:
    """Return the digits of a number and its exponent: the same for all ways to write it."""
    mantissa, _, power = text.lower().lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    return digits.rstrip("0"), int(power or 0) - len(fraction) + len(digits) - len(digits.rstrip("0"))


_EXACTLY: Final = msgspec.json.Decoder(float_hook=_number)


def _items_at(
    value: Any, place: TablePlace, numbered: Mapping[str, Sequence[tuple[int, Any]]]
) -> list[tuple[int, Any]]:
    """Return the rows of a table, each with the number of the row around it."""
    if place.parent is None:
        held = value_at(value, place.keys)
        if place.is_map:
            key = key_name(held.values())
            return [
                (0, {key: name} | one if is_object(one) else {key: name, "value": one})
                for name, one in held.items()
            ]
        return [(0, item) for item in _named_cells(held)]
    found: list[tuple[int, Any]] = []
    for number, (_, row) in enumerate(numbered[place.parent.name]):
        held = value_at(row, place.keys)
        if is_list(held):
            found += [(number, item) for item in held]
    return found


def _named_cells(items: list[Any]) -> list[Any]:
    """Return a list of lists as rows with names; any other list as it is."""
    return list(cell_rows(items)) if items and all(map(is_list, items)) else items


def _table_of(place: TablePlace, items: Sequence[tuple[int, Any]]) -> SqlTable:
    flats = _with_pairs([flat(item) for _, item in items])
    names = _names(flats)
    lists = {".".join(keys): inner for keys, inner in place.inner.items()}
    listed = sum(len(one[name]) for name in lists for one in flats if is_list(one.get(name)))
    if listed and _is_large(flats, lists):
        for one in flats:
            for name, inner in lists.items():
                if is_list(one.get(name)):
                    one[name] = f"{len(one[name]):,} items: see {inner.name}"
    lead = {_free(NUMBER, names): list(range(len(items)))}
    if place.parent:
        lead[_free(PARENT, names)] = [parent for parent, _ in items]
    held = {name: [one.get(name) for one in flats] for name in names}
    present = [None if len(one) == len(names) else frozenset(one) for one in flats]
    return _table(place.name, place.pattern or "/", lead | held, place.word, present)


def _with_pairs(flats: list[Flat]) -> list[Flat]:
    """Add a column for each name in lists of `{"key": …, "value": …}`, as the map calls it: `attributes.tenant.id`."""
    names = dict.fromkeys(name for one in flats for name, value in one.items() if is_list(value))
    for name in names:
        objects = pairs_of([one.get(name) for one in flats])
        if objects is None or len({key for one in objects for key in one}) > _MAX_PAIRS:
            continue
        flats = [
            {f"{name}.{key}": value for key, value in pairs.items()} | one
            for one, pairs in zip(flats, objects, strict=True)
        ]
    return flats


def _table(
    name: str,
    of: str,
    held: Mapping[str, Sequence[Any]],
    word: str = "",
    present: Sequence[frozenset[str] | None] = (),
) -> SqlTable:
    """Make a table of its columns."""
    columns = _columns(held)
    rows = list(zip(*map(cells, held.values()), strict=True))
    return SqlTable(name, of, columns, rows, word, present=list(present))


def _is_large(flats: Sequence[Flat], lists: Mapping[str, Any]) -> bool:
    size = 0
    for one in flats:
        size += sum(len(msgspec.json.encode(one[name])) for name in lists if is_list(one.get(name)))
        if size > _MAX_LISTED_BYTES:
            return True
    return False


def flat(item: Any) -> Flat:
    """Return a row by the names of its columns: `price.total` for what is inside `price`."""
    if not is_object(item):
        return {"value": item}
    if not any(type(value) is dict for value in item.values()):
        return item
    found: Flat = {}
    _flatten(item, "", found, 0)
    return found


def _flatten(item: dict[str, Any], lead: str, found: Flat, depth: int) -> None:
    for key, value in item.items():
        name = lead + key
        if is_object(value) and value and depth < _MAX_DEPTH:
            _flatten(value, f"{name}.", found, depth + 1)
            continue
        while name in found:  # {"a.b": 1, "a": {"b": 2}}
            name += "_2"
        found[name] = value


def _names(flats: Sequence[Flat]) -> list[str]:
    """Return the names of the columns in the order in which they appear; of very many the most frequent."""
    names: dict[str, None] = {}
    for one in flats:
        if not one.keys() <= names.keys():
            names |= dict.fromkeys(one)
    if len(names) <= _MAX_COLUMNS:
        return list(names)
    counts = Counter(name for one in flats for name in one)
    chosen = {name for name, _ in counts.most_common(_MAX_COLUMNS - 1)}
    for one in flats:
        others = {name: one.pop(name) for name in list(one) if name not in chosen}
        if others:
            one[_OTHERS] = others
    return [name for name in names if name in chosen] + [_OTHERS]


def _free(name: str, taken: Sequence[str]) -> str:
    """Return a name that no column has: `#`, as pages print it, for a number beside a field `n`."""
    low = {_folded(one) for one in taken}
    while _folded(name) in low:
        name = "#" if name == NUMBER else f"{name}_"
    return name


def _folded(name: str) -> bytes:
    """Return a name as SQLite compares it."""
    return name.encode("utf-8", "replace").lower()


_PLAIN: Final = frozenset((type(None), float))


def cells(values: Sequence[Any]) -> Sequence[Any]:
    """Return the values of a column as SQLite keeps them."""
    kinds = set(map(type, values))
    if kinds <= _PLAIN:
        return values
    if kinds <= _PLAIN | {int} and all(-_WIDE <= value < _WIDE for value in values if value is not None):
        return values
    if kinds <= {str, type(None)} and all(value.isascii() for value in values if value is not None):
        return values
    return list(map(_cell, values))


def _cell(value: Any) -> Any:
    """Return a value as SQLite keeps it: JSON as text, and so a number of more than 64 bits."""
    if value is None or type(value) is float:
        return value
    if type(value) is str:
        return value.encode("utf-8", "backslashreplace").decode()
    if type(value) is bool:
        return int(value)
    if type(value) is int:
        return value if -_WIDE <= value < _WIDE else str(value)
    return msgspec.json.encode(value).decode()


def _kind_of(values: Sequence[Any]) -> str:
    kinds = set(map(type, values)) - {type(None)}
    if kinds == {bool}:
        return "boolean"
    if kinds and kinds <= {list, dict}:
        return "json"
    if kinds and kinds <= {int, float}:
        is_wide = int in kinds and any(type(value) is int and not -_WIDE <= value < _WIDE for value in values)
        return "mixed" if is_wide else "number"
    return "text" if kinds == {str} else "mixed"


def _columns(held: Mapping[str, Sequence[Any]]) -> list[SqlColumn]:
    taken: set[bytes] = set()
    found: list[SqlColumn] = []
    for key, values in held.items():
        name = key.replace("\0", "\\0")
        while _folded(name) in taken:
            name += "_2"
        taken.add(_folded(name))
        found.append(SqlColumn(name, key, _kind_of(values)))
    return found


def _leaves(value: Any, path: str, keys: Keys, tables: set[Keys]) -> Iterator[tuple[str, Any]]:
    """Return the plain values that are in no table, with their paths."""
    if keys in tables:
        return
    if is_object(value) and value and len(keys) < _MAX_DEPTH:
        for name, inner in value.items():
            yield from _leaves(inner, f"{path}/{escaped(name)}", (*keys, name), tables)
    elif path:
        yield path, value


# Text


def text_tables(document: Document) -> list[SqlTable]:
    text = document.data.decode("utf-8", "replace")
    lines = text.removesuffix("\n").split("\n")
    rows = _rows_of(document, text)
    around: Mapping[str, Sequence[Any]] = line_columns(lines) if rows is None else {}
    whole = _table(LINES, "the text", {NUMBER: range(1, len(lines) + 1), **around, TEXT: lines})
    if rows is None:
        whole.word = MAIN
        return [whole, *(list(_tables_inside(lines)) or _shaped_table(lines))]
    shaped = _shaped_table(lines) if _is_log(rows) else []
    return [_table_of_rows(MAIN, "the rows of the text; n is the line", rows), *shaped, whole]


def _is_log(rows: Rows) -> bool:
    return bool(rows.rows) and rows.rows[0].keys() == _LOG_COLUMNS


def _shaped_table(lines: Sequence[str]) -> list[SqlTable]:
    """Return the fields that all lines have, such as host and program, as a table."""
    rows = shaped_rows(TextLines.of("\n".join(lines)))
    return [_table_of_rows(f"{MAIN}1", "what lines have; n is the line", rows)] if rows else []


def _tables_inside(lines: Sequence[str]) -> Iterator[SqlTable]:
    """Return the tables of a document, or the blocks of a configuration, beside its lines."""
    for number, one in enumerate(document_tables(lines) or block_tables(lines), 1):
        of = one.title or "tables of the text"
        yield _table_of_rows(f"{MAIN}{number}", f"{of}; n is the line", one.rows)


def _table_of_rows(name: str, of: str, rows: Rows) -> SqlTable:
    flats = [flat(row) for row in rows.rows]
    names = _names(flats)
    held = {name: _typed([one.get(name) for one in flats]) for name in names}
    return _table(name, of, {_free(NUMBER, names): rows.places} | held)


def _rows_of(document: Document, text: str) -> Rows | None:
    found = read_rows(document)
    if isinstance(found, Rows):
        return found
    lines = TextLines.of(text)
    try:
        return text_rows(lines) or _log_rows(lines.lines)
    except (ValueError, IndexError):  # a guess about foreign data
        return None


_LOG_COLUMNS: Final = {"time", "level", "text"}


def _log_rows(lines: Sequence[str]) -> Rows | None:
    """Read a log by time and level. Every line is a row, so that a count is one of the whole."""
    told = log_times(lines)
    if told is None:
        return None
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        time = told.get(number)
        rows.append({"time": time, "level": _level_of(line) if time else None, "text": line})
    return Rows(rows, list(range(1, len(lines) + 1)), "line")


def _level_of(line: str) -> str | None:
    if is_continued(line):
        return None
    if found := _LETTER.match(line):
        return _OF_LETTER[found[1]]
    found = _LEVEL.search(line, 0, _LEVEL_CHARS)
    return found[0].upper() if found else None


def _typed(values: Sequence[Any]) -> list[Any]:
    """Return a column of a text as numbers if all of it are numbers in their plain spelling; else as it is written."""
    if any(type(value) is not str for value in values if value is not None):
        return list(values)  # JSON lines
    filled = [value for value in values if value]
    if not filled or not all(map(_PLAIN_NUMBER.match, filled)):
        return list(values)
    as_number = float if any("." in value for value in filled) else int
    if as_number is float and any(len(value.replace(".", "").lstrip("-0")) > 15 for value in filled):
        return list(values)
    return [as_number(value) if value else None for value in values]
