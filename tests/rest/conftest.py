"""Servers that the tests share."""

from collections.abc import Iterator

import pytest

from tests.rest.apps import fastapi_app, mapped_app
from tests.rest.serving import POOL, Served, serve


@pytest.fixture(scope="session", autouse=True)
def _servers_stop_at_the_end() -> Iterator[None]:
    yield
    POOL.stop()


@pytest.fixture(scope="module")
def plain() -> Iterator[Served]:
    with serve(fastapi_app()) as served:
        yield served


@pytest.fixture(scope="module")
def mapped() -> Iterator[Served]:
    with serve(mapped_app()) as served:
        yield served
