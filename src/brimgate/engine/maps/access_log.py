"""Survey access logs of web servers: statuses, paths and clients, and the requests that differ from the rest."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from brimgate.engine.highlights.findings import Finding, clip
from brimgate.engine.maps.line_filter import LineFilter
from brimgate.engine.maps.phrases import brief, count, places, seconds, size, tally
from brimgate.engine.maps.survey import (
    MUST_SEE,
    SLIGHTLY_ODD,
    WORTH_A_LOOK,
    Detector,
    MapLine,
    Survey,
    TextLines,
)

_LINE: Final = re.compile(
    r"(?P<client>\S++) [^\[\"]{1,200}+\[(?P<time>[^\]]{10,40}+)\] \"(?P<request>(?>(?:[^\"\\]"
    r"|\\.)*))\" (?P<status>\d{3}|-) (?P<size>\d++|-)"
    r"(?: \"(?P<referrer>(?>(?:[^\"\\]|\\.)*))\" \"(?P<agent>(?>(?:[^\"\\]|\\.)*))\")?(?P<rest>.*)$"
)
_TIME: Final = re.compile(
    r"(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?: ([+-])(\d\d)(\d\d))?"
)
_MONTHS: Final = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}
_TOOL: Final = LineFilter(
    "sqlmap", "nikto", "nmap", "masscan", "zgrab", "dirbuster", "gobuster", "wpscan", "hydra", "nuclei", "acunetix",
    "nessus", "ffuf", "feroxbuster", "burp",
)  # fmt: skip
_ATTACK: Final = LineFilter(
    r"\.\./", r"\.\.%2f", "%2e%2e", "etc/passwd", r"union[+ %20]+(?:all[+ %20]+)?select", "<script", "%3cscript",
    r"/\.env", r"/\.git/", r"/\.aws", r"/\.ssh",
    "wp-login", "wp-admin", "xmlrpc.php", "phpmyadmin", r"\$\{jndi", "cgi-bin/", "(?:;|%3b)(?:wget|curl)",
    r"[?&]cmd=", "' or '?1", "%27%20or", "(?:sleep|benchmark)\\(",
    "phpinfo", r"\.bak$", r"\.sql$", "id_rsa", "/actuator/(?:env|heapdump)", "eval\\(", "/proc/self",
)  # fmt: skip
_LAST_NUMBER: Final = re.compile(r"(\d{1,9}\.\d{1,6})\s*\"?$")
_ID: Final = re.compile(r"/(?:\d+|[0-9a-f]{8,}(?:-[0-9a-f]{4,}){0,4})(?=/|$)", re.IGNORECASE)
_ORDINARY: Final = (
    "200",
    "201",
    "204",
    "206",
    "301",
    "302",
    "303",
    "304",
    "307",
    "308",
    "400",
    "401",
    "403",
    "404",
)
_MIN: Final = 50


@dataclass(slots=True)
class _Request:
    line: int
    client: str
    time: float
    method: str
    path: str
    status: str
    size: int
    agent: str
    took: float | None

    @property
    def route(self) -> str:
        return _ID.sub("/:id", self.path.split("?", 1)[0][:200])

    @property
    def told(self) -> str:
        return f"{self.client} {self.method} {brief(self.path, 110)} → {self.status}"


def recognise(text: TextLines) -> float:
    sample = [line for line in text.sample if line.strip()]
    hits = sum(1 for line in sample if _LINE.match(line))
    return 0.97 if hits >= 3 and hits >= 0.8 * len(sample) else 0.0


def survey(text: TextLines) -> Survey:
    requests = list(_read(text.lines))
    found = [
        *_times(requests),
        *_extremes(requests),
        *_rare(requests),
        *_failures(requests),
        *_guesses(requests),
        *_attacks(requests),
    ]
    # A line is told once, by what weighs most.
    best = {one.place: one for one in sorted(found, key=lambda one: one.score)}
    return Survey(_title(requests, len(text.lines)), list(_map(requests)), list(best.values()))


def _read(lines: Sequence[str]) -> Iterator[_Request]:
    moments: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        if not (found := _LINE.match(line)):
            continue
        parts = found["request"].split(" ")
        method, path = (
            (parts[0], " ".join(parts[1:-1]) or parts[-1]) if len(parts) > 1 else ("?", found["request"])
        )
        took = _LAST_NUMBER.search(found["rest"][-30:]) if found["rest"] else None
        minute = found["time"][:17]
        if minute not in moments:
            moments[minute] = _epoch(found["time"])
        second = found["time"][18:20]
        time = moments[minute] + (int(second) if second.isdecimal() else 0)
        amount = int(found["size"]) if found["size"].isdecimal() else 0
        yield _Request(
            number,
            found["client"],
            time,
            method[:20],
            path,
            found["status"],
            amount,
            found["agent"] or "",
            float(took[1]) if took else None,
        )


def _epoch(text: str) -> float:
    """Return the beginning of the minute, in seconds; 0 if it is no time."""
    found = _TIME.match(text)
    if not found or found[2] not in _MONTHS:
        return 0.0
    try:
        moment = datetime(
            int(found[3]), _MONTHS[found[2]], int(found[1]), int(found[4]), int(found[5]), tzinfo=UTC
        )
    except ValueError:
        return 0.0
    ahead = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0)) if found[7] else timedelta()
    return moment.timestamp() - ahead.total_seconds() * (-1 if found[7] == "-" else 1)


def _attacks(requests: Sequence[_Request]) -> Iterator[Finding]:
    """Tell of each client that scans or attacks once, with what was answered."""
    by_client: dict[str, list[_Request]] = defaultdict(list)
    agents: dict[str, bool] = {}
    for one in requests:
        if one.agent not in agents:
            agents[one.agent] = _TOOL(one.agent)
        if agents[one.agent] or _ATTACK(one.path):
            by_client[one.client].append(one)
    for group in sorted(by_client.values(), key=len, reverse=True)[:8]:
        answered = [one for one in group if one.status[:1] == "2"]
        first = (answered or group)[0]
        agent = f' "{brief(first.agent, 50)}"' if agents.get(first.agent) else ""
        more = (
            f" · {count(len(group), 'such request')} (lines {places(one.line for one in group)})"
            if len(group) > 1
            else ""
        )
        hit = f", {len(answered)} answered with 2xx" if answered and len(group) > 1 else ""
        yield Finding(
            first.line,
            MUST_SEE if answered else WORTH_A_LOOK + 2,
            clip(f"attack? {first.told}{agent}{more}{hit}"),
        )


def _failures(requests: Sequence[_Request]) -> Iterator[Finding]:
    failed = [one for one in requests if one.status[:1] == "5"]
    groups: dict[tuple[str, str, str], list[_Request]] = defaultdict(list)
    for one in failed:
        groups[one.status, one.method, one.route].append(one)
    for (status, method, route), group in sorted(groups.items(), key=lambda item: -len(item[1]))[:8]:
        if len(group) == 1:
            yield Finding(group[0].line, WORTH_A_LOOK + 2, clip(f"{group[0].told}"))
        else:
            text = f"{status} {len(group):,} times at {method} {brief(route, 90)} (lines {places(one.line for one in group)})"
            yield Finding(group[0].line, WORTH_A_LOOK + 3, clip(text))


def _rare(requests: Sequence[_Request]) -> Iterator[Finding]:
    if len(requests) < _MIN:
        return
    statuses = Counter(one.status for one in requests)
    methods = Counter(one.method for one in requests)
    agents = Counter(one.agent for one in requests)
    routes = Counter(one.route for one in requests)
    few_routes = len(requests) >= 200 and sum(1 for number in routes.values() if number <= 2) <= 5
    few_agents = len(agents) <= 30 and sum(1 for number in agents.values() if number <= 2) <= 3
    for one in requests:
        if statuses[one.status] <= 2 and one.status not in _ORDINARY and one.status[:1] != "5":
            yield Finding(one.line, WORTH_A_LOOK, clip(f"rare status: {one.told}"))
        elif methods[one.method] <= 2:
            yield Finding(one.line, SLIGHTLY_ODD + 2, clip(f"rare method: {one.told}"))
        elif few_agents and agents[one.agent] <= 2 and len(requests) >= 100 and not _TOOL(one.agent):
            yield Finding(
                one.line, SLIGHTLY_ODD + 2, clip(f'rare user agent "{brief(one.agent, 70)}": {one.told}')
            )
        elif few_routes and routes[one.route] <= 2 and one.status != "404":
            yield Finding(one.line, SLIGHTLY_ODD + 1, clip(f"rare path: {one.told}"))


def _guesses(requests: Sequence[_Request]) -> Iterator[Finding]:
    """Tell of clients that were refused many times, and then let in."""
    refused: dict[str, list[_Request]] = defaultdict(list)
    for one in requests:
        if one.status in ("401", "403"):
            refused[one.client].append(one)
    for client, group in refused.items():
        if len(group) < 10 or len(group) * 3 < sum(len(other) for other in refused.values()):
            continue
        paths = {one.path for one in group[-5:]}
        entered = next(
            (
                one
                for one in requests
                if one.client == client
                and one.line > group[5].line
                and one.status[:1] in "23"
                and one.path in paths
            ),
            None,
        )
        more = f"; then let in at line {entered.line}" if entered else ""
        text = f"{client} refused {len(group):,} times (lines {group[0].line}-{group[-1].line}), {brief(group[0].path, 60)}{more}"
        yield Finding(
            entered.line if entered else group[0].line, MUST_SEE if entered else WORTH_A_LOOK, clip(text)
        )


def _extremes(requests: Sequence[_Request]) -> Iterator[Finding]:
    if len(requests) < _MIN:
        return
    sizes = sorted(one.size for one in requests)
    usual_size = max(sizes[len(sizes) * 98 // 100], 1)
    slow = sorted(one.took for one in requests if one.took is not None)
    usual_took = slow[len(slow) * 98 // 100] if len(slow) > len(requests) // 2 else 0.0
    for one in requests:
        if one.size > 1 << 20 and one.size > 8 * usual_size:
            yield Finding(
                one.line,
                WORTH_A_LOOK,
                clip(f"large answer {size(one.size)} (98 % up to {size(usual_size)}): {one.told}"),
            )
        elif usual_took and one.took is not None and one.took > 2 and one.took > 6 * usual_took:
            yield Finding(
                one.line,
                WORTH_A_LOOK,
                clip(f"slow {seconds(one.took)} (98 % up to {seconds(usual_took)}): {one.told}"),
            )


def _times(requests: Sequence[_Request]) -> Iterator[Finding]:
    timed = [one for one in requests if one.time]
    steps = [(later.time - one.time, later) for one, later in itertools.pairwise(timed)]
    if len(steps) < _MIN - 1:
        return
    usual = max(sorted(step for step, _ in steps)[len(steps) * 98 // 100], 1.0)
    odd = [(step, one) for step, one in steps if step < -60 or step > max(600, 20 * usual)]
    for step, one in odd if len(odd) <= 5 else ():
        text = (
            f"time goes back by {seconds(-step)}"
            if step < 0
            else f"no requests for {seconds(step)} before this line"
        )
        yield Finding(one.line, SLIGHTLY_ODD + 2, clip(f"{text}: {one.told}"))


def _title(requests: Sequence[_Request], lines: int) -> str:
    times = [one.time for one in requests if one.time]
    span = ""
    if times:
        first, last = (datetime.fromtimestamp(at, UTC) for at in (min(times), max(times)))
        span = f" · {first:%Y-%m-%d %H:%M:%S} … {last:%Y-%m-%d %H:%M:%S} UTC"
    other = f" ({count(lines - len(requests), 'other line')})" if lines > len(requests) else ""
    return f"access log: {count(len(requests), 'request')}{other}{span}"


def _map(requests: Sequence[_Request]) -> Iterator[MapLine]:
    statuses, methods = Counter(one.status for one in requests), Counter(one.method for one in requests)
    yield MapLine(f"status {tally(statuses, 12)} · method {tally(methods)}", 8)
    routes = Counter(brief(one.route, 70) for one in requests)
    yield MapLine(f"paths ({len(routes):,}): {tally(routes)}", 6)
    clients = Counter(one.client for one in requests)
    yield MapLine(f"clients ({len(clients):,}): {tally(clients, 6)}", 5)
    agents = Counter(brief(one.agent, 60) for one in requests if one.agent)
    if agents:
        yield MapLine(f"user agents ({len(agents):,}): {tally(agents, 4)}", 3)
    total = sum(one.size for one in requests)
    yield MapLine(
        f"{size(total)} sent, largest answer {size(max((one.size for one in requests), default=0))}", 3
    )


DETECTOR: Final = Detector("access log", recognise, survey)
