"""The response of a server, read as the caller has room for it."""

import asyncio
from typing import TYPE_CHECKING

from brimgate.errors import AnswerTooLarge, UpstreamGarbled
from brimgate.http.connection import Incoming

if TYPE_CHECKING:
    from brimgate.http.encodings import Inflater


class Response:
    """A response whose head has arrived. Read it to its end, or abort it: until then it holds its connection."""

    __slots__ = ("_incoming", "_inflater", "headers", "status")

    def __init__(self, incoming: Incoming) -> None:
        self.status = incoming.status
        self.headers = incoming.headers
        """Names in lower case, values without surrounding space."""
        self._incoming = incoming
        self._inflater: Inflater | None = None
        if incoming.coding:
            from brimgate.http import encodings  # few answers are compressed: we ask for identity

            self._inflater = encodings.Inflater(incoming.coding.decode("ascii"))

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
            raise UpstreamGarbled(
                f"the answer from {self._incoming.where} cannot be decoded: {error}"
            ) from None
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
            piece = inflater.take()
            if inflater.behind:
                inflater.end()
            if piece:
                if inflater.has_more:
                    # A compression bomb of 256 KiB yields a thousand of these: let others run in between.
                    await asyncio.sleep(0)
                return piece

    async def read(self, max_bytes: int) -> bytes:
        """Read the whole body. Raise AnswerTooLarge and close the connection as soon as it is known to be larger."""
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
            raise AnswerTooLarge(f"the answer from {where} has more than the {max_bytes:,} bytes allowed")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def abort(self) -> None:
        """Close the connection at once, so that the upstream sees that nobody listens. Does nothing after the end."""
        self._incoming.give_up()
