"""The gate: one held answer, its first bounded reply, and every reading that follows."""

from dataclasses import dataclass

from brimgate.engine import decision
from brimgate.engine.document import Position, Source
from brimgate.engine.policy import Policy
from brimgate.engine.query import Request
from brimgate.engine.reading import read
from brimgate.engine.replies.formatted import first_worded
from brimgate.engine.replies.frame import Frame
from brimgate.engine.replies.reply import Issue, Reply
from brimgate.engine.replies.text import begin
from brimgate.engine.view import View
from brimgate.engine.wording import Wording


@dataclass(frozen=True)
class Gate:
    source: Source
    policy: Policy
    issue: Issue
    wording: Wording | None = None

    @property
    def _frame(self) -> Frame:
        return Frame(self.source, self.policy, self.issue)

    def first(self) -> Reply | None:
        """The bounded first reply; None when the answer fits and goes out as it is."""
        worded = first_worded(self._frame, self.wording) if self.wording else None
        if worded is not None:
            return worded
        decided = decision.decide(self.source, self.policy)
        return None if isinstance(decided, decision.Pass) else begin(self._frame, decided)

    def read(self, view: View, position: Position, request: Request) -> Reply:
        """Go on from a cursor, or look at the held answer in another way."""
        return read(self._frame, view, position, request, self.wording)
