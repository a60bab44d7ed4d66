"""Long texts of Hostaway (US4): a report of far more than 10,000 lines, through MCP and through REST."""

from collections.abc import Iterator

import pytest

from tests.systems.hostaway import ESTIMATOR, System, hostaway

API = "/api/v1"
TEXT_BUDGET = 2_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    with hostaway(tmp_path_factory.mktemp("hostaway"), settings={"reservations": 10_000}) as system:
        yield system


def test_us4_through_mcp_a_report_comes_in_chunks_of_200_lines(large: System) -> None:
    first = large.call("export_financial_report")
    record = first.record
    assert record["kind"] == "chunk" and record["total"]["lines"] > 9_000
    assert first.tokens <= 2_000 and record["shown"]["endLine"] <= 200 and record["chunkIndex"] == 0
    body = first.result["content"][1]["text"]
    assert all(line.count(",") == body.splitlines()[0].count(",") for line in body.splitlines())
    some = large.read(first.following, lines="5000-5003")
    lines = some.result["content"][1]["text"].splitlines()
    assert some.record["shown"] == {"from": 0, "startLine": 5000, "endLine": 5003} and len(lines) == 4


def test_us4_through_rest_a_report_comes_in_chunks_of_200_lines(large: System) -> None:
    path = f"{API}/reports/standard.csv"
    first = large.get(path)
    assert ESTIMATOR.ceiling(first.body) <= TEXT_BUDGET
    told = first.json
    assert list(told) == ["content", "chunkIndex", "totalChunks", "nextCursor", "metadata"]
    assert told["metadata"]["startLine"] == 1 and told["metadata"]["endLine"] <= 200
    assert told["metadata"]["totalLines"] > 9_000 and told["chunkIndex"] == 0
    second = large.get(path, cursor=told["nextCursor"]).json
    assert second["metadata"]["startLine"] == told["metadata"]["endLine"] + 1
    assert second["content"].count(",") % 8 == 0, "no line was cut"
    some = large.get(path, startLine=5_000, endLine=5_003).json
    assert some["content"].count("\n") == 4
    assert (some["metadata"]["startLine"], some["metadata"]["endLine"]) == (5_000, 5_003)


@pytest.mark.parametrize("reservations", [40, 300])
def test_chunks_of_a_report_are_numbered_up_to_their_true_total(
    tmp_path_factory: pytest.TempPathFactory, reservations: int
) -> None:
    path = f"{API}/reports/standard.csv"
    settings = {"reservations": reservations, "listings": 12}
    with hostaway(tmp_path_factory.mktemp("hostaway"), settings=settings) as system:
        told = [system.get(path).json]
        while "nextCursor" in told[-1]:
            told.append(system.get(path, cursor=told[-1]["nextCursor"]).json)
    assert [one["chunkIndex"] for one in told] == list(range(len(told)))
    assert all(one["chunkIndex"] < one["totalChunks"] for one in told)
    assert told[-1]["totalChunks"] == len(told), "the last one knows"
    for one in told:
        assert one["totalChunks"] == len(told) or one["metadata"]["totalChunksIsEstimate"]
