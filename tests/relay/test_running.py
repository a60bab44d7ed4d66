"""`brimgate run` as a process: what it loads, what it writes where, and that starting does nothing else."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from brimgate.back.process import resolve
from tests.relay.conversation import cost, texts
from tests.relay.rawclient import RawClient
from tests.relay.test_faults import SERVER, gateway
from tests.world import through_brimgate

_IMPORT = re.compile(r"import time:\s+\d+ \|\s+\d+ \|\s+(\S+)")
ALWAYS_OFF = {
    "mcp",
    "mcp_types",
    "fastmcp",
    "pydantic",
    "pydantic_core",
    "rich",
    "httpx",
    "httpx2",
    "anyio",
    "starlette",
}
HEAVY = {"numpy", "splintr", "re2", "toon_format", "yaml", "jsonschema_rs"}


def loaded_modules(*tools: str) -> set[str]:
    command = [sys.executable, "-X", "importtime", *through_brimgate(SERVER)[1:]]
    with RawClient(command) as client:
        client.greet()
        client.request("tools/list")
        for tool in tools:
            client.call(tool)
        client.close()
        lines = client.rest_of_log()
    return {found[1].partition(".")[0] for line in lines if (found := _IMPORT.match(line))}


def test_a_session_of_small_answers_loads_nothing_heavy() -> None:
    assert loaded_modules("echo").isdisjoint(ALWAYS_OFF | HEAVY)


def test_a_large_answer_loads_the_engine_and_no_network_stack() -> None:
    loaded = loaded_modules("rows")
    assert {"numpy", "splintr"} <= loaded
    assert loaded.isdisjoint(ALWAYS_OFF | {"yaml", "jsonschema_rs"})


def test_stdout_carries_the_protocol_only_and_every_decision_is_logged() -> None:
    with gateway("--log-format", "json", "--budget", "2000") as client:
        client.greet()
        first = client.call("rows")["result"]
        cursor = first["_meta"]["brimgate/result"]["nextCursor"]
        client.call("brimgate_read", cursor=cursor)
        client.call("picture")
        reduced = json.loads(client.wait_for_log('"page"'))
        assert {"time", "level", "event", "upstream", "tool", "outcome", "estimatedTokens"} <= set(reduced)
        assert (reduced["level"], reduced["event"]) == ("INFO", "decision")
        assert json.loads(client.wait_for_log('"read"'))["tool"] == "rows"
        assert json.loads(client.wait_for_log('"chunk"'))["tool"] == "picture"
        client.close()
        assert cursor not in "".join(client.log) and "Guest" not in "".join(client.log)
    # Every line that came on stdout was read as JSON by the client: anything else would have failed above.


def test_starting_and_ending_has_no_side_effects(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    for _ in range(2):
        with gateway(env=environment) as client:
            client.greet()
            assert cost(client.call("rows")["result"]) <= 4_000
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_its_own_for_the_reading_tool_is_used_everywhere() -> None:
    with gateway("--set", "read_tool=more", "--budget", "2000") as client:
        client.greet()
        names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
        assert names == ["echo", "more"]
        first = client.call("rows")["result"]
        assert 'more(cursor="' in texts(first)[0]
        cursor = first["_meta"]["brimgate/result"]["nextCursor"]
        assert cost(client.call("more", cursor=cursor)["result"]) <= 2_000


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "no server to start"),
        (["--upstream", "x", "--", "true"], "either --upstream or a command"),
        (["--budget", "5", "--", "true"], "at least 300"),
        (["--set", "nonsense", "--", "true"], "KEY=VALUE"),
        (["--set", "default_page_sise=5", "--", "true"], "did you mean"),
        (["--config", "/nonexistent.yaml", "--", "true"], "No such file"),
    ],
)
def test_wrong_options_are_told_in_one_line(arguments: list[str], says: str) -> None:
    command = [sys.executable, "-m", "brimgate", "run", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr and "Traceback" not in done.stderr


def test_a_file_as_input_is_answered_to_its_end(tmp_path: Path) -> None:
    script = tmp_path / "in.jsonl"
    calls = [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "echo"}} for n in range(5)
    ]
    script.write_text("\n".join(map(json.dumps, calls)))
    with script.open() as file, (tmp_path / "out.jsonl").open("w") as out:
        done = subprocess.run(
            through_brimgate(SERVER), stdin=file, stdout=out, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 0
    answers = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3, 4]


def test_a_command_of_windows_is_found_with_its_extension(tmp_path: Path) -> None:
    tool = tmp_path / "npx.cmd"
    tool.write_text("@echo off\n")
    tool.chmod(0o755)
    assert resolve(("npx.cmd", "-y", "x"), str(tmp_path), windows=True) == [str(tool), "-y", "x"]
    assert resolve(("missing", "x"), str(tmp_path), windows=True) == ["missing", "x"]
    assert resolve(("npx", "x"), str(tmp_path), windows=False) == ["npx", "x"]
