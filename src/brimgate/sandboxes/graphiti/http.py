"""The graph over Streamable HTTP: sessions for the handshake revisions, independent requests for the modern one."""

import asyncio
import json
import secrets
import socket
import sys
from typing import Any, Final, NamedTuple

import uvicorn

from brimgate.relay.protocol.message import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from brimgate.relay.protocol.versions import UNSUPPORTED_VERSION, VERSION_KEY
from brimgate.sandboxes.graphiti.asgi import (
    EVENTS,
    JSON,
    Receive,
    Refusal,
    Scope,
    Send,
    accepted,
    begin,
    disconnected,
    event,
    read,
    respond,
)
from brimgate.sandboxes.graphiti.delays import Call, Json, Pace, called_off, message_of, params_of
from brimgate.testing.mcp_session import FakeServer, FakeSession

_MOST_SESSIONS: Final = 1_000
_HEADER_MISMATCH: Final = -32020
_CANCELLED: Final = -32800
_STATUS: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    _HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
"""The status of a modern answer with this error; an error within a session comes with 200."""


class _Visit(NamedTuple):
    """The session that a request belongs to."""

    session: FakeSession
    id: str = ""
    """Empty for one that lasts no longer than the request."""
    waiting: dict[Any, asyncio.Event] = {}  # noqa: RUF012  # of a session each has its own; here it is never written to


class App:
    def __init__(self, server: FakeServer, pace: Pace) -> None:
        self._server, self._pace = server, pace
        self._visits: dict[str, _Visit] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["method"], scope["path"]
        headers: dict[bytes, bytes] = dict(scope["headers"])
        try:
            if asked == ("GET", "/health"):
                await respond(send, 200, b'{"status":"healthy","service":"graphiti-mcp"}')
            elif scope["path"] != "/mcp":
                raise Refusal(404, "there is /mcp and /health")
            elif scope["method"] == "POST":
                await self._post(headers, receive, send)
            elif scope["method"] == "DELETE":
                self._visits.pop(self._known(headers).id)
                await respond(send, 200)
            else:
                raise Refusal(405, "POST or DELETE")
        except Refusal as refusal:
            await respond(send, refusal.status, refusal.body, allow=b"POST, DELETE")

    async def _post(self, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        kind = accepted(headers.get(b"accept", b"*/*"))
        body = await read(receive)
        message = message_of(body)
        visit = self._visit(message, headers)
        if call := self._pace.slowed(message):
            await _Slow(visit, self._pace, call, receive, send).answer(body, kind)
            return
        if waiting := visit.waiting.get(called_off(message)):
            waiting.set()
        answer = visit.session.answer(body)
        if answer is None:
            await respond(send, 202)
            return
        if visit.session.version and message.get("method") == "initialize":
            self._keep(visit)
        kept = visit.id if visit.id in self._visits else ""
        events = JSON not in kind
        status = 200 if kept or events else _status(answer)
        await respond(send, status, event(answer) if events else answer, kind[0], kept)

    def _visit(self, message: Json, headers: dict[bytes, bytes]) -> _Visit:
        if message.get("method") == "initialize":
            return _Visit(FakeSession(self._server), secrets.token_hex(16), {})
        meta = params_of(message).get("_meta")
        if isinstance(meta, dict) and VERSION_KEY in meta:
            _check_headers(message, headers)
            return _Visit(FakeSession(self._server))
        if not message:
            return _Visit(FakeSession(self._server))
        return self._known(headers)

    def _known(self, headers: dict[bytes, bytes]) -> _Visit:
        name = headers.get(b"mcp-session-id", b"").decode("latin-1")
        if not name:
            raise Refusal(400, "Mcp-Session-Id is missing: begin with initialize")
        if name not in self._visits:
            raise Refusal(404, "there is no such session, or it has ended: initialize again")
        visit = self._visits[name] = self._visits.pop(name)  # the last used is the last to go
        return visit

    def _keep(self, visit: _Visit) -> None:
        self._visits[visit.id] = visit
        while len(self._visits) > _MOST_SESSIONS:
            del self._visits[next(iter(self._visits))]


class _Slow:
    """A call that waits. It ends early when it is cancelled or when its caller has gone."""

    def __init__(self, visit: _Visit, pace: Pace, call: Call, receive: Receive, send: Send) -> None:
        self._visit, self._pace, self._call = visit, pace, call
        self._receive, self._send = receive, send

    async def answer(self, body: bytes, kind: list[bytes]) -> None:
        events = EVENTS in kind and (self._call.token is not None or JSON not in kind)
        off = asyncio.Event()
        gone = asyncio.create_task(disconnected(self._receive))
        cancelled = asyncio.create_task(off.wait())
        if self._visit.id:
            self._visit.waiting[self._call.number] = off
        if events:
            await begin(self._send, 200, EVENTS)
        try:
            for seconds, done in self._pace.steps():
                ended, _ = await asyncio.wait(
                    {gone, cancelled}, timeout=seconds, return_when="FIRST_COMPLETED"
                )
                if ended:
                    break
                if events and (note := self._pace.progress(self._call, done)):
                    await self._send_part(event(note))
        finally:
            gone.cancel()
            cancelled.cancel()
            self._visit.waiting.pop(self._call.number, None)
        if gone.done() and not gone.cancelled():
            return
        answer = self._off() if off.is_set() else self._visit.session.answer(body) or b""
        if events:
            await self._send_part(event(answer), last=True)
        else:
            await respond(self._send, 200 if self._visit.id else _status(answer), answer)

    def _off(self) -> bytes:
        error: Json = {"code": _CANCELLED, "message": "Request cancelled"}
        return json.dumps({"jsonrpc": "2.0", "id": self._call.number, "error": error}).encode()

    async def _send_part(self, data: bytes, *, last: bool = False) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": not last})


def _check_headers(message: Json, headers: dict[bytes, bytes]) -> None:
    """Check that a modern request repeats its body in its headers."""
    told = {
        b"mcp-method": message.get("method"),
        b"mcp-protocol-version": message["params"]["_meta"][VERSION_KEY],
    }
    for name, value in told.items():
        if headers.get(name, b"").decode("latin-1") != value:
            raise Refusal(400, f"the header {name.decode()} does not match the body", _HEADER_MISMATCH)


def _status(answer: bytes) -> int:
    return _STATUS.get(message_of(answer).get("error", {}).get("code"), 200)


def serve_http(server: FakeServer, pace: Pace, host: str, port: int) -> None:
    """Serve until a signal. Print the address once connections are accepted."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        where = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"listening on http://{where}:{listening.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        config = uvicorn.Config(
            App(server, pace),
            log_level="error",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run([listening])
