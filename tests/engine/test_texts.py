"""Long texts: requirements US4 and FR-020 to FR-023, on the engine."""

import json
import re

import pytest

from brimgate.engine.chunks import LongText
from brimgate.engine.textkind import TextKind, text_kind
from brimgate.engine.tokens.estimator import Estimator
from tests.engine.holding import Held, policy, rebuilt

SHORT_LOG = "".join(f"10:00:{n % 60:02d} INFO ok {n}\n" for n in range(10_000)).encode()
ENTRY = (
    "2026-11-15 10:00:00,{:03d} ERROR worker job {} failed\n"
    'Traceback (most recent call last):\n  File "x.py", line {}\n    run()\nValueError: bad {}\n'
)
TRACES = "".join(ENTRY.format(n % 1_000, n, n, n) for n in range(900)).encode()
PROSE = " ".join(
    f"This is sentence number {n}, and it says a thing or two about water." for n in range(3_000)
).encode()
CODE = "```python\nfor x in range(9):\n    print(x)\n\nprint('done')\n```\n\n"
MARKDOWN = "".join(
    f"## Part {n}\n\nSome words about part {n}. And some more.\n\n{CODE}" for n in range(400)
).encode()


def test_a_log_of_10000_lines_gives_the_first_200_lines_the_total_and_a_cursor() -> None:
    """As the brief says, where `chunk_size` is 200."""
    reply = Held(SHORT_LOG, policy(4_000, chunk_size=200)).opening()
    assert reply.record["shown"]["startLine"] == 1
    assert reply.record["shown"]["endLine"] == 200
    assert reply.record["total"]["lines"] == 10_000
    assert reply.record["chunkIndex"] == 0
    assert reply.record["nextCursor"] in reply.notice


def test_a_chunk_has_as_many_lines_as_fit() -> None:
    reply = Held(SHORT_LOG, policy(4_000)).opening()
    assert reply.record["shown"]["endLine"] > 300
    assert reply.record["budgetUsed"] > 0.9


def test_chunks_count_up_to_the_total_that_was_announced() -> None:
    replies = Held(SHORT_LOG[:90_000]).walk()
    assert [reply.record["chunkIndex"] for reply in replies] == list(range(len(replies)))
    assert {reply.record["totalChunks"] for reply in replies} == {len(replies)}
    assert not any("about" in reply.notice for reply in replies)


def test_the_number_of_chunks_of_a_long_text_is_told_as_an_estimate_and_stays() -> None:
    replies = Held(SHORT_LOG).walk()
    assert [reply.record["chunkIndex"] for reply in replies] == list(range(len(replies)))
    (told,) = {reply.record["totalChunks"] for reply in replies[:-1]}
    assert abs(told - len(replies)) <= 0.1 * len(replies)
    assert all(f"of about {told}" in reply.notice for reply in replies[:-1])


@pytest.mark.parametrize("line", ["### Result", ".", '{"type":"text"}'])
def test_a_short_line_before_a_long_one_is_no_chunk(line: str) -> None:
    long = " ".join(f"word{n}" for n in range(9_000))
    replies = Held(f"{line}\n{long}".encode(), policy(2_000)).walk()
    assert all(reply.record["budgetUsed"] > 0.6 for reply in replies[:-1])


def test_a_text_a_little_over_its_budget_passes_whole() -> None:
    text = "".join(f"line {n} of a text that is nearly short enough\n" for n in range(200)).encode()
    tokens = Estimator("o200k").ceiling(text)
    assert Held(text, policy(int(tokens / 1.2), text_slack=0.25)).first() is None
    assert Held(text, policy(int(tokens / 1.3), text_slack=0.25)).first() is not None
    assert Held(text, policy(int(tokens / 1.2))).first() is not None
    capped = policy(int(tokens / 1.2), text_slack=0.25, hard_output_token_cap=tokens - 1)
    assert Held(text, capped).first() is not None


def test_no_chunk_of_a_log_ends_inside_an_entry() -> None:
    replies = Held(TRACES, policy(1_500, highlights=False)).walk()
    assert len(replies) > 1
    for reply in replies:
        assert reply.content.startswith("2026-11-15 10:00:00,")
        assert re.search(r"ValueError: bad \d+\n\Z", reply.content)


def test_no_chunk_of_prose_ends_inside_a_sentence() -> None:
    replies = Held(PROSE, policy(1_500)).walk()
    assert len(replies) > 1
    for reply in replies:
        assert reply.content.startswith("This is sentence")
        assert reply.content.rstrip().endswith("about water.")


def test_no_chunk_of_markdown_ends_inside_a_fence() -> None:
    replies = Held(MARKDOWN, policy(1_500)).walk()
    assert len(replies) > 1 and any("```" in reply.content for reply in replies)
    for reply in replies:
        assert reply.content.count("```") % 2 == 0


def test_text_under_the_untouched_size_is_never_changed() -> None:
    assert Held(b"word " * 900, policy(2_000)).first() is None
    assert Held(PROSE[:3_000], policy(2_000)).first() is None


def test_a_long_text_inside_an_object_is_shown_as_text_with_what_stands_around_it() -> None:
    data = json.dumps({"path": "/var/log/x", "content": TRACES.decode(), "size": 7}).encode()
    held = Held(data, policy(2_000))
    reply = held.opening()
    assert reply.envelope == '{"path":"/var/log/x","content":"<text below>","size":7}'
    assert "\nTraceback (most recent call last):\n" in reply.content
    assert rebuilt(held.walk()) == json.dumps(json.loads(data), separators=(",", ":")).encode()


def test_one_endless_line_is_cut_between_words_and_characters() -> None:
    data = ("ä" * 200_000).encode()
    replies = Held(data, policy(2_000)).walk()
    assert rebuilt(replies) == data
    assert all(set(reply.content) == {"ä"} for reply in replies)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (TextKind.LOG, SHORT_LOG),
        (TextKind.LOG, b"Nov 15 10:00:00 host sshd[1]: accepted\n" * 40),
        (TextKind.LOG, b"level=info msg=ok\n" * 40),
        (TextKind.LOG, b"web-1  | INFO started\n" * 40),
        (
            TextKind.TRACE,
            b'x\nTraceback (most recent call last):\n  File "a.py", line 1, in f\n    f()\nKeyError: 1\n\n'
            * 20,
        ),
        (TextKind.JSON_LINES, b'{"level":"info","n":1}\n' * 40),
        (TextKind.MARKDOWN, MARKDOWN),
        (TextKind.HTML, b"<!DOCTYPE html>\n<html><body>\n<p>hi</p>\n" * 20),
        (TextKind.CSV, b"id,name,sum\n1,Ann,3\n2,Bo,4\n" * 20),
        (TextKind.LISTING, b"src/a.py:12:import os\n" * 40),
        (TextKind.CODE, b"def f(x):\n    return x\n\nclass A:\n    y = 1;\n" * 20),
        (TextKind.REPR, b"[('a', 1, None), ('b', 2, True), ('c', 3, None)]" * 9),
        (TextKind.REPR, b"[{'id': 1, 'name': 'x'}, {'id': 2, 'name': 'y'}, {'id': 3, 'name': 'z'}]"),
        (TextKind.BASE64, b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" * 60),
        (TextKind.PROSE, PROSE),
    ],
)
def test_kinds_of_text_are_told_apart(kind: TextKind, text: bytes) -> None:
    assert text_kind(text) is kind


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    assert LongText(b"a\nb\n").line_count == 2
    assert LongText(b"a\nb").line_count == 2
    assert LongText(b"a\r\n\r\nb\r\n").line_count == 3
    assert LongText(b"").line_count == 0
