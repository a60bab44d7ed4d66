"""Read HTML and XML into a light tree with line numbers: tolerant of anything, in a time that grows with the text alone."""

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

_TAG: Final = re.compile(
    r"<(?:(?P<close>/)?(?P<name>[A-Za-z][\w:.-]{0,80})(?P<attributes>(?>(?:[^<>\"']++|\"[^\"]{0,4000}+\"|'[^']{0,4000}+')*))>"
    r"|(?P<comment>!--)|(?P<cdata>!\[CDATA\[)|[!?][^>]{0,2000}+>)"
)
_ATTRIBUTE: Final = re.compile(r"([\w:@.-]{1,80}+)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'>]++)))?")
_CLASS: Final = re.compile(r"\bclass\s{0,3}=\s{0,3}[\"']?\s{0,9}([\w:-]+)")
_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    ]
)
_RAW: Final = frozenset(("script", "style", "textarea", "title", "noscript_"))
_ENDS: Final = {
    "li": ("li",), "tr": ("tr", "td", "th"), "td": ("td", "th"), "th": ("td", "th"), "option": ("option",), "dt": ("dt", "dd"),
    "dd": ("dt", "dd"), "p": ("p",),
}  # fmt: skip
MAX_NODES: Final = 100_000
"""Elements that are read: a megabyte of an ordinary page has 20,000."""
_MAX_DEPTH: Final = 200
_MAX_POPPED: Final = 40


@dataclass(slots=True, eq=False)
class MarkupNode:
    tag: str
    line: int
    raw: str = ""
    """Attributes as written."""
    end: int = 0
    text: str = ""
    """What stands directly in it."""
    children: "list[MarkupNode]" = field(default_factory=list["MarkupNode"])

    @property
    def key(self) -> str:
        """Return the tag with its first class: elements that have it in common are of one kind."""
        found = _CLASS.search(self.raw) if "class" in self.raw else None
        return f"{self.tag}.{found[1]}" if found else self.tag

    def attributes(self) -> dict[str, str]:
        pairs = _ATTRIBUTE.findall(self.raw)
        values = (
            (name.lower(), html.unescape(double or single or bare)) for name, double, single, bare in pairs
        )
        return {name: " ".join(value.split()) for name, value in values}

    def all(self) -> "Iterator[MarkupNode]":
        pending: list[MarkupNode] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children))

    def full_text(self) -> str:
        return " ".join(
            part for node in self.all() if (part := node.text) and node.tag not in ("style", "script")
        )


class MarkupReader:
    def __init__(self, lines: Sequence[str], *, is_html: bool) -> None:
        self._text = "\n".join(lines)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._is_html = is_html
        self.root = MarkupNode("", 1)
        self.comments: list[tuple[int, str]] = []
        self._stack = [self.root]
        self._unclosed: set[str] = set()
        """Tags whose end was looked for in vain: it is not looked for again, which would take long."""
        self.count = 0
        self.is_whole = True

    def read(self) -> MarkupNode:
        text, at = self._text, 0
        while True:
            match = _TAG.search(text, at)
            if match is None or self.count > MAX_NODES:
                self.is_whole = match is None
                break
            if match.start() > at:
                self._add_text(text[at : match.start()])
            at = match.end()
            if match["comment"] or match["cdata"]:
                at = self._special(match["comment"] is not None, match.start(), at)
            elif match["name"]:
                at = self._tag(match, at)
        self._add_text(text[at:])
        for node in self._stack:
            node.end = len(self._starts) - 1
        return self.root

    def _line(self, at: int) -> int:
        return bisect_right(self._starts, at)

    def _add_text(self, text: str) -> None:
        text = text.strip()
        if text:
            top = self._stack[-1]
            text = html.unescape(text) if "&" in text else text
            top.text = f"{top.text} {text}" if top.text else text

    def _special(self, is_comment: bool, start: int, at: int) -> int:
        closing = "-->" if is_comment else "]]>"
        end = self._text.find(closing, at)
        inside = self._text[at:end] if end >= 0 else self._text[at:]
        if is_comment:
            self.comments.append((self._line(start), inside.strip()))
        else:
            self._add_text(inside)
        return end + 3 if end >= 0 else len(self._text)

    def _tag(self, match: re.Match[str], at: int) -> int:
        name = match["name"].lower() if self._is_html else match["name"]
        line = self._line(match.start())
        if match["close"]:
            self._close(name, line)
            return at
        raw = match["attributes"]
        node = MarkupNode(name, line, raw.strip(), line)
        self.count += 1
        if self._is_html:
            self._close_implied(name, line)
        self._stack[-1].children.append(node)
        if raw.endswith("/") or (self._is_html and name in _VOID) or len(self._stack) > _MAX_DEPTH:
            return at
        if self._is_html and name in _RAW:
            return self._raw_text(node, at)
        self._stack.append(node)
        return at

    def _raw_text(self, node: MarkupNode, at: int) -> int:
        if node.tag in self._unclosed:
            return at
        closing = f"</{node.tag}"
        end = self._text.find(closing, at)
        if end < 0:
            end = self._text.find(closing.upper(), at)
        if end < 0:
            self._unclosed.add(node.tag)
        inside = self._text[at:end] if end >= 0 else ""
        node.text = html.unescape(inside.strip()) if node.tag != "script" else inside
        stop = self._text.find(">", end) + 1 if end >= 0 else at
        node.end = self._line(stop - 1) if stop else node.line
        return stop or len(self._text)

    def _close_implied(self, name: str, line: int) -> None:
        ended = _ENDS.get(name, ())
        while len(self._stack) > 1 and self._stack[-1].tag in ended:
            top = self._stack.pop()
            top.end = line
            if top.tag == name:
                break

    def _close(self, name: str, line: int) -> None:
        for back in range(1, min(len(self._stack), _MAX_POPPED)):
            if self._stack[-back].tag == name:
                for node in self._stack[-back:]:
                    node.end = line
                del self._stack[-back:]
                return
