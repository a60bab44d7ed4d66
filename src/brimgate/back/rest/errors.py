"""Errors of an API, each in a sentence that reveals nothing.

ApiError (an UpstreamError), by kind, with the status that our REST client gets:

not_found      404        the API knows no such thing
invalid        400, 422   the API refuses the request
denied         403        the API does not let this caller do it
unauthorized   502        the API refuses our credentials: the operator must act
rate_limited   503        too many requests, the API's limit or our queue; `retry_after` says how long to wait
unavailable    502        it cannot be reached, breaks off, or answers with 5xx
broken         502        the answer does not match its declaration
timeout        504        it does not answer in time

Of the API's own words only the message in the JSON of a 4xx is repeated: its first line, without tags, addresses
and our secrets. `may_run`: the call changes something, and may have done so although it failed.
"""

import html
import re
from collections import deque
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Final, Literal, cast
from urllib.parse import quote, quote_plus

from brimgate.back.rest.model import StatusMeaning
from brimgate.errors import UpstreamError

Kind = Literal[
    "not_found", "invalid", "denied", "unauthorized", "rate_limited", "unavailable", "broken", "timeout"
]

_STATUSES: Final[dict[str, int]] = {
    "not_found": 404,
    "invalid": 422,
    "denied": 403,
    "unauthorized": 502,
    "rate_limited": 503,
    "unavailable": 502,
    "broken": 502,
    "timeout": 504,
}
_MOST_CHARS: Final = 500
_MOST_TOLD_CHARS: Final = 300
_LEAST_SECRET_CHARS: Final = 4
_MAY_BE_DONE: Final = "it may have done what it was asked to; look before you call it again"
_TAG: Final = re.compile(r"<[^<>]{0,2000}>?")
_URL: Final = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,20}://\S+")
_ADDRESS: Final = re.compile(
    r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\b(?:[\w-]+\.)+[A-Za-z]{2,}:\d{2,5}\b|\blocalhost(?::\d+)?\b"
)


class ApiError(UpstreamError):
    """The API failed, or refused."""

    def __init__(
        self, kind: Kind, message: str, *, status: int = 0, retry_after: float | None = None, detail: str = ""
    ) -> None:
        super().__init__(one_line(message, _MOST_CHARS))
        self.kind = kind
        self.status = status or _STATUSES[kind]
        self.retry_after = retry_after
        self.detail = one_line(detail, _MOST_CHARS)
        """For the operator's log: may contain addresses, never secrets."""


def one_line(text: str, most: int) -> str:
    """Remove control characters, and cut."""
    flat = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * most]).split())
    return flat if len(flat) <= most else f"{flat[: most - 1]}…"


class Failures:
    """The messages for the errors of one API."""

    def __init__(
        self,
        title: str,
        secrets: tuple[str, ...] = (),
        variables: tuple[str, ...] = (),
        meanings: Mapping[int, StatusMeaning] | None = None,
    ) -> None:
        """Create them. `meanings` are those of statuses that do not mean what HTTP says."""
        self._title = one_line(title, 100)
        self._meanings = meanings or {}
        self._secrets = secrets
        self._tokens: deque[str] = deque(maxlen=3)
        self._variables = variables

    def hide(self, token: str) -> None:
        """Remember a token that was issued to us, to mask it."""
        self._tokens.append(token)

    def broken(self, what: str, *, may_run: bool) -> ApiError:
        todo = _MAY_BE_DONE if may_run else "try again"
        return ApiError(
            "broken", f"{self._title} gave an answer that cannot be used ({what}): {todo}; if it stays so, the "
            "declaration of the tool may not fit this API"
        )  # fmt: skip

    def redirected(self, status: int) -> ApiError:
        return ApiError(
            "broken", f"{self._title} answered with a redirect ({status}), which is not followed: base_url must be "
            "the address where the API itself answers"
        )  # fmt: skip

    def too_large(self, most: int, *, may_run: bool) -> ApiError:
        todo = _MAY_BE_DONE if may_run else "narrow the query by the tool's own parameters"
        text = f"{self._title} gave an answer of more than {most:,} bytes (max_answer_bytes): {todo}"
        return ApiError("broken", text)

    def unreachable(self, detail: str) -> ApiError:
        text = f"{self._title} cannot be reached: try again in a while; if it stays so, check base_url and the network"
        return ApiError("unavailable", text, detail=self._without_secrets(detail))

    def broken_off(self, detail: str, *, may_run: bool) -> ApiError:
        text = f"{self._title} closed the connection before its answer was complete: {_advice(may_run)}"
        return ApiError("unavailable", text, detail=self._without_secrets(detail))

    def timeout(self, seconds: float, *, may_run: bool) -> ApiError:
        text = f"{self._title} did not answer within {seconds:g} s (timeout_seconds): {_advice(may_run)}"
        return ApiError("timeout", text)

    def limited(self, seconds: float, *, is_ours: bool) -> ApiError:
        why = "has no room for more requests just now" if is_ours else "refuses more requests just now (429)"
        wait = max(1, ceil(seconds))
        return ApiError("rate_limited", f"{self._title} {why}: try again in {wait} s", retry_after=wait)

    def unauthorized(self, status: int) -> ApiError:
        check = (
            f"check {' and '.join(self._variables)}" if self._variables else "check `auth` in its declaration"
        )
        text = f"{self._title} refuses our credentials ({status}): the operator must {check}, and what they may do"
        return ApiError("unauthorized", text)

    def refused(self, status: int, message: str, *, may_run: bool) -> ApiError:
        """Return the error for a status other than success. `message` is as it is in the answer."""
        if status in self._meanings:
            return self._meant(status, self._meanings[status], self._told(message))
        if status in (401, 403):
            return self.unauthorized(status)
        if 300 <= status < 400:
            return self.redirected(status)
        if status >= 500:
            todo = _MAY_BE_DONE if may_run else "try again in a while"
            return ApiError("unavailable", f"{self._title} failed ({status}): {todo}")
        if not 400 <= status < 500:
            return self.broken(f"the status {status}", may_run=may_run)
        if status == 408:
            return ApiError("timeout", f"{self._title} gave up waiting (408): try again in a while")
        told = self._told(message)
        if status in (404, 410):
            end = "check the ids and names in the call"
            return ApiError("not_found", f"{self._title} does not find it ({status}){told}: {end}")
        end = "change the arguments of the call"
        kind_status = 400 if status == 400 else 422
        return ApiError(
            "invalid", f"{self._title} refuses the call ({status}){told}: {end}", status=kind_status
        )

    def _meant(self, status: int, meaning: StatusMeaning, told: str) -> ApiError:
        say = f": {meaning.say}" if meaning.say else ""
        text = f"{self._title} refuses the call ({status}){told}{say}"
        return ApiError(cast("Kind", meaning.kind), text)

    def nobody(self, variables: str) -> ApiError:
        """Return the error for a call without a caller's token."""
        text = (
            f"{self._title} needs a token of the caller, and there is none: set {variables} for a single user"
        )
        return ApiError("denied", text)

    def unfinished(self, error: ApiError, done: Sequence[str]) -> ApiError:
        """Return the error of a step, with what the steps before it have done."""
        text = f"{error} (done before that: {'; '.join(done)})"
        return ApiError(cast("Kind", error.kind), text, status=error.status, retry_after=error.retry_after)

    def _told(self, message: str) -> str:
        first = message.strip().partition("\n")[0][: 8 * _MOST_TOLD_CHARS]
        plain = _TAG.sub(" ", html.unescape(self._without_secrets(first)))
        plain = _ADDRESS.sub("(address)", _URL.sub("(address)", plain))
        text = one_line(self._without_secrets(plain), _MOST_TOLD_CHARS).rstrip(".:")
        return f': "{text}"' if text else ""

    def _without_secrets(self, text: str) -> str:
        for secret in sorted((*self._secrets, *self._tokens), key=len, reverse=True):
            if len(secret) >= _LEAST_SECRET_CHARS:
                for form in {secret, quote(secret, safe=""), quote_plus(secret)}:
                    text = text.replace(form, "***")
        return text


def _advice(may_run: bool) -> str:
    return _MAY_BE_DONE if may_run else "try again, with a narrower query if there is one"
