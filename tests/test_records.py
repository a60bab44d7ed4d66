"""Every answer on every path leaves exactly one record; health, `/api/stats`, `/metrics` and `stats` tell the same."""

import json
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed")

from anyio.from_thread import start_blocking_portal
from fastmcp import Client, FastMCP

from brimgate.config.declarations import Override, Telemetry
from brimgate.errors import OperatorError
from brimgate.fastmcp import BrimgateMiddleware
from brimgate.watch.record_store import OUTCOMES, read_records
from brimgate.watch.stats import Question, Statistics, load_records, statistics
from tests.config.running import gateway
from tests.fastmcp.talking import Talk
from tests.http.serving import Serving, serve, wait_until
from tests.in_process import Here
from tests.relay.conversation import policy, record_of
from tests.rest.serving import serve_alone
from tests.test_one_event import (
    ASKED,
    SHAPES,
    TEXTS,
    _Telling,
    ask_all,
    ask_rest,
    configured,
    over_http,
    rest_app,
)
from tests.test_one_event import (
    OUTCOMES as ASKED_OUTCOMES,
)
from tests.watch.exposition import Exposition

TIMES: Final = 13
"""Of eight outcomes: over a hundred answers."""


def recorded(folder: Path, **upstream: Any) -> tuple[list[str], Path]:
    """The options for a gateway before the telling server that keeps its records in a file of its own."""
    options, records = configured(folder, **upstream), folder / "records.db"
    path = folder / "brimgate.yaml"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"telemetry": {"file": str(records)}}))
    return options, records


def found_in(path: Path, **asked: Any) -> Statistics:
    with closing(read_records(path)) as connection:
        return statistics(connection, Question(**asked))


def outcomes_in(path: Path) -> Counter[str]:
    with closing(read_records(path)) as connection:
        return Counter(OUTCOMES[one] for one in load_records(connection)["outcome"])


def _has(path: Path, count: int) -> bool:
    try:
        return outcomes_in(path).total() == count
    except OperatorError:
        return False


EACH: Final = Counter(dict.fromkeys(ASKED_OUTCOMES, TIMES))


def test_the_relay_on_stdio_records_every_answer_once(tmp_path: Path) -> None:
    options, path = recorded(tmp_path)
    with gateway(*options, command=[]) as client:
        client.greet()
        ask_all(client, TIMES)
        client.close()
        told = client.rest_of_log()
    assert outcomes_in(path) == EACH
    (line,) = [json.loads(one) for one in told if '"savings"' in one]
    total = found_in(path).total
    assert (line["answers"], line["tokens_before"], line["tokens_after"]) == (
        total.calls + total.reads,
        total.tokens_before,
        total.tokens_after,
    )


@pytest.mark.parametrize("way", ["command", "url"])
def test_health_api_and_command_line_tell_the_same(tmp_path: Path, here: Here, way: str) -> None:
    if way == "command":
        options, path = recorded(tmp_path)
        with serve(*options, command=()) as serving:
            _compare(serving, path, here)
        return
    with serve_alone(over_http(TEXTS)) as upstream:
        options, path = recorded(tmp_path, url=f"http://127.0.0.1:{upstream.port}/mcp")
        with serve(*options, command=()) as serving:
            _compare(serving, path, here)


def _compare(serving: Serving, path: Path, here: Here) -> None:
    client = serving.client()
    client.initialize()
    ask_all(client, TIMES)
    block = serving.get("/health").json["context_protection"]
    over_http = serving.get("/api/stats").json
    metrics = Exposition(serving.get("/metrics").body)
    done = here("stats", "--json", "--file", str(path))
    told = json.loads(done.stdout)
    assert {name: over_http[name] for name in ("total", "rows", "catalogs")} == {
        name: told[name] for name in ("total", "rows", "catalogs")
    }
    total = told["total"]
    assert Counter(total["outcomes"]) == EACH == outcomes_in(path)
    assert block["total_requests"] == total["calls"] + total["reads"] == sum(EACH.values())
    assert block["avg_response_size_bytes"] == total["avgResponseBytes"]
    assert block["avg_latency_ms"] == total["avgLatencyMs"]
    assert (
        block["oversized_events"] == total["oversized"] == 3 * TIMES + TIMES
    )  # page, preview, chunk; rendered
    assert block["pagination_adoption"] == pytest.approx(1 / 3, abs=1e-3), "passed, rendered and paged lists"
    assert block["summarization_adoption"] == 1.0
    assert total["cursorsIssued"] == 3 * TIMES and total["cursorsFollowed"] == 1
    assert total["cursorsExpired"] == TIMES
    assert told["catalogs"][0]["upstream"] == "telling" and "brimgate_read" in told["catalogs"][0]["tools"]
    (row,) = [one for one in told["rows"] if one["name"] == "telling/tell"]
    assert row["largest"] == max(row["largest"], row["p95"]) >= row["median"] > 0
    _compare_metrics(metrics, block, told)


def _compare_metrics(metrics: Exposition, block: dict[str, Any], told: dict[str, Any]) -> None:
    total = told["total"]
    assert metrics.sum("brimgate_results_total") == block["total_requests"]
    assert metrics.by("brimgate_results_total", "outcome") == total["outcomes"]
    for stage, name in (("before", "Before"), ("after", "After")):
        assert metrics.sum("brimgate_result_tokens_sum", stage=stage) == total[f"tokens{name}"]
        assert metrics.sum("brimgate_result_bytes_total", stage=stage) == total[f"bytes{name}"]
    assert metrics.sum("brimgate_result_tokens_count", stage="before") == total["calls"]
    assert metrics.sum("brimgate_result_tokens_count", stage="after") == block["total_requests"]
    assert metrics.sum("brimgate_reads_total") == total["reads"] == TIMES
    assert metrics.sum("brimgate_cursors_issued_total") == total["cursorsIssued"]
    assert metrics.sum("brimgate_cursors_expired_total") == total["cursorsExpired"]
    assert metrics.sum("brimgate_oversized_total") == total["oversized"] == block["oversized_events"]
    repeats = metrics.by("brimgate_repeats_total", "after")
    assert repeats == {
        "page": total["repeatedAfterPage"],
        "answer": total["repeated"] - total["repeatedAfterPage"],
    }
    durations = "mcp_server_operation_duration_seconds"
    assert metrics.sum(f"{durations}_count") == block["total_requests"]
    assert metrics.sum(f"{durations}_sum") == pytest.approx(
        total["avgLatencyMs"] * block["total_requests"] / 1_000, abs=block["total_requests"] * 0.000_06
    )
    assert metrics.by(f"{durations}_count", "error_type")["tool_error"] == 2 * TIMES, "errors and refusals"
    (catalog,) = told["catalogs"]
    assert metrics.by("brimgate_catalog_tokens", "upstream") == {"telling": catalog["tokens"]}
    for row in told["rows"]:
        upstream, _, tool = row["name"].partition("/")
        of = {"upstream": upstream, "tool": tool}
        outcomes = metrics.by("brimgate_results_total", "outcome", **of)
        assert {name: count for name, count in outcomes.items() if count} == row["outcomes"], row["name"]
        assert metrics.sum("brimgate_result_tokens_sum", stage="before", **of) == row["tokensBefore"]
    assert metrics.sum("brimgate_telemetry_dropped_total") == 0 == sum(told["recordsLost"].values())


def test_fastmcp_records_every_answer_once(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    records = Telemetry(file=str(path))
    server = FastMCP("telling", middleware=[BrimgateMiddleware(policy(1_000), records=records)])
    for name in ("tell", "fail"):
        server.add_tool(_Telling(name=name, parameters={"type": "object"}))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):
        talk, cursor = Talk(portal, client), ""
        for outcome in ASKED_OUTCOMES:
            for _ in range(TIMES):
                match outcome:
                    case "read":
                        result = talk.read(cursor=cursor)
                    case "refused":
                        result = talk.read(cursor="no such cursor")
                    case "error":
                        result = talk.use("fail")
                    case _:
                        result = talk.use("tell", shape=ASKED[outcome])
                cursor = record_of(result)["nextCursor"] if outcome == "page" else cursor
    wait_until(lambda: _has(path, EACH.total()), "all records")
    assert outcomes_in(path) == EACH
    assert found_in(path).total.followed == 1


def test_rest_records_every_answer_once(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    with serve_alone(rest_app(lambda _: None, records=Telemetry(file=str(path)))) as served:
        cursor = ""
        for outcome in ASKED_OUTCOMES:
            for _ in range(TIMES):
                answer = ask_rest(served, outcome, cursor)
                cursor = answer.json["nextCursor"] if outcome == "page" else cursor
        wait_until(lambda: _has(path, EACH.total()), "all records")
        assert outcomes_in(path) == EACH


def test_shell_commands_record_their_answer(tmp_path: Path, here: Here) -> None:
    path = tmp_path / "records.db"
    env = {"BRIMGATE_TELEMETRY_FILE": str(path)}
    server = str(Path(__file__).with_name("telling_server.py"))
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps(TEXTS), encoding="utf-8")
    command = ("--", sys.executable, "-I", "-S", server, str(answers))
    for shape in ASKED.values():
        assert here("call", "--budget", "1000", "tell", f"shape={shape}", *command, **env).returncode == 0
    assert here("call", "fail", *command, **env).returncode == 1
    reduced = here("reduce", "--budget", "1000", "--json", "-", stdin=SHAPES["large_list"], **env)
    cursor = json.loads(reduced.stdout)["result"]["nextCursor"]
    assert here("read", cursor, **env).returncode == 0
    assert here("read", "no-such-cursor", **env).returncode == 2
    # A shell shows a small list in a cheaper form, too.
    assert outcomes_in(path) == Counter([*ASKED, "error", "page", "read", "refused"]) - Counter(
        ["passed"]
    ) + Counter(["rendered"])
    assert found_in(path, tool="tell").total.calls == len(ASKED)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("by=colour", "by must be one of tool"),
        ("since=soon", "'soon' is no time"),
        ("wrong=1", "unknown parameter"),
    ],
)
def test_a_wrong_question_is_told_what_is_wrong(tmp_path: Path, query: str, says: str) -> None:
    options, _ = recorded(tmp_path)
    with serve(*options, command=()) as serving:
        client = serving.client()
        client.initialize()
        client.call("tell", shape="small_list")
        answer = serving.get(f"/api/stats?{query}")
    assert answer.status == 400 and says in answer.body.decode()


# Rollout


def _rolled(folder: Path, rules: dict[str, Any]) -> tuple[list[str], Path]:
    options, path = recorded(folder)
    file = folder / "brimgate.yaml"
    document = json.loads(file.read_text())
    document["context_protection"] |= rules
    file.write_text(json.dumps(document))
    return options, path


@pytest.mark.parametrize("server", ["run", "serve"])
def test_shadow_never_changes_a_byte_and_records_what_would_have_been_done(
    tmp_path: Path, server: str
) -> None:
    seen: dict[str, list[Any]] = {}
    for mode in ("off", "shadow", "on"):
        folder = tmp_path / mode
        folder.mkdir()
        options, path = _rolled(folder, {"mode": mode, "tools": {}})
        if server == "run":
            with gateway(*options, command=[]) as client:
                seen[mode] = _answers(client, client.greet())
        else:
            with serve(*options, command=()) as serving:
                client = serving.client()
                client.initialize()
                seen[mode] = _answers(client, {"result": None})
                serving.close_connections()
                serving.stop()
        if mode != "on":
            total = found_in(path).total
            assert total.tokens_before == total.tokens_after
        if mode == "shadow":
            _check_trials(path)
    assert seen["off"][1:] == seen["shadow"][1:] != seen["on"][1:]
    names = {tool["name"] for tool in seen["shadow"][0]["result"]["tools"]}
    assert names == {"tell", "open", "secret", "fail", "break"}, "not even our own tool is added"


def _answers(client: Any, greeting: Any) -> list[Any]:
    answers = [client.request("tools/list")]
    answers += [client.call("tell", shape=shape)["result"] for shape in ASKED.values()]
    answers += [client.request("resources/read", {"uri": f"telling://{shape}"}) for shape in ("large_list",)]
    return [*answers, greeting["result"]]


def _check_trials(path: Path) -> None:
    with closing(read_records(path)) as connection:
        records = load_records(connection)
    told = [(OUTCOMES[one["outcome"]], OUTCOMES[one["trial_outcome"]]) for one in records]
    assert told == [*(("passed", outcome) for outcome in ASKED), ("passed", "page")]
    assert all(
        bool(one["trial_tokens"] < one["original_tokens"]) is (OUTCOMES[one["trial_outcome"]] != "passed")
        for one in records
    )


def test_a_shadow_over_rest_sends_what_the_application_sent(tmp_path: Path) -> None:
    path = tmp_path / "records.db"
    rules = {"*": Override(mode="shadow")}

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        body = TEXTS[scope["path"].rpartition("/")[2]].encode()
        kind = b"application/json" if body[:1] in b"[{" else b"text/plain"
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", kind), (b"x-a", b"b")],
            }
        )
        for start in range(0, len(body), 1_000):
            await send({"type": "http.response.body", "body": body[start : start + 1_000], "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    from brimgate.rest import BrimgateMiddleware as RestMiddleware

    made = RestMiddleware(app, policy(1_000), endpoints=rules, records=Telemetry(file=str(path)))
    with serve_alone(made) as served:
        for shape in ASKED.values():
            answer = served.ask(f"/{shape}")
            assert answer.body == TEXTS[shape].encode() and answer.headers["x-a"] == "b"
        wait_until(lambda: _has(path, len(ASKED)), "all records")
    with closing(read_records(path)) as connection:
        told = [OUTCOMES[one] for one in load_records(connection)["trial_outcome"]]
    assert told == [*ASKED]


def test_arms_are_stable_for_the_same_call_however_it_is_spelled(tmp_path: Path) -> None:
    options, path = _rolled(tmp_path, {"rollout": 50})
    with gateway(*options, command=[]) as client:
        client.greet()
        arms = [[_is_protected(client, n, spelling) for n in range(20)] for spelling in range(3)]
        client.close()
    assert arms[0] == arms[1] == arms[2] and 3 < sum(arms[0]) < 17
    with closing(read_records(path)) as connection:
        assert Counter(map(int, load_records(connection)["arm"])) == {
            0: 3 * sum(arms[0]),
            1: 60 - 3 * sum(arms[0]),
        }


def _is_protected(client: Any, n: int, spelling: int) -> bool:
    arguments = (
        '{"shape":"large_list","n":%d}',
        '{"n": %d, "shape": "large_list"}',
        '{"shape":"larg\\u0065_list","n":%d}',
    )[spelling] % n
    call = {"jsonrpc": "2.0", "id": 1_000 + 3 * n + spelling, "method": "tools/call"}
    line = json.dumps(call)[:-1] + f', "params": {{"name": "tell", "arguments": {arguments}}}}}'
    client.send_line(line.encode())
    return "_meta" in client.receive()["result"]


def test_ab_compares_the_arms_or_says_what_is_missing(tmp_path: Path, here: Here) -> None:
    options, path = _rolled(tmp_path, {"rollout": 50})
    with gateway(*options, command=[]) as client:
        client.greet()
        client.call("tell", shape="large_list", n=0)
        client.close()
    assert b"at least 30 in each arm" in here("ab", "--file", str(path)).stdout
    with gateway(*options, command=[]) as client:
        client.greet()
        for n in range(140):
            client.call("tell", shape="large_list", n=n)
        client.close()
    told = json.loads(here("ab", "--json", "--file", str(path)).stdout)
    assert not told["missing"] and sum(one["calls"] for one in told["arms"]) == 141
    (tokens,) = [one for one in told["differences"] if one["measure"] == "tokens per call"]
    assert tokens["is_clear"] and tokens["high"] < 0 and tokens["b"] < 1_000 < tokens["a"]
    assert b"tokens per call: direct" in here("ab", "--file", str(path)).stdout


# Alerts


def test_many_oversized_answers_raise_an_alert_in_the_log_and_in_the_statistics(tmp_path: Path) -> None:
    options, _ = recorded(tmp_path)
    with serve(*options, command=()) as serving:
        client = serving.client()
        client.initialize()
        for n in range(25):
            client.call("tell", shape="large_list", n=n)
        (alert,) = serving.get("/api/stats").json["alerts"]
        serving.close_connections()
        serving.stop()
        logged = [json.loads(line) for line in serving.all_lines() if '"event": "alert"' in line]
    assert alert["alert"] == "oversized_share" and alert["share"] == 1.0 and alert["answers"] == 25
    assert [one["state"] for one in logged] == ["raised"], "and not once for every answer"


# Trouble


def test_a_file_that_cannot_be_written_costs_no_call(tmp_path: Path) -> None:
    options, _ = recorded(tmp_path)
    path = tmp_path / "brimgate.yaml"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"telemetry": {"file": f"{path}/below/a/file.db"}}))
    with gateway(*options, command=[]) as client:
        client.greet()
        ask_all(client, 2)
        client.close()
        log = client.rest_of_log()
    assert [line for line in log if "records_unusable" in line]
    assert [line for line in log if '"savings"' in line], "it was counted all the same"


def test_a_tool_that_is_read_on_again_and_again_is_marked(tmp_path: Path, here: Here) -> None:
    options, path = recorded(tmp_path)
    with gateway(*options, command=[]) as client:
        client.greet()
        client.call("tell", shape="large_list")
        cursor = record_of(client.call("tell", shape="large_list")["result"])["nextCursor"]
        for _ in range(12):
            client.call("brimgate_read", cursor=cursor)
        client.call("tell", shape="small_list")
        client.close()
    (row,) = found_in(path, tool="tell").rows
    assert (row.issued, row.followed, row.pages_read, row.repeated_after_page) == (2, 1, 0, 1)
    with gateway(*options, command=[]) as client:
        client.greet()
        for _ in range(12):
            client.call("brimgate_read", cursor=cursor)
        client.close()
    (row,) = found_in(path, since=0.0).rows
    assert row.reads == 24 and not row.pages_too_much, "one answer of two was read on"
    assert b"24 reads on" in here("stats", "--file", str(path)).stdout


def test_an_upstream_that_is_down_is_told_though_nobody_calls(tmp_path: Path) -> None:
    path = tmp_path / "brimgate.yaml"
    dead = {"command": sys.executable, "args": ["-c", "raise SystemExit('no licence')"]}
    path.write_text(json.dumps({"upstreams": {"dead": dead}, "log_format": "json"}))
    with serve("--config", str(path), command=()) as serving:
        serving.get("/health")
        line = wait_until(
            lambda: [one for one in list(serving.lines) if '"upstream_failing"' in one], "the alert"
        )[0]
    told = json.loads(line)
    assert (told["event"], told["state"], told["subject"]) == ("alert", "raised", "dead")


def test_the_tool_that_fills_the_context_is_the_first_row(tmp_path: Path, here: Here) -> None:
    """SC-006: who sees an overflow finds its tool by one command, with the size of its largest answer."""
    options, path = recorded(tmp_path)
    with gateway(*options, command=[]) as client:
        client.greet()
        for _ in range(5):
            client.call("tell", shape="small_list")
        client.call("open", shape="large_list")
        client.close()
    rows = json.loads(here("stats", "--json", "--file", str(path)).stdout)["rows"]
    assert rows[0]["name"] == "telling/open" and rows[0]["largest"] > 10_000 > rows[1]["largest"]
    assert rows[0]["share"] > 0.9 and rows[0]["outcomes"] == {"passed": 1}, "nothing protected it"
