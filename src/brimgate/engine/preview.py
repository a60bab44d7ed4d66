"""Write the essentials of something too big to send.

Ids, names, status, dates and totals come first, long texts are cut with counts, and every heavy section becomes a
stub that says how big it is and where.
"""

import re
from dataclasses import dataclass, field, replace
from typing import Final

from brimgate.engine import jsontext
from brimgate.engine.document import MAX_DEPTH, Document, Focus, Node
from brimgate.engine.fields import field_tree, is_vector, project, strip
from brimgate.engine.forms import AUTO, Rendered, columns, plain, render, table
from brimgate.engine.jsontext import Children
from brimgate.engine.pointer import pointer_of, pointer_step
from brimgate.engine.policy import Policy
from brimgate.engine.textkind import ends_sentence

# Ends at the first mark followed by white space. There is no backtracking, whatever the text contains.
_SENTENCE: Final = re.compile(r"[^.!?\n]*(?:[.!?](?!\s)[^.!?\n]*)*[.!?\n]?\s*")
_MAX_SENTENCES: Final = 200
_WORD: Final = re.compile(r"\S+")
_STUB_BYTES: Final = 70
_STUB: Final = '"… '.encode()
_WORTH_OPENING: Final = 160
"""With less room than this (in bytes), naming a section is better than beginning it."""
_MANY_MEMBERS: Final = 12
_OPENED_BYTES: Final = 400
_MAX_SECTIONS: Final = 24
_TRIES: Final = 8
_ENOUGH: Final = 0.6
"""Share of the budget: a preview that uses less is drawn again, larger."""
# What is kept first, by the last word of its name (FR-016): guestName, listing_id, totalPrice, createdAt.
_RANKS: Final = tuple(
    tuple(words.split())
    for words in (
        "id uuid guid key ref slug sku number",
        "name title label subject email login username",
        "status state phase type kind category priority severity level result error message",
        "date time at on from to start end due created updated arrival departure deadline",
        "total amount price cost count sum balance currency quantity score size nights guests",
    )
)
_IMPORTANT: Final = tuple(word for words in _RANKS for word in words)
_EMPTY: Final = (b"null", b'""', b"[]", b"{}")
# Not told unasked, though nothing is lost: their names lead there. A commit's hash or nextPageToken is no secret.
_SECRET: Final = re.compile(
    r"(?:password|passwd|passcode|secret|credentials?|api_?key|auth_?hash|password_?hash|signature|"
    r"(?:access|auth|refresh|session|bearer|api)_?token|(?:door|access|security|gate|lock)_?code|\Apin|_pin)\Z",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    text: str
    more_words: int
    more_characters: int


def excerpt(text: str, room: int, keywords: tuple[str, ...] = ()) -> Excerpt:
    if len(text) <= room:
        return Excerpt(text, 0, 0)
    kept = _sentences(text, room, tuple(word.lower() for word in keywords))
    if not kept:
        kept = _at_a_word(text, room)
    words = sum(1 for _ in _WORD.finditer(text)) - sum(1 for _ in _WORD.finditer(kept))
    return Excerpt(kept, max(words, 0), len(text) - len(kept))


def _sentences(text: str, room: int, keywords: tuple[str, ...]) -> str:
    """Return the first sentence if it fits, then those with a keyword in order.

    Without keywords, return all that fit.
    """
    kept: list[str] = []
    at = 0
    for number in range(_MAX_SENTENCES):
        end = _sentence_end(text, at, at + room + 1)
        if end == at:
            break
        sentence = text[at:end]
        at = end
        wanted = number == 0 or not keywords or any(word in sentence.lower() for word in keywords)
        if not wanted:
            continue
        if len(sentence.strip()) > room:
            break
        kept.append(sentence)
        room -= len(sentence)
    return "".join(kept).rstrip()


def _sentence_end(text: str, start: int, limit: int) -> int:
    """Return where the sentence from `start` on ends, with the white space after it; `limit` if not before."""
    end = start
    while (found := _SENTENCE.match(text, end, limit)) and found.end() > end:
        end = found.end()
        kept = text[start:end].rstrip()
        gap = text[start + len(kept) : end]
        if "\n" in gap or ends_sentence(kept[:-1], kept[-1:], gap, text[end : end + 24]):
            break
    return end


def _at_a_word(text: str, room: int) -> str:
    if room <= 0:
        return ""
    cut = text.rfind(" ", room // 2, room)
    return text[: cut if cut > 0 else room].rstrip()


_MAX_MEMBERS: Final = 5_000
"""Members of an object among which the important ones are looked for."""


@dataclass(slots=True)
class Essentials:
    rendered: Rendered
    tokens: int
    sections: list[str]
    """Pointers to the held-back parts, biggest first."""
    shown_fields: list[str]
    """The members that are shown, whole or in part."""


@dataclass(slots=True)
class _Draft:
    document: Document
    policy: Policy
    base: str
    tokens_per_byte: float
    held: dict[str, int] = field(default_factory=lambda: {})
    shown: list[str] | None = None
    """The members of the object itself that are shown; None if it is whole."""


@dataclass(frozen=True, slots=True)
class MappedFields:
    """What a field map shows of an object."""

    raw: bytes
    """The fields as JSON, minified, without noise."""
    shown: list[str]
    others: list[str]
    """The members that are not shown and tell something, the largest first."""

    def among(self, members: list[str]) -> list[str]:
        """Return the fields that are still shown when only these members are."""
        return [name for name in self.shown if name.partition(".")[0] in members]


def mapped_fields(document: Document, focus: Focus, policy: Policy) -> MappedFields | None:
    """Choose the fields of the field map from the object that an answer is about. None if it has none of them."""
    found: set[str] = set()
    raw = document.raw(focus.node)
    chosen = project(raw, field_tree(policy.fields), found) if policy.fields and raw[:1] == b"{" else None
    if chosen is None:
        return None
    shown = [name for name in policy.fields if name in found]
    names = {name.partition(".")[0] for name in shown}
    children = document.open(focus.node)
    keys = (children.keys if children else None) or []
    sizes = {key: children.ends[at] - children.starts[at] for at, key in enumerate(keys)} if children else {}
    told = [key for at, key in enumerate(keys) if children and _is_told(document, children, at, ())]
    others = sorted((key for key in told if key not in names), key=lambda key: -sizes[key])
    # Of one object a field of the map that is empty tells something: it was not cancelled, there is no note.
    kept = strip(chosen, replace(policy, strip_empty=False))
    return MappedFields(jsontext.canonical(kept), shown, others)


def mapped_preview(
    document: Document, focus: Focus, base: str, policy: Policy, budget: int
) -> Essentials | None:
    """Write the fields of the field map, with what surrounds the object. None if it has none of them."""
    mapped = mapped_fields(document, focus, policy)
    if mapped is None:
        return None
    data, root, node = document.data, document.root, focus.node
    raw = jsontext.canonical(data[root.start : node.start] + mapped.raw + data[node.end : root.end])
    here = base + focus.pointer
    sections = [here + pointer_of([key]) for key in mapped.others[:_MAX_SECTIONS]]
    rendered = _render(raw, policy)
    tokens = policy.estimator.ceiling(rendered.text)
    if tokens <= budget:
        return Essentials(rendered, tokens, sections, mapped.shown)
    short = Document(raw)
    made = preview(short, short.root, base, policy, budget)
    shown = mapped.shown if focus.pointer else mapped.among(made.shown_fields)
    return Essentials(made.rendered, made.tokens, [*made.sections, *sections][:_MAX_SECTIONS], shown)


def preview(document: Document, node: Node, base: str, policy: Policy, budget: int) -> Essentials:
    """Write a preview that fits, by shrinking the room until it does. The last resort is the beginning of the text."""
    raw = document.raw(node)
    per_byte = max(policy.estimator.table(raw) / max(len(raw), 1), 0.05)
    room = int(budget * 0.95 / per_byte)
    best: Essentials | None = None
    for _ in range(_TRIES):
        made = _draw(document, node, base, policy, room, per_byte)
        if made.tokens <= budget:
            if best or made.tokens >= _ENOUGH * budget:
                return made
            best = made  # a form that saves much leaves room for more: tried once
            room = int(room * 0.9 * budget / max(made.tokens, 1))
        elif best:
            return best
        else:
            room = int(room * min(budget / made.tokens, 0.95) * 0.95)
    text = raw[: max(budget // 2, 0)].decode("utf-8", "ignore")
    return best or Essentials(Rendered("text", text), policy.estimator.ceiling(text), [], [])


def _draw(
    document: Document, node: Node, base: str, policy: Policy, room: int, per_byte: float
) -> Essentials:
    draft = _Draft(document, policy, base, per_byte)
    value = _shorten(draft, node, base, room, 0)
    rendered = _render(jsontext.canonical(value), policy)
    sections = sorted(draft.held, key=lambda pointer: -draft.held[pointer])[:_MAX_SECTIONS]
    fields = draft.shown if draft.shown is not None else _names(document, node)
    return Essentials(rendered, policy.estimator.ceiling(rendered.text), sections, fields)


def _render(raw: bytes, policy: Policy) -> Rendered:
    """Render a preview. Nobody reads it back: its tables say what was left out, and stubs yield no derived columns."""
    if policy.format in (AUTO, "columns"):
        text = columns.encode_summary(raw)
        return Rendered("columns", text) if text is not None else Rendered("bare", plain.encode_bare(raw))
    if policy.format == "table" and (text := table.encode_summary(raw)) is not None:
        return Rendered("table", text)
    made = render(raw, policy.format, policy.estimator)
    if made.form == "lines" and raw[:1] == b"[" and columns.is_marker(made.text.rpartition("\n")[2]):
        _, _, items = made.text.partition("\n")
        return Rendered("lines", f"{items.count(chr(10))} items, one a line\n{items}")
    return made


def _names(document: Document, node: Node) -> list[str]:
    children = document.open(node)
    return list(children.keys or ()) if children else []


def _shorten(draft: _Draft, node: Node, pointer: str, room: int, depth: int) -> bytes:
    """Return the value as JSON in about `room` bytes; the caller makes it canonical."""
    size = node.end - node.start
    if size <= room:
        return draft.document.raw(node)
    children = draft.document.open(node) if depth < MAX_DEPTH else None
    if draft.document.head(node) == b'"':
        return _cut_text(draft, node, pointer, room)
    if not children or room < _WORTH_OPENING:
        return _stub(draft, node, pointer)
    if children.keys is None and depth and draft.policy.strip_vectors and is_vector(draft.document.raw(node)):
        return _stub(draft, node, pointer)
    if children.keys is None:
        return _cut_list(draft, node, children, pointer, room, depth)
    return _cut_object(draft, children, pointer, room, depth)


def _stub(draft: _Draft, node: Node, pointer: str) -> bytes:
    size = node.end - node.start
    children = draft.document.open(node)
    what = "value"
    if children is not None:
        what = f"{len(children):,} " + ("items" if children.keys is None else "keys")
    draft.held[pointer] = size
    tokens = max(1, int(size * draft.tokens_per_byte))
    return jsontext.quote(f"… {what}, {tokens:,} tokens at {pointer or '/'}").encode()


def _cut_text(draft: _Draft, node: Node, pointer: str, room: int) -> bytes:
    text = draft.document.text_of(node).data.decode("utf-8", "surrogateescape")
    draft.held[pointer] = node.end - node.start
    kept = excerpt(text, max(room - _STUB_BYTES, 0), draft.policy.keywords)
    if kept.more_words or kept.more_characters:
        note = (
            f"... [{kept.more_words:,} more words, {kept.more_characters:,} characters at {pointer or '/'}]"
        )
        return jsontext.quote((kept.text + " " + note).lstrip()).encode()
    return jsontext.quote(kept.text).encode()


def _cut_list(draft: _Draft, node: Node, children: Children, pointer: str, room: int, depth: int) -> bytes:
    """Keep the first items whole. Where not even one fits, keep the essentials of a few."""
    room -= _STUB_BYTES
    shown: list[bytes] = []
    for at in range(min(len(children), draft.policy.max_page_size)):
        item = draft.document.child(children, at)
        if item.end - item.start > room:
            break
        shown.append(draft.document.raw(item))
        room -= item.end - item.start + 1
    if not shown:
        count = max(1, min(len(children), draft.policy.page_size, room // 400))
        for at in range(count):
            step = pointer_step(children, at)
            shown.append(
                _shorten(draft, draft.document.child(children, at), pointer + step, room // count, depth + 1)
            )
    left = len(children) - len(shown)
    if left:
        draft.held[pointer] = node.end - node.start
        shown.append(jsontext.quote(f"… {left:,} more items at {pointer or '/'}").encode())
    return b"[" + b",".join(shown) + b"]"


def _cut_object(draft: _Draft, children: Children, pointer: str, room: int, depth: int) -> bytes:
    """Keep small and important members whole and give the others an equal share of the rest, in document order."""
    keys = children.keys or []
    essential = draft.policy.fields if depth == 0 else ()
    told = [
        at
        for at in range(min(len(children), _MAX_MEMBERS))
        if _is_told(draft.document, children, at, essential)
    ]
    order = sorted(
        told,
        key=lambda at: _importance(keys[at], children.ends[at] - children.starts[at], at, essential),
    )
    kept: dict[int, bytes] = {}
    heavy: list[int] = []
    for at in order:
        child = draft.document.child(children, at)
        cost = child.end - child.start + len(keys[at]) + 4
        # What the map names stays whole, however short the rest becomes (FR-016).
        is_short = cost <= (
            _WORTH_OPENING if _is_mapped(keys[at], essential) else max(_STUB_BYTES, room // 12)
        )
        if is_short and cost <= room:
            kept[at] = draft.document.raw(child)
            room -= cost
        else:
            heavy.append(at)
    if len(heavy) > _MANY_MEMBERS and room < _WORTH_OPENING * len(heavy):
        # A few members of a map, as whole as can be, tell more than the sizes of many.
        usual = sorted(children.ends[at] - children.starts[at] for at in heavy)[len(heavy) // 2]
        heavy = sorted(heavy)[: max(1, room // max(usual + _STUB_BYTES, _OPENED_BYTES))]
    for number, at in enumerate(heavy):
        step = pointer_step(children, at)
        share = max(room, 0) // (len(heavy) - number)
        if share < _STUB_BYTES and room < _STUB_BYTES + len(step):
            break
        value = _shorten(draft, draft.document.child(children, at), pointer + step, share, depth + 1)
        kept[at] = value
        room -= len(value) + len(step) + 4
    if depth == 0:
        draft.shown = [keys[at] for at in sorted(kept) if not kept[at].startswith(_STUB)]
    named = [jsontext.quote(keys[at]).encode() + b":" + kept[at] for at in sorted(kept)]
    if left := len(children) - len(kept):
        draft.held[pointer] = children.ends[-1] - children.starts[0]
        named.append(
            jsontext.quote("…").encode()
            + b":"
            + jsontext.quote(f"{left:,} more keys at {pointer or '/'}").encode()
        )
    return b"{" + b",".join(named) + b"}"


def _is_told(document: Document, children: Children, at: int, essential: tuple[str, ...]) -> bool:
    """Return whether a member is worth its room: a field of the map is, what is empty or secret is not."""
    key, child = (children.keys or [])[at], document.child(children, at)
    if _is_mapped(key, essential):
        return True
    return document.data[child.start : child.end] not in _EMPTY and not _SECRET.search(key)


def _importance(key: str, size: int, at: int, essential: tuple[str, ...]) -> tuple[int, int, int]:
    rank = _rank(key, essential) if size <= _WORTH_OPENING else len(_RANKS) + 1
    return rank, size, at


def _is_mapped(key: str, essential: tuple[str, ...]) -> bool:
    return any(path == key or path.startswith(key + ".") for path in essential)


def _rank(key: str, essential: tuple[str, ...]) -> int:
    if essential:
        return 0 if _is_mapped(key, essential) else len(_RANKS)
    lowered = key.lower()
    if not lowered.endswith(_IMPORTANT):
        return len(_RANKS)
    return next(rank for rank, words in enumerate(_RANKS) if lowered.endswith(words))
