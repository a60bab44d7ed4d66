"""Documents: a calendar, a wiki page and a graph of projects."""

# ruff: noqa: S608

import json
import random
from datetime import datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.planted import Parts, kind

from .tools import Doc, clash, hop, lapse, lost, split


@kind("e_calendar_events", "nested")
def e_calendar_events(rng: random.Random) -> Parts:
    """The events of a team's calendar, as a calendar API lists them."""
    size = rng.randint(135, 155)
    people = [f"{w.login(one)}@example.org" for one in w.people(rng, 24)]
    rooms = [f"Room {one}" for one in rng.sample(w.TOWNS, 6)]
    spots = w.spots(rng, size, 13, apart=4)
    off, back, twin, zone, whole, crowd, guest, leak, bare, long, far, open_, hole = spots
    now = datetime(2025, rng.randint(1, 6), rng.randint(2, 12), 8)
    items, wait = [], rng.randint(17, 33)
    for k in range(size):
        now += timedelta(minutes=rng.choice((30, 60, 90, 120, 240)))
        if now.hour >= 18:
            now = now.replace(hour=8, minute=0) + timedelta(days=3 if now.weekday() >= 4 else 1)
        if k == hole:
            now += timedelta(days=wait)
        end = now + timedelta(minutes=rng.choice((15, 30, 45, 60, 60)))
        ident = w.alnum(rng, 26).lower()
        owner = rng.choice(people)
        made = now - timedelta(days=rng.randint(3, 60), minutes=rng.randint(0, 900))
        sort = rng.choice(("Sync", "Review", "Planning", "Interview", "Demo", "One-on-one", "Retro"))
        title = f"{sort}: {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)} {rng.choice(w.TEAMS)}"
        one = {
            "kind": "calendar#event",
            "etag": f'"{rng.randint(10**15, 10**16)}"',
            "id": ident,
            "status": "tentative" if rng.random() < 0.12 else "confirmed",
            "htmlLink": f"https://calendar.example.org/event?eid={w.alnum(rng, 30)}",
            "created": f"{made:%Y-%m-%dT%H:%M:%S.000Z}",
            "updated": f"{made + timedelta(hours=rng.randint(1, 40)):%Y-%m-%dT%H:%M:%S.512Z}",
            "summary": title,
            "location": rng.choice(rooms),
            "organizer": {"email": owner},
            "start": {"dateTime": f"{now:%Y-%m-%dT%H:%M:00}+01:00", "timeZone": "Europe/Vienna"},
            "end": {"dateTime": f"{end:%Y-%m-%dT%H:%M:00}+01:00", "timeZone": "Europe/Vienna"},
            "iCalUID": f"{ident}@example.org",
            "sequence": rng.randint(0, 3),
            "attendees": [
                {
                    "email": mail,
                    "responseStatus": w.pick(
                        rng, {"accepted": 7, "needsAction": 3, "tentative": 1, "declined": 1}
                    ),
                }
                for mail in rng.sample(people, rng.randint(2, 6))
            ],
            "reminders": {"useDefault": rng.random() < 0.9},
        }
        if rng.random() < 0.3:
            one["description"] = w.sentence(rng)
        items.append(one)
    items[off]["status"] = "cancelled"
    reason = f"cancelled: {rng.choice(w.FAMILY)} resigned"
    items[off]["description"] = reason
    begin = datetime.fromisoformat(items[back]["start"]["dateTime"])
    wrong = f"{begin - timedelta(days=rng.randint(2, 5), hours=1):%Y-%m-%dT%H:%M:00}+01:00"
    items[back]["end"]["dateTime"] = wrong
    items[twin]["iCalUID"] = items[twin - 5]["iCalUID"]
    other = rng.choice(("Asia/Tokyo", "America/Denver", "Australia/Perth"))
    for side in ("start", "end"):
        items[zone][side]["timeZone"] = other
        items[whole][side] = {"date": items[whole][side]["dateTime"][:10]}
    crowded = rng.randint(72, 95)
    items[crowd]["attendees"] = [
        {"email": f"guest{j}@example.org", "responseStatus": "needsAction"} for j in range(crowded)
    ]
    alien = f"{w.login(rng.choice(w.GIVEN))}@rival-{rng.choice(w.THINGS)}.example.com"
    items[guest]["attendees"].append({"email": alien, "responseStatus": "accepted"})
    secret = w.alnum(rng, 12)
    items[leak]["description"] = f"Dial in with the host key, passcode: {secret}"
    del items[bare]["organizer"]
    hours = rng.randint(52, 90)
    start = datetime.fromisoformat(items[long]["start"]["dateTime"])
    until = f"{start + timedelta(hours=hours):%Y-%m-%dT%H:%M:00}+01:00"
    items[long]["end"]["dateTime"] = until
    year = rng.randint(2037, 2059)
    for side in ("start", "end"):
        items[far][side]["dateTime"] = f"{year}" + items[far][side]["dateTime"][4:]
    items[open_]["visibility"] = "public"
    n = Doc()

    def at(what: str, k: int, path: str, telling: list | str, *searches: str, **more: object) -> None:
        one = items[k]
        names = [one["id"], one["id"][:10], one["summary"], one["etag"].strip('"')]
        n.at(what, f"/items/{k}/{path}", telling, names, *searches, **more)  # type: ignore[arg-type]

    at(
        "rare status",
        off,
        "status",
        "+cancelled|+resigned",
        "cancelled",
        "status",
        sql="SELECT status, count(*) FROM t GROUP BY 1",
    )
    told = [
        "before start",
        "before its start",
        "before the start",
        "end < start",
        "ends before",
        wrong[:16],
        "end is before",
        "negative duration",
    ]
    sql = 'SELECT n, summary, start.dateTime, "end".dateTime FROM t WHERE "end".dateTime < start.dateTime'
    at(
        "contradiction",
        back,
        "end/dateTime",
        told,
        wrong[:16],
        "end",
        more=w.pairs(told[:5], ["1 event", "one event"]),
        sql=sql,
    )
    ident = items[twin]["iCalUID"]
    sql = "SELECT iCalUID, count(*) AS c FROM t GROUP BY 1 HAVING c > 1"
    n.twice(
        f"/items/{twin - 5}",
        f"/items/{twin}",
        ident,
        (items[twin - 5]["etag"].strip('"'), items[twin]["etag"].strip('"')),
        "iCalUID",
        sql=sql,
        short=[ident[:10], ident[:26]],
    )
    at(
        "changed field",
        zone,
        "start/timeZone",
        f"+{other}",
        other,
        "timeZone",
        sql="SELECT start.timeZone, count(*) FROM t GROUP BY 1",
    )
    told = split(
        "all-day|all day|date instead|start.date |no dateTime|start.date:|whole day|without dateTime|"
        "without a dateTime|no start.dateTime|start.date="
    )
    sql = "SELECT n, summary, start.date FROM t WHERE start.dateTime IS NULL"
    at(
        "changed field",
        whole,
        "start/date",
        told,
        '/"date": ?"/',
        "dateTime",
        more=lost([items[whole]["summary"]], ["dateTime"], size) + (("start.date", "1"), ("all-day", "one")),
        alone=["start.date", "all-day"],
        sql=sql,
    )
    sql = "SELECT t.n, t.summary, count(*) AS c FROM t JOIN attendees a ON a.parent = t.n GROUP BY t.n ORDER BY c DESC LIMIT 2"
    at(
        "outlier",
        crowd,
        "attendees",
        f"{crowded} attendees|{crowded}",
        "guest40@",
        "attendees",
        more=w.pairs([f"{crowded}"], ["attendees", "guests", "invited"]),
        sql=sql,
    )
    at(
        "rare value",
        guest,
        f"attendees/{len(items[guest]['attendees']) - 1}/email",
        f"+{alien}|rival-|external|^example.com",
        "rival",
        "example.com",
        more=((alien,),),
    )
    at("secret", leak, "description", "+passcode|+host key|password", "passcode", "host key", hidden=secret)
    n.gone(
        f"/items/{bare}",
        "organizer",
        [items[bare]["summary"], items[bare]["id"]],
        size,
        sql="SELECT n, summary, 'no organizer' AS note FROM t WHERE organizer.email IS NULL",
    )
    at(
        "outlier",
        long,
        "end/dateTime",
        [*lapse(hours * 3600), f"{hours} h", f"{hours // 24} days", "duration", until[:16], "long"],
        until[:16],
        items[long]["summary"],
        more=w.pairs([f"{hours} h", f"{hours}h"], ["duration", "long", "event"]),
    )
    at(
        "time jump",
        far,
        "start/dateTime",
        f"+{year}|{year}-|^{items[far]['start']['dateTime']}|^{items[far]['start']['dateTime'][:10]}",
        str(year),
        "dateTime",
        sql="SELECT n, summary, start.dateTime FROM t ORDER BY start.dateTime DESC LIMIT 2",
    )
    at(
        "rare value",
        open_,
        "visibility",
        "+visibility|public|^visibility: public",
        "visibility",
        '"public"',
        sql="SELECT n, summary, visibility FROM t WHERE visibility IS NOT NULL",
    )
    before, after = items[hole - 1]["start"]["dateTime"], items[hole]["start"]["dateTime"]
    span = (datetime.fromisoformat(after) - datetime.fromisoformat(before)).total_seconds()
    days = [before[:10], after[:10]]
    words = ["gap", "jump", "no events", "nothing", "pause", "silence", "missing", "without events"]
    evidence = hop(before, after, []) + w.pairs([*lapse(span), f"{wait} days", f"{wait + 1} days"], words)
    evidence += w.pairs(days, words) + (tuple(days),)
    sql = "SELECT n, start.dateTime, julianday(start.dateTime) - julianday(lag(start.dateTime) OVER (ORDER BY n)) "
    sql += "AS d FROM t ORDER BY d DESC LIMIT 3"
    n.say(
        "gap",
        evidence,
        after[:10],
        before[:10],
        pointer=f"/items/{hole}/start/dateTime",
        sql=sql,
        derived=True,
    )
    n.tally(
        size,
        ["events", "items", "event", "rows", "records"],
        "calendar#event",
        sql="SELECT count(*) AS events FROM t",
    )
    sure = sum(one["status"] == "tentative" for one in items)
    n.tally(
        sure,
        ["tentative", "status tentative", "status: tentative"],
        "tentative",
        sql="SELECT status, count(*) FROM t GROUP BY 1",
    )
    total = sum(len(one["attendees"]) for one in items)
    n.tally(
        total,
        ["attendees", "attendee", "invitations"],
        "attendees",
        sql="SELECT count(*) AS attendees FROM attendees",
    )
    head = {
        "kind": "calendar#events",
        "summary": f"{rng.choice(w.TEAMS)} team",
        "timeZone": "Europe/Vienna",
        "accessRole": "reader",
    }
    return n.parts(json.dumps(head | {"items": items}, indent=1))


def _text(text: str, *marks: dict) -> dict:
    return {"type": "text", "text": text} | ({"marks": list(marks)} if marks else {})


def _p(*parts: dict | str) -> dict:
    return {"type": "paragraph", "content": [_text(one) if isinstance(one, str) else one for one in parts]}


def _heading(level: int, text: str) -> dict:
    return {"type": "heading", "attrs": {"level": level}, "content": [_text(text)]}


def _grid(rows: list[list[str]]) -> dict:
    cells = [
        {
            "type": "tableRow",
            "content": [
                {
                    "type": "tableCell" if k else "tableHeader",
                    "attrs": {},
                    "content": [_p(cell) if cell else _p()],
                }
                for cell in row
            ],
        }
        for k, row in enumerate(rows)
    ]
    return {"type": "table", "attrs": {"layout": "default", "isNumberColumnEnabled": False}, "content": cells}


def _status(text: str, color: str) -> dict:
    return {"type": "status", "attrs": {"text": text, "color": color, "localId": ""}}


@kind("e_wiki_page_adf", "nested")
def e_wiki_page_adf(rng: random.Random) -> Parts:
    """A wiki page of runbooks as its document format gives it: a tree of nodes."""
    count = rng.randint(46, 52)
    names = w.distinct(rng, count, lambda r: f"{r.choice(w.TEAMS)}-{r.choice(w.THINGS)}")
    owners = w.people(rng, 12)
    spots = w.spots(rng, count, 14, apart=2, low=0.07)
    stop, down, bare, twin, hole, slow, todo, leak, strike, alien, stale, none, sum_, decided = spots
    nodes: list[dict] = [_p(w.paragraph(rng))]
    number, skipped = rng.randint(110, 400), rng.randint(11, 29)
    ids: list[str] = []
    place: dict[str, int] = {}
    hours, year, secret = rng.randint(72, 160), rng.randint(2012, 2016), w.alnum(rng, 24)
    host = f"{rng.choice(w.THINGS)}-{rng.choice(w.TOWNS).lower()}.example.net"
    danger = f"Do not restart {names[stop]} while the ledger closes, it loses postings."
    false = sum_ + rng.randint(4, 9)
    choice = f"From {rng.choice(('May', 'June', 'July'))} on {names[decided]} runs without a standby."
    for k, name in enumerate(names):
        number += (k != twin) + (skipped if k == hole else 0)
        ids.append(f"RB-{number}")
        nodes.append(_heading(2, f"{ids[-1]} {name}"))
        place[f"head{k}"] = len(nodes) - 1
        state = _status("DOWN", "red") if k == down else _status("LIVE", "green")
        nodes.append(_p("State: ", state, f" {w.sentence(rng)}"))
        place[f"state{k}"] = len(nodes) - 1
        limit = f"{hours} h" if k == slow else f"{rng.choice((15, 20, 30, 45, 60))} min"
        owner = "" if k == none else rng.choice(owners)
        last = f"{year if k == stale else 2025}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"
        nodes.append(_grid([["Owner", "Recovery time", "Last tested"], [owner, limit, last]]))
        place[f"grid{k}"] = len(nodes) - 1
        for part in ("Check", "Rollback"):
            if k == bare and part == "Rollback":
                continue
            nodes.append(_heading(3, part))
            nodes.append(_p(w.paragraph(rng, 1, 3)))
            steps = [{"type": "listItem", "content": [_p(w.sentence(rng))]} for _ in range(rng.randint(2, 4))]
            nodes.append({"type": "orderedList", "content": steps})
        if rng.random() < 0.4:
            nodes.append(
                {
                    "type": "panel",
                    "attrs": {"panelType": rng.choice(("info", "note"))},
                    "content": [_p(w.sentence(rng))],
                }
            )
        code = (
            f"svc restart {name} --wait {rng.randint(10, 90)}s"
            if k != leak
            else f"export VAULT_TOKEN={secret}\nsvc restart {name}"
        )
        nodes.append({"type": "codeBlock", "attrs": {"language": "bash"}, "content": [_text(code)]})
        place[f"code{k}"] = len(nodes) - 1
        link = f"https://grafana.example.org/d/{w.alnum(rng, 9)}" if k != alien else f"http://{host}/login"
        nodes.append(_p("See ", _text("dashboard", {"type": "link", "attrs": {"href": link}}), "."))
        place[f"link{k}"] = len(nodes) - 1
        tasks = [
            {
                "type": "taskItem",
                "attrs": {"localId": w.hexes(rng, 8), "state": "DONE"},
                "content": [_text(w.sentence(rng))],
            }
            for _ in range(2)
        ]
        if k == todo:
            tasks[1]["attrs"]["state"] = "TODO"
            tasks[1]["content"] = [_text(f"Rotate the expired key of {name} before the audit")]
        nodes.append({"type": "taskList", "attrs": {"localId": w.hexes(rng, 8)}, "content": tasks})
        place[f"task{k}"] = len(nodes) - 1
        special = {
            stop: {"type": "panel", "attrs": {"panelType": "error"}, "content": [_p(danger)]},
            strike: _p("Backups are ", _text("encrypted", {"type": "strike"}), " and kept for 30 days."),
            sum_: _p(f"Summary so far: the {false} runbooks above were all tested by the same team."),
            decided: {
                "type": "decisionList",
                "attrs": {"localId": "d1"},
                "content": [
                    {"type": "decisionItem", "attrs": {"state": "DECIDED"}, "content": [_text(choice)]}
                ],
            },
        }
        if k in special:
            nodes.append(special[k])
            place[f"own{k}"] = len(nodes) - 1
    n = Doc()
    base = "/body/atlas_doc_format/content"

    def at(what: str, k: int, mark: str, telling: list | str, *searches: str, **more: object) -> None:
        spot = [names[k]] + ([ids[k]] if k not in (twin, twin - 1) else [])
        n.at(what, f"{base}/{place[f'{mark}{k}']}", telling, spot, *searches, **more)  # type: ignore[arg-type]

    at(
        "rare value",
        stop,
        "own",
        "+Do not restart|+loses postings|panelType error",
        "Do not restart",
        '"error"',
    )
    at("rare status", down, "state", '+DOWN|red|^"DOWN"', '"DOWN"', "DOWN")
    n.gone(f"{base}/{place[f'head{bare}']}", "Rollback", [names[bare], ids[bare]], count)
    first, second = (f"{ids[twin]} {names[one]}" for one in (twin - 1, twin))
    evidence = (*w.same(ids[twin]), (names[twin - 1], names[twin], ids[twin]))
    n.say("duplicate", evidence, ids[twin], "RB-", pointer=f"{base}/{place[f'head{twin}']}", derived=True)
    assert first != second
    before, after = int(ids[hole - 1][3:]), int(ids[hole][3:])
    forms = [f"RB-{before}", f"RB-{after}", f"RB-{before + 1}"]
    evidence = (
        hop(before, after, [], "RB", "runbook")
        + hop(forms[0], forms[1], [])
        + w.pairs(forms, w.LEAP[:6])
        + (tuple(forms[:2]),)
    )
    n.say("gap", evidence, ids[hole], "RB-", pointer=f"{base}/{place[f'head{hole}']}", derived=True)
    at(
        "outlier",
        slow,
        "grid",
        f"+{hours} h",
        f"{hours} h",
        '/"\\d+ h"/',
        more=w.pairs([f"{hours} h", f"{hours}h"], ["Recovery", "recovery", "hour", "min"]),
    )
    at("rare status", todo, "task", "+TODO|+expired key|Rotate the", "TODO", "expired")
    at("secret", leak, "code", "+VAULT_TOKEN|token|credential", "VAULT_TOKEN", "export", hidden=secret)
    at(
        "change with meaning",
        strike,
        "own",
        "+strike|+struck|crossed out|+~~encrypted~~",
        "strike",
        "encrypted",
        more=w.pairs(["encrypted"], ["strike", "struck", "crossed", "~~"]),
    )
    at("rare value", alien, "link", f"+{host}|+http://|^http://{host}/login", host, "/login")
    at(
        "time jump",
        stale,
        "grid",
        f"+{year}|{year}-",
        str(year),
        "Last tested",
        more=w.pairs([year], ["Last tested", "tested", "old"]),
    )
    told = split(
        "no owner|empty owner|Owner empty|without an owner|without owner|Owner is empty|owner missing|"
        "missing owner|lacks an owner|Owner: ∅|unowned|Owner blank"
    )
    at(
        "missing field",
        none,
        "grid",
        told,
        "Owner",
        '"content":[]',
        derived=True,
        more=w.pairs(told, ["1", "one"]) + lost([names[none], ids[none]], ["Owner"]),
    )
    real = sum_ + 1
    evidence = clash(false, real, [names[sum_], "runbooks above"]) + w.pairs(
        [f"{false} runbooks"], [f"{real}", "above"]
    )
    n.say(
        "contradiction",
        evidence[:-1] + ((f"{false} runbooks", "really"), (f"{false} runbooks", "only")),
        f"{false} runbooks",
        "runbooks above",
        pointer=f"{base}/{place[f'own{sum_}']}",
        derived=True,
    )
    at(
        "rare value",
        decided,
        "own",
        "decision|+DECIDED|+without a standby|^decisionItem|^decisionList",
        "DECIDED",
        "standby",
    )
    n.tally(
        count,
        ["runbooks", "RB-", "level-2 headings", "sections", "services", "level 2", "tables", "codeBlock"],
        "RB-",
    )
    blocks = sum(one["type"] == "panel" for one in nodes)
    n.tally(blocks, ["panels", "panel"], "panelType")
    page = {
        "id": str(rng.randint(10**7, 10**8)),
        "type": "page",
        "title": "Runbooks",
        "spaceId": str(rng.randint(1000, 9999)),
        "version": {"number": rng.randint(20, 90), "authorId": w.hexes(rng, 24)},
        "body": {"atlas_doc_format": {"version": 1, "type": "doc", "content": nodes}},
    }
    return n.parts(json.dumps(page, separators=(",", ":")))


def _project(rng: random.Random, name: str, type_: str) -> dict:
    root = f"{'apps' if type_ == 'app' else 'libs'}/{name}"
    targets: dict = {
        "build": {
            "executor": "@nx/vite:build",
            "outputs": [f"dist/{root}"],
            "dependsOn": ["^build"],
            "options": {
                "outputPath": f"dist/{root}",
                "tsConfig": f"{root}/tsconfig.json",
                "maximumError": f"{rng.choice((1, 2, 3))}mb",
            },
            "cache": True,
        },
        "test": {
            "executor": "@nx/jest:jest",
            "outputs": [f"coverage/{root}"],
            "options": {"jestConfig": f"{root}/jest.config.ts"},
            "cache": True,
        },
        "lint": {
            "executor": "@nx/eslint:lint",
            "options": {"lintFilePatterns": [f"{root}/**/*.ts"], "maxWarnings": rng.choice((0, 5, 10))},
            "cache": True,
        },
    }
    if type_ == "app":
        targets["serve"] = {"executor": "@nx/vite:dev-server", "options": {"port": rng.randint(4200, 4900)}}
    if rng.random() < 0.2:
        targets["docs"] = {"executor": "@nx/js:tsc", "options": {"out": f"docs/{name}"}}
    tags = [f"scope:{rng.choice(('shop', 'admin', 'shared'))}", f"type:{type_}"]
    data = {
        "root": root,
        "name": name,
        "projectType": "application" if type_ == "app" else "library",
        "sourceRoot": f"{root}/src",
        "tags": tags,
        "implicitDependencies": [],
        "targets": targets,
    }
    return {"name": name, "type": type_, "data": data}


@kind("e_nx_graph", "nested")
def e_nx_graph(rng: random.Random) -> Parts:
    """The graph of a workspace's projects: a map of nodes and a map of edges."""
    count = rng.randint(78, 88)
    names = w.distinct(rng, count, lambda r: f"{r.choice(w.TEAMS)}-{r.choice(w.THINGS)}")
    apps = set(names[:9])
    nodes = {one: _project(rng, one, "app" if one in apps else "lib") for one in names}
    edges = {
        name: [
            {"source": name, "target": other, "type": "static"}
            for other in rng.sample(names[max(k + 1, 9) :], min(rng.randint(0, 6), count - max(k + 1, 9)))
        ]
        for k, name in enumerate(names)
    }
    order = names[:]
    rng.shuffle(order)
    nodes = {one: nodes[one] for one in order}
    edges = {one: edges[one] for one in order}
    libs = [one for one in order if one not in apps]
    spots = [libs[k] for k in w.spots(rng, len(libs), 14, apart=2)]
    bare, ring, ghost, skip, tag, leak, twin, cold, loud, empty, upward, star, fat, lazy = spots
    data = {one: nodes[one]["data"] for one in order}

    def options(name: str, target: str) -> dict:
        return data[name]["targets"][target]["options"]

    del data[bare]["targets"]["test"]
    other = (
        next(one for one in libs if one not in spots and not edges[one] and one != ring)
        if any(not edges[one] and one not in spots for one in libs)
        else libs[-1]
    )
    edges[ring] = [one for one in edges[ring] if one["target"] != other] + [
        {"source": ring, "target": other, "type": "static"}
    ]
    edges[other] = [one for one in edges[other] if one["target"] != ring] + [
        {"source": other, "target": ring, "type": "static"}
    ]
    phantom = f"{rng.choice(w.TOWNS).lower()}-{rng.choice(w.THINGS)}"
    edges[ghost].append({"source": ghost, "target": phantom, "type": "static"})
    data[skip]["targets"]["test"] |= {
        "executor": "nx:run-commands",
        "options": {"command": "echo skipped && exit 0"},
    }
    word = f"scope:legacy-{rng.choice(w.THINGS)}"
    data[tag]["tags"][0] = word
    secret = w.alnum(rng, 26)
    options(leak, "build")["env"] = {"REGISTRY_TOKEN": secret}
    shared = data[libs[libs.index(twin) - 1]]["root"]
    data[twin]["root"] = shared
    data[cold]["targets"]["build"]["cache"] = False
    warnings, big = rng.randint(6_000, 9_900), f"{rng.randint(60, 95)}mb"
    options(loud, "lint")["maxWarnings"] = warnings
    options(empty, "test")["passWithNoTests"] = True
    app = rng.choice(names[:9])
    edges[upward].append({"source": upward, "target": app, "type": "static"})
    data[star]["implicitDependencies"] = ["*"]
    options(fat, "build")["maximumError"] = big
    target = next(one for one in names[::-1] if one not in spots and one != lazy)
    edges[lazy] = [one for one in edges[lazy] if one["target"] != target] + [
        {"source": lazy, "target": target, "type": "dynamic"}
    ]
    n = Doc()
    base, links = "/graph/nodes", "/graph/dependencies"

    def at(what: str, name: str, path: str, telling: list | str, *searches: str, **more: object) -> None:
        n.at(what, f"{base}/{name}/data/{path}", telling, [name], *searches, **more)  # type: ignore[arg-type]

    told = split(
        'no "test"|no test|without test|without a test|test missing|missing test|lacks test|'
        "lacks a test|no `test`|test is missing|no targets.test"
    )
    evidence = (
        w.pairs(told, [bare, "1 project", "one project"])
        + tuple((bare, "test", one) for one in ("missing", "lacks", "absent", "without"))
        + w.pairs(
            ["test", "jest"],
            split(
                f"{count - 1} of {count}|1 missing|missing: 1|{count - 1}/{count}|missing in 1|all but 1|1 without"
            ),
        )
    )
    n.say("missing section", evidence, bare, "test", pointer=f"{base}/{bare}/data/targets", derived=True)
    evidence = w.pairs(
        ["circular", "cycle", "cyclic", "each other", "mutual", "both directions"], [ring, other]
    )
    n.say("contradiction", evidence, f'"{ring}"', f'"{other}"', pointer=f"{links}/{ring}", derived=True)
    k = len(edges[ghost]) - 1
    n.at(
        "contradiction",
        f"{links}/{ghost}/{k}/target",
        f"+{phantom}",
        [
            ghost,
            "unknown",
            "no such",
            "not a node",
            "not in nodes",
            "missing",
            "does not exist",
            "nonexist",
            "undefined",
            "dangling",
        ],
        phantom,
        ghost,
    )
    at(
        "changed field",
        skip,
        "targets/test/executor",
        "+run-commands|+echo skipped|exit 0|skipped|^nx:run-commands",
        "run-commands",
        "exit 0",
    )
    at("rare value", tag, "tags/0", f"+{word}|legacy", "legacy", word)
    at(
        "secret",
        leak,
        "targets/build/options/env",
        "+REGISTRY_TOKEN|token|credential",
        "TOKEN",
        "env",
        hidden=secret,
    )
    evidence = (*w.same(shared), (twin, shared), (twin, libs[libs.index(twin) - 1], "root"))
    n.say("duplicate", evidence, f'"{shared}"', twin, pointer=f"{base}/{twin}/data/root", derived=True)
    told = split(
        'cache false|cache: false|"cache": false|not cached|cache=false|cache is false|cache off|'
        'uncached|"cache":false'
    )
    at(
        "rare value",
        cold,
        "targets/build/cache",
        told,
        '"cache": false',
        "cache",
        more=w.pairs(
            ["cache"],
            split("false: 1|false 1|false (1|false ×1|1 false|false × 1|false=1|1 × false|1× false"),
        ),
        alone=["cache: false", "cache false", "cache=false"],
    )
    at(
        "outlier",
        loud,
        "targets/lint/options/maxWarnings",
        f"+{warnings}",
        str(warnings),
        "maxWarnings",
        more=w.pairs(["maxWarnings"], [warnings]),
    )
    at(
        "rare value",
        empty,
        "targets/test/options/passWithNoTests",
        "+passWithNoTests",
        "passWithNoTests",
        "NoTests",
    )
    k = len(edges[upward]) - 1
    told = split(
        "depends on the app|lib depends on app|depends on an app|depends on app|lib to app|lib → app|"
        f"library depends on|→ {app}|target {app}|boundary"
    )
    n.at(
        "contradiction",
        f"{links}/{upward}/{k}/target",
        [*told, app],
        [upward],
        f'"target": "{app}"',
        app,
        more=w.pairs(told[:7], [app, "1", "one"]),
        derived=True,
    )
    at(
        "rare value",
        star,
        "implicitDependencies/0",
        '"*"|`*`|[*]|implicitDependencies *|implicitDependencies: *|+wildcard|all projects|'
        'implicitDependencies|^implicitDependencies: "*',
        '"*"',
        "implicitDependencies",
    )
    at(
        "outlier",
        fat,
        "targets/build/options/maximumError",
        f"+{big}|{big[:-2]} MB",
        big,
        "maximumError",
        more=w.pairs(["maximumError"], [big]),
    )
    n.at(
        "rare value",
        f"{links}/{lazy}/{len(edges[lazy]) - 1}/type",
        '+dynamic|^"dynamic"',
        [lazy, target],
        '"dynamic"',
        "dynamic",
    )
    n.tally(count, ["projects", "nodes", "keys", "entries", "project"], "projectType")
    total = sum(len(one) for one in edges.values())
    n.tally(total, ["edges", "dependencies", "links", "source", "items in dependencies"], '"source"')
    return n.parts(json.dumps({"graph": {"nodes": nodes, "dependencies": edges}}, indent=2))
