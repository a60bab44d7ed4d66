"""What programs print, documents, code and configuration as text."""

import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_one.words import (
    ADJECTIVES,
    CITIES,
    NOUNS,
    SERVICES,
    VERBS,
    aws_key,
    before,
    email_of,
    found,
    gap,
    github_token,
    gone,
    hexes,
    jwt,
    key_block,
    name_of,
    names_of,
    outline,
    paragraph,
    person,
    secret,
    sentence,
    shown_lines,
    spots,
    stripe_key,
    times,
    token,
    tops,
    total,
    twice,
    weighted,
    wrapped,
)


class Paper:
    """Lines with the facts that they hold."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.facts: list[Fact] = []

    def add(self, *lines: str) -> int:
        """Append lines; gives the line number of the first."""
        at = len(self.lines) + 1
        self.lines.extend(lines)
        return at

    def plant(
        self, what: str, names: list[str], tells: list, searches: list[str], line: int, common: bool = False
    ) -> None:
        self.facts.append(found(what, names, tells, searches, line=line, common=common))

    def section(self, heading: str, searches: list[str], line: int) -> None:
        """A heading that someone will look for, with where it is."""
        where = (f"{line}", f"line {line}", f"l{line}")
        self.facts.append(Fact("section", tuple((heading, one) for one in where), tuple(searches), line=line))

    def parts(self, raw: bool = True) -> Parts:
        text = "\n".join(self.lines) + "\n"
        rest = [
            fact for fact in self.facts if fact.what in ("section", "definition", "failing test", "summary")
        ]
        shown = iter(shown_lines(text, [fact for fact in self.facts if fact not in rest]) if raw else ())
        return text, [fact if fact in rest or not raw else next(shown) for fact in self.facts]


def _code(rng: random.Random, depth: int = 1) -> str:
    """One dull statement of Python."""
    a, b, c = rng.choice(NOUNS), rng.choice(NOUNS), rng.choice(NOUNS)
    form = rng.choice(
        (
            f"{a} = {rng.choice(VERBS)}_{b}({c})",
            f"{a}.{rng.choice(VERBS)}({b}, {c})",
            f"{a}s = [one.{b} for one in {c}s]",
            f"{a} = self._{b}.get({c}.name)",
            f"if {a} is None:\n    {a} = self.{rng.choice(VERBS)}_{b}({c})",
            f"for {a} in {b}s:\n    self.{rng.choice(VERBS)}_{c}({a})",
            f'logger.debug("{rng.choice(VERBS)} {b}: %s", {a})',
            f"{a}_{b} = {c}.{rng.choice(NOUNS)} or {a}",
            f"# the {a} is kept until the {b} is written",
            f"{a} = {b}.{rng.choice(VERBS)}({c}=self.{c})",
        )
    )
    return "\n".join("    " * depth + line for line in form.split("\n"))


def _function(rng: random.Random, name: str, depth: int = 0, size: int = 8) -> list[str]:
    pad = "    " * depth
    args = ", ".join(
        (["self"] if depth else [])
        + [
            f"{one}: {rng.choice(('str', 'int', 'Record', 'Path'))}"
            for one in rng.sample(NOUNS, rng.randint(1, 3))
        ]
    )
    lines = [
        f"{pad}def {name}({args}) -> {rng.choice(('None', 'str', 'list[str]', 'Record'))}:",
        f'{pad}    """{sentence(rng)}"""',
    ]
    for _ in range(rng.randint(size // 2, size)):
        lines += _code(rng, depth + 1).split("\n")
    return [*lines, f"{pad}    return {rng.choice(NOUNS)}", ""]


@kind("pytest-verbose", "printed")
def pytest_verbose(rng: random.Random) -> Parts:
    """`pytest -v` with failures, an error, captured logs, durations and the short summary."""
    paper = Paper()
    files = [f"tests/{rng.choice(SERVICES)}/test_{name}.py" for name in names_of(rng, 62)]
    tests = [(file, f"test_{name}") for file in files for name in names_of(rng, rng.randint(12, 24))]
    n = len(tests)
    at_fail = sorted(spots(rng, n, 5))
    at_error, at_pass = spots(rng, n, 2, 0.3, 0.7)
    while at_error in at_fail or at_pass in at_fail:
        at_error, at_pass = at_error + 1, at_pass + 2
    skips = {at for at in range(n) if rng.random() < 0.012 and at not in (*at_fail, at_error, at_pass)}
    paper.add(
        "============================= test session starts ==============================",
        "platform linux -- Python 3.11.7, pytest-8.2.0, pluggy-1.5.0 -- /srv/app/.venv/bin/python",
        "cachedir: .pytest_cache",
        "rootdir: /srv/app",
        "configfile: pyproject.toml",
        "plugins: anyio-4.3.0, cov-5.0.0, timeout-2.3.1",
        f"collecting ... collected {n} items",
        "",
    )
    for at, (file, name) in enumerate(tests):
        state = (
            "FAILED"
            if at in at_fail
            else (
                "ERROR"
                if at == at_error
                else "XPASS" if at == at_pass else "SKIPPED (needs docker)" if at in skips else "PASSED"
            )
        )
        shown = f"{file}::{name} {state}"
        paper.add(shown + f"[{(at + 1) * 100 // n:3d}%]".rjust(max(7, 100 - len(shown))))
    file, name = tests[at_error]
    paper.add(
        "",
        "==================================== ERRORS ====================================",
        f" ERROR at setup of {name} ".center(80, "_"),
        "",
        "    @pytest.fixture",
        "    def ledger_db():",
        ">       return connect(port=5433)",
        "",
    )
    line = paper.add(
        "E       ConnectionRefusedError: [Errno 111] Connection refused: localhost:5433",
        "",
        f"{file}:18: ConnectionRefusedError",
    )
    paper.plant(
        "error",
        [name, file],
        ["Connection refused", "ConnectionRefusedError"],
        ["ERROR at setup", "error"],
        line,
    )
    paper.add("=================================== FAILURES ===================================")
    got = rng.randint(1100, 1900)
    blames = [
        (f"assert {got} == {got + 1}", "AssertionError"),
        ("KeyError: 'vat_rate'", "KeyError"),
        ("assert 'refunded' == 'settled'", "AssertionError"),
        ("Failed: Timeout >60.0s", "Failed"),
        ("assert [Decimal('0.10')] == []", "AssertionError"),
    ]
    rng.shuffle(blames)
    key = stripe_key(rng)
    for number, (at, (blame, sort)) in enumerate(zip(at_fail, blames)):
        file, name = tests[at]
        paper.add(f" {name} ".center(80, "_"), "")
        paper.add(*_function(rng, name, 0, 26)[:-2])
        line = paper.add(f"E       {blame}", "", f"{file}:{rng.randint(20, 300)}: {sort}")
        paper.facts.append(
            Fact("failing test", ((name, blame), (file, blame)), ("FAILED", "AssertionError"), line=line)
        )
        paper.add("------------------------------ Captured log call -------------------------------")
        for step in range(rng.randint(60, 110)):
            if number == 2 and step == 40:
                line = paper.add(f"DEBUG    app.payments:client.py:88 using key {key}")
                paper.facts.append(
                    secret([name, "client.py:88"], ["sk_live", "stripe"], key, ["key", "sk_live"], line=line)
                )
            paper.add(
                f"{weighted(rng, DEBUG=6, INFO=4):<8}"
                f" app.{rng.choice(SERVICES)}:{rng.choice(NOUNS)}.py:{rng.randint(9, 400)}"
                f" {rng.choice(VERBS)} {rng.choice(NOUNS)} {hexes(rng, 6)}"
            )
    paper.add("=============================== warnings summary ===============================")
    for _ in range(9):
        file, name = rng.choice(tests)
        paper.add(
            f"{file}::{name}",
            f"  /srv/app/src/{rng.choice(NOUNS)}.py:{rng.randint(9, 400)}: DeprecationWarning: {name_of(rng)}"
            " is deprecated",
            "",
        )
    line = paper.add(
        "src/core/clock.py:77",
        "  /srv/app/src/core/clock.py:77: RuntimeWarning: coroutine 'flush_ledger' was never awaited",
        "",
    )
    paper.plant(
        "rare value",
        ["clock.py:77", "RuntimeWarning"],
        ["never awaited"],
        ["RuntimeWarning", "awaited"],
        line + 1,
    )
    paper.add(
        "---------- coverage: platform linux, python 3.11.7-final-0 -----------",
        f"{'Name':<52} Stmts   Miss  Cover",
        "-" * 74,
    )
    modules = sorted(f"src/{rng.choice(SERVICES)}/{name}.py" for name in names_of(rng, 90))
    low = rng.randint(30, 60)
    for at, module in enumerate(modules):
        size = rng.randint(30, 400)
        miss = int(size * (0.93 if at == low else rng.uniform(0.02, 0.16)))
        line = paper.add(f"{module:<52} {size:5d}  {miss:5d}   {100 - miss * 100 // size:3d}%")
        if at == low:
            paper.plant("outlier", [module], [f"{100 - miss * 100 // size}%"], ["coverage", "Cover"], line)
    paper.add(
        "-" * 74,
        f"{'TOTAL':<52} 18204   1711    91%",
        "",
        "============================= slowest 20 durations =============================",
    )
    slow = round(rng.uniform(290, 480), 2)
    file, name = rng.choice(tests)
    line = paper.add(f"{slow}s call     {file}::{name}")
    paper.plant("outlier", [name], [str(slow)], ["slowest", "durations"], line)
    for pace in sorted((rng.uniform(0.6, 3.1) for _ in range(19)), reverse=True):
        file, name = rng.choice(tests)
        paper.add(f"{pace:.2f}s call     {file}::{name}")
    paper.add("=========================== short test summary info ============================")
    for at, (blame, sort) in zip(at_fail, blames):
        paper.add(f"FAILED {'::'.join(tests[at])} - {blame}")
    paper.add(
        f"ERROR {'::'.join(tests[at_error])} - ConnectionRefusedError: [Errno 111] Connection refused..."
    )
    passed = n - 5 - 1 - 1 - len(skips)
    line = paper.add(
        f"= 5 failed, {passed} passed, {len(skips)} skipped, 1 xpassed, 10 warnings, 1 error in"
        f" {slow + 160:.2f}s ="
    )
    paper.facts.append(Fact("summary", (("5 failed", f"{passed} passed"),), ("failed", "passed"), line=line))
    paper.facts.append(Fact("total", ((str(n), "items"), (str(n), "tests")), ("collected",), line=7))
    line = next(at for at, text in enumerate(paper.lines, 1) if " XPASS" in text)
    paper.plant("rare value", [tests[at_pass][1]], ["XPASS"], ["XPASS"], line)
    return paper.parts()


_HUNKS = (
    (
        "meaning",
        "permissions.py",
        ["-    if not user.is_admin:", "-        raise PermissionDenied(user)"],
        ["is_admin", "PermissionDenied"],
        ["permission", "admin"],
    ),
    (
        "meaning",
        "limits.py",
        ["-MAX_TRANSFER_EUR = 5_000", "+MAX_TRANSFER_EUR = 500_000"],
        ["MAX_TRANSFER_EUR"],
        ["limit", "MAX_"],
    ),
    (
        "meaning",
        "transport.py",
        ["-        verify=True,", "+        verify=False,"],
        ["verify=False"],
        ["verify", "tls"],
    ),
    (
        "meaning",
        "refund.py",
        ["-    if order.age_days <= REFUND_DAYS:", "+    if order.age_days >= REFUND_DAYS:"],
        ["order.age_days >= REFUND_DAYS"],
        ["condition", "refund"],
    ),
    (
        "meaning",
        "iam_policy.json",
        ['-      "Action": ["s3:GetObject"],', '+      "Action": ["s3:*"],'],
        ["s3:*"],
        ["Action", "policy", "s3"],
    ),
    (
        "meaning",
        "cleanup.py",
        ["-    query = query.filter(Record.expired.is_(True))", "+    query = query.all_records()"],
        ["Record.expired", "all_records"],
        ["filter", "delete"],
    ),
    (
        "meaning",
        "hashing.py",
        ["-    return hashlib.sha256(data).hexdigest()", "+    return hashlib.md5(data).hexdigest()"],
        ["md5"],
        ["md5", "hash"],
    ),
)


@kind("unified-diff", "printed")
def unified_diff(rng: random.Random) -> Parts:
    """`git diff` of many files."""
    paper = Paper()
    dull = [f"src/{rng.choice(SERVICES)}/{name}.py" for name in names_of(rng, 68)]
    special = {f"src/{rng.choice(SERVICES)}/{one[1]}": one for one in _HUNKS}
    env, mover = f"src/{rng.choice(SERVICES)}/prod.env", f"src/{rng.choice(SERVICES)}/migrate.sh"
    lost_test = f"src/{rng.choice(SERVICES)}/tests/test_permissions.py"
    key = aws_key(rng)
    files = sorted(
        [
            *dull,
            *special,
            env,
            lost_test,
            "docs/old_guide.md",
            mover,
            "assets/logo.png",
        ]
    )
    big = rng.choice(dull)
    changed = Counter({"+": 0, "-": 0})

    def hunk(at: int, minus: list[str]) -> int:
        middle = minus or ["-" + line for line in _code(rng).split("\n")] + [
            "+" + line for line in _code(rng).split("\n")
        ]
        before, after = [" " + _code(rng).split("\n")[0] for _ in range(3)], [
            " " + _code(rng).split("\n")[0] for _ in range(3)
        ]
        lost, won = sum(line[0] == "-" for line in middle), sum(line[0] == "+" for line in middle)
        changed["+"] += won
        changed["-"] += lost
        paper.add(f"@@ -{at},{6 + lost} +{at + 1},{6 + won} @@ def {name_of(rng)}({rng.choice(NOUNS)}):")
        where = paper.add(*before, *middle, *after)
        return where + 3

    for file in files:
        mode = (
            "new file mode 100644"
            if file == env
            else ("deleted file mode 100644" if file in (lost_test, "docs/old_guide.md") else "")
        )
        head = paper.add(f"diff --git a/{file} b/{file}")
        if file == mover:
            paper.add("old mode 100644", "new mode 100755")
            continue
        if file == "assets/logo.png":
            paper.add(
                f"index {hexes(rng, 7)}..{hexes(rng, 7)} 100644", f"Binary files a/{file} and b/{file} differ"
            )
            continue
        if mode:
            paper.add(mode)
        paper.add(
            f"index {hexes(rng, 7)}..{hexes(rng, 7)}" + ("" if mode else " 100644"),
            "--- " + ("/dev/null" if mode.startswith("new") else f"a/{file}"),
            "+++ " + ("/dev/null" if mode.startswith("del") else f"b/{file}"),
        )
        if file == env:
            body = ["+LOG_LEVEL=info", "+REGION=eu-west-1", f"+AWS_ACCESS_KEY_ID={key}", "+POOL_SIZE=12"]
            changed["+"] += 4
            paper.add("@@ -0,0 +1,4 @@")
            line = paper.add(*body) + 2
            paper.facts.append(
                secret(
                    [file, "AWS_ACCESS_KEY_ID"],
                    ["AKIA", "aws", "AWS_ACCESS_KEY_ID"],
                    key,
                    ["AKIA", "KEY"],
                    line=line,
                )
            )
        elif mode:
            gone_lines = [
                f"-{text}"
                for number in range(5)
                for text in (
                    _function(rng, f"test_denies_{NOUNS[number]}")
                    if file == lost_test
                    else [sentence(rng), ""]
                )
            ]
            changed["-"] += len(gone_lines)
            paper.add(f"@@ -1,{len(gone_lines)} +0,0 @@", *gone_lines)
            if file == lost_test:
                paper.plant(
                    "meaning",
                    [file],
                    ["deleted", "removed", "/dev/null"],
                    ["deleted file", "tests"],
                    head + 1,
                )
        else:
            at = 10
            for number in range(
                rng.randint(2, 4) if file in special else 22 if file == big else rng.randint(2, 5)
            ):
                at += rng.randint(14, 60)
                if file in special and number == 1:
                    what, _, lines, tells, searches = special[file]
                    line = hunk(at, lines)
                    paper.plant(what, [file], tells, searches, line)
                else:
                    hunk(at, [])
    paper.facts.append(
        total(
            len(files),
            ("files", "file", "changed files", "files changed"),
            ["diff --git", "files changed"],
            tight=True,
        )
    )
    paper.facts.append(
        Fact(
            "counts by change",
            (
                (f"+{changed['+']}", f"-{changed['-']}"),
                (f"{changed['+']} insertion", f"{changed['-']} deletion"),
                (str(changed["+"]), str(changed["-"]), "added"),
                (str(changed["+"]), str(changed["-"]), "lines"),
            ),
            ("insertions", "+"),
        )
    )
    paper.facts.append(
        Fact(
            "outlier",
            ((big, "22 hunks"), (big, "22"), (big, "most"), (big, "largest")),
            ("largest", "hunks"),
            line=paper.lines.index(f"diff --git a/{big} b/{big}") + 1,
        )
    )
    line = paper.lines.index("new mode 100755") + 1
    paper.plant("meaning", [mover], ["100755", "mode change", "executable"], ["new mode", "mode"], line)
    return paper.parts()


@kind("git-log", "printed")
def git_log(rng: random.Random) -> Parts:
    """`git log`: commit, author, date and message of each commit, newest first."""
    paper = Paper()
    n = rng.randint(300, 340)
    team = [person(rng) for _ in range(7)]
    weights = (40, 24, 14, 9, 6, 4, 3)
    moments = times(rng, datetime(2024, 1, 8, 9), n, 42_000)[::-1]
    revert, breach, wip, breaking, back, stranger, leak, huge, release = spots(rng, n, 9)
    shas = [hexes(rng, 40) for _ in range(n)]
    authors = rng.choices(team, weights, k=n)
    authors[stranger] = "root"
    dates = list(moments)
    dates[back] = dates[back].replace(year=2011)
    key = github_token(rng)
    planted: dict[int, tuple[str, list[str], list, list[str]]] = {
        revert: (
            "meaning",
            [f'Revert "Encrypt backups at rest"', "", "This reverts commit " + hexes(rng, 40) + "."],
            ["Encrypt backups at rest"],
            ["Revert"],
        ),
        breach: (
            "meaning",
            ["Fix SQL injection in report filter (CVE-2024-31337)"],
            ["CVE-2024-31337", "SQL injection"],
            ["CVE", "security"],
        ),
        wip: (
            "meaning",
            ["WIP do not merge: skip signature check"],
            ["skip signature check"],
            ["WIP", "do not merge"],
        ),
        breaking: (
            "meaning",
            ["Drop support for API v1", "", "BREAKING CHANGE: clients of v1 get 410 from now on."],
            ["BREAKING CHANGE", "Drop support for API v1"],
            ["BREAKING", "breaking change"],
        ),
        huge: (
            "outlier",
            ["Vendor third-party sources", "", "4182 files changed, 1206377 insertions(+)"],
            ["4182 files", "1206377"],
            ["files changed", "insertions"],
        ),
        release: ("section", ["Release 7.0.0"], ["Release 7.0.0"], ["Release", "version"]),
    }
    merges = 0
    for at in range(n):
        start = paper.add(f"commit {shas[at]}")
        merge = at not in (*planted, leak) and rng.random() < 0.12
        if merge:
            merges += 1
            paper.add(f"Merge: {hexes(rng, 9)} {hexes(rng, 9)}")
        mail = "root@localhost" if at == stranger else email_of(authors[at])
        line = paper.add(
            f"Author: {authors[at]} <{mail}>",
            f"Date:   {dates[at]:%a %b} {dates[at].day} {dates[at]:%H:%M:%S %Y} +0100",
            "",
        )
        names = [shas[at][:7], authors[at], f"{dates[at]:%b} {dates[at].day}"]
        if at == stranger:
            paper.plant(
                "rare value",
                [shas[at][:7], f"{dates[at]:%b} {dates[at].day}"],
                ["root@localhost"],
                ["Author", "root"],
                line,
            )
        if at == back:
            paper.plant("time jump", [shas[at][:7], authors[at]], ["2011"], ["Date"], line + 1)
        if merge:
            message = [f"Merge branch '{name_of(rng, '-')}' into main"]
        elif at == leak:
            message = ["Rotate deploy token", "", f"The old one was {key}, see the wiki."]
        else:
            message = [
                f"{rng.choice(VERBS).title()} {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)} of"
                f" {rng.choice(SERVICES)}"
            ]
            message += ["", *wrapped(paragraph(rng, 1, 4), 72)] if rng.random() < 0.55 else []
        if at in planted:
            what, message, tells, searches = planted[at]
        line = paper.add(*("    " + text if text else "    " for text in message), "")
        if at in planted and what == "section":
            paper.facts.append(
                Fact(
                    "rare value",
                    tuple(
                        ("Release 7.0.0", one)
                        for one in (shas[at][:7], str(line), str(start), f"{dates[at]:%b} {dates[at].day}")
                    ),
                    tuple(searches),
                    line=line,
                )
            )
        elif at in planted:
            paper.plant(what, names, tells, searches, line + (2 if what == "outlier" else 0))
        if at == leak:
            paper.facts.append(
                secret(
                    [shas[at][:7], "Rotate deploy token"],
                    ["ghp_", "github", "token"],
                    key,
                    ["token", "ghp_"],
                    line=line + 2,
                )
            )
    paper.facts.append(tops("author", authors, ["Author", "authors"]))
    paper.facts.append(Fact("total", ((str(n), "commits"),), ("commit", "count")))
    paper.facts.append(
        Fact(
            "counts by sort",
            ((f"{merges} merge",), (str(merges), "merge commits"), (str(merges), "merges")),
            ("Merge:",),
        )
    )
    ends = [(dates[0].strftime(form), dates[-1].strftime(form)) for form in ("%Y-%m-%d", "%b %d %H:%M:%S %Y")]
    ends += [
        tuple(f"{one:%b} {one.day} {one:%H:%M:%S %Y}" for one in (dates[0], dates[-1])),
        tuple(f"{one:%b} {one.day}" for one in (dates[0], dates[-1])),
    ]
    paper.facts.append(Fact("time range", tuple(ends), ("Date:", "2024")))
    return paper.parts()


@kind("terraform-plan", "printed")
def terraform_plan(rng: random.Random) -> Parts:
    """`terraform plan` as text: resource actions with symbols, and the plan line at the end."""
    paper = Paper()
    paper.add(
        "Terraform used the selected providers to generate the following execution",
        "plan. Resource actions are indicated with the following symbols:",
        "  + create",
        "  ~ update in-place",
        "  - destroy",
        "-/+ destroy and then create replacement",
        "",
        "Terraform will perform the following actions:",
        "",
    )
    sorts = (
        "aws_instance",
        "aws_lambda_function",
        "aws_sqs_queue",
        "aws_s3_bucket",
        "aws_cloudwatch_metric_alarm",
        "aws_ecs_service",
    )
    n = rng.randint(150, 170)
    places = spots(rng, n, 8)
    key = token(rng, 16)
    specials = dict(
        zip(places, ("destroy", "replace", "open", "star", "guard", "password", "shrink", "count"))
    )
    adds = changes = drops = 0
    used: list[str] = []
    for at in range(n):
        what, label = specials.get(at, ""), name_of(rng)
        module = f"module.{rng.choice(SERVICES)}"
        if what == "destroy":
            name = f"{module}.aws_db_instance.customer_archive"
            line = paper.add(
                f"  # {name} will be destroyed",
                "  # (because aws_db_instance.customer_archive is not in configuration)",
                '  - resource "aws_db_instance" "customer_archive" {',
                "      - allocated_storage   = 2000 -> null",
                '      - engine              = "postgres" -> null',
                "      - skip_final_snapshot = true -> null",
                "    }",
                "",
            )
            paper.plant(
                "destroy",
                ["customer_archive"],
                ["destroyed", "destroy"],
                ["destroy", "will be destroyed"],
                line,
            )
            paper.plant(
                "meaning", ["customer_archive"], ["skip_final_snapshot"], ["snapshot", "skip_final"], line + 5
            )
            drops += 1
        elif what == "replace":
            line = paper.add(
                f"  # {module}.aws_elasticache_cluster.sessions must be replaced",
                '-/+ resource "aws_elasticache_cluster" "sessions" {',
                '      ~ engine_version = "6.2" -> "7.1" # forces replacement',
                "        # (18 unchanged attributes hidden)",
                "    }",
                "",
            )
            paper.plant(
                "destroy",
                ["aws_elasticache_cluster"],
                ["replaced", "forces replacement", "replace"],
                ["replaced", "forces replacement"],
                line,
            )
            adds, drops = adds + 1, drops + 1
        elif what == "open":
            line = paper.add(
                f"  # {module}.aws_security_group_rule.ssh will be created",
                '  + resource "aws_security_group_rule" "ssh" {',
                "      + cidr_blocks       = [",
                '          + "0.0.0.0/0",',
                "        ]",
                "      + from_port         = 22",
                '      + type              = "ingress"',
                "    }",
                "",
            )
            paper.plant(
                "meaning",
                ["security_group_rule.ssh", "cidr_blocks", "from_port"],
                ["0.0.0.0/0"],
                ["0.0.0.0/0", "cidr_blocks"],
                line + 3,
            )
            adds += 1
        elif what == "star":
            line = paper.add(
                f"  # {module}.aws_iam_policy.ci_deploy will be updated in-place",
                '  ~ resource "aws_iam_policy" "ci_deploy" {',
                "      ~ policy = jsonencode(",
                "          ~ {",
                "              ~ Statement = [",
                "                  ~ {",
                '                      ~ Action   = "ecs:UpdateService" -> "*"',
                '                        Effect   = "Allow"',
                "                    },",
                "                ]",
                "            }",
                "        )",
                "    }",
                "",
            )
            paper.plant(
                "meaning",
                ["ci_deploy", "Action"],
                [('"ecs:UpdateService" -> "*"',), ("ecs:UpdateService", "*")],
                ["Action", "policy", "iam"],
                line + 6,
            )
            changes += 1
        elif what == "guard":
            line = paper.add(
                f"  # {module}.aws_rds_cluster.ledger will be updated in-place",
                '  ~ resource "aws_rds_cluster" "ledger" {',
                "      ~ deletion_protection = true -> false",
                "        # (44 unchanged attributes hidden)",
                "    }",
                "",
            )
            paper.plant(
                "meaning",
                ["aws_rds_cluster"],
                ["deletion_protection"],
                ["deletion_protection", "protection"],
                line + 2,
            )
            changes += 1
        elif what == "password":
            line = paper.add(
                f"  # {module}.aws_ssm_parameter.smtp will be created",
                '  + resource "aws_ssm_parameter" "smtp" {',
                '      + name  = "/mail/SMTP_PASSWORD"',
                '      + type  = "String"',
                f'      + insecure_value = "{key}"',
                "    }",
                "",
            )
            paper.facts.append(
                secret(
                    ["aws_ssm_parameter", "SMTP_PASSWORD"],
                    ["SMTP_PASSWORD", "insecure_value", "password"],
                    key,
                    ["password", "insecure"],
                    line=line + 4,
                )
            )
            adds += 1
        elif what == "shrink":
            line = paper.add(
                f"  # {module}.aws_dynamodb_table.carts will be updated in-place",
                '  ~ resource "aws_dynamodb_table" "carts" {',
                "      ~ read_capacity  = 4000 -> 5",
                "        # (12 unchanged attributes hidden)",
                "    }",
                "",
            )
            paper.plant(
                "outlier",
                ["aws_dynamodb_table", "read_capacity"],
                [("4000 -> 5",), ("4000", "read_capacity")],
                ["read_capacity", "capacity"],
                line + 2,
            )
            changes += 1
        else:
            sort, new = rng.choices(sorts, (6, 5, 3, 2, 3, 2))[0], what == "count" or rng.random() < 0.16
            used.append(sort)
            if new:
                adds += 1
                paper.add(
                    f"  # {module}.{sort}.{label} will be created",
                    f'  + resource "{sort}" "{label}" {{',
                    "      + arn                      = (known after apply)",
                    "      + id                       = (known after apply)",
                    f'      + name                     = "{label.replace("_", "-")}"',
                    '      + region                   = "eu-west-1"',
                    "      + tags                     = {",
                    '          + "Team"    = "' + rng.choice(SERVICES) + '"',
                    "        }",
                    "    }",
                    "",
                )
            else:
                changes += 1
                version = f"1.{rng.randint(2, 40)}"
                paper.add(
                    f"  # {module}.{sort}.{label} will be updated in-place",
                    f'  ~ resource "{sort}" "{label}" {{',
                    f'        id                                   = "{rng.choice("ijkl")}-{hexes(rng, 17)}"',
                    "      ~ tags                                 = {",
                    f'          ~ "Version" = "{version}.0" -> "{version}.1"',
                    "            # (5 unchanged elements hidden)",
                    "        }",
                    "      ~ tags_all                             = {",
                    f'          ~ "Version" = "{version}.0" -> "{version}.1"',
                    "            # (7 unchanged elements hidden)",
                    "        }",
                    f"        # ({rng.randint(9, 60)} unchanged attributes hidden)",
                    "    }",
                    "",
                )
    line = paper.add(f"Plan: {adds} to add, {changes} to change, {drops} to destroy.", "")
    paper.facts.append(
        Fact(
            "summary",
            (
                (f"{adds} to add", f"{drops} to destroy"),
                (f"{adds}", f"{changes}", f"{drops}", "destroy", "add"),
            ),
            ("Plan:",),
            line=line,
        )
    )
    line = paper.add(
        "Warning: Argument is deprecated",
        "",
        "  with module.feed.aws_s3_bucket.static,",
        '  on modules/feed/main.tf line 41, in resource "aws_s3_bucket" "static":',
        '  41:   acl = "public-read"',
        "",
    )
    paper.plant(
        "rare value",
        ["Argument is deprecated", "main.tf line 41", "aws_s3_bucket.static"],
        ["public-read"],
        ["Warning", "deprecated"],
        line + 4,
    )
    paper.facts.append(tops("resource type", used, ["resource", "aws_instance"]))
    return paper.parts()


@kind("build-log", "printed")
def build_log(rng: random.Random) -> Parts:
    """`make -k` with gcc: commands, warnings with carets, errors, and make's own lines."""
    paper = Paper()
    n = rng.randint(330, 370)
    units = [f"src/{rng.choice(SERVICES)}/{name}.c" for name in names_of(rng, n)]
    broken, unseen, bounds, header, plain, shadow, form, freed, slow = spots(rng, n, 9)
    common = Counter()
    paper.add("make: Entering directory '/build/edge'")

    def note(unit: str, kind_of: str, text: str, flag: str, code: str) -> int:
        at, column = rng.randint(20, 900), rng.randint(5, 12)
        paper.add(f"{unit}: In function '{name_of(rng)}':")
        return paper.add(
            f"{unit}:{at}:{column}: {kind_of}: {text}{f' [{flag}]' if flag else ''}",
            f"{at:5d} | {code}",
            f"      | {' ' * column}^~~~~~",
        )

    dull = (
        ("unused variable '{}'", "-Wunused-variable", "    int {};"),
        (
            "comparison of integer expressions of different signedness",
            "-Wsign-compare",
            "    if ({} < count)",
        ),
        ("unused parameter '{}'", "-Wunused-parameter", "static int run(int {})"),
    )
    for at, unit in enumerate(units):
        flags = (
            "-std=gnu11 -O2 -g -Wall -Wextra -fPIC -DNDEBUG -D_GNU_SOURCE -Iinclude"
            " -Ithird_party/zlib/include"
        )
        if at == plain:
            flags = flags.replace("-O2", "-O0 -fno-stack-protector")
        line = paper.add(f"gcc {flags} -MMD -MP -c -o obj/{unit[4:-2]}.o {unit}")
        if at == plain:
            paper.plant(
                "rare value", [unit], ["-fno-stack-protector", "-O0"], ["-O0", "stack-protector"], line
            )
        elif at == broken:
            line = note(
                unit,
                "error",
                "'struct session' has no member named 'expires_at'",
                "",
                "    if (s->expires_at < now)",
            )
            paper.add(f"make: *** [Makefile:88: obj/{unit[4:-2]}.o] Error 1")
            paper.plant("error", [unit], ["expires_at"], ["error:", "Error 1"], line)
        elif at == header:
            line = paper.add(
                f"{unit}:7:10: fatal error: quic/handshake.h: No such file or directory",
                '    7 | #include "quic/handshake.h"',
                "      |          ^~~~~~~~~~~~~~~~~~",
                "compilation terminated.",
                f"make: *** [Makefile:88: obj/{unit[4:-2]}.o] Error 1",
            )
            paper.plant("error", [unit], ["quic/handshake.h"], ["fatal error", "No such file"], line)
        elif at == unseen:
            line = note(
                unit,
                "warning",
                "implicit declaration of function 'seal_packet'",
                "-Wimplicit-function-declaration",
                "    seal_packet(p);",
            )
            paper.plant(
                "rare value",
                [unit],
                ["seal_packet", "implicit-function-declaration"],
                ["implicit", "warning:"],
                line,
            )
        elif at == bounds:
            line = note(
                unit,
                "warning",
                "array subscript 64 is above array bounds of 'char[64]'",
                "-Warray-bounds=",
                "    name[64] = 0;",
            )
            paper.plant(
                "rare value", [unit], ["above array bounds", "array-bounds"], ["bounds", "warning:"], line
            )
        elif at == form:
            line = note(
                unit,
                "warning",
                "format not a string literal and no format arguments",
                "-Wformat-security",
                "    printf(input);",
            )
            paper.plant(
                "rare value",
                [unit],
                ["format-security", "not a string literal"],
                ["format", "security"],
                line,
            )
        elif at == freed:
            line = note(
                unit, "warning", "pointer 'frame' used after 'free'", "-Wuse-after-free", "    send(frame);"
            )
            paper.plant(
                "rare value", [unit], ["use-after-free", "used after 'free'"], ["free", "after"], line
            )
        elif at == shadow:
            line = paper.add(f"{unit}:1: note: '#pragma message: FIXME auth disabled for load test'")
            paper.plant("meaning", [unit], ["auth disabled"], ["FIXME", "auth", "pragma"], line)
        elif at == slow:
            line = paper.add(f"obj/{unit[4:-2]}.o: compiled in 1843.2 s (cc1 peak memory 11.9 GB)")
            paper.plant("outlier", [unit[4:-2]], ["1843.2", "11.9 GB"], ["compiled in", "seconds"], line)
        elif rng.random() < 0.22:
            text, flag, code = rng.choices(dull, (6, 4, 2))[0]
            common[flag] += 1
            word = rng.choice(NOUNS)
            note(unit, "warning", text.format(word), flag, code.format(word))
        elif rng.random() < 0.08:
            paper.add(
                f"obj/{unit[4:-2]}.o: compiled in {rng.uniform(1, 9):.1f} s (cc1 peak memory"
                f" 0.{rng.randint(1, 4)} GB)"
            )
    paper.add("ar rcs lib/libedge.a obj/*.o", "gcc -o bin/edged obj/main.o -Llib -ledge -lz -lpthread")
    line = paper.add(
        "/usr/bin/ld: lib/libedge.a(router.o): in function `pick_route':",
        "router.c:(.text+0x1f4): undefined reference to `crc32c_hw'",
        "collect2: error: ld returned 1 exit status",
        "make: *** [Makefile:102: bin/edged] Error 1",
    )
    paper.plant(
        "error", ["router", "pick_route"], ["crc32c_hw"], ["undefined reference", "ld returned"], line + 1
    )
    line = paper.add(
        "make: Target 'all' not remade because of errors.", "make: Leaving directory '/build/edge'"
    )
    paper.facts.append(
        Fact(
            "summary",
            (("Target 'all' not remade",), ("all", "not remade")),
            ("make:", "not remade"),
            line=line,
        )
    )
    paper.facts.append(tops("warning", common.elements(), ["warning:", "-Wunused-variable"]))
    paper.facts.append(
        total(
            n,
            ("gcc", "compile", "compiled", "compilations", "commands", "files", "units"),
            ["gcc", "compiled"],
            tight=True,
        )
    )
    return paper.parts()


@kind("stack-traces", "printed")
def stack_traces(rng: random.Random) -> Parts:
    """Python tracebacks of many failed jobs of a queue, as a worker prints them."""
    paper = Paper()
    n = rng.randint(96, 110)
    ids = sorted(rng.sample(range(70_000, 99_000), n))
    moments = times(rng, datetime(2024, 8, 19, 1), n, 260)
    memory, chained, stuck, dup, leak, rare, pause, many = spots(rng, n, 8, apart=6)
    ids[dup] = ids[before(rng, dup, (memory, chained, stuck, dup, leak, rare, pause, many))]
    moments = [
        one + (timedelta(hours=3, minutes=21) if at >= pause else timedelta())
        for at, one in enumerate(moments)
    ]
    usual = (
        (
            "requests.exceptions.ReadTimeout",
            "HTTPSConnectionPool(host='{}.internal', port=443): Read timed out. (read timeout=30)",
            50,
        ),
        ("KeyError", "'{}_id'", 26),
        ("ValueError", "could not convert string to float: '{}'", 15),
    )
    seen: list[str] = []
    key = f"postgresql://worker:{token(rng, 12)}@ledger-db:5432/ledger"
    for at in range(n):
        attempt = rng.randint(1, 3) if at != many else rng.randint(4100, 9700)
        task = f"{rng.choice(SERVICES)}.tasks.{name_of(rng)}"
        start = paper.add(
            f"[{moments[at]:%Y-%m-%d %H:%M:%S}] ERROR Job {ids[at]} ({task}) failed on attempt {attempt}",
            "Traceback (most recent call last):",
        )
        if at == dup:
            paper.facts.append(twice(str(ids[at]), "Job", line=start))
        if at == pause:
            pair = (f"{moments[at - 1]:%H:%M}", f"{moments[at]:%H:%M}")
            paper.facts.append(
                Fact(
                    "time jump",
                    (pair, *((one, word) for one in pair for word in ("gap", "jump", "pause"))),
                    ("gap", "pause"),
                    line=start,
                )
            )
        if at == many:
            paper.plant(
                "outlier", [str(ids[at]), task], [f"attempt {attempt}", str(attempt)], ["attempt"], start
            )
        for _ in range(rng.randint(5, 9)):
            paper.add(
                f'  File "/srv/worker/{rng.choice(SERVICES)}/{rng.choice(NOUNS)}.py", line'
                f" {rng.randint(12, 480)}, in {name_of(rng)}",
                _code(rng).split("\n")[0].replace("    ", "    ", 1),
            )
        kinds = {
            memory: ("MemoryError", "Unable to allocate 61.4 GiB for an array with shape (90211, 91377)"),
            stuck: (
                "sqlalchemy.exc.OperationalError",
                "(psycopg2.errors.DeadlockDetected) deadlock detected",
            ),
            rare: ("cryptography.exceptions.InvalidSignature", "signature of webhook wh_5521 does not match"),
            leak: ("sqlalchemy.exc.ArgumentError", f"Could not parse URL from string '{key}?pool=x'"),
        }
        if at == chained:
            line = paper.add(
                "OSError: [Errno 28] No space left on device: '/var/spool/worker'",
                "",
                "During handling of the above exception, another exception occurred:",
                "",
                "Traceback (most recent call last):",
            )
            paper.plant(
                "error",
                [str(ids[at]), "OSError", task],
                ["No space left on device"],
                ["OSError", "No space"],
                line,
            )
            paper.add(
                f'  File "/srv/worker/core/spool.py", line {rng.randint(12, 480)}, in flush',
                "    self.retry(job)",
            )
        sort, text, _ = rng.choices(usual, [one[2] for one in usual])[0]
        sort, text = kinds.get(at, (sort, text.format(rng.choice(NOUNS))))
        seen.append(sort)
        line = paper.add(f"{sort}: {text}", "")
        if at in (memory, stuck, rare):
            paper.plant(
                "error",
                [str(ids[at]), task, sort],
                [text.split(":")[0][:40] if at != rare else "InvalidSignature"],
                [sort.rsplit(".", 1)[-1], "Error"],
                line,
            )
        if at == leak:
            paper.facts.append(
                secret(
                    [str(ids[at]), "ArgumentError"],
                    ["postgresql://", "password", "ledger-db"],
                    key,
                    ["password", "postgresql://"],
                    line=line,
                )
            )
    short = [one.rsplit(".", 1)[-1] for one in seen]
    paper.facts += [
        tops("exception", short, ["ReadTimeout", "exceptions"]),
        Fact(
            "total",
            ((str(n), "jobs"), (str(n), "failed"), (str(n), "traceback"), (str(n), "errors")),
            ("failed", "Traceback"),
        ),
        Fact(
            "time range",
            tuple(
                (moments[0].strftime(form), moments[-1].strftime(form))
                for form in ("%Y-%m-%d %H:%M", "%H:%M:%S")
            ),
            ("2024-08-19", "first"),
        ),
    ]
    return paper.parts()


@kind("grep-hits", "printed")
def grep_hits(rng: random.Random) -> Parts:
    """`grep -rn token .`: path, line and text of each hit, with grep's own notes."""
    paper = Paper()
    files = sorted(f"./src/{rng.choice(SERVICES)}/{name}.py" for name in names_of(rng, 110))
    hits: list[tuple[str, int, str]] = []
    busy = rng.choice(files[20:90])
    for file in files:
        at = 1
        for _ in range(rng.randint(92, 120) if file == busy else rng.randint(4, 11)):
            at += rng.randint(2, 40)
            text = rng.choice(
                (
                    f"    token = self.{name_of(rng)}(request)",
                    f"        {rng.choice(NOUNS)}.token = token",
                    f'    logger.debug("{rng.choice(VERBS)} token of %s", {rng.choice(NOUNS)})',
                    f"def {rng.choice(VERBS)}_token({rng.choice(NOUNS)}: str) -> str:",
                    f"    return {rng.choice(VERBS)}_{rng.choice(NOUNS)}(token, {rng.choice(NOUNS)})",
                    f"    # the token of the {rng.choice(NOUNS)} is read once",
                    f"    assert token.{rng.choice(NOUNS)} == {rng.choice(NOUNS)}",
                )
            )
            hits.append((file, at, text))
    n = len(hits)
    places = spots(rng, n, 8)
    places = [at if hits[at][0] != busy else at + 130 if at < n // 2 else at - 130 for at in places]
    key, other = github_token(rng), jwt(rng)
    texts = [
        f'    API_TOKEN = "{key}"',
        "class TokenVault:",
        "        return True  # TODO: token signature is not checked",
        '    if token == "letmein":',
        '    print("token", token, file=open("/tmp/tokens.txt", "a"))',
        "    TOKEN_TTL_SECONDS = 315360000",
        f'    sample_token = "{other}"',
        "    token = eval(request.body)",
    ]
    for at, text in zip(places, texts):
        hits[at] = (hits[at][0], hits[at][1], text)
    for number, (file, at, text) in enumerate(hits):
        line = paper.add(f"{file}:{at}:{text}")
        if number not in places:
            continue
        what = places.index(number)
        name = [f"{file}:{at}", file]
        if what in (0, 6):
            word = "API_TOKEN" if what == 0 else "sample_token"
            paper.facts.append(
                secret(
                    [*name, word],
                    [word, "ghp_" if what == 0 else "eyJ"],
                    key if what == 0 else other,
                    [word.split("_")[0], "ghp_" if what == 0 else "eyJ"],
                    line=line,
                )
            )
        elif what == 1:
            paper.facts.append(
                Fact(
                    "definition",
                    tuple(("class TokenVault", one) for one in (f"{file}:{at}", f"{at}", file, f"{line}")),
                    ("class Token", "class"),
                    line=line,
                )
            )
        else:
            tell = [
                "signature is not checked",
                "letmein",
                "/tmp/tokens.txt",
                "315360000",
                "",
                "eval(request.body)",
            ][what - 2]
            searches = [
                ["TODO", "signature"],
                ["token ==", "password"],
                ["open(", "/tmp"],
                ["TTL", "SECONDS"],
                [],
                ["eval"],
            ][what - 2]
            paper.plant("meaning" if what != 5 else "outlier", name, [tell], searches, line)
        if what == 3:
            line = paper.add("grep: ./var/spool/tokens.db: binary file matches")
            paper.plant("rare value", ["tokens.db"], ["binary file"], ["binary", "grep:"], line)
        if what == 4:
            line = paper.add("grep: ./etc/private: Permission denied")
            paper.plant("error", ["./etc/private"], ["Permission denied"], ["denied", "grep:"], line)
    most = sum(hit[0] == busy for hit in hits)
    paper.facts += [
        Fact("counts by file", ((busy, str(most)),), ("most hits", "count")),
        Fact(
            "total",
            tuple((str(count), word) for count in (n, n + 2) for word in ("hits", "matches", "lines")),
            ("count",),
        ),
        Fact(
            "total",
            tuple((str(count), "files") for count in (len(files), len(files) + 1, len(files) + 2)),
            ("files",),
        ),
    ]
    return paper.parts()


@kind("directory-tree", "printed")
def directory_tree(rng: random.Random) -> Parts:
    """`tree -a`: directories drawn with box characters, and the counts at the end."""
    paper = Paper()
    tops_ = ["api", "docs", "frontend", "infra", "migrations", "scripts", "services", "tests"]
    tree: dict[str, object] = {}
    for top in tops_:
        inner: dict[str, object] = {}
        for name in names_of(rng, rng.randint(11, 15)):
            end = {"docs": "md", "frontend": "tsx", "infra": "tf", "scripts": "sh"}.get(top, "py")
            inner[name] = {
                f"{rng.choice(ADJECTIVES)}_{leaf}.{end}": None for leaf in names_of(rng, rng.randint(10, 20))
            }
        tree[top] = inner
    lost, again = rng.randint(60, 90), rng.randint(20, 50)
    tree["migrations"] = {
        f"{number:04d}_{name}.sql": None
        for number, name in enumerate(names_of(rng, 140), 1)
        if number != lost
    }
    tree["migrations"][f"{again:04d}_{name_of(rng)}_again.sql"] = None  # type: ignore[index]

    def put(top: str, name: str, value: object = None) -> str:
        folder = rng.choice(sorted(tree[top]))  # type: ignore[arg-type]
        tree[top][folder][name] = value  # type: ignore[index]
        return f"{top}/{folder}"

    for top, name in (
        ("services", ".env.production"),
        ("infra", "id_rsa"),
        ("frontend", "customers_dump_2023.sql.gz"),
        ("docs", "shell.php"),
        ("scripts", "current -> /home/olaf/tmp/build"),
        ("infra", "terraform.tfstate"),
    ):
        put(top, name)
    huge = f"{rng.choice(NOUNS)}_thumbnails"
    place_huge = put(
        "api", huge, {f"img_{number:05d}.jpg": None for number in range(1, rng.randint(240, 300))}
    )
    sealed = put("tests", "vault  [error opening dir]", {})
    count = Counter({"dirs": 0, "files": 0})
    where: dict[str, int] = {}

    def draw(node: dict[str, object], prefix: str) -> None:
        names = sorted(node)
        for number, name in enumerate(names):
            last = number == len(names) - 1
            line = paper.add(f"{prefix}{'└── ' if last else '├── '}{name}")
            where.setdefault(name, line)
            inner = node[name]
            count["files" if inner is None else "dirs"] += 1
            if inner:
                draw(inner, prefix + ("    " if last else "│   "))  # type: ignore[arg-type]

    paper.add(".")
    draw(tree, "")
    line = paper.add("", f"{count['dirs']} directories, {count['files']} files") + 1
    wishes = {
        ".env.production": (".env",),
        "id_rsa": ("id_rsa", "key"),
        "customers_dump_2023.sql.gz": ("dump", ".sql.gz"),
        "shell.php": (".php",),
        "terraform.tfstate": ("tfstate",),
    }
    for name, what in (
        (".env.production", "secret"),
        ("id_rsa", "secret"),
        ("customers_dump_2023.sql.gz", "meaning"),
        ("shell.php", "rare value"),
        ("terraform.tfstate", "meaning"),
    ):
        paper.facts.append(Fact(what, ((name,),), wishes[name], line=where[name]))
    link = "current -> /home/olaf/tmp/build"
    paper.facts.append(Fact("meaning", (("current", "/home/olaf"),), ("->", "link"), line=where[link]))
    paper.facts.append(
        Fact(
            "error",
            tuple(("error opening dir", one) for one in ("vault", sealed)),
            ("error",),
            line=where["vault  [error opening dir]"],
        )
    )
    leaves = len(tree["api"][place_huge.split("/")[1]][huge])  # type: ignore[index, arg-type]
    paper.facts.append(Fact("outlier", ((huge, str(leaves)),), ("img_", "jpg"), line=where[huge]))
    marks = sorted(tree["migrations"])  # type: ignore[arg-type]
    before, after = (
        next(one for one in marks if one.startswith(f"{number:04d}_")) for number in (lost - 1, lost + 1)
    )
    paper.facts.append(
        gap(
            before,
            after,
            [f"{lost:04d} missing", f"missing {lost:04d}", f"missing: {lost:04d}"],
            "migrations",
            line=where[after],
        )
    )
    doubles = [one for one in marks if one.startswith(f"{again:04d}_")]
    paper.facts.append(
        Fact(
            "duplicate",
            (
                tuple(doubles),
                *((f"{again:04d}", word) for word in ("duplicate", "twice", "2 times", "repeated")),
            ),
            ("migrations", "duplicate"),
            line=where[doubles[0]],
        )
    )
    paper.facts.append(
        Fact(
            "summary",
            (
                (f"{count['dirs']} directories", f"{count['files']} files"),
                (f"{count['dirs']} dirs", f"{count['files']} files"),
            ),
            ("directories",),
            line=line,
        )
    )
    paper.facts.append(outline(tops_, ["frontend", "services"]))
    size = len(tree["migrations"])  # type: ignore[arg-type]
    paper.facts.append(
        Fact("counts by directory", (("migrations", str(size)),), ("migrations",), line=where["migrations"])
    )
    return paper.parts(raw=False)


@kind("markdown-manual", "printed")
def markdown_manual(rng: random.Random) -> Parts:
    """A long manual in Markdown with chapters, sections, code fences and notes."""
    paper = Paper()
    chapters = [
        "Overview",
        "Installation",
        "Configuration",
        "Users and roles",
        "Queues",
        "Storage",
        "Search",
        "Networking",
        "Observability",
        "Backup and restore",
        "Upgrades",
        "Troubleshooting",
        "Command reference",
        "Appendix",
    ]
    paper.add(
        "# Harbor Queue operator manual",
        "",
        "Version 5.4. This manual is for people who run Harbor Queue.",
        "",
    )
    wanted = {
        "Restore a single tenant": "Backup and restore",
        "Rotate the signing key": "Users and roles",
        "Exit codes": "Command reference",
        "Known limits": "Appendix",
    }
    notes: dict[str, tuple] = {
        "Storage": (
            "meaning",
            [
                "> **Danger:** `harbor compact --all` deletes every message older than one hour and cannot be"
                " undone."
            ],
            ["harbor compact"],
            ["danger", "deletes"],
            ["danger", "cannot be undone", "deletes every message"],
        ),
        "Networking": (
            "meaning",
            ["The admin port 9443 listens on all interfaces and has no authentication by default."],
            ["9443"],
            ["authentication", "port"],
            ["no authentication", "all interfaces"],
        ),
        "Upgrades": (
            "meaning",
            [
                "Since version 5.0 the option `legacy_ack` is removed; a configuration that has it does not"
                " start."
            ],
            ["legacy_ack"],
            ["removed", "deprecated"],
            ["removed", "does not start"],
        ),
        "Installation": (
            "meaning",
            [
                "The first account is `admin` with the password `harbor`; change it before the service is"
                " reachable."
            ],
            ["password"],
            ["password", "default"],
            ["`harbor`", "first account"],
        ),
        "Queues": (
            "contradiction",
            ["The default visibility timeout of a message is 30 seconds."],
            ["visibility timeout"],
            ["timeout", "default"],
            [("30 seconds", "45 minutes")],
        ),
        "Troubleshooting": (
            "contradiction",
            ["The default visibility timeout of a message is 45 minutes."],
            ["visibility timeout"],
            ["timeout", "default"],
            [("30 seconds", "45 minutes")],
        ),
        "Observability": (
            "meaning",
            ["TODO(anke): the numbers in this section are from the old cluster and are wrong."],
            ["TODO"],
            ["TODO", "wrong"],
            ["old cluster", "are wrong"],
        ),
    }
    key = aws_key(rng)
    limit, sections = rng.randint(3, 5), 0
    inner: list[tuple[str, ...]] = []
    lines_of: dict[str, int] = {}
    for number, chapter in enumerate(chapters, 1):
        lines_of[chapter] = paper.add(f"## {number}. {chapter}", "", paragraph(rng), "")
        heads = [f"{one.replace('-', ' ').capitalize()}" for one in names_of(rng, rng.randint(6, 9), "-")]
        for wish, home in wanted.items():
            if home == chapter:
                heads.insert(rng.randint(1, len(heads) - 1), wish)
        inner.append((heads[1], heads[0], heads[2]))
        at_note = rng.randint(1, len(heads) - 1)
        for place, head in enumerate(heads):
            sections += 1
            line = paper.add(f"### {number}.{place + 1} {head}", "")
            lines_of[head] = line
            if head in wanted:
                paper.section(head, [head.split()[0].lower(), head.split()[-1]], line)
            for _ in range(rng.randint(2, 4)):
                paper.add(paragraph(rng), "")
            if head == "Exit codes":
                row = (
                    paper.add(
                        "| Code | Meaning |",
                        "|---|---|",
                        "| 0 | done |",
                        "| 1 | usage |",
                        "| 3 | no leader |",
                        "| 75 | the store is read-only, data is not written |",
                        "",
                    )
                    + 5
                )
                paper.plant(
                    "meaning", ["75", "Exit codes"], ["read-only"], ["exit code", "read-only"], row, True
                )
            if rng.random() < 0.3:
                paper.add(
                    "```console",
                    f"$ harbor {rng.choice(VERBS)} --{rng.choice(NOUNS)} {rng.randint(1, 60)}",
                    "done",
                    "```",
                    "",
                )
            if place == at_note and chapter in notes:
                what, text, names, searches, tells = notes[chapter]
                line = paper.add(*text, "")
                if what == "contradiction":
                    pass
                else:
                    paper.plant(what, names, tells, searches, line)
                lines_of[what + chapter] = line
            if place == at_note and chapter == "Search":
                line = (
                    paper.add(
                        "```ini", "[snapshot]", f"access_key = {key}", "region = eu-central-1", "```", ""
                    )
                    + 2
                )
                paper.facts.append(
                    secret(
                        ["access_key", "[snapshot]"], ["AKIA", "aws"], key, ["access_key", "AKIA"], line=line
                    )
                )
            if place == limit and chapter == "Configuration":
                line = paper.add(
                    "Set `max_in_flight` to at most 256: above that the broker silently drops messages.", ""
                )
                paper.plant(
                    "meaning", ["max_in_flight"], ["silently drops", "256"], ["limit", "max_", "drops"], line
                )
    two = lines_of["contradictionQueues"], lines_of["contradictionTroubleshooting"]
    paper.facts.append(
        Fact(
            "contradiction",
            (("30 seconds", "45 minutes"), ("visibility timeout", str(two[0]), str(two[1]))),
            ("visibility timeout", "default"),
            line=two[1],
        )
    )
    where = lines_of["Backup and restore"]
    paper.section("Backup and restore", ["backup", "restore"], where)
    paper.facts.append(outline(chapters, ["chapters", "contents"], inner))
    return paper.parts()


_KINDS = ("Rules", "Fields", "Values", "Handling")


@kind("numbered-spec", "printed")
def numbered_spec(rng: random.Random) -> Parts:
    """A specification in plain text with numbered sections, in the manner of an RFC."""
    paper = Paper()
    paper.add(
        "Network Working Group                                          A. Keller",
        "Request for Comments: 9877                                Harbor Systems",
        "Category: Standards Track                                     March 2024",
        "",
        "",
        "              The Frame Relay Token Protocol (FRTP) Version 2",
        "",
        "Abstract",
        "",
        *wrapped(paragraph(rng, 4, 5), 72, "   "),
        "",
    )
    chapters = [
        "Introduction",
        "Terminology",
        "Protocol Overview",
        "Connection Setup",
        "Frame Format",
        "Flow Control",
        "Error Handling",
        "Negotiation",
        "Extensions",
        "Operational Considerations",
        "Security Considerations",
        "IANA Considerations",
        "References",
    ]
    skip, bits = rng.choice((4, 6, 8)), rng.choice((3, 5))
    lines_of: dict[str, int] = {}
    texts = {
        (4, 2): (
            "meaning",
            (
                "An endpoint MUST NOT accept a token whose nonce was seen before; it MUST close the"
                " connection with error 0x17."
            ),
            ["0x17", "nonce was seen"],
            ["MUST NOT", "nonce", "replay"],
            ["0x17"],
        ),
        (5, 3): (
            "contradiction",
            "The length field is an unsigned integer of 24 bits.",
            ["24 bits"],
            ["length field", "bits"],
            ["24 bits"],
        ),
        (8, 2): (
            "contradiction",
            "The length field of 16 bits bounds the size of an offer.",
            ["16 bits"],
            ["length field", "bits"],
            ["16 bits"],
        ),
        (6, 3): (
            "meaning",
            "The initial window is 65536 octets. A sender MUST NOT exceed it before the first grant.",
            ["65536"],
            ["window", "initial"],
            ["initial window"],
        ),
        (7, 2): (
            "meaning",
            "Code 0x2A (STALE_KEY) is not recoverable: the peer MUST discard all session state.",
            ["STALE_KEY", "0x2A"],
            ["error code", "recoverable"],
            ["not recoverable", "discard all session"],
        ),
        (9, 2): (
            "meaning",
            "Version 1 of this protocol is obsolete and MUST NOT be negotiated.",
            ["Version 1"],
            ["obsolete", "deprecated"],
            ["obsolete"],
        ),
        (10, 3): (
            "meaning",
            "[Editor's note: the timer of 90 s was never tested with more than two peers.]",
            ["Editor's note"],
            ["note", "tested"],
            ["never tested"],
        ),
        (11, 3): (
            "meaning",
            "The NULL cipher suite remains mandatory to implement for debugging.",
            ["NULL cipher"],
            ["cipher", "mandatory"],
            ["mandatory"],
        ),
    }
    wanted = {(11, 4): "Downgrade Attacks", (12, 2): "Frame Type Registry", (4, 4): "Session Resumption"}
    numbers = 0
    inner: list[tuple[str, ...]] = []
    for number, chapter in enumerate(chapters, 1):
        lines_of[chapter] = paper.add(f"{number}.  {chapter}", "")
        paper.add(*wrapped(paragraph(rng), 72, "   "), "")
        count = rng.randint(6, 8)
        parts: list[str] = []
        for part in range(1, count + 1):
            shown = part + (1 if number == skip and part > bits else 0)
            numbers += 1
            head = (
                wanted.get((number, part))
                or f"{rng.choice(ADJECTIVES).title()} {rng.choice(NOUNS).title()} {rng.choice(_KINDS)}"
            )
            line = paper.add(f"{number}.{shown}.  {head}", "")
            parts.append(head)
            if part == 3:
                inner.append((parts[1], parts[0], parts[2]))
            if number == skip and part == bits + 1:
                paper.facts.append(
                    gap(
                        f"{number}.{bits}.",
                        f"{number}.{bits + 2}.",
                        [
                            f"{number}.{bits + 1} missing",
                            f"missing {number}.{bits + 1}",
                            f"{number}.{bits + 1} is missing",
                        ],
                        "section",
                        line=line,
                    )
                )
            if (number, part) in wanted:
                paper.section(head, [head.split()[0].lower(), head.split()[-1]], line)
            for piece in range(rng.randint(2, 4)):
                paper.add(*wrapped(paragraph(rng), 72, "   "), "")
                if piece == 0 and (number, part) in texts:
                    what, text, names, searches, tells = texts[number, part]
                    line = paper.add(*wrapped(text, 72, "   "), "")
                    lines_of[text] = line
                    if what != "contradiction":
                        paper.plant(what, names, tells, searches, line)
            if rng.random() < 0.16:
                paper.add(
                    "      0                   1                   2                   3",
                    "      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1",
                    "     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+",
                    f"     |{rng.choice(NOUNS).title().center(31)}|{rng.choice(NOUNS).title().center(31)}|",
                    "     +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+",
                    "",
                )
    paper.section("Security Considerations", ["security"], lines_of["Security Considerations"])
    pair = [line for text, line in lines_of.items() if text.startswith("The length field")]
    paper.facts.append(
        Fact(
            "contradiction",
            (("24 bits", "16 bits"), ("length field", str(pair[0]), str(pair[1]))),
            ("length field", "bits"),
            line=pair[1],
        )
    )
    paper.facts.append(outline(chapters, ["contents", "sections"], inner))
    return paper.parts()


@kind("html-page", "printed")
def html_page(rng: random.Random) -> Parts:
    """An HTML page of a shop: navigation, product cards, a table, scripts and forms."""
    paper = Paper()
    paper.add(
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '  <meta charset="utf-8">',
        "  <title>Spare parts catalogue - Northwind Tools</title>",
        '  <link rel="stylesheet" href="/static/site.css">',
    )
    noindex = paper.add(
        '  <meta name="robots" content="noindex, nofollow">',
        "</head>",
        "<body>",
        '  <nav class="main">',
        "    <ul>",
    )
    for name in names_of(rng, 24, " "):
        paper.add(f'      <li><a href="/{name.replace(" ", "/")}">{name.title()}</a></li>')
    paper.add("    </ul>", "  </nav>", "  <main>", "  <h1>Spare parts</h1>")
    sections = [f"{one.title()} parts" for one in rng.sample(NOUNS, 9)]
    card = 0
    n = 9 * rng.randint(22, 25)
    price, out, broken, comment, hidden, alert, script, recall = spots(rng, n, 8)
    key, word = stripe_key(rng), token(rng, 12)
    skus = rng.sample(range(10_000, 99_999), n)
    for name in sections:
        head = paper.add(f'  <section id="{name.lower().replace(" ", "-")}">', f"    <h2>{name}</h2>") + 1
        if name == sections[5]:
            paper.section(name, [name.split()[0], "h2"], head)
        for _ in range(n // 9):
            sku, label = (
                f"SKU-{skus[card]}",
                f"{rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"
                f" {rng.choice(('clip', 'bolt', 'ring', 'plate'))}".title(),
            )
            cost = (
                f"{rng.uniform(240_000, 690_000):.2f}"
                if card == price
                else f"{rng.lognormvariate(2.6, 0.5):.2f}"
            )
            line = paper.add(
                '    <article class="card">',
                f'      <a href="/p/{sku.lower()}"><img src="/img/{hexes(rng, 10)}.webp" alt="{label}"></a>',
                f"      <h3>{label}</h3>",
                f'      <p class="sku">{sku}</p>',
                f'      <p class="price">EUR {cost}</p>',
                f'      <p class="text">{sentence(rng)}</p>',
                f'      <button type="button" data-sku="{sku}">Add to cart</button>',
                "    </article>",
            )
            at, names = line + 4, [sku, label]
            if card == price:
                paper.plant("outlier", names, [cost], ["price", "EUR"], at)
            elif card == out:
                paper.lines[line + 5] = (
                    f'      <button type="button" data-sku="{sku}" disabled>Withdrawn from sale</button>'
                )
                paper.plant("rare value", names, ["Withdrawn from sale"], ["disabled", "sale"], line + 6)
            elif card == recall:
                paper.lines[line + 4] = (
                    '      <p class="text">RECALL: this part can overheat. Do not use batch 4471.</p>'
                )
                paper.plant("meaning", names, ["RECALL", "batch 4471"], ["recall", "warning"], line + 5)
            elif card == comment:
                at = paper.add(f"    <!-- staging login: editor / {word} (remove before launch) -->")
                paper.facts.append(
                    secret(
                        ["staging login", "remove before launch"],
                        ["comment", "staging login", "password"],
                        word,
                        ["<!--", "login"],
                        line=at,
                    )
                )
            elif card == hidden:
                at = paper.add(
                    '    <form action="http://collect.example.net/lead" method="post">',
                    '      <input type="hidden" name="discount_override" value="95">',
                    '      <input type="email" name="email">',
                    "    </form>",
                )
                paper.plant(
                    "meaning", ["action", "form"], ["http://collect.example.net"], ["<form", "action"], at
                )
                paper.plant("meaning", ["hidden", "95"], ["discount_override"], ["hidden", "input"], at + 1)
            elif card == alert:
                at = paper.add(
                    '    <div class="alert alert-danger" role="alert">Payment by card is out of service since'
                    " 02:14. Orders are not confirmed.</div>"
                )
                paper.plant(
                    "error",
                    ["alert", "since 02:14"],
                    ["Payment by card is out of service"],
                    ["alert", "error"],
                    at,
                )
            elif card == script:
                at = (
                    paper.add(
                        "    <script>",
                        f'      window.payConfig = {{secretKey: "{key}", mode: "live"}};',
                        "    </script>",
                    )
                    + 1
                )
                paper.facts.append(
                    secret(
                        ["secretKey", "payConfig"],
                        ["sk_live", "payConfig", "stripe"],
                        key,
                        ["<script", "key"],
                        line=at,
                    )
                )
            elif card == broken:
                at = paper.add(
                    '    <p class="more"><a href="file:///C:/Users/lena/Desktop/prices_final2.xlsx">Price'
                    " list</a></p>"
                )
                paper.plant(
                    "error",
                    ["Price list", "href"],
                    ["prices_final2.xlsx", "file:///C:"],
                    ["href", "file:"],
                    at,
                )
            card += 1
        paper.add("  </section>")
    paper.plant("meaning", ["robots"], ["noindex"], ["robots", "noindex"], noindex)
    paper.add("  </main>", "  <footer><p>Northwind Tools, Harbour Road 4</p></footer>", "</body>", "</html>")
    paper.facts.append(
        total(
            n,
            ("cards", "articles", "article", "products", "items", "h3", "elements"),
            ["article", "card"],
            tight=True,
        )
    )
    paper.facts.append(outline(sections, ["h2", "section"]))
    return paper.parts()


_ODDITIES = (
    (
        ["        try:", "            self.flush()", "        except Exception:", "            pass"],
        "swallow_posting_errors",
        ["except Exception"],
        ["except", "pass"],
    ),
    (["        return eval(expression, {}, vars(self))"], "compute_formula", ["eval(expression"], ["eval"]),
    (
        ["        # FIXME: double booking when two workers run at once"],
        "book_transfer",
        ["double booking"],
        ["FIXME", "TODO"],
    ),
    (
        ["        subprocess.run(f'tar xf {name}', shell=True)"],
        "unpack_statement",
        ["shell=True"],
        ["subprocess", "shell"],
    ),
    (
        ["        return True  # signature check is off since the migration"],
        "verify_signature",
        ["signature check is off"],
        ["verify", "return True"],
    ),
    (
        ["        return hashlib.md5(password.encode()).hexdigest()"],
        "hash_password",
        ["md5(password"],
        ["md5", "hash"],
    ),
)


@kind("python-source", "printed")
def python_source(rng: random.Random) -> Parts:
    """One large Python module with classes and functions."""
    paper = Paper()
    paper.add(
        '"""Ledger engine: accounts, postings and statements."""',
        "",
        "import hashlib",
        "import logging",
        "import subprocess",
        "from pathlib import Path",
        "",
        "logger = logging.getLogger(__name__)",
        "",
    )
    classes = [f"{a.title()}{b.title()}" for a, b in (one.split() for one in names_of(rng, 17, " "))]
    classes[9] = "PostingValidator"
    key, functions = aws_key(rng), 0
    homes = rng.sample([at for at in range(1, 16) if at not in (5, 9)], len(_ODDITIES))
    specials = {(home, rng.randint(1, 5)): odd for home, odd in zip(homes, _ODDITIES)}
    inner: list[tuple[str, ...]] = []
    constants = rng.randint(6, 8)
    again = name_of(rng) + "_total"
    first_again = 0
    for number, name in enumerate(classes):
        if number == constants:
            line = (
                paper.add(
                    "",
                    "MAX_POSTINGS_PER_BATCH = 2_000_000_000",
                    f'BACKUP_ACCESS_KEY = "{key}"',
                    "RETRY_SECONDS = 5",
                    "",
                )
                + 1
            )
            paper.plant(
                "outlier",
                ["MAX_POSTINGS_PER_BATCH"],
                ["2_000_000_000", "2000000000"],
                ["MAX_", "limit"],
                line,
            )
            paper.facts.append(
                secret(
                    ["BACKUP_ACCESS_KEY"],
                    ["AKIA", "aws", "BACKUP_ACCESS_KEY"],
                    key,
                    ["KEY", "AKIA"],
                    line=line + 1,
                )
            )
        line = paper.add("", f"class {name}:", f'    """{sentence(rng)}"""', "") + 1
        if number == 9:
            paper.facts.append(
                Fact(
                    "definition",
                    tuple(("PostingValidator", one) for one in (f"{line}", f"line {line}", f"l{line}")),
                    ("PostingValidator", "class"),
                    line=line,
                )
            )
        methods = names_of(rng, rng.randint(6, 9))
        for part in range(len(methods)):
            methods[part] = specials[number, part][1] if (number, part) in specials else methods[part]
            methods[part] = again if (number, part) in ((5, 1), (5, 5)) else methods[part]
        inner.append((methods[1], methods[0], methods[2]))
        for part, method in enumerate(methods):
            functions += 1
            if (number, part) in specials:
                body, label, tells, searches = specials[number, part]
                made = _function(rng, label, 1, 9)
                start = paper.add(*made[:-2], *body, *made[-2:])
                at = start + len(made) - 2 + next(at for at, text in enumerate(body) if tells[0] in text)
                paper.plant("meaning", [label], tells, searches, at)
            elif (number, part) in ((5, 1), (5, 5)):
                start = paper.add(*_function(rng, again, 1, 9))
                if part == 5:
                    paper.facts.append(twice(again, "def", line=start, both=(str(first_again), str(start))))
                first_again = start
            else:
                paper.add(*_function(rng, method, 1, 9))
    functions += 1
    line = (
        paper.add(
            "",
            "def close_fiscal_year(ledger: Path, year: int) -> None:",
            '    """Close the books of a year; this cannot be undone."""',
            "    ledger.joinpath(str(year)).unlink()",
            "",
        )
        + 1
    )
    paper.facts.append(
        Fact(
            "definition",
            tuple(("close_fiscal_year", one) for one in (f"{line}", f"line {line}", f"l{line}")),
            ("close", "def close"),
            line=line,
        )
    )
    paper.facts.append(outline(classes, ["class"], inner))
    paper.facts.append(
        Fact(
            "total",
            (
                (str(len(classes)), "classes"),
                (str(functions), "functions"),
                (str(functions), "methods"),
                (str(functions - 1), "methods"),
                (str(functions), "def"),
            ),
            ("class", "def"),
        )
    )
    return paper.parts()


@kind("aria-snapshot", "printed")
def aria_snapshot(rng: random.Random) -> Parts:
    """The accessibility snapshot of a page as Playwright MCP prints it: roles, names and refs in YAML."""
    paper = Paper()
    number = iter(range(2, 99_999))

    def ref() -> str:
        return f"[ref=e{next(number)}]"

    paper.add(
        "### Page state",
        "- Page URL: https://admin.example.com/orders?page=1",
        "- Page Title: Orders - Admin",
        "- Page Snapshot:",
        "```yaml",
        f"- generic {ref()}:",
        f"  - banner {ref()}:",
        f'    - link "Admin home" {ref()}:',
        "      - /url: /",
        f'    - navigation "Main" {ref()}:',
    )
    for name in names_of(rng, 14, " "):
        paper.add(f'      - link "{name.title()}" {ref()}:', f"        - /url: /{name.replace(' ', '/')}")
    paper.add(f"  - main {ref()}:", f'    - heading "Orders" [level=1] {ref()}')
    tables = ["Open orders", "Shipped orders", "Returns", "Disputes"]
    per = rng.randint(72, 80)
    n = per * len(tables)
    amount, late, leak, alert, off, ticked, dialog, error = spots(rng, n, 8)
    row, states = 0, []
    orders = rng.sample(range(100_000, 999_999), n)
    key = jwt(rng)
    for name in tables:
        head = ref()
        line = paper.add(
            f'    - heading "{name}" [level=2] {head}',
            f'    - table "{name}" {ref()}:',
            f"      - rowgroup {ref()}:",
        )
        if name == "Disputes":
            paper.facts.append(
                Fact(
                    "section",
                    tuple((name, one) for one in (head[5:-1], str(line))),
                    ("Disputes", "heading"),
                    line=line,
                )
            )
        for _ in range(per):
            order, who, state = f"#{orders[row]}", person(rng), weighted(rng, paid=60, packed=24, waiting=12)
            sum_ = (
                f"€{rng.uniform(310_000, 880_000):.2f}"
                if row == amount
                else f"€{rng.lognormvariate(4, 0.4):.2f}"
            )
            state = "chargeback" if row == late else state
            states.append(state)
            name_row = f"{order} {who} {rng.choice(CITIES)} {sum_} {state}"
            at = paper.add(
                f'        - row "{name_row}" {ref()}:',
                f'          - cell "{order}" {ref()}:',
                f'            - link "{order}" {ref()}',
                f'          - cell "{who}" {ref()}',
                f'          - cell "{sum_}" {ref()}',
                f'          - cell "{state}" {ref()}',
                f'          - cell "Edit" {ref()}:',
            )
            mark = ref()
            paper.add(f'            - button "Edit {order}" {"[disabled] " if row == off else ""}{mark}')
            if row == amount:
                paper.plant("outlier", [order, who], [sum_[1:]], ["€", "amount"], at)
            elif row == late:
                paper.plant("rare value", [order, who], ["chargeback"], ["chargeback", "state"], at)
            elif row == off:
                paper.facts.append(
                    Fact(
                        "rare value",
                        ((order, "disabled"), (mark[5:-1], "disabled")),
                        ("disabled",),
                        line=at + 7,
                    )
                )
            elif row == leak:
                spot = paper.add(f'        - textbox "Session token" {ref()}: {key}')
                paper.facts.append(
                    secret(
                        ["textbox", "Session token"],
                        ["Session token", "jwt", "eyJ"],
                        key,
                        ["token", "textbox"],
                        line=spot,
                    )
                )
            elif row == alert:
                mark = ref()
                spot = paper.add(
                    f'        - alert {mark}: "Export failed: disk quota of tenant 41 is used up"'
                )
                paper.plant("error", ["alert", mark[5:-1]], ["Export failed"], ["alert", "failed"], spot)
            elif row == ticked:
                mark = ref()
                spot = paper.add(f'        - checkbox "Delete customer data after export" [checked] {mark}')
                paper.plant(
                    "meaning",
                    ["checked", mark[5:-1]],
                    ["Delete customer data"],
                    ["checkbox", "checked"],
                    spot,
                )
            elif row == dialog:
                mark, yes = ref(), ref()
                spot = paper.add(
                    f'        - dialog "Confirm refund of 14 orders" {mark}:',
                    f'          - button "Refund all" {yes} [cursor=pointer]',
                    f'          - button "Cancel" {ref()} [cursor=pointer]',
                )
                paper.facts.append(
                    Fact(
                        "section",
                        (
                            ("Confirm refund", mark[5:-1]),
                            ("Confirm refund", str(spot)),
                            ("Refund all", yes[5:-1]),
                        ),
                        ("dialog", "button"),
                        line=spot,
                    )
                )
            elif row == error:
                spot = paper.add(
                    f'        - status {ref()}: "Inventory service answers with 502 since 06:40"'
                )
                paper.plant("error", ["status", "06:40"], ["answers with 502"], ["status", "502"], spot)
            row += 1
    mark = ref()
    line = paper.add(f'    - button "Next page" [cursor=pointer] {mark}', "```")
    paper.facts.append(
        Fact("section", (("Next page", mark[5:-1]), ("Next page", str(line))), ("Next", "button"), line=line)
    )
    paper.facts.append(outline(tables, ["heading", "table"]))
    paper.facts.append(
        Fact(
            "total",
            tuple((str(count), word) for count in (n, per) for word in ("rows", "row×", "row ×")),
            ("row", "count"),
        )
    )
    paper.facts.append(tops("state", states, ["state", "paid"]))
    return paper.parts()


@kind("yaml-config", "printed")
def yaml_config(rng: random.Random) -> Parts:
    """A docker compose file with many services."""
    paper = Paper()
    names = [f"{service}-{part}" for service in SERVICES for part in ("api", "worker", "web")]
    n = len(names)
    copies, root, latest, bare, port, leak, debug, typed, dsn, old = spots(rng, n, 10, apart=4)
    key, word = token(rng, 18), token(rng, 10)
    ports = rng.sample(range(8100, 9900), n)
    ports[port] = ports[port - 30 if port > 40 else port + 30]
    twin = next(at for at in range(n) if at != port and ports[at] == ports[port])
    paper.add(
        "# generated by platformctl, do not edit",
        'version: "3.9"',
        "x-logging: &logging",
        "  driver: json-file",
        "  options:",
        '    max-size: "20m"',
        "services:",
    )
    images = Counter()
    for at, name in enumerate(names):
        version = f"{rng.randint(3, 5)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}" if at != latest else "latest"
        base = "python:2.7" if at == old else f"registry.example.com/{name}:{version}"
        images[name.rsplit("-", 1)[1]] += 1
        amount = rng.randint(90, 160) if at == copies else rng.randint(1, 4)
        start = paper.add(
            f"  {name}:",
            f"    image: {base}",
            "    restart: unless-stopped",
            "    logging: *logging",
            "    networks:",
            "      - backend",
            "    ports:",
            f'      - "{ports[at]}:8080"',
        )
        env = paper.add(
            "    environment:",
            f"      LOG_LEVEL: {'debug' if at == debug else 'info'}",
            f"      POOL_SIZE: {'twelve' if at == typed else rng.randint(4, 20)}",
            f"      TIMEOUT_SECONDS: {rng.choice((10, 15, 20, 30))}",
            f"      QUEUE: {rng.choice(NOUNS)}-{rng.choice(('in', 'out'))}",
        )
        if at == leak:
            line = paper.add(f"      SMTP_PASSWORD: {key}")
            paper.facts.append(
                secret([name, "SMTP_PASSWORD"], ["SMTP_PASSWORD"], key, ["PASSWORD"], line=line)
            )
        if at == dsn:
            line = paper.add(
                f"      DATABASE_URL: mysql://root:{word}@db1.example.com/{rng.choice(SERVICES)}"
            )
            paper.facts.append(
                secret([name, "DATABASE_URL"], ["DATABASE_URL", "mysql://"], word, ["://", "URL"], line=line)
            )
        if at == root:
            line = paper.add("    privileged: true")
            paper.plant("meaning", [name], ["privileged"], ["privileged", "root"], line)
        check = paper.add(
            "    healthcheck:",
            f'      test: ["CMD", "curl", "-f", "http://localhost:8080/{rng.choice(("health", "ready"))}"]',
            f"      interval: {rng.choice((10, 15, 30))}s",
            "    deploy:",
            f"      replicas: {amount}",
        )
        if at != bare:
            paper.add(
                "      resources:",
                "        limits:",
                f'          cpus: "{rng.choice(("0.5", "1.0", "2.0"))}"',
                f"          memory: {rng.choice((256, 512, 768))}M",
            )
        else:
            paper.facts.append(gone([name], "limits", line=start))
        paper.add(
            "    labels:",
            f'      team: "{rng.choice(("orion", "maple", "quartz"))}"',
            f'      tier: "{rng.choice("123")}"',
        )
        if at == copies:
            paper.plant(
                "outlier",
                [name, "replicas"],
                [f"replicas: {amount}", (str(amount), "replicas")],
                ["replicas"],
                check + 4,
            )
        if at == latest:
            paper.plant("rare value", [name], [f"{name}:latest", "latest"], ["latest", "image"], start + 1)
        if at == old:
            paper.plant("rare value", [name, "image"], ["python:2.7"], ["image", "python"], start + 1)
        if at == port:
            paper.facts.append(
                Fact(
                    "duplicate",
                    (
                        (str(ports[port]), names[port], names[twin]),
                        *((str(ports[port]), word_) for word_ in ("duplicate", "twice", "2 times", "both")),
                    ),
                    ("ports", "8080"),
                    line=start + 7,
                )
            )
        if at == debug:
            paper.plant(
                "rare value",
                [name, "LOG_LEVEL"],
                ["LOG_LEVEL: debug", ("LOG_LEVEL", "debug")],
                ["debug", "LOG_LEVEL"],
                env + 1,
            )
        if at == typed:
            paper.plant("changed type", [name, "POOL_SIZE"], ["twelve"], ["POOL_SIZE"], env + 2)
    line = paper.add("networks:", "  backend:", "    driver: bridge", "volumes:", "  shared: {}")
    paper.facts.append(
        outline(["version", "x-logging", "services", "networks", "volumes"], ["networks", "volumes"])
    )
    paper.facts.append(
        Fact("total", ((str(n), "services"), (str(n), "entries"), (str(n), "keys")), ("services",))
    )
    return paper.parts()


@kind("toml-config", "printed")
def toml_config(rng: random.Random) -> Parts:
    """A TOML configuration with many tables, as a gateway reads it."""
    paper = Paper()
    names = [
        f"{one}-{two}"
        for one in SERVICES
        for two in ("read", "write", "admin", "batch", "probe", "events", "hooks", "stats")
    ]
    names = [name for name in names if rng.random() < 0.92]
    n = len(names)
    rate, plain, bare, typed, leak, off, dup, odd, trial = spots(rng, n, 9, apart=6)
    secret_at, word = stripe_key(rng), names[dup]
    twin = dup - 40 if dup > 60 else dup + 40
    paper.add(
        'title = "edge gateway"',
        "config_version = 14",
        "",
        "[listener]",
        'address = "0.0.0.0:8443"',
        "workers = 8",
        "",
        "[tls]",
        'min_version = "1.2"',
        'certificate = "/etc/edge/tls/fullchain.pem"',
        "",
    )
    policies: list[str] = []
    key_at = rng.randint(70, 120)
    for at, name in enumerate(names):
        policy = weighted(rng, jwt=60, mtls=26, apikey=12)
        policies.append(policy if at != off else "none")
        limit = rng.randint(800_000, 990_000) if at == rate else rng.choice((50, 100, 150, 200, 400))
        path = f"/{name.replace('-', '/')}" if at != dup else f"/{names[twin].replace('-', '/')}"
        start = paper.add(
            f"[route.{name}]",
            f'path = "{path}"',
            f'upstream = "http{"s" if at != plain else ""}://{name.split("-")[0]}.svc.internal'
            f':{rng.choice((8443, 9443))}"',
            f'auth = "{policies[-1]}"',
            f"rate_limit_per_minute = {limit}",
            f"retries = {rng.randint(0, 3)}",
            f"cache = {rng.choice(('true', 'false'))}",
            f'description = "{rng.choice(VERBS)} {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"',
        )
        if at != bare:
            paper.add(
                f"timeout_ms = {rng.choice((800, 1000, 1500, 2000))}" if at != typed else 'timeout_ms = "2s"'
            )
        else:
            paper.facts.append(gone([name], "timeout_ms", line=start))
        mark = paper.add(
            (
                f'methods = ["{"GET" if "read" in name or "probe" in name else "POST"}"]'
                if at != odd
                else 'methods = ["TRACE"]'
            ),
            f'owner = "{rng.choice(("orion", "maple", "quartz"))}"',
        )
        if at == leak:
            line = paper.add(f'upstream_key = "{secret_at}"')
            paper.facts.append(
                secret(
                    [name, "upstream_key"],
                    ["sk_live", "upstream_key", "stripe"],
                    secret_at,
                    ["key", "sk_live"],
                    line=line,
                )
            )
        if at == trial:
            line = paper.add("# TODO remove: lets every origin in until the launch", 'cors = "*"')
            paper.plant("meaning", [name, "cors"], ["every origin", 'cors = "*"'], ["TODO", "cors"], line)
        if at == key_at:
            block = key_block(rng)
            line = paper.add('client_key = """', *block, '"""') + 1
            paper.facts.append(
                secret(
                    [name, "client_key"], ["private key", "client_key"], block[1], ["BEGIN", "key"], line=line
                )
            )
        paper.add("")
        spotted = {
            rate: ("outlier", [str(limit)], ["rate_limit"], start + 4),
            plain: ("meaning", [f"http://{name.split('-')[0]}.svc"], ["http://", "upstream"], start + 2),
            off: ("meaning", ['auth = "none"', ("auth", "none")], ["auth", "none"], start + 3),
            typed: ("changed type", ['"2s"', "2s"], ["timeout_ms"], mark - 1),
            odd: ("rare value", ["TRACE"], ["methods"], mark),
        }
        if at in spotted:
            what, tells, searches, line = spotted[at]
            paper.plant(what, [name], tells, searches, line)
        if at == dup:
            paper.facts.append(
                Fact(
                    "duplicate",
                    (
                        (path, word, names[twin]),
                        *((path, one) for one in ("duplicate", "twice", "2 times", "both", "repeated")),
                    ),
                    ("path", "duplicate"),
                    line=start + 1,
                )
            )
    paper.add("[logging]", 'level = "info"', 'format = "json"')
    paper.facts.append(tops("auth", policies, ["auth", "jwt"]))
    paper.facts.append(
        Fact(
            "total",
            tuple(
                (str(n), one)
                for one in ("routes", "tables", "route.", "sections", "[route", "keys", "entries")
            ),
            ("route",),
        )
    )
    paper.facts.append(outline(["listener", "tls", "route", "logging"], ["listener", "logging"]))
    return paper.parts()
