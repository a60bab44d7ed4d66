"""An MCP server with answers as large as real ones: `python -m brimgate.sandboxes.demo`."""
