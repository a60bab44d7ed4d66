"""Packs that are hostile or careless: whoever calls is told what is wrong, and has an answer all the same."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brimgate.cli.savings import parse_calls
from brimgate.config.pack_rules import rules_of
from brimgate.errors import InputError, OperatorError
from brimgate.packs.formatter import failure_of
from brimgate.packs.graphiti import PACK
from brimgate.packs.pack import Pack
from tests.config.running import BRIMGATE, environment
from tests.http.serving import PATIENCE
from tests.packs.test_discovery import ship

SERVER = Path(__file__).parents[1] / "cli" / "hostile_server.py"
HEAD = "from pathlib import Path\nfrom brimgate.packs import Pack, Tool\n"
MARKS = "(frozenset({'echo'}),)"


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    variables = environment(PYTHONPATH=str(folder), BRIMGATE_STATE_DIR=str(folder / "state"))
    return subprocess.run(
        [*BRIMGATE, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=variables,
        cwd=folder,
        timeout=PATIENCE,
        check=False,
    )


def call(folder: Path, answer: str = '{"a": "a long enough text"}') -> "subprocess.CompletedProcess[str]":
    script = folder / "script.json"
    tools = [{"name": "echo", "inputSchema": {"type": "object"}}]
    script.write_text(json.dumps({"tools": tools, "result": {"content": [{"type": "text", "text": answer}]}}))
    return run(folder, "call", "echo", "--", sys.executable, "-I", "-S", str(SERVER), str(script))


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (f"Pack('toy', '', ['echo'], marks={MARKS})", "its tools must be a mapping"),
        (f"Pack('toy', '', {{'echo': 'x'}}, marks={MARKS})", "its tools must be a mapping"),
        (f"Pack('toy', '', {{'echo': Tool(None, order=7)}}, marks={MARKS})", "its tools must be a mapping"),
        (f"Pack('toy', '', {{'echo': Tool('x')}}, marks={MARKS})", "its tools must be a mapping"),
        ("Pack('toy', '', {}, marks=('echo',))", "its marks must be a tuple of frozensets"),
        ("Pack('toy', '', {}, marks=None)", "its marks must be a tuple of frozensets"),
        ("Pack('toy', '', {}, folder='/tmp')", "its folder must be a Path"),
        ("Pack('toy', 5, {})", "its description must be a text"),
        ("Pack('toy', '', {}, failure='no')", "its failure must be a function"),
        ("Pack('../toy', '', {})", "its name is '../toy', which must be that of its entry point"),
    ],
)
def test_a_pack_against_the_contract_is_told_of_and_keeps_no_call_from_its_answer(
    tmp_path: Path, made: str, why: str
) -> None:
    ship(tmp_path, "toy_wrong", f"{HEAD}PACK = {made}\n", "toy = toy_wrong:PACK")
    listed = run(tmp_path, "packs")
    assert listed.returncode == 1 and why in listed.stderr and "graphiti" in listed.stdout
    answered = call(tmp_path)
    assert answered.returncode == 0 and "long enough" in answered.stdout
    assert "Traceback" not in answered.stderr


@pytest.mark.parametrize("failure", ["lambda _: 1 / 0", "lambda _: 17", "lambda answer: answer['gone']"])
def test_a_pack_that_fails_to_tell_failures_costs_nobody_the_answer(tmp_path: Path, failure: str) -> None:
    code = f"PACK = Pack('toy', '', {{'echo': Tool()}}, marks={MARKS}, failure={failure})\n"
    ship(tmp_path, "toy_failing", HEAD + code, "toy = toy_failing:PACK")
    answered = call(tmp_path)
    assert (answered.returncode, answered.stderr) == (0, "") and "long enough" in answered.stdout


def test_what_a_pack_prints_does_not_get_into_the_answer(tmp_path: Path) -> None:
    code = (
        "print('loaded')\n"
        "def fine(answer, scene):\n    print('at work')\n    return 'fine'\n"
        f"PACK = Pack('toy', '', {{'echo': Tool(fine)}}, marks={MARKS})\n"
    )
    ship(tmp_path, "toy_talking", HEAD + code, "toy = toy_talking:PACK")
    answered = call(tmp_path)
    assert answered.stdout == "fine\n" and answered.stderr.startswith("loaded\nat work\n")


def test_what_a_pack_prints_does_not_get_between_the_messages_of_a_gateway(tmp_path: Path) -> None:
    code = (
        "def fine(answer, scene):\n    print('at work')\n    return 'fine'\n"
        "PACK = Pack('toy', '', {'echo': Tool(fine)})\n"
    )
    ship(tmp_path, "toy_talking", HEAD + code, "toy = toy_talking:PACK")
    script = tmp_path / "script.json"
    content = [{"type": "text", "text": json.dumps([{"number": one} for one in range(20_000)])}]
    script.write_text(json.dumps({"tools": [], "result": {"content": content}}))
    with subprocess.Popen(
        [*BRIMGATE, "run", "--pack", "toy", "--", sys.executable, "-I", "-S", str(SERVER), str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(PYTHONPATH=str(tmp_path), BRIMGATE_STATE_DIR=str(tmp_path / "state")),
    ) as gateway:
        assert gateway.stdin and gateway.stdout
        told = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        }
        for key, method, params in (
            (1, "initialize", told),
            (2, "tools/call", {"name": "echo", "arguments": {}}),
        ):
            message = {"jsonrpc": "2.0", "id": key, "method": method, "params": params}
            gateway.stdin.write(json.dumps(message).encode() + b"\n")
            gateway.stdin.flush()
            assert json.loads(gateway.stdout.readline())["id"] == key
        rest, said = gateway.communicate(timeout=PATIENCE)
    assert (rest, b"at work" in said) == (b"", True)


def test_what_a_formatter_says_of_its_failure_cannot_steer_a_terminal(tmp_path: Path) -> None:
    code = (
        "def fail(answer, scene):\n    raise ValueError('red \\x1b[31m\\nbrimgate: all is well')\n"
        f"PACK = Pack('toy', '', {{'echo': Tool(fail)}}, marks={MARKS})\n"
    )
    ship(tmp_path, "toy_red", HEAD + code, "toy = toy_red:PACK")
    answered = call(tmp_path)
    assert "\x1b" not in answered.stderr and answered.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "rules", ["tools: [", "tools: {echo: {nonsense: 1}}", "tools: {echo: {threshold: 12001}}"]
)
def test_an_answer_is_not_lost_by_rules_that_are_wrong(tmp_path: Path, rules: str) -> None:
    (tmp_path / "rules.yaml").write_text(rules)
    code = f"PACK = Pack('toy', '', {{'echo': Tool()}}, marks={MARKS}, folder=Path({str(tmp_path)!r}))\n"
    ship(tmp_path, "toy_ruled", HEAD + code, "toy = toy_ruled:PACK")
    answered = call(tmp_path, json.dumps([f"item {number} is long enough" for number in range(2_000)]))
    assert answered.returncode == 0 and "item 1 is long enough" in answered.stdout
    assert "toy/rules.yaml" in answered.stderr and "the rules of the pack toy are not used" in answered.stderr


def test_a_budget_of_a_pack_above_the_cap_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("tools: {look: {threshold: 5000}}")
    pack = Pack("toy", "", {}, folder=tmp_path)
    assert rules_of(pack, 5_000)
    with pytest.raises(
        OperatorError, match=r"toy/rules\.yaml: look: threshold 5000 is more than .* \(4000\)"
    ):
        rules_of(pack, 4_000)


def test_rules_that_are_no_text_are_shown_as_far_as_they_can_be(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_bytes(b"\xff\xfe")
    code = f"PACK = Pack('toy', '', {{}}, folder=Path({str(tmp_path)!r}))\n"
    ship(tmp_path, "toy_binary", HEAD + code, "toy = toy_binary:PACK")
    described = run(tmp_path, "packs", "toy")
    assert (described.returncode, described.stderr) == (0, "")


def test_half_a_character_in_a_sample_is_told_with_its_line() -> None:
    with pytest.raises(InputError, match="samples:2: half of a character"):
        parse_calls(b'\n{"tool": "look", "answer": "\\ud800"}\n', "samples")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b'{"error": {"code": 5, "why": "lost"}}', '{"code":5,"why":"lost"}'),
        (b'{"error": ""}', "error"),
        (b'{"status": "error", "message": ["a", 1.50]}', '["a",1.50]'),
        (b'{"error": "no", "n": ' + b"9" * 5_000 + b"}", ""),
        (b"not JSON", ""),
    ],
)
def test_a_failure_of_graphiti_is_told_as_it_came(answer: bytes, told: Any) -> None:
    assert failure_of(PACK, answer) == told
