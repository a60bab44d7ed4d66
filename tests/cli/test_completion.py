"""Completion, as a shell asks for it: the answers, and the real bash at work."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brimgate.cli.calls import target
from brimgate.cli.completion import candidates

TOOLS = [
    {
        "name": "search_nodes",
        "inputSchema": {
            "properties": {"query": {}, "max_nodes": {}, "source": {"enum": ["text", "json", 1]}}
        },
    },
    {"name": "search_memory_facts", "inputSchema": {}},
    {"name": "get_status"},
]


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration with two servers, one of which was called before."""
    config = tmp_path / "brimgate.yaml"
    config.write_text("upstreams: {graphiti: {command: x}, files: {command: y}}\n")
    monkeypatch.setenv("BRIMGATE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("BRIMGATE_CONFIG", str(config))
    target.remember_catalog("graphiti", json.dumps(TOOLS).encode())
    return tmp_path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("brimgate re", ["read", "reduce"]),
        ("brimgate call ", ["files", "graphiti"]),
        ("brimgate call gr", ["graphiti"]),
        ("brimgate call graphiti search_", ["search_memory_facts", "search_nodes"]),
        ("brimgate call --raw graphiti --budget 500 get", ["get_status"]),
        (
            "brimgate call graphiti search_nodes ",
            ["max_nodes=", "query=", "source=", "source=json", "source=text"],
        ),
        ("brimgate call graphiti search_nodes source=t", ["source=text"]),
        ("brimgate call graphiti search_nodes 'an open quote", []),
        ("brimgate call graphiti nonsense ", []),
        ("brimgate tools graphiti get", ["get_status"]),
        ("brimgate call x --fam", ["--family"]),
        ("brimgate call x --family cl", ["cl100k", "claude", "claude-3"]),
        ("brimgate packs g", ["graphiti"]),
        ("brimgate measure --pack ", ["graphiti", "hostaway", "memory", "vikunja"]),
        ("brimgate measure --format ", ["json", "svg", "table"]),
        ("brimgate completion ", ["bash", "fish", "zsh"]),
        ("brimgate run --upstream f", ["files"]),
        ("brimgate run -- brimgate ca", []),
        ("brimgate nonsense ", []),
        ("brimgate check ", []),
    ],
    ids=str,
)
def test_what_may_come_next(known: Path, line: str, expected: list[str]) -> None:
    assert candidates(line) == expected


def test_a_configuration_or_catalog_that_cannot_be_read_completes_nothing(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (known / "brimgate.yaml").write_text("upstreams: [")
    assert candidates("brimgate call ") == []
    for damaged in (
        b"{",
        b"[1, null]",
        b'{"a": 1}',
        b'[{"name": "x", "inputSchema": {"properties": {"a": 1}}}]',
    ):
        target.remember_catalog("graphiti", damaged)
        assert isinstance(candidates("brimgate call graphiti x "), list)
    monkeypatch.setenv("BRIMGATE_STATE_DIR", str(known / "brimgate.yaml" / "no"))
    target.remember_catalog("graphiti", b"[]")
    assert candidates("brimgate call graphiti ") == []


@pytest.fixture
def complete(known: Path) -> Any:
    """What bash would put in place of the word at the end of a line."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    folder = known / "bin"
    folder.mkdir()
    command = folder / "brimgate"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m brimgate "$@"\n')
    command.chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}

    def ask(line: str) -> list[str]:
        script = """
        eval "$(brimgate completion bash)"
        complete -p brimgate >/dev/null || exit 9
        COMP_LINE="$1" COMP_POINT=${#1}
        compopt() { :; }
        _brimgate
        [ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
        """
        done = subprocess.run(
            [bash, "--norc", "-c", script, "bash", line],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
            check=True,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return ask


def test_bash_completes_commands_servers_tools_and_parameters(complete: Any) -> None:
    assert complete("brimgate comp") == ["completion"]
    assert complete("brimgate call g") == ["graphiti"]
    assert complete("brimgate call graphiti search_n") == ["search_nodes"]
    assert complete("brimgate call graphiti search_nodes qu") == ["query="]
    # Bash takes = for the end of a word: only what follows it is put in.
    assert complete("brimgate call graphiti search_nodes source=j") == ["json"]


def test_bash_itself_puts_the_word_in_when_tab_is_pressed(complete: Any, known: Path) -> None:
    """An interactive bash on a real terminal."""
    import pty

    environment = os.environ | {"PATH": f"{known / 'bin'}:{os.environ['PATH']}", "PS1": "$ ", "TERM": "dumb"}
    controller, terminal = pty.openpty()
    bash = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=terminal, stdout=terminal, stderr=terminal, env=environment, cwd=known, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    try:
        os.write(controller, b'eval "$(brimgate completion bash)"; echo re""ady\n')
        _read_until(controller, b"ready")
        os.write(controller, b"brimgate call graphiti get_st\t")
        _read_until(controller, b"get_status")
    finally:
        bash.kill()
        bash.wait()
        os.close(controller)


def _read_until(descriptor: int, wanted: bytes) -> None:
    import select

    seen = b""
    while wanted not in seen:
        ready, _, _ = select.select([descriptor], [], [], 60)
        assert ready, f"{wanted!r} did not come; so far {seen[-500:]!r}"
        seen += os.read(descriptor, 4_096)
