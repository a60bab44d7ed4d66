"""A knowledge graph in SQLite behind Graphiti's tools: `python -m brimgate.testing.graph`, or `Graph().call(...)`."""

from brimgate.testing.graph.graph import Graph
from brimgate.testing.graph.parameters import BadArguments

__all__ = ["BadArguments", "Graph"]
