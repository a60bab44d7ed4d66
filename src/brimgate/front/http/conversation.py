"""What a front needs of the middle: a conversation with a server, and what clients may put into it."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol, cast

import msgspec

from brimgate.front.mcp.errors import Refusal, too_many
from brimgate.front.mcp.request import Exchange
from brimgate.relay.actions import Line, ToClient
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.message import Message

_MAX_BATCH: Final = 1_000
_ROOM_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.02


class Conversation(Protocol):
    """A session with a server, that takes what the client says."""

    trouble: str
    is_full: bool
    """The server does not keep up."""

    @property
    def is_up(self) -> bool: ...
    async def start(self) -> None: ...
    def from_client(self, line: Line) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    async def end(self, grace_seconds: float) -> None: ...


Converse = Callable[[Callable[[ToClient], None], str], Conversation]
"""Makes one, given who hears its answers and for whom (the principal) it is; Refusal if there is no room."""


class Timing(Protocol):
    """What may change while we run."""

    @property
    def session_idle_seconds(self) -> float: ...
    @property
    def session_dropped_seconds(self) -> float: ...
    @property
    def json_response(self) -> bool: ...


async def wait_for_room(link: Conversation, exchange: Exchange, key: bytes) -> None:
    """A server that does not read makes its client wait, and not us hold what it sends."""
    waited = 0.0
    while link.is_full and not exchange.hangup.is_over:
        if waited > _ROOM_SECONDS:
            raise too_many("the server does not take more now", key)
        await asyncio.sleep(_LOOK_SECONDS)
        waited += _LOOK_SECONDS


def check_id(message: Message) -> None:
    if message.is_request and message.key[:1] in (b"[", b"{"):
        raise Refusal(400, "the id of a request is a text or a number")


def check_batch(message: object) -> None:
    """Each message of a batch costs its time; all of them together are read before anybody else is heard."""
    if isinstance(message, list) and len(cast("list[Any]", message)) > _MAX_BATCH:
        raise Refusal(400, f"a batch may hold {_MAX_BATCH:,} messages at most")


def messages_of(elements: list[msgspec.Raw]) -> Iterator[Message]:
    for element in elements:
        message = rpc.read(bytes(element))
        if not isinstance(message, Message):
            raise Refusal(400, "a batch holds requests, notifications and answers only")
        check_id(message)
        yield message
