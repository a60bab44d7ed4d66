"""A live list: fetched from a REST API as far as it is read."""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from brimgate.back.rest.paging import PageWalk
from brimgate.back.rest.response import Content
from brimgate.engine import jsontext
from brimgate.engine.pointer import pointer_step
from brimgate.errors import BadRequest, UpstreamError, UpstreamLost
from brimgate.hold.live_lists import ListState

_MOST_REQUESTS: Final = 20
"""The most requests that one query may cost."""
_CLOSED: Final = "the list is closed: run the tool again"


class _Held(NamedTuple):
    """Replaced as a whole: other threads look at it."""

    data: bytes
    items: int
    left: int | None
    is_complete: bool


class FetchedList:
    """A JSON document whose list comes last. It grows at the end of the list; everything before stays in place."""

    def __init__(
        self,
        first: Content,
        items: list[bytes],
        walk: PageWalk,
        *,
        limit: int | None,
        page_size: int,
        max_bytes: int,
        page: int = 0,
        has_spare: Callable[[], bool] = lambda: True,
    ) -> None:
        """Create a list.

        `first` surrounds the items, `limit` applies to all items, `page_size` is the new items of a request, `page`
        those that the caller wants to see at once. `has_spare` says whether a request ahead takes nobody's turn.
        """
        self.page = page
        self._has_spare = has_spare
        self._count = 0
        """How many items were asked for so far."""
        self._after = first.after
        self._walk, self._limit = walk, limit
        self._page_size, self._max_bytes = page_size, max_bytes
        self._held = _Held(first.before + first.after, 0, walk.left, is_complete=False)
        self.pointer = last_pointer(self._held.data)
        self._fetching: asyncio.Task[None] | None = None
        self._is_ahead = False
        """The page being fetched was not asked for yet."""
        self._is_closed = False
        self._add(items)

    @property
    def data(self) -> bytes:
        return self._held.data

    @property
    def total(self) -> int:
        """The number of all items. If the API does not say it: one more than are held, as long as there are more."""
        return self._total_of(self._held)

    def _total_of(self, held: _Held) -> int:
        if held.is_complete:
            return held.items
        everything = held.items + (1 if held.left is None else max(held.left, 1))
        return everything if self._limit is None else min(everything, self._limit)

    @property
    def is_total_known(self) -> bool:
        return self._held.is_complete or self._held.left is not None

    def state(self) -> ListState:
        held = self._held
        is_known = held.is_complete or held.left is not None
        return ListState(held.data, self._total_of(held), is_known, held.is_complete)

    @property
    def held(self) -> int:
        return self._held.items

    @property
    def is_complete(self) -> bool:
        return self._held.is_complete

    async def reach(self, count: int) -> None:
        """Fetch until `count` items are here, or all. Then fetch one more page in the background.

        Raise BadRequest if it would take too many requests, UpstreamError if the items cannot be fetched. What has
        arrived stays.
        """
        if self.is_total_known:
            self._refuse_too_many(-(-(min(count, self.total) - self.held) // self._page_size))
        requests = 0
        while self.held < count and not self.is_complete:
            requests += 1
            self._refuse_too_many(requests)
            await self._fetch()
        # The next question will be as large as this one.
        step, self._count = count - self._count, max(count, self._count)
        if self.held - count < step:
            self._look_ahead()

    def close(self) -> None:
        """Stop fetching."""
        self._is_closed = True
        if self._fetching is not None:
            self._fetching.cancel()

    def _refuse_too_many(self, requests: int) -> None:
        if requests > _MOST_REQUESTS:
            raise BadRequest(
                f"this takes more than {_MOST_REQUESTS} requests of the API at once: narrow the query by the tool's own "
                "parameters, or read on page by page"
            )
        if requests > 0 and len(self._held.data) > self._max_bytes:
            raise BadRequest(
                f"the list has more than {self._max_bytes:,} bytes (max_answer_bytes): narrow the query by the tool's "
                "own parameters"
            )

    async def _fetch(self) -> None:
        """Fetch one page, for all who wait for it."""
        if not self._is_fetching:
            self._start(is_ahead=False)
        fetching, was_ahead = self._fetching, self._is_ahead
        if fetching is None or self._is_closed:
            raise UpstreamLost(_CLOSED)
        try:
            await asyncio.shield(fetching)
        except UpstreamError:
            if not was_ahead:
                raise
            # It failed when nobody had asked for it. Now somebody does: retry.
        except asyncio.CancelledError:
            if self._is_closed and fetching.cancelled():
                raise UpstreamLost(_CLOSED) from None
            raise

    def _look_ahead(self) -> None:
        if self._is_fetching or self.is_complete or len(self._held.data) > self._max_bytes:
            return
        if self._has_spare():
            self._start(is_ahead=True)

    def _start(self, *, is_ahead: bool) -> None:
        if not self._is_closed:
            self._is_ahead = is_ahead
            self._fetching = asyncio.get_running_loop().create_task(self._next_page())
            self._fetching.add_done_callback(self._fetched)

    async def _next_page(self) -> None:
        left = self._page_size + 1 if self._limit is None else self._limit - self.held
        self._add(await self._walk.next(left))

    @property
    def _is_fetching(self) -> bool:
        return self._fetching is not None and not self._fetching.done()

    @staticmethod
    def _fetched(task: "asyncio.Task[None]") -> None:
        if not task.cancelled():
            task.exception()  # whoever waits gets it; if nobody does, it is retried when needed

    def _add(self, items: list[bytes]) -> None:
        data, count = self._held.data, self.held
        if self._limit is not None:
            items = items[: self._limit - count]
        if items:
            before = memoryview(data)[: len(data) - len(self._after)]
            data = b"".join((before, b"," if count else b"", b",".join(items), self._after))
            count += len(items)
        is_complete = self._walk.is_over or count == self._limit
        self._held = _Held(data, count, self._walk.left, is_complete)


def last_pointer(document: bytes) -> str:
    """Return the pointer of the list, which comes last."""
    found = jsontext.children(document, 0, len(document))
    return pointer_step(found, len(found) - 1) if found.keys else ""
