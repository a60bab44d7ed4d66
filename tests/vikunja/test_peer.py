"""vikunja-mcp, directly and behind Brimgate: each caller has a process with its own token, and sees nothing of another."""

import json
import os
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from brimgate.engine.rebuild import Rebuilder
from tests.config.running import BRIMGATE, check, environment
from tests.http.callers import Keys, bearer
from tests.http.processes import is_alive
from tests.http.serving import PATIENCE, Answer, LegacyClient, modern, wait_until
from tests.relay.conversation import cost, following, reply_of
from tests.vikunja.peer import Crowd, Peer, Told, crowd, peer, settings_of
from tests.vikunja.peer_calls import BROKEN, CACHED, LOCAL, READS, write_with_all

pytestmark = pytest.mark.slow  # its environment is installed by `make slow`
CALLS = int(os.environ.get("BRIMGATE_TEAM_CALLS", "400"))
OTHER = {"alice": "bob", "bob": "alice"}
BUDGET = 4_000
"""Tokens of one reply."""
LABELS = {"name": "label_list", "arguments": {}}


@pytest.fixture
def straight() -> Iterator[Peer]:
    with peer() as one:
        yield one


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowd]:
    with crowd(tmp_path_factory.mktemp("peer")) as one:
        yield one


# Directly


def test_every_tool_that_reads_works_and_asks_with_the_token_it_has(straight: Peer) -> None:
    wrong: list[tuple[str, Any]] = []
    for tool, arguments in READS:
        told = straight.run(tool, **arguments)
        answered = {(one["user"], one["status"]) for one in told.requests}
        wanted: set[tuple[str, int]] = set() if tool in LOCAL else {("alice", 200)}
        if told.is_failure or (answered != wanted and not (tool in CACHED and not answered)):
            wrong.append((tool, answered or told.text[:200]))
    assert not wrong


def test_all_of_its_81_tools_are_called_and_all_but_three_work(straight: Peer) -> None:
    called: dict[str, Told] = {}
    failed: dict[str, str] = {}
    refused: list[Any] = []

    def run(tool: str, /, **arguments: Any) -> Any:
        told = called[tool] = straight.run(tool, **arguments)
        if told.is_failure:
            failed[tool] = told.text[:300]
        refused.extend(one for one in told.requests if one["status"] not in (200, 201))
        return told.data

    for tool, arguments in READS:
        run(tool, **arguments)
    running = straight.standin.running
    write_with_all(run, running.url, running.tokens["bob"])
    assert len(called) == 81
    assert set(called) == set(straight.tools)
    assert failed.keys() == BROKEN.keys(), failed
    assert not refused


# Behind Brimgate


def single(crowded: Crowd, token: str, params: dict[str, Any]) -> Answer:
    """A call of a client since 2026-07-28, without a session."""
    shown = f"Bearer {token}" if token else ""
    return modern(crowded.serving, "tools/call", params, authorization=shown)


def test_each_caller_has_a_process_with_its_own_token_and_no_other(shared: Crowd) -> None:
    alice, bob = shared.member("alice"), shared.member("bob")
    for one in (alice, bob):
        one.call("label_list")
    for name in ("alice", "bob"):
        answer = single(shared, shared.tokens[name], LABELS)
        assert answer.status == 200
    assert {name: len(shared.processes_of(name)) for name in OTHER} == {"alice": 2, "bob": 2}
    assert len(shared.processes) == 4
    for name, other in OTHER.items():
        for pid in shared.processes_of(name):
            assert shared.tokens[other] not in json.dumps(shared.processes[pid])
    for one in (alice, bob):
        assert one.client.delete().status == 200


def test_a_session_that_ends_takes_its_process_with_it(shared: Crowd) -> None:
    before = set(shared.processes)
    alice, bob = shared.member("alice"), shared.member("bob")
    for one in (alice, bob):
        one.call("label_list")
    (pid,) = shared.processes_of("alice") - before
    (kept,) = shared.processes_of("bob") - before
    assert alice.client.delete().status == 200
    wait_until(lambda: not is_alive(pid), "the end of the process")
    assert is_alive(kept)
    assert bob.call("label_list")
    bob.client.delete()
    wait_until(lambda: not is_alive(kept), "the end of the other")


def test_a_caller_cannot_use_the_session_of_another(shared: Crowd) -> None:
    alice = shared.member("alice")
    alice.call("label_list")
    stolen = shared.serving.client(**bearer(shared.tokens["bob"]))
    stolen.session = alice.client.session
    answer = stolen.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": LABELS})
    assert answer.status == 404
    assert b"Heliotrope" not in answer.body
    alice.client.delete()


def test_no_answer_has_a_word_of_another_caller(shared: Crowd) -> None:
    standin = shared.standin
    markers = standin.running.settings.markers
    direct = {"alice": standin.alice, "bob": standin.bob}
    projects = {
        name: [one["id"] for one in direct[name].get("/projects") if markers[name] in one["title"]]
        for name in direct
    }
    tasks = {
        name: [one["id"] for one in direct[name].get(f"/projects/{projects[name][0]}/tasks")]
        for name in direct
    }

    def questions(name: str) -> list[tuple[str, dict[str, Any]]]:
        """Its own things, all there are, and those of the other by their ids."""
        both = [*zip(projects["alice"], tasks["alice"], strict=False)]
        both += zip(projects["bob"], tasks["bob"], strict=False)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("project_list", {}),
            ("label_list", {}),
            ("search_all", {"query": "the"}),
            ("search_all_tasks", {"allow_truncated": True}),
            ("task_query", {"query": "overdue"}),
        ]
        for project, task in both:
            asked += [
                ("project_get", {"project_id": project}),
                ("task_list", {"project_id": project, "include_completed": True}),
                ("task_get", {"task_id": task}),
                ("comment_list", {"task_id": task}),
            ]
        return asked

    def ask_all(name: str, is_modern: bool, count: int) -> tuple[str, list[bytes]]:
        client = shared.member(name).client
        asked, answers = questions(name), list[bytes]()
        for number in range(count):
            tool, arguments = asked[number % len(asked)]
            params = {"name": tool, "arguments": arguments}
            if is_modern:
                told = single(shared, shared.tokens[name], params)
            else:
                told = client.post({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
            assert told.status == 200, told
            answers.append(told.body)
        client.delete()
        return name, answers

    callers = [(name, is_modern) for name in OTHER for is_modern in (False, True)]
    with ThreadPoolExecutor(len(callers)) as pool:
        told = list(pool.map(lambda one: ask_all(one[0], one[1], CALLS // len(callers)), callers))
    for name, answers in told:
        assert sum(markers[name].encode() in one for one in answers) > len(answers) // 4
        assert not [one for one in answers if markers[OTHER[name]].encode() in one]
        assert not [one for one in answers for token in shared.tokens.values() if token.encode() in one]


def test_what_one_caller_has_it_remember_reaches_no_other(shared: Crowd) -> None:
    """It has one file for all processes of a user of the system, where it would keep tokens too."""
    alice, bob = shared.member("alice"), shared.member("bob")
    given = {"name": "mine", "url": shared.standin.running.url, "token": shared.tokens["alice"]}
    assert shared.tokens["alice"] not in alice.fail("instance_connect", **given)
    assert "mine" not in bob.call("instance_list")
    seen = json.dumps(bob.client.call("project_list_all"))
    assert "Quillwort" in seen and "Heliotrope" not in seen
    assert "Heliotrope" not in json.dumps(bob.client.call("project_list", instance="mine"))
    assert "Quillwort" in bob.call("label_list")
    for one in (alice, bob):
        one.client.delete()


def read_all(client: LegacyClient, tool: str, **arguments: Any) -> tuple[Any, int]:
    """Read an answer to its end, by its cursors alone; return it, and in how many replies it came."""
    rebuilder, replies = Rebuilder(), 1
    result = client.call(tool, **arguments)["result"]
    while True:
        assert cost(result) <= BUDGET
        reply = reply_of(result)
        rebuilder.feed(reply)
        cursor = following(reply.record)
        if not cursor:
            return json.loads(rebuilder.answer()), replies
        replies += 1
        result = client.call("brimgate_read", cursor=cursor)["result"]


def test_a_large_list_is_bounded_and_can_be_read_to_its_end(shared: Crowd) -> None:
    alice = shared.member("alice")
    told, replies = read_all(alice.client, "task_list", project_id=1, include_completed=True)
    assert replies > 2
    assert {one["id"] for one in told} == {
        one["id"] for one in shared.standin.alice.walk("/projects/1/tasks")
    }
    alice.client.delete()


def test_an_export_of_everything_is_bounded_and_can_be_read_to_its_end(shared: Crowd) -> None:
    alice = shared.member("alice")
    told, replies = read_all(alice.client, "project_export")
    assert replies > 20
    exported = {task["id"] for project in told["projects"] for task in project["tasks"]}
    assert exported == {one["id"] for one in shared.standin.alice.walk("/tasks")}
    alice.client.delete()


def test_the_cursor_of_one_caller_opens_nothing_for_another(shared: Crowd) -> None:
    alice, bob = shared.member("alice"), shared.member("bob")
    first = alice.client.call("task_list", project_id=1, include_completed=True)["result"]
    cursor = following(reply_of(first).record)
    assert cursor
    assert "Heliotrope" not in bob.fail("brimgate_read", cursor=cursor)
    for one in (alice, bob):
        one.client.delete()


# Bounds


def busy(crowded: Crowd, name: str) -> LegacyClient:
    """A session that listens, so that it is not ended to make room."""
    client = crowded.member(name).client
    assert client.listen().status == 200
    return client


def test_the_processes_of_a_caller_are_bounded_with_a_clear_error(tmp_path: Path) -> None:
    with crowd(tmp_path, limits={"processes": 1}) as crowded:
        first = busy(crowded, "alice")
        refused = crowded.serving.client(**bearer(crowded.tokens["alice"])).initialize()
        assert refused.status == 503 and "retry-after" in refused.headers
        assert "limits.processes" in refused.json["error"]["message"]
        alone = single(crowded, crowded.tokens["alice"], LABELS)
        assert alone.status == 503
        assert "limits.processes" in alone.json["error"]["message"]
        assert crowded.member("bob").call("label_list")
        assert {name: len(crowded.processes_of(name)) for name in OTHER} == {"alice": 1, "bob": 1}
        first.delete()
        wait_until(lambda: not crowded.processes_of("alice"), "the end of the first")
        again = crowded.serving.client(**bearer(crowded.tokens["alice"]))
        wait_until(lambda: again.initialize().status == 200, "room for another")


def test_all_processes_are_bounded_with_a_clear_error(tmp_path: Path) -> None:
    with crowd(tmp_path, server={"max_processes": 1}) as crowded:
        busy(crowded, "alice")
        refused = crowded.serving.client(**bearer(crowded.tokens["bob"])).initialize()
        assert (refused.status, len(crowded.processes)) == (503, 1)
        assert "max_processes" in refused.json["error"]["message"]


# Tokens


def test_a_token_that_is_revoked_is_refused_at_the_next_call(tmp_path: Path) -> None:
    brief = {"cache_seconds": 1, "refusal_seconds": 60}
    with crowd(tmp_path, auth=brief) as crowded:
        extra = crowded.standin.control("/token", user="alice")["token"]
        alice, kept = crowded.of_token(extra), crowded.member("alice")
        for one in (alice, kept):
            one.call("label_list")
        crowded.standin.control("/revoke", token=extra)
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": LABELS}

        def refused() -> Any:
            answer = alice.client.post(asked)
            assert b"Heliotrope" not in answer.body
            return answer if answer.status == 401 else None

        answer = wait_until(refused, "a refusal")
        assert extra.encode() not in answer.body
        assert single(crowded, extra, LABELS).status == 401
        assert kept.call("label_list")
        wait_until(lambda: extra not in json.dumps(list(crowded.processes.values())), "its processes to end")


@pytest.mark.parametrize("shown", ["tk_" + "0" * 40, "nonsense", ""])
def test_a_token_that_is_not_valid_starts_no_process(shared: Crowd, shown: str) -> None:
    before = set(shared.processes)
    headers = bearer(shown) if shown else {}
    assert shared.serving.client(**headers).initialize().status == 401
    assert single(shared, shown, LABELS).status == 401
    assert set(shared.processes) <= before


def test_no_token_is_in_the_log_in_health_in_check_or_in_errors(tmp_path: Path) -> None:
    with crowd(tmp_path, "--log-level", "debug", server={"health_details": True}) as crowded:
        tokens = crowded.tokens
        said = list[str]()
        for name in OTHER:
            member = crowded.member(name)
            member.call("label_list")
            said += [member.fail("task_get", task_id=999_999), member.fail("no_such_tool")]
            said.append(member.call("instance_list"))
            member.client.delete()
        said.append(crowded.serving.client(**bearer("tk_" + "0" * 40)).initialize().body.decode())
        health = crowded.serving.get("/health")
        assert health.status == 200
        said.append(health.body.decode())
        done = check(str(crowded.config))
        assert done.returncode == 0 and "{caller: bearer}" in done.stdout
        said += [done.stdout, done.stderr]
        crowded.serving.stop()
        said += crowded.serving.all_lines()
    for token in (*tokens.values(), "tk_" + "0" * 40):
        assert not [one for one in said if token in one or token[3:] in one]


# What would mix callers

KEYS = Keys("alice", "bob")
URL = "http://127.0.0.1:9"
JWT = {"mode": "jwt", "issuer": "https://login.example.com"}
PUBLIC = {"public_url": "https://gate.example.com"}


@pytest.mark.parametrize(
    ("auth", "upstream", "server", "reason"),
    [
        (KEYS.auth(), {}, {}, "auth.mode static takes tokens that are not its own"),
        (JWT, {}, PUBLIC, "auth.mode jwt takes tokens that are not its own"),
        (
            {"mode": "proxy", "principal_header": "X-User", "trusted_proxies": ["127.0.0.1"]},
            {},
            {},
            "auth.mode proxy takes tokens that are not its own",
        ),
        (
            {
                "mode": "introspection",
                "issuer": "https://login.example.com",
                "introspection_url": "https://login.example.com/look",
                "client_id": "gate",
                "client_secret": "s",
            },
            {},
            PUBLIC,
            "auth.mode introspection takes tokens that are not its own",
        ),
        ({}, {"upstream_credential": {"static": "tk_of_one"}}, {}, "mix users"),
        ({}, {"upstream_credential": {"from": "Authorization"}}, {}, "in their name"),
        (
            {"mode": "none"},
            {"upstream_credential": {"per_principal": {"alice": "tk_hers"}}},
            {},
            "callers have no names",
        ),
        (
            KEYS.auth(),
            {"env": {"VIKUNJA_URL": URL}, "upstream_credential": {"per_principal": {"alice": "tk_hers"}}},
            {},
            "one environment for all callers",
        ),
        (
            KEYS.auth(),
            {"env": {"VIKUNJA_URL": URL}, "upstream_credential": {"from": "X-Vikunja-Token"}},
            {},
            "one environment for all callers",
        ),
        ({"mode": "upstream_token", "verify_url": ""}, {}, {}, "needs auth.verify_url"),
    ],
    ids=[
        "static", "jwt", "proxy", "introspection", "one for all", "their own header", "no names",
        "kept without a place", "sent without a place", "nobody checks",
    ],
)  # fmt: skip
def test_what_would_mix_callers_is_refused_before_anything_starts(
    tmp_path: Path, auth: dict[str, Any], upstream: dict[str, Any], server: dict[str, Any], reason: str
) -> None:
    path = tmp_path / "brimgate.yaml"
    path.write_text(json.dumps(settings_of(URL, auth, upstream, server=server)))
    started = subprocess.run(
        [*BRIMGATE, "serve", "--port", "0", "--config", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=environment(),
        timeout=PATIENCE,
        check=False,
    )
    looked_at = check(str(path))
    for done in (started, looked_at):
        assert done.returncode == 2, done
        assert reason in done.stderr
        assert "Traceback" not in done.stderr and "tk_" not in done.stdout + done.stderr


def test_callers_with_keys_get_processes_with_the_tokens_that_are_kept_for_them(tmp_path: Path) -> None:
    kept = {"per_principal": {name: f"${{TOKEN_OF_{name.upper()}}}" for name in OTHER}}
    with crowd(tmp_path, upstream={"upstream_credential": kept}, auth=KEYS.auth()) as crowded:
        markers = crowded.standin.running.settings.markers
        for name, other in OTHER.items():
            client = crowded.serving.client(**KEYS.of(name))
            client.initialize()
            told = json.dumps(client.call("label_list"))
            assert markers[name] in told and markers[other] not in told
            assert len(crowded.processes_of(name)) == 1
