"""Refusals, forms and rate limits of Hostaway's API."""

import json
import time
from collections import defaultdict, deque
from typing import Any, Final, cast
from urllib.parse import parse_qsl

from brimgate.sandboxes import wire
from brimgate.sandboxes.wire import JSON, Answer, Json, Receive, Refused, Request, Scope, encode, gather

_MOST_BODY_BYTES: Final = 1 << 20


class Refusal(Refused):
    """Sent to the caller in the shape of the API's errors."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        body = encode({"status": "fail", "message": message})
        super().__init__(Answer(status, body, JSON, tuple(headers.items())))


def succeed(result: Any) -> Answer:
    return Answer(200, encode({"status": "success", "result": result}))


async def read_request(scope: Scope, receive: Receive) -> Request:
    try:
        return await wire.read_request(scope, receive, _MOST_BODY_BYTES)
    except wire.BodyTooLarge:
        raise Refusal(413, f"A body may have {_MOST_BODY_BYTES} bytes") from None


def read_json(body: bytes) -> Json:
    try:
        told: Any = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise Refusal(400, "The body is not JSON") from None
    if not isinstance(told, dict):
        raise Refusal(400, "The body must be an object")
    return cast("Json", told)


def form_of(request: Request) -> dict[str, list[str]]:
    """Return the fields of the body: sent as JSON, as a form, or as a multipart form (what `curl --form` sends)."""
    kind = request.headers.get("content-type", "")
    if kind.startswith(JSON):
        return _form_of_json(request.body)
    if kind.startswith("multipart/form-data"):
        return gather([(part.name, part.content.decode("utf-8", "replace")) for part in request.parts])
    return gather(parse_qsl(request.body.decode("utf-8", "replace")))


def _form_of_json(body: bytes) -> dict[str, list[str]]:
    form: dict[str, list[str]] = {}
    for name, value in read_json(body).items():
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        form[name] = [str(item) for item in values if item is not None]
    return form


class Limit:
    """A rate limit with a sliding window. A refused request does not count: whoever waits gets through."""

    def __init__(self, most: int, window_seconds: float) -> None:
        self._most, self._window_seconds = most, window_seconds
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)

    def count(self, caller: str) -> None:
        if not self._most:
            return
        now, times = time.monotonic(), self._times[caller]
        while times and times[0] <= now - self._window_seconds:
            times.popleft()
        if len(times) >= self._most:
            raise Refusal(429, "Too many requests")  # and no Retry-After: the real API sends none
        times.append(now)

    def reset(self) -> None:
        self._times.clear()
