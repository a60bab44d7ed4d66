"""What every kind of server looks like to those who talk to it: messages out, messages in, and an end."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

Line = bytes | bytearray


class Channel(Protocol):
    """A server that was reached and takes messages, one by one."""

    @property
    def is_stuck(self) -> bool:
        """Inside an answer that was refused for its size: nothing behind it can be heard."""
        ...

    def send(self, line: Line) -> None: ...

    def pause(self) -> None:
        """Whoever we speak for does not keep up: hear no more until `resume`."""
        ...

    def resume(self) -> None: ...

    async def end(self, grace_seconds: float) -> None:
        """Part from it, and leave nothing behind. It may take the grace to end by itself."""
        ...


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what a channel has to say."""

    on_line: Callable[[Line], None]
    on_too_long: Callable[[bytes], None]
    """With the beginning of a message that went over the cap."""
    on_lost: Callable[[Channel, str], None]
    """Once, with the reason, when it can be talked to no more."""
    on_pressure: Callable[[bool], None]
    """True when it does not keep up with what it is sent, False when it does again."""
    on_chatter: Callable[[str], None]
    """A line that is for the log, such as a process writes to stderr."""
    on_unstuck: Callable[[], None] = lambda: None
    """When an answer that was refused for its size has come to its end."""


Connect = Callable[[Listener], Awaitable[Channel]]
"""Starts or reaches a server; UpstreamError if it cannot be."""


_STEADY_SECONDS: Final = 10.0
"""One that ran so long counts as healthy: its next death is the first again."""
_FIRST_WAIT_SECONDS: Final = 0.5
_LONGEST_WAIT_SECONDS: Final = 30.0


@dataclass(slots=True)
class Revival:
    deaths: int = 0
    """In a row, each soon after its start."""
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
