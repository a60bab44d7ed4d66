from collections.abc import Iterator

import pytest

from brimgate.sandboxes.hostaway import Sandbox, sandbox
from tests.back.rest.declared import Ground


@pytest.fixture(scope="session")
def hostaway() -> Iterator[Sandbox]:
    with sandbox(listings=12, reservations=500, rate_ip=0, rate_account=0, control=True) as started:
        yield started


@pytest.fixture
def ground(hostaway: Sandbox) -> Ground:
    made = Ground(hostaway)
    made.control("/reset")
    return made
