"""Headers of requests and answers as ASGI has them: pairs of bytes."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Any, Final

from brimgate.engine.replies.reply import budget_fields
from brimgate.http.encodings import readable_encodings

Header = tuple[bytes, bytes]

_FRAMING: Final = frozenset((b"content-length", b"transfer-encoding"))
_OF_THE_BODY: Final = frozenset(
    (
        b"content-type",
        b"content-encoding",
        b"etag",
        b"content-md5",
        b"digest",
        b"content-digest",
        b"repr-digest",
        b"accept-ranges",
        b"content-range",
        b"cache-control",
        b"expires",
        b"trailer",
    )
)
"""What no longer holds for another body."""
_CREDENTIALS: Final = (b"authorization", b"cookie", b"x-api-key")


def header(headers: Iterable[Header], name: bytes) -> bytes | None:
    return next((value for key, value in headers if key.lower() == name), None)


def for_the_application(headers: Iterable[Header]) -> list[Header]:
    """A request whose answer we can read: in encodings we know, and not as several ranges in one body."""
    out: list[Header] = []
    for key, value in headers:
        lowered = key.lower()
        if lowered == b"accept-encoding":
            out.append((key, readable_encodings(value)))
        elif lowered != b"range" or b"," not in value:
            out.append((key, value))
    return out


def budget_headers(tokens: int, budget: int) -> list[Header]:
    told = budget_fields(tokens, budget)
    return [
        (b"x-brimgate-estimated-tokens", b"%d" % tokens),
        (b"x-brimgate-budget-used", f"{told['budgetUsed']:.2f}".encode()),
        (b"x-brimgate-budget-remaining", b"%d" % told["budgetRemaining"]),
    ]


def same_body(headers: Iterable[Header], size: int) -> list[Header]:
    kept = [(key, value) for key, value in headers if not _is_gone(key, _FRAMING)]
    return [*kept, (b"content-length", b"%d" % size)]


def other_body(headers: Iterable[Header], size: int) -> list[Header]:
    """For a JSON body of ours in the place of the application's."""
    kept = [(key, value) for key, value in headers if not _is_gone(key, _FRAMING | _OF_THE_BODY)]
    return [
        *kept,
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % size),
        (b"cache-control", b"private, no-store"),
    ]


def _is_gone(key: bytes, gone: frozenset[bytes]) -> bool:
    lowered = key.lower()
    return lowered in gone or lowered.startswith(b"x-brimgate-")


def without_body(headers: Iterable[Header]) -> list[Header]:
    """Of an answer to HEAD: what would be true of either body."""
    gone = _FRAMING | _OF_THE_BODY - {b"content-type", b"cache-control"}
    return [(key, value) for key, value in headers if key.lower() not in gone]


def missing_header(missing: tuple[str, ...]) -> list[Header]:
    text = ", ".join(name for name in missing if name.isascii() and name.isprintable())
    return [(b"x-brimgate-missing-fields", text[:500].encode())] if text else []


def credentials_digest(scope: Any) -> str:
    """Whose an answer is: whoever shows the same credentials. Only their digest is kept."""
    digest = sha256()
    for name in _CREDENTIALS:
        for key, value in scope.get("headers", ()):
            if key.lower() == name:
                digest.update(b"%s\0%d\0%s" % (name, len(value), value))
    return digest.hexdigest()
