"""The ASGI middleware: apply the rule to an application's answer, and answer cursors without it."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from brimgate.engine.cursor import Binding
from brimgate.engine.decision import AnswerSizes, Arm, Outcome, Report, Trial, sizes_of
from brimgate.engine.document import Document
from brimgate.engine.policy import ToolRule, template_for
from brimgate.engine.replies.rest_frame import ParameterNames, RefusedQuery
from brimgate.errors import BrimgateError, ClientError
from brimgate.front.rest.headers import (
    as_utf8,
    budget_headers,
    for_the_application,
    header,
    looks_binary,
    missing_header,
    other_body,
    same_body,
)
from brimgate.front.rest.parameters import NO_QUERY, RestQuery, read_query, split_query, with_parameters
from brimgate.front.rest.response import (
    BYPASSES,
    HIDDEN,
    OURS,
    TOO_LARGE,
    UNREADABLE,
    Account,
    Answering,
    AppAnswer,
    Completing,
    Failure,
    failure_of,
    send_failure,
)
from brimgate.guard.principal import Principal, as_principal, principal_of_scope
from brimgate.hold.live_lists import EVERYTHING, LiveList
from brimgate.hold.protection import Protection, trial_protection
from brimgate.hold.rest_answers import UNTOUCHED, RestAnswer, RestCall
from brimgate.hold.runtime import UNKNOWN_BYTES, run_work
from brimgate.http.asgi import App, Header, Receive, Scope, Send, send_response
from brimgate.http.encodings import BodyTooLong, Unreadable, decoded

_log: Final = logging.getLogger("brimgate.rest")
MAX_BYTES: Final = 64 << 20
LIVE_LIST: Final = "brimgate.live_list"
"""Where an application puts a live list before it sends the body, which is only its beginning."""
_DECIDED: Final = "brimgate.decided"
_UPSTREAM: Final = "rest"
_MOST_SQUEEZED: Final = 32
"""How many times larger than its gzip JSON or text usually is, at most."""
_MAX_ENDPOINT_CHARS: Final = 500
_MAX_QUERY_BYTES: Final = 1_000
_T = TypeVar("_T")
Resolve = Callable[[str], ToolRule]


class ProtectedApp:
    """An ASGI application whose answers stay within their budget.

    Of several around one request, the outermost decides.
    """

    def __init__(
        self,
        app: App,
        rules: Resolve,
        protection: Protection,
        *,
        details: Mapping[str, str] | None = None,
        names: ParameterNames | None = None,
        principal: Callable[[Scope], str | Principal] = principal_of_scope,
        clock: Callable[[], float] = time.time,
        max_bytes: int = MAX_BYTES,
        report: Report,
        upstream: str = _UPSTREAM,
        personal: Callable[[ToolRule, Principal], ToolRule] = lambda rule, _: rule,
    ) -> None:
        """Create it. `personal` changes the rule of a path for one caller."""
        self.app = app
        self.rules = rules
        """May be replaced at any time; requests under way keep what they began with."""
        self.protection = protection
        self.details = dict(details or {})
        self._names = names or ParameterNames()
        self._principal = principal
        self._clock = clock
        self._max_bytes = max_bytes
        self._report = report
        self._upstream = upstream
        self._personal = personal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope.get(_DECIDED):
            await self.app(scope, receive, send)
            return
        principal = as_principal(self._principal(scope))
        rule = self._personal(self.rules(scope["path"]), principal)

        def tell() -> None:
            decision = account.decision(principal, self._upstream, rule.policy)
            try:
                self._report(decision)
            except Exception:  # noqa: BLE001  # NFR-4: telemetry never fails a request
                _log.warning("a report of a decision failed", exc_info=True)

        account = Account(scope, send, self._clock(), tell)
        try:
            await self._answer(scope, receive, account, rule, principal)
        except Exception as error:
            account.outcome, account.reason = "error", repr(error)
            account.close()
            raise

    async def _answer(
        self, scope: Scope, receive: Receive, account: Account, rule: ToolRule, principal: Principal
    ) -> None:
        if rule.hidden:
            account.note_own()
            await self._fail(account, scope, HIDDEN, "refused")
            return
        try:
            call = self._call(scope, rule, principal)
        except RefusedQuery as error:
            account.note_own()
            await self._fail(account, scope, failure_of(error), "refused")
            return
        account.call = scope.get("query_string", b"")[:_MAX_QUERY_BYTES] or b"?"
        if call is None:
            account.arm = "shadow" if rule.arm == "shadow" else "direct"
            account.measure = partial(self._measured, self._call_of(scope, rule, principal), account.arm)
            await self._pass(scope, receive, account.send)
        elif call.cursor:
            await self._read_on(call, scope, account)
        else:
            await self._protect(call, scope, receive, account)

    def _call(self, scope: Scope, rule: ToolRule, principal: Principal) -> RestCall | None:
        """Return what is known of a request, or None if it is not protected."""
        path: str = scope["path"]
        if not rule.is_on or not rule.rollout:
            return None
        query = split_query(scope.get("query_string", b""), self._names)
        arguments = urlencode(sorted(query.others)).encode()
        # We issued the cursor, so its caller is protected.
        if not query.has_cursor and rule.arm_of(path, arguments) != "protected":
            return None
        return self._call_of(
            scope, rule, principal, read_query(query, self._names, rule.policy.max_page_size)
        )

    def _call_of(
        self, scope: Scope, rule: ToolRule, principal: Principal, asked: RestQuery = NO_QUERY
    ) -> RestCall:
        path: str = scope["path"]
        binding = Binding(principal.id, _UPSTREAM, path)
        is_safe = scope["method"] in ("GET", "HEAD")
        return RestCall(
            self.protection,
            rule,
            binding,
            self._clock(),
            asked.query,
            asked.cursor,
            asked.others,
            _endpoint(scope),
            self._names,
            template_for(path, self.details),
            is_safe,
            is_repeatable=is_safe and not asked.others,
            describe=partial(with_parameters, path=path, names=self._names, rule_of=self.rules),
        )

    def _measured(self, call: RestCall, arm: Arm, answer: AppAnswer) -> AnswerSizes:
        """Measure an answer that passed; in the arm `shadow` also what protection would have done with it."""
        encoding = header(answer.headers, b"content-encoding") or b""
        try:
            data = decoded(answer.raw, encoding, self._max_bytes) if encoding else answer.raw
        except (Unreadable, BodyTooLong):
            return AnswerSizes(0, 0)
        policy = call.rule.policy
        if arm != "shadow":
            return sizes_of(Document(data), policy)
        bounded = _bounded(replace(call, protection=trial_protection(policy)), answer, data, None)
        tokens, sent, items, _, kind, _ = bounded.sizes
        return AnswerSizes(tokens, tokens, items, items, kind, Trial(bounded.outcome, sent))

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        inner: Scope = {**scope, _DECIDED: True}

        async def complete() -> bytes | Failure | None:
            live_list: LiveList | None = inner.get(LIVE_LIST)
            if live_list is None or scope["method"] == "HEAD":
                return None
            try:
                await live_list.reach(EVERYTHING)
            except BrimgateError as error:
                return failure_of(error)
            return live_list.data

        await self.app(inner, receive, Completing(send, complete).send)

    async def _protect(self, call: RestCall, scope: Scope, receive: Receive, account: Account) -> None:
        offered: dict[str, Any] = scope.get("extensions") or {}
        inner: Scope = {
            **scope,
            "headers": for_the_application(scope.get("headers", ())),
            "extensions": {name: value for name, value in offered.items() if name not in BYPASSES},
            _DECIDED: True,
        }

        async def finish(answer: AppAnswer) -> None:
            account.note_answer()
            await self._finish(call, inner, answer, account)

        def stop() -> None:
            account.note_answer()
            account.note_failure(TOO_LARGE, "error")

        is_head = scope["method"] == "HEAD"
        answering = Answering(account.send, receive, finish, self._max_bytes, is_head=is_head, on_stop=stop)
        try:
            await self.app(inner, answering.receive, answering.send)
        except Exception:
            if not answering.is_stopped:
                raise
            # It was told to stop, and did.

    async def _finish(self, call: RestCall, inner: Scope, answer: AppAnswer, account: Account) -> None:
        account.original_bytes = len(answer.raw)
        try:
            live_list, data = await self._body(call, inner, answer)
            if not answer.media.is_named and looks_binary(data):
                headers = same_body(answer.headers, len(answer.raw))
                await send_response(account.send, answer.status, headers, answer.raw)
                return
            work = partial(_bounded, call, answer, data, live_list)
            bounded = await run_work(work, len(data), blocks=self.protection.store.blocks)
        except Unreadable:
            await self._fail(account, inner, UNREADABLE)
        except BodyTooLong:
            await self._fail(account, inner, TOO_LARGE)
        except BrimgateError as error:
            await self._fail(account, inner, failure_of(error), _outcome_of(error))
        except Exception:  # noqa: BLE001  # the request boundary: what cannot be bounded is not sent
            _log.exception("an answer of %r could not be bounded", call.binding.tool)
            await self._fail(account, inner, OURS)
        else:
            if live_list:
                bare = [
                    pair for pair in answer.headers if pair[0].lower() not in (b"content-encoding", b"etag")
                ]
                answer = answer._replace(headers=bare, raw=data)
            await self._send(answer, bounded, account)

    async def _body(self, call: RestCall, inner: Scope, answer: AppAnswer) -> tuple[LiveList | None, bytes]:
        live_list: LiveList | None = inner.get(LIVE_LIST) if answer.status < 400 else None
        if live_list is not None:
            await live_list.reach(call.items_needed(live_list))
            return live_list, live_list.data
        encoding = header(answer.headers, b"content-encoding") or b""
        if not encoding:
            return None, answer.raw
        work = partial(decoded, answer.raw, encoding, self._max_bytes)
        return None, await run_work(work, _MOST_SQUEEZED * len(answer.raw))

    async def _send(self, answer: AppAnswer, bounded: RestAnswer, account: Account) -> None:
        shaped = bounded.shaped
        told = budget_headers(shaped.tokens, shaped.budget) + missing_header(shaped.missing)
        status, body = answer.status, shaped.body
        if shaped.kind == UNTOUCHED:
            body = answer.raw
            headers = same_body(answer.headers, len(body)) + told
        else:
            headers = other_body(answer.headers, len(body)) + told
            status = 200 if status == 206 else status  # no longer the requested range
        account.note_reply(bounded, len(answer.raw))
        await send_response(account.send, status, headers, body)

    async def _read_on(self, call: RestCall, scope: Scope, account: Account) -> None:
        account.note_own()
        try:
            live_list = call.live_list()
            if live_list is not None:
                await live_list.reach(call.items_needed(live_list))
                account.note_answer()
            # How much there is to read is known only when it has been looked up.
            bounded = await run_work(call.read, UNKNOWN_BYTES)
        except BrimgateError as error:
            await self._fail(account, scope, failure_of(error), _outcome_of(error))
            return
        except Exception:  # noqa: BLE001  # the request boundary
            _log.exception("what is held of %r could not be read", call.binding.tool)
            await self._fail(account, scope, OURS)
            return
        shaped = bounded.shaped
        account.note_reply(bounded, bounded.original_bytes)
        told: list[Header] = budget_headers(shaped.tokens, shaped.budget) + missing_header(shaped.missing)
        body = b"" if scope["method"] == "HEAD" else shaped.body
        await send_response(account.send, 200, other_body([], len(shaped.body)) + told, body)

    async def _fail(
        self, account: Account, scope: Scope, failure: Failure, outcome: Outcome = "error"
    ) -> None:
        account.note_failure(failure, outcome)
        await send_failure(account.send, failure, is_head=scope["method"] == "HEAD")


def _outcome_of(error: BrimgateError) -> Outcome:
    return "refused" if isinstance(error, ClientError) else "error"


def _bounded(call: RestCall, answer: AppAnswer, data: bytes, live_list: LiveList | None) -> RestAnswer:
    text, may_be_json = (data, True) if live_list else as_utf8(data, answer.media)
    return call.bound(text, live_list, is_error=answer.status >= 400, is_text=not may_be_json)


def _endpoint(scope: Scope) -> str:
    """Return the path as the client sees it; some servers include the application's mount point in the path."""
    root: str = scope.get("root_path", "").rstrip("/")
    path: str = scope["path"]
    full = path if not root or path.startswith(root + "/") or path == root else root + path
    # The empty reference is this very path; such a long one is not repeated.
    return quote(full, safe="/:@!$&'()*+,;=~-._") if len(full) <= _MAX_ENDPOINT_CHARS else ""
