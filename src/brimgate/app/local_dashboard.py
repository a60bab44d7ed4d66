"""`brimgate dashboard`: the records of the commands of one user, for that user alone.

Whoever has the address that the command prints may look: other users of the machine reach the port too.
"""

import asyncio
import hmac
import secrets
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from brimgate.app.dashboard_site import DashboardSite, Subject, token_of_cookie
from brimgate.app.held_view import HeldView
from brimgate.config.declarations import Config
from brimgate.front.mcp.listener import Listening
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import Router
from brimgate.guard.origin import OriginRules
from brimgate.guard.principal import USER
from brimgate.hold.runtime import UserProtection
from brimgate.watch.dashboard.markup import Child, element
from brimgate.watch.dashboard.page_frame import ROOT, Viewer
from brimgate.watch.exhibit import Exhibit
from brimgate.watch.log import Log
from brimgate.watch.record_store import kept_exhibits
from brimgate.watch.redaction import Redaction

HOST: Final = "127.0.0.1"
_MAX_CONNECTIONS: Final = 100
_MAX_BODY_BYTES: Final = 64 << 10
_NEEDS_KEY: Final = (
    "Open the address that `brimgate dashboard` has printed: the key in it has changed, or is missing."
)


class LocalDashboard:
    def __init__(self, config: Config, records: Path, log: Log) -> None:
        self._key, self._records = secrets.token_urlsafe(24), records
        protection = UserProtection(
            config, lambda reason: log.write("store_unusable", {"reason": reason}, "warning")
        )
        protection()  # what is held was put there by others
        redaction = Redaction(config.telemetry.redact)
        self._site = DashboardSite(
            Subject(
                records=lambda: records,
                flush=lambda: None,
                held=HeldView(protection, lambda _: USER.id, lambda: redaction).part,
                keeps=lambda: config.telemetry.exhibits,
                exhibits=self._exhibits,
                hint=_first_steps,
            )
        )
        router = Router(
            {"/": self._lead},
            log,
            origins=OriginRules(),
            max_body_bytes=_MAX_BODY_BYTES,
            mounted={ROOT: self._handle},
        )
        self._listening = Listening(router, log, max_connections=_MAX_CONNECTIONS)

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._listening.port}{ROOT}?key={self._key}"

    async def run(self, port: int, on_open: Callable[[str], None]) -> None:
        """Serve until a signal. `on_open` gets the address."""
        await self._listening.open(HOST, port)
        stopping = asyncio.Event()
        for name in ("SIGTERM", "SIGINT"):
            with suppress(NotImplementedError, RuntimeError):
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), stopping.set)
        on_open(self.url)
        await stopping.wait()
        self._site.end()
        self._listening.stop_accepting()
        await self._listening.close()

    async def _exhibits(self, moment: float, tokens: int) -> list[Exhibit]:
        return await asyncio.to_thread(kept_exhibits, self._records, moment, tokens)

    async def _lead(self, exchange: HttpExchange) -> None:
        await self._site.redirect(exchange, ROOT)

    async def _handle(self, exchange: HttpExchange) -> None:
        if await self._site.answer_anybody(exchange):
            return
        given = parse_qs(exchange.query.decode("latin-1")).get("key", [""])[0]
        if self._is_ours(given):  # and not in the address any more, which a browser remembers
            await self._site.redirect(exchange, ROOT, self._site.cookie(exchange, self._key))
        elif self._is_ours(token_of_cookie(exchange)):
            await self._site.answer(exchange, Viewer())
        else:
            await self._site.tell(exchange, 401, _NEEDS_KEY)

    def _is_ours(self, key: str) -> bool:
        return hmac.compare_digest(key.encode(), self._key.encode())


def _first_steps() -> Child:
    """Say how to get the first answer here."""
    return [
        element(
            "p", "In the configuration of your client, put brimgate in front of the command of a server:"
        ),
        element(
            "pre",
            "brimgate run -- npx -y @modelcontextprotocol/server-filesystem .",
            tabindex="0",
            aria_label="Command",
        ),
        element("p", "Or call a tool from a shell, and look here again:"),
        element("pre", "brimgate call TOOL -- COMMAND ARGS…", tabindex="0", aria_label="Command for a shell"),
    ]
