"""Read the entries of file listings: `tree`, `find`, `find -ls`, `ls -l` and `ls -R`."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_BRANCH: Final = re.compile(
    r"(?P<indent>(?>(?:[│|]?[ \u00a0]{2,4})*))(?:├──|└──|\|--|`--|\+---|\\---)[ \u00a0]?(?P<name>.*)$"
)
_BRACKET: Final = re.compile(r"\[(?P<info>[^\]]{1,80})\]\s{1,3}(?P<name>.*)$")
_MODE: Final = r"(?P<mode>[dlcbps-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-])[.+@]?"
_LONG: Final = re.compile(
    _MODE + r"\s++\d++\s++(?P<owner>\S++)\s++(?:(?P<group>\S++)\s++)?(?P<size>\d[\d.,]*+[KMGTkB]?)\s++"
    r"(?P<date>[A-Z][a-z]{2}\s++\d{1,2}\s++[\d:]{4,5}|\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d\S*+)?(?: [+-]\d{4})?"
    r"|\d\d?\s++[A-Z][a-z]{2}\s++[\d:]{4,5})\s(?P<name>.*)$"
)
_FIND_LS: Final = re.compile(r"\A\s*+\d++\s++\d++\s++(?=[dlcbps-][r-][w-])")
_UNITS: Final = {"K": 1 << 10, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_FOOTER: Final = re.compile(r"(?P<folders>\d++) director(?:y|ies)(?:, (?P<files>\d++) files?)?$")
_INFO_SIZE: Final = re.compile(r"(?:^|\s)(?P<size>\d++(?:\.\d++)?[KMGT]?)(?=\s|$)")


@dataclass(slots=True)
class FileEntry:
    path: str
    line: int
    is_folder: bool = False
    size: int | None = None
    mode: str = ""
    date: str = ""
    owner: str = ""
    folder: str = ""
    name: str = ""
    ending: str = ""

    def split(self) -> None:
        """Set what the path consists of, once it is complete: `src`, `main.py`, `.py`."""
        self.folder, _, self.name = self.path.rpartition("/")
        dot = self.name.rfind(".")
        self.ending = self.name[dot:].lower() if dot > 0 else ""


@dataclass(slots=True)
class Listing:
    kind: str
    entries: list[FileEntry]
    stated: tuple[int, int, int] | None = None
    """The line of the total of `tree`, with its folders and files (-1 if it does not say)."""


def is_branch(line: str) -> bool:
    return ("── " in line or "-- " in line or "---" in line or "──\u00a0" in line) and bool(
        _BRANCH.match(line)
    )


def is_long(line: str) -> bool:
    return bool(_LONG.match(_FIND_LS.sub("", line, count=1)))


def is_path(line: str) -> bool:
    if not line or len(line) > 400 or line[-1] in ":;,{}" or "  " in line or "\t" in line or "://" in line:
        return False
    return line.startswith(("./", "/", "../")) or (
        "/" in line and " " not in line and line[0] not in "#<>*-+\"'{}[](|@$"
    )


def read(lines: Sequence[str], kind: str) -> Listing:
    """Read a listing of the kind that was recognised: `tree`, `long`, `names` or `paths`."""
    if kind == "tree":
        return _tree(lines)
    entries = list(_long(lines) if kind == "long" else _names(lines) if kind == "names" else _paths(lines))
    parents = {entry.path.rsplit("/", 1)[0] for entry in entries if "/" in entry.path}
    for entry in entries:
        entry.is_folder = entry.is_folder or entry.path in parents
    return Listing(kind, entries)


def _tree(lines: Sequence[str]) -> Listing:
    listing = Listing("tree", [])
    stack: list[FileEntry] = []
    for number, line in enumerate(lines, 1):
        if not (found := _BRANCH.match(line)):
            if total := _FOOTER.match(line.strip()):
                listing.stated = (number, int(total["folders"]), int(total["files"] or -1))
            continue
        depth = len(found["indent"]) // 4
        del stack[depth:]
        if stack:
            stack[-1].is_folder = True
        entry = _branch(found["name"], number)
        entry.path = f"{stack[-1].path}/{entry.path}" if stack else entry.path
        listing.entries.append(entry)
        stack.append(entry)
    return listing


def _branch(name: str, number: int) -> FileEntry:
    entry = FileEntry(name, number)
    if found := _BRACKET.match(name):
        entry.path = found["name"]
        info = found["info"].split()
        if info and len(info[0]) >= 10 and info[0][0] in "dl-":
            entry.mode, entry.is_folder = info[0], info[0][0] == "d"
        if sized := _INFO_SIZE.search(found["info"]):
            entry.size = _bytes(sized["size"])
    entry.path = entry.path.split(" -> ", 1)[0]
    if entry.path.endswith("/"):
        entry.path, entry.is_folder = entry.path.rstrip("/"), True
    return entry


def _long(lines: Sequence[str]) -> Iterator[FileEntry]:
    folder = ""
    for number, line in enumerate(lines, 1):
        found = _LONG.match(_FIND_LS.sub("", line, count=1))
        if not found:
            if line.endswith(":") and len(line) < 400:
                folder = line[:-1]
            continue
        name = found["name"].split(" -> ", 1)[0]
        if name in (".", ".."):
            continue
        path = f"{folder}/{name}" if folder and not name.startswith(("/", "./")) else name
        yield FileEntry(
            path,
            number,
            found["mode"][0] == "d",
            _bytes(found["size"]),
            found["mode"],
            found["date"],
            found["owner"],
        )


def _names(lines: Sequence[str]) -> Iterator[FileEntry]:
    """Read `ls -R`: a folder with a colon, then its names."""
    headings = {line[:-1] for line in lines if line.endswith(":")}
    folder = ""
    for number, line in enumerate(lines, 1):
        if line.endswith(":") and line[:-1] in headings:
            folder = line[:-1]
        elif line and not line.startswith("total "):
            path = f"{folder}/{line}".rstrip("/")
            yield FileEntry(path, number, line.endswith("/") or path in headings)


def _paths(lines: Sequence[str]) -> Iterator[FileEntry]:
    for number, line in enumerate(lines, 1):
        if line.strip() and line != ".":
            yield FileEntry(line.rstrip("/").strip(), number, line.endswith("/"))


def _bytes(text: str) -> int:
    unit = _UNITS.get(text[-1:], 1)
    try:
        return int(float(text.rstrip("KMGTkB").replace(",", "")) * unit)
    except ValueError:
        return 0
