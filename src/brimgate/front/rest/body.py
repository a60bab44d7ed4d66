"""Bodies put together from raw JSON, and the count of their tokens, which stands in them."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.replies.reply import budget_fields
from brimgate.engine.tokens.estimator import Estimator

CURSOR: Final = "Zq3_" * 14
"""As long as cursors get: stands for one while we try what fits."""
_ROUNDS: Final = 6


class Unfit(Exception):
    """This shape cannot be brought within the budget; a plainer one can."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """What goes out instead of an answer."""

    body: bytes
    kind: str
    tokens: int
    budget: int
    items: int = 0
    missing: tuple[str, ...] = ()
    """Fields that were asked for and are nowhere."""


Members = Iterable[tuple[str, bytes]]


def written(members: Members) -> bytes:
    return b"{" + b",".join(quoted(key) + b":" + raw for key, raw in members) + b"}"


def quoted(text: str) -> bytes:
    return jsontext.quote(text).encode("utf-8", "replace")


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def encoded_members(values: dict[str, Any]) -> list[tuple[str, bytes]]:
    return [(key, encoded(value)) for key, value in values.items()]


def settled(
    make: Callable[[list[tuple[str, bytes]]], bytes], budget: int, estimator: Estimator
) -> tuple[bytes, int]:
    """The body that tells its own size, and that size: told, counted and told again until both agree."""
    told = budget
    body, tokens = b"", -1
    for _ in range(_ROUNDS):
        body = make(encoded_members(budget_fields(told, budget)))
        tokens = estimator.ceiling(body)
        if tokens == told:
            break
        told = tokens
    return body, tokens
