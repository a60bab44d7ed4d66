"""Clients that each know one secret, cost little, and look at every byte they get for the secrets of others."""

import asyncio
import json
import random
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tests.http.serving import META, parse_events
from tests.relay.replies import following

_MODEST_RATE = 50
"""Calls per second that any machine can do."""
MODERN = "2026-07-28"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"
CALLED_OFF = -32800
PROGRESS = "notifications/progress"
LEGACY = "2025-11-25"
SECRET = re.compile(rb"secret-[0-9a-f]{16}")
_CALL = re.compile(rb"call-(\d+)")
_LARGE_ROWS = 80
_FAILED = -32050
_REFUSED = "brimgate_read: invalid or expired cursor: run the tool again from the start"

Message = dict[str, Any]


@dataclass
class Response:
    """An answer whose body may still be coming."""

    status: int
    headers: dict[str, str]
    _reader: asyncio.StreamReader

    async def body(self) -> bytes:
        return b"".join([piece async for piece in self._pieces()])

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        if self.headers.get("transfer-encoding") != "chunked":
            yield await self._reader.readexactly(int(self.headers["content-length"]))
            return
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)

    async def events(self) -> AsyncGenerator[dict[str, str], None]:
        """Each as soon as it is whole."""
        buffer = b""
        async with aclosing(self._pieces()) as pieces:
            async for piece in pieces:
                *whole, buffer = (buffer + piece).split(b"\n\n")
                for block in whole:
                    for event in parse_events(block.decode()):
                        yield event


class Wire:
    """A connection; a new one when it was cut."""

    def __init__(self, port: int, path: str) -> None:
        self._port, self._path = port, path
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def begin(self, method: str, headers: dict[str, str], message: Message | None = None) -> Response:
        if self._reader is None or self._writer is None or self._reader.at_eof():
            await self.cut()
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._port, limit=16 << 20
            )
        body = json.dumps(message).encode() if message is not None else b""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = (
            f"{method} {self._path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{lines}content-length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        first, *rest = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in rest if line)
        found = {name.lower(): value.strip() for name, _, value in pairs}
        return Response(int(first.split()[1]), found, self._reader)

    async def cut(self) -> None:
        """As a dying network does it."""
        if self._writer is not None:
            self._writer.transport.abort()
            with suppress(ConnectionError):
                await self._writer.wait_closed()
        self._reader = self._writer = None


@dataclass
class Tally:
    """What became of all calls."""

    answered: int = 0
    called_off: int = 0
    cut: int = 0
    reduced: int = 0
    resumed: int = 0
    notifications: int = 0
    unasked: int = 0
    """Notifications that came by GET."""
    failed: int = 0
    refused: int = 0
    """Attempts to read or to use what is another's."""
    cursors: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By path, the newest cursor and whose it is."""
    sessions: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return self.answered + self.called_off + self.cut + self.failed


@dataclass
class Someone:
    """A client of either era."""

    port: int
    path: str
    dice: random.Random
    tally: Tally
    secret: str = ""
    key: str = ""
    """What it shows the gateway, if that has `auth`."""
    doing: str = "opening"
    wire: Wire = field(init=False)
    side: Wire = field(init=False)
    """For what is said while the other waits."""

    ways: ClassVar[dict[str, int]] = {}
    """Ways a call may go, and how often each is taken, in percent."""

    def __post_init__(self) -> None:
        self.secret = self.secret or f"secret-{self.dice.getrandbits(64):016x}"
        self.wire, self.side = Wire(self.port, self.path), Wire(self.port, self.path)

    async def open(self) -> None:
        raise NotImplementedError

    async def act(self, call: int, way: str) -> None:
        raise NotImplementedError

    async def leave(self) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        await self.wire.cut()
        await self.side.cut()

    def check(self, data: bytes, call: int | None = None) -> None:
        """Nothing of anybody else, and nothing of another call."""
        assert set(SECRET.findall(data)) <= {self.secret.encode()}, (self.secret, data[:2_000])
        if call is not None:
            assert {int(found) for found in _CALL.findall(data)} == {call}, (call, data[:2_000])

    async def hear(self, response: Response, call: int | None, key: int) -> tuple[list[Message], list[str]]:
        """All messages of a response, looked at, and the ids of their events."""
        assert response.status == 200, (response.status, await response.body())
        if response.headers["content-type"] == "application/json":
            messages, ids = [json.loads(await response.body())], []
        else:
            events = [event async for event in response.events()]
            messages = [json.loads(event["data"]) for event in events if event.get("data")]
            ids = [event.get("id", "") for event in events]
        for message in messages:
            self._look_at(message, call, key)
        return messages, ids

    def _look_at(self, message: Message, call: int | None, key: int) -> None:
        is_answer = "result" in message
        self.check(json.dumps(message).encode(), call if is_answer else None)
        if is_answer or "error" in message:
            assert message["id"] == key, message
        else:
            self.tally.notifications += 1
            if message["method"] == PROGRESS:
                assert message["params"]["progressToken"] == key, message

    def settle_failure(self, messages: list[Message]) -> None:
        """The server's own error, with the secret of whoever asked."""
        (answer,) = (message for message in messages if "method" not in message)
        assert answer["error"]["code"] == _FAILED, answer
        assert self.secret in answer["error"]["message"], answer
        self.tally.failed += 1

    def refused(self, answer: Message) -> None:
        """What is another's was answered as what is nobody's."""
        (block,) = answer["result"]["content"]
        assert answer["result"]["isError"] and block["text"] == _REFUSED, answer
        self.tally.refused += 1

    def settle(self, messages: list[Message], key: int) -> Message:
        """The one answer among them."""
        (answer,) = (message for message in messages if "method" not in message)
        assert answer["id"] == key
        if "result" in answer:
            assert not answer["result"].get("isError"), answer
            assert self.secret in json.dumps(answer), answer
            self.tally.answered += 1
        else:
            assert answer["error"]["code"] == CALLED_OFF, answer
            self.tally.called_off += 1
        return answer

    def arguments(self, call: int, **more: Any) -> Message:
        return {"call": call, "delay": self.dice.random() * 0.004} | more


class Shaker(Someone):
    """Of the older era: a session, and ids that count up the same for everybody."""

    session = ""
    hears_late: ClassVar = True
    """What a server says behind its answer has a way to the client."""
    ways: ClassVar = {
        "plain": 55,
        "noisy": 15,
        "large": 5,
        "called off": 5,
        "called off late": 5,
        "cut and resumed": 9,
        "cut": 5,
        "failed": 1,
    }

    async def act(self, call: int, way: str) -> None:
        match way:
            case "plain":
                await self.call(call)
            case "noisy":
                await self.call(call, steps=2, logs=True, late=self.hears_late)
            case "large":
                await self.call(call, rows=_LARGE_ROWS)
            case "called off" | "called off late":
                await self.call_off(call, hangs=way == "called off")
            case "failed":
                messages, _ = await self.hear(await self.begin(call, 10 * call, fails=True), call, 10 * call)
                self.settle_failure(messages)
            case _:
                await self.break_off(call, resumes=way == "cut and resumed")

    def headers(self, **more: str) -> dict[str, str]:
        usual = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        usual |= {"authorization": f"Bearer {self.key}"} if self.key else {}
        known = {"mcp-session-id": self.session, "mcp-protocol-version": LEGACY} if self.session else {}
        return usual | known | {name.replace("_", "-"): value for name, value in more.items()}

    async def open(self) -> None:
        who = {"name": self.secret, "version": "1"}
        params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": who}
        greeting = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        response = await self.wire.begin("POST", self.headers(), greeting)
        self.check(await response.body())
        assert response.status == 200
        self.session = response.headers["mcp-session-id"]
        await self.say(self.wire, "notifications/initialized", {})

    async def say(self, wire: Wire, method: str, params: Message) -> None:
        response = await wire.begin(
            "POST", self.headers(), {"jsonrpc": "2.0", "method": method, "params": params}
        )
        self.check(await response.body())
        assert response.status == 202

    async def leave(self) -> None:
        response = await self.wire.begin("DELETE", self.headers())
        await response.body()
        assert response.status in (200, 204, 405)

    async def begin(self, call: int, key: int, tool: str = "tell", **given: Any) -> Response:
        arguments = given if tool != "tell" else self.arguments(call, **given)
        params = {"name": tool, "arguments": arguments, "_meta": {"progressToken": key}}
        message = {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}
        return await self.wire.begin("POST", self.headers(), message)

    async def call(self, call: int, **given: Any) -> Message:
        key = 10 * call
        messages, _ = await self.hear(await self.begin(call, key, **given), call, key)
        answer = self.settle(messages, key)
        if given.get("rows"):
            self.tally.reduced += 1
            cursor = following(answer["result"])
            more, _ = await self.hear(
                await self.begin(call, key + 1, "brimgate_read", cursor=cursor), call, key + 1
            )
            assert [one["id"] for one in more] == [key + 1]
            if self.key:
                await self.trespass(call, key + 2, cursor or "")
        return answer

    async def trespass(self, call: int, key: int, cursor: str) -> None:
        """Try the newest cursor and session of somebody else."""
        owner, foreign = self.tally.cursors.get(self.path, (self.secret, ""))
        self.tally.cursors[self.path] = self.secret, cursor
        if owner != self.secret:
            response = await self.begin(call, key, "brimgate_read", cursor=foreign)
            (answer,), _ = await self.hear(response, None, key)
            self.refused(answer)
        owner, foreign = self.tally.sessions.get(self.path, (self.secret, ""))
        self.tally.sessions[self.path] = self.secret, self.session
        if owner != self.secret:
            ping = {"jsonrpc": "2.0", "id": key, "method": "ping"}
            response = await self.wire.begin("POST", self.headers(mcp_session_id=foreign), ping)
            assert response.status == 404, response
            self.check(await response.body())
            self.tally.refused += 1

    async def call_off(self, call: int, *, hangs: bool) -> None:
        """A call that never ends, once it is under way; or one that may just have ended, or not have begun."""
        key = 10 * call
        beginning = asyncio.create_task(self.begin(call, key, hangs=hangs, steps=2))
        if hangs:
            await asyncio.wait({beginning})
        await asyncio.sleep(self.dice.random() * 0.004)
        await self.say(self.side, "notifications/cancelled", {"requestId": key})
        messages, _ = await self.hear(await beginning, call, key)
        answer = self.settle(messages, key)
        assert not hangs or "error" in answer

    async def break_off(self, call: int, *, resumes: bool) -> None:
        """Cut in the middle; whoever comes back gets the rest, and its answer once."""
        key = 10 * call
        response = await self.begin(call, key, steps=3)
        seen: list[Message] = []
        last = ""
        wanted = self.dice.randrange(1, 4)
        async with aclosing(response.events()) as events:
            async for event in events:
                last = event.get("id", last)
                if event.get("data"):
                    seen.append(json.loads(event["data"]))
                wanted -= 1
                if not wanted:
                    break
        await self.wire.cut()
        for message in seen:
            self._look_at(message, call, key)
        if not resumes:
            self.tally.cut += 1
            return
        again = await self.wire.begin("GET", self.headers(last_event_id=last, accept="text/event-stream"))
        more, _ = await self.hear(again, call, key)
        steps = [one["params"]["progress"] for one in seen + more if one.get("method") == PROGRESS]
        assert steps == [1, 2, 3]
        self.settle(seen + more, key)
        self.tally.resumed += 1


class Passer(Shaker):
    """The same in front of a server that keeps no streams for those who come back."""

    hears_late: ClassVar = False
    ways: ClassVar = {
        "plain": 55,
        "noisy": 20,
        "large": 5,
        "called off": 5,
        "called off late": 5,
        "cut": 9,
        "failed": 1,
    }


class Single(Someone):
    """Of the newer era: everybody calls everything 1, and has credentials of their own."""

    ways: ClassVar = {
        "plain": 55,
        "noisy": 20,
        "large": 5,
        "hung up": 10,
        "logged": 6,
        "logged and hung up": 3,
        "failed": 1,
    }

    async def act(self, call: int, way: str) -> None:
        logs = {LOG_LEVEL: "info"}
        match way:
            case "plain":
                await self.call(call)
            case "noisy":
                await self.call(call, steps=2)
            case "large":
                await self.call(call, rows=_LARGE_ROWS)
            case "hung up":
                await self.hang_up(call, meta={}, steps=2)
            case "logged":
                await self.call(call, logs=True, meta=logs)
            case "failed":
                messages, _ = await self.hear(await self.begin(call, fails=True), call, 1)
                self.settle_failure(messages)
            case _:
                await self.hang_up(call, logs=True, meta=logs)

    async def open(self) -> None:
        """There is nothing to open."""

    async def leave(self) -> None:
        """Nor to close."""

    async def begin(
        self, call: int, tool: str = "tell", meta: Message | None = None, **given: Any
    ) -> Response:
        arguments = given if tool != "tell" else self.arguments(call, secret=self.secret, **given)
        meta = META | {"progressToken": 1} | (meta or {})
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": MODERN,
            "mcp-method": "tools/call",
            "mcp-name": tool,
            "authorization": f"Bearer {self.key or self.secret}",
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return await self.wire.begin("POST", headers, message)

    async def call(self, call: int, **given: Any) -> None:
        messages, _ = await self.hear(await self.begin(call, **given), call, 1)
        answer = self.settle(messages, 1)
        if given.get("rows"):
            self.tally.reduced += 1
            cursor = following(answer["result"])
            more, _ = await self.hear(await self.begin(call, "brimgate_read", cursor=cursor), call, 1)
            assert [one["id"] for one in more] == [1]
            owner, foreign = self.tally.cursors.get(self.path, (self.secret, ""))
            self.tally.cursors[self.path] = self.secret, cursor or ""
            if owner != self.secret:
                (refused,), _ = await self.hear(
                    await self.begin(call, "brimgate_read", cursor=foreign), None, 1
                )
                self.refused(refused)

    async def hang_up(self, call: int, *, meta: Message, **given: Any) -> None:
        """Which is how a request is called off in this era."""
        begun = asyncio.create_task(self.begin(call, meta=meta, hangs=True, **given))
        await asyncio.wait({begun}, timeout=self.dice.random() * 0.006)
        begun.cancel()
        await asyncio.wait({begun})
        await self.wire.cut()
        self.tally.cut += 1


async def crowd(people: Sequence[Someone], calls: int, *, listening: int = 0) -> None:
    """Everybody at once; the first of them also listen for what is said to them unasked."""
    ears: list[asyncio.Task[None]] = []
    try:
        async with asyncio.timeout(60 + calls / _MODEST_RATE):
            await asyncio.gather(*(one.open() for one in people))
            ears += [asyncio.create_task(_listen(one)) for one in people[:listening]]
            await asyncio.gather(*(_act(one, calls // len(people)) for one in people))
            await asyncio.gather(*(one.leave() for one in people))
    except TimeoutError:
        raise AssertionError({one.doing for one in people}) from None
    finally:
        for ear in ears:
            ear.cancel()
        heard = await asyncio.gather(*ears, return_exceptions=True)
        for one in people:
            await one.close()
    assert not [one for one in heard if not isinstance(one, asyncio.CancelledError | None)]


async def _act(one: Someone, calls: int) -> None:
    ways, weights = zip(*one.ways.items(), strict=True)
    for call in range(1, calls + 1):
        (way,) = one.dice.choices(ways, weights)
        one.doing = f"call {call} in the way {way}"
        await one.act(call, way)
    one.doing = "nothing"


async def _listen(one: Someone) -> None:
    """Until the stream ends, or nobody cares any more."""
    wire = Wire(one.port, one.path)
    try:
        assert isinstance(one, Shaker)
        response = await wire.begin("GET", one.headers(accept="text/event-stream"))
        assert response.status == 200
        async with aclosing(response.events()) as events:
            async for event in events:
                one.check(json.dumps(event).encode())
                assert "result" not in json.loads(event.get("data") or "{}"), event
                one.tally.unasked += bool(event.get("data"))
    finally:
        await wire.cut()
