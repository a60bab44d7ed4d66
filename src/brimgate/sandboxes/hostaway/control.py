"""Control and inspection for tests: under /control, and only if it is enabled."""

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from brimgate.sandboxes.faults import Faults
from brimgate.sandboxes.hostaway.account import Account
from brimgate.sandboxes.hostaway.tokens import Tokens
from brimgate.sandboxes.hostaway.wire import Limit, Refusal, read_json, succeed
from brimgate.sandboxes.wire import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

_MOST_REMEMBERED: Final = 20_000
_MOST_ADDED: Final = 100_000


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
            "authorization": "authorization" in request.headers,
            "status": None,
        }
        self.entries.append(entry)
        return entry


class Control:
    def __init__(
        self, account: Account, faults: Faults, tokens: Tokens, limits: tuple[Limit, ...], journal: Journal
    ) -> None:
        self._account, self._faults, self._tokens = account, faults, tokens
        self._limits, self._journal = limits, journal
        self._actions: dict[tuple[str, str], Callable[[Json], Any]] = {
            ("POST", "/control/fault"): self._fault,
            ("POST", "/control/add_reservations"): self._add_reservations,
            ("POST", "/control/expire_tokens"): self._expire_tokens,
            ("POST", "/control/reset"): self._reset,
            ("GET", "/control/requests"): self._requests,
        }

    def answer(self, request: Request) -> Answer:
        action = self._actions.get((request.method, request.path))
        if action is None:
            raise Refusal(404, "There is: " + ", ".join(" ".join(known) for known in self._actions))
        return succeed(action(read_json(request.body)))

    def _fault(self, told: Json) -> None:
        try:
            self._faults.plan(told)
        except ValueError as wrong:
            raise Refusal(422, str(wrong)) from None

    def _add_reservations(self, told: Json) -> int:
        self._account.add_reservations(_number(told, "count", 1))
        return len(self._account.stays)

    def _expire_tokens(self, _: Json) -> None:
        self._tokens.expire_all()

    def _requests(self, _: Json) -> list[Json]:
        return list(self._journal.entries)

    def _reset(self, _: Json) -> None:
        """Reset data, faults, limits and journal. Tokens stay: a caller may continue with the one it has."""
        self._account.reset()
        self._faults.clear()
        self._journal.entries.clear()
        for limit in self._limits:
            limit.reset()


def _number(told: Json, name: str, default: int) -> int:
    number = told.get(name, default)
    if not isinstance(number, int) or not 0 <= number <= _MOST_ADDED:
        raise Refusal(422, f"{name} must be an integer from 0 to {_MOST_ADDED}")
    return number
