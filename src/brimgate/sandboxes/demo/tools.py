"""The demo server's tools: names, parameters and answers."""

import json
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from brimgate.relay.protocol.server import Json
from brimgate.sandboxes.demo.failure import failure
from brimgate.sandboxes.demo.knowledge import nodes
from brimgate.sandboxes.demo.listings import listings
from brimgate.sandboxes.demo.log import log
from brimgate.sandboxes.demo.manual import manual
from brimgate.sandboxes.demo.tasks import tasks
from brimgate.testing.bookings import bookings
from brimgate.testing.mcp_session import ToolOutcome


class Tool(NamedTuple):
    name: str
    description: str
    run: Callable[[Json], ToolOutcome]
    properties: Json = {}  # noqa: RUF012  # never written to
    required: tuple[str, ...] = ()
    output_schema: Json | None = None

    def definition(self) -> Json:
        schema: Json = {"type": "object", "properties": self.properties, "additionalProperties": False}
        if self.required:
            schema["required"] = list(self.required)
        read_only = {"readOnlyHint": True}
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": schema,
            "annotations": read_only,
        }

    def call(self, arguments: Json) -> ToolOutcome:
        wrong = self._wrong(arguments)
        return ToolOutcome(f"{self.name}: {wrong}", failed=True) if wrong else self.run(arguments)

    def _wrong(self, arguments: Json) -> str:
        """Return what is wrong with the arguments, in words a model can act on; empty when nothing is."""
        if missing := [name for name in self.required if name not in arguments]:
            return f"{missing[0]!r} is required"
        for name, value in arguments.items():
            if name not in self.properties:
                known = ", ".join(self.properties) or "none"
                return f"there is no argument {name!r}; known: {known}"
            if fault := _fault(value, self.properties[name]):
                return f"{name!r} {fault}"
        return ""


def _fault(value: object, schema: Json) -> str:
    match schema["type"]:
        case "integer":
            if not isinstance(value, int) or isinstance(value, bool):
                return "must be a whole number"
            low, high = schema["minimum"], schema["maximum"]
            return "" if low <= value <= high else f"must be between {low} and {high}"
        case _:
            if not isinstance(value, str):
                return "must be a text"
            if "enum" in schema and value not in schema["enum"]:
                return f"must be one of: {', '.join(schema['enum'])}"
            return "" if value else "must not be empty"


def _list_bookings(arguments: Json) -> ToolOutcome:
    answer = bookings()
    answer["result"] = answer["result"][: arguments.get("limit")]
    answer["count"] = len(answer["result"])
    return ToolOutcome(json.dumps(answer, indent=2), answer)


def _get_booking(arguments: Json) -> ToolOutcome:
    number = arguments["id"]
    for booking in bookings()["result"]:
        if booking["id"] == number:
            return ToolOutcome(json.dumps(booking, indent=2), booking)
    return ToolOutcome(f"There is no booking {number}; list_bookings gives the ids.", failed=True)


def _list_listings(_: Json) -> ToolOutcome:
    return ToolOutcome(json.dumps(listings()))


def _list_tasks(_: Json) -> ToolOutcome:
    return ToolOutcome(json.dumps(tasks(), indent=2))


LOGS: Final[Mapping[str, Callable[[], str]]] = {"app": log, "sync": lambda: log(400, seed=18)}
DOCUMENTS: Final[Mapping[str, Callable[[], str]]] = {
    "manual": manual,
    "checklist": lambda: manual(1, seed=20),
}


def _read_log(arguments: Json) -> ToolOutcome:
    return ToolOutcome(LOGS[arguments.get("name", "app")]())


def _read_document(arguments: Json) -> ToolOutcome:
    return ToolOutcome(DOCUMENTS[arguments.get("name", "manual")]())


def _search_knowledge(arguments: Json) -> ToolOutcome:
    words = arguments["query"].lower().split()

    def relevance(node: Json) -> int:
        return sum(f"{node['name']} {node['summary']}".lower().count(word) for word in words)

    found = sorted(nodes(), key=relevance, reverse=True)[: arguments.get("max_nodes")]
    answer: Json = {"message": "Nodes retrieved successfully", "nodes": found}
    return ToolOutcome(json.dumps(answer), answer)


def _fail(_: Json) -> ToolOutcome:
    return ToolOutcome(failure(), failed=True)


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": list(properties)}


_TEXT: Final[Json] = {"type": "string"}
_WHOLE: Final[Json] = {"type": "integer"}
_NUMBER: Final[Json] = {"type": "number"}
_BOOKING: Final = _object(
    id=_WHOLE,
    listingId=_WHOLE,
    status={"enum": ["confirmed", "pending", "cancelled", "payment_failed"]},
    channel=_TEXT,
    createdAt=_TEXT,
    arrivalDate=_TEXT,
    departureDate=_TEXT,
    nights=_WHOLE,
    guest=_object(id=_WHOLE, name=_TEXT, email=_TEXT, country=_TEXT),
    price=_object(currency=_TEXT, base=_NUMBER, cleaning=_NUMBER, total=_NUMBER),
    notes={"type": ["string", "null"]},
)
_BOOKINGS: Final = _object(
    status=_TEXT, count=_WHOLE, result={"type": "array", "items": _BOOKING}, nextPageToken=_TEXT
)
_NODE: Final = _object(
    uuid=_TEXT,
    name=_TEXT,
    labels={"type": "array", "items": _TEXT},
    created_at=_TEXT,
    summary=_TEXT,
    group_id=_TEXT,
    attributes={"type": "object"},
    name_embedding={"type": "array", "items": _NUMBER},
)

TOOLS: Final = {
    tool.name: tool
    for tool in (
        Tool(
            "list_bookings",
            "The bookings of all listings, newest first.",
            _list_bookings,
            {"limit": {"type": "integer", "minimum": 1, "maximum": 500, "description": "Bookings at most."}},
            output_schema=_BOOKINGS,
        ),
        Tool(
            "get_booking",
            "One booking.",
            _get_booking,
            {"id": {"type": "integer", "minimum": 1, "maximum": 10**9, "description": "Its id."}},
            ("id",),
            output_schema=_BOOKING,
        ),
        Tool("list_listings", "All listings with descriptions, amenities and images.", _list_listings),
        Tool("list_tasks", "The tasks of cleaners and caretakers.", _list_tasks),
        Tool(
            "read_log",
            "A log of the service that talks to the booking channels.",
            _read_log,
            {"name": {"type": "string", "enum": list(LOGS), "description": "Which log; app unless told."}},
        ),
        Tool(
            "read_document",
            "A document about the houses, in Markdown.",
            _read_document,
            {
                "name": {
                    "type": "string",
                    "enum": list(DOCUMENTS),
                    "description": "Which one; manual unless told.",
                }
            },
        ),
        Tool(
            "search_knowledge",
            "What is known about properties, guests, suppliers and procedures.",
            _search_knowledge,
            {
                "query": {"type": "string", "description": "Words to look for."},
                "max_nodes": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 20,
                    "description": "Nodes at most.",
                },
            },
            ("query",),
            output_schema=_object(message=_TEXT, nodes={"type": "array", "items": _NODE}),
        ),
        Tool("fail", "Push a calendar that cannot be pushed: fails with a long traceback.", _fail),
    )
}
