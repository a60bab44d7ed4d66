"""FastMCP's proxy as its documentation starts it, on stdio: `python fastmcp_proxy.py COMMAND ARGS…`.

Handing it a client that is already connected instead changes its CPU per call by less than the noise.
"""

import sys

from fastmcp.client.transports import StdioTransport
from fastmcp.server import create_proxy

if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    create_proxy(StdioTransport(command, arguments)).run(transport="stdio", show_banner=False)
