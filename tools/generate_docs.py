"""Write the pages that are made from the code: `make docs`. With --check, only say which would change."""

import argparse
import os
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from headgate.cli.commands import build_parser

ROOT = Path(__file__).resolve().parents[1]


def requirements_page() -> str:
    table = tomllib.loads((ROOT / "tests" / "requirements.toml").read_text("utf-8"))
    lines = [
        "# Requirements",
        "",
        "Generated from `tests/requirements.toml` by `make docs`; do not edit. A requirement with tests and a later",
        "capability is shown by the tests as far as the engine goes; the capability completes it end to end.",
        "",
        "| id | requirement | tests | still to come with |",
        "|---|---|---|---|",
    ]
    for name, entry in table.items():
        tests = "<br>".join(f"`{test.rpartition('::')[2]}`" for test in entry.get("tests", []))
        lines.append(f"| {name} | {entry['title']} | {tests} | {entry.get('later', '')} |")
    return "\n".join(lines) + "\n"


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def cli_page() -> str:
    os.environ["COLUMNS"] = "100"
    parser = build_parser()
    parts = ["# Command line\n\nGenerated from the commands' own help by `make docs`; do not edit.\n"]
    parts.append(f"```text\n{parser.format_help()}```\n")
    parts.extend(f"## headgate {name}\n\n```text\n{sub.format_help()}```\n" for name, sub in commands(parser))
    return "\n".join(parts)


PAGES = {"docs/requirements.md": requirements_page, "docs/reference/cli.md": cli_page}


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale: list[str] = []
    for name, make in PAGES.items():
        path, text = ROOT / name, make()
        if not path.exists() or path.read_text("utf-8") != text:
            stale.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'stale' if check else 'written'}: {name}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
