"""Start a server as a process of its own, and end it with everything it started."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from brimgate.errors import UpstreamUnreachable

if TYPE_CHECKING:
    import asyncio


@dataclass(frozen=True, slots=True)
class Command:
    """How a server is started."""

    arguments: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=lambda: {})
    """Added to our own environment."""
    cwd: str | None = None


Process = subprocess.Popen[bytes]


def spawn(command: Command) -> Process:
    """Start the process, with pipes to all three streams and its own process group.

    Raise UpstreamUnreachable if that fails.
    """
    environment = {**os.environ, **command.env}
    arguments = resolve(command.arguments, environment.get("PATH"))
    try:
        process = subprocess.Popen(  # noqa: S603  # what the user put after `--`
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env=environment,
            cwd=command.cwd,
            start_new_session=sys.platform != "win32",
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
    except OSError as error:
        raise UpstreamUnreachable(_why_not(command, error)) from None
    _widen(process.stdout)
    return process


def _widen(pipe: IO[bytes] | None) -> None:
    """Enlarge a pipe. Linux pipes hold 64 KiB by default: a large answer would come in twenty times as many pieces."""
    if sys.platform == "linux" and pipe is not None:
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)


def resolve(
    arguments: Sequence[str], path: str | None, *, windows: bool = sys.platform == "win32"
) -> list[str]:
    """Resolve the program. On Windows a bare name may stand for `npx.cmd`, which only a search by extension finds."""
    if not windows:
        return list(arguments)
    found = shutil.which(arguments[0], path=path)
    return [found or arguments[0], *arguments[1:]]


def look_up_command(command: Command) -> None:
    """Look for the program of a command without starting it. Raise UpstreamUnreachable if it is not there."""
    path = {**os.environ, **command.env}.get("PATH")
    program = command.arguments[0]
    if Path(program).name != program:  # looked up from where it will run, and not on the PATH
        program = str(Path(command.cwd or "") / program)
    is_nowhere = command.cwd is not None and not Path(command.cwd).is_dir()
    if is_nowhere or shutil.which(program, path=path) is None:
        error = PermissionError() if Path(program).is_file() else FileNotFoundError()
        raise UpstreamUnreachable(_why_not(command, error))


def _why_not(command: Command, error: OSError) -> str:
    name = command.arguments[0]
    if command.cwd and not Path(command.cwd).is_dir():
        return f"cannot start {name}: its working directory {command.cwd} does not exist"
    if isinstance(error, FileNotFoundError):
        return f"cannot start {name}: there is no such command (is it installed and on the PATH?)"
    if isinstance(error, PermissionError):
        return f"cannot start {name}: it is not executable (chmod +x?)"
    return f"cannot start {name}: {error.strerror}"


def end_group(process: Process, *, forcibly: bool) -> None:
    """Ask the whole group to end, or kill it. Children that outlived their parent are in it too."""
    if sys.platform == "win32":
        # A console process cannot be asked from outside its console: its tree is killed at once.
        subprocess.run(  # noqa: S603
            ["taskkill", "/T", "/F", "/PID", str(process.pid)],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL if forcibly else signal.SIGTERM)


def when_ended(process: Process, callback: Callable[[], None]) -> None:
    """Call `callback` on this loop once the process has ended.

    Where the system cannot notify a loop, a thread waits.
    """
    import asyncio  # after the start of the server, which need not wait for it

    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        threading.Thread(target=_wait, args=(process, loop, callback), daemon=True).start()
        return

    def ended() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        process.wait()
        callback()

    loop.add_reader(descriptor, ended)


def _wait(process: Process, loop: "asyncio.AbstractEventLoop", callback: Callable[[], None]) -> None:
    process.wait()
    with suppress(RuntimeError):  # we have ended first
        loop.call_soon_threadsafe(callback)
