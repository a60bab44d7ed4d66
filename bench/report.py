"""One measured figure beside its bar."""

from typing import NamedTuple


class Row(NamedTuple):
    bar: str
    target: str
    """Empty for a figure that is only told."""
    measured: str
    met: bool


def table(rows: list[Row]) -> str:
    lines = ["| what | bar | measured | |", "|---|---|---|---|"]
    for row in rows:
        mark = "" if not row.target else "met" if row.met else "**missed**"
        lines.append(f"| {row.bar} | {row.target} | {row.measured} | {mark} |")
    return "\n".join(lines)
