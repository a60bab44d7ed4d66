"""The examination has to be fair before anything is measured with it."""

import ast
import json
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # bench/ is not installed

from bench.generators import KINDS, Planted, Sample, hostile, samples

HOSTILE_BYTES = 300_000
# Shapes that json.loads reads, however hard; others are legal too but deeper than it goes.
HOSTILE_JSON = {
    "tiny-objects",
    "tiny-integers",
    "thousand-keys-per-object",
    "object-of-many-keys",
    "row-with-own-key",
    "alternating-keys",
    "deep-and-wide",
    "notice-in-json",
    "escaped-string",
    "escaped-rows",
}


@pytest.fixture(scope="module")
def generated() -> list[Sample]:
    return list(samples(0))


def find_lists(value: Any) -> Iterator[list[Any]]:
    if isinstance(value, list):
        yield value
    children: Any = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for child in children:
        yield from find_lists(child)


def read_items(text: str) -> list[Any]:
    """The items or lines that `where` counts: of the longest list, else of the longest text."""
    try:
        value = json.loads(text)
    except ValueError:
        return ast.literal_eval(text) if text.startswith(("[(", "[{")) else text.split("\n")
    if lists := list(find_lists(value)):
        return max(lists, key=len)
    return max((text for text in value.values() if isinstance(text, str)), key=len).split("\n")


def show(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)


def planted_in(generated: list[Sample]) -> list[Planted]:
    return [planted for sample in generated for planted in sample.planted]


def test_there_are_enough_samples_with_every_kind_of_anomaly(generated: list[Sample]) -> None:
    assert len(generated) >= 36
    assert len({sample.name for sample in generated}) == len(generated)
    assert sum(1 for sample in generated if sample.planted) >= 26
    assert all(len(sample.planted) <= 4 for sample in generated)
    assert {planted.kind for planted in planted_in(generated)} == set(KINDS)


def test_sizes_are_those_of_large_tool_results(generated: list[Sample]) -> None:
    sizes = sorted(len(sample.data) for sample in generated)
    assert sizes[0] >= 30_000
    assert sizes[-1] <= 2_000_000
    assert sizes[len(sizes) // 4] >= 80_000
    assert sizes[3 * len(sizes) // 4] <= 400_000


def test_the_same_seed_gives_the_same_samples(generated: list[Sample]) -> None:
    assert list(samples(0)) == generated


def test_another_seed_gives_other_samples_under_the_same_names(generated: list[Sample]) -> None:
    for sample, other in zip(generated, islice(samples(1), 50), strict=False):
        assert sample.name == other.name
        assert sample.data != other.data


def test_a_needle_occurs_once_and_in_its_own_item_or_line(generated: list[Sample]) -> None:
    for sample in generated:
        items = read_items(sample.data.decode()) if sample.planted else []
        for planted in sample.planted:
            assert planted.needles, (sample.name, planted)
            for needle in planted.needles:
                assert sample.data.count(needle.encode()) == 1, (sample.name, needle)
                assert needle in show(items[planted.where]), (sample.name, planted)


def test_no_anomaly_lies_in_the_first_twentieth(generated: list[Sample]) -> None:
    for sample in generated:
        for planted in sample.planted:
            first = min(sample.data.index(needle.encode()) for needle in planted.needles)
            assert first > len(sample.data) * 0.05, (sample.name, planted)


def test_samples_are_utf8_and_those_that_look_like_json_parse(generated: list[Sample]) -> None:
    parsed = 0
    for sample in generated:
        text = sample.data.decode()
        if text.startswith(("[{", "[[", '["', '{"', "{\n", "[\n")) and not sample.name.startswith(
            ("log-json", "repr")
        ):
            json.loads(text)
            parsed += 1
    assert parsed >= 40


def test_every_line_of_json_lines_parses(generated: list[Sample]) -> None:
    for sample in generated:
        if sample.name.startswith("log-json-lines"):
            assert all(json.loads(line)["level"] for line in sample.data.splitlines())


def test_an_outlier_is_far_beyond_its_column(generated: list[Sample]) -> None:
    sample = next(sample for sample in generated if sample.name == "transactions")
    rows = json.loads(sample.data)
    where = next(planted.where for planted in sample.planted if planted.kind == "outlier value")
    rest = [row["amount"] for index, row in enumerate(rows) if index != where]
    assert rows[where]["amount"] > 10 * max(rest)


def test_hostile_shapes_have_about_the_asked_size() -> None:
    shapes = dict(hostile(HOSTILE_BYTES))
    assert len(shapes) >= 22
    for name, data in shapes.items():
        assert abs(len(data) - HOSTILE_BYTES) <= HOSTILE_BYTES * 0.05, name


def test_hostile_json_is_json_and_almost_json_is_not() -> None:
    shapes = dict(hostile(HOSTILE_BYTES))
    for name in HOSTILE_JSON:
        json.loads(shapes[name])
    almost = shapes["almost-json"]
    json.loads(almost[:-1] + b"]")
    with pytest.raises(ValueError, match="delimiter"):
        json.loads(almost)


def test_nesting_is_as_deep_as_promised() -> None:
    shapes = dict(hostile(HOSTILE_BYTES))
    assert shapes["nesting"].startswith(b"[" * 100_000)
    assert shapes["nesting-around-text"].startswith(b"[" * 75_000)
