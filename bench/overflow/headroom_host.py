"""Headroom as a host uses it, on stdio: `python headroom_host.py COMMAND ARGS…`.

It ships no proxy of its own for MCP: a host hands the answer of a tool to its `compress`, and offers the model its tool
`headroom_retrieve`. This does both, with its own pipeline, its own definition of the tool and its own store.
"""

import sys

import anyio
import mcp_types as types
from headroom import compress  # pyright: ignore[reportMissingImports]
from headroom.cache.compression_store import get_compression_store  # pyright: ignore[reportMissingImports]
from headroom.ccr.tool_injection import create_ccr_tool_definition  # pyright: ignore[reportMissingImports]
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

MODEL = "claude-sonnet-4-5-20250929"  # as in its documentation, and in its own MCP server


def compressed(text: str, tool: str) -> str:
    """Give the answer as it stands in a conversation after `compress`; of one that stands alone it leaves out less.

    A host has the user's question in the first message; here is what Headroom itself puts there when it is not told.
    """
    call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    messages = [
        {"role": "user", "content": f"Process {tool} results"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": text},
    ]
    return compress(messages, model=MODEL).messages[-1]["content"]


def retrieved(key: str) -> str:
    entry = get_compression_store().retrieve(key)
    return entry.original_content if entry else "Content not found. It may have expired."


async def main() -> None:
    command, *arguments = sys.argv[1:]
    transport = stdio_client(StdioServerParameters(command=command, args=arguments))
    definition = create_ccr_tool_definition("anthropic")
    async with Client(transport, mode="legacy") as upstream:

        async def list_tools(*_: object) -> types.ListToolsResult:
            listed = await upstream.list_tools()
            return types.ListToolsResult(tools=[*listed.tools, types.Tool(**definition)])

        async def call_tool(_: object, params: types.CallToolRequestParams) -> types.CallToolResult:
            if params.name == definition["name"]:
                texts = [retrieved((params.arguments or {}).get("hash", ""))]
            else:
                answer = await upstream.call_tool(params.name, params.arguments)
                texts = [
                    compressed(block.text, params.name) for block in answer.content if block.type == "text"
                ]
            return types.CallToolResult(content=[types.TextContent(text=text) for text in texts])

        server = Server("headroom", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
