"""`brimgate serve`: any number of clients over HTTP, in front of one or several servers."""

import asyncio
import signal
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import parse_qsl, quote, urlsplit

from brimgate import __version__
from brimgate.app.entrance import Entrance
from brimgate.app.health import Probe, Status, UpstreamHealth, overall
from brimgate.app.scrape import PATH, Scrape
from brimgate.app.served_dashboard import EXHIBITS, ServedDashboard
from brimgate.app.upstream import ServedUpstream, Slots
from brimgate.config.declarations import Config
from brimgate.config.show import effective
from brimgate.config.sources import store_url
from brimgate.errors import ClientError, OperatorError
from brimgate.front.mcp.certificate import Certificate
from brimgate.front.mcp.errors import HttpError, NoLoginHere
from brimgate.front.mcp.listener import METRICS_CHOICE, Listening
from brimgate.front.mcp.peers import Peers, PeersDoor
from brimgate.front.mcp.request import HttpExchange
from brimgate.front.mcp.router import Handler, Router, answer_document, only
from brimgate.front.mcp.session_ids import SessionIds, new_name
from brimgate.guard.auth import Fingerprints
from brimgate.guard.origin import OriginRules, is_loopback
from brimgate.guard.resources import WELL_KNOWN
from brimgate.guard.tickets import TICKET_SECONDS
from brimgate.hold.runtime import ProcessProtection, use_workplace
from brimgate.relay.protocol import message as rpc
from brimgate.watch.dashboard.page_frame import ROOT
from brimgate.watch.dashboard.system_page import LastReload, SystemState
from brimgate.watch.exhibit import ExhibitShelf
from brimgate.watch.log import LEVELS, Log
from brimgate.watch.metrics import Metrics
from brimgate.watch.otel import open_otel
from brimgate.watch.record_store import records_path
from brimgate.watch.recorder import Recorder, Surroundings

if TYPE_CHECKING:
    from brimgate.app.reload import ReloadNote
    from brimgate.app.rest_api import ServedApi
    from brimgate.app.shared_state import SharedState
    from brimgate.app.workers import WorkerPlace
    from brimgate.hold.protection import Protection

_LEAST_IDLE_SECONDS: Final = 1.0
"""A session that was used a moment ago may be about to be used again."""
_SHARES: Final = 10
_MAX_PEER_CONNECTIONS: Final = 10_000
"""Other workers bound what they accept themselves."""
_MAX_SCRAPERS: Final = 50
_CHECK_SECONDS: Final = 10.0
_LEAVE_SECONDS: Final = 5.0
_SWEEP_SECONDS: Final = 5.0
_ENDING_SECONDS: Final = 20.0
"""For all that must be closed at the end, besides the time that calls under way have."""
_FIRST_LOOK_SECONDS: Final = 0.005
_LAST_LOOK_SECONDS: Final = 0.25


class HttpGateway:
    def __init__(
        self, config: Config, log: Log, *, budget: int | None = None, place: "WorkerPlace | None" = None
    ) -> None:
        """Create it. `place` is where we are, if we are one of several workers."""
        self.config, self._place = config, place
        self._log = log
        self.name = place.name if place is not None else new_name(config.server.replica)
        fingerprints = Fingerprints()
        self._shared = open_shared(config, log, self.name, fingerprints)
        self._entrance = Entrance(config, log, fingerprints, self._shared)
        self._recorder = Recorder(
            config.telemetry,
            log.write,
            Surroundings(self._failing, self._store_trouble),
            ExhibitShelf(),
        )
        log.recorder = self._recorder
        self._entrance.count = self._recorder.metrics.add
        self._recorder.metrics.set("brimgate_config_last_reload_successful")
        self._scrape = Scrape(self._recorder, self._look)
        self._certificate = _certificate(config)
        self._slots = Slots(
            lambda: self.config.server.max_processes,
            lambda: self._each(self.config.limits.processes, "processes"),
        )
        self._rooms = Slots(
            lambda: self.config.server.max_sessions,
            lambda: self._each(self.config.limits.sessions, "sessions"),
        )
        protection = self._shared.protection if self._shared is not None else ProcessProtection(config)
        self._workplace = use_workplace(config.server.engine_processes)
        alone = len(config.upstreams) == 1
        ids = SessionIds(self.name if self._shared is not None else "")
        self._otel = open_otel(config.telemetry, log)
        self._upstreams = {
            name: ServedUpstream(
                name,
                config,
                protection,
                log,
                self._slots,
                self._rooms,
                self._entrance,
                budget=budget,
                messages_path="/messages" if alone else f"/messages/{quote(name)}",
                ids=ids,
                owners=self._shared.owners if self._shared is not None else None,
                otel=self._otel,
            )
            for name in config.upstreams
        }
        for upstream in self._upstreams.values():
            upstream.sessions.make_room = self._end_idlest
        self._verifier = self._watch_verifier()
        self._apis = self._serve_apis(protection, budget)
        self._dashboard = ServedDashboard(
            self._entrance,
            self._recorder,
            protection,
            config=lambda: self.config,
            paths=lambda: self._all_paths,
            address=lambda: self.address,
            state=self._system_state,
            peers=lambda: self._peers,
        )
        dashboard = {ROOT: self._dashboard.handle} if config.server.dashboard else {}
        self._router = Router(
            self._routes(),
            log,
            mounted={prefix: served.handle for prefix, served in self._apis.items()} | dashboard,
            origins=_origins(config),
            max_body_bytes=config.server.max_body_bytes,
        )
        self._router.tells_paths = self._entrance.is_open
        self._peers = Peers(place.folder, self.name) if place is not None else None
        if place is not None and self._peers is not None:
            self._scrape.join(place.folder, self.name, self._peers)
        self._router.peers = self._peers
        self._peers_listening = Listening(PeersDoor(self._router), log, max_connections=_MAX_PEER_CONNECTIONS)
        self._listening = Listening(self._router, log, max_connections=config.server.max_connections)
        self._metrics_listening = Listening(
            Router(
                {PATH: only("GET", self._scrape.answer)}, log, origins=_scrapers(config), max_body_bytes=0
            ),
            log,
            max_connections=_MAX_SCRAPERS,
        )
        self.last_reload: ReloadNote | None = None
        self._recorder.on_counted = self._otel.take if self._otel is not None else None
        self._stopping = asyncio.Event()
        self._ending = ""
        """What is being closed at the end."""
        self._is_hurried = False
        self._began = time.monotonic()

    def _each(self, given: int, what: Literal["sessions", "processes"]) -> int:
        """Return how many a principal may have: a share of all, unless everyone is of this machine."""
        server = self.config.server
        most = server.max_sessions if what == "sessions" else server.max_processes
        return given or (most if self._entrance.is_open else max(1, most // _SHARES))

    async def _end_idlest(self, account: str) -> bool:
        """End the session that nobody has used for longest: clients that go without a word lock nobody out.

        Whoever has all that one may have makes room for itself. Otherwise whoever has the most makes room, so that
        nobody loses a session to somebody with more of them.
        """
        is_own = not (self._rooms.has_room_for(account) and self._slots.has_room_for(account))
        before = time.monotonic() - _LEAST_IDLE_SECONDS
        for owner in [account] if is_own else self._rooms.by_most:
            idle = [
                (found.used_at, number, one.sessions, found)
                for number, one in enumerate(self._upstreams.values())
                if (found := one.sessions.idlest(owner, before)) is not None
            ]
            if idle:
                break
        else:
            return False
        _, _, sessions, session = min(idle, key=lambda one: one[:2])
        self._log.write("session_ended", {"reason": "room for another: it was idle for longest"})
        if (ending := sessions.close(session, 0.0)) is not None:
            await asyncio.wait((ending,), timeout=_LEAVE_SECONDS)
        return True

    @property
    def address(self) -> str:
        """Where we listen. For a Unix socket it is written as reverse proxies do it."""
        server = self.config.server
        scheme = "http" if self._certificate is None else "https"
        if server.socket:
            return f"{scheme}://unix:{server.socket}:"
        return (
            f"{scheme}://{f'[{server.host}]' if ':' in server.host else server.host}:{self._listening.port}"
        )

    def _routes(self) -> dict[str, Handler]:
        routes: dict[str, Handler] = {
            "/health": only("GET", self._health),
            "/healthz": only("GET", self._alive),
            "/readyz": only("GET", self._ready),
            "/api/stats": only("GET", self._stats),
            PATH: only("GET", self._metrics),
            EXHIBITS: only("GET", self._dashboard.answer_peer),
            "/sse/ticket": only("POST", self._ticket),
        }
        for name, upstream in self._upstreams.items():
            paths = ["", f"/{name}"] if len(self._upstreams) == 1 else [f"/{name}"]
            for beginning, handler in upstream.handlers.items():
                routes |= {f"{beginning}{path}": handler for path in paths}
        return routes | self._metadata_routes()

    def _metadata_routes(self) -> dict[str, Handler]:
        """Return where clients learn who gives out tokens for our URLs. All can be asked without one."""
        alone = len(self._upstreams) == 1
        routes = {WELL_KNOWN: self._metadata("/mcp" if alone else "", "")}
        for name, upstream in self._upstreams.items():
            routes |= {
                WELL_KNOWN + path: self._metadata(path, name)
                for path in upstream.paths
                if not path.startswith("/messages")
            }
        return routes

    def _metadata(self, path: str, upstream: str) -> Handler:
        async def answer(exchange: HttpExchange) -> None:
            document = self._entrance.metadata(path, upstream)
            if document is None:
                raise NoLoginHere
            await only("GET", partial(answer_document, document=document))(exchange)

        return answer

    @property
    def _all_paths(self) -> tuple[str, ...]:
        return tuple(path for upstream in self._upstreams.values() for path in upstream.paths)

    def _serve_apis(
        self, protection: "Callable[[], Protection]", budget: int | None
    ) -> "dict[str, ServedApi]":
        """Serve REST APIs as REST, by path prefix."""
        found = {name: (one, one.api) for name, one in self._upstreams.items() if one.api is not None}
        if not found:
            return {}
        from brimgate.app.rest_api import ServedApi, prefixes_of

        served: dict[str, ServedApi] = {}
        for name, (one, api) in found.items():
            prefix = prefixes_of(self.config)[name]
            one.paths = (*one.paths, prefix)
            served[prefix] = ServedApi(
                name,
                api,
                prefix,
                self.config,
                protection,
                self._log,
                admitted=partial(one.admitted, is_mcp=False),
                api_of=one.api_of,
                budget=budget,
            )
        return served

    @property
    def api_paths(self) -> list[str]:
        """The paths where REST APIs are served as REST."""
        return [quote(prefix) for prefix in self._apis]

    def apply(self, config: Config) -> None:
        """Use a new configuration for all calls from now on; those under way keep the old one.

        Raise OperatorError if nobody could be let in by it, or the wrong people. Then nothing has changed.
        """
        for upstream in self._upstreams.values():
            upstream.check(config)
        has_changed = self._entrance.apply(config)
        self.config = config
        self._log.level = LEVELS[config.effective_log_level]
        self._recorder.apply(config.telemetry)
        self._router.origins = _origins(config)
        self._router.max_body_bytes = config.server.max_body_bytes
        self._router.tells_paths = self._entrance.is_open
        self.renew_certificate()
        for upstream in self._upstreams.values():
            upstream.apply(config)
            if has_changed:
                upstream.end_strangers()
        for api in self._apis.values():
            api.apply(config)

    def note_reload(self, note: "ReloadNote") -> None:
        """Remember how the last change of the configuration went."""
        self.last_reload = note
        metrics = self._recorder.metrics
        metrics.observe("brimgate_reload_seconds", (note.result,), note.seconds)
        metrics.set("brimgate_config_last_reload_successful", (), note.result == "applied")

    def _watch_verifier(self) -> UpstreamHealth | None:
        """Return the health of what checks tokens, if that is not ourselves."""
        if self.config.auth.mode not in ("upstream_token", "jwt", "introspection"):
            return None
        interval = lambda: self.config.server.health_interval_seconds  # noqa: E731
        return UpstreamHealth(
            "verifier", Probe(self._entrance.check_verifier, _CHECK_SECONDS), self._log, interval
        )

    async def open(self, given: Sequence[socket.socket] = ()) -> None:
        """Listen, on sockets that a service manager has given us if there are any."""
        if self._shared is not None:
            await self._shared.begin()
        await asyncio.gather(*(upstream.check_login() for upstream in self._upstreams.values()))
        server = self.config.server
        tls = self._certificate.context if self._certificate is not None else None
        if self._place is not None and self._peers is not None:
            await self._listening.open_given(self._place.listening(), tls=tls)
            await self._peers_listening.open_unix(self._peers.socket)
        elif given:
            await self._listening.open_given(*given, tls=tls)
        elif server.socket:
            await self._listening.open_unix(server.socket, tls)
        else:
            await self._listening.open(server.host, server.port, tls)
        if server.metrics_port:
            is_one_of_many = self._place is not None
            await self._metrics_listening.open(
                server.metrics_host, server.metrics_port, reuse_port=is_one_of_many, choice=METRICS_CHOICE
            )

    def renew_certificate(self) -> None:
        """Read the certificate again. If it cannot be used, the one before stays."""
        server = self.config.server
        if self._certificate is None or not server.tls_cert:
            if bool(server.tls_cert) != (self._certificate is not None):
                self._log.write("config_needs_restart", {"keys": ["server.tls_cert"]}, "warning")
            return
        try:
            is_new = self._certificate.renew(server.tls_cert, server.tls_key)
        except OperatorError as error:
            self._log.write("certificate_rejected", {"reason": str(error), "kept": "the one before"}, "error")
            return
        if is_new:
            self._log.write("certificate_renewed", {"file": server.tls_cert})

    async def run(self, on_reload: Callable[[], None], on_stop: Callable[[], None] = lambda: None) -> None:
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
        if self._verifier is not None:
            self._verifier.start()
        sweeping = asyncio.create_task(self._sweep())
        await self._stopping.wait()
        on_stop()
        sweeping.cancel()
        try:
            async with asyncio.timeout(self.config.server.grace_seconds + _ENDING_SECONDS):
                await self._end()
        except TimeoutError:  # nobody may be left who would kill us
            self._log.write("ending_took_too_long", {"at": self._ending}, "error")
        finally:
            self._workplace.close()

    async def _end(self) -> None:
        """Let calls under way finish, then close everything, one after the other."""
        steps: list[tuple[str, Callable[[], Awaitable[object]]]] = [
            ("calls", self._drain),
            ("upstreams", lambda: asyncio.gather(*(one.end() for one in self._upstreams.values()))),
            ("metrics", self._scrape.keep_last),
            ("entrance", self._entrance.close),
            ("listening", self._listening.close),
            ("peers_listening", self._peers_listening.close),
            ("metrics_listening", self._metrics_listening.close),
        ]
        if self._verifier is not None:
            steps.insert(3, ("verifier", self._verifier.end))
        if self._peers is not None:
            steps.append(("peers", self._peers.close))
        if self._shared is not None:
            steps.append(("store", self._shared.close))
        steps.append(("records", partial(asyncio.to_thread, self._recorder.close)))
        if self._otel is not None:
            steps.append(("otel", partial(asyncio.to_thread, self._otel.close)))
        for name, step in steps:
            self._ending = name
            await step()

    def _stop(self, name: str) -> None:
        """Stop. A second Ctrl-C means that the user does not want to wait; supervisors may repeat a signal."""
        self._is_hurried = self._is_hurried or (name == "SIGINT" and self._stopping.is_set())
        self._stopping.set()

    async def _drain(self) -> None:
        grace = self.config.server.grace_seconds
        self._log.write("stopping", {"grace_seconds": grace, "pending": self._pending})
        self._dashboard.site.end()
        self._listening.stop_accepting()
        self._peers_listening.stop_accepting()
        for upstream in self._upstreams.values():
            upstream.drain()
        until = time.monotonic() + grace
        await self._wait_while(lambda: self._pending > 0, until)
        for upstream in self._upstreams.values():
            upstream.old_sse.end()
        self._metrics_listening.stop_accepting()
        # The last answers are still on their way.
        await asyncio.sleep(_FIRST_LOOK_SECONDS)
        both = (self._listening, self._metrics_listening)
        await self._wait_while(lambda: any(one.is_answering for one in both), until)

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
            if self._place is not None and self._place.is_orphaned:
                self._stopping.set()
            self._entrance.sweep()
            self._recorder.look()
            for upstream in self._upstreams.values():
                upstream.sweep()

    async def _health(self, exchange: HttpExchange) -> None:
        exchange.log_level = "debug"  # Docker and Kubernetes ask every few seconds
        checks, status = self._checks()
        document: dict[str, Any] = {"status": status}
        if await self._may_see_details(exchange):
            await asyncio.to_thread(self._recorder.count)
            document |= self._details(checks)
        await answer_document(exchange, rpc.encode(document), 503 if status == "unhealthy" else 200)

    def _checks(self) -> tuple[dict[str, dict[str, Any]], Status]:
        """Return how everything behind us is, and what that says of us."""
        checks = {upstream.check_name: upstream.health.ask() for upstream in self._upstreams.values()}
        status = overall(checks.values())
        if self._verifier is not None:
            checks["verifier"] = self._verifier.ask()
            if checks["verifier"]["status"] == "unhealthy":
                status = "unhealthy"
        if self._shared is not None:
            checks["redis"] = self._shared.link.health()
            if checks["redis"]["status"] != "healthy" and status == "healthy":
                status = "degraded"
        return checks, status

    async def _may_see_details(self, exchange: HttpExchange) -> bool:
        """Return whether a caller may see more than one word: whoever is on this machine, or authenticated."""
        if self.config.server.health_details or self._entrance.is_at_home(exchange):
            return True
        return await self._entrance.is_known(exchange, self._all_paths)

    async def _alive(self, exchange: HttpExchange) -> None:
        exchange.log_level = "debug"
        await answer_document(exchange, b'{"status":"alive"}')

    async def _ready(self, exchange: HttpExchange) -> None:
        """Say whether new clients should be sent here: not while we end, nor where nobody could be let in."""
        exchange.log_level = "debug"
        is_ready = not self._stopping.is_set()
        if self._verifier is not None:
            is_ready = is_ready and self._verifier.ask()["status"] != "unhealthy"
        document = b'{"status":"ready"}' if is_ready else b'{"status":"not ready"}'
        await answer_document(exchange, document, 200 if is_ready else 503)

    async def _ticket(self, exchange: HttpExchange) -> None:
        """Give a ticket to a client that can send a header now, and not when it opens its stream."""
        async with self._entrance.admitted(exchange, "", paths=self._all_paths, is_mcp=False, is_free=True):
            if not exchange.token:
                raise HttpError(404, "tickets are for `auth` with tokens: /sse needs none here")
            ticket = await self._entrance.tickets.give(exchange.token)
            document = {"ticket": ticket, "expires_in": TICKET_SECONDS}
            await answer_document(exchange, rpc.encode(document), 201)

    def _details(self, checks: dict[str, dict[str, Any]]) -> dict[str, Any]:
        return {
            "timestamp": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "version": __version__,
            "service": self._service,
            "uptime": round(time.monotonic() - self._began, 1),
            "checks": checks,
            "sessions": {
                "active": sum(upstream.active for upstream in self._upstreams.values()),
                "total_created": sum(upstream.created for upstream in self._upstreams.values()),
            },
            "connections": self._listening.connections,
            "context_protection": self._recorder.counters.document(time.monotonic() - self._began),
        }

    @property
    def _service(self) -> str:
        """The name that monitoring knows a service by: that of the system behind it, if a pack knows it."""
        packs = {one.pack for one in self.config.upstreams.values()}
        return f"{packs.pop()}-mcp" if len(packs) == 1 and all(packs) else "brimgate"

    # Dashboard and metrics

    def _system_state(self) -> SystemState:
        checks, status = self._checks()
        telemetry, reload = self.config.telemetry, self.last_reload
        return SystemState(
            version=__version__,
            status=status,
            uptime_seconds=time.monotonic() - self._began,
            checks=checks,
            sessions={name: (one.active, one.created) for name, one in self._upstreams.items()},
            connections=self._listening.connections,
            alerts=self._recorder.alerts,
            accuracy=self._recorder.accuracy,
            records=str(records_path(telemetry.file))
            if telemetry.enabled
            else "not kept (telemetry.enabled)",
            dropped=self._recorder.dropped,
            configuration=effective(self.config),
            reload=LastReload(reload.time, reload.result, reload.seconds, reload.told) if reload else None,
        )

    # Statistics

    def _failing(self) -> dict[str, str]:
        """Return the upstreams whose last check or handshake failed."""
        states = {name: one.health.state for name, one in self._upstreams.items()}
        return {
            name: state.get("error", "") for name, state in states.items() if state["status"] == "unhealthy"
        }

    def _store_trouble(self) -> str:
        state: dict[str, Any] = (
            self._shared.link.health() if self._shared is not None else {"status": "healthy"}
        )
        return "" if state["status"] == "healthy" else str(state.get("error") or state["status"])

    async def _metrics(self, exchange: HttpExchange) -> None:
        """Let admins scrape. A port of its own asks nobody who they are."""
        if exchange.is_from_peer:
            await self._scrape.answer(exchange)
            return
        async with self._entrance.admitted(exchange, "", paths=self._all_paths, is_mcp=False, is_free=True):
            if not self._entrance.sees_all(exchange.principal):
                raise HttpError(
                    403,
                    "metrics are of all callers: name this one in auth.admins, or set server.metrics_port",
                )
            await self._scrape.answer(exchange)

    def _look(self, metrics: Metrics) -> None:
        for name, upstream in self._upstreams.items():
            metrics.set("brimgate_sessions", (name,), upstream.active)
            state = upstream.health.ask()["status"]  # whoever scrapes comes back, as a monitor does
            if state != "not_started":
                metrics.set("brimgate_upstream_up", (name,), state != "unhealthy")
        metrics.set("brimgate_connections", (), self._listening.connections)
        if self._shared is not None:
            metrics.set("brimgate_store_up", (), not self._store_trouble())

    async def _stats(self, exchange: HttpExchange) -> None:
        """Answer what `brimgate stats` does: to callers about their own answers, to admins about all."""
        async with self._entrance.admitted(exchange, "", paths=self._all_paths, is_mcp=False, is_free=True):
            whose = self._entrance.sight_of(exchange.principal)
            try:
                document = await asyncio.to_thread(self._statistics, exchange.query, whose)
            except (ClientError, OperatorError) as error:
                raise HttpError(400 if isinstance(error, ClientError) else 503, str(error)) from None
            await answer_document(exchange, rpc.encode(document))

    def _statistics(self, query: bytes, whose: str) -> dict[str, Any]:
        from brimgate.watch.stats import NOTHING, question_of, stats_document

        question = question_of(dict(parse_qsl(query.decode("ascii", "replace"))), principal=whose)
        self._recorder.flush()
        path = records_path(self.config.telemetry.file)
        document = stats_document(path, question) if self.config.telemetry.enabled else NOTHING.document()
        if whose:  # a list of tools may have some that are hidden from this caller
            return {name: document[name] for name in ("total", "rows")}
        return {"accuracy": self._recorder.accuracy} | document | {"alerts": self._recorder.alerts}


def open_shared(config: Config, log: Log, name: str, fingerprints: Fingerprints) -> "SharedState | None":
    """Return what is shared with other replicas, if a store for it is configured. Only then anything of it is loaded."""
    url = store_url(config)
    if not url:
        return None
    from brimgate.app.shared_state import SharedState

    return SharedState(url, config, log, name, fingerprints)


def _certificate(config: Config) -> Certificate | None:
    server = config.server
    if server.tls_key and not server.tls_cert:
        raise OperatorError("server.tls_key needs server.tls_cert, the certificate")
    return Certificate(server.tls_cert, server.tls_key) if server.tls_cert else None


def _origins(config: Config) -> OriginRules:
    """Return which names and web pages are accepted: those of `public_url`, too, because clients use that."""
    named = urlsplit(config.server.public_url).hostname or ""
    return OriginRules((*config.server.allowed_hosts, *filter(None, (named,))), config.server.allowed_origins)


def _scrapers(config: Config) -> OriginRules:
    """Return by which names metrics are asked for: by any where others may come, who know us by an address."""
    host = config.server.metrics_host
    return OriginRules((host,) if is_loopback(host) else ("*",))
