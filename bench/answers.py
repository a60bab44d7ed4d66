"""The bars on answers: budget, walk, saving, anomalies, and what must not be touched."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.generators import hostile, samples
from bench.report import Row
from brimgate.engine import jsontext
from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.document import Document
from brimgate.engine.forms import FORMS, choose
from brimgate.engine.policy import Policy
from brimgate.engine.query import Query
from brimgate.engine.rebuild import Rebuilder, next_on_walk
from brimgate.engine.replies.reply import Reply
from brimgate.engine.tokens.estimator import Estimator
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
JSON_FILES = ("bookings_500", "github_issues", "huge_object", "kg_search", "sql_rows")
PLANTED = {"app_10k.log": ("TX-77A19-Q",), "bookings_500.json": ("CASE-8937", "CASE-9202")}
BUDGET = 4_000
NOW = 1_800_000_000.0
BINDING = Binding("bench", "bench", "bench")


def policy(family: str, *, highlights: bool = True) -> Policy:
    return Policy(estimator=Estimator(family), highlights=highlights).with_budget(BUDGET)


def protection(family: str, *, highlights: bool = True) -> Protection:
    return Protection(policy(family, highlights=highlights), KeyRing(bytes(range(32))), MemoryStore())


def walk(data: bytes, family: str) -> Iterator[Reply]:
    gate = protection(family)
    reply = gate.protect(data, BINDING, NOW)
    while reply is not None:
        yield reply
        cursor = next_on_walk(reply)
        reply = gate.read(cursor, BINDING, Query(), NOW) if cursor else None


def exact_o200k(text: str) -> int:
    """Counted by the tokenizer itself, past everything of ours."""
    from splintr import Tokenizer

    if "o200k" not in _tokenizers:
        _tokenizers["o200k"] = Tokenizer.from_pretrained("o200k_base")
    return len(
        _tokenizers["o200k"].encode_ordinary(
            text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        )
    )


_tokenizers: dict[str, Any] = {}


def corpus() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(CORPUS.iterdir()) if path.name != "README.md"}


def generated(most: int) -> dict[str, bytes]:
    return {sample.name: sample.data for sample in samples(seed=0) if len(sample.data) <= most}


def rows() -> list[Row]:
    return [*_walks(), *_replies(), *_saving(), *_anomalies(), *_untouched(), *_hostile()]


def _walks() -> list[Row]:
    out: list[Row] = []
    for title, files in (("corpus", corpus()), ("generated", generated(500_000))):
        for family in ("o200k", "claude"):
            counts: list[int] = []
            exact = walked = 0
            for data in files.values():
                seen = list(walk(data, family))
                counts += [
                    exact_o200k(reply.text) if family == "o200k" else Estimator(family).ceiling(reply.text)
                    for reply in seen
                ]
                walked += bool(seen)
                exact += bool(seen) and _rebuilt(seen) == _original(data)
            over = sum(count > BUDGET for count in counts)
            counted = "exact o200k count" if family == "o200k" else "99 % safe claude count"
            out.append(
                Row(
                    f"{title}: replies over budget 4,000, {counted}",
                    "0",
                    f"{over} of {len(counts):,} (highest {max(counts):,})",
                    over == 0,
                )
            )
            out.append(
                Row(
                    f"{title}: walks exact, {family}",
                    "all",
                    f"{exact} of {walked} (the rest fit untouched)",
                    exact == walked,
                )
            )
    return out


REPLIES_BEFORE = 568
"""Of all walks through the corpus at a budget of 4,000, when pages stopped at 50 items and chunks at 200 lines."""


def _replies() -> list[Row]:
    counts = {name: sum(1 for _ in walk(data, "claude")) for name, data in corpus().items()}
    found, bar = sum(counts.values()), int(REPLIES_BEFORE * 0.75)
    told = f"{found} ({1 - found / REPLIES_BEFORE:.0%} fewer than {REPLIES_BEFORE})"
    return [Row("corpus: replies of all walks, claude", f"≤ {bar} (25 % fewer)", told, found <= bar)]


def _saving() -> list[Row]:
    estimator = Estimator("o200k")
    before = small = after = 0
    worse: list[str] = []
    lines: list[Row] = []
    for name in JSON_FILES:
        data = (CORPUS / f"{name}.json").read_bytes()
        raw = jsontext.canonical(data)
        made = choose(raw, estimator)
        if FORMS[made.form].decode(made.text) != raw:
            worse.append(f"{name} does not read back")
        counts = [exact_o200k(text) for text in (data.decode(), raw.decode(), made.text)]
        before, small, after = before + counts[0], small + counts[1], after + counts[2]
        saved = f"{1 - counts[2] / counts[0]:.1%} ({1 - counts[2] / counts[1]:.1%} against minified), as {made.form}"
        lines.append(Row(f"lossless rendering of {name}.json", "", saved, True))
    for name, data in generated(10_000_000).items():
        if Document(data).is_json:
            raw = jsontext.canonical(data)
            if exact_o200k(choose(raw, estimator).text) > exact_o200k(raw.decode()):
                worse.append(name)
    total = f"{1 - after / before:.1%} ({1 - after / small:.1%} against minified JSON)"
    return [
        Row(
            "lossless rendering, five JSON files, o200k tokens saved", "≥ 55 %", total, after <= 0.45 * before
        ),
        *lines,
        Row(
            "files on which it is worse than minified JSON",
            "0",
            f"{len(worse)} {' '.join(worse)}".strip(),
            not worse,
        ),
    ]


def _anomalies() -> list[Row]:
    out: list[Row] = []
    for family in ("o200k", "claude"):
        shown = sum(
            needle in next(walk((CORPUS / name).read_bytes(), family)).text
            for name, needles in PLANTED.items()
            for needle in needles
        )
        out.append(
            Row(
                f"planted anomalies of the corpus in the first reply, {family}",
                "3 of 3",
                f"{shown} of 3",
                shown == 3,
            )
        )
        planted = found = bare = 0
        for seed in (0, 1):
            for sample in samples(seed):
                if not sample.planted:
                    continue
                text = next(walk(sample.data, family)).text
                head = protection(family, highlights=False).protect(sample.data, BINDING, NOW)
                for plant in sample.planted:
                    planted += 1
                    found += any(needle in text for needle in plant.needles)
                    bare += head is not None and any(needle in head.text for needle in plant.needles)
        share = f"{found / planted:.1%} of {planted} ({bare / planted:.1%} with highlights off)"
        out.append(
            Row(
                f"planted anomalies of generated answers in the first reply, {family}",
                "≥ 90 %",
                share,
                found >= 0.9 * planted,
            )
        )
    return out


def _untouched() -> list[Row]:
    """Objects under 500 and texts under 1,000 tokens, at the defaults."""
    changed = tried = 0
    gate = Protection(Policy(), KeyRing(bytes(range(32))), MemoryStore())
    for data in [*corpus().values(), *generated(200_000).values()]:
        if Document(data).is_json:
            continue
        piece = data[:2_000].decode("utf-8", "ignore").encode()
        if Estimator().ceiling(piece) < 1_000:
            tried += 1
            changed += gate.protect(piece, BINDING, NOW) is not None
    for number in range(200):
        value = b'{"id":%d,"name":"item %d","tags":["a","b"],"nested":{"k":%d}}' % (
            number,
            number,
            number * 7919,
        )
        tried += 1
        changed += gate.protect(value, BINDING, NOW) is not None
    return [
        Row(
            "results under the never-touch sizes that were changed",
            "0",
            f"{changed} of {tried}",
            changed == 0,
        )
    ]


def _hostile() -> list[Row]:
    over = wrong = tried = 0
    for _, data in hostile(200_000):
        tried += 1
        replies = list(walk(data, "o200k"))
        over += sum(exact_o200k(reply.text) > BUDGET for reply in replies)
        wrong += bool(replies) and _rebuilt(replies) != _original(data)
    return [
        Row("hostile shapes: replies over budget", "0", f"{over} (of {tried} shapes)", over == 0),
        Row("hostile shapes: walks not exact", "0", f"{wrong} of {tried}", wrong == 0),
    ]


def _rebuilt(replies: list[Reply]) -> bytes:
    rebuilder = Rebuilder()
    for reply in replies:
        rebuilder.feed(reply)
    return rebuilder.answer()


def _original(data: bytes) -> bytes:
    return jsontext.canonical(data) if Document(data).is_json else data
