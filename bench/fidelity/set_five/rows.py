"""Lists of records, tables and logs."""

# ruff: noqa: SIM905

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Lines
from bench.fidelity.planted import Parts, kind

HEADS = "NAME ZONE MACHINE_TYPE PREEMPTIBLE INTERNAL_IP EXTERNAL_IP STATUS".split()


@kind("gcloud_instances", "rows")
def gcloud_instances(rng: random.Random) -> Parts:
    """`gcloud compute instances list`: a table padded with spaces, and a warning below it."""
    rows: list[dict[str, str]] = []
    roles = rng.sample(w.TEAMS, 15)
    for role in roles:
        zone = rng.choice(("europe-west3", "europe-west4", "europe-north1"))
        usual = rng.choice(("e2-standard-4", "n2-standard-8", "e2-medium"))
        for k in range(1, rng.randint(36, 42)):
            state = w.pick(rng, {"RUNNING": 90, "TERMINATED": 10})
            at = len(rows)
            outside = f"34.{rng.randint(76, 159)}.{rng.randint(0, 255)}.{rng.randint(2, 254)}"
            rows.append(
                {
                    "NAME": f"{role}-{k:03d}",
                    "ZONE": f"{zone}-{rng.choice('abc')}",
                    "MACHINE_TYPE": usual,
                    "PREEMPTIBLE": "true" if rng.random() < 0.07 else "",
                    "INTERNAL_IP": f"10.164.{at // 250}.{at % 250 + 2}",
                    "EXTERNAL_IP": outside if state == "RUNNING" and rng.random() < 0.5 else "",
                    "STATUS": state,
                }
            )
    copy = {**rng.choice(rows[60:400]), "INTERNAL_IP": "10.164.9.9", "EXTERNAL_IP": "", "STATUS": "RUNNING"}
    zones = {"europe-west3-a", "europe-west4-b"} - {copy["ZONE"]}
    copy["ZONE"] = min(zones)
    main = {**copy, "NAME": "postgres-primary", "PREEMPTIBLE": "true", "INTERNAL_IP": "10.164.9.10"}
    rows = sorted([*rows, copy, main], key=lambda row: row["NAME"])
    again, primary = (next(k for k, row in enumerate(rows) if row is one) for one in (copy, main))
    spots = w.spots(rng, len(rows), 12, apart=11)
    while any(abs(k - one) < 9 for k in spots for one in (again, primary)):
        spots = w.spots(rng, len(rows), 12, apart=11)
    paused, repair, far, giant, odd, twin, nics, gone, alien, keep, tiny, staged = spots
    spots += [again, primary]
    gone += next(k for k in range(7) if rows[gone + k - 1]["NAME"][:-3] == rows[gone + k + 1]["NAME"][:-3])
    rows[paused].update(STATUS="SUSPENDED", EXTERNAL_IP="")
    rows[repair].update(STATUS="REPAIRING", EXTERNAL_IP="")
    rows[far]["ZONE"] = "us-central1-f"
    rows[giant]["MACHINE_TYPE"] = "m2-ultramem-416"
    rows[odd]["MACHINE_TYPE"] = "custom (62 vCPU, 488.00 GiB)"
    rows[twin]["INTERNAL_IP"] = rows[twin - 1]["INTERNAL_IP"]
    rows[nics]["INTERNAL_IP"] += ",10.250.0.44"
    rows[alien]["INTERNAL_IP"] = f"192.168.77.{rng.randint(10, 90)}"
    kept = f"35.198.{rng.randint(2, 250)}.{rng.randint(2, 250)}"
    rows[keep].update(STATUS="TERMINATED", EXTERNAL_IP=kept)
    rows[tiny]["MACHINE_TYPE"] = "f1-micro"
    rows[staged].update(STATUS="STOPPING")
    lost = rows[gone]
    around = (rows[gone - 1]["NAME"], rows[gone + 1]["NAME"])
    fix = {k: k - (k > gone) for k in spots}
    rows = [row for row in rows if row is not lost]
    wide = {head: max(len(head), *(len(row[head]) for row in rows)) + 2 for head in HEADS}
    lines = ["".join(head.ljust(wide[head]) for head in HEADS).rstrip()]
    lines += ["".join(row[head].ljust(wide[head]) for head in HEADS).rstrip() for row in rows]
    lines += [
        "WARNING: Some requests did not succeed.",
        " - The zone 'europe-west9-a' is currently unavailable.",
        "",
    ]
    n = Lines(2)

    def one(what: str, k: int, telling: list, *searches: str, sql: tuple[str, ...] = ()) -> None:
        row = rows[fix[k]]
        own = () if row["NAME"] in telling else (row["NAME"],)
        n.one(what, fix[k], telling, [*own, row["INTERNAL_IP"]], *searches, sql=sql)

    def get(more: str) -> str:
        return f"SELECT NAME, ZONE, MACHINE_TYPE, INTERNAL_IP, EXTERNAL_IP, STATUS FROM t WHERE {more}"  # noqa: S608

    one(
        "rare status",
        paused,
        ["SUSPENDED"],
        "SUSPENDED",
        "STATUS",
        sql=(get("STATUS = 'SUSPENDED'"), w.find("SUSPENDED")),
    )
    one(
        "rare status",
        repair,
        ["REPAIRING"],
        "REPAIRING",
        "STATUS",
        sql=(get("STATUS = 'REPAIRING'"), w.find("REPAIRING")),
    )
    one(
        "rare status",
        staged,
        ["STOPPING"],
        "STOPPING",
        "STATUS",
        sql=(get("STATUS = 'STOPPING'"), w.find("STOPPING")),
    )
    one(
        "rare value",
        far,
        ["us-central1"],
        "us-central1",
        "ZONE",
        sql=(get("ZONE NOT LIKE 'europe%'"), w.find("us-central1")),
    )
    one("outlier", giant, ["m2-ultramem-416", "ultramem"], "ultramem", "MACHINE_TYPE")
    one("rare value", odd, ["custom (62", "62 vCPU", "488.00 GiB"], "custom", "vCPU", "MACHINE_TYPE")
    one("rare value", tiny, ["f1-micro"], "f1-micro", "MACHINE_TYPE")
    ip = rows[fix[twin]]["INTERNAL_IP"]
    n.say(
        "duplicate",
        w.same(ip, rows[fix[twin]]["NAME"], rows[fix[twin] - 1]["NAME"]),
        ip,
        line=fix[twin] + 2,
        sql=("SELECT INTERNAL_IP, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1",),
        derived=True,
    )
    name = rows[fix[again]]["NAME"]
    n.say(
        "duplicate",
        (
            *w.same(name),
            (name, rows[fix[again]]["ZONE"], rows[fix[again] - 1]["ZONE"]),
            (f"{fix[again] + 1}|", f"{fix[again] + 2}|", name),
        ),
        name,
        "NAME",
        line=fix[again] + 2,
        sql=(
            "SELECT NAME, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1",
            w.find(f"{name} "),
        ),
    )
    one("rare value", nics, ["10.250.0.44"], "10.250.0.44", "/\\d,\\d+\\./", "INTERNAL_IP")
    asked = (get("INTERNAL_IP NOT LIKE '10.%'"), w.find("192.168."))
    n.one(
        "outlier",
        fix[alien],
        [rows[fix[alien]]["INTERNAL_IP"], "192.168.77"],
        [rows[fix[alien]]["NAME"]],
        "192.168.",
        sql=asked,
    )
    n.one(
        "contradiction",
        fix[keep],
        [kept],
        ["TERMINATED", rows[fix[keep]]["NAME"]],
        "/\\d\\.\\d+ +TERMINATED/",
        "TERMINATED",
        sql=(
            get("STATUS = 'TERMINATED' AND EXTERNAL_IP LIKE '3%'"),
            w.find("/\\d +3\\d\\.\\S+ +TERMINATED/"),
        ),
    )
    n.one(
        "rare value",
        fix[primary],
        ["postgres-primary"],
        ["preemptible", "true", "spot"],
        "postgres-primary",
        "primary",
        sql=("SELECT NAME, PREEMPTIBLE FROM t WHERE NAME LIKE '%primary%'", w.find("postgres-primary")),
    )
    n.say(
        "gap",
        w.gap([lost["NAME"]], *around),
        lost["NAME"],
        around[0],
        sql="SELECT was, name, 'gap' AS note FROM (SELECT name, lag(name) OVER (ORDER BY n) AS was FROM (SELECT n, "
        "substr(text, 1, instr(text, ' ') - 1) AS name FROM lines)) WHERE substr(name, 1, length(name) - 3) = "
        "substr(was, 1, length(was) - 3) AND CAST(substr(name, -3) AS INTEGER) - CAST(substr(was, -3) AS INTEGER) > 1",
        derived=True,
    )
    n.one(
        "error",
        len(rows) + 1,
        ["europe-west9-a"],
        ["unavailable", "WARNING", "did not succeed"],
        "unavailable",
        "WARNING",
    )
    states = Counter(row["STATUS"] for row in rows)
    asked = ("SELECT STATUS, count(*) AS n FROM t GROUP BY 1", w.how_many("TERMINATED", "TERMINATED"))
    n.tally(states["TERMINATED"], ["TERMINATED"], "TERMINATED", sql=asked)
    return n.parts("\n".join(lines))


@kind("airtable_records", "rows")
def airtable_records(rng: random.Random) -> Parts:
    """Airtable's `GET /v0/{base}/{table}`: a page of a hundred records; fields without a value are left out."""
    size, who = 100, w.people(rng, 9)
    owners = [{"id": f"usr{w.alnum(rng, 14)}", "email": f"{w.login(p)}@example.org", "name": p} for p in who]
    clients = [f"rec{w.alnum(rng, 14)}" for _ in range(17)]
    clock = w.Clock(rng, datetime(2025, 2, rng.randint(2, 12), 8), 9_000, 90_000)
    number, rows = rng.randint(2100, 4200), []
    for k in range(size):
        made = clock.tick()
        start = made + timedelta(days=rng.randint(3, 30))
        due = start + timedelta(days=rng.randint(20, 90))
        state = w.pick(rng, {"In progress": 48, "Planned": 27, "Done": 25})
        title = w.two(rng, " ").capitalize()
        rows.append(
            {
                "id": f"rec{w.alnum(rng, 14)}",
                "createdTime": f"{made:%Y-%m-%dT%H:%M:%S}.000Z",
                "fields": {
                    "Name": f"{title} {rng.choice(w.TOWNS)}",
                    "Number": number + k,
                    "Status": state,
                    "Priority": w.pick(rng, {"Low": 30, "Medium": 50, "High": 20}),
                    "Owner": rng.choice(owners),
                    "Client": [rng.choice(clients)],
                    "Budget": rng.randint(40, 240) * 100,
                    "SpentShare": round(rng.uniform(0.05, 0.93), 2),
                    "Start": f"{start:%Y-%m-%d}",
                    "Due": f"{due:%Y-%m-%d}",
                    "Tags": rng.sample(("print", "web", "event", "video", "research"), 2),
                    "Days": (due - start).days,
                    "Notes": w.paragraph(rng, 2, 4),
                    "LastModified": f"{made + timedelta(days=rng.randint(1, 20)):%Y-%m-%dT%H:%M:%S}.000Z",
                },
            }
        )
    spots = w.spots(rng, size, 13, apart=3)
    wrong, nan, dear, lost, double, hold, past, leak, back, over, clip, jump, legal = spots
    fields = [row["fields"] for row in rows]
    fields[wrong]["SpentShare"] = {"error": "#ERROR!"}
    fields[nan]["Days"] = {"specialValue": "NaN"}
    budget = rng.randint(2_100_000, 4_900_000)
    fields[dear]["Budget"] = budget
    del fields[lost]["Owner"]
    fields[double]["Name"] = fields[double - 1]["Name"]
    fields[hold]["Status"] = "Cancelled"
    old = f"2016-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    rows[past]["createdTime"] = f"{old}T03:04:05.000Z"
    secret = "pat" + w.alnum(rng, 14) + "." + w.hexes(rng, 40)
    fields[leak]["Notes"] += f" Sync uses the airtable token {secret} for now."
    early = f"2024-1{rng.randint(0, 2)}-1{rng.randint(0, 9)}"
    fields[back]["Due"] = early
    share = round(rng.uniform(3.1, 5.9), 2)
    fields[over]["SpentShare"] = share
    link = f"https://v5.airtableusercontent.com/v3/u/{w.alnum(rng, 20)}"
    name = "signed-contract-draft.pdf"
    file = {
        "id": f"att{w.alnum(rng, 14)}",
        "url": link,
        "filename": name,
        "size": rng.randint(80_000, 900_000),
    }
    fields[clip]["Attachments"] = [{**file, "type": "application/pdf"}]
    step = rng.randint(5, 9)
    for one in fields[jump:]:
        one["Number"] += step
    missing = list(range(fields[jump]["Number"] - step, fields[jump]["Number"]))
    fields[legal]["Notes"] = "Client threatens legal action, do not contact before the call with counsel."
    offset = f"itr{w.alnum(rng, 14)}/{rows[-1]['id']}"
    n = Items(
        "/records", [[row["id"], f"{row['fields']['Name']}", str(row["fields"]["Number"])] for row in rows]
    )
    get = "SELECT id, fields.Name, fields.{0} FROM t WHERE {1}".format
    n.one(
        "error",
        wrong,
        ["#ERROR"],
        "/fields/SpentShare",
        "#ERROR!",
        "error",
        sql=(get("SpentShare.error", "fields.SpentShare.error IS NOT NULL"), w.find("#ERROR!")),
    )
    n.one(
        "error",
        nan,
        ["NaN", "specialValue"],
        "/fields/Days",
        "NaN",
        "specialValue",
        sql=(get("Days.specialValue", "fields.Days.specialValue IS NOT NULL"), w.find("NaN")),
    )
    asked = "SELECT id, fields.Name, fields.Budget FROM t ORDER BY fields.Budget DESC LIMIT 2"
    n.one("outlier", dear, w.spell(budget), "/fields/Budget", "Budget", str(budget), sql=asked)
    n.lost(lost, "Owner", "/fields", sql=get("Owner.name", "fields.Owner.name IS NULL"))
    asked = "SELECT fields.Name, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1"
    n.say(
        "duplicate",
        (
            *w.same(fields[double]["Name"]),
            (fields[double]["Name"], rows[double - 1]["id"], rows[double]["id"]),
        ),
        fields[double]["Name"],
        "Name",
        pointer=f"/records/{double}/fields/Name",
        sql=asked,
        derived=True,
    )
    n.one(
        "rare status",
        hold,
        ["Cancelled"],
        "/fields/Status",
        "Cancelled",
        "Status",
        sql=get("Status", "fields.Status = 'Cancelled'"),
    )
    asked = "SELECT id, createdTime FROM t ORDER BY createdTime LIMIT 2"
    n.one("time jump", past, [old, "2016"], "/createdTime", "createdTime", "2016-", sql=asked)
    n.one(
        "secret",
        leak,
        ["airtable token", "Sync uses", "access token", "secret", "/Notes", "token"],
        "/fields/Notes",
        "token",
        "/pat\\w{14}\\./",
        hidden=secret,
        sql="SELECT id, instr(fields.Notes, 'airtable token') AS 'airtable token' FROM t WHERE fields.Notes LIKE '%token%'",
    )
    asked = (
        get("Due, fields.Start", "fields.Due < fields.Start"),
        "SELECT id, fields.Due FROM t ORDER BY fields.Due LIMIT 2",
    )
    n.one("contradiction", back, [early], "/fields/Due", "Due", "2024-1", sql=asked)
    asked = "SELECT id, number(fields.SpentShare) AS share FROM t ORDER BY 2 DESC LIMIT 2"
    n.one("outlier", over, w.spell(share), "/fields/SpentShare", "SpentShare", str(share), sql=asked)
    asked = get("Attachments", "fields.Attachments IS NOT NULL")
    n.one("rare value", clip, [name, "Attachments"], "/fields/Attachments", "Attachments", ".pdf", sql=asked)
    n.say(
        "gap",
        w.gap(missing, missing[0] - 1, missing[-1] + 1),
        "Number",
        str(missing[0] - 1),
        pointer=f"/records/{jump}/fields/Number",
        sql="SELECT a, b FROM (SELECT fields.Number AS b, lag(fields.Number) OVER (ORDER BY n) AS a FROM t) WHERE b - a > 1",
        derived=True,
    )
    n.one(
        "rare value",
        legal,
        ["legal action", "counsel"],
        "/fields/Notes",
        "legal",
        "do not contact",
        sql=get("Notes", "fields.Notes LIKE '%legal%'"),
    )
    n.say(
        "more pages",
        (("offset", offset), ("offset", "itr"), ("offset", "more"), ("offset", "next page")),
        "offset",
        pointer="/offset",
    )
    states = Counter(one["Status"] for one in fields)
    asked = "SELECT fields.Status, count(*) AS n FROM t GROUP BY 1"
    n.tally(states["In progress"], ["In progress"], "In progress", "Status", sql=asked)
    total = sum(one["Budget"] for one in fields)
    n.say("total", ((str(total),),), "Budget", sql="SELECT sum(fields.Budget) AS total FROM t", derived=True)
    return n.parts(json.dumps({"records": rows, "offset": offset}, indent=2))


def _command(rng: random.Random) -> list[str]:
    """One ordinary command of a shop."""
    name = w.pick(rng, {"get": 34, "hgetall": 17, "set": 15, "expire": 10, "zadd": 8, "lpush": 8, "incr": 8})
    key = f"{rng.choice(w.TEAMS[:24])}:{rng.choice(w.THINGS[:60])}:{rng.randint(1000, 99_999)}"
    if name == "set":
        return [name, key, w.hexes(rng, 20), "EX", str(rng.choice((60, 300, 900)))]
    if name == "expire":
        return [name, key, str(rng.choice((60, 300, 900, 3600)))]
    if name == "zadd":
        return [name, f"board:{key}", str(rng.randint(10, 900)), f"user:{rng.randint(100, 9999)}"]
    if name == "lpush":
        return [name, f"queue:{rng.choice(w.THINGS[:9])}", f'{{"job":{rng.randint(10**5, 10**6)},"try":1}}']
    return [name, key]


@kind("redis_slowlog", "rows")
def redis_monitor(rng: random.Random) -> Parts:  # noqa: C901
    """`redis-cli MONITOR`: the moment, the database with the client, and the quoted words of each command."""
    size = rng.randint(880, 960)
    moment = datetime(2025, 5, rng.randint(2, 27), 9, tzinfo=UTC).timestamp()
    clients = [
        f"10.20.{rng.randint(0, 3)}.{rng.randint(5, 99)}:{rng.randint(36_000, 60_000)}" for _ in range(22)
    ]
    spots = w.spots(rng, size, 15, apart=7)
    flush, keys, config, follow, lua, base, alien, hush, back, leak, nap, bulk, forever, shut, socket = spots
    pause = rng.randint(600, 1400)
    secret = "rk_live_" + w.alnum(rng, 26)
    outsider = f"185.220.101.{rng.randint(10, 250)}:{rng.randint(36_000, 60_000)}"
    many, ttl = rng.randint(31, 47), rng.randint(31_000_000, 94_000_000)
    done: list[tuple[float, str, str, list[str]]] = []
    for k in range(size):
        moment += rng.uniform(0.01, 1.9)
        if k == hush:
            moment += pause
        words, where, who = _command(rng), "0", rng.choice(clients)
        if k == flush:
            words, who = ["flushdb"], clients[3]
        elif k == keys:
            words = ["keys", "cart:*"]
        elif k == config:
            words = ["CONFIG", "SET", "appendonly", "no"]
        elif k == follow:
            words = ["REPLICAOF", "10.99.8.7", "6379"]
        elif k == lua:
            words, who = ["hincrby", "stock:levels", "sku-4471", "-250"], "lua"
        elif k == base:
            where = "11"
        elif k == alien:
            words, who = ["info", "server"], outsider
        elif k == leak:
            words = ["set", "config:stripe:restricted", secret]
        elif k == nap:
            words = ["DEBUG", "SLEEP", "12"]
        elif k == bulk:
            words = ["del", *(f"session:{w.hexes(rng, 8)}" for _ in range(many))]
        elif k == forever:
            words = ["expire", f"promo:banner:{rng.randint(10, 99)}", str(ttl)]
        elif k == shut:
            words = ["CLIENT", "KILL", "TYPE", "pubsub"]
        elif k == socket:
            who = "unix:/run/redis/redis.sock"
        done.append((moment - (7200 if k == back else 0), where, who, words))
    lines = ["OK"]
    for when, where, who, words in done:
        quoted = " ".join('"' + one.replace("\\", "\\\\").replace('"', '\\"') + '"' for one in words)
        lines.append(f"{when:.6f} [{where} {who}] {quoted}")
    n = Lines(2)

    def one(
        what: str,
        k: int,
        telling: list,
        more: list,
        *searches: str,
        hidden: str = "",
        sql: tuple[str, ...] = (),
    ) -> None:
        n.one(
            what,
            k,
            telling,
            [f"{done[k][0]:.6f}", f"{done[k][0]:.0f}", *more],
            *searches,
            hidden=hidden,
            sql=sql,
        )

    one("error", flush, ["flushdb"], [clients[3]], "flushdb", "/flush/")
    one("rare value", keys, ['"keys"', "keys cart", "cart:*"], ["cart:", "KEYS "], '"keys"', "cart:*")
    one("rare value", config, ["appendonly"], ["CONFIG", "SET", '"no"'], "CONFIG", "appendonly")
    one(
        "rare value",
        follow,
        ["REPLICAOF", "10.99.8.7"],
        ["10.99.8.7", "6379"],
        "REPLICAOF",
        "/(?i)replicaof|slaveof/",
    )
    one(
        "rare value",
        lua,
        ["[0 lua]", "sku-4471", "lua"],
        ["stock:levels", "hincrby", "-250"],
        "lua]",
        "hincrby",
    )
    name = done[base][3][1]
    one(
        "rare value",
        base,
        ["[11 ", "db 11", "db11", "database 11", "11 10.20"],
        [name, done[base][2]],
        "[11 ",
        "/\\[[1-9]\\d* /",
    )
    one(
        "outlier",
        alien,
        [outsider, outsider.split(":")[0]],
        ["info", "server"],
        outsider.split(":")[0],
        "/\\[0 (?!10\\.)/",
    )
    a, b = done[hush - 1][0], done[hush][0]
    n.say(
        "gap",
        (
            *w.gap([], f"{a:.6f}", f"{b:.6f}"),
            *w.gap([], str(int(a)), str(int(b))),
            *w.pairs(
                [f"{int(b - a)}", f"{b - a:.0f}", f"{b - a:.1f}"],
                ["gap", "pause", "silence", "jump", "seconds"],
            ),
        ),
        str(int(a)),
        str(int(b)),
        line=hush + 2,
        sql="SELECT a, b, b - a AS gap FROM (SELECT n, number(substr(text, 1, 17)) AS b, lag(number(substr(text, 1, 17))) "
        "OVER (ORDER BY n) AS a FROM lines WHERE text LIKE '1%') ORDER BY b - a DESC LIMIT 3",
        derived=True,
    )
    told = [f"{done[back][0]:.6f}", str(int(done[back][0]))]
    n.one(
        "time jump",
        back,
        told,
        [
            "back",
            "earlier",
            "out of order",
            "not in order",
            "order",
            "7200",
            "before",
            "jump",
            f"{done[back][3][1]}",
        ],
        told[1],
        f"/^{told[1][:6]}/",
        sql=("SELECT n, text FROM lines WHERE text LIKE '1%' ORDER BY text LIMIT 2",),
    )
    one(
        "secret",
        leak,
        ["config:stripe:restricted", "stripe"],
        ["secret", "key", "rk_live", "set", "token"],
        "stripe",
        "rk_live",
        hidden=secret,
    )
    one("rare value", nap, ["DEBUG"], ["SLEEP"], "DEBUG", "SLEEP")
    counts = [
        f"{many} keys",
        f"{many} sessions",
        f"{many} session",
        str(many),
        str(many + 1),
        "longest",
        "session:",
    ]
    asked = (
        "SELECT n, length(text) AS chars, substr(text, 1, 120) AS longest FROM lines ORDER BY 2 DESC LIMIT 2",
    )
    one("outlier", bulk, ['"del"', "del session", "DEL "], [*counts], '"del"', sql=asked)
    one(
        "outlier",
        forever,
        [ttl],
        ["promo:banner", "expire"],
        str(ttl),
        "promo:banner",
        '/"expire" "\\S+" "\\d{6,}"/',
    )
    one("rare value", shut, ["pubsub"], ["CLIENT", "KILL"], "KILL", "pubsub")
    one(
        "rare value",
        socket,
        ["redis.sock", "unix:"],
        ["unix", "socket", done[socket][3][0]],
        "unix:",
        "redis.sock",
    )
    gets = sum(one[3][0] == "get" for one in done)
    n.tally(gets, ["get", "GET"], '"get"', sql=w.how_many("get", '] "get"'))
    return n.parts("\n".join(lines) + "\n")


COLUMNS = "host,datacenter,device,model,serial,fstype,mount,options,size_gb,used_gb,used_pct,inodes_pct,smart,temp_c,collected_at"


@kind("df_inventory", "rows")
def df_inventory(rng: random.Random) -> Parts:
    """A CSV of hosts with their disks, as a playbook gathers them."""
    hosts = w.distinct(rng, 210, lambda r: f"{r.choice(w.TEAMS)}-{r.randint(1, 40):02d}.prod.example")
    clock = w.Clock(rng, datetime(2025, rng.randint(2, 8), rng.randint(2, 26), 4), 1, 14)
    models = ("SAMSUNG MZ7L31T9", "INTEL SSDPE2KX010T8", "WDC WUS4BB038D7P3E3", "SEAGATE ST8000NM017B")
    rows: list[dict[str, str]] = []
    for host in sorted(hosts):
        center, moment = rng.choice(("fra1", "fra2", "ams1")), clock.tick()
        model = rng.choice(models)
        for disk, mount in (("a", "/"), ("b", "/var/lib/data"), ("c", "/srv/backup"))[: rng.randint(2, 3)]:
            size = rng.choice((480, 960, 1920, 3840))
            used = round(size * w.near(rng, 0.48, 0.13, 0.08, 0.84), 1)
            cells = [
                host,
                center,
                f"/dev/sd{disk}1",
                model,
                w.alnum(rng, 12).upper(),
                w.pick(rng, {"ext4": 70, "xfs": 30}),
            ]
            cells += [
                mount,
                "rw;relatime",
                str(size),
                str(used),
                f"{100 * used / size:.1f}",
                str(rng.randint(2, 38)),
            ]
            cells += ["PASSED", str(rng.randint(27, 44)), f"{moment:%Y-%m-%dT%H:%M:%SZ}"]
            rows.append(dict(zip(COLUMNS.split(","), cells, strict=True)))
    spots = w.spots(rng, len(rows), 13, apart=5)
    full, fail, hot, ro, twin, blank, stale, lie, ntfs, nodes, leak, tape, away = spots
    rows[full].update(used_gb=rows[full]["size_gb"], used_pct="100.0")
    rows[fail]["smart"] = "FAILED"
    rows[hot]["temp_c"] = str(rng.randint(81, 94))
    rows[ro]["options"] = "ro;errors=remount-ro"
    rows[twin]["serial"] = rows[twin - 2]["serial"]
    rows[blank]["serial"] = ""
    old = f"2023-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    rows[stale]["collected_at"] = f"{old}T04:11:52Z"
    size = int(rows[lie]["size_gb"])
    rows[lie].update(used_gb=f"{size * 0.97:.1f}", used_pct="12.0")
    rows[ntfs]["fstype"] = "ntfs"
    rows[nodes]["inodes_pct"] = "99"
    secret = w.alnum(rng, 20)
    rows[leak].update(fstype="cifs", options=f"rw;username=svc_backup;password={secret}")
    big = rng.randint(410_000, 890_000)
    rows[tape].update(size_gb=str(big), used_gb=f"{big * 0.4:.1f}", used_pct="40.0")
    rows[away]["datacenter"] = "lab-home"
    text = "\n".join([COLUMNS, *(",".join(row.values()) for row in rows)]) + "\n"
    n = Lines(2)

    def one(what: str, k: int, telling: list, *searches: str, hidden: str = "", sql: str = "") -> None:
        row = rows[k]
        names = [
            row["host"],
            row["host"].split(".")[0],
            f"#{k}",
            f"#{k + 1}",
            *([row["serial"]] if k not in (blank, twin) else []),
        ]
        n.one(what, k, telling, names, *searches, hidden=hidden, sql=(sql,) if sql else ())

    get = "SELECT host, device, {0} FROM t WHERE {1}".format
    top = "SELECT host, device, {0} FROM t ORDER BY number({0}) DESC LIMIT 3".format
    whole = rows[full]["size_gb"]
    one(
        "outlier",
        full,
        ["100.0", "100 %", "100%", f"{whole},{whole},100.0"],
        ",100.0,",
        "used_pct",
        sql=top("used_pct"),
    )
    one("error", fail, ["FAILED"], "FAILED", "smart", sql=get("smart", "smart <> 'PASSED'"))
    heat = rows[hot]["temp_c"]
    one(
        "outlier",
        hot,
        [f"{heat} ", f"{heat}°", f"{heat},", f"temp_c {heat}", f"temp_c={heat}", f"{heat}"],
        "temp_c",
        f",{heat},",
        sql=top("temp_c"),
    )
    one(
        "rare value",
        ro,
        ["remount-ro", "ro;errors", "read-only"],
        "remount-ro",
        "options",
        sql=get("options", "options LIKE 'ro%'"),
    )
    serial = rows[twin]["serial"]
    n.say(
        "duplicate",
        w.same(serial, *dict.fromkeys((rows[twin]["host"], rows[twin - 2]["host"]))),
        serial,
        "serial",
        line=twin + 2,
        sql="SELECT serial, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1",
        derived=True,
    )
    n.say(
        "missing field",
        (
            *w.gone(
                [rows[blank]["host"], rows[blank]["host"].split(".")[0], f"#{blank}", f"row {blank}"],
                "serial",
            ),
            (str(blank + 2), "serial"),
        ),
        ",,",
        "serial",
        line=blank + 2,
        sql="SELECT host, device, serial, 'empty' AS note FROM t WHERE serial IS NULL OR serial = ''",
        derived=True,
    )
    one(
        "time jump",
        stale,
        [old, old[:7]],
        "2023-",
        "collected_at",
        sql="SELECT host, collected_at FROM t ORDER BY 2 LIMIT 2",
    )
    asked = get(
        "size_gb, used_gb, used_pct", "abs(100 * number(used_gb) / number(size_gb) - number(used_pct)) > 2"
    )
    told = rows[lie]["used_gb"]
    one("contradiction", lie, [told, f"{size},{told},12.0"], "used_pct", ",12.0,", sql=asked)
    one("rare value", ntfs, ["ntfs"], "ntfs", "fstype", sql=get("fstype", "fstype NOT IN ('ext4', 'xfs')"))
    told = ["inodes_pct 99", "inodes_pct=99", "inodes_pct: 99", "99%", "99 %", ",99,", "|99", "| 99", " 99"]
    one("outlier", nodes, told, ",99,", "inodes_pct", sql=top("inodes_pct"))
    asked = "SELECT host, 'password' AS word, fstype FROM t WHERE options LIKE '%password%'"
    one(
        "secret",
        leak,
        ["password", "svc_backup", "credential"],
        "password",
        "svc_backup",
        hidden=secret,
        sql=asked,
    )
    one("outlier", tape, w.spell(big), str(big), "size_gb", sql=top("size_gb"))
    one(
        "rare value",
        away,
        ["lab-home"],
        "lab-home",
        "datacenter",
        sql=get("datacenter", "datacenter = 'lab-home'"),
    )
    kinds = Counter(row["fstype"] for row in rows)
    n.tally(kinds["xfs"], ["xfs"], ",xfs,", "fstype", sql="SELECT fstype, count(*) AS n FROM t GROUP BY 1")
    total = sum(int(row["size_gb"]) for row in rows)
    n.say(
        "total",
        ((str(total),), (f"{total}.0",)),
        "size_gb",
        sql="SELECT sum(number(size_gb)) AS total FROM t",
        derived=True,
    )
    n.tally(
        len(rows),
        ["rows", "lines", "records", "disks", "entries"],
        "/dev/",
        sql="SELECT count(*) AS rows FROM t",
    )
    return n.parts(text)
