"""Servers that speak HTTP: a client of our own, and MCP over it in both eras and in the way of 2024-11-05."""
