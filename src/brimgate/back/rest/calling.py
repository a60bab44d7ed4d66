"""A request in our own name, and the answer if it is a success."""

from typing import Final

import msgspec

from brimgate.back.rest.credentials import Credentials
from brimgate.back.rest.errors import Failures
from brimgate.back.rest.response import Misshapen, Opened
from brimgate.back.rest.sender import Exchange, Reply, Request
from brimgate.engine import jsontext

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
