"""What the programs of our made-up logs say, how often, and what they say once."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from bench.generators.sample import Kind
from bench.generators.vocabulary import ip, noun, number, skewed, slug, token

# Slots a message may have; each is filled anew for every line.
SLOTS: dict[str, Callable[[Random], object]] = {
    "token": token,
    "hex": token,
    "number": lambda rng: number(rng, 6),
    "small": lambda rng: rng.randint(1, 40),
    "ip": ip,
    "port": lambda rng: rng.randint(20000, 60000),
    "ms": lambda rng: int(skewed(rng, 45, 0.5, 0)),
    "huge_ms": lambda rng: rng.randint(4500, 15000),
    "bytes": lambda rng: int(skewed(rng, 6400, 0.6, 0)),
    "huge_bytes": lambda rng: rng.randint(800_000, 2_500_000),
    "node": lambda rng: f"node-{rng.randint(1, 9)}",
    "slug": slug,
    "noun": noun,
    "user": lambda rng: f"{noun(rng)}{rng.randint(1, 99)}",
}


@dataclass(frozen=True, slots=True)
class Message:
    weight: float
    level: str
    source: str
    text: str
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class Surprise:
    """A line that occurs once. `{token}` in its text is what identifies it."""

    kind: Kind
    level: str
    source: str
    text: str
    trace: str | None = None


SHOP = (
    Message(30, "INFO", "shop.web.Requests", "GET /api/orders/{hex} 200 in {ms} ms"),
    Message(18, "INFO", "shop.web.Requests", "GET /api/items/{number} 200 in {ms} ms"),
    Message(12, "DEBUG", "shop.cache.Store", "cache hit for key item:{number}"),
    Message(10, "INFO", "shop.cart.Service", "added item {number} to cart {hex} of user {user}"),
    Message(8, "DEBUG", "shop.cache.Store", "cache miss for key item:{number}, loading from database"),
    Message(6, "INFO", "shop.orders.Service", "order {hex} placed by {user} with {small} lines"),
    Message(5, "INFO", "shop.mail.Sender", "queued confirmation {hex} to {user}"),
    Message(4, "INFO", "shop.jobs.Sweeper", "sweep finished, removed {small} expired carts"),
    Message(2, "WARN", "shop.db.Pool", "connection pool above 80 percent, {small} waiting"),
    Message(1, "WARN", "shop.web.Requests", "slow client {ip}, response buffered"),
    Message(1, "INFO", "shop.stock.Sync", "stock level of {number} set to {small}"),
)
SHOP_ERROR = Surprise(
    "error level", "ERROR", "shop.pay.Settlement", "ledger row {token} rejected, balance below zero"
)
SHOP_FATAL = Surprise(
    "error level", "FATAL", "shop.Main", "unrecoverable state in shard {token}, shutting down"
)
SHOP_SLOW = Surprise(
    "outlier value", "INFO", "shop.web.Requests", "GET /api/orders/{token} 200 in {huge_ms} ms"
)
SHOP_ONCE = Surprise(
    "rare template", "INFO", "shop.admin.Console", "price list {token} replaced by hand from {ip}"
)

STORAGE = (
    Message(35, "INFO", "dfs.DataNode", "received block blk_{hex} of size {bytes} from /{ip}"),
    Message(25, "INFO", "dfs.DataNode", "PacketResponder {small} for block blk_{hex} terminating"),
    Message(
        18, "INFO", "dfs.FSNamesystem", "addStoredBlock: blockMap updated: {ip}:{port} is added to blk_{hex}"
    ),
    Message(10, "INFO", "dfs.BlockScanner", "verification succeeded for blk_{hex}"),
    Message(6, "INFO", "dfs.FSNamesystem", "ask {ip}:{port} to delete blk_{hex}"),
    Message(3, "WARN", "dfs.DataNode", "slow flush took {ms} ms, threshold is 10 ms"),
    Message(2, "INFO", "dfs.Balancer", "moved {small} blocks from {node} to {node}"),
    Message(1, "INFO", "dfs.Lease", "lease of {user} on /data/{slug} renewed"),
)
STORAGE_ERROR = Surprise(
    "error level", "ERROR", "dfs.DataNode", "replica {token} has a checksum mismatch at offset {number}"
)
STORAGE_ONCE = Surprise(
    "rare template", "WARN", "dfs.Volume", "device sdc1 remounted read-only, journal {token} aborted"
)
STORAGE_HUGE = Surprise(
    "outlier value", "INFO", "dfs.DataNode", "received block blk_{token} of size {huge_bytes} from /{ip}"
)

SCHEDULER = (
    Message(
        40, "INFO", "scheduler.go:241", "pod default/{slug}-{hex} bound to {node}, {small} feasible nodes"
    ),
    Message(20, "INFO", "reconciler.go:88", "synced deployment {slug} in {ms} ms"),
    Message(15, "INFO", "kubelet.go:1907", "liveness probe of {slug}-{hex} succeeded in {ms} ms"),
    Message(12, "INFO", "garbage.go:131", "deleted {small} unused images, freed {bytes} KB"),
    Message(8, "INFO", "lease.go:52", "renewed lease {node}"),
    Message(
        3,
        "WARNING",
        "reflector.go:324",
        "watch of configmaps closed, restarting with resource version {number}",
    ),
    Message(2, "INFO", "quota.go:77", "recalculated quota of namespace {noun}"),
)
SCHEDULER_ERROR = Surprise(
    "error level", "ERROR", "nodecontroller.go:604", "node lease {token} expired, evicting all pods"
)
SCHEDULER_FATAL = Surprise(
    "error level", "FATAL", "etcd.go:19", "raft log {token} is corrupt, cannot recover"
)
SCHEDULER_ONCE = Surprise(
    "rare template", "INFO", "admission.go:411", "policy {token} switched from enforce to audit"
)

MAIL = (
    Message(28, "INFO", "postfix/smtpd", "connect from mail.{noun}.example.org[{ip}]"),
    Message(
        28,
        "INFO",
        "postfix/smtpd",
        "disconnect from mail.{noun}.example.org[{ip}] ehlo=1 mail=1 rcpt=1 quit=1",
    ),
    Message(
        20, "INFO", "postfix/qmgr", "{hex}: from=<{user}@example.org>, size={bytes}, nrcpt=1 (queue active)"
    ),
    Message(12, "INFO", "sshd", "Accepted publickey for {user} from {ip} port {port} ssh2"),
    Message(6, "INFO", "CRON", "(root) CMD (run-parts /etc/cron.hourly)"),
    Message(4, "INFO", "systemd", "Started session {number} of user {user}."),
    Message(2, "INFO", "dhclient", "DHCPACK from {ip} (xid=0x{hex})"),
)
MAIL_ONCE = Surprise(
    "rare template", "INFO", "kernel", "Out of memory: Killed process {port} ({token}) total-vm:8112044kB"
)
MAIL_LOGIN = Surprise(
    "rare template",
    "INFO",
    "su",
    "authentication failure; logname= uid=1001 tty=pts/{small} user=root ref {token}",
)

WORKER = (
    Message(30, "INFO", "app.worker", "job {hex} finished in {ms} ms"),
    Message(22, "INFO", "app.worker", "job {hex} picked up from queue {noun}"),
    Message(14, "DEBUG", "app.db", "select on {noun} returned {small} rows"),
    Message(10, "INFO", "app.api", "token of {user} refreshed"),
    Message(3, "WARNING", "app.http", "upstream {ip} timed out, attempt 2 of 5", trace="TimeoutError"),
    Message(2, "WARNING", "app.worker", "job {hex} returned to the queue"),
    Message(2, "INFO", "app.scheduler", "next run of {noun} in {small} minutes"),
)
WORKER_ERROR = Surprise(
    "error level", "ERROR", "app.billing", "charge {token} applied twice", trace="IntegrityError"
)
WORKER_CRITICAL = Surprise(
    "error level", "CRITICAL", "app.keys", "signing key {token} is missing from the vault"
)
WORKER_ONCE = Surprise(
    "rare template", "INFO", "app.migrations", "column legacy_ref dropped by migration {token}"
)

# Errors are everyday here, so that only the unusual one counts.
NOISY = (
    *WORKER,
    Message(6, "ERROR", "app.http", "callback to {ip} answered 502, will retry"),
    Message(3, "ERROR", "app.imports", "row {number} of upload {hex} has no date, skipped"),
)
NOISY_ONCE = Surprise(
    "rare template", "ERROR", "app.tenants", "query of tenant {token} returned rows of another tenant"
)

ACCESS = (
    Message(50, "", "", '"GET /products/{slug} HTTP/1.1" 200 {bytes} "-" "Mozilla/5.0 (X11; Linux x86_64)"'),
    Message(
        20,
        "",
        "",
        '"GET /static/{noun}.css HTTP/1.1" 304 0 "https://shop.example.com/" "Mozilla/5.0 (iPhone)"',
    ),
    Message(12, "", "", '"POST /api/cart/{hex} HTTP/1.1" 201 {bytes} "-" "ShopApp/4.2 (Android 15)"'),
    Message(8, "", "", '"GET /search?q={noun}+{noun} HTTP/1.1" 200 {bytes} "-" "Mozilla/5.0 (Macintosh)"'),
    Message(4, "", "", '"GET /wp-login.php HTTP/1.1" 404 162 "-" "curl/8.5.0"'),
    Message(4, "", "", '"GET /old/{slug} HTTP/1.1" 301 178 "-" "Googlebot/2.1"'),
)
ACCESS_500 = Surprise(
    "rare value", "", "", '"POST /api/cart/{token} HTTP/1.1" 500 {bytes} "-" "ShopApp/4.2 (Android 15)"'
)
ACCESS_HUGE = Surprise(
    "outlier value",
    "",
    "",
    '"POST /api/cart/{token} HTTP/1.1" 201 {huge_bytes} "-" "ShopApp/4.2 (Android 15)"',
)
ACCESS_ONCE = Surprise(
    "rare template", "", "", '"PUT /.git/hooks/{token} HTTP/1.0" 403 153 "-" "python-requests/2.31"'
)

DATABASE = (
    Message(
        40, "LOG", "app@orders", "duration: {ms} ms  statement: SELECT * FROM orders WHERE ref = '{hex}'"
    ),
    Message(
        25,
        "LOG",
        "app@orders",
        "duration: {ms} ms  statement: UPDATE carts SET seen = now() WHERE id = {number}",
    ),
    Message(15, "LOG", "[local]", "checkpoint complete: wrote {small} buffers, sync={ms} ms"),
    Message(12, "LOG", "app@users", "connection authorized: user=app database=users host={ip}"),
    Message(5, "LOG", "app@users", "disconnection: session time: 0:00:{small} user=app database=users"),
    Message(3, "WARNING", "app@orders", "there is already a transaction in progress"),
)
DATABASE_ERROR = Surprise(
    "error level", "ERROR", "app@orders", "deadlock detected while locking tuple {token}"
)
DATABASE_PANIC = Surprise(
    "error level", "PANIC", "[local]", "could not locate a valid checkpoint record {token}"
)
DATABASE_SLOW = Surprise(
    "outlier value",
    "LOG",
    "app@orders",
    "duration: {huge_ms} ms  statement: SELECT * FROM orders WHERE ref = '{token}'",
)

BUILD = (
    Message(60, "", "", "[{small}/420] cc -O2 -Wall -Iinclude -c src/{noun}/{slug}.c -o build/{hex}.o"),
    Message(20, "", "", "[{small}/420] ar rcs build/lib{noun}.a build/{hex}.o build/{hex}.o"),
    Message(12, "", "", "-- Looking for function {noun}_{noun} - found"),
    Message(
        5, "", "", "src/{noun}/{slug}.c:{small}:12: warning: unused variable '{noun}' [-Wunused-variable]"
    ),
    Message(3, "", "", "Installing: /usr/local/include/{noun}/{slug}.h"),
)
BUILD_ERROR = Surprise(
    "error level", "", "", "src/engine/{token}.c:88:5: error: conflicting types for parse_header"
)
