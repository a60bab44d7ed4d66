"""Views of projects, the buckets of kanban views, and where tasks stand in them."""

from typing import Any, Final

from brimgate.sandboxes.vikunja.bodies import MAP, MAPS, REAL, TEXT, WHOLE, Fields, limit_length, require
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import (
    BAD_MODEL,
    BUCKET_FULL,
    FORBIDDEN,
    FOREIGN_BUCKET,
    LAST_BUCKET,
    NO_BUCKET,
    NO_VIEW,
    NOT_ALLOWED,
    Failed,
)
from brimgate.sandboxes.vikunja.filters import parse
from brimgate.sandboxes.vikunja.paging import answer_whole
from brimgate.sandboxes.vikunja.repeats import change_done
from brimgate.sandboxes.vikunja.shapes import TaskShaper, bucket_shape, collection, view_shape
from brimgate.sandboxes.vikunja.store import FAVORITES, SPACE, Bucket, Store, Task, View
from brimgate.sandboxes.vikunja.wire import answer_json, answer_one, deleted, number
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
_VIEW: Final[Fields] = {
    "title": TEXT,
    "view_kind": TEXT,
    "filter": MAP,
    "position": REAL,
    "bucket_configuration_mode": TEXT,
    "bucket_configuration": MAPS,
    "default_bucket_id": WHOLE,
    "done_bucket_id": WHOLE,
}
_BUCKET: Final[Fields] = {"title": TEXT, "limit": WHOLE, "position": REAL}
_KINDS: Final = ("list", "gantt", "table", "kanban")
_MODES: Final = ("none", "manual", "filter")
_DEFAULT_BUCKETS: Final = (("To-Do", 100.0), ("Doing", 200.0), ("Done", 300.0))


def make_default_views(store: Store, project_id: int, user_id: int, now: str, only_open: bool) -> list[View]:
    """Make the four views that every new project has. The list shows open tasks only."""
    views: list[View] = []
    for place, kind in enumerate(_KINDS, 1):
        view = View(store.new_id("views"), kind.title(), project_id, kind, now, now, position=100.0 * place)
        store.views[view.id] = view
        views.append(view)
    if only_open:
        views[0].filter = collection("done = false")
    views[-1].mode = "manual"
    _make_buckets(store, views[-1], user_id, now)
    return views


def _make_buckets(store: Store, view: View, user_id: int, now: str) -> None:
    made = [
        Bucket(store.new_id("buckets"), title, view.id, user_id, now, now, position=position)
        for title, position in _DEFAULT_BUCKETS
    ]
    store.buckets.update({bucket.id: bucket for bucket in made})
    view.default_bucket_id, view.done_bucket_id = made[0].id, made[-1].id


def default_bucket(store: Store, view: View) -> int:
    if view.default_bucket_id:
        return view.default_bucket_id
    buckets = store.buckets_of(view.id)
    return buckets[0].id if buckets else 0


def place(store: Store, task: Task, bucket_id: int = 0) -> None:
    """Put a task that is new in its project into all of the project's views."""
    for view in store.views_of(task.project_id):
        view.positions[task.id] = task.index * SPACE
        if view.kind == "kanban" and view.mode == "manual":
            chosen = store.buckets.get(bucket_id)
            if task.done and view.done_bucket_id:
                view.buckets[task.id] = view.done_bucket_id
            elif chosen and chosen.view_id == view.id:
                view.buckets[task.id] = chosen.id
            else:
                view.buckets[task.id] = default_bucket(store, view)


def place_new(call: Call, task: Task, bucket_id: int) -> None:
    """Put a task into views, in a bucket if one was asked for."""
    if bucket_id:
        bucket = call.store.buckets.get(bucket_id)
        view = call.store.views.get(bucket.view_id) if bucket else None
        if bucket is None or view is None or view.project_id != task.project_id:
            raise Failed(NO_BUCKET)
        if bucket_id == view.done_bucket_id and not task.done:
            task.done, task.done_at = True, call.now()
        _check_limit(view, bucket)
    place(call.store, task, bucket_id)


def _check_limit(view: View, bucket: Bucket) -> int:
    count = sum(1 for one in view.buckets.values() if one == bucket.id)
    if 0 < bucket.limit <= count:
        raise Failed(BUCKET_FULL)
    return count


def take_off(store: Store, task: Task) -> None:
    for view in store.views.values():
        view.positions.pop(task.id, None)
        view.buckets.pop(task.id, None)


def follow_done(call: Call, task: Task, is_repeated: bool) -> None:
    """Move a task between buckets after it was marked done or open."""
    for view in call.store.views_of(task.project_id):
        if view.kind != "kanban" or view.mode != "manual":
            continue
        if is_repeated and view.default_bucket_id:
            view.buckets[task.id] = view.default_bucket_id
        elif task.done and view.done_bucket_id:
            view.buckets[task.id] = view.done_bucket_id
        elif not task.done and view.buckets.get(task.id) == view.done_bucket_id:
            view.buckets[task.id] = default_bucket(call.store, view)


def _view(call: Call) -> View:
    view = call.store.views.get(call.number("view"))
    if view is None or view.project_id != call.number("project"):
        raise Failed(NO_VIEW)
    return view


def list_views(call: Call) -> Answer:
    project_id = call.number("project")
    call.access.read_project(call.user.id, project_id, NOT_ALLOWED)
    return answer_whole(call, call.store.views_of(project_id), view_shape)


def read_view(call: Call) -> Answer:
    permission = call.access.read_project(call.user.id, call.number("project"))
    return answer_one(view_shape(_view(call)), permission)


def _administer(call: Call, project_id: int) -> None:
    """Require the right to change views: that of an admin, or of the owner of a saved filter."""
    if project_id < FAVORITES:
        call.access.read_project(call.user.id, project_id, FORBIDDEN)
    else:
        call.access.administer_project(call.user.id, project_id)


def _read_view(call: Call) -> Json:
    told = call.body(_VIEW)
    kind, mode = told["view_kind"] or "list", told["bucket_configuration_mode"] or "none"
    if kind not in _KINDS or mode not in _MODES:
        raise Failed(BAD_MODEL, "Bad Request")
    require(told, "title")
    limit_length(told, "title", 1, 250)
    if kind != "kanban":
        mode = "none"
    told |= {"view_kind": kind, "bucket_configuration_mode": mode}
    if told["filter"] is not None:
        told["filter"] = collection() | {k: v for k, v in told["filter"].items() if k in collection()}
        parse(told["filter"]["filter"])
    return told


def create_view(call: Call) -> Answer:
    told = _read_view(call)
    project_id, now, store = call.number("project"), call.now(), call.store
    _administer(call, project_id)
    view = View(store.new_id("views"), told["title"], project_id, told["view_kind"], now, now)
    view.filter, view.configuration = told["filter"], told["bucket_configuration"]
    view.position = told["position"] or view.id * SPACE
    view.mode = told["bucket_configuration_mode"]
    if view.kind == "kanban" and view.mode == "none":
        view.mode = "manual"
    store.views[view.id] = view
    if view.mode == "manual":
        _make_buckets(store, view, call.user.id, now)
        view.buckets = {task.id: view.default_bucket_id for task in store.tasks_of(project_id)}
    view.positions = {task.id: task.index * SPACE for task in store.tasks_of(project_id)}
    return answer_json(201, view_shape(view))


def update_view(call: Call) -> Answer:
    """Change a view. The first and the done bucket are written too: what is not sent is none."""
    told = _read_view(call)
    view = _view(call)
    _administer(call, view.project_id)
    if view.kind == told["view_kind"] == "kanban" and told["bucket_configuration_mode"] == "none":
        told["bucket_configuration_mode"] = view.mode
    elif told["view_kind"] == "kanban" and told["bucket_configuration_mode"] == "none":
        told["bucket_configuration_mode"] = "manual"
    for name in ("default_bucket_id", "done_bucket_id"):
        told[name] = _own_bucket(call.store, view, told[name])
    view.title, view.kind, view.filter = told["title"], told["view_kind"], told["filter"]
    view.position, view.configuration = told["position"], told["bucket_configuration"]
    view.mode = told["bucket_configuration_mode"]
    if view.kind == "kanban":
        view.default_bucket_id, view.done_bucket_id = told["default_bucket_id"], told["done_bucket_id"]
    view.updated = call.now()
    if view.mode == "manual":
        _fill_buckets(call, view)
    return answer_json(200, view_shape(view))


def _own_bucket(store: Store, view: View, bucket_id: int) -> int:
    """Return the id of a bucket if it is one of the view; of another view it is refused."""
    bucket = store.buckets.get(bucket_id)
    if bucket is None:
        return 0
    if bucket.view_id != view.id:
        raise Failed(FOREIGN_BUCKET)
    return bucket_id


def _fill_buckets(call: Call, view: View) -> None:
    """Give a view that has become a board buckets, and its tasks one."""
    if not call.store.buckets_of(view.id):
        _make_buckets(call.store, view, call.user.id, call.now())
    first = default_bucket(call.store, view)
    for task in call.store.tasks_of(view.project_id):
        view.buckets.setdefault(task.id, first)


def delete_view(call: Call) -> Answer:
    view = _view(call)
    _administer(call, view.project_id)
    del call.store.views[view.id]
    return deleted()


def list_buckets(call: Call) -> Answer:
    view = _view(call)
    call.access.read_project(call.user.id, view.project_id, NOT_ALLOWED)
    return answer_whole(call, call.store.buckets_of(view.id), lambda one: bucket_shape(call.store, one))


def _write(call: Call, project_id: int) -> None:
    if project_id < FAVORITES:
        call.access.read_project(call.user.id, project_id, FORBIDDEN)
    else:
        call.access.write_project(call.user.id, project_id)


def create_bucket(call: Call) -> Answer:
    told = call.body(_BUCKET)
    require(told, "title")
    view, now = _view(call), call.now()
    _write(call, view.project_id)
    bucket = Bucket(call.store.new_id("buckets"), told["title"], view.id, call.user.id, now, now)
    bucket.limit, bucket.position = told["limit"], told["position"] or bucket.id * SPACE
    call.store.buckets[bucket.id] = bucket
    return answer_json(201, bucket_shape(call.store, bucket))


def _bucket(call: Call) -> tuple[View, Bucket]:
    """Return a bucket that the caller may change, with its view."""
    bucket = call.store.buckets.get(call.number("bucket"))
    if bucket is None:
        raise Failed(NO_BUCKET)
    view = call.store.views.get(bucket.view_id)
    if view is None or view.project_id != call.number("project"):
        raise Failed(NO_VIEW)
    _write(call, view.project_id)
    return view, bucket


def update_bucket(call: Call) -> Answer:
    told = call.body(_BUCKET)
    require(told, "title")
    _, bucket = _bucket(call)
    bucket.title, bucket.limit, bucket.position = told["title"], told["limit"], told["position"]
    bucket.updated = call.now()
    return answer_json(200, bucket_shape(call.store, bucket))


def delete_bucket(call: Call) -> Answer:
    """Delete a bucket. Its tasks go to the first one."""
    view, bucket = _bucket(call)
    if len(call.store.buckets_of(view.id)) == 1:
        raise Failed(LAST_BUCKET)
    del call.store.buckets[bucket.id]
    view.default_bucket_id *= view.default_bucket_id != bucket.id
    view.done_bucket_id *= view.done_bucket_id != bucket.id
    first = default_bucket(call.store, view)
    view.buckets = {task: first if one == bucket.id else one for task, one in view.buckets.items()}
    return deleted()


def move(call: Call) -> Answer:
    """Put a task into a bucket. The bucket of done tasks marks it done, any other opens it again."""
    told = call.body({"task_id": WHOLE})
    view, bucket = _bucket(call)
    task = call.access.write_task(call.user.id, told["task_id"])
    before = view.buckets.get(task.id)
    shape: Json = {"bucket_id": bucket.id, "bucket": None, "task_id": task.id, "project_view_id": view.id}
    if before == bucket.id:
        return answer_json(200, shape | {"task": None})
    if view.id != call.number("view"):
        raise Failed(FOREIGN_BUCKET)
    count = _check_limit(view, bucket)
    view.buckets[task.id] = bucket.id
    if view.done_bucket_id:
        _mark(call, task, view, bucket.id, before)
    shape |= {"bucket_id": view.buckets[task.id], "bucket": bucket_shape(call.store, bucket, None, count + 1)}
    return answer_json(200, shape | {"task": TaskShaper.of(call).shape(task)})


def _mark(call: Call, task: Task, view: View, bucket_id: int, before: int | None) -> None:
    old_done = task.done
    if bucket_id == view.done_bucket_id and not task.done:
        task.done = True
    elif before == view.done_bucket_id and task.done:
        task.done = False
    if task.done == old_done:
        return
    wanted = task.done
    snapshot = Task(task.id, 0, 0, "", 0, "", "", done=old_done, due_date=task.due_date)
    snapshot.start_date, snapshot.end_date, snapshot.reminders = (
        task.start_date,
        task.end_date,
        task.reminders,
    )
    snapshot.repeat_after, snapshot.repeat_mode = task.repeat_after, task.repeat_mode
    change_done(snapshot, task, call.clock)
    if wanted and not task.done:
        view.buckets[task.id] = view.default_bucket_id or before or bucket_id


def set_position(call: Call) -> Answer:
    told = call.body({"position": REAL, "project_view_id": WHOLE})
    task = call.access.write_task(call.user.id, call.number("task"))
    view = call.store.views.get(told["project_view_id"])
    if view is None:
        raise Failed(NO_VIEW)
    view.positions[task.id] = told["position"]
    shape = {"task_id": task.id, "project_view_id": view.id, "position": number(told["position"])}
    return answer_json(200, shape)
