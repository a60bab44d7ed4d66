"""Every arm of the benchmark is asked the same; ours is run for real."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # bench/ is not installed

from bench.overflow import arms, model, page, plots, reader
from bench.overflow.arms import CUT, DIRECT, OURS, SPILL, Direct, Spill
from bench.overflow.question import Question, Shape
from bench.overflow.reader import MOST_CALLS, Outcome
from bench.overflow.scores import Score, bars, is_at_once, losses

STATES = ("delivered", "returned", "lost")
ITEMS: list[dict[str, Any]] = [
    {"id": 7_000 + n, "state": STATES[n % 7 % 3], "cost": n * 37 % 1_009, "note": f"n{n}"}
    for n in range(1_100)
]
TEXT = json.dumps(ITEMS)
COUNTS = tuple((state, str(sum(item["state"] == state for item in ITEMS))) for state in STATES)
COSTS = tuple((state, str(sum(item["cost"] for item in ITEMS if item["state"] == state))) for state in STATES)
QUESTIONS = (
    Question(
        "lookup",
        "What did shipment 7555 cost?",
        ((str(ITEMS[555]["cost"]),),),
        ("SELECT cost FROM t WHERE id = 7555",),
        ("7555",),
        ("-o '\"id\": 7555[^}]*'",),
    ),
    Question(
        "sum",
        "What was paid for each state?",
        COSTS,
        ("SELECT stat, sum(cost) FROM t GROUP BY 1", "SELECT state, sum(cost) AS cost FROM t GROUP BY 1"),
        (),
        ('-o \'"state": "[a-z]*", "cost": [0-9]*\'',),
    ),
)
SHAPE = Shape("shipments", TEXT, QUESTIONS)
SCRIPT = """
import json, sys
given = json.loads(sys.stdin.readline())
last = given["messages"][-1]["reply"]
cursor = last.partition('cursor="')[2].partition('"')[0]
if len(given["messages"]) == 1:
    sql = "SELECT state, sum(cost) AS cost FROM t GROUP BY 1"
    assert "brimgate_read" in [tool["name"] for tool in given["tools"]]
    print(json.dumps({"call": {"name": "brimgate_read", "arguments": {"cursor": cursor, "query": sql}}}))
else:
    print("thinking …")
    print(json.dumps({"answer": last}))
"""


@pytest.fixture(scope="module")
def ours() -> Iterator[reader.Arm]:
    yield from arms.arms(TEXT, [OURS])


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    path = tmp_path / "answer.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


class Silent(Direct):
    """An arm that gives nothing."""

    def shown(self) -> str:
        return ""


def test_ours_answers_by_one_query_or_two(ours: reader.Arm) -> None:
    lookup, total = reader.ask_all(ours, SHAPE)
    assert (lookup.is_right, lookup.calls, total.is_right, total.calls) == (True, 1, True, 2)
    assert lookup.read_tokens < 400 and lookup.reruns == total.reruns == 0
    assert lookup.tokens == lookup.tokens_in + lookup.tokens_out > lookup.read_tokens > 0
    assert is_at_once(lookup) and not is_at_once(total)
    assert not any(lookup.over.values())


def test_an_arm_that_gives_nothing_is_never_right(answer: Path) -> None:
    outcomes = reader.ask_all(Silent(answer), SHAPE)
    assert [one.is_right for one in outcomes] == [False, False]
    assert [one.reruns for one in outcomes] == [1, 1]


def test_who_gets_all_is_right_and_pays_for_it(answer: Path) -> None:
    outcomes = reader.ask_all(Direct(answer), SHAPE)
    assert all(one.is_right and one.calls == 0 and one.over["VS Code"] == 1 for one in outcomes)
    assert all(one.tokens > 20_000 for one in outcomes)


def test_what_was_cut_out_is_not_known() -> None:
    [cut] = arms.arms(TEXT, [CUT])
    assert len(TEXT.encode()) > arms.CUT_BYTES > len(cut.first().reply) - 100
    assert [one.is_right for one in reader.ask_all(cut, SHAPE)] == [False, False]


def test_a_file_is_searched_by_grep_and_read_in_parts(answer: Path) -> None:
    lookup, total = reader.ask_all(Spill(answer), SHAPE)
    assert (lookup.is_right, lookup.calls) == (True, 1)
    assert total.is_right and 2 < total.calls < MOST_CALLS


@pytest.mark.parametrize("options", ["-f", "-r", "--include=*", "/etc", "-c -R", "-c; ls"])
def test_grep_is_run_over_the_answer_only(answer: Path, options: str) -> None:
    assert Spill(answer).grep(options, "delivered").startswith("grep: only")


def test_a_model_asks_and_is_judged_by_the_same_rows(ours: reader.Arm, tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text(SCRIPT, encoding="utf-8")
    lookup, total = model.ask_all(ours, SHAPE, f"{sys.executable} {script}")
    assert total.is_right and total.calls == 1
    assert not lookup.is_right


def test_a_model_that_breaks_is_wrong_and_says_why(answer: Path, tmp_path: Path) -> None:
    script = tmp_path / "model.py"
    script.write_text("print('yes')", encoding="utf-8")
    outcome = model.ask(Direct(answer), SHAPE, QUESTIONS[0], f"{sys.executable} {script}")
    assert not outcome.is_right and str(script) in outcome.trail[0]


def scored(name: str, *, right: bool, tokens: int, is_bounded: bool = True) -> Score:
    outcomes = [Outcome(SHAPE.name, one, is_right=right, tokens_in=tokens, calls=1) for one in QUESTIONS]
    return Score(name, "1", is_bounded, needs_shell=False, outcomes=outcomes)


def test_a_bar_is_missed_where_another_arm_is_better() -> None:
    mine, wrong = scored(OURS, right=True, tokens=100), scored(CUT, right=False, tokens=50)
    assert [row.met for row in bars([mine, wrong], mine.outcomes)] == [True, True, False]
    late = [Outcome(SHAPE.name, QUESTIONS[1], is_right=True, calls=2)]
    assert [row.met for row in bars([mine], late)] == [False, True, True]
    beaten = scored(OURS, right=False, tokens=10)
    other = scored("other", right=True, tokens=100)
    assert [row.met for row in bars([beaten, other], beaten.outcomes)] == [False, False, True]


def test_the_page_tells_where_ours_loses() -> None:
    mine, cheap = scored(OURS, right=True, tokens=100), scored(SPILL, right=True, tokens=50)
    assert list(losses([mine, cheap], [(SHAPE.name, "")])) == [
        f"{SHAPE.name}: {SPILL} takes 50 tokens, ours 100"
    ]
    assert list(losses([mine, scored(SPILL, right=False, tokens=50)], [(SHAPE.name, "")])) == []


def test_plots_are_the_same_again_and_bring_their_background() -> None:
    made = [scored(OURS, right=True, tokens=100), scored(DIRECT, right=True, tokens=130_000)]
    rows = [plots.Bar(one.name, one.token_calls, "100%", one.name == OURS) for one in made]
    for draw in (plots.shares, plots.powers):
        drawn = draw("Right & cheap", [row._replace(value=min(1, row.value)) for row in rows])
        assert drawn == draw("Right & cheap", [row._replace(value=min(1, row.value)) for row in rows])
        assert ElementTree.fromstring(drawn)[0].text == "Right & cheap"  # noqa: S314 - our own
        assert '<rect width="860"' in drawn and drawn.count(">100%</text>") >= len(made)


def test_the_page_has_every_arm_and_every_bar() -> None:
    made = [scored(OURS, right=True, tokens=100), scored(DIRECT, right=True, tokens=130_000)]
    text = "\n".join(page.parts(made, made[:1], (1, 2)))
    assert "| direct | **100%** | 130,000 |" in text and "| **brimgate** | **100%** | 100 |" in text
    assert "tokens, of 2 | ≥ 98% | 100.0% | met |" in text
