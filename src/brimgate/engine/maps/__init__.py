"""Maps of answers: what the whole consists of and what stands out in it, told before the first part of it.

A kind is recognised by its content, never by the tool's name. Every kind has a detector of its own; what none recognises
gets its alarms, its rare lines and its end. All of it is derived: the answer itself follows, and nothing of it is lost.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Final

from brimgate.engine.document import Document, one_line
from brimgate.engine.guess import guess
from brimgate.engine.highlights.findings import Sample, sample
from brimgate.engine.highlights.row_source import Rows, decode_oddly, read_rows
from brimgate.engine.maps.credentials_scan import secret_values
from brimgate.engine.maps.foreword import Foreword
from brimgate.engine.maps.survey import Detector, MapLine, Survey, TextLines
from brimgate.engine.policy import Policy
from brimgate.engine.textkind import TextKind

__all__ = ["Foreword", "foreword_of"]

_SURE: Final = 0.5
_MIN_LINES: Final = 5
"""A text of fewer lines has nothing to be mapped."""
_TABLES_WEIGHT: Final = 4.5
"""Whoever asks in SQL would have to guess them."""
_COLUMNS_WEIGHT: Final = 9.0
"""A section, a file and a sign that each line has are worth more than one more heading, and take few tokens."""
_DETECTORS: Final = (
    "checks",
    "diff",
    "commit_log",
    "infrastructure_plan",
    "playbook",
    "build_log",
    "stack_traces",
    "search_hits",
    "file_tree",
    "access_log",
    "outline",
    "web_page",
    "source_code",
    "settings_text",
    "accessibility_tree",
    "transcript",
)


def foreword_of(document: Document, policy: Policy, pointer: str = "", note: str = "") -> Foreword:
    """Survey the document at `pointer` for the first reply.

    A place is named as it is asked for: an item by its JSON pointer in the whole answer, a line of a text by its number
    from 1.
    """
    # A pointer that does not fit on a line cannot be named; what is left of it is no pointer, and looks like none.
    above = pointer if one_line(pointer) == pointer else "…"
    failures = guess.failures
    with guess:
        foreword = _foreword(document, policy, above, note)
        if guess.failures > failures:  # not all was looked at: it must not say that nothing stands out
            foreword = replace(foreword, survey=replace(foreword.survey, is_thorough=False))
        return replace(foreword, secrets=secret_values(document.data))
    return Foreword()


def _foreword(document: Document, policy: Policy, above: str, note: str) -> Foreword:
    part = sample(document)
    if part.places is not None:
        return _of_sample(part, part.places, policy, above)
    if not document.is_json:
        lines = document.long_text.line_count
        if lines < _MIN_LINES:
            return Foreword()
        return Foreword(survey_text(document, policy), f"{lines:,} lines", "line ", note)
    if part.is_too_large:
        return Foreword()
    from brimgate.engine.maps.json_survey import survey_json
    from brimgate.engine.sql.places import tables_line

    value = decode_oddly(document.data)
    survey = survey_json(value, document.data, policy, above)
    if line := tables_line(value, document.focus.pointer):
        survey = replace(survey, lines=[MapLine(line, _TABLES_WEIGHT, is_whole=True), *survey.lines])
    return Foreword(survey, above or "the whole", "", note)


def _of_sample(part: Sample, places: Sequence[int], policy: Policy, above: str) -> Foreword:
    """Survey a sample of a large answer, by its rows or lines: of those every place can be named."""
    unit = "items" if part.document.is_json else "lines"
    of = f"a sample of {len(places):,} of {part.total:,} {unit}"
    if not part.document.is_json:
        from brimgate.engine.maps.plain_lines import survey_lines

        text = TextLines.of(part.document.data.decode("utf-8", "replace"))
        survey = survey_lines(part.document, text, policy.alarm_words, is_sample=True)
        found = [replace(one, place=places[one.place - 1] + 1) for one in survey.findings]
        return Foreword(replace(survey, findings=found, is_thorough=False), of, "line ", part.note)
    from brimgate.engine.maps.json_survey import rows_survey

    rows = read_rows(part.document)
    if not isinstance(rows, Rows):
        return Foreword()
    survey = rows_survey(replace(rows, is_sample=True))
    found = [replace(one, label=f"{above}/{places[one.place]}") for one in survey.findings]
    return Foreword(replace(survey, findings=found, is_thorough=False), of, "", part.note)


def survey_text(document: Document, policy: Policy) -> Survey:
    """Survey a text by its kind, and add the lines that have words which hardly any other has."""
    from brimgate.engine.maps.rare_words import rare_lines

    text = TextLines.of(document.data.decode("utf-8", "replace"))
    survey = Survey("", is_thorough=False)
    with guess:
        survey = _survey_of_kind(document, text, policy)
    for add in (_with_tags, _with_series, _with_columns):
        with guess:
            survey = add(survey, text)
    with guess:
        told = "\n".join(line.text for line in survey.lines)
        rare = rare_lines(text.lines, {one.place for one in survey.findings}, told)
        return replace(survey, lines=[*survey.lines, *rare])
    return survey


def _with_tags(survey: Survey, text: TextLines) -> Survey:
    """Add what lines begin and end with, unless the text is a table or a log: columns and levels tell that."""
    if " rows: " in survey.title:
        return survey
    from brimgate.engine.maps.line_openings import line_marks, line_openings
    from brimgate.engine.maps.line_tags import line_tags

    lines, findings = line_tags(text.lines)
    lines += line_openings(text.lines) or line_marks(text.lines)
    known = {one.place for one in survey.findings}
    new = [one for one in findings if one.place not in known]
    return replace(survey, lines=[*survey.lines, *lines], findings=[*survey.findings, *new])


def _with_columns(survey: Survey, text: TextLines) -> Survey:
    """Add which columns a query has, unless the survey tells it."""
    from brimgate.engine.maps.text_table import text_rows
    from brimgate.engine.sql.line_columns import line_columns, queried_line
    from brimgate.engine.sql.places import QUERIED

    told = any(line.text.startswith((QUERIED, "columns for query")) for line in survey.lines)
    if told or " rows: " in survey.title or text_rows(text) is not None:
        return survey
    columns = line_columns(text.lines)
    weight = _COLUMNS_WEIGHT if columns else _TABLES_WEIGHT
    return replace(survey, lines=[MapLine(queried_line(columns), weight, is_whole=True), *survey.lines])


def _with_series(survey: Survey, text: TextLines) -> Survey:
    """Add the numbers that are missing or double in numbered names, where nothing was found yet."""
    from brimgate.engine.maps.line_series import line_series

    known = {one.place for one in survey.findings}
    new = [one for one in line_series(text.lines) if one.place not in known]
    return replace(survey, findings=[*survey.findings, *new])


def _survey_of_kind(document: Document, text: TextLines, policy: Policy) -> Survey:
    """Survey a text by the detector that is surest of it; as plain lines if none is, or if it fails."""
    from brimgate.engine.maps.line_checks import with_checks, with_end, with_statements
    from brimgate.engine.maps.plain_lines import is_delimited, is_table, survey_lines, with_rows, with_tables
    from brimgate.engine.maps.record_rows import record_rows
    from brimgate.engine.maps.text_table import listed_rows

    words = policy.alarm_words
    if (
        record_rows(text)
        or is_table(text)
        or document.long_text.kind is TextKind.JSON_LINES
        or is_delimited(text)
    ):
        return survey_lines(document, text, words)
    known = (*policy.detectors, *detectors())
    sureness, best = max(((one.recognise(text), one) for one in known), key=lambda one: one[0])
    survey = _surveyed(best, text) if sureness >= _SURE else None
    if survey is None:
        return survey_lines(document, text, words)
    if best.has_prose:
        survey = with_tables(with_statements(survey, text), text)
    rows = listed_rows(text)
    survey = with_rows(survey, rows) if rows else with_end(survey, text) if best.has_end else survey
    return with_checks(survey, text, words, has_numbers=rows is None)


def _surveyed(detector: Detector, text: TextLines) -> Survey | None:
    """Ask a detector; None if it fails."""
    with guess:
        return detector.survey(text)
    return None


@cache
def detectors() -> tuple[Detector, ...]:
    """Return the detectors, loaded by the first long text only."""
    return tuple(import_module(f"brimgate.engine.maps.{name}").DETECTOR for name in _DETECTORS)
