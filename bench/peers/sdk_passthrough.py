"""The leanest proxy the official SDK allows: its low-level server in front, its client session behind.

`python sdk_passthrough.py COMMAND ARGS…`. Requests are sent as they came: no catalog is kept, nothing is validated twice.
"""

import sys

import anyio
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.server.stdio import stdio_server
from sdk_handlers import passing


async def main() -> None:
    command, *arguments = sys.argv[1:]
    parameters = StdioServerParameters(command=command, args=arguments)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as upstream:
        await upstream.initialize()
        server = passing("sdk-passthrough", upstream)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
