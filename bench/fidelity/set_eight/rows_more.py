"""Lists of rows: packets, packages and messages."""

# ruff: noqa: S608

import json
import random
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

from .tools import Rows, hop, lost, pause, split, tell


class Wire:
    """A little network whose packets are printed as tcpdump -nn does."""

    def __init__(self, rng: random.Random, page: Page) -> None:
        self.rng, self.page = rng, page
        net = f"10.{rng.randint(2, 90)}.{rng.randint(1, 250)}"
        self.net = net
        self.hosts = [f"{net}.{one}" for one in sorted(rng.sample(range(20, 240), 9))]
        self.gate, self.dns = f"{net}.1", f"{net}.2"
        self.out = [f"198.51.100.{one}" for one in rng.sample(range(4, 250), 7)]
        self.macs = {one: ":".join(w.hexes(rng, 2) for _ in range(6)) for one in [*self.hosts, self.gate]}
        self.clock = w.Clock(rng, datetime(2025, 3, rng.randint(1, 28), rng.randint(5, 18), 4), 0.004, 0.9)
        self.names = w.distinct(rng, 30, lambda r: f"{r.choice(w.THINGS)}.{r.choice(w.TEAMS)}.example.org")
        self.flows: list[list] = [self.flow() for _ in range(12)]
        self.dns_count = 0

    def flow(self) -> list:
        rng = self.rng
        client = f"{rng.choice(self.hosts)}.{rng.randint(33_000, 60_900)}"
        server = f"{rng.choice(self.out)}.{rng.choice((443, 443, 443, 80, 993))}"
        return [client, server, 1, 1]

    def put(self, text: str, mark: str = "") -> datetime:
        now = self.clock.tick()
        self.page.add(f"{now:%H:%M:%S.%f} {text}", mark=mark)
        return now

    def stamps(self) -> str:
        return f"options [nop,nop,TS val {self.rng.randint(10**8, 4 * 10**9)} ecr {self.rng.randint(10**8, 4 * 10**9)}]"

    def data(self, mark: str = "") -> str:
        """Data from one side and the acknowledgement of the other; gives back the first."""
        rng, flow = self.rng, self.rng.choice(self.flows)
        way = rng.randrange(2)
        a, b = (flow[0], flow[1]) if way else (flow[1], flow[0])
        size = rng.choice((1448, 1448, rng.randint(31, 1300), rng.randint(31, 600)))
        seq, ack = flow[2 + way], flow[3 - way]
        flow[2 + way] += size
        text = f"IP {a} > {b}: Flags [P.], seq {seq}:{seq + size}, ack {ack}, win {rng.randint(240, 2050)}, "
        text += f"{self.stamps()}, length {size}"
        self.put(text, mark)
        self.put(
            f"IP {b} > {a}: Flags [.], ack {seq + size}, win {rng.randint(240, 2050)}, {self.stamps()}, length 0"
        )
        if rng.random() < 0.03:
            self.flows[self.flows.index(flow)] = self.flow()
        return text

    def lookup(self) -> None:
        rng, host = self.rng, f"{self.rng.choice(self.hosts)}.{self.rng.randint(33_000, 60_900)}"
        ident, name = rng.randint(1000, 65_000), rng.choice(self.names)
        self.put(f"IP {host} > {self.dns}.53: {ident}+ A? {name}. ({len(name) + 18})")
        self.put(f"IP {self.dns}.53 > {host}: {ident} 1/0/0 A {rng.choice(self.out)} ({len(name) + 34})")
        self.dns_count += 1

    def arp(self) -> None:
        who = self.rng.choice(self.hosts)
        self.put(f"ARP, Request who-has {self.gate} tell {who}, length 46")
        self.put(f"ARP, Reply {self.gate} is-at {self.macs[self.gate]}, length 46")

    def some(self) -> None:
        w_ = self.rng.random()
        if w_ < 0.8:
            self.data()
        elif w_ < 0.92:
            self.lookup()
        elif w_ < 0.97:
            self.arp()
        else:
            host = self.rng.choice(self.hosts)
            self.put(f"IP {host}.123 > 198.51.100.3.123: NTPv4, Client, length 48")
            self.put(f"IP 198.51.100.3.123 > {host}.123: NTPv4, Server, length 48")


def _packets(wire: Wire, rng: random.Random) -> dict[str, str]:
    """The unusual packets, in random order between usual ones; gives back the words that tell them."""
    net, hosts, out = wire.net, wire.hosts, wire.out
    one, two, far = rng.choice(hosts), rng.choice(hosts[:4]), rng.choice(out)
    said = {
        "reset": f"{far}.443",
        "domain": f"{w.alnum(rng, 14).lower()}.{rng.choice(w.TOWNS).lower()}-cdn.example.net",
        "alien": f"203.0.113.{rng.randint(3, 250)}.4444",
        "pass": rng.choice(w.TEAMS) + w.alnum(rng, 9),
        "mac": ":".join(w.hexes(rng, 2) for _ in range(6)),
        "size": str(rng.randint(58_000, 65_200)),
        "port": str(rng.choice((5432, 6379, 9200, 3306))),
        "cut": str(rng.randint(210, 880)),
        "src": f"{two}.{rng.randint(61_000, 64_900)}",
    }
    seq = rng.randint(7_000_000, 9_000_000)
    ident = rng.randint(1000, 65_000)
    again = (
        f"{hosts[5]}.{rng.randint(61_000, 64_900)} > {out[2]}.443: Flags [P.], seq {seq}:{seq + 1448}, ack 1"
    )
    said["again"] = f"{seq}:{seq + 1448}"
    tail = "win 502, length"
    strange: dict[str, list[str]] = {
        "reset": [
            f"IP {said['reset']} > {one}.{rng.randint(61_000, 64_900)}: Flags [R.], seq 0, ack 41, win 0, length 0"
        ],
        "domain": [
            f"IP {said['src']} > {wire.dns}.53: {ident}+ TXT? {said['domain']}. (61)",
            f"IP {wire.dns}.53 > {said['src']}: {ident} NXDomain 0/1/0 (118)",
        ],
        "alien": [
            f"IP {two}.{rng.randint(61_000, 64_900)} > {said['alien']}: Flags [S], seq {seq + 77}, win 64240, length 0"
        ],
        "pass": [
            f"IP {one}.{rng.randint(61_000, 64_900)} > {far}.21: Flags [P.], seq 17:35, ack 98, win 229, "
            f"length 18: FTP: PASS {said['pass']}"
        ],
        "mac": [f"ARP, Reply {wire.gate} is-at {said['mac']}, length 46"],
        "size": [
            f"IP {far}.443 > {hosts[3]}.60991: Flags [P.], seq 1:{int(said['size']) + 1}, ack 1, {tail} {said['size']}"
        ],
        "port": [
            f"IP {net}.254 > {two}: ICMP host {hosts[6]} unreachable - admin prohibited filter, length 68"
        ],
        "zero": [
            f"IP {out[1]}.443 > {hosts[7]}.{rng.randint(61_000, 64_900)}: Flags [.], ack 88121, win 0, {wire.stamps()}, length 0"
        ],
        "cut": [
            f"IP truncated-ip - {said['cut']} bytes missing! {out[4]}.80 > {one}.60177: Flags [.], seq 1:1449, ack 1, {tail} 1448"
        ],
        "again": [f"IP {again}, {tail} 1448", f"IP {again}, {tail} 1448"],
        "six": [
            f"IP6 fe80::{w.hexes(rng, 4)}:{w.hexes(rng, 4)} > ff02::1: ICMP6, router advertisement, length 64"
        ],
    }
    order = [*strange, "pause", "back"]
    rng.shuffle(order)
    for name in order:
        for _ in range(rng.randint(28, 40)):
            wire.some()
        if name == "pause":
            before = wire.clock.now
            wire.clock.now += timedelta(seconds=rng.randint(190, 560))
            wire.data("pause")
            said["pause"] = f"{before.isoformat()} {wire.clock.now.isoformat()}"
        elif name == "back":
            kept = wire.clock.now
            wire.clock.now = kept - timedelta(hours=3, minutes=rng.randint(5, 50))
            at = len(wire.page.lines)
            wire.put(f"IP {hosts[2]}.5353 > 224.0.0.251.5353: 0 PTR (QM)? _ipp._tcp.local. (45)", "back")
            said["back"] = wire.page.lines[at][:15]
            wire.clock.now = kept
        else:
            for k, line in enumerate(strange[name]):
                wire.put(line, name if not k else "")
    said["who"], said["two"] = one, two
    return said


@kind("e_tcpdump", "rows")
def e_tcpdump(rng: random.Random) -> Parts:
    page = Page()
    page.add("tcpdump: verbose output suppressed, use -v[v]... for full protocol decode")
    page.add("listening on eth0, link-type EN10MB (Ethernet), snapshot length 262144 bytes")
    wire = Wire(rng, page)
    said = _packets(wire, rng)
    for _ in range(40):
        wire.some()

    def stamp(mark: str) -> str:
        return page.lines[page.at[mark] - 1][:12]

    def here(what: str, mark: str, telling: list | str, *searches: str, **more: object) -> None:
        names = [stamp(mark), stamp(mark)[:8]]
        tell(page, what, mark, telling, names, *searches, **more)

    here("rare status", "reset", "+[R.]|+RST|+reset|Flags [R|^Flags [R.]", "Flags [R", "[R.]")
    domain = said["domain"]
    here(
        "rare value", "domain", f"+{domain}|+NXDomain|+TXT?", "NXDomain", domain, more=((domain, "NXDomain"),)
    )
    alien = said["alien"]
    here(
        "rare value",
        "alien",
        f"+{alien}|+{alien[:-5]}|+4444",
        "4444",
        "203.0.113.",
        more=((alien[:-5], "4444"), (alien[:-5], said["two"])),
    )
    told = ["PASS", "password", "cleartext", "clear text", "FTP"]
    here(
        "secret",
        "pass",
        told,
        "PASS",
        "FTP",
        alone=("PASS", "FTP", "FTP: PASS"),
        hidden=said["pass"],
        more=(("FTP", "password"), ("FTP", "PASS")),
    )
    mac, gate, real = said["mac"], wire.gate, wire.macs[wire.gate]
    here(
        "contradiction",
        "mac",
        f"+{mac}",
        mac,
        "is-at",
        more=(
            (gate, "two MAC"),
            (gate, "2 MAC"),
            (gate, "different MAC"),
            (gate, "spoof"),
            (mac, real),
            (mac, gate),
        ),
    )
    here(
        "outlier",
        "size",
        f"+length {said['size']}|{said['size']}",
        f"length {said['size']}",
        "/length \\d{5}/",
        more=w.pairs([said["size"]], ["length", "largest", "max", "bytes", "outlier"]),
    )
    here(
        "error",
        "port",
        "+unreachable|prohibited|ICMP host|^admin prohibited",
        "unreachable",
        "ICMP",
        more=((wire.hosts[6], "unreachable"),),
    )
    here(
        "rare value",
        "zero",
        "win 0|+zero window|window 0|^88121",
        "/\\[[.]\\].* win 0,/",
        "88121",
        more=((wire.out[1], "win 0"), ("88121", "win 0")),
    )
    here(
        "error",
        "cut",
        f"+truncated|{said['cut']} bytes missing|^truncated-ip",
        "truncated",
        "missing!",
        more=(("truncated", said["cut"]),),
    )
    again = said["again"]
    evidence = (*w.same(again), *w.same(again.split(":")[0]), (again, "retrans"))
    page.say(
        "duplicate",
        evidence,
        again,
        "/seq \\d{7}:/",
        line=page.at["again"] + 1,
        sql=w.find(again),
        derived=True,
    )
    here(
        "rare value",
        "six",
        "+IP6|+ICMP6|+router advertisement|IPv6",
        "IP6",
        "router advertisement",
        more=(("IP6", "router advertisement"),),
    )
    before, after = (datetime.fromisoformat(one) for one in said["pause"].split())
    sql = f"SELECT n, text FROM lines WHERE n IN ({page.at['pause'] - 1}, {page.at['pause']})"
    page.say(
        "gap",
        pause(before, after, page.at["pause"]),
        f"{after:%H:%M:%S}",
        f"{before:%H:%M:%S}",
        line=page.at["pause"],
        sql=sql,
        derived=True,
    )
    told = [said["back"], said["back"][:8], "out of order", "backward", "earlier", "224.0.0.251"]
    tell(
        page,
        "time jump",
        "back",
        told,
        ["back", "out of order", "earlier", "jump", "before"],
        said["back"][:8],
        "PTR",
        alone=(said["back"][:8], "224.0.0.251", "PTR"),
    )
    total = len(page.lines) - 2
    page.tally(
        total,
        ["packets", "rows", "lines", "data lines", "records", "entries", "captured"],
        "IP",
        sql=w.how_many("packets", "/^\\d\\d:/"),
    )
    names = [
        "A?",
        "DNS queries",
        "DNS lookups",
        "A queries",
        "queries",
        "lookups",
        "DNS requests",
        "+ A?",
        "DNS A queries",
    ]
    page.tally(wire.dns_count, names, "A?", sql=w.how_many("DNS queries", "+ A? "))
    ends = [line[:15] for line in (page.lines[2], page.lines[-1])]
    page.say(
        "range",
        (tuple(ends), (ends[0][:12], ends[1][:12]), (ends[0][:8], ends[1][:8])),
        ends[0][:8],
        sql=w.find(ends[0]),
        derived=True,
    )
    return page.done()


def _packages(rng: random.Random, size: int) -> list[list[str]]:
    """Rows of dpkg -l by name: state, name, version, architecture, description."""

    def name(r: random.Random) -> str:
        a, b = r.choice(w.THINGS), r.choice(w.TEAMS)
        forms = (
            f"lib{a}{r.randint(0, 9)}",
            f"lib{a}-{b}-dev",
            f"python3-{a}{b[:3]}",
            f"{a}-utils",
            f"{b}-common",
            f"lib{b}-{a}-perl",
            f"{a}{b[:4]}",
        )
        return r.choice(forms)

    def version() -> str:
        plain = f"{rng.randint(0, 12)}.{rng.randint(0, 30)}"
        return plain + rng.choice(
            (
                "-1",
                f".{rng.randint(0, 12)}-2",
                f".{rng.randint(0, 12)}+dfsg-1",
                "-3+b1",
                f"-{rng.randint(1, 9)}+deb12u{rng.randint(1, 4)}",
            )
        )

    rows = []
    for one in sorted(w.distinct(rng, size, name)):
        arch = "all" if one.startswith("python3") or one.endswith(("common", "perl")) else "amd64"
        suffix = ":amd64" if one.startswith("lib") and arch == "amd64" else ""
        sort = rng.choice(("library", "tools", "module", "files", "runtime"))
        about = f"{w.two(rng, ' ')} {sort} for the {rng.choice(w.TEAMS)} {rng.choice(w.THINGS)}"
        rows.append(["rc" if rng.random() < 0.05 else "ii", one + suffix, version(), arch, about])
    return rows


@kind("e_dpkg_list", "rows")
def e_dpkg_list(rng: random.Random) -> Parts:
    """What dpkg -l prints on a server."""
    size = rng.randint(560, 640)
    rows = _packages(rng, size)
    marks = w.spots(rng, size, 12, apart=6)
    half, held, alien, local, twin, none, reinst, dummy, port, leak, epoch, warn = marks
    for k in marks:
        rows[k][0] = "ii"
    stem = rng.choice(w.TOWNS).lower()
    lib = [
        f"lib{stem}{rng.randint(5, 9)}-{one}"
        for one in ("core", "dbus", "gui", "network", "print", "sql", "svg", "xml")
    ]
    base = f"5.{rng.randint(11, 15)}.{rng.randint(4, 9)}+dfsg"
    behind = f"5.{rng.randint(6, 9)}.{rng.randint(1, 3)}+dfsg"
    odd = rng.randint(2, 6)
    family = [
        split(
            f"ii|{one}:amd64|{(behind if k == odd else base)}-3|amd64|"
            f"{stem.capitalize()} toolkit, {one.split('-')[1]} module"
        )
        for k, one in enumerate(lib)
    ]
    start, lack = rng.randint(11, 18), rng.randint(2, 5)
    kernels = [
        split(
            f"ii|linux-image-6.1.0-{start + k}-amd64|6.1.{60 + 4 * k}-1|amd64|"
            "Linux 6.1 for 64-bit PCs (signed)"
        )
        for k in range(8)
        if k != lack
    ]
    rows[half][0], rows[held][0], rows[reinst][0] = "iF", "hi", "iHR"
    rows[alien][1], rows[alien][3] = rows[alien][1].split(":")[0] + ":i386", "i386"
    patch = f"{rng.choice(w.FAMILY).lower()}{rng.randint(2, 9)}"
    rows[local][2] = rows[local][2].split("-")[0] + f"-1local~{patch}"
    rows[twin] = [*rows[twin - 1][:1], rows[twin - 1][1], rows[twin - 1][2] + "~bpo11+1", *rows[twin - 1][3:]]
    rows[none] = ["un", rows[none][1].split(":")[0], "<none>", "<none>", "(no description available)"]
    rows[dummy][4] = f"transitional dummy package, use {rng.choice(w.THINGS)}-ng instead"
    rows[port][2] = f"{rng.randint(2, 9)}.0~rc{rng.randint(2, 5)}-1~exp1"
    secret = w.alnum(rng, 20)
    rows[leak][4] = f"internal build, fetched with token={secret} from the team's store"
    rows[epoch][2] = f"99:{rng.randint(1, 9)}.{rng.randint(0, 9)}-0ours1"
    names = {k: rows[k][1] for k in marks}
    warned = f"{rows[warn][1]}"
    ordered = sorted([*rows, *family, *kernels], key=lambda row: (row[1].split(":")[0], row[2]))
    texts = {}
    widths = [max(len(row[c]) for row in ordered) for c in (1, 2, 3)]
    lines = []
    heads = [
        "Desired=Unknown/Install/Remove/Purge/Hold",
        "| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend",
        "|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)",
    ]
    heads.append(
        "||/ "
        + " ".join(
            one.ljust(size_) for one, size_ in zip(("Name", "Version", "Architecture"), widths, strict=True)
        )
        + " Description"
    )
    heads.append("+++-" + "-".join("=" * size_ for size_ in widths) + "-" + "=" * 60)
    for row in ordered:
        if row is rows[warn]:
            texts["warn"] = len(lines)
            lines.append(
                f"dpkg-query: warning: files list file for package '{warned}' missing; "
                "assuming package has no files currently installed"
            )
        texts[id(row)] = len(lines)
        lines.append(
            f"{row[0]:<3} "
            + " ".join(cell.ljust(size_) for cell, size_ in zip(row[1:4], widths, strict=True))
            + f" {row[4]}"
        )
    n = Rows(len(heads) + 1)

    def here(what: str, k: int, telling: list | str, *searches: str, **more: object) -> None:
        short = names[k].split(":")[0]
        n.row(what, texts[id(rows[k])], telling, [short], *searches, **more)  # type: ignore[arg-type]

    here("rare status", half, "+iF|+half-configured|half configured|halF-conf", "/^iF/", "iF ")
    here("rare status", held, 'hi|+on hold|held|Hold|^hi |^`hi`|^"hi"', "/^hi/", "hi ")
    here("rare value", alien, "+i386", "i386", "/ i386 /")
    here("rare value", local, f"+local~|{patch}|local build|^1local", "local~", patch)
    shared = rows[twin][1].split(":")[0]
    both = (rows[twin - 1][2], rows[twin][2])
    n.give(
        "duplicate",
        texts[id(rows[twin])],
        (*w.same(shared), both, (shared, "two versions"), (shared, "2 versions"), ("bpo11", "1")),
        shared,
        "bpo11",
    )
    here(
        "missing field",
        none,
        "+<none>|no version|+un |not installed|no description|^no description available",
        "<none>",
        "/^un/",
    )
    here("rare status", reinst, "+iHR|reinst|half-installed|half installed|^Reinst-required", "/^iHR/", "iHR")
    here(
        "rare value",
        dummy,
        "+transitional|dummy|^dummy package|^transitional dummy package",
        "transitional",
        "dummy",
    )
    here("rare value", port, f"+{rows[port][2]}|~rc|exp1|release candidate|pre-release|^~exp1", "~rc", "exp1")
    here("secret", leak, "+token=|token|secret|credential", "token=", "token", hidden=secret)
    here("rare value", epoch, f"+99:|+{rows[epoch][2]}|epoch 99", "/ 99:/", "99:")
    short = warned.split(":")[0]
    n.row(
        "error",
        texts["warn"],
        "+warning|files list|no files currently installed|files missing|^dpkg-query: warning|^files list file",
        [short],
        "warning",
        "dpkg-query",
    )
    name = lib[odd]
    evidence = w.pairs([f"{behind}-3", behind], [name, base, "differ", "mismatch", "other", "only", "older"])
    n.give("contradiction", texts[id(family[odd])], evidence, behind, lib[0].rsplit("-", 1)[0], derived=False)
    missing = f"linux-image-6.1.0-{start + lack}"
    before, after = f"6.1.0-{start + lack - 1}", f"6.1.0-{start + lack + 1}"
    evidence = (
        (missing, "missing"),
        *w.pairs([missing, f"6.1.0-{start + lack}"], w.LEAP[:6]),
        *hop(start + lack - 1, start + lack + 1, [start + lack], "linux-image", "kernel"),
        *hop(before, after, []),
    )
    n.give("gap", texts[id(kernels[lack])], evidence, "linux-image", "6.1.0-")
    states = {one: sum(row[0] == one for row in ordered) for one in ("ii", "rc")}
    n.tally(
        len(ordered),
        ["packages", "rows", "lines", "entries", "data rows", "records"],
        "ii",
        sql=w.how_many("packages", "/^(ii|rc|un|hi|iF|iHR) /"),
    )
    n.tally(
        states["rc"], ["rc", "removed", "config-files", "conf-files"], "/^rc/", sql=w.how_many("rc", "/^rc /")
    )
    return n.parts("\n".join(heads + lines) + "\n")


@kind("e_mqtt_messages", "rows")
def e_mqtt_messages(rng: random.Random) -> Parts:
    """What mosquitto_sub -F %J prints: a JSON object for each message."""
    size = rng.randint(620, 720)
    plant = rng.choice(w.TOWNS).lower()
    devices = [f"{one}-{rng.randint(11, 99)}" for one in rng.sample(w.THINGS, 13)]
    zone = {one: rng.choice(("hall1", "hall2", "roof", "yard")) for one in devices}
    firmware, other = f"3.{rng.randint(2, 9)}.{rng.randint(0, 9)}", f"1.0.{rng.randint(10, 40)}"
    seq = {one: rng.randint(10_000, 90_000) for one in devices}
    marks = w.spots(rng, size, 14, apart=6)
    off, hot, unit, skip, twin, epoch, hole, text, bare, leak, broker, void, ware, comma = marks
    clock = w.Clock(
        rng, datetime(2025, rng.randint(1, 9), rng.randint(2, 25), rng.randint(4, 11), tzinfo=UTC), 1, 14
    )
    rows, last = [], {}
    missed, wait = rng.randint(31, 88), rng.randint(1500, 3300)
    moments = []
    for k in range(size):
        if k == hole:
            clock.now += timedelta(seconds=wait)
        now = clock.tick()
        device = last[k - 1 - (k == skip)] if k in (twin, skip) else rng.choice(devices)
        seq[device] += (k not in (twin, off, text, leak, broker, void)) + (missed if k == skip else 0)
        what = {
            "s": seq[device],
            "ts": int(now.timestamp()),
            "temp": round(w.near(rng, 41, 5, 25, 60), 1),
            "unit": "C",
            "rpm": rng.randint(900, 1500),
            "fw": firmware,
        }
        if rng.random() < 0.15:
            what["note"] = rng.choice(("calibrated", "door opened", "shift change", "filter cleaned"))
        moments.append(now)
        last[k] = device
        rows.append(
            {
                "tst": f"{now:%Y-%m-%dT%H:%M:%S.%f}Z",
                "topic": f"{plant}/{zone[device]}/{device}/state",
                "qos": rng.choice((0, 0, 1)),
                "retain": 0,
                "payloadlen": 0,
                "payload": what,
            }
        )
    high, wrong = round(rng.uniform(310, 880), 1), f"{rng.randint(38, 47)},{rng.randint(1, 9)}"
    rows[off] |= {
        "topic": rows[off]["topic"].replace("/state", "/availability"),
        "payload": "offline",
        "retain": 1,
    }
    rows[hot]["payload"]["temp"] = high
    rows[unit]["payload"] |= {"unit": "F", "temp": round(rng.uniform(99, 118), 1)}
    rows[epoch]["payload"]["ts"] = rng.randint(100, 900)
    code = f"E{rng.randint(401, 899)}"
    rows[text]["payload"] = f"{code} sensor bus timeout"
    del rows[bare]["payload"]["rpm"]
    secret = w.alnum(rng, 16)
    rows[leak] |= {
        "topic": rows[leak]["topic"].replace("/state", "/config/set"),
        "payload": {"wifi": f"{plant}-iot", "wifi_password": secret},
    }
    rows[broker] |= {
        "topic": "$SYS/broker/log/E",
        "payload": f"Client {last[broker]} disconnected: out of memory",
    }
    rows[void] |= {"payload": None}
    rows[ware]["payload"]["fw"] = other
    rows[comma]["payload"]["temp"] = wrong
    before_seq, after_seq = seq_of(rows, last, skip)
    lines = []
    for one in rows:
        body = (
            one["payload"]
            if isinstance(one["payload"], str)
            else json.dumps(one["payload"])
            if one["payload"]
            else ""
        )
        one["payloadlen"] = len(body)
        lines.append(json.dumps(one, separators=(",", ":")))
    n = Rows(1)

    def here(what: str, k: int, telling: list | str, *searches: str, **more: object) -> None:
        stamp = rows[k]["tst"]
        names = [
            stamp,
            stamp[:19],
            stamp[11:19],
            last[k] + "/",
            *([f"{seq_at(rows[k])}"] if seq_at(rows[k]) else []),
        ]
        n.row(what, k, telling, names, *searches, **more)  # type: ignore[arg-type]

    here("rare status", off, "+offline|+availability", "offline", "availability")
    here(
        "outlier",
        hot,
        f"+{high}|temp {high}",
        str(high),
        '/"temp":\\d{3}/',
        sql="SELECT n, payload.temp FROM t ORDER BY payload.temp DESC LIMIT 3",
    )
    here(
        "changed field",
        unit,
        '"unit":"F"|+unit F|unit: F|unit=F|Fahrenheit|F instead|+"F"|`F`|^F',
        '"unit":"F"',
        "unit",
    )
    device = last[skip]
    evidence = (
        hop(before_seq, after_seq, [], device, "payload.s")
        + ((str(before_seq), str(after_seq)),)
        + w.pairs(
            [f"{missed} m", f"{missed} n", f"of {missed}", f"of {missed + 1}", before_seq, after_seq],
            ["gap", "jump", "skip"],
        )
    )
    n.give(
        "gap",
        skip,
        evidence,
        str(after_seq),
        device,
        sql=f"SELECT n, text FROM lines WHERE text LIKE '%{device}/%'",
    )
    ident = rows[twin]["payload"]["s"]
    n.give(
        "duplicate",
        twin,
        (*w.same(ident), (str(twin), str(twin + 1), "dupl"), (str(twin), str(twin + 1), "same")),
        f'"s":{ident},',
        str(ident),
    )
    here(
        "time jump",
        epoch,
        f"ts {rows[epoch]['payload']['ts']}|{rows[epoch]['payload']['ts']}|1970|not set|"
        f"^ts: {rows[epoch]['payload']['ts']}",
        f'"ts":{rows[epoch]["payload"]["ts"]},',
        '/"ts":\\d{3},/',
    )
    begin, end = moments[hole - 1], moments[hole]
    n.give(
        "gap",
        hole,
        pause(begin, end, f"line {hole + 1}", f"row {hole}"),
        f"{end:%H:%M:%S}",
        f"{begin:%H:%M}",
        sql=f"SELECT n, text FROM lines WHERE n IN ({hole}, {hole + 1})",
    )
    here("error", text, f"+{code}|sensor bus|bus timeout|^sensor bus timeout", code, "timeout")
    places = n.places(bare, rows[bare]["tst"][11:19], last[bare], rows[bare]["payload"]["s"])
    plain = sum(isinstance(one["payload"], dict) and "temp" in one["payload"] for one in rows)
    n.give(
        "missing field",
        bare,
        (*lost(places, ["rpm"], plain), *w.pairs(["rpm"], [f"{plain - 1}"])),
        "rpm",
        '/"unit":"C","fw"/',
        sql="SELECT n, text, 'no rpm' AS note FROM lines WHERE text LIKE '%\"temp\"%' AND text NOT LIKE '%rpm%'",
    )
    here("secret", leak, "+wifi_password|password|credential|^config/set", "password", "wifi", hidden=secret)
    here("error", broker, "+out of memory|$SYS|log/E|^$SYS/broker/log/E", "$SYS", "out of memory")
    told = split(
        'null|empty|payloadlen 0|payloadlen: 0|"payloadlen":0|no payload|payloadlen=0|without payload|'
        "zero-length"
    )
    here(
        "missing field",
        void,
        told,
        '"payloadlen":0',
        '"payload":null',
        alone=["null", "empty payload", "no payload"],
    )
    here("rare value", ware, f"+{other}|fw {other}", other, f'/"fw":"(?!{firmware})/')
    here("error", comma, f"+{wrong}|string|as text|not a number|comma", wrong, '/"temp":"/')
    n.tally(
        size,
        ["messages", "rows", "lines", "records", "objects", "entries"],
        "topic",
        sql=w.how_many("messages", '"topic"'),
    )
    asked = rng.choice(devices)
    done = sum(one == asked and rows[k]["topic"].endswith(f"{asked}/state") for k, one in last.items())
    n.tally(
        done,
        [f"{plant}/{zone[asked]}/{asked}/state", f"{asked}/state", asked],
        asked,
        sql=w.how_many(asked, f"/{asked}/state"),
    )
    return n.parts("\n".join(lines) + "\n")


def seq_at(row: dict) -> int:
    return row["payload"].get("s", 0) if isinstance(row["payload"], dict) else 0


def seq_of(rows: list[dict], last: dict[int, str], at: int) -> tuple[int, int]:
    """The numbers of a device before and at a message."""
    prior = next(k for k in range(at - 1, -1, -1) if last[k] == last[at] and seq_at(rows[k]))
    return seq_at(rows[prior]), seq_at(rows[at])
