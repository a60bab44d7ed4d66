"""Send one request within the API's limits, and read the answer. What may have run is never sent twice."""

import asyncio
import time
from typing import Final, NamedTuple

from brimgate.back.rest.errors import Failures
from brimgate.back.rest.rates import NoRoom, Rates
from brimgate.errors import (
    AnswerTooLarge,
    UpstreamError,
    UpstreamGarbled,
    UpstreamLost,
    UpstreamTimeout,
    UpstreamUnreachable,
)
from brimgate.http.client import Headers, HttpClient, Response

_MOST_ERROR_BYTES: Final = 256 << 10
"""The largest body of an error: only a message is taken from it."""
_MOST_RETRY_SECONDS: Final = 86_400
_MOST_TIME_DIGITS: Final = 12


class ApiRequest(NamedTuple):
    method: bytes
    target: bytes
    headers: Headers
    body: bytes | None = None
    may_run: bool = True
    """Whether it changes something, so that nobody may send it again without knowing that it did not run."""


class ApiReply(NamedTuple):
    status: int
    content_type: str
    """In lower case."""
    body: bytes
    retry_after: float | None = None
    headers: Headers = []  # noqa: RUF012  # nobody changes it


class Sender:
    def __init__(
        self,
        client: HttpClient,
        rates: Rates,
        failures: Failures,
        *,
        timeout_seconds: float,
        max_answer_bytes: int,
        reset_header: str = "",
    ) -> None:
        """Create it. `reset_header` says when a limit has room again, if `Retry-After` does not."""
        self._client, self._rates, self._failures = client, rates, failures
        self._timeout_seconds, self._max_answer_bytes = timeout_seconds, max_answer_bytes
        self._reset_header = reset_header.encode()

    async def send(self, request: ApiRequest, credentials: Headers) -> ApiReply:
        """Send a request and return any answer.

        Wait and retry once after a 429, which says that the request did not run.
        """
        reply = await self._once(request, credentials)
        if reply.status != 429:
            return reply
        wait = self._rates.hold(reply.retry_after)
        if not self._rates.may_wait(wait):
            raise self._failures.limited(wait, is_ours=False)
        reply = await self._once(request, credentials)
        if reply.status == 429:
            raise self._failures.limited(self._rates.hold(reply.retry_after), is_ours=False)
        return reply

    async def _once(self, request: ApiRequest, credentials: Headers) -> ApiReply:
        may_run = request.may_run
        try:
            async with self._rates.place(), asyncio.timeout(self._timeout_seconds):
                headers = [*request.headers, *credentials]
                response = await self._client.request(request.method, request.target, headers, request.body)
                return await self._read(response)
        except NoRoom as error:
            raise self._failures.limited(error.seconds, is_ours=True) from None
        except (TimeoutError, UpstreamTimeout):
            raise self._failures.timeout(self._timeout_seconds, may_run=may_run) from None
        except UpstreamUnreachable as error:
            raise self._failures.unreachable(str(error)) from None
        except UpstreamLost as error:
            raise self._failures.broken_off(str(error), may_run=may_run) from None
        except AnswerTooLarge:
            raise self._failures.too_large(self._max_answer_bytes, may_run=may_run) from None
        except BadCoding:
            what = "it is compressed, though it was asked for as it is"
            raise self._failures.broken(what, may_run=may_run) from None
        except UpstreamError:
            raise self._failures.broken("it is no HTTP that can be trusted", may_run=may_run) from None

    async def _read(self, response: Response) -> ApiReply:
        is_success = 200 <= response.status < 300
        kind = response.header(b"content-type").decode("latin-1").lower()
        if response.header(b"content-encoding").strip().lower() not in (b"", b"identity"):
            response.abort()
            raise BadCoding
        if not is_success:
            wait = _retry_after(response)
            if wait is None and self._reset_header:
                wait = _until_reset(response.header(self._reset_header))
            return ApiReply(response.status, kind, await self._beginning(response), wait, response.headers)
        body = await response.read(self._max_answer_bytes)
        return ApiReply(response.status, kind, body, headers=response.headers)

    async def _beginning(self, response: Response) -> bytes:
        """Read the body of an error; empty if it is too large."""
        try:
            return await response.read(min(_MOST_ERROR_BYTES, self._max_answer_bytes))
        except AnswerTooLarge:
            return b""


class BadCoding(UpstreamGarbled):
    """An answer in an encoding that was not requested."""


def _until_reset(header: bytes) -> float | None:
    """Return the seconds until a time in seconds since 1970. Return None if it is none, or far away."""
    told = header.strip()
    if not told.isdigit() or len(told) > _MOST_TIME_DIGITS:
        return None
    wait = int(told) - time.time()
    return max(wait, 0.0) if wait <= _MOST_RETRY_SECONDS else None


def _retry_after(response: Response) -> float | None:
    """Parse seconds, or an HTTP date. Return None if it is neither."""
    told = response.header(b"retry-after").decode("latin-1").strip()
    if told.isascii() and told.isdigit() and len(told) < 10:
        return float(min(int(told), _MOST_RETRY_SECONDS))
    if not told:
        return None
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(told)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return min(max((when - datetime.now(UTC)).total_seconds(), 0.0), _MOST_RETRY_SECONDS)
    except (ValueError, TypeError, OverflowError):
        return None
