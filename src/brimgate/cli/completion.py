"""`brimgate completion`: complete words when somebody presses the tab key in a shell."""

import argparse
import os
import re
import shlex
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from brimgate.cli import Commands
from brimgate.cli.calls.schema import as_mapping, choices_of, parameters, usable
from brimgate.cli.calls.target import remembered
from brimgate.cli.output import write_text
from brimgate.errors import BrimgateError

_EXAMPLE: Final = """example:
  eval "$(brimgate completion bash)"        # in ~/.bashrc
  eval "$(brimgate completion zsh)"         # in ~/.zshrc
  brimgate completion fish | source         # in ~/.config/fish/config.fish
"""
# Bash also ends a word at = and :, and replaces only the rest with our answer.
_BASH: Final = """_brimgate() {
  local line="${COMP_LINE:0:COMP_POINT}" word begin found
  word="${line##* }"
  begin="${word%"${word##*[=:]}"}"
  COMPREPLY=()
  while IFS= read -r found; do
    [ -n "$found" ] && COMPREPLY+=("${found#"$begin"}")
  done < <(brimgate completion --line "$line" 2>/dev/null)
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
}
complete -o default -F _brimgate brimgate
"""
_ZSH: Final = """_brimgate() {
  local -a found
  found=("${(@f)$(brimgate completion --line "$LBUFFER" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -Q -S '' -- $found; else _files; fi
}
compdef _brimgate brimgate
"""
_FISH: Final = """complete -c brimgate -a '(brimgate completion --line (commandline -cp) 2>/dev/null)'
"""
SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
_CALLING: Final = ("call", "tools")
_PLAIN_WORD: Final = re.compile(r"(?!-)[^\s|&;()<>$`\\\"'*?\[\]#~!{}^]+")
"""Words that a shell takes literally. The server chooses the names, and a shell inserts them into the user's line."""


def add_parser(commands: Commands) -> None:
    parser = commands.add_parser(
        "completion",
        help="complete commands, servers, tools and parameters in a shell",
        description="Print what makes a shell complete commands, options, servers of the configuration, and the tools and "
        "parameters that `brimgate call` and `brimgate tools` have seen of a server.",
        epilog=_EXAMPLE,
    )
    parser.add_argument("shell", choices=tuple(SCRIPTS), nargs="?", help="which one")
    parser.add_argument("--line", metavar="TEXT", help="print what may come next in this line; shells ask so")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.line is not None:
        write_text("".join(f"{one}\n" for one in candidates(options.line)))
        return 0
    write_text(SCRIPTS[options.shell or _shell()])
    return 0


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    return name if name in SCRIPTS else "bash"


def candidates(line: str) -> list[str]:
    """Return what the last word of a line may become."""
    words = _words(line)
    if "--" in words[:-1]:
        return []  # the command of a server, with words of its own
    current = words[-1]
    return sorted(one for one in set(_possible(words[1:-1], current)) if one.startswith(current))


def _words(line: str) -> list[str]:
    """Split like a shell. The last word is still being written and may be empty."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split, lexer.commenters = True, ""
    words: list[str] = []
    try:
        words.extend(lexer)
    except ValueError:  # a quote that is not closed yet
        words.append(line.rpartition(" ")[2].lstrip("'\""))
    return words if words and not line[-1:].isspace() else [*words, ""]


def _possible(before: Sequence[str], current: str) -> list[str]:
    from brimgate.cli.main import COMMANDS, build_parser

    if not before:
        return [*COMMANDS, "--help", "--version"]
    if before[0] not in COMMANDS:
        return []
    actions = _actions(build_parser((before[0],)), before[0])
    options = {text: action for action in actions for text in action.option_strings}
    asked = options.get(before[-1])
    if asked is not None and asked.nargs != 0:
        return _values(asked, before)
    if current.startswith("-"):
        return list(options)
    return _positional(before[0], _plain(before[1:], options), before, actions)


def _actions(parser: argparse.ArgumentParser, command: str) -> list[argparse.Action]:
    # argparse has no public way to ask a parser what it takes.
    subparsers = next(one for one in parser._actions if isinstance(one.choices, dict))  # pyright: ignore[reportPrivateUsage]
    chosen: Any = subparsers.choices
    return list(chosen[command]._actions)


def _values(action: argparse.Action, before: Sequence[str]) -> list[str]:
    if action.choices:
        return [str(one) for one in action.choices]
    if action.dest == "pack":
        return _pack_names()
    return _upstreams(before) if action.dest == "upstream" else []


def _plain(words: Sequence[str], options: dict[str, argparse.Action]) -> list[str]:
    """Return the words that are neither options nor their values."""
    plain: list[str] = []
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif word in options:
            is_value = options[word].nargs != 0
        elif not word.startswith("-"):
            plain.append(word)
    return plain


def _positional(
    command: str, words: Sequence[str], before: Sequence[str], actions: Sequence[argparse.Action]
) -> list[str]:
    if command == "packs":
        return _pack_names()
    if command not in _CALLING:
        return [str(one) for action in actions if not action.option_strings for one in action.choices or ()]
    if not words:
        return _upstreams(before)
    tools = {str(one.get("name")): one for one in remembered(words[0])}
    found = (
        list(tools) if len(words) == 1 else _parameters(tools.get(words[1], {})) if command == "call" else []
    )
    return [one for one in found if _PLAIN_WORD.fullmatch(one) and one.isprintable()]


def _parameters(tool: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name, about in parameters(usable(tool.get("inputSchema"))).items():
        values = [one for one in choices_of(as_mapping(about)) if isinstance(one, str)]
        found += [f"{name}=", *(f"{name}={value}" for value in values)]
    return found


def _pack_names() -> list[str]:
    from brimgate.packs.discovery import installed

    return list(installed())


def _upstreams(before: Sequence[str]) -> list[str]:
    from brimgate.config.sources import load

    given = next((after for one, after in pairwise(before) if one == "--config"), "")
    path = given or os.environ.get("BRIMGATE_CONFIG", "")
    try:
        return list(load(Path(path)).upstreams) if path else []
    except BrimgateError:
        return []
