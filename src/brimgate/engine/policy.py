"""The limits that an answer must stay within, and how.

The defaults are those of the brief (requirements A and D).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from brimgate.engine.tokens.estimator import Estimator
from brimgate.engine.tokens.families import MIN_BUDGET


@dataclass(frozen=True, slots=True)
class Policy:
    estimator: Estimator = field(default_factory=Estimator)
    list_threshold: int = 4_000
    object_threshold: int = 4_000
    mapped_object_threshold: int = 2_000
    """For objects that have a field map (`essential_fields`)."""
    text_threshold: int = 2_000
    hard_cap: int = 12_000
    page_size: int = 50
    max_page_size: int = 200
    chunk_lines: int = 200
    pagination: bool = True
    summarization: bool = True
    highlights: bool = True
    highlight_share: float = 0.3
    """The largest share of the budget for highlights: items or lines that differ from the rest."""
    form: str = "auto"
    strip_vectors: bool = True
    """Replace an embedding vector by its length."""
    strip_empty: bool = False
    """Leave out members of items that are null or empty."""
    strip_fields: tuple[str, ...] = ()
    """Names of members (`*` stands for anything) that an item shows only by size."""
    essential_fields: tuple[str, ...] = ()
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names that each stand for several fields in a query."""
    compact: bool = False
    """Also rewrite answers that fit, in a cheaper lossless form, when that saves at least 15 %."""
    read_tool: str = "brimgate_read"
    """The name of the tool that notices point to."""
    keywords: tuple[str, ...] = ()
    """Sentences with one of these words are kept first when a long text is cut."""

    def __post_init__(self) -> None:
        for name in ("list_threshold", "object_threshold", "mapped_object_threshold", "text_threshold"):
            value: int = getattr(self, name)
            if value < MIN_BUDGET:
                raise ValueError(f"{name} must be at least {MIN_BUDGET} tokens, not {value}")
            if value > self.hard_cap:
                object.__setattr__(self, name, self.hard_cap)
        if not 1 <= self.page_size <= self.max_page_size:
            raise ValueError(f"page_size must be from 1 to {self.max_page_size}, not {self.page_size}")

    @property
    def object_budget(self) -> int:
        return self.mapped_object_threshold if self.essential_fields else self.object_threshold

    def spelled_out(self, fields: tuple[str, ...]) -> tuple[str, ...]:
        """Replace the name of each section by its fields."""
        known = dict(self.sections)
        return tuple(dict.fromkeys(one for name in fields for one in known.get(name, (name,))))

    def with_thresholds(self, change: Callable[[int], int], hard_cap: int) -> "Policy":
        """Return a copy with `change` applied to every threshold, under the given hard cap."""
        return replace(
            self,
            hard_cap=hard_cap,
            list_threshold=change(self.list_threshold),
            object_threshold=change(self.object_threshold),
            mapped_object_threshold=change(self.mapped_object_threshold),
            text_threshold=change(self.text_threshold),
        )

    def with_budget(self, budget: int) -> "Policy":
        """Return a copy with one budget for all shapes.

        A budget above the cap is an explicit wish and raises the cap too.
        """
        return self.with_thresholds(lambda _: budget, max(self.hard_cap, budget))
