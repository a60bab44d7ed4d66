"""A sandbox for each file, as it was for each test."""

from collections.abc import Iterator

import pytest

from brimgate.sandboxes.hostaway import sandbox
from tests.hostaway.asking import SMALL, Caller


@pytest.fixture(scope="module")
def signed_in() -> Iterator[Caller]:
    with sandbox(**SMALL) as started:
        yield Caller(started.url).sign_in()


@pytest.fixture
def caller(signed_in: Caller) -> Caller:
    signed_in.control("/reset")
    return signed_in
