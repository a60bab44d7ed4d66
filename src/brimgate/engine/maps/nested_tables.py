"""Find the tables in a JSON value at any depth: lists of like objects, and maps of like objects by their keys.

What stands at the same place in several parents is one table: the containers of all pods, the spans of all scopes.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeGuard

from brimgate.engine.highlights.table_columns import pairs_of
from brimgate.engine.pointer import escaped, unescaped

_MIN_ROWS: Final = 4
_MIN_MEMBERS: Final = 5
_MIN_SCALARS: Final = 30
_ALIKE: Final = 0.6
_FEW_NAMES: Final = 12
_MAX_CATALOGS: Final = 12
_MAX_DEPTH: Final = 30
_MAX_TABLES: Final = 60
_MAX_CELLS: Final = 64
_SAMPLED: Final = 400
KEY: Final = "key"
_OTHER_KEY: Final = "_key"
"""What the keys of a map are called where its items have a field `key` of their own."""
_ALL_LEVELS: Final = "/**"
"""Ends the pattern of a tree: its items have items of their own under the same name."""

Values = list[Any]


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return type(value) is dict


def is_list(value: Any) -> TypeGuard[list[Any]]:
    return type(value) is list


@dataclass
class NestedTable:
    """Rows that stand at one place, or at the same place in several parents."""

    pattern: str
    """Where it is, with `*` for what varies: `/items/*/spec/containers`."""
    rows: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    pointers: list[str] = field(default_factory=list[str])
    inner: set[str] = field(default_factory=set[str])
    """The columns that are tables of their own, with dots between their names."""

    @property
    def row_pattern(self) -> str:
        return self.pattern if self.pattern.endswith(("/*", _ALL_LEVELS)) else f"{self.pattern}/*"


class LooseValue(NamedTuple):
    """A plain value that is in no table."""

    pointer: str
    name: str
    value: Any


@dataclass
class Structure:
    """What a JSON value consists of."""

    tables: list[NestedTable] = field(default_factory=list[NestedTable])
    leaves: list[LooseValue] = field(default_factory=list[LooseValue])


def structure_of(value: Any, pointer: str = "") -> Structure:
    """Find the tables of a value, and the plain values that are in none."""
    found = Structure()
    _explore(found, pointer, [pointer], [value], 0, in_table=False)
    found.tables.sort(key=lambda table: table.pattern.count("*"))
    _name_inner(found.tables)
    return found


def _name_inner(tables: Sequence[NestedTable]) -> None:
    """Tell every table which of its columns are tables of their own."""
    for table in tables:
        lead = f"{table.row_pattern}/"
        for other in tables:
            if other is not table and other.pattern.startswith(lead):
                steps = other.pattern.removeprefix(lead).partition("/*")[0].split("/")
                table.inner.add(".".join(unescaped(step) for step in steps))


def _explore(
    found: Structure, pattern: str, pointers: list[str], values: Values, depth: int, *, in_table: bool
) -> None:
    """Look at all values that stand at one pattern."""
    if depth > _MAX_DEPTH or len(found.tables) >= _MAX_TABLES:
        return
    objects = [(at, one) for at, one in zip(pointers, values, strict=True) if is_object(one)]
    lists = [(at, one) for at, one in zip(pointers, values, strict=True) if is_list(one) and one]
    if objects:
        _explore_objects(found, pattern, objects, depth, in_table=in_table)
    if lists:
        _explore_lists(found, pattern, lists, depth)


def _explore_objects(
    found: Structure, pattern: str, objects: list[tuple[str, dict[str, Any]]], depth: int, *, in_table: bool
) -> None:
    members = [one for _, one in objects]
    if not in_table and len(objects) == 1 and len(members[0]) <= _MAX_CATALOGS:
        turned = _turned(pattern, *objects[0])
        if turned is not None:
            found.tables.append(turned)
            return
    if is_map(members):
        _add_map(found, pattern, objects, depth)
        return
    if not in_table and len(objects) == 1 and _is_catalog(members[0]):
        at, catalog = objects[0]
        rows = [{KEY: name, "value": value} for name, value in catalog.items()]
        found.tables.append(NestedTable(pattern, rows, [f"{at}/{escaped(name)}" for name in catalog]))
        return
    places: dict[str, list[str]] = defaultdict(list)
    inner: dict[str, Values] = defaultdict(list)
    for at, one in objects:
        for name, value in one.items():
            if is_object(value) or is_list(value):
                places[name].append(f"{at}/{escaped(name)}")
                inner[name].append(value)
            elif not in_table:
                found.leaves.append(LooseValue(f"{at}/{escaped(name)}", name, value))
    for name, values in inner.items():
        _explore(found, f"{pattern}/{escaped(name)}", places[name], values, depth + 1, in_table=in_table)


def key_name(values: Iterable[Any]) -> str:
    """Return the name of the column for the keys of a map with these values."""
    return _OTHER_KEY if any(is_object(value) and KEY in value for value in values) else KEY


def key_of(row: Mapping[str, Any]) -> Any:
    """Return the key of a row of a map; None if it has none."""
    return row.get(_OTHER_KEY, row.get(KEY))


def _add_map(found: Structure, pattern: str, objects: list[tuple[str, dict[str, Any]]], depth: int) -> None:
    table = NestedTable(f"{pattern}/*")
    key = key_name(value for _, one in objects for value in one.values())
    for at, one in objects:
        for name, value in one.items():
            if is_object(value):
                table.rows.append({key: name} | value)
                table.pointers.append(f"{at}/{escaped(name)}")
    inner = [value for _, one in objects for value in one.values() if is_object(value)]
    if is_map(inner):  # a map of maps: its rows are those further down
        found.tables.append(replace(table, rows=[{key: row[key]} for row in table.rows]))
        _explore_objects(
            found, table.pattern, list(zip(table.pointers, inner, strict=True)), depth + 1, in_table=True
        )
        return
    found.tables.append(table)
    _explore_rows(found, table, depth, skip=key)


def _turned(pattern: str, at: str, one: dict[str, Any]) -> NestedTable | None:
    """Return a map of few long catalogs as a table with a column for each: the texts of a program in its languages."""
    catalogs = {name: _plain_members(value) for name, value in one.items() if is_object(value)}
    keys = dict.fromkeys(key for catalog in catalogs.values() for key in catalog)
    if not 2 <= len(catalogs) <= _MAX_CATALOGS or len(keys) < _MIN_SCALARS:
        return None
    shared = sum(all(key in catalog for catalog in catalogs.values()) for key in keys)
    if shared < 0.8 * len(keys):
        return None
    table = NestedTable(f"{pattern}/*")
    for key in keys:
        table.rows.append({KEY: key} | {name: known[key] for name, known in catalogs.items() if key in known})
        first = next(name for name, known in catalogs.items() if key in known)
        table.pointers.append(f"{at}/{escaped(first)}{key}")
    return table


def _plain_members(value: Mapping[str, Any], lead: str = "", depth: int = 0) -> dict[str, Any]:
    """Return the plain values inside an object by the pointers to them."""
    found: dict[str, Any] = {}
    for name, inner in value.items():
        place = f"{lead}/{escaped(name)}"
        if is_object(inner) and depth < _MAX_DEPTH:
            found |= _plain_members(inner, place, depth + 1)
        elif not is_list(inner):
            found[place] = inner
    return found


def _explore_lists(found: Structure, pattern: str, lists: list[tuple[str, list[Any]]], depth: int) -> None:
    items = [(f"{at}/{number}", item) for at, one in lists for number, item in enumerate(one)]
    kinds = _kinds(item for _, item in items[:: max(1, len(items) // _SAMPLED)])
    kind = kinds.most_common(1)[0][0]
    table = NestedTable(pattern if len(lists) == 1 else f"{pattern}/*")
    if kind is dict and pairs_of([one for _, one in lists]) is not None:
        return  # pairs of names and values are columns of whatever they belong to
    if kind is dict:
        chosen = [(at, item) for at, item in items if is_object(item)]
        name = unescaped(pattern.rpartition("/")[2])
        if deeper := _further_levels(chosen, name):
            chosen += deeper
            table.pattern, table.inner = f"{table.pattern.removesuffix('/*')}{_ALL_LEVELS}", {name}
        table.rows, table.pointers = [item for _, item in chosen], [at for at, _ in chosen]
        if len(table.rows) >= _MIN_ROWS:
            found.tables.append(table)
        _explore_rows(found, table, depth, skip=name if deeper else "")
    elif kind is list:
        chosen = [(at, item) for at, item in items if is_list(item)]
        table.rows = cell_rows([item for _, item in chosen])
        table.pointers = [at for at, _ in chosen][len(chosen) - len(table.rows) :]
        if len(table.rows) >= _MIN_ROWS:
            found.tables.append(table)
    elif len(lists) == 1 and len(items) >= _MIN_SCALARS:
        table.rows, table.pointers = [{"value": item} for _, item in items], [at for at, _ in items]
        found.tables.append(table)


def _further_levels(
    items: Sequence[tuple[str, dict[str, Any]]], name: str
) -> list[tuple[str, dict[str, Any]]]:
    """Return the items inside of items that stand there by the name of the list itself, however deep: those of a tree."""
    found: list[tuple[str, dict[str, Any]]] = []
    level = items
    for _ in range(_MAX_DEPTH):
        level = [
            (f"{at}/{escaped(name)}/{number}", inner)
            for at, item in level
            if is_list(held := item.get(name))
            for number, inner in enumerate(held)
            if is_object(inner)
        ]
        if not level:
            break
        found += level
    return found


def _explore_rows(found: Structure, table: NestedTable, depth: int, skip: str = "") -> None:
    """Look into the rows of a table for tables inside them."""
    inner: dict[str, tuple[list[str], Values]] = defaultdict(lambda: ([], []))
    for at, row in zip(table.pointers, table.rows, strict=True):
        for name, value in row.items():
            if (is_object(value) or is_list(value)) and value and name != skip:
                places, values = inner[name]
                places.append(f"{at}/{escaped(name)}")
                values.append(value)
    lead = table.row_pattern
    for name, (places, values) in inner.items():
        _explore(found, f"{lead}/{escaped(name)}", places, values, depth + 1, in_table=True)


def cell_rows(rows: Sequence[list[Any]]) -> list[dict[str, Any]]:
    """Name the cells of rows by the first row, if that is a header, else by their positions."""
    first = rows[0][:_MAX_CELLS]
    has_names = (
        bool(first) and all(type(cell) is str and cell for cell in first) and len(set(first)) == len(first)
    )
    if len(rows) > _MIN_ROWS and has_names and _differs(first, rows[1 : _SAMPLED + 1]):
        names, rows = first, rows[1:]
    else:
        names = [f"[{at}]" for at in range(max(map(len, rows[:_SAMPLED])))][:_MAX_CELLS]
    return [dict(zip(names, row, strict=False)) for row in rows]


def _differs(first: list[str], rows: Sequence[list[Any]]) -> bool:
    """Return whether a first row is a header: no cell of it is below it, and numbers or repeated values are."""
    columns = [[row[at] for row in rows if at < len(row)] for at in range(len(first))]
    is_new = sum(name not in column for name, column in zip(first, columns, strict=True)) >= 0.9 * len(first)
    is_typed = any(any(type(cell) in (int, float) for cell in column) for column in columns)
    return is_new and (is_typed or len(rows) >= _MIN_SCALARS)


def is_map(objects: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the members of these objects are like objects, so that their names are keys and not fields."""
    sampled = objects[:: max(1, len(objects) // _SAMPLED)]
    members = [value for one in sampled for value in one.values()]
    inner = [value for value in members if is_object(value) and value]
    if len(members) < _MIN_MEMBERS or len(inner) < 0.9 * len(members):
        return False
    names = {name for one in sampled for name in one}
    if len(sampled) > 1 and len(names) <= 2 * len(members) / len(sampled):
        return False  # the same names everywhere: fields
    return _are_alike(inner[:_SAMPLED])


def _are_alike(objects: Sequence[dict[str, Any]]) -> bool:
    counts = Counter(name for one in objects for name in one)
    common = {name for name, count in counts.items() if 2 * count >= len(objects)}
    total = sum(counts.values())
    has_few_names = len(counts) <= _FEW_NAMES and total >= 4 * len(counts)
    return has_few_names or (bool(common) and sum(counts[name] for name in common) >= _ALIKE * total)


def _is_catalog(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a long list of plain values by name, such as the texts of a program."""
    if len(value) < _MIN_SCALARS:
        return False
    kinds = _kinds(_some(value.values()))
    kind, count = kinds.most_common(1)[0]
    return kind not in (dict, list) and count >= 0.9 * kinds.total()


def _some(values: Iterable[Any]) -> list[Any]:
    found = list(values)
    return found[:: max(1, len(found) // _SAMPLED)]


def _kinds(values: Iterable[object]) -> Counter[type[object]]:
    return Counter(map(type, values))
