"""Printed texts: configuration, code and descriptions."""

# ruff: noqa: S608

import random

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

from .tools import clash, hop, large, lost, split, tell


def _site(rng: random.Random, name: str, port: int, cut: dict[str, str]) -> list[tuple[str, str]]:
    """One file of a site as pairs of a mark and a line; a cut replaces a line by its key or drops it."""
    host, ups = f"{name}.example.org", name.replace("-", "_")
    nets = [f"10.20.{rng.randint(1, 9)}.{one}" for one in rng.sample(range(10, 250), rng.randint(2, 4))]
    lines: list[tuple[str, str]] = [("", f"upstream {ups} {{")]
    if rng.random() < 0.6:
        lines.append(("", "    least_conn;"))
    lines += [
        ("server", f"    server {net}:{port} max_fails=3 fail_timeout={rng.choice((10, 15, 30))}s;")
        for net in nets[:1]
    ]
    lines += [
        ("", f"    server {net}:{port} max_fails=3 fail_timeout={rng.choice((10, 15, 30))}s;")
        for net in nets[1:]
    ]
    lines += [("", f"    keepalive {rng.choice((16, 32, 64))};"), ("", "}"), ("", ""), ("", "server {")]
    lines += [
        ("", "    listen 80;"),
        ("", f"    server_name {host};"),
        ("", "    return 301 https://$host$request_uri;"),
        ("", "}"),
        ("", ""),
    ]
    lines += [("", "server {"), ("listen", "    listen 443 ssl http2;"), ("name", f"    server_name {host};")]
    lines += [
        ("cert", f"    ssl_certificate     /etc/ssl/sites/{name}/fullchain.pem;"),
        ("key", f"    ssl_certificate_key /etc/ssl/sites/{name}/privkey.pem;"),
        ("tls", "    ssl_protocols TLSv1.2 TLSv1.3;"),
        ("hsts", '    add_header Strict-Transport-Security "max-age=31536000" always;'),
        ("", f"    access_log /var/log/nginx/{name}.access.log main;"),
        ("log", f"    error_log  /var/log/nginx/{name}.error.log warn;"),
        ("body", f"    client_max_body_size {rng.choice((2, 4, 8, 10, 16))}m;"),
        ("", ""),
    ]
    for k, path in enumerate(rng.sample(w.THINGS, rng.randint(2, 5))):
        lines += [
            ("", f"    location /{path}/ {{"),
            ("pass" if not k else "", f"        proxy_pass http://{ups};"),
            ("", "        proxy_set_header Host $host;"),
            ("header" if not k else "", "        proxy_set_header X-Request-Id $request_id;"),
            ("timeout" if not k else "", f"        proxy_read_timeout {rng.choice((15, 30, 45, 60))}s;"),
        ]
        if rng.random() < 0.4:
            lines.append(("", f"        limit_req zone=per_ip burst={rng.choice((10, 20, 40))} nodelay;"))
        lines.append(("", "    }"))
    if rng.random() < 0.5:
        lines += [
            ("", "    location /static/ {"),
            ("", f"        root /srv/www/{name};"),
            ("", f"        expires {rng.randint(1, 30)}d;"),
            ("", "    }"),
        ]
    lines += [
        ("auth", "    location = /healthz {"),
        ("", "        access_log off;"),
        ("", '        return 200 "ok";'),
        ("", "    }"),
        ("", "}"),
    ]
    found = []
    for mark, line in lines:
        if mark in cut and not cut[mark]:
            found.append((f"-{mark}", ""))
            continue
        if mark in cut:
            found += [(f"={mark}" if not k else "", one) for k, one in enumerate(cut[mark].split("\n"))]
        else:
            found.append(("", line))
    return found


@kind("e_nginx_sites", "printed")
def e_nginx_sites(rng: random.Random) -> Parts:
    """What nginx -T prints: all files of the configuration one after the other."""
    count = rng.randint(42, 48)
    names = sorted(w.distinct(rng, count, lambda r: f"{r.choice(w.TEAMS)}-{r.choice(w.THINGS)}"))
    spots = w.spots(rng, count, 13, apart=2, low=0.1)
    tls, twin, hsts, body, slow, down, leak, index, plain, maint, alien, verify, hole = spots
    n, big, wait = Page(), rng.randint(30, 90), rng.randint(6, 20) * 3600
    public, secret = f"203.0.113.{rng.randint(4, 250)}", w.alnum(rng, 32)
    dead = f"10.20.{rng.randint(10, 19)}.{rng.randint(3, 250)}:9000"
    port = rng.randint(8100, 8999)
    cuts: dict[int, dict[str, str]] = {
        tls: {"tls": "    ssl_protocols TLSv1 TLSv1.1 TLSv1.2;"},
        twin: {"name": f"    server_name {names[twin - 4]}.example.org;"},
        hsts: {"hsts": ""},
        body: {"body": f"    client_max_body_size {big}g;"},
        slow: {"timeout": f"        proxy_read_timeout {wait}s;"},
        down: {"server": f"    server {dead} down;  # broken disk, do not use"},
        leak: {"header": f'        proxy_set_header Authorization "Bearer {secret}";'},
        index: {
            "auth": "    location /files/ {\n        autoindex on;\n        root /srv;\n    }\n    location = /healthz {"
        },
        plain: {"listen": f"    listen {port};"},
        maint: {
            "log": f"    error_log  /var/log/nginx/{names[maint]}.error.log warn;\n    return 503;  # maintenance"
        },
        alien: {"pass": f"        proxy_pass http://{public}:8080;"},
        verify: {
            "pass": f"        proxy_pass https://{names[verify].replace('-', '_')};\n        proxy_ssl_verify off;"
        },
    }
    n.add("nginx: the configuration file /etc/nginx/nginx.conf syntax is ok")
    n.add("nginx: configuration file /etc/nginx/nginx.conf test is successful")
    n.add(
        "# configuration file /etc/nginx/nginx.conf:",
        "user www-data;",
        "worker_processes auto;",
        "",
        "http {",
    )
    n.add("    log_format main '$remote_addr $request_id \"$request\" $status $request_time';")
    n.add(
        "    limit_req_zone $binary_remote_addr zone=per_ip:10m rate=20r/s;",
        "    include /etc/nginx/sites/*.conf;",
        "}",
        "",
    )
    number, ups = 100, 0
    files = []
    for k, name in enumerate(names):
        number += 1 + (k == hole)
        files.append(f"/etc/nginx/sites/{number}-{name}.conf")
        n.add(f"# configuration file {files[-1]}:", mark=f"file{k}")
        for mark, line in _site(rng, name, rng.randint(3000, 9000), cuts.get(k, {})):
            if mark.startswith("-"):
                n.at[f"{mark}{k}"] = len(n.lines)
            else:
                n.add(line, mark=f"{mark}{k}" if mark else "")
        n.add("")
        ups += 1

    def here(what: str, k: int, mark: str, telling: list | str, *searches: str, **more: object) -> None:
        spot = [names[k], names[k].replace("-", "_"), files[k][17:]]
        tell(n, what, f"={mark}{k}", telling, spot, *searches, **more)

    here(
        "rare value",
        tls,
        "tls",
        "TLSv1 TLSv1.1|+TLSv1.1|TLS 1.0|TLS 1.1|old TLS|TLSv1.0|^TLSv1 TLSv1.1 TLSv1.2|"
        "^ssl_protocols TLSv1 TLSv1.1 TLSv1.2",
        "TLSv1.1",
        "ssl_protocols",
    )
    host = f"{names[twin - 4]}.example.org"
    evidence = (
        *((host, files[twin][17:]),),
        *w.pairs([host], [*(one for one in w.SAME), "conflict", names[twin] + ".conf", "3 ", "4 "]),
    )
    n.say(
        "duplicate",
        evidence,
        host,
        "server_name",
        line=n.at[f"=name{twin}"],
        sql=w.find(f"server_name {host}"),
        derived=True,
    )
    line = n.at[f"-hsts{hsts}"]
    evidence = lost([names[hsts], line], ["Strict-Transport-Security", "HSTS", "add_header"], count)
    sql = f"SELECT n, text, 'no Strict-Transport-Security' AS note FROM lines WHERE n BETWEEN {n.at[f'file{hsts}']} AND {line}"
    n.say("missing section", evidence, "Strict-Transport", "add_header", line=0, sql=sql, derived=True)
    here(
        "outlier",
        body,
        "body",
        f"+{big}g|{big} g|^client_max_body_size {big}g",
        f"{big}g",
        "/body_size \\d+g/",
    )
    here(
        "outlier",
        slow,
        "timeout",
        f"+{wait}s|{wait}|{wait // 3600} h|^proxy_read_timeout {wait}s",
        str(wait),
        "/timeout \\d{4,}s/",
    )
    here(
        "rare status",
        down,
        "server",
        f"+{dead}| down|+broken disk|do not use|^{dead} down",
        "down;",
        "broken disk",
    )
    here(
        "secret",
        leak,
        "header",
        "+Authorization|+Bearer|token|credential",
        "Bearer",
        "Authorization",
        hidden=secret,
    )
    here("rare value", index, "auth", "+autoindex|directory listing|^autoindex on", "autoindex", "/files/")
    here(
        "changed field",
        plain,
        "listen",
        f"+listen {port}|{port}|no ssl|without ssl|not ssl",
        f"listen {port}",
        "/listen (?!80;|443)/",
    )
    here("rare status", maint, "log", "+503|+maintenance|^return 503", "return 503", "maintenance")
    here(
        "rare value",
        alien,
        "pass",
        f"+{public}|public address|public IP|^http://{public}:8080",
        public,
        "/proxy_pass http:..\\d/",
    )
    here(
        "rare value",
        verify,
        "pass",
        "+proxy_ssl_verify|verify off|verification off|not verified|^proxy_ssl_verify off",
        "proxy_ssl_verify",
        "verify off",
    )
    at = int(files[hole][17:20])
    evidence = hop(at - 2, at, [at - 1], ".conf", "files", "number", "sites/") + w.pairs(
        [f"{at - 1}-"], w.LEAP[:6]
    )
    evidence += w.pairs([f"sites/{at}-", f"{at}-{names[hole]}"], w.LEAP[:6])
    n.say(
        "gap",
        evidence,
        f"sites/{at}-",
        "/# configuration file/",
        line=n.at[f"file{hole}"],
        sql=w.find("# configuration file"),
        derived=True,
    )
    sites = ["sites", "site files", "configuration files", "config files", "files", "*.conf", ".conf files"]
    both = w.count(count, *sites) + w.count(count + 1, *sites)
    n.say(
        "count", both, "# configuration file", sql=w.how_many("files", "# configuration file"), derived=True
    )
    blocks = ["server blocks", "server {", "servers", "virtual hosts", "server_name", "`server {`"]
    n.tally(2 * count, blocks, "server {", sql=w.how_many("server blocks", "/^server [{]/"))
    n.tally(
        ups,
        ["upstreams", "upstream blocks", "upstream"],
        "upstream",
        sql=w.how_many("upstreams", "/^upstream /"),
    )
    return n.done()


def _rust_type(rng: random.Random, name: str, page: Page, number: int) -> list[str]:
    """A record type with its functions; gives back the names of the functions."""
    fields = rng.sample(w.THINGS, rng.randint(3, 6))
    kinds = {one: rng.choice(("u32", "u64", "String", "Option<u64>", "Vec<u8>", "bool")) for one in fields}
    page.add(f"/// {w.sentence(rng)}", "#[derive(Debug, Clone, Default, PartialEq)]", f"pub struct {name} {{")
    page.add(*(f"    pub {one}: {type_}," for one, type_ in kinds.items()), "}", "", f"impl {name} {{")
    page.add("    /// The number of this record on the wire.")
    page.add(
        f"    pub const CODE: u16 = {number};",
        "",
        "    pub fn new() -> Self {",
        "        Self::default()",
        "    }",
        "",
    )
    made = ["new"]
    for verb in rng.sample(w.DOING, rng.randint(2, 4)):
        one, other = rng.sample(fields, 2)
        made.append(f"{verb}_{one}")
        page.add(
            f"    /// {w.sentence(rng)}",
            f"    pub fn {verb}_{one}(&mut self, input: &[u8]) -> Result<usize, WireError> {{",
        )
        page.add("        if input.is_empty() {", "            return Err(WireError::Short);", "        }")
        if rng.random() < 0.5:
            page.add(
                f"        let {one} = read_varint(input)?;",
                f'        log::debug!("{verb} {one} beside {other}: {{}}", {one});',
            )
        if rng.random() < 0.4:
            page.add(
                f"        let step = input.len().min({rng.choice((16, 32, 64, 128))});",
                "        let input = &input[..step];",
            )
        page.add(
            f"        self.{one} = decode(input)?;"
            if rng.random() < 0.6
            else f"        self.{one} = parse(&input[1..])?;",
            "        Ok(input.len())",
            "    }",
            "",
        )
    page.add(
        "}",
        "",
        f"impl Record for {name} {{",
        "    fn size_hint(&self) -> usize {",
        f"        {rng.randint(8, 96)}",
        "    }",
        "}",
        "",
    )
    page.add(
        f"impl fmt::Display for {name} {{",
        "    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {",
        f'        write!(f, "{name}#{{}}", Self::CODE)',
        "    }",
        "}",
        "",
    )
    return made


@kind("e_rust_source", "printed")
def e_rust_source(rng: random.Random) -> Parts:
    """One long file of Rust: the records of a protocol."""
    count = rng.randint(44, 50)
    names = w.distinct(rng, count, lambda r: w.camel(r.choice(w.PLAIN), r.choice(w.THINGS)))
    spots = w.spots(rng, count, 14, apart=2, low=0.08)
    unsafe, todo, unwrap, leak, retry, twin, hole, ignore, auth, wait, bare, fixme, exit_, swap = spots
    n = Page()
    n.add(
        "//! Records of the wire protocol, their codes and how they are read and written.",
        "",
        "use std::fmt;",
        "use std::time::Duration;",
        "",
    )
    n.add("use crate::codec::{decode, parse, read_varint, Record};", "use crate::error::WireError;", "")
    number, codes, functions = rng.randint(1000, 4000), [], 0
    times, real = rng.randint(3, 5), rng.randint(40, 90)
    secret, seconds = w.hexes(rng, 32), rng.randint(14_000, 39_000)
    title = {k: names[k] for k in spots}
    ticket = rng.randint(1200, 9900)
    extra = {
        unsafe: [
            "/// Copies the bytes without looking at their length.",
            f"pub fn raw_{{}}(ptr: *const u8) -> {title[unsafe]} {{",
            f"    unsafe {{ std::ptr::read_unaligned(ptr as *const {title[unsafe]}) }}",
            "}",
            "",
        ],
        todo: [
            "pub fn migrate_{}(old: &[u8]) -> Result<Vec<u8>, WireError> {",
            '    todo!("old format is not supported yet")',
            "}",
            "",
        ],
        unwrap: ["pub fn first_{}(input: &[u8]) -> u64 {", "    read_varint(input).unwrap()", "}", ""],
        leak: [
            f'const SIGNING_KEY: &str = "{secret}";',
            "",
            "pub fn sign_{}(input: &[u8]) -> [u8; 32] {",
            "    mac(SIGNING_KEY.as_bytes(), input)",
            "}",
            "",
        ],
        retry: [
            f"/// Sends again at most {times} times.",
            "pub fn resend_{}(out: &mut dyn Sink) -> Result<(), WireError> {",
            f"    for attempt in 0..{real} {{",
            "        if out.send(attempt).is_ok() {",
            "            return Ok(());",
            "        }",
            "    }",
            "    Err(WireError::Short)",
            "}",
            "",
        ],
        auth: [
            "/// Whether the token of a caller is good.",
            "pub fn verify_{}(_token: &str) -> bool {",
            "    true",
            "}",
            "",
        ],
        wait: ["pub fn deadline_{}() -> Duration {", f"    Duration::from_secs({seconds})", "}", ""],
        fixme: [
            "pub fn total_{}(parts: &[u32]) -> u32 {",
            f"    // FIXME(#{ticket}): overflows above 4 GiB and loses data",
            "    parts.iter().fold(0u32, |sum, one| sum.wrapping_add(*one))",
            "}",
            "",
        ],
        exit_: ["pub fn close_{}() {", "    std::process::exit(70);", "}", ""],
        swap: [
            f'#[deprecated(since = "2.{rng.randint(3, 9)}.0", note = "loses the sign of negative amounts")]',
            "pub fn amount_{}(input: &[u8]) -> u64 {",
            "    input.len() as u64",
            "}",
            "",
        ],
    }
    skipped = rng.randint(11, 30)
    for k, name in enumerate(names):
        number += (1 if k != hole else 1 + skipped) if k != twin else 0
        codes.append(number)
        n.at[f"type{k}"] = len(n.lines) + 3
        functions += len(_rust_type(rng, name, n, number)) + 2
        if k == bare:
            at = max(i for i, line in enumerate(n.lines) if line.startswith("impl fmt::Display"))
            del n.lines[at:]
            functions -= 1
            n.at[f"extra{k}"] = len(n.lines)
        lower = "".join("_" + c.lower() if c.isupper() else c for c in name).strip("_")
        if k in extra:
            functions += 1
            shift = (
                next(i for i, line in enumerate(extra[k]) if line.startswith("pub fn"))
                + (k != swap)
                - (k == leak) * 3
            )
            n.add(
                *(line.replace("{}", lower, 1) if "_{}" in line else line for line in extra[k]),
                mark=f"extra{k}",
                shift=shift,
            )
        n.add("#[cfg(test)]", f"mod {lower}_tests {{", "    use super::*;", "", "    #[test]")
        if k == ignore:
            n.add(f'    #[ignore = "fails on big-endian machines, see #{ticket + 11}"]', mark=f"extra{k}")
        n.add(
            f"    fn empty_input_is_short_for_{lower}() {{",
            f'        assert_eq!({name}::new().to_string(), "{name}#{number}");',
            "    }",
            "}",
            "",
        )
        functions += 1

    def here(what: str, k: int, telling: list | str, *searches: str, **more: object) -> None:
        lower = "".join("_" + c.lower() if c.isupper() else c for c in names[k]).strip("_")
        tell(n, what, f"extra{k}", telling, [names[k], lower], *searches, **more)

    here("rare value", unsafe, "+unsafe|+read_unaligned|^unsafe {", "unsafe", "read_unaligned")
    here(
        "error", todo, "+todo!|not supported|not implemented|unimplemented|^todo!(", "todo!", "not supported"
    )
    here("rare value", unwrap, "+unwrap|^unwrap()|^.unwrap()", "unwrap", "/[.]unwrap[(]/")
    here(
        "secret",
        leak,
        "+SIGNING_KEY|signing key|hard-coded key|secret",
        "SIGNING_KEY",
        "/const .*KEY/",
        hidden=secret,
    )
    told = split(f"0..{real}|{real} times|{real} attempts|loops {real}|{real} tries|tries {real}")
    here(
        "contradiction",
        retry,
        told,
        f"0..{real}",
        "at most",
        alone=(f"0..{real}",),
        more=clash(times, real, ["resend", "attempt"]),
    )
    evidence = (
        *w.same(codes[twin]),
        (names[twin], names[twin - 1], str(codes[twin])),
        (f"{codes[twin]}", names[twin - 1], names[twin]),
    )
    n.say(
        "duplicate",
        evidence,
        str(codes[twin]),
        "/CODE: u16/",
        line=n.at[f"type{twin}"],
        sql=w.find(f"u16 = {codes[twin]};"),
        derived=True,
    )
    before, after = codes[hole - 1], codes[hole]
    evidence = hop(before, after, [], "CODE", "code", names[hole], names[hole - 1]) + w.pairs(
        [before, after, before + 1], w.LEAP[:6]
    )
    n.say("gap", evidence, str(after), "CODE: u16", sql=w.find("CODE: u16"), derived=True)
    here(
        "failing test",
        ignore,
        f"+ignore|+big-endian|#{ticket + 11}|^#[ignore|^#[ignore]",
        "#[ignore",
        "big-endian",
    )
    here("rare value", auth, "always true|returns true|-> bool { true|+_token|^verify_", "verify_", "_token")
    here(
        "outlier",
        wait,
        [seconds, f"{seconds / 3600:.1f} h", *large(seconds)[:2]],
        str(seconds),
        "from_secs",
        alone=(seconds, "from_secs", f"from_secs({seconds})"),
    )
    evidence = lost([names[bare]], ["Display", "fmt::Display", "impl fmt::Display"], count)
    n.say(
        "missing section",
        evidence,
        "fmt::Display",
        f"for {names[bare]}",
        sql=f"SELECT n, text, 'no Display' AS note FROM lines WHERE text LIKE '%for {names[bare]} %'",
        derived=True,
    )
    here(
        "error",
        fixme,
        f"+FIXME|#{ticket}|overflows|loses data|+wrapping_add|^FIXME(#{ticket})",
        "FIXME",
        "wrapping_add",
    )
    here(
        "rare value",
        exit_,
        "+process::exit|+exit(70)|ends the process|^std::process::exit(70)",
        "process::exit",
        "/exit[(]/",
    )
    here(
        "change with meaning",
        swap,
        "+deprecated|+loses the sign|^#[deprecated",
        "deprecated",
        "loses the sign",
    )
    n.tally(
        count,
        ["structs", "pub struct", "struct", "types", "records", "struct definitions"],
        "pub struct",
        sql=w.how_many("structs", "pub struct"),
    )
    fns = sum(" fn " in f" {line.lstrip()}" for line in n.lines)
    n.tally(
        fns,
        ["functions", "fn", "fns", "methods", "functions and methods"],
        "/\\bfn /",
        sql=w.how_many("functions", "/\\bfn /"),
    )
    return n.done()


class Pod:
    """One pod as kubectl describe prints it, with what differs from the usual."""

    def __init__(self, rng: random.Random, name: str, node: str, ip: str) -> None:
        self.rng, self.name, self.node, self.ip = rng, name, node, ip
        self.app = name.rsplit("-", 2)[0] if name[-1].isalpha() or "-" in name else name
        self.image = f"registry.example.org/shop/{self.app}:2.{rng.randint(1, 9)}.{rng.randint(0, 20)}"
        self.restarts, self.status, self.last, self.state = rng.choice((0, 0, 0, 1)), "Running", [], "Running"
        self.limits, self.probe, self.env = True, True, []
        self.volume: list[str] = []
        self.events: list[tuple[str, str, str, str]] = []
        self.memory = f"{rng.choice((256, 384, 512, 768))}Mi"
        self.qos, self.priority, self.host = "Burstable", "0", False

    def lines(self) -> list[tuple[str, str]]:
        rng, out = self.rng, []
        clock = f"{rng.randint(0, 23):02d}:{rng.randint(0, 59):02d}:{rng.randint(0, 59):02d}"
        started = f"{rng.choice(('Tue, 04', 'Thu, 13', 'Fri, 21', 'Tue, 25'))} Mar 2025 {clock} +0100"
        if self.status == "Pending":
            started = ""

        def put(text: str, mark: str = "") -> None:
            out.append((mark, text))

        put(f"Name:             {self.name}", "name")
        put("Namespace:        shop")
        put(f"Priority:         {self.priority}", "priority")
        put(f"Service Account:  {self.app}")
        put(f"Node:             {self.node}", "node")
        if started:
            put(f"Start Time:       {started}")
        put(f"Labels:           app={self.app}")
        put(f"                  pod-template-hash={w.hexes(rng, 10)}")
        put(f"                  team={rng.choice(w.TEAMS)}")
        put(f"Annotations:      checksum/config: {w.hexes(rng, 40)}")
        if rng.random() < 0.3:
            put(
                " " * 18
                + f"kubectl.kubernetes.io/restartedAt: 2025-03-{rng.randint(10, 28)}T09:14:{rng.randint(10, 59)}Z"
            )
        put(f"Status:           {self.status}", "status")
        put(f"IP:               {self.ip}", "ip")
        put("Containers:")
        put(f"  {self.app}:")
        put(f"    Container ID:   containerd://{w.hexes(rng, 64)}")
        put(f"    Image:          {self.image}", "image")
        put(f"    Image ID:       registry.example.org/shop/{self.app}@sha256:{w.hexes(rng, 64)}")
        put(f"    Port:           {rng.randint(3000, 9000)}/TCP")
        put(f"    State:          {self.state}", "state")
        if self.state == "Running":
            put(f"      Started:      {started}")
        for k, one in enumerate(self.last):
            put(one, "last" if not k else "")
        put(f"    Ready:          {self.state == 'Running'}")
        put(f"    Restart Count:  {self.restarts}", "restarts")
        if self.limits:
            put("    Limits:", "limits")
            put(f"      cpu:     {rng.choice(('500m', '1', '750m'))}")
            put(f"      memory:  {self.memory}", "memory")
        put("    Requests:")
        put(f"      cpu:     {rng.choice((50, 100, 200))}m")
        put(f"      memory:  {rng.choice((64, 128))}Mi")
        put(
            f"    Liveness:   http-get http://:http/live delay={rng.randint(5, 30)}s timeout=2s period=10s #success=1 #failure=3"
        )
        if self.probe:
            put(
                f"    Readiness:  http-get http://:http/ready delay={rng.randint(2, 9)}s timeout=2s period=5s "
                "#success=1 #failure=3",
                "probe",
            )
        put("    Environment:", "env")
        put(f"      LOG_LEVEL:    {rng.choice(('info', 'info', 'warn'))}")
        put(f"      REGION:       {rng.choice(('north', 'south'))}")
        put(f"      DB_PASSWORD:  <set to the key 'password' in secret '{self.app}-db'>  Optional: false")
        for one in self.env:
            put(one, "secret")
        put("    Mounts:")
        put(f"      /etc/{self.app} from config (ro)")
        put("Conditions:")
        put("  Type              Status")
        put("  Initialized       True")
        put(f"  Ready             {self.state == 'Running'}")
        put("Volumes:")
        put("  config:")
        put("    Type:      ConfigMap (a volume populated by a ConfigMap)")
        put(f"    Name:      {self.app}-config")
        for k, one in enumerate(self.volume):
            put(one, "volume" if not k else "")
        put(f"QoS Class:       {self.qos}", "qos")
        put("Node-Selectors:  <none>")
        put("Tolerations:     node.kubernetes.io/not-ready:NoExecute op=Exists for 300s")
        if not self.events:
            put("Events:          <none>")
        else:
            put("Events:")
            put("  Type     Reason            Age                   From               Message")
            put("  ----     ------            ----                  ----               -------")
            for type_, reason, age, message in self.events:
                put(f"  {type_:<8} {reason:<17} {age:<21} kubelet            {message}", f"event{reason}")
        put("")
        put("")
        return out


@kind("e_describe_pods", "printed")
def e_describe_pods(rng: random.Random) -> Parts:
    """What kubectl describe pods prints for one namespace."""
    count = rng.randint(36, 42)
    nodes = [f"worker-{one}/10.40.0.{one}" for one in rng.sample(range(11, 90), 6)]
    apps = w.distinct(rng, count, lambda r: f"{r.choice(w.TEAMS)}-{r.choice(w.THINGS)}")
    ips = [f"10.42.{rng.randint(0, 9)}.{one}" for one in rng.sample(range(4, 250), count)]
    pods = [
        Pod(rng, f"{app}-{w.hexes(rng, 9)}-{w.alnum(rng, 5).lower()}", rng.choice(nodes), ip)
        for app, ip in zip(apps, ips, strict=True)
    ]
    for app, pod in zip(apps, pods, strict=True):
        pod.app, pod.image = (
            app,
            f"registry.example.org/shop/{app}:2.{rng.randint(1, 9)}.{rng.randint(0, 20)}",
        )
        if rng.random() < 0.3:
            pod.events = [
                ("Normal", "Pulled", f"{rng.randint(3, 50)}m", "Container image already present on machine")
            ]
    spots = w.spots(rng, count, 13, apart=2, low=0.08)
    oom, loop, worn, latest, pend, bare, leak, probe, host, pull, twin, live, evict = spots
    often, mega = rng.randint(140, 900), rng.randint(48, 160)
    pods[oom].last = [
        "    Last State:     Terminated",
        "      Reason:       OOMKilled",
        "      Exit Code:    137",
    ]
    pods[oom].restarts = 2
    pods[loop].state, pods[loop].restarts = "Waiting", 3
    pods[loop].last = ["      Reason:       CrashLoopBackOff"]
    pods[worn].restarts = often
    pods[latest].image = f"registry.example.org/shop/{apps[latest]}:latest"
    need = rng.choice(("gpu=a100", "disk=nvme", "zone=east-3"))
    pods[pend].status, pods[pend].state, pods[pend].node, pods[pend].ip = "Pending", "Waiting", "<none>", ""
    pods[pend].events = [
        (
            "Warning",
            "FailedScheduling",
            "41m (x90 over 7h)",
            f"0/6 nodes are available: 6 node(s) didn't match selector {need}.",
        )
    ]
    pods[bare].limits = False
    secret = w.alnum(rng, 28)
    pods[leak].env = [f"      PAYMENT_API_KEY:  pk_live_{secret}"]
    pods[probe].probe = False
    pods[host].volume = [
        "  docker-sock:",
        "    Type:      HostPath (bare host directory volume)",
        "    Path:      /var/run/docker.sock",
    ]
    pods[pull].state, pods[pull].last = "Waiting", ["      Reason:       ImagePullBackOff"]
    pods[pull].events = [
        ("Warning", "Failed", "3m (x12 over 40m)", f'Failed to pull image "{pods[pull].image}": not found')
    ]
    pods[twin].ip = pods[twin - 3 if twin - 3 not in spots else twin - 1].ip
    other = pods[twin - 3 if twin - 3 not in spots else twin - 1]
    failed = rng.randint(210, 960)
    pods[live].events = [
        (
            "Warning",
            "Unhealthy",
            f"2m (x{failed} over 9h)",
            "Liveness probe failed: HTTP probe failed with statuscode: 500",
        )
    ]
    pods[evict].status = "Failed"
    pods[evict].state, pods[evict].last = (
        "Terminated",
        [f"      Reason:       Evicted (low on ephemeral-storage, used {mega}Gi)"],
    )
    n = Page()
    for k, pod in enumerate(pods):
        for mark, line in pod.lines():
            n.add(line, mark=f"{mark}{k}" if mark else "")

    def here(what: str, k: int, mark: str, telling: list | str, *searches: str, **more: object) -> None:
        tell(n, what, f"{mark}{k}", telling, [apps[k]], *searches, **more)

    here("error", oom, "last", "+OOMKilled|137|^Exit Code:    137|^exit code 137", "OOMKilled", "137")
    here("error", loop, "last", "+CrashLoopBackOff", "CrashLoop", "BackOff")
    here(
        "outlier",
        worn,
        "restarts",
        f"{often}|^Restart Count: {often}",
        str(often),
        "/Restart Count: +\\d{2,}/",
    )
    here("changed field", latest, "image", f"+:latest|^{apps[latest]}:latest", ":latest", "latest")
    here(
        "rare status",
        pend,
        "status",
        f"+Pending|+FailedScheduling|not scheduled|0/6 nodes|{need}",
        "Pending",
        "FailedScheduling",
    )
    line = n.at[f"restarts{bare}"]
    sql = (
        f"SELECT n, text, 'no Limits' AS note FROM lines WHERE n BETWEEN {n.at[f'name{bare}']} AND {line + 3}"
    )
    n.say(
        "missing section",
        lost([apps[bare], line, line + 1], ["Limits"], count),
        "Limits:",
        apps[bare],
        sql=sql,
        derived=True,
    )
    here("secret", leak, "secret", "+PAYMENT_API_KEY|+pk_live|API key", "API_KEY", "pk_live", hidden=secret)
    line = n.at[f"env{probe}"]
    sql = (
        f"SELECT n, text, 'no Readiness' AS note FROM lines WHERE n BETWEEN {n.at[f'name{probe}']} AND {line}"
    )
    n.say(
        "missing section",
        lost([apps[probe], line], ["Readiness", "readiness probe"], count),
        "Readiness:",
        apps[probe],
        sql=sql,
        derived=True,
    )
    here("rare value", host, "volume", "+HostPath|+docker.sock|^docker-sock", "HostPath", "docker.sock")
    here(
        "error",
        pull,
        "last",
        "+ImagePullBackOff|Failed to pull|not found|^Failed to pull image",
        "ImagePull",
        "Failed to pull",
    )
    evidence = (
        *w.same(pods[twin].ip),
        (apps[twin], other.app, pods[twin].ip),
        (apps[twin], other.app, "same IP"),
    )
    n.say(
        "duplicate",
        evidence,
        pods[twin].ip,
        "/^IP:/",
        line=n.at[f"ip{twin}"],
        sql=w.find(pods[twin].ip),
        derived=True,
    )
    here(
        "error",
        live,
        "eventUnhealthy",
        f"+Liveness probe failed|+Unhealthy|statuscode: 500|x{failed}",
        "Unhealthy",
        "Liveness probe failed",
    )
    here(
        "rare status",
        evict,
        "last",
        "+Evicted|+Failed|+ephemeral-storage|^Status: Failed",
        "Evicted",
        "ephemeral-storage",
    )
    running = sum(pod.status == "Running" for pod in pods)
    n.tally(count, ["pods", "pod", "Name:", "pods described"], "/^Name:/", sql=w.how_many("pods", "/^Name:/"))
    n.tally(
        running,
        ["Running", "Status: Running", "running"],
        "/^Status: +Running/",
        sql=w.how_many("Running", "/^Status: +Running/"),
    )
    node = nodes[0].split("/")[0]
    n.tally(
        sum(pod.node == nodes[0] for pod in pods),
        [node, f"Node: {nodes[0]}", nodes[0]],
        node,
        sql=w.how_many(node, f"/^Node: +{node}/"),
    )
    return n.done()
