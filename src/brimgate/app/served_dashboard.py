"""The dashboard of `serve`: who may look, and what of a running gateway there is to see."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, quote, urlencode

import msgspec

from brimgate.app.dashboard_site import DashboardSite, Subject, token_of_cookie
from brimgate.app.entrance import Entrance
from brimgate.app.held_view import HeldView
from brimgate.config.declarations import Config
from brimgate.front.mcp.errors import HttpError
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import answer_document
from brimgate.hold.runtime import ProtectionSource
from brimgate.watch.dashboard.markup import Child, element
from brimgate.watch.dashboard.page_frame import Viewer
from brimgate.watch.exhibit import Exhibit
from brimgate.watch.record_store import records_path
from brimgate.watch.recorder import Recorder
from brimgate.watch.redaction import Redaction

if TYPE_CHECKING:
    from brimgate.front.mcp.peers import Peers
    from brimgate.watch.dashboard.system_page import SystemState

EXHIBITS: Final = "/exhibits"
"""Where workers ask each other."""


class ServedDashboard:
    def __init__(
        self,
        entrance: Entrance,
        recorder: Recorder,
        protection: ProtectionSource,
        *,
        config: Callable[[], Config],
        paths: Callable[[], tuple[str, ...]],
        address: Callable[[], str],
        state: "Callable[[], SystemState]",
        peers: "Callable[[], Peers | None]",
    ) -> None:
        """Create it. `paths` are those that OAuth tokens name as their audience."""
        self._recorder, self._peers = recorder, peers
        self._entrance, self._config, self._paths, self._address = entrance, config, paths, address
        server = config().server
        self.site = DashboardSite(
            Subject(
                records=self._records,
                flush=recorder.flush,
                held=HeldView(protection, recorder.holders.get, self._redaction).part,
                keeps=lambda: config().telemetry.exhibits,
                exhibits=self._exhibits,
                hint=self._first_steps,
                alerts=lambda: recorder.alerts,
                system=state,
                is_https=bool(server.tls_cert) or server.public_url.startswith("https:"),
            )
        )

    async def handle(self, exchange: HttpExchange) -> None:
        """Show callers their own answers, and admins those of all."""
        if await self.site.answer_anybody(exchange):
            return
        if not exchange.header(b"authorization") and (token := token_of_cookie(exchange)):
            exchange.headers = [*exchange.headers, (b"authorization", b"Bearer " + token.encode())]
        try:
            async with self._entrance.admitted(
                exchange, "", paths=self._paths(), is_mcp=False, is_free=True, is_watching=True
            ):
                await self.site.answer(exchange, self._viewer(exchange))
        except HttpError as refusal:
            if exchange.status or not exchange.accepts(b"text/html") or refusal.status == 405:
                raise
            await self._refuse(exchange, refusal)

    async def answer_peer(self, exchange: HttpExchange) -> None:
        """Tell another worker which exhibits there are here."""
        if not exchange.is_from_peer:
            raise HttpError(404, "there is nothing here")
        given = dict(parse_qsl(exchange.query.decode("ascii", "replace")))
        found = self._own_exhibits(float(given["at"]), int(given["tokens"]))
        await answer_document(exchange, msgspec.json.encode(found))

    async def _exhibits(self, moment: float, tokens: int) -> list[Exhibit]:
        """Return the exhibits of this worker, and if it has none those of the others."""
        own = await asyncio.to_thread(self._own_exhibits, moment, tokens)
        peers = self._peers()
        if own or peers is None:
            return own
        told = await peers.ask_all(f"{EXHIBITS}?{urlencode({'at': repr(moment), 'tokens': tokens})}")
        return [one for document in told for one in msgspec.json.decode(document, type=list[Exhibit])]

    def _own_exhibits(self, moment: float, tokens: int) -> list[Exhibit]:
        self._recorder.count()
        shelf = self._recorder.shelf
        return shelf.find(moment, tokens) if shelf is not None else []

    def _viewer(self, exchange: HttpExchange) -> Viewer:
        whose = self._entrance.sight_of(exchange.principal)
        return Viewer(
            "" if self._entrance.is_open else exchange.principal.name,
            whose,
            can_log_out=bool(token_of_cookie(exchange)),
            sees_system=not whose,
        )

    async def _refuse(self, exchange: HttpExchange, refusal: HttpError) -> None:
        if refusal.status == 401 and self._entrance.takes_tokens:
            has_shown = bool(exchange.header(b"authorization") or token_of_cookie(exchange))
            await self.site.ask_for_token(exchange, exchange.refusal if has_shown else "")
        else:
            await self.site.tell(exchange, refusal.status, str(refusal))

    def _records(self) -> Path | None:
        telemetry = self._config().telemetry
        return records_path(telemetry.file) if telemetry.enabled else None

    def _redaction(self) -> Redaction:
        return Redaction(self._config().telemetry.redact)

    def _first_steps(self) -> Child:
        """Say how to get the first answer here."""
        config = self._config()
        names = list(config.upstreams)
        path = "/mcp" if len(names) == 1 else f"/mcp/{quote(names[0])}"
        url = f"{config.server.public_url.rstrip('/') or self._address()}{path}"
        command = f"claude mcp add --transport http {names[0]} {url}"
        return [
            element("p", "Connect a client, and call a tool. With Claude Code:"),
            element("pre", command, tabindex="0", aria_label="Command"),
        ]
