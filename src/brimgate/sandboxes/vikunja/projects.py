"""Projects, and the pseudo projects of favourites and saved filters."""

import copy
from typing import Any, Final

from brimgate.sandboxes.vikunja import boards
from brimgate.sandboxes.vikunja.bodies import (
    FLAG,
    REAL,
    TEXT,
    WHOLE,
    Fields,
    hex_color,
    limit_length,
    require,
)
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import (
    ARCHIVED,
    DEFAULT_ARCHIVED,
    DEFAULT_DELETED,
    FORBIDDEN,
    IDENTIFIER_TAKEN,
    NO_PROJECT,
    NOT_ALLOWED,
    OWN_CHILD,
    PARENT_ARCHIVED,
    PROJECT_CYCLE,
    PSEUDO_PARENT,
    Failed,
)
from brimgate.sandboxes.vikunja.paging import answer_items, page_of
from brimgate.sandboxes.vikunja.shapes import favorites_project, filter_project, project_shape, user_shape
from brimgate.sandboxes.vikunja.store import ADMIN, FAVORITES, SPACE, WRITE, Project
from brimgate.sandboxes.vikunja.tasks import remove
from brimgate.sandboxes.vikunja.wire import answer_json, answer_one, deleted
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
_PROJECT: Final[Fields] = {
    "title": TEXT,
    "description": TEXT,
    "identifier": TEXT,
    "hex_color": TEXT,
    "parent_project_id": WHOLE,
    "is_archived": FLAG,
    "is_favorite": FLAG,
    "position": REAL,
}


def list_projects(call: Call) -> Answer:
    """List projects. Favourites and saved filters stand at the end of every page, even of one past the last."""
    page, found = page_of(call), _found(call)
    shows_permission = call.parameter("expand") == "permissions"
    shapes = [
        project_shape(call.store, call.user, one, _permission(call, one) if shows_permission else None)
        for one in page.of(found)
    ]
    total = len(found) if shapes else 0
    if call.store.favorite_tasks[call.user.id]:
        shapes.append(favorites_project(call.user, call.now()))
    count = len(shapes)
    search = call.parameter("s").lower()
    shapes += [
        filter_project(call.store, saved) | ({"max_permission": ADMIN} if shows_permission else {})
        for saved in call.store.filters.values()
        if saved.owner_id == call.user.id and search in saved.title.lower()
    ]
    return answer_items(shapes, count, total, page)


def _permission(call: Call, project: Project) -> int | None:
    return call.access.permission(call.user.id, project.id)


def _found(call: Call) -> list[Project]:
    shows_archived, search = call.flag("is_archived"), call.parameter("s")
    projects = [call.store.projects[one] for one in call.access.visible(call.user.id)]
    projects = [one for one in projects if shows_archived or not one.is_archived]
    if search:
        ids = {int(part) for part in search.split(",") if part.isascii() and part.isdecimal()}
        wanted = search.lower()
        projects = [
            one
            for one in projects
            if (
                one.id in ids
                if ids
                else wanted in f"{one.title}\0{one.description}\0{one.identifier}".lower()
            )
        ]
    return sorted(projects, key=lambda one: (one.position, one.id))


def read_one(call: Call) -> Answer:
    project_id = call.number("project")
    permission = call.access.read_project(call.user.id, project_id)
    return answer_one(_shape(call, project_id), permission)


def _shape(call: Call, project_id: int) -> Json:
    """Return one project. Its max_permission is always 0 there: the real server tells it in the header only."""
    if project_id == FAVORITES:
        shape = favorites_project(call.user, call.now()) | {"owner": user_shape(call.user)}
        return shape | {"max_permission": 0}
    if project_id < FAVORITES:
        return filter_project(call.store, call.access.filter_of(project_id)) | {"max_permission": 0}
    return project_shape(call.store, call.user, call.store.projects[project_id], 0)


def _read(call: Call) -> Json:
    told = call.body(_PROJECT)
    require(told, "title")
    for name, most in (("title", 250), ("identifier", 10), ("hex_color", 7)):
        limit_length(told, name, 0 if name != "title" else 1, most)
    told["identifier"] = told["identifier"].upper()
    return told


def create(call: Call) -> Answer:
    told = _read(call)
    parent_id, store, now = told["parent_project_id"], call.store, call.now()
    if parent_id > 0:
        call.access.write_project(call.user.id, parent_id)
    _check(call, 0, parent_id, told["identifier"])
    project = Project(store.new_id("projects"), told["title"], call.user.id, now, now)
    project.description, project.identifier = told["description"], told["identifier"]
    project.hex_color, project.parent_id = hex_color(told["hex_color"]), parent_id
    project.is_archived, project.position = told["is_archived"], told["position"] or project.id * SPACE
    store.projects[project.id] = project
    store.version += 1
    if told["is_favorite"]:
        store.favorite_projects[call.user.id].add(project.id)
    boards.make_default_views(store, project.id, call.user.id, now, only_open=True)
    return answer_json(201, project_shape(store, call.user, project, 0))


def _check(call: Call, project_id: int, parent_id: int, identifier: str) -> None:
    """Check what holds among projects: no cycles, and no identifier twice."""
    if parent_id < 0:
        raise Failed(PSEUDO_PARENT)
    if parent_id > 0:
        if parent_id == project_id:
            raise Failed(OWN_CHILD)
        call.access.project(parent_id)
        if any(one.id == project_id for one in call.store.ancestors(parent_id)):
            raise Failed(PROJECT_CYCLE)
    taken = [one.id for one in call.store.projects.values() if identifier and one.identifier == identifier]
    if any(one != project_id for one in taken):
        raise Failed(IDENTIFIER_TAKEN)


def update(call: Call) -> Answer:
    """Change a project. What is not sent becomes empty, but for the parent and the description."""
    told, project_id = _read(call), call.number("project")
    if project_id == FAVORITES:
        raise Failed(FORBIDDEN)
    if project_id < FAVORITES:
        return _update_filter(call, told, project_id)
    project = call.access.project(project_id)
    parent_id = (
        told["parent_project_id"] if call.told.get("parent_project_id") is not None else project.parent_id
    )
    _may_update(call, project, told, parent_id)
    _check(call, project_id, parent_id, told["identifier"])
    _check_move(call, project, told, parent_id)
    if told["is_archived"] != project.is_archived:
        for one in call.store.descendants(project_id):
            one.is_archived = told["is_archived"]
    project.title, project.is_archived, project.parent_id = told["title"], told["is_archived"], parent_id
    project.identifier, project.hex_color = told["identifier"], hex_color(told["hex_color"])
    project.description = told["description"] or project.description
    project.position = told["position"] or project.id * SPACE
    project.updated = call.now()
    _set_favorite(call, project, told["is_favorite"])
    call.store.version += 1
    return answer_json(200, _shape(call, project_id))


def _may_update(call: Call, project: Project, told: Json, parent_id: int) -> None:
    if parent_id > 0 and parent_id != project.parent_id:
        call.access.write_project(call.user.id, parent_id, NOT_ALLOWED)
    permission = _permission(call, project)
    if permission is None or permission < WRITE:
        raise Failed(FORBIDDEN)
    if project.is_archived and told["is_archived"]:
        raise Failed(ARCHIVED)


def _check_move(call: Call, project: Project, told: Json, parent_id: int) -> None:
    parent = call.store.projects.get(parent_id)
    if parent_id != project.parent_id:
        for one in (project.id, parent_id):
            if one and (call.access.permission(call.user.id, one) or 0) < ADMIN:
                raise Failed(NOT_ALLOWED)
        if parent and parent.is_archived:
            raise Failed(PARENT_ARCHIVED)
    if project.is_archived and not told["is_archived"] and parent and parent.is_archived:
        raise Failed(PARENT_ARCHIVED)
    if told["is_archived"] and _is_default(call, project.id):
        raise Failed(DEFAULT_ARCHIVED)


def _is_default(call: Call, project_id: int) -> bool:
    return any(user.default_project_id == project_id for user in call.store.users.values())


def _set_favorite(call: Call, project: Project, is_favorite: bool) -> None:
    favorites = call.store.favorite_projects[call.user.id]
    if is_favorite:
        favorites.add(project.id)
    else:
        favorites.discard(project.id)


def _update_filter(call: Call, told: Json, project_id: int) -> Answer:
    call.access.read_project(call.user.id, project_id, FORBIDDEN)
    saved = call.access.filter_of(project_id)
    saved.title, saved.description = told["title"], told["description"]
    saved.is_favorite, saved.updated = told["is_favorite"], call.now()
    return answer_json(200, filter_project(call.store, saved) | {"max_permission": 0})


def delete(call: Call) -> Answer:
    project = call.access.administer_project(call.user.id, call.number("project"))
    if _is_default(call, project.id) and project.owner_id != call.user.id:
        raise Failed(DEFAULT_DELETED)
    for one in [project, *call.store.descendants(project.id)]:
        _remove(call, one)
    call.store.version += 1
    return deleted()


def _remove(call: Call, project: Project) -> None:
    store = call.store
    for task in store.tasks_of(project.id):
        remove(call, task)
    for view in store.views_of(project.id):
        for bucket in store.buckets_of(view.id):
            del store.buckets[bucket.id]
        del store.views[view.id]
    for shares in (store.user_shares, store.team_shares):
        for key in [key for key in shares if key[0] == project.id]:
            del shares[key]
    store.projects.pop(project.id, None)


def duplicate(call: Call) -> Answer:
    """Copy a project with its tasks. Comments, relations and shares are not copied."""
    told = call.body({"parent_project_id": WHOLE, "duplicate_shares": FLAG})
    original = call.access.project(call.number("project"))
    call.access.read_project(call.user.id, original.id, FORBIDDEN)
    if told["parent_project_id"]:
        call.access.write_project(call.user.id, told["parent_project_id"])
    if original.id not in call.store.projects:
        raise Failed(NO_PROJECT)
    store, now = call.store, call.now()
    project = copy.copy(original)
    project.id, project.title = store.new_id("projects"), f"{original.title} - duplicate"
    project.owner_id, project.identifier, project.parent_id = call.user.id, "", told["parent_project_id"]
    project.created, project.updated, project.position = now, now, store.new_id("places") * SPACE
    store.projects[project.id] = project
    store.version += 1
    boards.make_default_views(store, project.id, call.user.id, now, only_open=True)
    for task in store.tasks_of(original.id):
        copied = copy.deepcopy(task)
        copied.id, copied.project_id = store.new_id("tasks"), project.id
        copied.comments, copied.relations, copied.attachments = [], [], []
        copied.cover_image_attachment_id = 0
        store.tasks[copied.id] = copied
        boards.place(store, copied)
    body: Json = {"parent_project_id": project.parent_id} if project.parent_id else {}
    return answer_json(201, body | {"duplicated_project": project_shape(store, call.user, project, 0)})
