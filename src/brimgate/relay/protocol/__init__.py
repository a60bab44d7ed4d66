"""The MCP protocol: messages, versions, headers, ids, and the server's side of a conversation."""
