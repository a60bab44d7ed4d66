"""The questions of the benchmark have one right answer each: counted again here, over the text that a tool would send."""

import csv
import io
import json
import random
import re
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # bench/ is not installed

from bench.overflow.question import SHAPES, Question, Shape
from bench.overflow.shapes import KINDS, shapes

SEEDS = (1, 5)


@pytest.fixture(scope="module", params=SEEDS)
def made(request: pytest.FixtureRequest) -> dict[str, Shape]:
    return {shape.name: shape for shape in shapes(request.param)}


def asked(shape: Shape, kind: str, words: str) -> Question:
    [found] = [one for one in shape.questions if one.kind == kind and words in one.text]
    return found


def rows(pairs: Any) -> set[tuple[str, ...]]:
    return {tuple(str(value) for value in pair) for pair in pairs}


def test_a_seed_makes_the_same_again(made: dict[str, Shape], request: pytest.FixtureRequest) -> None:
    seed = request.node.callspec.params["made"]
    for name, make in SHAPES.items():
        text, questions = make(random.Random(f"{seed}:{name}"))
        assert (text, tuple(questions)) == (made[name].text, made[name].questions)
    assert next(shapes(seed + 1, ["orders"])).text != made["orders"].text


def test_every_question_can_be_asked_by_every_means(made: dict[str, Shape]) -> None:
    for shape in made.values():
        assert 100_000 < len(shape.text) < 400_000, shape.name
        for question in shape.questions:
            assert question.kind in KINDS and question.answer and question.sql and question.greps, (
                question.text
            )
            assert all(row and all(row) for row in question.answer), question.text
            assert question.searches or question.kind in ("count", "sum", "top", "compare"), question.text


def test_rows_of_a_database_are_counted_rightly(made: dict[str, Shape]) -> None:
    items = json.loads(made["sql_rows"].text)
    columns = list(items[0])
    marks = ", ".join("?" * len(columns))
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE TABLE t ({', '.join(columns)})")
        database.executemany(
            f"INSERT INTO t VALUES ({marks})", [[item.get(name) for name in columns] for item in items]
        )
        for question in made["sql_rows"].questions:
            if question.kind in ("count", "sum", "top", "compare"):
                found = rows(database.execute(question.sql[0]))
                assert set(question.answer) <= found, question.text


def test_orders_are_summed_rightly(made: dict[str, Shape]) -> None:
    items = list(csv.DictReader(io.StringIO(made["orders"].text)))
    cents: Counter[str] = Counter()
    for item in items:
        cents[item["country"]] += round(float(item["total"]) * 100)
    turnover = {(country, str(round(total / 100, 2))) for country, total in cents.items()}
    assert set(asked(made["orders"], "sum", "turnover").answer) == turnover
    norway = sum(int(item["insured_value"].replace(",", "")) for item in items if item["country"] == "Norway")
    assert asked(made["orders"], "sum", "Norway").answer == ((str(norway),),)
    states = Counter(item["status"] for item in items)
    assert set(asked(made["orders"], "count", "status").answer) == rows(states.items())


def test_events_are_counted_rightly(made: dict[str, Shape]) -> None:
    items = [json.loads(line) for line in made["events"].text.splitlines()]
    kinds = Counter(item["event"] for item in items)
    assert set(asked(made["events"], "count", "of each kind").answer) == rows(kinds.items())
    spent: Counter[str] = Counter()
    for item in items:
        spent[item["user"]["id"]] += item["properties"].get("amount_cents", 0)
    assert list(asked(made["events"], "top", "three users").answer) == [
        (user, str(total)) for user, total in spent.most_common(3)
    ]


def test_requests_are_counted_rightly(made: dict[str, Shape]) -> None:
    text = made["access_log"].text
    states = Counter(re.findall(r'" (\d{3}) \d+ "', text))
    assert set(asked(made["access_log"], "count", "each HTTP status").answer) == rows(states.items())
    clients = Counter(line.partition(" ")[0] for line in text.splitlines())
    most = [(client, str(count)) for client, count in clients.most_common(3)]
    assert list(asked(made["access_log"], "top", "three addresses").answer) == most


def test_nested_lists_are_counted_rightly(made: dict[str, Shape]) -> None:
    pods = json.loads(made["pods"].text)["items"]
    restarts: Counter[str] = Counter()
    for pod in pods:
        for status in pod["status"].get("containerStatuses", ()):
            restarts[pod["metadata"]["namespace"]] += status["restartCount"]
    assert set(asked(made["pods"], "sum", "per namespace").answer) == rows(restarts.items())
    bookings = json.loads(made["bookings"].text)["bookings"]
    nights: Counter[str] = Counter()
    for booking in bookings:
        nights[booking["room"]["type"]] += len(booking["nights"])
    assert set(asked(made["bookings"], "count", "nights").answer) == rows(nights.items())
