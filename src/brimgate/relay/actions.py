"""The actions that a session gives its driver."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, assert_never

from brimgate.errors import BadRequest, BrimgateError, UpstreamError
from brimgate.hold.runtime import THREAD_BYTES

if TYPE_CHECKING:
    from brimgate.engine.decision import Decision
    from brimgate.hold.errand import Errand
    from brimgate.relay.trace_context import CallTrace

Line = bytes | bytearray


class ToUpstream(NamedTuple):
    data: Line
    expects_answer: bool = False
    trace: "CallTrace | None" = None
    """What was written into its `_meta`, if somebody traces it."""


class ToClient(NamedTuple):
    data: Line
    failure: UpstreamError | None = None
    """Why this replaces an answer of the upstream, which never came or could not be understood."""


class Note(NamedTuple):
    """An event for the log."""

    event: str
    fields: dict[str, Any]
    level: str = "info"


class Decided(NamedTuple):
    """What became of an answer. Every answer comes behind one, so that the log has it when the client has it."""

    decision: "Decision"


class Listed(NamedTuple):
    """A client was told the tools. What they cost is measured later, and only if somebody asks."""

    measure: Callable[[], Mapping[str, int]]
    """Returns the tokens of each tool."""
    is_first: bool
    """Whether it is the first page of the list, or one that goes on."""


class Greeted(NamedTuple):
    """A restarted upstream has answered the handshake that we replayed."""

    answer: bytes
    """Its result; empty if it refused."""


class Work(NamedTuple):
    """Work that may take long. It touches nothing of the session, so another thread may do it."""

    run: "Callable[[], list[Action]]"
    size: int
    """The bytes that it works on."""
    blocks: bool = False
    """Whether it may wait for a store, and so must not be done on the event loop."""
    errand: "Errand[list[Action]] | None" = None
    """The same work for another process, if it can be done there."""
    waits: bool = False
    """Whether it waits for another process most of its time, as a query does."""

    @property
    def is_quick(self) -> bool:
        """Whether doing it is cheaper than handing it to a thread."""
        return self.size <= THREAD_BYTES and not self.blocks


class Wait(NamedTuple):
    """Something must be fetched first, which the session cannot do itself."""

    until: Callable[[], Awaitable[None]]
    """Raises UpstreamError or BadRequest if it cannot be fetched."""
    then: "Callable[[], list[Action]]"
    failed: "Callable[[BrimgateError], list[Action]]"
    """Takes the reason and returns what to do instead."""


Told = Note | Decided | Listed
"""What goes to the log, and to whoever else wants to know."""
PlainAction = ToUpstream | ToClient | Note | Decided | Listed | Greeted
"""What a driver can do at once."""
Action = PlainAction | Work | Wait


def with_work_done(actions: Sequence[Action]) -> list[Action]:
    """Do all work, and return the actions with its results. Leave to the driver what has to wait."""
    done: list[Action] = []
    for action in actions:
        match action:
            case Work() if not action.blocks:
                done += with_work_done(action.run())
            case ToUpstream() | ToClient() | Note() | Decided() | Listed() | Greeted() | Work() | Wait():
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
                done += at_once(action.failed(BadRequest("this cannot be read in a batch: send it alone")))
            case ToUpstream() | ToClient() | Note() | Decided() | Listed() | Greeted():
                done.append(action)
            case _:
                assert_never(action)
    return done
