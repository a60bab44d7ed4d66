"""What programs print, documents and code."""

import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity.planted import Parts, kind

from . import words as w
from .words import Notes, pairs


class Page:
    """Lines with remembered places."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.at: dict[str, int] = {}

    def add(self, *lines: str, mark: str = "") -> None:
        """Add lines; the mark remembers the first of them."""
        if mark:
            self.at[mark] = len(self.lines) + 1
        self.lines += lines

    def text(self) -> str:
        assert not any("\n" in line for line in self.lines)
        return "\n".join(self.lines) + "\n"


class Told:
    """Facts about marked lines of a page."""

    def __init__(self, page: Page) -> None:
        self.page, self.n = page, Notes()

    def one(self, what: str, mark: str, telling: list[str], more: list[str], *searches: str, hidden: str = "",
            derived: bool = False) -> None:
        line = self.page.at[mark]
        self.n.say(what, pairs(telling, [*more, line]), *searches, line=line, hidden=hidden, derived=derived)


@kind("go_test", "printed")
def go_test(rng: random.Random) -> Parts:
    """`go test -v -race -cover ./...`: === RUN, --- PASS lines and one line for each package."""
    page = Page()
    packs = w.distinct(rng, 46, lambda r: f"{r.choice(w.SERVICES)}/{r.choice(w.NOUNS)}")
    base = "git.acme.example/shop/"
    fail, boom, race, build, slow, low, skip, leak = w.spots(rng, 46, 8, apart=2, low=0.08)
    seen: set[str] = set()
    runs = passed = bare = 0
    marks: dict[str, str] = {}
    for i, pack in enumerate(packs):
        if i not in (fail, boom, race, build, slow, low, skip, leak) and rng.random() < 0.2:
            page.add(f"?   \t{base}{pack}\t[no test files]")
            bare += 1
            continue
        if i == build:
            page.add(f"# {base}{pack} [{base}{pack}.test]",
                     f"{pack}/store_test.go:41:17: not enough arguments in call to NewStore",
                     "\thave (string)",
                     "\twant (string, time.Duration)", f"FAIL\t{base}{pack} [build failed]", mark="build")
            continue
        count = rng.randint(22, 38)
        odd = rng.randint(6, count - 4)
        for k in range(count):
            while True:
                name = "Test" + w.camel(rng.choice(w.VERBS), rng.choice(w.ADJECTIVES), rng.choice(w.NOUNS))
                if name not in seen:
                    break
            seen.add(name)
            runs += 1
            page.add(f"=== RUN   {name}")
            took = f"{max(0.0, rng.expovariate(40)):.2f}"
            if k != odd or i not in (fail, boom, race, skip, leak):
                if rng.random() < 0.03:
                    page.add(f"    {pack.split('/')[1]}_test.go:{rng.randint(20, 300)}: using temporary "
                             f"directory")
                page.add(f"--- PASS: {name} ({took}s)")
                passed += 1
                continue
            here = f"{pack.split('/')[1]}_test.go"
            marks[{fail: "fail", boom: "boom", race: "race", skip: "skip", leak: "leak"}[i]] = name
            if i == fail:
                page.add(f"    {here}:118: total after discount: got 1899, want 1709",
                    f"--- FAIL: {name} ({took}s)", mark="fail")
            elif i == boom:
                page.add("panic: runtime error: invalid memory address or nil pointer dereference "
                         "[recovered]",
                         "\tpanic: runtime error: invalid memory address or nil pointer dereference",
                         "[signal SIGSEGV: segmentation violation code=0x1 addr=0x28 pc=0x6f2b1c]", "",
                         "goroutine 84 [running]:",
                         f"{base}{pack}.(*Ledger).Apply(0x0, {{0xc0001a2000, 0x3}})",
                         f"\t/src/{pack}/ledger.go:77 +0x3c", mark="boom")
                break
            elif i == race:
                page.add("==================", "WARNING: DATA RACE",
                    "Write at 0x00c00012e0f8 by goroutine 31:",
                         f"  {base}{pack}.(*Counter).Add()", f"      /src/{pack}/counter.go:52 +0x64", "",
                         "Previous read at 0x00c00012e0f8 by goroutine 29:",
                         f"  {base}{pack}.(*Counter).Value()",
                         f"      /src/{pack}/counter.go:58 +0x44", "==================",
                         "    testing.go:1465: race detected during execution of test",
                         f"--- FAIL: {name} ({took}s)", mark="race")
            elif i == skip:
                page.add(f"    {here}:31: skipped: needs DATABASE_URL", f"--- SKIP: {name} (0.00s)",
                    mark="skip")
            else:
                token = "xoxb-" + str(rng.randint(10**11, 10**12 - 1)) + "-" + w.alnum(rng, 24)
                page.add(f"    {here}:64: posting with SLACK_BOT_TOKEN={token}",
                    f"--- PASS: {name} ({took}s)", mark="leak")
                passed += 1
        cover = w.near(rng, 78, 7, 61, 94)
        took = f"{w.near(rng, 0.9, 0.6, 0.02, 3.4):.3f}"
        if i == slow:
            took = f"{rng.randint(240, 410)}.{rng.randint(100, 998)}"
            marks["slow"] = took
        if i == low:
            cover = rng.uniform(1.1, 3.9)
            marks["low"] = f"{cover:.1f}%"
        mark = {slow: "slow", low: "low"}.get(i, "")
        if i in (fail, boom, race):
            page.add("FAIL", f"FAIL\t{base}{pack}\t{took}s")
        else:
            page.add("PASS", f"coverage: {cover:.1f}% of statements",
                     f"ok  \t{base}{pack}\t{took}s\tcoverage: {cover:.1f}% of statements")
            if mark:
                page.at[mark] = len(page.lines)
    page.add("FAIL", mark="end")
    t = Told(page)
    t.one("failing test", "fail", ["got 1899", "want 1709", "1899"], [marks["fail"], packs[fail]], "FAIL",
        "--- FAIL")
    t.one("error", "boom", ["nil pointer", "SIGSEGV", "panic"],
        [marks["boom"], packs[boom], "ledger.go", "Ledger"],
          "panic", "SIGSEGV")
    t.one("failing test", "race", ["DATA RACE", "race detected"], [marks["race"], packs[race], "counter.go"],
        "DATA RACE",
          "race")
    t.one("error", "build", ["build failed", "NewStore", "not enough arguments"], [packs[build]],
        "build failed",
          "not enough")
    t.one("outlier", "slow", [marks["slow"]], [packs[slow]], "ok  ", "slow")
    t.one("outlier", "low", [marks["low"]], [packs[low]], "coverage")
    t.one("rare value", "skip", ["SKIP"], [marks["skip"], "DATABASE_URL"], "SKIP")
    t.one("secret", "leak", ["SLACK_BOT_TOKEN", "xoxb", "slack"],
        ["posting with", packs[leak], marks["leak"]],
          "TOKEN", "xoxb", hidden=token)
    failed = [packs[i] for i in sorted((fail, boom, race, build))]
    t.n.say("summary", (tuple(failed), *w.count("FAIL", 4, "failed", "failures"), ("4 packages", "fail"),
                        ("4 of", "packages"), ("4 failed",)), "FAIL\t", "FAIL", derived=True)
    t.n.say("count", w.count("PASS", passed, "passed", "--- PASS"), "--- PASS", derived=True)
    t.n.say("total", w.total(runs, "tests", "RUN", "=== RUN"), "=== RUN", derived=True)
    t.n.say("count", w.count("no test files", bare, "[no test files]"), "no test files", derived=True)
    return t.n.parts(page.text())


@kind("eslint", "printed")
def eslint(rng: random.Random) -> Parts:
    """ESLint's stylish output: a path, then line:column, severity, message and rule, and a sum at the end."""
    page = Page()
    warn = {
        "no-unused-vars": ("'{}' is defined but never used", 26),
        "no-console": ("Unexpected console statement", 22),
        "prefer-const": ("'{}' is never reassigned. Use 'const' instead", 16),
        "max-len": ("This line has a length of {n}. Maximum allowed is 120", 14),
        "react/prop-types": ("'{}' is missing in props validation", 12),
        "import/order": ("`./{}` import should occur before import of `../{}`", 10),
    }
    files = w.distinct(rng, 165,
        lambda r: f"/repo/web/src/{r.choice(w.SERVICES)}/{w.camel(*r.sample(w.NOUNS, 2))}.tsx")
    files.sort()
    tally: Counter[str] = Counter()
    errors = {
        "parse": "Parsing error: Unexpected token, expected \"}\"", "eval": "eval can be harmful",
        "hook": "React Hook \"useOrders\" is called conditionally", "dead": "Unreachable code",
        "self": "Expected '===' and instead saw '=='",
        "rule": "Definition for rule 'security/detect-xss' not found",
        "html": "Dangerous property 'dangerouslySetInnerHTML' found", "dup": "Duplicate key 'currency'",
    }
    rule = {"parse": "", "eval": "no-eval", "hook": "react-hooks/rules-of-hooks", "dead": "no-unreachable",
            "self": "eqeqeq", "rule": "security/detect-xss", "html": "react/no-danger", "dup": "no-dupe-keys"}
    hosts = dict(zip(errors, w.spots(rng, len(files), len(errors), apart=4)))
    crowded = next(i for i in w.spots(rng, len(files), 40, apart=2)
        if all(abs(i - h) > 2 for h in hosts.values()))
    per_file, where = {}, {}
    for i, path in enumerate(files):
        page.add(path, mark=path)
        many = rng.randint(96, 128) if i == crowded else rng.choices((2, 4, 6, 9, 12),
            (20, 25, 25, 20, 10))[0]
        spots = sorted(rng.sample(range(3, 480), many))
        mine = [name for name, host in hosts.items() if host == i]
        place = rng.randrange(many)
        for k, at in enumerate(spots):
            column = rng.randint(1, 60)
            if mine and k == place:
                page.add(f"  {at:>3}:{column:<3} error    {errors[mine[0]]}  {rule[mine[0]]}".rstrip(),
                    mark=mine[0])
                where[mine[0]] = f"{at}:{column}"
                continue
            name = w.pick(rng, {key: value[1] for key, value in warn.items()})
            noun = w.lower_camel(*rng.sample(w.NOUNS, 2))
            message = warn[name][0].replace("{n}", str(rng.randint(121, 158))).replace("{}", noun)
            page.add(f"  {at:>3}:{column:<3} warning  {message}  {name}")
            tally[name] += 1
        per_file[path] = many
        page.add("")
    all_warn = sum(tally.values())
    page.add(f"✖ {all_warn + 8} problems (8 errors, {all_warn} warnings)",
             f"  0 errors and {tally['prefer-const'] + tally['import/order']} warnings potentially fixable "
             f"with the `--fix` option.",
             "", mark="end")
    t = Told(page)
    words = {"parse": ["Parsing error"], "eval": ["no-eval", "eval can be harmful"],
        "hook": ["useOrders", "rules-of-hooks"],
             "dead": ["Unreachable", "no-unreachable"], "self": ["eqeqeq", "'==='"],
             "rule": ["detect-xss"], "html": ["no-danger", "dangerouslySetInnerHTML"],
             "dup": ["no-dupe-keys", "Duplicate key"]}
    for name, host in hosts.items():
        file = files[host].rsplit("/", 1)[1]
        t.one("error", name, words[name], [file, where[name]], "error  ", "error")
    full = files[crowded]
    t.n.say("outlier", w.count(full.rsplit("/", 1)[1], per_file[full]), "warning",
            line=page.at[full], derived=True)
    t.n.say("summary", ((f"{all_warn + 8} problems", "8 errors"), ("8 errors", str(all_warn))), "problems",
        "✖",
            line=page.at["end"])
    for name in ("no-unused-vars", "no-console", "max-len"):
        t.n.say("count", w.count(name, tally[name]), name, derived=True)
    t.n.say("total", w.total(len(files), "files", "paths", "headings", "groups"), "/repo/web/src",
        derived=True)
    return t.n.parts(page.text())


@kind("jstack", "printed")
def jstack(rng: random.Random) -> Parts:
    """A thread dump of the JVM as jstack prints it (threads with state and frames, then deadlocks)."""
    page = Page()
    page.add("2025-06-11 14:22:07",
        "Full thread dump OpenJDK 64-Bit Server VM (21.0.3+9-LTS mixed mode, sharing):", "")
    pools = {"http-nio-8080-exec": 110, "kafka-consumer": 34, "HikariPool-1 housekeeper": 10,
        "scheduling": 28,
             "ForkJoinPool.commonPool-worker": 20, "grpc-default-executor": 44}
    threads = [(f"{pool}-{k}", pool) for pool,
        many in pools.items() for k in range(1, many + rng.randint(1, 9))]
    rng.shuffle(threads)
    hot, blocked, one_side, other, old, ldap, regex, named, deep = w.spots(rng, len(threads), 9)
    states: Counter[str] = Counter()
    mine: dict[str, str] = {}
    lock_a, lock_b, lock_c = ("0x" + w.hexes(rng, 16) for _ in range(3))

    def head(name: str, number: int, cpu: float, elapsed: float, doing: str) -> str:
        daemon = "daemon " if rng.random() < 0.9 else ""
        return (f'"{name}" #{number} [{number + 4000}] {daemon}prio=5 os_prio=0 cpu={cpu:.2f}ms '
                f'elapsed={elapsed:.2f}s '
                f"tid=0x00007f{w.hexes(rng, 10)} nid={number + 4000} {doing}  [0x00007f{w.hexes(rng, 10)}]")

    def frames(many: int) -> list[str]:
        found = []
        for _ in range(many):
            cls = w.camel(rng.choice(w.ADJECTIVES), rng.choice(w.NOUNS))
            found.append(f"\tat com.acme.{rng.choice(w.SERVICES)}.{cls}.{rng.choice(w.VERBS)}({cls}.java:{rng.randint(20, 400)})")
        return found

    park = ["\tat jdk.internal.misc.Unsafe.park(java.base@21.0.3/Native Method)"]
    for i, (name, pool) in enumerate(threads):
        cpu, elapsed, number = w.near(rng, 420, 210, 3, 1300), w.near(rng, 5200, 300, 4100, 6100), 30 + i
        state = w.pick(rng, {"WAITING (parking)": 52, "TIMED_WAITING (parking)": 30, "RUNNABLE": 18})
        doing = "waiting on condition" if "parking" in state else "runnable"
        top = park + [f"\t- parking to wait for  <0x{w.hexes(rng, 16)}> (a "
                      f"java.util.concurrent.SynchronousQueue$Transferer)"]
        if state == "RUNNABLE":
            top = ["\tat sun.nio.ch.EPoll.wait(java.base@21.0.3/Native Method)"]
        body = top + frames(rng.randint(3,
            7)) + ["\tat java.lang.Thread.run(java.base@21.0.3/Thread.java:1583)"]
        if i == named:
            name = "Thread-cryptominer-0"
            state, doing = "RUNNABLE", "runnable"
            body = ["\tat io.rx.hash.CnHash.loop(CnHash.java:212)", *frames(2)]
        if i == hot:
            cpu, state, doing = rng.uniform(3_900_000, 4_800_000), "RUNNABLE", "runnable"
            body = ["\tat com.acme.pricing.RuleMatcher.expand(RuleMatcher.java:418)", *frames(4)]
        if i == old:
            elapsed = rng.uniform(1_900_000, 2_900_000)
        if i == blocked:
            state, doing = "BLOCKED (on object monitor)", "waiting for monitor entry"
            body = ["\tat com.acme.audit.AuditLog.append(AuditLog.java:61)",
                f"\t- waiting to lock <{lock_c}> (a java.io.PrintWriter)",
                    *frames(4)]
        if i in (one_side, other):
            want, have = (lock_a, lock_b) if i == one_side else (lock_b, lock_a)
            state, doing = "BLOCKED (on object monitor)", "waiting for monitor entry"
            cls = "StockService.reserve(StockService.java:133)" if i == one_side else "OrderService.cancel(OrderService.java:207)"
            body = [f"\tat com.acme.core.{cls}", f"\t- waiting to lock <{want}> (a com.acme.core.Account)",
                    *frames(2), f"\t- locked <{have}> (a com.acme.core.Account)", *frames(2)]
        if i == ldap:
            state, doing = "RUNNABLE", "runnable"
            body = ["\tat sun.nio.ch.Net.poll(java.base@21.0.3/Native Method)",
                    "\tat com.sun.jndi.ldap.Connection.readReply(java.naming@21.0.3/Connection.java:441)",
                    *frames(3)]
        if i == regex:
            state, doing = "RUNNABLE", "runnable"
            body = ["\tat java.util.regex.Pattern$GroupCurly.match0(java.base@21.0.3/Pattern.java:4779)",
                    "\tat java.util.regex.Pattern$Loop.match(java.base@21.0.3/Pattern.java:4931)", *frames(3)]
        if i == deep:
            state, doing = "RUNNABLE", "runnable"
            body = ["\tat com.acme.tax.RateTree.walk(RateTree.java:90)"] * rng.randint(230, 280) + frames(2)
            mine["deep"] = str(sum("RateTree" in line for line in body))
        mark = {hot: "hot", blocked: "blocked", one_side: "a", other: "b", old: "old", ldap: "ldap",
            regex: "regex",
                named: "named", deep: "deep"}.get(i, "")
        mine.update({mark: name, mark + "cpu": f"{cpu:.2f}", mark + "for": f"{elapsed:.2f}"} if mark else {})
        if mark == "deep":
            mine["depth"] = str(sum("RateTree" in line for line in body))
        states[state.split()[0]] += 1
        page.add(head(name, number, cpu, elapsed, doing), f"   java.lang.Thread.State: {state}", *body, "",
            mark=mark)
    page.add("Found one Java-level deadlock:", "=============================", f'"{mine["a"]}":',
             f"  waiting to lock monitor 0x{w.hexes(rng, 16)} (object {lock_a}, a com.acme.core.Account),",
             f'  which is held by "{mine["b"]}"', f'"{mine["b"]}":',
             f"  waiting to lock monitor 0x{w.hexes(rng, 16)} (object {lock_b}, a com.acme.core.Account),",
             f'  which is held by "{mine["a"]}"', "", "Found 1 deadlock.", "", mark="dead")
    t = Told(page)
    t.n.say("summary", (("deadlock", mine["a"]), ("deadlock", mine["b"]), ("deadlock", str(page.at["dead"])),
                        ("Found 1 deadlock",), ("Found one Java-level deadlock",)), "deadlock",
                        line=page.at["dead"])
    t.one("outlier", "hot", [mine["hotcpu"], mine["hotcpu"][:-3]], [mine["hot"], "RuleMatcher"], "cpu=",
        "RUNNABLE")
    t.one("outlier", "old", [mine["oldfor"], mine["oldfor"][:-3]], [mine["old"]], "elapsed=")
    t.one("error", "blocked", ["BLOCKED", "AuditLog", "waiting to lock"], [mine["blocked"], "PrintWriter"],
        "BLOCKED",
          "waiting to lock")
    t.one("error", "a", ["StockService"], [mine["a"], "BLOCKED", "waiting to lock"], "BLOCKED",
          "waiting to lock")
    t.one("error", "b", ["OrderService"], [mine["b"], "BLOCKED", "waiting to lock"], "BLOCKED",
          "waiting to lock")
    t.one("rare value", "ldap", ["ldap"], [mine["ldap"], "readReply"], "ldap", "readReply")
    t.one("meaning", "regex", ["regex"], [mine["regex"], "GroupCurly"], "regex", "Pattern")
    t.one("rare value", "named", ["cryptominer"], ["CnHash", "Thread-"], "miner", "Thread-")
    t.n.say("outlier", w.count("RateTree.walk", int(mine["depth"]), "RateTree", "identical", "repeated",
        "the same")
            + pairs(["RateTree"], ["repeat", "recurs", "identical", "same line"]),
            "RateTree", "recursion", line=page.at["deep"], derived=True)
    for state in ("WAITING", "TIMED_WAITING", "RUNNABLE"):
        t.n.say("count", w.count(state, states[state], state + " (parking)"), state, derived=True)
    t.n.say("total", w.total(len(threads), "threads", "blocks", "records", "entries"), "prio=", derived=True)
    return t.n.parts(page.text())


@kind("ansible_play", "printed")
def ansible_play(rng: random.Random) -> Parts:
    """`ansible-playbook`: PLAY, TASK with stars, one line per host, and the PLAY RECAP."""
    page = Page()
    hosts = [f"{role}{k:02d}.prod.acme.example" for role,
        many in (("web", 26), ("app", 22), ("db", 9), ("cache", 6))
             for k in range(1, many)]
    tasks = w.distinct(rng, 36, lambda r: f"{r.choice(w.SERVICES)} : {w.title(r)}")
    fatal, away, lone, leak, ignored, retry, rescued, skew = w.spots(rng, len(tasks), 8, apart=2, low=0.08)
    chosen = rng.sample(hosts, 8)
    h = dict(zip(("fatal", "away", "lone", "leak", "ignored", "retry", "rescued", "skew"), chosen))
    tally = {host: Counter() for host in hosts}
    gone: set[str] = set()

    def stars(line: str) -> str:
        return line + " " + "*" * max(3, 79 - len(line))

    page.add(stars("PLAY [Roll out the shop platform]"), "", stars("TASK [Gathering Facts]"))
    for host in hosts:
        page.add(f"ok: [{host}]")
        tally[host]["ok"] += 1
    page.add("")
    secret = "wJalr" + w.alnum(rng, 35)
    for i, task in enumerate(tasks):
        page.add(stars(f"TASK [{task}]"))
        mood = rng.choices(("ok", "changed", "skipping"), (70, 15, 15))[0]
        if i == lone:
            mood = "ok"
        order = [host for host in hosts if host not in gone]
        order = sorted(order, key=lambda host: rng.random() + hosts.index(host) / 9)
        for host in order:
            if (i, host) == (fatal, h["fatal"]):
                page.add(f'fatal: [{host}]: FAILED! => '
                         f'{{"changed": false, "cmd": ["pg_upgrade", "--check"], "msg": '
                         '"non-zero return code", "rc": 1, "stderr": "Your installation contains '
                         'user-defined '
                         'postfix operators", "stdout": ""}', mark="fatal")
                tally[host]["failed"] += 1
                gone.add(host)
            elif (i, host) == (away, h["away"]):
                page.add(f'fatal: [{host}]: UNREACHABLE! => '
                         f'{{"changed": false, "msg": "Failed to connect to the host via '
                         'ssh: No route to host", "unreachable": true}', mark="away")
                tally[host]["unreachable"] += 1
                gone.add(host)
            elif (i, host) == (lone, h["lone"]):
                page.add(f"changed: [{host}]", mark="lone")
                tally[host].update(("ok", "changed"))
            elif (i, host) == (leak, h["leak"]):
                page.add(f"ok: [{host}] => {{", f'    "aws_secret_access_key": "{secret}"', "}", mark="leak")
                tally[host]["ok"] += 1
            elif (i, host) == (ignored, h["ignored"]):
                page.add(f'fatal: [{host}]: FAILED! => '
                         f'{{"changed": false, "msg": "Unable to stop service ledger: '
                         'Job for ledger.service canceled."}', "...ignoring", mark="ignored")
                tally[host].update(("ok", "ignored"))
            elif (i, host) == (retry, h["retry"]):
                page.add(*(f"FAILED - RETRYING: [{host}]: {task.split(' : ')[1]} ({k} retries left)."
                    for k in (5, 4, 3, 2, 1)),
                         f"ok: [{host}]", mark="retry")
                tally[host]["ok"] += 1
            elif (i, host) == (rescued, h["rescued"]):
                page.add(f'fatal: [{host}]: FAILED! => '
                         f'{{"changed": false, "msg": "checksum mismatch: expected 9f31c0aa got '
                         '77e0d1b2"}', f"ok: [{host}]", mark="rescued")
                tally[host].update(("ok", "rescued"))
            elif (i, host) == (skew, h["skew"]):
                page.add(f"[WARNING]: The clock of {host} differs from the controller by 5417 seconds",
                    f"ok: [{host}]",
                         mark="skew")
                tally[host]["ok"] += 1
            elif mood == "skipping":
                page.add(f"skipping: [{host}]")
                tally[host]["skipped"] += 1
            elif mood == "changed" and rng.random() < 0.8:
                page.add(f"changed: [{host}]")
                tally[host].update(("ok", "changed"))
            else:
                page.add(f"ok: [{host}]")
                tally[host]["ok"] += 1
        page.add("")
    page.add(stars("PLAY RECAP"), mark="recap")
    for host in sorted(hosts):
        parts = " ".join(f"{name}={tally[host][name]:<4}" for name in
                         ("ok", "changed", "unreachable", "failed", "skipped", "rescued", "ignored"))
        page.add(f"{host:<28} : {parts}".rstrip(), mark="recap " + host)
    page.add("")
    t = Told(page)
    short = {key: host.split(".")[0] for key, host in h.items()}
    t.one("error", "fatal", ["postfix operators", "pg_upgrade"], [short["fatal"]], "FAILED!", "fatal")
    t.one("error", "away", ["UNREACHABLE", "No route to host"], [short["away"]], "UNREACHABLE")
    page.at["lone task"] = max(k for k in range(1, page.at["lone"]) if page.lines[k - 1].startswith("TASK"))
    t.n.say("rare value", tuple(("changed", short["lone"], place)
        for place in (tasks[lone][:50], str(page.at["lone"])))
            + pairs([short["lone"]], ["only changed", "1 changed", "changed ×1", "changed: 1"]),
            "changed", line=page.at["lone"], derived=True)
    t.one("secret", "leak", ["aws_secret_access_key", "secret"], [short["leak"]], "secret", "aws_",
        hidden=secret)
    t.one("error", "ignored", ["Unable to stop service", "ignoring"], [short["ignored"], "ledger"],
        "ignoring", "Unable")
    t.one("error", "retry", ["RETRYING", "retries left"], [short["retry"]], "RETRYING")
    t.one("error", "rescued", ["checksum mismatch"], [short["rescued"]], "checksum", "FAILED!")
    t.one("outlier", "skew", ["5417", "clock"], [short["skew"], "WARNING"], "WARNING", "clock")
    for key, word in (("fatal", "failed=1"), ("away", "unreachable=1")):
        t.n.say("summary", ((short[key], word), (short[key], word.replace("=", ": ")),
                            (short[key], word.replace("=", " "), "recap")), "RECAP", word.split("=")[0],
                line=page.at["recap " + h[key]])
    t.n.say("total", w.total(len(hosts), "hosts"), "RECAP", derived=True)
    t.n.say("total", w.total(len(tasks) + 1, "tasks", "TASK"), "TASK [", derived=True)
    changed = sum(one["changed"] for one in tally.values())
    t.n.say("count", w.count("changed", changed), "changed", derived=True)
    return t.n.parts(page.text())


@kind("npm_audit", "printed")
def npm_audit(rng: random.Random) -> Parts:
    """`npm audit`: one block per package with range, severity, advisory, fix and paths, and the sum at the end."""
    page = Page()
    packs = w.distinct(rng, 270, lambda r: f"{r.choice(w.NOUNS)}-{r.choice(w.NOUNS)}")
    packs.sort()
    marks = ("critical", "malware", "nofix", "breaking", "rce", "direct", "old", "self")
    at = dict(zip(marks, w.spots(rng, len(packs), len(marks))))
    here = {place: mark for mark, place in at.items()}
    kinds = ("Regular Expression Denial of Service in {}", "Prototype pollution in {}",
        "{} vulnerable to path traversal",
             "Uncontrolled resource consumption in {}", "Improper input validation in {}")
    tally: Counter[str] = Counter()
    page.add("# npm audit report", "")
    for i, pack in enumerate(packs):
        level = w.pick(rng, {"moderate": 58, "low": 27, "high": 15})
        high = f"{rng.randint(1, 5)}.{rng.randint(0, 9)}.{rng.randint(1, 9)}"
        mark = here.get(i, "")
        about = rng.choice(kinds).format(pack)
        fix = "fix available via `npm audit fix`"
        if mark == "critical":
            level, about = "critical", f"Authentication bypass in {pack} session check"
        if mark == "malware":
            level, about = "critical", f"Malware in {pack}: steals environment variables on install"
        if mark == "rce":
            level, about = "critical", f"Remote code execution through template in {pack}"
        if mark == "nofix":
            level, fix = "high", "No fix available"
        if mark == "breaking":
            level = "high"
            fix = f"fix available via `npm audit fix --force`\nWill install {pack}@9.0.0, which is a breaking change"
        tally[level] += 1
        if mark:
            page.at[mark] = len(page.lines) + 1
        page.add(f"{pack}  <{high}" if mark != "malware" else f"{pack}  *", f"Severity: {level}",
                 f"{about} - https://github.com/advisories/GHSA-{w.hexes(rng, 4)}-{w.hexes(rng, 4)}-{w.hexes(rng, 4)}",
                 *fix.split("\n"))
        deps = rng.sample(packs, rng.randint(1, 2))
        if mark == "direct":
            page.add(f"node_modules/{pack}", "  acme-payment-core  >=2.1.0",
                f"  Depends on vulnerable versions of {pack}",
                     "  node_modules/acme-payment-core")
        else:
            page.add(*(f"node_modules/{dep}/node_modules/{pack}" for dep in deps))
        if mark == "old":
            page.add(f"npm WARN deprecated {pack}@{high}: this package has been abandoned since 2016")
        if mark == "self":
            page.add("npm ERR! audit signature: package integrity mismatch, expected sha512-8Qm1 but found "
                     "sha512-Zz0k")
        page.add("")
    every = len(packs)
    page.add(f"{every} vulnerabilities ({tally['low']} low, {tally['moderate']} moderate, {tally['high']} "
             f"high, "
             f"{tally['critical']} critical)", "", "To address issues that do not require attention, run:",
             "  npm audit fix", "", "Some issues need review, and may require choosing",
             "a different dependency.", mark="end")
    t = Told(page)
    name = {mark: packs[place] for mark, place in at.items()}
    t.one("error", "critical", ["Authentication bypass"], [name["critical"], "critical"], "critical")
    t.one("error", "malware", ["Malware"], [name["malware"], "critical"], "Malware", "critical")
    t.one("error", "rce", ["Remote code execution"], [name["rce"], "critical"], "critical", "code execution")
    t.one("rare value", "nofix", ["No fix"], [name["nofix"]], "No fix available")
    t.one("meaning", "breaking", ["breaking change", "--force", "9.0.0"], [name["breaking"]],
        "breaking change", "--force")
    t.one("meaning", "direct", ["acme-payment-core"], [name["direct"], "Depends on"], "acme-payment-core",
        "Depends on")
    t.one("rare value", "old", ["abandoned", "deprecated"], [name["old"], "2016"], "deprecated", "abandoned")
    t.one("error", "self", ["integrity mismatch", "npm ERR"], [name["self"], "sha512"], "ERR", "integrity")
    t.n.say("summary", ((f"{every} vulnerabilities",), (str(every), "vulnerabilities")), "vulnerabilities (",
            line=page.at["end"])
    t.n.say("count", (("3 critical",), ("critical: 3",), ("critical 3",), ("critical (3",),
        ("critical ×3",)), "critical",
            line=page.at["end"])
    t.n.say("count", w.count("high", tally["high"], "Severity: high"), "Severity: high", line=page.at["end"])
    sort, many = "Prototype pollution", sum("Prototype pollution" in line for line in page.lines)
    t.n.say("count", w.count(sort, many), "Prototype", derived=True)
    return t.n.parts(page.text())


@kind("rfc_text", "printed")
def rfc_text(rng: random.Random) -> Parts:
    """A plain-text RFC: table of contents, numbered sections, page footers and headers."""
    topics = [w.camel(one) for one in rng.sample(w.NOUNS, 60)]
    sections: list[tuple[str, str]] = []
    for major in range(1, 15):
        sections.append((f"{major}.", f"{rng.choice(w.ADJECTIVES).capitalize()} {topics[major]} Handling"))
        for minor in range(1, rng.randint(4, 6)):
            sections.append((f"{major}.{minor}.",
                f"{topics[(major * 4 + minor) % 60]} {w.camel(rng.choice(w.NOUNS))} Rules"))
    inner = [i for i, (number, _) in enumerate(sections) if number.count(".") == 2]
    picked = [inner[i] for i in w.spots(rng, len(inner), 12, apart=2, low=0.05, high=0.98)]
    keys = ("security", "rekey", "limit", "clash", "errors", "iana", "port", "abnf", "todo", "null",
        "privacy", "default")
    where = dict(zip(keys, picked))
    titles = {"security": "Threats from Replayed Frames", "rekey": "Rekeying of Long Sessions",
        "errors": "Error Codes",
              "iana": "Registry of Frame Types", "abnf": "Collected ABNF",
              "privacy": "Privacy of Client Identifiers"}
    for key, heading in titles.items():
        sections[where[key]] = (sections[where[key]][0], heading)
    retry = rng.randint(620, 880)
    special = {
        "security": ["An attacker who replays a frame within the clock window can withdraw funds twice; a "
                     "receiver",
                     "MUST therefore keep a nonce cache for 900 seconds."],
        "rekey": ["Endpoints MUST derive new keys after 2^20 frames or one hour, whichever comes first."],
        "limit": ["A frame MUST NOT be longer than 16384 octets."],
        "clash": ["The maximum length of a frame is 65536 octets, and receivers MUST accept it."],
        "errors": ["   0x01  MALFORMED_FRAME      the frame cannot be parsed",
                   "   0x07  WINDOW_EXCEEDED      too many frames are in flight",
                   f"   0x2A  TRY_LATER            the client waits {retry} seconds"],
        "iana": ["New frame types are assigned by Expert Review; values 0xF0 to 0xFF are for Private Use."],
        "port": ["The protocol uses TCP port 7741 unless a service record names another one."],
        "abnf": ["   frame = length type *( option ) payload ; see above"],
        "todo": ["[[ Editor's note: this paragraph contradicts the working group consensus of March; to be "
                 "fixed",
                 "before publication. ]]"],
        "null": ["For compatibility with early deployments an implementation MAY negotiate the NULL cipher."],
        "privacy": ["The client identifier is stable and MUST be rotated at least daily."],
        "default": ["If the option is absent, the default keepalive interval is 45 seconds."],
    }
    page = Page()
    page.add("", "Internet Engineering Task Force                               R. Moreau, Ed.",
             "Request for Comments: 98431                                        Acme Labs",
             "Category: Standards Track                                      February 2025", "", "",
             "               The Frame Exchange Protocol (FXP), Version 3", "", "Abstract", "",
             *w.wrap(w.paragraph(rng, 4, 5), 72, "   "), "", "Table of Contents", "")
    for i, (number, heading) in enumerate(sections):
        left = f"{'   ' * number.count('.')}{number}  {heading} "
        page.add(f"{left.ljust(66, '.')} {3 + i * 2 // 3}")
    page.add("")
    since, sheet = len(page.lines), 2
    back = {place: key for key, place in where.items()}
    for i, (number, heading) in enumerate(sections):
        key = back.get(i, "")
        page.add(f"{number}  {heading}", "", mark="section " + key if key else "")
        blocks = [w.wrap(w.paragraph(rng, 3, 6), 72, "   ") for _ in range(rng.randint(2, 4))]
        place = rng.randint(1, len(blocks))
        for k, block in enumerate([*blocks[:place], ["@"], *blocks[place:]]):
            if block == ["@"]:
                if key:
                    page.add(*("   " + line.strip() if not line.startswith("   ") else line
                        for line in special[key]), "",
                             mark=key)
                continue
            page.add(*block, "")
            if len(page.lines) - since > 50:
                page.add(f"Moreau                       Standards Track                   [Page {sheet}]",
                    "\f",
                         "RFC 98431           Frame Exchange Protocol            February 2025", "")
                since, sheet = len(page.lines), sheet + 1
    page.add("Authors' Addresses", "", "   Rosa Moreau (editor)", "   Acme Labs",
        "   Email: rosa.moreau@acme.example", "")
    text = page.text()
    t = Told(page)
    number = {key: sections[place][0].rstrip(".") for key, place in where.items()}

    def part(key: str) -> list[str]:
        return [number[key] + ".", number[key] + " ", sections[where[key]][1], str(page.at["section " + key])]

    for key in ("security", "rekey", "errors", "iana", "privacy"):
        line = page.at["section " + key]
        t.n.say("section", ((titles[key], str(line)),),
                titles[key].split()[0], titles[key], line=line)
    t.one("contradiction", "clash", ["65536"], ["maximum length", *part("clash")], "octets", "maximum length")
    t.one("meaning", "limit", ["16384"], ["MUST NOT", *part("limit")], "octets", "MUST NOT be longer")
    t.one("outlier", "errors", ["TRY_LATER", "0x2A"], [str(retry), *part("errors")], "Error Codes", "0x")
    t.one("meaning", "port", ["7741"], ["port", *part("port")], "port")
    t.one("rare value", "todo", ["Editor's note", "contradicts the working group"], ["[[", *part("todo")],
        "Editor", "[[")
    t.one("meaning", "null", ["NULL cipher"], ["MAY negotiate", *part("null")], "NULL", "cipher")
    t.one("meaning", "security", ["nonce cache"], ["900", *part("security")], "nonce", "replay")
    t.one("meaning", "default", ["45 seconds"], ["keepalive", *part("default")], "default", "keepalive")
    t.n.say("total", w.total(len(sections), "sections", "headings") + (("14", "sections"),
        ("14", "top-level")),
            "Table of Contents", derived=True)
    return t.n.parts(text)


@kind("typescript_source", "printed")
def typescript_source(rng: random.Random) -> Parts:
    """One large TypeScript module of services, as `cat` prints it."""
    page = Page()
    classes = w.distinct(rng, 42, lambda r: w.camel(r.choice(w.ADJECTIVES), r.choice(w.NOUNS)) + "Service")
    page.add("import axios from 'axios';", "import { createHmac } from 'crypto';",
        "import https from 'https';",
             "import { Logger } from './logger';", "", "const log = new Logger('shop');", "")
    marks = ("check", "secret", "tls", "eval", "swallow", "limit", "define", "todo", "loop", "sql", "any")
    hosts = {place: mark for mark, place in zip(marks, w.spots(rng, len(classes), len(marks), apart=2))}
    key = "AIza" + w.alnum(rng, 35)
    top = rng.randint(400_000, 900_000)
    odd: dict[str, list[str]] = {
        "check": ["  verifySignature(body: string, signature: string): boolean {",
        "    // temporarily disabled for the demo",
                  "    return true;", "  }"],
        "secret": ["  private connect(): Client {", f"    const apiKey = '{key}';",
        "    return new Client({ apiKey });", "  }"],
        "tls": ["  private agent(): https.Agent {",
        "    return new https.Agent({ keepAlive: true, rejectUnauthorized: false });",
                "  }"],
        "eval": ["  compileRule(source: string): (row: Row) => boolean {",
        "    return eval(`(row) => ${source}`);", "  }"],
        "swallow": ["  async settlePayout(id: string): Promise<void> {", "    try {",
        "      await this.bank.transfer(id);",
                    "    } catch {", "      // ignore", "    }", "  }"],
        "limit": ["  private readonly options = {", f"    maxUploadMb: {top},", "    chunkKb: 512,", "  };"],
        "define": ["  /** Splits an amount in cents over n receivers without losing a cent. */",
                   "  splitCents(amount: number, receivers: number): number[] {",
                   "    const share = Math.floor(amount / receivers);",
                   "    return Array.from({ length: receivers }, (_, i) => share + (i < amount % receivers "
                   "? 1 : 0));", "  }"],
        "todo": ["  // FIXME: refunds are booked twice when the webhook is retried",
        "  onRefund(event: RefundEvent): void {",
                 "    this.book(event.amount);", "  }"],
        "loop": ["  async waitForBatch(id: string): Promise<void> {", "    while (true) {",
                 "      if (await this.peek(id)) continue;", "    }", "  }"],
        "sql": ["  findByMail(mail: string): Promise<Row[]> {",
                "    return this.db.query(`SELECT * FROM customers WHERE mail = '${mail}'`);", "  }"],
        "any": ["  isAdmin(user: User): boolean {",
        "    return user.role !== 'guest' || user.name === 'test';", "  }"],
    }
    methods, used = 0, {}
    for i, cls in enumerate(classes):
        page.add(f"export class {cls} {{",
            f"  constructor(private readonly db: Database, private readonly cache: Cache) {{}}", "")
        count = rng.randint(7, 11)
        place = rng.randrange(1, count)
        names = w.distinct(rng, count, lambda r: w.lower_camel(r.choice(w.VERBS), r.choice(w.ADJECTIVES),
            r.choice(w.NOUNS)))
        for k, name in enumerate(names):
            if i in hosts and k == place:
                mark = hosts[i]
                page.add(*odd[mark], "", mark=mark)
                used[mark] = cls
            noun, other = rng.sample(w.NOUNS, 2)
            methods += 1
            page.add(*rng.choice((
                [f"  async {name}({noun}Id: string): Promise<{w.camel(other)}> {{",
                 f"    const cached = await this.cache.get(`{noun}:${{{noun}Id}}`);", "    if (cached) {",
                 "      return cached;",
                 "    }", f"    const row = await this.db.one('{noun}s', {noun}Id);",
                 f"    log.debug('{name}', {{ {noun}Id }});", "    return row;", "  }"],
                [f"  {name}({noun}: {w.camel(noun)}, limit = {rng.randint(10, 90)}): {w.camel(other)}[] {{",
                 f"    return {noun}.{other}s.filter((one) => one.active).slice(0, limit);", "  }"],
                [f"  async {name}({noun}: {w.camel(noun)}): Promise<void> {{", "    try {",
                 f"      await this.db.update('{other}s', {noun});", "    } catch (error) {",
                 f"      log.warn('{name} failed', error);", "      throw error;", "    }", "  }"],
            )), "")
        page.add("}", "")
    t = Told(page)
    t.n.say("meaning", pairs(["verifySignature"], ["return true", "disabled"])
            + pairs(["temporarily disabled"],
                ["return true", used["check"], page.at["check"], page.at["check"] + 1]),
            "verifySignature", "disabled", "return true", line=page.at["check"])
    t.one("secret", "secret", ["apiKey", "AIza", "google"], [used["secret"], "new Client", "connect()"],
        "apiKey", "key",
          hidden=key)
    t.one("meaning", "tls", ["rejectUnauthorized"], ["false", used["tls"]], "rejectUnauthorized",
        "https.Agent")
    t.one("meaning", "eval", ["eval("], ["compileRule", used["eval"]], "eval(")
    t.n.say("meaning", pairs(["settlePayout"], ["// ignore", "catch {", "swallow", "empty catch"])
            + pairs(["// ignore"], ["catch {", used["swallow"], page.at["swallow"] + 4]), "catch {",
                "// ignore",
            line=page.at["swallow"] + 3)
    t.one("outlier", "limit", [str(top)], ["maxUploadMb", used["limit"]], "maxUpload", "options")
    t.one("definition", "define", ["splitCents"], ["amount: number", used["define"], "receivers"],
        "splitCents")
    t.one("rare value", "todo", ["FIXME"], ["refund", used["todo"], "twice"], "FIXME", "TODO")
    t.n.say("meaning", pairs(["while (true)"],
        ["waitForBatch", "continue", used["loop"], page.at["loop"] + 1])
            + pairs(["waitForBatch"], ["infinite", "endless", "never ends"]), "while (true)",
                line=page.at["loop"] + 1)
    t.n.say("meaning", pairs(["${mail}"], ["SELECT", "findByMail", used["sql"], page.at["sql"] + 1])
            + pairs(["findByMail"], ["SELECT", "injection"]), "SELECT", "query(", line=page.at["sql"] + 1)
    t.n.say("meaning", pairs(["isAdmin"], ["!== 'guest'", "'test'"])
            + pairs(["!== 'guest'"], [used["any"], page.at["any"] + 1]), "isAdmin", "role",
                line=page.at["any"] + 1)
    t.n.say("total", w.total(len(classes), "classes", "class", "exports", "export class"), "export class",
        derived=True)
    total_methods = methods + len(marks) - 1
    t.n.say("outline", tuple((a, b, c) for a, b, c in zip(classes[9:], classes[10:], classes[11:])),
        "export class",
            derived=True)
    t.n.say("total", w.total(total_methods, "methods", "functions", "definitions")
            + w.total(total_methods + len(classes), "methods", "functions", "definitions"), "async ",
                derived=True)
    return t.n.parts(page.text())


@kind("junit_xml", "printed")
def junit_xml(rng: random.Random) -> Parts:
    """A JUnit XML report: testsuites, testsuite with its counts, testcase with failure, error, skipped."""
    page = Page()
    suites = w.distinct(rng, 40,
        lambda r: f"com.acme.{r.choice(w.SERVICES)}.{w.camel(*r.sample(w.NOUNS, 2))}Test")
    fail, error, skip, slow, double, wrong, minus, leak, jump, flaky = w.spots(rng, len(suites), 10, apart=2)
    clock = w.Clock(rng, datetime(2025, 7, 3, 9, 1), 8, 40)
    blocks: list[tuple[str, list[str]]] = []
    marks: dict[str, str] = {}
    tests = 0
    password = "P0" + w.alnum(rng, 16)
    for i, suite in enumerate(suites):
        moment = clock.tick() - (timedelta(days=411) if i == jump else timedelta(0))
        many = rng.randint(20, 34)
        names = w.distinct(rng, many, lambda r: w.lower_camel(r.choice(w.VERBS), r.choice(w.ADJECTIVES),
            r.choice(w.NOUNS)))
        place, lines, whole = rng.randrange(4, many - 2), [], 0.0
        for k, name in enumerate(names):
            took = max(0.001, rng.expovariate(14))
            took = min(took, 0.6)
            end = "/>"
            more: list[str] = []
            if k == place:
                if i == fail:
                    more = ['      <failure message="expected: &lt;204&gt; but was: &lt;403&gt;" type='
                            '"org.opentest4j.AssertionFailedError">org.opentest4j.AssertionFailedError: '
                            'expected: 204 but was: 403',
                            f"\tat {suite}.{name}({suite.split('.')[-1]}.java:88)</failure>"]
                if i == error:
                    more = ['      <error message="Connection pool exhausted" '
                            'type="java.sql.SQLTransientConnectionException">'
                            "java.sql.SQLTransientConnectionException: Connection pool exhausted</error>"]
                if i == skip:
                    more = ['      <skipped message="disabled since the outage of 12 May"/>']
                if i == flaky:
                    more = ['      <flakyFailure message="timeout after 5000 ms" '
                            'type="java.util.concurrent.TimeoutException"/>']
                if i == leak:
                    more = [f"      <system-out>connecting to "
                            f"jdbc:mysql://root:{password}@db-01:3306/shop</system-out>"]
                if i == slow:
                    took = rng.uniform(310, 480)
                    marks["took"] = f"{took:.3f}"
                if i == minus:
                    took = -rng.uniform(2, 4)
                    marks["minus"] = f"{took:.3f}"
                if i == double:
                    name = names[k - 1]
            if k == place:
                marks[str(i)] = name
            whole += took
            end = ">" if more else "/>"
            tag = f"{i}:{k == place}"
            lines.append((tag, f'    <testcase name="{name}" classname="{suite}" time="{took:.3f}"{end}'))
            lines += [("", line) for line in more]
            if more:
                lines.append(("", "    </testcase>"))
        tests += many
        stated = many + 58 if i == wrong else many
        if i == wrong:
            marks["stated"], marks["real"] = str(stated), str(many)
        blocks.append((f'  <testsuite name="{suite}" tests="{stated}" failures="{int(i == fail)}" '
                       f'errors="{int(i == error)}" '
                       f'skipped="{int(i == skip)}" time="{whole:.3f}" '
                       f'timestamp="{moment:%Y-%m-%dT%H:%M:%S}" hostname="ci-7">',
                       lines))
    page.add('<?xml version="1.0" encoding="UTF-8"?>',
             f'<testsuites name="shop" tests="{tests}" failures="1" errors="1" skipped="1">')
    for i, (head, lines) in enumerate(blocks):
        page.add(head, mark=f"suite {i}")
        for tag, line in lines:
            page.add(line, mark=f"case {i}" if tag == f"{i}:True" else "")
        page.add("  </testsuite>")
    page.add("</testsuites>")
    t = Told(page)

    def name(i: int) -> list[str]:
        return [marks[str(i)], suites[i].split(".")[-1]]

    t.one("failing test", f"case {fail}", ["but was: 403", "403"], name(fail), "<failure", "failure")
    t.one("error", f"case {error}", ["pool exhausted", "SQLTransientConnection"], name(error), "<error",
        "error message")
    t.one("rare value", f"case {skip}", ["<skipped", "12 May", "disabled since"], name(skip), "<skipped",
        "disabled")
    t.one("rare value", f"case {flaky}", ["flakyFailure", "timeout after 5000"], name(flaky), "flaky",
        "timeout")
    t.one("secret", f"case {leak}", ["jdbc:mysql", "password", "credential", "url with"],
        [*name(leak), "system-out"], "jdbc",
          "password", hidden=password)
    t.one("outlier", f"case {slow}", [marks["took"]], name(slow), "time=", "slow")
    t.one("outlier", f"case {minus}", [marks["minus"]], name(minus), 'time="-', "time=")
    line = page.at[f"case {double}"]
    t.n.say("duplicate", w.same(marks[str(double)], line - 1, line), "testcase name", "duplicate", line=line,
        derived=True)
    t.n.say("contradiction", ((marks["stated"], marks["real"], suites[wrong].split(".")[-1]),
                              (marks["stated"], marks["real"], str(page.at[f"suite {wrong}"]))),
            "tests=", suites[wrong].split(".")[-1], line=page.at[f"suite {wrong}"], derived=True)
    date = page.lines[page.at[f"suite {jump}"] - 1].split('timestamp="')[1][:10]
    t.one("time jump", f"suite {jump}", [date], [suites[jump].split(".")[-1]], "timestamp", date[:4])
    t.n.say("summary", ((str(tests), "tests"),), "<testsuites", line=2)
    t.n.say("total", w.total(len(suites), "testsuite", "suites"), "<testsuite ", derived=True)
    t.n.say("total", w.total(tests, "testcase", "cases", "testcases"), "<testcase", derived=True)
    return t.n.parts(page.text())


@kind("config_diff", "printed")
def config_diff(rng: random.Random) -> Parts:
    """`git diff --stat -p` over configuration files (YAML, ini, nginx, env), the stat first and then the hunks."""
    ends = (".yaml", ".yaml", ".ini", ".conf", ".toml")
    files = w.distinct(rng, 92,
        lambda r: f"deploy/{r.choice(w.SERVICES)}/{r.choice(w.NOUNS)}{r.choice(ends)}")
    files.sort()
    marks = ("priv", "auth", "limit", "secret", "host", "replica", "cors", "tls", "cron", "mode", "rename")
    hosts = {place: mark for mark, place in zip(marks, w.spots(rng, len(files), len(marks)))}
    secret = "AKIA" + w.upper(rng, 16)
    odd = {
        "priv": ("  privileged: false", "  privileged: true"),
        "auth": ("  auth_required: true", "  auth_required: false"),
        "limit": ("  rate_limit_per_minute: 60", "  rate_limit_per_minute: 60000"),
        "secret": ("  access_key_from: vault", f"  access_key_id: {secret}"),
        "host": ("  bind_address: 127.0.0.1", "  bind_address: 0.0.0.0"),
        "replica": ("  replicas: 6", "  replicas: 0"),
        "cors": ("  allowed_origins: [https://shop.acme.example]", '  allowed_origins: ["*"]'),
        "tls": ("  min_tls_version: 1.2", "  min_tls_version: 1.0"),
        "cron": ('  backup_schedule: "0 2 * * *"', '  backup_schedule: "0 2 30 2 *"'),
        "mode": ("", ""), "rename": ("", ""),
    }
    hunks: list[list[tuple[str, str]]] = []
    numbers: list[tuple[int, int]] = []
    for i, path in enumerate(files):
        mark = hosts.get(i, "")
        lines: list[tuple[str, str]] = []
        plus = minus = 0
        if mark == "rename":
            new = path.replace("deploy/", "archive/")
            lines = [("", f"diff --git a/{path} b/{new}"), ("", "similarity index 100%"),
                ("", f"rename from {path}"),
                     ("rename", f"rename to {new}")]
        elif mark == "mode":
            lines = [("", f"diff --git a/{path} b/{path}"), ("", "old mode 100644"),
                ("mode", "new mode 100777")]
        else:
            lines += [("", f"diff --git a/{path} b/{path}"),
                ("", f"index {w.hexes(rng, 7)}..{w.hexes(rng, 7)} 100644"),
                      ("", f"--- a/{path}"), ("", f"+++ b/{path}")]
            at, count = rng.randint(4, 30), rng.randint(2, 4)
            place = rng.randrange(count)
            for k in range(count):
                body: list[tuple[str, str]] = []

                def same(many: int) -> None:
                    for _ in range(many):
                        body.append(("", f"   {rng.choice(w.NOUNS)}_{rng.choice(w.NOUNS)}: "
                                         f"{rng.randint(1, 500)}"))

                def changed() -> None:
                    name = f"{rng.choice(w.ADJECTIVES)}_{rng.choice(w.NOUNS)}"
                    if rng.random() < 0.5:
                        old = rng.randint(10, 200)
                        body.extend([("", f"-  {name}: {old}"),
                            ("", f"+  {name}: {old + rng.choice((1, 2, 5, -1, -2))}")])
                    else:
                        old = f"{rng.randint(1, 4)}.{rng.randint(0, 20)}"
                        body.extend([("", f'-  {name}_image: "{old}.0"'),
                            ("", f'+  {name}_image: "{old}.{rng.randint(1, 6)}"')])

                same(3)
                changed()
                if mark and k == place:
                    same(1)
                    body.extend([("", "-" + odd[mark][0]), (mark, "+" + odd[mark][1])])
                same(2)
                changed()
                same(3)
                old_size = sum(line[0] in " -" for _, line in body)
                new_size = sum(line[0] in " +" for _, line in body)
                plus += sum(line[0] == "+" for _, line in body)
                minus += sum(line[0] == "-" for _, line in body)
                lines += [("", f"@@ -{at},{old_size} +{at},{new_size} @@ {rng.choice(w.NOUNS)}:"), *body]
                at += old_size + rng.randint(10, 40)
        hunks.append(lines)
        numbers.append((plus, minus))
    page = Page()
    for path, (plus, minus) in zip(files, numbers):
        if hosts.get(files.index(path)) == "rename":
            path = path.replace("deploy/", "{deploy => archive}/")
        page.add(f" {path:<42} | {plus + minus:>3} {'+' * plus}{'-' * minus}".rstrip())
    adds, cuts = sum(one for one, _ in numbers), sum(one for _, one in numbers)
    page.add(f" {len(files)} files changed, {adds} insertions(+), {cuts} deletions(-)", "", mark="stat")
    for lines in hunks:
        for mark, line in lines:
            page.add(line, mark=mark)
    t = Told(page)
    path = {mark: files[place].removeprefix("deploy/") for place, mark in hosts.items()}
    word = {"priv": ["privileged: true"], "auth": ["auth_required: false"],
        "limit": ["rate_limit_per_minute: 60000", "60000"],
            "host": ["0.0.0.0"], "replica": ["replicas: 0"], "cors": ['["*"]', "allowed_origins"],
            "tls": ["min_tls_version: 1.0", "min_tls_version"], "cron": ["0 2 30 2", "backup_schedule"]}
    for mark, telling in word.items():
        name = odd[mark][0].split(":")[0].strip()
        t.one("meaning", mark, telling, [path[mark], odd[mark][0].strip()], name)
    t.one("secret", "secret", ["access_key_id", "AKIA", "aws"], [path["secret"], "access_key_from"],
        "access_key", "AKIA",
          hidden=secret)
    t.one("meaning", "mode", ["100777"], [path["mode"]], "new mode", "old mode")
    t.one("rare value", "rename", ["rename", "archive/"], [path["rename"]], "rename")
    t.n.say("summary", ((f"{len(files)} files changed",), (f"{len(files)} files", str(adds))),
        "files changed",
            line=page.at["stat"])
    t.n.say("count", ((str(adds), "insertions"), (f"+{adds}",)), "insertions", line=page.at["stat"])
    return t.n.parts(page.text())


@kind("email_thread", "printed")
def email_thread(rng: random.Random) -> Parts:
    """An mbox export of a long thread: From line, headers, body with quotes."""
    page = Page()
    staff = w.people(rng, 8)
    size = rng.randint(118, 130)
    clock = w.Clock(rng, datetime(2025, 9, 1, 8, 0), 900, 14_000)
    marks = ("decide", "deadline", "price", "outside", "leak", "retract", "attach", "legal", "order",
        "absent", "wrong")
    hosts = {place: mark for mark, place in zip(marks, w.spots(rng, size, len(marks), apart=5))}
    password = "Tz" + w.alnum(rng, 12)
    cost = rng.randint(612, 890) * 1000
    say = {
        "decide": "Decision: we go with the vendor from Ghent and stop the pilot in Porto.",
        "deadline": "Please note that the go-live moves from 14 November to 6 October.",
        "price": f"The new quote is {cost:,} euros instead of the 48,500 that we discussed.",
        "leak": f"The admin password of the staging portal is {password} until we rotate it.",
        "retract": "Please disregard my previous numbers, the test set was counted by mistake.",
        "legal": "Our counsel says we must not ship to Norway before the permit is signed.",
        "wrong": "I never approved this migration, although the ticket says that I did.",
    }
    weights, who_sent, moments = [26, 20, 15, 12, 10, 8, 6, 3], [], []
    previous, body_before, number = "", [], 0
    for i in range(size):
        mark = hosts.get(i, "")
        who = rng.choices(staff, weights)[0]
        moment = clock.tick()
        if mark == "order":
            moment -= timedelta(days=rng.randint(45, 70))
        moments.append(moment)
        address = w.mail(who, "acme.example")
        number += 1
        this = f"<{w.hexes(rng, 12)}.{number:04d}@mail.acme.example>"
        to = rng.sample([w.mail(one, "acme.example") for one in staff if one != who], 3)
        if mark == "outside":
            to.append("deals@rivalworks.example")
        if mark == "absent":
            lost = this[1:13]
        page.add(f"From {address} {moment:%a %b %d %H:%M:%S %Y}", mark="mail " + mark if mark else "")
        who_sent.append(who)
        page.add(f"From: {who} <{address}>", f"To: {', '.join(to)}",
            f"Date: {moment:%a, %d %b %Y %H:%M:%S} +0000",
                 f"Message-ID: {this}")
        if mark != "absent":
            page.add("Subject: " + ("Re: " if i else "") + "Plan for the warehouse migration")
        if previous:
            page.add(f"In-Reply-To: {previous}")
        if mark == "attach":
            page.add('X-Attachment: "salaries_2025_all_staff.xlsx" (application/vnd.ms-excel, 2113 KB)',
                mark="attach")
        page.add("")
        body = [w.wrap(w.paragraph(rng, 2, 4), 76) for _ in range(rng.randint(1, 3))]
        place = rng.randint(0, len(body))
        for k, block in enumerate([*body[:place], [], *body[place:]]):
            if k == place:
                if mark in say:
                    page.add(*w.wrap(say[mark], 200), "", mark=mark)
                continue
            page.add(*block, "")
        if body_before:
            page.add(f"{who_sent[-2]} wrote:", *("> " + line for line in body_before[:4]), "")
        page.add(who.split()[0], "")
        previous, body_before = this, body[0]
    text = page.text()
    t = Told(page)
    sender = {mark: who_sent[place] for place, mark in hosts.items()}
    t.one("meaning", "decide", ["Decision"], ["Ghent", "Porto", sender["decide"]], "Decision", "decided")
    t.one("meaning", "deadline", ["6 October"], ["go-live", "14 November", sender["deadline"]], "go-live",
        "deadline")
    t.one("outlier", "price", [f"{cost}"], ["quote", "48500", "euros"], "quote", "euros")
    t.one("secret", "leak", ["password"], ["staging portal", "admin", sender["leak"]], "password",
        hidden=password)
    t.one("contradiction", "retract", ["disregard"], ["previous numbers", "by mistake", sender["retract"]],
        "disregard",
          "mistake")
    t.one("meaning", "legal", ["Norway"], ["permit", "counsel", "must not ship"], "counsel", "legal",
        "permit")
    t.one("contradiction", "wrong", ["never approved"], ["migration", sender["wrong"]], "approved")
    t.one("rare value", "mail outside", ["rivalworks"], ["deals@", sender["outside"]], "To:", "rival")
    t.one("meaning", "attach", ["salaries_2025"], ["X-Attachment", ".xlsx"], "Attachment", "xlsx")
    place = {mark: at for at, mark in hosts.items()}
    line = page.at["mail order"]
    date = moments[place["order"]]
    near = pairs([line, f"{date:%d %b %Y}", f"{date:%b %d}", f"{date:%Y-%m-%d}"],
                 ["back", "out of order", "earlier", "jump", "decreas", "before the"])
    t.n.say("time jump", near, "Date:", line=line, derived=True)
    line = page.at["mail absent"] + 4
    ids = [line, line - 4, lost, place["absent"], f"#{place['absent'] + 1}", f"message {place['absent'] + 1}"]
    t.n.say("missing field", w.gone([one for one in ids if len(str(one)) > 2], "Subject"), "Subject",
        line=line, derived=True)
    t.n.say("total", w.total(size, "messages", "mails", "emails", "records", "blocks", "From ",
        "Message-ID"), "Message-ID",
            derived=True)
    who, many = Counter(who_sent).most_common(1)[0]
    t.n.say("count", w.count(who, many, w.mail(who, "acme.example")), "From:", derived=True)
    first, last = moments[0], moments[-1]
    t.n.say("range", tuple((f"{one:{f}}", f"{last:{f}}") for f in ("%d %b %Y", "%Y-%m-%d", "%b %d")
                           for one in (first, date)), "Date:", derived=True)
    return t.n.parts(text)
