"""Every key of `telemetry:` changes what is recorded, counted or told (see tests/config/test_keys.py)."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import fields
from hashlib import sha256
from hmac import new as hmac
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from brimgate.config.declarations import Telemetry
from brimgate.errors import OperatorError
from brimgate.guard.static_keys import new_key
from brimgate.watch.record_store import read_records
from brimgate.watch.stats import Question, Row, statistics
from tests.config.running import gateway
from tests.http.callers import STDIO, Keys, serving_for
from tests.http.serving import Serving, wait_until

Case = Callable[[Path], None]
CASES: dict[str, Case] = {}
SECRET = new_key()


def case(key: str) -> Callable[[Case], Case]:
    return lambda made: CASES.setdefault(key, made)


def total_of(path: Path) -> Row:
    with closing(read_records(path)) as connection:
        return statistics(connection, Question()).total


def told(folder: Path, calls: int = 3, tool: str = "rows", **telemetry: Any) -> list[str]:
    """Run a gateway with these keys, call a tool so often, and return its log."""
    path = folder / "brimgate.yaml"
    upstream = {"upstreams": {"faulty": STDIO}, "log_format": "json"}
    path.write_text(json.dumps(upstream | {"telemetry": {"file": str(folder / "records.db")} | telemetry}))
    with gateway("--config", str(path), command=[]) as client:
        client.greet()
        for _ in range(calls):
            client.call(tool)
        client.close()
        return client.rest_of_log()


def events(lines: list[str], event: str) -> list[dict[str, Any]]:
    return [one for line in lines if line.startswith("{") and (one := json.loads(line))["event"] == event]


@case("enabled")
def _(folder: Path) -> None:
    log = told(folder, enabled=False)
    assert not (folder / "records.db").exists() and events(log, "savings")
    told(folder)
    assert total_of(folder / "records.db").calls == 3


@case("file")
def _(folder: Path) -> None:
    told(folder, file=str(folder / "elsewhere" / "some.db"))
    assert total_of(folder / "elsewhere" / "some.db").calls == 3
    assert (folder / "elsewhere" / "some.db").stat().st_mode & 0o077 == 0


@case("max_bytes")
def _(folder: Path) -> None:
    told(folder, max_bytes=1 << 20)
    with closing(read_records(folder / "records.db")) as connection:
        # It is a property of the connection that writes: tests/watch/test_record_store.py fills a file to its bound.
        assert connection.execute("PRAGMA page_count").fetchone()[0] * 4_096 <= 1 << 20


@case("max_days")
def _(folder: Path) -> None:
    from brimgate.watch.record_store import RecordBatch, RecordStore
    from tests.watch.test_counters import record

    for days, left in ((90.0, 3), (1.0, 2)):
        path = folder / f"{left}.db"
        store = RecordStore(path, 1 << 24, days)
        store.add(RecordBatch([record(age_days=2)]))
        store.add(RecordBatch([record(age_days=0.01)]))
        store.close()
        store = RecordStore(path, 1 << 24, days)
        store.add(RecordBatch([record()]))
        store.close()
        assert total_of(path).calls == left


def exhibits_in(path: Path) -> list[tuple[str, str]]:
    with closing(read_records(path)) as connection:
        return connection.execute("SELECT arguments, sent FROM exhibits").fetchall()


@case("exhibits")
def _(folder: Path) -> None:
    for content, has_arguments, has_sent in (("off", 0, 0), ("arguments", 1, 0), ("all", 1, 1)):
        place = folder / content
        place.mkdir()
        told(place, 1, exhibits=content)
        found = exhibits_in(place / "records.db")
        assert len(found) == has_arguments
        assert [bool(sent) for _, sent in found] == [bool(has_sent)] * len(found)


@case("redact")
def _(folder: Path) -> None:
    told(folder, 1, redact=["Guest|guest"])
    ((_, sent),) = exhibits_in(folder / "records.db")
    assert "•••" in sent and "uest" not in sent


@case("savings_line")
def _(folder: Path) -> None:
    assert events(told(folder), "savings") and not events(told(folder, savings_line=False), "savings")


@case("sample_share")
def _(folder: Path) -> None:
    for share, samples in ((0, 0), (1, 3)):
        path = folder / str(samples)
        path.mkdir()
        told(path, sample_share=share)
        with closing(read_records(path / "records.db")) as connection:
            assert connection.execute("SELECT count(*) FROM samples").fetchone()[0] == samples


class Receiver:
    """An HTTP server that keeps what it is sent, and answers with a document."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.got: list[tuple[dict[str, str], bytes]] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name of the base class
                del format, args

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"


@contextmanager
def receiver(**answer: Any) -> Iterator[Receiver]:
    made = Receiver(answer)
    thread = Thread(target=made.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()


def counts_by_the_provider(folder: Path) -> None:
    with receiver(input_tokens=10) as provider:
        keys = {"count_url": provider.url, "count_key": "secret", "count_model": "claude-sonnet-5"}
        told(folder, sample_share=1, calls=1, **keys)
        ((headers, body),) = provider.got
    assert headers["x-api-key"] == "secret" and json.loads(body)["model"] == "claude-sonnet-5"
    with closing(read_records(folder / "records.db")) as connection:
        assert connection.execute("SELECT source, counted FROM samples").fetchall() == [("provider", 10)]


CASES |= dict.fromkeys(("count_url", "count_key", "count_model"), counts_by_the_provider)


@contextmanager
def alerting(folder: Path, **telemetry: Any) -> Iterator[Serving]:
    keys = {"file": str(folder / "records.db"), "alert_least_answers": 3} | telemetry
    with serving_for(folder, {}, telemetry=keys, log_format="json") as serving:
        client = serving.client()
        client.initialize()
        for _ in range(4):
            client.call("rows")
        for _ in range(4):
            client.call("echo", text="x")
        yield serving


@case("alert_oversized_share")
def _(folder: Path) -> None:
    for share, alerts in ((0.4, ["oversized_share"]), (0.6, [])):
        with alerting(folder, alert_oversized_share=share) as serving:
            found = serving.get("/api/stats").json["alerts"]
            assert [one["alert"] for one in found] == alerts


@case("alert_window_seconds")
def _(folder: Path) -> None:
    with alerting(folder, alert_window_seconds=1) as serving:
        serving.get("/api/stats")
        wait_until(
            lambda: [one["state"] for one in events(list(serving.lines), "alert")] == ["raised", "cleared"],
            "its end when the window has gone quiet",
        )


@case("alert_least_answers")
def _(folder: Path) -> None:
    with alerting(folder, alert_least_answers=9) as serving:
        assert not serving.get("/api/stats").json["alerts"]


def signs_what_a_webhook_gets(folder: Path) -> None:
    with receiver() as hook, alerting(folder, webhook_url=hook.url, webhook_secret=SECRET) as serving:
        serving.get("/api/stats")
        wait_until(lambda: hook.got, "the alert")
        headers, body = hook.got[0]
        log = list(serving.lines)
    signed = headers["x-brimgate-timestamp"].encode() + b"." + body
    assert headers["x-brimgate-signature"] == f"sha256={hmac(SECRET.encode(), signed, sha256).hexdigest()}"
    assert json.loads(body)["alert"] == "oversized_share"
    assert not [line for line in log if "/hook" in line or SECRET in line]


CASES |= dict.fromkeys(("webhook_url", "webhook_secret"), signs_what_a_webhook_gets)


def sends_by_opentelemetry(folder: Path) -> None:
    reason = "the extra `otel` is not installed"
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason=reason)
    from tests.watch.collector import collector

    with collector() as seen:
        for content in ("false", "true"):
            keys = ("--set", "telemetry.otel=true", "--set", f"telemetry.otel_content={content}")
            with gateway(*keys, env=seen.env) as client:
                client.greet()
                client.call("echo", text="what was said")
            seen.wait_for("tools/call echo", "server", 1 + (content == "true"))
            assert any(b"what was said" in body for body in seen.bodies) is (content == "true")


CASES |= dict.fromkeys(("otel", "otel_content"), sends_by_opentelemetry)


@pytest.mark.parametrize("key", CASES)
def test_a_key_changes_what_is_recorded_or_told(key: str, tmp_path: Path) -> None:
    CASES[key](tmp_path)


def test_every_key_of_telemetry_has_a_case() -> None:
    assert {one.name for one in fields(Telemetry)} == set(CASES)


def test_a_webhook_must_be_a_url(tmp_path: Path) -> None:
    from brimgate.config.sources import load

    for url in ("ftp://example.com", "hook", "http://user:pass@example.com"):
        with pytest.raises(OperatorError, match=r"telemetry\.webhook_url"):
            load(environment={"BRIMGATE_TELEMETRY_WEBHOOK_URL": url})


# Whose records one may see


def test_callers_see_their_own_records_and_admins_all(tmp_path: Path) -> None:
    keys = Keys("ann", "bob", "eve")
    telemetry = {"file": str(tmp_path / "records.db")}
    with serving_for(tmp_path, keys.auth(admins=["eve"]), telemetry=telemetry) as serving:
        for name, calls in (("ann", 2), ("bob", 3)):
            client = serving.client(**keys.of(name))
            client.initialize()
            for _ in range(calls):
                client.call("echo", text=name)
        seen = {name: serving.get("/api/stats", **keys.of(name)).json for name in ("ann", "bob", "eve")}
        assert serving.get("/api/stats").status == 401
    assert [seen[name]["total"]["calls"] for name in seen] == [2, 3, 5]
    assert set(seen["ann"]) == {"total", "rows"}, (
        "tools that are hidden from a caller are not told here either"
    )
    assert {"alerts", "catalogs", "accuracy", "recordsLost"} <= set(seen["eve"])


def test_a_principal_may_have_a_rollout_of_its_own(tmp_path: Path) -> None:
    keys = Keys("ann", "bob")
    protection = {
        "principals": {"*": {"mode": "on"}, "bob": {"mode": "shadow"}},
        "output_token_threshold": 1_000,
    }
    telemetry = {"file": str(tmp_path / "records.db")}
    with serving_for(tmp_path, keys.auth(), context_protection=protection, telemetry=telemetry) as serving:
        reduced: dict[str, bool] = {}
        for name in ("ann", "bob"):
            client = serving.client(**keys.of(name))
            client.initialize()
            reduced[name] = "brimgate/result" in client.call("rows")["result"].get("_meta", {})
    assert reduced == {"ann": True, "bob": False}


PROVED = {
    "Config.telemetry": test_a_key_changes_what_is_recorded_or_told,
    "AuthOptions.admins": test_callers_see_their_own_records_and_admins_all,
    "ContextProtection.principals": test_a_principal_may_have_a_rollout_of_its_own,
}
"""The tests that prove a key of the configuration (see tests/config/test_keys.py)."""
