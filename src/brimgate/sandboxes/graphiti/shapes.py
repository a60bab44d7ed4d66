"""Rows of the store as Graphiti's server returns them, and the schemas of those answers."""

import json
import zlib
from datetime import UTC, datetime
from typing import Any, Final

Json = dict[str, Any]


def as_node(row: Json) -> Json:
    return {
        "uuid": row["uuid"],
        "name": row["name"],
        "labels": row["labels"].split(),
        "created_at": _stamp(row),
        "summary": row["summary"],
        "group_id": row["group_id"],
        "attributes": json.loads(row["attributes"]),
    }


def as_fact(row: Json) -> Json:
    return {
        "uuid": row["uuid"],
        "group_id": row["group_id"],
        "source_node_uuid": row["source_node_uuid"],
        "target_node_uuid": row["target_node_uuid"],
        "created_at": f"{_stamp(row).removesuffix('+00:00')}Z",
        "name": row["name"],
        "fact": row["fact"],
        "episodes": row["episodes"].split(),
        "expired_at": _zulu_time(row["expired"]),
        "valid_at": _zulu_time(row["valid"]),
        "invalid_at": _zulu_time(row["invalid"]),
        "reference_time": _zulu_time(row["reference"]),
        "attributes": json.loads(row["attributes"]),
    }


def as_edge(row: Json) -> Json:
    """Return a fact as it stands beside its entities: shorter than in a search, with times written as theirs."""
    return {
        "uuid": row["uuid"],
        "name": row["name"],
        "fact": row["fact"],
        "source_node_uuid": row["source_node_uuid"],
        "target_node_uuid": row["target_node_uuid"],
        "group_id": row["group_id"],
        "created_at": _stamp(row),
        "valid_at": None if row["valid"] is None else _offset_time(row["valid"]),
        "invalid_at": None if row["invalid"] is None else _offset_time(row["invalid"]),
    }


def as_earlier_episode(row: Json, edges: list[str]) -> Json:
    """Return an episode as servers before 1.0 dump it, with the id of every fact."""
    stamp = f"{_stamp(row).removesuffix('+00:00')}Z"
    return {
        "uuid": row["uuid"],
        "name": row["name"],
        "group_id": row["group_id"],
        "labels": [],
        "created_at": stamp,
        "source": row["source"],
        "source_description": row["source_description"],
        "content": row["content"],
        "valid_at": stamp,
        "entity_edges": edges,
    }


def as_episode(row: Json) -> Json:
    return {
        "uuid": row["uuid"],
        "name": row["name"],
        "content": row["content"],
        "created_at": _stamp(row),
        "source": row["source"],
        "source_description": row["source_description"],
        "group_id": row["group_id"],
    }


def _stamp(row: Json) -> str:
    """Return when a row was written, to the microsecond, as a clock gives it."""
    micros = zlib.crc32(row["uuid"].encode()) % 1_000_000
    return datetime.fromtimestamp(row["created"], UTC).replace(microsecond=micros).isoformat()


def _offset_time(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _zulu_time(seconds: int | None) -> str | None:
    return None if seconds is None else f"{_offset_time(seconds).removesuffix('+00:00')}Z"


def seconds_of(moment: str) -> int:
    """Parse a moment in ISO 8601, in UTC if it does not say. Raise ValueError for anything else."""
    told = datetime.fromisoformat(moment)
    return int((told if told.tzinfo else told.replace(tzinfo=UTC)).timestamp())


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


_TEXT: Final[Json] = {"type": "string"}
_MAYBE_TEXT: Final[Json] = {"anyOf": [{"type": "string"}, {"type": "null"}]}
_WHOLE: Final[Json] = {"type": "integer"}
_OPEN: Final[Json] = {"type": "object", "additionalProperties": True}
_NODE: Final = _object(
    uuid=_TEXT,
    name=_TEXT,
    labels=_list(_TEXT),
    created_at=_MAYBE_TEXT,
    summary=_MAYBE_TEXT,
    group_id=_TEXT,
    attributes=_OPEN,
)
_COMMUNITY: Final = _object(uuid=_TEXT, name=_TEXT, group_id=_TEXT, summary=_MAYBE_TEXT)
_ERROR: Final = _object(error=_TEXT)

STATUS: Final = _object(status=_TEXT, message=_TEXT)
SUCCESS: Final = _object(message=_TEXT)
NODES: Final = _object(message=_TEXT, nodes=_list(_NODE))
FACTS: Final = _object(message=_TEXT, facts=_list(_OPEN))
FACT: Final = _OPEN
EPISODES: Final = _object(message=_TEXT, episodes=_list(_OPEN))
PROVENANCE: Final = _object(message=_TEXT, nodes=_list(_NODE), edges=_list(_OPEN))
SAGA: Final = _object(message=_TEXT, uuid=_TEXT, name=_TEXT, summary=_MAYBE_TEXT)
COMMUNITIES: Final = _object(
    message=_TEXT, community_count=_WHOLE, edge_count=_WHOLE, communities=_list(_COMMUNITY)
)


def or_error(tool: str, answer: Json) -> Json:
    """Wrap a union as FastMCP does, under `result`: a schema must be of an object."""
    result: Json = {"anyOf": [answer, _ERROR], "title": "Result"}
    return _object(result=result) | {"title": f"{tool}Output"}
