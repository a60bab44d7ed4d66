from collections.abc import Iterator

import pytest

from brimgate.sandboxes.graphiti import Graph


@pytest.fixture
def graph() -> Iterator[Graph]:
    made = Graph(nodes=300, facts=600, episodes=150)
    yield made
    made.close()
