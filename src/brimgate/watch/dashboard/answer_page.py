"""The page of one answer: the call that made it, what was sent of it, and what is still held."""

import json
from dataclasses import dataclass
from typing import Final

import msgspec

from brimgate.watch.dashboard.figures import AnswerLine
from brimgate.watch.dashboard.markup import Child, Markup, element
from brimgate.watch.dashboard.overview import OUTCOME_HINTS, answer_url, shown_items
from brimgate.watch.dashboard.page_frame import (
    ROOT,
    PageAddress,
    Viewer,
    moment,
    page,
    percent,
    seconds,
    section,
)
from brimgate.watch.exhibit import Exhibit

PART_CHARS: Final = 50_000
"""Of a held answer, so much is shown on one page."""


@dataclass(frozen=True, slots=True)
class HeldPart:
    """A part of an answer that is still held."""

    text: str
    number: int
    parts: int
    size: int
    """The bytes of the whole."""
    is_whole: bool = True
    """Whether the parts are all of it. Of a very large answer only the beginning is shown."""


def answer_page(
    line: AnswerLine,
    exhibit: Exhibit | None,
    held: HeldPart | None,
    viewer: Viewer,
    back: PageAddress,
    *,
    keeps: str,
) -> bytes:
    """Write the page. `back` leads to the list with its filters; `keeps` is what exhibits have, by the configuration."""
    here = PageAddress(f"{ROOT}/answer")
    content: list[Child] = [
        element("p", element("a", "← Overview", href=back.link())),
        element("h1", line.name, " at ", moment(line.time)),
        _facts(line, viewer),
        *(() if line.is_read else (_arguments(exhibit), _sent(exhibit, keeps))),
        _held(line, held, back),
        _advice(line),
    ]
    return page(line.name, viewer, here, *content)


def _facts(line: AnswerLine, viewer: Viewer) -> Markup:
    saved = 1 - line.after / line.before if line.before else 0.0
    facts: list[tuple[str, Child]] = [
        ("What became of it", f"{line.outcome}: {OUTCOME_HINTS.get(line.outcome, '')}"),
        ("Tokens before", f"{line.before:,}"),
        ("Tokens after", f"{line.after:,} ({percent(abs(saved))} {'less' if saved >= 0 else 'more'})"),
        ("Items shown", shown_items(line) or None),
        ("Stood out", f"{line.highlights:,} items or lines were shown first" if line.highlights else None),
        ("Read on", _reads(line)),
        ("Took", f"{seconds(line.latency_us)}, of it Brimgate {seconds(line.engine_us)}"),
        ("Protection", line.arm if line.arm != "protected" else None),
        ("Asked again", "the same caller made the same call shortly before" if line.is_repeated else None),
        ("Client", line.client or None),
        ("Caller", line.principal if not viewer.whose else None),
    ]
    return element(
        "dl", [(element("dt", name), element("dd", text)) for name, text in facts if text], class_="facts"
    )


def _reads(line: AnswerLine) -> str | None:
    if not line.has_cursor or line.is_read:
        return None
    return (
        f"{line.reads} {'time' if line.reads == 1 else 'times'}"
        if line.reads
        else "never: what was sent was enough, or the model gave up"
    )


def _arguments(exhibit: Exhibit | None) -> Markup:
    if exhibit is None:
        shown: Child = element(
            "p",
            "Not kept: the arguments are kept of the ten largest answers of every hour. `run` and `call` keep them for a week, "
            "`serve` until it ends, for its own dashboard only.",
        )
    else:
        shown = element("pre", _pretty(exhibit.arguments) or "(none)", tabindex="0", aria_label="Arguments")
    return section("The call", "Its arguments. Secrets are masked.", shown, id_="arguments")


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(msgspec.json.decode(arguments), indent=2, ensure_ascii=False)
    except (msgspec.DecodeError, RecursionError):
        return arguments


def _sent(exhibit: Exhibit | None, keeps: str) -> Markup:
    if exhibit is not None and exhibit.sent:
        shown: Child = element("pre", exhibit.sent, tabindex="0", aria_label="What was sent")
    elif keeps in ("arguments", "off"):
        shown = element("p", "Not kept here: see telemetry.exhibits in the configuration.")
    else:
        shown = element(
            "p",
            "Not kept: this answer was not among the ten largest of its hour, or it is over a week ago, or the process that "
            "sent it has ended.",
        )
    return section(
        "What was sent",
        "What the model got, with secrets masked. The count in its first line is that of the payload alone.",
        shown,
        id_="sent",
    )


def _held(line: AnswerLine, held: HeldPart | None, back: PageAddress) -> Markup:
    if held is None:
        why = (
            "Nothing: it has expired, or it is held by another process."
            if line.answer
            else "Nothing: all of it was sent."
        )
        return section("What is still held", "", element("p", why), id_="held")
    links = [
        element("a", label, href=f"{answer_url(line, back)}&part={part}#held")
        for label, part in (("← before", held.number - 1), ("further →", held.number + 1))
        if 1 <= part <= held.parts
    ]
    return section(
        "What is still held",
        f"{'The whole' if held.is_whole else 'The beginning of the'} answer of {held.size:,} bytes, until its cursors "
        f"expire. Part {held.number} of {held.parts}. Secrets are masked.",
        element("pre", held.text, tabindex="0", aria_label="What is still held"),
        element("p", *(part for link in links for part in (link, " "))) if links else None,
        id_="held",
    )


def _advice(line: AnswerLine) -> Child:
    if not line.has_cursor and line.outcome != "passed":
        return None
    rule = json.dumps(line.tool)
    lines = [
        "context_protection:",
        "  tools:",
        f"    {rule}:",
        "      threshold: 8000          # a larger budget, if models read on often",
        "      # fields: [id, name]     # or only the fields that models need first, by their own names",
    ]
    return section(
        "If this tool needs another budget",
        "Write a rule into the configuration file (--config); it applies to the next call.",
        element("pre", "\n".join(lines), tabindex="0", aria_label="A rule for this tool"),
        id_="advice",
    )
