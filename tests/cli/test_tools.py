"""`brimgate tools` as a user has it."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.test_call import Journal, Run, gateway, journal, run, told, variables
from tests.http.serving import DEMO, Serving

__all__ = ["gateway", "journal", "run", "variables"]


def test_every_tool_is_listed_with_its_signature_and_first_sentence(run: Run) -> None:
    listed = run("tools", "--", *DEMO)
    assert (listed.returncode, listed.stderr) == (0, b"")
    assert (
        "search_knowledge(query, max_nodes?)\n"
        "    What is known about properties, guests, suppliers and procedures.\n"
    ) in listed.stdout.decode()


def test_one_tool_is_described_with_an_example_that_runs(run: Run) -> None:
    described = run("tools", "search_knowledge", "--", *DEMO).stdout.decode()
    assert "  query  string, required\n      Words to look for.\n" in described
    assert "  max_nodes  integer\n" in described
    example = re.search(r"example:\n  brimgate (.*) -- ", described)
    assert example and example[1] == "call search_knowledge query=TEXT"
    assert run(*example[1].split(), "--", *DEMO).returncode == 0


def test_json_is_the_definitions_as_the_server_sent_them(run: Run, journal: Journal) -> None:
    every = run("tools", "--json", *journal.behind())
    tools = json.loads(every.stdout)
    assert [tool["name"] for tool in tools][-3:] == ["look", "nasty", "bare"]
    one = run("tools", "--json", "nasty", *journal.behind())
    assert json.loads(one.stdout) == next(tool for tool in tools if tool["name"] == "nasty")
    assert one.stdout.strip() in every.stdout


@pytest.mark.parametrize("mode", ["pages", "loop", "modern", "littering"])
def test_all_pages_in_either_era_are_listed_once(run: Run, journal: Journal, mode: str) -> None:
    whole = run("tools", *journal.behind()).stdout
    assert whole and run("tools", *journal.behind(mode)).stdout == whole


def test_a_server_cannot_write_to_the_terminal(run: Run, journal: Journal) -> None:
    for words in ([], ["nasty"]):
        shown = run("tools", *words, *journal.behind()).stdout
        assert b"\x1b" not in shown and b"\x07" not in shown and b"Rings" in shown


def test_what_is_known_of_a_nasty_schema_is_told(run: Run, journal: Journal) -> None:
    shown = run("tools", "nasty", *journal.behind()).stdout.decode()
    assert '  kind  "node" or "edge" or 7\n' in shown and "  any  any\n" in shown


def test_a_destructive_tool_is_described_as_such(run: Run, journal: Journal) -> None:
    shown = run("tools", "wipe", *journal.behind()).stdout.decode()
    assert "destroys something" in shown and "brimgate call wipe --force -- " in shown


def test_a_secret_in_the_command_is_not_repeated(run: Run, journal: Journal) -> None:
    shown = run("tools", "echo", *journal.behind(), "--api-key", "s3cret").stdout.decode()
    assert "call_server.py" in shown and "s3cret" not in shown


def test_the_tools_of_a_server_at_a_url_or_in_a_file_are_listed(
    run: Run, gateway: Serving, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{gateway.port}/mcp"
    assert b"get_booking(id)\n" in run("tools", url).stdout
    assert f"brimgate call {url} get_booking id=".encode() in run("tools", url, "get_booking").stdout
    config = tmp_path / "brimgate.yaml"
    config.write_text(json.dumps({"upstreams": {"web": {"url": url}}}))
    assert b"get_booking(id)\n" in run("tools", "web", "--config", str(config)).stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["ecco"], 2, "there is no tool ecco; did you mean echo?"),
        (["zzz"], 2, "there is no tool zzz; it has 14 others"),
        (["echo", "ask"], 2, "one tool at a time"),
        (["--jsn"], 2, "there is no option --jsn (did you mean --json?)"),
    ],
)
def test_what_is_wrong_is_told(run: Run, journal: Journal, words: list[str], code: int, message: str) -> None:
    result = run("tools", *words, *journal.behind())
    assert (result.returncode, result.stdout) == (code, b"")
    assert message in told(result)


def test_a_server_that_cannot_be_talked_to_ends_in_3_and_one_that_is_silent_in_4(
    run: Run, journal: Journal
) -> None:
    assert run("tools", *journal.behind("dead")).returncode == 3
    assert run("tools", "--timeout", "1", *journal.behind("silent")).returncode == 4
