"""Which words of many lines are values: a word with a digit in it is an id, a number, an address, a time."""

from collections.abc import Sequence
from typing import Final

_WINDOW_BYTES: Final = 1 << 19
"""Lines are masked so many bytes at a time: the arrays take twenty times the bytes."""
_SEPARATOR, _OTHER, _DIGIT = 0, 1, 2
_SEPARATORS: Final = b" \t\n\r\x0b\x0c=:,;()[]{}\"'|/<>"
_KINDS: Final = bytes(
    _SEPARATOR if byte in _SEPARATORS else _DIGIT if byte in b"0123456789" else _OTHER for byte in range(256)
)


def mask_values(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Each line with `#` for its values; and its values alone, with blanks between them."""
    data = "\n".join(texts).replace("\r", " ").encode("utf-8", "replace")
    if data.count(b"\n") != len(texts) - 1:
        data = "\n".join(text.replace("\n", " ") for text in texts).encode("utf-8", "replace")
    masked: list[str] = []
    values: list[str] = []
    start = 0
    while start <= len(data):
        end = data.find(b"\n", start + _WINDOW_BYTES)
        end = len(data) if end < 0 else end
        for lines, made in zip((masked, values), _mask(data[start:end]), strict=True):
            lines += made.decode("utf-8", "replace").split("\n")
        start = end + 1
    return masked, values


def _mask(data: bytes) -> tuple[bytes, bytes]:
    import numpy as np  # loaded by the first long list or log only

    kinds = np.frombuffer(data.translate(_KINDS), np.uint8)
    inside = np.concatenate(([False], kinds != _SEPARATOR, [False]))
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return data, data
    valued = np.maximum.reduceat(kinds, starts) == _DIGIT
    starts, ends = starts[valued], ends[valued]
    steps = np.zeros(len(data) + 1, np.int8)
    steps[starts] = 1
    steps[ends] = -1
    within = np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_)
    text = np.frombuffer(data, np.uint8)
    alone = np.where(within | (text == ord("\n")), text, ord(" "))
    masked = text.copy()
    masked[starts] = ord("#")
    within[starts] = False
    return masked[~within].tobytes(), alone.astype(np.uint8).tobytes()
