"""The ASGI middleware: apply the rule to an application's answer, and answer cursors without it."""

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from brimgate.engine.cursor import Binding
from brimgate.engine.policy import ToolRule, template_for
from brimgate.engine.replies.rest_frame import ParameterNames, RefusedQuery, Shaped
from brimgate.errors import BrimgateError
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
from brimgate.front.rest.parameters import read_query, split_query
from brimgate.front.rest.request import UNTOUCHED, RestCall
from brimgate.front.rest.response import (
    BYPASSES,
    HIDDEN,
    OURS,
    TOO_LARGE,
    UNREADABLE,
    Answering,
    AppAnswer,
    Completing,
    Failure,
    failure_of,
    send_failure,
)
from brimgate.guard.principal import Principal, principal_of_scope
from brimgate.hold.live_lists import EVERYTHING, LiveList
from brimgate.hold.protection import Protection
from brimgate.hold.runtime import run_work
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
_T = TypeVar("_T")
Resolve = Callable[[str], ToolRule]


@dataclass(frozen=True, slots=True)
class Decision:
    path: str
    kind: str
    """untouched, minified, page, preview, part, chunk, fields, whole, openapi, or the code of one of our errors."""
    status: int
    original_tokens: int
    estimated_tokens: int
    budget: int
    item_count: int
    original_bytes: int
    response_bytes: int


Report = Callable[[Decision], None]


def log_decision(decision: Decision) -> None:
    _log.info(
        "path=%r kind=%s originalTokens=%d estimatedTokens=%d itemCount=%d",
        decision.path,
        decision.kind,
        decision.original_tokens,
        decision.estimated_tokens,
        decision.item_count,
    )


def tell(report: Report, decision: Decision) -> None:
    try:
        report(decision)
    except Exception:  # noqa: BLE001  # NFR-4: telemetry never fails a request
        _log.warning("a report of a decision failed", exc_info=True)


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
        report: Report = log_decision,
    ) -> None:
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope.get(_DECIDED):
            await self.app(scope, receive, send)
            return
        rule = self.rules(scope["path"])
        if rule.hidden:
            await self._fail(send, scope, HIDDEN)
            return
        try:
            call = self._call(scope, rule)
        except RefusedQuery as error:
            await self._fail(send, scope, failure_of(error))
            return
        if call is None:
            await self._pass(scope, receive, send)
        elif call.asked.cursor:
            await self._read_on(call, scope, send)
        else:
            await self._protect(call, scope, receive, send)

    def _call(self, scope: Scope, rule: ToolRule) -> RestCall | None:
        """Return what is known of a request, or None if it is not protected."""
        path: str = scope["path"]
        if not rule.enabled or not rule.rollout_percent:
            return None
        query = split_query(scope.get("query_string", b""), self._names)
        # We issued the cursor, so its caller is protected.
        if not query.has_cursor and not rule.protects(path, urlencode(query.others).encode()):
            return None
        asked = read_query(query, self._names, rule.policy.max_page_size)
        who = self._principal(scope)
        binding = Binding(who if isinstance(who, str) else who.id, _UPSTREAM, path)
        return RestCall(
            self.protection, rule, self.rules, path, _endpoint(scope), scope["method"], asked, binding,
            self._clock(), self._names, template_for(path, self.details),
        )  # fmt: skip

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

    async def _protect(self, call: RestCall, scope: Scope, receive: Receive, send: Send) -> None:
        offered: dict[str, Any] = scope.get("extensions") or {}
        inner: Scope = {
            **scope,
            "headers": for_the_application(scope.get("headers", ())),
            "extensions": {name: value for name, value in offered.items() if name not in BYPASSES},
            _DECIDED: True,
        }

        async def finish(answer: AppAnswer) -> None:
            await self._finish(call, inner, answer, send)

        answering = Answering(send, receive, finish, self._max_bytes, is_head=call.method == "HEAD")
        try:
            await self.app(inner, answering.receive, answering.send)
        except Exception:
            if not answering.is_stopped:
                raise
            # It was told to stop, and did.
        if answering.is_stopped:
            self._note(scope, TOO_LARGE)

    async def _finish(self, call: RestCall, inner: Scope, answer: AppAnswer, send: Send) -> None:
        try:
            live_list, data = await self._body(call, inner, answer)
            if not answer.media.is_named and looks_binary(data):
                await send_response(
                    send, answer.status, same_body(answer.headers, len(answer.raw)), answer.raw
                )
                return
            shaped, original = await run_work(partial(_bounded, call, answer, data, live_list), len(data))
        except Unreadable:
            await self._fail(send, inner, UNREADABLE)
        except BodyTooLong:
            await self._fail(send, inner, TOO_LARGE)
        except BrimgateError as error:
            await self._fail(send, inner, failure_of(error))
        except Exception:  # noqa: BLE001  # the request boundary: what cannot be bounded is not sent
            _log.exception("an answer of %r could not be bounded", call.path)
            await self._fail(send, inner, OURS)
        else:
            if live_list:
                bare = [
                    pair for pair in answer.headers if pair[0].lower() not in (b"content-encoding", b"etag")
                ]
                answer = answer._replace(headers=bare, raw=data)
            await self._send(call, answer, shaped, original, send)

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

    async def _send(
        self, call: RestCall, answer: AppAnswer, shaped: Shaped, original: int, send: Send
    ) -> None:
        told = budget_headers(shaped.tokens, shaped.budget) + missing_header(shaped.missing)
        status, body = answer.status, shaped.body
        if shaped.kind == UNTOUCHED:
            body = answer.raw
            headers = same_body(answer.headers, len(body)) + told
        else:
            headers = other_body(answer.headers, len(body)) + told
            status = 200 if status == 206 else status  # no longer the requested range
        self._tell(call.path, status, shaped, original, len(answer.raw))
        await send_response(send, status, headers, body)

    async def _read_on(self, call: RestCall, scope: Scope, send: Send) -> None:
        try:
            live_list = call.live_list()
            if live_list is not None:
                await live_list.reach(call.items_needed(live_list))
            held = call.opened()[1].source
            shaped, original = await run_work(call.read, len(held.data))
        except BrimgateError as error:
            await self._fail(send, scope, failure_of(error))
            return
        except Exception:  # noqa: BLE001  # the request boundary
            _log.exception("what is held of %r could not be read", call.path)
            await self._fail(send, scope, OURS)
            return
        self._tell(call.path, 200, shaped, original, len(held.data))
        told: list[Header] = budget_headers(shaped.tokens, shaped.budget) + missing_header(shaped.missing)
        body = b"" if call.method == "HEAD" else shaped.body
        await send_response(send, 200, other_body([], len(shaped.body)) + told, body)

    async def _fail(self, send: Send, scope: Scope, failure: Failure) -> None:
        self._note(scope, failure)
        await send_failure(send, failure, is_head=scope["method"] == "HEAD")

    def _note(self, scope: Scope, failure: Failure) -> None:
        size = len(failure.body)
        tell(self._report, Decision(scope["path"], failure.code, failure.status, 0, 0, 0, 0, 0, size))

    def _tell(self, path: str, status: int, shaped: Shaped, original: int, size: int) -> None:
        is_same = shaped.kind == UNTOUCHED
        decision = Decision(
            path, shaped.kind, status, shaped.tokens if is_same else original, shaped.tokens, shaped.budget,
            shaped.items, size, size if is_same else len(shaped.body),
        )  # fmt: skip
        tell(self._report, decision)


def _bounded(
    call: RestCall, answer: AppAnswer, data: bytes, live_list: LiveList | None
) -> tuple[Shaped, int]:
    text, may_be_json = (data, True) if live_list else as_utf8(data, answer.media)
    return call.bound(text, live_list, is_error=answer.status >= 400, is_text=not may_be_json)


def _endpoint(scope: Scope) -> str:
    """Return the path as the client sees it; some servers include the application's mount point in the path."""
    root: str = scope.get("root_path", "").rstrip("/")
    path: str = scope["path"]
    full = path if not root or path.startswith(root + "/") or path == root else root + path
    # The empty reference is this very path; such a long one is not repeated.
    return quote(full, safe="/:@!$&'()*+,;=~-._") if len(full) <= _MAX_ENDPOINT_CHARS else ""
