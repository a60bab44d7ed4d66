"""What an answer must stay within, for all tools, for one tool, for one path. The defaults are those of the brief."""

import re
import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from brimgate.engine.lazy import lazy
from brimgate.engine.options import option
from brimgate.engine.tokens.estimator import MIN_BUDGET, Estimator

if TYPE_CHECKING:
    from brimgate.engine.decision import AnswerFormat, Arm
    from brimgate.engine.maps.survey import Detector

OutputSchema = Literal["drop", "relax", "keep"]
Annotate = Literal["always", "reduced"]
Switch = Literal["always", "never"]
Blobs = Literal["pass", "stub"]
Mode = Literal["on", "off", "shadow"]
Form = Literal["auto", "json", "columns", "table", "lines", "bare", "toon"]
THRESHOLDS: Final = ("output_token_threshold", "object_threshold", "chunk_threshold")
AnswerFormats = Callable[[bytes, Callable[[dict[str, Any]], None]], "AnswerFormat"]
"""Returns the format of the answer to a call.

Takes the arguments and a callback for problems (fields of a log line).
"""
DEFAULT_TTL_SECONDS: Final = 600
USUAL_PAGE: Final = 50
"""Items of a page where the brief has `limit`: REST lists, and lists with a field map."""
MAX_PAGE: Final = 200
USUAL_TEXT: Final = 4_000
NO_LIMIT: Final = 1_000_000_000
_MAX_REMEMBERED: Final = 4_096
_WILD: Final = re.compile(r"\*|\{([^{}/]*)\}")


@dataclass(frozen=True, kw_only=True)
class CallOptions:
    """Options that decide whether and how a call is protected at all."""

    enabled: bool = option(
        True, "protect answers; `false` passes everything through unchanged (one-line rollback)"
    )
    mode: Mode = option(
        "on",
        "`off` passes everything through unchanged, as `enabled: false` does; `shadow` does so too, and records what "
        "protection would have done",
        full_name=True,
    )
    rollout: int = option(
        100, "percentage of calls to protect; the same call is always treated alike", minimum=0, maximum=100
    )
    output_schema: OutputSchema = option(
        "drop", "how to handle output schemas: a reduced answer has no structured data that could match them"
    )
    annotate: Annotate = option("reduced", "which answers carry budget metadata in `_meta`")


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Options that decide how an answer is kept within its budget."""

    output_token_threshold: int = option(
        4_000, "token budget of a list or object", minimum=MIN_BUDGET, aliases=("tokenBudgetThreshold",)
    )
    object_threshold: int = option(
        2_000, "token budget of a single object that has a field map (`fields`)", minimum=MIN_BUDGET
    )
    chunk_threshold: int = option(
        0, "token budget of a text; `auto`: 2,000 over REST, 4,000 elsewhere", minimum=MIN_BUDGET, auto=True
    )
    text_slack: float = option(
        0.25,
        "share by which a text may exceed its budget and still pass whole: cutting it would save next to nothing",
        minimum=0,
        maximum=1,
    )
    hard_output_token_cap: int = option(
        12_000, "hard limit in tokens: nothing that is sent exceeds it", minimum=MIN_BUDGET
    )
    default_page_size: int = option(
        0,
        "items per page; `auto`: as many as fit, at most `max_page_size` (50 over REST and with a field map)",
        minimum=1,
        aliases=("defaultPageSize", "page_size", "pageSize"),
        auto=True,
    )
    max_page_size: int = option(
        200, "most items per page that a caller may ask for", minimum=1, aliases=("maxPageSize",)
    )
    chunk_size: int = option(
        0,
        "lines per chunk of text; `auto`: as many as fit (200 over REST)",
        minimum=1,
        aliases=("chunkSize",),
        auto=True,
    )
    enable_pagination: bool = option(
        True,
        "paginate lists and chunk long texts; without it only the hard cap applies",
        aliases=("pagination_enabled",),
    )
    enable_summarization: bool = option(
        True,
        "summarize large objects as a preview; without it they come part by part",
        aliases=("summarization_enabled",),
    )
    highlights: bool = option(True, "show highlights: items and lines that stand out")
    highlight_share: float = option(
        0.53,
        "share of the budget for highlights, more if the map needs less; 0 leaves them out",
        minimum=0,
        maximum=0.9,
    )
    map_share: float = option(
        0.12,
        "share of the budget for the map of the whole, more if highlights need less; 0 leaves it out",
        minimum=0,
        maximum=0.9,
    )
    alarm_words: tuple[str, ...] = option(
        ("payment_failed", "chargeback", "fraud"),
        "words of your field that report trouble: what has one stands out where it is rare",
    )
    format: Form = option("auto", "output format for JSON; `auto` picks the cheapest lossless one")
    compact: Switch = option("never", "`always`: rewrite small answers too if a lossless format is cheaper")
    strip_vectors: bool | None = option(
        None, "show the length of an embedding vector instead of its numbers (default: in production mode)"
    )
    strip_empty: bool = option(False, "leave out fields that are null or empty")
    strip_fields: tuple[str, ...] = option(
        (), "fields to replace by their size; `*` matches anything", example='[_links, "debug_*"]'
    )
    keywords: tuple[str, ...] = option((), "keep sentences with these words first when a text is shortened")
    max_blob_bytes: int = option(
        16 << 20,
        "largest blob, image or sound in bytes to pass; a larger one is read whole from the cursor of its stub",
        minimum=0,
    )
    blobs: Blobs = option(
        "pass", "`stub`: show type, size and cursor of every blob, for clients that show blobs to the model"
    )


@dataclass(frozen=True)
class Policy(AnswerOptions):
    """What holds for one answer: its options, and what only a tool, a pack or a path can add to them."""

    estimator: Estimator = field(default_factory=Estimator)
    fields: tuple[str, ...] = ()
    """The field map: fields of an item or object to show first."""
    sections: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Names that each stand for several fields in a query."""
    read_tool: str = "brimgate_read"
    """The name of the tool that notices point to."""
    has_notices: bool = True
    """Whether a notice stands above an answer that is complete in another form. A shell and REST have none."""
    pages_always: bool = False
    """Page a list that has more items than a page even if all would fit (REST, FR-001)."""
    reads_odd_json: bool = True
    """Read what is nearly JSON for its structure. REST leaves it to the client, which gets it as it came."""
    chunks_members: bool = True
    """Chunk a text that is most of an object. REST previews every object instead (FR-015)."""
    detectors: "tuple[Detector, ...]" = ()
    """What a pack adds to the kinds of text that are recognised."""

    def __post_init__(self) -> None:
        if self.strip_vectors is None:
            object.__setattr__(self, "strip_vectors", True)
        for name in THRESHOLDS:
            value: int = getattr(self, name)
            if value < MIN_BUDGET and not (name == "chunk_threshold" and value == 0):
                raise ValueError(f"{name} must be at least {MIN_BUDGET} tokens, not {value}")
            if value > self.hard_output_token_cap:
                object.__setattr__(self, name, self.hard_output_token_cap)
        if not 0 <= self.default_page_size <= self.max_page_size:
            raise ValueError(
                f"default_page_size must be from 1 to {self.max_page_size}, not {self.default_page_size}"
            )

    @property
    def is_compact(self) -> bool:
        return self.compact == "always"

    @property
    def reads_everything(self) -> bool:
        """Whether even an answer that surely fits may be changed."""
        return self.is_compact or (self.pages_always and self.enable_pagination)

    @property
    def page_size(self) -> int:
        """The most items of a page, if nobody asks for a number."""
        return self.default_page_size or min(USUAL_PAGE if self.fields else MAX_PAGE, self.max_page_size)

    @property
    def chunk_lines(self) -> int:
        """The most lines of a chunk."""
        return self.chunk_size or NO_LIMIT

    @property
    def text_budget(self) -> int:
        return self.chunk_threshold or min(USUAL_TEXT, self.hard_output_token_cap)

    @property
    def passing_text(self) -> int:
        """The tokens that a text may have and still pass whole."""
        return min(int(self.text_budget * (1 + self.text_slack)), self.hard_output_token_cap)

    @property
    def page_budget(self) -> int:
        """The budget of a list. Whole items in the place of those of a field map may fill the hard cap."""
        is_whole = self.fields and not self.enable_summarization
        return self.hard_output_token_cap if is_whole else self.output_token_threshold

    @property
    def object_budget(self) -> int:
        return self.object_threshold if self.fields else self.output_token_threshold

    @lazy
    def least_threshold(self) -> int:
        """The budget that an answer is within whatever its shape."""
        return min(self.text_budget, self.output_token_threshold)

    def for_bounded_answers(self) -> "Policy":
        bounded = self.with_budget(self.hard_output_token_cap)
        # A blob that comes from there was asked for by its cursor: it needs no second one.
        return replace(bounded, compact="never", blobs="pass", max_blob_bytes=sys.maxsize)

    def has_section(self, fields: tuple[str, ...]) -> bool:
        """Return whether a name among the fields is that of a section."""
        return not dict(self.sections).keys().isdisjoint(fields)

    def spell_section(self, fields: tuple[str, ...]) -> bool:
        """Return whether the fields are at least those of a section."""
        return any(set(one) <= set(fields) for _, one in self.sections)

    def spelled_out(self, fields: tuple[str, ...]) -> tuple[str, ...]:
        """Replace the name of each section by its fields."""
        known = dict(self.sections)
        return tuple(dict.fromkeys(one for name in fields for one in known.get(name, (name,))))

    def with_thresholds(self, change: Callable[[int], int], hard_cap: int) -> "Policy":
        """Return a copy with `change` applied to every threshold, under the given hard cap."""
        thresholds = {name: getattr(self, name) for name in THRESHOLDS} | {
            "chunk_threshold": self.text_budget
        }
        changed: dict[str, Any] = {name: change(value) for name, value in thresholds.items()}
        return replace(self, hard_output_token_cap=hard_cap, **changed)

    def with_budget(self, budget: int) -> "Policy":
        """Return a copy with one budget for all shapes.

        It is an explicit wish: above the cap it raises the cap too, and no text may exceed it a little.
        """
        exact = replace(self, text_slack=0.0)
        return exact.with_thresholds(lambda _: budget, max(self.hard_output_token_cap, budget))


@dataclass(frozen=True)
class ToolRule(CallOptions):
    """What holds for one tool or path. A call is chosen by its arguments, so the same call is always treated alike."""

    policy: Policy = field(default_factory=Policy)
    hidden: bool = False
    max_description_chars: int = 0
    """Cut longer descriptions in the list of tools; 0 leaves them unchanged."""
    formats: AnswerFormats | None = None
    """The formatters of a pack that knows the tool."""

    @lazy
    def reads_everything(self) -> bool:
        """Whether even a small answer must be inspected."""
        policy = self.policy
        looks_for_blobs = policy.blobs == "stub" or policy.max_blob_bytes < 3 * policy.least_threshold
        return self.annotates_all or policy.reads_everything or looks_for_blobs

    @property
    def annotates_all(self) -> bool:
        """Whether unchanged answers carry the budget record too."""
        return self.annotate == "always"

    def for_bounded_answers(self) -> "ToolRule":
        """Return the rule for an answer that another Brimgate has bounded already: only our cap applies."""
        return replace(self, policy=self.policy.for_bounded_answers(), annotate="reduced", formats=None)

    def answer_format(
        self, arguments: bytes = b"", on_trouble: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> "AnswerFormat | None":
        return self.formats(arguments, on_trouble) if self.formats is not None else None

    @property
    def is_on(self) -> bool:
        """Whether answers are protected, if only some of them."""
        return self.arm == "protected"

    @lazy
    def arm(self) -> "Arm":
        """How a call is treated where all are treated alike."""
        if not self.enabled or self.mode == "off":
            return "direct"
        return "protected" if self.mode == "on" else "shadow"

    def arm_of(self, tool: str, arguments: bytes) -> "Arm":
        """Return how a call is treated. It is drawn by what is asked for, however that is spelled."""
        if self.rollout >= 100 or self.arm != "protected":
            return self.arm
        drawn = blake2b(
            tool.encode("utf-8", "replace") + b"\0" + _one_spelling(arguments), digest_size=4
        ).digest()
        return "protected" if int.from_bytes(drawn, "big") % 100 < self.rollout else "direct"

    def rolled_out(self, mode: Mode | None, rollout: int | None) -> "ToolRule":
        return replace(self, mode=mode or self.mode, rollout=self.rollout if rollout is None else rollout)

    def may_be_large(self, raw: bytes | bytearray) -> bool:
        """Return whether an answer might exceed its budget. One that surely does not need not be opened."""
        least = self.policy.least_threshold
        return len(raw) > 3 * least or self.policy.estimator.bound_of(raw) > least


def _one_spelling(arguments: bytes) -> bytes:
    import msgspec

    try:
        return msgspec.json.encode(msgspec.json.decode(arguments), order="sorted")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return arguments


class CatalogOptions(NamedTuple):
    """How the list of tools is passed on."""

    warn_tokens: int = 0
    """Tell if it takes more; 0: never."""
    trims: bool = False
    """Leave out what says nothing."""


class Rules:
    """The rules in force. A configuration change makes a new object; calls under way keep theirs."""

    def __init__(
        self,
        resolve: Callable[[str], ToolRule] = lambda _: ToolRule(),
        *,
        read_tool: str = "brimgate_read",
        ttl_seconds: int = DEFAULT_TTL_SECONDS,
        pack: str = "",
        chained: bool = False,
        catalog: CatalogOptions = CatalogOptions(),  # noqa: B008  # it cannot be changed
    ) -> None:
        self.pack = pack
        self.chained = chained
        """Whether the upstream is a Brimgate whose notices and records are believed."""
        self.catalog = catalog
        self.read_tool = read_tool
        self.ttl_seconds = ttl_seconds
        self.is_personal = False
        """Whether they hide from one caller what another may see."""
        self._resolve = resolve
        self._known: dict[str, ToolRule] = {}

    def narrowed(self, allows: Callable[[str], bool]) -> "Rules":
        """Return the same rules with all tools hidden that are not allowed."""

        return self._personal(
            lambda tool: self.of(tool) if allows(tool) else replace(self.of(tool), hidden=True)
        )

    def rolled_out(self, mode: Mode | None, rollout: int | None) -> "Rules":
        """Return the same rules with another mode and rollout for all tools; None leaves what each has."""
        return self._personal(lambda tool: self.of(tool).rolled_out(mode, rollout))

    def _personal(self, resolve: Callable[[str], ToolRule]) -> "Rules":
        changed = copy(self)
        changed.is_personal, changed._known, changed._resolve = True, {}, resolve
        return changed

    @property
    def is_shadow(self) -> bool:
        """Whether protection is only tried: then the list of tools is left as it is, too."""
        return self.of(self.read_tool).arm == "shadow"

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
