"""HTTP servers that do to each request what a test says, and a listener that keeps what a channel says."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from brimgate.back.channel import Channel, Line, Listener
from brimgate.back.mcp.legacy_sse import SseServer
from brimgate.back.mcp.streamable import StreamableServer
from brimgate.errors import UpstreamError
from tests.back.scripted import Peer, Server

PATIENCE_SECONDS = 20.0


@dataclass(frozen=True)
class Asked:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        return json.loads(self.body) if self.body else {}

    @property
    def called(self) -> str:
        """The JSON-RPC method, or the one of HTTP where there is no message."""
        return self.message.get("method", "answer") if self.body.startswith(b"{") else self.method


class Reply:
    """How a request is answered."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    async def whole(
        self, status: str, body: bytes = b"", kind: str = "application/json", **headers: str
    ) -> None:
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{more}Content-Length: {len(body)}\r\n\r\n"
        await self.peer.say(head.encode() + body)

    async def json(self, value: Any, status: str = "200 OK", **headers: str) -> None:
        await self.whole(status, json.dumps(value).encode(), **headers)

    async def result(self, asked: Asked, result: Any, **headers: str) -> None:
        await self.json(answer(asked, result), **headers)

    async def taken(self) -> None:
        await self.whole("202 Accepted")

    async def stream(self) -> None:
        """Begins a stream of events; `raw` and `event` go on with it."""
        await self.peer.say(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        )

    async def raw(self, data: bytes) -> None:
        await self.peer.say(b"%x\r\n%b\r\n" % (len(data), data))

    async def event(self, value: Any, id_: str = "", name: str = "message", retry: str = "") -> None:
        head = (f"id: {id_}\n" if id_ else "") + (f"retry: {retry}\n" if retry else "")
        data = value if isinstance(value, str) else json.dumps(value)
        await self.raw(f"{head}event: {name}\ndata: {data}\n\n".encode())

    async def finish(self) -> None:
        await self.peer.say(b"0\r\n\r\n")


def answer(asked: Asked, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": asked.message["id"], "result": result}


Handler = Callable[[Asked, Reply], Awaitable[object]]


class ScriptedServer(Server):
    def __init__(self, handle: Handler) -> None:
        super().__init__(self._converse)
        self._handle = handle
        self.asked: list[Asked] = []
        self._more = asyncio.Condition()

    async def _converse(self, peer: Peer) -> None:
        while True:
            head, body = await peer.request()
            lines = head.decode().split("\r\n")
            method, target, _ = lines[0].split(" ")
            headers = dict(line.split(": ", 1) for line in lines[1:] if line)
            asked = Asked(method, target, {name.lower(): value for name, value in headers.items()}, body)
            async with self._more:
                self.asked.append(asked)
                self._more.notify_all()
            await self._handle(asked, Reply(peer))

    async def until(self, is_there: Callable[[list[Asked]], bool]) -> None:
        async with self._more:
            await asyncio.wait_for(self._more.wait_for(lambda: is_there(self.asked)), PATIENCE_SECONDS)

    @property
    def calls(self) -> list[str]:
        return [asked.called for asked in self.asked]


@dataclass
class Heard:
    """What a channel has said so far."""

    lines: "asyncio.Queue[bytes]" = field(default_factory=asyncio.Queue)
    failures: list[UpstreamError] = field(default_factory=list)
    lost: "asyncio.Queue[UpstreamError]" = field(default_factory=asyncio.Queue)
    too_long: "asyncio.Queue[bytes]" = field(default_factory=asyncio.Queue)
    chatter: "asyncio.Queue[str]" = field(default_factory=asyncio.Queue)
    pressure: list[bool] = field(default_factory=list)

    def listener(self) -> Listener:
        return Listener(
            on_line=self._line,
            on_failed=self._failed,
            on_too_long=self.too_long.put_nowait,
            on_lost=lambda _channel, failure: self.lost.put_nowait(failure),
            on_pressure=self.pressure.append,
            on_chatter=self.chatter.put_nowait,
        )

    def _line(self, line: Line) -> None:
        assert b"\n" not in line
        assert b"\r" not in line
        self.lines.put_nowait(bytes(line))

    def _failed(self, line: Line, keys: Sequence[bytes], failure: UpstreamError) -> None:
        """Keep it among the lines, in its place, as what a client is told of it."""
        self.failures.append(failure)
        error = {"code": -32000, "message": str(failure)}
        told = [{"id": json.loads(key), "error": error} for key in keys]
        self.lines.put_nowait(json.dumps(told if line.lstrip()[:1] == b"[" else told[0]).encode())

    async def next(self) -> Any:
        return json.loads(await soon(self.lines.get()))

    async def answer(self, id_: Any) -> Any:
        """The answer to a request; what comes before it is passed over."""
        while True:
            message = await self.next()
            if message.get("id") == id_ and "method" not in message:
                return message


async def soon(awaitable: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(awaitable, PATIENCE_SECONDS)


@dataclass
class Talk:
    """A channel that was opened, and what it says."""

    channel: Channel
    heard: Heard

    def send(self, method: str, id_: Any = None, **params: Any) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        self.channel.send(json.dumps(message if id_ is None else message | {"id": id_}).encode())

    async def ask(self, method: str, id_: Any, **params: Any) -> Any:
        self.send(method, id_, **params)
        return await self.heard.answer(id_)

    async def greet(self, version: str = "2025-11-25") -> Any:
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        greeted = await self.ask("initialize", "hello", **hello)
        self.send("notifications/initialized")
        return greeted


@asynccontextmanager
async def talking(
    url: str,
    kind: type[StreamableServer] | type[SseServer] = StreamableServer,
    *,
    max_bytes: int = 1 << 20,
    **headers: str,
) -> AsyncIterator[Talk]:
    """Nothing is left behind: neither tasks nor connections."""
    before = asyncio.all_tasks()
    heard = Heard()
    channel = await soon(kind("there", url, headers, max_bytes=max_bytes).connect(heard.listener()))
    try:
        yield Talk(channel, heard)
    finally:
        await soon(channel.end(1.0))
        await soon(channel.end(0.0))
    new = {task for task in asyncio.all_tasks() - before if "_accepted" not in repr(task)}
    assert not new
