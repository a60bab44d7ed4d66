"""`python -m brimgate.sandboxes.graphiti`: a knowledge graph with Graphiti's tools, on stdio or over Streamable HTTP."""

import argparse
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from brimgate.sandboxes.flags import count, seconds
from brimgate.sandboxes.graphiti.delays import Pace
from brimgate.sandboxes.graphiti.generation import DEFAULT_NOW, Size
from brimgate.sandboxes.graphiti.graph import DEFAULT_SEED, GENERATIONS, Graph
from brimgate.sandboxes.graphiti.server import serve


def main() -> None:
    given = _parser().parse_args()
    with Graph(
        nodes=given.nodes,
        facts=given.facts,
        episodes=given.episodes,
        seed=given.seed,
        now=given.now,
        database=given.database,
        embeddings=given.embeddings,
        generation=given.generation,
        initialized=not given.not_initialized,
    ) as graph:
        server, pace = serve(graph), Pace(given.delay)
        if given.http is None:
            from brimgate.sandboxes.graphiti.stdio import serve_lines

            serve_lines(server, pace, sys.stdin.buffer, sys.stdout.buffer)
        else:
            from brimgate.sandboxes.graphiti.http import serve_http  # uvicorn is not for those on stdio

            serve_http(server, pace, given.host, given.http)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m brimgate.sandboxes.graphiti", description=__doc__)
    add, size = parser.add_argument, Size()
    add("--http", type=int, metavar="PORT", help="serve Streamable HTTP at /mcp; 0 for a free port")
    add("--host", default="127.0.0.1", help="the address to listen at (%(default)s)")
    add("--nodes", type=count, default=size.nodes, help="entities to make up (%(default)s)")
    add("--facts", type=count, default=size.facts, help="facts to make up (%(default)s)")
    add("--episodes", type=count, default=size.episodes, help="episodes to make up (%(default)s)")
    add("--seed", type=int, default=DEFAULT_SEED, help="another seed, another graph (%(default)s)")
    add(
        "--now", type=_moment, default=DEFAULT_NOW, help="the moment the data ends at, ISO 8601 (%(default)s)"
    )
    add("--database", type=Path, metavar="FILE", help="keep the graph here; it is filled when it is new")
    add("--embeddings", action="store_true", help="answer with vectors among the attributes")
    add("--delay", type=seconds, default=0.0, metavar="SECONDS", help="answer calls after so long")
    add(
        "--generation",
        choices=GENERATIONS,
        default="1.x",
        help="whose tools and answers: of servers before 1.0, the first of 1.0, or today's (%(default)s)",
    )
    add("--not-initialized", action="store_true", help="answer calls as a server that has no database")
    return parser


def _moment(text: str) -> datetime:
    told = datetime.fromisoformat(text)
    return told if told.tzinfo else told.replace(tzinfo=UTC)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
