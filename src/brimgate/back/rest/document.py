"""A declaration as plain values, with the line of each.

Plain words are read by the rules of YAML 1.2 (which are those of JSON): `on`, `012` and `2026-01-02` are texts.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from brimgate.config.tree import Mapping, Scalar, Sequence, Value, shown
from brimgate.config.tree import read_document as read_tree
from brimgate.errors import ConfigError

__all__ = ["File", "Place", "read_document", "shown"]

_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}
_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")
_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,3})?")

Place = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class File:
    """Where values come from, for those who complain of them."""

    name: str
    lines: dict[Place, int] = field(default_factory=lambda: {})

    def error(self, place: Place, what: str) -> ConfigError:
        known = next((place[:end] for end in range(len(place), 0, -1) if place[:end] in self.lines), None)
        where = f"{self.name}:{self.lines[known]}" if known else self.name
        return ConfigError(f"{where}: {_dotted(place)}: {what}" if place else f"{where}: {what}")


def _dotted(place: Place) -> str:
    return ".".join(map(shown, place))


def read_document(data: bytes, name: str) -> tuple[dict[str, Any], File]:
    """ConfigError says where the file is wrong."""
    file = File(name)
    return _mapping(read_tree(data, name, such_as="`name: my-api`"), (), file), file


def _value(value: Value, place: Place, file: File) -> Any:
    file.lines.setdefault(place, value.line)
    match value:
        case Scalar():
            return value.text if value.quoted else _scalar(value.text)
        case Sequence():
            return [_value(item, (*place, str(at)), file) for at, item in enumerate(value.items)]
        case Mapping():
            return _mapping(value, place, file)


def _mapping(value: Mapping, place: Place, file: File) -> dict[str, Any]:
    if value.repeated:
        raise file.error((*place, value.repeated[0][0]), "is given twice")
    made: dict[str, Any] = {}
    for key, inner in value.entries.items():
        file.lines[(*place, key)] = value.lines[key]
        made[key] = _value(inner, (*place, key), file)
    return made


def _scalar(text: str) -> Any:
    word = text if text in _WORDS else text.lower()
    if word in _WORDS:
        return _WORDS[word]
    if _WHOLE.fullmatch(text):
        return text if len(text.lstrip("+-")) > 1 and text.lstrip("+-")[0] == "0" else int(text)
    return float(text) if _NUMBER.fullmatch(text) else text
