"""MCP servers behind us that speak HTTP."""
