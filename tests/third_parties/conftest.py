"""What the servers look at, made once for the tests of a file."""

from collections.abc import Iterator

import pytest

from tests.third_parties.servers import Place, made_place


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with made_place(tmp_path_factory.mktemp("place")) as made:
        yield made
