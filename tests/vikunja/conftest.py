"""A stand-in for each file, as it was for each test."""

from collections.abc import Iterator

import pytest

from brimgate.sandboxes.vikunja import sandbox
from tests.vikunja.asking import Standin


@pytest.fixture(scope="module")
def started() -> Iterator[Standin]:
    with sandbox(tasks=400, control=True, login_rate=0) as running:
        yield Standin(running)


@pytest.fixture
def api(started: Standin) -> Standin:
    started.control("/reset")
    return started
