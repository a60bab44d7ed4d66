"""The little of the newer API that tools need: lists that tell a total, and changes of single fields."""

from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from brimgate.sandboxes.vikunja import task_lists, tasks
from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import read
from brimgate.sandboxes.vikunja.errors import BAD_MODEL, Failed, Plain
from brimgate.sandboxes.vikunja.routes import Route
from brimgate.sandboxes.vikunja.shapes import TaskShaper
from brimgate.sandboxes.vikunja.store import Task
from brimgate.sandboxes.wire import Answer, Refused

Json = dict[str, Any]
_MOST_PER_PAGE: Final = 1_000
_PROBLEM: Final = "application/problem+json"
_TITLES: Final = {400: "Bad Request", 403: "Forbidden", 404: "Not Found", 412: "Precondition Failed"}
_PATCHES: Final = ("", "application/json", "application/merge-patch+json")


def _answer(status: int, value: Any, kind: str = "application/json", **headers: str) -> Answer:
    """Answer without Go's escapes of HTML: the newer API writes it as it is."""
    named = (("cache-control", "no-store"), *headers.items())
    return Answer(status, msgspec.json.encode(value) + b"\n", kind, named)


def _told(handler: Callable[[Call], Answer]) -> Callable[[Call], Answer]:
    """Give a handler's refusals the shape of this API."""

    def handle(call: Call) -> Answer:
        try:
            return handler(call)
        except Refused as refused:
            return _problem(refused.answer)

    return handle


def _problem(answer: Answer) -> Answer:
    told: Json = msgspec.json.decode(answer.body, type=Json)
    fields: list[str] = told.get("invalid_fields") or []
    status = 422 if fields else answer.status
    title = "Unprocessable Entity" if fields else _TITLES.get(status, "Error")
    body: Json = {"title": title, "status": status, "detail": told["message"]}
    if fields:
        pairs = [one.partition(": ") for one in fields]
        body["errors"] = [
            {"message": what or "Invalid data", "location": f"body.{name}"} for name, _, what in pairs
        ]
    if told.get("code"):
        body["code"] = told["code"]
    return _answer(status, body, _PROBLEM)


def _whole(call: Call, name: str, default: int, most: int) -> int:
    text = call.parameter(name) or str(default)
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if not 1 <= number <= most:
        body: Json = {"title": "Unprocessable Entity", "status": 422, "detail": "validation failed"}
        wrong = {"message": f"expected number from 1 to {most}", "location": f"query.{name}", "value": text}
        raise Refused(_answer(422, body | {"errors": [wrong]}, _PROBLEM))
    return number


def list_all(call: Call) -> Answer:
    return _list(call, 0)


def list_of_project(call: Call) -> Answer:
    return _list(call, call.number("project"))


def _list(call: Call, project_id: int) -> Answer:
    try:
        page, size = _whole(call, "page", 1, 10**9), _whole(call, "per_page", 50, _MOST_PER_PAGE)
    except Refused as refused:
        return refused.answer
    found = task_lists.flat(call, project_id, call.parameter("q").strip())
    shaper = TaskShaper(call.world, call.user, call.parameters.get("expand", []))
    shown = found[(page - 1) * size : page * size]
    body: Json = {"items": [shaper.shape(task) for task in shown], "total": len(found)}
    return _answer(200, body | {"page": page, "per_page": size, "total_pages": -(-len(found) // size)})


def _read(call: Call) -> tuple[Task, Json]:
    task = call.access.read_task(call.user.id, call.number("task"))
    permission = call.access.permission(call.user.id, task.project_id) or 0
    return task, tasks.whole(call, task) | {"max_permission": permission}


def read_one(call: Call) -> Answer:
    task, shape = _read(call)
    tag = f'"{int(read(task.updated).timestamp())}000000000-{shape["max_permission"]}"'
    if call.request.headers.get("if-none-match") in (tag, "*"):
        return Answer(304, b"", headers=(("etag", tag),))
    return _answer(200, shape, etag=tag)


def update(call: Call) -> Answer:
    return _answer(200, tasks.update_with(call, call.told))


def patch(call: Call) -> Answer:
    """Change what is named: the task is read, the change put over it, and all of it written."""
    if call.request.headers.get("content-type", "").partition(";")[0].strip() not in _PATCHES:
        raise Plain(415, "unsupported content type")
    _, before = _read(call)
    before = msgspec.json.decode(msgspec.json.encode(before), type=Json)
    try:
        change = msgspec.json.decode(call.request.body, type=Json)
    except msgspec.DecodeError:
        raise Failed(BAD_MODEL, "Bad Request") from None
    after = _merge(before, change)
    if after == before:
        return Answer(304, b"")
    return _answer(200, tasks.update_with(call, after))


def _merge(target: Json, change: Json) -> Json:
    """Merge as RFC 7396 has it: null removes, objects are merged, all else is replaced."""
    merged = dict(target)
    for name, value in change.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            old = merged.get(name)
            below = cast("Json", old) if isinstance(old, dict) else {}
            merged[name] = _merge(below, cast("Json", value))
        else:
            merged[name] = value
    return merged


GRANTS: Final[dict[Route, str]] = {
    Route("GET", "/tasks", _told(list_all)): "read_all",
    Route("GET", "/projects/:project/tasks", _told(list_of_project)): "read_all",
    Route("GET", "/tasks/:task", _told(read_one)): "read_one",
    Route("PUT", "/tasks/:task", _told(update)): "update",
    Route("PATCH", "/tasks/:task", _told(patch)): "update",
}
"""The routes, and the permission of the group `tasks` that opens each: the same as in the older API."""


def is_granted(route: Route, permissions: dict[str, list[str]]) -> bool:
    return GRANTS[route] in permissions.get("tasks", [])
