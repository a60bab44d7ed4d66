"""Declare an option: once, with all that the file, the environment, the docs and the checks need."""

from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields, is_dataclass
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

PREFIX = "BRIMGATE_"
AUTO_WORD = "auto"
_WHOLE_PATHS = ("auth", "limits", "telemetry")
"""Sections whose keys say little without the name of the section: BRIMGATE_AUTH_MODE."""


@dataclass(frozen=True, slots=True)
class Option:
    """What is known about one key besides its name, type and default."""

    doc: str
    aliases: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    secret: bool = False
    reloadable: bool = True
    listed: bool = False
    """Whether it must be written as a list; other lists may also be words separated by commas."""
    example: str = ""
    flag: str = ""
    """The flag of the command line that sets it, besides `--set KEY=VALUE`."""
    metavar: str = ""
    auto: bool = False
    """Whether the word `auto` is a value: the number 0, which stands for what fits best."""

    full_name: bool = False
    """Whether it is called by its section too, because another key has the same name."""
    callers: bool = False
    """Whether `{caller: bearer}` is a value: the token of each caller."""

    def spelled(self, value: Any) -> Any:
        """Return a value as a file has it."""
        return AUTO_WORD if self.auto and value == 0 else value


def option(default: Any, doc: str, **more: Any) -> Any:
    """Declare a field with its option."""
    metadata = {"option": Option(doc, **more)}
    if default == {}:
        return field(default_factory=_empty, metadata=metadata)
    return field(default=default, metadata=metadata)


def overriding(declaration: type, name: str) -> Any:
    """Declare a field that overrides an option for some tools only: None where it does not."""
    return field(default=None, metadata={"option": option_named(declaration, name)})


def _empty() -> dict[str, Any]:
    return {}


def option_named(declaration: type, name: str) -> Option:
    return next(option_of(one) for one in fields(declaration) if one.name == name)


def option_of(declared: "Field[Any]") -> Option:
    return declared.metadata["option"]


@dataclass(frozen=True, slots=True)
class Key:
    """One declared key with its place."""

    path: tuple[str, ...]
    type: Any
    default: Any
    option: Option

    @property
    def name(self) -> str:
        return ".".join(self.path)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that set it on a command line: with its section, and alone where that says enough."""
        return (self.name,) if self._needs_section else (self.name, self.path[-1])

    @property
    def _needs_section(self) -> bool:
        return self.path[0] in _WHOLE_PATHS or self.option.full_name

    @property
    def variable(self) -> str:
        """The environment variable that overrides it; only single values have one."""
        named = self.path if self._needs_section else self.path[-1:]
        return PREFIX + "_".join(named).upper() if is_scalar(self.type) else ""


def is_scalar(kind: Any) -> bool:
    return not is_dataclass(kind) and get_origin(kind) is not dict


def keys_of(declaration: type, path: tuple[str, ...] = ()) -> Iterator[Key]:
    """Yield every key below a declaration. A section comes before its keys."""
    hints = get_type_hints(declaration)
    for declared in fields(declaration):
        here = (*path, declared.name)
        kind = hints[declared.name]
        yield Key(here, kind, declared.default, option_of(declared))
        if is_dataclass(kind):
            yield from keys_of(kind, here)  # type: ignore[arg-type]


def choices_of(kind: Any) -> tuple[str, ...]:
    """Return the words that a value may be, if there are only so many."""
    kind = inner_of(kind)
    return get_args(kind) if get_origin(kind) is Literal else ()


def inner_of(kind: Any) -> Any:
    """Return X of `X | None`."""
    if get_origin(kind) in (Union, UnionType):
        return next(one for one in get_args(kind) if one is not type(None))
    return kind


def element_of(kind: Any) -> Any:
    """Return the type of the values of a mapping, or of the items of a list."""
    return get_args(kind)[-1 if get_origin(kind) is dict else 0]
