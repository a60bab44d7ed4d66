"""Other people's tools that shrink or hold large answers of MCP tools, each run for real in front of one answer.

`python -m bench.overflow.peers ANSWER [PYTHON]` prints what a model gets from each. PYTHON has what is in
requirements/overflow-peers.txt. Every peer is a process on stdio in front of `file_server.py`; the client is that of the
official SDK. A peer has a home of its own, which is deleted, and no network: its proxies are ports that nobody listens at,
and what it would fetch or report is switched off. Where it takes less than was asked, it is asked the nearest thing.

context-mode (npm) is left out: it stands in front of no server, the model hands it what to keep, and it runs npm at start.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, cast

from anyio.from_thread import start_blocking_portal
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from bench.overflow import munch_calls

HERE: Final = Path(__file__).resolve().parent
PYTHON: Final = HERE.parents[1] / ".venv-overflow-peers" / "bin" / "python"
LIMIT_BYTES: Final = 20_000
"""What FastMCP's middleware is told to keep to, whose default of a megabyte is no help to a model; mcp-compressor's own
default is the same number of characters."""
SHRINKING: Final = ("--shrinkfit", "--server-name", "files")
_WAIT_SECONDS: Final = 120
_NOWHERE: Final = "http://127.0.0.1:9"
ALONE: Final = {
    "ALL_PROXY": _NOWHERE,
    "HTTPS_PROXY": _NOWHERE,
    "HTTP_PROXY": _NOWHERE,
    "DO_NOT_TRACK": "1",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "HEADROOM_BEACON": "off",
    "HEADROOM_OFFLINE": "1",
    "HEADROOM_TELEMETRY": "off",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_OFFLINE": "1",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OTEL_SDK_DISABLED": "true",
}
_INSTALLED: Final = """
import importlib.metadata, json, sysconfig
found = {d.metadata["Name"].lower(): d.version for d in importlib.metadata.distributions()}
print(json.dumps([sysconfig.get_path("purelib"), found]))
"""


class ToolCall(NamedTuple):
    """One call of a tool, and what the model got."""

    name: str
    arguments: dict[str, Any]
    reply: str
    is_error: bool = False


class Peer(Protocol):
    name: str
    version: str
    is_bounded: bool
    """Whether each of its replies is bounded whatever the answer: the first, and all by which it reads on."""

    def definitions_text(self) -> str:
        """Give the JSON of the tool definitions that it adds, which every session pays for; empty if it adds none."""
        ...

    def first(self) -> str:
        """Give what the model gets from the call of the tool."""
        ...

    def search(self, words: str) -> str | None:
        """Search by its own tool, for words or a /pattern/; None if it has none."""
        ...

    def count(self, words: str) -> str | None:
        """Search so that it tells how many it found."""
        ...

    def aggregate(self, sql_like: str) -> str | None:
        """Ask for figures over the whole by its own tool; None if it has none, or none that can be asked this."""
        ...

    def has_more(self, first: str) -> bool:
        """Tell whether there is more to read than the first reply."""
        ...

    def follow(self, reply: str) -> str | None:
        """Read on in the result of a search or a query; None after its end, and if that cannot be."""
        ...

    def next(self) -> str | None:
        """Read the next part; None after the last, and if it has no way to read on."""
        ...

    def close(self) -> None:
        """End its processes; a second time does nothing."""
        ...


class Front:
    """A peer that has nothing to read on with."""

    tool = "get"
    arguments: dict[str, Any] = {}  # noqa: RUF012 - never changed

    def __init__(
        self, name: str, version: str, is_bounded: bool, command: Sequence[str], environment: dict[str, str]
    ) -> None:
        self.name, self.version, self.is_bounded = name, version, is_bounded
        self.log: list[ToolCall] = []
        self._first: str | None = None
        self._rest: Iterator[str] | None = None
        with ExitStack() as stack:
            home = stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True))
            errors = stack.enter_context((Path(home) / "stderr").open("w", encoding="utf-8"))
            alone = environment | {"HOME": home}
            started = StdioServerParameters(command=command[0], args=[*command[1:]], env=alone, cwd=home)
            client = Client(stdio_client(started, errors), mode="legacy", read_timeout_seconds=_WAIT_SECONDS)
            self._portal = stack.enter_context(start_blocking_portal())
            self._client = stack.enter_context(self._portal.wrap_async_context_manager(client))
            self._tools = self._portal.call(self._client.list_tools).tools
            self._stack = stack.pop_all()

    def definitions_text(self) -> str:
        """Give the definitions as a client gives them to a model: name, description and parameters, on one line."""
        added = [tool for tool in self.tools() if tool["name"] != "get"]
        return json.dumps(added, ensure_ascii=False) if added else ""

    def tools(self) -> list[dict[str, Any]]:
        """Give all tools that a client is offered."""
        fields = {"name", "description", "input_schema"}
        return [tool.model_dump(mode="json", by_alias=True, include=fields) for tool in self._tools]

    def first(self) -> str:
        if self._first is None:
            self._first = self.call(self.tool, self.arguments)
        return self._first

    def search(self, words: str) -> str | None:
        return None

    def count(self, words: str) -> str | None:
        return self.search(words)

    def aggregate(self, sql_like: str) -> str | None:
        return None

    def has_more(self, first: str) -> bool:
        """Tell whether there is more to read than the first reply."""
        return False

    def follow(self, reply: str) -> str | None:
        """Read on in the result of a search or a query; None after its end, and if that cannot be."""
        return None

    def next(self) -> str | None:
        if self._rest is None:
            self._rest = self.parts(self.first())
        return next(self._rest, None)

    def close(self) -> None:
        self._stack.close()

    def parts(self, first: str) -> Iterator[str]:
        """Yield what follows the first reply."""
        yield from ()

    def call(self, tool: str, arguments: dict[str, Any]) -> str:
        result = self._portal.call(partial(self._client.call_tool, tool, arguments))
        text = "\n".join(block.text for block in result.content if block.type == "text")
        self.log.append(ToolCall(tool, arguments, text, bool(result.is_error)))
        return text


class Compressor(Front):
    """mcp-compressor: two tools take the place of all; `full` gives the whole answer at once."""

    tool = "files_invoke_tool"
    arguments: dict[str, Any] = {"tool_name": "get", "tool_input": {}}  # noqa: RUF012 - never changed

    def has_more(self, first: str) -> bool:
        return '"truncation"' in first

    def parts(self, first: str) -> Iterator[str]:
        if self.has_more(first):
            yield self.call(self.tool, self.arguments | {"full": True})


class Headroom(Front):
    """headroom-ai: a marker where it left something out, and a tool that gives back all of that at once."""

    def has_more(self, first: str) -> bool:
        return bool(_keys(first))

    def parts(self, first: str) -> Iterator[str]:
        for key in _keys(first):
            yield self.call("headroom_retrieve", {"hash": key})


def _keys(first: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"(?:\bhash=|<<ccr:)([0-9a-f]{6,})", first)))


class Munch(Front):
    """jmunch-mcp: a handle instead of the answer, and tools that take it."""

    def search(self, words: str) -> str | None:
        """Search for a part of a line or value. Only a text takes patterns."""
        held = self._held()
        if held is None:
            return None
        pattern = words[1:-1] if len(words) > 2 and words[0] == words[-1] == "/" else ""
        query = (f"re:{pattern}" if held["kind"] == "text" else pattern) if pattern else words
        return self.call("jmunch_search", {"handle": held["handle"], "query": query})

    def aggregate(self, sql_like: str) -> str | None:
        """Ask a table by as many calls as it takes; the first reply tells that other kinds take none."""
        held = self._held()
        if held is None or held["kind"] != "tabular":
            return None
        calls = munch_calls.calls(sql_like)
        replies = [self.call(tool, {"handle": held["handle"]} | arguments) for tool, arguments in calls]
        return "\n".join(replies) if replies else None

    def has_more(self, first: str) -> bool:
        return self._held() is not None

    def parts(self, first: str) -> Iterator[str]:
        if held := self._held():
            for selector in munch_calls.selectors(held["kind"], held["summary"]):
                yield self.call("jmunch_slice", {"handle": held["handle"], "selector": selector})

    def _held(self) -> dict[str, Any] | None:
        """Give what the first reply tells of the handle; None if the answer came as it is."""
        try:
            found: Any = json.loads(self.first())["result"]
        except (ValueError, TypeError, KeyError):
            return None
        return cast("dict[str, Any]", found) if isinstance(found, dict) and "handle" in found else None


@cache
def _environment(python: Path) -> tuple[str, dict[str, str]]:
    """Tell where the packages of an environment lie, and which it has; none if it cannot be asked."""
    script = [python, "-c", _INSTALLED]
    try:
        out = subprocess.run(script, capture_output=True, text=True, check=True, timeout=_WAIT_SECONDS)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"peers: skipped, {error}")
        return "", {}
    library, installed = json.loads(out.stdout)
    return library, installed


@cache
def _say(skipped: str) -> None:
    """Print a sentence once, not for each answer."""
    print(skipped)


def _commands(
    python: Path, answer: Path, directory: Path
) -> Iterator[tuple[str, bool, type[Front], list[str]]]:
    """Yield each peer: its name, whether it is bounded, and what starts it in front of the answer."""
    scripts = python.absolute().parent  # not resolved: the interpreter of an environment is a link
    upstream = [str(scripts / python.name), str(HERE / "file_server.py"), str(answer.absolute())]
    munch = directory / "files.json"
    declared = {"upstream": {"command": upstream[0], "args": upstream[1:]}}
    munch.write_text(json.dumps(declared), encoding="utf-8")
    limiting = [upstream[0], str(HERE / "limiting_proxy.py"), str(LIMIT_BYTES), *upstream]
    hosting = [upstream[0], str(HERE / "headroom_host.py"), *upstream]
    yield "fastmcp", True, Front, limiting
    yield "terse-mcp", False, Front, [f"{scripts}/terse", "proxy", "--no-stats", "--", *upstream]
    yield "headroom-ai", False, Headroom, hosting
    yield "mcp-compressor", False, Compressor, [f"{scripts}/mcp-compressor", *SHRINKING, "--", *upstream]
    yield "jmunch-mcp", False, Munch, [f"{scripts}/jmunch-mcp", "--config", str(munch)]


def peers(python: Path, answer: Path, names: Collection[str] = ()) -> Iterator[Front]:
    """Yield the peers that are installed, each with one answer behind it, and print which are not; ends each after use."""
    library, installed = _environment(python)
    if not library:
        return
    # tiktoken would fetch its vocabularies; litellm brings the same files.
    vocabularies = Path(library, "litellm", "litellm_core_utils", "tokenizers")
    environment = ALONE | {"TIKTOKEN_CACHE_DIR": str(vocabularies)}
    with tempfile.TemporaryDirectory() as directory:
        for name, is_bounded, make, command in _commands(python, answer, Path(directory)):
            if names and name not in names:
                continue
            if name not in installed:
                _say(f"{name}: skipped, it is not installed")
                continue
            try:
                peer = make(name, installed[name], is_bounded, command, environment)
            except (OSError, MCPError, ExceptionGroup) as error:
                _say(f"{name}: skipped, it did not start: {error}")
                continue
            try:
                yield peer
            finally:
                peer.close()


def main() -> int:
    answer, *rest = (Path(argument) for argument in sys.argv[1:])
    for peer in peers(rest[0] if rest else PYTHON, answer):
        print(f"\n{peer.name} {peer.version}{', bounded' if peer.is_bounded else ''}")
        for take in (peer.first, peer.next, peer.definitions_text):
            reply = take() or ""
            print(f"  {take.__name__}: {len(reply):,} characters {reply[:200]!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
