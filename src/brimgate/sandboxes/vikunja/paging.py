"""Lists: bare arrays, with two headers that tell the pages, and none that tells how much there is."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.errors import Plain
from brimgate.sandboxes.vikunja.wire import answer_json
from brimgate.sandboxes.wire import Answer

Item = TypeVar("Item")
MOST_PER_PAGE: Final = 50
_MOST_DIGITS: Final = 18


class Page(NamedTuple):
    number: int
    size: int

    def of(self, items: Sequence[Item]) -> Sequence[Item]:
        """Return the items of this page; page 0 is all of them."""
        if self.number < 1:
            return items
        start = self.size * (self.number - 1)
        return items[start : start + self.size]


def page_of(call: Call) -> Page:
    number = _whole(call.parameter("page") or "1", "Bad page requested.")
    if number < 0:
        raise Plain(400, "Page number cannot be negative.")
    size = _whole(call.parameter("per_page") or "0", "Bad per page amount requested.")
    if size < 0:
        raise Plain(400, "Per page amount cannot be negative.")
    return Page(number, min(size or MOST_PER_PAGE, MOST_PER_PAGE))


def _whole(text: str, complaint: str) -> int:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > _MOST_DIGITS:
        raise Plain(400, complaint)
    return int(text)


def answer_page(call: Call, items: Sequence[Item], shape: Callable[[Item], Any]) -> Answer:
    """Answer with the page that was asked for."""
    page = page_of(call)
    shown = page.of(items)
    return answer_items([shape(item) for item in shown], len(shown), len(items), page)


def answer_items(shapes: list[Any] | dict[str, Any], count: int, total: int, page: Page) -> Answer:
    pages = -(-total // page.size) if count else 0
    headers = (
        ("x-pagination-total-pages", str(pages)),
        ("x-pagination-result-count", str(count)),
        ("access-control-expose-headers", "x-pagination-total-pages, x-pagination-result-count"),
    )
    return answer_json(200, shapes, headers)


def answer_whole(call: Call, items: Sequence[Item], shape: Callable[[Item], Any]) -> Answer:
    """Answer with all items, whatever page was asked for: so do views and buckets."""
    return answer_items([shape(item) for item in items], len(items), len(items), page_of(call))
