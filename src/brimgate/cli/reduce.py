"""`brimgate reduce`: run the engine on a file or standard input."""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from brimgate.cli import Commands
from brimgate.cli.engine_options import (
    BINDING,
    ShellAccount,
    add_budget_options,
    add_view_options,
    make_policy,
    make_protection,
    make_request,
)
from brimgate.cli.output import ProgressBar, complain, print_json, print_reply, write_bytes
from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.forms import AUTO, render
from brimgate.engine.query import COUNT, Query
from brimgate.engine.rebuild import Rebuilder, next_on_walk
from brimgate.errors import BadRequest, ClientError, InputError, JsonRefused
from brimgate.hold.protection import Protection

MAX_INPUT_BYTES: Final = 256 << 20

_EXAMPLE: Final = """example:
  brimgate reduce bookings.json --budget 4000
  curl -s https://api.example.org/logs | brimgate reduce - --search "timeout"
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "reduce",
        help="fit a file or standard input into a token budget",
        description="Fit a file or standard input into a token budget; what is held back stays one cursor away.",
        usage="brimgate reduce [options] FILE",
        epilog=_EXAMPLE,
    )
    parser.add_argument("file", metavar="FILE", help="file to read, - for standard input")
    add_budget_options(parser)
    add_view_options(parser)
    parser.add_argument(
        "--highlights", choices=("on", "off"), default="on", help="show what stands out (default: on)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object per reply")
    parser.add_argument(
        "--walk", action="store_true", help="follow every cursor to the end and check that nothing is missing"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    form = AUTO if options.form in (None, COUNT) else options.form
    policy = replace(make_policy(options), highlights=options.highlights == "on", format=form)
    query = make_request(options, policy)
    if query.limit:
        policy = replace(policy, default_page_size=query.limit)
    data = read_input(options.file or "''")
    if options.form and options.form not in (AUTO, COUNT):
        _check_form(data, options.form)
    protection, account = make_protection(policy), ShellAccount("reduce", policy)
    if options.walk:
        if _selects(query):
            raise BadRequest(
                "--walk follows the whole answer: leave out --fields, --path, --lines, --search, --pages and --query"
            )
        return _walk(protection, data, options.form or "", account, as_json=options.json)
    try:
        reply = (
            protection.select(data, BINDING, query, time.time())
            if _selects(query)
            else protection.protect(data, BINDING, time.time())
        )
    except ClientError as error:
        account.note_refusal(error)
        raise
    if reply is not None:
        account.note_reply(reply)
        print_reply(reply, as_json=options.json)
    else:
        _print_untouched(data, protection, options.form or "", account, as_json=options.json)
    return 0


def read_input(name: str) -> bytes:
    """Read a file or standard input. Refuse anything that cannot be text in one clear line."""
    try:
        if name == "-":
            if sys.stdin is None:
                raise InputError("standard input is closed")
            data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_INPUT_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name}: is a directory, not a file") from None
    except OSError as error:
        raise InputError(f"{name}: cannot be read: {error.strerror}") from None
    if len(data) > MAX_INPUT_BYTES:
        raise InputError(f"{name}: larger than {MAX_INPUT_BYTES >> 20} MiB")
    if _is_binary(data):
        raise InputError(f"{name}: binary, not text or JSON")
    return data


def _is_binary(data: bytes) -> bool:
    """Check for a zero byte, or more than a tenth of non-UTF-8 at the beginning: a few odd bytes in a log are fine."""
    broken = data[:8_192].decode("utf-8", "replace").count("\ufffd")
    return b"\x00" in data or broken > max(32, min(len(data), 8_192) // 10)


def _check_form(data: bytes, form: str) -> None:
    try:
        jsontext.check_strict(data)
    except JsonRefused as error:
        raise InputError(f"--format {form} needs JSON, and this is not: {error}") from None


def _selects(query: Query) -> bool:
    return query != replace(Query(), limit=query.limit, form=query.form)


def _print_untouched(
    data: bytes, protection: Protection, form: str, account: ShellAccount, *, as_json: bool
) -> None:
    """Print what fits unchanged, unless a form was requested."""
    estimator = protection.policy.estimator
    shown, name = data, "untouched"
    if form and Document(data).is_json:
        rendered = render(jsontext.canonical(data), form, estimator)
        shown, name = rendered.text.encode() + b"\n", rendered.form
    account.note_passed(data, shown)
    if as_json:
        text = shown.decode("utf-8", "surrogateescape")
        tokens = estimator.count(text)
        record = {"kind": "untouched" if not form else "complete", "format": name, "estimatedTokens": tokens}
        print_json({"reply": text, "result": record, "payload": text})
    else:
        write_bytes(shown)


def _walk(protection: Protection, data: bytes, form: str, account: ShellAccount, *, as_json: bool) -> int:
    reply = protection.protect(data, BINDING, time.time())
    if reply is None:
        _print_untouched(data, protection, form, account, as_json=as_json)
        return 0
    rebuilder = Rebuilder()
    progress = ProgressBar(reply.record["total"]["bytes"])
    count = 0
    while True:
        account.note_reply(reply)
        print_reply(reply, as_json=as_json)
        rebuilder.feed(reply)
        count += 1
        progress.show(rebuilder.received_bytes, f"{count:,} replies")
        following = next_on_walk(reply)
        if following is None:
            break
        reply = protection.read(following, BINDING, Query(), time.time())
    progress.end()
    return _verdict(rebuilder, data, count)


def _verdict(rebuilder: Rebuilder, data: bytes, count: int) -> int:
    # What has JSON in a string is walked as text.
    expected = {data, jsontext.canonical(data)} if Document(data).is_json else {data}
    try:
        same = rebuilder.answer() in expected
    except InputError as error:
        complain(f"the walk of {count:,} replies is incomplete: {error}")
        return 1
    complain(f"{count:,} replies, {'equal to' if same else 'NOT equal to'} the original")
    return 0 if same else 1
