from collections.abc import Iterator
from typing import Any

import pytest

from tests.dashboard.browser import chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Start a browser for the tests of one file. While it runs, so does an event loop of Playwright's in this thread:
    no test of another file could call `asyncio.run`."""
    with chromium() as started:
        yield started
