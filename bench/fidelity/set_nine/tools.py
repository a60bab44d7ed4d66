"""Word lists and small helpers that the generators of this set share."""

# ruff: noqa: E501, SIM905

import random
from datetime import UTC, datetime, timedelta

Alternatives = tuple[tuple[str, ...], ...]

FIRST = (
    "Amelie Bogdan Chiara Dmitri Esra Farid Greta Hiroshi Ines Jakub Kavita Lorenzo Mireille Nadia Oskar Priya "
    "Quentin Rosa Stefan Tamara Ulrike Viktor Wanda Xenia Yusuf Zoe Aaron Beatriz Callum Dagny Emeka Fiona"
).split()
LAST = (
    "Abt Bergstrom Castellano Dubois Eriksen Fontana Grabowski Hernandez Ito Janssen Kowalczyk Lindqvist Moreau "
    "Nakamura Okafor Petrov Quiroga Rasmussen Schreiber Takahashi Ulrich Varga Weiss Yilmaz Zimmermann Achebe "
    "Brandt Costa Demir Egger Fraser Gallo"
).split()
COMPANIES = (
    "Nordhafen Logistik|Belisario Foods|Alto Adige Optics|Kestrel Freight|Mirabel Clinics|Ostsee Pumpen|Tanaka Seiki|"
    "Vireo Energy|Harrow & Lisle|Quarzwerk AG|Petrel Insurance|Lumina Textiles|Bramble Dairy|Oakline Furniture"
).split("|")


def hexes(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("0123456789abcdef") for _ in range(n))


def letters(rng: random.Random, n: int) -> str:
    return "".join(rng.choice("ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789") for _ in range(n))


def uuid(rng: random.Random) -> str:
    h = hexes(rng, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-{rng.choice('89ab')}{h[17:20]}-{h[20:]}"


def person(rng: random.Random) -> tuple[str, str]:
    return rng.choice(FIRST), rng.choice(LAST)


def day(year: int, month: int, date: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime:
    return datetime(year, month, date, hour, minute, second, tzinfo=UTC)


def iso(t: datetime) -> str:
    return t.strftime("%Y-%m-%dT%H:%M:%SZ")


def iso_ms(t: datetime) -> str:
    return t.strftime("%Y-%m-%dT%H:%M:%S.") + f"{t.microsecond // 1000:03d}Z"


def seconds(n: float) -> timedelta:
    return timedelta(seconds=n)


def where(i: int, *names: str) -> tuple[str, ...]:
    """The ways in which a reply may name an item of a list."""
    return (*names, f"/{i}", f"[{i}]", f"{i}|", f"#{i}", f"item {i}", f"row {i}")


def at(places: tuple[str, ...], *words: str) -> Alternatives:
    return tuple((place, *words) for place in places)


def line_of(text: str, needle: str, after: int = 0) -> int:
    """The number from 1 of the first line with these characters."""
    for n, line in enumerate(text.split("\n"), 1):
        if n > after and needle in line:
            return n
    raise ValueError(needle)


def near_line(n: int, *words: str) -> Alternatives:
    """The ways in which a reply may name a line."""
    return tuple((form, *words) for form in (f"line {n}", f"{n}:", f"{n}|", f"L{n}", f"@{n}", f"{n}\t"))


def counted(word: str, n: int) -> Alternatives:
    """The ways in which a reply may tell how often a word stands, close enough that it is no accident."""
    forms = ("{w}|{n}", '{w}"|{n}', "{n}|{w}", "{n} {w}", "{w} {n}", "{w}: {n}", '{w}": {n}', '{w}" {n}', "{w}: x{n}", "{w} ({n}", '{w}" ({n}', "{w} x{n}", "{w} \u00d7{n}",
             "{w}\u00d7{n}", '{w}" \u00d7{n}', "{n}\u00d7 {w}", "{n} \u00d7 {w}", "{w} \u00d7 {n}", "{n}x {w}", "{w}={n}", "{w} = {n}", "{w}:{n}", "{w} - {n}", "{w}, {n}", "{n} of {w}", "{n} are {w}", "{w} | {n}", "| {n} | {w}", "{w}\t{n}", "{w}[{n}")  # fmt: skip
    near = ("{n} times", "{n} lines", "{n} rows", "{n} items", "\u00d7{n}", "{n}\u00d7", "{n}x", "x{n}", "{n} of", "({n})", "count {n}", "n={n}")
    return (*((one.format(w=word, n=n),) for one in forms), *((word, one.format(n=n)) for one in near))
