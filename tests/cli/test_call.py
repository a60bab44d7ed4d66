"""`brimgate call` as a user has it: real processes in front of real servers, each way it can end."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.config.running import BRIMGATE, environment
from tests.http.processes import is_alive
from tests.http.raw_upstream import Called, Script, raw_upstream
from tests.http.serving import DEMO, PATIENCE, Serving, serve, wait_until
from tests.in_process import Here

Result = subprocess.CompletedProcess[bytes]
Run = Callable[..., Result]
SERVER = Path(__file__).with_name("call_server.py")
SDK = [sys.executable, "-m", "tests.http.matrix_server", "--stdio"]
ROOT = Path(__file__).parents[2]


class Journal:
    """What the server of a test did."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def behind(self, mode: str = "plain") -> list[str]:
        return ["--", sys.executable, "-I", "-S", str(SERVER), mode, str(self.path)]

    @property
    def lines(self) -> list[str]:
        return self.path.read_text("utf-8").splitlines() if self.path.exists() else []

    @property
    def pids(self) -> list[int]:
        return [int(line.split()[1]) for line in self.lines if line.startswith("start ")]

    def messages(self, method: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [message for message in found if message.get("method") == method]


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Whatever a test does, nothing that it started is left running."""
    journal = Journal(tmp_path / "journal")
    yield journal
    assert not any(map(is_alive, journal.pids))


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    return environment(BRIMGATE_STATE_DIR=str(tmp_path / "state"))


@pytest.fixture
def run(tmp_path: Path, variables: dict[str, str]) -> Run:
    def brimgate(*arguments: str | bytes, stdin: bytes = b"", **more: str) -> Result:
        return subprocess.run(
            [*BRIMGATE, *arguments],
            input=stdin,
            capture_output=True,
            env=variables | more | {"PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            timeout=PATIENCE,
            check=False,
        )

    return brimgate


@pytest.fixture(scope="module")
def gateway() -> Iterator[Serving]:
    """An HTTP server: our own, in front of the demo server."""
    with serve(command=DEMO) as serving:
        yield serving


def told(result: Result) -> str:
    return result.stderr.decode()


# Exit code 0


def test_a_call_prints_the_answer_and_ends_the_server(run: Run, journal: Journal) -> None:
    result = run("call", "echo", "text=hello", *journal.behind())
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"echo: hello" in result.stdout
    assert len(journal.pids) == 1


def test_raw_is_the_result_as_the_server_sent_it(run: Run, journal: Journal) -> None:
    result = run("call", "echo", "--raw", "hello", *journal.behind())
    assert result.stdout == b'{"content": [{"type": "text", "text": "echo: hello"}]}\n'


def test_options_may_stand_anywhere_before_the_command(run: Run, journal: Journal) -> None:
    wanted = b'{"name":"echo","arguments":{"text":"-5"}}\n'
    for words in (["--dry-run", "echo", "-5"], ["echo", "--dry-run", "-5"], ["echo", "-5", "--dry-run"]):
        assert run("call", *words, *journal.behind()).stdout == wanted


def test_numbers_reach_the_server_as_they_were_spelled(run: Run, journal: Journal) -> None:
    spelled = '{"a":1.10,"b":1e400,"c":-0,"d":123456789012345678901234567890,"e":"é\U0001f600"}'
    assert run("call", "bare", f"x:={spelled}", *journal.behind()).returncode == 0
    sent = next(line for line in journal.lines if "tools/call" in line)
    assert f'"arguments":{{"x":{spelled}}}' in sent


def test_a_dry_run_calls_nothing(run: Run, journal: Journal) -> None:
    result = run("call", "wipe", "--dry-run", *journal.behind())
    assert (result.returncode, result.stdout) == (0, b'{"name":"wipe","arguments":{}}\n')
    assert not journal.messages("tools/call")


def test_a_destructive_tool_is_called_with_force_only(run: Run, journal: Journal) -> None:
    refused = run("call", "wipe", "what=all", *journal.behind())
    assert refused.returncode == 2 and refused.stdout == b""
    assert "wipe destroys something" in told(refused) and '{"what":"all"}' in told(refused)
    assert "--force" in told(refused) and not journal.messages("tools/call")
    assert run("call", "wipe", "--force", *journal.behind()).returncode == 0
    assert run("call", "look", *journal.behind()).returncode == 0
    assert [one["params"]["name"] for one in journal.messages("tools/call")] == ["wipe", "look"]


def test_arguments_come_by_standard_input(run: Run, journal: Journal) -> None:
    given = b'{"text": "piped"}'
    assert b"echo: piped" in run("call", "echo", *journal.behind(), stdin=given).stdout
    assert b"echo: piped" in run("call", "echo", "-", *journal.behind(), stdin=given).stdout


def test_arguments_come_from_files(run: Run, journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "text.md").write_bytes("né\r\n".encode())
    (tmp_path / "all.json").write_bytes(b'\xef\xbb\xbf{"text": "whole"}')
    assert run("call", "echo", "text=@text.md", "--dry-run", *journal.behind()).stdout == (
        '{"name":"echo","arguments":{"text":"né\\r\\n"}}\n'.encode()
    )
    assert b"echo: whole" in run("call", "echo", "@all.json", *journal.behind()).stdout


def test_a_server_may_litter_its_standard_output(run: Run, journal: Journal) -> None:
    assert b"echo: hello" in run("call", "echo", "hello", *journal.behind("littering")).stdout


def test_requests_of_the_server_are_answered_so_that_nothing_hangs(run: Run, journal: Journal) -> None:
    assert b"a ok, b -32601, c -32601" in run("call", "ask", "x", *journal.behind()).stdout


def test_a_server_of_the_newer_era_only_is_called_in_it(run: Run, journal: Journal) -> None:
    result = run("call", "echo", "hello", "--raw", *journal.behind("modern"))
    assert b"echo: hello" in result.stdout, told(result)
    meta = journal.messages("tools/call")[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "brimgate"
    assert not journal.messages("notifications/initialized")


@pytest.mark.parametrize("mode", ["pages", "loop"])
def test_tools_on_later_pages_are_found_and_endless_lists_end(run: Run, journal: Journal, mode: str) -> None:
    assert b"bare: " in run("call", "bare", *journal.behind(mode)).stdout


def test_a_nasty_schema_is_no_reason_not_to_call(run: Run, journal: Journal) -> None:
    result = run("call", "nasty", "edge", "loop=5", "any=[1]", "--dry-run", *journal.behind())
    assert json.loads(result.stdout)["arguments"] == {"kind": "edge", "loop": 5, "any": [1]}, told(result)


@pytest.mark.parametrize("era", [[], ["--legacy-only"]])
def test_a_server_on_the_official_sdk_is_called(run: Run, era: list[str]) -> None:
    result = run("call", "small", "--raw", "--", *SDK, *era)
    assert result.returncode == 0 and b'"content"' in result.stdout, told(result)


@pytest.mark.parametrize("path", ["mcp", "sse"])
def test_a_server_at_a_url_is_called(run: Run, gateway: Serving, path: str) -> None:
    url = f"http://127.0.0.1:{gateway.port}/{path}"
    result = run("call", url, "list_tasks", "--raw")
    assert result.returncode == 0 and b"[brimgate]" in result.stdout, told(result)


def test_a_server_of_the_configuration_is_called_by_its_name(
    run: Run, tmp_path: Path, gateway: Serving
) -> None:
    servers = {
        "web": {"url": f"http://127.0.0.1:{gateway.port}/mcp"},
        "own": {"command": DEMO[0], "args": DEMO[1:]},
    }
    config = tmp_path / "brimgate.yaml"
    config.write_text(json.dumps({"upstreams": servers}))
    assert run("call", "web", "list_tasks", "--config", str(config)).returncode == 0
    assert run("call", "own", "list_tasks", BRIMGATE_CONFIG=str(config)).returncode == 0
    unknown = run("call", "we", "list_tasks", BRIMGATE_CONFIG=str(config))
    assert unknown.returncode == 2 and "there are: web, own" in told(unknown)


# Over HTTP, byte by byte


def answered(result: Any) -> Script:
    def script(called: Called) -> bool:
        return called.answer(called.message(result=result))

    return script


def refused_as_modern_only(called: Called) -> bool:
    error = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": ["2026-07-28"]}}
    return called.answer(called.message(error=error), status="400 Bad Request")


def scripts(**more: Script) -> dict[str, Script]:
    return {
        "tools/list": answered({"tools": [{"name": name, "inputSchema": {}} for name in ("go", *more)]})
    } | more


def test_headers_take_their_secrets_from_the_environment(run: Run) -> None:
    with raw_upstream(scripts()) as upstream:
        header = ["--header", "Authorization: Bearer ${OURS}", "--header", "X-Plain: $1 ${A}${B}"]
        result = run("call", upstream.url, "go", *header, OURS="s3cret", A="a", B="${A}")
        assert result.returncode == 0, told(result)
        assert upstream.last("go").header("authorization") == "Bearer s3cret"
        assert upstream.last("go").header("x-plain") == "$1 a${A}"


def test_a_server_at_a_url_that_speaks_only_the_newer_era_is_called_in_it(run: Run) -> None:
    known = {"supportedVersions": ["2026-07-28"], "resultType": "complete"}
    modern = {"initialize": refused_as_modern_only, "server/discover": answered(known)}
    with raw_upstream(scripts() | modern) as upstream:
        assert run("call", upstream.url, "go").returncode == 0
        assert upstream.last("go").header("mcp-protocol-version") == "2026-07-28"
        assert upstream.last("go").header("mcp-name") == "go"


def test_a_connection_that_is_lost_in_the_call_ends_in_3(run: Run) -> None:
    with raw_upstream(scripts(drop=lambda _: False)) as upstream:
        result = run("call", upstream.url, "drop")
        assert (result.returncode, result.stdout) == (3, b"")
        assert "was lost" in told(result)


def test_a_server_that_wants_credentials_ends_in_3(run: Run) -> None:
    with raw_upstream(
        {"initialize": lambda called: called.answer(b"", status="401 Unauthorized")}
    ) as upstream:
        result = run("call", upstream.url, "go")
        assert result.returncode == 3 and "it wants credentials" in told(result)


def test_a_server_at_a_url_hears_that_a_call_is_wanted_no_more(variables: dict[str, str]) -> None:
    with raw_upstream(scripts(hang=lambda called: called.wait_for_end())) as upstream:
        with subprocess.Popen([*BRIMGATE, "call", upstream.url, "hang"], env=variables) as process:
            called = upstream.last("hang").json["id"]
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE) == 130
        assert upstream.last("notifications/cancelled").json["params"]["requestId"] == called


# Exit code 1


def test_a_tool_that_fails_ends_in_1(run: Run, journal: Journal) -> None:
    result = run("call", "fail", "x", *journal.behind())
    assert result.returncode == 1 and b"it went wrong" in result.stdout + result.stderr


def test_an_error_of_the_protocol_is_told_in_a_line_that_cannot_harm_a_terminal(
    run: Run, journal: Journal
) -> None:
    result = run("call", "refuse", "x", *journal.behind())
    assert (result.returncode, result.stdout) == (1, b"")
    assert told(result).startswith("brimgate: refuse failed: not  [31m today xxx")
    assert told(result).endswith("x (-32050)\n") and len(told(result)) < 2_100
    raw = run("call", "refuse", "x", "--raw", *journal.behind())
    assert raw.returncode == 1 and json.loads(raw.stdout)["data"] == [1]


def test_a_tool_that_asks_for_input_is_told_that_there_is_none(run: Run, journal: Journal) -> None:
    result = run("call", "input", "x", *journal.behind("modern"))
    assert result.returncode == 1 and "asks for input" in told(result)


# Exit code 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ecco", "x"], "there is no tool ecco; did you mean echo?"),
        (["echo"], "missing: text"),
        (["echo", "txt=1"], "there is no parameter txt; did you mean text?"),
        (["echo", "a", "b"], "'b' is too much"),
        (["echo", "text=@missing.txt"], "missing.txt: no such file"),
        (["echo", "@."], ".: is a directory"),
        (["echo", "x", "--budget", "3"], "--budget must be at least 300"),
    ],
)
def test_what_is_wrong_in_the_arguments_is_told(
    run: Run, journal: Journal, words: list[str], message: str
) -> None:
    result = run("call", *words, *journal.behind())
    assert (result.returncode, result.stdout) == (2, b"")
    assert message in told(result)
    assert not journal.messages("tools/call")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["echo", "x", "--bugdet", "5"], "there is no option --bugdet (did you mean --budget?)"),
        (["echo", "x", "--timeout", "0"], "must be a number of seconds above 0"),
        (["echo", "x", "--header", "A: b"], "--header is for a server given by its URL"),
        ([], "which tool?"),
    ],
)
def test_what_is_wrong_in_the_options_is_told_before_the_server_is_started(
    here: Here, journal: Journal, words: list[str], message: str
) -> None:
    result = here("call", *words, *journal.behind())
    assert (result.returncode, result.stdout) == (2, b"")
    assert message in told(result)
    assert not journal.pids


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "which server?"),
        (["notes", "x"], "there is no server notes in the configuration"),
        (["ftp://x/y", "x"], "the URL must be http:// or https://"),
        (["http://me:secret@x/y", "x"], "the URL must be http:// or https://"),
        (["http://x", "y", "--header", "secret"], "--header number 1 must be 'NAME: VALUE'"),
        (["http://x", "y", "--header", "A: 1", "--header", "a: 2"], "--header a is given twice"),
        (["http://x", "y", "--header", "A: ${NOT_SET_AT_ALL}"], "the variable NOT_SET_AT_ALL is not set"),
        (["http://x", "y", "--header", "Host: z"], "--header Host is a header that Brimgate sets itself"),
        (["x", "--"], "-- must be followed by the command"),
    ],
)
def test_what_is_wrong_about_the_server_is_told(here: Here, words: list[str], message: str) -> None:
    result = here("call", *words)
    assert (result.returncode, result.stdout) == (2, b"")
    assert message in told(result) and "secret" not in told(result)


def test_bytes_that_are_no_text_are_refused(run: Run, journal: Journal) -> None:
    result = run(b"call", b"echo", b"text=caf\xe9", *journal.behind())
    assert result.returncode == 2 and "argument 1 is no UTF-8" in told(result)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (b"", "missing: text"),
        (b"[1]", "standard input: must hold a JSON object"),
        (b'{"text": "a", "text": "b"}', "standard input: the key text stands twice"),
        (b'{"text": "a"', "standard input: not JSON"),
        (b'{"text": NaN}', "standard input: NaN is no number of JSON"),
        (b'{"text": "\xff"}', "standard input: not UTF-8 (byte 10)"),
        (b'{"text": "\\ud800"}', "standard input: half of a character"),
        (b'{"text": 5}', "text must be a text, not 5"),
    ],
)
def test_what_is_wrong_on_standard_input_is_told(
    run: Run, journal: Journal, given: bytes, message: str
) -> None:
    result = run("call", "echo", *journal.behind(), stdin=given)
    assert result.returncode == 2 and message in told(result)
    assert told(result).endswith("echo(text)\n")


# Exit code 3


@pytest.mark.parametrize(
    ("mode", "tool", "message"),
    [
        ("dead", "echo", "exited with code 7; it said last: no licence"),
        ("plain", "die", "exited with code 3; it said last: out of  [31m sheep"),
        ("plain", "break", "answered in broken JSON"),
        ("refusing", "echo", "refused initialize: come back later (-32603)"),
    ],
)
def test_a_server_that_cannot_be_talked_to_ends_in_3(
    run: Run, journal: Journal, mode: str, tool: str, message: str
) -> None:
    result = run("call", tool, "x", *journal.behind(mode))
    assert (result.returncode, result.stdout) == (3, b"")
    assert message in told(result)


def test_a_command_that_there_is_not_ends_in_3(run: Run) -> None:
    result = run("call", "x", "--", "no-such-command-anywhere")
    assert result.returncode == 3 and "there is no such command" in told(result)


def test_a_server_that_is_not_there_ends_in_3(run: Run, gateway: Serving) -> None:
    missing = run("call", "http://127.0.0.1:1/mcp", "x")
    assert missing.returncode == 3 and "is the server running?" in told(missing)
    elsewhere = run("call", f"http://127.0.0.1:{gateway.port}/nowhere", "x")
    assert elsewhere.returncode == 3, told(elsewhere)


# Exit code 4, and the end


@pytest.mark.parametrize(("mode", "tool"), [("silent", "echo"), ("plain", "hang")])
def test_a_server_that_does_not_answer_ends_in_4(run: Run, journal: Journal, mode: str, tool: str) -> None:
    result = run("call", tool, "x", "--timeout", "2", *journal.behind(mode))
    assert (result.returncode, result.stdout) == (4, b"")
    assert "within 2 s" in told(result) and "--timeout raises it" in told(result)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("mode", ["plain", "modern"])
def test_an_interrupt_cancels_the_call_and_leaves_nothing_behind(
    journal: Journal, variables: dict[str, str], mode: str, number: int, code: int
) -> None:
    command = [*BRIMGATE, "call", "hang", "x", *journal.behind(mode)]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        wait_until(lambda: "hanging" in journal.lines, "the call")
        process.send_signal(number)
        _, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stderr) == (code, b"")
    assert [one["params"]["requestId"] for one in journal.messages("notifications/cancelled")] == [
        one["id"] for one in journal.messages("tools/call")
    ]


def test_an_interrupt_at_the_very_start_leaves_nothing_behind(
    journal: Journal, variables: dict[str, str]
) -> None:
    command = [*BRIMGATE, "call", "echo", "x", *journal.behind("silent")]
    with subprocess.Popen(command, env=variables, stderr=subprocess.PIPE) as process:
        wait_until(lambda: journal.pids, "the server")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
    assert (process.returncode, stderr) == (130, b"")


def test_an_interrupt_ends_the_printing_of_an_answer_that_nobody_reads(
    journal: Journal, variables: dict[str, str], tmp_path: Path
) -> None:
    large = tmp_path / "large"
    large.write_text("x" * (4 << 20))
    command = [*BRIMGATE, "call", "echo", f"text=@{large}", "--raw", *journal.behind()]
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert os.read(process.stdout.fileno(), 1) == b"{"
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130
        assert process.stderr.read() == b""


def test_input_that_never_ends_is_not_waited_for_longer_than_told(
    journal: Journal, variables: dict[str, str]
) -> None:
    command = [*BRIMGATE, "call", "echo", "-", "--timeout", "1", *journal.behind()]
    with subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        told = process.stderr.read().decode()
        assert process.wait(PATIENCE) == 4
    assert "no arguments on standard input within 1 s" in told


def test_input_that_nobody_spoke_of_and_that_stays_silent_is_none(
    journal: Journal, variables: dict[str, str]
) -> None:
    command = [*BRIMGATE, "call", "echo", *journal.behind()]
    with subprocess.Popen(command, env=variables, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        told = process.stderr.read().decode()
        assert process.wait(PATIENCE) == 2
    assert "missing: text" in told


def test_what_the_server_says_on_stderr_is_passed_on_at_debug_level_only(run: Run, journal: Journal) -> None:
    shown = run("call", "die", "x", "--log-level", "debug", *journal.behind())
    assert any(line.endswith("] out of \\x1b[31m sheep") for line in told(shown).splitlines())


def test_a_long_call_says_on_a_terminal_how_far_it_is_and_wipes_that_away(
    journal: Journal, variables: dict[str, str], tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    command = [*BRIMGATE, "call", "report", str(gate), *journal.behind()]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while b"sheep" not in seen:
            seen += os.read(ours, 4_096)
        gate.write_bytes(b"")
        assert process.stdout is not None and b"done" in process.stdout.read()
        assert process.wait(PATIENCE) == 0
    seen += _rest_of(ours)
    assert re.search(rb"\d+ s 3/9 counting \[31m sheep", seen) and b"\x1b" not in seen
    assert re.search(rb"\r +\r\Z", seen)


def _rest_of(terminal: int) -> bytes:
    seen = b""
    try:
        while piece := os.read(terminal, 4_096):
            seen += piece
    except OSError:
        pass  # how Linux says that the other end is closed
    os.close(terminal)
    return seen


def test_nothing_heavy_is_loaded_before_the_server_is_started() -> None:
    code = "import sys, brimgate.cli.call, brimgate.cli.tools; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=PATIENCE)
    heavy = {
        "asyncio",
        "msgspec",
        "jsonschema_rs",
        "numpy",
        "splintr",
        "brimgate.engine.replies.text",
        "brimgate.cli.engine_options",
    }
    assert heavy.isdisjoint(loaded.stdout.decode().split())


def test_help_shows_an_example(here: Here) -> None:
    for command in ("call", "tools"):
        shown = here(command, "--help")
        assert shown.returncode == 0 and b"example:" in shown.stdout


def test_what_a_brimgate_behind_us_has_reduced_is_not_reduced_again(run: Run) -> None:
    """It is printed as it came: its notice first, its page whole, and no notice of ours."""
    server = [*BRIMGATE, "run", "--log-level", "error", "--", *DEMO]
    done = run("call", "list_bookings", "--", *server)
    text = done.stdout.decode()
    assert done.returncode == 0 and text.startswith("[brimgate] items #0-")
    assert (
        text.count("[brimgate]") == 1 and "more: brimgate call brimgate_read cursor=" in text.splitlines()[0]
    )
