"""Read records that take several lines each as rows: LDIF, calendars, contact cards, subtitles, BibTeX, translations.

A record begins with `BEGIN:VEVENT`, `@article{key,` or the number of a subtitle, or after a blank line; its lines are
`name: value`. A line that begins with a blank goes on with the one before it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.maps.survey import TextLines

_MIN_RECORDS: Final = 8
_MOSTLY: Final = 0.9
_BEGIN: Final = re.compile(r"BEGIN:([A-Z][A-Z0-9-]{2,30})\s*\Z")
_PROPERTY: Final = re.compile(r'([A-Z][A-Z0-9-]{1,40})((?>(?:;[^";:]{0,200}+(?:"[^"]{0,200}+")?)*)):(.*)\Z')
_ATTRIBUTE: Final = re.compile(r"([A-Za-z][\w.;-]{0,60})::? ?(.*)\Z")
_CUE: Final = re.compile(r"(\d\d:\d\d:\d\d,\d{3}) --> (\d\d:\d\d:\d\d,\d{3})\s*\Z")
_ENTRY: Final = re.compile(r"@([A-Za-z]{3,20})\s?\{\s?([^\s,{}=\"]{1,100}),\s*\Z")
_FIELD: Final = re.compile(r"\s+([A-Za-z][\w-]{0,40})\s*=\s*(\S.*)\Z")
_MESSAGE: Final = re.compile(
    r'(?P<old>#~ )?(?P<name>msgctxt|msgid|msgid_plural|msgstr(?:\[\d\])?) "(?P<value>.*)"\s*\Z'
)
_NOTES: Final = {"#,": "flags", "#:": "places", "#.": "comment"}
_NUMBER: Final = re.compile(r"\ufeff?\d{1,6}\s*\Z")
_MAX_CHARS: Final = 600
_SHARED: Final = 0.6
"""The share of records that must begin with the same name, such as `dn`."""

_Field = tuple[str, str]
_Record = tuple[int, list[_Field]]


def record_rows(text: TextLines) -> Rows | None:
    """Return a row for each record, at its first line; None if the text does not consist of records."""
    for read in (_components, _cues, _references, _translations, _paragraphs):
        records = read(text)
        if len(records) >= _MIN_RECORDS:
            return Rows([_row(fields) for _, fields in records], [line for line, _ in records], "line")
    return None


def _row(fields: Sequence[_Field]) -> dict[str, Any]:
    """Join the values of a name that a record has several times."""
    row: dict[str, Any] = {}
    for name, value in fields:
        row[name] = f"{row[name]} | {value}"[:_MAX_CHARS] if name in row else value
    return row


def _unfolded(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Return lines with their numbers, each joined with those that go on with it."""
    number, joined = 0, ""
    for at, line in enumerate(lines, 1):
        if line[:1] in (" ", "\t") and line.strip() and joined:
            joined += line[1:]
        else:
            if number:
                yield number, joined
            number, joined = at, line
    if number:
        yield number, joined


def _components(text: TextLines) -> list[_Record]:
    """Read `BEGIN:X` to `END:X` of the X that is there most often, as calendars and contact cards have."""
    if not any(map(_BEGIN.match, text.sample)):
        return []
    names = Counter(found[1] for line in text.lines if (found := _BEGIN.match(line)))
    name = names.most_common(1)[0][0] if names else ""
    records: list[_Record] = []
    around: list[str] = []
    for number, line in _unfolded(text.lines):
        if found := _BEGIN.match(line):
            around.append(found[1])
            if found[1] == name:
                records.append((number, []))
        elif line.startswith("END:"):
            around = around[:-1]
        elif name in around and (found := _PROPERTY.match(line)):
            inner = around[around.index(name) + 1 :]
            records[-1][1].append((".".join([*inner, found[1]]), found[3]))
    return [one for one in records if one[1]]


def _cues(text: TextLines) -> list[_Record]:
    """Read subtitles: a number, from when to when, and what is said."""
    if sum(map(bool, map(_CUE.match, text.sample))) < len(text.sample) // 8:
        return []
    records: list[_Record] = []
    for at, line in enumerate(text.lines):
        if found := _CUE.match(line):
            has_number = at > 0 and _NUMBER.match(text.lines[at - 1]) is not None
            fields = [("number", text.lines[at - 1].strip("\ufeff "))] if has_number else []
            fields += [("start", found[1]), ("end", found[2]), ("text", "")]
            records.append((at if has_number else at + 1, fields))
        elif records and line.strip() and not _is_number_of_next(text.lines, at):
            name, said = records[-1][1][-1]
            records[-1][1][-1] = name, f"{said} {line.strip()}".strip()[:_MAX_CHARS]
    return records


def _is_number_of_next(lines: Sequence[str], at: int) -> bool:
    return (
        _NUMBER.match(lines[at]) is not None and at + 1 < len(lines) and _CUE.match(lines[at + 1]) is not None
    )


def _references(text: TextLines) -> list[_Record]:
    """Read the entries of a bibliography: `@article{key,` and its fields."""
    if not any(map(_ENTRY.match, text.sample)):
        return []
    records: list[_Record] = []
    for number, line in enumerate(text.lines, 1):
        if found := _ENTRY.match(line):
            records.append((number, [("type", found[1].lower()), ("key", found[2])]))
        elif records and (found := _FIELD.match(line)):
            records[-1][1].append((found[1].lower(), found[2].rstrip().rstrip(",").strip('{}"')))
    return records


def _translations(text: TextLines) -> list[_Record]:
    """Read a catalogue of messages: `msgid`, `msgstr`, the flags and places above them."""
    if sum(map(bool, map(_MESSAGE.match, text.sample))) < len(text.sample) // 6:
        return []
    records: list[_Record] = []
    notes: list[_Field] = []
    first = 0
    for number, line in enumerate(text.lines, 1):
        if not line.strip():
            notes, first = [], 0
        elif line[0] == '"' and records:
            name, value = records[-1][1][-1]
            records[-1][1][-1] = name, (value + line.strip().strip('"'))[:_MAX_CHARS]
        elif found := _MESSAGE.match(line):
            if found["name"] == "msgid":
                is_old = [("obsolete", "yes")] if found["old"] else []
                records.append((first or number, [*notes, *is_old]))
            if records:
                records[-1][1].append((found["name"], found["value"]))
        elif line[:2] in _NOTES:
            first = first or number
            notes.append((_NOTES[line[:2]], line[2:].strip()))
    return [one for one in records if dict(one[1]).get("msgid")]


def _paragraphs(text: TextLines) -> list[_Record]:
    """Read paragraphs of `name: value` lines that begin with the same name, as LDIF and many exports have."""
    filled = [line for line in text.sample if line.strip() and line[0] not in "# "]
    if len(filled) < _MIN_RECORDS or sum(map(bool, map(_ATTRIBUTE.match, filled))) < _MOSTLY * len(filled):
        return []
    records: list[_Record] = []
    is_new = True
    for number, line in _unfolded(text.lines):
        if not line.strip():
            is_new = True
        elif line[0] != "#" and (found := _ATTRIBUTE.match(line)):
            if is_new:
                records.append((number, []))
                is_new = False
            records[-1][1].append((found[1], found[2]))
    if not records:
        return []
    first, count = Counter(fields[0][0] for _, fields in records).most_common(1)[0]
    if count < _SHARED * len(records) or len({name for _, fields in records for name, _ in fields}) < 3:
        return []
    return [one for one in records if one[1][0][0] == first]
