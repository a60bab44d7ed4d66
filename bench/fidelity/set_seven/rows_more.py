"""Lists of rows: JSON lines and aligned tables."""

# ruff: noqa: SIM905, S608

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

from .tools import Rows, rare


@kind("z_mongo_orders", "rows")
def z_mongo_orders(rng: random.Random) -> Parts:
    """A collection of orders as mongoexport writes it: a document of extended JSON on each line."""
    size = rng.randint(330, 370)
    first = rng.randint(210_000, 780_000)
    spots = w.spots(rng, size, 13, apart=4)
    charge, rich, wrong, anon, twin, hole, old, text, yen, leak, bulk, empty, crash = spots
    clock = w.Clock(rng, datetime(2025, rng.randint(1, 8), rng.randint(2, 25), 6, tzinfo=UTC), 60, 900)
    goods = [
        (f"{w.hexes(rng, 2).upper()}-{rng.randint(1000, 9999)}", rng.randint(390, 9900)) for _ in range(70)
    ]
    head = w.hexes(rng, 12)
    number, docs = first, []
    skipped = rng.randint(21, 48)

    def stamp(moment: datetime) -> dict:
        return {"$date": f"{moment:%Y-%m-%dT%H:%M:%S}.{rng.randint(0, 999):03d}Z"}

    def money(cents: int) -> dict:
        return {"$numberDecimal": f"{cents / 100:.2f}"}

    for k in range(size):
        number += (k != twin) + (skipped if k == hole else 0)
        now = clock.tick()
        bought = rng.sample(goods, rng.randint(1, 4))
        items = [{"sku": sku, "qty": rng.randint(1, 4), "price": money(price)} for sku, price in bought]
        sum_ = sum(one["qty"] * price for one, (_, price) in zip(items, bought, strict=True))
        docs.append(
            {
                "_id": {"$oid": f"{head[:8]}{w.hexes(rng, 10)}{k:06x}"},
                "orderNo": number,
                "status": w.pick(rng, {"delivered": 55, "shipped": 25, "paid": 15, "cancelled": 5}),
                "customer": {
                    "id": rng.randint(10_000, 99_999),
                    "country": w.pick(rng, {"DE": 5, "AT": 3, "CH": 2}),
                    "tier": rng.choice(("basic", "plus", "gold")),
                },
                "items": items,
                "total": money(sum_),
                "currency": "EUR",
                "channel": rng.choice(("web", "app", "phone")),
                "warehouse": rng.choice(w.TOWNS[:5]),
                "createdAt": stamp(now),
                "updatedAt": stamp(now + timedelta(seconds=rng.randint(4000, 300_000))),
                "__v": rng.randint(0, 3),
            }
        )

    def price(k: int, j: int = 0) -> int:
        return round(float(docs[k]["items"][j]["price"]["$numberDecimal"]) * 100)

    def add_up(k: int) -> int:
        return sum(one["qty"] * price(k, j) for j, one in enumerate(docs[k]["items"]))

    docs[charge]["status"] = "chargeback"
    dear = rng.randint(4_100_000, 9_700_000)
    docs[rich]["items"] = [{"sku": goods[0][0], "qty": 1, "price": money(dear)}]
    docs[rich]["total"] = money(dear)
    true_total = add_up(wrong)
    false_total = true_total + rng.randint(3_000, 8_000)
    docs[wrong]["total"] = money(false_total)
    del docs[anon]["customer"]
    docs[twin]["orderNo"] = docs[twin - 1]["orderNo"]
    past = f"2014-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"
    for key in ("createdAt", "updatedAt"):
        docs[old][key] = {"$date": past + docs[old][key]["$date"][10:]}
    day = docs[text]["createdAt"]["$date"]
    plain = f"{day[8:10]}/{day[5:7]}/{day[:4]} {day[11:16]}"
    docs[text]["createdAt"] = plain
    docs[yen]["currency"] = "JPY"
    pan = f"4{rng.randint(100, 999)} {rng.randint(1000, 9999)} {rng.randint(1000, 9999)} {rng.randint(1000, 9999)}"
    docs[leak]["note"] = f"customer rang, card {pan} cvv {rng.randint(100, 999)}, charge it by hand"
    many = rng.randint(4_100, 8_800)
    docs[bulk]["items"] = [{"sku": "PEN-0001", "qty": many, "price": money(3)}]
    docs[bulk]["total"] = money(add_up(bulk))
    docs[empty]["items"] = []
    docs[crash]["syncError"] = "E11000 duplicate key error collection: erp.invoices index: invoiceNo_1"
    lines = [json.dumps(one, separators=(",", ":")) for one in docs]
    n = Rows(1)

    def row(what: str, k: int, telling: list, *searches: str, **more: object) -> None:
        names = [docs[k]["_id"]["$oid"]] + ([docs[k]["orderNo"]] if k not in (twin, twin - 1) else [])
        n.row(what, k, telling, names, *searches, **more)  # type: ignore[arg-type]

    row("rare status", charge, ["chargeback"], "chargeback", "status", alone=["chargeback"])
    told = [f"{dear / 100:.2f}", f"{dear / 100:.1f}", dear // 100, f"{dear // 100:,}"]
    row("outlier", rich, told, f"{dear / 100:.2f}", '/"total":[{]"[$]numberDecimal":"\\d{5,}/')
    told = ["sum", f"{true_total / 100:.2f}", "does not match", "differs", "mismatch", "total"]
    n.say(
        "contradiction",
        (
            *w.pairs(w.spell(true_total / 100), w.spell(false_total / 100)),
            *w.pairs(told[:5], n.places(wrong, docs[wrong]["_id"]["$oid"], docs[wrong]["orderNo"])),
        ),
        "total",
        f"{false_total / 100:.2f}",
        line=wrong + 1,
        sql='SELECT t.orderNo, number(t.total."$numberDecimal") AS told, round(sum(i.qty * number(i.price."$numberDecimal")), 2) '
        "AS sum_of_items FROM t JOIN items i ON i.parent = t.n GROUP BY t.n HAVING abs(told - sum_of_items) > 0.01",
        derived=True,
    )
    n.say(
        "missing field",
        (
            *w.gone(n.places(anon, docs[anon]["_id"]["$oid"], docs[anon]["orderNo"]), "customer"),
            *w.pairs(
                ["customer"],
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
        "customer",
        line=anon + 1,
        sql="SELECT n, text, 'no customer' AS note FROM lines WHERE text NOT LIKE '%customer%' AND text <> ''",
        derived=True,
    )
    n.say(
        "duplicate",
        w.same(docs[twin]["orderNo"], docs[twin]["_id"]["$oid"], docs[twin - 1]["_id"]["$oid"])
        + ((str(twin), str(twin + 1), "orderNo"),),
        str(docs[twin]["orderNo"]),
        "orderNo",
        line=twin + 1,
        sql=w.find(f'"orderNo":{docs[twin]["orderNo"]},'),
        derived=True,
    )
    before, after = docs[hole - 1]["orderNo"], docs[hole]["orderNo"]
    n.say(
        "gap",
        (
            *w.gap([before + 1, after - 1], before, after),
            *w.pairs(
                [skipped, f"{skipped} numbers", skipped + 1],
                ["gap", "skip", "missing order", "jump", before, after],
            ),
        ),
        str(after),
        "orderNo",
        line=hole + 1,
        sql="SELECT orderNo, orderNo - lag(orderNo) OVER (ORDER BY n) AS jump FROM t ORDER BY jump DESC LIMIT 2",
        derived=True,
    )
    row("time jump", old, [past, past[:4], past[:7]], "2014", "createdAt", alone=[past])
    told = [plain, plain[:10], "as a string", "a string", "not $date", "plain text", "text instead", "string"]
    row("error", text, told, plain[:10], '"createdAt":"', alone=[plain])
    row("rare value", yen, ["JPY"], "JPY", "currency", alone=["JPY"])
    told = ["cvv", "card number", "card", "credit card", "PAN", "note"]
    row("secret", leak, told, "cvv", "card", hidden=pan, alone=["cvv", "card number", "credit card"])
    row("outlier", bulk, [many, "PEN-0001"], str(many), '/"qty":\\d{3,}/', alone=["PEN-0001"])
    told = [
        "items []",
        "items: []",
        '"items":[]',
        "empty items",
        "no items",
        "0 items",
        "items is empty",
        "items empty",
        "without items",
        "empty list",
    ]
    row("missing field", empty, told, '"items":[]', "items", alone=["empty items", "items empty", "[]"])
    told = ["E11000", "syncError", "duplicate key error"]
    row("error", crash, told, "E11000", "syncError", alone=told)
    done = Counter(one["status"] for one in docs)
    n.tally(
        done["delivered"], ["delivered"], "delivered", sql=w.how_many("delivered", '"status":"delivered"')
    )
    n.tally(
        size,
        ["documents", "rows", "lines", "orders", "records", "items", "objects", "entries"],
        "orderNo",
        sql=w.how_many("rows", '"orderNo"'),
    )
    n.say(
        "range",
        ((str(docs[0]["orderNo"]), str(docs[-1]["orderNo"])),),
        "orderNo",
        sql=f"SELECT n, text FROM lines WHERE n IN (1, {size})",
        derived=True,
    )
    return n.parts("\n".join(lines) + "\n")


@kind("z_kafka_groups", "rows")
def z_kafka_groups(rng: random.Random) -> Parts:
    """What kafka-consumer-groups.sh --describe --all-groups prints."""
    groups = w.distinct(
        rng,
        rng.randint(38, 42),
        lambda r: f"{r.choice(w.TEAMS)}-{r.choice(('sync', 'indexer', 'writer', 'mailer', 'stats'))}",
    )
    topics = w.distinct(rng, 26, lambda r: f"{r.choice(w.TEAMS)}.{r.choice(w.THINGS)}.v{r.randint(1, 3)}")
    scale = {one: rng.randint(300_000, 900_000) for one in topics}
    width = {one: rng.choice((6, 8, 10)) for one in topics}
    blocks: list[tuple[str, list[list]]] = []
    for group in groups:
        rows: list[list] = []
        for topic in sorted(rng.sample(topics, 2)):
            parts = width[topic]
            members = []
            for m in range(parts // 2):
                client = f"consumer-{group}-{m + 1}"
                members.append(
                    (f"{client}-{w.uuid(rng)}", f"/10.12.{rng.randint(1, 9)}.{rng.randint(2, 250)}", client)
                )
            for p in range(parts):
                end = round(scale[topic] * rng.uniform(0.93, 1.07))
                lag = rng.choice((0, 0, 0, 0, 1, 2, 3, 5, 8, 12))
                rows.append([group, topic, p, end - lag, end, lag, *members[p // 2]])
        blocks.append((group, rows))
    spots = w.spots(rng, len(groups), 12, apart=2)
    dead, shake, stuck, orphan, hole, minus, alien, fresh, broken, hot, reset, dlq = spots
    prefix = rng.randint(10_000, 89_999)

    def some(b: int) -> list:
        return blocks[b][1][rng.randint(2, 5)]

    for row in blocks[dead][1]:
        row[6:] = ["-", "-", "-"]
    one_stuck = some(stuck)
    lag = rng.randint(141_000, 198_000)
    one_stuck[3:6] = [one_stuck[4] - lag, one_stuck[4], lag]
    one_orphan = some(orphan)
    one_orphan[6:] = ["-", "-", "-"]
    at = rng.randint(2, 4)
    one_hole = blocks[hole][1].pop(at)
    one_minus = some(minus)
    below = rng.randint(1_200, 9_800)
    one_minus[3:6] = [one_minus[4] + below, one_minus[4], -below]
    one_alien = some(alien)
    address = f"/203.0.113.{rng.randint(2, 250)}"
    one_alien[7] = address
    one_fresh = some(fresh)
    one_fresh[3:6] = ["-", one_fresh[4], "-"]
    console = f"console-consumer-{prefix}"
    one_hot = some(hot)
    hotness = rng.randint(41_000_000, 79_000_000)
    one_hot[3:6] = [hotness, hotness, 0]
    one_reset = some(reset)
    reset_end = rng.randint(88_000, 96_000)
    one_reset[3:6] = [0, reset_end, reset_end]
    dead_topic = f"{blocks[dlq][1][0][1]}.DLQ"
    letters = rng.randint(7_100, 9_900)
    blocks[dlq][1].append(
        [blocks[dlq][0], dead_topic, 0, 0 + rng.randint(20, 90), 0, letters, *blocks[dlq][1][-1][6:]]
    )
    blocks[dlq][1][-1][4] = blocks[dlq][1][-1][3] + letters
    tmp_topic = topics[3]
    tmp = [
        [
            console,
            tmp_topic,
            p,
            scale[tmp_topic] + p,
            scale[tmp_topic] + p,
            0,
            f"console-consumer-{w.uuid(rng)}",
            "/10.12.3.77",
            "console-consumer",
        ]
        for p in range(6)
    ]
    blocks.insert(broken + 1, (console, tmp))
    page = Page()
    heads = (
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    )
    marks = {id(one_stuck): "stuck", id(one_orphan): "orphan", id(one_minus): "minus", id(one_alien): "alien"}
    marks |= {
        id(one_fresh): "fresh",
        id(one_hot): "hot",
        id(one_reset): "reset",
        id(blocks[dlq if dlq <= broken else dlq + 1][1][-1]): "dlq",
    }
    marks[id(tmp[0])] = "console"
    error = "Error: Executing consumer group command failed due to org.apache.kafka.common.errors.CoordinatorNotAvailableException"
    failing = f"{rng.choice(w.TEAMS)}-replayer"
    inside = {blocks[k if k <= broken else k + 1][0]: k for k in (dead, shake, hole, broken)}
    rows_told, lag_told = 0, 0
    for group, rows in blocks:
        page.add("")
        which = inside.get(group)
        if which == dead:
            page.add(f"Consumer group '{group}' has no active members.", "", mark="dead")
        if which == shake:
            page.add(f"Warning: Consumer group '{group}' is rebalancing.", "", mark="shake")
        if which == broken:
            page.add(f"{error}: The coordinator is not available for group '{failing}'.", "", mark="broken")
        sizes = [max(len(str(row[c])) for row in [list(heads), *rows]) for c in range(9)]
        sizes = [max(size, 15 if c in (2, 3, 4, 5, 7) else 1) for c, size in enumerate(sizes)]
        page.add(" ".join(head.ljust(size) for head, size in zip(heads, sizes, strict=True)))
        for p, row in enumerate(rows):
            mark = "hole" if which == hole and p == at else marks.get(id(row), "")
            page.add(
                " ".join(str(cell).ljust(size) for cell, size in zip(row, sizes, strict=True)), mark=mark
            )
            rows_told += 1
            lag_told += row[5] if isinstance(row[5], int) else 0
    n = page

    def here(
        what: str, mark: str, row: list, telling: list, *searches: str, alone: tuple = (), sql: str = ""
    ) -> None:
        evidence = w.pairs(telling, [row[0], page.at[mark]]) + rare(*alone)
        n.say(what, evidence, *searches, line=page.at[mark], sql=sql or w.find(searches[0]))

    group_of = {
        name: blocks[k if k <= broken else k + 1][0]
        for name, k in (("dead", dead), ("shake", shake), ("hole", hole))
    }
    here(
        "rare status",
        "dead",
        [group_of["dead"]],
        ["no active members", "no active", "inactive", "empty group", "no members"],
        "no active members",
        alone=("no active members",),
    )
    here(
        "rare status",
        "shake",
        [group_of["shake"]],
        ["rebalancing", "rebalance"],
        "rebalancing",
        "Warning",
        alone=("rebalancing",),
    )
    here("outlier", "stuck", one_stuck, [lag], str(lag), "/ 1\\d{5} /")
    told = [
        "no consumer",
        "without a consumer",
        "unassigned",
        "not assigned",
        "no member",
        "without consumer",
        "consumer-id -",
        "consumer-id is -",
        "CONSUMER-ID: -",
        "no host",
        "orphan",
    ]
    pattern = f"/^{one_orphan[0]} .* - +- +-/"
    n.say(
        "missing field",
        (
            *w.pairs(told, [one_orphan[0], page.at["orphan"]]),
            (one_orphan[1], f"partition {one_orphan[2]}", "consumer", "no "),
        ),
        "/ - +- +- *$/",
        pattern,
        line=page.at["orphan"],
        sql=f"SELECT n, text, 'no consumer' AS note FROM lines WHERE text LIKE '{one_orphan[0]} %' AND text LIKE '% - %'",
        derived=True,
    )
    place = f"{one_hole[1]}"
    n.say(
        "gap",
        (
            *w.pairs(
                [f"partition {at}", f"partition: {at}", f"partitions {at}"],
                ["missing", "gap", "absent", "skip", "no row"],
            ),
            *(
                (group_of["hole"], word, f"{at}")
                for word in (
                    "missing",
                    "gap",
                    "absent",
                    "jump",
                    "skip",
                    "not consecutive",
                    f"{at - 1} → {at + 1}",
                )
            ),
            *((str(page.at["hole"]), word) for word in ("gap", "missing", "jump", "skip", "not consecutive")),
            *w.pairs(
                [
                    f"{at - 1} → {at + 1}",
                    f"{at - 1} to {at + 1}",
                    f"{at - 1} and {at + 1}",
                    f"{at - 1}→{at + 1}",
                ],
                [group_of["hole"], place, page.at["hole"]],
            ),
        ),
        "PARTITION",
        group_of["hole"],
        line=page.at["hole"],
        sql=f"SELECT n, text, 'partition {at} missing' AS note FROM lines WHERE text LIKE '{group_of['hole']} %'",
        derived=True,
    )
    here(
        "contradiction",
        "minus",
        one_minus,
        [-below, "negative", "below 0", "below zero"],
        f"-{below}",
        "/ -\\d+ /",
        alone=(f"-{below}", "negative lag"),
    )
    here("outlier", "alien", one_alien, [address[1:]], address[1:], "203.0.113", alone=(address[1:],))
    told = [
        "no committed offset",
        "no current offset",
        "no offset",
        "never committed",
        "uncommitted",
        "CURRENT-OFFSET -",
        "CURRENT-OFFSET is -",
        "CURRENT-OFFSET: -",
        "without a committed",
        "LAG -",
        "no CURRENT-OFFSET",
        "without CURRENT-OFFSET",
        "unknown lag",
        "no lag",
        "missing CURRENT-OFFSET",
        "not committed",
    ]
    n.say(
        "missing field",
        (
            *w.pairs(told, [one_fresh[0], page.at["fresh"]]),
            ("CURRENT-OFFSET", "1 missing"),
            ("CURRENT-OFFSET", "- 1"),
            *w.gone([page.at["fresh"], one_fresh[0]], "CURRENT-OFFSET", "committed", "LAG"),
        ),
        "/\\d+ +- +\\d+ +- /",
        "CURRENT-OFFSET",
        line=page.at["fresh"],
        sql="SELECT n, text, 'no CURRENT-OFFSET' AS note FROM lines WHERE text REGEXP ' \\d+ +- +\\d+ +- '",
        derived=True,
    )
    here(
        "error",
        "broken",
        [failing],
        ["CoordinatorNotAvailable", "coordinator is not available", "command failed"],
        "Error:",
        "CoordinatorNotAvailable",
        alone=("CoordinatorNotAvailableException", "Error:"),
    )
    n.say(
        "rare value",
        ((console,), ("console-consumer", str(page.at["console"])), ("console-consumer", "group")),
        "console-consumer",
        line=page.at["console"],
        sql=w.find("console-consumer"),
    )
    here("outlier", "hot", one_hot, [hotness], str(hotness), "/ \\d{8} /", alone=(hotness,))
    told = [
        "CURRENT-OFFSET 0",
        "CURRENT-OFFSET: 0",
        "offset 0",
        "offset is 0",
        "reset",
        "from the beginning",
        "CURRENT-OFFSET is 0",
        "offset of 0",
        reset_end,
        "CURRENT-OFFSET=0",
        "starts at 0",
    ]
    here(
        "outlier", "reset", one_reset, told, f"/ 0 +{reset_end} /", str(reset_end), sql=w.find(str(reset_end))
    )
    here(
        "rare value",
        "dlq",
        blocks[dlq if dlq <= broken else dlq + 1][1][-1],
        ["DLQ", letters, "dead letter", "dead-letter"],
        "DLQ",
        str(letters),
        alone=("DLQ",),
    )
    names = ["groups", "consumer groups", "GROUP", "blocks", "tables", "headers", "group"]
    n.tally(len(blocks), names, "GROUP", sql=w.how_many("groups", "/^GROUP /"))
    n.tally(
        rows_told,
        ["rows", "partitions", "data rows", "lines of data", "entries", "records"],
        "PARTITION",
        sql=w.how_many("rows", "/^[a-z]+-[a-z0-9-]+ +[a-z]+[.]/"),
    )
    n.say(
        "total",
        w.pairs([lag_told, lag_told + below], ["lag", "LAG", "sum", "total"]),
        "LAG",
        sql="SELECT sum(lag) AS lag FROM t",
        derived=True,
    )
    return page.done()
