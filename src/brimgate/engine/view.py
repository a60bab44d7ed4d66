"""What a reading looks at: the whole answer, the list or text it is about, or a selection a caller asked for."""

import json
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Any, Final

MAX_FIELDS: Final = 100
MAX_PATTERN_CHARS: Final = 500


@dataclass(frozen=True, slots=True)
class View:
    scope: str = "focus"
    """whole: every part in source order; focus: the dominant list or text; path: what `path` leads to, as an answer
    of its own; walk: every part of what `path` leads to; chosen: every part of the chosen `fields` of the object there;
    text: the bytes as they came, whatever they hold."""
    path: str = ""
    fields: tuple[str, ...] = ()
    search: str = ""
    lines: tuple[int, int] | None = None
    condensed: bool = False
    """Each item in short: by its field map, or without its vectors; its number stands with it."""
    worded: bool = False
    """In the words of a pack, from the item on that a position counts."""
    form: str = ""
    limit: int = 0

    @property
    def is_selection(self) -> bool:
        chosen = self.fields and self.scope != "chosen"
        return bool(chosen or self.search or self.lines or self.condensed)

    def pack(self) -> bytes:
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":")).encode()

    @classmethod
    def unpack(cls, data: bytes) -> "View":
        values: dict[str, Any] = json.loads(data)
        lines = values["lines"]
        return replace(cls(**values), fields=tuple(values["fields"]), lines=tuple(lines) if lines else None)

    def key(self) -> bytes:
        """Four bytes that stand for this view in a cursor; equal views have equal keys."""
        return blake2b(self.pack(), digest_size=4).digest()


WHOLE: Final = View("whole")
FOCUS: Final = View("focus")
