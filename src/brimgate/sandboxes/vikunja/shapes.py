"""The JSON of every object, with the fields in the order of the real structures."""

from collections.abc import Iterable
from typing import Any

from brimgate.sandboxes.vikunja.calls import Call, World
from brimgate.sandboxes.vikunja.dates import ZERO
from brimgate.sandboxes.vikunja.store import (
    FAVORITES,
    Attachment,
    Bucket,
    Comment,
    Label,
    Project,
    SavedFilter,
    Store,
    Subscription,
    Task,
    Team,
    User,
    View,
)
from brimgate.sandboxes.vikunja.wire import number

Json = dict[str, Any]
MOST_EXPANDED_COMMENTS = 50


def user_shape(user: User | None) -> Json | None:
    """Return a user as others see one: without an e-mail address."""
    if user is None:
        return None
    return {
        "id": user.id,
        "name": user.name,
        "username": user.username,
        "created": user.created,
        "updated": user.created,
    }


def label_shape(store: Store, label: Label) -> Json:
    return {
        "id": label.id,
        "title": label.title,
        "description": label.description,
        "hex_color": label.hex_color,
        "created_by": user_shape(store.users.get(label.created_by_id)),
        "created": label.created,
        "updated": label.updated,
    }


def comment_shape(store: Store, comment: Comment) -> Json:
    return {
        "id": comment.id,
        "comment": comment.comment,
        "author": user_shape(store.users.get(comment.author_id)),
        "reactions": reactions_shape(store, "comments", comment.id),
        "created": comment.created,
        "updated": comment.updated,
    }


def reactions_shape(store: Store, kind: str, entity_id: int) -> Json | None:
    found: Json = {}
    for one in store.reactions:
        if one.kind == kind and one.entity_id == entity_id:
            found.setdefault(one.value, []).append(user_shape(store.users[one.user_id]))
    return found or None


def attachment_shape(store: Store, attachment: Attachment) -> Json:
    return {
        "id": attachment.id,
        "task_id": attachment.task_id,
        "created_by": user_shape(store.users.get(attachment.created_by_id)),
        "file": {
            "id": attachment.file_id,
            "name": attachment.name,
            "mime": attachment.mime,
            "size": len(attachment.content),
            "created": attachment.created,
        },
        "created": attachment.created,
    }


def bucket_shape(store: Store, bucket: Bucket, tasks: list[Json] | None = None, count: int = 0) -> Json:
    return {
        "id": bucket.id,
        "title": bucket.title,
        "project_view_id": bucket.view_id,
        **({"tasks": tasks} if tasks else {}),
        "limit": bucket.limit,
        "count": count,
        "position": number(bucket.position),
        "created": bucket.created,
        "updated": bucket.updated,
        "created_by": user_shape(store.users.get(bucket.created_by_id)),
    }


def view_shape(view: View) -> Json:
    return {
        "id": view.id,
        "title": view.title,
        "project_id": view.project_id,
        "view_kind": view.kind,
        "filter": view.filter,
        "position": number(view.position),
        "bucket_configuration_mode": view.mode,
        "bucket_configuration": view.configuration,
        "default_bucket_id": view.default_bucket_id,
        "done_bucket_id": view.done_bucket_id,
        "updated": view.updated,
        "created": view.created,
    }


def team_shape(store: Store, team: Team) -> Json:
    members = [(store.users[one], is_admin) for one, is_admin in team.members.items()]
    return {
        "id": team.id,
        "name": team.name,
        "description": team.description,
        "external_id": "",
        "created_by": user_shape(store.users.get(team.created_by_id)),
        "members": [{**(user_shape(user) or {}), "admin": is_admin} for user, is_admin in members],
        "created": team.created,
        "updated": team.updated,
        "is_public": team.is_public,
    }


def filter_shape(store: Store, saved: SavedFilter) -> Json:
    return {
        "id": saved.id,
        "filters": saved.filters,
        "title": saved.title,
        "description": saved.description,
        "owner": user_shape(store.users.get(saved.owner_id)),
        "is_favorite": saved.is_favorite,
        "created": saved.created,
        "updated": saved.updated,
    }


def subscription_shape(subscription: Subscription) -> Json:
    return {
        "id": subscription.id,
        "entity": subscription.entity,
        "entity_id": subscription.entity_id,
        "created": subscription.created,
    }


def subscription_of(store: Store, user: User, entity: str, entity_id: int) -> Subscription | None:
    """Return the subscription to a task or project; one to a project counts for what is below it."""
    project_id = store.tasks[entity_id].project_id if entity == "task" else entity_id
    wanted = [(entity, entity_id)]
    wanted += [("project", project.id) for project in store.ancestors(project_id)]
    mine = {
        (one.entity, one.entity_id): one for one in store.subscriptions.values() if one.user_id == user.id
    }
    return next((mine[one] for one in wanted if one in mine), None)


def project_shape(store: Store, user: User, project: Project, permission: int | None) -> Json:
    followed = subscription_of(store, user, "project", project.id)
    return {
        "id": project.id,
        "title": project.title,
        "description": project.description,
        "identifier": project.identifier,
        "hex_color": project.hex_color,
        "parent_project_id": project.parent_id,
        "owner": user_shape(store.users.get(project.owner_id)),
        "is_archived": project.is_archived,
        "background_information": None,
        "background_blur_hash": "",
        "is_favorite": project.id in store.favorite_projects[user.id],
        **({"subscription": subscription_shape(followed)} if followed else {}),
        "position": number(project.position),
        "views": [view_shape(view) for view in store.views_of(project.id)],
        "max_permission": permission,
        "created": project.created,
        "updated": project.updated,
    }


def bare_task(task: Task) -> Json:
    """Return a task as its row has it: related tasks look so, and the answer to a change."""
    return {
        "id": task.id,
        "title": task.title,
        "description": task.description,
        "done": task.done,
        "done_at": task.done_at,
        "due_date": task.due_date,
        "reminders": None,
        "project_id": task.project_id,
        "repeat_after": task.repeat_after,
        "repeat_mode": task.repeat_mode,
        "priority": task.priority,
        "start_date": task.start_date,
        "end_date": task.end_date,
        "assignees": None,
        "labels": None,
        "hex_color": task.hex_color,
        "percent_done": number(task.percent_done),
        "identifier": "",
        "index": task.index,
        "related_tasks": None,
        "attachments": None,
        "cover_image_attachment_id": task.cover_image_attachment_id,
        "is_favorite": False,
        "created": task.created,
        "updated": task.updated,
        "bucket_id": 0,
        "position": 0,
        "reactions": None,
        "created_by": None,
    }


def reminders_shape(task: Task) -> list[Json] | None:
    return [
        {
            "reminder": one.reminder,
            "relative_period": one.relative_period,
            "relative_to": one.relative_to,
        }
        for one in task.reminders
    ] or None


def identifier_of(store: Store, task: Task) -> str:
    project = store.projects.get(task.project_id)
    return f"{project.identifier}-{task.index}" if project and project.identifier else f"#{task.index}"


class TaskShaper:
    """Makes the JSON of tasks for one caller. Users and labels are made once and stand in many tasks."""

    def __init__(
        self, world: World, user: User, expand: Iterable[str] = (), view: View | None = None
    ) -> None:
        self._store, self._access, self._user = world.store, world.access, user
        self._expand, self._view = frozenset(expand), view
        self._users: dict[int, Json | None] = {}
        self._labels: dict[int, Json] = {}
        self._visible = self._access.visible(user.id)
        self._favorites = self._store.favorite_tasks[user.id]

    @classmethod
    def of(cls, call: Call) -> "TaskShaper":
        return cls(call.world, call.user)

    def shape(self, task: Task, bucket_id: int = 0) -> Json:
        store = self._store
        shape = bare_task(task)
        shape["reminders"] = reminders_shape(task)
        shape["assignees"] = [self.user(one) for one in task.assignees] or None
        shape["labels"] = [self._label_of(one) for one in sorted(task.labels)] or None
        shape["identifier"] = identifier_of(store, task)
        shape["related_tasks"] = self._related(task)
        shape["attachments"] = [
            attachment_shape(store, store.attachments[one]) for one in task.attachments
        ] or None
        shape["is_favorite"] = task.id in self._favorites
        shape["bucket_id"] = bucket_id
        if self._view:
            shape["position"] = number(self._view.positions.get(task.id, 0))
        shape["created_by"] = self.user(task.created_by_id)
        return self._expanded(task, shape) if self._expand else shape

    def user(self, user_id: int) -> Json | None:
        if user_id not in self._users:
            self._users[user_id] = user_shape(self._store.users.get(user_id))
        return self._users[user_id]

    def _label_of(self, label_id: int) -> Json:
        if label_id not in self._labels:
            self._labels[label_id] = label_shape(self._store, self._store.labels[label_id])
        return self._labels[label_id]

    def _related(self, task: Task) -> Json:
        """Group related tasks by kind. Those that the caller may not see are left out."""
        related: Json = {}
        for kind, other_id in task.relations:
            other = self._store.tasks.get(other_id)
            if other and other.project_id in self._visible:
                shape = bare_task(other) | {"is_favorite": other.id in self._favorites}
                related.setdefault(kind, []).append(shape)
        return dict(sorted(related.items()))  # Go writes the keys of a map in order

    def _expanded(self, task: Task, shape: Json) -> Json:
        more: Json = {}
        if "buckets" in self._expand:
            more["buckets"] = self._buckets(task)
        if "comments" in self._expand:
            shown = task.comments[:MOST_EXPANDED_COMMENTS]
            more["comments"] = [comment_shape(self._store, self._store.comments[one]) for one in shown]
        shape |= {name: found for name, found in more.items() if found}
        if "comment_count" in self._expand:
            shape["comment_count"] = len(task.comments)
        if "time_entries_count" in self._expand:
            shape["time_entries_count"] = 0
        if "reactions" in self._expand:
            shape["reactions"] = reactions_shape(self._store, "tasks", task.id)
        if "is_unread" in self._expand and (self._user.id, task.id) in self._store.unread:
            shape["is_unread"] = True
        return shape

    def _buckets(self, task: Task) -> list[Json]:
        views = self._store.views_of(task.project_id)
        ids = [view.buckets[task.id] for view in views if task.id in view.buckets]
        return [bucket_shape(self._store, self._store.buckets[one]) for one in ids]


def favorites_project(user: User, now: str) -> Json:
    """Return the pseudo project of favourite tasks."""
    kinds = (("List", "list"), ("Gantt", "gantt"), ("Table", "table"))
    views = [
        View(-place, title, FAVORITES, kind, ZERO, ZERO, position=100.0 * place)
        for place, (title, kind) in enumerate(kinds, 1)
    ]
    views[0].filter = collection("done = false")
    return _pseudo_project(FAVORITES, "Favorites", "This project has all tasks marked as favorites.", now) | {
        "is_favorite": True,
        "position": -1,
        "views": [view_shape(view) for view in views],
    }


def filter_project(store: Store, saved: SavedFilter) -> Json:
    """Return the pseudo project of a saved filter."""
    shape = _pseudo_project(saved.project_id, saved.title, saved.description, saved.created)
    return shape | {
        "owner": user_shape(store.users.get(saved.owner_id)),
        "is_favorite": saved.is_favorite,
        "views": [view_shape(view) for view in store.views_of(saved.project_id)],
        "updated": saved.updated,
    }


def _pseudo_project(project_id: int, title: str, description: str, created: str) -> Json:
    return {
        "id": project_id,
        "title": title,
        "description": description,
        "identifier": "",
        "hex_color": "",
        "parent_project_id": 0,
        "owner": None,
        "is_archived": False,
        "background_information": None,
        "background_blur_hash": "",
        "is_favorite": False,
        "position": 0,
        "views": None,
        "max_permission": None,
        "created": created,
        "updated": created,
    }


def collection(filter_text: str = "") -> Json:
    """Return the settings of a list as views and saved filters keep them."""
    return {
        "s": "",
        "sort_by": None,
        "order_by": None,
        "filter": filter_text,
        "filter_include_nulls": False,
    }
