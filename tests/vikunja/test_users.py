"""Two users of one endpoint: neither ever sees a byte of the other, and a token opens what it is granted, while it is valid."""

import json
import os
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.config.running import check
from tests.http.callers import Keys, bearer, write_config
from tests.http.serving import modern, serve, wait_until
from tests.http.test_credentials import refused_start
from tests.vikunja.team import ROOM, Team, all_text_of, team

CALLS = int(os.environ.get("BRIMGATE_VIKUNJA_CALLS", "3000"))
"""In all; `make soak` makes 10,000."""
FEW = 240
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("list_tasks", {}),
    ("list_tasks", {"limit": 7, "sort_by": ["due_date"], "order": ["desc"]}),
    ("list_tasks", {"filter": "done = false && priority > 2"}),
    ("list_tasks", {"search": "the"}),
    ("list_projects", {}),
    ("list_labels", {}),
    ("list_notifications", {}),
    ("list_teams", {}),
    ("get_me", {}),
]
NUMBERS = range(1, 60)
"""Ids that both ask for: some are of one, some of the other, some of both."""


class Person:
    """Calls at random, reads on, and looks for words that are not its own."""

    def __init__(self, our: Team, name: str, seed: int) -> None:
        self.name, self.dice, self.tally = name, random.Random(seed), Counter[str]()
        markers = our.standin.running.settings.markers
        self.own = markers[name]
        self.foreign = next(word for user, word in markers.items() if user != name)
        self.member = our.member(name)
        self.cursors: list[str] = []

    def act(self) -> None:
        kind = self.dice.random()
        if kind < 0.3 and self.cursors:
            self.note("read", self.member.client.call("brimgate_read", cursor=self.dice.choice(self.cursors)))
        elif kind < 0.6:
            number = self.dice.choice(NUMBERS)
            self.note("get_task", self.member.client.call("get_task", task_id=number))
        elif kind < 0.65:
            self.note(
                "complete_task", self.member.client.call("complete_task", task_id=self.dice.choice(NUMBERS))
            )
        else:
            tool, arguments = self.dice.choice(TOOLS)
            self.note(tool, self.member.client.call(tool, **arguments))

    def note(self, what: str, answer: dict[str, Any]) -> None:
        text = json.dumps(answer, ensure_ascii=False)
        assert self.foreign not in text, f"{self.name} got of another: {text[:500]}"
        self.tally[what] += 1
        self.tally["own"] += self.own in text
        self.tally["denied"] += bool(answer.get("result", {}).get("isError"))
        for block in answer.get("result", {}).get("content", []):
            found = block.get("text", "").partition('cursor="')[2].partition('"')[0]
            if found:
                self.cursors = [*self.cursors[-20:], found]


@pytest.mark.parametrize("calls", [FEW, pytest.param(CALLS, marks=pytest.mark.slow)])
def test_neither_sees_a_byte_of_the_other(calls: int) -> None:
    with team(tasks=1_000) as our:
        people = [Person(our, name, seed) for seed, name in enumerate(("alice", "bob") * 3)]

        def live(person: Person) -> None:
            for _ in range(calls // len(people)):
                person.act()

        with ThreadPoolExecutor(len(people)) as pool:
            list(pool.map(live, people))
        tally = sum((one.tally for one in people), Counter[str]())
        assert tally["own"] > calls // 10 and tally["denied"] > 0 and tally["read"] > 0


def test_a_cursor_of_another_leads_nowhere() -> None:
    with team() as our:
        told = our.member("alice").call("list_tasks")
        cursor = told.partition('cursor="')[2].partition('"')[0]
        marker = our.standin.running.settings.markers["alice"]
        assert marker not in our.member("bob").fail("brimgate_read", cursor=cursor)


def test_rest_answers_are_of_the_caller_too() -> None:
    with team() as our:
        markers = our.standin.running.settings.markers
        for name, other in (("alice", "bob"), ("bob", "alice")):
            answer = our.serving.get("/api/v1/tasks", **bearer(our.tokens[name]))
            assert answer.status == 200 and markers[other].encode() not in answer.body
            assert answer.json["meta"]["totalCount"] == sum(
                1 for _ in getattr(our.standin, name).walk("/tasks")
            )
        assert our.serving.get("/api/v1/tasks").status == 401


def test_a_revoked_token_stops_at_once_when_vikunja_refuses_it() -> None:
    with team() as our:
        alice, bob = our.member("alice"), our.member("bob")
        told = alice.call("list_tasks")
        cursor = told.partition('cursor="')[2].partition('"')[0]
        our.standin.control("/revoke", token=our.tokens["alice"])
        assert "your token lacks the permission for this call, or it has expired" in alice.fail(
            "list_projects"
        )
        refused = alice.client.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert refused.status == 401
        call = {"name": "brimgate_read", "arguments": {"cursor": cursor}}
        assert (
            alice.client.post({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}).status
            == 401
        )
        assert "projects:" in bob.call("list_projects")


def test_a_revoked_token_that_is_not_used_upstream_stops_with_its_verdict() -> None:
    with team(env={"BRIMGATE_AUTH_CACHE_SECONDS": "1"}) as our:
        alice = our.member("alice")
        alice.call("list_tasks")
        our.standin.control("/revoke", token=our.tokens["alice"])
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert wait_until(lambda: alice.client.post(ping).status == 401, "the verdict to end")


def test_a_missing_permission_fails_that_call_only() -> None:
    with team() as our:
        granted = {"tasks": ["read_all", "read_one"], "projects": ["read_all"]}
        token = our.standin.control("/token", user="alice", permissions=granted)["token"]
        member = our.of_token(token)
        for _ in range(3):
            assert "tasks:" in member.call("list_tasks", limit=5)
            assert "lacks the permission" in member.fail("list_labels")
            assert "lacks the permission" in member.fail("update_task", task_id=2, priority=1)
        assert "projects:" in member.call("list_projects")


def test_limits_of_vikunja_itself_are_waited_for_or_told() -> None:
    """Its 429 has no Retry-After, only the time when there is room again."""
    with team(rate=20) as our:
        alice = our.member("alice")
        told = [alice.client.call("list_labels") for _ in range(25)]
        failed = [all_text_of(one) for one in told if one["result"].get("isError")]
        assert failed and all("refuses more requests just now (429): try again in" in one for one in failed)
        assert "labels:" in our.member("bob").call("list_labels")


STATIC = Keys("ann", "ben")


@pytest.mark.parametrize(
    ("auth", "upstream", "reason"),
    [
        (STATIC.auth(), {}, "needs a token of each caller"),
        (
            {"mode": "upstream_token", "verify_url": "http://127.0.0.1:9/api/v1/token/test"},
            {},
            "checks them at another origin",
        ),
        (
            {"mode": "upstream_token", "verify_url": "http://127.0.0.1:3456/api/v1/token/test"},
            {"upstream_credential": {"static": "tk_x"}},
            "mix users",
        ),
        ({"mode": "none"}, {"upstream_credential": {"per_principal": {"ann": "x"}}}, "needs `auth`"),
    ],
)
def test_what_would_mix_users_is_refused(
    tmp_path: Path, auth: dict[str, Any], upstream: dict[str, Any], reason: str
) -> None:
    one = {"pack": "vikunja", "base_url": "http://127.0.0.1:3456", **upstream}
    assert reason in refused_start(tmp_path, auth, one)
    path = write_config(tmp_path, auth, one)
    checked = check(str(path))
    assert checked.returncode == 2 and reason in checked.stderr


def test_keys_of_ours_and_a_token_for_each_user(tmp_path: Path) -> None:
    with team() as our:
        for kept, names in (
            ({"per_principal": {"ann": our.tokens["alice"], "ben": our.tokens["bob"]}}, ("alice", "bob")),
            ({"static": our.tokens["bob"]}, ("bob", "bob")),
        ):
            one = {"pack": "vikunja", "base_url": our.standin.running.url, "upstream_credential": kept}
            path = write_config(tmp_path, STATIC.auth(), one)
            with serve("--config", str(path), command=(), env=ROOM) as serving:
                for key, name in zip(("ann", "ben"), names, strict=True):
                    client = serving.client(**STATIC.of(key))
                    client.initialize()
                    assert f"{name}@example.com" in all_text_of(client.call("get_me"))


def test_a_caller_of_this_machine_brings_a_token_or_uses_ours(tmp_path: Path) -> None:
    with team() as our:
        one = {"pack": "vikunja", "base_url": our.standin.running.url}
        path = write_config(tmp_path, {"mode": "none"}, one)
        with serve("--config", str(path), command=(), env=ROOM) as serving:
            for name in ("alice", "bob"):
                asked = modern(
                    serving,
                    "tools/call",
                    {"name": "get_me", "arguments": {}},
                    authorization=f"Bearer {our.tokens[name]}",
                )
                assert name in asked.messages[-1]["result"]["content"][-1]["text"]
            refused = serving.client().post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
            assert refused.status == 403 and "needs a token of yours" in refused.json["error"]["message"]
        with serve(
            "--config", str(path), command=(), env=ROOM | {"VIKUNJA_TOKEN": our.tokens["bob"]}
        ) as serving:
            client = serving.client()
            client.initialize()
            assert "bob" in all_text_of(client.call("get_me"))


def test_callers_stay_apart_when_the_way_to_log_in_changes(tmp_path: Path) -> None:
    with team() as our:
        one = {"pack": "vikunja", "base_url": our.standin.running.url}
        strict = {"mode": "upstream_token", "verify_url": f"{our.standin.running.url}/api/v1/token/test"}
        path = write_config(tmp_path, strict, one)
        with serve("--config", str(path), command=(), env=ROOM) as serving:

            def whose(name: str) -> str:
                login = f"Bearer {our.tokens[name]}"
                asked = modern(
                    serving, "tools/call", {"name": "get_me", "arguments": {}}, authorization=login
                )
                return asked.messages[-1]["result"]["content"][-1]["text"]

            assert "alice@example.com" in whose("alice")
            write_config(tmp_path, {"mode": "none"}, one)
            serving.wait_for_line("config_reloaded")
            for name in ("alice", "bob", "alice"):
                assert f"{name}@example.com" in whose(name)
