"""What every REST reply needs to know: the document, the policy, and how the caller gets the rest."""

import json
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, field
from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.decision import Outcome
from brimgate.engine.document import Document, Focus, Node, Position
from brimgate.engine.fields import ALL
from brimgate.engine.policy import Policy
from brimgate.engine.query import View
from brimgate.engine.replies.reply import Issue, budget_fields
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import BadRequest

START: Final = Position(0)
OWN_MEMBERS: Final = ("meta", "nextCursor")
"""Members of an envelope that a page writes itself."""
CURSOR: Final = "Zq3_" * 14
"""As long as a cursor can be. Stands for one while we try what fits."""
_ROUNDS: Final = 6
Members = Iterable[tuple[str, bytes]]
Make = Callable[[list[tuple[str, bytes]]], bytes]
"""Writes a body with these members of its metadata."""
_OUR_META: Final = frozenset(
    (
        "totalCount",
        "pageSize",
        "hasMore",
        "detailsAvailable",
        "missingFields",
        "estimatedTokens",
        "budgetUsed",
        "budgetRemaining",
        "original",
    )
)


class RefusedQuery(BadRequest):
    """A query that we refuse, with an error code for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def invalid_cursor() -> RefusedQuery:
    """Return the error for an invalid cursor. It is the same for every reason, so that nobody can learn by trying."""
    return RefusedQuery("invalid_cursor", "invalid or expired cursor: run the query again from the start")


@dataclass(frozen=True, slots=True)
class ParameterNames:
    """The names of our query parameters, for applications that use some of the default names themselves."""

    limit: str = "limit"
    cursor: str = "cursor"
    fields: str = "fields"
    path: str = "path"
    start_line: str = "startLine"
    end_line: str = "endLine"

    def __post_init__(self) -> None:
        names: tuple[Any, ...] = astuple(self)
        if len(set(names)) != len(names) or not all(names):
            raise ValueError("query parameters need names of their own")


@dataclass(frozen=True, slots=True)
class RestFrame:
    document: Document
    policy: Policy
    issue: Issue
    endpoint: str
    names: ParameterNames = ParameterNames()  # frozen
    template: str = ""
    """The endpoint of one item of the list."""
    is_repeatable: bool = True
    """Whether the same request, with fields added, gives the same answer."""

    def whole_cursor(self) -> str:
        return self.issue(View("whole", form="json"), START)

    def details(self, target: "RestTarget") -> dict[str, Any]:
        """Say how to get all of a target: with a new request to the application, or from the held answer."""
        parameters = {self.names.fields: ALL}
        if not self.is_repeatable or target.path:
            parameters = {self.names.cursor: self.whole_cursor(), **parameters}
        if target.path:
            parameters[self.names.path] = target.path
        return {"endpoint": self.endpoint, "parameters": parameters}

    def at(self, path: str) -> "RestTarget":
        node = self.document.resolve(path)
        if node == self.document.root:
            return RestTarget(self.document)
        return RestTarget(self.document.inside(node), path if path.startswith("/") else "/" + path, node)


@dataclass(frozen=True, slots=True)
class RestTarget:
    """A part of the document, treated as an answer of its own."""

    document: Document
    path: str = ""
    node: Node | None = None
    """Its place in the whole; None if it is the whole."""

    def raw(self, frame: RestFrame) -> bytes:
        return frame.document.raw(self.node or frame.document.root)


class Unfit(Exception):
    """This shape cannot be brought within the budget; a plainer one can."""


@dataclass(frozen=True, slots=True)
class Shaped:
    """The body that replaces an answer."""

    body: bytes
    kind: str
    tokens: int
    budget: int
    items: int = 0
    """The items of the list that are shown."""
    outcome: Outcome = "read"
    """What was decided about the answer; a reply to a query only reads it."""
    missing: tuple[str, ...] = ()
    """Requested fields that occur nowhere."""


def written(members: Members) -> bytes:
    return b"{" + b",".join(quoted(key) + b":" + raw for key, raw in members) + b"}"


def quoted(text: str) -> bytes:
    return jsontext.quote(text).encode("utf-8", "replace")


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def encoded_members(values: dict[str, Any]) -> list[tuple[str, bytes]]:
    return [(key, encoded(value)) for key, value in values.items()]


def counted(make: Make, budget: int, estimator: Estimator) -> tuple[bytes, int]:
    """Return a body that states its own size, and that size. Counts and writes again until both agree."""
    told, body, tokens = budget, b"", -1
    for _ in range(_ROUNDS):
        body = make(encoded_members(budget_fields(told, budget)))
        tokens = estimator.ceiling(body)
        if tokens == told:
            return body, tokens
        told = tokens
    return _padded(make, told, budget, estimator) or (body, tokens)


def _padded(make: Make, least: int, budget: int, estimator: Estimator) -> tuple[bytes, int] | None:
    """Make a count true by blanks at the end, where two counts lead to each other for ever (1 body in 1,000)."""
    for told in range(least, least + _ROUNDS):
        body = make(encoded_members(budget_fields(told, budget)))
        for padded in (body, body + b" ", body + b"  "):
            if estimator.ceiling(padded) == told:
                return padded, told
    return None


@dataclass(frozen=True, slots=True)
class Envelope:
    """Members in their order; for the one that holds the list, the bytes before and after its items."""

    before: list[tuple[str, bytes]] = field(default_factory=lambda: [])
    key: str = "items"
    head: bytes = b""
    tail: bytes = b""
    after: list[tuple[str, bytes]] = field(default_factory=lambda: [])
    meta: list[tuple[str, bytes]] = field(default_factory=lambda: [])
    """The members of the original `meta`."""

    def page(self, items: list[bytes], cursor: bytes | None, meta: list[tuple[str, bytes]]) -> bytes:
        inner = self.head + b"[" + b",".join(items) + b"]" + self.tail
        onward = [("nextCursor", cursor)] if cursor is not None else []
        ours = [("meta", written([*self.meta, *meta]))]
        return written([*self.before, (self.key, inner), *self.after, *onward, *ours])


def envelope_of(document: Document, focus: Focus) -> Envelope:
    if not focus.pointer:
        return Envelope()
    data, root, node = document.data, document.root, focus.node
    # With an empty list in its place, the rest is small and can be rewritten.
    shell = Document(jsontext.canonical(data[root.start : node.start] + b"[]" + data[node.end : root.end]))
    place = shell.resolve(focus.pointer)
    children = shell.open(shell.root)
    if children is None or children.keys is None:
        raise AssertionError("an envelope is an object")
    before: list[tuple[str, bytes]] = []
    after: list[tuple[str, bytes]] = []
    key, head, tail = "", b"", b""
    own: dict[str, bytes] = {}
    for at, name in enumerate(children.keys):
        child = shell.child(children, at)
        if child.start <= place.start < child.end:
            key = name
            head, tail = shell.data[child.start : place.start], shell.data[place.end : child.end]
        elif name in OWN_MEMBERS:
            own[name] = shell.raw(child)
        else:
            (after if key else before).append((name, shell.raw(child)))
    return Envelope(before, key, head, tail, after, _kept_meta(own))


def _kept_meta(own: dict[str, bytes]) -> list[tuple[str, bytes]]:
    """Return the original's own `meta`, with members that would collide with ours under `original`."""
    kept: list[tuple[str, bytes]] = []
    original: list[tuple[str, bytes]] = []
    meta = own.get("meta", b"")
    if meta[:1] == b"{":
        for name, raw in jsontext.members(meta).items():
            (original if name in _OUR_META else kept).append((name, raw))
    elif meta:
        original.append(("meta", meta))
    if "nextCursor" in own:
        # The one in meta keeps its name, and the outer one is renamed: no name may occur twice.
        name = "nextCursor" if all(key != "nextCursor" for key, _ in original) else "nextCursor (outer)"
        original.append((name, own["nextCursor"]))
    return [*kept, ("original", written(original))] if original else kept
