"""Search hits: by folder and file, and those that differ from the rest."""

from brimgate.engine.maps.search_hits import DETECTOR
from brimgate.engine.maps.survey import Survey, TextLines


def _flat() -> list[str]:
    return [f"src/api/m{n % 7}.py:{n + 1}:    client.get(url, verify=True)" for n in range(60)]


def _survey(text: str) -> Survey:
    lines = TextLines.of(text)
    assert DETECTOR.recognise(lines) > 0.8
    return DETECTOR.survey(lines)


def test_hits_are_counted_by_folder_and_file() -> None:
    survey = _survey("\n".join(_flat()))
    assert survey.title == "search hits: 60 hits in 7 files"
    assert survey.lines[0].text == "by folder: src/api 60"
    assert "src/api/m0.py 9 (lines 1-57)" in survey.lines[1].text
    assert list(survey.findings) == []


def test_hits_that_differ_are_told() -> None:
    lines = _flat()
    lines[20] = "src/api/pay.py:21:    client.get(url, verify=False)"
    lines[30] = 'src/api/m1.py:31:    verify = token = "ghp_0123456789abcdef0123456789abcdef0123"'
    told = {one.place: one.text for one in _survey("\n".join(lines)).findings}
    assert told[21].startswith("False (nearly all others: True)") or "verify=False" in told[21]
    assert "GitHub token (token): ghp_****" in told[31]
    assert sorted(told) == [21, 31]


def test_hits_below_headings_and_with_context_are_read() -> None:
    grouped = "src/a.py\n3:import os\n9:os.getcwd()\n\nsrc/b.py\n4:import os\n"
    assert _survey(grouped).title == "search hits: 3 hits in 2 files"
    context = (
        "src/a.py-2-x\nsrc/a.py:3:import os\n--\nsrc/b.py:9:import os\nsrc/b.py:19:import os\nsrc/b.py-20-y\n"
    )
    assert _survey(context).title == "search hits: 3 hits in 2 files"


def test_the_only_hit_outside_of_tests_is_told() -> None:
    lines = [f"tests/test_{n}.py:{n}: reset_database()" for n in range(30)]
    lines[9] = "src/app.py:88: reset_database()"
    assert [one.place for one in _survey("\n".join(lines)).findings] == [10]


def test_other_texts_are_no_hits() -> None:
    report = "src/a.c:3:4: error: no\nsrc/b.c:9:1: warning: x\nsrc/c.c:9:1: error: y\n"
    log = "2026-01-01 10:00:00 INFO a.b: x\n" * 9
    for text in ("", report, log, "10:20:30: up\n" * 9, '{"a:1:": 2}\n' * 5, "key: 1\nother: 2\n" * 5):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))
