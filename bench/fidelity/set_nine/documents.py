"""A calendar, subtitles and a database script."""

# ruff: noqa: C901, E501, S608, SIM905

import random
from datetime import timedelta

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_nine.tools import (
    FIRST,
    LAST,
    counted,
    day,
    hexes,
    letters,
    line_of,
    near_line,
    person,
)

TOPICS = (
    "Jour fixe Vertrieb|Sprint review {t}|1:1 {p} / {q}|Supplier call {c}|Budget Q{n} {t}|Interview {p} {q}|Release board {t}|"
    "Retro {t}|Steering {c}|Training forklift group {n}|Site visit {c}|Standup {t}|Contract talk {c}|Onboarding {p} {q}"
).split("|")
TEAMS = ("Atlas", "Boreas", "Cygnus", "Dorado", "Eridanus", "Fornax")
FIRMS = ("Vireo", "Kestrel", "Petrel", "Quarzwerk", "Lumina", "Nordhafen", "Mirabel")


@kind("n_ics_calendar", "printed")
def ics(rng: random.Random) -> Parts:
    """An exported team calendar."""
    out = ["BEGIN:VCALENDAR", "PRODID:-//Google Inc//Google Calendar 70.9054//EN", "VERSION:2.0", "CALSCALE:GREGORIAN", "METHOD:PUBLISH", "X-WR-CALNAME:Operations Bremen",
           "X-WR-TIMEZONE:Europe/Berlin", "BEGIN:VTIMEZONE", "TZID:Europe/Berlin", "BEGIN:STANDARD", "TZOFFSETFROM:+0200", "TZOFFSETTO:+0100", "TZNAME:CET",
           "DTSTART:19701025T030000", "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU", "END:STANDARD", "END:VTIMEZONE"]  # fmt: skip
    n = rng.randint(205, 216)
    names = "uid backwards noend nosummary cancelled confidential zone endless long crowd secret allday alien told pub".split()
    o = {name: int(n * (0.09 + 0.058 * k)) for k, name in enumerate(names)}
    made: list[tuple[str, str, str]] = []
    tentative = 0
    secret = letters(rng, 9)
    twin = f"{hexes(rng, 26)}@google.com"
    now = day(2026, 1, 7, 9)
    for i in range(n):
        now += timedelta(minutes=rng.choice([30, 60, 120, 330, 900, 1440]))
        now = now.replace(hour=8 + now.hour % 9)
        begin = now
        p, q, c, t = rng.choice(FIRST), rng.choice(LAST), rng.choice(FIRMS), rng.choice(TEAMS)
        summary = rng.choice(TOPICS).format(p=p, q=q, c=c, t=t, n=rng.randint(1, 4))
        end = begin + timedelta(minutes=rng.choice([15, 30, 30, 45, 60, 90]))
        owner = ".".join(person(rng)).lower() + "@albatros.example"
        uid = twin if i in (o["uid"], o["uid"] + 44) else f"{hexes(rng, 26)}@google.com"
        if i == o["backwards"]:
            end = begin - timedelta(minutes=90)
        if i == o["long"]:
            end = begin + timedelta(hours=3120)
        if i == o["alien"]:
            owner = "k.vance@rivalfreight.example"
        status = "CANCELLED" if i == o["cancelled"] else rng.choices(["CONFIRMED", "TENTATIVE"], [88, 12])[0]
        tentative += status == "TENTATIVE"
        made.append((uid, f"{begin:%Y%m%dT%H%M%S}", f"{end:%Y%m%dT%H%M%S}"))
        zone = "Asia/Kolkata" if i == o["zone"] else "Europe/Berlin"
        ev = ["BEGIN:VEVENT", f"DTSTART;VALUE=DATE:{begin:%Y%m%d}" if i == o["allday"] else f"DTSTART;TZID={zone}:{made[i][1]}"]
        if i == o["allday"]:
            ev.append(f"DTEND;VALUE=DATE:{begin + timedelta(days=1):%Y%m%d}")
        elif i != o["noend"]:
            ev.append(f"DTEND;TZID={zone}:{made[i][2]}")
        if i == o["endless"]:
            ev.append("RRULE:FREQ=HOURLY;INTERVAL=1;COUNT=9999")
        elif rng.random() < 0.12:
            ev.append(f"RRULE:FREQ=WEEKLY;COUNT={rng.randint(4, 12)};BYDAY={rng.choice(['MO', 'TU', 'WE', 'TH', 'FR'])}")
        ev += ["DTSTAMP:20260316T071512Z", f"ORGANIZER;CN={owner.split('@')[0]}:mailto:{owner}", f"UID:{uid}"]
        for _ in range(64 if i == o["crowd"] else rng.randint(2, 5)):
            who = ".".join(person(rng)).lower() + "@albatros.example"
            ev += [f"ATTENDEE;CUTYPE=INDIVIDUAL;ROLE=REQ-PARTICIPANT;PARTSTAT={rng.choice(['ACCEPTED', 'ACCEPTED', 'NEEDS-ACTION', 'DECLINED'])}", f" ;CN={who};X-NUM-GUESTS=0:mailto:{who}"]
        if i == o["confidential"]:
            ev.append("CLASS:CONFIDENTIAL")
        words = f"Dial in: https://meet.google.com/{letters(rng, 3).lower()}-{letters(rng, 4).lower()}-{letters(rng, 3).lower()}\\n\\nAgenda: {rng.choice(['open points', 'numbers', 'risks', 'next steps'])}"
        if i == o["secret"]:
            words = f"Zoom https://zoom.us/j/9{rng.randint(10**8, 10**9)} \\nPasscode: {secret}\\nHost key on the board"
        if i == o["told"]:
            words = "Room plan: this meeting needs 3 rooms for 40 people\\; only one room of 8 is booked. NO-GO if not solved by Friday."
        ev += [f"CREATED:{begin - timedelta(days=rng.randint(3, 90)):%Y%m%dT%H%M%SZ}", f"DESCRIPTION:{words}",
               f"LAST-MODIFIED:{'19700101T000000Z' if i == o['pub'] else f'{begin - timedelta(days=1):%Y%m%dT%H%M%SZ}'}",
               f"LOCATION:{rng.choice(['Weser', 'Elbe', 'Oder', 'Online', 'Lager 3'])}", f"SEQUENCE:{rng.choice([0, 0, 1, 2])}", f"STATUS:{status}"]  # fmt: skip
        if i != o["nosummary"]:
            ev.append(f"SUMMARY:{summary}")
        ev += ["TRANSP:OPAQUE", "END:VEVENT"]
        out += ev
    out.append("END:VCALENDAR")
    text = "\r\n".join(out) + "\r\n"

    def ln(name: str, prefix: str) -> int:
        return line_of(text, prefix, line_of(text, f"UID:{made[o[name]][0]}") - 20)

    def like(what: str) -> tuple[str, ...]:
        return (f"SELECT n, text FROM lines WHERE text LIKE '%{what}%'",)

    def when(name: str, *words: str) -> tuple[tuple[str, ...], ...]:
        uid, begin, _ = made[o[name]]
        d = f"{begin[:4]}-{begin[4:6]}-{begin[6:8]}"
        return ((begin, *words), (d, *words), (uid[:26], *words))

    back = made[o["backwards"]]
    return text, [
        Fact("duplicate", ((twin[:26],),), (twin[:12],), line=line_of(text, twin), queries=("SELECT text, count(*) AS times FROM lines WHERE text LIKE 'UID:%' GROUP BY text HAVING count(*) > 1",)),
        Fact("contradiction", ((back[1], back[2]), (back[1][:8], back[2][9:], "end"), *near_line(line_of(text, f":{back[2]}"), "dtend")), (back[2],), line=line_of(text, f"DTEND;TZID=Europe/Berlin:{back[2]}")),
        Fact("missing field", when("noend", "dtend"), ("DTEND",), line=line_of(text, f":{made[o['noend']][1]}")),
        Fact("missing field", (*when("nosummary", "summary"), *near_line(line_of(text, made[o["nosummary"]][0]), "summary")), ("SUMMARY",), line=line_of(text, made[o["nosummary"]][0])),
        Fact("rare status", (("cancelled",),), ("STATUS:",), line=line_of(text, "STATUS:CANCELLED"), queries=("SELECT text, count(*) AS times FROM lines WHERE text LIKE 'STATUS:%' GROUP BY text",)),
        Fact("rare value", (("class:confidential",), ("confidential",)), ("CLASS:", "CONFIDENTIAL"), line=line_of(text, "CLASS:CONF"), queries=like("CLASS:")),
        Fact("rare value", (("asia/kolkata",),), ("TZID", "Asia"), line=line_of(text, "Asia/Kolkata"), queries=("SELECT substr(text, 1, 27) AS zone, count(*) AS times FROM lines WHERE text LIKE 'DTSTART;TZID%' GROUP BY 1",)),
        Fact("outlier", (("count=9999",), ("hourly",)), ("RRULE", "HOURLY"), line=line_of(text, "COUNT=9999"), queries=("SELECT text, count(*) AS times FROM lines WHERE text LIKE 'RRULE%' AND text NOT LIKE '%WEEKLY%' GROUP BY text",)),
        Fact("outlier", ((made[o["long"]][1], made[o["long"]][2]), (made[o["long"]][2], "dtend"), *near_line(line_of(text, f"DTEND;TZID=Europe/Berlin:{made[o['long']][2]}"), made[o["long"]][2])), (made[o["long"]][2],), line=line_of(text, f":{made[o['long']][2]}")),
        Fact("secret", (("passcode",), ("host key on the board",)), ("Passcode", "zoom"), line=line_of(text, "Passcode"), hidden=secret, queries=("SELECT n, substr(text, 1, 60) FROM lines WHERE text LIKE '%passcode%' OR text LIKE '%password%'", "SELECT n, 'Passcode' AS what FROM lines WHERE text LIKE '%passcode%'")),
        Fact("changed type", ((f"value=date:{made[o['allday']][1][:8]}",), ("value=date",)), ("VALUE=DATE",), line=line_of(text, "VALUE=DATE"), queries=like("VALUE=DATE")),
        Fact("rare value", (("rivalfreight",),), ("ORGANIZER",), line=line_of(text, "rivalfreight"), queries=("SELECT n, text FROM lines WHERE text LIKE 'ORGANIZER%' AND text NOT LIKE '%albatros.example%'",)),
        Fact("meaning", (("no-go if not solved",), ("3 rooms for 40",)), ("NO-GO",), line=line_of(text, "NO-GO")),
        Fact("time jump", (("19700101t000000z",), ("1970-01-01",)), ("LAST-MODIFIED:1970",), line=line_of(text, "MODIFIED:1970"), queries=("SELECT n, text FROM lines WHERE text LIKE 'LAST-MODIFIED%' ORDER BY text LIMIT 3",)),
        Fact("count", (*counted("tentative", tentative), ("tentative", str(tentative), "confirmed", str(n - 1 - tentative))), ("TENTATIVE",), queries=("SELECT text, count(*) AS times FROM lines WHERE text LIKE 'STATUS:%' GROUP BY text",)),
        Fact("count", (("event", str(n)),), ("BEGIN:VEVENT",), queries=("SELECT count(*) AS events FROM lines WHERE text LIKE 'BEGIN:VEVENT%'",)),
    ]  # fmt: skip


SAID = (
    "So if we look at the {a} over the last {n} weeks,|that is roughly what I would expect from the {a}.|and then we move on to the {a} in bay {n}.|"
    "Could you repeat that, please?|I think the {a} was replaced in spring.|No, that was before the {a} came in.|We measured it {n} times.|"
    "The {a} feeds into the second {b},|which is why the {b} looks so odd on slide {n}.|Right. Any questions about the {a}?|"
    "Let me share my screen.|You should see the {b} now.|In practice the {b} takes about {n} minutes.|[inaudible]|"
    "Exactly, and the {a} has to be cooled first.|My colleague {p} will say more about the {b}.|We come to that after the break.|"
    "It is a question of the {a}, not of the {b}.|There were {n} cases in the first cohort.|And nobody complained about the {b}.|[laughter]|"
    "The protocol says {n} millilitres,|but the {b} was never calibrated for that."
).split("|")
THINGS = "centrifuge|sterile filter|cold chain|release form|autoclave|dosing pump|label printer|batch record|clean room|pressure sensor|syringe line|stability study|audit trail|filling needle|stopper tray".split("|")


@kind("n_srt_subtitles", "printed")
def srt(rng: random.Random) -> Parts:
    """Subtitles of a recorded training course."""
    def clock(ms: int) -> str:
        return f"{ms // 3600000:02d}:{ms // 60000 % 60:02d}:{ms // 1000 % 60:02d},{ms % 1000:03d}"

    n, now, cues = rng.randint(1230, 1270), 1840, []
    for _ in range(n):
        took = rng.randint(1100, 4600)
        words = rng.choice(SAID).format(a=rng.choice(THINGS), b=rng.choice(THINGS), n=rng.randint(2, 48), p=rng.choice(FIRST))
        if rng.random() < 0.35 and "[" not in words:
            words += "\n" + rng.choice(SAID[:13]).format(a=rng.choice(THINGS), b=rng.choice(THINGS), n=rng.randint(2, 48), p=rng.choice(FIRST))
        if rng.random() < 0.05:
            words = "- " + words.replace("\n", "\n- ")
        cues.append([now, now + took, words])
        now += took + rng.randint(40, 1500)
    names = "advert long dose empty dot alarm back password mojibake decision dose2 tag overlap".split()
    o = {name: int(n * (0.07 + 0.063 * k)) for k, name in enumerate(names)}
    secret = f"{rng.choice(['Falcon', 'Marble', 'Copper'])}-{rng.randint(1000, 9999)}"
    cues[o["advert"]][2] = "Downloaded from www.opensubz.example\nAdvertise your product or brand here"
    cues[o["long"]][1] = cues[o["long"]][0] + 754_000
    cues[o["dose"]][2] = "The maximum dose is 40 milligrams per day,\nnever more than that."
    cues[o["dose2"]][2] = "As I said, the maximum dose\nis 400 milligrams per day."
    cues[o["empty"]][2] = ""
    cues[o["alarm"]][2] = "[fire alarm, speakers leave the room]"
    cues[o["back"]][0] -= 1_200_000
    cues[o["back"]][1] = cues[o["back"]][0] + 2100
    cues[o["password"]][2] = f"The password for the training system\nis {secret}, with a capital letter."
    cues[o["mojibake"]][2] = "ItÃ¢â‚¬â„¢s the MÃ¼ller valve we talked about."
    cues[o["decision"]][2] = "We decided: batch LX-2291 is not released\nand goes back to quarantine."
    cues[o["tag"]][2] = '<font color="#ff0000">DO NOT OPEN THE VALVE ABOVE 3 BAR</font>'
    silence = int(n * 0.93)
    for cue in cues[silence:]:
        cue[0] += 1_860_000
        cue[1] += 1_860_000
    numbers = list(range(1, n + 1))
    gap, twin = int(n * 0.37), int(n * 0.655)
    numbers = [k + (2 if k > gap else 0) for k in numbers]
    numbers = [number - (k >= twin) for k, number in enumerate(numbers)]
    blocks = []
    for k, (a, b, words) in enumerate(cues):
        times = f"{clock(a)} --> {clock(b)}"
        if k == o["dot"]:
            times = times.replace(",", ".")
        if k == o["overlap"]:
            times = f"{clock(b)} --> {clock(a)}"
        blocks.append(f"{numbers[k]}\n{times}\n{words}\n")
    text = "\n".join(blocks)
    lines = text.split("\n")

    def ln(name: str) -> int:
        return line_of(text, blocks[o[name]].split("\n")[1])

    def c(name: str, side: int = 0) -> str:
        return clock(cues[o[name]][side])

    def like(what: str) -> tuple[str, ...]:
        return (f"SELECT n, text FROM lines WHERE text LIKE '%{what}%'",)

    dup = str(numbers[twin])
    dup_line = next(k for k, one in enumerate(lines, 1) if one == dup and lines[k].startswith(clock(cues[twin][0])))
    gap_line = next(k for k, one in enumerate(lines, 1) if one == str(gap + 3) and "-->" in lines[k])
    return text, [
        Fact("rare value", (("opensubz",), ("advertise your product",)), ("www.", "Advertise"), line=line_of(text, "opensubz"), queries=like("www.")),
        Fact("outlier", ((c("long"), c("long", 1)), (c("long", 1), "12:34"), (c("long"), "754")), (c("long")[:8],), line=ln("long"), queries=(
            "SELECT n, text FROM lines WHERE text LIKE '%-->%' ORDER BY (substr(text,18,2)*3600+substr(text,21,2)*60+substr(text,24,2)) - (substr(text,1,2)*3600+substr(text,4,2)*60+substr(text,7,2)) DESC LIMIT 3",)),
        Fact("contradiction", (("400 milligrams",), ("40 milligrams", "400 milligrams")), ("milligrams", "maximum dose"), line=line_of(text, "400 milligrams"), queries=like("milligrams")),
        Fact("missing field", (*near_line(ln("empty"), "empty"), *near_line(ln("empty") + 1, "empty"), (c("empty"), "empty"), (c("empty"), "no text"), (str(numbers[o["empty"]]), "empty"), (str(numbers[o["empty"]]), c("empty")), (f"{ln('empty')}|{c('empty')}",)), (c("empty")[:8],), line=ln("empty"), queries=(
            "SELECT a.n, a.text FROM lines a JOIN lines b ON b.n = a.n + 1 WHERE a.text LIKE '%-->%' AND trim(b.text) = ''",)),
        Fact("changed type", ((c("dot").replace(",", "."),),), (c("dot")[:8],), line=ln("dot"), queries=("SELECT n, text FROM lines WHERE text LIKE '%-->%' AND text NOT LIKE '%,%'",)),
        Fact("rare value", (("fire alarm",),), ("alarm", "["), line=line_of(text, "fire alarm"), queries=("SELECT text, count(*) AS times FROM lines WHERE text LIKE '[%' GROUP BY text",)),
        Fact("time jump", ((c("back"),),), (c("back")[:8],), line=ln("back"), queries=(
            "SELECT * FROM (SELECT n, text, lag(text) OVER (ORDER BY n) AS before FROM lines WHERE text LIKE '%-->%') WHERE text < before",)),
        Fact("secret", (("password for the training system",), ("password",)), ("password",), line=line_of(text, "password for"), hidden=secret, queries=like("password")),
        Fact("error", (("itã¢â‚¬â„¢s",), ("mã¼ller",), ("encoding", *near_line(ln("mojibake") + 1)[0])), ("Ã", "valve we talked"), line=line_of(text, "MÃ¼ller"), queries=like("Ã")),
        Fact("meaning", (("lx-2291",), ("not released", "quarantine")), ("decided", "released"), line=line_of(text, "LX-2291"), queries=like("decided")),
        Fact("rare value", (("do not open the valve",), ("<font",)), ("<font", "DO NOT"), line=line_of(text, "<font"), queries=like("<font")),
        Fact("contradiction", ((f"{c('overlap', 1)} --> {c('overlap')}",), (c("overlap", 1), c("overlap"), "end"), *near_line(ln("overlap"), c("overlap"))), (c("overlap", 1)[:8],), line=ln("overlap"), queries=(
            "SELECT n, text FROM lines WHERE text LIKE '%-->%' AND substr(text, 18) < substr(text, 1, 12)",)),
        Fact("gap", ((str(gap), str(gap + 3)), (str(gap + 1), "miss"), (str(gap + 1), "gap"), (str(gap + 1), str(gap + 2))), (f"{gap + 3}",), line=gap_line, queries=(
            "SELECT * FROM (SELECT CAST(text AS INTEGER) AS cue, lead(CAST(text AS INTEGER)) OVER (ORDER BY n) AS next FROM lines WHERE text REGEXP '^[0-9]+$') WHERE next - cue > 1",)),
        Fact("duplicate", (("duplicate", dup), ("twice", dup), ("repeat", dup), *near_line(dup_line, dup), ("times", dup), (dup, clock(cues[twin][0]), clock(cues[twin - 1][0]))), (dup,), line=dup_line, queries=(
            "SELECT text AS cue, count(*) AS times, max(n) AS line FROM lines WHERE text REGEXP '^[0-9]+$' GROUP BY text HAVING count(*) > 1",)),
        Fact("gap", ((clock(cues[silence - 1][1]), clock(cues[silence][0])), (clock(cues[silence][0]), "31:0"), (clock(cues[silence][0]), "gap")), (clock(cues[silence][0])[:8],), line=line_of(text, clock(cues[silence][0]))),
        Fact("count", (*((word, str(n)) for word in ("cue", "entries", "blocks", "subtitle", "-->")),), ("-->",), queries=(
            "SELECT count(*) AS cues FROM lines WHERE text LIKE '%-->%'",)),
    ]  # fmt: skip


TABLES = "Orders OrderLines Invoices Payments Customers Shipments StockMoves PriceList Returns Carriers Suppliers Ledger Vouchers Warehouses Routes".split()
VERBS = "Get Update Insert Merge Archive Recalculate Export Close Allocate Validate Reopen Post".split()


@kind("n_tsql_procs", "printed")
def tsql(rng: random.Random) -> Parts:
    """Stored procedures as SQL Server Management Studio scripts them."""
    n = rng.randint(66, 72)
    names = "nofilter inject secret ansi days delay legacy execas shell notry drop isolation todo date".split()
    o = {name: int(n * (0.08 + 0.063 * k)) for k, name in enumerate(names)}
    made, out, secret = [], ["USE [Fulfilment]", "GO"], letters(rng, 11)
    pool = [f"{v}{t}" for v in VERBS for t in TABLES]
    rng.shuffle(pool)
    twin_at = int(n * 0.93)
    twin_of = int(n * 0.3)
    for i in range(n):
        base = made[twin_of][4:] if i == twin_at else pool[i]
        table, other = rng.choice(TABLES), rng.choice(TABLES)
        schema = "legacy" if i == o["legacy"] else "dbo"
        proc = f"usp_{base}"
        made.append(proc)
        author, days = "".join(x[0] for x in person(rng)), 30 * rng.randint(1, 9)
        stamp = "7/2/2017 11:58:03 PM" if i == o["date"] else f"3/14/2026 10:{rng.randint(10, 19)}:{rng.randint(10, 59)} AM"
        told = days if i != o["days"] else 2555
        out += [f"/****** Object:  StoredProcedure [{schema}].[{proc}]    Script Date: {stamp} ******/", f"SET ANSI_NULLS {'OFF' if i == o['ansi'] else 'ON'}", "GO", "SET QUOTED_IDENTIFIER ON", "GO",
                "-- =============================================", f"-- Author:      {author}", f"-- Create date: 20{rng.randint(14, 25)}-0{rng.randint(1, 9)}-{rng.randint(10, 28)}",
                f"-- Description: {base} for the nightly run; keeps {told} days of {table}", "-- =============================================",
                f"CREATE OR ALTER PROCEDURE [{schema}].[{proc}]", "    @CompanyId   int,", "    @From        datetime2(0) = NULL,", f"    @BatchSize   int = {rng.choice([500, 1000, 2000, 5000])}"]  # fmt: skip
        if i == o["execas"]:
            out.append("WITH EXECUTE AS 'sa_maint'")
        out += ["AS", "BEGIN", "    SET NOCOUNT ON;"]
        if i == o["isolation"]:
            out.append("    SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED;")
        if i != o["notry"]:
            out += ["    SET XACT_ABORT ON;", "    BEGIN TRY", "        BEGIN TRAN;"]
        a = table[0].lower()
        cols = rng.sample(["Amount", "Currency", "StatusCode", "ChangedAt", "Quantity", "CarrierId", "TaxRate", "Reference", "WeekNo", "Weight"], 5)
        out += [f"        SELECT TOP (@BatchSize) {a}.{table}Id, {', '.join(f'{a}.{x}' for x in cols[:3])}", f"          INTO #work{i:02d}", f"          FROM dbo.{table} AS {a}{' WITH (NOLOCK)' if rng.random() < 0.3 else ''}",
                f"          LEFT JOIN dbo.{other} AS x ON x.{table}Id = {a}.{table}Id AND x.CompanyId = @CompanyId", f"         WHERE {a}.CompanyId = @CompanyId AND {a}.ChangedAt >= ISNULL(@From, DATEADD(day, -{days}, SYSUTCDATETIME()))",
                f"           AND {a}.StatusCode IN ({', '.join(str(rng.randint(10, 99)) for _ in range(4))})", f"         ORDER BY {a}.ChangedAt;", "",
                f"        UPDATE {a}", f"           SET {a}.{cols[3]} = w.{cols[1]}, {a}.ChangedAt = SYSUTCDATETIME(), {a}.ChangedBy = SUSER_SNAME()",
                f"          FROM dbo.{table} AS {a}", f"          JOIN #work{i:02d} AS w ON w.{table}Id = {a}.{table}Id;", ""]  # fmt: skip
        for _ in range(rng.randint(1, 3)):
            third = rng.choice(TABLES)
            out += [f"        INSERT INTO dbo.{third}History ({third}Id, {cols[0]}, {cols[2]}, LoggedAt)", f"        SELECT h.{third}Id, h.{cols[0]}, h.{cols[2]}, SYSUTCDATETIME()", f"          FROM dbo.{third} AS h",
                    f"         WHERE h.CompanyId = @CompanyId AND h.{cols[4]} > {rng.randint(1, 900)};", ""]  # fmt: skip
        if i == o["nofilter"]:
            out += ["        DELETE FROM dbo.PaymentAllocations;", ""]
        elif rng.random() < 0.5:
            out += [f"        DELETE {a} FROM dbo.{table}Queue AS {a} WHERE {a}.CompanyId = @CompanyId AND {a}.ChangedAt < DATEADD(day, -{days}, SYSUTCDATETIME());", ""]
        if i == o["inject"]:
            out += ["        DECLARE @sql nvarchar(max) = N'SELECT * FROM dbo.Customers WHERE Name LIKE ''%' + @Search + '%''';", "        EXEC (@sql);", ""]
        if i == o["secret"]:
            out += [f"        INSERT INTO #remote SELECT * FROM OPENROWSET('MSOLEDBSQL', 'Server=SQLDWH02;UID=etl_sync;PWD={secret};', 'SELECT * FROM dwh.dbo.Rates');", ""]
        if i == o["delay"]:
            out += ["        WAITFOR DELAY '00:45:00';", ""]
        if i == o["shell"]:
            out += ["        EXEC master..xp_cmdshell 'robocopy E:\\export \\\\nas03\\edi /MIR';", ""]
        if i == o["drop"]:
            out += ["        DROP TABLE dbo.LedgerBackup2024;", ""]
        if i == o["todo"]:
            out += ["        -- FIXME: rounding differs from the invoice PDF for CHF, customers were overcharged, see FUL-4471", ""]
        if i != o["notry"]:
            out += ["        COMMIT;", "    END TRY", "    BEGIN CATCH", "        IF @@TRANCOUNT > 0 ROLLBACK;", f"        EXEC dbo.usp_LogError @Proc = N'{proc}', @Message = ERROR_MESSAGE();", "        THROW;", "    END CATCH"]
        out += ["END", "GO", ""]
        if i == o["days"]:
            contra = (proc, str(told), str(days))
    text = "\n".join(out)

    def p(name: str) -> str:
        return made[o[name]]

    def ln(needle: str) -> int:
        return line_of(text, needle)

    def like(what: str) -> tuple[str, ...]:
        return (f"SELECT n, text FROM lines WHERE text LIKE '%{what}%'",)

    twin = made[twin_of]
    return text, [
        Fact("meaning", (("delete from dbo.paymentallocations",), ("paymentallocations",)), ("DELETE",), line=ln("PaymentAllocations"), queries=("SELECT n, text FROM lines WHERE text LIKE '%DELETE%' AND text NOT LIKE '%WHERE%'",)),
        Fact("meaning", (("@search", "exec"), ("exec (@sql)",), ("@search",)), ("EXEC (", "@sql"), line=ln("@Search"), queries=like("@sql")),
        Fact("secret", (("etl_sync",), ("openrowset",), ("pwd=",), ("pwd", "secret")), ("PWD", "OPENROWSET"), line=ln("OPENROWSET"), hidden=secret, queries=("SELECT n, substr(text, 1, 100) FROM lines WHERE text LIKE '%PWD=%' OR text LIKE '%password%'",)),
        Fact("rare value", (("ansi_nulls off",),), ("ANSI_NULLS",), line=ln("ANSI_NULLS OFF"), queries=("SELECT text, count(*) AS times FROM lines WHERE text LIKE 'SET %' GROUP BY text",)),
        Fact("contradiction", ((contra[1], contra[2]), (contra[0], "2555")), ("keeps", "2555"), line=ln("keeps 2555")),
        Fact("outlier", (("00:45:00",),), ("WAITFOR",), line=ln("WAITFOR"), queries=like("WAITFOR")),
        Fact("rare value", (("[legacy]",), ("legacy.", p("legacy"))), ("legacy",), line=ln("[legacy]"), queries=("SELECT n, text FROM lines WHERE text LIKE 'CREATE OR ALTER%' AND text NOT LIKE '%[dbo]%'",)),
        Fact("meaning", (("sa_maint",), ("execute as",)), ("EXECUTE AS",), line=ln("EXECUTE AS"), queries=like("EXECUTE AS")),
        Fact("meaning", (("xp_cmdshell",), ("robocopy",)), ("xp_cmdshell",), line=ln("xp_cmdshell"), queries=like("xp_cmdshell")),
        Fact("missing section", ((p("notry"), "try"), (p("notry"), "catch"), (p("notry"), "tran")), ("BEGIN TRY",), line=ln(f"[{p('notry')}]"), queries=(
            "SELECT p.n, p.text, 'no TRY' AS what FROM (SELECT n, text, lead(n, 1, 999999) OVER (ORDER BY n) AS next FROM lines WHERE text LIKE 'CREATE OR ALTER%') p WHERE NOT EXISTS (SELECT 1 FROM lines l WHERE l.n BETWEEN p.n AND p.next AND l.text LIKE '%BEGIN TRY%')",)),
        Fact("meaning", (("ledgerbackup2024",), ("drop table",)), ("DROP TABLE",), line=ln("DROP TABLE"), queries=like("DROP ")),
        Fact("rare value", (("read uncommitted",),), ("ISOLATION LEVEL",), line=ln("ISOLATION"), queries=like("ISOLATION")),
        Fact("error", (("ful-4471",), ("overcharged",)), ("FIXME", "TODO"), line=ln("FUL-4471"), queries=("SELECT n, text FROM lines WHERE text LIKE '%TODO%' OR text LIKE '%FIXME%' OR text LIKE '%HACK%'",)),
        Fact("time jump", (("7/2/2017",), ("2017-07-02",)), ("Script Date", "2017"), line=ln("7/2/2017"), queries=("SELECT n, text FROM lines WHERE text LIKE '%Script Date%' AND text NOT LIKE '%3/14/2026%'",)),
        Fact("duplicate", ((twin, "2"), (twin, "twice"), (twin, "duplicate"), (f"[{twin}]".lower(), str(line_of(text, f"PROCEDURE [dbo].[{twin}]", ln(f"PROCEDURE [dbo].[{twin}]"))))), (twin,), line=line_of(text, f"[{twin}]", ln(f"PROCEDURE [dbo].[{twin}]")), queries=(
            "SELECT text, count(*) AS times FROM lines WHERE text LIKE 'CREATE OR ALTER%' GROUP BY text HAVING count(*) > 1",)),
        Fact("count", (("procedure", str(n)), ("procedure", str(n - 1))), ("CREATE OR ALTER",), queries=("SELECT count(*) AS procedures FROM lines WHERE text LIKE 'CREATE OR ALTER PROCEDURE%'",)),
    ]  # fmt: skip
