"""`brimgate dashboard`: the records of `run` and the other commands as pages in a browser."""

import argparse
from typing import Final

from brimgate.cli import Commands
from brimgate.cli.output import complain
from brimgate.errors import BadRequest

PORT: Final = 3_011
_EXAMPLE: Final = """example:
  brimgate dashboard --open
  brimgate dashboard --port 0 --file team/records.db
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "dashboard",
        help="show in a browser what each tool costs, and which answers were too large",
        description="Show the records that `run`, `call`, `read` and `reduce` keep on this machine as pages in a browser, "
        "until Ctrl-C. Only whoever has the printed address can look. `brimgate serve` has the same at /dashboard.",
        epilog=_EXAMPLE,
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=int,
        default=PORT,
        help=f"port on 127.0.0.1 (default: {PORT}; 0: a free one)",
    )
    parser.add_argument("--file", metavar="PATH", default="", help="file of the records (default: yours)")
    parser.add_argument("--open", action="store_true", help="open it in your browser")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from brimgate.app.local_dashboard import LocalDashboard
    from brimgate.cli.gateway import environment_config
    from brimgate.cli.serve import run_loop
    from brimgate.watch.log import Log
    from brimgate.watch.record_store import records_path

    if not 0 <= options.port <= 65_535:
        raise BadRequest("--port must be between 0 and 65535")
    config = environment_config()
    log = Log(config.log_level or "warning", config.log_format)

    def announce(url: str) -> None:
        complain(f"dashboard at {url} (Ctrl-C ends)")
        if options.open:
            import webbrowser

            webbrowser.open(url)

    async def serve() -> None:
        path = records_path(options.file or config.telemetry.file)
        await LocalDashboard(config, path, log).run(options.port, announce)

    run_loop(serve())
    return 0
