"""Control and inspection for tests: under /control, and only if it is enabled."""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from brimgate.sandboxes.vikunja.generation import add_tasks
from brimgate.sandboxes.wire import Answer, Request, encode

if TYPE_CHECKING:
    from brimgate.sandboxes.vikunja.app import App

Json = dict[str, Any]
_MOST_REMEMBERED: Final = 200_000
_MOST_ADDED: Final = 100_000
_HOUR_SECONDS: Final = 3_600


class Journal:
    """The requests, the oldest first."""

    def __init__(self) -> None:
        self.entries: deque[Json] = deque(maxlen=_MOST_REMEMBERED)

    def note(self, request: Request) -> Json:
        """Record a request. Its status is null until it is answered, and stays so if it never is."""
        entry: Json = {
            "method": request.method,
            "path": request.path,
            "query": request.query,
            "user": None,
            "status": None,
        }
        self.entries.append(entry)
        return entry


class Control:
    def __init__(self, app: "App") -> None:
        self._app = app
        self._actions: dict[tuple[str, str], Callable[[Json], Any]] = {
            ("POST", "/control/fault"): app.faults.plan,
            ("GET", "/control/requests"): lambda _: list(app.journal.entries),
            ("POST", "/control/reset"): lambda _: app.reset(),
            ("POST", "/control/revoke"): self._revoke,
            ("POST", "/control/token"): self._token,
            ("POST", "/control/add_tasks"): self._add_tasks,
            ("POST", "/control/delay"): self._delay,
            ("POST", "/control/database"): self._database,
        }

    def answer(self, request: Request) -> Answer:
        action = self._actions.get((request.method, request.path))
        if action is None:
            known = ", ".join(" ".join(one) for one in self._actions)
            return _refuse(404, f"There is: {known}")
        try:
            told: Json = msgspec.json.decode(request.body or b"{}", type=Json)
            return Answer(200, encode(action(told)))
        except (msgspec.DecodeError, ValueError) as wrong:
            return _refuse(422, str(wrong))

    def _revoke(self, told: Json) -> Json:
        if isinstance(told.get("token"), str):
            return {"revoked": int(self._app.tokens.revoke(told["token"]))}
        return {"revoked": self._app.tokens.revoke_all(_text(told, "user"))}

    def _token(self, told: Json) -> Json:
        """Make a token, with all permissions unless some are named, for an hour unless a time is."""
        user = _text(told, "user")
        if self._app.world.store.user_named(user) is None:
            raise ValueError(f"there is no user {user}")
        permissions: Any = told.get("permissions") or {}
        seconds = _number(told, "expires_in", _HOUR_SECONDS)
        made = self._app.tokens.issue(user, "control", permissions, seconds)
        if isinstance(told.get("permissions"), dict):
            made.permissions = permissions  # an empty map opens nothing
        return {"token": made.text}

    def _add_tasks(self, told: Json) -> Json:
        world = self._app.world
        user = world.store.user_named(_text(told, "user"))
        project_id, count = told.get("project_id"), told.get("count", 1)
        if user is None or project_id not in world.store.projects:
            raise ValueError("user and project_id must exist")
        if not isinstance(count, int) or not 0 <= count <= _MOST_ADDED:
            raise ValueError(f"count must be an integer from 0 to {_MOST_ADDED}")
        made = add_tasks(world.store, self._app.settings, user, project_id, count, world.clock.text())
        return {"ids": [task.id for task in made]}

    def _delay(self, told: Json) -> None:
        self._app.delay_seconds = _number(told, "seconds", 0)

    def _database(self, told: Json) -> None:
        self._app.is_database_gone = told.get("is_gone") is True


def _refuse(status: int, message: str) -> Answer:
    return Answer(status, encode({"message": message}))


def _text(told: Json, name: str) -> str:
    if not isinstance(told.get(name), str):
        raise ValueError(f"{name} is required")
    return told[name]


def _number(told: Json, name: str, default: float) -> float:
    number = told.get(name, default)
    if not isinstance(number, int | float):
        raise ValueError(f"{name} must be a number")
    return number
