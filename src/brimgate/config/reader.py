"""Read a configuration file: every key by its declaration, every mistake with its key and line."""

import re
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from brimgate.config.declarations import CALLER_BEARER, Config, Override
from brimgate.config.tree import YamlMapping, YamlScalar, YamlSequence, YamlValue, read_document, shown
from brimgate.engine.options import AUTO_WORD, Option, element_of, inner_of, option_of
from brimgate.errors import ConfigError

_MAX_NAMED: Final = 8
_MAX_NUMBER: Final = 10**12
"""Beyond it no value here makes sense, and sums of a few no longer fit 64 bits."""
_TRUE: Final = ("true", "yes", "on")
_FALSE: Final = ("false", "no", "off")
_WHOLE: Final = re.compile(r"[+-]?[0-9][0-9_]*")

Place = tuple[str, ...]
"""The path of a declared key."""
_MAX_HINTS: Final = 8
_AT_THE_TOP: Final = ("tools", "endpoints")
_WRONG: Final = object()
_NO_VALUE: Final = "has no value; write it in quotes if the word itself is meant"


def read_scalar(kind: Any, text: str, about: Option) -> tuple[Any, str]:
    """Return a value of the key's type, or None and what is wrong with the text."""
    if kind is str:
        return text, ""
    text = text.strip()
    if get_origin(kind) is Literal:
        allowed = get_args(kind)
        if text.lower() in allowed:
            return text.lower(), ""
        return None, f"must be one of {', '.join(allowed)}, not {text[:40]!r}"
    if kind is bool:
        if text.lower() in (*_TRUE, *_FALSE):
            return text.lower() in _TRUE, ""
        return None, f"must be true or false, not {text[:40]!r}"
    if get_origin(kind) is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip()), ""
    return _read_number(kind, text, about)


def _read_number(kind: Any, text: str, about: Option) -> tuple[Any, str]:
    if about.auto and text.lower() == AUTO_WORD:
        return 0, ""
    name = "a whole number" if kind is int else "a number"
    name = f"{AUTO_WORD} or {name}" if about.auto else name
    try:
        if kind is int and not _WHOLE.fullmatch(text):
            raise ValueError
        number = int(text.replace("_", "")) if kind is int else float(text)
    except ValueError:
        return None, f"must be {name}, not {text[:40]!r}"
    least, most = about.minimum or 0, _MAX_NUMBER if about.maximum is None else about.maximum
    if not number >= least:  # NaN too
        return None, f"must be {name} of at least {least:g}, not {text[:40]}"
    if number > most:
        return None, f"must be {name} of at most {most:g}, not {text[:40]}"
    return number, ""


def dotted(path: Place) -> str:
    return ".".join(map(shown, path))


def raise_all(complaints: list[str]) -> None:
    if complaints:
        more = len(complaints) - _MAX_NAMED
        raise ConfigError(
            "\n".join([*complaints[:_MAX_NAMED], *([f"… and {more} more"] if more > 0 else [])])
        )


def read_config(data: bytes, name: str) -> tuple[Config, dict[Place, str]]:
    """Return the configuration, and where in the file each key is."""
    document = read_document(data, name)
    reader = _Reader(name)
    at_the_top = {key: document.entries.pop(key) for key in _AT_THE_TOP if key in document.entries}
    config: Config = reader.section(Config, document, _Where((), ()))
    for key, given in at_the_top.items():
        config = reader.rules_at_the_top(config, key, given, document.lines[key])
    raise_all([text for _, text in sorted(reader.complaints, key=lambda one: one[0])])
    return config, {place: f"{name}:{line}" for place, line in reader.lines.items()}


@dataclass(frozen=True, slots=True)
class _Where:
    given: Place
    """The path as the file spells it."""
    place: Place
    """The path as it is declared."""

    def under(self, given: str, declared: str = "") -> "_Where":
        return _Where((*self.given, given), (*self.place, declared or given))


@dataclass
class _Reader:
    """Reads values by the types of their declarations, and collects all complaints instead of stopping at the first."""

    name: str
    complaints: list[tuple[int, str]] = field(default_factory=lambda: [])
    lines: dict[Place, int] = field(default_factory=lambda: {})

    def complain(self, line: int, where: _Where, what: str) -> None:
        self.complaints.append((line, f"{self.name}:{line}: {dotted(where.given)}: {what}"))

    def section(self, declaration: Any, given: YamlValue, where: _Where) -> Any:
        if isinstance(given, YamlScalar) and given.is_null:
            return declaration()
        if not isinstance(given, YamlMapping):
            self.complain(given.line, where, "must hold keys and values")
            return declaration()
        self._complain_of_repeated(given, where)
        hints = get_type_hints(declaration)
        known = {alias: one for one in fields(declaration) for alias in (one.name, *option_of(one).aliases)}
        values: dict[str, Any] = {}
        for key, value in given.entries.items():
            line, declared = given.lines[key], known.get(key)
            if declared is None:
                self.complain(line, where.under(key), f"unknown key; {self._hint(key, declaration, known)}")
            elif declared.name in values:
                self.complain(line, where.under(key), f"the same as {declared.name}, which is given too")
            else:
                here = where.under(key, declared.name)
                self.lines[here.place] = line
                values[declared.name] = self.value(hints[declared.name], value, here, option_of(declared))
        return declaration(**{name: value for name, value in values.items() if value is not _WRONG})

    def _complain_of_repeated(self, given: YamlMapping, where: _Where) -> None:
        for key, line in given.repeated:
            self.complain(line, where.under(key), f"is given twice (first in line {given.lines[key]})")

    def _hint(self, key: str, declaration: Any, known: AnyMapping[str, Any]) -> str:
        near = get_close_matches(key[:60], known, 1) if len(self.complaints) < _MAX_HINTS else []
        return (
            f"did you mean {near[0]}?"
            if near
            else f"there are: {', '.join(one.name for one in fields(declaration))}"
        )

    def rules_at_the_top(self, config: Config, key: str, given: YamlValue, line: int) -> Config:
        """Read `tools:` and `endpoints:` at the top of the file, where people look for them first."""
        where = _Where((key,), ("context_protection", key))
        if where.place in self.lines:
            inner = self.lines[where.place]
            self.complain(
                line, where, f"the same as context_protection.{key}, which is given in line {inner}"
            )
            return config
        self.lines[where.place] = line
        rules = self._mapping(dict[str, Override], given, where, Option(""))
        if rules is _WRONG:
            return config
        return replace(config, context_protection=replace(config.context_protection, **{key: rules}))

    def value(self, kind: Any, given: YamlValue, where: _Where, about: Option) -> Any:
        if is_dataclass(kind):
            return self.section(kind, given, where)
        if get_origin(kind) is dict:
            return self._mapping(kind, given, where, about)
        is_null = isinstance(given, YamlScalar) and given.is_null
        if inner_of(kind) != kind and is_null:
            return None
        kind = inner_of(kind)
        if get_origin(kind) is tuple:
            return () if is_null else self._sequence(given, where, about)
        if not isinstance(given, YamlScalar):
            if about.callers and isinstance(given, YamlMapping):
                return self._caller_value(given, where)
            self.complain(given.line, where, "must be a single value")
            return _WRONG
        if is_null and (kind is not str or given.text):
            self.complain(given.line, where, _NO_VALUE if kind is str else "has no value")
            return _WRONG
        value, wrong = read_scalar(kind, given.text, about)
        if wrong:
            self.complain(given.line, where, wrong)
            return _WRONG
        return value

    def _caller_value(self, given: YamlMapping, where: _Where) -> Any:
        """Read `{caller: bearer}`, which stands for the token of each caller."""
        told = {name: one.text for name, one in given.entries.items() if isinstance(one, YamlScalar)}
        if told != {"caller": "bearer"} or len(given.entries) > 1:
            self.complain(given.line, where, f"must be a text, or {CALLER_BEARER}")
            return _WRONG
        return CALLER_BEARER

    def _mapping(self, kind: Any, given: YamlValue, where: _Where, about: Option) -> Any:
        if isinstance(given, YamlScalar) and given.is_null:
            return {}
        if not isinstance(given, YamlMapping):
            self.complain(given.line, where, "must hold names and values")
            return _WRONG
        self._complain_of_repeated(given, where)
        inner = element_of(kind)
        read: dict[str, Any] = {}
        for name, value in given.entries.items():
            here = where.under(name)
            self.lines[here.place] = given.lines[name]
            read[name] = self.value(inner, value, here, about)
        return {name: value for name, value in read.items() if value is not _WRONG}

    def _sequence(self, given: YamlValue, where: _Where, about: Option) -> Any:
        if isinstance(given, YamlScalar) and not about.listed:
            return tuple(part.strip() for part in given.text.split(",") if part.strip())
        items = given.items if isinstance(given, YamlSequence) else []
        words = [item for item in items if isinstance(item, YamlScalar)]
        if not isinstance(given, YamlSequence) or len(words) < len(items):
            self.complain(given.line, where, "must be a list of words, such as [id, name]")
            return _WRONG
        empty = next((word for word in words if word.is_null), None)
        if empty is not None:
            self.complain(empty.line, where, f"an item {_NO_VALUE}")
            return _WRONG
        for number, word in enumerate(words):
            self.lines[*where.place, str(number)] = word.line
        return tuple(word.text for word in words)
