"""A webhook delivers alerts to a real HTTP server, however that behaves, and nobody waits for it."""

import hashlib
import hmac
import json
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, NamedTuple

import pytest

from brimgate import __version__
from brimgate.errors import OperatorError
from brimgate.watch.webhook import Webhook
from tests.http.authorities import issue
from tests.http.serving import PATIENCE

TARGET = "/hooks/token-in-path?key=token-in-query"
ALERT = {"alert": "upstream_failing", "state": "raised", "subject": "crm"}
SOON = (0.01,) * 5


class Post(NamedTuple):
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.body)


class Receiver(ThreadingHTTPServer):
    """Notes what is posted to it. It answers with one status after the other, then with 200."""

    def __init__(self, *statuses: int, location: str = "") -> None:
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self.server_bind()  # whoever connects is refused until `open`
        self.statuses = iter(statuses)
        self.location = location
        self.posts: SimpleQueue[Post] = SimpleQueue()
        self.answers = Event()
        """It hangs while this is not set."""
        self.answers.set()
        self.answered: SimpleQueue[Post] = SimpleQueue()

    def open(self) -> "Receiver":
        self.server_activate()
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def close(self) -> None:
        self.answers.set()
        self.shutdown()
        self.server_close()

    def next(self) -> Post:
        return self.posts.get(timeout=PATIENCE)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{TARGET}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that have gone."""


class _Handler(BaseHTTPRequestHandler):
    server: Receiver  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        post = Post(self.path, dict(self.headers.items()), body)
        status = next(self.server.statuses, 200)
        self.server.posts.put(post)
        self.server.answers.wait(PATIENCE)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        self.server.answered.put(post)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Write nothing to stderr."""


class Told:
    """What a webhook tells the log."""

    def __init__(self) -> None:
        self._lines: SimpleQueue[tuple[str, dict[str, Any], str]] = SimpleQueue()

    def __call__(self, event: str, fields: dict[str, Any], level: str) -> None:
        assert "token" not in str(fields)
        self._lines.put((event, fields, level))

    def next(self) -> tuple[str, dict[str, Any], str]:
        return self._lines.get(timeout=PATIENCE)

    def events(self) -> list[str]:
        """Return what was told until now and not looked at."""
        return [self._lines.get_nowait()[0] for _ in range(self._lines.qsize())]


Opened = Callable[..., Receiver]
Sending = Callable[..., Webhook]


@pytest.fixture
def receiver() -> Iterator[Opened]:
    """Open receivers, and close them in the end."""
    opened: list[Receiver] = []

    def open_one(*statuses: int, **options: str) -> Receiver:
        opened.append(Receiver(*statuses, **options).open())
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def webhook(told: Told) -> Iterator[Sending]:
    """Make webhooks that try again soon, and close them in the end."""
    made: list[Webhook] = []

    def make(url: str, secret: str = "", **options: Any) -> Webhook:
        made.append(Webhook(url, secret, told, **({"retries": SOON, "timeout_seconds": PATIENCE} | options)))
        return made[-1]

    yield make
    for one in made:
        one.close(0)


def test_an_alert_is_posted_as_json_with_an_id_and_a_time(
    receiver: Opened, webhook: Sending, told: Told
) -> None:
    server = receiver()
    webhook(server.url).send(ALERT)
    target, headers, body = post = server.next()
    assert target == TARGET
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"] == f"brimgate/{__version__}"
    assert int(headers["X-Brimgate-Timestamp"]) > 0 and "X-Brimgate-Signature" not in headers
    assert post.document == ALERT | {"id": post.document["id"]}
    assert len(bytes.fromhex(post.document["id"])) == 16
    assert body.isascii() and told.events() == []


def test_the_signature_is_of_the_time_and_the_body(receiver: Opened, webhook: Sending) -> None:
    server = receiver()
    webhook(server.url, "päss").send(ALERT)
    _, headers, body = server.next()
    signed = headers["X-Brimgate-Timestamp"].encode() + b"." + body
    expected = hmac.new("päss".encode(), signed, hashlib.sha256).hexdigest()
    assert headers["X-Brimgate-Signature"] == f"sha256={expected}"


@pytest.mark.parametrize("status", [500, 503, 408, 429, 304])
def test_what_may_pass_is_tried_again_with_the_same_id(
    receiver: Opened, webhook: Sending, told: Told, status: int
) -> None:
    server = receiver(status, status, 204)
    webhook(server.url, "secret").send(ALERT)
    posts = [server.next() for _ in range(3)]
    assert len({post.document["id"] for post in posts}) == 1
    for attempt in (1, 2):
        fields = {
            "alert": ALERT["alert"],
            "to": server.url.removesuffix(TARGET),
            "reason": f"status {status}",
        }
        assert told.next() == ("webhook_failed", fields | {"attempt": attempt}, "warning")
    assert told.events() == []


def test_every_alert_has_an_id_of_its_own_and_they_arrive_in_order(
    receiver: Opened, webhook: Sending
) -> None:
    server = receiver(500)
    hook = webhook(server.url)
    for number in range(5):
        hook.send(ALERT | {"number": number})
    posts = [server.next() for _ in range(6)]
    assert [post.document["number"] for post in posts] == [0, 0, 1, 2, 3, 4]
    assert len({post.document["id"] for post in posts}) == 5


def test_a_document_is_sent_as_it_was_when_it_was_given(receiver: Opened, webhook: Sending) -> None:
    server = receiver()
    server.answers.clear()
    hook, document = webhook(server.url), dict(ALERT)
    hook.send(ALERT)
    server.next()
    hook.send(document)
    document["state"] = "cleared"
    server.answers.set()
    assert server.next().document["state"] == "raised"


@pytest.mark.parametrize("status", [400, 401, 404, 410])
def test_what_is_refused_for_good_is_given_up_at_once(
    receiver: Opened, webhook: Sending, told: Told, status: int
) -> None:
    server = receiver(status)
    hook = webhook(server.url)
    hook.send(ALERT)
    event, fields, level = told.next()
    assert (event, level) == ("webhook_given_up", "error")
    assert (fields["reason"], fields["attempt"]) == (f"status {status}", 1)
    hook.send(ALERT | {"state": "cleared"})
    assert [server.next().document["state"], server.next().document["state"]] == ["raised", "cleared"]


def test_it_is_given_up_when_all_tries_have_failed(receiver: Opened, webhook: Sending, told: Told) -> None:
    server = receiver(500, 502, 503)
    webhook(server.url, retries=(0.01, 0.01)).send(ALERT)
    lines = [told.next() for _ in range(3)]
    assert [event for event, _, _ in lines] == ["webhook_failed", "webhook_failed", "webhook_given_up"]
    assert [fields["attempt"] for _, fields, _ in lines] == [1, 2, 3]
    assert lines[-1][1]["reason"] == "status 503"


def test_a_server_that_is_not_up_yet_gets_it_later(webhook: Sending, told: Told) -> None:
    server = Receiver()
    try:
        webhook(server.url, retries=(0.05,) * 1_000).send(ALERT)
        assert told.next()[1]["reason"] == "Connection refused"
        server.open()
        assert server.next().document["subject"] == "crm"
    finally:
        server.close()


def test_a_redirect_is_not_followed(receiver: Opened, webhook: Sending, told: Told) -> None:
    elsewhere = receiver()
    for status in (301, 302, 303, 307, 308):
        server = receiver(status, location=elsewhere.url)
        webhook(server.url, "secret", retries=()).send(ALERT)
        event, fields, _ = told.next()
        assert (event, fields["reason"]) == ("webhook_given_up", f"status {status}")
    with pytest.raises(Empty):
        elsewhere.posts.get_nowait()


def test_a_server_that_never_answers_is_left_after_the_timeout(
    receiver: Opened, webhook: Sending, told: Told
) -> None:
    server = receiver()
    server.answers.clear()
    webhook(server.url, timeout_seconds=0.1, retries=(0.01,)).send(ALERT)
    assert [told.next()[1]["reason"], told.next()[1]["reason"]] == ["timed out", "timed out"]


def test_what_does_not_speak_http_is_tried_again(webhook: Sending, told: Told) -> None:
    class Garbled(_Handler):
        def do_POST(self) -> None:
            self.wfile.write(b"* OK token-in-path IMAP4rev1\r\n")

    server = Receiver()
    server.RequestHandlerClass = Garbled
    server.open()
    try:
        webhook(server.url, retries=()).send(ALERT)
        assert told.next()[1]["reason"] == "not an HTTP response: BadStatusLine"
    finally:
        server.close()


def test_nobody_waits_for_a_server_that_hangs(receiver: Opened, webhook: Sending) -> None:
    server = receiver()
    server.answers.clear()
    hook = webhook(server.url)
    for number in range(3):
        hook.send(ALERT | {"number": number})
    assert server.next().document["number"] == 0
    assert server.answered.empty()
    server.answers.set()
    assert [server.next().document["number"], server.next().document["number"]] == [1, 2]


def test_the_queue_is_bounded_and_its_oldest_are_dropped(
    receiver: Opened, webhook: Sending, told: Told
) -> None:
    server = receiver()
    hook = webhook(server.url)
    for round_ in range(2):
        server.answers.clear()
        hook.send(ALERT)
        server.next()
        for number in range(110):
            hook.send(ALERT | {"number": number})
        event, fields, level = told.next()
        assert (event, fields["queued"], level) == ("webhook_dropped", 100, "error")
        assert told.events() == [], f"told more than once in round {round_}"
        server.answers.set()
        assert [server.next().document["number"] for _ in range(100)] == list(range(10, 110))
        for _ in range(101):
            server.answered.get(timeout=PATIENCE)


def test_closing_gives_what_is_left_one_last_try(receiver: Opened, webhook: Sending, told: Told) -> None:
    server = receiver(500, 200, 503, 200)
    hook = webhook(server.url, retries=(10 * PATIENCE,))
    for number in range(3):
        hook.send(ALERT | {"number": number})
    assert told.next()[0] == "webhook_failed"
    hook.close(PATIENCE)
    assert [server.posts.get_nowait().document["number"] for _ in range(4)] == [0, 0, 1, 2]
    assert told.events() == ["webhook_given_up"] and server.posts.empty()


def test_closing_does_not_wait_longer_than_it_may(receiver: Opened, webhook: Sending, told: Told) -> None:
    server = receiver()
    server.answers.clear()
    hook = webhook(server.url, timeout_seconds=10 * PATIENCE)
    hook.send(ALERT)
    server.next()
    hook.send(ALERT)
    hook.close(0.1)
    assert server.answered.empty(), "the server hangs still"
    event, fields, _ = told.next()
    assert (event, fields["reason"]) == ("webhook_given_up", "closed before it was sent")
    server.answers.set()
    hook.close(PATIENCE)
    assert server.posts.empty() and told.events() == [], "what was given up is not sent after all"


def test_a_last_try_ends_with_the_time_to_close(receiver: Opened, webhook: Sending, told: Told) -> None:
    server = receiver(500)
    hook = webhook(server.url, retries=(10 * PATIENCE,), timeout_seconds=10 * PATIENCE)
    hook.send(ALERT)
    assert told.next()[0] == "webhook_failed"
    server.answers.clear()
    hook.close(0.2)
    event, fields, _ = told.next()
    assert (event, fields["attempt"]) == ("webhook_given_up", 2)
    server.answered.get(timeout=PATIENCE)
    assert server.answered.empty(), "the second is not answered"


def test_closing_without_time_sends_nothing_more(receiver: Opened, webhook: Sending, told: Told) -> None:
    server = receiver(500)
    hook = webhook(server.url, retries=(10 * PATIENCE,))
    hook.send(ALERT)
    assert told.next()[0] == "webhook_failed"
    hook.close(0)
    assert told.next()[1]["reason"] == "closed before it was sent"
    server.next()
    assert server.posts.empty()


def test_nothing_is_sent_after_closing_and_nothing_need_have_been_sent_before(
    receiver: Opened, webhook: Sending, told: Told
) -> None:
    server = receiver()
    hook = webhook(server.url)
    hook.close(PATIENCE)
    hook.send(ALERT)
    hook.close(PATIENCE)
    assert server.posts.empty() and told.events() == []


def test_https_goes_to_a_server_whose_certificate_is_trusted(
    receiver: Opened, webhook: Sending, told: Told, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = issue(tmp_path, "receiver")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issued.cert, issued.key)
    server = receiver()
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = server.url.replace("http:", "https:")
    webhook(url, retries=()).send(ALERT)
    assert "CERTIFICATE_VERIFY_FAILED" in told.next()[1]["reason"]
    monkeypatch.setenv("SSL_CERT_FILE", str(issued.cert))
    webhook(url).send(ALERT)
    assert server.next().document["subject"] == "crm"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "token",
        "ftp://token.example/",
        "file:///token",
        "http://",
        "http:///token",
        "http://user:token@host/",
        "http://host:token/",
        "http://host:99999/token",
        "http://[token/",
        f"http://{'token' * 20}.example/",
        "http://host/token with spaces",
        "http://host/token\r\nX-Evil: 1",
        "http://höst/token",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_repeating_it(url: str, told: Told) -> None:
    with pytest.raises(OperatorError, match="the webhook's url") as caught:
        Webhook(url, "", told)
    assert "token" not in str(caught.value)


def test_an_ipv6_address_is_told_with_its_brackets(webhook: Sending, told: Told) -> None:
    webhook("http://[::1]:1/token", retries=()).send(ALERT)
    assert told.next()[1]["to"] == "http://[::1]:1"


def test_neither_importing_nor_making_it_loads_an_http_client_or_starts_a_thread() -> None:
    code = """
import sys, threading
from brimgate.watch.webhook import Webhook
Webhook("http://localhost/", "secret", print)
print({"http.client", "ssl", "uuid", "hmac"} & set(sys.modules), threading.active_count())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.split() == ["set()", "1"]
