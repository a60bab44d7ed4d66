"""`brimgate cursor`: decode a cursor, for debugging."""

import argparse
import time
from datetime import UTC, datetime
from typing import Final

from brimgate.cli import Commands
from brimgate.cli.engine_options import PRINCIPAL, UPSTREAM, make_protection
from brimgate.cli.output import print_json
from brimgate.engine.cursor import Cursor, peek
from brimgate.engine.policy import Policy
from brimgate.errors import CursorError, ListElsewhere, ListLost

_EXAMPLE: Final = """example:
  brimgate cursor "$CURSOR"
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "cursor",
        help="decode a cursor",
        description="Decode a cursor: which snapshot and place it points to, and until when.",
        epilog=_EXAMPLE,
    )
    parser.add_argument("cursor", metavar="CURSOR")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    cursor = peek(options.cursor)
    print_json(
        {
            "snapshot": cursor.snapshot.hex(),
            "expires": _moment(cursor.expires_minute),
            "view": cursor.view.hex() or "whole",
            "position": {"node": cursor.position.node, "text": cursor.position.text},
            "state": _state(options.cursor, cursor),
        }
    )
    return 0


def _moment(minute: int) -> str:
    try:
        return datetime.fromtimestamp(minute * 60, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        return "beyond the calendar"  # a forged one: nothing that we seal lives that long


def _state(text: str, cursor: Cursor) -> str:
    """Return whether `brimgate read` would accept it here."""
    now = time.time()
    if cursor.expires_minute <= now // 60:
        return "expired"
    try:
        protection = make_protection(Policy())
        protection.opened(text, protection.owner(text, PRINCIPAL, UPSTREAM), now)
    except ListElsewhere:
        return "valid, and its list is still being fetched by another process"
    except ListLost:
        return "valid, but the process that was fetching its list has ended"
    except CursorError:
        return "sealed by another key, or for another caller"
    return "valid here"
