"""Names, words and identifiers to make records from."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

EPOCH = datetime(2026, 3, 2, 6, 0, tzinfo=UTC)


def _words(text: str) -> list[str]:
    return text.split()


def _phrases(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


_FIRST = _words("""
    Ada Bram Chloë Dávid Elif Farah Göran Hana Ines Jón Kwame Lucía Mateo Nadia Oisín Priya Quentin Rúben
    Saoirse Tomáš Uma Väinö Wanjiru Ximena Yusuf Zofia Anaïs Björn Cécile Dmitri Emre François Grażyna Håkon
    Ilse José 美咲 伟 지우 Ольга Νίκος ليلى
""")
_LAST = _words("""
    Almeida Brânză Castañeda Dvořák Eriksen Fernández Grünwald Horváth Ibsen Janković Kowalski Lindqvist
    Müller Núñez Okafor Papadakis Quispe Rønning Šimek Taylor Ulrich Vasquez Whitfield Xu Yılmaz Zieliński
    Osei Park 佐藤 王 김 Иванова الهاشمي
""")
_NOUNS = _words("""
    report account shipment invoice schedule harbour engine ledger window garden customer delivery contract
    sample bridge network folder kitchen policy station turbine catalogue meeting warehouse archive supplier
    building machine signal valley library budget corridor festival inspector journal keyboard lantern market
    notebook orchard pipeline quarry railway season tunnel village workshop backlog container dashboard
    forecast gateway highway
""")
_ADJECTIVES = _words("""
    new late quiet open steady narrow annual local early shared heavy modest careful public distant joint
    regular smooth simple curious faded complete hidden gentle southern spare recent wooden
""")
_VERBS = _words("""
    checked moved closed reviewed delivered repaired opened delayed counted replaced measured followed booked
    described compared planned shipped renewed divided restored collected painted updated questioned
""")
_TAILS = _phrases("""
    before noon
    after the second attempt
    without further notice
    near the northern gate
    as agreed last week
    in spite of the weather
    for the third quarter
    with some hesitation
    on the following day
    by the evening shift
    according to the plan
    at half the usual price
    during the handover
    under the old agreement
""")
CITIES = _words("Lisbon Graz Tampere Nairobi Osaka Leeds Córdoba Gdańsk Austin Montréal Zürich")
COUNTRIES = _words("PT AT FI KE JP GB ES PL US CA CH")
COMPANIES = _phrases("""
    Norrland Timber
    Azulejo Foods
    Brightwell
    Kestrel Freight
    Oma & Sons
    Pine Street Labs
""")
SERVICES = _words("checkout catalog ledger search notify identity media pricing router reports")


def token(rng: Random, length: int = 10) -> str:
    """Hexadecimal with a letter at both ends, so that no number contains it."""
    middle = length - 2
    return f"{rng.choice('abcdef')}{rng.getrandbits(4 * middle):0{middle}x}{rng.choice('abcdef')}"


def uuid_text(rng: Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def number(rng: Random, digits: int = 8) -> int:
    return rng.randrange(10 ** (digits - 1), 10**digits)


def first_name(rng: Random) -> str:
    return rng.choice(_FIRST)


def last_name(rng: Random) -> str:
    return rng.choice(_LAST)


def person(rng: Random) -> str:
    return f"{first_name(rng)} {last_name(rng)}"


def mailbox(rng: Random) -> str:
    host = rng.choice(("example.com", "example.org"))
    return f"{noun(rng)}.{rng.choice(_ADJECTIVES)}{rng.randrange(10, 9999)}@{host}"


def phone(rng: Random) -> str:
    return f"+{rng.choice((351, 43, 358, 44, 48, 1))}{number(rng, 9)}"


def ip(rng: Random) -> str:
    return ".".join(str(rng.randrange(1, 255)) for _ in range(4))


def noun(rng: Random) -> str:
    return rng.choice(_NOUNS)


def slug(rng: Random) -> str:
    return f"{rng.choice(_ADJECTIVES)}-{rng.choice(_NOUNS)}"


def title(rng: Random) -> str:
    link = rng.choice(("for", "of", "and", "in"))
    return f"{rng.choice(_ADJECTIVES)} {noun(rng)} {link} {noun(rng)}".capitalize()


def sentence(rng: Random) -> str:
    start = f"The {rng.choice(_ADJECTIVES)} {noun(rng)} was {rng.choice(_VERBS)}"
    if rng.random() < 0.5:
        start += f" and the {noun(rng)} {rng.choice(_VERBS)}"
    if rng.random() < 0.6:
        start += f" {rng.choice(_TAILS)}"
    return start + "."


def paragraph(rng: Random, fewest: int = 3, most: int = 7) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(fewest, most)))


def moment(rng: Random, index: int = 0, step_seconds: float = 60.0) -> datetime:
    """Moments that ascend with the index."""
    return EPOCH + timedelta(seconds=(index + rng.random()) * step_seconds)


def stamp(rng: Random, index: int = 0, step_seconds: float = 60.0) -> str:
    return moment(rng, index, step_seconds).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(rng: Random, span_days: int = 400) -> str:
    return (EPOCH + timedelta(days=rng.randrange(span_days))).strftime("%Y-%m-%d")


def skewed(rng: Random, median: float, sigma: float = 0.5, digits: int = 2) -> float:
    """Log-normal, as prices, sizes and durations are."""
    return round(median * rng.lognormvariate(0, sigma), digits)


def weighted(rng: Random, *choices: tuple[str, float]) -> str:
    return rng.choices([name for name, _ in choices], [weight for _, weight in choices])[0]


def some(rng: Random, names: Sequence[str], most: int) -> list[str]:
    return rng.sample(names, rng.randint(0, min(most, len(names))))
