"""Measure which planted facts a first reply shows: `python -m bench.fidelity [SET] [--budget N] [--seed N] [--kind NAME]`.

The generators were written by somebody who had not seen the engine, and are not edited. Beside our reply stands a plain cut
of head and tail of as many tokens.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from bench.fidelity.planted import Case, Fact, is_visible, normal
from brimgate.engine.cursor import Binding, KeyRing
from brimgate.engine.policy import Policy
from brimgate.engine.query import parse_query
from brimgate.engine.replies.reply import Reply
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import BrimgateError
from brimgate.hold.protection import Protection
from brimgate.hold.stores.memory import MemoryStore

NOW = 1_800_000_000.0
BINDING = Binding("ann", "server", "tool")
MOST_CALLS = 2
MOST_TOKENS = 6_000
MARKS = ("stands out",)


@dataclass
class Score:
    """What one case showed."""

    kind: str
    group: str
    facts: int = 0
    shown: int = 0
    cut_shown: int = 0
    """By head and tail."""
    findings: int = 0
    noise: int = 0
    reachable: int = 0
    hidden_shown: int = 0
    """Secrets whose value a summary repeated."""
    tokens: int = 0
    cpu_ms: float = 0.0
    missed: list[str] = field(default_factory=list[str])
    noisy: list[str] = field(default_factory=list[str])


def policy_of(budget: int) -> Policy:
    return Policy(
        output_token_threshold=budget,
        object_threshold=budget,
        chunk_threshold=budget,
        text_slack=0.0,
        hard_output_token_cap=max(budget, 12_000),
        estimator=Estimator("claude"),
    )


def text_of(reply: Reply) -> str:
    return "\n".join(part for part in (reply.notice, reply.payload) if part)


def measure(case: Case, budget: int, *, reach: bool = True) -> Score:
    policy = policy_of(budget)
    protection = Protection(policy, KeyRing(bytes(range(7, 39))), MemoryStore())
    began = time.process_time()
    reply = protection.protect(case.text.encode(), BINDING, NOW)
    cpu = 1_000 * (time.process_time() - began)
    assert reply is not None, case.kind
    text = text_of(reply)
    cut = head_and_tail(case.text, budget, policy.estimator)
    score = Score(case.kind, case.group, len(case.facts), cpu_ms=cpu, tokens=policy.estimator.ceiling(text))
    for fact in case.facts:
        score.cut_shown += is_visible(fact, cut)
        if is_visible(fact, text):
            score.shown += 1
        else:
            score.missed.append(f"{fact.what}: {fact.evidence[0]} at {fact.pointer or fact.line}")
            score.reachable += reach and is_reachable(fact, reply, protection)
        if fact.hidden and fact.hidden in reply.highlights:
            score.hidden_shown += 1
    lines = list(finding_lines(reply.highlights))
    score.findings = len(lines)
    score.noisy = [line for line in lines if not any(is_related(fact, line) for fact in case.facts)]
    score.noise = len(score.noisy)
    return score


def head_and_tail(text: str, budget: int, estimator: Estimator) -> str:
    """Cut a text in the middle, at characters, to as many tokens."""
    low, high = 0, len(text) // 2
    while high - low > 50:
        size = (low + high) // 2
        low, high = (size, high) if estimator.count(text[:size] + text[-size:]) <= budget else (low, size)
    return f"{text[:low]}\n[…]\n{text[-low:]}"


def finding_lines(highlights: str) -> Iterator[str]:
    inside = False
    for line in highlights.split("\n"):
        if line.startswith(MARKS):
            inside = True
        elif line.startswith("map of "):
            inside = False
        elif inside:
            yield line


def is_related(fact: Fact, line: str) -> bool:
    """Whether a finding is about a fact: it names its place, or what its evidence has."""
    low = normal(line)
    if fact.line and low.startswith(f"line {fact.line}:"):
        return True
    if fact.pointer and (low.startswith((f"{fact.pointer.lower()}:", f"{fact.pointer.lower()}/"))):
        return True
    if fact.pointer and fact.pointer.lower().startswith(low.partition(": ")[0] + "/"):
        return True
    return is_visible(fact, line) or any(
        len(word) > 4 and normal(word) in low and not word.isalpha()
        for words in fact.evidence
        for word in words
    )


def is_reachable(fact: Fact, reply: Reply, protection: Protection) -> bool:
    """Whether a reader who suspects a fact finds it by a search, and a query or a second search, in 6,000 tokens."""
    record = reply.record
    cursor = record.get("nextCursor") or record.get("detailsAvailable", {}).get("cursor")
    if not cursor:
        return False
    asked = [parse_query(search=word) for word in fact.searches]
    asked[1:1] = [parse_query(query=sql) for sql in fact.queries]
    spent = 0
    for query in asked[:MOST_CALLS]:
        try:
            found = protection.read(cursor, BINDING, query, NOW)
        except BrimgateError:
            continue
        spent += found.record["estimatedTokens"]
        if spent > MOST_TOKENS:
            return False
        if is_visible(fact, text_of(found)):
            return True
    return False
