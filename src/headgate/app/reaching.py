"""How a conversation with a server is begun, whatever kind of server it is."""

from headgate.back.channel import Channel, Connect, Listener
from headgate.back.process import Command, Process
from headgate.back.stdio import StdioServer
from headgate.config.declarations import Upstream
from headgate.errors import UpstreamError


def is_sse(one: Upstream) -> bool:
    """Whether a server is spoken to in the way of 2024-11-05."""
    # The last part, or the one before a name, as in our own `/sse/NAME`.
    last_parts = one.url.partition("?")[0].rstrip("/").split("/")[3:][-2:]
    return one.transport == "sse" or (one.transport == "auto" and "sse" in last_parts)


def connector(
    name: str, one: Upstream, max_bytes: int, *, started: Process | UpstreamError | None = None
) -> Connect:
    """`started`: what came of starting its command already."""
    if not one.url:
        command = Command((one.command, *one.args), env=one.env, cwd=one.cwd or None)
        return StdioServer(name, command, max_line_bytes=max_bytes, started=started).connect

    async def reach(listener: Listener) -> Channel:
        # Loaded for those who need it: most clients in front of an HTTP server speak HTTP themselves.
        if is_sse(one):
            from headgate.back.http.sse import SseServer

            return await SseServer(name, one.url, one.headers, max_bytes=max_bytes).connect(listener)
        from headgate.back.http.streamable import StreamableServer

        return await StreamableServer(name, one.url, one.headers, max_bytes=max_bytes).connect(listener)

    return reach
