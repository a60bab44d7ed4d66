"""`brimgate check`: check a configuration, and show what is in force."""

import argparse
import os
from pathlib import Path
from typing import Final

from brimgate.cli import Commands
from brimgate.cli.output import complain, write_text
from brimgate.config.declarations import Config
from brimgate.config.placeholders import filled
from brimgate.config.show import difference, effective
from brimgate.config.sources import load, unknown_variables
from brimgate.engine.tokens.estimator import unknown_model
from brimgate.errors import OperatorError

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
    for name, one in config.upstreams.items():
        if not one.is_rest:
            continue
        from brimgate.app.connect import declared_api, open_api

        declared_api(one)
        try:
            open_api(filled(one))
        except OperatorError as error:
            complain(f"upstreams.{name} could not be served from here: {error}")
