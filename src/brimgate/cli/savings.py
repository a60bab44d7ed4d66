"""Savings over several answers: the mean, median and spread per operation, and whether its target is met."""

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from xml.sax.saxutils import escape

from brimgate.engine import jsontext
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import InputError, JsonRefused, OperatorError
from brimgate.packs.pack import SAMPLES_FILE, Pack

_COLUMNS = (
    f"{'operation':22}{'runs':>5}{'pretty':>10}{'minified':>10}{'shown':>9}"
    f"{'of pretty':>11}{'of minified':>13}{'median':>9}{'± sd':>7}{'target':>8}"
)
_WANTED = 'must be {"tool": NAME, "arguments": {…}, "answer": …}; without an answer it is called live'
_LABEL: Final = 190
_BARS: Final = 520
_WIDTH: Final = _LABEL + _BARS + 130
_BAR: Final = 13
_ROW: Final = 3 * _BAR + 16
_TOP: Final = 58
_COLOURS: Final = {"pretty": "#b9c2cc", "minified": "#7a8894", "shown": "#1f7a5a"}
_MISSED: Final = "#b3402a"


@dataclass(frozen=True, slots=True)
class Sizes:
    bytes: int
    tokens: int

    @classmethod
    def of(cls, text: str, estimator: Estimator) -> "Sizes":
        return cls(len(text.encode("utf-8", "surrogateescape")), estimator.count(text))


@dataclass(frozen=True, slots=True)
class Measurement:
    operation: str
    pretty: Sizes
    minified: Sizes
    shown: Sizes
    elapsed_ms: float

    @property
    def saved_bytes(self) -> float:
        """Percent, against minified JSON."""
        return saved(self.minified.bytes, self.shown.bytes)

    @property
    def saved_tokens(self) -> float:
        return saved(self.minified.tokens, self.shown.tokens)

    def record(self) -> dict[str, Any]:
        """Return the record with the names of the brief (004)."""
        return {
            "operation": self.operation,
            "rawBytes": self.minified.bytes,
            "compactBytes": self.shown.bytes,
            "savingsPercent": round(self.saved_bytes, 1),
            "estimatedTokensBefore": self.minified.tokens,
            "estimatedTokensAfter": self.shown.tokens,
            "tokenSavingsPercent": round(self.saved_tokens, 1),
            "prettyBytes": self.pretty.bytes,
            "processingTimeMs": round(self.elapsed_ms, 2),
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }

    def line(self) -> str:
        return (
            f"{self.operation}: {self.minified.bytes:,} → {self.shown.bytes:,} bytes ({-self.saved_bytes:+.1f} %), "
            f"{self.minified.tokens:,} → {self.shown.tokens:,} tokens ({-self.saved_tokens:+.1f} %) "
            f"against minified JSON, {self.elapsed_ms:.1f} ms"
        )


def saved(before: int, after: int) -> float:
    return 100 - after / before * 100 if before else 0.0


def measure(
    operation: str, document: bytes, shown: str, elapsed_ms: float, estimator: Estimator
) -> Measurement:
    try:
        minified = jsontext.canonical(document).decode()
        pretty = json.dumps(json.loads(minified), indent=2, ensure_ascii=False)
    except (JsonRefused, ValueError, RecursionError):
        minified = pretty = document.decode("utf-8", "surrogateescape")
    before, least, after = (Sizes.of(text, estimator) for text in (pretty, minified, shown))
    return Measurement(operation, before, least, after, elapsed_ms)


def check_writable(path: Path) -> None:
    """Check before anything is called: afterwards it would be too late."""
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise OperatorError(f"{path}: cannot be written: {error.strerror}") from None


def append(path: Path, measurement: Measurement) -> None:
    line = json.dumps(measurement.record(), ensure_ascii=False) + "\n"
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(line)
    except OSError as error:
        raise OperatorError(f"{path}: cannot be written: {error.strerror}") from None


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
    """One measure, bytes or tokens: the average size of an answer, and how much is saved."""

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
        """Whether it is met in both bytes and tokens, against minified JSON.

        Against pretty JSON everything looks good.
        """
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


def table(summaries: Sequence[Summary]) -> str:
    """Write the table once in bytes, once in tokens."""
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


@dataclass(frozen=True, slots=True)
class Recorded:
    tool: str
    arguments: dict[str, Any]
    answer: bytes = b""
    """As JSON; empty if it must be fetched."""


def read_calls(path: Path) -> list[Recorded]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    found = parse_calls(data, str(path))
    if not found:
        raise InputError(f"{path}: holds no calls; a line {_WANTED}")
    return found


def samples_of(pack: Pack) -> list[Recorded]:
    return parse_calls(pack.file(SAMPLES_FILE), f"{pack.name}/{SAMPLES_FILE}")


def parse_calls(data: bytes, name: str) -> list[Recorded]:
    lines = ((number, line) for number, line in enumerate(data.splitlines(), 1) if line.strip())
    return [_parse(line, f"{name}:{number}") for number, line in lines]


def _parse(line: bytes, where: str) -> Recorded:
    try:
        value: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"{where}: is not JSON: {jsontext.name_trailing_comma(error)}") from None
    except ValueError as error:
        raise InputError(f"{where}: is not JSON: {error}") from None
    except RecursionError:
        raise InputError(f"{where}: is nested too deeply") from None
    members = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    tool, arguments = members.get("tool"), members.get("arguments", {})
    if not isinstance(tool, str) or not tool or not isinstance(arguments, dict):
        raise InputError(f"{where}: {_WANTED}")
    try:
        answer = json.dumps(members["answer"], ensure_ascii=False).encode() if "answer" in members else b""
    except UnicodeEncodeError:
        raise InputError(
            f"{where}: half of a character (\\ud800 to \\udfff without the other half)"
        ) from None
    return Recorded(tool, cast("dict[str, Any]", arguments), answer)


def chart(summaries: Sequence[Summary]) -> str:
    """Return a standalone SVG."""
    height = _TOP + _ROW * len(summaries) + 10
    most = max((one.tokens.pretty for one in summaries), default=1) or 1
    rows = [_bars(one, _TOP + _ROW * index, most) for index, one in enumerate(summaries)]
    size = f'width="{_WIDTH}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {height}"'
    parts = (
        f'{head} font-family="sans-serif" font-size="12">',
        f'<rect {size} fill="#ffffff"/>',
        '<text x="10" y="22" font-size="15">Tokens per answer</text>',
        *_legend(),
        *rows,
        "</svg>",
    )
    return "\n".join(parts) + "\n"


def _legend() -> list[str]:
    parts: list[str] = []
    for index, (name, colour) in enumerate(_COLOURS.items()):
        x = 10 + index * 110
        parts.append(f'<rect x="{x}" y="34" width="11" height="11" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="44">{name}</text>')
    return parts


def _bars(summary: Summary, y: int, most: float) -> str:
    parts = [f'<text x="10" y="{y + _BAR * 2 - 3}">{escape(summary.operation[:28])}</text>']
    for index, (name, colour) in enumerate(_COLOURS.items()):
        tokens: float = getattr(summary.tokens, name)
        width = max(tokens / most * _BARS, 1)
        top = y + index * _BAR
        fill = _MISSED if name == "shown" and not summary.is_met else colour
        parts.append(f'<rect x="{_LABEL}" y="{top}" width="{width:.1f}" height="{_BAR - 2}" fill="{fill}"/>')
        told = f"{tokens:,.0f}"
        if name == "shown":
            told += f" (−{summary.tokens.of_minified.mean:.0f} %)"
        parts.append(f'<text x="{_LABEL + width + 5:.1f}" y="{top + _BAR - 3}" font-size="11">{told}</text>')
    return "\n".join(parts)
