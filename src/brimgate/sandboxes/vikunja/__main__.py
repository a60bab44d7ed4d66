"""`python -m brimgate.sandboxes.vikunja`: a stand-in for Vikunja's API, with made-up tasks of true shape and size."""

import argparse
from contextlib import suppress
from datetime import UTC, datetime

from brimgate.sandboxes.flags import count, seconds
from brimgate.sandboxes.vikunja.server import run
from brimgate.sandboxes.vikunja.settings import Settings


def main() -> None:
    given = _parser().parse_args()
    settings = Settings(
        tasks=given.tasks,
        seed=given.seed,
        now=given.now,
        delay_seconds=given.delay,
        rate=given.rate,
        control=given.control,
    )
    run(settings, given.host, given.port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m brimgate.sandboxes.vikunja", description=__doc__)
    add, usual = parser.add_argument, Settings()
    add("--port", type=int, default=0, help="0 for a free one (%(default)s)")
    add("--host", default="127.0.0.1", help="the address to listen at (%(default)s)")
    add("--tasks", type=count, default=usual.tasks, help="to make up (%(default)s)")
    add("--seed", type=int, default=usual.seed, help="another seed, other tasks (%(default)s)")
    add("--now", type=_moment, default=usual.now, help="the server's clock at its start (%(default)s)")
    add("--delay", type=seconds, default=0.0, metavar="SECONDS", help="from a request to its answer")
    add("--rate", type=count, default=usual.rate, help="requests of a user in 60 s, 0: any (%(default)s)")
    add("--control", action="store_true", help="serve /control: faults, tokens, new tasks, what was asked")
    return parser


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
