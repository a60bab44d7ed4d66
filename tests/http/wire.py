"""A connection of one's own: bytes out as they are given, answers back as they come, and the end of it."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.http.serving import PATIENCE, Answer, Serving, wait_until


class Wire:
    def __init__(self, port: int, patience: float = PATIENCE, *, opened: socket.socket | None = None) -> None:
        self._closing = ExitStack()
        self.socket = self._closing.enter_context(
            opened or socket.create_connection(("127.0.0.1", port), timeout=patience)
        )
        self._file = self._closing.enter_context(self.socket.makefile("rb"))

    @classmethod
    def over(cls, opened: socket.socket) -> "Wire":
        """On a connection that there is, to whatever."""
        return cls(0, opened=opened)

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    def send(self, *pieces: bytes) -> None:
        self.socket.sendall(b"".join(pieces))

    def try_to_send(self, data: bytes) -> bool:
        """False if the other side has closed it."""
        try:
            self.socket.sendall(data)
        except (ConnectionResetError, BrokenPipeError):
            return False
        return True

    def answer(self, *, has_body: bool = True) -> Answer:
        """The next one, whole; those that are only interim are passed over."""
        status, headers = self.head()
        while status < 200:
            status, headers = self.head()
        if not has_body or status == 204:
            body = b""
        elif headers.get("transfer-encoding") == "chunked":
            body = b"".join(self.chunks())
        else:
            body = self._file.read(int(headers["content-length"]))
        return Answer(status, headers, body)

    def head(self) -> tuple[int, dict[str, str]]:
        status = self._file.readline().decode()
        if not status:
            raise AssertionError("the connection was closed without an answer")
        headers: dict[str, str] = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return int(status.split()[1]), headers

    def chunks(self) -> Iterator[bytes]:
        """Of a chunked body, to its proper end; EOFError if it has none."""
        while True:
            size = self._file.readline()
            if not size:
                raise EOFError("the answer was cut")
            if piece := self._file.read(int(size, 16)):
                yield piece
            self._file.readline()
            if not piece:
                return

    def is_closed(self) -> bool:
        """Waits for it: what comes must be the end, and nothing else."""
        try:
            return self._file.read(1) == b""
        except ConnectionResetError:
            return True

    def wait_until_read(self) -> None:
        """Until the other side has taken what was sent, so that what follows comes as another piece."""
        local, remote = self.socket.getsockname()[1], self.socket.getpeername()[1]

        def is_read() -> bool:
            for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
                fields = line.split()
                theirs = int(fields[1].rpartition(":")[2], 16) == remote
                if theirs and int(fields[2].rpartition(":")[2], 16) == local:
                    return int(fields[4].partition(":")[2], 16) == 0
            return True

        wait_until(is_read, "that what was sent is read")


@contextmanager
def wire(serving: Serving) -> Iterator[Wire]:
    with Wire(serving.port) as opened:
        yield opened


def ask(serving: Serving, *pieces: bytes) -> Answer:
    """One raw request on a connection of its own."""
    with wire(serving) as opened:
        opened.send(*pieces)
        return opened.answer()


def request(
    line: bytes = b"GET /health", *headers: bytes, host: bytes = b"Host: localhost", body: bytes | None = None
) -> bytes:
    """A raw request; with a body also its length, unless the headers say how it ends."""
    lines = [line + b" HTTP/1.1", *([host] if host else []), *headers]
    if body is not None and not any(header.lower().startswith(b"transfer-encoding") for header in headers):
        lines.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join(lines) + b"\r\n\r\n" + (body or b"")


def chunked(*pieces: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + end
