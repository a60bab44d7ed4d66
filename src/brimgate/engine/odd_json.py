"""Read what is nearly JSON as JSON: for its structure, its highlights, and for what is asked of it.

Tolerated are a byte order mark, NaN and Infinity, numbers beyond any range, halves of surrogate pairs, trailing
commas, nesting beyond our depth, what Python prints of lists and dictionaries, and JSON inside the one string that is
most of an answer. Such a reading is derived: what is held, and what a walk returns, are the original bytes.
"""

import re
from collections.abc import Callable
from typing import Final

from brimgate.engine import jsontext
from brimgate.errors import JsonRefused

MAX_BYTES: Final = 4 << 20
"""A longer text is not read: every token of it would be looked at."""
_BOM: Final = b"\xef\xbb\xbf"
_DEPTH: Final = 90
_PAIRS: Final = {"[": "]", "{": "}", "(": ")"}
_BEGINS: Final = re.compile(
    r"[\[({]\s*+(?:[\[({\])}\"'\d-]|None\b|True\b|False\b|NaN\b|Infinity\b|null\b|true\b|false\b|[ub]['\"]|\w+[.(])"
)
_STRING: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_SINGLE: Final = r"'[^'\\]*+(?:\\.[^'\\]*+)*'"
_QUOTED: Final = rf"{_STRING}|{_SINGLE}"
_INNER: Final = rf"[^()'\"]*+(?:(?:{_QUOTED})[^()'\"]*+)*"
_CALL: Final = rf"[A-Za-z_][\w.]*+\({_INNER}(?:\({_INNER}\){_INNER})*\)"
_TOKEN: Final = re.compile(
    rf"(?P<string>{_STRING})"
    rf"|(?P<single>[bu]?{_SINGLE}|[bu]{_STRING})"
    rf"|(?P<call>{_CALL}|<[^<>\n]{{1,200}}>)"
    r"|(?P<key>-?\d[\w.+-]*+(?=\s*:))"
    r"|(?P<number>-?\d[\w.+-]*+)"
    r"|(?P<word>-?[A-Za-z_][\w.]*+)"
    r"|(?P<comma>,(?=\s*[\]})]))"
    r"|(?P<round>[()])"
    r"|(?P<open>[\"'])",
    re.DOTALL,
)
_WORDS: Final = {
    "true": "true",
    "false": "false",
    "null": "null",
    "True": "true",
    "False": "false",
    "None": "null",
    "undefined": "null",
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d{1,2})?")
_HALF: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_PYTHON_ESCAPE: Final = re.compile(
    r"\\(x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|u[0-9a-fA-F]{4}|[0-7]{1,3}|\n|.)", re.DOTALL
)
_NOT_JSON: Final = re.compile(r"(?<!\\)(?:\\\\)*\\[^\"\\/bfnrtu]|[\x00-\x1f]")
_BRACKET: Final = re.compile(rf"{_STRING}|[\[\]{{}}]")


def reading(data: bytes) -> bytes | None:
    """Return strict JSON for what is nearly JSON, or None if it is something else."""
    if len(data) > MAX_BYTES:
        return None
    text = data.removeprefix(_BOM).decode("utf-8", "replace").strip()
    if text[:1] not in _PAIRS or text[-1:] != _PAIRS[text[:1]] or not _BEGINS.match(text):
        return None
    try:
        read = _TOKEN.sub(_strict, text)
    except JsonRefused:
        return None
    if jsontext.is_too_deep(read.encode("utf-8", "replace")):
        read = _flattened(read)
    return read.encode("utf-8", "replace")


def _strict(match: re.Match[str]) -> str:
    """Return a token as strict JSON spells it."""
    token = match[0]
    return _SPELLERS[match.lastgroup or ""](token)


def _of_string(token: str) -> str:
    if "\\" not in token:
        return token if token.isprintable() else jsontext.quote(token[1:-1])
    if _NOT_JSON.search(token):
        return _of_single(token)
    return _HALF.sub("\ufffd", token) if "\\u" in token else token


def _of_single(token: str) -> str:
    """Return a text as Python prints it: in either quotes, with escapes of its own."""
    bare = token.lstrip("bu")
    return jsontext.quote(_PYTHON_ESCAPE.sub(_unescaped, bare[1:-1]))


_LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "\n": ""}


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else "\ufffd"
    if code.isdigit():
        return chr(int(code, 8))
    return _LETTERS.get(code, code)


def _of_open(_: str) -> str:
    """Give up at a quote that is never closed: looking for its end again from every later quote would take hours."""
    raise JsonRefused("a text that does not end")


def _of_number(token: str) -> str:
    return token if _NUMBER.fullmatch(token) else jsontext.quote(token)


def _of_word(token: str) -> str:
    return _WORDS.get(token) or jsontext.quote(token)


_SPELLERS: Final[dict[str, Callable[[str], str]]] = {
    "string": _of_string,
    "single": _of_single,
    "call": jsontext.quote,
    "key": jsontext.quote,
    "number": _of_number,
    "word": _of_word,
    "comma": lambda _: "",
    "open": _of_open,
    "round": lambda bracket: {"(": "[", ")": "]"}[bracket],
}


def _flattened(text: str) -> str:
    """Write what is nested too deeply as a text, in the place of the value."""
    out: list[str] = []
    depth = at = opened = 0
    for match in _BRACKET.finditer(text):
        if match[0] in ("[", "{"):
            depth += 1
            if depth == _DEPTH:
                out.append(text[at : match.start()])
                opened = match.start()
        elif match[0] in ("]", "}"):
            if depth == _DEPTH:
                out.append(jsontext.quote(text[opened : match.end()]))
                at = match.end()
            depth -= 1
    return "".join([*out, text[at:]])
