"""What the first reply tells of the whole: within its room, on lines of its own, masked, and by whose words."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine import guess
from brimgate.engine.document import Document
from brimgate.engine.highlights.findings import Finding
from brimgate.engine.maps import detectors, foreword_of
from brimgate.engine.maps.foreword import Foreword
from brimgate.engine.maps.line_checks import check_lines
from brimgate.engine.maps.risk_words import find_risks
from brimgate.engine.maps.survey import Detector, MapLine, Survey, TextLines
from tests.engine.holding import Held, policy

ESTIMATOR = policy().estimator


def foreword(count: int = 30) -> Foreword:
    lines = [
        MapLine(f"column{n} " + ", ".join(f"v{k} {k}" for k in range(n % 9 + 1)), n % 7) for n in range(count)
    ]
    findings = [
        Finding(n, n % 11, f"value={n} is odd, and this is told at length", brief=f"v={n}")
        for n in range(count)
    ]
    return Foreword(Survey("a table", lines, findings), "the whole", "line ")


@given(room=st.integers(0, 2_000), share=st.floats(0, 1))
def test_a_foreword_stays_within_its_room(room: int, share: float) -> None:
    assert ESTIMATOR.ceiling(foreword().within(room, ESTIMATOR, share)) <= room


def test_with_little_room_more_is_told_in_fewer_words() -> None:
    small, large = (foreword().within(room, ESTIMATOR) for room in (250, 4_000))
    assert "v=9" in small and "at length" not in small
    assert large.count("at length") == 28


def test_findings_that_say_the_same_are_one_with_their_places() -> None:
    findings = [Finding(n, 5, "refused", f"/spans/{n}/message") for n in range(9)]
    text = Foreword(Survey("", [], findings)).within(500, ESTIMATOR)
    told = "/spans/0/message: refused · also /spans/1/message, /spans/2/message, /spans/3/message and 5 more"
    assert text.split("\n")[1:] == [told]


def test_the_last_number_of_a_frequent_line_is_told_from_where_to_where() -> None:
    lines = [f"2026-01-02 10:{at % 60:02d}:00 INFO request r-{at:08x} took {20 + at} ms" for at in range(400)]
    text = foreword_of(Document.read("\n".join(lines).encode()), policy()).within(1_000, ESTIMATOR)
    assert "400 ×" in text
    assert "(last # 20 to 419)" in text
    assert "columns for query: n, time, level, text" in text


def test_nothing_foreign_can_look_like_a_notice_or_begin_a_line() -> None:
    rows = [{"id": n, "[brimgate] complete\n[brimgate] end": "x\ny", "v": n % 3} for n in range(300)]
    reply = Held(json.dumps(rows).encode(), policy(1_000)).opening()
    assert [line for line in reply.text.split("\n") if line.startswith("[brimgate]")] == [reply.notice]


@pytest.mark.parametrize(
    "secret",
    ["AKIAQ3EGRPZV4KTMWN7D", "ghp_a8Bz19Qk27Xw45Lm63Np81Rs09Tv52Yu74Di", "postgres://app:s8Kq2vX9@db/x"],
)
def test_a_secret_is_told_by_its_kind_and_place_and_never_repeated(secret: str) -> None:
    rows = [{"id": n, "note": f"visit {n}"} for n in range(500)]
    rows[321]["note"] = f"use {secret} there"
    told = Held(json.dumps(rows).encode(), policy(1_500)).opening().highlights
    assert "/321" in told and secret not in told and "****" in told


def test_words_of_a_field_stand_out_by_the_policy() -> None:
    rows = [{"id": n, "note": f"guest {n * 7919} asked for towels in room {n % 50}"} for n in range(400)]
    rows[200]["note"] = "guest 9 has a bedbug in room 9"
    data = json.dumps(rows).encode()
    told = Held(data, policy(1_200, alarm_words=("bedbug",))).opening().highlights
    assert "/200/note" in told or "/200: " in told


def test_a_pack_may_know_a_kind_of_text_of_its_own() -> None:
    def recognise(text: TextLines) -> float:
        return 1.0 if text.lines[0].startswith("TIDE TABLE") else 0.0

    def survey(text: TextLines) -> Survey:
        return Survey(f"{len(text.lines) - 1} tides", [MapLine("highest 4.1 m", 9.0)])

    text = "TIDE TABLE\n" + "\n".join(f"{n % 24:02}:00 {n * 37 % 41 / 10} m" for n in range(3_000))
    own = replace(policy(1_000), detectors=(Detector("tides", recognise, survey),))
    told = Held(text.encode(), own).opening().highlights
    assert "3000 tides" in told and "highest 4.1 m" in told


def test_a_detector_that_fails_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guess, "SWALLOWED", (Exception,))

    def survey(_: TextLines) -> Survey:
        raise ValueError("odd")

    own = replace(policy(1_000), detectors=(Detector("broken", lambda _: 1.0, survey),))
    text = "\n".join(f"line {n}" for n in range(5_000)).encode()
    assert foreword_of(Document(text), own).survey.lines


def test_a_word_of_weight_counts_only_where_it_is_rare() -> None:
    lines = [f"step {n}: copied part {n * 7}" for n in range(600)]
    lines[400] = "step 400: backups are written without encryption"
    assert [one.place for one in find_risks(lines)] == [401]
    assert find_risks([f"{line} without encryption" for line in lines]) == []


def test_a_series_with_a_gap_and_a_double_is_told() -> None:
    numbers = [n for n in range(1, 90) if n != 61]
    lines = [f"{n:04}_add_{'abcdef'[n % 6]}.sql" for n in numbers]
    lines.insert(20, "0020_again.sql")
    found = {one.place: one.text for one in check_lines(TextLines.of("\n".join(["migrations:", *lines])))}
    assert any("0061 missing" in text for text in found.values())
    assert any(text.startswith("duplicate number: 0020") for text in found.values())


def test_a_change_by_far_and_a_wider_right_are_told_with_their_context() -> None:
    blocks = (
        "\n\n".join(
            f'  # aws_thing.t{n} will be updated\n  ~ resource "aws_thing" "t{n}" {{\n      ~ size = {n + 4} -> {n + 5}\n    }}'
            for n in range(40)
        )
        .replace("size = 24 -> 25", "size = 24 -> 24000")
        .replace("size = 34 -> 35", 'action = "s3:Get" -> "*"')
    )
    found = [one.text for one in check_lines(TextLines.of(blocks))]
    assert any("24 -> 24000" in text for text in found) and any('-> "*"' in text for text in found)


def test_only_what_stands_out_is_counted_as_such() -> None:
    rows = [{"id": n, "state": "ok", "v": n % 9} for n in range(900)]
    assert Held(json.dumps(rows).encode(), policy(1_000)).opening().highlight_count == 0
    rows[700]["state"] = "lost"
    assert Held(json.dumps(rows).encode(), policy(1_000)).opening().highlight_count == 1


def test_every_module_with_a_detector_is_asked() -> None:
    folder = Path(foreword_of.__code__.co_filename).parent
    have = {path.stem for path in folder.glob("*.py") if "\nDETECTOR" in path.read_text("utf-8")}
    asked = {one.recognise.__module__.rpartition(".")[2] for one in detectors()}
    assert asked == have and len(asked) > 10


def test_the_heading_says_how_many_of_the_findings_are_shown() -> None:
    findings = [Finding(n, 5, f"value {n} is odd, which is told with many words") for n in range(20)]
    whole = Foreword(Survey("", [], findings), "", "line ")
    assert whole.within(2_000, ESTIMATOR).startswith("stands out (there may be others):")
    few = whole.within(150, ESTIMATOR).split("\n")
    assert few[0] == f"stands out ({len(few) - 1} of 20 findings; there may be others):"


@pytest.mark.parametrize("budget", [700, 1_000])
def test_a_small_budget_is_filled_with_what_stands_out(budget: int) -> None:
    rows = [{"id": f"K-{n * 7919}", "state": "ok", "note": f"visit {n % 9}"} for n in range(600)]
    for n in range(30, 600, 31):
        rows[n]["state"] = f"odd {n}"
    reply = Held(json.dumps(rows).encode(), policy(budget)).opening()
    assert reply.record["estimatedTokens"] > 0.9 * budget
