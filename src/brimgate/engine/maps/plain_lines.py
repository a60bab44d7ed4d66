"""Survey a text that no detector knows: as a table or a log if it is one, else by its alarms, rare lines and its end."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from brimgate.engine.document import Document
from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.highlights.odd_lines import Templates, alarm_lines, have_levels, level_words, odd_lines
from brimgate.engine.highlights.row_source import Rows, read_rows
from brimgate.engine.maps.block_tables import block_tables
from brimgate.engine.maps.credentials_scan import find_secrets, masked_random
from brimgate.engine.maps.document_tables import SECTION, DocumentTable, document_tables
from brimgate.engine.maps.json_survey import rows_survey
from brimgate.engine.maps.line_checks import check_lines, time_findings
from brimgate.engine.maps.line_context import in_context
from brimgate.engine.maps.line_frames import common_frames
from brimgate.engine.maps.line_times import LOG_SHARE, log_times
from brimgate.engine.maps.log_sections import log_sections
from brimgate.engine.maps.phrases import brief, count, tally
from brimgate.engine.maps.risk_words import find_risks
from brimgate.engine.maps.shaped_lines import shaped_rows
from brimgate.engine.maps.survey import MUST_SEE, WORTH_A_LOOK, MapLine, Survey, TextLines
from brimgate.engine.maps.text_table import text_rows
from brimgate.engine.textkind import TextKind

_LOGS: Final = (TextKind.LOG, TextKind.TRACE)
_END_LINES: Final = 12
_END_CHARS: Final = 240
_OF_END: Final = "the end:"
_FORMS: Final = 8
_LEAST_FORM: Final = 0.05
_OF_FORMS: Final = "most frequent lines:"
_AMOUNT: Final = re.compile(r"-?\d{1,12}(?:\.\d{1,9})?\Z")
_MIN_AMOUNTS: Final = 6
_REPETITIVE: Final = 0.6
_MIN_LINES: Final = 20
_MOST_BESIDE: Final = 0.4
"""If more is between the rows, they are records of many lines."""
_MAX_ODD: Final = 16
_HEAD_LINES: Final = 20
_TELLING: Final = re.compile(r"[^\W\d_]{2}.*[^\W_]{2}|\d")
"""A mark that ends a block tells nothing."""
_MAX_TOLD: Final = 60
_ODD_CHARS: Final = 110
_OF_ODD: Final = "of a form that hardly any other line has:"
_MAX_LINE_CHARS: Final = 400
_BESIDE: Final = 0.6
"""How much columns weigh beside what a detector tells."""
_TABLES_TOLD: Final = 4
_OF_TABLES: Final = 6.0
_BLOCKS_TOLD: Final = 6
_NAMES_TOLD: Final = 12
_NAMES_SEEN: Final = 50
_MAX_OF_BLOCKS: Final = 6
_FEW_ALIKE: Final = 3
_FEW_BARS: Final = 2
_FEW_DELIMITERS: Final = 3
_DELIMITED: Final = 0.95
_QUOTED: Final = re.compile(r'"[^"]*"')
_DRAWN: Final = 0.85
_FEW_STRAY: Final = 4
_FEW_AROUND: Final = 40
_NUMBER: Final = re.compile(
    r"(?<![\w.,/:+-])\d{1,3}(?:,\d{3})+(?![\w.,/:-]\d)|(?<![\w.,/:+-])[1-9]\d{1,8}(?![\w.,/:-]*\w)"
)


def is_table(text: TextLines) -> bool:
    """Return whether nearly all lines are rows of a table that is drawn with bars, whatever stands around it."""
    filled = [line for line in text.sample if line.strip()]
    return len(filled) > _MIN_LINES and sum(line.count("|") >= _FEW_BARS for line in filled) > _DRAWN * len(
        filled
    )


def is_delimited(text: TextLines) -> bool:
    """Return whether nearly all lines are rows of CSV under a line of names, whatever a time in them may look like."""
    filled = [_QUOTED.sub("", line) for line in text.sample if line.strip() and not line.startswith("#")]
    if len(filled) <= _MIN_LINES:
        return False
    mark = max(",;\t", key=filled[0].count)
    bars = filled[0].count(mark)
    names = filled[0].split(mark)
    return (
        bars >= _FEW_DELIMITERS
        and len(set(names)) == len(names)
        and sum(line.count(mark) == bars for line in filled) > _DELIMITED * len(filled)
    )


def survey_lines(
    document: Document, text: TextLines, words: tuple[str, ...] = (), *, is_sample: bool = False
) -> Survey:
    """Survey a text by what its lines are. Of a sample nothing is said of what follows what."""
    secrets = find_secrets(text.lines, is_sample=is_sample)
    rows = read_rows(document) or text_rows(text)
    if isinstance(rows, Rows):
        found = rows_survey(replace(rows, is_sample=is_sample))
        odd = [] if is_sample else outside_rows(text.lines, rows.places)
        if document.long_text.kind in _LOGS and have_levels(
            text.sample
        ):  # a level means more than any other column
            known = {one.place for one in found.findings}
            odd += [one for one in odd_lines(text.lines, entries_only=True) if one.place not in known]
        odd += [] if is_sample else _beside_rows(text.lines, rows.places, words)
        risks = _unknown(find_risks(text.lines, words, has_weak=True), [*found.findings, *odd, *secrets])
        return Survey(found.title, found.lines, merged([*found.findings, *odd, *secrets, *risks]))
    is_log = document.long_text.kind in _LOGS
    survey = (
        _survey_log(text, secrets, words, is_sample=is_sample)
        if is_log
        else _survey_other(text, secrets, words)
    )
    shaped = shaped_rows(text)
    if shaped is None:
        return survey
    survey = with_rows(survey, replace(shaped, is_sample=is_sample))
    from brimgate.engine.sql.places import QUERIED

    if not any(line.text.startswith(QUERIED) for line in survey.lines):  # whose t1 would be another
        names = ", ".join(dict.fromkeys(name for row in shaped.rows[:_NAMES_SEEN] for name in row))
        told_names = MapLine(f"t1 = what lines have ({names})", 8.4, is_whole=True)
        survey = replace(survey, lines=[told_names, *survey.lines])
    # The last lines are worth showing where they are not like all others.
    last = {brief(text.lines[at - 1], _END_CHARS) for at in shaped.places[-3 * _END_LINES :]}
    survey = replace(
        survey, lines=[one for one in survey.lines if one.under != _OF_END or one.text not in last]
    )
    told = (
        [] if is_sample else [one for one in outside_rows(text.lines, shaped.places) if one.score >= MUST_SEE]
    )
    return replace(survey, findings=[*survey.findings, *told])


def with_rows(survey: Survey, rows: Rows) -> Survey:
    """Add to the survey of a text whose lines are rows what its columns tell."""
    found = rows_survey(rows)
    lines = [MapLine(line.text, line.weight * _BESIDE, "columns:") for line in found.lines]
    known = {one.place: one for one in found.findings}
    findings = [
        replace(one, text="; ".join([one.text, *_reasons(known.pop(one.place), one.text)]))
        if one.place in known
        else one
        for one in survey.findings
    ]
    return Survey(survey.title, [*survey.lines, *lines], [*findings, *known.values()], survey.is_thorough)


def _reasons(finding: Finding, line: str) -> list[str]:
    """Return what a finding says of a row that its line does not show anyway, such as how often a value is there."""
    return [one for one in finding.brief.split("; ") if one.partition("=")[2] not in line]


def with_tables(survey: Survey, text: TextLines) -> Survey:
    """Add to the survey of a document which tables stand in it, and what the columns of the largest tell."""
    tables = document_tables(text.lines)
    if not tables:
        return survey
    told = [
        f"t{at} = {', '.join((SECTION, *one.names))} ({count(len(one.rows.rows), 'row')} of {count(one.count, 'table')})"
        for at, one in enumerate(tables[:_TABLES_TOLD], 1)
    ]
    from brimgate.engine.sql.line_columns import line_columns, queried_line

    line = MapLine(f"{queried_line(line_columns(text.lines))}, {'; '.join(told)}", _OF_TABLES, is_whole=True)
    if len(tables[0].rows.rows) >= _MIN_LINES:
        survey = with_rows(survey, tables[0].rows)
    return replace(survey, lines=[line, *survey.lines])


def with_blocks(survey: Survey, text: TextLines, tables: Sequence[DocumentTable]) -> Survey:
    """Add to the survey of a configuration what its blocks are, as tables, and what the columns of the largest tell."""
    from brimgate.engine.sql.line_columns import line_columns, queried_line

    told = "; ".join(f"t{at} = {one.title} ({len(one.rows.rows):,})" for at, one in enumerate(tables, 1))
    lines = [MapLine(f"{queried_line(line_columns(text.lines))}; {told}", _OF_TABLES, is_whole=True)]
    # That two blocks have a line in common is what blocks are for.
    found = [one for one in survey.findings if not one.text.startswith("duplicate of ")]
    for at, one in enumerate(tables[:_BLOCKS_TOLD], 1):
        if len(one.rows.rows) < _MIN_LINES:
            continue
        of_rows = rows_survey(one.rows)
        names = ", ".join(one.names[:_NAMES_TOLD]) + (", …" if len(one.names) > _NAMES_TOLD else "")
        under = f"t{at} = {one.title}, {len(one.rows.rows):,} rows ({names}):"
        lines += [MapLine(line.text, line.weight * _BESIDE - 0.1 * at, under) for line in of_rows.lines]
        best = sorted(of_rows.findings, key=lambda finding: -finding.score)[:_MAX_OF_BLOCKS]
        found += _unknown(best, found)
    return replace(survey, lines=[*lines, *survey.lines], findings=found)


def outside_rows(lines: Sequence[str], places: Sequence[int]) -> list[Finding]:
    """Find lines of a table that are no rows, and those that tell another number of rows than there are."""
    if not places:
        return []
    inside = set(places)
    first, last = min(places), max(places)
    stray = [at for at in range(first, last) if at not in inside and lines[at - 1].strip()]
    found: list[Finding] = []
    if 0 < len(stray) <= _FEW_STRAY:
        found = [Finding(at, WORTH_A_LOOK, f"malformed, no row: {clip(lines[at - 1])}") for at in stray]
    around = [
        at
        for at in (*range(1, first), *range(last + 1, len(lines) + 1))
        if len(lines[at - 1]) < _MAX_LINE_CHARS
    ]
    for at in around[:_FEW_AROUND]:
        for match in _NUMBER.finditer(lines[at - 1]):
            told = int(match[0].replace(",", ""))
            if told != len(places) and 0.7 * len(places) <= told <= 1.3 * len(places) and told > _MIN_LINES:
                text = f"says {told:,}, but there are {len(places):,} rows (contradiction): {brief(lines[at - 1])}"
                found.append(Finding(at, MUST_SEE, text))
    return found


def _beside_rows(lines: Sequence[str], places: Sequence[int], words: tuple[str, ...]) -> list[Finding]:
    """Check what stands between the rows, if it is a good part of the text: the heads of a report that comes again."""
    inside = set(places)
    others = ["" if at in inside else line for at, line in enumerate(lines, 1)]
    filled = sum(1 for line in others if line.strip())
    if filled < _MIN_LINES or filled > _MOST_BESIDE * len(lines):
        return []
    return check_lines(TextLines(others, [line for line in others if line.strip()]), words)


def _unknown(more: Sequence[Finding], found: Sequence[Finding]) -> list[Finding]:
    """Return of more findings those at places where nothing was found yet."""
    known = {one.place for one in found}
    return [one for one in more if one.place not in known]


def merged(findings: Sequence[Finding]) -> list[Finding]:
    """Join what was found at one place into one finding."""
    by_place: dict[tuple[int, str], Finding] = {}
    for one in findings:
        known = by_place.get((one.place, one.label))
        joined = (
            Finding(one.place, max(known.score, one.score), f"{one.text}; {known.text}", one.label)
            if known
            else one
        )
        by_place[one.place, one.label] = joined
    return list(by_place.values())


def _survey_log(
    text: TextLines, secrets: list[Finding], words: tuple[str, ...], *, is_sample: bool
) -> Survey:
    chosen = [line[:_MAX_LINE_CHARS] for line in text.lines if line.strip()]
    kinds = Templates.of(chosen)
    levels = Counter(level_words(chosen, kinds))
    times = text.times
    lines: list[MapLine] = []
    is_one = times is not None and len(times.numbers) >= LOG_SHARE * len(text.lines)
    told = None if is_one or is_sample else log_times(text.lines)
    if told:  # several forms, some with the hour of a place
        lines.append(MapLine(f"{min(told.values())} … {max(told.values())}", 8.0))
    elif times is not None:
        lines.append(MapLine(f"{times.first} … {times.last}", 8.0))
    if told or (is_one and not is_sample):
        lines.append(MapLine("columns for query: n, time, level, text", 8.5, is_whole=True))
    if len(levels) > 1:
        lines.append(MapLine(tally(levels), 9.0))
    lines += [] if is_sample else log_sections(text.lines)
    lines += _forms(kinds)
    found = [*odd_lines(text.lines, entries_only=True), *secrets]
    found += [] if is_sample else time_findings(text)
    found += _unknown(find_risks(text.lines, words, has_weak=True), found)
    return Survey("log", [*lines, *_odd_end(text, kinds)], merged(found))


def _forms(kinds: Templates) -> list[MapLine]:
    """Return the forms that most lines have, with how often, and how far the last number of each reaches."""
    repeated = [(form, times) for form, times in kinds.counts.most_common() if times > 1]
    if not repeated or repeated[0][1] < _LEAST_FORM * kinds.counts.total():
        return []  # as many forms as there are names
    reaches = _reaches(kinds, {form for form, _ in repeated[:_FORMS]})
    lines = [
        MapLine(f"{times:,} × {brief(form, 140)}{reaches.get(form, '')}", 3.0 - 0.1 * at, _OF_FORMS)
        for at, (form, times) in enumerate(repeated[:_FORMS])
    ]
    if rest := repeated[_FORMS:]:
        others = count(len(rest), "more form")
        lines.append(MapLine(f"… {others} with {sum(times for _, times in rest):,} lines", 2.0, _OF_FORMS))
    return lines


def _reaches(kinds: Templates, forms: set[str]) -> dict[str, str]:
    """Return from where to where the last number of a form goes, if it is an amount: ` (last # 12 to 9,419)`."""
    last: dict[str, list[str]] = {form: [] for form in forms if form.rfind("#") > form.rfind("*")}
    for masked, values in zip(kinds.masked, kinds.values, strict=True):
        form = kinds.template_of[masked]
        if form in last and (parts := values.split()):
            last[form].append(parts[-1].rstrip(".,;:!?"))
    found: dict[str, str] = {}
    for form, texts in last.items():
        numbers = [float(text) for text in texts if _AMOUNT.match(text)]
        if len(set(numbers)) >= _MIN_AMOUNTS and len(numbers) == len(texts):
            found[form] = f" (last # {min(numbers):,.10g} to {max(numbers):,.10g})"
    return found


def _survey_other(text: TextLines, secrets: list[Finding], words: tuple[str, ...]) -> Survey:
    found = list(secrets)
    known = {one.place for one in found}
    lines: list[MapLine] = []
    filled = [line[:_MAX_LINE_CHARS] for line in text.lines if line.strip()]
    if len(filled) >= _MIN_LINES:
        kinds = Templates.of(filled)
        repeated = sum(count for count in kinds.counts.values() if count > max(3, len(filled) // 200))
        if repeated >= _REPETITIVE * len(filled):
            lines += _forms(kinds)
            places = [at for at, line in enumerate(text.lines, 1) if line.strip()]
            head = min(_HEAD_LINES, len(text.lines) // 25)  # which are always of their own kind, and shown
            odd = [
                one
                for one in odd_lines(filled)
                if head < places[one.place] and places[one.place] not in known
            ]
            odd = [Finding(places[one.place], one.score, masked_random(one.text)) for one in odd]
            if len(odd) <= _MAX_ODD:
                found += odd
            else:  # so many are no exceptions, but may be worth a look
                known |= {one.place for one in odd}
                lines += [
                    MapLine(f"{one.place}: {brief(one.text, _ODD_CHARS)}", 3.4 - 0.01 * at, _OF_ODD)
                    for at, one in enumerate(odd[:_MAX_TOLD])
                ]
            known |= {one.place for one in found}
        else:
            lines += common_frames(filled)
    found += [one for one in alarm_lines(text.lines) if one.place not in known]
    found = [in_context(one, text.lines) for one in [*found, *_unknown(check_lines(text, words), found)]]
    # A query has the tables of a document before the blocks of a configuration, which just end.
    if not document_tables(text.lines) and (blocks := block_tables(text.lines)):
        return with_blocks(Survey("", lines, merged(found)), text, blocks)
    return Survey("", [*lines, *_end(text, 4.0)], merged(found))


def _odd_end(text: TextLines, kinds: Templates) -> list[MapLine]:
    """Return the last lines of a log from the first on that is not like the others: a program that ends says so."""
    last = kinds.masked[-_END_LINES:]
    odd = [at for at, masked in enumerate(last) if kinds.counts[kinds.template_of[masked]] <= _FEW_ALIKE]
    return _end(text, 3.6)[odd[0] :] if odd else []


def _end(text: TextLines, weight: float) -> list[MapLine]:
    """Return the last lines: what a program says last is often what it found."""
    last = [line for line in text.lines[-3 * _END_LINES :] if line.strip()][-_END_LINES:]
    return _tail([line for line in last if _TELLING.search(line)], weight)


def _tail(lines: Sequence[str], weight: float) -> list[MapLine]:
    return [
        MapLine(brief(line, _END_CHARS), weight * (0.5 + 0.5 * at / len(lines)), _OF_END)
        for at, line in enumerate(lines, 1)
    ]
