"""`brimgate serve`: any number of clients over HTTP, in front of one or several servers."""

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from brimgate import __version__
from brimgate.app.health import overall
from brimgate.app.upstream import ServedUpstream, Slots
from brimgate.config.declarations import Config
from brimgate.errors import OperatorError
from brimgate.front.mcp.listener import Listening
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import Handler, Router, answer_document, only
from brimgate.guard.origin import OriginRules, is_local, is_loopback
from brimgate.hold.runtime import ProcessProtection, use_workers
from brimgate.relay.protocol import message as rpc
from brimgate.watch.log import LEVELS, Log

if TYPE_CHECKING:
    from brimgate.app.rest_api import ServedApi
    from brimgate.hold.protection import Protection

_LEAST_IDLE_SECONDS: Final = 1.0
"""A session that was used a moment ago may be about to be used again."""
_LEAVE_SECONDS: Final = 5.0
_SWEEP_SECONDS: Final = 5.0
_FIRST_LOOK_SECONDS: Final = 0.005
_LAST_LOOK_SECONDS: Final = 0.25


class HttpGateway:
    def __init__(self, config: Config, log: Log, *, budget: int | None = None) -> None:
        self.config = config
        self._log = log
        check_address(config.server.host)
        self._slots = Slots(lambda: self.config.server.max_processes)
        self._rooms = Slots(lambda: self.config.server.max_sessions)
        protection = ProcessProtection(config)
        self._workers = use_workers(config.server.engine_processes)
        alone = len(config.upstreams) == 1
        self._upstreams = {
            name: ServedUpstream(
                name,
                config,
                protection,
                log,
                self._slots,
                self._rooms,
                budget=budget,
                messages_path="/messages" if alone else f"/messages/{quote(name)}",
            )
            for name in config.upstreams
        }
        for upstream in self._upstreams.values():
            upstream.sessions.make_room = self._end_idlest
        self._apis = self._serve_apis(protection, budget)
        self._router = Router(
            self._routes(),
            log,
            mounted={prefix: served.handle for prefix, served in self._apis.items()},
            origins=_origins(config),
            max_body_bytes=config.server.max_body_bytes,
        )
        self._listening = Listening(self._router, log, max_connections=config.server.max_connections)
        self._stopping = asyncio.Event()
        self._is_hurried = False
        self._began = time.monotonic()

    async def _end_idlest(self) -> bool:
        """End the session that nobody has used for longest: clients that go without a word lock nobody out."""
        before = time.monotonic() - _LEAST_IDLE_SECONDS
        idle = [
            (found.used_at, number, one.sessions, found)
            for number, one in enumerate(self._upstreams.values())
            if (found := one.sessions.idlest(before)) is not None
        ]
        if not idle:
            return False
        _, _, sessions, session = min(idle, key=lambda one: one[:2])
        self._log.write("session_ended", {"reason": "room for another: it was idle for longest"})
        if (ending := sessions.close(session, 0.0)) is not None:
            await asyncio.wait((ending,), timeout=_LEAVE_SECONDS)
        return True

    @property
    def address(self) -> str:
        host = self.config.server.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self._listening.port}"

    def _routes(self) -> dict[str, Handler]:
        routes: dict[str, Handler] = {"/health": only("GET", self._health)}
        for name, upstream in self._upstreams.items():
            paths = ["", f"/{name}"] if len(self._upstreams) == 1 else [f"/{name}"]
            for beginning, handler in upstream.handlers.items():
                routes |= {f"{beginning}{path}": handler for path in paths}
        return routes

    def _serve_apis(
        self, protection: "Callable[[], Protection]", budget: int | None
    ) -> "dict[str, ServedApi]":
        """Serve REST APIs as REST, by path prefix."""
        found = {name: (one, one.api) for name, one in self._upstreams.items() if one.api is not None}
        if not found:
            return {}
        from brimgate.app.rest_api import VERSION, ServedApi

        served: dict[str, ServedApi] = {}
        for name, (one, api) in found.items():
            prefix = f"/api/{VERSION}" if len(found) == 1 else f"/api/{name}/{VERSION}"
            served[prefix] = ServedApi(
                name, api, prefix, self.config, protection, self._log, identify=one.identify, budget=budget
            )
        return served

    @property
    def api_paths(self) -> list[str]:
        """The paths where REST APIs are served as REST."""
        return [quote(prefix) for prefix in self._apis]

    def apply(self, config: Config) -> None:
        """Use a new configuration for all calls from now on; those under way keep the old one."""
        self.config = config
        self._log.level = LEVELS[config.effective_log_level]
        self._router.origins = _origins(config)
        self._router.max_body_bytes = config.server.max_body_bytes
        for upstream in self._upstreams.values():
            upstream.apply(config)
        for api in self._apis.values():
            api.apply(config)

    async def open(self) -> None:
        await self._listening.open(self.config.server.host, self.config.server.port)

    async def run(self, on_reload: Callable[[], None]) -> None:
        """Serve until we are told to stop; then let calls under way finish."""
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGINT"):
            with suppress(NotImplementedError, RuntimeError):
                loop.add_signal_handler(getattr(signal, name), self._stop, name)
        if hasattr(signal, "SIGHUP"):
            with suppress(NotImplementedError, RuntimeError):
                loop.add_signal_handler(signal.SIGHUP, on_reload)
        for upstream in self._upstreams.values():
            upstream.health.start()
        sweeping = asyncio.create_task(self._sweep())
        await self._stopping.wait()
        sweeping.cancel()
        await self._drain()
        await asyncio.gather(*(upstream.end() for upstream in self._upstreams.values()))
        await self._listening.close()
        self._workers.stop()

    def _stop(self, name: str) -> None:
        """Stop. A second Ctrl-C means that the user does not want to wait; supervisors may repeat a signal."""
        self._is_hurried = self._is_hurried or (name == "SIGINT" and self._stopping.is_set())
        self._stopping.set()

    async def _drain(self) -> None:
        grace = self.config.server.grace_seconds
        self._log.write("stopping", {"grace_seconds": grace, "pending": self._pending})
        self._listening.stop_accepting()
        for upstream in self._upstreams.values():
            upstream.drain()
        until = time.monotonic() + grace
        await self._wait_while(lambda: self._pending > 0, until)
        for upstream in self._upstreams.values():
            upstream.old_sse.end()
        # The last answers are still on their way.
        await asyncio.sleep(_FIRST_LOOK_SECONDS)
        await self._wait_while(lambda: self._listening.is_answering, until)

    async def _wait_while(self, is_busy: Callable[[], bool], until: float) -> None:
        """Look less and less often: a write buffer that runs empty tells nobody, and this is the end of our life."""
        pause = _FIRST_LOOK_SECONDS
        while is_busy() and time.monotonic() < until and not self._is_hurried:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LAST_LOOK_SECONDS)

    @property
    def _pending(self) -> int:
        return sum(upstream.pending for upstream in self._upstreams.values())

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(min(_SWEEP_SECONDS, self.config.server.session_dropped_seconds / 4))
            for upstream in self._upstreams.values():
                upstream.sweep()

    async def _health(self, exchange: HttpExchange) -> None:
        exchange.log_level = "debug"  # Docker and Kubernetes ask every few seconds
        checks = {name: upstream.health.ask() for name, upstream in self._upstreams.items()}
        status = overall(checks.values())
        document = {"status": status} | (
            self._details(checks) if is_local(exchange.client, exchange.headers) else {}
        )
        await answer_document(exchange, rpc.encode(document), 503 if status == "unhealthy" else 200)

    def _details(self, checks: dict[str, dict[str, Any]]) -> dict[str, Any]:
        return {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "version": __version__,
            "uptime": round(time.monotonic() - self._began, 1),
            "checks": checks,
            "sessions": {
                "active": sum(upstream.active for upstream in self._upstreams.values()),
                "total_created": sum(upstream.created for upstream in self._upstreams.values()),
            },
            "connections": self._listening.connections,
        }


def check_address(host: str) -> None:
    if not is_loopback(host):
        raise OperatorError(
            f"will not listen on {host}: anyone who reaches it could use the servers behind us, because there is no "
            "authentication yet. Listen on 127.0.0.1, and let a reverse proxy with authentication, or an SSH tunnel, "
            "lead there"
        )


def _origins(config: Config) -> OriginRules:
    return OriginRules(config.server.allowed_hosts, config.server.allowed_origins)
