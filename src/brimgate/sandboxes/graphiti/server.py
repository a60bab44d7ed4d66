"""The graph as an MCP server. It sends what the official SDK makes of such answers."""

import json
from typing import Any, Final, NamedTuple, cast

from brimgate.sandboxes.graphiti.graph import Graph
from brimgate.sandboxes.graphiti.parameters import BadArguments
from brimgate.sandboxes.graphiti.shapes import Json
from brimgate.sandboxes.graphiti.tools import Tool
from brimgate.testing.mcp_session import FakeServer, Resource, ToolOutcome

_INSTRUCTIONS: Final = (
    "A memory for agents: episodes (what was said or sent), nodes (entities) and facts (relations between entities), "
    "each in a group. add_memory adds, search_nodes and search_memory_facts find. All of it is made up."
)


_STATUS: Final = "http://graphiti/status"


class _Served(NamedTuple):
    graph: Graph
    tool: Tool

    @property
    def output_schema(self) -> Json | None:
        return None if self.graph.generation == "0.x" else self.tool.output_schema

    def definition(self) -> Json:
        return self.tool.definition()

    def call(self, arguments: Json) -> ToolOutcome:
        try:
            answer = self.graph.call(self.tool.name, arguments)
        except BadArguments as fault:
            return ToolOutcome(f"Error executing tool {self.tool.name}: {fault}", failed=True)
        if self.graph.generation == "0.x":
            return _unstructured(answer)
        return ToolOutcome(_text(answer), {"result": answer} if self.tool.may_fail else answer)


def _unstructured(answer: Any) -> ToolOutcome:
    """Return an answer as SDKs before structured content do: a list as one text for each item."""
    first, *others = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
    return ToolOutcome(_text(first), more=tuple(map(_text, others)))


def _text(answer: Any) -> str:
    return json.dumps(answer, indent=2, ensure_ascii=False)


def _status() -> str:
    return _text({"status": "ok", "message": "Graphiti MCP server is running and connected to Neo4j"})


def serve(graph: Graph) -> FakeServer:
    return FakeServer(
        name="Graphiti Agent Memory",
        version="1.0.0",
        instructions=_INSTRUCTIONS,
        tools={name: _Served(graph, tool) for name, tool in graph.tools.items()},
        resources={_STATUS: Resource("get_status", "text/plain", _status)}
        if graph.generation == "0.x"
        else {},
    )
