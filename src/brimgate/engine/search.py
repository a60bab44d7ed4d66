"""Search words or a pattern in a held answer. Patterns run on RE2, whose time is linear in the text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from brimgate.engine import jsontext
from brimgate.engine.document import MAX_DEPTH, Document, Node
from brimgate.engine.fields import field_tree, project
from brimgate.engine.fit import Selection, clipped, fit, fit_units, indexed, list_items
from brimgate.engine.forms import Rendered
from brimgate.engine.pointer import pointer_step
from brimgate.engine.policy import Policy
from brimgate.engine.query import View
from brimgate.errors import BadRequest

CONTEXT_LINES: Final = 2
_MAX_KEPT: Final = 4
"""Number of searches whose hits are kept with the answer, so that the next page does not search again."""

Matcher = Callable[[str], int]
"""Returns where the first match in a text begins, or -1 when there is none."""


def matcher(query: str) -> Matcher:
    """Compile a search: `/pattern/` is a regular expression, anything else words that must all occur.

    Case never matters.
    """
    if len(query) > 2 and query.startswith("/") and query.rstrip("i").endswith("/"):
        return _pattern(query.rstrip("i")[1:-1])
    words = query.lower().split()
    if not words:
        raise BadRequest("search must be words or a /pattern/")
    return lambda text: _find_words(text.lower(), words)


def _find_words(text: str, words: list[str]) -> int:
    return text.find(words[0]) if all(map(text.__contains__, words)) else -1


def _pattern(pattern: str) -> Matcher:
    import re2  # pyright: ignore[reportMissingTypeStubs]  # loaded here: 11 ms, and few search

    engine: Any = re2
    options = engine.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        compiled = engine.compile(pattern, options)
    except UnicodeEncodeError:
        raise BadRequest("search is not a valid pattern: it is not Unicode text") from None
    except engine.error as error:
        reason = error.args[0] if error.args else "bad pattern"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadRequest(f"search is not a valid pattern: {text}") from None

    def find(text: str) -> int:
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()  # RE2 takes no lone surrogates
        found = compiled.search(text)
        return found.start() if found else -1

    return find


@dataclass(frozen=True, slots=True)
class Hits:
    units: Sequence[str]
    """The texts that were searched: items, lines, or leaves with their paths."""
    numbers: list[int]
    places: list[int]
    """Where in its unit each match begins."""


def select_matches(
    document: Document, view: View, start: int, limit: int, room: int, policy: Policy
) -> Selection:
    is_list = document.is_json and document.head(document.root) == b"["
    hits = _hits(document, view.search, is_list=is_list)
    count, what = len(hits.units), "items" if is_list else "lines"
    total = {what: count, "hits": len(hits.numbers)}
    if not hits.numbers:
        return Selection("search", f"no match in {count:,} {what}", "", "text", 0, total, {"hits": 0})
    if start >= len(hits.numbers):
        raise BadRequest(f"there are {len(hits.numbers):,} matches")
    if is_list:
        made = _matching_items(
            document, view, hits, start, min(limit, len(hits.numbers) - start), room, policy
        )
    else:
        made = _matching_lines(hits, start, 0 if document.is_json else CONTEXT_LINES, room, policy)
    if made is None:
        number = hits.numbers[start]
        made = clipped(f"{number + (not is_list)}:{hits.units[number]}", hits.places[start], "", room, policy)
    last = start + made.count
    return Selection(
        "search", f"matches {start + 1:,}-{last:,} of {len(hits.numbers):,} in {count:,} {what}",
        made.rendered.text, made.rendered.form, made.tokens, total, {"hits": made.count},
        last if last < len(hits.numbers) else None,
    )  # fmt: skip


def _hits(document: Document, query: str, *, is_list: bool) -> Hits:
    known = document.searches.get(query)
    if isinstance(known, Hits):
        return known
    find = matcher(query)
    units = list(map(_searchable, list_items(document))) if is_list else list(_lines(document))
    places = [(number, place) for number, unit in enumerate(units) if (place := find(unit)) >= 0]
    hits = Hits(units, [number for number, _ in places], [place for _, place in places])
    while len(document.searches) >= _MAX_KEPT:
        document.searches.pop(next(iter(document.searches)))
    document.searches[query] = hits
    return hits


def _searchable(raw: bytes) -> str:
    """Write an item as a reader would: undo escapes, including those of quotation marks and backslashes."""
    if b"\\" in raw:
        raw = jsontext.unescape(raw).replace(b'\\"', b'"').replace(b"\\\\", b"\\")
    return raw.decode("utf-8", "replace")


def _lines(document: Document) -> Iterator[str]:
    if document.is_json:
        yield from _leaves(document)
    else:
        yield from document.data.decode("utf-8", "surrogateescape").split("\n")


def _leaves(document: Document) -> Iterator[str]:
    """Yield every leaf of a value as `pointer: value`, in document order, for searching what is not a list."""
    stack: list[tuple[str, Node, int]] = [("", document.root, 0)]
    while stack:
        pointer, node, depth = stack.pop()
        children = document.open(node) if depth < MAX_DEPTH else None
        if not children:
            yield f"{pointer}: {jsontext.canonical(document.raw(node)).decode()}"
            continue
        below = [
            (pointer + pointer_step(children, at), document.child(children, at), depth + 1)
            for at in range(len(children))
        ]
        stack.extend(reversed(below))


def _matching_items(
    document: Document, view: View, hits: Hits, start: int, most: int, room: int, policy: Policy
) -> Any:
    items = list_items(document)
    tree = field_tree(view.fields) if view.fields else None

    def pick(number: int) -> bytes:
        raw = items[hits.numbers[number]]
        return indexed(raw if tree is None else project(raw, tree, set()) or b"{}", hits.numbers[number])

    return fit_units(pick, start, most, room, policy)


def _matching_lines(hits: Hits, start: int, context: int, room: int, policy: Policy) -> Any:
    """Show matching lines with the lines around them, each with its number."""

    def rendered(count: int) -> Rendered:
        return Rendered("text", _excerpts(hits.units, hits.numbers[start : start + count], context))

    return fit(rendered, len(hits.numbers) - start, lambda count: 200 * count, room, policy.estimator)


def _excerpts(lines: Sequence[str], hits: list[int], context: int) -> str:
    wanted: dict[int, bool] = {}
    for hit in hits:
        for at in range(max(hit - context, 0), min(hit + context + 1, len(lines))):
            wanted.setdefault(at, False)
        wanted[hit] = True
    out: list[str] = []
    previous = -1
    for at in sorted(wanted):
        if out and at != previous + 1:
            out.append("--")
        out.append(f"{at + 1}{':' if wanted[at] else '-'}{lines[at]}")
        previous = at
    return "\n".join(out)


def select_lines(
    document: Document, wanted: tuple[int, int], start: int, room: int, policy: Policy
) -> Selection:
    """Return a range of lines, counted from 1.

    `start` is the byte to continue at, 0 for the first line of the range.
    """
    text = document.as_text.long_text if document.is_json else document.long_text
    first, last = wanted
    if first > text.line_count:
        raise BadRequest(f"there are {text.line_count:,} lines")
    begin = start or text.line_start(first - 1)
    stop = text.line_start(min(last, text.line_count))
    # No text has more than eight bytes a token over any length that matters; more is not worth counting.
    end = stop if stop - begin <= 8 * room else text.cut(begin, begin + 8 * max(room, 1))
    while (tokens := policy.estimator.ceiling(text.data[begin:end])) > room:
        shorter = text.cut(begin, begin + max(1, int((end - begin) * max(room, 1) / tokens * 0.97)))
        if shorter >= end:
            break
        end = shorter
    content = text.data[begin:end].decode("utf-8", "surrogateescape")
    shown = {"startLine": text.line_of(begin) + 1, "endLine": text.line_of(max(end - 1, begin)) + 1}
    return Selection(
        "lines", f"lines {shown['startLine']:,}-{shown['endLine']:,} of {text.line_count:,}", content, "text", tokens,
        {"lines": text.line_count}, shown, end if end < stop else None,
    )  # fmt: skip
