"""Where held answers wait for their readers. One contract, one test suite for every store."""

from brimgate.hold.stores.contract import Bounds, SnapshotStore
from brimgate.hold.stores.file import FileStore
from brimgate.hold.stores.memory import MemoryStore

__all__ = ["Bounds", "FileStore", "MemoryStore", "SnapshotStore"]
