"""The interface of every kind of upstream: messages out, messages in, and an end. Also the delay before a restart."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from brimgate.errors import UpstreamError

Line = bytes | bytearray
_STEADY_SECONDS: Final = 10.0
"""An upstream that ran this long counts as healthy: its next death is the first again."""
_FIRST_WAIT_SECONDS: Final = 0.5
_LONGEST_WAIT_SECONDS: Final = 30.0


class Channel(Protocol):
    """An upstream that was reached and takes messages, one by one."""

    @property
    def is_stuck(self) -> bool:
        """Whether it is inside an answer that was refused for its size: nothing after it can be read."""
        ...

    def send(self, line: Line) -> None: ...

    def pause(self) -> None:
        """Stop reading until `resume`: the client does not keep up."""
        ...

    def resume(self) -> None: ...

    async def end(self, grace_seconds: float) -> None:
        """Disconnect, and leave nothing behind. The upstream has `grace_seconds` to end by itself."""
        ...


@dataclass(frozen=True, slots=True)
class Listener:
    """The callbacks for what a channel has to say."""

    on_line: Callable[[Line], None]
    """Gets what the upstream itself said, and nothing that we made up in its name."""
    on_failed: Callable[[Line, Sequence[bytes], UpstreamError], None]
    """Gets a message that we sent, the ids of its requests that nobody will answer, and why. The channel goes on."""
    on_too_long: Callable[[bytes], None]
    """Gets the beginning of a message that exceeded the limit."""
    on_lost: Callable[[Channel, UpstreamError], None]
    """Called once, with the reason, when the channel can no longer be used."""
    on_pressure: Callable[[bool], None]
    """Gets True when the upstream does not keep up with what it is sent, False when it does again."""
    on_chatter: Callable[[str], None]
    """Gets a line for the log, such as a process writes to stderr."""
    on_unstuck: Callable[[], None] = lambda: None
    """When an answer that was refused for its size has come to its end."""


Connect = Callable[[Listener], Awaitable[Channel]]
"""Starts or connects to an upstream. Raises UpstreamError if that fails."""


@dataclass(slots=True)
class Revival:
    deaths: int = 0
    """The number of deaths in a row, each soon after the start."""
    not_before: float = 0.0
    _started: float = 0.0

    def started(self, now: float) -> None:
        self._started = now

    def died(self, now: float) -> None:
        self.deaths = 1 if now - self._started >= _STEADY_SECONDS else self.deaths + 1
        wait = 0.0 if self.deaths == 1 else _FIRST_WAIT_SECONDS * 2 ** (self.deaths - 2)
        self.not_before = now + min(wait, _LONGEST_WAIT_SECONDS)

    def wait_seconds(self, now: float) -> float:
        return max(self.not_before - now, 0.0)
