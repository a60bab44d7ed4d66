"""Find what differs from the rest: what a cut at the head hides is often what the reader most needs.

Error levels, rare line templates, outlying numbers, rare keys and values, changed types, missing fields: each with
its place. Deterministic, and linear in the size of the answer.
"""

from dataclasses import replace

from brimgate.engine.document import Document, one_line
from brimgate.engine.highlights.findings import Finding, Highlights, sample
from brimgate.engine.highlights.odd_lines import alarm_lines, odd_lines
from brimgate.engine.highlights.odd_rows import odd_rows
from brimgate.engine.highlights.row_source import Rows, read_rows
from brimgate.engine.textkind import TextKind

__all__ = ["Highlights", "find_highlights"]

_LINE_KINDS = (TextKind.LOG, TextKind.TRACE)
_LOOSE_KINDS = (TextKind.PROSE, TextKind.LISTING, TextKind.CSV)
"""Text that may be the output of a program: only its alarms are shown."""


def find_highlights(document: Document, pointer: str = "", note: str = "") -> Highlights:
    """Find what stands out in the document at `pointer`, for the first reply.

    A place is named as it is asked for: an item by its JSON pointer in the whole answer, a line of a text by its number
    from 1.
    """
    try:
        part = sample(document)
        findings, unit = _find(part.document)
        if (places := part.places) is not None:
            base = 0 if unit == "item" else 1
            findings = [replace(one, place=places[one.place - base] + base) for one in findings]
    except Exception:  # noqa: BLE001  # a guess about foreign data must never cost the answer itself
        return Highlights([])
    # A pointer that does not fit on a line cannot be named; what is left of it is no pointer, and looks like none.
    above = pointer if one_line(pointer) == pointer else "…"
    return Highlights(findings, f"{above}/" if unit == "item" else "line ", part.note or note)


def _find(document: Document) -> tuple[list[Finding], str]:
    rows = read_rows(document)
    if isinstance(rows, Rows):
        return odd_rows(rows), rows.unit
    if rows:
        return odd_lines(rows), "item"
    if not document.is_json and document.long_text.kind in _LINE_KINDS:
        lines = document.data.decode("utf-8", "replace").split("\n")
        return odd_lines(lines, entries_only=True), "line"
    if not document.is_json and document.long_text.kind in _LOOSE_KINDS:
        return alarm_lines(document.data.decode("utf-8", "replace").split("\n")), "line"
    return [], "line"
