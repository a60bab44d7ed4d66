"""What every program here does alike: it is told what to ask, reads on as a model would, and tells what it read.

Imports nothing but the standard library, for it runs in everybody's environment.
"""

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CURSOR = re.compile(r'brimgate_read\(cursor="([^"]+)"')


@dataclass(frozen=True)
class Task:
    command: list[str]
    tool: str
    arguments: dict[str, Any]


def given_task() -> Task:
    return Task(**json.loads(sys.argv[1]))


def next_cursor(text: str) -> str | None:
    """Return the cursor that a reply offers, as a model finds it: in the text."""
    found = _CURSOR.search(text)
    return found[1] if found else None


def next_call(task: Task, replies: list[str]) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and arguments that a model would go on with, or None at the end."""
    if not replies:
        return task.tool, task.arguments
    cursor = next_cursor(replies[-1])
    return ("brimgate_read", {"cursor": cursor}) if cursor else None


def tell(replies: list[str]) -> None:
    """Write the replies into the file that is named: some libraries print what they do."""
    Path(sys.argv[2]).write_text(json.dumps(replies))
