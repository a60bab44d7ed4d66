"""The tools of the pack, over real sockets, against the stand-in: what they write, what they leave alone, what they say."""

import base64
import json
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from brimgate.engine.policy import Policy
from tests.http.serving import modern, next_event
from tests.vikunja.team import Member, Team, team

HOME = "Heliotrope household"
CAN_ASK = {"elicitation": {}}


@pytest.fixture(scope="module")
def running() -> Iterator[Team]:
    with team() as one:
        yield one


@pytest.fixture
def our(running: Team) -> Team:
    running.standin.control("/reset")
    return running


@pytest.fixture
def alice(our: Team) -> Member:
    return our.member("alice")


def a_full_task(our: Team) -> dict[str, Any]:
    """A task with all that an update could lose."""
    direct, home = our.standin.alice, our.standin.project(our.standin.alice, HOME)
    task = direct.put(
        f"/projects/{home['id']}/tasks",
        title="Full",
        description="<p>Keep me</p>",
        due_date="2026-12-24T18:00:00Z",
        priority=3,
        percent_done=0.5,
        hex_color="ff8800",
        repeat_after=86_400,
        reminders=[{"reminder": "2026-12-01T08:00:00Z"}],
        assignees=[{"id": 1}],
        is_favorite=True,
    )
    direct.put(f"/tasks/{task['id']}/labels", label_id=direct.get("/labels")[0]["id"])
    return direct.get(f"/tasks/{task['id']}")


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in after.items() if before.get(name) != value and name != "updated"}


@pytest.mark.parametrize(
    ("named", "written"),
    [
        ({"title": "New"}, {"title": "New"}),
        ({"priority": 5, "percent_done": 1}, {"priority": 5, "percent_done": 1}),
        ({"due_date": None}, {"due_date": "0001-01-01T00:00:00Z"}),
        ({"description": "a & b\n\nc"}, {"description": "<p>a &amp; b</p><p>c</p>"}),
        ({"is_favorite": False}, {"is_favorite": False}),
        ({"reminders": []}, {"reminders": None}),
    ],
)
def test_an_update_writes_only_what_is_named(
    our: Team, alice: Member, named: dict[str, Any], written: dict[str, Any]
) -> None:
    before = a_full_task(our)
    alice.call("update_task", task_id=before["id"], **named)
    assert changes(before, our.standin.alice.get(f"/tasks/{before['id']}")) == written


def test_two_writers_of_different_fields_lose_nothing(our: Team) -> None:
    task = a_full_task(our)
    fields: list[dict[str, Any]] = [
        {"title": "T"},
        {"priority": 1},
        {"percent_done": 0.1},
        {"hex_color": "000000"},
    ]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda one: our.member("alice").call("update_task", task_id=task["id"], **one), fields))
    after = our.standin.alice.get(f"/tasks/{task['id']}")
    assert changes(task, after) == {name: value for one in fields for name, value in one.items()}


def test_many_tasks_keep_their_own_assignees(our: Team, alice: Member) -> None:
    tasks = [a_full_task(our), a_full_task(our)]
    our.standin.alice.delete(f"/tasks/{tasks[1]['id']}/assignees/1")
    told = alice.call("bulk_update_tasks", task_ids=[one["identifier"] for one in tasks], priority=5)
    assert "saved 2:" in told
    after = [our.standin.alice.get(f"/tasks/{one['id']}") for one in tasks]
    assert [one["priority"] for one in after] == [5, 5]
    assert [len(one["assignees"] or []) for one in after] == [1, 0]


def test_a_change_of_nothing_is_refused(our: Team, alice: Member) -> None:
    before = a_full_task(our)
    assert "nothing to change" in alice.fail("update_task", task_id=before["id"])
    assert changes(before, our.standin.alice.get(f"/tasks/{before['id']}")) == {}


def test_projects_and_labels_keep_what_is_not_named(our: Team, alice: Member) -> None:
    direct = our.standin.alice
    home = direct.get(f"/projects/{our.standin.project(direct, HOME)['id']}")
    alice.call("update_project", project_id="HOME", hex_color="00ff00")
    assert changes(home, direct.get(f"/projects/{home['id']}")) == {"hex_color": "00ff00"}
    label = direct.put("/labels", title="Kept", description="text", hex_color="112233")
    alice.call("update_label", label_id="kept", title="Renamed")
    assert changes(label, direct.get(f"/labels/{label['id']}")) == {"title": "Renamed"}


def test_a_task_is_completed_with_a_comment(our: Team, alice: Member) -> None:
    task = a_full_task(our)
    our.standin.alice.post(
        "/tasks/bulk", task_ids=[task["id"]], fields=["repeat_after"], values={"assignees": task["assignees"]}
    )
    told = alice.call("complete_task", task_id=task["identifier"], comment="Done & dusted")
    assert "✓" in told and task["identifier"] in told
    assert our.standin.alice.get(f"/tasks/{task['id']}")["done"] is True
    assert our.standin.alice.get(f"/tasks/{task['id']}/comments")[0]["comment"] == "<p>Done &amp; dusted</p>"


def test_a_new_task_has_its_labels_and_assignees_by_name(our: Team, alice: Member) -> None:
    told = alice.call(
        "create_task",
        project_id="home",
        title="Fresh",
        labels=["heliotrope phone"],
        assignees=["alice"],
        priority=4,
    )
    assert "Fresh" in told and "urgent" in told and "@alice" in told and "Heliotrope phone" in told


def test_a_step_that_fails_says_what_was_done_before_it(our: Team, alice: Member) -> None:
    told = alice.fail("create_task", project_id="HOME", title="Half", assignees=["bob"])
    assert "the task was created, do not create it again (task_id " in told
    number = int(told.partition("(task_id ")[2].partition(")")[0])
    assert our.standin.alice.get(f"/tasks/{number}")["title"] == "Half"


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("get_task", {"task_id": "HOME-99999"}, "(404)"),
        ("get_task", {"task_id": 999_999}, "(404)"),
        ("get_task", {"task_id": "#12"}, "task_id: must be the id of a task, or such as PROJ-12"),
        ("get_task", {"task_id": "../../tokens"}, "task_id: must be the id of a task"),
        (
            "add_label",
            {"task_id": 1, "label_id": "no such label"},
            "found no label with the title 'no such label'",
        ),
        ("create_task", {"project_id": "HOME", "title": ""}, "title"),
        ("create_task", {"project_id": "HOME", "title": "x", "priorty": 1}, "its parameters:"),
        ("list_tasks", {"filter": "nonsense = 1"}, "(400)"),
        ("list_tasks", {"limit": 500}, "limit exceeds maximum of 200"),
        ("create_project", {"title": "x", "identifier": "HOME"}, "(400)"),
        ("upload_attachment", {"task_id": 1, "file_name": "x"}, "as text or as base64"),
        (
            "upload_attachment",
            {"task_id": 1, "file_name": "../x", "text": "a"},
            "must be a name without a path",
        ),
    ],
)
def test_bad_input_says_what_to_do(alice: Member, tool: str, given: dict[str, Any], said: str) -> None:
    assert said in alice.fail(tool, **given)


def test_what_belongs_to_another_is_denied_and_what_is_not_there_is_not_found(
    our: Team, alice: Member
) -> None:
    theirs = next(
        one
        for one in our.standin.bob.walk("/projects")
        if one["owner"]["username"] == "bob" and "Quillwort" in one["title"]
    )
    assert "you have no right to it" in alice.fail("get_project", project_id=theirs["id"])
    assert "(404)" in alice.fail("get_project", project_id=999_999)


def test_html_comes_as_text_and_the_original_by_option(our: Team, alice: Member) -> None:
    task = a_full_task(our)
    assert "\nKeep me" in alice.call("get_task", task_id=task["id"])
    assert "<p>Keep me</p>" in alice.call("get_task", task_id=task["id"], html=True)


def test_a_file_goes_up_and_comes_back_byte_for_byte(our: Team, alice: Member) -> None:
    task, data = a_full_task(our), bytes(range(256)) * 40
    told = alice.call(
        "upload_attachment",
        task_id=task["id"],
        file_name='Zoë "1".bin',
        base64=base64.b64encode(data).decode(),
    )
    number = json.loads(json.dumps(our.standin.alice.get(f"/tasks/{task['id']}/attachments")))[0]["id"]
    assert str(number) in told
    answer = alice.client.call("get_attachment", task_id=task["id"], attachment_id=number)
    block = answer["result"]["content"][0]
    assert base64.b64decode(block["resource"]["blob"]) == data
    alice.call("upload_attachment", task_id=task["id"], file_name="note.txt", text="Grüße")
    files = our.standin.alice.get(f"/tasks/{task['id']}/attachments")
    text = next(one["id"] for one in files if one["file"]["name"] == "note.txt")
    assert alice.call("get_attachment", task_id=task["id"], attachment_id=text) == "Grüße"


def test_relations_assignees_and_deletions(our: Team, alice: Member) -> None:
    one, other = a_full_task(our), a_full_task(our)
    alice.call("add_relation", task_id=one["id"], other_task_id=other["identifier"], relation_kind="subtask")
    assert f"subtask: {other['id']} Full" in alice.call("get_task", task_id=one["id"])
    alice.call("remove_relation", task_id=one["id"], other_task_id=other["id"], relation_kind="subtask")
    assert "subtask" not in alice.call("get_task", task_id=one["id"])
    alice.call("remove_assignee", task_id=one["id"], user_id="alice")
    assert our.standin.alice.get(f"/tasks/{one['id']}")["assignees"] is None
    alice.call("delete_task", task_id=other["identifier"])
    assert our.standin.alice.ask("GET", f"/tasks/{other['id']}").status == 404


def test_every_task_is_reached_and_no_page_is_asked_for_twice(our: Team, alice: Member) -> None:
    ids = {one["id"] for one in our.standin.alice.walk("/tasks")}
    our.standin.control("/reset")
    lines = alice.walk("list_tasks")
    assert len(lines) == len(ids)
    pages = Counter(one for one in our.asked if "/tasks?" in one)
    assert set(pages.values()) == {1} and len(pages) == -(-len(ids) // 50)


def test_a_first_page_of_thousands_is_small_and_tells_the_true_total(our: Team, alice: Member) -> None:
    home = our.standin.project(our.standin.alice, HOME)["id"]
    our.standin.control("/add_tasks", user="alice", project_id=home, count=2_000)
    total = sum(1 for _ in our.standin.alice.walk("/tasks"))
    told = alice.call("list_tasks")
    assert f"items #0-49 of {total:,}" in told and f"{total:,} tasks:" in told
    assert Policy().estimator.ceiling(told) < 4_000


def test_all_of_a_kind_has_one_page(our: Team, alice: Member) -> None:
    """`page=0` would be everything in one answer, and `per_page` above 50 is cut in silence."""
    alice.call("list_tasks", limit=200)
    alice.call("list_tasks", limit=200)
    asked = [one for one in our.asked if "page=" in one]
    assert all("page=0" not in one for one in asked)
    assert {one.partition("per_page=")[2].partition("&")[0] for one in asked} == {
        "50",
        "1",
    }  # one counts them


def test_destructive_tools_ask_the_user_where_the_client_can(our: Team) -> None:
    for answer, is_gone in (
        ({"action": "accept", "content": {"confirm": True}}, True),
        ({"action": "accept", "content": {"confirm": False}}, False),
        ({"action": "decline"}, False),
    ):
        task = a_full_task(our)
        client = our.serving.client(authorization=f"Bearer {our.tokens['alice']}")
        params = {
            "protocolVersion": client.version,
            "capabilities": CAN_ASK,
            "clientInfo": {"name": "t", "version": "1"},
        }
        greeted = client.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        client.session = greeted.headers["mcp-session-id"]
        client.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        call = {"name": "delete_task", "arguments": {"task_id": task["id"]}}
        stream = client.begin({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call})
        asked = asked_of(stream)
        assert asked["method"] == "elicitation/create" and str(task["id"]) in asked["params"]["message"]
        assert our.standin.alice.ask("GET", f"/tasks/{task['id']}").status == 200
        assert client.post({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).status == 202
        result = asked_of(stream)["result"]
        assert bool(result.get("isError")) is not is_gone
        assert (our.standin.alice.ask("GET", f"/tasks/{task['id']}").status == 404) is is_gone


def asked_of(stream: Any) -> dict[str, Any]:
    while True:
        if data := next_event(stream).get("data"):
            return json.loads(data)


def test_modern_clients_are_asked_by_the_result(our: Team) -> None:
    task = a_full_task(our)
    login = f"Bearer {our.tokens['alice']}"
    meta = {"io.modelcontextprotocol/clientCapabilities": CAN_ASK}
    call: dict[str, Any] = {"name": "delete_task", "arguments": {"task_id": task["id"]}}
    asked = modern(our.serving, "tools/call", call, meta=meta, authorization=login).messages[-1]["result"]
    assert asked["resultType"] == "input_required"
    key, request = next(iter(asked["inputRequests"].items()))
    assert request["method"] == "elicitation/create"
    assert our.standin.alice.ask("GET", f"/tasks/{task['id']}").status == 200
    again = call | {"inputResponses": {key: {"action": "accept", "content": {"confirm": True}}}}
    done = modern(our.serving, "tools/call", again, meta=meta, authorization=login).messages[-1]["result"]
    assert done["resultType"] == "complete" and not done.get("isError")
    assert our.standin.alice.ask("GET", f"/tasks/{task['id']}").status == 404


def test_a_client_that_cannot_ask_is_not_asked(our: Team, alice: Member) -> None:
    task = a_full_task(our)
    alice.call("delete_task", task_id=task["id"])
    assert our.standin.alice.ask("GET", f"/tasks/{task['id']}").status == 404


def test_tools_say_what_they_do_to_the_world(alice: Member) -> None:
    tools = {
        one["name"]: one["annotations"]
        for one in alice.client.request("tools/list")["result"]["tools"]
        if one["name"] != "brimgate_read"
    }
    assert 40 <= len(tools) <= 50
    for name, hints in tools.items():
        reads = name.startswith(("list_", "get_", "find_"))
        assert hints.get("readOnlyHint", False) is reads, name
        assert hints.get("destructiveHint", False) is name.startswith("delete_"), name


def test_the_catalogue_is_not_too_large(our: Team, alice: Member) -> None:
    alice.client.request("tools/list")
    assert not [line for line in our.serving.lines if "large_catalog" in line]


def test_projects_are_counted_once_though_every_page_has_the_saved_filters(our: Team, alice: Member) -> None:
    for number in range(60):
        our.standin.alice.put("/projects", title=f"Project {number}")
    our.standin.alice.put("/filters", title="Open", filters={"filter": "done = false"})
    ids = {one["id"] for one in our.standin.alice.walk("/projects")}
    assert min(ids) < -1 and len(ids) > 60
    lines = alice.walk("list_projects")
    assert len(lines) == len(set(lines)) == len(ids)
    assert f" of {len(ids)} " in alice.call("list_projects")


def test_notifications_are_read(our: Team, alice: Member) -> None:
    assert "unread" in alice.call("list_notifications")
    alice.call("mark_notifications_read")
    assert "unread" not in alice.call("list_notifications")


@pytest.mark.parametrize("kind", ["wrong_type", "truncated", "html500", "redirect", "drop"])
def test_a_change_that_vikunja_does_not_confirm_is_not_called_saved(
    our: Team, alice: Member, kind: str
) -> None:
    task = a_full_task(our)
    our.standin.control("/fault", path="/api/v1/tasks/bulk", kind=kind, times=1)
    told = alice.fail("update_task", task_id=task["id"], priority=1)
    assert "saved" not in told and ("may have done" in told or "redirect" in told)
