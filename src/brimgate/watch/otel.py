"""OpenTelemetry: spans of requests and metrics of answers, for those who have a collector (the extra `otel`).

Names are those of the conventions for MCP. Ids are chosen when a request begins, so that an upstream can be told them; spans
are made when it has ended, in a thread of their own. Nothing here fails, delays or grows an answer (NFR-4): what does not
fit into a queue is dropped, counted and told.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec

from brimgate import __version__
from brimgate.errors import OperatorError
from brimgate.relay.protocol import message as rpc
from brimgate.relay.protocol.versions import VERSION_KEY
from brimgate.relay.trace_context import (
    RANDOM,
    SAMPLED,
    Arrival,
    CallTrace,
    TraceContext,
    context_in,
    context_of,
)
from brimgate.watch.record import tool_name

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import SpanContext

    from brimgate.config.declarations import Telemetry
    from brimgate.engine.decision import Decision
    from brimgate.relay.protocol.message import Message
    from brimgate.watch.log import Log

_NEEDED: Final = "telemetry.otel needs the package {}: pip install 'brimgate[otel]'"
_PACKAGES: Final = {
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry.exporter.otlp.proto.http": "opentelemetry-exporter-otlp-proto-http",
}
_INTERVAL_SECONDS: Final = 0.5
_CLOSE_SECONDS: Final = 1.5
_MAX_QUEUED: Final = 10_000
_MAX_OPEN: Final = 20_000
"""Requests that have begun and not ended; the oldest ends for one more."""
_MAX_TEXT_CHARS: Final = 200
_MAX_URI_CHARS: Final = 1_000
_MAX_CONTENT_CHARS: Final = 8_000
_MAX_TOOLS: Final = 200
_MAX_WORDS: Final = 50
"""Methods and kinds of errors: they come from outside, too."""
_LEFT_OVER: Final = "_other"
_DURATIONS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_TOKENS: Final = tuple(float(250 << step) for step in range(11))
_BYTES: Final = tuple(float(1_000 << step) for step in range(18))
_NAMED: Final = ("tools/call", "prompts/get")


class _Done(NamedTuple):
    """A request or an answer that is over, in so few bytes that many can wait."""

    trace: CallTrace | None
    error: str = ""
    outcome: str = ""
    tool: str = ""
    tokens: tuple[int, int] = (0, 0)
    size: tuple[int, int] = (0, 0)
    arguments: str = ""
    result: str = ""


class _Names:
    """Bounds how many values an attribute of a metric has."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def of(self, name: str) -> str:
        if name not in self._known and len(self._known) >= self._most:
            return _LEFT_OVER
        self._known.add(name)
        return name


class _Params(msgspec.Struct):
    name: str = ""
    uri: str = ""


_params: Final = msgspec.json.Decoder(_Params)


def check_installed() -> None:
    """Raise OperatorError if a package is missing, without loading them."""
    from importlib.util import find_spec

    for module, package in _PACKAGES.items():
        is_there = False
        with suppress(ModuleNotFoundError):  # of what it is in
            is_there = find_spec(module) is not None
        if not is_there:
            raise OperatorError(_NEEDED.format(package))


def open_otel(options: "Telemetry", log: "Log") -> "Otel | None":
    """Return what exports; None if it is off, also by the variable that all SDKs know."""
    if not options.otel or os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    check_installed()
    try:
        return Otel(log, sends_content=options.otel_content)
    except ImportError as error:
        raise OperatorError(_NEEDED.format(error.name)) from None
    except (ValueError, RuntimeError) as error:
        raise OperatorError(f"telemetry.otel: a variable OTEL_* cannot be used: {error}") from None


class Otel:
    def __init__(self, log: "Log", *, sends_content: bool = False) -> None:
        from opentelemetry.sdk.trace import TracerProvider

        from brimgate.watch.library_log import take_seldom

        take_seldom(log, "opentelemetry")
        self._log, self.sends_content = log, sends_content
        self._resource = _resource()
        provider = TracerProvider(resource=self._resource, shutdown_on_exit=False)
        self.sampler, self.ids = provider.sampler, provider.id_generator
        self._spans = _Spans(self._resource, _processor())
        self._metrics = _Metrics(self._resource)
        self._upstreams: dict[str, dict[str, Any]] = {}
        self._open: dict[int, CallTrace] = {}
        """By the id of its span. What is no longer in here has ended."""
        self._queue: deque[_Done] = deque()
        self._dropped = 0
        self._wake, self._closing, self._drained = (threading.Event() for _ in range(3))
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def tracer(self, upstream: str, *, url: str = "", is_process: bool) -> "UpstreamTracer":
        """Return what takes the requests to one upstream."""
        told: dict[str, Any] = {"network.transport": "pipe" if is_process else "tcp"}
        with suppress(ValueError):
            parts = urlsplit(url)
            if parts.hostname:
                told["server.address"] = parts.hostname
                told["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
        self._upstreams[upstream] = told
        return UpstreamTracer(self, upstream)

    @contextmanager
    def guarded(self) -> Generator[None]:
        """Tell what fails, and go on: it costs a span, and never an answer (NFR-4)."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # whatever the SDK or an answer is
            self._log.write_seldom("otel_failed", {"error": repr(error)[:200]}, "warning")

    # On the path of an answer

    def opened(self, trace: CallTrace) -> None:
        self._open[trace.context.span_id] = trace
        if len(self._open) > _MAX_OPEN:
            self.end(next(iter(self._open.values())), "_OTHER")

    def end(self, trace: CallTrace, error: str) -> None:
        """End a request that makes no decision, if it has not ended."""
        if self._open.pop(trace.context.span_id, None) is not None:
            trace.ended_ns = trace.ended_ns or time.time_ns()
            self._take(_Done(trace, error))

    def _take(self, done: _Done) -> None:
        if len(self._queue) >= _MAX_QUEUED:
            self._dropped += 1
            return
        self._queue.append(done)
        if self._thread is None:
            self._start()
        if not self._wake.is_set():
            self._wake.set()

    def _start(self) -> None:
        """Start the thread. Where the system has none to give, the next one tries again."""
        with self._starting, suppress(RuntimeError):
            if self._thread is None and not self._closing.is_set():
                thread = threading.Thread(target=self._run, name="brimgate-otel", daemon=True)
                thread.start()
                self._thread = thread

    # In the thread of the records

    def take(self, decision: "Decision") -> None:
        """Take a decision that was measured. It never fails."""
        with self.guarded():
            self._take_decision(decision)

    def _take_decision(self, decision: "Decision") -> None:
        trace = decision.trace if isinstance(decision.trace, CallTrace) else None
        if trace is not None and self._open.pop(trace.context.span_id, None) is None:
            trace = None  # it has ended before, such as by a cancellation
        sizes, content = decision.measured(), ("", "")
        if self.sends_content and trace is not None:
            shown = decision.shown() if decision.shown is not None else b""
            content = _content(decision.arguments), _content(shown)
        tokens = sizes.original_tokens, sizes.estimated_tokens
        size = decision.original_bytes, decision.response_bytes
        self._take(_Done(trace, decision.error_type, decision.outcome, decision.tool, tokens, size, *content))

    # In our own thread

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._closing.wait(_INTERVAL_SECONDS)
            self._wake.clear()
            self._drain()

    def _drain(self) -> None:
        while self._queue:
            with self.guarded():
                self._tell(self._queue.popleft())
        dropped, self._dropped = self._dropped, 0
        if dropped:
            fields = {"requests": dropped, "hint": "more came than could be told; answers are not affected"}
            self._log.write_seldom("otel_dropped", fields, "warning")

    def _tell(self, done: _Done) -> None:
        if done.trace is not None:
            told = self._upstreams.get(done.trace.upstream, {})
            self._spans.add(done.trace, done, told)
            self._metrics.note_request(done.trace, done, told)
        if done.outcome:
            self._metrics.note_answer(done)

    def note_session(self, seconds: float, *, is_http: bool) -> None:
        self._metrics.note_session(seconds, is_http=is_http)

    # Closing

    def close(self, seconds: float = _CLOSE_SECONDS) -> None:
        """Send what is left, for so long at most. A collector that does not answer is not waited for."""
        until = time.monotonic() + seconds
        self._closing.set()
        self._wake.set()
        for trace in list(self._open.values()):
            self.end(trace, "cancelled")
        closing = [
            threading.Thread(target=self._close_spans, daemon=True),
            threading.Thread(target=partial(self._close_metrics, seconds), daemon=True),
        ]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join(max(until - time.monotonic(), 0.0))

    def _close_spans(self) -> None:
        if self._thread is not None:
            self._thread.join(_INTERVAL_SECONDS)
        self._drain()
        self._drained.set()
        self._spans.close()

    def _close_metrics(self, seconds: float) -> None:
        self._drained.wait(seconds)
        self._metrics.close(seconds)


class UpstreamTracer:
    """Begins and ends the requests to one upstream."""

    def __init__(self, otel: Otel, upstream: str) -> None:
        self._otel, self._upstream = otel, upstream

    def begin(self, message: "Message", arrival: Arrival | None, version: str) -> CallTrace | None:
        with self._otel.guarded():
            trace = self._begun(message, arrival, version)
            self._otel.opened(trace)
            return trace
        return None

    def _begun(self, message: "Message", arrival: Arrival | None, version: str) -> CallTrace:
        began = time.time_ns()
        told = context_of(message.params)
        around = context_in(arrival.headers) if arrival is not None else None
        context = self._context(told or around, message.method)
        headers = dict(arrival.headers) if arrival is not None else {}
        name, uri = _named(message)
        return CallTrace(
            self._upstream,
            message.method,
            name,
            (arrival.key if arrival is not None else b"") or message.key,
            context,
            context._replace(span_id=self._otel.ids.generate_span_id()),
            told or around,
            around if told is not None and around != told else None,
            message.key,
            uri,
            headers.get(b"mcp-session-id", b"").decode("latin-1"),
            headers.get(b"mcp-protocol-version", b"").decode("latin-1") or version or _version(message),
            arrival is not None,
            began,
        )

    def _context(self, parent: TraceContext | None, method: str) -> TraceContext:
        from opentelemetry.context import Context
        from opentelemetry.trace import NonRecordingSpan, SpanKind, set_span_in_context

        otel, around = self._otel, Context()
        trace_id = parent.trace_id if parent is not None else otel.ids.generate_trace_id()
        if parent is not None:
            around = set_span_in_context(NonRecordingSpan(_span_context(parent, is_remote=True)), around)
        sampled = otel.sampler.should_sample(around, trace_id, method[:_MAX_TEXT_CHARS], SpanKind.SERVER)
        flags = (parent.flags & RANDOM) if parent is not None else RANDOM
        flags |= SAMPLED if sampled.decision.is_sampled() else 0
        state, baggage = (parent.tracestate, parent.baggage) if parent is not None else ("", "")
        return TraceContext(trace_id, otel.ids.generate_span_id(), flags, state, baggage)

    def end(self, trace: CallTrace, error: str = "") -> None:
        self._otel.end(trace, error)

    def note_session(self, seconds: float, *, is_http: bool) -> None:
        with self._otel.guarded():
            self._otel.note_session(seconds, is_http=is_http)


class _Spans:
    """Makes spans, and hands them to a queue that never waits."""

    def __init__(self, resource: "Resource", processor: "BatchSpanProcessor | None") -> None:
        from opentelemetry.sdk.util.instrumentation import InstrumentationScope

        self._processor, self._resource = processor, resource
        self._scope = InstrumentationScope("brimgate", __version__)

    def add(self, trace: CallTrace, done: _Done, upstream: dict[str, Any]) -> None:
        from opentelemetry.trace import SpanKind

        if self._processor is None or not trace.context.is_sampled:
            return
        common = _common(trace)
        about = {"network.transport": "tcp" if trace.is_http else "pipe", **_error(done.error)}
        self._end(trace, SpanKind.SERVER, common | about | _about_answer(trace, done), trace.ended_ns)
        if trace.sent_ns:
            error = done.error if trace.upstream_error is None else trace.upstream_error
            until = min(trace.answered_ns or trace.ended_ns, trace.ended_ns)
            common |= {"jsonrpc.request.id": _id(trace.onward_id)}
            self._end(trace, SpanKind.CLIENT, common | upstream | _error(error), until)

    def _end(self, trace: CallTrace, kind: Any, attributes: dict[str, Any], until: int) -> None:
        from opentelemetry.sdk.trace import ReadableSpan
        from opentelemetry.trace import Link, SpanKind, Status, StatusCode

        is_server = kind is SpanKind.SERVER
        context = trace.context if is_server else trace.onward
        parent = trace.parent if is_server else trace.context
        has_failed = "error.type" in attributes
        span = ReadableSpan(
            f"{_text(trace.method)} {_text(trace.name)}".strip(),
            context=_span_context(context, is_remote=False),
            parent=_span_context(parent, is_remote=is_server) if parent is not None else None,
            resource=self._resource,
            attributes=attributes,
            links=[Link(_span_context(trace.link, is_remote=True))] if trace.link and is_server else [],
            kind=kind,
            status=Status(StatusCode.ERROR if has_failed else StatusCode.UNSET),
            start_time=trace.began_ns if is_server else trace.sent_ns,
            end_time=max(until, trace.began_ns if is_server else trace.sent_ns),
            instrumentation_scope=self._scope,
        )
        if self._processor is not None:
            self._processor.on_end(span)

    def close(self) -> None:
        if self._processor is not None:
            self._processor.shutdown()


class _Metrics:
    def __init__(self, resource: "Resource") -> None:
        self._provider = _meter_provider(resource)
        meter = self._provider.get_meter("brimgate", __version__)

        def histogram(name: str, unit: str, bounds: tuple[float, ...], about: str) -> "Histogram":
            return meter.create_histogram(name, unit, about, explicit_bucket_boundaries_advisory=bounds)

        self._server = histogram("mcp.server.operation.duration", "s", _DURATIONS, "Time until an answer")
        self._client = histogram("mcp.client.operation.duration", "s", _DURATIONS, "Time of the upstream")
        self._sessions = histogram("mcp.server.session.duration", "s", _DURATIONS, "Time of a session")
        self._tokens = histogram("brimgate.result.tokens", "{token}", _TOKENS, "Tokens of an answer")
        self._bytes = histogram("brimgate.result.bytes", "By", _BYTES, "Bytes of an answer")
        self._tools, self._methods, self._errors = _Names(_MAX_TOOLS), _Names(_MAX_WORDS), _Names(_MAX_WORDS)

    def note_request(self, trace: CallTrace, done: _Done, upstream: dict[str, Any]) -> None:
        about = {"mcp.method.name": self._methods.of(_text(trace.method))}
        if trace.method == "tools/call":
            about["gen_ai.tool.name"] = self._tools.of(tool_name(trace.name))
        is_tcp = {"network.transport": "tcp" if trace.is_http else "pipe"}
        seconds = max(trace.ended_ns - trace.began_ns, 0) / 1e9
        self._server.record(seconds, about | is_tcp | self._error(done.error))
        if trace.sent_ns:
            error = done.error if trace.upstream_error is None else trace.upstream_error
            until = trace.answered_ns or trace.ended_ns
            about["network.transport"] = upstream.get("network.transport", "")
            self._client.record(max(until - trace.sent_ns, 0) / 1e9, about | self._error(error))

    def _error(self, error: str) -> dict[str, str]:
        return {"error.type": self._errors.of(_text(error))} if error else {}

    def note_answer(self, done: _Done) -> None:
        about = {
            "gen_ai.tool.name": self._tools.of(tool_name(done.tool[:_MAX_URI_CHARS])),
            "brimgate.outcome": done.outcome,
        }
        for stage, tokens, size in zip(("before", "after"), done.tokens, done.size, strict=True):
            if stage == "before" and done.outcome == "read":
                continue  # it was counted when it came
            self._tokens.record(tokens, about | {"stage": stage})
            self._bytes.record(size, about | {"stage": stage})

    def note_session(self, seconds: float, *, is_http: bool) -> None:
        self._sessions.record(seconds, {"network.transport": "tcp" if is_http else "pipe"})

    def close(self, seconds: float) -> None:
        with suppress(Exception):  # it raises whatever its exporter met
            self._provider.shutdown(timeout_millis=seconds * 1_000)


# The SDK


def _resource() -> "Resource":
    from opentelemetry.sdk.resources import Resource

    found = Resource.create()
    ours: dict[str, Any] = {"service.version": __version__, "service.instance.id": str(uuid4())}
    missing = {name: value for name, value in ours.items() if name not in found.attributes}
    if str(found.attributes.get("service.name", "")).startswith("unknown_service"):
        missing["service.name"] = "brimgate"
    return found.merge(Resource(missing))


def _is_wanted(signal: str) -> bool:
    return os.environ.get(f"OTEL_{signal}_EXPORTER", "").strip().lower() != "none"


def _processor() -> "BatchSpanProcessor | None":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    return BatchSpanProcessor(OTLPSpanExporter()) if _is_wanted("TRACES") else None


def _meter_provider(resource: "Resource") -> "MeterProvider":
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader

    readers = [PeriodicExportingMetricReader(OTLPMetricExporter())] if _is_wanted("METRICS") else []
    return MeterProvider(readers, resource, shutdown_on_exit=False)


def _span_context(context: TraceContext, *, is_remote: bool) -> "SpanContext":
    from opentelemetry.trace import SpanContext, TraceFlags, TraceState

    state = TraceState.from_header([context.tracestate]) if context.tracestate else None
    return SpanContext(context.trace_id, context.span_id, is_remote, TraceFlags(context.flags), state)


# Attributes


def _common(trace: CallTrace) -> dict[str, Any]:
    is_tool = trace.method == "tools/call"
    told = {
        "mcp.method.name": _text(trace.method),
        "gen_ai.operation.name": "execute_tool" if is_tool else "",
        "gen_ai.tool.name": _text(trace.name) if is_tool else "",
        "gen_ai.prompt.name": _text(trace.name) if trace.method == "prompts/get" else "",
        "jsonrpc.request.id": _id(trace.request_id),
        "mcp.protocol.version": _text(trace.version),
        "mcp.session.id": _text(trace.session_id),
        "mcp.resource.uri": _text(trace.uri, _MAX_URI_CHARS),
        "brimgate.upstream": _text(trace.upstream),
    }
    return {name: value for name, value in told.items() if value}


def _about_answer(trace: CallTrace, done: _Done) -> dict[str, Any]:
    if not done.outcome:
        return {}
    told: dict[str, Any] = {
        "brimgate.outcome": done.outcome,
        "brimgate.result.tokens.before": done.tokens[0],
        "brimgate.result.tokens.after": done.tokens[1],
    }
    if done.arguments:
        told["gen_ai.tool.call.arguments"] = done.arguments
    if done.result:
        told["gen_ai.tool.call.result"] = done.result
    return told


def _error(error: str) -> dict[str, str]:
    """Return what tells an error. Only a number is a code of JSON-RPC."""
    if not error:
        return {}
    told = {"error.type": _text(error)}
    return told | {"rpc.response.status_code": _text(error)} if error.lstrip("-").isdigit() else told


def _text(text: str, most: int = _MAX_TEXT_CHARS) -> str:
    """Return a text as it can be exported, whoever made it up: short, and without halves of characters."""
    return text[:most].encode("utf-8", "replace").decode("utf-8")


def _content(data: bytes) -> str:
    return _text(data[: 4 * _MAX_CONTENT_CHARS].decode("utf-8", "replace"), _MAX_CONTENT_CHARS)


def _id(key: bytes) -> str:
    """Return the id of a request as a text, without quotation marks; empty for one that is null."""
    return "" if key == b"null" else _text(key[: 2 * _MAX_TEXT_CHARS].decode("utf-8", "replace").strip('"'))


def _named(message: "Message") -> tuple[str, str]:
    """Return the tool or prompt that a request names, and the resource."""
    if message.method not in _NAMED and not message.method.startswith("resources/"):
        return "", ""
    try:
        params = _params.decode(message.params)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", ""
    is_named = message.method in _NAMED
    name, uri = params.name[:_MAX_TEXT_CHARS], params.uri[:_MAX_URI_CHARS]
    return (name, "") if is_named else ("", uri)


def _version(message: "Message") -> str:
    """Return the protocol version that a request names itself, since 2026-07-28."""
    if not rpc.is_modern(message.params):
        return ""
    return _id(bytes(rpc.member(rpc.member(message.params, "_meta"), VERSION_KEY)))
