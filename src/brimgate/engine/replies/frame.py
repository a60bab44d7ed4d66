"""What every reply about a held answer has in common: its scope, its budget, and how it is put together."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeVar, assert_never

from brimgate.engine.chunks import rounded
from brimgate.engine.document import Document, Position, one_line
from brimgate.engine.fields import HELD_REMARK, chosen_part, select_fields
from brimgate.engine.fit import Selection
from brimgate.engine.lazy import lazy
from brimgate.engine.line_range import select_lines
from brimgate.engine.maps import Foreword, foreword_of
from brimgate.engine.matches import select_matches
from brimgate.engine.policy import USUAL_PAGE, AnswerOptions, Policy
from brimgate.engine.query import FOCUS, WHOLE, View
from brimgate.engine.replies.reply import (
    LIST_WAYS,
    TEXT_WAYS,
    Issue,
    Notice,
    Reply,
    allowance,
    budget_fields,
    plain_path,
)
from brimgate.engine.walk import Part, Walker

BEGINNING: Final = Position(0)
_SHARES: Final = (1.0, 0.95, 0.9, 0.82, 0.75, 0.6, 0.45)
"""Parts of the room for what is told of the whole that are tried, largest first."""
_MOST: Final = 0.86
"""The largest share of a budget for what is told of the whole; the rest is for the beginning of the answer."""
_USUAL_SHARES: Final = AnswerOptions.highlight_share + AnswerOptions.map_share
_LEAST_ROOM: Final = 860
"""Tokens with those shares: of a small budget what is told of the whole gets more, since a few rows of a list tell little."""
T = TypeVar("T")
_WHERE_CHARS: Final = (160, 80, 40, 20, 0)
_WORTH_FILLING: Final = 0.03
"""Share of the budget: if more is left than that, more of what stands out is told."""


@dataclass(frozen=True)
class Frame:
    document: Document
    policy: Policy
    issue: Issue
    base: str = ""
    """The pointer of the document in the answer it is part of."""

    def scope(self, view: View) -> tuple[Document, str]:
        """Return the document that a view looks at, and the pointer to it."""
        match view.scope:
            case "whole" | "block":
                return self.document, ""
            case "text":
                return self.document.as_text, ""
            case "chosen":
                inner, base = self.scope(View("path", view.path))
                return inner.chosen(view.fields, chosen_part), base
            case "path" | "walk":
                node, base = self.document.resolve(view.path), view.path
                if base and not base.startswith("/"):
                    base = "/" + base
                base = "" if base == "/" and node == self.document.root else base
            case "focus":
                if not self.document.is_json:
                    return self.document, ""
                focus = self.document.focus
                node, base = focus.node, focus.pointer
            case _:
                assert_never(view.scope)
        return self.document.inside(node), base

    @property
    def total_tokens(self) -> int:
        """The tokens of the whole.

        For a live list, the items still to come are assumed to be like those that are here.
        """
        tokens = self.document.total_tokens(self.policy.estimator)
        if not self.document.is_beginning:
            return tokens
        children = self.document.open(self.document.focus.node)
        return rounded(tokens * self.document.expected // max(len(children or ()), 1))

    def notice(self, shown: str, tokens: int, more: str = "", section: str = "") -> Notice:
        """Begin a notice on `tokens` of the whole."""
        is_estimate = self.document.is_beginning or not self.document.is_counted
        return Notice(shown, tokens, self.total_tokens, more, section, is_estimate=is_estimate)

    def total(self) -> dict[str, Any]:
        if self.document.is_beginning:
            return {"tokens": self.total_tokens}
        return {"tokens": self.total_tokens, "bytes": self.document.size}

    def budget(self, view: View) -> int:
        inner, _ = self.scope(view)
        head = inner.head(inner.root) if inner.is_json else b'"'
        policy = self.policy
        # A caller that asks for one object by its path has already seen it in short.
        is_asked_for = view.scope in ("path", "walk", "chosen")
        of_object = policy.output_token_threshold if is_asked_for else policy.object_budget
        return {b"[": policy.page_budget, b'"': policy.text_budget}.get(head, of_object)

    def limit(self, view: View) -> int:
        return view.limit or self.policy.page_size

    def numbered_page(self, view: View) -> int:
        """Return the items of a page that is asked for by its number."""
        return view.limit or self.policy.default_page_size or USUAL_PAGE

    def walker(self, view: View, budget: int, spent: int = 0) -> Walker:
        inner, base = self.scope(view)
        planned = budget - allowance_of(self.policy) - self.cost("x" * 60)
        room = min(budget - spent, planned) if spent else planned
        return Walker(
            inner,
            self.policy,
            room,
            self.limit(view),
            self.base + base,
            planned,
            asked=view.limit,
            numbers=True,
        )

    def cost(self, text: str) -> int:
        return self.policy.estimator.ceiling(text) + 2 if text else 0

    @lazy
    def _foreword(self) -> Foreword:
        inner, pointer = self.scope(FOCUS)
        note = "among what has come so far" if self.document.is_beginning else ""
        if inner.is_json and not self.document.is_reading:
            whole = foreword_of(self.document, self.policy, self.base, note)
            if whole.survey.title:
                return whole
        return foreword_of(inner, self.policy, self.base + pointer, note)

    def highlights(self, budget: int, share: float = 1.0, most: int | None = None) -> str:
        """Write what is told of the whole in its share of the budget, or in a part of that; in `most` tokens."""
        if not self.policy.highlights:
            return ""
        shares = self.policy.highlight_share + self.policy.map_share
        if not shares:
            return ""
        least = _LEAST_ROOM * min(shares / _USUAL_SHARES, 1.0)
        room = int(min(max(budget * shares, least), budget * _MOST) * share)
        of_map = self.policy.map_share / shares
        return self._foreword.within(room if most is None else min(room, most), self.policy.estimator, of_map)

    def beside_highlights(self, budget: int, attempt: Callable[[str], T | None]) -> tuple[str, T | None]:
        """Return the most highlights beside which an attempt succeeds, and its result; all of them if none does.

        What stands out must not leave room for a scrap only of what was asked for.
        """
        whole = self.highlights(budget)
        for share in _SHARES if whole else ():
            highlights = self.highlights(budget, share)
            if highlights and (made := attempt(highlights)) is not None:
                return highlights, made
        return whole, None if whole else attempt("")

    def part_reply(
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
            "total": self.total(),
            "shown": {"from": part.first},
        }
        if part.is_numbered:
            record["numbered"] = True
        if view.scope == "text":
            record["exact"] = True
        if part.steps:
            record["steps"] = [list(step) for step in part.steps]
        if envelope or envelope_text:
            record["envelope"] = True
        shown = _describe(part, record)
        notice = self.notice(shown, part.tokens)
        if part.following is not None:
            notice.more = record["nextCursor"] = self.issue(view, part.following)
            if part.first == 0:
                notice.ways = TEXT_WAYS if part.lines else LIST_WAYS if part.kind == "items" else ()
        return self.finish(notice, part.content, record, budget, highlights, envelope_text)

    def selection_reply(
        self,
        view: View,
        start: int,
        pages: tuple[int, int] | None,
        budget: int = 0,
        highlights: str = "",
        envelope: str = "",
    ) -> Reply:
        inner, base = self.scope(view)
        is_object = inner.is_json and inner.head(inner.root) == b"{" and not view.search and not view.lines
        # A caller that names fields of one object has already seen it in short.
        budget = budget or (self.policy.output_token_threshold if is_object else self.budget(view))
        limit = self.limit(view)
        if pages:
            limit = self.numbered_page(view)
            start, limit = (pages[0] - 1) * limit, limit * (pages[1] - pages[0] + 1)
            budget = min(self.policy.hard_output_token_cap, budget * (pages[1] - pages[0] + 1))
        spent = (
            self.cost(highlights) + self.cost(envelope) + (self.cost(HELD_REMARK) if view.condensed else 0)
        )
        room = budget - allowance_of(self.policy, section=view.condensed) - spent
        made = _select(inner, view, start, limit, room, self.policy, self.base + base, is_paged=bool(pages))
        if made.is_clipped and is_object and view.fields:
            chosen = View("chosen", base, view.fields, form=view.form, limit=view.limit)
            return self.part_reply(self.walker(chosen, budget).part(None), chosen, budget)
        record: dict[str, Any] = {
            "kind": made.kind,
            "path": self.base + base + made.pointer,
            "format": made.form,
            "derived": True,
            "total": self.total() | made.total,
            "shown": {"from": start} | made.shown,
        }
        notice = self.notice(made.label, made.tokens)
        if made.following is not None:
            notice.more = record["nextCursor"] = self.issue(view, Position(made.following))
        if made.missing:
            record["missingFields"] = list(made.missing)
        if view.condensed:
            notice.section = self.everything()
            notice.example = plain_path([self.base + base + made.example] if made.example else [])
            record["detailsAvailable"] = {
                "tool": self.policy.read_tool,
                "cursor": notice.section,
                "sections": [*dict(self.policy.sections), *made.sections],
            }
        return self.finish(notice, made.text, record, budget, highlights, envelope, made.remark)

    def everything(self) -> str:
        """Return the cursor to everything that is held, as it came."""
        return self.issue(View("text") if self.document.is_reading else WHOLE, BEGINNING)

    def _mark_reading(self, record: dict[str, Any]) -> None:
        """Mark a reply about a reading as derived, with a cursor to the exact text for programs.

        A model reads its pages to the end; `lines` shows it the text itself.
        """
        record["derived"] = True
        if "detailsAvailable" not in record:
            cursor = self.everything()
            record["detailsAvailable"] = {"tool": self.policy.read_tool, "cursor": cursor, "sections": []}

    def finish(
        self,
        notice: Notice,
        content: str,
        record: dict[str, Any],
        budget: int,
        highlights: str = "",
        envelope: str = "",
        remark: str = "",
    ) -> Reply:
        """Put a reply together, and count it as it is read: joined texts can cost more than their parts.

        Foreign keys can be expensive: as much of the path is shown as there is room for. Highlights give way last.
        """
        notice.tool = self.policy.read_tool
        if self.document.is_reading and not record.get("exact"):
            self._mark_reading(record)
        pointer = "" if record.get("envelope") else str(record["path"])
        estimator, where, tokens = self.policy.estimator, "", 0
        fuller = self._fuller(
            highlights,
            _join(notice.line(), _where(pointer, _WHERE_CHARS[0]), remark, envelope, content),
            budget,
        )
        for found, size, ways in [
            *([(fuller, _WHERE_CHARS[0], notice.ways)] if fuller else []),
            *((highlights, size, notice.ways) for size in _WHERE_CHARS),
            (highlights, 0, ()),
            ("", 0, ()),
        ]:
            where = _join(_where(pointer, size), remark[:size])
            highlights, notice.ways = found, ways
            tokens = estimator.ceiling(_join(notice.line(), highlights, where, envelope, content))
            if tokens <= budget:
                break
        record |= budget_fields(tokens, budget)
        # In characters of the payload: what precedes the content is for reading and not part of the document.
        record["contentFrom"] = sum(len(part) + 1 for part in (highlights, where, envelope) if part)
        return Reply(notice.line(), content, record, highlights, where, envelope)

    def _fuller(self, highlights: str, rest: str, budget: int) -> str:
        """Write more of what is told of the whole, where what it stands beside left room; nothing if there is none."""
        if not highlights:
            return ""
        left = budget - self.cost(highlights) - self.cost(rest)
        if left < _WORTH_FILLING * budget:
            return ""
        return self.highlights(budget, most=self.cost(highlights) + left)


@lru_cache(64)
def allowance_of(policy: Policy, *, section: bool = False) -> int:
    return allowance(policy, section=section)


def _select(
    document: Document,
    view: View,
    start: int,
    limit: int,
    room: int,
    policy: Policy,
    base: str,
    *,
    is_paged: bool,
) -> Selection:
    if view.search:
        return select_matches(
            document, view, start, limit if view.limit or is_paged else 0, room, policy, base
        )
    if view.lines and not view.fields:
        return select_lines(document, view, start, room, policy)
    return select_fields(document, view, start, limit, room, policy)


def _describe(part: Part, record: dict[str, Any]) -> str:
    """Describe what is shown: in words for the notice, in numbers for the record."""
    first, last = part.first + 1, part.first + part.count
    if part.lines is None:
        if not part.is_open_ended:
            record["total"][part.kind] = part.total
        record["shown"][part.kind] = part.count
        total = f"{'more than ' if part.is_open_ended else ''}{part.total:,}"
        if part.kind == "items":
            return f"items #{part.first:,}-{max(last - 1, 0):,} of {total}"
        return f"keys {first:,}-{last:,} of {total}"
    lines = part.lines
    record["total"] |= {"textBytes": part.total, "lines": lines.total}
    record["shown"] |= {"bytes": part.count, "startLine": lines.first, "endLine": lines.last}
    record |= {"chunkIndex": lines.chunk_index, "totalChunks": lines.total_chunks}
    about = "" if lines.is_exact else "about "
    if about:
        record["totalChunksIsEstimate"] = True
    chunk = f"chunk {lines.chunk_index + 1:,} of {about}{lines.total_chunks:,}"
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
