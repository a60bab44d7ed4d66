"""MCP upstreams that speak HTTP."""
