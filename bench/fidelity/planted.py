"""What a generator of the evaluation gives: an answer of a tool with planted facts, and how to see them in a reply."""

import json
import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module

Parts = tuple[str, list["Fact"]]
GROUPS = ("rows", "printed", "nested")
_WINDOW_LINES = 3
_HASH = re.compile(r"(?=[0-9a-f]*[a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{7,12}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True)
class Fact:
    """One thing that a reader of the whole answer would want to be told."""

    what: str
    evidence: tuple[tuple[str, ...], ...]
    searches: tuple[str, ...] = ()
    pointer: str = ""
    line: int = 0
    hidden: str = ""
    queries: tuple[str, ...] = ()
    """SQL over the whole that answers it, as a reader would write it who knows docs/how-to/ask-questions.md."""


@dataclass(frozen=True)
class Case:
    kind: str
    group: str
    text: str
    facts: tuple[Fact, ...]
    is_json: bool = False


Maker = Callable[[random.Random], Parts]
KINDS: dict[str, tuple[str, Maker]] = {}


def kind(name: str, group: str) -> Callable[[Maker], Maker]:
    """Register a generator; it returns the text and the facts."""
    assert group in GROUPS and name not in KINDS, name

    def register(make: Maker) -> Maker:
        KINDS[name] = (group, make)
        return make

    return register


def cases(seed: int, names: list[str] | None = None) -> Iterator[Case]:
    """Make one case of each kind."""
    for name, (group, make) in KINDS.items():
        if names and name not in names:
            continue
        text, facts = make(random.Random(f"{seed}:{name}"))
        yield Case(name, group, text, tuple(facts), is_json(text))


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def normal(text: str) -> str:
    return _THOUSANDS.sub("", text.lower().replace("\u2019", ""))


def is_visible(fact: Fact, reply: str) -> bool:
    """Whether a reply shows a fact: all strings of one alternative within three consecutive lines."""
    lines = normal(reply).split("\n")
    return any(_stands(tuple(normal(one) for one in words), lines) for words in fact.evidence)


def _stands(words: tuple[str, ...], lines: list[str]) -> bool:
    near = [at for at, line in enumerate(lines) if words[0] in line]
    for at in near:
        window = "\n".join(lines[max(0, at - _WINDOW_LINES + 1) : at + _WINDOW_LINES])
        if all(_has(word, window) for word in words):
            return True
    return False


def _has(word: str, text: str) -> bool:
    """A word that is a number or ends in digits must not be part of a longer number; the beginning of a hash may be."""
    if _HASH.fullmatch(word):
        return word in text
    at = text.find(word)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(word) : at + len(word) + 1]
        inside = (word[0].isdigit() and before.isdigit()) or (word[-1].isdigit() and after.isdigit())
        if not inside:
            return True
        at = text.find(word, at + 1)
    return False


def check(module: str, seed: int = 1) -> int:
    """Tell what is wrong with the generators of a module."""
    import_module(module)
    wrong = 0
    for case in cases(seed):
        again = KINDS[case.kind][1](random.Random(f"{seed}:{case.kind}"))[0]
        troubles = [] if again == case.text else ["not deterministic"]
        if not 50_000 <= len(case.text) <= 420_000:
            troubles.append(f"size {len(case.text)}")
        if not 8 <= len(case.facts) <= 16:
            troubles.append(f"{len(case.facts)} facts")
        document = json.loads(case.text) if case.is_json else None
        lines = case.text.split("\n")
        head = case.text[: len(case.text) // 25]
        for fact in case.facts:
            troubles += _troubles(fact, case.text, document, lines)
        shown = sum(is_visible(fact, head) for fact in case.facts)
        if shown > len(case.facts) / 2:
            troubles.append(f"a head cut of 4 % shows {shown} of {len(case.facts)}")
        print(
            f"{case.kind:24} {case.group:8} {len(case.text):8,} {len(case.facts):3} facts {'; '.join(troubles)}"
        )
        wrong += bool(troubles)
    print(f"{wrong} kinds to mend")
    return wrong


def _troubles(fact: Fact, text: str, document: object, lines: list[str]) -> list[str]:
    troubles: list[str] = []
    if not fact.searches:
        troubles.append(f"{fact.what}: no searches")
    if fact.pointer:
        try:
            _resolve(document, fact.pointer)
        except (KeyError, IndexError, ValueError, TypeError):
            troubles.append(f"{fact.what}: no such place {fact.pointer}")
    near = "\n".join(lines[max(0, fact.line - 3) : fact.line + 3]).lower()
    if fact.line and not any(word.lower() in near for words in fact.evidence for word in words):
        troubles.append(f"{fact.what}: nothing of its evidence near line {fact.line}")
    if fact.hidden and fact.hidden not in text:
        troubles.append(f"{fact.what}: the secret is not in the text")
    if not any(len(word) >= 4 for words in fact.evidence for word in words):
        troubles.append(f"{fact.what}: weak evidence")
    return troubles


def _resolve(document: object, pointer: str) -> object:
    for part in pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        document = document[int(part)] if isinstance(document, list) else document[part]  # type: ignore[index]
    return document


if __name__ == "__main__":
    from bench.fidelity.planted import check as checked  # the registry of the module, not that of the script

    sys.exit(1 if checked(sys.argv[1]) else 0)
