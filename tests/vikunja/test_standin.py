"""What the stand-in promises of access: tokens, permissions, lists and their pages, who sees what."""

import base64
import json
import time

import pytest

from brimgate.sandboxes.vikunja import Settings, sandbox
from tests.vikunja.asking import ZERO, Caller, Json, Standin

UNAUTHORIZED = {"code": 11, "message": "missing, malformed, expired or otherwise invalid token provided"}
UNSEEN = {"code": 0, "message": "You don't have the permission to see this"}


def test_health_and_info_need_no_login(api: Standin) -> None:
    health = api.nobody.send("GET", "/health")
    assert (health.status, health.body) == (200, b"OK") and health.headers["content-type"].startswith(
        "text/plain"
    )
    info = api.nobody.get("/info")
    assert (info["max_items_per_page"], info["max_file_size"]) == (50, "20MB")
    assert info["auth"]["local"]["enabled"]


def test_tokens_are_known_before_the_start_and_depend_on_the_seed() -> None:
    tokens = Settings(seed=5).tokens
    assert set(tokens) == {"alice", "bob"} and tokens == Settings(seed=5, tasks=1).tokens
    assert tokens != Settings(seed=6).tokens
    assert all(len(token) == 43 and token.startswith("tk_") for token in tokens.values())


def test_any_valid_token_passes_the_test_of_tokens(api: Standin) -> None:
    bare = api.with_token(permissions={"labels": ["read_all"]})
    for caller in (api.alice, bare):
        told = caller.ask("GET", "/token/test")
        assert (told.status, told.json) == (200, {"message": "ok"})
        assert caller.ask("POST", "/token/test").status == 418
    assert api.nobody.ask("GET", "/token/test").json == UNAUTHORIZED


@pytest.mark.parametrize("token", ["", "tk_" + "0" * 40, "nonsense", "a.b.c"])
def test_a_wrong_token_is_refused(api: Standin, token: str) -> None:
    told = Caller(api.running.url, token).ask("GET", "/projects")
    assert (told.status, told.json) == (401, UNAUTHORIZED)


def test_a_token_without_the_permission_looks_like_no_token(api: Standin) -> None:
    caller = api.with_token(permissions={"tasks": ["read_all"], "projects": ["read_one"]})
    project = api.project(api.alice, "Website relaunch")["id"]
    assert caller.ask("GET", "/tasks").status == 200
    assert caller.ask("GET", f"/projects/{project}/tasks").status == 200
    assert caller.ask("GET", f"/projects/{project}").status == 200
    for method, path in (
        ("GET", "/projects"),
        ("GET", "/user"),
        ("GET", "/labels"),
        ("PUT", f"/projects/{project}/tasks"),
        ("GET", f"/projects/{project}/views"),
        ("GET", f"/projects/{project}/tasks/by-index/1"),
    ):
        told = caller.ask(method, path)
        assert (told.status, told.json) == (401, UNAUTHORIZED), path
    assert api.alice.get("/user")["username"] == "alice"


def test_an_expired_or_revoked_token_is_refused(api: Standin) -> None:
    assert api.with_token(expires_in=-1).ask("GET", "/projects").status == 401
    caller = api.with_token()
    assert caller.ask("GET", "/projects").status == 200
    api.control("/revoke", token=caller.token)
    assert caller.ask("GET", "/projects").json == UNAUTHORIZED


def test_what_no_api_token_opens(api: Standin) -> None:
    for method, path in (("GET", "/tokens"), ("PUT", "/tokens"), ("PUT", "/subscriptions/project/1")):
        assert api.alice.ask(method, path, {}).status == 401, path
    groups = api.alice.get("/routes")
    assert "tokens" not in groups and "subscriptions" not in groups
    assert groups["tasks"]["create"] == {"path": "/api/v1/projects/:project/tasks", "method": "PUT"}
    assert {"user", "users"} <= set(groups["other"])
    assert groups["tasks"]["update_bulk"]["path"] == "/api/v1/tasks/bulk"


def test_all_notifications_take_the_permission_that_one_would_need(api: Standin) -> None:
    """In the real server two routes have one permission, and the last gets it: no token can mark one as read."""
    assert api.alice.ask("POST", "/notifications/1", {"read": True}).status == 401
    assert api.alice.ask("POST", "/notifications").status == 200


def test_a_login_gives_a_jwt_for_ten_minutes(api: Standin) -> None:
    caller = api.login()
    head, claims, _ = (json.loads(base64.urlsafe_b64decode(part + "===") or b"{}") if n < 2 else {}
                       for n, part in enumerate(caller.token.split(".")))  # fmt: skip
    assert head["alg"] == "HS256"
    assert {"type", "id", "username", "is_admin", "exp", "sid", "jti"} == set(claims)
    assert claims["type"] == 1 and abs(claims["exp"] - time.time() - 600) < 60
    assert caller.get("/user")["username"] == "alice"
    changed = caller.token[:-6] + ("AAAAAA" if not caller.token.endswith("AAAAAA") else "BBBBBB")
    assert Caller(api.running.url, changed).ask("GET", "/user").status == 401


def test_wrong_logins(api: Standin) -> None:
    wrong = api.nobody.ask("POST", "/login", {"username": "alice", "password": "no"})
    assert wrong.problem == (403, 1011)
    assert api.nobody.send("POST", "/api/v1/login", b"{").status == 400


def test_a_login_makes_tokens_lists_and_deletes_them(api: Standin) -> None:
    caller = api.login()
    told = {"title": "mine", "permissions": {"tasks": ["read_all"]}, "expires_at": "2099-01-01T00:00:00Z"}
    made = caller.ask("PUT", "/tokens", told)
    assert made.status == 201 and made.json["token"].startswith("tk_")
    assert caller.ask("PUT", "/tokens", {"title": "x"}).problem == (412, 2002)
    assert caller.ask("PUT", "/tokens", told | {"permissions": {"tasks": ["fly"]}}).problem == (400, 14002)
    listed = [one for one in caller.walk("/tokens") if one["id"] == made.json["id"]]
    assert listed and "token" not in listed[0]
    token = Caller(api.running.url, made.json["token"])
    assert token.ask("GET", "/tasks").status == 200 and token.ask("GET", "/labels").status == 401
    caller.delete(f"/tokens/{made.json['id']}")
    assert token.ask("GET", "/tasks").status == 401
    past = caller.put("/tokens", **(told | {"expires_at": "2020-01-01T00:00:00Z"}))["token"]
    assert Caller(api.running.url, past).ask("GET", "/tasks").status == 401


def test_a_list_tells_its_pages_and_never_how_much_there_is(api: Standin) -> None:
    told = api.alice.ask("GET", "/tasks", page=2, per_page=20)
    assert isinstance(told.json, list) and len(told.json) == 20
    assert told.headers["x-pagination-result-count"] == "20"
    everything = api.alice.ask("GET", "/tasks", page=0)
    total = len(everything.json)
    assert total > 100
    assert int(told.headers["x-pagination-total-pages"]) == -(-total // 20)
    assert str(total) not in [value for name, value in told.headers.items() if name != "content-length"]
    assert [one["id"] for one in api.alice.walk("/tasks", per_page=20)] == [
        one["id"] for one in everything.json
    ]


def test_a_page_has_at_most_fifty_items(api: Standin) -> None:
    for query in ({}, {"per_page": 500}, {"per_page": 0}, {"per_page": 50}):
        assert len(api.alice.get("/tasks", **query)) == 50


def test_a_page_past_the_end_is_empty_and_tells_no_pages(api: Standin) -> None:
    told = api.alice.ask("GET", "/tasks", page=1_000)
    assert told.json == []
    assert told.headers["x-pagination-total-pages"] == told.headers["x-pagination-result-count"] == "0"


@pytest.mark.parametrize("query", [{"page": -1}, {"page": "x"}, {"per_page": -1}, {"per_page": "x"}])
def test_a_bad_page_is_refused(api: Standin, query: Json) -> None:
    told = api.alice.ask("GET", "/tasks", **query)
    assert told.status == 400 and set(told.json) == {"message"}


def test_the_json_is_that_of_go(api: Standin) -> None:
    """It escapes what HTML is made of, writes whole floats without a fraction, and ends in a newline."""
    told = api.alice.ask("GET", "/tasks")
    assert b"<p>" not in told.body and rb"\u003cp\u003e" in told.body
    assert told.body.endswith(b"]\n") and b'"position":0,' in told.body and b'"percent_done":0,' in told.body
    assert any("<p>" in one["description"] for one in told.json)


def test_a_task_has_the_fields_of_the_real_one_in_their_order(api: Standin) -> None:
    task = api.alice.get("/tasks")[0]
    assert list(task) == [
        "id", "title", "description", "done", "done_at", "due_date", "reminders", "project_id", "repeat_after",
        "repeat_mode", "priority", "start_date", "end_date", "assignees", "labels", "hex_color", "percent_done",
        "identifier", "index", "related_tasks", "attachments", "cover_image_attachment_id", "is_favorite", "created",
        "updated", "bucket_id", "position", "reactions", "created_by",
    ]  # fmt: skip
    assert list(task["created_by"]) == ["id", "name", "username", "created", "updated"]
    tasks = api.alice.get("/tasks", page=0)
    assert any(one["labels"] is None for one in tasks) and any(one["due_date"] == ZERO for one in tasks)
    assert all(isinstance(one["related_tasks"], dict) for one in tasks)


def test_unknown_routes_and_wrong_methods(api: Standin) -> None:
    assert (told := api.alice.ask("GET", "/nothing")).status == 404 and told.json == {"message": "Not Found"}
    wrong = api.alice.ask("PATCH", "/tasks/1")
    assert (wrong.status, wrong.json) == (405, {"message": "Method Not Allowed"})
    assert api.alice.send("GET", "/tasks").headers["content-type"].startswith("text/html"), (
        "the user interface"
    )


def test_the_private_things_of_one_are_nowhere_among_those_of_the_other(api: Standin) -> None:
    markers = api.running.settings.markers
    for caller, own, foreign in ((api.alice, "alice", "bob"), (api.bob, "bob", "alice")):
        lists = ("/projects?page=0&is_archived=true", "/labels?page=0", "/notifications?page=0", "/teams")
        texts = [caller.ask("GET", "/tasks", page=0, **{"expand[]": "comments"}).body]
        texts += [caller.ask("GET", path).body for path in lists]
        together = b"".join(texts).decode()
        assert markers[own] in together and markers[foreign] not in together
    private = api.project(api.alice, "Heliotrope inbox")["id"]
    tasks = api.alice.get(f"/projects/{private}/tasks", page=0)
    assert len(tasks) > 12 and all(markers["alice"] in one["title"] for one in tasks)
    assert {"#12"} <= {one["identifier"] for one in tasks}


def test_what_is_foreign_exists_and_what_does_not_exist_does_not(api: Standin) -> None:
    project = api.project(api.alice, "Heliotrope inbox")["id"]
    task = api.alice.get(f"/projects/{project}/tasks")[0]["id"]
    for path in (f"/projects/{project}", f"/tasks/{task}"):
        told = api.bob.ask("GET", path)
        assert (told.status, told.json) == (403, UNSEEN)
    assert api.bob.ask("GET", f"/projects/{project}/tasks").problem == (403, 7003)
    assert api.bob.ask("GET", f"/tasks/{task}/comments").problem == (403, 1)
    assert api.bob.ask("GET", "/projects/99999").problem == (404, 3001)
    assert api.bob.ask("GET", "/tasks/99999").problem == (404, 4002)
    for told in (
        api.bob.ask("POST", f"/tasks/{task}", {"title": "x"}),
        api.bob.ask("DELETE", f"/tasks/{task}"),
        api.bob.ask("PUT", f"/projects/{project}/tasks", {"title": "x"}),
        api.bob.ask("DELETE", f"/projects/{project}"),
        api.bob.ask("PUT", f"/tasks/{task}/comments", {"comment": "x"}),
    ):
        assert (told.status, told.json) == (403, {"code": 0, "message": "Forbidden"})
    assert api.bob.ask("POST", "/tasks/99999", {"title": "x"}).problem == (404, 4002)
    assert api.alice.get(f"/tasks/{task}")["title"] != "x"


@pytest.mark.parametrize(
    ("title", "of_alice", "of_bob"),
    [
        ("Website relaunch", 0, 1),
        ("Team offsite", 2, 2),
        ("Conference", 1, 2),
        ("Platform", 1, 1),
        ("On-call", 1, 1),
        ("Marketing", 2, None),
        ("Help desk", None, 0),
    ],
)
def test_permissions_come_from_owners_shares_teams_and_parents(
    api: Standin, title: str, of_alice: int | None, of_bob: int | None
) -> None:
    for caller, expected in ((api.alice, of_alice), (api.bob, of_bob)):
        found = [one for one in caller.walk("/projects", expand="permissions") if one["title"] == title]
        assert [one["max_permission"] for one in found] == ([] if expected is None else [expected])
        if expected is None:
            continue
        project = found[0]["id"]
        assert caller.ask("GET", f"/projects/{project}").headers["x-max-permission"] == str(expected)
        task = caller.ask("PUT", f"/projects/{project}/tasks", {"title": "new"})
        assert task.status == (201 if expected else 403)
        shared = caller.ask("PUT", f"/projects/{project}/users", {"username": "frank", "permission": 0})
        assert shared.status in ((201, 409) if expected == 2 else (403,))


def test_a_share_can_be_given_changed_and_taken(api: Standin) -> None:
    project = api.project(api.alice, "Heliotrope household")["id"]
    child = api.project(api.alice, "Heliotrope garden")["id"]
    api.alice.put(f"/projects/{project}/users", username="bob", permission=0)
    again = api.alice.ask("PUT", f"/projects/{project}/users", {"username": "bob"})
    assert again.problem == (409, 7002)
    assert api.bob.ask("GET", f"/projects/{child}").headers["x-max-permission"] == "0"
    api.alice.post(f"/projects/{project}/users/bob", permission=1)
    assert api.bob.ask("PUT", f"/projects/{child}/tasks", {"title": "mine"}).status == 201
    assert [one["username"] for one in api.alice.get(f"/projects/{project}/users")] == ["bob"]
    assert {one["username"] for one in api.alice.get(f"/projects/{child}/projectusers")} == {"alice", "bob"}
    api.alice.delete(f"/projects/{project}/users/bob")
    assert api.bob.ask("GET", f"/projects/{child}").status == 403
    assert api.alice.ask("DELETE", f"/projects/{project}/users/bob").problem == (403, 7003)
    assert api.alice.ask("PUT", f"/projects/{project}/users", {"username": "nobody"}).problem == (404, 1005)


def test_users_are_found_by_their_whole_name_and_without_an_address(api: Standin) -> None:
    assert [one["username"] for one in api.alice.get("/users", s="bob")] == ["bob"]
    assert api.alice.get("/users", s="bo") is None and api.alice.get("/users") is None
    assert [one["username"] for one in api.alice.get("/users", s="Erin")] == ["erin"]
    assert [one["username"] for one in api.alice.get("/users", s="dave@example.com")] == ["dave"]
    assert api.alice.get("/users", s="bob@example.com") is None
    assert "email" not in api.alice.get("/users", s="bob")[0]
    told = api.alice.ask("GET", "/users", s="bob")
    assert "x-pagination-total-pages" not in told.headers


def test_two_runs_with_one_seed_are_the_same() -> None:
    with (
        sandbox(tasks=60, seed=3) as one,
        sandbox(tasks=60, seed=3) as two,
        sandbox(tasks=60, seed=4) as other,
    ):
        lists = [
            Caller(each.url, each.tokens["alice"]).ask("GET", "/tasks").body for each in (one, two, other)
        ]
    assert lists[0] == lists[1] != lists[2]
