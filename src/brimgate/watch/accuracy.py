"""Measure how good the token estimate is: a sample of replies is counted, and the errors are kept.

What a count is worth depends on its source. Where the vocabulary is public, the count is exact. A provider's own
counter is the truth for its models. Otherwise the o200k count is a reference: it shows that something changed, not
how far the estimate is off.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple

from brimgate.engine.tokens.vocabularies import MAPPED_FAMILIES, VOCABULARIES, count_whole

CountSource = Literal["exact", "provider", "reference"]

REFERENCE_FAMILY: Final = "o200k"
TIMEOUT_SECONDS: Final = 10.0
SILENCE_SECONDS: Final = 300.0
"""How long a provider that failed is not asked again."""
NEAR: Final = 0.20
FAR: Final = 0.30
MIN_SAMPLES: Final = 30
"""Fewer say nothing about a multiplier."""
_MIN_CORRECTION: Final = 0.02
_MAX_ANSWER_BYTES: Final = 65_536
_LOWEST, _HIGHEST = -100, 300
"""The range of errors that are told apart, in percent."""
_PARTS: Final = 1_000_000


class Count(NamedTuple):
    """Hold how many tokens a text has.

    exact: by the family's public vocabulary. provider: by the provider's own counter, which adds about 7 tokens for
    the message around the text. reference: by o200k, for a family without a public tokenizer.
    """

    tokens: int
    source: CountSource

    @property
    def is_truth(self) -> bool:
        """Return whether an estimate may be blamed for not being this. Alerts must leave out what is not."""
        return self.source != "reference"


@dataclass(frozen=True, slots=True)
class CounterOptions:
    url: str = ""  # such as https://api.anthropic.com/v1/messages/count_tokens
    key: str = field(default="", repr=False)
    model: str = ""

    @property
    def is_complete(self) -> bool:
        return bool(self.url and self.key and self.model)


class TokenCounter:
    """Counts texts by the best source there is. Blocks while it asks a provider: not for the event loop."""

    def __init__(
        self,
        options: CounterOptions,
        *,
        clock: Callable[[], float] = time.monotonic,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._options = options
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._silent_until = float("-inf")

    def count(self, text: str, family: str) -> Count | None:
        """Count the tokens of a whole text; return None if no vocabulary can be loaded."""
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")  # as the estimator reads it
        if family in VOCABULARIES:
            return _count_by_vocabulary(text, family, "exact")
        tokens = self._ask(text) if family in MAPPED_FAMILIES else None
        if tokens is None:
            return _count_by_vocabulary(text, REFERENCE_FAMILY, "reference")
        return Count(tokens, "provider")

    def _ask(self, text: str) -> int | None:
        # A provider refuses a message without text. That is no failure, and no reason to stop asking.
        if not self._options.is_complete or not text.strip() or self._clock() < self._silent_until:
            return None
        tokens = _ask_provider(self._options, text, self._timeout_seconds)
        if tokens is None:
            self._silent_until = self._clock() + SILENCE_SECONDS
        return tokens


def _count_by_vocabulary(text: str, family: str, source: CountSource) -> Count | None:
    try:
        return Count(int(count_whole(text, family)), source)
    except (ImportError, OSError, ValueError, RuntimeError, MemoryError):  # a damaged or missing package
        return None


def _ask_provider(options: CounterOptions, text: str, timeout_seconds: float) -> int | None:
    """Return the provider's count of a message with this text; None if it fails in any way.

    Nothing is said of the error: some repeat the headers, and so the key.
    """
    from http.client import HTTPException

    try:
        status, body = _post(options, text, timeout_seconds)
        return _read_tokens(body) if 200 <= status < 300 else None
    except (OSError, HTTPException, ValueError, RecursionError):
        return None


def _post(options: CounterOptions, text: str, timeout_seconds: float) -> tuple[int, bytes]:
    """Send the request, and return the status and the body. A redirect is an answer like any other."""
    from contextlib import closing
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(options.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("the counter needs an address that begins with http:// or https://")
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    message = {"model": options.model, "messages": [{"role": "user", "content": text}]}
    headers = {
        "x-api-key": options.key,
        "anthropic-version": "2023-06-01",
        "content-type": "application/json",
    }
    with closing(kind(parts.hostname, parts.port, timeout=timeout_seconds)) as connection:
        connection.request("POST", target, json.dumps(message).encode(), headers)
        with connection.getresponse() as response:
            return response.status, response.read(_MAX_ANSWER_BYTES)


def _read_tokens(body: bytes) -> int | None:
    match json.loads(body):
        case {"input_tokens": int(tokens)} if tokens > 0 and tokens is not True:
            return tokens
        case _:
            return None


def is_near(error: float) -> bool:
    return abs(error) <= NEAR


def is_far(error: float) -> bool:
    """Return whether an estimate is so far off that it is logged by itself."""
    return abs(error) > FAR


class Accuracy:
    """Keeps the distribution of errors of the estimate, by family and source."""

    def __init__(self) -> None:
        self._errors: dict[tuple[str, CountSource], _Errors] = {}

    def add(self, family: str, estimated: int, counted: Count) -> float:
        """Add a sample, and return its relative error: positive where the estimate is too high."""
        error = (estimated - counted.tokens) / max(counted.tokens, 1)
        errors = self._errors.get((family, counted.source)) or _Errors()
        errors.add(error)
        self._errors[family, counted.source] = errors  # never without a sample: another thread may read it
        return error

    def document(self) -> list[dict[str, Any]]:
        """Return one row for each family and source, with shares and errors as fractions."""
        return [
            {"family": family, "source": source}
            | errors.row()
            | {"proposed_multiplier": None if source == "reference" else errors.propose_multiplier()}
            for (family, source), errors in sorted(self._errors.items())
        ]


class _Errors:
    """Counts errors in steps of one percent, so that memory does not grow with the samples."""

    def __init__(self) -> None:
        self._samples = 0
        self._near = 0
        self._sum = 0.0
        self._counts = [0] * (_HIGHEST - _LOWEST + 1)

    def add(self, error: float) -> None:
        percent = round(100 * min(max(error, _LOWEST / 100), _HIGHEST / 100))
        # In this order another thread that reads finds a step for every sample, and no share over 1.
        self._counts[percent - _LOWEST] += 1
        self._samples += 1
        self._near += is_near(error)
        self._sum += error

    def row(self) -> dict[str, Any]:
        return {
            "samples": self._samples,
            "within_20": round(self._near / self._samples, 4),
            "median_error": self._median() / 100,
            "p95_error": _percentile(self._absolute_counts(), self._samples, 95) / 100,
            "bias": round(self._sum / self._samples, 4),
        }

    def propose_multiplier(self) -> float | None:
        """Return what would bring the median of estimated/counted to 1, on top of the multiplier in force.

        None if there are few samples, if it would change little, or if half of the errors are beyond what is told
        apart.
        """
        median = self._median()
        if self._samples < MIN_SAMPLES or median in (_LOWEST, _HIGHEST):
            return None
        multiplier = 100 / (100 + median)
        return round(multiplier, 3) if abs(multiplier - 1) > _MIN_CORRECTION else None

    def _median(self) -> int:
        return _LOWEST + _percentile(self._counts, self._samples, 50)

    def _absolute_counts(self) -> list[int]:
        counts = [0] * (_HIGHEST + 1)
        for percent, count in enumerate(self._counts, _LOWEST):
            counts[abs(percent)] += count
        return counts


def _percentile(counts: list[int], samples: int, percent: int) -> int:
    """Return the first position at which at least this percentage of the samples is reached."""
    reached = 0
    for position, count in enumerate(counts):
        reached += count
        if 100 * reached >= percent * samples:
            return position
    return len(counts) - 1


class Sampling:
    """Picks a share of calls, spread evenly: after n calls, n times the share, rounded down. For one thread."""

    def __init__(self, share: float) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"the share of calls to sample must be from 0 to 1, not {share!r}")
        # Whole numbers: 0.1 added ten times is less than 1.
        self._step = round(share * _PARTS)
        self._due = 0

    def takes(self) -> bool:
        """Return whether the next call is one of the sample."""
        self._due += self._step
        if self._due < _PARTS:
            return False
        self._due -= _PARTS
        return True
