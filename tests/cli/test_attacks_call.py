"""Hostile servers and careless operators against `brimgate call`: an end in time, no traceback, a terminal in peace."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from brimgate.cli.calls import target
from brimgate.cli.calls.arguments import parse
from brimgate.cli.calls.schema import is_checkable, usable
from brimgate.cli.completion import candidates
from brimgate.errors import BadRequest
from tests.config.running import BRIMGATE, environment
from tests.http.processes import is_alive
from tests.http.serving import PATIENCE

SERVER = Path(__file__).with_name("hostile_server.py")
STEERING = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")
GO: dict[str, Any] = {"name": "go", "inputSchema": {"type": "object"}}
Behind = Callable[..., list[str]]


@pytest.fixture
def behind(tmp_path: Path) -> Iterator[Behind]:
    """A server that says this; it is not left running."""
    script = tmp_path / "script.json"

    def made(result: Any = None, tools: Any = (GO,), **more: Any) -> list[str]:
        script.write_text(json.dumps({"tools": tools, "result": result} | more))
        return ["--", sys.executable, "-I", "-S", str(SERVER), str(script)]

    yield made
    started = tmp_path / "script.json.pid"
    assert not started.exists() or not is_alive(int(started.read_text()))


def variables(tmp_path: Path, **more: str) -> dict[str, str]:
    return environment(**{"BRIMGATE_STATE_DIR": str(tmp_path / "state")} | more)


def run(tmp_path: Path, *arguments: str, **more: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*BRIMGATE, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=variables(tmp_path, **more),
        cwd=tmp_path,
        timeout=PATIENCE,
        check=False,
    )


def on_terminal(tmp_path: Path, *arguments: str) -> bytes:
    """What a person sees."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*BRIMGATE, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=variables(tmp_path),
    ) as process:
        os.close(theirs)
        seen = b""
        with suppress(OSError):  # Linux ends a terminal with EIO
            while piece := os.read(ours, 65_536):
                seen += piece
        os.close(ours)
        process.wait(PATIENCE)
    return seen


def text(*texts: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": one} for one in texts]} | more


# Answers


@pytest.mark.parametrize("said", ["hello", "one \x1b", "[1", "NaN", ""])
def test_a_text_is_a_json_string_where_json_is_wanted(tmp_path: Path, behind: Behind, said: str) -> None:
    shown = run(tmp_path, "call", "go", "--json", *behind(text(said)))
    assert (shown.returncode, shown.stderr, json.loads(shown.stdout)) == (0, b"", said)


def test_json_cannot_steer_a_terminal_and_says_the_same(tmp_path: Path, behind: Behind) -> None:
    result = text(structuredContent={"a": "\x9b31m \x7f é"})
    for option in ("--json", "--raw"):
        piped = run(tmp_path, "call", "go", option, *behind(result)).stdout
        seen = on_terminal(tmp_path, "call", "go", option, *behind(result))
        assert STEERING.search(piped) and not STEERING.search(seen)
        assert json.loads(seen) == json.loads(piped)
    listed = on_terminal(
        tmp_path, "tools", "--json", *behind(tools_text='[{"name":"go","description":"\x9b"}]')
    )
    assert json.loads(listed)[0]["description"] == "\x9b" and not STEERING.search(listed)


def test_what_is_read_on_cannot_steer_a_terminal(tmp_path: Path, behind: Behind) -> None:
    lines = "".join(f"line {number} \x1b[31m red \x9b31m\n" for number in range(3_000))
    first = run(tmp_path, "call", "go", *behind(text(lines))).stdout.decode()
    cursor = re.search(r"brimgate read ([\w-]+)", first)
    assert cursor
    seen = on_terminal(tmp_path, "read", cursor[1])
    assert b"red" in seen and not STEERING.search(seen)


def test_a_number_of_thousands_of_digits_in_an_answer_of_a_known_system_is_shown(
    tmp_path: Path, behind: Behind
) -> None:
    tools = [GO | {"name": name} for name in ("search_nodes", "search_memory_facts", "get_episodes")]
    answer = '{"message": "m", "nodes": [], "n": ' + "9" * 5_000 + "}"
    shown = run(tmp_path, "call", "search_nodes", "--json", *behind(text(answer), tools))
    assert shown.returncode == 0 and b"9" * 5_000 in shown.stdout and b"Traceback" not in shown.stderr


def test_who_asks_without_end_is_not_told_of_line_by_line(tmp_path: Path, behind: Behind) -> None:
    ended = run(tmp_path, "call", "go", "--timeout", "1", *behind(asks_forever=True))
    assert ended.returncode == 4 and ended.stderr.count(b"\n") == 1


# Tools


def test_a_tool_whose_description_is_no_utf8_can_be_called(tmp_path: Path, behind: Behind) -> None:
    listed = b'[{"name":"go","description":"\xff"}]'.decode("utf-8", "surrogateescape")
    assert run(tmp_path, "call", "go", *behind(text("fine"), tools_text=listed)).stdout == b"fine\n"


def defined(count: int, made: Callable[[int], dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"text": {"$ref": "#/$defs/d0"}},
        "$defs": {f"d{number}": made(number) for number in range(count)} | {f"d{count}": {"type": "string"}},
    }


DOUBLING = defined(60, lambda n: {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]})
CIRCLES = defined(9, lambda _: {"allOf": [{"$ref": f"#/$defs/d{n}"} for n in range(9)]})
CROWDED = defined(1, lambda _: {"anyOf": [{"allOf": [{"$ref": "#/$defs/d1"}] * 60}] * 60}) | {
    "properties": {f"p{number}": {"$ref": "#/$defs/d0"} for number in range(500)}
}


@pytest.mark.parametrize("schema", [DOUBLING, CIRCLES, CROWDED], ids=["doubling", "circles", "crowded"])
def test_a_schema_that_nobody_gets_through_is_no_reason_not_to_call(
    tmp_path: Path, behind: Behind, schema: dict[str, Any]
) -> None:
    tools = [GO | {"inputSchema": schema}]
    called = run(tmp_path, "call", "go", "text=a", *behind(text("fine"), tools))
    assert (called.returncode, called.stdout, called.stderr) == (0, b"fine\n", b"")
    assert run(tmp_path, "tools", "go", *behind(tools=tools)).returncode == 0


def test_a_schema_with_references_stays_checked() -> None:
    tree = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {
            "tree": {"properties": {"left": {"$ref": "#/$defs/tree"}, "right": {"$ref": "#/$defs/tree"}}}
        },
    }
    assert is_checkable(tree) and usable(tree) is tree
    assert not is_checkable(CIRCLES) and not is_checkable(DOUBLING)
    for elsewhere in (
        {"$ref": "other#/x"},
        {"$dynamicRef": "#x"},
        {"$id": "x"},
        {"$ref": "#/gone"},
        {"$ref": "#x"},
    ):
        assert not is_checkable({"properties": {"a": elsewhere}})


def test_parameters_of_every_part_are_known_however_deep_it_stands() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}, {"allOf": [{"properties": {"c": {}}}]}],
        "$defs": {name: {"properties": {name: {"type": "integer"}}} for name in ("a", "b")},
        "additionalProperties": False,
    }
    assert parse("go", ["a=1", "b=2", "c=3"], schema | {"additionalProperties": True}, lambda _: b"") == {
        "a": 1,
        "b": 2,
        "c": 3,
    }


def test_twenty_thousand_parts_are_joined() -> None:
    schema = {"allOf": [{"properties": {f"p{number}": {"type": "integer"}}} for number in range(20_000)]}
    assert parse("go", ["p19999=7"], schema, lambda _: b"") == {"p19999": 7}


def test_a_pattern_that_takes_too_long_is_no_reason_not_to_call() -> None:
    schema = {"properties": {"text": {"type": "string", "pattern": r"^(?=(a+)+b)(a|aa)+(?<!x)\1$"}}}
    assert parse("go", ["text=" + "a" * 33 + "b"], schema, lambda _: b"")


def test_what_is_missing_is_told_in_one_line_however_much_it_is() -> None:
    with pytest.raises(BadRequest) as refused:
        parse("go", [], {"required": ["x\nbrimgate: fake", *(f"p{n}" for n in range(9_999))]}, lambda _: b"")
    first, *others = str(refused.value).split("\n")
    assert "and 9,980 more" in first and len(first) < 400 and others == ["  go()"]


def test_a_shell_is_given_no_name_that_it_would_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIMGATE_STATE_DIR", str(tmp_path))
    evil = ["$(reboot)", "a;b", "a b", "a\nb", "`x`", "--force", "\x1b[31m", "a'b", "!x", "fine", "größe"]
    properties = {name: {"enum": evil} for name in ("text", "$(reboot)")}
    target.remember_catalog(
        "s", json.dumps([{"name": one, "inputSchema": {"properties": properties}} for one in evil]).encode()
    )
    assert candidates("brimgate call s ") == ["fine", "größe"]
    assert candidates("brimgate call s fine ") == ["text=", "text=--force", "text=fine", "text=größe"]


def test_a_damaged_memory_of_tools_completes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRIMGATE_STATE_DIR", str(tmp_path))
    target.remember_catalog("s", b"[" * 100_000)
    target.remember_catalog("\udcff", b"[]")
    assert candidates("brimgate call s ") == []


# The operator


def test_a_state_folder_that_cannot_be_used_costs_only_the_rest_of_an_answer(
    tmp_path: Path, behind: Behind
) -> None:
    (tmp_path / "file").write_text("")
    items = json.dumps([{"number": number, "text": "some words"} for number in range(3_000)])
    shown = run(
        tmp_path, "call", "go", *behind(text(items)), BRIMGATE_STATE_DIR=str(tmp_path / "file" / "state")
    )
    assert shown.returncode == 0 and b"of 3,000" in shown.stdout
    assert b"their cursors end with this process" in shown.stderr and b"Traceback" not in shown.stderr


@pytest.mark.parametrize("command", ["call", "run", "measure"])
def test_help_can_be_read_in_plain_ascii(tmp_path: Path, command: str) -> None:
    shown = run(tmp_path, command, "--help", PYTHONIOENCODING="ascii")
    assert (shown.returncode, shown.stderr) == (0, b"") and b"usage: brimgate" in shown.stdout


@pytest.mark.parametrize("closing", ["2>&-", "2>/dev/full"])
def test_a_failure_is_a_failure_where_nothing_can_be_told(
    tmp_path: Path, behind: Behind, closing: str
) -> None:
    command = [*BRIMGATE, "call", "go", "--metrics"]
    for result, code in ((text("fine"), 0), (text("no", isError=True), 1)):
        shell = ["bash", "-c", f'"$@" {closing}', "-", *command, *behind(result)]
        done = subprocess.run(
            shell,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=variables(tmp_path, PYTHONUNBUFFERED=""),  # else there is nothing left to flush at exit
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stdout) == (code, b"" if code else b"fine\n")


@pytest.mark.parametrize("start", [BRIMGATE, [str(Path(sys.executable).with_name("brimgate"))]])
@pytest.mark.parametrize("closing", ["2>&-", "2>/dev/full", ">/dev/full", ">&-"])
@pytest.mark.parametrize("words", [["nonsense"], ["check", "/nowhere/at/all.yaml"], ["call"]])
def test_wrong_usage_ends_as_such_where_nothing_can_be_told(
    tmp_path: Path, words: list[str], closing: str, start: list[str]
) -> None:
    shell = ["bash", "-c", f'"$@" {closing}', "-", *start, *words]
    done = subprocess.run(
        shell,
        capture_output=True,
        env=variables(tmp_path, PYTHONUNBUFFERED=""),
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
