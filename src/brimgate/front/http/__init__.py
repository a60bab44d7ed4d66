"""HTTP: the edge, and MCP over it in both of its eras."""
