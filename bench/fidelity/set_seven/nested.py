"""Deep documents: pages with typed properties, and one event with its stacks and its crumbs."""

# ruff: noqa: SIM905, S608

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Notes
from bench.fidelity.planted import Parts, kind

from . import nested_more  # noqa: F401
from .tools import pause, rare


def _leaf(word: str) -> str:
    """Ask for the places of a value."""
    return f"SELECT path, value FROM leaf WHERE value LIKE {w.quoted(f'%{word}%')}"


@kind("z_notion_query", "nested")
def z_notion_query(rng: random.Random) -> Parts:
    """The pages of a database of tasks as Notion's API answers a query."""
    size = rng.randint(66, 72)
    base_id, people = w.uuid(rng), w.people(rng, 7)
    users = [
        {
            "object": "user",
            "id": w.uuid(rng),
            "name": one,
            "avatar_url": None,
            "type": "person",
            "person": {"email": f"{w.login(one)}@example.org"},
        }
        for one in people
    ]
    options = {
        name: {"id": w.alnum(rng, 4), "name": name, "color": color}
        for name, color in (
            ("Not started", "default"),
            ("In progress", "blue"),
            ("In review", "yellow"),
            ("Done", "green"),
            ("Blocked", "red"),
            ("High", "orange"),
            ("Medium", "yellow"),
            ("Low", "gray"),
            ("Critical", "red"),
        )
    }
    tags = [{"id": w.uuid(rng), "name": one, "color": "gray"} for one in rng.sample(w.TEAMS, 9)]
    sprints = [{"id": w.alnum(rng, 4), "name": f"Sprint {k}", "color": "blue"} for k in range(31, 35)]
    prop = {
        name: w.alnum(rng, 4) for name in "Status Priority Assignee Due Estimate Sprint Tags Notes".split()
    }
    plain = dict.fromkeys(("bold", "italic", "strikethrough", "underline", "code"), False) | {
        "color": "default"
    }

    def rich(text: str) -> list[dict]:
        return [
            {
                "type": "text",
                "text": {"content": text, "link": None},
                "annotations": plain,
                "plain_text": text,
                "href": None,
            }
        ]

    titles = w.distinct(rng, size, w.heading)
    start = datetime(2025, rng.randint(2, 8), rng.randint(2, 25), 9, tzinfo=UTC)
    items: list[dict] = []
    for title in titles:
        ident = w.uuid(rng)
        made = start + timedelta(minutes=rng.randint(0, 40_000))
        edited = made + timedelta(minutes=rng.randint(60, 30_000))
        due = made + timedelta(days=rng.randint(10, 40))
        end = due + timedelta(days=rng.randint(2, 9))
        who = rng.choice(users)
        status = w.pick(rng, {"Not started": 25, "In progress": 30, "In review": 10, "Done": 35})
        slug = title.replace(" ", "-")
        items.append(
            {
                "object": "page",
                "id": ident,
                "created_time": f"{made:%Y-%m-%dT%H:%M}:00.000Z",
                "last_edited_time": f"{edited:%Y-%m-%dT%H:%M}:00.000Z",
                "created_by": {"object": "user", "id": rng.choice(users)["id"]},
                "last_edited_by": {"object": "user", "id": who["id"]},
                "cover": None,
                "icon": None,
                "parent": {"type": "database_id", "database_id": base_id},
                "archived": False,
                "in_trash": False,
                "properties": {
                    "Status": {"id": prop["Status"], "type": "status", "status": options[status]},
                    "Priority": {
                        "id": prop["Priority"],
                        "type": "select",
                        "select": options[w.pick(rng, {"High": 2, "Medium": 4, "Low": 3})],
                    },
                    "Assignee": {"id": prop["Assignee"], "type": "people", "people": [who]},
                    "Due": {
                        "id": prop["Due"],
                        "type": "date",
                        "date": {"start": f"{due:%Y-%m-%d}", "end": f"{end:%Y-%m-%d}", "time_zone": None},
                    },
                    "Estimate": {
                        "id": prop["Estimate"],
                        "type": "number",
                        "number": rng.choice((1, 2, 3, 5, 8, 13)),
                    },
                    "Sprint": {"id": prop["Sprint"], "type": "select", "select": rng.choice(sprints)},
                    "Tags": {"id": prop["Tags"], "type": "multi_select", "multi_select": rng.sample(tags, 2)},
                    "Notes": {"id": prop["Notes"], "type": "rich_text", "rich_text": rich(w.sentence(rng))},
                    "Name": {"id": "title", "type": "title", "title": rich(title)},
                },
                "url": f"https://www.notion.so/{slug}-{ident.replace('-', '')}",
                "public_url": None,
            }
        )
    spots = w.spots(rng, size, 13, apart=3)
    stop, hot, huge, turned, far, alone, twin, bin_, open_, leak, alien, guest, bare = spots
    at = [one["properties"] for one in items]
    at[stop]["Status"]["status"] = options["Blocked"]
    at[hot]["Priority"]["select"] = options["Critical"]
    estimate = rng.randint(310, 890)
    at[huge]["Estimate"]["number"] = estimate
    due = at[turned]["Due"]["date"]
    before = f"{datetime.fromisoformat(due['start']) - timedelta(days=rng.randint(15, 60)):%Y-%m-%d}"
    at[turned]["Due"]["date"] = {**due, "end": before}
    year = rng.randint(2041, 2072)
    late = f"{year}-0{rng.randint(1, 9)}-1{rng.randint(0, 5)}"
    at[far]["Due"]["date"] = {"start": late, "end": f"{late[:8]}2{late[-1]}", "time_zone": None}
    at[alone]["Assignee"]["people"] = []
    other = twin - 1 if twin - 1 not in spots else twin - 2
    at[twin]["Name"] = at[other]["Name"]
    slug = items[other]["url"].rsplit("-", 1)[0]
    items[twin]["url"] = f"{slug}-{items[twin]['id'].replace('-', '')}"
    items[bin_]["in_trash"] = items[bin_]["archived"] = True
    public = f"https://acme.notion.site/{titles[open_].replace(' ', '-')}"
    items[open_]["public_url"] = public
    secret = f"ghp_{w.alnum(rng, 36)}"
    at[leak]["Notes"]["rich_text"] = rich(f"Use the token {secret} to clone until the robot account is there")
    elsewhere = w.uuid(rng)
    items[alien]["parent"]["database_id"] = elsewhere
    mail = f"{rng.choice(w.GIVEN).lower()}{rng.randint(70, 99)}@mailbox.example"
    at[guest]["Assignee"]["people"] = [
        {**users[0], "id": w.uuid(rng), "name": "Guest", "person": {"email": mail}}
    ]
    del at[bare]["Sprint"]
    names = [[one["id"], title] for one, title in zip(items, titles, strict=True)]
    for k in (twin, other):
        names[k] = [items[k]["id"]]
    n = Items("/results", names)

    def one(
        what: str,
        k: int,
        telling: list,
        path: str,
        *searches: str,
        alone: tuple = (),
        hidden: str = "",
        sql: str = "",
    ) -> None:
        evidence = w.known(telling, n.names[k], n.base, k) + rare(*alone)
        n.say(what, evidence, *searches, pointer=f"/results/{k}{path}", hidden=hidden, sql=sql)

    def get(what: str, where: str) -> str:
        return f"SELECT id, {what} FROM t WHERE {where}"

    def by(column: str) -> str:
        return f"SELECT {column}, count(*) AS k, min(id) FROM t GROUP BY 1 ORDER BY 2"

    one(
        "rare status",
        stop,
        ["Blocked"],
        "/properties/Status",
        "Blocked",
        "Status",
        alone=("Blocked",),
        sql=by("properties.Status.status.name"),
    )
    one(
        "rare value",
        hot,
        ["Critical"],
        "/properties/Priority",
        "Critical",
        "Priority",
        alone=("Critical",),
        sql=by("properties.Priority.select.name"),
    )
    asked = "SELECT id, properties.Estimate.number AS estimate FROM t ORDER BY 2 DESC LIMIT 2"
    n.say(
        "outlier",
        (*w.known([estimate], n.names[huge], n.base, huge), *w.pairs(["Estimate"], [estimate])),
        "Estimate",
        str(estimate),
        pointer=f"/results/{huge}/properties/Estimate/number",
        sql=asked,
    )
    told = [
        before,
        "end before start",
        "ends before",
        "before its start",
        "before the start",
        "end < start",
        "end earlier",
    ]
    asked = get(
        "properties.Due.date.start, properties.Due.date.end",
        "properties.Due.date.end < properties.Due.date.start",
    )
    one("contradiction", turned, told, "/properties/Due/date", before, "Due", sql=asked)
    asked = "SELECT id, properties.Due.date.start FROM t ORDER BY 2 DESC LIMIT 2"
    one(
        "time jump",
        far,
        [late, late[:7], year],
        "/properties/Due/date/start",
        late,
        "/20[4-7]\\d-/",
        alone=(late,),
        sql=asked,
    )
    places = [
        *n.names[alone],
        f"/results/{alone}",
        f"#{alone}",
        f"item {alone}",
        f"row {alone}",
        f"[{alone}]",
    ]
    more = ["unassigned", "nobody", "people []", "people: []", "0 people", "no people"]
    n.say(
        "missing field",
        (
            *w.gone(places, "Assignee", "people"),
            *w.pairs(more, places),
            *w.pairs(["Assignee", "people"], ["1 empty", "empty: 1", "1 without", "[] 1", "empty in 1"]),
        ),
        '"people": []',
        "Assignee",
        pointer=f"/results/{alone}/properties/Assignee/people",
        sql=get("properties.Assignee.people", "properties.Assignee.people = '[]'"),
        derived=True,
    )
    title = titles[other]
    n.say(
        "duplicate",
        (
            *w.same(title),
            (items[twin]["id"], items[other]["id"]),
            (f"/results/{twin}", f"/results/{other}"),
            (f"#{twin}", f"#{other}", "title"),
        ),
        title,
        "plain_text",
        pointer=f"/results/{twin}/properties/Name",
        sql="SELECT value, count(*) AS duplicates FROM leaf WHERE path LIKE '%Name%plain_text' GROUP BY 1 HAVING duplicates > 1",
        derived=True,
    )
    told = ["in_trash", "archived", "trash", "trashed", "in trash", "deleted"]
    one(
        "rare status",
        bin_,
        told,
        "/in_trash",
        "in_trash",
        "true",
        alone=("true", "in_trash true", "in_trash: true", "archived: true", "in_trash=true"),
        sql=get("in_trash", "in_trash"),
    )
    told = [public, "public_url", "published", "acme.notion.site", "public"]
    one(
        "rare value",
        open_,
        told,
        "/public_url",
        "notion.site",
        "public_url",
        alone=("notion.site", public),
        sql=get("public_url", "public_url IS NOT NULL"),
    )
    told = ["token", "Use the token", "ghp_", "Notes"]
    one(
        "secret",
        leak,
        told,
        "/properties/Notes",
        "token",
        "ghp_",
        alone=("ghp_", "GitHub token"),
        hidden=secret,
        sql="SELECT path, 'token' AS note FROM leaf WHERE value LIKE '%ghp_%'",
    )
    one(
        "outlier",
        alien,
        [
            elsewhere,
            elsewhere[:13],
            "database_id",
            "other database",
            "another database",
            "different database",
        ],
        "/parent/database_id",
        "database_id",
        elsewhere,
        alone=(elsewhere,),
        sql=by("parent.database_id"),
    )
    one(
        "outlier",
        guest,
        [mail, "mailbox.example", "Guest"],
        "/properties/Assignee/people/0",
        "mailbox.example",
        "Guest",
        alone=(mail, "mailbox.example", "Guest"),
        sql=_leaf("mailbox.example"),
    )
    places = [*n.names[bare], f"/results/{bare}", f"#{bare}", f"item {bare}", f"row {bare}", f"[{bare}]"]
    n.say(
        "missing field",
        (
            *w.gone(places, "Sprint"),
            *w.pairs(
                ["Sprint"],
                [
                    f"{size - 1} of {size}",
                    "1 missing",
                    "missing: 1",
                    "1 without",
                    "missing in 1",
                    "all but 1",
                    "all but one",
                ],
            ),
        ),
        "Sprint",
        pointer=f"/results/{bare}/properties",
        sql=get("properties.Sprint.id AS Sprint", "properties.Sprint.id IS NULL"),
        derived=True,
    )
    states = Counter(one["Status"]["status"]["name"] for one in at)
    n.tally(states["Done"], ["Done"], "Done", "Status", sql=by("properties.Status.status.name"))
    n.tally(
        states["In progress"],
        ["In progress"],
        "In progress",
        "Status",
        sql=by("properties.Status.status.name"),
    )
    n.tally(
        size,
        ["results", "pages", "items", "rows", "records", "tasks"],
        "results",
        sql="SELECT count(*) AS pages FROM t",
    )
    body = {
        "object": "list",
        "results": items,
        "next_cursor": w.uuid(rng),
        "has_more": True,
        "type": "page_or_database",
        "page_or_database": {},
        "request_id": w.uuid(rng),
    }
    return n.parts(json.dumps(body, indent=1))


LIBRARIES = {
    "django/core/handlers/base.py": "_get_response get_response resolve_request",
    "django/db/models/query.py": "_fetch_all __iter__ get count update",
    "django/db/backends/utils.py": "execute _execute _execute_with_wrappers",
    "celery/app/trace.py": "trace_task __protected_call__",
    "redis/client.py": "execute_command parse_response",
    "urllib3/connectionpool.py": "urlopen _make_request",
    "requests/sessions.py": "request send",
    "sentry_sdk/integrations/django/middleware.py": "__call__ call",
}


@kind("z_sentry_event", "nested")
def z_sentry_event(rng: random.Random) -> Parts:
    """One event of Sentry with its chained exceptions, breadcrumbs, request, contexts and tags."""
    n = Notes()
    app = rng.choice(w.TEAMS)
    when = datetime(
        2025, rng.randint(2, 9), rng.randint(3, 26), rng.randint(8, 18), rng.randint(2, 50), tzinfo=UTC
    )
    counts = [rng.randint(27, 33) for _ in range(3)]
    functions = w.distinct(rng, 60, lambda r: f"{r.choice(w.DOING)}_{r.choice(w.PLAIN)}_{r.choice(w.THINGS)}")
    values = []
    root = (
        rng.choice(("SerializationFailure", "DeadlockDetected", "LockNotAvailable")),
        f'canceling statement on relation "{rng.choice(w.THINGS)}_{rng.choice(w.THINGS)}" after {rng.randint(3, 9)} tries',
    )
    middle = ("OperationalError", f"the {rng.choice(w.TEAMS)} store did not answer")
    last = (
        w.camel(app, rng.choice(("Sync", "Export", "Import")), "Error"),
        f"could not finish batch {rng.randint(1000, 9999)}",
    )
    raised = rng.randint(14, 20)
    frames_all = 0
    for e, (type_, value) in enumerate((root, middle, last)):
        frames = []
        for f in range(counts[e]):
            own = f % 5 == 3 or (e == 0 and f == raised)
            if own:
                module = f"{app}.{rng.choice(w.THINGS)}.{rng.choice(w.THINGS)}"
                file, fn = module.replace(".", "/") + ".py", functions.pop()
            else:
                file = rng.choice(list(LIBRARIES))
                module, fn = file[:-3].replace("/", "."), rng.choice(LIBRARIES[file].split())
            line = rng.randint(30, 900)
            code = [
                f"{rng.choice(w.THINGS)} = {rng.choice(w.DOING)}({rng.choice(w.THINGS)}, {rng.choice(w.THINGS)}=None)"
                for _ in range(5)
            ]
            keep = rng.sample(w.THINGS, 3)
            frames.append(
                {
                    "filename": file,
                    "absPath": f"/srv/{app}/{'src' if own else 'lib/python3.12/site-packages'}/{file}",
                    "module": module,
                    "package": None,
                    "platform": None,
                    "instructionAddr": None,
                    "symbolAddr": None,
                    "function": fn,
                    "rawFunction": None,
                    "symbol": None,
                    "context": [[line - 2 + k, f"        {one}"] for k, one in enumerate(code)],
                    "lineNo": line,
                    "colNo": None,
                    "trust": None,
                    "inApp": own,
                    "lock": None,
                    "sourceLink": None,
                    "vars": {
                        keep[0]: f"<{w.camel(keep[0])} object at 0x7f{w.hexes(rng, 10)}>",
                        keep[1]: str(rng.randint(1, 400)),
                        keep[2]: f"'{rng.choice(w.PLAIN)}'",
                    },
                }
            )
        frames_all += len(frames)
        values.append(
            {
                "type": type_,
                "value": value,
                "mechanism": {
                    "type": "chained" if e < 2 else "celery",
                    "handled": e < 2,
                    "exception_id": 2 - e,
                },
                "threadId": None,
                "module": ("psycopg.errors", "django.db.utils", f"{app}.errors")[e],
                "stacktrace": {
                    "frames": frames,
                    "framesOmitted": None,
                    "registers": None,
                    "hasSystemFrames": True,
                },
                "rawStacktrace": None,
            }
        )
    guilty = values[0]["stacktrace"]["frames"][raised]
    for one in values[0]["stacktrace"]["frames"][raised + 1 :]:
        one["inApp"] = False
    secret = w.alnum(rng, 18)
    leak_e, leak_f = 1, rng.randint(8, 22)
    held = values[leak_e]["stacktrace"]["frames"][leak_f]
    held["vars"]["db_password"] = f"'{secret}'"
    for e in (0, 2):
        for f in rng.sample(range(4, 20), 3):
            values[e]["stacktrace"]["frames"][f]["vars"]["password"] = "[Filtered]"
    crumbs: list[dict] = []
    size = rng.randint(150, 165)
    moment = when - timedelta(seconds=900)
    tables = w.distinct(rng, 40, lambda r: f"{app}_{r.choice(w.PLAIN)}_{r.choice(w.THINGS)}")
    loop = f'SELECT "{app}_rate"."id", "{app}_rate"."value" FROM "{app}_rate" WHERE "{app}_rate"."parent_id" = %s'
    spots = w.spots(rng, size, 4, apart=9, low=0.12, high=0.58)
    fault, refused, gap, slow = spots
    stride = timedelta(seconds=rng.randint(430, 590))
    repeats = rng.randint(37, 46)
    slowest = rng.randint(21_000, 58_000)
    host = f"{rng.choice(w.TEAMS)}.internal.example"
    for k in range(size):
        earlier = moment
        moment += timedelta(milliseconds=rng.randint(40, 1500))
        if k == gap:
            moment = earlier + stride
            ends = (earlier, moment)
        what = rng.choice(("query", "query", "httplib", "redis", "log"))
        what = {slow: "query", refused: "httplib", fault: "log"}.get(k, what)
        crumb = {
            "type": "default",
            "timestamp": "",
            "level": "info",
            "message": None,
            "category": what,
            "data": None,
            "event_id": None,
        }
        if k >= int(size * 0.64) and k < int(size * 0.64) + repeats:
            crumb.update(category="query", message=loop, data={"duration_ms": rng.randint(2, 9)})
        elif what == "query":
            crumb.update(
                category="query",
                message=f'UPDATE "{rng.choice(tables)}" SET "{rng.choice(w.THINGS)}" = %s WHERE "id" = %s',
                data={"duration_ms": slowest if k == slow else rng.randint(2, 90)},
            )
        elif what == "httplib":
            status = 503 if k == refused else 200
            path = f"/v2/{rng.choice(w.THINGS)}/{rng.randint(1000, 99_999)}"
            crumb.update(
                type="http",
                category="httplib",
                data={
                    "http.method": "GET",
                    "url": f"https://{host}{path}",
                    "status_code": status,
                    "reason": "Service Unavailable" if k == refused else "OK",
                },
            )
        elif what == "redis":
            crumb.update(
                message=f"GET '{app}:{rng.choice(w.THINGS)}:{rng.randint(100, 999)}'",
                data={"redis.command": "GET", "redis.is_cluster": False},
            )
        else:
            crumb.update(message=w.sentence(rng))
        if k == fault:
            crumb.update(
                type="default",
                category="log",
                level="error",
                data=None,
                message=f"connection pool exhausted, {rng.randint(21, 48)} callers are waiting",
            )
        crumb["timestamp"] = f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"
        crumbs.append(crumb)
    when = moment + timedelta(milliseconds=40)
    received = when + timedelta(hours=rng.randint(26, 70), minutes=rng.randint(1, 50))
    major = rng.randint(3, 9)
    release, tagged = f"{app}@{major}.14.2", f"{app}@{major - 1}.2.{rng.randint(1, 9)}"
    mail = f"{rng.choice(w.GIVEN).lower()}@customer-{rng.randint(11, 99)}.example"
    flags = [{"flag": f"{one}-{rng.choice(w.PLAIN)}", "result": False} for one in rng.sample(w.TEAMS, 38)]
    lit = rng.randint(8, 30)
    flags[lit]["result"] = True
    ident = w.hexes(rng, 32)
    headers = [
        ["Accept", "*/*"],
        ["Authorization", "[Filtered]"],
        ["Content-Type", "application/json"],
        ["Host", f"{app}.example.org"],
        ["User-Agent", "python-httpx/0.27.0"],
        ["X-Request-Id", w.uuid(rng)],
    ]
    packages = {
        f"{one}-{rng.choice(w.PLAIN)}": f"{rng.randint(0, 9)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}"
        for one in rng.sample(w.THINGS, 130)
    }
    skewed = f"tags.{rng.choice(w.THINGS)}_ref"
    tags = {
        "browser": "",
        "environment": "production",
        "handled": "no",
        "level": "fatal",
        "mechanism": "celery",
        "release": tagged,
        "runtime": "CPython 3.12.4",
        "server_name": f"{app}-worker-{rng.randint(2, 9)}",
    }
    body = {
        "id": ident,
        "groupID": str(rng.randint(5_000_000_000, 6_999_999_999)),
        "eventID": ident,
        "projectID": str(rng.randint(1_000_000, 4_999_999)),
        "size": rng.randint(90_000, 140_000),
        "entries": [
            {"data": {"values": crumbs}, "type": "breadcrumbs"},
            {"data": {"values": values, "hasSystemFrames": True, "excOmitted": None}, "type": "exception"},
            {
                "data": {
                    "method": "POST",
                    "url": f"https://{app}.example.org/tasks",
                    "query": [],
                    "fragment": None,
                    "data": None,
                    "headers": headers,
                    "cookies": [],
                    "env": None,
                    "inferredContentType": "application/json",
                },
                "type": "request",
            },
        ],
        "dist": None,
        "message": "",
        "title": f"{last[0]}: {last[1]}",
        "location": f"{app}/errors.py",
        "user": {
            "id": str(rng.randint(1000, 99_999)),
            "email": mail,
            "username": None,
            "ip_address": "10.4.0.9",
            "geo": None,
        },
        "contexts": {
            "celery-job": {"task_name": f"{app}.tasks.run", "args": [], "kwargs": {}, "type": "default"},
            "runtime": {
                "name": "CPython",
                "version": "3.12.4",
                "build": "3.12.4 (main, Jun 12 2024, 19:06:53) [GCC 12.2.0]",
                "type": "runtime",
            },
            "flags": {"values": flags, "type": "flags"},
            "trace": {
                "trace_id": w.hexes(rng, 32),
                "span_id": w.hexes(rng, 16),
                "op": "queue.task.celery",
                "status": "internal_error",
                "type": "trace",
            },
        },
        "errors": [
            {
                "type": "clock_drift" if rng.random() < 0.5 else "value_too_long",
                "message": "Discarded value",
                "data": {"name": skewed, "reason": "exceeded maximum length"},
            }
        ],
        "tags": [{"key": key, "value": value} for key, value in tags.items() if value],
        "platform": "python",
        "type": "error",
        "metadata": {
            "type": last[0],
            "value": last[1],
            "filename": f"{app}/errors.py",
            "in_app_frame_mix": "mixed",
        },
        "dateCreated": f"{when:%Y-%m-%dT%H:%M:%S}Z",
        "dateReceived": f"{received:%Y-%m-%dT%H:%M:%S}Z",
        "release": {
            "version": release,
            "shortVersion": release,
            "ref": None,
            "dateCreated": f"{when - timedelta(days=9):%Y-%m-%d}T08:00:00Z",
            "newGroups": rng.randint(1, 9),
        },
        "packages": packages,
        "sdk": {"name": "sentry.python.django", "version": "2.11.0"},
        "occurrence": None,
        "nextEventID": None,
        "previousEventID": w.hexes(rng, 32),
    }
    body["errors"][0]["type"] = "value_too_long"
    crumb_at, frame_at = "/entries/0/data/values", "/entries/1/data/values/{}/stacktrace/frames/{}".format

    def crumb(
        what: str, k: int, telling: list, path: str, *searches: str, alone: tuple = (), sql: str = ""
    ) -> None:
        stamp = crumbs[k]["timestamp"]
        evidence = w.known(telling, [stamp, stamp[11:19], stamp[11:23]], crumb_at, k) + rare(*alone)
        n.say(what, evidence, *searches, pointer=f"{crumb_at}/{k}{path}", sql=sql or _leaf(searches[0]))

    n.say(
        "error",
        (
            *w.pairs(
                [root[0]],
                [root[1], root[1][:30], "psycopg.errors", "/values/0", "cause", "root", "first", "chained"],
            ),
            (root[1],),
            (root[1][:34], "tries"),
        ),
        root[0],
        "canceling",
        pointer="/entries/1/data/values/0/type",
        sql=_leaf("canceling statement"),
    )
    spot = frame_at(0, raised)
    n.say(
        "error",
        (
            *w.pairs(
                [guilty["function"]],
                [guilty["lineNo"], guilty["filename"], spot, "in app", "inApp", "raised", "frame"],
            ),
            (guilty["filename"], str(guilty["lineNo"])),
        ),
        guilty["function"],
        "inApp",
        pointer=f"{spot}/function",
        sql=_leaf(guilty["function"]),
    )
    crumb(
        "error",
        fault,
        ["pool exhausted", "level error", "callers are waiting", "level: error"],
        "/message",
        "exhausted",
        "error",
        alone=("pool exhausted", "connection pool exhausted", "error"),
    )
    crumb(
        "error",
        refused,
        ["503", "Service Unavailable"],
        "/data/status_code",
        "Service Unavailable",
        "503",
        alone=("503", "Service Unavailable"),
    )
    n.say(
        "time jump",
        (*pause(*ends, f"{crumb_at}/{gap}", f"#{gap}", f"item {gap}", f"{gap - 1} and {gap}"),),
        f"{ends[1]:%H:%M:%S}",
        f"{ends[0]:%H:%M:%S}",
        pointer=f"{crumb_at}/{gap}/timestamp",
        sql=f"SELECT path, value FROM leaf WHERE value LIKE '{ends[0]:%Y-%m-%dT%H:%M:%S}%' OR value LIKE '{ends[1]:%Y-%m-%dT%H:%M:%S}%'",
        derived=True,
    )
    crumb(
        "outlier",
        slow,
        [slowest, f"{slowest / 1000:.1f} s", f"{slowest / 1000:.0f} s"],
        "/data/duration_ms",
        str(slowest),
        "duration_ms",
        alone=(slowest,),
        sql=_leaf(str(slowest)),
    )
    forms = [f"{app}_rate", loop[:40]]
    n.say(
        "duplicate",
        (
            *w.pairs(
                forms, [repeats, f"{repeats} times", f"×{repeats}", "repeated", "N+1", f"×\u00a0{repeats}"]
            ),
            *w.count(repeats, loop),
        ),
        f"{app}_rate",
        "query",
        pointer=f"{crumb_at}/{int(size * 0.64)}/message",
        sql="SELECT value, count(*) AS times FROM leaf WHERE path LIKE '%/message' GROUP BY 1 ORDER BY 2 DESC LIMIT 2",
        derived=True,
    )
    told = ["db_password"]
    spot = frame_at(leak_e, leak_f)
    n.say(
        "secret",
        (
            *w.pairs(
                told,
                [
                    spot,
                    held["function"],
                    held["filename"],
                    "vars",
                    "frame",
                    "secret",
                    "hidden",
                    "redact",
                    "mask",
                    "not filtered",
                    "unfiltered",
                    "plain",
                ],
            ),
            *rare("db_password"),
        ),
        "db_password",
        "password",
        pointer=f"{spot}/vars/db_password",
        hidden=secret,
        sql="SELECT path, 'vars' AS place FROM leaf WHERE path LIKE '%db_password%'",
    )
    n.say(
        "error",
        (
            *w.pairs(
                [skewed, "value_too_long", "Discarded value", "exceeded maximum"],
                ["errors", "/errors/0", "exceeded", "value_too_long", "Discarded", skewed, "processing"],
            ),
        ),
        "value_too_long",
        "Discarded",
        pointer="/errors/0/type",
        sql=_leaf("Discarded"),
    )
    n.say(
        "contradiction",
        (
            *w.pairs([release, release.split("@")[1]], [tagged, tagged.split("@")[1]]),
            (tagged, "release"),
            (tagged, "tag"),
        ),
        "release",
        tagged,
        pointer="/release/version",
        sql=_leaf(f"{app}@"),
    )
    hours = round((received - when).total_seconds() / 3600, 1)
    n.say(
        "time jump",
        (
            (body["dateCreated"], body["dateReceived"]),
            (body["dateCreated"][:10], body["dateReceived"][:10], "dateReceived"),
            *w.pairs(
                [
                    f"{hours} h",
                    f"{hours:.0f} h",
                    f"{int(hours)} h",
                    f"{hours:.0f} hours",
                    f"{int(hours)} hours",
                    "days later",
                    "day later",
                ],
                ["dateReceived", "received"],
            ),
        ),
        "dateReceived",
        "dateCreated",
        pointer="/dateReceived",
        sql="SELECT path, value FROM leaf WHERE path IN ('/dateReceived', '/dateCreated', 'dateReceived', 'dateCreated')",
    )
    name = flags[lit]["flag"]
    n.say(
        "rare value",
        (
            *w.known([name], ["true", "enabled", "on ", "only"], "/contexts/flags/values", lit),
            *rare("true"),
            ("flags", "1 true"),
        ),
        name,
        "true",
        pointer=f"/contexts/flags/values/{lit}/result",
        sql=_leaf(name),
    )
    n.say(
        "rare value",
        (
            ("fatal", "level"),
            ("handled", '"no"'),
            ("handled: no",),
            ("handled=no",),
            ("handled", "no", "unhandled"),
            ("unhandled", "level"),
            ("level fatal",),
        ),
        "fatal",
        "handled",
        pointer="/tags/2/value",
        sql="SELECT path, value FROM leaf WHERE path LIKE '%tags/%'",
    )
    n.say(
        "rare value",
        w.pairs([mail, body["user"]["id"]], ["user", "email", "/user"]),
        "email",
        mail,
        pointer="/user/email",
        sql=_leaf(mail),
    )
    n.tally(
        size,
        ["breadcrumbs", "crumbs", "entries/0/data/values", "/entries/0/data/values", "timestamp"],
        "breadcrumbs",
        "timestamp",
        sql="SELECT count(*) AS breadcrumbs FROM leaf WHERE path LIKE '%/timestamp'",
    )
    n.say(
        "count",
        w.count(frames_all, "frames", "stack frames", "lineNo", "absPath")
        + (tuple(["frames", *dict.fromkeys(map(str, counts))]),),
        "absPath",
        "frames",
        sql="SELECT count(*) AS frames FROM leaf WHERE path LIKE '%/lineNo'",
        derived=True,
    )
    return n.parts(json.dumps(body, indent=1))
