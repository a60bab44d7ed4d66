"""Survey file listings of `tree`, `find` and `ls`: folders, endings and sizes, and the files that do not belong."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.file_entries import FileEntry, Listing, is_branch, is_long, is_path, read
from brimgate.engine.maps.phrases import bare, by_folder, count, places, size, tally
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_SECRET: Final = re.compile(
    r"(?:\.env(?:\.(?!example|sample|template|dist)\w+)?|id_(?:rsa|dsa|ed25519|ecdsa)|.*\.(?:pem|key|p12|pfx"
    r"|keystore|jks|kdbx|ppk)|\.?credentials(?:\.(?:json|ya?ml|csv|txt|ini|xml|db|toml))?"
    r"|\.netrc|\.pgpass|\.htpasswd|\.npmrc|\.pypirc|secrets?\.(?:ya?ml|json|toml|txt|env)|service[-_]account.*\.json|\.git-credentials|shadow|terraform\.tfstate.*|wallet\.dat)$",
    re.IGNORECASE,
)
_LEFTOVER: Final = re.compile(
    r"(?:core(?:\.\d+)?|.*\.(?:bak|old|orig|rej|swp|swo|tmp|dump|dmp|hprof|core)|.*~|.*\.sql(?:\.gz)?|nohup\.out"
    r"|.*\(\d\)\.\w+|.*[ _-]copy(?:[ _-]?\d+)?\.\w+|\.DS_Store|Thumbs\.db"
    r"|hs_err_pid\d+\.log|npm-debug\.log.*|backup.*\.(?:zip|tar|gz|tgz))$",
    re.IGNORECASE,
)
_PROGRAM: Final = (".exe", ".dll", ".scr", ".bat", ".vbs", ".ps1", ".msi", ".jar", ".so", ".dylib")
_MIN: Final = 30
_FOOTER_SLACK: Final = 1


def recognise(text: TextLines) -> float:
    return 0.9 if _kind(bare(text.sample)) else 0.0


def _kind(sample: Sequence[str]) -> str:
    lines = [line for line in sample if line.strip()]
    if len(lines) < 4:
        return ""
    enough = 0.8 * len(lines)
    if sum(1 for line in lines if is_branch(line)) >= enough - 3:
        return (
            "tree"
            if any("──" in line or "|-- " in line or "`-- " in line or "+---" in line for line in lines)
            else ""
        )
    headings = sum(1 for line in lines if line.endswith(":") and ("/" in line or line == ".:"))
    totals = sum(1 for line in lines if line.startswith("total "))
    if sum(1 for line in lines if is_long(line)) + headings + totals >= enough and headings + totals < enough:
        return "long"
    if sum(1 for line in lines if is_path(line)) >= 0.95 * len(lines) and len(lines) >= 5:
        return "paths"
    return "names" if _is_named(lines) else ""


def _is_named(lines: Sequence[str]) -> bool:
    """Tell whether it is `ls -R`: folders with a colon, all below one root, and names without one."""
    headings = [line for line in lines if line.endswith(":")]
    if (
        len(headings) < 2
        or len(headings) * 2 > len(lines)
        or any("  " in line or len(line) > 260 for line in lines)
    ):
        return False
    root = headings[0][:-1].rstrip("/")
    return (
        lines[0] == headings[0]
        and all(line.startswith(root) for line in headings)
        and sum(":" in line for line in lines) == len(headings)
    )


def survey(text: TextLines) -> Survey:
    lines = bare(text.lines)
    listing = read(lines, _kind(bare(text.sample)) or "paths")
    files = [entry for entry in listing.entries if not entry.is_folder]
    for entry in files:
        entry.split()
    found = [
        *_endings(files),
        *_depth(files),
        *_sizes(files),
        *_modes(listing.entries),
        *_kept(files),
        *_total(listing, len(files)),
    ]
    best = {one.place: one for one in sorted(found, key=lambda one: one.score)}
    return Survey(_title(listing, files), list(_map(listing, files)), list(best.values()))


def _kept(files: Sequence[FileEntry]) -> Iterator[Finding]:
    """Tell of files for secrets, and of backups and dumps, unless the listing is full of them."""
    for pattern, what, score in (
        (_SECRET, "may hold secrets", MUST_SEE),
        (_LEFTOVER, "left over", WORTH_A_LOOK),
    ):
        groups: dict[str, list[FileEntry]] = defaultdict(list)
        for entry in files:
            if pattern.match(entry.name):
                groups[entry.ending or entry.name].append(entry)
        for ending, group in groups.items():
            if len(group) <= max(3, len(files) // 50):
                yield from (Finding(one.line, score, clip(f"{what}: {_described(one)}")) for one in group)
            else:
                text = f"{what}: {len(group):,} files with {ending} "
                text += f"(lines {places(one.line for one in group)}), such as {group[0].path}"
                yield Finding(group[0].line, score - 2, clip(text))


def _described(entry: FileEntry) -> str:
    more = [
        part for part in (entry.mode, size(entry.size) if entry.size is not None else "", entry.date) if part
    ]
    return f"{entry.path}{' (' + ', '.join(more) + ')' if more else ''}"


def _endings(files: Sequence[FileEntry]) -> Iterator[Finding]:
    """Tell of files whose ending no other has, in a folder where all others share one; and of foreign programs."""
    if len(files) < _MIN:
        return
    endings = Counter(entry.ending for entry in files)
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    for entry in files:
        folders[entry.folder][entry.ending] += 1
    alone: list[Finding] = []
    for entry in files:
        ending, around = entry.ending, folders[entry.folder]
        if not ending or endings[ending] > 2:
            continue
        usual, number = around.most_common(1)[0]
        if ending in _PROGRAM:
            alone.append(Finding(entry.line, WORTH_A_LOOK, clip(f"program: {_described(entry)}")))
        elif number >= 8 and around[ending] == 1 and sum(around.values()) <= number + 2:
            text = f"the only {ending} among {number} {usual or 'files without ending'}: {_described(entry)}"
            alone.append(Finding(entry.line, SLIGHTLY_ODD + 1, clip(text)))
    yield from alone if len(alone) <= 8 else ()


def _depth(files: Sequence[FileEntry]) -> Iterator[Finding]:
    if len(files) < _MIN:
        return
    depths = sorted(entry.path.count("/") for entry in files)
    usual = depths[len(depths) * 98 // 100]
    deep = [entry for entry in files if entry.path.count("/") >= max(usual + 4, 2 * usual)]
    for entry in deep[:2]:
        yield Finding(
            entry.line,
            SLIGHTLY_ODD,
            clip(f"{entry.path.count('/')} folders deep (98 % up to {usual}): {entry.path}"),
        )


def _sizes(files: Sequence[FileEntry]) -> Iterator[Finding]:
    sized = sorted((entry.size, entry.line, entry) for entry in files if entry.size is not None)
    if len(sized) < 10:
        return
    usual = max(sized[len(sized) * 95 // 100 - 1][0], 1)
    for amount, _, entry in sized[-3:]:
        if amount >= 1 << 20 and amount > 10 * usual:
            yield Finding(
                entry.line, WORTH_A_LOOK, clip(f"large: {_described(entry)}, 95 % up to {size(usual)}")
            )
    empty = [
        entry
        for amount, _, entry in sized
        if amount == 0 and not entry.name.startswith((".", "__init__", "py.typed"))
    ]
    for entry in empty if len(empty) <= 2 and len(sized) >= _MIN else ():
        yield Finding(entry.line, SLIGHTLY_ODD, clip(f"empty: {_described(entry)}"))


def _modes(entries: Sequence[FileEntry]) -> Iterator[Finding]:
    moded = [entry for entry in entries if len(entry.mode) >= 10]
    loud = [
        entry
        for entry in moded
        if entry.mode[0] != "l"
        and ("s" in entry.mode[3:7].lower() or (entry.mode[8] == "w" and entry.mode[9] not in "tT"))
    ]
    for entry in loud if len(loud) <= max(5, len(moded) // 10) else ():
        what = "world-writable" if entry.mode[8] == "w" else "setuid or setgid"
        yield Finding(entry.line, WORTH_A_LOOK + 1, clip(f"{what}: {_described(entry)}"))
    owners = Counter(entry.owner for entry in moded if entry.owner)
    for entry in moded if len(moded) >= _MIN and len(owners) > 1 else ():
        if owners[entry.owner] == 1:
            yield Finding(
                entry.line, SLIGHTLY_ODD + 2, clip(f"only file of {entry.owner}: {_described(entry)}")
            )


def _total(listing: Listing, files: int) -> Iterator[Finding]:
    if listing.stated is None or not listing.entries:
        return
    line, folders, stated = listing.stated
    counted = len(listing.entries)
    # An empty folder looks like a file, and some versions count the root: only the sum can be compared.
    if stated >= 0 and abs(folders + stated - counted) > _FOOTER_SLACK:
        text = f"states {folders:,} directories and {stated:,} files, "
        text += f"together {folders + stated:,}, but {counted:,} entries are listed"
        yield Finding(line, WORTH_A_LOOK + 1, text)


def _title(listing: Listing, files: Sequence[FileEntry]) -> str:
    folders = len(listing.entries) - len(files)
    total = sum(entry.size or 0 for entry in files)
    sized = f" · {size(total)}" if total else ""
    return f"file listing: {count(len(files), 'file')}, {count(folders, 'folder')}{sized}"


def _map(listing: Listing, files: Sequence[FileEntry]) -> Iterator[MapLine]:
    yield MapLine(f"by top folder: {_tops(files)}", 8)
    deeper = by_folder(Counter(entry.path for entry in files), 10)
    if len(deeper) > 1:
        yield MapLine(f"by folder: {tally(deeper, 10)}", 6)
    yield MapLine(f"by ending: {tally(Counter(entry.ending or '(none)' for entry in files), 12)}", 6)
    sized = sorted(((entry.size, entry.path, entry.line) for entry in files if entry.size), reverse=True)[:5]
    if sized:
        told = ", ".join(f"{path} {size(amount)} (line {line})" for amount, path, line in sized)
        yield MapLine(f"largest: {told}", 5)
    names = Counter(entry.name for entry in files)
    repeated = Counter({name: number for name, number in names.items() if number > 1})
    if repeated:
        yield MapLine(f"names that occur several times: {tally(repeated, 6)}", 3)
    if listing.stated:
        yield MapLine(f"stated total: line {listing.stated[0]}", 2)


def _tops(files: Sequence[FileEntry]) -> str:
    """Write the top folders with their counts and lines."""
    spans: dict[str, list[int]] = {}
    tops: Counter[str] = Counter()
    for entry in files:
        top, slash, _ = entry.path.removeprefix("./").lstrip("/").partition("/")
        top = top if slash else "."
        tops[top] += 1
        spans.setdefault(top, [entry.line, entry.line])[1] = entry.line
    shown = tops.most_common(10)
    told = ", ".join(f"{top} {number:,} (lines {spans[top][0]}-{spans[top][1]})" for top, number in shown)
    rest = sum(tops.values()) - sum(number for _, number in shown)
    return f"{told}, … {len(tops) - 10} more with {rest:,}" if len(tops) > 10 else told


DETECTOR: Final = Detector("file listing", recognise, survey)
