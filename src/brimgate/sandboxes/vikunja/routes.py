"""The paths, what answers them, and which permission of an API token opens each."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from brimgate.sandboxes.vikunja import (
    assignees,
    attachments,
    boards,
    comments,
    labels,
    notifications,
    people,
    projects,
    relations,
    saved_filters,
    shares,
    task_lists,
    tasks,
    teams,
)
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.wire import Answer

Json = dict[str, Any]
Handler = Callable[[Call], Answer]
V1: Final = "/api/v1"
_CRUD: Final = frozenset({
    "projects", "tasks", "teams", "labels", "filters", "notifications", "webhooks", "reactions", "shares", "buckets",
    "views", "assignees", "comments", "relations", "attachments", "time_entries", "projects_views", "projects_teams",
    "projects_users", "projects_shares", "projects_webhooks", "projects_buckets", "tasks_attachments",
    "tasks_assignees", "tasks_labels", "tasks_comments", "tasks_relations", "teams_members", "projects_views_tasks",
})  # fmt: skip
_CLOSED: Final = ("token_test", "subscriptions", "tokens")
"""Groups that no API token opens."""
_VERBS: Final = {"PUT": "create", "POST": "update", "DELETE": "delete", "PATCH": "update"}


class Route(NamedTuple):
    method: str
    path: str
    """Below /api/v1, with a colon before each part that varies."""
    handler: Handler


TABLE: Final[tuple[tuple[str, str, Handler], ...]] = (
    ("GET", "/user", people.show),
    ("GET", "/users", people.search),
    ("GET", "/projects", projects.list_projects),
    ("GET", "/projects/:project", projects.read_one),
    ("POST", "/projects/:project", projects.update),
    ("DELETE", "/projects/:project", projects.delete),
    ("PUT", "/projects", projects.create),
    ("GET", "/projects/:project/projectusers", shares.list_readers),
    ("GET", "/projects/:project/views/:view/tasks", task_lists.list_of_view),
    ("GET", "/projects/:project/tasks", task_lists.list_of_project),
    ("GET", "/projects/:project/views/:view/buckets", boards.list_buckets),
    ("PUT", "/projects/:project/views/:view/buckets", boards.create_bucket),
    ("POST", "/projects/:project/views/:view/buckets/:bucket", boards.update_bucket),
    ("DELETE", "/projects/:project/views/:view/buckets/:bucket", boards.delete_bucket),
    ("PUT", "/projects/:project/duplicate", projects.duplicate),
    ("PUT", "/projects/:project/tasks", tasks.create),
    ("GET", "/tasks/:task", tasks.read_one),
    ("GET", "/projects/:project/tasks/by-index/:index", tasks.read_by_index),
    ("GET", "/tasks/all", task_lists.list_all),
    ("GET", "/tasks", task_lists.list_all),
    ("DELETE", "/tasks/:task", tasks.delete),
    ("POST", "/tasks/:task", tasks.update),
    ("PUT", "/tasks/:task/duplicate", tasks.duplicate),
    ("POST", "/tasks/:task/read", tasks.mark_read),
    ("POST", "/tasks/:task/position", boards.set_position),
    ("POST", "/tasks/bulk", tasks.update_many),
    ("PUT", "/tasks/:task/assignees", assignees.add),
    ("DELETE", "/tasks/:task/assignees/:user", assignees.remove),
    ("GET", "/tasks/:task/assignees", assignees.list_assignees),
    ("POST", "/tasks/:task/assignees/bulk", assignees.replace_all),
    ("PUT", "/tasks/:task/labels", labels.add),
    ("DELETE", "/tasks/:task/labels/:label", labels.remove),
    ("GET", "/tasks/:task/labels", labels.list_of_task),
    ("POST", "/tasks/:task/labels/bulk", labels.replace_all),
    ("PUT", "/tasks/:task/relations", relations.create),
    ("DELETE", "/tasks/:task/relations/:kind/:other", relations.delete),
    ("GET", "/tasks/:task/attachments", attachments.list_attachments),
    ("DELETE", "/tasks/:task/attachments/:attachment", attachments.delete),
    ("PUT", "/tasks/:task/attachments", attachments.upload),
    ("GET", "/tasks/:task/attachments/:attachment", attachments.download),
    ("GET", "/tasks/:task/comments", comments.list_comments),
    ("PUT", "/tasks/:task/comments", comments.create),
    ("DELETE", "/tasks/:task/comments/:comment", comments.delete),
    ("POST", "/tasks/:task/comments/:comment", comments.update),
    ("GET", "/tasks/:task/comments/:comment", comments.read_one),
    ("GET", "/labels", labels.list_labels),
    ("GET", "/labels/:label", labels.read_one),
    ("PUT", "/labels", labels.create),
    ("DELETE", "/labels/:label", labels.delete),
    ("POST", "/labels/:label", labels.update),
    ("GET", "/projects/:project/teams", shares.list_teams),
    ("PUT", "/projects/:project/teams", shares.add_team),
    ("DELETE", "/projects/:project/teams/:team", shares.remove_team),
    ("POST", "/projects/:project/teams/:team", shares.change_team),
    ("GET", "/projects/:project/users", shares.list_users),
    ("PUT", "/projects/:project/users", shares.add_user),
    ("DELETE", "/projects/:project/users/:user", shares.remove_user),
    ("POST", "/projects/:project/users/:user", shares.change_user),
    ("GET", "/filters/:filter", saved_filters.read_one),
    ("PUT", "/filters", saved_filters.create),
    ("DELETE", "/filters/:filter", saved_filters.delete),
    ("POST", "/filters/:filter", saved_filters.update),
    ("GET", "/teams", teams.list_teams),
    ("GET", "/teams/:team", teams.read_one),
    ("PUT", "/teams", teams.create),
    ("POST", "/teams/:team", teams.update),
    ("DELETE", "/teams/:team", teams.delete),
    ("PUT", "/teams/:team/members", teams.add_member),
    ("DELETE", "/teams/:team/members/:user", teams.remove_member),
    ("POST", "/teams/:team/members/:user/admin", teams.toggle_admin),
    ("PUT", "/subscriptions/:entity/:id", notifications.subscribe),
    ("DELETE", "/subscriptions/:entity/:id", notifications.unsubscribe),
    ("GET", "/notifications", notifications.list_notifications),
    ("POST", "/notifications/:notification", notifications.mark),
    ("POST", "/notifications", notifications.mark_all),
    ("GET", "/:kind/:id/reactions", notifications.list_reactions),
    ("POST", "/:kind/:id/reactions/delete", notifications.unreact),
    ("PUT", "/:kind/:id/reactions", notifications.react),
    ("GET", "/projects/:project/views", boards.list_views),
    ("GET", "/projects/:project/views/:view", boards.read_view),
    ("PUT", "/projects/:project/views", boards.create_view),
    ("DELETE", "/projects/:project/views/:view", boards.delete_view),
    ("POST", "/projects/:project/views/:view", boards.update_view),
    ("POST", "/projects/:project/views/:view/buckets/:bucket/tasks", boards.move),
)
"""In the order of the real server, which decides where two routes would have one permission: the last gets it."""


class Found(NamedTuple):
    route: Route | None
    arguments: dict[str, str]
    allowed: tuple[str, ...]
    """The methods of the path, if it is another that was used."""


class Router:
    """Finds the handler of a path. What stands literally in a route comes before what varies."""

    def __init__(self, routes: list[Route]) -> None:
        self._by_length: dict[int, list[tuple[list[str], Route]]] = {}
        for route in sorted(routes, key=lambda one: [part.startswith(":") for part in one.path.split("/")]):
            parts = route.path.split("/")
            self._by_length.setdefault(len(parts), []).append((parts, route))

    def find(self, method: str, path: str) -> Found:
        given = path.split("/")
        allowed: list[str] = []
        for parts, route in self._by_length.get(len(given), []):
            if not all(
                part == one or (part[:1] == ":" and one) for part, one in zip(parts, given, strict=True)
            ):
                continue
            if route.method == method:
                pairs = zip(parts, given, strict=True)
                return Found(route, {part[1:]: one for part, one in pairs if part[:1] == ":"}, ())
            allowed.append(route.method)
        return Found(None, {}, tuple(dict.fromkeys(allowed)))


def grants_of(routes: list[Route]) -> dict[str, dict[str, Route]]:
    """Derive groups and permissions from the paths, by the rules of the real server."""
    grants: dict[str, dict[str, Route]] = {}
    for route in routes:
        group, permission = _grant(route, grants)
        if group:
            grants.setdefault(group, {})[permission] = route
    return grants


def _grant(route: Route, grants: dict[str, dict[str, Route]]) -> tuple[str, str]:
    parts = [part.replace("-", "_") for part in route.path[1:].split("/") if not part.startswith(":")]
    name = "_".join(parts)
    if name in _CLOSED or name.startswith("user_"):
        return "", ""
    if name in ("projects_tasks", "tasks_all"):
        name, parts = "tasks", ["tasks"]
    if name.endswith("_bulk") and name.removesuffix("_bulk") in _CRUD:
        return name.removesuffix("_bulk"), _VERBS[route.method] + "_bulk"
    if name in _CRUD:
        return name, _verb(route)
    group, key = ("other", name) if len(parts) == 1 else (parts[0], "_".join(parts[1:]))
    return group, f"{key}_{route.method.lower()}" if key in grants.get(group, {}) else key


def _verb(route: Route) -> str:
    if route.method != "GET":
        return _VERBS[route.method]
    return "read_one" if route.path.rpartition("/")[2].startswith(":") else "read_all"


_TASK_LISTS: Final = ("/tasks", "/tasks/all", "/projects/:project/tasks")


def is_granted(route: Route, permissions: dict[str, list[str]], grants: dict[str, dict[str, Route]]) -> bool:
    """Tell whether a token opens a route. All lists of tasks go by one permission."""
    for group, granted in permissions.items():
        known = grants.get(group.replace("-", "_"), {})
        for permission in granted:
            lists_tasks = (group, permission) == ("tasks", "read_all") and route.path in _TASK_LISTS
            if known.get(permission) == route or (lists_tasks and route.method == "GET"):
                return True
    return False
