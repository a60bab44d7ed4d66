"""The sandbox as an ASGI application."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from brimgate.sandboxes.faults import SILENT, Faults, FaultShapes, deliver, replaces
from brimgate.sandboxes.vikunja import api_v2, people
from brimgate.sandboxes.vikunja.attachments import MOST_BYTES
from brimgate.sandboxes.vikunja.calls import Call, World
from brimgate.sandboxes.vikunja.control import Control, Journal
from brimgate.sandboxes.vikunja.dates import Clock
from brimgate.sandboxes.vikunja.errors import UNAUTHORIZED, Failed, Plain
from brimgate.sandboxes.vikunja.generation import generate
from brimgate.sandboxes.vikunja.routes import TABLE, V1, Route, Router, grants_of, is_granted
from brimgate.sandboxes.vikunja.settings import Settings
from brimgate.sandboxes.vikunja.tokens import Bearer, Tokens
from brimgate.sandboxes.vikunja.wire import answer_json
from brimgate.sandboxes.wire import (
    Answer,
    BodyTooLarge,
    Receive,
    Refused,
    Request,
    Scope,
    Send,
    read_request,
    respond,
)

_MOST_BODY_BYTES: Final = MOST_BYTES + 2 * 1024 * 1024
_PAGE: Final = b"<!DOCTYPE html>\n<html lang=en><head><title>Vikunja</title></head><body><div id=app></div></body></html>\n"
LEAK: Final = "postgres://vikunja:hunter2@10.0.3.9/vikunja"
"""What a stack trace reveals; nobody should ever pass it on."""
V2: Final = "/api/v2"
_TOO_MANY: Final = Plain(429, "Too Many Requests").answer
_SHAPES: Final = FaultShapes(_TOO_MANY, {"tasks": "none", "page": "many"}, LEAK)


class Window(NamedTuple):
    requests: int
    ends: float


class Limit:
    """A rate limit with fixed windows, which tells in three headers what is left. Refused requests count, too."""

    def __init__(self, most: int, seconds: float) -> None:
        self._most, self._seconds = most, seconds
        self._windows: dict[str, Window] = {}

    def count(self, caller: str, answer: Callable[[], Answer]) -> Answer:
        if not self._most:
            return answer()
        now = time.time()
        window = self._windows.get(caller)
        if window is None or window.ends <= now:
            window = Window(0, now + self._seconds)
        self._windows[caller] = window = window._replace(requests=window.requests + 1)
        told = _TOO_MANY if window.requests > self._most else answer()
        left = max(0, self._most - window.requests)
        names = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset")
        values = (str(self._most), str(left), str(int(window.ends)))
        return told._replace(headers=told.headers + tuple(zip(names, values, strict=True)))

    def reset(self) -> None:
        self._windows.clear()


class App:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.delay_seconds = settings.delay_seconds
        self.is_database_gone = False
        self.faults, self.journal = Faults(), Journal()
        self._world: World | None = None
        routes = [Route(*row) for row in TABLE]
        self._grants = grants_of(routes)
        everything = {group: list(granted) for group, granted in self._grants.items()}
        everything.setdefault("other", []).append("routes")
        self.tokens = Tokens(settings, everything)
        self._router = Router([*routes, *self._own_routes()])
        self._router_v2 = Router(list(api_v2.GRANTS))
        self.limits = (Limit(settings.rate, settings.rate_window_seconds), Limit(settings.login_rate, 60))
        self._control = Control(self)

    @property
    def world(self) -> World:
        """The data. Generated on first use: the server listens before."""
        if self._world is None:
            self._world = World(generate(self.settings), Clock(self.settings.now))
        return self._world

    def reset(self) -> None:
        """Go back to the first data, without faults and delays.

        Tokens that were made stay, so that a caller may go on with its own; those of the settings are good again.
        """
        self.tokens.restore()
        self._world, self.is_database_gone = None, False
        self.delay_seconds = self.settings.delay_seconds
        self.faults.clear()
        self.journal.entries.clear()
        for limit in self.limits:
            limit.reset()

    def _own_routes(self) -> list[Route]:
        """Return the routes that tokens do not open: those of tokens, and those that any valid one opens."""
        return [
            Route("GET", "/tokens", self.tokens.list_tokens),
            Route("PUT", "/tokens", self.tokens.create),
            Route("DELETE", "/tokens/:token", self.tokens.delete),
            Route("GET", "/token/test", _accept),
            Route("POST", "/token/test", _brew),
            Route("GET", "/routes", self._list_grants),
        ]

    def _list_grants(self, _: Call) -> Answer:
        told = {
            group: {
                permission: {"path": V1 + route.path, "method": route.method}
                for permission, route in sorted(granted.items())
            }
            for group, granted in sorted(self._grants.items())
        }
        return answer_json(200, told)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise TypeError(f"only HTTP is served, not {scope['type']}")
        came = asyncio.get_running_loop().time()
        try:
            request = await read_request(scope, receive, _MOST_BODY_BYTES)
        except BodyTooLarge:
            told = {"code": 4013, "message": "The uploaded file exceeds the maximum configured file size"}
            await respond(send, answer_json(413, told))
            return
        if self.settings.control and request.path.startswith("/control"):
            await respond(send, self._control.answer(request))
            return
        entry = self.journal.note(request)
        fault = self.faults.take(request.path)
        answer = (fault and replaces(fault, _SHAPES)) or self._answer(request, entry)
        entry["status"] = None if fault and fault.kind in SILENT else answer.status
        await _wait_until(came + self.delay_seconds)
        await deliver(fault, answer, scope, receive, send)

    def _answer(self, request: Request, entry: dict[str, Any]) -> Answer:
        if self.is_database_gone and (request.path == "/health" or request.path.startswith("/api/")):
            return answer_json(500, {"message": "Internal Server Error"})
        if request.path == "/health":
            return Answer(200, b"OK", "text/plain; charset=UTF-8")
        if not request.path.startswith("/api/"):
            return Answer(200, _PAGE, "text/html; charset=utf-8")  # the user interface takes every other path
        try:
            return self._answer_api(request, entry)
        except Refused as refused:
            return refused.answer

    def _answer_api(self, request: Request, entry: dict[str, Any]) -> Answer:
        if request.path.startswith(V2 + "/"):
            return self._answer_v2(request, entry)
        if not request.path.startswith(V1 + "/"):
            raise Plain(404, "Not Found")
        path, method = request.path.removeprefix(V1), request.method
        if (method, path) == ("GET", "/info"):
            return people.info()
        if (method, path) == ("POST", "/login"):
            store = self.world.store
            return self.limits[1].count(
                request.address, lambda: self._refusable(lambda: self.tokens.login(request, store))
            )
        route, arguments = _found(self._router, request, path)
        bearer = self._bearer(request, entry)
        self._authorize(bearer, route)
        return self._handle(bearer, request, route, arguments)

    def _answer_v2(self, request: Request, entry: dict[str, Any]) -> Answer:
        route, arguments = _found(self._router_v2, request, request.path.removeprefix(V2))
        bearer = self._bearer(request, entry)
        if bearer.token and not api_v2.is_granted(route, bearer.token.permissions):
            raise Failed(UNAUTHORIZED)
        return self._handle(bearer, request, route, arguments)

    def _bearer(self, request: Request, entry: dict[str, Any]) -> Bearer:
        bearer = self.tokens.bearer(request.headers.get("authorization", ""))
        entry["user"] = bearer.username
        return bearer

    def _handle(self, bearer: Bearer, request: Request, route: Route, arguments: dict[str, str]) -> Answer:
        user = self.world.store.user_named(bearer.username)
        if user is None:
            raise Failed(UNAUTHORIZED)
        call = Call(self.world, user, request, arguments)
        return self.limits[0].count(bearer.username, lambda: self._refusable(lambda: route.handler(call)))

    def _refusable(self, answer: Callable[[], Answer]) -> Answer:
        """Make an answer of a refusal, too: the headers of the limit go onto both."""
        try:
            return answer()
        except Refused as refused:
            return refused.answer

    def _authorize(self, bearer: Bearer, route: Route) -> None:
        """Refuse a token that lacks the permission, in the very words for one that does not exist."""
        if bearer.token is None or route.path == "/token/test":
            return
        if route.path == "/routes" and "routes" in bearer.token.permissions.get("other", []):
            return
        if not is_granted(route, bearer.token.permissions, self._grants):
            raise Failed(UNAUTHORIZED)


def _found(router: Router, request: Request, path: str) -> tuple[Route, dict[str, str]]:
    """Return the route of a path, or refuse it: paths and methods are looked at before tokens."""
    found = router.find("GET" if request.method == "HEAD" else request.method, path)
    if found.allowed:
        raise Plain(405, "Method Not Allowed", allow=", ".join(found.allowed))
    if found.route is None:
        raise Plain(404, "Not Found")
    return found.route, found.arguments


def _accept(_: Call) -> Answer:
    return answer_json(200, {"message": "ok"})


def _brew(_: Call) -> Answer:
    return answer_json(418, {"message": "🍵"})


async def _wait_until(due: float) -> None:
    left = due - asyncio.get_running_loop().time()
    if left > 0:
        await asyncio.sleep(left)


def make_app(**settings: Any) -> App:
    """Create the application with the given `Settings`."""
    return App(Settings(**settings))
