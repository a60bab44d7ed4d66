"""Which answers are ours to bound, and what their bytes say in UTF-8."""

import codecs
from dataclasses import dataclass
from typing import Final

from brimgate.engine.jsontext import is_utf8

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


@dataclass(frozen=True, slots=True)
class Media:
    is_protectable: bool
    is_text: bool = False
    """Text whatever it looks like."""
    is_named: bool = True
    charset: str = ""


def media_of(content_type: bytes | None) -> Media:
    """What a Content-Type says. Without one the body must tell."""
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
    """The text of a body, and whether it may be read as JSON.

    Bytes that are not what they claim are taken one by one as Latin-1: so each is still there to be read back.
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
