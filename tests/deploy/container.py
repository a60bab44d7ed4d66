"""A bare Debian with a systemd of its own, booted by systemd-nspawn, and a `pct` that reaches it as Proxmox's does."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.http.serving import PATIENCE, wait_until

_INCLUDED = "systemd,systemd-sysv,dbus,ca-certificates,logrotate"
"""What the template of Proxmox has, and nothing of Python."""
_ENTER = "nsenter -t {pid} -m -u -i -p -C -r -w --"
_KEPT = (
    "PIP_",
    "SSL_CERT_",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
)
_BOOT_SECONDS = 120.0
_PCT = """#!/bin/sh
# `pct` of a host with one container, which has the number 104.
case $1 in
  status) echo "status: running" ;;
  config) echo "features: nesting=1" ;;
  push) cp "$3" "{root}$4" ;;
  exec) shift 3; exec {enter} "$@" ;;
esac
"""


@dataclass
class Container:
    root: Path
    pid: int
    """Of its systemd."""
    tools: Path
    """A folder with `pct`."""

    def run(
        self, *command: str, check: bool = True, patience: float = 300
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command inside."""
        return self._run([*_ENTER.format(pid=self.pid).split(), *command], check, patience)

    def shell(self, script: str, check: bool = True) -> str:
        return self.run("sh", "-c", script, check=check).stdout

    def deploy(self, *words: str, check: bool = True) -> "subprocess.CompletedProcess[str]":
        """Run deploy.sh outside, as on a Proxmox host."""
        return self._run([str(ROOT / "deploy" / "proxmox" / "deploy.sh"), *words], check, 600)

    def _run(self, command: list[str], check: bool, patience: float) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=patience,
            check=False,
            env=_environment(self.tools),
        )
        sys.stdout.write(f"$ {' '.join(command)}\n{done.stdout}")
        assert not check or done.returncode == 0, (command, done.stdout, self.journal())
        return done

    def journal(self) -> str:
        done = subprocess.run(
            [*_ENTER.format(pid=self.pid).split(), "journalctl", "--no-pager", "--lines=60", "--output=cat"],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.stdout[-6_000:]

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)


def _environment(tools: Path) -> dict[str, str]:
    """How this machine reaches the registries, and nothing else of it."""
    kept = {name: text for name, text in os.environ.items() if name.startswith(_KEPT)}
    kept.pop("PIP_FIND_LINKS", "")  # folders of this machine
    path = f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin"
    return kept | {"HOME": "/root", "LANG": "C.UTF-8", "PATH": path}


@contextmanager
def container() -> Iterator[Container]:
    """Skip where it cannot be: without root, the programs, or a registry."""
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("a container needs root on Linux")
    if missing := [one for one in ("mmdebstrap", "systemd-nspawn", "nsenter") if not shutil.which(one)]:
        pytest.skip(f"apt-get install mmdebstrap systemd-container: {', '.join(missing)} is not here")
    folder = Path(tempfile.mkdtemp(prefix="brimgate-container-"))
    try:
        _make_root(folder / "root")
        with _booted(folder / "root") as pid:
            tools = folder / "tools"
            tools.mkdir()
            text = _PCT.format(root=folder / "root", enter=_ENTER.format(pid=pid))
            (tools / "pct").write_text(text)
            (tools / "pct").chmod(0o755)
            yield Container(folder / "root", pid, tools)
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=False, timeout=PATIENCE)


def _make_root(root: Path) -> None:
    command = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={_INCLUDED}", "bookworm", str(root)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        pytest.skip(f"mmdebstrap cannot make a Debian here: {done.stderr[-300:]}")
    # How this machine reaches the registries is its own matter (see tools/fresh.sh).
    for name in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/root/.config/pip/pip.conf"):
        if Path(name).is_file():
            (root / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(name, root / name.lstrip("/"))
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    for name in {str(bundle), os.environ.get("PIP_CERT", ""), os.environ.get("SSL_CERT_FILE", "")} - {""}:
        (root / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(name, root / name.lstrip("/"))


@contextmanager
def _booted(root: Path) -> Iterator[int]:
    log = root.with_name("boot.log")
    options = [
        "--register=no",
        "--keep-unit",
        "--boot",
        "--console=pipe",
        "--resolv-conf=off",
        "--timezone=off",
    ]
    with (
        log.open("wb") as writing,
        subprocess.Popen(
            [
                "setpriv",
                "--pdeathsig",
                "TERM",
                "systemd-nspawn",
                "--quiet",
                f"--directory={root}",
                "--link-journal=no",
                *options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
        ) as process,
    ):
        try:
            pid = wait_until(lambda: _running(process), "systemd runs", _BOOT_SECONDS)
            if pid < 0:
                pytest.skip(f"systemd-nspawn cannot boot here: {log.read_text('utf-8', 'replace')[-300:]}")
            yield pid
        finally:
            _power_off(process)
            _remove_groups()


def _running(process: "subprocess.Popen[bytes]") -> int:
    """The process id of its systemd, once all is up; less than 0 if it has ended."""
    if process.poll() is not None:
        return -1
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for child in children:
        command = [*_ENTER.format(pid=child).split(), "systemctl", "is-system-running"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        if done.stdout.strip() in ("running", "degraded"):
            return int(child)
    return 0


def _power_off(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE)
        return
    process.kill()
    process.wait(PATIENCE)


def _remove_groups() -> None:
    """Remove the empty control groups that it leaves beside our own."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        own = line.rpartition(":")[2].lstrip("/")
        for hierarchy in ("unified", "systemd", ""):
            for name in ("payload", "supervisor"):
                group = Path("/sys/fs/cgroup", hierarchy, own, name)
                for folder, _, _ in os.walk(group, topdown=False):
                    with suppress(OSError):
                        Path(folder).rmdir()
