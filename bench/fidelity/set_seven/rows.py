"""Lists of rows: CSV and lists of JSON objects."""

# ruff: noqa: SIM905, S608

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items
from bench.fidelity.planted import Parts, kind

from . import rows_more  # noqa: F401
from .tools import Rows, pause, rare

LOADS = {
    "Login": ("POST", "/api/session", 340, 1480),
    "Home page": ("GET", "/", 120, 18_400),
    "Search": ("GET", "/api/search?q={}", 260, 9_300),
    "Product details": ("GET", "/api/products/{}", 95, 4_150),
    "Recommendations": ("GET", "/api/recommendations/{}", 180, 6_700),
    "Add to cart": ("POST", "/api/cart/items", 140, 820),
    "View cart": ("GET", "/api/cart", 110, 2_360),
    "Checkout": ("POST", "/api/orders", 620, 1_190),
    "Order status": ("GET", "/api/orders/{}", 130, 1_540),
    "Logout": ("DELETE", "/api/session", 60, 310),
}
JTL = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,"
    "sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect"
)


@kind("z_jmeter_jtl", "rows")
def z_jmeter_jtl(rng: random.Random) -> Parts:
    """The samples of a load test as JMeter writes them to a JTL file."""
    size = rng.randint(980, 1120)
    host = f"https://{rng.choice(w.THINGS)}-stage.example.org"
    now = datetime(
        2025, rng.randint(2, 10), rng.randint(2, 26), rng.randint(8, 12), rng.randint(0, 50), tzinfo=UTC
    )
    columns = JTL.split(",")
    rows: list[dict[str, object]] = []
    for k in range(size):
        now += timedelta(milliseconds=rng.randint(90, 1700))
        label = w.pick(rng, dict(zip(LOADS, (6, 10, 16, 22, 12, 10, 9, 5, 6, 4), strict=True)))
        verb, path, middle, weight = LOADS[label]
        elapsed = round(w.near(rng, middle, middle / 6, middle * 0.6, middle * 1.6))
        users = min(60, 4 + k // 14)
        group = "Browse users" if rng.random() < 0.6 else "Buy users"
        own = max(2, users // 2 + rng.randint(-1, 1))
        wait = rng.choice((0, 0, 0, 1, 2, 3))
        rows.append(
            {
                "timeStamp": now,
                "elapsed": elapsed,
                "label": label,
                "responseCode": "201" if verb == "POST" else "204" if verb == "DELETE" else "200",
                "responseMessage": {"POST": "Created", "DELETE": "No Content"}.get(verb, "OK"),
                "threadName": f"{group} 1-{rng.randint(1, own)}",
                "dataType": "text",
                "success": "true",
                "failureMessage": "",
                "bytes": round(weight * rng.uniform(0.9, 1.1)),
                "sentBytes": rng.randint(1010, 1390),
                "grpThreads": own,
                "allThreads": users,
                "URL": host + path.format(rng.randint(10_000, 99_999)),
                "Latency": elapsed - rng.randint(1, 9),
                "IdleTime": 0,
                "Connect": wait,
            }
        )
    spots = w.spots(rng, size, 10, apart=8)
    broken, late, wrong, slow, big, quiet, back, leak, nameless, strange = spots

    def put(k: int, **more: object) -> None:
        rows[k].update(more)

    failed = [k for k in range(60, size - 60) if rows[k]["label"] == "Recommendations" and k not in spots]
    busy = sorted(rng.sample(failed, rng.randint(7, 11)))
    for k in busy:
        put(
            k,
            responseCode="503",
            responseMessage="Service Unavailable",
            success="false",
            bytes=rng.randint(400, 440),
        )
    put(
        broken,
        responseCode="500",
        responseMessage="Internal Server Error",
        success="false",
        bytes=rng.randint(900, 990),
    )
    limit = 30_000 + rng.randint(1, 9)
    put(
        late,
        elapsed=limit,
        responseCode="Non HTTP response code: java.net.SocketTimeoutException",
        responseMessage="Non HTTP response message: Read timed out",
        success="false",
        Latency=0,
    )
    put(
        wrong,
        label="View cart",
        URL=f"{host}/api/cart",
        responseCode="200",
        responseMessage="OK",
        elapsed=rng.randint(90, 130),
        success="false",
        failureMessage="Test failed: text expected to contain /grandTotal/",
    )
    slowest = rng.randint(44_000, 58_000)
    put(slow, elapsed=slowest, Latency=slowest - 5)
    heavy = rng.randint(31_000_000, 47_000_000)
    put(big, bytes=heavy)
    break_ = timedelta(seconds=rng.randint(400, 560))
    for k in range(quiet, size):
        rows[k]["timeStamp"] += break_  # type: ignore[operator]
    earlier = rows[back]["timeStamp"] - timedelta(hours=rng.randint(3, 6), seconds=rng.randint(100, 900))  # type: ignore[operator]
    put(back, timeStamp=earlier)
    secret = f"{w.alnum(rng, 40)}"
    put(leak, URL=f"{rows[leak]['URL']}".split("?", maxsplit=1)[0] + f"?access_token={secret}")
    put(nameless, threadName="")
    inner = f"http://10.{rng.randint(1, 90)}.{rng.randint(1, 250)}.{rng.randint(2, 250)}:8080"
    put(strange, URL=inner + str(rows[strange]["URL"]).removeprefix(host))

    def stamp(k: int) -> str:
        return str(round(rows[k]["timeStamp"].timestamp() * 1000))  # type: ignore[attr-defined]

    lines = [JTL]
    for k, row in enumerate(rows):
        cells = [stamp(k) if name == "timeStamp" else str(row[name]) for name in columns]
        lines.append(",".join(cells))
    n = Rows(2)

    def when(k: int) -> list[str]:
        moment = rows[k]["timeStamp"]
        return [
            stamp(k),
            f"{stamp(k)},{rows[k]['elapsed']}",
            f"{moment:%Y-%m-%dT%H:%M:%S}",
            f"{moment:%H:%M:%S}",
        ]

    def row(what: str, k: int, telling: list, *searches: str, **more: object) -> None:
        n.row(what, k, telling, when(k), *searches, **more)  # type: ignore[arg-type]

    row(
        "error",
        broken,
        ["Internal Server Error", "500"],
        "Internal Server Error",
        alone=["Internal Server Error", "500"],
    )
    told = ["SocketTimeoutException", "Read timed out", "timeout"]
    row("error", late, told, "SocketTimeoutException", "timed out", alone=told[:2])
    told = ["expected to contain", "grandTotal", "assertion", "failureMessage"]
    row("error", wrong, told, "Test failed", "failureMessage", alone=told[:2])
    told = [slowest, f"{slowest / 1000:.1f} s", f"{slowest / 1000:.3f}"]
    asked = "SELECT n, text FROM lines WHERE text REGEXP '^\\d+,[45]\\d{4},'"
    row("outlier", slow, told, str(slowest), "/^\\d+,[45]\\d{4},/", sql=asked)
    told = [heavy, f"{heavy},{rows[big]['sentBytes']}", f"{heavy / 1e6:.1f} MB"]
    row("outlier", big, told, str(heavy), "/,\\d{8},/")
    first, second = quiet - 1, quiet
    if first == back:
        first -= 1
    n.say(
        "time jump",
        (
            *pause(rows[first]["timeStamp"], rows[second]["timeStamp"], *n.places(second), *n.places(first)),  # type: ignore[arg-type]
            *w.pairs(when(first)[:2], when(second)[:2]),
            *w.pairs(
                [int(stamp(second)) - int(stamp(first))],
                [*w.LEAP[:9], *n.places(second), *when(second), "max"],
            ),
            *w.pairs([*when(first)[:2], *when(second)[:2]], w.LEAP[:9]),
        ),
        stamp(second),
        stamp(first),
        line=second + 2,
        sql="SELECT n, text, CAST(substr(text, 1, 13) AS INTEGER) - lag(CAST(substr(text, 1, 13) AS INTEGER)) OVER (ORDER BY n) "
        "AS jump FROM lines WHERE n > 1 AND text <> '' ORDER BY jump DESC LIMIT 3",
        derived=True,
    )
    told = [
        *when(back)[:3],
        "earlier",
        "backward",
        "not sorted",
        "out of order",
        "before",
        "descend",
        "unsorted",
    ]
    n.say(
        "time jump",
        (
            *w.pairs(told, n.places(back)),
            *w.pairs(when(back), told[3:]),
        ),
        stamp(back),
        stamp(back)[:9],
        line=back + 2,
        sql=w.find(stamp(back)),
    )
    row(
        "secret",
        leak,
        ["access_token", "token in", "token"],
        "access_token",
        "token",
        hidden=secret,
        alone=["access_token"],
    )
    n.say(
        "missing field",
        (
            *w.gone(n.places(nameless, *when(nameless)), "threadName", "thread name"),
            ("threadName", "1 empty"),
            ("threadName", "empty: 1"),
            ("threadName", "1 missing"),
            ("threadName", "1 null"),
            ("threadName", f"{size - 1} of {size}"),
        ),
        "/,,text,/",
        "threadName",
        line=nameless + 2,
        sql=w.find(",,text,").replace("n, text", "n, text, 'no threadName' AS note", 1),
        derived=True,
    )
    told = [inner.split("//")[1], inner.split("//")[1].split(":")[0]]
    row("rare value", strange, told, "http://", told[1], alone=told)
    n.say(
        "count",
        w.count(len(busy), "503", "Service Unavailable"),
        "Service Unavailable",
        "503",
        sql=w.how_many("503", "Service Unavailable"),
        derived=True,
    )
    n.say(
        "count",
        (*w.count(size, "rows", "samples", "records", "requests", "data rows"), *w.count(size + 1, "lines")),
        "label",
        sql="SELECT count(*) - 1 AS rows FROM lines WHERE text <> ''",
        derived=True,
    )
    bad = len(busy) + 3
    names = [
        "false",
        "success=false",
        "failed",
        "failures",
        "failure",
        "success: false",
        "errors",
        "not successful",
    ]
    n.tally(bad, names, ",false,", sql=w.how_many("false", ",false,"))
    labels = Counter(str(one["label"]) for one in rows)
    n.tally(
        labels["Product details"],
        ["Product details"],
        "Product details",
        sql=w.how_many("Product details", ",Product details,"),
    )
    n.tally(labels["Checkout"], ["Checkout"], "Checkout", sql=w.how_many("Checkout", ",Checkout,"))
    ends = [(k, size - 1) for k in (0, back)]
    n.say(
        "range",
        tuple(
            pair
            for i, j in ends
            for pair in (*w.pairs(when(i)[:2], when(j)[:2]), *zip(when(i)[2:], when(j)[2:], strict=True))
        ),
        stamp(0),
        stamp(size - 1),
        sql=f"SELECT n, text FROM lines WHERE n IN (2, {size + 1})",
        derived=True,
    )
    return n.parts("\n".join(lines) + "\n")


STAGES = {"lead": 34, "subscriber": 18, "marketingqualifiedlead": 16, "opportunity": 14, "customer": 26}


@kind("z_hubspot_contacts", "rows")
def z_hubspot_contacts(rng: random.Random) -> Parts:
    """A page of contacts as the search of HubSpot's CRM answers it."""
    size = 200
    who = w.people(rng, size)
    owners = [str(rng.randint(40_000_000, 79_999_999)) for _ in range(6)]
    companies = w.distinct(
        rng, 60, lambda r: f"{r.choice(w.FAMILY)} {r.choice(('GmbH', 'AG', 'SARL', 'Ltd', 'SpA', 'BV'))}"
    )
    titles = [
        f"{a} of {b}"
        for a in ("Head", "Director", "VP")
        for b in ("Sales", "IT", "Finance", "Operations", "Marketing")
    ]
    ident = rng.randint(21_000_000_000, 88_000_000_000)
    items: list[dict] = []
    for name in who:
        ident += rng.randint(900, 90_000)
        made = datetime(2022, 1, 5, tzinfo=UTC) + timedelta(
            seconds=rng.randint(0, 80_000_000), milliseconds=rng.randint(0, 999)
        )
        changed = made + timedelta(seconds=rng.randint(90_000, 19_000_000))
        first, last = name.split()
        company = rng.choice(companies)
        stamps = [f"{one:%Y-%m-%dT%H:%M:%S}.{one.microsecond // 1000:03d}Z" for one in (made, changed)]
        properties = {
            "annualrevenue": str(rng.randint(120, 980) * 1000),
            "city": rng.choice(w.TOWNS),
            "company": company,
            "createdate": stamps[0],
            "email": f"{w.login(name)}@{company.split()[0].lower()}.example",
            "firstname": first,
            "hs_lead_status": w.pick(rng, {"NEW": 30, "OPEN": 25, "IN_PROGRESS": 20, "CONNECTED": 25}),
            "hs_object_id": str(ident),
            "hubspot_owner_id": rng.choice(owners),
            "jobtitle": rng.choice(titles),
            "lastmodifieddate": stamps[1],
            "lastname": last,
            "lifecyclestage": w.pick(rng, STAGES),
            "num_associated_deals": str(rng.randint(0, 6)),
            "phone": f"+{rng.choice((33, 39, 43, 49))} {rng.randint(100, 999)} {rng.randint(1000000, 9999999)}",
        }
        items.append(
            {
                "id": str(ident),
                "properties": properties,
                "createdAt": stamps[0],
                "updatedAt": stamps[1],
                "archived": False,
            }
        )
    spots = w.spots(rng, size, 12, apart=4)
    gone, rich, bare, twin, split, future, undone, fan, sorry, leak, odd, hack = spots
    minus = rng.choice([k for k in range(20, 180) if k not in spots and k + 1 != twin and k + 2 != twin])
    at = [one["properties"] for one in items]
    items[gone]["archived"] = True
    items[gone]["archivedAt"] = items[gone]["updatedAt"]
    revenue = rng.randint(81, 97) * 1_000_000_000
    at[rich]["annualrevenue"] = str(revenue)
    at[bare]["email"] = None
    other = twin - 1 if twin - 1 not in spots else twin - 2
    at[twin]["email"] = at[other]["email"]
    foreign = str(int(items[split]["id"]) - rng.randint(3_000_000, 9_000_000))
    at[split]["hs_object_id"] = foreign
    year = f"20{rng.randint(41, 68)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    for place, key in ((at[future], "lastmodifieddate"), (items[future], "updatedAt")):
        place[key] = year + place[key][10:]
    early = f"2019-1{rng.randint(0, 2)}-0{rng.randint(1, 9)}"
    for place, key in ((at[undone], "lastmodifieddate"), (items[undone], "updatedAt")):
        place[key] = early + place[key][10:]
    at[fan]["lifecyclestage"] = "evangelist"
    at[sorry]["hs_lead_status"] = "BAD_TIMING"
    secret = w.alnum(rng, 14)
    at[leak]["message"] = f"Portal login for the demo: password {secret}, please change it later"
    at[odd]["email"] = at[odd]["email"].replace("@", "@@")
    at[hack]["company"] = "<script src=//cdn-x9.example/a.js></script>"
    deals = -rng.randint(3, 9)
    at[minus]["num_associated_deals"] = str(deals)
    at_total = rng.randint(1300, 2900)
    n = Items("/results", [[one["id"], one["properties"]["email"]] for one in items])
    for k, one in enumerate(items):
        n.names[k][:] = [one["id"], f"{one['properties']['firstname']} {one['properties']['lastname']}"]  # type: ignore[index]
        if k not in (bare, twin, other):
            n.names[k].append(one["properties"]["email"])  # type: ignore[attr-defined]

    def get(what: str, where: str) -> str:
        return f"SELECT id, {what} FROM t WHERE {where}"

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

    told = [
        "archived: true",
        '"archived": true',
        "archivedAt",
        "archived=true",
        "is archived",
        "archived",
        "archived true",
    ]
    more = ("archivedAt", "archived: true", "archived=true", "archived contact", "true")
    one(
        "rare status",
        gone,
        told,
        "/archived",
        "archivedAt",
        "true",
        alone=more,
        sql=get("archived, archivedAt", "archived"),
    )
    told = [revenue, f"{revenue // 10**9} billion", f"{revenue / 1e9:.1f}"]
    asked = "SELECT id, number(properties.annualrevenue) AS revenue FROM t ORDER BY 2 DESC LIMIT 2"
    one("outlier", rich, told, "/properties/annualrevenue", "annualrevenue", str(revenue), sql=asked)
    places = [*n.names[bare], f"/results/{bare}", f"#{bare}", f"item {bare}", f"row {bare}", f"[{bare}]"]
    counted = [
        f"{size - 1} of {size}",
        "1 null",
        "null: 1",
        "null 1",
        "1 missing",
        "1 empty",
        "null ×1",
        "1 without",
    ]
    n.say(
        "missing field",
        (*w.gone(places, "email"), *w.pairs(["email"], counted)),
        "email",
        '"email": null',
        pointer=f"/results/{bare}/properties/email",
        sql=get("properties.email", "properties.email IS NULL"),
        derived=True,
    )
    mail = at[twin]["email"]
    n.say(
        "duplicate",
        (
            *w.same(mail),
            (items[twin]["id"], items[other]["id"]),
            (f"/results/{twin}", f"/results/{other}"),
            (f"#{twin}", f"#{other}", "email"),
        ),
        mail,
        "email",
        pointer=f"/results/{twin}/properties/email",
        sql="SELECT properties.email, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1",
        derived=True,
    )
    n.say(
        "contradiction",
        (
            (foreign, items[split]["id"]),
            (foreign, f"/results/{split}"),
            (foreign, "hs_object_id"),
            *w.pairs([items[split]["id"], f"/results/{split}", f"#{split}"], ["hs_object_id", "differ"]),
        ),
        foreign,
        "hs_object_id",
        pointer=f"/results/{split}/properties/hs_object_id",
        sql=get("properties.hs_object_id", "properties.hs_object_id <> id"),
    )
    asked = "SELECT id, updatedAt FROM t ORDER BY updatedAt DESC LIMIT 2"
    one(
        "time jump",
        future,
        [year, year[:4], year[:7], "future"],
        "/updatedAt",
        year[:5],
        "updatedAt",
        sql=asked,
    )
    told = [
        early,
        early[:7],
        "updatedAt before",
        "before createdAt",
        "earlier than",
        "updated before",
        "before it was created",
    ]
    asked = get("createdAt, updatedAt", "updatedAt < createdAt")
    one("contradiction", undone, told, "/updatedAt", early[:7], "updatedAt", sql=asked)
    asked = "SELECT properties.lifecyclestage, count(*) AS k, min(id) FROM t GROUP BY 1 ORDER BY 2"
    one(
        "rare value",
        fan,
        ["evangelist"],
        "/properties/lifecyclestage",
        "evangelist",
        "lifecyclestage",
        alone=("evangelist",),
        sql=asked,
    )
    asked = "SELECT properties.hs_lead_status, count(*) AS k, min(id) FROM t GROUP BY 1 ORDER BY 2"
    one(
        "rare status",
        sorry,
        ["BAD_TIMING"],
        "/properties/hs_lead_status",
        "BAD_TIMING",
        "hs_lead_status",
        alone=("BAD_TIMING",),
        sql=asked,
    )
    told = ["password", "Portal login", "message"]
    asked = get("'message' AS place", "properties.message IS NOT NULL")
    one(
        "secret",
        leak,
        told,
        "/properties/message",
        "password",
        "message",
        alone=("password", "message"),
        hidden=secret,
        sql=asked,
    )
    one(
        "error",
        odd,
        [at[odd]["email"], "@@", "invalid email", "malformed", "two @"],
        "/properties/email",
        "@@",
        alone=("@@",),
        sql=get("properties.email", "properties.email LIKE '%@@%'"),
    )
    told = ["<script", "cdn-x9", "script tag", "script"]
    one(
        "error",
        hack,
        told,
        "/properties/company",
        "<script",
        "cdn-x9",
        alone=("cdn-x9",),
        sql=get("properties.company", "properties.company LIKE '%<%'"),
    )
    told = [deals, "negative", "below 0", "below zero"]
    asked = get("properties.num_associated_deals", "number(properties.num_associated_deals) < 0")
    n.say(
        "outlier",
        (
            *w.pairs(
                told,
                [
                    *n.names[minus],
                    f"/results/{minus}",
                    f"[{minus}]",
                    f"#{minus}",
                    f"row {minus}",
                    f"item {minus}",
                ],
            ),
            *w.pairs(["num_associated_deals"], [deals, "negative"]),
        ),
        "num_associated_deals",
        f'"{deals}"',
        pointer=f"/results/{minus}/properties/num_associated_deals",
        sql=asked,
    )
    stages = Counter(one["lifecyclestage"] for one in at)
    asked = "SELECT properties.lifecyclestage, count(*) AS k FROM t GROUP BY 1"
    n.tally(stages["customer"], ["customer", "customers"], "customer", "lifecyclestage", sql=asked)
    n.tally(
        size,
        ["results", "contacts", "items", "rows", "records"],
        "results",
        sql="SELECT count(*) AS contacts FROM t",
    )
    n.say(
        "total",
        (
            *w.pairs([at_total], ["total", "200", "more", "page", "matching", "overall"]),
            ("more pages", "200"),
            ("next page", "200"),
        ),
        "total",
        "paging",
        pointer="/total",
        sql=w.find('"total"'),
    )
    link = "https://api.hubapi.com/crm/v3/objects/contacts/search?after=200"
    body = {"total": at_total, "results": items, "paging": {"next": {"after": "200", "link": link}}}
    return n.parts(json.dumps(body, indent=2, ensure_ascii=False))
