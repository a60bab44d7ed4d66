"""The overflow benchmark: what it takes to answer questions about an answer that is too large for a context."""
