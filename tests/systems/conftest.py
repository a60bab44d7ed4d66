"""One system for each file, as it was for each test."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.systems.hostaway import System, hostaway

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    home: Path = tmp_path_factory.mktemp("hostaway")
    with hostaway(home) as system:
        yield system


@pytest.fixture
def system(running: System) -> System:
    running.control("/reset")
    return running
