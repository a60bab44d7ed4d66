"""Logs and lists of events."""

# ruff: noqa: E501, S104, S608, SIM905

import csv
import io
import json
import random
from datetime import datetime

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_nine.tools import (
    FIRST,
    at,
    counted,
    day,
    hexes,
    letters,
    line_of,
    near_line,
    person,
    seconds,
    uuid,
    where,
)

SERVICES = (
    "Windows Update|Background Intelligent Transfer Service|WMI Performance Adapter|Windows Modules Installer|"
    "Software Protection|Network Setup Service|Device Setup Manager|AppX Deployment Service (AppXSVC)|Print Spooler"
).split("|")


@kind("n_winevent_csv", "rows")
def winevent(rng: random.Random) -> Parts:
    """Get-WinEvent | Export-Csv: newest first, all quoted, messages of several lines."""
    def us(t: datetime) -> str:
        return f"{t.month}/{t.day}/{t.year} {(t.hour - 1) % 12 + 1}:{t:%M:%S} {'AM' if t.hour < 12 else 'PM'}"

    n, host = rng.randint(760, 800), "FS-MUC-02.corp.albatros.example"
    now, record = day(2026, 3, 16, 23, 51, 8), 884000 + rng.randint(100, 900)
    top, table = record, []
    for _ in range(n):
        name = "".join(part.lower()[:4] for part in person(rng))
        which = rng.choices(["7036", "4624", "4625", "4672", "10016", "1014", "36874", "153", "5145"], [24, 26, 8, 10, 9, 7, 4, 3, 9])[0]
        ip = f"10.20.{rng.randint(1, 9)}.{rng.randint(2, 250)}"
        level, provider, log, message = {
            "7036": ("Information", "Service Control Manager", "System",
                     f"The {rng.choice(SERVICES)} service entered the {rng.choice(['running', 'stopped'])} state."),
            "4624": ("Information", "Microsoft-Windows-Security-Auditing", "Security",
                     f"An account was successfully logged on.\r\n\r\nNew Logon:\r\n\tAccount Name:\t\t{name}\r\n\tAccount Domain:\t\tALBATROS\r\n\tLogon ID:\t\t0x{hexes(rng, 7).upper()}\r\n\r\nNetwork Information:\r\n\tSource Network Address:\t{ip}"),
            "4625": ("Information", "Microsoft-Windows-Security-Auditing", "Security",
                     f"An account failed to log on.\r\n\r\nAccount For Which Logon Failed:\r\n\tAccount Name:\t\t{name}\r\n\r\nFailure Information:\r\n\tFailure Reason:\t\tUnknown user name or bad password.\r\n\tStatus:\t\t\t0xC000006D\r\n\tSource Network Address:\t{ip}"),
            "4672": ("Information", "Microsoft-Windows-Security-Auditing", "Security", f"Special privileges assigned to new logon.\r\n\r\nSubject:\r\n\tAccount Name:\t\t{name}\r\n\tPrivileges:\t\tSeBackupPrivilege"),
            "10016": ("Warning", "Microsoft-Windows-DistributedCOM", "System", f"The application-specific permission settings do not grant Local Activation permission for the COM Server application with CLSID \r\n{{{uuid(rng).upper()}}}\r\n to the user ALBATROS\\{name} from address LocalHost (Using LRPC)."),
            "1014": ("Warning", "Microsoft-Windows-DNS-Client", "System", f"Name resolution for the name {rng.choice(['wpad', 'isatap', 'time.windows.com', 'ctldl.windowsupdate.com'])} timed out after none of the configured DNS servers responded. Client PID {rng.randint(900, 9900)}."),
            "36874": ("Error", "Schannel", "System", "An TLS 1.2 connection request was received from a remote client application, but none of the cipher suites supported by the client application are supported by the server. The TLS connection request has failed."),
            "153": ("Warning", "disk", "System", f"The IO operation at logical block address 0x{hexes(rng, 7)} for Disk {rng.randint(0, 3)} (PDO name: \\Device\\000000{rng.randint(30, 49)}) was retried."),
            "5145": ("Information", "Microsoft-Windows-Security-Auditing", "Security", f"A network share object was checked to see whether client can be granted desired access.\r\n\r\n\tShare Name:\t\t\\\\*\\projects$\r\n\tRelative Target Name:\t{rng.choice(['cad', 'bids', 'hr'])}\\{rng.randint(1000, 9999)}.{rng.choice(['docx', 'dwg', 'xlsx'])}\r\n\tAccount Name:\t\t{name}"),
        }[which]  # fmt: skip
        table.append([us(now), which, level, provider, str(record), host, log, message])
        record -= 1
        now -= seconds(rng.expovariate(1 / 190) + 1)

    def put(share: float, *row: str) -> list[str]:
        one = table[int(n * share)]
        one[1:4], one[6:8] = row[:3], row[3:]
        return one

    crash = put(0.46, "41", "Critical", "Microsoft-Windows-Kernel-Power", "System", "The system has rebooted without cleanly shutting down first. This error could be caused if the system stopped responding, crashed, or lost power unexpectedly.")
    cleared = put(0.55, "1102", "Information", "Microsoft-Windows-Eventlog", "Security", "The audit log was cleared.\r\nSubject:\r\n\tAccount Name:\tsvc-scan\r\n\tDomain Name:\tALBATROS")
    off = put(0.61, "7040", "Information", "Service Control Manager", "System", "The start type of the Microsoft Defender Antivirus Service service was changed from auto start to disabled.")
    word = letters(rng, 10) + "#26"
    leak = put(0.67, "4688", "Information", "Microsoft-Windows-Security-Auditing", "Security", f"A new process has been created.\r\n\r\n\tNew Process Name:\tC:\\Windows\\System32\\net.exe\r\n\tProcess Command Line:\tnet use Z: \\\\NAS-03\\backup /user:svc-backup {word}")
    slow = put(0.38, "100", "Warning", "Microsoft-Windows-Diagnostics-Performance", "Microsoft-Windows-Diagnostics-Performance/Operational", "Windows has started up: \r\n     Boot Duration\t\t:\t912345ms\r\n     IsDegradation\t\t:\ttrue")
    backup = put(0.73, "4", "Information", "Microsoft-Windows-Backup", "Microsoft-Windows-Backup", "The backup operation has finished successfully. Items processed: 48210, items failed: 12, size on target: 0 bytes.")
    blank, alien, old = table[int(n * 0.42)], table[int(n * 0.5)], table[int(n * 0.79)]
    blank[2] = ""
    alien[5] = "DESKTOP-7Q4KJ2M"
    old[0] = "1/1/2016 12:00:41 AM"
    same = table[int(n * 0.83)]
    table[int(n * 0.83) + 3][4] = same[4]
    gone = int(n * 0.58)
    hole = table[gone - 1][4], table[gone + 6][4]
    del table[gone : gone + 6]
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(
        [["TimeCreated", "Id", "LevelDisplayName", "ProviderName", "RecordId", "MachineName", "LogName", "Message"], *table]
    )
    text = out.getvalue()

    def ln(row: list[str]) -> int:
        return line_of(text, f'"{row[4]}"')

    failed, warns = sum(r[1] == "4625" for r in table), sum(r[2] == "Warning" for r in table)
    errors = sum(r[2] == "Error" for r in table)
    return text, [
        Fact("error", (("kernel-power", "41"), ("without cleanly shutting down",), ("critical", crash[4])), ("Critical", "rebooted"), line=ln(crash), queries=(
            "SELECT TimeCreated, Id, ProviderName, RecordId, Message FROM t WHERE LevelDisplayName = 'Critical'",)),
        Fact("meaning", (("audit log was cleared",), ("1102",)), ("cleared", "1102"), line=ln(cleared), queries=(
            "SELECT TimeCreated, RecordId, Message FROM t WHERE Message LIKE '%cleared%'",)),
        Fact("change with meaning", (("defender antivirus", "disabled"), ("7040",)), ("disabled", "7040"), line=ln(off), queries=(
            "SELECT TimeCreated, RecordId, Message FROM t WHERE Message LIKE '%start type%'",)),
        Fact("secret", (("svc-backup",), ("net use",), (leak[4], "secret"), (leak[4], "password")), ("net use", "/user"), line=ln(leak), hidden=word),
        Fact("outlier", (("912345",),), ("Boot Duration",), line=ln(slow)),
        Fact("contradiction", (("successfully", "failed: 12"), ("items failed: 12",)), ("backup", "failed: 12"), line=ln(backup), queries=(
            "SELECT RecordId, Message FROM t WHERE Message LIKE '%backup%failed%'",)),
        Fact("missing field", at((blank[4], f"line {ln(blank)}"), "leveldisplayname"), ("LevelDisplayName",), line=ln(blank), queries=(
            "SELECT RecordId, Id, LevelDisplayName FROM t WHERE LevelDisplayName IS NULL OR LevelDisplayName = ''",)),
        Fact("rare value", (("desktop-7q4kj2m",),), ("MachineName", "DESKTOP"), line=ln(alien), queries=(
            "SELECT MachineName, count(*) AS n FROM t GROUP BY 1",)),
        Fact("time jump", (("1/1/2016",), ("2016-01-01",)), ("2016",), line=ln(old), queries=(
            "SELECT RecordId, TimeCreated FROM t WHERE TimeCreated NOT LIKE '%/2026 %' AND TimeCreated NOT LIKE '2026-%'",)),
        Fact("duplicate", ((same[4],),), (same[4],), line=ln(same), queries=(
            "SELECT RecordId, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 1",)),
        Fact("gap", (hole, *((str(int(hole[1]) + d),) for d in (1, 6))), (hole[0],), line=line_of(text, f'"{hole[1]}"'), queries=(
            "SELECT * FROM (SELECT RecordId, lead(RecordId) OVER (ORDER BY RecordId) AS next FROM t) WHERE next - RecordId > 2",)),
        Fact("count", (*counted("4625", failed), *counted("failed to log on", failed)), ("4625",), queries=("SELECT Id, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", counted("warning", warns), ("Warning",), queries=("SELECT LevelDisplayName, count(*) AS n FROM t GROUP BY 1",)),
        Fact("count", counted("error", errors), ("Error", "Schannel"), queries=("SELECT LevelDisplayName, count(*) AS n FROM t GROUP BY 1",)),
        Fact("range", ((str(top), table[-1][4]),), ("RecordId",), queries=("SELECT min(RecordId) AS first, max(RecordId) AS last FROM t",)),
        Fact("range", ((table[-1][0], table[0][0]), (datetime.strptime(table[-1][0], "%m/%d/%Y %I:%M:%S %p").strftime("%Y-%m-%dT%H:%M"), "2026-03-16T23:51"),
                       (datetime.strptime(table[-1][0], "%m/%d/%Y %I:%M:%S %p").strftime("%Y-%m-%d %H:%M"), "2026-03-16 23:51")), ("TimeCreated",), queries=(
            "SELECT (SELECT TimeCreated FROM t ORDER BY RecordId LIMIT 1) AS first, (SELECT TimeCreated FROM t ORDER BY RecordId DESC LIMIT 1) AS last",)),
    ]  # fmt: skip


@kind("n_last_logins", "rows")
def last_logins(rng: random.Random) -> Parts:
    """`last -Fi` of a bastion host."""
    def stamp(t: datetime) -> str:
        return f"{t:%a %b} {t.day:2d} {t:%H:%M:%S %Y}"

    def took(s: float) -> str:
        days, rest = divmod(int(s), 86400)
        return f"({f'{days}+' if days else ''}{rest // 3600:02d}:{rest % 3600 // 60:02d})"

    def line(user: str, tty: str, host: str, start: datetime, tail: str) -> str:
        return f"{user[:8]:8} {tty:12} {host:16} {stamp(start)} {tail}"

    users = [name.lower()[:8] for name in rng.sample(FIRST, 22)]
    now, rows = day(2026, 3, 31, 18, 44, 10), []
    n, gap_at, kernel = rng.randint(1180, 1240), 700, "6.8.0-55-generic"
    still = 0
    for k in range(n):
        now -= seconds(rng.expovariate(1 / 1500) + 3)
        if k == gap_at:
            right = now
            now -= seconds(4 * 86400 + 11 * 3600)
            left = now
        if k == 460:
            kernel = "6.8.0-51-generic"
        if k % 149 == 148:
            up = rng.uniform(80000, 300000)
            rows.append(line("reboot", "system boot", kernel[:16], now, f"- {stamp(now + seconds(up))} {took(up)}"))
            continue
        user = rng.choices(["deploy", *users], [9, *([2] * 22)])[0]
        host = f"10.{rng.choice([4, 8, 31])}.{rng.randint(0, 40)}.{rng.randint(2, 250)}"
        long = rng.expovariate(1 / 4000) + 5
        if k < 60 and rng.random() < 0.15:
            still += 1
            tail = "  still logged in"
        else:
            tail = f"- {stamp(now + seconds(long))} {took(long)}"
        rows.append(line(user, f"pts/{rng.randint(0, 19)}", host, now, tail))
    i = [int(n * s) for s in (0.3, 0.34, 0.41, 0.45, 0.48, 0.53, 0.63, 0.68, 0.72, 0.77, 0.84)]

    def then(k: int) -> datetime:
        return datetime.strptime(rows[i[k]][39:63], "%a %b %d %H:%M:%S %Y")

    def plant(k: int, user: str, tty: str, host: str, tail: str, start: datetime | None = None) -> str:
        rows[i[k]] = line(user, tty, host, start or then(k), tail)
        return rows[i[k]]

    plant(0, users[3], "pts/4", "10.8.3.77", f"- {stamp(then(0) + seconds(41 * 86400 + 11520))} {took(41 * 86400 + 11520)}")
    plant(1, "root", "pts/11", "185.220.101.34", f"- {stamp(then(1) + seconds(740))} {took(740)}")
    plant(2, "oracle", "tty2", "0.0.0.0", f"- {stamp(then(2) + seconds(1300))} {took(1300)}")
    plant(3, users[5], "pts/2", "10.4.0.19", f"- crash {'':>22} {took(8400)}")
    plant(4, users[7], "pts/6", "10.31.9.8", "  gone - no logout")
    epoch = plant(5, users[9], "pts/1", "10.4.17.5", "- Thu Jan  1 00:21:40 1970 (00:19)", day(1970, 1, 1, 0, 2, 11))
    c = then(6)
    wrong = plant(6, users[2], "pts/3", "10.8.12.201", f"- {stamp(c + seconds(30120))} (00:09)")
    minus = then(7)
    neg = plant(7, users[6], "pts/9", "10.8.22.14", f"- {stamp(minus - seconds(720))} (-00:12)")
    rows[i[8]] = line(users[1], "pts/14", "10.4.8.66", then(8), f"- {stamp(then(8) + seconds(911))} {took(911)}")
    rows.insert(i[8] + 1, rows[i[8]])
    twin = stamp(datetime.strptime(rows[i[8]][39:63], "%a %b %d %H:%M:%S %Y"))
    plant(9, "svc_ftp", "ftpd88213", "91.92.248.12", f"- {stamp(then(9) + seconds(3))} (00:00)")
    none = plant(10, users[8], "pts/7", "", f"- {stamp(then(10) + seconds(2777))} {took(2777)}")
    begins = "Thu Mar 19 00:00:02 2026"
    text = "\n".join(rows) + f"\n\nwtmp begins {begins}\n"
    deploys = sum(r.startswith("deploy") for r in rows)
    first = rows[-1][39:63]

    def find(*parts: str) -> tuple[str, ...]:
        return ("SELECT n, text FROM lines WHERE " + " AND ".join(f"text LIKE '%{x}%'" for x in parts),)

    a = line_of(text, "6.8.0-51")
    ll, rl = stamp(left), next(r[39:63] for r in reversed(rows[: gap_at + 2]) if datetime.strptime(r[39:63], "%a %b %d %H:%M:%S %Y") >= right.replace(tzinfo=None))
    begin_line = len(rows) + 2
    return text, [
        Fact("outlier", (("41+03:12",),), ("41+",), line=line_of(text, "41+03:12"), queries=(
            "SELECT n, text FROM lines WHERE text REGEXP '[(][0-9]+[+]' AND text NOT LIKE 'reboot%'",)),
        Fact("meaning", (("root", "185.220.101.34"), ("185.220.101.34",)), ("root",), line=line_of(text, "185.220.101.34"), queries=find("root")),
        Fact("rare value", (("oracle",),), ("oracle",), line=line_of(text, "oracle"), queries=(
            "SELECT substr(text, 1, 8) AS user, count(*) AS n FROM lines GROUP BY 1 ORDER BY 2 LIMIT 8",)),
        Fact("rare status", (("crash",),), ("crash",), line=line_of(text, "crash"), queries=find("crash")),
        Fact("rare status", (("gone - no logout",), ("no logout",)), ("gone", "no logout"), line=line_of(text, "gone - "), queries=find("no logout")),
        Fact("time jump", (("jan  1 00:02:11 1970",), ("1970",)), ("1970",), line=line_of(text, epoch), queries=find("1970")),
        Fact("contradiction", ((stamp(c), "(00:09)"), ("10.8.12.201", "00:09"), (f"{c:%H:%M:%S}", "00:09")), ("10.8.12.201",), line=line_of(text, wrong)),
        Fact("outlier", (("(-00:12)",), ("-00:12",)), ("(-",), line=line_of(text, neg), queries=find("(-")),
        Fact("duplicate", ((twin,), (twin[11:19], users[1], "10.4.8.66")), ("10.4.8.66",), line=line_of(text, rows[i[8]]), queries=(
            "SELECT text, count(*) AS n, min(n) AS first FROM lines WHERE text <> '' GROUP BY text HAVING count(*) > 1",)),
        Fact("rare value", (("svc_ftp",), ("91.92.248.12",), ("ftpd88213",)), ("ftp",), line=line_of(text, "svc_ftp"), queries=find("ftpd")),
        Fact("missing field", ((none[39:63].lower(),), *near_line(line_of(text, none), "host")), (none[39:58],), line=line_of(text, none), queries=(
            "SELECT n, text FROM lines WHERE text LIKE '%pts/%' AND text NOT REGEXP '[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+'",)),
        Fact("gap", ((ll, rl), (ll[4:16], rl[4:16]), (ll[4:10], rl[4:10], "gap"), (f"{left:%Y-%m-%dT%H:%M}", f"{right:%Y-%m-%dT%H:%M}"), (f"{left:%Y-%m-%d %H:%M}", f"{right:%Y-%m-%d %H:%M}")), (ll[4:10],), line=line_of(text, ll)),
        Fact("change with meaning", (("6.8.0-51", "6.8.0-55"),), ("6.8.0",), line=a, queries=(
            "SELECT substr(text, 23, 16) AS kernel, count(*) AS boots, min(n) AS first FROM lines WHERE text LIKE 'reboot%' GROUP BY 1",)),
        Fact("contradiction", ((begins, first[:19]), (begins, first[4:16]), ("wtmp begins", "mar 19", first[4:10])), ("wtmp begins",), line=begin_line, queries=(
            "SELECT n, text FROM lines WHERE text <> '' ORDER BY n DESC LIMIT 3",)),
        Fact("count", counted("deploy", deploys), ("deploy",), queries=(
            "SELECT trim(substr(text, 1, 8)) AS user, count(*) AS n FROM lines GROUP BY 1 ORDER BY 2 DESC LIMIT 8",)),
        Fact("count", (*counted("still logged in", still), ("still_logged_in", str(still))), ("still logged in",), queries=(
            "SELECT count(*) AS still_logged_in FROM lines WHERE text LIKE '%still logged in%'",)),
    ]  # fmt: skip


@kind("n_lambda_logs", "rows")
def lambda_logs(rng: random.Random) -> Parts:
    """`aws logs filter-log-events` of a Lambda function."""
    events: list[dict[str, object]] = []
    now = 1773288000000 + rng.randint(0, 90000)
    stream = [f"2026/03/12/[$LATEST]{hexes(rng, 32)}" for _ in range(6)]
    serial = 38214790000000000000000000000000000000000000000000000000 + rng.randint(10**48, 10**49)
    batch = rng.randint(1500, 1700)
    size = 256

    def say(where_: str, message: str) -> None:
        nonlocal now, serial
        now += rng.randint(1, 900)
        serial += rng.randint(10**44, 10**45)
        events.append({"logStreamName": where_, "timestamp": now, "message": message + "\n", "ingestionTime": now + rng.randint(900, 6000), "eventId": str(serial)})

    runs = rng.randint(112, 120)
    batches: list[int] = []
    for k in range(runs):
        s, rid = stream[(k * 7 + rng.randint(0, 1)) % 6], uuid(rng)
        cold = rng.random() < 0.12
        if k == 71:
            size = 512
        batch += 2 if k == 52 else 1
        batches.append(batch)
        count = rng.choice([10, 25, 25, 25])
        say(s, f"START RequestId: {rid} Version: $LATEST")
        say(s, json.dumps({"level": "INFO", "requestId": rid, "msg": "received batch", "batch": batch, "records": count, "shard": f"shardId-{rng.randint(0, 3):012d}"}))
        if rng.random() < 0.2:
            say(s, json.dumps({"level": "WARN", "requestId": rid, "msg": "retrying upstream", "attempt": rng.randint(1, 3), "status": rng.choice([429, 503])}))
        say(s, json.dumps({"level": "INFO", "requestId": rid, "msg": f"processed {count} of {count} records", "batchItemFailures": 0}))
        say(s, f"END RequestId: {rid}")
        ms = rng.lognormvariate(6, 0.5)
        say(s, f"REPORT RequestId: {rid}\tDuration: {ms:.2f} ms\tBilled Duration: {int(ms) + 1} ms\tMemory Size: {size} MB\tMax Memory Used: {rng.randint(88, 171)} MB\t" + (f"Init Duration: {rng.uniform(300, 900):.2f} ms\t" if cold else ""))

    def pick(share: float, part: str) -> int:
        k = int(len(events) * share)
        while part not in str(events[k]["message"]):
            k += 1
        return k

    x_time, x_report, x_fail = pick(0.44, "retrying"), pick(0.5, "REPORT"), pick(0.56, "processed 25")
    events[x_time]["message"] = f"2026-03-12T05:{rng.randint(10, 50)}:41.120Z {uuid(rng)} Task timed out after 29.03 seconds\n\n"
    head, _, rest = str(events[x_report]["message"]).partition("Duration: ")
    events[x_report]["message"] = head + "Duration: 28817.66 ms\tBilled Duration: 28818 ms\t" + rest.split("\t", 2)[2]
    events[x_fail]["message"] = str(events[x_fail]["message"]).replace('"batchItemFailures": 0', '"batchItemFailures": 3')
    x_version, x_dup, x_ing = pick(0.36, "START"), pick(0.62, "received"), pick(0.4, "END")
    old_stream = f"2026/03/11/[17]{hexes(rng, 32)}"
    events[x_version]["logStreamName"] = old_stream
    events[x_version]["message"] = str(events[x_version]["message"]).replace("$LATEST", "17")
    twin = str(events[x_dup]["eventId"])
    events[x_dup + 4]["eventId"] = twin
    del events[x_ing]["ingestionTime"]
    x_str, x_back, x_lag, x_key, x_dry, x_kill = pick(0.68, "received"), pick(0.74, "END"), pick(0.79, "received"), pick(0.83, "END"), pick(0.31, "END"), pick(0.88, "retrying")
    events[x_str]["timestamp"] = stamp = str(events[x_str]["timestamp"])
    back = int(str(events[x_back]["timestamp"])) - 7 * 86400000
    events[x_back]["timestamp"] = back
    late = int(str(events[x_lag]["timestamp"])) + 7_412_000
    events[x_lag]["ingestionTime"] = late
    word = letters(rng, 16)
    events[x_key]["message"] = json.dumps({"level": "DEBUG", "msg": "connecting", "dsn": f"postgresql://ledger_rw:{word}@ledger.cluster-c9x.eu-central-1.rds.amazonaws.com:5432/ledger"}) + "\n"
    events[x_dry]["message"] = json.dumps({"level": "INFO", "msg": "feature flag PAYMENT_DRY_RUN=true, charges will not be captured"}) + "\n"
    events[x_kill]["message"] = f"RequestId: {uuid(rng)} Error: Runtime exited with error: signal: killed\nRuntime.ExitError\n"
    text = json.dumps({"events": events, "searchedLogStreams": []}, indent=4)
    starts = sum("START" in str(e["message"]) for e in events)
    warns = sum('"WARN"' in str(e["message"]) for e in events)
    x_size = next(k for k, e in enumerate(events) if "Memory Size: 512" in str(e["message"]))
    x_gap = next(k for k, e in enumerate(events) if f'"batch": {batches[52]}' in str(e["message"]))

    def w(k: int, *words: str) -> tuple[tuple[str, ...], ...]:
        return at(where(k, str(events[k]["eventId"])), *words)

    def p(k: int, field: str = "") -> str:
        return f"/events/{k}{field}"

    def like(what: str) -> tuple[str, ...]:
        return (f"SELECT n, timestamp, message FROM t WHERE message LIKE '%{what}%'",)

    return text, [
        Fact("error", (("task timed out",),), ("timed out",), p(x_time), queries=like("timed out")),
        Fact("error", (("signal: killed",), ("runtime.exiterror",)), ("killed", "exited"), p(x_kill), queries=like("exited")),
        Fact("outlier", (("28817",),), ("Duration: 28",), p(x_report), queries=(
            "SELECT n, message FROM t WHERE message LIKE 'REPORT%' ORDER BY CAST(substr(message, instr(message, 'Duration: ') + 10) AS REAL) DESC LIMIT 3",)),
        Fact("contradiction", (("processed 25 of 25", 'batchitemfailures": 3'), ("processed 25 of 25", 'batchitemfailures\\": 3'), *w(x_fail, "batchitemfailures")), ("batchItemFailures",), p(x_fail), queries=(
            "SELECT n, message FROM t WHERE message LIKE '%batchItemFailures%' AND message NOT LIKE '%batchItemFailures\": 0%'",)),
        Fact("rare value", (("/[17]",), ("version: 17",)), ("Version: 17", "[17]"), p(x_version), queries=(
            "SELECT logStreamName, count(*) AS n FROM t GROUP BY 1 ORDER BY 2",)),
        Fact("duplicate", ((twin,), *((f"/{x_dup}", f"/{x_dup + 4}"),)), (twin,), p(x_dup, "/eventId"), queries=(
            "SELECT eventId, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 1",)),
        Fact("missing field", w(x_ing, "ingestiontime"), ("ingestionTime",), p(x_ing), queries=(
            "SELECT n, eventId, ingestionTime FROM t WHERE ingestionTime IS NULL",)),
        Fact("changed type", ((stamp, "string"), (f'"{stamp}"',), (stamp, "text"), *w(x_str, stamp)), (stamp,), p(x_str, "/timestamp"), queries=(
            "SELECT n, eventId, timestamp, typeof(timestamp) AS type FROM t WHERE typeof(timestamp) = 'text'",)),
        Fact("time jump", ((str(back),), ("2026-03-05",)), (str(back),), p(x_back, "/timestamp"), queries=(
            "SELECT n, timestamp, before FROM (SELECT n, timestamp, lag(timestamp) OVER (ORDER BY n) AS before FROM t) WHERE timestamp < before",)),
        Fact("outlier", ((str(late),), *w(x_lag, "ingestiontime")), (str(late)[:8],), p(x_lag, "/ingestionTime"), queries=(
            "SELECT n, timestamp, ingestionTime, ingestionTime - timestamp AS lag FROM t WHERE timestamp > 1773200000000 ORDER BY lag DESC LIMIT 3",)),
        Fact("secret", (("ledger_rw",), ("postgresql://",), *w(x_key, "secret"), *w(x_key, "password")), ("postgresql", "dsn"), p(x_key, "/message"), hidden=word, queries=(
            "SELECT n, substr(message, 1, 70) FROM t WHERE message LIKE '%dsn%' OR message LIKE '%password%'",)),
        Fact("meaning", (("payment_dry_run",), ("charges will not be captured",)), ("feature flag", "DRY_RUN"), p(x_dry, "/message"), queries=like("feature flag")),
        Fact("change with meaning", (("memory size", "256", "512"), *w(x_size, "512"), ("512", "256", "memory")), ("Memory Size",), p(x_size, "/message"), queries=(
            "SELECT substr(message, instr(message, 'Memory Size'), 20) AS memory, count(*) AS runs, min(n) AS first FROM t WHERE message LIKE '%Memory Size%' GROUP BY 1",)),
        Fact("gap", ((f"{batches[51]}", f"{batches[52]}"), ("batch", f"{batches[51] + 1}")), (f'"batch": {batches[51]}', "batch"), p(x_gap), queries=(
            "SELECT * FROM (SELECT json_extract(message, '$.batch') AS batch, lead(json_extract(message, '$.batch')) OVER (ORDER BY n) AS next FROM t WHERE message LIKE '{%\"batch\":%') WHERE next - batch > 1",)),
        Fact("count", (("start", str(starts)), ("invocations", str(starts))), ("START RequestId",), queries=(
            "SELECT count(*) AS start FROM t WHERE message LIKE 'START %'",)),
        Fact("count", counted("warn", warns), ("WARN",), queries=("SELECT json_extract(message, '$.level') AS level, count(*) AS n FROM t WHERE message LIKE '{%' GROUP BY 1",)),
    ]  # fmt: skip
