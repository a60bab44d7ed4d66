"""Bring the answer to one request within its budget: where the pure shapes meet held answers."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from brimgate.engine.cursor import Binding
from brimgate.engine.decision import AnswerSizes, Outcome, asked_outcome, item_count
from brimgate.engine.document import Position
from brimgate.engine.fields import ALL
from brimgate.engine.policy import Policy, ToolRule
from brimgate.engine.query import Query, View
from brimgate.engine.replies.rest_frame import ParameterNames, RestFrame, Shaped
from brimgate.engine.replies.rest_reply import budget_of, last_resort, read_on, rest_policy, shape
from brimgate.errors import ClientError
from brimgate.front.rest.parameters import RestQuery, is_openapi, with_parameters
from brimgate.hold.live_lists import EVERYTHING, LiveList
from brimgate.hold.protection import HeldAnswer, Protection

_log: Final = logging.getLogger("brimgate.rest")
UNTOUCHED: Final = "untouched"
_OPENAPI_NAMES: Final = ("openapi.json", "swagger.json", "openapi")


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
    rules: Callable[[str], ToolRule]
    path: str
    endpoint: str
    method: str
    asked: RestQuery
    binding: Binding
    now: float
    names: ParameterNames
    template: str

    @property
    def is_safe(self) -> bool:
        return self.method in ("GET", "HEAD")

    def _frame(self, held: HeldAnswer, policy: Policy, *, is_repeatable: bool) -> RestFrame:
        return RestFrame(
            held.source, policy, held.issue, self.endpoint, self.names, self.template, is_repeatable
        )

    def bound(self, data: bytes, live_list: LiveList | None, *, is_error: bool, is_text: bool) -> RestAnswer:
        """Return what is sent for a body."""
        policy = rest_policy(self.rule.policy, is_error=is_error)
        held = replace(self.protection, policy=policy).hold(data, self.binding, self.now, live_list)
        repeatable = self.is_safe and not is_error and not self.asked.others
        frame = self._frame(held, policy, is_repeatable=repeatable)
        if is_text:
            frame = replace(frame, source=held.source.as_text)
        request = Query() if is_error else self.asked.request
        shaped = self._shaped(frame, request, is_error=is_error)
        # Lines are cheap to find: no need to count the whole text as exactly as for its chunks.
        tokens = policy.estimator.table(data) if request.lines else frame.source.tokens(policy.estimator)
        items = item_count(frame.source, policy)
        shown = items if shaped.outcome in ("passed", "rendered") else shaped.items
        # What passes is sent for itself: one count for both, the same as on every other path.
        sent = tokens if shaped.outcome == "passed" else shaped.tokens
        outcome = "error" if is_error else shaped.outcome
        return RestAnswer(
            shaped, outcome, AnswerSizes(tokens, sent, items, shown), len(data), held.has_issued
        )

    def _shaped(self, frame: RestFrame, request: Query, *, is_error: bool) -> Shaped:
        try:
            try:
                shaped = (None if is_error else self._openapi(frame)) or shape(frame, request)
            except ClientError:
                if self.is_safe:
                    raise
                # The request was carried out: a query about the answer that cannot be met does not undo it.
                request = Query()
                shaped = shape(frame, request)
        except ClientError:
            raise
        except Exception:  # noqa: BLE001  # whatever we got wrong, the answer stays bounded and readable
            _log.warning("an answer of %r is sent as plain text", self.path, exc_info=True)
            return last_resort(frame)
        if shaped is not None:
            is_decided = shaped.outcome != "read"
            return shaped if is_decided else replace(shaped, outcome=asked_outcome(shaped.kind))
        data = frame.source.data
        tokens = frame.policy.estimator.ceiling(data)
        return Shaped(data, UNTOUCHED, tokens, budget_of(frame, request), outcome="passed")

    def _openapi(self, frame: RestFrame) -> Shaped | None:
        """Add our parameters to an OpenAPI document, only at its usual paths: any answer could claim to be one."""
        is_looked_for = self.is_safe and self.path.rpartition("/")[2] in _OPENAPI_NAMES
        if not is_looked_for or not is_openapi(frame.source):
            return None
        data, policy = frame.source.data, frame.policy
        changed = with_parameters(data, self.names, self._max_limit)
        tokens = policy.estimator.count(changed or data)
        cap = policy.hard_output_token_cap
        if changed is None:
            return Shaped(data, UNTOUCHED, tokens, cap, outcome="passed")
        return Shaped(changed, "openapi", tokens, cap, outcome="rendered")

    def _max_limit(self, path: str) -> int | None:
        rule = self.rules(path)
        return rule.policy.max_page_size if rule.enabled else None

    # From a cursor

    def opened(self) -> tuple[Protection, HeldAnswer, View, Position]:
        protection = replace(self.protection, policy=rest_policy(self.rule.policy))
        return protection, *protection.opened(self.asked.cursor, self.binding, self.now)

    def read(self) -> RestAnswer:
        protection, held, view, position = self.opened()
        policy = protection.policy
        frame = self._frame(held, policy, is_repeatable=False)
        try:
            shaped = read_on(frame, view, position, self.asked.request)
        except ClientError:
            raise
        except Exception:  # noqa: BLE001  # as above
            _log.warning("what is held of %r is sent as plain text", self.path, exc_info=True)
            shaped = last_resort(frame)
        document = held.source
        sizes = AnswerSizes(
            document.tokens(policy.estimator), shaped.tokens, item_count(document, policy), shaped.items
        )
        return RestAnswer(shaped, "read", sizes, len(document.data), held.has_issued)

    def live_list(self) -> LiveList | None:
        return self.protection.live_list(self.asked.cursor, self.binding, self.now)

    def items_needed(self, live_list: LiveList) -> int:
        """Return how many items of a live list an answer needs.

        One more than it shows tells that the list continues.
        """
        request, limit = self.asked.request, self.asked.request.limit
        if not self.asked.cursor:
            wants_all = not self.rule.policy.enable_pagination or (ALL in request.fields and not limit)
            return EVERYTHING if wants_all else (limit or self.rule.policy.default_page_size) + 1
        _, held, view, position = self.opened()
        if request.path is None and view.scope == "focus":
            return position.node + (limit or view.limit or self.rule.policy.default_page_size) + 1
        pointer, path = held.source.focus.pointer + "/", request.path or ""
        index = path.removeprefix(pointer).partition("/")[0] if path.startswith(pointer) else ""
        return int(index) + 1 if index.isdecimal() and len(index) < 10 else EVERYTHING
