"""Relations of tasks. Each has an inverse, which is made and removed with it."""

from typing import Final

from brimgate.sandboxes.vikunja.bodies import TEXT, WHOLE
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import (
    BAD_RELATION,
    FORBIDDEN,
    NO_RELATION,
    RELATION_CYCLE,
    RELATION_EXISTS,
    SELF_RELATION,
    Failed,
)
from brimgate.sandboxes.vikunja.shapes import user_shape
from brimgate.sandboxes.vikunja.store import Store, Task
from brimgate.sandboxes.vikunja.wire import answer_json, deleted
from brimgate.sandboxes.wire import Answer

INVERSE: Final = {
    "subtask": "parenttask",
    "parenttask": "subtask",
    "related": "related",
    "duplicateof": "duplicates",
    "duplicates": "duplicateof",
    "blocking": "blocked",
    "blocked": "blocking",
    "precedes": "follows",
    "follows": "precedes",
    "copiedfrom": "copiedto",
    "copiedto": "copiedfrom",
}


def relate(task: Task, other: Task, kind: str) -> None:
    task.relations.append((kind, other.id))
    other.relations.append((INVERSE[kind], task.id))


def create(call: Call) -> Answer:
    told = call.body({"other_task_id": WHOLE, "relation_kind": TEXT})
    kind = told["relation_kind"]
    if kind not in INVERSE:
        raise Failed(BAD_RELATION)
    task = call.access.write_task(call.user.id, call.number("task"))
    other = call.access.read_task(call.user.id, told["other_task_id"], FORBIDDEN)
    if task.id == other.id:
        raise Failed(SELF_RELATION)
    if (kind, other.id) in task.relations:
        raise Failed(RELATION_EXISTS)
    if kind in ("subtask", "parenttask") and _reaches(call.store, other, task, kind):
        raise Failed(RELATION_CYCLE)
    relate(task, other, kind)
    shape = {
        "task_id": task.id,
        "other_task_id": other.id,
        "relation_kind": kind,
        "created_by": user_shape(call.user),
        "created": call.now(),
    }
    return answer_json(201, shape)


def _reaches(store: Store, start: Task, target: Task, kind: str) -> bool:
    """Tell whether one gets from a task to another by relations of this kind."""
    seen, waiting = {start.id}, [start.id]
    while waiting:
        for each, other_id in store.tasks[waiting.pop()].relations:
            if each == kind and other_id not in seen and other_id in store.tasks:
                seen.add(other_id)
                waiting.append(other_id)
    return target.id in seen


def delete(call: Call) -> Answer:
    task = call.access.write_task(call.user.id, call.number("task"))
    kind, other_id = call.text("kind"), call.number("other")
    if (kind, other_id) not in task.relations:
        raise Failed(NO_RELATION)
    task.relations.remove((kind, other_id))
    if other := call.store.tasks.get(other_id):
        other.relations = [one for one in other.relations if one != (INVERSE[kind], task.id)]
    return deleted()
