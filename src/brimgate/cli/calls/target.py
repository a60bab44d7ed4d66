"""Find the server that a command is about: the options, the words, and the configuration they lead to."""

import argparse
import json
import math
import re
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlsplit

from brimgate.cli.gateway import config_path, near_option, near_url, refuse_unfilled, server_name, started_by
from brimgate.cli.output import complain, printable
from brimgate.config.declarations import Config, Upstream
from brimgate.config.masking import MASK, masked_arguments
from brimgate.config.placeholders import filled
from brimgate.config.sources import has_api, load, unreachable
from brimgate.errors import BadRequest, OperatorError
from brimgate.platform import make_private_dir, state_dir, write_private
from brimgate.watch.log import LEVELS

if TYPE_CHECKING:
    from brimgate.app.client import ListedTool
    from brimgate.packs.pack import Pack

_TIMEOUT_SECONDS: Final = 60.0
_NEGATIVE: Final = re.compile(r"-[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?")
_WHICH: Final = (
    "which server? Give its URL, its name in --config FILE, or its command behind -- at the end of the line"
)


def add_calling_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("the server").add_argument
    add("--config", metavar="FILE", type=Path, help="YAML or JSON that names servers; also BRIMGATE_CONFIG")
    add(
        "--transport",
        choices=("auto", "http", "sse"),
        help="transport for a URL (default: sse if it ends in /sse)",
    )
    add(
        "--header",
        metavar="'NAME: VALUE'",
        action="append",
        default=[],
        help="HTTP header for a URL, such as 'Authorization: Bearer ${TOKEN}': the variable is taken from the "
        "environment. May be repeated",
    )
    add(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=_TIMEOUT_SECONDS,
        help=f"timeout for start, handshake and answer together (default: {_TIMEOUT_SECONDS:g})",
    )
    add(
        "--log-level",
        choices=tuple(LEVELS),
        help="log level on stderr; at debug also what the server says there (default: warning)",
    )
    parser.set_defaults(checked=partial(_checked, parser), command=[])


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, not {text!r}")
    return seconds


def _checked(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """Check the words that argparse left over: none may be an unknown option."""
    for word in words:
        if word[:1] == "-" and word != "-" and " " not in word and not _NEGATIVE.fullmatch(word):
            parser.error(f"there is no option {word}{_meant(parser, word)}")
    return list(words)


def _meant(parser: argparse.ArgumentParser, word: str) -> str:
    """Say what an unknown option may be: a misspelt one, one of a server's command, or an argument of a tool."""
    if word.startswith("--"):
        name = word.lstrip("-").partition("=")[0] or "NAME"
        return f"{near_option(parser, word)}; what a tool takes is written {name}=VALUE, a text that begins with - as NAME={word}"
    return (
        "; if it belongs to the command that starts the server, put -- before that command: … -- COMMAND "
        f"{word}; a text that begins with - is written NAME={word}"
    )


@dataclass(frozen=True, slots=True)
class Target:
    """The server, and the words that are left for its tool."""

    name: str
    upstream: Upstream
    words: tuple[str, ...]
    given: str
    """Its text on the command line; empty for a command."""
    config: Config
    repeated: tuple[str, ...] = ()
    """The options that every command about this server needs. Secrets are masked."""

    def command_line(self, tool: str, *words: str) -> str:
        """Return the command that calls a tool of this server, to be copied."""
        known = ["brimgate", "call", *self.repeated, *([self.given] if self.given else []), tool]
        one = self.upstream
        behind = [] if self.given else ["--", *masked_arguments((one.command, *one.args))]
        return printable(" ".join(map(_quoted, (*known, *words, *behind))))


def _quoted(word: str) -> str:
    return word if word.endswith("=/…") else shlex.quote(word)


def _repeated(options: argparse.Namespace) -> tuple[str, ...]:
    found = ["--config", str(options.config)] if options.config else []
    found += ["--transport", options.transport] if options.transport else []
    for header in options.header:
        found += ["--header", header if "${" in header else f"{header.partition(':')[0]}: {MASK}"]
    return tuple(found)


def choose(options: argparse.Namespace) -> Target:
    return replace(_chosen(options), repeated=_repeated(options))


def _chosen(options: argparse.Namespace) -> Target:
    config = load(config_path(options))
    if options.command:
        command: list[str] = options.command[1:]
        if not command:
            raise BadRequest("-- must be followed by the command that starts the server")
        if options.words and ("://" in options.words[0] or options.words[0] in config.upstreams):
            raise BadRequest(f"either {printable(options.words[0])[:100]} or a command behind --, not both")
        _refuse_http_options(options)
        one = started_by(command)
        return Target(server_name(command, config), one, tuple(options.words), "", config)
    if not options.words:
        raise BadRequest(f"{_WHICH}{_known(config)}")
    given: str = options.words[0]
    words: tuple[str, ...] = tuple(options.words[1:])
    if "://" in given:
        one = Upstream(url=given, transport=options.transport or "auto", headers=_headers(options.header))
        refuse_unfilled(one)
        for places, what in unreachable(filled(one), ()):
            raise OperatorError(
                f"{' '.join(('--header', *places[0][1:])) if places[0][1:] else 'the URL'} {what}"
            )
        return Target(urlsplit(given).netloc or given, one, words, given, config)
    _refuse_http_options(options)
    if given not in config.upstreams and has_api(given):
        return Target(given, Upstream(pack=given), words, given, config)
    if given not in config.upstreams:
        raise OperatorError(
            f"there is no server {printable(given)[:60]} in the configuration{_hint(options, config)}"
        )
    return Target(given, config.upstreams[given], words, given, config)


def _hint(options: argparse.Namespace, config: Config) -> str:
    """Say what may be meant where no server has the given name."""
    words: list[str] = options.words
    if url := near_url(words[0]):
        return f"; did you mean {printable(url)[:200]}?"
    # A tool stands before its server's command, and may have the name of a program itself.
    started = next((at for at in (*range(1, len(words)), 0) if shutil.which(words[at])), None)
    if started is not None:
        line = " ".join(
            [*map(shlex.quote, words[:started]), "--", shlex.join(masked_arguments(words[started:]))]
        )
        return f"; if {printable(words[started])} starts it, put -- before it: {printable(line)}"
    if near := get_close_matches(words[0][:60], config.upstreams, 1):
        return f"; did you mean {near[0]}?{_known(config)}"
    return f"{_known(config)}; a URL would do as well (http://… or https://…), or a command behind -- at the end of the line"


def _known(config: Config) -> str:
    return f" (there are: {', '.join(config.upstreams)})" if config.upstreams else ""


def _refuse_http_options(options: argparse.Namespace) -> None:
    if options.transport or options.header:
        name = "--transport" if options.transport else "--header"
        raise OperatorError(f"{name} is for a server given by its URL")


def _headers(given: Sequence[str]) -> dict[str, str]:
    """Parse headers. Errors do not repeat what they refuse: it may contain a secret."""
    found: dict[str, str] = {}
    for number, text in enumerate(given, 1):
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise OperatorError(f"--header number {number} must be 'NAME: VALUE'")
        name = name.strip()
        if name.lower() in map(str.lower, found):
            raise OperatorError(f"--header {printable(name)} is given twice")
        found[name] = value.strip()
    return found


def find(tools: "Sequence[ListedTool]", name: str) -> "ListedTool":
    for tool in tools:
        if tool.name == name:
            return tool
    near = get_close_matches(name[:60], [tool.name for tool in tools], 3, 0.5)
    hint = f"; did you mean {' or '.join(near)}?" if near else f"; it has {len(tools)} others"
    raise BadRequest(printable(f"there is no tool {name[:60]}{hint} (`brimgate tools` lists them)"))


def remember(target: Target, tools: "Sequence[ListedTool]") -> None:
    """Remember the tools, for shell completion."""
    if target.given:
        remember_catalog(target.given, b"[" + b",".join(tool.raw for tool in tools) + b"]")


def pack_of(given: str | None, target: Target, tools: "Sequence[ListedTool]") -> "Pack | None":
    """Return the pack of the server: by the command line, by the configuration, or by its tools."""
    from brimgate.packs.discovery import NO_PACK, load_pack

    named = given or target.upstream.pack
    if named == NO_PACK:
        return None
    return load_pack(named) if named else recognised(tools)


def recognised(tools: "Sequence[ListedTool]") -> "Pack | None":
    from brimgate.packs.discovery import pack_for

    return pack_for((tool.name for tool in tools), lambda error: complain(printable(str(error))))


def is_destructive(tool: "ListedTool", pack: "Pack | None") -> bool:
    """Return whether the tool itself, or the pack, says that it is destructive."""
    return tool.is_destructive or (pack is not None and pack.tool(tool.name).is_destructive)


def remember_catalog(upstream: str, tools: bytes) -> None:
    """Save the tools (JSON) of `upstream` as it is written on a command line. Ignore errors: nobody misses them."""
    try:
        path = _catalog_path(upstream)
        make_private_dir(path.parent)
        if not path.exists() or path.read_bytes() != tools:
            write_private(path, tools)
    except (OperatorError, OSError, UnicodeEncodeError):
        pass


def remembered(upstream: str) -> list[dict[str, Any]]:
    try:
        tools: Any = json.loads(_catalog_path(upstream).read_bytes())
    except (OperatorError, OSError, ValueError, RecursionError):
        return []
    found = cast("list[Any]", tools) if isinstance(tools, list) else []
    return [cast("dict[str, Any]", one) for one in found if isinstance(one, dict)]


def _catalog_path(upstream: str) -> Path:
    """Return a file name of our own: the name of an upstream may be a URL."""
    return state_dir() / "catalogs" / f"{blake2b(upstream.encode(), digest_size=8).hexdigest()}.json"
