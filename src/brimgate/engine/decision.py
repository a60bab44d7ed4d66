"""Decide what becomes of an answer: nothing if it fits as it is, otherwise the mildest change that makes it fit.

Every path asks here: relay, REST, the middlewares, the shell. They differ in their policies, and in how they write
what was decided.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, assert_never

import msgspec

from brimgate.engine import jsontext
from brimgate.engine.document import Document, Focus, Node
from brimgate.engine.pointer import pointer_step, pointer_steps
from brimgate.engine.policy import Policy
from brimgate.engine.tokens.estimator import MOST_BYTES_A_TOKEN, is_surely_under

if TYPE_CHECKING:
    from brimgate.engine.forms import Rendered

Outcome = Literal["passed", "rendered", "page", "preview", "chunk", "read", "refused", "error"]
"""What became of an answer: the first five are decided here, the others by whoever was asked."""
Arm = Literal["protected", "direct", "shadow"]
"""How a call is treated: bounded, passed on as it is, or passed on while protection is only tried (FR-035, FR-036)."""
AnswerKind = Literal["list", "object", "text", ""]
AnswerFormat = Callable[[bytes, int, int | None, int], str | None]
"""Writes a document as text.

Takes the document, the number of its first item, how many items there are (None: all are given), and how many bytes
the whole answer has. Returns None if it cannot be formatted. It never raises.
"""
BEST_SAVING: Final = 6
"""No form has ever shrunk JSON by more than this factor. Beyond it, rendering the whole answer is not tried."""
_FORMATTER_SAVING: Final = 12
"""An answer this many times over the room does not fit even when a pack formats it."""
_CLEARLY_CHEAPER: Final = 0.75
_CLEARLY_FEWER_BYTES: Final = 0.9
_SMALL_BYTES: Final = 16_384
"""To count exactly, a vocabulary is loaded, which takes 80 to 200 ms: more than all else that a call from a shell does."""
_WORTH_COMPACTING: Final = 0.15
NOTICE_ALLOWANCE: Final = 60
"""Tokens for the one-line notice above a re-rendered answer, which has no cursor."""
_MOST_TOKENS_A_BYTE: Final = 3
_ITEM_ALLOWANCE: Final = 150
"""Tokens beside the one item of a page: a notice with a cursor, or the metadata of a REST page."""
_DOMINANT: Final = 0.6
_WRAPPERS: Final = frozenset(
    "result data response payload body item object entity record value".split()  # noqa: SIM905
)
"""Members that hold the one thing an envelope is about.

For other members, such as guest in a booking, the thing is the object around them.
"""


@dataclass(frozen=True, slots=True)
class Pass:
    """The answer fits: send the same bytes."""

    tokens: int
    """At most so many: counted only as exactly as the question needs."""


@dataclass(frozen=True, slots=True)
class Rerender:
    """The answer fits in another, lossless form: nothing is held back."""

    rendered: "Rendered"
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Format:
    """A pack's formatter writes all of the answer within the budget. Derived: the original is held."""

    text: str
    budget: int
    items: int = 0
    """The number of items shown, if it is a list."""


@dataclass(frozen=True, slots=True)
class Page:
    """A list, alone or inside an envelope: send as many whole items as fit."""

    focus: Focus
    budget: int
    is_condensed: bool = False
    """Shorten each item by its field map, or by leaving out its noise."""


@dataclass(frozen=True, slots=True)
class Preview:
    """An object, or a list of which not even one item fits: send its essentials."""

    focus: Focus
    budget: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A text, alone or inside an envelope: send a piece that ends at a natural boundary."""

    focus: Focus | None
    budget: int


@dataclass(frozen=True, slots=True)
class Walk:
    """An object when previews are switched off: send its members in order."""

    budget: int


Reduction = Rerender | Format | Page | Preview | Chunk | Walk
Plan = Pass | Reduction


def outcome_of(plan: Plan) -> Outcome:
    match plan:
        case Pass():
            return "passed"
        case Rerender() | Format():
            return "rendered"
        case Page() | Walk():
            return "page"
        case Preview():
            return "preview"
        case Chunk():
            return "chunk"
        case _:
            assert_never(plan)


def asked_outcome(kind: str) -> Outcome:
    """Return what became of an answer of which something was chosen at once: that was not decided, but asked for."""
    match kind:
        case "page" | "part":
            return "page"
        case "preview" | "chunk":
            return kind
        case _:
            return "rendered"


class Trial(NamedTuple):
    """What protection would have done with an answer that was passed on as it was."""

    outcome: Outcome
    tokens: int
    """What it would have sent."""


class AnswerSizes(NamedTuple):
    """What an answer and its reply take, in tokens and in items of a list."""

    original_tokens: int
    estimated_tokens: int
    item_count: int = 0
    """The items of the upstream's list; 0 if the answer is not about a list."""
    items_shown: int = 0
    kind: AnswerKind = ""
    """What the answer is about; empty for one of our own."""
    trial: Trial | None = None
    """What was only tried, in the arm `shadow`."""


LazySizes = AnswerSizes | Callable[[], AnswerSizes]
"""A function for an answer that passes: it is looked at only if somebody asks."""


@dataclass(slots=True)
class Decision:
    """What became of one answer. Every answer on every path makes one: the log, metrics and tests hang on it."""

    time: float
    principal: str
    """Its short name: `local`, or a kind and a few digits of a digest."""
    upstream: str
    tool: str
    """The tool, or the method or route where there is none."""
    outcome: Outcome
    original_bytes: int
    """What came: the result, error or body."""
    response_bytes: int
    """What is sent for it."""
    sizes: LazySizes
    client: str = ""
    estimate_method: str = ""
    """The token family that was counted in."""
    engine_seconds: float = 0.0
    upstream_seconds: float = 0.0
    issued_cursor: bool = False
    followed_cursor: bool = False
    reason: str = ""
    """Why it was refused, or what failed."""
    arm: Arm = "protected"
    principal_id: str = ""
    """Whose it is, in full. It is never told: records keep a digest of it."""
    answer: int = 0
    """The number of the held answer that a cursor was issued for or followed to; 0 if there is none."""
    call: bytes = b""
    """A digest of the arguments: who makes the same call again did not find what it looked for."""
    has_expired: bool = False
    """Whether a cursor was followed that leads nowhere any more."""
    highlights: int = 0
    """How many items or lines were shown because they stand out."""
    threshold: int = 0
    """The budget of a list or object."""
    shown: Callable[[], bytes] | None = None
    """Returns the text that is sent, so that a sample can be counted."""
    method: str = ""
    """The method of MCP; empty on paths that are not MCP."""
    arguments: bytes = b""
    """What the call asked for, or the beginning of it: JSON, or the query of a URL. It is never logged."""
    error_type: str = ""
    """`tool_error` if the tool reports a failure, else the code of the error, as OpenTelemetry has it."""
    trace: object = None
    """What spans are made of, where there are spans (relay/trace_context)."""

    def measured(self) -> AnswerSizes:
        if not isinstance(self.sizes, AnswerSizes):
            self.sizes = self.sizes()
        return self.sizes

    @property
    def latency_seconds(self) -> float:
        return self.upstream_seconds + self.engine_seconds

    @property
    def is_oversized(self) -> bool:
        """Whether the answer was over its budget, whatever became of it.

        Objects and texts are only shortened if they are. A list may be paged, or written anew, though it would fit.
        """
        sizes = self.measured()
        done = sizes.trial.outcome if sizes.trial is not None else self.outcome
        if done in ("read", "refused"):
            return False
        return done in ("preview", "chunk") or sizes.original_tokens > self.threshold > 0

    def fields(self) -> dict[str, object]:
        """Return it as the log tells it: sizes and kinds, nothing of the content."""
        sizes = self.measured()
        saved = 1 - sizes.estimated_tokens / sizes.original_tokens if sizes.original_tokens else 0.0
        told: dict[str, object] = {
            "outcome": self.outcome,
            "upstream": self.upstream,
            "tool": self.tool[:200],
            "principal": self.principal,
            "client": self.client,
            "originalTokens": sizes.original_tokens,
            "estimatedTokens": sizes.estimated_tokens,
            "originalBytes": self.original_bytes,
            "responseBytes": self.response_bytes,
            "itemCount": sizes.item_count,
            "itemsShown": sizes.items_shown,
            "estimateMethod": self.estimate_method,
            "reductionPercent": round(100 * saved, 1),
            "paginationUsed": self.outcome == "page",
            "summarizationUsed": self.outcome == "preview",
            "chunkingUsed": self.outcome == "chunk",
            "arm": self.arm,
            "latency": round(self.latency_seconds * 1_000, 2),
            "engineMs": round(self.engine_seconds * 1_000, 2),
            "upstreamMs": round(self.upstream_seconds * 1_000, 3),
            "cursorIssued": self.issued_cursor,
            "cursorFollowed": self.followed_cursor,
        }
        if sizes.trial is not None:
            told |= {"trialOutcome": sizes.trial.outcome, "trialTokens": sizes.trial.tokens}
        return told | ({"reason": self.reason[:200]} if self.reason else {})


Report = Callable[[Decision], None]
MAX_ARGUMENT_BYTES: Final = 4_096
"""So much of the arguments a decision keeps: it may wait for its turn with ten thousand others."""
TOOL_ERROR: Final = "tool_error"
_NAME_DIGITS: Final = 8


def short_name(principal: str) -> str:
    """Return the name of a principal for the log: `key:` and a few digits of a digest, for one that is bound to it."""
    kind, colon, digest = principal.partition(":")
    return f"{kind}:{digest[:_NAME_DIGITS]}" if colon else kind


def sizes_of(document: Document, policy: Policy) -> AnswerSizes:
    """Measure an answer that is sent as it is."""
    tokens = document.tokens(policy.estimator)
    items, kind = contents(document, policy)
    return AnswerSizes(tokens, tokens, items, items, kind)


def small_sizes(data: bytes, policy: Policy) -> AnswerSizes:
    """Measure the same, without a document where the answer is small, and plainly a list, a text or an object.

    Every answer is measured, and most are small: a document takes several times as long as all the rest.
    """
    found = _plain_contents(data) if len(data) <= _QUICK_BYTES and not policy.fields else None
    if found is None:
        return sizes_of(Document(data), policy)
    tokens = policy.estimator.table(data)
    return AnswerSizes(tokens, tokens, found[0], found[0], found[1])


def _plain_contents(data: bytes) -> "tuple[int, AnswerKind] | None":
    """Return what `contents` does where it takes no closer look; None where it does."""
    head = data[:1]
    try:
        if head == b"[":
            return len(_list_items.decode(data)), "list"
        if head == b"{":
            members = _members.decode(data)
            largest = max(map(len, map(memoryview, members.values())), default=0)
            return (0, "object") if 2 * largest < len(data) else None  # well below _DOMINANT
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return None if head in _OPENING else (0, "text")


_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_list_items: Final = msgspec.json.Decoder(list[msgspec.Raw])
_OPENING: Final = (b"", b'"', b" ", b"\n", b"\r", b"\t", b"\xef")
_QUICK_BYTES: Final = 8_192


def decide(document: Document, policy: Policy, answer_format: AnswerFormat | None = None) -> Plan:
    """Decide what becomes of an answer. A pack's formatter is asked only where the answer may be changed at all."""
    if document.is_beginning or _is_over_page(document, policy):
        return decide_oversized(document, policy)
    budget = budget_for(document, policy)
    if budget == policy.text_budget and _is_about_text(document, policy):
        budget = policy.passing_text
    tokens = measure(document, budget, policy)
    if tokens <= budget and not policy.is_compact:
        return Pass(tokens)
    if not document.is_json:
        return Pass(tokens) if tokens <= budget else decide_oversized(document, policy)
    cheaper = _formatted(document, budget, policy, answer_format) if answer_format else None
    cheaper = cheaper or _rerendered(document, tokens, budget, policy)
    return cheaper or (Pass(tokens) if tokens <= budget else decide_oversized(document, policy))


def decide_oversized(document: Document, policy: Policy) -> Page | Preview | Chunk | Walk:
    """Choose the reduction for an answer that cannot be sent whole."""
    budget = budget_for(document, policy)
    if not document.is_json:
        return Chunk(None, budget)
    focus = subject(document, policy)
    head = document.head(focus.node)
    if not is_light_around(document, focus, budget, policy):
        focus, head = Focus(document.root, ""), b"{"
    if head == b"[" and (page := _page(document, focus, budget, policy)) is not None:
        return page
    if head == b'"':
        return Chunk(focus, budget)
    return Preview(focus, budget) if policy.enable_summarization else Walk(budget)


def subject(document: Document, policy: Policy) -> Focus:
    """Return what a JSON answer is about: its list, its text, or the object inside its envelope."""
    if (mapped := _mapped(document, policy.fields)) is not None:
        return mapped
    focus = document.focus
    heads = (b"[", b'"') if policy.chunks_members else (b"[",)
    return focus if document.head(focus.node) in heads else _unwrapped(document)


def policy_at(document: Document, path: str, policy: Policy) -> Policy:
    """Return the policy for a part of an answer.

    A field map describes the list or object that the answer is about, and an item of that list: nothing further down.
    """
    if not policy.fields:
        return policy
    here, about = pointer_steps(path), pointer_steps(subject(document, policy).pointer)
    is_list = document.head(document.resolve(subject(document, policy).pointer)) == b"["
    is_described = here == about[: len(here)] or (is_list and here[:-1] == about)
    return policy if is_described else replace(policy, fields=())


def item_count(document: Document, policy: Policy) -> int:
    """Return how many items the list has that an answer is about; 0 if it is not about a list."""
    return contents(document, policy)[0]


def contents(document: Document, policy: Policy) -> tuple[int, AnswerKind]:
    """Return how many items the list has that an answer is about, and what it is about.

    The list or object in an envelope counts, not the envelope.
    """
    if not document.is_json:
        return 0, "text"
    node = subject(document, policy).node
    head = document.head(node)
    if head != b"[":
        return 0, "object" if head == b"{" else "text"
    children = document.open(node)
    return document.count(node, children) if children else 0, "list"


def reduced_kind(outcome: Outcome, items: int) -> AnswerKind:
    """Return the same of a reply, where the document is at hand no more."""
    if outcome in ("read", "refused", "error"):
        return ""
    return "text" if outcome == "chunk" else "list" if items else "object"


def budget_for(document: Document, policy: Policy) -> int:
    """Return the budget for what the answer is about. Without paging or summaries only the hard cap applies."""
    head = document.head(subject(document, policy).node) if document.is_json else b'"'
    if not (policy.enable_summarization if head == b"{" else policy.enable_pagination):
        return policy.hard_output_token_cap
    by_head = {b"[": policy.page_budget, b'"': policy.text_budget}
    return by_head.get(head, policy.object_budget)


def _is_about_text(document: Document, policy: Policy) -> bool:
    return not document.is_json or document.head(subject(document, policy).node) == b'"'


def is_condensed(document: Document, focus: Focus, policy: Policy) -> bool:
    """Return whether the items of a list are shortened. Looks at the first: a vector store has one in every item."""
    from brimgate.engine.fields import is_noisy

    if not policy.enable_summarization:
        return False
    children = document.open(focus.node)
    if not children:
        return bool(policy.fields)
    first = document.child(children, 0)
    wanted = {name.partition(".")[0] for name in policy.fields}
    # The columns of a row have no names of their own.
    is_mapped = bool(wanted) and (document.head(first) == b"[" or _names_in(document, first, wanted) > 0)
    return is_mapped or is_noisy(document.raw(first), policy)


# What an answer is about


def _mapped(document: Document, fields: tuple[str, ...]) -> Focus | None:
    """Return the object that a field map is about.

    It has at least half of the fields, and more than an item of the list.
    """
    wanted = {name.partition(".")[0] for name in fields}
    if not wanted:
        return None
    best, most = Focus(document.root, ""), 0
    node, pointer = document.root, ""
    for step in [*pointer_steps(document.focus.pointer), None]:
        found = _names_in(document, node, wanted)
        if found > most and document.head(node) == b"{":
            best, most = Focus(node, pointer), found
        children = document.open(node)
        if step is not None and children and children.keys is not None:
            index = children.keys.index(step)
            node, pointer = document.child(children, index), pointer + pointer_step(children, index)
    items = document.open(node) if document.head(node) == b"[" else None
    in_item = _names_in(document, document.child(items, 0), wanted) if items else 0
    return best if 2 * most >= len(wanted) and most > in_item else None


def _names_in(document: Document, node: Node, wanted: set[str]) -> int:
    children = document.open(node)
    return len(wanted.intersection(children.keys)) if children and children.keys else 0


def _unwrapped(document: Document) -> Focus:
    node, pointer = document.root, ""
    while children := document.open(node):
        index, size = children.largest()
        if children.keys is None or size < _DOMINANT * (node.end - node.start):
            break
        child = document.child(children, index)
        is_wrapped = len(children) == 1 or children.keys[index] in _WRAPPERS
        if not is_wrapped or document.head(child) != b"{" or not document.open(child):
            break
        node, pointer = child, pointer + pointer_step(children, index)
    return Focus(node, pointer)


# What fits


def _is_over_page(document: Document, policy: Policy) -> bool:
    """Return whether a list has more items than a page, where that alone is a reason to page it."""
    if not (policy.pages_always and policy.enable_pagination):
        return False
    return item_count(document, policy) > policy.page_size


def is_light_around(document: Document, focus: Focus, budget: int, policy: Policy) -> bool:
    """Return whether what surrounds the focus is little enough to be repeated beside a part of it."""
    data, root, node = document.data, document.root, focus.node
    size = (node.start - root.start) + (root.end - node.end)
    if _MOST_TOKENS_A_BYTE * size <= budget // 2:
        return True
    if size > MOST_BYTES_A_TOKEN * budget:
        return False
    around = data[root.start : node.start] + data[node.end : root.end]
    if size > budget and policy.estimator.table(around) > budget // 2:
        return False
    # By the safe count: it is repeated as it is, and of a small budget the notice is the rest.
    return policy.estimator.ceiling(around) <= budget - _ITEM_ALLOWANCE


def _page(document: Document, focus: Focus, budget: int, policy: Policy) -> Page | None:
    """Return the plan for a list, or None if not even its first item fits beside what surrounds the list."""
    children = document.open(focus.node)
    if not children:
        return None
    condensed = is_condensed(document, focus, policy)
    item = document.raw(document.child(children, 0))
    kept = _condensed_item(item, policy) if condensed else item
    data, root, node = document.data, document.root, focus.node
    estimator = policy.estimator
    around = estimator.table(data[root.start : node.start] + data[node.end : root.end])
    # What surrounds a list is light, or we would not be here, and another form may make it lighter.
    room = budget - min(around, budget // 2) - _ITEM_ALLOWANCE
    fits = estimator.bound_of(kept) <= room or (
        len(kept) <= MOST_BYTES_A_TOKEN * budget and estimator.ceiling(jsontext.canonical(kept)) <= room
    )
    return Page(focus, budget, condensed) if fits else None


def _condensed_item(raw: bytes, policy: Policy) -> bytes:
    from brimgate.engine.fields import field_tree, project, strip

    chosen = project(raw, field_tree(policy.fields), set()) if policy.fields else None
    return strip(chosen or raw, policy)


def _formatted(document: Document, budget: int, policy: Policy, answer_format: AnswerFormat) -> Format | None:
    """Let a pack's formatter write all of it. Return None if that does not fit, or is not worth it."""
    estimator = policy.estimator
    room = budget
    if policy.has_notices:
        from brimgate.engine.replies.reply import allowance

        room -= allowance(policy, section=True)
    if estimator.table(document.data) > room * _FORMATTER_SAVING:
        return None
    text = answer_format(document.data, 0, None, len(document.data))
    if text is None or not _is_cheap(text, document, room, policy):
        return None
    return Format(text, budget, len(formatted_items(document) or ()))


def _is_cheap(text: str, document: Document, room: int, policy: Policy) -> bool:
    """Return whether a formatted text is within the room and saves enough."""
    estimator = policy.estimator
    if not policy.has_notices:
        is_cheaper = estimator.table(text) <= _CLEARLY_CHEAPER * estimator.table(document.data)
        if (is_cheaper or _has_fewer_bytes(text, document, policy)) and estimator.surely_fits(text, room):
            return True
    cost, whole = estimator.ceiling(text), estimator.ceiling(document.data)
    return cost <= min(room, whole) and _is_worth(cost, whole, policy)


def _has_fewer_bytes(text: str, document: Document, policy: Policy) -> bool:
    size = len(text.encode("utf-8", "surrogateescape"))
    return _is_compared_by_bytes(document, policy) and size <= _CLEARLY_FEWER_BYTES * len(document.data)


def _is_compared_by_bytes(document: Document, policy: Policy) -> bool:
    """Return whether exact counts are not worth their time: in a shell, for an answer that is small anyway."""
    return not policy.has_notices and len(document.data) <= _SMALL_BYTES


def formatted_items(document: Document) -> jsontext.Children | None:
    """Return the items for a formatter.

    The numbers of a vector are not items, even if most of a fact is its embedding.
    """
    focus = document.focus
    children = document.open(focus.node) if document.head(focus.node) == b"[" else None
    if not children or document.head(document.child(children, 0)) in _NUMBER_HEADS:
        return None
    return children


_NUMBER_HEADS: Final = frozenset(bytes((byte,)) for byte in b"-0123456789")


def _rerendered(document: Document, tokens: int, budget: int, policy: Policy) -> Rerender | None:
    """Write all of it in a cheaper form. Return None if that does not fit, or is not worth it where it fits as it is."""
    if tokens > budget * BEST_SAVING:
        return None
    # Import the forms only here, where one is written: an answer from a pack's formatter needs none.
    from brimgate.engine.forms import render

    estimator = policy.estimator
    by_bytes = _is_compared_by_bytes(document, policy)
    rendered = render(jsontext.canonical(document.data), policy.format, estimator, by_bytes=by_bytes)
    room = budget - (NOTICE_ALLOWANCE if policy.has_notices else 0)
    if not policy.has_notices and estimator.surely_fits(rendered.text, room):
        cost = estimator.table(rendered.text)
        is_worth = tokens > budget or cost <= estimator.table(document.data)
        return Rerender(rendered, cost, budget) if is_worth else None
    cost = estimator.ceiling(rendered.text)
    if cost > room or (tokens <= budget and not _is_worth(cost, estimator.ceiling(document.data), policy)):
        return None
    return Rerender(rendered, cost, budget)


def _is_worth(cost: int, whole: int, policy: Policy) -> bool:
    """Return whether changing an answer saves enough, including the notice that says so."""
    if not policy.has_notices:
        return cost <= whole
    return cost + NOTICE_ALLOWANCE <= whole * (1 - _WORTH_COMPACTING)


def measure(document: Document, budget: int, policy: Policy) -> int:
    """Count the tokens of the document, only as exactly as the question "more than the budget?" needs."""
    estimator = policy.estimator
    document = document.as_text if document.is_reading else document
    if (bound := estimator.bound(len(document.data))) <= budget:
        return bound
    tokens = document.tokens(estimator)
    if tokens > _BEYOND_DOUBT * budget:
        return tokens
    if tokens > _CLEARLY_OVER * budget and len(document.data.translate(None, _ASCII)) * 5 < tokens:
        return tokens
    # A text that we take to be under the budget can cost up to twice as much; that must not exceed the cap.
    if 2 * budget <= policy.hard_output_token_cap and is_surely_under(
        document.data, tokens, budget, estimator
    ):
        return tokens
    return estimator.ceiling(document.data)


_ASCII: Final = bytes(range(128))
_CLEARLY_OVER: Final = 2.5
"""Applies to plain text.

Beyond ASCII the table can also be several times too high, and what fits must stay unchanged.
"""
_BEYOND_DOUBT: Final = 15
