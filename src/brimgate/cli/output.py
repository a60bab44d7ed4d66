"""Print replies, for people and for programs."""

import json
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TextIO

from brimgate.errors import OperatorError

if TYPE_CHECKING:
    from brimgate.config.declarations import Telemetry
    from brimgate.engine.decision import Decision
    from brimgate.engine.replies.reply import Reply

READ_COMMAND: Final = "brimgate read"
"""The command for reading on in a shell."""
_CONTROL: Final = {
    code: "\ufffd" for code in (*range(0x20), 0x7F, *range(0x80, 0xA0)) if code not in (0x09, 0x0A)
}

_STEERING: Final = re.compile(rb"\x7f|\xc2[\x80-\x9f]")
"""Characters that control a terminal and may occur unescaped in JSON: DEL, and the control characters above ASCII."""


def complain(message: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError):  # a full disk, for example: our message must not cost the answer
            sys.stderr.write(f"brimgate: {message}\n")


def report(decision: "Decision", level: str | None = None, telemetry: "Telemetry | None" = None) -> None:
    """Record what became of an answer. Log it if the level of the log is so low: most people only want the answer."""
    from brimgate.watch.log import LEVELS, Log
    from brimgate.watch.recorder import record_now

    level = level or os.environ.get("BRIMGATE_LOG_LEVEL", "").lower()
    is_json = os.environ.get("BRIMGATE_LOG_FORMAT", "").lower() == "json"
    log = Log(level if level in LEVELS else "warning", "json" if is_json else "text")
    log.decided(decision)
    record_now(decision, telemetry or _telemetry(), log.write)


def _telemetry() -> "Telemetry":
    from brimgate.cli.gateway import environment_config
    from brimgate.config.declarations import Telemetry

    try:
        return environment_config().telemetry
    except OperatorError:  # whoever needs the configuration has said so
        return Telemetry(enabled=False)


def printable(text: str) -> str:
    """Make a server's text safe for one line on a terminal."""
    return text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)


def short(text: str, most: int = 60) -> str:
    return printable(text if len(text) <= most else f"{text[:most]}…")


def for_terminal(text: str, stream: TextIO | None) -> str:
    """Make a text safe for a terminal: it cannot move the cursor or change colours. A program gets it unchanged."""
    return text.translate(_CONTROL) if stream is not None and stream.isatty() else text


def write_json(data: bytes) -> None:
    """Write JSON unchanged; on a terminal, replace control characters by equivalent escapes."""
    if sys.stdout.isatty():
        data = _STEERING.sub(_escaped, data)
    write_bytes(data)


def _escaped(found: "re.Match[bytes]") -> bytes:
    return b"\\u%04x" % found[0][-1]


def print_reply(reply: "Reply", *, as_json: bool) -> None:
    if as_json:
        print_json({"reply": reply.text, "result": reply.record, "payload": reply.payload})
    else:
        write_text(for_terminal(reply.text, sys.stdout) + "\n")


def print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=True) + "\n")


def write_text(text: str) -> None:
    """Write text. Bytes that were not UTF-8 come out as they came in."""
    write_bytes(text.encode("utf-8", "surrogateescape"))


def write_bytes(data: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


class ProgressBar:
    """A progress bar on stderr, only where someone can see it."""

    def __init__(self, total: int) -> None:
        self._total = max(total, 1)
        self._shown = -1
        self._live = sys.stderr is not None and sys.stderr.isatty()

    def show(self, done: int, note: str) -> None:
        share = min(done / self._total, 1.0)
        step = int(share * 100)
        if self._live and step != self._shown:
            self._shown = step
            filled = int(share * 30)
            sys.stderr.write(f"\r[{'#' * filled}{'.' * (30 - filled)}] {step:3d} % {note}")
            sys.stderr.flush()

    def end(self) -> None:
        if self._live:
            sys.stderr.write("\n")
