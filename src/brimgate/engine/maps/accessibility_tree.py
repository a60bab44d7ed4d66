"""Survey snapshots of a page as an accessibility tree: those of Playwright (`- button "Save" [ref=e12]`) and of Chrome."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.credentials_scan import find_secrets
from brimgate.engine.maps.like_blocks import BlockLeaf, Comparison, LikeBlock
from brimgate.engine.maps.line_search import per_line
from brimgate.engine.maps.phrases import brief, count, tally
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_PLAYWRIGHT: Final = re.compile(
    r"(?P<indent>\s*+)- '?(?P<role>[a-zA-Z]{2,40})(?: \"(?P<name>(?>(?:[^\"\\]|\\.)*))\""
    r"| /(?P<pattern>[^/]{1,200})/)?(?P<states>(?>(?: \[[^\]\[]{0,120}\])*))'?"
    r"(?P<colon>:)?(?:\s++(?P<value>.*))?\Z"
)
_CHROME: Final = re.compile(
    r"(?P<indent>\s*+)uid=(?P<ref>[\w-]{1,40}) (?P<role>[A-Za-z]{2,40})(?: \"(?P<name>(?>(?:[^\"\\]|\\.)*))\")?(?P<states>.*)\Z"
)
_STATE: Final = re.compile(r"\[([\w-]+)(?:=([^\]]*))?\]|(?<= )(\w+)(?:=\"([^\"]*)\")?")
_URL: Final = re.compile(r"-? ?Page URL: ?(\S+)|.*\burl=\"([^\"]+)\"")
_TITLE: Final = re.compile(r"-? ?Page Title: ?(.+)")
_ROLES: Final = frozenset(
    [
        "generic",
        "link",
        "button",
        "heading",
        "textbox",
        "checkbox",
        "radio",
        "combobox",
        "listitem",
        "list",
        "row",
        "cell",
        "table",
        "navigation",
        "main",
        "banner",
        "img",
        "text",
        "paragraph",
        "dialog",
        "alert",
        "StaticText",
        "RootWebArea",
        "option",
        "tab",
        "menuitem",
        "region",
        "form",
        "article",
    ]
)
_LANDMARKS: Final = frozenset(
    [
        "banner",
        "navigation",
        "main",
        "contentinfo",
        "complementary",
        "region",
        "search",
        "form",
        "dialog",
        "alertdialog",
        "tablist",
        "toolbar",
        "menu",
    ]
)
_FIELDS: Final = frozenset(
    ["textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "slider", "spinbutton", "listbox"]
)
_ALARMS: Final = frozenset(("alert", "alertdialog", "dialog"))
_ITEMS: Final = frozenset(
    [
        "row",
        "listitem",
        "article",
        "option",
        "treeitem",
        "tab",
        "menuitem",
        "generic",
        "group",
        "region",
        "link",
        "figure",
    ]
)
_TROUBLE: Final = re.compile(
    r"(?i)\b(?:errors?|failed|failure|invalid|denied|declined|expired|unable to|could not|cannot|went wrong"
    r"|not found|unauthori[sz]ed|forbidden"
    r"|timed out|overdue|blocked|suspended|is required|must be)\b"
)
_CALM: Final = re.compile(r"(?i)\b(?:no|0|without) (?:errors?|failures?|failed)\b")
_DANGER: Final = re.compile(
    r"(?i)\b(?:delete|remove|destroy|erase|pay|purchase|buy now|place order|transfer|withdraw|deactivate"
    r"|terminate|reset|revoke|wipe|unsubscribe|close account|drop)\b"
)
_MIN_REPEATED: Final = 5
_MAX_GROUPS: Final = 6


@dataclass(slots=True, eq=False)
class _Element:
    role: str
    name: str
    line: int
    indent: int
    ref: str = ""
    states: dict[str, str] = field(default_factory=dict[str, str])
    value: str = ""
    end: int = 0
    children: "list[_Element]" = field(default_factory=list["_Element"])

    @property
    def at(self) -> str:
        return f" [{self.ref}]" if self.ref else ""

    def all(self) -> "Iterator[_Element]":
        pending: list[_Element] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def text(self) -> str:
        """Return its name, or what is written in it."""
        if self.name or self.value:
            return self.name or self.value
        return " ".join(part for node in self.children[:40] if (part := node.text()))[:400]


def recognise(text: TextLines) -> float:
    lines = [line for line in text.sample if line.strip()]
    marked = known = 0
    for line in lines:
        match = (_CHROME if "uid=" in line else _PLAYWRIGHT).match(line)
        if match and match["role"] in _ROLES:
            known += 1
            marked += "[ref=" in line or "uid=" in line or match["name"] is not None
    if known < 3 or marked < 2 or known * 2 < len(lines):
        return 0.0
    return min(0.98, 0.6 + known / len(lines) / 2)


def survey(text: TextLines) -> Survey:
    roots = _read(text.lines)
    nodes = [node for root in roots for node in root.all()]
    roles = Counter(node.role for node in nodes if node.role not in ("generic", "text", "StaticText"))
    lines, odd = _repeated(nodes)
    found = [*find_secrets(text.lines), *odd, *_alarms(nodes), *_dangers(nodes), *_odd_fields(nodes)]
    title = _head(text.lines, _TITLE) or next((node.name for node in nodes if node.role == "RootWebArea"), "")
    url = _head(text.lines, _URL)
    told = " ".join(part for part in (f"“{brief(title, 80)}”" if title else "", brief(url, 100)) if part)
    return Survey(
        f"page snapshot {told}: {count(len(nodes), 'element')}: {tally(roles, 10)}",
        [*_outline(nodes), *_fields(nodes), *lines, *_buttons(nodes)],
        per_line(found),
    )


def _head(lines: Sequence[str], pattern: re.Pattern[str]) -> str:
    found = next((match for line in lines[:20] if (match := pattern.match(line))), None)
    return next(filter(None, found.groups()), "").strip() if found else ""


def _read(lines: Sequence[str]) -> list[_Element]:
    roots, stack = list[_Element](), list[_Element]()
    for number, line in enumerate(lines, 1):
        element = _element(line, number)
        if element is None:
            continue
        while stack and stack[-1].indent >= element.indent:
            stack.pop().end = number - 1
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)
    for element in stack:
        element.end = len(lines)
    return roots


def _element(line: str, number: int) -> _Element | None:
    is_chrome = "uid=" in line
    match = (_CHROME if is_chrome else _PLAYWRIGHT).match(line)
    if match is None or (not is_chrome and match["role"] == "Page"):
        return None
    states = {(one[0] or one[2]): (one[1] or one[3]) for one in _STATE.findall(match["states"])}
    ref = match["ref"] if is_chrome else states.pop("ref", "")
    value = states.get("value", "") if is_chrome else (match["value"] or "").strip("\"'")
    return _Element(
        match["role"], match["name"] or "", number, len(match["indent"]), ref, states, value, number
    )


def _outline(nodes: Sequence[_Element]) -> Iterator[MapLine]:
    headings = [node for node in nodes if node.role == "heading" and node.text()]
    if headings:
        shown = [f"{brief(node.text(), 50)} {node.line}" for node in headings[:40]]
        yield MapLine(
            "headings " + ", ".join(shown) + (f", … {len(headings) - 40} more" if len(headings) > 40 else ""),
            9.0,
        )
    marks = [node for node in nodes if node.role in _LANDMARKS]
    if marks:
        named = [
            f"{node.role}{' ' + brief(node.name, 30) if node.name else ''} {node.line}-{node.end}"
            for node in marks[:20]
        ]
        yield MapLine(
            "parts " + ", ".join(named) + (f", … {len(marks) - 20} more" if len(marks) > 20 else ""), 6.0
        )


def _fields(nodes: Sequence[_Element]) -> Iterator[MapLine]:
    fields = [node for node in nodes if node.role in _FIELDS]
    if fields:
        shown: list[str] = []
        for node in fields[:30]:
            states = [
                state
                for state in ("required", "invalid", "disabled", "checked", "readonly", "expanded")
                if state in node.states
            ]
            value = f" = {brief(node.value, 30)}" if node.value and "assword" not in node.name else ""
            shown.append(
                f"{brief(node.name, 40) or '(no name)'} ({' '.join([node.role, *states])}){value} {node.line}{node.at}"
            )
        yield MapLine(
            "fields " + ", ".join(shown) + (f", … {len(fields) - 30} more" if len(fields) > 30 else ""), 8.0
        )


def _buttons(nodes: Sequence[_Element]) -> Iterator[MapLine]:
    named: defaultdict[str, list[_Element]] = defaultdict(list)
    for node in nodes:
        if node.role in ("button", "tab", "menuitem"):
            named[brief(node.text(), 30) or "(no name)"].append(node)
    if named:
        shown = [
            f"{name} ×{len(same)}" if len(same) > 1 else f"{name} {same[0].line}{same[0].at}"
            for name, same in list(named.items())[:30]
        ]
        yield MapLine(
            "buttons " + ", ".join(shown) + (f", … {len(named) - 30} more" if len(named) > 30 else ""), 6.5
        )


def _repeated(nodes: Sequence[_Element]) -> tuple[list[MapLine], list[Finding]]:
    """Compare rows, items and cards that stand below one element."""
    groups: list[tuple[str, list[_Element], list[str]]] = []
    for node in nodes:
        if len(node.children) < _MIN_REPEATED:
            continue
        by_role: defaultdict[str, list[_Element]] = defaultdict(list)
        for child in node.children:
            if child.role in _ITEMS and not _is_header(child):
                by_role[child.role].append(child)
        headers = next((child for child in node.all() if _is_header(child)), None)
        names = [cell.text() for cell in headers.children] if headers else []
        groups += [(role, same, names) for role, same in by_role.items() if len(same) >= _MIN_REPEATED]
    groups.sort(key=lambda one: -len(one[1]))
    lines, found = list[MapLine](), list[Finding]()
    above = _headers_above(nodes)
    for role, same, names in groups[:_MAX_GROUPS]:
        names = names or above.get(id(same[0]), [])
        comparison = Comparison([_block(element, names) for element in same])
        found += comparison.findings()
        table = comparison.table(6)
        columns = f" ({', '.join(names[:10])})" if names else ""
        lines.append(
            MapLine(
                f"{len(same)} × {role} {same[0].line}-{same[-1].end}{columns}{': ' + table if table else ''}",
                7.0 if role == "row" else 5.0,
            )
        )
    return lines, found


def _is_header(node: _Element) -> bool:
    return (
        node.role == "row"
        and bool(node.children)
        and all(child.role == "columnheader" for child in node.children)
    )


def _headers_above(nodes: Sequence[_Element]) -> dict[int, list[str]]:
    """Return for each row the columns of its table, whose names often stand in a group of rows of their own."""
    named: dict[int, list[str]] = {}
    for table in nodes:
        if table.role in ("table", "grid", "treegrid"):
            rows = [node for node in table.all() if node.role == "row"]
            names = [cell.text() for cell in rows[0].children] if rows and _is_header(rows[0]) else []
            named.update((id(row), names) for row in rows if names)
    return named


def _block(element: _Element, names: list[str]) -> LikeBlock:
    leaves: list[BlockLeaf] = []
    cells = [child for child in element.children if child.role in ("cell", "gridcell", "rowheader")]
    for at, cell in enumerate(cells):
        controls = [
            node for node in cell.all() if node.role in ("button", "link", "checkbox", "switch", "combobox")
        ]
        leaves += [_control(node) for node in controls if node.name or node.role != "link"]
        if not any(node.role == "button" for node in controls):
            leaves.append(
                BlockLeaf(
                    names[at] if at < len(names) and names[at] else f"column {at + 1}", cell.text(), cell.line
                )
            )
    if not cells:
        for node in element.all():
            if node.role in ("button", "checkbox", "switch"):
                leaves.append(_control(node))
            elif node is not element and not node.children and (shown := node.text()):
                leaves.append(BlockLeaf(node.role, shown[:120], node.line))
    if "disabled" in element.states:
        leaves.append(BlockLeaf("disabled", "true", element.line))
    label = (
        next(
            (leaf.value for leaf in leaves if leaf.value and leaf.value not in ("enabled", "disabled")),
            element.text(),
        )
        or element.role
    )
    return LikeBlock(f"{brief(label, 50)}{element.at}", element.line, leaves)


def _control(node: _Element) -> BlockLeaf:
    state = "disabled" if "disabled" in node.states else "checked" if "checked" in node.states else "enabled"
    return BlockLeaf(
        f"{node.role} {brief(node.text(), 30)}".replace(".", " ") if node.role == "button" else node.role,
        state,
        node.line,
    )


def _alarms(nodes: Sequence[_Element]) -> Iterator[Finding]:
    told: set[str] = set()
    for node in nodes:
        if node.role in _ALARMS:
            text = brief(node.text() or " ".join(one.name for one in node.all() if one.name), 160)
            score = MUST_SEE - 1 if node.role != "dialog" else WORTH_A_LOOK
        elif node.role in (
            "text",
            "StaticText",
            "paragraph",
            "status",
            "generic",
            "strong",
        ) and _TROUBLE.search(node.name or node.value):
            text, score = brief(_CALM.sub("", node.name or node.value), 160), WORTH_A_LOOK
            text = text if _TROUBLE.search(text) and len(node.name or node.value) < 200 else ""
        else:
            continue
        if text and text not in told and len(told) < 10:
            told.add(text)
            yield Finding(
                node.line, score, f"{node.role if node.role in _ALARMS else 'text'}: {text}{node.at}"
            )


def _dangers(nodes: Sequence[_Element]) -> Iterator[Finding]:
    named: defaultdict[str, list[_Element]] = defaultdict(list)
    for node in nodes:
        if node.role in ("button", "link", "menuitem") and _DANGER.search(node.name) and len(node.name) < 60:
            named[node.name].append(node)
    for name, same in named.items():
        if len(same) <= 2 and len(named) <= 6:
            yield Finding(same[0].line, SLIGHTLY_ODD + 2, f"{same[0].role} “{brief(name, 60)}”{same[0].at}")


def _odd_fields(nodes: Sequence[_Element]) -> Iterator[Finding]:
    fields = [node for node in nodes if node.role in _FIELDS]
    for node in fields:
        if node.states.get("invalid", "false") != "false" or (
            "invalid" in node.states and not node.states["invalid"]
        ):
            yield Finding(
                node.line, WORTH_A_LOOK + 1, f"{node.role} “{brief(node.name, 60)}” is invalid{node.at}"
            )
    off = [node for node in nodes if "disabled" in node.states and node.role in ("button", *_FIELDS)]
    if 0 < len(off) <= 3 and len(off) * 4 <= len(
        [node for node in nodes if node.role in ("button", *_FIELDS)]
    ):
        for node in off:
            yield Finding(
                node.line, SLIGHTLY_ODD + 1, f"{node.role} “{brief(node.text(), 60)}” is disabled{node.at}"
            )


DETECTOR = Detector("accessibility tree", recognise, survey, has_end=False)
