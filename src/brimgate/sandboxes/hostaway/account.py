"""Everything in the account. It keeps summaries of homes and stays; whole records are generated on request."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

from brimgate.sandboxes.hostaway import conversations, listings, reservations
from brimgate.sandboxes.hostaway.homes import Home, home_of, position_of
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.stays import Stay, Timeline, number_of, number_of_conversation
from brimgate.sandboxes.wire import encode

Json = dict[str, Any]

_MOST_ENCODED: Final = 2_000
"""Records whose JSON is cached: a demo reads the same ones again, and a listing takes 4 ms to make."""


class Account:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.homes = tuple(home_of(settings.seed, position) for position in range(settings.listings))
        self._planned = settings.reservations if self.homes else 0
        self._timeline = Timeline(settings.seed, self.homes, self._planned, settings.now)
        self._stays: list[Stay] = []
        self._count = self._planned
        encoded = lru_cache(maxsize=_MOST_ENCODED)
        self.listing: Callable[[int, bool], bytes] = encoded(self._listing)
        self.reservation: Callable[[int, bool], bytes] = encoded(self._reservation)
        self.conversation: Callable[[int, bool], bytes] = encoded(self._conversation)

    def add_reservations(self, count: int) -> None:
        if self.homes:
            self._count += count

    def reset(self) -> None:
        self._count = self._planned

    @property
    def stays(self) -> Sequence[Stay]:
        """All stays, the oldest first. Generated on first use: the server listens before."""
        while len(self._stays) < self._count:
            self._stays.append(self._timeline.stay(len(self._stays)))
        return self._stays if len(self._stays) == self._count else self._stays[: self._count]

    def home(self, listing_id: int) -> Home | None:
        position = position_of(listing_id)
        return self.homes[position] if 0 <= position < len(self.homes) else None

    def stay(self, reservation_id: int) -> Stay | None:
        return self._stay(number_of(reservation_id))

    def stay_of_conversation(self, conversation_id: int) -> Stay | None:
        return self._stay(number_of_conversation(conversation_id))

    def _stay(self, number: int) -> Stay | None:
        return self.stays[number] if 0 <= number < self._count else None

    def stays_at(self, home: Home) -> list[Stay]:
        return [stay for stay in self.stays if stay.home is home]

    def _listing(self, position: int, resources: bool) -> bytes:
        return _encode(listings.listing(self.settings, self.homes[position]), resources, listings.RESOURCES)

    def _reservation(self, number: int, resources: bool) -> bytes:
        whole = reservations.reservation(self.settings, self.stays[number])
        return _encode(whole, resources, reservations.RESOURCES)

    def _conversation(self, number: int, resources: bool) -> bytes:
        whole = conversations.conversation(self.settings, self.stays[number])
        return _encode(whole, resources, conversations.RESOURCES)


def _encode(record: Json, resources: bool, names: Sequence[str]) -> bytes:
    if not resources:
        record |= {name: [] if isinstance(record[name], list) else None for name in names}
    return encode(record)
