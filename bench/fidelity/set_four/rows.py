"""Lists of records, tables and logs."""

# ruff: noqa: SIM905

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Items, Lines
from bench.fidelity.planted import Parts, kind


def _charge(rng: random.Random, number: int, moment: int, who: str) -> dict:
    """One object of Stripe's list of charges."""
    amount, key = rng.randint(900, 24_000), w.alnum(rng, 22)
    brand = w.pick(rng, {"visa": 60, "mastercard": 32, "amex": 8})
    country = rng.choice(("DE", "FR", "IT", "ES", "AT"))
    return {
        "id": f"ch_3{key}",
        "object": "charge",
        "amount": amount,
        "amount_captured": amount,
        "amount_refunded": 0,
        "application": None,
        "balance_transaction": f"txn_3{w.alnum(rng, 22)}",
        "billing_details": {
            "address": {
                "city": rng.choice(w.TOWNS),
                "country": country,
                "line1": f"{rng.choice(w.THINGS).capitalize()} street {rng.randint(1, 140)}",
                "line2": None,
                "postal_code": str(rng.randint(10_000, 99_999)),
                "state": None,
            },
            "email": f"{w.login(who)}@example.org",
            "name": who,
            "phone": None,
        },
        "captured": True,
        "created": moment,
        "currency": w.pick(rng, {"eur": 78, "usd": 22}),
        "customer": f"cus_{w.alnum(rng, 14)}",
        "description": f"Order {number}",
        "disputed": False,
        "failure_code": None,
        "failure_message": None,
        "fraud_details": {},
        "invoice": None,
        "livemode": True,
        "metadata": {"order_id": str(number)},
        "outcome": {
            "network_status": "approved_by_network",
            "reason": None,
            "risk_level": "normal",
            "risk_score": rng.randint(3, 44),
            "seller_message": "Payment complete.",
            "type": "authorized",
        },
        "paid": True,
        "payment_intent": f"pi_3{w.alnum(rng, 22)}",
        "payment_method": f"pm_1{w.alnum(rng, 22)}",
        "payment_method_details": {
            "card": {
                "brand": brand,
                "checks": {"address_line1_check": "pass", "cvc_check": "pass"},
                "country": country,
                "exp_month": rng.randint(1, 12),
                "exp_year": rng.randint(2026, 2030),
                "fingerprint": w.alnum(rng, 16),
                "funding": w.pick(rng, {"credit": 55, "debit": 45}),
                "last4": f"{rng.randint(0, 9999):04d}",
                "network": brand,
            },
            "type": "card",
        },
        "receipt_email": f"{w.login(who)}@example.org",
        "receipt_url": f"https://pay.stripe.com/receipts/payment/{w.alnum(rng, 40)}",
        "refunded": False,
        "status": "succeeded",
    }


@kind("stripe_charges", "rows")
def stripe_charges(rng: random.Random) -> Parts:
    """Stripe's `GET /v1/charges`: a list object, the newest charge first."""
    size = rng.randint(76, 84)
    moment = int(datetime(2025, 6, rng.randint(10, 25), 18, tzinfo=UTC).timestamp())
    first, rows = rng.randint(61_000, 69_000), []
    for i, who in enumerate(w.people(rng, size)):
        moment -= rng.randint(300, 5400)
        rows.append(_charge(rng, first + size - i, moment, who))
    spots = w.spots(rng, size, 17, apart=3)
    broken, big, fight, test, coin, lost, double, held, risk, old, leak, back, *declined = spots

    def fail(i: int, code: str, message: str, kind_: str, reason: str | None) -> None:
        rows[i].update(
            failure_code=code, failure_message=message, paid=False, status="failed", captured=False
        )
        rows[i].update(amount_captured=0, balance_transaction=None)
        rows[i]["outcome"].update(
            network_status="declined_by_network", reason=reason, seller_message=message, type=kind_
        )

    for i in declined:
        fail(i, "card_declined", "Your card was declined.", "issuer_declined", "generic_decline")
    note = "An error occurred while processing your card. Try again in a little bit."
    fail(broken, "processing_error", note, "issuer_declined", "processing_error")
    huge = rng.randint(2_400_000, 4_900_000)
    rows[big].update(amount=huge, amount_captured=huge)
    rows[fight]["disputed"] = True
    rows[test]["livemode"] = False
    rows[coin]["currency"] = "isk"
    del rows[lost]["receipt_email"]
    rows[double]["metadata"]["order_id"] = rows[double - 1]["metadata"]["order_id"]
    rows[double]["description"] = rows[double - 1]["description"]
    rows[held].update(captured=False, amount_captured=0)
    score = rng.randint(91, 97)
    rows[risk]["outcome"].update(risk_level="highest", risk_score=score)
    rows[old]["created"] = int(datetime(2021, 3, rng.randint(2, 27), 4, 5, 6, tzinfo=UTC).timestamp())
    secret = "sk_live_" + w.alnum(rng, 24)
    rows[leak]["metadata"]["note"] = secret
    part = rows[back]["amount"] // 2
    rows[back]["amount_refunded"] = part
    n = Items("/data", [[row["id"]] for row in rows])
    get = "SELECT id, {0} FROM t WHERE {1}".format
    n.one(
        "error",
        broken,
        ["processing_error", "error occurred while processing"],
        "/failure_code",
        "processing_error",
        "failure_code",
        sql=(
            get("failure_code, failure_message", "failure_code IS NOT NULL"),
            get("failure_code", "status='failed'"),
        ),
    )
    asked = "SELECT id, amount FROM t ORDER BY amount DESC LIMIT 3"
    n.one("outlier", big, w.spell(huge), "/amount", "amount", str(huge), sql=asked)
    n.one("rare value", fight, ["disputed"], "/disputed", "disputed", sql=get("disputed", "disputed"))
    n.one("rare value", test, ["livemode"], "/livemode", "livemode", sql=get("livemode", "NOT livemode"))
    asked = get("currency", "currency NOT IN ('eur', 'usd')")
    n.one("rare value", coin, ["isk"], "/currency", "currency", "isk", sql=asked)
    n.lost(lost, "receipt_email", sql=get("receipt_email", "receipt_email IS NULL"))
    order = rows[double]["metadata"]["order_id"]
    n.twice(
        double - 1,
        double,
        order,
        "/metadata/order_id",
        "order_id",
        sql="SELECT metadata.order_id, count(*) AS n FROM t GROUP BY 1 HAVING n > 1",
    )
    asked = get("status, captured", "NOT captured AND status = 'succeeded'")
    n.one("rare value", held, ["captured"], "/captured", "captured", sql=asked)
    asked = "SELECT id, outcome.risk_level, outcome.risk_score FROM t ORDER BY 3 DESC LIMIT 3"
    n.one("outlier", risk, ["highest", score], "/outcome/risk_score", "highest", "risk_score", sql=asked)
    moment = rows[old]["created"]
    date = f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d}"
    asked = "SELECT id, created FROM t ORDER BY created LIMIT 2"
    n.one("time jump", old, [moment, date, "2021"], "/created", "created", str(moment)[:4], sql=asked)
    n.one(
        "secret",
        leak,
        ["sk_live", "metadata.note", "/metadata/note", "stripe key", "secret key", "api key", "stripe"],
        "/metadata/note",
        "sk_live",
        "metadata",
        hidden=secret,
        sql=get("'metadata.note' AS place", "metadata.note IS NOT NULL"),
    )
    asked = get("amount, amount_refunded", "amount_refunded > 0")
    n.one("rare value", back, [part], "/amount_refunded", "amount_refunded", sql=asked)
    euros = [row["amount"] for row in rows if row["currency"] == "eur"]
    asked = "SELECT currency, count(*) AS n, sum(amount) AS total FROM t GROUP BY 1"
    n.tally(len(euros), ["eur"], "eur", "currency", sql=asked)
    bad = sum(row["status"] == "failed" for row in rows)
    n.tally(bad, ["failed"], "failed", "status", sql="SELECT status, count(*) AS n FROM t GROUP BY 1")
    total = sum(euros)
    n.say("total", ((str(total),), (f"{total / 100:.2f}",)), "amount", "eur", sql=asked, derived=True)
    n.tally(
        size, ["charges", "data", "items", "rows", "records"], "ch_3", sql="SELECT count(*) AS charges FROM t"
    )
    return n.parts(
        json.dumps({"object": "list", "data": rows, "has_more": True, "url": "/v1/charges"}, indent=2)
    )


@kind("mongod_jsonl", "rows")
def mongod_jsonl(rng: random.Random) -> Parts:
    """The structured log of mongod: one JSON object in each line, as of MongoDB 4.4."""
    size = rng.randint(470, 520)
    clock = w.Clock(rng, datetime(2025, 3, rng.randint(3, 22), 1), 0.5, 21)
    pause = rng.randint(int(size * 0.3), int(size * 0.7))
    link, rows = rng.randint(48_000, 52_000), []
    sets = rng.sample(w.THINGS, 14)
    skip = rng.randint(int(size * 0.2), int(size * 0.28))
    skipped: tuple[int, int] = (0, 0)
    before = after = ""
    for i in range(size):
        if i == pause:
            before = f"{clock.now:%Y-%m-%dT%H:%M}"
            clock.now += timedelta(minutes=rng.randint(95, 140))
        now = clock.tick()
        after = after or (f"{now:%Y-%m-%dT%H:%M}" if i == pause else "")
        message = w.pick(rng, {"open": 26, "close": 20, "auth": 20, "slow": 22, "wt": 12})
        far = f"10.61.{rng.randint(0, 9)}.{rng.randint(2, 250)}:{rng.randint(33_000, 60_000)}"
        if i > skip and not skipped[0] and message == "open":
            skipped = (link, link + rng.randint(6, 9))
            link = skipped[1] - 1
        if message == "open":
            link += 1
            attr = {
                "remote": far,
                "uuid": w.uuid(rng),
                "connectionId": link,
                "connectionCount": rng.randint(40, 95),
            }
            part, ident, ctx, text = "NETWORK", 22943, "listener", "Connection accepted"
        elif message == "close":
            attr = {"remote": far, "uuid": w.uuid(rng), "connectionCount": rng.randint(40, 95)}
            part, ident, ctx, text = (
                "NETWORK",
                22944,
                f"conn{rng.randint(20_000, 29_000)}",
                "Connection ended",
            )
        elif message == "auth":
            attr = {
                "client": far,
                "isSpeculative": True,
                "mechanism": "SCRAM-SHA-256",
                "user": rng.choice(("shop", "report", "sync")),
                "db": "admin",
                "metrics": {"conversation_duration": {"micros": rng.randint(1800, 9900)}},
            }
            part, ident, ctx = "ACCESS", 5286306, f"conn{rng.randint(20_000, 29_000)}"
            text = "Successfully authenticated"
        elif message == "slow":
            name = rng.choice(sets)
            seen = rng.randint(60, 900)
            attr = {
                "type": "command",
                "ns": f"shop.{name}s",
                "command": {"find": f"{name}s", "filter": {"ref": rng.randint(1, 9000)}, "$db": "shop"},
                "planSummary": "IXSCAN { ref: 1 }",
                "keysExamined": seen,
                "docsExamined": seen,
                "nreturned": rng.randint(1, 50),
                "remote": far,
                "durationMillis": int(w.near(rng, 210, 80, 101, 590)),
            }
            part, ident, ctx, text = "COMMAND", 51803, f"conn{rng.randint(20_000, 29_000)}", "Slow query"
        else:
            told = f"saving checkpoint snapshot min: {rng.randint(10**5, 10**6)}, oldest timestamp: (0, 0)"
            attr = {"message": {"session_name": "WT_SESSION.checkpoint", "msg": told}}
            part, ident, ctx, text = "STORAGE", 22430, "Checkpointer", "WiredTiger message"
        rows.append(
            {
                "t": {"$date": f"{now:%Y-%m-%dT%H:%M:%S}.{rng.randint(0, 999):03d}+00:00"},
                "s": "I",
                "c": part,
                "id": ident,
                "ctx": ctx,
                "msg": text,
                "attr": attr,
            }
        )
    free = [i for i, row in enumerate(rows) if row["id"] != 22943 and size * 0.05 < i < size * 0.95]
    free = [i for i in free if abs(i - pause) > 2]
    crc, fatal, lag, slow, scan, drop, auth, leak, bare, back, cap = (
        free[k] for k in w.spots(rng, len(free), 11)
    )

    def put(i: int, level: str, part: str, ident: int, text: str, attr: dict) -> None:
        rows[i].update(s=level, c=part, id=ident, msg=text, attr=attr)

    block = rng.randint(10**6, 10**7)
    told = f"shop/collection-91-{block}.wt: handle-read: pread: failed to read 4096 bytes at offset 77824"
    put(crc, "E", "STORAGE", 22435, "WiredTiger error", {"error": 5, "message": told})
    put(
        fatal,
        "F",
        "-",
        23089,
        "Fatal assertion",
        {"msgid": 28558, "file": "wiredtiger_util.cpp", "line": 539},
    )
    late = rng.randint(640, 990)
    told = {"lagSecs": late, "syncSource": "db-03:27017"}
    put(lag, "W", "REPL", 21799, "Sync source is too far behind", told)
    took = rng.randint(400_000, 900_000)
    attr = {
        "type": "command",
        "ns": "shop.orders_all",
        "planSummary": "IXSCAN { day: 1 }",
        "durationMillis": took,
    }
    put(slow, "I", "COMMAND", 51803, "Slow query", attr)
    attr = {"type": "command", "ns": "shop.visitors", "planSummary": "COLLSCAN", "durationMillis": 580}
    put(scan, "I", "COMMAND", 51803, "Slow query", attr)
    put(drop, "I", "COMMAND", 20337, "dropDatabase - starting", {"db": "reporting_2024"})
    attr = {"mechanism": "SCRAM-SHA-256", "user": "root", "db": "admin", "remote": "185.220.101.4:40122"}
    put(auth, "I", "ACCESS", 20249, "Authentication failed", {**attr, "error": "UserNotFound"})
    secret = w.alnum(rng, 18)
    attr = {"type": "command", "ns": "admin.$cmd", "command": {"createUser": "etl", "pwd": secret}}
    put(leak, "I", "COMMAND", 51803, "Slow query", {**attr, "durationMillis": 140})
    del rows[bare]["ctx"]
    rows[back]["t"]["$date"] = "2019-11-1" + rows[back]["t"]["$date"][9:]
    put(
        cap,
        "W",
        "NETWORK",
        22942,
        "Connection refused because there are too many open connections",
        {"count": 819},
    )
    text = "\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n"
    n = Lines()

    def one(
        what: str, i: int, telling: list, more: list, *searches: str, hidden: str = "", sql: str = ""
    ) -> None:
        names = [rows[i]["t"]["$date"][:19], f"#{i}", *more]
        n.one(what, i, telling, names, *searches, hidden=hidden, sql=(sql,) if sql else ())

    get = "SELECT n, s, c, msg, attr.{0} FROM t WHERE {1}".format
    one("error", crc, ["handle-read", "failed to read"], ["WiredTiger error", block], "WiredTiger error")
    one("error", fatal, ["Fatal assertion"], ["28558", "23089", "wiredtiger_util.cpp"], "Fatal", '"s":"F"')
    one("error", lag, ["too far behind", late], ["db-03", "lagSecs", "REPL"], "lagSecs", "REPL")
    asked = "SELECT n, msg, attr.durationMillis FROM t ORDER BY 3 DESC LIMIT 3"
    one("outlier", slow, w.spell(took), ["orders_all", "durationMillis", slow], "durationMillis", sql=asked)
    one("rare value", scan, ["COLLSCAN"], ["shop.visitors", scan], "COLLSCAN", "planSummary")
    one("rare value", drop, ["dropDatabase"], ["reporting_2024"], "dropDatabase")
    asked = get("remote", "msg LIKE '%failed%'")
    one(
        "error",
        auth,
        ["Authentication failed"],
        ["185.220.101.4", "root"],
        "Authentication failed",
        sql=asked,
    )
    told = ["createUser", "pwd", "password"]
    one("secret", leak, told, ["etl", "secret", leak], "pwd", "createUser", hidden=secret)
    places = [rows[bare]["t"]["$date"][:19], f"line {bare + 1}", f"#{bare}", f"row {bare}", f"{bare}|"]
    asked = "SELECT n, t.$date, ctx FROM t WHERE ctx IS NULL"
    n.say("missing field", w.gone(places, "ctx"), "ctx", line=bare + 1, sql=asked, derived=True)
    one("time jump", back, [rows[back]["t"]["$date"][:10]], ["$date", back], "2019-", "$date")
    one("error", cap, ["too many open connections"], ["22942", "819"], "too many", '"s":"W"')
    a, b = skipped
    lost = [str(one) for one in range(a + 1, b)]
    n.say(
        "gap",
        w.gap(lost, a, b),
        str(a),
        "connectionId",
        sql="SELECT n, id, was FROM (SELECT n, attr.connectionId AS id, lag(attr.connectionId) OVER (ORDER BY n) AS was "
        "FROM t WHERE attr.connectionId IS NOT NULL) WHERE id <> was + 1",
        derived=True,
    )
    n.say(
        "time jump",
        (
            *w.span(before, after),
            *w.pairs([before, after, before.replace("T", " "), after.replace("T", " ")], w.LEAP[:9]),
            *w.pairs(["gap", "silence", "pause"], [f"line {pause}", f"line {pause + 1}", f"{before[11:]}"]),
        ),
        before,
        after,
        line=pause + 1,
    )
    levels, parts = Counter(row["s"] for row in rows), Counter(row["c"] for row in rows)
    group = "SELECT {0}, count(*) AS n FROM t GROUP BY 1".format
    n.tally(
        parts["NETWORK"], ["NETWORK"], "NETWORK", sql=(group("c"), w.how_many("NETWORK", '"c":"NETWORK"'))
    )
    n.tally(levels["I"], ['"I"', "I", "s=I", "level I", "severity I", "info"], '"s":"I"', sql=group("s"))
    n.tally(size, ["lines", "rows", "records", "entries"], "$date", sql="SELECT count(*) AS lines FROM lines")
    return n.parts(text)


HAPROXY = (
    "# pxname,svname,qcur,qmax,scur,smax,slim,stot,bin,bout,dreq,dresp,ereq,econ,eresp,wretr,wredis,status,weight,act,"
    "bck,chkfail,chkdown,lastchg,downtime,qlimit,pid,iid,sid,throttle,lbtot,tracked,type,rate,rate_lim,rate_max,"
    "check_status,check_code,check_duration,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,hanafail,req_rate,"
    "req_rate_max,req_tot,cli_abrt,srv_abrt,comp_in,comp_out,comp_byp,comp_rsp,lastsess,last_chk,last_agt,qtime,ctime,"
    "rtime,ttime,agent_status,agent_code,agent_duration,check_desc,agent_desc,check_rise,check_fall,check_health,"
    "agent_rise,agent_fall,agent_health,addr,cookie,mode,algo,conn_rate,conn_rate_max,conn_tot,intercepted,dcon,dses,"
)


@kind("haproxy_csv", "rows")
def haproxy_csv(rng: random.Random) -> Parts:
    """`show stat` of HAProxy 2.4: CSV with a commented header and a comma at the end of each line."""
    columns = HAPROXY[2:-1].split(",")
    rows: list[dict[str, object]] = []
    since, net = rng.randint(600_000, 800_000), rng.randint(20, 90)
    names = sorted(rng.sample(w.TEAMS, rng.randint(34, 38)))

    def add(px: str, sv: str, kind_: int, iid: int, sid: int, stot: int, **more: object) -> dict[str, object]:
        row: dict[str, object] = dict.fromkeys(columns, "")
        ok = int(stot * 0.94)
        row.update(pxname=px, svname=sv, scur=rng.randint(0, 9), smax=rng.randint(20, 70), stot=stot)
        row.update(
            bin=stot * rng.randint(600, 800), bout=stot * rng.randint(4000, 6000), pid=1, iid=iid, sid=sid
        )
        row.update(type=kind_, rate=rng.randint(0, 5), rate_max=rng.randint(20, 60), hrsp_1xx=0, hrsp_2xx=ok)
        row.update(
            hrsp_3xx=int(stot * 0.02), hrsp_4xx=int(stot * 0.03), hrsp_5xx=rng.randint(0, 40), hrsp_other=0
        )
        row.update(mode="http", dreq=0, dresp=0, cli_abrt=rng.randint(0, 60), srv_abrt=rng.randint(0, 9))
        row.update(more)
        rows.append(row)
        return row

    for iid, name in enumerate(names, 2):
        stots = [rng.randint(52_000, 68_000) for _ in range(rng.randint(5, 7))]
        front = {
            "status": "OPEN",
            "slim": 20_000,
            "ereq": rng.randint(0, 90),
            "rate_lim": 0,
            "req_tot": sum(stots),
        }
        add(f"fe_{name}", "FRONTEND", 0, iid, 0, sum(stots), dcon=0, dses=0, intercepted=0, **front)
        for sid, stot in enumerate(stots, 1):
            add(
                f"be_{name}",
                f"{name}-{sid:02d}",
                2,
                iid,
                sid,
                stot,
                qcur=0,
                qmax=rng.randint(0, 4),
                econ=rng.randint(0, 12),
                eresp=rng.randint(0, 12),
                wretr=rng.randint(0, 5),
                wredis=0,
                status="UP",
                weight=100,
                act=1,
                bck=0,
                chkfail=rng.randint(0, 6),
                chkdown=rng.randint(0, 2),
                lastchg=since + rng.randint(0, 4000),
                downtime=rng.randint(0, 40),
                lbtot=stot,
                check_status="L7OK",
                check_code=200,
                check_duration=rng.randint(1, 9),
                last_chk="HTTP status check returned code <200>",
                lastsess=rng.randint(0, 9),
                qtime=0,
                ctime=rng.randint(0, 3),
                rtime=rng.randint(18, 60),
                ttime=rng.randint(70, 140),
                check_desc="Layer7 check passed",
                check_rise=2,
                check_fall=3,
                check_health=4,
                addr=f"10.{net}.{iid}.{10 + sid}:8080",
            )
        add(
            f"be_{name}",
            "BACKEND",
            1,
            iid,
            0,
            sum(stots),
            status="UP",
            weight=100 * len(stots),
            act=len(stots),
            bck=0,
            chkdown=0,
            lastchg=since + 4100,
            downtime=0,
            lbtot=sum(stots),
            algo="roundrobin",
            qcur=0,
        )
    servers = [i for i, row in enumerate(rows) if row["type"] == 2]
    spots = [servers[k] for k in w.spots(rng, len(servers), 11, apart=7)]
    dead, soft, drain, wait, fail, errors, idle, slow, twin, light, young = spots
    low = {"check_rise": 2, "check_health": 0, "act": 1}
    rows[dead].update(
        status="DOWN", check_status="L4CON", check_code="", last_chk="Connection refused", **low
    )
    rows[dead].update(check_desc="Layer4 connection problem")
    rows[soft].update(status="MAINT", check_status="", check_code="", last_chk="", check_desc="")
    rows[drain].update(status="DRAIN", weight=0)
    queue = rng.randint(420, 860)
    rows[wait].update(qcur=queue, qmax=queue)
    rows[fail].update(
        status="DOWN", check_status="L7STS", check_code=503, check_desc="Layer7 wrong status", **low
    )
    rows[fail].update(last_chk="HTTP status check returned code <503>")
    many = rng.randint(31_000, 48_000)
    rows[errors].update(hrsp_5xx=many, hrsp_2xx=int(str(rows[errors]["hrsp_2xx"])) - many)
    rows[idle].update(
        stot=0, lbtot=0, bin=0, bout=0, hrsp_2xx=0, hrsp_3xx=0, hrsp_4xx=0, hrsp_5xx=0, lastsess=-1
    )
    time = rng.randint(7100, 9800)
    rows[slow].update(rtime=time, ttime=time + 90)
    rows[twin]["addr"] = rows[twin - 1]["addr"] if rows[twin - 1]["type"] == 2 else rows[twin + 1]["addr"]
    rows[light]["weight"] = 7
    rows[young]["lastchg"] = rng.randint(31, 95)
    hole = next(i for i in servers if rows[i]["sid"] == 3 and all(abs(i - one) > 4 for one in spots))
    lost = str(rows[hole]["svname"])
    back = next(i for i in range(hole, len(rows)) if rows[i]["type"] == 1)
    rows[back].update(weight=int(str(rows[back]["weight"])) - 100, act=int(str(rows[back]["act"])) - 1)
    before, after = rows[hole - 1]["svname"], rows[hole + 1]["svname"]
    gone, marked = rows[hole], [id(rows[i]) for i in spots]
    rows = [row for row in rows if row is not gone]
    where = {mark: next(i for i, row in enumerate(rows) if id(row) == mark) for mark in marked}
    dead, soft, drain, wait, fail, errors, idle, slow, twin, light, young = (where[mark] for mark in marked)
    body = [",".join(str(row[one]) for one in columns) + "," for row in rows]
    text = "\n".join([HAPROXY, *body, ""]) + "\n"
    n = Lines(2)

    def one(what: str, i: int, telling: list, *searches: str, by: str) -> None:
        sv = rows[i]["svname"]
        asked = f"SELECT svname, {by} FROM t WHERE svname NOT IN ('FRONTEND', 'BACKEND') ORDER BY {by}"  # noqa: S608
        n.one(what, i, telling, [sv], *searches, sql=(asked + " LIMIT 4", f"{asked} DESC LIMIT 4"))

    n.one(
        "error", dead, ["Connection refused", "L4CON"], [rows[dead]["svname"]], "Connection refused", "L4CON"
    )
    n.one("rare value", soft, ["MAINT"], [rows[soft]["svname"]], "MAINT")
    n.one("rare value", drain, ["DRAIN"], [rows[drain]["svname"]], "DRAIN")
    one("outlier", wait, w.spell(queue), f",{queue},", "qcur", by="qcur")
    n.one("error", fail, ["503", "L7STS"], [rows[fail]["svname"]], "L7STS", "503")
    one("outlier", errors, w.spell(many), f",{many},", "hrsp_5xx", by="hrsp_5xx")
    told = ["stot 0", "stot=0", "stot: 0", "|0", "no sessions", "lastsess", "-1"]
    one("outlier", idle, told, ",-1,", "stot", by="stot")
    one("outlier", slow, w.spell(time), f",{time},", "rtime", by="rtime")
    both = [str(row["svname"]) for row in rows if row["addr"] == rows[twin]["addr"]]
    addr = str(rows[twin]["addr"])
    n.say(
        "duplicate",
        (*w.same(addr), (addr, *both), (f"{addr}|2",)),
        addr,
        "addr",
        line=twin + 2,
        sql=(w.find(addr), "SELECT addr, count(*) AS n FROM t WHERE addr <> '' GROUP BY 1 HAVING n > 1"),
    )
    told = ["weight 7", "weight=7", "weight: 7", "weight"]
    asked = "SELECT svname, weight FROM t WHERE weight NOT IN (0, 100) AND svname <> 'BACKEND'"
    n.one("outlier", light, [*told, "|7"], [rows[light]["svname"]], ",7,1,0,", "weight", sql=asked)
    one(
        "outlier",
        young,
        [rows[young]["lastchg"], "lastchg"],
        "lastchg",
        str(rows[young]["lastchg"]),
        by="lastchg",
    )
    asked = (
        "SELECT svname, prev, sid FROM (SELECT svname, sid, lag(svname) OVER (ORDER BY n) AS prev, "
        "lag(sid) OVER (ORDER BY n) AS was FROM t WHERE type = 2) WHERE sid > 1 AND sid <> was + 1"
    )
    n.say("gap", w.gap([lost], before, after), str(before), lost, derived=True, sql=asked)
    up = sum(row["status"] == "UP" for row in rows)
    n.tally(up, ["UP"], "UP", sql="SELECT status, count(*) AS n FROM t GROUP BY 1")
    down = sum(row["status"] == "DOWN" for row in rows)
    n.tally(down, ["DOWN"], "DOWN", sql="SELECT status, count(*) AS n FROM t GROUP BY 1")
    total = sum(int(str(row["stot"])) for row in rows if row["type"] == 2)
    asked = "SELECT sum(stot) AS total FROM t WHERE svname NOT IN ('FRONTEND', 'BACKEND')"
    every = sum(int(str(row["stot"])) for row in rows)
    n.say("total", ((str(total),), ("stot", str(every))), "stot", sql=asked, derived=True)
    n.tally(len(rows), ["rows", "records", "lines"], "be_", sql="SELECT count(*) AS rows FROM t")
    return n.parts(text)


@kind("lsof_list", "rows")
def lsof_list(rng: random.Random) -> Parts:
    """`lsof -nP`: open files in columns that are as wide as their widest value."""
    users = {"nginx": "www-data", "postgres": "postgres", "java": "app", "python3": "app", "sshd": "root"}
    users |= {"systemd-j": "root", "node": "web", "redis-ser": "redis", "dockerd": "root", "cron": "root"}
    rows: list[list[str]] = []
    pids = sorted(rng.sample(range(700, 32_000), 62))
    libs = [f"lib{one}.so.{rng.randint(1, 9)}" for one in rng.sample(w.THINGS, 40)]
    commands = []
    for pid in pids:
        command = w.pick(rng, dict.fromkeys(users, 1.0) | {"nginx": 2.0, "postgres": 2.6, "java": 2.0})
        commands.append(command)
        user = users[command]

        def add(fd: str, kind_: str, size: str, node: int | str, name: str, device: str = "259,1", /) -> None:
            rows.append([command, str(pid), user, fd, kind_, device, size, str(node), name])  # noqa: B023

        add("cwd", "DIR", "4096", rng.randint(1000, 90_000), f"/srv/{command}")
        add("rtd", "DIR", "4096", 2, "/")
        add(
            "txt",
            "REG",
            str(rng.randint(90_000, 9_000_000)),
            rng.randint(10**5, 10**6),
            f"/usr/sbin/{command}",
        )
        for lib in rng.sample(libs, rng.randint(4, 8)):
            size = str(rng.randint(20_000, 2_400_000))
            add("mem", "REG", size, rng.randint(10**5, 10**6), f"/usr/lib/x86_64-linux-gnu/{lib}")
        add("0r", "CHR", "0t0", 5, "/dev/null", "1,3")
        for fd in range(1, rng.randint(5, 9)):
            inode = rng.randint(10**6, 10**7)
            what = w.pick(rng, {"log": 30, "tcp": 40, "unix": 20, "event": 10})
            if what == "log":
                add(
                    f"{fd}w",
                    "REG",
                    str(rng.randint(900, 900_000)),
                    inode,
                    f"/var/log/{command}/{w.two(rng)}.log",
                )
            elif what == "tcp":
                ends = f"10.8.0.{rng.randint(2, 250)}:{rng.randint(33_000, 60_000)}->10.8.1.{rng.randint(2, 250)}:5432"
                add(f"{fd}u", "IPv4", "0t0", "TCP", f"{ends} (ESTABLISHED)", str(inode))
            elif what == "unix":
                device = f"0x{w.hexes(rng, 16)}"
                add(
                    f"{fd}u",
                    "unix",
                    "0t0",
                    inode,
                    f"/run/{command}/{rng.choice(w.THINGS)}.sock type=STREAM",
                    device,
                )
            else:
                add(f"{fd}u", "a_inode", "0", 11_337, "[eventpoll]", "0,14")
    free = [i for i, row in enumerate(rows) if row[3] not in ("cwd", "rtd", "txt", "mem", "0r")]
    spots = (free[k] for k in w.spots(rng, len(free), 11))
    gone, shell, key, half, big, raw, stale, memory, other, twin, usb = spots

    def put(i: int, kind_: str, device: str, size: str, node: str, name: str) -> None:
        rows[i][4:] = [kind_, device, size, node, name]

    lost = rng.randint(38, 79) * 10**9 + rng.randint(1, 10**6)
    put(gone, "REG", "259,1", str(lost), "771201", "/var/log/nightly-export.log (deleted)")
    put(shell, "IPv4", "8812340", "0t0", "TCP", "*:31337 (LISTEN)")
    put(key, "REG", "259,1", "2602", "55012", "/root/.ssh/id_ed25519")
    put(half, "IPv4", "8812377", "0t0", "TCP", "10.8.0.9:41022->198.51.100.77:6667 (SYN_SENT)")
    huge = rng.randint(610, 980) * 10**9
    put(big, "REG", "259,3", str(huge), "90417", "/data/dumps/everything.sql")
    put(raw, "raw", "8812391", "0t0", "255", "00000000:00FF->00000000:0000 st=07")
    put(stale, "REG", "0,52", "8192", "4402", "/mnt/nfs-old/ledger.lock (stat: Stale file handle)")
    put(memory, "CHR", "1,1", "0t0", "12", "/dev/mem")
    rows[other][2] = "intern7"
    put(twin, "IPv6", "8812402", "0t0", "TCP", "[::1]:9200 (CLOSE_WAIT)")
    put(usb, "BLK", "8,17", "0t0", "610", "/dev/sdb1")
    lost_row = next(i for i in range(len(rows) // 2, len(rows)) if rows[i][3] == "rtd")
    bare = rows[lost_row][1]
    rows = [row for i, row in enumerate(rows) if i != lost_row]
    fix = {i: i - (i > lost_row) for i in (gone, shell, key, half, big, raw, stale, memory, other, twin, usb)}
    head = ["COMMAND", "PID", "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF", "NODE", "NAME"]
    wide = [max(len(row[k]) for row in [head, *rows]) for k in range(9)]

    def shown(row: list[str]) -> str:
        left = {0, 4, 8}
        cells = [row[k].ljust(wide[k]) if k in left else row[k].rjust(wide[k]) for k in range(8)]
        return " ".join([*cells, row[8]])

    text = "\n".join(map(shown, [head, *rows])) + "\n"
    n = Lines(2)

    def one(what: str, i: int, telling: list, more: list, *searches: str, sql: tuple[str, ...] = ()) -> None:
        i = fix[i]
        n.one(what, i, telling, [f"{rows[i][0]} ", f"{rows[i][1]}", *more], *searches, sql=sql)

    one("rare value", gone, ["(deleted)", lost], ["nightly-export"], "deleted")
    one("rare value", shell, ["31337"], ["LISTEN"], "LISTEN", "31337")
    one("rare value", key, ["id_ed25519"], ["/root/.ssh"], "/.ssh/", "id_")
    one("rare value", half, ["SYN_SENT", "198.51.100.77"], ["6667"], "SYN_SENT")
    asked = "SELECT NAME, number(\"SIZE/OFF\") AS size FROM t WHERE TYPE = 'REG' ORDER BY 2 DESC LIMIT 3"
    one(
        "outlier",
        big,
        w.spell(huge),
        ["everything.sql", "/data/dumps"],
        "/data/dumps",
        "/ \\d{12} /",
        sql=(asked,),
    )
    one("rare value", raw, [" raw ", "raw"], ["st=07", "00FF"], "st=07", "raw")
    one("error", stale, ["Stale file handle"], ["nfs-old", "ledger.lock"], "Stale", "stat:")
    one("rare value", memory, ["/dev/mem"], [], "/dev/mem")
    one("rare value", other, ["intern7"], ["USER"], "intern7")
    one("rare value", twin, ["CLOSE_WAIT", "9200"], ["IPv6"], "CLOSE_WAIT", "IPv6")
    one("rare value", usb, ["/dev/sdb1", "BLK"], ["8,17", "BLK"], "BLK", "/dev/sd")
    n.say(
        "missing field",
        (*((bare, "rtd", word) for word in w.GONE), (f"{bare}|0",), (bare, "rtd|0")),
        "rtd",
        bare,
        sql="SELECT PID, sum(FD = 'rtd') AS rtd FROM t GROUP BY 1 HAVING rtd = 0",
        derived=True,
    )
    kinds = Counter(row[4] for row in rows)
    n.tally(kinds["REG"], ["REG"], "REG", sql="SELECT TYPE, count(*) AS n FROM t GROUP BY 1")
    live = sum("(ESTABLISHED)" in row[8] for row in rows)
    n.tally(live, ["ESTABLISHED"], "ESTABLISHED", sql=w.how_many("ESTABLISHED", "ESTABLISHED"))
    most, number = Counter(row[0] for row in rows).most_common(1)[0]
    n.tally(number, [most], most, sql="SELECT COMMAND, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC")
    n.tally(
        len(rows),
        ["rows", "records", "entries", "open files", "files"],
        "REG",
        sql="SELECT count(*) AS rows FROM t",
    )
    return n.parts(text)


@kind("zeek_conn", "rows")
def zeek_conn(rng: random.Random) -> Parts:
    """conn.log of Zeek: tab-separated values between comments that name fields and types."""
    fields = (
        "ts uid id.orig_h id.orig_p id.resp_h id.resp_p proto service duration orig_bytes resp_bytes conn_state "
        "local_orig local_resp missed_bytes history orig_pkts orig_ip_bytes resp_pkts resp_ip_bytes tunnel_parents"
    ).split()
    types = (
        "time string addr port addr port enum string interval count count string bool bool count string count count "
        "count count set[string]"
    ).split()
    size = rng.randint(780, 850)
    start = datetime(2025, 4, rng.randint(2, 24), 6, tzinfo=UTC)
    now, rows = start.timestamp(), []
    hosts = [f"192.168.{rng.randint(10, 14)}.{k}" for k in rng.sample(range(5, 250), 45)]
    peers = {
        "dns": ("192.168.1.53", 53, "udp"),
        "http": ("203.0.113.20", 80, "tcp"),
        "ntp": ("192.168.1.5", 123, "udp"),
    }
    peers |= {"ssl": ("203.0.113.44", 443, "tcp"), "-": ("192.168.1.90", 8443, "tcp")}
    pause = rng.randint(int(size * 0.35), int(size * 0.65))
    for i in range(size):
        now += rng.uniform(0.4, 14) + (rng.randint(7000, 9500) if i == pause else 0)
        service = w.pick(rng, {"dns": 40, "ssl": 36, "http": 14, "ntp": 6, "-": 4})
        host, port, proto = peers[service]
        out, back = rng.randint(60, 2400), rng.randint(80, 48_000)
        state = "SF" if proto == "udp" else w.pick(rng, {"SF": 84, "S1": 9, "RSTO": 7})
        history = "Dd" if proto == "udp" else {"SF": "ShADadFf", "S1": "ShADad", "RSTO": "ShADadR"}[state]
        p, q = rng.randint(1, 30), rng.randint(1, 40)
        rows.append(
            [
                *[
                    f"{now:.6f}",
                    "C" + w.alnum(rng, 17),
                    rng.choice(hosts),
                    str(rng.randint(32_768, 60_999)),
                    host,
                ],
                *[
                    str(port),
                    proto,
                    service,
                    f"{rng.uniform(0.002, 29):.6f}",
                    str(out),
                    str(back),
                    state,
                    "T",
                ],
                *[
                    "T" if host.startswith("192.168") else "F",
                    "0",
                    history,
                    str(p),
                    str(out + 40 * p),
                    str(q),
                ],
                *[str(back + 40 * q), "-"],
            ]
        )
    free = [i for i in range(size) if abs(i - pause) > 3]
    spots = (free[k] for k in w.spots(rng, len(free), 10))
    leak, long, chat, door, none, miss, double, back, tube, half = spots
    sent = rng.randint(3, 8) * 10**9 + rng.randint(1, 10**6)
    rows[leak][4:10] = ["198.51.100.23", "443", "tcp", "ssl", rows[leak][8], str(sent)]
    rows[leak][17] = str(sent + 900_000)
    time = f"{rng.randint(61_000, 79_000)}.{rng.randint(100_000, 999_998)}"
    rows[long][8] = time
    rows[chat][4:8] = ["198.51.100.140", "6697", "tcp", "irc"]
    rows[door][4:8] = ["192.168.1.77", "3389", "tcp", "rdp"]
    rows[door][11], rows[door][15] = "REJ", "Sr"
    rows[none][9], rows[none][10] = "-", "-"
    dropped = rng.randint(88_000, 99_000)
    rows[miss][14] = str(dropped)
    rows[double][1] = rows[double - 2][1]
    rows[back][0] = f"{float(rows[back][0]) - 86_400 * 400:.6f}"
    rows[tube][20] = rows[tube - 4][1]
    rows[half][11], rows[half][15] = "OTH", "Cc"
    opened = f"{start:%Y-%m-%d-%H-%M-%S}"
    head = [
        "#separator \\x09",
        "#set_separator\t,",
        "#empty_field\t(empty)",
        "#unset_field\t-",
        "#path\tconn",
    ]
    head += [f"#open\t{opened}", "#fields\t" + "\t".join(fields), "#types\t" + "\t".join(types)]
    closed = f"#close\t{datetime.fromtimestamp(now + 40, UTC):%Y-%m-%d-%H-%M-%S}"
    text = "\n".join([*head, *("\t".join(row) for row in rows), closed]) + "\n"
    n = Lines(len(head) + 1)

    def one(what: str, i: int, telling: list, more: list, *searches: str, sql: tuple[str, ...] = ()) -> None:
        n.one(what, i, telling, [rows[i][1], rows[i][0], f"#{i}", *more], *searches, sql=sql)

    top = "SELECT uid, {0} FROM t WHERE {0} <> '-' ORDER BY number({0}) DESC LIMIT 3".format
    one("outlier", leak, [sent], ["198.51.100.23"], "orig_bytes", str(sent), sql=(top("orig_bytes"),))
    told = [time, time.split(".", maxsplit=1)[0]]
    one("outlier", long, told, [rows[long][2]], "duration", told[1], sql=(top("duration"),))
    one("rare value", chat, ["irc", "6697"], ["198.51.100.140"], "irc", "6697")
    one("rare value", door, ["rdp", "REJ", "3389"], ["192.168.1.77", "REJ"], "rdp", "REJ")
    bytes_ = ["orig_bytes", "resp_bytes"]
    n.say(
        "missing field",
        w.gone([rows[none][1], f"line {none + n.first}", f"#{none}", rows[none][0]], *bytes_),
        "/\\t-\\t-\\t/",
        "orig_bytes",
        line=none + n.first,
        sql="SELECT n, uid, orig_bytes, resp_bytes FROM t WHERE orig_bytes = '-' OR orig_bytes IS NULL",
        derived=True,
    )
    one(
        "outlier", miss, [dropped], ["missed_bytes"], "missed_bytes", str(dropped), sql=(top("missed_bytes"),)
    )
    a, b = double - 2 + n.first, double + n.first
    n.say(
        "duplicate",
        (*w.same(rows[double][1]), (f"line {a}", f"{b}", "uid"), (f"{a}|", f"{b}|", rows[double][1])),
        rows[double][1],
        "uid",
        line=b,
        sql="SELECT uid, count(*) AS n FROM t GROUP BY 1 HAVING n > 1",
    )
    date = f"{datetime.fromtimestamp(float(rows[back][0]), UTC):%Y-%m-%d}"
    asked = ("SELECT n, uid, ts FROM t ORDER BY ts LIMIT 2",)
    one("time jump", back, [rows[back][0].split(".")[0], date], ["ts"], rows[back][0][:5], "ts", sql=asked)
    asked = ("SELECT uid, tunnel_parents FROM t WHERE tunnel_parents <> '-'",)
    one("rare value", tube, [rows[tube][20], "tunnel_parents"], [rows[tube][1]], "tunnel_parents", sql=asked)
    one("rare value", half, ["OTH"], ["conn_state", "Cc"], "OTH", "conn_state")
    x, y = rows[pause - 1][0], rows[pause][0]
    dates = [f"{datetime.fromtimestamp(float(one), UTC):%Y-%m-%d %H:%M}" for one in (x, y)]
    n.say(
        "time jump",
        (
            (x, y),
            (x.split(".")[0], y.split(".")[0]),
            tuple(dates),
            *w.pairs([x.split(".")[0], y.split(".")[0], dates[0][11:], dates[1][11:]], w.LEAP[:9]),
            *w.pairs(["gap", "silence", "pause"], [pause + n.first, pause + n.first - 1]),
        ),
        x[:7],
        y[:7],
        line=pause + n.first,
        sql="SELECT n, ts, ts - lag(ts) OVER (ORDER BY n) AS d FROM t ORDER BY d DESC LIMIT 2",
    )
    by = "SELECT {0}, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC".format
    services, states = Counter(row[7] for row in rows), Counter(row[11] for row in rows)
    n.tally(services["dns"], ["dns"], "dns", sql=by("service"))
    n.tally(states["SF"], ["SF"], "SF", sql=by("conn_state"))
    total = sum(int(row[10]) for row in rows if row[10] != "-")
    n.say(
        "total",
        ((str(total),),),
        "resp_bytes",
        sql="SELECT sum(number(resp_bytes)) AS b FROM t",
        derived=True,
    )
    n.tally(size, ["rows", "records", "connections", "entries"], "tcp", sql="SELECT count(*) AS rows FROM t")
    return n.parts(text)


@kind("dmesg_ring", "rows")
def dmesg_ring(rng: random.Random) -> Parts:
    """`dmesg`: the ring buffer of a Linux host that runs containers, with seconds since it started."""
    size = rng.randint(880, 960)
    now, rows = 0.0, []
    bridge = f"br-{w.hexes(rng, 12)}"
    devices = [
        f"{rng.randint(0, 3):04x}:{rng.randint(0, 63):02x}:{rng.randint(0, 31):02x}.0" for _ in range(60)
    ]
    pause = rng.randint(int(size * 0.5), int(size * 0.7))
    for i in range(size):
        boot = i < size * 0.3
        now += rng.uniform(0.0004, 0.05) if boot else rng.uniform(2, 90)
        if i == pause:
            now += rng.randint(150_000, 190_000)
        if i < 3:
            text = (
                "Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org) (gcc-12 (Debian 12.2.0-14) 12.2.0)",
                "Command line: BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root=/dev/mapper/vg0-root ro quiet",
                "BIOS-provided physical RAM map:",
            )[i]
            now = 0.0
        elif boot:
            device, address = rng.choice(devices), rng.randint(0x100, 0xEFF)
            text = rng.choice(
                (
                    f"pci {device}: [8086:{w.hexes(rng, 4)}] type 00 class 0x0{rng.randint(10, 99)}000",
                    f"pci {device}: reg 0x{rng.choice((10, 14, 18))}: [mem 0xd{address:03x}0000-0xd{address:03x}3fff]",
                    f"BIOS-e820: [mem 0x{address:013x}000-0x{address + 15:013x}fff] usable",
                    f"ACPI: SSDT 0x00000000{w.hexes(rng, 8).upper()} 000{w.hexes(rng, 3).upper()} (v02 PmRef  Cpu0Ist)",
                    f"pcieport {device}: PME: Signaling with IRQ {rng.randint(120, 190)}",
                    f"hub {rng.randint(1, 4)}-{rng.randint(1, 8)}:1.0: {rng.randint(2, 8)} ports detected",
                )
            )
        else:
            veth, port = f"veth{w.hexes(rng, 7)}", rng.randint(1, 30)
            what = w.pick(rng, {"ufw": 42, "port": 40, "veth": 18})
            text = {
                "ufw": (
                    f"[UFW BLOCK] IN=eno1 OUT= MAC={w.hexes(rng, 12)} SRC=203.0.113.{rng.randint(2, 250)} "
                    f"DST=10.4.0.12 LEN=40 TTL={rng.randint(40, 64)} PROTO=TCP SPT={rng.randint(33_000, 60_000)} "
                    f"DPT={rng.choice((22, 23, 445, 3389))} SYN URGP=0"
                ),
                "port": f"{bridge}: port {port}({veth}) entered {rng.choice(('blocking', 'forwarding', 'disabled'))} state",
                "veth": f"eth0: renamed from {veth}",
            }[what]
        rows.append([f"{now:12.6f}", text])
    spots = [k for k in w.spots(rng, size, 30, apart=4, low=0.32) if abs(k - pause) > 3]
    oom, ext, mce, disk, nic, seg, hung, lock, raid, taint, full = spots[:11]
    pid = rng.randint(20_000, 30_000)
    rows[oom][1] = (
        f"Out of memory: Killed process {pid} (java) total-vm:14122480kB, anon-rss:9120044kB, UID:1001"
    )
    inode = rng.randint(10**6, 10**7)
    rows[ext][1] = (
        f"EXT4-fs error (device dm-2): ext4_lookup:1855: inode #{inode}: comm rsync: deleted inode referenced"
    )
    rows[mce][1] = "mce: [Hardware Error]: Machine check events logged"
    sector = rng.randint(10**8, 10**9)
    rows[disk][1] = (
        f"blk_update_request: critical medium error, dev sdc, sector {sector} op 0x0:(READ) flags 0x80700"
    )
    rows[nic][1] = "igb 0000:02:00.0 eno1: igb: eno1 NIC Link is Down"
    address = w.hexes(rng, 12)
    rows[seg][1] = (
        f"php-fpm8.2[{pid + 71}]: segfault at 10 ip 0000{address} sp 00007ffd12aa error 4 in opcache.so"
    )
    rows[hung][1] = "INFO: task jbd2/dm-2-8:512 blocked for more than 120 seconds."
    stuck = rng.randint(22, 26)
    rows[lock][1] = f"watchdog: BUG: soft lockup - CPU#11 stuck for {stuck}s! [kworker/11:2:90412]"
    rows[raid][1] = "md/raid1:md0: Disk failure on sdc1, disabling device."
    rows[taint][1] = "vendorfs: loading out-of-tree module taints kernel."
    rows[full][1] = "nf_conntrack: nf_conntrack: table full, dropping packet"
    secret = w.alnum(rng, 16)
    leak = next(i for i in range(int(size * 0.2), size) if i not in spots and rows[i][1].startswith("pci "))
    rows[leak][1] = f"systemd[1]: Set credential ipmi.password={secret} from SMBIOS type 11"
    text = "\n".join(f"[{stamp}] {one}" for stamp, one in rows) + "\n"
    n = Lines()

    def one(what: str, i: int, telling: list, more: list, *searches: str, hidden: str = "") -> None:
        n.one(what, i, telling, [rows[i][0].strip(), *more], *searches, hidden=hidden)

    one("error", oom, ["Out of memory", "Killed process"], ["java", pid], "Out of memory", "Killed")
    one("error", ext, ["EXT4-fs error"], ["dm-2", inode], "EXT4-fs error")
    one("error", mce, ["Hardware Error", "Machine check"], ["mce"], "Hardware Error", "mce:")
    one("error", disk, ["critical medium error", sector], ["sdc"], "medium error", "sector")
    one("error", nic, ["NIC Link is Down", "Link is Down"], ["eno1", "igb"], "Link is Down")
    one("error", seg, ["segfault"], ["php-fpm", "opcache"], "segfault")
    one("error", hung, ["blocked for more than 120"], ["jbd2"], "blocked for more")
    one("error", lock, ["soft lockup"], ["CPU#11", f"{stuck}s"], "soft lockup", "BUG:")
    one("error", raid, ["Disk failure"], ["sdc1", "md0"], "Disk failure", "raid")
    one("rare value", taint, ["taints kernel", "out-of-tree"], ["vendorfs"], "taints")
    one("error", full, ["table full"], ["nf_conntrack", "dropping packet"], "table full", "dropping")
    told = ["ipmi.password", "password", "credential"]
    one("secret", leak, told, ["SMBIOS", "secret", "ipmi"], "password", "credential", hidden=secret)
    x, y = rows[pause - 1][0].strip(), rows[pause][0].strip()
    whole = [one.split(".")[0] for one in (x, y)]
    n.say(
        "time jump",
        (
            (x, y),
            tuple(whole),
            *w.pairs([x, y, *whole], w.LEAP[:9]),
            *w.pairs(["gap", "pause"], [pause, pause + 1]),
        ),
        whole[0],
        whole[1],
        line=pause + 1,
    )
    blocked = sum("[UFW BLOCK]" in row[1] for row in rows)
    n.tally(
        blocked, ["UFW BLOCK", "[UFW BLOCK]", "UFW"], "UFW BLOCK", sql=w.how_many("UFW BLOCK", "[UFW BLOCK]")
    )
    moved = sum("renamed from" in row[1] for row in rows)
    n.tally(moved, ["renamed from", "renamed", "eth0"], "renamed", sql=w.how_many("renamed", "renamed from"))
    n.tally(
        size,
        ["lines", "rows", "records", "entries", "messages"],
        "[",
        sql="SELECT count(*) AS lines FROM lines",
    )
    return n.parts(text)


@kind("sar_cpu", "rows")
def sar_cpu(rng: random.Random) -> Parts:  # noqa: C901
    """`sar -P ALL` of a day: a small table for each interval, and the averages."""
    cpus, host = 8, f"{rng.choice(w.TEAMS)}-{rng.randint(10, 99)}"
    day = datetime(2025, rng.randint(1, 9), rng.randint(2, 27))
    date = f"{day:%m/%d/%Y}"
    lines = [f"Linux 5.15.0-105-generic ({host}) \t{date} \t_x86_64_\t({cpus} CPU)", ""]
    names = ["%user", "%nice", "%system", "%iowait", "%steal", "%idle"]
    title = "        CPU" + "".join(f"{one:>10}" for one in names)
    spots = w.spots(rng, 143, 9, apart=4, low=0.1)
    wait, steal, nice, hole, restart, kernel, full, off, idle = spots
    at: dict[str, int] = {}
    values: dict[str, list[float]] = {}
    every: list[list[float]] = []
    per: dict[int, list[list[float]]] = {k: [] for k in range(cpus)}

    def show(stamp: str, name: str, row: list[float]) -> str:
        return f"{stamp:<8}{name:>11}" + "".join(f"{one:>10.2f}" for one in row)

    def close(row: list[float]) -> list[float]:
        row[5] = round(100 - sum(row[:5]), 2)
        return row

    times, marks = [], {wait: 3, steal: 5, nice: 1, kernel: 6, full: 2, idle: 4}
    for k in range(143):
        now = day + timedelta(minutes=10 * (k + 1), seconds=1)
        stamp = f"{now - timedelta(minutes=10):%H:%M:%S}"
        if k in (hole, hole + 1, hole + 2):
            continue
        if k == restart:
            at["restart"] = len(lines) + 1
            again = f"{now - timedelta(minutes=4):%H:%M:%S}"
            lines += [f"{again}     LINUX RESTART\t({cpus} CPU)", ""]
        lines.append(f"{stamp}{title}")
        stamp = f"{now:%H:%M:%S}"
        times.append(stamp)
        block: dict[int, list[float]] = {}
        for cpu in range(cpus):
            if k == off and cpu == 6:
                continue
            busy = w.near(rng, 14, 3, 5, 24)
            row = [
                busy,
                0.0,
                w.near(rng, 4, 0.8, 1.5, 7),
                w.near(rng, 0.8, 0.3, 0.05, 2),
                rng.uniform(0, 0.3),
                0.0,
            ]
            row = [round(one, 2) for one in row]
            if marks.get(k) == cpu:
                place = {wait: 3, steal: 4, nice: 1, kernel: 2, full: 0, idle: 0}[k]
                row[place] = round(rng.uniform(61, 78), 2)
                if k == full:
                    row = [round(100 - sum(row[1:5]), 2), *row[1:]]
                if k == idle:
                    row = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
                at[str(k)] = len(lines) + 2 + len(block)
            block[cpu] = close(row)
            if marks.get(k) == cpu:
                values[str(k)] = row
        mean = close([round(sum(row[j] for row in block.values()) / len(block), 2) for j in range(6)])
        if k == off:
            at["off"] = len(lines) + 1
        every.append(mean)
        lines.append(show(stamp, "all", mean))
        for cpu, row in block.items():
            per[cpu].append(row)
            lines.append(show(stamp, str(cpu), row))
        lines.append("")
    lines.append(f"Average:{title}")
    mean = [round(sum(row[j] for row in every) / len(every), 2) for j in range(6)]
    told = list(mean)
    told[5] = round(mean[5] - rng.uniform(21, 29), 2)
    at["average"] = len(lines) + 1
    lines.append(show("Average:", "all", told))
    for cpu in range(cpus):
        lines.append(
            show("Average:", str(cpu), [sum(r[j] for r in per[cpu]) / len(per[cpu]) for j in range(6)])
        )
    text = "\n".join(lines) + "\n"
    n = Lines(0)

    def stamp_of(k: int) -> str:
        return f"{day + timedelta(minutes=10 * (k + 1), seconds=1):%H:%M:%S}"

    for k, place in ((wait, 3), (steal, 4), (nice, 1), (kernel, 2)):
        value = f"{values[str(k)][place]:.2f}"
        where = [stamp_of(k), names[place]]
        n.one("outlier", at[str(k)], [value], where, value, names[place], sql=(w.find(value),))
    where = [stamp_of(full), "idle"]
    asked = (w.find("/ 0\\.00$/"),)
    n.one(
        "outlier",
        at[str(full)],
        ["0.00", f"{values[str(full)][0]:.2f}"],
        where,
        "/ 0\\.00$/",
        "%idle",
        sql=asked,
    )
    n.one("outlier", at[str(idle)], ["100.00"], [stamp_of(idle), "idle"], "100.00", "%idle")
    short = stamp_of(off)
    seven = f"{short}          6"
    n.say(
        "missing field",
        (
            *((short, f"cpu {6}", word) for word in w.GONE),
            *((short, word) for word in ("7 cpu", "8 rows", "7 rows", "offline", "8 instead of 9")),
            (f"{short}|8",),
            (short, "missing"),
        ),
        short,
        seven.split()[0],
        line=at["off"],
        sql="SELECT substr(text, 1, 8) AS time, count(*) AS n FROM lines WHERE text LIKE '__:__:01 %' "
        "AND text NOT LIKE '%CPU%' GROUP BY 1 HAVING n <> 9",
        derived=True,
    )
    n.one(
        "rare value", at["restart"], ["LINUX RESTART", "RESTART"], [lines[at["restart"] - 1][:8]], "RESTART"
    )
    a, b = stamp_of(hole - 1), stamp_of(hole + 3)
    missing = [stamp_of(hole), stamp_of(hole + 1), stamp_of(hole + 2)]
    n.say(
        "gap",
        (*w.gap(missing, a, b), *w.gap([], a[:5], b[:5])),
        a,
        b,
        sql="SELECT was, time FROM (SELECT substr(text, 1, 8) AS time, lag(substr(text, 1, 8)) OVER (ORDER BY n) AS was "
        "FROM lines WHERE text REGEXP ':01 +all ') WHERE strftime('%s', time) - strftime('%s', was) > 660",
        derived=True,
    )
    n.say(
        "contradiction",
        (
            *w.pairs([f"{told[5]:.2f}"], [f"{mean[5]:.2f}", f"{mean[5]:.1f}"]),
            *(
                (f"{told[5]:.2f}", word)
                for word in ("real", "actual", "mismatch", "contradict", "differs", "computed")
            ),
        ),
        "Average",
        "/Average:.* all/",
        line=at["average"],
        sql="SELECT max(CASE WHEN text LIKE 'Average%' THEN number(substr(text, 70)) END) AS told, "
        "round(avg(CASE WHEN text NOT LIKE 'Average%' THEN number(substr(text, 70)) END), 2) AS real "
        "FROM lines WHERE text LIKE '% all %'",
        derived=True,
    )
    n.say("summary", w.pairs([f"{told[0]:.2f}"], ["Average", "%user"]), "Average", line=at["average"])
    n.say(
        "range",
        (*w.span(times[0], times[-1]), *w.span(times[0][:5], times[-1][:5]), (date, times[-1])),
        times[0],
        times[-1],
        sql="SELECT min(substr(text, 1, 8)) AS first, max(substr(text, 1, 8)) AS last FROM lines WHERE text LIKE '% all %'"
        " AND text NOT LIKE 'Average%'",
        derived=True,
    )
    n.tally(
        len(times),
        ["intervals", "all", "tables", "blocks", "samples"],
        "all",
        sql=w.how_many("all", "/:01 +all /"),
    )
    count = sum(len(block) for block in per.values())
    n.tally(
        count + len(times), ["rows", "records", "samples"], ":01", sql=w.how_many("rows", "/:01 +(all|\\d) /")
    )
    busy = max(every, key=lambda row: row[0])
    moment = times[every.index(busy)]
    n.say(
        "outlier",
        w.pairs([f"{busy[0]:.2f}"], [moment, "max", "highest", "peak"]),
        f"{busy[0]:.2f}",
        "all",
        sql="SELECT substr(text, 1, 8) AS time, number(substr(text, 20)) AS max FROM lines "
        "WHERE text REGEXP ':01 +all ' ORDER BY 2 DESC LIMIT 2",
    )
    return n.parts(text)


@kind("clickhouse_pretty", "rows")
def clickhouse_pretty(rng: random.Random) -> Parts:
    """clickhouse-client in a terminal: a table of system.parts in the format PrettyCompact with numbered rows."""
    heads = [
        "database",
        "table",
        "partition",
        "name",
        "active",
        "rows",
        "bytes_on_disk",
        "level",
        "disk_name",
    ]
    heads.append("modification_time")
    right = {"active", "rows", "bytes_on_disk", "level"}
    rows: list[dict[str, str]] = []
    homes = {"events": 5, "metrics": 4, "billing": 3}
    for base, many in homes.items():
        for table in sorted(rng.sample(w.THINGS, many)):
            block, mean = 1000 * len(rows) + 1, rng.randint(20_000, 90_000)
            for month in range(36):
                date = datetime(2022 + month // 12, month % 12 + 1, 1)
                part = f"{date:%Y%m}"
                level, width = rng.randint(2, 6), rng.randint(20, 90)
                count = int(mean * rng.uniform(0.8, 1.2))
                changed = date + timedelta(days=31 + rng.randint(0, 3), seconds=rng.randint(0, 86_000))
                cells = [base, table, part, f"{part}_{block}_{block + width}_{level}", "1", str(count)]
                cells += [
                    str(count * rng.randint(38, 46)),
                    str(level),
                    "default",
                    f"{changed:%Y-%m-%d %H:%M:%S}",
                ]
                rows.append(dict(zip(heads, cells, strict=True)))
                block += width + 1
    spots = [36 * (k // 32) + 2 + k % 32 for k in w.spots(rng, len(rows) // 36 * 32, 10, apart=8)]
    dead, empty, huge, cold, broken, old, future, deep, double, hole = spots
    rows[dead]["active"] = "0"
    rows[empty]["rows"] = "0"
    large = rng.randint(400, 900) * 10**9 + rng.randint(1, 10**6)
    rows[huge]["bytes_on_disk"] = str(large)
    rows[cold]["disk_name"] = "s3_cold"
    rows[broken]["name"] = "broken-on-start_" + rows[broken]["name"]
    rows[old]["modification_time"] = "1970-01-01 00:00:00"
    later = f"2106-02-0{rng.randint(1, 6)} 06:28:15"
    rows[future]["modification_time"] = later
    rows[deep]["level"] = str(rng.randint(310, 890))
    rows[double]["name"] = rows[double - 1]["name"]
    lost, around = rows[hole], (rows[hole - 1], rows[hole + 1])
    rows = [row for row in rows if row is not lost]
    fix = {k: k - (k > hole) for k in spots}
    wide = [max(len(one), *(len(row[one]) for row in rows)) for one in heads]
    lead = len(str(len(rows))) + 2
    query = "SELECT " + ", ".join(heads) + " FROM system.parts ORDER BY database, table, partition"  # noqa: S608
    lines = [query, "", f"Query id: {w.uuid(rng)}", ""]

    def edge(a: str, b: str, c: str) -> str:
        cells = [
            ("─" * (wide[k] - len(one)) + one if one in right else one + "─" * (wide[k] - len(one)))
            for k, one in enumerate(heads)
        ]
        return " " * lead + a + "─" + f"─{b}─".join(cells) + "─" + c

    lines.append(edge("┌", "┬", "┐"))
    first = len(lines) + 1
    for i, row in enumerate(rows, 1):
        cells = [
            row[one].rjust(wide[k]) if one in right else row[one].ljust(wide[k])
            for k, one in enumerate(heads)
        ]
        lines.append(f"{i}.".rjust(lead) + "│ " + " │ ".join(cells) + " │")
    lines.append(edge("└", "┴", "┘"))
    said = len(rows) + rng.randint(13, 29)
    lines += ["", f"{said} rows in set. Elapsed: 0.0{rng.randint(11, 89)} sec. ", ""]
    text = "\n".join(lines)
    n = Lines(first)

    def one(what: str, i: int, telling: list, *searches: str, sql: tuple[str, ...] = ()) -> None:
        i = fix[i]
        row = rows[i]
        names = [row["name"], f"{i + 1}.", f"#{i}", f"#{i + 1}", f"row {i + 1}"]
        n.one(what, i, telling, [*names, f"{row['table']} "], *searches, sql=sql)

    get = "SELECT name, {0} FROM t WHERE {1}".format
    top = "SELECT name, {0} FROM t ORDER BY number({0}) {1} LIMIT 3".format
    told = ["active 0", "active=0", "active: 0", "inactive", "|0", "active"]
    asked = (get("active", "number(active) = 0"), w.find("/│ +0 │ +\\d+ │ +\\d+ │ +\\d+ │/"))
    one("rare value", dead, told, "/│ +0 │/", "active", sql=asked)
    told = ["rows 0", "rows=0", "rows: 0", "0 rows", "|0", "empty"]
    asked = (get("rows", "number(rows) = 0"), w.find("/│ +1 │ +0 │/"))
    one("outlier", empty, told, "/│ +0 │/", "rows", sql=asked)
    one(
        "outlier",
        huge,
        [large],
        str(large),
        "bytes_on_disk",
        sql=(top("bytes_on_disk", "DESC"), w.find(str(large))),
    )
    one("rare value", cold, ["s3_cold"], "s3_cold", "disk_name")
    one("rare value", broken, ["broken-on-start"], "broken")
    one("time jump", old, ["1970-01-01"], "1970-")
    one("time jump", future, [later, later[:10]], "2106-")
    asked = (top("level", "DESC"), w.find(rows[fix[deep]]["level"]))
    one("outlier", deep, [rows[fix[deep]]["level"]], "level", rows[fix[deep]]["level"], sql=asked)
    name = rows[fix[double]]["name"]
    a, b = fix[double] + first - 1, fix[double] + first
    n.say(
        "duplicate",
        (*w.same(name), (f"{a}|", f"{b}|", name), (f"{fix[double]}.", f"{fix[double] + 1}.", name)),
        name,
        "name",
        line=b,
        sql=("SELECT name, table, count(*) AS n FROM t GROUP BY 1, 2 HAVING n > 1", w.find(name)),
    )
    n.say(
        "gap",
        (
            (lost["table"], lost["partition"]),
            *w.gap([], around[0]["partition"], around[1]["partition"]),
            (lost["table"], "35"),
        ),
        lost["partition"],
        lost["table"],
        sql='SELECT "table", count(*) AS parts FROM t GROUP BY 1 HAVING parts < 36',
        derived=True,
    )
    n.say(
        "contradiction",
        (*w.pairs([f"{said} rows"], [len(rows)]), (str(said), str(len(rows)), "rows")),
        "rows in set",
        line=len(lines) - 1,
        sql="SELECT (SELECT text FROM lines WHERE text LIKE '%rows in set%') AS told, "
        "(SELECT count(*) FROM lines WHERE text LIKE '%│%') AS real",
        derived=True,
    )
    bases = Counter(row["database"] for row in rows)
    asked = ("SELECT database, count(*) AS n FROM t GROUP BY 1", w.how_many("events", "│ events "))
    n.tally(bases["events"], ["events"], "events", sql=asked)
    total = sum(int(row["rows"]) for row in rows)
    n.say("total", ((str(total),),), "rows", sql="SELECT sum(number(rows)) AS total FROM t", derived=True)
    asked = ("SELECT disk_name, count(*) AS n FROM t GROUP BY 1", w.how_many("default", "│ default "))
    n.tally(len(rows) - 1, ["default"], "default", "disk_name", sql=asked)
    parts = sorted(row["partition"] for row in rows)
    n.say(
        "range",
        (*w.span(parts[0], parts[-1]), (f"{parts[0]}..{parts[-1]}",), (f"{parts[0]}–{parts[-1]}",)),
        parts[0],
        parts[-1],
        sql='SELECT min("partition") AS first, max("partition") AS last FROM t',
        derived=True,
    )
    return n.parts(text + "\n")
