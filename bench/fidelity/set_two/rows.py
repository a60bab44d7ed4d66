"""Lists of records, tables and logs."""

import json
import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity.planted import Parts, kind

from . import words as w
from .words import Notes, pairs


def table(header: list[str], rows: list[list[str]], gap: int = 3) -> list[str]:
    """Columns padded with spaces to the widest cell, as docker and netstat do."""
    widths = [max(len(row[at]) for row in [header, *rows]) + gap for at in range(len(header))]
    return ["".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()
        for row in [header, *rows]]


def ago(minutes: float) -> str:
    """How docker words an age."""
    if minutes < 60:
        return f"{max(2, int(minutes))} minutes"
    if minutes < 48 * 60:
        return f"{max(2, int(minutes / 60))} hours"
    if minutes < 14 * 1440:
        return f"{int(minutes / 1440)} days"
    return f"{int(minutes / 10080)} weeks"


@kind("docker_ps", "rows")
def docker_ps(rng: random.Random) -> Parts:
    """`docker ps -a --no-trunc` with its padded table of containers, newest first."""
    size = rng.randint(390, 440)
    tags = {name: f"{rng.randint(1, 4)}.{rng.randint(0, 19)}.{rng.randint(0, 9)}" for name in w.SERVICES}
    names = w.distinct(rng, size, lambda r: f"{r.choice(w.SERVICES)}-{r.choice(w.NOUNS)}-{r.randint(1, 9)}")
    commands = ['"/bin/tini -- /entry"', '"python -m app.serve --port 8080"', '"java -Xmx512m -jar /app.jar"',
                '"node dist/main.js"', '"/docker-entrypoint.sh nginx -g \'daemon off;\'"',
                '"gunicorn app:wsgi"']
    states = {"up": 46, "healthy": 22, "done": 24, "one": 6, "created": 2}
    rows, age = [], 3.0
    for name in names:
        age += rng.uniform(2, 200)
        service = name.split("-")[0]
        state = w.pick(rng, states)
        since = ago(age * rng.uniform(0.55, 0.98))
        status = {"up": f"Up {since}", "healthy": f"Up {since} (healthy)", "done": f"Exited (0) {since} ago",
                  "one": f"Exited (1) {since} ago", "created": "Created"}[state]
        port = rng.choice((8080, 8443, 9000, 5000, 3000))
        ports = f"127.0.0.1:{rng.randint(20000, 39999)}->{port}/tcp" if state in ("up", "healthy") else ""
        image = f"registry.acme.internal/{service}:{tags[service]}"
        rows.append([w.hexes(rng, 64), image, rng.choice(commands), f"{ago(age)} ago", status, ports, name])
    at = iter(w.spots(rng, size, 10))
    oom, loop, sick, miner, wide, leak, dead, paused, bare, forced = at
    password = "Rx" + w.alnum(rng, 18)
    rows[oom][4:6] = [f"Exited (137) {rows[oom][3]}", ""]
    rows[loop][4:6] = ["Restarting (127) 21 seconds ago", ""]
    rows[sick][4] = f"Up {rows[sick][3][:-4]} (unhealthy)"
    rows[miner][1], rows[miner][2] = "docker.io/xmrig/xmrig:6.21.0", '"./xmrig -o pool.minexmr.example:443"'
    rows[miner][4] = f"Up {rows[miner][3][:-4]}"
    rows[wide][4:6] = [f"Up {rows[wide][3][:-4]}", "0.0.0.0:5432->5432/tcp, :::5432->5432/tcp"]
    rows[wide][1:3] = ["postgres:13.4", '"docker-entrypoint.sh postgres"']
    rows[leak][2] = f'"redis-server --requirepass {password}"'
    rows[leak][1] = "redis:7.2"
    rows[dead][4:6] = ["Dead", ""]
    rows[paused][4] = f"Up {rows[paused][3][:-4]} (Paused)"
    rows[bare][1] = "sha256:" + w.hexes(rng, 64)
    rows[forced][4:6] = ["Removal In Progress", ""]
    header = ["CONTAINER ID", "IMAGE", "COMMAND", "CREATED", "STATUS", "PORTS", "NAMES"]
    text = "\n".join(table(header, rows)) + "\n"
    n = Notes()

    def one(what: str, i: int, telling: list[str], *searches: str, hidden: str = "") -> None:
        n.say(what, pairs(telling, [names[i], rows[i][0], w.stem(rows[i][0]), i + 2]), *searches, line=i + 2,
            hidden=hidden)

    one("error", oom, ["(137)", "exited 137", "code 137"], "Exited (137)", "OOM", "137")
    one("error", loop, ["Restarting"], "Restarting")
    one("error", sick, ["unhealthy"], "unhealthy")
    one("rare value", miner, ["xmrig"], "docker.io", "miner")
    one("meaning", wide, ["0.0.0.0:5432", "0.0.0.0", ":::5432"], "0.0.0.0", "5432")
    one("secret", leak, ["requirepass", "password", "redis-server --"], "requirepass", "password",
        hidden=password)
    one("rare value", dead, ["Dead"], "Dead")
    one("rare value", paused, ["Paused"], "Paused")
    one("rare value", bare, ["sha256:", "untagged", "no tag"], "sha256", "<none>")
    one("rare value", forced, ["Removal In Progress"], "Removal")
    done = sum(row[4].startswith("Exited (0)") for row in rows)
    left = sum(row[4].startswith("Exited") for row in rows)
    n.say("count", w.count("Exited (0)", done, "Exited") + w.count("Exited", left), "Exited (0)",
        derived=True)
    n.say("total", w.total(size, "containers", "rows", "records", "entries", "data lines", "lines"),
        "CONTAINER ID",
          derived=True)
    image, most = Counter(row[1] for row in rows).most_common(1)[0]
    n.say("count", w.count(image, most), image, derived=True)
    return n.parts(text)


@kind("psql_table", "rows")
def psql_table(rng: random.Random) -> Parts:
    """An aligned result table of psql with the footer of its row count."""
    size = rng.randint(690, 790)
    clock = w.Clock(rng, datetime(2025, 2, rng.randint(1, 20), 6, 0), 40, 900)
    states = {"delivered": 61, "shipped": 18, "processing": 12, "cancelled": 6, "returned": 3}
    lands = {"DE": 38, "FR": 21, "NL": 14, "PL": 11, "ES": 9, "IT": 7}
    first = rng.randint(400_000, 800_000)
    rows: list[list[str]] = []
    for i in range(size):
        items = rng.choices((1, 2, 3, 4, 5, 6), (40, 25, 15, 10, 6, 4))[0]
        price = items * w.near(rng, 34, 14, 6, 89)
        moment = clock.tick()
        rows.append([str(first + i), w.mail(w.person(rng)), f"{moment:%Y-%m-%d %H:%M:%S}+00",
            w.pick(rng, states),
                     w.pick(rng, lands), str(items), f"{price:.2f}",
                         rng.choice(("", "", "", "SPRING10", "WELCOME5"))])
    spots = w.spots(rng, size, 10)
    big, minus, double, hole, rare, null, back, typo, land, many = spots
    value = f"{rng.randint(61000, 97000)}.{rng.randint(10, 98)}"
    rows[big][6] = value
    lost = f"-{rng.randint(310, 480)}.{rng.randint(10, 98)}"
    rows[minus][6] = lost
    rows[double][0] = rows[double - 1][0]
    gap_size = rng.randint(12, 30)
    for row in rows[hole:]:
        row[0] = str(int(row[0]) + gap_size)
    rows[rare][3] = "chargeback"
    rows[null][2] = ""
    old = datetime.fromisoformat(rows[back][2][:19]) - timedelta(days=rng.randint(700, 900))
    rows[back][2] = f"{old:%Y-%m-%d %H:%M:%S}+00"
    rows[typo][1] = rng.choice(("#REF!", "undefined", "[object Object]"))
    rows[land][4] = "KP"
    rows[many][5] = str(rng.randint(2400, 4800))
    header = ["order_id", "customer_email", "placed_at", "status", "country", "items", "total", "coupon"]
    widths = [max(len(row[at]) for row in [header, *rows]) for at in range(8)]
    lines = [" " + " | ".join(name.center(width) for name, width in zip(header, widths))]
    lines.append("+".join("-" * (width + 2) for width in widths))
    right = (0, 5, 6)
    for row in rows:
        cells = [c.rjust(k) if at in right else c.ljust(k) for at, (c, k) in enumerate(zip(row, widths))]
        lines.append(" " + " | ".join(cells))
    text = "\n".join([*lines, f"({size} rows)", ""]) + "\n"
    n = Notes()

    def one(what: str, i: int, telling: list[str], *searches: str) -> None:
        n.say(what, pairs(telling, [rows[i][0], i + 3, f"#{i + 1}", f"row {i + 1}"]), *searches, line=i + 3)

    one("outlier", big, [value], "total", "order by total")
    one("outlier", minus, [lost], "-", "negative")
    n.say("duplicate", w.same(rows[double][0], double + 2, double + 3), "duplicate", "order_id",
        line=double + 3,
          derived=True)
    before, after = int(rows[hole - 1][0]), int(rows[hole][0])
    n.say("gap", (*w.gap(range(before + 1, after), before, after),
        (str(before), str(after), str(after - before))),
          "order_id", "gap", line=hole + 3, derived=True)
    one("rare value", rare, ["chargeback"], "chargeback", "status")
    n.say("missing field", w.gone([rows[null][0], null + 3], "placed_at"), "placed_at", "null", line=null + 3,
          derived=True)
    one("time jump", back, [rows[back][2][:10]], "placed_at", str(old.year))
    one("changed type", typo, [rows[typo][1]], "customer_email", "@")
    one("rare value", land, ["KP"], "country", "KP")
    one("outlier", many, [rows[many][5]], "items")
    states_now = Counter(row[3] for row in rows)
    n.say("count", w.count("delivered", states_now["delivered"]), "delivered", derived=True)
    n.say("count", w.count("cancelled", states_now["cancelled"]), "cancelled", derived=True)
    n.say("summary", ((f"({size} rows)",), (f"{size} rows",), (f"{size}", "rows")), "rows)", line=size + 3)
    times = sorted(row[2] for i, row in enumerate(rows) if row[2] and i != back)
    n.say("range", (*w.span(times[0][:16], times[-1][:16]), *w.span(rows[back][2][:16], times[-1][:16])),
          "placed_at", derived=True)
    return n.parts(text)


@kind("netstat", "rows")
def netstat(rng: random.Random) -> Parts:
    """`netstat -tnp`: active connections with queues, state and program."""
    size = rng.randint(820, 930)
    me = "10.20.4.17"
    programs = [("nginx: worker", 443, 50), ("java", 8080, 24), ("postgres: app", 5432, 14),
        ("redis-server", 6379, 12)]
    pids = {name: rng.sample(range(1200, 9000), 4) for name, _, _ in programs}
    rows, used = [], set()
    for _ in range(size):
        name, port, _ = rng.choices(programs, [one[2] for one in programs])[0]
        state = w.pick(rng, {"ESTABLISHED": 66, "TIME_WAIT": 29, "FIN_WAIT2": 3, "CLOSE_WAIT": 2})
        while True:
            peer = f"{w.ip(rng, '10.31')}:{rng.randint(32768, 60999)}"
            if peer not in used:
                break
        used.add(peer)
        queue = rng.choices((0, 36, 52, 128, 264), (92, 3, 2, 2, 1))[0] if state == "ESTABLISHED" else 0
        who = "-" if state in ("TIME_WAIT", "FIN_WAIT2") else f"{rng.choice(pids[name])}/{name}"
        rows.append(["tcp", "0", str(queue), f"{me}:{port}", peer, state, who])
    clogged, stuck, shell, syn, six, ghost, far, ssh = w.spots(rng, size, 8)
    received, sent = str(rng.randint(3_100_000, 6_900_000)), str(rng.randint(900_000, 2_400_000))

    def put(i: int, *cells: str) -> None:
        rows[i][:] = cells

    put(clogged, "tcp", received, "0", f"{me}:8080", rows[clogged][4], "ESTABLISHED",
        f"{pids['java'][0]}/java")
    put(stuck, "tcp", "0", sent, f"{me}:5432", rows[stuck][4], "ESTABLISHED",
        f"{pids['postgres: app'][1]}/postgres: app")
    put(shell, "tcp", "0", "0", f"{me}:41822", "185.220.101.47:4444", "ESTABLISHED",
        f"{rng.randint(22000, 29000)}/bash")
    put(syn, "tcp", "0", "1", f"{me}:52210", "10.31.99.8:9200", "SYN_SENT", f"{pids['java'][1]}/java")
    put(six, "tcp6", "0", "0", "fd00:20::4:17:8443", "fd00:31::9:2:50112", "ESTABLISHED",
        f"{pids['java'][2]}/java")
    put(ghost, "tcp", "0", "0", f"{me}:3333", "45.9.148.21:14444", "ESTABLISHED", "-")
    put(far, "tcp", "0", "0", f"{me}:6379", "91.240.118.9:50022", "ESTABLISHED",
        f"{pids['redis-server'][0]}/redis-server")
    put(ssh, "tcp", "0", "0", f"{me}:23", rows[ssh][4], "ESTABLISHED",
        f"{rng.randint(10000, 12000)}/in.telnetd")
    leaks = [i for i in range(size) if i not in (clogged, stuck, shell, syn, six, ghost, far, ssh)]
    for i in rng.sample(leaks, rng.randint(66, 88)):
        rows[i][3], rows[i][5], rows[i][6] = f"{me}:8080", "CLOSE_WAIT", f"{pids['java'][3]}/java"
        rows[i][1], rows[i][2] = "1", "0"
    head = ["Active Internet connections (w/o servers)",
            "Proto Recv-Q Send-Q Local Address           Foreign Address         State       PID/Program "
            "name    "]
    lines = [
        f"{a:<5} {b:>6} {c:>6} {d:<23} {e:<23} {f:<11} {g:<20}" for a, b, c, d, e, f, g in rows
    ]
    text = "\n".join([*head, *lines]) + "\n"
    n = Notes()

    def one(what: str, i: int, telling: list[str], where: list[str], *searches: str) -> None:
        n.say(what, pairs(telling, [*where, str(i + 3)]), *searches, line=i + 3)

    one("outlier", clogged, [received], [rows[clogged][4], "java", "8080"], "Recv-Q", "java")
    one("outlier", stuck, [sent], [rows[stuck][4], "postgres"], "Send-Q", "postgres")
    one("meaning", shell, ["185.220.101.47", "4444"], ["bash"], "bash", "4444")
    one("rare value", syn, ["SYN_SENT"], ["10.31.99.8", "9200", "java"], "SYN_SENT")
    one("rare value", six, ["tcp6"], ["fd00:20", "fd00:31", "8443"], "tcp6")
    one("missing field", ghost, ["45.9.148.21"], ["14444", "3333"], "45.9", "3333")
    one("outlier", far, ["91.240.118.9"], ["redis", "6379"], "redis-server", "6379")
    one("rare value", ssh, ["telnetd"], [f"{me}:23", rows[ssh][6]], "telnet", ":23 ")
    states = Counter(row[5] for row in rows)
    for state in ("CLOSE_WAIT", "ESTABLISHED", "TIME_WAIT"):
        n.say("count", w.count(state, states[state]), state, derived=True)
    ports = Counter(row[3] for row in rows)
    n.say("count", w.count(f"{me}:443", ports[f"{me}:443"], ":443"), ":443", derived=True)
    n.say("total", w.total(size, "connections", "rows", "records", "entries", "lines"), "tcp", derived=True)
    return n.parts(text)


@kind("systemctl_units", "rows")
def systemctl_units(rng: random.Random) -> Parts:
    """`systemctl list-units --all` with its dots, legend and the count of units at the end."""
    size = rng.randint(710, 790)
    ends = {"service": 58, "mount": 8, "socket": 12, "target": 8, "timer": 8, "device": 6}
    names = w.distinct(rng, size, lambda r: f"{r.choice(w.SERVICES)}-{r.choice(w.NOUNS)}.{w.pick(r, ends)}")
    names.sort(key=lambda name: (name.split(".")[1], name))
    normal = {
        "service": {"loaded active running": 52, "loaded active exited": 18, "loaded inactive dead": 25,
                    "not-found inactive dead": 5},
        "mount": {"loaded active mounted": 1},
        "socket": {"loaded active listening": 3, "loaded active running": 1},
        "target": {"loaded active active": 3, "loaded inactive dead": 2},
        "timer": {"loaded active waiting": 1},
        "device": {"loaded active plugged": 1},
    }
    rows = []
    for name in names:
        load, active, sub = w.pick(rng, normal[name.split(".")[1]]).split()
        about = f"{rng.choice(w.ADJECTIVES).capitalize()} {name.split('.')[0].replace('-', ' ')} {rng.choice(w.NOUNS)}"
        if load == "not-found":
            about = name
        rows.append([name, load, active, sub, about])
    services = [i for i, row in enumerate(rows) if row[0].endswith(".service")]
    mounts = [i for i, row in enumerate(rows) if row[0].endswith(".mount")]
    timers = [i for i, row in enumerate(rows) if row[0].endswith(".timer")]
    picked = [services[i] for i in w.spots(rng, len(services), 7, low=0.02, high=0.98)]
    crash, again, masked, bad, start, stop, evil = picked
    mount, timer = rng.choice(mounts), rng.choice(timers)
    rows[crash][1:4] = ["loaded", "failed", "failed"]
    rows[again][1:4] = ["loaded", "activating", "auto-restart"]
    rows[masked][1:4] = ["masked", "inactive", "dead"]
    rows[bad][1:4] = ["bad-setting", "inactive", "dead"]
    rows[start][1:4] = ["loaded", "activating", "start-pre"]
    rows[stop][1:4] = ["loaded", "deactivating", "stop-sigterm"]
    rows[evil][1:] = ["loaded", "active", "running", "/dev/shm/.cache/kdevtmpfsi -B"]
    rows[mount][1:4] = ["loaded", "failed", "failed"]
    rows[timer][1:4] = ["loaded", "active", "elapsed"]
    widths = [max(len(row[at]) for row in rows) for at in range(4)]
    dots = ("failed", "not-found", "bad-setting", "masked")
    lines = [
        f"{'●' if {row[1], row[2]} & set(dots) else ' '} "
        + " ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " " + row[4]
        for row in rows
    ]
    head = "  " + " ".join(c.ljust(k) for c,
        k in zip(("UNIT", "LOAD", "ACTIVE", "SUB"), widths)) + " DESCRIPTION"
    foot = ["", "LOAD   = Reflects whether the unit definition was properly loaded.",
            "ACTIVE = The high-level unit activation state, i.e. generalization of SUB.",
            "SUB    = The low-level unit activation state, values depend on unit type.",
            f"{size} loaded units listed.",
            "To show all installed unit files use 'systemctl list-unit-files'."]
    text = "\n".join([head, *lines, *foot]) + "\n"
    n = Notes()

    def one(what: str, i: int, telling: list[str], *searches: str) -> None:
        short = rows[i][0].rsplit(".", 1)[0]
        n.say(what, pairs(telling, [short, i + 2]), *searches, line=i + 2)

    one("error", crash, ["failed"], "failed")
    one("error", mount, ["failed"], "failed", ".mount")
    one("error", again, ["auto-restart"], "auto-restart", "activating")
    one("rare value", masked, ["masked"], "masked")
    one("error", bad, ["bad-setting"], "bad-setting")
    one("rare value", start, ["start-pre"], "activating")
    one("rare value", stop, ["deactivating", "stop-sigterm"], "deactivating")
    one("rare value", timer, ["elapsed"], "elapsed", ".timer")
    one("meaning", evil, ["/dev/shm", "kdevtmpfsi"], "/dev/shm", "/tmp")
    n.say("summary", ((f"{size} loaded units",), (str(size), "units"), (str(size), "rows")), "units listed",
          line=size + 6)
    subs = Counter(row[3] for row in rows)
    n.say("count", w.count("running", subs["running"]), "running", derived=True)
    n.say("count", w.count("not-found", sum(row[1] == "not-found" for row in rows)), "not-found",
        derived=True)
    sort = Counter(row[0].rsplit(".", 1)[1] for row in rows)
    n.say("count", w.count("service", sort["service"], ".service", "services"), ".service", derived=True)
    return n.parts(text)


def euro(cents: int) -> str:
    """German notation of an amount."""
    sign, whole, rest = "-" if cents < 0 else "", abs(cents) // 100, abs(cents) % 100
    return f"{sign}{whole:,}".replace(",", ".") + f",{rest:02d}"


def spellings(cents: int) -> list[str]:
    """How a reply may write an amount of the statement."""
    return [euro(cents), f"{cents / 100:.2f}", euro(cents).replace(".", ""), str(abs(cents) // 100) + "."]


@kind("bank_csv", "rows")
def bank_csv(rng: random.Random) -> Parts:
    """A bank statement as exported by German banks: CSV with semicolons, quoted cells, decimal commas."""
    size = rng.randint(520, 600)
    shops = ["REWE Markt", "DB Vertrieb", "Stadtwerke", "Telefonica", "Amazon EU", "Aral Station",
        "Edeka Center",
             "IKEA", "Allianz", "Deutsche Post", "Rossmann", "Baumarkt Hahn"]
    weights = (22, 10, 3, 5, 18, 9, 16, 3, 3, 4, 8, 4)
    ibans = {shop: f"DE{rng.randint(10, 98)}{rng.randint(10**17, 10**18 - 1)}" for shop in shops}
    kinds = {"Kartenzahlung": 60, "Lastschrift": 28, "Überweisung": 12}
    day, rows, serial = datetime(2024, 1, 2), [], rng.randint(70_000, 90_000)
    for i in range(size):
        day += timedelta(days=rng.choices((0, 1, 2), (50, 42, 8))[0])
        if rng.random() < 0.05:
            who, what, iban, cents = "Acme GmbH", "Gutschrift", "DE12500105170648489890", rng.randint(40_000,
                95_000)
        else:
            who, what = rng.choices(shops, weights)[0], w.pick(rng, kinds)
            iban, cents = ibans[who], -int(w.near(rng, 4200, 2600, 310, 14_900))
        rows.append([day, day + timedelta(days=rng.choice((0, 0, 1))), what, who,
            f"Ref {serial + i} {who} sagt Danke",
                     iban, cents, "EUR"])
    big, double, hole, late, usd, blank, bounce, style, broken, plus = w.spots(rng, size, 10)
    amount = -rng.randint(1_820_000, 2_960_000)
    rows[big][6] = amount
    rows[double] = [*rows[double - 1]]
    for i in range(hole, size):
        rows[i][4] = rows[i][4].replace(str(serial + i), str(serial + i + 9))
    if hole <= double:
        rows[double][4] = rows[double - 1][4]
    rows[late][1] = rows[late][0] + timedelta(days=rng.randint(190, 300))
    rows[usd][7] = "USD"
    rows[blank][5] = ""
    rows[bounce][2] = "Rücklastschrift"
    rows[bounce][6] = abs(rows[bounce][6])
    refund = rng.randint(1_100_000, 1_700_000)
    rows[plus][6], rows[plus][2] = refund, "Überweisung"
    balance, lines = 1_204_411, []
    slip = rng.randint(90_000, 99_000)
    for i, (day, value, what, who, note, iban, cents, unit) in enumerate(rows):
        balance += cents - (slip if i == broken else 0)
        rows[i].append(balance)
        shown = f"{day:%Y-%m-%d}" if i == style else f"{day:%d.%m.%Y}"
        cells = [shown, f"{value:%d.%m.%Y}", what, who, note, iban, euro(cents), unit, euro(balance)]
        lines.append(";".join(f'"{cell}"' for cell in cells))
    names = ["Buchungstag", "Valuta", "Buchungstext", "Beguenstigter", "Verwendungszweck", "IBAN", "Betrag",
             "Waehrung", "Saldo"]
    text = "\n".join([";".join(f'"{name}"' for name in names), *lines]) + "\n"
    n = Notes()

    def ref(i: int) -> str:
        return rows[i][4].split()[1]

    def one(what: str, i: int, telling: list[str], *searches: str, derived: bool = False) -> None:
        n.say(what, pairs(telling, [ref(i), i + 2, f"#{i + 1}", f"row {i + 1}"]), *searches, line=i + 2,
            derived=derived)

    one("outlier", big, spellings(amount), "Betrag", "-2")
    one("outlier", plus, spellings(refund), "Betrag", "Gutschrift")
    n.say("duplicate", w.same(ref(double), double + 1, double + 2), "duplicate", "Ref", line=double + 2,
        derived=True)
    before, after = int(ref(hole - 1)), int(ref(hole))
    n.say("gap", w.gap(range(before + 1, after), before, after), "Ref", "gap", line=hole + 2, derived=True)
    one("time jump", late, [f"{rows[late][1]:%d.%m.%Y}", f"{rows[late][1]:%Y-%m-%d}"], "Valuta", "2025")
    one("rare value", usd, ["USD"], "USD", "Waehrung")
    n.say("missing field", w.gone([ref(blank), blank + 2], "IBAN"), "IBAN", '"";', line=blank + 2,
        derived=True)
    one("rare value", bounce, ["Rücklastschrift"], "Rücklastschrift", "Buchungstext")
    one("changed type", style, [f"{rows[style][0]:%Y-%m-%d}"], "2024-", "Buchungstag")
    wrong = ("differ", "does not", "break", "inconsistent", "mismatch", "off by", "wrong", "jump")
    n.say("contradiction", pairs([ref(broken), broken + 2], [f"{slip / 100:.2f}", euro(slip)])
          + tuple((a, b, c) for a in (ref(broken), str(broken + 2)) for b in ("Saldo", "balance")
              for c in wrong),
          "Saldo", "balance", line=broken + 2, derived=True)
    whos = Counter(row[3] for row in rows).most_common(2)
    for who, many in whos:
        n.say("count", w.count(who, many), who, derived=True)
    n.say("total", w.total(size, "rows", "records", "bookings", "transactions", "entries", "lines"), "Ref",
        derived=True)
    first, last = rows[0][0], rows[-1][0]
    n.say("range", ((f"{first:%d.%m.%Y}", f"{last:%d.%m.%Y}"), (f"{first:%Y-%m-%d}", f"{last:%Y-%m-%d}")),
          "Buchungstag", derived=True)
    return n.parts(text)


@kind("journalctl", "rows")
def journalctl(rng: random.Random) -> Parts:
    """`journalctl` in its short format: month, day, time, host, unit[pid] and message."""
    size = rng.randint(1080, 1250)
    host = f"{rng.choice(('web', 'app', 'db'))}-{rng.randint(11, 48)}"
    clock = w.Clock(rng, datetime(2025, 3, rng.randint(2, 20), 1, 14), 3, 60)
    pid = {name: rng.randint(600, 3000) for name in ("sshd", "cron", "systemd", "dockerd", "chronyd", "app",
        "dhclient")}

    def dull() -> str:
        who = rng.choices(("systemd[1]", "CRON", "sshd", "dockerd", "chronyd", "app", "kernel"),
            (26, 16, 12, 12, 5, 25, 4))[0]
        a, b = rng.choice(w.SERVICES), rng.choice(w.NOUNS)
        if who == "systemd[1]":
            return f"{who}: " + rng.choice((f"Started {a}-{b}.service - {a.capitalize()} {b} job.",
                                             f"{a}-{b}.service: Deactivated successfully.",
                                             f"Starting {a}-{b}.service - {a.capitalize()} {b} job..."))
        if who == "CRON":
            return f"CRON[{rng.randint(10000, 32000)}]: (root) CMD (/usr/local/bin/{a}-{b} --quiet)"
        if who == "sshd":
            return f"sshd[{rng.randint(10000, 32000)}]: " + rng.choice((
                f"Accepted publickey for deploy from {w.ip(rng)} port {rng.randint(32768, 60999)} ssh2",
                f"Received disconnect from {w.ip(rng)} port {rng.randint(32768, 60999)}:11: disconnected by "
                f"user",
                f"Connection closed by {w.ip(rng)} port {rng.randint(32768, 60999)} [preauth]"))
        if who == "dockerd":
            return f'dockerd[{pid["dockerd"]}]: level=info msg="ignoring event" container={w.hexes(rng, 12)} module=libcontainerd'
        if who == "chronyd":
            return f"chronyd[{pid['chronyd']}]: Selected source {w.ip(rng)} (2.pool.ntp.org)"
        if who == "kernel":
            return f"kernel: veth{w.hexes(rng, 7)}: entered promiscuous mode"
        return f"{a}[{pid['app']}]: " + rng.choice((
            f"handled {rng.randint(80, 640)} requests in the last minute",
            f"refreshed {b} cache in {rng.randint(12, 190)} ms",
            f"WARN slow query on {b} took {rng.randint(510, 1900)} ms",
            f"{b} worker finished, {rng.randint(1, 60)} records"))

    body = [dull() for _ in range(size)]
    oom, disk, root, fault, cert, ro, sudo, leak, boot, still, back, slow = w.spots(rng, size, 12, apart=12)
    victim, vpid = rng.choice(w.SERVICES), rng.randint(4000, 9000)
    body[oom] = f"kernel: Out of memory: Killed process {vpid} ({victim}) total-vm:9412032kB, anon-rss:7811264kB"
    sector = rng.randint(100_000_000, 900_000_000)
    body[disk] = f"kernel: blk_update_request: I/O error, dev sdb, sector {sector} op 0x0:(READ) flags 0x80700"
    body[root] = f"sshd[{rng.randint(10000, 32000)}]: Accepted password for root from 193.32.162.60 port 51514 ssh2"
    body[fault] = f"kernel: imgproc[{rng.randint(4000, 9000)}]: segfault at 18 ip 00007f2a error 4 in libvips.so.42"
    body[cert] = "certbot[8120]: Failed to renew certificate shop.acme.example: the certificate expires in 2 days"
    body[ro] = "kernel: EXT4-fs (dm-3): Remounting filesystem read-only"
    body[sudo] = "sudo[20114]:   www-data : TTY=pts/0 ; PWD=/tmp ; USER=root ; COMMAND=/usr/bin/chmod u+s /bin/bash"
    secret = w.alnum(rng, 22)
    body[leak] = f"backup[2214]: exec: pg_dump postgresql://backup:{secret}@db-02.acme.internal:5432/ledger"
    took = rng.randint(98_000, 190_000)
    body[slow] = f"orders[{pid['app']}]: WARN slow query on parcel took {took} ms"
    lines = []
    for i, what in enumerate(body):
        if i == still:
            clock.now += timedelta(hours=rng.randint(4, 6))
        moment = clock.tick()
        if i == back:
            moment -= timedelta(hours=2, minutes=rng.randint(5, 50))
        if i == boot:
            lines.append(f"-- Boot {w.hexes(rng, 32)} --")
        lines.append(f"{moment:%b %d %H:%M:%S} {host} {what}")
    text = "\n".join(lines) + "\n"
    n = Notes()

    def one(what: str, i: int, telling: list[str], more: list[str], *searches: str, hidden: str = "") -> None:
        line = i + 1 + (i >= boot)
        n.say(what, pairs(telling, [*more, line]), *searches, line=line, hidden=hidden)

    one("error", oom, ["Out of memory", "OOM", "Killed process"], [victim, str(vpid)], "Out of memory",
        "oom", "killed")
    one("error", disk, ["I/O error"], ["sdb", str(sector)], "I/O error", "error")
    one("meaning", root, ["Accepted password"], ["root", "193.32.162.60"], "Accepted password", "root")
    one("error", fault, ["segfault"], ["imgproc", "libvips"], "segfault")
    one("error", cert, ["renew", "certificate"], ["2 days", "Failed to renew", "shop.acme"], "certificate",
        "Failed")
    one("error", ro, ["read-only"], ["dm-3", "EXT4"], "read-only", "EXT4")
    one("meaning", sudo, ["u+s", "chmod"], ["/bin/bash", "www-data"], "sudo", "chmod")
    one("secret", leak, ["postgresql://backup", "password", "credential", "url with"],
        ["pg_dump", "db-02", "backup["],
        "password", "postgresql://", hidden=secret)
    one("outlier", slow, [str(took)], ["parcel", "slow query", "orders"], "slow query", "took")
    at = w.line_of(text, "-- Boot")
    n.say("rare value", (("-- Boot",), ("reboot", str(at)), ("boot", str(at))), "Boot", line=at)
    line = still + 1 + (still >= boot)
    before, after = lines[line - 2].split()[2][:5], lines[line - 1].split()[2][:5]
    forms = [(x, word) for x in (before, after, str(line))
        for word in ("gap", "jump", "silence", "pause", "no lines")]
    n.say("time jump", (*forms, (before, after, "→"), (before, after, "…")), "gap", before[:3], line=line,
        derived=True)
    line = back + 1 + (back >= boot)
    shown = lines[line - 1].split()[2]
    forms = [(x, word) for x in (shown[:5], str(line))
        for word in ("back", "order", "earlier", "jump", "decreas")]
    n.say("time jump", tuple(forms), "clock", "time", line=line, derived=True)
    many = sum(" systemd[1]:" in one for one in lines)
    n.say("count", w.count("systemd", many, "systemd[1]"), "systemd", derived=True)
    first, last = lines[0][:12], lines[-1][:12]
    n.say("range", ((first, last),), first[:6], derived=True)
    return n.parts(text)


@kind("nginx_error", "rows")
def nginx_error(rng: random.Random) -> Parts:
    """The error log of nginx: moment, [level], pid#tid, connection, message and its context."""
    size = rng.randint(560, 640)
    clock = w.Clock(rng, datetime(2025, 5, rng.randint(3, 24), 0, 3), 20, 240)
    worker = rng.sample(range(2100, 2200), 4)
    paths = [f"/{a}/{b}" for a in ("api/v1", "static", "img", "shop") for b in rng.sample(w.NOUNS, 16)]
    ups = [f"http://10.20.7.{k}:8080" for k in (11, 12, 13)]
    conn = rng.randint(400_000, 500_000)
    rows: list[list[str]] = []
    ids = []
    for _ in range(size):
        conn += rng.randint(2, 60)
        ids.append(conn)
        path, client = rng.choice(paths), w.ip(rng, "172.19")
        tail = f'client: {client}, server: shop.acme.example, request: "GET {path} HTTP/1.1"'
        host = ', host: "shop.acme.example"'
        sort = rng.choices(("open", "time", "buffer", "refused", "limit"), (44, 20, 18, 8, 10))[0]
        up = rng.choices(ups, (30, 34, 36))[0]
        level, text = {
            "open": ("error", f'open() "/var/www/shop{path}" failed (2: No such file or directory), {tail}'),
            "time": ("error", "upstream timed out (110: Connection timed out) while reading response header "
                              "from upstream, "
                     f'{tail}, upstream: "{up}{path}"'),
            "buffer": ("warn", "an upstream response is buffered to a temporary file /var/cache/nginx/"
                       f'{rng.randint(0, 9)}/{rng.randint(10, 99)}/{conn:010d} while reading upstream, '
                       f'{tail}, '
                       f'upstream: "{up}{path}"'),
            "refused": ("error", f"connect() failed (111: Connection refused) while connecting to upstream, "
                                 f"{tail}, "
                        f'upstream: "{up}{path}"'),
            "limit": ("error", f'limiting requests, excess: {rng.uniform(5, 9.9):.3f} by zone "perip", '
                               f'{tail}'),
        }[sort]
        rows.append([level, f"*{conn} {text}{host}"])
    alert, crit, emerg, live, inject, leak, huge, hole, back, ssl, excess = w.spots(rng, size, 11)
    ctx = 'server: shop.acme.example, request: "{}", host: "shop.acme.example"'
    rows[alert] = ["alert", f"worker process {worker[2]} exited on signal 11 (core dumped)"]
    rows[crit] = ["crit", f'*{ids[crit]} pwrite() "/var/cache/nginx/7/41/0000481147" failed (28: No space '
                          f'left on device) '
                  f'while reading upstream, client: 172.19.4.9, {ctx.format("GET /api/v1/export HTTP/1.1")}']
    rows[emerg] = ["emerg",
        'invalid number of arguments in "proxy_read_timeout" directive in /etc/nginx/conf.d/pay.conf:88']
    rows[live] = ["error",
        f"*{ids[live]} no live upstreams while connecting to upstream, client: 172.19.8.77, "
                  f'{ctx.format("POST /checkout/pay HTTP/1.1")}, upstream: "http://payments/checkout/pay"']
    rows[inject] = ["error", f'*{ids[inject]} access forbidden by rule, client: 45.155.205.9, '
                    + ctx.format("GET /shop/item?id=1%27%20UNION%20SELECT%20password%20FROM%20users-- "
                                 "HTTP/1.1")]
    token = "sk_live_" + w.alnum(rng, 24)
    rows[leak] = ["error",
        f"*{ids[leak]} upstream prematurely closed connection while reading response header from upstream, "
                  f'client: 172.19.3.21, {ctx.format(f"GET /api/v1/charge?api_key={token} HTTP/1.1")}']
    body = rng.randint(5_000_000_000, 9_000_000_000)
    rows[huge] = ["error",
        f"*{ids[huge]} client intended to send too large body: {body} bytes, client: 172.19.22.6, "
                  + ctx.format("POST /api/v1/import HTTP/1.1")]
    rows[ssl] = ["crit", f"*{ids[ssl]} SSL_do_handshake() failed (SSL: error:0A00006C:SSL routines::bad key "
                         f"share) while SSL "
                 "handshaking, client: 172.19.30.2, server: 0.0.0.0:443"]
    rate = f"{rng.randint(880, 990)}.{rng.randint(100, 998)}"
    rows[excess] = ["error",
        f'*{ids[excess]} limiting requests, excess: {rate} by zone "perip", client: 172.19.44.44, '
                    + ctx.format("GET /api/v1/search HTTP/1.1")]
    lines, moments = [], []
    for i, (level, what) in enumerate(rows):
        if i == hole:
            clock.now += timedelta(hours=rng.randint(7, 9))
        moment = clock.tick() - (timedelta(hours=3, minutes=11) if i == back else timedelta(0))
        moments.append(moment)
        who = worker[i % 4] if i != emerg else 1
        lines.append(f"{moment:%Y/%m/%d %H:%M:%S} [{level}] {who}#{who}: {what}")
    text = "\n".join(lines) + "\n"
    n = Notes()

    def one(what: str, i: int, telling: list[str], more: list[str], *searches: str, hidden: str = "") -> None:
        n.say(what, pairs(telling, [*more, i + 1]), *searches, line=i + 1, hidden=hidden)

    one("error", alert, ["signal 11", "core dumped"], ["worker process", str(worker[2])], "alert", "signal")
    one("error", crit, ["No space left"], ["/var/cache/nginx", "crit", "/api/v1/export"], "crit",
        "No space left")
    one("error", emerg, ["proxy_read_timeout"], ["pay.conf", "emerg"], "emerg", "conf.d")
    one("error", live, ["no live upstreams"], ["payments", "/checkout/pay"], "no live upstreams", "payments")
    one("meaning", inject, ["UNION"], ["SELECT", "45.155.205.9", "users"], "UNION", "forbidden", "SELECT")
    one("secret", leak, ["api_key", "sk_live", "stripe"], ["/api/v1/charge", "172.19.3.21", "prematurely"],
        "api_key",
        "sk_live", hidden=token)
    one("outlier", huge, [str(body)], ["/api/v1/import", "too large body", "172.19.22.6"], "too large body")
    one("error", ssl, ["SSL_do_handshake", "bad key share"], ["172.19.30.2", "failed"], "SSL")
    one("outlier", excess, [rate], ["excess", "172.19.44.44"], "excess", "limiting")
    jump = ("gap", "jump", "silence", "pause", "no lines")
    marks = [f"{moments[hole - 1]:%H:%M}", f"{moments[hole]:%H:%M}"]
    n.say("time jump", (*pairs([*marks, hole + 1], jump), (*marks, "→")), "gap", marks[0][:3], line=hole + 1,
        derived=True)
    n.say("time jump", pairs([f"{moments[back]:%H:%M}", back + 1],
        ("back", "out of order", "earlier", "jump", "decreas")),
          "time", line=back + 1, derived=True)
    warns = sum(row[0] == "warn" for row in rows)
    n.say("count", w.count("warn", warns, "[warn]", "warnings"), "[warn]", derived=True)
    lost = sum("(2: No such file" in line for line in lines)
    n.say("count", w.count("No such file", lost, "No such file or directory", "open()"), "No such file",
        derived=True)
    form = "%Y/%m/%d %H:%M"
    n.say("range", ((f"{moments[0]:{form}}", f"{moments[-1]:{form}}"),
                    *w.span(f"{moments[0]:%Y-%m-%d %H:%M}", f"{moments[-1]:%Y-%m-%d %H:%M}")), "2025/05",
                    derived=True)
    return n.parts(text)


@kind("lab_tsv", "rows")
def lab_tsv(rng: random.Random) -> Parts:
    """A laboratory export as TSV with a header line (tab-separated values)."""
    size = rng.randint(980, 1150)
    clock = w.Clock(rng, datetime(2025, 1, rng.randint(6, 20), 7, 30), 60, 420)
    start = rng.randint(210_000, 290_000)
    staff = [w.mail(name, "lab.example").split("@")[0] for name in w.people(rng, 7)]
    rows: list[list[str]] = []
    for i in range(size):
        result = w.pick(rng, {"negative": 83, "positive": 14, "inconclusive": 3})
        ct = w.near(rng, 27, 3, 17, 36) if result == "positive" else w.near(rng, 38.5, 0.8, 36.1, 40)
        rows.append([f"S{start + i}", f"P{1 + i // 96:03d}", f"{'ABCDEFGH'[i % 8]}{1 + i // 8 % 12:02d}",
                     f"{clock.tick():%Y-%m-%dT%H:%M:%S}", rng.choice(("QS5-A", "QS5-B", "QS7-C")),
                     f"{ct:.2f}",
                     f"{w.near(rng, 20, 0.6, 18, 22):.1f}", result, rng.choice(staff)])
    hot, minus, text_ct, double, hole, rare, blank, extra, unit, back, tool, note = w.spots(rng, size, 12)
    rows[hot][5] = f"{rng.randint(210, 390)}.{rng.randint(10, 98)}"
    rows[minus][6] = f"-{rng.randint(11, 17)}.{rng.randint(1, 9)}"
    rows[text_ct][5] = "Undetermined"
    rows[double][0] = rows[double - 1][0]
    for row in rows[hole:]:
        row[0] = f"S{int(row[0][1:]) + 24}"
    if hole <= double:
        assert rows[double][0] == rows[double - 1][0] or hole == double
    rows[rare][7] = "INVALID_CONTROL"
    rows[blank][8] = ""
    rows[extra].append("re-run ordered by supervisor")
    rows[unit][6] = "0.02mL"
    old = datetime.fromisoformat(rows[back][3]) - timedelta(days=rng.randint(30, 60))
    rows[back][3] = f"{old:%Y-%m-%dT%H:%M:%S}"
    rows[tool][4] = "MANUAL"
    rows[note][1] = "P999"
    header = ["sample_id", "plate", "well", "collected_at", "instrument", "ct_value", "volume_ul", "result",
        "operator"]
    text = "\n".join("\t".join(row) for row in [header, *rows]) + "\n"
    n = Notes()

    def one(what: str, i: int, telling: list[str], *searches: str) -> None:
        n.say(what, pairs(telling, [rows[i][0], i + 2, f"#{i + 1}", f"row {i + 1}"]), *searches, line=i + 2)

    one("outlier", hot, [rows[hot][5]], "ct_value")
    one("outlier", minus, [rows[minus][6]], "volume_ul", "\t-")
    one("changed type", text_ct, ["Undetermined"], "Undetermined", "ct_value")
    n.say("duplicate", w.same(rows[double][0], double + 1, double + 2), "sample_id", "duplicate",
        line=double + 2,
          derived=True)
    before, after = rows[hole - 1][0], rows[hole][0]
    n.say("gap", w.gap([f"S{k}" for k in range(int(before[1:]) + 1, int(after[1:]))], before, after),
        "sample_id", "gap",
          line=hole + 2, derived=True)
    one("rare value", rare, ["INVALID_CONTROL"], "INVALID", "result")
    n.say("missing field", w.gone([rows[blank][0], blank + 2], "operator"), "operator", line=blank + 2,
        derived=True)
    one("changed shape", extra, ["re-run ordered", "10 fields", "10 columns", "extra", "10 cells"], "re-run",
        "extra column")
    one("changed type", unit, ["0.02mL"], "mL", "volume_ul")
    one("time jump", back, [rows[back][3][:10]], "collected_at", "2024")
    one("rare value", tool, ["MANUAL"], "MANUAL", "instrument")
    one("rare value", note, ["P999"], "plate", "P9")
    results = Counter(row[7] for row in rows)
    n.say("count", w.count("positive", results["positive"]), "positive", derived=True)
    n.say("count", w.count("inconclusive", results["inconclusive"]), "inconclusive", derived=True)
    n.say("total", w.total(size, "rows", "records", "samples", "entries", "lines"), "sample_id", derived=True)
    rest = sorted(row[3] for i, row in enumerate(rows) if i != back)
    n.say("range", (*w.span(rest[0][:16], rest[-1][:16]), *w.span(rows[back][3][:16], rest[-1][:16])),
        "collected_at",
          derived=True)
    return n.parts(text)


@kind("jira_search", "rows")
def jira_search(rng: random.Random) -> Parts:
    """The answer of Jira's REST search: {startAt, maxResults, total, issues: [{id, key, fields}]}."""
    size = rng.randint(110, 125)
    staff = w.people(rng, 9)
    clock = w.Clock(rng, datetime(2025, 1, 7, 8), 4000, 30_000)
    states = {"Done": 46, "In Progress": 22, "To Do": 20, "In Review": 12}
    first, ident, issues = rng.randint(1200, 2900), rng.randint(50_000, 60_000), []
    weights = [30, 20, 14, 10, 8, 7, 5, 4, 2]
    for i in range(size):
        made = clock.tick()
        state, who = w.pick(rng, states), rng.choices(staff, weights)[0]
        changed = made + timedelta(hours=rng.uniform(2, 300))
        done = {"name": "Done", "id": "10000"} if state == "Done" else None
        issues.append({
            "expand": "operations,editmeta,changelog", "id": str(ident + 3 * i), "key": f"SHOP-{first + i}",
            "self": f"https://acme.atlassian.net/rest/api/2/issue/{ident + 3 * i}",
            "fields": {
                "summary": w.title(rng), "issuetype": {"name": w.pick(rng,
                {"Story": 40, "Bug": 35, "Task": 25}),
                                                       "subtask": False},
                "status": {"name": state, "statusCategory": {"key": {"Done": "done", "To Do": "new"}.get(
                    state, "indeterminate")}},
                "priority": {"name": w.pick(rng, {"Medium": 60, "High": 20, "Low": 20})}, "resolution": done,
                "assignee": {"displayName": who, "emailAddress": w.mail(who), "active": True},
                "reporter": {"displayName": rng.choice(staff), "active": True},
                "created": f"{made:%Y-%m-%dT%H:%M:%S}.000+0000",
                "updated": f"{changed:%Y-%m-%dT%H:%M:%S}.000+0000",
                "labels": rng.sample(["backend", "frontend", "ux", "debt", "release"], rng.randint(0, 2)),
                "customfield_10016": float(rng.choice((1, 2, 3, 5, 8))),
                "timespent": rng.randint(2, 60) * 900,
                "description": w.paragraph(rng, 1, 3),
            },
        })
    block, huge, typed, alone, lost, double, order, ghost, leak, time, odd = w.spots(rng, size, 11, apart=4)
    f = [issue["fields"] for issue in issues]
    f[block]["priority"] = {"name": "Blocker"}
    points = float(rng.randint(340, 900))
    f[huge]["customfield_10016"] = points
    f[typed]["customfield_10016"] = "five"
    f[alone]["assignee"] = None
    del f[lost]["reporter"]
    issues[double]["key"] = issues[double - 1]["key"]
    f[order]["updated"] = "2019-11-04T09:12:00.000+0000"
    f[ghost]["resolution"], f[ghost]["status"]["name"] = {"name": "Won't Fix", "id": "10002"}, "In Progress"
    token = "ghp_" + w.alnum(rng, 36)
    f[leak]["description"] += f" Use this token for the pipeline for now: {token} and remove it later."
    spent = rng.randint(8_100_000, 9_900_000)
    f[time]["timespent"] = spent
    f[odd]["status"] = {"name": "Legal Hold", "statusCategory": {"key": "indeterminate"}}
    every = size + rng.randint(1400, 1900)
    data = {"expand": "schema,names", "startAt": 0, "maxResults": size, "total": every, "issues": issues}
    text = json.dumps(data, indent=2)
    n = Notes()

    def one(what: str, i: int, telling: list[str], field: str, *searches: str, hidden: str = "") -> None:
        n.say(what, w.known(telling, [issues[i]["key"]], "/issues", i), *searches,
              pointer=f"/issues/{i}/fields{field}", hidden=hidden)

    one("rare value", block, ["Blocker"], "/priority/name", "Blocker", "priority")
    one("outlier", huge, [f"{points:.0f}"], "/customfield_10016", "customfield_10016")
    one("changed type", typed, ["five"], "/customfield_10016", "customfield_10016")
    n.say("missing field", tuple((a, b, c) for a in (issues[alone]["key"], f"/issues/{alone}")
        for b in ("assignee",)
                                 for c in ("null", "none", "missing", "unassigned", "empty", "absent",
                                     "without")),
          "assignee", "null", pointer=f"/issues/{alone}/fields/assignee", derived=True)
    n.say("missing field", w.gone([issues[lost]["key"], f"/issues/{lost}", f"#{lost}"], "reporter"),
        "reporter",
          pointer=f"/issues/{lost}/fields", derived=True)
    n.say("duplicate", w.same(issues[double]["key"], f"/issues/{double - 1}", f"/issues/{double}"), "key",
        "duplicate",
          pointer=f"/issues/{double}/key", derived=True)
    one("time jump", order, ["2019-11-04"], "/updated", "updated", "2019")
    one("contradiction", ghost, ["Won't Fix"], "/resolution/name", "resolution", "Won't")
    one("secret", leak, ["ghp_", "token", "github", "secret"], "/description", "token", "ghp_", hidden=token)
    one("outlier", time, [str(spent)], "/timespent", "timespent")
    one("rare value", odd, ["Legal Hold"], "/status/name", "status", "Hold")
    n.say("summary", pairs([every], ["total"]), "total", pointer="/total")
    names = Counter(one["status"]["name"] for one in f)
    for state in ("Done", "In Progress"):
        n.say("count", w.count(state, names[state]), state, derived=True)
    who, many = Counter(one["assignee"]["displayName"] for one in f if one["assignee"]).most_common(1)[0]
    n.say("count", w.count(who, many), "assignee", who, derived=True)
    return n.parts(text)


@kind("invoice_list", "rows")
def invoice_list(rng: random.Random) -> Parts:
    """A list of invoices as of Stripe's API: {object: list, data: [invoice], has_more, url}."""
    size = rng.randint(118, 135)
    firms = [f"{name} {end}" for name, end in zip(rng.sample(w.LAST, 24), ("GmbH", "Ltd", "SARL", "BV") * 6)]
    clock = w.Clock(rng, datetime(2025, 4, 1, 6), 1500, 16_000)
    keys = {firm: f"cus_{w.alnum(rng, 14)}" for firm in firms}
    first, rows = rng.randint(2100, 4900), []
    for i in range(size):
        state = w.pick(rng, {"paid": 76, "open": 17, "draft": 7})
        lines = [{"id": f"il_{w.alnum(rng, 14)}",
            "description": f"{rng.randint(1, 30)} × {rng.choice(w.NOUNS)} plan",
                  "amount": rng.randint(12, 180) * 100} for _ in range(rng.randint(1, 3))]
        amount, made = sum(line["amount"] for line in lines), int((clock.tick() - datetime(1970, 1,
            1)).total_seconds())
        firm = rng.choice(firms)
        rows.append({
            "id": f"in_1{w.alnum(rng, 23)}", "object": "invoice", "number": f"ACME-{first + i:05d}",
            "customer": keys[firm], "customer_name": firm,
            "customer_email": f"billing@{firm.split()[0].lower()}.example", "currency": "eur",
            "status": state,
            "amount_due": amount, "amount_paid": amount if state == "paid" else 0,
            "amount_remaining": 0 if state == "paid" else amount, "total": amount, "tax": amount * 19 // 119,
            "attempt_count": rng.choice((0, 1, 1, 1, 2)), "collection_method": "charge_automatically",
            "created": made,
            "due_date": made + 14 * 86400, "livemode": True, "lines": {"object": "list", "data": lines},
        })
    (big, short, rare, money, lost, double, hole, typed, tries, test, minus, sums) = w.spots(rng, size, 12,
    apart=4)
    amount = rng.randint(41_000_000, 88_000_000)
    rows[big].update(amount_due=amount, total=amount, tax=amount * 19 // 119, status="open", amount_paid=0,
                     amount_remaining=amount)
    rows[big]["lines"]["data"][0]["amount"] += amount - sum(one["amount"]
        for one in rows[big]["lines"]["data"])
    due = rows[short]["amount_due"]
    paid = due - rng.randint(401, 1099)
    rows[short].update(status="paid", amount_paid=paid, amount_remaining=0)
    rows[rare].update(status="uncollectible", amount_paid=0, amount_remaining=rows[rare]["amount_due"])
    rows[money]["currency"] = "jpy"
    del rows[lost]["customer_email"]
    for i in range(hole, size):
        rows[i]["number"] = f"ACME-{first + i + 7:05d}"
    rows[double]["number"] = rows[double - 1]["number"]
    rows[typed]["due_date"] = "upon receipt"
    rows[tries]["attempt_count"] = rng.randint(161, 397)
    rows[test]["livemode"] = False
    tax = -rng.randint(700_000, 990_000)
    rows[minus]["tax"] = tax
    extra = rng.randint(311_000, 390_000)
    rows[sums]["lines"]["data"][0]["amount"] += extra
    text = json.dumps({"object": "list", "url": "/v1/invoices", "has_more": True, "data": rows}, indent=2,
                      ensure_ascii=False)
    n = Notes()

    def names(i: int) -> list[str]:
        return [rows[i]["number"], rows[i]["id"], *w.spot("/data", i)]

    def one(what: str, i: int, telling: list[object], field: str, *searches: str) -> None:
        n.say(what, w.known(telling, names(i)[:2], "/data", i), *searches, pointer=f"/data/{i}/{field}")

    one("outlier", big, [amount], "amount_due", "amount_due", "total")
    n.say("contradiction", tuple((a, str(paid), str(due)) for a in names(short)), "amount_paid", "amount_due",
          pointer=f"/data/{short}/amount_paid")
    one("rare value", rare, ["uncollectible"], "status", "uncollectible", "status")
    one("rare value", money, ["jpy"], "currency", "currency", "jpy")
    n.say("missing field", w.gone(names(lost)[:4], "customer_email"), "customer_email",
        pointer=f"/data/{lost}",
          derived=True)
    n.say("duplicate", w.same(rows[double]["number"], f"/data/{double - 1}", f"/data/{double}"), "number",
        "duplicate",
          pointer=f"/data/{double}/number", derived=True)
    before, after = rows[hole - 1]["number"], rows[hole]["number"]
    missing = [f"ACME-{k:05d}" for k in range(int(before[5:]) + 1, int(after[5:]))]
    n.say("gap", w.gap([one for one in missing if one not in text], before, after), "number", "gap",
          pointer=f"/data/{hole}/number", derived=True)
    one("changed type", typed, ["upon receipt"], "due_date", "due_date", "upon")
    one("outlier", tries, [rows[tries]["attempt_count"]], "attempt_count", "attempt_count")
    n.say("rare value", pairs(names(test), ["false"]), "livemode", "false",
          pointer=f"/data/{test}/livemode")
    one("outlier", minus, [tax], "tax", "tax", "-")
    one("outlier", sums, [rows[sums]["lines"]["data"][0]["amount"]], "lines/data/0/amount", "lines", "amount")
    states = Counter(row["status"] for row in rows)
    for state in ("paid", "open"):
        n.say("count", w.count(state, states[state]), state, "status", derived=True)
    n.say("total", w.total(size, "data", "items", "invoices", "records", "rows"), "invoice", derived=True)
    n.say("summary", (("has_more", "true"),), "has_more", pointer="/has_more")
    return n.parts(text)
