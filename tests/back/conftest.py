import pytest

from tests.back.scripted import Run, run_on


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    return run_on(request.param)
