"""Vocabulary, small random helpers and builders of evidence shared by the third set of generators."""

import contextlib
import itertools
import json
import random
import string
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from bench.fidelity.planted import Fact, _stands, normal

Evidence = tuple[tuple[str, ...], ...]

FIRST = [
    "Anna",
    "Ben",
    "Carla",
    "David",
    "Elena",
    "Felix",
    "Greta",
    "Hugo",
    "Irene",
    "Jonas",
    "Karin",
    "Liam",
    "Marta",
    "Nils",
    "Olga",
    "Pavel",
    "Rosa",
    "Simon",
    "Tessa",
    "Umar",
    "Vera",
    "Wim",
    "Xenia",
    "Yusuf",
    "Zoe",
    "Amir",
    "Bianca",
    "Chen",
    "Dora",
    "Emil",
    "Farah",
    "Goran",
    "Hana",
    "Ivo",
    "Jelena",
    "Kofi",
    "Lucia",
]
LAST = [
    "Abbott",
    "Becker",
    "Castillo",
    "Dvorak",
    "Eriksen",
    "Fischer",
    "Gallo",
    "Haddad",
    "Ivanov",
    "Jensen",
    "Kowalski",
    "Lindqvist",
    "Moreau",
    "Novak",
    "Okafor",
    "Petersen",
    "Quinn",
    "Rossi",
    "Sato",
    "Tanaka",
    "Ueda",
    "Vargas",
    "Weber",
    "Xu",
    "Yilmaz",
    "Zeman",
    "Brandt",
    "Conti",
    "Duarte",
    "Endo",
    "Ferrari",
]
SERVICES = [
    "billing",
    "catalog",
    "checkout",
    "search",
    "gateway",
    "identity",
    "ledger",
    "mailer",
    "media",
    "notify",
    "orders",
    "payments",
    "pricing",
    "profile",
    "reports",
    "scheduler",
    "sessions",
    "shipping",
    "stock",
    "tax",
    "webhooks",
    "audit",
    "basket",
    "coupons",
    "export",
    "imports",
    "loyalty",
]
CITIES = [
    "Lisbon",
    "Porto",
    "Madrid",
    "Lyon",
    "Nantes",
    "Ghent",
    "Utrecht",
    "Bremen",
    "Leipzig",
    "Graz",
    "Brno",
    "Krakow",
    "Gdansk",
    "Vilnius",
    "Riga",
    "Tartu",
    "Turku",
    "Malmo",
    "Bergen",
    "Aarhus",
    "Cork",
    "Leeds",
    "Bristol",
    "Dundee",
    "Turin",
    "Bari",
    "Split",
    "Varna",
    "Patras",
    "Izmir",
]
NOUNS = [
    "account",
    "address",
    "archive",
    "batch",
    "branch",
    "budget",
    "buffer",
    "cache",
    "channel",
    "client",
    "cluster",
    "column",
    "contract",
    "customer",
    "dashboard",
    "delivery",
    "device",
    "document",
    "employee",
    "entry",
    "feature",
    "field",
    "filter",
    "folder",
    "form",
    "group",
    "header",
    "image",
    "index",
    "invoice",
    "item",
    "job",
    "journal",
    "label",
    "layout",
    "license",
    "list",
    "location",
    "machine",
    "member",
    "menu",
    "message",
    "metric",
    "module",
    "notice",
    "object",
    "office",
    "option",
    "order",
    "package",
    "page",
    "parcel",
    "partner",
    "period",
    "plan",
    "policy",
    "price",
    "process",
    "product",
    "profile",
    "project",
    "queue",
    "quote",
    "receipt",
    "record",
    "region",
    "reminder",
    "report",
    "request",
    "response",
    "role",
    "route",
    "rule",
    "sample",
    "schedule",
    "schema",
    "screen",
    "section",
    "segment",
    "sensor",
    "service",
    "session",
    "setting",
    "shift",
    "signal",
    "site",
    "slot",
    "stage",
    "step",
    "stock",
    "store",
    "stream",
    "summary",
    "supplier",
    "table",
    "target",
    "task",
    "team",
    "template",
    "terminal",
    "ticket",
    "token",
    "topic",
    "transfer",
    "unit",
    "update",
    "upload",
    "user",
    "vendor",
    "version",
    "view",
    "voucher",
    "warehouse",
    "window",
    "worker",
    "zone",
]
ADJECTIVES = [
    "active",
    "annual",
    "basic",
    "central",
    "common",
    "compact",
    "daily",
    "direct",
    "empty",
    "external",
    "final",
    "first",
    "fixed",
    "full",
    "general",
    "global",
    "initial",
    "inner",
    "internal",
    "large",
    "late",
    "local",
    "main",
    "manual",
    "monthly",
    "new",
    "nightly",
    "normal",
    "old",
    "open",
    "optional",
    "outer",
    "partial",
    "primary",
    "private",
    "public",
    "quick",
    "recent",
    "regional",
    "regular",
    "remote",
    "second",
    "separate",
    "shared",
    "short",
    "simple",
    "single",
    "small",
    "special",
    "standard",
    "static",
    "stored",
    "temporary",
    "typical",
    "upper",
    "valid",
    "weekly",
]
VERBS = [
    "accept",
    "adjust",
    "align",
    "apply",
    "archive",
    "assign",
    "attach",
    "build",
    "cancel",
    "check",
    "collect",
    "compare",
    "compute",
    "confirm",
    "copy",
    "create",
    "deliver",
    "describe",
    "detect",
    "display",
    "export",
    "fetch",
    "filter",
    "format",
    "group",
    "handle",
    "import",
    "index",
    "insert",
    "join",
    "keep",
    "limit",
    "list",
    "load",
    "lock",
    "map",
    "mark",
    "merge",
    "move",
    "notify",
    "open",
    "order",
    "pack",
    "parse",
    "plan",
    "print",
    "process",
    "publish",
    "query",
    "read",
    "record",
    "refresh",
    "register",
    "release",
    "remove",
    "rename",
    "render",
    "replace",
    "report",
    "request",
    "resolve",
    "restore",
    "retry",
    "return",
    "review",
    "rotate",
    "save",
    "schedule",
    "select",
    "send",
    "show",
    "sort",
    "split",
    "start",
    "stop",
    "store",
    "submit",
    "sync",
    "track",
    "transfer",
    "update",
    "upload",
    "validate",
    "verify",
    "write",
]


def pick(rng: random.Random, weights: dict[str, float]) -> str:
    """One key by its weight."""
    return rng.choices(list(weights), list(weights.values()))[0]


def person(rng: random.Random) -> str:
    return f"{rng.choice(FIRST)} {rng.choice(LAST)}"


def people(rng: random.Random, count: int) -> list[str]:
    every = [f"{one} {two}" for one in FIRST for two in LAST]
    return rng.sample(every, count)


def mail(name: str, domain: str = "example.com") -> str:
    return name.lower().replace(" ", ".") + "@" + domain


def near(rng: random.Random, middle: float, spread: float, low: float, high: float) -> float:
    """A number around a middle, never outside its range."""
    return min(high, max(low, rng.gauss(middle, spread)))


def hexes(rng: random.Random, count: int) -> str:
    return "".join(rng.choices("0123456789abcdef", k=count))


def alnum(rng: random.Random, count: int) -> str:
    return "".join(rng.choices(string.ascii_letters + string.digits, k=count))


def upper(rng: random.Random, count: int) -> str:
    return "".join(rng.choices(string.ascii_uppercase + "234567", k=count))


def camel(*parts: str) -> str:
    return "".join(part.capitalize() for part in parts)


def lower_camel(*parts: str) -> str:
    name = camel(*parts)
    return name[0].lower() + name[1:]


def distinct(rng: random.Random, count: int, make: "callable") -> list[str]:  # type: ignore[valid-type]
    """So many different values of a maker."""
    seen: dict[str, None] = {}
    while len(seen) < count:
        seen[make(rng)] = None  # type: ignore[misc]
    return list(seen)


def stem(name: str, least: int = 8) -> str:
    """The beginning of a hexadecimal name, ending in a letter."""
    return next(name[:size] for size in range(least, len(name)) if not name[size - 1].isdigit())


def uuid(rng: random.Random) -> str:
    h = hexes(rng, 32)
    return f"{h[:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:]}"


def ip(rng: random.Random, net: str = "10.20") -> str:
    return f"{net}.{rng.randint(0, 31)}.{rng.randint(2, 250)}"


def sentence(rng: random.Random) -> str:
    """A dull English sentence."""
    a, b = rng.sample(NOUNS, 2)
    x, y = rng.sample(ADJECTIVES, 2)
    v, w = rng.sample(VERBS, 2)
    return rng.choice(
        (
            f"The {x} {a} is used to {v} the {b} before the next {rng.choice(NOUNS)} starts.",
            f"To {v} a {a}, open the {x} {b} and follow the usual steps.",
            f"Each {a} belongs to one {x} {b}, which may {v} it at any moment.",
            f"We {v} the {x} {a} whenever the {y} {b} is ready.",
            f"If a {b} arrives late, the {x} {a} waits and then continues to {v} it.",
            f"A {y} {a} can {v} or {w} every {b} that it has seen.",
            f"This step does not {v} the {a}; it only prepares the {x} {b}.",
            f"Readers who {v} the {a} usually also {w} the {y} {b}.",
        )
    )


def paragraph(rng: random.Random, least: int = 3, most: int = 6) -> str:
    return " ".join(sentence(rng) for _ in range(rng.randint(least, most)))


def title(rng: random.Random) -> str:
    """A dull title of a task."""
    return f"{rng.choice(VERBS).capitalize()} the {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)} {rng.choice(NOUNS)}"


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    lines, line = [], indent
    for word in text.split():
        if len(line) + len(word) + 1 > width and line.strip():
            lines.append(line.rstrip())
            line = indent
        line += word + " "
    return [*lines, line.rstrip()]


class Clock:
    """Moments with jitter."""

    def __init__(self, rng: random.Random, start: datetime, low: float, high: float) -> None:
        self.rng, self.now, self.low, self.high = rng, start, low, high

    def tick(self) -> datetime:
        self.now += timedelta(seconds=self.rng.uniform(self.low, self.high))
        return self.now


def spots(
    rng: random.Random, size: int, count: int, apart: int = 7, low: float = 0.07, high: float = 0.93
) -> list[int]:
    """So many positions within a list, mostly in the middle, in random order and not near each other."""
    while True:
        found = sorted(rng.sample(range(int(size * low), int(size * high)), count))
        if all(two - one >= apart for one, two in itertools.pairwise(found)):
            rng.shuffle(found)
            return found
        apart = max(2, apart - (rng.random() < 0.05))


def away(rng: random.Random, size: int, others: Iterable[int], apart: int = 2) -> int:
    """A position in the middle of a list that is not near others."""
    taken = list(others)
    return rng.choice(
        [at for at in range(int(size * 0.1), int(size * 0.9)) if all(abs(at - one) > apart for one in taken)]
    )


def line_of(text: str, needle: str, nth: int = 0) -> int:
    """The 1-based line of a needle, which stands in one line only (unless nth says which)."""
    found = [at for at, line in enumerate(text.split("\n"), 1) if needle in line]
    assert found and (nth or len(found) == 1), (needle, found[:5])
    return found[nth - 1 if nth > 0 else nth]


# Evidence

SAME = ("duplicate", "twice", "2 times", "2×", "×2", " x2", "2x", "repeated", "not unique", "appears 2")
GONE = (
    "missing",
    "without",
    "absent",
    "lacks",
    "no ",
    "not ",
    "null",
    "empty",
    "only",
    "except",
    "all but",
    "∅",
)


def pairs(left: Iterable[object], right: Iterable[object]) -> Evidence:
    """Each of the left with each of the right."""
    rights = list(right)
    return tuple((str(one), str(two)) for one in left for two in rights)


def same(ident: object, *places: object) -> Evidence:
    """A duplicate: its id and a word for it, or both places."""
    both = (tuple(str(one) for one in places),) if len(places) > 1 else ()
    return pairs([ident], SAME) + both


def count(value: object, number: int, *more: object) -> Evidence:
    """A value and how often it occurs; more are other names of the value."""
    evidence: Evidence = ()
    for one in (value, *more):
        evidence += ((str(one), str(number)),)
        evidence += tuple(
            (form,)
            for form in (
                f"{one}: {number}",
                f"{one} {number}",
                f"{number} {one}",
                f"{one} ({number}",
                f"{one}={number}",
                f"{one} ×{number}",
                f"{one} × {number}",
                f"{one}×{number}",
                f"{number}× {one}",
                f"{one} x{number}",
                f'"{one}": {number}',
                f"`{one}` {number}",
                f"`{one}` ({number}",
                f"{one} | {number}",
                f"{number} × {one}",
                f"{number}x {one}",
                f"{number} of {one}",
                f"{one}\t{number}",
                f'"{one}" ({number}',
                f"{one}:{number}",
                f"{one}|{number}",
                f"{one} – {number}",
                f"{one} - {number}",
                f"{number}: {one}",
                f"`{one}` × {number}",
                f"`{one}`: {number}",
                f"{one} n={number}",
                f'"{one}" ×{number}',
                f'"{one}" {number}',
                f"'{one}' ({number}",
                f"{one}, {number}",
            )
        )
    return evidence


def total(number: int, *labels: str) -> Evidence:
    """How many things there are."""
    forms: list[tuple[str, ...]] = []
    for label in labels:
        forms += [
            (str(number), label),
            (f"{number} {label}",),
            (f"{label}: {number}",),
            (f"{label} ({number}",),
        ]
        forms += [
            (f"{label}[{number}]",),
            (f"{label} {number}",),
            (f"{number} × {label}",),
            (f"{label} × {number}",),
        ]
    return tuple(forms)


def gone(places: Iterable[object], field: str) -> Evidence:
    """A missing field: the identity or place with the field's name."""
    names = [str(one) for one in places]
    return pairs(names, [field]) + tuple((one, field, word) for one in names for word in GONE)


def gap(missing: Sequence[object], before: object, after: object) -> Evidence:
    """A gap in consecutive numbers."""
    found: list[tuple[str, ...]] = [(str(one),) for one in missing if len(str(one)) >= 4]
    words = ("gap", "missing", "jump", "skip", "not consecutive", "→", "..")
    found += [(str(before), str(after), word) for word in words]
    found += [
        (str(one), word) for one in (before, after) for word in ("gap", "missing", "jump", "skip", "absent")
    ]
    return tuple(found)


def span(start: str, end: str) -> Evidence:
    """The range of a column of moments; both are written YYYY-MM-DD?HH:MM… as in the text."""
    forms: list[tuple[str, ...]] = [(start, end)]
    if "T" in start:
        forms.append((start.replace("T", " "), end.replace("T", " ")))
    elif " " in start:
        forms.append((start.replace(" ", "T"), end.replace(" ", "T")))
    return tuple(forms)


def spot(base: str, at: int) -> tuple[str, ...]:
    """How a reply may name an item of a list."""
    return (
        f"{base}/{at}",
        f"#{at}",
        f"[{at}]",
        f"item {at}",
        f"row {at}",
        f"index {at}",
        f"#{at + 1}",
        f"item {at + 1}",
        f"row {at + 1}",
    )


def known(telling: Iterable[object], names: Iterable[object], base: str, at: int) -> Evidence:
    """A telling value with the identity or the place of its item; a bare number only beside a clear value."""
    values, more = [str(one) for one in telling], [*names, *spot(base, at)]
    clear = [one for one in values if len(one) >= (5 if one.strip("-").isdigit() else 4)]
    return pairs(values, more) + pairs(clear, [at])


class Notes:
    """Collects the facts of one case."""

    def __init__(self) -> None:
        self.items: list[tuple[Fact, bool]] = []

    def say(
        self,
        what: str,
        evidence: Evidence,
        *searches: str,
        pointer: str = "",
        line: int = 0,
        hidden: str = "",
        derived: bool = False,
    ) -> None:
        """Add a fact; a derived one is not written in the text itself, so accidental evidence is dropped."""
        self.items.append((Fact(what, evidence, tuple(searches), pointer, line, hidden), derived))

    def parts(self, text: str) -> tuple[str, list[Fact]]:
        shapes = [text]
        with contextlib.suppress(ValueError):
            shapes.append(json.dumps(json.loads(text), indent=1))
        split = [normal(shape).split("\n") for shape in shapes]
        facts = []
        for fact, derived in self.items:
            if derived:
                kept = tuple(
                    one
                    for one in fact.evidence
                    if not any(_stands(tuple(normal(word) for word in one), lines) for lines in split)
                )
                assert kept, ("all evidence is accidental", fact)
                fact = Fact(fact.what, kept, fact.searches, fact.pointer, fact.line, fact.hidden)
            facts.append(fact)
        return text, facts
