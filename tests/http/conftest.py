from collections.abc import Iterator

import pytest

from tests.http.raw_upstream import RawUpstream, raw_upstream


@pytest.fixture(scope="module")
def upstream(request: pytest.FixtureRequest) -> Iterator[RawUpstream]:
    """Run the server that the `SCRIPTS` of a module make."""
    with raw_upstream(request.module.SCRIPTS) as started:
        yield started
