"""MCP over HTTP for clients: Streamable HTTP in both eras, and the older SSE."""
