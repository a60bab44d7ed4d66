"""`${NAME}` in args, env, headers and url comes from the environment, whatever the command."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.config.running import BRIMGATE, SERVER, check, environment, gateway
from tests.http.raw_upstream import raw_upstream
from tests.http.serving import serve, wait_until
from tests.relay.rawclient import PATIENCE

TELLING = f'printf "%s|%s" "$1" "$KEY" > "$0"; exec {shlex.join(SERVER)}'
"""Writes down its argument and its variable, and is the faulty server then."""
VARIABLES = {"WORD": "w0rd"}


def brimgate(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*BRIMGATE, *arguments],
        capture_output=True,
        text=True,
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def told(tmp_path: Path) -> Path:
    return tmp_path / "told"


@pytest.fixture
def config(tmp_path: Path, told: Path) -> str:
    path = tmp_path / "brimgate.yaml"
    one = {
        "command": "sh",
        "args": ["-c", TELLING, str(told), "<${WORD}>"],
        "env": {"KEY": "${WORD}-${WORD} $${WORD} $1"},
    }
    path.write_text(json.dumps({"upstreams": {"one": one}}))
    return str(path)


FILLED = "<w0rd>|w0rd-w0rd ${WORD} $1"


def test_run_fills_them_in(config: str, told: Path) -> None:
    with gateway("--config", config, command=[], env=VARIABLES) as client:
        client.greet()
    assert told.read_text() == FILLED


def test_serve_fills_them_in(config: str, told: Path) -> None:
    with serve("--config", config, command=(), env=VARIABLES) as serving:
        assert serving.client().initialize().status == 200
        assert told.read_text() == FILLED
        assert not any("w0rd" in line for line in serving.lines)


@pytest.mark.parametrize("words", [("call", "one", "echo"), ("tools", "one")], ids=lambda words: words[0])
def test_call_and_tools_fill_them_in(config: str, told: Path, words: tuple[str, str]) -> None:
    done = brimgate(words[0], "--config", config, *words[1:], **VARIABLES)
    assert done.returncode == 0, done.stderr
    assert told.read_text() == FILLED


def test_a_command_behind_dashes_is_filled_in(told: Path) -> None:
    done = brimgate("call", "echo", "--", "sh", "-c", TELLING, str(told), "${WORD}", KEY="", **VARIABLES)
    assert done.returncode == 0, done.stderr
    assert told.read_text() == "w0rd|"
    with gateway(command=["sh", "-c", TELLING, str(told), "$${x} ${WORD}"], env=VARIABLES) as client:
        client.greet()
    assert told.read_text() == "${x} w0rd|"


def test_headers_and_the_url_are_filled_in(tmp_path: Path) -> None:
    with raw_upstream({}) as upstream:
        path = tmp_path / "brimgate.yaml"
        one = {"url": upstream.url + "?key=${WORD}", "headers": {"Authorization": "Bearer ${WORD}"}}
        path.write_text(json.dumps({"upstreams": {"one": one}}))
        with serve("--config", str(path), command=(), env=VARIABLES):
            called = upstream.last("initialize")
        assert (called.header("authorization"), called.target) == ("Bearer w0rd", "/mcp?key=w0rd")
        upstream.calls.clear()
        assert (
            brimgate("call", "--config", str(path), "one", "go", **VARIABLES).returncode == 2
        )  # has no such tool
        assert upstream.last("initialize").header("authorization") == "Bearer w0rd"


WRONG = """upstreams:
  one:
    command: server
    args:
      - --token
      - ${NOT_SET}
    env: {A: "${ALSO_NOT}"}
  two:
    url: http://127.0.0.1:1/mcp
    headers:
      Authorization: Bearer ${}
"""


def test_a_name_that_is_not_set_is_told_with_its_key_and_line(tmp_path: Path) -> None:
    path = tmp_path / "brimgate.yaml"
    path.write_text(WRONG)
    for done in (
        check(str(path)),
        brimgate("serve", "--config", str(path)),
        brimgate("tools", "one", "--config", str(path)),
    ):
        assert done.returncode == 2
        for told in (
            f"{path}:6: upstreams.one.args.1: the variable NOT_SET is not set; write $${{ where ${{ itself is meant",
            f"{path}:7: upstreams.one.env.A: the variable ALSO_NOT is not set",
            f"{path}:11: upstreams.two.headers.Authorization: ${{ must be followed by a name and }}",
        ):
            assert told in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "--", "server", "${NOT_SET}"], "argument 0: the variable NOT_SET is not set"),
        (["call", "echo", "--", "server", "a", "${NOT_SET}"], "argument 1: the variable NOT_SET is not set"),
        (
            ["serve", "--upstream", "http://127.0.0.1:1/?k=${NOT_SET}"],
            "the URL: the variable NOT_SET is not set",
        ),
    ],
)
def test_on_the_command_line_its_place_is_told(words: list[str], told: str) -> None:
    done = brimgate(*words)
    assert done.returncode == 2 and told in done.stderr


def test_what_is_filled_in_must_fit_a_header(tmp_path: Path) -> None:
    path = tmp_path / "brimgate.yaml"
    path.write_text(
        json.dumps({"upstreams": {"one": {"url": "http://127.0.0.1:1/", "headers": {"A": "${WORD}"}}}})
    )
    done = check(str(path), WORD="s3cret\nX: y")
    assert (
        done.returncode == 2 and "its value holds a line end" in done.stderr and "s3cret" not in done.stderr
    )


def test_check_and_a_reload_show_placeholders_and_never_what_fills_them(config: str) -> None:
    done = check(config, **VARIABLES)
    assert done.returncode == 0 and "<${WORD}>" in done.stdout and "w0rd" not in done.stdout
    with serve("--config", config, command=(), env=VARIABLES) as serving:
        assert serving.port
        changed = json.loads(Path(config).read_text())
        changed["upstreams"]["one"]["args"].append("${WORD}")
        Path(config).write_text(json.dumps(changed))
        line = wait_until(
            lambda: next((line for line in list(serving.lines) if "args" in line), ""), "the change"
        )
        assert "${WORD}" in line and "w0rd" not in line
