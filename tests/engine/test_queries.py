"""Questions in SQL over a held answer: what a model asks, what it is told, and what it must not cost."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine.rebuild import next_on_walk
from brimgate.engine.replies.reply import Reply
from brimgate.engine.sql.functions import ALLOWED
from brimgate.errors import BadRequest
from tests.engine.holding import Held, policy

BOOKINGS = [
    {
        "id": 100 + at,
        "status": ("confirmed", "pending", "cancelled")[at % 3],
        "price": {"total": at * 1.5, "currency": "EUR"},
        "is_paid": at % 2 == 0,
        "nights": [{"day": day, "rate": at} for day in range(at % 4)],
        "tags": ["a", "b"][: at % 3],
    }
    for at in range(300)
]
ENVELOPE = {"status": "success", "count": 300, "result": BOOKINGS}


def held(value: Any = ENVELOPE, budget: int = 1_000, **changes: Any) -> Held:
    data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
    return Held(data, policy(budget, **changes))


def rows(reply: Reply) -> list[dict[str, Any]]:
    """The rows of a result that is written as JSON."""
    found: list[dict[str, Any]] = json.loads(reply.content)
    return found


def asked(sql: str, value: Any = ENVELOPE, **arguments: Any) -> list[dict[str, Any]]:
    return rows(held(value).ask(query=sql, form="json", **arguments))


def refusal(sql: str, value: Any = ENVELOPE) -> str:
    with pytest.raises(BadRequest) as refused:
        asked(sql, value)
    return str(refused.value)


def test_one_call_answers_a_question_over_the_whole() -> None:
    reply = held().ask(
        query="SELECT status, count(*) AS n, sum(price.total) AS total FROM t GROUP BY 1 ORDER BY 1"
    )
    assert reply.notice.startswith("[brimgate] 3 rows, all · query over t (300 rows)")
    assert reply.record["estimatedTokens"] < 200
    assert "status:confirmed,n:100,total:22275.0" in reply.content


def test_a_first_reply_says_that_a_query_can_be_asked() -> None:
    for value in (
        ENVELOPE,
        {"a": {"text": "word " * 5_000, "more": BOOKINGS[:3]}},
        "line of a text\n" * 2_000,
    ):
        assert 'query="SELECT … FROM t"' in held(value).opening().notice


def test_columns_have_the_names_of_the_page_quoted_or_not() -> None:
    expected = [{"price.total": 448.5}]
    for name in (
        '"price.total"',
        "price.total",
        "t.price.total",
        't."price.total"',
        "PRICE.TOTAL",
        "b.price.total",
    ):
        source = "t b" if name.startswith("b.") else "t"
        found = asked(f'SELECT {name} AS "price.total" FROM {source} WHERE n = 299')
        assert found == expected, name


def test_values_keep_their_type() -> None:
    found = asked("SELECT id, status, price.total, is_paid, tags, n FROM t WHERE id = 101")
    assert found == [
        {"id": 101, "status": "pending", "price.total": 1.5, "is_paid": False, "tags": ["a"], "n": 1}
    ]
    assert asked("SELECT count(*) AS n FROM t WHERE is_paid") == [{"n": 150}]
    assert asked("SELECT count(*) AS n FROM t WHERE is_paid = true AND id < '110'") == [{"n": 5}]


def test_numbers_that_no_program_holds_stay_exact() -> None:
    odd = (
        '{"a": 123456789012345678901234567890, "b": 0.12345678901234567890, "c": 1e400, "d": 0.1, "e": 1.50}'
    )
    data = "[" + ",".join([odd, *(f'{{"a": {at}, "f": "filler {at}"}}' for at in range(400))]) + "]"
    assert asked("SELECT a, b, c, d, e FROM t WHERE n = 0", data) == [
        {
            "a": "123456789012345678901234567890",
            "b": "0.12345678901234567890",
            "c": "1e400",
            "d": 0.1,
            "e": 1.5,
        }
    ]


def test_lists_inside_items_are_tables_with_the_number_of_their_item() -> None:
    told = asked('SELECT DISTINCT "table", of, rows FROM tables')
    assert [one["table"] for one in told] == ["t", "t1", "t2", "leaf"]
    assert told[1] == {"table": "t1", "of": "/result/*/nights", "rows": sum(at % 4 for at in range(300))}
    joined = "SELECT t.id, count(*) AS nights FROM t JOIN t1 ON t1.parent = t.n GROUP BY t.n ORDER BY 2 DESC, 1 LIMIT 1"
    assert asked(joined) == [{"id": 103, "nights": 3}]
    assert asked("SELECT sum(rate) AS s FROM nights") == asked("SELECT sum(rate) AS s FROM t1")
    assert asked("SELECT value, count(*) AS n FROM tags GROUP BY 1") == [
        {"value": "a", "n": 200},
        {"value": "b", "n": 100},
    ]


def test_maps_of_like_objects_have_a_key_and_other_lists_their_name() -> None:
    pods = {f"pod-{at}": {"phase": "Running" if at else "Failed", "restarts": at} for at in range(200)}
    assert asked("SELECT key FROM t WHERE phase = 'Failed'", {"pods": pods, "zone": "a"}) == [
        {"key": "pod-0"}
    ]
    two = {"users": [{"id": at, "name": "x" * 40} for at in range(200)], "orders": [{"user": 1, "sum": 5}]}
    assert asked("SELECT u.id, o.sum FROM users u JOIN orders o ON o.user = u.id", two) == [
        {"id": 1, "sum": 5}
    ]


def test_an_answer_without_a_list_has_its_values() -> None:
    deep = {
        f"section{at}": {"enabled": at % 2 == 0, "note": "text " * 30, "in": {"port": 8_000 + at}}
        for at in range(4)
    }
    assert asked(
        "SELECT path FROM t WHERE path LIKE '%/port' AND value > 8002", deep | {"x": "y" * 9_000}
    ) == [{"path": "/section3/in/port"}]


def test_texts_are_tables_by_their_columns_and_by_their_lines() -> None:
    log = "".join(
        f"2026-01-01T00:{at // 60:02}:{at % 60:02}Z {'ERROR' if at % 50 == 0 else 'INFO'} request {at} took {at} ms\n"
        for at in range(900)
    )
    assert asked("SELECT level, count(*) AS n FROM t GROUP BY 1 ORDER BY 1", log) == [
        {"level": "ERROR", "n": 18},
        {"level": "INFO", "n": 882},
    ]
    assert asked("SELECT n FROM lines WHERE text REGEXP 'took 77 ms$'", log) == [{"n": 78}]
    csv = "id,price,code\n" + "".join(f"{at},{at}.50,0{at}\n" for at in range(900))
    assert asked("SELECT sum(price) AS s, max(id) AS m FROM t", csv) == [{"s": 405_000.0, "m": 899}]
    assert asked("SELECT code FROM t WHERE id = 7", csv) == [{"code": "07"}]
    lines = "".join(json.dumps(one) + "\n" for one in BOOKINGS)
    assert asked("SELECT count(*) AS c FROM t WHERE price.total > 300", lines) == [{"c": 99}]
    assert asked("SELECT count(*) AS c FROM t", "some prose without any form\n" * 2_000) == [{"c": 2_000}]


def test_a_result_that_is_large_is_read_on_and_asked_again() -> None:
    gate = held()
    reply = gate.ask(query="SELECT id, status FROM t ORDER BY id DESC")
    assert reply.notice.startswith("[brimgate] items #0-")
    cursor = str(next_on_walk(reply))
    assert "199" in gate.read(cursor, search="199").content
    again = rows(gate.read(cursor, query="SELECT count(*) AS c, max(id) AS m FROM t", form="json"))
    assert again == [{"c": 300, "m": 399}]
    assert gate.ask(query="SELECT id FROM t", limit=5, form="json").record["shown"]["items"] == 5


def test_a_query_can_be_about_a_part() -> None:
    assert asked("SELECT count(*) AS c, sum(rate) AS s FROM t", path="/result/3/nights") == [{"c": 3, "s": 9}]


def test_functions_that_models_expect() -> None:
    sql = """SELECT median(price.total) AS m, percentile(price.total, 90) AS p, round(stddev(price.total), 3) AS s,
        number('$1,234.50') AS a, number('1.234,50 EUR') AS b, concat(status, '-', id) AS c FROM t"""
    assert asked(sql) == [
        {"m": 224.25, "p": 403.65, "s": 130.12, "a": 1234.5, "b": 1234.5, "c": "confirmed-100"}
    ]
    like = "SELECT count(*) AS c FROM t WHERE status LIKE '{}'"
    for pattern, count in (
        ("CON%", 100),
        ("%ed", 200),
        ("%n%c%", 100),
        ("_ending", 100),
        ("pending", 100),
        ("%", 300),
    ):
        assert asked(like.format(pattern)) == [{"c": count}], pattern
    assert asked("SELECT count(*) AS c FROM t WHERE status GLOB 'c*d'") == [{"c": 200}]
    assert asked("SELECT count(*) AS c FROM t WHERE status LIKE '50\\%' ESCAPE '\\'") == [{"c": 0}]


def test_what_is_wrong_is_told_with_what_there_is() -> None:
    told = refusal("SELECT prize FROM t")
    assert 'no such column: prize, perhaps "price.total"' in told or "no such column: prize" in told
    assert "tables: t = /result (300 rows): n, id, status, " in told and "t1 = /result/*/nights" in told
    assert 'there is no column "prise.total"' in refusal('SELECT "prise.total" FROM t')
    assert "only SELECT" in refusal("DELETE FROM t")
    assert "one statement" in refusal("SELECT 1; SELECT 2")
    assert "syntax error" in refusal("SELEC 1")
    assert "no such table: bookings" in refusal("SELECT * FROM bookings")
    for name in ("search", "fields", "lines", "pages"):
        with pytest.raises(BadRequest, match="query cannot be combined"):
            held().ask(query="SELECT 1", **{name: "1"})


def test_a_column_of_another_table_is_refused_with_its_table_and_the_way_to_join() -> None:
    for name in ("price.total", '"price.total"', "`price.total`", "t1.price.total"):
        told = refusal(f"SELECT count(*), {name} FROM t1 WHERE {name} > 3")
        assert "it is a column of t = /result (join on t1.parent = t.n" in told, name
    joined = "SELECT sum(price.total) AS s FROM t JOIN t1 ON t1.parent = t.n WHERE t.n = 3"
    assert asked(joined) == [{"s": 13.5}]
    assert "no such column: a.b.c" in refusal("SELECT a.b.c FROM t")


def test_a_result_names_the_tables_that_were_read() -> None:
    gate = held()
    for sql, of in (
        ("SELECT count(*) FROM t1", "t1 (450 rows) ·"),
        (
            "SELECT count(*) FROM result JOIN nights ON nights.parent = result.n",
            "t (300 rows), t1 (450 rows) ·",
        ),
        ("SELECT count(*) FROM t1", "t1 (450 rows) ·"),
        ("SELECT 1", "t (300 rows) ·"),
    ):
        assert f"query over {of}" in gate.ask(query=sql).notice, sql


def test_lists_of_key_and_value_are_columns_as_the_map_calls_them() -> None:
    spans = [
        {"id": at, "attributes": [{"key": "tenant.id", "value": {"stringValue": f"t{at % 3}"}}]}
        for at in range(900)
    ]
    found = asked("SELECT attributes.tenant.id AS tenant, count(*) AS c FROM t GROUP BY 1 ORDER BY 1", spans)
    assert found == [{"tenant": f"t{at}", "c": 300} for at in range(3)]


def test_csv_with_delimiters_in_quotes_is_a_table() -> None:
    lines = [f'{at},"Costa, {at % 4} Ltd.","Lamp, ""big"", {at}",{at}.50' for at in range(400)]
    text = "\n".join(["id,customer,note,total", *lines])
    assert asked("SELECT sum(total) AS s FROM t WHERE customer = 'Costa, 3 Ltd.'", text) == [{"s": 20150.0}]


def test_names_that_differ_in_case_only_and_our_own_names_are_kept_apart() -> None:
    value = [
        {"ID": at, "id": at + 1, "n": at + 2, "": 1, "a\u0000b": 2, 'q"q': 3, "pad": "x" * 60}
        for at in range(200)
    ]
    assert asked('SELECT * FROM t WHERE "#" = 5', value) == [{"#": 5} | value[5]]


_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
_KEYS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8).filter(
    lambda key: key not in ("n", "N", "#")
)


@pytest.mark.property
@given(st.lists(st.dictionaries(_KEYS, _SCALARS, max_size=6), min_size=1, max_size=30))
def test_all_of_a_list_of_flat_objects_can_be_selected(items: list[dict[str, Any]]) -> None:
    gate = Held(json.dumps([*items, {"pad": "x" * 20_000}]).encode(), policy(2_000))
    reply = gate.ask(query="SELECT * FROM t", form="json", limit=7)
    found: list[dict[str, Any]] = []
    while True:
        found += rows(reply) if reply.record["format"] == "json" else []
        following = next_on_walk(reply)
        if following is None:
            break
        reply = gate.read(following, form="json")
    for at, (item, row) in enumerate(zip(items, found, strict=False)):
        assert row.pop("n") == at
        row.pop("#", None)
        assert row == {key: value if not is_wide(value) else str(value) for key, value in item.items()}


def is_wide(value: Any) -> bool:
    return type(value) is int and not -(1 << 63) <= value < 1 << 63


HOSTILE = [
    "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT count(*) FROM x",
    "WITH RECURSIVE x(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x) SELECT * FROM x",
    "WITH RECURSIVE x(a) AS (SELECT 'aaaaaaaaaaaaaaaa' UNION ALL SELECT a || a FROM x) SELECT length(a) FROM x",
    "SELECT count(*) FROM t a, t b, t c, t d, t e",
    "SELECT * FROM t a, t b, t c ORDER BY a.id * b.id * c.id, a.status || b.status",
    "SELECT group_concat(a.status || b.status || c.status) FROM t a, t b, t c",
    "SELECT json_group_array(a.status || b.status) FROM t a, t b, t c, t d",
    "SELECT replace(hex(group_concat(status)), 'a', group_concat(status)) FROM t",
    "SELECT printf('%.1000000000d', 1)",
    "SELECT format('%1000000000s', 1)",
    "SELECT zeroblob(1000000000)",
    "SELECT randomblob(1000000000)",
    "SELECT hex(zeroblob(500000000))",
    "SELECT load_extension('x')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('/tmp/x', 'y')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT sqlite_version()",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM sqlite_schema",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM pragma_table_info('t')",
    "SELECT * FROM dbstat",
    "PRAGMA hard_heap_limit = 0",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "ATTACH '/tmp/x.db' AS x",
    "ATTACH ':memory:' AS x",
    "DETACH main",
    "VACUUM INTO '/tmp/x.db'",
    "CREATE TABLE x (a)",
    "CREATE TEMP TABLE x AS SELECT * FROM t",
    "CREATE VIRTUAL TABLE x USING fts5(a)",
    "DROP TABLE t",
    "ALTER TABLE t RENAME TO u",
    "INSERT INTO t (id) VALUES (1)",
    "UPDATE t SET id = 1",
    "DELETE FROM t",
    "REPLACE INTO t (id) VALUES (1)",
    "WITH x AS (SELECT 1) DELETE FROM t",
    "BEGIN",
    "COMMIT",
    "SAVEPOINT x",
    "REINDEX",
    "ANALYZE",
    "EXPLAIN SELECT 1",
    "EXPLAIN QUERY PLAN SELECT * FROM t",
    "SELECT 1; DROP TABLE t",
    "SELECT 1; -- x\nSELECT 2",
    "-- nothing",
    "/* nothing */",
    ";",
    "",
    "SELECT",
    "'",
    '"',
    "SELECT 'a",
    "SELECT /* x",
    "SELECT \x00 1",
    "SELECT '\ud800'",
    "SELECT ?",
    "SELECT :a",
    "SELECT @a, $b",
    "SELECT 9e999, -9e999, 0.0 / 0",
    "SELECT 1 / 0",
    "SELECT abs(-9223372036854775808)",
    "SELECT sum(9223372036854775807) FROM t",
    "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' LIKE '%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%a%b'",
    "SELECT count(*) FROM t a, t b WHERE a.status LIKE '%' || b.status || '%n%n%n%n%n%n%n%n%'",
    "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' GLOB '*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b'",
    "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' REGEXP '(a+)+$b'",
    "SELECT status REGEXP '(((((((((((a{100}){100}){100}){100}))))))))' FROM t",
    "SELECT status REGEXP '(' FROM t",
    "SELECT status REGEXP '(?=a)b' FROM t",
    "SELECT 1 REGEXP x'ff'",
    "SELECT x'ffff', char(0, 1114111, 55296)",
    "SELECT json('[' || '[' || '[')",
    "SELECT json_extract('{}', '$.' || hex(status)) FROM t",
    "SELECT * FROM json_tree(json_array(1, json_array(2, json_array(3))))",
    "SELECT percentile(id, 500) FROM t",
    "SELECT percentile(id, 'x') FROM t",
    "SELECT median(status) FROM t",
    "SELECT substr(status, -9223372036854775808, 9223372036854775807) FROM t",
    "SELECT round(1.5, 2147483647), round(1.5, -5)",
    "SELECT strftime('%s%s%s%s', 'now', '+9223372036854775807 years')",
    "SELECT date('now', '+1 day', '+1 day', '+1 day', '+1 day', '+1 day')",
    "SELECT lag(id, 9223372036854775807) OVER () FROM t",
    "SELECT sum(a.id) OVER (ORDER BY b.id ROWS BETWEEN 9999 PRECEDING AND 9999 FOLLOWING) FROM t a, t b, t c",
    "SELECT ntile(0) OVER () FROM t",
    "VALUES (1), (2)",
    "TABLE t",
    "SHOW TABLES",
    "DESCRIBE t",
    "SELECT TOP 10 * FROM t",
    "SELECT * FROM t LIMIT -1 OFFSET -1",
    "SELECT * FROM t LIMIT 9223372036854775808",
    "SELECT * FROM t, t, t, t WHERE 1",
    "SELECT * FROM t NATURAL JOIN t1 NATURAL JOIN t2",
    "SELECT a.* FROM t a JOIN t b ON a.id > b.id JOIN t c ON b.id > c.id JOIN t d ON c.id > d.id ORDER BY 1, 2, 3",
    "SELECT DISTINCT a.id * b.id * c.id + d.id FROM t a, t b, t c, t d",
    "SELECT a.id FROM t a, t b, t c, t d INTERSECT SELECT b.id FROM t a, t b, t c, t d",
    "SELECT max(x) FROM (SELECT a.id * b.id AS x FROM t a, t b, t c, t d)",
    *[
        f"SELECT {name}(" + ", ".join(["1"] * count) + ")"
        for name in sorted(ALLOWED)
        if name.isidentifier()
        for count in (0, 9)
    ],
]


def nested(depth: int) -> str:
    return f"SELECT {'(' * depth}1{')' * depth}"


def doubled(depth: int) -> str:
    parts = ["x0 AS (SELECT 1 AS a)"]
    parts += [f"x{at} AS (SELECT p.a FROM x{at - 1} p, x{at - 1} q)" for at in range(1, depth)]
    return f"WITH {', '.join(parts)} SELECT count(*) FROM x{depth - 1}"


LARGE = [
    nested(4_000),
    "SELECT " + "1+" * 4_000 + "1",
    "SELECT " + " || ".join(["'a'"] * 2_000),
    "SELECT " + ", ".join(["1"] * 4_000),
    "SELECT " + ", ".join(["status"] * 1_900) + " FROM t a, t b",
    " UNION ALL ".join(["SELECT 1"] * 600),
    "SELECT " + "abs(" * 1_500 + "1" + ")" * 1_500,
    "SELECT * FROM " + ", ".join(f"t x{at}" for at in range(70)),
    "SELECT 1 WHERE 1 IN (" + ",".join(map(str, range(2_000))) + ")",
    "SELECT '" + "a" * 9_900 + "'",
    "SELECT 1 -- " + "a" * 9_900,
    "SELECT " + "CASE WHEN 1 THEN " * 400 + "1" + " END" * 400,
    doubled(12),
    doubled(40),
    "SELECT status LIKE '" + "%a" * 240 + "' FROM t",
    "SELECT status REGEXP '" + "(a|b)*" * 80 + "c' FROM t",
    "x" * 9_999,
    "SELECT 1" + " " * 1_000_000,
    "SELECT '" + "y" * 1_000_000 + "'",
]


@pytest.mark.parametrize(
    "sql", [*HOSTILE, *LARGE], ids=lambda sql: str(sql)[:50].encode("ascii", "replace").decode()
)
def test_a_hostile_query_ends_with_an_answer_or_a_clear_error(sql: str) -> None:
    """How long it takes and how much memory is measured by `python -m bench queries`."""
    gate = held()
    try:
        reply = gate.ask(query=sql or " ")
    except BadRequest as refused:
        assert str(refused).strip() and len(str(refused)) < 3_000
    else:
        assert reply.record["estimatedTokens"] <= 1_000
    assert rows(gate.ask(query="SELECT count(*) AS c FROM t", form="json")) == [{"c": 300}]


PAGE = """
### {part}.{page} Page {page}

The {devices} devices of this part are counted every year.
Tell us within {page} hours what is missing.
"""
MANUAL = "# Manual\n" + "".join(
    f"\n## {part} Part {part}\n"
    + "".join(PAGE.format(part=part, page=page, devices=part * page) for page in range(1, 5))
    for part in range(1, 19)
)
DIFF = """diff --git a/src/a.py b/src/a.py
--- a/src/a.py
+++ b/src/a.py
@@ -10,3 +10,4 @@ def pay(amount):
 one
-two
+TWO
+--- three
 four
diff --git a/docs/b.md b/docs/b.md
--- a/docs/b.md
+++ b/docs/b.md
@@ -1,2 +1,1 @@
-gone
 kept
"""


def test_the_lines_of_a_document_have_the_section_they_stand_in() -> None:
    sql = "SELECT n, text FROM t WHERE section = '7 Part 7 / 7.3 Page 3' AND text LIKE '%hours%'"
    assert asked(sql, MANUAL) == [{"n": 150, "text": "Tell us within 3 hours what is missing."}]
    assert "tables for query: t = lines (n, section, text)" in held(MANUAL, 1_000).opening().text


def test_the_lines_of_a_diff_have_their_file_their_number_there_and_a_sign() -> None:
    text = DIFF + "\n".join(f" more {at}" for at in range(600))
    found = asked("SELECT file, hunk, line, sign, text FROM t WHERE sign <> ''", text)
    assert [tuple(row.values()) for row in found] == [
        ("src/a.py", "def pay(amount):", 11, "-", "-two"),
        ("src/a.py", "def pay(amount):", 11, "+", "+TWO"),
        ("src/a.py", "def pay(amount):", 12, "+", "+--- three"),
        ("docs/b.md", "", 1, "-", "-gone"),
    ]


def test_a_column_of_another_table_is_told_with_where_that_is() -> None:
    told = refusal("SELECT x.rate FROM t x")
    assert "no such column: x.rate: it is a column of t1 = /result/*/nights (join on t1.parent = t.n" in told
    assert "only texts have lines" in refusal("SELECT text FROM lines")


def test_amounts_of_accountants_are_read_by_number() -> None:
    assert asked("SELECT number('(1,234.50)') AS a, number('( $7 )') AS b, number('12 (3)') AS c") == [
        {"a": -1234.5, "b": -7, "c": 12}
    ]


def test_keys_of_a_map_are_told_apart_from_a_field_called_key() -> None:
    kinds = ("rsa2048", "rsa4096", "ecdsa")
    value = {
        "certificates": {f"crt-{at:03}": {"subject": f"h{at}", "key": kinds[at % 3]} for at in range(200)}
    }
    assert asked("SELECT _key, key FROM t WHERE subject = 'h7'", value) == [
        {"_key": "crt-007", "key": "rsa4096"}
    ]
    told = held(value, 1_000).opening().highlights
    assert "duplicate" not in told and "unique: _key (crt-000 … crt-199" in told


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT randomblob(n) FROM t", "the function randomblob() cannot be used"),
        ("SELECT printf('%9999d', n) FROM t", "printf knows %d"),
        ("SELECT name FROM sqlite_master", "SELECT * FROM tables tells what there is"),
        ("DELETE FROM t", "only SELECT"),
    ],
)
def test_what_is_refused_is_named(sql: str, told: str) -> None:
    assert told in refusal(sql)


def test_lists_inside_a_row_are_taken_apart_by_json_each_and_json_tree() -> None:
    value = {
        "hosts": {f"h{at}": {"tags": [f"a{at % 3}", "b"], "on": [{"to": f"h{at + 1}"}]} for at in range(100)}
    }
    counted = asked(
        "SELECT j.value AS v, count(*) AS c FROM t, json_each(t.tags) AS j GROUP BY 1 ORDER BY 1", value
    )
    assert [tuple(row.values()) for row in counted] == [("a0", 34), ("a1", 33), ("a2", 33), ("b", 100)]
    chain = (
        "WITH RECURSIVE r(k) AS (SELECT 'h1' UNION SELECT j.value ->> 'to' FROM r JOIN t ON t.key = r.k, "
        'json_each(t."on") AS j) SELECT count(*) AS c FROM r'
    )
    assert asked(chain, value) == [{"c": 100}]
    assert asked("SELECT count(*) AS c FROM t, json_tree(t.\"on\") AS j WHERE j.key = 'to'", value) == [
        {"c": 100}
    ]


def test_times_of_several_services_can_be_compared() -> None:
    forms = (
        "gateway 2026-11-15T{:02}:{:02}:10.500Z INFO ok",
        'pay {{"ts": "2026-11-15T{:02}:{:02}:10.750Z", "lvl": "INFO"}}',
        "mailer 2026-11-15 {:02}:{:02}:11,250 +0000 INFO sent",
        "stock [15/Nov/2026:{:02}:{:02}:12.125 +0200] ERROR: none left",
        "    at shop.Stock.take(Stock.java:{}{}) ERROR",
    )
    lines = [
        form.format(at // 60 + 2 * (form[0] == "s"), at % 60) for at in range(120, 420) for form in forms
    ]
    text = "\n".join(lines)
    found = asked("SELECT substr(text, 1, 5) AS s, time, level FROM t WHERE n BETWEEN 1 AND 5", text)
    assert [tuple(row.values()) for row in found] == [
        ("gatew", "2026-11-15T02:00:10.500", "INFO"),
        ("pay {", "2026-11-15T02:00:10.750", "INFO"),
        ("maile", "2026-11-15T02:00:11.250", "INFO"),
        ("stock", "2026-11-15T02:00:12.125", "ERROR"),
        ("    a", None, None),
    ]
    within = "SELECT count(*) AS c FROM t WHERE time >= '2026-11-15T03:00' AND time < '2026-11-15T04:00'"
    assert asked(within, text) == [{"c": 240}]


MIXED = [
    "2025-03-18 04:01:26,526 +0100 [pool-1] INFO  inventory com.acme.StockService - ready (level=error is off)",
    "ts=2025-03-18T03:04:08.930Z level=ERROR svc=payments msg=lost",
    '{"time": 1742267086387, "severity": "warn", "service": "auth", "message": "slow"}',
    "E0318 03:07:06.112772   3639 scheduler/queue.go:431] deadlock",
    "    at com.acme.Queue.take(Queue.java:12)",
]


def test_a_log_of_several_forms_has_comparable_times_and_levels() -> None:
    found = asked(
        "SELECT level, min(time) AS t, count(*) AS c FROM t GROUP BY 1 ORDER BY 1", "\n".join(MIXED * 20)
    )
    assert [tuple(one.values()) for one in found] == [
        (None, None, 20),
        ("ERROR", "2025-03-18T03:04:08.930", 40),
        ("INFO", "2025-03-18T03:01:26.526", 20),
        ("WARN", "2025-03-18T03:04:46.387", 20),
    ]


def test_what_all_lines_have_is_a_table_beside_them() -> None:
    lines = [
        f"user{at % 3} pts/{at % 5} 10.0.0.{at} Tue Mar 31 1{at % 9}:00:25 2026 still here"
        for at in range(60)
    ]
    found = asked("SELECT word, count(*) AS c FROM t1 GROUP BY 1 ORDER BY 1 LIMIT 1", "\n".join(lines))
    assert found == [{"word": "user0", "c": 20}]


@pytest.mark.parametrize(
    ("form", "values", "written"),
    [
        ("%.2f EUR", "614062.7512", "614062.75 EUR"),
        ("%d of %s, %5.1f%%", "7, 'nine', 12.25", "7 of nine,  12.2%"),
        (
            "%05d|%-6s|%6s|%,d|%+d|%x",
            "42, 'ab', 'cd', 1234567, 3, 255",
            "00042|ab    |    cd|1,234,567|+3|ff",
        ),
        ("%s and %d", "'one'", "one and 0"),
    ],
)
def test_printf_writes_numbers_as_sqlite_does(form: str, values: str, written: str) -> None:
    assert asked(f"SELECT printf('{form}', {values}) AS a, format('{form}', {values}) AS b") == [
        {"a": written, "b": written}
    ]


def test_a_told_count_that_is_not_that_of_its_list_stands_out() -> None:
    value = {
        "categories": [
            {
                "id": f"c{at}",
                "product_count": 3 + at % 4,
                "products": [
                    {"sku": f"s{at}-{n}", "name": f"thing {n * at} of many"} for n in range(3 + at % 4)
                ],
            }
            for at in range(40)
        ]
    }
    value["categories"][9]["product_count"] += 2
    told = held(value).opening().highlights
    assert "/categories/9: product_count is 6, but products has 4" in told, told
