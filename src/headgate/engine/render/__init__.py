"""Lossless text forms of a JSON value, each with a decoder; `choose` picks the cheapest by measured tokens.

A form must be readable by a model that has never seen it: no primer, counts stated, and no code whose key is
further away than the header above it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from headgate.engine.render import columns, columns_reader, lines, table, toon
from headgate.engine.tokens import Estimator

MARGIN: Final = 0.97
"""Estimates of two texts can err apart: another form than JSON must win by this to be chosen."""


@dataclass(frozen=True, slots=True)
class Form:
    encode: Callable[[bytes], str | None]
    """Canonical JSON text to this form; None when the value does not suit it."""
    decode: Callable[[str], bytes]


def _encode_json(raw: bytes) -> str:
    return raw.decode()


FORMS: Final = {
    "json": Form(_encode_json, str.encode),
    "columns": Form(columns.encode, columns_reader.decode),
    "table": Form(table.encode, table.decode),
    "lines": Form(lines.encode, lines.decode),
    "toon": Form(toon.encode, toon.decode),
}
AUTO: Final = "auto"
_CANDIDATES: Final = ("columns", "lines")


@dataclass(frozen=True, slots=True)
class Rendered:
    form: str
    text: str


def render(raw: bytes, form: str, estimator: Estimator) -> Rendered:
    """The value in the form asked for; in JSON where that form cannot hold it."""
    if form == AUTO:
        return choose(raw, estimator)
    text = FORMS[form].encode(raw)
    return Rendered(form, text) if text is not None else Rendered("json", raw.decode())


def choose(raw: bytes, estimator: Estimator) -> Rendered:
    """The form with the fewest tokens; never worse than JSON."""
    best = Rendered("json", raw.decode())
    cost = MARGIN * estimator.table(raw)
    for name in _CANDIDATES:
        text = FORMS[name].encode(raw)
        if text is not None and (tokens := estimator.table(text)) < cost:
            best, cost = Rendered(name, text), tokens
    return best
