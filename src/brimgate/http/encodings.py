"""Content encodings, within bounds: gzip, deflate, and brotli and zstd where a library for them is installed."""

import zlib
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, Protocol

_BUILT_IN: Final = ("gzip", "x-gzip", "deflate")
_BEGINNINGS: Final = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_MAX_LAYERS: Final = 3
_PIECE_BYTES: Final = 256 << 10


@cache
def readable_codings() -> tuple[str, ...]:
    """Return what can be read besides plain bytes."""
    return (*_BUILT_IN, *(name for name in _LIBRARIES if _library(name)))


def _library(coding: str) -> str:
    """Return the module that reads an encoding; empty if none is installed."""
    for name in _LIBRARIES[coding]:
        with suppress(ModuleNotFoundError):  # of the package that it would be in
            if find_spec(name):
                return name
    return ""


_LIBRARIES: Final = {"br": ("brotli", "brotlicffi"), "zstd": ("compression.zstd", "backports.zstd")}


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
        elif name in (*readable_codings(), "identity"):
            kept.append(entry.strip())
    return ", ".join(kept or ["identity"]).encode("latin-1")


def decoded(data: bytes, encoding: bytes, max_bytes: int) -> bytes:
    """Decode a whole body, through every layer that its Content-Encoding names."""
    names = [name.strip().lower() for name in encoding.decode("latin-1").split(",")]
    layers = [name for name in names if name not in ("", "identity")]
    if len(layers) > _MAX_LAYERS or any(name not in readable_codings() for name in layers):
        raise UnknownEncoding
    for name in reversed(layers):
        data = _whole(data, name, max_bytes)
    return data


def _whole(data: bytes, coding: str, max_bytes: int) -> bytes:
    """Decode one layer."""
    out: list[bytes] = []
    size = 0
    inflater = Inflater(coding)
    try:
        inflater.feed(data)
        while inflater.has_more:
            out.append(inflater.take())
            size += len(out[-1])
            if size > max_bytes:
                raise BodyTooLong
        inflater.end()
    except ValueError:
        raise Unreadable from None
    return b"".join(out)


class _Decoder(Protocol):
    """Decodes one member of an encoded body, at most so many bytes at a time."""

    @property
    def is_over(self) -> bool: ...
    @property
    def behind(self) -> bytes:
        """What was fed behind the end."""
        ...

    def take(self, data: bytes) -> tuple[bytes, bytes, bool]:
        """Return a piece, what is left of the data, and whether there may be more without any. Any error will do."""
        ...


class _Stream:
    """What zlib and zstd have in common."""

    _stream: Any

    @property
    def is_over(self) -> bool:
        return self._stream.eof

    @property
    def behind(self) -> bytes:
        return self._stream.unused_data


class _Zlib(_Stream):
    def __init__(self, bits: int) -> None:
        self._stream = zlib.decompressobj(bits)

    def take(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.decompress(data, _PIECE_BYTES)
        # A full piece may have left output inside zlib although all input is used up.
        return piece, self._stream.unconsumed_tail, len(piece) == _PIECE_BYTES


class _Zstd(_Stream):
    def __init__(self, library: Any) -> None:
        self._stream = library.ZstdDecompressor()

    def take(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.decompress(data, _PIECE_BYTES)
        return piece, b"", not self._stream.eof and not self._stream.needs_input


class _Brotli:
    behind = b""

    def __init__(self, library: Any) -> None:
        self._stream = library.Decompressor()

    @property
    def is_over(self) -> bool:
        return self._stream.is_finished()

    def take(self, data: bytes) -> tuple[bytes, bytes, bool]:
        piece = self._stream.process(data, output_buffer_limit=_PIECE_BYTES)
        return piece, b"", not self.is_over and not self._stream.can_accept_more_data()


def _decoder(coding: str, first: int) -> _Decoder:
    if coding in ("gzip", "x-gzip"):
        return _Zlib(16 + zlib.MAX_WBITS)
    if coding == "deflate":
        # RFC 9110 says zlib's wrapping, many servers send none. No bare block begins with the 8 of a wrapped one.
        return _Zlib(zlib.MAX_WBITS if first & 0x0F == 8 else -zlib.MAX_WBITS)
    from importlib import import_module

    library = import_module(_library(coding))
    return _Zstd(library) if coding == "zstd" else _Brotli(library)


class Inflater:
    """Decodes a body, some bytes at a time. ValueError, with a text of ours, for what is not in its encoding."""

    __slots__ = ("_coding", "_decoder", "_input", "has_more")

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._decoder: _Decoder | None = None
        self._input = b""
        self.has_more = False

    def feed(self, data: bytes) -> None:
        self._input += data
        if self._decoder is not None and self._decoder.is_over:
            self._begin_member()
        elif self._decoder is None and self._input:
            self._decoder = _decoder(self._coding, self._input[0])
        self.has_more = bool(self._input)

    def _begin_member(self) -> None:
        """Begin anew behind the end: several gzip or zstd files in a row count as one, and zeros between them as none."""
        if self._coding != "deflate":
            self._input = self._input.lstrip(b"\0")
        begins = _BEGINNINGS.get(self._coding, b"")
        if self._input and (not begins or not begins.startswith(self._input[: len(begins)])):
            raise ValueError(f"something follows the end of its {self._coding} data")
        if self._input:
            self._decoder = _decoder(self._coding, self._input[0])

    def take(self) -> bytes:
        """Return the next piece, of bounded size; nothing when more must be fed first."""
        decoder = self._decoder
        if decoder is None:
            return b""
        given, self._input = self._input, b""
        try:
            piece, self._input, is_full = decoder.take(given)
        except Exception:  # noqa: BLE001  # every library has its own
            raise ValueError(f"its {self._coding} data is broken") from None
        if decoder.is_over:
            self._input = decoder.behind
            self._begin_member()
            is_full = False
        self.has_more = bool(self._input) or is_full
        return piece

    def end(self) -> None:
        """Check that the data ended where its encoding does."""
        if self._decoder is not None and not self._decoder.is_over:
            raise ValueError(f"its {self._coding} data ended early")
