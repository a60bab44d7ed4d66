"""`headgate read`: go on from a cursor, also in another process."""

import argparse
import time
from typing import TYPE_CHECKING, Final

from headgate.cli.options import (
    PRINCIPAL,
    UPSTREAM,
    add_budget_options,
    add_view_options,
    make_policy,
    make_protection,
    make_request,
)
from headgate.cli.output import print_reply
from headgate.cli.parsers import Commands

if TYPE_CHECKING:
    from headgate.cli.calls.speaking import Speaker

_EXAMPLE: Final = """example:
  headgate read "$CURSOR"
  headgate read "$CURSOR" --path /bookings/17 --format json
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "read",
        help="go on from a cursor",
        description="Go on from a cursor that `headgate call` or `headgate reduce` printed, or "
        "look at the held answer in another way.",
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
    protection = make_protection(policy)
    binding = protection.owner(options.cursor, PRINCIPAL, UPSTREAM)
    speaker = _speaker(binding.tool)
    wording = speaker and speaker.wording
    reply = protection.read(options.cursor, binding, request, time.time(), wording)
    print_reply(reply, as_json=options.json)
    if speaker:
        speaker.remember()
    return 0


def _speaker(answered: str) -> "Speaker | None":
    """Of the pack that worded the answer to a call, if one did."""
    name, _, tool = answered.partition(":")
    if not tool or not name:
        return None
    from headgate.cli.calls.speaking import Speaker
    from headgate.packs.discovery import load_pack

    return Speaker(load_pack(name), tool)
