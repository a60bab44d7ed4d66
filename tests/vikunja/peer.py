"""vikunja-mcp, other people's MCP server for Vikunja: spoken to directly, and behind Brimgate with a process for each caller."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from brimgate.sandboxes.vikunja import sandbox
from tests.http.processes import children
from tests.http.serving import Serving, serve
from tests.relay.rawclient import RawClient
from tests.third_parties.environments import program_of, what_is_missing
from tests.vikunja.asking import Standin
from tests.vikunja.team import Member

Json = dict[str, Any]
NOWHERE = "/dev/null/nothing"
"""A folder that cannot be made: vikunja-mcp keeps what it is told, tokens too, in one folder for all of its processes."""
PRESENT = {"tasks": 400, "seed": 1, "control": True}


def need_peer() -> None:
    if missing := what_is_missing("vikunja-mcp"):
        pytest.skip(missing)


class Asked:
    """What the stand-in was asked since it was looked at last."""

    def __init__(self, standin: Standin) -> None:
        self._standin, self._seen = standin, 0
        self.since()

    def since(self) -> list[Json]:
        found = self._standin.control("/requests")
        new, self._seen = found[self._seen :], len(found)
        return new


@dataclass
class Told:
    """The answer of a tool."""

    message: Json
    requests: list[Json]

    @property
    def text(self) -> str:
        result = self.message.get("result") or {}
        return "".join(block.get("text", "") for block in result.get("content", [])) or json.dumps(
            self.message
        )

    @property
    def data(self) -> Any:
        held = (self.message.get("result") or {}).get("structuredContent") or {}
        return held.get("result", held)

    @property
    def is_failure(self) -> bool:
        """Whether it is an error, or says in its own words that something failed."""
        if "error" in self.message or self.message["result"].get("isError"):
            return True
        data = self.data
        signs = ("error", "errors", "failed", "warnings")
        return isinstance(data, dict) and (any(map(data.get, signs)) or data.get("success") is False)


class Peer:
    """The server itself as a process, over stdio."""

    def __init__(self, standin: Standin, client: RawClient) -> None:
        self.standin, self.client = standin, client
        self._asked = Asked(standin)
        client.greet()

    def run(self, tool: str, /, **arguments: Any) -> Told:
        self._asked.since()
        message = self.client.call(tool, **arguments)
        return Told(message, self._asked.since())

    @property
    def tools(self) -> list[str]:
        return [one["name"] for one in self.client.request("tools/list")["result"]["tools"]]


@contextmanager
def peer(user: str = "alice") -> Iterator[Peer]:
    """Start it in front of a stand-in whose day is today, with a home of its own."""
    need_peer()
    with sandbox(**PRESENT, now=datetime.now(UTC)) as running, tempfile.TemporaryDirectory() as home:
        told = {"VIKUNJA_URL": running.url, "VIKUNJA_TOKEN": running.tokens[user], "HOME": home}
        with RawClient([program_of("vikunja-mcp", "vikunja-mcp")], env=told) as client:
            yield Peer(Standin(running), client)


@dataclass
class Crowd:
    """Alice and bob, Brimgate, and the processes that it starts for them."""

    standin: Standin
    serving: Serving
    config: Path

    @property
    def tokens(self) -> dict[str, str]:
        return dict(self.standin.running.tokens)

    def member(self, name: str) -> Member:
        return Member(self.serving, self.tokens[name])

    def of_token(self, token: str) -> Member:
        return Member(self.serving, token)

    @property
    def processes(self) -> dict[int, Json]:
        """The environment of each process of vikunja-mcp that runs."""
        found: dict[int, Json] = {}
        for pid in children(self.serving.process.pid):
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes()
                given = Path(f"/proc/{pid}/environ").read_bytes().decode()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if b"vikunja-mcp" in command:
                pairs = [one.partition("=") for one in given.split("\0") if one]
                found[pid] = {name: value for name, _, value in pairs}
        return found

    def processes_of(self, name: str) -> set[int]:
        token = self.tokens[name]
        return {pid for pid, given in self.processes.items() if given.get("VIKUNJA_TOKEN") == token}


def settings_of(
    url: str, auth: Json | None = None, upstream: Json | None = None, **sections: Json
) -> dict[str, Json]:
    """A configuration with vikunja-mcp behind us, and a process of it for each caller."""
    env = {"VIKUNJA_URL": url, "VIKUNJA_TOKEN": {"caller": "bearer"}, "VIKUNJA_MCP_CONFIG_DIR": NOWHERE}
    command = program_of("vikunja-mcp", "vikunja-mcp")
    own = {"mode": "upstream_token", "verify_url": f"{url}/api/v1/token/test"}
    given = auth or {}
    return {
        "upstreams": {"vikunja": {"command": command, "env": env, **(upstream or {})}},
        "auth": given if "mode" in given else own | given,
        "limits": {"requests": 1_000_000, **sections.get("limits", {})},
        "server": {"grace_seconds": 0, **sections.get("server", {})},
    }


@contextmanager
def crowd(folder: Path, *options: str, **sections: Any) -> Iterator[Crowd]:
    """Start a stand-in and Brimgate, which starts vikunja-mcp for whoever comes."""
    need_peer()
    with sandbox(**PRESENT, now=datetime.now(UTC)) as running:
        path = folder / "brimgate.yaml"
        path.write_text(json.dumps(settings_of(running.url, **sections)))
        kept = {f"TOKEN_OF_{name.upper()}": token for name, token in running.tokens.items()}
        env = {"HOME": str(folder)} | (kept if "upstream" in sections else {})
        with serve("--config", str(path), *options, command=(), env=env) as serving:
            yield Crowd(Standin(running), serving, path)
