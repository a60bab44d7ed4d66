"""The tables inside a document are one for each heading, with the section of each row, and can be queried."""

import json

from brimgate.engine.maps.document_tables import document_tables
from tests.engine.holding import Held, policy

MANUAL = "# Manual\n\n" + "\n".join(
    f"""## {number}. Part {number}

It is of use to whoever reads part {number} of the whole, and to nobody else at all.

### Settings

| Setting | Applies | Meaning |
|---|:---:|---|
| `part{number}.size` | restart | a \\| b |
| `part{number}.wait` | {"live" if number == 7 else "reload"} | how long |

```
| Setting | Applies | Meaning |
|---|---|---|
| not.one | live | it stands in code |
```

| Code | Name |
|-----|-----|
| {number}01 | ok |
"""
    for number in range(1, 41)
)


def test_tables_with_one_heading_are_one_with_the_sections_and_lines_of_their_rows() -> None:
    lines = MANUAL.split("\n")
    settings, codes = document_tables(lines)
    assert (settings.names, settings.count, len(settings.rows.rows)) == (
        ("Setting", "Applies", "Meaning"),
        40,
        80,
    )
    assert settings.rows.rows[2] == {
        "section": "2. Part 2 / Settings",
        "Setting": "part2.size",
        "Applies": "restart",
        "Meaning": "a | b",
    }
    assert [lines[place - 1].split("`")[1] for place in settings.rows.places[:2]] == [
        "part1.size",
        "part1.wait",
    ]
    assert (codes.names, len(codes.rows.rows)) == (("Code", "Name"), 40)


def test_a_text_with_bars_and_no_rule_has_no_table() -> None:
    assert document_tables(["a | b | c", "d | e | f", "---", "| x |"] * 20) == []


def test_the_first_reply_names_the_tables_and_their_columns_and_a_query_reads_them() -> None:
    held = Held(MANUAL.encode(), policy(2_000))
    first = held.opening().text
    assert (
        "t = lines (n, section, text), t1 = section, Setting, Applies, Meaning (80 rows of 40 tables)"
        in first
    )
    assert (
        "Applies reload 39, restart 40, live 1" in first or "Applies restart 40, reload 39, live 1" in first
    )
    reply = held.ask(query="SELECT section, Setting FROM t1 WHERE Applies = 'live'", form="json")
    assert json.loads(reply.content) == [{"section": "7. Part 7 / Settings", "Setting": "part7.wait"}]
    assert "query over t1 (80 rows)" in reply.notice
