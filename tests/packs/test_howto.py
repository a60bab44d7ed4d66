"""The complete example of docs/how-to/write-a-pack.md, taken from the page and used as it says."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "how-to" / "write-a-pack.md").read_text("utf-8")
PEOPLE = {"author": "Ana", "assignee": "Ben", "watchers": ["Cem"]}
SERVER = """
import sys
from brimgate.testing.mcp_session import FakeServer, FakeSession, ToolOutcome
import json

TICKETS = json.loads(open(sys.argv[1], encoding="utf-8").read())
PARAMETERS = {
    "find_tickets": {"query": {"type": "string"}, "state": {"type": "string"}, "limit": {"type": "integer"}},
    "close_ticket": {"id": {"type": "string"}},
}

class Tool:
    output_schema = None
    def __init__(self, name):
        self.name = name
    def definition(self):
        schema = {"type": "object", "properties": PARAMETERS[self.name], "required": list(PARAMETERS[self.name])[:1]}
        return {"name": self.name, "description": "", "inputSchema": schema}
    def call(self, arguments):
        if self.name == "close_ticket":
            return ToolOutcome(json.dumps({"ok": True, "closed": arguments["id"]}))
        if arguments["query"] == "broken":
            return ToolOutcome(json.dumps({"ok": False, "problem": "the index is being rebuilt"}))
        return ToolOutcome(json.dumps({"tickets": TICKETS[: arguments.get("limit")]}))

session = FakeSession(FakeServer("tickets", "1", "", {name: Tool(name) for name in PARAMETERS}))
for line in sys.stdin.buffer:
    if answer := session.answer(line):
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
"""


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found, language
    return found[1]


class Desk:
    """The package of the page, installed as far as an import system can tell, and a server of its kind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package = folder / "ticket_pack"
        package.mkdir()
        (package / "__init__.py").write_text(block("python"), encoding="utf-8")
        (package / "rules.yaml").write_text(block("yaml"), encoding="utf-8")
        project = tomllib.loads(block("toml"))["project"]
        info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        points = project["entry-points"]["brimgate.packs"]
        lines = "".join(f"{name} = {value}\n" for name, value in points.items())
        (info / "entry_points.txt").write_text(f"[brimgate.packs]\n{lines}")
        self.tickets = [
            {"id": f"6af613b6-0000-4000-8000-{number:012}", "title": f"Printer {number} is out of paper",
             "state": "open", "opened": "2020-01-02T03:04:05Z", **PEOPLE}
            for number in range(60)
        ]  # fmt: skip
        (folder / "tickets.json").write_text(json.dumps(self.tickets))
        (folder / "server.py").write_text(SERVER)
        self.server = [sys.executable, str(folder / "server.py"), str(folder / "tickets.json")]

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        known = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}
        environment = known | {
            "PYTHONPATH": str(self.folder),
            "BRIMGATE_STATE_DIR": str(self.folder / "state"),
        }
        return subprocess.run(
            [sys.executable, "-m", "brimgate", *words], capture_output=True, text=True, encoding="utf-8",
            env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip

    def call(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return self.run("call", *words, "--", *self.server)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_the_pack_is_found_and_recognises_its_server(desk: Desk) -> None:
    assert "tickets   the tickets of our help desk" in desk.run("packs").stdout
    told = desk.run("packs", "tickets").stdout
    assert "asks for --force" in told and "people: [author, assignee, watchers]" in told
    found = desk.call("find_tickets", "printer", "2")
    assert found.stdout.splitlines() == [
        "2 tickets:",
        "Printer 0 is out of paper [open] 2020-01-02 #00000000",
        "Printer 1 is out of paper [open] 2020-01-02 #00000001",
    ]


def test_short_ids_force_and_failures_are_as_the_page_says(desk: Desk) -> None:
    desk.call("find_tickets", "printer", "2")
    assert desk.call("close_ticket", "00000001").returncode == 2
    closed = desk.call("close_ticket", "#00000001", "--force", "--json")
    assert json.loads(closed.stdout)["closed"] == desk.tickets[1]["id"]
    failed = desk.call("find_tickets", "broken")
    assert failed.returncode == 1 and "the index is being rebuilt" in failed.stderr


def test_the_relay_uses_it_and_knows_its_sections(desk: Desk) -> None:
    asked: list[dict[str, Any]] = [
        {"name": "find_tickets", "arguments": {"query": "printer"}},
        {"name": "brimgate_read", "arguments": {"fields": "people", "format": "json"}},
    ]
    known = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}
    command = [sys.executable, "-m", "brimgate", "run", "--pack", "tickets", "--", *desk.server]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env=known | {"PYTHONPATH": str(desk.folder)},
    ) as gateway:  # fmt: skip
        assert gateway.stdin and gateway.stdout
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        }
        results: list[dict[str, Any]] = []
        for number, (method, params) in enumerate(
            [("initialize", hello), *(("tools/call", one) for one in asked)], 1
        ):
            if results[1:]:
                cursor = results[1]["_meta"]["brimgate/result"]["detailsAvailable"]["cursor"]
                params["arguments"]["cursor"] = cursor
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            gateway.stdin.write(json.dumps(message).encode() + b"\n")
            gateway.stdin.flush()
            results.append(json.loads(gateway.stdout.readline())["result"])
        gateway.stdin.close()
    formatted, people = (result["content"][1]["text"] for result in results[1:])
    assert formatted.startswith(
        "60 tickets:\nPrinter 0 is out of paper [open] 2020-01-02T03:04:05 #6af613b6-"
    )
    assert '"assignee":"Ben"' in people and "Printer" not in people


def test_it_can_be_measured_on_recorded_answers(desk: Desk) -> None:
    call = {
        "tool": "find_tickets",
        "arguments": {"query": "printer"},
        "answer": {"tickets": desk.tickets[:5]},
    }
    (desk.folder / "answers.jsonl").write_text(json.dumps(call) + "\n")
    done = desk.run("measure", "--pack", "tickets", "--calls", "answers.jsonl")
    assert done.returncode == 0 and "find_tickets" in done.stdout, done.stderr
