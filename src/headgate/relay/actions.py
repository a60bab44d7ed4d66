"""What a session tells its driver to do."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

Line = bytes | bytearray
_QUICK_BYTES: Final = 100_000


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
        return self.size <= _QUICK_BYTES


Action = ToUpstream | ToClient | Note | Greeted | Work


def settled(actions: Sequence[Action]) -> list[Action]:
    """The same, with all work done."""
    if not any(isinstance(action, Work) for action in actions):
        return list(actions)
    return [
        done
        for action in actions
        for done in (settled(action.run()) if isinstance(action, Work) else (action,))
    ]
