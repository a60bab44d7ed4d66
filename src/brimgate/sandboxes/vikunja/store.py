"""Everything the server keeps, in memory: rows as in its database, and what is looked up often."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from brimgate.sandboxes.vikunja.dates import ZERO

Json = dict[str, Any]
READ, WRITE, ADMIN = 0, 1, 2
FAVORITES: Final = -1
"""The id of the pseudo project that holds a user's favourite tasks."""
SPACE: Final = 65_536.0
"""Between the positions that the server hands out."""


@dataclass(slots=True)
class User:
    id: int
    username: str
    name: str
    email: str
    created: str
    password: str = ""
    is_found_by_name: bool = False
    is_found_by_email: bool = False
    default_project_id: int = 0


@dataclass(slots=True)
class Project:
    id: int
    title: str
    owner_id: int
    created: str
    updated: str
    description: str = ""
    identifier: str = ""
    hex_color: str = ""
    parent_id: int = 0
    is_archived: bool = False
    position: float = 0.0
    last_index: int = 0
    """Of any task it ever had: numbers of deleted ones are not used again."""


@dataclass(slots=True)
class View:
    id: int
    title: str
    project_id: int
    kind: str
    created: str
    updated: str
    filter: Json | None = None
    position: float = 0.0
    mode: str = "none"
    configuration: list[Json] | None = None
    default_bucket_id: int = 0
    done_bucket_id: int = 0
    positions: dict[int, float] = field(default_factory=lambda: {})
    """Of tasks, by id."""
    buckets: dict[int, int] = field(default_factory=lambda: {})
    """The bucket of each task."""


@dataclass(slots=True)
class Bucket:
    id: int
    title: str
    view_id: int
    created_by_id: int
    created: str
    updated: str
    limit: int = 0
    position: float = 0.0


@dataclass(slots=True)
class Reminder:
    reminder: str
    relative_period: int = 0
    relative_to: str = ""


@dataclass(slots=True)
class Task:
    id: int
    project_id: int
    index: int
    title: str
    created_by_id: int
    created: str
    updated: str
    description: str = ""
    done: bool = False
    done_at: str = ZERO
    due_date: str = ZERO
    start_date: str = ZERO
    end_date: str = ZERO
    repeat_after: int = 0
    repeat_mode: int = 0
    priority: int = 0
    percent_done: float = 0.0
    hex_color: str = ""
    uid: str = ""
    cover_image_attachment_id: int = 0
    reminders: list[Reminder] = field(default_factory=lambda: [])
    assignees: list[int] = field(default_factory=lambda: [])
    labels: list[int] = field(default_factory=lambda: [])
    relations: list[tuple[str, int]] = field(default_factory=lambda: [])
    attachments: list[int] = field(default_factory=lambda: [])
    comments: list[int] = field(default_factory=lambda: [])


@dataclass(slots=True)
class Label:
    id: int
    title: str
    created_by_id: int
    created: str
    updated: str
    description: str = ""
    hex_color: str = ""


@dataclass(slots=True)
class Comment:
    id: int
    task_id: int
    author_id: int
    comment: str
    created: str
    updated: str


@dataclass(slots=True)
class Attachment:
    id: int
    task_id: int
    created_by_id: int
    created: str
    file_id: int
    name: str
    mime: str
    content: bytes


@dataclass(slots=True)
class Team:
    id: int
    name: str
    created_by_id: int
    created: str
    updated: str
    description: str = ""
    is_public: bool = False
    members: dict[int, bool] = field(default_factory=lambda: {})
    """Whether each is an admin of the team."""


@dataclass(slots=True)
class Share:
    id: int
    permission: int
    created: str
    updated: str


@dataclass(slots=True)
class SavedFilter:
    id: int
    title: str
    owner_id: int
    filters: Json
    created: str
    updated: str
    description: str = ""
    is_favorite: bool = False

    @property
    def project_id(self) -> int:
        return -self.id - 1


@dataclass(slots=True)
class Notification:
    id: int
    user_id: int
    name: str
    notification: Json
    project_id: int
    created: str
    read_at: str = ZERO


@dataclass(slots=True)
class Subscription:
    id: int
    user_id: int
    entity: str
    entity_id: int
    created: str


@dataclass(slots=True)
class Reaction:
    user_id: int
    kind: str
    entity_id: int
    value: str
    created: str


class Store:
    """The rows of every table by id. Ids only grow: what is deleted leaves a gap."""

    def __init__(self) -> None:
        self._last: defaultdict[str, int] = defaultdict(int)
        self.users: dict[int, User] = {}
        self.projects: dict[int, Project] = {}
        self.views: dict[int, View] = {}
        self.buckets: dict[int, Bucket] = {}
        self.tasks: dict[int, Task] = {}
        self.labels: dict[int, Label] = {}
        self.comments: dict[int, Comment] = {}
        self.attachments: dict[int, Attachment] = {}
        self.teams: dict[int, Team] = {}
        self.filters: dict[int, SavedFilter] = {}
        self.notifications: dict[int, Notification] = {}
        self.subscriptions: dict[int, Subscription] = {}
        self.reactions: list[Reaction] = []
        self.user_shares: dict[tuple[int, int], Share] = {}
        """By project and user."""
        self.team_shares: dict[tuple[int, int], Share] = {}
        """By project and team."""
        self.favorite_tasks: defaultdict[int, set[int]] = defaultdict(set)
        self.favorite_projects: defaultdict[int, set[int]] = defaultdict(set)
        self.unread: set[tuple[int, int]] = set()
        """Tasks that a user has not looked at since a mention: user and task."""
        self.version = 0
        """Grows with whatever may change who sees what."""

    def new_id(self, table: str) -> int:
        self._last[table] += 1
        return self._last[table]

    def user_named(self, username: str) -> User | None:
        wanted = username.lower()
        return next((user for user in self.users.values() if user.username.lower() == wanted), None)

    def children(self, project_id: int) -> Iterator[Project]:
        return (project for project in self.projects.values() if project.parent_id == project_id)

    def descendants(self, project_id: int) -> Iterator[Project]:
        for child in self.children(project_id):
            yield child
            yield from self.descendants(child.id)

    def ancestors(self, project_id: int) -> Iterator[Project]:
        """Yield the project itself, then its parent, up to the top."""
        seen: set[int] = set()
        while (project := self.projects.get(project_id)) and project.id not in seen:
            seen.add(project.id)
            yield project
            project_id = project.parent_id

    def views_of(self, project_id: int) -> list[View]:
        views = [view for view in self.views.values() if view.project_id == project_id]
        return sorted(views, key=lambda view: view.position)

    def buckets_of(self, view_id: int) -> list[Bucket]:
        buckets = [bucket for bucket in self.buckets.values() if bucket.view_id == view_id]
        return sorted(buckets, key=lambda bucket: (bucket.position, bucket.id))

    def tasks_of(self, project_id: int) -> list[Task]:
        return [task for task in self.tasks.values() if task.project_id == project_id]
