"""The ways servers write the same rows."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from bench.generators.planting import Encode


def compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def spaced(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def pretty(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()


def wide_pretty(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=4).encode() + b"\n"


def escaped(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode()


def python_dicts(rows: Sequence[dict[str, Any]]) -> bytes:
    return repr(list(rows)).encode()


def python_tuples(rows: Iterable[dict[str, Any]]) -> bytes:
    return repr([tuple(row.values()) for row in rows]).encode()


def separated(delimiter: str, line_end: str = "\n") -> Encode:
    def encode(rows: Sequence[dict[str, Any]]) -> bytes:
        out = io.StringIO()
        writer = csv.DictWriter(out, list(rows[0]), delimiter=delimiter, lineterminator=line_end)
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue().encode()

    return encode


def psql(rows: Sequence[dict[str, Any]]) -> bytes:
    """Header and rule, so the first row is line 2."""
    widths = _widths(rows)
    head = " | ".join(name.center(width) for name, width in zip(rows[0], widths, strict=True))
    rule = "-+-".join("-" * width for width in widths)
    body = [" " + " | ".join(_aligned(row, widths)) for row in rows]
    return "\n".join([" " + head, "-" + rule + "-", *body, f"({len(rows)} rows)", ""]).encode()


def mysql(rows: Sequence[dict[str, Any]]) -> bytes:
    """Boxed, so the first row is line 3."""
    widths = _widths(rows)
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    head = _boxed(name.ljust(width) for name, width in zip(rows[0], widths, strict=True))
    body = [_boxed(_aligned(row, widths)) for row in rows]
    return "\n".join([rule, head, rule, *body, rule, f"{len(rows)} rows in set (0.04 sec)", ""]).encode()


def markdown_table(rows: Sequence[dict[str, Any]]) -> bytes:
    """Header and rule, so the first row is line 2."""
    rule = _boxed("---" for _ in rows[0])
    return "\n".join([_boxed(rows[0]), rule, *(_boxed(_cells(row)) for row in rows), ""]).encode()


def _cells(row: dict[str, Any]) -> list[str]:
    return ["" if value is None else str(value) for value in row.values()]


def _widths(rows: Sequence[dict[str, Any]]) -> list[int]:
    columns = zip(list(rows[0]), *(_cells(row) for row in rows), strict=True)
    return [max(map(len, column)) for column in columns]


def _aligned(row: dict[str, Any], widths: Iterable[int]) -> list[str]:
    return [
        cell.rjust(width) if isinstance(value, int | float) else cell.ljust(width)
        for cell, value, width in zip(_cells(row), row.values(), widths, strict=True)
    ]


def _boxed(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
