"""Calls written down to be measured: one JSON object a line, with the answer or to be made live."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from brimgate.errors import InputError
from brimgate.packs.pack import SAMPLES_FILE, Pack

_WANTED = 'must be {"tool": NAME, "arguments": {…}, "answer": …}; without an answer it is called live'


@dataclass(frozen=True, slots=True)
class Recorded:
    tool: str
    arguments: dict[str, Any]
    answer: bytes = b""
    """As JSON; empty if it is to be asked for."""


def read_calls(path: Path) -> list[Recorded]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    found = parse_calls(data, str(path))
    if not found:
        raise InputError(f"{path}: holds no calls; a line {_WANTED}")
    return found


def samples_of(pack: Pack) -> list[Recorded]:
    return parse_calls(pack.file(SAMPLES_FILE), f"{pack.name}/{SAMPLES_FILE}")


def parse_calls(data: bytes, name: str) -> list[Recorded]:
    lines = ((number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip())
    return [_parse(line, f"{name}:{number}") for number, line in lines]


def _parse(line: bytes, where: str) -> Recorded:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{where}: is not JSON: {error}") from None
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    tool, arguments = members.get("tool"), members.get("arguments", {})
    if not isinstance(tool, str) or not tool or not isinstance(arguments, dict):
        raise InputError(f"{where}: {_WANTED}")
    try:
        answer = json.dumps(members["answer"], ensure_ascii=False).encode() if "answer" in members else b""
    except UnicodeEncodeError:
        raise InputError(
            f"{where}: half of a character (\\ud800 to \\udfff without the other half)"
        ) from None
    return Recorded(tool, cast("dict[str, Any]", arguments), answer)
