"""Tell quickly which lines are worth a closer look: re2 reads many words at once, `re` one after the other."""

from functools import cached_property
from typing import Any


class LineFilter:
    """Whether a line contains one of some words, in any case; each word is a pattern of re2."""

    def __init__(self, *words: str) -> None:
        self._words = words

    @cached_property
    def _pattern(self) -> Any:
        # Imported here, because re2 is only needed once a large answer is surveyed.
        import re2  # pyright: ignore[reportMissingTypeStubs]

        pattern: Any = re2.compile(  # pyright: ignore[reportUnknownMemberType]
            b"(?i)" + "|".join(self._words).encode()
        )
        return pattern

    def __call__(self, line: str) -> bool:
        # A lone surrogate cannot be encoded, and re2 would raise.
        return self._pattern.search(line.encode("utf-8", "replace")) is not None
