"""FastMCP's proxy as its documentation starts it, over HTTP: `python fastmcp_http.py URL PORT`."""

import sys

from fastmcp.server import create_proxy

if __name__ == "__main__":
    create_proxy(sys.argv[1]).run(
        transport="http", port=int(sys.argv[2]), show_banner=False, log_level="warning"
    )
