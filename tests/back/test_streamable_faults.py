"""Every request gets exactly one answer, whatever the server does to it and to the others."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from brimgate.relay.protocol.message import guess_id
from tests.back.mcp_script import Asked, Heard, Reply, ScriptedServer, answer, soon, talking

REQUESTS = 300


async def _stream(asked: Asked, reply: Reply, *events: Any) -> None:
    await reply.stream()
    for event in events:
        await reply.event(event)
    await reply.finish()


async def _streamed(asked: Asked, reply: Reply) -> None:
    await _stream(asked, reply, answer(asked, {}))


async def _twice(asked: Asked, reply: Reply) -> None:
    await _stream(asked, reply, answer(asked, {}), answer(asked, {}))


async def _half(asked: Asked, reply: Reply) -> None:
    await _stream(asked, reply, json.dumps(answer(asked, {}))[:20])


async def _cut(asked: Asked, reply: Reply) -> None:
    reply.peer.cut()


async def _cut_stream(asked: Asked, reply: Reply) -> None:
    await reply.stream()
    await reply.event({"jsonrpc": "2.0", "method": "notifications/message"})
    reply.peer.cut()


async def _to_be_resumed(asked: Asked, reply: Reply) -> None:
    await reply.stream()
    await reply.event("", f"e{asked.message['id']}", retry="1")
    await reply.finish()


async def _neighbours(asked: Asked, reply: Reply) -> None:
    await reply.json(answer(asked, {}) | {"id": asked.message["id"] + 1})


async def _without_id(asked: Asked, reply: Reply) -> None:
    await reply.json({"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "no"}})


def _saying(
    make: Callable[[Asked], Any], status: str = "200 OK"
) -> Callable[[Asked, Reply], Awaitable[None]]:
    async def say(asked: Asked, reply: Reply) -> None:
        await reply.json(make(asked), status)

    return say


BEHAVIOURS = [
    _streamed, _twice, _half, _cut, _cut_stream, _to_be_resumed, _neighbours, _without_id,
    _saying(lambda asked: answer(asked, {})),
    _saying(lambda asked: [answer(asked, {})]),
    _saying(lambda asked: answer(asked, "x" * 50_000)),
    _saying(lambda _: "{{"),
    _saying(lambda _: "", "202 Accepted"),
    _saying(lambda _: "", "404 Not Found"),
    _saying(lambda asked: answer(asked, {}), "500 Internal Server Error"),
]  # fmt: skip


async def _resume(asked: Asked, reply: Reply) -> None:
    last = asked.headers["last-event-id"]
    await reply.stream()
    await reply.event({"jsonrpc": "2.0", "id": int(last[1:]), "result": {}}, last + "-2")
    await reply.finish()


async def _ids(heard: Heard) -> list[int]:
    """Of the next that is answered, or refused for its size."""
    line, large = asyncio.create_task(heard.lines.get()), asyncio.create_task(heard.too_long.get())
    done, rest = await asyncio.wait((line, large), timeout=20, return_when=asyncio.FIRST_COMPLETED)
    for task in rest:
        task.cancel()
    assert done
    ids: list[int] = []
    if large in done:
        ids.append(int(guess_id(large.result())))
    if line in done:
        with suppress(json.JSONDecodeError):  # what nobody can read is passed on too: the session logs it
            read = json.loads(line.result())
            ids += [one["id"] for one in (read if isinstance(read, list) else [read]) if "id" in one]
    return ids


@pytest.mark.parametrize("seed", range(6))
def test_every_request_gets_one_answer_whatever_the_server_does(seed: int) -> None:
    chance = random.Random(seed)

    async def handle(asked: Asked, reply: Reply) -> None:
        if "last-event-id" in asked.headers:
            await _resume(asked, reply)
        else:
            await chance.choice(BEHAVIOURS)(asked, reply)

    async def conversation() -> None:
        got: list[int] = []
        async with ScriptedServer(handle) as server, talking(server.url, max_bytes=20_000) as talk:
            for id_ in range(REQUESTS):
                talk.send("tools/call", id_)
            while len(got) < REQUESTS:
                got += await soon(_ids(talk.heard))
        while not talk.heard.lines.empty():
            assert not await _ids(talk.heard)
        assert sorted(got) == list(range(REQUESTS))
        assert talk.heard.too_long.empty()
        assert talk.heard.lost.empty()

    asyncio.run(conversation())
