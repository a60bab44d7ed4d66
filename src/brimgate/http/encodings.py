"""Content encodings, within bounds: gzip and deflate, as a stream or as a whole."""

import zlib
from typing import Final

CODINGS: Final = ("gzip", "x-gzip", "deflate")
"""What can be read besides plain bytes."""
_MAX_LAYERS: Final = 3
_PIECE_BYTES: Final = 256 << 10


class Unreadable(Exception):
    """An unknown encoding, or a body that is not in it."""


class UnknownEncoding(Unreadable):
    """An encoding we do not know."""


class BodyTooLong(Exception):
    """More bytes than we are ready to hold."""


def readable_encodings(accepted: bytes) -> bytes:
    """Narrow a client's Accept-Encoding to what we can read; never to nothing, which would allow everything."""
    kept: list[str] = []
    for entry in accepted.decode("latin-1").split(","):
        name, _, weight = entry.strip().partition(";")
        name = name.strip().lower()
        if name == "*" and not weight.replace(" ", "").startswith("q=0"):
            kept.append(f"gzip;{weight}" if weight else "gzip")
        elif name in (*CODINGS, "identity"):
            kept.append(entry.strip())
    return ", ".join(kept or ["identity"]).encode("latin-1")


def decoded(data: bytes, encoding: bytes, max_bytes: int) -> bytes:
    """Decode a whole body, through every layer that its Content-Encoding names."""
    names = [name.strip().lower() for name in encoding.decode("latin-1").split(",")]
    layers = [name for name in names if name not in ("", "identity")]
    if len(layers) > _MAX_LAYERS or any(name not in CODINGS for name in layers):
        raise UnknownEncoding
    for name in reversed(layers):
        data = _whole(data, name, max_bytes)
    return data


def _whole(data: bytes, coding: str, max_bytes: int) -> bytes:
    """Decode one layer. Several gzip files one after another count as one."""
    out: list[bytes] = []
    size = 0
    while data:
        inflater = Inflater(coding)
        inflater.feed(data)
        while inflater.has_more:
            try:
                out.append(inflater.take())
            except ValueError:
                raise Unreadable from None
            size += len(out[-1])
            if size > max_bytes:
                raise BodyTooLong
        if not inflater.is_over:
            raise Unreadable
        data = inflater.behind.lstrip(b"\0") if coding != "deflate" else b""
    return b"".join(out)


class Inflater:
    """Decodes gzip or deflate, some bytes at a time. ValueError, with a text of ours, for what is neither."""

    __slots__ = ("_coding", "_input", "_stream", "has_more")

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._stream: zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage]  # has no public name
        self._input = b""
        self.has_more = False

    def feed(self, data: bytes) -> None:
        if self._stream is None:
            self._stream = self._open(data[0])
        self._input = data
        self.has_more = True

    def _open(self, first: int) -> "zlib._Decompress":  # pyright: ignore[reportPrivateUsage]
        if self._coding != "deflate":
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        # RFC 9110 says zlib's wrapping, many servers send none. No bare block begins with the 8 of a wrapped one.
        return zlib.decompressobj(zlib.MAX_WBITS if first & 0x0F == 8 else -zlib.MAX_WBITS)

    @property
    def is_over(self) -> bool:
        return self._stream is not None and self._stream.eof

    @property
    def behind(self) -> bytes:
        """What was fed behind the end of the encoded data."""
        return self._stream.unused_data if self._stream is not None else b""

    def take(self) -> bytes:
        """Return the next piece, of bounded size; nothing when more must be fed first."""
        stream = self._stream
        if stream is None:
            return b""
        if stream.eof:
            raise ValueError(f"something follows the end of its {self._coding} data")
        try:
            piece = stream.decompress(self._input, _PIECE_BYTES)
        except zlib.error:
            raise ValueError(f"its {self._coding} data is broken") from None
        self._input = stream.unconsumed_tail
        # A full piece may have left output inside zlib although all input is used up.
        self.has_more = not stream.eof and (bool(self._input) or len(piece) == _PIECE_BYTES)
        return piece

    def end(self) -> None:
        """Check that the data ended where its encoding does."""
        if self.behind:
            raise ValueError(f"something follows the end of its {self._coding} data")
        if self._stream is not None and not self._stream.eof:
            raise ValueError(f"its {self._coding} data ended early")
