"""Looking at a held answer in one's own way: fields, path, lines, search."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brimgate.engine.replies.reply import Reply
from brimgate.errors import BadRequest
from brimgate.testing import bookings
from tests.engine.holding import Held, policy, rebuilt
from tests.engine.test_search import values

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
    data = json.dumps(
        {f"section{n}": {"name": f"n{n}", "text": f"filler {n} " * 90} for n in range(60)}
    ).encode()
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


# Fields of any shape


def rows_of(reply: Reply) -> list[dict[str, object]]:
    return json.loads(reply.content)


def test_fields_of_a_map_are_chosen_inside_each_of_its_values() -> None:
    services = {
        f"s{n}": {"port": 8_000 + n, "on": n % 5 != 0, "note": f"words {n} " * 20} for n in range(400)
    }
    held = Held(json.dumps({"services": services}).encode())
    replies = held.follow(held.ask(fields="port,on", form="json"))
    rows = [row for reply in replies for row in rows_of(reply)]
    assert rows == [{"#": name, "port": one["port"], "on": one["on"]} for name, one in services.items()]
    assert '"port":8007' in held.ask(path="/services/s7", form="json").content, "# is a step of a path"


@pytest.mark.parametrize("fields", ["total,city", "2,1"])
def test_columns_of_a_list_of_lists_are_chosen_by_name_or_number(fields: str) -> None:
    rows: list[list[object]] = [["order", "city", "total"], *([n, f"city {n}", n * 1.5] for n in range(900))]
    reply = Held(json.dumps({"range": "A1:C901", "values": rows}).encode()).ask(fields=fields, form="json")
    total, city = fields.split(",")
    assert rows_of(reply)[8] == {total: 10.5, city: "city 7"}


def test_columns_are_named_by_a_member_beside_the_rows() -> None:
    answer = {"columns": ["id", "customer"], "rows": [[n, f"customer {n}"] for n in range(2_000)]}
    reply = Held(json.dumps(answer).encode()).ask(fields="customer", form="json")
    assert rows_of(reply)[7] == {"customer": "customer 7"}


def test_fields_of_csv_and_json_lines() -> None:
    table = "id,city,total\n" + "".join(f"{n},city {n},{n * 1.5}\n" for n in range(2_000))
    assert rows_of(Held(table.encode()).ask(fields="city", form="json"))[7] == {"#": 9, "city": "city 7"}
    lines = "".join(json.dumps({"id": n, "city": f"city {n}"}) + "\n" for n in range(2_000))
    assert rows_of(Held(lines.encode()).ask(fields="city", form="json"))[7] == {"#": 8, "city": "city 7"}
    some = Held(table.encode()).ask(fields="city", lines="10-12", form="json")
    assert rows_of(some) == [{"#": n + 2, "city": f"city {n}"} for n in (8, 9, 10)]


def test_fields_are_chosen_where_more_of_them_are() -> None:
    items = [
        {"kind": "Pod", "metadata": {"name": f"pod {n}"}, "note": f"{n * 7919} words {n * 104729}"}
        for n in range(600)
    ]
    answer = {"kind": "List", "metadata": {"version": "7"}, "items": items}
    held = Held(json.dumps(answer).encode())
    assert rows_of(held.ask(fields="kind,metadata.name", form="json"))[3] == {
        "kind": "Pod",
        "metadata": {"name": "pod 3"},
    }
    assert json.loads(held.ask(fields="metadata.version", form="json").content) == {
        "metadata": {"version": "7"}
    }


def test_rows_of_a_text_have_the_numbers_of_their_lines() -> None:
    table = "id,name,name\n" + "".join(f"{n},a{n},b{n}\n" for n in range(2_000))
    held = Held(table.encode())
    assert rows_of(held.ask(fields="2", form="json"))[7] == {"#": 9, "2": "b7"}
    assert held.ask(lines="9-9").content.startswith("7,a7,b7")


def test_fields_of_other_texts_are_refused_with_the_reason() -> None:
    with pytest.raises(BadRequest, match="JSON, CSV and JSON lines only; this is text: use lines or search"):
        Held(LOG).ask(fields="id")


def test_a_section_of_a_list_keeps_id_and_number_and_goes_on_from_the_cursor() -> None:
    rows = [
        {"id": 100 + n, "name": f"guest {n}", "email": f"{n}@x.org", "note": "n" * 200} for n in range(300)
    ]
    chosen = policy(fields=("id", "name"), sections=(("contact", ("email",)),))
    held = Held(json.dumps(rows).encode(), chosen)
    first = held.opening()
    reply = held.read(first.record["nextCursor"], fields="contact", form="json", limit=2)
    at = first.record["shown"]["items"]
    assert rows_of(reply)[0] == {"id": 100 + at, "email": f"{at}@x.org"}
    shown = held.read(first.record["nextCursor"], fields="contact", limit=2).content
    assert f"{at}" in shown and "#" in shown


@settings(max_examples=60)
@given(values, st.lists(st.sampled_from(["a", "b", "key", "0", "1", "a.b", "rows"]), min_size=1, max_size=3))
def test_fields_of_anything_give_values_or_a_reason(value: object, fields: list[str]) -> None:
    data = json.dumps({"rows": [value] * 3, "value": value, "pad": "x " * 3_000}).encode()
    held = Held(data, policy(600))
    for path in ("/rows", "/value", ""):
        try:
            reply = held.ask(path=path, fields=",".join(fields), form="json")
        except BadRequest as refusal:
            assert str(refusal)
            continue
        got = json.loads(reply.content)
        rows = got if isinstance(got, list) else [got]
        chosen = [row.keys() - {"#"} if isinstance(row, dict) else row for row in rows]
        assert any(chosen) or "no such field" in reply.text


def test_rows_with_times_are_rows_and_no_listing_of_files() -> None:
    rows = [f"{n},user{n}@example.com,2026-03-1{n % 9}T10:00:00Z,{n * 1.5}" for n in range(3_000)]
    held = Held("\n".join(["id,email,created,amount", *rows]).encode())
    reply = held.ask(fields="id,amount", limit=2, form="json")
    assert json.loads(reply.content)[1] == {"#": 3, "id": "1", "amount": "1.5"}


def test_a_table_with_a_giant_cell_is_told_as_text() -> None:
    rows = "\n".join(f"{n},b" for n in range(60))
    held = Held(f'id,note\n{rows}\n61,"{"x" * 200_000}"\n'.encode())
    with pytest.raises(BadRequest, match="use lines or search"):
        held.ask(fields="id")
