"""`brimgate serve --socket`: a file that only our own user may connect to, which is ours from beginning to end."""

import json
import signal
import socket
import stat
import subprocess
from pathlib import Path

from tests.config.running import BRIMGATE, environment
from tests.http.authorities import issue
from tests.http.serving import FAULTY, PATIENCE, Answer, Serving, serve
from tests.http.wire import Wire, request

HELLO = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        },
    }
).encode()
JSON = b"Content-Type: application/json"


def ask(path: Path, *pieces: bytes) -> Answer:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.settimeout(PATIENCE)
        opened.connect(str(path))
        with Wire.over(opened) as wire:
            wire.send(*pieces)
            return wire.answer()


def wait_for_start(serving: Serving, path: Path) -> None:
    serving.wait_for_line(f"serving http://unix:{path}:/mcp")


def test_a_client_of_our_own_user_calls_without_a_login(tmp_path: Path) -> None:
    path = tmp_path / "gate.sock"
    with serve("--socket", str(path), port=None) as serving:
        wait_for_start(serving, path)
        found = path.stat()
        assert (stat.S_ISSOCK(found.st_mode), stat.S_IMODE(found.st_mode)) == (True, 0o600)
        answer = ask(path, request(b"POST /mcp", JSON, body=HELLO))
        assert (answer.status, answer.messages[-1]["id"]) == (200, 1)
        forwarded = ask(path, request(b"POST /mcp", JSON, b"X-Forwarded-For: 192.0.2.1", body=HELLO))
        assert (forwarded.status, forwarded.json["id"]) == (403, 1)
        assert ask(path, request(host=b"Host: evil.example.com")).status == 421
        assert serving.stop() == 0
    assert not path.exists()


def test_it_listens_there_alone(tmp_path: Path) -> None:
    """Also where the file names an address that would need `auth`."""
    path = tmp_path / "gate.sock"
    with serve("--socket", str(path), "--host", "192.0.2.1", port=None) as serving:
        wait_for_start(serving, path)
        opened = Path(f"/proc/{serving.process.pid}/fd")
        numbers = {str(one.readlink()) for one in opened.iterdir() if one.is_symlink()}
        listening = [
            line.split()[9]
            for table in ("tcp", "tcp6")
            for line in Path(f"/proc/{serving.process.pid}/net/{table}").read_text().splitlines()[1:]
            if line.split()[3] == "0A"
        ]
        assert not numbers & {f"socket:[{number}]" for number in listening}


def test_what_a_killed_process_has_left_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "gate.sock"
    with serve("--socket", str(path), port=None) as serving:
        wait_for_start(serving, path)
        assert serving.stop(signal.SIGKILL) == -signal.SIGKILL
    assert path.exists()
    with serve("--socket", str(path), port=None) as serving:
        wait_for_start(serving, path)
        assert ask(path, request()).status == 200


def test_a_socket_in_use_and_other_files_are_left_alone(tmp_path: Path) -> None:
    path, words = tmp_path / "gate.sock", tmp_path / "words"
    words.write_text("mine")
    with serve("--socket", str(path), port=None) as serving:
        wait_for_start(serving, path)
        assert "another program listens there" in refusal(path)
        assert ask(path, request()).status == 200
        assert "it is no socket" in refusal(words)
        assert "cannot listen" in refusal(tmp_path / "missing" / "gate.sock")
        assert "cannot listen" in refusal(tmp_path / ("x" * 200))
    assert words.read_text() == "mine"


def refusal(path: Path) -> str:
    tried = subprocess.run(
        [*BRIMGATE, "serve", "--socket", str(path), "--", *FAULTY],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    assert tried.returncode == 2, tried
    assert "Traceback" not in tried.stderr
    return tried.stderr


def test_the_one_that_ends_does_not_remove_the_socket_of_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "gate.sock"
    with serve("--socket", str(path), port=None) as first:
        wait_for_start(first, path)
        path.rename(tmp_path / "before.sock")
        with serve("--socket", str(path), port=None) as second:
            wait_for_start(second, path)
            assert first.stop() == 0
            assert ask(path, request()).status == 200


def test_tls_over_a_socket(tmp_path: Path) -> None:
    path, issued = tmp_path / "gate.sock", issue(tmp_path, "one")
    with serve("--socket", str(path), *issued.options, port=None) as serving:
        serving.wait_for_line(f"serving https://unix:{path}:/mcp")
        with socket.socket(socket.AF_UNIX) as opened:
            opened.settimeout(PATIENCE)
            opened.connect(str(path))
            with (
                issued.trusting().wrap_socket(opened, server_hostname="localhost") as wrapped,
                Wire.over(wrapped) as wire,
            ):
                wire.send(request())
                assert wire.answer().status == 200
