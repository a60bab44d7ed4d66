"""A hostile API, careless clients and a dying network, against `brimgate serve` in front of a declared API."""

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.http.serving import Answer, Serving, exchange, serve, wait_until

if TYPE_CHECKING:
    from pathlib import Path

API = "/api/v1"
Query = dict[str, list[str]]
PAGED: dict[str, Any] = {
    "answer": {"items": "/items", "as": "items"},
    "paging": {
        "style": "offset",
        "limit": "limit",
        "offset": "offset",
        "size": 10,
        "total": "/total",
        "key": "id",
    },
}
DECLARED: dict[str, Any] = {
    "name": "bad",
    "title": "Bad",
    "base_url": "http://127.0.0.1:1",
    "tools": {
        "items": {
            "path": "/items",
            "routes": ["/items"],
            "parameters": {"q": {}, "tags": {"schema": {"type": "array"}}, "path": {}},
            **PAGED,
        },
        "one": {
            "path": "/items/{item-id}",
            "routes": ["/items/{item-id}"],
            "parameters": {"item-id": {}},
        },
        "export": {"path": "/export", "routes": ["/items/export"]},
        "change": {
            "method": "POST",
            "path": "/change",
            "routes": ["/change"],
            "parameters": {"list": {"schema": {"type": "array"}}},
        },
    },
}


@dataclass
class Hostile:
    """Answers as it is told to, and knows what it was asked."""

    answer: Callable[[Query], Any] = lambda _: {}
    asked: list[str] = field(default_factory=list[str])
    left: threading.Event = field(default_factory=threading.Event)
    """A request that `hangs` was given up by whoever sent it."""
    hangs: bool = False
    port: int = 0


@contextmanager
def listening(hostile: Hostile) -> Generator[None]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            hostile.asked.append(f"{self.command} {self.path}")
            if hostile.hangs:
                self.rfile.read(1)
                hostile.left.set()
                self.close_connection = True
                return
            body = json.dumps(hostile.answer(parse_qs(urlsplit(self.path).query))).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # as the base class calls them

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        hostile.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Ground:
    api: Hostile
    serving: Serving

    def get(self, path: str) -> Answer:
        return self.serving.get(API + path)

    def post(self, path: str, body: bytes) -> Answer:
        return exchange(
            self.serving.connect(), "POST", API + path, body, {"content-type": "application/json"}
        )


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    home: Path = tmp_path_factory.mktemp("hostile")
    hostile = Hostile()
    with listening(hostile):
        (home / "api.yaml").write_text(json.dumps(DECLARED))
        bad = {"api": str(home / "api.yaml"), "base_url": f"http://127.0.0.1:{hostile.port}"}
        (home / "brimgate.yaml").write_text(json.dumps({"upstreams": {"bad": bad}}))
        with serve("--config", str(home / "brimgate.yaml"), command=()) as serving:
            yield Ground(hostile, serving)


@pytest.fixture
def ground(started: Ground) -> Ground:
    api = started.api
    api.answer, api.hangs = (lambda _: {"items": [], "total": 0}), False
    api.asked.clear()
    api.left.clear()
    return started


def walk(ground: Ground, path: str) -> list[dict[str, Any]]:
    """All items, by the cursors."""
    found: list[dict[str, Any]] = []
    cursor = ""
    while True:
        told = ground.get(f"{path}?cursor={cursor}" if cursor else path).json
        found += told["items"]
        cursor = told.get("nextCursor", "")
        if not cursor:
            return found


# Clients


@pytest.mark.parametrize(
    "request_text",
    [
        '"id":7,"params":{"name":"change","arguments":{"list":' + "[" * 250 + "]" * 250 + "}}",
        '"id":7,"params":{"name":"items","arguments":{"limit":1' + "0" * 5_000 + "}}",
        '"id":1.5,"params":{"name":"items","arguments":{}}',
    ],
    ids=["deep", "number", "id"],
)
def test_a_request_that_cannot_be_read_is_answered(ground: Ground, request_text: str) -> None:
    client = ground.serving.client()
    client.initialize()
    answer = client.post(f'{{"jsonrpc":"2.0","method":"tools/call",{request_text}}}'.encode())
    assert "cannot be read" in answer.messages[-1]["error"]["message"] and not ground.api.asked


@pytest.mark.parametrize(
    "head", ["content-length: 50\r\n\r\n", "transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n"]
)
def test_a_request_that_breaks_off_changes_nothing(ground: Ground, head: str) -> None:
    watching = ground.serving.connect()
    before = connections(watching)
    half = ground.serving.socket()
    half.sendall(f"POST {API}/change HTTP/1.1\r\nhost: 127.0.0.1\r\n{head}".encode())
    wait_until(lambda: connections(watching) > before, "it has come")
    half.close()
    wait_until(lambda: connections(watching) == before, "it has gone")
    assert ground.post("/change", b"{}").status == 200
    assert ground.api.asked == ["POST /change"], "the one that was whole"


def connections(watching: HTTPConnection) -> int:
    return exchange(watching, "GET", "/health", None, {}).json["connections"]


def test_a_client_that_leaves_takes_its_request_of_the_api_along(ground: Ground) -> None:
    ground.api.hangs = True
    client = ground.serving.socket()
    client.sendall(f"GET {API}/items HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".encode())
    wait_until(lambda: ground.api.asked, "the API is asked")
    client.close()
    assert ground.api.left.wait(10), "long before the request would time out"


@pytest.mark.parametrize("depth", [150, 600, 100_000])
def test_a_body_nested_without_end_is_refused(ground: Ground, depth: int) -> None:
    answer = ground.post("/change", b'{"list":' + b"[" * depth + b"]" * depth + b"}")
    assert answer.status == 400 and "JSON object" in answer.json["error"]["message"]
    assert not ground.api.asked


def test_a_parameter_given_twice_is_refused_unless_it_is_a_list(ground: Ground) -> None:
    assert ground.get("/items?q=a&q=b").status == 400 and not ground.api.asked
    assert ground.get("/items?tags=a&tags=b").status == 200
    assert "tags=a%2Cb" in ground.api.asked[-1]


def test_a_parameter_of_the_api_that_is_called_as_one_of_ours_reaches_it(ground: Ground) -> None:
    assert ground.get("/items?path=/tmp").status == 200
    assert "path=%2Ftmp" in ground.api.asked[-1]


def test_names_in_routes_may_have_dashes_and_plain_routes_come_first(ground: Ground) -> None:
    assert ground.get("/items/7").status == ground.get("/items/export").status == 200
    assert ground.api.asked == ["GET /items/7", "GET /export"]


# The API


def slice_of(query: Query, count: int, most: int = 1_000) -> range:
    start, limit = int(query["offset"][0]), min(int(query["limit"][0]), most)
    return range(start, min(start + limit, count))


@pytest.mark.parametrize("key", [None, ""])
def test_items_with_nothing_in_their_key_are_all_given_out(ground: Ground, key: object) -> None:
    ground.api.answer = lambda query: {
        "items": [{"id": key, "n": n, "text": "x" * 300} for n in slice_of(query, 35)],
        "total": 35,
    }
    assert [one["n"] for one in walk(ground, "/items")] == list(range(35))


@pytest.mark.parametrize("total", [5, 15, 36, 10**14])
def test_a_wrong_number_of_all_loses_nothing(ground: Ground, total: int) -> None:
    ground.api.answer = lambda query: {
        "items": [{"id": n, "text": "x" * 300} for n in slice_of(query, 35)],
        "total": total,
    }
    assert [one["id"] for one in walk(ground, "/items")] == list(range(35))


def test_an_api_that_gives_the_same_page_for_ever_has_no_more(ground: Ground) -> None:
    ground.api.answer = lambda _: {"items": [{"id": n} for n in range(10)], "total": 100_000}
    assert [one["id"] for one in walk(ground, "/items")] == list(range(10))
    assert len(ground.api.asked) < 6
