"""Where held answers wait for their readers. One contract, one test suite for every store."""

from headgate.store.contract import Bounds, SnapshotStore
from headgate.store.file import FileStore
from headgate.store.memory import MemoryStore

__all__ = ["Bounds", "FileStore", "MemoryStore", "SnapshotStore"]
