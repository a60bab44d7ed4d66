"""Metrics of this process, in the text format that Prometheus scrapes.

Written by hand: what the workers of one port count must be added up before it is told, and the format is thirty lines
(ADR 24). Every series is a list of numbers, so that those of several processes are put together one by one.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from brimgate.engine.decision import Decision
    from brimgate.watch.record import Record

CONTENT_TYPE: Final = b"text/plain; version=0.0.4; charset=utf-8"
OTHER: Final = "_other"
_SECONDS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""The buckets that the conventions of OpenTelemetry for MCP name."""
_TOKENS: Final = tuple(250 << power for power in range(11))
_RELOAD_SECONDS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5)
_MAX_TOOLS: Final = 200
"""Tools have series of their own up to here: their names come from outside, and each costs forty numbers."""
_MAX_ERRORS: Final = 30
_MAX_SERIES: Final = 2_000
"""Of any other family."""
_MAX_LABEL_CHARS: Final = 200
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
"""Prometheus takes a zero byte for the end of what it reads."""
_CLOSED: Final = frozenset(("stage", "outcome", "kind", "after", "result", "scope"))
"""Labels whose values are words of ours."""


class Family(NamedTuple):
    name: str
    kind: Literal["counter", "gauge", "histogram"]
    doc: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    together: Callable[[float, float], float] = float.__add__
    """How the numbers of two processes make one."""
    known: tuple[str, ...] = ()
    """Values of its only label that are told from the start: what is first seen as a 1 is no increase for Prometheus."""

    @property
    def size(self) -> int:
        """How many numbers a series has: those of a histogram are one for each bucket, the last, and the sum."""
        return len(self.buckets) + 2 if self.kind == "histogram" else 1

    @property
    def is_lasting(self) -> bool:
        """Whether it counts, and so must never tell less than before."""
        return self.kind != "gauge"


def _most(one: float, other: float) -> float:
    return max(one, other)


def _least(one: float, other: float) -> float:
    return min(one, other)


_TOOL: Final = ("upstream", "tool")
FAMILIES: Final = {
    family.name: family
    for family in (
        Family(
            "mcp_server_operation_duration_seconds", "histogram", "Seconds from a request to its answer, by MCP method.",
            ("mcp_method_name", "gen_ai_tool_name", "upstream", "error_type"), _SECONDS,
        ),
        Family(
            "brimgate_rest_duration_seconds", "histogram", "Seconds from a request to its answer over REST, by route.",
            (*_TOOL, "error_type"), _SECONDS,
        ),
        Family(
            "brimgate_result_tokens", "histogram", "Tokens of an answer: before, as it came; after, as it was sent.",
            ("stage", *_TOOL), _TOKENS,
        ),
        Family("brimgate_results_total", "counter", "Answers by what became of them.", ("outcome", *_TOOL)),
        Family(
            "brimgate_result_bytes_total", "counter", "Bytes of answers: before, as they came; after, as they were sent.",
            ("stage",), known=("before", "after"),
        ),
        Family("brimgate_oversized_total", "counter", "Answers that were over their budget.", _TOOL),
        Family(
            "brimgate_reads_total", "counter", "Reads of a held answer, by its kind.", ("kind",),
            known=("list", "object", "text", "other"),
        ),
        Family("brimgate_cursors_issued_total", "counter", "Answers that were sent with a cursor."),
        Family("brimgate_cursors_expired_total", "counter", "Cursors that led nowhere any more."),
        Family(
            "brimgate_repeats_total", "counter", "Calls made again soon after, by what the first got.", ("after",),
            known=("answer", "page"),
        ),
        Family("brimgate_engine_seconds_total", "counter", "Seconds that Brimgate itself worked on answers."),
        Family("brimgate_catalog_tokens", "gauge", "Tokens of the list of tools.", ("upstream",), together=_most),
        Family(
            "brimgate_auth_total", "counter", "Requests by what authentication said of them.", ("result",),
            known=("accepted", "unauthorized", "forbidden", "verifier_down"),
        ),
        Family(
            "brimgate_limited_total", "counter", "Requests that a limit refused.", ("scope",),
            known=("user", "read", "session", "tool", "upstream", "attempts", "concurrency"),
        ),
        Family("brimgate_telemetry_dropped_total", "counter", "Records that could not be kept."),
        Family(
            "brimgate_reload_seconds", "histogram", "Seconds from a change of the configuration to its use or rejection.",
            ("result",), _RELOAD_SECONDS, known=("applied", "rejected"),
        ),
        Family(
            "brimgate_config_last_reload_successful", "gauge", "1 unless the last change of the configuration was rejected.",
            together=_least,
        ),
        Family("brimgate_sessions", "gauge", "Sessions that are open.", ("upstream",)),
        Family("brimgate_connections", "gauge", "Connections of clients."),
        Family(
            "brimgate_upstream_up", "gauge", "1 if the last check or handshake of an upstream succeeded.", ("upstream",),
            together=_least,
        ),
        Family("brimgate_store_up", "gauge", "1 if the shared store can be used.", together=_least),
        Family("brimgate_alert_active", "gauge", "1 while an alert is raised.", ("alert", "subject"), together=_most),
        Family("brimgate_build_info", "gauge", "The version that runs; always 1.", ("version", "python"), together=_most),
        Family("process_cpu_seconds_total", "counter", "CPU seconds of the processes that serve; not of servers behind them."),
        Family("process_resident_memory_bytes", "gauge", "Resident memory of the processes that serve."),
        Family("process_start_time_seconds", "gauge", "When the oldest of them started, in seconds since 1970.", together=_least),
    )
}  # fmt: skip

Series = dict[tuple[str, ...], list[float]]


class Metrics:
    """Counts what happens. Each family is changed by one thread only; reading it from another is safe."""

    def __init__(self) -> None:
        self._families: dict[str, Series] = {name: {} for name in FAMILIES}
        for name, family in FAMILIES.items():
            for labels in ((one,) for one in family.known):
                self._families[name][labels] = [0.0] * family.size
            if family.kind == "counter" and not family.labels:
                self._families[name][()] = [0.0]  # so that a rate is known before the first one
        self._tools: set[tuple[str, str]] = set()
        self._errors: set[str] = set()
        self._listed: dict[str, frozenset[str]] = {}

    # What happens

    def count(self, record: "Record", decision: "Decision") -> None:
        """Count an answer. This runs in the thread of the recorder."""
        upstream, tool = self._tool_of(record)
        add, observe = self.add, self.observe
        add("brimgate_results_total", (record.outcome, upstream, tool))
        error, seconds = self._error_of(decision.error_type), record.latency_us / 1_000_000
        if decision.method:
            name = "" if record.tool == decision.method else tool
            observe(
                "mcp_server_operation_duration_seconds", (decision.method, name, upstream, error), seconds
            )
        else:
            observe("brimgate_rest_duration_seconds", (upstream, tool, error), seconds)
        observe("brimgate_result_tokens", ("after", upstream, tool), record.estimated_tokens)
        add("brimgate_result_bytes_total", ("after",), record.response_bytes)
        add("brimgate_engine_seconds_total", (), record.engine_us / 1_000_000)
        if record.cursor_expired:
            add("brimgate_cursors_expired_total")
        if record.cursor_followed:
            add("brimgate_reads_total", (record.kind or "other",))
            return
        observe("brimgate_result_tokens", ("before", upstream, tool), record.original_tokens)
        add("brimgate_result_bytes_total", ("before",), record.original_bytes)
        add("brimgate_oversized_total", (upstream, tool), record.oversized)
        if record.cursor_issued:
            add("brimgate_cursors_issued_total")
        if record.repeated:
            add("brimgate_repeats_total", ("page" if record.repeated == 2 else "answer",))

    def note_catalog(self, upstream: str, tools: Mapping[str, int]) -> None:
        self._listed[upstream] = frozenset(tools)
        for tool in tools:
            self._announce(upstream, tool)
        self.set("brimgate_catalog_tokens", (upstream,), sum(tools.values()))

    def _announce(self, upstream: str, tool: str) -> None:
        """Tell the series of a tool before its first answer: what Prometheus first sees as a 1 is no increase for it."""
        from brimgate.watch.record_store import OUTCOMES

        pair = upstream, tool
        if pair in self._tools or len(self._tools) >= _MAX_TOOLS:
            return
        self._tools.add(pair)
        self._of("brimgate_oversized_total", pair)
        for stage in ("before", "after"):
            self._of("brimgate_result_tokens", (stage, *pair))
        for outcome in OUTCOMES:
            self._of("brimgate_results_total", (outcome, *pair))

    def add(self, name: str, labels: tuple[str, ...] = (), amount: float = 1.0) -> None:
        self._of(name, labels)[0] += amount

    def set(self, name: str, labels: tuple[str, ...] = (), value: float = 1.0) -> None:
        self._of(name, labels)[0] = float(value)

    def observe(self, name: str, labels: tuple[str, ...], value: float) -> None:
        found = self._of(name, labels)
        found[bisect_left(FAMILIES[name].buckets, value)] += 1
        found[-1] += value

    def clear(self, name: str) -> None:
        """Forget the series of a family whose labels come and go."""
        self._families[name] = {}

    def _of(self, name: str, labels: tuple[str, ...]) -> list[float]:
        found = self._families[name].get(labels)
        return found if found is not None else self._begin(FAMILIES[name], labels)

    def _begin(self, family: Family, labels: tuple[str, ...]) -> list[float]:
        """Return another series. Names that are told alike have one together: Prometheus refuses the same one twice."""
        series = self._families[family.name]
        labels = tuple(map(_cleaned, labels))
        if labels not in series and len(series) >= _MAX_SERIES:
            labels = tuple(
                text if name in _CLOSED else OTHER for name, text in zip(family.labels, labels, strict=True)
            )
        return series.setdefault(labels, [0.0] * family.size)

    # Labels

    def _tool_of(self, record: "Record") -> tuple[str, str]:
        """Return the labels of a tool. One that is neither listed nor has ever answered may be made up by a caller."""
        pair = record.upstream, record.tool
        if pair in self._tools:
            return pair
        is_real = record.outcome not in ("error", "refused") or record.tool in self._listed.get(pair[0], ())
        if not is_real or len(self._tools) >= _MAX_TOOLS:
            return record.upstream, OTHER
        self._tools.add(pair)
        return pair

    def _error_of(self, error: str) -> str:
        """Return the kind of a failure. A server may make up any code."""
        if error and error not in self._errors:
            if len(self._errors) >= _MAX_ERRORS:
                return OTHER
            self._errors.add(error)
        return error

    # What is told

    def document(self) -> dict[str, list[list[Any]]]:
        """Return all series as JSON, for another worker."""
        return {
            name: [[list(labels), values.copy()] for labels, values in list(series.items())]
            for name, series in self._families.items()
        }


def merged(documents: Iterable[Mapping[str, Any]]) -> dict[str, Series]:
    """Put the series of several processes together. Where one has another version, what has another shape is left out."""
    found: dict[str, Series] = {name: {} for name in FAMILIES}
    for document in documents:
        for name, family in FAMILIES.items():
            known = found[name]
            for labels, values in document.get(name, ()):
                if len(labels) != len(family.labels) or len(values) != family.size:
                    continue
                key = tuple(map(str, labels))
                before, given = known.get(key), map(float, values)
                known[key] = list(given if before is None else map(family.together, before, given))
    return found


def lasting(families: Mapping[str, Series]) -> dict[str, list[list[Any]]]:
    """Return as JSON what is still true of a process when it has ended: what it has counted."""
    return {
        name: [[list(labels), values] for labels, values in series.items()]
        for name, series in families.items()
        if FAMILIES[name].is_lasting
    }


def exposition(families: Mapping[str, Series]) -> bytes:
    """Write series as Prometheus reads them."""
    return "".join(
        line for name, series in families.items() for line in _family(FAMILIES[name], series)
    ).encode()


def _family(family: Family, series: Series) -> Iterator[str]:
    if not series:
        return
    yield f"# HELP {family.name} {family.doc}\n# TYPE {family.name} {family.kind}\n"
    for labels, values in sorted(series.items()):
        named = [f'{name}="{_escaped(text)}"' for name, text in zip(family.labels, labels, strict=True)]
        if family.kind == "histogram":
            yield from _histogram(family, named, values)
        else:
            yield f"{family.name}{_braced(named)} {_number(values[0])}\n"


def _histogram(family: Family, named: list[str], values: Sequence[float]) -> Iterator[str]:
    count = 0.0
    for bound, one in zip((*family.buckets, None), values, strict=False):
        count += one
        limit = "+Inf" if bound is None else _number(float(bound))
        labels = _braced([*named, f'le="{limit}"'])
        yield f"{family.name}_bucket{labels} {_number(count)}\n"
    yield f"{family.name}_sum{_braced(named)} {_number(values[-1])}\n"
    yield f"{family.name}_count{_braced(named)} {_number(count)}\n"


def _braced(named: Sequence[str]) -> str:
    return f"{{{','.join(named)}}}" if named else ""


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _cleaned(text: str) -> str:
    """Return what can be told of a name that comes from outside: short, without control characters or half characters."""
    return _CONTROL.sub("\ufffd", text[:_MAX_LABEL_CHARS].encode("utf-8", "replace").decode())


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
