"""The server that the official conformance suite is run against, on the official SDK, in both eras.

`python -m tests.conformance.fixture_server --stdio`, or `--http PORT` for Streamable HTTP at /mcp.
"""

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
from tests.conformance.events import RETRY_MILLISECONDS, KeptEvents
from tests.conformance.questions import ASKING
from tests.conformance.toolbox import Toolbox
from tests.conformance.tools import ANSWERING, bus
from tests.conformance.transport import chosen_port

TOOLS: Final = Toolbox(ANSWERING, ASKING)


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

    app = build().streamable_http_app(event_store=KeptEvents(), retry_interval=RETRY_MILLISECONDS)
    # h11 trims the values of headers as HTTP says; httptools does not, and loses a check by it.
    uvicorn.run(
        app, host="127.0.0.1", port=port, http="h11", log_level="warning", timeout_graceful_shutdown=1
    )


def main() -> None:
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    if port := chosen_port(__doc__):
        serve_http(port)
    else:
        anyio.run(serve_stdio)


if __name__ == "__main__":
    main()
