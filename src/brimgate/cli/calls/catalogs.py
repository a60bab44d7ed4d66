"""The tools that servers were last seen with, so that a shell can complete them without asking anybody."""

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

from brimgate.errors import OperatorError
from brimgate.platform import make_private_dir, state_dir, write_private


def remember(upstream: str, tools: bytes) -> None:
    """`upstream` as it is written on a command line, `tools` as JSON. What cannot be kept is not missed."""
    try:
        path = _path(upstream)
        make_private_dir(path.parent)
        if not path.exists() or path.read_bytes() != tools:
            write_private(path, tools)
    except (OperatorError, OSError, UnicodeEncodeError):
        pass


def remembered(upstream: str) -> list[dict[str, Any]]:
    try:
        tools: Any = json.loads(_path(upstream).read_bytes())
    except (OperatorError, OSError, ValueError, RecursionError):
        return []
    found = cast("list[Any]", tools) if isinstance(tools, list) else []
    return [cast("dict[str, Any]", one) for one in found if isinstance(one, dict)]


def _path(upstream: str) -> Path:
    """A name of our own: that of an upstream may be a URL."""
    return state_dir() / "catalogs" / f"{blake2b(upstream.encode(), digest_size=8).hexdigest()}.json"
