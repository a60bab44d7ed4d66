"""Faulty answers, as real ones are: planned for a path, a given number of times."""

import asyncio
from collections import deque
from typing import Any, Final, NamedTuple

from brimgate.sandboxes.demo.failure import failure
from brimgate.sandboxes.wire import (
    Answer,
    Json,
    Receive,
    Scope,
    Send,
    begin,
    disconnected,
    encode,
    respond,
)

KINDS: Final = (
    "html500",
    "stack_trace",
    "redirect",
    "wrong_type",
    "rate_limited",
    "truncated",
    "slow",
    "cut",
    "drop",
    "hang",
)
SILENT: Final = ("drop", "hang")
"""Faults after which the caller has received nothing."""
DROP: Final = "brimgate.drop"
"""Where our server puts the function that closes the connection into the scope; ASGI itself has none."""
_ELSEWHERE: Final = "http://127.0.0.1:9/elsewhere"
_MOST_TIMES: Final = 100_000
_HTML: Final = (
    b"<!DOCTYPE html>\n<html><head><title>500 Internal Server Error</title><script>alert(1)</script></head>\n"
    b"<body><center><h1>500 Internal Server Error</h1></center><hr><center>nginx/1.18.0</center></body></html>\n"
)


class Fault(NamedTuple):
    kind: str
    seconds: float = 1
    """For `slow`: the delay."""
    location: str = _ELSEWHERE
    """For `redirect`."""


class FaultShapes(NamedTuple):
    """What is peculiar to an API in its faulty answers."""

    rate_limited: Answer
    wrong_type: Any
    """JSON whose fields have types that the API never sends."""
    leak: str
    """What a stack trace reveals; nobody should ever pass it on."""


class Faults:
    def __init__(self) -> None:
        self._planned: dict[str, deque[Fault]] = {}

    def plan(self, told: Json) -> None:
        """Plan what /control/fault was told. Raise ValueError with a sentence if it is wrong."""
        path, kind, times = told.get("path"), told.get("kind"), told.get("times", 1)
        if not isinstance(path, str) or not isinstance(kind, str):
            raise ValueError("path and kind are required")
        if kind not in KINDS:
            raise ValueError(f"kind must be one of: {', '.join(KINDS)}")
        if not isinstance(times, int) or not 0 <= times <= _MOST_TIMES:
            raise ValueError(f"times must be an integer from 0 to {_MOST_TIMES}")
        fault = Fault(kind)
        if isinstance(told.get("seconds"), int | float):
            fault = fault._replace(seconds=told["seconds"])
        if isinstance(told.get("location"), str):
            fault = fault._replace(location=told["location"])
        self._planned.setdefault(path, deque()).extend([fault] * times)

    def take(self, path: str) -> Fault | None:
        planned = self._planned.get(path)
        return planned.popleft() if planned else None

    def clear(self) -> None:
        self._planned.clear()


def replaces(fault: Fault, shapes: FaultShapes) -> Answer | None:
    """Return the answer that replaces the right one, or None if the right one is sent, in whatever way."""
    match fault.kind:
        case "html500":
            return Answer(500, _HTML, "text/html")
        case "stack_trace":
            trace = f"{failure()}PDOException: cannot connect to {shapes.leak}\n"
            return Answer(500, trace.encode(), "text/plain; charset=utf-8")
        case "redirect":
            return Answer(302, b"", "text/html", (("location", fault.location),))
        case "wrong_type":
            return Answer(200, encode(shapes.wrong_type))
        case "rate_limited":
            return shapes.rate_limited
        case _:
            return None


async def deliver(fault: Fault | None, answer: Answer, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the answer, or its faulty version."""
    match fault.kind if fault else "":
        case "hang":
            await disconnected(receive)
        case "drop" if DROP in scope:
            drop: Any = scope[DROP]
            drop()
            await disconnected(receive)
        case "cut" | "drop":
            await begin(send, answer, len(answer.body))
            half = answer.body[: len(answer.body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
            # Returning here leaves the body short of its length, and the server closes the connection.
        case "truncated":
            await respond(send, answer._replace(body=answer.body[: len(answer.body) // 2]))
        case "slow":
            await asyncio.sleep(fault.seconds if fault else 0)
            await respond(send, answer)
        case _:
            await respond(send, answer)
