"""Format tasks: one line each in a list, and one whole.

A line has the number (`WEB-12`, or the id where the project has no identifier), the title, and then, between bars, what is
set: the project, the due date, the priority, who is assigned, the labels, how far it is, and in brackets what else there
is to read with `get_task`.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from brimgate.packs.members import extras, items, lines, plain, text, unwrapped
from brimgate.packs.pack import Scene, fold

Item = Mapping[str, Any]
_PRIORITIES: Final = ("", "low", "medium", "high", "urgent", "DO NOW")
_REPEATS: Final = {1: "monthly", 2: "from when it is done"}
_DAY: Final = 86_400
_KNOWN: Final = (
    "id",
    "index",
    "identifier",
    "title",
    "description",
    "done",
    "done_at",
    *("due_date", "start_date", "end_date", "created", "updated"),
    *("project_id", "bucket_id", "position"),
    *("reminders", "repeat_after", "repeat_mode"),
    *("priority", "percent_done", "hex_color", "is_favorite", "comment_count"),
    *("assignees", "labels", "created_by"),
    *("related_tasks", "attachments", "cover_image_attachment_id"),
)
"""Members that have a place of their own."""


def listed(answer: Any, scene: Scene) -> str:
    """Format a list of tasks."""
    tasks = items_of(answer)
    return lines(heading(answer, "task", "tasks", scene), *(line(task, scene) for task in tasks))


def items_of(answer: Any) -> list[dict[str, Any]]:
    return items(unwrapped(answer, "items")["items"])


def heading(answer: Any, one: str, many: str, scene: Scene) -> str:
    """Return how many there are, above the first of them; of a page alone also how many it shows."""
    if scene.first:
        return ""
    shown = len(items_of(answer))
    meta = cast("Item", unwrapped(answer, "items").get("meta") or {})
    count = meta.get("totalCount") if scene.total is None else scene.total
    if count is None and meta.get("hasMore"):
        return f"The first {shown:,} {many}:"
    if scene.total is None and isinstance(count, int) and count > shown:
        return f"The first {shown:,} of {count:,} {many}:"
    count = shown if count is None else count
    return f"{count:,} {one if count == 1 else many}:" if count else f"No {many}"


def line(task: Item, scene: Scene) -> str:
    """Format a task as one line."""
    parts = [f"{'✓ ' if task.get('done') else ''}{number(task)} {text(task['title'])}", *_facts(task, scene)]
    return " | ".join(parts) + _more(task)


def number(task: Item) -> str:
    """Return what names a task in the next call: its number, or its id where the number needs the project."""
    identifier = task.get("identifier") or ""
    if isinstance(identifier, str) and "-" in identifier.strip("-"):
        return fold(identifier)
    return plain(task["id"])


def _facts(task: Item, scene: Scene) -> list[str]:
    facts: list[str] = []
    if number(task) == plain(task["id"]) and task.get("project_id"):
        facts.append(f"project {plain(task['project_id'])}")
    if task.get("due_date"):
        facts.append(f"due {scene.date(text(task['due_date']))}")
    if task.get("priority"):
        facts.append(_priority(task["priority"]))
    if who := users(task.get("assignees")):
        facts.append(who)
    if labels := [text(label["title"]) for label in items(task.get("labels") or [])]:
        facts.append(", ".join(labels))
    if task.get("percent_done"):
        facts.append(f"{float(task['percent_done']):.0%}")
    return facts


def _priority(value: Any) -> str:
    is_named = isinstance(value, int) and 0 < value < len(_PRIORITIES)
    return _PRIORITIES[value] if is_named else f"priority {plain(value)}"


def users(value: Any) -> str:
    return " ".join(f"@{text(user['username'])}" for user in items(value or []))


def _more(task: Item) -> str:
    """Return what else there is to read, in few words."""
    counts = {"text": 1 if task.get("description") else 0, "files": len(task.get("attachments") or ())}
    related = cast("dict[str, Any]", task.get("related_tasks") or {})
    counts |= {kind: len(some or ()) for kind, some in related.items()}
    counts["comments"] = task.get("comment_count") or 0
    told = [
        fold(name) if name == "text" else f"{count} {fold(name)}" for name, count in counts.items() if count
    ]
    return f" ({', '.join(told)})" if told else ""


def single(answer: Any, scene: Scene) -> str:
    """Format a task whole."""
    task = unwrapped(answer)
    return lines(
        line({**task, "description": "", "attachments": (), "related_tasks": {}}, scene),
        " | ".join(_origin(task, scene)),
        *_relations(task),
        *(f"file {attachment(one)}" for one in items(task.get("attachments") or [])),
        extras({name: value for name, value in task.items() if value is not False}, *_KNOWN),
        _whole_text(task.get("description") or ""),
    )


def _origin(task: Item, scene: Scene) -> list[str]:
    told = [f"id {plain(task['id'])}"] if number(task) != plain(task["id"]) else []
    told.append(f"project {plain(task.get('project_id'))}")
    for name, word in (("start_date", "from"), ("end_date", "to"), ("done_at", "done")):
        if task.get(name):
            told.append(f"{word} {scene.date(text(task[name]))}")
    if task.get("repeat_after") or task.get("repeat_mode"):
        told.append(_repeat(task))
    told += [f"reminder {_reminder(one, scene)}" for one in items(task.get("reminders") or [])]
    told += ["favourite"] if task.get("is_favorite") else []
    told += [f"colour {text(task['hex_color'])}"] if task.get("hex_color") else []
    author = cast("Item", task.get("created_by") or {})
    by = f" by @{text(author['username'])}" if author.get("username") else ""
    told += [f"created {scene.time(text(task['created']))}{by}"] if task.get("created") else []
    told += [f"updated {scene.time(text(task['updated']))}"] if task.get("updated") else []
    return told


def _repeat(task: Item) -> str:
    mode = _REPEATS.get(task.get("repeat_mode") or 0, "")
    seconds = task.get("repeat_after") or 0
    every = f"every {seconds // _DAY} d" if seconds % _DAY == 0 else f"every {seconds} s"
    return " ".join(part for part in ("repeats", every if seconds else "", mode) if part)


def _reminder(one: Item, scene: Scene) -> str:
    if one.get("relative_to"):
        return f"{plain(one.get('relative_period') or 0)} s from {text(one['relative_to'])}"
    return scene.time(text(one["reminder"]))


def _relations(task: Item) -> list[str]:
    related = cast("dict[str, Any]", task.get("related_tasks") or {})
    return [
        f"{fold(kind)}: {'✓ ' if one.get('done') else ''}{number(one)} {text(one['title'])}"
        for kind, some in related.items()
        for one in items(some or [])
    ]


def _whole_text(description: Any) -> str:
    """Return the description as it is, on lines of its own: it comes last, so that nothing is taken for ours."""
    return f"---\n{description}" if isinstance(description, str) and description.strip() else ""


def attachment(one: Item) -> str:
    file = cast("Item", one.get("file") or {})
    kind, size = file.get("mime") or "", file.get("size") or 0
    return " ".join(
        part
        for part in (plain(one["id"]), text(file.get("name") or ""), plain(kind), f"{size:,} bytes")
        if part
    )


def attachments(answer: Any, scene: Scene) -> str:
    """Format the list of attachments."""
    return lines(heading(answer, "file", "files", scene), *map(attachment, items_of(answer)))


def changed(answer: Any, scene: Scene) -> str:
    """Format a task that was created or changed."""
    return f"saved: {line(unwrapped(answer), scene)}"


def all_changed(answer: Any, scene: Scene) -> str:
    """Format several tasks that were changed."""
    tasks = items_of(answer)
    return lines(f"saved {len(tasks)}:", *(line(task, scene) for task in tasks))


def board(answer: Any, scene: Scene) -> str:
    """Format the buckets of a board with their tasks."""
    buckets = items_of(answer)
    if buckets and "identifier" in buckets[0]:
        head = "This view has no buckets; the first tasks of it (list_tasks reads all):"
        return lines("" if scene.first else head, *(line(task, scene) for task in buckets))
    return lines(heading(answer, "bucket", "buckets", scene), *(_column(one, scene) for one in buckets))


def _column(one: Item, scene: Scene) -> str:
    tasks = items(one.get("tasks") or [])
    is_cut = len(tasks) < (one.get("count") or 0)
    told = f"(the first {len(tasks)}; list_tasks with the filter bucket_id = {plain(one['id'])} reads all)"
    return lines(bucket(one), told if is_cut else "", *(line(task, scene) for task in tasks))


def bucket(one: Item) -> str:
    count = one.get("count") or 0
    limit = f", limit {plain(one['limit'])}" if one.get("limit") else ""
    return (
        f"# {text(one['title'])} (bucket {plain(one['id'])}, {count} task{'' if count == 1 else 's'}{limit})"
    )


def buckets(answer: Any, scene: Scene) -> str:
    """Format buckets without their tasks."""
    return lines(heading(answer, "bucket", "buckets", scene), *map(bucket, items_of(answer)))
