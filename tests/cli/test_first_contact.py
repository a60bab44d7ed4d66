"""What newcomers type, and what they are told."""

import json
import os
import pty
import re
import shlex
import socket
import subprocess
import sys
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from brimgate.cli.demo import _usual_port  # pyright: ignore[reportPrivateUsage]
from brimgate.cli.main import COMMANDS
from tests.config.running import BRIMGATE, SERVER, environment, gateway
from tests.http.serving import serve
from tests.in_process import Here
from tests.relay.rawclient import PATIENCE


def test_alone_it_prints_help_that_fits_a_terminal(here: Here) -> None:
    done = here()
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "start here:" in text and "brimgate demo" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_fits_a_terminal(here: Here, command: str) -> None:
    done = here(command, "--help", COLUMNS="80")
    assert done.returncode == 0
    assert [line for line in done.stdout.decode().splitlines() if len(line) > 80] == []


MEANT = {
    "sever": "did you mean serve?",
    "sh server.sh": "did you mean brimgate run -- sh server.sh",
    "https://mcp.example.com/mcp": "brimgate run --upstream https://mcp.example.com/mcp",
    "nothing-like-it": "there are: run, serve, call",
    "run --buget 500 -- sh": "there is no option --buget (did you mean --budget?)",
    "serve --buget=500 -- sh": "there is no option --buget=500 (did you mean --budget?)",
    "reduce --buget 500 file": "there is no option --buget (did you mean --budget?)",
    "check one two": "there is no place for 'two'",
    "serve --port 99999 -- sh": "--port: must be a whole number of at most 65535, not 99999",
    "serve --port x -- sh": "--port: must be a whole number, not 'x'",
    "serve mcp.example.com/mcp": "--upstream https://mcp.example.com/mcp",
    "serve https://mcp.example.com/mcp": "--upstream https://mcp.example.com/mcp",
    "run --upstream mcp.example.com/mcp": "did you mean --upstream https://mcp.example.com/mcp?",
    "serve --upstream localhost:3000/mcp": "did you mean --upstream http://localhost:3000/mcp?",
    "call mcp.example.com/mcp search": "did you mean https://mcp.example.com/mcp?",
    "tools 127.0.0.1:8000": "did you mean http://127.0.0.1:8000?",
    "tools mcp.example.com": "did you mean https://mcp.example.com?",
    "call echo sh server.sh": "if sh starts it, put -- before it: echo -- sh server.sh",
    "tools sh server.sh": "if sh starts it, put -- before it: -- sh server.sh",
    "call echo python -m server": "put -- before that command: … -- COMMAND -m",
}


@pytest.mark.parametrize("words", MEANT)
def test_what_is_meant_is_told(here: Here, words: str) -> None:
    done = here(*words.split())
    assert done.returncode == 2
    assert MEANT[words] in done.stderr.decode(), done.stderr.decode()


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("clade-sonnet-5", "did you mean claude-sonnet-5"),
        ("gtp-5", "did you mean gpt-5"),
        ("gemini-2.5-pro", "unknown model 'gemini-2.5-pro': its tokens are counted as for claude"),
    ],
)
def test_an_unknown_model_is_told_with_near_names(here: Here, tmp_path: Path, model: str, told: str) -> None:
    path = tmp_path / "file.txt"
    path.write_text("hello\n")
    for words in (["reduce", str(path)], ["measure", "--runs", "1"]):
        done = here(*words, "--model", model)
        assert done.returncode == 0 and told in done.stderr.decode()
        assert b"unknown model" not in here(*words, "--model", model, "--family", "o200k").stderr
    assert told in here("check", BRIMGATE_MODEL=model).stderr.decode()


def test_an_unknown_model_is_told_by_run_and_call() -> None:
    with gateway("--model", "clade-sonnet-5") as client:
        assert "did you mean claude-sonnet-5" in client.wait_for_log("unknown_model")
    done = subprocess.run(
        [*BRIMGATE, "call", "echo", "--model", "clade-sonnet-5", "--", *SERVER],
        capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr.count("did you mean claude-sonnet-5") == 1


@pytest.mark.parametrize(
    "model", ["gpt-5.1-2025-11-13", "claude-opus-4-5@20251101", "meta-llama/Llama-3.3-70B", "o4-mini"]
)
def test_a_known_model_is_not_told(here: Here, tmp_path: Path, model: str) -> None:
    path = tmp_path / "file.txt"
    path.write_text("hello\n")
    assert here("reduce", str(path), "--model", model).stderr == b""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_run_on_a_terminal_says_what_it_waits_for() -> None:
    ours, theirs = pty.openpty()
    command = [*BRIMGATE, "run", "--budget", "500", "--", *SERVER, "--token", "s3cret"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=environment()
    ) as process:
        os.close(theirs)
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        os.close(ours)
        process.stderr.read()
    assert "waiting for an MCP client on standard input (Ctrl-C ends)" in line and "s3cret" not in line
    [entry] = json.loads(line[line.index('{"NAME"') :]).values()
    assert entry["command"] == "brimgate" and entry["args"][:4] == ["run", "--budget", "500", "--"]


def test_run_behind_a_pipe_says_nothing() -> None:
    with gateway() as client:
        client.greet()
        client.close()
        assert not any("waiting for" in line for line in client.rest_of_log())


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_serve_on_a_terminal_prints_what_clients_need() -> None:
    ours, theirs = pty.openpty()
    command = [*BRIMGATE, "serve", "--port", "0", "--", *SERVER]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=theirs, env=environment()) as process:
        os.close(theirs)
        with os.fdopen(ours, "rb", 0) as terminal:
            lines = [terminal.readline().decode() for _ in range(4)]
        process.terminate()
    url = re.search(r"serving (http://127.0.0.1:\d+/mcp) ", lines[0])
    assert url is not None
    assert f"Claude Code     claude mcp add --transport http python {url[1]}" in lines[1]
    assert json.loads(shlex.split(lines[2])[-1]) == {"name": "python", "type": "http", "url": url[1]}
    assert json.loads(lines[3][lines[3].index("{") :])["mcpServers"]["python"]["url"] == url[1]


def test_serve_in_a_log_prints_only_its_address() -> None:
    with serve() as serving:
        assert serving.port
    assert not any("claude mcp" in line for line in serving.all_lines())


def test_a_port_that_is_taken_is_told_with_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, serve(port=taken.getsockname()[1]) as serving:
        assert serving.process.wait(PATIENCE) == 2
    assert "it is in use by another program; --port N chooses another, --port 0 any" in "".join(
        serving.all_lines()
    )


def test_the_demo_says_that_the_usual_port_is_taken(capfd: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as holding:
        with suppress(OSError):  # somebody else has it already
            holding.enter_context(socket.create_server(("127.0.0.1", 3_010)))
        assert _usual_port() == "0"
    assert "port 3010 is in use by another program: taking a free one" in capfd.readouterr().err


def test_measure_says_what_it_measures(here: Here) -> None:
    told = here("measure", "--runs", "1").stderr.decode()
    assert "the pack graphiti saves on its own samples" in told and "brimgate measure -- COMMAND" in told


BANNER = "Server v1.2 is listening on stdio"


def test_a_line_that_is_no_message_is_logged_with_its_beginning() -> None:
    noisy = ["sh", "-c", f'echo "{BANNER}"; exec {shlex.join(SERVER)}']
    with gateway(command=noisy) as client:
        client.greet()
        assert BANNER in client.wait_for_log("garbage")
    done = subprocess.run(
        [*BRIMGATE, "call", "--log-level", "debug", "echo", "--", *noisy],
        capture_output=True, text=True, env=environment(), timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert f"no message: {BANNER}" in done.stderr


def test_what_a_server_says_at_once_reaches_the_client() -> None:
    note = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}'
    with gateway(command=["sh", "-c", f"echo '{note}'; exec {shlex.join(SERVER)}"]) as client:
        assert client.receive()["method"] == "notifications/message"
        client.greet()
        client.close()
        assert not any("internal_error" in line for line in client.rest_of_log())
