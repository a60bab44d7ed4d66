"""Savings over several answers: per operation the mean, the median and the spread, and whether its target is met."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brimgate.cli.measurement import Measurement, saved


@dataclass(frozen=True, slots=True)
class Spread:
    mean: float
    median: float
    deviation: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        return cls(statistics.fmean(values), statistics.median(values), deviation)

    def record(self) -> dict[str, float]:
        named = {"mean": self.mean, "median": self.median, "standardDeviation": self.deviation}
        return {name: round(value, 2) for name, value in named.items()}


@dataclass(frozen=True, slots=True)
class Sizing:
    """One measure, bytes or tokens: what an answer takes on average, and what is saved of it."""

    pretty: float
    minified: float
    shown: float
    of_pretty: Spread
    of_minified: Spread

    @classmethod
    def of(cls, sizes: Sequence[tuple[int, int, int]]) -> "Sizing":
        pretty, minified, shown = (statistics.fmean(column) for column in zip(*sizes, strict=True))
        return cls(
            pretty,
            minified,
            shown,
            Spread.of([saved(before, after) for before, _, after in sizes]),
            Spread.of([saved(before, after) for _, before, after in sizes]),
        )

    def record(self) -> dict[str, Any]:
        return {
            "pretty": round(self.pretty, 1),
            "minified": round(self.minified, 1),
            "shown": round(self.shown, 1),
            "savedOfPretty": self.of_pretty.record(),
            "savedOfMinified": self.of_minified.record(),
        }


@dataclass(frozen=True, slots=True)
class Summary:
    operation: str
    runs: int
    target: int
    bytes: Sizing
    tokens: Sizing
    elapsed_ms: Spread

    @classmethod
    def of(cls, operation: str, target: int, runs: Sequence[Measurement]) -> "Summary":
        return cls(
            operation,
            len(runs),
            target,
            Sizing.of([(one.pretty.bytes, one.minified.bytes, one.shown.bytes) for one in runs]),
            Sizing.of([(one.pretty.tokens, one.minified.tokens, one.shown.tokens) for one in runs]),
            Spread.of([one.elapsed_ms for one in runs]),
        )

    @property
    def is_met(self) -> bool:
        """Both in bytes and in tokens, against minified JSON: against pretty JSON everything looks good."""
        return min(self.bytes.of_minified.mean, self.tokens.of_minified.mean) >= self.target

    def record(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "runs": self.runs,
            "targetPercent": self.target,
            "meetsTarget": self.is_met,
            "bytes": self.bytes.record(),
            "tokens": self.tokens.record(),
            "processingTimeMs": self.elapsed_ms.record(),
        }


_COLUMNS = (
    f"{'operation':22}{'runs':>5}{'pretty':>10}{'minified':>10}{'shown':>9}"
    f"{'of pretty':>11}{'of minified':>13}{'median':>9}{'± sd':>7}{'target':>8}"
)


def table(summaries: Sequence[Summary]) -> str:
    """Once in bytes, once in tokens."""
    parts: list[str] = []
    for name in ("bytes", "tokens"):
        rows = [_row(one, getattr(one, name)) for one in summaries]
        parts.append("\n".join((f"{name} per answer, and percent saved", _COLUMNS, *rows)))
    return "\n\n".join(parts) + "\n"


def _row(summary: Summary, sizing: Sizing) -> str:
    least = sizing.of_minified
    verdict = "" if least.mean >= summary.target else "   BELOW TARGET"
    return (
        f"{summary.operation[:21]:22}{summary.runs:>5}{sizing.pretty:>10,.0f}{sizing.minified:>10,.0f}"
        f"{sizing.shown:>9,.0f}{sizing.of_pretty.mean:>10.1f}%{least.mean:>12.1f}%{least.median:>8.1f}%"
        f"{least.deviation:>7.1f}{summary.target:>7}%{verdict}"
    )
