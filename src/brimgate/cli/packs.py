"""`brimgate packs`: list the known systems, and what is known of them."""

import argparse
from typing import Any, Final

from brimgate.cli import Commands
from brimgate.cli.output import complain, print_json, write_text
from brimgate.errors import OperatorError
from brimgate.packs.discovery import installed, load_pack
from brimgate.packs.pack import RULES_FILE, SAMPLES_FILE, Pack

_EXAMPLE: Final = """example:
  brimgate packs
  brimgate packs graphiti
"""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "packs",
        help="list packs: plugins for particular systems",
        description="List the installed packs. A pack is a plugin for one system: formatters for its answers, rules, "
        "tools on its REST API. Other packages can add packs.",
        epilog=_EXAMPLE,
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="show everything about this pack")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.name:
        pack = load_pack(options.name)
        if options.json:
            print_json(_record(pack))
        else:
            write_text(_described(pack))
        return 0
    return _list(as_json=options.json)


def _list(*, as_json: bool) -> int:
    """List all packs that load. Report the others, and return an error status."""
    status, packs = 0, list[Pack]()
    for name in installed():
        try:
            packs.append(load_pack(name))
        except OperatorError as error:
            complain(str(error))
            status = 1
    if as_json:
        print_json([_record(pack) for pack in packs])
    else:
        width = max((len(pack.name) for pack in packs), default=0) + 2
        write_text("".join(f"{pack.name:{width}}{pack.description}\n" for pack in packs))
    return status


def _record(pack: Pack) -> dict[str, Any]:
    return {
        "name": pack.name,
        "description": pack.description,
        "tools": {
            name: {
                "formatter": tool.formatter is not None,
                "targetPercent": tool.target_percent,
                "destructive": tool.is_destructive,
                "references": list(tool.references),
            }
            for name, tool in pack.tools.items()
        },
        "recognisedBy": [sorted(mark) for mark in pack.marks],
        "files": [name for name in (RULES_FILE, SAMPLES_FILE) if pack.file(name)],
    }


def _described(pack: Pack) -> str:
    lines = [f"{pack.name}: {pack.description}", "", "tools"]
    width = max((len(name) for name in pack.tools), default=0) + 2
    for name, tool in pack.tools.items():
        told = [
            f"target {tool.target_percent} %" if tool.formatter else "",
            "asks for --force" if tool.is_destructive else "",
            f"short ids in {', '.join(tool.references)}" if tool.references else "",
        ]
        lines.append(f"  {name:{width}}{', '.join(part for part in told if part)}".rstrip())
    marks = [" + ".join(sorted(mark)) for mark in pack.marks]
    lines += ["", "a server is taken for it by its tools", *(f"  {mark}" for mark in marks)]
    if rules := pack.file(RULES_FILE):
        lines += [
            "",
            "rules it brings",
            *(f"  {line}" for line in rules.decode("utf-8", "replace").splitlines()),
        ]
    return "\n".join(lines) + "\n"
