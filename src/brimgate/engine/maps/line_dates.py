"""Find dates that no calendar has, and read the dates of a text whose lines have no time of day."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.credentials_scan import masked_random
from brimgate.engine.maps.phrases import brief
from brimgate.engine.maps.survey import WORTH_A_LOOK

_DATE: Final = re.compile(r"(?<![\w./-])((?:19|20)\d\d)-(\d\d)-(\d\d)(?![\w-])")
_MAX_TOLD: Final = 4
_MIN_DATES: Final = 12
_SEEN_CHARS: Final = 200


def impossible_dates(lines: Sequence[str]) -> list[Finding]:
    """Find dates such as 2021-02-30, where most others are real; numbers in that form may be anything."""
    found, real = list[Finding](), 0
    for at, line in enumerate(lines, 1):
        for match in _DATE.finditer(line, 0, _SEEN_CHARS) if "-" in line else ():
            if _day(match) is None:
                told = brief(masked_random(line), 120)
                found.append(Finding(at, WORTH_A_LOOK, f"{match[0]} is no date of a calendar: {told}"))
            else:
                real += 1
    return found if real >= _MIN_DATES and len(found) <= _MAX_TOLD else []


def _day(match: re.Match[str]) -> date | None:
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None


def heading_dates(lines: Sequence[str]) -> Iterator[tuple[int, str, float]]:
    """Return the dates at the ends of short lines, such as those of releases or entries of a diary, with their days."""
    for at, line in enumerate(lines, 1):
        if line[-1:] not in _LAST_SIGNS or len(line) >= _SEEN_CHARS:
            continue
        if (match := _LAST.search(line)) and (day := _day(match)) is not None:
            yield at, match[0].strip(), day.toordinal() * 86_400.0


_LAST_SIGNS: Final = frozenset("0123456789)] \t")
_LAST: Final = re.compile(r"(?:^|(?<=[\s(\[]))((?:19|20)\d\d)-(\d\d)-(\d\d)(?=[)\]]?\s*\Z)")
