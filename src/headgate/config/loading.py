"""A configuration out of its sources: defaults, then the file, then the environment, then the command line."""

import os
import re
import types
from collections.abc import Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from headgate.config.declarations import Config, ContextProtection, Override
from headgate.config.document import MAX_BYTES, Mapping, Scalar, Sequence, Value, read_document, shown
from headgate.config.options import PREFIX, Key, Option, element_of, keys_of, option_of
from headgate.errors import ConfigError

OTHER_VARIABLES: Final = frozenset(("HEADGATE_CONFIG", "HEADGATE_STATE_DIR", "HEADGATE_CURSOR_KEY"))
_TRUE: Final = ("true", "yes", "on")
_FALSE: Final = ("false", "no", "off")
_MAX_NAMED: Final = 8
_MAX_NUMBER: Final = 10**12
"""Beyond it nothing here means anything, and sums of a few no longer fit 64 bits."""
_WHOLE: Final = re.compile(r"[+-]?[0-9][0-9_]*")
_TOOL_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")

Place = tuple[str, ...]
"""The path of a declared key."""


def load(
    path: Path | None = None,
    environment: AnyMapping[str, str] | None = None,
    overrides: AnyMapping[str, str] | None = None,
) -> Config:
    """The configuration in force. `overrides` are keys and values as given on the command line."""
    config, origins = (Config(), {}) if path is None else _read(read_file(path), str(path))
    environment = os.environ if environment is None else environment
    given = {
        key.name: (key.variable, environment[key.variable])
        for key in variables()
        if key.variable in environment
    }
    config = _override(config, given, origins)
    line = {name: (f"--set {name}", value) for name, value in (overrides or {}).items()}
    config = _override(config, line, origins)
    _check(config, str(path) if path else "configuration", origins)
    return config


def load_file(path: Path) -> Config:
    """What a file says by itself, without the environment."""
    return parse(read_file(path), str(path))


def read_file(path: Path) -> bytes:
    """As much of a file as can be a configuration, and one byte more where it is larger."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    except ValueError:  # a path with a NUL in it
        raise ConfigError(f"{shown(str(path))}: no such file") from None


def parse(data: bytes, name: str) -> Config:
    """What a file says; whatever is wrong in it is told at once, each with its key and line."""
    return _read(data, name)[0]


def _read(data: bytes, name: str) -> tuple[Config, dict[Place, str]]:
    """The configuration, and where in the file each key stands."""
    document = read_document(data, name)
    reader = _Reader(name)
    tools = document.entries.pop("tools", None)
    config: Config = reader.section(Config, document, _Where((), ()))
    if tools is not None:
        config = reader.tools_at_the_top(config, tools, document.lines["tools"])
    _raise([text for _, text in sorted(reader.complaints, key=lambda one: one[0])])
    return config, {place: f"{name}:{line}" for place, line in reader.lines.items()}


def _raise(complaints: list[str]) -> None:
    if complaints:
        more = len(complaints) - _MAX_NAMED
        raise ConfigError(
            "\n".join([*complaints[:_MAX_NAMED], *([f"… and {more} more"] if more > 0 else [])])
        )


def variables() -> list[Key]:
    """The keys that an environment variable overrides."""
    found = [key for key in keys_of(Config) if key.variable and len(key.path) == 1]
    found += [key for key in keys_of(ContextProtection, ("context_protection",)) if key.variable]
    return found


def unknown_variables(environment: AnyMapping[str, str]) -> list[str]:
    known = {key.variable for key in variables()} | OTHER_VARIABLES
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


@dataclass(frozen=True, slots=True)
class _Where:
    given: Place
    """As the file spells it."""
    place: Place
    """As it is declared."""

    def under(self, given: str, declared: str = "") -> "_Where":
        return _Where((*self.given, given), (*self.place, declared or given))


@dataclass
class _Reader:
    """Reads values by the types of their declarations, and notes every complaint instead of stopping at the first."""

    name: str
    complaints: list[tuple[int, str]] = field(default_factory=lambda: [])
    lines: dict[Place, int] = field(default_factory=lambda: {})

    def complain(self, line: int, where: _Where, what: str) -> None:
        self.complaints.append((line, f"{self.name}:{line}: {_dotted(where.given)}: {what}"))

    def section(self, declaration: Any, given: Value, where: _Where) -> Any:
        if isinstance(given, Scalar) and given.is_null:
            return declaration()
        if not isinstance(given, Mapping):
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

    def _complain_of_repeated(self, given: Mapping, where: _Where) -> None:
        for key, line in given.repeated:
            self.complain(line, where.under(key), f"is given twice (first in line {given.lines[key]})")

    def _hint(self, key: str, declaration: Any, known: AnyMapping[str, Any]) -> str:
        near = get_close_matches(key[:60], known, 1) if len(self.complaints) < _MAX_NAMED else []
        return (
            f"did you mean {near[0]}?"
            if near
            else f"there are: {', '.join(one.name for one in fields(declaration))}"
        )

    def tools_at_the_top(self, config: Config, given: Value, line: int) -> Config:
        """`tools:` may also stand at the top of the file, where one looks for it first."""
        where = _Where(("tools",), ("context_protection", "tools"))
        if where.place in self.lines:
            inner = self.lines[where.place]
            self.complain(line, where, f"the same as context_protection.tools, which is given in line {inner}")
            return config
        self.lines[where.place] = line
        tools = self._mapping(dict[str, Override], given, where, Option(""))
        if tools is _WRONG:
            return config
        return replace(config, context_protection=replace(config.context_protection, tools=tools))

    def value(self, kind: Any, given: Value, where: _Where, about: Option) -> Any:
        if is_dataclass(kind):
            return self.section(kind, given, where)
        if get_origin(kind) is dict:
            return self._mapping(kind, given, where, about)
        is_null = isinstance(given, Scalar) and given.is_null
        if _inner(kind) != kind and is_null:
            return None
        kind = _inner(kind)
        if get_origin(kind) is tuple:
            return () if is_null else self._sequence(given, where, about)
        if not isinstance(given, Scalar):
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

    def _mapping(self, kind: Any, given: Value, where: _Where, about: Option) -> Any:
        if isinstance(given, Scalar) and given.is_null:
            return {}
        if not isinstance(given, Mapping):
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

    def _sequence(self, given: Value, where: _Where, about: Option) -> Any:
        if isinstance(given, Scalar) and not about.listed:
            return tuple(part.strip() for part in given.text.split(",") if part.strip())
        items = given.items if isinstance(given, Sequence) else []
        words = [item for item in items if isinstance(item, Scalar)]
        if not isinstance(given, Sequence) or len(words) < len(items):
            self.complain(given.line, where, "must be a list of words, such as [id, name]")
            return _WRONG
        empty = next((word for word in words if word.is_null), None)
        if empty is not None:
            self.complain(empty.line, where, f"an item {_NO_VALUE}")
            return _WRONG
        return tuple(word.text for word in words)


_WRONG: Final = object()
_NO_VALUE: Final = "has no value; write it in quotes if the word itself is meant"


def _dotted(path: Place) -> str:
    return ".".join(map(shown, path))


def _inner(kind: Any) -> Any:
    """X of `X | None`."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(one for one in get_args(kind) if one is not type(None))
    return kind


def read_scalar(kind: Any, text: str, about: Option) -> tuple[Any, str]:
    """A value of the type a key has, or what is wrong with it."""
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
    name = "a whole number" if kind is int else "a number"
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


def _override(
    config: Config, given: AnyMapping[str, tuple[str, str]], origins: dict[Place, str]
) -> Config:
    """Single values by the names of their keys, each with the name of where it comes from."""
    known = {key.name: key for key in variables()} | {key.path[-1]: key for key in variables()}
    changes: dict[Place, dict[str, Any]] = {(): {}, ("context_protection",): {}}
    complaints: list[str] = []
    for name, (origin, text) in given.items():
        key = known.get(name)
        if key is None:
            near = get_close_matches(name[:60], known, 1)
            complaints.append(
                f"{shown(origin)}: unknown key{f'; did you mean {near[0]}?' if near else ''}"
            )
            continue
        value, wrong = read_scalar(_inner(key.type), text.strip(), key.option)
        if wrong:
            complaints.append(f"{origin}: {key.name}: {wrong}")
        changes[key.path[:-1]][key.path[-1]] = value
        origins[key.path] = origin
    _raise(complaints)
    protection = replace(config.context_protection, **changes["context_protection",])
    return replace(config, context_protection=protection, **changes[()])


def _check(config: Config, name: str, origins: AnyMapping[Place, str]) -> None:
    """What no key can know alone."""
    from headgate.config.policies import contradictions

    found = [*contradictions(config), *_impossible(config)]
    complaints: list[str] = []
    for places, what in found:
        origin = next((origins[place] for place in places if place in origins), name)
        complaints.append(f"{origin}: {_dotted(places[0])}: {what}")
    _raise(complaints)


def _impossible(config: Config) -> Iterator[tuple[tuple[Place, ...], str]]:
    if not _TOOL_NAME.fullmatch(config.read_tool):
        what = f"must be a name of 1 to 64 letters, digits, _, - or ., not {config.read_tool[:40]!r}"
        yield (("read_tool",),), what
    for name, one in config.upstreams.items():
        home = ("upstreams", name)
        if not one.command:
            yield ((*home, "command"), home), "is missing"
        for key, texts in (("command", (one.command,)), ("args", one.args), ("cwd", (one.cwd,))):
            if any("\0" in text for text in texts):
                yield ((*home, key),), "holds a NUL character, which no command line can"
        for variable, text in one.env.items():
            if not variable or "=" in variable or "\0" in variable + text:
                what = "is not the name of a variable, or its value holds a NUL character"
                yield ((*home, "env", variable),), what
