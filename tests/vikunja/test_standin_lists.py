"""What the stand-in promises of lists of tasks, filters and projects."""

from collections.abc import Callable

import pytest

from tests.vikunja.asking import ZERO, Json, Standin

NOW = "2026-11-15T10:00:00Z"
WEEK = "2026-11-22T10:00:00Z"


def everything(api: Standin) -> list[Json]:
    return api.alice.get("/tasks", page=0)


def names(task: Json) -> set[str]:
    return {one["username"] for one in task["assignees"] or []}


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("done = false", lambda one: not one["done"]),
        ("done != true", lambda one: not one["done"]),
        ("priority >= 3", lambda one: one["priority"] >= 3),
        ("priority in 1, 2", lambda one: one["priority"] in (1, 2)),
        ("priority not in 0,1,2", lambda one: one["priority"] not in (0, 1, 2)),
        ("percent_done > 0.3", lambda one: one["percent_done"] > 0.3),
        ("title like 'INVOICES'", lambda one: "invoices" in one["title"].lower()),
        ("title like \"the \"", lambda one: "the " in one["title"].lower()),
        ("due_date < now", lambda one: ZERO < one["due_date"] < NOW),
        ("due_date >= now && due_date < now+7d", lambda one: NOW <= one["due_date"] < WEEK),
        ("due_date >= now/d && due_date < now/d+1d", lambda one: one["due_date"].startswith("2026-11-15")),
        ("due_date > 2026-11-20", lambda one: one["due_date"] >= "2026-11-20T00:00:01Z"),
        ("due_date > '2026-11-20 16:59'", lambda one: one["due_date"] > "2026-11-20T16:59:00Z"),
        ("due_date != 2026-11-20T17:00:00Z", lambda one: one["due_date"] not in (ZERO, "2026-11-20T17:00:00Z")),
        ("done = true || priority = 5", lambda one: one["done"] or one["priority"] == 5),
        ("done = true || priority = 5 && percent_done > 0",
         lambda one: (one["done"] or one["priority"] == 5) and one["percent_done"] > 0),
        ("done = true || (priority = 5 && percent_done > 0)",
         lambda one: one["done"] or (one["priority"] == 5 and one["percent_done"] > 0)),
        ("assignees = alice", lambda one: "alice" in names(one)),
        ("assignees in alice,bob", lambda one: bool(names(one) & {"alice", "bob"})),
        ("assignees in alice, bob", lambda one: "alice" in names(one)),
        ("assignees != alice", lambda one: "alice" not in names(one)),
        ("labels = 1", lambda one: 1 in [label["id"] for label in one["labels"] or []]),
        ("labels not in 1, 2",
         lambda one: not {1, 2} & {label["id"] for label in one["labels"] or []}),
        ("project = 1", lambda one: one["project_id"] == 1),
        ("project_id in 1,2", lambda one: one["project_id"] in (1, 2)),
        ("index <= 3", lambda one: one["index"] <= 3),
        ("reminders > now", lambda one: any(each["reminder"] > NOW for each in one["reminders"] or [])),
    ],
)  # fmt: skip
def test_a_filter_finds_what_fits(api: Standin, text: str, fits: Callable[[Json], bool]) -> None:
    expected = [one["id"] for one in everything(api) if fits(one)]
    assert [one["id"] for one in api.alice.get("/tasks", page=0, filter=text)] == expected
    assert expected, "the data has something for it"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("colour = 1", 4016),
        ("project_view_id = 1", 4016),
        ("title !~ x", 4017),
        ("priority = high", 4019),
        ("done = maybe", 4019),
        ("due_date < someday", 4019),
        ("labels = bug", 4019),
        ("priority like 1", 4019),
        ("done", 4024),
        ("done = false &&", 4024),
        ("(done = false", 4024),
        ("done = false)", 4024),
        ("= 3", 4024),
    ],
)
def test_a_wrong_filter_is_refused(api: Standin, text: str, code: int) -> None:
    assert api.alice.ask("GET", "/tasks", filter=text).problem == (400, code)


def test_nulls_are_left_out_unless_they_are_asked_for(api: Standin) -> None:
    without = api.alice.get("/tasks", page=0, filter="due_date < now")
    both = api.alice.get("/tasks", page=0, filter="due_date < now", filter_include_nulls="true")
    assert {one["id"] for one in both} > {one["id"] for one in without}
    assert any(one["due_date"] == ZERO for one in both)
    numbers = api.alice.get("/tasks", page=0, filter="priority > 3", filter_include_nulls="true")
    assert {one["priority"] for one in numbers} == {0, 4, 5}


def test_the_time_zone_moves_the_day(api: Standin) -> None:
    made = api.alice.put("/projects/1/tasks", title="late", due_date="2026-11-15T23:30:00Z")["id"]
    text = "due_date >= now/d && due_date < now/d+1d"
    here = api.alice.get("/tasks", page=0, filter=text)
    there = api.alice.get("/tasks", page=0, filter=text, filter_timezone="Asia/Tokyo")
    assert made in [one["id"] for one in here] and made not in [one["id"] for one in there]
    assert api.alice.ask("GET", "/tasks", filter=text, filter_timezone="Mars/Base").problem == (400, 2003)


def test_sorting_puts_what_is_not_set_last(api: Standin) -> None:
    for order in ("asc", "desc"):
        dates = [
            one["due_date"]
            for one in api.alice.get("/tasks", page=0, **{"sort_by[]": "due_date", "order_by[]": order})
        ]
        are_set = [date for date in dates if date != ZERO]
        assert dates[: len(are_set)] == sorted(are_set, reverse=order == "desc") and len(are_set) < len(dates)


def test_sorting_by_two_fields_with_and_without_brackets(api: Standin) -> None:
    query = {"sort_by": ["done", "priority"], "order_by": ["asc", "desc"]}
    plain = api.alice.get("/tasks", page=0, **query)
    bracketed = api.alice.get("/tasks", page=0, **{f"{name}[]": value for name, value in query.items()})
    keys = [(one["done"], -one["priority"], one["id"]) for one in plain]
    assert keys == sorted(keys) and [one["id"] for one in plain] == [one["id"] for one in bracketed]


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ({"sort_by": "nope"}, (400, 4016)),
        ({"sort_by": "id", "order_by": "up"}, (400, 4014)),
        ({"sort_by": "position"}, (400, 4026)),
        ({"expand": "everything"}, (412, 2002)),
    ],
)
def test_wrong_queries(api: Standin, query: Json, problem: tuple[int, int]) -> None:
    assert api.alice.ask("GET", "/tasks", **query).problem == problem


def test_a_search_looks_at_titles_descriptions_and_numbers(api: Standin) -> None:
    found = api.alice.get("/tasks", page=0, s="Invoices")
    expected = [
        one for one in everything(api) if "invoices" in (one["title"] + "\0" + one["description"]).lower()
    ]
    assert found and [one["id"] for one in found] == [one["id"] for one in expected]
    assert {one["index"] for one in api.alice.get("/tasks", page=0, s="#12")} == {12}


def test_expansions(api: Standin) -> None:
    query: Json = {
        "expand[]": ["comments", "comment_count", "buckets", "time_entries_count", "is_unread"],
        "page": 0,
    }
    tasks = api.alice.get("/tasks", **query)
    busy = max(tasks, key=lambda one: one["comment_count"])
    assert busy["comment_count"] == 200 and len(busy["comments"]) == 50
    assert all(one["buckets"] and one["time_entries_count"] == 0 for one in tasks)
    assert any(one.get("is_unread") for one in tasks) and any("comments" not in one for one in tasks)
    nested = api.alice.ask("GET", "/projects/1/tasks", **{"expand[]": "subtasks"})
    plain = api.alice.get("/projects/1/tasks", page=0)
    children = [one["id"] for one in plain if "parenttask" in one["related_tasks"]]
    assert children and {one["id"] for one in nested.json} >= set(children)


def test_all_names_of_the_list_of_tasks(api: Standin) -> None:
    assert api.alice.get("/tasks/all") == api.alice.get("/tasks")
    of_project = api.alice.get("/projects/1/tasks", page=0)
    views = {one["view_kind"]: one["id"] for one in api.alice.get("/projects/1/views")}
    assert list(views) == ["list", "gantt", "table", "kanban"]
    table = api.alice.get(f"/projects/1/views/{views['table']}/tasks", page=0)
    assert {one["id"] for one in table} == {one["id"] for one in of_project}
    assert all(one["position"] for one in table) and not any(one["position"] for one in of_project)
    only_open = api.alice.get(f"/projects/1/views/{views['list']}/tasks", page=0)
    assert {one["id"] for one in only_open} == {one["id"] for one in of_project if not one["done"]}
    board = api.alice.get(f"/projects/1/views/{views['kanban']}/tasks", per_page=2)
    assert sum(one["count"] for one in board) == len(of_project)
    assert all(len(one.get("tasks", [])) <= 2 for one in board)
    assert api.alice.ask("GET", f"/projects/2/views/{views['list']}/tasks").problem == (404, 3014)


def test_tasks_of_archived_projects_are_listed_only_there(api: Standin) -> None:
    archived = api.project(api.alice, "Heliotrope things of last year")
    assert archived["is_archived"]
    assert archived["id"] not in [one["id"] for one in api.alice.walk("/projects")]
    tasks = api.alice.get(f"/projects/{archived['id']}/tasks")
    listed = {one["id"] for one in everything(api)}
    assert tasks and all(one["is_favorite"] for one in tasks if one["id"] in listed)
    told = api.alice.ask("PUT", f"/projects/{archived['id']}/tasks", {"title": "x"})
    assert told.problem == (412, 3008)
    assert api.alice.post(f"/projects/{archived['id']}", title="Back")["is_archived"] is False


def test_pseudo_projects_stand_at_the_end_of_every_page(api: Standin) -> None:
    told = api.alice.ask("GET", "/projects", per_page=5)
    ids = [one["id"] for one in told.json]
    assert [one for one in ids if one < 0] == [-1, -2, -3] and len(ids) == 8
    assert told.headers["x-pagination-result-count"] == "6", "favourites count, saved filters do not"
    past = api.alice.ask("GET", "/projects", page=1_000)
    assert [one["id"] for one in past.json] == [-1, -2, -3], "so the page after the last is not empty"
    assert past.headers["x-pagination-total-pages"] == "0"
    assert [one["id"] for one in api.bob.get("/projects", page=1_000)] == [-1, -4, -5]


def test_favourites_and_filters_list_tasks(api: Standin) -> None:
    favorites = api.alice.get("/projects/-1/tasks", page=0)
    assert favorites and all(one["is_favorite"] for one in favorites)
    assert api.alice.get("/projects/-1")["title"] == "Favorites"
    mine = api.alice.get("/projects/-2/tasks", page=0)
    assert mine and all(not one["done"] and "alice" in names(one) for one in mine)
    assert api.bob.ask("GET", "/projects/-2/tasks").status == 403
    assert api.bob.ask("GET", "/projects/-2").status == 403
    assert api.alice.ask("GET", "/projects/-99/tasks").problem == (404, 11001)


def test_saved_filters(api: Standin) -> None:
    made = api.alice.put(
        "/filters", title="High", filters={"filter": "priority > 3", "sort_by": ["id"], "order_by": ["desc"]}
    )
    found = api.alice.get(f"/projects/{-made['id'] - 1}/tasks", page=0)
    assert found and all(one["priority"] > 3 for one in found)
    assert [one["id"] for one in found] == sorted((one["id"] for one in found), reverse=True)
    assert api.alice.ask("GET", f"/filters/{made['id']}").headers["x-max-permission"] == "2"
    assert api.bob.ask("GET", f"/filters/{made['id']}").problem == (403, 0)
    api.alice.post(f"/filters/{made['id']}", title="Low", filters={"filter": "priority = 1"})
    assert api.alice.get(f"/filters/{made['id']}")["filters"]["filter"] == "priority = 1"
    assert api.alice.ask("PUT", "/filters", {"title": "x"}).problem == (412, 2002)
    assert api.alice.ask("PUT", "/filters", {"title": "x", "filters": {"filter": "no = 1"}}).problem == (
        400,
        4016,
    )
    api.alice.delete(f"/filters/{made['id']}")
    assert api.alice.ask("GET", f"/filters/{made['id']}").problem == (404, 11001)


def test_a_project_is_made_changed_and_deleted(api: Standin) -> None:
    made = api.alice.put("/projects", title="New", identifier="abc", hex_color="#112233", description="d")
    assert (made["identifier"], made["hex_color"], made["parent_project_id"]) == ("ABC", "112233", 0)
    assert [one["view_kind"] for one in made["views"]] == ["list", "gantt", "table", "kanban"]
    assert api.alice.ask("PUT", "/projects", {"title": "x", "identifier": "abc"}).problem == (400, 3007)
    assert api.alice.ask("PUT", "/projects", {"title": "x", "identifier": "a" * 11}).problem == (412, 2002)
    child = api.alice.put("/projects", title="Child", parent_project_id=made["id"])["id"]
    for parent, problem in (
        (made["id"], (412, 3010)),
        (child, (412, 3011)),
        (-1, (412, 3009)),
        (9999, (404, 3001)),
    ):
        told = api.alice.ask("POST", f"/projects/{made['id']}", {"title": "x", "parent_project_id": parent})
        assert told.problem == problem
    changed = api.alice.post(f"/projects/{made['id']}", title="Changed")
    assert (changed["identifier"], changed["hex_color"], changed["description"]) == ("", "", "d")
    assert api.alice.ask("GET", f"/projects/{made['id']}").headers["x-max-permission"] == "2"
    assert changed["max_permission"] == 0, "only the header tells it"
    assert api.alice.delete(f"/projects/{made['id']}") == {"message": "Successfully deleted."}
    assert api.alice.ask("GET", f"/projects/{child}").problem == (404, 3001)
    inbox = api.project(api.alice, "Heliotrope inbox")["id"]
    archived = api.alice.ask("POST", f"/projects/{inbox}", {"title": "x", "is_archived": True})
    assert archived.problem == (412, 3013)


def test_teams(api: Standin) -> None:
    assert [one["name"] for one in api.alice.get("/teams")] == ["Engineering"]
    made = api.alice.put("/teams", name="Ours")["id"]
    assert api.bob.ask("GET", f"/teams/{made}").status == 403
    api.alice.put(f"/teams/{made}/members", username="bob")
    assert api.alice.ask("PUT", f"/teams/{made}/members", {"username": "bob"}).problem == (409, 6005)
    assert [one["username"] for one in api.bob.get(f"/teams/{made}")["members"]] == ["alice", "bob"]
    assert api.bob.ask("PUT", f"/teams/{made}/members", {"username": "erin"}).status == 403
    project = api.project(api.alice, "Heliotrope thesis")["id"]
    api.alice.put(f"/projects/{project}/teams", team_id=made, permission=1)
    assert api.bob.ask("GET", f"/projects/{project}").headers["x-max-permission"] == "1"
    api.alice.delete(f"/teams/{made}/members/bob")
    assert api.bob.ask("GET", f"/projects/{project}").status == 403
    assert api.alice.ask("DELETE", f"/teams/{made}/members/alice").problem == (400, 6006)
    api.alice.delete(f"/teams/{made}")
    assert api.alice.ask("DELETE", f"/teams/{made}").problem == (404, 6002)


def test_notifications_and_subscriptions(api: Standin) -> None:
    first = api.alice.get("/notifications")
    assert [one["id"] for one in first] == sorted((one["id"] for one in first), reverse=True)
    assert list(first[0]) == ["id", "notification", "name", "read_at", "created"]
    caller = api.login()
    unread = next(one["id"] for one in first if one["read_at"] == ZERO)
    assert caller.post(f"/notifications/{unread}", read=True)["read_at"] != ZERO
    foreign = api.bob.get("/notifications")[0]["id"]
    assert caller.ask("POST", f"/notifications/{foreign}", {"read": True}).status == 403
    api.alice.post("/notifications")
    assert all(one["read_at"] != ZERO for one in api.alice.get("/notifications"))
    assert caller.put("/subscriptions/project/1")["entity"] == "project"
    assert caller.ask("PUT", "/subscriptions/project/1").problem == (412, 12002)
    assert caller.get("/projects/1")["subscription"]["entity_id"] == 1
    caller.delete("/subscriptions/project/1")
    assert caller.ask("DELETE", "/subscriptions/project/1").status == 403
