"""Episodes: what was said, written or sent, from which the facts of the graph were taken."""

import json
import random
from collections.abc import Sequence
from typing import Final, NamedTuple

from brimgate.sandboxes.graphiti.forms import Form, forms, pick

_MOST_FACTS: Final = 4
_FEWEST_CHARACTERS: Final = 60
_MOST_CHARACTERS: Final = 900


class Telling(NamedTuple):
    name: str
    content: str
    source: str
    source_description: str


_NAMES: Final = forms(
    "{day} notes from {city}",
    "{gathering} debrief, {month} {year}",
    "{field}, part {number}",
    "Call with {first} {last}",
    "Ticket {stem}-{number}",
    "Recipe: {dish} with {ingredient}",
    "Trip to {city} ({month})",
    "{stem}{ending} decision",
    "Re: {matter}",
    "Session {number}: {treat}",
    "{trade} review",
)
_OPENINGS: Final = forms(
    "Notes from the {day} review in {city}.",
    "Written down for {team} after the {gathering} in {month} {year}.",
    "{first} {last} sent this, because {cause}.",
    "Captured while working on {field}:",
    "Decision of {month} {year}.",
    "Übergabe, {city}:",
    "",
)
_ASIDES: Final = forms(
    "Nobody in {city} had expected that.",
    "We tried {dish} with {ingredient} afterwards {emoji}.",
    "{first} said: “it is {quality}”, and {team} agreed.",
    "Follow up by {day}; {number} items are still open.",
    "This holds only when {condition}.",
    "It cost {number} EUR and took {number} hours, because {cause}.",
    "See the {paper} on {field}, page {number}.",
    'The log said "{system} {promise}".',
    "",
)
_AFTERTHOUGHT: Final = Form("P.S. {first} {last} wants to hear about {matter} before {day}, in {city}.")
_SPEAKERS: Final = forms("{first}", "{first}", "user", "assistant")
_REPLIES: Final = forms(
    "{greeting} — noted {emoji}",
    "are you sure? I thought it was {quality}",
    "{greeting} who told you? {team}?",
    "ok, remind me on {day} {emoji}",
    "そうですか。{city}で確認します。",
    "then we need {matter} first, because {cause}",
)
_DESCRIPTIONS: Final = forms(
    "session-capture", "chat", "{paper}", "e-mail", "ticket {number}", "meeting in {city}", ""
)
_HOW_MANY_FACTS: Final = (1, 1, 1, 1, 1, 1, 1, 2, 2, 4)
"""Most memories of an agent are notes of a sentence or two, some are whole conversations."""


def tell_episode(chance: random.Random, facts: Sequence[str], entities: Sequence[str]) -> Telling:
    """Return an episode that states the facts, or at least names the entities."""
    stated = list(facts[: min(_MOST_FACTS, pick(chance, _HOW_MANY_FACTS))])
    if not stated:
        stated = [f"{entity} came up again" for entity in entities]
    sort = chance.random()
    source, write = next(row[1:] for row in _SORTS if sort < row[0])
    content = write(chance, stated)[:_MOST_CHARACTERS]
    if len(content) < _FEWEST_CHARACTERS and source != "json":
        content += f"\n{_AFTERTHOUGHT.write(chance)}"
    name = pick(chance, _NAMES).write(chance)
    return Telling(name[0].upper() + name[1:], content, source, pick(chance, _DESCRIPTIONS).write(chance))


def _as_text(chance: random.Random, facts: list[str]) -> str:
    sentences = [pick(chance, _OPENINGS).write(chance)]
    for fact in facts:
        sentences += (f"{fact}.", pick(chance, _ASIDES).write(chance))
    return " ".join(filter(None, sentences))


def _as_list(chance: random.Random, facts: list[str]) -> str:
    points = "".join(f"- {fact}\n" for fact in facts)
    heading = pick(chance, _OPENINGS).write(chance) or "Minutes"
    return f"{heading}\n\n{points}\n{pick(chance, _ASIDES).write(chance) or 'Nothing else.'}\n"


def _as_message(chance: random.Random, facts: list[str]) -> str:
    lines: list[str] = []
    for fact in facts:
        lines.append(f"{pick(chance, _SPEAKERS).write(chance)}: {fact}")
        lines.append(f"{pick(chance, _SPEAKERS).write(chance)}: {pick(chance, _REPLIES).write(chance)}")
    return "\n".join(lines)


def _as_json(chance: random.Random, facts: list[str]) -> str:
    record = {
        "id": chance.randrange(10**6),
        "reporter": pick(chance, _SPEAKERS).write(chance),
        "statements": facts,
        "remark": pick(chance, _ASIDES).write(chance) or None,
        "resolved": chance.random() < 0.5,
    }
    return json.dumps(record, ensure_ascii=False)


_SORTS: Final = (
    (0.58, "text", _as_text),
    (0.72, "text", _as_list),
    (0.9, "message", _as_message),
    (1.0, "json", _as_json),
)
