"""Clients of other people in front of Brimgate: each reads a large answer to its end, as a model would."""

from pathlib import Path

import pytest

from tests.third_parties.environments import what_is_missing
from tests.third_parties.readers import READERS, SHAPES, Reader, read_all

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_every_item_arrives_once(reader: Reader, shape: str, tmp_path: Path) -> None:
    if missing := what_is_missing(reader.environment):
        pytest.skip(missing)
    got = read_all(reader, shape, tmp_path)
    assert got.replies > 2, got
    assert (got.missing, got.repeated, got.called) == (0, 0, 1), got
