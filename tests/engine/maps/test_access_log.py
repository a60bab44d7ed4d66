"""Access logs: statuses, paths, clients, and requests that differ from the rest."""

from brimgate.engine.maps.access_log import DETECTOR
from brimgate.engine.maps.survey import Survey, TextLines


def _lines(number: int = 300) -> list[str]:
    return [
        f"10.0.0.{n % 9} - - [15/Nov/2026:0{n // 60}:{n % 60:02}:07 +0000] "
        f'"GET /items/{n} HTTP/1.1" 200 {500 + n} "-" "Mozilla/5.0"'
        for n in range(number)
    ]


def _survey(lines: list[str]) -> Survey:
    text = TextLines.of("\n".join(lines))
    assert DETECTOR.recognise(text) > 0.9
    return DETECTOR.survey(text)


def test_an_ordinary_log_is_counted_and_nothing_stands_out() -> None:
    survey = _survey(_lines())
    assert survey.title == "access log: 300 requests · 2026-11-15 00:00:07 … 2026-11-15 04:59:07 UTC"
    assert survey.lines[0].text == "status 200 300 · method GET 300"
    assert "/items/:id 300" in survey.lines[1].text
    assert list(survey.findings) == []


def test_requests_that_differ_are_told() -> None:
    lines = _lines()
    lines[50] = lines[50].replace('" 200 ', '" 502 ')
    lines[80] = (
        lines[80]
        .replace("/items/80", "/../../etc/passwd")
        .replace("10.0.0.8", "203.0.113.9")
        .replace("Mozilla/5.0", "sqlmap/1.7")
    )
    lines[120] = lines[120].replace(" 620 ", " 73400320 ")
    lines[150] = lines[150].replace("GET", "DELETE")
    lines[200:260] = []
    told = {one.place: one.text for one in _survey(lines).findings}
    assert told[51] == "10.0.0.5 GET /items/50 → 502"
    assert told[81] == 'attack? 203.0.113.9 GET /../../etc/passwd → 200 "sqlmap/1.7"'
    assert told[121].startswith("large answer 70.0 MB")
    assert told[151].startswith("rare method: 10.0.0.6 DELETE")
    assert told[201].startswith("no requests for 61 min 0 s before this line")
    assert len(told) == 5


def test_a_client_that_guesses_and_gets_in_is_told() -> None:
    lines = _lines()
    for n in range(100, 120):
        status = 200 if n == 119 else 401
        lines[n] = (
            f'198.51.100.4 - - [15/Nov/2026:01:{n - 60:02}:07 +0000] "POST /login HTTP/1.1" {status} 12 "-" "Mozilla/5.0"'
        )
    told = {one.place: one.text for one in _survey(lines).findings}
    assert told[120] == "198.51.100.4 refused 19 times (lines 101-119), /login; then let in at line 120"


def test_other_texts_are_no_access_logs() -> None:
    for text in ("", "10.0.0.1 - up\n" * 9, '{"status": 200}\n' * 9, "2026-01-01 INFO GET /a 200\n" * 9):
        assert DETECTOR.recognise(TextLines.of(text)) == 0
        DETECTOR.survey(TextLines.of(text))
