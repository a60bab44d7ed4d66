"""Look into held answers for the dashboard: by the number that records know them by."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from brimgate.app.dashboard_site import held_part
from brimgate.errors import ClientError
from brimgate.hold.runtime import ProtectionSource
from brimgate.watch.record import fingerprint

if TYPE_CHECKING:
    from brimgate.watch.dashboard.answer_page import HeldPart
    from brimgate.watch.dashboard.figures import AnswerLine
    from brimgate.watch.redaction import Redaction


class HeldView:
    def __init__(
        self,
        protection: ProtectionSource,
        owner_of: Callable[[int], str | None],
        redaction: "Callable[[], Redaction]",
    ) -> None:
        """Create it. `owner_of` returns whose an answer is, in full; None if that is not known here."""
        self._protection, self._owner_of, self._redaction = protection, owner_of, redaction

    def part(self, line: "AnswerLine", whose: str, number: int) -> "HeldPart | None":
        """Return a part of an answer, if it is held, and `whose` is its owner or nobody in particular."""
        owner = self._owner_of(line.answer)
        if owner is None or (whose and fingerprint(owner) != whose) or not self._protection.is_loaded:
            return None
        data = self._data(owner, line.answer)
        return None if data is None else held_part(data, number, self._redaction())

    def _data(self, owner: str, number: int) -> bytes | None:
        store, minute = self._protection().store, int(time.time() // 60)
        for last_bit in (0, 1):  # which the number of an answer lacks
            snapshot = (number << 1 | last_bit).to_bytes(8, "big")
            try:
                found = store.get(owner, snapshot, minute)
            except ClientError:  # the store cannot be reached now
                return None
            if found is not None:
                return found if isinstance(found, bytes) else found.part(0, len(found))
        return None
