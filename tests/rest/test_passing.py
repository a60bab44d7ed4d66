"""What passes at once, what is ours to bound, and what an application may do wrong."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from brimgate.engine.policy import Policy
from brimgate.front.rest.headers import media_of
from brimgate.rest import BrimgateMiddleware, Override
from tests.rest.answers import answer_of, bounded
from tests.rest.apps import fastapi_app, minified, starlette_app
from tests.rest.serving import serve, serve_alone

ROWS = [{"id": number, "text": f"row {number}"} for number in range(120)]
BIG = {"id": 1, "text": "word " * 6_000}


def test_events_are_passed_on_one_by_one() -> None:
    go_on = threading.Event()

    async def events() -> AsyncIterator[bytes]:
        yield b"data: first\n\n"
        await asyncio.to_thread(go_on.wait, 20)
        yield b"data: second\n\n"

    app = Starlette(
        routes=[Route("/x", lambda _: StreamingResponse(events(), media_type="text/event-stream"))]
    )
    app.add_middleware(BrimgateMiddleware)
    with serve(app) as served, served.raw(b"GET /x HTTP/1.1\r\nhost: x\r\n\r\n") as wire:
        received = b""
        while b"first" not in received:
            received += wire.recv(4_096)
        assert b"second" not in received  # it is not made before we have the first
        go_on.set()
        while b"second" not in received:
            received += wire.recv(4_096)


def test_a_client_that_goes_away_is_told_to_the_application() -> None:
    seen = threading.Event()
    started = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        started.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        seen.set()

    with serve(bounded(app)) as served:
        with served.raw(b"GET /x HTTP/1.1\r\nhost: x\r\n\r\n"):
            assert started.wait(20)
        assert seen.wait(20)


@pytest.mark.parametrize(
    "content_type", ["text/html", "image/png", "application/octet-stream", "text/css", "text/javascript"]
)
def test_what_is_not_for_a_model_passes(content_type: str) -> None:
    data = b"word " * 10_000
    with serve(bounded(answer_of(data, content_type))) as served:
        answer = served.ask("/x")
    assert answer.body == data
    assert "x-brimgate-estimated-tokens" not in answer.headers


@pytest.mark.parametrize(
    "content_type",
    ["text/markdown", "text/csv", "text/x-log", "application/x-ndjson", "application/yaml", "text/xml",
     "application/xml", "application/problem+json", "text/plain; charset=utf-8", "Application/JSON", None],
)  # fmt: skip
def test_what_is_text_is_bounded(content_type: str | None) -> None:
    data = b"word, word.\n" * 10_000
    with serve(bounded(answer_of(data, content_type))) as served:
        answer = served.ask("/x")
    assert answer.json["totalChunks"] > 1
    assert data.decode().startswith(answer.json["content"])


def test_a_text_that_looks_like_json_is_text() -> None:
    data = json.dumps([{"id": number} for number in range(900)], indent=1).encode()
    with serve(bounded(answer_of(data, "text/plain"))) as served:
        chunks = list(served.follow("/x", served.ask("/x")))
        assert "".join(chunk.json["content"] for chunk in chunks).encode() == data
        assert served.ask("/x", startLine=2, endLine=4).json["content"] == ' {\n  "id": 0\n },\n'


def test_an_answer_without_a_type_that_is_binary_passes() -> None:
    data = bytes(range(256)) * 500
    with serve(bounded(answer_of(data, None))) as served:
        assert served.ask("/x").body == data


def test_no_body_no_change() -> None:
    for status in (204, 304):
        with serve(bounded(answer_of(b"", "application/json", status, etag='"1"'))) as served:
            answer = served.ask("/x")
        assert (answer.status, answer.body, answer.headers["etag"]) == (status, b"", '"1"')


def test_an_application_that_fails_fails_as_ever() -> None:
    def before(_: Request) -> Response:
        raise RuntimeError("before")

    async def halfway() -> AsyncIterator[bytes]:
        yield b"[1,"
        raise RuntimeError("halfway")

    app = Starlette(
        routes=[
            Route("/before", before),
            Route("/html", lambda _: StreamingResponse(halfway(), media_type="text/html")),
        ]
    )
    app.add_middleware(BrimgateMiddleware)
    with serve(app) as served:
        assert served.ask("/before").status == 500
        with served.raw(b"GET /html HTTP/1.1\r\nhost: x\r\n\r\n") as wire:
            received = b"".join(iter(lambda: wire.recv(65_536), b""))
        assert received.startswith(b"HTTP/1.1 200")
        assert not received.endswith(b"0\r\n\r\n")  # cut off, and seen to be


def test_background_work_does_not_hold_the_answer_back() -> None:
    from starlette.background import BackgroundTask

    go_on = threading.Event()
    app = starlette_app({"/x": lambda _: JSONResponse([1], background=BackgroundTask(go_on.wait, 20))})
    with serve(app) as served:
        assert served.ask("/x").json == [1]
        go_on.set()


@pytest.mark.parametrize(
    "data",
    [
        b"[" + b"NaN," * 20_000 + b"1]",
        b"{" + b'"a":1,' * 20_000 + b'"a":2}',
        b'{"a":"' + b"\xff" * 40_000 + b'"}',
        b"[" * 20_000 + b"]" * 20_000,
        b'{"a":"' + b"x" * 90_000,
        b'"' + b"x " * 50_000 + b'"',
        b"",
        b"\xef\xbb\xbf" + minified(ROWS),
    ],
    ids=["nan", "duplicate keys", "not utf-8", "deep", "cut off", "a string", "empty", "byte order mark"],
)
def test_odd_json_stays_bounded(data: bytes) -> None:
    with serve(bounded(answer_of(data))) as served:
        answer = served.ask("/x")
        assert answer.status == 200
        assert Policy().estimator.ceiling(answer.body) <= 4_000
        if data and "chunkIndex" in answer.json:
            assert len(answer.json["content"]) > 0
            following = served.ask("/x", cursor=answer.json["nextCursor"])
            assert following.json["chunkIndex"] == 1


def test_bytes_that_are_not_utf8_can_be_read_back() -> None:
    data = bytes(range(32, 256)) * 300
    with serve(bounded(answer_of(data, "text/plain"))) as served:
        chunks = [chunk.json["content"] for chunk in served.follow("/x", served.ask("/x"))]
    assert "".join(chunks).encode("latin-1") == data


def test_a_text_in_another_charset_is_read_in_it() -> None:
    text = "Grüße aus Köln.\n" * 3_000
    with serve(bounded(answer_of(text.encode("iso-8859-15"), "text/plain; charset=ISO-8859-15"))) as served:
        assert text.startswith(served.ask("/x").json["content"])
    assert media_of(b"text/plain;charset=x").charset == "x"


def test_an_openapi_document_passes_whole_and_tells_of_our_parameters() -> None:
    app = fastapi_app(endpoints={"/small": Override(enabled=False)})

    @app.get("/limited")
    def limited(limit: int = 5) -> list[int]:
        return list(range(limit))

    for number in range(120):
        app.add_api_route(f"/more/{number}", limited)
    with serve(app) as served:
        answer = served.ask("/openapi.json")
    plain = app.openapi()
    assert Policy().estimator.count(answer.body) > 12_000
    document = answer.json
    assert set(document["paths"]) == set(plain["paths"])
    names = [entry["name"] for entry in document["paths"]["/api/v1/bookings"]["get"]["parameters"]]
    assert names == ["channel", "limit", "cursor", "fields", "startLine", "endLine"]
    kept = document["paths"]["/limited"]["get"]["parameters"]
    assert kept[0] == plain["paths"]["/limited"]["get"]["parameters"][0]
    assert [entry["name"] for entry in kept] == ["limit", "cursor", "fields", "startLine", "endLine"]
    assert "parameters" not in document["paths"]["/small"]["get"]


def test_pages_for_people_are_left_alone() -> None:
    page = "<p>word</p>" * 20_000
    with serve(starlette_app({"/docs": HTMLResponse(page)})) as served:
        assert served.ask("/docs").body == page.encode()


def test_large_work_does_not_hold_up_others() -> None:
    """While a large answer is worked on in its thread, the loop answers a small one."""
    rows = [{"id": number, "text": "word " * 100} for number in range(20_000)]
    with serve(starlette_app({"/rows": minified(rows), "/one": [1]})) as served:
        found: list[Any] = []
        thread = threading.Thread(target=lambda: found.append(served.ask("/rows").json))
        thread.start()
        assert served.ask("/one").json == [1]
        thread.join(20)
    assert found[0]["meta"]["totalCount"] == 20_000


def test_lifespan_and_websockets_pass() -> None:
    seen: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})

    with serve_alone(bounded(app), lifespan="on"):
        assert seen == ["lifespan"]
    asyncio.run(bounded(app)({"type": "websocket"}, None, None))  # type: ignore[arg-type]
    assert seen[-1] == "websocket"


def test_only_where_an_openapi_document_is_looked_for_may_one_pass_whole() -> None:
    """Anything could say of itself that it is one."""
    document = {"openapi": "3.1.0", "info": {}, "paths": {}, "rows": ["words and words " * 20] * 900}
    body = json.dumps(document).encode()
    with serve(bounded(answer_of(body))) as served:
        assert len(served.ask("/openapi.json").body) == len(body)
        hidden = served.ask("/listings/1")
        assert len(hidden.body) < 60_000 and hidden.json["meta"]
