"""Record every decision, off the path of the answer: nothing here fails, delays or grows (NFR-4).

`take` only puts a decision into a bounded queue. A thread measures, counts and keeps what is in there once a second.
What cannot be kept is dropped, counted and told.
"""

import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from brimgate.errors import OperatorError
from brimgate.watch.counters import Counters
from brimgate.watch.metrics import Metrics

if TYPE_CHECKING:
    from brimgate.config.declarations import Telemetry
    from brimgate.engine.decision import Decision, Report
    from brimgate.watch.accuracy import Count, Sampling, TokenCounter
    from brimgate.watch.exhibit import Exhibits, ExhibitShelf
    from brimgate.watch.record import Record
    from brimgate.watch.record_store import RecordBatch, RecordStore
    from brimgate.watch.webhook import Webhook

Tell = Callable[[str, dict[str, Any], str], None]
"""Writes a line of the log: the event, its fields, its level."""
_INTERVAL_SECONDS: Final = 1.0
_MAX_QUEUED: Final = 10_000
_MAX_QUEUED_BYTES: Final = 32 << 20
"""Answers that passed are kept until they are measured."""
_MAX_WAITING: Final = 10_000
"""Records that wait for a file that cannot be written."""
_MAX_CALLS: Final = 10_000
_MAX_TOOLS: Final = 10_000
_REPEAT_SECONDS: Final = 600.0
_TURN: Final = 16
"""After so many the interpreter is left to others: doing so costs as much as measuring three."""
_MAX_EXHIBITS: Final = 30
_MAX_DUE: Final = 50
"""Samples that wait to be counted."""
_MANY: Final = 200
"""From so many answers in a second on it pays to load numpy: they are measured faster, and it takes 12 MB."""
_TELL_SECONDS: Final = 60.0
_CLOSE_SECONDS: Final = 1.5
_HINT: Final = "answers are not affected; what cannot be kept is counted"
_UNWRITABLE: Final = "the file could not be written"
_UNFINISHED: Final = "the file could not be written in time"


@dataclass(slots=True)
class Surroundings:
    """What else is known now, for alerts."""

    failing: Callable[[], Mapping[str, str]] = dict
    """Returns the upstreams that fail, with the reason."""
    store: Callable[[], str] = str
    """Returns why the shared store is degraded; empty if it is not."""


@dataclass(slots=True)
class _Catalog:
    upstream: str
    measure: Callable[[], Mapping[str, int]]
    is_first: bool


class Recorder:
    def __init__(
        self,
        options: "Telemetry",
        tell: Tell,
        surroundings: Surroundings | None = None,
        shelf: "ExhibitShelf | None" = None,
    ) -> None:
        """Create it. Exhibits go onto the shelf if there is one, and not into the file."""
        self.shelf = shelf
        self.counters, self.metrics = Counters(), Metrics()
        self.holders: OrderedDict[int, str] = OrderedDict()
        """Whose the answers are that cursors were issued for, by their number: in full, and so only in memory."""
        self.dropped = 0
        """Decisions that were not taken, since the start. Only `take` changes it: the thread keeps what it has seen."""
        self._dropped_noted = 0
        self.options, self._teller = options, tell
        self._surroundings = surroundings or Surroundings()
        self.keeps_file = options.enabled
        self._queue: deque[Decision | _Catalog] = deque()
        self._queued_bytes = 0
        """About so many: two threads change it, and it is put right whenever the queue is empty."""
        self._wake, self._is_awake = threading.Event(), False
        self._is_closing = False
        self._is_looking = False
        """Whether somebody wants us to look though nothing came."""
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self.counting, self._keeping = threading.Lock(), threading.Lock()
        """Two, so that whoever wants the counters need not wait for a disk."""
        self._desk: _Desk | None = None
        self.on_counted: Callable[[Decision], None] | None = None
        """Gets every decision when it was measured, in the thread. It must not fail."""

    @property
    def alerts(self) -> list[dict[str, Any]]:
        return [one.document() for one in self._desk.alerts.active] if self._desk is not None else []

    @property
    def accuracy(self) -> list[dict[str, Any]]:
        return self._desk.accuracy.document() if self._desk is not None else []

    def apply(self, options: "Telemetry") -> None:
        """Use other options, as far as they can be changed while we run."""
        self.options = options
        if self._desk is not None:
            self._desk.apply(options)

    def take(self, decision: "Decision") -> None:
        """Take a decision. This is all that an answer waits for."""
        if len(self._queue) >= _MAX_QUEUED or self._queued_bytes > _MAX_QUEUED_BYTES:
            self.dropped += 1
        else:
            self._queued_bytes += decision.original_bytes
            self._queue.append(decision)
        if not self._is_awake:
            self._awake()
        elif 2 * len(self._queue) > _MAX_QUEUED or 2 * self._queued_bytes > _MAX_QUEUED_BYTES:
            self._wake.set()  # it would be late to count only when the second is over

    @property
    def _is_filling(self) -> bool:
        """Whether it would be late to count only when the second is over: as in `take`, which spares itself a call."""
        return 2 * len(self._queue) > _MAX_QUEUED or 2 * self._queued_bytes > _MAX_QUEUED_BYTES

    def take_catalog(
        self, upstream: str, measure: Callable[[], Mapping[str, int]], *, is_first: bool
    ) -> None:
        """Take a list of tools, or a page that continues one. `measure` returns the tokens of each."""
        if len(self._queue) < _MAX_QUEUED:
            self._queue.append(_Catalog(upstream, measure, is_first))
        self._awake()

    def _awake(self) -> None:
        self._is_awake = True
        if self._thread is None:
            self._start()
        self._wake.set()

    def _start(self) -> None:
        """Start the thread. Where the system has none to give, the next answer tries again."""
        with self._starting:
            if self._thread is not None:
                return
            thread = threading.Thread(target=self._run, name="brimgate-records", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                self._is_awake = False
                return
            self._thread = thread

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Keep what is left, for so long at most."""
        self._is_closing = True
        if self._thread is not None:
            self._wake.set()
            self._thread.join(seconds)
            if self._thread.is_alive():
                waiting = len(self._queue) + (self._desk.waiting if self._desk is not None else 0)
                self.tell("records_unfinished", {"records": waiting, "hint": _UNFINISHED}, "warning")

    def look(self) -> None:
        """Look whether there is reason for an alert, though no answer came."""
        self._is_looking = True
        self._awake()

    def count(self) -> None:
        """Count all that was taken so far."""
        with self.counting:
            if self._desk is None:
                self._desk = _Desk(self)
            if len(self._queue) >= _MANY:
                import_module("numpy")  # by which they are measured faster
            for at in range(len(self._queue)):  # not what comes meanwhile: there may be no end of it
                one = self._queue.popleft()
                self._desk.note(one)
                if not isinstance(one, _Catalog):
                    self._queued_bytes -= one.original_bytes
                    if self.on_counted is not None:
                        self.on_counted(one)
                if at % _TURN == _TURN - 1:
                    time.sleep(0)  # whoever waits for the interpreter goes first
            if not self._queue:
                self._queued_bytes = 0
            dropped, self._dropped_noted = self.dropped - self._dropped_noted, self.dropped
            self._desk.note_dropped(dropped)

    def flush(self) -> None:
        """Count and keep all that was taken so far. It may have to wait for a disk."""
        self._is_looking = False
        self.count()
        with self._keeping:
            if self._desk is not None:
                self._desk.finish(self._surroundings)

    # In the thread

    def _run(self) -> None:
        while not self._is_closing:
            self._wake.wait()
            self._wake.clear()
            while not self._is_closing and self._has_work:
                if not self._is_filling:
                    self._wake.wait(_INTERVAL_SECONDS)
                self._wake.clear()
                self._flush_safely()
            self._is_awake = False
            if self._queue:  # it came between the last look and the line above
                self._awake()
        self._flush_safely()
        with self._keeping:
            if self._desk is not None:
                self._desk.close()

    @property
    def _has_work(self) -> bool:
        return bool(self._queue) or self._is_looking or self._desk is None or self._desk.is_busy

    def _flush_safely(self) -> None:
        try:
            self.flush()
        except Exception as error:  # noqa: BLE001  # NFR-4: nothing here ends the thread
            self.tell("records_failed", {"error": repr(error)[:200]}, "error")

    def tell(self, event: str, fields: dict[str, Any], level: str) -> None:
        with suppress(Exception):  # NFR-4: the log of an application may fail, too
            self._teller(event, fields, level)


def recording(report: "Report", options: "Telemetry | None") -> "Report":
    """Return what reports decisions and keeps them too, for those who use us inside of their application."""
    if options is None:
        return report
    import atexit
    import logging

    logger = logging.getLogger("brimgate.records")
    levels = logging.getLevelNamesMapping()
    recorder = Recorder(
        options, lambda event, fields, level: logger.log(levels[level.upper()], "%s %s", event, fields)
    )
    atexit.register(recorder.close)

    def take(decision: "Decision") -> None:
        report(decision)
        recorder.take(decision)

    return take


def record_now(decision: "Decision", options: "Telemetry", tell: Tell) -> None:
    """Record the one answer of a command that is about to end. It never fails."""
    if not options.enabled:
        return
    from brimgate.watch.exhibit import Exhibits
    from brimgate.watch.record import Record
    from brimgate.watch.record_store import RecordBatch, RecordStore, records_path

    path = "records"
    try:
        path = records_path(options.file)
        with closing(RecordStore(path, options.max_bytes, options.max_days, is_hurried=True)) as store:
            record = Record.of(decision)
            exhibit = Exhibits(options.exhibits, options.redact).of(record, decision)
            store.add(RecordBatch([record], exhibits=[exhibit] if exhibit is not None else []))
    except Exception as error:  # noqa: BLE001  # NFR-4: whatever is wrong with a disk, the answer was given
        fields = {"file": str(path), "error": str(error)[:200], "hint": "move it away, or set telemetry.file"}
        tell("records_unusable", fields, "warning")


class _Desk:
    """Does the work: measures, counts, samples, keeps and alerts.

    One thread at a time notes, one keeps. What both use is changed with the lock that whoever notes holds.
    """

    def __init__(self, recorder: Recorder) -> None:
        from brimgate.watch.accuracy import Accuracy
        from brimgate.watch.alerts import AlertOptions, Alerts
        from brimgate.watch.record_store import RecordBatch

        self._tell, self._counting = recorder.tell, recorder.counting
        self._counters, self._metrics, self._holders = recorder.counters, recorder.metrics, recorder.holders
        self._keeps_file, self._shelf = recorder.keeps_file, recorder.shelf
        options = recorder.options
        self._store: RecordStore | None = None
        self._batch: RecordBatch = RecordBatch()
        self.accuracy: Accuracy = Accuracy()
        self.alerts: Alerts = Alerts(AlertOptions())
        self._webhook: Webhook | None = None
        self._options = options
        self._calls: OrderedDict[tuple[str, str, bytes], tuple[float, bool]] = OrderedDict()
        self._catalogs: dict[str, dict[str, int]] = {}
        self._due: list[tuple[float, str, str, int, str]] = []
        """Replies that are to be counted: their time, tool, family, estimate and text."""
        self._tick: Counter[str] = Counter()
        """What happened since the last look for alerts."""
        self._told_at: dict[str, float] = {}
        self._is_failing = False
        self._in_hand = 0
        self._sampling: Sampling
        self._counter: TokenCounter
        self._exhibits: Exhibits
        self.apply(options)

    def apply(self, options: "Telemetry") -> None:
        from brimgate.config.placeholders import fill
        from brimgate.watch.accuracy import CounterOptions, Sampling, TokenCounter
        from brimgate.watch.alerts import AlertOptions
        from brimgate.watch.exhibit import Exhibits

        is_same = self._webhook is not None and self._webhook_options(options) == self._webhook_options(
            self._options
        )
        self._options = options
        self._sampling = Sampling(options.sample_share)
        self._exhibits = Exhibits(options.exhibits, options.redact)
        self._counter = TokenCounter(
            CounterOptions(options.count_url, fill(options.count_key), options.count_model)
        )
        self.alerts.options = AlertOptions(
            options.alert_oversized_share, options.alert_window_seconds, options.alert_least_answers
        )
        if is_same:
            return  # what waits to be delivered goes on waiting
        if self._webhook is not None:
            self._webhook.close(0)
        self._webhook = None
        if options.webhook_url:
            from brimgate.watch.webhook import Webhook

            try:
                self._webhook = Webhook(fill(options.webhook_url), fill(options.webhook_secret), self._tell)
            except OperatorError as error:
                self._tell("webhook_refused", {"reason": str(error)}, "error")

    @staticmethod
    def _webhook_options(options: "Telemetry") -> tuple[str, str]:
        return options.webhook_url, options.webhook_secret

    @property
    def is_busy(self) -> bool:
        """Whether there is something to do without a new answer: an alert to clear, records to keep."""
        return bool(self._batch) or bool(self.alerts.active)

    @property
    def waiting(self) -> int:
        """How many records are not kept yet."""
        return len(self._batch.records) + self._in_hand

    def note(self, one: "Decision | _Catalog") -> None:
        try:
            if isinstance(one, _Catalog):
                self._note_catalog(one)
                return
            record = self._note_decision(one)
        except Exception as error:  # noqa: BLE001  # an answer that cannot be measured costs one record, not all
            if not isinstance(one, _Catalog):
                self._lose(1, "cannot be measured")
            self._tell_seldom("record_failed", {"error": repr(error)[:200]})
            return
        try:
            self._keep_exhibit(record, one)
        except Exception as error:  # noqa: BLE001  # this costs an exhibit: the record is noted
            self._tell_seldom("exhibit_failed", {"error": repr(error)[:200]})
        try:
            if one.shown is not None and self._sampling.takes() and len(self._due) < _MAX_DUE:
                text = one.shown().decode("utf-8", "replace")
                self._due.append((one.time, one.tool, one.estimate_method, record.estimated_tokens, text))
        except Exception as error:  # noqa: BLE001  # this costs a sample: the record is noted
            self._tell_seldom("sample_failed", {"error": repr(error)[:200]})

    def _keep_exhibit(self, record: "Record", decision: "Decision") -> None:
        if self._shelf is None and not self._keeps_file:
            return
        exhibit = self._exhibits.of(record, decision)
        if exhibit is not None and self._shelf is not None:
            self._shelf.add(exhibit)
        elif exhibit is not None:
            self._batch.exhibits.append(exhibit)

    def _note_catalog(self, catalog: _Catalog) -> None:
        from brimgate.watch.record import kept_name

        known = {} if catalog.is_first else self._catalogs.get(catalog.upstream, {})
        more = {kept_name(tool): tokens for tool, tokens in catalog.measure().items()}
        known = dict(islice((known | more).items(), _MAX_TOOLS))  # who makes them up may have no end of them
        self._catalogs[catalog.upstream] = self._batch.catalogs[catalog.upstream] = known
        self._metrics.note_catalog(kept_name(catalog.upstream), known)

    def _note_decision(self, decision: "Decision") -> "Record":
        from brimgate.watch.record import Record

        record = Record.of(decision, self._repeated(decision))
        self._counters.count(record)
        self._metrics.count(record, decision)
        if decision.answer and decision.issued_cursor:
            self._holders[decision.answer] = decision.principal_id
            if len(self._holders) > _MAX_CALLS:
                self._holders.popitem(last=False)
        self._tick["answers"] += 1
        self._tick["oversized"] += record.oversized
        if self._keeps_file and len(self._batch.records) < 2 * _MAX_WAITING:
            self._batch.records.append(record)
        elif self._keeps_file:
            self._lose(1, _UNWRITABLE)
        return record

    def _repeated(self, decision: "Decision") -> int:
        if not decision.call:
            return 0
        key = decision.principal_id, decision.tool, decision.call
        before, had_page = self._calls.pop(key, (float("-inf"), False))
        self._calls[key] = decision.time, decision.issued_cursor
        if len(self._calls) > _MAX_CALLS:
            self._calls.popitem(last=False)
        return 0 if decision.time - before > _REPEAT_SECONDS else 2 if had_page else 1

    def _count_samples(self) -> None:
        """Count what was sampled. A provider may be asked for it: nobody else must wait for that."""
        with self._counting:
            due, self._due = self._due, []
        for at, tool, family, estimated, text in due:
            try:
                counted = self._counter.count(text, family) if text.strip() else None
                if counted is not None:
                    self._note_sample(at, tool, family, estimated, counted)
            except Exception as error:  # noqa: BLE001  # whatever a tokenizer makes of a text
                self._tell_seldom("sample_failed", {"error": repr(error)[:200]})

    def _note_sample(self, at: float, tool: str, family: str, estimated: int, counted: "Count") -> None:
        from brimgate.watch.accuracy import is_far, is_near
        from brimgate.watch.record_store import CountedSample

        error = self.accuracy.add(family, estimated, counted)
        with self._counting:
            if self._keeps_file:
                sample = CountedSample(at, family, counted.source, estimated, counted.tokens)
                self._batch.samples.append(sample)
            self._tick["samples"] += counted.is_truth
            self._tick["samples_near"] += counted.is_truth and is_near(error)
        if counted.is_truth and is_far(error):
            fields = {"tool": tool[:200], "estimatedTokens": estimated, "countedTokens": counted.tokens}
            self._tell("estimate_off", fields | {"errorPercent": round(100 * error, 1)}, "warning")

    def note_dropped(self, dropped: int) -> None:
        if dropped:
            self._lose(dropped, "more came than could be measured")

    def _lose(self, records: int, reason: str) -> None:
        self._tick["dropped"] += records
        self._metrics.add("brimgate_telemetry_dropped_total", (), records)
        self._batch.lost[reason] += records

    def finish(self, surroundings: Surroundings) -> None:
        """Keep what was noted, and look whether there is reason for an alert."""
        from brimgate.watch.alerts import Tick
        from brimgate.watch.record_store import RecordBatch

        self._count_samples()
        with self._counting:
            batch, self._batch = self._batch, RecordBatch()
            counted, self._tick = self._tick, Counter()
            self._in_hand = len(batch.records)
        is_kept = not (self._keeps_file and batch) or self._keep(batch)
        with self._counting:
            self._in_hand = 0
            if not is_kept:
                self._put_back(batch)
        tick = Tick(**counted, failing=surroundings.failing(), store=surroundings.store())
        for alert in self.alerts.look(tick, time.monotonic(), time.time()):
            document = alert.document()
            self._tell("alert", document, "warning" if alert.state == "raised" else "info")
            if self._webhook is not None:
                self._webhook.send(document)

    def _keep(self, batch: "RecordBatch") -> bool:
        """Return whether the batch was kept."""
        from brimgate.watch.record_store import RecordStore, is_damaged, records_path

        try:
            if self._store is None:
                options = self._options
                self._store = RecordStore(records_path(options.file), options.max_bytes, options.max_days)
            self._store.add(batch)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with a disk
            self._is_failing = True
            fields = {"file": str(records_path(self._options.file)), "error": str(error)[:200], "hint": _HINT}
            if self._store is not None and is_damaged(error) and self._store.start_anew():
                self._tell(
                    "records_damaged",
                    fields | {"moved": f"{records_path(self._options.file)}.damaged"},
                    "error",
                )
            else:
                self._tell_seldom("records_unusable", fields)
            return False
        if self._is_failing:
            self._is_failing = False
            self._tell("records_kept_again", {"records": len(batch.records)}, "info")
        return True

    def _put_back(self, batch: "RecordBatch") -> None:
        """Try a batch again with the next one; of too many records the oldest are lost."""
        self._batch.records[:0] = batch.records
        self._batch.samples[:0] = batch.samples[-_MAX_WAITING:]
        self._batch.exhibits = [*batch.exhibits, *self._batch.exhibits][-_MAX_EXHIBITS:]
        self._batch.catalogs = batch.catalogs | self._batch.catalogs
        self._batch.lost.update(batch.lost)
        over = len(self._batch.records) - _MAX_WAITING
        if over > 0:
            del self._batch.records[:over]
            self._lose(over, _UNWRITABLE)

    def _tell_seldom(self, event: str, fields: dict[str, Any]) -> None:
        now = time.monotonic()
        if now - self._told_at.get(event, float("-inf")) > _TELL_SECONDS:
            self._told_at[event] = now
            self._tell(event, fields, "warning")

    def close(self) -> None:
        if self._keeps_file and self._batch.records:
            self._tell(
                "records_lost", {"records": len(self._batch.records), "reason": _UNWRITABLE}, "warning"
            )
        if self._store is not None:
            self._store.close()
        if self._webhook is not None:
            self._webhook.close(_CLOSE_SECONDS)
