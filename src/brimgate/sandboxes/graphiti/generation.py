"""Generate a whole graph from a seed: the same rows for the same numbers, on every machine.

Rows are as the store has them: times in seconds since 1970, lists as words between spaces, attributes as JSON.
"""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from brimgate.sandboxes.graphiti.entities import KINDS, Kind, summarize
from brimgate.sandboxes.graphiti.episodes import tell_episode
from brimgate.sandboxes.graphiti.forms import draw_uuid, pick
from brimgate.sandboxes.graphiti.relations import ANY, RELATIONS, Relation, lengthen, tell
from brimgate.sandboxes.graphiti.vocabulary import WORDS

Row = dict[str, Any]

DEFAULT_NOW: Final = datetime(2026, 11, 15, 10, tzinfo=UTC)
_SPAN_SECONDS: Final = 2 * 365 * 86_400
_LONGEST_NAME: Final = 52
_TRIES: Final = 20
_TYPES: Final = tuple(KINDS)
_SAGAS: Final = (
    ("Kitchen rebuild", "main", 40, 0),
    ("Search migration", "main", 40, 20),
    ("Fjord journey", "travel", 4, 0),
)
"""Name, group, and which episodes of that group belong to it: one in how many, and from which on."""


class Size(NamedTuple):
    nodes: int = 3_000
    facts: int = 6_000
    episodes: int = 1_500


class Rows(NamedTuple):
    nodes: list[Row]
    facts: list[Row]
    episodes: list[Row]
    sagas: list[Row]


def generate(size: Size, seed: int, now: datetime) -> Rows:
    chance = random.Random(seed)  # noqa: S311  # made-up data, not secrets
    end = int(now.timestamp())
    nodes = _nodes(chance, size.nodes, end)
    facts = _facts(chance, nodes, size.facts)
    episodes = _episodes(chance, nodes, facts, size.episodes, end)
    sagas = [{"uuid": draw_uuid(chance), "name": name, "group_id": group} for name, group, _, _ in _SAGAS]
    return Rows(nodes, facts, episodes, sagas)


def _nodes(chance: random.Random, count: int, end: int) -> list[Row]:
    seen: set[str] = set()
    step = max(1, _SPAN_SECONDS // max(1, count))
    nodes = [_node(chance, end - (count - 1 - number) * step, seen) for number in range(count)]
    return _collide(nodes)


def _node(chance: random.Random, created: int, seen: set[str]) -> Row:
    label = pick(chance, _TYPES)
    kind = KINDS[label]
    name = _unlike(_broken(chance, _name(chance, kind, seen), 0.01), seen)
    return {
        "uuid": draw_uuid(chance),
        "name": name,
        "labels": _labels(chance, label),
        "created": created,
        "summary": _broken(chance, summarize(chance, kind, name), 0.15),
        "group_id": _group(chance),
        "attributes": _attributes(chance, 0.15),
    }


def _name(chance: random.Random, kind: Kind, seen: set[str]) -> str:
    for _ in range(_TRIES):
        name = pick(chance, kind.names).write(chance)
        name = name[0].upper() + name[1:]
        if name not in seen and len(name) <= _LONGEST_NAME:
            return name
    return f"{pick(chance, WORDS['stem'])} {len(seen)}"


def _unlike(text: str, seen: set[str]) -> str:
    """Return the text, with a number if it has been used."""
    number, told = 2, text
    while told in seen:
        told = f"{text} {number}"
        number += 1
    seen.add(told)
    return told


def _broken(chance: random.Random, text: str, share: float, *names: str) -> str:
    """Break some texts into lines, as models write them, but no names in them.

    What follows a break may look like an entry of a list.
    """
    if chance.random() >= share:
        return text
    breaks = [at for at, character in enumerate(text) if character == " "]
    if not breaks:
        return text
    at = pick(chance, breaks)
    broken = text[:at] + pick(chance, _BREAKS) + text[at + 1 :]
    return broken if all(name in broken for name in names) else text


_BREAKS: Final = ("\n", "\r\n", "\n\n", "\n- ", "\n2. ", "\u2028")


def _labels(chance: random.Random, label: str) -> str:
    sort = chance.random()
    if sort < 0.03:
        return "Entity"
    if sort < 0.08:
        return f"Entity {label} {_TYPES[_TYPES.index(label) - 1]}"
    return f"Entity {label}"


def _group(chance: random.Random) -> str:
    sort = chance.random()
    return "main" if sort < 0.88 else "work" if sort < 0.96 else "travel"


def _attributes(chance: random.Random, share: float) -> str:
    if chance.random() >= share:
        return "{}"
    return json.dumps(pick(chance, _ATTRIBUTES) | {"confidence": round(chance.uniform(0.5, 1), 2)})


_ATTRIBUTES: Final[tuple[Row, ...]] = (
    {},
    {"aliases": ["Kürzel", "略称"], "verified": True},
    {"language": "de", "url": "https://example.org/wiki?q=1&lang=de"},
    {"priority": "high", "reviewed_by": None},
    {"location": {"lat": 47.3769, "lon": 8.5417}},
)


def _facts(chance: random.Random, nodes: list[Row], count: int) -> list[Row]:
    places: defaultdict[tuple[str, str], list[Row]] = defaultdict(list)
    for node in nodes:
        for label in ("", *node["labels"].split()[1:]):
            places[node["group_id"], label].append(node)
    seen: set[str] = set()
    return _collide([_fact(chance, nodes, places, seen) for _ in range(count if nodes else 0)])


def _fact(
    chance: random.Random, nodes: list[Row], places: dict[tuple[str, str], list[Row]], seen: set[str]
) -> Row:
    group = pick(chance, nodes)["group_id"]
    relation: Relation = pick(chance, RELATIONS)
    if (group, relation.source) not in places or (group, relation.target) not in places:
        relation = ANY
    source = pick(chance, places[group, relation.source])
    target = pick(chance, places[group, relation.target])
    text = tell(chance, relation, source["name"], target["name"])
    if text in seen:
        text = lengthen(chance, text)
    text = _unlike(_broken(chance, text, 0.02, source["name"], target["name"]), seen)
    return {
        "uuid": draw_uuid(chance),
        "group_id": group,
        "source_node_uuid": source["uuid"],
        "target_node_uuid": target["uuid"],
        "name": relation.name,
        "fact": text,
        "attributes": _attributes(chance, 0.08),
    }


def _episodes(chance: random.Random, nodes: list[Row], facts: list[Row], count: int, end: int) -> list[Row]:
    step = max(1, _SPAN_SECONDS // max(1, count))
    groups = [_group(chance) for _ in range(count)]
    told = _dealt(facts, groups)
    seen: set[str] = set()
    episodes: list[Row] = []
    for number, (group, own) in enumerate(zip(groups, told, strict=True)):
        created = end - (count - 1 - number) * step
        entities = [pick(chance, nodes)["name"], pick(chance, nodes)["name"]] if nodes else ["Nothing"]
        telling = tell_episode(chance, [fact["fact"] for fact in own], entities)
        episode: Row = telling._asdict() | {"uuid": draw_uuid(chance), "group_id": group}
        episode["name"] = _unlike(_broken(chance, telling.name, 0.02), seen)
        episode["content"] = _unlike(telling.content, seen)
        episode["created"] = created
        episode["saga"] = _saga(group, number)
        for fact in own:
            _date(chance, fact, created)
            fact["episodes"] = episode["uuid"]
            if episodes and episodes[-1]["group_id"] == group and chance.random() < 0.2:
                fact["episodes"] = f"{episodes[-1]['uuid']} {episode['uuid']}"
        episodes.append(episode)
    for fact in facts:
        if "episodes" not in fact:
            _date(chance, fact, end)
            fact["episodes"] = ""
    return episodes


def _saga(group: str, number: int) -> str | None:
    for name, of, every, start in _SAGAS:
        if of == group and number % every == start:
            return name
    return None


def _dealt(facts: list[Row], groups: list[str]) -> Iterable[list[Row]]:
    """Distribute the facts of each group, in order, over the episodes of that group."""
    waiting: defaultdict[str, list[Row]] = defaultdict(list)
    for fact in facts:
        waiting[fact["group_id"]].append(fact)
    shares, done = Counter(groups), Counter[str]()
    for group in groups:
        own, number, of = waiting[group], done[group], shares[group]
        done[group] += 1
        yield own[len(own) * number // of : len(own) * (number + 1) // of]


def _date(chance: random.Random, fact: Row, told: int) -> None:
    """Set when the fact was recorded, became true, and ceased to be; one in seven is no longer true."""
    valid = told - int(chance.random() * 90 * 86_400)
    ended = chance.random() < 0.15
    fact["created"] = told + 10
    fact["valid"] = valid if chance.random() < 0.9 else None
    fact["invalid"] = valid + (told - valid) // 2 if ended else None
    fact["expired"] = told + 10 if ended and chance.random() < 0.7 else None
    fact["reference"] = told if chance.random() < 0.3 else None


def _collide(rows: list[Row]) -> list[Row]:
    """Make two uuids end alike, to expose code that shortens them by the end."""
    if len(rows) > 1:
        one, other = rows[len(rows) // 3], rows[len(rows) * 2 // 3]
        other["uuid"] = other["uuid"][:-8] + one["uuid"][-8:]
    return rows
