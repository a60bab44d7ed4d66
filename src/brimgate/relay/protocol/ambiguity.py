"""Recognise messages that two readers could read differently.

Of members with the same name some readers take the first and most the last; Go's own reader also takes `Name` for
`name`. Whoever may not call a tool must not call it by way of such a difference.
"""

from typing import Final

from brimgate.relay.protocol.spans import spans

_OF_MESSAGE: Final = frozenset(("jsonrpc", "id", "method", "params"))
_OF_PARAMS: Final = frozenset(("name", "arguments", "cursor", "uri"))
_WORDS: Final = (b'"jsonrpc"', b'"id"', b'"method"', b'"params"', b'"name"', b'"arguments"')


def is_ambiguous(line: bytes) -> bool:
    """Return whether a message, or one of a batch, can be read in more than one way."""
    if not _is_suspicious(line):
        return False
    try:
        if line.lstrip()[:1] == b"[":
            return any(_repeats_in_message(line[one.start : one.end]) for one in spans(line))
        return _repeats_in_message(line)
    except ValueError:
        return True


def _is_suspicious(line: bytes) -> bool:
    """Return False, at little cost, for a message in which each word stands once, in small letters, and none is escaped."""
    lowered = line.lower()
    for word in _WORDS:
        times = lowered.count(word)
        if times and (times > 1 or word not in line):
            return True
    return b"\\u" in lowered


def _repeats_in_message(line: bytes) -> bool:
    members = spans(line)
    if _repeats([one.name for one in members], _OF_MESSAGE):
        return True
    return any(
        _repeats([inner.name for inner in spans(line[one.start : one.end])], _OF_PARAMS)
        for one in members
        if one.name == "params" and line[one.start : one.start + 1] == b"{"
    )


def _repeats(names: list[str], ours: frozenset[str]) -> bool:
    folded = [name.casefold() for name in names]
    if any(name != fold and fold in ours for name, fold in zip(names, folded, strict=True)):
        return True
    return any(folded.count(name) > 1 for name in ours)
