"""Plots as SVG, written by hand: the same figures give the same bytes. They bring their own background."""

import math
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final, NamedTuple

WIDTH: Final = 860
_PAPER: Final = "#ffffff"
_INK: Final = "#1f2328"
_FAINT: Final = "#d0d7de"
_OURS: Final = "#0b62c4"
_THEIRS: Final = "#8c959f"
_ROW: Final = 30
_LEFT: Final = 170
_RIGHT: Final = 190


class Bar(NamedTuple):
    name: str
    value: float
    label: str
    is_ours: bool


def _page(height: int, title: str, body: Iterator[str]) -> str:
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
    return "\n".join(
        [
            f'{drawing} font-family="system-ui, sans-serif" font-size="13" fill="{_INK}">',
            f"<title>{escape(title)}</title>",
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="{_PAPER}"/>',
            f'<text x="20" y="30" font-size="16" font-weight="600">{escape(title)}</text>',
            *body,
            "</svg>\n",
        ]
    )


def _text(x: float, y: float, words: str, *, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'


def shares(title: str, rows: Sequence[Bar]) -> str:
    """Draw a bar for each row, whose values are from 0 to 1."""
    marks = [(share / 4, f"{share * 25}%") for share in range(5)]
    return _bars(title, rows, marks, lambda value: value)


def powers(title: str, rows: Sequence[Bar]) -> str:
    """Draw a bar for each row, on a scale of powers of ten."""
    values = [row.value for row in rows]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    places = [(power - low) / (high - low) for power in range(low, high + 1)]
    marks = list(zip(places, (f"{10**power:,}" for power in range(low, high + 1)), strict=True))
    return _bars(title, rows, marks, lambda value: (math.log10(value) - low) / (high - low))


def _bars(
    title: str, rows: Sequence[Bar], marks: list[tuple[float, str]], place: Callable[[float], float]
) -> str:
    width = WIDTH - _LEFT - _RIGHT
    bottom = 62 + _ROW * len(rows)

    def body() -> Iterator[str]:
        for share, words in marks:
            x = _LEFT + width * share
            yield f'<line x1="{x:.1f}" y1="48" x2="{x:.1f}" y2="{bottom}" stroke="{_FAINT}"/>'
            yield _text(x, bottom + 18, words, anchor="middle")
        for number, row in enumerate(rows):
            yield from _bar(row, 54 + _ROW * number, max(2, width * place(row.value)))

    return _page(bottom + 32, title, body())


def _bar(row: Bar, top: int, length: float) -> Iterator[str]:
    colour = _OURS if row.is_ours else _THEIRS
    yield _text(_LEFT - 10, top + 16, row.name, anchor="end", bold=row.is_ours)
    yield f'<rect x="{_LEFT}" y="{top}" width="{length:.1f}" height="22" rx="3" fill="{colour}"/>'
    yield _text(_LEFT + length + 6, top + 16, row.label, bold=row.is_ours)
