"""What all pages of the dashboard have in common: the frame, tables, numbers, and links that keep the filters."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from importlib.resources import files
from typing import Final
from urllib.parse import urlencode

from brimgate.watch.dashboard.markup import Child, Markup, element

ROOT: Final = "/dashboard"
ASSETS: Final = {
    "dashboard.js": b"text/javascript; charset=utf-8",
    "dashboard.css": b"text/css; charset=utf-8",
    "uplot.js": b"text/javascript; charset=utf-8",
    "uplot.css": b"text/css; charset=utf-8",
}
_VERSION_BYTES: Final = 6
Heading = str | tuple[str, str]
"""The heading of a column, or the heading and a class."""
_COMPACT: Final = ((1_000_000_000, "G"), (1_000_000, "M"), (10_000, "k"))


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks, and what may be seen."""

    name: str = ""
    whose: str = ""
    """The fingerprint of whose answers are shown; empty for those of all."""
    can_log_out: bool = False
    sees_system: bool = False


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Where in the dashboard we are: the page, and the filters of its URL."""

    path: str = ROOT
    filters: Mapping[str, str] = field(default_factory=lambda: {})

    def link(self, path: str = "", **changed: str) -> str:
        """Return the URL of a page with the same filters, but for those that are given; an empty one is left out."""
        kept = {name: text for name, text in {**self.filters, **changed}.items() if text}
        return f"{path or self.path}?{urlencode(kept)}" if kept else path or self.path


class Assets:
    """The files that pages load. Their URLs have a digest, so that browsers may keep them."""

    def __init__(self) -> None:
        folder = files("brimgate.watch.dashboard") / "assets"
        self._files = {name: (folder / name).read_bytes() for name in ASSETS}
        digest = blake2b(b"".join(self._files.values()), digest_size=_VERSION_BYTES)
        self.version = digest.hexdigest()

    def file(self, name: str) -> tuple[bytes, bytes] | None:
        """Return the content of a file and its type; None if there is no such file."""
        return (self._files[name], ASSETS[name]) if name in self._files else None

    def url(self, name: str) -> str:
        return f"{ROOT}/assets/{name}?{self.version}"


ASSET_FILES: Final[list[Assets]] = []


def assets() -> Assets:
    """Return the files, read once, when the first page is asked for."""
    if not ASSET_FILES:
        ASSET_FILES.append(Assets())
    return ASSET_FILES[0]


def page(title: str, viewer: Viewer, here: PageAddress, *content: Child, is_live: bool = False) -> bytes:
    """Write a whole page. One that is live is written anew whenever there is something new."""
    given = assets()
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{title} · Brimgate"),
        element("link", rel="icon", href="data:,"),
        element("link", rel="stylesheet", href=given.url("uplot.css")),
        element("link", rel="stylesheet", href=given.url("dashboard.css")),
        element("script", src=given.url("uplot.js"), defer=True),
        element("script", src=given.url("dashboard.js"), defer=True),
    )
    body = element(
        "body",
        element("a", "Skip to the figures", href="#live", class_="skip"),
        _header(viewer, here, is_live=is_live),
        element(
            "main",
            *content,
            element("p", "As of ", moment(time.time()), class_="hint"),
            id="live",
            tabindex="-1",
            data_events=here.link(f"{ROOT}/events") if is_live else None,
        ),
        element("footer", "Figures count tokens as the budget does."),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}".encode()


def _header(viewer: Viewer, here: PageAddress, *, is_live: bool) -> Markup:
    pages = [("Overview", ROOT)] + ([("System", f"{ROOT}/system")] if viewer.sees_system else [])
    links = [
        element("a", name, href=here.link(path), aria_current="page" if path == here.path else None)
        for name, path in pages
    ]
    return element(
        "header",
        element("a", "Brimgate", href=ROOT, class_="brand"),
        element("nav", *links, aria_label="Pages"),
        element("span", "", id="live-state", role="status") if is_live else None,
        element("span", viewer.name, class_="viewer") if viewer.name else None,
        _log_out() if viewer.can_log_out else None,
    )


def _log_out() -> Markup:
    button = element("button", "Log out", type="submit", class_="quiet")
    return element("form", button, method="post", action=f"{ROOT}/logout")


def section(title: str, hint: Child, *content: Child, id_: str, class_: str = "") -> Markup:
    heading = element("h2", title, id=id_)
    told = element("p", hint, class_="hint") if hint else None
    return element("section", heading, told, *content, aria_labelledby=id_, class_=class_ or None)


def table(caption: str, headings: Sequence[Heading], rows: Iterable[Sequence[Child]]) -> Markup:
    """Write a table. A heading with a class gives it to its column: `number`, or `wide` for large screens only."""
    named = [(one, "") if isinstance(one, str) else one for one in headings]
    head = element("tr", [element("th", text, scope="col", class_=kind or None) for text, kind in named])
    body = [
        element(
            "tr",
            [
                element(
                    "th" if not at else "td",
                    cell,
                    scope="row" if not at else None,
                    class_=named[at][1] or None,
                )
                for at, cell in enumerate(row)
            ],
        )
        for row in rows
    ]
    made = element("table", element("caption", caption), element("thead", head), element("tbody", body))
    return element("div", made, class_="scroll", role="region", aria_label=f"Table: {caption}", tabindex="0")


def bar(share: float) -> Markup:
    """Draw a share of a whole."""
    width = f"{100 * min(max(share, 0.0), 1.0):.1f}"
    drawn = element("rect", width=width, height="8")
    return element(
        "svg", drawn, class_="bar", viewBox="0 0 100 8", preserveAspectRatio="none", aria_hidden="true"
    )


def moment(seconds: float) -> Markup:
    """Write a time: the browser shows it on its own clock."""
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
    exact = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return element("time", text, datetime=f"{exact}Z")


def compact(number: int) -> str:
    """Write a large number in four characters or so."""
    for size, letter in _COMPACT:
        if abs(number) >= size:
            unit = 1_000 if letter == "k" else size
            scaled = number / unit
            return f"{scaled:.1f} {letter}" if abs(scaled) < 100 else f"{scaled:,.0f} {letter}"
    return f"{number:,}"


def percent(share: float) -> str:
    value = 100 * share
    return f"{value:.1f} %" if 0 < abs(value) < 1 or 99 < value < 100 else f"{value:.0f} %"


def seconds(microseconds: int) -> str:
    if microseconds < 1_000_000:
        return (
            f"{microseconds / 1_000:,.0f} ms" if microseconds >= 10_000 else f"{microseconds / 1_000:.1f} ms"
        )
    return f"{microseconds / 1_000_000:,.1f} s"
