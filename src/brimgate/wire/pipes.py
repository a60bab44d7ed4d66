"""Pipes on an event loop: non-blocking where the system supports it, otherwise in a thread.

A loop cannot wait for a Windows pipe that was opened by someone else, nor for a regular file anywhere.
"""

import asyncio
import os
import stat
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from brimgate.wire.framing import LineBuffer, TooLong

READ_BYTES: Final = 262_144
_TURN_SECONDS: Final = 0.002
"""What all lines together may take of one turn of the loop; one that is under way is finished."""
_JOINED_BYTES: Final = 65_536
"""Up to this size one copy is cheaper than a second system call."""


async def read_pipe(
    file: Any, on_data: Callable[[bytes], None], on_end: Callable[[], None]
) -> "PipeReader | ThreadReader":
    """Start reading a file object. `on_end` is called once, when nothing more will come."""
    loop = asyncio.get_running_loop()
    if not _can_be_waited_for(file.fileno()):
        return ThreadReader(loop, file, on_data, on_end)
    _, reader = await loop.connect_read_pipe(lambda: PipeReader(on_data, on_end), _lent(file, loop))
    return reader


async def write_pipe(file: Any, on_lost: Callable[[], None]) -> "PipeWriter | ThreadWriter":
    loop = asyncio.get_running_loop()
    if not _can_be_waited_for(file.fileno()):
        return ThreadWriter(loop, file, on_lost)
    _, writer = await loop.connect_write_pipe(lambda: PipeWriter(on_lost), _lent(file, loop))
    return writer


def _can_be_waited_for(descriptor: int) -> bool:
    if sys.platform == "win32":
        return False
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


class _Lent:
    """A descriptor that its loop closes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> None:
        """Do nothing: the loop has closed it."""


def _lent(file: Any, loop: asyncio.AbstractEventLoop) -> Any:
    """Return a duplicate that only uvloop closes.

    uvloop closes a descriptor and then the file again, when another thread may have reused the number.
    """
    if not type(loop).__module__.startswith("uvloop"):
        return file
    lent = _Lent(os.dup(file.fileno()))
    file.close()
    return lent


class PipeReader(asyncio.Protocol):
    def __init__(self, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_data = on_data
        self._on_end = on_end
        self._transport: asyncio.ReadTransport | None = None
        self.is_paused = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._on_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_end()

    def pause(self) -> None:
        self.is_paused = True
        if self._transport is not None:
            self._transport.pause_reading()

    def resume(self) -> None:
        self.is_paused = False
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class PipeWriter(asyncio.BaseProtocol):
    """Knows when its data was sent, and whether the other side still reads."""

    def __init__(self, on_lost: Callable[[], None]) -> None:
        self._on_lost = on_lost
        self._transport: asyncio.WriteTransport | None = None
        self.on_pressure: Callable[[bool], None] = lambda _: None
        """Called with True when the other side does not keep up, with False when it does again."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        transport.set_write_buffer_limits(high=1 << 20, low=0)

    def pause_writing(self) -> None:
        self.on_pressure(True)

    def resume_writing(self) -> None:
        self.on_pressure(False)

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._on_lost()

    @property
    def pending_bytes(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    def write_line(self, line: bytes | bytearray) -> None:
        if self._transport is None:
            return
        if len(line) <= _JOINED_BYTES:
            self._transport.write(line + b"\n")
        else:
            self._transport.write(line)
            self._transport.write(b"\n")

    def close(self) -> None:
        """Send what is still waiting, then close."""
        if self._transport is not None:
            self._transport.close()


class ThreadReader:
    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        file: Any,
        on_data: Callable[[bytes], None],
        on_end: Callable[[], None],
    ) -> None:
        self._loop, self._file = loop, file
        self._on_data, self._on_end = on_data, on_end
        self._may_read = threading.Event()
        self._may_read.set()
        threading.Thread(target=self._run, name="brimgate-read", daemon=True).start()

    def _run(self) -> None:
        descriptor = self._file.fileno()
        try:
            while self._may_read.wait() and (data := os.read(descriptor, READ_BYTES)):
                self._loop.call_soon_threadsafe(self._on_data, data)
        except OSError:
            pass
        finally:
            _call_if_open(self._loop, self._on_end)

    @property
    def is_paused(self) -> bool:
        return not self._may_read.is_set()

    def pause(self) -> None:
        self._may_read.clear()

    def resume(self) -> None:
        self._may_read.set()

    def close(self) -> None:
        """Do nothing: the thread ends with its file or the process. A blocking read cannot be cancelled."""


class ThreadWriter:
    """Writes in order in a thread of its own, so that a slow reader never blocks the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, file: Any, on_lost: Callable[[], None]) -> None:
        import queue

        self._loop, self._file, self._on_lost = loop, file, on_lost
        self._waiting: queue.SimpleQueue[bytes | bytearray | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self.pending_bytes = 0
        self._pressed = False
        self.on_pressure: Callable[[bool], None] = lambda _: None
        self._thread = threading.Thread(target=self._run, name="brimgate-write", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            while (data := self._waiting.get()) is not None:
                view = memoryview(data)
                while view:
                    view = view[os.write(self._file.fileno(), view[:READ_BYTES]) :]
                self._count(-len(data))
        except OSError:
            pass
        finally:
            self._file.close()
            _call_if_open(self._loop, self._on_lost)

    def _count(self, change: int) -> None:
        with self._lock:
            self.pending_bytes += change
            pressed = self.pending_bytes > 1 << 20
        if pressed != self._pressed:
            self._pressed = pressed
            _call_if_open(self._loop, self.on_pressure, pressed)

    def write_line(self, line: bytes | bytearray) -> None:
        data = line + b"\n"
        self._count(len(data))
        self._waiting.put(data)

    def close(self) -> None:
        self._waiting.put(None)


def _call_if_open(loop: asyncio.AbstractEventLoop, callback: Callable[..., None], *arguments: object) -> None:
    try:
        loop.call_soon_threadsafe(callback, *arguments)
    except RuntimeError:
        return  # the loop has ended before the thread: nobody is left to tell


class LinePort:
    def __init__(
        self,
        *,
        max_line_bytes: int,
        on_line: Callable[[bytes | bytearray], None],
        on_too_long: Callable[[bytes], None],
        on_silent: Callable[[], None],
        on_gone: Callable[[], None],
        on_unstuck: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_silent`: the other side will say no more. `on_gone`: it reads no more.
        `on_unstuck`: a line that was refused has ended."""
        self._on_unstuck = on_unstuck
        self._lines = LineBuffer(max_line_bytes)
        self._on_line, self._on_too_long = on_line, on_too_long
        self._on_silent, self._on_gone = on_silent, on_gone
        self.received_bytes = 0
        self._waiting: deque[bytes | None] = deque()
        """What came and was not taken yet; None is the end."""
        self._taking: Iterator[bytes | bytearray | TooLong] | None = None
        """The lines that are left of what is being taken."""
        self._turns: Turns
        self._is_held = False
        """Whether somebody does not keep up with our lines."""
        self._reader: PipeReader | ThreadReader | None = None
        self._writer: PipeWriter | ThreadWriter | None = None

    async def connect(self, source: Any, target: Any) -> None:
        self._turns = Turns.of_this_loop()
        self._writer = await write_pipe(target, self._on_gone)
        self._reader = await read_pipe(source, self._received, self._ended)

    @property
    def is_stuck(self) -> bool:
        """Whether we are inside a refused line: nothing after it can be read."""
        return self._lines.is_skipping

    @property
    def is_paused(self) -> bool:
        return self._reader is not None and self._reader.is_paused

    def pause(self) -> None:
        self._is_held = True
        if self._reader is not None:
            self._reader.pause()

    def resume(self) -> None:
        self._is_held = False
        if self._reader is not None and not self._is_behind:
            self._reader.resume()

    def close(self) -> None:
        self._taking = None
        self._waiting.clear()
        if self._reader is not None:
            self._reader.close()

    @property
    def writer(self) -> PipeWriter | ThreadWriter:
        if self._writer is None:
            raise AssertionError("connect() comes first")
        return self._writer

    def send(self, line: bytes | bytearray) -> None:
        self.writer.write_line(line)

    @property
    def _is_behind(self) -> bool:
        return self._taking is not None or bool(self._waiting)

    def _received(self, data: bytes) -> None:
        self.received_bytes += len(data)
        if self._taking is not None or self._waiting:
            self._waiting.append(data)  # a thread was already reading it
        else:
            self._take(self._lines.feed(data))

    def _take(self, lines: "Iterator[bytes | bytearray | TooLong]") -> None:
        """Take lines while it is our turn. The rest waits, and whoever writes it."""
        was_stuck = self._lines.is_skipping
        for line in lines:
            if isinstance(line, TooLong):
                self._on_too_long(line.beginning)
            else:
                self._on_line(line)
            if self._turns.are_over():
                self._taking = lines
                self._turns.wait(self._go_on)
                if self._reader is not None:
                    self._reader.pause()
                break
        if was_stuck and not self._lines.is_skipping:
            self._on_unstuck()

    def _go_on(self) -> None:
        lines, self._taking = self._taking, None
        if lines is not None:
            self._take(lines)
        while self._waiting and self._taking is None:
            data = self._waiting.popleft()
            if data is None:
                self._ended()
            else:
                self._take(self._lines.feed(data))
        if not self._is_behind and not self._is_held and self._reader is not None:
            self._reader.resume()

    def _ended(self) -> None:
        if self._is_behind:
            self._waiting.append(None)
            return
        last = self._lines.flush()
        if last is not None and not self._lines.is_skipping:
            self._on_line(last)
        self._on_silent()


class Turns:
    """Lets all ports of a loop take lines in turns.

    However much they bring, lines take little of each turn of the loop: there are others who wait for it.
    """

    _known: ClassVar["WeakKeyDictionary[asyncio.AbstractEventLoop, Turns]"] = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._call_soon = loop.call_soon
        self._until = 0.0
        """When the lines of this turn have taken enough; 0 if none came yet."""
        self._waiting: deque[Callable[[], None]] = deque()

    @classmethod
    def of_this_loop(cls) -> "Turns":
        loop = asyncio.get_running_loop()
        found = cls._known.get(loop)
        if found is None:
            found = cls._known[loop] = cls(loop)
        return found

    def are_over(self) -> bool:
        now = time.perf_counter()
        if not self._until:
            self._until = now + _TURN_SECONDS
            self._call_soon(self._turn)
        return now > self._until

    def wait(self, go_on: Callable[[], None]) -> None:
        """Call it in a later turn."""
        self._waiting.append(go_on)

    def _turn(self) -> None:
        """Begin another turn with those who had to wait; the first of them had to for longest."""
        self._until = 0.0
        for _ in range(len(self._waiting)):
            if self._until and self.are_over():
                return
            self._waiting.popleft()()
