"""The log: one line per event on stderr, for people or for programs. stdout belongs to the protocol.

It never blocks what it reports on: where nobody reads stderr, lines are dropped and counted.
"""

import json
import os
import select
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from brimgate.errors import OperatorError
from brimgate.platform import append_private, make_private_dir

if TYPE_CHECKING:
    from logging import Logger

    from brimgate.engine.decision import Decision, Report
    from brimgate.watch.recorder import Recorder

LEVELS: Final = {"debug": 10, "info": 20, "warning": 30, "error": 40}
LogFormat = Literal["text", "json"]
_MAX_LINE_BYTES: Final = 4_096
"""What a writable pipe accepts at once without blocking (PIPE_BUF)."""
_CONTROL: Final = {
    code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if code != 0x09
}
_MAX_BYTES: Final = 1 << 20
_QUIET_SECONDS: Final = 60.0
_MAX_KINDS: Final = 1_000
NAME: Final = "wrapper.log"


class Log:
    def __init__(self, level: str = "info", form: LogFormat = "text", descriptor: int = 2) -> None:
        self._level = LEVELS[level.lower()]
        self.on_level: Callable[[int], object] = lambda _: None
        """Is told of every change of the level."""
        self.form: LogFormat = form
        self._descriptor = descriptor
        self._left_out = 0
        self._seldom = _Repetitions()
        self.recorder: Recorder | None = None
        """Gets every decision too."""
        self._stamp = (-1, "")
        """The last second that was written as text: many lines share one."""

    @property
    def level(self) -> int:
        return self._level

    @level.setter
    def level(self, level: int) -> None:
        self._level = level
        self.on_level(level)

    def tells(self, level: str) -> bool:
        """Return whether lines of this level are written, for callers to whom a line costs something."""
        return LEVELS[level] >= self._level

    def write(self, event: str, fields: dict[str, Any] | None = None, level: str = "info") -> None:
        if LEVELS[level] >= self._level:
            self._send(self._line(event, fields or {}, level))

    def write_seldom(self, event: str, fields: dict[str, Any], level: str = "info") -> None:
        """Log an event that somebody else can cause as often as they like: at its 1st, 2nd, 4th, 8th… time.

        It is counted by its kind and its upstream, anew after a quiet minute.
        """
        if LEVELS[level] < self._level:
            return
        times = self._seldom.count((event, str(fields.get("upstream", ""))))
        if times & (times - 1) == 0:
            self.write(event, fields if times == 1 else fields | {"times": times}, level)

    def decided(self, decision: "Decision") -> None:
        """Log what became of an answer. One that passes is not worth a line but at debug level."""
        level = "debug" if decision.outcome == "passed" else "info"
        if LEVELS[level] >= self._level:
            self.write("decision", decision.fields(), level)
        if self.recorder is not None:
            self.recorder.take(decision)

    def listed(self, upstream: str, measure: "Callable[[], Mapping[str, int]]", *, is_first: bool) -> None:
        """Note that a client was told the tools of an upstream."""
        if self.recorder is not None:
            self.recorder.take_catalog(upstream, measure, is_first=is_first)

    def pass_on(self, source: str, text: str) -> None:
        """Log someone else's line after the name of its source. Control characters cannot forge a line of ours."""
        if self.form == "json":
            self._send(self._line("upstream_stderr", {"upstream": source, "text": text}, "info"))
        else:
            self._send(f"{self._time()} [{source}] {_escaped(text)}")

    def _line(self, event: str, fields: dict[str, Any], level: str) -> str:
        if self.form == "json":
            return json.dumps(
                {"time": self._time(), "level": level.upper(), "event": event} | fields, default=str
            )
        told = " ".join(f"{name}={_readable(value)}" for name, value in fields.items())
        return _escaped(f"{self._time()} brimgate: {level.upper()} {event} {told}".rstrip())

    def _time(self) -> str:
        """Return the time: for programs in UTC, for people on their own clock, with its offset."""
        second = int(time.time())
        if second != self._stamp[0]:
            text = (
                time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
                if self.form == "json"
                else time.strftime("%Y-%m-%d %H:%M:%S %z", time.localtime(second))
            )
            self._stamp = (second, text)
        return self._stamp[1]

    def _send(self, line: str) -> None:
        data = line.encode("utf-8", "replace")
        if len(data) >= _MAX_LINE_BYTES:
            data = data[: _MAX_LINE_BYTES - 8].decode("utf-8", "ignore").encode() + "…".encode()
        if self._left_out and self._can_write():
            left, self._left_out = self._left_out, 0
            told = self._line("lines_left_out", {"lines": left, "hint": "nobody read them"}, "warning")
            data = f"{told}\n".encode() + data
            data = data[: _MAX_LINE_BYTES - 1]
        if not self._can_write():
            self._left_out += 1
            return
        try:
            os.write(self._descriptor, data + b"\n")
        except OSError:
            self._left_out += 1

    def _can_write(self) -> bool:
        if sys.platform == "win32":
            return True  # a pipe cannot be polled there
        try:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLOUT)
            return any(event & select.POLLOUT for _, event in poll.poll(0))
        except OSError:
            return False


class _Repetitions:
    """Counts events by their kind."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], tuple[int, float]] = {}

    def count(self, kind: tuple[str, str]) -> int:
        """Count one more, and return how many of the kind there were."""
        now = time.monotonic()
        times, last = self._counts.get(kind, (0, now))
        if now - last > _QUIET_SECONDS:
            times = 0
        if kind not in self._counts and len(self._counts) >= _MAX_KINDS:
            self._counts.clear()
        self._counts[kind] = (times + 1, now)
        return times + 1


def log_decisions(logger: "Logger") -> "Report":
    """Return what logs decisions as the log of an application does, for those who use us inside of theirs."""

    def report(decision: "Decision") -> None:
        level = LEVELS["debug" if decision.outcome == "passed" else "info"]
        if logger.isEnabledFor(level):
            told = " ".join(f"{name}={value!r}" for name, value in decision.fields().items())
            logger.log(level, "decision %s", told)

    return report


def _escaped(text: str) -> str:
    return text if text.isprintable() else text.translate(_CONTROL)


def _readable(value: Any) -> str:
    text = str(value)
    # A value with a space or a quotation mark in it could pass for several.
    is_one_word = text and " " not in text and "\t" not in text and '"' not in text
    return text if is_one_word else json.dumps(text, ensure_ascii=False)


def note_failure(path: Path, fields: dict[str, Any]) -> None:
    """Append one line of JSON to a private file. When the file is full, rename it to one older file beside it."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = json.dumps({"time": moment} | fields, ensure_ascii=False) + "\n"
    try:
        if not path.parent.exists():
            make_private_dir(path.parent)
        if path.exists() and path.stat().st_size > _MAX_BYTES:
            path.replace(path.with_name(path.name + ".1"))
    except OSError as error:
        raise OperatorError(f"{path}: cannot be written: {error.strerror}") from None
    append_private(path, line.encode("utf-8", "replace"))
