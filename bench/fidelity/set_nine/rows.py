"""Lists, tables and logs of records."""

# ruff: noqa: E501, ISC004, S608, SIM905

import json
import random
import re

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_nine.tools import (
    at,
    counted,
    day,
    iso,
    letters,
    line_of,
    near_line,
    person,
    seconds,
    where,
)

SUBJECTS = (
    "Cannot sign in after password reset|Parcel {n} still not delivered|Invoice {n} shows the wrong VAT rate|"
    "App crashes when I open the scanner|How do I export my order history?|Wrong size delivered for order {n}|"
    "Request to change delivery address|Return label for order {n} missing|Promo code SPRING{n} not accepted|"
    "Charged twice for order {n}|Need a copy of receipt {n}|Subscription renewed although cancelled|"
    "Where is my refund for {n}?|Damaged item in shipment {n}|Account locked, please help|Feature request: dark mode"
).split("|")
BODIES = (
    "Hello,\n\nI ordered on the {d}th and the tracking has not moved since. Could you look into this?\n\nThanks\n{p}",
    "Hi team, this is the second time I write. The agent on the phone promised a call back within {d} hours and "
    "nobody called. Please escalate.\n\n{p}",
    "Good morning,\nattached you find a screenshot. The page shows a blank screen after the login on Android {d}.\n--\n{p}",
    "The box arrived wet and two of {d} bottles were broken. I would like a replacement rather than a refund.\r\n\r\n{p}",
    "Bonjour, je n'ai toujours pas reçu ma commande ({d} jours). Merci de me tenir informé.\nCordialement,\n{p}",
    "Please cancel order line {d}, I clicked the wrong variant. Everything else can ship.\n\nSent from my iPhone",
)


@kind("n_zendesk_tickets", "rows")
def zendesk(rng: random.Random) -> Parts:
    """What GET /api/v2/tickets.json answers, on one line."""
    n, first, tickets = rng.randint(136, 144), 48100 + rng.randint(0, 90), []
    field_a, field_b, field_c = 360021448153, 360021448173, 5619874420113
    now, number, skip = day(2026, 1, 5, 6, 12, 9), first, rng.randint(60, 70)
    agents = [rng.randint(10**11, 4 * 10**11) for _ in range(9)]
    for i in range(n):
        now += seconds(rng.expovariate(1 / 21000))
        number += 4 if i == skip else 1
        name = " ".join(person(rng))
        subject = rng.choice(SUBJECTS).format(n=rng.randint(100234, 998877))
        status = rng.choices(["new", "open", "pending", "solved", "closed"], [6, 22, 14, 40, 18])[0]
        channel = rng.choices(["email", "web", "api", "chat"], [50, 30, 12, 8])[0]
        requester = rng.randint(10**11, 4 * 10**11)
        tickets.append({
            "url": f"https://belisario.zendesk.com/api/v2/tickets/{number}.json",
            "id": number,
            "external_id": f"SO-{rng.randint(200000, 899999)}",
            "via": {"channel": channel, "source": {"from": {"address": f"{name.split()[1].lower()}{rng.randint(1, 99)}@example.net",
                    "name": name} if channel == "email" else {}, "to": {}, "rel": None}},
            "created_at": iso(now),
            "updated_at": iso(now + seconds(rng.expovariate(1 / 90000) + 60)),
            "type": rng.choice(["question", "incident", "problem", "task"]),
            "subject": subject,
            "raw_subject": subject,
            "description": rng.choice(BODIES).format(d=rng.randint(2, 30), p=name),
            "priority": rng.choices(["low", "normal", "high", "urgent", None], [20, 48, 18, 6, 8])[0],
            "status": status,
            "recipient": "support@belisario.example" if channel == "email" else None,
            "requester_id": requester,
            "submitter_id": requester,
            "assignee_id": rng.choice(agents),
            "organization_id": rng.choice([None, rng.randint(10**11, 4 * 10**11)]),
            "group_id": rng.choice([360004918274, 360004918294, 360007712034]),
            "collaborator_ids": [],
            "follower_ids": [],
            "problem_id": None,
            "has_incidents": False,
            "is_public": True,
            "due_at": None,
            "tags": rng.sample(["delivery", "refund", "billing", "app_android", "app_ios", "vat", "returns", "de", "fr", "it"], 3),
            "custom_fields": [{"id": field_a, "value": round(rng.uniform(4, 390), 2)},
                              {"id": field_b, "value": rng.choice(["de", "fr", "it", "at", None])},
                              {"id": field_c, "value": rng.random() < 0.3}],
            "satisfaction_rating": {"score": rng.choices(["unoffered", "offered", "good", "bad"], [50, 20, 22, 8])[0]},
            "ticket_form_id": 360000871994,
            "brand_id": 360002116534,
            "allow_channelback": False,
            "allow_attachments": True,
            "from_messaging_channel": False,
        })  # fmt: skip
    t = [skip + d for d in (9, -30, 22, 31, -14, 40, 47, -22, 53, 14, 4)]
    for i in t:
        tickets[i]["status"] = "solved"
    tickets[t[0]]["custom_fields"][0]["value"] = 48250.75
    tickets[t[1]]["external_id"] = tickets[t[2]]["external_id"] = twin = f"SO-{rng.randint(100000, 199999)}"
    del tickets[t[3]]["requester_id"]
    tickets[t[4]]["tags"] = "wholesale_vip, reopened"
    tickets[t[5]]["status"] = "hold"
    tickets[t[6]]["via"]["channel"] = "mobile_sdk"
    tickets[t[7]]["updated_at"] = "2019-03-02T11:40:00Z"
    secret = letters(rng, 11) + "!9"
    tickets[t[8]]["description"] = (
        f"Hi, I still cannot log in to the dealer portal. My user is dealer-0447 and the password: {secret} Please check."
    )
    tickets[t[9]].update(subject="Notification under GDPR Art. 33: customer list sent to wrong recipient", priority="low")
    tickets[t[9]]["raw_subject"] = tickets[t[9]]["subject"]
    tickets[t[10]]["description"] = (
        'Trigger "Notify warehouse" failed: HTTP 422 Unprocessable Entity, {"error":"RecordInvalid"}. Message was not sent.'
    )
    ids = [str(one["id"]) for one in tickets]
    told = n + rng.randint(11, 19)
    solved = sum(one["status"] == "solved" for one in tickets)
    urgent = sum(one["priority"] == "urgent" for one in tickets)
    bad = sum(one["satisfaction_rating"]["score"] == "bad" for one in tickets)
    text = json.dumps({"tickets": tickets, "next_page": None, "previous_page": None, "count": told}, ensure_ascii=False, separators=(",", ":"))

    def p(k: int) -> str:
        return f"/tickets/{t[k]}"

    def w(k: int, *words: str) -> tuple[tuple[str, ...], ...]:
        return at(where(t[k], ids[t[k]]), *words)

    before, after = ids[skip - 1], ids[skip]
    return text, [
        Fact("outlier", w(0, "48250.75"), ("48250", "refund"), p(0) + "/custom_fields/0/value", queries=(
            f"SELECT t.id, c.value FROM t JOIN custom_fields c ON c.parent = t.n WHERE c.id = {field_a} ORDER BY c.value DESC LIMIT 5",)),
        Fact("duplicate", ((twin,),), (twin,), p(2) + "/external_id", queries=(
            "SELECT external_id, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 1",)),
        Fact("missing field", w(3, "requester_id"), ("requester_id",), p(3), queries=(
            "SELECT id, requester_id FROM t WHERE requester_id IS NULL",)),
        Fact("changed type", w(4, "wholesale_vip"), ("wholesale",), p(4) + "/tags", queries=(
            "SELECT id, tags FROM t WHERE tags NOT LIKE '[%'",)),
        Fact("rare status", (*w(5, "hold"), ("status", "hold"), ("hold", "solved")), ("hold",), p(5) + "/status", queries=(
            "SELECT status, count(*) AS n, min(id) AS first FROM t GROUP BY 1 ORDER BY 2",)),
        Fact("rare value", (*w(6, "mobile_sdk"), ("channel", "mobile_sdk")), ("mobile_sdk",), p(6) + "/via/channel", queries=(
            "SELECT via.channel, count(*) AS n, min(id) AS first FROM t GROUP BY 1 ORDER BY 2",)),
        Fact("time jump", (*w(7, "2019-03-02"), ("updated_at", "2019-03-02")), ("2019",), p(7) + "/updated_at", queries=(
            "SELECT id, created_at, updated_at FROM t WHERE updated_at < created_at",)),
        Fact("secret", (*w(8, "password"), *w(8, "secret"), *w(8, "credential"), (p(8) + "/description",)), ("password",),
             p(8) + "/description", hidden=secret),
        Fact("meaning", (("gdpr art. 33",), *w(9, "gdpr")), ("GDPR", "breach"), p(9) + "/subject"),
        Fact("error", (*w(10, "422"), *w(10, "recordinvalid"), ("notify warehouse", "failed")), ("failed", "422"), p(10) + "/description"),
        Fact("gap", ((before, after), *((str(int(before) + d),) for d in (1, 2, 3))), (before,), f"/tickets/{skip}/id", queries=(
            "SELECT id, next FROM (SELECT id, lead(id) OVER (ORDER BY id) AS next FROM t) WHERE next - id > 1",)),
        Fact("contradiction", tuple((one, str(told), str(n)) for one in ("count", "tickets", "listed", "told")), ("count",), "/count", queries=(
            "SELECT count(*) AS listed, (SELECT value FROM leaf WHERE path LIKE '%count') AS told FROM t",)),
        Fact("count", counted("solved", solved), ("solved",), queries=("SELECT status, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", counted("urgent", urgent), ("urgent",), queries=("SELECT priority, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", counted("bad", bad), ("satisfaction",), queries=(
            "SELECT satisfaction_rating.score, count(*) AS n FROM t GROUP BY 1",)),
        Fact("range", ((tickets[0]["created_at"][:16], tickets[-1]["created_at"][:16]),), ("created_at",), queries=(
            "SELECT min(created_at) AS first, max(created_at) AS last FROM t",)),
    ]  # fmt: skip


@kind("n_gtfs_stop_times", "rows")
def gtfs(rng: random.Random) -> Parts:
    """stop_times.txt of a transit feed."""
    def clock(s: int) -> str:
        return f"{s // 3600:02d}:{s % 3600 // 60:02d}:{s % 60:02d}"

    routes = []
    for route in ("2", "7", "13", "17N", "S6", "X31"):
        stops = rng.sample(range(1000, 9800), rng.randint(24, 36))
        routes.append((route, [f"{s}:{rng.choice('AB')}" for s in stops], rng.choice(["Hauptbahnhof", "Messe Ost", "Klinikum", "Hafen"])))
    table: list[list[str]] = []
    trips = rng.randint(97, 108)
    begin: list[int] = []
    for k in range(trips):
        route, stops, sign = routes[k % len(routes)]
        trip = f"{route}-{rng.randint(100, 999)}{k:03d}-{rng.choice(['WD', 'WD', 'SA', 'SU'])}"
        now, dist = 5 * 3600 + 420 + k * 690 + rng.randint(0, 300), 0.0
        begin.append(len(table))
        for q, stop in enumerate(stops, 1):
            dwell = rng.choice([0, 0, 0, 30, 60])
            table.append([trip, clock(now), clock(now + dwell), stop, str(q), sign if q < len(stops) else "",
                          "1" if q == len(stops) else "0", "1" if q == 1 else "0", f"{dist:.1f}", str(int(q in (1, len(stops)) or q % 7 == 0))])  # fmt: skip
            now += dwell + rng.choice([60, 90, 120, 120, 150, 180])
            dist += rng.uniform(260, 900)

    def row(share: float, stop: int) -> int:
        return begin[int(trips * share)] + stop

    odd = [row(s, d) for s, d in ((0.31, 9), (0.37, 12), (0.44, 8), (0.52, 15), (0.58, 6), (0.64, 11), (0.69, 10), (0.74, 13), (0.79, 5), (0.85, 17))]
    table[odd[0]][8] = "9840221.0"
    table[odd[1]][2] = ""
    table[odd[2]][8] = "n/a"
    table[odd[3]][6] = "3"
    table[odd[4]][3] = "TEMP-BAUSTELLE"
    h, m, s = table[odd[5]][1].split(":")
    back = f"{int(h) - 3:02d}:{m}:{s}"
    table[odd[5]][1] = table[odd[5]][2] = back
    h, m, s = table[odd[6]][1].split(":")
    early = clock(int(h) * 3600 + int(m) * 60 + int(s) - 240)
    table[odd[6]][2] = early
    h, m, s = table[odd[7]][1].split(":")
    long = clock(int(h) * 3600 + int(m) * 60 + int(s) + 47 * 60)
    table[odd[7]][2] = long
    table[odd[8]][5] = "BETRIEBSFAHRT - NOT IN SERVICE"
    twin = list(table[odd[9]])
    lost = row(0.48, 13)
    lost_trip, lost_seq = table[lost][0], int(table[lost][4])
    kept = [one for i, one in enumerate(table) if i != lost]
    where_twin = next(i for i, one in enumerate(kept) if one == twin)
    kept.insert(where_twin + 1, [*twin[:3], f"{rng.randint(9801, 9990)}:B", *twin[4:]])
    head = "trip_id,arrival_time,departure_time,stop_id,stop_sequence,stop_headsign,pickup_type,drop_off_type,shape_dist_traveled,timepoint"
    text = head + "\r\n" + "".join(",".join(one) + "\r\n" for one in kept)
    o = [table[i] for i in odd]

    def ln(one: list[str]) -> int:
        return line_of(text, ",".join(one))

    first, last = min(one[1] for one in kept), max(one[2] for one in kept)
    exact = sum(one[9] == "1" for one in kept)
    ends = sum(one[6] == "1" for one in kept)
    return text, [
        Fact("outlier", at((o[0][0], f"{ln(o[0])}", f"{ln(o[0]) - 2}"), "9840221"), ("9840221", "shape_dist"), line=ln(o[0]), queries=(
            "SELECT trip_id, stop_sequence, shape_dist_traveled FROM t ORDER BY number(shape_dist_traveled) DESC LIMIT 5",)),
        Fact("missing field", at((o[1][0], f"{ln(o[1])}", f"{ln(o[1]) - 2}"), "departure_time"), ("departure_time",), line=ln(o[1]), queries=(
            "SELECT trip_id, stop_sequence, arrival_time, departure_time FROM t WHERE departure_time IS NULL OR departure_time = ''",)),
        Fact("changed type", at((o[2][0], f"{ln(o[2])}", f"{ln(o[2]) - 2}", "shape_dist"), "n/a"), ("n/a",), line=ln(o[2]), queries=(
            "SELECT trip_id, stop_sequence, shape_dist_traveled FROM t WHERE number(shape_dist_traveled) IS NULL",)),
        Fact("rare value", (*at((o[3][0], f"{ln(o[3])}", f"{ln(o[3]) - 2}"), "pickup_type"), ("pickup_type", "3", str(ends))), ("pickup_type",), line=ln(o[3]), queries=(
            "SELECT pickup_type, count(*) AS n, min(trip_id) AS trip FROM t GROUP BY 1 ORDER BY 2",)),
        Fact("rare value", (("temp-baustelle",),), ("TEMP", "BAUSTELLE"), line=ln(o[4]), queries=(
            "SELECT trip_id, stop_sequence, stop_id FROM t WHERE stop_id NOT REGEXP '^[0-9]+:[AB]$'",)),
        Fact("time jump", at((o[5][0], f"{ln(o[5])}", f"{ln(o[5]) - 2}"), back), (o[5][0],), line=ln(o[5]), queries=(
            "SELECT * FROM (SELECT trip_id, stop_sequence, arrival_time, lag(departure_time) OVER (PARTITION BY trip_id ORDER BY stop_sequence) AS before FROM t) WHERE arrival_time < before",)),
        Fact("contradiction", at((o[6][0], f"{ln(o[6])}", f"{ln(o[6]) - 2}"), o[6][1], early), (o[6][0],), line=ln(o[6]), queries=(
            "SELECT trip_id, stop_sequence, arrival_time, departure_time FROM t WHERE departure_time < arrival_time AND departure_time <> ''",)),
        Fact("outlier", at((o[7][0], f"{ln(o[7])}", f"{ln(o[7]) - 2}"), long), (o[7][0],), line=ln(o[7]), queries=(
            "SELECT trip_id, stop_sequence, arrival_time, departure_time FROM t WHERE departure_time > arrival_time ORDER BY (substr(departure_time,1,2)*60+substr(departure_time,4,2)) - (substr(arrival_time,1,2)*60+substr(arrival_time,4,2)) DESC LIMIT 3",)),
        Fact("rare value", (("not in service",), ("betriebsfahrt",)), ("NOT IN SERVICE", "headsign"), line=ln(o[8]), queries=(
            "SELECT stop_headsign, count(*) AS n FROM t GROUP BY 1 ORDER BY 2",)),
        Fact("duplicate", at((twin[4], "twice", "duplicate", "repeat", f"{ln(twin)}"), twin[0]), (twin[0],), line=ln(twin), queries=(
            "SELECT trip_id, stop_sequence, count(*) AS n FROM t GROUP BY 1, 2 HAVING count(*) > 1",)),
        Fact("gap", ((lost_trip, str(lost_seq)), (lost_trip, str(lost_seq - 1), str(lost_seq + 1))), (lost_trip,), line=line_of(text, f"{lost_trip},") + 12, queries=(
            "SELECT * FROM (SELECT trip_id, stop_sequence, lead(stop_sequence) OVER (PARTITION BY trip_id ORDER BY stop_sequence) AS next FROM t) WHERE next - stop_sequence > 1",)),
        Fact("count", (("trip", str(trips)),), ("trip_id",), queries=("SELECT count(DISTINCT trip_id) AS trips FROM t",)),
        Fact("count", (("timepoint", str(exact)),), ("timepoint",), queries=("SELECT timepoint, count(*) AS n FROM t GROUP BY 1",)),
        Fact("count", (("pickup_type", str(ends)),), ("pickup_type",), queries=("SELECT pickup_type, count(*) AS n FROM t GROUP BY 1",)),
        Fact("range", ((first, last),), ("arrival_time",), queries=("SELECT min(arrival_time) AS first, max(departure_time) AS last FROM t",)),
    ]  # fmt: skip


@kind("n_influx_line", "rows")
def influx(rng: random.Random) -> Parts:
    """InfluxDB line protocol, as telegraf's file output writes it."""
    start, lines = 1772409600, []
    sensors = [(f"th-{rng.randint(100, 999):04d}{c}", rng.choice(["cold1", "cold2", "cold3", "dock", "freezer1"])) for c in "abcdefghjk"]
    base = {"cold1": 4.0, "cold2": 4.2, "cold3": 5.1, "dock": 12.5, "freezer1": -21.0}
    battery = [rng.randint(41, 98) for _ in sensors]
    steps, gap = 170, 96
    for k in range(steps):
        when = start + k * 60 + (2460 if k >= gap else 0)
        for j, (sensor, room) in enumerate(sensors):
            if rng.random() < 0.01:
                battery[j] -= 1
            ns = when * 10**9 + j * 1_000_000 + rng.randint(100_000, 900_000)
            lines.append(f"env,host=gw-{1 + j % 3},room={room},sensor={sensor},fw=2.4.1 temperature={base[room] + rng.gauss(0, 0.4):.2f},"
                         f"humidity={rng.gauss(68, 4):.1f},battery={battery[j]}i,online={'false' if rng.random() < 0.015 else 'true'} {ns}")  # fmt: skip
        if k % 4 == 1:
            lines.append(f"setpoint,host=gw-1,room=cold2,controller=ctl-7 target={4.0 if k < 120 else 14.0:.1f},mode=\"auto\" {when * 10**9 + 40_000_000}")
        if rng.random() < 0.5:
            lines.append(f'door,host=gw-2,room={rng.choice(["dock", "cold1"])},door=D{rng.randint(1, 6)} state="{rng.choice(["open", "closed"])}" {when * 10**9 + rng.randint(50, 900) * 10**6}')

    def env(share: float) -> int:
        i = int(len(lines) * share)
        while not lines[i].startswith("env") or "online=false" in lines[i] or "freezer" in lines[i]:
            i += 1
        return i

    def sub(i: int, a: str, b: str) -> str:
        lines[i] = re.sub(a, b, lines[i], count=1)
        return lines[i].split(" ")[-1]

    o = [env(s) for s in (0.33, 0.38, 0.43, 0.49, 0.53, 0.62, 0.66, 0.78, 0.83, 0.9)]
    a_ts = sub(o[0], r"temperature=[-\d.]+", "temperature=412.70")
    b_ts = sub(o[1], r"humidity=[\d.]+,", "")
    c_ts = sub(o[2], r"battery=(\d+)i", r'battery="low"')
    d_ts = sub(o[3], r"online=true", 'online=false,error="i2c read timeout after 5 retries"')
    sub(o[4], r"fw=2.4.1", "fw=2.5.0-rc3")
    short = sub(o[5], r"(\d{10})\d{9}$", r"\1")
    far_ns = (1930176000 + rng.randint(1000, 9000)) * 10**9
    sub(o[6], r"\d{19}$", str(far_ns))
    sub(o[7], r"room=\w+", "room=quarantine")
    psk = letters(rng, 14)
    key, stamp = lines[o[8]].split(" ")[0], lines[o[8]].split(" ")[-1]
    lines.insert(o[8] + 1, f'{key} temperature={rng.uniform(20, 30):.2f},humidity=31.0,battery=11i,online=true {stamp}')
    lines.insert(o[9] + 4, f'wifi,host=gw-3 ssid="KUEHLHAUS-IOT",psk="{psk}",rssi=-61i {lines[o[9]].split(" ")[-1]}')
    text = "\n".join(lines) + "\n"
    doors, offline = sum(one.startswith("door") for one in lines), sum("online=false" in one for one in lines)
    setpoints = sum(one.startswith("setpoint") for one in lines)
    points = sum(one.startswith("env") for one in lines)
    cold = min(float(re.search(r"temperature=(-[\d.]+)", one)[1]) for one in lines if "temperature=-" in one)  # type: ignore[index]
    left = max(line.split(" ")[-1] for line in lines[:-1] if len(line.split(" ")[-1]) == 19 and int(line.split(" ")[-1]) < (start + gap * 60 - 1) * 10**9)
    right = (start + gap * 60 + 2460) * 10**9
    nxt = next(line.split(" ")[-1] for line in lines if len(line.split(" ")[-1]) == 19 and int(line.split(" ")[-1]) > right and line.startswith("env"))
    change = line_of(text, "target=14.0")

    def like(what: str) -> tuple[str, ...]:
        return (f"SELECT n, text FROM lines WHERE text LIKE '%{what}%'",)

    def ln(ts: str) -> int:
        return line_of(text, ts)

    n_b = ln(b_ts)
    sensor_b = re.search(r"sensor=([\w-]+)", lines[n_b - 1])[1]  # type: ignore[index]
    return text, [
        Fact("outlier", (("412.7",), ("412.70",)), ("412", "temperature"), line=ln(a_ts), queries=(
            "SELECT n, text FROM lines WHERE text LIKE '%temperature=%' ORDER BY CAST(substr(text, instr(text, 'temperature=') + 12) AS REAL) DESC LIMIT 3",)),
        Fact("missing field", (*near_line(n_b, "humidity"), (b_ts, "temperature"), (sensor_b, b_ts[:13], "humidity")), ("humidity",), line=n_b, queries=(
            "SELECT n, text FROM lines WHERE text LIKE 'env,%' AND text NOT LIKE '%humidity=%'",)),
        Fact("changed type", (('battery="low"',), ("battery", "low")), ("battery",), line=ln(c_ts), queries=(
            "SELECT n, text FROM lines WHERE text LIKE 'env,%' AND text NOT REGEXP 'battery=[0-9]+i'",)),
        Fact("error", (("i2c read timeout",),), ("error", "timeout"), line=ln(d_ts), queries=like("error")),
        Fact("rare value", (("2.5.0-rc3",),), ("rc3", "fw="), line=line_of(text, "rc3"), queries=(
            "SELECT substr(text, instr(text, 'fw='), 12) AS fw, count(*) AS n FROM lines WHERE text LIKE '%fw=%' GROUP BY 1",)),
        Fact("changed type", ((short,),), (short,), line=next(n for n, one in enumerate(lines, 1) if one.endswith(f" {short}")), queries=(
            "SELECT n, text FROM lines WHERE text NOT REGEXP ' [0-9]{19}$' AND text <> ''",)),
        Fact("time jump", ((str(far_ns),), (str(far_ns // 10**9),), ("2031-03-0",), ("2031", "far")), (str(far_ns)[:10],), line=ln(str(far_ns)), queries=(
            "SELECT n, text FROM lines WHERE text REGEXP ' [0-9]{19}$' ORDER BY substr(text, -19) DESC LIMIT 3",)),
        Fact("rare value", (("quarantine",),), ("quarantine", "room="), line=line_of(text, "quarantine"), queries=like("room=quarantine")),
        Fact("duplicate", ((stamp,), *near_line(ln(stamp), "duplicate")), (stamp,), line=ln(stamp), queries=(
            "SELECT substr(text, -19) AS ts, substr(text, 1, instr(text, ' ')) AS series, count(*) AS n FROM lines GROUP BY 1, 2 HAVING count(*) > 1",)),
        Fact("secret", (("psk",), ("kuehlhaus-iot", "secret")), ("psk", "wifi"), line=line_of(text, "psk="), hidden=psk, queries=(
            "SELECT n, substr(text, 1, 45) FROM lines WHERE text LIKE '%psk=%' OR text LIKE '%password=%'",)),
        Fact("change with meaning", (("target", "14.0", "4.0"), ("setpoint", "14.0", "4.0"), *near_line(change, "14")), ("setpoint", "target"), line=change, queries=(
            "SELECT substr(text, instr(text, 'target='), 11) AS target, count(*) AS lines, min(n) AS first FROM lines WHERE text LIKE 'setpoint%' GROUP BY 1",)),
        Fact("gap", ((left[:10], nxt[:10]), (left, nxt), ("01:35", "02:17"), ("01:35", "42 m"), (left[:10], "42 m")), (nxt[:10],), line=ln(nxt), queries=(
            "SELECT * FROM (SELECT n, substr(text, -19, 10) AS ts, lead(substr(text, -19, 10)) OVER (ORDER BY n) AS next FROM lines WHERE text REGEXP ' 17[0-9]{17}$') WHERE next - ts > 300",)),
        Fact("count", (*counted("door", doors), ("door", str(doors), "setpoint", str(setpoints))), ("door",), queries=(
            "SELECT substr(text, 1, instr(text, ',') - 1) AS measurement, count(*) AS n FROM lines GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", (("env", str(points)),), ("env",), queries=(
            "SELECT substr(text, 1, instr(text, ',') - 1) AS measurement, count(*) AS n FROM lines GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", (*counted("online=false", offline), ("offline", str(offline))), ("online=false",), queries=(
            "SELECT count(*) AS offline FROM lines WHERE text LIKE '%online=false%'",)),
        Fact("range", ((f"{cold:.2f}", "412.7"), (f"{cold:.2f}", "412.70"), ("temperature", f"{cold:.2f}")), ("temperature",), queries=(
            "SELECT min(CAST(substr(text, instr(text, 'temperature=') + 12) AS REAL)) AS min_temperature, max(CAST(substr(text, instr(text, 'temperature=') + 12) AS REAL)) AS max FROM lines WHERE text LIKE '%temperature=%'",)),
    ]  # fmt: skip


