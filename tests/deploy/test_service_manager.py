"""A service manager hears how `brimgate serve` is, and gives it sockets: real processes, real sockets."""

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.config.running import BRIMGATE, environment
from tests.deploy.managed import Service, manager, service
from tests.http.authorities import issue
from tests.http.callers import Keys, write_config
from tests.http.serving import PATIENCE, LegacyClient, Serving, text_of, wait_until
from tests.http.wire import Wire, request
from tests.store.redis_server import redis_server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="service managers of this kind are on Linux")
HEALTH = request(b"GET /healthz")


@contextmanager
def listening(address: tuple[str, int] | str = ("127.0.0.1", 0)) -> Iterator[socket.socket]:
    family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
    with socket.socket(family) as made:
        made.bind(address)
        made.listen(16)
        yield made


def ask(given: socket.socket, context: ssl.SSLContext | None = None) -> int:
    """The status of a health check on a new connection."""
    with connected(given) as opened:
        secured = context.wrap_socket(opened, server_hostname="localhost") if context else opened
        with Wire.over(secured) as wire:
            wire.send(HEALTH)
            return wire.answer().status


def connected(given: socket.socket) -> socket.socket:
    opened = socket.socket(given.family)
    opened.settimeout(PATIENCE)
    opened.connect(given.getsockname())
    return opened


@pytest.mark.parametrize("is_abstract", [False, True])
def test_it_tells_of_its_start_its_reload_and_its_end(is_abstract: bool, tmp_path: Path) -> None:
    with (
        manager(tmp_path, is_abstract=is_abstract) as heard,
        service(tmp_path, "--port", "0", NOTIFY_SOCKET=heard.address) as running,
    ):
        told = heard.wait_for("READY")
        port = int(re.fullmatch(r"serving http://127\.0\.0\.1:(\d+)", told["STATUS"])[1])  # type: ignore[index]
        assert _status(port) == 200, "clients may connect once it is told"
        running.process.send_signal(signal.SIGHUP)
        heard.wait_for("READY", times=2)
        assert heard.names() == ["READY", "RELOADING", "READY"]
        assert int(heard.heard[1]["MONOTONIC_USEC"]) > 0
        assert heard.heard[2]["STATUS"] == told["STATUS"]
        running.process.terminate()
        heard.wait_for("STOPPING")
        assert running.process.wait(PATIENCE) == 0
        assert "WATCHDOG" not in heard.names()


def _status(port: int) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_watchdog_is_fed_only_while_the_process_lives(tmp_path: Path) -> None:
    with (
        manager(tmp_path) as heard,
        service(tmp_path, "--port", "0", NOTIFY_SOCKET=heard.address, WATCHDOG_USEC="100000") as running,
    ):
        heard.wait_for("WATCHDOG", times=5)
        running.process.send_signal(signal.SIGSTOP)
        wait_until(lambda: "T" in _state(running.process.pid), "it is stopped")
        before = heard.count("WATCHDOG")
        with pytest.raises(AssertionError):
            wait_until(lambda: heard.count("WATCHDOG") > before + 1, "another", patience=1)
        running.process.send_signal(signal.SIGCONT)
        heard.wait_for("WATCHDOG", times=before + 3)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_watchdog_of_another_process_is_not_fed(tmp_path: Path) -> None:
    with (
        manager(tmp_path) as heard,
        service(
            tmp_path, "--port", "0", NOTIFY_SOCKET=heard.address, WATCHDOG_USEC="100000", WATCHDOG_PID="1"
        ) as running,
    ):
        heard.wait_for("READY")
        running.process.terminate()
        heard.wait_for("STOPPING")
        assert "WATCHDOG" not in heard.names()


def test_a_manager_that_is_away_is_told_in_the_log(tmp_path: Path) -> None:
    with service(tmp_path, "--port", "0", NOTIFY_SOCKET=str(tmp_path / "nobody")) as running:
        running.wait_for_line("serving http://127.0.0.1:")
        assert "READY=1" in running.wait_for_line("notify_failed")


def test_a_connection_made_before_the_start_is_answered(tmp_path: Path) -> None:
    with listening() as given, connected(given) as early, Wire.over(early) as wire:
        wire.send(HEALTH)
        with service(tmp_path, sockets=[given]) as running:
            assert wire.answer().status == 200
            port = given.getsockname()[1]
            running.wait_for_line(f"serving http://127.0.0.1:{port}/mcp")


def test_a_client_waits_while_the_service_is_started_anew(tmp_path: Path) -> None:
    with listening() as given:
        with service(tmp_path, sockets=[given]):
            assert ask(given) == 200
        with connected(given) as between, Wire.over(between) as wire:
            wire.send(HEALTH)
            with service(tmp_path, sockets=[given]):
                assert wire.answer().status == 200


def test_a_unix_socket_stays_in_place(tmp_path: Path) -> None:
    """It is the manager's: whoever connects next waits there."""
    path = tmp_path / "gate.sock"
    with listening(str(path)) as given:
        with service(tmp_path, sockets=[given]) as running:
            assert ask(given) == 200
            running.wait_for_line(f"serving http://unix:{path}:/mcp")
        assert path.exists()
        with service(tmp_path, sockets=[given]):
            assert ask(given) == 200


def test_several_sockets_are_served_with_tls(tmp_path: Path) -> None:
    issued = issue(tmp_path, "one")
    with (
        listening() as one,
        listening(str(tmp_path / "gate.sock")) as two,
        service(tmp_path, *issued.options, sockets=[one, two]),
    ):
        assert [ask(given, issued.trusting()) for given in (one, two, one)] == [200, 200, 200]


def test_what_we_start_inherits_neither_sockets_nor_variables(tmp_path: Path) -> None:
    with listening() as given, manager(tmp_path) as heard:
        variables = {"NOTIFY_SOCKET": heard.address, "WATCHDOG_USEC": "1000000", "LISTEN_FDNAMES": "web"}
        with service(tmp_path, sockets=[given], **variables) as running:
            heard.wait_for("READY")
            client = _client_of(running, given.getsockname()[1])
            pid = int(text_of(client.call("pid")))
            inherited = Path(f"/proc/{pid}/environ").read_text()
            assert not re.search("NOTIFY_SOCKET|WATCHDOG_|LISTEN_", inherited)
            number = f"socket:[{os.fstat(given.fileno()).st_ino}]"
            links = [os.readlink(one) for one in Path(f"/proc/{pid}/fd").iterdir()]  # noqa: PTH115
            assert number not in links
            client.serving.close_connections()


def _client_of(running: Service, port: int) -> LegacyClient:
    serving = Serving(running.process, [f"serving http://127.0.0.1:{port}/mcp"])
    client = serving.client()
    client.initialize()
    return client


def test_sockets_of_another_process_are_left_alone(tmp_path: Path) -> None:
    with listening() as given, service(tmp_path, "--port", "0", sockets=[given], TEST_PID="1") as running:
        line = running.wait_for_line("serving http://127.0.0.1:")
        assert f":{given.getsockname()[1]}/" not in line


def test_an_open_address_needs_auth_whoever_binds_it(tmp_path: Path) -> None:
    """The configuration says loopback, and the socket is for everyone."""
    with listening(("0.0.0.0", 0)) as given, service(tmp_path, sockets=[given]) as running:  # noqa: S104
        assert running.process.wait(PATIENCE) == 2
        running.wait_for_line("will not listen on 0.0.0.0")


def test_a_socket_that_does_not_listen_is_refused(tmp_path: Path) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as given,
        service(tmp_path, sockets=[given], LISTEN_FDNAMES="web") as running,
    ):
        assert running.process.wait(PATIENCE) == 2
        assert "descriptor 3 of the service manager (web)" in running.wait_for_line("ListenStream=")


def test_workers_do_not_share_a_given_socket(tmp_path: Path) -> None:
    with listening() as given, service(tmp_path, "--workers", "2", sockets=[given]) as running:
        assert running.process.wait(PATIENCE) == 2
        running.wait_for_line("disable the socket unit")


def test_the_parent_of_workers_tells_for_all(tmp_path: Path) -> None:
    path = write_config(tmp_path, Keys("alice").auth())
    with (
        redis_server() as store,
        manager(tmp_path) as heard,
        service(
            tmp_path,
            "--config",
            str(path),
            "--workers",
            "2",
            "--port",
            "0",
            command=(),
            NOTIFY_SOCKET=heard.address,
            WATCHDOG_USEC="200000",
            REDIS_URL=store.url,
        ) as running,
    ):
        assert "by 2 workers" in heard.wait_for("READY")["STATUS"]
        running.process.send_signal(signal.SIGHUP)
        heard.wait_for("READY", times=2)
        heard.wait_for("WATCHDOG", times=3)
        running.process.terminate()
        heard.wait_for("STOPPING")
        others = [name for name in heard.names() if name != "WATCHDOG"]
        assert others == ["READY", "RELOADING", "READY", "STOPPING"]


def test_without_a_manager_nothing_of_it_is_loaded() -> None:
    code = "import sys, brimgate.cli.serve, brimgate.app.server, brimgate.app.workers; print(*sys.modules)"
    done = subprocess.run(
        [BRIMGATE[0], "-c", code], capture_output=True, text=True, check=True, timeout=60, env=environment()
    )
    assert "brimgate.app.server" in done.stdout and "service_manager" not in done.stdout
