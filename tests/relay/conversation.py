"""A session without I/O, talked to in Python values: what goes in on one side and comes out on the other."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from brimgate.engine.cursor import KeyRing
from brimgate.engine.decision import Decision
from brimgate.engine.policy import CatalogOptions, Policy, Rules, ToolRule
from brimgate.engine.rebuild import Rebuilder
from brimgate.engine.replies.reply import Reply
from brimgate.engine.tokens.estimator import Estimator
from brimgate.hold.protection import Protection
from brimgate.hold.stores.contract import Bounds
from brimgate.hold.stores.memory import MemoryStore
from brimgate.relay.actions import Decided, Note, ToClient, ToUpstream
from brimgate.relay.session import Session

KEY = bytes(range(1, 33))
NOW = 1_800_000_000.0
ESTIMATOR = Estimator()


def policy(budget: int = 2_000, **changes: Any) -> Policy:
    names = ("output_token_threshold", "object_threshold", "chunk_threshold")
    chosen: dict[str, Any] = dict.fromkeys(names, budget) | {"text_slack": 0.0}
    return Policy(**(chosen | changes))


@dataclass(frozen=True)
class GivenProtection:
    """One that is there already."""

    protection: Protection

    is_loaded = True

    @property
    def blocks(self) -> bool:
        return self.protection.store.blocks

    def __call__(self) -> Protection:
        return self.protection


class Conversation:
    def __init__(
        self,
        rule: ToolRule | None = None,
        resolve: Callable[[str], ToolRule] | None = None,
        bounds: Bounds | None = None,
        *,
        chained: bool = False,
        catalog: CatalogOptions | None = None,
    ) -> None:
        rule = rule or ToolRule(policy())
        self.now = NOW
        self.store = MemoryStore(bounds)
        protection = Protection(rule.policy, KeyRing(KEY), self.store)
        rules = Rules(resolve or (lambda _: rule), chained=chained, catalog=catalog or CatalogOptions())
        self.session = Session(rules, GivenProtection(protection), lambda: self.now)
        self.notes: list[Note] = []
        self.decisions: list[Decision] = []
        self._ids = 100

    def client(self, line: bytes) -> tuple[list[bytes], list[bytes]]:
        """What reaches the upstream, and what the client is answered at once."""
        return self._sort(self.session.from_client(line))

    def upstream(self, line: bytes) -> tuple[list[bytes], list[bytes]]:
        return self._sort(self.session.from_upstream(line))

    def _sort(self, actions: list[Any]) -> tuple[list[bytes], list[bytes]]:
        self.notes += [action for action in actions if isinstance(action, Note)]
        self.decisions += [action.decision for action in actions if isinstance(action, Decided)]
        onward = [bytes(action.data) for action in actions if isinstance(action, ToUpstream)]
        back = [bytes(action.data) for action in actions if isinstance(action, ToClient)]
        return onward, back

    def exchange(self, method: str, params: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
        """One request to the upstream and its answer (`result` or `error`), as the client gets it."""
        self._ids += 1
        request = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params}
        onward, back = self.client(json.dumps(request).encode())
        assert len(onward) == 1 and not back
        _, got = self.upstream(json.dumps({"jsonrpc": "2.0", "id": self._ids} | answer).encode())
        assert len(got) == 1
        return json.loads(got[0])

    def call(self, result: dict[str, Any], tool: str = "tool") -> dict[str, Any]:
        """A tools/call whose result is this, as the client gets it."""
        return self.exchange("tools/call", {"name": tool, "arguments": {}}, {"result": result})["result"]

    def read(self, *, modern: bool = False, **arguments: Any) -> dict[str, Any]:
        """Our own tool; nothing of it may reach the upstream."""
        self._ids += 1
        params: dict[str, Any] = {"name": "brimgate_read", "arguments": arguments}
        if modern:
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
        request = {"jsonrpc": "2.0", "id": self._ids, "method": "tools/call", "params": params}
        onward, back = self.client(json.dumps(request).encode())
        assert not onward
        answer = json.loads(back[0])
        assert answer["id"] == self._ids
        return answer["result"]

    def walk(self, first: dict[str, Any]) -> bytes:
        """Everything that was held, by following the cursors alone."""
        rebuilder = Rebuilder()
        result = first
        for _ in range(10_000):
            reply = reply_of(result)
            rebuilder.feed(reply)
            cursor = following(reply.record)
            if not cursor:
                return rebuilder.answer()
            result = self.read(cursor=cursor)
            assert not result.get("isError"), result
        raise AssertionError("a walk without end")


def following(record: dict[str, Any]) -> str | None:
    return record["detailsAvailable"]["cursor"] if record.get("derived") else record.get("nextCursor")


def record_of(result: dict[str, Any]) -> dict[str, Any]:
    return result["_meta"]["brimgate/result"]


def reply_of(result: dict[str, Any]) -> Reply:
    """The reply behind a result, from what is on the wire alone."""
    record = record_of(result)
    payload = result["content"][record.get("payloadBlock", 1)]
    return Reply.from_wire(result["content"][0]["text"], payload.get("text", ""), record)


def texts(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


def cost(result: dict[str, Any]) -> int:
    """What a model pays for a result, structured data and all, images aside."""
    parts = texts(result)
    if "structuredContent" in result:
        parts.append(json.dumps(result["structuredContent"], separators=(",", ":"), ensure_ascii=False))
    return ESTIMATOR.ceiling("\n".join(parts))
