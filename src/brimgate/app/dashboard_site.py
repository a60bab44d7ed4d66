"""The dashboard as a site: which URL shows what, for `serve` and for `brimgate dashboard`."""

import asyncio
import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from brimgate.errors import BadRequest, BrimgateError, OperatorError
from brimgate.front.mcp.errors import HttpError
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import not_allowed
from brimgate.guard.auth import is_token
from brimgate.http.asgi import Header
from brimgate.watch.dashboard.markup import Child
from brimgate.watch.dashboard.page_frame import ROOT, PageAddress, Viewer, assets
from brimgate.watch.record_watch import RecordWatch

if TYPE_CHECKING:
    from brimgate.watch.dashboard.answer_page import HeldPart
    from brimgate.watch.dashboard.figures import AnswerLine
    from brimgate.watch.dashboard.system_page import SystemState
    from brimgate.watch.exhibit import Exhibit
    from brimgate.watch.redaction import Redaction

COOKIE: Final = "brimgate_dashboard"
_HTML: Final = (b"content-type", b"text/html; charset=utf-8")
_POLICY: Final = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    b"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_GUARDS: Final[tuple[Header, ...]] = (
    (b"content-security-policy", _POLICY),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
)
"""Nothing but our own files runs, and nobody else gets to know what is looked at.

Without any referrer browsers send forms with `Origin: null`, as pages of others do."""
_NO_STORE: Final = (b"cache-control", b"no-store")
_KEPT: Final = (b"cache-control", b"public, max-age=31536000, immutable")
_EVENT: Final = b"event: change\ndata: new\n\n"
_REFRESH_SECONDS: Final = 15.0
"""Without a record: health and alerts change too."""
_MAX_FORM_BYTES: Final = 16_384
_MAX_COOKIE_BYTES: Final = 2_900
"""Browsers keep 4,096 characters of a cookie, and a third is added by its spelling."""
_TITLES: Final = {
    400: "This cannot be shown",
    401: "Not for you",
    403: "Not for you",
    404: "There is no such page",
    503: "Not now",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """What the dashboard is about: where records are, and whatever else is known of whoever made them."""

    records: Callable[[], Path | None]
    """Returns the file; None if nothing is kept."""
    flush: Callable[[], None]
    """Keeps what is not in the file yet. It may wait for a disk."""
    held: "Callable[[AnswerLine, str, int], HeldPart | None]"
    """Returns a part of a held answer that a caller may see, by its fingerprint. It may wait, too."""
    keeps: Callable[[], str]
    """Returns what exhibits have."""
    exhibits: "Callable[[float, int], Awaitable[list[Exhibit]]]"
    """Returns the exhibits of a moment, of answers with so many tokens."""
    hint: Callable[[], Child]
    """Returns what to do for a first answer."""
    alerts: Callable[[], Sequence[dict[str, Any]]] = list
    system: "Callable[[], SystemState] | None" = None
    is_https: bool = False


class DashboardSite:
    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._watch = RecordWatch(lambda: subject.records() or Path("/nonexistent"))
        self._turn = asyncio.Lock()
        """One page is made at a time: it takes a processor, and answers go first."""
        self._is_over = False

    def end(self) -> None:
        """End all streams: we are about to stop."""
        self._is_over = True
        self._watch.wake()

    # What anybody may ask for

    async def answer_anybody(self, exchange: HttpExchange) -> bool:
        """Answer what is the same for everybody: files, and the form to log in. Return whether it was that."""
        name = exchange.path.removeprefix(f"{ROOT}/")
        if name.startswith("assets/"):
            await self._asset(exchange, name.removeprefix("assets/"))
        elif name in ("login", "logout") and exchange.method == "POST":
            await self._log(exchange, is_in=name == "login")
        else:
            return False
        return True

    async def _asset(self, exchange: HttpExchange, name: str) -> None:
        found = assets().file(name)
        if found is None:
            raise HttpError(404, "there is no such file")
        await exchange.answer(200, found[0], [(b"content-type", found[1]), _KEPT, *_GUARDS])

    async def _log(self, exchange: HttpExchange, *, is_in: bool) -> None:
        """Keep a token in a cookie, or forget it. Whether it is valid shows with the next page."""
        token, wanted = "", ROOT
        if is_in:
            form = dict(parse_qsl((await exchange.body())[:_MAX_FORM_BYTES].decode("utf-8", "replace")))
            token, wanted = (
                form.get("token", "").strip().removeprefix("Bearer "),
                _own_page(form.get("page", "")),
            )
            if not is_token(token) or len(token) > _MAX_COOKIE_BYTES:
                trouble = "This is no key or token: check what you have pasted."
                await self.ask_for_token(exchange, trouble, wanted)
                return
        await self.redirect(exchange, wanted, self.cookie(exchange, token))

    def cookie(self, exchange: HttpExchange, token: str) -> Header:
        """Return the header that keeps a token in the browser until that ends, out of reach of scripts and other sites."""
        secure = "; Secure" if self._subject.is_https else ""
        age = "" if token else "; Max-Age=0"
        kept = (
            urlsafe_b64encode(token.encode()).decode().rstrip("=")
        )  # a token may have characters that no cookie has
        # Lax, so that a link to a page works wherever it stands: pages change nothing, and forms tell where they are from.
        text = f"{_cookie_name(exchange)}={kept}; Path={ROOT}; HttpOnly; SameSite=Lax{secure}{age}"
        return b"set-cookie", text.encode()

    async def redirect(self, exchange: HttpExchange, where: str, *headers: Header) -> None:
        await exchange.answer(303, b"", [(b"location", where.encode()), _NO_STORE, *_GUARDS, *headers])

    async def ask_for_token(self, exchange: HttpExchange, trouble: str = "", wanted: str = "") -> None:
        """Ask who it is. Whoever has told it goes to the page that was asked for, with its filters."""
        from brimgate.watch.dashboard.login_page import login_page

        challenge = (b"www-authenticate", b'Bearer realm="brimgate"')
        query = exchange.query.decode("latin-1")
        wanted = wanted or _own_page(f"{exchange.path}?{query}" if query else exchange.path)
        await exchange.answer(401, login_page(wanted, trouble), [_HTML, _NO_STORE, challenge, *_GUARDS])

    async def tell(self, exchange: HttpExchange, status: int, reason: str) -> None:
        """Tell a person what went wrong."""
        from brimgate.watch.dashboard.login_page import trouble_page

        page = trouble_page(_TITLES.get(status, "That did not work"), reason)
        await exchange.answer(status, page, [_HTML, _NO_STORE, *_GUARDS])

    # What a viewer may see

    async def answer(self, exchange: HttpExchange, viewer: Viewer) -> None:
        exchange.log_level = "debug"  # it comes every second while somebody looks
        if exchange.method not in ("GET", "HEAD"):
            raise not_allowed("GET")
        given = dict(parse_qsl(exchange.query.decode("ascii", "replace"), keep_blank_values=True))
        try:
            match exchange.path.removeprefix(ROOT).strip("/"):
                case "":
                    await self._show(exchange, self._overview, given, viewer)
                case "answer":
                    kept = await self._subject.exhibits(*_answer_key(given))
                    await self._show(exchange, partial(self._answer, kept=kept), given, viewer)
                case "system" if viewer.sees_system:
                    await self._show(exchange, self._system, given, viewer)
                case "events":
                    await self._stream(exchange)
                case _:
                    await self.tell(exchange, 404, "The address may be wrong, or it is for admins only.")
        except BrimgateError as error:
            await self.tell(exchange, 503 if isinstance(error, OperatorError) else 400, str(error))

    async def _show(
        self,
        exchange: HttpExchange,
        make: Callable[[dict[str, str], Viewer], bytes],
        given: dict[str, str],
        viewer: Viewer,
    ) -> None:
        async with self._turn:
            page = await asyncio.to_thread(make, given, viewer)
        await exchange.answer(200, page, [_HTML, _NO_STORE, *_GUARDS])

    async def _stream(self, exchange: HttpExchange) -> None:
        """Tell a page that there is something new, until it is closed."""
        await exchange.begin_stream(_GUARDS)
        with self._watch.listening():
            while not exchange.hangup.is_over and not self._is_over:
                await exchange.write(_EVENT)
                await self._watch.wait(_REFRESH_SECONDS)
        if not exchange.hangup.is_over:
            await exchange.end()

    # In a thread

    def _overview(self, given: dict[str, str], viewer: Viewer) -> bytes:
        from brimgate.watch.dashboard.figures import NO_FIGURES, figures
        from brimgate.watch.dashboard.overview import USUAL_SINCE, overview
        from brimgate.watch.record_store import opened_records
        from brimgate.watch.stats import question_of

        asked = {name: text for name, text in given.items() if text and name in _FILTERS}
        since = asked.get("since", USUAL_SINCE)
        times = {} if since == "all" else {"since": since}
        question = question_of(
            {name: text for name, text in asked.items() if name != "since"} | times, viewer.whose
        )
        path = self._subject.records()
        self._subject.flush()
        found = NO_FIGURES
        if path is not None and path.exists():
            with opened_records(path) as connection:
                found = figures(connection, question, time.time())
        hint = self._subject.hint() if path is not None else _NOT_KEPT
        return overview(found, viewer, PageAddress(ROOT, asked), self._alerts(viewer), hint)

    def _alerts(self, viewer: Viewer) -> Sequence[dict[str, Any]]:
        return [] if viewer.whose else self._subject.alerts()

    def _answer(self, given: dict[str, str], viewer: Viewer, kept: "list[Exhibit]") -> bytes:
        from brimgate.watch.dashboard.answer_page import answer_page

        line = self._found(given, viewer)
        ours = [one for one in kept if not viewer.whose or one.principal == viewer.whose]
        part = int(given["part"]) if given.get("part", "").isdecimal() else 1
        held = self._subject.held(line, viewer.whose, part) if line.answer else None
        filters = {name: text for name, text in given.items() if name in _FILTERS}
        back = PageAddress(ROOT, filters)
        return answer_page(line, ours[0] if ours else None, held, viewer, back, keeps=self._subject.keeps())

    def _found(self, given: dict[str, str], viewer: Viewer) -> "AnswerLine":
        from brimgate.watch.dashboard.figures import answer_at
        from brimgate.watch.record_store import opened_records

        path = self._subject.records()
        if path is not None and path.exists():
            self._subject.flush()
            with opened_records(path) as connection:
                line = answer_at(connection, *_answer_key(given), viewer.whose)
            if line is not None:
                return line
        raise BadRequest("there is no record of this answer: it may be too old, or of another caller")

    def _system(self, given: dict[str, str], viewer: Viewer) -> bytes:
        from brimgate.watch.dashboard.system_page import system_page

        if self._subject.system is None:
            raise BadRequest("there is no gateway here: `brimgate serve` has this page")
        return system_page(self._subject.system(), viewer, PageAddress(f"{ROOT}/system", given))


_FILTERS: Final = frozenset(("tool", "upstream", "client", "outcome", "since", "until"))
"""Whatever else an address has was put there by others: programs for chats add words of their own."""
_MAX_DIGITS: Final = 12
_MAX_HELD_BYTES: Final = 1 << 20
_NOT_KEPT: Final = "Records are switched off: set telemetry.enabled to true in the configuration."


def _answer_key(given: dict[str, str]) -> tuple[float, int]:
    """Return when an answer came, and its tokens: by these its address knows it."""
    tokens = given.get("tokens", "")
    with suppress(ValueError):
        moment = float(given.get("at", ""))
        if isfinite(moment) and tokens.isdecimal() and len(tokens) < _MAX_DIGITS:
            return moment, int(tokens)
    raise BadRequest("the address of this answer is incomplete")


def _own_page(address: str) -> str:
    """Return the address if it is a page of the dashboard, else its first page: nobody is led elsewhere."""
    path, mark, query = address.partition("?")
    is_own = path == ROOT or (path.startswith(f"{ROOT}/") and _PAGE.fullmatch(path) is not None)
    if not is_own or path.endswith(("/login", "/logout", "/events")) or not query.isprintable():
        return ROOT
    return f"{path}{mark}{query}"


_PAGE: Final = re.compile(r"[\w/]{1,80}", re.ASCII)


def _cookie_name(exchange: HttpExchange) -> str:
    """Return the name of the cookie: browsers send those of one port of a machine to all its ports."""
    port = (
        exchange.header(b"host").rpartition(b":")[2].decode("latin-1")
        if b":" in exchange.header(b"host")
        else ""
    )
    return f"{COOKIE}_{port}" if port.isdecimal() else COOKIE


def token_of_cookie(exchange: HttpExchange) -> str:
    """Return the token that a browser keeps for the dashboard; empty if there is none, or it cannot be one."""
    for pair in exchange.header(b"cookie").decode("latin-1").split(";"):
        name, _, kept = pair.strip().partition("=")
        if name == _cookie_name(exchange):
            with suppress(ValueError):
                token = urlsafe_b64decode(kept + "=" * (-len(kept) % 4)).decode("ascii")
                return token if is_token(token) else ""
    return ""


def held_part(data: bytes, part: int, redaction: "Redaction") -> "HeldPart":
    """Return a part of a held answer as it may be shown."""
    from brimgate.watch.dashboard.answer_page import PART_CHARS, HeldPart

    # Masked as a whole: a secret must not slip through where two parts meet.
    text = redaction.text(data[:_MAX_HELD_BYTES].decode("utf-8", "replace"))
    parts = max(-(-len(text) // PART_CHARS), 1)
    number = min(max(part, 1), parts)
    shown = text[(number - 1) * PART_CHARS : number * PART_CHARS]
    return HeldPart(shown, number, parts, len(data), is_whole=len(data) <= _MAX_HELD_BYTES)
