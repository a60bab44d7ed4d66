"""The bars that a large answer of any server has to clear, as one check."""

from pathlib import Path
from typing import Final

import pytest

from tests.third_parties.environments import what_is_missing
from tests.third_parties.measures import measure
from tests.third_parties.servers import Place, Server

LEAST_SHARE: Final = 0.6
"""Of its budget that a first reply uses, unless it is complete."""


def each_question(servers: tuple[Server, ...]) -> pytest.MarkDecorator:
    """Return the mark that asks a test for every question of every server."""
    cases = [(server, question) for server in servers for question in server.questions]
    ids = [f"{server.name}-{question}" for server, question in cases]
    return pytest.mark.parametrize(("server", "question"), cases, ids=ids)


def check(server: Server, question: str, place: Place, journal: Path) -> None:
    """Skip if the server is not installed. Else its answer is exact, asked for once, and begins with much of itself."""
    if missing := what_is_missing(server.environment):
        pytest.skip(missing)
    got = measure(server, question, place, journal)
    assert got.tokens > 4_000, "the answer is not large"
    assert got.called == got.wanted
    assert got.is_exact, got.difference
    assert got.is_bounded
    told = f"{got.first_tokens} of {got.budget} tokens: {got.begins}"
    assert got.is_complete or got.share >= LEAST_SHARE, told
