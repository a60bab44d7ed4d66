"""Brimgate keeps every MCP answer inside a token budget without losing a byte."""

__version__ = "0.1.0"
__all__ = ["__version__"]
