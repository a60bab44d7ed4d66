"""Lossless text forms of a JSON value, each with a decoder; `choose` picks the cheapest by measured tokens.

A model must be able to read a form that it has never seen: no primer, counts stated, and no code whose key is
further away than the header above it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from brimgate.engine.forms import columns, columns_reader, plain, table
from brimgate.engine.tokens.estimator import Estimator

MARGIN: Final = 0.97
"""Two estimates can err in opposite directions: a form other than JSON must win by this factor to be chosen."""


@dataclass(frozen=True, slots=True)
class Form:
    encode: Callable[[bytes], str | None]
    """Writes canonical JSON text in this form; None when the value does not suit it."""
    decode: Callable[[str], bytes]


def _encode_json(raw: bytes) -> str:
    return raw.decode()


FORMS: Final = {
    "json": Form(_encode_json, str.encode),
    "columns": Form(columns.encode, columns_reader.decode),
    "table": Form(table.encode, table.decode),
    "lines": Form(plain.encode_lines, plain.decode_lines),
    "bare": Form(plain.encode_bare, plain.decode_bare),
    "toon": Form(plain.encode_toon, plain.decode_toon),
}
AUTO: Final = "auto"
_CLEAR_BYTES: Final = 0.9
"""A form with at most this share of the bytes of JSON is taken to have fewer tokens, too."""
_CLEAR: Final = 0.75
"""A form that costs less than this share of JSON by the table is cheaper, whatever the table's error."""

_SMALL_BYTES: Final = 2_000
"""Of an answer this small the shorter of two forms is taken to be the cheaper."""


@dataclass(frozen=True, slots=True)
class Rendered:
    form: str
    text: str


def render(raw: bytes, form: str, estimator: Estimator, *, by_bytes: bool = False) -> Rendered:
    """Write the value in the requested form, or in JSON where that form cannot hold it."""
    if form == AUTO:
        return choose_by_bytes(raw, estimator) if by_bytes else choose(raw, estimator)
    text = FORMS[form].encode(raw)
    return Rendered(form, text) if text is not None else Rendered("json", raw.decode())


def choose(raw: bytes, estimator: Estimator) -> Rendered:
    """Choose the form with the fewest tokens; never worse than JSON."""
    as_json = Rendered("json", raw.decode())
    best = _compact(raw, estimator)
    share = estimator.table(best.text) / max(estimator.table(raw), 1)
    if share > _CLEAR:
        # Too close for the table, which errs differently on each form: count both.
        share = estimator.count(best.text) / max(estimator.count(raw), 1)
    return best if share < MARGIN else as_json


def choose_by_bytes(raw: bytes, estimator: Estimator) -> Rendered:
    """Choose a form without counting tokens: loading a vocabulary takes longer than reading a small answer."""
    best = _compact(raw, estimator)
    return best if len(best.text.encode()) <= _CLEAR_BYTES * len(raw) else Rendered("json", raw.decode())


def _compact(raw: bytes, estimator: Estimator) -> Rendered:
    """Write tables as columns, if they save much or more than leaving out needless quotes does.

    Write a value without tables without needless quotes or, if it is a list, one item a line.
    """
    text = columns.encode(raw)
    if text is not None and len(text) <= _CLEAR * len(raw):
        return Rendered("columns", text)
    best = Rendered("bare", plain.encode_bare(raw))
    size = len if len(raw) < _SMALL_BYTES else estimator.table
    if text is not None and size(text) <= size(best.text):
        return Rendered("columns", text)
    listed = plain.encode_lines(raw) if raw[:1] == b"[" else None
    if listed is not None and estimator.table(listed) < estimator.table(best.text):
        return Rendered("lines", listed)
    return best
