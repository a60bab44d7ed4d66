"""The knowledge graph of npm's `@modelcontextprotocol/server-memory`: entities, what is known of them, relations.

A type is a line, `[person]`, above its entities. An entity is a heading, `# Ann`; below it stand its observations,
`- likes tea`, and where its relations lead, `> knows: Bob | Cem`. Nothing is left out.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from brimgate.packs.members import extras, items, joined, lines, plain, text, unwrapped
from brimgate.packs.pack import Formatter, Pack, Scene, Tool, fold

_DELETED: Final = " deleted successfully"
_LONG_QUERY: Final = 80
_BETWEEN: Final = " | "
_ENTITY: Final = ("name", "entityType", "observations")
_RELATION: Final = ("from", "to", "relationType")
Item = Mapping[str, Any]


def graph(answer: Any, scene: Scene) -> str:
    """Format a graph, or the part of one that a search found."""
    members = unwrapped(answer)
    entities, relations = items(members["entities"]), items(members["relations"])
    by_source: defaultdict[str, list[Item]] = defaultdict(list)
    for relation in relations:
        by_source[text(relation["from"])].append(relation)
    blocks = _by_type(entities, lambda one: _entity(one, by_source.pop(text(one["name"]), ())))
    others = [f"- {_relation(one)}" for some in by_source.values() for one in some]
    return lines(
        _head(entities, relations, scene),
        extras(members, "entities", "relations"),
        *blocks,
        "More relations:" if others else "",
        *others,
    )


def _head(entities: Sequence[Item], relations: Sequence[Item], scene: Scene) -> str:
    if scene.total is not None:
        return ""  # a page of one of the two lists, and it is unknown which
    if not entities and not relations:
        return "No entities found"
    query = scene.arguments.get("query")
    asked = f' for "{fold(query)}"' if isinstance(query, str) and len(query) <= _LONG_QUERY else ""
    counts = _counted(entities, "entity", "entities"), _counted(relations, "relation", "relations")
    return f"{', '.join(counts)}{asked}:"


def _counted(some: Sequence[object], one: str, many: str) -> str:
    return f"{len(some)} {one if len(some) == 1 else many}"


def _by_type(entities: Sequence[Item], write: Callable[[Item], str]) -> list[str]:
    """Put the entities of one type together, so that each type is said once."""
    types: dict[str, list[str]] = {}
    for entity in entities:
        types.setdefault(f"[{text(entity['entityType'])}]", []).append(write(entity))
    return [lines(kind, *some) for kind, some in types.items()]


def _entity(entity: Item, relations: Sequence[Item] = ()) -> str:
    return lines(
        _heading(entity),
        *_observations(entity["observations"]),
        *_ways(relations),
    )


def _ways(relations: Sequence[Item]) -> list[str]:
    """Return where relations lead, those of one type on one line, unless a name has what would separate them."""
    targets: dict[str, list[str]] = {}
    for relation in relations:
        targets.setdefault(text(relation["relationType"]), []).append(_target(relation))
    return [
        f"> {kind}: {line}"
        for kind, some in targets.items()
        for line in (some if any(_BETWEEN in one for one in some) else [_BETWEEN.join(some)])
    ]


def _heading(entity: Item) -> str:
    return joined(f"# {text(entity['name'])}", _rest(entity, "entity", _ENTITY))


def _observations(value: Any) -> list[str]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list, not {type(value).__name__}")
    return [f"- {text(one)}" for one in cast("list[object]", value)]


def _relation(relation: Item) -> str:
    return f"{text(relation['from'])} --{text(relation['relationType'])}--> {_target(relation)}"


def _target(relation: Item) -> str:
    return joined(text(relation["to"]), _rest(relation, "relation", _RELATION))


def _rest(item: Item, kind: str, known: Sequence[str]) -> str:
    """Return what else an item has. Earlier servers also say of what kind it is."""
    return extras(item, *known, "type" if item.get("type") == kind else "")


def created_entities(answer: Any, scene: Scene) -> str:
    """Format what is new. What the caller has just sent is not repeated, only counted."""
    created = items(unwrapped(answer, "entities")["entities"])
    sent: Any = scene.arguments.get("entities") or ()

    def write(entity: Item) -> str:
        if entity not in sent:
            return _entity(entity)
        return f"{_heading(entity)} ({_counted(_observations(entity['observations']), 'observation', 'observations')})"

    return lines(f"✓ {_counted(created, 'entity', 'entities')} created:", *_by_type(created, write))


def created_relations(answer: Any, _: Scene) -> str:
    created = items(unwrapped(answer, "relations")["relations"])
    return lines(
        f"✓ {_counted(created, 'relation', 'relations')} created:",
        *(f"- {_relation(one)}" for one in created),
    )


def added_observations(answer: Any, _: Scene) -> str:
    added = [
        (text(one["entityName"]), _observations(one["addedObservations"]))
        for one in items(unwrapped(answer, "results")["results"])
    ]
    every = [line for _, some in added for line in some]
    told = [lines(f"# {name}" if some else f"# {name} (nothing new)", *some) for name, some in added]
    return lines(f"✓ {_counted(every, 'observation', 'observations')} added:", *told)


def deletion(answer: Any, _: Scene) -> str:
    members = unwrapped(answer)
    message = text(members["message"])
    said = f"✓ {message.removesuffix(_DELETED)} deleted" if message.endswith(_DELETED) else message
    return joined(said, extras(members, "message", "success"))


def failure(answer: Any) -> str:
    members = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    return plain(members.get("message") or "failed") if members.get("success") is False else ""


def _reading(formatter: Formatter, *order: str, is_search: bool = False) -> Tool:
    return Tool(formatter, is_search=is_search, reads_only=True, order=order)


_DELETION: Final = Tool(deletion, is_destructive=True)

PACK: Final = Pack(
    name="memory",
    description="the knowledge graph of npm's server-memory: entities, observations and relations as lines",
    tools={
        "read_graph": _reading(graph),
        "search_nodes": _reading(graph, "query", is_search=True),
        "open_nodes": _reading(graph, "names"),
        "create_entities": Tool(created_entities),
        "create_relations": Tool(created_relations),
        "add_observations": Tool(added_observations),
        "delete_entities": _DELETION,
        "delete_observations": _DELETION,
        "delete_relations": _DELETION,
    },
    marks=(frozenset(("read_graph", "open_nodes", "create_entities", "add_observations")),),
    failure=failure,
    folder=Path(__file__).parent,
)
