"""Servers from npm that drive a browser, through Brimgate."""

from pathlib import Path

import pytest

from tests.third_parties.bars import check, each_question
from tests.third_parties.servers import BROWSERS, Place, Server

pytestmark = pytest.mark.slow


@each_question(BROWSERS)
def test_a_large_answer_is_exact_asked_for_once_and_begins_with_much(
    server: Server, question: str, place: Place, tmp_path: Path
) -> None:
    check(server, question, place, tmp_path)
