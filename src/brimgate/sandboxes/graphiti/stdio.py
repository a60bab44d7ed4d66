"""The graph on stdin and stdout. A slow call waits in a thread of its own, so that others can be answered meanwhile."""

import threading
from collections.abc import Iterable
from typing import Any, BinaryIO

from brimgate.sandboxes.graphiti.delays import Call, Pace, called_off, message_of
from brimgate.testing.mcp_session import FakeServer, FakeSession


def serve_lines(server: FakeServer, pace: Pace, lines: Iterable[bytes], out: BinaryIO) -> None:
    """Answer until the lines end; then cancel what still waits."""
    serving = _Serving(FakeSession(server), pace, out)
    for line in lines:
        if line.strip():
            serving.hear(line)
    serving.stop()


class _Serving:
    def __init__(self, session: FakeSession, pace: Pace, out: BinaryIO) -> None:
        self._session, self._pace, self._out = session, pace, out
        self._lock = threading.Lock()
        self._waiting: dict[Any, tuple[threading.Thread, threading.Event]] = {}

    def hear(self, line: bytes) -> None:
        message = message_of(line) if self._pace.delay_seconds else {}
        if call := self._pace.slowed(message):
            off = threading.Event()
            thread = threading.Thread(target=self._answer_slowly, args=(line, call, off))
            self._waiting[call.number] = thread, off
            thread.start()
            return
        if waiting := self._waiting.get(called_off(message)):
            waiting[1].set()
        self._write(self._session.answer(line))

    def stop(self) -> None:
        for thread, off in list(self._waiting.values()):
            off.set()
            thread.join()

    def _answer_slowly(self, line: bytes, call: Call, off: threading.Event) -> None:
        for seconds, done in self._pace.steps():
            if off.wait(seconds):
                break
            self._write(self._pace.progress(call, done))
        else:
            self._write(self._session.answer(line))
        self._waiting.pop(call.number, None)

    def _write(self, data: bytes | None) -> None:
        if data:
            with self._lock:
                self._out.write(data)
                self._out.flush()
