"""The arms of a rollout, from the records: what `brimgate ab` compares."""

import sqlite3
from dataclasses import dataclass, field
from typing import Any, cast

from brimgate.watch.comparison import ArmFigures
from brimgate.watch.record_store import ARMS, NOT_TRIED, OUTCOMES
from brimgate.watch.stats import Question, chosen_records


@dataclass(frozen=True, slots=True)
class ShadowFigures:
    """What was sent in the arm `shadow`, and what protection would have sent."""

    calls: int = 0
    tokens: int = 0
    trial_tokens: int = 0
    trial_outcomes: dict[str, int] = field(default_factory=lambda: {})

    def line(self) -> str:
        saved = 1 - self.trial_tokens / self.tokens if self.tokens else 0.0
        told = ", ".join(f"{name} {count:,}" for name, count in self.trial_outcomes.items())
        would = f"{self.trial_tokens:,} ({100 * saved:.0f} % less) in first answers: {told}"
        return f"shadow: {self.calls:,} calls were sent {self.tokens:,} tokens; protection would have sent {would}"


@dataclass(frozen=True, slots=True)
class Arms:
    protected: ArmFigures
    direct: ArmFigures
    shadow: ShadowFigures


def arms_of(connection: sqlite3.Connection, question: Question) -> Arms:
    """Return the arms. Only tools that have calls in both are compared: else tools would be, and not the arms."""
    import numpy as np

    records, _ = chosen_records(connection, question)
    arm, tools = records["arm"], (records["upstream"].astype("u4") << 16) | records["tool"]
    is_protected, is_direct = arm == ARMS.index("protected"), arm == ARMS.index("direct")
    both: Any = np.intersect1d(tools[is_protected], tools[is_direct])
    is_shared: Any = np.isin(tools, both)
    return Arms(
        _figures("protected", records[is_protected & is_shared]),
        _figures("direct", records[is_direct & is_shared]),
        _shadow(records[arm == ARMS.index("shadow")]),
    )


def _figures(name: str, records: Any) -> ArmFigures:
    """Add up an arm. The tokens of a call are those of its first answer and of all that was read on from it."""
    import numpy as np

    is_refused = records["outcome"] == OUTCOMES.index("refused")
    is_read = records["cursor_followed"] == 1
    first = records[~is_read & ~is_refused]
    tokens = first["estimated_tokens"].astype(float)
    reads = records[is_read]
    found: Any = np.unique(first["answer"][::-1], return_index=True)
    known, places = found
    if len(known):
        at: Any = cast("Any", np.searchsorted)(known, reads["answer"]).clip(max=len(known) - 1)
        belongs = (known[at] == reads["answer"]) & (reads["answer"] > 0)
        calls: Any = len(first) - 1 - places[at[belongs]]
        np.add.at(tokens, calls, reads["estimated_tokens"][belongs].astype(float))
    return ArmFigures(
        name,
        len(first),
        float(tokens.sum()),
        float((tokens**2).sum()),
        len(reads),
        int((first["repeated"] > 0).sum()),
        int((first["outcome"] == OUTCOMES.index("error")).sum()),
    )


def _shadow(records: Any) -> ShadowFigures:
    tried = records[records["trial_outcome"] != NOT_TRIED]
    counts = {word: int((tried["trial_outcome"] == at).sum()) for at, word in enumerate(OUTCOMES)}
    return ShadowFigures(
        len(tried),
        int(tried["estimated_tokens"].sum()),
        int(tried["trial_tokens"].sum()),
        {word: count for word, count in counts.items() if count},
    )
