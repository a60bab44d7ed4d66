"""Draw savings: three bars per operation for pretty JSON, minified JSON, and the shown text."""

from collections.abc import Sequence
from typing import Final
from xml.sax.saxutils import escape

from brimgate.cli.savings import Summary

_LABEL: Final = 190
_BARS: Final = 520
_WIDTH: Final = _LABEL + _BARS + 130
_BAR: Final = 13
_ROW: Final = 3 * _BAR + 16
_TOP: Final = 58
_COLOURS: Final = {"pretty": "#b9c2cc", "minified": "#7a8894", "shown": "#1f7a5a"}
_MISSED: Final = "#b3402a"


def chart(summaries: Sequence[Summary]) -> str:
    """Return a standalone SVG."""
    height = _TOP + _ROW * len(summaries) + 10
    most = max((one.tokens.pretty for one in summaries), default=1) or 1
    rows = [_row(one, _TOP + _ROW * index, most) for index, one in enumerate(summaries)]
    size = f'width="{_WIDTH}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_WIDTH} {height}"'
    parts = (
        f'{head} font-family="sans-serif" font-size="12">',
        f'<rect {size} fill="#ffffff"/>',
        '<text x="10" y="22" font-size="15">Tokens per answer</text>',
        *_legend(),
        *rows,
        "</svg>",
    )
    return "\n".join(parts) + "\n"


def _legend() -> list[str]:
    parts: list[str] = []
    for index, (name, colour) in enumerate(_COLOURS.items()):
        x = 10 + index * 110
        parts.append(f'<rect x="{x}" y="34" width="11" height="11" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="44">{name}</text>')
    return parts


def _row(summary: Summary, y: int, most: float) -> str:
    parts = [f'<text x="10" y="{y + _BAR * 2 - 3}">{escape(summary.operation[:28])}</text>']
    for index, (name, colour) in enumerate(_COLOURS.items()):
        tokens: float = getattr(summary.tokens, name)
        width = max(tokens / most * _BARS, 1)
        top = y + index * _BAR
        fill = _MISSED if name == "shown" and not summary.is_met else colour
        parts.append(f'<rect x="{_LABEL}" y="{top}" width="{width:.1f}" height="{_BAR - 2}" fill="{fill}"/>')
        told = f"{tokens:,.0f}"
        if name == "shown":
            told += f" (−{summary.tokens.of_minified.mean:.0f} %)"
        parts.append(f'<text x="{_LABEL + width + 5:.1f}" y="{top + _BAR - 3}" font-size="11">{told}</text>')
    return "\n".join(parts)
