"""Run queries over held answers in this process. Loaded tables are kept for the next query on the same answer."""

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from brimgate.engine.document import Document

if TYPE_CHECKING:
    from brimgate.engine.sql.database import QueryResult, TableDatabase

_MAX_LOADED_BYTES: Final = 32 << 20
_MAX_LOADED: Final = 16


class QuerySubject(NamedTuple):
    """What a query is about: a part of a held answer."""

    principal: str
    snapshot: bytes
    """Empty if the answer is not held: then its tables are not kept either."""
    path: str
    expires_minute: int


class QueryRunner(Protocol):
    def run(self, subject: QuerySubject, document: Document, sql: str) -> "QueryResult":
        """Run a query. Raise BadRequest with what is wrong."""
        ...

    def sweep(self, minute: int) -> None:
        """Drop the tables of answers that have expired."""
        ...

    def stop(self) -> None: ...


class LoadedTables:
    """Runs queries in this process, and keeps the tables of the answers that were asked last."""

    def __init__(self, most_bytes: int = _MAX_LOADED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._loaded: OrderedDict[QuerySubject, TableDatabase] = OrderedDict()
        self._lock = Lock()

    def run(self, subject: QuerySubject, document: Document, sql: str) -> "QueryResult":
        database = self.of(subject)
        if database is None:
            database = self.load(subject, document)
        return database.run(sql)

    def of(self, subject: QuerySubject) -> "TableDatabase | None":
        with self._lock:
            found = next((key for key in self._loaded if key[:3] == subject[:3]), None)
            if found is None:
                return None
            database = self._loaded.pop(found)
            self._loaded[subject] = database
            return database

    def load(self, subject: QuerySubject, document: Document) -> "TableDatabase":
        from brimgate.engine.sql.database import TableDatabase
        from brimgate.engine.sql.tables import tables_of

        inner = document.inside(document.resolve(subject.path)) if subject.path else document
        database = TableDatabase(tables_of(inner))
        if subject.snapshot and database.size <= self._most_bytes:
            with self._lock:
                self._loaded[subject] = database
                while len(self._loaded) > _MAX_LOADED or self._size > self._most_bytes:
                    self._loaded.popitem(last=False)  # whoever uses it now goes on, and then it is freed
        return database

    @property
    def _size(self) -> int:
        return sum(database.size for database in self._loaded.values())

    def sweep(self, minute: int) -> None:
        with self._lock:
            for key in [key for key in self._loaded if key.expires_minute <= minute]:
                del self._loaded[key]

    def stop(self) -> None:
        with self._lock:
            self._loaded.clear()
