"""Create, read, change and delete tasks."""

import copy
import dataclasses
import uuid
from typing import Any, Final

from brimgate.sandboxes.vikunja import boards
from brimgate.sandboxes.vikunja.assignees import replace_assignees
from brimgate.sandboxes.vikunja.bodies import (
    DATE,
    FLAG,
    MAP,
    MAPS,
    REAL,
    TEXT,
    TEXTS,
    WHOLE,
    WHOLES,
    Fields,
    fill,
    hex_color,
    limit_length,
)
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import ZERO, read, write
from brimgate.sandboxes.vikunja.errors import (
    BAD_COLUMN,
    BAD_MODEL,
    BAD_REMINDER,
    BAD_REPEAT,
    FORBIDDEN,
    FOREIGN_ATTACHMENT,
    NO_BULK_TASK,
    NO_TASK,
    NO_TITLE,
    Failed,
    Invalid,
    Plain,
)
from brimgate.sandboxes.vikunja.relations import relate
from brimgate.sandboxes.vikunja.repeats import FROM_NOW, MOST_SECONDS, change_done
from brimgate.sandboxes.vikunja.shapes import (
    TaskShaper,
    bare_task,
    identifier_of,
    reminders_shape,
    subscription_of,
    subscription_shape,
    user_shape,
)
from brimgate.sandboxes.vikunja.store import Reminder, Task
from brimgate.sandboxes.vikunja.task_lists import EXPANDABLE
from brimgate.sandboxes.vikunja.wire import answer_json, answer_one, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
COLUMNS: Final[Fields] = {
    "title": TEXT,
    "description": TEXT,
    "done": FLAG,
    "due_date": DATE,
    "repeat_after": WHOLE,
    "priority": WHOLE,
    "start_date": DATE,
    "end_date": DATE,
    "hex_color": TEXT,
    "percent_done": REAL,
    "project_id": WHOLE,
    "bucket_id": WHOLE,
    "repeat_mode": WHOLE,
    "cover_image_attachment_id": WHOLE,
}
"""What an update writes. Where one of them is not sent, it becomes empty."""
_BESIDES: Final[Fields] = {
    "assignees": MAPS,
    "reminders": MAPS,
    "is_favorite": FLAG,
    "index": WHOLE,
    "done_at": DATE,
    "labels": MAPS,
    "related_tasks": MAP,
    "attachments": MAPS,
    "position": REAL,
    "identifier": TEXT,
    "created": DATE,
    "updated": DATE,
}
TASK: Final[Fields] = COLUMNS | _BESIDES
_REMINDER: Final[Fields] = {"reminder": DATE, "relative_period": WHOLE, "relative_to": TEXT}
_RELATIVE: Final = ("", "due_date", "start_date", "end_date")
_ECHOED: Final = (
    "labels",
    "related_tasks",
    "attachments",
    "identifier",
    "position",
    "bucket_id",
    "created_by",
)
"""What a change does not load, so that its answer has what the caller sent, or nothing."""
_OF_ROW: Final = frozenset(COLUMNS) - {"title", "project_id", "bucket_id", "hex_color"}


def create(call: Call) -> Answer:
    told = _read(call.told)
    project_id = call.number("project")
    project = call.access.write_project(call.user.id, project_id)
    _check_new(told)
    now = call.now()
    task = Task(
        call.store.new_id("tasks"),
        project_id,
        project.last_index + 1,
        told["title"],
        call.user.id,
        now,
        now,
        uid=str(uuid.uuid4()),
    )
    for name in _OF_ROW - {"cover_image_attachment_id"}:
        setattr(task, name, told[name])
    task.hex_color = hex_color(told["hex_color"])
    task.reminders = reminders_of(told, task)
    _insert(call, task, told)
    project.last_index = task.index
    project.updated = now
    shape = _changed_shape(call, task, call.told) | {"identifier": identifier_of(call.store, task)}
    return answer_json(201, shape | {"created_by": user_shape(call.user)})


def _insert(call: Call, task: Task, told: Json) -> None:
    """Keep a new task, unless its bucket or its assignees are refused."""
    call.store.tasks[task.id] = task
    try:
        boards.place_new(call, task, told["bucket_id"])
        replace_assignees(call, task, told["assignees"])
    except Failed:
        boards.take_off(call.store, task)
        del call.store.tasks[task.id]
        raise
    _set_favorite(call, task, told["is_favorite"])


def _read(told: Json) -> Json:
    """Read the fields of a task. What is too long is refused before anything else is looked at."""
    filled = fill(told, TASK)
    limit_length(filled, "hex_color", 0, 7)
    if not 0 <= filled["repeat_mode"] <= FROM_NOW:
        raise Failed(BAD_MODEL, "Bad Request")
    if filled["repeat_after"] < 0:
        raise Invalid("repeat_after: does not validate as range(0|9223372036854775807)")
    return filled


def _check_new(told: Json) -> None:
    if not told["title"]:
        raise Failed(NO_TITLE)
    if told["repeat_after"] > MOST_SECONDS:
        raise Failed(BAD_REPEAT)


def reminders_of(told: Json, task: Task) -> list[Reminder]:
    """Return the reminders of a body, those relative to a date with the time that follows, the earliest first."""
    reminders: dict[str, Reminder] = {}
    sent: list[Json] = told["reminders"] or []
    for one in sent:
        filled = fill(one, _REMINDER)
        made = Reminder(filled["reminder"], filled["relative_period"], filled["relative_to"])
        if made.relative_to not in _RELATIVE or (made.relative_period and not made.relative_to):
            raise Failed(BAD_REMINDER)
        if made.relative_to:
            made.reminder = _relative(getattr(task, made.relative_to), made.relative_period)
        reminders[made.reminder] = made
    return sorted(reminders.values(), key=lambda reminder: reminder.reminder)


def _relative(date: str, period: int) -> str:
    if date == ZERO:
        return ZERO
    moment = read(date).timestamp() + period
    return write(read(date).fromtimestamp(moment, read(date).tzinfo))


def _set_favorite(call: Call, task: Task, is_favorite: bool) -> None:
    favorites = call.store.favorite_tasks[call.user.id]
    if is_favorite:
        favorites.add(task.id)
    else:
        favorites.discard(task.id)


def _changed_shape(call: Call, task: Task, told: Json) -> Json:
    """Return the answer to a change: the row, and what the caller sent of the rest."""
    shape = bare_task(task)
    shape["reminders"] = reminders_shape(task)
    shape["assignees"] = told.get("assignees") or None
    shape["is_favorite"] = task.id in call.store.favorite_tasks[call.user.id]
    for name in _ECHOED:
        shape[name] = told.get(name) or shape[name]
    return shape


def read_one(call: Call) -> Answer:
    return _answer_one(call, call.access.read_task(call.user.id, call.number("task")))


def read_by_index(call: Call) -> Answer:
    """Read a task by its number within a project, which is named by id or by identifier."""
    named = call.text("project")
    index = call.number("index")
    if named.removeprefix("-").isdecimal():
        project_id = call.number("project")
    else:
        wanted = named.upper()
        found = [one.id for one in call.store.projects.values() if one.identifier == wanted]
        if not found:
            raise Plain(404, "Project not found")
        project_id = found[0]
    task = next((one for one in call.store.tasks_of(project_id) if one.index == index), None)
    if task is None:
        raise Failed(NO_TASK)
    return _answer_one(call, call.access.read_task(call.user.id, task.id))


def _answer_one(call: Call, task: Task) -> Answer:
    permission = call.access.permission(call.user.id, task.project_id) or 0
    return answer_one(whole(call, task), permission)


def whole(call: Call, task: Task) -> Json:
    """Return a task as it is read by itself."""
    expand = call.parameters.get("expand", [])
    if any(one not in EXPANDABLE for one in expand):
        choices = ", ".join(EXPANDABLE)
        raise Invalid("expand", message=f"Expand must be one of the following values: {choices}")
    shape = TaskShaper(call.world, call.user, expand).shape(task)
    if followed := subscription_of(call.store, call.user, "task", task.id):
        shape["subscription"] = subscription_shape(followed)
    return shape


def update(call: Call) -> Answer:
    return answer_json(200, update_with(call, call.told))


def update_with(call: Call, sent: Json) -> Json:
    """Write all columns of a task from an object. Return the answer to it."""
    told = _read(sent)
    task = call.access.write_task(call.user.id, call.number("task"), told["project_id"])
    change(call, task, told, frozenset(COLUMNS))
    return _changed_shape(call, task, sent)


def update_many(call: Call) -> Answer:
    """Write the named fields of many tasks.

    As in the real server, assignees, reminders and the favourite are written too, whatever is named
    (go-vikunja/vikunja issue 3222).
    """
    told = call.body({"task_ids": WHOLES, "fields": TEXTS, "values": MAP})
    raw: Json = told["values"] or {}
    values = _read(raw)
    ids: list[int] = told["task_ids"] or []
    tasks = [call.store.tasks[one] for one in ids if one in call.store.tasks]
    if not tasks:
        raise Failed(NO_BULK_TASK)
    for project_id in dict.fromkeys([task.project_id for task in tasks] + [values["project_id"]]):
        if project_id:
            call.access.write_project(call.user.id, project_id)
    named: list[str] = told["fields"] or []
    fields = frozenset(named or COLUMNS)
    if unknown := [one for one in named if one not in COLUMNS]:
        raise Failed(BAD_COLUMN, unknown[0])
    for task in [call.access.task(one) for one in ids]:
        change(call, task, values, fields)
    shapes = [_changed_shape(call, call.store.tasks[one], raw) for one in ids]
    body = {"task_ids": told["task_ids"], "fields": told["fields"], "values": _values_shape(raw)}
    return answer_json(200, body | {"tasks": shapes})


def _values_shape(raw: Json) -> Json:
    """Return the values of a bulk update as a task: Go writes every field of the structure it read."""
    empty = bare_task(Task(0, 0, 0, "", 0, ZERO, ZERO))
    return empty | {name: value for name, value in raw.items() if name in empty}


def change(call: Call, task: Task, told: Json, fields: frozenset[str]) -> None:
    """Write fields of a task, or none of them if one is wrong."""
    old = copy.deepcopy(task)
    try:
        _write(call, task, old, told, fields)
    except Failed:
        for column in dataclasses.fields(task):
            setattr(task, column.name, getattr(old, column.name))
        raise


def _write(call: Call, task: Task, old: Task, told: Json, fields: frozenset[str]) -> None:
    """Write fields of a task. An empty title or project leaves what there is."""
    replace_assignees(call, task, told["assignees"])
    for name in fields & _OF_ROW:
        setattr(task, name, told[name])
    if task.repeat_after > MOST_SECONDS:
        raise Failed(BAD_REPEAT)
    if task.cover_image_attachment_id and task.cover_image_attachment_id not in task.attachments:
        raise Failed(FOREIGN_ATTACHMENT)
    task.reminders = reminders_of(told, task)
    if "title" in fields and told["title"]:
        task.title = told["title"]
    if "hex_color" in fields:
        task.hex_color = hex_color(told["hex_color"])
    if "project_id" in fields and told["project_id"] not in (0, task.project_id):
        _move(call, task, told["project_id"])
    wants_done = task.done
    change_done(old, task, call.clock)
    if task.project_id == old.project_id and wants_done != old.done:
        boards.follow_done(call, task, is_repeated=wants_done and not task.done)
    _set_favorite(call, task, told["is_favorite"])
    task.updated = call.now()
    call.store.projects[task.project_id].updated = task.updated


def _move(call: Call, task: Task, project_id: int) -> None:
    """Move a task to another project, where it gets a new number."""
    boards.take_off(call.store, task)
    project = call.store.projects[project_id]
    project.last_index += 1
    task.project_id, task.index = project_id, project.last_index
    boards.place_new(call, task, 0)


def delete(call: Call) -> Answer:
    remove(call, call.access.write_task(call.user.id, call.number("task")))
    return deleted()


def remove(call: Call, task: Task) -> None:
    store = call.store
    boards.take_off(store, task)
    for _, other_id in task.relations:
        if other := store.tasks.get(other_id):
            other.relations = [one for one in other.relations if one[1] != task.id]
    for favorites in store.favorite_tasks.values():
        favorites.discard(task.id)
    for one in task.comments:
        store.comments.pop(one, None)
    for one in task.attachments:
        store.attachments.pop(one, None)
    del store.tasks[task.id]


def duplicate(call: Call) -> Answer:
    original = call.access.read_task(call.user.id, call.number("task"), FORBIDDEN)
    project = call.access.write_project(call.user.id, original.project_id)
    task = copy.deepcopy(original)
    now = call.now()
    project.last_index += 1
    task.id, task.index, task.uid = call.store.new_id("tasks"), project.last_index, str(uuid.uuid4())
    task.done, task.done_at, task.created, task.updated = False, ZERO, now, now
    task.created_by_id, task.comments, task.relations, task.attachments = call.user.id, [], [], []
    task.cover_image_attachment_id = 0
    for one in original.attachments:
        copied = copy.copy(call.store.attachments[one])
        copied.id, copied.file_id = call.store.new_id("attachments"), call.store.new_id("files")
        copied.task_id, copied.created = task.id, now
        call.store.attachments[copied.id] = copied
        task.attachments.append(copied.id)
    call.store.tasks[task.id] = task
    boards.place_new(call, task, 0)
    relate(task, original, "copiedfrom")
    return answer_json(201, {"duplicated_task": TaskShaper.of(call).shape(task)})


def mark_read(call: Call) -> Answer:
    """Mark a task as read. The real server asks for no permission here, and answers in Go's own names."""
    task_id = call.number("task")
    call.store.unread.discard((call.user.id, task_id))
    return answer_json(200, {"TaskID": task_id, "UserID": 0})
