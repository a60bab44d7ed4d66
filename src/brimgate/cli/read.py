"""`brimgate read`: continue from a cursor, also in another process."""

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from brimgate.cli import Commands
from brimgate.cli.engine_options import (
    PRINCIPAL,
    UPSTREAM,
    ShellAccount,
    add_budget_options,
    add_view_options,
    make_policy,
    make_protection,
    make_request,
)
from brimgate.cli.gateway import environment_config
from brimgate.cli.output import print_reply
from brimgate.errors import ClientError

if TYPE_CHECKING:
    from brimgate.engine.policy import Policy
    from brimgate.engine.query import Query
    from brimgate.packs.pack import Pack

_EXAMPLE: Final = """example:
  brimgate read "$CURSOR"
  brimgate read "$CURSOR" --path /bookings/17 --format json
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "read",
        help="read on from a cursor",
        description="Go on from a cursor of `brimgate call`, `reduce` or `run`, or look at the held answer in another "
        "way.",
        usage="brimgate read [options] CURSOR",
        epilog=_EXAMPLE,
    )
    parser.add_argument("cursor", metavar="CURSOR")
    add_budget_options(parser)
    add_view_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object per reply")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    policy = make_policy(options)
    query = make_request(options, policy)
    account = ShellAccount("read", policy)
    try:
        return _read(options, policy, query, account)
    except ClientError as error:
        account.note_refusal(error)
        raise


def _read(options: argparse.Namespace, policy: "Policy", query: "Query", account: ShellAccount) -> int:
    protection = make_protection(policy)
    binding = protection.owner(options.cursor, PRINCIPAL, UPSTREAM)
    pack, tool = _pack_named(binding.pack), binding.tool
    account.name(binding.upstream, tool)
    shell_formatter = None
    if pack is not None:
        from brimgate.cli.calls.pack_text import ShellFormatter

        shell_formatter = ShellFormatter(pack, tool, log_path=environment_config().wrapper_log)
        protection = replace(protection, policy=_with_sections(policy, pack, tool))
    answer_format = shell_formatter and shell_formatter.answer_format
    reply = protection.read(options.cursor, binding, query, time.time(), answer_format)
    account.note_reply(reply, options.cursor)
    print_reply(reply, as_json=options.json)
    if shell_formatter:
        shell_formatter.remember(reply.text)
    return 0


def _pack_named(name: str) -> "Pack | None":
    """Return the pack that formats the answer, if there is one."""
    if not name:
        return None
    from brimgate.packs.discovery import load_pack

    return load_pack(name)


def _with_sections(policy: "Policy", pack: "Pack", tool: str) -> "Policy":
    """Add what the pack knows about the tool's fields."""
    from brimgate.config.declarations import Config, Upstream
    from brimgate.config.rule_reader import make_rules

    config = Config(upstreams={pack.name: Upstream(pack=pack.name)})
    known = make_rules(config, pack.name).of(tool).policy
    return replace(policy, sections=known.sections, fields=known.fields)
