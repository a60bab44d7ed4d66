"""What to keep an answer within, and how. The defaults are those of the brief (requirements A and D)."""

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
    """Of the budget, at most, for what does not look like the rest."""
    form: str = "auto"
    strip_vectors: bool = True
    """Show the length of an embedding vector instead of its numbers."""
    strip_empty: bool = False
    """Leave members out of items that are null or empty."""
    strip_fields: tuple[str, ...] = ()
    """Names of members (`*` stands for anything) of which an item shows the size only."""
    essential_fields: tuple[str, ...] = ()
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names under which several fields can be asked for at once."""
    compact: bool = False
    """Write also what fits in a cheaper lossless form, where that saves at least 15 %."""
    read_tool: str = "brimgate_read"
    """Name of the tool that notices lead to."""
    keywords: tuple[str, ...] = ()
    """Sentences with one of these words survive first when a long text is cut."""

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
        """Fields with each section in the place of its name."""
        known = dict(self.sections)
        return tuple(dict.fromkeys(one for name in fields for one in known.get(name, (name,))))

    def with_thresholds(self, change: Callable[[int], int], hard_cap: int) -> "Policy":
        """Every threshold changed in the same way, under another cap."""
        return replace(
            self,
            hard_cap=hard_cap,
            list_threshold=change(self.list_threshold),
            object_threshold=change(self.object_threshold),
            mapped_object_threshold=change(self.mapped_object_threshold),
            text_threshold=change(self.text_threshold),
        )

    def with_budget(self, budget: int) -> "Policy":
        """One budget for all shapes. Above the cap it is somebody's explicit wish, and raises the cap with it."""
        return self.with_thresholds(lambda _: budget, max(self.hard_cap, budget))
