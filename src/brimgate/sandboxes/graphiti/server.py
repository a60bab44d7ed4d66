"""The graph as an MCP server. It sends what the official SDK makes of such answers."""

import json
from typing import Final, NamedTuple

from brimgate.sandboxes.graphiti.graph import Graph
from brimgate.sandboxes.graphiti.parameters import BadArguments
from brimgate.sandboxes.graphiti.shapes import Json
from brimgate.sandboxes.graphiti.tools import Tool
from brimgate.testing.mcp_session import FakeServer, ToolOutcome

_INSTRUCTIONS: Final = (
    "A memory for agents: episodes (what was said or sent), nodes (entities) and facts (relations between entities), "
    "each in a group. add_memory adds, search_nodes and search_memory_facts find. All of it is made up."
)


class _Served(NamedTuple):
    graph: Graph
    tool: Tool

    @property
    def output_schema(self) -> Json:
        return self.tool.output_schema

    def definition(self) -> Json:
        return self.tool.definition()

    def call(self, arguments: Json) -> ToolOutcome:
        try:
            answer = self.graph.call(self.tool.name, arguments)
        except BadArguments as fault:
            return ToolOutcome(f"Error executing tool {self.tool.name}: {fault}", failed=True)
        text = json.dumps(answer, indent=2, ensure_ascii=False)
        return ToolOutcome(text, {"result": answer} if self.tool.may_fail else answer)


def serve(graph: Graph) -> FakeServer:
    return FakeServer(
        name="Graphiti Agent Memory",
        version="1.0.0",
        instructions=_INSTRUCTIONS,
        tools={name: _Served(graph, tool) for name, tool in graph.tools.items()},
    )
