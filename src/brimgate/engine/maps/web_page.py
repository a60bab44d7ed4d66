"""Survey pages and other markup: HTML with its headings, forms and tables, JUnit reports, feeds, sitemaps, POM files."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.credentials_scan import find_secrets, masked_random
from brimgate.engine.maps.like_blocks import BlockLeaf, Comparison, LikeBlock
from brimgate.engine.maps.line_search import per_line, shortened
from brimgate.engine.maps.markup_tree import MAX_NODES, MarkupNode, MarkupReader
from brimgate.engine.maps.phrases import brief, count, places, seconds, tally
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_HTML_START: Final = re.compile(r"\s*+(?:<!doctype html|<html\b|<head\b|<body\b)", re.IGNORECASE)
_XML_START: Final = re.compile(r"\s*+<(?:\?xml\b|testsuites?\b|rss\b|urlset\b|project\b|feed\b|svg\b)")
_HTML_TAG: Final = re.compile(
    r"<(?:div|p|span|a|ul|li|table|tr|td|form|input|section|main|nav|h[1-6]|button|script)\b", re.IGNORECASE
)
_LANDMARKS: Final = frozenset(("main", "nav", "header", "footer", "aside", "form", "dialog"))
_FIELDS: Final = frozenset(("input", "select", "textarea", "button"))
_HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_COUNTED: Final = {
    "a": "link",
    "form": "form",
    "table": "table",
    "img": "image",
    "script": "script",
    "iframe": "iframe",
}
_ALARM_CLASS: Final = re.compile(
    r"""\brole\s?=\s?["']?alert\b|\bclass\s?=\s?["'][^"']{0,120}?(?<![\w-])(?:alert|error|errors|danger|invalid-feedback|alert-danger|flash-error|error-message|warning)(?![\w])"""
)
_ODD_COMMENT: Final = re.compile(
    r"(?i)\b(?:todo|fixme|hack|xxx|password|passwd|secret|token|debug|internal|remove before|do not ship|admin"
    r"|backdoor|credentials?)\b"
)
_HIDDEN: Final = re.compile(r"(?i)(?:price|amount|role|admin|debug|discount|total|is_\w+|permission|credit)")
_NAMES: Final = frozenset(("artifactId", "name", "title", "loc", "id", "key"))
_TELLING: Final = re.compile(
    r"(?i) (?:lacks|alone has) .{0,60}(?:button|input|price|status|badge|stock|disabled|error|warning|sale)"
)
_MIN_REPEATED: Final = 5
_MAX_GROUPS: Final = 6
_CUT: Final = 2_000
"""Longer lines come cut; what was in the rest of them was not looked at."""


def recognise(text: TextLines) -> float:
    first = next((line for line in text.sample if line.strip()), "")
    head = "\n".join(text.sample[:5])
    if _HTML_START.match(first) or _HTML_START.search(head):
        return 0.95
    if _XML_START.match(first):
        return 0.93
    if not first.lstrip().startswith("<") or first.startswith("<?php"):
        return 0.0
    lines = [line for line in text.sample if line.strip()]
    marked = sum(1 for line in lines if line.lstrip()[0] == "<" or line.rstrip()[-1] == ">")
    share = marked / len(lines)
    return min(0.85, share) if share > 0.4 and "</" in "".join(lines[:50]) + lines[-1] else 0.0


def survey(text: TextLines) -> Survey:
    head = "\n".join(text.sample[:60])
    is_html = bool(_HTML_START.search(head)) or (not _XML_START.match(head) and bool(_HTML_TAG.search(head)))
    reader = MarkupReader(text.lines, is_html=is_html)
    root = reader.read()
    nodes = list(root.all())
    is_whole = reader.is_whole and all(len(line) < _CUT for line in text.lines)
    found = list(find_secrets(text.lines))
    if is_html:
        return _page(text, nodes, reader.comments, found, is_whole=is_whole)
    if any(node.tag == "testcase" for node in nodes):
        return _test_report(nodes, found, is_whole=is_whole)
    lines, odd = _repeated(nodes, is_html=False)
    tops = Counter(node.tag for node in nodes if node.tag)
    name = next((node.tag for node in root.children if node.tag), "")
    title = f"XML <{name}>: {count(len(text.lines), 'line')}, elements {tally(tops, 10)}"
    return Survey(
        title, [*_xml_top(root), *lines], per_line([*found, *odd, *_odd_comments(reader.comments)]), is_whole
    )


def _page(
    text: TextLines,
    nodes: list[MarkupNode],
    comments: list[tuple[int, str]],
    found: list[Finding],
    *,
    is_whole: bool,
) -> Survey:
    lines, odd = _repeated(nodes, is_html=True)
    found += [*odd, *_odd_comments(comments), *_alarms(nodes), *_same_ids(nodes), *_odd_links(nodes)]
    found += _odd_fields(nodes)
    title = next((node.text for node in nodes if node.tag == "title" and node.text), "")
    counts = Counter(node.tag for node in nodes)
    parts = [count(len(text.lines), "line")]
    parts += [f"of the first {MAX_NODES:,} elements"] if len(nodes) > MAX_NODES else []
    parts += [count(counts[tag], noun) for tag, noun in _COUNTED.items() if counts[tag]]
    told = f"HTML page “{brief(title, 80)}”: " if title else "HTML: "
    map_lines = [*_headings(nodes), *_landmarks(nodes), *_forms(nodes), *lines, *_meta(nodes)]
    return Survey(told + ", ".join(parts), map_lines, per_line(found), is_whole)


def _headings(nodes: Sequence[MarkupNode]) -> Iterator[MapLine]:
    """Write all headings, or those of the first two levels if there are many."""
    headings = [
        (node.tag, f"{node.tag} {title} {node.line}")
        for node in nodes
        if node.tag in _HEADINGS and (title := brief(node.full_text(), 60))
    ]
    if headings:
        levels = sorted({level for level, _ in headings})[: 6 if len(headings) <= 40 else 2]
        shown = [text for level, text in headings if level in levels]
        deeper = f" (+{len(headings) - len(shown)} below)" if len(headings) > len(shown) else ""
        yield MapLine(f"headings {shortened(shown, 50)}{deeper}", 9.0)


def _landmarks(nodes: Sequence[MarkupNode]) -> Iterator[MapLine]:
    marks = [
        node
        for node in nodes
        if node.tag in _LANDMARKS or (node.tag in ("section", "article") and _name(node))
    ]
    if marks:
        shown = [f"{node.tag}{_name(node)} {node.line}-{node.end}" for node in marks]
        yield MapLine(f"parts {shortened(shown, 20)}", 5.0)


def _name(node: MarkupNode) -> str:
    attributes = node.attributes()
    name = attributes.get("id") or attributes.get("aria-label") or attributes.get("name") or ""
    return f" {brief(name, 30)}" if name else ""


def _forms(nodes: Sequence[MarkupNode]) -> Iterator[MapLine]:
    for form in [node for node in nodes if node.tag == "form"][:8]:
        attributes = form.attributes()
        fields = [_field(node) for node in form.all() if node.tag in _FIELDS]
        told = [field for field in fields if field][:24]
        method = attributes.get("method", "get").upper()
        yield MapLine(
            (
                f"form{_name(form)} {form.line}-{form.end} {method} {brief(attributes.get('action', '(this page)'), 60)}:"
                f" {', '.join(told)}"
            ),
            7.0,
        )


def _field(node: MarkupNode) -> str:
    attributes = node.attributes()
    kind = attributes.get("type", node.tag if node.tag != "input" else "text")
    name = attributes.get("name") or attributes.get("id") or brief(node.full_text(), 20)
    states = [state for state in ("required", "disabled", "readonly", "checked") if state in attributes]
    return f"{name} ({' '.join([kind, *states])})" if name else ""


def _meta(nodes: Sequence[MarkupNode]) -> Iterator[MapLine]:
    told: list[str] = []
    for node in nodes:
        if node.tag not in ("meta", "link", "html"):
            continue
        attributes = node.attributes()
        if attributes.get("name") in ("robots", "description", "generator"):
            told.append(f"{attributes['name']} {brief(attributes.get('content', ''), 100)}")
        elif attributes.get("rel") == "canonical":
            told.append(f"canonical {brief(attributes.get('href', ''), 100)}")
    if told:
        yield MapLine("meta " + ", ".join(told[:5]), 2.5)


def _repeated(nodes: Sequence[MarkupNode], *, is_html: bool) -> tuple[list[MapLine], list[Finding]]:
    """Compare elements of one kind below one parent: rows of a table, cards, items of a feed."""
    groups = [group for node in nodes if len(node.children) >= _MIN_REPEATED for group in _groups(node)]
    groups.sort(key=lambda one: -len(one[2]))
    columns = _columns(nodes)
    lines, found = list[MapLine](), list[Finding]()
    for parent, key, same in groups[:_MAX_GROUPS]:
        headers = columns.get(id(parent), [])
        blocks = [_block(node, headers, is_html=is_html) for node in same]
        if is_html and key != "tr" and not _are_cards(blocks):
            continue
        comparison = Comparison(blocks)
        found += [one for one in comparison.findings() if not is_html or _is_telling(one.text)]
        told = f" ({', '.join(headers[:12])})" if headers else ""
        name, table = "table rows" if key == "tr" else f"<{key}>", comparison.table(6)
        text = f"{len(same)} {name} {same[0].line}-{same[-1].end}{told}{': ' + table if table else ''}"
        lines.append(MapLine(text, 6.0 if key == "tr" else 4.0))
    return lines, found


def _groups(node: MarkupNode) -> Iterator[tuple[MarkupNode, str, list[MarkupNode]]]:
    by_key: defaultdict[str, list[MarkupNode]] = defaultdict(list)
    if node.tag in ("tr", "head", "select"):
        return
    for child in node.children:
        if child.children and all(cell.tag == "th" for cell in child.children):
            continue  # the names of the columns
        by_key[child.tag if child.tag in ("tr", "li") else child.key].append(child)
    for key, same in by_key.items():
        if len(same) >= _MIN_REPEATED and any(one.children or one.raw for one in same):
            yield node, key, same


def _is_telling(text: str) -> bool:
    """Return whether a part that an element lacks or alone has says something; most parts of pages only shape it."""
    return not (" lacks " in text or " alone has " in text) or _TELLING.search(text) is not None


def _columns(nodes: Sequence[MarkupNode]) -> dict[int, list[str]]:
    """Return the names of the columns of each table, for what holds its rows."""
    named: dict[int, list[str]] = {}
    for table in nodes:
        if table.tag == "table":
            first = next((node for node in table.all() if node.tag == "tr"), None)
            cells = first.children if first else []
            if cells and all(cell.tag == "th" for cell in cells):
                headers = [brief(cell.full_text(), 30) for cell in cells]
                named.update((id(node), headers) for node in [table, *table.children])
    return named


def _are_cards(blocks: list[LikeBlock]) -> bool:
    """Return whether most have several parts in common; a list of links or notes has not."""
    having = Counter(path for block in blocks for path in {leaf.path for leaf in block.leaves})
    return sum(1 for number in having.values() if number * 5 >= len(blocks) * 4) >= 3


def _block(node: MarkupNode, headers: list[str], *, is_html: bool) -> LikeBlock:
    leaves: list[BlockLeaf] = []
    cells = [child for child in node.children if child.tag in ("td", "th")]
    if cells:
        for at, cell in enumerate(cells):
            leaves.append(
                BlockLeaf(
                    headers[at] if at < len(headers) and headers[at] else f"column {at + 1}",
                    _tidy(cell.full_text()),
                    cell.line,
                )
            )
    else:
        for child in node.all():
            leaves.extend(_parts(child, is_html=is_html))
    label = next((leaf.value for leaf in leaves if leaf.path in _NAMES and leaf.value), "")
    label = label or next((leaf.value for leaf in leaves if leaf.value), f"row at {node.line}")
    return LikeBlock(brief(label, 50), node.line, leaves)


def _parts(node: MarkupNode, *, is_html: bool) -> Iterator[BlockLeaf]:
    if node.text and node.tag not in ("style", "script"):
        yield BlockLeaf(node.key.replace(".", ":") if is_html else node.tag, _tidy(node.text), node.line)
    if not is_html and node.raw:
        yield from (
            BlockLeaf(f"{node.tag} @{name}", value, node.line) for name, value in node.attributes().items()
        )
    elif node.tag in ("button", "input") and "disabled" in node.raw:
        yield BlockLeaf(f"{node.tag} disabled", "true", node.line)


def _tidy(text: str) -> str:
    return " ".join(text.split())[:200]


def _xml_top(root: MarkupNode) -> Iterator[MapLine]:
    top = next((node for node in root.children if node.tag), None)
    if top and len({child.tag for child in top.children}) > 1 and len(top.children) <= 60:
        yield MapLine(
            ", ".join(
                f"{child.tag} {child.line}-{child.end}"
                if child.end > child.line
                else f"{child.tag} {child.line}"
                for child in top.children
            ),
            8.0,
        )


def _odd_comments(comments: list[tuple[int, str]]) -> Iterator[Finding]:
    odd = [(line, text) for line, text in comments if _ODD_COMMENT.search(text[:500])]
    for line, text in odd[:5]:
        yield Finding(line, WORTH_A_LOOK - 1, f"comment: {masked_random(brief(text, 140))}")


def _alarms(nodes: Sequence[MarkupNode]) -> Iterator[Finding]:
    told: set[str] = set()
    for node in nodes:
        if (
            "alert" in node.raw or "error" in node.raw or "danger" in node.raw or "warning" in node.raw
        ) and _ALARM_CLASS.search(node.raw):
            text = brief(node.full_text(), 160)
            if (
                len(text) > 3
                and text not in told
                and len(told) < 6
                and "display:none" not in node.raw.replace(" ", "")
            ):
                told.add(text)
                yield Finding(node.line, WORTH_A_LOOK + 2, f"alert: {text}")


def _same_ids(nodes: Sequence[MarkupNode]) -> Iterator[Finding]:
    seen: defaultdict[str, list[int]] = defaultdict(list)
    for node in nodes:
        if "id=" in node.raw and (name := node.attributes().get("id")):
            seen[name].append(node.line)
    twice = {name: lines for name, lines in seen.items() if len(lines) > 1}
    if len(twice) <= 3:
        for name, lines in twice.items():
            yield Finding(
                lines[1],
                SLIGHTLY_ODD + 1,
                f"id {brief(name, 50)} ×{len(lines)}, also at {places([lines[0], *lines[2:]], 4)}",
            )
    else:
        yield Finding(
            min(lines[1] for lines in twice.values()),
            SLIGHTLY_ODD,
            f"{len(twice)} ids are used more than once: {', '.join(list(twice)[:5])}",
        )


def _odd_links(nodes: Sequence[MarkupNode]) -> Iterator[Finding]:
    hosts: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    own = ""
    for node in nodes:
        if node.tag not in ("a", "form", "link", "iframe", "script"):
            continue
        attributes = node.attributes()
        target = attributes.get("href") or attributes.get("action") or attributes.get("src") or ""
        own = own or (_host(target) if attributes.get("rel") == "canonical" else "")
        if _host(target) and node.tag != "link":
            hosts[_host(target)].append((node.line, target))
        if node.tag == "form" and own and _host(target) and _host(target) != own:
            yield Finding(node.line, WORTH_A_LOOK + 1, f"form is sent to another host: {brief(target, 80)}")
    others = {host: links for host, links in hosts.items() if host != own}
    total = sum(map(len, hosts.values())) + sum(1 for node in nodes if node.tag == "a")
    if total >= 20 and 0 < len(others) <= 3:
        for host, links in others.items():
            if len(links) == 1:
                yield Finding(links[0][0], SLIGHTLY_ODD, f"the only link to {host}: {brief(links[0][1], 80)}")
    for host, links in others.items():
        if re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|.*xn--.*", host) and not host.startswith(
            ("127.", "10.", "192.168.")
        ):
            yield Finding(links[0][0], WORTH_A_LOOK, f"link to {brief(links[0][1], 80)}")


def _host(target: str) -> str:
    found = re.match(r"(?:https?:)?//([^/\s?#]{1,200})", target)
    return found[1].lower() if found else ""


def _odd_fields(nodes: Sequence[MarkupNode]) -> Iterator[Finding]:
    for node in nodes:
        if node.tag == "input" and "hidden" in node.raw:
            attributes = node.attributes()
            name = attributes.get("name", "")
            if attributes.get("type") == "hidden" and _HIDDEN.fullmatch(
                name.rpartition("_")[2] if "_" in name and not name.startswith("is_") else name
            ):
                yield Finding(
                    node.line,
                    SLIGHTLY_ODD + 3,
                    f"hidden field {name} = {brief(attributes.get('value', ''), 60)}",
                )
        elif node.tag == "form" and "password" in (
            inside := " ".join(one.raw for one in node.all() if one.tag == "input")
        ):
            attributes = node.attributes()
            if (
                'type="password"' in inside
                and attributes.get("method", "get").lower() == "get"
                and attributes.get("action")
            ):
                yield Finding(node.line, WORTH_A_LOOK, "form with a password is sent by GET")
            if attributes.get("action", "").startswith("http://"):
                yield Finding(node.line, WORTH_A_LOOK + 1, "form with a password is sent without TLS")


def _test_report(nodes: Sequence[MarkupNode], found: list[Finding], *, is_whole: bool) -> Survey:
    cases = [node for node in nodes if node.tag == "testcase"]
    results: Counter[str] = Counter()
    slow: list[tuple[float, MarkupNode]] = []
    for case in cases:
        kinds = [child for child in case.children if child.tag in ("failure", "error", "skipped")]
        results[kinds[0].tag if kinds else "passed"] += 1
        attributes = case.attributes()
        slow.append((_number(attributes.get("time", "")), case))
        for child in kinds:
            if child.tag != "skipped":
                message = child.attributes().get("message") or child.text
                found.append(
                    Finding(
                        case.line,
                        MUST_SEE,
                        f"{child.tag}: {attributes.get('classname', '')}.{attributes.get('name', '')}: {brief(message, 160)}",
                    )
                )
    names = {"failure": "failed", "error": "with an error", "skipped": "skipped", "passed": "passed"}
    shown = ", ".join(f"{results[kind]:,} {name}" for kind, name in names.items() if results[kind])
    lasted = sum(time for time, _ in slow)
    suites = [node for node in nodes if node.tag == "testsuite"]
    title = f"JUnit report: {count(len(cases), 'test')} in {count(len(suites), 'suite')}: {shown}, {seconds(lasted)}"
    return Survey(title, [*_suites(suites), *_slowest(slow)], per_line(found), is_whole)


def _suites(suites: Sequence[MarkupNode]) -> Iterator[MapLine]:
    shown: list[tuple[int, str]] = []
    for suite in suites:
        attributes = suite.attributes()
        bad = sum(1 for node in suite.all() if node.tag in ("failure", "error"))
        cases = sum(1 for node in suite.all() if node.tag == "testcase")
        shown.append(
            (
                bad,
                f"{attributes.get('name', '')} {suite.line}-{suite.end} {cases}"
                + (f" ({bad} failed)" if bad else ""),
            )
        )
    shown.sort(key=lambda one: -one[0])
    yield MapLine(
        "suites "
        + ", ".join(text for _, text in shown[:20])
        + (f", … {len(shown) - 20} more" if len(shown) > 20 else ""),
        7.0,
    )


def _slowest(slow: list[tuple[float, MarkupNode]]) -> Iterator[MapLine]:
    slow.sort(key=lambda one: -one[0])
    if slow and slow[0][0] >= 1:
        yield MapLine(
            "slowest "
            + ", ".join(
                f"{node.attributes().get('name', '')} {time:g} s at {node.line}" for time, node in slow[:3]
            ),
            3.0,
        )


def _number(text: str) -> float:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return 0.0


DETECTOR = Detector("web page", recognise, survey, has_end=False)
