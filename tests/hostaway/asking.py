"""How the tests of the sandbox talk to it: plain HTTP, a connection for each request, every wait bounded."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

PATIENCE = 60.0
FORM = "application/x-www-form-urlencoded"
CREDENTIALS = {
    "grant_type": "client_credentials",
    "client_id": "61148",
    "client_secret": "sandbox-secret",
    "scope": "general",
}
Json = dict[str, Any]
SMALL: dict[str, Any] = {
    "listings": 12,
    "reservations": 130,
    "rate_ip": 0,
    "rate_account": 0,
    "control": True,
}


def small(**changes: Any) -> dict[str, Any]:
    """Return the settings of a small sandbox, with some of them changed."""
    return SMALL | changes


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Caller:
    """Someone who asks one API, with a token or without."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = url, token

    def ask(self, path: str, method: str = "GET", body: str = "", kind: str = FORM, **query: Any) -> Response:
        address = urlsplit(self.url)
        headers = {"content-type": kind} if body else {}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        where = address.path + path + ("?" + urlencode(query) if query else "")
        with closing(HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)) as connection:
            connection.request(method, where, body.encode() or None, headers)
            told = connection.getresponse()
            named = {name.lower(): value for name, value in told.getheaders()}
            return Response(told.status, named, told.read())

    def result(self, path: str, **query: Any) -> Any:
        told = self.ask(path, **query)
        assert told.status == 200, told.body
        return told.json["result"]

    def walk(self, path: str, limit: int, **query: Any) -> Iterator[Json]:
        """Pages, until one is short of the limit."""
        offset = 0
        while True:
            told = self.ask(path, limit=limit, offset=offset, **query)
            assert told.status == 200, told.body
            yield told.json
            if len(told.json["result"]) < limit:
                return
            offset += limit

    def sign_in(self, **changed: str) -> "Caller":
        told = self.ask("/accessTokens", "POST", urlencode(CREDENTIALS | changed))
        assert told.status == 200, told.body
        return Caller(self.url, told.json["access_token"])

    def control(self, path: str, /, **told: Any) -> Any:
        """A POST of what is told, or a GET."""
        other = Caller(self.url.replace("/v1", "/control"))
        method, body = ("GET", "") if path == "/requests" else ("POST", json.dumps(told))
        answer = other.ask(path, method, body, "application/json")
        assert answer.status == 200, answer.body
        return answer.json["result"]


def ids(records: list[Json]) -> list[int]:
    return [record["id"] for record in records]


@contextmanager
def process(*options: str) -> Iterator[str]:
    """The sandbox as a process of its own: the address it tells."""
    command = [sys.executable, "-m", "brimgate.sandboxes.hostaway", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as started:
        watchdog = threading.Timer(PATIENCE, started.kill)  # so that the wait for a line is not endless
        watchdog.start()
        try:
            assert started.stderr
            line = started.stderr.readline().decode()
            assert line.startswith("listening on http://127.0.0.1:"), line
            yield line.removeprefix("listening on ").strip()
        finally:
            watchdog.cancel()
            started.kill()
