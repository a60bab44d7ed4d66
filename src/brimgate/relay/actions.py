"""The actions that a session gives its driver."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, assert_never

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


PlainAction = ToUpstream | ToClient | Note | Greeted
"""What a driver can do at once."""
Action = PlainAction | Work | Wait


def with_work_done(actions: Sequence[Action]) -> list[Action]:
    """Do all work, and return the actions with its results. Leave every Wait to the driver."""
    done: list[Action] = []
    for action in actions:
        match action:
            case Work():
                done += with_work_done(action.run())
            case ToUpstream() | ToClient() | Note() | Greeted() | Wait():
                done.append(action)
            case _:
                assert_never(action)
    return done


def at_once(actions: Sequence[Action]) -> list[PlainAction]:
    """Do all work at once, and refuse every Wait."""
    done: list[PlainAction] = []
    for action in actions:
        match action:
            case Work():
                done += at_once(action.run())
            case Wait():
                done += at_once(action.failed("this cannot be read in a batch: send it alone"))
            case ToUpstream() | ToClient() | Note() | Greeted():
                done.append(action)
            case _:
                assert_never(action)
    return done
