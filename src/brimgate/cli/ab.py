"""`brimgate ab`: compare the answers that were protected with those that were not."""

import argparse
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from brimgate.cli import Commands
from brimgate.cli.output import print_json, write_text
from brimgate.cli.stats import add_filters, asked_today, chosen_file

if TYPE_CHECKING:
    from brimgate.watch.comparison import ArmFigures, Difference

_EXAMPLE: Final = """example:
  brimgate ab --since 7d
  brimgate ab --tool list_bookings --json

Set `rollout: 50` or `mode: shadow` for a tool, let it run for a while, and
compare then.
"""
_UNITS: Final = {"tokens per call": ",.0f", "reads per call": ".2f", "re-runs": ".1%", "errors": ".1%"}


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "ab",
        help="compare protected answers with those that were passed on",
        description="Compare the arms of a rollout: protected answers with direct ones, and in shadow mode what was sent "
        "with what protection would have sent. Says so when the data do not suffice.",
        epilog=_EXAMPLE,
    )
    add_filters(parser, "outcome")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from brimgate.watch.arms import arms_of
    from brimgate.watch.comparison import compare, suffices
    from brimgate.watch.record_store import opened_records
    from brimgate.watch.stats import question_of

    names = ("tool", "upstream", "client", "since", "until")
    question = question_of({name: getattr(options, name) for name in names} | asked_today(options))
    path = chosen_file(options)
    if not path.exists() and not options.file:
        write_text("no answers are recorded yet: use `brimgate run` or `serve` first\n")
        return 0
    with opened_records(path) as connection:
        found = arms_of(connection, question)
    missing = suffices(found.direct, found.protected)
    differences = [] if missing else compare(found.direct, found.protected)
    differences = [one for one in differences if one.a or one.b]  # what never happened needs no comparison
    if options.json:
        arms = [one._asdict() for one in (found.protected, found.direct)]
        told = [_finite(one._asdict()) for one in differences]
        print_json({"arms": arms, "shadow": asdict(found.shadow), "missing": missing, "differences": told})
        return 0
    lines = [_arm(one) for one in (found.protected, found.direct) if one.calls]
    if found.shadow.calls:
        lines.append(found.shadow.line())
    lines.append(f"not compared: {missing}" if missing else "")
    write_text("\n".join([*lines, *map(_difference, differences)]).strip("\n") + "\n")
    return 0


def _arm(arm: "ArmFigures") -> str:
    return (
        f"{arm.arm}: {arm.calls:,} calls, {arm.tokens / max(arm.calls, 1):,.0f} tokens per call, {arm.reads:,} reads on, "
        f"{arm.reruns:,} calls run again, {arm.errors:,} errors"
    )


def _difference(one: "Difference") -> str:
    form = _UNITS[one.measure]
    verdict = "clear" if one.is_clear else "may be chance"
    return (
        f"{one.measure}: direct {one.a:{form}}, protected {one.b:{form}}; difference {one.difference:{form}} "
        f"(95 %: {one.low:{form}} to {one.high:{form}}, {verdict})"
    )


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in row.items()
    }
