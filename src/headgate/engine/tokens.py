"""How many tokens is this text, for this model family?

Three answers of rising cost: `bound` from the number of bytes alone, `table` from a byte-pair table, `count`
from an exact vocabulary. `ceiling` is the count that budgets are fitted against. None of them ever raises.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headgate.engine.bytepairs import estimate_tokens
from headgate.engine.vocabularies import MAPPED_FAMILIES, exact_counter, load_mapping

FAMILIES: Final = ("claude", "claude-3", "o200k", "cl100k", "llama3", "chars4")
DEFAULT_FAMILY: Final = "claude"  # it counts highest: for a model we do not know, the safe side

# Above WHOLE_BYTES an exact count is taken of slices only, spread evenly over the text.
WHOLE_BYTES: Final = 64 * 1024
SLICES: Final = 16
SLICE_BYTES: Final = 1024

_CLAUDE_VERSION: Final = re.compile(r"(?<!\d)(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")
_O200K: Final = re.compile(
    r"gpt-?4o|gpt-?4\.[1-9]|gpt-?(?:[5-9]|\d\d)(?!\d)|gpt-oss|(?:^|[^a-z0-9])o[1-9](?!\d)|codex|o200k"
)
_CL100K: Final = re.compile(r"gpt-?4|gpt-?3\.?5|text-embedding|cl100k")
_LLAMA3: Final = re.compile(r"llama-?v?3(?!\d)")


def family_of(model: str) -> str:
    """The token family of a model name as providers write it, with their prefixes, dates and versions."""
    name = model.strip().lower().replace("_", "-")
    if name in FAMILIES:
        return name
    if "claude" in name:
        version = _CLAUDE_VERSION.search(name, name.index("claude"))
        number = (int(version[1]), int(version[2] or 0)) if version else (99, 0)
        return "claude" if number >= (4, 7) else "claude-3"
    for family, pattern in (("llama3", _LLAMA3), ("o200k", _O200K), ("cl100k", _CL100K)):
        if pattern.search(name):
            return family
    return DEFAULT_FAMILY


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
        """No text of so many bytes costs more."""
        if self.family == "chars4":
            return self._scale(_chars4(byte_count))
        return self._scale(byte_count)

    def table(self, text: str | bytes) -> int:
        """The byte-pair table estimate: 0.3 ms per 100 KB."""
        if self.family == "chars4":
            return self._scale(_chars4(len(_as_text(text))))
        return self._scale(self._table(_as_bytes(text)))

    def count(self, text: str | bytes) -> int:
        """The best estimate there is within 10 ms, whatever the size."""
        if self.family == "chars4":
            return self.table(text)
        data = _as_bytes(text)
        return self._scale(self._attempt(lambda: self._count(text, data), data))

    def ceiling(self, text: str | bytes) -> int:
        """What budgets are fitted against: exact where the vocabulary is public, else 99 % safe."""
        if self.family == "chars4":
            return self.table(text)
        data = _as_bytes(text)
        if self.family in MAPPED_FAMILIES:
            value = self._attempt(lambda: self._count(text, data) * load_mapping(self.family).safety, data)
            return min(self._scale(value), self.bound(len(data)))
        return self._scale(self._attempt(lambda: exact_counter(self.family)(_as_text(text)), data))

    def _table(self, data: bytes) -> float:
        try:
            return min(estimate_tokens(data, self.family), len(data))
        except (OSError, ValueError, MemoryError):  # damaged package data: NFR-1, count bytes
            return float(len(data))

    def _count(self, text: str | bytes, data: bytes) -> float:
        count = exact_counter(self.family)
        if len(data) <= WHOLE_BYTES:
            return count(_as_text(text))
        sample = _slices(data)
        exact = sum(count(_as_text(part)) for part in sample)
        table = sum(estimate_tokens(part, self.family) for part in sample)
        return estimate_tokens(data, self.family) * exact / table

    def _attempt(self, exact: Callable[[], float], data: bytes) -> float:
        try:
            return exact()
        except Exception:  # noqa: BLE001 NFR-1: whatever a compiled tokenizer raises, the request goes on
            return self._table(data)

    def _scale(self, tokens: float) -> int:
        return math.ceil(tokens * self.multiplier - 1e-9)


def _chars4(characters: int) -> int:
    b = characters // 4
    return b + int(b * 0.2)


def _as_bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def _as_text(text: str | bytes) -> str:
    """Text that a tokenizer accepts: lone surrogates and broken UTF-8 count as replacement characters."""
    if isinstance(text, str):
        if text.isascii():
            return text
        text = text.encode("utf-8", "surrogatepass")
    return text.decode("utf-8", "replace")


def _slices(data: bytes) -> list[bytes]:
    stride = (len(data) - SLICE_BYTES) / (SLICES - 1)
    return [data[(at := int(i * stride)) : at + SLICE_BYTES] for i in range(SLICES)]


def image_tokens(width: int, height: int) -> int:
    return math.ceil(width * height / 750)


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height from the first bytes of a PNG, JPEG, GIF or WebP."""
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
