"""Where formatters that failed are written down, for whoever looks after them (W-R2)."""

import json
import time
from pathlib import Path
from typing import Any, Final

from brimgate.errors import OperatorError
from brimgate.platform import append_private, make_private_dir

_MAX_BYTES: Final = 1 << 20
NAME: Final = "wrapper.log"


def note_failure(path: Path, fields: dict[str, Any]) -> None:
    """One line of JSON, for its owner only. A full log makes room by one older file beside it."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = json.dumps({"time": moment} | fields, ensure_ascii=False) + "\n"
    try:
        if not path.parent.exists():
            make_private_dir(path.parent)
        if path.exists() and path.stat().st_size > _MAX_BYTES:
            path.replace(path.with_name(path.name + ".1"))
    except OSError as error:
        raise OperatorError(f"{path}: cannot be written: {error.strerror}") from None
    append_private(path, line.encode("utf-8", "replace"))
