"""Generate plain sentences about flats, guests and keys: readable, endless, and the same for the same seed."""

import random
from typing import Final

_ROOMS: Final = (
    "kitchen", "living room", "terrace", "main bedroom", "hall", "bathroom", "cellar", "garden",
    "roof deck", "laundry room", "garage", "study",
)  # fmt: skip
_THINGS: Final = (
    "boiler", "coffee machine", "door lock", "smoke alarm", "router", "washing machine", "spare key",
    "linen cupboard", "air conditioning", "fuse box", "dishwasher", "heating", "shutter", "pool pump",
)  # fmt: skip
_PEOPLE: Final = (
    "the cleaner", "the owner", "a neighbour", "the night porter", "the guest", "our electrician",
    "the gardener", "the person on call",
)  # fmt: skip
_ACTIONS: Final = (
    "checks", "replaces", "cleans", "photographs", "locks", "resets", "tests", "labels", "reports",
)  # fmt: skip
_TIMES: Final = (
    "before every arrival", "after each stay", "on the first Monday of the month", "within two hours",
    "by eleven in the morning", "once a season", "while the flat is empty", "as soon as it is noticed",
)  # fmt: skip
_PLACES: Final = (
    "by the river", "near the station", "above the market hall", "on the quiet side of the square",
    "two streets from the beach", "at the end of the tram line", "behind the old theatre",
)  # fmt: skip
_FORMS: Final = (
    "The house stands {place}; {person} {action} the {thing} in the {room} {time}.",
    "{Person} {action} the {thing} {time}, and writes the date on the sheet in the {room}.",
    "From the {room} it is {minutes} minutes on foot to the shops {place}.",
    "If the {thing} does not answer, {person} {action} the one in the {room} instead.",
    "There are {count} of everything in the {room}, so that {person} never has to ask.",
    "The {room} was done up in {year}: a new {thing}, fresh paint, and light from two sides.",
    "{Person} keeps a note of the {thing}, because it was replaced in {year} and is under warranty.",
    "Sheets and towels lie in the {room}; {person} {action} them {time}.",
    "It is best to leave the {thing} alone until {person} has been asked.",
)


def sentence(chance: random.Random) -> str:
    person = chance.choice(_PEOPLE)
    return chance.choice(_FORMS).format(
        room=chance.choice(_ROOMS),
        thing=chance.choice(_THINGS),
        person=person,
        Person=person[0].upper() + person[1:],
        action=chance.choice(_ACTIONS),
        time=chance.choice(_TIMES),
        place=chance.choice(_PLACES),
        minutes=chance.randint(2, 19),
        count=chance.randint(2, 12),
        year=chance.randint(2008, 2026),
    )


def paragraph(chance: random.Random, sentences: int) -> str:
    return " ".join(sentence(chance) for _ in range(sentences))


def text(chance: random.Random, paragraphs: int, sentences: int = 5) -> str:
    """Return paragraphs with an empty line between them."""
    return "\n\n".join(paragraph(chance, sentences) for _ in range(paragraphs))


def title(chance: random.Random) -> str:
    return f"{chance.choice(_THINGS)} in the {chance.choice(_ROOMS)}".capitalize()
