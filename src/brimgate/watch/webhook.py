"""The webhook: alerts that are sent by HTTP POST, from a thread of its own.

Nobody waits for it. Alerts arrive in their order, so one that cannot be delivered yet keeps those behind it waiting.
"""

import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import Condition, Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from brimgate import __version__
from brimgate.errors import OperatorError

if TYPE_CHECKING:
    from http.client import HTTPConnection

_MOST_QUEUED: Final = 100
_PASSING: Final = (408, 429)
"""The only refusals (4xx) that are worth another try."""
_CLOSED: Final = "closed before it was sent"


class Webhook:
    def __init__(
        self,
        url: str,
        secret: str,
        tell: Callable[[str, dict[str, Any], str], None],
        *,
        retries: Sequence[float] = (1, 5, 30, 120, 600),
        timeout_seconds: float = 10,
    ) -> None:
        """Send to a URL, sign with a secret unless it is empty, and tell a log what fails.

        Raise OperatorError, which repeats nothing of the URL, if nothing can be sent to it.
        """
        self._address = _Address.of(url)
        self._secret = secret.encode()
        self._tell = tell
        self._retries = tuple(retries)
        self._timeout_seconds = timeout_seconds
        self._changed = Condition()
        self._queue: deque[_Message] = deque(maxlen=_MOST_QUEUED)
        self._is_overflowing = False
        self._thread: Thread | None = None
        self._closes_at: float | None = None

    def send(self, document: Mapping[str, Any]) -> None:
        """Queue a document with an id of its own, and return at once. After `close` nothing is sent any more."""
        message = _Message.of(document)
        with self._changed:
            if self._closes_at is not None:
                return
            is_full = len(self._queue) == _MOST_QUEUED
            is_news = is_full and not self._is_overflowing
            self._is_overflowing |= is_full
            self._queue.append(message)
            self._changed.notify()
            self._start()
        if is_news:
            self._tell("webhook_dropped", {"to": str(self._address), "queued": _MOST_QUEUED}, "error")

    def close(self, seconds: float) -> None:
        """Stop. What is still to be sent gets one last try, all together within so many seconds."""
        with self._changed:
            self._closes_at = time.monotonic() + seconds
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(seconds)
        with self._changed:
            left = list(self._queue)  # if the thread hangs in a try that began before
            self._queue.clear()
        for message in left:
            self._give_up(message, _CLOSED, 0)

    def _start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            thread = Thread(target=self._run, name="brimgate-webhook", daemon=True)
            thread.start()
            self._thread = thread

    def _run(self) -> None:
        while (message := self._next()) is not None:
            self._deliver(message)

    def _next(self) -> "_Message | None":
        """Wait for the next message. Return None if there will be none."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closes_at is not None)
            message = self._queue.popleft() if self._queue else None
            self._is_overflowing &= bool(self._queue)
            return message

    def _deliver(self, message: "_Message") -> None:
        for attempt, wait_seconds in enumerate((*self._retries, None), 1):
            failure = self._attempt(message)
            if failure is None:
                return
            if failure.is_final or wait_seconds is None or self._closes_at is not None:
                self._give_up(message, failure.reason, attempt)
                return
            self._tell("webhook_failed", self._fields(message, failure.reason, attempt), "warning")
            with self._changed:
                self._changed.wait_for(lambda: self._closes_at is not None, wait_seconds)

    def _attempt(self, message: "_Message") -> "_Failure | None":
        """Send a message once. Return why that failed, or None."""
        seconds = self._timeout_seconds
        if self._closes_at is not None:
            seconds = min(seconds, self._closes_at - time.monotonic())
        if seconds <= 0:
            return _Failure(_CLOSED)
        return _post(self._address, message.body, self._headers(message.body), seconds)

    def _headers(self, body: bytes) -> dict[str, str]:
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"brimgate/{__version__}",
            "X-Brimgate-Timestamp": stamp,
        }
        if self._secret:
            import hmac

            signature = hmac.digest(self._secret, f"{stamp}.".encode() + body, "sha256").hex()
            headers["X-Brimgate-Signature"] = f"sha256={signature}"
        return headers

    def _give_up(self, message: "_Message", reason: str, attempt: int) -> None:
        self._tell("webhook_given_up", self._fields(message, reason, attempt), "error")

    def _fields(self, message: "_Message", reason: str, attempt: int) -> dict[str, Any]:
        return {"alert": message.alert, "to": str(self._address), "reason": reason, "attempt": attempt}


class _Message(NamedTuple):
    alert: str
    body: bytes

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> "_Message":
        """Write a document as it is now, with an id by which a receiver knows what it got twice."""
        from uuid import uuid4

        body = json.dumps({**document, "id": uuid4().hex}, default=str)
        return cls(str(document.get("alert", "")), body.encode())


class _Failure(NamedTuple):
    reason: str
    is_final: bool = False
    """Another try would fail as well."""


@dataclass(frozen=True, slots=True)
class _Address:
    """A URL in parts. Its text is only its scheme and host: the rest may hold a token."""

    scheme: str
    host: str
    """Without brackets."""
    port: int | None
    target: str

    @classmethod
    def of(cls, url: str) -> "_Address":
        if not (url.isascii() and url.isprintable()) or " " in url:
            raise OperatorError(
                "the webhook's url has spaces or characters beyond ASCII in it: write them as %XX"
            )
        try:
            parts = urlsplit(url)
            host, port = parts.hostname or "", parts.port
            host.encode("idna")  # as it is when its address is looked up
        except ValueError:
            raise OperatorError("the webhook's url has no valid host and port") from None
        if parts.scheme not in ("http", "https") or not host:
            raise OperatorError("the webhook's url must begin with http:// or https:// and a host")
        if "@" in parts.netloc:
            raise OperatorError(
                "the webhook's url has credentials in it: they are not sent, the secret signs"
            )
        return cls(parts.scheme, host, port, (parts.path or "/") + (f"?{parts.query}" if parts.query else ""))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.port else "")

    def connection(self, timeout_seconds: float) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        kind = HTTPSConnection if self.scheme == "https" else HTTPConnection
        return kind(self.host, self.port, timeout=timeout_seconds)


def _post(address: _Address, body: bytes, headers: dict[str, str], timeout_seconds: float) -> _Failure | None:
    """Post once, and return what went wrong. It follows no redirect: the signature is for nobody else."""
    from http.client import HTTPException

    connection = address.connection(timeout_seconds)
    try:
        connection.request("POST", address.target, body, headers)
        status = connection.getresponse().status
    except OSError as error:
        return _Failure(error.strerror or str(error))
    except HTTPException as error:
        return _Failure(f"not an HTTP response: {type(error).__name__}")  # its words may repeat the URL
    finally:
        connection.close()
    if 200 <= status < 300:
        return None
    return _Failure(f"status {status}", is_final=400 <= status < 500 and status not in _PASSING)
