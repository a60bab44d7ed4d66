# ruff: noqa: E501, SIM905
# fmt: off
"""Words and small helpers that the generators of this set share."""

import random
from datetime import UTC, datetime

GIVEN = (
    "Amara Bilal Chiara Dmitri Eszter Farida Gustav Hanae Ignacio Jolanta Kwame Leila Mateus Nadia Oskar Priya Quentin "
    "Rosalie Sione Tamar Ulrich Vesna Wanjiru Xiomara Yusuf Zofia Aoife Bogdan Carmen Deniz Elif Fergus Greta Hamid Ines"
).split()
FAMILY = (
    "Okafor Haddad Ricci Volkov Szabo Mansour Lindqvist Tanaka Herrera Kowalska Mensah Rahimi Carvalho Petrova Nyberg "
    "Iyer Lambert Dubois Tuilagi Beridze Brandt Horvat Kamau Fuentes Demir Nowak Gallagher Ionescu Ortega Yilmaz Kaya "
    "Douglas Weiss Karimi Duarte Abara Castell Drury Elwes Farkas"
).split()


class Page:
    """Lines of a text with the numbers of those that matter."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.at: dict[str, int] = {}

    def add(self, *lines: str, mark: str = "") -> None:
        if mark:
            self.at[mark] = len(self.lines) + 1
        self.lines += lines

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def hexes(rng: random.Random, length: int) -> str:
    return "".join(rng.choice("0123456789abcdef") for _ in range(length))


def letters(rng: random.Random, length: int) -> str:
    return "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789") for _ in range(length))


def iso(seconds: float, form: str = "%Y-%m-%dT%H:%M:%S") -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime(form)


def spread(rng: random.Random, size: int, wanted: int, low: float = 0.12, high: float = 0.95) -> list[int]:
    """Places of a list, apart from each other, in a random order."""
    places = rng.sample(range(int(size * low / 3), int(size * high / 3)), wanted)
    return [place * 3 for place in places]


def person(rng: random.Random) -> tuple[str, str]:
    return rng.choice(GIVEN), rng.choice(FAMILY)


def tally(name: str, count: int, *beside: tuple[str, int]) -> tuple[tuple[str, ...], ...]:
    """The ways in which a reply may tell how many there are of a name that is short or stands all over the answer."""
    forms = ("{0} {1}", "{0}: {1}", "{0}:{1}", "{0}={1}", "{0} = {1}", "{0} ({1}", "{0}({1}", "{0}|{1}", "{0} | {1}", "{0},{1}", "{0}, {1}", "{0}×{1}", "{0} ×{1}", "{0} × {1}", "{0} x{1}",
             "{0}[{1}", "{0} [{1}", '{0}": {1}', '{0}":{1}', '{0}" {1}', '{0}" ({1}', "{0}' {1}", "{0}` {1}", "{0}` ({1}", "{1} {0}", "{1}× {0}", "{1} × {0}", "{1}×{0}", "{1}x {0}", "{1}|{0}", '{1} "{0}')
    both = tuple(part for word, many in ((name, count), *beside) for part in (word, str(many)))
    return (*((form.format(name, count),) for form in forms), *((both,) if beside else ()))
