"""A server that speaks HTTP, as it is called: at its own address, with the headers its operator wants it to get."""

import asyncio
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from brimgate.errors import ConfigError, UpstreamError
from brimgate.http.client import Headers, HttpClient, Origin, Response

_MAX_REDIRECTS: Final = 3
_AS_IT_IS: Final = bytes(range(0x21, 0x7F)).decode()
"""In an address; all else is written as %XX."""
_ACCEPT: Final = (b"accept", b"application/json, text/event-stream")


class HttpServer:
    def __init__(self, name: str, url: str, headers: Mapping[str, str]) -> None:
        self._name = name
        self.url = url
        self._origin = Origin.of(url)
        self.target = target_of(url)
        self._headers = [(key.lower().encode(), value.encode("latin-1")) for key, value in headers.items()]
        self._own = {key for key, _ in self._headers}
        self._client = HttpClient(self._origin)

    async def call(
        self, method: bytes, headers: Headers, body: bytes | None, *, target: bytes = b""
    ) -> Response:
        """The answer, from where the server sends us on its own ground. UpstreamError if there is none."""
        sent = [(key, value) for key, value in headers if key not in self._own] + self._headers
        if not any(key == b"accept" for key, _ in sent):
            sent.append(_ACCEPT)
        target = target or self.target
        for _ in range(_MAX_REDIRECTS):
            answer = await self._client.request(method, target, sent, body)
            if answer.status not in (301, 302, 303, 307, 308):
                return answer
            answer.abort()
            target = self._next(method, target, answer)
        raise UpstreamError(f"the upstream {self._name} sends us in circles")

    def _next(self, method: bytes, target: bytes, answer: Response) -> bytes:
        """Only within its own origin, and never with a request turned into another."""
        location = answer.header(b"location").decode("utf-8", "surrogateescape")
        if not location or (answer.status not in (307, 308) and method != b"GET"):
            raise UpstreamError(f"the upstream {self._name} moved: it must be called at another address")
        there = ""
        try:
            there = urljoin(f"{self._origin}{target.decode('ascii')}", location)
            is_same = Origin.of(there) == self._origin
        except (ValueError, ConfigError):
            is_same = False  # whatever it is, it is no address
        if not is_same:
            raise UpstreamError(
                f"the upstream {self._name} redirects to another origin, where we do not go: call it there"
            )
        return target_of(there)

    async def reach(self) -> None:
        """Whether somebody listens there; UpstreamError if not."""
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.create_connection(
                asyncio.Protocol, self._origin.host, self._origin.port
            )
        except OSError:
            raise UpstreamError(f"cannot connect to {self._origin}: is the server running?") from None
        transport.abort()

    async def close(self) -> None:
        await self._client.close()


def target_of(url: str) -> bytes:
    """Path and query, as they go into the first line of a request."""
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(target, safe=_AS_IT_IS, errors="surrogateescape").encode("ascii")
