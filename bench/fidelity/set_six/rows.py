"""Tables, CSV, JSON lines and lists of records."""

# ruff: noqa: SIM905

import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Lines
from bench.fidelity.planted import Parts, kind
from bench.fidelity.set_six.words import hush

KAFKA = "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID".split()


def _group(rng: random.Random, team: str) -> list[dict[str, str]]:
    """The partitions of one consumer group."""
    group = f"{team}-{rng.choice(('writer', 'indexer', 'sync', 'projector', 'notifier'))}"
    members = [
        (f"consumer-{group}-{k + 1}", w.uuid(rng), f"/10.12.{rng.randint(0, 7)}.{rng.randint(4, 250)}")
        for k in range(rng.choice((2, 3, 4, 6)))
    ]
    rows = []
    for thing in sorted(rng.sample(w.THINGS, rng.randint(1, 3))):
        topic, size = f"{team}.{thing}.v{rng.randint(1, 3)}", rng.choice((6, 12, 12, 24))
        base = rng.randint(2_000_000, 9_000_000)
        for part in range(size):
            client, ident, host = members[part * len(members) // size]
            end = base + rng.randint(-40_000, 40_000)
            lag = 0 if rng.random() < 0.4 else int(w.near(rng, 90, 120, 1, 620))
            cells = [
                group,
                topic,
                str(part),
                str(end - lag),
                str(end),
                str(lag),
                f"{client}-{ident}",
                host,
                client,
            ]
            rows.append(dict(zip(KAFKA, cells, strict=True)))
    return rows


def _tables(
    blocks: list[list[dict[str, str]]], remarks: dict[int, list[str]]
) -> tuple[list[str], dict[int, int]]:
    """The printed lines, and the line of each row by its id()."""
    lines, place = [], {}
    for k, block in enumerate(blocks):
        wide = {head: max(15, *(len(row[head]) for row in block)) for head in KAFKA}
        wide["PARTITION"] = 10
        lines += [
            *remarks.get(k, []),
            "",
            " ".join(head.ljust(wide[head]) for head in KAFKA[:-1]) + " CLIENT-ID",
        ]
        for row in block:
            lines.append(
                " ".join(row[head].ljust(wide[head]) for head in KAFKA[:-1]) + " " + row["CLIENT-ID"]
            )
            place[id(row)] = len(lines)
    return lines, place


@kind("kafka_groups", "rows")
def kafka_groups(rng: random.Random) -> Parts:
    """`kafka-consumer-groups.sh --describe --all-groups`: a table for each group, with remarks between them."""
    blocks = [_group(rng, team) for team in rng.sample(w.TEAMS, 29)]
    idle, moving, adhoc, slow, warned = w.spots(rng, len(blocks), 5, apart=2, low=0.12, high=0.9)
    for row in blocks[idle]:
        row.update({"CONSUMER-ID": "-", "HOST": "-", "CLIENT-ID": "-"})
    nobody = f"console-consumer-{rng.randint(11_000, 98_000)}"
    ident = f"console-consumer-{w.uuid(rng)}"
    blocks[adhoc] = [
        {**row, "GROUP": nobody, "CONSUMER-ID": ident, "HOST": "/10.12.3.77", "CLIENT-ID": "console-consumer"}
        for row in blocks[adhoc][:6]
    ]
    for row in blocks[slow]:
        lag = rng.randint(21_000, 58_000)
        row.update({"CURRENT-OFFSET": str(int(row["LOG-END-OFFSET"]) - lag), "LAG": str(lag)})
    special = {idle, moving, adhoc, slow}
    rows = [row for k, rows in enumerate(blocks) if k not in special for row in rows]
    picked = w.spots(rng, len(rows), 8, apart=9)
    big, minus, lie, unset, alone, gone, alien, dead = (rows[k] for k in picked)
    at = picked[5]
    while not all(
        rows[at + d]["TOPIC"] == rows[at]["TOPIC"] and int(rows[at + d]["PARTITION"]) for d in (-1, 0, 1, 2)
    ):
        at += 1
    gone = rows[at]
    lag = rng.randint(3_100_000, 4_900_000)
    big.update({"LOG-END-OFFSET": str(int(big["CURRENT-OFFSET"]) + lag), "LAG": str(lag)})
    under = rng.randint(1200, 9800)
    minus.update({"CURRENT-OFFSET": str(int(minus["LOG-END-OFFSET"]) + under), "LAG": f"-{under}"})
    off = rng.randint(31_000, 89_000)
    lie.update({"CURRENT-OFFSET": str(int(lie["LOG-END-OFFSET"]) - off), "LAG": "0"})
    unset.update({"CURRENT-OFFSET": "-", "LAG": "-"})
    alone.update({"CONSUMER-ID": "-", "HOST": "-", "CLIENT-ID": "-"})
    host = f"/203.0.113.{rng.randint(10, 250)}"
    alien["HOST"] = host
    waste, letters = "payments.capture.dlq", rng.randint(1300, 4900)
    lost = {
        "TOPIC": waste,
        "PARTITION": "0",
        "CURRENT-OFFSET": "0",
        "LOG-END-OFFSET": str(letters),
        "LAG": str(letters),
    }
    lost = {**dead, **lost}
    for block in blocks:
        block[:] = [row for row in block if row is not gone]
        if any(row is dead for row in block):
            block.append(lost)
    clock = datetime(2025, rng.randint(2, 9), rng.randint(2, 26), rng.randint(8, 17), 12, 33)
    names = [block[0]["GROUP"] for block in blocks]
    node = (
        f"[{clock:%Y-%m-%d %H:%M:%S},418] WARN [AdminClient clientId=adminclient-1] Connection to node 3 "
        "(kafka-3.example.org/10.12.0.13:9092) could not be established. Node may not be available. "
        "(org.apache.kafka.clients.NetworkClient)"
    )
    remarks = {
        warned: [node],
        idle: ["", f"Consumer group '{names[idle]}' has no active members."],
        moving: ["", f"Warning: Consumer group '{names[moving]}' is rebalancing."],
    }
    lines, place = _tables(blocks, remarks)
    warn, empty, turning = (lines.index(remarks[k][-1]) + 1 for k in (warned, idle, moving))
    n = Lines(0)

    def one(
        what: str, row: dict[str, str], telling: list, *searches: str, sql: str = "", more: tuple = ()
    ) -> None:
        own = [
            row[head] for head in ("GROUP", "TOPIC", "CURRENT-OFFSET", "LOG-END-OFFSET") if row[head] != "-"
        ]
        names = [name for name in own if name not in telling and len(name) > 3]
        n.one(what, place[id(row)], telling, [*names, *more], *searches, sql=(sql,) if sql else ())

    ordered = 'SELECT "GROUP", TOPIC, PARTITION, LAG FROM t ORDER BY number(LAG) {0} LIMIT 3'.format
    one("outlier", big, [lag], str(lag), "/ \\d{7,} +consumer/", sql=ordered("DESC"))
    one("outlier", minus, [f"-{under}"], f"-{under}", "/ -\\d+ /", sql=ordered("ASC"))
    one("contradiction", lie, [lie["CURRENT-OFFSET"], off], lie["CURRENT-OFFSET"], lie["TOPIC"])
    free = ["no consumer", "unassigned", "not assigned", "without", "no owner", "no member", "nobody"]
    for what, row, words in (
        (
            "missing field",
            unset,
            ["no committed", "no offset", "no current", "missing", "without", "unknown"],
        ),
        ("missing field", alone, free),
    ):
        unique = [row[head] for head in ("LOG-END-OFFSET", "CURRENT-OFFSET") if row[head] != "-"]
        line, topic, part = place[id(row)], row["TOPIC"], row["PARTITION"]
        spelled = [f"line {line}", f"{line}:", f"{line}|", f"L{line}", f"lines {line}"]
        evidence = (*w.pairs(unique, [topic, line, row["GROUP"], *words]), *w.pairs([topic], spelled))
        evidence += tuple(
            (topic, f"{sep}{part}", word) for sep in (" ", "-", "/", ":", "#", "=") for word in words
        )
        search = "/ - +\\d+ +- /" if row is unset else "/ \\d+ +- +- +-/"
        n.say(what, evidence, search, row["TOPIC"], line=line, sql=w.find(search))
    around, part = place[id(rows[at + 1])], gone["PARTITION"]
    spelled = [f"{sep}{part}" for sep in ("partition ", "p", "-", ":", "/", "#", "partition=", "PARTITION ")]
    evidence = tuple((gone["TOPIC"], one, word) for one in spelled for word in w.LEAP[:9])
    a, b = int(part) - 1, int(part) + 1
    evidence += tuple(
        (gone["TOPIC"], f"{a}{sep}{b}")
        for sep in ("→", " → ", " to ", "..", " and ", "–", "-", " then ", "|", ", ")
    )
    evidence += tuple(
        (gone["TOPIC"], f"{word} {part}") for word in ("missing", "no", "without", "absent:", "missing:")
    )
    evidence += tuple((gone["TOPIC"], str(around), word) for word in w.LEAP[:6])
    asked = (
        "SELECT TOPIC, a, b, 'gap' AS note FROM (SELECT TOPIC, CAST(PARTITION AS INTEGER) AS b, lag(CAST(PARTITION AS INTEGER)) "
        "OVER (PARTITION BY TOPIC ORDER BY n) AS a FROM t) WHERE b - a > 1"
    )
    n.say(
        "gap",
        evidence,
        gone["TOPIC"],
        line=around,
        sql=(
            asked,
            w.find(gone["TOPIC"]),
        ),
        derived=True,
    )
    one("rare value", alien, [host[1:]], host, "/ \\/(?!10\\.)\\d/", more=(alien["CLIENT-ID"],))
    one("rare value", lost, [waste], "dlq", "dead", more=(str(letters), "lag"))
    n.one(
        "rare value",
        place[id(blocks[adhoc][2])],
        [nobody, "console-consumer"],
        ["10.12.3.77", blocks[adhoc][2]["TOPIC"], "group"],
        "console",
    )
    name = blocks[idle][0]["GROUP"]
    n.one(
        "rare status",
        empty,
        ["no active members", "empty", "no active", "inactive"],
        [name],
        "no active members",
    )
    name = blocks[moving][0]["GROUP"]
    n.one("rare status", turning, ["rebalancing"], [name], "rebalancing", "Warning")
    away = ["could not be established", "not be available", "unavailable", "connection", "WARN"]
    n.one("error", warn, ["node 3", "kafka-3", "10.12.0.13"], away, "WARN", "established")
    name, lags = blocks[slow][0]["GROUP"], [int(row["LAG"]) for row in blocks[slow]]
    about = f"{sum(lags) / 1000:.0f}k"
    n.say(
        "outlier",
        (
            *w.pairs(
                [name],
                [sum(lags), max(lags), about, f"{sum(lags) / 1000:.1f}k", round(sum(lags) / len(lags))],
            ),
        ),
        name,
        "/ \\d{5} +consumer/",
        line=place[id(blocks[slow][0])],
        sql=('SELECT "GROUP", sum(number(LAG)) AS lag FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 3',),
    )
    every = [row for block in blocks for row in block]
    total = sum(int(row["LAG"]) for row in every if row["LAG"] != "-")
    n.say("total", ((str(total),),), "LAG", sql="SELECT sum(number(LAG)) AS total FROM t", derived=True)
    asked = (w.how_many("rows", "/ \\d+ +(\\d+|-) +(\\d+|-) +(-?\\d+|-) /"), "SELECT count(*) AS rows FROM t")
    n.tally(len(every), ["rows", "partitions", "records", "entries", "lines"], "/ \\d+ +\\d+ /", sql=asked)
    asked = (w.how_many("groups", "/^GROUP /"), 'SELECT count(DISTINCT "GROUP") AS groups FROM t')
    n.tally(
        len(blocks),
        ["groups", "consumer groups", "tables", "distinct", "GROUP", "headers", "blocks", "sections"],
        "/^GROUP /",
        sql=asked,
    )
    return n.parts("\n".join(lines) + "\n")


QUAKE = (
    "time,latitude,longitude,depth,mag,magType,nst,gap,dmin,rms,net,id,updated,place,type,horizontalError,depthError,"
    "magError,magNst,status,locationSource,magSource"
)
REGIONS = {
    "ci": ("CA", "ml", 33.9, -117.1, 9, "Anza Borrego_Springs Ridgecrest Cabazon Ludlow Idyllwild Julian"),
    "nc": ("CA", "md", 38.7, -122.6, 5, "The_Geysers Cobb Hollister Parkfield Toms_Place Ferndale"),
    "ak": ("Alaska", "ml", 61.4, -150.2, 60, "Susitna_North Skwentna Pedro_Bay Cantwell Sterling Tyonek"),
    "hv": ("Hawaii", "md", 19.3, -155.4, 18, "Pāhala Volcano Naalehu Leilani_Estates"),
    "nn": ("Nevada", "ml", 38.2, -118.1, 8, "Mina Silver_Peak Tonopah Yerington Valmy"),
    "uu": ("Utah", "md", 39.4, -111.6, 7, "Beaver Milford East_Carbon Panguitch Magna"),
    "uw": ("Washington", "ml", 46.9, -121.9, 9, "Ashford Morton Duvall Elk_Plain Entiat"),
    "tx": ("Texas", "ml", 31.7, -103.6, 6, "Mentone Toyah Pecos Stanton Whites_City"),
}


@kind("usgs_quakes", "rows")
def usgs_quakes(rng: random.Random) -> Parts:
    """The CSV feed of the USGS: one earthquake in a row, the newest first."""
    size = rng.randint(690, 740)
    now = datetime(2025, rng.randint(2, 9), rng.randint(12, 27), 18, rng.randint(0, 59), tzinfo=UTC)
    spots = w.spots(rng, size, 13, apart=7)
    giant, bomb, deep, blank, twin, still, epoch, back, dropped, pole, east, rough, nowhere = spots
    silence = timedelta(seconds=rng.randint(29_000, 41_000))
    rows: list[dict[str, str]] = []
    times: list[datetime] = []
    for k in range(size):
        now -= timedelta(seconds=rng.uniform(8, 1500)) + (silence if k == still else timedelta())
        net = rng.choice(list(REGIONS)) if k not in (giant, deep) else "ak"
        state, scale, lat, lon, usual, towns = REGIONS[net]
        times.append(now)
        mag = w.near(rng, 1.35, 0.75, 0.11, 4.4)
        where = rng.choice("N S E W NNE SSW ENE WSW SE NW".split())
        near = f"{rng.randint(1, 88)} km {where} of {rng.choice(towns.split()).replace('_', ' ')}, {state}"
        stations = rng.randint(8, 64)
        cells = {
            "time": f"{now:%Y-%m-%dT%H:%M:%S}.{rng.randint(10, 999):03d}Z",
            "latitude": f"{lat + rng.uniform(-1.4, 1.4):.4f}",
            "longitude": f"{lon + rng.uniform(-2, 2):.4f}",
            "depth": f"{w.near(rng, usual, usual * 0.55, 0.3, 148):.2f}",
            "mag": f"{mag:.2f}",
            "magType": scale,
            "nst": str(stations),
            "gap": str(rng.randint(31, 288)),
            "dmin": f"{rng.uniform(0.006, 0.9):.4f}",
            "rms": f"{rng.uniform(0.03, 0.88):.2f}",
            "net": net,
            "id": f"{net}{rng.randint(40_100_000, 79_900_000)}",
            "updated": f"{now + timedelta(minutes=rng.uniform(6, 2800)):%Y-%m-%dT%H:%M:%S}.{rng.randint(10, 999):03d}Z",
            "place": f'"{near}"',
            "type": "earthquake" if rng.random() < 0.95 else "quarry blast",
            "horizontalError": f"{rng.uniform(0.11, 1.9):.2f}",
            "depthError": f"{rng.uniform(0.2, 3.9):.2f}",
            "magError": f"{rng.uniform(0.02, 0.38):.3f}",
            "magNst": str(rng.randint(3, stations)),
            "status": w.pick(rng, {"reviewed": 68, "automatic": 32}),
            "locationSource": net,
            "magSource": net,
        }
        rows.append(cells)
    strong, down = f"{rng.uniform(7.0, 7.9):.2f}", f"{rng.uniform(590, 690):.2f}"
    rows[giant].update(mag=strong, magType="mww", type="earthquake")
    rows[bomb]["type"] = "nuclear explosion"
    rows[deep].update(depth=down, type="earthquake")
    rows[blank].update(mag="", magType="")
    again = times[twin - 1] + timedelta(minutes=rng.uniform(3000, 4000))
    rows[twin] = {**rows[twin - 1], "updated": f"{again:%Y-%m-%dT%H:%M:%S}.040Z", "status": "reviewed"}
    rows[epoch]["time"] = "1970-01-01T00:00:00.000Z"
    early = f"{times[back] - timedelta(days=rng.randint(24, 40)):%Y-%m-%d}"
    rows[back]["updated"] = f"{early}T02:11:40.040Z"
    rows[dropped]["status"] = "deleted"
    north, away, wild = (
        f"{rng.uniform(94, 99):.4f}",
        f"{rng.uniform(101, 149):.4f}",
        f"{rng.uniform(14, 39):.2f}",
    )
    rows[pole]["latitude"] = north
    rows[east]["longitude"] = away
    rows[rough]["rms"] = wild
    rows[nowhere]["place"] = ""
    n = Lines(2)
    get = "SELECT id, place, {0} FROM t WHERE {1}".format
    top = "SELECT id, place, {0} FROM t ORDER BY number({0}) DESC LIMIT 3".format

    def one(what: str, k: int, telling: list, *searches: str, sql: str = "", more: tuple = ()) -> None:
        row = rows[k]
        names = [row["id"], f"#{k}", f"row {k + 1}", f"row {k}", *more]
        names += [row["place"].strip('"')] if row["place"] else []
        names += [row["time"][:19]] if k != epoch else []
        n.one(what, k, telling, names, *searches, sql=(sql,) if sql else ())

    one("outlier", giant, [strong, str(float(strong))], "mag", strong, sql=top("mag"), more=("mww",))
    one(
        "rare value",
        bomb,
        ["nuclear"],
        "nuclear",
        "type",
        sql=get("type", "type LIKE 'nuclear%'"),
        more=("explosion",),
    )
    one("outlier", deep, [down, str(float(down))], "depth", down, sql=top("depth"))
    holes = [rows[blank]["id"], rows[blank]["place"].strip('"'), f"#{blank}", f"row {blank + 1}", blank + 2]
    asked = "SELECT id, place, mag, 'empty' AS note FROM t WHERE mag IS NULL OR mag = ''"
    n.say("missing field", w.gone(holes, "mag"), "mag", ",,,", line=blank + 2, sql=asked, derived=True)
    ident = rows[twin]["id"]
    asked = "SELECT id, count(*) AS duplicates FROM t GROUP BY 1 HAVING duplicates > 1"
    n.say("duplicate", w.same(ident, twin + 1, twin + 2), ident, line=twin + 2, sql=asked, derived=True)
    n.say(
        "gap",
        hush(times[still], times[still - 1]),
        "time",
        f"{times[still]:%Y-%m-%dT%H:%M}",
        line=still + 2,
        sql="SELECT a AS later, b AS earlier, 'gap' AS note FROM (SELECT time AS b, lag(time) OVER (ORDER BY n) AS a FROM t) "
        "WHERE b > '2' ORDER BY julianday(a) - julianday(b) DESC LIMIT 2",
        derived=True,
    )
    asked = "SELECT id, time FROM t ORDER BY time LIMIT 2"
    one("time jump", epoch, ["1970-01-01", "1970"], "1970-01-01", "time", sql=asked)
    asked = "SELECT id, time, updated FROM t WHERE updated < time"
    one("contradiction", back, [early], "updated", early, sql=asked, more=("updated", "before"))
    one("rare status", dropped, ["deleted"], "deleted", "status", sql=get("status", "status = 'deleted'"))
    wrong = ("latitude", "out of range", "> 90", "invalid", "impossible")
    one(
        "outlier",
        pole,
        [north, str(float(north)), north[:4]],
        "latitude",
        north,
        sql=top("latitude"),
        more=wrong,
    )
    asked = top("longitude")
    one(
        "outlier",
        east,
        [away, str(float(away)), away[:5]],
        "longitude",
        away,
        sql=asked,
        more=("longitude", "positive"),
    )
    one("outlier", rough, [wild, str(float(wild))], "rms", wild, sql=top("rms"), more=("rms",))
    holes = [
        rows[nowhere]["id"],
        rows[nowhere]["time"][:19],
        f"#{nowhere}",
        f"row {nowhere + 1}",
        nowhere + 2,
    ]
    asked = "SELECT id, time, place, 'empty' AS note FROM t WHERE place IS NULL OR place = ''"
    n.say(
        "missing field", w.gone(holes, "place"), "place", "/Z,,/", line=nowhere + 2, sql=asked, derived=True
    )
    kinds, states = Counter(row["type"] for row in rows), Counter(row["status"] for row in rows)
    asked = "SELECT type, count(*) AS n FROM t GROUP BY 1"
    n.tally(kinds["quarry blast"], ["quarry blast", "quarry blasts"], "quarry blast", "type", sql=asked)
    n.tally(
        states["automatic"], ["automatic"], "automatic", sql="SELECT status, count(*) AS n FROM t GROUP BY 1"
    )
    n.tally(
        size,
        ["rows", "records", "events", "entries", "earthquakes", "lines"],
        "earthquake",
        sql="SELECT count(*) AS rows FROM t",
    )
    return n.parts("\n".join([QUAKE, *(",".join(row.values()) for row in rows)]) + "\n")
