"""What tests can do to the stand-in: faults, tokens, new tasks, delays, a lost database, and what was asked."""

import re
import subprocess
import sys
import threading
from http.client import RemoteDisconnected

import pytest

from brimgate.sandboxes.vikunja import sandbox
from brimgate.sandboxes.vikunja.app import LEAK
from tests.vikunja.asking import PATIENCE, Caller, Standin


@pytest.mark.parametrize(
    ("kind", "status", "content"),
    [
        ("html500", 500, b"<h1>500 Internal Server Error</h1>"),
        ("stack_trace", 500, LEAK.encode()),
        ("redirect", 302, b""),
        ("wrong_type", 200, b'"tasks":"none"'),
        ("rate_limited", 429, b"Too Many Requests"),
    ],
)
def test_a_fault_comes_as_often_as_it_is_planned(
    api: Standin, kind: str, status: int, content: bytes
) -> None:
    api.control("/fault", path="/api/v1/tasks", kind=kind, times=2)
    assert api.alice.ask("GET", "/labels").status == 200
    for _ in range(2):
        told = api.alice.ask("GET", "/tasks")
        assert told.status == status and content in told.body
    assert api.alice.ask("GET", "/tasks").status == 200


def test_a_dropped_request_gets_no_answer_and_has_no_status(api: Standin) -> None:
    api.control("/fault", path="/api/v1/tasks", kind="drop")
    with pytest.raises((RemoteDisconnected, ConnectionResetError)):
        api.alice.ask("GET", "/tasks")
    assert api.control("/requests")[-1]["status"] is None


def test_a_wrong_fault_is_refused(api: Standin) -> None:
    assert api.nobody.send("POST", "/control/fault", b'{"path": "/x", "kind": "no"}').status == 422


def test_the_journal_tells_who_asked_for_what(api: Standin) -> None:
    api.alice.ask("GET", "/tasks", page=2)
    api.nobody.ask("GET", "/tasks")
    api.with_token(permissions={}).ask("GET", "/labels")
    assert api.control("/requests") == [
        {"method": "GET", "path": "/api/v1/tasks", "query": "page=2", "user": "alice", "status": 200},
        {"method": "GET", "path": "/api/v1/tasks", "query": "", "user": None, "status": 401},
        {"method": "GET", "path": "/api/v1/labels", "query": "", "user": "alice", "status": 401},
    ]


def test_a_reset_undoes_writes_and_keeps_tokens(api: Standin) -> None:
    before = api.alice.get("/projects/1/tasks")[0]
    api.alice.delete(f"/tasks/{before['id']}")
    caller = api.with_token()
    api.control("/reset")
    assert caller.get("/projects/1/tasks")[0] == before


def test_tasks_can_be_added_underneath(api: Standin) -> None:
    total = len(api.alice.get("/projects/1/tasks", page=0))
    ids = api.control("/add_tasks", user="alice", project_id=1, count=30)["ids"]
    after = api.alice.get("/projects/1/tasks", page=0)
    assert len(after) == total + 30 and [one["id"] for one in after[-30:]] == ids
    assert all("Heliotrope" in one["title"] for one in after[-30:])


def test_without_its_database_nothing_works(api: Standin) -> None:
    api.control("/database", is_gone=True)
    assert api.nobody.send("GET", "/health").status == 500
    told = api.alice.ask("GET", "/tasks")
    assert (told.status, told.json) == (500, {"message": "Internal Server Error"})
    api.control("/database", is_gone=False)
    assert api.nobody.send("GET", "/health").body == b"OK"


def test_all_tokens_of_a_user_are_revoked(api: Standin) -> None:
    with sandbox(tasks=20, control=True) as running:
        other = Standin(running)
        extra = other.with_token()
        other.control("/revoke", user="alice")
        assert {one.ask("GET", "/tasks").status for one in (other.alice, extra)} == {401}
        assert other.bob.ask("GET", "/tasks").status == 200


def test_a_rate_limit_tells_what_is_left_but_not_when_to_come_back() -> None:
    with sandbox(tasks=20, rate=3) as running:
        api = Standin(running)
        answers = [api.alice.ask("GET", "/labels") for _ in range(4)]
        assert [one.status for one in answers] == [200, 200, 200, 429]
        assert [one.headers["x-ratelimit-remaining"] for one in answers] == ["2", "1", "0", "0"]
        assert answers[3].json == {"message": "Too Many Requests"} and "retry-after" not in answers[3].headers
        assert answers[0].headers["x-ratelimit-limit"] == "3" and int(answers[0].headers["x-ratelimit-reset"])
        assert api.bob.ask("GET", "/labels").status == 200
        assert api.nobody.ask("GET", "/labels").status == 401


def test_logins_are_limited_always() -> None:
    with sandbox(tasks=20) as running:
        nobody = Caller(running.url)
        told = [nobody.ask("POST", "/login", {"username": "a", "password": "b"}).status for _ in range(11)]
        assert told == [403] * 10 + [429]
        assert (
            "x-ratelimit-limit" not in Caller(running.url, running.tokens["bob"]).ask("GET", "/tasks").headers
        )


def test_there_is_no_control_unless_it_is_enabled() -> None:
    with sandbox(tasks=20) as running:
        told = Caller(running.url).send("GET", "/control/requests")
        assert told.headers["content-type"].startswith("text/html")


def test_the_command_prints_its_address_and_tokens() -> None:
    command = [
        sys.executable,
        "-m",
        "brimgate.sandboxes.vikunja",
        "--tasks",
        "30",
        "--seed",
        "9",
        "--control",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as started:
        watchdog = threading.Timer(PATIENCE, started.kill)
        watchdog.start()
        try:
            assert started.stderr
            lines = [started.stderr.readline().decode() for _ in range(3)]
            url = re.fullmatch(r"listening on (http://127\.0\.0\.1:\d+)\n", lines[0])
            token = re.fullmatch(r"token of alice: (tk_[0-9a-f]{40})\n", lines[1])
            assert url and token and lines[2].startswith("token of bob: tk_")
            assert Caller(url[1], token[1]).get("/user")["username"] == "alice"
        finally:
            watchdog.cancel()
            started.kill()


def test_a_reset_restores_the_tokens_of_the_settings(api: Standin) -> None:
    api.control("/revoke", token=api.alice.token)
    assert api.alice.ask("GET", "/tasks").status == 401
    api.control("/reset")
    assert api.alice.ask("GET", "/tasks").status == 200
