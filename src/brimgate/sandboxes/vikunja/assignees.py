"""Who is to do a task."""

from typing import Any

from brimgate.sandboxes.vikunja.bodies import MAPS, WHOLE, fill
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import ZERO
from brimgate.sandboxes.vikunja.errors import ASSIGNED, NO_ACCESS, NO_PROJECT, NO_USER, NOT_ALLOWED, Failed
from brimgate.sandboxes.vikunja.paging import answer_page
from brimgate.sandboxes.vikunja.shapes import user_shape
from brimgate.sandboxes.vikunja.store import Task, User
from brimgate.sandboxes.vikunja.wire import answer_json, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]


def list_assignees(call: Call) -> Answer:
    task = call.store.tasks.get(call.number("task"))
    if task is None:
        raise Failed(NO_PROJECT)  # the real server looks for the project of a task here
    call.access.read_project(call.user.id, task.project_id, NOT_ALLOWED)
    wanted = call.parameter("s").lower()
    users = [call.store.users[one] for one in task.assignees]
    return answer_page(call, [user for user in users if wanted in user.username.lower()], user_shape)


def add(call: Call) -> Answer:
    told = call.body({"user_id": WHOLE})
    task = call.access.write_task(call.user.id, call.number("task"))
    _assign(call, task, told["user_id"])
    _touch(call, task)
    return answer_json(201, {"user_id": told["user_id"], "created": ZERO})


def _assign(call: Call, task: Task, user_id: int) -> None:
    user: User | None = call.store.users.get(user_id)
    if user is None:
        raise Failed(NO_USER)
    if call.access.permission(user_id, task.project_id) is None:
        raise Failed(NO_ACCESS)
    if user_id in task.assignees:
        raise Failed(ASSIGNED)
    task.assignees.append(user_id)


def _touch(call: Call, task: Task) -> None:
    call.store.projects[task.project_id].updated = call.now()


def remove(call: Call) -> Answer:
    task = call.access.write_task(call.user.id, call.number("task"))
    user_id = call.number("user")
    task.assignees = [one for one in task.assignees if one != user_id]
    _touch(call, task)
    return deleted()


def replace_all(call: Call) -> Answer:
    told = call.body({"assignees": MAPS})
    task = call.access.write_task(call.user.id, call.number("task"))
    replace_assignees(call, task, told["assignees"])
    return answer_json(201, {"assignees": told["assignees"]})


def replace_assignees(call: Call, task: Task, assignees: list[Json] | None) -> None:
    """Make these the assignees, and nobody else."""
    wanted = [fill(one, {"id": WHOLE})["id"] for one in assignees or []]
    before = task.assignees
    task.assignees = [one for one in before if one in wanted]
    try:
        for one in dict.fromkeys(wanted):
            if one not in task.assignees:
                _assign(call, task, one)
    except Failed:
        task.assignees = before  # the real server rolls its transaction back
        raise
