"""Summaries of reservations: what filters, orders, calendars and reports need to know of each."""

from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Final, NamedTuple

from brimgate.sandboxes.chance import chance_of, later, pick
from brimgate.sandboxes.hostaway.homes import Home
from brimgate.sandboxes.hostaway.words import (
    CHANNEL_WEIGHTS,
    CHANNELS,
    FIRST_NAMES,
    LAST_NAMES,
    STATUS_WEIGHTS,
    STATUSES,
    STAYING,
    Channel,
)

_FIRST_ID: Final = 41_500_017
_FIRST_CONVERSATION: Final = 21_500_003
_STEP: Final = 97
_SLOT_DAYS: Final = 14
_BLOCK: Final = 8
_LEAD_DAYS: Final = _BLOCK * _SLOT_DAYS + 1
_LONGEST_ACTIVITY: Final = timedelta(days=20)


class Stay(NamedTuple):
    number: int
    home: Home
    channel: Channel
    status: str
    first_name: str
    last_name: str
    email: str
    arrival: date
    nights: int
    inserted: datetime
    activity: datetime
    adults: int
    children: int
    infants: int
    pets: int
    messages: int
    unread: bool
    starred: bool
    archived: bool
    pinned: bool

    @property
    def id(self) -> int:
        return _FIRST_ID + _STEP * self.number

    @property
    def conversation_id(self) -> int:
        return _FIRST_CONVERSATION + _STEP * self.number

    @property
    def departure(self) -> date:
        return self.arrival + timedelta(days=self.nights)

    @property
    def guest(self) -> str:
        return f"{self.first_name} {self.last_name}"

    @property
    def received(self) -> datetime:
        """When the guest last wrote; guest and host take turns, and the guest begins."""
        return self.written(self.messages - 1 - (self.messages - 1) % 2)

    @property
    def sent(self) -> datetime | None:
        return self.written(self.messages - 1 - self.messages % 2) if self.messages > 1 else None

    def written(self, message: int) -> datetime:
        whole = self.inserted + (self.activity - self.inserted) * message / self.messages
        return whole.replace(microsecond=0)

    @property
    def takes_nights(self) -> bool:
        return self.status in STAYING


def number_of(reservation_id: int) -> int:
    """Return the number of the reservation with that id, if it exists already; -1 if none can have it."""
    number, rest = divmod(reservation_id - _FIRST_ID, _STEP)
    return -1 if rest else number


def number_of_conversation(conversation_id: int) -> int:
    return number_of(conversation_id - _FIRST_CONVERSATION + _FIRST_ID)


class Timeline:
    """Who stays where and when.

    The calendar of a home is cut into slots of two weeks with one stay in each, so that no two overlap although each
    is made without looking at the others. Reservations are made at an even pace, one home after another in an order
    that changes each round; within eight rounds the slots of a home are shuffled, so that a later reservation may well
    be for an earlier stay. Every one is made at least a day before its arrival.
    """

    def __init__(self, seed: int, homes: tuple[Home, ...], planned: int, now: datetime) -> None:
        self._seed, self._homes, self._now, self._planned = seed, homes, now, planned
        self._pace = timedelta(days=_SLOT_DAYS) / max(1, len(homes))
        self._first_day = (now + timedelta(days=_LEAD_DAYS) - planned * self._pace).date()
        self._round = lru_cache(maxsize=256)(self._shuffle_homes)
        self._slots = lru_cache(maxsize=4_096)(self._shuffle_slots)

    def stay(self, number: int) -> Stay:
        chance = chance_of(self._seed, "stay", number)
        round_number, turn = divmod(number, len(self._homes))
        home = self._homes[self._round(round_number)[turn]]
        nights = min(_SLOT_DAYS, 1 + int(chance.expovariate(0.28)))
        adults, first, last = (
            chance.randint(1, home.capacity),
            pick(chance, FIRST_NAMES),
            pick(chance, LAST_NAMES),
        )
        children = int(chance.random() * (home.capacity - adults + 1) * 0.6)
        inserted = (self._now - (self._planned - 1 - number) * self._pace).replace(microsecond=0)
        activity = max(inserted, min(later(chance, inserted, _LONGEST_ACTIVITY), self._now))
        return Stay(
            number=number,
            home=home,
            channel=chance.choices(CHANNELS, CHANNEL_WEIGHTS)[0],
            status=chance.choices(STATUSES, STATUS_WEIGHTS)[0],
            first_name=first,
            last_name=last,
            email=f"guest{number:05d}@example.com",
            arrival=self._slot_start(home, round_number)
            + timedelta(days=int(chance.random() * (_SLOT_DAYS - nights + 1))),
            nights=nights,
            inserted=inserted,
            activity=activity,
            adults=adults,
            children=children,
            infants=int(chance.random() * 1.2),
            pets=int(chance.random() * 1.15),
            messages=1 + int(chance.expovariate(0.3)),
            unread=chance.random() < 0.2,
            starred=chance.random() < 0.05,
            archived=chance.random() < 0.04,
            pinned=chance.random() < 0.02,
        )

    def _slot_start(self, home: Home, round_number: int) -> date:
        block, place = divmod(round_number, _BLOCK)
        slot = block * _BLOCK + self._slots(home.position, block)[place]
        return self._first_day + timedelta(days=_SLOT_DAYS * slot)

    def _shuffle_homes(self, round_number: int) -> list[int]:
        order = list(range(len(self._homes)))
        chance_of(self._seed, "round", round_number).shuffle(order)
        return order

    def _shuffle_slots(self, position: int, block: int) -> list[int]:
        order = list(range(_BLOCK))
        chance_of(self._seed, f"slots/{position}", block).shuffle(order)
        return order
