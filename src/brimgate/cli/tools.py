"""`brimgate tools`: list the tools of an MCP server, or describe one."""

import argparse
import json
import re
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from brimgate.cli import Commands
from brimgate.cli.calls.conversation import converse
from brimgate.cli.calls.target import (
    Target,
    add_calling_options,
    choose,
    find,
    is_destructive,
    pack_of,
    remember,
)
from brimgate.cli.output import printable
from brimgate.errors import BadRequest

if TYPE_CHECKING:
    from brimgate.app.client import ListedTool, McpClient
    from brimgate.packs.pack import Pack

_MAX_SENTENCE: Final = 200
_SENTENCE: Final = re.compile(r"(.+?[.!?])(?:\s|\Z)")
_SAMPLES: Final = {"integer": "10", "number": "0.5", "boolean": "true", "array": "a,b", "string": "TEXT"}

_EXAMPLE: Final = """example:
  brimgate tools https://mcp.example.com/mcp
  brimgate tools --config brimgate.yaml notes add_note
  brimgate tools list_bookings --json -- python -m brimgate.sandboxes.demo
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "tools",
        help="list the tools of an MCP server, or describe one",
        description="List the tools of an MCP server, or say all about one of them. UPSTREAM is a URL, or a name in the "
        "configuration; a server on stdio is given by its command behind --.",
        usage="brimgate tools [options] UPSTREAM [TOOL]\n       brimgate tools [options] [TOOL] -- COMMAND ARGS…",
        epilog=_EXAMPLE,
    )
    parser.add_argument("words", nargs="*", metavar="WORD", help="the server, and the tool to describe")
    parser.add_argument("--json", action="store_true", help="print the definitions as the server sent them")
    parser.add_argument(
        "--tokens", action="store_true", help="print what each tool costs every session, in tokens"
    )
    add_calling_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    target = choose(options)
    if len(target.words) > 1:
        raise BadRequest(f"one tool at a time: {printable(' '.join(target.words))[:200]}")
    wanted = target.words[0] if target.words else None

    async def talk(caller: "McpClient", _: object) -> "list[ListedTool]":
        return await caller.tools()

    def prepare() -> None:
        import_module("brimgate.cli.calls.arguments")

    def show(tools: "list[ListedTool]") -> int:
        from brimgate.cli.output import write_json, write_text

        remember(target, tools)
        one = find(tools, wanted) if wanted is not None else None
        if options.tokens:
            write_text(price_list([one] if one else tools))
        elif options.json:
            write_json((one.raw if one else b"[" + b",".join(tool.raw for tool in tools) + b"]") + b"\n")
        elif one:
            write_text(describe(one, target, pack_of(None, target, tools)))
        else:
            pack = pack_of(None, target, tools)
            write_text("".join(summarize(tool, _order(tool, pack)) for tool in tools) or "no tools\n")
        return 0

    return converse(target, options, prepare, talk, show)


def price_list(tools: "Sequence[ListedTool]") -> str:
    """Return the tokens of each definition, dearest first, and of all: what a client sends to its model each time."""
    from brimgate.cli.gateway import environment_config
    from brimgate.config.rule_reader import general_rule

    estimator = general_rule(environment_config(), None).policy.estimator
    costs = sorted(((estimator.table(tool.raw), tool.name) for tool in tools), reverse=True)
    lines = [f"{tokens:>8,}  {printable(name)}" for tokens, name in costs]
    total = (
        f"{sum(tokens for tokens, _ in costs):>8,}  in all, {len(costs)} tools ({estimator.family} tokens)"
    )
    return "\n".join([*lines, total, ""])


def _order(tool: "ListedTool", pack: "Pack | None") -> tuple[str, ...]:
    return pack.tool(tool.name).order if pack else ()


def summarize(tool: "ListedTool", order: Sequence[str]) -> str:
    from brimgate.cli.calls.arguments import signature

    text = printable(" ".join(tool.description.split()))
    found = _SENTENCE.match(text)
    sentence = found[1] if found else text
    sentence = sentence if len(sentence) <= _MAX_SENTENCE else f"{sentence[:_MAX_SENTENCE]}…"
    return f"{signature(tool.name, tool.schema, order)}\n" + (f"    {sentence}\n" if sentence else "")


def describe(tool: "ListedTool", target: Target, pack: "Pack | None") -> str:
    from brimgate.cli.calls.arguments import signature
    from brimgate.cli.calls.schema import as_mapping, parameters, required, usable

    destroys = is_destructive(tool, pack)
    lines = [signature(tool.name, tool.schema, _order(tool, pack)), ""]
    if tool.description.strip():
        lines += [*map(printable, tool.description.strip().splitlines()), ""]
    if destroys:
        lines += ["It destroys something: `brimgate call` wants --force.", ""]
    schema = usable(tool.schema)
    known, needed = parameters(schema), set(required(schema))
    if known:
        lines.append("parameters:")
    for name, about in known.items():
        lines.append(printable(f"  {name}  {_facts(about, as_mapping(schema), name in needed)}"))
        text = as_mapping(about).get("description")
        if isinstance(text, str):
            lines += [f"      {printable(line.strip())}" for line in text.strip().splitlines()]
    lines += [""] if known else []
    return "\n".join([*lines, "example:", f"  {_command_line(tool, target, destroys=destroys)}", ""])


def _facts(about: Any, root: dict[str, Any], is_required: bool) -> str:
    from brimgate.cli.calls.schema import as_mapping

    default = as_mapping(about).get("default")
    told = [type_name(about, root)]
    if is_required:
        told.append("required")
    if default is not None:
        told.append(f"default {json.dumps(default, ensure_ascii=False)[:200]}")
    return ", ".join(told)


def type_name(about: Any, root: dict[str, Any]) -> str:
    """Return the type, such as `array of string or null` or `"asc" or "desc"`."""
    from brimgate.cli.calls.schema import alternatives, as_mapping, choices_of, kind_of

    found: list[str] = []
    for one in alternatives(about, root):
        if choices := choices_of(one):
            found += [json.dumps(choice, ensure_ascii=False)[:60] for choice in choices[:20]]
        elif kind_of(one) == "array" and as_mapping(one.get("items")):
            kinds = dict.fromkeys(kind_of(item) or "any" for item in alternatives(one["items"], root))
            found.append(f"array of {' or '.join(kinds)}")
        else:
            found.append(kind_of(one) or "any")
    return " or ".join(dict.fromkeys(found))


def _command_line(tool: "ListedTool", target: Target, *, destroys: bool) -> str:
    """Return a command with the required arguments, ready to be filled in."""
    from brimgate.cli.calls.schema import as_mapping, parameters, required, usable

    schema = usable(tool.schema)
    known, root = parameters(schema), as_mapping(schema)
    named = [name for name in required(schema) if name in known] or list(known)[:1]
    samples = [_sample(name, known[name], root) for name in named]
    return target.command_line(tool.name, *samples, *(["--force"] if destroys else []))


def _sample(name: str, about: Any, root: dict[str, Any]) -> str:
    from brimgate.cli.calls.schema import alternatives, choices_of, kind_of

    found = alternatives(about, root)
    first = next((one for one in found if kind_of(one) != "null"), found[0])
    if choices := choices_of(first):
        return f"{name}={choices[0] if isinstance(choices[0], str) else json.dumps(choices[0])}"
    kind = kind_of(first)
    return f"{name}={_SAMPLES[kind]}" if kind in _SAMPLES else f"{name}:={{}}"
