"""The server that the official conformance suite is run against, on the official SDK, in both eras.

`python -m tests.conformance.fixture_server --stdio`, or `--http PORT` for Streamable HTTP at /mcp.
"""

import argparse
import warnings
from typing import Any, Final

import anyio
import uvicorn
from mcp.server.caching import CacheHint
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import ListenHandler
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.conformance import library
from tests.conformance.events import KeptEvents
from tests.conformance.questions import ASKING
from tests.conformance.toolbox import Toolbox
from tests.conformance.tools import ANSWERING, bus

TOOLS: Final = Toolbox(ANSWERING, ASKING)
_RETRY_MILLISECONDS: Final = 100


def build() -> Server[Any]:
    return Server(
        "conformance-fixture",
        version="1.0.0",
        cache_hints={"tools/list": CacheHint(60_000, "public")},
        on_list_tools=TOOLS.list,
        on_call_tool=TOOLS.call,
        on_subscriptions_listen=ListenHandler(bus),
        on_list_resources=library.list_resources,
        on_list_resource_templates=library.list_templates,
        on_read_resource=library.read_resource,
        on_subscribe_resource=library.accept,
        on_unsubscribe_resource=library.accept,
        on_list_prompts=library.list_prompts,
        on_get_prompt=library.get_prompt,
        on_completion=library.complete,
        on_set_logging_level=library.accept,
    )


async def serve_stdio() -> None:
    server = build()
    options = server.create_initialization_options(
        NotificationOptions(tools_changed=True, prompts_changed=True)
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, options)


def serve_http(port: int) -> None:
    app = build().streamable_http_app(event_store=KeptEvents(), retry_interval=_RETRY_MILLISECONDS)
    # h11 trims the values of headers as HTTP says; httptools does not, and loses a check by it.
    uvicorn.run(
        app, host="127.0.0.1", port=port, http="h11", log_level="warning", timeout_graceful_shutdown=1
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    transport = parser.add_mutually_exclusive_group(required=True)
    transport.add_argument("--http", type=int, metavar="PORT")
    transport.add_argument("--stdio", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    if arguments.stdio:
        anyio.run(serve_stdio)
    else:
        serve_http(arguments.http)


if __name__ == "__main__":
    main()
