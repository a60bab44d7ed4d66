"""HTTP/1.1 without MCP: the client, its connections, encodings, server-sent events, ASGI types."""
