"""`brimgate serve` as a service manager runs it: with a socket to tell how it is, and sockets that listen already."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.config.running import BRIMGATE, environment
from tests.http.serving import FAULTY, PATIENCE, wait_until

_LAUNCH = (
    # Moves sockets to 3 and on, and becomes the service, as systemd's child does.
    "import fcntl,os,sys;n=int(sys.argv[1]);given=[int(one) for one in sys.argv[2:2+n]];"
    "high=[fcntl.fcntl(one,fcntl.F_DUPFD,100) for one in given];"
    "[os.dup2(one,3+k) for k,one in enumerate(high)];"
    "os.environ.update({'LISTEN_FDS':str(n),'LISTEN_PID':os.environ.pop('TEST_PID',str(os.getpid()))}) if n else None;"
    "os.execv(sys.argv[2+n],sys.argv[2+n:])"
)


@dataclass
class Manager:
    """The other end of NOTIFY_SOCKET: keeps all that it is told, in order."""

    address: str
    heard: list[dict[str, str]] = field(default_factory=list)

    def names(self) -> list[str]:
        return [next(iter(one)) for one in list(self.heard)]

    def count(self, name: str) -> int:
        return self.names().count(name)

    def wait_for(self, name: str, times: int = 1) -> dict[str, str]:
        """The last message that begins with it, once there are so many."""
        wait_until(lambda: self.count(name) >= times, f"{times} {name} in {self.names()}")
        return [one for one in list(self.heard) if next(iter(one)) == name][times - 1]


@contextmanager
def manager(folder: Path, *, is_abstract: bool = False) -> Iterator[Manager]:
    """A real datagram socket, read by a thread."""
    path = f"@brimgate-{os.getpid()}-{folder.name}" if is_abstract else str(folder / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as hearing:
        hearing.bind("\0" + path[1:] if is_abstract else path)
        found = Manager(path)
        reading = threading.Thread(target=_read, args=(hearing, found.heard), daemon=True)
        reading.start()
        try:
            yield found
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ending:
                ending.sendto(b"", hearing.getsockname())
            reading.join(PATIENCE)


def _read(hearing: socket.socket, heard: list[dict[str, str]]) -> None:
    while data := hearing.recv(65_536):
        lines = [line.partition("=") for line in data.decode().split("\n")]
        heard.append({name: value for name, _, value in lines})


@dataclass
class Service:
    process: "subprocess.Popen[bytes]"
    log: Path

    def wait_for_line(self, text: str) -> str:
        return wait_until(lambda: self._line(text), f"{text!r} in {self.log.read_text()}")

    def _line(self, text: str) -> str:
        return next((line for line in self.log.read_text("utf-8").splitlines() if text in line), "")


@contextmanager
def service(
    folder: Path,
    *options: str,
    sockets: Sequence[socket.socket] = (),
    command: Sequence[str] = FAULTY,
    **variables: str,
) -> Iterator[Service]:
    log = folder / "service.log"
    behind = ["--", *command] if command else []
    launch = [sys.executable, "-c", _LAUNCH, str(len(sockets)), *(str(one.fileno()) for one in sockets)]
    with (
        log.open("wb") as writing,
        subprocess.Popen(
            [*launch, *BRIMGATE, "serve", *options, *behind],
            stdin=subprocess.DEVNULL,
            stderr=writing,
            pass_fds=[one.fileno() for one in sockets],
            env=environment(BRIMGATE_GRACE_SECONDS="1", **variables),
            start_new_session=True,
        ) as process,
    ):
        try:
            yield Service(process, log)
        finally:
            process.terminate()
            try:
                process.wait(PATIENCE)
            finally:
                process.kill()
