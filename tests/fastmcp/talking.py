"""Clients of FastMCP servers, talked to in plain calls; results are as on the wire."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import mcp_types as mt
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastmcp import Client, FastMCP
from fastmcp.tools.base import Tool, ToolResult
from pydantic import BaseModel

from brimgate.engine.policy import ToolRule
from brimgate.fastmcp import BrimgateMiddleware, Rules
from tests.relay.conversation import NOW, Conversation, policy


def as_sent(result: BaseModel) -> dict[str, Any]:
    """A result without what the protocol puts on all of them."""
    sent = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    meta = {
        name: value
        for name, value in sent.pop("_meta", {}).items()
        if not name.startswith("io.modelcontextprotocol")
    }
    for name, usual in (
        ("isError", False),
        ("resultType", "complete"),
        ("ttlMs", 0),
        ("cacheScope", "private"),
    ):
        if sent.get(name) == usual:
            del sent[name]
    return sent | ({"_meta": meta} if meta else {})


class Talk(Conversation):
    """One client of one server. Walks as a conversation with the relay does."""

    def __init__(self, portal: BlockingPortal, client: Client[Any]) -> None:
        self.portal, self.caller = portal, client

    def tools(self) -> list[dict[str, Any]]:
        return as_sent(self.portal.call(self.caller.list_tools_mcp))["tools"]

    def use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return as_sent(self.portal.call(self.caller.call_tool_mcp, tool, arguments))

    def read(self, *, modern: bool = False, **arguments: Any) -> dict[str, Any]:
        return self.use("brimgate_read", **arguments)

    def resource(self, uri: str) -> dict[str, Any]:
        return as_sent(self.portal.call(self.caller.read_resource_mcp, uri))

    def prompt(self, name: str) -> dict[str, Any]:
        return as_sent(self.portal.call(self.caller.get_prompt_mcp, name))


@contextmanager
def talking(server: Any) -> Iterator[Talk]:
    """`server`: whatever FastMCP's client connects to."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server)) as client:
        yield Talk(portal, client)


class _Scripted(Tool):
    """Gives whatever the test says next."""

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        return ToolResult.from_mcp_result(mt.CallToolResult.model_validate(NEXT.pop()))


NEXT: list[dict[str, Any]] = []


class InProcess(Talk):
    """A conversation as tests of the relay have it, with a server that has the middleware instead."""

    def __init__(
        self,
        portal: BlockingPortal,
        stack: ExitStack,
        rule: ToolRule | None = None,
        resolve: Callable[[str], ToolRule] | None = None,
    ) -> None:
        rule = rule or ToolRule(policy())
        self.now = NOW
        rules = Rules(resolve or (lambda _: rule))
        self.server = FastMCP("scripted", middleware=[BrimgateMiddleware(rules, clock=lambda: self.now)])
        self._known: set[str] = set()
        client = stack.enter_context(portal.wrap_async_context_manager(Client(self.server)))
        super().__init__(portal, client)

    def exchange(self, method: str, params: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        if method == "tools/list":
            for entry in answer["result"]["tools"]:
                self._add(entry["name"], entry.get("outputSchema"))
            return {"result": {"tools": self.tools()}}
        assert method == "tools/call", method
        if params["name"] not in self._known:
            self._add(params["name"])
        NEXT.append(answer["result"])
        return {"result": self.use(params["name"], **params.get("arguments", {}))}

    def _add(self, name: str, output_schema: dict[str, Any] | None = None) -> None:
        self._known.add(name)
        self.server.add_tool(_Scripted(name=name, parameters={"type": "object"}, output_schema=output_schema))


@contextmanager
def conversations() -> Iterator[Callable[..., Conversation]]:
    """What stands for `Conversation` in a test of the relay."""

    with start_blocking_portal() as portal, ExitStack() as stack:
        yield lambda *rules, **more: cast("Conversation", InProcess(portal, stack, *rules, **more))
