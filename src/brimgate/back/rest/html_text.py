"""Write HTML as plain text, in the manner of Markdown, and plain text as HTML.

By hand, because it is little: what editors of notes and tasks write is paragraphs, lists, check boxes, links, code and
tables. The parser of the standard library takes four times as long, and libraries for Markdown drag in another one.
"""

import html
import re
from typing import Final

_TAG: Final = re.compile(r"<[a-zA-Z/!][^<>]*>")
_TOKEN: Final = re.compile(
    r"<!--.{0,100000}?-->|<(/?)([a-zA-Z][a-zA-Z0-9-]{0,40})((?:[^<>]{0,4000})?)>|<![^<>]{0,4000}>|([^<]+|<)",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(
    r"([a-zA-Z_:][-a-zA-Z0-9_:.]*)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?"
)
_SPACE: Final = re.compile(r"[ \t\r\n\f]+")
_LINES: Final = re.compile(r"\n{3,}")
_HEADINGS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)}
_BLOCKS: Final = frozenset(
    ("p", "div", "ul", "ol", "table", "blockquote", "pre", "section", "article", "figure", *_HEADINGS)
)
_HIDDEN: Final = frozenset(("script", "style", "template", "head"))
_MARKS: Final = {"strong": "**", "b": "**", "em": "*", "i": "*", "s": "~~", "del": "~~"}
_LISTS: Final = ("ul", "ol")
_MOST_NESTED: Final = 20


def looks_like_html(text: str) -> bool:
    """Return whether a text has tags, or characters written as HTML writes them."""
    return _TAG.search(text) is not None or html.unescape(text) != text


def plain_text(text: str) -> str:
    """Return HTML as plain text. A text without tags stays as it is."""
    if not looks_like_html(text):
        return text
    return _Writer().written(text)


def as_html(text: str) -> str:
    """Return plain text as paragraphs of HTML. HTML stays as it is."""
    if _TAG.search(text):
        return text
    paragraphs = [part.strip("\n") for part in re.split(r"\n\s*\n", text)]
    written = [html.escape(part, quote=False).replace("\n", "<br>") for part in paragraphs if part.strip()]
    return "".join(f"<p>{part}</p>" for part in written)


def _attributes(text: str) -> dict[str, str]:
    found = _ATTRIBUTE.findall(text)
    return {name.lower(): html.unescape(double or single or bare) for name, double, single, bare in found}


class _Writer:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._lists: list[int | None] = []
        """The number of the next item of each list we are in; None for one without numbers."""
        self._links: list[str] = []
        self._hidden = 0
        self._code = 0
        self._is_new_item = False
        self._has_box = False

    def written(self, text: str) -> str:
        """Return HTML as text."""
        for found in _TOKEN.finditer(text):
            closing, name, attributes, data = found.groups()
            if data is not None:
                self._add(html.unescape(data) if "&" in data else data)
            elif name is None:
                continue  # a comment
            elif closing:
                self._end(name.lower())
            else:
                self._begin(name.lower(), _attributes(attributes) if attributes else {})
        lines = [line.rstrip() for line in "".join(self._parts).split("\n")]
        return _LINES.sub("\n\n", "\n".join(lines)).strip("\n")

    def _begin(self, tag: str, given: dict[str, str]) -> None:
        if tag in _HIDDEN:
            self._hidden += 1
        elif tag in _BLOCKS:
            self._begin_block(tag)
        elif tag == "li":
            self._begin_item(given)
        elif tag == "a":
            self._links.append(given.get("href", ""))
        elif tag == "img":
            self._write(f"![{given.get('alt', '')}]({given.get('src', '')[:200]})")
        elif tag == "input" and given.get("type") == "checkbox":
            self._check_box("checked" in given)
        else:
            self._begin_inline(tag, given)

    def _begin_inline(self, tag: str, given: dict[str, str]) -> None:
        if tag == "br":
            self._parts.append("\n" + self._margin)
        elif tag == "hr":
            self._break(2)
            self._parts.append("---")
            self._break(2)
        elif tag == "tr":
            self._break(1)
        elif tag in ("td", "th"):
            self._write("| ")
        elif tag == "code" and not self._code:
            self._write("`")
        elif tag in _MARKS:
            self._write(_MARKS[tag])
        elif tag.startswith("mention"):
            self._write(f"@{given.get('data-label') or given.get('data-id', '')}")
            self._hidden += 1

    def _begin_block(self, tag: str) -> None:
        if tag in _LISTS:
            self._break(1 if self._lists else 2)
            self._lists.append(1 if tag == "ol" else None)
        elif not self._is_new_item:
            self._break(1 if self._lists else 2)
        if tag == "pre":
            self._code += 1
            self._parts.append("```\n")
        elif tag == "blockquote":
            self._parts.append("> ")
        else:
            self._parts.append(_HEADINGS.get(tag, ""))

    def _begin_item(self, given: dict[str, str]) -> None:
        self._break(1)
        number = self._lists[-1] if self._lists else None
        mark = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1
        self._parts.append(f"{self._margin[2:]}{mark}")
        self._is_new_item, self._has_box = True, False
        if "data-checked" in given:
            self._check_box(given["data-checked"] == "true")

    def _check_box(self, is_checked: bool) -> None:  # a box has nothing else
        """Write a check box. Editors write it twice: as an attribute of the item, and as an input."""
        if not self._has_box and not self._hidden:
            self._parts.append("[x] " if is_checked else "[ ] ")
            self._has_box = True

    def _end(self, tag: str) -> None:
        if tag in _HIDDEN or tag.startswith("mention"):
            self._hidden = max(self._hidden - 1, 0)
        elif tag == "a" and self._links:
            link = self._links.pop()
            if link and link not in "".join(self._parts[-3:]):
                self._write(f" ({link})")
        elif tag == "code" and not self._code:
            self._write("`")
        elif tag in _MARKS:
            self._write(_MARKS[tag])
        elif tag in ("td", "th"):
            self._write(" ")
        elif tag in _BLOCKS:
            self._end_block(tag)

    def _end_block(self, tag: str) -> None:
        if tag == "pre":
            self._code = max(self._code - 1, 0)
            self._break(1)
            self._parts.append("```")
        if tag in _LISTS and self._lists:
            self._lists.pop()
        self._break(1 if self._lists else 2)

    def _add(self, data: str) -> None:
        if self._hidden:
            return
        if self._code:
            self._parts.append(data)
            return
        flat = _SPACE.sub(" ", data)
        if flat == " " and (not self._parts or self._parts[-1].endswith(("\n", " "))):
            return
        self._write(flat.lstrip(" ") if self._is_at_start else flat)

    def _write(self, text: str) -> None:
        if text and not self._hidden:
            self._parts.append(text)
            self._is_new_item = False

    @property
    def _is_at_start(self) -> bool:
        return not self._parts or self._parts[-1].endswith("\n")

    @property
    def _margin(self) -> str:
        return "  " * min(len(self._lists), _MOST_NESTED)

    def _break(self, lines: int) -> None:
        """End the line, and leave one free if there are to be two."""
        self._is_new_item = self._has_box = False
        end = "".join(self._parts[-2:])
        if end:
            self._parts.append("\n" * max(lines - (len(end) - len(end.rstrip("\n"))), 0))
