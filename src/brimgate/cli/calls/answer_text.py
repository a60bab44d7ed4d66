"""Show the answer to a call: by a pack's formatter, else in the cheapest lossless form, within the budget."""

import argparse
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import msgspec

from brimgate.cli.calls.pack_text import ShellFormatter
from brimgate.cli.calls.values import encode
from brimgate.cli.output import complain, for_terminal, printable, report, write_json, write_text
from brimgate.config.declarations import Config
from brimgate.engine import jsontext
from brimgate.engine.decision import (
    MAX_ARGUMENT_BYTES,
    TOOL_ERROR,
    AnswerSizes,
    Decision,
    Format,
    LazySizes,
    Outcome,
    Pass,
    Rerender,
    decide,
    sizes_of,
)
from brimgate.engine.document import Document
from brimgate.engine.policy import Policy
from brimgate.errors import BadRequest, JsonRefused, OperatorError
from brimgate.guard.principal import USER
from brimgate.packs.formatter import failure_of
from brimgate.packs.pack import Pack
from brimgate.relay.content import Slot, block_slot, close_list, is_json, open_list, open_object
from brimgate.relay.protocol.message import Json, text_of
from brimgate.relay.rewrite import RECORD

_READ_CALL: Final = re.compile(r'[\w.-]+\(cursor="([^"]+)"(?:, path="([^"]*)")?\)')
_decode: Final = msgspec.json.Decoder().decode
CLIENT: Final = "brimgate call"


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    document: bytes
    """A text, or JSON."""
    is_error: bool = False
    is_bounded: bool = False
    """Whether another Brimgate has bounded it already."""
    without_data: bytes = b""
    """The same with the size of binary data instead of its base64, if it has any."""

    @property
    def printed(self) -> bytes:
        """What a shell shows. `--json` and `--raw` print everything."""
        return self.without_data or self.document

    @property
    def as_json(self) -> bytes:
        """The answer minified, with values as they were spelled; a text becomes a JSON string."""
        try:
            return jsontext.canonical(self.document)
        except (msgspec.DecodeError, JsonRefused):
            return msgspec.json.encode(self.document.decode("utf-8", "replace"))


def read_answer(result: bytes) -> ToolAnswer:
    members = open_object(result)
    if members is None:
        return ToolAnswer(bytes(result))
    is_error = bytes(members.get("isError", b"")) == b"true"
    is_bounded = RECORD in (open_object(members.get("_meta", b"{}")) or {})
    structured = bytes(members.get("structuredContent", b"null"))
    blocks = open_list(members.get("content", b"[]")) or []
    texts = [text for block in blocks if (text := _text_of_block(block)) is not None]
    inner = _unwrapped(structured)
    is_same = structured == b"null" or inner[:1] == b'"' or (bool(texts) and is_json(texts[0]))
    if len(texts) == len(blocks) == 1 and is_same:
        return ToolAnswer(texts[0], is_error, is_bounded)
    if structured != b"null":
        # Servers repeat it in texts, often several, for clients that know nothing else.
        return ToolAnswer(inner, is_error, is_bounded)
    if len(texts) == len(blocks):
        return ToolAnswer(_several(texts), is_error, is_bounded)
    document = close_list(blocks)
    bare = close_list([_without_data(block_slot(raw)) for raw in blocks])
    return ToolAnswer(document, is_error, is_bounded, bare if bare != document else b"")


def _without_data(slot: Slot) -> Json:
    if slot.binary is None or slot.binary.is_odd:
        return slot.raw
    size = f"<{slot.binary.byte_count:,} bytes: --json prints them>"
    return slot.without_data({slot.binary.member: msgspec.json.encode(size)})


def _text_of_block(raw: Json) -> bytes | None:
    members = open_object(raw) or {}
    if bytes(members.get("type", b"")) != b'"text"' or members.get("text", b"")[:1] != b'"':
        return None
    return text_of(members["text"])


def _several(texts: list[bytes]) -> bytes:
    """Join texts. Some servers send a list of objects as one text each."""
    if texts and all(is_json(text) for text in texts):
        return close_list(texts)
    return b"\n".join(texts)


def _unwrapped(structured: bytes) -> bytes:
    """Unwrap a value. Before 2026-07-28 a value that is not an object must be inside one; FastMCP calls it `result`."""
    members = open_object(structured) or {}
    return bytes(members["result"]) if set(members) == {"result"} else structured


@dataclass(frozen=True, slots=True)
class Called:
    """A call that was answered."""

    tool: str
    arguments: dict[str, Any]
    result: bytes
    """The result as the server sent it."""
    policy: Policy
    """The policy by the configuration alone: enough for what fits."""
    pack: Pack | None = None
    pack_policy: Callable[[], Policy] | None = None
    """The policy by the rules of the pack as well, which must be read first."""
    config: Config = field(default_factory=Config)
    upstream: str = ""
    upstream_seconds: float = 0.0
    read_on: Callable[..., str] | None = None
    """Writes the command that reads on at a Brimgate, from `cursor=…` and the like; None if the server is none."""


def present(called: Called, options: argparse.Namespace) -> int:
    """Print the answer. Return 0, or 1 if it reports a failure."""
    started = time.perf_counter()
    answer = read_answer(called.result)
    if answer.is_bounded:
        called = replace(called, policy=called.policy.for_bounded_answers(), pack=None)
    elif called.read_on is not None:  # it has decided that this fits
        called = replace(called, policy=called.policy.with_budget(called.policy.hard_output_token_cap))
    failure = _failure(called, answer)
    if options.raw or options.json:
        printed = called.result if options.raw else answer.as_json
        write_json(printed + b"\n")
        shown = _as_it_came(printed.decode("utf-8", "replace"), Document(answer.printed), called.policy)
    elif failure is not None:
        shown = _shown(replace(called, pack=None), failure, is_bounded=answer.is_bounded)
        complain(f"{printable(called.tool)} failed: {for_terminal(shown.text, sys.stderr)}")
    else:
        if options.query and not answer.is_bounded:
            shown = _queried(called, answer.printed, options.query)
        else:
            shown = _shown(called, answer.printed, is_bounded=answer.is_bounded)
        write_text(for_terminal(shown.text, sys.stdout) + "\n")
    _report(called, len(answer.document), shown, started, options, is_error=failure is not None)
    if options.query and answer.is_bounded:
        complain("--query was not asked: this server is a Brimgate; call its reading tool with query=…")
        return 2
    if shown.is_shortened and not options.quiet:
        complain("a view: ids are short, times relative; --json prints the whole answer")
    if failure is None:
        _tell_metrics(called, answer.document, shown.text, started, options)
    return 0 if failure is None else 1


def _in_shell_words(text: str, called: Called) -> str:
    """Rewrite the notice of another Brimgate. It tells a model which tool to call; here, a command calls it."""
    from brimgate.engine.replies.reply import MARK  # here, as below: most answers need none of the replies

    notice, line_end, rest = text.partition("\n")
    if called.read_on is None or not notice.startswith(MARK):
        return text
    read_on = called.read_on

    def command(found: "re.Match[str]") -> str:
        return read_on(f"cursor={found[1]}", *([f"path={found[2]}"] if found[2] else []))

    notice = _READ_CALL.sub(command, notice)
    notice = re.sub(r'path="([^"]*)"', r"path=\1", notice)
    notice = re.sub(r"\(or add ([^)]+)\)", lambda one: f"(or add {_as_arguments(one[1])})", notice)
    return f"{notice}{line_end}{rest}"


def _as_arguments(ways: str) -> str:
    return ", ".join(one if "=" in one else f"{one}=…" for one in ways.split(", "))


def _failure(called: Called, answer: ToolAnswer) -> bytes | None:
    """Return the failure that the answer reports; also one that comes as a success, if the pack recognises it."""
    if answer.is_error or called.pack is None or not Document(answer.document).is_json:
        return answer.printed if answer.is_error else None
    told = failure_of(called.pack, answer.document)
    return told.encode("utf-8", "replace") if told else None


def _tell_metrics(
    called: Called, document: bytes, shown: str, started: float, options: argparse.Namespace
) -> None:
    if not options.metrics and not options.metrics_file:
        return
    from brimgate.cli.savings import append, measure

    elapsed_ms = (time.perf_counter() - started) * 1_000
    measurement = measure(called.tool, document, shown, elapsed_ms, called.policy.estimator)
    if options.metrics:
        complain(measurement.line())
    if options.metrics_file:
        try:
            append(options.metrics_file, measurement)
        except OperatorError as error:
            # The tool has been called and its answer printed: the call did not fail.
            complain(str(error))


def _report(
    called: Called, came: int, shown: "_Shown", started: float, options: argparse.Namespace, *, is_error: bool
) -> None:
    text = shown.text.encode("utf-8", "surrogateescape")
    size = len(text)
    came = size if shown.outcome == "passed" else came
    decision = Decision(
        time.time(), USER.name, called.upstream, called.tool, "error" if is_error else shown.outcome,
        came, size, shown.sizes, CLIENT,
        called.policy.estimator.family, engine_seconds=time.perf_counter() - started,
        upstream_seconds=called.upstream_seconds, issued_cursor=shown.has_cursor, principal_id=USER.id,
        answer=shown.answer, highlights=shown.highlights, threshold=called.policy.output_token_threshold,
        shown=lambda: text, method="tools/call", arguments=encode(called.arguments)[:MAX_ARGUMENT_BYTES],
        error_type=TOOL_ERROR if is_error else "",
    )  # fmt: skip
    report(decision, options.log_level, called.config.telemetry)


@dataclass(frozen=True, slots=True)
class _Shown:
    text: str
    outcome: Outcome
    sizes: LazySizes
    is_view: bool = False
    """Made by a pack, and so derived."""
    is_shortened: bool = False
    """Some ids are short, which the reader should know."""
    has_cursor: bool = False
    answer: int = 0
    highlights: int = 0


def _as_it_came(text: str, document: Document, policy: Policy) -> _Shown:
    return _Shown(text, "passed", partial(sizes_of, document, policy))


def _rewritten(text: str, document: Document, policy: Policy, *, is_view: bool = False) -> _Shown:
    """Show all of it in another form."""

    def sizes() -> AnswerSizes:
        return sizes_of(document, policy)._replace(estimated_tokens=policy.estimator.table(text))

    return _Shown(text, "rendered", sizes, is_view)


def _shown(called: Called, document: bytes, *, is_bounded: bool = False) -> _Shown:
    """Show what is decided about the answer. All of it if that fits, in the pack's words or the cheapest form."""
    shell_formatter = None
    if called.pack is not None and called.pack.tool(called.tool).formatter is not None:
        shell_formatter = ShellFormatter(
            called.pack, called.tool, called.arguments, called.config.wrapper_log
        )
    source, policy = Document(document), called.policy
    plan = decide(source, policy, shell_formatter and shell_formatter.answer_format)
    match plan:
        case Pass():
            text = source.data.decode("utf-8", "surrogateescape").rstrip("\n")
            text = _in_shell_words(text, called) if is_bounded else text
            shown = _as_it_came(text, source, policy)
        case Rerender(rendered):
            shown = _rewritten(rendered.text, source, policy)
        case Format(text):
            shown = _rewritten(text, source, policy, is_view=True)
        case _:  # whatever holds something back is written as for the relay
            shown = _bounded(called, document, shell_formatter)
    if shell_formatter and shown.is_view:
        return replace(shown, is_shortened=shell_formatter.remember(shown.text))
    return shown


def _bounded(called: Called, document: bytes, shell_formatter: ShellFormatter | None) -> _Shown:
    """Show a first page, and the cursor with which `brimgate read` continues."""
    # Half of the engine, and most answers fit without it.
    from brimgate.cli.engine_options import PRINCIPAL, make_protection
    from brimgate.engine.cursor import Binding
    from brimgate.engine.replies.formatted import VIEW

    # With the pack, so that `brimgate read` uses the same formatter.
    binding = Binding(PRINCIPAL, called.upstream, called.tool, called.pack.name if called.pack else "")
    answer_format = shell_formatter and shell_formatter.answer_format
    policy = _with_rules_of_pack(called)
    # If the folder cannot be used, the first page is shown all the same: the tool has been called.
    protection = make_protection(policy, called.config)
    reply = protection.protect(document, binding, time.time(), answer_format)
    if reply is None:
        return _as_it_came(document.decode("utf-8", "surrogateescape"), Document(document), policy)
    return _Shown(
        reply.text,
        reply.outcome,
        reply.sizes,
        reply.record.get("format") == VIEW,
        has_cursor=reply.has_cursor,
        answer=reply.answer,
        highlights=reply.highlight_count,
    )


def _queried(called: Called, document: bytes, sql: str) -> _Shown:
    """Show the result of a query over the answer. A wrong query loses nothing: the answer is held."""
    from brimgate.cli.engine_options import PRINCIPAL, make_protection
    from brimgate.cli.output import READ_COMMAND
    from brimgate.engine.cursor import Binding
    from brimgate.engine.document import Position
    from brimgate.engine.query import FOCUS, parse_query

    binding = Binding(PRINCIPAL, called.upstream, called.tool)
    protection = make_protection(replace(called.policy, read_tool=READ_COMMAND), called.config)
    now = time.time()
    try:
        reply = protection.select(document, binding, parse_query(query=sql), now)
    except BadRequest as error:
        cursor = protection.hold(document, binding, now).issue(FOCUS, Position(0))
        raise BadRequest(f"{error}\nthe answer is held: {READ_COMMAND} {cursor} --query …") from None
    return _Shown(reply.text, reply.outcome, reply.sizes, has_cursor=reply.has_cursor, answer=reply.answer)


def _with_rules_of_pack(called: Called) -> Policy:
    """Return the policy with the pack's rules. Wrong rules must not cost the answer of a call that was made."""
    if called.pack is None or called.pack_policy is None:
        return called.policy
    try:
        return called.pack_policy()
    except OperatorError as error:
        complain(f"{error}; the rules of the pack {called.pack.name} are not used")
        return called.policy
