"""Counters of one process since it started: what `/health` tells."""

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from brimgate.watch.record import Record


class Counters:
    """Counts records, whether or not they can be kept."""

    def __init__(self) -> None:
        self.answers = 0
        self.outcomes: Counter[str] = Counter()
        self.original_tokens = 0
        self.estimated_tokens = 0
        self.oversized = 0
        self.reductions = 0
        """Answers of which less was sent than came."""
        self._kinds: Counter[tuple[str, str]] = Counter()
        self._response_bytes = 0
        self._latency_us = 0

    def count(self, record: "Record") -> None:
        self.answers += 1
        self.outcomes[record.outcome] += 1
        self.oversized += record.oversized
        if not record.cursor_followed:  # what is read on was counted when it came
            self.original_tokens += record.original_tokens
            self.reductions += record.estimated_tokens < record.original_tokens
            self._kinds[record.kind, record.outcome] += 1
        self.estimated_tokens += record.estimated_tokens
        self._response_bytes += record.response_bytes
        self._latency_us += record.latency_us

    @property
    def saved_tokens(self) -> int:
        """What did not reach a model, of all that came: reads are taken off."""
        return max(self.original_tokens - self.estimated_tokens, 0)

    def document(self, uptime_seconds: float) -> dict[str, Any]:
        """Return the `context_protection` block of the health check (FR-032)."""
        return {
            "total_requests": self.answers,
            "pagination_adoption": self._share("list", "page"),
            "summarization_adoption": self._share("object", "preview"),
            "avg_response_size_bytes": round(self._response_bytes / max(self.answers, 1)),
            "avg_latency_ms": round(self._latency_us / max(self.answers, 1) / 1_000, 1),
            "oversized_events": self.oversized,
            "uptime_seconds": round(uptime_seconds),
        }

    def _share(self, kind: str, outcome: str) -> float:
        """Return which share of the answers of a kind had this outcome."""
        every = sum(count for (found, _), count in self._kinds.items() if found == kind)
        return round(self._kinds[kind, outcome] / every, 4) if every else 0.0
