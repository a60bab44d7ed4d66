"""What the stand-in promises of tasks and what hangs on them."""

import uuid

import pytest

from tests.vikunja.asking import ZERO, Caller, Json, Standin


@pytest.fixture
def project(api: Standin) -> int:
    return api.alice.put("/projects", title="Fresh", identifier="fresh")["id"]


@pytest.fixture
def task(api: Standin, project: int) -> Json:
    return api.alice.put(f"/projects/{project}/tasks", title="One")


def full(project: int) -> Json:
    return {
        "title": "Whole",
        "description": "<p>text</p>",
        "due_date": "2027-01-02T03:04:05+02:00",
        "priority": 4,
        "percent_done": 0.5,
        "hex_color": "#ff0000",
        "assignees": [{"id": 1}],
        "reminders": [{"relative_to": "due_date", "relative_period": -3600}],
        "is_favorite": True,
    }


def test_a_new_task_gets_the_next_number(api: Standin, project: int) -> None:
    one = api.alice.put(f"/projects/{project}/tasks", **full(project))
    two = api.alice.put(f"/projects/{project}/tasks", title="Two")
    assert (one["index"], one["identifier"], two["identifier"]) == (1, "FRESH-1", "FRESH-2")
    assert one["due_date"] == "2027-01-02T01:04:05Z" and one["hex_color"] == "ff0000"
    assert one["reminders"][0]["reminder"] == "2027-01-02T00:04:05Z"
    assert (two["due_date"], two["labels"], two["related_tasks"]) == (ZERO, None, None)
    api.alice.delete(f"/tasks/{two['id']}")
    assert api.alice.put(f"/projects/{project}/tasks", title="Three")["index"] == 3


def test_a_task_is_read_by_number_and_identifier(api: Standin, project: int, task: Json) -> None:
    for named in (project, "FRESH", "fresh"):
        assert api.alice.get(f"/projects/{named}/tasks/by-index/1")["id"] == task["id"]
    assert api.alice.ask("GET", f"/projects/{project}/tasks/by-index/2").problem == (404, 4002)
    assert api.alice.ask("GET", "/projects/NONE/tasks/by-index/1").status == 404
    assert api.bob.ask("GET", "/projects/FRESH/tasks/by-index/1").status == 403
    assert api.alice.ask("GET", f"/tasks/{task['id']}").headers["x-max-permission"] == "2"


def test_an_update_blanks_what_is_not_sent(api: Standin, project: int) -> None:
    made = api.alice.put(f"/projects/{project}/tasks", **full(project))
    before = api.alice.get(f"/tasks/{made['id']}")
    assert before["assignees"] and before["is_favorite"]
    api.alice.post(f"/tasks/{made['id']}", priority=1)
    after = api.alice.get(f"/tasks/{made['id']}")
    assert (after["title"], after["project_id"], after["priority"]) == ("Whole", project, 1)
    empty = {name: after[name] for name in ("description", "due_date", "percent_done", "hex_color")}
    assert empty == {"description": "", "due_date": ZERO, "percent_done": 0, "hex_color": ""}
    assert (after["assignees"], after["reminders"], after["is_favorite"]) == (None, None, False)


def test_an_object_that_is_read_and_sent_back_stays_as_it_is(api: Standin, project: int) -> None:
    made = api.alice.put(f"/projects/{project}/tasks", **full(project))
    before = api.alice.get(f"/tasks/{made['id']}")
    api.alice.post(f"/tasks/{made['id']}", **before)
    after = api.alice.get(f"/tasks/{made['id']}")
    assert after | {"updated": ""} == before | {"updated": ""}


def test_the_answer_to_an_update_is_not_the_whole_task(api: Standin, task: Json) -> None:
    label = api.alice.put("/labels", title="a label")["id"]
    api.alice.put(f"/tasks/{task['id']}/labels", label_id=label)
    told = api.alice.post(f"/tasks/{task['id']}", title="Changed")
    assert (told["title"], told["labels"], told["created_by"], told["identifier"]) == (
        "Changed",
        None,
        None,
        "",
    )
    assert [one["id"] for one in api.alice.get(f"/tasks/{task['id']}")["labels"]] == [label]


def test_a_bulk_update_writes_the_named_columns(api: Standin, project: int) -> None:
    ids = [api.alice.put(f"/projects/{project}/tasks", **full(project))["id"] for _ in range(2)]
    told = api.alice.post(
        "/tasks/bulk", task_ids=ids, fields=["priority"], values={"priority": 2, "title": "no"}
    )
    assert list(told) == ["task_ids", "fields", "values", "tasks"]
    assert [one["priority"] for one in told["tasks"]] == [2, 2]
    for one in ids:
        after = api.alice.get(f"/tasks/{one}")
        assert (after["title"], after["priority"], after["percent_done"]) == ("Whole", 2, 0.5)
        assert after["description"] == "<p>text</p>"


def test_a_bulk_update_drops_assignees_reminders_and_favourites_as_the_real_one_does(
    api: Standin, project: int
) -> None:
    made = api.alice.put(f"/projects/{project}/tasks", **full(project))["id"]
    api.alice.post("/tasks/bulk", task_ids=[made], fields=["done"], values={"done": True})
    after = api.alice.get(f"/tasks/{made}")
    assert after["done"] and (after["assignees"], after["reminders"], after["is_favorite"]) == (
        None,
        None,
        False,
    )


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"fields": ["nope"], "values": {}}, (400, 4027)),
        ({"fields": ["done_at"], "values": {}}, (400, 4027)),
        ({"task_ids": [], "fields": ["done"], "values": {}}, (400, 4004)),
        ({"task_ids": [99999], "fields": ["done"], "values": {}}, (400, 4004)),
        ({"fields": ["done"], "values": {"done": "yes"}}, (400, 2004)),
    ],
)
def test_wrong_bulk_updates(api: Standin, task: Json, told: Json, problem: tuple[int, int]) -> None:
    assert api.alice.ask("POST", "/tasks/bulk", {"task_ids": [task["id"]]} | told).problem == problem


def test_a_bulk_update_changes_nothing_if_one_task_is_foreign(api: Standin, task: Json) -> None:
    foreign = api.bob.get(f"/projects/{api.project(api.bob, 'Quillwort inbox')['id']}/tasks")[0]["id"]
    told = {"task_ids": [task["id"], foreign], "fields": ["title"], "values": {"title": "x"}}
    assert api.alice.ask("POST", "/tasks/bulk", told).problem == (403, 0)
    assert api.alice.get(f"/tasks/{task['id']}")["title"] == "One"


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        ({"title": ""}, (400, 4001)),
        ({"title": "x", "hex_color": "#ff00ff00"}, (412, 2002)),
        ({"title": 3}, (400, 2004)),
        ({"title": "x", "due_date": "tomorrow"}, (400, 2004)),
        ({"title": "x", "due_date": "2027-01-01"}, (400, 2004)),
        ({"title": "x", "repeat_after": 10**9}, (400, 4029)),
        ({"title": "x", "reminders": [{"relative_period": 5}]}, (400, 4022)),
        ({"title": "x", "assignees": [{"id": 2}]}, (403, 7003)),
    ],
)
def test_wrong_tasks(api: Standin, project: int, told: Json, problem: tuple[int, int]) -> None:
    assert api.alice.ask("PUT", f"/projects/{project}/tasks", told).problem == problem


def test_a_malformed_body_is_refused(api: Standin, project: int) -> None:
    path = f"/api/v1/projects/{project}/tasks"
    assert api.alice.send("PUT", path, b"{").problem == (400, 2004)
    assert api.alice.send("PUT", path, b"[]").problem == (400, 2004)
    assert api.alice.send("PUT", path, b'{"title":"x"}', "text/plain").problem == (400, 2004)
    assert api.alice.ask("GET", "/tasks/abc").problem == (400, 2004)
    told = api.alice.ask("PUT", "/projects", {"title": ""})
    assert told.status == 412
    assert told.json == {
        "code": 2002, "message": "Invalid Data", "invalid_fields": ["title: non zero value required"],
    }  # fmt: skip


def test_marking_done_notes_the_time_and_moves_the_card(api: Standin, project: int, task: Json) -> None:
    kanban = next(one for one in api.alice.get(f"/projects/{project}/views") if one["view_kind"] == "kanban")
    api.alice.post(f"/tasks/{task['id']}", title="One", done=True)
    assert api.alice.get(f"/tasks/{task['id']}")["done_at"] != ZERO
    buckets = api.alice.get(f"/projects/{project}/views/{kanban['id']}/tasks")
    assert [(one["title"], one["count"]) for one in buckets] == [("To-Do", 0), ("Doing", 0), ("Done", 1)]
    assert "tasks" not in buckets[0] and buckets[2]["tasks"][0]["bucket_id"] == kanban["done_bucket_id"]
    api.alice.post(f"/tasks/{task['id']}", title="One", done=False)
    assert api.alice.get(f"/tasks/{task['id']}")["done_at"] == ZERO


@pytest.mark.parametrize(
    ("rule", "due"),
    [
        ({"repeat_after": 86_400}, "2026-11-16T08:00:00Z"),
        ({"repeat_mode": 1}, "2026-12-01T08:00:00Z"),
        ({"repeat_after": 86_400, "repeat_mode": 2}, "2026-11-16T10:"),
    ],
)
def test_a_task_that_repeats_stays_open_and_moves(api: Standin, project: int, rule: Json, due: str) -> None:
    checked = '<ul data-type="taskList"><li data-checked="true">x</li></ul>'
    told: Json = {"title": "Again", "due_date": "2026-11-01T08:00:00Z", "description": checked} | rule
    made = api.alice.put(f"/projects/{project}/tasks", **told)
    api.alice.post(f"/tasks/{made['id']}", **told, done=True)
    after = api.alice.get(f"/tasks/{made['id']}")
    assert not after["done"] and after["due_date"].startswith(due) and after["done_at"] != ZERO
    assert 'data-checked="false"' in after["description"]


def test_a_task_moves_between_projects(api: Standin, task: Json) -> None:
    target = api.project(api.alice, "Conference")["id"]
    api.alice.post(f"/tasks/{task['id']}", title="One", project_id=target)
    after = api.alice.get(f"/tasks/{task['id']}")
    assert after["project_id"] == target and after["identifier"].startswith("CONF-")
    readable = api.project(api.alice, "Website relaunch")["id"]
    assert api.alice.ask("POST", f"/tasks/{task['id']}", {"project_id": readable}).problem == (403, 1)


def test_assignees(api: Standin) -> None:
    task = api.task(api.alice, "Team offsite")["id"]
    api.alice.ask("POST", f"/tasks/{task}/assignees/bulk", {"assignees": []})
    assert api.alice.put(f"/tasks/{task}/assignees", user_id=2)["user_id"] == 2
    assert api.alice.ask("PUT", f"/tasks/{task}/assignees", {"user_id": 2}).problem == (400, 4021)
    assert api.alice.ask("PUT", f"/tasks/{task}/assignees", {"user_id": 6}).problem == (403, 7003)
    assert api.alice.ask("PUT", f"/tasks/{task}/assignees", {"user_id": 99}).problem == (404, 1005)
    assert [one["username"] for one in api.alice.get(f"/tasks/{task}/assignees")] == ["bob"]
    told = api.alice.ask("POST", f"/tasks/{task}/assignees/bulk", {"assignees": [{"id": 1}, {"id": 3}]})
    assert told.status == 201
    assert {one["username"] for one in api.alice.get(f"/tasks/{task}")["assignees"]} == {"alice", "carol"}
    api.alice.delete(f"/tasks/{task}/assignees/3")
    assert [one["id"] for one in api.alice.get(f"/tasks/{task}/assignees")] == [1]


def test_labels_are_seen_by_their_maker_and_on_tasks(api: Standin) -> None:
    label = api.alice.put("/labels", title="Mine", hex_color="#123456")
    assert label["hex_color"] == "123456"
    assert api.bob.ask("GET", f"/labels/{label['id']}").problem == (403, 0)
    assert label["id"] not in [one["id"] for one in api.bob.get("/labels")]
    shared = api.task(api.alice, "Team offsite")["id"]
    api.alice.put(f"/tasks/{shared}/labels", label_id=label["id"])
    assert api.bob.ask("GET", f"/labels/{label['id']}").headers["x-max-permission"] == "0"
    assert label["id"] in [one["id"] for one in api.bob.get("/labels")]
    assert api.bob.ask("POST", f"/labels/{label['id']}", {"title": "x"}).problem == (403, 0)
    assert api.bob.ask("DELETE", f"/labels/{label['id']}").status == 403
    assert api.alice.ask("PUT", f"/tasks/{shared}/labels", {"label_id": label["id"]}).problem == (400, 8001)
    assert api.alice.ask("PUT", f"/tasks/{shared}/labels", {"label_id": 999}).problem == (404, 8002)
    api.alice.delete(f"/labels/{label['id']}")
    assert api.alice.ask("POST", f"/labels/{label['id']}", {"title": "x"}).problem == (404, 8002)
    assert label["id"] not in [one["id"] for one in api.alice.get(f"/tasks/{shared}")["labels"] or []]


def test_labels_of_a_task_are_replaced_at_once(api: Standin, task: Json) -> None:
    one, two = (api.alice.put("/labels", title=title)["id"] for title in ("one", "two"))
    foreign = api.bob.put("/labels", title="his")["id"]
    path = f"/tasks/{task['id']}/labels"
    assert api.alice.ask("POST", f"{path}/bulk", {"labels": [{"id": one}, {"id": two}]}).status == 201
    assert [label["id"] for label in api.alice.get(path)] == [one, two]
    assert api.alice.ask("POST", f"{path}/bulk", {"labels": [{"id": foreign}]}).problem == (403, 8003)
    assert api.alice.ask("PUT", path, {"label_id": foreign}).problem == (403, 0)
    api.alice.delete(f"{path}/{one}")
    assert api.alice.ask("DELETE", f"{path}/{one}").status == 403
    assert [label["id"] for label in api.alice.get(path)] == [two]


def test_a_relation_has_an_inverse_and_no_cycles(api: Standin, project: int, task: Json) -> None:
    two, three = (api.alice.put(f"/projects/{project}/tasks", title=title)["id"] for title in "23")
    path = "/tasks/{}/relations".format
    told = api.alice.put(path(task["id"]), other_task_id=two, relation_kind="subtask")
    assert list(told) == ["task_id", "other_task_id", "relation_kind", "created_by", "created"]
    api.alice.put(path(two), other_task_id=three, relation_kind="subtask")
    related = api.alice.get(f"/tasks/{two}")["related_tasks"]
    assert [one["id"] for one in related["parenttask"]] == [task["id"]]
    assert related["parenttask"][0]["created_by"] is None
    for other, kind, problem in (
        (task["id"], "subtask", (409, 4023)),
        (three, "subtask", (400, 4010)),
        (two, "parenttask", (409, 4008)),
        (two, "friend", (400, 4007)),
        (99999, "related", (404, 4002)),
    ):
        told = api.alice.ask("PUT", path(three), {"other_task_id": other, "relation_kind": kind})
        assert told.problem == problem, kind
    api.alice.delete(f"{path(task['id'])}/subtask/{two}")
    assert "parenttask" not in api.alice.get(f"/tasks/{two}")["related_tasks"]
    assert api.alice.ask("DELETE", f"{path(task['id'])}/subtask/{two}").problem == (404, 4009)


def test_comments(api: Standin) -> None:
    web = api.project(api.alice, "Website relaunch")["id"]
    busy = next(one["id"] for one in api.alice.get(f"/projects/{web}/tasks", page=0) if one["index"] == 3)
    oldest, newest = (
        list(api.alice.walk(f"/tasks/{busy}/comments", order_by=order)) for order in ("asc", "desc")
    )
    assert len(oldest) == 200 and [one["id"] for one in oldest] == [one["id"] for one in newest[::-1]]
    assert list(oldest[0]) == ["id", "comment", "author", "reactions", "created", "updated"]
    assert api.alice.ask("PUT", f"/tasks/{busy}/comments", {"comment": "x"}).status == 403, (
        "she may only read"
    )
    made = api.bob.put(f"/tasks/{busy}/comments", comment="<p>mine</p>")
    assert made["author"]["username"] == "bob"
    assert api.bob.ask("PUT", f"/tasks/{busy}/comments", {"comment": ""}).problem == (412, 2002)
    api.bob.post(f"/tasks/{busy}/comments/{made['id']}", comment="changed")
    assert api.bob.get(f"/tasks/{busy}/comments/{made['id']}")["comment"] == "changed"
    foreign = next(one["id"] for one in oldest if one["author"]["username"] != "bob")
    assert api.bob.ask("POST", f"/tasks/{busy}/comments/{foreign}", {"comment": "x"}).problem == (403, 0)
    api.bob.delete(f"/tasks/{busy}/comments/{made['id']}")
    assert api.bob.ask("GET", f"/tasks/{busy}/comments/{made['id']}").problem == (404, 4015)


def upload(caller: Caller, task: int, *files: tuple[str, bytes]) -> Json:
    mark = uuid.uuid4().hex
    body = b""
    for name, content in files:
        head = f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    kind = f"multipart/form-data; boundary={mark}"
    told = caller.send("PUT", f"/api/v1/tasks/{task}/attachments", body + f"--{mark}--\r\n".encode(), kind)
    assert told.status == 200, told.body
    return told.json


def test_attachments_come_back_as_they_were(api: Standin, task: Json) -> None:
    image = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8
    told = upload(api.alice, task["id"], ("a photo.png", image), ("notes.txt", b"hello"))
    assert told["errors"] is None and len(told["success"]) == 2
    first = told["success"][0]
    assert first["file"] | {"id": 0, "created": ""} == {
        "id": 0, "name": "a photo.png", "mime": "image/png", "size": len(image), "created": "",
    }  # fmt: skip
    path = f"/tasks/{task['id']}/attachments"
    got = api.alice.ask("GET", f"{path}/{first['id']}")
    assert (got.body, got.headers["content-type"]) == (image, "image/png")
    assert got.headers["content-disposition"] == 'attachment; filename="a photo.png"'
    assert [one["id"] for one in api.alice.get(path)] == [one["id"] for one in told["success"]]
    assert api.bob.ask("GET", f"{path}/{first['id']}").status == 403
    api.alice.delete(f"{path}/{first['id']}")
    assert api.alice.ask("GET", f"{path}/{first['id']}").problem == (404, 4011)
    assert api.alice.ask("PUT", path, {"files": "no"}).status == 400


def test_an_attachment_over_the_limit_is_told_of(api: Standin, task: Json) -> None:
    told = upload(api.alice, task["id"], ("big.bin", bytes(20 * 1024 * 1024 + 1)), ("small", b"x"))
    assert told["errors"][0]["code"] == 4012 and [one["file"]["name"] for one in told["success"]] == ["small"]


def test_a_copy_is_open_and_related(api: Standin, project: int) -> None:
    made = api.alice.put(f"/projects/{project}/tasks", **full(project), done=True)
    copied = api.alice.put(f"/tasks/{made['id']}/duplicate")["duplicated_task"]
    assert (copied["title"], copied["done"], copied["index"]) == ("Whole", False, 2)
    assert copied["related_tasks"]["copiedfrom"][0]["id"] == made["id"]


def test_a_card_moves_to_a_bucket_and_a_place(api: Standin, project: int, task: Json) -> None:
    view = next(one for one in api.alice.get(f"/projects/{project}/views") if one["view_kind"] == "kanban")
    board = f"/projects/{project}/views/{view['id']}"
    todo, doing, done = (one["id"] for one in api.alice.get(f"{board}/buckets"))
    told = api.alice.post(f"{board}/buckets/{done}/tasks", task_id=task["id"])
    assert (
        list(told) == ["bucket_id", "bucket", "task_id", "project_view_id", "task"] and told["task"]["done"]
    )
    api.alice.post(f"{board}/buckets/{doing}/tasks", task_id=task["id"])
    assert not api.alice.get(f"/tasks/{task['id']}")["done"]
    api.alice.post(f"/tasks/{task['id']}/position", position=3.5, project_view_id=view["id"])
    card = api.alice.get(f"{board}/tasks")[1]["tasks"][0]
    assert (card["id"], card["position"], card["bucket_id"]) == (task["id"], 3.5, doing)
    flat = api.alice.get(f"{board}/tasks", filter=f"bucket_id = {doing}")
    assert [one["id"] for one in flat] == [task["id"]], "a filter that names a bucket gives tasks"
    api.alice.post(f"{board}/buckets/{todo}", title="To-Do", limit=1)
    other = api.alice.put(f"/projects/{project}/tasks", title="Two")["id"]
    full_bucket = api.alice.ask("POST", f"{board}/buckets/{todo}/tasks", {"task_id": task["id"]})
    assert full_bucket.problem == (412, 10004) and other
    for bucket in (done, doing):
        api.alice.delete(f"{board}/buckets/{bucket}")
    assert api.alice.ask("DELETE", f"{board}/buckets/{todo}").problem == (412, 10003)
    assert api.alice.get(f"{board}/tasks")[0]["count"] == 2


def test_reactions_and_reading(api: Standin, task: Json) -> None:
    path = f"/tasks/{task['id']}/reactions"
    api.alice.put(path, value="👍")
    assert list(api.alice.get(path)) == ["👍"]
    assert "👍" in api.alice.get(f"/tasks/{task['id']}", **{"expand[]": "reactions"})["reactions"]
    assert api.alice.ask("POST", f"{path}/delete", {"value": "👍"}).status == 200
    assert api.alice.get(path) == []
    assert api.alice.post(f"/tasks/{task['id']}/read") == {"TaskID": task["id"], "UserID": 0}


def test_a_patch_of_the_newer_api_changes_what_is_named_and_nothing_else(api: Standin, project: int) -> None:
    made = api.alice.put(f"/projects/{project}/tasks", **full(project))["id"]
    path = f"/api/v2/tasks/{made}"
    told = api.alice.send("PATCH", path, b'{"priority": 1, "due_date": null}', "application/merge-patch+json")
    assert told.status == 200 and told.json["assignees"][0]["username"] == "alice"
    after = api.alice.get(f"/tasks/{made}")
    assert (after["priority"], after["due_date"], after["title"]) == (1, ZERO, "Whole")
    assert after["assignees"] and after["is_favorite"] and after["description"] == "<p>text</p>"
    assert api.alice.send("PATCH", path, b'{"priority": 1}').status == 304
    wrong = api.alice.send("PATCH", path, b'{"hex_color": "123456789"}')
    assert (wrong.status, wrong.headers["content-type"]) == (422, "application/problem+json")
    missing = api.alice.send("PATCH", "/api/v2/tasks/99999", b"{}")
    assert (missing.status, missing.json["code"]) == (404, 4002)
    reader = api.with_token(permissions={"tasks": ["read_one"]})
    assert reader.send("GET", path).status == 200 and reader.send("PATCH", path, b"{}").status == 401


def test_a_list_of_the_newer_api_tells_the_total(api: Standin) -> None:
    told = api.alice.send("GET", "/api/v2/tasks?per_page=1000").json
    assert list(told) == ["items", "total", "page", "per_page", "total_pages"]
    assert told["total"] == len(told["items"]) == len(api.alice.get("/tasks", page=0))
    assert api.alice.send("GET", "/api/v2/tasks?per_page=1001").status == 422
    assert api.alice.send("GET", "/api/v2/tasks?filter=nope+%3D+1").json["code"] == 4016
    one = api.alice.send("GET", f"/api/v2/tasks/{told['items'][0]['id']}")
    assert one.headers["etag"].startswith('"') and b"<p>" in one.body


def test_what_is_refused_leaves_nothing_behind(api: Standin, project: int, task: Json) -> None:
    for told in ({"assignees": [{"id": 2}]}, {"bucket_id": 99999}):
        assert api.alice.ask("PUT", f"/projects/{project}/tasks", {"title": "x"} | told).status >= 400
    assert [one["id"] for one in api.alice.get(f"/projects/{project}/tasks")] == [task["id"]]
    wrong = {"title": "Changed", "priority": 5, "reminders": [{"relative_period": 1}]}
    assert api.alice.ask("POST", f"/tasks/{task['id']}", wrong).problem == (400, 4022)
    told = {"task_ids": [task["id"], 99999], "fields": ["title"], "values": {"title": "Changed"}}
    assert api.alice.ask("POST", "/tasks/bulk", told).problem == (404, 4002)
    after = api.alice.get(f"/tasks/{task['id']}")
    assert (after["title"], after["priority"]) == ("One", 0)
    assert api.alice.put(f"/projects/{project}/tasks", title="Two")["index"] == 2


def test_a_related_task_is_shown_only_to_those_who_may_see_it(api: Standin, task: Json) -> None:
    shared = api.task(api.alice, "Team offsite")["id"]
    api.alice.put(f"/tasks/{shared}/relations", other_task_id=task["id"], relation_kind="related")
    mine, his = (caller.get(f"/tasks/{shared}")["related_tasks"] for caller in (api.alice, api.bob))
    assert task["id"] in [one["id"] for one in mine["related"]]
    assert task["id"] not in [one["id"] for one in his.get("related", [])]


def test_a_body_over_the_limit_is_refused_whole(api: Standin, task: Json) -> None:
    told = api.alice.send(
        "PUT", f"/api/v1/tasks/{task['id']}/attachments", bytes(22 * 1024 * 1024 + 1), "x/y"
    )
    assert told.problem == (413, 4013)
