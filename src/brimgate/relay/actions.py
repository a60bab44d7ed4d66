"""The actions that a session gives its driver."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from brimgate.errors import UpstreamError
from brimgate.hold.runtime import THREAD_BYTES

Line = bytes | bytearray


class ToUpstream(NamedTuple):
    data: Line
    expects_answer: bool = False


class ToClient(NamedTuple):
    data: Line
    failure: UpstreamError | None = None
    """Why this replaces an answer of the upstream, which never came or could not be understood."""


class Note(NamedTuple):
    """An event for the log."""

    event: str
    fields: dict[str, Any]
    level: str = "info"


class Greeted(NamedTuple):
    """A restarted upstream has answered the handshake that we replayed."""

    answer: bytes
    """Its result; empty if it refused."""


class Work(NamedTuple):
    """Work that may take long. It touches nothing of the session, so another thread may do it."""

    run: "Callable[[], list[Action]]"
    size: int
    """The bytes that it works on."""

    @property
    def is_quick(self) -> bool:
        """Whether doing it is cheaper than handing it to a thread."""
        return self.size <= THREAD_BYTES


class Wait(NamedTuple):
    """Something must be fetched first, which the session cannot do itself."""

    until: Callable[[], Awaitable[None]]
    """Raises UpstreamError or BadRequest if it cannot be fetched."""
    then: "Callable[[], list[Action]]"
    failed: "Callable[[str], list[Action]]"
    """Takes the reason and returns what to do instead."""


Action = ToUpstream | ToClient | Note | Greeted | Work | Wait


def with_work_done(actions: Sequence[Action]) -> list[Action]:
    """Do all work, and return the actions with its results. Leave every Wait to the driver."""
    if not any(isinstance(action, Work) for action in actions):
        return list(actions)
    return [
        done
        for action in actions
        for done in (with_work_done(action.run()) if isinstance(action, Work) else (action,))
    ]


def at_once(actions: Sequence[Action]) -> list[Action]:
    """Do all work at once, and refuse every Wait."""
    return [
        done
        for action in with_work_done(actions)
        for done in (
            at_once(action.failed("this cannot be read in a batch: send it alone"))
            if isinstance(action, Wait)
            else (action,)
        )
    ]
