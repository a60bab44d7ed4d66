"""Brimgate's replies as a client program reads them, out of the results it gets."""

from collections.abc import Iterable
from typing import Any

from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.rebuild import Rebuilder
from tests.relay.conversation import following as following_of
from tests.relay.conversation import reply_of

Result = dict[str, Any]
"""The result of a tools/call, as on the wire."""


def record_of(result: Result) -> dict[str, Any] | None:
    """None if the result was not reduced."""
    return (result.get("_meta") or {}).get("brimgate/result")


def following(result: Result) -> str | None:
    """The cursor to go on with, if anything is left; behind a derived view, the one that leads to everything."""
    record = record_of(result)
    return following_of(record) if record is not None else None


def rebuild(results: Iterable[Result]) -> bytes:
    rebuilder = Rebuilder()
    for result in results:
        rebuilder.feed(reply_of(result))
    return rebuilder.answer()


def as_rebuilt(text: str) -> bytes:
    """What a walk through a held text must give back: JSON in its canonical form, anything else as it is."""
    source = Document(text.encode())
    return jsontext.canonical(source.data) if source.is_json else source.data
