"""Lists of records, tables and logs."""

import json
import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity.planted import Parts, kind

from . import words as w
from .words import Notes, pairs


class Lines:
    """Facts about the rows of a text whose first row stands on a known line."""

    def __init__(self, first: int = 1) -> None:
        self.n, self.first = Notes(), first

    def one(
        self, what: str, at: int, telling: list[object], names: list[object], *searches: str, hidden: str = ""
    ) -> None:
        """A telling value with a name of its row or the number of its line."""
        line = at + self.first
        self.n.say(what, pairs(telling, [*names, line]), *searches, line=line, hidden=hidden)


@kind("s3_ls", "rows")
def s3_ls(rng: random.Random) -> Parts:
    """`aws s3 ls s3://… --recursive --summarize`: moment, size and key, then two sums."""
    services = sorted(rng.sample(w.SERVICES, 8))
    start, days = datetime(2025, 1, rng.randint(3, 9)), rng.randint(84, 92)
    rows: list[list[str]] = []
    for name in services:
        mean = rng.randint(40, 700) * 1_000_000
        for day in range(days):
            date = start + timedelta(days=day)
            full = 2.6 if date.weekday() == 6 else 1.0
            size = int(mean * full * rng.uniform(0.9, 1.15))
            done = date + timedelta(hours=2, seconds=rng.randint(60, 5400))
            key = f"backups/{name}/{date:%Y-%m-%d}.dump.gz"
            rows.append([f"{done:%Y-%m-%d %H:%M:%S}", str(size), key])
            rows.append([f"{done + timedelta(seconds=9):%Y-%m-%d %H:%M:%S}", "98", key + ".sha256"])
    dumps = range(0, len(rows), 2)
    zero, huge, hole, bare, late, locked, leak, key_file, tiny, cold = (
        dumps[k] for k in w.spots(rng, len(dumps), 10, apart=6)
    )
    sums = {
        "zero": rows[zero][2],
        "huge": rows[huge][2],
        "late": rows[late][2],
        "tiny": rows[tiny][2],
        "cold": rows[cold][2],
    }
    rows[zero][1] = "0"
    rows[huge][1] = str(rng.randint(61, 89) * 1_000_000_000_00 + rng.randint(1, 999_999))
    rows[late][0] = f"2025-{rng.randint(8, 9):02d}-{rng.randint(10, 27)} 23:{rng.randint(10, 58)}:07"
    rows[tiny][1] = str(rng.randint(1100, 1900))
    rows[cold][0] = "2017-06-0" + str(rng.randint(1, 9)) + " 11:42:50"
    rows[locked][2] += ".locked"
    token = "AKIA" + w.upper(rng, 16)
    rows[leak][2] += f"?AWSAccessKeyId={token}"
    folder = rows[key_file][2].rsplit("/", 1)[0]
    rows[key_file][2] = folder + "/id_rsa"
    lost, no_sum = rows[hole][2], rows[bare][2]
    drop = {hole, hole + 1, bare + 1, key_file + 1}
    rows = sorted((row for i, row in enumerate(rows) if i not in drop), key=lambda row: row[2])
    size = sum(int(row[1]) for row in rows)
    said = len(rows) + rng.randint(31, 77)
    body = [f"{row[0]} {row[1]:>10} {row[2]}" for row in rows]
    text = "\n".join([*body, "", f"Total Objects: {said}", f"   Total Size: {size}"]) + "\n"
    t, where = Lines(), {row[2]: i for i, row in enumerate(rows)}

    def short(key: str) -> str:
        return key.split("/", 1)[1].removesuffix(".dump.gz")

    at = where[sums["zero"]]
    t.n.say(
        "outlier",
        tuple(
            (short(sums["zero"]), word)
            for word in (" 0 ", "empty", "0 byte", "zero", "size 0", "size=0", "size: 0", "= 0")
        ),
        " 0 ",
        "size",
        line=at + 1,
    )
    for what, key, telling in (
        ("outlier", "huge", rows[where[sums["huge"]]][1]),
        ("outlier", "tiny", rows[where[sums["tiny"]]][1]),
        ("time jump", "late", rows[where[sums["late"]]][0][:10]),
        ("time jump", "cold", rows[where[sums["cold"]]][0][:10]),
    ):
        t.one(
            what,
            where[sums[key]],
            [telling],
            [short(sums[key])],
            *([telling[:7]] if what == "time jump" else [telling[:3]]),
        )
    name, date = lost.split("/")[1], lost.split("/")[2][:10]
    near = datetime.fromisoformat(date)
    t.n.say(
        "gap",
        (
            (f"{name}/{date}",),
            *((name, date, word) for word in ("gap", "missing", "skip", "absent", "no ", "not ")),
            *tuple((name, f"{near - timedelta(days=1):%Y-%m-%d}", word) for word in ("gap", "jump", "skips")),
        ),
        f"backups/{name}/{date[:7]}",
        line=where.get(f"backups/{name}/{near - timedelta(days=1):%Y-%m-%d}.dump.gz", 0) + 1,
        derived=True,
    )
    t.n.say(
        "missing field",
        tuple((short(no_sum), a, b) for a in ("sha256", "checksum") for b in w.GONE),
        "sha256",
        line=where[no_sum] + 1,
        derived=True,
    )
    i = next(i for i, row in enumerate(rows) if row[2].endswith(".locked"))
    t.one("rare value", i, [".locked"], [short(rows[i][2]).removesuffix(".dump.gz.locked")], "locked")
    i = next(i for i, row in enumerate(rows) if row[2].endswith("id_rsa"))
    t.one("rare value", i, ["id_rsa"], [folder.split("/")[1]], "id_rsa")
    i = next(i for i, row in enumerate(rows) if token in row[2])
    t.one(
        "secret",
        i,
        ["AWSAccessKeyId", "AKIA", "access key"],
        [short(rows[i][2]).split(".")[0]],
        "AWSAccessKeyId",
        "AKIA",
        hidden=token,
    )
    t.n.say(
        "contradiction",
        tuple((str(said), str(len(rows)), one) for one in ("objects", "rows", "lines", "entries", "items")),
        "Total Objects",
        line=len(rows) + 2,
        derived=True,
    )
    t.n.say("summary", ((str(size),),), "Total Size", line=len(rows) + 3)
    ends = Counter(row[2].rsplit(".", 1)[-1] for row in rows)
    t.n.say("count", w.count("sha256", ends["sha256"], ".sha256"), "sha256", derived=True)
    mine = Counter(row[2].split("/")[1] for row in rows)
    few = min(mine, key=lambda one: mine[one])
    t.n.say("count", w.count(few, mine[few]), f"backups/{few}/", derived=True)
    moments = sorted(row[0] for row in rows if row[2] not in (sums["late"], sums["cold"]))
    ranges = w.span(moments[0][:10], moments[-1][:10])
    full = sorted(row[0] for row in rows)
    t.n.say("range", (*ranges, *w.span(full[0][:10], full[-1][:10])), moments[0][:7], derived=True)
    return t.n.parts(text)


@kind("kubectl_events", "rows")
def kubectl_events(rng: random.Random) -> Parts:
    """`kubectl get events -A --sort-by=.lastTimestamp`: a padded table, oldest first."""
    size = rng.randint(560, 640)
    spaces = rng.sample(w.SERVICES, 9)
    rows: list[list[str]] = []
    pods = w.distinct(
        rng, 170, lambda r: f"{r.choice(w.NOUNS)}-{r.choice(w.NOUNS)}-{w.hexes(r, 9)}-{w.hexes(r, 5)}"
    )
    home = {pod: rng.choice(spaces) for pod in pods}
    for i in range(size):
        left = int(3540 * (1 - i / size)) + 3
        age = f"{left // 60}m{left % 60}s" if left < 600 else f"{left // 60}m" if left >= 120 else f"{left}s"
        pod = rng.choice(pods)
        app = pod.rsplit("-", 2)[0]
        tag = f"reg.acme.example/{app}:{rng.randint(1, 4)}.{rng.randint(0, 30)}.{rng.randint(0, 9)}"
        choice = w.pick(
            rng,
            {
                "Pulled": 22,
                "Created": 20,
                "Started": 20,
                "Scheduled": 14,
                "Killing": 7,
                "ScalingReplicaSet": 6,
                "Unhealthy": 8,
            },
        )
        message = {
            "Pulled": f'Container image "{tag}" already present on machine',
            "Created": f"Created container {app}",
            "Started": f"Started container {app}",
            "Scheduled": f"Successfully assigned {home[pod]}/{pod} to node-{rng.randint(1, 24):02d}",
            "Killing": f"Stopping container {app}",
            "ScalingReplicaSet": f"Scaled up replica set {pod.rsplit('-', 1)[0]} to {rng.randint(2, 6)}",
            "Unhealthy": f"Readiness probe failed: HTTP probe failed with statuscode: {rng.choice((503, 503, 502))}",
        }[choice]
        object_ = f"deployment/{app}" if choice == "ScalingReplicaSet" else f"pod/{pod}"
        rows.append(
            [home[pod], age, "Warning" if choice == "Unhealthy" else "Normal", choice, object_, message]
        )
    spots = w.spots(rng, size, 12)
    oom, plan, mount, node, image, evict, often, odd, leak, quota, admit, volume = spots

    def put(i: int, reason: str, message: str, object_: str = "", type_: str = "Warning") -> None:
        rows[i][2:] = [
            type_,
            reason,
            object_ or (rows[i][4] if rows[i][4][:3] == "pod" else f"pod/{rng.choice(pods)}"),
            message,
        ]

    killed = rng.randint(21_000, 29_000)
    put(
        oom,
        "OOMKilling",
        f"Memory cgroup out of memory: Killed process {killed} (java) total-vm:9812344kB",
        "node/node-17",
    )
    put(plan, "FailedScheduling", "0/24 nodes are available: 24 node(s) had untolerated taint {gpu: true}.")
    put(
        mount, "FailedMount", 'MountVolume.SetUp failed for volume "tls" : secret "ledger-tls-2025" not found'
    )
    put(node, "NodeNotReady", "Node node-09 status is now: NodeNotReady", "node/node-09", "Normal")
    put(image, "Failed", 'Failed to pull image "docker.io/xmrlib/worker:latest": not found')
    put(
        evict,
        "Evicted",
        "The node was low on resource: ephemeral-storage. Container used 48211Mi, request is 0.",
    )
    times = rng.randint(4100, 9800)
    put(often, "BackOff", f"Back-off restarting failed container (x{times} over 12d)")
    rows[odd][1] = "<unknown>"
    token = "hvs." + w.alnum(rng, 28)
    put(leak, "FailedPostStartHook", f"Exec lifecycle hook failed: vault login token={token} exited with 2")
    put(
        quota,
        "FailedCreate",
        "pods is forbidden: exceeded quota: compute, requested: cpu=4, used: cpu=98, limited: cpu=100",
    )
    put(
        admit, "PolicyViolation", "policy disallow-privileged/host-pid fail: hostPID must not be true (audit)"
    )
    put(
        volume, "VolumeResizeFailed", "resize volume pvc-orders-3 failed: rpc error: code = ResourceExhausted"
    )
    header = ["NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    widths = [max(len(row[k]) for row in [header, *rows]) + 3 for k in range(5)]
    lines = [
        "".join(c.ljust(x) for c, x in zip(row, widths, strict=False)) + row[5] for row in [header, *rows]
    ]
    t = Lines(2)

    def at(i: int) -> list[object]:
        return [rows[i][4].split("/")[1], rows[i][4]]

    t.one("error", oom, ["OOMKilling", "out of memory"], ["node-17", killed], "OOM", "memory")
    t.one(
        "error",
        plan,
        ["untolerated taint", "0/24 nodes"],
        [*at(plan), "FailedScheduling"],
        "FailedScheduling",
        "taint",
    )
    t.one(
        "error",
        mount,
        ["ledger-tls-2025"],
        ["not found", "FailedMount", *at(mount)],
        "FailedMount",
        "not found",
    )
    t.one("rare value", node, ["NodeNotReady"], ["node-09"], "NotReady")
    t.one("error", image, ["xmrlib/worker"], ["Failed", *at(image)], "Failed to pull", "pull image")
    t.one("outlier", evict, ["Evicted", "ephemeral-storage"], ["48211Mi", *at(evict)], "Evicted")
    t.one(
        "outlier",
        often,
        [f"x{times}", times],
        ["BackOff", "Back-off", "12d", *at(often)],
        "BackOff",
        "restarting",
    )
    t.one("changed type", odd, ["<unknown>"], [*at(odd), "LAST SEEN"], "<unknown>")
    t.one(
        "secret",
        leak,
        ["vault login", "hvs.", "FailedPostStartHook"],
        ["token", "secret", *at(leak)],
        "token",
        "hvs",
        hidden=token,
    )
    t.one("error", quota, ["exceeded quota"], ["FailedCreate", "cpu", *at(quota)], "quota")
    t.one(
        "rare value", admit, ["PolicyViolation", "host-pid", "hostPID"], ["privileged", *at(admit)], "Policy"
    )
    t.one(
        "error",
        volume,
        ["VolumeResizeFailed", "pvc-orders-3"],
        ["ResourceExhausted", "resize", *at(volume)],
        "VolumeResize",
    )
    types, reasons = Counter(row[2] for row in rows), Counter(row[3] for row in rows)
    t.n.say("count", w.count("Warning", types["Warning"]), "Warning", derived=True)
    t.n.say("count", w.count("Pulled", reasons["Pulled"]), "Pulled", derived=True)
    t.n.say("count", w.count("Unhealthy", reasons["Unhealthy"], "probe failed"), "Unhealthy", derived=True)
    t.n.say("total", w.total(size, "rows", "events", "records", "entries"), "NAMESPACE", derived=True)
    return t.n.parts("\n".join(lines) + "\n")


@kind("squeue", "rows")
def squeue(rng: random.Random) -> Parts:
    """Slurm's `squeue`: right-aligned columns in its default format."""
    size = rng.randint(880, 980)
    users = [one.split()[0][0].lower() + one.split()[1].lower()[:7] for one in w.people(rng, 14)]
    weights = [1 / (1 + k) for k in range(len(users))]
    first, rows = rng.randint(4_100_000, 4_800_000), []
    for i in range(size):
        state = w.pick(rng, {"R": 62, "PD": 34, "CG": 4})
        part = w.pick(rng, {"batch": 60, "gpu": 25, "bigmem": 9, "short": 6})
        hours, minutes = rng.randint(0, 46), rng.randint(0, 59)
        took = (
            f"{hours // 24}-{hours % 24:02d}:{minutes:02d}:{i % 60:02d}"
            if hours >= 24
            else f"{hours}:{minutes:02d}:{i % 60:02d}"
        )
        nodes = rng.choice((1, 1, 1, 2, 2, 4, 8))
        low = rng.randint(1, 180)
        where = f"n{low:03d}" if nodes == 1 else f"n[{low:03d}-{low + nodes - 1:03d}]"
        if state == "PD":
            took, where = "0:00", w.pick(rng, {"(Priority)": 60, "(Resources)": 25, "(Dependency)": 15})
        job = str(first + 3 * i + rng.randint(0, 2))
        if state == "PD" and rng.random() < 0.15:
            job += f"_[{rng.randint(1, 9)}-{rng.randint(20, 90)}%4]"
        rows.append(
            [
                job,
                part,
                (rng.choice(w.VERBS) + "_" + rng.choice(w.NOUNS))[:8],
                rng.choices(users, weights)[0],
                state,
                took,
                str(nodes),
                where,
            ]
        )
    rows.reverse()
    never, away, held, long, wide, double, root, part, fail, cost, susp, blank = w.spots(rng, size, 12)

    def put(i: int, **new: str) -> None:
        for name, value in new.items():
            rows[i][["job", "part", "name", "user", "state", "time", "nodes", "where"].index(name)] = value

    put(never, state="PD", time="0:00", where="(DependencyNeverSatisfied)")
    put(away, state="PD", time="0:00", where="(ReqNodeNotAvail, UnavailableNodes:n[141-148])")
    put(held, state="PD", time="0:00", where="(launch failed requeued held)")
    put(long, state="R", time=f"{rng.randint(61, 97)}-07:12:55", where="n033")
    many = rng.randint(512, 900)
    put(wide, state="PD", time="0:00", nodes=str(many), where="(PartitionNodeLimit)")
    rows[double][0] = rows[double - 1][0] = rows[double - 1][0].split("_")[0]
    put(root, user="root", name="bash")
    put(part, part="retired")
    put(fail, state="NF", where="n117")
    put(cost, state="PD", time="0:00", where="(AssocGrpCPUMinutesLimit)")
    put(susp, state="S", where="n052")
    put(blank, name="(null)")
    form = "{:>18} {:>9} {:>8} {:>8} {:>2} {:>10} {:>6} {}".format
    header = form("JOBID", "PARTITION", "NAME", "USER", "ST", "TIME", "NODES", "NODELIST(REASON)")
    text = "\n".join([header, *(form(*row) for row in rows)]) + "\n"
    t = Lines(2)

    def one(what: str, i: int, telling: list[object], *searches: str) -> None:
        t.one(what, i, telling, [rows[i][0].split("_")[0]], *searches)

    one("error", never, ["DependencyNeverSatisfied"], "DependencyNever", "Never")
    one("error", away, ["ReqNodeNotAvail", "n[141-148]"], "ReqNodeNotAvail", "Unavail")
    one("error", held, ["launch failed"], "failed", "held")
    one(
        "outlier",
        long,
        [rows[long][5], rows[long][5].split("-")[0] + "-07", rows[long][5].split("-")[0] + " d"],
        "-07:12:55",
        "TIME",
    )
    one("outlier", wide, [many, "PartitionNodeLimit"], "PartitionNodeLimit", str(many))
    t.n.say(
        "duplicate",
        w.same(rows[double][0], double + 1, double + 2),
        rows[double][0][:5],
        line=double + 2,
        derived=True,
    )
    one("rare value", root, ["root"], "root")
    one("rare value", part, ["retired"], "retired", "PARTITION")
    one("rare value", fail, [" NF ", "NF", "node fail"], " NF ")
    one("rare value", cost, ["AssocGrpCPUMinutesLimit"], "Limit", "Assoc")
    t.one(
        "rare value",
        susp,
        [" S ", "suspended", '"S"', "`S`", "ST=S", "S (1", "S:1", "S: 1", "S 1", "S ×1"],
        [rows[susp][0].split("_")[0]],
        " S ",
    )
    one("missing field", blank, ["(null)"], "(null)")
    states, owners = Counter(row[4] for row in rows), Counter(row[3] for row in rows)
    t.n.say("count", w.count("R", states["R"], "running"), " R ", derived=True)
    t.n.say("count", w.count("PD", states["PD"], "pending"), " PD ", derived=True)
    user, top = owners.most_common(1)[0]
    t.n.say("count", w.count(user, top), user, derived=True)
    t.n.say("total", w.total(size, "rows", "jobs", "records", "entries"), "JOBID", derived=True)
    return t.n.parts(text)


@kind("syslog", "rows")
def syslog(rng: random.Random) -> Parts:
    """A syslog file of several hosts in the classic form (RFC 3164)."""
    size = rng.randint(1000, 1120)
    hosts = ["edge-gw1", "edge-gw2", "mail-1", "db-a", "db-b", "files-1"]
    clock = w.Clock(rng, datetime(2025, 3, rng.randint(10, 19), 0, 2), 4, 110)
    rows: list[list[str]] = []
    moments: list[datetime] = []
    gap = rng.randint(int(size * 0.3), int(size * 0.7))
    for i in range(size):
        if i == gap:
            clock.now += timedelta(hours=rng.randint(6, 9))
        moments.append(clock.tick())
        program = w.pick(
            rng, {"sshd": 30, "CRON": 24, "systemd": 20, "postfix/smtpd": 14, "kernel": 8, "sudo": 4}
        )
        user = rng.choice(("deploy", "backup", "monitor"))
        message = {
            "sshd": rng.choice(
                (
                    f"Accepted publickey for {user} from {w.ip(rng)} port {rng.randint(30000, 60000)} ssh2",
                    (
                        f"Failed password for invalid user {rng.choice(('admin', 'test', 'oracle'))} "
                        f"from {w.ip(rng, '203.0')} port 4{rng.randint(1000, 9999)} ssh2"
                    ),
                    f"Received disconnect from {w.ip(rng)} port {rng.randint(30000, 60000)}:11: disconnected by user",
                )
            ),
            "CRON": f"({user}) CMD (/usr/local/bin/{rng.choice(w.VERBS)}-{rng.choice(w.NOUNS)} --quiet)",
            "systemd": f"{rng.choice(('Started', 'Finished', 'Starting'))} {rng.choice(w.NOUNS)}-{rng.choice(w.VERBS)}.service.",
            "postfix/smtpd": f"{rng.choice(('connect', 'disconnect'))} from "
            f"mx{rng.randint(1, 9)}.example.net[{w.ip(rng, '198.51')}]",
            "kernel": f"[{rng.randint(10000, 99999)}.{rng.randint(100000, 999999)}] IN=eth0 OUT= "
            f"SRC={w.ip(rng, '203.0')} DST=10.20.1.4 LEN=60 PROTO=TCP DPT={rng.choice((22, 23, 445, 3389))}",
            "sudo": f"{user} : TTY=unknown ; PWD=/srv ; USER=root ; COMMAND=/usr/bin/systemctl reload nginx",
        }[program]
        tag = program if program in ("kernel", "sudo") else f"{program}[{rng.randint(700, 32000)}]"
        rows.append([rng.choice(hosts), tag, message])
    root, ext, oom, step, shadow, host, add, smart, again, leak, back, dhcp = w.spots(rng, size, 12)
    rows[root][1:] = [
        f"sshd[{rng.randint(700, 32000)}]",
        "Accepted password for root from 45.148.10.77 port 51122 ssh2",
    ]
    rows[ext] = [
        "db-b",
        "kernel",
        "EXT4-fs error (device sdb1): ext4_find_entry:1455: inode #918273: reading directory lblock 0",
    ]
    rows[oom] = [
        "db-a",
        "kernel",
        "Out of memory: Killed process 20417 (postgres) total-vm:16422176kB, anon-rss:15210844kB",
    ]
    rows[step][1:] = ["ntpd[811]", f"time reset +{rng.randint(4100, 8800)}.318824 s"]
    rows[shadow][1:] = [
        "sudo",
        "backup : TTY=pts/3 ; PWD=/tmp ; USER=root ; COMMAND=/usr/bin/cat /etc/shadow",
    ]
    rows[host][0] = "localhost"
    rows[add][1:] = ["useradd[9911]", "new user: name=svc_update, UID=0, GID=0, home=/root, shell=/bin/bash"]
    rows[smart] = [
        "files-1",
        "smartd[640]",
        "Device: /dev/sdc [SAT], 2184 Currently unreadable (pending) sectors",
    ]
    repeat = rng.randint(3100, 8900)
    rows[again][1:] = ["postfix/smtpd[4410]", f"last message repeated {repeat} times"]
    password = w.alnum(rng, 18)
    rows[leak][1:] = [
        "CRON[15020]",
        f"(backup) CMD (mysqldump -u root --password={password} shop > /srv/shop.sql)",
    ]
    moments[back] = moments[back] - timedelta(days=rng.randint(40, 60))
    rows[dhcp][1:] = ["dhclient[702]", "bound to 169.254.18.7 -- renewal in 41 seconds."]
    stamps = [f"{one:%b} {one.day:>2} {one:%H:%M:%S}" for one in moments]
    text = (
        "\n".join(f"{stamp} {row[0]} {row[1]}: {row[2]}" for stamp, row in zip(stamps, rows, strict=False))
        + "\n"
    )
    t = Lines()

    def one(
        what: str, i: int, telling: list[object], more: list[object], *searches: str, hidden: str = ""
    ) -> None:
        t.one(what, i, telling, [stamps[i], *more], *searches, hidden=hidden)

    one(
        "error",
        root,
        ["password for root", "45.148.10.77"],
        ["Accepted", "sshd"],
        "Accepted password",
        "root from",
    )
    one("error", ext, ["EXT4-fs error", "inode #918273"], ["sdb1", "db-b"], "error", "EXT4")
    one("error", oom, ["Out of memory", "Killed process"], ["20417", "postgres"], "Out of memory", "Killed")
    one(
        "time jump",
        step,
        ["time reset"],
        [rows[step][2].split("+")[1].split(".")[0], "ntpd"],
        "time reset",
        "ntpd",
    )
    one("rare value", shadow, ["/etc/shadow"], ["sudo", "COMMAND", "backup"], "shadow", "COMMAND")
    one("rare value", host, ["localhost"], ["host", rows[host][1]], "localhost")
    one("rare value", add, ["svc_update"], ["UID=0", "new user", "useradd"], "new user", "useradd")
    one("outlier", smart, ["2184", "unreadable"], ["sdc", "smartd"], "smartd", "sectors")
    one("outlier", again, [repeat], ["repeated"], "repeated")
    one(
        "secret",
        leak,
        ["--password", "mysqldump", "shop.sql"],
        ["password", "secret", "CRON"],
        "password=",
        "mysqldump",
        hidden=password,
    )
    one(
        "time jump",
        back,
        [stamps[back][:6], stamps[back]],
        [rows[back][1], rows[back][2][:30], "out of order", "backwards", "earlier"],
        stamps[back][:6],
    )
    one("rare value", dhcp, ["169.254.18.7", "dhclient"], ["bound to", "renewal"], "dhclient", "bound")
    a, b = stamps[gap - 1][:-3], stamps[gap][:-3]
    t.n.say(
        "gap",
        (
            (a, b),
            (a[-5:], b[-5:], "gap"),
            *((x, word) for x in (a, b) for word in ("gap", "silence", "no lines", "pause")),
        ),
        a,
        b,
        line=gap + 1,
        derived=gap not in (back, back + 1),
    )
    fails = sum("Failed password" in row[2] for row in rows)
    t.n.say(
        "count",
        w.count("Failed password", fails, "failed password for invalid user", "invalid user"),
        "Failed password",
        derived=True,
    )
    crons = sum(row[1].startswith("CRON") for row in rows)
    t.n.say("count", w.count("CRON", crons), "CRON", derived=True)
    t.n.say("total", w.total(size, "lines", "rows", "records", "entries", "messages"), "sshd", derived=True)
    return t.n.parts(text)


@kind("weather_csv", "rows")
def weather_csv(rng: random.Random) -> Parts:
    """Weather stations every ten minutes as CSV with semicolons and decimal commas."""
    stations = [f"WS-{one}" for one in sorted(rng.sample(range(101, 180), 5))]
    base = datetime(2025, 7, rng.randint(3, 18))
    steps = rng.randint(262, 285)
    rows: list[list[str]] = []

    def dec(value: float, digits: int = 1) -> str:
        return f"{value:.{digits}f}".replace(".", ",")

    for k in range(steps):
        now = base + timedelta(minutes=10 * k)
        for station in stations:
            warm = 23 - abs(now.hour - 15) * 0.5
            rows.append(
                [
                    station,
                    f"{now:%Y-%m-%d %H:%M}",
                    dec(w.near(rng, warm, 1.5, 9, 31)),
                    dec(w.near(rng, 64, 9, 31, 97), 0),
                    dec(w.near(rng, 1012, 4, 996, 1026)),
                    dec(w.near(rng, 3.2, 1.6, 0, 11)),
                    str(rng.randint(0, 359)),
                    dec(rng.choice((0, 0, 0, 0, 0.2, 0.6, 1.4))),
                    dec(w.near(rng, 12.6, 0.15, 12.0, 13.1), 2),
                    w.pick(rng, {"A": 91, "B": 9}),
                ]
            )
    size = len(rows)
    sentinel, pascal, point, storm, flood, damp, flag, blank, alien, low, double, note = w.spots(
        rng, size, 12, apart=12
    )
    rows[sentinel][2] = "-999,0"
    rows[pascal][4] = str(rng.randint(100_900, 101_900)) + ",0"
    rows[point][2] = "21.4"
    rows[storm][5] = dec(rng.uniform(71, 96))
    rows[flood][7] = dec(rng.uniform(310, 480))
    rows[damp][3] = str(rng.randint(131, 168))
    rows[flag][9] = "X"
    rows[blank][3] = ""
    rows[alien][0] = "TEST-01"
    rows[low][8] = "3,0" + str(rng.randint(1, 9))
    rows[double] = list(rows[double - 5])
    rows[note].append("sensor replaced by J. Brandt")
    free = [
        k for k in range(int(size * 0.2), int(size * 0.8)) if all(abs(k - x) > 110 for x in (double, alien))
    ]
    gap = rng.choice(free or list(range(int(size * 0.2), int(size * 0.8))))
    dead, holes = rows[gap][0], []
    for k in range(gap, gap + 5 * 18, 5):
        if (
            k < size
            and rows[k][0] == dead
            and k not in (sentinel, pascal, point, storm, flood, damp, flag, blank, low, note)
        ):
            holes.append(k)  # noqa: PERF401
    lost = [rows[k][1] for k in holes]
    kept = [k for k in range(size) if k not in set(holes)]
    place = {k: i for i, k in enumerate(kept)}
    rows, marks = [rows[k] for k in kept], place
    header = "station;time;temp_c;humidity_pct;pressure_hpa;wind_ms;wind_dir;rain_mm;battery_v;quality"
    text = "\n".join([header, *(";".join(row) for row in rows)]) + "\n"
    t = Lines(2)

    def one(what: str, k: int, column: int, more: list[object], *searches: str) -> None:
        i = marks[k]
        row = rows[i]
        value = row[column]
        telling = [value, *more] + ([value.replace(",", ".")] if "," in value else [])
        t.n.say(
            what,
            pairs(telling, [i + 2, row[1], row[1].replace(" ", "T"), f"#{i + 1}"]),
            *searches,
            line=i + 2,
        )

    one("sentinel", sentinel, 2, ["-999"], "-999", "temp_c")
    one("outlier", pascal, 4, [rows[marks[pascal]][4][:-2]], rows[marks[pascal]][4][:4])
    one("changed type", point, 2, [], "21.4")
    one("outlier", storm, 5, [], rows[marks[storm]][5], "wind_ms")
    one("outlier", flood, 7, [], rows[marks[flood]][7], "rain_mm")
    one("outlier", damp, 3, [], rows[marks[damp]][3], "humidity_pct")
    i = marks[flag]
    t.n.say(
        "rare value",
        tuple(
            (a, b)
            for a in (";X", '"X"', "`X`", "quality X", "quality=X", "X (1", "X ×1", "X: 1", "X 1")
            for b in (str(i + 2), rows[i][1])
        ),
        ";X",
        "quality",
        line=i + 2,
    )
    i = marks[blank]
    t.n.say(
        "missing field",
        tuple((a, "humidity", b) for a in (str(i + 2), rows[i][1]) for b in w.GONE)
        + tuple((a, "humidity_pct") for a in (str(i + 2), rows[i][1])),
        ";;",
        "humidity_pct",
        line=i + 2,
        derived=True,
    )
    one("rare value", alien, 0, [], "TEST")
    one("outlier", low, 8, [], rows[marks[low]][8], "battery_v")
    i = marks[double]
    twice = (rows[i][0], rows[i][1])
    t.n.say(
        "duplicate",
        (
            *tuple((*twice, word) for word in w.SAME),
            (str(i + 2), str(i - 3), "duplicate"),
            (str(i + 2), "duplicate"),
            (str(i + 2), "identical"),
        ),
        rows[i][1],
        line=i + 2,
        derived=True,
    )
    one("changed shape", note, 10, ["11 fields", "11 columns", "extra"], "replaced", "sensor")
    t.n.say(
        "gap",
        tuple((dead, lost[0][-5:], word) for word in ("gap", "missing", "no ", "absent"))
        + tuple((dead, one) for one in (lost[0], lost[-1])),
        dead,
        lost[0][:13],
        derived=True,
    )
    most = Counter(row[9] for row in rows)
    t.n.say("count", w.count("B", most["B"], "quality B"), ";B", derived=True)
    t.n.say(
        "total",
        w.total(len(rows), "rows", "records", "lines", "readings", "entries"),
        "station",
        derived=True,
    )
    ends = sorted(row[1] for row in rows)
    t.n.say("range", w.span(ends[0], ends[-1]), ends[0][:7], derived=True)
    return t.n.parts(text)


@kind("postgres_log", "rows")
def postgres_log(rng: random.Random) -> Parts:
    """The log of a PostgreSQL server with log_line_prefix '%m [%p] %q%u@%d '."""
    size = rng.randint(760, 830)
    clock = w.Clock(rng, datetime(2025, 5, rng.randint(4, 20), 6), 1, 26)
    gap = rng.randint(int(size * 0.25), int(size * 0.75))
    rows: list[list[str]] = []
    tables = rng.sample(w.NOUNS, 22)
    for i in range(size):
        if i == gap:
            clock.now += timedelta(minutes=rng.randint(150, 210))
        now = clock.tick()
        stamp = f"{now:%Y-%m-%d %H:%M:%S}.{rng.randint(0, 999):03d} UTC"
        who = w.pick(rng, {"shop@shop": 70, "report@shop": 20, "etl@dwh": 10})
        a = rng.choice(tables)
        message = w.pick(rng, {"duration": 66, "checkpoint": 7, "vacuum": 7, "connection": 14, "unique": 6})
        level, pid = "LOG", str(rng.randint(1200, 32000))
        if message == "duration":
            sql = rng.choice(
                (
                    f"SELECT * FROM {a}s WHERE id = {rng.randint(1, 90000)}",  # noqa: S608
                    f"UPDATE {a}s SET state = 'done' WHERE id = {rng.randint(1, 90000)}",  # noqa: S608
                    f"INSERT INTO {a}s (name, state) VALUES ('{rng.choice(w.ADJECTIVES)}', 'new')",  # noqa: S608
                )
            )
            message = f"duration: {w.near(rng, 140, 60, 50.1, 390):.3f} ms  statement: {sql}"
        elif message == "checkpoint":
            who, message = (
                "",
                (
                    f"checkpoint complete: wrote {rng.randint(200, 3900)} buffers ({rng.uniform(1, 20):.1f}%); 0 "
                    f"WAL file(s) added, 0 removed, {rng.randint(1, 6)} recycled; write={rng.uniform(20, 260):.3f} s"
                ),
            )
        elif message == "vacuum":
            who, message = "", f'automatic vacuum of table "shop.public.{a}s": index scans: 1'
        elif message == "connection":
            user, base = who.split("@")
            message = f"connection authorized: user={user} database={base} SSL enabled (protocol=TLSv1.3)"
        else:
            level, message = "ERROR", f'duplicate key value violates unique constraint "{a}s_name_key"'
        rows.append([stamp, pid, who, level, message])
    dead, slots, disk, slow, drop, leak, page, kill, wal, cancel, plain, auth = w.spots(rng, size, 12)

    def put(i: int, who: str, level: str, message: str) -> None:
        rows[i][2:] = [who, level, message]

    put(dead, "etl@dwh", "ERROR", "deadlock detected")
    put(
        slots,
        "report@shop",
        "FATAL",
        "remaining connection slots are reserved for roles with the SUPERUSER attribute",
    )
    put(disk, "", "PANIC", 'could not write to file "pg_wal/xlogtemp.2211": No space left on device')
    took = f"{rng.randint(1_900_000, 3_400_000)}.{rng.randint(100, 998)}"
    put(
        slow,
        "report@shop",
        "LOG",
        f"duration: {took} ms  statement: SELECT count(*) FROM {tables[0]}s, {tables[1]}s",  # noqa: S608
    )
    put(drop, "shop@shop", "LOG", f"duration: 88.120 ms  statement: DROP TABLE {tables[2]}s_archive CASCADE")
    password = w.alnum(rng, 20)
    put(
        leak,
        "postgres@shop",
        "LOG",
        f"duration: 61.004 ms  statement: ALTER ROLE report WITH PASSWORD '{password}'",
    )
    block = rng.randint(100_000, 400_000)
    put(page, "shop@shop", "ERROR", f"invalid page in block {block} of relation base/16401/24713")
    victim = rng.randint(40_000, 60_000)
    put(kill, "", "LOG", f"server process (PID {victim}) was terminated by signal 9: Killed")
    put(
        wal,
        "repl@[unknown]",
        "ERROR",
        "requested WAL segment 000000010000004A000000C3 has already been removed",
    )
    put(cancel, "report@shop", "ERROR", "canceling statement due to statement timeout")
    put(plain, "shop@shop", "LOG", "connection authorized: user=shop database=shop")
    put(
        auth,
        "admin@shop",
        "FATAL",
        'no pg_hba.conf entry for host "91.240.118.9", user "admin", database "shop", no encryption',
    )
    text = (
        "\n".join(
            f"{s} [{p}] {who + ' ' if who else ''}{level}:  {message}" for s, p, who, level, message in rows
        )
        + "\n"
    )
    t = Lines()

    def one(
        what: str, i: int, telling: list[object], more: list[object], *searches: str, hidden: str = ""
    ) -> None:
        t.one(what, i, telling, [rows[i][0][:19], f"[{rows[i][1]}]", *more], *searches, hidden=hidden)

    one("error", dead, ["deadlock"], ["etl@dwh"], "deadlock")
    one("error", slots, ["connection slots"], ["FATAL", "report@shop"], "FATAL", "slots")
    one("error", disk, ["No space left"], ["PANIC", "pg_wal"], "PANIC", "No space")
    one("outlier", slow, [took, took.split(".")[0]], ["duration", "report@shop"], took[:4], "duration")
    one("rare value", drop, ["DROP TABLE"], [f"{tables[2]}s_archive", "CASCADE"], "DROP")
    one(
        "secret",
        leak,
        ["ALTER ROLE", "postgres@shop"],
        ["PASSWORD", "secret"],
        "PASSWORD",
        "ALTER ROLE",
        hidden=password,
    )
    one("error", page, ["invalid page"], [block, "24713"], "invalid page")
    one("error", kill, ["terminated by signal", "signal 9"], [victim, "Killed"], "terminated", "signal")
    one(
        "error",
        wal,
        ["already been removed", "WAL segment"],
        ["repl@", "000000010000004A000000C3"],
        "removed",
        "WAL segment",
    )
    one("rare value", cancel, ["statement timeout"], ["report@shop", "canceling"], "canceling", "timeout")
    one("error", auth, ["pg_hba.conf", "91.240.118.9"], ["admin", "FATAL"], "pg_hba", "FATAL")
    a, b = rows[gap - 1][0][:16], rows[gap][0][:16]
    t.n.say(
        "gap",
        (
            (a, b),
            (a[-5:], b[-5:], "gap"),
            *((x, word) for x in (a, b) for word in ("gap", "silence", "pause")),
        ),
        a,
        b,
        line=gap + 1,
        derived=False,
    )
    levels = Counter(row[3] for row in rows)
    t.n.say("count", w.count("ERROR", levels["ERROR"]), "ERROR", derived=True)
    t.n.say("count", w.count("LOG", levels["LOG"]), "LOG:", derived=True)
    t.n.say("total", w.total(size, "lines", "rows", "records", "entries", "messages"), "UTC", derived=True)
    t.n.say("range", w.span(rows[0][0][:16], rows[-1][0][:16]), rows[0][0][:10], derived=True)
    return t.n.parts(text)


@kind("cloudtrail_jsonl", "rows")
def cloudtrail_jsonl(rng: random.Random) -> Parts:
    """Records of AWS CloudTrail, one JSON object in each line."""
    size = rng.randint(125, 145)
    staff = [one.lower().replace(" ", ".") for one in w.people(rng, 8)]
    account = str(rng.randint(10**11, 10**12 - 1))
    clock = w.Clock(rng, datetime(2025, 9, rng.randint(2, 24), 5), 20, 400)
    names = {
        "DescribeInstances": ("ec2", 28),
        "GetObject": ("s3", 22),
        "AssumeRole": ("sts", 18),
        "ListBuckets": ("s3", 10),
        "PutObject": ("s3", 10),
        "GetParameter": ("ssm", 8),
        "RunInstances": ("ec2", 4),
    }
    rows: list[dict] = []
    for _ in range(size):
        name = w.pick(rng, {key: value[1] for key, value in names.items()})
        user, now = rng.choice(staff), f"{clock.tick():%Y-%m-%dT%H:%M:%SZ}"
        row = {
            "eventVersion": "1.11",
            "userIdentity": {
                "type": "IAMUser",
                "principalId": "AIDA" + w.upper(rng, 17),
                "arn": f"arn:aws:iam::{account}:user/{user}",
                "accountId": account,
                "userName": user,
            },
            "eventTime": now,
            "eventSource": f"{names[name][0]}.amazonaws.com",
            "eventName": name,
            "awsRegion": "eu-west-1",
            "sourceIPAddress": w.ip(rng, "10.40"),
            "userAgent": rng.choice(("aws-cli/2.15.30", "Boto3/1.34.69", "console.amazonaws.com")),
            "requestParameters": {"maxResults": rng.choice((50, 100))}
            if name not in ("GetObject", "PutObject")
            else {
                "bucketName": f"acme-{rng.choice(w.SERVICES)}",
                "key": f"{rng.choice(w.NOUNS)}/{w.hexes(rng, 8)}.json",
            },
            "responseElements": None,
            "requestID": w.uuid(rng),
            "eventID": w.uuid(rng),
            "readOnly": name[:3] in ("Des", "Get", "Lis"),
            "eventType": "AwsApiCall",
            "managementEvent": True,
            "recipientAccountId": account,
            "eventCategory": "Management",
        }
        if rng.random() < 0.06:
            row.update(
                errorCode="AccessDenied",
                errorMessage=f"User is not authorized to perform: {names[name][0]}:{name}",
            )
        rows.append(row)
    root, stop, public, region, lost, double, back, leak, admin, cross, fast, key = w.spots(
        rng, size, 12, apart=4
    )
    rows[root].update(
        eventName="ConsoleLogin", eventSource="signin.amazonaws.com", additionalEventData={"MFAUsed": "No"}
    )
    rows[root]["userIdentity"] = {
        "type": "Root",
        "principalId": account,
        "arn": f"arn:aws:iam::{account}:root",
        "accountId": account,
    }
    rows[stop].update(
        eventName="StopLogging",
        eventSource="cloudtrail.amazonaws.com",
        requestParameters={"name": "org-trail"},
    )
    rows[public].update(
        eventName="PutBucketPolicy",
        requestParameters={"bucketName": "acme-ledger-raw", "policy": {"Principal": "*", "Effect": "Allow"}},
    )
    rows[region]["awsRegion"] = "ap-southeast-3"
    del rows[lost]["userAgent"]
    rows[double]["eventID"] = rows[double - 2]["eventID"]
    rows[back]["eventTime"] = "2023-02-1" + rows[back]["eventTime"][9:]
    secret = w.alnum(rng, 24)
    rows[leak].update(
        eventName="CreateDBInstance",
        eventSource="rds.amazonaws.com",
        requestParameters={
            "dBInstanceIdentifier": "shop-copy",
            "masterUserPassword": secret,
            "publiclyAccessible": True,
        },
    )
    rows[admin].update(
        eventName="AttachUserPolicy",
        eventSource="iam.amazonaws.com",
        requestParameters={
            "userName": "svc-temp",
            "policyArn": "arn:aws:iam::aws:policy/AdministratorAccess",
        },
    )
    other = str(rng.randint(10**11, 10**12 - 1))
    rows[cross]["userIdentity"].update(type="AWSAccount", accountId=other)
    many = rng.randint(300, 480)
    rows[fast].update(
        eventName="RunInstances",
        requestParameters={"instanceType": "p5.48xlarge", "minCount": many, "maxCount": many},
    )
    rows[key].update(errorCode="KMS.DisabledException", errorMessage="key 7c41 is disabled")
    text = "\n".join(json.dumps(row) for row in rows) + "\n"
    n = Notes()

    def one(
        what: str, i: int, telling: list[object], more: list[object], *searches: str, hidden: str = ""
    ) -> None:
        names = [i + 1, rows[i]["eventID"][:8] + "-", rows[i]["eventTime"], f"#{i}", *more]
        n.say(what, pairs(telling, names), *searches, line=i + 1, hidden=hidden)

    one("rare value", root, ["ConsoleLogin"], ["Root", "MFAUsed"], "ConsoleLogin", "Root")
    one("rare value", stop, ["StopLogging"], ["org-trail", "cloudtrail"], "StopLogging")
    one("rare value", public, ["PutBucketPolicy"], ["acme-ledger-raw", "*"], "PutBucketPolicy", "policy")
    one("rare value", region, ["ap-southeast-3"], ["awsRegion"], "ap-southeast-3", "awsRegion")
    n.say(
        "missing field",
        w.gone(
            [
                rows[lost]["eventID"],
                rows[lost]["eventTime"],
                f"#{lost}",
                f"line {lost + 1}",
                f"item {lost}",
                f"/{lost}",
            ],
            "userAgent",
        ),
        "userAgent",
        line=0,
        derived=True,
    )
    n.say(
        "duplicate",
        (
            *w.same(rows[double]["eventID"], double - 1, double + 1)[:-1],
            (f"line {double - 1}", f"{double + 1}", "eventID"),
            (f"/{double - 2}/", f"/{double}/", "eventID"),
            *tuple((rows[double]["eventID"][:8], x) for x in ("duplicate", "twice", "2 times")),
        ),
        "eventID",
        rows[double]["eventID"][:8],
        line=double + 1,
        derived=True,
    )
    one("time jump", back, [rows[back]["eventTime"][:10]], ["eventTime"], "2023-02")
    one(
        "secret",
        leak,
        ["masterUserPassword", "CreateDBInstance"],
        ["password", "secret", "shop-copy"],
        "masterUserPassword",
        "Password",
        hidden=secret,
    )
    one(
        "rare value",
        admin,
        ["AdministratorAccess", "AttachUserPolicy"],
        ["svc-temp"],
        "AdministratorAccess",
        "AttachUserPolicy",
    )
    one("rare value", cross, [other, "AWSAccount"], ["accountId", "AWSAccount"], "AWSAccount", "accountId")
    one(
        "outlier",
        fast,
        ["p5.48xlarge", many],
        ["minCount", "maxCount", "RunInstances"],
        "maxCount",
        "p5.48xlarge",
    )
    one("error", key, ["KMS.DisabledException"], ["errorCode", "disabled"], "errorCode", "Disabled")
    events = Counter(row["eventName"] for row in rows)
    n.say(
        "count", w.count("DescribeInstances", events["DescribeInstances"]), "DescribeInstances", derived=True
    )
    denied = sum(row.get("errorCode") == "AccessDenied" for row in rows)
    if denied > 1:
        n.say("count", w.count("AccessDenied", denied), "AccessDenied", derived=True)
    n.say(
        "total",
        w.total(size, "rows", "records", "lines", "events", "objects", "items"),
        "eventName",
        derived=True,
    )
    rest = sorted(row["eventTime"] for i, row in enumerate(rows) if i != back)
    n.say(
        "range",
        (*w.span(rest[0][:16], rest[-1][:16]), *w.span(rows[back]["eventTime"][:16], rest[-1][:16])),
        rest[0][:10],
        derived=True,
    )
    return n.parts(text)


@kind("actions_runs", "rows")
def actions_runs(rng: random.Random) -> Parts:
    """The answer of GitHub's list of workflow runs: {total_count, workflow_runs: [run]}."""
    size = 100
    people = [one.split()[0].lower() + rng.choice(("", "-dev", "42")) for one in w.people(rng, 9)]
    flows = {"ci": 60, "lint": 25, "docs": 15}
    ident, number = rng.randint(9_100_000_000, 9_900_000_000), rng.randint(4000, 7000)
    clock = w.Clock(rng, datetime(2025, 6, 3, 7), 200, 4000)
    runs: list[dict] = []
    for i in range(size):
        start = clock.tick()
        end = start + timedelta(seconds=w.near(rng, 400, 150, 60, 1000))
        name, who, sha = w.pick(rng, flows), rng.choice(people), w.hexes(rng, 40)
        event = w.pick(rng, {"push": 55, "pull_request": 45})
        runs.append(
            {
                "id": ident + 7919 * i,
                "name": name,
                "node_id": f"WFR_kwLO{w.alnum(rng, 16)}",
                "head_branch": f"{rng.choice(w.VERBS)}-{rng.choice(w.NOUNS)}"
                if event == "pull_request"
                else "main",
                "head_sha": sha,
                "path": f".github/workflows/{name}.yml",
                "display_title": w.title(rng),
                "run_number": number + i,
                "event": event,
                "status": "completed",
                "conclusion": w.pick(rng, {"success": 78, "failure": 13, "cancelled": 9}),
                "workflow_id": {"ci": 7101, "lint": 7102, "docs": 7103}[name],
                "url": f"https://api.github.com/repos/acme/shop/actions/runs/{ident + 7919 * i}",
                "created_at": f"{start:%Y-%m-%dT%H:%M:%SZ}",
                "updated_at": f"{end:%Y-%m-%dT%H:%M:%SZ}",
                "actor": {"login": who, "type": "User", "site_admin": False},
                "run_attempt": rng.choice((1, 1, 1, 1, 2)),
                "run_started_at": f"{start:%Y-%m-%dT%H:%M:%SZ}",
                "head_commit": {
                    "id": sha,
                    "message": w.title(rng),
                    "author": {"name": who, "email": f"{who}@acme.example"},
                },
            }
        )
    broken, slow, tries, hole, double, robot, wait, lost, back, leak, tag, fork = w.spots(
        rng, size, 12, apart=3
    )
    runs[broken]["conclusion"] = "startup_failure"
    runs[slow]["conclusion"] = "timed_out"
    tried = rng.randint(34, 88)
    runs[tries]["run_attempt"] = tried
    for run in runs[hole:]:
        run["run_number"] += 9
    runs[double]["id"] = runs[double - 1]["id"]
    runs[robot]["actor"] = {"login": "release-helper[bot]", "type": "Bot", "site_admin": False}
    runs[wait].update(status="waiting", conclusion=None)
    runs[lost]["head_commit"] = None
    runs[back]["updated_at"] = "2025-01-0" + str(rng.randint(2, 8)) + runs[back]["updated_at"][10:]
    token = "ghp_" + w.alnum(rng, 36)
    runs[leak]["display_title"] = f"Debug: curl -H 'Authorization: token {token}' deploy"
    runs[tag].update(event="workflow_dispatch", head_branch="hotfix-prod-db")
    runs[fork]["head_repository"] = {"full_name": "unknown-user/shop", "fork": True}
    stated = rng.randint(2100, 3900)
    data = {"total_count": stated, "workflow_runs": runs}
    n, base = Notes(), "/workflow_runs"

    def one(what: str, i: int, telling: list[object], field: str, *searches: str, hidden: str = "") -> None:
        n.say(
            what,
            w.known(telling, [runs[i]["id"], runs[i]["run_number"]], base, i),
            *searches,
            pointer=f"{base}/{i}/{field}",
            hidden=hidden,
        )

    one("rare value", broken, ["startup_failure"], "conclusion", "startup_failure", "conclusion")
    one("rare value", slow, ["timed_out"], "conclusion", "timed_out", "conclusion")
    one("outlier", tries, [tried], "run_attempt", "run_attempt")
    before, after = runs[hole - 1]["run_number"], runs[hole]["run_number"]
    n.say(
        "gap",
        w.gap(range(before + 1, after), before, after),
        "run_number",
        pointer=f"{base}/{hole}/run_number",
        derived=True,
    )
    n.say(
        "duplicate",
        w.same(runs[double]["id"], f"{base}/{double - 1}", f"{base}/{double}"),
        str(runs[double]["id"]),
        "id",
        pointer=f"{base}/{double}/id",
        derived=True,
    )
    one("rare value", robot, ["release-helper", '"Bot"'], "actor/login", "bot", "Bot")
    one("rare value", wait, ["waiting"], "status", "waiting", "status")
    n.say(
        "missing field",
        tuple(
            (a, "head_commit", b)
            for a in (str(runs[lost]["id"]), str(runs[lost]["run_number"]), *w.spot(base, lost))
            for b in ("null", "missing", "none", "empty", "absent", "∅")
        ),
        "head_commit",
        "null",
        pointer=f"{base}/{lost}/head_commit",
    )
    one("time jump", back, [runs[back]["updated_at"][:10]], "updated_at", "2025-01", "updated_at")
    one(
        "secret",
        leak,
        ["display_title", "Authorization", "ghp_", "token"],
        "display_title",
        "token",
        "ghp_",
        hidden=token,
    )
    one("rare value", tag, ["workflow_dispatch", "hotfix-prod-db"], "event", "workflow_dispatch", "hotfix")
    one(
        "changed shape",
        fork,
        ["head_repository", "unknown-user"],
        "head_repository",
        "head_repository",
        "fork",
    )
    n.say("contradiction", (("total_count", str(stated)),), "total_count", pointer="/total_count")
    ends = Counter(run["conclusion"] for run in runs)
    n.say("count", w.count("success", ends["success"]), "success", derived=True)
    n.say("count", w.count("failure", ends["failure"]), "failure", derived=True)
    n.say(
        "range", w.span(runs[0]["created_at"][:10], runs[-1]["created_at"][:10]), "created_at", derived=True
    )
    return n.parts(json.dumps(data, indent=2))
