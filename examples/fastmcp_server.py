"""A FastMCP server that stays within its budget: `python examples/fastmcp_server.py` speaks MCP over stdio."""

from fastmcp import FastMCP

from brimgate.fastmcp import BrimgateMiddleware, Override
from brimgate.testing import bookings

mcp = FastMCP("bookings", middleware=[BrimgateMiddleware(tools={"list_*": Override(default_page_size=20)})])


@mcp.tool
def list_bookings(count: int = 500) -> dict[str, object]:
    """All bookings, with guests and prices."""
    return bookings(count)


if __name__ == "__main__":
    mcp.run(show_banner=False)
