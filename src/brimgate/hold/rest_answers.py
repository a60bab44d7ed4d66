"""The engine with a memory, for REST: bring the answer to one request within its budget, and read on from it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import parse_qsl, urlencode

from brimgate.engine.cursor import Binding, answer_number
from brimgate.engine.decision import AnswerSizes, Outcome, asked_outcome, contents, item_count
from brimgate.engine.document import Document, Position, one_line
from brimgate.engine.policy import Policy, ToolRule
from brimgate.engine.query import Query, View
from brimgate.engine.replies.rest_frame import ParameterNames, RefusedQuery, RestFrame, Shaped
from brimgate.engine.replies.rest_reply import budget_of, last_resort, read_on, rest_policy, shape
from brimgate.errors import ClientError
from brimgate.hold.live_lists import EVERYTHING, LiveList
from brimgate.hold.protection import HeldAnswer, Protection

_log: Final = logging.getLogger("brimgate.rest")
UNTOUCHED: Final = "untouched"
_NAME_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class RestAnswer:
    shaped: Shaped
    outcome: Outcome
    sizes: AnswerSizes
    original_bytes: int
    issued_cursor: bool
    answer: int = 0
    """The number of the held answer that there is a cursor to."""


@dataclass(frozen=True, slots=True)
class RestCall:
    """What is known of a request before it is answered."""

    protection: Protection
    rule: ToolRule
    binding: Binding
    now: float
    query: Query
    cursor: str
    others: tuple[tuple[str, str], ...]
    """The parameters of the request that are not ours."""
    endpoint: str
    names: ParameterNames
    template: str
    is_safe: bool
    """Whether it only reads. Another one was carried out, whatever becomes of its answer."""
    is_repeatable: bool
    """Whether the same request with other parameters of ours gives the same answer."""
    describe: Callable[[Document], bytes | None]
    """Adds our parameters to the description of an API. None for any other answer."""

    def _frame(self, held: HeldAnswer, policy: Policy, asked: str, *, is_repeatable: bool) -> RestFrame:
        """Return the frame of a reply. Its cursors know what the answer was asked with."""

        def issue(view: View, position: Position) -> str:
            return held.issue(replace(view, asked=asked), position)

        return RestFrame(
            held.document, policy, issue, self.endpoint, self.names, self.template, is_repeatable
        )

    def bound(self, data: bytes, live_list: LiveList | None, *, is_error: bool, is_text: bool) -> RestAnswer:
        """Return what is sent for a body."""
        policy = rest_policy(self.rule.policy, is_error=is_error)
        held = replace(self.protection, policy=policy).hold(data, self.binding, self.now, live_list)
        is_repeatable = self.is_repeatable and not is_error
        frame = self._frame(held, policy, urlencode(self.others), is_repeatable=is_repeatable)
        if is_text:
            frame = replace(frame, document=held.document.as_text)
        query = Query() if is_error else self.query
        shaped = self._shaped(frame, query, is_error=is_error)
        # Lines are cheap to find: no need to count the whole text as exactly as for its chunks.
        tokens = policy.estimator.table(data) if query.lines else frame.document.tokens(policy.estimator)
        items, kind = contents(frame.document, policy)
        shown = items if shaped.outcome in ("passed", "rendered") else shaped.items
        # What passes is sent for itself: one count for both, the same as on every other path.
        sent = tokens if shaped.outcome == "passed" else shaped.tokens
        outcome = "error" if is_error else shaped.outcome
        return RestAnswer(
            shaped,
            outcome,
            AnswerSizes(tokens, sent, items, shown, kind),
            len(data),
            held.has_issued,
            held.number,
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
        """Return what the cursor leads to. Refuse parameters that the answer was not asked with."""
        protection = replace(self.protection, policy=rest_policy(self.rule.policy))
        held, view, position = protection.opened(self.cursor, self.binding, self.now)
        first = parse_qsl(view.asked, keep_blank_values=True)
        for name, value in self.others:
            if (name, value) not in first:
                raise RefusedQuery("invalid_parameter", _not_asked(name, first))
        return protection, held, view, position

    def read(self) -> RestAnswer:
        protection, held, view, position = self.opened()
        policy = protection.policy
        frame = self._frame(held, policy, view.asked, is_repeatable=False)
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
        return RestAnswer(
            shaped, "read", sizes, len(document.data), held.has_issued, answer_number(self.cursor)
        )

    def live_list(self) -> LiveList | None:
        return self.protection.live_list(self.cursor, self.binding, self.now)

    def items_needed(self, live_list: LiveList) -> int:
        """Return how many items of a live list an answer needs.

        Where no total tells that the list continues, one item more than it shows does.
        """
        query, limit = self.query, self.query.limit
        further = 0 if live_list.state().is_total_known else 1
        if not self.cursor:
            page = limit or rest_policy(self.rule.policy).page_size
            return page + further if self.rule.policy.enable_pagination else EVERYTHING
        _, held, view, position = self.opened()
        if query.path is None and view.scope == "focus":
            page = limit or view.limit or rest_policy(self.rule.policy).page_size
            return position.node + page + further
        pointer, path = held.document.focus.pointer + "/", query.path or ""
        index = path.removeprefix(pointer).partition("/")[0] if path.startswith(pointer) else ""
        return int(index) + 1 if index.isdecimal() and len(index) < 10 else EVERYTHING


def _not_asked(name: str, first: list[tuple[str, str]]) -> str:
    """Say why a parameter beside a cursor is refused: another query would have another answer."""
    name = name[:_NAME_CHARS]
    what = "has another value than" if any(name == known for known, _ in first) else "was no parameter of"
    return one_line(
        f"{name!r} {what} the first call: leave it out beside a cursor, or run the query again without one"
    )
