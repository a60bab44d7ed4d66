"""A small real collector: OTLP over HTTP on the loopback, as protobuf. It keeps what it gets."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.http.serving import PATIENCE, wait_until

KINDS = {2: "server", 3: "client"}


@dataclass(frozen=True)
class SeenSpan:
    name: str
    kind: str
    trace: str
    id: str
    parent: str
    is_error: bool
    links: tuple[tuple[str, str], ...]
    state: str
    began: int
    ended: int
    attributes: dict[str, Any]
    resource: dict[str, Any]


@dataclass(frozen=True)
class SeenPoint:
    """One histogram with one set of attributes."""

    name: str
    unit: str
    bounds: tuple[float, ...]
    count: int
    attributes: dict[str, Any]


def _values(found: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in found}


def _span(one: Any, resource: dict[str, Any]) -> SeenSpan:
    return SeenSpan(
        one.name,
        KINDS[one.kind],
        one.trace_id.hex(),
        one.span_id.hex(),
        one.parent_span_id.hex(),
        one.status.code == 2,
        tuple((link.trace_id.hex(), link.span_id.hex()) for link in one.links),
        one.trace_state,
        one.start_time_unix_nano,
        one.end_time_unix_nano,
        _values(one.attributes),
        resource,
    )


@dataclass
class Collector:
    status: int = 200
    """What it answers."""
    is_silent: bool = False
    """Whether it never answers at all."""
    spans: list[SeenSpan] = field(default_factory=list)
    metrics: dict[tuple[str, str], SeenPoint] = field(default_factory=dict)
    """The latest points, by name and attributes."""
    bodies: list[bytes] = field(default_factory=list)
    posts: int = 0
    port: int = 0
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def env(self) -> dict[str, str]:
        """What a process needs to send to it, and soon."""
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "OTEL_METRIC_EXPORT_INTERVAL": "200",
        }

    def take(self, path: str, body: bytes) -> None:
        self.posts += 1
        self.bodies.append(body)
        if path == "/v1/traces":
            for part in ExportTraceServiceRequest.FromString(body).resource_spans:
                resource = _values(part.resource.attributes)
                self.spans += [_span(one, resource) for scope in part.scope_spans for one in scope.spans]
        elif path == "/v1/metrics":
            for part in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                for scope in part.scope_metrics:
                    self._take_metrics(scope.metrics)

    def _take_metrics(self, metrics: Any) -> None:
        for one in metrics:
            for point in one.histogram.data_points:
                about = _values(point.attributes)
                seen = SeenPoint(one.name, one.unit, tuple(point.explicit_bounds), point.count, about)
                self.metrics[one.name, repr(sorted(about.items()))] = seen

    def wait_for(self, name: str, kind: str = "server", count: int = 1) -> SeenSpan:
        """The last of so many spans of this name."""

        def found() -> SeenSpan | None:
            seen = [one for one in list(self.spans) if (one.name, one.kind) == (name, kind)]
            return seen[count - 1] if len(seen) >= count else None

        return wait_until(found, f"a {kind} span {name!r}")

    def point(self, name: str, wanted: dict[str, Any] | None = None) -> SeenPoint:
        """A histogram whose attributes include these."""
        least = (wanted or {}).items()

        def found() -> SeenPoint | None:
            points = [one for one in list(self.metrics.values()) if one.name == name]
            return next((one for one in points if least <= one.attributes.items()), None)

        return wait_until(found, f"{name} with {wanted}")


@contextmanager
def collector(**behaviour: Any) -> Iterator[Collector]:
    one = Collector(**behaviour)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if one.is_silent:
                one.posts += 1
                one.over.wait(PATIENCE)
                self.close_connection = True
                return
            one.take(self.path, body)
            self.send_response(one.status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # as its parent calls it
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        one.port = int(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield one
        finally:
            one.over.set()
            server.shutdown()
            thread.join(PATIENCE)
