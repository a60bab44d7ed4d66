"""Where held answers wait for their readers. One contract, one test suite for every store."""

from brimgate.store.contract import Bounds, SnapshotStore
from brimgate.store.file import FileStore
from brimgate.store.memory import MemoryStore

__all__ = ["Bounds", "FileStore", "MemoryStore", "SnapshotStore"]
