"""FastMCP's proxy with its ResponseLimitingMiddleware, on stdio: `python limiting_proxy.py BYTES COMMAND ARGS…`."""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy
from fastmcp.server.middleware.response_limiting import ResponseLimitingMiddleware

if __name__ == "__main__":
    max_bytes, command, *arguments = sys.argv[1:]
    proxy = create_proxy(StdioTransport(command, arguments))
    proxy.add_middleware(ResponseLimitingMiddleware(max_size=int(max_bytes)))
    proxy.run(transport="stdio", show_banner=False)
