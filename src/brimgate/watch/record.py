"""The record of one answer: what is kept of a decision, with nothing of its content."""

import re
from hashlib import blake2b
from math import isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

from brimgate.hold.stores.contract import account_of

if TYPE_CHECKING:
    from brimgate.engine.decision import Decision

_MAX_NAME_CHARS: Final = 100
_MAX_PATH_CHARS: Final = 1_000
"""A path is cut after what is left of it: half an id would not be known for one."""
_DIGEST_BYTES: Final = 6
_TOOL: Final = re.compile(r"[\w.:/-]{1,200}")
_WORD: Final = re.compile(r"v\d{1,3}|[A-Za-z]{1,30}(?:[_-][A-Za-z]{1,30}){0,4}")
_ODD: Final = "_odd_name"


class Record(NamedTuple):
    """What is kept of an answer. The names are those of the columns."""

    time: float
    upstream: str
    tool: str
    client: str
    principal: str
    """A digest of whose it is, behind its kind."""
    outcome: str
    arm: str
    kind: str
    trial_outcome: str
    """What protection would have done, in the arm `shadow`; empty elsewhere."""
    original_tokens: int
    estimated_tokens: int
    trial_tokens: int
    original_bytes: int
    response_bytes: int
    item_count: int
    items_shown: int
    latency_us: int
    engine_us: int
    cursor_issued: bool
    cursor_followed: bool
    cursor_expired: bool
    oversized: bool
    repeated: int
    """1 if the same caller has made the same call a short while ago, 2 if it had got a page of it then."""
    highlights: int
    answer: int
    """The number of the held answer, by which reads are counted where it was issued."""

    @classmethod
    def of(cls, decision: "Decision", repeated: int = 0) -> "Record":
        """Make the record. This measures the answer if nobody has done so yet."""
        if not isfinite(decision.time):
            raise ValueError(f"an answer at {decision.time}")
        sizes = decision.measured()
        trial = sizes.trial
        return cls(
            decision.time,
            kept_name(decision.upstream),
            tool_name(decision.tool[:_MAX_PATH_CHARS]),
            kept_name(decision.client),
            fingerprint(decision.principal_id or decision.principal),
            decision.outcome,
            decision.arm,
            sizes.kind,
            trial.outcome if trial is not None else "",
            sizes.original_tokens,
            sizes.estimated_tokens,
            trial.tokens if trial is not None else 0,
            decision.original_bytes,
            decision.response_bytes,
            sizes.item_count,
            sizes.items_shown,
            round(decision.latency_seconds * 1_000_000),
            round(decision.engine_seconds * 1_000_000),
            decision.issued_cursor,
            decision.followed_cursor,
            decision.has_expired,
            decision.is_oversized,
            repeated,
            decision.highlights,
            decision.answer,
        )


def fingerprint(principal: str) -> str:
    """Return what a record tells of a principal: its kind and a digest, the same whatever it shows to upstreams."""
    account = account_of(principal)
    kind, colon, _ = account.partition(":")
    if not colon:
        return kept_name(account)
    digest = blake2b(account.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES)
    return f"{kept_name(kind)}:{digest.hexdigest()}"


def tool_name(tool: str) -> str:
    """Return the name of a tool as it is kept. What no tool is called comes from a caller, and may tell anything."""
    return kept_name(route(tool) if tool.startswith("/") else tool if _TOOL.fullmatch(tool) else _ODD)


def route(path: str) -> str:
    """Return the path of a REST request without what names one thing of many: only plain words are kept."""
    return "/".join(one if not one or _WORD.fullmatch(one) else "{id}" for one in path.split("/"))


def kept_name(text: str) -> str:
    """Return a name as it can be kept, whoever made it up: short, and without halves of characters."""
    return text[:_MAX_NAME_CHARS].encode("utf-8", "replace").decode("utf-8")
