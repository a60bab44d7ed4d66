"""What was decided about an answer, for logs and statistics: sizes and names, never content."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_log: Final = logging.getLogger("brimgate.rest")


@dataclass(frozen=True, slots=True)
class Decision:
    path: str
    kind: str
    """untouched, minified, page, preview, part, chunk, fields, whole, openapi, or the code of an error of ours."""
    status: int
    original_tokens: int
    estimated_tokens: int
    budget: int
    item_count: int
    original_bytes: int
    response_bytes: int


Report = Callable[[Decision], None]


def log_decision(decision: Decision) -> None:
    _log.info(
        "path=%r kind=%s originalTokens=%d estimatedTokens=%d itemCount=%d",
        decision.path,
        decision.kind,
        decision.original_tokens,
        decision.estimated_tokens,
        decision.item_count,
    )


def tell(report: Report, decision: Decision) -> None:
    try:
        report(decision)
    except Exception:  # noqa: BLE001  # NFR-4: telemetry never fails a request
        _log.warning("a report of a decision failed", exc_info=True)
