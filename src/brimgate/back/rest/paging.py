"""Walk through a list that comes in pages, and may change while it is read.

No item comes twice, no item that still exists is left out, and items that were inserted before our position are not
shown. With offsets this takes an item that marks our position (the anchor): the last one we saw. Every page is
requested with the anchor as its first item. If the anchor has moved, we search for it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from brimgate.back.rest.model import Paging
from brimgate.errors import UpstreamError

_NO_KEY: Final = (b"", b"null", b'""')
_MOST_SEEKS: Final = 6
_MOST_EMPTY: Final = 3
"""After this many pages in a row without anything new, the list is over."""


class ApiPage(NamedTuple):
    items: list[bytes]
    keys: list[bytes]
    """The keys that identify the items; empty where there are none."""
    total: int | None
    next: str
    """The next cursor."""
    pages: int | None = None
    """The number of all pages."""


Ask = Callable[[Mapping[str, str | int]], Awaitable[ApiPage]]
"""Requests a page with the API's own paging parameters."""


class PageWalk(Protocol):
    @property
    def is_over(self) -> bool: ...

    @property
    def left(self) -> int | None:
        """How many items are still to come, if known."""
        ...

    async def next(self, most: int) -> list[bytes]:
        """Fetch what follows, at most `most` items. It may be nothing although more is to come."""
        ...


def walk_of(paging: Paging, ask: Ask, *, is_long: bool = False) -> PageWalk:
    """Return the walk through a list. `is_long` says that it had several pages the last time."""
    if paging.style == "cursor":
        return CursorWalk(paging, ask)
    return OffsetWalk(paging, ask, counts_at_once=is_long and bool(paging.pages))


def keys_of(paging: Paging, items: list[bytes]) -> list[bytes]:
    """Return the keys of items. An item without a key, or with an empty one, is its own key."""
    if not paging.key:
        return []
    keys = values_of(items, paging.key)
    return [item if key in _NO_KEY else key for item, key in zip(items, keys, strict=True)]


def values_of(items: list[bytes], name: str) -> list[bytes]:
    """Return the raw text of one member of every item; empty for an item that has none.

    All others are only skipped: of a record with 144 members that takes a third of the time.
    """
    record = _record_with(name)
    return [bytes(record.decode(item).member) if item.startswith(b"{") else b"" for item in items]


@lru_cache(64)
def _record_with(name: str) -> "msgspec.json.Decoder[Any]":
    member = ("member", msgspec.Raw, msgspec.Raw())
    return msgspec.json.Decoder(msgspec.defstruct("Record", [member], rename={"member": name}))


class PageWindow(NamedTuple):
    start: int
    asked: int
    page: ApiPage

    @property
    def end(self) -> int:
        return self.start + len(self.page.items)


class OffsetWalk:
    """Walks by offsets, or by page numbers."""

    def __init__(self, paging: Paging, ask: Ask, *, counts_at_once: bool = False) -> None:
        """Create it. `counts_at_once`: ask how many items there are beside the first page, not after it."""
        self._paging, self._ask_api = paging, ask
        self._counts_at_once = counts_at_once
        self._order: dict[bytes, int] = {}
        """The ordinal of every key that was seen."""
        self._anchor = b""
        self._keys: list[bytes] = []
        """The keys of the last page: an API that ignores offsets returns the same page forever."""
        self._position = -1
        """The position of the anchor when it was last seen."""
        self._pages = 0
        """The number of fetched pages, where pages are counted."""
        self._size = paging.size
        """The size of a numbered page; an API may return fewer items than requested."""
        self._total: int | None = None
        self._last: tuple[int, ApiPage] | None = None
        """The number of all pages, and the last of them: it was fetched to count the items, and is not asked for again."""
        self._counted: tuple[int, int] | None = None
        """The number of all pages, and of all items on them."""
        self._extras: dict[bytes, bytes] = {}
        """Items, by key, that are on every page besides those that are counted. They come last."""
        self._empty = 0
        self.is_over = False

    @property
    def left(self) -> int | None:
        if self.is_over:
            return 0
        if self._total is None:
            return None
        return max(self._total - self._position - 1, 0) + len(self._extras)

    async def next(self, most: int) -> list[bytes]:
        fresh = await self._next(most)
        return [*fresh, *self._extras.values()] if self.is_over else fresh

    async def _next(self, most: int) -> list[bytes]:
        if self._paging.style == "page" and not self._paging.key:
            window, after = await self._counted_page(), 0
        elif self._position < 0 or not self._paging.key:
            window, after = await self._window(self._position + 1, most), 0
        elif self._paging.style == "page":
            window, after = await self._next_number(most)
        else:
            window, after = await self._behind_anchor(self._position, most + 1)
        return self._take(window, after)

    async def _window(self, at: int, most: int) -> PageWindow:
        paging, size = self._paging, self._paging.size
        if paging.style == "page":
            number = at // self._size
            page = await self._numbered(number)
            if self._position < 0 and 0 < len(page.items) < min(size, page.total or 0):
                self._size = len(page.items)
            return PageWindow(number * self._size, self._size, page)
        asked = min(most, size)
        return PageWindow(at, asked, await self._ask_api({paging.limit: asked, paging.at: at}))

    async def _numbered(self, number: int) -> ApiPage:
        """Fetch a page by its number, counted from 0. Where the API tells the number of pages, count all items."""
        if self._last is not None and self._last[0] == number + 1:
            page = self._last[1]
            self._last = None
            return page
        if number == 0 and self._counts_at_once:
            page = await self._first_and_count()
        else:
            page = await self._ask_numbered(number)
        if page.pages is None:
            return page
        return page._replace(total=await self._count(page, number, page.pages))

    async def _ask_numbered(self, number: int) -> ApiPage:
        """Ask for a page by its number, and set aside what is on every page."""
        paging = self._paging
        page = await self._ask_api({paging.limit: paging.size, paging.at: paging.first + number})
        if self._position < 0 and (page.pages or 0) > 1 and len(page.items) > paging.size:
            self._extras |= dict(zip(page.keys[paging.size :], page.items[paging.size :], strict=True))
        if not self._extras:
            return page
        pairs = [
            (item, key) for item, key in zip(page.items, page.keys, strict=True) if key not in self._extras
        ]
        return page._replace(items=[item for item, _ in pairs], keys=[key for _, key in pairs])

    async def _first_and_count(self) -> ApiPage:
        """Ask for the first page, and at the same time for pages of one item: there are as many as items."""
        self._counts_at_once = False
        paging = self._paging
        second = {paging.limit: 1, paging.at: paging.first + 1}
        counting = asyncio.ensure_future(self._pages_of(second))
        try:
            page = await self._ask_numbered(0)
            count = await counting
        finally:
            counting.cancel()
        pages = page.pages or 0
        if (pages - 1) * len(page.items) < count <= pages * len(page.items):
            self._counted = pages, count
        return page

    async def _pages_of(self, asked: Mapping[str, str | int]) -> int:
        """Return the number of pages; 0 if it cannot be asked: then the last page tells how many items there are."""
        try:
            return (await self._ask_api(asked)).pages or 0
        except UpstreamError:
            return 0

    async def _count(self, page: ApiPage, number: int, pages: int) -> int | None:
        """Return the number of all items. It takes the last page, which is kept until it is due."""
        if self._position < 0 and pages > 1 and page.items:
            self._size = len(page.items)  # an API may return fewer items than requested
        if number + 1 >= pages:
            return number * self._size + len(page.items)
        if self._counted is None or self._counted[0] != pages:
            last = await self._ask_numbered(pages - 1)
            if last.pages != pages or not last.items:
                return None  # it has changed just now
            self._counted = pages, (pages - 1) * self._size + len(last.items)
            self._last = pages, last._replace(total=self._counted[1])
        return self._counted[1]

    async def _counted_page(self) -> PageWindow:
        """Fetch the next page by count.

        Without keys only the count tells our position: a page may be smaller than requested.
        """
        paging = self._paging
        page = await self._ask_api({paging.limit: paging.size, paging.at: paging.first + self._pages})
        self._pages += 1
        return PageWindow(self._position + 1, paging.size, page)

    async def _next_number(self, most: int) -> tuple[PageWindow, int]:
        """Fetch the next page by number.

        Numbered pages cannot overlap: the last one is read again only if the total changed.
        """
        window = await self._window(self._position + 1, most)
        is_known = any(key in self._order for key in window.page.keys)
        if not is_known and window.page.total == self._total:
            return window, 0
        self._last = None  # the list has moved, and that page with it
        return await self._behind_anchor(window.start if is_known else self._position, most)

    async def _behind_anchor(self, at: int, most: int) -> tuple[PageWindow, int]:
        """Return a window with what follows the anchor, and where in it that begins."""
        tried: set[int] = set()
        while True:
            window = await self._window(at, self._paging.size if tried else most)
            keys = window.page.keys
            if self._anchor in keys:
                return window, keys.index(self._anchor) + 1
            tried.add(at)
            known = [(self._order[key], index) for index, key in enumerate(keys) if key in self._order]
            if known:
                number, index = max(known)
                due = window.start + index + self._order[self._anchor] - number
                if due < window.end or due in tried or len(tried) > _MOST_SEEKS:
                    return window, index + 1  # the anchor is gone; this item was the last one seen before it
                at = due
            elif at == 0:
                return window, 0  # nothing that was seen is left
            else:
                at = self._elsewhere(at, tried, window.page.total)

    def _elsewhere(self, at: int, tried: set[int], total: int | None) -> int:
        """Return where to look when a window has no item that was seen before."""
        growth = 0 if total is None or self._total is None else total - self._total
        if growth > 0 and self._position + growth not in tried:
            return self._position + growth  # so many were inserted before it
        back = max(self._paging.size - 1, -growth)
        return 0 if len(tried) > _MOST_SEEKS else max(at - back, 0)

    def _take(self, window: PageWindow, after: int) -> list[bytes]:
        page = window.page
        fresh = page.items[after:]
        if page.keys:
            fresh = [item for item, key in zip(fresh, page.keys[after:], strict=True) if self._is_new(key)]
            self._anchor = page.keys[-1]
            self._order.setdefault(self._anchor, len(self._order))
        # The same page again is progress if the list has grown: new items have pushed it to where we asked.
        is_another = page.keys != self._keys or (page.total or 0) > (self._total or 0) > 0
        is_elsewhere = window.end - 1 > self._position and is_another
        self._empty = 0 if fresh or is_elsewhere else self._empty + 1
        # An API that returns more items than its total says has no usable total.
        is_told = page.total is not None and window.end <= page.total
        self._position, self._total, self._keys = (
            max(window.end - 1, 0),
            page.total if is_told else None,
            page.keys,
        )
        is_last = is_told and window.end == page.total
        # Fewer items than requested may be the API's maximum: only a page without new items is the end.
        is_short = len(page.items) < window.asked and len(page.items) <= after
        self.is_over = is_last or is_short or not page.items or self._empty >= _MOST_EMPTY
        return fresh

    def _is_new(self, key: bytes) -> bool:
        size = len(self._order)
        return self._order.setdefault(key, size) == size


class CursorWalk:
    """Walks by cursors: the API itself says where it continues."""

    def __init__(self, paging: Paging, ask: Ask) -> None:
        self._paging, self._ask = paging, ask
        self._cursor = ""
        self._seen: set[bytes] = set()
        self._count = 0
        self._total: int | None = None
        self.is_over = False

    @property
    def left(self) -> int | None:
        if self.is_over:
            return 0
        return None if self._total is None else max(self._total - self._count, 0)

    async def next(self, most: int) -> list[bytes]:
        paging = self._paging
        asked: dict[str, str | int] = {paging.limit: min(most, paging.size)} if paging.limit else {}
        page = await self._ask(asked | ({paging.at: self._cursor} if self._cursor else {}))
        self._cursor, self._total = page.next, page.total
        self._count += len(page.items)
        self.is_over = not page.next
        return [item for at, item in enumerate(page.items) if not page.keys or self._is_new(page.keys[at])]

    def _is_new(self, key: bytes) -> bool:
        size = len(self._seen)
        self._seen.add(key)
        return len(self._seen) > size
