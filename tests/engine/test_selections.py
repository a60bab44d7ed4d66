"""Looking at a held answer in one's own way: fields, path, lines, search."""

import json

import pytest

from brimgate.errors import BadRequest
from brimgate.testing import bookings
from tests.engine.holding import Held, policy, rebuilt

BOOKINGS = json.dumps(bookings(500)).encode()
LOG = "".join(
    f"2026-11-15 10:{n // 60 % 60:02d}:{n % 60:02d} INFO request {n} served\n" for n in range(10_000)
).encode()


def test_chosen_fields_keep_siblings_together_in_source_order() -> None:
    reply = Held(BOOKINGS).ask(fields="price.total,guest.name,id,price.base", limit=2, form="json")
    rows = json.loads(reply.content)
    assert [list(row) for row in rows] == [["id", "guest", "price"]] * 2
    assert list(rows[0]["price"]) == ["base", "total"]
    assert list(rows[0]["guest"]) == ["name"]


def test_fields_that_do_not_exist_are_absent_and_reported() -> None:
    reply = Held(BOOKINGS).ask(fields="id,checkInDate", limit=3)
    assert reply.record["missingFields"] == ["checkInDate"]
    assert "no such field: checkInDate" in reply.where


def test_chosen_fields_go_on_page_by_page_to_the_last_item() -> None:
    held = Held(BOOKINGS, policy(2_000))
    replies = held.follow(held.ask(fields="id,guest.email", form="json"))
    ids = [row["id"] for reply in replies for row in json.loads(reply.content)]
    assert ids == [row["id"] for row in bookings(500)["result"]]
    assert all(held.tokens(reply) <= 2_000 for reply in replies)


def test_a_path_leads_to_one_section_only() -> None:
    reply = Held(BOOKINGS).ask(path="/result/17/price", form="json")
    assert json.loads(reply.content) == bookings(500)["result"][17]["price"]
    assert reply.record["path"] == "/result/17/price"


def test_a_path_to_something_big_begins_as_any_answer_and_is_walked_to_its_end() -> None:
    data = json.dumps({"a": [{"t": f"word {n} " * 30} for n in range(300)], "b": ["x" * 50] * 900}).encode()
    held = Held(data)
    first = held.ask(path="/b")
    assert first.record["total"]["items"] == 900
    replies = held.follow(first)
    assert sum(reply.record["shown"]["items"] for reply in replies) == 900


@pytest.mark.parametrize("path", ["/result/500", "/result/x", "/nothing", "/result/0/price/total/deeper"])
def test_a_path_that_leads_nowhere_says_what_there_is(path: str) -> None:
    with pytest.raises(BadRequest, match="leads nowhere"):
        Held(BOOKINGS).ask(path=path)


def test_a_range_of_lines_is_exact() -> None:
    reply = Held(LOG).ask(lines="100-200")
    assert reply.content.encode() == b"".join(line + b"\n" for line in LOG.split(b"\n")[99:200])
    assert (reply.record["shown"]["startLine"], reply.record["shown"]["endLine"]) == (100, 200)


def test_a_range_of_lines_beyond_the_budget_goes_on_with_a_cursor() -> None:
    held = Held(LOG)
    replies = held.follow(held.ask(lines="2000-4000"))
    assert len(replies) > 2
    assert (
        "".join(reply.content for reply in replies).encode()
        == b"\n".join(LOG.split(b"\n")[1_999:4_000]) + b"\n"
    )
    assert all(held.tokens(reply) <= 4_000 for reply in replies)


def test_lines_beyond_the_end_are_refused_with_their_number() -> None:
    with pytest.raises(BadRequest, match="there are 10,000 lines"):
        Held(LOG).ask(lines="10001-10002")


def test_search_shows_matching_items_with_their_index_and_counts_all() -> None:
    reply = Held(BOOKINGS).ask(search="chargeback", form="json")
    rows = json.loads(reply.content)
    assert [row["#"] for row in rows] == [150, 400]
    assert reply.record["total"]["hits"] == 2


def test_search_words_must_all_occur_and_patterns_are_regular_expressions() -> None:
    held = Held(BOOKINGS)
    assert held.ask(search="chargeback CB-00400").record["total"]["hits"] == 1
    assert held.ask(search="/CB-00[14]\\d+/").record["total"]["hits"] == 2
    assert held.ask(search="nowhere at all").record["total"]["hits"] == 0


def test_search_in_text_shows_lines_with_numbers_and_context() -> None:
    reply = Held(LOG).ask(search="/request 77 /")
    assert reply.content.split("\n") == [
        f"{n + 1}{':' if n == 77 else '-'}2026-11-15 10:01:{n - 60} INFO request {n} served"
        for n in range(75, 80)
    ]


def test_search_goes_on_through_all_hits_within_the_budget() -> None:
    held = Held(LOG, policy(1_000))
    replies = held.follow(held.ask(search="/request [0-9]*7 /"))
    assert (
        sum(reply.record["shown"]["hits"] for reply in replies) == replies[0].record["total"]["hits"] == 1_000
    )
    assert all(held.tokens(reply) <= 1_000 for reply in replies)


def test_a_pattern_that_would_explode_elsewhere_is_linear_here() -> None:
    data = ("a" * 30_000 + "!\n").encode() * 3
    assert Held(data).ask(search="/(a+)+$/").record["total"]["hits"] == 0


def test_search_in_an_object_finds_leaves_with_their_paths() -> None:
    data = json.dumps({f"section{n}": {"name": f"n{n}", "text": "filler " * 90} for n in range(60)}).encode()
    reply = Held(data).ask(search="n41")
    assert '/section41/name: "n41"' in reply.content


def test_a_selection_says_that_it_is_one() -> None:
    for arguments in ({"fields": "id"}, {"search": "chargeback"}):
        assert Held(BOOKINGS).ask(**arguments).record["derived"] is True


def test_a_reading_in_another_form_goes_on_where_it_was() -> None:
    held = Held(BOOKINGS)
    first = held.opening()
    second = held.read(first.record["nextCursor"], form="json", limit=5)
    assert json.loads(second.content)[0] == bookings(500)["result"][first.record["shown"]["items"]]
    rest = held.follow(second)
    assert rest[-1].record["shown"]["from"] + rest[-1].record["shown"]["items"] == 500
    assert rebuilt([first, *rest])


def test_fields_of_an_object_are_its_own_though_a_list_is_most_of_it() -> None:
    texts = [" ".join(f"word{at * number % 977}" for number in range(60)) for at in range(90)]
    ticket = {"id": 1, "title": "T", "comments": [{"by": "ann", "text": text} for text in texts]}
    reply = Held(json.dumps(ticket).encode(), policy()).ask(fields="title", form="json")
    assert json.loads(reply.content) == {"title": "T"}
