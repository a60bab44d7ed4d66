"""Read and check what a tool gives out: which part of an answer, and how a list comes in pages."""

from typing import Final, cast

from brimgate.back.rest.model import FoundAt, Order, Paging, Shape, Style, Table
from brimgate.back.rest.parameter_declaration import HEADER
from brimgate.back.rest.section import Section
from brimgate.config.tree import shown

_MOST_SORTED: Final = 10_000


def read_answer(section: Section | None, list_key: str) -> Shape:
    """Read the shape of an answer. `list_key` names lists that have no name of their own."""
    if section is None:
        return Shape()
    table = _table(section.section("table"))
    kinds = [key for key in ("items", "item", "text", "file") if section.has(key)]
    kinds += ["table"] if table else []
    if len(kinds) > 1:
        section.fail("", f"{' and '.join(kinds)} exclude each other")
    is_list = bool(table) or "items" in kinds
    items, item = section.pointer("items", ""), section.pointer("item", "")
    shape = Shape(
        pointer=items or item,
        is_list=is_list,
        is_object="item" in kinds,
        keep=_keep(section.section("keep")),
        name=section.text("as", list_key if is_list else ""),
        fields=section.texts("fields"),
        table=table,
        each=section.text("each", ""),
        is_text=section.flag("text", False),
        is_file=section.flag("file", False),
    )
    section.finish()
    _check_shape(shape, section)
    return shape


def _check_shape(shape: Shape, section: Section) -> None:
    if (shape.is_text or shape.is_file) and (shape.keep or shape.name or shape.fields or shape.each):
        kind = "text" if shape.is_text else "file"
        section.fail(kind, "is given out as it came: keep, as, fields and each have nothing to do")
    if shape.keep and not shape.name:
        section.fail("as", "is missing: what is kept needs a name beside it")
    if shape.name in shape.keep:
        section.fail("keep", f"must not hold {shown(shape.name)}, which is the name of the answer itself")
    if shape.each and not shape.is_list:
        section.fail("each", "needs items")
    if shape.fields and not (shape.is_list or shape.is_object):
        section.fail("fields", "needs items or an item to take them from")


def _keep(section: Section | None) -> dict[str, str]:
    return {} if section is None else {name: section.pointer(name) for name in section.names()}


def _table(section: Section | None) -> Table | None:
    if section is None:
        return None
    table = Table(section.pointer("columns"), section.pointer("rows"), section.text("name", ""))
    section.finish()
    return table


def read_paging(section: Section | None, answer: Shape) -> Paging | None:
    """Read how a list comes in pages."""
    if section is None:
        return None
    if not answer.is_list or answer.each or answer.table:
        section.fail("", "needs an answer with items, and without each")
    style = section.choice("style", ("offset", "page", "cursor"))
    paging = Paging(
        style=cast("Style", style),
        size=section.whole("size", 100, 2, 10_000),
        limit=section.text("limit", "") if style == "cursor" else section.text("limit"),
        at=section.text("parameter" if style == "cursor" else style),
        first=section.whole("first", 1, 0, 1) if style == "page" else 1,
        next=section.pointer("next") if style == "cursor" else "",
        total=_found_at(section, "total"),
        pages=_found_at(section, "pages") if style == "page" else FoundAt(),
        key=section.text("key", ""),
    )
    section.finish()
    if paging.key and answer.fields and paging.key not in answer.fields:
        section.fail("key", "must be one of answer.fields")
    if paging.total and paging.pages:
        section.fail("pages", "and `total` exclude each other")
    return paging


def _found_at(section: Section, key: str) -> FoundAt:
    """Read where a number is: a JSON Pointer, or `{header: NAME}`."""
    value = section.value(key, "")
    if not isinstance(value, dict):
        return FoundAt(pointer=section.checked_pointer(key, value))
    inner = section.inner(key, cast("object", value))
    found = FoundAt(header=inner.text("header", pattern=HEADER).lower())
    inner.finish()
    return found


def read_order(section: Section | None, answer: Shape, paging: Paging | None) -> Order | None:
    """Read the order of a list that the API cannot sort."""
    if section is None:
        return None
    order = Order(section.text("by"), section.whole("most", 500, 1, _MOST_SORTED), section.text("unless", ""))
    section.finish()
    if paging is None or not answer.name or answer.keep:
        section.fail("", "needs paging, and a list with a name (as, or list_key) and nothing beside it")
    if answer.fields and order.by not in answer.fields:
        section.fail("by", "must be one of answer.fields")
    return order
