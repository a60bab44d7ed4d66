"""The byte-pair table: how many tokens a text costs, from which bytes follow which.

Every byte has one of 24 classes and every pair of classes a weight, one vector per family, fitted on whole
documents by tools/fit_tokens.py. The 24 x 24 weights are spread over all 65,536 pairs of bytes, because one
indexed load per pair (0.2 ms per 100 KB) beats two class look-ups and a multiplication (0.6 ms).
"""

import re
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

FITTED_FAMILIES: Final = ("claude", "claude-3", "o200k", "cl100k", "llama3")
DATA: Final = Path(__file__).parent / "data"
CLASSES: Final = 24

# Below this the plain Python sum (0.07 ms per KB) is cheaper than importing numpy (100 ms, once).
SMALL_BYTES: Final = 8 * 1024

# Pairs are summed window by window: a 50 MB line must not need 200 MB of intermediate weights.
WINDOW_BYTES: Final = 512 * 1024

# The weights were fitted on text where a character rarely repeats; beyond this length a run has its own rate.
RUN_BYTES: Final = 64
_RUN: Final = re.compile(rb"(.)\1*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PairTable:
    pairs: "array[float]"  # weight of a pair of bytes, indexed by its native 16-bit value
    run_rates: "array[float]"  # tokens for each further repetition of a byte in a long run


@cache
def load_table(family: str) -> PairTable:
    data = (DATA / "byte_pairs.bin").read_bytes()
    size = 4 * (CLASSES * CLASSES + 256)
    start = 256 + size * FITTED_FAMILIES.index(family)
    numbers = array("f", data[start : start + size])
    if sys.byteorder == "big":
        numbers.byteswap()
    weights, run_rates = numbers[: CLASSES * CLASSES], numbers[CLASSES * CLASSES :]
    return PairTable(_spread(weights, classes=data[:256]), run_rates)


def _spread(weights: "array[float]", classes: bytes) -> "array[float]":
    """The weight of every pair of bytes, in the order of the pair read as one native integer."""
    pairs = array("f")
    rows: dict[int, array[float]] = {}
    for major in classes:  # the byte that is the high half of the integer
        if major not in rows:
            step, base = (1, major * CLASSES) if sys.byteorder == "big" else (CLASSES, major)
            rows[major] = array("f", [weights[base + step * minor] for minor in classes])
        pairs += rows[major]
    return pairs


def estimate_tokens(data: bytes, family: str) -> float:
    if len(data) < 2:
        return float(len(data))
    table = load_table(family)
    total = _sum_small(data, table) if len(data) <= SMALL_BYTES else _sum_large(data, table)
    for byte, length in _long_runs(data):
        total += (length - RUN_BYTES) * (table.run_rates[byte] - table.pairs[byte * 257])
    # Some weights are negative; no text is cheaper than one token per 128 bytes (o200k's longest run of spaces).
    return max(total, len(data) / 128, 1.0)


def _sum_small(data: bytes, table: PairTable) -> float:
    view = memoryview(data)
    even, odd = len(data) // 2 * 2, (len(data) - 1) // 2 * 2
    weigh = table.pairs.__getitem__
    return sum(map(weigh, view[:even].cast("H"))) + sum(map(weigh, view[1 : odd + 1].cast("H")))


def _sum_large(data: bytes, table: PairTable) -> float:
    try:
        import numpy as np
    except ImportError:  # slower, but the same number
        return _sum_small(data, table)
    pairs = np.frombuffer(table.pairs, np.float32)
    total = 0.0
    for start in range(0, len(data) - 1, WINDOW_BYTES):
        # One byte more than the window, so that the pair across its end is counted too.
        length = min(WINDOW_BYTES + 1, len(data) - start)
        for shift in (0, 1):
            codes = np.frombuffer(data, np.uint16, (length - shift) // 2, start + shift)
            total += float(pairs[codes].sum())
    return total


def _long_runs(data: bytes) -> Iterator[tuple[int, int]]:
    """Byte and length of the runs that fill an aligned block of RUN_BYTES: every run of 127 and more.

    Looking at the two ends of each block costs 0.08 ms per 100 KB; a backreference regex over all of it, 4 ms.
    """
    at, last = 0, RUN_BYTES - 1
    while at + last < len(data):
        byte = data[at]
        if byte == data[at + last] and data[at : at + RUN_BYTES] == bytes((byte,)) * RUN_BYTES:
            start = at
            while start and data[start - 1] == byte:
                start -= 1
            match = _RUN.match(data, at)
            end = match.end() if match else at + RUN_BYTES
            yield byte, end - start
            at = -(-end // RUN_BYTES) * RUN_BYTES
        else:
            at += RUN_BYTES
