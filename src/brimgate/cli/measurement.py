"""What a formatter saved on one answer (W-R3): bytes and tokens, against minified and against pretty JSON."""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brimgate.engine import jsontext
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import JsonRefused, OperatorError


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
        """In the names of the brief (004)."""
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
    """Before anything is called: afterwards it would be too late to say so."""
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
