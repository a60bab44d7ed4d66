"""A YAML or JSON file as a tree of plain values with line numbers. Types come from the declarations, not from YAML.

So `on`, `012` and `1:30` mean what their key says, and every complaint can name a line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from brimgate.errors import ConfigError

MAX_BYTES: Final = 1 << 20
"""The largest size of a file."""
MAX_VALUES: Final = 20_000
MAX_DEPTH: Final = 20
_CORE: Final = "tag:yaml.org,2002:"
_TAGS: Final = (None, "!", *(_CORE + name for name in ("str", "int", "float", "bool", "null", "seq", "map")))
_NULLS: Final = ("", "~", "null", "Null", "NULL")
_SURROGATES: Final = re.compile(
    r"(?<!\\)((?:\\\\)*)\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
)


@dataclass(frozen=True, slots=True)
class YamlScalar:
    text: str
    line: int
    quoted: bool = False
    height: int = 0

    @property
    def weight(self) -> int:
        return 1 + len(self.text) // 100

    @property
    def is_null(self) -> bool:
        return not self.quoted and self.text in _NULLS


@dataclass(slots=True)
class YamlSequence:
    line: int
    items: "list[YamlValue]" = field(default_factory=lambda: [])
    weight: int = 1
    """How many values it stands for: aliases count as what they repeat, long texts as several."""
    height: int = 0
    """The number of levels below it."""


@dataclass(slots=True)
class YamlMapping:
    line: int
    entries: "dict[str, YamlValue]" = field(default_factory=lambda: {})
    lines: dict[str, int] = field(default_factory=lambda: {})
    repeated: list[tuple[str, int]] = field(default_factory=lambda: [])
    """Keys that were given before, with the line where they are given again."""
    weight: int = 1
    height: int = 0


YamlValue = YamlScalar | YamlSequence | YamlMapping


def shown(word: object) -> str:
    """Shorten something from a file for a message: short, and on one line."""
    text = str(word)
    short = text if len(text) <= 60 else f"{text[:60]}…"
    return short if short.isprintable() else ascii(short)[1:-1]


def read_document(data: bytes, name: str, *, such_as: str = "`context_protection:`") -> YamlMapping:
    """Return the tree of a file. ConfigError says where it is wrong. `such_as` is an example of its content."""
    if len(data) > MAX_BYTES:
        raise ConfigError(f"{name}: larger than {MAX_BYTES:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: not UTF-8 at byte {error.start}") from None
    if text.lstrip()[:1] == "{":
        text = _json_as_yaml(text)
    tree = _Composer(name, _events(text, name)).compose()
    if isinstance(tree, YamlScalar) and tree.is_null:
        return YamlMapping(1)
    if not isinstance(tree, YamlMapping):
        raise ConfigError(f"{name}:{tree.line}: the file must hold keys and values, such as {such_as}")
    return tree


def _json_as_yaml(text: str) -> str:
    """Turn JSON into YAML. Replace tabs (strings have none), and join surrogate pairs written as two escapes."""
    text = text.replace("\t", " ")
    return _SURROGATES.sub(
        lambda found: (
            found[1] + chr(0x10000 + ((int(found[2], 16) & 0x3FF) << 10) + (int(found[3], 16) & 0x3FF))
        ),
        text,
    )


def _events(text: str, name: str) -> Iterator[Any]:
    """Yield the events of a file one by one: its tree may be too deep or too large to build."""
    import yaml  # 20 ms, and only needed with a file

    parse: Any = getattr(yaml, "parse")  # noqa: B009  # it has no types
    try:
        yield from parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        mark: Any = error.problem_mark or error.context_mark
        line: int = mark.line + 1 if mark else 1
        raise ConfigError(f"{name}:{line}: {_problem(text, line, error.problem)}") from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{name}:{line}: a character that YAML does not allow") from None
    except (yaml.YAMLError, ValueError) as error:
        raise ConfigError(f"{name}:1: not YAML: {str(error)[:100]}") from None


def _problem(text: str, line: int, problem: str | None) -> str:
    around = text.split("\n")[max(line - 2, 0) : line]
    if any("\t" in one[: len(one) - len(one.lstrip())] for one in around):
        return "YAML is indented by spaces, not by tabs"
    return f"not YAML: {problem or 'it ends too early'}"


class _Composer:
    """Builds the tree, and stops when it grows too large: by depth, or by aliases that stand for aliases."""

    def __init__(self, name: str, events: Iterator[Any]) -> None:
        self._name = name
        self._events = events
        self._anchors: dict[str, YamlValue | None] = {}
        self._weight = 0
        self._path: list[str] = []

    def compose(self) -> YamlValue:
        next(self._events)
        tree: YamlValue | None = None
        for event in self._events:
            match type(event).__name__:
                case "DocumentStartEvent" if tree is not None:
                    raise self._error(event, "a second document (---) begins here; one is all there can be")
                case "DocumentStartEvent" | "DocumentEndEvent" | "StreamEndEvent":
                    continue
                case _:
                    tree = self._value(event, 0)
        return tree or YamlScalar("", 1)

    def _error(self, event: Any, what: str) -> ConfigError:
        where = f"{'.'.join(self._path)}: " if self._path else ""
        return ConfigError(f"{self._name}:{event.start_mark.line + 1}: {where}{what}")

    def _value(self, event: Any, depth: int) -> YamlValue:
        kind = type(event).__name__
        if kind == "AliasEvent":
            return self._alias(event, depth)
        if event.tag not in _TAGS:
            raise self._error(event, f"tags such as {shown(event.tag)} are not used here")
        self._grow(event, 1, depth)
        if event.anchor:
            self._anchors[event.anchor] = None
        if kind == "ScalarEvent":
            value: YamlValue = self._scalar(event)
            self._grow(event, value.weight - 1, depth)
        elif kind == "SequenceStartEvent":
            value = self._sequence(event, depth)
        else:
            value = self._mapping(event, depth)
        if event.anchor:
            self._anchors[event.anchor] = value
        return value

    def _grow(self, event: Any, weight: int, depth: int) -> None:
        self._weight += weight
        if self._weight > MAX_VALUES:
            raise self._error(event, f"more than {MAX_VALUES:,} values (aliases that stand for aliases?)")
        if depth > MAX_DEPTH:
            raise self._error(event, f"nested deeper than {MAX_DEPTH} levels")

    def _alias(self, event: Any, depth: int) -> YamlValue:
        if event.anchor not in self._anchors:
            raise self._error(event, f"there is no &{shown(event.anchor)} before this *{shown(event.anchor)}")
        value = self._anchors[event.anchor]
        if value is None:
            raise self._error(event, f"*{shown(event.anchor)} stands within what it stands for")
        self._grow(event, value.weight, depth + value.height)
        return value

    def _scalar(self, event: Any) -> YamlScalar:
        return YamlScalar(_clean(event.value), event.start_mark.line + 1, event.style in ("'", '"', "|", ">"))

    def _sequence(self, event: Any, depth: int) -> YamlSequence:
        made = YamlSequence(event.start_mark.line + 1)
        while type(event := next(self._events)).__name__ != "SequenceEndEvent":
            item = self._value(event, depth + 1)
            made.items.append(item)
            made.weight += item.weight
            made.height = max(made.height, item.height + 1)
        return made

    def _mapping(self, event: Any, depth: int) -> YamlMapping:
        made = YamlMapping(event.start_mark.line + 1)
        while type(event := next(self._events)).__name__ != "MappingEndEvent":
            key, line = self._key(event, depth + 1), event.start_mark.line + 1
            self._path.append(shown(key))
            value = self._value(next(self._events), depth + 1)
            self._path.pop()
            if key in made.entries:
                made.repeated.append((key, line))
            else:
                made.entries[key], made.lines[key] = value, line
            made.weight += value.weight
            made.height = max(made.height, value.height + 1)
        return made

    def _key(self, event: Any, depth: int) -> str:
        if type(event).__name__ == "ScalarEvent" and event.value == "<<" and not event.style:
            raise self._error(
                event, "merge keys (<<) are not used here; an alias can stand for a whole value"
            )
        key = self._value(event, depth)
        if not isinstance(key, YamlScalar):
            raise self._error(event, "a key must be a word")
        return key.text


def _clean(text: str) -> str:
    """Replace half of a surrogate pair, which some parsers let pass: it could not be written anywhere."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
