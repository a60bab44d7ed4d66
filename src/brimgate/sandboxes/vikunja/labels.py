"""Labels, and labels on tasks."""

from typing import Any, Final

from brimgate.sandboxes.vikunja.bodies import MAPS, TEXT, WHOLE, Fields, fill, hex_color, limit_length
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import (
    FORBIDDEN,
    HAS_LABEL,
    NO_LABEL,
    UNSEEN,
    UNSEEN_LABEL,
    UNSEEN_TASK,
    Failed,
)
from brimgate.sandboxes.vikunja.paging import answer_page
from brimgate.sandboxes.vikunja.shapes import label_shape
from brimgate.sandboxes.vikunja.store import ADMIN, READ, Label, Task
from brimgate.sandboxes.vikunja.wire import answer_json, answer_one, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
_LABEL: Final[Fields] = {"title": TEXT, "description": TEXT, "hex_color": TEXT}


def list_labels(call: Call) -> Answer:
    """List the labels that one made, and those on tasks that one may see."""
    seen = call.access.seen_labels(call.user.id)
    mine = [one for one in call.store.labels.values() if one.created_by_id == call.user.id or one.id in seen]
    return _answer(call, mine)


def _answer(call: Call, labels: list[Label]) -> Answer:
    search = call.parameter("s").strip()
    ids = {int(part) for part in search.split(",") if part.isascii() and part.isdecimal()}
    wanted = search.lower()
    found = [one for one in labels if (one.id in ids if ids else wanted in one.title.lower())]
    return answer_page(call, sorted(found, key=lambda one: one.id), lambda one: label_shape(call.store, one))


def read_one(call: Call) -> Answer:
    """Read a label. One that does not exist is refused as a foreign one is."""
    label_id = call.number("label")
    if not call.access.sees_label(call.user.id, label_id):
        raise Failed(UNSEEN)
    label = call.store.labels[label_id]
    return answer_one(label_shape(call.store, label), ADMIN if label.created_by_id == call.user.id else READ)


def _read(call: Call) -> Json:
    told = call.body(_LABEL)
    limit_length(told, "title", 1, 250)
    limit_length(told, "hex_color", 0, 7)
    return told


def create(call: Call) -> Answer:
    told, now = _read(call), call.now()
    label = Label(call.store.new_id("labels"), told["title"], call.user.id, now, now)
    label.description, label.hex_color = told["description"], hex_color(told["hex_color"])
    call.store.labels[label.id] = label
    return answer_json(201, label_shape(call.store, label))


def _own(call: Call) -> Label:
    label = call.store.labels.get(call.number("label"))
    if label is None:
        raise Failed(NO_LABEL)
    if label.created_by_id != call.user.id:
        raise Failed(FORBIDDEN)
    return label


def update(call: Call) -> Answer:
    told, label = _read(call), _own(call)
    label.title, label.description = told["title"], told["description"]
    label.hex_color, label.updated = hex_color(told["hex_color"]), call.now()
    return answer_json(200, label_shape(call.store, label))


def delete(call: Call) -> Answer:
    label = _own(call)
    del call.store.labels[label.id]
    for task in call.store.tasks.values():
        if label.id in task.labels:
            task.labels.remove(label.id)
    return deleted()


def list_of_task(call: Call) -> Answer:
    task = call.access.read_task(call.user.id, call.number("task"), UNSEEN_TASK)
    return _answer(call, [call.store.labels[one] for one in task.labels])


def add(call: Call) -> Answer:
    label_id = call.body({"label_id": WHOLE})["label_id"]
    if label_id not in call.store.labels:
        raise Failed(NO_LABEL)
    if not call.access.sees_label(call.user.id, label_id):
        raise Failed(FORBIDDEN)
    task = call.access.write_task(call.user.id, call.number("task"))
    if label_id in task.labels:
        raise Failed(HAS_LABEL)
    task.labels.append(label_id)
    _touch(call, task)
    return answer_json(201, {"label_id": label_id, "created": call.now()})


def _touch(call: Call, task: Task) -> None:
    task.updated = call.store.projects[task.project_id].updated = call.now()


def remove(call: Call) -> Answer:
    task, label_id = call.access.write_task(call.user.id, call.number("task")), call.number("label")
    if label_id not in task.labels:
        raise Failed(FORBIDDEN)
    task.labels.remove(label_id)
    _touch(call, task)
    return deleted()


def replace_all(call: Call) -> Answer:
    told = call.body({"labels": MAPS})
    task = call.access.write_task(call.user.id, call.number("task"))
    sent: list[Json] = told["labels"] or []
    wanted: list[int] = [fill(one, {"id": WHOLE})["id"] for one in sent]
    for one in wanted:
        if one in task.labels:
            continue
        if one not in call.store.labels:
            raise Failed(NO_LABEL)
        if not call.access.sees_label(call.user.id, one):
            raise Failed(UNSEEN_LABEL)
    task.labels = list(dict.fromkeys(wanted))
    _touch(call, task)
    return answer_json(201, {"labels": told["labels"]})
