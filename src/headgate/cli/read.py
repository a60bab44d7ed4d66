"""`headgate read`: go on from a cursor, also in another process."""

import argparse
import time
from typing import Final

from headgate.cli.options import (
    BINDING,
    add_budget_options,
    add_view_options,
    make_policy,
    make_protection,
    make_request,
)
from headgate.cli.output import print_reply
from headgate.cli.parsers import Commands

_EXAMPLE: Final = """example:
  headgate read "$CURSOR"
  headgate read "$CURSOR" --path /bookings/17 --format json
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "read",
        help="go on from a cursor",
        description="Go on from a cursor that `headgate reduce` printed, or look at the held answer in another way.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cursor", metavar="CURSOR")
    add_budget_options(parser)
    add_view_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per reply")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    policy = make_policy(options)
    request = make_request(options, policy)
    reply = make_protection(policy).read(options.cursor, BINDING, request, time.time())
    print_reply(reply, as_json=options.json)
    return 0
