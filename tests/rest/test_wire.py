"""Right on the wire: lengths, headers, encodings, HEAD, ranges, and what is more than can be held."""

import gzip
import json
import threading
import zlib
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Route

from brimgate.http.encodings import readable_codings, readable_encodings
from brimgate.rest import BrimgateMiddleware
from tests.rest.answers import answer_of, bounded
from tests.rest.apps import minified, starlette_app
from tests.rest.serving import serve

ROWS = [{"id": number, "text": f"row {number}"} for number in range(120)]
BIG = {"id": 1, "text": "word " * 6_000}


def test_the_length_is_that_of_what_is_sent() -> None:  # E2
    app = starlette_app({"/big": BIG, "/rows": ROWS, "/small": [1]})
    with serve(app) as served:
        for path in ("/big", "/rows", "/small"):
            with served.raw(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()) as wire:
                received = b"".join(iter(lambda wire=wire: wire.recv(65_536), b""))
            head, _, body = received.partition(b"\r\n\r\n")
            assert head.lower().count(b"content-length:") == 1
            assert b"content-length: %d" % len(body) in head.lower()
            json.loads(body)


def test_a_streamed_answer_that_fits_is_the_same_bytes() -> None:
    data = json.dumps({"b": 1, "a": [1.0, 2]}, indent=3).encode()
    with serve(bounded(answer_of(data, etag='"v1"', cache_control="max-age=9"))) as served:
        answer = served.ask("/x")
    assert answer.body == data
    assert answer.headers["etag"] == '"v1"'
    assert answer.headers["cache-control"] == "max-age=9"


def test_headers_of_the_old_body_go_with_it() -> None:
    old: dict[str, Any] = {
        "etag": '"v1"',
        "content_md5": "x",
        "digest": "y",
        "accept_ranges": "bytes",
        "cache_control": "public",
    }
    with serve(bounded(answer_of(minified(ROWS), link="<x>; rel=next", **old))) as served:
        answer = served.ask("/x")
    assert not {"etag", "content-md5", "digest", "accept-ranges"} & set(answer.headers)
    assert answer.headers["cache-control"] == "private, no-store"
    assert answer.headers["link"] == "<x>; rel=next"


def test_gzip_behind_us_is_kept_where_nothing_changes() -> None:
    app = Starlette(
        routes=[
            Route("/fits", lambda _: JSONResponse(["word " * 200])),
            Route("/big", lambda _: JSONResponse(BIG)),
        ]
    )
    app.add_middleware(GZipMiddleware)
    app.add_middleware(BrimgateMiddleware)
    with serve(app) as served:
        fits = served.ask("/fits", "GET", {"accept-encoding": "br, gzip, zstd"})
        assert fits.headers["content-encoding"] == "gzip"
        assert json.loads(gzip.decompress(fits.body)) == ["word " * 200]
        big = served.ask("/big", "GET", {"accept-encoding": "br, gzip, zstd"})
        assert "content-encoding" not in big.headers
        assert big.json["meta"]["kind"] == "preview"


@pytest.mark.parametrize(
    ("encoding", "encode"),
    [
        ("gzip", gzip.compress),
        ("deflate", zlib.compress),
        ("deflate", lambda data: zlib.compress(data, wbits=-15)),
        ("gzip, deflate", lambda data: zlib.compress(gzip.compress(data))),
        ("identity", lambda data: data),
    ],
)
def test_encodings_we_read(encoding: str, encode: Any) -> None:
    with serve(bounded(answer_of(encode(minified(ROWS)), content_encoding=encoding))) as served:
        answer = served.ask("/x")
    assert answer.json["meta"]["totalCount"] == 120
    assert "content-encoding" not in answer.headers


def test_an_encoding_we_cannot_read_is_an_error() -> None:
    for data, encoding in ((b"\x1b\x03", "br"), (b"not gzip", "gzip"), (gzip.compress(b"[1]")[:-4], "gzip")):
        with serve(bounded(answer_of(data, content_encoding=encoding))) as served:
            answer = served.ask("/x")
        assert answer.status == 502
        assert answer.json["error"]["code"] == "unreadable_answer"
    with serve(bounded(answer_of(b"\x1b\x03", "image/png", content_encoding="br"))) as served:
        assert served.ask("/x").body == b"\x1b\x03"


def test_accept_encoding_is_cut_to_what_we_read() -> None:
    more = [name for name in ("br", "zstd") if name in readable_codings()]
    assert readable_encodings(b"compress, gzip;q=0.8, br, zstd") == ", ".join(["gzip;q=0.8", *more]).encode()
    assert readable_encodings(b"compress") == b"identity"
    assert readable_encodings(b"*") == b"gzip"
    assert readable_encodings(b"") == b"identity"
    assert readable_encodings(b"*;q=0, identity") == b"identity"


def test_a_decompression_bomb_is_an_error() -> None:
    bomb = gzip.compress(b"[" + b"0," * 2_000_000 + b"0]")
    with serve(bounded(answer_of(bomb, content_encoding="gzip"), max_bytes=100_000)) as served:
        answer = served.ask("/x")
    assert (answer.status, answer.json["error"]["code"]) == (502, "answer_too_large")


def test_more_than_can_be_held_is_an_error_and_the_sending_stops() -> None:
    sent: list[int] = []
    stopped = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        pairs = [(b"content-type", b"text/plain")]
        await send({"type": "http.response.start", "status": 200, "headers": pairs})
        try:
            while True:
                sent.append(1)
                await send({"type": "http.response.body", "body": b"x" * 10_000, "more_body": True})
        except OSError:
            assert (await receive())["type"] == "http.disconnect"
            stopped.set()
            raise

    with serve(bounded(app, max_bytes=100_000)) as served:
        answer = served.ask("/x")
        assert (answer.status, answer.json["error"]["code"]) == (502, "answer_too_large")
        assert stopped.wait(20)
    assert len(sent) < 20


def test_a_length_beyond_what_can_be_held_is_refused_at_once() -> None:
    with serve(
        bounded(answer_of(b"x" * 200_000, "text/plain", content_length="200000"), max_bytes=100_000)
    ) as served:
        assert served.ask("/x").status == 502


def test_head_has_no_body_and_no_false_length() -> None:
    app = starlette_app({"/big": BIG, "/rows": ROWS})
    with serve(app) as served:
        for path in ("/big", "/rows"):
            with served.raw(f"HEAD {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode()) as wire:
                received = b"".join(iter(lambda wire=wire: wire.recv(65_536), b""))
            head, _, body = received.partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200")
            assert b"content-length" not in head.lower()
            assert body in (b"", b"0\r\n\r\n")
        cursor = served.ask("/rows").json["nextCursor"]
        page = served.ask("/rows", cursor=cursor)
        head = served.ask("/rows", "HEAD", None, cursor=cursor)
        assert head.headers["content-length"] == str(len(page.body))
        assert head.body == b""
        assert served.ask("/rows", "HEAD", None, limit="x").status == 400


def test_a_range_of_a_file_is_bounded_too(tmp_path: Any) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(b"word, word.\n" * 10_000)
    app = Starlette(routes=[Route("/x", lambda _: FileResponse(path, media_type="text/plain"))])
    app.add_middleware(BrimgateMiddleware)
    with serve(app) as served:
        for wanted in ("bytes=0-99999", "bytes=0-99999,100000-110000"):
            answer = served.ask("/x", "GET", {"range": wanted})
            assert answer.status == 200
            assert answer.json["chunkIndex"] == 0
            assert "content-range" not in answer.headers
        part = served.ask("/x", "GET", {"range": "bytes=0-10"})
        assert (part.status, part.body) == (206, b"word, word.")
        assert part.headers["content-range"].startswith("bytes 0-10/")


def test_ways_to_send_that_go_past_us_are_not_offered() -> None:
    offered: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        offered.append(dict(scope["extensions"]))
        await answer_of(b"[1]")(scope, receive, send)

    middleware = bounded(app)

    async def offering(scope: Any, receive: Any, send: Any) -> None:
        extensions = {
            "http.response.pathsend": {},
            "http.response.zerocopysend": {},
            "http.response.push": {},
        }
        await middleware({**scope, "extensions": extensions}, receive, send)

    with serve(offering) as served:
        assert served.ask("/x").json == [1]
    assert offered == [{"http.response.push": {}}]
