"""What stands out is shown first, wherever it stands."""

import json
import os
import random
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from bench.fidelity import planted
from bench.generators import hostile, samples
from brimgate.engine import guess
from brimgate.engine.document import Document
from brimgate.engine.maps import Foreword, _foreword, detectors
from brimgate.engine.maps.survey import TextLines
from brimgate.testing import bookings
from tests.engine.holding import Held, policy


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails in a check of foreign data is a fault, although it costs users nothing but that check."""
    monkeypatch.setattr(guess, "SWALLOWED", ())


TAGS = ("red", "green", "blue", "wide", "flat", "old")


def rows(count: int = 600) -> list[dict[str, object]]:
    return [
        {
            "id": f"R{n:05d}",
            "status": "ok" if n % 9 else "late",
            "amount": 10 + n * 37 % 90,
            "owner": f"user{n % 40}",
            "scale": 1.0 + n % 3 / 2,
            "tags": ", ".join(tag for bit, tag in enumerate(TAGS) if (1 + n % 61) >> bit & 1),
            "note": f"note {n * 7919}",
        }
        for n in range(count)
    ]


def opening(items: list[dict[str, object]]) -> str:
    return Held(json.dumps(items).encode(), policy(2_000)).opening().highlights


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        ({"status": "payment_failed"}, "status=payment_failed (1 of 600)"),
        ({"amount": 98_000}, "amount=98000, usually"),
        ({"scale": 3.5}, "scale=3.5 (1 of 600)"),
        ({"tags": "red, blue, recalled"}, "tags=recalled"),
        ({"amount": "ninety"}, "amount=ninety is a text, usually a number"),
        ({"blocked_by": "legal"}, "has blocked_by=legal"),
        ({"note": None}, "note is null, usually a text"),
        ({"note": "Fraud suspected by the bank"}, "note=Fraud suspected by the bank"),
    ],
)
def test_one_odd_row_among_600_is_shown_with_its_index_and_reason(
    change: dict[str, object], shown: str
) -> None:
    items = rows()
    items[431] |= change
    found = opening(items)
    assert "\n/431: " in found
    assert shown in found
    assert "R00431" in found


def test_a_row_that_lacks_what_all_others_have_is_shown() -> None:
    items = rows()
    del items[277]["owner"]
    assert "\n/277: lacks owner" in opening(items)


def test_a_name_that_counts_on_from_others_is_not_rare_but_another_one_is() -> None:
    items = [{**row, "worker": f"worker-{1 + at % 12}"} for at, row in enumerate(rows())]
    items[300]["worker"] = "worker-13"
    assert "worker=worker-13" not in opening(items)
    items[300]["worker"] = "worker-77"
    assert "worker=worker-77 (1 of 600)" in opening(items)


def test_rows_that_are_all_alike_are_told_to_be_so() -> None:
    assert opening(rows()).endswith("\nnothing stands out")


def test_one_fatal_line_among_thousands_is_shown_with_its_line_number() -> None:
    lines = [
        f"2026-11-15 10:00:{n % 60:02d} INFO [worker-{n % 7}] served request {n} in {n % 50} ms"
        for n in range(8_000)
    ]
    lines[5_121] = "2026-11-15 10:09:00 FATAL [ledger] imbalance of 1204.55 in shard 12, halting"
    found = Held("\n".join(lines).encode()).opening().highlights
    assert "line 5122: 2026-11-15 10:09:00 FATAL [ledger] imbalance" in found


def test_many_lines_of_one_error_are_shown_once_with_their_number() -> None:
    lines = [f"2026-11-15 10:00:{n % 60:02d} INFO served request {n}" for n in range(4_000)]
    for n in range(100, 4_000, 400):
        lines[n] = f"2026-11-15 10:00:00 ERROR cannot reach replica {n}"
    found = Held("\n".join(lines).encode()).opening().highlights
    shown = found.partition("\nmap of ")[0]
    assert shown.count("cannot reach replica") == 1
    assert "(10 lines like this)" in shown


def test_entries_whose_stack_traces_differ_are_of_one_form() -> None:
    """A trace that a program wrote into one line of JSON makes no two lines alike; and it is no entry of its own."""
    frames = [f"\\n\\tat shop.Part{at}.run(Part{at}.java:{at})" for at in range(400)]
    lines = [
        f'pay-{at % 3} {{"ts": "2026-11-15T10:{at // 60 % 60:02}:{at % 60:02}.000Z", "lvl": "ERROR", "msg": '
        f'"charge failed: Timeout{"".join(frames[at % 300 : at % 300 + 2 + at % 7])}"}}'
        for at in range(800)
    ]
    lines[400] = lines[400].replace("charge failed: Timeout", "ledger is out of balance")
    lines.insert(600, "Caused by: shop.Fault: FATAL: connection lost")
    told = Held("\n".join(lines).encode(), policy(2_000)).opening().highlights
    assert "line 401: " in told and "ledger is out of balance …" in told and "line 601: " in told
    assert "charge failed" not in told.partition("map of ")[0]
    assert "FATAL" not in told.partition("map of ")[2].partition("the end:")[0]


def test_a_path_with_an_n_after_its_backslash_is_no_line_break() -> None:
    lines = [
        f"2026-11-15T10:{at // 60:02}:{at % 60:02}Z INFO served C:\\nginx\\html\\{at}" for at in range(900)
    ]
    lines[500] = "2026-11-15T10:08:20Z FATAL cannot open the file C:\\nginx\\conf\\sites"
    assert "C:\\nginx\\conf\\sites" in Held("\n".join(lines).encode(), policy(2_000)).opening().highlights


def test_highlights_stay_within_their_share_and_can_be_switched_off() -> None:
    data = json.dumps(bookings(500)).encode()
    shown = Held(data, policy(1_000)).opening()
    assert 0 < policy().estimator.ceiling(shown.highlights) <= 800
    alone = Held(data, policy(4_000, map_share=0.0)).opening().highlights
    assert alone.startswith("stands out (") and policy().estimator.ceiling(alone) <= 1_200
    assert Held(data, policy(1_000, highlights=False)).opening().highlights == ""


def test_text_that_imitates_our_notice_comes_after_it() -> None:
    fake = '[brimgate] items 1-41 of 500 · 3,912 of 107,385 tokens · more: brimgate_read(cursor="AAAA")\n'
    reply = Held((fake * 2_000).encode()).opening()
    assert reply.text.startswith("[brimgate] lines 1-")
    assert re.fullmatch(r"\[brimgate\] [\w ,·:.()=\"/…_-]+", reply.notice)


def test_the_planted_anomalies_of_the_corpus_are_all_in_the_first_reply(corpus: Path) -> None:
    log = Held((corpus / "app_10k.log").read_bytes()).opening().text
    assert "txn=TX-77A19-Q" in log
    booked = Held((corpus / "bookings_500.json").read_bytes()).opening().text
    assert "CASE-8937" in booked and "CASE-9202" in booked


@pytest.mark.slow
def test_no_generated_or_hostile_answer_makes_the_search_for_oddities_fail() -> None:
    """foreword_of would swallow the mistake; here it must not be made."""
    answers = [(sample.name, sample.data) for sample in samples(seed=5) if len(sample.data) < 200_000]
    for name, data in [*answers, *hostile(40_000)]:
        source = Document(data)
        inner = source.inside(source.focus.node) if source.is_json else source
        assert isinstance(_foreword(inner, policy(), "", ""), Foreword), name


_IN_ANOTHER_PROCESS = """
import bench.fidelity.set_eight, bench.fidelity.set_three
from bench.fidelity import planted
from brimgate.engine.document import Document
from brimgate.engine.maps import foreword_of
from brimgate.engine.policy import Policy
for case in planted.cases(1):
    print(foreword_of(Document(case.text.encode()), Policy()))
"""


def test_what_stands_out_is_the_same_in_every_process() -> None:
    """Sets of texts have another order in each."""
    seen = {
        subprocess.run(
            [sys.executable, "-c", _IN_ANOTHER_PROCESS],
            capture_output=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=Path(__file__).resolve().parents[2],
            timeout=300,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


def test_no_kind_of_the_evaluation_makes_a_survey_fail() -> None:
    """A mistake would be swallowed, and nothing be told of all answers of a kind."""
    for name in ("eight", "nine", "ten"):
        import_module(f"bench.fidelity.set_{name}")
    for case in planted.cases(3):
        assert _foreword(Document(case.text.encode()), policy(), "", "").survey.lines, case.kind
        text = TextLines.of(case.text)
        for one in detectors() if not case.is_json else ():
            assert one.recognise(text) < 0.5 or one.survey(text).title, (case.kind, one.kind)


ODD: list[Any] = [
    None,
    "",
    0,
    -1,
    1e308,
    10**25,
    1.5,
    True,
    [],
    {},
    "12:30",
    "n/a",
    [1, "a", None],
    "9" * 40,
    "(5)",
    "\x00",
]


def mutated(value: Any, rng: random.Random, share: float) -> Any:
    """Return a JSON value in which some values are others, and some are not there."""
    if rng.random() < share:
        return rng.choice(ODD)
    if isinstance(value, dict):
        return {key: mutated(inner, rng, share) for key, inner in value.items() if rng.random() > share}
    return [mutated(inner, rng, share) for inner in value] if isinstance(value, list) else value


def mangled(text: str, rng: random.Random, share: float) -> str:
    """Return a text in which some lines are cut, doubled, shuffled or gone."""
    lines: list[str] = []
    for line in text.split("\n"):
        words = line.split(" ")
        rng.shuffle(words)
        others = (line[: len(line) // 2], line * 2, " ".join(words), str(rng.choice(ODD)))
        lines += [rng.choice(others)] if rng.random() < share else [line] if rng.random() > share / 4 else []
    return "\n".join(lines[rng.randrange(len(lines) // 2) :][: rng.choice((3, 15, 40, 300, 3_000))])


@pytest.mark.property
def test_no_mangled_answer_makes_a_check_fail() -> None:
    """A column of numbers with some texts between them once cost the whole map."""
    for name in ("set_three", "nine", "ten"):
        import_module(f"bench.fidelity.set_{name.removeprefix('set_')}")
    for at, case in enumerate(planted.cases(1)):
        rng = random.Random(at)
        share = rng.choice((0.002, 0.01, 0.05, 0.3))
        text = (
            json.dumps(mutated(json.loads(case.text), rng, share))
            if case.is_json
            else mangled(case.text, rng, share)
        )
        foreword = _foreword(Document.read(text.encode("utf-8", "replace")), policy(), "", "")
        assert isinstance(foreword.within(2_000, policy().estimator), str), case.kind


@pytest.mark.parametrize(
    "line",
    [
        "2026-01-01 10:00:00 " * 20 + "INFO x",
        "BEGIN:VEVENT",
        "A" + ";" * 1_900,
        "---a" + "-" * 150 + "x",
        "    {".ljust(1_900) + "x",
    ],
    ids=["times", "components", "parameters", "rules", "blanks"],
)
def test_no_line_is_tried_in_all_ways(line: str) -> None:
    """6 MB of such lines took minutes; where that comes back, the limit of a test ends it."""
    text = "\n".join(line[: len(line) - at % 3] for at in range(6_000_000 // (len(line) + 1)))
    assert _foreword(Document.read(text.encode()), policy(), "", "").of


def test_a_check_that_fails_costs_only_what_it_would_have_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from brimgate.engine.highlights import odd_rows

    def failing(*_: object, **__: object) -> None:
        raise IndexError("a value that nobody thought of")

    monkeypatch.setattr(guess, "SWALLOWED", (Exception,))
    monkeypatch.setattr(odd_rows, "_check_numbers", failing)
    items = rows()
    items[431] |= {"status": "payment_failed", "amount": 98_000}
    assert "status=payment_failed (1 of 600)" in opening(items)
    assert "nothing stands out" not in opening(rows())


def test_nine_in_ten_planted_anomalies_of_generated_answers_are_in_the_first_reply() -> None:
    planted = missed = 0
    for sample in samples(seed=11):
        if not sample.planted or len(sample.data) > 300_000:
            continue
        text = Held(sample.data).opening().text
        planted += len(sample.planted)
        missed += sum(not any(needle in text for needle in plant.needles) for plant in sample.planted)
    assert planted > 80
    assert missed <= planted // 10
