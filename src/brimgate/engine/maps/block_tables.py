"""Read blocks of a configuration as tables: `interface X` with its indented lines is a row, and each of them a column.

Routers, firewalls and servers write them so, with `edit … next`, `!` or braces around a block. The kind of a block is what
its first line says before a name; the key of a line is the words that lines of other blocks begin with, too.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from brimgate.engine.highlights.row_source import Rows
from brimgate.engine.maps.document_tables import SECTION, DocumentTable

NAME: Final = "name"
YES: Final = "yes"
"""The value of a line that is only its key: `shutdown`."""
_MIN_ROWS: Final = 6
_MIN_LINES: Final = 60
_MAX_TABLES: Final = 12
_WINDOWS, _WINDOW = 12, 40
_MAX_LINES: Final = 400_000
_COVERED: Final = 0.5
"""Share of the lines that must stand in rows."""
_MAX_CALLS: Final = 0.15
_MAX_COLONS: Final = 0.1
"""Code has more lines with brackets; YAML, markup and prose have more that end with a colon, a bracket or a full stop."""
_MAX_KEY_WORDS: Final = 4
_MAX_DEPTH: Final = 8
_CUT_CHARS: Final = 2_000
"""A map reads longer lines cut, so that their quotes tell nothing; a query must find the same rows."""
_MAX_QUOTED: Final = 20
"""A text in quotes goes on over so many lines at most."""
_COMMON: Final = 0.5
_KNOWN: Final = 0.1
_ALIKE: Final = 0.6
"""Share of the lines in the blocks of a kind that must have a key which more than a few of them have."""
_FEW_NEXT: Final = 6
_HOST: Final = re.compile(
    r"(?:set (?:system )?)?(?:hostname|host-name|sysname|switchname) +(\"?[\w.-]{1,80}\"?)\s*\Z"
)
_RULED: Final = re.compile(r"[!#;/* ]{0,3}[=*#~+-]{3}")
_RULE_SIGNS: Final = "=*#~+-!;/ \t"
_MAX_BANNER: Final = 160
_BANNER_CHARS: Final = 60
_MIN_BODY: Final = 10
"""Lines of a configuration on average: a rule above every heading begins none."""
ALONE: Final = "lines outside of blocks"
_CLOSERS: Final = frozenset(("next", "end", "exit", "quit", "!", "#", "}", "};", "exit-address-family"))
_VERBS: Final = frozenset(("set", "config", "edit", "add"))
"""Words that say that something is told, not what."""
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z_-]*\Z")
_NUMBERED: Final = re.compile(r"\d+\Z")
_QUOTED: Final = re.compile(r'"([^"]*)"')
_QUOTED_ALL: Final = re.compile(r'"[^"]*"(?: "[^"]*")*\Z')


@dataclass(slots=True)
class _Block:
    head: str
    line: int
    parent: "_Block | None"
    leaves: list[str] = field(default_factory=list[str])
    label: str = ""
    name: str = ""
    division: str = ""
    """The one of several configurations in a text that it belongs to."""


def block_tables(lines: Sequence[str]) -> list[DocumentTable]:
    """Return the blocks of each kind as a table, the largest first; none if the text does not consist of such blocks."""
    if not _MIN_LINES <= len(lines) <= _MAX_LINES or not _may_have_blocks(lines):
        return []
    blocks = list(_blocks(lines))
    starts = _divisions(lines)
    for block in blocks if starts else ():
        block.division = _division_of(starts, block.line)
    _label(blocks)
    kinds: dict[str, list[_Block]] = defaultdict(list)
    for block in blocks:
        if block.leaves:
            kinds[_kind(block)].append(block)
    large = {kind: held for kind, held in kinds.items() if len(held) >= _MIN_ROWS}
    found = {kind: table for kind, held in large.items() if (table := _table(kind, held)) is not None}
    filled = sum(1 for line in lines if line.strip() and line.strip() not in _CLOSERS)
    if sum(1 + len(block.leaves) for kind in found for block in large[kind]) < _COVERED * filled:
        return []
    ranked = sorted(found.values(), key=lambda one: -len(one.rows.rows))
    alone = _table(ALONE, _lone_lines(lines, starts, blocks)) if len(starts) >= _MIN_ROWS else None
    return [*([alone] if alone else []), *ranked][:_MAX_TABLES]


def _divisions(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return where each of several configurations in one text begins, and what it is called: by its host, or by a banner."""
    hosts = [(at, found[1].strip('"')) for at, line in enumerate(lines, 1) if (found := _HOST.match(line))]
    banners = [(at, name) for at, line in enumerate(lines, 1) if (name := _banner(line))]
    if len({name for _, name in banners}) != len(banners) or len(banners) * _MIN_BODY > len(lines):
        banners = []
    if len({name for _, name in hosts}) < 2:
        return [(at, name[:_BANNER_CHARS]) for at, name in banners] if len(banners) >= _MIN_ROWS else []
    if len(banners) == len(hosts) and all(
        banner < host for (banner, _), (host, _) in zip(banners, hosts, strict=True)
    ):
        return [(banner, name) for (banner, _), (_, name) in zip(banners, hosts, strict=True)]
    return hosts


def _banner(line: str) -> str:
    """Return what stands between two rules in a line, such as `!======== device sw-1 ========`; empty if it is none."""
    if len(line) > _MAX_BANNER or not _RULED.match(line):
        return ""
    name = line.strip(_RULE_SIGNS)
    return name if any(map(str.isalpha, name)) and not any(sign in name for sign in "=*#~") else ""


def _division_of(starts: Sequence[tuple[int, str]], line: int) -> str:
    at = bisect_right(starts, line, key=lambda one: one[0])
    return starts[at - 1][1] if at else ""


def _lone_lines(
    lines: Sequence[str], starts: Sequence[tuple[int, str]], blocks: Sequence[_Block]
) -> list[_Block]:
    """Return for each configuration what stands in no block: its servers of time, its name, its version."""
    heads = {block.line for block in blocks}
    found = {name: _Block(ALONE, at, None, division=name) for at, name in starts}
    for number, line in enumerate(lines, 1):
        is_leaf = line[:1].strip() and line[0] not in "!#" and line.strip() not in _CLOSERS
        if is_leaf and number not in heads and (name := _division_of(starts, number)):
            found[name].leaves.append(line.strip())
    return [block for block in found.values() if block.leaves]


def _may_have_blocks(lines: Sequence[str]) -> bool:
    step = max(1, len(lines) // _WINDOWS)
    # Some lines in a row, at several places: single ones at equal distances may all be the same line of their blocks.
    sample = [
        line
        for at in range(0, len(lines), step)
        for line in lines[at : at + min(step, _WINDOW)]
        if line.strip() and line.strip() not in _CLOSERS
    ]
    indented = sum(line[0] in " \t" for line in sample)
    calls = sum("(" in line for line in sample)
    colons = sum(line.rstrip().endswith((":", ",", ">", ".")) for line in sample)
    return (
        indented >= _COVERED * len(sample)
        and calls <= _MAX_CALLS * len(sample)
        and colons <= _MAX_COLONS * len(sample)
    )


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    """Return the blocks in their order: lines that others are indented under, and those others."""
    open_blocks: list[tuple[int, _Block]] = []
    last: tuple[int, str, int] | None = None
    quoted = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        is_inside, is_odd = quoted > 0, len(line) < _CUT_CHARS and text.count('"') % 2 == 1
        quoted = (0 if is_odd else quoted - 1) if is_inside else _MAX_QUOTED if is_odd else 0
        if is_inside or not text or text in _CLOSERS:
            continue
        indent = len(line) - len(line.lstrip())
        if last is not None:
            if indent > last[0]:
                block = _Block(last[1].rstrip(" {"), last[2], open_blocks[-1][1] if open_blocks else None)
                open_blocks.append((last[0], block))
                yield block
            elif open_blocks:
                open_blocks[-1][1].leaves.append(last[1])
        while open_blocks and open_blocks[-1][0] >= indent:
            open_blocks.pop()
        last = indent, text, number
    if last is not None and open_blocks:
        open_blocks[-1][1].leaves.append(last[1])


def _label(blocks: Sequence[_Block]) -> None:
    """Part the first line of each block into what it is and its name."""
    whole = Counter[tuple[int, str]]()
    first = Counter[tuple[int, str]]()
    for block in blocks:
        words = block.head.split()
        plain = next((at for at, word in enumerate(words) if not _PLAIN.match(word)), len(words))
        block.label, block.name = " ".join(words[:plain]), " ".join(words[plain:])
        whole[id(block.parent), block.label] += 1
        first[id(block.parent), block.head.partition(" ")[0]] += 1
        words = block.label.split()
        if (
            not block.name
            and len(words) > 1
            and words[-1] != words[-1].lower()
            and words[0] == words[0].lower()
        ):
            block.label, block.name = (
                " ".join(words[:-1]),
                words[-1],
            )  # keywords are in small letters: `access-list VTY-IN`
    for block in blocks:
        word, _, rest = block.head.partition(" ")
        is_own_name = not block.name and rest and whole[id(block.parent), block.label] < _MIN_ROWS
        if is_own_name and word not in _VERBS and first[id(block.parent), word] >= _MIN_ROWS:
            block.label, block.name = word, rest


def _kind(block: _Block) -> str:
    """Return what a block and those around it are, without their names."""
    labels = [" ".join(word for word in one.label.split() if word not in _VERBS) for one in _around(block)]
    return " / ".join(label for label in reversed(labels) if label) or block.label or "block"


def _table(kind: str, blocks: Sequence[_Block]) -> DocumentTable | None:
    """Return the blocks of a kind as rows; None if they have not the same keys."""
    entries = [[_words(leaf) for leaf in block.leaves] for block in blocks]
    keys = _Keys([words for leaves in entries for words in leaves])
    rows: list[dict[str, Any]] = []
    has_names = any(block.name for block in blocks)
    sections = [_section(block) for block in blocks]
    has_sections = any(sections)
    for block, section, leaves in zip(blocks, sections, entries, strict=True):
        row: dict[str, Any] = {SECTION: section} if has_sections else {}
        if has_names:
            row[NAME] = _bare(block.name)
        values: dict[str, list[str]] = defaultdict(list)
        for words in leaves:
            key, value = keys.parted(words)
            values[key if key not in (NAME, SECTION) else f"{key}_2"].append(value)
        rows.append(row | {key: " | ".join(told) for key, told in values.items()})
    if not _are_alike(rows):
        return None
    names = dict.fromkeys(name for row in rows for name in row if name != SECTION)
    return DocumentTable(tuple(names), Rows(rows, [block.line for block in blocks], "line"), title=kind)


def _are_alike(rows: Sequence[dict[str, Any]]) -> bool:
    counts = Counter(name for row in rows for name in row if name not in (NAME, SECTION))
    common = sum(count >= _COMMON * len(rows) for count in counts.values())
    known = sum(count for count in counts.values() if count > _KNOWN * len(rows))
    is_one = len(counts) == 1 and counts.total() == len(rows)
    return (common >= 2 or is_one) and known >= _ALIKE * counts.total()


def _section(block: _Block) -> str:
    names = [_bare(one.name) for one in _around(block)[1:] if one.name]
    return " / ".join([*([block.division] if block.division else []), *reversed(names)])


def _around(block: _Block) -> list[_Block]:
    """Return a block and those that it stands in, the nearest first."""
    found = [block]
    while (parent := found[-1].parent) is not None and len(found) < _MAX_DEPTH:
        found.append(parent)
    return found


def _words(leaf: str) -> list[str]:
    words = leaf.rstrip(";").split()
    if len(words) > 1 and (words[0] in _VERBS or _NUMBERED.match(words[0])):
        return words[1:]
    return words or [leaf]


class _Keys:
    """The words that lines begin with: as many as are a key in all blocks of one kind."""

    def __init__(self, entries: Sequence[list[str]]) -> None:
        self._next: dict[tuple[str, ...], set[str]] = defaultdict(set)
        self._ends: Counter[tuple[str, ...]] = Counter()
        self._goes: Counter[tuple[str, ...]] = Counter()
        for words in entries:
            for size in range(1, min(len(words), _MAX_KEY_WORDS)):
                lead = tuple(words[:size])
                following = self._next[lead]
                if len(following) <= _FEW_NEXT:
                    following.add(words[size])
                (self._ends if len(words) == size + 1 else self._goes)[lead] += 1

    def parted(self, words: Sequence[str]) -> tuple[str, str]:
        """Return the key of a line and its value."""
        size = 1
        while size < min(len(words) - 1, _MAX_KEY_WORDS):
            lead = tuple(words[:size])
            is_key = (
                _PLAIN.match(words[size]) is not None
                and (words[size].islower() or not words[0].islower())
                and len(self._next[lead]) <= _FEW_NEXT
                and self._goes[lead] >= self._ends[lead]
            )
            if not is_key:
                break
            size += 1
        return " ".join(words[:size]), _bare(" ".join(words[size:])) or YES


def _bare(text: str) -> str:
    """Return a value without its quotes, and a list of quoted values with commas."""
    if text[:1] == '"' and text.count('"') == 1:  # it goes on in the next lines
        return f"{text[1:]} …"
    if text[:1] != '"' or not _QUOTED_ALL.match(text):
        return text
    return ", ".join(_QUOTED.findall(text))
