"""What goes wrong with us fails no request, and lets nothing through that is too large."""

from typing import Any

from brimgate.engine.policy import Policy
from brimgate.hold.stores.memory import MemoryStore
from tests.rest.apps import minified, starlette_app
from tests.rest.serving import serve

ROWS = [{"id": number, "text": f"row {number}"} for number in range(400)]


class FaultyStore(MemoryStore):
    """Fails the first so many times that something is put into it, as a full disk does."""

    def __init__(self, faults: int) -> None:
        super().__init__()
        self._faults = faults

    def put(self, *given: Any, **named: Any) -> bool:
        self._faults -= 1
        if self._faults >= 0:
            raise OSError("No space left on device")
        return super().put(*given, **named)


def test_what_we_got_wrong_stays_bounded_and_within_reach() -> None:
    with serve(starlette_app({"/x": minified(ROWS)}, store=FaultyStore(1))) as served:
        chunks = list(served.follow("/x", served.ask("/x")))
    assert chunks[0].json["chunkIndex"] == 0
    assert "".join(chunk.json["content"] for chunk in chunks).encode() == minified(ROWS)
    for chunk in chunks:
        assert Policy().estimator.ceiling(chunk.body) <= 2_000


def test_without_any_memory_nothing_passes_that_does_not_fit() -> None:
    with serve(starlette_app({"/x": ROWS, "/one": [1]}, store=FaultyStore(1_000))) as served:
        answer = served.ask("/x")
        assert (answer.status, answer.json["error"]["code"]) == (500, "internal_error")
        assert served.ask("/one").json == [1]


def test_decisions_are_logged_without_content(caplog: Any) -> None:
    with (
        caplog.at_level("DEBUG", "brimgate.rest"),
        serve(starlette_app({"/x": ROWS, "/one": ["secret"]})) as served,
    ):
        served.ask("/x")
        served.ask("/one")
    lines = [record.getMessage() for record in caplog.records if record.name == "brimgate.rest"]
    assert lines[0].startswith("decision outcome='page' upstream='rest' tool='/x' ")
    assert f" itemCount={len(ROWS)} itemsShown=50 " in lines[0]
    assert lines[1].startswith("decision outcome='passed' upstream='rest' tool='/one' ")
    assert "secret" not in "".join(lines)
