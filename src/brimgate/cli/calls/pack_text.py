"""A pack at the command line: short ids that can be used again, relative times, failures in a log."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brimgate.cli.output import complain, printable
from brimgate.errors import BadRequest, OperatorError
from brimgate.packs.formatter import Trouble, format_document
from brimgate.packs.pack import Pack, Scene
from brimgate.packs.short_ids import ReferenceBook, ids_in, shortener
from brimgate.platform import state_dir
from brimgate.watch.log import NAME, note_failure


class ShellFormatter:
    """Formats the answers of one tool, and remembers the ids that it shortened."""

    def __init__(
        self, pack: Pack, tool: str, arguments: Mapping[str, Any] | None = None, log_path: str = ""
    ) -> None:
        self._pack, self._tool, self._arguments = pack, tool, arguments or {}
        self._log_path = Path(log_path) if log_path else state_dir() / NAME
        self._book = book_of(pack)
        self._shortened: dict[str, str] = {}
        """Short ids by whole ids, including those in texts that were tried and not shown."""
        self._troubles: set[str] = set()
        self._now = datetime.now(UTC)

    def answer_format(self, document: bytes, first: int, total: int | None, answer_bytes: int) -> str | None:
        shorten = shortener((*ids_in(document), *self._book.ids))

        def note_and_shorten(whole: str) -> str:
            short = shorten(whole)
            if short != whole:
                self._shortened[whole] = short
            return short

        scene = Scene(self._arguments, self._now, note_and_shorten, first, total)
        return format_document(self._pack, self._tool, document, scene, self._note, answer_bytes=answer_bytes)

    def remember(self, shown: str) -> bool:
        """Remember the ids in the shown text for the next command. Return whether there are any.

        If they cannot be saved, the answer is still shown.
        """
        printed = [whole for whole, short in self._shortened.items() if short in shown]
        try:
            self._book.remember(printed)
        except OperatorError as error:
            complain(f"short ids will not be known to the next command: {error}")
        return bool(printed)

    def _note(self, trouble: Trouble) -> None:
        if trouble.error in self._troubles:
            return  # a page is tried in several sizes
        self._troubles.add(trouble.error)
        if trouble.is_fatal:  # the caller can do nothing about one that is only slow
            # The error is in the pack's words, which may be those of the server.
            told = f"the pack {self._pack.name} on {trouble.operation}: {trouble.error}; its text is not used"
            complain(printable(told))
        try:
            note_failure(self._log_path, {"pack": self._pack.name} | trouble.fields)
        except OperatorError as error:
            complain(str(error))


def book_of(pack: Pack) -> ReferenceBook:
    return ReferenceBook(state_dir() / "references" / f"{pack.name}.txt")


def resolve_references(pack: Pack, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Replace short ids in the arguments by whole ones."""
    names = pack.tool(tool).references
    if not any(name in arguments for name in names):
        return dict(arguments)
    book = book_of(pack)
    resolved = dict(arguments)
    for name in names:
        if name in arguments:
            try:
                resolved[name] = book.resolve(arguments[name])
            except BadRequest as error:
                raise BadRequest(f"{name}: {error}") from None
    return resolved
