"""The side that talks to upstreams."""
