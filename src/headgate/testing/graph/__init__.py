"""A knowledge graph in SQLite behind Graphiti's tools: `python -m headgate.testing.graph`, or `Graph().call(...)`."""

from headgate.testing.graph.graph import Graph
from headgate.testing.graph.parameters import BadArguments

__all__ = ["BadArguments", "Graph"]
