"""Strict JSON, handled as text.

Values never become Python numbers or strings on their way through: an array or object is opened into the raw
text of its children, and that text is sent. So big integers, `1E5`, `-0` and key order survive by construction,
and only what is shown is ever taken apart.

What the reader refuses (syntax, NaN, a byte order mark, lone surrogates, duplicate keys, nesting beyond the
reader's depth) raises JsonRefused; the caller then treats it as text, so that nothing is lost.
"""

import codecs
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from json.encoder import encode_basestring
from operator import add, sub
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec

from brimgate.errors import JsonRefused

if TYPE_CHECKING:
    from brimgate.engine.blocks import Blocks

_elements: Final = msgspec.json.Decoder(list[msgspec.Raw])
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_any: Final = msgspec.json.Decoder(msgspec.Raw)

_BETWEEN: Final = b" \t\n\r,"
_GAP: Final = re.compile(rb"[ \t\n\r,]*+")
_KEY: Final = re.compile(rb'[ \t\n\r,]*("[^"\\]*(?:\\.[^"\\]*)*")[ \t\n\r]*:[ \t\n\r]*')
_ESCAPE: Final = re.compile(
    rb"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))"
)


@dataclass(frozen=True, slots=True)
class Children:
    """Where the children of one array or object lie in the document; `keys` is None for an array."""

    starts: Sequence[int]
    ends: Sequence[int]
    keys: Sequence[str] | None
    blocks: "Blocks | None" = None
    """Where they come from, if there are too many to be known one by one."""

    def __len__(self) -> int:
        return len(self.starts)

    def shifted(self, by: int) -> "Children":
        if not by:
            return self
        if self.blocks is not None:
            return self.blocks.shifted(by).children()
        return Children([at + by for at in self.starts], [at + by for at in self.ends], self.keys)

    def index_at(self, place: int) -> int:
        """Return the number of the last child that starts at `place` or before; -1 if there is none."""
        return bisect_right(self.starts, place) - 1 if self.blocks is None else self.blocks.index_at(place)

    def largest(self) -> tuple[int, int]:
        """Return the number and the size of the largest child; (0, -1) if there is none."""
        if self.blocks is not None:
            return self.blocks.largest
        sizes = list(map(sub, self.ends, self.starts))
        most = max(sizes, default=-1)
        return (sizes.index(most) if sizes else 0), most

    @property
    def longest_key(self) -> int:
        if self.blocks is not None:
            return self.blocks.longest_key
        return max(map(len, self.keys), default=0) if self.keys else 0


_ESCAPED: Final = re.compile(rb'\\["\\]')
"""What could be taken for the end of a string, or for the escape of one. Any other escape is neither."""
_WINDOW_BYTES: Final = 1 << 20
_FEW_NAMES: Final = 500
MAX_NESTING: Final = 100
"""Well below the interpreter's own recursion limit, which depends on the caller: the result must not."""
_OPENS: Final = {0x5B: 1, 0x7B: 1, 0x5D: -1, 0x7D: -1}
_PLAIN_BYTES: Final = bytes(byte for byte in range(256) if byte not in (*_OPENS, 0x22))


def is_too_deep(data: bytes) -> bool:
    """Return whether brackets outside strings are nested deeper than MAX_NESTING. Takes 0.1 ms per 100 KB."""
    if len(data) <= _WINDOW_BYTES and data.count(b"[") + data.count(b"{") <= MAX_NESTING:
        return False
    brackets = _brackets_and_quotes(data).replace(b'""', b"")
    if b'"' in brackets:
        brackets = b"".join(brackets.split(b'"')[::2])
    if b"[" * (MAX_NESTING + 1) in brackets or b"{" * (MAX_NESTING + 1) in brackets:
        return True
    # Remove innermost pairs, level by level: most answers are empty after a few rounds.
    left = brackets
    for _ in range(MAX_NESTING // 4):
        left = left.replace(b"[]", b"").replace(b"{}", b"")
        if not left:
            return False
    return max(accumulate(map(_OPENS.__getitem__, brackets))) > MAX_NESTING


def _brackets_and_quotes(data: bytes) -> bytes:
    """Return all brackets, and the quotes that begin or end a string. Works in windows to save memory."""
    if _ESCAPED.search(data) is None:
        return data.translate(None, _PLAIN_BYTES)
    found: list[bytes] = []
    start = 0
    while start < len(data):
        end = start + _WINDOW_BYTES
        # Do not cut between a backslash and what it escapes: a window ends before a run of them, or after an
        # even number.
        while data[end - 1 : end] == b"\\" and end > start + 1:
            end -= 1
        if end == start + 1 and data[start : start + 1] == b"\\":
            end = start + _WINDOW_BYTES
        found.append(_without_escapes(data[start:end]).translate(None, _PLAIN_BYTES))
        start = end
    return b"".join(found)


def _without_escapes(window: bytes) -> bytes:
    if window.count(b"\\") > len(window) >> 6:
        return window.replace(b"\\\\", b"").replace(b'\\"', b"")
    # Few backslashes, such as the line ends of long texts: an expression is three times as fast as two replacements.
    return _ESCAPED.sub(b"", window)


def is_utf8(data: bytes) -> bool:
    """Check whether `data` is UTF-8. Works in windows: decoding all at once would need up to four times the memory."""
    if data.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    try:
        for start in range(0, len(data), _WINDOW_BYTES):
            decoder.decode(view[start : start + _WINDOW_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def minify(raw: bytes) -> bytes:
    return msgspec.json.format(raw, indent=-1)


def canonical(raw: bytes) -> bytes:
    """Minify, and write every character as itself where JSON allows: two texts of one value become equal."""
    small = minify(raw)
    return unescape(small) if b"\\" in small else small


def unescape(raw: bytes) -> bytes:
    return _ESCAPE.sub(_plain, raw)


_KEPT: Final = {
    0x22: b'\\"',
    0x5C: b"\\\\",
    0x08: b"\\b",
    0x0C: b"\\f",
    0x0A: b"\\n",
    0x0D: b"\\r",
    0x09: b"\\t",
}


def _plain(match: re.Match[bytes]) -> bytes:
    high, low, single, letter = match.groups()
    if letter is not None:
        return b"/" if letter == b"/" else match[0]
    if high is not None:
        code = 0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00)
        return chr(code).encode()
    code = int(single, 16)
    if code in _KEPT:
        return _KEPT[code]
    if code < 0x20 or 0xD800 <= code < 0xE000:
        return b"\\u%04x" % code
    return chr(code).encode()


def elements(raw: bytes) -> list[bytes]:
    """Return the raw text of every element of an array."""
    return [bytes(element) for element in _open(_elements.decode, raw)]


def members(raw: bytes) -> dict[str, bytes]:
    """Return the raw text of every member of an object. Refuse duplicate keys."""
    return {key: bytes(value) for key, value in uncopied_members(raw).items()}


def object_of(members: Mapping[str, bytes]) -> bytes:
    """Write an object. The members are raw text."""
    return b"{" + b",".join([quote(name).encode() + b":" + raw for name, raw in members.items()]) + b"}"


def uncopied_members(raw: bytes) -> dict[str, msgspec.Raw]:
    """Return the members like `members`, but without copying each, for callers that need only a few of many."""
    found: dict[str, msgspec.Raw] = _open(_members.decode, raw)
    names = tuple(found)
    width = _width_of(names) if len(names) <= _FEW_NAMES else sum(_widths(names))
    if not _is_plain(raw, width, sum(map(len, map(memoryview, found.values())))):
        _key_starts(raw, 0, [bytes(value) for value in found.values()])
    return found


@lru_cache(256)
def _width_of(names: tuple[str, ...]) -> int:
    """Sum the widths of the names. Cached, because the items of a list have the same names one after the other."""
    return sum(_widths(names))


def children(data: bytes, start: int, end: int) -> Children:
    """Open the array or object that lies at [start, end) of `data`, one level deep."""
    raw = data[start:end] if (start, end) != (0, len(data)) else data
    if data[start : start + 1] == b"[":
        return _array_children(raw, start)
    return _object_children(raw, start)


def _object_children(raw: bytes, base: int) -> Children:
    found: dict[str, msgspec.Raw] = _open(_members.decode, raw)
    lengths = list(map(len, map(memoryview, found.values())))
    widths = _widths(found)
    if _is_plain(raw, sum(widths), sum(lengths)):
        ends = list(accumulate(map(add, widths, lengths), initial=base))[1:]
        return Children(list(map(sub, ends, lengths)), ends, list(found))
    values = [bytes(value) for value in found.values()]
    starts = _key_starts(raw, base, values)
    return Children(starts, list(map(add, starts, lengths)), list(found))


def _widths(names: Iterable[str]) -> list[int]:
    """Return the bytes of each name with its quotes, its colon, and the comma or brace before it."""
    return [len(name.encode("utf-8", "replace")) + 4 for name in names]


def _is_plain(raw: bytes, names: int, values: int) -> bool:
    """Return whether lengths give positions: no white space, no escaped names, nothing dropped by the decoder."""
    return names > 0 and values + names + 1 == len(raw)


def _array_children(raw: bytes, base: int) -> Children:
    lengths = list(map(len, map(memoryview, _open(_elements.decode, raw))))
    spread = len(raw) - sum(lengths) - 2
    for gap in (1, 2):
        # A comma between elements, or a comma and a space, as most writers do: positions follow from the
        # lengths.
        if spread == gap * max(len(lengths) - 1, 0):
            ends = list(accumulate((length + gap for length in lengths), initial=1 - gap))[1:]
            starts = list(map(sub, ends, lengths))
            if gap == 1 or _are_apart_by_comma_and_space(raw, starts):
                return Children(starts, ends, None).shifted(base)
    starts: list[int] = []
    ends: list[int] = []
    at = raw.index(b"[") + 1
    for length in lengths:
        if raw.startswith(b", ", at) and raw[at + 2] not in _BETWEEN:
            at += 2
        else:
            at = _GAP.match(raw, at).end()  # type: ignore[union-attr]  # matches the empty string too
        starts.append(base + at)
        at += length
        ends.append(base + at)
    return Children(starts, ends, None)


def _are_apart_by_comma_and_space(raw: bytes, starts: list[int]) -> bool:
    byte = raw.__getitem__
    return (
        set(map(byte, [at - 2 for at in starts[1:]])) <= {0x2C}
        and set(map(byte, [at - 1 for at in starts[1:]])) <= {0x20}
        and set(map(byte, starts)).isdisjoint(_BETWEEN)
    )


def _key_starts(raw: bytes, base: int, values: list[bytes]) -> list[int]:
    """Return where each value starts. Refuse duplicate keys, of which the decoder kept only the last value."""
    starts: list[int] = []
    at = raw.index(b"{") + 1
    for value in values:
        key = _KEY.match(raw, at)
        if key is None or not raw.startswith(value, key.end()):
            raise JsonRefused("duplicate key in a JSON object")
        starts.append(base + key.end())
        at = key.end() + len(value)
    if raw[at:].strip() != b"}":
        raise JsonRefused("duplicate key in a JSON object")
    return starts


def _open(decode: Callable[[bytes], Any], raw: bytes) -> Any:
    try:
        return decode(raw)
    except msgspec.DecodeError as error:
        raise JsonRefused(str(error)) from None
    except RecursionError:
        raise JsonRefused("nested too deeply") from None


_exact_floats: Final = msgspec.json.Decoder(float_hook=lambda text: msgspec.Raw(text.encode()))


def faithful_value(raw: bytes) -> object:
    """Return the value of a canonical text if it can be written back to the same bytes, else None.

    None means duplicate keys or a number such as -0 somewhere: the value must then be handled as text.
    """
    for decode in (msgspec.json.decode, _exact_floats.decode):
        try:
            value = decode(raw)
            if msgspec.json.encode(value) == raw:
                return value
        except (msgspec.MsgspecError, RecursionError, ValueError):
            continue
    return None


def string_value(raw: bytes) -> str:
    """Return the text of a JSON string."""
    if b"\\" not in raw:
        return raw[1:-1].decode()
    return msgspec.json.decode(raw, type=str)


def quote(text: str) -> str:
    return encode_basestring(text)


def check_strict(data: bytes) -> None:
    """Refuse anything in `data` that is not strict JSON, at any depth. The error says what and where."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise JsonRefused(f"not UTF-8 at byte {error.start}") from None
    if is_too_deep(data):
        raise JsonRefused(f"nested too deeply: more than {MAX_NESTING} levels")
    try:
        json.loads(
            text,
            object_pairs_hook=_refuse_duplicates,
            parse_constant=_refuse_constant,
            parse_int=str,
            parse_float=str,
        )
        _any.decode(data)
    except json.JSONDecodeError as error:
        wrong = name_trailing_comma(error)
        raise JsonRefused(f"{wrong.msg} at line {wrong.lineno} column {wrong.colno}") from None
    except msgspec.DecodeError as error:
        raise JsonRefused(str(error)) from None
    except RecursionError:
        raise JsonRefused("nested too deeply") from None


_AFTER_COMMA: Final = {
    ("Expecting value", "]"): "array",
    ("Expecting property name enclosed in double quotes", "}"): "object",
}


def name_trailing_comma(error: json.JSONDecodeError) -> json.JSONDecodeError:
    """Return the error as Python 3.13 raises it: older ones only say what they expected after a trailing comma."""
    before = error.doc[: error.pos].rstrip(" \t\n\r")
    kind = _AFTER_COMMA.get((error.msg, error.doc[error.pos : error.pos + 1]))
    if kind is None or not before.endswith(","):
        return error
    return json.JSONDecodeError(f"Illegal trailing comma before end of {kind}", error.doc, len(before) - 1)


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise JsonRefused(f"duplicate key {quote(key)[:60]}")
        seen.add(key)


def _refuse_constant(name: str) -> NoReturn:
    raise JsonRefused(f"{name} is not JSON")
