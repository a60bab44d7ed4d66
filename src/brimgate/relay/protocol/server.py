"""The server's side of the protocol, without I/O: one message in, an answer, a call to run, or nothing out.

A client's first request decides the era for the whole connection, as in the official SDKs: a request whose
`_meta` names a protocol version opens a modern one (2026-07-28), anything else a handshake one.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, cast

import msgspec

from brimgate.engine.jsontext import MAX_NESTING, is_too_deep
from brimgate.relay.protocol.message import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from brimgate.relay.protocol.versions import (
    CAPABILITIES_KEY,
    HANDSHAKE_VERSIONS,
    MODERN_VERSION,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
)

Json = dict[str, Any]
Id = str | int

_SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"
_STRUCTURED_SINCE: Final = "2025-06-18"
_NEVER_CACHED: Final[Mapping[str, Any]] = {"ttlMs": 0, "cacheScope": "private"}


class ServedTool(Protocol):
    @property
    def output_schema(self) -> Json | None: ...
    def definition(self) -> Json:
        """Describe the tool as in tools/list, without the output schema, which older revisions do not know."""
        ...


class McpServer(NamedTuple):
    """The description and the tools of a server."""

    name: str
    version: str
    instructions: str
    tools: Mapping[str, ServedTool]
    title: str = ""
    cache: Mapping[str, Any] = _NEVER_CACHED
    """How long modern clients may cache its lists, and for whom."""
    others: Mapping[str, Json] = {}
    """Capabilities besides tools."""

    @property
    def info(self) -> Json:
        return {"name": self.name, "version": self.version} | ({"title": self.title} if self.title else {})

    @property
    def capabilities(self) -> Json:
        return ({"tools": {"listChanged": False}} if self.tools else {}) | dict(self.others)


class RpcRefusal(Exception):
    """A request that is answered with a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message} | ({"data": data} if data else {})


class ToolCall(NamedTuple):
    """A call that somebody must run: `finish` and `fail` write its answer."""

    id: Id
    name: str
    arguments: Json
    finish: Callable[[Json], bytes]
    capabilities: Json = {}  # noqa: RUF012  # nobody changes it
    """Those of the client."""
    responses: Json = {}  # noqa: RUF012
    """The answers that a modern client brings to what an earlier result asked for."""
    is_modern: bool = False

    def fail(self, code: int, message: str) -> bytes:
        return _line(self.id, {"error": {"code": code, "message": message}})


class ServerSession:
    """One connection. `version` is empty until there was a handshake."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._modern: bool | None = None
        self._capabilities: Json = {}
        self.version = ""

    def receive(self, line: bytes) -> bytes | ToolCall | None:
        """Handle one message: return its answer, or the call it asks for; None if it needs no answer."""
        number: Id | None = None
        try:
            message = _message(line)
            if "id" not in message or _is_answer(message):
                return None
            number = _number(message)
            method, params = _request(message)
            self._check_era(method, params)
            if method == "tools/call":
                return self._call(number, params)
            return _line(number, {"result": self._result(method, params)})
        except RpcRefusal as refusal:
            return _line(_readable_id(line) if number is None else number, {"error": refusal.error})

    def _check_era(self, method: str, params: Json) -> None:
        meta = params.get("_meta")
        is_enveloped = isinstance(meta, dict) and VERSION_KEY in meta
        if self._modern is None:
            self._modern = is_enveloped and method != "initialize"
        if self._modern:
            if method == "initialize":
                raise _unsupported(params.get("protocolVersion"))
            _check_envelope(params)
        elif is_enveloped and method != "initialize":
            raise RpcRefusal(INVALID_REQUEST, "this connection began with the initialize handshake")
        elif not self.version and method not in ("initialize", "ping") and self._knows(method):
            raise RpcRefusal(INVALID_PARAMS, "send initialize first")

    def _result(self, method: str, params: Json) -> Json:
        if not self._modern:
            if method == "ping":
                return {}
            return self._initialize(params) if method == "initialize" else self._shared(method, params)
        if method == "server/discover":
            result: Json = {"supportedVersions": [MODERN_VERSION], "capabilities": self._server.capabilities}
            result |= self._instructions()
        else:
            result = self._shared(method, params)
        if method in ("server/discover", "resources/read") or method.endswith("/list"):
            result |= self._server.cache
        return self._complete(result)

    def _complete(self, result: Json) -> Json:
        """Add the members that every modern result has."""
        meta = {**result.get("_meta", {}), _SERVER_INFO_KEY: self._server.info}
        return {"resultType": "complete"} | result | {"_meta": meta}

    def _instructions(self) -> Json:
        return {"instructions": self._server.instructions} if self._server.instructions else {}

    def _initialize(self, params: Json) -> Json:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise RpcRefusal(INVALID_PARAMS, "protocolVersion must be a text")
        self.version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        self._capabilities = _object_in(params, "capabilities")
        answer = {
            "protocolVersion": self.version,
            "capabilities": self._server.capabilities,
            "serverInfo": self._server.info,
        }
        return answer | self._instructions()

    def methods(self) -> Mapping[str, Callable[[Json], Json]]:
        """Return the methods that are answered at once in either era, besides the handshake."""
        return {"tools/list": self._list_tools}

    def _knows(self, method: str) -> bool:
        if method == "tools/call":
            return bool(self._server.tools)
        return method in self.methods() and method.partition("/")[0] in self._server.capabilities

    def _shared(self, method: str, params: Json) -> Json:
        if not self._knows(method):
            raise RpcRefusal(METHOD_NOT_FOUND, f"Method not found: {method[:100]}")
        if method.endswith("/list") and params.get("cursor") is not None:
            raise RpcRefusal(INVALID_PARAMS, "no such cursor: every list here fits on one page")
        return self.methods()[method](params)

    @property
    def is_structured(self) -> bool:
        """Whether the revision knows structuredContent and outputSchema."""
        return bool(self._modern) or self.version >= _STRUCTURED_SINCE

    @property
    def is_modern(self) -> bool:
        return bool(self._modern)

    def _list_tools(self, _: Json) -> Json:
        return {"tools": [self._definition(tool) for tool in self._server.tools.values()]}

    def _definition(self, tool: ServedTool) -> Json:
        definition = tool.definition()
        if self.is_structured and tool.output_schema:
            definition["outputSchema"] = tool.output_schema
        return definition

    def _call(self, number: Id, params: Json) -> ToolCall:
        if not self._knows("tools/call"):
            raise RpcRefusal(METHOD_NOT_FOUND, "Method not found: tools/call")
        name, arguments = text_in(params, "name"), params.get("arguments")
        if name not in self._server.tools:
            known = ", ".join(self._server.tools)
            raise RpcRefusal(INVALID_PARAMS, f"Unknown tool: {name[:100]}; known: {known[:1000]}")
        if not isinstance(arguments, dict | None):
            raise RpcRefusal(INVALID_PARAMS, "arguments must be an object")

        def finish(result: Json) -> bytes:
            return _line(number, {"result": self._complete(result) if self._modern else result})

        is_modern = bool(self._modern)
        theirs = (
            _object_in(_object_in(params, "_meta"), CAPABILITIES_KEY) if is_modern else self._capabilities
        )
        responses = _object_in(params, "inputResponses")
        return ToolCall(number, name, cast("Json", arguments or {}), finish, theirs, responses, is_modern)


def text_in(params: Json, key: str) -> str:
    """Return a parameter that must be a text."""
    value = params.get(key)
    if not isinstance(value, str):
        raise RpcRefusal(INVALID_PARAMS, f"{key} must be a text")
    return value


def _object_in(params: Json, key: str) -> Json:
    value = params.get(key)
    return cast("Json", value) if isinstance(value, dict) else {}


def _line(number: Id | msgspec.Raw | None, body: Json) -> bytes:
    message = {"jsonrpc": "2.0", "id": number} | body
    try:
        return msgspec.json.encode(message)
    except UnicodeEncodeError:  # half a pair of surrogates, which only an escape can hold
        return json.dumps(message | {"id": number if isinstance(number, str | int) else None}).encode()


def _message(line: bytes) -> Json:
    try:
        parsed: Any = json.loads(line)
        if is_too_deep(line):
            raise RecursionError
    except (ValueError, RecursionError):
        text = f"the message cannot be read: it must be a JSON object, {MAX_NESTING} levels deep at most"
        raise RpcRefusal(PARSE_ERROR, text) from None
    if not isinstance(parsed, dict):
        raise RpcRefusal(INVALID_REQUEST, "a message must be a JSON object")
    return cast("Json", parsed)


def _is_answer(message: Json) -> bool:
    return "method" not in message and ("result" in message or "error" in message)


class _Identified(msgspec.Struct):
    id: msgspec.Raw = msgspec.Raw(b"null")


def _readable_id(line: bytes) -> msgspec.Raw | None:
    """Find the id of a request that is refused before it is read, so that its caller does not wait forever."""
    try:
        found = msgspec.json.decode(line, type=_Identified).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return None if bytes(found)[:1] in b"{[" else found


def _number(message: Json) -> Id:
    number = message["id"]
    if not isinstance(number, str | int) or isinstance(number, bool):
        raise RpcRefusal(
            INVALID_REQUEST, "the request cannot be read: its id must be a text or a whole number"
        )
    return number


def _request(message: Json) -> tuple[str, Json]:
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str) or message.get("jsonrpc") != "2.0":
        raise RpcRefusal(INVALID_REQUEST, 'a request needs "jsonrpc": "2.0" and a method')
    if not isinstance(params, dict):
        raise RpcRefusal(INVALID_PARAMS, "params must be an object")
    return method, cast("Json", params)


def _check_envelope(params: Json) -> None:
    meta = params.get("_meta")
    for key in (VERSION_KEY, CAPABILITIES_KEY):
        if not isinstance(meta, dict) or key not in meta:
            raise RpcRefusal(INVALID_PARAMS, f"_meta must have {key}")
    version: object = params["_meta"][VERSION_KEY]
    if version != MODERN_VERSION:
        raise _unsupported(version)


def _unsupported(requested: object) -> RpcRefusal:
    data: Json = {"supported": [MODERN_VERSION], "requested": str(requested)[:100]}
    return RpcRefusal(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
