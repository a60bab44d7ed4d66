"""Records of Python's `logging`, from libraries and packs, as lines of our log.

A module of its own, because `logging` takes time to load, and `run` starts its server before that.
"""

import logging
import traceback
from typing import Final

from brimgate.watch.log import LEVELS, Log

_MAX_ERROR_CHARS: Final = 200
"""As in our own lines: an error may repeat what it failed on."""


class LibraryRecords(logging.Handler):
    """Writes each record as one line, with its own level."""

    def __init__(self, log: Log) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        fields = {"logger": record.name, "text": _text(record)}
        if record.exc_info and record.exc_info[1] is not None:
            told = traceback.format_exception_only(record.exc_info[1])
            fields["error"] = told[-1].strip()[:_MAX_ERROR_CHARS]
        self._log.write("library", fields, _level(record.levelno))


class RareRecords(LibraryRecords):
    """Writes the records of one library at their 1st, 2nd, 4th, 8th… time: it may say the same with every try."""

    def emit(self, record: logging.LogRecord) -> None:
        fields = {"logger": record.name, "text": _text(record)[: 2 * _MAX_ERROR_CHARS]}
        self._log.write_seldom("library", fields, _level(record.levelno))


def take_seldom(log: Log, library: str) -> None:
    """Write the records of one library to the log, and not all of them."""
    logger = logging.getLogger(library)
    logger.handlers[:] = [RareRecords(log)]
    logger.propagate = False


def take_records(log: Log) -> None:
    """Write all records of this process to the log, and nowhere else. The level follows that of the log."""
    root = logging.getLogger()
    root.handlers[:] = [LibraryRecords(log)]
    root.setLevel(log.level)
    log.on_level = root.setLevel


def _text(record: logging.LogRecord) -> str:
    try:
        return record.getMessage().strip()
    except Exception:  # noqa: BLE001  # it runs the code of whoever wrote the message
        said = record.msg if isinstance(record.msg, str) else type(record.msg).__name__
        return f"{said} (its arguments do not fit)"


def _level(number: int) -> str:
    """Return the nearest of our levels that is not above the record's."""
    return next((name for name, least in reversed(LEVELS.items()) if number >= least), "debug")
