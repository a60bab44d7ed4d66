"""Headers of requests and responses in the form of ASGI: pairs of bytes. Also media types and character sets."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from brimgate.engine.jsontext import is_utf8
from brimgate.engine.replies.reply import budget_fields
from brimgate.http.asgi import Header
from brimgate.http.encodings import readable_encodings

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
"""Headers that are no longer true of another body."""
_JSON: Final = frozenset(("application/json", "text/json", "application/json-seq"))
_TEXT: Final = frozenset(
    (
        "application/x-ndjson",
        "application/ndjson",
        "application/jsonl",
        "application/x-jsonlines",
        "application/yaml",
        "application/x-yaml",
        "application/xml",
        "application/csv",
        "application/toml",
        "application/sql",
        "application/x-sh",
    )
)
_NOT_TEXT: Final = frozenset(
    ("text/html", "text/css", "text/javascript", "text/ecmascript", "text/event-stream", "text/x-component")
)
_BODILESS: Final = frozenset((204, 205, 304))


def header(headers: Iterable[Header], name: bytes) -> bytes | None:
    return next((value for key, value in headers if key.lower() == name), None)


def for_the_application(headers: Iterable[Header]) -> list[Header]:
    """Change request headers so that we can read the response: known encodings, and no several ranges in one body."""
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
    """Return headers for our JSON body in place of the application's."""
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
    """Return headers for a response to HEAD that are true of either body."""
    gone = _FRAMING | _OF_THE_BODY - {b"content-type", b"cache-control"}
    return [(key, value) for key, value in headers if key.lower() not in gone]


def missing_header(missing: tuple[str, ...]) -> list[Header]:
    text = ", ".join(name for name in missing if name.isascii() and name.isprintable())
    return [(b"x-brimgate-missing-fields", text[:500].encode())] if text else []


@dataclass(frozen=True, slots=True)
class Media:
    is_protectable: bool
    is_text: bool = False
    """Text, whatever it looks like."""
    is_named: bool = True
    charset: str = ""


def media_of(content_type: bytes | None) -> Media:
    """Parse a Content-Type. Without one the body must tell."""
    if not content_type or not content_type.strip():
        return Media(is_protectable=True, is_named=False)
    name, *parameters = content_type.decode("latin-1").split(";")
    name = name.strip().lower()
    is_json = name in _JSON or name.endswith("+json")
    is_text = name in _TEXT or name.endswith(("+xml", "+yaml")) or name.startswith("text/")
    if name in _NOT_TEXT or name in ("application/xhtml+xml", "image/svg+xml"):
        return Media(is_protectable=False)
    charset = next((value for key, value in map(_pair, parameters) if key == "charset"), "")
    return Media(is_json or is_text, is_text and not is_json, charset=charset)


def has_body(status: int) -> bool:
    return status >= 200 and status not in _BODILESS


def _pair(parameter: str) -> tuple[str, str]:
    key, _, value = parameter.partition("=")
    return key.strip().lower(), value.strip().strip('"').lower()


def as_utf8(data: bytes, media: Media) -> tuple[bytes, bool]:
    """Return the text of a body, and whether it may be read as JSON.

    Bytes that are not in their declared encoding are decoded as Latin-1: so each can still be read back.
    """
    if media.charset not in ("", "utf-8", "utf8", "us-ascii"):
        try:
            return codecs.decode(data, media.charset).encode(), not media.is_text
        except (LookupError, ValueError, TypeError, AttributeError):
            pass  # unknown, not for text, or not true
    if not is_utf8(data):
        return data.decode("latin-1").encode(), False
    if media.is_text:
        return data, False
    # Some write a byte order mark, which JSON does not allow.
    return data.removeprefix(codecs.BOM_UTF8), True


def looks_binary(data: bytes) -> bool:
    return b"\0" in data[:4_096] or not is_utf8(data)
