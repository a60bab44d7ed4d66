"""`brimgate stats`: which tool costs what, before and after."""

import argparse
import csv
import sys
import time
from collections.abc import Iterator, Mapping
from io import StringIO
from typing import TYPE_CHECKING, Any, Final

from brimgate.cli import Commands
from brimgate.cli.output import for_terminal, print_json, printable, write_text
from brimgate.errors import BadRequest

if TYPE_CHECKING:
    from brimgate.watch.stats import Row, Statistics

_BAR: Final = 20
_HEADINGS: Final = f"{'calls':>7} {'before':>11} {'after':>10} {'saved':>6} {'median':>8} {'p95':>8} {'largest':>9} {'share':>6}"
_EXAMPLE: Final = """example:
  brimgate stats --today
  brimgate stats --since 7d --by client
  brimgate stats --tool list_bookings --outcome paginated --json
"""
_FILTERS: Final = {
    "tool": "only this tool; for REST, a path such as /api/v1/listings/{id}",
    "upstream": "only this server",
    "client": "only this client program",
    "since": "only answers since then: 30m, 2h or 7d ago, or a date and time",
    "until": "only answers before then",
    "outcome": "only answers with this outcome: passed, rendered, page (paginated), preview (summarized), "
    "chunk (chunked), read, refused, error",
}


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "stats",
        help="show what each tool costs, before and after",
        description="Show the tokens that answers had, and what of them reached a model, from the records that `run`, "
        "`serve`, `call`, `read` and `reduce` keep on this machine.",
        epilog=_EXAMPLE,
    )
    add_filters(parser)
    parser.add_argument(
        "--by", metavar="KEY", default="tool", help="rows by tool, hour, client or upstream (default: tool)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with all figures")
    parser.add_argument("--csv", action="store_true", help="print the rows as CSV")
    parser.set_defaults(run=run)


def add_filters(parser: argparse.ArgumentParser, *left_out: str) -> None:
    for name, text in _FILTERS.items():
        if name in left_out:
            continue
        parser.add_argument(f"--{name}", metavar=name.upper(), default="", help=text)
    parser.add_argument("--today", action="store_true", help="only answers since midnight")
    parser.add_argument("--file", metavar="PATH", default="", help="file of the records (default: yours)")


def run(options: argparse.Namespace) -> int:
    from brimgate.watch.record_store import opened_records
    from brimgate.watch.stats import NOTHING, accuracy_in, question_of, statistics

    if options.json and options.csv:
        raise BadRequest("choose --json or --csv, not both")
    question = question_of(
        {name: getattr(options, name) for name in (*_FILTERS, "by")} | asked_today(options)
    )
    path = chosen_file(options)
    if path.exists() or options.file:
        with opened_records(path) as connection:
            found = statistics(connection, question)
            accuracy = accuracy_in(connection, question)
    else:
        found, accuracy = NOTHING, []
    if options.json:
        print_json(found.document() | {"accuracy": accuracy})
    elif options.csv:
        write_text(_csv(found.rows))
    else:
        write_text(for_terminal("\n".join(_lines(found, options.by, accuracy)) + "\n", sys.stdout))
    return 0


def asked_today(options: argparse.Namespace) -> dict[str, str]:
    return {"today": "true"} if options.today else {}


def chosen_file(options: argparse.Namespace) -> Any:
    from brimgate.cli.gateway import environment_config
    from brimgate.watch.record_store import records_path

    return records_path(options.file or environment_config().telemetry.file)


# As text


def _lines(found: "Statistics", by: str, accuracy: list[dict[str, Any]]) -> Iterator[str]:
    total = found.total
    if not total.calls and not total.reads:
        yield "no answers are recorded, or none match: leave out a filter, or use `brimgate run` or `serve` first"
        yield from _losses(found.lost)
        return
    yield f"{_day(found.first)} to {_day(found.last)} · {total.calls:,} answers, {total.reads:,} reads on"
    difference = total.tokens_before - total.tokens_after
    change = f", {abs(difference):,} {'saved' if difference >= 0 else 'more'} ({_percent(abs(total.saved))})"
    yield f"tokens: {total.tokens_before:,} before, {total.tokens_after:,} after{change if total.tokens_before else ''}"
    yield ""
    width = min(max([len(by), *(len(row.name) for row in found.rows)]), 48)
    yield f"{by:{width}} {_HEADINGS}"
    most = max(row.tokens_after for row in found.rows)
    for row in found.rows:
        yield _line(row, width, most)
    yield ""
    yield from _remarks(found)
    yield from _catalogs(found.catalogs)
    yield from _accuracy(accuracy)
    yield from _losses(found.lost)


def _line(row: "Row", width: int, most: int) -> str:
    bar = "█" * round(_BAR * row.tokens_after / most) if most else ""
    mark = "!" if row.pages_too_much else " "
    return (
        f"{printable(row.name)[:width]:{width}} {row.calls:>7,} {row.tokens_before:>11,} {row.tokens_after:>10,} "
        f"{_percent(row.saved):>6} {row.median:>8,} {row.p95:>8,} {row.largest:>9,} {_percent(row.share):>6} {mark}{bar}"
    ).rstrip()


def _remarks(found: "Statistics") -> Iterator[str]:
    total = found.total
    yield "outcomes: " + ", ".join(f"{name} {count:,}" for name, count in total.outcomes.items())
    if total.issued:
        yield (
            f"cursors: {total.issued:,} issued, {total.followed:,} followed, {total.issued - total.followed:,} never followed, "
            f"{total.expired:,} expired; the same call run again after a page {total.repeated_after_page:,} times"
        )
    for row in found.rows:
        if row.pages_too_much:
            yield (
                f"! {printable(row.name)}: its answers are read on {row.pages_read} times in the median: a larger budget, "
                "`fields` or a search would save calls"
            )


def _catalogs(catalogs: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    for upstream, tools in catalogs.items():
        most = ", ".join(f"{printable(name)} {tokens:,}" for name, tokens in list(tools.items())[:3])
        size = f"{sum(tools.values()):,} tokens, {len(tools)} tools"
        yield f"list of tools of {printable(upstream)}: {size}; most expensive: {most}"


def _accuracy(rows: list[dict[str, Any]]) -> Iterator[str]:
    for row in rows:
        if row["source"] == "reference":
            yield (
                f"estimates for {row['family']} are {100 * row['median_error']:+.0f} % of the o200k count in the median of "
                f"{row['samples']:,} samples: a reference, not the truth, because its tokenizer is not public"
            )
            continue
        note = (
            f"; token_multiplier {row['proposed_multiplier']} would fit better"
            if row["proposed_multiplier"]
            else ""
        )
        yield (
            f"estimates for {row['family']} against {row['source']} counts: {row['samples']:,} samples, "
            f"{_percent(row['within_20'])} within 20 %, median error {100 * row['median_error']:+.0f} %{note}"
        )


def _losses(lost: Mapping[str, int]) -> Iterator[str]:
    for reason, count in lost.items():
        yield f"not in these figures: {count:,} answers ({reason})"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M %z", time.localtime(seconds))


def _csv(rows: "list[Row]") -> str:
    out = StringIO()
    documents = [row.document() for row in rows]
    flat = [{name: value for name, value in one.items() if name != "outcomes"} for one in documents]
    writer = csv.DictWriter(out, list(flat[0]) if flat else ["name"], lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: _cell(value) for name, value in one.items()} for one in flat)
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Keep a spreadsheet from taking a name for a formula: names come from outside."""
    return f"'{value}" if isinstance(value, str) and value[:1] in "=+-@\t\r" else value
