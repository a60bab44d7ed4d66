"""Compare the names of several JSON tables: an id that two tables have, a name that nothing refers to."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.highlights.row_relations import ID_NAME
from brimgate.engine.highlights.table_columns import TableColumn, short
from brimgate.engine.maps.nested_tables import NestedTable, is_list, is_object, key_of
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK
from brimgate.engine.pointer import unescaped

_MIN_KNOWN: Final = 20
_MAX_TOLD: Final = 3
_MIN_KEYS: Final = 12
_MOSTLY: Final = 0.85
_MIN_CHARS: Final = 3


def shared_ids(columns: Sequence[tuple[NestedTable, TableColumn]], order: int) -> Iterator[Finding]:
    """Find an id that stands in several columns of its name, where every other stands in one."""
    by_name: dict[str, list[tuple[NestedTable, TableColumn]]] = defaultdict(list)
    for table, column in columns:
        name = column.name.rpartition(".")[2]
        is_own = column.distinct >= len(column.values) - _MAX_TOLD
        if is_own and ID_NAME.search(name) and column.kinds.keys() <= {str}:
            by_name[name].append((table, column))
    for name, held in by_name.items():
        places: dict[str, list[str]] = defaultdict(list)
        for table, column in held:
            for at, value in zip(column.at, column.values, strict=True):
                places[value].append(f"{table.pointers[at]}/{column.name.replace('.', '/')}")
        twice = [value for value, ats in places.items() if len(ats) > 1]
        if len(held) > 1 and len(places) >= _MIN_KNOWN and 0 < len(twice) <= _MAX_TOLD:
            for value in twice:
                first, *_, last = places[value]
                text = f"{name}={short(value)} is a duplicate of {first}"
                yield Finding(order, WORTH_A_LOOK, text, last)


def unused_names(tables: Sequence[NestedTable], value: Any, order: int) -> Iterator[Finding]:
    """Find keys of a table that no text of the answer names, where nearly all others are named by one."""
    for table in tables:
        rows = zip(table.rows, table.pointers, strict=True)
        keys = {key: at for row, at in rows if type(key := key_of(row)) is str}
        if len(keys) < _MIN_KEYS or any(len(key) < _MIN_CHARS for key in keys):
            continue
        named = _named(value)
        unused = [key for key in list(keys)[1:] if key not in named]  # the first may be the root of all
        if 0 < len(unused) <= _MAX_TOLD and len(unused) <= (1 - _MOSTLY) * len(keys):
            for key in unused:
                yield Finding(
                    order, SLIGHTLY_ODD + 2, f"nothing refers to {short(key)}: it is unused", keys[key]
                )


def _named(value: Any) -> set[str]:
    """Return every text of a value, and what the path in it ends with: `#/components/schemas/Pet` names Pet."""
    found: set[str] = set()
    stack = [value]
    while stack:
        one = stack.pop()
        if is_object(one):
            stack += one.values()
        elif is_list(one):
            stack += one
        elif type(one) is str:
            found.add(one)
            if "/" in one:
                found.add(unescaped(one.rpartition("/")[2]))
    return found
