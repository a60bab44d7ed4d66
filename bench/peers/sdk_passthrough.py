"""The leanest proxy the official SDK allows: its low-level server in front, its client session behind.

`python sdk_passthrough.py COMMAND ARGS…`. Requests are sent as they came: no catalog is kept, nothing is validated twice.
"""

import sys

import anyio
import mcp_types as types
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def main() -> None:
    command, *arguments = sys.argv[1:]
    parameters = StdioServerParameters(command=command, args=arguments)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as upstream:
        await upstream.initialize()

        async def list_tools(_, params):
            request = types.ListToolsRequest(method="tools/list", params=params)
            return await upstream.send_request(request, types.ListToolsResult)

        async def call_tool(_, params):
            request = types.CallToolRequest(method="tools/call", params=params)
            return await upstream.send_request(request, types.CallToolResult)

        server = Server("sdk-passthrough", on_list_tools=list_tools, on_call_tool=call_tool)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
