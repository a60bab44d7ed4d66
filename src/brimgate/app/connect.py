"""Begin a conversation with an upstream, whatever its kind."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from brimgate.back.channel import Channel, Connect, Listener
from brimgate.back.process import Command, Process
from brimgate.back.stdio import StdioServer
from brimgate.config.declarations import Upstream
from brimgate.errors import OperatorError, UpstreamError

if TYPE_CHECKING:
    from brimgate.back.rest.api import RestApi
    from brimgate.back.rest.model import Api
    from brimgate.hold.live_lists import ClaimTickets


def is_sse(one: Upstream) -> bool:
    """Return whether the server uses the transport of 2024-11-05."""
    # The last part, or the one before a name, as in our own `/sse/NAME`.
    last_parts = one.url.partition("?")[0].rstrip("/").split("/")[3:][-2:]
    return one.transport == "sse" or (one.transport == "auto" and "sse" in last_parts)


def command_of(one: Upstream, token: str = "") -> Command:
    """Return how its process is started, with the token of a caller if it has one of its own."""
    return Command((one.command, *one.args), env=one.env_for(token), cwd=one.cwd or None)


class Reach(TypedDict):
    """Where an upstream is, for whoever traces requests to it."""

    url: str
    is_process: bool


def reach_of(one: Upstream) -> Reach:
    return Reach(url=one.url or one.base_url, is_process=bool(one.command))


def connector(
    name: str,
    one: Upstream,
    max_bytes: int,
    *,
    started: Process | UpstreamError | None = None,
    tickets: "ClaimTickets | None" = None,
    on_refused: Callable[[], None] = lambda: None,
    token: str = "",
    is_traced: bool = False,
) -> Connect:
    """Return how to connect.

    `started` is the result of an early start. `tickets` is where a REST API leaves its live lists. `on_refused` is
    called when a server with a URL does not take our credentials. `token` is that of the caller whose process it is.
    If `is_traced`, a server with a URL gets the trace context of a message in headers, too.
    """
    if one.is_rest:
        return _to_api(name, one, tickets)
    if not one.url:
        return StdioServer(name, command_of(one, token), max_line_bytes=max_bytes, started=started).connect

    async def reach(listener: Listener) -> Channel:
        # Imported only where needed: most clients in front of an HTTP server speak HTTP themselves.
        if is_sse(one):
            from brimgate.back.mcp.legacy_sse import SseServer

            there = SseServer(
                name, one.url, one.headers, max_bytes=max_bytes, on_refused=on_refused, is_traced=is_traced
            )
            return await there.connect(listener)
        from brimgate.back.mcp.streamable import StreamableServer

        server = StreamableServer(
            name, one.url, one.headers, max_bytes=max_bytes, on_refused=on_refused, is_traced=is_traced
        )
        return await server.connect(listener)

    return reach


def _to_api(name: str, one: Upstream, tickets: "ClaimTickets | None") -> Connect:
    from brimgate.back.rest.server import RestServer

    open_api(one)  # reports errors in its declaration now

    async def reach(listener: Listener) -> Channel:
        api = open_api(one)
        return await RestServer(name, api, tickets, on_end=api.close).connect(listener)

    return reach


def open_api(one: Upstream) -> "RestApi":
    """Open the REST API behind us, with its credentials. OperatorError says what is missing."""
    from brimgate.back.rest.api import RestApi

    return RestApi(declared_api(one), base_url=one.base_url, variables={**os.environ, **one.env})


def declared_api(one: Upstream) -> "Api":
    """Read the declaration from a file or the pack. OperatorError says what is wrong with it."""
    from brimgate.back.rest.declaration import read_api
    from brimgate.config.tree import MAX_BYTES

    if one.api:
        try:
            with Path(one.api).open("rb") as file:
                return read_api(file.read(MAX_BYTES + 1), one.api)
        except (OSError, ValueError) as error:
            raise OperatorError(f"`api` {one.api}: {getattr(error, 'strerror', None) or error}") from None
    from brimgate.packs.discovery import load_pack
    from brimgate.packs.pack import API_FILE

    return read_api(load_pack(one.pack).file(API_FILE), f"{one.pack}/{API_FILE}")
