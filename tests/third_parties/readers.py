"""Other people's clients: how each is run, and a large answer whose every item can be told from all others."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from tests.relay.conversation import texts
from tests.relay.tap import ASKED
from tests.third_parties.clients.reading import Task, next_call
from tests.third_parties.environments import python_of, what_is_missing
from tests.world import inspector, tapped, through_brimgate

_HERE: Final = Path(__file__).resolve().parent
_ITEMS: Final = 500
SHAPES: Final = ("list", "text")


@dataclass(frozen=True)
class Reader:
    name: str
    environment: str
    read: Callable[[Task, Path], list[str]]
    """Reads to the end, with a folder for what it leaves behind, and returns what a model was shown."""


def code(n: int) -> str:
    """Return a word that no other item has, and of which no part is the same in all: forms leave those out."""
    return sha256(str(n).encode()).hexdigest()[:12]


def _answers() -> dict[str, str]:
    cities = ("Ghent", "Porto", "Turku")
    rows = [(n, code(n), n * 37 % 991, cities[n % 3]) for n in range(_ITEMS)]
    items = [dict(zip(("id", "code", "weight", "city"), row, strict=True)) for row in rows]
    lines = (f"{word} weighs {weight} and goes to {city}, line {n}\n" for n, word, weight, city in rows)
    return {"list": json.dumps(items), "text": "".join(lines)}


def _run(command: list[str], folder: Path) -> bytes:
    """Return what a client prints. It has a home of its own, so that it finds no settings of the user."""
    environment = os.environ | {"HOME": str(folder)}
    result = subprocess.run(command, capture_output=True, env=environment, timeout=240, check=False)
    assert result.returncode == 0, result.stderr.decode()[-4_000:]
    return result.stdout


def _with_script(environment: str, script: str) -> Callable[[Task, Path], list[str]]:
    def read(task: Task, folder: Path) -> list[str]:
        python = sys.executable if environment == "here" else python_of(environment)
        told = folder / "replies.json"
        _run([python, str(_HERE / "clients" / script), json.dumps(vars(task)), str(told)], folder)
        return json.loads(told.read_text())

    return read


def _with_inspector(task: Task, folder: Path) -> list[str]:
    """Read with Inspector from a shell: each call is a process of its own."""
    config = folder / "mcp.json"
    server = {"command": task.command[0], "args": task.command[1:]}
    config.write_text(json.dumps({"mcpServers": {"tested": server}}))
    replies: list[str] = []
    while call := next_call(task, replies):
        tool, arguments = call
        asked = ("--method", "tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments))
        result = json.loads(_run(inspector(config, *asked), folder))
        replies.append("\n".join(texts(result)))
    return replies


READERS: Final = (
    Reader("mcp SDK", "here", _with_script("here", "mcp_sdk.py")),
    Reader("FastMCP", "here", _with_script("here", "fastmcp_client.py")),
    Reader("LangChain get_tools()", "older", _with_script("older", "langchain_tools.py")),
    Reader("openai-agents, strict", "clients", _with_script("clients", "openai_agent.py")),
    Reader("pydantic-ai", "clients", _with_script("clients", "pydantic_agent.py")),
    Reader("mcp-use session", "older", _with_script("older", "mcp_use_session.py")),
    Reader("mcp-use agent", "older", _with_script("older", "mcp_use_agent.py")),
    Reader("inspector --cli", "npm", _with_inspector),
)


@dataclass(frozen=True)
class Reading:
    """What a client got of the answer."""

    replies: int
    missing: int
    """Items that never came."""
    repeated: int
    """Items that came more than once."""
    called: int
    """How often the server was asked."""
    last: str
    """How the last reply begins: a refusal says why."""


def read_all(reader: Reader, shape: str, folder: Path) -> Reading:
    """Let a client read a large answer to its end. Call `what_is_missing` first."""
    assert not what_is_missing(reader.environment)
    told, journal, home = folder / "answers.json", folder / "journal", folder / "home"
    home.mkdir(parents=True)
    told.write_text(json.dumps(_answers()))
    server = [sys.executable, str(_HERE.parent / "telling_server.py"), str(told)]
    # Clients start servers with an environment of their own choice: what has to reach it is part of the command.
    command = ["env", f"BRIMGATE_STATE_DIR={folder / 'state'}", *through_brimgate(tapped(server, journal))]
    replies = reader.read(Task(command, "tell", {"shape": shape}), home)
    everything = "\n".join(replies)
    times = Counter(everything.count(code(n)) for n in range(_ITEMS))
    lines = map(json.loads, (journal / ASKED).read_bytes().splitlines())
    called = sum(line.get("method") == "tools/call" for line in lines)
    more = sum(count for seen, count in times.items() if seen > 1)
    return Reading(len(replies), times[0], more, called, replies[-1][:300])
