"""Git logs: authors, dates, tags, and commits that differ from the rest."""

from brimgate.engine.maps.commit_log import DETECTOR
from brimgate.engine.maps.survey import TextLines


def _log(count: int = 30) -> list[str]:
    lines: list[str] = []
    for number in range(count):
        lines += [
            f"commit {number:040x}",
            f"Author: {'Ana' if number % 2 else 'Ben'} <{'ana' if number % 2 else 'ben'}@shop.example>",
            f"Date:   Mon Mar {28 - number // 2:02} 10:00:00 2026 +0100",
            "",
            f"    Rename field {number}",
            "",
            " src/a.py | 4 ++--",
            " 1 file changed, 2 insertions(+), 2 deletions(-)",
            "",
        ]
    return lines


def test_a_full_log_is_counted() -> None:
    text = TextLines.of("\n".join(_log()))
    assert DETECTOR.recognise(text) > 0.9
    survey = DETECTOR.survey(text)
    assert survey.title == "git log: 30 commits by 2 authors · 2026-03-14 … 2026-03-28"
    assert survey.lines[0].text == "authors: Ana 15, Ben 15"
    assert list(survey.findings) == []


def test_commits_that_differ_are_told() -> None:
    lines = _log()
    lines[9 * 5 + 4] = '    Revert "Rename field 9"'
    lines[9 * 7 + 1] = "Author: root <root@localhost>"
    lines[9 * 8 + 7] = " 212 files changed, 9000 insertions(+), 41 deletions(-)"
    lines[9 * 12 + 2] = "Date:   Sun May 03 10:00:00 2026 +0100"
    lines[9 * 3] += " (HEAD -> main, tag: v1.2.0)"
    survey = DETECTOR.survey(TextLines.of("\n".join(lines)))
    told = {one.place: one.text for one in survey.findings}
    assert "Revert" in told[46]
    assert "root@localhost" in told[64]
    assert told[73].startswith("9,041 lines changed")
    assert told[109].startswith("time goes back by ")
    assert any("v1.2.0 (line 28)" in line.text for line in survey.lines)


def test_a_short_log_is_read() -> None:
    lines = [f"{number + 10_000_000:07x}a Fix typo {number}" for number in range(20)]
    lines[4] = "abc1234 (tag: v2) Merge branch 'x'"
    lines[9] = "12345678 fix!: drop the old API"
    text = TextLines.of("\n".join(lines))
    assert DETECTOR.recognise(text) > 0.8
    survey = DETECTOR.survey(text)
    assert survey.title == "git log: 20 commits · 1 merge"
    assert [one.place for one in survey.findings] == [10]


def test_other_texts_are_no_logs() -> None:
    for text in ("", "commit to it\n" * 9, "12345678 12.50\n" * 9, '{"commit": 1}', "deadbeef\n" * 9):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))
