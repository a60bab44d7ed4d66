"""Run queries in other processes, beside an event loop that many clients share: one that goes wrong costs only itself."""

from collections.abc import Callable
from threading import Condition
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from brimgate.engine.document import Document
from brimgate.errors import BadRequest, BrimgateError
from brimgate.hold.loaded_tables import LoadedTables, QuerySubject
from brimgate.platform import limit_memory

if TYPE_CHECKING:
    from brimgate.engine.sql.database import QueryResult
    from brimgate.hold.engine_processes import EngineProcess

_PROCESSES: Final = 2
_PATIENCE_SECONDS: Final = 1.4
"""A query is stopped after a second; a process that says nothing then is killed."""
_LOADING_SECONDS: Final = 60.0
_MEMORY_BYTES: Final = 1 << 30
_STOPPED: Final = "query: stopped: it takes too long, or too much memory"


class QueryProcesses:
    """Runs queries in other processes. A caller has one at a time, so that nobody waits for all of another's."""

    def __init__(self, count: int = _PROCESSES) -> None:
        self._count = count
        self._changed = Condition()
        self._idle: list[_QueryProcess] = []
        self._busy: set[str] = set()
        """The callers whose queries are run."""
        self._running = 0
        self._is_over = False

    def run(self, subject: QuerySubject, document: Document, sql: str) -> "QueryResult":
        process = self._taken(subject)
        is_usable = False
        try:
            found = process.run(subject, document, sql)
            is_usable = True
        except BrimgateError:
            is_usable = True
            raise
        except (OSError, EOFError, MemoryError):
            raise BadRequest(_STOPPED) from None
        finally:
            self._give_back(subject, process, is_usable=is_usable)
        return found

    def _taken(self, subject: QuerySubject) -> "_QueryProcess":
        """Wait for a process: for one that has the tables, or another, or a new one."""
        with self._changed:
            self._changed.wait_for(
                lambda: subject.principal not in self._busy and self._running < self._count
            )
            self._busy.add(subject.principal)
            self._running += 1
            self._idle.sort(key=lambda one: subject[:3] in one.known)
            while self._idle:
                process = self._idle.pop()
                if process.is_alive:
                    return process
                process.end()
        return _QueryProcess()

    def _give_back(self, subject: QuerySubject, process: "_QueryProcess", *, is_usable: bool) -> None:
        with self._changed:
            self._busy.discard(subject.principal)
            self._running -= 1
            if is_usable and not self._is_over:
                self._idle.append(process)
            self._changed.notify_all()
        if not is_usable or self._is_over:
            process.end()

    def sweep(self, minute: int) -> None:
        """End processes in which everything has expired: so nothing of an answer outlives it, anywhere."""
        with self._changed:
            over = [one for one in self._idle if one.expires_minute <= minute]
            self._idle = [one for one in self._idle if one.expires_minute > minute]
        for process in over:
            process.end()

    def stop(self) -> None:
        with self._changed:
            self._is_over = True
            idle, self._idle = self._idle, []
        for process in idle:
            process.end()


class _QueryProcess:
    """A process with loaded tables. It is started by the first query."""

    def __init__(self) -> None:
        self._process: EngineProcess | None = None
        self.known: set[tuple[str, bytes, str]] = set()
        self.expires_minute = 0

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.is_alive

    def run(self, subject: QuerySubject, document: Document, sql: str) -> "QueryResult":
        self.expires_minute = max(self.expires_minute, subject.expires_minute)
        if self._process is None:
            from brimgate.hold.engine_processes import EngineProcess

            self._process = EngineProcess()
        asked = _Asked(subject, sql)
        found = self._ask(_query, asked, _PATIENCE_SECONDS) if subject[:3] in self.known else None
        if found is None:
            self._ask(
                _load,
                asked._replace(data=document.original, is_reading=document.is_reading),
                _LOADING_SECONDS,
            )
            self.known.add(subject[:3])
            found = self._ask(_query, asked, _PATIENCE_SECONDS)
        return found

    def _ask(self, run: Callable[["_Asked"], Any], asked: "_Asked", patience_seconds: float) -> Any:
        assert self._process is not None  # noqa: S101
        is_done, found = self._process.run(run, asked, patience_seconds)
        if not is_done:
            raise found
        return found

    def end(self) -> None:
        if self._process is not None:
            self._process.end()


# In the other process


class _Asked(NamedTuple):
    subject: QuerySubject
    sql: str
    data: bytes = b""
    is_reading: bool = False


_TABLES: Final = LoadedTables()


def _load(asked: _Asked) -> None:
    limit_memory(_MEMORY_BYTES)
    document = Document.read(asked.data) if asked.is_reading else Document(asked.data)
    _TABLES.load(asked.subject, document)


def _query(asked: _Asked) -> "QueryResult | None":
    """Run a query; None if its tables are not here any more."""
    database = _TABLES.of(asked.subject)
    return None if database is None else database.run(asked.sql)
