"""The gate: one held answer, its first bounded reply, and every reading that follows."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, assert_never

from headgate.engine import jsontext, plan
from headgate.engine.fit import Fitted, fit
from headgate.engine.highlights import find_highlights
from headgate.engine.jsontext import Children
from headgate.engine.linerange import select_lines
from headgate.engine.policy import Policy
from headgate.engine.preview import preview
from headgate.engine.project import ALL, select_fields
from headgate.engine.render import render
from headgate.engine.reply import Issue, Notice, Reply, allowance, budget_fields
from headgate.engine.request import Request
from headgate.engine.search import select_matches
from headgate.engine.selection import Selection
from headgate.engine.source import Focus, Position, Source, one_line
from headgate.engine.strip import is_noisy
from headgate.engine.view import FOCUS, WHOLE, View
from headgate.engine.walk import Part, Walker
from headgate.errors import BadRequest

_WHERE_CHARS = (160, 80, 40, 20, 0)
_WORTH_TRYING = 6
"""A section this many times over the budget fits in no form."""
_BEGINNING = Position(0)


@dataclass(frozen=True)
class Gate:
    source: Source
    policy: Policy
    issue: Issue
    base: str = ""
    """Pointer of the source in the answer it is part of."""

    def first(self) -> Reply | None:
        """The bounded first reply; None when the answer fits and goes out as it is."""
        decision = plan.decide(self.source, self.policy)
        return None if isinstance(decision, plan.Pass) else self._begin(decision)

    def _begin(self, decision: plan.Reduction) -> Reply:
        match decision:
            case plan.Rerender(rendered, tokens, budget):
                record = {
                    "kind": "complete",
                    "format": rendered.form,
                    "path": self.base,
                    "total": self._total(),
                }
                notice = Notice(f"complete, as {rendered.form}", tokens, self.total_tokens)
                return self._finish(notice, rendered.text, record, budget)
            case plan.Page(focus, budget):
                return self._first_page(focus, budget)
            case plan.Preview(focus, budget):
                return self._preview(focus, budget)
            case plan.Chunk(focus, budget):
                return self._first_chunk(focus, budget)
            case plan.Walk(budget):
                return self._part_reply(self._walker(WHOLE, budget).part(None), WHOLE, budget)
            case _:
                assert_never(decision)

    def read(self, view: View, position: Position, request: Request) -> Reply:
        """Go on from a cursor, or look at the held answer in another way."""
        view, position = self._refine(view, position, request)
        policy = replace(self.policy, form=view.form or self.policy.form)
        gate = replace(self, policy=policy)
        if view.is_selection:
            return gate._selection_reply(view, position.node, request.pages)
        if view.scope == "path" and position == _BEGINNING and not request.pages:
            return gate._first_of_path(view)
        budget = gate._budget(view)
        if request.pages:
            return gate._pages_reply(view, request.pages, budget)
        start = position if position != _BEGINNING else None
        return gate._part_reply(gate._walker(view, budget).part(start), view, budget)

    def _refine(self, view: View, position: Position, request: Request) -> tuple[View, Position]:
        """The view a request asks for; a request that selects begins anew, the others go on where they were."""
        if request.path is not None:
            view, position = View("path", request.path, limit=view.limit, form=view.form), _BEGINNING
        fields = () if ALL in request.fields else request.fields
        if request.fields or request.search or request.lines:
            # Lines are those of the text as it came, not of a list inside it.
            plain = WHOLE if request.lines and self._is_about_json() else FOCUS
            base = View("path", view.path) if view.scope in ("path", "walk") else plain
            view, position = (
                replace(base, fields=fields, search=request.search, lines=request.lines),
                _BEGINNING,
            )
        if request.form:
            view = replace(view, form=request.form)
        if request.limit:
            view = replace(view, limit=request.limit)
        return view, position

    def _is_about_json(self) -> bool:
        return self.source.is_json and self.source.head(self.source.focus.node) != b'"'

    # First replies

    def _first_page(self, focus: Focus, budget: int) -> Reply:
        highlights = self._highlights(budget)
        children = self.source.open(focus.node)
        if self.policy.essential_fields or (children and self._is_noisy(children)):
            view = View("focus", condensed=True, fields=self.policy.essential_fields)
            envelope = self._envelope(focus, "<items below>") if focus.pointer else ""
            return self._selection_reply(view, 0, None, budget, highlights, envelope)
        room = budget - _allowance(self.policy) - self._cost(highlights)
        found = self._fit_page(focus, children, room) if children else None
        if children is None or found is None:
            return self._preview(focus, budget)
        total = len(children)
        base = 0 if focus.node == self.source.root else focus.node.start
        following = Position(children.starts[found.count] - base) if found.count < total else None
        part = Part(
            "items", self.base + focus.pointer, 0, found.count, total, found.rendered.text, found.rendered.form,
            found.tokens, following,
        )  # fmt: skip
        return self._part_reply(part, FOCUS, budget, highlights, envelope=bool(focus.pointer))

    def _fit_page(self, focus: Focus, children: Children, room: int) -> Fitted | None:
        """Whole items inside everything that stands around their list."""
        source, data = self.source, self.source.data
        before, after = data[source.root.start : focus.node.start], data[focus.node.end : source.root.end]
        starts, ends = children.starts, children.ends

        def rendered(count: int) -> Any:
            raw = before + b"[" + data[starts[0] : ends[count - 1]] + b"]" + after
            return render(jsontext.canonical(raw), self.policy.form, self.policy.estimator)

        most = min(len(children), self.policy.page_size)
        return fit(rendered, most, lambda count: ends[count - 1] - starts[0], room, self.policy.estimator)

    def _preview(self, focus: Focus, budget: int) -> Reply:
        """The essentials of the whole, what stands around the focus included."""
        room = budget - _allowance(self.policy, section=True)
        made = preview(self.source, self.source.root, self.base, self.policy, room)
        cursor = self.issue(WHOLE, _BEGINNING)
        children = self.source.open(focus.node)
        count = len(children) if children else 0
        what = "items" if children and children.keys is None else "keys"
        record = {
            "kind": "preview",
            "path": self.base,
            "format": made.rendered.form,
            "derived": True,
            "total": self._total() | {what: count},
            "totalFields": count,
            "projectedFields": made.shown_fields,
            "nextCursor": cursor,
            "detailsAvailable": {"tool": self.policy.read_tool, "cursor": cursor, "sections": made.sections},
        }
        notice = Notice(f"summary of {count:,} {what}", made.tokens, self.total_tokens, cursor, cursor)
        return self._finish(notice, made.rendered.text, record, budget)

    def _is_noisy(self, children: Children) -> bool:
        """Judged on the first item: what an embedding store sends has a vector in every item."""
        return is_noisy(self.source.raw(self.source.child(children, 0)), self.policy)

    def _first_chunk(self, focus: Focus | None, budget: int) -> Reply:
        envelope = self._envelope(focus, "<text below>") if focus else ""
        highlights = self._highlights(budget)
        spent = _allowance(self.policy) + self._cost(highlights) + self._cost(envelope)
        walker = self._walker(FOCUS, budget, spent)
        return self._part_reply(walker.part(None), FOCUS, budget, highlights, envelope_text=envelope)

    def _envelope(self, focus: Focus, mark: str) -> str:
        """What stands around the one list or text of an answer, with its place marked."""
        data, root = self.source.data, self.source.root
        raw = (
            data[root.start : focus.node.start]
            + jsontext.quote(mark).encode()
            + data[focus.node.end : root.end]
        )
        return jsontext.canonical(raw).decode()

    def _highlights(self, budget: int) -> str:
        if not self.policy.highlights:
            return ""
        inner, _ = self._scope(FOCUS)
        return find_highlights(inner, self.policy.estimator, int(budget * self.policy.highlight_share))

    # Readings

    def _first_of_path(self, view: View) -> Reply:
        """What a path leads to: whole if it fits, else as any answer begins."""
        inner, base = self._scope(view)
        below = Gate(inner, self.policy, lambda sub, at: self.issue(_inside(base, sub, inner), at), base)
        return below._whole(self._budget(view)) or below._begin(plan.decide_oversized(inner, self.policy))

    def _whole(self, budget: int) -> Reply | None:
        """All of a section with its notice, if that fits."""
        source = self.source
        if self.policy.estimator.table(source.data) > budget * _WORTH_TRYING:
            return None
        if source.is_json:
            rendered = render(jsontext.canonical(source.data), self.policy.form, self.policy.estimator)
            content, form = rendered.text, rendered.form
        else:
            content, form = source.data.decode("utf-8", "surrogateescape"), "text"
        tokens = self.policy.estimator.ceiling(content)
        if tokens > budget - _allowance(self.policy):
            return None
        record = {"kind": "section", "path": self.base, "format": form, "total": self._total()}
        return self._finish(Notice("section, whole", tokens, self.total_tokens), content, record, budget)

    def _pages_reply(self, view: View, pages: tuple[int, int], budget: int) -> Reply:
        """Several pages in one reply, within the hard cap."""
        first, last = pages
        inner, _ = self._scope(view)
        wide = min(self.policy.hard_cap, budget * (last - first + 1))
        size = self._limit(view)
        children = inner.open(inner.root) if inner.is_json else None
        if children is not None:
            start = (first - 1) * size
            if start >= len(children):
                raise BadRequest(f"there are {-(-len(children) // size)} pages of {size} items")
            at = Position(children.starts[start])
            limit = (last - first + 1) * size
        else:
            ends = self._walker(view, budget).chunks(inner).ends
            if first > len(ends):
                raise BadRequest(f"there are {len(ends)} chunks")
            at, limit = Position(0, 0 if first == 1 else ends[first - 2]), size
        planned = self._walker(view, budget).chunk_budget
        walker = replace(
            self._walker(view, wide), limit=limit, chunk_budget=planned, chunk_count=last - first + 1
        )
        return self._part_reply(walker.part(at if at != _BEGINNING else None), view, wide)

    def _selection_reply(
        self,
        view: View,
        start: int,
        pages: tuple[int, int] | None,
        budget: int = 0,
        highlights: str = "",
        envelope: str = "",
    ) -> Reply:
        inner, base = self._scope(view)
        budget = budget or self._budget(view)
        limit = self._limit(view)
        if pages:
            start, limit = (pages[0] - 1) * limit, limit * (pages[1] - pages[0] + 1)
            budget = min(self.policy.hard_cap, budget * (pages[1] - pages[0] + 1))
        spent = self._cost(highlights) + self._cost(envelope)
        room = budget - _allowance(self.policy, section=view.condensed) - spent
        made = _select(inner, view, start, limit, room, self.policy)
        record: dict[str, Any] = {
            "kind": made.kind,
            "path": self.base + base,
            "format": made.form,
            "derived": True,
            "total": self._total() | made.total,
            "shown": {"from": start} | made.shown,
        }
        notice = Notice(made.label, made.tokens, self.total_tokens)
        if made.following is not None:
            notice.more = record["nextCursor"] = self.issue(view, Position(made.following))
        if made.missing:
            record["missingFields"] = list(made.missing)
        if view.condensed:
            notice.section = self.issue(WHOLE, _BEGINNING)
            record["detailsAvailable"] = {
                "tool": self.policy.read_tool,
                "cursor": notice.section,
                "sections": made.sections,
            }
        return self._finish(notice, made.text, record, budget, highlights, envelope, made.remark)

    # Shared

    def _scope(self, view: View) -> tuple[Source, str]:
        """The source a view looks at, and the pointer to it."""
        match view.scope:
            case "whole":
                return self.source, ""
            case "text":
                return self.source.as_text, ""
            case "path" | "walk":
                node, base = self.source.resolve(view.path), view.path
                if base and not base.startswith("/"):
                    base = "/" + base
                base = "" if base == "/" and node == self.source.root else base
            case _:
                if not self.source.is_json:
                    return self.source, ""
                focus = self.source.focus
                node, base = focus.node, focus.pointer
        return self.source.inside(node), base

    @property
    def total_tokens(self) -> int:
        return self.source.tokens(self.policy.estimator)

    def _total(self) -> dict[str, Any]:
        return {"tokens": self.total_tokens, "bytes": len(self.source.data)}

    def _budget(self, view: View) -> int:
        inner, _ = self._scope(view)
        head = inner.head(inner.root) if inner.is_json else b'"'
        policy = self.policy
        return {b"[": policy.list_threshold, b'"': policy.text_threshold}.get(head, policy.object_budget)

    def _limit(self, view: View) -> int:
        return view.limit or self.policy.page_size

    def _walker(self, view: View, budget: int, spent: int = 0) -> Walker:
        inner, base = self._scope(view)
        planned = budget - _allowance(self.policy) - self._cost("x" * 60)
        room = min(budget - spent, planned) if spent else planned
        return Walker(inner, self.policy, room, self._limit(view), self.base + base, planned)

    def _cost(self, text: str) -> int:
        return self.policy.estimator.ceiling(text) + 2 if text else 0

    def _part_reply(
        self,
        part: Part,
        view: View,
        budget: int,
        highlights: str = "",
        *,
        envelope: bool = False,
        envelope_text: str = "",
    ) -> Reply:
        record: dict[str, Any] = {
            "kind": "chunk" if part.lines else "page",
            "path": part.pointer,
            "part": part.kind,
            "format": part.form,
            "total": self._total(),
            "shown": {"from": part.first},
        }
        if part.steps:
            record["steps"] = [list(step) for step in part.steps]
        if envelope or envelope_text:
            record["envelope"] = True
        shown = _describe(part, record)
        notice = Notice(shown, part.tokens, self.total_tokens)
        if part.following is not None:
            notice.more = record["nextCursor"] = self.issue(view, part.following)
        return self._finish(notice, part.content, record, budget, highlights, envelope_text)

    def _finish(
        self,
        notice: Notice,
        content: str,
        record: dict[str, Any],
        budget: int,
        highlights: str = "",
        envelope: str = "",
        remark: str = "",
    ) -> Reply:
        """Notice.tokens holds the cost of the content; what stands around it is added, not counted again."""
        notice.tool = self.policy.read_tool
        pointer = "" if record.get("envelope") else str(record["path"])
        sizes = iter(_WHERE_CHARS)
        where, tokens = "", budget + 1
        while tokens > budget and (size := next(sizes, None)) is not None:
            # Foreign keys can cost a lot: as much of the path as there is room for.
            where = _join(_where(pointer, size), remark[:size])
            around = _join(notice.line(), highlights, where, envelope)
            tokens = notice.tokens + self.policy.estimator.ceiling(around) + 1
        notice.tokens = tokens
        record |= budget_fields(tokens, budget)
        # In characters of the payload: what stands before the content is for reading, not part of what is held.
        record["contentFrom"] = sum(len(part) + 1 for part in (highlights, where, envelope) if part)
        return Reply(notice.line(), content, record, highlights, where, envelope)


@lru_cache(64)
def _allowance(policy: Policy, *, section: bool = False) -> int:
    return allowance(policy, section=section)


def _select(source: Source, view: View, start: int, limit: int, room: int, policy: Policy) -> Selection:
    if view.lines:
        return select_lines(source, view.lines, start, room, policy)
    chosen = select_matches if view.search else select_fields
    return chosen(source, view, start, limit, room, policy)


def _describe(part: Part, record: dict[str, Any]) -> str:
    """What is shown, in words for the notice and in numbers for the record."""
    first, last = part.first + 1, part.first + part.count
    if part.lines is None:
        record["total"][part.kind] = part.total
        record["shown"][part.kind] = part.count
        return f"{'items' if part.kind == 'items' else 'keys'} {first:,}-{last:,} of {part.total:,}"
    lines = part.lines
    record["total"] |= {"textBytes": part.total, "lines": lines.total}
    record["shown"] |= {"bytes": part.count, "startLine": lines.first, "endLine": lines.last}
    record |= {"chunkIndex": lines.chunk_index, "totalChunks": lines.total_chunks}
    chunk = f"chunk {lines.chunk_index + 1:,} of {lines.total_chunks:,}"
    if lines.total < lines.total_chunks:
        return f"bytes {first:,}-{last:,} of {part.total:,} · {chunk}"
    return f"lines {lines.first:,}-{lines.last:,} of {lines.total:,} · {chunk}"


def _where(pointer: str, size: int) -> str:
    if not pointer or not size:
        return ""
    shown = one_line(pointer)
    return f"at {shown if len(shown) <= size else shown[:size] + '…'}"


def _join(*parts: str) -> str:
    return "\n".join(part for part in parts if part)


def _inside(base: str, sub: View, inner: Source) -> View:
    """The same view of the whole answer that `sub` is of the part at `base`."""
    if sub.scope == "focus" and inner.is_json:
        base += inner.focus.pointer
    return replace(sub, scope="walk", path=base)
