"""Names and sentences to fill the answers with."""

import random
from typing import Final

FIRST: Final = (
    "Ada",
    "Amir",
    "Bea",
    "Carlo",
    "Chen",
    "Dana",
    "Dmitri",
    "Elif",
    "Emeka",
    "Farah",
    "Goran",
    "Hana",
    "Ines",
    "Ivo",
    "Jonas",
    "Kaito",
    "Lena",
    "Luis",
    "Mara",
    "Milan",
    "Nadia",
    "Noor",
    "Olek",
    "Petra",
    "Quinn",
    "Rosa",
    "Sami",
    "Tara",
    "Uma",
    "Viktor",
    "Wanda",
    "Yusuf",
)
LAST: Final = (
    "Abara",
    "Berg",
    "Costa",
    "Dahl",
    "Egger",
    "Fontaine",
    "Grieg",
    "Haddad",
    "Iversen",
    "Jansen",
    "Kowal",
    "Lindt",
    "Moreau",
    "Novak",
    "Okafor",
    "Petrov",
    "Quist",
    "Rossi",
    "Sato",
    "Tanaka",
    "Ulrich",
    "Varga",
    "Weiss",
    "Xu",
    "Ydal",
    "Zeman",
)
ADJECTIVES: Final = (
    "amber",
    "brisk",
    "calm",
    "dense",
    "early",
    "fair",
    "grand",
    "hollow",
    "idle",
    "jolly",
    "keen",
    "light",
    "mild",
    "noble",
    "open",
    "plain",
    "quiet",
    "rapid",
    "solid",
    "tidy",
    "urban",
    "vivid",
    "warm",
    "young",
)
NOUNS: Final = (
    "anchor",
    "beacon",
    "cedar",
    "delta",
    "ember",
    "falcon",
    "garnet",
    "harbor",
    "island",
    "jetty",
    "kernel",
    "lantern",
    "marble",
    "nebula",
    "orbit",
    "prism",
    "quartz",
    "river",
    "signal",
    "timber",
    "umbra",
    "valley",
    "willow",
    "zephyr",
)

SUBJECTS: Final = (
    "The scheduler",
    "A second worker",
    "The import",
    "Our nightly run",
    "The browser client",
    "The command line tool",
    "A clean install",
    "The preview build",
    "Every second request",
    "The settings page",
)
VERBS: Final = (
    "waits for",
    "ignores",
    "repeats",
    "prints",
    "reloads",
    "skips",
    "rewrites",
    "opens",
    "reports",
    "never reaches",
)
OBJECTS: Final = (
    "the cached index",
    "the second page of results",
    "an empty header",
    "the default profile",
    "the file that was just renamed",
    "the progress bar",
    "the environment variable",
    "the configuration of the parent directory",
    "a connection that is already closed",
    "the list of plugins",
)
ENDINGS: Final = (
    "when the network is slow",
    "although the flag is set",
    "on the first start only",
    "since the last minor release",
    "if two windows are open",
    "unless the cache is cleared",
    "on Linux and on macOS",
    "as soon as more than one user is signed in",
    "while an update is pending",
    "and the documentation does not say why",
)


def people(rng: random.Random, count: int) -> list[str]:
    """Different names of people."""
    return rng.sample([f"{first} {last}" for first in FIRST for last in LAST], count)


def things(rng: random.Random, count: int) -> list[str]:
    """Different names such as a package or a service has."""
    return rng.sample([f"{adjective}-{noun}" for adjective in ADJECTIVES for noun in NOUNS], count)


def sentence(rng: random.Random) -> str:
    return f"{rng.choice(SUBJECTS)} {rng.choice(VERBS)} {rng.choice(OBJECTS)} {rng.choice(ENDINGS)}."


def prose(rng: random.Random, low: int, high: int) -> str:
    """A paragraph of `low` to `high` sentences."""
    return " ".join(sentence(rng) for _ in range(rng.randint(low, high)))


def token(rng: random.Random, digits: int) -> str:
    """A number in hexadecimal digits, as ids have it."""
    return f"{rng.getrandbits(digits * 4):0{digits}x}"
