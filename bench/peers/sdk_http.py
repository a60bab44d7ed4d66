"""The leanest HTTP proxy the official SDK allows: `python sdk_http.py URL PORT`."""

import sys

import anyio
import uvicorn
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from sdk_handlers import passing


async def main() -> None:
    url, port = sys.argv[1], int(sys.argv[2])
    async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as upstream:
        await upstream.initialize()
        server = passing("sdk-http", upstream)
        config = uvicorn.Config(
            server.streamable_http_app(), port=port, log_level="warning", access_log=False, http="httptools"
        )
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    anyio.run(main, backend_options={"use_uvloop": True})
