"""The response of a server, read as the caller has room for it."""

import asyncio
from typing import TYPE_CHECKING, Final

from brimgate.http.connection import BadAnswer, Incoming, TooLarge

if TYPE_CHECKING:
    import zlib

_INFLATED_BYTES: Final = 256 << 10


class Response:
    """A response whose head has arrived. Read it to its end, or abort it: until then it holds its connection."""

    __slots__ = ("_incoming", "_inflater", "headers", "status")

    def __init__(self, incoming: Incoming) -> None:
        self.status = incoming.status
        self.headers = incoming.headers
        """Names in lower case, values without surrounding space."""
        self._incoming = incoming
        self._inflater = Inflater(incoming.coding) if incoming.coding else None

    def header(self, name: bytes) -> bytes:
        """Return the first value under this lower-case name, or b""."""
        for known, value in self.headers:
            if known == name:
                return value
        return b""

    async def next(self) -> bytes:
        """Return the next piece of the decoded body, b"" at its end. Cancelling closes the connection."""
        if self._inflater is None:
            return await self._incoming.take()
        try:
            return await self._inflated(self._inflater)
        except ValueError as error:
            self.abort()
            raise BadAnswer(f"the answer from {self._incoming.where} cannot be decoded: {error}") from None
        except asyncio.CancelledError:
            self.abort()
            raise

    async def _inflated(self, inflater: "Inflater") -> bytes:
        while True:
            if not inflater.has_more:
                raw = await self._incoming.take()
                if not raw:
                    inflater.end()
                    return b""
                inflater.feed(raw)
            if piece := inflater.take():
                if inflater.has_more:
                    # A compression bomb of 256 KiB yields a thousand of these: let others run in between.
                    await asyncio.sleep(0)
                return piece

    async def read(self, max_bytes: int) -> bytes:
        """Read the whole body. Raise TooLarge and close the connection as soon as it is known to be larger."""
        pieces: list[bytes] = []
        size = 0 if self._inflater else self._incoming.announced_bytes
        if size <= max_bytes:
            size = 0
            while piece := await self.next():
                size += len(piece)
                if size > max_bytes:
                    break
                pieces.append(piece)
        if size > max_bytes:
            self.abort()
            where = self._incoming.where
            raise TooLarge(f"the answer from {where} has more than the {max_bytes:,} bytes allowed")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def abort(self) -> None:
        """Close the connection at once, so that the upstream sees that nobody listens. Does nothing after the end."""
        self._incoming.give_up()


class Inflater:
    """Decodes gzip or deflate piece by piece. Raises ValueError, with a text of ours, for anything else."""

    __slots__ = ("_coding", "_input", "_stream", "has_more")

    def __init__(self, coding: bytes) -> None:
        self._coding = coding.decode("ascii")
        self._stream: zlib._Decompress | None = None  # pyright: ignore[reportPrivateUsage]  # has no public name
        self._input = b""
        self.has_more = False

    def feed(self, data: bytes) -> None:
        if self._stream is None:
            self._stream = self._open(data[0])
        self._input = data
        self.has_more = True

    def _open(self, first: int) -> "zlib._Decompress":  # pyright: ignore[reportPrivateUsage]
        import zlib

        if self._coding != "deflate":
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        # RFC 9110 requires the zlib wrapper, but many servers send none. No bare block begins with the 8 of a
        # wrapped one.
        return zlib.decompressobj(zlib.MAX_WBITS if first & 0x0F == 8 else -zlib.MAX_WBITS)

    def take(self) -> bytes:
        """Return at most _INFLATED_BYTES; b"" when more input is needed first."""
        import zlib

        stream = self._stream
        if stream is None:
            return b""
        if stream.eof:
            raise ValueError(f"something follows the end of its {self._coding} data")
        try:
            piece = stream.decompress(self._input, _INFLATED_BYTES)
        except zlib.error:
            raise ValueError(f"its {self._coding} data is broken") from None
        if stream.unused_data:
            raise ValueError(f"something follows the end of its {self._coding} data")
        self._input = stream.unconsumed_tail
        # A full piece may leave output inside zlib although all input is used up.
        self.has_more = not stream.eof and (bool(self._input) or len(piece) == _INFLATED_BYTES)
        return piece

    def end(self) -> None:
        if self._stream is not None and not self._stream.eof:
            raise ValueError(f"its {self._coding} data ended early")
