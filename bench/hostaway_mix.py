"""What an assistant of a property manager asks: the documented session of 200 calls, and random ones like it.

| kind | calls | what |
|---|---|---|
| lists | 40 | reservations by arrival, channel and listing, 20 to 100 at a time; listings |
| gets | 50 | one reservation, its guest, its finances, one listing |
| searches | 30 | reservations by a guest's name, listings by city and size, reviews |
| reports | 20 | financial reports and analytics of a month or a year, one CSV |
| calendars and messages | 20 | a month of a listing; what was written about a stay |
| follow-up reads | 40 | the next page, one record of a list whole, one section of a listing |

A follow-up needs no call where nothing was held back: without protection these 40 do not exist, and the session has 160.
"""

from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

Json = dict[str, Any]

_NAMES: Final = ("an", "Müller", "Ivo", "ta", "Lindqvist", "Liam", "el", "O'Brien", "Ana", "sch")
_CITIES: Final = ("Porto", "Bremerhaven", "Valencia", "Málaga", "Trieste", "Gdańsk")
_SECTIONS: Final = ("amenities", "pricing", "descriptions", "images", "rules", "location")


@dataclass(frozen=True)
class Step:
    kind: str
    tool: str
    arguments: Json = field(default_factory=dict)

    @property
    def follows(self) -> bool:
        """Whether it reads on in the answer before it."""
        return self.kind == "follow-up"


@dataclass(frozen=True)
class Account:
    """What the assistant knows of the account."""

    reservations: list[int]
    listings: list[int]


def documented_session(account: Account) -> list[Step]:
    """200 steps, always the same ones."""
    chance = Random(200)  # the same session every time
    steps: list[Step] = []
    for kind, count in (("list", 40), ("get", 50), ("search", 30), ("report", 20), ("calendar", 20)):
        steps += [step_of(kind, account, chance) for _ in range(count)]
    chance.shuffle(steps)
    return _with_follow_ups(steps, 40, chance)


def _with_follow_ups(steps: list[Step], count: int, chance: Random) -> list[Step]:
    """Reads on, each behind a list or a listing."""
    read = [at for at, step in enumerate(steps) if step.kind == "list" or step.tool == "get_listing"]
    chosen = {at: follow_up(steps[at], chance) for at in chance.sample(read, min(count, len(read)))}
    told: list[Step] = []
    for at, step in enumerate(steps):
        told.append(step)
        if at in chosen:
            told.append(chosen[at])
    return told


def follow_up(step: Step, chance: Random) -> Step:
    if step.tool == "get_listing":
        return Step("follow-up", "brimgate_read", {"fields": chance.choice(_SECTIONS)})
    wanted: Json = {"path": f"/items/{chance.randrange(5)}"} if chance.random() < 0.5 else {}
    return Step("follow-up", "brimgate_read", wanted)


def step_of(kind: str, account: Account, chance: Random) -> Step:
    match kind:
        case "list":
            return Step(kind, *_list(account, chance))
        case "get":
            return Step(kind, *_get(account, chance))
        case "search":
            return Step(kind, *_search(account, chance))
        case "report":
            return Step(kind, *_report(chance))
        case _:
            return Step(kind, *_calendar(account, chance))


def _list(account: Account, chance: Random) -> tuple[str, Json]:
    limit = chance.choice((20, 30, 50, 100))
    if chance.random() < 0.25:
        return "list_listings", {"limit": min(limit, 30)}
    month = chance.randrange(1, 7)
    by = chance.choice(
        (
            {"arrival_from": f"2027-{month:02}-01", "arrival_to": f"2027-{month:02}-28"},
            {"channel_id": chance.choice((2018, 2005, 2000))},
            {"listing_id": chance.choice(account.listings)},
            {},
        )
    )
    return "list_reservations", {**by, "limit": limit}


def _get(account: Account, chance: Random) -> tuple[str, Json]:
    number = chance.choice(account.reservations)
    tool = chance.choices(
        ("get_reservation", "get_reservation_guest", "get_reservation_finance", "get_listing"), (4, 2, 1, 3)
    )[0]
    if tool == "get_listing":
        return tool, {"listing_id": chance.choice(account.listings)}
    return tool, {"reservation_id": number}


def _search(account: Account, chance: Random) -> tuple[str, Json]:
    match chance.randrange(3):
        case 0:
            return "list_reservations", {"match": chance.choice(_NAMES), "limit": 50}
        case 1:
            return "list_listings", {"city": chance.choice(_CITIES)}
        case _:
            return "list_reviews", {"listing_ids": chance.sample(account.listings, 3), "limit": 50}


def _report(chance: Random) -> tuple[str, Json]:
    month = chance.randrange(1, 7)
    period = {"from_date": f"2027-{month:02}-01", "to_date": f"2027-{month:02}-28"}
    match chance.randrange(5):
        case 0:
            return "export_financial_report", period
        case 1 | 2:
            return "get_analytics", {"from_date": "2027-01-01", "to_date": "2027-12-31"}
        case _:
            return "get_financial_report", period


def _calendar(account: Account, chance: Random) -> tuple[str, Json]:
    if chance.random() < 0.5:
        return "get_reservation_messages", {"reservation_id": chance.choice(account.reservations)}
    month = chance.randrange(1, 7)
    days = {"start_date": f"2027-{month:02}-01", "end_date": f"2027-{month:02}-28"}
    return "get_listing_calendar", {"listing_id": chance.choice(account.listings), **days}
