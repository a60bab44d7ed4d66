"""Who may do what: permissions on projects, and what follows from them."""

from functools import lru_cache

from brimgate.sandboxes.vikunja.errors import (
    ARCHIVED,
    FORBIDDEN,
    NO_FILTER,
    NO_PROJECT,
    NO_TASK,
    NOT_ALLOWED,
    UNSEEN,
    Failed,
    Problem,
)
from brimgate.sandboxes.vikunja.store import ADMIN, FAVORITES, READ, WRITE, Project, SavedFilter, Store, Task

_MOST_CACHED = 4_096


class Access:
    """Permissions of users on projects. They are cached until something is shared or moved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._permission = lru_cache(maxsize=_MOST_CACHED)(self._find_permission)
        self._visible = lru_cache(maxsize=_MOST_CACHED)(self._find_visible)

    def permission(self, user_id: int, project_id: int) -> int | None:
        """Return the permission on a real project, or None if it is foreign."""
        return self._permission(user_id, project_id, self._store.version)

    def visible(self, user_id: int) -> frozenset[int]:
        """Return the ids of all real projects that a user may read, archived ones too."""
        return self._visible(user_id, self._store.version)

    def _find_permission(self, user_id: int, project_id: int, _: int) -> int | None:
        nearest: int | None = None
        for project in self._store.ancestors(project_id):
            if project.owner_id == user_id:
                return ADMIN
            if nearest is None:
                nearest = self._shared(user_id, project.id)
        return nearest

    def _shared(self, user_id: int, project_id: int) -> int | None:
        """Return what is shared with the user on this very project, directly or through teams."""
        shares = [
            share.permission
            for (project, team), share in self._store.team_shares.items()
            if project == project_id and user_id in self._store.teams[team].members
        ]
        if share := self._store.user_shares.get((project_id, user_id)):
            shares.append(share.permission)
        return max(shares, default=None)

    def _find_visible(self, user_id: int, version: int) -> frozenset[int]:
        projects = self._store.projects
        return frozenset(one for one in projects if self._permission(user_id, one, version) is not None)

    def readers(self, project_id: int) -> set[int]:
        return {one for one in self._store.users if self.permission(one, project_id) is not None}

    def filter_of(self, project_id: int) -> SavedFilter:
        """Return the saved filter behind a pseudo project."""
        found = self._store.filters.get(-project_id - 1)
        if found is None:
            raise Failed(NO_FILTER)
        return found

    def read_project(self, user_id: int, project_id: int, unseen: Problem = UNSEEN) -> int:
        """Return the permission on a project, real or pseudo. Refuse what is foreign or does not exist."""
        if project_id == FAVORITES:
            return READ
        if project_id < FAVORITES:
            if self.filter_of(project_id).owner_id != user_id:
                raise Failed(unseen)
            return ADMIN
        self.project(project_id)
        permission = self.permission(user_id, project_id)
        if permission is None:
            raise Failed(unseen)
        return permission

    def project(self, project_id: int) -> Project:
        found = self._store.projects.get(project_id)
        if found is None:
            raise Failed(NO_PROJECT)
        return found

    def write_project(self, user_id: int, project_id: int, forbidden: Problem = FORBIDDEN) -> Project:
        """Return a project that the user may write to. An archived one is refused to everyone."""
        if project_id < 1:
            raise Failed(forbidden)
        project = self.project(project_id)
        if project.is_archived:
            raise Failed(ARCHIVED)
        self._require(user_id, project_id, WRITE, forbidden)
        return project

    def administer_project(self, user_id: int, project_id: int) -> Project:
        if project_id < 0:
            raise Failed(FORBIDDEN)
        project = self.project(project_id)
        self._require(user_id, project_id, ADMIN, FORBIDDEN)
        return project

    def _require(self, user_id: int, project_id: int, least: int, forbidden: Problem) -> None:
        permission = self.permission(user_id, project_id)
        if permission is None or permission < least:
            raise Failed(forbidden)

    def task(self, task_id: int) -> Task:
        found = self._store.tasks.get(task_id)
        if found is None:
            raise Failed(NO_TASK)
        return found

    def read_task(self, user_id: int, task_id: int, unseen: Problem = UNSEEN) -> Task:
        task = self.task(task_id)
        self.read_project(user_id, task.project_id, unseen)
        return task

    def write_task(self, user_id: int, task_id: int, target_id: int = 0) -> Task:
        """Return a task that the user may change, and move to the target if one is given."""
        task = self.task(task_id)
        if target_id not in (0, task.project_id):
            self.write_project(user_id, target_id, NOT_ALLOWED)
        self.write_project(user_id, task.project_id)
        return task

    def sees_label(self, user_id: int, label_id: int) -> bool:
        label = self._store.labels.get(label_id)
        if label is None:
            return False
        return label.created_by_id == user_id or label_id in self.seen_labels(user_id)

    def seen_labels(self, user_id: int) -> set[int]:
        """Return the labels on all tasks that a user may see."""
        visible = self.visible(user_id)
        return {
            label
            for task in self._store.tasks.values()
            if task.labels and task.project_id in visible
            for label in task.labels
        }
