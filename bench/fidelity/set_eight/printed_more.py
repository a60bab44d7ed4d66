"""Printed texts: test runs, logs of services and a thesis."""

# ruff: noqa: S608

import random
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

from .tools import clash, hop, lost, pause, tell


def _engine(rng: random.Random, page: Page, mark: str, inside: dict[int, list[str]]) -> int:
    """The examples of one engine; the lines of inside come after so many examples. Gives back their number."""
    done = 0
    total = rng.randint(58, 84)
    while done < total:
        page.add(w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS)))
        for _ in range(rng.randint(1, 3)):
            page.add(f"  #{rng.choice(w.DOING)}_{rng.choice(w.THINGS)}")
            nested = rng.random() < 0.3
            if nested:
                page.add(f"    when the {rng.choice(w.THINGS)} is {rng.choice(w.PLAIN)}")
            for _ in range(rng.randint(2, 6)):
                if done in inside:
                    page.add(*inside.pop(done), mark=mark)
                verb, noun = rng.choice(w.DOING), rng.choice(w.THINGS)
                tail = rng.choice(
                    (
                        f"for {rng.choice(w.PLAIN)} input",
                        f"of the {rng.choice(w.THINGS)}",
                        "",
                        f"without a {rng.choice(w.THINGS)}",
                    )
                )
                page.add(
                    "      " + "  " * nested + f"{verb}s the {rng.choice(w.PLAIN)} {noun} {tail}".rstrip()
                )
                done += 1
        page.add("")
    return done


@kind("e_rspec_engines", "printed")
def e_rspec_engines(rng: random.Random) -> Parts:
    """rspec in documentation format, for one engine of a monorepo after the other."""
    count = rng.randint(20, 23)
    names = w.distinct(rng, count, lambda r: f"{r.choice(w.TEAMS)}_{r.choice(w.THINGS)}")
    spots = w.spots(rng, count, 13, apart=1, low=0.06, high=0.97)
    wrong, nil, load, wait, slow, thin, hole, short, old, leak, retry, focus, killed = spots
    n = Page()
    good, bad = rng.randint(400, 900), rng.randint(1000, 1900)
    minutes, cover, secret = rng.randint(16, 38), f"{rng.uniform(21, 39):.2f}", w.alnum(rng, 22)
    method, ticket = f"{rng.choice(w.DOING)}_{rng.choice(w.THINGS)}", f"OPS-{rng.randint(1000, 9999)}"
    word = {k: rng.choice(w.THINGS) for k in spots}
    failing = {
        wrong: f"rounds the {word[wrong]} half to even on the last day",
        nil: f"keeps the {word[nil]} of a closed account",
    }
    file = {k: f"./spec/models/{word[k]}_{rng.choice(w.DOING)}_spec.rb" for k in spots}
    inside: dict[int, list[str]] = {
        wrong: [f"      {failing[wrong]} (FAILED - 1)"],
        nil: [f"      {failing[nil]} (FAILED - 1)"],
        wait: [
            f"      pays out the {word[wait]} twice a day (PENDING: Temporarily skipped with xit, {ticket})"
        ],
        old: [
            f"DEPRECATION WARNING: {method} is deprecated and will be removed in 9.0, called from "
            f"{file[old]}:{rng.randint(20, 90)}"
        ],
        leak: [f"D, [2025-03-11] DEBUG -- : POST https://pay.example.org/v1 Authorization: Basic {secret}"],
        retry: [f"RSpec::Retry: 3rd try {file[retry]}:{rng.randint(20, 90)}"],
    }
    total, number, failures = 0, 0, 2
    last = count + 1
    for k, name in enumerate(names):
        number += 1 + (k == hole)
        n.add(
            f"==> [{number}/{last}] engines/{name}: bundle exec rspec --format documentation", mark=f"head{k}"
        )
        if k == focus:
            n.add("Run options: include {:focus=>true}", mark=f"in{k}")
        seed = rng.randint(1000, 65_000)
        n.add("", f"Randomized with seed {seed}", "")
        if k == load:
            n.add(
                f"An error occurred while loading {file[k]}.",
                f"NameError: uninitialized constant {w.camel(word[k])}Policy",
                f"# {file[k]}:{rng.randint(3, 9)}:in `<top (required)>'",
                "",
                mark=f"in{k}",
            )
            done = 0
        elif k == focus:
            n.add(w.camel(word[k], "Gateway"), f"  #{method}", f"      accepts the {word[k]}", "")
            done = 1
        else:
            done = _engine(rng, n, f"in{k}", {rng.randint(25, 45): inside[k]} if k in inside else {})
        failed = 1 if k in failing else 0
        extra = failed or k == wait
        done += bool(extra)
        total += done if k != killed else 0
        if k == killed:
            n.add(
                "Killed",
                f"rake aborted! Command failed with status (137): engines/{name}",
                "",
                mark=f"end{k}",
            )
            continue
        if failed:
            n.add("Failures:", "", f"  1) {failing[k]}", mark=f"fail{k}")
            if k == wrong:
                n.add(
                    f"     Failure/Error: expect(subject.{method}).to eq({good})",
                    "",
                    f"       expected: {good}",
                    f"            got: {bad}",
                )
            else:
                n.add(
                    f"     Failure/Error: subject.{method}",
                    "",
                    f"     NoMethodError: undefined method `{method}' for nil:NilClass",
                )
            n.add(f"     # {file[k]}:{rng.randint(20, 90)}:in `block (3 levels) in <top (required)>'", "")
        took = (
            f"{rng.uniform(1.2, 28):.2f} seconds"
            if k != slow
            else f"{minutes} minutes {rng.uniform(2, 50):.1f} seconds"
        )
        n.add(f"Finished in {took} (files took {rng.uniform(0.8, 4):.2f} seconds to load)", mark=f"took{k}")
        told = done + (rng.randint(11, 19) if k == short else 0)
        summary = (
            f"{told} examples, {failed} failure{'' if failed else 's'}".replace("1 examples", "1 example")
            if told == 1
            else f"{told} examples, {failed} failure{'' if failed == 1 else 's'}"
        )
        if k == wait:
            summary += ", 1 pending"
        if k == load:
            summary += ", 1 error occurred outside of examples"
        if k == short:
            false, real = told, done
        n.add(summary, mark=f"sum{k}")
        lines = rng.randint(600, 2900)
        part = float(cover) if k == thin else rng.uniform(86, 98)
        n.add(
            "",
            f"Coverage report generated for RSpec to engines/{name}/coverage. "
            f"{int(lines * part / 100)} / {lines} LOC ({part:.2f}%) covered.",
            "",
            mark=f"cover{k}",
            shift=1,
        )

    def here(what: str, k: int, mark: str, telling: list | str, *searches: str, **more: object) -> None:
        tell(n, what, f"{mark}{k}", telling, [names[k], word[k]], *searches, **more)

    here(
        "failing test",
        wrong,
        "in",
        f"FAILED|{failing[wrong]}|{str(bad)}",
        "FAILED",
        "expected:",
        more=((failing[wrong], "fail"), (str(good), str(bad)), (failing[wrong][:24], "FAILED")),
    )
    here(
        "failing test",
        nil,
        "in",
        f"FAILED|{failing[nil]}|+NoMethodError",
        "FAILED",
        "NoMethodError",
        more=((failing[nil], "fail"), ("NoMethodError", method)),
    )
    here(
        "error",
        load,
        "in",
        "+uninitialized constant|+NameError|error occurred while loading|outside of examples|"
        "^error occurred outside of examples",
        "NameError",
        "error occurred",
    )
    here("rare status", wait, "in", f"+PENDING|+{ticket}|+pending|xit", "PENDING", "skipped")
    here(
        "outlier",
        slow,
        "took",
        f"{minutes} minutes|{minutes} min|^Finished in {minutes} minutes",
        "minutes",
        "/Finished in \\d+ minutes/",
        more=((f"Finished in {minutes} minutes",),),
    )
    here(
        "outlier",
        thin,
        "cover",
        f"+{cover}%|{cover}|{cover[:4]}|{float(cover):.0f}%",
        cover,
        "/[(][2-3]\\d[.]/",
        more=((cover, "cover"), (cover, "LOC")),
    )
    at = hole
    evidence = hop(f"[{at}/{last}]", f"[{at + 2}/{last}]", [f"[{at + 1}/{last}]"], "==>", "engine") + w.pairs(
        [f"{at + 1}/{last}", f"engine {at + 1}", f"[{at + 1}"], w.LEAP[:6]
    )
    evidence += hop(at, at + 2, [at + 1], "engine", "==>", f"/{last}") + (
        (f"{count} of {last}",),
        (f"{at}/{last}", f"{at + 2}/{last}", "gap"),
    )
    n.say(
        "gap",
        evidence,
        "==> [",
        f"[{at + 2}/{last}]",
        line=n.at[f"head{hole}"],
        sql=w.find("==> ["),
        derived=True,
    )
    n.say(
        "contradiction",
        clash(false, real, [names[short], n.at[f"sum{short}"]]) + ((f"{false} examples", f"{real} "),),
        f"{false} examples",
        "/\\d+ examples/",
        line=n.at[f"sum{short}"],
        sql=w.find(f"{false} examples"),
        derived=True,
    )
    here(
        "rare value",
        old,
        "in",
        f"+DEPRECATION|deprecated|removed in 9.0|{method}|^DEPRECATION WARNING",
        "DEPRECATION",
        "deprecated",
    )
    here(
        "secret",
        leak,
        "in",
        "+Authorization|Basic|credential|^Authorization: Basic|^DEBUG",
        "Authorization",
        "DEBUG",
        hidden=secret,
    )
    here("rare status", retry, "in", "Retry|+3rd try|flaky|^RSpec::Retry", "Retry", "3rd try")
    here("rare value", focus, "in", "+focus|1 example|^:focus=>true|^Run options", "focus", "Run options")
    here(
        "missing section",
        killed,
        "end",
        "+Killed|137|aborted|no summary|+status (137)|^rake aborted",
        "Killed",
        "aborted",
    )
    total += false - real
    n.tally(
        total,
        ["examples", "tests", "specs", "in total"],
        "/\\d+ examples?,/",
        sql=w.find("/\\d+ examples?,/"),
    )
    n.tally(
        count,
        ["engines", "engine runs", "runs", "suites", "==>", "rspec"],
        "==>",
        sql=w.how_many("engines", "==> ["),
    )
    assert failures == 2
    return n.done()


SERVICES = ("api", "worker", "db", "cache", "proxy", "mailer", "search")


@kind("e_compose_logs", "printed")
def e_compose_logs(rng: random.Random) -> Parts:
    """What docker compose logs -t prints for a stack of seven services."""
    n = Page()
    clock = w.Clock(
        rng, datetime(2025, rng.randint(1, 9), rng.randint(2, 26), rng.randint(1, 15), tzinfo=UTC), 0.1, 6
    )
    job, wide = rng.randint(20_000, 80_000), 9
    paths = [f"/{rng.choice(w.TEAMS)}/{rng.choice(w.THINGS)}" for _ in range(30)]
    size = rng.randint(1050, 1250)
    marks = w.spots(rng, size, 14, apart=8)
    fatal, crash, kill, quiet, back, leak, alien, slow, twin, hole, batch, migrate, disk, cert = marks
    wait, missed, said, kept = rng.randint(700, 2500), rng.randint(12, 48), rng.randint(400, 900), {}
    table, lack = rng.choice(w.THINGS), rng.randint(13, 89)
    took, secret, days = rng.randint(48_000, 190_000), w.alnum(rng, 18), rng.randint(2, 6)
    jobs = 0
    kinds = {one: 0 for one in SERVICES}
    ids = {}

    def put(service: str, text: str, mark: str = "", now: datetime | None = None) -> datetime:
        moment = now or clock.tick()
        n.add(
            f"{service + '-1':<{wide}} | {moment:%Y-%m-%dT%H:%M:%S.%f}{rng.randint(100, 999)}Z {text}",
            mark=mark,
        )
        return moment

    def usual(force: str = "", mark: str = "") -> None:
        nonlocal job, jobs
        service = force or w.pick(
            rng, {"api": 9, "worker": 6, "db": 2, "cache": 2, "proxy": 6, "mailer": 2, "search": 2}
        )
        kinds[service] += 1
        thing, ms = rng.choice(w.THINGS), round(rng.lognormvariate(3.2, 0.7), 1)
        if service == "worker":
            job += 1
            jobs += 1
            ids["job"] = job
            put(service, f"INFO job={job} class={w.camel(rng.choice(w.DOING), thing)} done in {ms} ms", mark)
            return
        text = {
            "api": f"INFO request_id={w.hexes(rng, 12)} {rng.choice(('GET', 'GET', 'POST'))} {rng.choice(paths)} 200 {ms}ms",
            "db": rng.choice(
                (
                    f"LOG:  checkpoint complete: wrote {rng.randint(10, 900)} buffers",
                    f'LOG:  automatic vacuum of table "shop.public.{thing}": index scans: {rng.randint(0, 1)}',
                )
            ),
            "cache": rng.choice(
                (
                    f"{rng.randint(2, 40)} changes in 300 seconds. Saving...",
                    "Background saving terminated with success",
                    "DB saved on disk",
                )
            ),
            "proxy": f'172.20.0.{rng.randint(3, 20)} - "{rng.choice(("GET", "HEAD", "POST"))} {rng.choice(paths)} HTTP/1.1" '
            f"{w.pick(rng, {'200': 90, '304': 12, '404': 4})} {rng.randint(100, 9000)}",
            "mailer": f"sent template={thing} to=<user-{rng.randint(100, 9999)}@example.org> queue={rng.randint(0, 6)}",
            "search": f"[INFO ] [{rng.choice(w.PLAIN)}-node] refreshed index {thing}_v{rng.randint(1, 4)} "
            f"with {rng.randint(3, 900)} docs",
        }[service]
        put(service, text, mark)

    for k in range(size):
        if k == fatal:
            put(
                "api",
                f"ERROR unhandled exception: deadlock detected while updating {table} (SQLSTATE 40P01)",
                "fatal",
            )
        elif k == crash:
            put(
                "search",
                "fatal error in thread [write-3], exiting: java.lang.OutOfMemoryError: Java heap space",
                "crash",
            )
        elif k == kill:
            n.add("mailer-1 exited with code 137", mark="kill")
        elif k == quiet:
            ids["before"] = clock.now
            clock.now += timedelta(seconds=wait)
            usual("api", "quiet")
            ids["after"] = clock.now
        elif k == back:
            earlier = clock.now - timedelta(days=rng.randint(300, 600), hours=3)
            kept["back"] = f"{earlier:%Y-%m-%d}"
            put("cache", "DB loaded from append only file: 0.412 seconds", "back", earlier)
        elif k == leak:
            put("worker", f"DEBUG connecting to amqp://shop:{secret}@queue.example.org:5672/shop", "leak")
        elif k == alien:
            put("shell", f"root@{w.hexes(rng, 12)}:/# psql -c 'update {table}s set state = 0'", "alien")
        elif k == slow:
            put(
                "db",
                f"LOG:  duration: {took}.{rng.randint(100, 999)} ms  statement: SELECT * FROM {table}s ORDER BY random()",
                "slow",
            )
        elif k == twin:
            usual("worker")
            put(
                "worker",
                f"INFO job={job} class={w.camel('send', table)} done in {round(rng.uniform(20, 60), 1)} ms",
                "twin",
            )
            ids["twin"] = job
            jobs += 1
            kinds["worker"] += 1
        elif k == hole:
            ids["low"] = job
            job += missed
            usual("worker", "hole")
            ids["high"] = job
        elif k == batch:
            put(
                "worker", f"INFO import of {table}s finished: read {said} rows, stored {said - lack}", "batch"
            )
        elif k == migrate:
            put(
                "api",
                f"WARN schema version {rng.randint(20, 40)} in the database is newer than {rng.randint(10, 19)} in the code",
                "migrate",
            )
        elif k == disk:
            put(
                "db",
                f'PANIC:  could not write to file "pg_wal/xlogtemp.{rng.randint(20, 90)}": No space left on device',
                "disk",
            )
        elif k == cert:
            put("proxy", f"warn: certificate of shop.example.org expires in {days} days", "cert")
        else:
            usual()

    def here(
        what: str, mark: str, telling: list | str, *searches: str, names: tuple = (), **more: object
    ) -> None:
        stamp = n.lines[n.at[mark] - 1].split(" | ")[-1][11:19]
        tell(n, what, mark, telling, [stamp, *names] if mark != "kill" else [*names], *searches, **more)

    here(
        "error",
        "fatal",
        "deadlock|+40P01|unhandled exception|^deadlock detected|^ERROR",
        "ERROR",
        "deadlock",
        names=("api", table),
    )
    here(
        "error",
        "crash",
        "+OutOfMemoryError|heap space|+fatal error",
        "OutOfMemory",
        "fatal",
        names=("search",),
    )
    here("error", "kill", "137|+exited|^exited with code 137", "exited", "137", names=("mailer",))
    begin, end = ids["before"], ids["after"]
    sql = f"SELECT n, text FROM lines WHERE n IN ({n.at['quiet'] - 1}, {n.at['quiet']})"
    n.say(
        "gap",
        pause(begin, end, n.at["quiet"]),
        f"{end:%H:%M:%S}",
        f"{begin:%H:%M:%S}",
        line=n.at["quiet"],
        sql=sql,
        derived=True,
    )
    here(
        "time jump",
        "back",
        f"+{kept['back']}|append only file",
        kept["back"],
        "append only",
        names=("cache", "back", "earlier", "jump", "order"),
        more=((kept["back"],),),
    )
    here(
        "secret",
        "leak",
        "+amqp://|password|credential|queue.example.org|^DEBUG|^amqp",
        "amqp",
        "DEBUG",
        names=("worker",),
        hidden=secret,
    )
    here(
        "rare value",
        "alien",
        "+shell-1|+root@|psql -c|update |^shell",
        "shell",
        "root@",
        names=("shell", table),
    )
    here(
        "outlier",
        "slow",
        f"{took}|{took / 1000:.1f} s|{took // 1000} s|ORDER BY random|^duration|^duration: {took}",
        str(took),
        "duration:",
        names=("db", table),
    )
    n.say(
        "duplicate",
        (*w.same(f"job={ids['twin']}"), *w.same(ids["twin"])),
        f"job={ids['twin']}",
        "job=",
        line=n.at["twin"],
        sql=w.find(f"job={ids['twin']}"),
        derived=True,
    )
    low, high = ids["low"], ids["high"]
    evidence = hop(low, high, [low + 1], "job", "worker") + w.pairs([high, low, low + 1], w.LEAP[:6])
    n.say(
        "gap",
        evidence,
        f"job={high}",
        "job=",
        line=n.at["hole"],
        sql="SELECT n, text FROM lines WHERE text LIKE '%job=%'",
        derived=True,
    )
    told = [
        f"stored {said - lack}",
        said - lack,
        f"{lack} rows",
        f"{lack} lost",
        f"{lack} fewer",
        f"{lack} not",
    ]
    here(
        "contradiction",
        "batch",
        told,
        "stored",
        "import of",
        names=(said, f"read {said}", "import", "worker"),
    )
    here(
        "rare value", "migrate", "+schema version|+newer than|^WARN", "schema version", "WARN", names=("api",)
    )
    here(
        "error",
        "disk",
        "+No space left|+PANIC|pg_wal|^No space left on device",
        "PANIC",
        "No space",
        names=("db",),
    )
    here(
        "rare value",
        "cert",
        f"expires in {days}|+certificate|^expires in",
        "certificate",
        "expires",
        names=("proxy", "shop.example.org", f"{days} days"),
    )
    n.tally(
        len(n.lines),
        ["lines", "rows", "log lines", "entries", "messages", "records"],
        "|",
        sql="SELECT count(*) AS \"lines\" FROM lines WHERE text <> ''",
    )
    n.tally(
        jobs,
        ["job=", "jobs", "done in", "finished jobs", "INFO job", "worker jobs"],
        "job=",
        sql=w.how_many("jobs", "job="),
    )
    return n.done()


REGIONS = "Alder Birch Cedar Dogwood Elder Fir Ginkgo Hazel Ivy Juniper Larch Maple Nettle Oak Poplar Rowan Spruce Willow".split()


def _table(
    rng: random.Random, page: Page, label: str, plots: list[tuple[str, int, float]], told: int
) -> None:
    page.add(
        "\\begin{table}[tbp]",
        "  \\centering",
        f"  \\caption{{Plants counted on each plot ({label}).}}",
        f"  \\label{{tab:{label}}}",
    )
    page.add(
        "  \\begin{tabular}{lrr}",
        "    \\toprule",
        "    Plot & Plants & Mean height (cm) \\\\",
        "    \\midrule",
    )
    for name, number, height in plots:
        page.add(f"    {name} & {number} & {height:.1f} \\\\", mark=f"row{label}{name}")
    page.add(
        "    \\midrule",
        f"    Total & {told} & \\\\",
        "    \\bottomrule",
        "  \\end{tabular}",
        "\\end{table}",
        "",
        mark=f"total{label}",
        shift=1,
    )


def _prose(rng: random.Random, page: Page, cites: list[str], paragraphs: int) -> None:
    for _ in range(paragraphs):
        text = w.paragraph(rng, 3, 6)
        if rng.random() < 0.6:
            text = text[:-1] + f"~\\cite{{{rng.choice(cites)}}}."
        page.add(*w.wrap(text, 98), "")


@kind("e_latex_thesis", "printed")
def e_latex_thesis(rng: random.Random) -> Parts:
    """The LaTeX source of a thesis with one chapter for each site of a field study."""
    count = 14
    places = rng.sample(REGIONS, count)
    spots = w.spots(rng, count, 12, apart=1, low=0.08, high=0.99)
    sum_, twin, lack, todo, tall, hide, leak, unit, retract, ref, hole, signif = spots
    cites = w.distinct(rng, 40, lambda r: f"{r.choice(w.FAMILY).lower()}{r.randint(1988, 2023)}")
    n = Page()
    n.add(
        "\\documentclass[11pt]{book}",
        "\\usepackage{booktabs,graphicx,siunitx,hyperref}",
        "",
        "\\title{Growth of meadow plants on sites with different soils}",
    )
    n.add(
        f"\\author{{{rng.choice(w.GIVEN)} {rng.choice(w.FAMILY)}}}",
        "\\begin{document}",
        "\\maketitle",
        "",
        "\\chapter{Introduction}",
        "",
    )
    _prose(rng, n, cites, 6)
    total_sections, figures = 0, 0
    height, shift = round(rng.uniform(610, 990), 1), rng.randint(21, 69)
    secret, ghost = w.alnum(rng, 24), f"{rng.choice(w.FAMILY).lower()}2031"
    p_value, year = f"0.{rng.randint(31, 78)}", rng.randint(2019, 2023)
    label: dict[int, str] = {}
    trials, real, told = [], 0, 0
    trial = rng.randint(101, 300)
    for k, place in enumerate(places):
        low = place.lower()
        label[k] = low
        trial += 1 + (k == hole)
        trials.append(trial)
        n.add(
            f"\\chapter{{Site {place} (trial T{trial})}}",
            f"\\label{{chap:{label[twin - 1] if k == twin else low}}}",
            "",
            mark=f"chapter{k}",
        )
        for part in ("Setup", "Soil", "Data", "Results", "Limits"):
            if part == "Limits" and k == lack:
                continue
            n.add(f"\\section{{{part}}}", f"\\label{{sec:{low}-{part.lower()}}}", "", mark=f"{part}{k}")
            total_sections += 1
            _prose(rng, n, cites, rng.randint(2, 4))
            if part == "Data":
                names = sorted(
                    rng.sample([f"{a}{b}" for a in "ABCDEFG" for b in range(1, 7)], rng.randint(9, 14))
                )
                plots = [(one, rng.randint(40, 320), rng.uniform(28, 64)) for one in names]
                at = rng.randrange(3, len(plots) - 2)
                if k == tall:
                    plots[at] = (plots[at][0], plots[at][1], height)
                    n.at["tall"] = 0
                amount = sum(one[1] for one in plots)
                _table(rng, n, low, plots, amount + (shift if k == sum_ else 0))
                if k == tall:
                    n.at["tall"] = n.at[f"row{low}{plots[at][0]}"]
                if k == sum_:
                    real, told = amount, amount + shift
            if part == "Results":
                n.add(
                    "\\begin{figure}[tbp]",
                    f"  \\includegraphics[width=\\linewidth]{{figures/{low}-growth.pdf}}",
                    f"  \\caption{{Growth at {place} over the season.}}",
                    f"  \\label{{fig:{low}}}",
                    "\\end{figure}",
                    "",
                )
                figures += 1
                if k == signif:
                    n.add(
                        f"Unlike at all other sites, the effect at {place} was not significant ($p = {p_value}$).",
                        "",
                        mark="signif",
                    )
                else:
                    n.add(
                        f"The effect at {place} was significant ($p < 0.0{rng.randint(1, 4)}$), see Figure~\\ref{{fig:{low}}}.",
                        "",
                    )
                if k == ref:
                    n.add(
                        f"This agrees with earlier work~\\cite{{{ghost}}} on the same soil.", "", mark="ref"
                    )
            if part == "Setup":
                n.add(
                    f"Plots were watered with \\SI{{{rng.randint(4, 9)}}}{{\\litre}} each, "
                    f"at \\SI{{{rng.randint(14, 24)}}}{{\\celsius}}.",
                    "",
                )
                if k == todo:
                    n.add(
                        f"\\todo{{The sensor failed for 9 days here, ask {rng.choice(w.GIVEN)} whether we may use it}}",
                        "",
                        mark="todo",
                    )
                if k == leak:
                    n.add(
                        f"\\url{{https://data.example.org/raw?access_token={secret}}} holds the raw readings.",
                        "",
                        mark="leak",
                    )
            if part == "Soil":
                unit_ = "gallon" if k == unit else "\\gram\\per\\kilogram"
                text = f"The soil held \\SI{{{rng.uniform(1, 9):.1f}}}{{{unit_}}} of nitrogen."
                n.add(
                    text
                    if k != unit
                    else f"The soil took \\SI{{{rng.uniform(1, 9):.1f}}}{{\\gallon}} of water.",
                    "",
                    mark=f"soil{k}",
                )
                if k == hide:
                    n.add(
                        f"% REMOVED before submission: {rng.randint(12, 33)} plots were dropped because they "
                        "did not fit the model",
                        "",
                        mark="hide",
                    )
                if k == retract:
                    n.add(
                        f"We retract the soil values of {place} published in {year}; the probe was not calibrated.",
                        "",
                        mark="retract",
                    )
    n.add("\\chapter{Conclusion}", "")
    _prose(rng, n, cites, 5)
    n.add("\\end{document}")

    def here(what: str, mark: str, k: int, telling: list | str, *searches: str, **more: object) -> None:
        tell(n, what, mark, telling, [places[k], f"T{trials[k]}"], *searches, **more)

    spot = [n.at[f"total{label[sum_]}"], places[sum_], f"tab:{label[sum_]}"]
    n.say(
        "contradiction",
        clash(told, real, spot),
        f"Total & {told}",
        "/Total &/",
        line=spot[0],
        sql=w.find("/Total & /"),
        derived=True,
    )
    ident = f"chap:{label[twin - 1]}"
    n.say(
        "duplicate",
        (*w.same(ident), (ident, places[twin]), (ident, "multiply"), (ident, "again")),
        ident,
        "\\label",
        line=n.at[f"chapter{twin}"] + 1,
        sql=w.find(ident),
        derived=True,
    )
    line = n.at[f"chapter{lack}"]
    sql = "SELECT n, text FROM lines WHERE text LIKE '\\chapter%' OR text LIKE '%Limits%' "
    sql += f"AND n > {line - 200} AND n < {line + 200}"
    n.say(
        "missing section",
        lost([places[lack], label[lack], f"T{trials[lack]}"], ["Limits"], count),
        "Limits",
        places[lack],
        sql=sql,
        derived=True,
    )
    here("unfinished", "todo", todo, "+todo|+sensor failed|9 days|^\\todo", "todo", "sensor failed")
    here(
        "outlier",
        "tall",
        tall,
        f"+{height}",
        str(height),
        "/& \\d{3}[.]\\d/",
        more=w.pairs([height], ["cm", "height", f"tab:{label[tall]}"]),
    )
    here("hidden remark", "hide", hide, "+REMOVED|were dropped|+did not fit|^% REMOVED", "REMOVED", "/^%/")
    here(
        "secret",
        "leak",
        leak,
        "+access_token|token|+data.example.org|^access_token=",
        "token",
        "\\url",
        hidden=secret,
    )
    here("changed unit", f"soil{unit}", unit, "+gallon|^\\gallon", "gallon", "\\SI")
    here(
        "change with meaning",
        "retract",
        retract,
        "+retract|+not calibrated|^We retract",
        "retract",
        "calibrated",
    )
    here(
        "rare value",
        "ref",
        ref,
        f"+{ghost}|2031",
        ghost,
        "/cite[{].*20[3-9]/",
        more=((ghost, "2031", "future"), (ghost, "cite")),
    )
    before, after = trials[hole - 1], trials[hole]
    evidence = (
        hop(before, after, [before + 1], "trial", "chapter", "Site")
        + hop(f"T{before}", f"T{after}", [f"T{before + 1}"], "trial")
        + w.pairs([f"T{before + 1}", f"T{after}"], w.LEAP[:6])
    )
    n.say(
        "gap",
        evidence,
        "/trial T\\d+/",
        f"T{after}",
        line=n.at[f"chapter{hole}"],
        sql=w.find("\\chapter"),
        derived=True,
    )
    here(
        "contradiction",
        "signif",
        signif,
        f"+not significant|+{p_value}|p = {p_value}|no significant",
        "not significant",
        p_value,
    )
    n.tally(
        count + 2, ["chapters", "\\chapter", "chapter"], "\\chapter", sql=w.how_many("chapters", "\\chapter{")
    )
    n.tally(
        total_sections,
        ["sections", "\\section", "section"],
        "\\section",
        sql=w.how_many("sections", "\\section{"),
    )
    n.tally(
        figures,
        ["figures", "figure", "\\begin{figure}", "includegraphics", "\\includegraphics"],
        "includegraphics",
        sql=w.how_many("figures", "\\begin{figure}"),
    )
    return n.done()
