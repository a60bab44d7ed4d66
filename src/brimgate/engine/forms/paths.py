"""How a column is named: keys joined by dots, list positions in brackets, `?` after an object that may be null."""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from brimgate.errors import InputError


@dataclass(frozen=True, slots=True)
class Step:
    """One step down: a key or a list position. `nullable`: null in the rows whose cells below it are all empty."""

    key: str | int
    nullable: bool = False


Path = tuple[Step, ...]

_PLAIN: Final = re.compile(r"[^\s\d\x00-\x1f.\[\]\"=:|+?{}<>,-][^.\[\]\"=:|+?{}\x00-\x1f]*")
_PART: Final = re.compile(
    r"\[(\d+)\](\??)|\.?(\"[^\"\\]*(?:\\.[^\"\\]*)*\"|[^.\[\]\"=:|+?{}\x00-\x1f]+)(\??)"
)


def path_text(path: Path) -> str:
    parts: list[str] = []
    for step in path:
        if isinstance(step.key, int):
            parts.append(f"[{step.key}]")
        else:
            parts.append(("." if parts else "") + _name(step.key))
        if step.nullable:
            parts.append("?")
    return "".join(parts)


@lru_cache(2_000)
def _name(key: str) -> str:
    plain = _PLAIN.fullmatch(key) is not None and not key.endswith(" ")
    return key if plain else json.dumps(key, ensure_ascii=False)


def read_path(text: str, at: int) -> tuple[Path, int]:
    """The path that starts at `at`, and where it ends."""
    steps: list[Step] = []
    while found := _PART.match(text, at):
        if steps and found[3] is not None and text[at] != ".":
            break
        nullable = bool(found[2] or found[4])
        key = int(found[1]) if found[1] is not None else _key(found[3])
        steps.append(Step(key, nullable))
        at = found.end()
    if not steps:
        raise InputError(f"expected a column name at {text[at : at + 20]!r}")
    return tuple(steps), at


def _key(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text
