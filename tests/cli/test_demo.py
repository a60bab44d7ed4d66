"""The tour, as a process that somebody reads from, and on a real terminal: tmux."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from brimgate.cli.tour import FinishedWalk, Stage, broken, cut, pieces

PATIENCE_SECONDS = 120
HINT = "any key: go on"
LAST = "8  In front of a server of your own"
TABLE_ROW = re.compile(
    r"^(\w+) +([\d,]+) +([\d,]+) +(\d+)% +([\d,]+) +(\d+) repl(?:y|ies), exact$", re.MULTILINE
)
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
COMMAND = (sys.executable, "-m", "brimgate", "demo")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Also one in which somebody has set us up for work of their own."""
    own = {"BRIMGATE_STATE_DIR": str(tmp_path / "state"), "BRIMGATE_OUTPUT_TOKEN_THRESHOLD": "1000000"}
    return PLAIN | own


@pytest.fixture(scope="module")
def tour(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """In such an environment: it must be the same whatever is configured."""
    own = {
        "BRIMGATE_STATE_DIR": str(tmp_path_factory.mktemp("state")),
        "BRIMGATE_OUTPUT_TOKEN_THRESHOLD": "1000000",
    }
    return subprocess.run(
        COMMAND, capture_output=True, encoding="utf-8", env=PLAIN | own, timeout=PATIENCE_SECONDS, check=False
    )


def test_without_a_terminal_all_of_it_is_told_in_plain_text(tour: subprocess.CompletedProcess[str]) -> None:
    assert tour.returncode == 0, tour.stderr
    assert tour.stderr == ""
    assert re.findall(r"^\d(?=  )", tour.stdout, re.MULTILINE) == list("12345678")
    assert all(one.isprintable() or one == "\n" for one in tour.stdout)
    assert HINT not in tour.stdout
    assert "/facts/373: fact=NimbusDB runs without a backup" in tour.stdout


def test_every_line_fits_a_terminal_of_a_hundred_columns(tour: subprocess.CompletedProcess[str]) -> None:
    # However long the path is at which it is installed: that is there to be copied.
    installed = Path(sys.executable)
    told = tour.stdout.replace(str(installed.with_name("brimgate")), "brimgate").replace(
        str(installed), "python"
    )
    assert [line for line in told.splitlines() if cells(line) > 99] == []


def test_the_odd_one_is_far_behind_the_first_page_named_there_and_read_whole(
    tour: subprocess.CompletedProcess[str],
) -> None:
    _, first_page, _, found, *_ = re.split(r"^\d  ", tour.stdout, flags=re.MULTILINE)[1:]
    named = re.search(r"/facts/(\d+): fact=NimbusDB runs without a backup", first_page)
    assert named
    assert int(named[1]) > 100
    assert f'path="/facts/{named[1]}"' in found
    assert "has failed since 3 November, and nobody was told" in found.replace("\n│ ", "")
    assert re.search(r"tokens, exact\.", found)


def test_every_walk_comes_back_exact_and_large_answers_are_kept_small(
    tour: subprocess.CompletedProcess[str],
) -> None:
    rows = TABLE_ROW.findall(tour.stdout)
    assert len(rows) >= 6
    assert "NOT the same" not in tour.stdout
    for _, direct, first, saved, _, replies in rows:
        before, after = (int(number.replace(",", "")) for number in (direct, first))
        assert after <= 4_000
        assert int(saved) > 80 if before > 20_000 else after == before
        assert (int(replies) > 1) == (before > 20_000)


def test_the_command_for_a_shell_was_run(tour: subprocess.CompletedProcess[str]) -> None:
    _, told = tour.stdout.split("6  From a shell")
    assert "call search_nodes 'nightly backup'" in told
    assert re.search(r"│ brimgate: search_nodes: .* tokens", told)


@pytest.mark.slow
def test_it_can_be_served_to_clients_until_it_is_interrupted() -> None:
    with subprocess.Popen(
        (*COMMAND, "--serve", "--port", "0"), stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout
            url = next(
                found[1] for line in process.stdout if (found := re.search(r"served at (http\S+/mcp) ", line))
            )
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            }
            request = Request(  # noqa: S310  # our own
                url,
                json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode(),
                {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
            )
            with urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
                assert b"Graphiti Agent Memory" in answer.read()
            process.send_signal(signal.SIGINT)
            assert f'"url": "{url}"' in process.stdout.read()
            assert process.wait(PATIENCE_SECONDS) == 0
        finally:
            process.kill()


class Terminal:
    """A tmux of its own, with a tour in it."""

    def __init__(self, environment: dict[str, str], name: str, size: tuple[int, int]) -> None:
        self._tmux = ("tmux", "-u", "-L", name, "-f", os.devnull)
        self._environment = environment | {"LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
        # The last word is a cat, so that there is something to look at when the tour has ended.
        shell = f"{shlex.join(COMMAND)}; echo ended with $?; stty -a; exec cat"
        columns, rows = map(str, size)
        self.do("new-session", "-d", "-x", columns, "-y", rows, shell)

    def do(self, *arguments: str) -> str:
        done = subprocess.run(
            (*self._tmux, *arguments),
            capture_output=True,
            encoding="utf-8",
            env=self._environment,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        return done.stdout

    def shown(self, *options: str) -> str:
        """All that was shown until now."""
        return self.do("capture-pane", "-p", "-S", "-", *options)

    def screen(self) -> str:
        """What can be seen without scrolling back."""
        return self.do("capture-pane", "-p")

    def wait_for(self, text: str, on_hint: Callable[[], object] = lambda: None) -> str:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while text not in (shown := self.shown()):
            assert time.monotonic() < deadline, f"{text!r} did not come:\n{shown}"
            if HINT in shown:
                on_hint()
            time.sleep(0.05)
        return shown

    def press(self, *keys: str) -> None:
        self.do("send-keys", *keys)


@pytest.fixture
def open_terminal(environment: dict[str, str]) -> Iterator[Callable[..., Terminal]]:
    if not shutil.which("tmux"):
        pytest.skip("tmux is not installed: the tour cannot be seen on a terminal")
    opened: list[Terminal] = []

    def start(size: tuple[int, int] = (100, 30), **more: str) -> Terminal:
        opened.append(Terminal(environment | more, f"brimgate-test-{os.getpid()}-{len(opened)}", size))
        return opened[-1]

    yield start
    for terminal in opened:
        socket = terminal.do("display-message", "-p", "#{socket_path}").strip()
        terminal.do("kill-server")
        Path(socket).unlink(missing_ok=True)


@pytest.mark.slow
def test_on_a_terminal_keys_lead_through_it_and_the_terminal_is_left_as_it_was(
    open_terminal: Callable[..., Terminal],
) -> None:
    terminal = open_terminal()
    terminal.wait_for(HINT)
    assert "\x1b[1m" in terminal.shown("-e")
    terminal.wait_for("/facts/373: fact=NimbusDB", lambda: terminal.press("Space"))
    terminal.wait_for("Item 374 of 374", lambda: terminal.press("Right"))
    terminal.wait_for(LAST, lambda: terminal.press("Enter"))
    shown = terminal.wait_for("ended with 0")
    assert HINT not in shown
    assert "NOT the same" not in shown
    modes = terminal.wait_for(" icanon")
    assert re.search(r" echo\b", modes)


@pytest.mark.slow
def test_every_step_fits_the_smallest_usual_terminal(open_terminal: Callable[..., Terminal]) -> None:
    terminal = open_terminal((80, 24))
    for step in range(1, 8):
        terminal.wait_for(f"\n{step}  " if step > 1 else "1  ")
        shown = wait_for_screen(terminal, lambda screen, step=step: has_step(screen, step) and HINT in screen)
        assert has_step(shown, step), "its heading has scrolled away"
        terminal.press("Space")
    terminal.wait_for("ended with 0")
    told = terminal.shown("-J").split(LAST)[0]
    copied = ("call search_nodes", "-m brimgate.sandboxes.graphiti")  # behind paths of any length
    wide = [line for line in told.splitlines() if cells(line.rstrip()) > 79]
    assert [line for line in wide if not any(part in line for part in copied)] == []


def has_step(screen: str, step: int) -> bool:
    return re.search(rf"^{step}  ", screen, re.MULTILINE) is not None


def wait_for_screen(terminal: Terminal, is_there: Callable[[str], bool]) -> str:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_there(screen := terminal.screen()):
        assert time.monotonic() < deadline, screen
        time.sleep(0.05)
    return screen


@pytest.mark.slow
def test_a_window_that_is_made_smaller_gets_narrower_lines(open_terminal: Callable[..., Terminal]) -> None:
    terminal = open_terminal()
    terminal.wait_for("1  An agent")
    terminal.do("resize-window", "-x", "60", "-y", "20")
    terminal.wait_for("ended with 0", lambda: terminal.press("Space"))
    # Joined where the terminal had to wrap: nothing that was written since may have needed that.
    told = terminal.shown("-J").split("5  Walking to the end")[1].split("8  In front")[0]
    wide = [line for line in told.splitlines() if cells(line.rstrip()) > 59]
    copied = ("call search_nodes", "-m brimgate.sandboxes.graphiti")  # behind paths of any length
    assert [line for line in wide if not any(part in line for part in copied)] == [], "only that is not cut"
    assert re.search(r"^│ .*…$", told, re.MULTILINE)


@pytest.mark.parametrize(("key", "code"), [("q", 0), ("C-c", 130)])
def test_it_can_be_ended_at_any_step(open_terminal: Callable[..., Terminal], key: str, code: int) -> None:
    terminal = open_terminal(NO_COLOR="1")
    terminal.wait_for(HINT)
    assert "\x1b[" not in terminal.shown("-e")
    terminal.press(key)
    shown = terminal.wait_for(f"ended with {code}")
    assert LAST not in shown
    assert "Traceback" not in shown
    assert re.search(r" echo\b", terminal.wait_for(" icanon"))


def test_what_others_wrote_cannot_steer_the_terminal(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    stage = Stage(is_fast=True, quitting="end")
    stage.quote(["\x1b[2Jgone\x07\r\u202e\x9b31m"], 1)
    stage.quote_whole("\x1b]0;title\x07")
    assert capfdbinary.readouterr().out.decode() == "│  [2Jgone   " + " 31m\n│  ]0;title \n"


def test_lines_are_cut_and_broken_by_what_they_take_on_a_screen() -> None:
    assert cut("short", 5) == "short"
    assert cut("longer", 5) == "long…"
    assert cut("東京台北", 7) == "東京台…"
    assert cut("e\u0301" * 40, 10) == "e\u0301" * 9 + "…"
    assert pieces("東京台北", 5) == ["東京", "台北"]
    assert broken("one,two three", 8) == ["one,two ", "three"]
    assert broken("a,longerthanthat", 6) == ["a,", "longer", "thanth", "at"]


def test_a_walk_that_gives_something_else_is_told_from_one_that_does_not() -> None:
    assert FinishedWalk([1], b'{"a":1}').gives(b'{ "a": 1 }')
    assert not FinishedWalk([1], b'{"a":2}').gives(b'{"a":1}')
    assert not FinishedWalk([1], b"text").gives(b"text\n")


def cells(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in line)
