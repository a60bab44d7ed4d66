"""Comments on tasks."""

from brimgate.sandboxes.vikunja.bodies import TEXT, require
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import FORBIDDEN, NO_COMMENT, NOT_ALLOWED, Failed
from brimgate.sandboxes.vikunja.paging import answer_page
from brimgate.sandboxes.vikunja.shapes import comment_shape
from brimgate.sandboxes.vikunja.store import Comment, Task
from brimgate.sandboxes.vikunja.wire import answer_json, answer_one, deleted
from brimgate.sandboxes.wire import Answer


def list_comments(call: Call) -> Answer:
    task = call.access.read_task(call.user.id, call.number("task"), NOT_ALLOWED)
    wanted = call.parameter("s").lower()
    comments = [call.store.comments[one] for one in task.comments]
    found = [one for one in comments if wanted in one.comment.lower()]
    found.sort(key=lambda one: one.created, reverse=call.parameter("order_by") == "desc")
    return answer_page(call, found, lambda one: comment_shape(call.store, one))


def _text(call: Call) -> str:
    told = call.body({"comment": TEXT})
    require(told, "comment")
    return told["comment"]


def create(call: Call) -> Answer:
    text = _text(call)
    task = call.access.write_task(call.user.id, call.number("task"))
    now = call.now()
    comment = Comment(call.store.new_id("comments"), task.id, call.user.id, text, now, now)
    call.store.comments[comment.id] = comment
    task.comments.append(comment.id)
    return answer_json(201, comment_shape(call.store, comment))


def _comment(call: Call, task: Task) -> Comment:
    comment = call.store.comments.get(call.number("comment"))
    if comment is None or comment.task_id != task.id:
        raise Failed(NO_COMMENT)
    return comment


def read_one(call: Call) -> Answer:
    task = call.access.read_task(call.user.id, call.number("task"))
    permission = call.access.permission(call.user.id, task.project_id) or 0
    return answer_one(comment_shape(call.store, _comment(call, task)), permission)


def _own(call: Call) -> Comment:
    """Return a comment that the caller wrote, on a task that the caller may still change."""
    task = call.access.write_task(call.user.id, call.number("task"))
    comment = _comment(call, task)
    if comment.author_id != call.user.id:
        raise Failed(FORBIDDEN)
    return comment


def update(call: Call) -> Answer:
    text, comment = _text(call), _own(call)
    comment.comment, comment.updated = text, call.now()
    shape = comment_shape(call.store, comment)
    return answer_json(200, shape | {"author": None, "reactions": None, "created": "0001-01-01T00:00:00Z"})


def delete(call: Call) -> Answer:
    comment = _own(call)
    call.store.tasks[comment.task_id].comments.remove(comment.id)
    del call.store.comments[comment.id]
    return deleted()
