"""Searching a held answer: everything is searched, as it is printed, and what is told is true."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimgate.errors import BadRequest
from tests.engine.holding import Held, policy

PODS = [
    {
        "name": f"pod {n}",
        "status": {"phase": "Pending" if n == 34 else "Running"},
        "country": "JP" if n % 50 == 0 else "DE",
        "enabled": n % 7 != 0,
        "labels": {"app": "x" * 60},
    }
    for n in range(600)
]
ERRORS = [{"code": n, "message": f"Timeout in zone {n}"} for n in range(40)]
TWO_LISTS = json.dumps(
    {"pods": PODS, "errors": ERRORS, "meta": {"owner": "Quux", "to": "call-bound"}}
).encode()
MAP = json.dumps(
    {"services": {f"s{n}": {"enabled": n % 5 != 0, "note": f"words {n} " * 20} for n in range(400)}}
).encode()
LOG = "".join(
    f"10:00:{n % 60:02d} {'ERROR' if n % 60 == 3 else 'INFO'} {'error count' if n % 20 == 1 else 'ok'} request {n}\n"
    for n in range(10_000)
).encode()
ONE_LINE = "".join(
    f"<a href='x{n}'>ERROR item {n}</a> and so on, and so forth, " for n in range(1_500)
).encode()


def hits(data: bytes, search: str, **more: object) -> int:
    return Held(data).ask(search=search, **more).record["total"]["hits"]


def test_everything_is_searched_and_hits_elsewhere_are_named() -> None:
    held = Held(TWO_LISTS)
    only_elsewhere = held.ask(search="timeout")
    assert '/errors/39: {"code":39,"message":"Timeout in zone 39"}' in only_elsewhere.content
    assert "none in the 600 items" in only_elsewhere.notice
    assert '/meta/owner: "Quux"' in held.ask(search="quux").content
    both = held.ask(search="/1/", limit=1)
    assert "also elsewhere: " in both.where and "at path /errors" in both.where
    nothing = held.ask(search="nowhere")
    assert "no match in 600 items and 42 other values" in nothing.notice


def test_a_path_narrows_the_search() -> None:
    held = Held(TWO_LISTS)
    assert "no match in 40 items below /errors" in held.ask(search="quux", path="/errors").notice
    reply = held.ask(search="/zone 39$/", path="/errors")
    assert reply.record["path"] == "/errors" and "39" in reply.content


@pytest.mark.parametrize(
    ("search", "count"),
    [
        ('/"country":"JP"/', 12),
        ('/"country": "JP"/', 12),
        ("/^JP$/", 12),
        ("/country: .JP/", 12),
        ('/"enabled": ?false/', 86),
        ('/"phase":"Pending".*"country"/', 1),
        ("jp", 12),
        ("!/Running/", 1),
    ],
)
def test_an_item_is_found_however_its_json_is_spelled(search: str, count: int) -> None:
    assert hits(TWO_LISTS, search) == count


@pytest.mark.parametrize(
    "search", ['/"enabled": ?false/', "/enabled: false/", '/"enabled":false/', "/^false$/"]
)
def test_a_value_is_found_however_it_is_spelled(search: str) -> None:
    reply = Held(MAP).ask(search=search)
    assert reply.record["total"]["elsewhere"] == 80
    assert reply.content.startswith("/services/s0/enabled: false\n/services/s5/enabled: false\n")


def test_a_value_by_the_name_before_it() -> None:
    assert Held(TWO_LISTS).ask(search='/to: "?call-bound/').content == '/meta/to: "call-bound"'


def test_capitals_in_a_pattern_make_it_exact() -> None:
    assert hits(LOG, "/ ERROR /") == 167
    assert hits(LOG, "/ error /") == 667
    assert hits(LOG, "/ ERROR /i") == 667
    assert hits(LOG, r"/\SRROR /") == 167 + 500 - 500, "an escape is no capital, but the letters are"
    assert hits(LOG, "ERROR") == 667, "words are found in any case"
    assert "end it in /i to ignore case" in Held(LOG).ask(search="/Request/").content


def test_the_inverse_is_everything_but_the_usual() -> None:
    reply = Held(LOG).ask(search="!/INFO/")
    assert reply.record["total"]["hits"] == 167 and "INFO" not in reply.content
    assert hits(LOG, "! info") == 167


def test_the_number_of_lines_agrees_with_the_notice() -> None:
    held = Held(LOG)
    assert "of 10,000 searched" in held.ask(search="request").notice and "of 10,000" in held.opening().notice


def test_a_limit_holds_for_lines_items_and_values() -> None:
    for data in (LOG, TWO_LISTS, MAP, ONE_LINE):
        reply = Held(data).ask(search="/e/", limit=3)
        assert reply.record["shown"]["hits"] == 3 and "nextCursor" in reply.record


def test_only_the_count() -> None:
    reply = Held(ONE_LINE).ask(search="ERROR", form="count")
    assert "1,500 matches in 1 of 1 lines" in reply.notice and not reply.content
    both = Held(TWO_LISTS).ask(search="/zone|JP/", form="count")
    assert "12 matches in 12 of 600 items; 40 of 42 values elsewhere match" in both.notice
    with pytest.raises(BadRequest, match="needs a search"):
        Held(LOG).ask(form="count")


def test_occurrences_in_one_long_line_are_all_there_in_pieces() -> None:
    held = Held(ONE_LINE)
    reply = held.ask(search="ERROR")
    assert "(1,500 occurrences)" in reply.notice
    shown = "".join(one.content for one in held.follow(reply))
    assert {f"ERROR item {n}<" for n in range(1_500)} <= {
        found + "<" for found in re.findall(r"ERROR item \d+", shown)
    }


def test_the_place_of_a_piece_can_be_read() -> None:
    held = Held(ONE_LINE)
    place = re.match(r"\d+@\d+", held.ask(search="/item 700</").content)
    assert place
    assert held.ask(lines=place[0]).content.startswith("item 700</a>")


def test_hits_in_a_diff_name_their_file() -> None:
    diff = "".join(
        f"diff --git a/src/f{n}.py b/src/f{n}.py\n--- a/src/f{n}.py\n+++ b/src/f{n}.py\n@@ -1 +1 @@\n"
        f"+added needle {n}\n" + " context line\n" * 40
        for n in range(100)
    )
    assert "in src/f3.py:" in Held(diff.encode()).ask(search="/needle 3$/").content


def test_whole_words_come_before_parts_of_words() -> None:
    rows = [{"id": n, "text": "concatenate " * 12} for n in range(300)] + [{"id": 300, "text": "a cat"}]
    reply = Held(json.dumps(rows).encode()).ask(search="cat", limit=1, form="json")
    assert [row["#"] for row in json.loads(reply.content)] == [300]


def test_hits_are_condensed_as_their_list_is() -> None:
    rows = [{"id": n, "name": f"name {n}", "vector": [n + 0.5] * 64} for n in range(200)]
    reply = Held(json.dumps(rows).encode()).ask(search="/name 77/", form="json")
    assert json.loads(reply.content) == [{"#": 77, "id": 77, "name": "name 77", "vector": "… 64 numbers"}]


def test_a_wrong_pattern_says_which_dialect_it_is() -> None:
    with pytest.raises(BadRequest, match=r"RE2.*no look-around.*! in front"):
        Held(LOG).ask(search="/(?!INFO)x/")


def test_search_lines_and_fields_combine() -> None:
    reply = Held(LOG).ask(search="/ ERROR /", lines="1-100")
    assert reply.record["total"]["hits"] == 2
    rows = Held(TWO_LISTS).ask(search="/Pending/", fields="name", form="json")
    assert json.loads(rows.content) == [{"#": 34, "name": "pod 34"}]


def test_a_line_ends_before_its_carriage_return() -> None:
    data = LOG.replace(b"\n", b"\r\n")
    assert hits(data, "/request 77$/") == 1


def test_keys_are_found_as_they_are_and_as_in_a_path() -> None:
    data = json.dumps({f"svc-{n}/x~y": {"port": n, "note": f"words {n} " * 30} for n in range(300)}).encode()
    for search in ("svc-10/x~y", "svc-10~1x~0y"):
        assert Held(data).ask(search=search).record["total"]["elsewhere"] == 2


def test_a_hit_in_a_huge_item_names_its_place_and_what_is_missing() -> None:
    rows = [{"id": n, "text": "alpha beta " * (4_000 if n == 2 else 1) + f"needle{n} end"} for n in range(9)]
    reply = Held(json.dumps({"items": rows}).encode()).ask(search="needle2")
    assert reply.content.startswith("/items/2: … ") and "characters before" in reply.content


def test_pages_of_hits() -> None:
    reply = Held(TWO_LISTS).ask(search="/DE/", pages="2-3", limit=5)
    assert "matching items 6-15 of 588" in reply.notice


def test_a_value_counts_once() -> None:
    rows = [{"id": n, "empty": "", "text": f"{n * 7919} words {n * 104729} more"} for n in range(600)]
    assert "occurrences" not in Held(json.dumps(rows).encode()).ask(search="/^$/").notice
    lines = [
        {"id": n, "text": "new\nline" if n == 7 else f"{n * 7919} words {n * 104729}"} for n in range(600)
    ]
    assert hits(json.dumps(lines).encode(), r"/new\nline/") == 1


@pytest.mark.parametrize("search", ["!", "//", "/"])
def test_a_search_for_nothing_is_refused(search: str) -> None:
    with pytest.raises(BadRequest, match="search must be words or a /pattern/"):
        Held(LOG).ask(search=search)


leaves = st.one_of(st.integers(0, 99), st.text("abc JP/~", max_size=12), st.booleans(), st.none())
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6), st.dictionaries(st.text("abkey/~", max_size=5), inner, max_size=6)
    ),
    max_leaves=30,
)


@settings(max_examples=60)
@given(values, st.sampled_from(["a", "JP", "/a/", "/^\\d+$/", "/true/", "!a"]))
def test_the_place_of_every_hit_can_be_read(value: Any, search: str) -> None:
    data = json.dumps({"pad": "x " * 3_000, "rows": [value] * 3, "value": value, "n": 7}).encode()
    held = Held(data, policy(600))
    for reply in held.follow(held.ask(search=search)):
        for line in reply.content.splitlines():
            if found := re.match(r"(/.*?): ", line):
                held.ask(path=found[1])


def test_a_range_of_lines_says_how_many_were_searched() -> None:
    assert "no match in 51 lines" in Held(LOG).ask(search="nowhere", lines="50-100").notice
    inside = Held(json.dumps({"id": 7, "text": LOG[:60_000].decode()}).encode())
    reply = inside.ask(search="/request 9$/", lines="1-20")
    assert reply.record["path"] == "/text" and "10:10:00:09 INFO ok request 9" in reply.content
    assert inside.ask(lines="10-10").content.startswith("10:00:09 INFO ok request 9")


def test_pages_of_chosen_fields_have_all_their_items() -> None:
    reply = Held(TWO_LISTS).ask(fields="name", pages="2-3", limit=5, form="json")
    assert [row["name"] for row in json.loads(reply.content)] == [f"pod {n}" for n in range(5, 15)]
