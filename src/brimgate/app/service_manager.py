"""What a service manager such as systemd wants of a service: to hear how it is, and to hand it its sockets.

By hand, because it is little: datagrams of `NAME=value` lines (sd_notify(3)) and descriptors from 3 on
(sd_listen_fds(3)). The packages for it bind a C library that is not on every machine.
"""

import asyncio
import os
import socket
import time
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from brimgate.config.declarations import Config
from brimgate.errors import OperatorError
from brimgate.guard.origin import is_loopback

if TYPE_CHECKING:
    from brimgate.watch.log import Log

_FIRST_DESCRIPTOR: Final = 3
_MICRO: Final = 1_000_000
_LEAST_PULSE_SECONDS: Final = 0.01


class ServiceManager:
    """Tells the service manager how we are. Where there is none to tell, it does nothing."""

    def __init__(
        self, address: str, watchdog_seconds: float = 0.0, given: "GivenSockets | None" = None
    ) -> None:
        """Create it. `address` is the path of a datagram socket; `@` in front stands for an abstract one."""
        self.given = given
        self.log: Log | None = None
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self._pulse_seconds = max(watchdog_seconds / 2, _LEAST_PULSE_SECONDS) if watchdog_seconds else 0.0
        self._pulse: asyncio.TimerHandle | None = None
        self._status = ""

    @classmethod
    def of(cls, environment: MutableMapping[str, str]) -> "ServiceManager":
        """Take it from the environment, and out of it: what we start is another process than the service."""
        address = environment.pop("NOTIFY_SOCKET", "")
        pid = environment.pop("WATCHDOG_PID", "")
        micros = environment.pop("WATCHDOG_USEC", "")
        is_ours = not pid or pid == str(os.getpid())
        watchdog_seconds = int(micros) / _MICRO if is_ours and micros.isdecimal() else 0.0
        return cls(address, watchdog_seconds, GivenSockets.of(environment))

    def ready(self, status: str) -> None:
        """Tell that clients may connect. From now on the watchdog is fed, for as long as the event loop turns."""
        self._status = status
        self._tell("READY=1", f"STATUS={status}")
        if self._pulse_seconds and self._address and self._pulse is None:
            self._beat()

    def reload(self, work: Callable[[], None]) -> None:
        """Tell of a reload while it is done."""
        self.reload_begins()
        try:
            work()
        finally:
            self.reload_ends()

    def reload_begins(self) -> None:
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000
        self._tell("RELOADING=1", f"MONOTONIC_USEC={now}", "STATUS=reading the configuration again")

    def reload_ends(self) -> None:
        self._tell("READY=1", f"STATUS={self._status}")

    def stopping(self) -> None:
        self._tell("STOPPING=1", "STATUS=finishing the calls under way")

    def _beat(self) -> None:
        """Feed the watchdog. A loop that hangs does not come here, and then the service is started anew."""
        self._tell("WATCHDOG=1")
        self._pulse = asyncio.get_running_loop().call_later(self._pulse_seconds, self._beat)

    def _tell(self, *lines: str) -> None:
        """Send it, without waiting. Each time to the path anew: a manager that was renewed has a new socket there."""
        if not self._address:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.setblocking(False)
            try:
                sending.sendto("\n".join(lines).encode(), self._address)
            except OSError as error:
                if self.log is not None:
                    self.log.write("notify_failed", {"told": lines[0], "reason": str(error)}, "warning")


@dataclass(frozen=True, slots=True)
class GivenSockets:
    """Sockets that listen already: a client that connects while we start, or start anew, waits instead of failing."""

    sockets: tuple[socket.socket, ...]

    @classmethod
    def of(cls, environment: MutableMapping[str, str]) -> "GivenSockets | None":
        """Take them from the environment, and out of it. None if there are none, or they are for another process."""
        count, pid = environment.pop("LISTEN_FDS", ""), environment.pop("LISTEN_PID", "")
        names = environment.pop("LISTEN_FDNAMES", "").split(":")
        environment.pop("LISTEN_PIDFDID", None)
        if not count.isdecimal() or not int(count) or pid != str(os.getpid()):
            return None
        descriptors = range(_FIRST_DESCRIPTOR, _FIRST_DESCRIPTOR + int(count))
        padded = [*names, *[""] * len(descriptors)]
        return cls(tuple(map(_listening, descriptors, padded)))

    def place(self, config: Config) -> Config:
        """Return the configuration with the address that these have, whatever it names: rules depend on it.

        Of several, the one that most people reach counts. Raise OperatorError where they cannot be used.
        """
        if config.server.workers > 1:
            raise OperatorError(
                f"workers: {config.server.workers} cannot use the socket of a service manager, because each worker has "
                "a socket of its own: set workers to 1, or disable the socket unit (systemctl disable --now NAME.socket)"
            )
        named = [one.getsockname() for one in self.sockets if one.family != socket.AF_UNIX]
        if not named:
            path = _shown(self.sockets[0].getsockname())
            return replace(config, server=replace(config.server, socket=path))
        host, port = max(named, key=lambda one: not is_loopback(str(one[0])))[:2]
        return replace(config, server=replace(config.server, host=str(host), port=int(port), socket=""))


def _shown(name: str | bytes) -> str:
    """Return the path of a Unix socket as people write it: an abstract one begins with @."""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
    return "@" + text[1:] if text.startswith("\0") else text


def _listening(descriptor: int, name: str) -> socket.socket:
    """Return a socket that we were given. What we start does not inherit it."""
    called = f"descriptor {descriptor} of the service manager{f' ({name})' if name else ''}"
    try:
        os.set_inheritable(descriptor, False)
        given = socket.socket(fileno=descriptor)
        is_listening = bool(given.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
    except OSError as error:
        raise OperatorError(f"{called} is not a socket: {error.strerror}") from None
    families: Sequence[int] = (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX)
    if given.type != socket.SOCK_STREAM or not is_listening or given.family not in families:
        raise OperatorError(f"{called} does not listen for streams: use ListenStream= with Accept=no")
    return given
