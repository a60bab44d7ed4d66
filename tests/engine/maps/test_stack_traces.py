"""Stack traces: grouped by exception and cause, rare ones alone; thread dumps by state."""

from brimgate.engine.maps.stack_traces import DETECTOR
from brimgate.engine.maps.survey import Survey, TextLines


def _python(number: int) -> str:
    return f"""2026-11-15T00:10:22Z ERROR job failed
Traceback (most recent call last):
  File "/app/shop/load.py", line 6, in load
    parse(raw)
  File "/usr/lib/python3.11/json/decoder.py", line 353, in raw_decode
    obj, end = self.scan_once(s, idx)
json.decoder.JSONDecodeError: Expecting ',' delimiter: line 1 column {number}

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/app/shop/job.py", line 16, in run
    load(raw)
ValueError: order payload {number} is not valid JSON
"""


JAVA = """java.lang.IllegalStateException: cart 17 is closed
\tat com.shop.Cart.add(Cart.java:12)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.sql.SQLException: connection reset
\tat com.shop.Db.query(Db.java:99)
\t... 12 more
"""

GO = """panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.pick(...)
\t/app/main.go:14
main.main()
\t/app/main.go:9 +0x1d
exit status 2
"""

DUMP = (
    """Full thread dump OpenJDK 64-Bit Server VM:
"""
    + "".join(
        f'"worker-{n}" #{n} prio=5 tid=0x1 nid=0x2 waiting\n   java.lang.Thread.State: WAITING (parking)\n'
        f"\tat com.shop.Queue.take(Queue.java:{n})\n"
        for n in range(12)
    )
    + """"pay-1" #40 prio=5 tid=0x1 nid=0x2 waiting for monitor entry
   java.lang.Thread.State: BLOCKED (on object monitor)
\tat com.shop.Ledger.book(Ledger.java:7)
Found one Java-level deadlock:
=============================
"pay-1":
"""
)


def _survey(text: str) -> Survey:
    lines = TextLines.of(text)
    assert DETECTOR.recognise(lines) >= 0.6
    return DETECTOR.survey(lines)


def test_chains_are_one_trace_and_alike_traces_one_group() -> None:
    odd = _python(1).replace(
        "ValueError: order payload 1 is not valid JSON", "PermissionError: ledger is read-only"
    )
    survey = _survey("".join(_python(number) for number in range(20)) + odd)
    assert survey.title == "21 stack traces: ValueError 20, PermissionError 1"
    first = survey.lines[0].text
    assert first.startswith(
        "20 × ValueError: order payload 0 is not valid JSON (caused by json.decoder.JSONDecodeError"
    )
    assert "/app/shop/job.py:16 in run" in first
    assert "(lines 2-14, last at 268)" in first
    assert [one.place for one in survey.findings] == [282]
    assert "PermissionError: ledger is read-only" in survey.findings[0].text


def test_java_names_its_cause_and_go_its_panic() -> None:
    survey = _survey(JAVA)
    assert survey.title == "1 stack trace: java.lang.IllegalStateException 1"
    assert "caused by java.sql.SQLException: connection reset" in survey.lines[0].text
    assert "com.shop.Cart.add(Cart.java:12)" in survey.lines[0].text
    assert _survey(GO).title == "1 stack trace: panic 1"
    assert "/app/main.go:14" in _survey(GO).lines[0].text


def test_thread_dumps_are_told_by_state() -> None:
    survey = _survey(DUMP)
    assert survey.title == "thread dump: 13 threads: WAITING 12, BLOCKED 1"
    told = {one.place: one.text for one in survey.findings}
    assert "Ledger.book" in told[39]
    assert told[41].startswith("Found one Java-level deadlock")


def test_a_log_with_one_trace_is_a_log() -> None:
    text = "2026-01-01 INFO fine\n" * 100 + _python(1)
    assert DETECTOR.recognise(TextLines.of(text)) == 0
    for other in ("", "\n\n\n\n", "at home (really)\n" * 9, '{"at": 1}'):
        assert DETECTOR.recognise(TextLines.of(other)) == 0
        DETECTOR.survey(TextLines.of(other))
