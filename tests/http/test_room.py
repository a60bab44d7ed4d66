"""Nobody takes the room of another: sessions, servers and held answers are bounded for each caller, however it comes."""

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from brimgate.guard.principal import Principal
from brimgate.hold.live_lists import LiveLists, WholeList
from brimgate.hold.stores.contract import Bounds
from brimgate.hold.stores.memory import MemoryStore
from brimgate.relay.catalog import Catalogs
from tests.conformance.processes import free_port, listens, running
from tests.http.serving import Answer, LegacyClient, Serving, serve
from tests.http.test_entrance import ANN, BOB, KEYS, bearer, commanded
from tests.http.test_isolation import SECRET, tell

MOST = 3
"""Sessions of one caller."""
ASKED = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": tell()}


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """At /mcp/url a server that speaks HTTP, at /mcp/pipes a command."""
    folder = tmp_path_factory.mktemp("room")
    config, port = folder / "brimgate.json", free_port()
    shown = {"forward_headers": ["x-team"]}
    upstreams = {
        "url": {"url": f"http://127.0.0.1:{port}/mcp"} | shown,
        "pipes": commanded([*SECRET, "stdio"]) | shown,
    }
    document = {
        "upstreams": upstreams,
        "auth": {"mode": "static", "keys": KEYS},
        "limits": {"requests": 10_000, "sessions": MOST},
        "server": {"grace_seconds": 0},
    }
    config.write_text(json.dumps(document))
    with (
        running([*SECRET, "http", str(port)], folder / "server.log", listens(port)),
        serve("--config", str(config), command=()) as serving,
    ):
        yield serving


def opened(gate: Serving, path: str, key: str, **headers: str) -> LegacyClient:
    client = gate.client(path=path, **bearer(key), **headers)
    assert client.initialize().status == 200
    return client


def test_whoever_opens_many_sessions_loses_its_own_oldest(gate: Serving) -> None:
    bob = opened(gate, "/mcp/url", BOB)
    clients = [opened(gate, "/mcp/url", ANN) for _ in range(MOST + 2)]
    statuses = [client.post(ASKED).status for client in clients]
    assert statuses == [404] * 2 + [200] * MOST
    assert bob.post(ASKED).status == 200


def test_what_a_caller_shows_the_upstream_gives_it_no_more_sessions(gate: Serving) -> None:
    bob = opened(gate, "/mcp/url", BOB)
    clients = [opened(gate, "/mcp/url", ANN, **{"x-team": f"team {n}"}) for n in range(MOST + 2)]
    assert [client.post(ASKED).status for client in clients] == [404] * 2 + [200] * MOST
    assert bob.post(ASKED).status == 200


def test_nor_more_servers(gate: Serving) -> None:
    """None is idle for long enough to make room, so that the next is refused."""
    bob = opened(gate, "/mcp/pipes", BOB)
    with ExitStack() as closing:
        hanging = ASKED | {"params": tell(hangs=True)}
        for number in range(MOST):
            client = opened(gate, "/mcp/pipes", ANN, **{"x-team": f"team {number}"})
            closing.callback(gate.cut, client.begin(hanging))
        refused = gate.client(path="/mcp/pipes", **bearer(ANN), **{"x-team": "one more"}).initialize()
        assert (refused.status, "limits.sessions" in refused.json["error"]["message"]) == (503, True)
        assert bob.post(ASKED).status == 200


def test_behind_a_url_too_a_foreign_session_is_answered_as_an_unknown_one(gate: Serving) -> None:
    """The server behind it does not know whose its sessions are, and has words of its own for unknown ones."""
    ann = opened(gate, "/mcp/url", ANN)
    bob = gate.client(path="/mcp/url", **bearer(BOB))

    def seen(session: str) -> list[tuple[int, bytes, list[str]]]:
        bob.session = session
        reading = {"name": "brimgate_read", "arguments": {"cursor": "x"}}
        answers = [bob.post(ASKED), bob.post(ASKED | {"params": reading}), bob.delete(), heard(bob)]
        return [(one.status, one.body, sorted(one.headers)) for one in answers]

    def heard(client: LegacyClient) -> Answer:
        response = client.listen()
        return Answer(
            response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        )

    foreign = seen(ann.session)
    assert foreign == seen("0" * 32) == seen("made up")
    assert {status for status, *_ in foreign} == {404}
    assert ann.post(ASKED).status == 200


# Without a gateway


def shown(number: int) -> str:
    return Principal("static:ann", "ann").showing([(b"x", b"%d" % number)], frozenset((b"x",))).id


def test_whatever_a_caller_shows_it_is_one_account() -> None:
    ann = Principal("static:ann", "ann")
    other = ann.showing([(b"x", b"1")], frozenset((b"x",)))
    assert other.id != ann.id and other.account == ann.account == ann.id
    assert Principal("proxy:ann+1@example.com", "ann").account == "proxy:ann+1@example.com"


def test_held_answers_of_one_account_do_not_push_out_those_of_another() -> None:
    store = MemoryStore(Bounds(per_principal_bytes=500, total_bytes=600))
    store.put("static:bob", b"b", b"x" * 100, 10, 1)
    for number in range(20):
        store.put(shown(number), b"a", b"x" * 100, 10, 1)
    assert store.get("static:bob", b"b", 1) == b"x" * 100
    assert [number for number in range(20) if store.get(shown(number), b"a", 1)] == list(range(15, 20))


def test_nor_do_live_lists() -> None:
    lists = LiveLists(Bounds(per_principal_bytes=11_000, total_bytes=14_000))
    lists.add("static:bob", b"b", WholeList(b"x" * 100), 0.0, 60.0)
    for number in range(20):
        lists.add(shown(number), b"a", WholeList(b"x" * 100), 0.0, 60.0)
    assert lists.of("static:bob", b"b", 1.0) is not None
    assert [number for number in range(20) if lists.of(shown(number), b"a", 1.0)] == list(range(15, 20))


def test_nor_do_catalogs() -> None:
    catalogs = Catalogs(most=5)
    bob = catalogs.of("static:bob")
    for number in range(20):
        catalogs.of(shown(number))
    assert len(catalogs) == 5 and catalogs.of("static:bob") is bob
