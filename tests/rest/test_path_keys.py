"""Every key of a rule that is for paths changes what a client gets, and every key is one or the other."""

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from brimgate.config.declarations import Override
from brimgate.config.sources import load_file
from brimgate.engine.tokens.estimator import Estimator
from brimgate.rest import BrimgateMiddleware
from tests.rest.serving import Served, serve

FOR_TOOLS_ONLY: Final = {
    "highlights", "format", "compact", "output_schema", "annotate", "max_description_chars", "text_slack",
    "blobs", "max_blob_bytes",
}  # fmt: skip
ROWS: Final = [
    {"id": at, "name": f"room {at}", "note": "", "debug": "x" * 40, "price": {"total": at}}
    for at in range(60)
]
VECTORS: Final = [{"id": at, "vector": [0.125 + at] * 64} for at in range(30)]
ONE: Final = {"id": 7, "text": "The view is long. " * 400, "rows": ROWS}
TEXTS: Final = {
    "id": 7,
    "text": "The view is rather long here. " * 190 + "The pool is closed. " + "So it is. " * 90,
    "more": "Words of no weight follow. " * 1_900,
}
LOG: Final = "".join(f"line {at} of the log, with words\n" for at in range(2_000))
CASES: dict[str, Callable[[], None]] = {}


def case(key: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def add(function: Callable[[], None]) -> Callable[[], None]:
        CASES[key] = function
        return function

    return add


def answer(value: object) -> Callable[[Request], Response]:
    def respond(_: Request) -> Response:
        if isinstance(value, str):
            return PlainTextResponse(value)
        return Response(json.dumps(value).encode(), media_type="application/json")

    return respond


def app() -> Starlette:
    answers = {"/rows": ROWS, "/vectors": VECTORS, "/one": ONE, "/texts": TEXTS, "/log": LOG}
    return Starlette(routes=[Route(path, answer(value)) for path, value in answers.items()])


def asked(path: str, **rule: Any) -> tuple[Any, Any]:
    """The same request without the rule and with it."""
    with (
        serve(BrimgateMiddleware(app())) as plain,
        serve(BrimgateMiddleware(app(), endpoints={path: Override(**rule)})) as ruled,
    ):
        return told(plain, path), told(ruled, path)


def told(served: Served, path: str, **query: object) -> Any:
    found = served.ask(path, **query)
    return found.json if found.headers["content-type"] == "application/json" else found.body.decode()


@case("enabled")
def _() -> None:
    before, after = asked("/rows", enabled=False)
    assert "meta" in before and after == ROWS


@case("threshold")
def _() -> None:
    before, after = asked("/rows", threshold=600)
    assert before["meta"]["pageSize"] > after["meta"]["pageSize"]
    assert Estimator().ceiling(json.dumps(after, separators=(",", ":"))) <= 600


@case("object_threshold")
def _() -> None:
    with serve(BrimgateMiddleware(app(), endpoints={"/one": Override(fields=("id", "note"))})) as plain:
        before = told(plain, "/one")
    _, after = asked("/one", fields=("id", "note"), object_threshold=300)
    assert before["meta"]["estimatedTokens"] + before["meta"]["budgetRemaining"] == 2_000
    assert after["meta"]["estimatedTokens"] + after["meta"]["budgetRemaining"] == 300


@case("default_page_size")
def _() -> None:
    before, after = asked("/rows", default_page_size=7)
    assert before["meta"]["pageSize"] > 7 == after["meta"]["pageSize"]


@case("chunk_size")
def _() -> None:
    before, after = asked("/log", chunk_size=3)
    assert before["metadata"]["endLine"] > 3 == after["metadata"]["endLine"]


@case("chunk_threshold")
def _() -> None:
    before, after = asked("/log", chunk_threshold=500)
    assert before["metadata"]["endLine"] > after["metadata"]["endLine"]


@case("enable_pagination")
def _() -> None:
    before, after = asked("/rows", enable_pagination=False)
    assert "meta" in before and after == ROWS, "only the cap holds"


@case("enable_summarization")
def _() -> None:
    _, after = asked("/rows", enable_summarization=False, fields=("id",), default_page_size=3)
    assert after["items"] == ROWS[:3], "whole items, though there is a field map"
    before, after = asked("/one", enable_summarization=False)
    assert before["meta"]["kind"] == "preview" and "summary" not in after


@case("fields")
def _() -> None:
    _, after = asked("/rows", fields=("id", "price.total"))
    assert after["items"][3] == {"id": 3, "price": {"total": 3}}


@case("sections")
def _() -> None:
    rule = Override(sections={"short": ("id",), "money": ("price",)})
    with serve(BrimgateMiddleware(app(), endpoints={"/rows": rule})) as ruled:
        assert told(ruled, "/rows", fields="short,money")["items"][2] == {"id": 2, "price": {"total": 2}}
        assert ruled.ask("/rows", fields="nothing").status == 400


@case("keywords")
def _() -> None:
    before, after = asked("/texts", keywords=("pool",))
    assert "pool" not in json.dumps(before["summary"]) and "pool" in json.dumps(after["summary"])


@case("strip_vectors")
def _() -> None:
    before, after = asked("/vectors", strip_vectors=False)
    assert "64 numbers" in json.dumps(before) and "64 numbers" not in json.dumps(after)


@case("strip_empty")
def _() -> None:
    before, after = asked("/rows", strip_empty=True)
    assert "note" in before["items"][0] and "note" not in after["items"][0]


@case("strip_fields")
def _() -> None:
    before, after = asked("/rows", strip_fields=("deb*",))
    assert before["items"][0]["debug"] == "x" * 40 and after["items"][0]["debug"] == "… 42 bytes"


@case("rollout")
def _() -> None:
    _, after = asked("/rows", rollout=0)
    assert after == ROWS


@case("mode")
def _() -> None:
    for mode in ("off", "shadow"):
        _, after = asked("/rows", mode=mode)
        assert after == ROWS


@case("hidden")
def _() -> None:
    _, after = asked("/rows", hidden=True)
    assert after["error"]["code"] == "not_found"


@pytest.mark.parametrize("key", CASES)
def test_a_key_changes_what_a_client_gets(key: str) -> None:
    CASES[key]()


def test_every_key_has_a_case_or_is_for_tools() -> None:
    assert {one.name for one in fields(Override)} == set(CASES) | FOR_TOOLS_ONLY


def test_a_file_says_it_as_well(tmp_path: Any) -> None:
    (tmp_path / "brimgate.yaml").write_text(
        "context_protection: {default_page_size: 9, max_page_size: 30, chunk_threshold: 500, cursor_ttl_seconds: 60}\n"
        "endpoints: {/rows: {page_size: 4}}\n"
    )
    now = [1_800_000_000.0]
    made = BrimgateMiddleware(app(), load_file(tmp_path / "brimgate.yaml"), clock=lambda: now[0])
    with serve(made) as served:
        first = told(served, "/rows")
        assert first["meta"]["pageSize"] == 4 and told(served, "/vectors")["meta"]["pageSize"] <= 9
        assert served.ask("/rows", limit=31).json["error"]["message"] == "limit exceeds maximum of 30"
        assert Estimator().ceiling(served.ask("/log").body) <= 500
        now[0] += 200
        assert served.ask("/rows", cursor=first["nextCursor"]).status == 400
