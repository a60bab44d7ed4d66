"""The first bounded reply (whole in another form, a page, a preview, a chunk), and the replies to queries."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, assert_never

from brimgate.engine import decision, jsontext
from brimgate.engine.chunks import Cutter
from brimgate.engine.decision import AnswerFormat
from brimgate.engine.document import Document, Focus, Position
from brimgate.engine.fields import ALL, are_around
from brimgate.engine.fit import Fitted, fit, numbered
from brimgate.engine.forms import render
from brimgate.engine.jsontext import Children
from brimgate.engine.policy import Policy
from brimgate.engine.preview import mapped_preview, preview
from brimgate.engine.query import COUNT, FOCUS, WHOLE, Query, View
from brimgate.engine.replies.formatted import formatted_beginning, formatted_whole, read_formatted
from brimgate.engine.replies.frame import BEGINNING, Frame, allowance_of
from brimgate.engine.replies.reply import OBJECT_WAYS, Issue, Reply, plain_path
from brimgate.engine.walk import Part
from brimgate.errors import BadRequest

if TYPE_CHECKING:
    from brimgate.engine.sql.database import QueryResult

_USEFUL: Final = 0.105
"""Share of the budget: a first chunk with less beside its highlights is a scrap."""
_WORTH_TRYING: Final = 6
"""A section this many times over the budget fits in no form."""


def begin(frame: Frame, plan: decision.Reduction, answer_format: AnswerFormat | None = None) -> Reply:
    """Write the first reply as it was decided."""
    return replace(_begin(frame, plan, answer_format), outcome=decision.outcome_of(plan))


def _begin(frame: Frame, plan: decision.Reduction, answer_format: AnswerFormat | None) -> Reply:
    match plan:
        case decision.Rerender(rendered, tokens, budget):
            record = {
                "kind": "complete",
                "format": rendered.form,
                "path": frame.base,
                "total": frame.total(),
            }
            notice = frame.notice(f"complete, as {rendered.form}", tokens)
            return frame.finish(notice, rendered.text, record, budget)
        case decision.Format():
            return formatted_whole(frame, plan)
        case decision.Page(focus, budget):
            formatted = answer_format and formatted_beginning(frame, answer_format, budget)
            return formatted or _first_page(frame, plan)
        case decision.Preview(focus, budget):
            formatted = answer_format and formatted_beginning(frame, answer_format, budget)
            return formatted or _preview(frame, focus, budget)
        case decision.Chunk(focus, budget):
            return _first_chunk(frame, focus, budget)
        case decision.Walk(budget):
            return frame.part_reply(frame.walker(WHOLE, budget).part(None), WHOLE, budget)
        case _:
            assert_never(plan)


_LEAST_PREVIEW: Final = 60
"""Tokens: with less beside it, what stands out is left out of a small budget."""


def _first_page(frame: Frame, plan: decision.Page) -> Reply:
    focus, budget = plan.focus, plan.budget
    children = frame.document.open(focus.node)
    if plan.is_condensed:
        highlights = frame.highlights(budget)
        view = View("focus", condensed=True, fields=frame.policy.fields)
        envelope = _envelope(frame, focus, "<items below>") if focus.pointer else ""
        return frame.selection_reply(view, 0, None, budget, highlights, envelope)
    room = budget - allowance_of(frame.policy)
    items, is_numbered = _numbered_items(frame, children) if children else ([], False)

    def fitted(highlights: str) -> Fitted | None:
        left = room - frame.cost(highlights)
        return _fit_page(frame, focus, children, items, left) if children else None

    highlights, found = frame.beside_highlights(budget, fitted)
    if children is None or found is None:
        return _preview(frame, focus, budget)
    total = frame.document.count(focus.node, children)
    base = 0 if focus.node == frame.document.root else focus.node.start
    following = Position(children.starts[found.count] - base) if found.count < len(children) else None
    part = Part(
        "items", frame.base + focus.pointer, 0, found.count, total, found.rendered.text, found.rendered.form,
        found.tokens, following, is_open_ended=frame.document.is_open_ended(focus.node), is_numbered=is_numbered,
    )  # fmt: skip
    return frame.part_reply(part, FOCUS, budget, highlights, envelope=bool(focus.pointer))


def _numbered_items(frame: Frame, children: Children) -> tuple[list[bytes], bool]:
    """Return the items that a first page may have, and whether their numbers are with them."""
    data, most = frame.document.data, min(len(children), frame.policy.page_size)
    items = [data[children.starts[at] : children.ends[at]] for at in range(most)]
    with_numbers = numbered(items, 0, frame.policy.format)
    return with_numbers or items, with_numbers is not None


def _fit_page(frame: Frame, focus: Focus, children: Children, items: list[bytes], room: int) -> Fitted | None:
    """Fit whole items together with everything around their list."""
    document, data = frame.document, frame.document.data
    before, after = data[document.root.start : focus.node.start], data[focus.node.end : document.root.end]
    starts, ends, most = children.starts, children.ends, len(items)

    def rendered(count: int) -> Any:
        raw = before + b"[" + b",".join(items[:count]) + b"]" + after
        return render(jsontext.canonical(raw), frame.policy.format, frame.policy.estimator)

    return fit(rendered, most, lambda count: ends[count - 1] - starts[0], room, frame.policy.estimator)


def _preview(frame: Frame, focus: Focus, budget: int) -> Reply:
    """Return the essentials of the whole, including what surrounds the focus."""
    named = f"sections: fields={','.join(dict(frame.policy.sections))}" if frame.policy.sections else ""
    room = budget - allowance_of(frame.policy, section=True) - frame.cost(named)
    highlights = frame.highlights(budget, most=room - _LEAST_PREVIEW)
    room -= frame.cost(highlights)
    made = mapped_preview(frame.document, focus, frame.base, frame.policy, room) or preview(
        frame.document, frame.document.root, frame.base, frame.policy, room
    )
    cursor = frame.everything()
    children = frame.document.open(focus.node)
    count = len(children) if children else 0
    what = "items" if children and children.keys is None else "keys"
    place = plain_path([frame.base + focus.pointer]) if frame.base + focus.pointer else ""
    of = f" of {place}" if place else ""
    record = {
        "kind": "preview",
        "path": frame.base,
        "format": made.rendered.form,
        "derived": True,
        "total": frame.total() | {what: count},
        "totalFields": count,
        "projectedFields": made.shown_fields,
        "nextCursor": cursor,
        "detailsAvailable": {
            "tool": frame.policy.read_tool,
            "cursor": cursor,
            "sections": [*dict(frame.policy.sections), *made.sections],
        },
    }
    notice = frame.notice(f"summary of {count:,} {what}{of}", made.tokens, cursor, cursor)
    notice.example = plain_path(made.sections)
    notice.named = next(iter(dict(frame.policy.sections)), "")
    notice.ways = OBJECT_WAYS
    return frame.finish(notice, made.rendered.text, record, budget, highlights, remark=named)


def _first_chunk(frame: Frame, focus: Focus | None, budget: int) -> Reply:
    envelope = _envelope(frame, focus, "<text below>") if focus else ""
    spent = allowance_of(frame.policy) + frame.cost(envelope)

    def part(highlights: str) -> Part:
        return frame.walker(FOCUS, budget, spent + frame.cost(highlights)).part(None)

    def useful(highlights: str) -> Part | None:
        made = part(highlights)
        return made if made.tokens >= _USEFUL * budget else None

    highlights, found = frame.beside_highlights(budget, useful)
    found = found or part(highlights)
    return frame.part_reply(found, FOCUS, budget, highlights, envelope_text=envelope)


def _envelope(frame: Frame, focus: Focus, mark: str) -> str:
    """Return what surrounds the one list or text of an answer, with its place marked."""
    data, root = frame.document.data, frame.document.root
    raw = (
        data[root.start : focus.node.start] + jsontext.quote(mark).encode() + data[focus.node.end : root.end]
    )
    return jsontext.canonical(raw).decode()


def read(
    frame: Frame, view: View, position: Position, query: Query, answer_format: AnswerFormat | None = None
) -> Reply:
    """Continue from a cursor, or look at the held answer in another way."""
    view, position = _refine(frame, view, position, query)
    if view.form not in ("", COUNT):
        frame = replace(frame, policy=replace(frame.policy, format=view.form))
    if view.formatted:
        return read_formatted(frame, answer_format, view, position.node, query.pages)
    if view.is_selection:
        return frame.selection_reply(view, position.node, query.pages)
    if view.scope == "path" and position == BEGINNING and not query.pages:
        return _first_of_path(frame, view)
    budget = frame.budget(view)
    if query.pages:
        return _pages_reply(frame, view, query.pages, budget)
    start = position if position != BEGINNING else None
    return frame.part_reply(frame.walker(view, budget).part(start), view, budget)


def _refine(frame: Frame, view: View, position: Position, query: Query) -> tuple[View, Position]:
    """Return the view for a query. A query that selects begins anew; others continue where they were."""
    if query.path is not None:
        view, position = View("path", query.path, limit=view.limit, form=view.form), BEGINNING
    fields = () if ALL in query.fields else _spelled_out(frame, query)
    if query.fields or query.search or query.lines:
        # Lines are those of the original text, not of a list inside it.
        is_around = are_around(frame.document, fields)
        is_whole = query.search or is_around or (query.lines and _is_about_json(frame))
        base = View("path", view.path) if view.scope in ("path", "walk") else WHOLE if is_whole else FOCUS
        chosen = replace(
            base, fields=fields, search=query.search, lines=query.lines, column=query.column, form=view.form
        )
        view, position = chosen, _section_start(frame, view, position, query)
    if query.form:
        # A requested form excludes the pack's formatter.
        view = replace(view, form=query.form, condensed=view.condensed or view.formatted, formatted=False)
    if query.limit:
        view = replace(view, limit=query.limit)
    return view, position


def _spelled_out(frame: Frame, query: Query) -> tuple[str, ...]:
    """Return the fields that are asked for. Those of a section come with the id of their item."""
    policy = frame.policy
    fields = policy.spelled_out(query.fields)
    is_list = frame.document.is_json and frame.document.head(frame.document.focus.node) == b"["
    if not policy.has_section(query.fields) or not is_list or not policy.fields:
        return fields
    return tuple(dict.fromkeys(("id" if "id" in policy.fields else policy.fields[0], *fields)))


def _section_start(frame: Frame, view: View, position: Position, query: Query) -> Position:
    """Return the item where a section of a list begins: where the cursor is. Anything else begins anew."""
    is_section = frame.policy.has_section(query.fields)
    if not is_section or query.search or query.lines or query.path is not None:
        return BEGINNING
    if view.is_selection or view.formatted:
        return position
    inner, _ = frame.scope(view)
    children = inner.open(inner.root) if inner.is_json and inner.head(inner.root) == b"[" else None
    return Position(children.index_at(position.node - 1) + 1) if children and position.node else BEGINNING


def _is_about_json(frame: Frame) -> bool:
    return frame.document.is_json and frame.document.head(frame.document.focus.node) != b'"'


def _first_of_path(frame: Frame, view: View) -> Reply:
    """Return what a path leads to: whole if it fits, otherwise like the first reply to any answer."""
    inner, base = frame.scope(view)

    def issue(sub: View, at: Position) -> str:
        return frame.issue(replace(_inside(base, sub, inner), form=view.form), at)

    policy = decision.policy_at(frame.document, base, frame.policy)
    below = Frame(inner, policy, issue, base)
    return _whole(below, frame.budget(view)) or begin(below, decision.decide_oversized(inner, policy))


def query_reply(frame: Frame, result: "QueryResult", query: Query) -> Reply:
    """Return the result of a query: whole if it fits and no less is asked for, else as pages."""
    rows = f"{result.count:,} row{'' if result.count == 1 else 's'}"
    limit = query.limit if query.limit < result.count else 0
    whole = (
        None if limit else _whole(frame, frame.policy.page_budget, f"{rows}, all · query over {result.of}")
    )
    if whole is not None:
        return replace(whole, record=whole.record | {"kind": "query"})
    view = View("focus", limit=limit, form=query.form)
    budget = frame.budget(view)
    return frame.part_reply(frame.walker(view, budget).part(None), view, budget)


def _whole(frame: Frame, budget: int, shown: str = "section, whole") -> Reply | None:
    """Return all of a section with its notice, if that fits."""
    document = frame.document
    if frame.policy.estimator.table(document.data) > budget * _WORTH_TRYING:
        return None
    if document.is_json:
        rendered = render(jsontext.canonical(document.data), frame.policy.format, frame.policy.estimator)
        content, form = rendered.text, rendered.form
    else:
        content, form = document.data.decode("utf-8", "surrogateescape"), "text"
    tokens = frame.policy.estimator.ceiling(content)
    if tokens > budget - allowance_of(frame.policy):
        return None
    record = {"kind": "section", "path": frame.base, "format": form, "total": frame.total()}
    notice = frame.notice(shown, tokens)
    notice.total_tokens = tokens  # it is all of it, whatever another form of it would take
    return frame.finish(notice, content, record, budget)


def _pages_reply(frame: Frame, view: View, pages: tuple[int, int], budget: int) -> Reply:
    """Return several pages in one reply, within the hard cap."""
    first, last = pages
    inner, _ = frame.scope(view)
    wide = min(frame.policy.hard_output_token_cap, budget * (last - first + 1))
    size = frame.numbered_page(view)
    children = inner.open(inner.root) if inner.is_json else None
    if children is not None:
        start = (first - 1) * size
        if start >= len(children):
            raise BadRequest(f"there are {-(-len(children) // size)} pages of {size} items")
        at = Position(children.starts[start])
        limit = (last - first + 1) * size
    else:
        at, limit = _chunk_position(frame.walker(view, budget).cutter(inner), first - 1), size
    planned = frame.walker(view, budget).chunk_budget
    walker = replace(
        frame.walker(view, wide), limit=limit, asked=limit, chunk_budget=planned, chunk_count=last - first + 1
    )
    return frame.part_reply(walker.part(at if at != BEGINNING else None), view, wide)


def _chunk_position(cutter: Cutter, index: int) -> Position:
    """Return where chunk number `index` begins."""
    at = 0
    for number in range(index):
        at = cutter.piece(at).end
        if at >= cutter.text.size:
            raise BadRequest(f"there are {number + 1} chunks")
    return Position(index, at)


def _inside(base: str, sub: View, inner: Document) -> View:
    """Convert a view of the part at `base` into the same view of the whole answer."""
    if sub.scope == "focus" and inner.is_json:
        base += inner.focus.pointer
    return replace(sub, scope="walk", path=base)


@dataclass(frozen=True)
class Gate:
    document: Document
    policy: Policy
    issue: Issue
    answer_format: AnswerFormat | None = None

    @property
    def _frame(self) -> Frame:
        return Frame(self.document, self.policy, self.issue)

    def first(self) -> Reply | None:
        """Return the bounded first reply, or None when the answer fits and goes out unchanged."""
        plan = decision.decide(self.document, self.policy, self.answer_format)
        if isinstance(plan, decision.Pass):
            return None
        return self.counted(begin(self._frame, plan, self.answer_format))

    def read(self, view: View, position: Position, query: Query) -> Reply:
        """Continue from a cursor, or look at the held answer in another way."""
        return self.counted(read(self._frame, view, position, query, self.answer_format))

    def query_path(self, view: View, query: Query) -> str:
        """Return the part of the answer that a query is about: all of it, or what a path leads to."""
        path = query.path if query.path is not None else view.path if view.scope in ("path", "walk") else ""
        node = self.document.resolve(path)
        return "" if node == self.document.root else path

    def result(self, result: "QueryResult", query: Query) -> Reply:
        """Write the result of a query, which is this document: whole if it fits, else its first page."""
        policy = replace(self.policy, format=query.form or self.policy.format)
        frame = replace(self._frame, policy=policy)
        return query_reply(frame, result, query)

    def counted(self, reply: Reply) -> Reply:
        document = self.document
        return replace(
            reply,
            item_count=decision.item_count(document, self.policy),
            original_tokens=document.tokens(self.policy.estimator),
            original_bytes=document.size,
        )
