"""`brimgate measure`: measure what the formatters of a pack save, on samples, on recorded answers, or live."""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from brimgate.cli import Commands
from brimgate.cli.calls.conversation import converse
from brimgate.cli.calls.schema import parameters
from brimgate.cli.calls.target import add_calling_options, choose, find, pack_of
from brimgate.cli.gateway import add_flags
from brimgate.cli.output import ProgressBar, complain, printable, write_text
from brimgate.errors import BadRequest, InputError

if TYPE_CHECKING:
    from brimgate.app.client import ListedTool, McpClient
    from brimgate.cli.calls.progress import Patience
    from brimgate.cli.savings import Measurement, Recorded, Summary
    from brimgate.engine.tokens.estimator import Estimator
    from brimgate.packs.pack import Pack

_RUNS: Final = 10
_WORD: Final = re.compile(r"[^\W\d_]{5,}")
_EXAMPLE: Final = """example:
  brimgate measure
  brimgate measure --calls answers.jsonl --pack graphiti --format json
  brimgate measure --format svg -- python -m brimgate.sandboxes.graphiti

A line of a file of calls is {"tool": NAME, "arguments": {…}, "answer": …};
without an answer it is made live.

exit codes: 0 every operation meets its target, 1 one does not, 2 wrong usage,
3 no such server, 4 no answer in time
"""


@dataclass(frozen=True, slots=True)
class _Answered:
    call: "Recorded"
    document: bytes
    failure: str = ""
    """What went wrong, if the document does not say it."""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "measure",
        help="measure what the formatters of a pack save",
        description="Run a set of calls several times and print what their answers take as pretty JSON, as minified JSON "
        "and as shown, in bytes and tokens. Operations that save less than 25 % of minified JSON (searches: 30 %) are "
        "flagged.",
        usage="brimgate measure [options] [UPSTREAM]\n       brimgate measure [options] -- COMMAND ARGS…",
        epilog=_EXAMPLE,
    )
    add = parser.add_argument
    add("words", nargs="*", metavar="UPSTREAM", help="server to call live (default: none)")
    add("--pack", metavar="NAME", help="whose formatters (default: by the server's tools, or graphiti)")
    add("--calls", metavar="FILE", type=Path, help="calls to measure (default: the samples of the pack)")
    add("--runs", metavar="N", type=int, default=_RUNS, help=f"times per operation (default: {_RUNS})")
    add("--format", choices=("table", "json", "svg"), default="table", help="output format (default: table)")
    add("--output", metavar="FILE", type=Path, help="write there instead of to standard output")
    add_flags(parser, "model", "token_family")
    add("--force", action="store_true", help="also call tools that change something")
    add_calling_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.runs < 1:
        raise BadRequest("--runs must be at least 1")
    if options.words or options.command:
        return _run_live(options)
    from brimgate.packs.discovery import load_pack

    pack = load_pack(options.pack or "graphiti")
    calls = _calls(options, pack)
    if not options.calls:
        complain(
            f"what the pack {pack.name} saves on its own samples, {options.runs} runs each: JSON against what is shown. "
            "Your own server: brimgate measure URL, or brimgate measure -- COMMAND"
        )
    unanswered = next((one.tool for one in calls if not one.answer), None)
    if unanswered:
        raise BadRequest(f"{unanswered} has no answer in the file: say which server to ask for it")
    answered = [
        _Answered(one, one.answer) for call in _grouped(calls) for one in _repeated(call, options.runs)
    ]
    return _conclude(pack, answered, options)


def _calls(options: argparse.Namespace, pack: "Pack") -> "list[Recorded]":
    from brimgate.cli.savings import read_calls, samples_of

    calls = read_calls(options.calls) if options.calls else samples_of(pack)
    if not calls:
        raise InputError(f"the pack {pack.name} has no samples: --calls FILE gives calls to measure")
    return calls


def _grouped(calls: "Iterable[Recorded]") -> "list[list[Recorded]]":
    """Group calls by operation, in order."""
    groups: dict[str, list[Recorded]] = {}
    for call in calls:
        groups.setdefault(call.tool, []).append(call)
    return list(groups.values())


def _repeated(calls: "Sequence[Recorded]", runs: int) -> "Iterable[Recorded]":
    """Repeat the calls from the beginning until there are enough."""
    return islice(cycle(calls), runs)


# Live


def _run_live(options: argparse.Namespace) -> int:
    target = choose(options)
    if target.words:
        raise BadRequest(f"one server at a time: {printable(target.words[0])} is too much")

    async def talk(caller: "McpClient", patience: "Patience") -> "tuple[Pack, list[_Answered]]":
        tools = await caller.tools()
        pack = pack_of(options.pack, target, tools)
        if pack is None:
            raise BadRequest(
                "no pack recognises this server by its tools: --pack NAME says which one to measure"
            )
        wanted = _callable_calls(_calls(options, pack), pack, tools, options)
        answered: list[_Answered] = []
        patience.end()
        progress = ProgressBar(options.runs * len(wanted))
        for group in wanted if options.calls else _searches_last(wanted, pack):
            for call in _repeated(group if options.calls else _searched(group, pack, answered), options.runs):
                answered.append(await _ask(caller, call))
                patience.more_time()
                progress.show(len(answered), call.tool)
        progress.end()
        return pack, answered if options.calls else _without_empty(answered)

    def show(told: "tuple[Pack, list[_Answered]]") -> int:
        return _conclude(*told, options)

    return converse(target, options, lambda: None, talk, show)


def _callable_calls(
    calls: "Iterable[Recorded]", pack: "Pack", tools: "Sequence[ListedTool]", options: argparse.Namespace
) -> "list[list[Recorded]]":
    """Return the calls that the server knows, by tool and parameters.

    Calls that change something need a file that lists them, and --force.
    """
    known = {tool.name: parameters(tool.schema) for tool in tools}
    wanted = [
        call
        for call in calls
        if options.calls or (call.tool in known and call.arguments.keys() <= known[call.tool].keys())
    ]
    if not options.calls:
        strange = sorted({call.tool for call in wanted if _names_ids(call, pack)})
        wanted = [call for call in wanted if not _names_ids(call, pack)]
        if strange:
            complain(f"not called, as the ids of the samples are of another server: {', '.join(strange)}")
    for call in wanted:
        find(tools, call.tool)
    harmless = [call for call in wanted if options.force or pack.tool(call.tool).reads_only]
    left_out = sorted({call.tool for call in wanted} - {call.tool for call in harmless})
    if left_out and options.calls:
        raise BadRequest(f"{', '.join(left_out)} may change something: --force calls it all the same")
    if left_out:
        complain(f"not called, as they change something: {', '.join(left_out)}")
    return _grouped(harmless)


def _searches_last(groups: "list[list[Recorded]]", pack: "Pack") -> "list[list[Recorded]]":
    return sorted(groups, key=lambda group: pack.tool(group[0].tool).is_search)


def _searched(group: "list[Recorded]", pack: "Pack", answered: "Sequence[_Answered]") -> "list[Recorded]":
    """Search for words that the server has just told: those of the samples are about another graph."""
    words = _words_of(answered) if pack.tool(group[0].tool).is_search else []
    if not words or not all("query" in call.arguments for call in group):
        return group
    return [
        replace(call, arguments=call.arguments | {"query": word})
        for call, word in zip(cycle(group), words, strict=False)
    ]


def _words_of(answered: "Sequence[_Answered]") -> list[str]:
    """Return the most frequent words of the answers, without what servers say around them."""
    found: Counter[str] = Counter()
    for one in answered:
        for text in _texts_in(_parsed(one.document)):
            found.update(_WORD.findall(text))
    return [word for word, _ in found.most_common(_RUNS)]


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        members = cast("dict[str, object]", value)
        yield from (text for name, one in members.items() if name != "message" for text in _texts_in(one))
    elif isinstance(value, list):
        yield from (text for one in cast("list[object]", value) for text in _texts_in(one))


def _without_empty(answered: "list[_Answered]") -> "list[_Answered]":
    """Leave out answers that found nothing: of those there is nothing to save."""
    kept = [one for one in answered if one.failure or not _is_empty(_parsed(one.document))]
    empty = {one.call.tool for one in answered} - {one.call.tool for one in kept}
    if empty:
        complain(f"finds nothing on this server and is left out: {printable(', '.join(sorted(empty)))}")
    return kept


def _is_empty(value: object) -> bool:
    """Return whether an answer is a list, or has lists, and all of them are empty."""
    inside = list(cast("dict[str, object]", value).values()) if isinstance(value, dict) else [value]
    lists = [cast("list[object]", one) for one in inside if isinstance(one, list)]
    return bool(lists) and not any(lists)


def _parsed(document: bytes) -> object:
    try:
        return json.loads(document)
    except (ValueError, RecursionError):
        return None


def _names_ids(call: "Recorded", pack: "Pack") -> bool:
    return any(name in call.arguments for name in pack.tool(call.tool).references)


async def _ask(caller: "McpClient", call: "Recorded") -> "_Answered":
    from brimgate.cli.calls.answer_text import read_answer
    from brimgate.cli.calls.values import encode

    outcome = await caller.call(call.tool, encode(call.arguments))
    if outcome.has_failed:
        return _Answered(call, b"", outcome.reason)
    answer = read_answer(outcome.result)
    failure = answer.document.decode("utf-8", "replace") if answer.is_error else ""
    return _Answered(call, answer.document, failure)


# Results


def _conclude(pack: "Pack", answered: Sequence["_Answered"], options: argparse.Namespace) -> int:
    from brimgate.cli.engine_options import chosen_family
    from brimgate.cli.savings import Summary
    from brimgate.engine.tokens.estimator import Estimator

    family = chosen_family(options)
    estimator = Estimator(family)
    runs: dict[str, list[Measurement]] = {}
    answered = _without_failures(pack, answered)
    if not answered:
        raise InputError("nothing could be measured")
    progress = ProgressBar(len(answered))
    for done, one in enumerate(answered, 1):
        runs.setdefault(one.call.tool, []).append(_measured(pack, one.call, one.document, estimator))
        progress.show(done, one.call.tool)
    progress.end()
    summaries = [
        Summary.of(tool, pack.tool(tool).target_percent, measured) for tool, measured in runs.items()
    ]
    _tell(summaries, pack, family, options)
    missed = [one.operation for one in summaries if not one.is_met]
    if missed:
        complain(f"below target: {printable(', '.join(missed))}")
    return 1 if missed else 0


def _without_failures(pack: "Pack", answered: Sequence["_Answered"]) -> list["_Answered"]:
    """Leave out errors, whose size does not matter, and report each operation that returns one."""
    from brimgate.packs.formatter import failure_of

    failed: dict[str, str] = {}
    good: list[_Answered] = []
    for one in answered:
        failure = one.failure or failure_of(pack, one.document)
        if failure:
            failed.setdefault(one.call.tool, failure)
        else:
            good.append(one)
    for tool, failure in failed.items():
        complain(f"{printable(tool)} answers with an error and is left out: {printable(failure[:200])}")
    return good


def _measured(pack: "Pack", call: "Recorded", document: bytes, estimator: "Estimator") -> "Measurement":
    from brimgate.cli.savings import measure
    from brimgate.engine import jsontext
    from brimgate.engine.document import Document
    from brimgate.engine.forms import AUTO, render
    from brimgate.packs.formatter import format_document
    from brimgate.packs.pack import Scene
    from brimgate.packs.short_ids import ids_in, shortener

    started = time.perf_counter()
    scene = Scene(call.arguments, datetime.now(UTC), shortener(ids_in(document)))
    shown = format_document(
        pack, call.tool, document, scene, lambda trouble: complain(printable(f"{call.tool}: {trouble.error}"))
    )
    if shown is None and Document(document).is_json:
        shown = render(jsontext.canonical(document), AUTO, estimator).text
    elapsed_ms = (time.perf_counter() - started) * 1_000
    text = document.decode("utf-8", "replace") if shown is None else shown
    return measure(call.tool, document, text, elapsed_ms, estimator)


def _tell(summaries: "Sequence[Summary]", pack: "Pack", family: str, options: argparse.Namespace) -> None:
    from brimgate.cli.savings import chart, table

    if options.format == "svg":
        text = chart(summaries)
    elif options.format == "table":
        text = table(summaries)
    else:
        told = {"pack": pack.name, "family": family, "operations": [one.record() for one in summaries]}
        text = json.dumps(told, indent=2) + "\n"
    if options.output is None:
        write_text(text)
        return
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{options.output}: cannot be written: {error.strerror}") from None
