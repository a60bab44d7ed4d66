"""One thing that stands out, and how a list of them is written."""

import re
from dataclasses import dataclass
from typing import Final

from brimgate.engine.tokens.estimator import Estimator

_MAX_SHOWN: Final = 16
"""In wide rows something is always a little odd: beyond this it is noise, and the page needs the room."""
_MAX_CHARS: Final = 360
_HEADS: Final = {
    "item": "stands out from the rest{note} (items counted from 0, as in a path):",
    "line": "stands out from the rest{note}:",
}
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Finding:
    place: int
    """Line number from 1, or index of the item from 0."""
    score: float
    text: str


def write_findings(
    findings: list[Finding], unit: str, estimator: Estimator, budget: int, note: str = ""
) -> str:
    """The best that fit, in source order."""
    head = _HEADS[unit].format(note=f" {note}" if note else "")
    best = sorted(findings, key=lambda finding: (-finding.score, finding.place))[:_MAX_SHOWN]
    lines = {finding.place: f"{unit} {finding.place}: {clip(finding.text)}" for finding in reversed(best)}
    ranked = [finding.place for finding in best]
    while ranked:
        shown = [lines[place] for place in sorted(set(ranked))]
        text = "\n".join([head, *shown])
        tokens = estimator.ceiling(text)
        if tokens <= budget:
            return text
        keep = min(len(ranked) - 1, int(len(ranked) * budget / tokens))
        ranked = ranked[:keep]
    return ""


def clip(text: str) -> str:
    """One line, cut in the middle when long: what is odd often stands at the end."""
    text = _SPACE.sub(" ", text).strip()
    if len(text) <= _MAX_CHARS:
        return text
    return f"{text[: _MAX_CHARS * 2 // 3]} … {text[-_MAX_CHARS // 3 :]}"
