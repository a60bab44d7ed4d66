"""What both proxies on the official SDK do: requests are sent on as they came. No catalog is kept, nothing validated twice."""

import mcp_types as types
from mcp.server.lowlevel import Server


def passing(name: str, upstream) -> Server:
    async def list_tools(_, params):
        request = types.ListToolsRequest(method="tools/list", params=params)
        return await upstream.send_request(request, types.ListToolsResult)

    async def call_tool(_, params):
        request = types.CallToolRequest(method="tools/call", params=params)
        return await upstream.send_request(request, types.CallToolResult)

    return Server(name, on_list_tools=list_tools, on_call_tool=call_tool)
