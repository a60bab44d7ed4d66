"""Survey documents with headings: Markdown, reStructuredText, AsciiDoc, LaTeX, numbered sections, man pages, plain text."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps.credentials_scan import find_secrets
from brimgate.engine.maps.line_search import LineSearch, per_line
from brimgate.engine.maps.phrases import brief, count, places
from brimgate.engine.maps.prose_claims import contradictions, dates_out_of_order
from brimgate.engine.maps.survey import SLIGHTLY_ODD, WORTH_A_LOOK, Detector, MapLine, Survey, TextLines
from brimgate.engine.textkind import ENTRY

_ATX: Final = re.compile(r" {0,3}(#{1,6})\s++(\S.*)")
_ASCIIDOC: Final = re.compile(r"(={1,6})\s++(\S.*)")
_LATEX_LEVELS: Final = ("part", "chapter", "section", "subsection", "subsubsection", "paragraph")
_LATEX: Final = re.compile(
    rf"\s{{0,4}}\\({'|'.join(_LATEX_LEVELS)})\*?(?:\[[^\]]{{0,120}}\])?\{{(.{{1,200}}?)\}}\s*(?:\\label|%|\Z)"
)
_UNDERLINE: Final = re.compile(r"([=\-~^\"'`*+#:._<>])\1{2,}\s*+\Z")
_NUMBERED: Final = re.compile(
    r"\s{0,3}(?:(?:Section|Article|Chapter|Part|Appendix|Annex|Kapitel|Artikel|§)\s?(?P<named>\d{1,4}"
    r"|[IVXLC]{1,7}|[A-Z])\b[.:]?(?P<after>.{0,120})"
    r"|(?P<number>\d{1,3}(?:\.\d{1,3}){0,5})\.?\s{1,4}(?P<title>[A-Z\"'“(À-Þ].{0,110}))\Z"
)
_CAPS: Final = re.compile(r"[A-Z][A-Z0-9 ,/&()'’:.\-]{3,80}\Z")
_FENCE: Final = re.compile(r"\s{0,3}(```+|~~~+|----+\Z|\.\.\.\.+\Z)")
_NUMBER_IN_TITLE: Final = re.compile(
    r"(?:(?:Section|Article|Chapter|Part)\s)?(\d{1,3}(?:\.\d{1,3}){0,5})[.:)]?(?:\s|\Z)"
)
_CLAUSE: Final = re.compile(r"\s{0,12}(\d{1,3}(?:\.\d{1,3}){1,4})[.:)]?\s+\S")
_MIN_CLAUSES: Final = 20
_FURTHEST: Final = 4
"""A number further away than this is one in a sentence."""
_LINK: Final = re.compile(r"\]\(([^()\s]{1,400})|\bhttps?://[^\s<>()\"'\]]{3,300}")
_ANCHOR: Final = re.compile(
    r"(?:<a\s[^>]{0,80}?(?:id|name)=[\"']([^\"']{1,100})|\{#([\w:.-]{1,100})\}|\[\[([\w:.-]{1,100})\]\]"
    r"|id=[\"']([^\"']{1,100})[\"'])"
)
_PLACEHOLDER: Final = (
    r"\b(?:TODO|FIXME|TBD|XXX|TKTK|HACK)\b|(?i:lorem ipsum)|\[(?i:insert|placeholder|tbc"
    r"|to be )[^\]\n]{0,40}\]|\?\?\?"
)
_NOTE: Final = (
    r"(?i:\b(?:deprecated|breaking change|danger(?:ous)?|do not use|data loss|irreversible"
    r"|known (?:issue|bug)|obsolete|end of life|confidential|embargo(?:ed)?|recalled)\b)"
    r"|(?:(?m:^)|[*>\[!_ ])(?:WARNING|CAUTION|DANGER|ATTENTION|BREAKING)\b"
)
_PROSE: Final = re.compile(r"[A-Za-zÀ-ÿ]{2,}(?:[ ,][ ]?[A-Za-zÀ-ÿ'’-]{1,}){3}")
_MAX_NOTES: Final = 5
_MAX_LISTED: Final = 30
_STAMP: Final = re.compile(ENTRY.pattern.decode()[1:])
_SLUG_DROPPED: Final = re.compile(r"[^\w\- ]")
_WORDS: Final = re.compile(r"\S+")


@dataclass(slots=True)
class _Heading:
    line: int
    level: int
    title: str
    end: int = 0
    body: int = 0
    """Lines with text before the next heading of any level."""
    inner: "list[_Heading]" = field(default_factory=list["_Heading"])
    kind: str = ""
    """What the document calls it, if it does."""


def recognise(text: TextLines) -> float:
    lines = [line for line in text.sample if line.strip()]
    first = lines[0].lstrip().lower() if lines else ""
    if len(lines) < 3 or first.startswith(("{", "<!doctype", "<html", "<?", "diff ", "from ")):
        return 0.0
    if sum(1 for line in lines if _STAMP.match(line)) * 4 > len(lines):
        return 0.0
    headings = _headings(text.sample)
    prose = sum(1 for line in lines if _PROSE.search(line))
    marked = sum(1 for line in lines if line.lstrip().startswith(("- ", "* ", "|", "> ", "```", "1. ")))
    in_code = _code_lines(text.sample)
    code = sum(
        1
        for number, line in enumerate(text.sample, 1)
        if number not in in_code and line[:1] != "\\" and line.rstrip().endswith((";", "{", "}", "):"))
    )
    if code * 4 > len(lines) + marked or not headings:
        return 0.0
    share = (prose + marked / 2 + len(headings) * 2) / len(lines)
    dense = len(headings) / len(lines)
    if dense > 0.75 or prose * 8 < len(lines) - marked - len(in_code):
        return 0.0
    if _are_comments(headings, text.sample):
        return 0.0
    is_markdown = any(line.startswith("#") and _ATX.match(line) for line in lines)
    strength = 0.9 if is_markdown and (marked or len(headings) > 2) else 0.75 if len(headings) > 2 else 0.4
    return min(strength, share)


def _are_comments(headings: list[_Heading], lines: Sequence[str]) -> bool:
    """Return whether what looks like headings (there are some) are comments: of one level, with text right below most."""
    if any(one.level > 1 for one in headings) or not _ATX.match(lines[headings[0].line - 1]):
        return False
    tight = sum(1 for one in headings if one.line < len(lines) and lines[one.line].strip())
    return tight * 2 > len(headings)


def survey(text: TextLines) -> Survey:
    lines = text.lines
    headings = _headings(lines)
    _measure(headings, lines)
    in_code, search = _code_lines(lines), LineSearch(lines)
    found = [
        *find_secrets(lines),
        *_odd_headings(headings),
        *_odd_numbers(headings, lines),
        *_odd_clauses(lines),
        *_broken_links(lines, headings, in_code),
    ]
    found += [
        *_marks(lines, search, in_code),
        *contradictions(lines, search, in_code),
        *dates_out_of_order((one.line, one.level, one.title) for one in headings),
    ]
    return Survey(_title(lines, headings, in_code), _outline(headings, len(lines)), per_line(found))


def section_paths(lines: Sequence[str]) -> list[str]:
    """Return for each line the headings above it, but for the title of all: `3. Archive / Settings`."""
    above: dict[int, str] = {}
    headings = {one.line: one for one in _headings(lines)}
    title = min((one.level for one in headings.values()), default=0)
    if sum(one.level == title for one in headings.values()) > 1:
        title -= 1  # there is none
    path, paths = "", list[str]()
    for number in range(1, len(lines) + 1):
        if (heading := headings.get(number)) is not None:
            above = {level: text for level, text in above.items() if level < heading.level}
            above[heading.level] = heading.title
            path = " / ".join(text for level, text in above.items() if level > title) or heading.title
        paths.append(path)
    return paths


def _headings(lines: Sequence[str]) -> list[_Heading]:
    """Return the headings in the way of writing that the document uses: marks first, else numbers, else capitals."""
    marked = list(_marked_headings(lines))
    if len(marked) >= 2:
        return marked
    numbered = list(_numbered_headings(lines))
    if len(numbered) >= 3:
        return _with_caps(numbered, lines)
    caps = [_Heading(at, 1, line.strip()) for at, line in enumerate(lines, 1) if _is_caps(lines, at - 1)]
    return caps if len(caps) >= 3 else marked or numbered


def _marked_headings(lines: Sequence[str]) -> Iterator[_Heading]:
    fence, styles = "", list[str]()
    before = ""
    for number, line in enumerate(lines, 1):
        first = line[:1]
        if first in "`~ " and (mark := _FENCE.match(line)) and mark[1][0] in "`~":
            fence = ("" if line.strip().startswith(fence) else fence) if fence else mark[1]
        elif fence or line.startswith(("    ", "\t")):
            pass
        elif (first == "#" or line.lstrip(" ")[:1] == "#") and (found := _ATX.match(line)):
            yield _Heading(number, len(found[1]), found[2].rstrip("# ").strip())
        elif first == "=" and (found := _ASCIIDOC.match(line)):
            yield _Heading(number, len(found[1]), found[2].strip())
        elif line.lstrip(" ")[:1] == "\\" and (found := _LATEX.match(line)):
            yield _Heading(number, _LATEX_LEVELS.index(found[1]) + 1, found[2].strip(), kind=found[1])
        elif before and _is_underline(line, before):
            styles = styles if first in styles else [*styles, first]
            yield _Heading(number - 1, styles.index(first) + 1, before.strip())
            line = ""
        before = line if line.strip() and not _UNDERLINE.match(line) else ""


def _is_underline(line: str, before: str) -> bool:
    if not _UNDERLINE.match(line) or before[0] in "-*|>+` \t":
        return False
    # A shorter row of dashes below a text is a rule or a table.
    return len(line.rstrip()) >= len(before.strip()) * 0.8 and len(before) < 120 and "|" not in before


def _numbered_headings(lines: Sequence[str]) -> Iterator[_Heading]:
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if not stripped or len(stripped) > 120 or not (stripped[0].isdigit() or stripped[0] in "SACPKA§"):
            continue
        found = _NUMBERED.match(line)
        if found is None or stripped.endswith((",", ";")) or "....." in line or ". . ." in line:
            continue
        if (number > 1 and lines[number - 2].strip()) and (number < len(lines) and lines[number].strip()):
            continue  # inside of a paragraph or a list
        if found["named"]:
            if not stripped.endswith(".") or len(stripped) < 60:
                yield _Heading(number, 1, stripped)
        elif not stripped.endswith((".", ":")) or len(stripped) < 50:
            yield _Heading(number, found["number"].count(".") + 1, stripped)


def _with_caps(numbered: list[_Heading], lines: Sequence[str]) -> list[_Heading]:
    """Put chapters over articles: where two ways of naming are used, the rarer one is above."""
    kinds = Counter(heading.title.split(" ")[0] for heading in numbered if not heading.title[0].isdigit())
    ranked = [kind for kind, _ in sorted(kinds.items(), key=lambda one: one[1])]
    for heading in numbered:
        kind = heading.title.split(" ")[0]
        heading.level += ranked.index(kind) if kind in kinds else len(ranked)
    return numbered


def _is_caps(lines: Sequence[str], at: int) -> bool:
    line = lines[at]
    stripped = line.strip()
    if (
        not _CAPS.match(stripped)
        or stripped.endswith((".", ","))
        or sum(map(str.isalpha, stripped)) * 2 < len(stripped)
    ):
        return False
    is_first = line[:1] not in (" ", "\t") or len(line) - len(line.lstrip()) > 8
    return is_first and (at == 0 or not lines[at - 1].strip())


def _measure(headings: list[_Heading], lines: Sequence[str]) -> None:
    open_ones: list[_Heading] = []
    for at, heading in enumerate(headings):
        while open_ones and open_ones[-1].level >= heading.level:
            open_ones.pop().end = heading.line - 1
        if open_ones:
            open_ones[-1].inner.append(heading)
        open_ones.append(heading)
        after = headings[at + 1].line - 1 if at + 1 < len(headings) else len(lines)
        heading.body = sum(
            1 for line in lines[heading.line : after] if line.strip() and not _UNDERLINE.match(line)
        )
    for heading in open_ones:
        heading.end = len(lines)


def _code_lines(lines: Sequence[str]) -> set[int]:
    """Return the numbers of lines inside of fences."""
    inside: set[int] = set()
    fence = ""
    for number, line in enumerate(lines, 1):
        start = line.lstrip()[:3]
        if start in ("```", "~~~") and start == (fence or start):
            inside.add(number)
            fence = "" if fence else start
        elif fence:
            inside.add(number)
    return inside


def _title(lines: Sequence[str], headings: list[_Heading], in_code: set[int]) -> str:
    words = sum(len(line.split()) for line in lines)
    fences = sum(1 for number in in_code if number - 1 not in in_code)
    rows = [
        number
        for number, line in enumerate(lines, 1)
        if line.lstrip().startswith("|") and number not in in_code
    ]
    rulers = sum(1 for number in rows if not lines[number - 1].strip("|-: \t"))
    tables = sum(1 for at, number in enumerate(rows) if at == 0 or rows[at - 1] != number - 1)
    links = sum(1 for line in lines if "](" in line or "://" in line for _ in _LINK.finditer(line))
    kinds = Counter(one.kind for one in headings if one.kind)
    named = [count(number, kind) for kind, number in kinds.items()]
    parts = [*(named or [count(len(headings), "heading")]), count(words, "word"), count(len(lines), "line")]
    parts += (
        [f"{count(tables, 'table')} with {count(max(len(rows) - 2 * rulers, 0), 'row')}"] if tables else []
    )
    parts += [count(fences, "code block")] if fences else []
    parts += [count(links, "link")] if links else []
    return "document: " + ", ".join(parts)


def _outline(headings: list[_Heading], total: int) -> list[MapLine]:
    if not headings:
        return []
    least = min(one.level for one in headings)
    tops = [one for one in headings if one.level == least]
    lines: list[MapLine] = []
    if len(tops) == 1 and tops[0].inner:
        lines.append(MapLine(f"{tops[0].line}-{tops[0].end} {brief(tops[0].title, 80)}", 9.0))
        tops = tops[0].inner
    if headings[0].line > 3 and tops and tops[0].line > headings[0].line:
        tops = [one for one in headings if one.line < tops[0].line and one.level > least][:1] + tops
    is_many = len(tops) > _MAX_LISTED
    if is_many:
        return [*lines, *_folded(tops)]
    for top in tops:
        share = (top.end - top.line + 1) / max(total, 1)
        lines.append(
            MapLine(f"{top.line}-{top.end} {brief(top.title, 80)}{_inside(top, share)}", 6.0 + 3 * share)
        )
    return lines


def _inside(top: _Heading, share: float) -> str:
    inner = top.inner
    while len(inner) == 1 and inner[0].inner:
        inner = inner[0].inner
    if not inner:
        return ""
    most = max(8, int(40 * share))
    kept = sorted(sorted(inner, key=lambda one: one.line - one.end)[:most], key=lambda one: one.line)
    deeper = sum(1 for _ in _all_below(top)) - len(inner)
    more = f", … {len(inner) - most} more" if len(inner) > most else ""
    below = f" (+{deeper} below)" if deeper > 0 else ""
    return ": " + ", ".join(f"{brief(one.title, 50)} {one.line}" for one in kept) + more + below


def _all_below(top: _Heading) -> Iterator[_Heading]:
    for one in top.inner:
        yield one
        yield from _all_below(one)


def _folded(tops: list[_Heading]) -> Iterator[MapLine]:
    """Write many headings of one level in few lines, all of them while they fit."""
    step = 12
    for at in range(0, min(len(tops), step * 12), step):
        part = tops[at : at + step]
        yield MapLine(
            f"{part[0].line}-{part[-1].end} "
            + " · ".join(f"{brief(one.title, 44)} {one.line}" for one in part),
            6.0,
        )
    if len(tops) > step * 12:
        yield MapLine(f"… {len(tops) - step * 12:,} more headings to line {tops[-1].end}", 5.0)


def _odd_headings(headings: list[_Heading]) -> Iterator[Finding]:
    empty = [one for one in headings if not one.body and not one.inner]
    if empty and len(empty) * 10 < len(headings) + 10:
        for one in empty[:4]:
            yield Finding(one.line, SLIGHTLY_ODD + 2, f"section without text: {brief(one.title, 80)}")
    yield from _same_headings(headings)
    jumps = [(before, one) for before, one in itertools.pairwise(headings) if one.level > before.level + 1]
    if 0 < len(jumps) <= 2 and len(headings) > 8:
        for before, one in jumps:
            yield Finding(
                one.line,
                SLIGHTLY_ODD,
                f"heading of level {one.level} right below level {before.level}: {brief(one.title, 60)}",
            )


def _same_headings(headings: list[_Heading]) -> Iterator[Finding]:
    """Tell headings that stand twice below one heading, or with a long title anywhere. Changelogs repeat short ones."""
    owners: list[_Heading] = []
    first: dict[tuple[int, str], int] = {}
    repeated: defaultdict[str, list[int]] = defaultdict(list)
    for one in headings:
        while owners and owners[-1].level >= one.level:
            owners.pop()
        key = (owners[-1].line if owners else 0, one.title.lower())
        if key in first:
            repeated[one.title].append(one.line)
        first.setdefault(key, one.line)
        owners.append(one)
    if sum(map(len, repeated.values())) <= max(4, len(headings) // 20):
        starts = {title: line for (_, title), line in reversed(first.items())}
        for title, lines in repeated.items():
            yield Finding(
                lines[0],
                WORTH_A_LOOK - 1,
                f"heading a second time: {brief(title, 70)}, first at {starts[title.lower()]}",
            )


def _odd_numbers(headings: list[_Heading], lines: Sequence[str]) -> Iterator[Finding]:
    begun = {found[1] for line in lines if (found := _CLAUSE.match(line))}
    numbered = [(one, found[1]) for one in headings if (found := _NUMBER_IN_TITLE.match(one.title))]
    if len(numbered) < 4 or len(numbered) * 3 < len(headings):
        return
    last: dict[str, tuple[int, int]] = {}
    found_odd: list[Finding] = []
    for one, number in numbered:
        parent, _, own = number.rpartition(".")
        kind = one.title.split(" ")[0] if not one.title[0].isdigit() else ""
        before, line = last.get(kind + parent, (0, 0))
        last[kind + parent] = (int(own), one.line)
        if int(own) == before:
            found_odd.append(
                Finding(
                    one.line,
                    WORTH_A_LOOK,
                    f"number {number} a second time, first at {line}: {brief(one.title, 70)}",
                )
            )
        elif int(own) > before + 1 and before:
            missing = f"{parent}.{before + 1}" if parent else str(before + 1)
            if missing in begun:
                continue  # it is there, only not as a heading
            found_odd.append(
                Finding(one.line, WORTH_A_LOOK, f"number {missing} is missing before {brief(one.title, 70)}")
            )
        elif int(own) < before and own != "1":
            found_odd.append(
                Finding(one.line, SLIGHTLY_ODD, f"number {number} after {before}: {brief(one.title, 70)}")
            )
    if len(found_odd) <= max(3, len(numbered) // 10):
        yield from found_odd


def _odd_clauses(lines: Sequence[str]) -> Iterator[Finding]:
    """Find a number that is left out, or is there twice, among clauses that are numbered `10.1`, `10.2`, …"""
    parent, before, count_of = "", 0, 0
    found_odd: list[Finding] = []
    for at, line in enumerate(lines, 1):
        found = _CLAUSE.match(line)
        if found is None or "." not in found[1]:
            continue
        above, _, own = found[1].rpartition(".")
        if above != parent:
            if own == "1":  # else it is a number that a wrapped line begins with
                parent, before, count_of = above, 1, count_of + 1
            continue
        count_of += 1
        if int(own) != before + 1:
            if not before <= int(own) <= before + _FURTHEST:
                continue
            what = f"{found[1]} a second time" if int(own) == before else f"{above}.{before + 1} is missing"
            found_odd.append(Finding(at, WORTH_A_LOOK, f"number {what}: {brief(line, 70)}"))
        before = int(own)
    if count_of >= _MIN_CLAUSES and len(found_odd) <= max(3, count_of // 50):
        yield from found_odd


def _slug(title: str) -> str:
    title = re.sub(r"\[([^\]]{1,200})\]\([^)]{0,400}\)", r"\1", title)
    return _SLUG_DROPPED.sub("", title.lower().replace("`", "")).strip().replace(" ", "-")


def _broken_links(lines: Sequence[str], headings: list[_Heading], in_code: set[int]) -> Iterator[Finding]:
    wanted: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if "](#" in line and number not in in_code:
            for found in re.finditer(r"\]\(#([^)\s]{1,200})\)", line):
                wanted.setdefault(found[1], number)
    if not wanted:
        return
    known: Counter[str] = Counter()
    for heading in headings:
        slug = _slug(heading.title)
        known[slug] += 1
        known[f"{slug}-{known[slug] - 1}"] += 1
    text = [line for line in lines if "id=" in line or "name=" in line or "{#" in line or "[[" in line]
    anchors = [next(filter(None, found.groups())) for line in text for found in _ANCHOR.finditer(line)]
    squeezed = {re.sub(r"[\W_]", "", name.lower()) for name in [*known, *anchors]}
    broken = [
        (name, line) for name, line in wanted.items() if re.sub(r"[\W_]", "", name.lower()) not in squeezed
    ]
    if len(broken) * 3 < len(wanted) + 3:
        yield from (
            Finding(line, WORTH_A_LOOK, f"link to #{brief(name, 60)}, which no heading has")
            for name, line in broken[:6]
        )
    twice = [name for name, times in Counter(anchors).items() if times > 1]
    for name in twice[:3]:
        at = next(number for number, line in enumerate(lines, 1) if name in line)
        yield Finding(at, SLIGHTLY_ODD, f"anchor {name} twice")


def _marks(lines: Sequence[str], text: LineSearch, in_code: set[int]) -> Iterator[Finding]:
    """Tell what is left to be done, and rare notes of danger."""
    left = [number for number, _ in text.hits(_PLACEHOLDER)]
    if len(left) > _MAX_NOTES:
        yield Finding(
            left[0],
            WORTH_A_LOOK - 2,
            f"TODO, TBD or a placeholder in {count(len(left), 'line')}: {places(left, 8)}",
        )
    else:
        yield from (Finding(number, WORTH_A_LOOK, brief(lines[number - 1], 160)) for number in left)
    notes: defaultdict[str, list[int]] = defaultdict(list)
    for number, found in text.hits(_NOTE):
        if number not in in_code:
            notes[found.strip(" *>[!_").lower()].append(number)
    for word, numbers in notes.items():
        if len(numbers) <= min(3, 1 + len(lines) // 100):
            yield from (
                Finding(number, SLIGHTLY_ODD + 2, brief(lines[number - 1], 160)) for number in numbers
            )
        elif len(numbers) <= max(8, len(lines) // 60):
            yield Finding(
                numbers[0], SLIGHTLY_ODD, f"“{word}” in {count(len(numbers), 'line')}: {places(numbers, 8)}"
            )


DETECTOR = Detector("document", recognise, survey, has_end=False, has_prose=True)
