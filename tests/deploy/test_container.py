"""The deployment for real: deploy.sh, the units and a systemd of its own, in a bare Debian as Proxmox has it.

Every command of docs/how-to/deploy-vikunja.md that needs neither a domain nor Docker is run. Vikunja is a stand-in;
Redis is real.
"""

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.deploy.container import Container, container
from tests.deploy.test_reverse_proxies import HELLO, JSON
from tests.deploy.vikunja_stand_in import TOKEN
from tests.http.serving import PATIENCE, exchange, wait_until
from tests.store.redis_server import free_port, redis_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_200)]
PAGE = ROOT / "docs" / "how-to" / "deploy-vikunja.md"
STAND_IN = Path(__file__).with_name("vikunja_stand_in.py")
HERE = "/root/brimgate"
RUN_BLOCKS = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ENVIRONMENT = "/etc/vikunja-mcp/environment"


@dataclass
class Machine:
    inside: Container
    port: int
    folder: Path

    def deploy(self, command: str, *words: str, check: bool = True) -> str:
        done = self.inside.deploy(command, "--ctid", "104", "--health-seconds", "45", *words, check=check)
        assert check or done.returncode == 1, done.stdout
        return done.stdout

    def health(self) -> tuple[int, Any]:
        """The status, and what a caller with a token is shown."""
        url, headers = f"http://127.0.0.1:{self.port}/health", {"authorization": f"Bearer {TOKEN}"}
        try:
            asked = urllib.request.Request(url, headers=headers)
            with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:  # noqa: S310  # our own
                return answer.status, json.load(answer)
        except (OSError, HTTPException):
            return 0, None

    def status_for(self, token: str) -> int:
        """The status that a client gets with a token."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = JSON | ({"authorization": f"Bearer {token}"} if token else {})
        try:
            return exchange(connection, "POST", "/mcp", HELLO, headers).status
        finally:
            connection.close()

    def shown(self, key: str) -> str:
        return self.inside.run(
            "systemctl", "show", f"--property={key}", "--value", "vikunja-mcp"
        ).stdout.strip()

    @property
    def releases(self) -> set[str]:
        return set(self.inside.shell("ls /opt/vikunja-mcp/releases").split())

    @property
    def running(self) -> str:
        """The release whose Python runs, whatever links say."""
        command = self.inside.shell(f"tr '\\0' ' ' < /proc/{self.shown('MainPID')}/cmdline")
        return command.partition("/releases/")[2].partition("/")[0]

    def drop_in(self, name: str, *lines: str) -> None:
        text = "\n".join(("[Service]", *lines, ""))
        self.inside.write(f"/etc/systemd/system/vikunja-mcp.service.d/{name}.conf", text)
        self.inside.run("systemctl", "daemon-reload")

    def source(self, name: str, version: str, *, serve: str = "") -> str:
        """A checkout of another version; `serve` is put into the beginning of `brimgate serve`."""
        folder = self.folder / name
        for part in ("pyproject.toml", "README.md", "LICENSE"):
            folder.mkdir(exist_ok=True)
            shutil.copy(ROOT / part, folder)
        for part in ("src", "requirements"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        project = folder / "pyproject.toml"
        project.write_text(re.sub(r'(?m)^version = ".*"', f'version = "{version}"', project.read_text()))
        module = folder / "src" / "brimgate" / "cli" / "serve.py"
        head = "def run(options: argparse.Namespace) -> int:\n"
        assert head in module.read_text()
        module.write_text(module.read_text().replace(head, f"{head}    {serve or 'pass'}\n"))
        return str(folder)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    with redis_server() as store, container() as inside:
        made = Machine(inside, free_port(), tmp_path_factory.mktemp("sources"))
        vikunja = free_port()
        inside.write("/usr/local/lib/vikunja.py", STAND_IN.read_text())
        unit = f"[Service]\nDynamicUser=yes\nExecStart=/usr/bin/python3 /usr/local/lib/vikunja.py {vikunja}\n"
        inside.write("/etc/systemd/system/vikunja.service", unit)
        # Ports of our own: the container shares the network of this machine.
        lines = (f"VIKUNJA_API_URL=http://localhost:{vikunja}", f"REDIS_URL={store.url}")
        inside.write(ENVIRONMENT, "\n".join((f"MCP_HTTP_PORT={made.port}", *lines, "")), 0o640)
        _prepare(made)
        yield made


def _prepare(machine: Machine) -> None:
    """Have a drop-in for the port of the socket."""
    text = f"[Socket]\nListenStream=\nListenStream=127.0.0.1:{machine.port}\n"
    machine.inside.write("/etc/systemd/system/vikunja-mcp.socket.d/port.conf", text)


def documented() -> list[str]:
    """The commands of the page, in order. What needs a domain, or Docker, stands in blocks of text."""
    return [line for block in RUN_BLOCKS.findall(PAGE.read_text("utf-8")) for line in block.splitlines()]


def test_every_command_of_the_page_runs(machine: Machine) -> None:
    """As it is written, but for the port: others may use 3010 on the machine of the tests."""
    settings = (machine.inside.root / ENVIRONMENT.lstrip("/")).read_text()
    _copy_checkout(machine.inside.root / HERE.lstrip("/"))
    ran = [line for line in documented() if not line.startswith(("git clone", "cd "))]
    assert len(ran) >= 15
    for line in ran:
        _run_documented(machine, line)
        if re.search(r"deploy.sh (install|upgrade|rollback)|systemctl (re)?start", line):
            wait_until(lambda: machine.health()[0] == 200, f"healthy after {line}")
    assert (machine.inside.root / ENVIRONMENT.lstrip("/")).read_text() == settings, "it stays as it is"
    _prepare(machine)


def _run_documented(machine: Machine, line: str) -> None:
    if line == "git pull":
        machine.inside.shell(f"cd {HERE} && sed -i 's/^version = .*/version = \"0.1.1\"/' pyproject.toml")
    elif "--ctid" in line:
        machine.inside.deploy(*line.split()[1:])
    else:
        machine.inside.shell(f"cd {HERE} && {line.replace('3010', str(machine.port))}")


def _copy_checkout(target: Path) -> None:
    """What `git clone` would bring, and what is not committed yet."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, capture_output=True, check=False, timeout=60)
    if listed.returncode:
        pytest.skip("not a git checkout")
    target.mkdir()
    copy = f"tar -C '{ROOT}' --null -T - -cf - | tar -C '{target}' -xf -"
    subprocess.run(["sh", "-c", copy], input=listed.stdout, check=True, timeout=60)


def test_it_runs_as_its_user_without_rights(machine: Machine) -> None:
    machine.deploy("install")
    status = machine.inside.shell(f"cat /proc/{machine.shown('MainPID')}/status")
    uid = machine.inside.shell("id -u vikunja").strip()
    assert re.search(rf"^Uid:\t{uid}\t{uid}\t{uid}\t{uid}$", status, re.MULTILINE) and uid != "0"
    assert re.search(r"^CapBnd:\t0+$", status, re.MULTILINE) and re.search(
        r"^NoNewPrivs:\t1$", status, re.MULTILINE
    )
    assert machine.shown("StatusText").startswith("serving http://127.0.0.1:")
    assert machine.status_for(TOKEN) == 200, "whoever has called is shown all"
    status, document = machine.health()
    assert status == 200 and document["checks"]["redis"]["status"] == "healthy"


def test_callers_come_in_by_their_own_tokens(machine: Machine) -> None:
    machine.deploy("install")
    assert [machine.status_for(token) for token in (TOKEN, "tk_wrong", "")] == [200, 401, 401]


def test_a_vikunja_that_is_no_unit_here_is_not_required(machine: Machine) -> None:
    units = "/etc/systemd/system"
    machine.deploy("install")
    move = f"systemctl stop vikunja-mcp vikunja && mv {units}/vikunja.service {units}/elsewhere.service"
    machine.inside.shell(f"{move} && systemctl daemon-reload && systemctl start elsewhere")
    try:
        assert "vikunja.service is not on this machine" in machine.deploy("install")
        assert machine.health()[0] == 200 and "vikunja.service" not in machine.shown("Requires")
    finally:
        back = f"systemctl stop elsewhere && mv {units}/elsewhere.service {units}/vikunja.service"
        machine.inside.shell(f"{back} && systemctl daemon-reload")
    machine.deploy("install")
    assert "vikunja.service" in machine.shown("Requires")


def test_a_reload_keeps_the_process(machine: Machine) -> None:
    machine.deploy("install")
    pid = machine.shown("MainPID")
    machine.inside.run("systemctl", "reload", "vikunja-mcp")
    assert (machine.shown("MainPID"), machine.shown("ActiveState")) == (pid, "active")
    assert machine.health()[0] == 200


def test_a_process_that_hangs_is_started_anew(machine: Machine) -> None:
    machine.deploy("install")
    machine.drop_in("quick-watchdog", "WatchdogSec=3", "TimeoutAbortSec=3")
    machine.inside.run("systemctl", "restart", "vikunja-mcp")
    pid = machine.shown("MainPID")
    machine.inside.run("systemctl", "kill", "--signal=STOP", "vikunja-mcp")
    wait_until(lambda: machine.shown("MainPID") not in (pid, "0"), "another process", 120)
    wait_until(lambda: machine.health()[0] == 200, "it is healthy again")
    assert int(machine.shown("NRestarts")) >= 1


def test_a_killed_process_is_started_anew(machine: Machine) -> None:
    machine.deploy("install")
    pid = machine.shown("MainPID")
    machine.inside.run("systemctl", "kill", "--signal=KILL", "vikunja-mcp")
    wait_until(lambda: machine.shown("MainPID") not in (pid, "0"), "another process", 120)
    wait_until(lambda: machine.health()[0] == 200, "it is healthy again")


def test_a_socket_unit_loses_no_client_at_a_restart(machine: Machine) -> None:
    machine.deploy("install")
    machine.inside.shell("systemctl stop vikunja-mcp.service && systemctl enable --now vikunja-mcp.socket")
    try:
        url = f"http://127.0.0.1:{machine.port}/healthz"
        ask = f"for _ in $(seq 200); do curl -sS -o /dev/null -w '%{{http_code}}\\n' {url}; done"
        asking = f"({ask}) > /tmp/asked 2>&1 & systemctl restart vikunja-mcp; wait"
        machine.inside.shell(asking)
        assert set(machine.inside.shell("cat /tmp/asked").split()) == {"200"}
        assert machine.shown("StatusText") == f"serving http://127.0.0.1:{machine.port}"
        assert f"localhost:{machine.port}/health answers 200" in machine.deploy("status")
    finally:
        machine.inside.shell("systemctl disable --now vikunja-mcp.socket; systemctl restart vikunja-mcp")


def test_log_files_have_dates_and_rotate(machine: Machine) -> None:
    machine.deploy("install", "--log-files")
    assert machine.health()[0] == 200
    log = machine.inside.root / "var/log/vikunja-mcp/error.log"
    urllib.request.urlopen(f"http://127.0.0.1:{machine.port}/healthz", timeout=PATIENCE).close()
    machine.inside.shell(f"curl -s http://127.0.0.1:{machine.port}/nothing-here > /dev/null")
    wait_until(lambda: "/nothing-here" in log.read_text(), "the request is in the log")
    assert re.search(r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} .*nothing-here", log.read_text())
    assert machine.inside.shell("stat -c %U:%G:%a /var/log/vikunja-mcp/error.log").strip() == "root:adm:640"
    machine.inside.run("logrotate", "--force", "/etc/logrotate.d/vikunja-mcp")
    assert "/nothing-here" not in log.read_text()
    machine.inside.shell(f"curl -s http://127.0.0.1:{machine.port}/after > /dev/null")
    wait_until(lambda: "/after" in log.read_text(), "it writes on")
    assert not log.read_bytes().startswith(b"\0")


def test_an_upgrade_keeps_two_releases_and_goes_back(machine: Machine) -> None:
    machine.deploy("install")
    first = machine.running
    machine.deploy("upgrade", "--source", machine.source("second", "0.2.0"))
    second = machine.running
    assert second.startswith("0.2.0-") and machine.releases == {first, second}
    assert f"release {first} runs" in machine.deploy("rollback")
    assert machine.running == first and machine.health()[0] == 200
    machine.deploy("upgrade", "--source", machine.source("third", "0.3.0"))
    third = machine.running
    assert machine.releases == {first, third}
    machine.deploy("upgrade")
    assert machine.running == first


def test_a_release_that_does_not_serve_is_rolled_back(machine: Machine) -> None:
    machine.deploy("install")
    before, releases = machine.running, machine.releases
    broken = machine.source("broken", "0.4.0", serve="raise SystemExit('this release is broken')")
    said = machine.deploy("upgrade", "--source", broken, check=False)
    assert "this release is broken" in said and f"was not healthy: {before} runs again" in said
    assert machine.running == before and machine.health()[0] == 200
    assert machine.releases == releases


def test_what_cannot_be_installed_changes_nothing(machine: Machine) -> None:
    machine.deploy("install")
    pid = machine.shown("MainPID")
    wheel = machine.folder / "brimgate-0.5.0-py3-none-any.whl"
    wheel.write_bytes(b"this is no wheel")
    said = machine.deploy("upgrade", "--wheel", str(wheel), check=False)
    assert "nothing has changed" in said and machine.shown("MainPID") == pid


def test_uninstall_leaves_settings_and_logs_and_purge_nothing(machine: Machine) -> None:
    machine.deploy("install", "--log-files")
    machine.deploy("uninstall")
    root = machine.inside.root
    assert machine.health()[0] == 0 and not (root / "opt/vikunja-mcp").exists()
    assert (root / ENVIRONMENT.lstrip("/")).exists() and (root / "var/log/vikunja-mcp/error.log").exists()
    left = machine.inside.shell("ls /etc/systemd/system /etc/logrotate.d /var/lib")
    assert "vikunja-mcp" not in left
    settings = (root / ENVIRONMENT.lstrip("/")).read_text()
    broken = machine.source("first-broken", "0.6.0", serve="raise SystemExit('this release is broken')")
    said = machine.deploy("install", "--source", broken, check=False)
    assert "there is none to go back to" in said and "journalctl -u vikunja-mcp" in said
    assert (
        machine.inside.run("systemctl", "is-enabled", "vikunja-mcp", check=False).stdout.strip() == "disabled"
    )
    machine.deploy("uninstall", "--purge")
    machine.deploy("uninstall", "--purge")
    assert not (root / "etc/vikunja-mcp").exists() and not (root / "var/log/vikunja-mcp").exists()
    machine.inside.write(ENVIRONMENT, settings, 0o640)
    _prepare(machine)
