"""The official SDK's server of HTTP+SSE: `python -m tests.back.sse_server PORT`, at /sse."""

import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.shared.exceptions import MCPDeprecationWarning
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

warnings.simplefilter("ignore", MCPDeprecationWarning)

from mcp.server.sse import SseServerTransport  # noqa: E402  # it warns when it is imported


async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in ("echo", "slow")]
    )


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    if params.name == "slow":
        await anyio.sleep_forever()
    for done in (1, 2):
        await ctx.session.report_progress(done, 2)
    text = str((params.arguments or {}).get("text", ""))
    return types.CallToolResult(content=[types.TextContent(text=text)])


def main() -> None:
    server: Server[Any] = Server("sse", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    transport = SseServerTransport("/messages/")

    async def hear(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (incoming, out):
            await server.run(incoming, out, server.create_initialization_options())
        return Response()

    routes = [Route("/sse", hear), Mount("/messages/", app=transport.handle_post_message)]
    uvicorn.run(
        Starlette(routes=routes),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        log_level="warning",
        timeout_graceful_shutdown=1,
    )


if __name__ == "__main__":
    main()
