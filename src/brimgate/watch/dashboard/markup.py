"""Write HTML whose texts cannot be anything but text: names and values come from servers and clients."""

from collections.abc import Iterable
from html import escape
from typing import Final

_VOID: Final = frozenset(("br", "hr", "img", "input", "link", "meta"))


class Markup(str):
    """HTML that is written as it is. Every other text is escaped."""

    __slots__ = ()


Child = str | int | None | Iterable["Child"]
Attribute = str | int | bool | None


def element(tag: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Write an element. `class_` stands for class, `aria_label` for aria-label; None and False leave one out."""
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{written}>")
    return Markup(f"<{tag}{written}>{joined(children)}</{tag}>")


def joined(children: Iterable[Child]) -> Markup:
    return Markup("".join(map(_text, children)))


def _text(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Markup):
        return child
    if isinstance(child, str | int):
        return escape(_sendable(str(child)))
    return joined(child)


def _attribute(key: str, value: Attribute) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{escape(_sendable(str(value)))}"'


def _sendable(text: str) -> str:
    """Return a text as it can be sent, and read in one direction only: nothing in it may turn or hide what follows."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in "\n\t" or one.isprintable() else f"\\u{ord(one):04x}" for one in text)
