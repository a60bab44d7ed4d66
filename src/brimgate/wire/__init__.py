"""How bytes travel: lines in a stream, pipes on an event loop. Shared by the code for clients and for upstreams."""
