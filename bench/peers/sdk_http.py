"""The leanest HTTP proxy the official SDK allows: `python sdk_http.py URL PORT`."""

import sys

import anyio
import mcp_types as types
import uvicorn
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server


async def main() -> None:
    url, port = sys.argv[1], int(sys.argv[2])
    async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as upstream:
        await upstream.initialize()

        async def list_tools(_, params):
            request = types.ListToolsRequest(method="tools/list", params=params)
            return await upstream.send_request(request, types.ListToolsResult)

        async def call_tool(_, params):
            request = types.CallToolRequest(method="tools/call", params=params)
            return await upstream.send_request(request, types.CallToolResult)

        server = Server("sdk-http", on_list_tools=list_tools, on_call_tool=call_tool)
        config = uvicorn.Config(
            server.streamable_http_app(), port=port, log_level="warning", access_log=False, http="httptools"
        )
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    anyio.run(main, backend_options={"use_uvloop": True})
