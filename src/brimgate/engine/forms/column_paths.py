"""Names of columns: the path from a row to a cell, as written in a header."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from brimgate.errors import InputError

_PLAIN: Final = re.compile(r"[^\s\d\x00-\x1f.\[\]\"=:|+?{}<>(),-][^.\[\]\"=:|+?{}(),\x00-\x1f]*")
_TEXT: Final = r"\"[^\"\\]*(?:\\.[^\"\\]*)*\"|[^.\[\]\"=:|+?{}(),\x00-\x1f]+"
_NAME: Final = re.compile(_TEXT)
_PART: Final = re.compile(rf"\[(\d+)\](\??)|\.?({_TEXT})(\??)")


@dataclass(frozen=True, slots=True)
class ColumnStep:
    """One step down: a key or a list position.

    If `nullable`, it is null in rows whose cells below it are all empty, and absent where all are `-`.
    """

    key: str | int
    nullable: bool = False


Path = tuple[ColumnStep, ...]


def path_text(path: Path) -> str:
    return join_parts([part_text(step) for step in path])


def part_text(step: ColumnStep) -> str:
    text = f"[{step.key}]" if isinstance(step.key, int) else name_text(step.key)
    return text + "?" if step.nullable else text


def join_parts(parts: list[str]) -> str:
    """Join steps with dots; a position follows without one."""
    return "".join(part if part[0] == "[" or not at else "." + part for at, part in enumerate(parts))


@lru_cache(2_000)
def name_text(key: str) -> str:
    plain = _PLAIN.fullmatch(key) is not None and not key.endswith(" ")
    return key if plain else json.dumps(key, ensure_ascii=False)


def read_name(text: str, at: int) -> tuple[str, int]:
    """Return the key that starts at `at`, and where it ends."""
    found = _NAME.match(text, at)
    if found is None:
        raise InputError(f"expected a name at {text[at : at + 20]!r}")
    return _key(found[0]), found.end()


def read_path(text: str, at: int) -> tuple[Path, int]:
    """Return the path that starts at `at`, and where it ends."""
    steps: list[ColumnStep] = []
    while found := _PART.match(text, at):
        if steps and found[3] is not None and text[at] != ".":
            break
        nullable = bool(found[2] or found[4])
        key = int(found[1]) if found[1] is not None else _key(found[3])
        steps.append(ColumnStep(key, nullable))
        at = found.end()
    if not steps:
        raise InputError(f"expected a column name at {text[at : at + 20]!r}")
    return tuple(steps), at


def _key(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text
