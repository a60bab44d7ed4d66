"""Make up the data: two users who share some projects and keep others to themselves, and thousands of tasks."""

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Final, NamedTuple

from brimgate.sandboxes.chance import chance_of, pick
from brimgate.sandboxes.vikunja import texts
from brimgate.sandboxes.vikunja.attachments import mime_of
from brimgate.sandboxes.vikunja.boards import make_default_views, place
from brimgate.sandboxes.vikunja.dates import ZERO, read, write
from brimgate.sandboxes.vikunja.relations import relate
from brimgate.sandboxes.vikunja.settings import MARKERS, PASSWORDS, Settings
from brimgate.sandboxes.vikunja.shapes import bare_task, collection, user_shape
from brimgate.sandboxes.vikunja.store import (
    ADMIN,
    READ,
    SPACE,
    WRITE,
    Attachment,
    Comment,
    Label,
    Notification,
    Project,
    Reminder,
    SavedFilter,
    Share,
    Store,
    Task,
    Team,
    User,
)

_DAY: Final = timedelta(days=1)
_YEARS: Final = timedelta(days=700)
_USERS: Final = (
    ("alice", "Alice Ångström"),
    ("bob", "Bob Baumgärtner"),
    ("carol", "Carol Nguyễn"),
    ("dave", "Dave O'Brien"),
    ("erin", "Erin Šimková"),
    ("frank", "Frank 田中"),
)
_COLORS: Final = ("", "", "e8e8e8", "4772fa", "ff5252", "2bab60", "ffbe0b")
_PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360f8cf500f0003860180347bd2240000000049454e44ae426082"
)
_LONG_EVERY: Final = 700
_MOST_COMMENTS: Final = 200


class Plan(NamedTuple):
    """A project to make up, and how many tasks it gets beside the others."""

    title: str
    owner: str
    identifier: str = ""
    weight: int = 1
    parent: str = ""
    marker: str = ""
    """The owner's, if nobody else may see the project."""
    is_archived: bool = False
    shared: tuple[tuple[str, int], ...] = ()
    teams: tuple[tuple[str, int], ...] = ()


def _private(owner: str, names: tuple[tuple[str, str, str, int], ...]) -> Iterator[Plan]:
    marker = MARKERS[owner]
    for name, identifier, parent, weight in names:
        above = f"{marker} {parent}" if parent else ""
        yield Plan(f"{marker} {name}", owner, identifier, weight, above, marker)
    yield Plan(f"{marker} things of last year", owner, weight=3, marker=marker, is_archived=True)


def _plans(tasks: int) -> list[Plan]:
    plans = [
        *_private(
            "alice",
            (("inbox", "", "", 14), ("household", "HOME", "", 10), ("garden", "", "household", 5),
             ("thesis", "THESIS", "", 8)),
        ),
        *_private(
            "bob",
            (("inbox", "", "", 14), ("workshop", "SHOP", "", 10), ("tools", "", "workshop", 5),
             ("novel", "NOVEL", "", 8)),
        ),
        Plan("Website relaunch", "carol", "WEB", 12, shared=(("alice", READ), ("bob", WRITE))),
        Plan("Team offsite", "alice", "OFF", 6, shared=(("bob", ADMIN), ("carol", WRITE))),
        Plan("Conference", "bob", "CONF", 7, shared=(("alice", WRITE), ("erin", READ))),
        Plan("Platform", "dave", "PLAT", 14, teams=(("Engineering", WRITE),)),
        Plan("On-call", "dave", "", 5, parent="Platform"),
        Plan("Marketing", "erin", "MKT", 6, shared=(("alice", ADMIN),)),
        Plan("Help desk", "erin", "HELP", 6, teams=(("Support", READ),)),
        Plan("Finance", "frank", "FIN", 3),
    ]  # fmt: skip
    for number in range(min(80, tasks // 35)):
        owner = ("alice", "bob", "alice", "bob", "dave")[number % 5]
        marker = MARKERS.get(owner, "")
        teams = () if marker else (("Engineering", WRITE),)
        plans.append(Plan(f"{marker} client {number + 1:02d}".strip(), owner, marker=marker, teams=teams))
    return plans


class _World:
    def __init__(self, settings: Settings) -> None:
        self.settings, self.store = settings, Store()
        self.now = read(write(settings.now))
        self.began = write(self.now - _YEARS)
        self.users: dict[str, User] = {}
        self.markers: dict[int, str] = {}
        self.labels: dict[str, list[int]] = {}


def generate(settings: Settings) -> Store:
    world = _World(settings)
    _make_users(world)
    _make_teams(world)
    plans = _plans(settings.tasks)
    made = [_make_project(world, plan) for plan in plans]
    _make_labels(world)
    weights = [plan.weight for plan in plans]
    order = chance_of(settings.seed, "order", 0).choices(made, weights, k=settings.tasks)
    for number, project in enumerate(order):
        _make_task(world, number, project)
    _make_relations(world)
    _make_filters(world)
    _make_notifications(world)
    return world.store


def _make_users(world: _World) -> None:
    for username, name in _USERS:
        user = User(world.store.new_id("users"), username, name, f"{username}@example.com", world.began)
        user.password = PASSWORDS.get(username, "")
        user.is_found_by_name = username == "erin"
        user.is_found_by_email = username == "dave"
        world.store.users[user.id] = world.users[username] = user


def _make_teams(world: _World) -> None:
    for name, members in (("Engineering", ("dave", "alice", "bob")), ("Support", ("erin", "bob"))):
        founder = world.users[members[0]]
        team = Team(world.store.new_id("teams"), name, founder.id, world.began, world.began)
        team.members = {world.users[one].id: one == members[0] for one in members}
        world.store.teams[team.id] = team


def _make_project(world: _World, plan: Plan) -> Project:
    store, owner = world.store, world.users[plan.owner]
    project = Project(store.new_id("projects"), plan.title, owner.id, world.began, world.began)
    project.identifier, project.is_archived = plan.identifier, plan.is_archived
    project.position = project.id * SPACE
    chance = chance_of(world.settings.seed, "project", project.id)
    project.hex_color = pick(chance, _COLORS)
    if chance.random() < 0.5:
        project.description = texts.description(chance, world.settings.seed, 200, plan.marker)
    if plan.parent:
        project.parent_id = next(one.id for one in store.projects.values() if one.title == plan.parent)
    store.projects[project.id] = project
    world.markers[project.id] = plan.marker
    if plan.title.endswith(" inbox"):
        owner.default_project_id = project.id
    make_default_views(store, project.id, owner.id, world.began, only_open=True)
    _share(world, project, plan)
    return project


def _share(world: _World, project: Project, plan: Plan) -> None:
    store = world.store
    for username, permission in plan.shared:
        share = Share(store.new_id("shares"), permission, world.began, world.began)
        store.user_shares[project.id, world.users[username].id] = share
    for name, permission in plan.teams:
        team = next(one.id for one in store.teams.values() if one.name == name)
        share = Share(store.new_id("shares"), permission, world.began, world.began)
        store.team_shares[project.id, team] = share


def _make_labels(world: _World) -> None:
    common = ("bug", "waiting", "idea", "legal", "nice to have", "Rückfrage", "緊急", "cost")
    for owner, marker in (("alice", MARKERS["alice"]), ("bob", MARKERS["bob"]), ("carol", "")):
        names = [f"{marker} {name}" for name in ("errand", "someday", "phone", "paper")] if marker else common
        for name in names:
            user = world.users[owner]
            label = Label(world.store.new_id("labels"), name, user.id, world.began, world.began)
            label.hex_color = pick(chance_of(world.settings.seed, "label", label.id), _COLORS)
            world.store.labels[label.id] = label
            world.labels.setdefault(marker, []).append(label.id)


def _people(world: _World, project: Project) -> list[int]:
    """Return who may see a project, without the rules: the owner, and those it or its parent is shared with."""
    store = world.store
    above = {one.id for one in store.ancestors(project.id)}
    people = [project.owner_id]
    people += [user for (one, user) in store.user_shares if one in above]
    people += [
        user for (one, team) in store.team_shares if one in above for user in store.teams[team].members
    ]
    return list(dict.fromkeys(people))


def _make_task(world: _World, number: int, project: Project) -> Task:
    settings, store, marker = world.settings, world.store, world.markers[project.id]
    chance = chance_of(settings.seed, "task", number)
    created = read(world.began) + _YEARS * ((number + chance.random()) / max(settings.tasks, 1))
    project.last_index += 1
    people = _people(world, project)
    title = texts.title(chance)
    task = Task(
        store.new_id("tasks"),
        project.id,
        project.last_index,
        f"{title} [{marker}]" if marker else title,
        pick(chance, people),
        write(created),
        write(created + chance.random() * (world.now - created)),
        uid=str(uuid.UUID(int=chance.getrandbits(128), version=4)),
    )
    size = _size(chance, number)
    if size:
        task.description = texts.description(chance, settings.seed, size, marker)
    _add_dates(chance, task, world.now)
    _add_details(chance, task, people, world.labels[marker])
    store.tasks[task.id] = task
    place(store, task)
    _spread(chance, store, task)
    _add_comments(world, chance, task, people, marker)
    if chance.random() < 0.06:
        _attach(world, chance, task)
    if chance.random() < 0.02:
        store.favorite_tasks[pick(chance, people)].add(task.id)
    return task


def _size(chance: Random, number: int) -> int:
    """Return how long a description is: a third have none, most a few hundred characters, a few 30 kB."""
    if number % _LONG_EVERY == 7:
        return 30_000
    share = chance.random()
    if share < 0.33:
        return 0
    if share < 0.8:
        return 100 + int(chance.random() * 700)
    return 1_000 + int(chance.random() * 5_000)


def _add_dates(chance: Random, task: Task, now: datetime) -> None:
    task.done = chance.random() < 0.6
    if task.done:
        task.done_at = task.updated
    share = chance.random()
    if share < 0.5:
        noon = now.replace(hour=17, minute=0, second=0)
        if share < 0.03:
            due = noon
        elif task.done:
            due = read(task.updated) + _DAY * int(chance.random() * 6 - 2)
        else:
            due = noon + _DAY * int(chance.random() * 90 - 25)
        task.due_date = write(due)
        if chance.random() < 0.25:
            task.start_date, task.end_date = write(due - 3 * _DAY), write(due)
        if chance.random() < 0.25:
            task.reminders = [Reminder(write(due - timedelta(hours=1)), -3_600, "due_date")]
        if not task.done and chance.random() < 0.1:
            task.repeat_mode = pick(chance, (0, 0, 1, 2))
            task.repeat_after = 0 if task.repeat_mode == 1 else pick(chance, (86_400, 604_800))


def _add_details(chance: Random, task: Task, people: list[int], labels: list[int]) -> None:
    task.priority = pick(chance, (0, 0, 0, 0, 1, 2, 3, 4, 5))
    task.hex_color = pick(chance, _COLORS) if chance.random() < 0.1 else ""
    if chance.random() < 0.3:
        task.percent_done = 1.0 if task.done else pick(chance, (0.1, 0.25, 0.3, 0.5, 0.75, 0.9))
    if chance.random() < 0.4:
        task.labels = sorted(chance.sample(labels, 1 + int(chance.random() * 2)))
    if chance.random() < 0.4:
        task.assignees = chance.sample(people, min(len(people), 1 + int(chance.random() * 2)))


def _spread(chance: Random, store: Store, task: Task) -> None:
    """Put some of the open tasks into the middle bucket."""
    if task.done or chance.random() > 0.3:
        return
    for view in store.views_of(task.project_id):
        if view.mode == "manual":
            view.buckets[task.id] = view.default_bucket_id + 1


def _add_comments(world: _World, chance: Random, task: Task, people: list[int], marker: str) -> None:
    count = int(chance.random() * 5) if chance.random() < 0.3 else 0
    project = world.store.projects[task.project_id]
    if project.identifier == "WEB" and task.index == 3:
        count = _MOST_COMMENTS
    at = read(task.created)
    step = (world.now - at) / (count + 1)
    for place_of in range(count):
        created = write(at + step * (place_of + 1))
        text = texts.comment(chance, world.settings.seed, marker)
        made = Comment(world.store.new_id("comments"), task.id, pick(chance, people), text, created, created)
        world.store.comments[made.id] = made
        task.comments.append(made.id)


def _attach(world: _World, chance: Random, task: Task) -> None:
    name, content = pick(
        chance,
        (
            ("photo.png", _PNG + chance.randbytes(200 + int(chance.random() * 20_000))),
            ("Angebot Müller.pdf", b"%PDF-1.7\n" + chance.randbytes(1_000)),
            ("notes.txt", texts.sentence(chance, world.settings.seed).encode()),
        ),
    )
    store = world.store
    made = Attachment(
        store.new_id("attachments"),
        task.id,
        task.created_by_id,
        task.created,
        store.new_id("files"),
        name,
        mime_of(content),
        content,
    )
    store.attachments[made.id] = made
    task.attachments.append(made.id)
    if name.endswith(".png"):
        task.cover_image_attachment_id = made.id


def _make_relations(world: _World) -> None:
    """Relate tasks within a project, so that a private text never stands in a shared one."""
    chance = chance_of(world.settings.seed, "relations", 0)
    for project in world.store.projects.values():
        tasks = world.store.tasks_of(project.id)
        for place_of in range(0, len(tasks) - 3, 9):
            first, second, third = tasks[place_of : place_of + 3]
            relate(first, second, "subtask")
            relate(first, third, pick(chance, ("subtask", "related", "blocking", "precedes", "duplicateof")))


def _make_filters(world: _World) -> None:
    store = world.store
    for owner in ("alice", "bob"):
        user, marker = world.users[owner], MARKERS[owner]
        wanted = (
            ("my open tasks", f"done = false && assignees = {owner}"),
            ("overdue", "done = false && due_date < now"),
        )
        for title, text in wanted:
            saved = SavedFilter(
                store.new_id("filters"),
                f"{marker} {title}",
                user.id,
                collection(text),
                world.began,
                world.began,
            )
            store.filters[saved.id] = saved
            views = make_default_views(store, saved.project_id, user.id, world.began, only_open=False)
            del views


def _make_notifications(world: _World) -> None:
    """Tell alice and bob of tasks that were given to them and of comments on them."""
    store = world.store
    for owner in ("alice", "bob"):
        user = world.users[owner]
        mine = [task for task in store.tasks.values() if user.id in task.assignees]
        for task in mine[-70:]:
            doer = store.users[task.created_by_id]
            body = {"doer": user_shape(doer), "task": bare_task(task), "assignee": user_shape(user)}
            body["project"] = None
            made = Notification(
                store.new_id("notifications"), user.id, "task.assigned", body, task.project_id, task.created
            )
            made.read_at = ZERO if task.id % 3 else task.created
            store.notifications[made.id] = made
            if task.id % 5 == 0:
                store.unread.add((user.id, task.id))


def add_tasks(
    store: Store, settings: Settings, user: User, project_id: int, count: int, now: str
) -> list[Task]:
    """Add tasks to a project that is in use, as if the user had made them now."""
    project, made = store.projects[project_id], list[Task]()
    owner = store.users[project.owner_id].username
    marker = MARKERS.get(owner, "")
    is_private = bool(marker) and marker in project.title
    for _ in range(count):
        project.last_index += 1
        number = store.new_id("tasks")
        chance = chance_of(settings.seed, "added", number)
        title = texts.title(chance) + (f" [{marker}]" if is_private else "")
        task = Task(number, project_id, project.last_index, title, user.id, now, now)
        task.description = texts.description(chance, settings.seed, 300, marker if is_private else "")
        store.tasks[task.id] = task
        place(store, task)
        made.append(task)
    return made
