"""Notice that there are new records, whoever has written them, while somebody looks."""

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from brimgate.errors import OperatorError
from brimgate.watch.record_store import opened_records

_LOOK_SECONDS: Final = 0.4
Version = tuple[int, float, str]


class RecordWatch:
    def __init__(self, path: Callable[[], Path]) -> None:
        self._path = path
        self._version: Version | None = None
        self._changed = asyncio.Event()
        self._listeners = 0
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def listening(self) -> Generator[None]:
        """Look for changes while a block runs."""
        self._listeners += 1
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._look())
        try:
            yield
        finally:
            self._listeners -= 1
            if not self._listeners:
                self._stop()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def wait(self, seconds: float) -> None:
        """Wait for the next change, for so long at most."""
        changed = self._changed
        try:
            async with asyncio.timeout(seconds):
                await changed.wait()
        except TimeoutError:
            pass

    def wake(self) -> None:
        """Let all who wait go on."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def _look(self) -> None:
        while True:
            found = await asyncio.to_thread(version_of, self._path())
            if found != self._version:
                self._version = found
                self.wake()
            await asyncio.sleep(_LOOK_SECONDS)


def version_of(path: Path) -> Version:
    """Return what changes with every record that is kept."""
    try:
        with opened_records(path) as connection:
            query = "SELECT coalesce(sum(records), 0), coalesce(max(last), 0) FROM blocks"
            count, last = connection.execute(query).fetchone()
            return count, last, ""
    except OperatorError as error:
        return 0, 0.0, str(error)
