"""Every error that an HTTP client can get from us, and its form on the wire: the one place that decides."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from brimgate.errors import (
    AccessRefused,
    Forbidden,
    RateLimited,
    Unauthenticated,
    UpstreamError,
    UpstreamTimeout,
    VerifierDown,
)
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.versions import HEADER_MISMATCH, UNSUPPORTED_VERSION, ProtocolRefusal

INVALID_REQUEST: Final = -32600
INTERNAL_ERROR: Final = -32603
REQUEST_CANCELLED: Final = -32800
_MISSING_CAPABILITY: Final = -32021
UNAUTHORIZED: Final = -32001
RATE_LIMITED: Final = -32000
SESSION_NOT_FOUND: Final = "there is no such session, or it has ended: initialize again"

_STATUS: Final = {
    rpc.PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    rpc.INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    _MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    rpc.METHOD_NOT_FOUND: 404,
}


def status_of(code: int) -> int:
    """Return the HTTP status of a modern answer with this error; 200 for all others."""
    return _STATUS.get(code, 200)


class HttpError(Exception):
    """A request gets this instead of an answer."""

    def __init__(
        self,
        status: int,
        text: str,
        *,
        code: int = INVALID_REQUEST,
        key: bytes = b"",
        data: bytes = b"",
        headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        super().__init__(text)
        self.status, self.text, self.code, self.key = status, text, code, key
        self.data, self.headers = data, headers
        self.word = "refused"
        """Names it for clients of REST."""

    @property
    def body(self) -> bytes:
        return rpc.failure(self.key, self.code, self.text, self.data)


class NoLoginHere(HttpError):
    """Clients that look for an authorization server read this as one of its errors."""

    def __init__(self) -> None:
        super().__init__(404, "there is no authorization server here, and nothing to log in to at this path")

    @property
    def body(self) -> bytes:
        return rpc.encode({"error": "not_found", "error_description": self.text})


def from_refused(refused: ProtocolRefusal, key: bytes) -> HttpError:
    """Return the error for a modern request that contradicts itself."""
    return HttpError(status_of(refused.code), refused.text, code=refused.code, key=key, data=refused.data)


def no_session(key: bytes = b"") -> HttpError:
    """Return the same error for unknown, ended and foreign sessions, so that nobody can learn by trying."""
    return HttpError(404, SESSION_NOT_FOUND, key=key)


def not_modern(key: bytes) -> HttpError:
    """Return the error that makes a client of the newer era fall back to the handshake."""
    text = "this server speaks an older version of the protocol: begin with initialize"
    return HttpError(404, text, code=rpc.METHOD_NOT_FOUND, key=key)


def upstream_down(error: UpstreamError, key: bytes, *, is_greeting: bool) -> HttpError:
    """Return the error for a failed upstream.

    At the handshake it is 503, or 504 for a timeout: with 200 it would look like an older server.
    """
    status = 503 if is_greeting else 502
    if isinstance(error, UpstreamTimeout):
        status = 504
    return HttpError(status, str(error), code=rpc.UPSTREAM_GONE, key=key)


class Challenge(NamedTuple):
    """What a caller without a valid token is told about how to get one."""

    metadata_url: str = ""
    """Where the metadata of RFC 9728 are; empty where no authorization server gives out tokens."""
    scopes: tuple[str, ...] = ()

    def header(self, error: str, text: str, scopes: tuple[str, ...] = ()) -> tuple[bytes, bytes]:
        if self.metadata_url and not error:
            error = (
                "invalid_token"  # clients look for a code, though RFC 6750 would have none without a token
            )
        told = {"realm": "brimgate", "resource_metadata": self.metadata_url}
        told |= {"error": error, "error_description": text if error else ""}
        told |= {"scope": " ".join(scopes or self.scopes)}
        listed = ", ".join(f'{name}="{_quotable(value)}"' for name, value in told.items() if value)
        return b"www-authenticate", f"Bearer {listed}".encode("ascii", "replace")


def _quotable(text: str) -> str:
    return text.replace("\\", "").replace('"', "'")


def from_access(refusal: AccessRefused, key: bytes, challenge: Challenge) -> HttpError:
    """Return the error for a caller that may not do this, or not now."""
    headers: list[tuple[bytes, bytes]] = []
    code, data = UNAUTHORIZED, b""
    match refusal:
        case Unauthenticated():
            headers = [challenge.header(refusal.error, str(refusal))]
        case Forbidden() if refusal.scopes:
            headers = [challenge.header("insufficient_scope", str(refusal), refusal.scopes)]
        case RateLimited():
            code = RATE_LIMITED
            told = {
                "retryAfter": refusal.retry_after,
                "limit": refusal.limit,
                "window": round(refusal.window),
            }
            data = rpc.encode(told)
            headers = [(b"retry-after", b"%d" % refusal.retry_after)]
            if refusal.policy:
                name = refusal.policy.encode()
                headers += [
                    (b"ratelimit-policy", b'"%b";q=%d;w=%d' % (name, refusal.limit, refusal.window)),
                    (b"ratelimit", b'"%b";r=0;t=%d' % (name, refusal.retry_after)),
                ]
        case VerifierDown():
            headers = [(b"retry-after", b"%d" % refusal.retry_after)]
        case _:
            pass
    found = HttpError(refusal.status, str(refusal), code=code, key=key, data=data, headers=headers)
    found.word = refusal.word
    return found


def too_many(what: str, key: bytes) -> HttpError:
    return HttpError(503, what, code=rpc.UPSTREAM_GONE, key=key, headers=[(b"retry-after", b"5")])
