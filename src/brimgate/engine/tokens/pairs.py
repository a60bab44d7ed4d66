"""The byte-pair table: estimate how many tokens a text costs from which bytes follow which.

Every byte has one of 24 classes and every pair of classes a weight, one vector per family, fitted on whole
documents. The 24 x 24 weights are spread over all 65,536 pairs of bytes, because one indexed load per pair
(0.12 ms per 100 KB) beats class look-ups and a multiplication (0.6 ms).

Weights are whole numbers, so that the sum does not depend on its order: with numpy or without, on any
machine, the same text has the same estimate.
"""

import sys
from array import array
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

FITTED_FAMILIES: Final = ("claude", "claude-3", "o200k", "cl100k", "llama3")
DATA: Final = Path(__file__).parent / "data"
CLASSES: Final = 24
UNITS_PER_TOKEN: Final = 8192

# Up to this size a plain Python sum (0.06 ms per KB) is cheaper than importing numpy (100 ms, once).
SMALL_BYTES: Final = 8 * 1024

# Pairs are summed window by window: a line of 50 MB must not need 50 MB of looked-up weights.
WINDOW_BYTES: Final = 128 * 1024

# The weights were fitted on text where few characters repeat. An aligned block of a single byte value is part
# of a run and costs what such a run costs instead. Finding blocks takes 0.01 ms per 100 KB; finding the ends
# of runs by regex takes 4 ms.
BLOCK_BYTES: Final = 64
_FEW_BYTES: Final = 4_096
"""Up to here a loop over the blocks is cheaper than numpy."""


@dataclass(frozen=True, slots=True)
class PairTable:
    weights: "array[int]"  # of a pair of bytes, indexed by the pair read as one native 16-bit integer
    corrections: "array[int]"  # added for a block of one byte value


@cache
def load_table(family: str) -> PairTable:
    data = (DATA / "byte_pairs.bin").read_bytes()
    size = 2 * (CLASSES * CLASSES + 256)
    start = 256 + size * FITTED_FAMILIES.index(family)
    numbers = array("h", data[start : start + size])
    if sys.byteorder == "big":
        numbers.byteswap()
    weights = _spread(numbers[: CLASSES * CLASSES], classes=data[:256])
    run_rates = numbers[CLASSES * CLASSES :]
    corrections = [BLOCK_BYTES * (rate - weights[byte * 257]) for byte, rate in enumerate(run_rates)]
    return PairTable(weights, array("i", corrections))


def _spread(class_weights: "array[int]", classes: bytes) -> "array[int]":
    little = sys.byteorder == "little"
    weights = array("h")
    rows: dict[int, array[int]] = {}
    for major in classes:  # of the byte in the high half of the integer: the second one on most machines
        if major not in rows:
            start, step = (major, CLASSES) if little else (major * CLASSES, 1)
            rows[major] = array("h", [class_weights[start + step * minor] for minor in classes])
        weights += rows[major]
    return weights


def estimate_tokens(data: bytes, family: str) -> float:
    if len(data) < 2:
        return float(len(data))
    table = load_table(family)
    small = len(data) <= SMALL_BYTES and "numpy" not in sys.modules
    units = _sum_plain(data, table) if small else _sum_fast(data, table)
    # Some weights are negative; no text is cheaper than o200k's longest run of spaces.
    return max(units / UNITS_PER_TOKEN, len(data) / 128, 1.0)


def _sum_plain(data: bytes, table: PairTable) -> int:
    view, weigh = memoryview(data), table.weights.__getitem__
    odd_end = 1 + (len(data) - 1) // 2 * 2
    units = sum(map(weigh, view[: len(data) // 2 * 2].cast("H"))) + sum(map(weigh, view[1:odd_end].cast("H")))
    for start in range(0, len(data) - BLOCK_BYTES + 1, BLOCK_BYTES):
        block = data[start : start + BLOCK_BYTES]
        if block.count(block[0]) == BLOCK_BYTES:
            units += table.corrections[block[0]]
    return units


def _sum_fast(data: bytes, table: PairTable) -> int:
    try:
        import numpy as np
    except ImportError:  # slower, and the same number
        return _sum_plain(data, table)
    weights = np.frombuffer(table.weights, np.int16)
    units = 0
    for start in range(0, len(data) - 1, WINDOW_BYTES):
        # One byte more than the window, so that the pair across its end is counted.
        length = min(WINDOW_BYTES + 1, len(data) - start)
        for shift in (0, 1):
            pairs = np.frombuffer(data, np.uint16, (length - shift) // 2, start + shift)
            # No index is out of range; "clip" skips that check, which takes half of the time.
            units += int(weights.take(pairs, mode="clip").sum(dtype=np.int64))
        units += sum(table.corrections[data[start + at]] for at in _repeated_blocks(data, start, length))
    return units


def _repeated_blocks(data: bytes, start: int, length: int) -> list[int]:
    """Return the offsets from `start` of the blocks that consist of one byte value."""
    if length <= _FEW_BYTES:
        ends = range(start + BLOCK_BYTES, start + length + 1, BLOCK_BYTES)
        same = (at - BLOCK_BYTES for at in ends if data[at - BLOCK_BYTES] == data[at - 1])
        return [at - start for at in same if data.count(data[at], at, at + BLOCK_BYTES) == BLOCK_BYTES]
    import numpy as np

    rows = length // BLOCK_BYTES
    blocks = np.frombuffer(data, np.uint8, rows * BLOCK_BYTES, start).reshape(rows, BLOCK_BYTES)
    suspects = (blocks[:, 0] == blocks[:, -1]).nonzero()[0]
    repeated = (blocks[suspects] == blocks[suspects, :1]).all(axis=1)
    return (suspects[repeated] * BLOCK_BYTES).tolist()


def tokens_by_block(data: bytes, family: str, block_bytes: int) -> "array[float]":
    """Estimate the tokens of each block of a text. `block_bytes` is a multiple of BLOCK_BYTES."""
    import numpy as np

    table = load_table(family)
    weights = np.frombuffer(table.weights, np.int16)
    units = np.zeros(-(-len(data) // block_bytes), np.int64)
    window = WINDOW_BYTES // block_bytes * block_bytes
    for start in range(0, len(data), window):
        first = start // block_bytes
        for shift in (0, 1):
            length = min(window + 1, len(data) - start) - shift
            pairs = np.frombuffer(data, np.uint16, max(length, 0) // 2, start + shift)
            starts = np.arange(0, len(pairs), block_bytes // 2)
            if len(starts):
                sums = np.add.reduceat(weights.take(pairs, mode="clip"), starts, dtype=np.int64)
                units[first : first + len(starts)] += sums
        for at in _repeated_blocks(data, start, min(window, len(data) - start)):
            units[first + at // block_bytes] += table.corrections[data[start + at]]
    # Some weights are negative, but no text is cheaper than o200k's longest run of spaces.
    lengths = np.minimum(block_bytes, len(data) - np.arange(len(units)) * block_bytes)
    return array("d", np.maximum(units / UNITS_PER_TOKEN, lengths / 128).tobytes())
