"""Derived views of a held answer: chosen fields, matches of a search, a range of lines. Each says that it is one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from headgate.engine import jsontext
from headgate.engine.fit import Fitted, fit
from headgate.engine.policy import Policy
from headgate.engine.project import ALL, field_tree, project
from headgate.engine.render import Rendered, render
from headgate.engine.search import CONTEXT_LINES, leaf_lines, matcher, matching_lines
from headgate.engine.source import Source, Text
from headgate.engine.tokens import Estimator
from headgate.engine.view import View
from headgate.errors import BadRequest

INDEX: Final = "#"
"""Name of the member that tells which item of the list this is."""


@dataclass(frozen=True, slots=True)
class Selection:
    kind: str
    label: str
    text: str
    form: str
    tokens: int
    total: dict[str, int]
    shown: dict[str, int]
    following: int | None = None
    missing: Sequence[str] = ()
    remark: str = ""
    sections: list[str] = field(default_factory=lambda: [])


def select(source: Source, view: View, start: int, limit: int, room: int, policy: Policy) -> Selection:
    if view.lines:
        return _lines(source, view.lines, start, room, policy)
    if view.search:
        if source.is_json and source.head(source.root) == b"[":
            return _search_items(source, view, start, limit, room, policy)
        return _search_lines(source, view.search, start, room, policy)
    return _fields(source, view, start, limit, room, policy)


def _items(source: Source) -> list[bytes]:
    children = source.open(source.root)
    if not children:
        return []
    return [source.data[start:end] for start, end in zip(children.starts, children.ends, strict=True)]


def _fields(source: Source, view: View, start: int, limit: int, room: int, policy: Policy) -> Selection:
    if not source.is_json:
        raise BadRequest("fields can be chosen from JSON only; this is text: use lines or search")
    is_list = source.head(source.root) == b"["
    items = _items(source) if is_list else [source.raw(source.root)]
    if start >= len(items):
        raise BadRequest(f"there are {len(items):,} items")
    tree = None if ALL in view.fields else field_tree(view.fields)
    found: set[str] = set()

    def pick(at: int) -> bytes:
        raw = items[at]
        kept = raw if tree is None else project(raw, tree, found) or b"{}"
        return _indexed(kept, at) if view.condensed else kept

    made = _fit_units(pick, start, min(limit, len(items) - start), room, policy, is_list=is_list)
    missing = [name for name in view.fields if name != ALL and not _is_found(name, found)]
    last = start + made.count
    return Selection(
        kind="page" if is_list else "object",
        label=f"items {start + 1:,}-{last:,} of {len(items):,}, chosen fields"
        if is_list
        else "chosen fields",
        text=made.rendered.text,
        form=made.rendered.form,
        tokens=made.tokens,
        total={"items": len(items)},
        shown={"items": made.count},
        following=last if last < len(items) else None,
        missing=missing,
        remark=f"no such field: {', '.join(missing)[:200]}" if missing and not view.condensed else "",
        sections=["/" + INDEX] if view.condensed else [],
    )


def _is_found(name: str, found: set[str]) -> bool:
    return name in found or any(path.startswith(name + ".") for path in found)


def _indexed(raw: bytes, at: int) -> bytes:
    """The item with its number in front, so that its details can be asked for by path."""
    if raw[:1] != b"{":
        return b'{"%s":%d,"value":%s}' % (INDEX.encode(), at, raw)
    inner = raw[1:].lstrip()
    return b'{"%s":%d%s%s' % (INDEX.encode(), at, b"" if inner[:1] == b"}" else b",", inner)


def _fit_units(
    pick: Callable[[int], bytes], start: int, most: int, room: int, policy: Policy, *, is_list: bool
) -> Fitted:
    picked: dict[int, bytes] = {}

    def rendered(count: int) -> Rendered:
        units = [
            picked[at] if at in picked else picked.setdefault(at, pick(at))
            for at in range(start, start + count)
        ]
        raw = b"[" + b",".join(units) + b"]" if is_list else units[0]
        return render(jsontext.canonical(raw), policy.form, policy.estimator)

    each = len(pick(start))
    found = fit(rendered, most, lambda count: each * count, room, policy.estimator)
    return found or Fitted(1, *_clipped(pick(start), room, policy.estimator))


def _clipped(raw: bytes, room: int, estimator: Estimator) -> tuple[Rendered, int]:
    """One unit that does not fit even alone: its beginning, marked."""
    text = jsontext.canonical(raw).decode()
    size = len(text)
    while True:
        kept = text[:size]
        shown = f"{kept} … [{len(text) - size:,} more characters; ask for fewer fields]"
        tokens = estimator.ceiling(shown)
        if tokens <= room or size <= 16:
            return Rendered("text", shown), tokens
        size = int(size * min(0.9, room / tokens * 0.95))


def _search_items(source: Source, view: View, start: int, limit: int, room: int, policy: Policy) -> Selection:
    found = matcher(view.search)
    items = _items(source)
    hits = [at for at, raw in enumerate(items) if found(_searchable(raw))]
    tree = field_tree(view.fields) if view.fields and ALL not in view.fields else None

    def pick(number: int) -> bytes:
        raw = items[hits[number]]
        return _indexed(raw if tree is None else project(raw, tree, set()) or b"{}", hits[number])

    total = {"items": len(items), "hits": len(hits)}
    if start >= len(hits):
        return _no_hits(len(items), "items", total)
    made = _fit_units(pick, start, min(limit, len(hits) - start), room, policy, is_list=True)
    last = start + made.count
    return Selection(
        "search", f"matches {start + 1:,}-{last:,} of {len(hits):,} in {len(items):,} items",
        made.rendered.text, made.rendered.form, made.tokens, total, {"hits": made.count},
        last if last < len(hits) else None,
    )  # fmt: skip


def _searchable(raw: bytes) -> str:
    return (jsontext.unescape(raw) if b"\\u" in raw else raw).decode("utf-8", "replace")


def _no_hits(count: int, what: str, total: dict[str, int]) -> Selection:
    return Selection("search", f"no match in {count:,} {what}", "", "text", 0, total, {"hits": 0})


def _search_lines(source: Source, query: str, start: int, room: int, policy: Policy) -> Selection:
    """Matching lines with the lines around them, each with its number; of an object, its leaves with their paths."""
    if source.is_json:
        source = Text("\n".join(leaf_lines(source)).encode())
        context = 0
    else:
        context = CONTEXT_LINES
    lines = source.data.decode("utf-8", "surrogateescape").split("\n")
    hits = matching_lines(source, matcher(query))
    total: dict[str, Any] = {"lines": len(lines), "hits": len(hits)}
    if start >= len(hits):
        return _no_hits(len(lines), "lines", total)

    def rendered(count: int) -> Rendered:
        return Rendered("text", _excerpts(lines, hits[start : start + count], context))

    most = len(hits) - start
    made = fit(rendered, most, lambda count: 200 * count, room, policy.estimator)
    if made is None:
        made = Fitted(1, *_clipped_line(lines, hits[start], room, policy.estimator))
    last = start + made.count
    return Selection(
        "search", f"matches {start + 1:,}-{last:,} of {len(hits):,} in {len(lines):,} lines",
        made.rendered.text, "text", made.tokens, total, {"hits": made.count},
        last if last < len(hits) else None,
    )  # fmt: skip


def _excerpts(lines: list[str], hits: list[int], context: int) -> str:
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


def _clipped_line(lines: list[str], hit: int, room: int, estimator: Estimator) -> tuple[Rendered, int]:
    line = lines[hit]
    size = len(line)
    while True:
        shown = f"{hit + 1}:{line[:size]} … [{len(line) - size:,} more characters]"
        tokens = estimator.ceiling(shown)
        if tokens <= room or size <= 16:
            return Rendered("text", shown), tokens
        size = int(size * min(0.9, room / tokens * 0.95))


def _lines(source: Source, wanted: tuple[int, int], start: int, room: int, policy: Policy) -> Selection:
    text = Text(source.data).long_text if source.is_json else source.long_text
    first, last = wanted
    if first > text.line_count:
        raise BadRequest(f"there are {text.line_count:,} lines")
    begin = start or text.line_start(first - 1)
    stop = text.line_start(min(last, text.line_count))
    end = stop
    while (tokens := policy.estimator.ceiling(text.data[begin:end])) > room and end - begin > 1:
        end = text.cut(begin, begin + max(1, int((end - begin) * room / tokens * 0.97)))
    content = text.data[begin:end].decode("utf-8", "surrogateescape")
    shown = {"startLine": text.line_of(begin) + 1, "endLine": text.line_of(max(end - 1, begin)) + 1}
    return Selection(
        "lines", f"lines {shown['startLine']:,}-{shown['endLine']:,} of {text.line_count:,}", content, "text", tokens,
        {"lines": text.line_count}, shown, end if end < stop else None,
    )  # fmt: skip
