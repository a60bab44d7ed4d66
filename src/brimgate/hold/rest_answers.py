"""The engine with a memory, for REST: bring the answer to one request within its budget, and read on from it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from brimgate.engine.cursor import Binding
from brimgate.engine.decision import AnswerSizes, Outcome, asked_outcome, item_count
from brimgate.engine.document import Document, Position
from brimgate.engine.fields import ALL
from brimgate.engine.policy import Policy, ToolRule
from brimgate.engine.query import Query, View
from brimgate.engine.replies.rest_frame import ParameterNames, RestFrame, Shaped
from brimgate.engine.replies.rest_reply import budget_of, last_resort, read_on, rest_policy, shape
from brimgate.errors import ClientError
from brimgate.hold.live_lists import EVERYTHING, LiveList
from brimgate.hold.protection import HeldAnswer, Protection

_log: Final = logging.getLogger("brimgate.rest")
UNTOUCHED: Final = "untouched"


@dataclass(frozen=True, slots=True)
class RestAnswer:
    shaped: Shaped
    outcome: Outcome
    sizes: AnswerSizes
    original_bytes: int
    issued_cursor: bool


@dataclass(frozen=True, slots=True)
class RestCall:
    """What is known of a request before it is answered."""

    protection: Protection
    rule: ToolRule
    binding: Binding
    now: float
    query: Query
    cursor: str
    endpoint: str
    names: ParameterNames
    template: str
    is_safe: bool
    """Whether it only reads. Another one was carried out, whatever becomes of its answer."""
    is_repeatable: bool
    """Whether the same request with other parameters of ours gives the same answer."""
    describe: Callable[[Document], bytes | None]
    """Adds our parameters to the description of an API. None for any other answer."""

    def _frame(self, held: HeldAnswer, policy: Policy, *, is_repeatable: bool) -> RestFrame:
        return RestFrame(
            held.document, policy, held.issue, self.endpoint, self.names, self.template, is_repeatable
        )

    def bound(self, data: bytes, live_list: LiveList | None, *, is_error: bool, is_text: bool) -> RestAnswer:
        """Return what is sent for a body."""
        policy = rest_policy(self.rule.policy, is_error=is_error)
        held = replace(self.protection, policy=policy).hold(data, self.binding, self.now, live_list)
        frame = self._frame(held, policy, is_repeatable=self.is_repeatable and not is_error)
        if is_text:
            frame = replace(frame, document=held.document.as_text)
        query = Query() if is_error else self.query
        shaped = self._shaped(frame, query, is_error=is_error)
        # Lines are cheap to find: no need to count the whole text as exactly as for its chunks.
        tokens = policy.estimator.table(data) if query.lines else frame.document.tokens(policy.estimator)
        items = item_count(frame.document, policy)
        shown = items if shaped.outcome in ("passed", "rendered") else shaped.items
        # What passes is sent for itself: one count for both, the same as on every other path.
        sent = tokens if shaped.outcome == "passed" else shaped.tokens
        outcome = "error" if is_error else shaped.outcome
        return RestAnswer(
            shaped, outcome, AnswerSizes(tokens, sent, items, shown), len(data), held.has_issued
        )

    def _shaped(self, frame: RestFrame, query: Query, *, is_error: bool) -> Shaped:
        try:
            try:
                shaped = (None if is_error else self._described(frame)) or shape(frame, query)
            except ClientError:
                if self.is_safe:
                    raise
                # The request was carried out: a query about the answer that cannot be met does not undo it.
                query = Query()
                shaped = shape(frame, query)
        except ClientError:
            raise
        except Exception:  # noqa: BLE001  # whatever we got wrong, the answer stays bounded and readable
            _log.warning("an answer of %r is sent as plain text", self.binding.tool, exc_info=True)
            return last_resort(frame)
        if shaped is not None:
            is_decided = shaped.outcome != "read"
            return shaped if is_decided else replace(shaped, outcome=asked_outcome(shaped.kind))
        data = frame.document.data
        tokens = frame.policy.estimator.ceiling(data)
        return Shaped(data, UNTOUCHED, tokens, budget_of(frame, query), outcome="passed")

    def _described(self, frame: RestFrame) -> Shaped | None:
        body = self.describe(frame.document) if self.is_safe else None
        if body is None:
            return None
        tokens, cap = frame.policy.estimator.count(body), frame.policy.hard_output_token_cap
        is_same = body is frame.document.data
        return Shaped(
            body,
            UNTOUCHED if is_same else "openapi",
            tokens,
            cap,
            outcome="passed" if is_same else "rendered",
        )

    # From a cursor

    def opened(self) -> tuple[Protection, HeldAnswer, View, Position]:
        protection = replace(self.protection, policy=rest_policy(self.rule.policy))
        return protection, *protection.opened(self.cursor, self.binding, self.now)

    def read(self) -> RestAnswer:
        protection, held, view, position = self.opened()
        policy = protection.policy
        frame = self._frame(held, policy, is_repeatable=False)
        try:
            shaped = read_on(frame, view, position, self.query)
        except ClientError:
            raise
        except Exception:  # noqa: BLE001  # as above
            _log.warning("what is held of %r is sent as plain text", self.binding.tool, exc_info=True)
            shaped = last_resort(frame)
        document = held.document
        sizes = AnswerSizes(
            document.tokens(policy.estimator), shaped.tokens, item_count(document, policy), shaped.items
        )
        return RestAnswer(shaped, "read", sizes, len(document.data), held.has_issued)

    def live_list(self) -> LiveList | None:
        return self.protection.live_list(self.cursor, self.binding, self.now)

    def items_needed(self, live_list: LiveList) -> int:
        """Return how many items of a live list an answer needs.

        One more than it shows tells that the list continues.
        """
        query, limit = self.query, self.query.limit
        if not self.cursor:
            wants_all = not self.rule.policy.enable_pagination or (ALL in query.fields and not limit)
            return EVERYTHING if wants_all else (limit or rest_policy(self.rule.policy).page_size) + 1
        _, held, view, position = self.opened()
        if query.path is None and view.scope == "focus":
            return position.node + (limit or view.limit or rest_policy(self.rule.policy).page_size) + 1
        pointer, path = held.document.focus.pointer + "/", query.path or ""
        index = path.removeprefix(pointer).partition("/")[0] if path.startswith(pointer) else ""
        return int(index) + 1 if index.isdecimal() and len(index) < 10 else EVERYTHING
