from collections.abc import Iterator

import pytest

from tests.rest.serving import POOL


@pytest.fixture(scope="session", autouse=True)
def _servers_stop_at_the_end() -> Iterator[None]:
    yield
    POOL.stop()
