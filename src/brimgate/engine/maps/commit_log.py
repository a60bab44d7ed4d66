"""Survey `git log`: dates, authors, merges and tags, and the commits that differ from the rest."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.phrases import bare, brief, by_folder, count, places, tally
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK, Detector, MapLine, Survey, TextLines

_GRAPH: Final = re.compile(r"\A[*|\\/_ .-]{1,60}+(?=[0-9a-f]{7}|commit [0-9a-f])")
_COMMIT: Final = re.compile(r"commit (?P<id>[0-9a-f]{7,64})(?: \((?P<refs>[^)]*+)\))?$")
_SHORT: Final = re.compile(r"(?P<id>[0-9a-f]{7,40}) (?:\((?P<refs>[^)]*+)\) )?(?P<subject>\S.*)$")
BLAME: Final = re.compile(
    r"(?P<commit>\^?[0-9a-f]{7,40}) (?:\S+ +)?\((?P<author>\S.*?) +(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)"
    r" (?P<zone>[+-]\d{4}) +\d+\) ?(?P<text>.*)"
)
"""A line of `git blame`."""
_AUTHOR: Final = re.compile(r"Author:\s++(?P<name>.*?)\s*<(?P<mail>[^>]*+)>")
_DATE: Final = re.compile(r"(?:Author)?Date:\s++(?P<date>\S.*)$")
_STAT: Final = re.compile(
    r" (?P<files>\d++) files? changed(?:, (?P<added>\d++) insertions?\(\+\))?(?:, (?P<removed>\d++) deletions?\(-\))?$"
)
_FILE: Final = re.compile(r" (?P<path>\S++(?: => \S++)?) ++\| ++(?:\d++|Bin)")
_ALARM: Final = re.compile(
    r"\b(?P<word>revert\w*|hot-?fix\w*|security|(?:remov|rotat|revok|expos|accidental"
    r"|commit)\w* .{0,30}(?:secrets?|credentials?|passwords?|private key)|leak(?:ed|s)?|force[- ]?push\w*|breaking"
    r"|cve-\d+|vulnerab\w*|rollback"
    r"|roll back|emergency|backdoor|bypass\w*|oops|do not merge|wip|urgent|data loss|corrupt\w*"
    r"|exploit|rce|xss|injection|disabl(?:e|ed|es|ing))\b",
    re.IGNORECASE,
)
_BREAKING: Final = re.compile(r"\w++(?:\([^)]*+\))?!:")
_ODD_MAIL: Final = re.compile(r"@(?:localhost|localdomain|\(none\)|[\w-]*\.local(?:domain)?)$|^root@|^[^@]*$")
_FORMATS: Final = ("%a %b %d %H:%M:%S %Y %z", "%Y-%m-%d %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %z")
_RARE: Final = 0.1
_MIN_KNOWN: Final = 20
"""With fewer commits, an author of one commit is nothing unusual."""
_DAY: Final = 86_400


@dataclass(slots=True)
class _Commit:
    id: str
    line: int
    refs: str = ""
    subject: str = ""
    author: str = ""
    mail: str = ""
    when: datetime | None = None
    is_merge: bool = False
    changed: int = 0

    @property
    def told(self) -> str:
        author = f" by {self.author}" if self.author else ""
        day = f" {self.when:%Y-%m-%d}" if self.when else ""
        return f"{self.id[:10]}{day}{author}: {brief(self.subject, 110)}"


def recognise(text: TextLines) -> float:
    sample = [_GRAPH.sub("", line, count=1) for line in bare(text.sample) if line.strip(" |\\/*")]
    full = sum(1 for line in sample if line.startswith("commit ") and _COMMIT.match(line))
    authors = sum(1 for line in sample if line.startswith("Author: "))
    hunks = sum(1 for line in sample if line.startswith("@@ -"))
    if full >= 2 and authors >= full * 0.6 and not hunks:
        return 0.95
    if full >= 2 and authors >= full * 0.6:
        return 0.5
    short = sum(1 for line in sample if _is_short(line))
    stat = sum(1 for line in sample if line[:1] == " ")
    return 0.85 if short >= 5 and short + stat >= 0.9 * len(sample) else 0.0


def _is_short(line: str) -> bool:
    found = _SHORT.match(line)
    # Words of the letters a to f and plain numbers are no ids.
    return bool(found) and not found["id"].isdigit() and not found["id"].isalpha() and not BLAME.match(line)


def survey(text: TextLines) -> Survey:
    commits, paths = _read(bare(text.lines))
    findings = [*_alarming(commits), *_odd_authors(commits), *_jumps(commits), *_large(commits)]
    return Survey(_title(commits), list(_map(commits, paths)), findings)


def _read(lines: Sequence[str]) -> tuple[list[_Commit], Counter[str]]:
    commits: list[_Commit] = []
    paths: Counter[str] = Counter()
    is_full = any(_COMMIT.match(_GRAPH.sub("", line, count=1)) for line in lines[:30])
    for number, raw in enumerate(lines, 1):
        line = _GRAPH.sub("", raw, count=1) if raw[:1] in ("*", "|") else raw
        if is_full and (found := _COMMIT.match(line)):
            commits.append(_Commit(found["id"], number, found["refs"] or ""))
        elif not is_full and (found := _SHORT.match(line)):
            commits.append(_Commit(found["id"], number, found["refs"] or "", found["subject"]))
            commits[-1].is_merge = found["subject"].startswith("Merge ")
        elif commits:
            _detail(commits[-1], line.lstrip("|*\\/ ") if raw[:1] == "|" and is_full else line, paths)
    return commits, paths


def _detail(commit: _Commit, line: str, paths: Counter[str]) -> None:
    if line.startswith("Merge: "):
        commit.is_merge = True
    elif not commit.author and (found := _AUTHOR.match(line)):
        commit.author, commit.mail = found["name"], found["mail"]
    elif commit.when is None and (found := _DATE.match(line)):
        commit.when = _moment(found["date"].strip())
    elif found := _STAT.match(line):
        commit.changed = int(found["added"] or 0) + int(found["removed"] or 0)
    elif " | " in line and (found := _FILE.match(line)):
        paths[found["path"]] += 1
    elif (
        not commit.subject
        and line.strip()
        and not line.startswith(("Commit:", "CommitDate:", "gpg:", "Author"))
    ):
        commit.subject = line.strip()


def _moment(text: str) -> datetime | None:
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _alarming(commits: Sequence[_Commit]) -> Iterator[Finding]:
    """Tell of subjects that sound alarming, as long as the word is rare in this log."""
    words: dict[str, list[_Commit]] = {}
    for commit in commits:
        if found := _ALARM.search(commit.subject):
            words.setdefault(found["word"].lower()[:6], []).append(commit)
        elif _BREAKING.match(commit.subject):
            words.setdefault("!", []).append(commit)
    for group in words.values():
        if len(group) <= max(3, len(commits) * _RARE / 2):
            for commit in group[:6]:
                yield Finding(commit.line, WORTH_A_LOOK, clip(commit.told))


def _odd_authors(commits: Sequence[_Commit]) -> Iterator[Finding]:
    for commit in commits:
        if commit.author and _ODD_MAIL.search(commit.mail):
            shown = sum(1 for one in commits if one.mail == commit.mail)
            if shown <= 3:
                yield Finding(commit.line, WORTH_A_LOOK, clip(f"odd e-mail <{commit.mail}>: {commit.told}"))
    if len(commits) < _MIN_KNOWN:
        return
    authors = Counter(commit.author for commit in commits if commit.author)
    mails = Counter(commit.mail for commit in commits)
    once = [commit for commit in commits if commit.author and authors[commit.author] == 1]
    if len(once) <= 2 and len(authors) >= 2:
        for commit in once:
            yield Finding(
                commit.line,
                SLIGHTLY_ODD + 2,
                clip(f"only commit of its author <{commit.mail}>: {commit.told}"),
            )
    for commit in commits:
        usual = authors[commit.author]
        if usual >= 8 and mails[commit.mail] == 1 and not _ODD_MAIL.search(commit.mail):
            yield Finding(
                commit.line,
                SLIGHTLY_ODD + 2,
                clip(f"unusual e-mail <{commit.mail}> of its author: {commit.told}"),
            )


def _jumps(commits: Sequence[_Commit]) -> Iterator[Finding]:
    """Tell where time runs against the order of the log by more than a day."""
    dated = [commit for commit in commits if commit.when]
    back: list[tuple[_Commit, float]] = []
    for newer, older in itertools.pairwise(dated):
        if newer.when and older.when:
            back.append((older, (older.when - newer.when).total_seconds()))
    is_reversed = sum(1 for _, ahead in back if ahead > 0) > len(back) / 2
    odd = [
        (commit, abs(ahead))
        for commit, ahead in back
        if (ahead < 0 if is_reversed else ahead > 0) and abs(ahead) > _DAY
    ]
    if len(odd) <= max(2, len(dated) // 50):
        for commit, ahead in odd[:4]:
            yield Finding(
                commit.line,
                SLIGHTLY_ODD,
                clip(f"time goes back by {ahead / _DAY:,.0f} days here: {commit.told}"),
            )


def _large(commits: Sequence[_Commit]) -> Iterator[Finding]:
    sizes = sorted(commit.changed for commit in commits if commit.changed)
    if len(sizes) < 8:
        return
    usual = sizes[len(sizes) * 9 // 10]
    for commit in commits:
        if commit.changed >= 500 and commit.changed > 8 * usual:
            text = f"{commit.changed:,} lines changed, nine of ten commits up to {usual:,}: {commit.told}"
            yield Finding(commit.line, WORTH_A_LOOK, clip(text))


def _title(commits: Sequence[_Commit]) -> str:
    moments = sorted(commit.when.astimezone(UTC) for commit in commits if commit.when)
    span = f" · {moments[0]:%Y-%m-%d} … {moments[-1]:%Y-%m-%d}" if moments else ""
    authors = len({commit.author for commit in commits if commit.author})
    by = f" by {count(authors, 'author')}" if authors else ""
    merges = sum(1 for commit in commits if commit.is_merge)
    merged = f" · {count(merges, 'merge')}" if merges else ""
    return f"git log: {count(len(commits), 'commit')}{by}{span}{merged}"


def _map(commits: Sequence[_Commit], paths: Counter[str]) -> Iterator[MapLine]:
    authors = Counter(commit.author for commit in commits if commit.author)
    if authors:
        yield MapLine(f"authors: {tally(authors)}", 6)
    tagged = [commit for commit in commits if "tag: " in commit.refs]
    if tagged:
        told = ", ".join(
            f"{brief(commit.refs.split('tag: ', 1)[1].split(',')[0], 40)} (line {commit.line})"
            for commit in tagged[:8]
        )
        yield MapLine(f"tags: {told}{f', … {len(tagged) - 8} more' if len(tagged) > 8 else ''}", 6)
    months = Counter(f"{commit.when:%Y-%m}" for commit in commits if commit.when)
    if len(months) > 1:
        ordered = sorted(months.items())
        shown = ordered if len(ordered) <= 12 else ordered[-12:]
        yield MapLine(f"by month: {', '.join(f'{month} {number:,}' for month, number in shown)}", 4)
    reverts = [commit.line for commit in commits if commit.subject.lower().startswith("revert")]
    if reverts:
        yield MapLine(f"reverts: {len(reverts):,} (lines {places(reverts)})", 5)
    kinds = Counter(
        commit.subject.split(":", 1)[0].split("(", 1)[0] for commit in commits if ": " in commit.subject[:30]
    )
    if sum(kinds.values()) * 2 > len(commits):
        yield MapLine(f"kinds: {tally(kinds)}", 4)
    if paths:
        yield MapLine(f"files touched by folder: {tally(by_folder(paths))}", 4)


DETECTOR: Final = Detector("git log", recognise, survey, has_end=False)
