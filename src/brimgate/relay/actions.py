"""What a session tells its driver to do."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple

from brimgate.hold.threads import THREAD_BYTES

Line = bytes | bytearray


class ToUpstream(NamedTuple):
    data: Line
    expects_answer: bool = False


class ToClient(NamedTuple):
    data: Line
    is_ours: bool = False
    """It stands for an answer that never came: the upstream is gone, or could not be understood."""


class Note(NamedTuple):
    """Something the log should say."""

    event: str
    fields: dict[str, Any]
    level: str = "info"


class Greeted(NamedTuple):
    """An upstream that was started has answered the handshake we played to it."""

    answer: bytes
    """Its result; empty if it refused."""


class Work(NamedTuple):
    """Something that may take long. It touches nothing of the session, so another thread may do it."""

    run: "Callable[[], list[Action]]"
    size: int
    """In bytes of what it works on."""

    @property
    def is_quick(self) -> bool:
        """Cheaper to do than to hand to a thread."""
        return self.size <= THREAD_BYTES


class Wait(NamedTuple):
    """Something has to be fetched first, which is not the session's to fetch."""

    until: Callable[[], Awaitable[None]]
    """UpstreamError or BadRequest if it cannot be had."""
    then: "Callable[[], list[Action]]"
    failed: "Callable[[str], list[Action]]"
    """What to do instead, given why."""


Action = ToUpstream | ToClient | Note | Greeted | Work | Wait


def with_work_done(actions: Sequence[Action]) -> list[Action]:
    """The same, with all work done; what is waited for is left to the driver."""
    if not any(isinstance(action, Work) for action in actions):
        return list(actions)
    return [
        done
        for action in actions
        for done in (with_work_done(action.run()) if isinstance(action, Work) else (action,))
    ]


def at_once(actions: Sequence[Action]) -> list[Action]:
    """The same, with all work done and nothing waited for: what must wait is refused."""
    return [
        done
        for action in with_work_done(actions)
        for done in (
            at_once(action.failed("this cannot be read in a batch: send it alone"))
            if isinstance(action, Wait)
            else (action,)
        )
    ]
