"""`brimgate serve`: MCP over HTTP, in front of any server."""

import argparse
import asyncio
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from brimgate.cli import Commands
from brimgate.cli.gateway import (
    ConfigurationSource,
    add_gateway_options,
    add_sandbox_option,
    config_path,
    sandboxes,
    warn_of_unknown,
)
from brimgate.cli.output import complain
from brimgate.config.declarations import Config
from brimgate.config.sources import WORKER_VARIABLE, Read
from brimgate.errors import OperatorError
from brimgate.watch.log import Log

if TYPE_CHECKING:
    from brimgate.app.service_manager import ServiceManager
    from brimgate.app.workers import WorkerPlace

_SWITCH_SECONDS: Final = 0.001
"""How long a thread may keep the event loop from the interpreter: 5 ms is Python's own, at every callback."""
_EXAMPLE: Final = """example:
  brimgate serve -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  brimgate serve --upstream https://mcp.example.com/mcp
  brimgate serve --config brimgate.yaml --port 3010
  brimgate serve --pack hostaway --sandbox
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "serve",
        help="put Brimgate in front of MCP servers, over HTTP",
        description="Speak MCP over HTTP (Streamable HTTP at /mcp, the older SSE at /sse), in front of the server that "
        "COMMAND starts, of one that runs at a URL, of the REST API of a pack (also as REST, at /api/v1), or of all that the "
        "configuration names.",
        usage="brimgate serve [options] [-- COMMAND ARGS…]",
        epilog=_EXAMPLE,
    )
    parser.add_argument("--host", metavar="ADDRESS", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", metavar="N", help="port to listen on (default: 3010; 0 takes a free one)")
    parser.add_argument(
        "--socket", metavar="PATH", help="listen on a Unix socket of our own user instead, without a port"
    )
    parser.add_argument(
        "--workers", metavar="N", help="processes that serve the same port; they share a store (default: 1)"
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate chain (PEM) to serve https with")
    parser.add_argument("--tls-key", metavar="FILE", help="its private key (default: in the same file)")
    add_gateway_options(parser)
    add_sandbox_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    place, manager = _worker_place(), _service_manager()
    with sandboxes(options, ConfigurationSource(options, serves=True)) as source:
        read = _at_given_sockets(source, manager)
        config = read(None)
        if not config.upstreams:
            raise OperatorError(
                "no server to serve: brimgate serve -- COMMAND ARGS…, or --upstream URL, or --pack NAME for a REST API, "
                "or `upstreams:` in --config FILE"
            )
        log = Log(config.effective_log_level, config.log_format)
        if manager is not None:
            manager.log = log
        if config.server.workers > 1 and place is None:
            if options.sandbox:
                raise OperatorError("--sandbox is for one worker: each would have a sandbox of its own")
            warn_of_unknown(log, config)
            run_loop(_serve_by_workers(config, log, manager))
            return 0
        if place is None:
            warn_of_unknown(log, config)
        on_open = _announce if place is None else _say_nothing
        work = serve(
            config,
            read,
            config_path(options),
            log,
            budget=options.budget,
            on_open=on_open,
            place=place,
            manager=manager,
        )
        run_loop(work)
    return 0


def _service_manager() -> "ServiceManager | None":
    """Return whoever runs us as a service, if it says so. What we start is not told of it."""
    if "NOTIFY_SOCKET" not in os.environ and "LISTEN_FDS" not in os.environ:
        return None
    from brimgate.app.service_manager import ServiceManager

    return ServiceManager.of(os.environ)


def _at_given_sockets(read: Read, manager: "ServiceManager | None") -> Read:
    """Return `read`, with the address of the sockets that a service manager has given us."""
    given = manager.given if manager is not None else None
    return read if given is None else lambda content: given.place(read(content))


def _worker_place() -> "WorkerPlace | None":
    """Return where we are, if we are one of several workers."""
    if WORKER_VARIABLE not in os.environ:
        return None
    from brimgate.app.workers import WorkerPlace

    return WorkerPlace.of(os.environ.pop(WORKER_VARIABLE))


async def _serve_by_workers(config: Config, log: Log, manager: "ServiceManager | None") -> None:
    from brimgate.app.rest_api import prefixes_of
    from brimgate.app.workers import WorkerGroup

    paths = [quote(prefix) for prefix in prefixes_of(config).values()]
    group = WorkerGroup(config, log, [sys.executable, "-m", "brimgate", *sys.argv[1:]], manager)
    await group.run(lambda address: _announce(address, config, paths))


def _say_nothing(address: str, config: Config, api_paths: Sequence[str]) -> None:
    del address, config, api_paths


def _announce(address: str, config: Config, api_paths: Sequence[str]) -> None:
    names = list(config.upstreams)
    paths = ["/mcp"] if len(names) == 1 else [f"/mcp/{quote(name)}" for name in names]
    for path in (*paths, *(f"{one}/docs" for one in api_paths)):
        complain(f"serving {address}{path} (Ctrl-C ends)")
    if config.server.socket:
        return  # no client has a way to name it
    if sys.stderr is not None and sys.stderr.isatty():  # a log has no use for them
        for client, text in client_entries(names[0], f"{address}{paths[0]}"):
            complain(f"  {client:<16}{text}")


def client_entries(name: str, url: str) -> list[tuple[str, str]]:
    """Return how clients are told of a server, to be pasted, each after the name of the client."""
    added = json.dumps({"name": name, "type": "http", "url": url})
    return [
        ("Claude Code", f"claude mcp add --transport http {shlex.quote(name)} {url}"),
        ("VS Code", f"code --add-mcp {shlex.quote(added)}"),
        ("Cursor, others", json.dumps({"mcpServers": {name: {"type": "http", "url": url}}})),
    ]


async def serve(
    config: Config,
    read: Read,
    path: Path | None,
    log: Log,
    *,
    budget: int | None = None,
    on_open: Callable[[str, Config, Sequence[str]], object],
    place: "WorkerPlace | None" = None,
    manager: "ServiceManager | None" = None,
) -> None:
    """Serve until a signal. `on_open` gets the address once clients may connect, and the paths of REST APIs."""
    from brimgate.app.reload import Reload
    from brimgate.app.server import HttpGateway
    from brimgate.watch.library_log import take_records

    take_records(log)
    gateway = HttpGateway(config, log, budget=budget, place=place)
    given = manager.given if manager is not None else None
    await gateway.open(given.sockets if given is not None else ())
    reload = Reload(gateway, read, log)
    if path is not None:
        reload.watch(path)
    on_open(gateway.address, config, gateway.api_paths)

    def read_again() -> None:
        reload.reload(time.time())
        gateway.renew_certificate()  # also if its files alone have changed

    if manager is None:
        await gateway.run(read_again)
        return
    manager.ready(f"serving {gateway.address}")
    await gateway.run(lambda: manager.reload(read_again), manager.stopping)


def run_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run on the faster event loop where there is one."""
    _raise_descriptor_limit()
    sys.setswitchinterval(_SWITCH_SECONDS)
    if sys.platform == "win32":
        asyncio.run(work)
        return
    import uvloop

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


def _raise_descriptor_limit() -> None:
    """Raise the limit of descriptors.

    Every connection and pipe needs one, and many systems allow a thousand by default.
    """
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65_536)), hard))
