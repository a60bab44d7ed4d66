"""An MCP server on stdio with one tool, `get`, whose answer is a file: `python file_server.py FILE`.

It adds a character to the file `FILE.calls` for each call, if there is one.
"""

import sys
from pathlib import Path

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

GET = types.Tool(name="get", description="Get the answer.", input_schema={"type": "object", "properties": {}})


async def main() -> None:
    # Not read_text: an answer is served as it is, with the ends of its lines.
    text = Path(sys.argv[1]).read_bytes().decode()
    calls = Path(f"{sys.argv[1]}.calls")

    async def list_tools(*_: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[GET])

    async def call_tool(*_: object) -> types.CallToolResult:
        if calls.exists():
            with calls.open("a", encoding="utf-8") as counted:
                counted.write(".")
        return types.CallToolResult(content=[types.TextContent(text=text)])

    server = Server("files", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
