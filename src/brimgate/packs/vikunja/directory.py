"""Format what is around tasks: projects, views, labels, people, comments and notifications, one line each."""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from brimgate.packs.members import items, lines, plain, text, unwrapped
from brimgate.packs.pack import Formatter, Scene
from brimgate.packs.vikunja.tasks import heading, items_of, number

Item = Mapping[str, Any]
_FAVOURITES: Final = -1


def list_of(one: str, many: str, write: Callable[[Item, Scene], str]) -> Formatter:
    """Return a formatter for a list, with a line for each item."""

    def formatter(answer: Any, scene: Scene) -> str:
        head = heading(answer, one, many, scene)
        return lines(head, *(write(item, scene) for item in items_of(answer)))

    return formatter


def saved(write: Callable[[Item, Scene], str]) -> Formatter:
    """Return a formatter for what was created or changed."""

    def formatter(answer: Any, scene: Scene) -> str:
        return f"saved: {write(unwrapped(answer), scene)}"

    return formatter


def _joined(first: str, *rest: str) -> str:
    return " | ".join(part for part in (first, *rest) if part)


def project(one: Item, _: Scene) -> str:
    """Format a project as one line."""
    identifier = f" [{text(one['identifier'])}]" if one.get("identifier") else ""
    is_filter = isinstance(one["id"], int) and one["id"] < _FAVOURITES
    owner = cast("Item", one.get("owner") or {})
    return _joined(
        f"{plain(one['id'])}{identifier} {text(one['title'])}",
        "saved filter" if is_filter else "",
        f"in {plain(one['parent_project_id'])}" if one.get("parent_project_id") else "",
        "archived" if one.get("is_archived") else "",
        "favourite" if one.get("is_favorite") else "",
        f"of @{text(owner['username'])}" if owner.get("username") else "",
    )


def whole_project(answer: Any, scene: Scene) -> str:
    """Format a project with its views and its description."""
    one = unwrapped(answer)
    views = [f"view {view(each, scene)}" for each in items(one.get("views") or [])]
    about = one.get("description")
    return lines(
        project(one, scene), *views, f"---\n{about}" if isinstance(about, str) and about.strip() else ""
    )


def view(one: Item, _: Scene) -> str:
    """Format a view as one line."""
    done = f"done bucket {plain(one['done_bucket_id'])}" if one.get("done_bucket_id") else ""
    return _joined(f"{plain(one['id'])} {text(one['title'])}", plain(one.get("view_kind") or ""), done)


def label(one: Item, _: Scene) -> str:
    """Format a label as one line."""
    about = text(one["description"]) if one.get("description") else ""
    return _joined(f"{plain(one['id'])} {text(one['title'])}", about)


def user(one: Item, _: Scene) -> str:
    """Format a user as one line."""
    name = f" ({text(one['name'])})" if one.get("name") else ""
    return f"{plain(one['id'])} @{text(one['username'])}{name}"


def comment(one: Item, scene: Scene) -> str:
    """Format a comment as one line."""
    author = cast("Item", one.get("author") or {})
    who = f" @{text(author['username'])}" if author.get("username") else ""
    when = f" {scene.time(text(one['created']))}" if one.get("created") else ""
    return f"{plain(one['id'])}{who}{when}: {text(one.get('comment') or '')}"


def team(one: Item, _: Scene) -> str:
    """Format a team and its members as one line."""
    members = [
        f"@{text(member['username'])}{' (admin)' if member.get('admin') else ''}"
        for member in items(one.get("members") or [])
    ]
    return _joined(f"{plain(one['id'])} {text(one['name'])}", " ".join(members))


def notification(one: Item, scene: Scene) -> str:
    """Format a notification as one line."""
    told = cast("Item", one.get("notification") or {})
    task, doer = cast("Item", told.get("task") or {}), cast("Item", told.get("doer") or {})
    return _joined(
        f"{plain(one['id'])} {text(one.get('name') or '')}",
        f"by @{text(doer['username'])}" if doer.get("username") else "",
        f"{number(task)} {text(task['title'])}" if task.get("id") and task.get("title") else "",
        scene.time(text(one["created"])) if one.get("created") else "",
        "" if one.get("read_at") else "unread",
    )
