"""`brimgate check`: check a configuration, and show what is in force."""

import argparse
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from brimgate.cli import Commands
from brimgate.cli.output import complain, write_text
from brimgate.config.declarations import Config
from brimgate.config.placeholders import filled
from brimgate.config.show import difference, effective
from brimgate.config.sources import REDIS_URL, load, store_url, unknown_variables
from brimgate.engine.policy import PathPattern
from brimgate.engine.tokens.estimator import unknown_model
from brimgate.errors import OperatorError

if TYPE_CHECKING:
    from brimgate.back.rest.model import Api

_EXAMPLE: Final = """example:
  brimgate check brimgate.yaml
  brimgate check brimgate.yaml --against brimgate.old.yaml
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "check",
        help="check a configuration file",
        description="Check a configuration, and show what is in force with it: file, environment, defaults. "
        "Secrets are masked. Exits 2 with the key and line of every mistake.",
        epilog=_EXAMPLE,
    )
    parser.add_argument(
        "file", metavar="FILE", nargs="?", type=Path, help="YAML or JSON (default: BRIMGATE_CONFIG)"
    )
    parser.add_argument(
        "--against", metavar="OTHER", type=Path, help="show only what changes from OTHER to FILE"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    given = os.environ.get("BRIMGATE_CONFIG")
    path: Path | None = options.file or (Path(given) if given else None)
    config = load(path)
    _check_apis(config)
    _check_entrance(config)
    _check_store(config)
    for variable in unknown_variables(os.environ):
        complain(f"{variable}: no option has this name")
    protection = config.context_protection
    if not protection.token_family and (what := unknown_model(protection.model)):
        complain(what)
    if options.against is None:
        write_text(effective(config))
    else:
        write_text(
            "".join(f"{line}\n" for line in difference(load(options.against), config)) or "no difference\n"
        )
    complain(f"{path or 'the defaults'}: valid")
    return 0


def _check_apis(config: Config) -> None:
    """Check declared APIs. What depends on the environment may differ where it runs, so it is only reported."""
    from brimgate.app.caller_credentials import check_callers

    for name, one in config.upstreams.items():
        if not one.is_rest:
            check_callers(name, filled(one), None, config.auth)
            continue
        from brimgate.app.connect import declared_api, open_api

        api = declared_api(one)
        for key, pattern in _idle_rules(config, name, api):
            complain(f"{key}.{pattern}: no {'path' if 'endpoints' in key else 'tool'} of {name} matches it")
        try:
            opened = open_api(filled(one))
        except OperatorError as error:
            complain(f"upstreams.{name} could not be served from here: {error}")
        else:
            check_callers(name, filled(one), opened, config.auth)


def _check_entrance(config: Config) -> None:
    """Check who may come in, if anybody is told apart: `serve` would refuse to start."""
    if config.auth.mode != "none":
        from brimgate.app.authenticators import check_auth

        check_auth(config)


def _check_store(config: Config) -> None:
    """Check where replicas share their state, and tell if that is not in the file."""
    if store_url(config) and "://" not in config.store:
        complain(f"{REDIS_URL} is set: `brimgate serve` shares its state there, unless `store` is memory")
    if config.server.workers > 1:
        from brimgate.app.workers import check_workers

        check_workers(config)


def _idle_rules(config: Config, name: str, api: "Api") -> Iterator[tuple[str, str]]:
    """Yield the rules that nothing of a declared API matches. Another upstream may have what they mean."""
    protection = config.context_protection
    from brimgate.app.rest_api import VERSION

    is_alone = len(config.upstreams) == 1
    of_tools = {f"upstreams.{name}.tools": config.upstreams[name].tools}
    if is_alone:
        of_tools["context_protection.tools"] = protection.tools
        prefix = f"/api/{VERSION}"
        paths = [prefix + route for tool in api.tools.values() for route in tool.routes]
        for pattern in protection.endpoints:
            if all(PathPattern.of(pattern).match(path) is None for path in paths):
                yield "context_protection.endpoints", pattern
    for key, rules in of_tools.items():
        for pattern in rules:
            if not any(fnmatchcase(tool, pattern) for tool in (*api.tools, config.read_tool)):
                yield key, pattern
