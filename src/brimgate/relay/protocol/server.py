"""An MCP server's protocol, without I/O: one message in, one answer or none out, in both eras.

A client's first request decides the era for the whole connection, as in the official SDKs: a request whose
`_meta` names a protocol version opens a modern one (2026-07-28), anything else a handshake one.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, cast

Json = dict[str, Any]

HANDSHAKE_REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_REVISION: Final = "2026-07-28"
_STRUCTURED_SINCE: Final = "2025-06-18"
_PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = f"{_PREFIX}protocolVersion"

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, BAD_PARAMS = -32700, -32600, -32601, -32602
_NO_RESOURCE: Final = -32002
"""Handshake revisions only; a modern server says −32602."""
UNSUPPORTED_VERSION: Final = -32022


class ToolOutcome(NamedTuple):
    """What a tool answers, whatever the protocol's revision."""

    text: str
    structured: Json | None = None
    failed: bool = False


class ServedTool(Protocol):
    @property
    def output_schema(self) -> Json | None: ...
    def definition(self) -> Json:
        """As in tools/list, without the output schema, which older revisions do not know."""
        ...

    def call(self, arguments: Json) -> ToolOutcome: ...


class Resource(NamedTuple):
    name: str
    kind: str
    read: Callable[[], str]


class Prompt(NamedTuple):
    """A prompt with one argument."""

    definition: Json
    write: Callable[[str], str]


class McpServer(NamedTuple):
    """What a server is and has; what it has none of, it does not offer."""

    name: str
    version: str
    instructions: str
    tools: Mapping[str, ServedTool]
    resources: Mapping[str, Resource] = {}
    prompts: Mapping[str, Prompt] = {}

    @property
    def info(self) -> Json:
        return {"name": self.name, "version": self.version}

    @property
    def capabilities(self) -> Json:
        offered = {"tools": self.tools, "resources": self.resources, "prompts": self.prompts}
        return {kind: {} for kind, things in offered.items() if things}


class RpcRefusal(Exception):
    """A request that gets a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: Json | None = None) -> None:
        super().__init__(message)
        self.error: Json = {"code": code, "message": message} | ({"data": data} if data else {})


class ServerSession:
    """One connection. `version` is empty until a handshake has been made."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._modern: bool | None = None
        self.version = ""

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
        except RpcRefusal as refused:
            body = {"error": refused.error}
        whole = {"jsonrpc": "2.0", "id": number} | body
        return json.dumps(whole, separators=(",", ":")).encode() + b"\n"

    def _result(self, method: str, params: Json) -> Json:
        meta = params.get("_meta")
        enveloped = isinstance(meta, dict) and VERSION_KEY in meta
        if self._modern is None:
            self._modern = enveloped and method != "initialize"
        if self._modern:
            return self._modern_result(method, params)
        if enveloped and method != "initialize":
            raise RpcRefusal(INVALID_REQUEST, "this connection began with the initialize handshake")
        return self._handshake_result(method, params)

    def _modern_result(self, method: str, params: Json) -> Json:
        if method == "initialize":
            raise _unsupported(params.get("protocolVersion"))
        _check_envelope(params)
        if method == "server/discover":
            result: Json = {
                "supportedVersions": [MODERN_REVISION],
                "capabilities": self._server.capabilities,
                "instructions": self._server.instructions,
            }
        else:
            result = self._shared(method, params)
        if method in ("server/discover", "resources/read") or method.endswith("/list"):
            result |= {"ttlMs": 60_000, "cacheScope": "public"}
        return result | {"resultType": "complete", "_meta": {f"{_PREFIX}serverInfo": self._server.info}}

    def _handshake_result(self, method: str, params: Json) -> Json:
        if method == "ping":
            return {}
        if method == "initialize":
            return self._initialize(params)
        if not self.version and self._knows(method):
            raise RpcRefusal(INVALID_REQUEST, "send initialize first")
        return self._shared(method, params)

    def _initialize(self, params: Json) -> Json:
        wanted = params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise RpcRefusal(BAD_PARAMS, "protocolVersion must be a text")
        self.version = wanted if wanted in HANDSHAKE_REVISIONS else HANDSHAKE_REVISIONS[-1]
        return {
            "protocolVersion": self.version,
            "capabilities": self._server.capabilities,
            "serverInfo": self._server.info,
            "instructions": self._server.instructions,
        }

    def _knows(self, method: str) -> bool:
        return method in _METHODS and method.partition("/")[0] in self._server.capabilities

    def _shared(self, method: str, params: Json) -> Json:
        if not self._knows(method):
            raise RpcRefusal(NO_METHOD, f"Method not found: {method}")
        if method.endswith("/list") and params.get("cursor") is not None:
            raise RpcRefusal(BAD_PARAMS, "no such cursor: every list here fits on one page")
        return _METHODS[method](self, params)

    @property
    def _structured(self) -> bool:
        """Whether the revision knows structuredContent and outputSchema."""
        return bool(self._modern) or self.version >= _STRUCTURED_SINCE

    def list_tools(self, _: Json) -> Json:
        return {"tools": [self._definition(tool) for tool in self._server.tools.values()]}

    def _definition(self, tool: ServedTool) -> Json:
        definition = tool.definition()
        if self._structured and tool.output_schema:
            definition["outputSchema"] = tool.output_schema
        return definition

    def call_tool(self, params: Json) -> Json:
        tools, name, arguments = self._server.tools, _text(params, "name"), params.get("arguments", {})
        if name not in tools:
            raise RpcRefusal(BAD_PARAMS, f"Unknown tool: {name}; known: {', '.join(tools)}")
        if not isinstance(arguments, dict):
            raise RpcRefusal(BAD_PARAMS, "arguments must be an object")
        outcome = tools[name].call(cast("Json", arguments))
        result: Json = {"content": [{"type": "text", "text": outcome.text}], "isError": outcome.failed}
        if self._structured and outcome.structured is not None:
            result["structuredContent"] = outcome.structured
        return result

    def list_resources(self, _: Json) -> Json:
        resources = self._server.resources.items()
        return {"resources": [{"uri": uri, "name": it.name, "mimeType": it.kind} for uri, it in resources]}

    def read_resource(self, params: Json) -> Json:
        uri = _text(params, "uri")
        if uri not in self._server.resources:
            code = BAD_PARAMS if self._modern else _NO_RESOURCE
            raise RpcRefusal(code, "Resource not found", {"uri": uri})
        resource = self._server.resources[uri]
        return {"contents": [{"uri": uri, "mimeType": resource.kind, "text": resource.read()}]}

    def list_prompts(self, _: Json) -> Json:
        return {"prompts": [prompt.definition for prompt in self._server.prompts.values()]}

    def get_prompt(self, params: Json) -> Json:
        prompts, name, arguments = self._server.prompts, _text(params, "name"), params.get("arguments", {})
        if name not in prompts:
            raise RpcRefusal(BAD_PARAMS, f"Unknown prompt: {name}; known: {', '.join(prompts)}")
        definition, write = prompts[name]
        if not isinstance(arguments, dict):
            raise RpcRefusal(BAD_PARAMS, "arguments must be an object")
        text = write(_text(cast("Json", arguments), definition["arguments"][0]["name"]))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": definition["description"], "messages": [message]}


_METHODS: Final[dict[str, Callable[[ServerSession, Json], Json]]] = {
    "tools/list": ServerSession.list_tools,
    "tools/call": ServerSession.call_tool,
    "resources/list": ServerSession.list_resources,
    "resources/read": ServerSession.read_resource,
    "prompts/list": ServerSession.list_prompts,
    "prompts/get": ServerSession.get_prompt,
}


def _message(line: bytes) -> Json:
    try:
        parsed: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise RpcRefusal(PARSE_ERROR, "Parse error: a line must be one JSON object") from None
    if not isinstance(parsed, dict):
        raise RpcRefusal(INVALID_REQUEST, "a message must be a JSON object")
    return cast("Json", parsed)


def _number(message: Json) -> str | int:
    number = message["id"]
    if not isinstance(number, str | int):
        raise RpcRefusal(INVALID_REQUEST, "an id must be a text or a whole number")
    return number


def _request(message: Json) -> tuple[str, Json]:
    method, params = message.get("method"), message.get("params", {})
    if not isinstance(method, str) or message.get("jsonrpc") != "2.0":
        raise RpcRefusal(INVALID_REQUEST, 'a request needs "jsonrpc": "2.0" and a method')
    if not isinstance(params, dict):
        raise RpcRefusal(BAD_PARAMS, "params must be an object")
    return method, cast("Json", params)


def _text(params: Json, key: str) -> str:
    value = params.get(key)
    if not isinstance(value, str):
        raise RpcRefusal(BAD_PARAMS, f"{key} must be a text")
    return value


def _check_envelope(params: Json) -> None:
    meta = params.get("_meta")
    for key in (VERSION_KEY, f"{_PREFIX}clientCapabilities"):
        if not isinstance(meta, dict) or key not in meta:
            raise RpcRefusal(BAD_PARAMS, f"_meta must have {key}")
    version: object = params["_meta"][VERSION_KEY]
    if version != MODERN_REVISION:
        raise _unsupported(version)


def _unsupported(requested: object) -> RpcRefusal:
    data: Json = {"supported": [MODERN_REVISION], "requested": str(requested)}
    return RpcRefusal(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
