"""Single values by the types of their keys, and words of others as they may stand in a message."""

import re
import types
from typing import Any, Final, Literal, Union, get_args, get_origin

from brimgate.config.options import Option
from brimgate.config.tree import shown
from brimgate.errors import ConfigError

_MAX_NAMED: Final = 8
_MAX_NUMBER: Final = 10**12
"""Beyond it nothing here means anything, and sums of a few no longer fit 64 bits."""
_TRUE: Final = ("true", "yes", "on")
_FALSE: Final = ("false", "no", "off")
_WHOLE: Final = re.compile(r"[+-]?[0-9][0-9_]*")

Place = tuple[str, ...]
"""The path of a declared key."""


def inner_of(kind: Any) -> Any:
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


def dotted(path: Place) -> str:
    return ".".join(map(shown, path))


def raise_all(complaints: list[str]) -> None:
    if complaints:
        more = len(complaints) - _MAX_NAMED
        raise ConfigError(
            "\n".join([*complaints[:_MAX_NAMED], *([f"… and {more} more"] if more > 0 else [])])
        )
