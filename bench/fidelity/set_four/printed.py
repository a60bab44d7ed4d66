"""What programs print, and documents in text."""

# ruff: noqa: SIM905

import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

MISSES = (
    "missing",
    "does not exist",
    "undefined",
    "unknown",
    "dangling",
    "broken",
    "unresolved",
    "no target",
    "not defined",
)
UNUSED = (
    "unused",
    "empty",
    "no rule",
    "never",
    "not referenced",
    "unreferenced",
    "without",
    "0 rules",
    "nothing",
    "no jump",
)


def _told(label: str, told: object, real: object) -> w.Evidence:
    """A number told beside the real one, or with a word that says that it is wrong."""
    words = (
        "contradict",
        "mismatch",
        "differs",
        "real",
        "actual",
        "counted",
        "but ",
        "not ",
        "wrong",
        "found",
    )
    thing = label.split()[-1].rstrip("s")
    return ((str(told), str(real), thing), *((label, str(told), word) for word in words))


def _jest_frame(path: str, row: int, code: str, column: int) -> list[str]:
    """The excerpt of the source below a failure."""
    return [
        "",
        f"      {row - 2} |     const result = await subject();",
        f"      {row - 1} |",
        f"    > {row} |     {code}",
        f"      {' ' * len(str(row))} | {' ' * (column + 3)}^",
        f"      {row + 1} |   }});",
        f"      {row + 2} |",
        "",
        f"      at Object.<anonymous> ({path}:{row}:{column})",
        "",
    ]


@kind("jest_verbose", "printed")
def jest_verbose(rng: random.Random) -> Parts:  # noqa: C901
    """`jest --ci --verbose` of a web shop: the suites with their tests, the failures again, and the summary."""
    p, size = Page(), rng.randint(112, 122)
    p.add("", "> shop-web@3.14.2 test", "> jest --ci --verbose", "")
    paths = w.distinct(
        rng,
        size,
        lambda r: (
            f"src/{r.choice(w.TEAMS)}/__tests__/{w.lower_camel(r.choice(w.PLAIN), r.choice(w.THINGS))}.test.ts"
        ),
    )
    spots = w.spots(rng, size, 13, apart=3)
    wrong, late, broke, kaput, snap, slow, skip, todo, act, leak, tedious, twice, stale = spots
    said: dict[str, str] = {}
    failures: list[list[str]] = []
    tests: Counter[str] = Counter()
    secret = f"eyJhbGciOiJIUzI1NiJ9.{w.alnum(rng, 40)}.{w.alnum(rng, 22)}"
    expected = rng.randint(2000, 8000)
    received, took = expected - rng.randint(3, 90), rng.randint(4100, 4900)
    idle, row = f"{rng.uniform(118, 190):.3f}", rng.randint(31, 90)
    for i, path in enumerate(paths):
        unit = path.rsplit("/", 1)[1].removesuffix(".test.ts")
        bad = i in (wrong, late, broke, kaput, snap)
        time = idle if i == slow else f"{rng.uniform(5, 8.9):.3f}" if rng.random() < 0.06 else ""
        p.add(f"{'FAIL' if bad else 'PASS'} {path}" + (f" ({time} s)" if time else ""), mark=f"suite{i}")
        if i == broke:
            failures.append(
                [
                    "  ● Test suite failed to run",
                    "",
                    f"    Cannot find module '../{unit}Legacy' from '{path}'",
                    "",
                    f"      at Resolver._throwModNotFoundError (node_modules/jest-resolve/build/resolver.js:{row + 400}:11)",
                    f"      at Object.<anonymous> ({path}:3:1)",
                    "",
                ]
            )
            p.add(*failures[-1], mark="broke", shift=2)
            continue
        titles = w.distinct(
            rng,
            18,
            lambda r: (
                f"should {r.choice(w.DOING)} the {r.choice(w.PLAIN)} {r.choice(w.THINGS)}"
                + (f" when the {r.choice(w.THINGS)} is {r.choice(w.PLAIN)}" if r.random() < 0.4 else "")
            ),
        )
        p.add(f"  {unit}")
        for block in range(rng.randint(2, 3)):
            scope = "" if not block else f"with the {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}"
            if scope:
                p.add(f"    {scope}")
            many = rng.randint(3, 6)
            for k in range(many):
                title, pad = titles.pop(), "      " if scope else "    "
                special = k == 1 and block == 1
                ms = rng.randint(1, 38)
                if special and bad:
                    said[str(i)] = f"{unit} › {scope} › {title}"
                    p.add(f"{pad}✕ {title} ({5003 if i == late else ms} ms)")
                    tests["failed"] += 1
                elif special and i in (skip, todo):
                    name = "skipped" if i == skip else "todo"
                    said[name] = title
                    p.add(f"{pad}{'○' if i == skip else '✎'} {name} {title}", mark=name)
                    tests[name] += 1
                else:
                    if special and i == tedious:
                        ms, said["tedious"] = took, title
                        p.add(mark="tedious")
                    p.add(f"{pad}✓ {title}" + (f" ({ms} ms)" if ms > 3 else ""))
                    tests["passed"] += 1
                    if special and i == twice:
                        said["twice"] = title
                        p.add(f"{pad}✓ {title} (6 ms)", mark="twice")
                        tests["passed"] += 1
        p.add("")
        if i == act:
            p.add(
                "  console.error",
                "    Warning: An update to CheckoutPanel inside a test was not wrapped in act(...).",
                "",
                "      at printWarning (node_modules/react-dom/cjs/react-dom.development.js:86:30)",
                "",
                mark="act",
                shift=1,
            )
        if i == leak:
            p.add(
                "  console.log",
                f"    request headers {{ Authorization: 'Bearer {secret}' }}",
                "",
                mark="leak",
                shift=1,
            )
            p.add(f"      at log ({path}:{row}:13)", "")
        if bad:
            head = f"  ● {said[str(i)]}"
            if i == wrong:
                more = [
                    "    expect(received).toBe(expected) // Object.is equality",
                    "",
                    f"    Expected: {expected}",
                ]
                more += [
                    f"    Received: {received}",
                    *_jest_frame(path, row, f"expect(result.cents).toBe({expected});", 26),
                ]
            elif i == late:
                more = [
                    '    thrown: "Exceeded timeout of 5000 ms for a test.',
                    (
                        "    Add a timeout value to this test to increase the timeout, if this is a long-running test. See "
                        'https://jestjs.io/docs/api#testname-fn-timeout."'
                    ),
                    *_jest_frame(path, row + 12, "it('should settle', async () => {", 3),
                ]
            elif i == kaput:
                more = ["    TypeError: Cannot read properties of undefined (reading 'vatRate')"]
                more += _jest_frame(path, row + 5, "const rate = country.rules.vatRate;", 32)
            else:
                name = said[str(i)].replace(" ›", "")
                more = ["    expect(received).toMatchSnapshot()", "", f"    Snapshot name: `{name} 1`", ""]
                more += [
                    "    - Snapshot  - 1",
                    "    + Received  + 1",
                    "",
                    "    @@ -3,7 +3,7 @@",
                    "        <span",
                ]
                more += [
                    '          className="price"',
                    "        >",
                    "    -     EUR 19.90",
                    "    +     EUR NaN",
                ]
                more += [
                    "        </span>",
                    *_jest_frame(path, row + 9, "expect(tree).toMatchSnapshot();", 18),
                ]
            failures.append([head, "", *more])
            p.add(*failures[-1], mark=f"fail{i}")
    p.add("Summary of all failing tests")
    for i, block in zip(sorted((wrong, late, broke, kaput, snap)), failures, strict=True):
        p.add(f"FAIL {paths[i]}", *block)
    obsolete = f"{paths[stale].rsplit('/', 1)[1].removesuffix('.test.ts')} renders the empty state 1"
    p.add(
        "Snapshot Summary",
        " › 1 snapshot failed from 1 test suite. Inspect your code changes or run `npm test -- -u` to update them.",
        " › 1 snapshot obsolete from 1 test suite. To remove it, run `npm test -- -u`.",
        f"   ↳ {paths[stale]}",
        f"       • {obsolete}",
        "",
        mark="snapshots",
    )
    total = sum(tests.values())
    stated = f"{tests['failed']} failed, 1 skipped, 1 todo, {tests['passed']} passed, {total} total"
    p.add(f"Test Suites: 5 failed, {size - 5} passed, {size} total", mark="suites")
    p.add(f"Tests:       {stated}", mark="tests")
    p.add(
        "Snapshots:   1 failed, 1 obsolete, 38 passed, 39 total",
        f"Time:        {rng.uniform(210, 290):.3f} s",
    )
    p.add("Ran all test suites.")
    lacking = f"{rng.uniform(61, 74):.2f}"
    p.add(f'Jest: "global" coverage threshold for branches (80%) not met: {lacking}%', mark="threshold")
    p.add(
        "A worker process has failed to exit gracefully and has been force exited. This is likely caused by tests "
        "leaking due to improper teardown. Try running with --detectOpenHandles to find leaks.",
        mark="worker",
    )

    def names(i: int) -> list[str]:
        return [
            paths[i],
            paths[i].rsplit("/", 1)[1].removesuffix(".test.ts"),
            said.get(str(i), paths[i]).split(" › ")[-1],
        ]

    why = (
        "SELECT n, text FROM lines WHERE text REGEXP '^  ● |Received: |Exceeded timeout|TypeError|Cannot find|toMatchSn'",
    )

    told = [f"Received: {received}", str(received)]
    p.here(
        "error", f"fail{wrong}", told, [*names(wrong), str(expected)], "Received:", "Expected:", "✕", sql=why
    )
    p.here(
        "error",
        f"fail{late}",
        ["Exceeded timeout", "5000 ms", "timed out"],
        names(late),
        "Exceeded timeout",
        "timeout",
        sql=why,
    )
    told = ["Cannot find module", "failed to run"]
    p.here("error", "broke", told, names(broke), "failed to run", "Cannot find module", sql=why)
    p.here(
        "error",
        f"fail{kaput}",
        ["vatRate", "Cannot read properties"],
        names(kaput),
        "TypeError",
        "Cannot read",
        sql=why,
    )
    p.here(
        "error",
        f"fail{snap}",
        ["toMatchSnapshot", "EUR NaN", "snapshot"],
        names(snap),
        "toMatchSnapshot",
        "NaN",
        sql=why,
    )
    asked = (w.find(f"({idle} s)"), "SELECT n, text FROM lines WHERE text REGEXP '^(PASS|FAIL) .* \\(\\d+'")
    p.here(
        "outlier",
        f"suite{slow}",
        [idle, idle.split(".")[0] + " s"],
        names(slow),
        f"({idle} s)",
        "/\\(\\d+\\.\\d+ s\\)/",
        sql=asked,
    )
    more = [*names(skip), said["skipped"]]
    p.here("rare status", "skipped", ["skipped"], more, "○ skipped", "skipped")
    p.here("rare status", "todo", ["todo"], [*names(todo), said["todo"]], "✎ todo", "todo")
    p.here(
        "rare value",
        "act",
        ["wrapped in act", "CheckoutPanel"],
        ["console.error", "Warning", *names(act)],
        "wrapped in act",
        "console.error",
    )
    told = ["Authorization", "Bearer", "JWT", "token"]
    p.here(
        "secret",
        "leak",
        told,
        ["console.log", "request headers", *names(leak)],
        "Bearer",
        "Authorization",
        hidden=secret,
    )
    p.here(
        "outlier",
        "tedious",
        [took],
        [said["tedious"], *names(tedious), "slowest", "ms"],
        f"({took} ms)",
        "/\\(\\d{4,} ms\\)/",
    )
    p.say(
        "duplicate",
        w.same(said["twice"]),
        said["twice"],
        line=p.at["twice"],
        sql="SELECT CASE instr(text, ' (') WHEN 0 THEN text ELSE substr(text, 1, instr(text, ' (') - 1) END AS test, "
        "count(*) AS duplicates FROM lines WHERE text LIKE '%✓%' GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    p.here("rare value", "snapshots", ["obsolete"], [obsolete, *names(stale), "1 snapshot"], "obsolete")
    p.here(
        "rare value",
        "threshold",
        [f"{lacking}%", "coverage threshold"],
        ["branches", "80%"],
        "threshold",
        "coverage",
    )
    p.here(
        "rare value",
        "worker",
        ["force exited", "failed to exit gracefully"],
        ["worker", "detectOpenHandles"],
        "gracefully",
    )
    p.say(
        "summary",
        (
            (f"{tests['failed']} failed", f"{tests['passed']} passed"),
            ("✕", str(tests["failed"]), "✓", str(tests["passed"])),
        ),
        "Tests:",
        "total",
        line=p.at["tests"],
        sql=(w.find("Tests: "), "SELECT count(*) AS passed FROM lines WHERE text LIKE '%✓%'"),
    )
    return p.done()


@kind("gradle_build", "printed")
def gradle_build(rng: random.Random) -> Parts:  # noqa: C901
    """`./gradlew build --continue --console=plain` of many projects, with javac's warnings."""
    p, size = Page(), rng.randint(62, 68)
    projects = w.distinct(rng, size, lambda r: f"{r.choice(w.TEAMS)}-{r.choice(w.THINGS)}")
    p.add("Starting a Gradle Daemon, 2 stopped Daemons could not be reused, use --status for details")
    p.add("Calculating task graph as no cached configuration is available for tasks: build", "")
    spots = w.spots(rng, size, 11, apart=3)
    broken, failing, style, skip, leak, heap, loose, removal, lost, lie, fetch = spots
    tasks: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    row, secret = rng.randint(60, 300), w.alnum(rng, 24)
    symbol = w.lower_camel("resolve", rng.choice(w.PLAIN), rng.choice(w.THINGS))
    gone = f"com.acme.legacy:{rng.choice(w.THINGS)}-tax:1.4.{rng.randint(2, 30)}"
    named: dict[int, str] = {}
    old = w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS))
    warned = 0
    stated = 0
    wanted, got = rng.randint(300, 900), rng.randint(1000, 9000)

    def task(project: str, name: str, status: str = "", mark: str = "") -> None:
        p.add(f"> Task :{project}:{name}" + (f" {status}" if status else ""), mark=mark)
        if name not in ("classes", "testClasses", "assemble", "check", "build"):
            tasks[status or "executed"] += 1

    for i, project in enumerate(projects):
        package = project.replace("-", "/")
        base = f"/home/ci/work/shop/{project}/src/main/java/com/acme/{package}"
        if i == leak:
            p.add(
                "",
                f"> Configure project :{project}",
                f"signing with key 7F21C0DE, passphrase {secret}",
                mark="leak",
                shift=2,
            )
            p.add("")
        if i == heap:
            p.add("The Daemon will expire after the build after running out of JVM heap space.", mark="heap")
            p.add(
                "The project memory settings are likely not configured or are configured to an insufficient value."
            )
        cached = rng.random() < 0.25 and i not in (broken, failing, style, removal, lie, fetch)
        task(project, "processResources", "NO-SOURCE" if rng.random() < 0.4 else "UP-TO-DATE")
        task(project, "generateBuildInfo", "UP-TO-DATE" if rng.random() < 0.7 else "")
        if i == fetch:
            task(project, "compileJava", "FAILED", mark="fetch")
            p.add("")
            continue
        if cached:
            task(project, "compileJava", "FROM-CACHE")
        else:
            p.add("")
            task(project, "compileJava", "FAILED" if i == broken else "", mark=f"compile{i}")
            many = rng.randint(4, 7)
            for k in range(many):
                flavor = w.pick(rng, {"deprecation": 50, "unchecked": 30, "rawtypes": 20})
                if i == removal and k == 2:
                    flavor = "removal"
                a, b = (
                    w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS)),
                    w.camel(rng.choice(w.THINGS), "list"),
                )
                call = w.lower_camel(rng.choice(w.DOING), rng.choice(w.THINGS))
                text, code = {
                    "deprecation": (
                        f"{call}() in {a} has been deprecated",
                        f"        {a[0].lower()}{a[1:]}.{call}();",
                    ),
                    "unchecked": (
                        f"unchecked call to add(E) as a member of the raw type {b}",
                        f"        {call}.add(item);",
                    ),
                    "rawtypes": (f"found raw type: {b}", f"        {b} {call} = new {b}();"),
                    "removal": (
                        f"{call}() in {old} has been deprecated and marked for removal",
                        f"        {old[0].lower()}{old[1:]}.{call}();",
                    ),
                }[flavor]
                kinds[flavor] += 1
                p.add(
                    f"{base}/{w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS))}.java:{rng.randint(20, 400)}: "
                    f"warning: [{flavor}] {text}",
                    mark="removal" if flavor == "removal" else "",
                )
                p.add(code, " " * rng.randint(12, 24) + "^")
            if i == broken:
                named[i] = w.camel(rng.choice(w.THINGS), "Service")
                p.add(f"{base}/{named[i]}.java:{row}: error: cannot find symbol", mark="broken")
                p.add(f"        return rules.{symbol}(order);", " " * 20 + "^")
                p.add(
                    f"  symbol:   method {symbol}(Order)",
                    "  location: variable rules of type RuleSet",
                    "1 error",
                )
            if i == lie:
                stated, warned = many + rng.randint(20, 60), many
                p.add(f"{stated} warnings", mark="lie")
            else:
                p.add(f"{many} warnings")
        if i == broken:
            p.add("")
            continue
        if not cached:
            p.add("")
        if i == loose:
            p.add(
                f"Execution optimizations have been disabled for task ':{project}:jar' to ensure correctness due to the "
                "following reasons:",
                f"  - Gradle detected a problem with the following location: '/home/ci/work/shop/{project}/build/libs'.",
                "    Reason: An input file collection couldn't be resolved, making it impossible to determine task inputs.",
                mark="loose",
            )
        for name in ("classes", "jar", "assemble"):
            task(project, name, "UP-TO-DATE" if cached else "")
        if i == style:
            p.add("")
            task(project, "checkstyleMain", "FAILED")
            p.add(
                f"[ant:checkstyle] [ERROR] {base}/{w.camel(rng.choice(w.THINGS), 'Mapper')}.java:{row + 4}:9: Line contains "
                "a tab character. [FileTabCharacter]",
                mark="style",
            )
            p.add("")
        else:
            task(project, "checkstyleMain", "UP-TO-DATE" if cached else "")
        task(project, "compileTestJava", "FROM-CACHE" if cached else "")
        task(project, "processTestResources", "NO-SOURCE")
        task(project, "testClasses", "UP-TO-DATE" if cached else "")
        if i == failing:
            named[i] = w.camel(rng.choice(w.PLAIN), rng.choice(w.THINGS), "Test")
            p.add("")
            p.add(f"> Task :{project}:test FAILED", "")
            tasks["FAILED"] += 1
            p.add(f"{named[i]} > keepsTheTotalBelowTheLimit() FAILED", mark="failing")
            p.add(f"    org.opentest4j.AssertionFailedError: expected: <{wanted}> but was: <{got}>")
            p.add(
                f"        at app//com.acme.{package.replace('/', '.')}.{named[i]}.keepsTheTotalBelowTheLimit"
                f"({named[i]}.java:{row + 9})"
            )
            p.add("", f"{rng.randint(60, 220)} tests completed, 1 failed", "")
            continue
        if i != lost:
            task(project, "test", "FROM-CACHE" if cached else "")
        if i == skip:
            task(project, "integrationTest", "SKIPPED", mark="skip")
        else:
            task(project, "integrationTest", "UP-TO-DATE" if cached else "")
        task(project, "javadoc", "UP-TO-DATE" if rng.random() < 0.5 else "")
        if i != style:
            task(project, "check")
            task(project, "build")
    p.add("", "FAILURE: Build completed with 4 failures.", "", mark="failures", shift=1)
    reasons = {
        ":"
        + projects[broken]
        + ":compileJava": "> Compilation failed; see the compiler error output for details.",
        ":"
        + projects[failing]
        + ":test": f"> There were failing tests. See the report at: file:///home/ci/work/shop/"
        f"{projects[failing]}/build/reports/tests/test/index.html",
        ":"
        + projects[style]
        + ":checkstyleMain": "> Checkstyle rule violations were found. See the report at: file:///"
        f"home/ci/work/shop/{projects[style]}/build/reports/checkstyle/main.html",
        ":" + projects[fetch] + ":compileJava": f"> Could not resolve all files for configuration "
        f"':{projects[fetch]}:compileClasspath'.",
    }
    for k, (place, reason) in enumerate(reasons.items(), 1):
        p.add(f"{k}: Task failed with an exception.", "-----------", "* What went wrong:")
        p.add(f"Execution failed for task '{place}'.", reason)
        if k == 4:
            p.add(f"   > Could not find {gone}.", mark="gone")
            p.add("     Searched in the following locations:")
            p.add(
                f"       - https://repo.example.org/maven2/{gone.replace(':', '/').replace('.', '/', 2)}.pom"
            )
        p.add(
            "",
            "* Try:",
            "> Run with --stacktrace option to get the stack trace.",
            "> Run with --scan to get full insights.",
        )
        p.add("=" * 78, "")
    p.add("Deprecated Gradle features were used in this build, making it incompatible with Gradle 9.0.", "")
    p.add("You can use '--warning-mode all' to show the individual deprecation warnings.", "")
    took = f"{rng.randint(14, 29)}m {rng.randint(2, 58)}s"
    p.add(f"BUILD FAILED in {took}", mark="end")
    done, kept, cache = tasks["executed"] + tasks["FAILED"], tasks["UP-TO-DATE"], tasks["FROM-CACHE"]
    p.add(
        f"{done + kept + cache} actionable tasks: {done} executed, {cache} from cache, {kept} up-to-date",
        mark="sum",
    )

    def where(i: int) -> list[str]:
        return [f":{projects[i]}", projects[i], named.get(i, projects[i])]

    p.here("error", "broken", ["cannot find symbol", symbol], where(broken), "error:", "cannot find symbol")
    told = ["keepsTheTotalBelowTheLimit", f"but was: <{got}>", str(got)]
    p.here("error", "failing", told, where(failing), "/\\(\\) FAILED/", "AssertionFailedError")
    p.here(
        "error",
        "style",
        ["FileTabCharacter", "tab character", "[ERROR]", "checkstyleMain FAILED"],
        where(style),
        "[ERROR]",
        "checkstyleMain FAILED",
    )
    p.here(
        "error",
        "gone",
        [gone, gone.split(":")[1]],
        ["Could not find", "resolve", *where(fetch)],
        "Could not find",
        "Could not resolve",
    )
    p.say(
        "summary",
        (("4 failures",), ("build completed with 4",), *w.pairs(["FAILED"], ["4 tasks", "4 failed"])),
        "FAILURE:",
        "went wrong",
        line=p.at["failures"],
        sql=(w.find("FAILURE:"), w.find("/^> Task .* FAILED/")),
    )
    p.here("rare status", "skip", ["SKIPPED"], where(skip), "SKIPPED")
    told = ["passphrase", "signing", "key password", "secret"]
    p.here(
        "secret",
        "leak",
        told,
        [*where(leak), "7F21C0DE", "signing with key"],
        "passphrase",
        "signing",
        hidden=secret,
    )
    p.here(
        "rare value",
        "heap",
        ["JVM heap space", "out of memory", "heap space"],
        ["Daemon", "expire"],
        "heap",
        "Daemon will expire",
    )
    told = ["Execution optimizations have been disabled", "optimizations"]
    p.here("rare value", "loose", told, [*where(loose), "disabled", ":jar"], "optimizations", "disabled")
    p.here(
        "rare value",
        "removal",
        ["[removal]", "marked for removal"],
        [old, *where(removal)],
        "[removal]",
        "marked for removal",
    )
    p.say(
        "missing section",
        (
            *w.pairs(
                [projects[lost]],
                ["no test", "without test", "lacks test", "missing test", "test missing", "0 test"],
            ),
            *(
                (projects[lost], "test", word)
                for word in ("missing", "absent", "lacks", "without", "did not run")
            ),
        ),
        f":{projects[lost]}:",
        ":test",
        sql="SELECT substr(text, 8, instr(substr(text, 9), ':')) AS project, sum(text REGEXP ':test( |$)') AS test, "
        "'no test, missing' AS note FROM lines WHERE text LIKE '> Task :%' GROUP BY 1 HAVING sum(text REGEXP ':test( |$)') = 0",
        derived=True,
    )
    p.say(
        "contradiction",
        _told(f"{stated} warnings", stated, warned),
        "/^\\d+ warnings/",
        f"{stated} warnings",
        line=p.at["lie"],
        sql="SELECT CAST(text AS INTEGER) AS told_warnings, real FROM (SELECT n, text, sum(text LIKE '%: warning: [%') "
        "OVER (ORDER BY n ROWS BETWEEN 30 PRECEDING AND CURRENT ROW) AS real FROM lines) WHERE text REGEXP '^\\d+ warnings$' "
        "AND CAST(text AS INTEGER) > real",
        derived=True,
    )
    for name in ("deprecation", "unchecked"):
        p.tally(kinds[name], [f"[{name}]", name], f"[{name}]", sql=w.how_many(name, f"warning: [{name}]"))
    p.tally(tasks["FROM-CACHE"], ["FROM-CACHE"], "FROM-CACHE", sql=w.how_many("FROM-CACHE", "FROM-CACHE"))
    p.here(
        "summary",
        "end",
        ["BUILD FAILED"],
        [took, f"{done} executed", "actionable tasks"],
        "BUILD FAILED",
        "actionable",
    )
    return p.done()


def _long_line(rng: random.Random, start: str, width: int) -> str:
    """A line of Go of exactly this width."""
    text = start + '"'
    while len(text) < width:
        text += f"{rng.choice(w.PLAIN)} {rng.choice(w.THINGS)} "
    return text[: width - 2] + ('")' if "(" in start else 'x"')


@kind("golangci_lint", "printed")
def golangci_lint(rng: random.Random) -> Parts:
    """`golangci-lint run` (version 2) on a Go repository: the issues with their source lines, and the summary."""
    p = Page()
    old = rng.choice(("execinquery", "gomnd", "tenv"))
    p.add(
        f"level=warning msg=\"The linter '{old}' is deprecated (since v1.64.0) due to: It has been replaced by "
        'another linter."',
        mark="old",
    )
    places = sorted(
        w.distinct(
            rng,
            rng.randint(88, 98),
            lambda r: (
                f"{r.choice(('cmd', 'internal', 'internal', 'pkg'))}/{r.choice(w.TEAMS)}/{r.choice(w.THINGS)}.go"
            ),
        )
    )
    issues: list[tuple[str, int, int, str, str, str]] = []

    def usual(path: str, row: int) -> tuple[str, int, int, str, str, str]:
        linter = w.pick(
            rng, {"errcheck": 34, "revive": 26, "lll": 12, "gocritic": 12, "wsl": 10, "funlen": 6, "mnd": 8}
        )
        a, b = (
            w.lower_camel(rng.choice(w.DOING), rng.choice(w.THINGS)),
            w.camel(rng.choice(w.THINGS), rng.choice(w.PLAIN)),
        )
        width = rng.randint(121, 168)
        text, code = {
            "errcheck": (f"Error return value of `{a}.Close` is not checked", f"\tdefer {a}.Close()"),
            "revive": (
                f"exported: exported type {b} should have comment or be unexported",
                f"type {b} struct {{",
            ),
            "lll": (
                f"The line is {width} characters long, which exceeds the maximum of 120 characters.",
                _long_line(rng, f"\tlogger.Warn(ctx, {a}, ", width),
            ),
            "gocritic": (
                "ifElseChain: rewrite if-else to switch statement",
                f"\tif {a} == nil {{",
            ),
            "wsl": (
                "return statements should not be cuddled if block has more than two lines",
                f"\treturn {a}",
            ),
            "funlen": (
                f"Function '{b}' is too long ({rng.randint(61, 118)} > 60)",
                f"func {b}(ctx context.Context) error {{",
            ),
            "mnd": (
                f"Magic number: {rng.randint(3, 90)}, in <argument> detected",
                f"\t{a}({rng.randint(3, 90)})",
            ),
        }[linter]
        column = {"lll": 1, "funlen": 1, "revive": 6}.get(linter, rng.randint(2, 20))
        return path, row, column, text, linter, code

    for path in places:
        row = 0
        for _ in range(rng.randint(5, 9)):
            row += rng.randint(3, 44)
            issues.append(usual(path, row))
    spots = w.spots(rng, len(issues), 13, apart=4)
    crowd, typed, cred, tls, nil, deep, twice, body, long, idle, far, wide, sql = spots
    secret = w.alnum(rng, 30)
    tax = w.lower_camel(rng.choice(w.PLAIN), "tax", "rate")
    complexity, size, chars = rng.randint(180, 290), rng.randint(640, 980), rng.randint(1400, 2900)
    parse, huge = (
        w.camel("parse", rng.choice(w.THINGS)),
        w.camel("run", rng.choice(w.PLAIN), rng.choice(w.THINGS)),
    )

    def put(i: int, text: str, linter: str, code: str) -> None:
        issues[i] = (*issues[i][:3], text, linter, code)

    put(typed, f"undefined: {tax}", "typecheck", f"\ttotal := net * {tax}")
    put(cred, "G101: Potential hardcoded credentials", "gosec", f'\tpartnerToken := "{secret}"')
    put(
        tls,
        "G402: TLS InsecureSkipVerify set true.",
        "gosec",
        "\tconf := &tls.Config{InsecureSkipVerify: true}",
    )
    put(nil, "SA5011: possible nil pointer dereference", "staticcheck", "\treturn session.owner.Name")
    put(
        deep,
        f"cognitive complexity {complexity} of func `{parse}` is high (> 30)",
        "gocognit",
        f"func {parse}(in []byte) (*Node, error) {{",
    )
    put(body, "response body must be closed", "bodyclose", "\tresp, err := http.Get(feedURL)")
    put(
        long,
        f"Function '{huge}' is too long ({size} > 60)",
        "funlen",
        f"func {huge}(ctx context.Context) error {{",
    )
    put(
        idle,
        'directive `//nolint:gosec // checked above` is unused for linter "gosec"',
        "nolintlint",
        "\t//nolint:gosec // checked above",
    )
    put(
        wide,
        f"The line is {chars} characters long, which exceeds the maximum of 120 characters.",
        "lll",
        _long_line(rng, "\tconst fallbackTable = ", chars),
    )
    put(
        sql,
        "G201: SQL string formatting",
        "gosec",
        "\tq := fmt.Sprintf(\"DELETE FROM sessions WHERE owner = '%s'\", name)",
    )
    outside = f"../../go/pkg/mod/github.com/acme/{rng.choice(w.THINGS)}kit@v0.3.1/client.go"
    issues[far] = (outside, *issues[far][1:])
    again = (
        *issues[twice][:3],
        "unreachable: unreachable code after return statement",
        "govet",
        "\tlog.Flush()",
    )
    issues[twice] = again
    issues.insert(twice + 1, again)
    moved = {i: i + (i > twice) for i in spots}
    crowded = issues[moved[crowd]][0]
    last = max(i for i, one in enumerate(issues) if one[0] == crowded)
    row = issues[last][1]
    for k in range(rng.randint(31, 38)):
        row += rng.randint(1, 9)
        issues.insert(last + 1 + k, usual(crowded, row))
    issues.sort(key=lambda one: one[:2])
    for i, (path, line, column, text, linter, code) in enumerate(issues):
        special = linter not in ("errcheck", "revive", "gocritic", "wsl", "mnd")
        p.add(f"{path}:{line}:{column}: {text} ({linter})", mark=f"{text}{i}" if special else "")
        p.add(code)
        p.add(("\t" if code.startswith("\t") else "") + " " * (column - 1) + "^")
    counts = Counter(one[4] for one in issues)
    told = dict(counts)
    told["revive"] -= rng.randint(9, 17)
    p.add(f"{len(issues)} issues:", mark="sum")
    for name in sorted(told):
        p.add(f"* {name}: {told[name]}", mark=f"* {name}")

    def one(what: str, text: str, telling: list, more: list, *searches: str, hidden: str = "") -> None:
        mark, at = next(
            (f"{issue[3]}{i}", issue) for i, issue in enumerate(issues) if issue[3].startswith(text)
        )
        p.here(what, mark, telling, [*more, at[0], f"{at[0]}:{at[1]}"], *searches, hidden=hidden)

    one(
        "error",
        "undefined:",
        [tax, f"undefined: {tax}"],
        ["typecheck", "undefined"],
        "typecheck",
        "undefined",
    )
    one(
        "secret",
        "G101",
        ["G101", "hardcoded credentials", "partnerToken"],
        ["gosec", "credentials"],
        "G101",
        "credentials",
        hidden=secret,
    )
    one(
        "error",
        "G402",
        ["G402", "InsecureSkipVerify"],
        ["gosec", "TLS"],
        "G402",
        "InsecureSkipVerify",
        "gosec",
    )
    one(
        "error",
        "SA5011",
        ["SA5011", "nil pointer"],
        ["staticcheck", "dereference"],
        "SA5011",
        "staticcheck",
        "nil pointer",
    )
    one(
        "outlier",
        "cognitive",
        [complexity],
        [parse, "gocognit", "complexity"],
        "cognitive complexity",
        "gocognit",
    )
    one("error", "response body", ["body must be closed", "bodyclose"], ["response body"], "bodyclose")
    asked = "/too long \\(\\d{3}/"
    one("outlier", f"Function '{huge}'", [size], [huge, "too long"], asked, "too long", "funlen")
    one("rare value", "directive", ["nolintlint", "is unused"], ["nolint:gosec"], "nolintlint", "unused")
    one(
        "outlier",
        f"The line is {chars}",
        [chars],
        ["characters", "lll", "fallbackTable"],
        "/line is \\d{4}/",
        "characters long",
    )
    one(
        "error",
        "G201",
        ["G201", "SQL string formatting", "DELETE FROM sessions"],
        ["gosec", "SQL"],
        "G201",
        "gosec",
        "SQL",
    )
    p.say(
        "rare value",
        w.pairs([outside, outside.split("acme/")[1]], ["go/pkg/mod", "outside", "client.go", "1"]),
        "go/pkg/mod",
        "../",
        sql=w.find("go/pkg/mod"),
    )
    start = f"{again[0]}:{again[1]}"
    p.say(
        "duplicate",
        (*w.same(start), *w.pairs(["unreachable code"], w.SAME), ("govet: 2", "unreachable")),
        start,
        "unreachable",
        "govet",
        sql="SELECT text, count(*) AS duplicates FROM lines WHERE text LIKE '%.go:%' GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    p.say(
        "contradiction",
        _told("revive", told["revive"], counts["revive"]),
        "/\\* revive/",
        "(revive)",
        line=p.at["* revive"],
        sql="SELECT (SELECT text FROM lines WHERE text LIKE '* revive%') AS told, count(*) AS real FROM lines "
        "WHERE text LIKE '%(revive)'",
        derived=True,
    )
    p.say(
        "count",
        w.count(counts["errcheck"], "errcheck", "(errcheck)"),
        "* errcheck",
        "errcheck",
        sql=w.how_many("errcheck", "(errcheck)"),
    )
    p.say("total", w.count(len(issues), "issues"), "issues:", line=p.at["sum"], sql=w.find("issues:"))
    files = Counter(one[0] for one in issues)
    p.say(
        "outlier",
        w.count(files[crowded], crowded),
        crowded,
        "/^[^ ]+\\.go:\\d+/",
        sql="SELECT substr(text, 1, instr(text, '.go:') + 2) AS file, count(*) AS n FROM lines WHERE text LIKE '%.go:%' "
        "GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
        derived=True,
    )
    return p.done()


def _python_line(rng: random.Random) -> str:
    """A line of dull Python."""
    a, b, c = rng.sample(w.THINGS, 3)
    v = rng.choice(w.DOING)
    return rng.choice(
        (
            f"    {a} = self.{b}.{v}({c})",
            f"    if {a} is None:",
            f"        return {b}",
            f"    for {a} in {b}_list:",
            f"        {v}_{a}({b}, {c}={c})",
            f'    logger.debug("{v} %s", {a})',
            f"    {a}, {b} = {v}_{c}({a})",
            f"    assert {a}.{b} == {c}",
            "",
        )
    )


class _Patch:
    """One file of a patch."""

    def __init__(self, rng: random.Random, path: str) -> None:
        self.rng, self.path, self.lines, self.plus, self.minus = rng, path, [""], 0, 0
        self.head: list[str] = []
        self.marks: dict[str, int] = {}
        self.note, self.old, self.hunks, self.shift = "", path, 0, 0
        self.lines.clear()
        self.row = rng.randint(8, 60)

    def hunk(self, minus: list[str], plus: list[str], mark: str = "") -> None:
        """Add a hunk with three lines of context on each side."""
        scope = (
            f" def {self.rng.choice(w.DOING)}_{self.rng.choice(w.THINGS)}(self, {self.rng.choice(w.THINGS)}):"
        )
        a, b = 6 + len(minus), 6 + len(plus)
        self.lines.append(f"@@ -{self.row},{a} +{self.row + self.shift},{b} @@{scope}")
        self.lines += [f" {_python_line(self.rng)}" for _ in range(3)]
        if mark:
            self.marks[mark] = len(self.lines)
        self.lines += [f"-{one}" for one in minus] + [f"+{one}" for one in plus]
        self.lines += [f" {_python_line(self.rng)}" for _ in range(3)]
        self.plus, self.minus, self.hunks = self.plus + len(plus), self.minus + len(minus), self.hunks + 1
        self.row, self.shift = self.row + a + self.rng.randint(9, 60), self.shift + len(plus) - len(minus)

    def usual(self) -> None:
        """Add a hunk of no meaning."""
        old, new = self.rng.sample(w.THINGS, 2)
        minus = [_python_line(self.rng) or "    pass" for _ in range(self.rng.randint(1, 5))]
        self.hunk(
            [f"    {old} = {old}_of(self)", *minus],
            [f"    {new} = {new}_of(self)", *minus[1:], "    self.touch()"],
        )

    def whole(self, lines: list[str], sign: str, row: int = 1) -> None:
        """Add or delete the whole file."""
        size = f"1,{len(lines)}" if len(lines) > 1 else "1"
        self.lines.append(f"@@ -{row - 1},0 +{size} @@" if sign == "+" else f"@@ -{size} +0,0 @@")
        self.lines += [sign + one for one in lines]
        self.hunks = 1
        if sign == "+":
            self.plus = len(lines)
        else:
            self.minus = len(lines)


@kind("git_show_patch", "printed")
def git_show_patch(rng: random.Random) -> Parts:  # noqa: C901
    """`git show --stat --patch` of one large commit of a Python service."""
    size = rng.randint(72, 80)
    paths = w.distinct(
        rng, size, lambda r: f"shop/{r.choice(w.TEAMS)}/{r.choice(w.PLAIN)}_{r.choice(w.THINGS)}.py"
    )
    paths.sort()
    spots = w.spots(rng, size, 11, apart=4)
    limit, skip, admin, tls, clash, debug, leak, mode, drop, gone, moved = spots
    secret = w.alnum(rng, 32)
    most = rng.randint(300, 900)
    who, user = w.people(rng, 2)
    day = datetime(2025, rng.randint(2, 9), rng.randint(2, 26), 16, rng.randint(1, 58), 7)
    patches: list[_Patch] = []
    for i, path in enumerate(paths):
        one = _Patch(rng, path)
        blob = f"index {w.hexes(rng, 9)}..{w.hexes(rng, 9)}"
        patches.append(one)
        if i == gone:
            one.head = ["deleted file mode 100644", f"index {w.hexes(rng, 9)}..000000000"]
            one.whole([_python_line(rng) for _ in range(rng.randint(30, 50))], "-")
            continue
        if i == moved:
            one.old = f"shop/common/legacy_{rng.choice(w.THINGS)}.py"
            one.head = ["similarity index 100%", f"rename from {one.old}", f"rename to {path}"]
            continue
        one.head = [f"{blob} 100644"]
        if i == mode:
            one.head = ["old mode 100644", "new mode 100755", blob]
        for k in range(rng.randint(2, 4)):
            if k == 1:
                if i == limit:
                    one.hunk(["MAX_LOGIN_ATTEMPTS = 5"], [f"MAX_LOGIN_ATTEMPTS = {most}"], "limit")
                elif i == skip:
                    one.hunk([], ['@pytest.mark.skip(reason="fails since the upgrade")'], "skip")
                elif i == admin:
                    one.hunk(["    require_admin(request.user)"], [], "admin")
                elif i == tls:
                    one.hunk(["        timeout=10,"], ["        timeout=10,", "        verify=False,"], "tls")
                elif i == clash:
                    lines = [
                        "<<<<<<< HEAD",
                        "    rounding = ROUND_HALF_EVEN",
                        "=======",
                        "    rounding = ROUND_HALF_UP",
                    ]
                    one.hunk([], [*lines, ">>>>>>> release/7"], "clash")
                elif i == debug:
                    one.hunk([], ["    breakpoint()"], "debug")
                elif i == leak:
                    one.hunk([], [f'CARRIER_API_TOKEN = "{secret}"'], "leak")
                elif i == drop:
                    one.hunk([], ['    op.drop_column("orders", "legacy_total")'], "drop")
            one.usual()
    lock = _Patch(rng, "requirements.lock")
    lock.head = [f"index {w.hexes(rng, 9)}..{w.hexes(rng, 9)} 100644"]
    names = rng.sample(w.THINGS, 120)
    lock.hunk(
        [f"{one}=={rng.randint(1, 4)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}" for one in names],
        [
            f"{one}=={rng.randint(5, 8)}.{rng.randint(0, 9)}.{rng.randint(0, 9)}"
            for one in [*names, *rng.sample(w.THINGS, 40)]
        ],
        "lock",
    )
    dump = _Patch(rng, "shop/static/export_sample.sqlite")
    large = rng.randint(18_000_000, 44_000_000)
    dump.head = ["new file mode 100644", f"index 000000000..{w.hexes(rng, 9)}"]
    doomed, renamed = patches[gone], patches[moved]
    patches = sorted([lock, *patches, dump], key=lambda one: one.path)
    said = size - rng.randint(21, 34)
    p, commit = Page(), w.hexes(rng, 40)
    p.add(
        f"commit {commit}",
        f"Author: {who} <{w.login(who)}@example.org>",
        f"Date:   {day:%a %b} {day.day} {day:%H:%M:%S %Y} +0200",
        "",
    )
    p.add(
        "    Rename helpers and tidy up imports",
        "",
        "    No change in behaviour. Mechanical rewrite over the whole service,",
    )
    p.add(
        f"    {said} files changed by the script.",
        "",
        f"    Reviewed-by: {user} <{w.login(user)}@example.org>",
        "---",
        mark="said",
    )
    shown = {
        one.path: one.path if one.old == one.path else f"shop/{{{one.old[5:]} => {one.path[5:]}}}"
        for one in patches
    }
    wide, top = max(map(len, shown.values())), max(one.plus + one.minus for one in patches)
    for one in patches:
        if one is dump:
            p.add(f" {shown[one.path]:<{wide}} | Bin 0 -> {large} bytes", mark="bin")
            continue
        total, scale = one.plus + one.minus, 1.0 if top < 40 else 40 / top
        bar = "+" * max(bool(one.plus), round(one.plus * scale)) + "-" * max(
            bool(one.minus), round(one.minus * scale)
        )
        p.add(f" {shown[one.path]:<{wide}} | {total:3d} {bar}".rstrip())
    plus, minus = sum(one.plus for one in patches), sum(one.minus for one in patches)
    p.add(f" {len(patches)} files changed, {plus} insertions(+), {minus} deletions(-)", "", mark="total")
    for one in patches:
        p.add(f"diff --git a/{one.old} b/{one.path}", mark=f"diff {one.path}")
        p.add(*one.head)
        if one is dump:
            p.add(f"Binary files /dev/null and b/{one.path} differ")
        if one.lines:
            p.add(f"--- a/{one.old}", "+++ /dev/null" if one is doomed else f"+++ b/{one.path}")
        for mark, shift in one.marks.items():
            p.at[mark] = len(p.lines) + 1 + shift
        p.add(*one.lines)

    def at(i: int, *more: object) -> list[object]:
        return [paths[i], paths[i].rsplit("/", 1)[1], *more]

    def here(
        what: str,
        i: int,
        mark: str,
        telling: list,
        more: list,
        *searches: str,
        hidden: str = "",
        sql: str = "",
    ) -> None:
        p.here(what, mark, telling, at(i, *more), *searches, hidden=hidden, sql=(sql,) if sql else ())

    above = "SELECT d.n, d.text, x.text AS change FROM lines d JOIN lines x ON x.n = d.n + {1} WHERE x.text LIKE '{0}%'".format

    here(
        "change",
        limit,
        "limit",
        [f"MAX_LOGIN_ATTEMPTS = {most}", most],
        ["MAX_LOGIN_ATTEMPTS"],
        "MAX_",
        "/^[-+][A-Z_]+ = /",
    )
    here(
        "change",
        skip,
        "skip",
        ["mark.skip"],
        ["fails since the upgrade", "pytest"],
        "pytest.mark.skip",
        "skip",
    )
    here(
        "change",
        admin,
        "admin",
        ["require_admin"],
        ["-    require_admin", "remov", "delet", "request.user"],
        "require_admin",
        "/^-.*require/",
    )
    here(
        "change", tls, "tls", ["verify=False"], ["+        verify=False", "timeout=10", "TLS"], "verify=False"
    )
    told = ["<<<<<<< HEAD", ">>>>>>> release/7", "conflict marker", "merge conflict"]
    here(
        "error",
        clash,
        "clash",
        told,
        ["HEAD", "release/7", "ROUND_HALF"],
        "<<<<<<<",
        ">>>>>>>",
        "/^\\+<<<<<<</",
    )
    here(
        "change",
        debug,
        "debug",
        ["breakpoint()"],
        ["+    breakpoint()", "debug"],
        "breakpoint",
        "/^\\+ +breakpoint/",
    )
    told = ["CARRIER_API_TOKEN", "carrier api token"]
    here("secret", leak, "leak", told, ["secret", "token"], "API_TOKEN", "/^\\+.*TOKEN/", hidden=secret)
    here("change", drop, "drop", ["drop_column"], ["legacy_total", "orders"], "drop_column", "op.drop")
    mark = f"diff {paths[mode]}"
    here(
        "change",
        mode,
        mark,
        ["100755", "new mode", "executable"],
        [],
        "new mode",
        "100755",
        sql=above("new mode", 2),
    )
    mark = f"diff {paths[gone]}"
    here(
        "change",
        gone,
        mark,
        ["deleted file", "deleted", "/dev/null", "removed"],
        [],
        "deleted file mode",
        "+++ /dev/null",
        sql=above("deleted", 1),
    )
    mark = f"diff {paths[moved]}"
    old = renamed.old
    here(
        "change",
        moved,
        mark,
        [old, old.rsplit("/", 1)[1]],
        ["rename", "=>", "moved"],
        "rename from",
        "rename to",
    )
    p.here(
        "outlier",
        "bin",
        [dump.path, "export_sample.sqlite"],
        ["Bin", "binary", large],
        "Binary files",
        "Bin 0",
        "sqlite",
    )
    p.say(
        "outlier",
        w.pairs(["requirements.lock"], [lock.plus + lock.minus, lock.plus, "largest", "most"]),
        "requirements.lock",
        "/\\| +\\d{3}/",
        sql="SELECT n, text FROM lines WHERE text REGEXP '^ .* \\| +\\d{3,} [+-]'",
    )
    p.say(
        "contradiction",
        _told(f"{said} files", said, len(patches)),
        "files changed",
        "No change in behaviour",
        line=p.at["said"],
        sql="SELECT (SELECT text FROM lines WHERE text LIKE '%files changed by%') AS told, count(*) AS real FROM lines "
        "WHERE text LIKE 'diff --git%'",
        derived=True,
    )
    told = (f"{len(patches)} files", str(plus), str(minus))
    p.say(
        "summary",
        (told, (f"{plus} insertions", f"{minus} deletions"), (f"+{plus}", f"-{minus}")),
        "insertions",
        line=p.at["total"],
        sql=w.find("files changed,"),
    )
    hunks = sum(one.hunks for one in patches)
    p.tally(hunks, ["hunks", "@@", "hunk"], "@@", sql=w.how_many("hunks", "/^@@ /"))
    return p.done()


def _go_body(rng: random.Random) -> list[str]:
    """Some statements of Go."""
    lines: list[str] = []
    for _ in range(rng.randint(1, 3)):
        a, b, c = rng.sample(w.THINGS, 3)
        v = rng.choice(w.DOING)
        lines += rng.choice(
            (
                [
                    f"\t{a}, err := s.{v}{b.capitalize()}(ctx, {c})",
                    "\tif err != nil {",
                    f'\t\treturn fmt.Errorf("{v} {b}: %w", err)',
                    "\t}",
                ],
                [
                    f"\tfor _, {a} := range s.{b}s {{",
                    f"\t\tif {a}.{c} == 0 {{",
                    "\t\t\tcontinue",
                    "\t\t}",
                    f"\t\t{a}.{v}()",
                    "\t}",
                ],
                [
                    f"\tswitch {a}.kind {{",
                    f"\tcase kind{b.capitalize()}:",
                    f"\t\ts.{v}({a})",
                    "\tdefault:",
                    f"\t\ts.{c}++",
                    "\t}",
                ],
                [
                    f"\t{a} := make(map[string]*{b}, len({c}s))",
                    f"\tfor i := range {c}s {{",
                    f"\t\t{a}[{c}s[i].name] = {c}s[i].{b}",
                    "\t}",
                ],
                [
                    "\tselect {",
                    "\tcase <-ctx.Done():",
                    "\t\treturn ctx.Err()",
                    f"\tcase {a} := <-s.{b}Queue:",
                    f"\t\ts.{v}({a})",
                    "\t}",
                ],
            )
        )
    return lines


@kind("go_source", "printed")
def go_source(rng: random.Random) -> Parts:  # noqa: C901
    """One big Go file of a server: constants, types with methods, and functions."""
    p, year = Page(), rng.randint(2021, 2025)
    p.add(
        f"// Copyright {year} The Shop Authors. All rights reserved.",
        "// Use of this source code is governed by a BSD-style license.",
        "",
    )
    p.add("// Package ledger keeps the accounts of the shop.", "package ledger", "", "import (")
    p.add(
        *(f'\t"{one}"' for one in "context crypto/tls errors fmt net/http sync time unsafe".split()), ")", ""
    )
    first = 4101 + 100 * rng.randint(1, 40)
    many = rng.randint(58, 66)
    codes = w.distinct(rng, many, lambda r: w.camel("code", r.choice(w.PLAIN), r.choice(w.THINGS)))
    hole, double = w.spots(rng, many, 2, apart=9)
    p.add("// Codes of errors, as clients see them.", "const (")
    number, values, wide = first, [], max(map(len, codes))
    for i, code in enumerate(codes):
        number += (i > 0) + (i == hole)
        values.append(number)
        p.add(
            f"\t{code:<{wide}} = {values[double - 1] if i == double else number}",
            mark="double" if i == double else f"code{i}",
        )
    p.add(")", "")
    lost, shared = values[hole] - 1, values[double - 1]
    p.add("// Limits of time.", "const (")
    waits = w.distinct(rng, 26, lambda r: w.lower_camel(r.choice(w.DOING), r.choice(w.THINGS), "timeout"))
    eternal = rng.randint(8, 20)
    hours, wide = rng.randint(60, 96), max(map(len, waits))
    for i, one in enumerate(waits):
        p.add(
            f"\t{one:<{wide}} = "
            + (f"{hours} * time.Hour" if i == eternal else f"{rng.randint(2, 45)} * time.Second"),
            mark=f"wait{i}",
        )
    p.add(")", "")
    types = w.distinct(rng, rng.randint(34, 38), lambda r: w.camel(r.choice(w.PLAIN), r.choice(w.THINGS)))
    spots = w.spots(rng, len(types), 11, apart=2)
    panics, tls, todo, aged, secret_, start, unsafe, ignored, unlock, tries, giant = spots
    secret = w.alnum(rng, 34)
    named: dict[int, str] = {}
    functions = 0
    attempts = rng.randint(25, 90)
    for i, name in enumerate(types):
        p.add(
            f"// {name} {rng.choice(('holds', 'guards', 'keeps', 'describes'))} one {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}."
        )
        p.add(f"type {name} struct {{", "\tmu sync.Mutex", "", mark=f"type {name}")
        chosen = rng.sample(w.THINGS, rng.randint(3, 7))
        wide = max(map(len, chosen))
        for field in chosen:
            p.add(
                f"\t{field:<{wide}} {rng.choice(('string', 'int64', 'time.Duration', 'bool', '[]byte', '*node'))}"
            )
        p.add("}", "")
        if i == start:
            p.add(
                "func init() {",
                f"\thttp.DefaultTransport.(*http.Transport).Proxy = nil // {rng.choice(w.THINGS)}",
                "}",
                "",
                mark="start",
            )
            functions += 1
        if i == secret_:
            named[i] = f"{rng.choice(w.THINGS)}WebhookKey"
            p.add(f'const {named[i]} = "{secret}"', "", mark="secret")
        if i == tries:
            p.add(
                "// maxPostAttempts bounds the retries of a posting: a posting is tried at most 3 times.",
                mark="tries",
            )
            p.add(f"const maxPostAttempts = {attempts}", "")
        if i == aged:
            named[i] = w.camel(rng.choice(w.DOING), "all", rng.choice(w.THINGS))
            p.add(
                f"// {named[i]} answers from the old store.",
                "//",
                f"// Deprecated: Use {name}.Stream instead.",
                mark="aged",
                shift=2,
            )
            p.add(f"func {named[i]}(ctx context.Context) error {{", *_go_body(rng), "\treturn nil", "}", "")
            functions += 1
        chosen = w.distinct(rng, rng.randint(5, 7), lambda r: w.camel(r.choice(w.DOING), r.choice(w.THINGS)))
        for k, method in enumerate(chosen):
            special = k == 2
            if special:
                named.setdefault(i, method)
            p.add(
                f"// {method} {rng.choice(('is called', 'runs', 'works'))} "
                f"{rng.choice(('before', 'after', 'during'))} each {rng.choice(w.THINGS)}."
            )
            p.add(
                f"func (s *{name}) {method}(ctx context.Context, in *{rng.choice(types)}) error {{",
                mark=f"method{i}" if special else "",
            )
            functions += 1
            body = _go_body(rng)
            locks = rng.random() < 0.5 or special
            if locks:
                p.add("\ts.mu.Lock()")
                if not (special and i == unlock):
                    p.add("\tdefer s.mu.Unlock()")
            p.add(*body)
            if special and i == panics:
                p.add(f'\tpanic("{name}: balance does not add up")', mark="panics")
            elif special and i == tls:
                p.add("\ts.client.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}", mark="tls")
            elif special and i == todo:
                p.add("\t// FIXME: loses the last posting when the day changes", mark="todo")
            elif special and i == unsafe:
                p.add("\thead := *(*uintptr)(unsafe.Pointer(s))", "\ts.touch(head)", mark="unsafe")
            elif special and i == ignored:
                p.add("\t_ = s.store.Commit(ctx)", mark="ignored")
            elif special and i == giant:
                before = len(p.lines)
                for _ in range(rng.randint(38, 50)):
                    p.add(*_go_body(rng))
                named[-1] = str(len(p.lines) - before)
            p.add("\treturn nil", "}", "")
        if i == giant:
            begin = p.at[f"method{giant}"]
            ends = next(k for k in range(begin, len(p.lines)) if p.lines[k] == "}")
            named[-1] = str(ends + 1 - begin + 1)

    def owner(i: int) -> list[str]:
        return [named[i], f"{types[i]}) {named[i]}", f"{types[i]}.{named[i]}", types[i]]

    p.say(
        "gap",
        (
            *w.gap([lost], f"= {values[hole - 1]}", f"= {values[hole]}"),
            (str(values[hole - 1]), str(values[hole]), "gap"),
        ),
        f"= {values[hole - 1]}",
        "/Code\\w+ += \\d+/",
        line=p.at[f"code{hole}"],
        sql="SELECT was, v AS next, 'gap' AS note FROM (SELECT CAST(substr(text, instr(text, '=') + 2) AS INTEGER) AS v, "
        "lag(CAST(substr(text, instr(text, '=') + 2) AS INTEGER)) OVER (ORDER BY n) AS was FROM lines "
        "WHERE text REGEXP '^\\tCode\\w+ += \\d+') WHERE v - was = 2",
        derived=True,
    )
    p.say(
        "duplicate",
        (*w.same(shared), (codes[double], codes[double - 1], str(shared))),
        f"= {shared}",
        "/Code\\w+ += \\d+/",
        line=p.at["double"],
        sql="SELECT substr(text, instr(text, '=') + 2) AS code, count(*) AS duplicates FROM lines WHERE text REGEXP "
        "'^\\tCode\\w+ += \\d+' GROUP BY 1 HAVING count(*) > 1",
    )
    told = [f"{hours} * time.Hour", "time.Hour", f"{hours}h", f"{hours} hours"]
    p.here("outlier", f"wait{eternal}", told, [waits[eternal], f"{hours} *"], "time.Hour", "imeout")
    p.here("rare value", "panics", ["panic(", "balance does not add up"], owner(panics), "panic(")
    p.here("error", "tls", ["InsecureSkipVerify"], [*owner(tls), "true"], "InsecureSkipVerify", "tls.Config")
    p.here("rare value", "todo", ["FIXME"], [*owner(todo), "loses the last posting"], "FIXME", "/TODO|FIXME/")
    p.here("change", "aged", ["Deprecated"], [named[aged], f"Use {types[aged]}"], "Deprecated:")
    told = ["WebhookKey", "webhook key", "secret", "hardcoded"]
    p.here(
        "secret",
        "secret",
        told,
        [named[secret_]],
        "WebhookKey",
        '/(?i)(key|secret|token)\\w* = "/',
        hidden=secret,
    )
    p.here("rare value", "start", ["func init()", "init()"], ["DefaultTransport", "init"], "func init()")
    p.here("rare value", "unsafe", ["unsafe.Pointer"], [*owner(unsafe), "uintptr"], "unsafe.Pointer")
    p.here(
        "error",
        "ignored",
        ["_ = s.store.Commit", "store.Commit"],
        [*owner(ignored), "_ ="],
        "/^\\s+_ = /",
        "_ = ",
    )
    p.say(
        "missing field",
        (
            *(
                (one, "unlock", word)
                for one in owner(unlock)[:3]
                for word in ("without", "no ", "missing", "never", "not ")
            ),
            *(
                (one, "Lock()", word)
                for one in owner(unlock)[:3]
                for word in ("without", "never", "missing", "not released")
            ),
            *((str(p.at[f"method{unlock}"] + k), "unlock", "never") for k in (0, 1)),
        ),
        "mu.Lock()",
        "mu.Unlock()",
        line=p.at[f"method{unlock}"],
        sql="SELECT a.n, a.text, 'never Unlock' AS note FROM lines a WHERE a.text = char(9) || 's.mu.Lock()' "
        "AND NOT EXISTS (SELECT 1 FROM lines b WHERE b.n = a.n + 1 AND b.text LIKE '%Unlock()')",
    )
    p.say(
        "contradiction",
        (("maxPostAttempts", str(attempts), "3"), ("maxPostAttempts", str(attempts))),
        "maxPostAttempts",
        "at most",
        line=p.at["tries"],
        sql=w.find("maxPostAttempts"),
    )
    long = named[-1]
    p.say(
        "outlier",
        (
            *w.pairs(
                owner(giant)[:3],
                [f"{long} lines", f"{int(long) - 1} lines", f"{int(long) - 2} lines", "longest", "largest"],
            ),
            *w.pairs(owner(giant)[:3], [f"({long})", f"{long} l", "very long"]),
            (named[giant], str(p.at[f"method{giant}"]), str(p.at[f"method{giant}"] + int(long) - 1)),
        ),
        named[giant],
        "/^func /",
        line=p.at[f"method{giant}"],
        sql="SELECT text, next - n AS lines, 'longest' AS note FROM (SELECT n, text, lead(n) OVER (ORDER BY n) AS next "
        "FROM lines WHERE text LIKE 'func %') ORDER BY 2 DESC LIMIT 1",
        derived=True,
    )
    names = ["functions", "methods and functions", "func", "funcs", "functions and methods"]
    p.tally(functions, names, "/^func /", sql=w.how_many("func", "/^func /"))
    structs = ["types", "structs", "struct"]
    p.tally(len(types), structs, "/^type \\w+ struct/", sql=w.how_many("types", "/^type \\w+ struct/"))
    return p.done()


@kind("rst_manual", "printed")
def rst_manual(rng: random.Random) -> Parts:  # noqa: C901
    """The source of a Sphinx manual in reStructuredText, all chapters in one file."""
    p, product = Page(), rng.choice(("Harbor Relay", "Lattice Broker", "Copper Queue"))
    command = product.split()[0].lower()
    title = f"{product} Administration Manual"
    p.add(
        "*" * len(title),
        title,
        "*" * len(title),
        "",
        f":Release: 6.{rng.randint(2, 4)}",
        f":Date: {rng.randint(3, 27)} May 2025",
        "",
    )
    p.add(".. contents::", "   :depth: 2", "")
    chapters = w.distinct(
        rng,
        rng.randint(14, 16),
        lambda r: f"Work with the {r.choice(w.PLAIN)} {r.choice(w.THINGS)}",
    )
    places = [(c, k) for c in range(len(chapters)) for k in range(5)]
    picked = [places[k] for k in w.spots(rng, len(places), 14, apart=2)]
    old, danger, double, ref, todo, steps, outlier, lie, bare, leak, change, future, lorem, silent = picked
    headings = iter(w.distinct(rng, len(places), w.heading))
    options = iter(
        w.distinct(
            rng,
            260,
            lambda r: f"{r.choice(w.THINGS)}_{r.choice(w.PLAIN)}_{r.choice(('limit', 'size', 'mode'))}",
        )
    )
    labels = iter(
        w.distinct(
            rng, len(places), lambda r: f"{r.choice(w.DOING)}-{r.choice(w.THINGS)}-{r.choice(w.THINGS)}"
        )
    )
    known: list[str] = []
    at: dict[tuple[int, int], str] = {}
    said: dict[str, str] = {}
    many: Counter[str] = Counter()
    secret = w.alnum(rng, 28)
    seconds, told = rng.randint(604_800, 2_592_000), rng.choice(("nine", "eleven", "twelve"))
    for c, chapter in enumerate(chapters):
        p.add(chapter, "=" * len(chapter), "", *w.wrap(w.paragraph(rng), 78), "", mark=f"chapter{c}")
        for k in range(5):
            place, name, label = (c, k), next(headings), next(labels)
            at[place] = name
            if place == double:
                label = known[-2]
                said["label"] = label
                p.add(mark="double")
            known.append(label)
            p.add(f".. _{label}:", "", name, "-" * len(name), "", *w.wrap(w.paragraph(rng), 78), "")
            many["sections"] += 1
            if place == ref:
                said["ref"] = f"{rng.choice(w.DOING)}-the-attic"
                p.add(f"See also :ref:`{said['ref']}` for what happens on restart.", "", mark="ref")
            elif rng.random() < 0.5:
                p.add(f"See also :ref:`{rng.choice(known)}` for the background.", "")
            for _ in range(rng.randint(2, 3)):
                option = next(options)
                p.add(f".. confval:: {option}", "   :type: integer")
                value = str(rng.randint(5, 900))
                if place == outlier and "outlier" not in said:
                    said["outlier"], value = option, str(seconds)
                    p.add(mark="outlier")
                if place == bare and "bare" not in said:
                    said["bare"] = option
                    p.add(mark="bare")
                else:
                    p.add(f"   :default: {value}")
                p.add("", *w.wrap(w.paragraph(rng, 1, 2), 78, "   "), "")
                if place == change and "change" not in said:
                    said["change"] = option
                    p.add(
                        ".. versionchanged:: 6.0",
                        f"   ``{option}`` counts bytes; before, it counted kilobytes.",
                        "",
                        mark="change",
                    )
                many["confval"] += 1
            if place == old:
                said["old"] = f"{command}ctl flush-all"
                p.add(".. deprecated:: 6.1", f"   ``{said['old']}`` will be removed in 7.0.", "", mark="old")
            if place == future:
                p.add(".. versionadded:: 9.7", "   Staging areas may be nested.", "", mark="future")
            if place == danger:
                p.add(
                    ".. danger::",
                    "   Running this on a primary node erases its journal at once.",
                    "",
                    mark="danger",
                )
            elif rng.random() < 0.35:
                what = rng.choice(("note", "tip", "note"))
                p.add(f".. {what}::", *w.wrap(w.paragraph(rng, 2, 2), 78, "   "), "")
                many[what] += 1
            elif rng.random() < 0.3:
                p.add(".. warning::", *w.wrap(w.paragraph(rng, 2, 2), 78, "   "), "")
                many["warning"] += 1
            if place == todo:
                p.add(".. todo::", "   Describe what happens to half-written segments.", "", mark="todo")
            if place == lorem:
                p.add("Lorem ipsum dolor sit amet, consectetur adipiscing elit.", "", mark="lorem")
            if place == lie:
                codes = rng.sample(w.THINGS, 7)
                p.add(f"The command ends with one of {told} exit codes:", "", mark="lie")
                p.add(*(f"* ``{n}``: the {one} was not found" for n, one in enumerate(codes, 2)), "")
            if place == steps:
                p.add("To do this by hand:", "")
                for n in (1, 2, 3, 4, 6, 7, 8):
                    v, a, b = rng.choice(w.DOING), rng.choice(w.PLAIN), rng.choice(w.THINGS)
                    p.add(f"{n}. {v.capitalize()} the {a} {b}.", mark=f"step{n}")
                p.add("")
            if place == silent:
                continue
            p.add(".. code-block:: console", "")
            many["code"] += 1
            if place == leak:
                p.add(f"   $ {command}ctl login --user admin --token {secret}", mark="leak")
            p.add(
                f"   $ {command}ctl {rng.choice(w.DOING)} --{rng.choice(w.THINGS)} {rng.choice(w.PLAIN)} "
                f"{rng.choice(w.THINGS)}-{rng.randint(1, 40)}"
            )
            p.add(f"   {rng.choice(w.THINGS)} {rng.choice(('ready', 'stored', 'accepted'))}", "")

    def near(place: tuple[int, int], *more: str) -> list[str]:
        return [at[place], *more]

    def here(
        what: str,
        mark: str,
        telling: list,
        place: tuple[int, int],
        more: list,
        *searches: str,
        hidden: str = "",
    ) -> None:
        p.here(what, mark, telling, near(place, *more), *searches, hidden=hidden)

    here(
        "change",
        "old",
        ["deprecated", "removed in 7.0"],
        old,
        [said["old"], "flush-all", "6.1"],
        "deprecated::",
        "flush-all",
    )
    here(
        "rare value",
        "danger",
        ["erases its journal", "danger"],
        danger,
        ["journal", "primary node"],
        "danger::",
    )
    p.say(
        "duplicate",
        w.same(said["label"], f"_{said['label']}:|2"),
        f".. _{said['label']}:",
        "/^\\.\\. _/",
        line=p.at["double"],
        sql="SELECT text, count(*) AS duplicates FROM lines WHERE text LIKE '.. \\_%' ESCAPE '\\' GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    p.say(
        "contradiction",
        w.pairs([said["ref"]], [*MISSES, "label", "target"]),
        said["ref"],
        ":ref:",
        line=p.at["ref"],
        sql="SELECT r.n, r.label AS undefined_label FROM (SELECT n, substr(text, 16, instr(substr(text, 16), '`') - 1) AS label "
        "FROM lines WHERE text LIKE 'See also :ref:%') r WHERE NOT EXISTS "
        "(SELECT 1 FROM lines d WHERE d.text = '.. _' || r.label || ':')",
        derived=True,
    )
    here(
        "rare value",
        "todo",
        ["todo", "half-written segments"],
        todo,
        ["half-written", "Describe what happens"],
        "todo::",
    )
    p.say(
        "gap",
        (
            *w.pairs(
                [at[steps]],
                ["step 5", "no 5", "5 is missing", "4 → 6", "4, 6", "skips 5", "4 to 6", "5 missing"],
            ),
            *w.pairs(["step 5", "number 5", "item 5"], w.LEAP[:8]),
            *((one, "step") for one in ("missing 5", "skips 5", "skips from 4 to 6", "4 → 6", "4 to 6")),
            (p.lines[p.at["step4"] - 1], p.lines[p.at["step6"] - 1]),
            (p.lines[p.at["step6"] - 1], "missing"),
        ),
        "by hand",
        "/^\\d+\\. /",
        line=p.at["step6"],
        sql="SELECT n, text FROM lines WHERE text REGEXP '^[1-8]\\. [A-Z]'",
    )
    here(
        "outlier",
        "outlier",
        [seconds],
        outlier,
        [said["outlier"], ":default:"],
        f":default: {seconds}",
        "/:default: \\d{4,}/",
        ":default:",
    )
    p.say(
        "contradiction",
        (
            *((f"{told} exit codes", word) for word in ("7", "seven", "only", "real", "lists", "but ")),
            ("exit codes", told, "7"),
            ("exit codes", told, "seven"),
        ),
        "exit codes",
        line=p.at["lie"],
        sql="SELECT (SELECT text FROM lines WHERE text LIKE '%exit codes%') AS told, count(*) AS codes FROM lines "
        "WHERE text LIKE '* ``%was not found'",
        derived=True,
    )
    p.say(
        "missing field",
        w.gone([said["bare"]], ":default:", "default"),
        ":default:",
        said["bare"],
        line=p.at["bare"],
        sql="SELECT a.text, 'no default, missing' AS note FROM lines a WHERE a.text LIKE '.. confval::%' AND NOT EXISTS "
        "(SELECT 1 FROM lines b WHERE b.n = a.n + 2 AND b.text LIKE '%:default:%')",
        derived=True,
    )
    here(
        "secret",
        "leak",
        ["--token", "token", "login"],
        leak,
        ["--user admin", f"{command}ctl login"],
        "--token",
        "login",
        hidden=secret,
    )
    told_ = ["counts bytes", "kilobytes"]
    here(
        "change",
        "change",
        told_,
        change,
        [said["change"], "versionchanged"],
        "/versionchanged::|kilobytes/",
        "versionchanged::",
    )
    here(
        "outlier",
        "future",
        ["9.7"],
        future,
        ["versionadded", "Staging areas", "nested"],
        "versionadded::",
        "9.7",
    )
    here("rare value", "lorem", ["Lorem ipsum"], lorem, ["placeholder", "dolor sit amet"], "Lorem", "ipsum")
    p.say(
        "missing section",
        w.gone([at[silent]], "code-block", "example", "code block"),
        "code-block::",
        at[silent],
        sql="SELECT s.text, 'no code-block' AS note FROM (SELECT n, text, lead(n, 1, 999999) OVER (ORDER BY n) AS e FROM "
        "lines WHERE n + 1 IN (SELECT n FROM lines WHERE text REGEXP '^-{6,}$')) s WHERE NOT EXISTS (SELECT 1 FROM lines "
        "c WHERE c.n BETWEEN s.n AND s.e AND c.text LIKE '.. code-block::%')",
        derived=True,
    )
    p.say(
        "outline",
        ((chapters[0], chapters[1], chapters[-1]), (chapters[2], chapters[3]), (chapters[-2], chapters[-1])),
        "/^={4,}$/",
        "=====",
        sql="SELECT group_concat(text, ', ') AS chapters FROM lines WHERE n + 1 IN "
        "(SELECT n FROM lines WHERE text REGEXP '^={4,}$')",
        derived=True,
    )
    p.tally(
        many["confval"],
        ["confval", "options", "confval::", ".. confval::"],
        "confval::",
        sql=w.how_many("confval", "confval::"),
    )
    return p.done()


@kind("iptables_save", "printed")
def iptables_save(rng: random.Random) -> Parts:  # noqa: C901
    """`iptables-save -c` of a router with one chain for each team."""
    p = Page()
    day = datetime(2025, rng.randint(2, 9), rng.randint(2, 26), 9, rng.randint(1, 58), 31)
    stamp = f"{day:%a %b} {day.day:2d} {day:%H:%M:%S %Y}"
    teams = sorted(rng.sample(w.TEAMS, 34))
    spots = w.spots(rng, len(teams), 11, apart=2)
    exposed, hot, twice, queue, bare, refuse, leak, expired, lie, skip, quiet = spots
    ticket, total = rng.randint(2100, 2900), 0
    made: dict[str, str] = {}
    targets: Counter[str] = Counter()
    per: Counter[str] = Counter()
    secret = "whsec_" + w.alnum(rng, 28)
    big = rng.randint(700_000_000, 990_000_000)
    port = rng.choice((6379, 9200, 27017))
    stop = f"2023-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}T00:00:00"
    missing = ""

    def policy(chain: str, target: str = "ACCEPT", mark: str = "") -> None:
        hits = 0 if target == "-" else rng.randint(10_000, 9_000_000)
        p.add(f":{chain} {target} [{hits}:{hits * rng.randint(60, 700)}]", mark=mark)

    def rule(chain: str, match: str, note: str, target: str, mark: str = "", hits: int = -1) -> None:
        nonlocal ticket, total
        hits = rng.randint(0, 90_000) if hits < 0 else hits
        comment = ""
        if note:
            ticket += 1
            comment = f' -m comment --comment "FW-{ticket} {note}"'
        p.add(f"[{hits}:{hits * rng.randint(52, 900)}] -A {chain} {match}{comment} -j {target}", mark=mark)
        if mark:
            made[mark] = f"FW-{ticket}" if note else ""
        total += 1
        targets[target.split()[0]] += 1
        per[chain] += 1

    def begin(table: str) -> None:
        p.add(f"# Generated by iptables-save v1.8.9 (nf_tables) on {stamp}", f"*{table}", mark=f"*{table}")

    def end() -> None:
        p.add("COMMIT", f"# Completed on {stamp}")

    begin("raw")
    for chain in ("PREROUTING", "OUTPUT"):
        policy(chain)
    for k in range(6):
        rule(
            rng.choice(("PREROUTING", "OUTPUT")),
            f"-p udp -m udp --dport {5300 + k}",
            "no tracking of resolvers",
            "CT --notrack",
        )
    end()
    begin("mangle")
    for chain in ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"):
        policy(chain)
    for k in range(9):
        match = f"-o wan{k % 3} -p tcp -m tcp --tcp-flags SYN,RST SYN -m tcpmss --mss {1400 + 10 * k}:65495"
        rule("POSTROUTING", match, f"clamp segments of uplink {k}", "TCPMSS --clamp-mss-to-pmtu")
    end()
    begin("nat")
    for chain in ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"):
        policy(chain)
    odd, foreign = rng.randint(18, 36), f"185.220.101.{rng.randint(4, 250)}"
    for k in range(46):
        outer, team = rng.randint(20_000, 29_999), rng.choice(teams)
        inner = (
            f"{foreign}:4444"
            if k == odd
            else f"10.40.{teams.index(team)}.{rng.randint(2, 250)}:{rng.choice((443, 8443, 8080))}"
        )
        match = f"-i wan{k % 3} -p tcp -m tcp --dport {outer}"
        rule(
            "PREROUTING",
            match,
            f"forward to {team}",
            f"DNAT --to-destination {inner}",
            "dnat" if k == odd else "",
        )
    for k in range(len(teams)):
        rule(
            "POSTROUTING", f"-s 10.40.{k}.0/24 -o wan{k % 3}", f"leave as router for {teams[k]}", "MASQUERADE"
        )
    end()
    begin("filter")
    policy("INPUT", "DROP", "input")
    policy("FORWARD", "ACCEPT", "forward")
    policy("OUTPUT", "DROP")
    lonely = f"{rng.choice(w.PLAIN)}-{rng.choice(w.THINGS)}".upper() + "-OLD"
    names = [f"{team.upper()}-IN" for team in teams]
    for k, chain in enumerate(sorted([*names, lonely])):
        policy(chain, "-", "lonely" if chain == lonely else f"chain{k}")
    rule("INPUT", "-i lo", "local traffic", "ACCEPT")
    rule("INPUT", "-m conntrack --ctstate RELATED,ESTABLISHED", "known flows", "ACCEPT")
    rule("INPUT", "-s 10.40.250.0/24 -p tcp -m tcp --dport 22", "admins by ssh", "ACCEPT")
    for k, chain in enumerate(names):
        rule("FORWARD", f"-d 10.40.{k}.0/24", f"traffic to {teams[k]}", chain)
    rule("OUTPUT", "-m conntrack --ctstate NEW,RELATED,ESTABLISHED", "router itself", "ACCEPT")
    for k, chain in enumerate(names):
        size = rng.randint(17, 24)
        for n in range(size):
            source, note = (
                rng.randint(0, 33),
                f"{teams[k]} {rng.choice(w.DOING)} {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}",
            )
            target = w.pick(rng, {"ACCEPT": 76, "DROP": 14, "RETURN": 10})
            proto = w.pick(rng, {"tcp": 84, "udp": 16})
            host = f"-s 10.40.{source}.{rng.randint(2, 250)}/32 -p {proto} -m {proto} --dport"
            match = f"{host} {rng.choice((80, 443, 5432, 8080, 8443, 9090))}"
            if n != 9:
                rule(chain, match, note, target)
            elif k == exposed:
                rule(
                    chain,
                    f"-p tcp -m tcp --dport {port}",
                    "TEMPORARY open to everyone for the demo",
                    "ACCEPT",
                    "exposed",
                )
            elif k == hot:
                rule(chain, match, note, "DROP", "hot", big)
            elif k == twice:
                rule(chain, match, note, "ACCEPT")
                p.add(p.lines[-1], mark="twice")
                made["twice"] = f"FW-{ticket}"
                total += 1
                targets["ACCEPT"] += 1
                per[chain] += 1
            elif k == queue:
                rule(chain, match, note, "NFQUEUE --queue-num 3", "queue")
            elif k == bare:
                rule(chain, match, "", "ACCEPT", "bare")
            elif k == refuse:
                rule(chain, match, note, "REJECT --reject-with icmp-admin-prohibited", "refuse")
            elif k == leak:
                rule(chain, match, f"hook of payments, key {secret}", "ACCEPT", "leak")
            elif k == expired:
                rule(chain, f"{match} -m time --datestop {stop}", note, "ACCEPT", "expired")
            elif k == lie:
                rule(chain, match, f"block {rng.choice(w.PLAIN)} contractors for good", "ACCEPT", "lie")
            elif k == skip:
                ticket += 1
                missing = f"FW-{ticket}"
                rule(chain, match, note, "ACCEPT", "skip")
            elif k == quiet:
                rule(chain, match, note, 'LOG --log-prefix "suspicious " --log-level 4', "log")
            else:
                rule(chain, match, note, target)
        rule(chain, "-m conntrack --ctstate INVALID", f"invalid to {teams[k]}", "DROP")
    end()

    def one(
        what: str, mark: str, telling: list, k: int, more: list, *searches: str, hidden: str = ""
    ) -> None:
        names_ = [*more, names[k], *([made[mark]] if made[mark] else [])]
        p.here(what, mark, telling, names_, *searches, hidden=hidden)

    one(
        "error",
        "exposed",
        [f"--dport {port}", "open to everyone", str(port)],
        exposed,
        ["TEMPORARY", "any source"],
        "TEMPORARY",
        f"--dport {port}",
    )
    line = p.lines[p.at["forward"] - 1]
    p.say(
        "rare value",
        (
            (line[1:].split(" [")[0], "filter"),
            (line,),
            ("forward accept", "input drop"),
            ("forward", "accept", "policy", "filter"),
        ),
        ":FORWARD",
        "/^:\\w+ ACCEPT/",
        line=p.at["forward"],
        sql=w.find("/^(\\*|:[A-Z]+ (ACCEPT|DROP))/"),
    )
    one("outlier", "hot", [big], hot, ["packets", "DROP", "largest"], str(big), "/^\\[\\d{7,}:/")
    source = p.lines[p.at["twice"] - 1].split(" -A ")[1]
    p.say(
        "duplicate",
        (
            *w.same(made["twice"]),
            *w.same(source),
            *w.pairs([names[twice]], ["duplicate", "twice", "same rule"]),
        ),
        made["twice"],
        names[twice],
        line=p.at["twice"],
        sql="SELECT substr(text, instr(text, '-A ')) AS rule, count(*) AS duplicates FROM lines WHERE text LIKE '%] -A %' "
        "GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    p.say(
        "rare value",
        (*w.pairs([lonely], UNUSED), *w.pairs([lonely], ["unused", "never jumped"])),
        lonely,
        "-OLD",
        line=p.at["lonely"],
        sql="SELECT a.text, 'unused, never a target' AS note FROM lines a WHERE a.text LIKE ':% - [%' AND NOT EXISTS (SELECT 1 "
        "FROM lines b WHERE b.text LIKE '%-j ' || substr(a.text, 2, instr(a.text, ' ') - 2))",
        derived=True,
    )
    told = [foreign, f"{foreign}:4444"]
    p.here(
        "rare value",
        "dnat",
        told,
        ["DNAT", "to-destination", made["dnat"], "4444"],
        "to-destination 185",
        "DNAT",
    )
    one("rare value", "queue", ["NFQUEUE"], queue, ["queue-num", "--queue-num 3"], "NFQUEUE")
    p.say(
        "missing field",
        (
            *(
                (names[bare], "comment", word)
                for word in ("missing", "without", "no comment", "lacks", "uncommented")
            ),
            (str(p.at["bare"]), "comment"),
        ),
        "comment",
        "/-A (?!.*comment)/",
        line=p.at["bare"],
        sql="SELECT n, text, 'no comment' AS note FROM lines WHERE text LIKE '%] -A %' AND text NOT LIKE '%--comment%'",
        derived=True,
    )
    one(
        "rare value",
        "refuse",
        ["icmp-admin-prohibited", "REJECT"],
        refuse,
        ["reject-with", "admin-prohibited"],
        "REJECT",
    )
    told = ["hook of payments", "secret", "webhook", "whsec"]
    one("secret", "leak", told, leak, ["hook of payments"], "whsec_", "hook", hidden=secret)
    one(
        "time jump",
        "expired",
        [stop[:10], "datestop"],
        expired,
        ["--datestop", "expired", "2023"],
        "datestop",
        "-m time",
    )
    p.say(
        "gap",
        w.gap([missing], f"FW-{int(missing[3:]) - 1}", f"FW-{int(missing[3:]) + 1}"),
        "/FW-\\d+/",
        f"FW-{int(missing[3:]) - 1}",
        line=p.at["skip"],
        sql="SELECT 'FW-' || was AS was, 'FW-' || v AS next, 'gap' AS note FROM (SELECT v, lag(v) OVER (ORDER BY n) AS was FROM "
        "(SELECT n, CAST(substr(text, instr(text, '\"FW-') + 4, 4) AS INTEGER) AS v FROM lines WHERE text LIKE '%\"FW-%')) "
        "WHERE v - was > 1",
        derived=True,
    )
    one(
        "contradiction",
        "lie",
        ["contractors for good", "contractors"],
        lie,
        ["ACCEPT", "block"],
        "block ",
        "contractors",
    )
    one(
        "rare value",
        "log",
        ["suspicious", "--log-prefix"],
        quiet,
        ["LOG", "log-prefix"],
        "-j LOG",
        "log-prefix",
    )
    p.tally(targets["DROP"], ["DROP", "-j DROP"], "-j DROP", sql=w.how_many("-j DROP", "-j DROP"))
    p.tally(total, ["rules", "-A", "appended"], "-A ", sql=w.how_many("rules", "] -A "))
    return p.done()


class _Host:
    """One host of a scan: its ports with the lines that scripts print below them."""

    def __init__(self, rng: random.Random, name: str, address: str) -> None:
        self.name, self.address = name, address
        self.latency = f"{rng.uniform(0.0003, 0.0029):.5f}".rstrip("0")
        self.mac = "52:54:00:" + ":".join(w.hexes(rng, 2).upper() for _ in range(3)) + " (QEMU virtual NIC)"
        self.info = "OS: Linux; CPE: cpe:/o:linux:linux_kernel"
        self.ports: list[tuple[int, str, str, list[str]]] = []
        self.note = ""

    def port(self, number: int, service: str, version: str, *below: str) -> None:
        self.ports = [one for one in self.ports if one[0] != number]
        self.ports.append((number, service, version, list(below)))

    def lines(self) -> list[str]:
        full = f"{self.name} ({self.address})" if self.name else self.address
        lines = [f"Nmap scan report for {full}", f"Host is up ({self.latency}s latency)."]
        if self.note == "timeout":
            return [*lines, f"Skipping host {full} due to host timeout", ""]
        if self.note == "ignored":
            lines.append(f"All 1000 scanned ports on {full} are in ignored states.")
            return [
                *lines,
                "Not shown: 1000 filtered tcp ports (no-response)",
                f"MAC Address: {self.mac}",
                "",
            ]
        ports = sorted(self.ports)
        lines.append(f"Not shown: {1000 - len(ports)} closed tcp ports (reset)")
        a = max(len(f"{one[0]}/tcp") for one in ports)
        b = max(7, *(len(one[1]) for one in ports))
        lines.append(f"{'PORT':<{a}} STATE {'SERVICE':<{b}} VERSION")
        for number, service, version, below in ports:
            lines.append(f"{f'{number}/tcp':<{a}} open  {service:<{b}} {version}".rstrip())
            lines += below
        return [*lines, f"MAC Address: {self.mac}", f"Service Info: {self.info}", ""]


def _certificate(rng: random.Random, name: str, start: str, end: str) -> list[str]:
    return [
        f"| ssl-cert: Subject: commonName={name}",
        f"| Subject Alternative Name: DNS:{name}",
        f"| Not valid before: {start}",
        f"|_Not valid after:  {end}T0{rng.randint(1, 9)}:{rng.randint(10, 59)}:00",
    ]


@kind("nmap_scan", "printed")
def nmap_scan(rng: random.Random) -> Parts:
    """`nmap -sV -sC -oN` of an office network: a block for each host that answers."""
    size = rng.randint(132, 142)
    start = datetime(2025, rng.randint(2, 6), rng.randint(2, 26), 2, rng.randint(1, 58), 12)
    places = sorted(rng.sample(range(4 * 256), size))
    names = w.distinct(rng, size, lambda r: f"{r.choice(w.TEAMS)}-{r.randint(1, 60):02d}.corp.example")
    hosts: list[_Host] = []
    for name, place in zip(names, places, strict=True):
        host = _Host(rng, name, f"10.30.{place // 256}.{place % 256}")
        hosts.append(host)
        key = [":".join(w.hexes(rng, 2) for _ in range(16)) for _ in range(2)]
        host.port(
            22,
            "ssh",
            "OpenSSH 9.2p1 Debian 2+deb12u2 (protocol 2.0)",
            "| ssh-hostkey: ",
            f"|   256 {key[0]} (ECDSA)",
            f"|_  256 {key[1]} (ED25519)",
        )
        role = w.pick(rng, {"web": 50, "data": 22, "mail": 10, "plain": 18})
        valid = f"2025-01-{rng.randint(10, 28)}T00:00:00", f"2026-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"
        if role == "web":
            title = f"|_http-title: {rng.choice(w.PLAIN).capitalize()} {rng.choice(w.THINGS)}"
            host.port(
                80, "http", "nginx 1.22.1", "|_http-title: Did not follow redirect to https://" + name + "/"
            )
            host.port(443, "ssl/http", "nginx 1.22.1", title, *_certificate(rng, name, *valid))
        elif role == "data":
            host.port(5432, "postgresql", "PostgreSQL DB 9.6.0 or later")
            host.port(9100, "http", "Prometheus Node Exporter", "|_http-title: Node Exporter")
        elif role == "mail":
            host.port(
                25,
                "smtp",
                "Postfix smtpd",
                f"|_smtp-commands: {name}, PIPELINING, SIZE 10240000, STARTTLS, 8BITMIME",
            )
            host.port(993, "ssl/imap", "Dovecot imapd", *_certificate(rng, name, *valid))
        else:
            host.port(111, "rpcbind", "2-4 (RPC #100000)")
    spots = w.spots(rng, size, 14, apart=3)
    tel, old, back, anon, slow, twin, nameless, hidden, late, dead, stale, many, leak, empty = spots
    hosts[tel].port(23, "telnet", "Cisco router telnetd")
    hosts[old].port(22, "ssh", "OpenSSH 4.3 (protocol 1.99)", "|_sshv1: Server supports SSHv1")
    hosts[back].port(21, "ftp", "vsftpd 2.3.4", "|_ftp-bounce: bounce working!")
    hosts[anon].port(
        21,
        "ftp",
        "ProFTPD 1.3.8b",
        "| ftp-anon: Anonymous FTP login allowed (FTP code 230)",
        "|_drwxr-xr-x   2 ftp      ftp          4096 Feb 11 09:20 payroll_exports",
    )
    lag = f"{rng.uniform(2.1, 4.9):.1f}"
    hosts[slow].latency = lag
    hosts[twin].mac = hosts[twin - 2].mac
    hosts[nameless].name = ""
    hosts[hidden].note = "ignored"
    hosts[late].note = "timeout"
    dead_ = hosts[dead]
    dead_.ports.clear()
    dead_.port(139, "netbios-ssn", "Microsoft Windows netbios-ssn")
    dead_.port(445, "microsoft-ds", "Windows XP microsoft-ds")
    dead_.info = "OSs: Windows, Windows XP; CPE: cpe:/o:microsoft:windows, cpe:/o:microsoft:windows_xp"
    past = f"2019-0{rng.randint(1, 9)}-{rng.randint(10, 28)}"
    hosts[stale].port(
        8443,
        "ssl/http",
        "Apache Tomcat 9.0.85",
        *_certificate(rng, hosts[stale].name, "2018-01-02T00:00:00", past),
    )
    for number in sorted(rng.sample(range(30_000, 60_000), rng.randint(29, 41))):
        hosts[many].port(number, "unknown", "")
    secret = "AKIA" + w.alnum(rng, 16).upper()
    hosts[leak].port(
        8081,
        "http",
        "SimpleHTTPServer 0.6 (Python 3.11.2)",
        f"|_http-title: Index of /backup?access_key={secret}",
    )
    hosts[empty].port(6379, "redis", "Redis key-value store 7.0.15 (authentication not required)")
    said, took = size + rng.randint(7, 19), rng.uniform(1900, 3900)
    p = Page()
    p.add(
        f"# Nmap 7.94SVN scan initiated {start:%a %b} {start.day:2d} {start:%H:%M:%S %Y} as: "
        "nmap -sV -sC -T4 -oN office.nmap 10.30.0.0/22"
    )
    for i, host in enumerate(hosts):
        p.add(*host.lines(), mark=f"host{i}")
    done = start + timedelta(seconds=took)
    p.add("Service detection performed. Please report any incorrect results at https://nmap.org/submit/ .")
    p.add(
        f"# Nmap done at {done:%a %b} {done.day:2d} {done:%H:%M:%S %Y} -- 1024 IP addresses ({said} hosts up) "
        f"scanned in {took:.2f} seconds",
        mark="done",
    )

    def one(what: str, i: int, telling: list, more: list, *searches: str, hidden: str = "") -> None:
        """A fact at the first line of the host's block that holds what is told."""
        begin = p.at[f"host{i}"]
        block = [line.lower() for line in hosts[i].lines()]
        found = next(k for k, line in enumerate(block) if str(telling[0]).lower() in line)
        p.at[f"{what} {searches[0]}"] = begin + found
        where = [
            *more,
            hosts[i].address,
            *([hosts[i].name, hosts[i].name.split(".")[0]] if hosts[i].name else []),
        ]
        p.here(what, f"{what} {searches[0]}", telling, where, *searches, hidden=hidden)

    one("rare value", tel, ["23/tcp", "telnet"], ["Cisco router", "telnetd"], "telnet", "23/tcp")
    one(
        "outlier",
        old,
        ["OpenSSH 4.3", "SSHv1"],
        ["protocol 1.99", "1.99"],
        "OpenSSH 4.3",
        "sshv1",
        "/OpenSSH [1-8]/",
    )
    one("error", back, ["vsftpd 2.3.4", "ftp-bounce"], ["bounce working", "21/tcp"], "vsftpd", "ftp")
    one("error", anon, ["Anonymous FTP"], ["payroll_exports", "ftp-anon"], "ftp-anon", "Anonymous")
    one("outlier", slow, [f"{lag}s latency", f"{lag}s", f"{lag} s"], ["latency"], f"({lag}s", "/up \\([1-9]/")
    mac = hosts[twin].mac.split()[0]
    p.say(
        "duplicate",
        (*w.same(mac), (mac, hosts[twin].address, hosts[twin - 2].address)),
        mac,
        "MAC Address",
        sql="SELECT text, count(*) AS duplicates FROM lines WHERE text LIKE 'MAC Address%' GROUP BY 1 HAVING count(*) > 1",
        derived=True,
    )
    address = hosts[nameless].address
    words = (
        "missing",
        "without",
        "no name",
        "no host",
        "no reverse",
        "no dns",
        "unnamed",
        "nameless",
        "lacks",
    )
    p.say(
        "missing field",
        w.pairs([address], words),
        f"for {address}",
        "/report for \\d/",
        line=p.at[f"host{nameless}"],
        sql="SELECT n, text, 'no name' AS note FROM lines WHERE text REGEXP '^Nmap scan report for \\d'",
        derived=True,
    )
    told = ["ignored states", "1000 filtered", "all 1000"]
    one("rare status", hidden, told, ["no-response", "filtered"], "ignored states", "filtered")
    one(
        "rare status",
        late,
        ["host timeout", "Skipping host"],
        ["Skipping", "timed out"],
        "Skipping host",
        "timeout",
    )
    one("outlier", dead, ["Windows XP"], ["microsoft-ds", "445/tcp"], "Windows XP", "Windows")
    one(
        "error",
        stale,
        [past, past[:7]],
        ["Not valid after", "expired", "8443", "ssl-cert"],
        "/valid after:  20(1\\d|2[0-4])/",
        "2019",
    )
    number = len(hosts[many].ports)
    counts = (
        f"{number} ports",
        f"{number} open",
        "most open",
        f"{number} tcp",
        f": {number}",
        f"|{number}",
        f"({number})",
        str(1000 - number),
    )
    p.say(
        "outlier",
        (
            *w.pairs([hosts[many].address, hosts[many].name], counts),
            (hosts[many].address, "unknown", str(number)),
        ),
        f"Not shown: {1000 - number}",
        "unknown",
        line=p.at[f"host{many}"],
        sql="SELECT n, text, (SELECT text FROM lines h WHERE h.n = lines.n - 2) AS host FROM lines "
        "WHERE text LIKE 'Not shown: 9%' ORDER BY text LIMIT 2",
    )
    told = ["http-title: Index of /backup", "access_key", "access key", "aws key", "secret"]
    one(
        "secret",
        leak,
        told,
        ["Index of /backup", "8081", "SimpleHTTP"],
        "access_key",
        "Index of",
        hidden=secret,
    )
    one(
        "error",
        empty,
        ["authentication not required", "redis"],
        ["6379", "Redis key-value"],
        "6379/tcp",
        "Redis",
    )
    p.say(
        "contradiction",
        _told(f"{said} hosts", said, size),
        "hosts up",
        "Nmap done",
        line=p.at["done"],
        sql="SELECT (SELECT text FROM lines WHERE text LIKE '%hosts up%') AS told, count(*) AS hosts FROM lines "
        "WHERE text LIKE 'Nmap scan report%'",
        derived=True,
    )
    ssh = sum(line.startswith("22/tcp ") for line in p.lines)
    p.tally(ssh, ["22/tcp", "ssh", "port 22"], "22/tcp", sql=w.how_many("22/tcp", "/^22/tcp +open/"))
    return p.done()
