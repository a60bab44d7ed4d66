"""Read YAML, TOML, INI, properties and .env into a tree with line numbers: tolerant, in one pass, without types."""

import re
from dataclasses import dataclass, field
from typing import Final

_KEY: Final = re.compile(r"""("[^"]{0,200}"|'[^']{0,200}'|[^\s"'#{\[,][^:#]{0,200}?)\s*:(?:\s+|\Z)""")
_ODD_KEY: Final = re.compile(r"[^\s#{\[,]{1,200}?:(?:\s+|\Z)")
_BLOCK: Final = re.compile(r"(?:[!&]\S+ )?[|>][-+\d]{0,2}(?:\s+#.*)?\Z")
_PAIR: Final = re.compile(
    r"""(?:export )?("[^"]{0,200}"|'[^']{0,200}'|[\w.$@/*\[\]-]{1,200})\s*([=:])\s*(.*)"""
)
_SECTION: Final = re.compile(r"\[\[?([^\[\]]{1,200})\]\]?\s*(?:[#;].*)?\Z")
_NULL: Final = frozenset(("", "~", "null", "{}", "[]"))


@dataclass(slots=True, eq=False)
class SettingNode:
    key: str
    """Empty for an item of a list."""
    line: int
    indent: int = -1
    value: str | None = None
    """As written, without a comment; None if there are children or nothing."""
    end: int = 0
    children: "list[SettingNode]" = field(default_factory=list["SettingNode"])
    is_item: bool = False

    def child(self, key: str) -> "SettingNode | None":
        return next((one for one in self.children if one.key == key), None)

    def text_at(self, *keys: str) -> str:
        """Return the value under these keys without quotes, or nothing."""
        node: SettingNode | None = self
        for key in keys:
            node = node.child(key) if node else None
        return unquote(node.value) if node and node.value else ""


@dataclass(slots=True)
class SettingTree:
    documents: list[SettingNode]
    faults: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    """Lines whose indentation is wrong."""


def unquote(value: str) -> str:
    if len(value) > 1 and value[0] in "\"'" and value[-1] == value[0]:
        return value[1:-1]
    return value


def without_comment(value: str, marks: str = "#") -> str:
    """Cut a comment that follows white space, but not inside of quotes."""
    if value.isalnum():
        return value
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        return value[: end + 1] if end > 0 and value[end + 1 : end + 2] in ("", " ", ",") else value.rstrip()
    for mark in marks:
        at = value.find(mark)
        if at == 0:
            return ""
        while at > 0:
            if value[at - 1] in " \t":
                value = value[:at]
                break
            at = value.find(mark, at + 1)
    return value.rstrip()


def _split(rest: str) -> tuple[str, str]:
    """Return key and value of a line of YAML; no key if it has none."""
    key, mark, value = rest.partition(": ")
    if not mark and rest[-1] == ":":
        key = rest[:-1]
    if key.isidentifier() and (mark or rest[-1] == ":"):
        return key, value.lstrip(" ")  # nearly all keys: no pattern is needed
    found = _KEY.match(rest) or _ODD_KEY.match(rest)
    return (unquote(found[0].rstrip().removesuffix(":").rstrip()), rest[found.end() :]) if found else ("", "")


class _YamlReader:
    def __init__(self) -> None:
        self.tree = SettingTree([])
        self._stack: list[SettingNode] = []
        self._skip_deeper_than = -1
        """The indentation of a key whose text stands below it."""

    def read(self, lines: list[str]) -> SettingTree:
        for number, line in enumerate(lines, 1):
            rest = line.lstrip(" ")
            indent = len(line) - len(rest)
            if not rest or rest.isspace() or (self._skip_deeper_than >= 0 and self._is_text(indent)):
                continue
            if rest[0] in "#%" and not rest.startswith("%{"):
                continue
            if not indent and rest.startswith(("---", "...")):
                self._end(number - 1)
                continue
            if rest[0] == "\t":
                self.tree.faults.append((number, "a tab in the indentation"))
                rest = rest.lstrip()
            self._entry(number, indent, rest)
        self._end(len(lines))
        return self.tree

    def _is_text(self, indent: int) -> bool:
        if indent > self._skip_deeper_than:
            return True
        self._skip_deeper_than = -1
        return False

    def _entry(self, number: int, indent: int, rest: str) -> None:
        if not self._stack:
            self._stack.append(SettingNode("", number))
            self.tree.documents.append(self._stack[0])
        while rest.startswith("- ") or rest == "-":
            self._push(SettingNode("", number, indent, is_item=True))
            inner = rest[1:].lstrip(" ")
            indent, rest = indent + len(rest) - len(inner), inner
        if not rest:
            return
        key, value = _split(rest)
        if not key:
            top = self._stack[-1]
            if top.is_item and top.value is None and not top.children and top.line == number:
                top.value = without_comment(rest)
                self._begin_text(top, top.indent)
            return
        node = SettingNode(key, number, indent, without_comment(value) or None if value else None)
        self._push(node)
        if value and value[0] in "|>\"'!&":
            self._begin_text(node, indent)

    def _begin_text(self, node: SettingNode, indent: int) -> None:
        value = node.value
        if value and (_BLOCK.match(value) or (value[0] in "\"'" and value.find(value[0], 1) < 0)):
            self._skip_deeper_than = indent

    def _push(self, node: SettingNode) -> None:
        stack, popped = self._stack, None
        while len(stack) > 1:
            top = stack[-1]
            if top.indent < node.indent or (top.indent == node.indent and node.is_item and not top.is_item):
                break
            popped = stack.pop()
            popped.end = node.line - 1
        parent = stack[-1]
        siblings = parent.children
        if (
            popped
            and siblings
            and siblings[-1].indent != node.indent
            and not (node.is_item or parent.is_item)
        ):
            self.tree.faults.append((node.line, f"indentation of {node.indent} fits no key above it"))
        siblings.append(node)
        stack.append(node)

    def _end(self, line: int) -> None:
        for node in self._stack:
            node.end = line
        self._stack = []
        self._skip_deeper_than = -1


def read_yaml(lines: list[str]) -> SettingTree:
    return _YamlReader().read(lines)


def read_pairs(lines: list[str]) -> SettingTree:
    """Read `[sections]` and `key = value`: TOML, INI, properties, .env."""
    root = SettingNode("", 1, end=len(lines))
    section, closing, depth = root, "", 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if closing:
            closing = "" if closing in text else closing
            continue
        if depth > 0:
            depth += _depth(text)
            continue
        if not text or text[0] in "#;!":
            continue
        header = _SECTION.match(text)
        if header:
            section.end = number - 1 if section is not root else section.end
            section = SettingNode(header[1].strip(), number, is_item=text.startswith("[["))
            root.children.append(section)
            continue
        pair = _PAIR.match(text)
        if pair:
            value = without_comment(pair[3], "#;") if pair[3][:1] not in "[{" else pair[3]
            section.children.append(SettingNode(unquote(pair[1]), number, 0, value or None, number))
            closing = next(
                (mark for mark in ('"""', "'''") if value.startswith(mark) and value.count(mark) == 1), ""
            )
            depth = _depth(value) if value[:1] in ("[", "{") else 0
    section.end = len(lines)
    return SettingTree([root])


def _depth(text: str) -> int:
    return text.count("[") + text.count("{") - text.count("]") - text.count("}")


def is_null(value: str | None) -> bool:
    return value is None or value.lower() in _NULL
