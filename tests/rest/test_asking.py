"""What clients may ask, what they are told when it cannot be, and whose a cursor is."""

from collections.abc import Iterator
from typing import Any

import pytest

from brimgate.engine.replies.rest_frame import RefusedQuery
from brimgate.front.rest.parameters import read_query, split_query
from brimgate.rest import BrimgateMiddleware, Override, ParameterNames, Policy, Principal
from tests.rest.apps import fastapi_app, starlette_app
from tests.rest.serving import Served, serve, serve_alone

ROWS = [{"id": number, "text": f"row {number}"} for number in range(120)]
INVALID = {
    "error": {
        "code": "invalid_cursor",
        "message": "invalid or expired cursor: run the query again from the start",
    }
}


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve(starlette_app({"/rows": ROWS, "/other": ROWS})) as served:
        yield served


@pytest.fixture(scope="module")
def counted() -> Iterator[tuple[Served, list[str]]]:
    """A server, and the calls that reach its application."""
    app = fastapi_app()
    with serve(app) as served:
        yield served, app.state.calls


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("limit=201", "invalid_limit", "limit exceeds maximum of 200"),
        ("limit=0", "invalid_limit", "limit must be a whole number from 1 to 200"),
        ("limit=x", "invalid_limit", "limit must be a whole number from 1 to 200"),
        ("limit=-1", "invalid_limit", "limit must be a whole number from 1 to 200"),
        ("limit=", "invalid_limit", "limit must be a whole number from 1 to 200"),
        ("limit=5&limit=6", "invalid_limit", "limit is given more than once"),
        ("fields=,", "invalid_fields", 'fields must name at least one field, such as "id,guest.name"'),
        ("fields=a&fields=b", "invalid_fields", "fields is given more than once"),
        ("startLine=0", "invalid_lines", "startLine must be a whole number from 1 up"),
        ("endLine=x", "invalid_lines", "endLine must be a whole number from 1 up"),
        ("startLine=9&endLine=8", "invalid_lines", "endLine must not be less than startLine"),
        ("startLine=9&fields=a", "invalid_lines", "lines cannot be combined with fields"),
        ("cursor=a&cursor=b", "invalid_cursor", INVALID["error"]["message"]),
    ],
)
def test_malformed_parameters_are_refused_before_the_application_runs(
    counted: tuple[Served, list[str]], query: str, code: str, message: str
) -> None:
    served, calls = counted
    answer = served.ask(f"/api/v1/bookings?{query}")
    assert answer.status == 400
    assert answer.json == {"error": {"code": code, "message": message}}
    assert calls == []


def test_the_largest_limit_is_that_of_the_policy() -> None:
    with pytest.raises(RefusedQuery, match="limit exceeds maximum of 30"):
        read_query(split_query(b"limit=31", ParameterNames()), ParameterNames(), 30)


def test_every_bad_cursor_is_told_the_same(served: Served) -> None:
    good = served.ask("/rows", "GET", {"authorization": "Bearer a"}).json["nextCursor"]
    as_ann = {"authorization": "Bearer a"}
    assert served.ask("/rows", "GET", as_ann, cursor=good).status == 200
    for answer in (
        served.ask("/rows", "GET", as_ann, cursor=good[:-1] + ("A" if good[-1] != "A" else "B")),
        served.ask("/rows", "GET", as_ann, cursor="x"),
        served.ask("/rows", "GET", {"authorization": "Bearer b"}, cursor=good),
        served.ask("/rows", "GET", {"cookie": "Bearer a"}, cursor=good),
        served.ask("/rows", cursor=good),
        served.ask("/other", "GET", as_ann, cursor=good),
    ):
        assert answer.status == 400
        assert answer.json == INVALID


def test_a_cursor_expires() -> None:
    now = [1_000_000.0]
    with serve(starlette_app({"/rows": ROWS}, clock=lambda: now[0])) as served:
        cursor = served.ask("/rows").json["nextCursor"]
        now[0] += 600
        assert served.ask("/rows", cursor=cursor).status == 200
        now[0] += 60
        assert served.ask("/rows", cursor=cursor).json == INVALID


def user(scope: Any) -> str:
    return dict(scope["headers"]).get(b"x-user", b"").decode()


@pytest.mark.parametrize("principal", [user, lambda scope: Principal(user(scope), "short")])
def test_a_principal_of_ones_own(principal: Any) -> None:
    options = {"principal": principal}
    with serve(starlette_app({"/rows": ROWS}, **options)) as served:
        cursor = served.ask("/rows", "GET", {"x-user": "ann", "cookie": "1"}).json["nextCursor"]
        assert served.ask("/rows", "GET", {"x-user": "ann", "cookie": "2"}, cursor=cursor).status == 200
        assert served.ask("/rows", "GET", {"x-user": "bob"}, cursor=cursor).json == INVALID


def test_a_cursor_may_come_with_other_parameters_of_the_query(served: Served) -> None:
    cursor = served.ask("/rows", limit=10).json["nextCursor"]
    page = served.ask("/rows", cursor=cursor, limit=3, fields="id").json
    assert page["items"] == [{"id": 10}, {"id": 11}, {"id": 12}]
    assert served.ask("/rows", cursor=cursor, path="/7").json == ROWS[7]
    assert served.ask("/rows", cursor=cursor, path="/7/text").json == "row 7"
    assert served.ask("/rows", cursor=cursor, path="/7", fields="text").json == {"text": "row 7"}
    assert served.ask("/rows", cursor=cursor, fields="all", limit=2).json["items"] == ROWS[10:12]
    assert served.ask("/rows", fields="all", limit=2).json["items"] == ROWS[:2]
    assert served.ask("/rows", fields="all").json == ROWS
    assert served.ask("/rows", cursor=cursor, startLine=1).json["error"]["code"] == "invalid_lines"
    assert served.ask("/rows", cursor=cursor, path="/120").json["error"]["code"] == "invalid_path"
    assert "0 to 119" in served.ask("/rows", cursor=cursor, path="/120").json["error"]["message"]


def test_what_we_do_not_know_and_what_we_do_is_passed_on() -> None:
    seen: list[str] = []

    def echo(request: Any) -> Any:
        seen.append(request.url.query)
        return ROWS

    with serve(starlette_app({"/rows": echo})) as served:
        served.ask("/rows?limit=9&fields=id&q=1&path=/x&path=/y")
    assert seen == ["limit=9&fields=id&q=1&path=/x&path=/y"]


def test_other_names_for_applications_that_have_ours() -> None:
    names = ParameterNames(limit="hg_limit", cursor="hg_cursor")
    rows = [*ROWS, *ROWS]
    with serve(starlette_app({"/rows": rows}, names=names)) as served:
        page = served.ask("/rows", limit=1_000, cursor="theirs", hg_limit=30).json
        assert page["meta"]["pageSize"] == 30
        following = served.ask("/rows", hg_cursor=page["nextCursor"]).json
        assert following["items"] == rows[30:60]
        refused = served.ask("/rows", hg_limit=1_000).json
        assert refused["error"]["message"] == "hg_limit exceeds maximum of 200"


def test_a_post_is_protected_and_its_details_do_not_run_it_again() -> None:
    runs: list[str] = []

    def search(request: Any) -> Any:
        runs.append(request.method)
        return {"id": 1, "name": "report", "rows": {f"k{at}": "x " * 60 for at in range(120)}}

    with serve(starlette_app({"/search": search})) as served:
        answer = served.ask("/search", "POST").json
        details = answer["meta"]["detailsAvailable"]
        assert set(details["parameters"]) == {"cursor", "fields"}
        whole = served.ask(details["endpoint"], **details["parameters"])
        assert len(whole.json["rows"]) == 120
        assert served.ask("/search", "POST", None, fields="nope").json["meta"]["kind"] == "preview"
    assert runs == ["POST", "POST"]


def test_a_request_with_a_query_of_its_own_is_not_repeated_without_it() -> None:
    with serve(starlette_app({"/one": {"id": 1, "text": "word " * 6_000}})) as served:
        details = served.ask("/one", expand="all").json["meta"]["detailsAvailable"]
        assert "cursor" in details["parameters"]
        assert served.ask("/one", **details["parameters"]).json["id"] == 1


def test_an_error_is_left_alone_below_the_cap_and_bounded_above_it() -> None:
    from starlette.responses import JSONResponse

    small = {"detail": [{"loc": ["x"], "msg": "m " * 20} for _ in range(120)]}
    large = {"detail": [{"loc": ["x"], "msg": "m " * 200} for _ in range(400)]}
    app = starlette_app(
        {
            "/small": JSONResponse(small, 422),
            "/large": JSONResponse(large, 500),
            "/none": JSONResponse({}, 404),
        }
    )
    with serve(app) as served:
        assert served.ask("/none", fields="id").status == 404
        answer = served.ask("/small")
        assert (answer.status, answer.json) == (422, small)
        assert 4_000 < int(answer.headers["x-brimgate-estimated-tokens"]) < 12_000
        answer = served.ask("/large")
        assert answer.status == 500
        assert Policy().estimator.ceiling(answer.body) <= 12_000
        found = [item for page in _bodies(served, "/large", answer.json) for item in page["detail"]]
        assert found == large["detail"]


def _bodies(served: Served, path: str, first: Any) -> Iterator[Any]:
    yield first
    while cursor := first.get("nextCursor"):
        first = served.ask(path, cursor=cursor).json
        yield first


def test_of_two_the_outermost_decides() -> None:
    inner = starlette_app({"/rows": ROWS}, policy=Policy(default_page_size=3))
    with serve(BrimgateMiddleware(inner, Policy(default_page_size=20))) as served:
        first = served.ask("/rows")
        assert first.json["meta"]["pageSize"] == 20
        items = [item for page in served.follow("/rows", first) for item in page.json["items"]]
    assert items == ROWS


def test_decisions_are_reported_without_content() -> None:
    seen: list[Any] = []
    with serve(starlette_app({"/rows": ROWS, "/one": [1]}, report=seen.append)) as served:
        cursor = served.ask("/rows").json["nextCursor"]
        served.ask("/rows", cursor=cursor)
        served.ask("/rows", cursor="x")
        served.ask("/one")
    told = [one.fields() for one in seen]
    assert [(one["tool"], one["outcome"], one["itemCount"], one["itemsShown"]) for one in told] == [
        ("/rows", "page", len(ROWS), 50),
        ("/rows", "read", len(ROWS), 50),
        ("/rows", "refused", 0, 0),
        ("/one", "passed", 1, 1),
    ]
    assert told[0]["originalTokens"] > told[0]["estimatedTokens"] > 0
    assert told[0]["cursorIssued"] and told[1]["cursorFollowed"] and "cursor" in told[2]["reason"]
    assert told[3]["originalBytes"] == told[3]["responseBytes"] == len(b"[1]")


def test_a_report_that_fails_fails_no_request() -> None:
    def broken(_: Any) -> None:
        raise RuntimeError

    with serve(starlette_app({"/one": [1]}, report=broken)) as served:
        assert served.ask("/one").json == [1]


def test_items_are_stripped_of_noise_and_say_where_it_is() -> None:
    rows = [{"id": number, "vector": [number + 0.25] * 100, "debug": None} for number in range(80)]
    with serve(starlette_app({"/rows": rows}, endpoints={"*": Override(strip_empty=True)})) as served:
        page = served.ask("/rows").json
        assert page["items"][0] == {"id": 0, "vector": "… 100 numbers"}
        parameters = page["meta"]["detailsAvailable"]["parameters"]
        assert served.ask("/rows", **(parameters | {"path": "/9"})).json == rows[9]


def test_endpoints_are_told_with_what_the_application_is_mounted_under() -> None:
    with serve_alone(
        starlette_app({"/one": {"id": 1, "text": "word " * 6_000}}), root_path="/proxy"
    ) as served:
        details = served.ask("/one").json["meta"]["detailsAvailable"]
    assert details["endpoint"] == "/proxy/one"


def test_a_config_and_endpoints_are_not_both_taken() -> None:
    from brimgate.config.declarations import Config

    with pytest.raises(ValueError, match="not both"):
        BrimgateMiddleware(fastapi_app(), Config(), endpoints={"*": Override()})
    with pytest.raises(ValueError, match="hard_output_token_cap"):
        BrimgateMiddleware(fastapi_app(), endpoints={"*": Override(threshold=20_000)})


def test_the_public_surface_is_what_we_mean_it_to_be() -> None:
    import brimgate.rest

    assert brimgate.rest.__all__ == [
        "BrimgateMiddleware", "Config", "Decision", "Override", "ParameterNames", "Policy", "Principal", "Telemetry",
            "make_endpoint_rules",
    ]  # fmt: skip


def test_fields_of_an_object_are_its_own_though_a_list_is_most_of_it() -> None:
    ticket = {"id": 1, "title": "T", "comments": [{"by": "ann", "text": "word " * 30} for _ in range(60)]}
    words = {"id": 1, "words": [f"w{at}" for at in range(60)]}
    with serve(starlette_app({"/ticket": ticket, "/words": words})) as served:
        assert served.ask("/ticket", fields="title").json == {"title": "T"}
        assert served.ask("/ticket", fields="id,comments.by").json["comments"][59] == {"by": "ann"}
        assert served.ask("/ticket", fields="by").json["comments"][0] == {"by": "ann"}
        assert served.ask("/words", fields="id").json == {"id": 1}
