"""Errors as JSON, in one place: what we refuse, and what could not be had."""

from typing import Any, Final, NamedTuple

from brimgate.engine.document import one_line
from brimgate.errors import BrimgateError, ClientError, CursorError
from brimgate.front.rest.body import encoded
from brimgate.front.rest.headers import Header, other_body
from brimgate.front.rest.parameters import Refusal, invalid_cursor

_MESSAGE_CHARS: Final = 1_000


class Failure(NamedTuple):
    status: int
    code: str
    message: str
    retry_after: str = ""

    @property
    def body(self) -> bytes:
        message = one_line(self.message[:_MESSAGE_CHARS])
        return encoded({"error": {"code": self.code, "message": message}})

    @property
    def headers(self) -> list[Header]:
        waiting = [(b"retry-after", self.retry_after.encode())] if self.retry_after else []
        return other_body(waiting, len(self.body))


TOO_LARGE: Final = Failure(502, "answer_too_large", "the answer is larger than can be held: ask for less")
UNREADABLE: Final = Failure(502, "unreadable_answer", "the answer is in an encoding that cannot be read")
HIDDEN: Final = Failure(404, "not_found", "there is nothing at this path")
OURS: Final = Failure(500, "internal_error", "what is held of the answer could not be read")


def failure_of(error: BrimgateError) -> Failure:
    match error:
        case CursorError():
            return failure_of(invalid_cursor())
        case Refusal():
            return Failure(400, error.code, str(error))
        case ClientError():
            return Failure(400, "bad_request", str(error))
        case _:
            return _upstream_failure(error)


def _upstream_failure(error: Any) -> Failure:
    """An upstream that failed tells what it can by attributes; all are optional."""
    status, kind = getattr(error, "status", None), getattr(error, "kind", None)
    is_error = isinstance(status, int) and 400 <= status <= 599
    return Failure(
        status if is_error and isinstance(status, int) else 502,
        kind if isinstance(kind, str) and kind else "upstream_error",
        str(error) or "the server behind this one could not be reached",
        _waiting(getattr(error, "retry_after", None)),
    )


def _waiting(told: object) -> str:
    """Seconds, or a date as the upstream wrote it."""
    if isinstance(told, int | float):
        return f"{told:.0f}"
    if isinstance(told, str) and told.isascii() and told.isprintable() and len(told) < 60:
        return told
    return ""
