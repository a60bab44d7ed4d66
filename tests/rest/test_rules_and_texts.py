"""The scenarios of the brief over a real socket: overrides by path, chunks of texts."""

import json
from itertools import pairwise

import pytest

from brimgate.config.sources import parse
from brimgate.engine.policy import Policy
from brimgate.rest import Override
from tests.rest.answers import COUNT, check_budget
from tests.rest.apps import LOG, fastapi_app, starlette_app
from tests.rest.serving import Served, serve


class TestRules:
    YAML = b"""
context_protection:
  output_token_threshold: 3000
  default_page_size: 20
  endpoints:
    /api/v1/bookings: {page_size: 5, threshold: 2000}
    /api/v1/listings/{id}: {summarization_enabled: false}
    /short: {enabled: false}
"""

    def test_the_rules_of_a_file_hold_for_their_paths(self) -> None:  # US3.1, US3.2
        with serve(fastapi_app(policy=parse(self.YAML, "brimgate.yaml"))) as served:
            page = served.ask("/api/v1/bookings/")
            assert page.status in (200, 307)
            page = served.ask("/api/v1/bookings")
            check_budget(page, 2_000)
            assert page.json["meta"]["pageSize"] <= 5
            assert len(served.ask("/short").json) == 60
            part = served.ask("/api/v1/listings/1")
            assert part.json["meta"]["kind"] == "part"
            assert COUNT(part.body) <= 12_000

    def test_rules_can_be_exchanged_while_running(self) -> None:
        from brimgate.rest import BrimgateMiddleware, make_endpoint_rules

        app = BrimgateMiddleware(fastapi_app())
        with serve(app) as served:
            first = served.ask("/short").json
            assert first["meta"]["pageSize"] == 50
            app.rules = make_endpoint_rules(Policy(default_page_size=9))
            assert served.ask("/short").json["meta"]["pageSize"] == 9
            assert len(served.ask("/short", cursor=first["nextCursor"]).json["items"]) == 10

    def test_rollout_decides_by_what_is_asked(self) -> None:
        with serve(fastapi_app(endpoints={"*": Override(rollout=50)})) as served:
            kinds = [isinstance(served.ask("/short", q=number).json, dict) for number in range(40)]
            assert 8 < sum(kinds) < 32
            assert kinds == [isinstance(served.ask("/short", q=number).json, dict) for number in range(40)]
            # What is not protected is not ours to judge.
            assert served.ask("/short", q=kinds.index(False), limit="x").status == 200
            assert served.ask("/short", q=kinds.index(True), limit="x").status == 400


class TestTexts:
    def test_a_long_log_comes_in_chunks_of_whole_lines(self, plain: Served) -> None:  # US4.1
        first = plain.ask("/logs")
        check_budget(first, 2_000)
        assert list(first.json) == ["content", "chunkIndex", "totalChunks", "nextCursor", "metadata"]
        assert first.json["metadata"]["totalLines"] == 10_000
        assert first.json["metadata"]["startLine"] == 1
        assert first.json["content"].count("\n") == first.json["metadata"]["endLine"] <= 200
        assert LOG.startswith(first.json["content"])
        assert first.headers["content-type"] == "application/json"

    def test_chunks_follow_each_other_to_the_end(self) -> None:  # US4.3
        text = "".join(LOG.splitlines(keepends=True)[:900])
        with serve(starlette_app({"/log": text})) as served:
            chunks = [answer.json for answer in served.follow("/log", served.ask("/log"))]
        assert "".join(chunk["content"] for chunk in chunks) == text
        assert [chunk["chunkIndex"] for chunk in chunks] == list(range(chunks[0]["totalChunks"]))
        for one, other in pairwise(chunks):
            assert other["metadata"]["startLine"] == one["metadata"]["endLine"] + 1

    def test_chunk_size_bounds_the_lines(self) -> None:
        text = "ok\n" * 3_000
        with serve(starlette_app({"/log": text})) as served:
            chunk = served.ask("/log").json
        assert (chunk["metadata"]["endLine"], chunk["totalChunks"]) == (200, 15)

    def test_a_range_of_lines_is_exact(self, plain: Served) -> None:  # US4.2
        lines = LOG.splitlines(keepends=True)
        answer = plain.ask("/logs", startLine=100, endLine=200)
        assert answer.json["content"] == "".join(lines[99:200])
        assert answer.json["metadata"]["startLine"] == 100
        assert answer.json["metadata"]["endLine"] == 200
        assert "nextCursor" not in answer.json
        check_budget(answer, 12_000)
        cursor = plain.ask("/logs").json["nextCursor"]
        assert plain.ask("/logs", cursor=cursor, startLine=9_999).json["content"] == "".join(lines[9_998:])

    def test_a_range_beyond_the_cap_goes_on(self, plain: Served) -> None:
        lines = LOG.splitlines(keepends=True)
        parts = list(plain.follow("/logs", plain.ask("/logs", startLine=50, endLine=700)))
        assert "".join(part.json["content"] for part in parts) == "".join(lines[49:700])
        for part in parts:
            check_budget(part, 12_000)

    def test_a_short_text_is_whole(self) -> None:  # US4.4
        text = "All is well. " * 200
        with serve(starlette_app({"/text": text})) as served:
            answer = served.ask("/text")
        assert COUNT(text) < 1_000
        assert answer.body == text.encode()
        assert answer.headers["content-type"].startswith("text/plain")

    def test_lines_of_json_and_fields_of_text_are_refused(self, plain: Served) -> None:
        assert plain.ask("/small", startLine=1).json["error"]["code"] == "invalid_lines"
        assert plain.ask("/logs", fields="id").json["error"]["code"] == "invalid_fields"
        assert plain.ask("/logs", startLine=10_001).json["error"]["message"] == "there are 10000 lines"


class TestMaps:
    @pytest.mark.parametrize("fields", [("id", "status"), ("status",), ("id", "name", "status")])
    def test_a_field_map_is_about_items_where_these_have_its_fields(self, fields: tuple[str, ...]) -> None:
        rows = [{"id": number, "status": "open", "text": "x " * 30} for number in range(70)]
        answer = {"status": "success", "result": rows}
        with serve(starlette_app({"/rows": answer}, endpoints={"*": Override(fields=fields)})) as served:
            page = served.ask("/rows").json
        assert page["meta"]["totalCount"] == 70
        assert set(page["result"][0]) == {"id", "status"} & set(fields)

    def test_a_field_map_is_about_the_object_where_that_has_its_fields(self) -> None:
        thing = {"id": 1, "status": "open", "images": [{"id": at, "url": "u" * 60} for at in range(200)]}
        answer = {"status": "success", "result": thing}
        with serve(
            starlette_app({"/one": answer}, endpoints={"*": Override(fields=("id", "status"))})
        ) as served:
            assert served.ask("/one").json["summary"] == {"id": 1, "status": "open"}

    def test_white_space_alone_is_no_reason_to_hold_anything_back(self) -> None:
        rows = [{"id": number, "tags": ["a", "b"]} for number in range(45)]
        data = json.dumps(rows, indent=40).encode()
        with serve(starlette_app({"/rows": data}, policy=Policy(output_token_threshold=1_200))) as served:
            answer = served.ask("/rows")
        assert COUNT(data) > 1_200
        assert answer.json == rows
