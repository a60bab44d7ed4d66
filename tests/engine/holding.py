"""A held answer for tests: the real engine, keys and store, with a clock that stands still."""

from dataclasses import dataclass, field
from typing import Any

from brimgate.engine import jsontext
from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.document import Document
from brimgate.engine.policy import Policy
from brimgate.engine.query import Query, parse_query
from brimgate.engine.rebuild import Rebuilder, next_on_walk
from brimgate.engine.replies.reply import Reply
from brimgate.engine.tokens.estimator import Estimator
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore

NOW = 1_800_000_000.0
KEY = bytes(range(7, 39))
BINDING = Binding("ann", "hostaway", "list_bookings")


def policy(budget: int = 4_000, family: str = "o200k", **changes: object) -> Policy:
    names = ("output_token_threshold", "object_threshold", "chunk_threshold")
    chosen = dict.fromkeys(names, budget) | {
        "hard_output_token_cap": max(budget, 12_000),
        "estimator": Estimator(family),
        "text_slack": 0.0,
    }
    return Policy(**(chosen | changes))  # type: ignore[arg-type]


@dataclass
class Held:
    """One answer behind the gate, and what a client can do with it."""

    data: bytes
    policy: Policy = field(default_factory=policy)

    def __post_init__(self) -> None:
        self.store = MemoryStore()
        self.protection = Protection(self.policy, KeyRing(KEY), self.store)

    def first(self) -> Reply | None:
        return self.protection.protect(self.data, BINDING, NOW)

    def opening(self) -> Reply:
        reply = self.first()
        assert reply is not None, "the answer was expected not to fit"
        return reply

    def read(self, cursor: str, **arguments: Any) -> Reply:
        return self.protection.read(cursor, BINDING, parse_query(**arguments), NOW)

    def ask(self, **arguments: object) -> Reply:
        """Look at the answer in a way of one's own, from its first cursor."""
        record = self.opening().record
        cursor = record.get("nextCursor") or record["detailsAvailable"]["cursor"]
        return self.read(cursor, **arguments)

    def follow(self, reply: Reply | None, *, walking: bool = False) -> list[Reply]:
        """The reply and all that its cursors lead to; walking, past derived views to everything behind them."""
        replies: list[Reply] = []
        seen: set[str] = set()
        while reply is not None:
            replies.append(reply)
            cursor = next_on_walk(reply) if walking else reply.record.get("nextCursor")
            assert cursor not in seen, "the walk goes in circles"
            if cursor is None:
                return replies
            seen.add(cursor)
            reply = self.protection.read(cursor, BINDING, Query(), NOW)
        return replies

    def walk(self) -> list[Reply]:
        return self.follow(self.first(), walking=True)

    def tokens(self, reply: Reply) -> int:
        return self.policy.estimator.ceiling(reply.text)


def rebuilt(replies: list[Reply]) -> bytes:
    rebuilder = Rebuilder()
    for reply in replies:
        rebuilder.feed(reply)
    return rebuilder.answer()


def original(data: bytes) -> bytes:
    """What a rebuilt answer is compared with: the bytes of a text, the canonical text of JSON."""
    return jsontext.canonical(data) if Document(data).is_json else data
