"""Read the keys of one mapping of a declaration one by one; what is left over is an error.

Plain words are read by the rules of YAML 1.2 (which are those of JSON): `on`, `012` and `2026-01-02` are texts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, NoReturn, cast

from brimgate.back.rest.model import Constant, Setting
from brimgate.config.tree import YamlMapping, YamlScalar, YamlSequence, YamlValue, read_document, shown
from brimgate.errors import ConfigError

_WORDS: Final = {"": None, "~": None, "null": None, "true": True, "false": False}


_WHOLE: Final = re.compile(r"[-+]?[0-9]{1,18}")


_NUMBER: Final = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,3})?")


Place = tuple[str, ...]
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
_MISSING: Final = object()


@dataclass(frozen=True, slots=True)
class File:
    """The file of some values, for error messages."""

    name: str
    lines: dict[Place, int] = field(default_factory=lambda: {})

    def error(self, place: Place, what: str) -> ConfigError:
        known = next((place[:end] for end in range(len(place), 0, -1) if place[:end] in self.lines), None)
        where = f"{self.name}:{self.lines[known]}" if known else self.name
        return ConfigError(f"{where}: {_dotted(place)}: {what}" if place else f"{where}: {what}")


def _dotted(place: Place) -> str:
    return ".".join(map(shown, place))


def read_values(data: bytes, name: str) -> tuple[dict[str, Any], File]:
    """Read a file. ConfigError says where it is wrong."""
    file = File(name)
    return _mapping(read_document(data, name, such_as="`name: my-api`"), (), file), file


def _value(value: YamlValue, place: Place, file: File) -> Any:
    file.lines.setdefault(place, value.line)
    match value:
        case YamlScalar():
            return value.text if value.quoted else _scalar(value.text)
        case YamlSequence():
            return [_value(item, (*place, str(at)), file) for at, item in enumerate(value.items)]
        case YamlMapping():
            return _mapping(value, place, file)


def _mapping(value: YamlMapping, place: Place, file: File) -> dict[str, Any]:
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


class Section:
    def __init__(self, file: File, place: Place, value: object) -> None:
        self._file, self._place = file, place
        if not isinstance(value, dict):
            raise file.error(place, "must hold keys and values")
        self._left = dict(cast("dict[str, Any]", value))
        self._known: list[str] = []

    def fail(self, key: str, what: str) -> NoReturn:
        raise self._file.error((*self._place, key) if key else self._place, what)

    def has(self, key: str) -> bool:
        return self._left.get(key) is not None

    def value(self, key: str, default: object = _MISSING) -> Any:
        self._known.append(key)
        value = self._left.pop(key, None)
        if value is not None:
            return value
        if default is _MISSING:
            self.fail(key, "is missing")
        return default

    def text(self, key: str, default: object = _MISSING, pattern: "re.Pattern[str] | None" = None) -> str:
        value = self.value(key, default)
        if not isinstance(value, str):
            self.fail(key, f"must be a text (in quotes, if need be), not {shown(value)}")
        if pattern is not None and value != default and not pattern.fullmatch(value):
            self.fail(key, f"must look like {pattern.pattern}, not {shown(value)}")
        return value

    def number(self, key: str, default: object, least: float, most: float) -> float:
        value = self.value(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            self.fail(key, f"must be a number from {least:g} to {most:g}, not {shown(value)}")
        return value

    def whole(self, key: str, default: object, least: int, most: int) -> int:
        value = self.value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.fail(key, f"must be a whole number from {least} to {most}, not {shown(value)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.value(key, default)
        if not isinstance(value, bool):
            self.fail(key, f"must be true or false, not {shown(value)}")
        return value

    def choice(self, key: str, options: Sequence[str], default: object = _MISSING) -> str:
        value = self.value(key, default)
        if value != default and value not in options:
            self.fail(key, f"must be one of {', '.join(options)}, not {shown(value)}")
        return cast("str", value)

    def pointer(self, key: str, default: object = _MISSING) -> str:
        """Read a JSON Pointer (RFC 6901): empty for the whole, else /member/member."""
        return self.checked_pointer(key, self.value(key, default))

    def checked_pointer(self, key: str, value: object) -> str:
        if not isinstance(value, str) or (value and not value.startswith("/")):
            self.fail(key, f"must be a JSON Pointer such as /result, not {shown(value)}")
        return value

    def inner(self, key: str, value: object) -> "Section":
        """Return the section of a value that was read."""
        return Section(self._file, (*self._place, key), value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.value(key, ())
        if not isinstance(value, list | tuple) or not all(
            isinstance(one, str) for one in cast("list[Any]", value)
        ):
            self.fail(key, "must be a list of texts")
        return tuple(cast("list[str]", value))

    def setting(self, key: str, default: object = _MISSING) -> Setting:
        """Read a text, or `{env: NAME}`, or `{env: NAME, default: a text}`; NAME may be a list of names."""
        value = self.value(key, default)
        if isinstance(value, dict):
            inner = self.inner(key, cast("object", value))
            text, names = inner.text("default", "") or None, inner.variables("env")
            inner.finish()
            return Setting(text, names[0], names[1:])
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.fail(key, "must be a text or {env: NAME_OF_A_VARIABLE}")
        return Setting(str(value))

    def variables(self, key: str) -> tuple[str, ...]:
        """Read the name of an environment variable, or several."""
        if not isinstance(self._left.get(key), list):
            return (self.text(key, pattern=_VARIABLE),)
        names = self.texts(key)
        if not names or not all(map(_VARIABLE.fullmatch, names)):
            self.fail(key, "must be names of environment variables")
        return names

    def constant(self, key: str) -> Constant:
        """Read a constant. Numbers and booleans stay as they are; a text may come from the environment."""
        value = self._left.get(key)
        return self.value(key) if isinstance(value, bool | int | float) else self.setting(key)

    def section(self, key: str) -> "Section | None":
        value = self.value(key, None)
        return None if value is None else Section(self._file, (*self._place, key), value)

    def sections(self, key: str) -> "Iterator[Section]":
        """Yield the sections of a list."""
        value = self.value(key, ())
        if not isinstance(value, list | tuple):
            self.fail(key, "must be a list")
        for at, one in enumerate(cast("list[Any]", value)):
            yield Section(self._file, (*self._place, key, str(at)), one)

    def named(self, key: str, pattern: "re.Pattern[str]") -> "Iterator[tuple[str, Section]]":
        """Yield the sections of a mapping, by name."""
        inner = self.section(key)
        if inner is None:
            return
        for name in list(inner._left):
            if not pattern.fullmatch(name):
                inner.fail(name, f"is no name here: it must look like {pattern.pattern}")
            yield name, Section(self._file, (*inner._place, name), inner.value(name, {}))

    def names(self) -> list[str]:
        return list(self._left)

    def finish(self) -> None:
        for key in self._left:
            near = get_close_matches(key[:60], self._known, 1)
            self.fail(
                key,
                f"unknown key; {f'did you mean {near[0]}?' if near else 'there are: ' + ', '.join(self._known)}",
            )
