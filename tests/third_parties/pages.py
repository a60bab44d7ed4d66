"""A small web of our own on the loopback: pages with much in them, the same on every run."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

ROWS: Final = 220
REQUESTS: Final = 260
_NO_ICON: Final = "<link rel='icon' href='data:,'>"
"""Without it a browser asks for one, sooner or later."""
_TOPICS: Final = ("rivers", "bridges", "lighthouses", "harbours", "mills", "ferries", "locks")


def shop() -> str:
    """Return a page with a wide tree: a table of links, buttons and fields."""
    rows = "".join(
        f"<tr><td>{n}</td><td><a href='/item/{n}'>Item {n} of {_TOPICS[n % 7]}</a></td><td>{n * 37 % 991}.50 EUR</td>"
        f"<td><input aria-label='quantity of {n}' value='{n % 5}'></td><td><button>Buy {n}</button></td></tr>"
        for n in range(ROWS)
    )
    head = "<tr><th>no</th><th>name</th><th>price</th><th>quantity</th><th>order</th></tr>"
    return f"<title>Shop</title>{_NO_ICON}<h1>Everything we have</h1><p>done</p><table>{head}{rows}</table>"


def article() -> str:
    """Return a long article with headings and paragraphs, as a reader of web pages likes them."""
    return "<title>On waterways</title><article><h1>On waterways</h1>" + "".join(
        f"<h2>{n + 1}. Of {_TOPICS[n % 7]}</h2>"
        + "".join(f"<p>{paragraph(11 * n + part)}</p>" for part in range(5))
        for n in range(40)
    )


def paragraph(n: int) -> str:
    return " ".join(
        f"In the year {1_500 + n} there were {n * 131 % 7_919 + part} {_TOPICS[(n + part) % 7]} in province {part}."
        for part in range(4)
    )


def busy() -> str:
    """Return a page whose script asks for many things, one after the other, and says when it is done."""
    return f"<title>Busy</title>{_NO_ICON}<p>loading</p><script src='/busy.js'></script>"


def busy_script() -> str:
    asked = f"for (let n = 0; n < {REQUESTS}; n++) {{ await (await fetch('/data/' + n + '?page=' + n * 7)).text();"
    told = "console.log('loaded number ' + n + ' of the data, without a fault'); }"
    return f"(async () => {{ {asked} {told} document.querySelector('p').textContent = 'done'; }})()"


_PAGES: Final = {"/shop": shop, "/article": article, "/busy": busy}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        kind, status = "text/plain", 200
        if path in _PAGES:
            kind, text = "text/html; charset=utf-8", "<!doctype html><html lang='en'>" + _PAGES[path]()
        elif path == "/busy.js":
            kind, text = "text/javascript", busy_script()
        elif path == "/robots.txt":
            text = "User-agent: *\nAllow: /\n"
        elif path.startswith("/data/"):
            text = f"data of {path}"
        else:
            text, status = "there is no such page", 404
        body = text.encode()
        head = f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.wfile.write(
            head.encode() + body
        )  # in one piece: in two, each answer waits for an acknowledgement

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as its parent names it
        """Say nothing: a test prints what it has to say."""


@contextmanager
def served_pages() -> Iterator[str]:
    """Serve the pages on a free port and give their address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
