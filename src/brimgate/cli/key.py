"""`brimgate key new NAME`: make a key for a caller of `brimgate serve`."""

import argparse
from typing import Final

from brimgate.cli import Commands
from brimgate.cli.output import complain, write_bytes
from brimgate.config.show import written
from brimgate.errors import OperatorError

_EXAMPLE: Final = """example:
  brimgate key new alice
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "key",
        help="make a key for a caller of `brimgate serve`",
        description="Make a key. It is printed once, for the caller; the line for the configuration holds only its digest. "
        "To rotate a key, add the new digest to the list, hand out the key, and remove the old digest later.",
        epilog=_EXAMPLE,
    )
    parser.add_argument("action", choices=["new"], help="new: make one")
    parser.add_argument(
        "name", metavar="NAME", help="name of the principal, as the log and the allow-lists have it"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from brimgate.guard.static_keys import digest_of, new_key

    name: str = options.name
    if not name.strip() or not name.isprintable() or name.startswith("scope:") or name == "*":
        raise OperatorError("a name has visible characters, and is neither `*` nor begins with `scope:`")
    key = new_key()
    complain("The key, which is shown only now. Its owner sends it as `Authorization: Bearer KEY`:")
    write_bytes(f"{key}\n".encode())
    lines = f"auth:\n  mode: static\n  keys:\n    {written(name)}: [{written(digest_of(key))}]"
    complain(f"The lines for the configuration, which `brimgate serve` reads again by itself:\n{lines}")
    return 0
