"""A YAML file as plain values, with the line of each: small, without repeated keys, and no deeper than it must be.

Plain words are read by the rules of YAML 1.2 (which are those of JSON): `on`, `012` and `2026-01-02` are texts.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.errors import ConfigError

MAX_BYTES: Final = 1 << 20
MAX_VALUES: Final = 50_000
MAX_DEPTH: Final = 30
_CORE: Final = "tag:yaml.org,2002:"
_TAGS: Final = (None, "!", *(_CORE + name for name in ("str", "int", "float", "bool", "null", "seq", "map")))
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
        return ConfigError(f"{where}: {dotted(place)}: {what}" if place else f"{where}: {what}")


def dotted(place: Place) -> str:
    return ".".join(map(shown, place))


def shown(word: object) -> str:
    """Something of the file as it may stand in a message: short, and on one line."""
    text = str(word)
    short = text if len(text) <= 60 else f"{text[:60]}…"
    return short if short.isprintable() else ascii(short)[1:-1]


def read_document(data: bytes, name: str) -> tuple[dict[str, Any], File]:
    """ConfigError says where the file is wrong."""
    file = File(name)
    if len(data) > MAX_BYTES:
        raise file.error((), f"larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise file.error((), f"not UTF-8 at byte {error.start}") from None
    tree = _Composer(file, _events(text, file)).compose()
    if not isinstance(tree, dict):
        raise file.error((), "must hold keys and values, such as `name: my-api`")
    return tree, file  # pyright: ignore[reportUnknownVariableType]  # whatever the file says


def _events(text: str, file: File) -> Iterator[Any]:
    """One after the other: the tree may be too deep or too large to be made."""
    import yaml  # 20 ms, and only for those who have a file

    parse: Any = getattr(yaml, "parse")  # noqa: B009  # it has no types
    try:
        yield from parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        line: int = mark.line + 1 if mark else 1
        raise ConfigError(f"{file.name}:{line}: not YAML: {error.problem or 'it ends too early'}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{file.name}:1: not YAML: {shown(error)}") from None


class _Composer:
    """Makes the values, and stops where they grow beyond all measure: by depth, or by aliases of aliases."""

    def __init__(self, file: File, events: Iterator[Any]) -> None:
        self._file, self._events = file, events
        self._anchors: dict[str, tuple[Any, int, int]] = {}
        """A value, how many values it stands for, and how deep it goes."""
        self._weight = 0
        self._deepest = 0

    def compose(self) -> Any:
        tree, count = None, 0
        for event in self._events:
            if type(event).__name__ not in (
                "StreamStartEvent",
                "StreamEndEvent",
                "DocumentStartEvent",
                "DocumentEndEvent",
            ):
                tree, count = self._value(event, ()), count + 1
        if count > 1:
            raise self._file.error((), "holds a second document (---); one is all there can be")
        return tree

    def _value(self, event: Any, place: Place) -> Any:
        kind = type(event).__name__
        self._file.lines.setdefault(place, event.start_mark.line + 1)
        if kind == "AliasEvent":
            return self._alias(event, place)
        if event.tag not in _TAGS:
            raise self._file.error(place, f"tags such as {shown(event.tag)} are not used here")
        self._grow(1, place)
        before, self._deepest = (self._weight, self._deepest), len(place)
        if kind == "ScalarEvent":
            value: Any = self._scalar(event)
        elif kind == "SequenceStartEvent":
            value = self._sequence(place)
        else:
            value = self._mapping(place)
        if event.anchor:
            self._anchors[event.anchor] = value, self._weight - before[0] + 1, self._deepest - len(place)
        self._deepest = max(self._deepest, before[1])
        return value

    def _grow(self, weight: int, place: Place, below: int = 0) -> None:
        self._weight += weight
        if self._weight > MAX_VALUES:
            raise self._file.error(place[:4], f"more than {MAX_VALUES:,} values (aliases of aliases?)")
        if len(place) + below > MAX_DEPTH:
            raise self._file.error(place[:4], f"nested deeper than {MAX_DEPTH} levels")

    def _alias(self, event: Any, place: Place) -> Any:
        if event.anchor not in self._anchors:
            raise self._file.error(place, f"there is no complete &{shown(event.anchor)} before this")
        value, weight, below = self._anchors[event.anchor]
        self._grow(weight, place, below)
        self._deepest = max(self._deepest, len(place) + below)
        return value

    def _scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.style in ("'", '"', "|", ">") or event.tag == f"{_CORE}str":
            return text
        word = text if text in _WORDS else text.lower()
        if word in _WORDS:
            return _WORDS[word]
        if _WHOLE.fullmatch(text):
            return text if len(text.lstrip("+-")) > 1 and text.lstrip("+-")[0] == "0" else int(text)
        return float(text) if _NUMBER.fullmatch(text) else text

    def _sequence(self, place: Place) -> list[Any]:
        made: list[Any] = []
        while type(event := next(self._events)).__name__ != "SequenceEndEvent":
            made.append(self._value(event, (*place, str(len(made)))))
        return made

    def _mapping(self, place: Place) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while type(event := next(self._events)).__name__ != "MappingEndEvent":
            if type(event).__name__ != "ScalarEvent" or event.value == "<<":
                raise self._file.error(place, "a key must be a plain word; merge keys (<<) are not used here")
            key: str = event.value
            if key in made:
                raise self._file.error((*place, key), "is given twice")
            self._file.lines[(*place, key)] = event.start_mark.line + 1
            made[key] = self._value(next(self._events), (*place, key))
        return made
