# ruff: noqa: C901, E501, ISC004, S608, PERF401
# fmt: off
"""Lists, tables and logs of records: a CAN bus, top in batch mode, a gradebook, the status of flights."""

import csv
import io
import json
import random
from collections import Counter

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_ten.tools import Page, iso, letters, person, spread, tally

_BUS = (  # id, interface, period in ms, bytes
    ("0C9", "can0", 20, 8), ("0F1", "can0", 50, 4), ("120", "can0", 100, 5), ("1A0", "can0", 40, 8),
    ("1E5", "can0", 50, 8), ("1F5", "can0", 200, 8), ("2B4", "can0", 40, 8), ("3D1", "can0", 100, 8),
    ("3E9", "can0", 100, 8), ("4B0", "can0", 100, 7), ("4C1", "can0", 500, 8), ("52A", "can0", 1000, 8),
    ("0AA", "can1", 40, 8), ("18FEF100", "can1", 100, 8), ("18FEEE00", "can1", 1000, 8), ("0CF00400", "can1", 50, 8),
    ("18FEDF00", "can1", 250, 8), ("18F00500", "can1", 100, 8), ("18FEF700", "can1", 1000, 8), ("620", "can1", 500, 6),
)


@kind("k_candump", "rows")
def candump(rng: random.Random) -> Parts:
    start = 1781092800 + rng.randrange(20000) + rng.random()
    silent = start + rng.uniform(9, 12)
    frames: list[tuple[float, str, str, str]] = []
    for name, wire, period, size in _BUS:
        at, tick = start + rng.uniform(0, period / 1000), 0
        base = [rng.randrange(256) for _ in range(size)]
        while at < start + 24:
            if name == "4B0" and at > silent:
                break
            data = [(one + rng.choice((0, 0, 0, 1, -1))) % 256 if 1 < n < 5 else one for n, one in enumerate(base)]
            if name == "0F1":
                data = [0x1C, 0x05, 0x00, 0x40]
            elif name == "3D1":
                data = [0x5A + rng.randrange(8), 0, 0x1F, 0x7D, *data[4:]]
            data[-1] = data[-1] if name == "0F1" else tick % 16
            frames.append((at, wire, name, "".join(f"{one:02X}" for one in data)))
            at += period / 1000 * rng.uniform(0.97, 1.03)
            tick += 1
    frames.sort()
    # the recorder stood still for a while
    middle = int(len(frames) * rng.uniform(0.62, 0.7))
    pause = round(rng.uniform(38, 71), 3)
    rows = [
        [f"{at + (pause if n >= middle else 0):.6f}", wire, name, data]
        for n, (at, wire, name, data) in enumerate(frames)
    ]

    def nth(name: str, share: float) -> int:
        places = [n for n, row in enumerate(rows) if row[2] == name]
        return places[int(len(places) * share)]

    short, other, hot = nth("2B4", 0.33), nth("0F1", 0.58), nth("3D1", 0.81)
    rows[short][3] = rows[short][3][:6]
    rows[other][3] = "1C0500FF"
    rows[hot][3] = "FF" + rows[hot][3][2:]
    silent_at = [row for row in rows if row[2] == "4B0"][-1][0]
    before, after = rows[middle - 1][0], rows[middle][0]
    extra = spread(rng, len(rows), 6, 0.2, 0.9)
    extra = [one + 1 if one in (short, other, hot, middle) else one for one in extra]
    bus_off, remote, fd, back, uds, cut = extra
    early = f"{float(rows[back][0]) - 5.25:.6f}"
    put = {
        bus_off: ["can1", "20000040", "#0000000000000000"],
        remote: ["can0", "5A3", "#R"],
        fd: ["can0", "18DAF110", f"##1{rng.randrange(16**8):08X}{rng.randrange(16**8):08X}{rng.randrange(16**8):08X}"],
        uds: ["can0", "7E0", "#0227010000000000"],
    }
    lines: list[str] = []
    at: dict[str, int] = {}
    dup = nth("1E5", 0.47)
    for n, (stamp, wire, name, data) in enumerate(rows):
        if n == back:
            stamp = early
            at["back"] = len(lines) + 1
        lines.append(f"({stamp}) {wire} {name}#{data}")
        for key, place in (("short", short), ("other", other), ("hot", hot), ("jump", middle), ("dup", dup)):
            if n == place:
                at[key] = len(lines)
        if n == dup:
            lines.append(lines[-1])
        if n in put:
            wire, name, data = put[n]
            lines.append(f"({float(stamp) + 0.000113:.6f}) {wire} {name}{data}")
            at[name] = len(lines)
        if n == cut:
            lines.append(f"({float(stamp) + 0.0002:.6f}) can0 1A0#7F")
            lines[-1] = lines[-1][: lines[-1].index("can0") + 6]
            at["cut"] = len(lines)
            broken = lines[-1]
    names = Counter(line.split(" ")[2].split("#")[0] for line in lines if "#" in line)
    wires = Counter(line.split(" ")[1] for line in lines)
    first, last = rows[0][0], rows[-1][0]

    def spelled(stamp: str) -> tuple[str, ...]:
        return stamp, stamp[:-3], stamp[:-4], stamp.split(".")[0], iso(float(stamp)), iso(float(stamp), "%Y-%m-%d %H:%M:%S")

    def placed(key: str, *words: str) -> tuple[tuple[str, ...], ...]:
        return (words, (str(at[key]), words[-1]))

    facts = [
        Fact("count", (("can0", str(wires["can0"])), ("can1", str(wires["can1"]))), ("can1", "can0"),
             queries=("SELECT count(*) AS n, sum(text LIKE '% can0 %') AS can0, sum(text LIKE '% can1 %') AS can1 FROM lines",)),
        Fact("count", (("0C9", str(names["0C9"])),), ("0C9#",),
             queries=("SELECT 'id 0C9' AS id, count(*) AS n FROM lines WHERE text LIKE '% 0C9#%'",)),
        Fact("range", tuple((a, b) for a, b in zip(spelled(first), spelled(last), strict=True)), ("can0",),
             queries=("SELECT min(substr(text, 2, 17)) AS first, max(substr(text, 2, 17)) AS last FROM lines WHERE text LIKE '(%'",)),
        Fact("error", (("20000040",),), ("20000040", "#0000000000000000"), line=at["20000040"]),
        Fact("rare value", (("5A3#R",), ("5A3", "remote")), ("#R",), line=at["5A3"],
             queries=("SELECT n, text FROM lines WHERE text NOT REGEXP '#[0-9A-F]{8,}'",)),
        Fact("rare value", (("18DAF110",),), ("##",), line=at["18DAF110"],
             queries=("SELECT n, text FROM lines WHERE text LIKE '%##%'",)),
        Fact("rare value", (("7E0#0227010000000000",), ("7E0", str(at["7E0"]))), ("7E0",), line=at["7E0"],
             queries=("SELECT substr(text, instr(text, 'can') + 5, 9) AS id, count(*) AS n, min(text) FROM lines GROUP BY 1 ORDER BY 2",)),
        Fact("time jump", (*((a, b) for a, b in zip(spelled(before), spelled(after), strict=True)),
                           (str(int(pause)), before[:-3]), (str(int(pause)), after[:-3]), (str(at["jump"]), str(int(pause)))),
             (before[:10], after[:10]), line=at["jump"]),
        Fact("time jump", ((early,), (str(at["back"]), early.split(".")[0]), (str(at["back"]), iso(float(early)))),
             (early[:10],), line=at["back"]),
        Fact("changed type", (*placed("short", rows[short][0], f"2B4#{rows[short][3]}"), (rows[short][0], "2B4"), ("2B4", "3 bytes")),
             ("2B4#",), line=at["short"],
             queries=("SELECT n, text FROM lines WHERE text LIKE '% 2B4#%' AND length(text) < 45 ORDER BY length(text) LIMIT 5",)),
        Fact("change with meaning", (("1C0500FF",),), ("0F1#",), line=at["other"],
             queries=("SELECT substr(text, 21) AS frame, count(*) AS n FROM lines WHERE text LIKE '% 0F1#%' GROUP BY 1",)),
        Fact("outlier", ((f"3D1#{rows[hot][3]}",), (str(at["hot"]), "3D1")), ("3D1#FF", "3D1"), line=at["hot"],
             queries=("SELECT n, text FROM lines WHERE text LIKE '% 3D1#%' ORDER BY substr(text, 29) DESC LIMIT 3",)),
        Fact("duplicate", ((rows[dup][0],), (str(at["dup"]), "1E5"), (str(at["dup"] + 1), "1E5")), ("1E5",), line=at["dup"],
             queries=("SELECT text, count(*) AS n FROM lines GROUP BY 1 HAVING count(*) > 1",)),
        Fact("error", ((broken,), (broken.split(")")[0][1:],), (str(at["cut"]), "can0")), ("can0 1",), line=at["cut"],
             queries=("SELECT n, text FROM lines WHERE text NOT LIKE '%#%'",)),
        Fact("missing section", (("4B0", silent_at[:-3]), ("4B0", silent_at), ("4B0", iso(float(silent_at))), ("4B0", str(names["4B0"]))),
             ("4B0",), queries=("SELECT '4B0' AS id, count(*) AS n, max(text) AS last FROM lines WHERE text LIKE '% 4B0#%'",)),
    ]
    return "\n".join(lines) + "\n", facts


_PROCESSES = (  # user, command, %cpu, res in KiB, threads of the same name
    ("postgres", "postgres", 3.0, 412_000, 9), ("app", "java", 38.0, 6_120_000, 3), ("app", "payments-api", 6.0, 181_204, 1),
    ("www-data", "nginx", 1.4, 38_400, 5), ("www-data", "php-fpm8.3", 2.2, 72_100, 6), ("redis", "redis-server", 1.9, 96_200, 1),
    ("root", "dockerd", 0.8, 118_300, 1), ("root", "containerd", 0.5, 64_000, 1), ("root", "kubelet", 2.4, 142_000, 1),
    ("root", "systemd-journal", 0.3, 51_000, 1), ("root", "rsyslogd", 0.2, 9_400, 1), ("root", "sshd", 0.0, 8_900, 3),
    ("root", "kworker/3:1-events", 0.1, 0, 1), ("root", "kworker/u32:0-flush", 0.1, 0, 1), ("root", "ksoftirqd/5", 0.1, 0, 1),
    ("root", "rcu_preempt", 0.1, 0, 1), ("root", "irqbalance", 0.0, 4_100, 1), ("rabbitmq", "beam.smp", 7.7, 624_000, 1),
    ("telegraf", "telegraf", 1.1, 151_000, 1), ("root", "cron", 0.0, 3_100, 1), ("chrony", "chronyd", 0.0, 4_000, 1),
    ("app", "node", 5.0, 204_000, 4), ("app", "celery", 2.6, 133_000, 5), ("root", "systemd", 0.0, 13_200, 1),
    ("root", "snapd", 0.0, 38_000, 1), ("messagebus", "dbus-daemon", 0.0, 5_800, 1),
)


def _res(size: int) -> str:
    if size >= 10_000_000:
        return f"{size / 1048576:.1f}g"
    return str(size)


@kind("k_top_batch", "rows")
def top_batch(rng: random.Random) -> Parts:
    rounds = rng.randint(44, 48)
    table: list[list[object]] = []
    for user, command, cpu, size, copies in _PROCESSES:
        for _ in range(copies):
            table.append([rng.randint(400, 64000), user, command, cpu, size, 20, 0])
    index = {str(row[2]): n for n, row in enumerate(table)}
    rabbit_old, rabbit_new = rng.randint(1000, 9000), rng.randint(70001, 99999)
    table[index["beam.smp"]][0] = rabbit_old
    clock = 1_781_152_000 + rng.randrange(9000)
    marks = rng.sample(range(5, rounds - 3), 10)
    spike, zombie, blocked, jump, many, crowd, mine, error, wrong, nice = marks
    restart = rounds * 2 // 3
    pause = rng.randint(6, 9) * 60 + rng.randint(3, 50)
    jump_at = ("", "")
    leak = [int(table[index["payments-api"]][4]) + n * 52_311 + rng.randrange(900) for n in range(rounds)]  # type: ignore[call-overload]
    xpid, xcpu, zpid, dpid, npid = 71203, f"{rng.randint(1480, 1594)}.{rng.randint(0, 9)}", 48119, 33307, 29555
    spiked, waited, users_many = f"{rng.randint(61, 88)}.{rng.randint(10, 99)}", f"{rng.randint(58, 76)}.{rng.randint(1, 9)}", rng.randint(19, 31)
    page, java, loads = Page(), 0, []
    uptime_day = rng.randint(31, 80)
    for turn in range(rounds):
        seen = iso(clock, "%H:%M:%S")
        if turn:
            step = 10 if turn != jump else pause
            before = seen
            clock += step
            seen = iso(clock, "%H:%M:%S")
            if turn == jump:
                jump_at = (before, seen)
        load = spiked if turn == spike else f"{rng.uniform(3.2, 5.9):.2f}"
        loads.append(float(load))
        users = users_many if turn == crowd else 3
        hour = iso(clock, "%H:%M")
        page.add(f"top - {seen} up {uptime_day} days, {hour},  {users} users,  load average: {load}, {rng.uniform(3.9, 4.8):.2f}, "
                 f"{rng.uniform(3.8, 4.3):.2f}", mark=f"turn{turn}")
        asleep, running = rng.randint(301, 309), rng.randint(1, 4)
        dead = 1 if turn == zombie else 0
        total = asleep + running + dead + (70 if turn == wrong else 0)
        if turn == wrong:
            told = (total, asleep)
        page.add(f"Tasks: {total} total, {running:3} running, {asleep} sleeping,   0 stopped,   {dead} zombie")
        wa = waited if turn == blocked else f"{rng.uniform(0.1, 1.9):.1f}"
        us = rng.uniform(9, 21) if turn != blocked else 6.0
        page.add(f"%Cpu(s): {us:4.1f} us, {rng.uniform(1, 4):4.1f} sy,  0.0 ni, {max(3.0, 96 - us - float(wa)):4.1f} id, {wa:>4} wa,  0.0 hi,  0.3 si,  0.0 st")
        free = rng.randint(1_900, 2_700) - turn * 31
        swap = 0.0 if turn < rounds // 3 else (turn - rounds // 3) * 38.5 + rng.randint(1, 30)
        page.add(f"MiB Mem :  32093.4 total, {free + rng.random():8.1f} free, {17_204 + turn * 51}.{rng.randint(0, 9)} used, {rng.randint(11_000, 12_400)}.8 buff/cache     ")
        page.add(f"MiB Swap:   8192.0 total, {8192 - swap:8.1f} free, {swap:8.1f} used. {rng.randint(12_100, 13_900)}.2 avail Mem ")
        page.add("")
        page.add("    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND")
        if turn == error:
            page.add("top: failed /proc/stat open: Too many open files", mark="error")
        lines = []
        if turn == restart:
            table[index["beam.smp"]][0] = rabbit_new
        for row in table:
            pid, user, command, cpu, size, pr, ni = row
            size = leak[turn] if command == "payments-api" else int(int(size) * rng.uniform(0.98, 1.03))  # type: ignore[call-overload]
            use = max(0.0, float(cpu) * rng.uniform(0.3, 1.9) - 0.05)  # type: ignore[arg-type]
            if turn == many and pid == table[index["java"]][0]:
                use = float(xcpu)
            state = "R" if use > 55 else "I" if size == 0 else "S"
            java += command == "java"
            lines.append((use, f"{pid:7} {user!s:9}{pr:3} {ni:3} {_res(int(size * 2.9)):>7} {_res(size):>6} {_res(size // 5):>6} {state} {use:5.1f} "
                          f"{size / 328_000:5.1f} {turn // 6 + int(pid) % 900:5}:{rng.randint(0, 59):02}.{rng.randint(0, 99):02} {command}"))  # type: ignore[call-overload]
        if turn == zombie:
            lines.append((0.0, f"{zpid:7} app       20   0       0      0      0 Z   0.0   0.0   0:00.07 wkhtmltopdf"))
        if turn == blocked:
            lines.append((0.4, f"{dpid:7} backup    20   0   31220  11804   3100 D   0.4   0.0   1:17.40 restic"))
        if turn == mine:
            lines.append((388.1, f"{xpid:7} nobody    20   0 2441220 271804   3100 S 388.1   0.8  16:41.92 kdevtmpfsi"))
        if turn == nice:
            lines.append((1.2, f"{npid:7} root      rt -20   88220  24112   9100 S   1.2   0.1   0:04.11 multipathd"))
        for _, line in sorted(lines, key=lambda pair: -pair[0]):
            key = next((name for name, word in (("Z", "wkhtml"), ("D", "restic"), ("mine", "kdevtmpfsi"), ("rt", "multipathd")) if word in line), "")
            if xcpu in line:
                key = "many"
            page.add(line, mark=key)
        page.add("")
    lines_ = page.lines
    count_postgres = sum(" postgres " in line for line in lines_)
    at = page.at
    facts = [
        Fact("count", tally("java", java, ("postgres", count_postgres)), ("java", "postgres"),
             queries=("SELECT sum(text LIKE '% java') AS java, sum(text LIKE '% postgres %') AS postgres FROM lines",)),
        Fact("range", ((lines_[0][6:14], iso(clock, "%H:%M:%S")),), ("top -",), line=1,
             queries=("SELECT min(substr(text, 7, 8)) AS first, max(substr(text, 7, 8)) AS last FROM lines WHERE text LIKE 'top - %'",)),
        Fact("count", (*((f"{rounds} {word}",) for word in ("times", "blocks", "tables", "sections", "reports", "snapshots", "samples", "iterations", "headers", "groups", "runs", "rounds", "summaries")),
                       (f"top -|{rounds}",), (f"×{rounds}", "top -"), (f"{rounds}×", "top -"), (f"{rounds} lines", "top -"), (f"({rounds})", "top -"), (f"x{rounds}", "top -")), ("top -",),
             queries=("SELECT 'top -' AS what, count(*) AS n FROM lines WHERE text LIKE 'top - %'",)),
        Fact("range", ((str(max(loads)), str(min(loads))), (spiked, f"{min(loads):.2f}")), ("load average",), line=at[f"turn{spike}"],
             queries=("SELECT min(x) AS low, max(x) AS high FROM (SELECT number(replace(substr(text, instr(text, 'average:') + 9, 5), ',', '')) AS x FROM lines WHERE text LIKE 'top - %')",)),
        Fact("outlier", ((spiked,),), ("load average",), line=at[f"turn{spike}"]),
        Fact("rare status", (("wkhtmltopdf",), (str(zpid), "Z")), ("zombie", " Z "), line=at["Z"],
             queries=("SELECT n, text FROM lines WHERE text LIKE '% Z %'",)),
        Fact("rare status", (("restic",), (str(dpid), "D")), (" D ",), line=at["D"],
             queries=("SELECT n, text FROM lines WHERE text REGEXP ' [ZDT] +[0-9.]+ '",)),
        Fact("outlier", ((f"{waited} wa",), (waited, str(at[f"turn{blocked}"] + 2))), (" wa",), line=at[f"turn{blocked}"] + 2),
        Fact("outlier", ((xcpu,),), ("java",), line=at["many"],
             queries=("SELECT n, text FROM lines WHERE text REGEXP ' [RSDI] +[0-9]{3,}[.][0-9] ' ORDER BY length(text) DESC LIMIT 5",)),
        Fact("time jump", (jump_at, (jump_at[1], str(pause)), (jump_at[0], str(pause)), (str(at[f"turn{jump}"]), str(pause))),
             jump_at, line=at[f"turn{jump}"]),
        Fact("rare value", (("kdevtmpfsi",),), ("nobody",), line=at["mine"],
             queries=("SELECT substr(text, 9, 9) AS user, count(*) AS n, max(text) AS line FROM lines WHERE text REGEXP '^ *[0-9]+ ' GROUP BY 1 ORDER BY 2 LIMIT 5",)),
        Fact("error", (("/proc/stat", "Too many open files"), (str(at["error"]), "failed")), ("failed",), line=at["error"]),
        Fact("contradiction", ((f"{told[0]} total",), (str(told[0]), str(told[1]))), ("Tasks", "total,"), line=at[f"turn{wrong}"] + 1,
             queries=("SELECT n, text FROM lines WHERE text LIKE 'Tasks:%' ORDER BY text DESC LIMIT 4",)),
        Fact("change with meaning", ((str(rabbit_old), str(rabbit_new)),), ("beam.smp",),
             queries=("SELECT substr(text, 1, 7) AS pid, max(text) AS line, count(*) AS n FROM lines WHERE text LIKE '% beam.smp' GROUP BY 1",)),
        Fact("change with meaning", ((str(leak[0]), str(leak[-1])),), ("payments-api",),
             queries=("SELECT 'payments-api' AS command, min(number(substr(text, 33, 8))) AS low, max(number(substr(text, 33, 8))) AS high FROM lines WHERE text LIKE '% payments-api'",)),
        Fact("outlier", ((f"{users_many} users",), (str(users_many), str(at[f"turn{crowd}"]))), ("users",), line=at[f"turn{crowd}"]),
    ]
    return page.text(), facts


_WORK = (
    *((f"Quiz {n}", 20) for n in (1, 2, 3, 4, 5, 6, 8, 9, 10)), *((f"Lab {n}", 50) for n in range(1, 9)),
    ("Essay Draft", 40), ("Essay Final", 100), ("Peer Review", 10), ("Midterm Exam", 100), ("Final Exam", 150), ("Participation", 25),
)


def _grade(score: float) -> str:
    for low, name in ((93, "A"), (90, "A-"), (87, "B+"), (83, "B"), (80, "B-"), (77, "C+"), (73, "C"), (70, "C-"), (60, "D")):
        if score >= low:
            return name
    return "F"


@kind("k_canvas_gradebook", "rows")
def gradebook(rng: random.Random) -> Parts:
    number = rng.randint(40_000, 48_000)
    titles = [f"{name} ({number + n * 37})" for n, (name, _) in enumerate(_WORK)]
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Notes", *titles, "Current Score", "Final Score", "Final Grade"]
    points: list[str] = ["    Points Possible", "", "", "", "", "", *(str(p) for _, p in _WORK), "(read only)", "(read only)", "(read only)"]
    sections = [f"CHEM-1A-{n:03}" for n in (1, 2, 3, 4, 5)]
    size = rng.randint(540, 600)
    rows: list[list[str]] = []
    sis = rng.randint(30_210_000, 30_290_000)
    for n in range(size):
        given, family = person(rng)
        sis += rng.randint(3, 91)
        skill = min(0.99, max(0.35, rng.gauss(0.8, 0.11)))
        marks = []
        for name, most in _WORK:
            if name == "Peer Review":
                marks.append("")
                continue
            value = most * min(1.0, max(0.2, rng.gauss(skill, 0.09)))
            marks.append("" if rng.random() < 0.03 else f"{round(value * 2) / 2:.1f}".removesuffix(".0"))
        done = [(float(m), p) for m, (_, p) in zip(marks, _WORK, strict=True) if m]
        current = 100 * sum(m for m, _ in done) / sum(p for _, p in done)
        final = 100 * sum(m for m, _ in done) / sum(p for name, p in _WORK if name != "Peer Review")
        note = rng.choice(("extra time 1.5x", "athlete - travel", "retaking", "see advisor")) if rng.random() < 0.06 else ""
        login = f"{given[0].lower()}{family.lower()}{n % 97}@hillcrest.edu"
        rows.append([f"{family}, {given}", str(118_000 + n * 7), str(sis), login, rng.choices(sections, (30, 26, 22, 14, 8))[0], note,
                     *marks, f"{current:.2f}", f"{final:.2f}", _grade(final)])
    at = spread(rng, size, 11)
    over, negative, twin, typed, absent, wrong, secret, ragged, oddly, excused, low = at
    col = {name: head.index(title) for (name, _), title in zip(_WORK, titles, strict=True)}
    high = str(rng.randint(880, 980))
    rows[over][col["Midterm Exam"]] = high
    rows[negative][col["Lab 4"]] = "-12"
    rows[twin][2] = rows[twin - 40 if twin > 60 else twin + 40][2]
    rows[typed][col["Quiz 9"]] = "seventeen"
    rows[absent][3] = ""
    rows[wrong][-3:] = ["96.81", "95.44", "F"]
    key = letters(rng, 11)
    rows[secret][5] = f"portal password: {key}"
    rows[oddly][4] = "CHEM-1A-099 (withdrawn)"
    rows[excused][col["Final Exam"]] = "Excused"
    rows[low][-2:] = ["3.17", "F"]
    grades = Counter(row[-1] for row in rows)
    groups = Counter(row[4] for row in rows)
    scores = [float(row[-2]) for row in rows]
    rows[ragged] = rows[ragged][:-2]
    grades = Counter(row[-1] for n, row in enumerate(rows) if n != ragged)
    scores = [float(row[-2]) for n, row in enumerate(rows) if n != ragged]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerow(points)
    writer.writerows(rows)
    text = out.getvalue()
    who = [row[1] for row in rows]

    def cell(n: int, *words: str) -> tuple[tuple[str, ...], ...]:
        return tuple((mark, *words) for mark in (who[n], rows[n][2], rows[n][0].split(",")[0], str(n + 3), str(n + 1)))

    top, common = groups.most_common(1)[0], grades.most_common(3)
    facts = [
        Fact("count", ((top[0], str(top[1])),), (top[0],), queries=("SELECT Section, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", tally(*common[0], *common[1:3]), (",A-", ",F"),
             queries=("SELECT \"Final Grade\", count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", ((str(size), "students"), (str(size), "rows"), (str(size + 1), "rows"), (str(size + 2), "lines"), (str(size), "items"),
                       (str(size + 1), "items")),
             ("hillcrest",), queries=("SELECT 'rows' AS what, count(*) AS rows FROM t WHERE ID IS NOT NULL AND ID <> ''",)),
        Fact("range", ((f"{min(scores):.2f}", f"{max(scores):.2f}"),), ("Final Score",),
             queries=("SELECT min(number(\"Final Score\")) AS low, max(number(\"Final Score\")) AS high FROM t",)),
        Fact("outlier", cell(over, high), ("Midterm Exam", high), line=over + 3,
             queries=(f'SELECT ID, Student, number("{titles[20]}") AS x FROM t ORDER BY 3 DESC LIMIT 3',)),
        Fact("outlier", cell(negative, "-12"), (",-12", "Lab 4"), line=negative + 3,
             queries=(f'SELECT ID, Student, "{titles[12]}" FROM t WHERE number("{titles[12]}") < 0',)),
        Fact("duplicate", ((rows[twin][2],),), ("SIS User ID",), line=twin + 3,
             queries=('SELECT "SIS User ID", count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 1',)),
        Fact("changed type", (("seventeen",),), ("Quiz 9", "seventeen"), line=typed + 3,
             queries=(f'SELECT ID, "{titles[7]}" FROM t WHERE number("{titles[7]}") IS NULL AND "{titles[7]}" <> \'\'',)),
        Fact("missing field", cell(absent, "SIS Login ID"), ("SIS Login ID",), line=absent + 3,
             queries=('SELECT Student, ID, "SIS Login ID" FROM t WHERE "SIS Login ID" IS NULL OR "SIS Login ID" = \'\'',)),
        Fact("contradiction", (("95.44", "F"), ("96.81", "F")), (",F", "95.44"), line=wrong + 3,
             queries=("SELECT Student, \"Final Score\", \"Final Grade\" FROM t WHERE \"Final Grade\" = 'F' ORDER BY number(\"Final Score\") DESC LIMIT 3",)),
        Fact("secret", cell(secret, "password") + cell(secret, "Notes"), ("password",), line=secret + 3, hidden=key,
             queries=("SELECT Student, Notes, count(*) AS n FROM t WHERE Notes <> '' GROUP BY 2 ORDER BY 3 LIMIT 5",)),
        Fact("missing field", ((who[ragged],), (str(ragged + 3), str(len(head) - 2)), (str(ragged + 3), "fewer"), (str(ragged + 3), "columns"),
                               (rows[ragged][2],)), ("Final Grade",), line=ragged + 3,
             queries=('SELECT Student, ID FROM t WHERE "Final Grade" IS NULL',)),
        Fact("rare value", (("CHEM-1A-099",),), ("withdrawn",), line=oddly + 3),
        Fact("rare value", (*cell(excused, "Excused"), ("Excused",)), ("Excused", "Final Exam"), line=excused + 3,
             queries=(f'SELECT ID, Student, "{titles[21]}" FROM t WHERE "{titles[21]}" = \'Excused\'',)),
        Fact("gap", (("Quiz 6", "Quiz 8"), ("Quiz 7",)), ("Quiz 7", "Quiz 8"), line=1),
        Fact("missing section", tuple(("Peer Review", word) for word in ("empty", "blank", "null", "no value", "missing", f"{size}", f"{size + 1}", "only 1", "unset")),
             ("Peer Review",), line=1,
             queries=(f'SELECT \'Peer Review\' AS work, sum("{titles[19]}" IS NULL OR "{titles[19]}" = \'\') AS empty FROM t',)),
    ]
    return text, facts


_CARRIERS = (("AS", 41), ("DL", 24), ("UA", 11), ("WN", 15), ("QX", 8), ("AA", 7), ("B6", 3), ("HA", 2), ("EK", 1))
_PORTS = ("SEA", "PDX", "SFO", "LAX", "SAN", "LAS", "PHX", "DEN", "ORD", "JFK", "BOS", "ANC", "GEG", "BOI", "SJC", "OAK", "ATL", "DFW", "MSP", "HNL")


@kind("k_flight_status", "rows")
def flights(rng: random.Random) -> Parts:
    size = rng.randint(205, 235)
    start = 1_781_049_600 + 86_400 * rng.randint(0, 60)
    ident = rng.randint(1_181_000_000, 1_189_000_000)
    items: list[dict[str, object]] = []
    at = start + 4 * 3600
    for _ in range(size):
        at += rng.randint(40, 480)
        ident += rng.randint(2, 880)
        carrier = rng.choices([c for c, _ in _CARRIERS], [w for _, w in _CARRIERS])[0]
        port = rng.choice(_PORTS[1:])
        length = rng.randint(48, 330)
        late = max(0, int(rng.gauss(4, 16)))
        status = rng.choices(("L", "S", "A", "C"), (66, 16, 13, 4))[0]
        stamp = "%Y-%m-%dT%H:%M:00.000"

        def both(seconds: float, stamp: str = stamp) -> dict[str, str]:
            return {"dateLocal": iso(seconds - 7 * 3600, stamp), "dateUtc": iso(seconds, stamp) + "Z"}

        item: dict[str, object] = {
            "flightId": ident, "carrierFsCode": carrier, "flightNumber": str(rng.randint(3, 3499)),
            "departureAirportFsCode": "SEA", "arrivalAirportFsCode": port,
            "departureDate": both(at), "arrivalDate": both(at + length * 60), "status": status,
            "schedule": {"flightType": "J", "serviceClasses": rng.choice(("RFJY", "RJY", "Y")), "restrictions": ""},
            "operationalTimes": {"publishedDeparture": both(at), "scheduledGateDeparture": both(at),
                                 "estimatedGateDeparture": both(at + late * 60), "scheduledGateArrival": both(at + length * 60)},
            "delays": {"departureGateDelayMinutes": late, "arrivalGateDelayMinutes": max(0, late - rng.randint(0, 9))},
            "flightDurations": {"scheduledBlockMinutes": length, "scheduledTaxiOutMinutes": rng.randint(9, 24)},
            "airportResources": {"departureTerminal": rng.choice("ABCDNS"), "departureGate": f"{rng.choice('ABCDNS')}{rng.randint(1, 20)}", "baggage": str(rng.randint(1, 16))},
            "flightEquipment": {"scheduledEquipmentIataCode": rng.choice(("73J", "73H", "E7W", "320", "321", "7M9", "739")), "tailNumber": f"N{rng.randint(200, 989)}{rng.choice(('AS', 'DN', 'QX', 'WN', 'UA'))}"},
        }
        items.append(item)
    places = spread(rng, size, 10)
    late_at, turned, twin, absent, typed, ghost, backward, failed, odd_plane, crew = places
    minutes = rng.randint(1411, 1890)
    items[late_at]["delays"] = {"departureGateDelayMinutes": minutes, "arrivalGateDelayMinutes": minutes - 4}
    items[turned].update(status="R", divertedAirportFsCode="YVR", irregularOperations=[{"type": "DIVERSION", "newArrivalAirportFsCode": "YVR", "message": "Diverted: medical emergency on board"}])
    items[twin]["flightId"] = items[twin - 31 if twin > 70 else twin + 31]["flightId"]
    del items[absent]["arrivalDate"]
    items[typed]["flightNumber"] = int(str(items[typed]["flightNumber"]))
    items[ghost]["arrivalAirportFsCode"] = "QQX"
    back = items[backward]["departureDate"]["dateUtc"]  # type: ignore[index]
    base = iso(start - 86_400 * 3, "%Y-%m-%dT%H:%M:00.000")
    items[backward]["arrivalDate"] = {"dateLocal": base, "dateUtc": base + "Z"}
    items[failed]["error"] = {"httpStatusCode": 502, "errorCode": "UPSTREAM_TIMEOUT", "errorMessage": "ASDI feed did not answer within 8000 ms"}
    items[odd_plane]["flightEquipment"]["scheduledEquipmentIataCode"] = "AN4"  # type: ignore[index]
    items[crew]["flightDurations"]["scheduledBlockMinutes"] = -45  # type: ignore[index]
    key = letters(rng, 32)
    told = size + rng.randint(11, 29)
    document = {
        "request": {"airport": {"requestedCode": "SEA", "fsCode": "SEA"}, "date": {"year": iso(start, "%Y"), "month": iso(start, "%m"), "day": iso(start, "%d")},
                    "utc": {"requested": "true", "interpreted": True}, "numHours": {"requested": "24", "interpreted": 24}, "appId": "9d1b3f0c", "appKey": key,
                    "url": "https://api.flightstats.com/flex/flightstatus/rest/v2/json/airport/status/SEA/dep/"},
        "appendix": {"airlines": [{"fs": c, "iata": c, "active": True} for c, _ in _CARRIERS],
                     "airports": [{"fs": p, "iata": p, "countryCode": "US", "active": True} for p in _PORTS]},
        "flightStatuses": items, "totalFlights": told,
    }
    status = Counter(str(item["status"]) for item in items)
    carriers = Counter(str(item["carrierFsCode"]) for item in items)
    planned = sum(item["flightDurations"]["scheduledBlockMinutes"] for item in items)  # type: ignore[index]
    first, last = items[0]["departureDate"]["dateUtc"][:16], items[-1]["departureDate"]["dateUtc"][:16]  # type: ignore[index]

    def of(n: int, *words: str) -> tuple[tuple[str, ...], ...]:
        return tuple((mark, *words) for mark in (str(items[n]["flightId"]), f"/flightStatuses/{n}", f"[{n}]", f"#{n}", f"/{n}"))

    def place(n: int, rest: str = "") -> str:
        return f"/flightStatuses/{n}{rest}"

    facts = [
        Fact("count", tally("L", status["L"]), ("status",),
             queries=("SELECT status, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("count", tally("AS", carriers["AS"], ("DL", carriers["DL"]), ("WN", carriers["WN"])), ("carrierFsCode",),
             queries=("SELECT carrierFsCode, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("range", ((first, last), (first[:-3], last[:-3])), ("departureDate",),
             queries=("SELECT min(departureDate.dateUtc) AS first, max(departureDate.dateUtc) AS last FROM t",)),
        Fact("total", (("scheduledBlockMinutes", str(planned)), ("block", str(planned))), ("scheduledBlockMinutes",),
             queries=("SELECT sum(flightDurations.scheduledBlockMinutes) AS block FROM t",)),
        Fact("contradiction", ((str(told), str(size)), ("totalFlights", str(told), str(size))), ("totalFlights",), pointer="/totalFlights",
             queries=("SELECT count(*) AS n, (SELECT value FROM leaf WHERE path LIKE '%totalFlights') AS told FROM t",)),
        Fact("outlier", ((str(minutes), "departureGateDelayMinutes"), *of(late_at, str(minutes))), ("departureGateDelayMinutes",), pointer=place(late_at, "/delays"),
             queries=("SELECT flightId, delays.departureGateDelayMinutes FROM t ORDER BY 2 DESC LIMIT 3",)),
        Fact("outlier", (*of(crew, "-45"), ("scheduledBlockMinutes", "-45")), ("scheduledBlockMinutes",), pointer=place(crew),
             queries=("SELECT flightId, flightDurations.scheduledBlockMinutes FROM t ORDER BY 2 LIMIT 3",)),
        Fact("rare status", (("YVR",), ("Diverted", "medical")), ("irregularOperations", "diver"), pointer=place(turned, "/status"),
             queries=("SELECT flightId, status, divertedAirportFsCode FROM t WHERE divertedAirportFsCode IS NOT NULL",)),
        Fact("rare value", (*of(odd_plane, "AN4"), ("AN4",)), ("AN4", "scheduledEquipmentIataCode"), pointer=place(odd_plane, "/flightEquipment/scheduledEquipmentIataCode"),
             queries=("SELECT flightEquipment.scheduledEquipmentIataCode AS plane, count(*) AS n FROM t GROUP BY 1 ORDER BY 2",)),
        Fact("duplicate", ((str(items[twin]["flightId"]),),), ("flightId",), pointer=place(twin, "/flightId"),
             queries=("SELECT flightId, count(*) AS n FROM t GROUP BY 1 HAVING count(*) > 1",)),
        Fact("missing field", of(absent, "arrivalDate"), ("arrivalDate",), pointer=place(absent),
             queries=("SELECT n, flightId, arrivalDate.dateUtc FROM t WHERE arrivalDate.dateUtc IS NULL",)),
        Fact("changed type", of(typed, "flightNumber"), ("flightNumber",), pointer=place(typed, "/flightNumber"),
             queries=("SELECT flightId, flightNumber, typeof(flightNumber) FROM t WHERE typeof(flightNumber) <> 'text'",)),
        Fact("contradiction", (("QQX",), *of(ghost, "QQX")), ("QQX", "arrivalAirportFsCode"), pointer=place(ghost, "/arrivalAirportFsCode"),
             queries=("SELECT arrivalAirportFsCode, count(*) AS n FROM t GROUP BY 1 ORDER BY 2 LIMIT 6",)),
        Fact("contradiction", (*of(backward, base[:10]), (base[:16], str(back)[:16]), ("arrivalDate", base[:16])), ("arrivalDate", base[:10]), pointer=place(backward, "/arrivalDate"),
             queries=("SELECT flightId, departureDate.dateUtc, arrivalDate.dateUtc FROM t WHERE arrivalDate.dateUtc < departureDate.dateUtc",)),
        Fact("error", (("UPSTREAM_TIMEOUT",), (place(failed), "error")), ("error",), pointer=place(failed, "/error")),
        Fact("secret", (("appKey",),), ("appKey",), pointer="/request/appKey", hidden=key),
    ]
    return json.dumps(document), facts
