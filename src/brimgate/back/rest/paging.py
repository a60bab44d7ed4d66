"""Ways through a list that comes in pages, and may change while it is read.

What was given out stays given out: nothing comes twice, nothing that still exists is left out, and what was put before
it since is not shown. By offsets this takes an item that tells where we were (the anchor): the last one we saw. Every
page is asked for with the anchor as its first item. If it stands elsewhere by then, it is looked for.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple, Protocol

from brimgate.back.rest.model import Paging
from brimgate.back.rest.response import Misshapen, member_of
from brimgate.errors import JsonRefused

_MOST_SEEKS: Final = 6
_MOST_EMPTY: Final = 3
"""Pages in a row that lead nowhere; then there is nothing more to be had."""


class ApiPage(NamedTuple):
    items: list[bytes]
    keys: list[bytes]
    """What tells them apart; empty where nothing does."""
    total: int | None
    next: str
    """The next cursor."""


Ask = Callable[[Mapping[str, str | int]], Awaitable[ApiPage]]
"""With the API's own parameters of paging."""


class PageWalk(Protocol):
    @property
    def is_over(self) -> bool: ...

    @property
    def left(self) -> int | None:
        """How many are still to come, if it is known."""
        ...

    async def next(self, most: int) -> list[bytes]:
        """What follows, of at most so many items: it may be nothing although more is to come."""
        ...


def walk_of(paging: Paging, ask: Ask) -> PageWalk:
    return CursorWalk(paging, ask) if paging.style == "cursor" else OffsetWalk(paging, ask)


def keys_of(paging: Paging, items: list[bytes]) -> list[bytes]:
    """An item without the key, or with nothing in it, is its own key."""
    if not paging.key:
        return []
    try:
        keys = [member_of(item, paging.key) for item in items]
        return [item if key in (None, b"null", b'""') else key for item, key in zip(items, keys, strict=True)]
    except JsonRefused:
        raise Misshapen("an item holds a key twice") from None


class PageWindow(NamedTuple):
    start: int
    asked: int
    page: ApiPage

    @property
    def end(self) -> int:
        return self.start + len(self.page.items)


class OffsetWalk:
    """By offsets, or by numbers of pages."""

    def __init__(self, paging: Paging, ask: Ask) -> None:
        self._paging, self._ask_api = paging, ask
        self._order: dict[bytes, int] = {}
        """Every key that was seen, and as the how manieth."""
        self._anchor = b""
        self._keys: list[bytes] = []
        """Of the last page: an API that knows no offsets gives the same one for ever."""
        self._position = -1
        """Where the anchor stood when it was seen last."""
        self._pages = 0
        """That came, where they are counted."""
        self._size = paging.size
        """Of a numbered page; an API may give fewer than it is asked for."""
        self._total: int | None = None
        self._empty = 0
        self.is_over = False

    @property
    def left(self) -> int | None:
        if self.is_over:
            return 0
        return None if self._total is None else max(self._total - self._position - 1, 0)

    async def next(self, most: int) -> list[bytes]:
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
            page = await self._ask_api({paging.limit: size, paging.at: paging.first + number})
            if self._position < 0 and 0 < len(page.items) < min(size, page.total or 0):
                self._size = len(page.items)
            return PageWindow(number * self._size, self._size, page)
        asked = min(most, size)
        return PageWindow(at, asked, await self._ask_api({paging.limit: asked, paging.at: at}))

    async def _counted_page(self) -> PageWindow:
        """Without keys only the count of pages tells where we are: one may hold fewer items than it was asked for."""
        paging = self._paging
        page = await self._ask_api({paging.limit: paging.size, paging.at: paging.first + self._pages})
        self._pages += 1
        return PageWindow(self._position + 1, paging.size, page)

    async def _next_number(self, most: int) -> tuple[PageWindow, int]:
        """Pages by number cannot overlap: only where the number of all changed, the last one is looked at again."""
        window = await self._window(self._position + 1, most)
        is_known = any(key in self._order for key in window.page.keys)
        if not is_known and window.page.total == self._total:
            return window, 0
        return await self._behind_anchor(window.start if is_known else self._position, most)

    async def _behind_anchor(self, at: int, most: int) -> tuple[PageWindow, int]:
        """A window with what follows the anchor, and where in it that begins."""
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
                    return window, index + 1  # the anchor is gone; this was seen last before it
                at = due
            elif at == 0:
                return window, 0  # nothing of what was seen is left
            else:
                at = self._elsewhere(at, tried, window.page.total)

    def _elsewhere(self, at: int, tried: set[int], total: int | None) -> int:
        """Where to look when a window holds nothing that was seen before."""
        growth = 0 if total is None or self._total is None else total - self._total
        if growth > 0 and self._position + growth not in tried:
            return self._position + growth  # so many were put before it
        back = max(self._paging.size - 1, -growth)
        return 0 if len(tried) > _MOST_SEEKS else max(at - back, 0)

    def _take(self, window: PageWindow, after: int) -> list[bytes]:
        page = window.page
        fresh = page.items[after:]
        if page.keys:
            fresh = [item for item, key in zip(fresh, page.keys[after:], strict=True) if self._is_new(key)]
            self._anchor = page.keys[-1]
            self._order.setdefault(self._anchor, len(self._order))
        is_elsewhere = window.end - 1 > self._position and page.keys != self._keys
        self._empty = 0 if fresh or is_elsewhere else self._empty + 1
        # Where it gives more than it says there are, its number of all is none.
        is_told = page.total is not None and window.end <= page.total
        self._position, self._total, self._keys = (
            max(window.end - 1, 0),
            page.total if is_told else None,
            page.keys,
        )
        is_last = is_told and window.end == page.total
        # Fewer than were asked for may just be the most that the API gives: only nothing new is the end.
        is_short = len(page.items) < window.asked and len(page.items) <= after
        self.is_over = is_last or is_short or not page.items or self._empty >= _MOST_EMPTY
        return fresh

    def _is_new(self, key: bytes) -> bool:
        size = len(self._order)
        return self._order.setdefault(key, size) == size


class CursorWalk:
    """The API says itself where it goes on."""

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
