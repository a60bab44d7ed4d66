"""The estimate is compared with counts: which count there is, what the errors amount to, which calls are sampled."""

import json
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import create_server, socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine.tokens.estimator import Estimator
from brimgate.engine.tokens.vocabularies import count_whole
from brimgate.watch.accuracy import (
    SILENCE_SECONDS,
    Accuracy,
    Count,
    CounterOptions,
    CountSource,
    Sampling,
    TokenCounter,
    is_far,
    is_near,
)

TEXT = json.dumps({"tasks": [{"id": n, "title": "write docs"} for n in range(20)]})
KEY = "sk-never-to-be-seen"
REFERENCE = Count(int(count_whole(TEXT, "o200k")), "reference")


class Provider:
    """A counter of tokens on a real port that says what it is told to."""

    def __init__(self, status: int = 200, body: bytes = b'{"input_tokens": 321}', location: str = "") -> None:
        self.status, self.body, self.location = status, body, location
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    @contextmanager
    def serving(self) -> Iterator["Provider"]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                headers = {name.lower(): value for name, value in self.headers.items()}
                provider.requests.append((self.path, headers, body))
                self.send_response(provider.status)
                if provider.location:
                    self.send_header("location", provider.location)
                self.send_header("content-length", str(len(provider.body)))
                self.end_headers()
                self.wfile.write(provider.body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the name is its base's
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            self.url = f"http://127.0.0.1:{server.server_port}/v1/messages/count_tokens?beta=true"
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            try:
                yield self
            finally:
                server.shutdown()
                thread.join()


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def printed(code: str) -> str:
    """Return what a Python of its own prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def options(url: str) -> CounterOptions:
    return CounterOptions(url, KEY, "claude-sonnet-5")


@pytest.mark.parametrize("family", ["o200k", "cl100k", "llama3"])
def test_a_public_vocabulary_counts_exactly_and_asks_nobody(family: str) -> None:
    with Provider().serving() as provider:
        counted = TokenCounter(options(provider.url)).count(TEXT, family)
    assert counted == Count(int(count_whole(TEXT, family)), "exact")
    assert provider.requests == []


@pytest.mark.parametrize("family", ["claude", "claude-3", "chars4"])
def test_without_a_provider_the_count_is_a_reference_and_not_the_truth(family: str) -> None:
    counted = TokenCounter(CounterOptions()).count(TEXT, family)
    assert counted == REFERENCE and not REFERENCE.is_truth


def test_exact_counts_and_those_of_a_provider_are_the_truth() -> None:
    assert Count(1, "exact").is_truth and Count(1, "provider").is_truth


@pytest.mark.parametrize("family", ["claude", "claude-3"])
def test_a_provider_is_asked_as_it_documents(family: str) -> None:
    with Provider().serving() as provider:
        assert TokenCounter(options(provider.url)).count(TEXT, family) == Count(321, "provider")
    [(path, headers, body)] = provider.requests
    assert path == "/v1/messages/count_tokens?beta=true"
    assert headers["x-api-key"] == KEY
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["content-type"] == "application/json"
    assert body == {"model": "claude-sonnet-5", "messages": [{"role": "user", "content": TEXT}]}


def test_a_provider_is_not_asked_for_a_formula() -> None:
    with Provider().serving() as provider:
        assert TokenCounter(options(provider.url)).count(TEXT, "chars4") == REFERENCE
    assert provider.requests == []


@pytest.mark.parametrize("missing", ["url", "key", "model"])
def test_a_provider_is_asked_only_with_url_key_and_model(missing: str) -> None:
    with Provider().serving() as provider:
        given_options = {"url": provider.url, "key": KEY, "model": "claude-sonnet-5"} | {missing: ""}
        assert TokenCounter(CounterOptions(**given_options)).count(TEXT, "claude") == REFERENCE
    assert provider.requests == []


def test_a_blank_text_is_not_sent_and_silences_no_provider() -> None:
    with Provider().serving() as provider:
        counter = TokenCounter(options(provider.url))
        assert counter.count("", "claude") == Count(0, "reference")
        assert counter.count(" \n", "claude") == Count(1, "reference")
        assert provider.requests == []
        assert counter.count(TEXT, "claude") == Count(321, "provider")


@pytest.mark.parametrize("status", [302, 400, 401, 404, 429, 500, 529])
def test_a_provider_that_refuses_leads_to_the_reference(status: int) -> None:
    with Provider(status).serving() as provider:
        assert TokenCounter(options(provider.url)).count(TEXT, "claude") == REFERENCE
    assert len(provider.requests) == 1


def test_a_redirect_is_not_followed() -> None:
    with Provider().serving() as other, Provider(307, location=other.url).serving() as provider:
        assert TokenCounter(options(provider.url)).count(TEXT, "claude") == REFERENCE
    assert other.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff",
        b"[]",
        b"{}",
        b'{"input_tokens": null}',
        b'{"input_tokens": "321"}',
        b'{"input_tokens": 3.5}',
        b'{"input_tokens": true}',
        b'{"input_tokens": 0}',
        b'{"input_tokens": -1}',
        b'{"padding": "' + b"x" * 70_000 + b'", "input_tokens": 321}',
        b"[" * 60_000,
        b'{"input_tokens": ' + b"9" * 5_000 + b"}",
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
def test_an_odd_answer_leads_to_the_reference(body: bytes) -> None:
    with Provider(body=body).serving() as provider:
        assert TokenCounter(options(provider.url)).count(TEXT, "claude") == REFERENCE
    assert len(provider.requests) == 1


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "127.0.0.1",
        "http://",
        "http://127.0.0.1:99999/",
        "http://a b/",
        "http://[/",
    ],
)
def test_an_address_that_cannot_be_asked_leads_to_the_reference(url: str) -> None:
    assert TokenCounter(options(url)).count(TEXT, "claude") == REFERENCE


def test_a_provider_that_is_not_there_leads_to_the_reference() -> None:
    with create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    assert TokenCounter(options(f"http://127.0.0.1:{port}/")).count(TEXT, "claude") == REFERENCE


def test_a_provider_that_says_nothing_is_left_when_its_time_is_over() -> None:
    with create_server(("127.0.0.1", 0)) as mute:
        url = f"http://127.0.0.1:{mute.getsockname()[1]}/"
        assert TokenCounter(options(url), timeout_seconds=0.05).count(TEXT, "claude") == REFERENCE


def test_a_provider_that_does_not_speak_http_leads_to_the_reference() -> None:
    with create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_say_nonsense, args=(server,))
        thread.start()
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert TokenCounter(options(url)).count(TEXT, "claude") == REFERENCE
        thread.join()


def _say_nonsense(server: socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(b"220 mail.example.org ESMTP\r\n")


def test_a_provider_that_failed_is_not_asked_for_five_minutes() -> None:
    clock = Clock()
    with Provider(500).serving() as provider:
        counter = TokenCounter(options(provider.url), clock=clock)
        assert counter.count(TEXT, "claude") == REFERENCE
        provider.status = 200
        clock.now += SILENCE_SECONDS - 1
        assert counter.count(TEXT, "claude-3") == REFERENCE
        assert len(provider.requests) == 1
        clock.now += 1
        assert counter.count(TEXT, "claude") == Count(321, "provider")


@pytest.mark.parametrize("key", [KEY, f"{KEY}\n", f"{KEY}€"])
def test_the_key_is_neither_printed_nor_raised(key: str, capfd: pytest.CaptureFixture[str]) -> None:
    with Provider(401).serving() as provider:
        given_options = CounterOptions(provider.url, key, "claude-sonnet-5")
        assert TokenCounter(given_options).count(TEXT, "claude") == REFERENCE
    assert KEY not in repr(given_options)
    assert capfd.readouterr() == ("", "")


def test_lone_surrogates_are_counted_as_the_estimator_counts_them() -> None:
    with Provider().serving() as provider:
        counter = TokenCounter(options(provider.url))
        assert counter.count("a\ud800b", "claude") == Count(321, "provider")
        assert counter.count("a\ud800b", "o200k") == Count(Estimator("o200k").count("a\ud800b"), "exact")
    assert "\ud800" not in provider.requests[0][2]["messages"][0]["content"]


@pytest.mark.parametrize("family", ["o200k", "claude", "chars4"])
def test_without_a_tokenizer_nothing_is_counted(family: str) -> None:
    code = f"""
import sys
sys.modules["splintr"] = None
from brimgate.watch.accuracy import CounterOptions, TokenCounter
print(TokenCounter(CounterOptions()).count("hello", {family!r}))
"""
    assert printed(code) == "None\n"


def test_importing_it_loads_nothing_of_http() -> None:
    code = "import sys, brimgate.watch.accuracy; print('http.client' in sys.modules)"
    assert printed(code) == "False\n"


def exact(tokens: int) -> Count:
    return Count(tokens, "exact")


def row_of(pairs: list[tuple[int, int]], source: CountSource = "provider") -> dict[str, Any]:
    accuracy = Accuracy()
    for estimated, counted in pairs:
        accuracy.add("claude", estimated, Count(counted, source))
    [row] = accuracy.document()
    return row


def test_an_error_is_relative_to_the_count() -> None:
    accuracy = Accuracy()
    assert accuracy.add("claude", 120, exact(100)) == 0.2
    assert accuracy.add("claude", 70, exact(100)) == -0.3
    assert accuracy.add("claude", 0, exact(0)) == 0
    assert accuracy.add("claude", 3, exact(0)) == 3


def test_near_is_up_to_20_percent_and_far_is_over_30() -> None:
    assert [is_near(error) for error in (0.2, -0.2, 0.2001, -0.2001)] == [True, True, False, False]
    assert [is_far(error) for error in (0.3, -0.3, 0.3001, -0.3001)] == [False, False, True, True]


def test_a_row_tells_the_distribution() -> None:
    row = row_of([(100 + error, 100) for error in (-40, -10, -5, 0, 0, 0, 10, 20, 25, 60)])
    assert row == {
        "family": "claude",
        "source": "provider",
        "samples": 10,
        "within_20": 0.7,
        "median_error": 0.0,
        "p95_error": 0.6,
        "bias": 0.06,
        "proposed_multiplier": None,
    }


def test_families_and_sources_have_rows_of_their_own() -> None:
    accuracy = Accuracy()
    assert accuracy.document() == []
    accuracy.add("o200k", 10, exact(10))
    accuracy.add("claude", 10, Count(9, "reference"))
    accuracy.add("claude", 10, Count(11, "provider"))
    rows = [(row["family"], row["source"], row["samples"]) for row in accuracy.document()]
    assert rows == [("claude", "provider", 1), ("claude", "reference", 1), ("o200k", "exact", 1)]


def test_the_share_within_20_percent_is_exact_at_its_edge() -> None:
    assert row_of([(1_200, 1_000), (1_204, 1_000)])["within_20"] == 0.5


@pytest.mark.parametrize(
    "estimated, multiplier", [(80, 1.25), (125, 0.8), (97, 1.031), (102, None), (99, None)]
)
def test_30_samples_propose_the_multiplier_that_brings_the_median_to_1(
    estimated: int, multiplier: float | None
) -> None:
    assert row_of([(estimated, 100)] * 30)["proposed_multiplier"] == multiplier
    assert row_of([(estimated, 100)] * 29)["proposed_multiplier"] is None


def test_a_reference_never_proposes_a_multiplier() -> None:
    assert row_of([(80, 100)] * 1_000, "reference")["proposed_multiplier"] is None
    assert row_of([(80, 100)] * 1_000, "reference")["samples"] == 1_000


@pytest.mark.parametrize("estimated", [0, 4_000_000])
def test_errors_beyond_the_range_propose_no_multiplier(estimated: int) -> None:
    row = row_of([(estimated, 1_000)] * 30)
    assert row["proposed_multiplier"] is None
    assert row["median_error"] in (-1.0, 3.0)


PAIRS = st.lists(st.tuples(st.integers(0, 10**7), st.integers(0, 10**7)), min_size=1, max_size=80)


@pytest.mark.property
@given(PAIRS)
def test_the_row_agrees_with_all_errors_to_half_a_percent(pairs: list[tuple[int, int]]) -> None:
    errors = sorted(min((estimated - counted) / max(counted, 1), 3.0) for estimated, counted in pairs)
    sizes = sorted(map(abs, errors))
    row = row_of(pairs)
    assert row["samples"] == len(pairs)
    assert row["median_error"] == pytest.approx(errors[-(-50 * len(pairs) // 100) - 1], abs=0.00501)
    assert row["p95_error"] == pytest.approx(sizes[-(-95 * len(pairs) // 100) - 1], abs=0.00501)
    assert 0 <= row["within_20"] <= 1
    assert json.loads(json.dumps(row)) == row


def test_memory_does_not_grow_with_the_samples() -> None:
    accuracy = Accuracy()
    accuracy.add("claude", 1, exact(1))
    tracemalloc.start()
    try:
        for number in range(20_000):
            accuracy.add("claude", number, exact(1 + number * 7 % 5_000))
        assert tracemalloc.get_traced_memory()[0] < 50_000
    finally:
        tracemalloc.stop()


@pytest.mark.property
@given(st.integers(0, 1_000_000), st.integers(1, 300))
def test_of_any_calls_the_sample_is_their_share_rounded_down(parts: int, calls: int) -> None:
    sampling = Sampling(parts / 1_000_000)
    assert sum(sampling.takes() for _ in range(calls)) == parts * calls // 1_000_000


def test_the_sample_is_spread_evenly() -> None:
    sampling = Sampling(0.01)
    assert [number for number in range(1, 501) if sampling.takes()] == [100, 200, 300, 400, 500]
    tenth = Sampling(0.1)
    assert [number for number in range(1, 31) if tenth.takes()] == [10, 20, 30]


def test_no_share_takes_nothing_and_the_whole_takes_all() -> None:
    none, every = Sampling(0), Sampling(1)
    assert not any(none.takes() for _ in range(1_000))
    assert all(every.takes() for _ in range(1_000))


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_outside_of_0_to_1_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        Sampling(share)
