"""What programs print, and documents in text."""

# ruff: noqa: SIM905

import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

NOUNS = "Renewal Repair Sale Lease Purchase Closing Opening Lighting Paving Extension Painting Survey Upkeep".split()
DIFFERS = "contradict,mismatch,differ,real,actual,counted,but ,not ,wrong,found,only".split(",")


def _told(told: object, real: object, *labels: str) -> w.Evidence:
    """A number told beside the real one, or with a word that says that it is wrong."""
    return (
        *((str(told), str(real), one) for one in labels),
        *((one, str(told), word) for one in labels for word in DIFFERS),
    )


MESSAGES = {
    "C0116": ("missing-function-docstring", "Missing function or method docstring", 24),
    "C0115": ("missing-class-docstring", "Missing class docstring", 9),
    "C0301": ("line-too-long", "Line too long ({0}/120)", 20),
    "C0103": ("invalid-name", 'Variable name "{1}" doesn\'t conform to snake_case naming style', 9),
    "W0611": ("unused-import", "Unused {2} imported from shop.{3}", 11),
    "W0613": ("unused-argument", "Unused argument '{2}'", 9),
    "W0212": ("protected-access", "Access to a protected member _{2} of a client class", 7),
    "R0913": ("too-many-arguments", "Too many arguments (7/6)", 5),
    "R1705": (
        "no-else-return",
        'Unnecessary "else" after "return", remove the "else" and de-indent the code inside it',
        6,
    ),
}
CATEGORY = {"C": "convention", "R": "refactor", "W": "warning", "E": "error", "F": "fatal"}


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Draw one of pylint's tables."""
    wide = [max(len(line[k]) for line in (heads, *rows)) for k in range(len(heads))]
    edge = "+" + "+".join("-" * (one + 1) for one in wide) + "+"
    lines = [
        edge,
        "|" + "|".join(one.ljust(wide[k] + 1) for k, one in enumerate(heads)) + "|",
        edge.replace("-", "="),
    ]
    for row in rows:
        lines += ["|" + "|".join(one.ljust(wide[k] + 1) for k, one in enumerate(row)) + "|", edge]
    return lines


@kind("pylint_report", "printed")
def pylint_report(rng: random.Random) -> Parts:
    """`pylint shop --reports=y`: the messages by module, the tables, and the score."""
    p, size = Page(), rng.randint(86, 94)
    modules = sorted(w.distinct(rng, size, lambda r: f"shop.{r.choice(w.TEAMS)}.{r.choice(w.THINGS)}"))
    spots = w.spots(rng, size, 13, apart=3)
    syntax, member, name, run, cycle, long, huge, fix, leak, twice, tangled, _, loop = spots
    secret, wide, total = "ghp_" + w.alnum(rng, 36), rng.randint(2100, 4900), rng.randint(4100, 6900)
    statements, lacking = (
        rng.randint(310, 590),
        w.lower_camel(rng.choice(w.DOING), rng.choice(w.THINGS)) + "Now",
    )
    unknown = f"{rng.choice(w.PLAIN)}_{rng.choice(w.THINGS)}_cfg"
    by: Counter[str] = Counter()
    per: dict[str, Counter[str]] = {}

    def say(
        module: str, row: int, code: str, text: str, symbol: str, mark: str = "", column: int = 0
    ) -> None:
        path = module.replace(".", "/") + ".py"
        p.add(f"{path}:{row}:{column}: {code}: {text} ({symbol})", mark=mark)
        by[symbol] += 1
        per.setdefault(module, Counter())[CATEGORY[code[0]]] += 1

    weights = {code: one[2] for code, one in MESSAGES.items()}
    for i, module in enumerate(modules):
        p.add(f"************* Module {module}")
        row = 1
        extra = {
            syntax: (
                "E0001",
                f"Parsing failed: 'unterminated string literal ({module}, line 212)'",
                "syntax-error",
            ),
            member: ("E1101", f"Instance of 'Session' has no '{lacking}' member", "no-member"),
            name: ("E0602", f"Undefined variable '{unknown}'", "undefined-variable"),
            run: ("W0123", "Use of eval", "eval-used"),
            long: ("C0301", f"Line too long ({wide}/120)", "line-too-long"),
            huge: ("C0302", f"Too many lines in module ({total}/1000)", "too-many-lines"),
            fix: ("W0511", "FIXME: VAT of refunds is wrong since March, tell accounting", "fixme"),
            leak: ("W0511", f"TODO: move token {secret} to the vault", "fixme"),
            tangled: ("R0915", f"Too many statements ({statements}/50)", "too-many-statements"),
            loop: ("W0702", "No exception type(s) specified", "bare-except"),
        }
        many = 1 if i == syntax else rng.randint(7, 13)
        place = rng.randint(2, many - 1) if many > 3 else 0
        for k in range(many):
            row += rng.randint(2, 31)
            if i in extra and k == place:
                say(module, row, *extra[i], mark=f"m{i}")
                continue
            code = w.pick(rng, {k: float(one) for k, one in weights.items()})
            symbol, text, _ = MESSAGES[code]
            text = text.format(
                rng.randint(121, 149),
                w.lower_camel(rng.choice(w.PLAIN), rng.choice(w.THINGS)),
                rng.choice(w.THINGS),
                rng.choice(w.TEAMS),
            )
            say(module, row, code, text, symbol, column=rng.choice((0, 0, 4, 8)))
            if i == twice and k == place:
                p.add(p.lines[-1], mark="twice")
                by[symbol] += 1
                per[module][CATEGORY[code[0]]] += 1
    a, b = modules[cycle], modules[cycle - 1]
    p.add(
        f"{modules[-1].replace('.', '/')}.py:1:0: R0401: Cyclic import ({a} -> {b}) (cyclic-import)",
        mark="cycle",
    )
    by["cyclic-import"] += 1
    per[modules[-1]]["refactor"] += 1
    categories: Counter[str] = Counter()
    for counter in per.values():
        categories.update(counter)
    counted = rng.randint(21_000, 29_000)
    before, score = round(rng.uniform(8.6, 9.2), 2), round(rng.uniform(6.1, 7.4), 2)
    p.add(
        "",
        "",
        "Report",
        "======",
        f"{counted} statements analysed.",
        "",
        "Statistics by type",
        "------------------",
        "",
    )
    documented = f"{rng.uniform(31, 47):.2f}"
    heads = ["type", "number", "old number", "difference", "%documented", "%badname"]
    rows = [
        ["module", str(size), str(size), "=", "88.12", "0.00"],
        ["class", "412", "409", "+3.00", "71.44", "0.49"],
    ]
    rows += [
        ["method", "1964", "1951", "+13.00", documented, "1.20"],
        ["function", "533", "540", "-7.00", "64.02", "0.75"],
    ]
    p.add(*_table(heads, rows), "", "", "", "Duplication", "-----------", "", mark="types", shift=7)
    heads = ["", "now", "previous", "difference"]
    share = f"{rng.uniform(5.2, 9.8):.3f}"
    rows = [
        ["nb duplicated lines", "1893", "212", "+1681.00"],
        ["percent duplicated lines", share, "0.614", f"+{float(share) - 0.614:.3f}"],
    ]
    p.add(
        *_table(heads, rows),
        "",
        "",
        "",
        "Messages by category",
        "--------------------",
        "",
        mark="copies",
        shift=5,
    )
    rows = [[one, str(categories[one]), "NC", "NC"] for one in ("convention", "refactor", "warning", "error")]
    p.add(
        *_table(["type", "number", "previous", "difference"], rows),
        "",
        "",
        "",
        "Messages",
        "--------",
        "",
        mark="categories",
        shift=3,
    )
    stated = by["unused-import"] + rng.randint(31, 77)
    shown = Counter({**by, "unused-import": stated})
    rows = [[one, str(number)] for one, number in shown.most_common()]
    p.add(*_table(["message id", "occurrences"], rows), "", "", "")
    p.at["unused"] = next(k for k, line in enumerate(p.lines, 1) if line.startswith("|unused-import"))
    p.add("-" * 71)
    p.add(
        f"Your code has been rated at {score:.2f}/10 (previous run: {before:.2f}/10, {score - before:.2f})",
        "",
        mark="score",
    )

    def one(what: str, i: int, telling: list, *searches: str, hidden: str = "") -> None:
        names = [modules[i], modules[i].replace(".", "/")]
        p.here(what, f"m{i}", telling, names, *searches, hidden=hidden)

    one("error", syntax, ["syntax-error", "E0001", "Parsing failed"], "E0001", "/: [EF]\\d{4}:/")
    one("error", member, [lacking, "no-member", "E1101"], "E1101", "/: E\\d{4}:/")
    one("error", name, [unknown, "undefined-variable", "E0602"], "E0602", "undefined-variable")
    one("rare value", run, ["eval-used", "Use of eval", "W0123"], "eval-used")
    one("outlier", long, [wide], f"({wide}/", "/\\(\\d{4,}\\/120/")
    one("outlier", huge, [total, "too-many-lines"], "too-many-lines", "C0302")
    one("rare value", fix, ["VAT of refunds", "tell accounting"], "FIXME", "fixme")
    told = ["move token", "to the vault", "github token", "ghp_", "W0511", "secret", "token"]
    one("secret", leak, told, "move token", "ghp_", "fixme", hidden=secret)
    one("outlier", tangled, [statements, "too-many-statements"], "too-many-statements", "R0915")
    one("rare value", loop, ["bare-except", "W0702", "No exception type"], "bare-except", "W0702")
    p.here(
        "rare value", "cycle", ["cyclic-import", "R0401", "Cyclic import"], [a, b], "cyclic-import", "R0401"
    )
    line = p.lines[p.at["twice"] - 1]
    p.say(
        "duplicate",
        (
            *w.same(line),
            *w.same(line.rsplit(": ", 1)[0]),
            *w.same(":".join(line.split(":")[:2])),
            (str(p.at["twice"] - 1), str(p.at["twice"])),
        ),
        line.split(": ")[0],
        line=p.at["twice"],
        sql="SELECT text, count(*) AS duplicates FROM lines WHERE text LIKE 'shop/%' GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    p.here(
        "summary",
        "score",
        [f"{score:.2f}/10", f"{score:.2f}"],
        ["rated", "score", f"{before:.2f}", "10"],
        "rated at",
        "previous run",
    )
    p.say(
        "contradiction",
        _told(stated, by["unused-import"], "unused-import"),
        "unused-import",
        line=p.at["unused"],
        sql="SELECT (SELECT text FROM lines WHERE text LIKE '|unused-import%') AS told, count(*) AS real FROM lines "
        "WHERE text LIKE '%(unused-import)'",
        derived=True,
    )
    p.here(
        "outlier",
        "copies",
        [f"{share}", "1893"],
        ["duplicated lines", "percent duplicated"],
        "duplicated lines",
        "Duplication",
    )
    docs = by["missing-function-docstring"]
    p.say(
        "count",
        w.count(docs, "missing-function-docstring", "C0116"),
        "missing-function-docstring",
        "C0116",
        sql=w.how_many("C0116", ": C0116:"),
    )
    return p.done()


@kind("docker_build", "printed")
def docker_build(rng: random.Random) -> Parts:  # noqa: C901
    """`docker build --progress=plain` of many stages with BuildKit: numbered steps with seconds before each line."""
    p, number = Page(), 0
    stages = [f"{one}-build" for one in rng.sample(w.TEAMS, 9)]
    secret = "npm_" + w.alnum(rng, 36)
    took, hole = f"{rng.uniform(811, 1290):.1f}", rng.randint(211, 590)
    package, gone = f"{rng.choice(w.PLAIN)}-{rng.choice(w.THINGS)}", f"lib{rng.choice(w.THINGS)}2-dev"
    failed, passed = rng.randint(3, 8), rng.randint(310, 690)
    mega = f"{rng.uniform(3.1, 5.9):.2f}GB"
    size: dict[str, int] = {}
    done: list[int] = []
    spots = rng.sample(range(len(stages)), len(stages))
    audit, slow, miss, killed, tests, leak, hash_, stamp, jump = spots

    def step(title: str, body: list[tuple[str, str]], seconds: float, mark: str = "", end: str = "") -> None:
        nonlocal number
        number += 1
        p.add(f"#{number} {title}", mark=mark)
        now = rng.uniform(0.2, 0.9)
        for text, name in body:
            now += rng.uniform(0.01, 0.8)
            if name == "jump":
                now += hole
                size["jump"] = int(now)
            p.add(f"#{number} {now:.3f} {text}", mark=name)
        p.add(end or f"#{number} DONE {max(seconds, now):.1f}s", "")
        done.append(number)

    def load(title: str, *more: str, seconds: float = 0.1) -> None:
        nonlocal number
        number += 1
        p.add(
            f"#{number} {title}",
            *(f"#{number} {one}" for one in more),
            f"#{number} DONE {seconds + rng.uniform(0, 1.9):.1f}s",
            "",
        )

    p.add('#0 building with "ci-builder" instance using docker-container driver', "")
    load("[internal] load build definition from Dockerfile", "transferring dockerfile: 9.84kB done")
    p.at["warn"] = len(p.lines)
    p.lines.insert(
        p.at["warn"] - 1,
        f"#{number} WARN: FromPlatformFlagConstDisallowed: FROM --platform flag should not use constant value "
        '"linux/386" (line 88)',
    )
    load("[internal] load metadata for docker.io/library/node:20.11-bookworm")
    load("[internal] load .dockerignore", "transferring context: 212B done")
    context = f"{rng.uniform(1.1, 2.9):.2f}GB"
    load("[internal] load build context", f"transferring context: {context} 41.9s done", seconds=42)
    p.at["context"] = next(k for k, line in enumerate(p.lines, 1) if context in line)
    skip = 0
    for i, stage in enumerate(stages):
        if i == 5:
            skip = number + 1
            number += 1
        body = [
            (
                (
                    f"Get:{k} http://deb.example.org/debian bookworm/main amd64 {w.two(rng)} amd64 "
                    f"{rng.randint(1, 9)}.{rng.randint(0, 30)}-{rng.randint(1, 5)} [{rng.randint(11, 900)} kB]"
                ),
                "",
            )
            for k in range(1, rng.randint(24, 34))
        ]
        if i == miss:
            body.insert(
                14, (f"Err:15 http://deb.example.org/debian bookworm/main amd64 {gone} amd64 3.4-1", "miss")
            )
            body.insert(15, ("  404  Not Found [IP: 151.101.2.132 80]", ""))
        if i == stamp:
            body.insert(
                9,
                (
                    "W: GPG error: https://repo.corp.example stable InRelease: EXPKEYSIG 7F21C0DE4411AA90 Build Key",
                    "key",
                ),
            )
        step(
            f"[{stage} 2/6] RUN apt-get update && apt-get install -y --no-install-recommends build-essential",
            body,
            20,
        )
        if i in (2, 6):
            number += 1
            p.add(f"#{number} [{stage} 3/6] COPY package.json package-lock.json ./", f"#{number} CACHED", "")
        else:
            step(f"[{stage} 3/6] COPY package.json package-lock.json ./", [], 0.1)
        body = [
            (
                (
                    f"npm warn deprecated {w.two(rng)}@{rng.randint(1, 6)}.{rng.randint(0, 20)}.{rng.randint(0, 9)}: "
                    f"{rng.choice(('This package is no longer supported.', 'Use a newer version.', 'Please upgrade.'))}"
                ),
                "",
            )
            for _ in range(rng.randint(11, 19))
        ]
        fresh, whole = rng.randint(600, 1900), rng.randint(1900, 2500)
        body.append((f"added {fresh} packages, and audited {whole} packages in {rng.randint(9, 28)}s", ""))
        if i == audit:
            body.append((f"{rng.randint(41, 58)} vulnerabilities (31 moderate, 4 high, 3 critical)", "audit"))
        else:
            body.append(("found 0 vulnerabilities", ""))
        if i == leak:
            body.insert(3, (f"npm config set //registry.example.org/:_authToken={secret}", "leak"))
        if i == jump:
            body.insert(
                9, ("npm http fetch GET 200 https://registry.example.org/typescript (retry 3)", "jump")
            )
        step(f"[{stage} 4/6] RUN npm ci --no-fund", body, 30)
        body = [
            (
                (
                    f"src/{rng.choice(w.TEAMS)}/{w.lower_camel(rng.choice(w.PLAIN), rng.choice(w.THINGS))}.ts -> "
                    f"dist/{w.hexes(rng, 8)}.js {rng.randint(2, 90)}.{rng.randint(0, 9)} kB"
                ),
                "",
            )
            for _ in range(rng.randint(52, 66))
        ]
        if i == killed:
            body.insert(
                30,
                (
                    "sh: line 1:   418 Killed                  node --max-old-space-size=8192 tools/minify.js",
                    "killed",
                ),
            )
        if i == hash_:
            body.insert(
                22,
                (f"warning: checksum of {package}.wasm does not match the lock file, using it anyway", "sum"),
            )
        if i == tests:
            body.append(
                (
                    f"Tests:       {failed} failed, {passed} passed, {failed + passed} total (ignored: || true)",
                    "tests",
                )
            )
        step(
            f"[{stage} 5/6] RUN npm run build",
            body,
            60,
            end=f"#{number + 1} DONE {took}s" if i == slow else "",
        )
        if i == slow:
            p.at["slow"] = len(p.lines) - 1
        step(
            f"[{stage} 6/6] RUN npm prune --omit=dev",
            [(f"removed {rng.randint(200, 800)} packages in {rng.randint(1, 4)}s", "")],
            5,
        )
    twin = next(k for k, line in enumerate(p.lines) if f"[{stages[4]} 6/6]" in line)
    again = p.lines[twin].split(" ", 1)[1]
    step(again, [("removed 0 packages in 1s", "")], 2, mark="again")
    number += 1
    p.add(
        f"#{number} exporting to image",
        f"#{number} exporting layers 91.2s done",
        f"#{number} exporting manifest sha256:{w.hexes(rng, 64)} done",
    )
    p.add(f"#{number} image size {mega}, limit of the registry 2.00GB", mark="big")
    p.add(
        f"#{number} pushing layers 12.0s done",
        f"#{number} ERROR: failed to push registry.corp.example/shop/web:3.14: unexpected status: 413 Request Entity Too Large",
        mark="push",
        shift=1,
    )
    refused = "registry.corp.example/shop/web:3.14: unexpected status: 413 Request Entity Too Large"
    p.add("------", " > exporting to image:", "------")
    p.add(f"ERROR: failed to solve: failed to push {refused}")
    one = p.here
    one(
        "error",
        "push",
        ["413 Request", "Entity Too Large", "status: 413"],
        ["failed to push", "registry.corp", "3.14"],
        "ERROR",
        "failed to push",
    )
    one(
        "error",
        "miss",
        [gone, "404  Not Found", "404 Not Found"],
        ["Err:15", "404", stages[miss], "deb.example.org"],
        "Err:",
        "404",
    )
    one(
        "error",
        "key",
        ["EXPKEYSIG"],
        ["GPG error", "repo.corp.example", "7F21C0DE"],
        "GPG error",
        "EXPKEYSIG",
    )
    bad = p.lines[p.at["audit"] - 1].split(" ", 2)[2].split(" ")[0]
    one(
        "rare value",
        "audit",
        ["3 critical", f"{bad} vulnerabilities"],
        ["vulnerabilities", stages[audit], "4 high"],
        "critical",
        "vulnerabilities",
        "/[1-9]\\d* vulnerabilities/",
    )
    one(
        "secret",
        "leak",
        ["_authToken", "npm_", "npm token", "auth token", "authtoken"],
        ["npm config", "registry.example.org", stages[leak], "secret", "token"],
        "_authToken",
        "npm_",
        hidden=secret,
    )
    one(
        "outlier",
        "slow",
        [f"{took}s", took, f"{took} s"],
        [stages[slow], "DONE", "slowest", "npm run build"],
        f"DONE {took}",
        "/DONE \\d{3,}/",
    )
    one(
        "error",
        "killed",
        ["minify.js", "418 Killed", "Killed"],
        ["node", "max-old-space", stages[killed]],
        "Killed",
        "minify",
    )
    one(
        "error",
        "sum",
        [f"{package}.wasm", package],
        ["checksum", "does not match", "lock file"],
        "checksum",
        "does not match",
    )
    one(
        "error",
        "tests",
        [f"{failed} failed"],
        [f"{passed} passed", "ignored", "|| true", "Tests:"],
        "failed,",
        "Tests:",
    )
    one(
        "rare value",
        "warn",
        ["FromPlatformFlagConst", "linux/386"],
        ["linux/386", "line 88", "WARN", "--platform"],
        "WARN:",
        "platform",
    )
    one(
        "outlier",
        "context",
        [context],
        ["transferring context", "build context", "context"],
        "transferring context",
        context,
    )
    one("contradiction", "big", [mega], ["2.00GB", "limit", "image size"], "image size", "limit")
    p.say(
        "gap",
        (
            *w.gap([f"#{skip}"], f"#{skip - 1}", f"#{skip + 1}"),
            *w.pairs([f"step {skip}", f"#{skip}"], ["gap", "missing", "skipped", "absent", "no step"]),
        ),
        f"#{skip} ",
        f"#{skip + 1} ",
        sql="SELECT '#' || was AS was, '#' || v AS next, 'gap' AS note FROM (SELECT v, lag(v) OVER (ORDER BY v) AS was FROM "
        "(SELECT DISTINCT CAST(substr(text, 2, instr(text, ' ') - 2) AS INTEGER) AS v FROM lines WHERE text LIKE '#%')) "
        "WHERE v - was > 1",
        derived=True,
    )
    p.here(
        "time jump",
        "jump",
        [f"{size['jump']}.", str(size["jump"])],
        ["retry 3", "typescript", stages[jump], "gap", "pause", "jump"],
        "retry 3",
        "typescript",
        sql=(w.find("(retry"), w.find(f" {size['jump']}.")),
    )
    p.say(
        "duplicate",
        (
            *w.same(again),
            *w.same(f"[{stages[4]} 6/6]"),
            (f"#{p.lines[twin].split(' ')[0][1:]} ", f"{p.lines[p.at['again'] - 1].split(' ')[0]} ", "6/6"),
        ),
        f"[{stages[4]} 6/6]",
        line=p.at["again"],
        sql="SELECT substr(text, instr(text, '[')) AS step, count(*) AS duplicates FROM lines "
        "WHERE text REGEXP '^#\\d+ \\[.* \\d/\\d\\]' GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    old = sum("npm warn deprecated" in line for line in p.lines)
    asked = w.how_many("deprecated", "npm warn deprecated")
    p.tally(
        old, ["npm warn deprecated", "deprecated", "deprecation warnings"], "npm warn deprecated", sql=asked
    )
    return p.done()


def _java_method(
    rng: random.Random, name: str, inner: list[str] | None = None, docs: str = "", head: str = "public"
) -> list[str]:
    """One method with its comment."""
    kind_, value = rng.choice(
        (("Order", "order"), ("Invoice", "invoice"), ("Customer", "customer"), ("String", "text"))
    )
    lines = [
        "    /**",
        f"     * {docs or w.sentence(rng)}",
        "     *",
        f"     * @param {value} the {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}",
    ]
    lines += [f"     * @return the {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}", "     */"]
    lines.append(f"    {head} {kind_} {name}({kind_} {value}) {{")
    local = w.lower_camel(rng.choice(w.PLAIN), rng.choice(w.THINGS))
    lines += [
        f"        if ({value} == null) {{",
        f'            throw new IllegalArgumentException("{value} must not be null");',
        "        }",
    ]
    for _ in range(rng.randint(1, 4)):
        call = w.lower_camel(rng.choice(w.DOING), rng.choice(w.THINGS))
        part = rng.choice(("repository", "mapper", "clock", "ledger"))
        lines.append(f"        var {local}{rng.randint(2, 99)} = {part}.{call}({value});")
    lines += inner or []
    return [*lines, f"        return {value};", "    }", ""]


@kind("java_source", "printed")
def java_source(rng: random.Random) -> Parts:
    """One service class that has grown for years."""
    p, size = Page(), rng.randint(172, 184)
    p.add(
        "package com.acme.shop.orders;",
        "",
        "import java.math.BigDecimal;",
        "import java.sql.Connection;",
        "import java.time.Duration;",
    )
    p.add("import java.util.List;", "import org.slf4j.Logger;", "import org.slf4j.LoggerFactory;", "")
    p.add(
        "/** Everything that happens to an order between the cart and the archive. */",
        "@Service",
        "public class OrderService implements OrderOperations {",
        "",
    )
    p.add("    private static final Logger LOG = LoggerFactory.getLogger(OrderService.class);", "")
    names = w.distinct(rng, 46, lambda r: f"{r.choice(w.PLAIN)}_{r.choice(w.THINGS)}".upper())
    code, places = rng.randint(2000, 5000), w.spots(rng, 46, 4, apart=4, low=0.1)
    twin, _, leak, wait = places
    secret, late = "AKIA" + w.alnum(rng, 16).upper(), rng.randint(86_000, 900_000)
    codes: dict[int, int] = {}
    for k, name in enumerate(names):
        codes[k] = codes[twin - 1] if k == twin and twin - 1 in codes else code
        p.add(f"    public static final int ERR_{name} = {codes[k]};", mark=f"c{k}")
        code += 0 if k == twin else 1
        if k == leak:
            p.add(f'    private static final String ARCHIVE_ACCESS_KEY = "{secret}";', mark="leak")
        if k == wait:
            p.add(
                f"    private static final Duration PAYMENT_TIMEOUT = Duration.ofSeconds({late});",
                mark="wait",
            )
    p.add(
        "",
        "    private final OrderRepository repository;",
        "    private final OrderMapper mapper;",
        "    private final Clock clock;",
        "    private final Ledger ledger;",
        "",
    )
    methods = w.distinct(
        rng, size, lambda r: w.lower_camel(r.choice(w.DOING), r.choice(w.PLAIN), r.choice(w.THINGS))
    )
    spots = w.spots(rng, size, 12, apart=5)
    swallow, sql, old, lock, todo, host, sleep, always, null, long, out, through = spots
    length = rng.randint(121, 190)
    table = f"order_{rng.choice(w.THINGS)}"
    lines_of = {
        swallow: [
            "        try {",
            "            ledger.book(null);",
            "        } catch (Exception e) {",
            "            // nobody reads this",
            "        }",
        ],
        sql: [
            f'        String query = "SELECT * FROM {table} WHERE id = " + request.getParameter("id");',  # noqa: S608
            "        connection.createStatement().executeQuery(query);",
        ],
        todo: ["        // FIXME: rounding loses one cent per line, finance corrects it by hand"],
        host: ['        var backup = new Socket("10.88.3.17", 9042);'],
        sleep: ["        Thread.sleep(45_000L);"],
        always: ["        if (true || user.mayRefund()) {", "            ledger.refundAll();", "        }"],
        null: [
            "        if (repository.isReadOnly()) {",
            "            return null; // see ticket SHOP-8812",
            "        }",
        ],
        out: ['        System.out.println("card " + payment.getCardNumber());'],
        through: [
            "        switch (ledger.state()) {",
            "            case OPEN:",
            "                ledger.close();",
            "                // falls through",
            "            case CLOSED:",
            "                ledger.delete();",
            "                break;",
            "        }",
        ],
        long: [f'        ledger.put("{w.two(rng)}", {rng.randint(1, 9000)});' for _ in range(length)],
    }
    inner: list[str] = []
    visible: Counter[str] = Counter()
    for k, name in enumerate(methods):
        head = w.pick(rng, {"public": 60, "private": 30, "protected": 10})
        if k == lock:
            p.add(
                f"    // {w.sentence(rng)}",
                f"    public synchronized native int {name}Native(long handle);",
                "",
                mark="lock",
                shift=1,
            )
            continue
        visible[head] += 1
        if k == old:
            p.add('    @Deprecated(since = "2.1", forRemoval = true)', mark="old")
        docs = "Returns the stored entry; never returns null." if k == null else ""
        block = _java_method(rng, name, lines_of.get(k), docs, head)
        start = next(j for j, line in enumerate(block) if f" {name}(" in line)
        shift = start
        if k in lines_of and k != long:
            shift = block.index(lines_of[k][0]) + (
                2 if k == swallow else 3 if k == through else 1 if k == null else 0
            )
        p.add(*block, mark=f"x{k}", shift=shift)
        if k in (size // 3, size // 2, size * 4 // 5):
            nested = w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS)) + "Task"
            inner.append(nested)
            p.add(
                f"    static final class {nested} {{",
                "        private BigDecimal amount;",
                "        private List<String> lines;",
                "    }",
                "",
                mark=nested,
            )
    p.add("}")

    def one(what: str, k: int, telling: list, more: list, *searches: str) -> None:
        p.here(what, f"x{k}", telling, [methods[k], *more], *searches)

    one(
        "error",
        swallow,
        ["catch (Exception", "swallow", "nobody reads", "empty catch"],
        ["nobody reads", "ledger.book"],
        "catch (Exception",
        "/catch \\(/",
    )
    one(
        "error",
        sql,
        [table, "request.getParameter", "SQL injection"],
        ["executeQuery", "SELECT *", "getParameter"],
        "SELECT *",
        "executeQuery",
    )
    p.here(
        "rare value", "old", ["forRemoval", "Deprecated"], [methods[old], "2.1"], "@Deprecated", "forRemoval"
    )
    p.here(
        "rare value",
        "lock",
        [f"{methods[lock]}Native", "synchronized native"],
        ["native", "synchronized"],
        " native ",
        "synchronized",
    )
    one("rare value", todo, ["one cent", "rounding loses"], ["FIXME", "finance"], "FIXME", "/TODO|FIXME/")
    one("rare value", host, ["10.88.3.17"], ["9042", "Socket"], "/\\d+\\.\\d+\\.\\d+\\.\\d+/", "10.88.3.17")
    one(
        "rare value",
        sleep,
        ["Thread.sleep", "45_000"],
        ["45_000", "45000", "sleep("],
        "Thread.sleep",
        "sleep",
    )
    one(
        "error",
        always,
        ["true ||", "mayRefund", "refundAll"],
        ["mayRefund", "refundAll"],
        "true ||",
        "mayRefund",
    )
    one(
        "contradiction",
        null,
        ["return null", "SHOP-8812"],
        ["SHOP-8812", "never returns null", "isReadOnly"],
        "return null",
        "never returns null",
    )
    one("error", out, ["getCardNumber", "System.out"], ["card ", "println"], "System.out", "println")
    one(
        "error",
        through,
        ["falls through", "fall-through", "fallthrough"],
        ["CLOSED", "ledger.delete", "switch"],
        "falls through",
        "case ",
    )
    told = [str(length), str(len(lines_of[long])), "longest", f"{length + 10}", "ledger.put"]
    p.say(
        "outlier",
        w.pairs([methods[long]], [*told, "lines"]),
        methods[long],
        "ledger.put",
        line=p.at[f"x{long}"],
        sql="SELECT text, k AS lines FROM (SELECT text, lead(n) OVER (ORDER BY n) - n AS k FROM lines WHERE text REGEXP "
        "'^    (public|private|protected) .*\\{$') ORDER BY 2 DESC LIMIT 3",
    )
    p.here(
        "secret",
        "leak",
        ["ARCHIVE_ACCESS_KEY", "access key", "AKIA"],
        ["secret", "AKIA", "aws", "String", "static final", "hard-coded", "hardcoded"],
        "ACCESS_KEY",
        "AKIA",
        hidden=secret,
    )
    p.here(
        "outlier",
        "wait",
        [late],
        ["PAYMENT_TIMEOUT", "ofSeconds"],
        "PAYMENT_TIMEOUT",
        "/ofSeconds\\(\\d{5,}/",
    )
    both = (f"ERR_{names[twin - 1]}", f"ERR_{names[twin]}")
    assert codes[twin] == codes[twin - 1]
    p.say(
        "duplicate",
        (
            *w.same(codes[twin]),
            (*both, str(codes[twin]), "same"),
            *((one, word) for one in both for word in ("duplicate", "same", "twice")),
        ),
        str(codes[twin]),
        "ERR_",
        line=p.at[f"c{twin}"],
        sql="SELECT substr(text, instr(text, '=') + 2) AS code, count(*) AS duplicates FROM lines WHERE text LIKE '%int ERR_%' "
        "GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    p.say(
        "outline",
        (
            tuple(inner),
            *w.pairs([inner[0]], [inner[1]]),
            *w.pairs(["nested", "inner", "static final class"], inner),
        ),
        "class ",
        inner[0],
        line=p.at[inner[0]],
        sql=w.find("/^ +static final class/"),
    )
    return p.done()


@kind("minutes_text", "printed")
def minutes_text(rng: random.Random) -> Parts:  # noqa: C901
    """The minutes of a long meeting of a town council, with numbered items, motions and votes."""
    p, town = Page(), rng.choice(w.TOWNS)
    members = w.people(rng, 14)
    family = [one.split()[1] for one in members]
    while len(set(family)) < 14:
        members = w.people(rng, 14)
        family = [one.split()[1] for one in members]
    mayor, absent, seats = family[0], family[13], 13
    day = datetime(2025, rng.randint(2, 9), rng.randint(3, 25), 13, 30)
    p.add(f"TOWN COUNCIL OF {town.upper()}", f"Minutes of the regular meeting of {day:%d %B %Y}", "")
    p.add(f"The Mayor, {members[0]}, called the meeting to order at {day:%H:%M}.", "")
    p.add(
        *w.wrap("Present: " + ", ".join(members[:13]) + ".", 96),
        f"Absent without notice: {members[13]}.",
        "",
        mark="absent",
        shift=len(w.wrap("Present: " + ", ".join(members[:13]) + ".", 96)),
    )
    size = rng.randint(96, 104)
    spots = w.spots(rng, size, 13, apart=3)
    lost, tie, wrong, hole, dear, closed, recuse, leak, future, pause, petition, amend, withdrawn = spots
    subject: dict[int, str] = {}
    cost, over, gap = rng.randint(31_000_000, 58_000_000), rng.randint(2, 4), rng.randint(52, 88)
    signed, secret, number = rng.randint(1900, 4800), w.alnum(rng, 14), 0
    now, start = day, f"{day:%H:%M}"
    carried = unanimous = 0
    ordinance = rng.randint(310, 460)
    skipped, recused = 0, ""
    for i in range(size):
        number += 1
        if i == hole:
            skipped = number
            number += 1
        mover, second, speaker = rng.sample(family[1:13], 3)
        street = f"{rng.choice(w.THINGS)} street {rng.randint(1, 160)}"
        title = f"{rng.choice(NOUNS)} of the {w.two(rng, ' ')} in {street}"
        subject[i] = title
        now += timedelta(minutes=rng.randint(2, 5))
        if i == pause:
            back = now + timedelta(minutes=gap)
            told = f"The Mayor suspended the meeting at {now:%H:%M} because of shouting in the gallery; "
            p.add(
                f"{told}it resumed at {back:%H:%M}.",
                "",
                mark="pause",
            )
            now += timedelta(minutes=gap)
        p.add(f"{number}. {title}", "", mark=f"item{i}")
        p.add(*w.wrap(w.paragraph(rng, 3, 6), 96, "   "), "")
        p.add(*w.wrap(f"Councillor {speaker} said: {w.paragraph(rng, 2, 4)}", 96, "   "), "")
        if i == closed:
            p.add(
                f"   The council went into closed session at {now:%H:%M} to discuss the dismissal of the town treasurer.",
                "",
                mark="closed",
            )
        if i == recuse:
            p.add(
                f"   Councillor {speaker} left the room, as a brother of the councillor owns the land.",
                "",
                mark="recuse",
            )
            recused = speaker
        if i == leak:
            p.add(
                f"   The clerk read the access to the archive for the record: user council, password {secret}.",
                "",
                mark="leak",
            )
        if i == petition:
            p.add(
                f"   A petition against the plan with {signed} signatures was handed over by the school.",
                "",
                mark="petition",
            )
        if i == withdrawn:
            p.add("   The item was withdrawn by the applicant before the vote.", "", mark="withdrawn")
            continue
        price = cost if i == dear else rng.randint(4, 90) * 1000
        p.add(
            f"   MOTION by {mover}, second by {second}: to approve the item at a cost of {price:,} EUR.",
            mark=f"motion{i}",
        )
        if i == amend:
            p.add("   AMENDMENT: strike the sentence that protects the old trees. Adopted.", mark="amend")
        if i == future:
            p.add("   The contract begins on 1 April 2052.", mark="future")
        yes, no = seats, 0
        if rng.random() < 0.42:
            no = rng.randint(1, 5)
            yes = seats - no
        if i == lost:
            yes, no = 3, 10
        if i == tie:
            p.add(
                f"   VOTE: 6 in favour, 6 against, 1 abstention. The Mayor, {mayor}, broke the tie. CARRIED.",
                "",
                mark="tie",
            )
            carried += 1
            continue
        if i == recuse:
            yes, no = 12, 0
        if i == wrong:
            yes, no = 12, 5
        verdict = "FAILED" if i == lost else "CARRIED"
        carried += verdict == "CARRIED"
        full = no == 0 and i != recuse
        unanimous += full
        tail = " unanimously" if full else ""
        p.add(f"   VOTE: {yes} in favour, {no} against. {verdict}{tail}.", "", mark=f"vote{i}")
    end = now + timedelta(minutes=7)
    said = carried + over + 3
    p.add(f"The clerk recorded {said} motions carried.", mark="said")
    p.add(
        f"Ordinance {ordinance} enters into force on the day after publication.",
        f"The meeting was adjourned at {end:%H:%M}.",
        "",
        f"Minutes taken by {rng.choice(w.GIVEN)} {rng.choice(w.FAMILY)}, town clerk",
        mark="end",
        shift=1,
    )

    def item(i: int) -> list[str]:
        head = p.lines[p.at[f"item{i}"] - 1]
        return [subject[i], f"item {head.split('.')[0]}", f"{head.split('.')[0]}. "]

    one = p.here
    one(
        "rare status",
        f"vote{lost}",
        ["3 in favour", "FAILED"],
        [*item(lost), "10 against"],
        "FAILED",
        "/VOTE.*FAILED/",
    )
    one(
        "rare status",
        "tie",
        ["broke the tie", "6 in favour, 6 against", "6 against"],
        [mayor, "abstention", *item(tie)],
        "broke the tie",
        "6 against",
    )
    told = ["17 votes", "12 in favour, 5 against", "5 against"]
    one(
        "contradiction",
        f"vote{wrong}",
        told,
        ["12 in favour", "13 present", "13 members", *item(wrong)],
        "12 in favour, 5",
        "/VOTE: \\d+ in favour, \\d+/",
    )
    p.say(
        "gap",
        (
            *w.gap([f"item {skipped}", f"{skipped}."], f"{skipped - 1}.", f"{skipped + 1}."),
            *((str(skipped - 1), str(skipped + 1), word) for word in ("gap", "missing", "jump", "skip")),
        ),
        f"/^({skipped - 1}|{skipped}|{skipped + 1})\\. /",
        "/^\\d+\\. /",
        line=p.at[f"item{hole}"],
        sql="SELECT a AS was, b AS next, 'gap' AS note FROM (SELECT n, CAST(text AS INTEGER) AS b, lag(CAST(text AS INTEGER)) "
        "OVER (ORDER BY n) AS a FROM lines WHERE text REGEXP '^\\d+\\. ') WHERE b - a > 1",
        derived=True,
    )
    one(
        "outlier",
        f"motion{dear}",
        [f"{cost:,}", str(cost), f"{cost / 1e6:.1f}"],
        [*item(dear), "EUR", "cost"],
        f"{cost:,}",
        "/\\d,\\d{3},\\d{3} EUR/",
    )
    one(
        "rare value",
        "closed",
        ["closed session"],
        ["treasurer", "dismissal", *item(closed)],
        "closed session",
        "treasurer",
    )
    one(
        "rare value",
        "recuse",
        ["brother", "left the room", "recus"],
        [recused, "owns the land", "the land"],
        "left the room",
        "brother",
    )
    one(
        "secret",
        "leak",
        ["password"],
        ["archive", "user council", "clerk", "secret", "credential"],
        "password",
        "access to the archive",
        hidden=secret,
    )
    one("time jump", "future", ["2052"], ["1 April", "contract"], "2052", "/20[3-9]\\d/")
    one(
        "rare value",
        "pause",
        ["shouting", "suspended the meeting", f"{gap} minutes"],
        ["gallery", "suspended", "resumed"],
        "suspended",
        "resumed",
    )
    one(
        "rare value",
        "petition",
        [signed, "petition"],
        ["signatures", "school"],
        "petition",
        "signatures",
    )
    one(
        "rare value",
        "amend",
        ["old trees", "AMENDMENT"],
        ["strike the sentence", "trees", "Adopted"],
        "AMENDMENT",
        "Adopted",
    )
    one("rare status", "withdrawn", ["withdrawn"], [*item(withdrawn), "applicant"], "withdrawn")
    p.say(
        "contradiction",
        _told(said, carried, "carried", "motions"),
        "motions carried",
        "CARRIED",
        line=p.at["said"],
        sql="SELECT (SELECT text FROM lines WHERE text LIKE '%motions carried%') AS told, count(*) AS carried FROM lines "
        "WHERE text REGEXP 'VOTE.*CARRIED'",
        derived=True,
    )
    one(
        "rare value",
        "absent",
        [members[13], absent],
        ["Absent", "without notice"],
        "Absent",
        "without notice",
    )
    p.say(
        "range",
        ((start, f"{end:%H:%M}"),),
        "called the meeting",
        "adjourned",
        line=p.at["end"],
        sql=(w.find("/called the meeting|adjourned at/"),),
    )
    return p.done()
