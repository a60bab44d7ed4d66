"""What an answer must stay within, for all tools, for one tool, for one path. The defaults are those of the brief."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Literal

from brimgate.engine.tokens.estimator import Estimator
from brimgate.engine.tokens.families import MIN_BUDGET

if TYPE_CHECKING:
    from brimgate.engine.replies.formatted import AnswerFormat

OutputSchema = Literal["drop", "relax", "keep"]
AnswerFormats = Callable[[bytes, Callable[[dict[str, Any]], None]], "AnswerFormat"]
"""Returns the format of the answer to a call.

Takes the arguments and a callback for problems (fields of a log line).
"""
DEFAULT_TTL_SECONDS: Final = 600
_MAX_REMEMBERED: Final = 4_096
_WILD: Final = re.compile(r"\*|\{([^{}/]*)\}")


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


@dataclass(frozen=True, slots=True)
class ToolRule:
    policy: Policy = field(default_factory=Policy)
    enabled: bool = True
    """If False, answers pass unchanged, whatever their size (the one-line rollback)."""
    rollout_percent: int = 100
    """Percentage of protected calls. A call is chosen by its arguments, so the same call is always treated alike."""
    output_schema: OutputSchema = "drop"
    annotate: bool = False
    """Also put the budget record on answers that are passed unchanged."""
    hidden: bool = False
    max_description_chars: int = 0
    """Cut longer descriptions in the list of tools; 0 leaves them unchanged."""
    formats: AnswerFormats | None = None
    """The formatters of a pack that knows the tool."""

    @property
    def reads_everything(self) -> bool:
        """Whether even a small answer must be inspected."""
        return self.annotate or self.policy.compact

    def answer_format(
        self, arguments: bytes = b"", on_trouble: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> "AnswerFormat | None":
        return self.formats(arguments, on_trouble) if self.formats is not None else None

    def protects(self, tool: str, arguments: bytes) -> bool:
        """Return whether a call is among those that are protected."""
        if not self.enabled or self.rollout_percent >= 100:
            return self.enabled
        drawn = blake2b(tool.encode() + b"\0" + arguments, digest_size=4).digest()
        return int.from_bytes(drawn, "big") % 100 < self.rollout_percent

    def may_be_large(self, raw: bytes | bytearray) -> bool:
        """Return whether an answer might exceed its budget. One that surely does not need not be opened."""
        policy = self.policy
        least = min(policy.text_threshold, policy.list_threshold, policy.object_threshold)
        return len(raw) > 3 * least or policy.estimator.bound_of(raw) > least


class Rules:
    """The rules in force. A configuration change makes a new object; calls under way keep theirs."""

    def __init__(
        self,
        resolve: Callable[[str], ToolRule] = lambda _: ToolRule(),
        *,
        read_tool: str = "brimgate_read",
        ttl_seconds: int = DEFAULT_TTL_SECONDS,
    ) -> None:
        self.read_tool = read_tool
        self.ttl_seconds = ttl_seconds
        self._resolve = resolve
        self._known: dict[str, ToolRule] = {}

    def of(self, tool: str) -> ToolRule:
        rule = self._known.get(tool)
        if rule is None:
            rule = self._resolve(tool)
            if len(self._known) < _MAX_REMEMBERED:  # names come from outside
                self._known[tool] = rule
        return rule


@dataclass(frozen=True, slots=True)
class PathPattern:
    expression: re.Pattern[str]

    @classmethod
    def of(cls, text: str) -> "PathPattern":
        out: list[str] = []
        named: set[str] = set()
        at = 0
        text = _bare(text)
        for found in _WILD.finditer(text):
            out.append(re.escape(text[at : found.start()]))
            at = found.end()
            name = found[1] or ""
            if found[0] == "*":
                out.append(".*")
            elif name.isidentifier() and name not in named:
                named.add(name)
                out.append(f"(?P<{name}>[^/]+)")
            else:
                out.append("[^/]+")
        return cls(re.compile("".join([*out, re.escape(text[at:])]), re.DOTALL))

    def match(self, path: str) -> dict[str, str] | None:
        """Return the values of the names in the pattern. None if the path does not match."""
        found = self.expression.fullmatch(_bare(path))
        return None if found is None else found.groupdict()


def template_for(path: str, templates: "Mapping[str, str]") -> str:
    """Return the endpoint for one item of the list at `path`, with names filled in. The last match wins."""
    chosen = ""
    for pattern, template in templates.items():
        names = PathPattern.of(pattern).match(path)
        if names is not None:
            chosen = template
            for name, value in names.items():
                chosen = chosen.replace(f"{{{name}}}", value)
    return chosen


def _bare(path: str) -> str:
    return path.rstrip("/") or "/"
