"""HTTP/1.1 without MCP: the client, its connections, responses, encodings and server-sent events."""
