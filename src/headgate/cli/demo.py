"""`headgate demo`: a large answer, what a model would have got, and what it gets."""

import argparse
import json
from typing import Final

from headgate.cli import complain
from headgate.cli.output import write_text
from headgate.cli.parsers import Commands
from headgate.engine.cursor import Binding
from headgate.engine.policy import Policy
from headgate.engine.rebuild import Rebuilder, next_on_walk
from headgate.engine.request import Request
from headgate.protection import Protection, process_ring
from headgate.store import MemoryStore
from headgate.testing import bookings

_EXAMPLE: Final = """example:
  headgate demo
"""
_NOW: Final = 1_800_000_000.0
_SHOWN_LINES: Final = 14


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "demo",
        help="see what the engine does to a large answer",
        description="Show 500 generated bookings before and after, and walk all cursors to prove nothing is lost.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    data = json.dumps(bookings()).encode()
    policy = Policy()
    protection = Protection(policy, process_ring(), MemoryStore())
    binding = Binding("demo", "demo", "list_bookings")
    reply = protection.protect(data, binding, _NOW)
    if reply is None:
        raise AssertionError("the demo's answer is far over the budget")
    before = policy.estimator.count(data)
    lines = reply.text.split("\n")
    write_text(
        "\n".join(line[:160] for line in lines[:_SHOWN_LINES])
        + f"\n… {len(lines) - _SHOWN_LINES} more lines\n\n"
    )
    rebuilder = Rebuilder()
    rebuilder.feed(reply)
    spent = [reply.record["estimatedTokens"]]
    cursor = next_on_walk(reply)
    while cursor:
        reply = protection.read(cursor, binding, Request(), _NOW)
        rebuilder.feed(reply)
        spent.append(reply.record["estimatedTokens"])
        cursor = next_on_walk(reply)
    same = json.loads(rebuilder.answer()) == json.loads(data)
    write_text(
        f"{'without Headgate':24}{before:>9,} tokens in one answer\n"
        f"{'with Headgate':24}{spent[0]:>9,} tokens in the first answer ({1 - spent[0] / before:.0%} less)\n"
        f"{'everything, if read':24}{sum(spent):>9,} tokens in {len(spent)} replies ({1 - sum(spent) / before:.0%} less), "
        f"{'nothing lost' if same else 'NOT the same'}\n"
    )
    complain("try it on a file of your own: headgate reduce FILE")
    return 0 if same else 1
