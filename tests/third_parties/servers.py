"""Other people's servers: how each is started, and questions whose answers are large."""

import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.third_parties.environments import (
    chromium,
    node_package,
    program_of,
    python_of,
    what_is_missing,
)
from tests.third_parties.pages import served_pages

_HERE: Final = Path(__file__).resolve().parent
_COMMITS: Final = 300
_TABLES: Final = 600
_FIRST_COMMIT: Final = 1_767_225_600
"""Seconds: the first of January 2026."""


@dataclass(frozen=True)
class Place:
    """What the servers look at: files in a folder, and pages at an address."""

    folder: Path
    pages: str


@dataclass(frozen=True)
class Call:
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Server:
    name: str
    environment: str
    command: Callable[[Place], list[str]]
    questions: dict[str, Callable[[Place], list[Call]]]
    """By name. The last call of each has the large answer, those before it lead there."""


@contextmanager
def made_place(folder: Path) -> Iterator[Place]:
    """Make the files and serve the pages; what cannot be made is not needed where a server is missing."""
    if not what_is_missing("servers"):
        documents = [python_of("servers"), str(_HERE / "documents.py"), str(folder)]
        subprocess.run(documents, check=True, timeout=120)
    _make_database(folder / "orders.db")
    _make_repository(folder / "repository")
    with served_pages() as address:
        yield Place(folder, address)


def _make_database(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("create table orders (id integer primary key, customer text, total real, note text)")
    rows = ((n, f"customer {n % 997}", n * 1.25, None if n % 3 else f"note {n}") for n in range(2_000))
    database.executemany("insert into orders values (?, ?, ?, ?)", rows)
    for n in range(_TABLES):
        columns = ", ".join(f"field_{at} text" for at in range(12))
        database.execute(f"create table archive_of_{n} (id integer primary key, {columns})")
    database.commit()
    database.close()


def _make_repository(folder: Path) -> None:
    """Make a repository by `git fast-import`: three hundred commits, the last of them large, and a change besides."""

    def table(changed: int) -> str:
        return "".join(f"row {n} = {n * n + (n % 2 if n < changed else 0)}\n" for n in range(1_500))

    def commit(n: int) -> str:
        message = f"Change row {n * 37 % 991} for reason {n}"
        text = table(0) if n < _COMMITS - 1 else table(1_200)
        note = f"note {n}\n"
        return (
            f"commit refs/heads/main\ncommitter Ada <ada@example.org> {_FIRST_COMMIT + 3_600 * n} +0000\n"
            f"data {len(message)}\n{message}\n"
            f"M 100644 inline table.txt\ndata {len(text)}\n{text}\n"
            f"M 100644 inline notes/{n}.txt\ndata {len(note)}\n{note}\n"
        )

    stream = "".join(commit(n) for n in range(_COMMITS))
    _git(folder.parent, "init", "--quiet", "--initial-branch=main", folder.name)
    _git(folder, "fast-import", "--quiet", given=stream)
    _git(folder, "reset", "--quiet", "--hard")
    (folder / "table.txt").write_text(table(0).replace("7", "seven"))


def _git(folder: Path, *arguments: str, given: str = "") -> None:
    subprocess.run(["git", *arguments], cwd=folder, input=given.encode(), check=True, timeout=60)


# From PyPI


def _installed(environment: str, program: str, *arguments: str, **settings: str) -> list[str]:
    """Return a command that looks for no newer version of itself."""
    chosen = {"FASTMCP_CHECK_FOR_UPDATES": "off", "FASTMCP_SHOW_SERVER_BANNER": "false"} | settings
    named = (f"{name}={value}" for name, value in chosen.items())
    return ["env", *named, program_of(environment, program), *arguments]


def _ask(tool: str, **arguments: Any) -> Callable[[Place], list[Call]]:
    """Return a question that is one call. Of its arguments, {folder} and {pages} are filled in."""

    def filled(place: Place, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return value.replace("{folder}", str(place.folder)).replace("{pages}", place.pages)

    return lambda place: [Call(tool, {name: filled(place, value) for name, value in arguments.items()})]


_GIT: Final = Server(
    "mcp-server-git",
    "servers",
    lambda _: _installed("servers", "mcp-server-git"),
    {
        "git_log": _ask("git_log", repo_path="{folder}/repository", max_count=_COMMITS),
        "git_diff": _ask("git_diff", repo_path="{folder}/repository", target="HEAD~5"),
        "git_diff_unstaged": _ask("git_diff_unstaged", repo_path="{folder}/repository"),
        "git_show": _ask("git_show", repo_path="{folder}/repository", revision="HEAD"),
    },
)
_SQLITE: Final = Server(
    "mcp-server-sqlite",
    "older",
    lambda place: _installed("older", "mcp-server-sqlite", "--db-path", f"{place.folder}/orders.db"),
    {
        "read_query": _ask("read_query", query="select * from orders"),
        "list_tables": _ask("list_tables"),
        "read_query-schema": _ask("read_query", query="select name, sql from sqlite_master"),
    },
)
_FETCH: Final = Server(
    "mcp-server-fetch",
    "servers",
    # With a Node on its path it would install packages of its own choice; without one it simplifies pages in Python.
    lambda _: _installed("servers", "mcp-server-fetch", "--allow-private-ips", PATH="/nowhere"),
    {
        "fetch": _ask("fetch", url="{pages}/article", max_length=500_000),
        "fetch-raw": _ask("fetch", url="{pages}/shop", max_length=500_000, raw=True),
    },
)
_EXCEL: Final = Server(
    "excel-mcp-server",
    "servers",
    lambda _: _installed("servers", "excel-mcp-server", "stdio"),
    {
        "read_range": _ask(
            "read_range", path="{folder}/orders.xlsx", sheet="Orders", range="A1:E901", max_cells=10_000
        ),
        "find_cells": _ask("find_cells", path="{folder}/orders.xlsx", query="customer", max_results=900),
    },
)
_MARKITDOWN: Final = Server(
    "markitdown-mcp",
    "servers",
    lambda _: _installed("servers", "markitdown-mcp"),
    {
        "docx": _ask("convert_to_markdown", uri="file://{folder}/minutes.docx"),
        "pdf": _ask("convert_to_markdown", uri="file://{folder}/ships.pdf"),
        "xlsx": _ask("convert_to_markdown", uri="file://{folder}/orders.xlsx"),
        "html": _ask("convert_to_markdown", uri="{pages}/article"),
    },
)
_MOTHERDUCK: Final = Server(
    "mcp-server-motherduck",
    "servers",
    lambda place: _installed(
        "servers", "mcp-server-motherduck", "--db-path", f"{place.folder}/orders.duckdb"
    ),
    {
        "execute_query": _ask("execute_query", sql="select * from orders order by id"),
        "list_tables": _ask("list_tables"),
        "describe": _ask(
            "execute_query",
            sql="select table_name, column_name, data_type from information_schema.columns order by all",
        ),
    },
)
_WORD: Final = Server(
    "office-word-mcp-server",
    "servers",
    lambda _: _installed("servers", "word_mcp_server"),
    {
        "get_document_text": _ask("get_document_text", filename="{folder}/minutes.docx"),
        "get_document_xml": _ask("get_document_xml", filename="{folder}/minutes.docx"),
        "get_document_outline": _ask("get_document_outline", filename="{folder}/minutes.docx"),
        "find_text_in_document": _ask(
            "find_text_in_document", filename="{folder}/minutes.docx", text_to_find="council"
        ),
    },
)
_ALCHEMY: Final = Server(
    "mcp-alchemy",
    "servers",
    lambda place: _installed(
        "servers",
        "mcp-alchemy",
        DB_URL=f"sqlite:///{place.folder}/orders.db",
        EXECUTE_QUERY_MAX_CHARS="200000",
    ),
    {
        "execute_query": _ask("execute_query", query="select * from orders"),
        "schema_definitions": _ask(
            "schema_definitions", table_names=["orders", *(f"archive_of_{n}" for n in range(150))]
        ),
    },
)

# From npm, with a browser


def _playwright(place: Place) -> list[str]:
    options = ("--headless", "--isolated", "--no-sandbox", "--browser", "chromium")
    places = ("--executable-path", chromium(), "--output-dir", str(place.folder / "browser"))
    return node_package("@playwright/mcp/cli.js", *options, *places)


def _devtools(_: Place) -> list[str]:
    quiet = ("--no-usage-statistics", "--no-performance-crux")
    options = ("--headless", "--isolated", "--chromeArg=--no-sandbox", "--executablePath", chromium())
    script = "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
    return ["env", "CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS=1", *node_package(script, *options, *quiet)]


def _after_opening(
    opening: str, waiting: Call, page: str, asked: Callable[[Place], list[Call]]
) -> Callable[[Place], list[Call]]:
    return lambda place: [Call(opening, {"url": f"{place.pages}/{page}"}), waiting, *asked(place)]


def _played(page: str, tool: str, **arguments: Any) -> Callable[[Place], list[Call]]:
    waiting = Call("browser_wait_for", {"text": "done"})
    return _after_opening("browser_navigate", waiting, page, _ask(tool, **arguments))


def _developed(page: str, tool: str, **arguments: Any) -> Callable[[Place], list[Call]]:
    waiting = Call("wait_for", {"text": ["done"], "pageId": 2})
    return _after_opening("new_page", waiting, page, _ask(tool, pageId=2, **arguments))


_ITEMS: Final = (
    "() => [...document.querySelectorAll('tr')].map(row => ({name: row.innerText, html: row.innerHTML}))"
)
_TEXT: Final = "() => document.body.innerText"
_PAGE_SOURCE: Final = "() => document.documentElement.outerHTML"

_PLAYWRIGHT: Final = Server(
    "@playwright/mcp",
    "browser",
    _playwright,
    {
        "browser_snapshot": _played("shop", "browser_snapshot"),
        "browser_evaluate-list": _played("shop", "browser_evaluate", function=_ITEMS),
        "browser_evaluate-text": _played("shop", "browser_evaluate", function=_TEXT),
        "browser_evaluate-html": _played("shop", "browser_evaluate", function=_PAGE_SOURCE),
        "browser_network_requests": _played("busy", "browser_network_requests", static=True),
        "browser_console_messages": _played("busy", "browser_console_messages", level="info"),
    },
)
_DEVTOOLS: Final = Server(
    "chrome-devtools-mcp",
    "browser",
    _devtools,
    {
        "take_snapshot": _developed("shop", "take_snapshot"),
        "evaluate_script-list": _developed("shop", "evaluate_script", function=_ITEMS),
        "evaluate_script-html": _developed("shop", "evaluate_script", function=_PAGE_SOURCE),
        "list_network_requests": _developed("busy", "list_network_requests"),
        "list_console_messages": _developed("busy", "list_console_messages"),
    },
)

SERVERS: Final = (_GIT, _SQLITE, _FETCH, _EXCEL, _MARKITDOWN, _MOTHERDUCK, _WORD, _ALCHEMY)
BROWSERS: Final = (_PLAYWRIGHT, _DEVTOOLS)
