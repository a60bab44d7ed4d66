"""A knowledge graph to query: Graphiti's tools without any protocol around them."""

import sqlite3
import threading
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, Self

from brimgate.sandboxes.graphiti.earlier import BEFORE_1, FIRST_OF_1
from brimgate.sandboxes.graphiti.embeddings import with_embeddings
from brimgate.sandboxes.graphiti.generation import DEFAULT_NOW, Size
from brimgate.sandboxes.graphiti.parameters import BadArguments, read_arguments
from brimgate.sandboxes.graphiti.queries import Failed
from brimgate.sandboxes.graphiti.shapes import Json
from brimgate.sandboxes.graphiti.store import Store
from brimgate.sandboxes.graphiti.tools import TOOLS

DEFAULT_SEED: Final = 29
Generation = Literal["0.x", "1.0", "1.x"]
GENERATIONS: Final = {"0.x": BEFORE_1, "1.0": FIRST_OF_1, "1.x": TOOLS}
"""The tools of each generation of the server: until October 2025, the first of 1.0, and today's."""
_NOT_INITIALIZED: Final = "Graphiti service not initialized"


class Graph:
    """Opens the store on the first call, and fills it if it is new: startup does not wait for it.

    Close it, or use it in a `with` statement.
    """

    def __init__(
        self,
        *,
        nodes: int = Size().nodes,
        facts: int = Size().facts,
        episodes: int = Size().episodes,
        seed: int = DEFAULT_SEED,
        now: datetime = DEFAULT_NOW,
        database: str | Path | None = None,
        embeddings: bool = False,
        generation: Generation = "1.x",
        initialized: bool = True,
    ) -> None:
        self.generation: Generation = generation
        self.tools = {tool.name: tool for tool in GENERATIONS[generation]}
        self._make = (str(database or ":memory:"), Size(nodes, facts, episodes), seed, now)
        self._embeddings = embeddings
        self._initialized = initialized
        self._store: Store | None = None
        self._lock = threading.Lock()

    def call(self, tool: str, arguments: Json | None = None) -> Any:
        """Return the answer of a tool: an object, or the bare list of 0.x.

        Raise BadArguments for bad arguments and unknown tools.
        """
        if tool not in self.tools:
            raise BadArguments(f"Unknown tool: {tool}")
        called = self.tools[tool]
        given = read_arguments(tool, called.parameters, arguments or {})
        if not self._initialized:
            return _not_initialized(tool)
        with self._lock:
            try:
                self._store = self._store or Store(*self._make)
                answer = called.run(self._store, given)
            except Failed as failed:
                return {"error": str(failed)}
            except (sqlite3.Error, UnicodeError, OverflowError) as error:  # what SQLite cannot hold
                return {"error": f"Error in {tool}: {error}"}
        return with_embeddings(answer) if self._embeddings else answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            if self._store:
                self._store.close()
            self._store = None


def _not_initialized(tool: str) -> Json:
    if tool == "get_status":
        return {"status": "error", "message": _NOT_INITIALIZED}
    return {"error": _NOT_INITIALIZED}
