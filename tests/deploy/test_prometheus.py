"""A real Prometheus, by the files in deploy/, before a real `brimgate serve`: it scrapes, asks and alerts as they say."""

import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest
import yaml

from tests.answer_shapes import SHAPES
from tests.conftest import ROOT
from tests.http.callers import Keys, bearer
from tests.http.serving import PATIENCE, LegacyClient, Serving, exchange, serve, wait_until, workers_of
from tests.relay.conversation import record_of
from tests.rest.serving import serve_alone
from tests.store.redis_server import free_port, redis_server
from tests.telling_server import over_http
from tests.watch.exposition import Exposition

FILES: Final = ROOT / "deploy" / "prometheus"
DASHBOARD: Final = json.loads((ROOT / "deploy/grafana/brimgate.json").read_text("utf-8"))
KEYS: Final = Keys("alice", "operator")
SHAPES_ASKED: Final = ("small_list", "indented", "large_list", "flat_object", "prose")
TEXTS: Final = {shape: SHAPES[shape].decode() for shape in SHAPES_ASKED}
OUTCOMES: Final = {"passed", "rendered", "page", "preview", "chunk", "read", "refused", "error"}
TIMES: Final = 7
"""Of seventeen calls: over a hundred."""
DECLARATION: Final = """
name: desk
base_url: http://127.0.0.1:{port}
tools:
  list_tickets: {{description: All tickets., path: /tickets, routes: [/tickets]}}
  lost: {{description: Nothing., path: /lost, routes: [/lost]}}
"""


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not here: apt-get install prometheus")
    return found


def _run(*command: str, given: bytes = b"") -> str:
    done = subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE, check=False)
    told = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, told
    return told


# The files alone


def _panels() -> Iterator[dict[str, Any]]:
    for panel in DASHBOARD["panels"]:
        yield panel
        yield from panel.get("panels", ())


def _queries() -> dict[str, str]:
    """Every query of the dashboard, by its panel and letter."""
    return {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in _panels()
        for target in panel.get("targets", ())
    }


def test_rules_and_scrape_configuration_are_what_prometheus_expects(tmp_path: Path) -> None:
    promtool = _program("promtool")
    assert "13 rules found" in _run(promtool, "check", "rules", str(FILES / "alerts.yml"))
    _run(promtool, "test", "rules", str(Path(__file__).with_name("alert_cases.yml")))
    text = (FILES / "scrape.yml").read_text().replace("/etc/prometheus", str(tmp_path))
    (tmp_path / "scrape.yml").write_text(text)
    (tmp_path / "brimgate.token").write_text("token")
    shutil.copy(FILES / "alerts.yml", tmp_path)
    _run(promtool, "check", "config", str(tmp_path / "scrape.yml"))


def test_every_alert_says_what_to_do_and_has_a_case() -> None:
    cases = Path(__file__).with_name("alert_cases.yml").read_text()
    (group,) = yaml.safe_load((FILES / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]:
        assert {"summary", "description", "runbook"} <= rule["annotations"].keys(), rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert f'alertname="{rule["alert"]}"' in cases, rule["alert"]


def test_every_panel_is_explained_and_lies_on_a_grid() -> None:
    seen: set[tuple[int, int]] = set()
    ids = [panel["id"] for panel in _panels()]
    assert len(set(ids)) == len(ids)
    for panel in _panels():
        assert panel["title"]
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24 and not cells & seen, f"{panel['title']} lies on another"
        seen |= cells
        if panel["type"] != "row":
            assert panel["description"].endswith(".") and panel["targets"], panel["title"]
            assert {one["datasource"]["uid"] for one in (panel, *panel["targets"])} == {"${datasource}"}
    assert {one["name"] for one in DASHBOARD["templating"]["list"]} == {"datasource", "instance", "upstream"}


# What it scrapes


@dataclass
class Prometheus:
    port: int
    process: "subprocess.Popen[bytes]"
    log: Path

    def ask(self, path: str, **query: str) -> Any:
        """The data of an answer; None while it does not answer."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            answer = exchange(connection, "GET", f"/api/v1/{path}?{urlencode(query)}", None, {})
        except OSError:
            assert self.process.poll() is None, self.log.read_text()
            return None
        finally:
            connection.close()
        if answer.status == 503:
            return None
        assert answer.status == 200, f"{query}: {answer.body.decode()}"
        return answer.json["data"]

    def query(self, text: str) -> list[tuple[dict[str, str], float]]:
        data = self.ask("query", query=text)
        return [(one["metric"], float(one["value"][1])) for one in data["result"]] if data else []

    def value(self, text: str) -> float:
        return sum(value for _, value in self.query(text))


@contextmanager
def prometheus(folder: Path, ports: Mapping[str, int], token: str) -> Iterator[Prometheus]:
    """By our own files, with the ports, the token and the haste of a test."""
    program, port = _program("prometheus"), free_port()
    text = (FILES / "scrape.yml").read_text()
    for old, new in (
        ("127.0.0.1:9464", f"127.0.0.1:{ports['own']}"),
        ("127.0.0.1:3010", f"127.0.0.1:{ports['clients']}"),
        ("/etc/prometheus", str(folder)),
        ("scrape_interval: 15s", "scrape_interval: 1s"),
        ("evaluation_interval: 15s", "evaluation_interval: 1s"),
    ):
        assert old in text, old
        text = text.replace(old, new)
    (folder / "prometheus.yml").write_text(text)
    (folder / "brimgate.token").write_text(token)
    shutil.copy(FILES / "alerts.yml", folder)
    log = folder / "prometheus.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [
                program,
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/tsdb",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=warn",
            ],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    try:
        found = Prometheus(port, process, log)
        wait_until(lambda: found.ask("status/buildinfo"), "it serves")
        yield found
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(PATIENCE)


@dataclass
class Watched:
    serving: Serving
    own_port: int
    file: Path
    document: dict[str, Any]
    calls: int = 0

    def scrape(self) -> bytes:
        return scraped(self.own_port)

    def write(self, **changes: Any) -> None:
        self.file.write_text(json.dumps(self.document | changes))

    def client(self, upstream: str) -> LegacyClient:
        client = self.serving.client(path=f"/mcp/{upstream}", **KEYS.of("alice"))
        client.initialize()
        client.request("tools/list")
        return client


def scraped(port: int) -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        answer = exchange(connection, "GET", "/metrics", None, {})
    finally:
        connection.close()
    assert answer.status == 200 and answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return answer.body


async def _desk(scope: Any, _receive: Any, send: Any) -> None:
    """A REST API: many tickets, and a path where nothing is."""
    is_there = scope["path"] == "/tickets"
    body = SHAPES["large_list"] if is_there else b'{"message":"gone"}'
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200 if is_there else 404, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A gateway with all that there is to tell: keys, limits, a store, servers by command and by URL, an API."""
    folder = tmp_path_factory.mktemp("watched")
    answers = folder / "answers.json"
    answers.write_text(json.dumps(TEXTS))
    server = str(ROOT / "tests" / "telling_server.py")
    with ExitStack() as running:
        store = running.enter_context(redis_server())
        behind = running.enter_context(serve_alone(over_http(TEXTS)))
        desk = running.enter_context(serve_alone(_desk))
        declaration = folder / "desk.yaml"
        declaration.write_text(DECLARATION.format(port=desk.port))
        budgets = dict.fromkeys(("output_token_threshold", "object_threshold", "chunk_threshold"), 1_000)
        port = free_port()
        document: dict[str, Any] = {
            "store": store.url,
            "redis_timeout_seconds": 5,
            "context_protection": budgets,
            "upstreams": {
                "crm": {"command": sys.executable, "args": ["-I", "-S", server, str(answers)]},
                "docs": {"url": f"http://127.0.0.1:{behind.port}/mcp"},
                "desk": {"api": str(declaration)},
            },
            "auth": KEYS.auth(admins=["operator"], attempts_per_address=100_000, attempts=100_000),
            "limits": {"requests": 100_000, "tools": {"open": {"requests": 1}}},
            "server": {"grace_seconds": 0, "metrics_port": port},
            "telemetry": {"file": str(folder / "records.db")},
        }
        file = folder / "brimgate.yaml"
        file.write_text(json.dumps(document))
        serving = running.enter_context(serve("--config", str(file), command=()))
        assert serving.port
        found = Watched(serving, port, file, document)
        call_everything(found)
        yield found


def call_everything(watched: Watched) -> None:
    """Have every outcome, several times, of every upstream; be refused, limited, and turned away."""
    for upstream in ("crm", "docs"):
        client = watched.client(upstream)
        for _ in range(TIMES):
            cursor = ""
            for shape in SHAPES_ASKED:
                result = client.call("tell", shape=shape)["result"]
                cursor = record_of(result)["nextCursor"] if shape == "large_list" else cursor
            client.call("brimgate_read", cursor=cursor)
            client.call("brimgate_read", cursor="no such cursor")
            client.call("fail")
            client.call("break")
            client.request("resources/read", {"uri": "telling://prose"})
        watched.calls += 10 * TIMES
    client = watched.client("crm")
    call = {"name": "open", "arguments": {"shape": "small_list"}}
    message = {"jsonrpc": "2.0", "id": 9_000, "method": "tools/call", "params": call}
    statuses = [client.post(message).status for _ in range(3)]
    assert 429 in statuses
    watched.calls += statuses.count(200)
    operator, alice = KEYS.of("operator"), KEYS.of("alice")
    for path, status in (("/api/v1/tickets", 200), ("/api/v1/lost", 404)):
        assert watched.serving.get(path, **alice).status == status
    watched.calls += 2
    assert watched.serving.get("/metrics", **operator).status == 200
    assert watched.serving.get("/metrics", **alice).status == 403
    assert watched.serving.get("/metrics").status == 401
    assert watched.serving.get("/metrics", **bearer("wrong")).status == 401


def test_what_is_scraped_is_clean_and_has_every_outcome(watched: Watched) -> None:
    promtool, text = _program("promtool"), watched.scrape()
    assert watched.calls > 100
    assert _run(promtool, "check", "metrics", given=text) == ""
    found = Exposition(text)
    assert found.by("brimgate_results_total", "outcome").keys() == OUTCOMES
    assert found.sum("brimgate_results_total") == watched.calls
    assert found.by("brimgate_results_total", "upstream").keys() == {"crm", "docs", "desk"}
    assert found.by("brimgate_limited_total", "scope")["tool"] >= 1
    assert found.by("brimgate_auth_total", "result")["unauthorized"] >= 2
    assert found.by("brimgate_upstream_up", "upstream")["docs"] == 1 == found.sum("brimgate_store_up")
    for secret in (KEYS.key["alice"], KEYS.key["operator"], "alice", "operator"):
        assert secret.encode() not in text, "no caller is told"


def test_metrics_are_for_admins_on_the_port_of_the_clients(watched: Watched) -> None:
    serving = watched.serving
    assert [
        serving.get("/metrics", **headers).status
        for headers in ({}, KEYS.of("alice"), KEYS.of("operator"), bearer("x" * 40))
    ] == [401, 403, 200, 401]
    told = serving.get("/metrics", **KEYS.of("alice"))
    assert b"auth.admins" in told.body and b"brimgate_results" not in told.body
    assert exchange(serving.connect(), "POST", "/metrics", b"", KEYS.of("operator")).status == 405


def test_prometheus_scrapes_evaluates_and_answers_every_question_of_the_dashboard(
    watched: Watched, tmp_path: Path
) -> None:
    ports = {"own": watched.own_port, "clients": watched.serving.port}
    with prometheus(tmp_path, ports, KEYS.key["operator"]) as found:
        wait_until(lambda: found.value("sum(up)") == 2, "both ways to scrape work")
        before = found.value(f'sum(brimgate_results_total{{instance="127.0.0.1:{watched.own_port}"}})')
        assert before == watched.calls
        _change_the_configuration(watched)
        call_everything(watched)
        for port in ports.values():
            sums = f'sum(brimgate_results_total{{instance="127.0.0.1:{port}"}})'
            wait_until(lambda asked=sums: found.value(asked) == watched.calls, f"all calls by {port}")
        _ask_the_dashboard(found, watched.own_port)
        _look_at_the_rules(found)


def _change_the_configuration(watched: Watched) -> None:
    watched.write(log_level="warning")
    watched.serving.wait_for_line("config_reloaded")
    watched.write(no_such_key=1)
    watched.serving.wait_for_line("config_rejected")


def _ask_the_dashboard(found: Prometheus, port: int) -> None:
    chosen = {
        "$__rate_interval": "1m",
        "$__range": "5m",
        "$instance": f"127[.]0[.]0[.]1:{port}",
        "$upstream": ".*",
    }

    def asked(text: str) -> str:
        for name, value in chosen.items():
            text = text.replace(name, value)
        assert "$" not in text, text
        return text

    for title, text in _queries().items():
        has_data = lambda text=text: [  # noqa: E731
            value for _, value in found.query(asked(text)) if math.isfinite(value)
        ]
        wait_until(has_data, f"data for {title}: {asked(text)}")
    for variable in DASHBOARD["templating"]["list"][1:]:
        wanted = re.fullmatch(r"label_values\((.+), (\w+)\)", variable["query"]["query"])
        assert wanted
        values = found.ask(f"label/{wanted[2]}/values", **{"match[]": asked(wanted[1])})
        assert values, variable["name"]


def _look_at_the_rules(found: Prometheus) -> None:
    def rules() -> list[dict[str, Any]]:
        read = [one for group in found.ask("rules")["groups"] for one in group["rules"]]
        return read if all(one["health"] != "unknown" for one in read) else []

    told: list[dict[str, Any]] = wait_until(rules, "all rules are evaluated")
    assert len(told) == 13
    assert {one["name"]: one.get("lastError", "") for one in told if one["health"] != "ok"} == {}
    active = wait_until(
        lambda: (
            {one["labels"]["alertname"] for one in found.ask("alerts")["alerts"]} & {"BrimgateReloadRejected"}
        ),
        "the change that was rejected is told",
    )
    assert active


# Workers


def test_a_port_that_is_taken_is_told_by_the_name_of_its_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for more in ((), ("--workers", "2", "--set", "store=redis://127.0.0.1:1")):
            with serve("--set", f"server.metrics_port={port}", *more) as serving:
                assert serving.process.wait(PATIENCE) == 2
                told = "\n".join(serving.all_lines())
            assert f"127.0.0.1:{port}: it is in use" in told and "server.metrics_port chooses" in told


def test_whichever_worker_is_asked_the_sums_are_exact_and_never_get_less(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps(TEXTS))
    server = str(ROOT / "tests" / "telling_server.py")
    port, calls = free_port(), 40
    with redis_server() as store:
        document = {
            "store": store.url,
            "redis_timeout_seconds": 5,
            "upstreams": {"one": {"command": sys.executable, "args": ["-I", "-S", server, str(answers)]}},
            "auth": KEYS.auth(admins=["operator"], attempts_per_address=100_000, attempts=100_000),
            "limits": {"requests": 100_000},
            "server": {"grace_seconds": 1, "metrics_port": port},
            "telemetry": {"file": str(tmp_path / "records.db")},
        }
        file = tmp_path / "brimgate.yaml"
        file.write_text(json.dumps(document))
        with serve("--config", str(file), "--workers", "2", command=()) as serving:
            assert serving.port
            steady = Steady(serving, port)
            clients = [serving.client(**KEYS.of("alice")) for _ in range(6)]
            for client in clients:
                client.initialize()
            with steady.watching():
                for at in range(calls):
                    clients[at % len(clients)].call("tell", shape="large_list")
            for _ in range(8):
                assert steady.look().sum("brimgate_results_total") == calls
                assert steady.look_as_admin().sum("brimgate_results_total") == calls
            _end_workers(serving, steady, file, calls)


@dataclass
class Steady:
    """Looks again and again, each time on a new connection, which any worker may get."""

    serving: Serving
    port: int
    last: "dict[Any, float] | None" = None
    looks: int = 0

    def look(self) -> Exposition:
        return self._checked(scraped(self.port))

    def look_as_admin(self) -> Exposition:
        connection = self.serving.connect()
        answer = exchange(connection, "GET", "/metrics", None, KEYS.of("operator"))
        connection.close()
        assert answer.status == 200
        return self._checked(answer.body)

    def _checked(self, text: bytes) -> Exposition:
        found = Exposition(text)
        now = found.counting()
        fallen = {key: value for key, value in (self.last or {}).items() if now.get(key, -1.0) < value}
        assert not fallen
        self.last, self.looks = now, self.looks + 1
        return found

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look all the time while the block runs."""
        over, troubles = threading.Event(), list[BaseException]()

        def watch() -> None:
            try:
                while not over.is_set():
                    with suppress(OSError):  # a worker that ends may take a connection with it
                        self.look()
            except BaseException as error:  # noqa: BLE001  # told by the test
                troubles.append(error)

        before, watcher = self.looks, threading.Thread(target=watch)
        watcher.start()
        try:
            yield
            wait_until(lambda: troubles or self.looks > before + 3, "it has looked")
        finally:
            over.set()
            watcher.join(PATIENCE)
        assert not troubles, troubles[0]


def _end_workers(serving: Serving, steady: Steady, file: Path, calls: int) -> None:
    """Replace them, reject a change, and kill one: what they have counted stays."""
    with steady.watching():
        serving.process.send_signal(signal.SIGHUP)
        serving.wait_for_line("workers_replaced")
    found = steady.look()
    assert found.sum("brimgate_results_total") == calls
    assert found.sum("brimgate_sessions") == 0, "theirs have ended with them"
    good = file.read_text()
    file.write_text(good[:-1] + ', "unknown": 1}')
    serving.process.send_signal(signal.SIGHUP)
    serving.wait_for_line("reload_rejected")
    found = steady.look()
    assert found.by("brimgate_reload_seconds_count", "result")["rejected"] >= 1
    assert found.by("brimgate_reload_seconds_count", "result")["applied"] >= 1
    file.write_text(good)
    before = workers_of(serving, "brimgate")
    with steady.watching():
        os.kill(min(before), signal.SIGKILL)
        serving.wait_for_line("worker_ended")
        wait_until(lambda: len(workers_of(serving, "brimgate") - {min(before)}) == 2, "another one")
    client = serving.client(**KEYS.of("alice"))
    client.initialize()
    client.call("tell", shape="prose")
    assert steady.look().sum("brimgate_results_total") == calls + 1
