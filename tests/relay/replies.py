"""Headgate's replies as a client program reads them, out of the results it gets."""

from collections.abc import Iterable
from typing import Any

from headgate.engine import jsontext
from headgate.engine.rebuild import Rebuilder
from headgate.engine.reply import Reply
from headgate.engine.source import Source

Result = dict[str, Any]
"""The result of a tools/call, as on the wire."""


def record_of(result: Result) -> dict[str, Any] | None:
    """None if the result was not reduced."""
    return (result.get("_meta") or {}).get("headgate/result")


def following(result: Result) -> str | None:
    """The cursor to go on with, if anything is left; behind a derived view, the one that leads to everything."""
    record = record_of(result)
    if record is None:
        return None
    return record["detailsAvailable"]["cursor"] if record.get("derived") else record.get("nextCursor")


def texts_of(result: Result) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


def reply_of(result: Result) -> Reply:
    record = record_of(result)
    assert record is not None
    notice, payload = texts_of(result)
    return Reply.from_wire(notice, payload, record)


def rebuild(results: Iterable[Result]) -> bytes:
    rebuilder = Rebuilder()
    for result in results:
        rebuilder.feed(reply_of(result))
    return rebuilder.answer()


def as_rebuilt(text: str) -> bytes:
    """What a walk through a held text must give back: JSON in its canonical form, anything else as it is."""
    source = Source(text.encode())
    return jsontext.canonical(source.data) if source.is_json else source.data
