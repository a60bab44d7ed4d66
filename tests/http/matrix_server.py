"""One small server on the official SDK, over every transport and in either era.

`python -m tests.http.matrix_server --stdio`, `--http PORT` (at /mcp) or `--sse PORT` (at /sse); `--legacy-only` knows no
`server/discover`.
"""

import argparse
import json
import logging
import warnings
from collections import defaultdict
from typing import Any, Final

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPDeprecationWarning
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

ROWS: Final = [
    {
        "id": 1_000 + n,
        "guest": f"Guest {n}",
        "status": "confirmed",
        "total": n * 1.25,
        "note": f"note {n} " * 6,
    }
    for n in range(400)
]
LARGE: Final = json.dumps(ROWS)
TOOLS: Final = ("small", "large", "slow_progress", "go_on", "hang", "await_cancelled")
_PATIENCE_SECONDS: Final = 30.0
_cancelled: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)
_going_on: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)


async def list_tools(_ctx: Any, _params: Any) -> types.ListToolsResult:
    schema = {"type": "object", "properties": {"mark": {"type": "string"}}}
    return types.ListToolsResult(tools=[types.Tool(name=name, input_schema=schema) for name in TOOLS])


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    mark = str((params.arguments or {}).get("mark", ""))
    match params.name:
        case "small":
            text = f"small {mark}"
        case "large":
            text = LARGE
        case "slow_progress":
            for done in (1, 2, 3):
                await ctx.session.report_progress(done, 3)
            # Some clients forget progress that comes in one piece with the answer.
            text = await _wait_for(_going_on[mark], "done")
        case "go_on":
            _going_on[mark].set()
            text = "going on"
        case "hang":
            await _hang(ctx, mark)
            text = "not cancelled"
        case "await_cancelled":
            text = await _wait_for(_cancelled[mark], "cancelled")
        case _:
            return types.CallToolResult(content=[types.TextContent(text="no such tool")], is_error=True)
    return types.CallToolResult(content=[types.TextContent(text=text)])


async def _hang(ctx: Any, mark: str) -> None:
    """Says that it runs, and then nothing until it is cancelled."""
    try:
        await ctx.session.report_progress(1, 2)
        await anyio.sleep_forever()
    finally:
        _cancelled[mark].set()


async def _wait_for(event: anyio.Event, text: str) -> str:
    with anyio.move_on_after(_PATIENCE_SECONDS):
        await event.wait()
        return text
    return "it did not happen"


def build() -> Server[Any]:
    return Server("matrix", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio(*, legacy_only: bool) -> None:
    server = build()
    options = server.create_initialization_options()
    async with stdio_server() as (incoming, outgoing):
        if legacy_only:
            await serve_loop(server, incoming, outgoing, lifespan_state={}, init_options=options)
        else:
            await server.run(incoming, outgoing, options)


def http_app(*, legacy_only: bool) -> ASGIApp:
    app = build().streamable_http_app()
    return LegacyOnly(app) if legacy_only else app


class LegacyOnly:
    """Refuses the newer era in the words of the SDK before it knew of it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        version = dict(scope.get("headers", ())).get(b"mcp-protocol-version", b"")
        if version != b"2026-07-28":
            await self._app(scope, receive, send)
            return
        error = {"code": -32600, "message": "Bad Request: Unsupported protocol version: 2026-07-28"}
        answer = JSONResponse({"jsonrpc": "2.0", "id": "server-error", "error": error}, 400)
        await answer(scope, receive, send)


def sse_app() -> ASGIApp:
    from mcp.server.sse import SseServerTransport  # it warns when it is imported

    server, transport = build(), SseServerTransport("/messages/")

    async def hear(request: Request) -> Response:
        async with transport.connect_sse(request.scope, request.receive, request._send) as (incoming, out):
            await server.run(incoming, out, server.create_initialization_options())
        return Response()

    routes = [Route("/sse", hear), Mount("/messages/", app=transport.handle_post_message)]
    return Starlette(routes=routes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    transport = parser.add_mutually_exclusive_group(required=True)
    transport.add_argument("--stdio", action="store_true")
    transport.add_argument("--http", type=int, metavar="PORT")
    transport.add_argument("--sse", type=int, metavar="PORT")
    parser.add_argument("--legacy-only", action="store_true")
    given = parser.parse_args()
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    logging.disable(logging.WARNING)
    if given.stdio:
        anyio.run(lambda: serve_stdio(legacy_only=given.legacy_only))
        return
    app = sse_app() if given.sse else http_app(legacy_only=given.legacy_only)
    port = given.sse or given.http
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", timeout_graceful_shutdown=1)


if __name__ == "__main__":
    main()
