"""A knowledge graph in SQLite behind Graphiti's tools: `python -m brimgate.sandboxes.graphiti`, or `Graph().call(...)`."""

from brimgate.sandboxes.graphiti.graph import Graph
from brimgate.sandboxes.graphiti.parameters import BadArguments

__all__ = ["BadArguments", "Graph"]
