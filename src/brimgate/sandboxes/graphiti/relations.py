"""Relations between entities, by their types, and the sentences for them."""

import random
from typing import Final, NamedTuple

from brimgate.sandboxes.graphiti.forms import Form, forms, pick

_SHORTEST_FACT: Final = 35
_LONG_ENOUGH: Final = 75


class Relation(NamedTuple):
    name: str
    source: str
    target: str
    forms: tuple[Form, ...]


def _relation(name: str, source: str, target: str, *verbs: str) -> Relation:
    return Relation(name, source, target, tuple(Form(f"{{source}} {verb} {{target}}") for verb in verbs))


RELATIONS: Final = (
    _relation("USES", "Framework", "Database", "uses", "keeps its sessions in", "reads its settings from"),
    _relation("USES", "Person", "Object", "uses", "never travels without"),
    _relation(
        "WORKS_AT",
        "Person",
        "Organization",
        "works at",
        "has a part-time contract with",
        "is on the board of",
    ),
    _relation("LIVES_IN", "Person", "Location", "lives near", "rents a room at"),
    _relation("KNOWS", "Person", "Person", "knows", "shares an office with", "was introduced to"),
    _relation("HAS_PREFERENCE", "Person", "Preference", "asked for", "always mentions"),
    _relation("WROTE", "Person", "Document", "wrote", "corrected the proofs of", "disagrees with"),
    _relation("STUDIES", "Person", "Topic", "studies", "gave a talk about"),
    _relation("ATTENDED", "Person", "Event", "attended", "organised", "missed"),
    _relation("MAINTAINS", "Organization", "Framework", "maintains", "sponsors", "forked"),
    _relation("LOCATED_IN", "Organization", "Location", "has its workshop at", "moved out of"),
    _relation("COMPETES_WITH", "Organization", "Organization", "competes with", "bought a stake in"),
    _relation("HOSTED", "Location", "Event", "hosted", "was too small for"),
    _relation("NEAR", "Location", "Location", "is two stops from", "can be seen from"),
    _relation("MENTIONS", "Document", "Topic", "mentions", "has a chapter on", "leaves out"),
    _relation("DESCRIBES", "Document", "Procedure", "describes", "forbids"),
    _relation("SATISFIES", "Framework", "Requirement", "satisfies the rule that", "breaks the rule that"),
    _relation("DEPENDS_ON", "Framework", "Framework", "depends on", "was replaced by", "wraps"),
    _relation("REPLICATES_TO", "Database", "Database", "replicates to", "was migrated to"),
    _relation("RUNS_AT", "Database", "Location", "runs in the cellar of", "is mirrored at"),
    _relation("REQUIRES", "Procedure", "Object", "requires", "wears out"),
    _relation("PRECEDES", "Procedure", "Procedure", "comes before", "must not overlap with"),
    _relation("MADE_BY", "Object", "Organization", "was made by", "is repaired by"),
    _relation("KEPT_AT", "Object", "Location", "is kept at", "was found at"),
    _relation("ABOUT", "Event", "Topic", "was about", "ended early after a quarrel about"),
    _relation(
        "CONFLICTS_WITH", "Preference", "Requirement", "conflicts with the rule that", "led to the rule that"
    ),
    _relation("DERIVED_FROM", "Requirement", "Document", "goes back to", "is missing from"),
    _relation("PART_OF", "Topic", "Topic", "is part of", "is often confused with"),
)
ANY: Final = _relation("RELATES_TO", "", "", "relates to", "was mentioned together with", "is listed beside")
"""For entities without a type, and for graphs too small to have every type."""

_TAILS: Final = forms(
    " since {month} {year}",
    " in {city}",
    ", because {cause}",
    " when {condition}",
    ", says {first} {last}",
    " (seen {number} times)",
    " until {month} {year}",
    " on {day}s",
    ", with help from {team}",
    ' and calls it "{quality}"',
)


def tell(chance: random.Random, relation: Relation, source: str, target: str) -> str:
    text = pick(chance, relation.forms).write(chance, source=source, target=target)
    if len(text) < _LONG_ENOUGH and chance.random() < 0.6:
        text = lengthen(chance, text)
    while len(text) < _SHORTEST_FACT:
        text = lengthen(chance, text)
    return text


def lengthen(chance: random.Random, text: str) -> str:
    return text + pick(chance, _TAILS).write(chance)
