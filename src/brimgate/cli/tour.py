"""The tour of `brimgate demo`: the stage that it is shown on, and the client that walks its answers."""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import textwrap
import unicodedata
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from brimgate.cli.output import printable, write_text
from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.rebuild import Rebuilder, next_on_walk
from brimgate.engine.replies.reply import Reply
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import UpstreamLost
from brimgate.relay.protocol.client import INITIALIZE

_PAUSE_SECONDS: Final = 3.5
"""The pause after each of seven steps: with the work itself, about thirty seconds."""
_SIZE: Final = (100, 30)
"""The size without a terminal."""
_NARROWEST: Final = 20
_MARK: Final = "│ "
"""Precedes what others wrote, so that it cannot be mistaken for our words."""
_TELLING: Final = re.compile(r"\d[\d,]*(?: tokens|%)|\bNOT the same\b|\bexact\b")
_WORD: Final = re.compile(r"[^ ,]*[ ,]*")
_BOLD, _COLOUR, _PLAIN = "\x1b[1m", "\x1b[36m", "\x1b[0m"
_QUITTING: Final = (b"q", b"Q", b"\x04")
Json = dict[str, Any]


class Quit(Exception):
    """The reader has seen enough."""


class Stage:
    """A context in which the terminal delivers single keys. It is restored afterwards."""

    def __init__(self, *, is_fast: bool, quitting: str) -> None:
        """Create it. `quitting` says what `q` does, in a few words."""
        is_terminal = sys.stdout.isatty()
        self._is_paced = is_terminal and sys.stdin is not None and sys.stdin.isatty() and not is_fast
        self._is_coloured = (
            is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        )
        self._hint = f"any key: go on · q: {quitting}"
        self._modes: list[Any] | None = None

    def __enter__(self) -> "Stage":
        if self._is_paced and sys.platform != "win32":
            import termios
            import tty

            self._modes = termios.tcgetattr(0)
            tty.setcbreak(0)  # Ctrl-C still works
        return self

    def __exit__(self, *_: object) -> None:
        if self._modes is not None and sys.platform != "win32":
            import termios

            termios.tcsetattr(0, termios.TCSADRAIN, self._modes)
            self._modes = None

    @property
    def width(self) -> int:
        """Read each time, because a window may be resized.

        The last column stays free, because some terminals wrap there.
        """
        return max(shutil.get_terminal_size(_SIZE).columns - 1, _NARROWEST)

    def head(self, text: str) -> None:
        lines = textwrap.wrap(text, self.width)
        write_text("\n" + "".join(f"{self._in(_BOLD, line)}\n" for line in lines) + "\n")

    def say(self, text: str) -> None:
        """Print our own words: wrapped, with important numbers in colour."""
        for line in textwrap.wrap(text, self.width, break_on_hyphens=False):
            write_text(self._coloured(line.replace("\u00a0", " ")) + "\n")

    def row(self, line: str) -> None:
        """Print a line of a table: cut, not wrapped."""
        write_text(self._coloured(cut(line, self.width)) + "\n")

    def quote(self, lines: Sequence[str], most: int) -> None:
        """Quote the first lines of someone else's text, each as far as it fits."""
        for line in lines[:most]:
            write_text(cut(_MARK + printable(line), self.width) + "\n")
        if len(lines) > most:
            write_text(f"{_MARK}… {len(lines) - most:,} more lines\n")

    def quote_whole(self, line: str) -> None:
        """Quote someone else's line in full, over several lines."""
        for piece in broken(printable(line), self.width - len(_MARK)):
            write_text(f"{_MARK}{piece}\n")

    def paste(self, text: str) -> None:
        """Print text to be copied, unchanged whatever the width."""
        write_text(f"{text}\n")

    def gap(self) -> None:
        write_text("\n")

    def pause(self) -> None:
        if not self._is_paced:
            return
        hint = cut(self._hint, self.width)
        _talk(hint)
        try:
            key = _key(_PAUSE_SECONDS)
        finally:
            _talk(f"\r{' ' * len(hint)}\r")
        if key in _QUITTING:
            raise Quit

    def _coloured(self, line: str) -> str:
        return _TELLING.sub(lambda found: self._in(_COLOUR, found[0]), line)

    def _in(self, style: str, text: str) -> str:
        return f"{style}{text}{_PLAIN}" if self._is_coloured else text


def _talk(text: str) -> None:
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(text)
        sys.stderr.flush()


def _key(seconds: float) -> bytes:
    """Return the first byte of what is typed: a key such as an arrow has several. Empty if nobody typed in time."""
    if sys.platform == "win32":
        import time

        time.sleep(seconds)  # a console is not a file that one could wait for
        return b""
    ready, _, _ = select.select([0], [], [], seconds)
    return os.read(0, 64)[:1] if ready else b""


def pieces(text: str, width: int) -> list[str]:
    """Split the text into lines of at most `width` cells: Han and Kana take two, accents none."""
    lines, used = [""], 0
    for one in text:
        cells = 0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1
        if used + cells > width:
            lines.append("")
            used = 0
        lines[-1] += one
        used += cells
    return lines


def broken(text: str, width: int) -> list[str]:
    """Split between words and members where possible."""
    lines = [""]
    for word in _WORD.findall(text):
        tried = pieces(lines[-1] + word, width)
        lines[-1:] = tried if len(tried) == 1 else [lines[-1], *pieces(word, width)] if lines[-1] else tried
    return lines


def cut(text: str, width: int) -> str:
    # This many characters are enough even if each takes one cell; most lines are far longer than a terminal.
    first, *rest = pieces(text[: 4 * width], width)
    return f"{pieces(first, width - 1)[0]}…" if rest or len(text) > 4 * width else first


class Client:
    """A minimal client: one call at a time, in raw lines."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._calls = 0

    def call(self, tool: str, arguments: Json) -> "DemoAnswer":
        return DemoAnswer(self.request("tools/call", {"name": tool, "arguments": arguments}))

    def request(self, method: str, params: Json) -> Json:
        self._calls += 1
        self.send({"jsonrpc": "2.0", "id": self._calls, "method": method, "params": params})
        line = self._process.stdout.readline() if self._process.stdout else b""
        answer: Json = json.loads(line) if line else {}
        if "result" not in answer:
            raise UpstreamLost(f"the server of the tour did not answer {method}: {answer or 'it has ended'}")
        return answer["result"]

    def send(self, message: Json) -> None:
        if self._process.stdin:
            # The missing answer reports that the server is gone; raised here it would look as if nobody read
            # our output.
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
                self._process.stdin.flush()


@contextmanager
def connect(command: Sequence[str], environment: Mapping[str, str]) -> Generator[Client]:
    with subprocess.Popen(  # noqa: S603  # our own servers
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is for us; they end when their input does
    ) as process:
        client = Client(process)
        try:
            client.request("initialize", INITIALIZE)
            client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            yield client
        finally:
            if process.stdin:
                with suppress(BrokenPipeError):
                    process.stdin.close()


@dataclass(frozen=True, slots=True)
class DemoAnswer:
    """The result of a call, as a client gets it."""

    result: Json

    @property
    def texts(self) -> list[str]:
        return [block["text"] for block in self.result["content"]]

    @property
    def lines(self) -> list[str]:
        return "\n".join(self.texts).split("\n")

    @property
    def tokens(self) -> int:
        """The tokens of the text alone: a repetition as structured data is not counted twice."""
        return Estimator().count("\n".join(self.texts))

    @property
    def record(self) -> Json:
        """Brimgate's record; empty if the answer passed unchanged."""
        return self.result.get("_meta", {}).get("brimgate/result", {})

    @property
    def remarks(self) -> list[str]:
        """What precedes the content: highlights, and the place."""
        return self.texts[1][: self.record["contentFrom"]].split("\n") if self.record else []


@dataclass(frozen=True, slots=True)
class FinishedWalk:
    """An answer read to its end."""

    tokens: list[int]
    """The tokens of each reply."""
    rebuilt: bytes
    """Rebuilt from the replies alone."""

    def gives(self, original: bytes) -> bool:
        if self.rebuilt == original:
            return True
        return Document(original).is_json and self.rebuilt == jsontext.canonical(original)


def walk(client: Client, first: DemoAnswer) -> FinishedWalk:
    if not first.record:
        return FinishedWalk([first.tokens], "\n".join(first.texts).encode())
    rebuilder, answer, tokens = Rebuilder(), first, [first.tokens]
    while True:
        reply = Reply.from_wire(answer.texts[0], answer.texts[1], answer.record)
        rebuilder.feed(reply)
        cursor = next_on_walk(reply)
        if not cursor:
            return FinishedWalk(tokens, rebuilder.answer())
        answer = client.call("brimgate_read", {"cursor": cursor})
        tokens.append(answer.tokens)
