"""Lists of tasks: of everything, of a project, a view, a saved filter, or the favourites."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC
from typing import Any, Final

from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import ZERO, zone_of
from brimgate.sandboxes.vikunja.errors import (
    BAD_FIELD,
    BAD_ORDER,
    BAD_ZONE,
    NO_ACCESS,
    NO_POSITION,
    NO_VIEW,
    NOT_ALLOWED,
    Failed,
    Invalid,
)
from brimgate.sandboxes.vikunja.filters import (
    DATES,
    SORTABLE,
    FilterContext,
    Group,
    like,
    make_test,
    names_bucket,
    parse,
)
from brimgate.sandboxes.vikunja.paging import Page, answer_items, page_of
from brimgate.sandboxes.vikunja.shapes import TaskShaper, bucket_shape
from brimgate.sandboxes.vikunja.store import FAVORITES, Task, View
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
EXPANDABLE: Final = (
    "subtasks", "buckets", "reactions", "comments", "comment_count", "time_entries_count", "is_unread",
)  # fmt: skip
_INDEX: Final = re.compile(r"#(\d{1,18})", re.ASCII)


@dataclass(slots=True)
class Asked:
    """What a list was asked for, by the query and by a view or saved filter that stands in the path."""

    search: str = ""
    filter: str = ""
    timezone: str = ""
    include_nulls: bool = False
    sort_by: list[str] = field(default_factory=lambda: [])
    order_by: list[str] = field(default_factory=lambda: [])
    expand: list[str] = field(default_factory=lambda: [])
    view: View | None = None


def list_all(call: Call) -> Answer:
    return _answer(call, 0, 0)


def list_of_project(call: Call) -> Answer:
    return _answer(call, call.number("project"), 0)


def list_of_view(call: Call) -> Answer:
    return _answer(call, call.number("project"), call.number("view"))


def flat(call: Call, project_id: int, search: str) -> list[Task]:
    """Return all tasks that fit, for the newer API."""
    asked = _asked(call)
    asked.search = search
    candidates = _candidates(call, project_id, asked)
    return find(call, asked, parse(asked.filter), candidates)


def _answer(call: Call, project_id: int, view_id: int) -> Answer:
    page = page_of(call)
    asked = _asked(call)
    candidates = _candidates(call, project_id, asked)
    if view_id:
        asked.view = find_view(call, project_id, view_id)
        _narrow(asked, asked.view.filter or {})
    group = parse(asked.filter)
    if asked.view and asked.view.mode != "none" and "bucket_id" not in asked.filter:
        return _answer_buckets(call, asked, asked.view, group, candidates, page)
    found = find(call, asked, group, candidates)
    return _answer_tasks(call, asked, found, page)


def _asked(call: Call) -> Asked:
    given = call.parameters
    expand = given.get("expand", [])
    if any(one not in EXPANDABLE for one in expand):
        choices = ", ".join(EXPANDABLE)
        raise Invalid("expand", message=f"Expand must be one of the following values: {choices}")
    return Asked(
        search=call.parameter("s").strip(),
        filter=call.parameter("filter"),
        timezone=call.parameter("filter_timezone"),
        include_nulls=call.flag("filter_include_nulls"),
        sort_by=given.get("sort_by", []),
        order_by=given.get("order_by", []),
        expand=expand,
    )


def find_view(call: Call, project_id: int, view_id: int) -> View:
    if project_id == FAVORITES and -3 <= view_id <= -1:
        kind = ("list", "gantt", "table")[-view_id - 1]
        only_open: Json | None = {"filter": "done = false"} if kind == "list" else None
        return View(view_id, kind.title(), FAVORITES, kind, ZERO, ZERO, filter=only_open)
    view = call.store.views.get(view_id)
    if view is None or view.project_id != project_id:
        raise Failed(NO_VIEW)
    return view


def _narrow(asked: Asked, by: Json) -> None:
    """Add the filter of a view to what was asked for."""
    if by.get("filter"):
        asked.filter = f"({asked.filter}) && ({by['filter']})" if asked.filter else by["filter"]
    asked.search = by.get("s") or asked.search
    asked.include_nulls = asked.include_nulls or bool(by.get("filter_include_nulls"))


def _candidates(call: Call, project_id: int, asked: Asked) -> Sequence[Task]:
    if project_id < FAVORITES:
        saved = call.access.filter_of(project_id)
        call.access.read_project(call.user.id, project_id, NOT_ALLOWED)
        _narrow(asked, saved.filters)
        asked.sort_by = asked.sort_by + (saved.filters.get("sort_by") or [])
        asked.order_by = asked.order_by + (saved.filters.get("order_by") or [])
        return everything(call)
    if project_id == FAVORITES:
        return _favorites(call)
    if project_id == 0:
        return everything(call)
    call.access.read_project(call.user.id, project_id, NO_ACCESS)
    return call.store.tasks_of(project_id)


def _favorites(call: Call) -> list[Task]:
    tasks = call.store.tasks
    return [tasks[one] for one in sorted(call.store.favorite_tasks[call.user.id]) if one in tasks]


def everything(call: Call) -> list[Task]:
    """Return all tasks that a user may see, but those of archived projects unless they are favourites."""
    projects, favorites = call.store.projects, call.store.favorite_tasks[call.user.id]
    visible = {one for one in call.access.visible(call.user.id) if not projects[one].is_archived}
    tasks = call.store.tasks.values()
    return [task for task in tasks if task.project_id in visible or task.id in favorites]


def find(call: Call, asked: Asked, group: Group | None, candidates: Sequence[Task]) -> list[Task]:
    """Return the tasks that fit, in order."""
    keys = _sort_keys(asked)
    tests: list[Callable[[Task], bool]] = []
    if group:
        tests.append(make_test(group, filter_context(call, asked)))
    if asked.search:
        tests.append(_search(asked.search))
    found = [task for task in candidates if all(test(task) for test in tests)]
    for key, is_descending in reversed(keys):
        _sort(found, key, is_descending, asked.view)
    return found


def filter_context(call: Call, asked: Asked) -> FilterContext:
    zone = zone_of(asked.timezone)
    if zone is None:
        raise Failed(BAD_ZONE, asked.timezone)
    users = call.store.users

    def username(user_id: int) -> str:
        return users[user_id].username

    return FilterContext(
        now=call.clock.now(),
        zone=zone or UTC,
        usernames=username,
        bucket=_bucket_finder(call, asked.view),
        include_nulls=asked.include_nulls,
    )


def _bucket_finder(call: Call, view: View | None) -> Callable[[int], int | None]:
    if view:
        return view.buckets.get
    anywhere = {task: bucket for one in call.store.views.values() for task, bucket in one.buckets.items()}
    return anywhere.get


def _search(text: str) -> Callable[[Task], bool]:
    """Search titles and descriptions. `#12` finds tasks with that number, too."""
    in_title, in_description = like(text, lambda task: task.title), like(text, lambda task: task.description)
    index = int(found[1]) if (found := _INDEX.search(text)) else 0
    return lambda task: in_title(task) or in_description(task) or (index > 0 and task.index == index)


def _sort_keys(asked: Asked) -> list[tuple[str, bool]]:
    keys: list[tuple[str, bool]] = []
    for place, name in enumerate(asked.sort_by):
        order = asked.order_by[place] if place < len(asked.order_by) else "asc"
        if order not in ("asc", "desc"):
            raise Failed(BAD_ORDER)
        if name == "position" and asked.view is None:
            raise Failed(NO_POSITION)
        if name == "relevance":
            continue
        if name not in SORTABLE:
            raise Failed(BAD_FIELD, name)
        keys.append((name, order == "desc"))
    if asked.view and not any(name == "position" for name, _ in keys):
        keys.append(("position", False))
    if not keys or keys[-1][0] != "id":
        keys.append(("id", False))
    return keys


def _sort(tasks: list[Task], name: str, is_descending: bool, view: View | None) -> None:
    """Sort by one field. What is not set comes last, whichever the direction."""
    if name == "position":
        at = view.positions if view else {}
        tasks.sort(key=lambda task: at.get(task.id, float("inf")), reverse=is_descending)
    elif name == "bucket_id":
        at = view.buckets if view else {}
        tasks.sort(key=lambda task: at.get(task.id, 0), reverse=is_descending)
    else:
        tasks.sort(key=lambda task: getattr(task, name), reverse=is_descending)
        if name in DATES:
            tasks.sort(key=lambda task: getattr(task, name) == ZERO)


def _answer_tasks(call: Call, asked: Asked, found: list[Task], page: Page) -> Answer:
    shaper = TaskShaper(call.world, call.user, asked.expand, asked.view)
    if "subtasks" in asked.expand:
        found = _without_parents(call, found)
    shown = list(page.of(found))
    total = len(found)
    if "subtasks" in asked.expand:
        shown = _with_subtasks(call, shown)
    buckets = asked.view.buckets if asked.view and names_bucket(parse(asked.filter)) else {}
    shapes = [shaper.shape(task, buckets.get(task.id, 0)) for task in shown]
    return answer_items(shapes, len(shapes), total, page)


def _without_parents(call: Call, found: list[Task]) -> list[Task]:
    ids = {task.id for task in found}
    return [
        task
        for task in found
        if not any(kind == "parenttask" and other in ids for kind, other in task.relations)
    ]


def _with_subtasks(call: Call, roots: list[Task]) -> list[Task]:
    """Add all subtasks, and theirs: the page gets longer than was asked for."""
    visible = call.access.visible(call.user.id)
    shown = {task.id: task for task in roots}
    waiting = list(roots)
    while waiting:
        for kind, other_id in waiting.pop(0).relations:
            other = call.store.tasks.get(other_id)
            if kind == "subtask" and other and other.id not in shown and other.project_id in visible:
                shown[other.id] = other
                waiting.append(other)
    return list(shown.values())


def _answer_buckets(
    call: Call, asked: Asked, view: View, group: Group | None, candidates: Sequence[Task], page: Page
) -> Answer:
    """Answer with the buckets of a kanban view: each with a page of its tasks and the count of all of them."""
    shaper = TaskShaper(call.world, call.user, asked.expand, view)
    ordered = replace(asked, sort_by=[], order_by=[])
    shapes: list[Json] = []
    if view.mode == "filter":
        shapes = _filter_buckets(call, ordered, view, candidates, page, shaper)
        return answer_items(shapes, len(shapes), len(shapes), page)
    found = find(call, ordered, group, candidates)
    for bucket in call.store.buckets_of(view.id):
        inside = [task for task in found if view.buckets.get(task.id) == bucket.id]
        tasks = [shaper.shape(task, bucket.id) for task in page.of(inside)]
        shapes.append(bucket_shape(call.store, bucket, tasks, len(inside)))
    return answer_items(shapes, len(shapes), len(shapes), page)


def _filter_buckets(
    call: Call, asked: Asked, view: View, candidates: Sequence[Task], page: Page, shaper: TaskShaper
) -> list[Json]:
    """Return the buckets of a view that sorts its tasks by filters. Their ids are their places."""
    shapes: list[Json] = []
    for place, configured in enumerate(view.configuration or []):
        own = replace(asked)
        _narrow(own, configured.get("filter") or {})
        inside = find(call, own, parse(own.filter), candidates)
        tasks = [shaper.shape(task, place) for task in page.of(inside)]
        shapes.append(
            {
                "id": place,
                "title": configured.get("title", ""),
                "project_view_id": view.id,
                **({"tasks": tasks} if tasks else {}),
                "limit": 0,
                "count": len(inside),
                "position": place,
                "created": call.now(),
                "updated": call.now(),
                "created_by": shaper.user(call.user.id),
            }
        )
    return shapes
