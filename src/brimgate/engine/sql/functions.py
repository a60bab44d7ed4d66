"""The functions of a query: those of SQLite that are bounded, and our own in place of those that are not.

SQLite asks us to stop a query between two steps, never inside a function. So every function must take time in
proportion to its text: LIKE, GLOB, instr, replace and trim do not, and are replaced.
"""

import math
import re
import sqlite3
import statistics
from array import array
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

from brimgate.engine.matcher import compiled

MAX_PATTERN_CHARS: Final = 500
MAX_TEXT: Final = 1_000_000
"""Characters of a text that a function makes."""
_MAX_TRIMMED: Final = 100

_NAMES: Final = """
    abs avg ceil ceiling char coalesce concat count cume_dist date datetime dense_rank exp first_value floor format glob
    group_concat hex ifnull iif instr json json_array json_array_length json_each json_extract json_group_array
    json_group_object json_object
    json_quote json_tree json_type json_valid -> ->> julianday lag last_value lead length like ln log log10 log2 lower ltrim max
    median min mod nth_value ntile nullif number percent_rank percentile pow power printf
    quote rank regexp replace round row_number
    rtrim sign sqrt stddev stdev strftime substr substring sum time total trim trunc typeof unicode unixepoch upper variance
"""
ALLOWED: Final = frozenset(_NAMES.split())
_IN_PARENTHESES: Final = re.compile(r"\s*\(\s*([$€£]?\s?\d[\d,. ]*)\)\s*")
"""A negative amount, as accountants write it."""
_FORM: Final = re.compile(r"%([-+ 0,]{0,4})(\d{0,3})(\.\d{1,2})?([diuxfegs%])")
_ANY_FORM: Final = re.compile(r"%[^a-zA-Z%]{0,30}[a-zA-Z%]?")
_NUMBER: Final = re.compile(r"[-+]?\d[\d,. ]*")


def register(connection: sqlite3.Connection, tell: Callable[[str], None]) -> None:
    """Give a connection our functions. SQLite says only that one of them failed; `tell` is told why."""
    for name, count, function in _PLAIN:
        connection.create_function(name, count, _telling(function, tell), deterministic=True)
    for name, count, aggregate in _AGGREGATES:
        connection.create_aggregate(name, count, aggregate)  # pyright: ignore[reportArgumentType]


def _telling(function: Callable[..., Any], tell: Callable[[str], None]) -> Callable[..., Any]:
    def called(*values: Any) -> Any:
        try:
            return function(*values)
        except ValueError as error:
            tell(str(error))
            raise

    return called


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, str) else str(value)


@lru_cache(64)
def _pattern(text: str) -> Callable[[str], object]:
    if len(text) > MAX_PATTERN_CHARS:
        raise ValueError(f"a pattern has at most {MAX_PATTERN_CHARS} characters")
    return compiled(text).search


def _regexp(pattern: Any, text: Any) -> int | None:
    if pattern is None or text is None:
        return None
    return int(_pattern(_text(pattern))(_text(text)) is not None)


def _like(pattern: Any, text: Any, escape: Any = None) -> int | None:
    if pattern is None or text is None:
        return None
    return int(_matcher(_text(pattern), _text(escape) if escape else "")(_text(text).lower()))


@lru_cache(64)
def _matcher(pattern: str, escape: str) -> Callable[[str], bool]:
    """Return whether a text in lower case is LIKE a pattern, in the quickest way."""
    low = pattern.lower()
    inner = low.strip("%")
    if not escape and "%" not in inner and "_" not in inner:
        if low.startswith("%") and low.endswith("%") and low:
            return lambda text: inner in text
        if low.startswith("%"):
            return lambda text: text.endswith(inner)
        return (lambda text: text.startswith(inner)) if low.endswith("%") else (lambda text: text == inner)
    found = _pattern(_translated(low, escape))
    return lambda text: found(text) is not None


def _translated(pattern: str, escape: str) -> str:
    parts: list[str] = []
    is_escaped = False
    for sign in pattern:
        if is_escaped:
            parts.append(re.escape(sign))
            is_escaped = False
        elif escape and sign == escape:
            is_escaped = True
        else:
            parts.append({"%": ".*", "_": "."}.get(sign) or re.escape(sign))
    return rf"(?s)\A{''.join(parts)}\z"


def _glob(pattern: Any, text: Any) -> int | None:
    if pattern is None or text is None:
        return None
    return int(_pattern(_globbed(_text(pattern)))(_text(text)) is not None)


@lru_cache(64)
def _globbed(pattern: str) -> str:
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        sign = pattern[at]
        end = pattern.find("]", at + 2) if sign == "[" else -1
        if end > 0:
            parts.append(f"[{pattern[at + 1 : end].replace(chr(92), chr(92) * 2)}]")
            at = end
        else:
            parts.append({"*": ".*", "?": "."}.get(sign) or re.escape(sign))
        at += 1
    return rf"(?s)\A{''.join(parts)}\z"


def _instr(text: Any, part: Any) -> int | None:
    return None if text is None or part is None else _text(text).find(_text(part)) + 1


def _replace(text: Any, old: Any, new: Any) -> str | None:
    if text is None or old is None or new is None:
        return None
    text, old, new = _text(text), _text(old), _text(new)
    if old and len(text) + text.count(old) * (len(new) - len(old)) > max(MAX_TEXT, len(text)):
        raise ValueError("string or blob too big")
    return text.replace(old, new) if old else text


def _trimmed(strip: Callable[..., str]) -> Callable[..., str | None]:
    def trim(text: Any, signs: Any = " ") -> str | None:
        return None if text is None or signs is None else strip(_text(text), _text(signs)[:_MAX_TRIMMED])

    return trim


def _concat(*values: Any) -> str:
    return "".join(_text(value) for value in values if value is not None)[:MAX_TEXT]


def _printf(form: Any, *values: Any) -> str | None:
    """Write values in a form such as `%.2f`, as SQLite does; widths are bounded, as a million would be memory."""
    if form is None:
        return None
    rest = iter(values)
    return _ANY_FORM.sub(lambda found: _formed(found[0], rest), _text(form))[:MAX_TEXT]


def _formed(text: str, rest: Iterator[Any]) -> str:
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"printf knows %d, %f, %e, %g, %x and %s, up to %999.99f, not {text[:20]}")
    flags, width, precision, kind = found.groups("")
    if kind == "%":
        return "%"
    value = next(rest, None)
    align = "<" if "-" in flags else ">" if kind == "s" else ""
    if kind == "s":
        return format("" if value is None else _text(value), f"{align}{width}{precision}s")
    number = _as_number(value) or 0
    sign = "+" if "+" in flags else ""
    spec = f"{align}{sign}{'0' if '0' in flags and not align else ''}{width}{',' if ',' in flags and kind != 'x' else ''}"
    if kind in "diux":
        return format(int(number), f"{spec}{'x' if kind == 'x' else 'd'}")
    return format(float(number), f"{spec}{precision or '.6'}{kind}")


def _as_number(value: Any) -> float | int | None:
    """Return the first number in a text: 1234.5 of `$1,234.50`, -1234.5 of `(1,234.50)`, 12 of `12 ms`."""
    if value is None or isinstance(value, (int, float)):
        return value
    if amount := _IN_PARENTHESES.fullmatch(_text(value)[:200]):
        number = _as_number(amount[1])
        return None if number is None else -number
    found = _NUMBER.search(_text(value)[:200])
    if found is None:
        return None
    text = found[0].replace(" ", "").rstrip(",.")
    if "," in text and "." in text:  # the last of the two marks the fraction
        text = (
            text.replace(",", "")
            if text.rfind(".") > text.rfind(",")
            else text.replace(".", "").replace(",", ".")
        )
    elif re.fullmatch(r"[-+]?\d{1,3}(?:,\d{3})+", text):
        text = text.replace(",", "")
    try:
        return float(text.replace(",", ".")) if "." in text or "," in text else int(text)
    except ValueError:
        return None


class _Numbers:
    """The numbers of a group, eight bytes each."""

    def __init__(self) -> None:
        self.values = array("d")

    def step(self, value: Any) -> None:
        if isinstance(value, (int, float)):
            self.values.append(value)


class _Median(_Numbers):
    def finalize(self) -> float | None:
        return statistics.median(self.values) if self.values else None


class _Percentile(_Numbers):
    """Interpolates between the two nearest values, as spreadsheets do. The share is from 0 to 100."""

    share = 50.0

    def step(self, value: Any, share: Any = 50) -> None:
        self.share = float(share)
        super().step(value)

    def finalize(self) -> float | None:
        if not self.values:
            return None
        if not 0 <= self.share <= 100:
            raise ValueError("percentile is from 0 to 100")
        ordered = sorted(self.values)
        place = self.share / 100 * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


class _Variance(_Numbers):
    """Of a sample: divided by one less than there are."""

    def finalize(self) -> float | None:
        if len(self.values) < 2:
            return None
        mean = math.fsum(self.values) / len(self.values)
        return math.fsum((value - mean) ** 2 for value in self.values) / (len(self.values) - 1)


class _Deviation(_Variance):
    def finalize(self) -> float | None:
        variance = super().finalize()
        return None if variance is None else math.sqrt(variance)


_PLAIN: Final[tuple[tuple[str, int, Callable[..., Any]], ...]] = (
    ("regexp", 2, _regexp),
    ("like", 2, _like),
    ("like", 3, _like),
    ("glob", 2, _glob),
    ("instr", 2, _instr),
    ("replace", 3, _replace),
    ("trim", 1, _trimmed(str.strip)),
    ("trim", 2, _trimmed(str.strip)),
    ("ltrim", 1, _trimmed(str.lstrip)),
    ("ltrim", 2, _trimmed(str.lstrip)),
    ("rtrim", 1, _trimmed(str.rstrip)),
    ("rtrim", 2, _trimmed(str.rstrip)),
    ("concat", -1, _concat),
    ("printf", -1, _printf),
    ("format", -1, _printf),
    ("number", 1, _as_number),
)
_AGGREGATES: Final = (
    ("median", 1, _Median),
    ("percentile", 2, _Percentile),
    ("variance", 1, _Variance),
    ("stddev", 1, _Deviation),
    ("stdev", 1, _Deviation),
)
