"""The relay, without I/O: JSON-RPC messages in, actions out."""
