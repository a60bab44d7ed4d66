"""The arms: ways for one large answer to reach a model, under one contract (`reader.Arm`).

What clients do by themselves is done here as their source and documents say it; the peers and Brimgate run for real, each
as a process on stdio in front of `file_server.py`.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from bench.overflow import peers
from bench.overflow.evidence import Means
from bench.overflow.peers import Front, ToolCall
from bench.overflow.question import Question
from bench.overflow.reader import MOST_CALLS, Arm, Step

DIRECT: Final = "direct"
CUT: Final = "plain cut"
SPILL: Final = "client spill, grep"
PLAIN: Final = "brimgate, no query"
OURS: Final = "brimgate"
PEERS: Final = ("fastmcp", "terse-mcp", "headroom-ai", "mcp-compressor", "jmunch-mcp")
NAMES: Final = (DIRECT, CUT, SPILL, *PEERS, PLAIN, OURS)
CUT_BYTES: Final = 48_000
"""Codex: 10,000 tokens, and a fifth more, as bytes divided by four."""
SPILL_CHARACTERS: Final = 50_000
PREVIEW_CHARACTERS: Final = 2_000
SHELL_CHARACTERS: Final = 30_000
_WAIT_SECONDS: Final = 120
"""As the shell of Claude Code."""
_BYTES: Final = {"LC_ALL": "C", "PATH": os.defpath}
"""Some patterns over one long line take minutes in UTF-8."""
_GET: Final[dict[str, Any]] = {
    "name": "get",
    "description": "Get the answer.",
    "inputSchema": {"type": "object", "properties": {}},
}
_GREP: Final[dict[str, Any]] = {
    "name": "grep",
    "description": "Search the file that the answer was saved to. Options of grep such as -c, -n, -i, -oE, -A 5",
    "inputSchema": {
        "type": "object",
        "properties": {"options": {"type": "string"}, "pattern": {"type": "string"}},
        "required": ["pattern"],
    },
}
_READ: Final[dict[str, Any]] = {
    "name": "read",
    "description": f"Read the file that the answer was saved to, {SHELL_CHARACTERS:,} characters at a time",
    "inputSchema": {"type": "object", "properties": {"offset": {"type": "integer"}}},
}
_FOLLOWED: Final = 3
"""Parts of the result of a query or search that are read after its first."""
_OPTIONS: Final = re.compile(r"(?:-[cnioEFwvxABCm0-9]+(?: \d+)?(?: |$))*")


class Direct:
    """The whole answer in the context, which no client does any more with one of this size."""

    version = ""
    needs_shell = False

    def __init__(self, answer: Path, name: str = DIRECT, *, is_bounded: bool = False) -> None:
        self.name, self.is_bounded = name, is_bounded
        self.path = answer
        self.text = answer.read_bytes().decode()

    def definitions_text(self) -> str:
        return ""

    def tools(self) -> list[dict[str, Any]]:
        return [_GET]

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        return self.shown()

    def shown(self) -> str:
        """Give what a model gets of the answer."""
        return self.text

    def first(self) -> Step:
        shown = self.shown()
        return Step("tool", "", (ToolCall("get", {}, shown),), runs=1, is_last=shown == self.text)

    def query(self, sql: str) -> Iterator[Step]:
        yield from ()

    def searches(self, question: Question) -> Iterator[Step]:
        yield from ()

    def rest(self) -> Iterator[Step]:
        """Run the tool again: what was cut off cannot be reached otherwise."""
        yield self.first()


class PlainCut(Direct):
    """Codex: the middle of an answer of MCP is cut out, and no file is kept."""

    def __init__(self, answer: Path) -> None:
        super().__init__(answer, CUT, is_bounded=True)

    def shown(self) -> str:
        data = self.text.encode()
        if len(data) <= CUT_BYTES:
            return self.text
        half = CUT_BYTES // 2
        left = (len(data) - CUT_BYTES) // 4
        head, tail = (part.decode(errors="ignore") for part in (data[:half], data[-half:]))
        return f"{head}…{left} tokens truncated…{tail}"


class Spill(Direct):
    """Claude Code: a long answer is saved to a file, of which the model gets the beginning; it has a shell to search it."""

    needs_shell = True

    def __init__(self, answer: Path) -> None:
        super().__init__(answer, SPILL, is_bounded=True)

    def tools(self) -> list[dict[str, Any]]:
        return [_GET, _GREP, _READ]

    def shown(self) -> str:
        if len(self.text) <= SPILL_CHARACTERS:
            return self.text
        note = f"Output too large ({len(self.text):,} characters). Full output saved to: {self.path.name}"
        return f"{note}\n\nPreview (first 2KB):\n{self.text[:PREVIEW_CHARACTERS]}\n..."

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        if name == "grep":
            return self.grep(str(arguments.get("options", "")), str(arguments.get("pattern", "")))
        if name == "read":
            return self.part(max(0, int(arguments.get("offset", 0))))
        return self.shown()

    def grep(self, options: str, pattern: str) -> str:
        """Run the real grep over the file, and only over that one."""
        if not _OPTIONS.fullmatch(options.strip()):
            return "grep: only -c -n -i -o -E -F -w -v -x -m -A -B -C"
        command = ["grep", *options.split(), "-e", pattern, str(self.path)]
        try:
            out = subprocess.run(command, capture_output=True, check=False, env=_BYTES, timeout=_WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            return "Command timed out"
        return (out.stdout + out.stderr).decode(errors="replace")[:SHELL_CHARACTERS]

    def part(self, offset: int) -> str:
        return self.text[offset : offset + SHELL_CHARACTERS]

    def searches(self, question: Question) -> Iterator[Step]:
        for written in question.greps:
            *options, pattern = shlex.split(written)
            reply = self.grep(" ".join(options), pattern)
            yield Step("search", written, (_shell(f"grep {written} {self.path.name}", reply),))

    def rest(self) -> Iterator[Step]:
        """Read the file as its shell gives it: 30,000 characters at a time."""
        for offset in range(0, len(self.text), SHELL_CHARACTERS):
            command = f"tail -c +{offset + 1} {self.path.name} | head -c {SHELL_CHARACTERS}"
            is_last = offset + SHELL_CHARACTERS >= len(self.text)
            yield Step("read", "", (_shell(command, self.part(offset)),), is_last=is_last)


def _shell(command: str, reply: str) -> ToolCall:
    return ToolCall("bash", {"command": command}, reply)


class Gate(Front):
    """Brimgate as a client starts it: `brimgate run -- COMMAND`, with nothing configured."""

    def __init__(self, answer: Path, name: str) -> None:
        upstream = [sys.executable, str(peers.HERE / "file_server.py"), str(answer.absolute())]
        command = [str(Path(sys.executable).parent / "brimgate"), "run", "--", *upstream]
        super().__init__(name, version("brimgate"), True, command, peers.ALONE)

    def search(self, words: str) -> str | None:
        return self.read(self.first(), search=words)

    def count(self, words: str) -> str | None:
        return self.read(self.first(), search=words, format="count")

    def aggregate(self, sql_like: str) -> str | None:
        return self.read(self.first(), query=sql_like) if self.name == OURS else None

    def has_more(self, first: str) -> bool:
        return 'brimgate_read(cursor="' in first.partition("\n")[0]

    def follow(self, reply: str) -> str | None:
        return self.read(reply)

    def parts(self, first: str) -> Iterator[str]:
        reply: str | None = first
        while (reply := self.read(reply)) is not None:
            yield reply

    def read(self, reply: str, **asked: str) -> str | None:
        """Read on by the cursor in the notice of a reply; None where there is none."""
        found = re.search(r'brimgate_read\(cursor="([^"]+)"', reply.partition("\n")[0])
        return self.call("brimgate_read", {"cursor": found[1]} | asked) if found else None


class Running:
    """A process in front of the tool, asked as the contract wants it; what it said before is not asked again."""

    needs_shell = False

    def __init__(self, front: Front, counter: Path) -> None:
        self.front = front
        self.name, self.version, self.is_bounded = front.name, front.version, front.is_bounded
        self._counter = counter
        self._first: Step | None = None
        self._rest: list[Step] = []
        self._is_read = False

    def definitions_text(self) -> str:
        return self.front.definitions_text()

    def tools(self) -> list[dict[str, Any]]:
        return self.front.tools()

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        return self.front.call(name, arguments)

    def first(self) -> Step:
        if self._first is None:
            steps = [*self._steps("tool", "", self.front.first)]
            self._first = replace(steps[0], is_last=not self.front.has_more(steps[0].reply))
        return self._first

    def query(self, sql: str) -> Iterator[Step]:
        yield from self._steps("query", sql, lambda: self.front.aggregate(sql))

    def searches(self, question: Question) -> Iterator[Step]:
        search = self.front.count if question.kind == "count" else self.front.search
        for words in question.searches:
            yield from self._steps("search", words, lambda words=words: search(words))

    def rest(self) -> Iterator[Step]:
        """Read on, or run the tool again if there is no other way."""
        while not self._is_read and len(self._rest) <= MOST_CALLS:
            following = next(self._steps("read", "", self.front.next), None)
            self._is_read = following is None
            if following is not None:
                self._rest.append(following)
            elif self._rest:
                self._rest[-1] = replace(self._rest[-1], is_last=True)
        yield from self._rest or [self.first()]

    def _steps(self, means: Means, asked: str, run: Callable[[], str | None]) -> Iterator[Step]:
        """Yield what was asked, and what follows it in the same result."""
        for _ in range(1 + _FOLLOWED):
            self.front.log.clear()
            before = self._counter.stat().st_size
            reply = run()
            if reply is None:
                return
            yield Step(means, asked, tuple(self.front.log), self._counter.stat().st_size - before)
            if means not in ("query", "search"):
                return
            run = partial(self.front.follow, reply)


def arms(text: str, names: Collection[str] = (), python: Path = peers.PYTHON) -> Iterator[Arm]:
    """Yield the arms with one answer behind each of them; ends the process of each after use."""
    with tempfile.TemporaryDirectory() as directory:
        answer, counter = Path(directory, "answer.txt"), Path(directory, "answer.txt.calls")
        answer.write_bytes(text.encode())
        counter.touch()
        wanted = names or NAMES
        made = {DIRECT: Direct, CUT: PlainCut, SPILL: Spill}
        yield from (make(answer) for name, make in made.items() if name in wanted)
        chosen = [name for name in PEERS if name in wanted]
        for front in peers.peers(python, answer, chosen) if chosen else ():
            yield Running(front, counter)
        for name in (PLAIN, OURS):
            if name in wanted:
                gate = Gate(answer, name)
                try:
                    yield Running(gate, counter)
                finally:
                    gate.close()
