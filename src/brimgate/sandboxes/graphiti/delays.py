"""Slow answers: which requests wait, for how long, and what is sent meanwhile."""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple, cast

Json = dict[str, Any]
_STEP_SECONDS: Final = 0.5


class Call(NamedTuple):
    """A call of a tool: its id, and its caller's progress token."""

    number: str | int
    token: str | int | None


class Pace(NamedTuple):
    delay_seconds: float = 0

    def slowed(self, message: Json) -> Call | None:
        """Return the call that must wait, if the message is one."""
        number = message.get("id")
        if (
            not self.delay_seconds
            or message.get("method") != "tools/call"
            or not isinstance(number, str | int)
        ):
            return None
        meta: Any = params_of(message).get("_meta")
        token: Any = cast("Json", meta).get("progressToken") if isinstance(meta, dict) else None
        return Call(number, token if isinstance(token, str | int) else None)

    def steps(self) -> Iterator[tuple[float, float]]:
        """Yield how long to wait each time, and how much is done then."""
        done = 0.0
        while done < self.delay_seconds:
            step = min(_STEP_SECONDS, self.delay_seconds - done)
            done += step
            yield step, done

    def progress(self, call: Call, done: float) -> bytes | None:
        """Return the progress message; None for a caller that did not ask, and None when the answer is due."""
        if call.token is None or done >= self.delay_seconds:
            return None
        params: Json = {"progressToken": call.token, "progress": done, "total": self.delay_seconds}
        note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        return json.dumps(note, separators=(",", ":")).encode() + b"\n"


def message_of(line: bytes) -> Json:
    """Return the message as a session will read it; empty if it will refuse it."""
    try:
        message: Any = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return cast("Json", message) if isinstance(message, dict) else {}


def params_of(message: Json) -> Json:
    params: Any = message.get("params")
    return cast("Json", params) if isinstance(params, dict) else {}


def called_off(message: Json) -> str | int | None:
    """Return the id of the request that a message cancels, or None."""
    number: Any = params_of(message).get("requestId")
    is_one = message.get("method") == "notifications/cancelled" and isinstance(number, str | int)
    return number if is_one else None
