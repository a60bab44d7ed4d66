"""Count the walks of an answer: run each for real, and note which functions of the product are called.

    .venv/bin/python tools/walks.py                 the table; `--check` fails if a walk misses a bar
    .venv/bin/python tools/walks.py --list small    the functions of one walk, in the order of their first call

Each walk runs in a process of its own, which is a real `brimgate run`, `serve` or `call`: a thread of it is the
client. A call of the same tool, but with another answer, comes first: what is imported late, or resolved once for a
tool, is not part of a walk. A walk begins with the bytes of the request and ends when the answer is written; start and
handshake are not counted. In a shell it begins when the call is sent; `command` is all that the command does.

functions         distinct functions that were called; comprehensions and lambdas belong to the function around them
files             distinct modules these are in
changes of room   how often a function is called whose room is not that of the call before (resuming a coroutine is
                  no call). Rooms are the folders below `brimgate`; its own modules are one room, `brimgate`
distinct changes  the same, each pair of functions counted once

Sandboxes and `testing` stand for the server and its system, and are not counted.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

_ROOT: Final = Path(__file__).resolve().parents[1]
_PRODUCT: Final = str(_ROOT / "src" / "brimgate") + os.sep
_NOT_COUNTED: Final = ("sandboxes", "testing")
_SERVER: Final = ("--", sys.executable, __file__, "--server")
_TOOL: Final = "list_bookings"
_WRITES: Final = frozenset(("write", "writelines", "send", "sendall"))
"""Functions in C that write to a pipe or socket."""
_QUIET_SECONDS: Final = 0.3
"""So long nothing is called after the answer: the walk is over."""
_PATIENCE_SECONDS: Final = 60.0


class Function(NamedTuple):
    module: str
    """Its path below the package, without `.py`."""
    name: str

    @property
    def room(self) -> str:
        first, inside, _ = self.module.partition("/")
        return first if inside else "brimgate"

    def __str__(self) -> str:
        return f"{self.module}:{self.name}"


class Recorder:
    """Writes down which functions of the product are called, in every thread that is started after it."""

    def __init__(self) -> None:
        self.calls: list[Function] = []
        self._is_on = False
        self._written = 0
        """How many calls there were when something was last written."""
        self._known: dict[CodeType, Function | None] = {}
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Record what is called within, up to the last byte that is written."""
        time.sleep(_QUIET_SECONDS)  # the call before may not be quite over
        self._is_on = True
        yield
        seen = -1
        while seen != len(self.calls):
            seen = len(self.calls)
            time.sleep(_QUIET_SECONDS)
        self._is_on = False
        del self.calls[self._written :]

    def begin_at(self, function: Function) -> None:
        del self.calls[: self.calls.index(function)]

    def _note(self, frame: FrameType, event: str, called: Any) -> None:
        if not self._is_on:
            return
        if event == "call" and not _resumes(frame) and (function := self._function_of(frame.f_code)):
            self.calls.append(function)
        elif event == "c_call" and called.__name__ in _WRITES:
            self._written = len(self.calls)

    def _function_of(self, code: CodeType) -> Function | None:
        if code not in self._known:
            self._known[code] = _function_of(code)
        return self._known[code]


def _resumes(frame: FrameType) -> bool:
    """Whether a coroutine or generator goes on: the argument of its RESUME says after what."""
    return frame.f_lasti >= 0 and bool(frame.f_code.co_code[frame.f_lasti + 1] & 3)


def _function_of(code: CodeType) -> Function | None:
    """Return whose code it is, or None if that is not counted."""
    path = code.co_filename
    if (
        not path.startswith(_PRODUCT) or not code.co_flags & CO_OPTIMIZED
    ):  # not: the body of a module or class
        return None
    module = path.removeprefix(_PRODUCT).removesuffix(".py").replace(os.sep, "/")
    if module.partition("/")[0] in _NOT_COUNTED:
        return None
    name = code.co_qualname.partition(".<locals>.<")[0]
    return Function(module, name)


# The walks. Each has `brimgate` run in the main thread, and a client in another.


class StdioClient:
    """A client at the other end of our own stdin and stdout."""

    def __init__(self) -> None:
        ours, self._sends = os.pipe()
        hears, theirs = os.pipe()
        os.dup2(ours, 0)
        os.dup2(theirs, 1)
        self._hears = os.fdopen(hears, "rb")
        self._last = 0

    def greet(self) -> None:
        self.ask("initialize", _greeting())
        self._send({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> Any:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        return json.loads(self._hears.readline())["result"]

    def _send(self, message: dict[str, Any]) -> None:
        os.write(self._sends, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def end(self) -> None:
        os.close(self._sends)


def _greeting() -> dict[str, Any]:
    return {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "walks", "version": "1"},
    }


def _over_stdio(talk: Callable[[StdioClient], None]) -> None:
    client = StdioClient()

    def converse() -> None:
        try:
            client.greet()
            talk(client)
        finally:
            client.end()

    _run(["run", *_SERVER], converse)


def small(recorder: Recorder) -> None:
    _over_stdio(lambda client: _second_call(client, recorder, 1_100, 1_000))


def large(recorder: Recorder) -> None:
    _over_stdio(lambda client: _second_call(client, recorder, 90_000, 100_000))


def _second_call(client: StdioClient, recorder: Recorder, first: int, second: int) -> None:
    client.call(_TOOL, size=first)
    with recorder.recording():
        client.call(_TOOL, size=second)


def read(recorder: Recorder) -> None:
    def talk(client: StdioClient) -> None:
        first, second = (_cursor(client.call(_TOOL, size=size)) for size in (90_000, 100_000))
        client.call("brimgate_read", cursor=first)
        with recorder.recording():
            client.call("brimgate_read", cursor=second)

    _over_stdio(talk)


def _cursor(result: Any) -> str:
    text = result["content"][0]["text"]
    return text.partition('cursor="')[2].partition('"')[0]


class HttpClient:
    """A client of `brimgate serve`, with a connection that is kept."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_SECONDS)
        self._session: dict[str, str] = {}
        self._last = 0

    def wait_for_server(self) -> None:
        until = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                self._connection.connect()
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
            else:
                return

    def greet(self) -> None:
        self.ask("initialize", _greeting())
        self._post({"method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> None:
        self.ask("tools/call", {"name": tool, "arguments": arguments})

    def ask(self, method: str, params: dict[str, Any]) -> None:
        self._last += 1
        self._post({"id": self._last, "method": method, "params": params})

    def _post(self, message: dict[str, Any]) -> None:
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        body = json.dumps({"jsonrpc": "2.0", **message})
        self._connection.request("POST", "/mcp", body, headers | self._session)
        response = self._connection.getresponse()
        if found := response.headers.get("mcp-session-id"):
            self._session = {"mcp-session-id": found}
        _check(response.status, response.read())

    def get(self, path: str) -> None:
        self._connection.request("GET", path)
        response = self._connection.getresponse()
        _check(response.status, response.read())


def _check(status: int, body: bytes) -> None:
    if status >= 300 or b'"error":{' in body or b'"isError":true' in body:
        raise AssertionError(f"the walk got no answer: {status} {body[:500]!r}")


def _over_http(talk: Callable[[HttpClient], None]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def converse() -> None:
        try:
            client = HttpClient(port)
            client.wait_for_server()
            talk(client)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    _run(["serve", "--pack", "hostaway", "--sandbox", "--port", str(port)], converse)


def mcp_list(recorder: Recorder) -> None:
    def talk(client: HttpClient) -> None:
        client.greet()
        client.call("list_listings", limit=90)
        with recorder.recording():
            client.call("list_listings", limit=100)

    _over_http(talk)


def rest_list(recorder: Recorder) -> None:
    def talk(client: HttpClient) -> None:
        client.get("/api/v1/listings?limit=90")
        with recorder.recording():
            client.get("/api/v1/listings?limit=100")

    _over_http(talk)


def shell(recorder: Recorder) -> None:
    """Count from the call on: before it, the server is started, greeted and asked for its tools."""
    command(recorder)
    recorder.begin_at(Function("app/client", "McpClient.call"))


def command(recorder: Recorder) -> None:
    from brimgate.cli.main import main

    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _succeeds(main(["call", _TOOL, "size=90000", *_SERVER]))
    with recorder.recording():
        _succeeds(main(["call", _TOOL, "size=100000", *_SERVER]))


def _run(arguments: list[str], converse: Callable[[], None]) -> None:
    from brimgate.cli.main import main

    failures: list[BaseException] = []

    def talk() -> None:
        try:
            converse()
        except BaseException as error:  # noqa: BLE001  # it is raised below, in the main thread
            failures.append(error)

    client = threading.Thread(target=talk)
    client.start()
    code = main(arguments)
    client.join()
    for failure in failures:
        raise failure
    _succeeds(code)


def _succeeds(code: int) -> None:
    if code:
        raise AssertionError(f"brimgate ended with {code}")


def _serve() -> None:
    """Be the server: one tool, whose answer is a list of bookings in a line of about `size` bytes."""
    from bench.upstreams.raw import answer

    schema = {"type": "object", "properties": {"size": {"type": "integer"}}}
    tools = {"tools": [{"name": _TOOL, "description": "Bookings.", "inputSchema": schema}]}
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        if message["method"] == "tools/call":
            message["params"]["name"] = f"bookings-{message['params']['arguments']['size']}"
        listed = b'"result":' + json.dumps(tools).encode()
        content = listed if message["method"] == "tools/list" else answer(message)
        os.write(1, b'{"jsonrpc":"2.0","id":%d,%b}\n' % (message["id"], content))


# The table


@dataclass(frozen=True, slots=True)
class Walk:
    title: str
    run: Callable[[Recorder], None]
    most_files: int | None = None
    most_changes: int | None = None
    most_functions: int | None = None


WALKS: Final = {
    "small": Walk("a small answer over stdio (1 KB)", small, 15, 17, 59),
    "large": Walk("a large list over stdio, its first page", large, 34, 59),
    "read": Walk("reading on from its cursor", read, 27, 59),
    "mcp": Walk("a list of Hostaway over MCP", mcp_list, 46, 59),
    "rest": Walk("a list of Hostaway over REST", rest_list, 38, 59),
    "shell": Walk("a call from a shell, large list", shell, 40, 59),
    "command": Walk("the same, the whole command", command),
}


@dataclass(frozen=True, slots=True)
class Counted:
    """What was called on a walk."""

    calls: list[Function]

    @property
    def functions(self) -> list[Function]:
        """In the order of their first call."""
        return list(dict.fromkeys(self.calls))

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(function.module for function in self.calls))

    @property
    def changes(self) -> list[tuple[Function, Function]]:
        pairs = zip(self.calls, self.calls[1:], strict=False)
        return [(before, after) for before, after in pairs if before.room != after.room]

    def measured(self, walk: Walk) -> dict[str, tuple[int, int | None]]:
        """Return each figure with its bar."""
        return {
            "functions": (len(self.functions), walk.most_functions),
            "files": (len(self.files), walk.most_files),
            "changes of room": (len(self.changes), walk.most_changes),
            "distinct": (len(set(self.changes)), None),
        }

    def misses(self, walk: Walk) -> list[str]:
        """Return the figures that are above their bars."""
        return [name for name, (figure, most) in self.measured(walk).items() if most and figure > most]


def count(name: str) -> Counted:
    """Run a walk in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "calls.json"
        environment = {key: value for key, value in os.environ.items() if not key.startswith("BRIMGATE_")}
        environment |= {"BRIMGATE_STATE_DIR": str(Path(folder) / "state"), "PYTHONPATH": str(_ROOT)}
        command = [sys.executable, str(Path(__file__).resolve()), "--record", name, "--into", str(target)]
        done = subprocess.run(
            command, env=environment, cwd=_ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=300
        )
        if done.returncode or not target.exists():
            raise AssertionError(f"the walk {name} failed: {done.stderr.decode(errors='replace')[-2_000:]}")
        return Counted([Function(*one) for one in json.loads(target.read_text("utf-8"))])


def _record(name: str, target: Path) -> None:
    recorder = Recorder()
    WALKS[name].run(recorder)
    sys.setprofile(None)
    target.write_text(json.dumps(recorder.calls), "utf-8")


def _print_table(names: Sequence[str]) -> bool:
    """Print what each walk counts, and return whether all keep to their bars."""
    print(f"{'':47} {'functions':>11} {'files':>9} {'changes of room':>15} {'distinct':>8}")
    all_met = True
    for name in names:
        walk, counted = WALKS[name], count(name)
        missed = counted.misses(walk)
        all_met = all_met and not missed
        cells = [
            f"{figure} ≤ {most}" if most else f"{figure}" for figure, most in counted.measured(walk).values()
        ]
        mark = f"✗ {', '.join(missed)}" if missed else "✓" if walk.most_files else ""
        print(f"{name:7} {walk.title:39} {cells[0]:>11} {cells[1]:>9} {cells[2]:>15} {cells[3]:>8}  {mark}")
    return all_met


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("walks", nargs="*", metavar="WALK", help=f"only these: {', '.join(WALKS)}")
    parser.add_argument("--list", choices=WALKS, metavar="WALK", help="print the functions of a walk")
    parser.add_argument("--calls", choices=WALKS, metavar="WALK", help="print every call of a walk")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a walk misses a bar")
    parser.add_argument("--server", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--record", choices=WALKS, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.server:
        _serve()
        return 0
    if options.record:
        _record(options.record, options.into)
        return 0
    if options.list or options.calls:
        counted = count(options.list or options.calls)
        for function in counted.functions if options.list else counted.calls:
            print(function)
        return 0
    is_met = _print_table(options.walks or list(WALKS))
    return 1 if options.check and not is_met else 0


if __name__ == "__main__":
    sys.exit(main())
