"""A store that says that it may wait is never called on an event loop, whatever is asked on whatever path."""

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed")

from fastmcp import FastMCP

from brimgate.app.link import Link
from brimgate.back.channel import Listener
from brimgate.engine.cursor import KeyRing
from brimgate.engine.policy import Rules, ToolRule
from brimgate.fastmcp import BrimgateMiddleware
from brimgate.front.mcp.passed_answers import client_messages
from brimgate.hold.live_lists import TICKET, ClaimTickets
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore
from brimgate.relay.actions import ToClient
from brimgate.relay.session import Session
from brimgate.rest import BrimgateMiddleware as RestMiddleware
from brimgate.watch.log import Log
from tests.answer_shapes import SHAPES
from tests.fastmcp.talking import talking
from tests.relay.conversation import KEY, NOW, GivenProtection, policy, record_of
from tests.relay.test_lists_that_go_on import Growing
from tests.rest.serving import serve
from tests.rest.test_filling import ROWS, Upstream, app_over
from tests.telling_server import answers_to

TEXTS: Final = {name: data.decode() for name, data in SHAPES.items() if "_of_" not in name}
LARGE: Final = ("large_list", "flat_object", "prose", "indented")
SMALL: Final = ("small_list", "short_prose")
QUERIES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"limit": 3},
    {"search": "Guest 7"},
    {"fields": "id"},
    {"path": "/5"},
    {"pages": "2-3"},
)


_WAITING: Final = ("put", "renew", "get", "put_view", "get_view", "drop", "sweep", "token", "elsewhere")


class SlowStore(MemoryStore):
    """A store that waits, and notes who calls it where nobody may wait."""

    blocks = True

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.wrong: list[str] = []

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name in _WAITING:
            self.calls += 1
            if _is_on_a_loop():
                self.wrong.append(f"{name} on {threading.current_thread().name}")
        return found

    @property
    def token(self) -> bytes:
        return b"token"

    are_one_user = True

    def elsewhere(self, token: bytes) -> str:
        return ""

    def check(self) -> None:
        assert self.calls, "nobody has used it"
        assert self.wrong == []


def _is_on_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def forged(cursor: str) -> str:
    """A cursor with another end, whatever it ended with."""
    return cursor[:-2] + ("BB" if cursor.endswith("AA") else "AA")


def test_the_rest_middleware_asks_the_store_elsewhere() -> None:
    store = SlowStore()

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        body = TEXTS[scope["path"].strip("/")].encode()
        kind = b"application/json" if body[:1] in b"[{" else b"text/plain; charset=utf-8"
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": body})

    with serve(RestMiddleware(app, policy(1_000), store=store)) as served:
        for shape in (*SMALL, *LARGE):
            assert served.ask(f"/{shape}").status == 200
        first = served.ask("/large_list").json
        for query in ({}, {"limit": 3}, {"fields": "id"}, {"path": "/5"}, {"fields": "all"}):
            assert served.ask("/large_list", cursor=first["nextCursor"], **query).status == 200
        for cursor in ("none", forged(first["nextCursor"])):
            assert served.ask("/large_list", cursor=cursor).status == 400
        assert served.ask("/prose", cursor=first["nextCursor"]).status == 400
    store.check()


def test_the_rest_middleware_asks_the_store_elsewhere_about_lists_that_go_on() -> None:
    store = SlowStore()
    with serve(app_over(Upstream(), store=store)) as served:
        first = served.ask("/rows")
        for query in (
            {"limit": 3},
            {"fields": "id"},
            {"fields": "id,name", "limit": 2},
            {"path": "/result/150"},
        ):
            assert served.ask("/rows", cursor=first.json["nextCursor"], **query).status == 200
        served.ask("/rows", cursor="none")
        shown = [row for page in served.follow("/rows", first) for row in page.json["result"]]
        assert shown == ROWS
    store.check()


def test_a_list_that_goes_on_keeps_its_oldest_views_out_of_the_loop() -> None:
    """More views than are kept: a cursor of a forgotten one is refused, and not looked up on the loop."""
    store = SlowStore()
    with serve(app_over(Upstream(), store=store)) as served:
        first = served.ask("/rows", limit=1).json["nextCursor"]
        for limit in range(2, 200):
            for fields in ("id", "name"):
                served.ask("/rows", cursor=first, limit=limit, fields=fields)
        assert served.ask("/rows", cursor=first).status == 400
    assert store.wrong == []


def test_the_fastmcp_middleware_asks_the_store_elsewhere() -> None:
    store = SlowStore()
    server = FastMCP("telling", middleware=[BrimgateMiddleware(policy(1_000), store=store)])

    @server.tool
    def tell(shape: str) -> str:
        return TEXTS[shape]

    @server.resource("telling://{shape}")
    def resource(shape: str) -> str:
        return TEXTS[shape]

    @server.prompt
    def prompt() -> str:
        return TEXTS["prose"]

    with talking(server) as talk:
        for shape in (*SMALL, *LARGE):
            talk.use("tell", shape=shape)
            talk.resource(f"telling://{shape}")
        talk.prompt("prompt")
        cursor = record_of(talk.use("tell", shape="large_list"))["nextCursor"]
        for query in QUERIES:
            assert not talk.read(cursor=cursor, **query).get("isError"), query
        for wrong in ("none", forged(cursor)):
            assert talk.read(cursor=wrong)["isError"]
    store.check()


# The relay, driven as `brimgate serve` drives it: by a Link, or by the exchange of a server with a URL


class Told:
    """An upstream on the same loop, whose answers come as soon as they are asked for."""

    is_stuck = False

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self._listener: Listener | None = None

    async def connect(self, listener: Listener) -> "Told":
        self._listener = listener
        return self

    def send(self, line: bytes | bytearray) -> None:
        if (told := self._answer(bytes(line))) and self._listener is not None:
            asyncio.get_running_loop().call_soon(self._listener.on_line, told)

    def pause(self) -> None: ...

    def resume(self) -> None: ...

    async def end(self, grace_seconds: float) -> None: ...


class Driven:
    """A session behind a link, asked one message at a time."""

    def __init__(
        self,
        store: SlowStore,
        answer: Callable[[bytes], bytes],
        tickets: ClaimTickets,
        *,
        is_shared: bool = False,
    ) -> None:
        rule = ToolRule(policy(1_000, default_page_size=10))
        siblings = store if is_shared else None
        protection = Protection(rule.policy, KeyRing(KEY), store, siblings=siblings)
        self.session = Session(
            Rules(lambda _: rule), GivenProtection(protection), lambda: NOW, defers_work=True, tickets=tickets
        )
        self._answers: asyncio.Queue[ToClient] = asyncio.Queue()
        self.link = Link(
            "told",
            Told(answer).connect,
            self.session,
            Log("error"),
            max_bytes=1 << 26,
            on_answer=self._answers.put_nowait,
        )
        self._ids = 0

    async def ask(self, message: Any) -> Any:
        self.link.from_client(json.dumps(message).encode())
        async with asyncio.timeout(60):
            return json.loads((await self._answers.get()).data)

    async def call(self, tool: str, **arguments: Any) -> Any:
        self._ids += 1
        return (await self.ask(call(self._ids, tool, **arguments)))["result"]


def call(key: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params}


def on_a_loop(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(work)


def told(line: bytes) -> bytes:
    return answers_to(line, TEXTS)


def test_a_link_asks_the_store_elsewhere() -> None:
    store = SlowStore()

    async def talk() -> None:
        driven = Driven(store, told, ClaimTickets())
        await driven.link.start()
        for shape in (*SMALL, *LARGE):
            await driven.call("tell", shape=shape)
        cursor = record_of(await driven.call("tell", shape="large_list"))["nextCursor"]
        for query in QUERIES:
            result = await driven.call("brimgate_read", cursor=cursor, **query)
            assert not result.get("isError"), (query, result)
        for wrong in ("none", forged(cursor), ""):
            assert (await driven.call("brimgate_read", cursor=wrong))["isError"]
        batch = [call(900 + at, "tell", shape=shape) for at, shape in enumerate((*SMALL, *LARGE))]
        assert len(await driven.ask(batch)) == len(batch)
        alone = await driven.ask([call(990, "brimgate_read", cursor=cursor)])
        assert "in a batch" in alone[0]["result"]["content"][0]["text"]
        await driven.link.end(0)

    on_a_loop(talk())
    store.check()


@pytest.mark.parametrize("is_shared", [False, True], ids=["alone", "shared"])
def test_a_link_asks_the_store_elsewhere_about_lists_that_go_on(is_shared: bool) -> None:
    store, tickets = SlowStore(), ClaimTickets()

    def listed(line: bytes) -> bytes:
        message = json.loads(line)
        meta = {TICKET: tickets.give(Growing(105))}
        result = {"content": [{"type": "text", "text": "[]"}], "_meta": meta}
        return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()

    async def talk() -> None:
        driven = Driven(store, listed, tickets, is_shared=is_shared)
        await driven.link.start()
        cursor = record_of(await driven.call("list_things"))["nextCursor"]
        for query in (
            {"limit": 3},
            {"fields": "id"},
            {"path": "/result/40"},
            {"pages": "2-3"},
            {"search": "item 9"},
        ):
            result = await driven.call("brimgate_read", cursor=cursor, **query)
            assert not result.get("isError"), (query, result)
        following: str | None = cursor
        while following:
            following = record_of(await driven.call("brimgate_read", cursor=following)).get("nextCursor")
        await driven.call("brimgate_read", cursor="none")
        await driven.link.end(0)

    on_a_loop(talk())
    store.check()


def test_a_server_with_a_url_is_answered_for_without_the_store_on_the_loop() -> None:
    store = SlowStore()

    async def talk() -> None:
        driven = Driven(store, told, ClaimTickets())
        session = driven.session
        for key, shape in enumerate((*SMALL, *LARGE)):
            line = json.dumps(call(key, "tell", shape=shape)).encode()
            await client_messages(session.from_client(line), lambda _: None)
            answer = answers_to(line, TEXTS)
            (sent,) = await client_messages(session.from_upstream(answer), lambda _: None)
            result = json.loads(sent)["result"]
            for cursor in (result.get("_meta") or {}).get("brimgate/result", {}).get("nextCursor"), "none":
                read = json.dumps(call(99, "brimgate_read", cursor=cursor or "none")).encode()
                assert len(await client_messages(session.from_client(read), lambda _: None)) == 1

    on_a_loop(talk())
    store.check()
