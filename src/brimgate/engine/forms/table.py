"""Markdown tables with flattened columns, for models and people who are used to that form."""

import re
from collections.abc import Sequence
from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.forms import columns, columns_reader
from brimgate.engine.forms import notes as legend
from brimgate.engine.forms.cells import write_column
from brimgate.engine.forms.column_paths import path_text
from brimgate.engine.forms.rows import group_rows

_RULE: Final = re.compile(r"\|(?:---\|)+\Z")
"""Ours has no spaces, so a row of `---` cells is never mistaken for it."""


def encode(raw: bytes) -> str | None:
    return columns.with_tables(raw, _write_table)


def encode_summary(raw: bytes) -> str | None:
    """Write a summary, which nobody reads back: what marks the end of a cut list is no row."""
    return columns.with_tables(raw, _write_summary)


def _write_summary(rows: Sequence[Any], label: str) -> str | None:
    marker = columns.is_marker(rows[-1])
    text = _write_table(rows[:-1] if marker else rows, label)
    return f"{text}\n{marker}" if text and marker else text


def _write_table(rows: Sequence[Any], label: str) -> str | None:
    groups, group_of = group_rows(rows)
    if len(groups) != 1:
        return None
    names = [_safe(path_text(column.path)) for column in groups[0].columns]
    written = [write_column(column.cells) for column in groups[0].columns]
    notes = legend.column_notes(groups[0].columns)
    notes |= {note for cells in written for note in legend.cell_notes(cells)}
    body = iter(zip(*written, strict=True))
    lines = [columns.heading(label, group_of, groups, notes), _line(names), "|" + "---|" * len(names)]
    for row, group in zip(rows, group_of, strict=True):
        if group is None:
            lines.append(columns.odd_row(row))
        else:
            lines.append(_line([_safe(cell) for cell in next(body)]))
    return "\n".join(lines)


def _safe(text: str) -> str:
    # Only a quoted text can contain a bar; as an escape it cannot be mistaken for the end of the cell.
    return text.replace("|", "\\u007c")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def decode(text: str) -> bytes:
    lines = (_plain(line) for line in text.split("\n") if not _RULE.match(line))
    return jsontext.canonical(columns_reader.decode("\n".join(lines)))


def _plain(line: str) -> str:
    if not line.startswith("|"):
        return line
    return "|".join(cell.strip(" ") for cell in line[1:-1].split("|"))
