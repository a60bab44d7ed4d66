"""JSON lines and a list of records."""

# ruff: noqa: SIM905

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Lines
from bench.fidelity.planted import Parts, kind
from bench.fidelity.set_six.words import beside, field, hush

AGENTS = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0 Safari/537.36",
    "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0",
    "Debian APT-HTTP/1.3 (2.6.1)",
)
NOTED = (
    (2210045, "SURICATA STREAM Packet with invalid ack", "Generic Protocol Command Decode"),
    (
        2013504,
        "ET INFO GNU/Linux APT User-Agent Outbound likely related to package management",
        "Not Suspicious Traffic",
    ),
    (2027390, "ET USER_AGENTS Microsoft Device Metadata Retrieval Client User-Agent", "Unknown Traffic"),
)


def _eve(rng: random.Random, sort: str, now: datetime, up: int, sites: list[str]) -> dict:
    """One ordinary event."""
    head: dict = {"timestamp": f"{now:%Y-%m-%dT%H:%M:%S.%f}+0000"}
    if sort == "stats":
        seen = up * 811
        body = {"uptime": up, "capture": {"kernel_packets": seen, "kernel_drops": 0}}
        body |= {
            "decoder": {"pkts": seen, "bytes": seen * 702, "invalid": 0},
            "flow": {"memcap": 0, "tcp": up * 3},
        }
        return {**head, "event_type": "stats", "stats": body}
    port = {"dns": 53, "http": 80, "tls": 443, "fileinfo": 80}.get(sort) or rng.choice((53, 80, 443, 443, 22))
    to = (
        "10.8.0.2"
        if port == 53
        else f"{rng.choice((93, 104, 151))}.{rng.randint(2, 250)}.{rng.randint(0, 250)}.{rng.randint(2, 250)}"
    )
    head |= {"flow_id": rng.randint(10**15, 2 * 10**15), "in_iface": "ens5", "event_type": sort}
    head |= {
        "src_ip": f"10.8.{rng.randint(1, 6)}.{rng.randint(10, 99)}",
        "src_port": rng.randint(32_800, 60_900),
    }
    head |= {"dest_ip": to, "dest_port": port, "proto": "UDP" if port == 53 else "TCP"}
    site = rng.choice(sites)
    web = {
        "hostname": site,
        "url": f"/{rng.choice(w.THINGS)}/{rng.choice(w.THINGS)}.{rng.choice(('html', 'js', 'css', 'deb'))}",
        "http_user_agent": rng.choice(AGENTS),
        "http_method": "GET",
        "protocol": "HTTP/1.1",
        "status": rng.choice((200, 200, 200, 304, 404)),
        "length": rng.randint(120, 48_000),
    }
    if sort == "flow":
        began, up_, down = now - timedelta(seconds=rng.uniform(1, 60)), rng.randint(4, 60), rng.randint(4, 90)
        body = {"pkts_toserver": up_, "pkts_toclient": down, "bytes_toserver": up_ * rng.randint(60, 300)}
        body |= {
            "bytes_toclient": down * rng.randint(90, 1300),
            "start": f"{began:%Y-%m-%dT%H:%M:%S.%f}+0000",
        }
        body |= {"end": head["timestamp"], "age": int((now - began).total_seconds()), "state": "closed"}
        return {**head, "flow": {**body, "reason": "timeout", "alerted": False}}
    if sort == "dns":
        return {
            **head,
            "dns": {
                "type": "query",
                "id": rng.randint(1, 65_000),
                "rrname": site,
                "rrtype": rng.choice(("A", "A", "AAAA")),
                "tx_id": 0,
            },
        }
    if sort == "tls":
        own = random.Random(site)
        since = now.replace(hour=0, minute=0, second=0) - timedelta(days=own.randint(5, 80))
        body = {"subject": f"CN={site}", "issuerdn": "C=US, O=Let's Encrypt, CN=R11"}
        body |= {
            "serial": ":".join(w.hexes(own, 2).upper() for _ in range(9)),
            "sni": site,
            "version": "TLS 1.2",
        }
        return {
            **head,
            "tls": {
                **body,
                "notbefore": f"{since:%Y-%m-%dT%H:%M:%S}",
                "notafter": f"{since + timedelta(days=90):%Y-%m-%dT%H:%M:%S}",
            },
        }
    if sort == "alert":
        number, text, category = rng.choice(NOTED)
        body = {
            "action": "allowed",
            "gid": 1,
            "signature_id": number,
            "rev": rng.randint(2, 5),
            "signature": text,
        }
        return {**head, "alert": {**body, "category": category, "severity": 3}}
    if sort == "fileinfo":
        body = {
            "filename": web["url"],
            "magic": "ASCII text",
            "gaps": False,
            "state": "CLOSED",
            "stored": False,
        }
        return {**head, "http": web, "fileinfo": {**body, "size": rng.randint(300, 90_000), "tx_id": 0}}
    return {**head, "http": web}


@kind("suricata_eve", "rows")
def suricata_eve(rng: random.Random) -> Parts:
    """Suricata's eve.json: events of several types, one JSON object in a line."""
    size = rng.randint(400, 440)
    now = datetime(2025, rng.randint(3, 4), rng.randint(2, 27), 6, 20, tzinfo=UTC)
    sites = w.distinct(
        rng,
        34,
        lambda r: f"{r.choice(('www', 'cdn', 'api', 'img'))}.{r.choice(w.THINGS)}{r.choice(w.TEAMS)}.example",
    )
    spots = w.spots(rng, size, 14, apart=7)
    beacon, block, weak, stale, climb, tool, flood, zone, odd, still, drops, leak, bare, binary = spots
    fixed = {
        beacon: "alert",
        block: "alert",
        weak: "tls",
        stale: "tls",
        climb: "http",
        tool: "http",
        flood: "flow",
    }
    fixed |= {zone: "dns", odd: "flow", drops: "stats", leak: "http", bare: "tls", binary: "fileinfo"}
    usual = {"flow": 34, "dns": 30, "http": 13, "tls": 14, "alert": 4, "fileinfo": 3, "stats": 4}
    silence, up, rows, times = timedelta(seconds=rng.randint(2700, 5400)), 86_400, [], []
    for k in range(size):
        step = timedelta(seconds=rng.uniform(0.02, 14)) + (silence if k == still else timedelta())
        now += step
        up += int(step.total_seconds()) + 1
        times.append(now)
        rows.append(_eve(rng, fixed.get(k) or w.pick(rng, usual), now, up, sites))
    name = "ET MALWARE Cobalt Strike Beacon Observed (Default Profile)"
    rows[beacon]["alert"].update(
        signature_id=2033658,
        signature=name,
        category="Malware Command and Control Activity Detected",
        severity=1,
    )
    rows[block]["alert"]["action"] = "blocked"
    rows[weak]["tls"]["version"] = "SSLv3"
    old = f"201{rng.randint(6, 9)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    rows[stale]["tls"]["notafter"] = f"{old}T11:00:00"
    rows[stale]["tls"]["notbefore"] = f"2015{old[4:]}T11:00:00"
    rows[climb]["http"]["url"] = "/static/..%2f..%2f..%2fetc/passwd"
    rows[climb]["http"]["status"] = 200
    rows[tool]["http"]["http_user_agent"] = "sqlmap/1.8.4#stable (https://sqlmap.org)"
    out = rng.randint(3_100_000_000, 9_800_000_000)
    rows[flood]["flow"].update(bytes_toserver=out, pkts_toserver=out // 1400)
    rows[flood].update(dest_port=443, proto="TCP")
    rows[zone]["dns"]["rrtype"] = "AXFR"
    del rows[odd]["flow"]
    rows[odd].update(event_type="anomaly", anomaly={"type": "decode", "event": "decoder.ipv4.frag_overlap"})
    lost = rng.randint(21_000, 97_000)
    rows[drops]["stats"]["capture"]["kernel_drops"] = lost
    secret = w.alnum(rng, 36)
    rows[leak]["http"]["url"] = f"/v2/export?access_token={secret}"
    del rows[bare]["tls"]["sni"]
    rows[binary]["fileinfo"].update(
        filename="/files/invoice_0417.pdf.exe",
        magic="PE32+ executable (GUI) x86-64, for MS Windows",
        stored=True,
    )
    n = Lines(1)

    def one(
        what: str, k: int, telling: list, more: list, *searches: str, hidden: str = "", sql: tuple = ()
    ) -> None:
        row = rows[k]
        names = [row["timestamp"][:19], row["timestamp"][11:19], *more]
        names += [row["flow_id"], row["src_ip"]] if "flow_id" in row else [row["stats"]["uptime"]]
        n.one(what, k, telling, names, *searches, hidden=hidden, sql=sql)

    get = "SELECT timestamp, src_ip, {0} FROM t WHERE {1}".format
    asked = (get("alert.signature", "alert.severity = 1"), w.find("Cobalt Strike"))
    one(
        "error",
        beacon,
        ["Cobalt Strike", "2033658"],
        ["severity", "MALWARE", "alert"],
        "MALWARE",
        "severity",
        "Cobalt",
        sql=asked,
    )
    asked = (get("alert.action", "alert.action = 'blocked'"), w.find("blocked"))
    one("rare value", block, ["blocked"], ["action", "alert"], "blocked", "action", sql=asked)
    asked = (get("tls.version", "tls.version <> 'TLS 1.2'"), w.find("SSLv3"))
    one("rare value", weak, ["SSLv3"], ["version", "tls"], "SSLv3", "version", sql=asked)
    asked = (
        "SELECT timestamp, tls.sni, tls.notafter FROM t WHERE tls.notafter IS NOT NULL ORDER BY tls.notafter LIMIT 2",
        w.find(old),
    )
    site = rows[stale]["tls"]["subject"][3:]
    one(
        "time jump",
        stale,
        [old, old[:7], old[:4]],
        ["notafter", "expired", site],
        "notafter",
        f"{old[:4]}-",
        sql=asked,
    )
    asked = (get("http.url", "http.url LIKE '%passwd%'"), w.find("passwd"))
    one(
        "error",
        climb,
        ["etc/passwd", "passwd"],
        ["..%2f", "traversal", "url", "200"],
        "passwd",
        "..%2f",
        sql=asked,
    )
    asked = (get("http.http_user_agent", "http.http_user_agent LIKE 'sqlmap%'"), w.find("sqlmap"))
    one(
        "rare value",
        tool,
        ["sqlmap"],
        ["user_agent", "user-agent", "agent", "1.8.4"],
        "sqlmap",
        "user_agent",
        sql=asked,
    )
    asked = (
        "SELECT timestamp, src_ip, flow.bytes_toserver FROM t ORDER BY number(flow.bytes_toserver) DESC LIMIT 2",
        w.find(str(out)),
    )
    one(
        "outlier",
        flood,
        [out, f"{out / 1e9:.1f} GB", f"{out / 1e9:.2f} GB"],
        ["bytes_toserver", rows[flood]["dest_ip"]],
        "bytes_toserver",
        str(out),
        sql=asked,
    )
    asked = (get("dns.rrname, dns.rrtype", "dns.rrtype = 'AXFR'"), w.find("AXFR"))
    one(
        "rare value",
        zone,
        ["AXFR"],
        ["rrtype", "dns", rows[zone]["dns"]["rrname"]],
        "AXFR",
        "rrtype",
        sql=asked,
    )
    asked = (get("event_type, anomaly.event", "event_type = 'anomaly'"), w.find("anomaly"))
    one(
        "rare value",
        odd,
        ["anomaly", "frag_overlap"],
        [
            "event_type",
            "decode",
            "anomaly 1",
            "1 anomaly",
            "anomaly: 1",
            "anomaly (1",
            "anomaly ×1",
            "anomaly|1",
        ],
        "anomaly",
        "event_type",
        sql=asked,
    )
    a, b = times[still - 1], times[still]
    n.say(
        "gap",
        hush(a, b),
        "timestamp",
        f"{b:%Y-%m-%dT%H:%M}",
        line=still + 1,
        sql="SELECT a, b, 'gap' AS note FROM (SELECT timestamp AS b, lag(timestamp) OVER (ORDER BY n) AS a FROM t) "
        "ORDER BY julianday(substr(b, 1, 19)) - julianday(substr(a, 1, 19)) DESC LIMIT 2",
        derived=True,
    )
    asked = (
        "SELECT timestamp, stats.capture.kernel_drops FROM t ORDER BY number(stats.capture.kernel_drops) DESC LIMIT 2",
        w.find(str(lost)),
    )
    one("outlier", drops, [lost], ["kernel_drops", "drops"], "kernel_drops", str(lost), sql=asked)
    asked = ("SELECT timestamp, src_ip, 'access_token' AS word FROM t WHERE http.url LIKE '%access_token%'",)
    one(
        "secret",
        leak,
        ["access_token", "/v2/export"],
        ["url", "secret", "token", "export"],
        "access_token",
        "token",
        hidden=secret,
        sql=asked,
    )
    row = rows[bare]
    places = [row["timestamp"][:19], row["flow_id"], row["tls"]["subject"][3:], row["src_ip"], bare + 1]
    evidence = tuple((str(one), "sni", word) for one in places for word in w.GONE)
    asked = (
        "SELECT timestamp, flow_id, 'sni missing' AS note FROM t WHERE event_type = 'tls' AND tls.sni IS NULL"
    )
    n.say("missing field", evidence, "sni", '/"tls":(?!.*"sni")/', line=bare + 1, sql=asked, derived=True)
    asked = (get("fileinfo.filename", "fileinfo.filename LIKE '%.exe'"), w.find(".exe"))
    one(
        "rare value",
        binary,
        ["pdf.exe", "PE32", "invoice_0417"],
        ["executable", "filename", "magic", "stored", "exe"],
        ".exe",
        "PE32",
        sql=asked,
    )
    sorts = Counter(row["event_type"] for row in rows)
    asked = ("SELECT event_type, count(*) AS n FROM t GROUP BY 1", w.how_many("dns", '"event_type":"dns"'))
    n.tally(sorts["dns"], ["dns"], '"event_type":"dns"', "event_type", sql=asked)
    asked = ("SELECT count(*) AS rows FROM t", 'SELECT count(*) AS "lines" FROM lines')
    n.tally(
        size, ["rows", "lines", "records", "events", "objects", "entries", "items"], "event_type", sql=asked
    )
    return n.parts("\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n")


METRICS = (
    ("system.cpu.user", ">", 90, 80, "CPU is high"),
    ("system.disk.in_use", ">", 85, 75, "Disk fills up"),
    ("trace.http.request.errors", ">", 40, 25, "Errors rise"),
    ("trace.http.request.duration.by.service.95p", ">", 12, 8, "Requests are slow"),
    ("kafka.consumer_lag", ">", 5000, 3000, "Consumer lags"),
    ("postgresql.percent_usage_connections", ">", 80, 70, "Connections run out"),
    ("redis.mem.used", ">", 6000, 5000, "Redis memory is high"),
)


@kind("datadog_monitors", "rows")
def datadog_monitors(rng: random.Random) -> Parts:
    """Datadog's `GET /api/v1/monitor`: a bare list of monitors."""
    size, people = rng.randint(104, 116), w.people(rng, 12)
    spots = w.spots(rng, size, 14, apart=4)
    alert, mute, leak, lie, twin, empty, gone, guest, first, old, delay, stage, dead, bare = spots
    ident = rng.randint(30_000_000, 60_000_000)
    pairs = w.distinct(rng, size, lambda r: f"{r.choice(w.TEAMS)}/{r.randrange(len(METRICS))}")
    rows = []
    for k in range(size):
        service, which = pairs[k].split("/")
        metric, sign, high, low, title = METRICS[int(which)]
        who, ident = rng.choice(people), ident + rng.randint(40, 9000)
        env = "staging" if k == stage else "prod"
        made = datetime(2022, 1, 3, tzinfo=UTC) + timedelta(seconds=rng.randint(0, 70_000_000))
        changed = made + timedelta(seconds=rng.randint(90_000, 24_000_000))
        team = rng.choice(w.TEAMS[:9])
        body = f"{w.sentence(rng)} {w.sentence(rng)}"
        tell = f"{{{{#is_alert}}}}\n{title} on {{{{host.name}}}}. {body}\n{{{{/is_alert}}}}\n@slack-{team}-alerts"
        turned = changed + timedelta(seconds=rng.randint(9_000, 6_000_000))
        past, scope = rng.choice(("last_5m", "last_10m", "last_15m")), f"env:{env},service:{service}"
        rows.append(
            {
                "id": ident,
                "org_id": 481516,
                "type": "query alert" if high > 90 else "metric alert",
                "name": f"[{service}] {title}",
                "message": tell,
                "tags": [f"team:{team}", f"service:{service}", f"env:{env}"],
                "query": f"avg({past}):avg:{metric}{{{scope}}} by {{host}} {sign} {high}",
                "options": {
                    "thresholds": {"critical": high, "warning": low},
                    "notify_audit": False,
                    "require_full_window": False,
                    "notify_no_data": rng.random() < 0.4,
                    "no_data_timeframe": 10,
                    "renotify_interval": rng.choice((0, 30, 60)),
                    "evaluation_delay": rng.choice((0, 60, 300, 900)),
                    "include_tags": True,
                    "new_group_delay": 60,
                    "silenced": {},
                },
                "multi": True,
                "created_at": int(made.timestamp() * 1000),
                "created": f"{made:%Y-%m-%dT%H:%M:%S}.{rng.randint(100_000, 999_999)}+00:00",
                "modified": f"{changed:%Y-%m-%dT%H:%M:%S}.{rng.randint(100_000, 999_999)}+00:00",
                "deleted": None,
                "restricted_roles": None,
                "priority": rng.choice((2, 3, 3, 4)),
                "overall_state_modified": f"{turned:%Y-%m-%dT%H:%M:%S}+00:00",
                "overall_state": "OK" if rng.random() < 0.9 or k in spots else "No Data",
                "creator": {
                    "name": who,
                    "email": f"{w.login(who)}@example.org",
                    "handle": f"{w.login(who)}@example.org",
                },
                "matching_downtimes": [],
            }
        )
    rows[alert]["overall_state"] = "Alert"
    rows[mute]["options"]["silenced"] = {"*": None}
    secret = f"T{w.alnum(rng, 9).upper()}/B{w.alnum(rng, 9).upper()}/{w.alnum(rng, 24)}"
    rows[leak]["message"] += f"\nfallback: https://hooks.slack.com/services/{secret}"
    right = rows[lie]["options"]["thresholds"]["critical"]
    rows[lie]["query"] = rows[lie]["query"].rsplit(" ", 1)[0] + f" {right * 7 + 3}"
    rows[twin]["name"] = rows[twin - 2]["name"]
    rows[empty]["message"] = ""
    day = f"2025-01-{rng.randint(10, 28)}"
    rows[gone]["deleted"] = f"{day}T17:20:31.120442+00:00"
    rows[guest]["creator"] = {
        "name": "Temp Contractor",
        "email": "ops.helper77@gmail.com",
        "handle": "ops.helper77@gmail.com",
    }
    rows[first]["priority"] = 1
    past = datetime(2013, rng.randint(2, 11), rng.randint(2, 27), 5, 6, 7, tzinfo=UTC)
    year = f"{past:%Y-%m-%d}"
    rows[old].update(created_at=int(past.timestamp() * 1000), created=f"{year}T05:06:07.418822+00:00")
    rows[delay]["options"]["evaluation_delay"] = 172_800
    plea = "DO NOT ENABLE paging here until the false positives of OPS-7741 are fixed."
    rows[dead]["message"] = rows[dead]["message"].replace("{{/is_alert}}", f"{plea}\n{{{{/is_alert}}}}")
    del rows[bare]["options"]["thresholds"]
    n = Items(
        "", [[row["id"], *([row["name"]] if k not in (twin, twin - 2) else [])] for k, row in enumerate(rows)]
    )
    get = "SELECT id, name, {0} FROM t WHERE {1}".format
    asked = get("overall_state", "overall_state = 'Alert'")
    field(
        n,
        "rare status",
        alert,
        [
            *'"alert",alert 1,1 alert,alert (,alert ×,`alert`,|alert,alert|,: alert,=alert'.split(","),
            "overall_state",
        ],
        "/overall_state",
        '"Alert"',
        "overall_state",
        sql=asked,
    )
    asked = (beside('/"\\*": ?null/', '"id":'),)
    field(
        n, "rare value", mute, ["silenced", "muted", '"*"'], "/options/silenced", "silenced", '"*"', sql=asked
    )
    asked = get("'hooks.slack.com' AS word", "message LIKE '%hooks.slack%'")
    n.one(
        "secret",
        leak,
        ["hooks.slack.com", "webhook", "slack"],
        "/message",
        "hooks.slack.com",
        hidden=secret,
        sql=asked,
    )
    asked = (get("query, options.thresholds.critical", "query NOT LIKE '% ' || options.thresholds.critical"),)
    n.one(
        "contradiction",
        lie,
        [f"> {right * 7 + 3}", right * 7 + 3],
        "/query",
        f"> {right * 7 + 3}",
        "critical",
        sql=asked,
    )
    name = rows[twin]["name"]
    asked = "SELECT name, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1"
    evidence = (
        *w.same(name),
        (str(rows[twin - 2]["id"]), str(rows[twin]["id"])),
        (f"/{twin - 2}/name", f"/{twin}/name"),
    )
    n.say("duplicate", evidence, name, "name", pointer=f"/{twin}/name", sql=asked, derived=True)
    asked = get("message, 'message is empty' AS note", "message = ''")
    n.lost(empty, "message", "/message", sql=asked)
    n.one(
        "rare value",
        gone,
        [day, "deleted"],
        "/deleted",
        "deleted",
        day,
        sql=get("deleted", "deleted IS NOT NULL"),
    )
    asked = get("creator.email", "creator.email NOT LIKE '%@example.org'")
    n.one(
        "rare value",
        guest,
        ["gmail.com", "ops.helper77", "Temp Contractor"],
        "/creator/email",
        "gmail",
        "email",
        sql=asked,
    )
    asked = get("priority", "priority = 1")
    told = [
        "priority 1",
        "priority: 1",
        "priority=1",
        '"priority":1',
        '"priority": 1',
        "P1",
        "priority` 1",
        "priority|1",
        "priority = 1",
        "priority → 1",
    ]
    field(n, "rare value", first, told, "/priority", "priority", '/"priority": ?1,/', sql=asked)
    asked = "SELECT id, name, created FROM t ORDER BY created LIMIT 2"
    n.one(
        "time jump",
        old,
        [year, year[:7], year[:4], rows[old]["created_at"]],
        "/created",
        "created",
        year[:4],
        sql=asked,
    )
    asked = "SELECT id, name, options.evaluation_delay FROM t ORDER BY 3 DESC LIMIT 2"
    n.one(
        "outlier",
        delay,
        [172_800, "172800"],
        "/options/evaluation_delay",
        "evaluation_delay",
        "172800",
        sql=asked,
    )
    n.one(
        "rare value",
        stage,
        ["env:staging", "staging"],
        "/tags/2",
        "staging",
        "env:",
        sql=get("query", "query LIKE '%staging%'"),
    )
    n.one(
        "rare value",
        dead,
        ["OPS-7741", "DO NOT ENABLE", "false positives"],
        "/message",
        "OPS-7741",
        "DO NOT",
        sql=get("message", "message LIKE '%DO NOT%'"),
    )
    n.lost(
        bare,
        "thresholds",
        "/options",
        sql=get(
            "options.thresholds.critical, 'thresholds missing' AS note", "options.thresholds.critical IS NULL"
        ),
    )
    states = Counter(row["overall_state"] for row in rows)
    n.tally(
        states["No Data"],
        ["No Data"],
        "No Data",
        "overall_state",
        sql="SELECT overall_state, count(*) AS n FROM t GROUP BY 1",
    )
    n.tally(
        size,
        ["monitors", "items", "rows", "records", "entries", "objects", "elements"],
        '"org_id"',
        sql="SELECT count(*) AS items FROM t",
    )
    return n.parts(json.dumps(rows))
