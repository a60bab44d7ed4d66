"""Whatever is done to a cursor, or with one, by anyone but its owner: it is refused, with one error."""

import json
import os
import random
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product

import pytest

from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.query import parse_query
from brimgate.errors import CursorError
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore
from tests.engine.holding import KEY, NOW, policy

FORGERIES = int(os.environ.get("BRIMGATE_FORGED_CURSORS", "20000"))
"""`make soak` tries more."""
USERS, UPSTREAMS, TOOLS = ("ann", "bob", "ann\0team"), ("notes", "tasks"), ("list", "find")
OTHER_KEY = bytes(range(100, 132))
LETTERS = "ABCXYZabcxyz0189-_=+/ .é\n\0"
FIRST = parse_query()
ERROR = str(CursorError())


@dataclass(frozen=True)
class Given:
    """A cursor, and who reads it when."""

    cursor: str
    binding: Binding
    now: float = NOW


def document(binding: Binding) -> bytes:
    dice = random.Random(repr(binding))
    rows = [{"row": row, "tool": binding.tool, "note": f"{dice.getrandbits(128):x}"} for row in range(60)]
    return json.dumps(rows).encode()


def protection(*keys: bytes) -> Protection:
    return Protection(policy(300), KeyRing(*keys), MemoryStore())


@pytest.fixture(scope="module")
def held() -> Protection:
    return protection(KEY)


@pytest.fixture(scope="module")
def genuine(held: Protection) -> list[Given]:
    """Of every caller, server and tool: the next page, and a page of a search, which has a view of its own."""
    found: list[Given] = []
    for names in product(USERS, UPSTREAMS, TOOLS):
        binding = Binding(*names)
        reply = held.protect(document(binding), binding, NOW)
        assert reply is not None
        cursor = reply.record["nextCursor"]
        searched = held.read(cursor, binding, parse_query(search="row"), NOW)
        found += [Given(one, binding) for one in (cursor, searched.record["nextCursor"])]
    return found


Forge = Callable[[random.Random, Given, Given], Given]


def bits(dice: random.Random, given: Given, _: Given) -> Given:
    data = bytearray(urlsafe_b64decode(given.cursor + "=="))
    for at in dice.choices(range(len(data)), k=dice.randrange(1, 4)):
        data[at] ^= 1 << dice.randrange(8)
    return replace(given, cursor=urlsafe_b64encode(data).rstrip(b"=").decode())


def letters(dice: random.Random, given: Given, _: Given) -> Given:
    at = dice.randrange(len(given.cursor))
    return replace(given, cursor=given.cursor[:at] + dice.choice(LETTERS) + given.cursor[at + 1 :])


def length(dice: random.Random, given: Given, _: Given) -> Given:
    cut, more = dice.randrange(len(given.cursor)), dice.choice(LETTERS) * dice.randrange(1, 9)
    return replace(given, cursor=dice.choice((given.cursor[:cut], given.cursor + more, more + given.cursor)))


def spliced(dice: random.Random, given: Given, other: Given) -> Given:
    at = dice.randrange(1, len(given.cursor))
    return replace(given, cursor=given.cursor[:at] + other.cursor[at:])


def expiry(dice: random.Random, given: Given, _: Given) -> Given:
    """Said to be valid for longer, under the same seal."""
    data = bytearray(urlsafe_b64decode(given.cursor + "=="))
    minute = int.from_bytes(data[9:13], "big") + dice.randrange(1, 1_000_000)
    data[9:13] = minute.to_bytes(4, "big")
    return replace(given, cursor=urlsafe_b64encode(data).rstrip(b"=").decode())


def expired(dice: random.Random, given: Given, _: Given) -> Given:
    return replace(given, now=NOW + 700 + dice.random() * 1e6)


def swapped(dice: random.Random, given: Given, other: Given) -> Given:
    return replace(given, binding=other.binding)


def sealed(dice: random.Random, given: Given, other: Given) -> Given:
    """By another key, for whoever reads it."""
    ring = KeyRing(OTHER_KEY)
    return replace(
        given, cursor=ring.seal(KeyRing(KEY).unseal(given.cursor, given.binding, 0), given.binding)
    )


def resealed(dice: random.Random, given: Given, other: Given) -> Given:
    """By the right key, for the reader, to what is held for another: not even then."""
    cursor = KeyRing(KEY).unseal(other.cursor, other.binding, 0)
    return replace(given, cursor=KeyRing(KEY).seal(cursor, given.binding))


FORGE: tuple[Forge, ...] = (bits, letters, length, spliced, expiry, expired, swapped, sealed, resealed)


def test_no_forged_cursor_is_accepted_and_all_get_one_error(held: Protection, genuine: list[Given]) -> None:
    dice, tried = random.Random(11), Counter[str]()
    while tried.total() < FORGERIES:
        forge, (given, other) = dice.choice(FORGE), dice.sample(genuine, 2)
        forged = forge(dice, given, other)
        if forged in genuine or (forge is resealed and other.binding.principal == given.binding.principal):
            continue
        tried[forge.__name__] += 1
        assert refusal(held, forged) == refusal_to_reader(held, forged) == ERROR, (forge.__name__, forged)
    assert set(tried) == {forge.__name__ for forge in FORGE}
    for one in genuine:
        assert held.read(one.cursor, one.binding, FIRST, one.now).text


def refusal(held: Protection, given: Given) -> str:
    """As over REST, where the path tells the tool."""
    try:
        held.read(given.cursor, given.binding, FIRST, given.now)
    except Exception as error:  # noqa: BLE001  # only one is right
        return str(error)
    return ""


def refusal_to_reader(held: Protection, given: Given) -> str:
    """As for the read tool, which serves all tools of a caller: there a swap of the tool alone is none."""
    try:
        binding = held.owner(given.cursor, given.binding.principal, given.binding.upstream)
        held.read(given.cursor, binding, FIRST, given.now)
    except Exception as error:  # noqa: BLE001
        return str(error)
    return ERROR if binding.tool != given.binding.tool else ""
