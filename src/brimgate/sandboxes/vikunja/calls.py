"""A request on its way: who asks, for what, and in whose name."""

from functools import cached_property
from typing import Any

from brimgate.sandboxes.vikunja.access import Access
from brimgate.sandboxes.vikunja.bodies import Fields, fill, read_body
from brimgate.sandboxes.vikunja.dates import Clock
from brimgate.sandboxes.vikunja.errors import BAD_MODEL, Failed
from brimgate.sandboxes.vikunja.store import Store, User
from brimgate.sandboxes.wire import Request

Json = dict[str, Any]
_MOST_DIGITS = 18


class World:
    """The data, the clock, and who may see what."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store, self.clock = store, clock
        self.access = Access(store)


class Call:
    def __init__(self, world: World, user: User, request: Request, arguments: dict[str, str]) -> None:
        self.world, self.user, self.request = world, user, request
        self.store, self.access, self.clock = world.store, world.access, world.clock
        self._arguments = arguments

    def number(self, name: str) -> int:
        """Return a number of the path."""
        text = self._arguments[name]
        if not text.removeprefix("-").isdecimal() or len(text) > _MOST_DIGITS or not text.isascii():
            raise Failed(BAD_MODEL, "Bad Request")
        return int(text)

    def text(self, name: str) -> str:
        """Return a part of the path."""
        return self._arguments[name]

    @cached_property
    def parameters(self) -> dict[str, list[str]]:
        return self.request.parameters

    def parameter(self, name: str) -> str:
        return self.parameters.get(name, [""])[0]

    def flag(self, name: str) -> bool:
        told = self.parameter(name)
        if told not in ("", "true", "false", "1", "0"):
            raise Failed(BAD_MODEL, "Bad Request")
        return told in ("true", "1")

    @cached_property
    def told(self) -> Json:
        """The body as it was sent."""
        return read_body(self.request)

    def body(self, fields: Fields) -> Json:
        return fill(self.told, fields)

    def now(self) -> str:
        return self.clock.text()
