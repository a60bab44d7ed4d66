"""A configuration out of its sources: defaults, then the file, then the environment, then the command line."""

import os
import types
from collections.abc import Iterable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from headgate.config.declarations import Config, ContextProtection
from headgate.config.document import Mapping, Scalar, Sequence, Value, read_document
from headgate.config.options import PREFIX, Key, Option, element_of, keys_of, option_of
from headgate.errors import ConfigError

OTHER_VARIABLES: Final = frozenset(("HEADGATE_CONFIG", "HEADGATE_STATE_DIR", "HEADGATE_CURSOR_KEY"))
_TRUE: Final = ("true", "yes", "on")
_FALSE: Final = ("false", "no", "off")
_MAX_NAMED: Final = 8


def load(
    path: Path | None = None,
    environment: AnyMapping[str, str] | None = None,
    overrides: AnyMapping[str, str] | None = None,
) -> Config:
    """The configuration in force. `overrides` are keys and values as given on the command line."""
    config = load_file(path) if path is not None else Config()
    environment = os.environ if environment is None else environment
    given = {
        key.name: (key.variable, environment[key.variable])
        for key in variables()
        if key.variable in environment
    }
    config = _override(config, given)
    config = _override(config, {name: (f"--set {name}", value) for name, value in (overrides or {}).items()})
    _check(config, str(path) if path else "configuration")
    return config


def load_file(path: Path) -> Config:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from None
    return parse(data, path.name)


def parse(data: bytes, name: str) -> Config:
    """What a file says; whatever is wrong in it is told at once, each with its key and line."""
    document = read_document(data, name)
    if "tools" in document.entries:
        document = _tools_moved(document, name)
    reader = _Reader(name)
    config = reader.section(Config, document, ())
    if reader.complaints:
        shown = reader.complaints[:_MAX_NAMED]
        more = len(reader.complaints) - len(shown)
        raise ConfigError("\n".join([*shown, *([f"… and {more} more"] if more else [])]))
    return config


def variables() -> list[Key]:
    """The keys that an environment variable overrides."""
    found = [key for key in keys_of(Config) if key.variable and len(key.path) == 1]
    found += [key for key in keys_of(ContextProtection, ("context_protection",)) if key.variable]
    return found


def unknown_variables(environment: AnyMapping[str, str]) -> list[str]:
    known = {key.variable for key in variables()} | OTHER_VARIABLES
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


def _tools_moved(document: Mapping, name: str) -> Mapping:
    """`tools:` may also stand at the top of the file, where one looks for it first."""
    inner = document.entries.get("context_protection", Mapping({}, {}, document.lines["tools"]))
    if not isinstance(inner, Mapping):
        return document
    if "tools" in inner.entries:
        raise ConfigError(
            f"{name}:{document.lines['tools']}: tools is given twice, here and in context_protection"
        )
    line = document.lines["tools"]
    moved = Mapping(
        inner.entries | {"tools": document.entries["tools"]}, inner.lines | {"tools": line}, inner.line
    )
    entries = {key: value for key, value in document.entries.items() if key != "tools"}
    lines = {"context_protection": line} | document.lines
    return Mapping(entries | {"context_protection": moved}, lines, document.line)


@dataclass
class _Reader:
    """Reads values by the types of their declarations, and notes every complaint instead of stopping at the first."""

    name: str
    complaints: list[str] = field(default_factory=lambda: [])

    def complain(self, line: int, path: tuple[str, ...], what: str) -> None:
        place = f"{self.name}:{line}: " if line else f"{self.name}: "
        self.complaints.append(f"{place}{'.'.join(path)}: {what}")

    def section(self, declaration: Any, given: Value, path: tuple[str, ...]) -> Any:
        if isinstance(given, Scalar) and given.is_null:
            return declaration()
        if not isinstance(given, Mapping):
            self.complain(given.line, path, "must hold keys and values")
            return declaration()
        hints = get_type_hints(declaration)
        names = {
            alias: one.name for one in fields(declaration) for alias in (one.name, *option_of(one).aliases)
        }
        values: dict[str, Any] = {}
        for key, value in given.entries.items():
            line = given.lines[key]
            if key not in names:
                near = get_close_matches(key, names, 1)
                hint = (
                    f"did you mean {near[0]}?"
                    if near
                    else f"there are: {', '.join(one.name for one in fields(declaration))}"
                )
                self.complain(line, (*path, key), f"unknown key; {hint}")
            elif names[key] in values:
                self.complain(line, (*path, key), f"the same as {names[key]}, which is given too")
            else:
                declared = next(one for one in fields(declaration) if one.name == names[key])
                values[names[key]] = self.value(hints[names[key]], value, (*path, key), option_of(declared))
        return declaration(**{name: value for name, value in values.items() if value is not _WRONG})

    def value(self, kind: Any, given: Value, path: tuple[str, ...], about: Option) -> Any:
        if is_dataclass(kind):
            return self.section(kind, given, path)
        if get_origin(kind) is dict:
            return self._mapping(kind, given, path, about)
        if _inner(kind) != kind and isinstance(given, Scalar) and given.is_null:
            return None
        kind = _inner(kind)
        if get_origin(kind) is tuple:
            return self._sequence(given, path)
        if not isinstance(given, Scalar):
            self.complain(given.line, path, "must be a single value")
            return _WRONG
        value, wrong = read_scalar(kind, given.text, about)
        if wrong or (given.is_null and kind is not str):
            self.complain(given.line, path, wrong or "has no value")
            return _WRONG
        return value

    def _mapping(self, kind: Any, given: Value, path: tuple[str, ...], about: Option) -> Any:
        if isinstance(given, Scalar) and given.is_null:
            return {}
        if not isinstance(given, Mapping):
            self.complain(given.line, path, "must hold names and values")
            return _WRONG
        inner = element_of(kind)
        read = {name: self.value(inner, value, (*path, name), about) for name, value in given.entries.items()}
        return {name: value for name, value in read.items() if value is not _WRONG}

    def _sequence(self, given: Value, path: tuple[str, ...]) -> Any:
        if isinstance(given, Scalar):
            return tuple(part.strip() for part in given.text.split(",") if part.strip())
        if not isinstance(given, Sequence) or not all(isinstance(item, Scalar) for item in given.items):
            self.complain(given.line, path, "must be a list of words, such as [id, name]")
            return _WRONG
        return tuple(item.text for item in given.items if isinstance(item, Scalar))


_WRONG: Final = object()


def _inner(kind: Any) -> Any:
    """X of `X | None`."""
    if get_origin(kind) in (Union, types.UnionType):
        return next(one for one in get_args(kind) if one is not type(None))
    return kind


def read_scalar(kind: Any, text: str, about: Option) -> tuple[Any, str]:
    """A value of the type a key has, or what is wrong with it."""
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
    if kind is str:
        return text, ""
    if get_origin(kind) is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip()), ""
    return _read_number(kind, text, about)


def _read_number(kind: Any, text: str, about: Option) -> tuple[Any, str]:
    name = "a whole number" if kind is int else "a number"
    try:
        number = int(text.replace("_", "")) if kind is int else float(text)
    except ValueError:
        return None, f"must be {name}, not {text[:40]!r}"
    if number != number or (about.minimum is not None and number < about.minimum):  # NaN
        return None, f"must be {name} of at least {about.minimum:g}, not {text[:40]}"
    if about.maximum is not None and number > about.maximum:
        return None, f"must be {name} of at most {about.maximum:g}, not {text[:40]}"
    return number, ""


def _override(config: Config, given: AnyMapping[str, tuple[str, str]]) -> Config:
    """Single values by the names of their keys, each with the name of where it comes from."""
    known = {key.name: key for key in variables()} | {key.path[-1]: key for key in variables()}
    changes: dict[tuple[str, ...], dict[str, Any]] = {(): {}, ("context_protection",): {}}
    for name, (origin, text) in given.items():
        key = known.get(name)
        if key is None:
            near = get_close_matches(name, known, 1)
            raise ConfigError(f"{origin}: unknown key{f'; did you mean {near[0]}?' if near else ''}")
        value, wrong = read_scalar(_inner(key.type), text, key.option)
        if wrong:
            raise ConfigError(f"{origin}: {key.name} {wrong}")
        changes[key.path[:-1]][key.path[-1]] = value
    protection = replace(config.context_protection, **changes["context_protection",])
    return replace(config, context_protection=protection, **changes[()])


def _check(config: Config, name: str) -> None:
    """What no key can know alone."""
    from headgate.config.policies import check_rules

    for complaint in _contradictions(config):
        raise ConfigError(f"{name}: {complaint}")
    try:
        check_rules(config)
    except ValueError as error:
        raise ConfigError(f"{name}: {error}") from None


def _contradictions(config: Config) -> Iterable[str]:
    protection = config.context_protection
    if protection.default_page_size > protection.max_page_size:
        yield (
            f"context_protection.default_page_size: {protection.default_page_size} is more than "
            f"max_page_size ({protection.max_page_size})"
        )
    for name in ("output_token_threshold", "object_threshold", "chunk_threshold"):
        if getattr(protection, name) > protection.hard_output_token_cap:
            yield (
                f"context_protection.{name}: {getattr(protection, name)} is more than "
                f"hard_output_token_cap ({protection.hard_output_token_cap})"
            )
    if not config.read_tool.isascii() or not 1 <= len(config.read_tool) <= 64 or " " in config.read_tool:
        yield f"read_tool: must be a name of 1 to 64 letters, digits, _ or -, not {config.read_tool[:40]!r}"
    for upstream, one in config.upstreams.items():
        if not one.command:
            yield f"upstreams.{upstream}.command: is missing"
