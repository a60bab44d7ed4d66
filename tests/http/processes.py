"""What the system knows of a process and those below it."""

import re
from pathlib import Path


def is_alive(pid: int) -> bool:
    """Whether it runs: one that has ended and is not fetched yet does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def children(pid: int) -> set[int]:
    found: set[int] = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[1]) == pid:
            found.add(int(path.parent.name))
    return found


def descriptors(pid: int) -> int:
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def memory(pid: int, what: str = "VmRSS") -> int:
    """Bytes it has now, or had at most (`VmHWM`)."""
    found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) << 10
