"""Entities by type: their names, and what is said about them."""

import random
from typing import Final, NamedTuple

from brimgate.sandboxes.graphiti.forms import Form, forms, pick


class Kind(NamedTuple):
    names: tuple[Form, ...]
    openings: tuple[Form, ...]
    """The first sentence of a summary. It contains the name, so that no two summaries are alike."""


KINDS: Final[dict[str, Kind]] = {
    "Framework": Kind(
        forms("{stem}{ending}", "{stem}{ending}.js", "{stem}{ending} {number}"),
        forms(
            "{name} is a {language} framework that {team} adopted in {year} for {field}.",
            "{name}: {quality}, written in {language}, mostly used by {team}.",
            "A web framework from {city}, {name} ships a router, a job queue and opinions about {field}.",
        ),
    ),
    "Database": Kind(
        forms("{stem}{storage}", "{stem} {storage} {number}", "{city}{storage}"),
        forms(
            "{name} stores about {number} GB for {team} and is backed up every {day}.",
            "{name} is a column store; it is {quality} and holds everything on {field}.",
            "Since {month} {year} {name} has replaced the spreadsheet that {team} used to keep.",
        ),
    ),
    "Person": Kind(
        forms("{first} {last}", "{first} {last}", "{first} {last}", "Dr. {first} {last}", "{far_name}"),
        forms(
            "{name} lives in {city}, works on {field} and answers mail on {day}s.",
            "{name} joined {team} in {month} {year} and is known for {dish}.",
            "A translator by training, {name} moved to {city} because {cause}.",
            "{name} leads {team}.",
        ),
    ),
    "Organization": Kind(
        forms("{stem} {trade} {firm}", "{last} & {last}", "{city} {trade}", "{last} {trade} {firm}"),
        forms(
            "{name} has {number} employees in {city} and was founded in {year}.",
            "{name} supplies {team}; the contract runs until {month}.",
            "Best known for work on {field}, {name} is {quality}, and shares an office with {team}.",
        ),
    ),
    "Location": Kind(
        forms("{quarter}, {city}", "{city} {quarter}", "{quarter} {number}, {city}", "{last} Street {number}, {city}"),
        forms(
            "{name} is {number} minutes from the station; it is {quality} in {month}.",
            "{name}: closed on {day}s, best reached by tram, famous for {dish}.",
            "Guests are sent to {name} when {condition}.",
        ),
    ),
    "Preference": Kind(
        forms("{treat} over {treat}", "{treat} in {city}", "{treat} when {condition}", "no {ingredient} in {dish}"),
        forms(
            "Noted in {month} {year}: {name}. It was repeated by {team}.",
            "The user asked for {name} and gave as the reason that {cause}.",
            "Preference: {name}.",
        ),
    ),
    "Procedure": Kind(
        forms("{doing} {matter}", "{doing} {matter} on {day}s", "{doing} {matter} in {city}"),
        forms(
            "{name} takes {number} minutes and is done by {team} every {day}.",
            "{name} has {number} steps; the {ordinal} one is skipped when {condition}.",
            "How it is done: {name} begins with a copy, and ends with a note to {team}.",
        ),
    ),
    "Event": Kind(
        forms("{city} {gathering} {year}", "{stem} {gathering} {year}", "{gathering} on {field}, {year}"),
        forms(
            "{name} brought {number} people to {city} to talk about {field}.",
            "{name} was moved to {month} because {cause}.",
            "At {name} {team} showed what {language} can do for {field} 🎉.",
        ),
    ),
    "Topic": Kind(
        forms("{angle} {field}", "{angle} {field} in {city}", "{angle} {field}, {year}"),
        forms(
            "{name} comes up in {number} conversations, most of them with {team}.",
            "“{name}” covers methods, data and the usual mistakes; it is {quality}.",
            "{name} is where {language} people and {team} meet.",
        ),
    ),
    "Document": Kind(
        forms("{stem} {paper}", "{city} {paper} {year}", "RFC {number}: {field}", "{trade} {paper}, {ordinal} edition"),
        forms(
            "{name} has {number} pages and was last changed in {month} {year}.",
            "{name}: the part on {field} is {quality}; {team} keeps the original.",
            'On page {number} "{name}" contradicts itself, because {cause}.',
        ),
    ),
    "Requirement": Kind(
        forms("{system} {promise}", "{system} {promise} in {month}", "{system} {promise} by {year}"),
        forms(
            "{name}: agreed with {team} on the {ordinal} of {month}.",
            "Requirement R-{number}: {name}. Without it, {team} cannot work.",
            "{name}, because {cause}.",
        ),
    ),
    "Object": Kind(
        forms("{material} {thing}", "{material} {thing} from {city}", "{last}'s {material} {thing}"),
        forms(
            "{name}: bought in {city} in {year} for {number} EUR, and {quality}.",
            "{name} belongs to {team} and lies in the {ordinal} drawer.",
            "The {thing} called {name} was lent out because {cause}.",
        ),
    ),
}  # fmt: skip

_MORE: Final = forms(
    "It is {quality}.",
    "In {month} {year} it was moved to {city}, because {cause}.",
    "{number} people asked about it, the last of them on a {day}.",
    "It works best with {ingredient}, or so they say at the {gathering} in {city}.",
    "Ask {first} {last} before changing anything; {team} will otherwise object.",
    "When {condition}, it is handed over to {team} for {number} days.",
    "An earlier entry (no. {number}) said that it was {quality}.",
    "The connection to {field} was found in {year} and has been checked twice since.",
    "Its {ordinal} version is the one to use.",
    "Compared with what {team} had before, it saves {number} minutes a week.",
    "Naïve readings of the “{paper}” get this wrong.",
)
_HOW_MANY_MORE: Final = (0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 5)
_MOST_CHARACTERS: Final = 400


def summarize(chance: random.Random, kind: Kind, name: str) -> str:
    text = pick(chance, kind.openings).write(chance, name=name)
    for _ in range(pick(chance, _HOW_MANY_MORE)):
        longer = f"{text} {pick(chance, _MORE).write(chance)}"
        if len(longer) > _MOST_CHARACTERS:
            break
        text = longer
    if len(text) < 40:
        text += f" It was first mentioned by {pick(chance, _MENTIONED_BY).write(chance)}."
    return text


_MENTIONED_BY: Final = forms("{team} in {month} {year}", "{first} {last}")
