"""One request and its answer, within the limits of the API: nothing is sent twice that may have run."""

import asyncio
from typing import Final, NamedTuple

import msgspec

from brimgate.back.rest.credentials import Credentials
from brimgate.back.rest.errors import Failures
from brimgate.back.rest.rates import NoRoom, Rates
from brimgate.back.rest.response import Misshapen, Opened
from brimgate.engine import jsontext
from brimgate.errors import UpstreamError
from brimgate.http.client import (
    CannotConnect,
    ConnectionLost,
    Headers,
    HttpClient,
    Response,
    TooLarge,
    TooSlow,
)

_MOST_ERROR_BYTES: Final = 256 << 10
"""Of an answer that is no success: only a message is taken from it."""
_MOST_RETRY_SECONDS: Final = 86_400


class Request(NamedTuple):
    method: bytes
    target: bytes
    headers: Headers
    body: bytes | None = None
    may_run: bool = True
    """Whether it changes something there, so that nobody should send it again who does not know that it did not run."""


class Reply(NamedTuple):
    status: int
    content_type: str
    """In lower case."""
    body: bytes
    retry_after: float | None = None


class Exchange:
    def __init__(
        self,
        client: HttpClient,
        rates: Rates,
        failures: Failures,
        *,
        timeout_seconds: float,
        max_answer_bytes: int,
    ) -> None:
        self._client, self._rates, self._failures = client, rates, failures
        self._timeout_seconds, self._max_answer_bytes = timeout_seconds, max_answer_bytes

    async def send(self, request: Request, credentials: Headers) -> Reply:
        """Whatever the API answers; one 429 is waited out, for it says that the request did not run."""
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

    async def _once(self, request: Request, credentials: Headers) -> Reply:
        may_run = request.may_run
        try:
            async with self._rates.place(), asyncio.timeout(self._timeout_seconds):
                headers = [*request.headers, *credentials]
                response = await self._client.request(request.method, request.target, headers, request.body)
                return await self._read(response)
        except NoRoom as error:
            raise self._failures.limited(error.seconds, is_ours=True) from None
        except (TimeoutError, TooSlow):
            raise self._failures.timeout(self._timeout_seconds, may_run=may_run) from None
        except CannotConnect as error:
            raise self._failures.unreachable(str(error)) from None
        except ConnectionLost as error:
            raise self._failures.broken_off(str(error), may_run=may_run) from None
        except TooLarge:
            raise self._failures.too_large(self._max_answer_bytes, may_run=may_run) from None
        except BadCoding:
            what = "it is compressed, though it was asked for as it is"
            raise self._failures.broken(what, may_run=may_run) from None
        except UpstreamError:
            raise self._failures.broken("it is no HTTP that can be trusted", may_run=may_run) from None

    async def _read(self, response: Response) -> Reply:
        is_success = 200 <= response.status < 300
        kind = response.header(b"content-type").decode("latin-1").lower()
        if response.header(b"content-encoding").strip().lower() not in (b"", b"identity"):
            response.abort()
            raise BadCoding
        if not is_success:
            return Reply(response.status, kind, await self._beginning(response), _retry_after(response))
        return Reply(response.status, kind, await response.read(self._max_answer_bytes))

    async def _beginning(self, response: Response) -> bytes:
        """What has too much to say of its failure is not heard."""
        try:
            return await response.read(min(_MOST_ERROR_BYTES, self._max_answer_bytes))
        except TooLarge:
            return b""


class BadCoding(UpstreamError):
    """An answer in a coding that was not asked for."""


def _retry_after(response: Response) -> float | None:
    """Seconds, or a date as HTTP writes it; nothing if it is neither."""
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


_REFUSALS: Final = (401, 403)


class Caller:
    def __init__(
        self, exchange: Exchange, credentials: Credentials, failures: Failures, message: str
    ) -> None:
        """`message`: where in the body of an error its message stands."""
        self._exchange, self._credentials = exchange, credentials
        self._failures, self._message = failures, message

    async def call(self, request: Request) -> Reply:
        headers = await self._credentials.headers()
        reply = await self._exchange.send(request, headers)
        if reply.status in _REFUSALS and self._credentials.renew(headers):
            # It did not run: whoever refuses the caller has not begun.
            reply = await self._exchange.send(request, await self._credentials.headers())
        if 200 <= reply.status < 300:
            return reply
        raise self._failures.refused(reply.status, self._told(reply), may_run=request.may_run)

    def _told(self, reply: Reply) -> str:
        if not self._message or not 400 <= reply.status < 500:
            return ""
        try:
            raw = Opened(reply.body).at(self._message)
            return jsontext.string_value(raw) if raw is not None and raw.startswith(b'"') else ""
        except (Misshapen, msgspec.MsgspecError):
            return ""
