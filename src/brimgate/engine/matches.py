"""Show what a search found: items as their list shows them, lines with the lines around them, values by their path."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from brimgate.engine.document import Document, one_line
from brimgate.engine.fields import field_tree, is_noisy, project, strip
from brimgate.engine.fit import Fitted, Selection, clipped, fit, fit_units, indexed
from brimgate.engine.forms import Rendered
from brimgate.engine.matcher import has_capitals
from brimgate.engine.policy import Policy
from brimgate.engine.query import COUNT, View
from brimgate.engine.search import AROUND, LONG_LINE, Hit, Hits, LineUnits, search
from brimgate.errors import BadRequest

CONTEXT_LINES: Final = 2
_NAMED_PLACES: Final = 3
_MAX_PLACE: Final = 300


def select_matches(
    document: Document, view: View, start: int, limit: int, room: int, policy: Policy, base: str = ""
) -> Selection:
    hits, pointer = search(document, view), _pointer_of(document, view)
    total = {hits.what: hits.unit_count, "hits": len(hits.found), "elsewhere": len(hits.elsewhere)}
    if view.form == COUNT or not (hits.found or hits.elsewhere):
        return _counted(hits, view.search, total, base)
    if not hits.found:
        # Nothing in the list or text that the answer is about: what is elsewhere takes its place.
        none = f"none in the {hits.unit_count:,} {hits.what}" if hits.units else ""
        hits = replace(
            hits, what="values", units=hits.values, found=hits.elsewhere, occurrences=hits.occurrences_elsewhere,
            tops=Counter[str](), beside=none,
        )  # fmt: skip
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
    count, units = len(hits.found), hits.found.unit_count
    kind = "other" if query.startswith("!") else "matching"
    # Of a long line several pieces are hits.
    what = f"{kind} {hits.what}" if units == count else f"matches in {units:,} {hits.what}"
    times = hits.occurrences
    least = "at least " if hits.is_capped else ""
    often = "" if query.startswith("!") or times == count else f" ({least}{times:,} occurrences)"
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
    units = hits.found.unit_count
    least = "at least " if hits.is_capped else ""
    parts = (
        [f"{least}{hits.occurrences:,} matches in {units:,} of {hits.unit_count:,} {hits.what}"]
        if units
        else []
    )
    if hits.elsewhere:
        parts.append(f"{len(hits.elsewhere):,} of {hits.searched:,} values elsewhere match")
    return Selection("search", f"count: {'; '.join(parts)}{where}", "", "text", 0, total, {"hits": 0})


def _no_match(query: str) -> str:
    """Say what could have been meant: a pattern with capitals is exact."""
    bare = query.removeprefix("!")
    if bare.startswith("/") and bare.endswith("/") and has_capitals(bare):
        return "Capitals in a pattern are matched exactly; end it in /i to ignore case."
    return ""


def _remark(hits: Hits, view: View, base: str) -> str:
    unchosen = f"fields are chosen from items; these are {hits.what}, shown whole"
    parts = [unchosen if view.fields and hits.what != "items" else "", _elsewhere(hits, base)]
    return "\n".join(part for part in parts if part)


def _elsewhere(hits: Hits, base: str) -> str:
    """Name the places of hits outside the list or text that is shown."""
    if not hits.tops:
        return ""
    named = [
        f"{count:,} at path {one_line(f'{base}/{top}')}"
        for top, count in islice(hits.tops.items(), _NAMED_PLACES)
    ]
    left = len(hits.elsewhere) - sum(islice(hits.tops.values(), _NAMED_PLACES))
    more = f" and {left:,} in other places" if left else ""
    return f"also elsewhere: {', '.join(named)}{more}"


def _item_picker(document: Document, view: View, hits: Hits, policy: Policy) -> Callable[[int], bytes]:
    """Return a function that shows an item as its list does: chosen fields, or the field map, without noise."""
    children = document.open(document.focus.node)
    fields = view.fields or policy.fields
    tree = field_tree(fields) if fields else None

    def pick(number: int) -> bytes:
        at = hits.found.unit(number)
        raw = document.raw(document.child(children, at)) if children else b"{}"
        kept = raw if tree is None else project(raw, tree, set()) or (b"{}" if view.fields else raw)
        return indexed(strip(kept, policy) if is_noisy(kept, policy) else kept, at)

    return pick


@dataclass(frozen=True, slots=True)
class _Excerpts:
    """Writes hits in lines with the lines around them and their numbers, and values by their path."""

    hits: Hits
    base: str
    context: int
    files: dict[int, str]
    """The files of a diff, by the number of the line where each begins."""

    def of(self, chosen: Sequence[Hit]) -> str:
        if self.hits.what == "values":
            return "\n".join(self.base + self._piece(hit) for hit in chosen)
        pieces = [hit for hit in chosen if len(self.hits.units[hit.unit]) > LONG_LINE]
        out = self._with_context({hit.unit for hit in chosen if hit not in pieces})
        for hit in pieces:
            at = hit.spans[0][0] if hit.spans else 0
            out.append((hit.unit, f"{hit.unit + 1}@{at + 1}:{self._piece(hit)}"))
        return "\n".join(self._with_files(sorted(out, key=lambda line: line[0])))

    def _with_context(self, wanted: set[int]) -> list[tuple[int, str]]:
        lines, searched = self.hits.units, self.hits.lines or range(len(self.hits.units))
        around = {
            at
            for hit in wanted
            for at in range(
                max(hit - self.context, searched.start), min(hit + self.context + 1, searched.stop)
            )
            if len(lines[at]) <= LONG_LINE
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
        if len(text) <= LONG_LINE:
            return text
        first, last = (hit.spans[0][0], hit.spans[-1][1]) if hit.spans else (0, 0)
        start, end = max(first - AROUND, 0), min(last + AROUND, first + 2 * LONG_LINE, len(text))
        if hit.place:
            start = max(start, len(hit.place) + 2)
        before = f"{hit.place}: " if hit.place else ""
        return f"{before}{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _excerpts_of(hits: Hits, base: str, *, is_inverse: bool) -> _Excerpts:
    files = hits.units.files() if isinstance(hits.units, LineUnits) else {}
    # Around what was excluded from, there is what was excluded.
    return _Excerpts(hits, base, 0 if is_inverse else CONTEXT_LINES, files)


def _fit_lines(excerpts: _Excerpts, start: int, limit: int, room: int, policy: Policy) -> Fitted | None:
    found = excerpts.hits.found

    def rendered(count: int) -> Rendered:
        return Rendered("text", excerpts.of(found[start : start + count]))

    return fit(rendered, len(found) - start, lambda count: 200 * count, room, policy.estimator, limit)
