"""Search a held answer: everything in it, unless a path says otherwise.

What is searched are units: the items of lists, the lines of texts, the single values elsewhere. A unit is matched as
it is printed: an item as JSON on one line, a value as `path: value`, a line as it is. So that nobody has to guess
which, JSON is tried with and without spaces, and `^` and `$` also stand for the ends of a single value.
Patterns run on RE2, whose time is linear in the text.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, cast

from brimgate.engine import jsontext
from brimgate.engine.chunks import LongText
from brimgate.engine.document import MAX_DEPTH, Document, Node, one_line
from brimgate.engine.fields import field_tree, is_noisy, project, strip
from brimgate.engine.fit import Fitted, Selection, clipped, fit, fit_units, indexed
from brimgate.engine.forms import Rendered
from brimgate.engine.pointer import pointer_step, unescaped
from brimgate.engine.policy import Policy
from brimgate.engine.query import COUNT, View
from brimgate.errors import BadRequest

CONTEXT_LINES: Final = 2
_MAX_KEPT: Final = 4
"""Number of searches whose hits are kept with the answer, so that the next page does not search again."""
_LARGE_ITEM: Final = 16_384
"""An item with more bytes is searched value by value: as one hit it would hide the others."""
_LONG_LINE: Final = 400
"""Of a longer line only pieces around the matches are shown."""
_AROUND: Final = 80
_NAMED_PLACES: Final = 3
_MAX_PLACE: Final = 300
_ESCAPES: Final = re.compile(r"\\(?:p\{\w+\}|P\{\w+\}|x\{?[0-9A-Fa-f]+\}?|.)", re.DOTALL)
_DIALECT: Final = "RE2 syntax: no look-around, no back-references; to exclude, put ! in front of the search"

Spans = list[tuple[int, int]]
"""Where the matches in a text begin and end."""


@dataclass(frozen=True, slots=True)
class Matcher:
    find: Callable[[str], Spans]
    """Returns the matches in a text, one after the other."""
    is_inverse: bool = False
    spellings: frozenset[str] = frozenset()
    """Which other spellings of JSON are tried: `spaced`, `values`."""
    whole: Callable[[str], bool] | None = None
    """Returns whether the words occur as whole words, for searches by words."""


def matcher(query: str) -> Matcher:
    """Compile a search: `/pattern/` is a regular expression, anything else words that must all occur.

    Capitals in a pattern make it exact, unless it ends in `/i`. Words are found in any case. With `!` in front, it finds
    everything else.
    """
    is_inverse = query.startswith("!") and bool(query[1:].strip())
    query = query[1:].strip() if is_inverse else query.strip()
    if (
        len(query) > 2
        and query.startswith("/")
        and query.rstrip("i").endswith("/")
        and query.rstrip("i") != "/"
    ):
        is_folded = query.endswith("i")
        pattern = query.rstrip("i")[1:-1]
        exact = not is_folded and any(map(str.isupper, _ESCAPES.sub("", pattern)))
        return Matcher(_pattern(pattern, is_exact=exact), is_inverse, _spellings_for(pattern))
    words = query.lower().split()
    if not words or query in ("!", "/", "//"):
        raise BadRequest("search must be words or a /pattern/, with ! in front for everything else")
    return Matcher(lambda text: _find_words(text, words), is_inverse, whole=_whole_words(words))


def _find_words(text: str, words: list[str]) -> Spans:
    lowered = text.lower()
    if not all(map(lowered.__contains__, words)):
        return []
    found: Spans = []
    for word in words:
        at = lowered.find(word)
        while at >= 0:
            found.append((at, at + len(word)))
            at = lowered.find(word, at + len(word))
    return sorted(found)


def _whole_words(words: list[str]) -> Callable[[str], bool]:
    patterns = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE) for word in words]
    return lambda text: all(one.search(text) for one in patterns)


def _spellings_for(pattern: str) -> frozenset[str]:
    """Return the spellings that can make a difference to a pattern."""
    wanted: set[str] = set()
    if " " in pattern or "\\s" in pattern:
        wanted.add("spaced")
    if any(mark in pattern for mark in ("^", "$", ":", "\\A", "\\z", "\\n", "\\t")):
        wanted.add("values")
    return frozenset(wanted)


def _pattern(pattern: str, *, is_exact: bool) -> Callable[[str], Spans]:
    import re2  # pyright: ignore[reportMissingTypeStubs]  # loaded here: 11 ms, and few search

    engine: Any = re2
    options = engine.Options()
    options.case_sensitive = is_exact
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        compiled = engine.compile(f"(?m){pattern}", options)
    except UnicodeEncodeError:
        raise BadRequest("search is not a valid pattern: it is not Unicode text") from None
    except engine.error as error:
        reason = error.args[0] if error.args else "bad pattern"
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise BadRequest(f"search is not a valid pattern: {text} ({_DIALECT})") from None

    def find(text: str) -> Spans:
        if not text.isascii():
            text = text.encode("utf-8", "replace").decode()  # RE2 takes no lone surrogates
        if compiled.search(text) is None:
            return []
        return [found.span() for found in compiled.finditer(text)]

    return find


class Hit(NamedTuple):
    unit: int
    """The number of the item or line; of a value outside the list or text in question, its number among those."""
    spans: Spans
    """Where in the unit its matches are."""
    place: str = ""
    """The pointer of a value elsewhere."""


@dataclass(slots=True)
class Hits:
    """What a search found: in the list or text that the answer is about, and elsewhere."""

    what: str
    """What the units are called: items, lines, values."""
    units: Sequence[str]
    """The texts that were searched, in the list or text."""
    found: list[Hit] = field(default_factory=lambda: [])
    elsewhere: list[Hit] = field(default_factory=lambda: [])
    values: list[str] = field(default_factory=lambda: [])
    """The texts of the hits elsewhere."""
    searched: int = 0
    """The number of values elsewhere."""
    beside: str = ""
    """What was searched in vain besides."""

    skipped: int = 0
    """The number of units before the range of lines that was searched."""

    @property
    def unit_count(self) -> int:
        return len(self.units) - self.skipped

    @property
    def occurrences(self) -> int:
        return sum(max(len(hit.spans), 1) for hit in self.found)


def select_matches(
    document: Document, view: View, start: int, limit: int, room: int, policy: Policy, base: str = ""
) -> Selection:
    hits, pointer = _hits(document, view), _pointer_of(document, view)
    total = {hits.what: hits.unit_count, "hits": len(hits.found), "elsewhere": len(hits.elsewhere)}
    if view.form == COUNT or not (hits.found or hits.elsewhere):
        return _counted(hits, view.search, total, base)
    if not hits.found:
        # Nothing in the list or text that the answer is about: what is elsewhere takes its place.
        none = f"none in the {hits.unit_count:,} {hits.what}" if hits.units else ""
        hits = Hits("values", hits.values, hits.elsewhere, searched=hits.searched, beside=none)
        total["hits"] = len(hits.found)
    if start >= len(hits.found):
        raise BadRequest(f"there are {len(hits.found):,} matches")
    made = _shown(document, view, hits, start, limit, room, policy, base)
    last = start + made.count
    return Selection(
        "search", _label(hits, start, last, view.search), made.rendered.text, made.rendered.form, made.tokens, total,
        {"hits": made.count}, last if last < len(hits.found) else None, remark=_remark(hits, view, base),
        pointer="" if hits.what == "values" else pointer,
    )  # fmt: skip


def _pointer_of(document: Document, view: View) -> str:
    """Return the pointer of the list or text whose items or lines are searched."""
    heads = (b'"',) if view.lines else (b"[", b'"')
    if not document.is_json or document.head(document.focus.node) not in heads:
        return ""
    return document.focus.pointer


def _shown(
    document: Document, view: View, hits: Hits, start: int, limit: int, room: int, policy: Policy, base: str
) -> Fitted:
    """Show hits from `start` on: items as the list shows them, lines with the lines around them, values by their path."""
    if hits.what == "items":
        picker, left = _item_picker(document, view, hits, policy), len(hits.found) - start
        made = fit_units(picker, start, left, room, policy, asked=limit)
    else:
        excerpts = _excerpts_of(hits, base, is_inverse=view.search.startswith("!"))
        made = _fit_lines(excerpts, start, limit, room, policy)
    if made is not None:
        return made
    hit = hits.found[start]
    item = f"{base}{_pointer_of(document, view)}/{hit.unit}"
    place = one_line(item if hits.what == "items" else hit.place or f"{hit.unit + 1}")[:_MAX_PLACE]
    cost = policy.estimator.ceiling(f"{place}: ") + 2
    made = clipped(hits.units[hit.unit], hit.spans[0][0] if hit.spans else 0, "", room - cost, policy)
    return Fitted(1, Rendered("text", f"{place}: {made.rendered.text}"), made.tokens + cost)


def _label(hits: Hits, start: int, last: int, query: str) -> str:
    count, units = len(hits.found), len({hit.unit for hit in hits.found})
    kind = "other" if query.startswith("!") else "matching"
    # Of a long line several pieces are hits.
    what = f"{kind} {hits.what}" if units == count else f"matches in {units:,} {hits.what}"
    times = hits.occurrences
    often = "" if query.startswith("!") or times == count else f" ({times:,} occurrences)"
    searched = hits.searched if hits.what == "values" else hits.unit_count
    beside = f"; {hits.beside}" if hits.beside else ""
    return f"{what} {start + 1:,}-{last:,} of {count:,}{often}, of {searched:,} searched{beside}"


def _counted(hits: Hits, query: str, total: dict[str, int], base: str) -> Selection:
    """Tell only how many there are. Say everything that was searched, so that "no match" can be believed."""
    searched = f"{hits.unit_count:,} {hits.what}" if hits.units or not hits.searched else ""
    if hits.searched:
        searched += f"{' and ' if searched else ''}{hits.searched:,} {'other ' if searched else ''}values"
    where = f" below {one_line(base)}" if base else ""
    if not (hits.found or hits.elsewhere):
        return Selection(
            "search", f"no match in {searched}{where}", _no_match(query), "text", 0, total, {"hits": 0}
        )
    units = len({hit.unit for hit in hits.found})
    parts = [f"{hits.occurrences:,} matches in {units:,} of {hits.unit_count:,} {hits.what}"] if units else []
    if hits.elsewhere:
        parts.append(f"{len(hits.elsewhere):,} of {hits.searched:,} values elsewhere match")
    return Selection("search", f"count: {'; '.join(parts)}{where}", "", "text", 0, total, {"hits": 0})


def _no_match(query: str) -> str:
    """Say what could have been meant: a pattern with capitals is exact."""
    bare = query.removeprefix("!")
    is_pattern = bare.startswith("/") and bare.endswith("/")
    if is_pattern and any(map(str.isupper, _ESCAPES.sub("", bare))):
        return "Capitals in a pattern are matched exactly; end it in /i to ignore case."
    return ""


def _remark(hits: Hits, view: View, base: str) -> str:
    unchosen = f"fields are chosen from items; these are {hits.what}, shown whole"
    parts = [unchosen if view.fields and hits.what != "items" else "", _elsewhere(hits, base)]
    return "\n".join(part for part in parts if part)


def _elsewhere(hits: Hits, base: str) -> str:
    """Name the places of hits outside the list or text that is shown."""
    if not hits.elsewhere:
        return ""
    places: dict[str, int] = {}
    for hit in hits.elsewhere:
        top = base + "/" + hit.place.removeprefix(base).lstrip("/").partition("/")[0]
        places[top] = places.get(top, 0) + 1
    named = [f"{count:,} at path {one_line(place)}" for place, count in list(places.items())[:_NAMED_PLACES]]
    more = f" and {len(places) - _NAMED_PLACES:,} other places" if len(places) > _NAMED_PLACES else ""
    return f"also elsewhere: {', '.join(named)}{more}"


# What is searched


def _hits(document: Document, view: View) -> Hits:
    key = f"{view.search} {view.lines}"
    known = document.searches.get(key)
    if isinstance(known, Hits):
        return known
    wanted = matcher(view.search)
    if view.lines:
        hits = _within(_search_lines(_text_of(document), wanted, Hits("lines", ())), *view.lines)
    else:
        hits = _search(document, wanted)
    while len(document.searches) >= _MAX_KEPT:
        document.searches.pop(next(iter(document.searches)))
    document.searches[key] = hits
    return hits


def _text_of(document: Document) -> Document:
    """Return the text whose lines a range of lines means: the one that most of an answer is, or all of it."""
    if not document.is_json:
        return document
    focus = document.focus.node
    return document.text_of(focus) if document.head(focus) == b'"' else document.as_text


def _within(hits: Hits, first: int, last: int) -> Hits:
    """Keep what is in a range of lines."""
    hits.found = [hit for hit in hits.found if first <= hit.unit + 1 <= last]
    hits.units = hits.units[:last]
    hits.skipped = min(first - 1, len(hits.units))
    return hits


def _search(document: Document, wanted: Matcher) -> Hits:
    if not document.is_json:
        return _search_lines(document, wanted, Hits("lines", ()))
    focus = document.focus.node
    head = document.head(focus)
    if head == b"[" and document.open(focus) is not None:
        hits = _search_items(document, focus, wanted)
    elif head == b'"':
        hits = _search_lines(document.text_of(focus), wanted, Hits("lines", ()))
    else:
        hits, focus = Hits("values", ()), Node(-1, -1)
    _search_values(document, focus, wanted, hits)
    return hits


def _search_items(document: Document, node: Node, wanted: Matcher) -> Hits:
    children = document.open(node)
    raws = [document.raw(document.child(children, at)) for at in range(len(children))] if children else []
    units = list(map(_readable, raws))
    hits = Hits("items", units)
    for number, (unit, raw) in enumerate(zip(units, raws, strict=True)):
        if (found := _match(unit, raw, wanted)) is not None:
            hits.found.append(Hit(number, found))
    _put_whole_words_first(hits.found, units, wanted)
    return hits


def _search_lines(document: Document, wanted: Matcher, hits: Hits) -> Hits:
    lines = document.data.decode("utf-8", "surrogateescape").split("\n")
    if lines and not lines[-1]:
        lines.pop()  # a final newline ends a line and begins none
    if b"\r" in document.data:
        lines = [line.removesuffix("\r") for line in lines]  # part of the line end, not of the line
    hits.units = lines
    for number, line in enumerate(lines):
        spans = wanted.find(line)
        if bool(spans) == wanted.is_inverse:
            continue
        pieces = _pieces(spans) if spans and len(line) > _LONG_LINE else [spans]
        hits.found.extend(Hit(number, piece) for piece in pieces)
    _put_whole_words_first(hits.found, lines, wanted)
    return hits


def _pieces(spans: Spans) -> list[Spans]:
    """Group the matches in a long line: those close together are shown in one piece."""
    pieces: list[Spans] = []
    for span in spans:
        is_near = bool(pieces) and span[0] - pieces[-1][-1][1] <= _AROUND
        if is_near and span[1] - pieces[-1][0][0] <= _LONG_LINE:
            pieces[-1].append(span)
        else:
            pieces.append([span])
    return pieces


def _put_whole_words_first(found: list[Hit], units: Sequence[str], wanted: Matcher) -> None:
    """Put units with the words as such before those that have them inside longer words."""
    whole = wanted.whole
    if whole is not None and not wanted.is_inverse:
        found.sort(key=lambda hit: not whole(units[hit.unit]))


def _search_values(document: Document, apart: Node, wanted: Matcher, hits: Hits) -> None:
    """Search what is not in the list or text that the answer is about, value by value."""
    for pointer, name, node in _leaves(document, apart):
        raw = document.raw(node)
        value = _readable(raw)
        text = f"{pointer}: {value}"
        hits.searched += 1
        spans = _match_value(text, name, value, raw, wanted)
        if bool(spans) != wanted.is_inverse:
            hits.elsewhere.append(Hit(len(hits.values), spans, pointer))
            hits.values.append(text)


def _match_value(text: str, name: str, value: str, raw: bytes, wanted: Matcher) -> Spans:
    if found := wanted.find(text):
        return found
    bare = value[1:-1] if raw[:1] == b'"' else value
    spellings = [bare, f'"{name}":{value}', f'"{name}": {value}']
    if "~" in text:
        spellings.append(unescaped(text))
    return [(len(text) - len(value), len(text))] if any(map(wanted.find, spellings)) else []


def _leaves(document: Document, apart: Node) -> Iterator[tuple[str, str, Node]]:
    """Yield every value with its pointer and name, in document order. A small item of a list counts as one value."""
    stack: list[tuple[str, str, Node, int, bool]] = [("", "", document.root, 0, False)]
    while stack:
        pointer, name, node, depth, is_item = stack.pop()
        if node == apart:
            continue
        is_small = is_item and node.end - node.start <= _LARGE_ITEM
        children = document.open(node) if depth < MAX_DEPTH and not is_small else None
        if not children:
            yield pointer, name, node
            continue
        in_list = children.keys is None
        below = [
            (
                pointer + pointer_step(children, at),
                name if children.keys is None else children.keys[at],
                document.child(children, at),
                depth + 1,
                in_list,
            )
            for at in range(len(children))
        ]
        stack.extend(reversed(below))


# What a unit is matched as


def _readable(raw: bytes) -> str:
    """Write a value as a reader would: minified, with escapes undone, including those of quotation marks."""
    small = jsontext.minify(raw)
    if b"\\" in small:
        small = jsontext.unescape(small).replace(b'\\"', b'"').replace(b"\\\\", b"\\")
    return small.decode("utf-8", "replace")


def _match(unit: str, raw: bytes, wanted: Matcher) -> Spans | None:
    """Return where an item matches, or None if it is not wanted."""
    found = wanted.find(unit)
    if not found and wanted.spellings:
        value = json.loads(raw)
        if "spaced" in wanted.spellings:
            found = _somewhere(wanted.find(_spaced(value)))
        if not found and "values" in wanted.spellings:
            found = [(0, 0) for one in _values(value) if any(map(wanted.find, one))]
    return None if bool(found) == wanted.is_inverse else found


def _somewhere(found: Spans) -> Spans:
    """Keep the number of matches; their places are those in another spelling."""
    return [(0, 0)] * len(found)


def _spaced(value: Any) -> str:
    """Write JSON with a space after every colon and comma."""
    return json.dumps(value, ensure_ascii=False)


def _values(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every value inside a value: as `name: value`, and alone."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _values(inner, key)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _values(inner, name)
    else:
        spelled = json.dumps(value, ensure_ascii=False)
        yield f"{name}: {spelled}", value if isinstance(value, str) else spelled


# How hits are shown


def _item_picker(document: Document, view: View, hits: Hits, policy: Policy) -> Callable[[int], bytes]:
    """Return a function that shows an item as its list does: chosen fields, or the field map, without noise."""
    children = document.open(document.focus.node)
    fields = view.fields or policy.fields
    tree = field_tree(fields) if fields else None

    def pick(number: int) -> bytes:
        at = hits.found[number].unit
        raw = document.raw(document.child(children, at)) if children else b"{}"
        kept = raw if tree is None else project(raw, tree, set()) or (b"{}" if view.fields else raw)
        return indexed(strip(kept, policy) if is_noisy(kept, policy) else kept, at)

    return pick


_FILE: Final = re.compile(r"(?:diff --git a/.* b/|\+\+\+ (?:b/)?|Index: )(\S.*)")


@dataclass(frozen=True, slots=True)
class _Excerpts:
    """Writes hits in lines with the lines around them and their numbers, and values by their path."""

    hits: Hits
    base: str
    context: int
    files: dict[int, str]
    """The files of a diff, by the number of the line where each begins."""

    def of(self, chosen: list[Hit]) -> str:
        if self.hits.what == "values":
            return "\n".join(self.base + self._piece(hit) for hit in chosen)
        pieces = [hit for hit in chosen if len(self.hits.units[hit.unit]) > _LONG_LINE]
        out = self._with_context({hit.unit for hit in chosen if hit not in pieces})
        for hit in pieces:
            at = hit.spans[0][0] if hit.spans else 0
            out.append((hit.unit, f"{hit.unit + 1}@{at + 1}:{self._piece(hit)}"))
        return "\n".join(self._with_files(sorted(out, key=lambda line: line[0])))

    def _with_context(self, wanted: set[int]) -> list[tuple[int, str]]:
        lines = self.hits.units
        around = {
            at
            for hit in wanted
            for at in range(max(hit - self.context, 0), min(hit + self.context + 1, len(lines)))
            if len(lines[at]) <= _LONG_LINE
        }
        return [(at, f"{at + 1}{':' if at in wanted else '-'}{lines[at]}") for at in sorted(around | wanted)]

    def _with_files(self, lines: list[tuple[int, str]]) -> Iterator[str]:
        """Yield the lines with a mark between those that are apart, and the name of the file where one begins."""
        known, previous = "", -1
        starts = list(self.files)
        for at, line in lines:
            file = self.files[starts[place - 1]] if (place := bisect_right(starts, at)) else ""
            if file != known:
                yield f"in {file}:"
            elif previous >= 0 and at > previous + 1:
                yield "--"
            yield line
            known, previous = file, at

    def _piece(self, hit: Hit) -> str:
        """Return a unit, or the part of a long one around its matches."""
        text = self.hits.units[hit.unit]
        if len(text) <= _LONG_LINE:
            return text
        first, last = (hit.spans[0][0], hit.spans[-1][1]) if hit.spans else (0, 0)
        start, end = max(first - _AROUND, 0), min(last + _AROUND, first + 2 * _LONG_LINE, len(text))
        if hit.place:
            start = max(start, len(hit.place) + 2)
        before = f"{hit.place}: " if hit.place else ""
        return f"{before}{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _excerpts_of(hits: Hits, base: str, *, is_inverse: bool) -> _Excerpts:
    files = {}
    if hits.what == "lines" and any(line.startswith(("diff --git", "+++ ")) for line in hits.units):
        named = ((at, _FILE.match(line)) for at, line in enumerate(hits.units))
        files = {at: found[1] for at, found in named if found}
    # Around what was excluded from, there is what was excluded.
    return _Excerpts(hits, base, 0 if is_inverse else CONTEXT_LINES, files)


def _fit_lines(excerpts: _Excerpts, start: int, limit: int, room: int, policy: Policy) -> Fitted | None:
    found = excerpts.hits.found

    def rendered(count: int) -> Rendered:
        return Rendered("text", excerpts.of(found[start : start + count]))

    return fit(rendered, len(found) - start, lambda count: 200 * count, room, policy.estimator, limit)


def select_lines(document: Document, view: View, start: int, room: int, policy: Policy) -> Selection:
    """Return a range of lines, counted from 1.

    `start` is the byte to continue at, 0 for the first line of the range.
    """
    text = document.as_text.long_text if document.is_json else document.long_text
    first, last = view.lines or (1, 1)
    if first > text.line_count:
        raise BadRequest(f"there are {text.line_count:,} lines")
    begin = start or _column_start(text, first - 1, view.column)
    stop = text.line_start(min(last, text.line_count))
    # No text has more than eight bytes a token over any length that matters; more is not worth counting.
    end = stop if stop - begin <= 8 * room else text.cut(begin, begin + 8 * max(room, 1))
    while (tokens := policy.estimator.ceiling(text.between(begin, end))) > room:
        shorter = text.cut(begin, begin + max(1, int((end - begin) * max(room, 1) / tokens * 0.97)))
        if shorter >= end:
            break
        end = shorter
    shown = {"startLine": text.line_of(begin) + 1, "endLine": text.line_of(max(end - 1, begin)) + 1}
    return Selection(
        "lines", f"lines {shown['startLine']:,}-{shown['endLine']:,} of {text.line_count:,}", text.between(begin, end),
        "text", tokens, {"lines": text.line_count}, shown, end if end < stop else None,
    )  # fmt: skip


def _column_start(text: LongText, line: int, column: int) -> int:
    """Return the byte where a column of a line begins. Columns count characters, from 1."""
    start, end = text.line_start(line), text.line_start(line + 1)
    if column <= 1:
        return start
    before = text.between(start, end)[: column - 1]
    return min(start + len(before.encode("utf-8", "surrogateescape")), max(end - 1, start))
