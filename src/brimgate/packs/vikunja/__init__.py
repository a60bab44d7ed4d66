"""Vikunja, the to-do server: its REST API as tools for a whole team, each with its own token."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from brimgate.packs.pack import Formatter, Pack, Sandbox, Tool
from brimgate.packs.vikunja import directory, tasks


@contextmanager
def stand_in() -> Generator[Sandbox]:
    """Run the API of `brimgate.sandboxes` on a port of its own, for as long as it is needed."""
    from brimgate.sandboxes.vikunja import sandbox  # generators and words that nobody needs with an account

    with sandbox() as running:
        notes = tuple(f"token of {name}: {token}" for name, token in running.tokens.items())
        env = {"VIKUNJA_API_URL": running.url, "VIKUNJA_TOKEN": running.tokens["alice"]}
        yield Sandbox(running.url, env, notes)


def serving(variables: Mapping[str, str], base_url: str) -> dict[str, str]:
    """Return what `brimgate serve` uses unless it is told otherwise: the server of the brief, for many users."""
    given = [base_url, *(variables.get(name, "").strip() for name in ("VIKUNJA_API_URL", "VIKUNJA_URL"))]
    url = next((one for one in given if one), "http://localhost:3456").rstrip("/")
    url = url if url.endswith("/api/v1") else f"{url}/api/v1"
    port = variables.get("MCP_HTTP_PORT", "").strip()
    settings = {
        "auth.mode": "upstream_token",
        "auth.verify_url": f"{url}/token/test",
        "auth.user_url": f"{url}/user",
        "redis_prefix": "vikunja:mcp:",
        "max_body_bytes": str(32 << 20),  # attachments of 20 MB are 27 MB in Base64
    }
    return settings | ({"port": port} if port else {})


def _reading(formatter: Formatter | None = None, *order: str, is_search: bool = False) -> Tool:
    return Tool(formatter, is_search=is_search, reads_only=True, order=order)


_TASK: Final = ("task_id",)
_DELETION: Final = Tool(is_destructive=True)
_CHANGE: Final = Tool(tasks.changed, order=_TASK)

PACK: Final = Pack(
    name="vikunja",
    description="the to-do server Vikunja: projects, tasks, comments, labels, boards, for each user with its own token",
    tools={
        "list_projects": _reading(
            directory.list_of("project", "projects", directory.project), "search", is_search=True
        ),
        "get_project": _reading(directory.whole_project, "project_id"),
        "create_project": Tool(directory.saved(directory.project), order=("title",)),
        "update_project": Tool(directory.saved(directory.project), order=("project_id",)),
        "delete_project": _DELETION,
        "list_project_members": _reading(
            directory.list_of("member", "members", directory.user), "project_id"
        ),
        "list_project_views": _reading(directory.list_of("view", "views", directory.view), "project_id"),
        "list_buckets": _reading(tasks.buckets, "project_id", "view_id"),
        "get_board": _reading(tasks.board, "project_id", "view_id"),
        "move_to_bucket": Tool(tasks.changed, order=("task_id", "project_id", "view_id", "bucket_id")),
        "list_tasks": _reading(tasks.listed, "filter", is_search=True),
        "get_task": _reading(tasks.single, "task_id"),
        "create_task": Tool(tasks.changed, order=("project_id", "title")),
        "update_task": _CHANGE,
        "complete_task": Tool(tasks.changed, order=("task_id", "comment")),
        "bulk_update_tasks": Tool(tasks.all_changed, order=("task_ids",)),
        "delete_task": _DELETION,
        "list_comments": _reading(directory.list_of("comment", "comments", directory.comment), "task_id"),
        "add_comment": Tool(directory.saved(directory.comment), order=("task_id", "comment")),
        "update_comment": Tool(
            directory.saved(directory.comment), order=("task_id", "comment_id", "comment")
        ),
        "delete_comment": _DELETION,
        "list_labels": _reading(
            directory.list_of("label", "labels", directory.label), "search", is_search=True
        ),
        "create_label": Tool(directory.saved(directory.label), order=("title",)),
        "update_label": Tool(directory.saved(directory.label), order=("label_id",)),
        "delete_label": _DELETION,
        "add_label": Tool(order=("task_id", "label_id")),
        "remove_label": Tool(order=("task_id", "label_id")),
        "add_assignee": Tool(order=("task_id", "user_id")),
        "remove_assignee": Tool(order=("task_id", "user_id")),
        "add_relation": Tool(order=("task_id", "relation_kind", "other_task_id")),
        "remove_relation": Tool(order=("task_id", "relation_kind", "other_task_id")),
        "list_attachments": _reading(tasks.attachments, "task_id"),
        "get_attachment": _reading(None, "task_id", "attachment_id"),
        "upload_attachment": Tool(order=("task_id", "file_name", "text")),
        "delete_attachment": _DELETION,
        "get_saved_filter": _reading(None, "filter_id"),
        "create_saved_filter": Tool(order=("title", "filters")),
        "delete_saved_filter": _DELETION,
        "list_teams": _reading(directory.list_of("team", "teams", directory.team), is_search=True),
        "list_notifications": _reading(
            directory.list_of("notification", "notifications", directory.notification)
        ),
        "mark_notifications_read": Tool(),
        "find_users": _reading(directory.list_of("user", "users", directory.user), "search", is_search=True),
        "get_me": _reading(None),
        "get_info": _reading(None),
    },
    marks=(frozenset(("list_tasks", "complete_task", "list_buckets", "get_saved_filter")),),
    folder=Path(__file__).parent,
    sandbox=stand_in,
    serving=serving,
)
