"""`python -m brimgate.sandboxes.hostaway`: a stand-in for Hostaway's API, with made-up records of true shape and size."""

import argparse
from contextlib import suppress
from datetime import datetime

from brimgate.sandboxes.flags import count, seconds
from brimgate.sandboxes.hostaway.server import run
from brimgate.sandboxes.hostaway.settings import Settings


def main() -> None:
    given = _parser().parse_args()
    settings = Settings(
        listings=given.listings,
        reservations=given.reservations,
        seed=given.seed,
        now=given.now,
        delay_seconds=given.delay,
        account_id=given.account_id,
        secret=given.secret,
        token_seconds=given.token_seconds,
        rate_ip=given.rate_ip,
        rate_account=given.rate_account,
        rate_window_seconds=given.rate_window,
        control=given.control,
    )
    run(settings, given.host, given.port)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m brimgate.sandboxes.hostaway", description=__doc__)
    add, usual = parser.add_argument, Settings()
    add("--port", type=int, default=0, help="0 for a free one (%(default)s)")
    add("--host", default="127.0.0.1", help="the address to listen at (%(default)s)")
    add("--listings", type=count, default=usual.listings, help="to make up (%(default)s)")
    add("--reservations", type=count, default=usual.reservations, help="to make up (%(default)s)")
    add("--seed", type=int, default=usual.seed, help="another seed, other records (%(default)s)")
    add("--now", type=_moment, default=usual.now, help="when the newest reservation was made (%(default)s)")
    add("--delay", type=seconds, default=0.0, metavar="SECONDS", help="from a request to its answer")
    add("--account-id", type=int, default=usual.account_id, help="client_id (%(default)s)")
    add("--secret", default=usual.secret, help="client_secret (%(default)s)")
    add("--token-seconds", type=seconds, default=usual.token_seconds, help="a token's life (%(default)s)")
    add("--rate-ip", type=count, default=usual.rate_ip, help="requests of an address, 0: any (%(default)s)")
    add("--rate-account", type=count, default=usual.rate_account, help="of the account, 0: any (%(default)s)")
    add(
        "--rate-window",
        type=seconds,
        default=usual.rate_window_seconds,
        help="in so many seconds (%(default)s)",
    )
    add("--control", action="store_true", help="serve /control: faults, new reservations, what was asked")
    return parser


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=None)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
