"""Tables in JSON at any depth and in text: what the first reply tells of their columns, and which rows break a rule."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from brimgate.engine.maps.nested_tables import structure_of
from brimgate.engine.maps.plain_lines import outside_rows
from brimgate.engine.maps.survey import TextLines
from brimgate.engine.maps.text_table import text_rows
from tests.engine.holding import Held, policy


def told(value: object, budget: int = 3_000) -> str:
    data = value if isinstance(value, str) else json.dumps(value)
    return Held(data.encode(), policy(budget)).opening().highlights


def orders(count: int = 400) -> list[dict[str, object]]:
    start = datetime(2026, 3, 1, tzinfo=UTC)
    return [
        {
            "id": f"ORD-{5_000 + n}",
            "state": ("open", "paid", "paid", "sent")[n % 4],
            "net": 100 + n * 17 % 300,
            "tax": 10 + n * 7 % 40,
            "gross": 110 + n * 17 % 300 + n * 7 % 40,
            "placed": (start + timedelta(minutes=9 * n + n % 4)).isoformat(),
            "country": ("DE", "US")[n * 7 // 5 % 2],
            "currency": ("EUR", "USD")[n * 7 // 5 % 2],
        }
        for n in range(count)
    ]


def test_a_map_counts_values_and_tells_ranges_of_the_whole() -> None:
    found = told(orders())
    assert "state paid 200, open 100, sent 100" in found
    assert "unique: id (ORD-5000 … ORD-5399, consecutive)" in found
    assert "placed 2026-03-01T00:00:00 … 2026-03-03T11:54:00" in found
    assert found.endswith("nothing stands out")


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"id": "ORD-5017"}, "id=ORD-5017 is a duplicate of /17"),
        ({"gross": 9}, "but net"),
        ({"placed": "2026-03-01T00:00:00+00:00"}, "placed time goes back"),
        ({"currency": "USD"}, "currency is USD with country=DE, usually EUR"),
        ({"net": -4, "gross": 20}, "net=-4 is negative"),
    ],
)
def test_a_row_that_breaks_a_rule_of_the_others_is_shown(change: dict[str, object], shown: str) -> None:
    items = orders()
    items[200] |= change
    found = told(items)
    assert shown in found and "/200: " in found


def test_a_gap_is_shown_with_what_stands_around_it() -> None:
    items = orders()
    del items[150:153]
    assert "/150: id gap, 3 missing: ORD-5149 then ORD-5153" in told(items)


def test_a_jump_in_time_is_shown() -> None:
    items = orders()
    for n in range(300, 400):
        items[n]["placed"] = str(items[n]["placed"]).replace("2026-03-0", "2026-04-0")
    assert "/300: placed jump in time" in told(items)


def test_a_count_that_is_told_wrong_is_a_contradiction() -> None:
    assert "count is 390, but orders has 400 (contradiction)" in told({"count": 390, "orders": orders()})


def test_tables_are_found_at_any_depth_and_joined_over_their_parents() -> None:
    pods = [
        {"meta": {"name": f"pod-{n}"}, "spec": {"containers": [{"image": f"app:{n % 3}", "pull": "Always"}]}}
        for n in range(300)
    ]
    pods[33]["spec"]["containers"][0]["pull"] = "Never"  # type: ignore[index]
    found = told({"kind": "List", "items": pods}, 1_000)
    assert "/items/*/spec/containers/*: 300" in found
    assert "/items/33/spec/containers/0: pull=Never (1 of 300)" in found


def test_a_map_of_like_objects_has_its_keys_as_a_column() -> None:
    services = {f"svc-{n}": {"port": 8_000 + n, "retries": 3, "owner": f"team-{n % 4}"} for n in range(80)}
    services["svc-41"]["retries"] = 500
    found = told({"services": services}, 1_000)
    assert "/services/svc-41: retries=500" in found
    assert "unique: key (svc-0 … svc-79" in found


def test_pairs_of_names_and_values_are_columns() -> None:
    spans = [
        {
            "id": f"{n:016x}",
            "attributes": [{"key": "region", "value": {"stringValue": "eu" if n != 40 else "us"}}],
        }
        for n in range(400)
    ]
    assert "/40: attributes.region=us (1 of 400)" in told(spans, 1_000)


def test_texts_in_several_languages_are_one_table() -> None:
    texts = {f"page{n}.title": f"Title {n}" for n in range(60)}
    german = {key: text.replace("Title", "Titel") for key, text in texts.items()}
    del german["page44.title"]
    (table,) = structure_of({"en": texts, "de": german}).tables
    assert len(table.rows) == 60 and table.rows[0] == {
        "key": "/page0.title",
        "en": "Title 0",
        "de": "Titel 0",
    }
    assert "lacks de" in told({"en": texts, "de": german}, 600)


def test_a_reference_to_nothing_is_shown() -> None:
    nodes = {
        f"model.{n}": {"name": f"m{n}", "depends_on": [f"model.{n - 1}"] if n else []} for n in range(100)
    }
    nodes["model.50"]["depends_on"] = ["model.gone"]
    found = told({"nodes": nodes}, 1_000)
    assert "/nodes/model.50: depends_on refers to model.gone, which is not there" in found


ALIGNED = {
    "kubectl": "NAME          READY   STATUS    RESTARTS   AGE\n"
    + "\n".join(f"web-{n:<10}1/1     Running   {n % 3:<11}{n}d" for n in range(40)),
    "ps": "USER         PID %CPU COMMAND\n"
    + "\n".join(f"www     {1000 + n:>8} {n % 9:>4} /usr/bin/php worker {n}" for n in range(40)),
    "netstat": "Proto Recv-Q Send-Q Local Address           Foreign Address         State\n"
    + "\n".join(
        f"tcp        0 {n % 7:>6} 10.0.0.1:443{'':<12}10.9.8.{n}:5{n:04}{'':<10}OPEN" for n in range(40)
    ),
    "psql": " id | state\n----+-------\n" + "\n".join(f" {n:>2} | ok" for n in range(40)) + "\n(40 rows)",
    "records": "\n".join(f"*** {n}. row ***\n  id: {n}\nname: job {n}\nstate: done" for n in range(40)),
    "pairs": "\n".join(f'ts=2026-01-01T00:00:{n:02}Z level=info msg="all well" took={n}' for n in range(40)),
    "ls": "\n".join(f"-rw-r--r-- 1 ann staff {n * 10} Jan  2 10:00 file-{n}.txt" for n in range(40)),
}


@pytest.mark.parametrize("kind", ALIGNED)
def test_a_text_that_is_a_table_is_read_as_one(kind: str) -> None:
    rows = text_rows(TextLines.of(ALIGNED[kind]))
    assert rows is not None and len(rows.rows) == 40
    lines = ALIGNED[kind].split("\n")
    assert all(str(next(iter(row.values()))).split()[0] in "\n".join(lines[at - 1 : at + 1])
               for at, row in zip(rows.places, rows.rows, strict=True))  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ann,\n\nthe house is large and old, and it has a garden.\n" * 40,
        "\n".join(f"def f{n}(x):\n    return x + {n}\n" for n in range(40)),
        "",
        "x" * 10_000,
    ],
)
def test_other_text_is_no_table(text: str) -> None:
    assert text_rows(TextLines.of(text)) is None


def test_a_table_that_tells_another_number_of_rows_is_a_contradiction() -> None:
    lines = ALIGNED["psql"].replace("(40 rows)", "(44 rows)").split("\n")
    rows = text_rows(TextLines.of("\n".join(lines)))
    assert rows is not None
    (found,) = outside_rows(lines, rows.places)
    assert found.text.startswith("says 44, but there are 40 rows") and found.place == 43


def test_a_table_of_containers_is_read_with_its_empty_cells() -> None:
    heads = ("CONTAINER ID", "IMAGE", "CREATED", "STATUS", "PORTS", "NAMES")
    made = [
        (
            f"{n * 7919:012x}",
            "app:1.2",
            f"{n % 9} days ago",
            "Up 2 days",
            "" if n % 3 else "80/tcp",
            f"web_{n}",
        )
        for n in range(40)
    ]
    text = "\n".join("".join(cell.ljust(18) for cell in row).rstrip() for row in (heads, *made))
    rows = text_rows(TextLines.of(text))
    assert rows is not None
    assert [tuple(row.values()) for row in rows.rows] == made


def test_numbers_and_dates_are_read_as_most_of_europe_writes_them() -> None:
    lines = [f"{n % 27 + 1:02}.{n // 27 + 1:02}.2026;{1_000 + n};{n * 37 % 900},50" for n in range(300)]
    lines[200] = lines[200].rpartition(";")[0] + ";1.250.000,00"
    found = told("\n".join(["Datum;Beleg;Betrag", *lines]), 800)
    assert "Datum 01.01.2026 … " in found and "Betrag=1.250.000,00, usually" in found


def test_a_table_that_is_drawn_as_boxes_has_the_names_of_its_upper_line() -> None:
    lines = [
        "   ┌─name─┬─rows─┐",
        *(f"{at:3}.│ a{at}   │ {at:4} │" for at in range(40)),
        "   └──────┴──────┘",
    ]
    rows = text_rows(TextLines.of("\n".join(lines)))
    assert rows is not None
    assert rows.rows[2] == {"name": "a2", "rows": "2"}
    assert rows.places[2] == 4


def test_lines_with_tabs_under_comments_have_the_names_that_a_comment_gives() -> None:
    lines = ["#separator \\x09", "#fields\tts\tuid\tport\tservice", "#types\ttime\tstring\tport\tstring"]
    lines += [f"17443512{at:02}.271826\tC{at}\t{at}\tdns" for at in range(60)]
    rows = text_rows(TextLines.of("\n".join(lines)))
    assert rows is not None
    assert rows.rows[0] == {"ts": "1744351200.271826", "uid": "C0", "port": "0", "service": "dns"}
    assert rows.places[0] == 4


def test_each_rare_value_of_a_column_is_told() -> None:
    rows = [{"id": at, "message": f"message {at % 9}"} for at in range(470)]
    for at in range(7):
        rows[40 + 50 * at]["message"] = f"alone {at}"
    found = told(rows, 2_000)
    assert all(f"message=alone {at} (1 of 470)" in found for at in range(7))


def test_csv_with_times_and_paths_is_no_list_of_search_hits() -> None:
    lines = ["host,zone,device,mount,size_gb,used,checked_at"]
    lines += [
        f"web-{at}.example,a{at % 3},/dev/sda{at % 2},/,480,{at % 90}.5,2026-07-03T04:{at % 60:02}:05Z"
        for at in range(300)
    ]
    found = told("\n".join(lines), 1_500)
    assert "300 rows: host, zone, device, mount" in found
    assert "search hits" not in found


def csv(
    count: int = 120, *, head: str = "# made by a tool; amounts in EUR\n", odd: dict[int, str] | None = None
) -> str:
    lines = [
        f'2026-03-{1 + at // 10:02},"Fee, {at}",{at * 10}.00,{at}.50,{at * 10 + at + 0.5:.2f},{("open", "paid")[at % 2]}'
        for at in range(count)
    ]
    for at, line in (odd or {}).items():
        lines[at] = line
    return head + "\n".join(["booked,what,net,tax,gross,state", *lines]) + "\n"


@pytest.mark.parametrize("head", ["", "# made by a tool; amounts in EUR\n", "# one\n# two, three\n\n", "# "])
def test_csv_with_times_below_comments_is_a_table(head: str) -> None:
    found = told(csv(head=head))
    assert "120 rows: " in found and "state open 60, paid 60" in found


def test_a_sum_that_is_wrong_is_found_in_a_table_that_is_text() -> None:
    found = told(csv(odd={60: '2026-03-07,"Fee, 60",600.00,60.50,999.99,open'}))
    assert "gross=999.99, but net 600 + tax 60.5 gives 660.5" in found


def test_amounts_in_parentheses_are_negative_numbers() -> None:
    lines = "".join(f'K-{at},"({1_000 + at % 90:,}.50)",open\n' for at in range(160))
    assert "amount -1,089.50 to -1,000.50" in told("key,amount,state\n" + lines, 900)


def test_a_pair_that_every_other_has_is_missed() -> None:
    items = [
        {"station": f"WS-{station}", "hour": f"{hour:02}:00", "mm": station * hour % 7}
        for station in range(12)
        for hour in range(24)
        if (station, hour) != (7, 9)
    ]
    assert "station=WS-7 has no row with hour=09:00, as every other station has" in told(items, 900)


def test_samples_that_come_evenly_show_the_one_that_is_missing() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    items = [
        {"at": (start + timedelta(minutes=10 * n)).isoformat(), "load": n * 37 % 11}
        for n in range(200)
        if n != 77
    ]
    assert "/77: at jump in time, gap of 20 min" in told(items, 900)


def test_what_hardly_any_other_list_has_is_shown() -> None:
    items = [{"user": f"user {n * 7919}", "roles": ["reader", "writer"][: 1 + n % 2]} for n in range(240)]
    items[40]["roles"] = ["reader", "realm-admin"]
    assert "/40: roles=realm-admin (1 of " in told(items, 900)


def test_a_double_is_found_where_one_row_lacks_the_field() -> None:
    items = [{"mail": f"{n * 7919}@example.org", "size": n * 31 % 17} for n in range(240)]
    del items[20]["mail"]
    items[70]["mail"] = items[10]["mail"]
    assert "/70: mail=79190@example.org is a duplicate of /10" in told(items, 900)


def test_a_line_of_a_program_between_rows_is_no_row() -> None:
    rows = [f"group-{n % 4}   topic.{n % 6}   {n}   {n * 100}   consumer-{n}" for n in range(60)]
    rows[30:30] = ["", "[2026-01-01 10:00:00] WARN Connection to node 3 could not be established", ""]
    rows[45:45] = ["", "GROUP  TOPIC  PARTITION  OFFSET  CONSUMER"]
    text = "\n".join(["GROUP   TOPIC   PARTITION   OFFSET   CONSUMER", *rows])
    found = told(text, 900)
    assert "60 rows: GROUP, TOPIC, PARTITION, OFFSET, CONSUMER" in found
    assert "malformed, no row: [2026-01-01 10:00:00] WARN Connection to node 3" in found


def test_the_items_of_a_tree_are_one_table() -> None:
    def node(depth: int, name: str) -> dict[str, object]:
        inner = [node(depth - 1, f"{name}.{n}") for n in range(3)] if depth else []
        return {"name": name, "size": 10 + len(name), "children": inner}

    (table, *_) = structure_of({"root": {"children": [node(3, str(n)) for n in range(3)]}}).tables
    assert table.pattern == "/root/children/**" and len(table.rows) == 3 * (1 + 3 + 9 + 27)
    assert "/root/children/2/children/1/children/0" in table.pointers


def test_an_id_that_two_tables_have_and_a_name_that_nothing_names_are_found() -> None:
    paths = {
        f"/thing{n}": {
            "get": {"operationId": f"getThing{n}", "returns": f"#/schemas/Thing{n}"},
            "put": {"operationId": f"putThing{n}", "returns": f"#/schemas/Thing{n}"},
        }
        for n in range(30)
    }
    schemas = {f"Thing{n}": {"type": "object", "size": n} for n in range(31)}
    paths["/thing9"]["put"]["operationId"] = "getThing3"
    found = told({"paths": paths, "schemas": schemas}, 600)
    assert "operationId=getThing3 is a duplicate of /paths/~1thing3/get/operationId" in found
    assert "/schemas/Thing30: nothing refers to Thing30: it is unused" in found
