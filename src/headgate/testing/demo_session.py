"""The demo server's protocol, without I/O: one message in, one answer or none out, in both eras.

A client's first request decides the era for the whole connection, as in the official SDKs: a request whose
`_meta` names a protocol version opens a modern one (2026-07-28), anything else a handshake one.
"""

import json
from collections.abc import Callable
from typing import Any, Final, cast

from headgate.testing.bookings import bookings
from headgate.testing.demo_tools import DOCUMENTS, LOGS, TOOLS, Json, Tool

HANDSHAKE_REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_REVISION: Final = "2026-07-28"
_STRUCTURED_SINCE: Final = "2025-06-18"
_PREFIX: Final = "io.modelcontextprotocol/"
_SERVER: Final = {"name": "headgate-demo", "version": "1.0.0"}
_CAPABILITIES: Final[Json] = {"tools": {}, "resources": {}, "prompts": {}}
_INSTRUCTIONS: Final = (
    "A property manager's bookings, listings, tasks, logs and manuals. All of it is made up."
)

_PARSE_ERROR, _INVALID_REQUEST, _NO_METHOD, _BAD_PARAMS = -32700, -32600, -32601, -32602
_NO_RESOURCE: Final = -32002
"""Handshake revisions only; a modern server says −32602."""
_UNSUPPORTED_VERSION: Final = -32022

_RESOURCES: Final[dict[str, tuple[str, str, Callable[[], str]]]] = {
    "demo://bookings": ("bookings", "application/json", lambda: json.dumps(bookings())),
    **{f"demo://logs/{name}": (f"{name} log", "text/plain", read) for name, read in LOGS.items()},
    **{f"demo://documents/{name}": (name, "text/markdown", read) for name, read in DOCUMENTS.items()},
}
_PROMPTS: Final[dict[str, tuple[Json, Callable[[str], str]]]] = {
    "welcome_guest": (
        {
            "name": "welcome_guest",
            "description": "Write to a guest before arrival.",
            "arguments": [{"name": "guest", "description": "The guest's name.", "required": True}],
        },
        lambda guest: f"Write a short, warm message to {guest}, who arrives tomorrow.",
    ),
    "review_log": (
        {
            "name": "review_log",
            "description": "Find what went wrong in a log.",
            "arguments": [{"name": "log", "description": f"One of: {', '.join(LOGS)}.", "required": True}],
        },
        lambda name: f"What went wrong here, and what should be done first?\n\n{_named_log(name)}",
    ),
}


class Refused(Exception):
    """A request that gets a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message} | ({"data": data} if data else {})


class Session:
    """One connection. `version` is empty until a handshake has been made."""

    def __init__(self) -> None:
        self._modern: bool | None = None
        self._version = ""

    def answer(self, line: bytes) -> bytes | None:
        """The answer to one line; None for a notification or an answer."""
        number: str | int | None = None
        try:
            message = _message(line)
            if "id" not in message or (
                "method" not in message and ("result" in message or "error" in message)
            ):
                return None
            number = _number(message)
            body: Json = {"result": self._result(*_request(message))}
        except Refused as refused:
            body = {"error": refused.error}
        whole = {"jsonrpc": "2.0", "id": number} | body
        return json.dumps(whole, separators=(",", ":")).encode() + b"\n"

    def _result(self, method: str, params: Json) -> Json:
        meta = params.get("_meta")
        enveloped = isinstance(meta, dict) and f"{_PREFIX}protocolVersion" in meta
        if self._modern is None:
            self._modern = enveloped and method != "initialize"
        if self._modern:
            return self._modern_result(method, params)
        if enveloped and method != "initialize":
            raise Refused(_INVALID_REQUEST, "this connection began with the initialize handshake")
        return self._handshake_result(method, params)

    def _modern_result(self, method: str, params: Json) -> Json:
        if method == "initialize":
            raise _unsupported(params.get("protocolVersion"))
        _check_envelope(params)
        if method == "server/discover":
            result: Json = {
                "supportedVersions": [MODERN_REVISION],
                "capabilities": _CAPABILITIES,
                "instructions": _INSTRUCTIONS,
            }
        else:
            result = self._shared(method, params)
        if method in ("server/discover", "resources/read") or method.endswith("/list"):
            result |= {"ttlMs": 60_000, "cacheScope": "public"}
        return result | {"resultType": "complete", "_meta": {f"{_PREFIX}serverInfo": _SERVER}}

    def _handshake_result(self, method: str, params: Json) -> Json:
        if method == "ping":
            return {}
        if method == "initialize":
            return self._initialize(params)
        if not self._version and method in _METHODS:
            raise Refused(_INVALID_REQUEST, "send initialize first")
        return self._shared(method, params)

    def _initialize(self, params: Json) -> Json:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise Refused(_BAD_PARAMS, "protocolVersion must be a text")
        self._version = wanted if wanted in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]
        return {
            "protocolVersion": self._version,
            "capabilities": _CAPABILITIES,
            "serverInfo": _SERVER,
            "instructions": _INSTRUCTIONS,
        }

    def _shared(self, method: str, params: Json) -> Json:
        if method not in _METHODS:
            raise Refused(_NO_METHOD, f"Method not found: {method}")
        if method.endswith("/list") and params.get("cursor") is not None:
            raise Refused(_BAD_PARAMS, "no such cursor: every list here fits on one page")
        return _METHODS[method](self, params)

    @property
    def _structured(self) -> bool:
        """Whether the revision knows structuredContent and outputSchema."""
        return bool(self._modern) or self._version >= _STRUCTURED_SINCE

    def list_tools(self, _: Json) -> Json:
        return {"tools": [self._definition(tool) for tool in TOOLS.values()]}

    def _definition(self, tool: Tool) -> Json:
        definition = tool.definition()
        if self._structured and tool.output_schema:
            definition["outputSchema"] = tool.output_schema
        return definition

    def call_tool(self, params: Json) -> Json:
        name, arguments = _text(params, "name"), params.get("arguments", {})
        if name not in TOOLS:
            raise Refused(_BAD_PARAMS, f"Unknown tool: {name}; known: {', '.join(TOOLS)}")
        if not isinstance(arguments, dict):
            raise Refused(_BAD_PARAMS, "arguments must be an object")
        outcome = TOOLS[name].call(cast("Json", arguments))
        result: Json = {"content": [{"type": "text", "text": outcome.text}], "isError": outcome.failed}
        if self._structured and outcome.structured is not None:
            result["structuredContent"] = outcome.structured
        return result

    def list_resources(self, _: Json) -> Json:
        rows = [{"uri": uri, "name": name, "mimeType": kind} for uri, (name, kind, _) in _RESOURCES.items()]
        return {"resources": rows}

    def read_resource(self, params: Json) -> Json:
        uri = _text(params, "uri")
        if uri not in _RESOURCES:
            code = _BAD_PARAMS if self._modern else _NO_RESOURCE
            raise Refused(code, "Resource not found", {"uri": uri})
        _, kind, read = _RESOURCES[uri]
        return {"contents": [{"uri": uri, "mimeType": kind, "text": read()}]}

    def list_prompts(self, _: Json) -> Json:
        return {"prompts": [definition for definition, _ in _PROMPTS.values()]}

    def get_prompt(self, params: Json) -> Json:
        name, arguments = _text(params, "name"), params.get("arguments", {})
        if name not in _PROMPTS:
            raise Refused(_BAD_PARAMS, f"Unknown prompt: {name}; known: {', '.join(_PROMPTS)}")
        definition, write = _PROMPTS[name]
        if not isinstance(arguments, dict):
            raise Refused(_BAD_PARAMS, "arguments must be an object")
        text = write(_text(cast("Json", arguments), definition["arguments"][0]["name"]))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": definition["description"], "messages": [message]}


_METHODS: Final[dict[str, Callable[[Session, Json], Json]]] = {
    "tools/list": Session.list_tools,
    "tools/call": Session.call_tool,
    "resources/list": Session.list_resources,
    "resources/read": Session.read_resource,
    "prompts/list": Session.list_prompts,
    "prompts/get": Session.get_prompt,
}


def _message(line: bytes) -> Json:
    try:
        parsed: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise Refused(_PARSE_ERROR, "Parse error: a line must be one JSON object") from None
    if not isinstance(parsed, dict):
        raise Refused(_INVALID_REQUEST, "a message must be a JSON object")
    return cast("Json", parsed)


def _number(message: Json) -> str | int:
    number = message["id"]
    if not isinstance(number, str | int):
        raise Refused(_INVALID_REQUEST, "an id must be a text or a whole number")
    return number


def _request(message: Json) -> tuple[str, Json]:
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str) or message.get("jsonrpc") != "2.0":
        raise Refused(_INVALID_REQUEST, 'a request needs "jsonrpc": "2.0" and a method')
    if not isinstance(params, dict):
        raise Refused(_BAD_PARAMS, "params must be an object")
    return method, cast("Json", params)


def _text(params: Json, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        raise Refused(_BAD_PARAMS, f"{key} must be a text")
    return value


def _named_log(name: str) -> str:
    if name not in LOGS:
        raise Refused(_BAD_PARAMS, f"Unknown log: {name}; known: {', '.join(LOGS)}")
    return LOGS[name]()


def _check_envelope(params: Json) -> None:
    meta = params.get("_meta")
    for key in ("protocolVersion", "clientCapabilities"):
        if not isinstance(meta, dict) or _PREFIX + key not in meta:
            raise Refused(_BAD_PARAMS, f"_meta must have {_PREFIX}{key}")
    version: object = params["_meta"][f"{_PREFIX}protocolVersion"]
    if version != MODERN_REVISION:
        raise _unsupported(version)


def _unsupported(requested: object) -> Refused:
    data: Json = {"supported": [MODERN_REVISION], "requested": str(requested)}
    return Refused(_UNSUPPORTED_VERSION, "Unsupported protocol version", data)
