"""What `call` and `tools` have in common: the options, the server that is meant, and a conversation with it."""

import argparse
import math
import os
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar
from urllib.parse import urlsplit

from headgate.back.process import Command, Process, end_group, spawn
from headgate.cli import complain, printable
from headgate.cli.gateway import config_path, warn_of_unknown_variables
from headgate.config import Config, load
from headgate.config.declarations import Upstream
from headgate.config.loading import unreachable
from headgate.errors import BadRequest, OperatorError, UpstreamTimeout
from headgate.stopping import STOP_SIGNALS, EarlySignals
from headgate.watch.log import LEVELS, Log

if TYPE_CHECKING:
    import asyncio

    from headgate.app.caller import Caller, Progress, Tool
    from headgate.packs.contract import Pack

_TIMEOUT_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 2.0
"""For a server to end by itself once its input is closed; the answer is shown meanwhile."""
_HASTY_GRACE_SECONDS: Final = 0.3
_CLOSING_SECONDS: Final = 0.01
_OPTION: Final = re.compile(r"^ +(--[a-z][a-z-]*)", re.MULTILINE)
_NEGATIVE: Final = re.compile(r"-[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?")
_VARIABLE: Final = re.compile(r"\$\{(\w*)\}")
_WHICH: Final = (
    "which server? Give its URL, its name in --config FILE, or its command behind -- at the end of the line"
)

T = TypeVar("T")
P = TypeVar("P")


def add_calling_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the server").add_argument
    add("--config", metavar="FILE", type=Path, help="YAML or JSON that names servers; also HEADGATE_CONFIG")
    add(
        "--transport",
        choices=("auto", "http", "sse"),
        help="how to talk to a URL (default: sse where it ends in /sse)",
    )
    add(
        "--header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="HTTP header for a URL, such as 'Authorization: Bearer ${TOKEN}': the variable is taken from the "
        "environment. May be repeated",
    )
    add(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=_TIMEOUT_SECONDS,
        help=f"for all of it: start, handshake, answer (default: {_TIMEOUT_SECONDS:g})",
    )
    add(
        "--log-level",
        choices=tuple(LEVELS),
        help="least level that is logged on stderr; at debug also what the server says there (default: warning)",
    )
    parser.set_defaults(checked=partial(_checked, parser), command=[])


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, not {text!r}")
    return seconds


def _checked(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """Words that argparse left over: none of them may be an option that there is not."""
    for word in words:
        if word[:1] == "-" and word != "-" and " " not in word and not _NEGATIVE.fullmatch(word):
            near = get_close_matches(word.partition("=")[0], _OPTION.findall(parser.format_help()), 1, 0.5)
            hint = f" (did you mean {near[0]}?)" if near else ""
            name = word.lstrip("-").partition("=")[0] or "NAME"
            parser.error(
                f"there is no option {word}{hint}; what a tool takes is written {name}=VALUE, "
                f"a text that begins with - as NAME={word}"
            )
    return list(words)


@dataclass(frozen=True, slots=True)
class Target:
    """The server that is meant, and the words that are left for its tool."""

    name: str
    upstream: Upstream
    words: tuple[str, ...]
    given: str
    """How it stands on the command line; empty for a command."""
    config: Config


def choose(options: argparse.Namespace) -> Target:
    config = load(config_path(options))
    if options.command:
        command: list[str] = options.command[1:]
        if not command:
            raise BadRequest("-- must be followed by the command that starts the server")
        if options.words and ("://" in options.words[0] or options.words[0] in config.upstreams):
            raise BadRequest(f"either {printable(options.words[0])[:100]} or a command behind --, not both")
        _refuse_http_options(options)
        one = Upstream(command=command[0], args=tuple(command[1:]))
        return Target(Path(command[0]).stem, one, tuple(options.words), "", config)
    if not options.words:
        raise BadRequest(f"{_WHICH}{_known(config)}")
    given: str = options.words[0]
    words: tuple[str, ...] = tuple(options.words[1:])
    if "://" in given:
        one = Upstream(url=given, transport=options.transport or "auto", headers=_headers(options.header))
        for places, what in unreachable(one, ()):
            raise OperatorError(
                f"{' '.join(('--header', *places[0][1:])) if places[0][1:] else 'the URL'} {what}"
            )
        return Target(urlsplit(given).netloc or given, one, words, given, config)
    _refuse_http_options(options)
    if given not in config.upstreams:
        raise OperatorError(
            f"there is no server {printable(given)[:60]} in the configuration{_known(config)}; a URL would do as well "
            "(http://… or https://…), or a command behind -- at the end of the line"
        )
    return Target(given, config.upstreams[given], words, given, config)


def _known(config: Config) -> str:
    return f" (there are: {', '.join(config.upstreams)})" if config.upstreams else ""


def _refuse_http_options(options: argparse.Namespace) -> None:
    if options.transport or options.header:
        name = "--transport" if options.transport else "--header"
        raise OperatorError(f"{name} is for a server given by its URL")


def _headers(given: Sequence[str]) -> dict[str, str]:
    """What is refused is not repeated: it may hold a secret."""
    found: dict[str, str] = {}
    for number, text in enumerate(given, 1):
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise OperatorError(f"--header number {number} must be 'NAME: VALUE'")
        name = name.strip()
        if name.lower() in map(str.lower, found):
            raise OperatorError(f"--header {printable(name)} is given twice")
        found[name] = _VARIABLE.sub(partial(_value_of, name), value.strip())
    return found


def _value_of(header: str, found: "re.Match[str]") -> str:
    value = os.environ.get(found[1])
    if value is None:
        raise OperatorError(f"--header {printable(header)}: the variable {found[1] or '${}'} is not set")
    return value


def find(tools: "Sequence[Tool]", name: str) -> "Tool":
    for tool in tools:
        if tool.name == name:
            return tool
    near = get_close_matches(name[:60], [tool.name for tool in tools], 3, 0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; it has {len(tools)} others"
    raise BadRequest(printable(f"there is no tool {name[:60]}{hint} (`headgate tools` lists them)"))


def remember(target: Target, tools: "Sequence[Tool]") -> None:
    """For the shell, which completes them."""
    if target.given:
        from headgate.cli.calls import catalogs

        catalogs.remember(target.given, b"[" + b",".join(tool.raw for tool in tools) + b"]")


def pack_of(given: str | None, target: Target, tools: "Sequence[Tool]") -> "Pack | None":
    """What is known of the server's system: by the command line, by the configuration, or by its tools."""
    from headgate.packs.discovery import NO_PACK, load_pack

    named = given or target.upstream.pack
    if named == NO_PACK:
        return None
    return load_pack(named) if named else recognised(tools)


def recognised(tools: "Sequence[Tool]") -> "Pack | None":
    from headgate.packs.discovery import pack_for

    return pack_for((tool.name for tool in tools), lambda error: complain(printable(str(error))))


def is_destructive(tool: "Tool", pack: "Pack | None") -> bool:
    """By its own word, or by that of those who know its system."""
    return tool.is_destructive or (pack is not None and pack.tool(tool.name).is_destructive)


def converse(
    target: Target,
    options: argparse.Namespace,
    prepare: Callable[[], P],
    talk: "Callable[[Caller], Awaitable[T]]",
    show: Callable[[T, P], int],
) -> int:
    """Start or reach the server, `prepare` meanwhile, `talk` to it, and `show` what came of it while the server ends."""
    log = Log(options.log_level or target.config.log_level or "warning", target.config.log_format)
    warn_of_unknown_variables(log)
    early = EarlySignals()
    one = target.upstream
    # Before the rest of us is loaded, so that the server starts meanwhile.
    process = None if one.url else spawn(Command((one.command, *one.args), env=one.env, cwd=one.cwd or None))
    try:
        import asyncio

        from headgate.app.caller import Caller
        from headgate.app.reaching import connector

        max_bytes = target.config.max_result_bytes
        connect = connector(target.name, one, max_bytes, started=process)
        caller = Caller(target.name, connect, max_bytes=max_bytes, on_chatter=_chatter(log, target.name))
        prepared = prepare()

        async def speak() -> int:
            stopping = _Stopping(early)
            try:
                told = await _in_time(caller, talk, options.timeout)
                ending = asyncio.create_task(caller.end(_GRACE_SECONDS))
                # Long enough for its input to be closed: it ends while we are busy.
                await asyncio.wait({ending}, timeout=_CLOSING_SECONDS)
                stopping.let_interrupts_through()
                try:
                    return show(told, prepared)
                finally:
                    await ending
            except asyncio.CancelledError:
                stopping.raise_if_stopped()
                raise

        return asyncio.run(speak())
    finally:
        _leave_nothing_behind(process)


def _leave_nothing_behind(process: Process | None) -> None:
    """Should we have been stopped before there was a conversation to end."""
    if process is not None and process.poll() is None:
        end_group(process, forcibly=True)


async def _in_time(caller: "Caller", talk: "Callable[[Caller], Awaitable[T]]", seconds: float) -> T:
    """What came of the talk; if it is cut short, by a signal or by the clock, the server is told and ended first."""
    import asyncio

    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            await caller.open()
            return await talk(caller)
    except BaseException:
        await caller.end(_HASTY_GRACE_SECONDS)
        if limit.expired():
            text = f"no {caller.awaited} within {seconds:g} s ({caller.name}): --timeout raises it"
            raise UpstreamTimeout(text) from None
        raise


def _chatter(log: Log, name: str) -> Callable[[str], None]:
    if log.level > LEVELS["debug"]:
        return lambda _: None
    return lambda text: log.pass_on(name, text)


class _Stopping:
    """Signals that end the conversation; the first one counts, so that the end is not cut short by the next."""

    def __init__(self, early: EarlySignals) -> None:
        import asyncio

        self._number: int | None = None
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        for number in STOP_SIGNALS:
            try:
                self._loop.add_signal_handler(number, self._stop, number)
            except NotImplementedError:  # on Windows
                signal.signal(number, lambda number, _: self._loop.call_soon_threadsafe(self._stop, number))
        if early.came:
            self._stop(signal.SIGINT)

    def _stop(self, number: int) -> None:
        if self._number is None and self._task is not None:
            self._number = number
            self._task.cancel()

    def raise_if_stopped(self) -> None:
        if self._number == signal.SIGINT:
            raise KeyboardInterrupt
        if self._number is not None:
            raise SystemExit(128 + self._number)

    def let_interrupts_through(self) -> None:
        """Showing an answer may block, on a pager say, and no loop would hear the signal then."""
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Patience:
    """A line on stderr while a call takes longer than a second; nothing where nobody would see it."""

    def __init__(self, loop: "asyncio.AbstractEventLoop") -> None:
        self._loop = loop
        self._is_live = sys.stderr is not None and sys.stderr.isatty()
        self._began = time.monotonic()
        self._said = ""
        self._shown = 0
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> "Patience":
        if self._is_live:
            self._timer = self._loop.call_later(1.0, self._tick)
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._erase()

    def note(self, progress: "Progress") -> None:
        """What the server says of how far it is."""
        done = "" if progress.progress is None else f"{progress.progress:g}"
        of = f"/{progress.total:g}" if done and progress.total else ""
        # Drawn with the next tick: a server may report far more often than anyone can read.
        self._said = printable(" ".join(filter(None, (done + of, (progress.message or "")[:200]))))

    def _tick(self) -> None:
        self._draw()
        self._timer = self._loop.call_later(1.0, self._tick)

    def _draw(self) -> None:
        try:
            columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except OSError:
            columns = 80
        line = f"{time.monotonic() - self._began:.0f} s {self._said}".rstrip()[: max(columns - 1, 10)]
        self._erase()
        self._shown = len(line)
        sys.stderr.write(line)
        sys.stderr.flush()

    def _erase(self) -> None:
        if self._shown:
            sys.stderr.write(f"\r{' ' * self._shown}\r")
            sys.stderr.flush()
            self._shown = 0
