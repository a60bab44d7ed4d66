"""Answers that are logs: the requests of a web server, and what an application says."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import datetime
import random
from collections import Counter
from typing import Any, Final

from bench.overflow.figures import differ, leaders, mean, rows, settled, total
from bench.overflow.question import Question, shape

PATHS: Final = {
    "/": 20,
    "/api/search": 18,
    "/api/products": 18,
    "/api/checkout": 8,
    "/static/app.js": 10,
    "/downloads/catalog.pdf": 5,
    "/downloads/price-list.csv": 5,
    "/downloads/manual.zip": 3,
    "/old-shop": 3,
}
BYTES: Final = {
    "/downloads/catalog.pdf": 2_400_000,
    "/downloads/manual.zip": 9_100_000,
    "/api/search": 18_000,
    "/api/products": 22_000,
}
AGENTS: Final = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:137.0) Gecko/20100101 Firefox/137.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Safari/605.1.15",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/135.0.0.0 Safari/537.36",
    "okhttp/4.12.0",
)
MONTHS: Final = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def _request(rng: random.Random, address: str, time: str) -> dict[str, Any]:
    path = rng.choices(tuple(PATHS), tuple(PATHS.values()))[0]
    status = rng.choices((200, 304, 404, 500), (84, 8, 5, 3))[0]
    if path == "/old-shop":
        status = 301
    size = rng.randrange(BYTES.get(path, 6000) // 3, BYTES.get(path, 6000))
    query = (
        f"?q={rng.choice(('lamp', 'chair', 'desk'))}&page={rng.randrange(9)}" if path == "/api/search" else ""
    )
    return {
        "address": address,
        "time": time,
        "method": "POST" if path == "/api/checkout" else "GET",
        "path": path,
        "query": query,
        "protocol": rng.choice(("HTTP/1.1", "HTTP/2.0")),
        "status": status,
        "size": 0 if status == 304 else size,
        "referrer": rng.choice(("-", "https://shop.example.com/")),
        "agent": rng.choice(AGENTS),
    }


@shape("access_log")
@settled
def access_log(rng: random.Random) -> tuple[str, list[Question]]:
    """One day of nginx's access log, in its `combined` format."""
    addresses = [f"203.0.113.{host}" for host in rng.sample(range(2, 250), 90)]
    guests = [f"198.51.100.{host}" for host in rng.sample(range(2, 250), 10)]
    now = datetime.datetime(2025, 5, 12, 0, 0, 9)
    items: list[dict[str, Any]] = []
    for _ in range(1500):
        now += datetime.timedelta(seconds=rng.randrange(1, 100))
        time = f"{now.day:02d}/{MONTHS[now.month - 1]}/{now.year}:{now:%H:%M:%S} +0000"
        items.append(_request(rng, addresses[int(90 * rng.random() ** 1.7)], time))
    asked, odd, *broken = (items[place] for place in rng.sample(range(500, 1000), 9))
    for item, address in zip((asked, odd, *broken), guests, strict=False):
        item["address"] = address
    asked.update(path="/api/products", query="", method="GET", status=200, size=rng.randrange(9000, 22_000))
    odd.update(
        path="/.git/config",
        query="",
        method="GET",
        status=200,
        size=rng.randrange(200, 900),
        agent="curl/8.9.1",
    )
    for item in broken:
        item.update(status=502, size=157)
    text = "".join(
        '{address} - - [{time}] "{method} {path}{query} {protocol}" {status} {size} "{referrer}" "{agent}"\n'.format(
            **item
        )
        for item in items
    )

    def of_path(path: str) -> list[dict[str, Any]]:
        return [item for item in items if item["path"] == path]

    other = rng.choice(items[300:1200])
    clock = other["time"].removesuffix(" +0000")
    statuses = Counter(item["status"] for item in items)
    failed = Counter(item["path"] for item in items if item["status"] == 500)
    files = [path for path in PATHS if path.startswith("/downloads/")]
    averages = [
        (path, mean(item["size"] for item in of_path(path) if item["status"] == 200))
        for path in ("/api/search", "/api/products")
    ]
    differ(*(average for _, average in averages))
    status = "substr(text, instr(text, 'HTTP/') + 10, 3)"
    size = "CAST(substr(text, instr(text, 'HTTP/') + 14) AS INTEGER)"
    address = "substr(text, 1, instr(text, ' ') - 1)"
    path = "substr(text, instr(text, ' /') + 1, instr(text, ' HTTP/') - instr(text, ' /') - 1)"
    return text, [
        Question(
            "lookup",
            f"What did {asked['address']} ask for, and how many bytes did it get?",
            rows([(asked["path"], asked["size"])]),
            (f"SELECT text FROM lines WHERE text LIKE '{asked['address']} %'",),
            (asked["address"],),
            (f"-n '^{asked['address']} '",),
        ),
        Question(
            "lookup",
            f"Which address sent the request of {clock}, and which status did it get?",
            rows([(other["address"], other["status"])]),
            (f"SELECT text FROM lines WHERE text LIKE '%{clock}%'",),
            (clock,),
            (f"-n '{clock}'",),
        ),
        Question(
            "needle",
            "Did anybody get at something that should not be public? From which address, and which path?",
            rows([(odd["address"], odd["path"])]),
            (
                r"SELECT text FROM lines WHERE text REGEXP '/\.|\.\./|admin|backup|\.env|\.sql|passwd' AND text LIKE '%\" 200 %'",
                f"SELECT {path} AS path, count(*) AS requests, min(text) FROM lines GROUP BY 1 ORDER BY 2 LIMIT 5",
            ),
            ("/(?i)admin|backup|passwd/", r"/ \/\.[a-z]/"),
            ("-n -i -E 'admin|backup|passwd'", r"-n -E ' /\.[a-z]|\.\./|\.env|\.sql'"),
        ),
        Question(
            "count",
            "How many requests got each HTTP status?",
            rows(statuses.most_common()),
            (f"SELECT {status} AS status, count(*) AS requests FROM lines GROUP BY 1 ORDER BY 2 DESC",),
            tuple(rf'/" {code} /' for code in statuses),
            tuple(f"-c '\" {code} '" for code in statuses),
        ),
        Question(
            "count",
            "Which paths (without their query) answered with status 500, and how often?",
            rows(failed.most_common()),
            (
                (
                    "SELECT rtrim(substr(path, 1, instr(path || '?', '?') - 1)) AS path, count(*) AS errors FROM "
                    f"(SELECT {path} AS path FROM lines WHERE text LIKE '%\" 500 %') GROUP BY 1 ORDER BY 2 DESC"
                ),
            ),
            ('/" 500 /',),
            ("-oE '\"[A-Z]+ [^ ]+ HTTP/[0-9.]+\" 500 '",),
        ),
        Question(
            "sum",
            "How many bytes were sent for each file under /downloads/?",
            rows((file, total(item["size"] for item in of_path(file))) for file in files),
            (
                f"SELECT {path} AS path, sum({size}) AS bytes FROM lines WHERE text LIKE '% /downloads/%' GROUP BY 1",
            ),
            ("/downloads/",),
            ("-oE '/downloads/[^ ]+ HTTP/[0-9.]+\" [0-9]+ [0-9]+'",),
        ),
        Question(
            "top",
            "Which three addresses sent the most requests, and how many?",
            rows(leaders(Counter(item["address"] for item in items), 3)),
            (
                f"SELECT {address} AS address, count(*) AS requests FROM lines GROUP BY 1 ORDER BY 2 DESC LIMIT 3",
            ),
            (),
            ("-oE '^[0-9.]+'",),
        ),
        Question(
            "compare",
            "Is an answer of /api/search larger than one of /api/products? "
            "The average bytes of their answers with status 200, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT CASE WHEN text LIKE '%GET /api/search%' THEN '/api/search' ELSE '/api/products' END AS path, "
                    f"round(avg({size}), 2) AS bytes FROM lines WHERE text LIKE '%\" 200 %' "
                    "AND (text LIKE '%GET /api/search%' OR text LIKE '%GET /api/products%') GROUP BY 1"
                ),
            ),
            (),
            ("-oE '/api/(search|products)[^ ]* HTTP/[0-9.]+\" 200 [0-9]+'",),
        ),
        Question(
            "list",
            "Which addresses were answered with a 502?",
            rows([item["address"]] for item in items if item["status"] == 502),
            (
                f"SELECT {address} AS address FROM lines WHERE text LIKE '%\" 502 %'",
                "SELECT text FROM lines WHERE text LIKE '% 502 %'",
            ),
            ('/" 502 /', "502"),
            ("-n '\" 502 '",),
        ),
    ]


TRACES: Final = {
    "java.net.SocketTimeoutException": "Read timed out",
    "java.sql.SQLTransientConnectionException": "pool-1 - Connection is not available",
    "java.lang.IllegalStateException": "Cart is already closed",
}
FRAMES: Final = (
    "at com.shop.web.RequestFilter.doFilter(RequestFilter.java:{line})",
    "at com.shop.cart.CartService.close(CartService.java:{line})",
    "at com.shop.db.OrderStore.insert(OrderStore.java:{line})",
    "at com.shop.pay.CardClient.send(CardClient.java:{line})",
    "at java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:{line})",
    "at java.base/java.lang.Thread.run(Thread.java:{line})",
)
ROUTES: Final = {"GET /search": 300, "POST /orders": 420, "GET /cart": 140}
WARNINGS: Final = {
    "com.shop.cart.CartService": "Cart {number} is older than 30 days",
    "com.shop.web.Limiter": "Client {number} is close to its limit",
    "com.shop.db.OrderStore": "Slow statement {number}, index not used",
}


class _AppLog:
    """The lines of a log of Logback, and what they say."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now = datetime.datetime(2025, 6, 3, 6, 0)
        self.lines: list[str] = []
        self.levels: Counter[str] = Counter()
        self.thrown: Counter[str] = Counter()
        self.requests: list[tuple[str, str, int]] = []
        self.records: list[int] = []
        self.refused: list[str] = []

    def say(self, level: str, logger: str, message: str) -> None:
        self.now += datetime.timedelta(milliseconds=self.rng.randrange(3, 20_000))
        time = f"{self.now:%Y-%m-%d %H:%M:%S},{self.now.microsecond // 1000:03d}"
        self.levels[level] += 1
        self.lines.append(f"{time} {level:<5} [worker-{self.rng.randrange(1, 9)}] {logger} - {message}")

    def request(self) -> None:
        route = self.rng.choice(tuple(ROUTES))
        took = int(self.rng.uniform(0.2, 1.6) * ROUTES[route])
        if self.rng.random() < 0.02:
            took += self.rng.randrange(2000, 9000)
        name = f"r-{self.rng.getrandbits(32):08x}"
        self.requests.append((name, route, took))
        self.say("INFO", "com.shop.web.RequestFilter", f"Request {name} {route} answered in {took} ms")

    def debug(self) -> None:
        number = self.rng.randrange(10_000)
        self.say("DEBUG", "com.shop.cache.Region", f"Evicted entry {number} of region catalog")

    def batch(self) -> None:
        count = self.rng.randrange(20, 900)
        self.records.append(count)
        self.say(
            "INFO", "com.shop.job.Importer", f"Imported batch {len(self.records) + 400} with {count} records"
        )

    def warn(self) -> None:
        logger = self.rng.choices(tuple(WARNINGS), (5, 3, 2))[0]
        self.say("WARN", logger, WARNINGS[logger].format(number=self.rng.randrange(10_000)))

    def fail(self) -> None:
        thrown = self.rng.choices(tuple(TRACES), (5, 3, 2))[0]
        self.thrown[thrown] += 1
        self.say("ERROR", "com.shop.web.RequestFilter", "Request failed")
        frames = [frame.format(line=self.rng.randrange(20, 900)) for frame in FRAMES]
        self.lines += [
            f"{thrown}: {TRACES[thrown]}",
            *(f"\t{frame}" for frame in self.rng.sample(frames[:4], 3)),
        ]
        if self.rng.random() < 0.4:
            self.lines += ["Caused by: java.io.IOException: Connection reset", f"\t{frames[3]}"]
        self.lines += [f"\t{frame}" for frame in frames[4:]]

    def refuse(self) -> None:
        order = str(self.rng.randrange(100_000, 999_999))
        self.refused.append(order)
        self.say("ERROR", "com.shop.pay.CardClient", f"Payment of order {order} was refused by the bank")


@shape("app_log")
@settled
def app_log(rng: random.Random) -> tuple[str, list[Question]]:
    """A morning of an application in Java: levels, loggers, stack traces, in the usual pattern of Logback."""
    log = _AppLog(rng)
    steps = [log.request] * 780 + [log.debug] * 330 + [log.batch] * 70 + [log.fail] * rng.randrange(45, 60)
    steps += [log.warn] * rng.randrange(110, 150) + [log.refuse] * 8
    rng.shuffle(steps)
    segment, lost = f"orders-{rng.randrange(1000, 9999)}.seg", rng.randrange(11, 90)
    for place, step in enumerate(steps):
        if place == len(steps) // 2:
            log.say(
                "WARN", "com.shop.db.Journal", f"Checksum of {segment} does not match, {lost} records skipped"
            )
        step()
    text = "\n".join(log.lines) + "\n"

    name, route, took = log.requests[rng.randrange(200, 600)]
    times = {way: [ms for _, of, ms in log.requests if of == way] for way in ROUTES}
    averages = [(way, mean(times[way])) for way in ("POST /orders", "GET /search")]
    differ(*(average for _, average in averages))
    ms = "CAST(substr(text, instr(text, ' answered in ') + 13) AS INTEGER)"
    return text, [
        Question(
            "lookup",
            f"What was request {name}, and how many milliseconds did it take?",
            rows([(route, took)]),
            (
                f"SELECT text FROM lines WHERE text LIKE '%{name}%'",
                f"SELECT text FROM t WHERE text LIKE '%{name}%'",
            ),
            (name,),
            (f"-n '{name}'",),
        ),
        Question(
            "needle",
            "Was any stored data damaged? In which file, and how many records does it concern?",
            rows([(segment, lost)]),
            (
                "SELECT time, text FROM t WHERE text REGEXP '(?i)corrupt|damage|checksum|mismatch|skipped'",
                "SELECT text FROM lines WHERE text REGEXP '(?i)corrupt|damage|checksum|mismatch|skipped'",
            ),
            ("/(?i)corrupt|damage/", "/(?i)checksum|mismatch|broken/"),
            ("-n -i -E 'corrupt|damage'", "-n -i -E 'checksum|mismatch|broken'"),
        ),
        Question(
            "count",
            "How many entries are there of each level?",
            rows(log.levels.most_common()),
            (
                "SELECT level, count(*) AS entries FROM t GROUP BY level",
                (
                    "SELECT trim(substr(text, 25, 5)) AS level, count(*) AS entries FROM lines "
                    r"WHERE text REGEXP '^\d{4}-' GROUP BY 1"
                ),
            ),
            ("/ INFO /", "/ DEBUG /", "/ WARN /", "/ ERROR /"),
            tuple(f"-c '^[0-9:, -]* {level} '" for level in log.levels),
        ),
        Question(
            "count",
            "Which exceptions were thrown (not counting causes), and how often each?",
            rows(log.thrown.most_common()),
            (
                (
                    "SELECT substr(text, 1, instr(text, ':') - 1) AS exception, count(*) AS times FROM lines "
                    r"WHERE text REGEXP '^[a-z][\w.]*Exception:' GROUP BY 1 ORDER BY 2 DESC"
                ),
            ),
            tuple(thrown.rpartition(".")[2] for thrown in TRACES),
            ("-oE '^[a-z][A-Za-z.]*Exception'", *(f"-c '^{thrown}'" for thrown in TRACES)),
        ),
        Question(
            "sum",
            "How many records were imported in all batches together?",
            rows([[total(log.records)]]),
            (
                (
                    "SELECT sum(CAST(substr(text, instr(text, ' with ') + 6) AS INTEGER)) AS records FROM lines "
                    "WHERE text LIKE '%Imported batch%'"
                ),
            ),
            ("Imported batch",),
            ("-oE 'Imported batch .*'",),
        ),
        Question(
            "top",
            "Which three requests took longest, and how many milliseconds?",
            rows(leaders({request: value for request, _, value in log.requests}, 3)),
            (
                (
                    f"SELECT substr(text, instr(text, 'Request ') + 8, 10) AS request, {ms} AS ms FROM lines "
                    "WHERE text LIKE '% answered in %' ORDER BY ms DESC LIMIT 3"
                ),
            ),
            (r"/answered in \d{4} ms/", r"/answered in [89]\d{3} ms/"),
            ("-nE 'answered in [0-9]{4,} ms'",),
        ),
        Question(
            "compare",
            "Is POST /orders slower than GET /search on average? Both in milliseconds, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT CASE WHEN text LIKE '% POST /orders %' THEN 'POST /orders' ELSE 'GET /search' END AS route, "
                    f"round(avg({ms}), 2) AS ms FROM lines "
                    "WHERE text LIKE '% POST /orders answered%' OR text LIKE '% GET /search answered%' GROUP BY 1"
                ),
            ),
            (),
            ("-oE '(POST /orders|GET /search) answered in [0-9]+'",),
        ),
        Question(
            "list",
            "List the orders whose payment was refused.",
            rows([order] for order in log.refused),
            (
                "SELECT text FROM lines WHERE text LIKE '%payment%refused%'",
                "SELECT time, text FROM t WHERE text LIKE '%refused%'",
            ),
            ("refused",),
            ("-n -i 'refused'",),
        ),
    ]
