"""The page for operators: health, sessions, alerts, and the configuration in force."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from brimgate.watch.dashboard.markup import Child, Markup, element
from brimgate.watch.dashboard.page_frame import (
    ROOT,
    Heading,
    PageAddress,
    Viewer,
    moment,
    page,
    percent,
    section,
    table,
)


@dataclass(frozen=True, slots=True)
class LastReload:
    time: float
    result: str
    seconds: float
    told: str


@dataclass(frozen=True, slots=True)
class SystemState:
    """What is known of a running gateway now."""

    version: str
    status: str
    uptime_seconds: float
    checks: Mapping[str, Mapping[str, Any]]
    sessions: Mapping[str, tuple[int, int]]
    """By upstream: how many are open, and how many were ever opened."""
    connections: int
    alerts: Sequence[Mapping[str, Any]]
    accuracy: Sequence[Mapping[str, Any]]
    records: str
    """Where the records are, or why there are none."""
    dropped: int
    configuration: str
    reload: LastReload | None = field(default=None)


def system_page(state: SystemState, viewer: Viewer, here: PageAddress) -> bytes:
    content: list[Child] = [
        element(
            "h1", "This gateway is ", element("strong", state.status.replace("_", " ")), class_="headline"
        ),
        _facts(state),
        _checks(state),
        _sessions(state),
        _alerts(state),
        _accuracy(state),
        _configuration(state),
    ]
    return page("System", viewer, PageAddress(f"{ROOT}/system", here.filters), *content, is_live=True)


def _facts(state: SystemState) -> Markup:
    facts: list[tuple[str, Child]] = [
        ("Version", state.version),
        ("Up for", _duration(state.uptime_seconds)),
        ("Connections", f"{state.connections:,}"),
        ("Records", state.records),
        ("Records dropped", f"{state.dropped:,}"),
    ]
    return element("dl", [(element("dt", name), element("dd", text)) for name, text in facts], class_="facts")


def _duration(seconds: float) -> str:
    minutes, hours, days = int(seconds // 60), int(seconds // 3_600), int(seconds // 86_400)
    if days:
        return f"{days} d {hours % 24} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _checks(state: SystemState) -> Markup:
    rows = [
        (
            name,
            element("span", str(check["status"]).replace("_", " "), class_=f"status {check['status']}"),
            _told(check),
        )
        for name, check in state.checks.items()
    ]
    return section(
        "Health",
        "The servers behind this gateway, what checks tokens, and the shared store, as they were when last looked at.",
        table("Health", ["what", "status", "details"], rows),
        id_="health",
    )


def _told(check: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in check.items() if name != "status")


def _sessions(state: SystemState) -> Markup:
    rows = [(name, f"{opened:,}", f"{ever:,}") for name, (opened, ever) in state.sessions.items()]
    headings: list[Heading] = ["server", ("open", "number"), ("since the start", "number")]
    return section("Sessions", "", table("Sessions", headings, rows), id_="sessions")


def _alerts(state: SystemState) -> Markup:
    rows = [
        (str(one["alert"]).replace("_", " "), str(one["subject"]), str(one["since"]), _details(one))
        for one in state.alerts
    ]
    shown = (
        table("Alerts", ["alert", "of", "since", "details"], rows)
        if rows
        else element("p", "None is raised.")
    )
    return section("Alerts", "", shown, id_="alerts")


def _details(alert: Mapping[str, Any]) -> str:
    hidden = ("alert", "subject", "since", "state")
    return ", ".join(f"{name} {value}" for name, value in alert.items() if name not in hidden)


def _accuracy(state: SystemState) -> Child:
    if not state.accuracy:
        return None
    rows = [
        (str(one["family"]), str(one["source"]), f"{one['samples']:,}", percent(one["within_20"]))
        for one in state.accuracy
    ]
    headings: list[Heading] = [
        "token family", "counted by", ("samples", "number"), ("within 20 %", "number"),
    ]  # fmt: skip
    return section(
        "Estimates",
        "How near the estimated tokens are to a count.",
        table("Estimates", headings, rows),
        id_="estimates",
    )


def _configuration(state: SystemState) -> Markup:
    last = state.reload
    told: Child = (
        "It has not changed since the start."
        if last is None
        else [
            "Last change ", moment(last.time), f": {last.result} after {last.seconds:.2f} s. {last.told}",
        ]
    )  # fmt: skip
    return section(
        "Configuration",
        told,
        element(
            "details",
            element("summary", "In force now, with secrets masked"),
            element("pre", state.configuration, tabindex="0", aria_label="Configuration"),
            id="configuration-text",
        ),
        id_="configuration",
    )
