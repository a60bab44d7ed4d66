"""Alerts: when one is raised, and when it is cleared.

Pure: whoever looks tells what has happened since the last look, and what time it is.
"""

import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Final, Literal, NamedTuple

AlertName = Literal[
    "oversized_share", "estimator_drift", "upstream_failing", "store_degraded", "records_dropped"
]
_Verdict = Literal["bad", "well", "unsure"]
_Key = tuple[AlertName, str]

_CLEAR_SHARE: Final = 0.8
"""Of its threshold: a share must fall so low before its alert is cleared."""
_CLEAR_MARGIN: Final = 0.02
"""The estimates must be better than the threshold by so much before their alert is cleared."""
_SURE_SECONDS: Final = 10.0
"""What fails for less than this, or is well for less, may be a hiccup."""
_REST_SECONDS: Final = 60.0
"""An alert that was cleared is not raised again before: one that flaps is no flood."""
_BUCKETS: Final = 60
_MAX_SUBJECTS: Final = 100
_MAX_REASON_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class AlertOptions:
    oversized_share: float = 0.05
    """Alert when more of the answers than this are oversized."""
    window_seconds: float = 900.0
    least_answers: int = 20
    """Fewer answers in the window say nothing."""
    accuracy: float = 0.85
    """Alert when fewer of the samples than this are within 20 %."""
    least_samples: int = 20


class Tick(NamedTuple):
    """What has happened since the last tick."""

    answers: int = 0
    oversized: int = 0
    samples: int = 0
    """Replies whose estimate was compared with a count."""
    samples_near: int = 0
    """Of these, how many were within 20 %."""
    dropped: int = 0
    """Records that could not be kept."""
    failing: Mapping[str, str] = {}
    """The upstreams that fail now, each with the reason."""
    store: str = ""
    """Why the shared store is degraded now. Empty if it is not, or if there is none."""


@dataclass(frozen=True, slots=True)
class Alert:
    name: AlertName
    subject: str
    """Whom it is about, as the name of an upstream. Empty if there is only one."""
    state: Literal["raised", "cleared"]
    since: float
    """When it was raised, in seconds of the wall clock."""
    fields: dict[str, Any]

    def document(self) -> dict[str, Any]:
        """Return it as JSON, for a webhook and for the statistics."""
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.since))
        return {
            "alert": self.name,
            "state": self.state,
            "subject": self.subject,
            "since": since,
            **self.fields,
        }


class Alerts:
    def __init__(self, options: AlertOptions) -> None:
        self.options = options
        """May be replaced at any time."""
        self._answers = _Share()
        self._samples = _Share()
        self._upstreams: dict[str, _Fault] = {}
        self._store = _Fault()
        self._drops = _Drops()
        self._raised: dict[_Key, Alert] = {}
        """In the order in which they were raised, with the numbers of the last look."""
        self._cleared_at: dict[_Key, float] = {}
        """Those that may not be raised again yet."""

    @property
    def active(self) -> list[Alert]:
        """Return the alerts that are raised now, oldest first."""
        return list(self._raised.values())

    def look(self, tick: Tick, now: float, wall: float) -> list[Alert]:
        """Return the alerts that are raised or cleared by what has happened since the last look.

        `now` is the monotonic clock. `wall` may jump: it only says since when an alert is raised.
        """
        self._cleared_at = {key: at for key, at in self._cleared_at.items() if now - at < _REST_SECONDS}
        changes = [self._change(finding, now, wall) for finding in self._findings(tick, now)]
        return [alert for alert in changes if alert is not None]

    def _change(self, finding: "_Finding", now: float, wall: float) -> Alert | None:
        """Raise, clear or refresh the alert of a finding. Return it if that is news."""
        key = finding.name, finding.subject
        alert = self._raised.get(key)
        if alert is None:
            if finding.verdict != "bad" or key in self._cleared_at:
                return None
            raised = self._raised[key] = Alert(*key, "raised", wall, finding.fields)
            return raised
        if finding.verdict == "well":
            del self._raised[key]
            self._cleared_at[key] = now
            return replace(alert, state="cleared", fields=finding.fields)
        self._raised[key] = replace(alert, fields=finding.fields)
        return None

    def _findings(self, tick: Tick, now: float) -> Iterator["_Finding"]:
        yield self._oversized_share(tick, now)
        yield self._estimator_drift(tick, now)
        yield from self._upstream_failing(tick.failing, now)
        yield self._store.look("store_degraded", "", tick.store or None, now)
        yield self._drops.look(tick.dropped, now, self.options.window_seconds)

    def _oversized_share(self, tick: Tick, now: float) -> "_Finding":
        window, threshold = self.options.window_seconds, self.options.oversized_share
        share = self._answers.add(tick.answers, tick.oversized, now, window)
        # What equals the limit is well too: a threshold of 0 could not be cleared otherwise.
        verdict = _verdict(is_bad=share > threshold, is_well=share <= threshold * _CLEAR_SHARE)
        return _Finding(
            "oversized_share",
            "",
            self._answers.judge(verdict, self.options.least_answers, now, window),
            _share_fields(share, threshold, window) | {"answers": self._answers.total},
        )

    def _estimator_drift(self, tick: Tick, now: float) -> "_Finding":
        window, threshold = self.options.window_seconds, self.options.accuracy
        share = self._samples.add(tick.samples, tick.samples_near, now, window)
        # No share is above 1, whatever the threshold.
        verdict = _verdict(is_bad=share < threshold, is_well=share >= min(threshold + _CLEAR_MARGIN, 1.0))
        return _Finding(
            "estimator_drift",
            "",
            self._samples.judge(verdict, self.options.least_samples, now, window),
            _share_fields(share, threshold, window) | {"samples": self._samples.total},
        )

    def _upstream_failing(self, failing: Mapping[str, str], now: float) -> Iterator["_Finding"]:
        kept = {name for kind, name in (*self._raised, *self._cleared_at) if kind == "upstream_failing"}
        for name in self._upstreams.keys() - kept - failing.keys():
            del self._upstreams[name]
        for name in failing:
            if len(self._upstreams) >= _MAX_SUBJECTS:
                break
            self._upstreams.setdefault(name, _Fault())
        for name, fault in self._upstreams.items():
            yield fault.look("upstream_failing", name, failing.get(name), now)


class _Finding(NamedTuple):
    """What one look says about one subject."""

    name: AlertName
    subject: str
    verdict: _Verdict
    fields: dict[str, Any]


@dataclass(slots=True)
class _Bucket:
    start: float
    total: int = 0
    part: int = 0


class _Share:
    """How many of how many, over a sliding window.

    It keeps at most so many buckets, however many ticks there are. The window may change between two looks.
    """

    def __init__(self) -> None:
        self._buckets: deque[_Bucket] = deque(maxlen=_BUCKETS)
        self._enough_at = -inf
        """When a look last found enough of them to judge by."""
        self.total = 0

    def add(self, total: int, part: int, now: float, window_seconds: float) -> float:
        """Add what has happened, forget what is older than the window, and return the share."""
        buckets = self._buckets
        while buckets and buckets[0].start <= now - window_seconds:
            buckets.popleft()
        if total:
            if not buckets or now - buckets[-1].start >= window_seconds / _BUCKETS:
                buckets.append(_Bucket(now))
            buckets[-1].total += total
            buckets[-1].part += part
        self.total = sum(bucket.total for bucket in buckets)
        return sum(bucket.part for bucket in buckets) / self.total if self.total else 0.0

    def judge(self, verdict: _Verdict, least: int, now: float, window_seconds: float) -> _Verdict:
        """Return the verdict if there are enough to judge by. If there were not for a whole window, all is well."""
        if self.total >= max(least, 1):
            self._enough_at = now
            return verdict
        return "well" if now - self._enough_at >= window_seconds else "unsure"


class _Fault:
    """Something that fails or is well, as every look finds it."""

    def __init__(self) -> None:
        self._is_failing = False
        self._since = -inf
        """When a look first found it as it is."""
        self._reason = ""

    def look(self, name: AlertName, subject: str, reason: str | None, now: float) -> _Finding:
        """Note that it fails, for a reason, or that it is well: None. One look alone never makes us sure."""
        if (reason is not None) is not self._is_failing:
            self._is_failing, self._since = not self._is_failing, now
        if reason is not None:
            self._reason = reason[:_MAX_REASON_CHARS]
        is_sure = now - self._since >= _SURE_SECONDS
        verdict = _verdict(is_bad=is_sure and self._is_failing, is_well=is_sure and not self._is_failing)
        return _Finding(name, subject, verdict, {"reason": self._reason})


class _Drops:
    """Records that could not be kept, until there was none for a whole window."""

    def __init__(self) -> None:
        self._dropped = 0
        self._last = -inf

    def look(self, dropped: int, now: float, window_seconds: float) -> _Finding:
        is_over = now - self._last >= window_seconds
        if dropped:
            self._dropped = dropped if is_over else self._dropped + dropped
            self._last = now
        verdict = _verdict(is_bad=bool(dropped) or not is_over, is_well=is_over)
        return _Finding(
            "records_dropped", "", verdict, {"dropped": self._dropped, "window_seconds": window_seconds}
        )


def _verdict(*, is_bad: bool, is_well: bool) -> _Verdict:
    return "bad" if is_bad else "well" if is_well else "unsure"


def _share_fields(share: float, threshold: float, window_seconds: float) -> dict[str, Any]:
    return {"share": round(share, 4), "threshold": threshold, "window_seconds": window_seconds}
