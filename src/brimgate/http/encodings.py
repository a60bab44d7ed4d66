"""Content encodings: which ones an application may use, and decoding of its bodies within bounds."""

import zlib
from typing import Final

_READABLE: Final = ("gzip", "x-gzip", "deflate", "identity")
_MAX_LAYERS: Final = 3


class Unreadable(Exception):
    """An unknown encoding, or a body that is not in it."""


class BodyTooLong(Exception):
    """More bytes than we are ready to hold."""


def readable_encodings(accepted: bytes) -> bytes:
    """Return the part of a client's Accept-Encoding that we can decode. Never empty, which would allow everything."""
    kept: list[str] = []
    for entry in accepted.decode("latin-1").split(","):
        name, _, weight = entry.strip().partition(";")
        name = name.strip().lower()
        if name == "*" and not weight.replace(" ", "").startswith("q=0"):
            kept.append(f"gzip;{weight}" if weight else "gzip")
        elif name in _READABLE:
            kept.append(entry.strip())
    return ", ".join(kept or ["identity"]).encode("latin-1")


def decoded(data: bytes, encoding: bytes, max_bytes: int) -> bytes:
    names = [name.strip().lower() for name in encoding.decode("latin-1").split(",")]
    layers = [name for name in names if name not in ("", "identity")]
    if len(layers) > _MAX_LAYERS:
        raise Unreadable
    for name in reversed(layers):
        if name in ("gzip", "x-gzip"):
            data = _gunzipped(data, max_bytes)
        elif name == "deflate":
            data = _inflated(data, max_bytes)
        else:
            raise Unreadable
    return data


def _gunzipped(data: bytes, max_bytes: int) -> bytes:
    """Decode all members: several gzip files in a row count as one."""
    out: list[bytes] = []
    left = max_bytes
    while data:
        reader = zlib.decompressobj(wbits=31)
        out.append(_read(reader, data, left))
        left -= len(out[-1])
        data = reader.unused_data.lstrip(b"\0")
    return b"".join(out)


def _inflated(data: bytes, max_bytes: int) -> bytes:
    if not data:
        return b""
    try:
        return _read(zlib.decompressobj(), data, max_bytes)
    except Unreadable:
        return _read(zlib.decompressobj(wbits=-15), data, max_bytes)  # some send it without its header


def _read(reader: "zlib._Decompress", data: bytes, max_bytes: int) -> bytes:  # pyright: ignore[reportPrivateUsage]
    try:
        found = reader.decompress(data, max_bytes + 1)
    except zlib.error:
        raise Unreadable from None
    if len(found) > max_bytes:
        raise BodyTooLong
    if not reader.eof:
        raise Unreadable
    return found
