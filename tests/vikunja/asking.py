"""How the tests of the stand-in talk to it: plain HTTP, a connection for each request, every wait bounded."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from brimgate.sandboxes.vikunja import Sandbox

PATIENCE = 60.0
ZERO = "0001-01-01T00:00:00Z"
Json = dict[str, Any]


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def problem(self) -> tuple[int, int | None]:
        """The status, and the API's own number of an error."""
        return self.status, self.json.get("code")


class Caller:
    """Someone who asks, with a token or without."""

    def __init__(self, url: str, token: str = "") -> None:
        self.url, self.token = url, token

    def send(
        self, method: str, path: str, body: bytes | None = None, kind: str = "application/json"
    ) -> Response:
        address = urlsplit(self.url)
        headers = {"content-type": kind} if body is not None and kind else {}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        with closing(HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, headers)
            told = connection.getresponse()
            named = {name.lower(): value for name, value in told.getheaders()}
            return Response(told.status, named, told.read())

    def ask(self, method: str, path: str, told: Any = None, **query: Any) -> Response:
        where = f"/api/v1{path}" + ("?" + urlencode(query, doseq=True) if query else "")
        return self.send(method, where, None if told is None else json.dumps(told).encode())

    def get(self, path: str, **query: Any) -> Any:
        told = self.ask("GET", path, **query)
        assert told.status == 200, told.body
        return told.json

    def put(self, path: str, **told: Any) -> Any:
        answer = self.ask("PUT", path, told)
        assert answer.status == 201, answer.body
        return answer.json

    def post(self, path: str, **told: Any) -> Any:
        answer = self.ask("POST", path, told)
        assert answer.status == 200, answer.body
        return answer.json

    def delete(self, path: str) -> Any:
        answer = self.ask("DELETE", path)
        assert answer.status == 200, answer.body
        return answer.json

    def walk(self, path: str, **query: Any) -> Iterator[Json]:
        """All items, page by page, as many pages as the first one tells."""
        pages = int(self.ask("GET", path, **query).headers["x-pagination-total-pages"])
        for page in range(1, pages + 1):
            yield from self.get(path, page=page, **query)


class Standin:
    """A running stand-in, with its two users."""

    def __init__(self, running: Sandbox) -> None:
        self.running = running
        self.alice = Caller(running.url, running.tokens["alice"])
        self.bob = Caller(running.url, running.tokens["bob"])
        self.nobody = Caller(running.url)

    def control(self, path: str, /, **told: Any) -> Any:
        method, body = ("GET", None) if path == "/requests" else ("POST", json.dumps(told).encode())
        answer = self.nobody.send(method, f"/control{path}", body)
        assert answer.status == 200, answer.body
        return answer.json

    def with_token(self, user: str = "alice", **told: Any) -> Caller:
        return Caller(self.running.url, self.control("/token", user=user, **told)["token"])

    def login(self, user: str = "alice") -> Caller:
        password = self.running.settings.passwords[user]
        token = self.nobody.ask("POST", "/login", {"username": user, "password": password}).json["token"]
        return Caller(self.running.url, token)

    def project(self, caller: Caller, title: str) -> Json:
        return next(one for one in caller.walk("/projects", is_archived="true") if one["title"] == title)

    def task(self, caller: Caller, title: str, **query: Any) -> Json:
        return caller.get(f"/projects/{self.project(caller, title)['id']}/tasks", **query)[0]
