"""Estimate how many tokens a text has for a model family.

Three estimates of rising cost: `bound` from the number of bytes alone, `table` from a byte-pair table, `count`
from an exact vocabulary. `ceiling` is the count that budgets are fitted against. None of them ever raises.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Literal, get_args

from brimgate.engine.tokens.pairs import estimate_tokens
from brimgate.engine.tokens.vocabularies import (
    MAPPED_FAMILIES,
    SLICE_BYTES,
    SLICES,
    count_sampled,
    count_whole,
    load_mapping,
)

Family = Literal["claude", "claude-3", "o200k", "cl100k", "llama3", "chars4"]
FAMILIES: Final[tuple[str, ...]] = get_args(Family)
DEFAULT_FAMILY: Final = "claude"  # it counts highest: the safe choice for a model we do not know
MIN_BUDGET: Final = 300
"""Below this a notice, a cursor and some content do not fit together."""
# Used if no vocabulary can be loaded: 99 % of documents cost no more than the table estimate times this.
TABLE_SAFETY: Final = 1.41

MAX_IMAGE_TOKENS: Final = 5_000  # assumed, not measured: 3.75 megapixels are what providers scale down to

# A text up to this size is counted whole, a longer one by a sample of this size: usually 2 ms, 7 ms for
# base64.
WHOLE_BYTES: Final = SLICES * SLICE_BYTES

_BOUND_BYTES: Final = 65_536
"""No budget is so large that a closer look at a longer text could show that it fits."""
_CAPITALS: Final = bytes(range(0x41, 0x5B))

_CLAUDE_VERSION: Final = re.compile(r"(?<!\d)(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_PATTERNS: Final = (
    ("llama3", re.compile(r"llama[- ]?v?3(?![\db])")),  # not llama-30b, not open_llama_3b
    ("cl100k", re.compile(r"gpt-?3[.-]?5|gpt-?4(?![.\do])|text-embedding|cl100k")),
    ("o200k", re.compile(r"gpt-?(?:4[.o]|[5-9]|[1-9]\d|oss)|(?<![a-z\d])o[1-9](?!\d)|codex|o200k")),
)


_WELL_KNOWN: Final = (
    "claude-sonnet-5", "claude-opus-4-7", "claude-haiku-4-5", "claude-3-5-sonnet", "gpt-5", "gpt-5-mini", "gpt-4o",
    "gpt-4.1", "gpt-4", "gpt-3.5-turbo", "o3", "o4-mini", "codex", "gpt-oss-120b", "llama-3.3-70b",
)  # fmt: skip
"""Names to suggest. What is known is decided by the patterns."""


def family_of(model: str) -> str:
    """Return the token family of a model name; the safe choice if it is unknown."""
    return _known_family(model) or DEFAULT_FAMILY


def unknown_model(model: str) -> str:
    """Say that a name is unknown, how it is counted, and which names are near. Empty if it is known."""
    if not model.strip() or _known_family(model):
        return ""
    near = get_close_matches(model.strip().lower()[:60], (*_WELL_KNOWN, *FAMILIES), 2, 0.6)
    hint = f"did you mean {' or '.join(near)}? If not, set" if near else "set"
    return (
        f"unknown model {model[:60]!r}: its tokens are counted as for {DEFAULT_FAMILY}, which is on the safe side; {hint} "
        f"the family (--family, token_family): {', '.join(FAMILIES)}"
    )


def _known_family(model: str) -> str:
    """Return the family of a name as providers write it, with prefixes, dates and versions; empty if unknown."""
    name = model.strip().lower().replace("_", "-")
    if name in FAMILIES:
        return name
    if "claude" in name:
        version = _CLAUDE_VERSION.search(name, name.index("claude"))
        old = version is not None and (int(version[1]), int(version[2] or 0)) < (4, 7)
        return "claude-3" if old else "claude"
    for family, pattern in _PATTERNS:
        if pattern.search(name):
            return family
    return ""


@dataclass(frozen=True, slots=True)
class Estimator:
    family: str = DEFAULT_FAMILY
    multiplier: float = 1.0  # the user's own correction

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise ValueError(f"unknown token family {self.family!r}: one of {', '.join(FAMILIES)}")
        if not (math.isfinite(self.multiplier) and self.multiplier > 0):
            raise ValueError(f"the token multiplier must be a positive number, not {self.multiplier!r}")

    def bound(self, byte_count: int) -> int:
        """Return a number of tokens that no text of `byte_count` bytes exceeds."""
        if self.family == "chars4":
            return self._scale(_chars4(byte_count))
        if self.family in MAPPED_FAMILIES:
            # Claude normalises first and marks capitals and ends of words. By the reconstruction in PyPI's
            # ctok, base64 costs 0.96 tokens a byte, "9Z9Z" 1.5, and U+1D160, which normalisation splits into
            # three characters, 3 (and one more token for the text).
            return self._scale(3 * byte_count + 1)
        return self._scale(byte_count)

    def bound_of(self, data: bytes | bytearray) -> int:
        """Return a number of tokens that no text in a JSON string of these bytes exceeds.

        Plain ASCII is cheaper than the worst of Unicode: 3,000 random alphabets cost at most 1.16 tokens a byte, and 2 more
        for a capital.
        """
        if len(data) > _BOUND_BYTES or self.family not in MAPPED_FAMILIES or not data.isascii():
            return self.bound(len(data))
        capitals = len(data) - len(data.translate(None, _CAPITALS))
        return self._scale(1.25 * len(data) + 2 * capitals + 2)

    def table(self, text: str | bytes) -> int:
        """Estimate by the byte-pair table: 0.2 ms per 100 KB."""
        if self.family == "chars4":
            return self._scale(_chars4(len(text) if isinstance(text, str) else len(_as_text(text))))
        return self._scale(self._table(_as_bytes(text)))

    def count(self, text: str | bytes) -> int:
        """Return the best estimate that takes at most 10 ms, whatever the size."""
        return self._exactly(text, self._count)

    def ceiling(self, text: str | bytes) -> int:
        """Return the count that budgets are fitted against, always of the whole text.

        It is exact where the vocabulary is public, else 99 % safe.
        """
        return self._exactly(text, self._ceiling, table_safety=TABLE_SAFETY)

    def surely_fits(self, text: str, budget: int) -> bool:
        """Return whether a text fits by the table alone.

        Loading a vocabulary takes longer than all the rest of a call from a shell.
        """
        data = text.encode("utf-8", "surrogateescape")
        return is_surely_under(data, self.table(data), budget, self)

    def _table(self, data: bytes) -> float:
        try:
            return estimate_tokens(data, self.family)
        except (OSError, ValueError, IndexError, MemoryError):  # damaged package data: NFR-1, count bytes
            return float(len(data))

    def _count(self, text: str | bytes) -> float:
        data = _as_bytes(text)
        if len(data) > WHOLE_BYTES:
            return count_sampled(data, self.family)
        return count_whole(_as_text(text), self.family)

    def _ceiling(self, text: str | bytes) -> float:
        safety = load_mapping(self.family).safety if self.family in MAPPED_FAMILIES else 1.0
        return count_whole(_as_text(text), self.family) * safety

    def _exactly(
        self, text: str | bytes, count: Callable[[str | bytes], float], table_safety: float = 1.0
    ) -> int:
        if self.family == "chars4":
            return self.table(text)
        try:
            return self._scale(count(text))
        except Exception:  # noqa: BLE001 NFR-1: whatever goes wrong in a compiled tokenizer, the request goes on
            return self._scale(self._table(_as_bytes(text)) * table_safety)

    def _scale(self, tokens: float) -> int:
        # Subtracting a small number keeps 10 x 1.1 at 11.
        return math.ceil(tokens * self.multiplier - 1e-9)


def is_surely_under(data: bytes, tokens: int, budget: int, estimator: Estimator) -> bool:
    """Return whether a text of `tokens` by the table is within a budget beyond doubt."""
    if 2 * tokens > budget or len(data) > MOST_BYTES_A_TOKEN * budget:
        return False
    odd = len(data.translate(None, _ORDINARY)) * estimator.bound(1)
    return max(2 * tokens, _by_runs(data) * estimator.multiplier) + odd <= budget


def _by_runs(data: bytes) -> float:
    """Estimate the tokens of a text by where its kinds of characters change.

    The table is a sum over pairs of bytes, some with negative weights. For pairs that no real text is made of
    (`aA aA`, `"A"A`) it can say that they are free.
    """
    letters = len(data) - len(data.translate(None, _LETTERS))
    in_long_runs = sum(map(len, _LONG_RUN.findall(data)))
    return 1.6 * len(_RUN.findall(data)) + letters / 4 + 0.75 * in_long_runs


_ORDINARY: Final = (
    bytes(range(0x30, 0x3A)) + bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B)) + b' \n\r\t"{}[]:,.-_/'
)
"""Bytes for which the table has never counted less than half of what a text of them costs.

Others (symbols, scripts beyond ASCII) can cost several times what it says: they are counted at their maximum.
"""
_LETTERS: Final = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B))
_RUN: Final = re.compile(rb"[a-z]+|[A-Z]+|[0-9]{1,3}| +|[^a-zA-Z0-9 ]")
_LONG_RUN: Final = re.compile(rb"[A-Za-z]{13,}")
MOST_BYTES_A_TOKEN: Final = 8
"""Prose has about four; more than this is no text."""


def _chars4(characters: int) -> int:
    b = characters // 4
    return b + int(b * 0.2)


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _as_text(text: str | bytes) -> str:
    """Convert to what a tokenizer accepts: lone surrogates and broken UTF-8 become replacement characters."""
    if isinstance(text, bytes):
        return text.decode("utf-8", "replace")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def image_tokens(width: int, height: int) -> int:
    """Estimate by pixels. Providers scale larger images down, so none costs more than the largest they take."""
    return min(math.ceil(width * height / 750), MAX_IMAGE_TOKENS)


def image_size(data: bytes) -> tuple[int, int] | None:
    """Read width and height from the first bytes of a PNG, JPEG, GIF or WebP."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and data[12:16] == b"IHDR" and len(data) >= 24:
        return _big(data[16:20]), _big(data[20:24])
    if data[:6] in (b"GIF87a", b"GIF89a") and len(data) >= 10:
        return _little(data[6:8]), _little(data[8:10])
    if data[:2] == b"\xff\xd8":
        return _jpeg_size(data)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    return None


def _big(data: bytes) -> int:
    return int.from_bytes(data, "big")


def _little(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # a fill byte
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # start of frame
            return _big(data[at + 7 : at + 9]), _big(data[at + 5 : at + 7])
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers without a length
            at += 2
        elif (length := _big(data[at + 2 : at + 4])) >= 2:
            at += 2 + length
        else:
            return None
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + _little(data[24:27]), 1 + _little(data[27:30])
        case b"VP8L" if data[20] == 0x2F:
            bits = _little(data[21:25])
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            return _little(data[26:28]) & 0x3FFF, _little(data[28:30]) & 0x3FFF
        case _:
            return None
