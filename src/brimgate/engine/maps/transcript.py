"""Survey conversations: e-mail threads, chats, minutes of meetings."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.credentials_scan import find_secrets
from brimgate.engine.maps.line_search import LineSearch, per_line
from brimgate.engine.maps.phrases import brief, count, places, tally
from brimgate.engine.maps.prose_claims import contradictions
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK, Detector, MapLine, Survey, TextLines

_TIME: Final = (
    r"(?:\d{4}-\d\d-\d\d[T ,]{0,2})?(?:\d{1,2}/\d{1,2}/\d{2,4},? )?\d{1,2}:\d\d(?::\d\d)?(?:\.\d{1,3})?(?:"
    r" ?[AaPp][Mm])?"
)
_NAME: Final = r"[^\W\d_][\w.'’-]{0,30}(?: [\w.'’()-]{1,30}){0,3}"
_SAID: Final = re.compile(
    rf"(?:> )?(?:[\[(]?(?P<before>{_TIME})[\])]?,?(?: -)? {{1,3}})?(?:\*\*)?(?:<(?:v )?(?P<angle>{_NAME})>"
    rf"|(?P<name>{_NAME})(?: [\[(](?P<inside>{_TIME})[\])])?:(?:\*\*)?:?)(?:\*\*)?(?:\s+(?P<text>.*))?\Z"
)
_HEADED: Final = re.compile(rf"(?P<name>{_NAME})(?:  |, | — | - )?\s?[\[(]?(?P<time>{_TIME})[\])]?\s*\Z")
_HEADER: Final = re.compile(
    r"(?>(?:> ?)*)\**(From|Date|Sent|Subject|To|Cc|Attachments?)\**:\**\s*+(.*)\Z", re.IGNORECASE
)
_WROTE: Final = re.compile(
    r"(?>(?:> ?)*)On (.{4,70}\d:\d\d(?::\d\d)?(?: ?[AP]M)?|.{6,80}(?=,)),? (.{2,80}) wrote:\s*\Z"
)
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d+)?(?: ?([AaPp])[Mm])?")
_DAY: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)|(\d{1,2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? (\d{4})|(Jan"
    r"|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? (\d{1,2}),? (\d{4})"
)
_MONTHS: Final = {
    name: at
    for at, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_NO_NAMES: Final = re.compile(
    r"(?i)(?:info|warn(?:ing)?|error|debug|fatal|trace|notice|critical|note|todo|example|usage|returns?|args?"
    r"|default|http|https|see|summary|agenda|topics?"
    r"|date|time|subject|from|to|cc|status|version|name|type|description|id|url|file|line|test|expected|actual"
    r"|e\.g|i\.e|step \d+|q|a)\Z"
)
_MARKS: Final = {
    "decisions": (
        r"(?i)\b(?:decided|decision|we agreed|agreed to|approved|sign(?:ed)? off|let'?s go with|we(?: wi"
        r"|')ll go with|final call|resolved that|motion (?:passed|carried))\b[^\n]{0,160}"
    ),
    "action items": (
        r"(?i)\b(?:action items?|todo|to-do|follow[- ]up|next steps?|takes? the action|will (?:send|prepare|fix"
        r"|write|check|draft|update|schedule|share|create|review|file|investigate)|i'?ll (?:send|prepare|fix|write"
        r"|check|draft|update|schedule|share|create|review|file|look into|investigate|take)|assigned to"
        r"|owner:)\b[^\n]{0,160}"
    ),
    "deadlines": (
        r"(?i)\b(?:deadline|due (?:date|on|by)|no later than|by (?:end of (?:day|week|month)|eod|eow|cob|tomorrow"
        r"|monday|tuesday|wednesday|thursday|friday|next \w+|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov"
        r"|dec)[a-z]* \d{1,2}|\d{1,2} (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
        r"|\d{4}-\d\d-\d\d))\b[^\n]{0,80}"
    ),
    "amounts": (
        r"(?:[$€£] ?(?:[0-9][0-9,.]*)?[0-9](?: ?(?:k|K|m|M|million|billion)\b)?|\b(?:[0-9][0-9,.]*)?[0-9] ?(?:EUR"
        r"|USD|GBP|CHF|euros?|dollars)\b)"
    ),
    "attachments": (
        r"(?i)(?:\battach(?:ed|ments?|ing)\b|<attached|\bimage omitted|\bfile:)[^\n]{0,80}|\b[\w-]{2,60}\.(?:pdf"
        r"|docx?|xlsx?|pptx?|zip|csv|png|jpe?g)\b"
    ),
}
_GRAVE: Final = (
    r"(?i)\b(?:urgent|asap|escalat\w+|legal (?:hold|action|notice)|lawsuit|breach\w*|confidential"
    r"|do not (?:share|forward|tell)|off the record|resign\w*|fired|outage|data (?:loss|leak)|refund|fraud\w*"
    r"|whistle\w*|complain\w*|veto\w*|i (?:strongly )?(?:disagree|object)|cancel(?:led|ling)? the)\b"
)
_MAX_TOLD: Final = 4


@dataclass(slots=True)
class _Message:
    line: int
    speaker: str
    when: str = ""
    subject: str = ""
    end: int = 0
    words: int = 0


_LEVEL: Final = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")


def recognise(text: TextLines) -> float:
    lines = [line for line in text.sample if line.strip()]
    if len(lines) < 4 or lines[0].lstrip()[:1] == "{":
        return 0.0
    mails = _mails(text.sample)
    if mails and (mails[0].line <= 5 or len(mails) > 2):
        return 0.93
    if lines[0].startswith("WEBVTT"):
        return 0.9
    if 3 * sum(map(bool, map(_LEVEL.search, lines))) > len(lines):
        return 0.0  # a log: its components speak as well
    said = _sayings(text.sample)
    names = Counter(message.speaker for message in said)
    if len(said) < 4 or not 2 <= len(names) <= max(4, len(said) // 2):
        return 0.0
    share = len(said) / len(lines)
    timed = sum(1 for message in said if message.when) * 2 > len(said)
    worded = sum(1 for line in lines if line.count(" ") >= 3)
    if share < (0.2 if timed else 0.35) or worded * 2 < len(lines) - len(said):
        return 0.0
    return min(0.9, 0.5 + share / 2 + (0.1 if timed else 0.0))


def _messages(lines: Sequence[str]) -> tuple[list[_Message], bool]:
    mails = _mails(lines)
    said = [] if mails and (mails[0].line <= 5 or len(mails) > 2) else _sayings(lines)
    return (said, False) if said else (mails, True)


def _mails(lines: Sequence[str]) -> list[_Message]:
    """Find messages by headers that stand together, and by `On … wrote:`."""
    found: list[_Message] = []
    headers: dict[str, str] = {}
    start = 0
    for number, line in enumerate([*lines, ""], 1):
        match = _HEADER.match(line) if ":" in line[:20] else None
        if match:
            start = start if headers else number
            headers.setdefault(match[1].lower(), match[2].strip("* "))
        elif headers and line.strip() and line[0].isspace():
            continue  # a header goes on
        else:
            when = headers.get("date") or headers.get("sent") or ""
            if "from" in headers and (when or "subject" in headers):
                found.append(_Message(start, _person(headers["from"]), when, headers.get("subject", "")))
            headers = {}
            if "wrote:" in line and (wrote := _WROTE.match(line)):
                found.append(_Message(number, _person(wrote[2]), wrote[1]))
    return found


def _person(text: str) -> str:
    name = re.sub(r"<[^>]{0,100}>|[\"']|\[mailto:[^\]]{0,100}\]", "", text).strip()
    return brief(name or text.strip("<>"), 50)


def _sayings(lines: Sequence[str]) -> list[_Message]:
    found: list[_Message] = []
    for number, line in enumerate(lines, 1):
        if not line or line[0] in "#|{}" or len(line) > 1_990:
            continue
        match = _SAID.match(line) if ":" in line[:90] or "<" in line[:40] else None
        if match:
            name = match["angle"] or match["name"]
            if (
                not _NO_NAMES.match(name)
                and len(name.split()) <= 4
                and not (match["text"] or "").startswith("//")
            ):
                found.append(_Message(number, name, match["before"] or match["inside"] or ""))
        elif len(line) < 80 and ":" in line and (headed := _HEADED.match(line)):
            found.append(_Message(number, headed["name"].strip(), headed["time"]))
    counts = Counter(message.speaker for message in found)
    # A word before a colon is a speaker if it comes back, or if times show that all of these are sayings.
    return [message for message in found if counts[message.speaker] > 1 or message.when]


def survey(text: TextLines) -> Survey:
    lines, search = text.lines, LineSearch(text.lines)
    messages, are_mails = _messages(lines)
    for at, message in enumerate(messages):
        message.end = messages[at + 1].line - 1 if at + 1 < len(messages) else len(lines)
        message.words = sum(len(line.split()) for line in lines[message.line - 1 : message.end])
    found = [
        *find_secrets(lines),
        *contradictions(lines, search, set()),
        *_lone_speakers(messages),
        *_time_goes_back(messages),
    ]
    map_lines = [*_people(messages), *_subjects(messages, lines)]
    for name, pattern in _MARKS.items():
        hits = list(search.hits(pattern))
        if hits:
            map_lines.append(_marked(name, hits))
        if name in ("decisions", "deadlines") and len(hits) <= _MAX_TOLD:
            found += [
                Finding(
                    number,
                    WORTH_A_LOOK if name == "decisions" else SLIGHTLY_ODD + 2,
                    brief(lines[number - 1], 180),
                )
                for number, _ in hits
            ]
    questions = [number for number, _ in search.hits(r"(?m)\?[\"')*]{0,3}\s{0,2}$")]
    if questions:
        map_lines.append(MapLine(f"questions {len(questions):,}: lines {places(questions, 12)}", 3.0))
    found += _grave(lines, search)
    return Survey(_title(messages, lines, are_mails=are_mails), map_lines, per_line(found))


def _title(messages: Sequence[_Message], lines: Sequence[str], *, are_mails: bool) -> str:
    people = {message.speaker for message in messages}
    times = [message.when for message in messages if message.when]
    span = f", {times[0]} … {times[-1]}" if len(times) > 1 else f", {times[0]}" if times else ""
    kind = "e-mails" if are_mails else "conversation"
    return (
        f"{kind}: {count(len(messages), 'message')} of {count(len(people), 'person', 'people')}{span},"
        f" {count(len(lines), 'line')}"
    )


def _people(messages: Sequence[_Message]) -> Iterator[MapLine]:
    counts = Counter(message.speaker for message in messages)
    if counts:
        yield MapLine(f"messages by {tally(counts, 12)}", 8.0)


def _subjects(messages: Sequence[_Message], lines: Sequence[str]) -> Iterator[MapLine]:
    by_subject: defaultdict[str, list[int]] = defaultdict(list)
    for message in messages:
        if message.subject:
            by_subject[re.sub(r"(?i)\A(?:(?:re|fwd?|aw|wg): ?)+", "", message.subject)].append(message.line)
    if by_subject:
        shown = [
            f"{brief(subject, 60)} ×{len(at)} from {at[0]}" for subject, at in list(by_subject.items())[:15]
        ]
        yield MapLine(
            "subjects "
            + " · ".join(shown)
            + (f" · … {len(by_subject) - 15} more" if len(by_subject) > 15 else ""),
            9.0,
        )
    headings = [
        (number, line.strip("# *"))
        for number, line in enumerate(lines, 1)
        if line.startswith("#") and len(line) < 100
    ]
    if headings:
        yield MapLine(
            "topics " + " · ".join(f"{brief(title, 50)} {number}" for number, title in headings[:20]), 9.0
        )
    longest = sorted(messages, key=lambda message: -message.words)[:3]
    if len(messages) > 10 and longest[0].words > 80:
        yield MapLine(
            "longest "
            + ", ".join(f"{one.speaker} {one.line}-{one.end} ({one.words} words)" for one in longest),
            3.0,
        )


def _marked(name: str, hits: list[tuple[int, str]]) -> MapLine:
    most = 8 if name in ("decisions", "action items", "deadlines") else 10
    shown = [f"{number} {brief(text, 70 if most == 8 else 30)}" for number, text in hits[:most]]
    more = f" · … at {places([number for number, _ in hits[most:]], 6)}" if len(hits) > most else ""
    return MapLine(f"{name} {len(hits):,}: {' · '.join(shown)}{more}", 7.0 if most == 8 else 5.0)


def _lone_speakers(messages: Sequence[_Message]) -> Iterator[Finding]:
    counts = Counter(message.speaker for message in messages)
    once = [message for message in messages if counts[message.speaker] == 1]
    if len(messages) >= 15 and 0 < len(once) <= 2 and len(counts) > 2:
        for message in once:
            yield Finding(message.line, SLIGHTLY_ODD + 2, f"{message.speaker} says something only once")


def _time_goes_back(messages: Sequence[_Message]) -> Iterator[Finding]:
    """Tell where a message is older than the one before it, unless newest come first as in quoted mail."""
    timed = [(moment, message) for message in messages if (moment := _moment(message.when))]
    back = [
        (before, after)
        for before, after in itertools.pairwise(timed)
        if before[0][0] == after[0][0] and after[0] < before[0]
    ]
    back += [
        (before, after)
        for before, after in itertools.pairwise(timed)
        if all(before[0][0]) and all(after[0][0]) and after[0][0] < before[0][0]
    ]
    if 0 < len(back) <= max(1, len(timed) // 15):
        for (_, before), (_, after) in back[:3]:
            yield Finding(
                after.line,
                WORTH_A_LOOK - 1,
                f"time goes back: {after.when} ({after.speaker}) after {before.when}",
            )


def _moment(when: str) -> tuple[tuple[int, int, int], tuple[int, int, int]] | None:
    day, clock = _DAY.search(when), _CLOCK.search(when)
    if clock is None:
        return None
    hour = int(clock[1]) % 12 + (12 if clock[4] in ("p", "P") else 0) if clock[4] else int(clock[1])
    date = (0, 0, 0)
    if day and day[1]:
        date = (int(day[1]), int(day[2]), int(day[3]))
    elif day and day[5]:
        date = (int(day[6]), _MONTHS[day[5]], int(day[4]))
    elif day:
        date = (int(day[9]), _MONTHS[day[7]], int(day[8]))
    return date, (hour, int(clock[2]), int(clock[3] or 0))


def _grave(lines: Sequence[str], search: LineSearch) -> Iterator[Finding]:
    words: defaultdict[str, list[int]] = defaultdict(list)
    for number, word in search.hits(_GRAVE):
        words[word.lower()].append(number)
    for numbers in words.values():
        if len(numbers) <= 2 and len(words) <= 8:
            yield from (
                Finding(number, WORTH_A_LOOK - 1, brief(lines[number - 1], 180)) for number in numbers
            )


DETECTOR = Detector("conversation", recognise, survey, has_end=False, has_prose=True)
