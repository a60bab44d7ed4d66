"""A fake MCP server, without I/O: one line in, one answer or none out, in both eras of the protocol.

`FakeSession(FakeServer("tickets", "1", "", tools)).answer(line)` is a whole server: read lines from stdin, write its
answers to stdout, and any client can talk to it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol, cast

from brimgate.relay.protocol.message import INVALID_PARAMS
from brimgate.relay.protocol.server import Json, McpServer, RpcRefusal, ServedTool, ServerSession, text_in

_NO_RESOURCE: Final = -32002
"""For handshake revisions only; a modern server sends −32602."""
_PUBLIC_FOR_A_MINUTE: Final[Mapping[str, Any]] = {"ttlMs": 60_000, "cacheScope": "public"}


class ToolOutcome(NamedTuple):
    """The answer of a tool, whatever the protocol's revision."""

    text: str
    structured: Json | None = None
    failed: bool = False
    more: tuple[str, ...] = ()
    """Texts after the first: some servers send a list as one text for each item."""


class FakeTool(ServedTool, Protocol):
    def call(self, arguments: Json) -> ToolOutcome: ...


class Resource(NamedTuple):
    name: str
    kind: str
    read: Callable[[], str]


class Prompt(NamedTuple):
    """A prompt with one argument."""

    definition: Json
    write: Callable[[str], str]


class FakeServer(NamedTuple):
    """The description and content of a server. It offers only what it has."""

    name: str
    version: str
    instructions: str
    tools: Mapping[str, FakeTool]
    resources: Mapping[str, Resource] = {}
    prompts: Mapping[str, Prompt] = {}

    def described(self) -> McpServer:
        offered = {"resources": self.resources, "prompts": self.prompts}
        others: dict[str, Json] = {kind: {} for kind, things in offered.items() if things}
        return McpServer(
            self.name, self.version, self.instructions, self.tools, cache=_PUBLIC_FOR_A_MINUTE, others=others
        )


class FakeSession(ServerSession):
    """One connection, whose calls are answered at once."""

    def __init__(self, server: FakeServer) -> None:
        super().__init__(server.described())
        self._fake = server

    def answer(self, line: bytes) -> bytes | None:
        """Answer one line; None for a notification or an answer."""
        received = self.receive(line)
        if received is None or isinstance(received, bytes):
            return received and received + b"\n"
        outcome = self._fake.tools[received.name].call(received.arguments)
        content = [{"type": "text", "text": text} for text in (outcome.text, *outcome.more)]
        result: Json = {"content": content, "isError": outcome.failed}
        if self.is_structured and outcome.structured is not None:
            result["structuredContent"] = outcome.structured
        return received.finish(result) + b"\n"

    def methods(self) -> Mapping[str, Callable[[Json], Json]]:
        return {
            **super().methods(),
            "resources/list": self._list_resources,
            "resources/read": self._read_resource,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
        }

    def _list_resources(self, _: Json) -> Json:
        resources = self._fake.resources.items()
        return {"resources": [{"uri": uri, "name": it.name, "mimeType": it.kind} for uri, it in resources]}

    def _read_resource(self, params: Json) -> Json:
        uri = text_in(params, "uri")
        if uri not in self._fake.resources:
            code = INVALID_PARAMS if self.is_modern else _NO_RESOURCE
            raise RpcRefusal(code, "Resource not found", {"uri": uri})
        resource = self._fake.resources[uri]
        return {"contents": [{"uri": uri, "mimeType": resource.kind, "text": resource.read()}]}

    def _list_prompts(self, _: Json) -> Json:
        return {"prompts": [prompt.definition for prompt in self._fake.prompts.values()]}

    def _get_prompt(self, params: Json) -> Json:
        prompts, name, arguments = self._fake.prompts, text_in(params, "name"), params.get("arguments", {})
        if name not in prompts:
            raise RpcRefusal(INVALID_PARAMS, f"Unknown prompt: {name}; known: {', '.join(prompts)}")
        definition, write = prompts[name]
        if not isinstance(arguments, dict):
            raise RpcRefusal(INVALID_PARAMS, "arguments must be an object")
        text = write(text_in(cast("Json", arguments), definition["arguments"][0]["name"]))
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": definition["description"], "messages": [message]}
