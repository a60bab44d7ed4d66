"""How bytes travel: lines out of a stream, pipes on an event loop. Shared by what clients and upstreams are reached by."""
