"""What `run` and `serve` share: the options, the configuration, and the servers in it."""

import argparse
import os
import re
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from brimgate.cli.output import complain, printable
from brimgate.config.declarations import Config, Override, Upstream
from brimgate.config.placeholders import unfilled
from brimgate.config.sources import Read, load, unknown_variables, variables
from brimgate.engine.options import choices_of, option_named
from brimgate.engine.policy import Policy
from brimgate.engine.tokens.estimator import MIN_BUDGET, unknown_model
from brimgate.errors import OperatorError
from brimgate.watch.log import Log

if TYPE_CHECKING:
    from brimgate.packs.pack import Sandbox

_OPTION: Final = re.compile(r"^ +(--[a-z][a-z-]*)", re.MULTILINE)
_ADDRESS: Final = re.compile(
    r"(?P<host>localhost|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)(?P<port>:\d{1,5})?(?P<path>/\S*)?"
)
_SCRIPTS: Final = (
    ".py",
    ".js",
    ".mjs",
    ".cjs",
    ".ts",
    ".sh",
    ".rb",
    ".jar",
    ".exe",
    ".cmd",
    ".json",
    ".yaml",
    ".yml",
)
"""What ends like the name of a host and is a file."""
_UPSTREAM_AT: Final = "brimgate run (or serve) --upstream"
Arguments = argparse.ArgumentParser | argparse._ArgumentGroup  # pyright: ignore[reportPrivateUsage]  # it has no other name


def near_option(parser: argparse.ArgumentParser, word: str) -> str:
    """Return the option of a parser that may be meant, as a question; empty if none is near."""
    near = get_close_matches(word.partition("=")[0], _OPTION.findall(parser.format_help()), 1, 0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def near_url(text: str) -> str:
    """Return the URL that may be meant by a text, which may lack the scheme; empty if it looks like none."""
    if "://" in text:
        return text
    found = _ADDRESS.fullmatch(text)
    if found is None or (Path(text).suffix in _SCRIPTS and not found["port"]):
        return ""
    is_near = found["host"] == "localhost" or found["host"][-1].isdigit()
    return f"{'http' if is_near else 'https'}://{text}"


def add_flags(parser: Arguments, *names: str) -> None:
    """Add the flags of these options, as they are declared."""
    for key in variables():
        if key.path[-1] in names:
            parser.add_argument(
                key.option.flag,
                dest=key.path[-1],
                metavar=key.option.metavar or None,
                choices=choices_of(key.type) or None,
                help=key.option.doc.replace("`", ""),
            )


def add_budget_flag(parser: Arguments) -> None:
    usual = Policy()
    known = f"at least {MIN_BUDGET} (default: {usual.output_token_threshold})"
    parser.add_argument(
        "--budget", metavar="N", type=int, help=f"{option_named(Override, 'threshold').doc}, {known}"
    )


def add_gateway_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--config",
        metavar="FILE",
        type=Path,
        help="YAML or JSON; also BRIMGATE_CONFIG. Changes apply at once",
    )
    add(
        "--upstream",
        metavar="URL|NAME",
        help="URL of a running server, or a name in the configuration, instead of a COMMAND",
    )
    add(
        "--transport",
        choices=("auto", "http", "sse"),
        help="transport for a URL (default: sse if it ends in /sse)",
    )
    add("--chained", action="store_true", help="the server is another Brimgate that you trust")
    add("--pack", metavar="NAME", help="pack (plugin) for the server's system; `brimgate packs` lists them")
    add_budget_flag(parser)
    add_flags(parser, "model", "token_family")
    add(
        "--set",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="set any other option, such as default_page_size=20",
    )
    add_flags(parser, "log_level", "log_format")
    add("command", nargs=argparse.REMAINDER, metavar="-- COMMAND ARGS…", help="the server to start")


def config_path(options: argparse.Namespace) -> Path | None:
    given = os.environ.get("BRIMGATE_CONFIG")
    return options.config or (Path(given) if given else None)


def environment_config() -> Config:
    """Return the configuration for commands that take no file: that of BRIMGATE_CONFIG, and the other variables."""
    given = os.environ.get("BRIMGATE_CONFIG")
    return load(Path(given) if given else None)


class ConfigurationSource:
    """Reads the configuration each time: the file may have changed, the command line has not."""

    def __init__(self, options: argparse.Namespace, *, serves: bool = False) -> None:
        """Create it. `serves` says whether the defaults of a pack for `brimgate serve` count."""
        if options.budget is not None and options.budget < MIN_BUDGET:
            raise OperatorError(f"--budget must be at least {MIN_BUDGET} tokens, not {options.budget}")
        self._path, self._overrides = config_path(options), _overrides(options)
        self._chosen, self._pack, self._serves = _chosen(options), options.pack, serves
        self.variables: dict[str, str] = {}
        """What a sandbox adds to the environment."""

    def __call__(self, content: bytes | None) -> Config:
        defaults = self._defaults if self._serves else None
        config = load(self._path, overrides=self._overrides, content=content, defaults=defaults)
        return replace(config, upstreams=self._servers(config))

    def _servers(self, config: Config) -> dict[str, Upstream]:
        servers = self._chosen(config)
        if self._pack:
            servers = {name: replace(one, pack=self._pack) for name, one in servers.items()}
        return servers or ({self._pack: _declared_by(self._pack)} if self._pack else {})

    def _defaults(self, config: Config) -> Mapping[str, str]:
        """Return the defaults of a pack, if its API is all that is served."""
        servers = list(self._servers(config).values())
        if len(servers) != 1 or not servers[0].is_rest or not servers[0].pack:
            return {}
        from brimgate.packs.discovery import load_pack

        given = {**os.environ, **servers[0].env, **self.variables}
        return load_pack(servers[0].pack).serving(given, servers[0].base_url)


def _declared_by(pack: str) -> Upstream:
    """Return the upstream of a pack that needs no server: its tools are on a REST API."""
    from brimgate.packs.discovery import load_pack
    from brimgate.packs.pack import API_FILE

    if not load_pack(pack).file(API_FILE):
        raise OperatorError(
            f"which server? The pack {pack} declares no API of its own: give a command behind --, or --upstream URL"
        )
    return Upstream(pack=pack)


def _overrides(options: argparse.Namespace) -> dict[str, str]:
    """Return command line options as the configuration keys they stand for."""
    given: dict[str, str] = {}
    for text in options.set:
        key, equals, value = text.partition("=")
        if not equals:
            raise OperatorError(f"--set {text}: must be KEY=VALUE")
        given[key.strip()] = value
    named = {key.option.flag: getattr(options, key.path[-1], None) for key in variables() if key.option.flag}
    return given | {flag: value for flag, value in named.items() if value is not None}


def _chosen(options: argparse.Namespace) -> Callable[[Config], dict[str, Upstream]]:
    """Return which servers the command line means, or those of the configuration if it names none."""
    arguments = options.command[1:] if options.command[:1] == ["--"] else options.command
    given: str | None = options.upstream
    if arguments and given:
        raise OperatorError("give either --upstream or a command behind --, not both")
    is_url = given is not None and "://" in given
    if options.transport and not is_url:
        raise OperatorError("--transport is for a URL given by --upstream")
    if options.chained and not (is_url or arguments):
        raise OperatorError("--chained is for a URL or a command; in a file, write chained: true")
    if arguments:
        one = replace(started_by(arguments), chained=options.chained)

        def started(config: Config) -> dict[str, Upstream]:
            name = server_name(arguments, config)
            return {name: _with_rules(one, name, config)}

        return started
    if given is not None and is_url:
        name = _host_of(given)
        one = Upstream(url=given, transport=options.transport or "auto", chained=options.chained)
        refuse_unfilled(one)
        return lambda config: {name: _with_rules(one, name, config)}
    return lambda config: _named(config, given)


_RUNNERS: Final = frozenset(("npx", "bunx", "uvx", "pipx", "uv"))
_OF_RUNNERS: Final = frozenset(("run", "tool", "exec", "x"))


def server_name(arguments: Sequence[str], config: Config) -> str:
    """Return what a server is called that a command starts: the program, or what a runner such as npx runs.

    So several servers of a runner can be told apart. Whoever has rules for the runner in the file keeps its name.
    """
    stem = Path(arguments[0]).stem
    if stem not in _RUNNERS or stem in config.upstreams:
        return stem
    given = (one for one in arguments[1:] if not one.startswith("-") and one not in _OF_RUNNERS)
    package = next(given, stem).rstrip("/").rpartition("/")[2]
    found = re.match(r"[A-Za-z0-9][\w.-]{0,59}", package)
    return found[0] if found else stem


def started_by(command: Sequence[str]) -> Upstream:
    """Return the server that a command of the command line starts."""
    if (url := near_url(command[0])) and shutil.which(command[0]) is None:
        raise OperatorError(
            f"{printable(command[0])[:100]} is no command; for a server at a URL: {_UPSTREAM_AT} {url}"
        )
    one = Upstream(command=command[0], args=tuple(command[1:]))
    refuse_unfilled(one)
    return one


def refuse_unfilled(one: Upstream) -> None:
    """Refuse a variable that is not set, in what the command line says about a server."""
    places = {"args": "argument", "headers": "--header", "url": "the URL"}
    for (key, *name), what in unfilled(one):
        raise OperatorError(f"{' '.join([places[key], *map(printable, name)])}: {what}")


def _with_rules(one: Upstream, name: str, config: Config) -> Upstream:
    """Give a server of the command line the rules of the one with the same name in the file."""
    return replace(one, tools=config.upstreams[name].tools) if name in config.upstreams else one


def _host_of(url: str) -> str:
    """Return the host, which names a server of the command line.

    Errors do not repeat the URL: it may contain a secret.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise OperatorError(
            "--upstream: must be http:// or https:// with a host; a login belongs into `headers:` of a file"
        )
    return parts.hostname


def _named(config: Config, name: str | None) -> dict[str, Upstream]:
    if name is None:
        return config.upstreams
    if name not in config.upstreams:
        if url := near_url(name):
            raise OperatorError(f"a URL begins with http:// or https://; did you mean --upstream {url}?")
        known = ", ".join(config.upstreams) or "none"
        raise OperatorError(f"there is no upstream {name} in the configuration; there are: {known}")
    return {name: config.upstreams[name]}


def warn_of_unknown(log: Log, config: Config) -> None:
    """Warn of variables that set nothing, and of a model that is not known."""
    for variable in unknown_variables(os.environ):
        log.write("unknown_variable", {"name": variable, "hint": "no option has this name"}, "warning")
    protection = config.context_protection
    if not protection.token_family and (what := unknown_model(protection.model)):
        log.write("unknown_model", {"hint": what}, "warning")


def add_sandbox_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="run a sandbox of the pack's system instead, which needs no account",
    )


@contextmanager
def sandboxes(options: argparse.Namespace, read: ConfigurationSource) -> Generator[Read]:
    """Return `read`, with sandboxes if requested. They end with us."""
    if not options.sandbox:
        yield read
        return
    with ExitStack() as running:
        started: dict[str, Sandbox] = {}

        def start(pack: str) -> "Sandbox":
            from brimgate.packs.discovery import load_pack

            sandbox = load_pack(pack).sandbox if pack else None
            if sandbox is None:
                what = f"the pack {pack} has no stand-in" if pack else "it is for a pack: --pack NAME"
                raise OperatorError(f"--sandbox: {what}")
            if pack not in started:
                started[pack] = running.enter_context(sandbox())
                read.variables |= started[pack].env
                for note in started[pack].notes:
                    complain(note)
            return started[pack]

        def led_there(one: Upstream) -> Upstream:
            if not one.is_rest:
                return one
            sandbox = start(one.pack)
            return replace(one, base_url=sandbox.base_url, env={**one.env, **sandbox.env})

        def read_sandboxed(content: bytes | None) -> Config:
            config = read(content)
            if not any(one.is_rest for one in config.upstreams.values()):
                raise OperatorError("--sandbox: there is no REST API here; name its pack: --pack hostaway")
            servers = {name: led_there(one) for name, one in config.upstreams.items()}
            return replace(read(content), upstreams=servers)  # now by the addresses of the sandboxes

        yield read_sandboxed
