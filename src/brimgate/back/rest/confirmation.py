"""Ask the user before a tool destroys something, where the client can ask (elicitation)."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from brimgate.back.rest.errors import one_line
from brimgate.relay.protocol.server import Json, ToolCall

if TYPE_CHECKING:
    from brimgate.back.rest.model import ApiTool

Ask = Callable[[str, Json], Awaitable[Any]]
"""Sends a request to the client of a conversation, and returns the result; None if there is no answer."""
METHOD: Final = "elicitation/create"
_CONFIRM: Final = "confirm"
_SCHEMA: Final[Json] = {
    "type": "object",
    "properties": {_CONFIRM: {"type": "boolean", "title": "Yes, do it", "default": False}},
    "required": [_CONFIRM],
}
_MOST_CHARS: Final = 300


def can_ask(call: ToolCall) -> bool:
    """Return whether the client shows its user questions."""
    given = call.capabilities.get("elicitation")
    # An empty object means forms: other modes came later.
    return isinstance(given, dict) and (not given or "form" in given)


def question(tool: "ApiTool", title: str, call: ToolCall) -> Json:
    """Return the parameters of the request that asks for a confirmation."""
    told = ", ".join(f"{name} {_shown(value)}" for name, value in call.arguments.items())
    what = one_line(f"{title}, {tool.title or tool.name}: {told or 'no arguments'}", _MOST_CHARS)
    return {"mode": "form", "message": f"{what}. It cannot be undone. Go on?", "requestedSchema": _SCHEMA}


def _shown(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def input_required(tool: "ApiTool", title: str, call: ToolCall) -> Json:
    """Return the result that asks a modern client, which then repeats the call with the answer."""
    request = {"method": METHOD, "params": question(tool, title, call)}
    return {"resultType": "input_required", "inputRequests": {_CONFIRM: request}}


def given_answer(call: ToolCall) -> Any:
    """Return the answer that a repeated call of a modern client brings; None if there is none."""
    return call.responses.get(_CONFIRM)


def is_confirmed(answer: object) -> bool:
    """Return whether the user has agreed."""
    told = cast("Json", answer) if isinstance(answer, dict) else {}
    content = told.get("content")
    is_checked = isinstance(content, dict) and cast("Json", content).get(_CONFIRM) is True
    return told.get("action") == "accept" and is_checked
