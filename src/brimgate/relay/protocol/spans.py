"""Find and replace members in the text of a JSON object, also where strict readers refuse it.

The text outside of what is replaced stays as it came. Nesting has no limit here, and neither NaN, halves of surrogate
pairs, control characters nor broken UTF-8 are in the way: only where strings, members and brackets end is looked at.
"""

import json
import re
from typing import Final, NamedTuple

import msgspec

_STRING: Final = rb'"[^"\\]*+(?>(?:\\.[^"\\]*+)*)"'
TEXT: Final = re.compile(_STRING, re.DOTALL)
_TOKEN: Final = re.compile(_STRING + rb"|[^\s{}\[\],:\"]++|[{}\[\],:\"]", re.DOTALL)
_BRACKET: Final = re.compile(rb"(?>(?:[^{}\[\]\"]++|" + _STRING + rb")*)([{}\[\]])", re.DOTALL)
_CLOSING: Final = {b"{": b"}", b"[": b"]"}
_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Span(NamedTuple):
    name: str
    """Empty for an element of a list."""
    start: int
    end: int


def spans(text: bytes | bytearray) -> list[Span]:
    """Return where the members of an object, or the elements of a list, are. Raise ValueError if it is neither."""
    bare = text.strip()
    close = _CLOSING.get(bytes(bare[:1]))
    if close is None or bytes(bare[-1:]) != close:
        raise ValueError("neither an object nor a list")
    found: list[Span] = []
    at = _next(text, text.find(bare[:1]) + 1)
    while text[at : at + 1] != close:
        name = ""
        if close == b"}":
            name, at = _name(text, at)
        end = _value_end(text, at)
        found.append(Span(name, at, end))
        at = _next(text, end)
        if text[at : at + 1] == b",":
            at = _next(text, at + 1)
        elif text[at : at + 1] != close:
            raise ValueError("no comma between two parts")
    if text[at + 1 :].strip():
        raise ValueError("something follows the end")
    return found


def _next(text: bytes | bytearray, at: int) -> int:
    """Return where the next token begins. Raise ValueError if there is none."""
    token = _TOKEN.search(text, at)
    if token is None:
        raise ValueError("it does not end")
    return token.start()


def _name(text: bytes | bytearray, at: int) -> tuple[str, int]:
    """Return the name of a member, and where its value begins."""
    token = _TOKEN.match(text, at)
    name = json.loads(token[0].decode("utf-8", "replace"), strict=False) if token else None
    colon = _next(text, token.end()) if token else at
    if not isinstance(name, str) or text[colon : colon + 1] != b":":
        raise ValueError("a member without a name")
    return name, _next(text, colon + 1)


def _value_end(text: bytes | bytearray, at: int) -> int:
    token = _TOKEN.match(text, at)
    if token is None or token[0] in (b",", b":", b"}", b"]", b'"'):
        raise ValueError("a value is missing")
    if token[0] not in _CLOSING:
        return token.end()
    brackets: list[bytes] = [token[0]]
    at = token.end()
    while brackets:
        bracket = _BRACKET.match(text, at)
        if bracket is None:
            raise ValueError("it does not end")
        if bracket[1] in _CLOSING:
            brackets.append(bracket[1])
        elif _CLOSING[brackets.pop()] != bracket[1]:
            raise ValueError("brackets that do not match")
        at = bracket.end()
    return at


def member_text(text: bytes | bytearray, name: str) -> bytes:
    """Return the text of a member; empty if there is none. Raise ValueError if it is no object."""
    found = [span for span in spans(text) if span.name == name]
    return bytes(text[found[-1].start : found[-1].end]) if found else b""


def replaced(text: bytes | bytearray, path: tuple[str, ...], value: bytes | memoryview) -> bytes:
    """Return the same text with another value at a path of members. Raise ValueError if that is not possible."""
    try:
        members = _members.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _replaced_in_text(bytes(text), path, value)
    name, *rest = path
    if name not in members:
        raise ValueError(f"there is no {name}")
    inner = replaced(bytes(members[name]), tuple(rest), value) if rest else value
    return msgspec.json.encode(members | {name: msgspec.Raw(inner)})


def _replaced_in_text(text: bytes, path: tuple[str, ...], value: bytes | memoryview) -> bytes:
    name, *rest = path
    found = [span for span in spans(text) if span.name == name]
    if len(found) != 1:
        # Of two, the upstream could read the other one, with somebody else's id or token.
        raise ValueError(f"there is not one {name}")
    start, end = found[0].start, found[0].end
    inner = replaced(text[start:end], tuple(rest), value) if rest else value
    return b"".join((text[:start], inner, text[end:]))
