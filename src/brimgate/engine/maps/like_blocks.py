"""Compare blocks that are meant to be alike: what each key usually is, and which block is different in what."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.credentials_scan import is_secret_name
from brimgate.engine.maps.phrases import brief, places
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK

_MIN_BLOCKS: Final = 5
_FEW: Final = 0.03
"""The share of blocks up to which a value, or its lack, is an exception."""
_MIN_COMMON: Final = 2
"""Keys that all blocks have, for them to be of one kind."""
_FREE: Final = re.compile(
    r"(?:\A|\.)(?:type|format|description|summary|help_text|run|command|script|comment|example)\Z"
)
"""What is written for each block anew, or says of which kind it is."""
_MANY: Final = 0.6
_FAR: Final = 4.0
"""How many times as large or small as all others a number is that lies apart."""
_VERY_FAR: Final = 8.0
_MAX_VALUE_CHARS: Final = 40
_NUMBER: Final = re.compile(r"([+-]?\d{1,18}(?:\.\d{1,9})?)\s?([A-Za-z%µ]{0,8})\Z")
_UNITS: Final = {
    "": 1.0, "%": 1.0, "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0,
    "d": 86400.0, "m": 1e-3, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1024.0, "Mi": 1024.0**2, "Gi": 1024.0**3,
    "Ti": 1024.0**4, "KB": 1e3, "kB": 1e3, "kb": 1e3, "MB": 1e6, "mb": 1e6, "GB": 1e9, "gb": 1e9, "g": 1e9, "px": 1.0, "B": 1.0,
}  # fmt: skip
_IDENTITY: Final = re.compile(
    r"(?:\A|[._\[])(?:id|uid|name|title|description|summary|version|date|port|\w*_id|\w*Id)\Z"
)


_OWN: Final = re.compile(
    r"(?i)(?:port|name|id|host|hostname|domain|url|path|ip|address|email|key|serial|order|uuid)\Z"
)
"""What two blocks should not share."""


class BlockLeaf(NamedTuple):
    path: str
    value: str
    line: int


@dataclass(slots=True)
class LikeBlock:
    label: str
    line: int
    leaves: list[BlockLeaf]


class _Cell(NamedTuple):
    block: LikeBlock
    value: str
    line: int


def number_of(value: str) -> float | None:
    """Return what a number with or without a unit stands for: `500m`, `2Gi`, `30s`."""
    found = _NUMBER.match(value)
    unit = _UNITS.get(found[2]) if found else None
    return float(found[1]) * unit if found and unit else None


class Comparison:
    def __init__(self, blocks: Sequence[LikeBlock]) -> None:
        self._blocks = blocks
        self._columns: defaultdict[str, list[_Cell]] = defaultdict(list)
        self._having: Counter[str] = Counter()
        """How many blocks have each path or a path below it."""
        for block in blocks:
            prefixes: dict[str, None] = {}
            for path, value, line in block.leaves:
                self._columns[path].append(_Cell(block, value, line))
                while path and path not in prefixes:
                    prefixes[path] = None
                    path = path.rpartition(".")[0]
            self._having.update(
                list(prefixes)
            )  # in the order of the text: that of a set differs in every process
        self._ends: Counter[str] = Counter()

    def findings(self) -> list[Finding]:
        if len(self._blocks) < _MIN_BLOCKS:
            return []
        common = sum(1 for having in self._having.values() if having == len(self._blocks))
        # Steps of a workflow or properties of a schema are blocks of several kinds: each lacks what another has.
        found = [*self._missing(), *self._extra()] if common >= _MIN_COMMON else []
        for path, cells in self._columns.items():
            if not is_secret_name(path):
                found.extend(_odd_values(self._shown(path), cells))
        return found

    def _shown(self, path: str) -> str:
        """Return the end of a path that no other path has."""
        if not self._ends:
            self._ends.update(".".join(other.split(".")[-2:]) for other in self._having)
        end = ".".join(path.split(".")[-2:])
        return end if self._ends[end] == 1 else path

    def table(self, most: int = 10) -> str:
        """Write what each key usually is, those that vary first: `replicas 2 ×34, 3 ×12, 50 ×1 (811 payments)`."""
        vary: list[tuple[float, str]] = []
        same: list[str] = []
        for path, cells in self._columns.items():
            if len(cells) * 2 < len(self._blocks) or is_secret_name(path) or cells[0].value[:1] in ("|", ">"):
                continue
            counts, shown = Counter(cell.value for cell in cells), self._shown(path)
            if len(counts) == 1 and len(cells) > 1:
                same.append(f"{shown} {_short(cells[0].value)}")
            elif len(counts) <= len(cells) * 0.4 and (
                len(counts) <= 20 or number_of(cells[0].value) is not None
            ):
                vary.append(
                    (
                        counts.most_common(1)[0][1] / len(cells) + path.count(".") / 20,
                        _row(shown, cells, counts),
                    )
                )
        vary.sort()
        rows = [text for _, text in vary[:most]]
        return " · ".join([*rows, *(["always " + ", ".join(same[:most])] if same else [])])

    def _missing(self) -> Iterator[Finding]:
        total = len(self._blocks)
        few = max(1, int(total * _FEW))
        if total <= _MIN_BLOCKS:
            return
        lacking: defaultdict[int, list[str]] = defaultdict(list)
        usual = [path for path, having in self._having.items() if total - few <= having < total]
        for path in usual:
            parent = path.rpartition(".")[0]
            if parent and self._having[parent] == self._having[path]:
                continue
            having = {id(cell.block) for cell in self._below(path)}
            for at, block in enumerate(self._blocks):
                if id(block) not in having:
                    lacking[at].append(path)
        by_paths: defaultdict[tuple[str, ...], list[LikeBlock]] = defaultdict(list)
        for at, paths in lacking.items():
            by_paths[tuple(paths)].append(self._blocks[at])
        for paths, blocks in by_paths.items():
            again = f" (also at {places([block.line for block in blocks[1:]], 4)})" if len(blocks) > 1 else ""
            names = _listed([self._shown(path) for path in paths])
            yield Finding(
                blocks[0].line, WORTH_A_LOOK, f"{blocks[0].label} lacks {names}{again}, the others have it"
            )

    def _below(self, path: str) -> Iterable[_Cell]:
        if path in self._columns:
            yield from self._columns[path]
        inner = path + "."
        for other, cells in self._columns.items():
            if other.startswith(inner):
                yield from cells

    def _extra(self) -> Iterator[Finding]:
        """Tell what one block alone has, unless blocks often have something of their own."""
        if len(self._blocks) < _MIN_BLOCKS + 3:
            return
        alone: list[str] = []
        for path, having in self._having.items():
            parent = path.rpartition(".")[0]
            if having == 1 and (not parent or self._having[parent] > max(4, len(self._blocks) // 2)):
                alone.append(path)
        if len(alone) > max(3, len(self._blocks) // 20):
            return
        for path in alone:
            cell = next(iter(self._below(path)), None)
            if cell and (cell.value or path not in self._columns):
                value = "" if is_secret_name(path) or path not in self._columns else " " + _short(cell.value)
                yield Finding(
                    cell.line, SLIGHTLY_ODD + 1, f"{cell.block.label} alone has {self._shown(path)}{value}"
                )


def _odd_values(path: str, cells: list[_Cell]) -> Iterator[Finding]:
    total = len(cells)
    if total < _MIN_BLOCKS or _FREE.search(path) or any(cell.value[:1] in ("|", ">") for cell in cells):
        return
    counts = Counter(cell.value for cell in cells)
    few = max(1, int(total * _FEW))
    if len(counts) == 1:
        return
    is_version = path.endswith((" tag", "version"))
    odd = [] if is_version else _other_type(cells, few) or _far_numbers(path, cells, counts, few)
    if odd:
        notes = dict.fromkeys(note for _, note in odd)
        yield from _told(path, [cell for cell, _ in odd], counts, WORTH_A_LOOK + 1, next(iter(notes)))
        return
    usual, most = counts.most_common(1)[0]
    rare = [value for value, count in counts.items() if count <= few and value != usual]
    if (
        most >= _MANY * total
        and len(counts) <= max(3, total // 5)
        and 0 < len(rare) <= 2
        and total > _MIN_BLOCKS
    ):
        score = WORTH_A_LOOK if usual in ("true", "false") or total >= 20 else SLIGHTLY_ODD + 1
        yield from _told(path, [cell for cell in cells if cell.value in rare], counts, score)
    elif total >= 8 and total - 2 <= len(counts) < total and _OWN.search(path):
        yield from _twice(path, cells, counts)


def _other_type(cells: list[_Cell], few: int) -> list[tuple[_Cell, str]]:
    texts = [cell for cell in cells if number_of(cell.value) is None]
    if not 0 < len(texts) <= few or any(mark in cell.value for cell in texts for mark in "${"):
        return []
    quoted = [cell for cell in texts if cell.value[:1] in "\"'"]
    if quoted and not all(cell.value.isdigit() for cell in cells if cell not in texts):
        return []  # where some have a unit, the quotes around others mean nothing
    return [(cell, "not a number") for cell in texts if cell.value not in ("", "null", "~")]


def _far_numbers(path: str, cells: list[_Cell], counts: Counter[str], few: int) -> list[tuple[_Cell, str]]:
    numbers = {value: number_of(value.strip("\"'")) for value in counts}
    ordered = sorted((number, value) for value, number in numbers.items() if number is not None)
    is_varied = len(counts) * 2 > len(cells)
    if len(ordered) < len(numbers) or (is_varied and (_IDENTITY.search(path) or len(cells) < 8)):
        return []
    far = _VERY_FAR if is_varied else _FAR
    odd: set[str] = set()
    if ordered[-1][0] > far * ordered[-2][0] > 0:
        odd.add(ordered[-1][1])
    if len(ordered) > 2 and 0 < ordered[0][0] * far < ordered[1][0]:
        odd.add(ordered[0][1])
    if len(ordered) == 2 and max(counts.values()) < len(cells) - few:
        return []
    odd = {value for value in odd if counts[value] <= few}
    return [(cell, "far from the others") for cell in cells if cell.value in odd]


def _twice(path: str, cells: list[_Cell], counts: Counter[str]) -> Iterator[Finding]:
    """Tell a value that two blocks share where all others have their own."""
    for value, count in counts.items():
        if count == 2 and value and len(value) > 1:
            first, second = (cell for cell in cells if cell.value == value)
            text = (
                f"{second.block.label}: {path} {_short(value)} is also that of {first.block.label} at {first.line}; all"
                " others differ"
            )
            yield Finding(second.line, SLIGHTLY_ODD + 2, text)


def _told(
    path: str, odd: list[_Cell], counts: Counter[str], score: float, note: str = ""
) -> Iterator[Finding]:
    """Tell each odd value once, with all its places."""
    by_value: defaultdict[str, list[_Cell]] = defaultdict(list)
    for cell in odd:
        by_value[cell.value].append(cell)
    note = f", {note}" if note else ""
    for value, cells in by_value.items():
        others = Counter({other: count for other, count in counts.items() if other != value})
        shown, more = (
            _others(others),
            f", … {len(others) - 3} more" if len(others) > 3 and others.most_common(1)[0][1] > 1 else "",
        )
        again = f", also at {places([cell.line for cell in cells[1:]], 4)}" if len(cells) > 1 else ""
        text = f"{cells[0].block.label}: {path} {_short(value)}{note}{again} (others {shown}{more})"
        yield Finding(cells[0].line, score, text)


def _others(others: Counter[str]) -> str:
    if len(others) > 3 and others.most_common(1)[0][1] == 1:
        ordered = sorted(others, key=lambda value: number_of(value.strip("\"'")) or 0.0)
        return (
            f"{_short(ordered[0])} to {_short(ordered[-1])}"
            if number_of(ordered[0]) is not None
            else f"{len(others)} different ones"
        )
    return ", ".join(f"{_short(other)} ×{count:,}" for other, count in others.most_common(3))


def _row(path: str, cells: list[_Cell], counts: Counter[str]) -> str:
    numbers = [number for cell in cells if (number := number_of(cell.value)) is not None]
    if len(counts) > 6 and len(numbers) == len(cells):
        values = sorted(((number_of(cell.value) or 0.0), cell.value) for cell in cells)
        return f"{path} {values[0][1]}–{values[-1][1]}, median {values[len(values) // 2][1]}"
    shown: list[str] = []
    for value, count in counts.most_common(5):
        who = (
            next((cell for cell in cells if cell.value == value), None)
            if count == 1 and len(cells) > 4
            else None
        )
        shown.append(
            f"{_short(value)} ×{count:,}" + (f" ({who.line} {brief(who.block.label, 30)})" if who else "")
        )
    more = [f"… {len(counts) - 5} more"] if len(counts) > 5 else []
    return f"{path} {', '.join([*shown, *more])}"


def _short(value: str) -> str:
    return brief(value, _MAX_VALUE_CHARS) if value else "(empty)"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
