"""Results of clusters, pipelines and instruments."""

import math
from random import Random
from typing import Any

from bench.generators.encodings import compact, pretty, spaced
from bench.generators.planting import changed_type, listing, missing, outlier, rare_key, rare_value
from bench.generators.sample import Recipe
from bench.generators.vocabulary import (
    SERVICES,
    ip,
    moment,
    noun,
    number,
    sentence,
    skewed,
    slug,
    stamp,
    token,
    uuid_text,
    weighted,
)


def _metric(rng: Random, index: int) -> dict[str, Any]:
    daily = math.sin(index / 220)
    return {
        "ts": moment(rng, index, 30).isoformat(timespec="milliseconds"),
        "host": f"web-{rng.randint(1, 12):02d}",
        "cpu": round(35 + 15 * daily + rng.gauss(0, 4), 2),
        "mem_mb": int(2100 + 300 * daily + rng.gauss(0, 60)),
        "p99_ms": skewed(rng, 120, 0.35, 1),
        "requests": int(400 + 180 * daily + rng.gauss(0, 25)),
        "errors": int(rng.expovariate(1.2)),
    }


def _sensor(rng: Random, index: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "reading_id": f"r{token(rng, 9)}",
        "sensor": f"{rng.choice(('boiler', 'roof', 'cellar', 'intake'))}-{rng.randint(1, 6)}",
        "at": stamp(rng, index, 20),
        "temperature_c": round(21 + 3 * math.sin(index / 300) + rng.gauss(0, 0.4), 2),
        "humidity": round(rng.gauss(44, 5), 1),
        "battery": round(100 - index / 60 + rng.gauss(0, 0.3), 1),
        "quality": weighted(rng, ("good", 95), ("uncertain", 5)),
    }
    if rng.random() < 0.1:
        row["calibrated"] = True
    return row


def _container(rng: Random, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"registry.local/{name}:{rng.randint(1, 4)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
        "ready": True,
        "restartCount": int(rng.expovariate(1.5)),
        "resources": {
            "limits": {"cpu": "500m", "memory": "512Mi"},
            "requests": {"cpu": "100m", "memory": "256Mi"},
        },
        "state": {"running": {"startedAt": stamp(rng, 0, 9e5)}},
    }


def _pod(rng: Random, index: int) -> dict[str, Any]:
    service = rng.choice(SERVICES)
    name = f"{service}-{token(rng, 9)}-{token(rng, 5)}"
    return {
        "metadata": {
            "name": name,
            "namespace": rng.choice(("default", "payments", "platform")),
            "uid": uuid_text(rng),
            "creationTimestamp": stamp(rng, index, 3000),
            "labels": {
                "app": service,
                "pod-template-hash": token(rng, 9),
                "tier": rng.choice(("web", "jobs")),
            },
        },
        "spec": {
            "nodeName": f"node-{rng.randint(1, 9)}",
            "serviceAccountName": service,
            "restartPolicy": "Always",
        },
        "status": {
            "phase": weighted(rng, ("Running", 93), ("Pending", 7)),
            "podIP": ip(rng),
            "qosClass": rng.choice(("Burstable", "Guaranteed")),
            "conditions": [
                {"type": kind, "status": "True"} for kind in ("Initialized", "Ready", "PodScheduled")
            ],
            "containers": [_container(rng, service)],
        },
    }


def _step(rng: Random, name: str, order: int) -> dict[str, Any]:
    return {"name": name, "number": order, "status": "completed", "seconds": int(skewed(rng, 25, 0.6, 0))}


def _job(rng: Random, index: int) -> dict[str, Any]:
    conclusion = weighted(rng, ("success", 86), ("skipped", 9), ("cancelled", 5))
    return {
        "id": number(rng, 11),
        "run_id": number(rng, 10),
        "name": f"{rng.choice(('build', 'test', 'lint'))} ({rng.choice(('linux', 'macos', 'windows'))})",
        "head_sha": token(rng, 40),
        "status": "completed",
        "conclusion": conclusion,
        "started_at": stamp(rng, index, 400),
        "duration_s": int(skewed(rng, 240, 0.5, 0)),
        "runner": {"id": rng.randint(1, 40), "labels": ["self-hosted", rng.choice(("x64", "arm64"))]},
        "steps": [
            _step(rng, name, order) for order, name in enumerate(("checkout", "setup", "run", "cleanup"))
        ],
    }


def _audit(rng: Random, index: int) -> dict[str, Any]:
    names = (
        ("GetObject", 50),
        ("PutObject", 20),
        ("ListBuckets", 15),
        ("AssumeRole", 10),
        ("DescribeKey", 5),
    )
    row: dict[str, Any] = {
        "eventID": uuid_text(rng),
        "eventTime": stamp(rng, index, 12),
        "eventName": weighted(rng, *names),
        "eventSource": rng.choice(("s3.amazonaws.com", "sts.amazonaws.com", "kms.amazonaws.com")),
        "awsRegion": rng.choice(("eu-west-1", "eu-central-1", "us-east-1")),
        "sourceIPAddress": ip(rng),
        "userIdentity": {
            "type": "AssumedRole",
            "principalId": f"AROA{rng.choice(SERVICES).upper()}:{slug(rng)}",
        },
        "requestParameters": {
            "bucketName": f"{noun(rng)}-bucket",
            "key": f"{slug(rng)}/{token(rng, 8)}.parquet",
        },
        "bytesTransferredOut": int(skewed(rng, 42000, 0.8, 0)),
        "readOnly": rng.random() < 0.7,
    }
    if rng.random() < 0.08:
        row["errorCode"] = "AccessDenied"
    return row


def _vector(rng: Random, index: int) -> dict[str, Any]:
    service = rng.choice(SERVICES)
    return {
        "metric": {
            "__name__": "http_request_seconds",
            "job": service,
            "pod": f"{service}-{token(rng, 8)}",
            "code": rng.choice(("200", "200", "204", "404")),
        },
        "value": [1772431200 + index % 5, skewed(rng, 0.08, 0.4, 4)],
    }


def _point(rng: Random, index: int) -> list[Any]:
    load = 220 + 40 * math.sin(index / 140) + rng.gauss(0, 8)
    return [1772431200000 + index * 15000, round(load, 3), rng.randint(3, 9)]


def _vulnerability(rng: Random, index: int) -> dict[str, Any]:
    return {
        "finding": f"FND-{token(rng, 9)}",
        "package": f"{slug(rng)}-{rng.choice(('core', 'client', 'lib'))}",
        "installed": f"{rng.randint(0, 5)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}",
        "severity": weighted(rng, ("low", 60), ("medium", 36), ("negligible", 4)),
        "cvss": round(rng.uniform(2.0, 6.5), 1),
        "layer": "sha256:" + token(rng, 24),
        "fix": {"available": rng.random() < 0.6, "version": f"{rng.randint(1, 6)}.{rng.randint(0, 9)}.0"},
        "first_seen": stamp(rng, index, 7000),
    }


def _log_record(rng: Random, index: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "insertId": token(rng, 14),
        "timestamp": moment(rng, index, 4).isoformat(timespec="milliseconds"),
        "severity": weighted(rng, ("INFO", 80), ("DEBUG", 17), ("WARNING", 3)),
        "resource": {"type": "cloud_run_revision", "labels": {"service_name": rng.choice(SERVICES)}},
        "textPayload": sentence(rng),
        "latency_ms": int(skewed(rng, 60, 0.5, 0)),
    }
    if rng.random() < 0.4:
        row["trace"] = f"projects/shop/traces/{token(rng, 20)}"
    return row


def _pod_list(rows: list[Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "88412077"}, "items": rows}


def _prometheus(rows: list[Any]) -> dict[str, Any]:
    """Prometheus writes sample values as strings."""
    for row in rows:
        row["value"][1] = str(row["value"][1])
    return {"status": "success", "data": {"resultType": "vector", "result": rows}}


_POD_IDS = ("metadata.name", "metadata.uid")

RECIPES: dict[str, Recipe] = {
    "metrics": listing(_metric, 1500, outlier("p99_ms"), missing("mem_mb"), ids=("ts",), encode=compact),
    "metrics-errors": listing(
        _metric,
        2600,
        outlier("errors"),
        changed_type("cpu", "collector down"),
        ids=("ts",),
        wrap=lambda rows: {"interval": "30s", "rows": rows},
        encode=spaced,
    ),
    "sensors": listing(
        _sensor,
        2200,
        outlier("temperature_c"),
        changed_type("humidity"),
        missing("battery"),
        rare_value("quality", "sensor_fault"),
        ids=("reading_id",),
        encode=compact,
    ),
    "sensors-pretty": listing(
        _sensor,
        900,
        rare_key("tamper_switch", "opened by hand"),
        rare_value("quality", "short_circuit"),
        ids=("reading_id",),
        encode=pretty,
    ),
    "pods": listing(
        _pod,
        260,
        rare_value("status.phase", "Failed"),
        outlier("status.containers.0.restartCount"),
        ids=_POD_IDS,
        wrap=_pod_list,
        encode=compact,
    ),
    "pods-pretty": listing(
        _pod,
        150,
        missing("spec.nodeName"),
        rare_key("metadata.deletionTimestamp", "2026-03-09T11:20:44Z"),
        ids=_POD_IDS,
        wrap=_pod_list,
        encode=pretty,
    ),
    "ci-jobs": listing(
        _job,
        300,
        rare_value("conclusion", "startup_failure"),
        outlier("duration_s"),
        ids=("id", "head_sha"),
        wrap=lambda rows: {"total_count": len(rows), "jobs": rows},
        encode=spaced,
    ),
    "audit-events": listing(
        _audit,
        1000,
        rare_value("eventName", "StopLogging"),
        rare_key("userIdentity.mfaBypassed", True),
        outlier("bytesTransferredOut"),
        ids=("eventID",),
        wrap=lambda rows: {"Records": rows},
        encode=compact,
    ),
    "prometheus-vector": listing(
        _vector, 900, outlier("value.1"), ids=("metric.pod",), wrap=_prometheus, encode=compact
    ),
    "series-points": listing(
        _point,
        4000,
        outlier("1"),
        changed_type("2", "not read"),
        ids=("0",),
        wrap=lambda rows: {"series": {"name": "grid.load", "unit": "kW", "points": rows}, "partial": False},
        encode=compact,
    ),
    "log-records": listing(
        _log_record,
        900,
        rare_value("severity", "ERROR", kind="error level"),
        outlier("latency_ms"),
        ids=("insertId",),
        wrap=lambda rows: {"entries": rows, "nextPageToken": "CpQBEgYI0L"},
        encode=compact,
    ),
    "log-records-pretty": listing(
        _log_record,
        500,
        rare_value("severity", "CRITICAL", times=2, kind="error level"),
        ids=("insertId",),
        encode=pretty,
    ),
    "vulnerabilities": listing(
        _vulnerability,
        800,
        rare_value("severity", "critical"),
        missing("installed"),
        ids=("finding",),
        wrap=lambda rows: {"scan": {"image": "registry.local/checkout:3.1.4", "findings": rows}, "ok": True},
        encode=compact,
    ),
}
