"""Write the pages that are made from the code: `make docs`. With --check, only say which would change."""

import argparse
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING, is_dataclass
from itertools import zip_longest
from pathlib import Path

from brimgate.back.rest import declaration as api_declaration
from brimgate.cli.main import build_parser
from brimgate.config.declarations import Config, ContextProtection, Override, Server, Upstream
from brimgate.config.show import example, written
from brimgate.config.sources import variables
from brimgate.engine.options import Key, keys_of
from brimgate.watch.metrics import FAMILIES

ROOT = Path(__file__).resolve().parents[1]
HELP_COLUMNS = 98
HELP_COLUMN = 24
"""Where the explanations of options begin at the latest."""


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
        proofs = [test.rpartition("::")[2] for test in entry.get("tests", [])]
        proofs += [f"python -m bench {entry['bench']['part'].lower()}"] if "bench" in entry else []
        tests = "<br>".join(f"`{proof}`" for proof in proofs)
        lines.append(f"| {name} | {entry['title']} | {tests} | {entry.get('later', '')} |")
    return "\n".join(lines) + "\n"


def apis_page() -> str:
    first, _, keys = (api_declaration.__doc__ or "").partition("\n\n")
    return (
        "# Declarations of REST APIs\n\nGenerated from `back/rest/declaration.py` by `make docs`; do not edit. How to use one:\n"
        "[make tools of a REST API](../how-to/declare-an-api.md).\n\n"
        f"{first}\n\n```yaml\n{keys.strip()}\n```\n"
    )


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def cli_page() -> str:
    parser = build_parser()
    parts = ["# Command line\n\nGenerated from the commands by `make docs`; do not edit.\n"]
    parts.append(f"```text\n{command_help(parser)}```\n")
    parts.extend(f"## brimgate {name}\n\n```text\n{command_help(sub)}```\n" for name, sub in commands(parser))
    return "\n".join(parts)


def command_help(parser: argparse.ArgumentParser) -> str:
    """Write what `--help` prints. argparse lays that out in another way in each version of Python."""
    groups = [
        (str(group.title), [row for action in group._group_actions for row in _help_rows(action)])
        for group in parser._action_groups
    ]
    longest = max(len(row[0]) for _, rows in groups for row in rows)
    width = min(longest + 2, HELP_COLUMN - 2)
    blocks = [f"usage: {_usage(parser)}", parser.description or ""]
    for title, rows in groups:
        if rows:
            blocks.append("\n".join([f"{title}:", *(_help_row(*row, width) for row in rows)]))
    return "\n\n".join([*blocks, *([parser.epilog.strip()] if parser.epilog else [])]) + "\n"


def _usage(parser: argparse.ArgumentParser) -> str:
    if parser.usage:
        return parser.usage
    positional = [action for action in parser._actions if not action.option_strings]
    words = [f"[{_metavar(one)}]" if one.nargs == argparse.OPTIONAL else _metavar(one) for one in positional]
    return " ".join([parser.prog, "[options]", *words])


def _metavar(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    choices = "{" + ",".join(action.choices) + "}" if action.choices else None
    return str(action.metavar or choices or action.dest.upper())


def _help_rows(action: argparse.Action) -> Iterator[tuple[str, str]]:
    if isinstance(action, argparse._SubParsersAction):
        for command in action._choices_actions:
            yield command.dest, command.help or ""
    else:
        name = f"{', '.join(action.option_strings)} {_metavar(action)}".strip()
        yield name, (action.help or "") % vars(action)


def _help_row(name: str, told: str, width: int) -> str:
    lines = textwrap.wrap(told, HELP_COLUMNS - 2 - width) or [""]
    if len(name) > width - 2:
        lines.insert(0, "")
    rows = [f"  {left:{width}}{line}".rstrip() for left, line in zip_longest([name], lines, fillvalue="")]
    return "\n".join(rows)


def config_page() -> str:
    parts = [
        "# Configuration",
        "",
        "Generated from the declarations by `make docs`; do not edit. A file is YAML or JSON; `brimgate check FILE` says",
        "what is wrong with it, with the key and line, and what is in force with it. Unknown keys are errors. Values come",
        "from the defaults, then the file, then the environment, then the command line (`--set KEY=VALUE`). Changes of the",
        "file apply at once, except where it says *restart*.",
        "",
    ]
    for title, intro, declaration, path in (
        ("At the top", "", Config, ()),
        (
            "`context_protection`",
            "How answers are kept within their budget.",
            ContextProtection,
            ("context_protection",),
        ),
        ("`server`", "How `brimgate serve` listens, and whom it lets in.", Server, ("server",)),
        ("`upstreams.NAME`", "A server behind Brimgate.", Upstream, ("upstreams", "NAME")),
        (
            "Rules: `tools.PATTERN`, `endpoints.PATH`",
            (
                "For some tools or endpoints only; a key that is not given is as set for all. `*` in a pattern stands for "
                "anything; of several patterns that match, the later wins. Besides tools there are the names "
                "`resources/read`, `prompts/get`, `tasks/get` and `tasks/result`. In paths `{name}` stands for one segment. "
                "`tools:` and `endpoints:` may also stand at the top of the file. REST answers are JSON without notices: "
                "`highlights`, `format`, `compact`, `output_schema`, `annotate` and `max_description_chars` are for tools only."
            ),
            Override,
            ("context_protection", "tools", "PATTERN"),
        ),
    ):
        parts += [
            f"## {title}",
            "",
            *([intro, ""] if intro else []),
            "| key | default | what it does | variable |",
            "|---|---|---|---|",
        ]
        variables_by_path = {key.path: key.variable for key in variables()}
        for key in keys_of(declaration, path):
            if len(key.path) == len(path) + 1:
                parts.append(_config_row(key, variables_by_path.get(key.path, "")))
        parts.append("")
    parts += [
        "## Other variables",
        "",
        "`BRIMGATE_CONFIG` names the configuration file. `BRIMGATE_STATE_DIR` is where `run`, `call` and `reduce` keep what",
        "they hold. `BRIMGATE_CURSOR_KEY` gives keys for cursors (base64, comma separated, the first seals).",
    ]
    return "\n".join(parts) + "\n"


def _config_row(key: Key, variable: str) -> str:
    default = (
        ""
        if is_dataclass(key.type) or key.default is MISSING
        else f"`{written(key.option.spelled(key.default))}`"
    )
    notes = key.option.doc
    if key.option.aliases:
        notes += f"; also `{'`, `'.join(key.option.aliases)}`"
    if not key.option.reloadable:
        notes += " (*restart*)"
    return f"| `{key.path[-1]}` | {default} | {notes} | {f'`{variable}`' if variable else ''} |"


def metrics_page() -> str:
    lines = [
        "# Metrics",
        "",
        "Generated from `watch/metrics.py` by `make docs`; do not edit. What `GET /metrics` tells; how to use it:",
        "[Prometheus and Grafana](../how-to/prometheus.md).",
        "",
        "| metric | type | labels | what it tells |",
        "|---|---|---|---|",
    ]
    for family in FAMILIES.values():
        labels = ", ".join(f"`{label}`" for label in family.labels)
        known = f" `{family.labels[0]}`: {', '.join(family.known)}." if family.known else ""
        lines.append(f"| `{family.name}` | {family.kind} | {labels} | {family.doc}{known} |")
    bounds = {family.name: family.buckets for family in FAMILIES.values() if family.buckets}
    lines += ["", "The buckets of histograms, each with `+Inf`:", "", "| metric | up to |", "|---|---|"]
    lines += [
        f"| `{name}` | {', '.join(f'{one:g}' if one < 1 else f'{one:,}' for one in found)} |"
        for name, found in bounds.items()
    ]
    return "\n".join(lines) + "\n"


PAGES = {
    "docs/reference/metrics.md": metrics_page,
    "docs/requirements.md": requirements_page,
    "docs/reference/apis.md": apis_page,
    "docs/reference/cli.md": cli_page,
    "docs/reference/configuration.md": config_page,
    "config.example.yaml": example,
}


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
