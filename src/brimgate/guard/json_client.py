"""Ask one pinned address for a small JSON document: verifiers, key sets, introspection."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import quote, urlsplit

import msgspec

from brimgate.errors import UpstreamError, VerifierDown
from brimgate.http.client import Headers, HttpClient, Origin, Response

_SECONDS: Final = 5.0
_MAX_BYTES: Final = 1 << 20
_VISIBLE: Final = bytes(range(0x21, 0x7F)).decode()


@dataclass(frozen=True, slots=True)
class JsonAnswer:
    status: int
    document: Any
    """None if the body is not JSON."""

    @property
    def fields(self) -> dict[str, Any]:
        """The members of the document; none if it is not an object."""
        return cast("dict[str, Any]", self.document) if isinstance(self.document, dict) else {}


class JsonClient:
    """Calls one origin, and nothing that it leads to: a redirect is an answer like any other."""

    def __init__(self, url: str, seconds: float = _SECONDS) -> None:
        self.origin = Origin.of(url)
        self._client = HttpClient(self.origin)
        self._target = target_of(url)
        self._seconds = seconds

    async def ask(self, headers: Headers, *, body: bytes | None = None, target: bytes = b"") -> JsonAnswer:
        """Send GET, or POST with a body. Raise VerifierDown, which repeats nothing of the answer, if none comes."""
        try:
            async with asyncio.timeout(self._seconds):
                method = b"GET" if body is None else b"POST"
                sent = [(b"accept", b"application/json"), *headers]
                response = await self._client.request(method, target or self._target, sent, body)
                return JsonAnswer(response.status, await _document(response))
        except TimeoutError:
            raise VerifierDown(f"{self.origin} did not answer within {self._seconds:g} s") from None
        except UpstreamError as error:
            raise VerifierDown(str(error)) from None
        except ValueError:
            raise VerifierDown(f"{self.origin} cannot be asked about this token") from None

    async def close(self) -> None:
        await self._client.close()


def target_of(url: str) -> bytes:
    parts = urlsplit(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(target, safe=_VISIBLE, errors="surrogateescape").encode("ascii")


async def _document(response: Response) -> Any:
    parts: list[bytes] = []
    size = 0
    while part := await response.next():
        size += len(part)
        if size > _MAX_BYTES:
            response.abort()
            return None
        parts.append(part)
    if b"json" not in response.header(b"content-type").lower():
        return None
    try:
        return msgspec.json.decode(b"".join(parts))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
