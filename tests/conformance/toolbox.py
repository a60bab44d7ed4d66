"""Tools by name, as a server lists and calls them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance.asking import Context

Answer = types.CallToolResult | types.InputRequiredResult
Handler = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Entry:
    run: Handler
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None


class Toolbox:
    def __init__(self, *parts: "Toolbox") -> None:
        self.entries: dict[str, Entry] = {}
        for part in parts:
            self.entries |= part.entries

    def tool(
        self,
        name: str,
        properties: dict[str, Any] | None = None,
        *,
        required: tuple[str, ...] = (),
        schema: dict[str, Any] | None = None,
        output: dict[str, Any] | None = None,
    ) -> Callable[[Handler], Handler]:
        """Adds a function as a tool, which takes the properties, or what a whole schema says."""

        def add(run: Handler) -> Handler:
            takes = {"type": "object", "properties": properties or {}}
            if required:
                takes["required"] = list(required)
            self.entries[name] = Entry(run, schema or takes, output)
            return run

        return add

    async def list(
        self, _ctx: Context, _params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=f"Tool of the conformance fixture: {name}.",
                    input_schema=entry.input_schema,
                    output_schema=entry.output_schema,
                )
                for name, entry in self.entries.items()
            ]
        )

    async def call(self, ctx: Context, params: types.CallToolRequestParams) -> Answer:
        entry = self.entries.get(params.name)
        if entry is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name}")
        return await entry.run(ctx, params)


def said(*texts: str, **more: Any) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text) for text in texts], **more)
