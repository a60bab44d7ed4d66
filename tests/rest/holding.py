"""The pure shapes with a memory of their own: no sockets, no application."""

import json
from dataclasses import dataclass, field
from typing import Any

from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.policy import Policy
from brimgate.engine.query import Query
from brimgate.engine.rebuild import Rebuilder
from brimgate.engine.replies.reply import Reply
from brimgate.engine.replies.rest_frame import RestFrame, Shaped
from brimgate.engine.replies.rest_reply import read_on, rest_policy, shape
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore

_WHO = Binding("ann", "rest", "/things")


@dataclass
class Held:
    data: bytes
    policy: Policy
    store: MemoryStore = field(default_factory=MemoryStore)

    def __post_init__(self) -> None:
        self.policy = rest_policy(self.policy)
        ring = KeyRing(bytes(range(7, 39)))
        self.protection = Protection(self.policy, ring, self.store)

    def first(self, **asked: Any) -> Shaped | None:
        held = self.protection.hold(self.data, _WHO, 0)
        return shape(RestFrame(held.document, self.policy, held.issue, "/things"), Query(**asked))

    def read(self, cursor: str, **asked: Any) -> Shaped:
        held, view, position = self.protection.opened(cursor, _WHO, 0)
        scene = RestFrame(held.document, self.policy, held.issue, "/things", is_repeatable=False)
        return read_on(scene, view, position, Query(**asked))

    def all(self, first: Shaped) -> list[Any]:
        """The bodies of an answer and of all that its cursors lead to, each checked against its budget."""
        bodies: list[Any] = []
        shaped = first
        while True:
            assert self.policy.estimator.ceiling(shaped.body) == shaped.tokens <= shaped.budget
            assert shaped.budget <= self.policy.hard_output_token_cap
            bodies.append(json.loads(shaped.body))
            if shaped.kind in ("page", "part", "chunk", "preview"):
                told = bodies[-1]["metadata" if shaped.kind == "chunk" else "meta"]
                assert told["estimatedTokens"] == shaped.tokens
            cursor = bodies[-1].get("nextCursor") if isinstance(bodies[-1], dict) else None
            if shaped.kind not in ("page", "part", "chunk") or cursor is None:
                return bodies
            assert len(bodies) < 20_000
            shaped = self.read(cursor)


def rebuilt(bodies: list[dict[str, Any]]) -> bytes:
    """The answer that a walk in parts went through; text chunks of all of it take the place of what came before."""
    texts = [body["content"] for body in bodies if "chunkIndex" in body]
    if texts:
        return "".join(texts).encode()
    rebuilder = Rebuilder()
    for body in bodies:
        meta = body["meta"]
        is_text = meta["part"] in ("text", "literal")
        content = body["content"] if is_text else json.dumps(body["content"])
        record = {
            "kind": "page",
            "path": meta["path"],
            "part": meta["part"],
            "format": "text" if is_text else "json",
            "shown": {"from": meta["from"]},
            "total": {meta["part"]: meta["total"]},
            "steps": meta.get("steps", []),
        }
        rebuilder.feed(Reply("", content, record))
    return rebuilder.answer()
