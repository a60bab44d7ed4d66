"""Mask what a person who looks for the cause of an overflow need not see: secrets, and what an operator names."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final, cast
from urllib.parse import parse_qsl

import msgspec

from brimgate.config.masking import MASK, masked_text, names_a_secret

_CURSOR: Final = re.compile(r'(cursor["\']?\s*[=:]\s*["\']?)[A-Za-z0-9_-]{40,64}')
_MAX_DEPTH: Final = 50


class Redaction:
    """Masks secrets, cursors, and whatever matches one of the operator's patterns."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        """Create it. The patterns are regular expressions (RE2)."""
        from brimgate.engine.matcher import compiled

        self._patterns = [compiled(one) for one in patterns]

    def text(self, text: str) -> str:
        text = text.encode("utf-8", "replace").decode()  # RE2 takes no halves of characters
        text = _CURSOR.sub(rf"\1{MASK}", masked_text(text))
        for pattern in self._patterns:
            text = _replaced(pattern, text)
        return text

    def arguments(self, raw: bytes) -> str:
        """Return the arguments of a call, as JSON if they are. What was cut is masked as text."""
        text = raw.decode("utf-8", "replace")
        try:
            given = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            is_query = "=" in text and not text.startswith(("{", "["))
            return self._query(text) if is_query else self.text(text)
        return json.dumps(self._value(given, 0), ensure_ascii=False)

    def _query(self, text: str) -> str:
        """Mask the query of a URL, member by member."""
        given = parse_qsl(text, keep_blank_values=True)
        return "&".join(
            f"{name}={MASK if names_a_secret(name) else self.text(value)}" for name, value in given
        )

    def _value(self, value: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return MASK
        if isinstance(value, dict):
            members = cast("dict[str, Any]", value)
            return {
                name: MASK if names_a_secret(name) and one not in (None, "") else self._value(one, depth + 1)
                for name, one in members.items()
            }
        if isinstance(value, list):
            return [self._value(one, depth + 1) for one in cast("list[Any]", value)]
        return self.text(value) if isinstance(value, str) else value


def _replaced(pattern: Any, text: str) -> str:
    """Mask every match. RE2's own `sub` takes the mask for Latin-1."""
    parts: list[str] = []
    at = 0
    for found in pattern.finditer(text):
        start, end = found.span()
        if end > start:
            parts += [text[at:start], MASK]
            at = end
    return "".join(parts) + text[at:]
