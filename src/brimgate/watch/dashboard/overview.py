"""The first page: what was saved, which tool costs what, and which answers were too large."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from brimgate.watch.dashboard.figures import AnswerLine, Figures
from brimgate.watch.dashboard.markup import Child, Markup, element
from brimgate.watch.dashboard.page_frame import (
    ROOT,
    Heading,
    PageAddress,
    Viewer,
    bar,
    compact,
    moment,
    page,
    percent,
    seconds,
    section,
    table,
)
from brimgate.watch.stats import Row

USUAL_SINCE: Final = "24h"
RANGES: Final = {
    "1h": "last hour",
    "24h": "last 24 hours",
    "7d": "last 7 days",
    "30d": "last 30 days",
    "all": "all records",
}
_MANY_ROWS: Final = 15
_NUMBER: Final = "number"
_WIDE: Final = "number wide"
OUTCOME_HINTS: Final = {
    "passed": "fitted, and went through unchanged",
    "rendered": "fitted after it was written in a cheaper form",
    "page": "a list: the first items were sent, with a cursor for the rest",
    "preview": "an object: its essentials were sent, with a cursor for the rest",
    "chunk": "a text: its beginning was sent, with a cursor for the rest",
    "read": "a model read on from a cursor",
    "refused": "a call that could not be answered, such as an expired cursor",
    "error": "the server or tool reported a failure",
}


def overview(
    found: Figures, viewer: Viewer, here: PageAddress, alerts: Sequence[Mapping[str, Any]], hint: Child
) -> bytes:
    """Write the page. `hint` says how to get the first answer here, for whoever has none yet."""
    if not found.has_any:
        content: list[Child] = [_banner(alerts), _empty(hint)]
    elif not found.total.calls and not found.total.reads:
        content = [_banner(alerts), _filters(found, here), _nothing(here)]
    else:
        content = [_banner(alerts), _filters(found, here), *_sections(found, viewer, here)]
    return page("Overview", viewer, here, *content, is_live=True)


def _sections(found: Figures, viewer: Viewer, here: PageAddress) -> Iterator[Child]:
    yield _headline(found.total, here)
    yield _tiles(found)
    yield _chart(found)
    yield _largest(found, viewer, here)
    yield _tools(found, here)
    yield element("div", _outcomes(found.total, here), _cursors(found.total), class_="columns")
    yield _latest(found, viewer, here)
    yield element("div", _slowest(found, here), _clients(found, here), class_="columns")
    yield _catalogs(found)
    yield _losses(found)


# Above the figures


def _banner(alerts: Sequence[Mapping[str, Any]]) -> Child:
    if not alerts:
        return None
    lines = [
        element(
            "li", element("strong", str(one["alert"]).replace("_", " ")), f" {one['subject']} ", _reason(one)
        )
        for one in alerts
    ]
    return element(
        "section",
        element("h2", "Alerts", id="alerts"),
        element("ul", lines),
        class_="alerts",
        aria_labelledby="alerts",
    )


def _reason(alert: Mapping[str, Any]) -> Child:
    """Say what an alert means, and what to do."""
    if alert["alert"] == "oversized_share":
        minutes = float(alert.get("window_seconds", 0)) / 60
        told = (
            f"{percent(float(alert.get('share', 0)))} of the {alert.get('answers', 0):,} answers and reads of the last "
            f"{minutes:g} minutes were over their budget; the alert is for more than "
            f"{percent(float(alert.get('threshold', 0)))}. "
            "They were sent in part, and nothing is lost. Look at "
        )
        advice = (
            ": a filter or a smaller page in the call costs less. Where large answers are usual, raise "
            "telemetry.alerts.oversized_share."
        )
        return [told, element("a", "the largest answers", href="#largest"), advice]
    told = [
        f"{name.replace('_', ' ')} {value}"
        for name, value in alert.items()
        if name not in ("alert", "subject", "state", "since")
    ]
    return " · ".join(told)


def _filters(found: Figures, here: PageAddress) -> Markup:
    given = here.filters
    offered = found.offered
    lists = (
        ("tool", "Tool", "all tools", offered.tools),
        ("upstream", "Server", "all servers", offered.upstreams),
        ("client", "Client", "all clients", offered.clients),
        ("outcome", "Outcome", "all outcomes", list(OUTCOME_HINTS)),
    )
    fields = [
        _select("since", "Time", RANGES, given.get("since") or USUAL_SINCE),
        *(
            _select(name, label, {"": every, **{one: one for one in names}}, given.get(name, ""))
            for name, label, every, names in lists
        ),
    ]
    until = (
        element("input", type="hidden", name="until", value=given["until"]) if given.get("until") else None
    )
    button = element("button", "Apply", type="submit")
    clear = element("a", "Clear", href=ROOT, class_="quiet") if given else None
    return element(
        "form",
        fields,
        until,
        button,
        clear,
        method="get",
        action=ROOT,
        class_="filters",
        aria_label="Filters",
    )


def _select(name: str, label: str, choices: Mapping[str, str], chosen: str) -> Markup:
    if chosen not in choices:
        choices = {**choices, chosen: chosen}
    options = [
        element("option", text or value, value=value, selected=value == chosen)
        for value, text in choices.items()
    ]
    return element("label", element("span", label), element("select", options, name=name))


def _empty(hint: Child) -> Markup:
    return element(
        "section",
        element("h1", "No answers yet"),
        element(
            "p",
            "This page shows what every tool answer costs in tokens, what of it reached a model, and which answers were too "
            "large. It fills by itself with the first call.",
        ),
        hint,
        class_="empty",
    )


def _nothing(here: PageAddress) -> Markup:
    since = _told_time(here, "this time")
    return element(
        "section",
        element("h1", "Nothing matches"),
        element("p", f"There are records, but none of {since} with these filters."),
        element("p", element("a", "Show all records", href=f"{ROOT}?since=all")),
        class_="empty",
    )


# Figures


def _told_time(here: PageAddress, other: str) -> str:
    """Return the time that is shown, as a part of a sentence: of the last hour."""
    chosen = RANGES.get(here.filters.get("since") or USUAL_SINCE, "")
    return other if not chosen else chosen if chosen.startswith("all") else f"the {chosen}"


def _headline(total: Row, here: PageAddress) -> Markup:
    since = _told_time(here, "the time that is shown")
    if not total.calls:
        got = element("strong", f"{total.tokens_after:,}")
        return element(
            "h1",
            f"In {since} models read on {total.reads:,} times, and got ",
            got,
            " tokens.",
            class_="headline",
        )
    saved = total.tokens_before - total.tokens_after
    change = f"{percent(abs(total.saved))} {'less' if saved >= 0 else 'more'}"
    told: list[Child] = [
        f"In {since} tools answered with ",
        element("strong", f"{total.tokens_before:,}"),
        " tokens. Models got ",
        element("strong", f"{total.tokens_after:,}"),
        ": ",
        element("strong", change),
        ".",
    ]
    if total.issued:
        were = "was" if total.followed == 1 else "were"
        answers = _plural(total.issued, "answer")
        told.append(f" Of {total.issued:,} shortened {answers} {total.followed:,} {were} read on.")
    return element("h1", told, class_="headline")


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"


def _tiles(found: Figures) -> Markup:
    total = found.total
    share = total.oversized / total.calls if total.calls else 0.0
    failed = total.outcomes.get("error", 0) + total.outcomes.get("refused", 0)
    tiles = [
        _tile("Saved today", compact(_saved(found.today)), "tokens that did not reach a model"),
        _tile("Saved this month", compact(_saved(found.month)), "tokens that did not reach a model"),
        _tile(
            "Answers", f"{total.calls:,}", f"and {total.reads:,} {_plural(total.reads, 'read')} from a cursor"
        ),
        _tile("Over budget", f"{total.oversized:,}", f"{percent(share)} of all answers"),
        _tile("Largest answer", compact(total.largest), "tokens before, in one call"),
        _tile("Failed or refused", f"{failed:,}", "answers that report an error"),
    ]
    return element("ul", tiles, class_="tiles")


def _saved(row: Row) -> int:
    return row.tokens_before - row.tokens_after


def _tile(label: str, value: str, hint: str) -> Markup:
    return element(
        "li",
        element("span", label, class_="label"),
        element("strong", value),
        element("span", hint, class_="hint"),
    )


def _chart(found: Figures) -> Markup:
    line = found.timeline
    data = json.dumps([line.times, line.before, line.after])
    rows = [
        (moment(at), f"{before:,}", f"{after:,}", f"{answers:,}")
        for at, before, after, answers in zip(line.times, line.before, line.after, line.answers, strict=True)
        if answers
    ]
    as_table = table(
        "Tokens over time",
        ["from", ("before", _NUMBER), ("after", _NUMBER), ("answers and reads", _NUMBER)],
        rows,
    )
    return section(
        "Tokens over time",
        "What tools answered with (before), and what of it reached a model (after).",
        element(
            "div",
            "",
            class_="chart",
            data_series=data,
            role="img",
            aria_label="Chart of tokens before and after",
        ),
        element("details", element("summary", "The same as a table"), as_table, id="chart-table"),
        id_="chart",
    )


def _tools(found: Figures, here: PageAddress) -> Markup:
    whole = sum(row.tokens_before for row in found.tools) or 1
    headings: list[Heading] = [
        "tool", ("calls", _NUMBER), ("before", _NUMBER), ("after", _NUMBER), ("saved", _NUMBER), ("median", _WIDE),
        ("p95", _WIDE), ("largest", _NUMBER), ("of all after", _WIDE), ("over budget", _WIDE), ("of all before", "wide"),
    ]  # fmt: skip
    rows = [
        (
            _tool_link(row.name, here), f"{row.calls:,}", f"{row.tokens_before:,}", f"{row.tokens_after:,}",
            percent(row.saved), f"{row.median:,}", f"{row.p95:,}", f"{row.largest:,}", percent(row.share),
            f"{row.oversized:,}", bar(row.tokens_before / whole),
        )
        for row in sorted(found.tools, key=lambda row: -row.tokens_before)[:_MANY_ROWS]
    ]  # fmt: skip
    remarks = [
        element(
            "li",
            _tool_link(row.name, here),
            f": its answers are read on {row.pages_read} times in the median. A larger budget, `fields` or a search would "
            "save calls.",
        )
        for row in found.tools
        if row.pages_too_much
    ]
    return section(
        "Tools by tokens",
        "Which tool costs what. Before: what the tool answered. After: what a model got of it, reads included. "
        "Median, p95 and largest are tokens of one answer, before.",
        table("Tools by tokens", headings, rows),
        element("ul", remarks, class_="remarks") if remarks else None,
        id_="tools",
    )


def _tool_link(name: str, here: PageAddress) -> Markup:
    upstream, _, tool = name.partition("/")
    return element("a", name, href=here.link(ROOT, tool=tool, upstream=upstream))


def answer_url(line: AnswerLine, here: PageAddress | None = None) -> str:
    """Return the address of the page of an answer, with the filters of the list that it stands in."""
    key = {"at": repr(line.time), "tokens": str(line.before)}
    return f"{ROOT}/answer?{urlencode(key | dict(here.filters) if here is not None else key)}"


def _largest(found: Figures, viewer: Viewer, here: PageAddress) -> Markup:
    headings: list[Heading] = [
        "answer", ("before", _NUMBER), ("after", _NUMBER), "outcome", ("shown", _WIDE), ("stood out", _WIDE),
        ("read on", _WIDE), ("client", "wide"), *_whose_heading(viewer),
    ]  # fmt: skip
    rows = [
        (
            element("a", moment(one.time), " ", one.name, href=answer_url(one, here)), f"{one.before:,}", f"{one.after:,}",
            one.outcome, shown_items(one), str(one.highlights or ""),
            _reads(one), one.client, *_whose(one, viewer),
        )
        for one in found.largest
    ]  # fmt: skip
    return section(
        "Largest answers",
        "Open one to see the call that made it, what was sent of it, and what is still held.",
        table("Largest answers", headings, rows),
        id_="largest",
    )


def shown_items(one: AnswerLine) -> str:
    """Say how many items of a list were sent. A summary is of all, and shows none as it is."""
    if not one.items:
        return ""
    return f"{one.items_shown:,} of {one.items:,}" if one.items_shown else f"summary of {one.items:,}"


def _reads(one: AnswerLine) -> str:
    return ("never" if not one.reads else f"{one.reads} ×") if one.has_cursor else ""


def _whose_heading(viewer: Viewer) -> list[tuple[str, str]]:
    return [] if viewer.whose else [("caller", "wide")]


def _whose(one: AnswerLine, viewer: Viewer) -> list[str]:
    return [] if viewer.whose else [one.principal]


def _outcomes(total: Row, here: PageAddress) -> Markup:
    every = sum(total.outcomes.values()) or 1
    rows = [
        (
            element("a", name, href=here.link(ROOT, outcome=name)),
            f"{count:,}",
            percent(count / every),
            OUTCOME_HINTS.get(name, ""),
        )
        for name, count in sorted(total.outcomes.items(), key=lambda one: -one[1])
    ]
    headings: list[Heading] = [
        "outcome",
        ("answers", _NUMBER),
        ("share", _NUMBER),
        ("meaning", "wide"),
    ]
    return section(
        "Outcomes", "What became of the answers.", table("Outcomes", headings, rows), id_="outcomes"
    )


def _cursors(total: Row) -> Markup:
    facts = [
        ("issued", total.issued, "answers that were sent in part"),
        ("followed", total.followed, "of these were read on"),
        (
            "abandoned",
            total.issued - total.followed,
            "were not: the first part was enough, or the model gave up",
        ),
        ("expired", total.expired, "cursors came too late, or were made up"),
        ("run again", total.repeated_after_page, "calls were made again instead of reading on"),
        ("stood out", total.highlights, "items and lines were shown first because they differ from the rest"),
    ]
    rows = [(name, f"{count:,}", hint) for name, count, hint in facts]
    headings: list[Heading] = ["cursors", ("count", _NUMBER), ("meaning", "wide")]
    return section(
        "Reading on", "Whether models follow the cursors.", table("Cursors", headings, rows), id_="cursors"
    )


def _latest(found: Figures, viewer: Viewer, here: PageAddress) -> Markup:
    headings: list[Heading] = [
        "answer", "outcome", ("before", _NUMBER), ("after", _NUMBER), ("took", _NUMBER), ("client", "wide"),
        *_whose_heading(viewer),
    ]  # fmt: skip
    rows = [
        (
            element("a", moment(one.time), " ", one.name, href=answer_url(one, here)), one.outcome,
            "" if one.is_read else f"{one.before:,}", f"{one.after:,}", seconds(one.latency_us), one.client, *_whose(one, viewer),
        )
        for one in found.latest
    ]  # fmt: skip
    return section(
        "Latest answers",
        "They appear here within two seconds.",
        table("Latest answers", headings, rows),
        id_="latest",
    )


def _slowest(found: Figures, here: PageAddress) -> Markup:
    slow = sorted(found.tools, key=lambda row: -row.latency_p95_us)[:8]
    rows = [
        (_tool_link(row.name, here), seconds(row.latency_median_us), seconds(row.latency_p95_us))
        for row in slow
    ]
    one = found.slowest[0] if found.slowest else None
    worst = (
        element(
            "p",
            "Slowest single answer: ",
            element("a", one.name, href=answer_url(one)),
            f", {seconds(one.latency_us)}.",
        )
        if one is not None
        else None
    )
    headings: list[Heading] = ["tool", ("median", _NUMBER), ("p95", _NUMBER)]
    return section(
        "Slowest tools",
        "From the request to the answer, the server's own time included.",
        table("Slowest tools", headings, rows),
        worst,
        id_="slowest",
    )


def _clients(found: Figures, here: PageAddress) -> Markup:
    rows = [
        (
            element("a", row.name, href=here.link(ROOT, client="" if row.name == "unknown" else row.name)),
            f"{row.calls:,}", f"{row.tokens_after:,}", percent(row.saved),
        )
        for row in found.clients[:_MANY_ROWS]
    ]  # fmt: skip
    headings: list[Heading] = [
        "client",
        ("calls", _NUMBER),
        ("got", _NUMBER),
        ("saved", _NUMBER),
    ]
    return section(
        "Clients",
        "Which programs called, as they call themselves.",
        table("Clients", headings, rows),
        id_="clients",
    )


def _catalogs(found: Figures) -> Child:
    if not found.catalogs:
        return None
    rows = [
        (
            name,
            f"{sum(tools.values()):,}",
            str(len(tools)),
            ", ".join(f"{tool} {tokens:,}" for tool, tokens in list(tools.items())[:3]),
        )
        for name, tools in found.catalogs.items()
    ]
    headings: list[Heading] = [
        "server", ("tokens", _NUMBER), ("tools", _NUMBER), ("most expensive", "wide"),
    ]  # fmt: skip
    return section(
        "Lists of tools",
        "What every session pays before its first call, because the client tells the model all tools.",
        table("Lists of tools", headings, rows),
        id_="catalogs",
    )


def _losses(found: Figures) -> Child:
    if not found.lost:
        return None
    lines = [element("li", f"{count:,} answers: {reason}") for reason, count in found.lost.items()]
    return section("Not in these figures", "", element("ul", lines), id_="losses")
