"""Other people's clients, each having one conversation with the matrix server: everything it does, and what it got."""

import asyncio
import json
import os
import subprocess
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.relay.conversation import texts
from tests.relay.replies import Result, following
from tests.world import needs_npm, node

PATIENCE = 90.0
Way = Literal["http", "sse", "stdio"]
"""How a client reaches the gateway."""


@dataclass
class Visit:
    """What a client tells of its conversation."""

    tools: list[str]
    small: Result
    large: list[Result]
    slow: Result
    progress: list[float]
    hung: str
    cancelled: Result
    after: Result
    version: str | None = None
    """The revision it agreed on; None if its SDK does not tell."""


@dataclass(frozen=True)
class Place:
    """Where a gateway is: an address, or a command that starts one."""

    url: str = ""
    command: tuple[str, ...] = ()


Visitor = Callable[[Place, str, Path], Visit]


@dataclass(frozen=True)
class Kind:
    """A client, and how it comes."""

    name: str
    way: Way
    visit: Visitor
    modern_first: bool = False
    needs_node: bool = False


def typescript(script: str, *, way: Way, **options: str) -> Visitor:
    def visit(place: Place, mark: str, home: Path) -> Visit:
        return Visit(**tell_typescript(script, place, home, way=way, mark=mark, **options))

    return visit


def tell_typescript(script: str, place: Place, home: Path, *, way: Way, **options: str) -> Any:
    """What the script prints; AssertionError with what it complained of."""
    result = run_typescript(script, place, home, way=way, **options)
    assert result.returncode == 0, result.stderr.decode()
    return json.loads(result.stdout)


def run_typescript(
    script: str, place: Place, home: Path, *, way: Way, **options: str
) -> "subprocess.CompletedProcess[bytes]":
    where: dict[str, Any] = {"command": place.command[:1] and place.command[0], "args": place.command[1:]}
    if way != "stdio":
        where = {"url" if way == "http" else "sse": place.url}
    return run_node(node(script, json.dumps(where | options)), home)


def run_node(command: list[str], home: Path) -> "subprocess.CompletedProcess[bytes]":
    """With a home of its own, so that it finds no settings of the user."""
    env = os.environ | {"HOME": str(home)}
    return subprocess.run(command, capture_output=True, env=env, timeout=PATIENCE, check=False)


def python(mode: str, *, way: Way) -> Visitor:
    def visit(place: Place, mark: str, _home: Path) -> Visit:
        return asyncio.run(_visit(python_client(place, mode, way), mark))

    return visit


def python_client(place: Place, mode: str, way: Way) -> Client:
    if way == "sse":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MCPDeprecationWarning)
            from mcp.client.sse import sse_client  # it warns when it is imported

            return Client(sse_client(place.url), mode=mode, read_timeout_seconds=PATIENCE)
    if way == "http":
        return Client(place.url, mode=mode, read_timeout_seconds=PATIENCE)
    server = StdioServerParameters(command=place.command[0], args=list(place.command[1:]))
    return Client(server, mode=mode, read_timeout_seconds=PATIENCE)


async def _visit(connecting: Client, mark: str) -> Visit:
    async with asyncio.timeout(PATIENCE), connecting as client:
        listed = await client.list_tools()

        async def call(name: str, given: dict[str, Any], **options: Any) -> Result:
            result = await client.call_tool(name, given, **options)
            return result.model_dump(mode="json", by_alias=True, exclude_none=True)

        small = await call("small", {"mark": mark})
        large = [await call("large", {})]
        while cursor := following(large[-1]):
            large.append(await call("brimgate_read", {"cursor": cursor}))
        progress: list[float] = []
        going_on: list[asyncio.Task[Result]] = []

        async def note(done: float, _total: float | None, _message: str | None) -> None:
            progress.append(done)
            if done == 3:
                going_on.append(asyncio.create_task(call("go_on", {"mark": mark})))

        slow = await call("slow_progress", {"mark": mark}, progress_callback=note)
        await asyncio.gather(*going_on)
        return Visit(
            tools=[tool.name for tool in listed.tools],
            small=small,
            large=large,
            slow=slow,
            progress=progress,
            hung=await _call_off(client, mark),
            cancelled=await call("await_cancelled", {"mark": mark}),
            after=await call("small", {"mark": mark}),
            version=client.protocol_version,
        )


async def _call_off(client: Client, mark: str) -> str:
    """Call what hangs, and think better of it once it is known to run."""
    runs = asyncio.Event()

    async def note(progress: float, total: float | None, message: str | None) -> None:
        runs.set()

    call = asyncio.create_task(client.call_tool("hang", {"mark": mark}, progress_callback=note))
    running = asyncio.create_task(runs.wait())
    await asyncio.wait({call, running}, return_when=asyncio.FIRST_COMPLETED)
    running.cancel()
    call.cancel()
    await asyncio.wait({call})
    return "called off" if call.cancelled() else repr(call.exception() or call.result())


OVER_HTTP = (
    Kind("python-auto", "http", python("auto", way="http"), modern_first=True),
    Kind("python-legacy", "http", python("legacy", way="http")),
    Kind("python-sse", "sse", python("legacy", way="sse")),
    Kind("typescript-v1", "http", typescript("client-v1.mjs", way="http"), needs_node=True),
    Kind("typescript-v1-sse", "sse", typescript("client-v1.mjs", way="sse"), needs_node=True),
    Kind(
        "typescript-v2-auto",
        "http",
        typescript("client-v2.mjs", way="http", mode="auto"),
        modern_first=True,
        needs_node=True,
    ),
    Kind(
        "typescript-v2-legacy",
        "http",
        typescript("client-v2.mjs", way="http", mode="legacy"),
        needs_node=True,
    ),
)
OVER_STDIO = (
    Kind("python-auto", "stdio", python("auto", way="stdio"), modern_first=True),
    Kind("python-legacy", "stdio", python("legacy", way="stdio")),
    Kind("typescript-v1", "stdio", typescript("client-v1.mjs", way="stdio"), needs_node=True),
    Kind(
        "typescript-v2-auto",
        "stdio",
        typescript("client-v2.mjs", way="stdio", mode="auto"),
        modern_first=True,
        needs_node=True,
    ),
)


def as_params(kinds: tuple[Kind, ...]) -> list[Any]:
    """For `parametrize`: those that need npm's packages are skipped without."""
    return [pytest.param(kind, id=kind.name, marks=[needs_npm] if kind.needs_node else []) for kind in kinds]


def only_text(result: Result) -> str:
    (text,) = texts(result)
    return text
