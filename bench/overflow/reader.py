"""The scripted reader: it needs no model, and asks every arm the same questions by the means that the arm has.

It reads the first reply. If that shows the answer (`evidence`), it is done. Else it queries, searches and reads on, in this
order, until the answer stands in what it got, or until 25 calls or 200,000 tokens are spent: then the answer is wrong. A
reader that has read all of the answer computes any figure without a mistake. That is generous to arms that send everything:
a model is not that good at adding up 1,500 numbers.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Protocol

from bench.overflow.evidence import Evidence, Means
from bench.overflow.peers import ToolCall
from bench.overflow.question import Question, Shape
from brimgate.engine.tokens.estimator import Estimator

MOST_CALLS: Final = 25
"""After the call of the tool itself."""
MOST_TOKENS: Final = 200_000
CAPS: Final = ("Claude Code", "Codex", "VS Code", "Gemini CLI")
_ESTIMATOR: Final = Estimator("claude")


@lru_cache(maxsize=4_096)
def tokens_of(text: str) -> int:
    return _ESTIMATOR.ceiling(text) if text else 0


def caps_passed(reply: str) -> list[str]:
    """Tell which clients would not give a reply to a model as it is: they cut it, or put it into a file."""
    size = len(reply.encode())
    over = {
        "Claude Code": len(reply) > 50_000 or tokens_of(reply) > 25_000,
        "Codex": size > 48_000,  # 12,000 tokens of four bytes
        "VS Code": size > 8_192,
        "Gemini CLI": len(reply) > 40_000,
    }
    return [name for name in CAPS if over[name]]


@dataclass(frozen=True)
class Step:
    """What a reader does once: one call, or as many as an arm needs for it."""

    means: Means
    asked: str
    calls: tuple[ToolCall, ...]
    runs: int = 0
    """How often the tool itself ran."""
    is_last: bool = False
    """Whether nothing of the answer is left to read."""

    @property
    def reply(self) -> str:
        return "\n".join(call.reply for call in self.calls)


class Arm(Protocol):
    """A way for an answer to reach a model."""

    name: str
    version: str
    is_bounded: bool
    """Whether each of its replies is bounded whatever the answer."""
    needs_shell: bool

    def definitions_text(self) -> str:
        """Give the tool definitions that it adds to every session."""
        ...

    def tools(self) -> list[dict[str, Any]]:
        """Give all tools that a model is offered."""
        ...

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Run a call of a model."""
        ...

    def first(self) -> Step:
        """Call the tool."""
        ...

    def query(self, sql: str) -> Iterator[Step]:
        """Ask for figures; nothing if it has no such means."""
        ...

    def searches(self, question: Question) -> Iterator[Step]:
        """Search for each thing that a reader would search for."""
        ...

    def rest(self) -> Iterator[Step]:
        """Read on to the end; where that cannot be, run the tool once more."""
        ...


@dataclass
class Outcome:
    """What one question cost in one arm."""

    shape: str
    question: Question
    is_right: bool = False
    calls: int = 0
    """After the call of the tool."""
    tokens_in: int = 0
    """Definitions and all replies."""
    tokens_out: int = 0
    """The arguments of all calls."""
    read_tokens: int = 0
    """Of what came after the call of the tool, in and out."""
    reruns: int = 0
    replies: int = 0
    over: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CAPS, 0))
    trail: list[str] = field(default_factory=list[str])

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    @property
    def token_calls(self) -> int:
        """Tokens times calls: a model reads its context again for each of them."""
        return self.tokens * (self.calls + 1)

    def add(self, step: Step, *, is_first: bool) -> None:
        for call in step.calls:
            sent = tokens_of(json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False))
            got = tokens_of(call.reply)
            self.tokens_in += got
            self.tokens_out += sent
            self.replies += 1
            for cap in caps_passed(call.reply):
                self.over[cap] += 1
            if not is_first:
                self.calls += 1
                self.read_tokens += sent + got
        if not is_first:
            self.reruns += step.runs
            self.trail.append(f"{step.means} {step.asked} → {step.reply[:300]!r}")


def steps(arm: Arm, question: Question) -> Iterator[Step]:
    """Yield what a reader does, as long as it has to."""
    for sql in question.sql:
        yield from arm.query(sql)
    yield from arm.searches(question)
    yield from arm.rest()


def ask(arm: Arm, shape: Shape, question: Question) -> Outcome:
    outcome = Outcome(shape.name, question, tokens_in=tokens_of(arm.definitions_text()))
    evidence = Evidence(question, shape.text)
    first = arm.first()
    outcome.add(first, is_first=True)
    evidence.take("tool", "", first.reply, is_last=first.is_last)
    following = steps(arm, question)
    while not evidence.is_right and outcome.calls < MOST_CALLS and outcome.tokens <= MOST_TOKENS:
        step = next(following, None)
        if step is None:
            break
        outcome.add(step, is_first=False)
        if not any(call.is_error for call in step.calls):
            evidence.take(step.means, step.asked, step.reply, is_last=step.is_last)
    within = outcome.calls <= MOST_CALLS and outcome.tokens <= MOST_TOKENS
    outcome.is_right = evidence.is_right and within
    return outcome


def ask_all(arm: Arm, shape: Shape) -> list[Outcome]:
    """Ask an arm with the answer of a shape behind it; each question is a session of its own."""
    return [ask(arm, shape, question) for question in shape.questions]
