"""Every key of `server:`, and those of a server behind HTTP, changes what `brimgate serve` does (see test_keys.py)."""

import json
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.http.authorities import issue, shown
from tests.http.callers import Keys, serving_for
from tests.http.issuer import LET_IN, authorization_server, enter, gate
from tests.http.processes import is_alive
from tests.http.raw_upstream import Called, raw_upstream
from tests.http.replicas import StoreWire
from tests.http.serving import (
    DEMO,
    FAULTY,
    PATIENCE,
    PATIENT,
    Serving,
    modern,
    next_event,
    serve,
    text_of,
    wait_until,
    workers_of,
)
from tests.http.test_upstream_token import GOOD, Verifier, verified
from tests.http.test_upstream_token import ask as tried
from tests.http.wire import Wire, ask, request, wire
from tests.store.redis_server import redis_server

Case = Callable[[Path], None]
CASES: dict[str, Case] = {}
MODERN = Path(__file__).with_name("modern_server.py")
JSON = b"Content-Type: application/json"
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
HANG = {"jsonrpc": "2.0", "id": "h", "method": "tools/call", "params": {"name": "hang", "arguments": {}}}


def case(key: str) -> Callable[[Case], Case]:
    def add(function: Case) -> Case:
        CASES[key] = function
        return function

    return add


@contextmanager
def serving_with(folder: Path, upstream: dict[str, Any] | None = None, **server: Any) -> Iterator[Serving]:
    """By a file: that a key is read from there is a part of what it is."""
    path = folder / "brimgate.yaml"
    behind = upstream or {"command": FAULTY[0], "args": FAULTY[1:]}
    above = {
        key: server.pop(key) for key in ("store", "redis_prefix", "redis_timeout_seconds") if key in server
    }
    document = {"upstreams": {"one": behind}, "server": {"grace_seconds": 0} | server} | above
    path.write_text(json.dumps(document))
    with serve("--config", str(path), command=()) as serving:
        yield serving


def statuses(serving: Serving, *headers: bytes) -> int:
    return ask(serving, request(b"GET /health", *headers)).status


@case("Config.server")
def _(folder: Path) -> None:
    with serving_with(folder, json_response=True) as serving:
        assert serving.client().initialize().headers["content-type"] == "application/json"


ELSEWHERE = "127.0.0.2"
"""Another address of this machine. Nobody else uses it, while any port of 127.0.0.1 may be taken at any time."""


@contextmanager
def serving_elsewhere(folder: Path) -> Iterator[tuple[int, Serving]]:
    """At a port that is taken on 127.0.0.1, by ourselves: to listen there, or on all addresses, would fail."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = int(taken.getsockname()[1])
        path = folder / "brimgate.yaml"
        behind = {"command": FAULTY[0], "args": FAULTY[1:]}
        path.write_text(
            json.dumps({"upstreams": {"one": behind}, "server": {"host": ELSEWHERE, "port": port}})
        )
        with serve("--config", str(path), command=(), port=None) as serving:
            yield port, serving


@case("Server.host")
def _(folder: Path) -> None:
    with (
        serving_elsewhere(folder) as (_, serving),
        socket.create_connection((ELSEWHERE, serving.port), PATIENCE) as opened,
    ):
        opened.sendall(request(b"GET /health", b"Connection: close"))
        assert b" 200 " in opened.recv(100)


@case("Server.port")
def _(folder: Path) -> None:
    with serving_elsewhere(folder) as (port, serving):
        assert serving.port == port


@case("Server.socket")
def _(folder: Path) -> None:
    path = folder / "gate.sock"
    with serving_with(folder, socket=str(path)) as serving, socket.socket(socket.AF_UNIX) as opened:
        serving.wait_for_line(f"serving http://unix:{path}:/mcp")
        opened.settimeout(PATIENCE)
        opened.connect(str(path))
        opened.sendall(request(b"GET /health", b"Connection: close"))
        assert b" 200 " in opened.recv(100)


@case("Server.tls_cert")
def _(folder: Path) -> None:
    """With the key in the same file."""
    issued = issue(folder, "one")
    both = folder / "both.pem"
    both.write_bytes(issued.cert.read_bytes() + issued.key.read_bytes())
    with serving_with(folder, tls_cert=str(both)) as serving:
        assert shown(serving) == issued.cert.read_bytes()


@case("Server.tls_key")
def _(folder: Path) -> None:
    issued = issue(folder, "one")
    with serving_with(folder, tls_cert=str(issued.cert), tls_key=str(issued.key)) as serving:
        assert shown(serving) == issued.cert.read_bytes()


@case("Server.health_interval_seconds")
def _(folder: Path) -> None:
    with raw_upstream({}) as upstream:

        def checks() -> int:
            return sum(one.name == "tools/list" for one in upstream.calls)

        with serving_with(folder, {"url": upstream.url}, health_interval_seconds=0.1) as serving:
            statuses(serving)
            wait_until(lambda: checks() > 3, "several checks")
        before = checks()
        with serving_with(folder, {"url": upstream.url}, health_interval_seconds=3_600) as serving:
            wait_until(lambda: checks() == before + 1, "the first check")
            wait_until(lambda: serving.get("/health").json["status"] == "healthy", "its outcome")
            assert {statuses(serving) for _ in range(20)} == {200}
        assert checks() == before + 1


@case("Server.allowed_hosts")
def _(folder: Path) -> None:
    with serving_with(folder, allowed_hosts=["gate.example.com"]) as serving:
        hosts = (b"Host: gate.example.com", b"Host: other.example.com")
        assert [ask(serving, request(host=host)).status for host in hosts] == [200, 421]


@case("Server.allowed_origins")
def _(folder: Path) -> None:
    with serving_with(folder, allowed_origins=["https://app.example.com"]) as serving:
        assert statuses(serving, b"Origin: https://app.example.com") == 200
        assert statuses(serving, b"Origin: https://example.com") == 403


@case("Server.dashboard")
def _(folder: Path) -> None:
    for is_there, status in ((True, 200), (False, 404)):
        with serve("--set", f"server.dashboard={str(is_there).lower()}", *records_in(folder)) as serving:
            assert serving.get("/dashboard").status == status


def records_in(folder: Path) -> tuple[str, str]:
    return "--set", f"telemetry.file={folder / 'records.db'}"


def free_port(host: str) -> int:
    with socket.create_server((host, 0)) as taken:
        return int(taken.getsockname()[1])


def metrics_at(host: str, port: int) -> bytes:
    with closing(HTTPConnection(host, port, timeout=PATIENCE)) as connection:
        connection.request("GET", "/metrics")
        return connection.getresponse().read()


def answers_at_a_port_of_its_own(folder: Path) -> None:
    port = free_port(ELSEWHERE)
    given = ("--set", f"server.metrics_port={port}", "--set", f"server.metrics_host={ELSEWHERE}")
    with serve(*given, *records_in(folder)) as serving:
        assert serving.port
        assert b"brimgate_build_info" in metrics_at(ELSEWHERE, port)
        with pytest.raises(ConnectionRefusedError):
            metrics_at("127.0.0.1", port)


CASES |= dict.fromkeys(("Server.metrics_port", "Server.metrics_host"), answers_at_a_port_of_its_own)


@case("Server.json_response")
def _(folder: Path) -> None:
    for given, kind in ((True, "application/json"), (False, "text/event-stream")):
        with serving_with(folder, json_response=given) as serving:
            assert serving.client().initialize().headers["content-type"] == kind


@case("Server.max_body_bytes")
def _(folder: Path) -> None:
    with serving_with(folder, max_body_bytes=2_000) as serving:
        sizes = [
            ask(serving, request(b"POST /mcp", JSON, body=PING.ljust(size))).status for size in (2_000, 2_001)
        ]
        assert sizes == [400, 413]


@case("Server.max_connections")
def _(folder: Path) -> None:
    with serving_with(folder, max_connections=2) as serving:
        wires = [serving.keep(Wire(serving.port)) for _ in range(3)]
        assert wires[0].is_closed()
        wires[2].send(request())
        assert wires[2].answer().json["connections"] == 2


@case("Server.max_sessions")
def _(folder: Path) -> None:
    with serving_with(folder, max_sessions=1) as serving:
        assert [serving.client().initialize().status for _ in range(2)] == [200, 503]


@case("Server.max_processes")
def _(folder: Path) -> None:
    with serving_with(folder, max_processes=1) as serving:
        assert [serving.client().initialize().status for _ in range(2)] == [200, 503]


@case("Server.process")
def _(folder: Path) -> None:
    behind = {"command": sys.executable, "args": [str(MODERN), str(folder / "journal")]}
    for given, count in (("shared", 1), ("per_client", 2)):
        with serving_with(folder, behind, process=given) as serving:
            pids = {
                text_of(modern(serving, "tools/call", {"name": "pid", "arguments": {}}, meta=who).json)
                for name in ("one", "other")
                if (who := {"io.modelcontextprotocol/clientInfo": {"name": name, "version": "1"}})
            }
            assert len(pids) == count


@case("Config.call_timeout_seconds")
def _(folder: Path) -> None:
    path = folder / "brimgate.yaml"
    behind = {"command": FAULTY[0], "args": FAULTY[1:]}
    path.write_text(json.dumps({"upstreams": {"one": behind}, "call_timeout_seconds": 3}))
    with serve("--config", str(path), command=()) as serving:
        client = serving.client()
        client.initialize()
        assert "call_timeout_seconds" in client.post(HANG).messages[-1]["error"]["message"]


@case("Server.session_idle_seconds")
def _(folder: Path) -> None:
    with serving_with(folder, session_idle_seconds=1, session_dropped_seconds=1) as serving:
        client = serving.client()
        client.initialize()
        pid = int(text_of(client.call("pid")))
        wait_until(lambda: not is_alive(pid), "its end")
        assert client.post(PING).status == 404


@case("Server.session_dropped_seconds")
def _(folder: Path) -> None:
    with serving_with(folder, session_dropped_seconds=1) as serving:
        dropped, quiet = serving.client(), serving.client()
        dropped.initialize()
        quiet.initialize()
        pid = int(text_of(dropped.call("pid")))
        serving.cut(dropped.begin(HANG))
        wait_until(lambda: not is_alive(pid), "its end")
        assert dropped.post(PING).status == 404
        assert text_of(quiet.call("echo")) == "ok"


@case("Server.workers")
def _(folder: Path) -> None:
    with redis_server() as store:
        for count in (1, 2):
            with serving_with(folder, store=store.url, workers=count) as serving:
                serving.client().initialize()
                assert len(workers_of(serving, "brimgate")) == (count if count > 1 else 0)


@case("Server.replica")
def _(folder: Path) -> None:
    with redis_server() as store:
        for name in ("", "north"):
            with serving_with(folder, store=store.url, replica=name) as serving:
                client = serving.client()
                client.initialize()
                assert client.headers["mcp-session-id"].startswith("north-") == bool(name)


@case("Config.redis_timeout_seconds")
def _(folder: Path) -> None:
    for seconds, is_used in ((0.05, False), (5, True)):
        with redis_server() as store:
            wire = StoreWire(store.port)
            wire.way = "slow"  # by half a second for each answer
            url = f"redis://:{store.password}@127.0.0.1:{wire.port}/0"
            with serving_with(folder, store=url, redis_timeout_seconds=seconds) as serving:
                serving.client().initialize()
                state = serving.wait_for_line(" store_").split(" store_")[1].split()[0]
                assert state == ("healthy" if is_used else "away")
            wire.close()


@case("Config.redis_prefix")
def _(folder: Path) -> None:
    with redis_server() as store:
        for prefix in ("brimgate:", "vikunja:mcp:"):
            with serving_with(folder, store=store.url, redis_prefix=prefix) as serving:
                serving.client().initialize()
                keys = store.ask("KEYS", f"{prefix}*")
                assert isinstance(keys, list) and f"{prefix}keys".encode() in keys
            store.ask("FLUSHALL")


@case("Server.engine_processes")
def _(folder: Path) -> None:
    behind = {"command": DEMO[0], "args": DEMO[1:]}
    for count in (0, 2):
        with serving_with(folder, behind, engine_processes=count) as serving:
            client = serving.client()
            client.initialize()
            for _ in range(10):
                client.call("list_bookings")
            if count:
                wait_until(lambda at=serving: len(workers_of(at)), "a process works")
            else:
                assert not workers_of(serving)


@case("Server.grace_seconds")
def _(folder: Path) -> None:
    """What comes after the signal, and before the grace is over, is still an answer."""
    for seconds, is_answered in ((60, True), (0, False)):
        path = folder / f"now{seconds}"
        behind = {"command": PATIENT[0], "args": PATIENT[1:]}
        with serving_with(folder, behind, grace_seconds=seconds) as serving:
            client = serving.client()
            client.initialize()
            params = {"name": "wait", "arguments": {"path": str(path)}}
            response = client.begin({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            assert next_event(response)["data"] == ""
            serving.process.send_signal(signal.SIGTERM)
            serving.wait_for_line("stopping")
            if is_answered:
                path.touch()
                assert text_of(json.loads(next_event(response)["data"])) == "at last"
            assert serving.process.wait(PATIENCE) == 0


# A server behind HTTP


@case("Upstream.url")
def _(folder: Path) -> None:
    with raw_upstream({}) as upstream, serving_with(folder, {"url": upstream.url + "?x=1"}) as serving:
        assert text_of(ask(serving, request(b"POST /mcp", JSON, body=PING)).json) == "ok"
        assert upstream.last("ping").target == "/mcp?x=1"


@case("Upstream.transport")
def _(folder: Path) -> None:
    """Where the address does not tell, or tells wrong."""

    def stream(called: Called) -> None:
        called.begin_stream()
        called.send(b"event: endpoint\ndata: /messages\n\n")
        called.wait_for_end()

    for path, transport, way in (
        ("/old", "sse", "GET"),
        ("/sse", "auto", "GET"),
        ("/sse", "http", "initialize"),
        ("/old", "auto", "initialize"),
    ):
        with (
            raw_upstream({"GET": stream}) as upstream,
            serving_with(
                folder, {"url": f"http://127.0.0.1:{upstream.port}{path}", "transport": transport}
            ) as serving,
            wire(serving) as opened,
        ):
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
            opened.send(request(b"POST /mcp", JSON, body=json.dumps(hello).encode()))
            called = wait_until(lambda known=upstream: known.calls[:1], "a call")[0]
            assert (called.name, called.target) == (way, path)


@case("Upstream.headers")
def _(folder: Path) -> None:
    with (
        raw_upstream({}) as upstream,
        serving_with(folder, {"url": upstream.url, "headers": {"Authorization": "Bearer ours"}}) as serving,
    ):
        given = (JSON, b"Authorization: Bearer theirs")
        assert ask(serving, request(b"POST /mcp", *given, body=PING)).status == 200
        assert upstream.last("ping").header("authorization") == "Bearer ours"


@case("Upstream.forward_headers")
def _(folder: Path) -> None:
    with (
        raw_upstream({}) as upstream,
        serving_with(folder, {"url": upstream.url, "forward_headers": ["X-User"]}) as serving,
    ):
        given = (JSON, b"X-User: ada", b"X-Other: y")
        assert ask(serving, request(b"POST /mcp", *given, body=PING)).status == 200
        called = upstream.last("ping")
        assert (called.header("x-user"), called.header("x-other")) == ("ada", None)


# OAuth


def entries(folder: Path, *tokens: dict[str, Any], **auth: Any) -> list[int]:
    """What tokens with these claims get, where `auth:` has these keys; `$` stands for the authorization server."""
    with authorization_server() as issuer:
        told: dict[str, Any] = {
            name: value.replace("$", issuer.url) if isinstance(value, str) else value
            for name, value in auth.items()
        }
        with gate(folder, issuer, **told) as serving:
            return [enter(serving, issuer.token(**claims)).status for claims in tokens]


@case("Server.public_url")
def _(folder: Path) -> None:
    with (
        authorization_server() as issuer,
        gate(folder, issuer, server={"public_url": "https://door.example.com"}) as serving,
    ):
        tokens = [issuer.token(f"https://{name}.example.com/mcp/a") for name in ("door", "gate")]
        assert [enter(serving, token).status for token in tokens] == [LET_IN, 401]
        assert ask(serving, request(host=b"Host: door.example.com")).status == 200


@case("AuthOptions.issuer")
def _(folder: Path) -> None:
    tokens = ({}, {"iss": "https://x.example.com"})
    assert entries(folder, *tokens, jwks_url="$/jwks") == [LET_IN, 401]
    other = entries(folder, *tokens, jwks_url="$/jwks", issuer="https://x.example.com")
    assert other == [401, LET_IN]


@case("AuthOptions.audience")
def _(folder: Path) -> None:
    tokens = ({"audience": "everything"}, {})
    assert entries(folder, *tokens, audience=["everything"]) == [LET_IN, LET_IN]
    assert entries(folder, *tokens) == [401, LET_IN]


@case("AuthOptions.required_scopes")
def _(folder: Path) -> None:
    tokens = ({"scope": "one two"}, {"scope": "one"})
    assert entries(folder, *tokens, required_scopes=["one", "two"]) == [LET_IN, 403]


@case("AuthOptions.jwks_url")
def _(folder: Path) -> None:
    assert entries(folder, {}, jwks_url="$/jwks") == [LET_IN]
    assert entries(folder, {}, jwks_url="$/nothing") == [503]


@case("AuthOptions.algorithms")
def _(folder: Path) -> None:
    tokens = ({"head": {"alg": "ES256"}}, {"head": {"alg": "RS256"}})
    assert entries(folder, *tokens, algorithms=["ES256"]) == [LET_IN, 401]


@case("AuthOptions.leeway_seconds")
def _(folder: Path) -> None:
    ago = {"exp": int(time.time()) - 5}
    assert entries(folder, ago, leeway_seconds=60) == [LET_IN]
    assert entries(folder, ago, leeway_seconds=0) == [401]


@case("AuthOptions.introspection_url")
def _(folder: Path) -> None:
    assert entries(folder, {}, mode="introspection") == [LET_IN]
    assert entries(folder, {}, mode="introspection", introspection_url="$/nothing") == [503]


@case("AuthOptions.client_id")
def _(folder: Path) -> None:
    assert entries(folder, {}, mode="introspection", client_id="somebody") == [503]


@case("AuthOptions.client_secret")
def _(folder: Path) -> None:
    assert entries(folder, {}, mode="introspection", client_secret="wrong") == [503]  # noqa: S106


# Who may come in

KEYS = Keys("alice", "bob")


def greeted(serving: Serving, **headers: str) -> int:
    return serving.client(**headers).initialize().status


@case("AuthOptions.verify_url")
def _(folder: Path) -> None:
    verifier = Verifier()
    with verified(folder, verifier) as (serving, _):
        assert [tried(serving, token).status for token in (GOOD, "tk_bad")] == [200, 401]
        assert ("/token/test", GOOD) in verifier.asked


@case("AuthOptions.user_url")
def _(folder: Path) -> None:
    with verified(folder, Verifier(), user_url="/user") as (serving, _):
        assert tried(serving, GOOD).status == 200
        wait_until(lambda: any(one["principal"] == "ann#7" for one in serving.requests()), "the name")


@case("AuthOptions.cache_seconds")
def _(folder: Path) -> None:
    for seconds, checks in ((0, 3), (3_600, 1)):
        verifier = Verifier()
        with verified(folder, verifier, cache_seconds=seconds) as (serving, _):
            assert {tried(serving, GOOD).status for _ in range(3)} == {200}
            assert verifier.checks(GOOD) == checks


@case("AuthOptions.refusal_seconds")
def _(folder: Path) -> None:
    for seconds, checks in ((0, 3), (3_600, 1)):
        verifier = Verifier()
        with verified(folder, verifier, refusal_seconds=seconds) as (serving, _):
            assert {tried(serving, "tk_bad").status for _ in range(3)} == {401}
            assert verifier.checks("tk_bad") == checks


@case("AuthOptions.principal_header")
def _(folder: Path) -> None:
    auth = {"mode": "proxy", "principal_header": "X-User", "trusted_proxies": ["127.0.0.1"]}
    with serving_for(folder, auth) as serving:
        assert [greeted(serving, **{name: "ann"}) for name in ("x-user", "x-other")] == [200, 401]


@case("AuthOptions.trusted_proxies")
def _(folder: Path) -> None:
    for proxy, status in (("127.0.0.1", 200), ("127.0.0.9", 401)):
        auth = {"mode": "proxy", "principal_header": "X-User", "trusted_proxies": [proxy]}
        with serving_for(folder, auth) as serving:
            assert greeted(serving, **{"x-user": "ann"}) == status


@case("AuthOptions.legacy_query_token")
def _(folder: Path) -> None:
    for given, status in ((True, 200), (False, 401)):
        with serving_for(folder, KEYS.auth(legacy_query_token=given)) as serving, wire(serving) as opened:
            opened.send(request(b"GET /sse?token=" + KEYS.key["alice"].encode()))
            assert opened.head()[0] == status


def credential_sent(folder: Path, credential: dict[str, Any], header: str) -> str | None:
    """What the server gets in a header, of a client that has its own in X-Token."""
    with raw_upstream({}) as upstream:
        where = {"url": upstream.url, "upstream_credential": credential}
        with serving_for(folder, KEYS.auth(), where) as serving:
            login = f"Authorization: {KEYS.of('alice')['authorization']}".encode()
            assert (
                ask(serving, request(b"POST /mcp", JSON, login, b"X-Token: shown", body=PING)).status == 200
            )
            return upstream.last("ping").header(header)


@case("Upstream.upstream_credential")
def _(folder: Path) -> None:
    given = {"from": "X-Token", "as": "X-Api-Key: {}"}
    assert credential_sent(folder, given, "x-api-key") == "shown"
    assert credential_sent(folder, {}, "x-api-key") is None


@case("UpstreamCredential.header")
def _(folder: Path) -> None:
    assert credential_sent(folder, {"header": "X-Token"}, "authorization") == "Bearer shown"


@case("UpstreamCredential.per_principal")
def _(folder: Path) -> None:
    assert credential_sent(folder, {"per_principal": {"alice": "kept"}}, "authorization") == "Bearer kept"


@case("UpstreamCredential.static")
def _(folder: Path) -> None:
    assert credential_sent(folder, {"static": "for all"}, "authorization") == "Bearer for all"


@case("UpstreamCredential.sent_as")
def _(folder: Path) -> None:
    given = {"header": "X-Token", "sent_as": "X-Api-Key: key {}"}
    assert credential_sent(folder, given, "x-api-key") == "key shown"


@pytest.mark.parametrize("key", CASES)
def test_a_key_changes_what_serve_does(key: str, tmp_path: Path) -> None:
    CASES[key](tmp_path)
