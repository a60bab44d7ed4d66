"""What programs print and configuration files."""

# ruff: noqa: SIM905, S608

import random
from datetime import date

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

from . import printed_more  # noqa: F401
from .tools import rare, tell


@kind("z_cisco_running", "printed")
def z_cisco_running(rng: random.Random) -> Parts:
    """The running configuration of a stack of access switches."""
    page = Page()
    vlans = dict(
        zip(
            (10, 20, 30, 40, 50, 60, 110, 120, 130, 140),
            [f"{one.upper()}-{k}" for k, one in enumerate(rng.sample(w.TEAMS, 10), 1)],
            strict=True,
        )
    )
    name = f"sw-{rng.choice(w.TOWNS).lower()}-acc{rng.randint(1, 9)}"
    admin = rng.choice(w.GIVEN).lower()
    ports = [(unit, port) for unit in range(1, 8) for port in range(1, 49)]
    spots = [ports[k] for k in w.spots(rng, len(ports), 10, apart=6)]
    trunk, ghost, bare, slow, filter_, jumbo, many, twin, broken, span = spots
    twin_of = ports[ports.index(twin) - 3]
    sticky = f"{w.hexes(rng, 4)}.{w.hexes(rng, 4)}.{w.hexes(rng, 4)}"
    off = set(rng.sample([one for one in ports if one not in spots and one != twin_of], rng.randint(41, 57)))
    day = date(2025, rng.randint(3, 9), rng.randint(2, 26))
    changed = f"{rng.randint(10, 18)}:{rng.randint(10, 59)}:{rng.randint(10, 59)}"
    page.add(
        "Building configuration...",
        "",
        "Current configuration : 0 bytes",
        "!",
        f"! Last configuration change at {changed} CEST {day:%a %b} {day.day} {day.year} by {admin}",
        f"! NVRAM config last updated at 19:{rng.randint(10, 59)}:{rng.randint(10, 59)} CEST {day:%a %b} {day.day} {day.year} by {admin}",
        "!",
        "version 16.12",
        "no service pad",
        "service timestamps debug datetime msec localtime show-timezone",
        "service timestamps log datetime msec localtime show-timezone",
        "service password-encryption",
        "no platform punt-keepalive disable-kernel-core",
        "!",
        f"hostname {name}",
        "!",
        "vrf definition Mgmt-vrf",
        " !",
        " address-family ipv4",
        " exit-address-family",
        "!",
        "logging buffered 64000",
        "no logging console",
        "aaa new-model",
        "aaa authentication login default group tacacs+ local",
        "aaa authorization exec default group tacacs+ local",
        "clock timezone CET 1 0",
        "switch 1 provision ws-c3850-48p",
        *[f"switch {unit} provision ws-c3850-48p" for unit in range(2, 8)],
        "ip routing",
        "no ip domain lookup",
        "ip domain name net.example.org",
        "!",
        "spanning-tree mode rapid-pvst",
        "spanning-tree extend system-id",
        "!",
    )
    for number, title in vlans.items():
        page.add(f"vlan {number}", f" name {title}", "!")
    unused = max(vlans) + 10 * rng.randint(20, 60) + 7
    rooms = w.distinct(
        rng,
        len(ports),
        lambda r: f"{r.choice('ABCDE')}{r.randint(0, 4)}.{r.randint(1, 60):02d}-{r.randint(1, 8)}",
    )
    access = (10, 20, 30, 40, 50)
    rma = rng.randint(30_000, 89_999)
    place = "GigabitEthernet{}/0/{}".format
    for (unit, port), room in zip(ports, rooms, strict=True):
        here = (unit, port)
        vlan = unused if here == ghost else rng.choice(access)
        mark = f"{unit}/0/{port}"
        page.add(f"interface {place(unit, port)}", mark=mark)
        if here == broken:
            page.add(f" description DO NOT USE - port broken, RMA {rma}")
        elif here != bare:
            page.add(f" description outlet {room}" if here not in off else f" description free {room}")
        if here == trunk:
            page.add(" switchport mode trunk", " switchport trunk allowed vlan all")
        else:
            page.add(
                f" switchport access vlan {vlan}", " switchport mode access", " switchport voice vlan 60"
            )
        if here not in off and here != trunk:
            page.add(
                f" switchport port-security maximum {4096 if here == many else 3}",
                " switchport port-security",
            )
            if here in (twin, twin_of):
                page.add(f" switchport port-security mac-address sticky {sticky}")
            elif rng.random() < 0.2:
                page.add(
                    f" switchport port-security mac-address sticky {w.hexes(rng, 4)}.{w.hexes(rng, 4)}.{w.hexes(rng, 4)}"
                )
        if here in off:
            page.add(" shutdown")
        if here == slow:
            page.add(" speed 10", " duplex half")
        if here == jumbo:
            page.add(" mtu 9198")
        page.add(
            " storm-control broadcast level 2.00" if here != span else " storm-control broadcast level 95.00"
        )
        page.add(" spanning-tree portfast")
        page.add(
            " spanning-tree bpduguard enable" if here != filter_ else " spanning-tree bpdufilter enable", "!"
        )
    for unit in (1, 7):
        for up in (1, 2):
            page.add(
                f"interface TenGigabitEthernet{unit}/1/{up}",
                f" description uplink core-{up} Te2/{unit}",
                " switchport mode trunk",
                f" switchport trunk allowed vlan {','.join(map(str, vlans))}",
                " channel-group 1 mode active",
                "!",
            )
    for number in vlans:
        page.add(
            f"interface Vlan{number}",
            f" description {vlans[number]}",
            f" ip address 10.{rng.randint(20, 90)}.{number}.1 255.255.255.0",
            " no ip redirects",
            " no ip proxy-arp",
            "!",
        )
    page.add(
        f"ip default-gateway 10.20.{rng.randint(1, 9)}.1", "no ip http server", "ip http secure-server", "!"
    )
    page.add("ip access-list extended CLIENTS-IN")
    rules = 96
    any_at = rng.randint(15, 75)
    for k in range(1, rules + 1):
        if k == any_at:
            page.add(f" {10 * k} permit ip any any", mark="any")
            continue
        target = f"host 10.{rng.randint(20, 90)}.{rng.randint(1, 250)}.{rng.randint(2, 250)}"
        port = rng.choice((22, 53, 80, 123, 389, 443, 445, 636, 1433, 3389))
        page.add(
            f" {10 * k} {rng.choice(('permit', 'permit', 'permit', 'deny  '))} tcp any {target} eq {port}",
        )
    page.add("!")
    secret = f"{rng.choice(w.TOWNS)}{rng.randint(2015, 2024)}!"
    hole = f"10.{rng.randint(91, 120)}.0.0"
    for _ in range(26):
        page.add(
            f"ip route 10.{rng.randint(121, 250)}.{rng.randint(0, 250)}.0 255.255.255.0 10.20.{rng.randint(1, 9)}.{rng.randint(2, 9)}"
        )
    page.add(f"ip route {hole} 255.255.0.0 Null0", mark="null")
    for _ in range(14):
        page.add(
            f"ip route 10.{rng.randint(121, 250)}.{rng.randint(0, 250)}.0 255.255.255.0 10.20.{rng.randint(1, 9)}.{rng.randint(2, 9)}"
        )
    page.add("!")
    for k in range(12):
        page.add(
            f"username {rng.choice(w.GIVEN).lower()}{k} privilege 1 secret 9 $9${w.alnum(rng, 14)}${w.alnum(rng, 43)}"
        )
    page.add(f"username backup privilege 15 password 0 {secret}", mark="secret")
    for k in range(9):
        page.add(
            f"username {rng.choice(w.GIVEN).lower()}{k + 20} privilege 1 secret 9 $9${w.alnum(rng, 14)}${w.alnum(rng, 43)}"
        )
    page.add("!", "snmp-server view ALL iso included")
    for k in range(20):
        page.add(f"snmp-server host 10.20.{rng.randint(1, 9)}.{rng.randint(2, 250)} version 3 priv netmon{k}")
    page.add("snmp-server community public RW", mark="snmp")
    for k in range(20):
        page.add(f"snmp-server group netmon{k} v3 priv read ALL")
    for k in range(30):
        page.add(f"snmp-server enable traps {rng.choice(w.THINGS)}-{k}")
    page.add("!", "tacacs server tac1", " address ipv4 10.20.1.31", " key 7 070C285F4D06", "!")
    for k in range(1, 5):
        page.add(f"ntp server 10.20.1.{k}")
    page.add(
        "!",
        "line con 0",
        " exec-timeout 10 0",
        " stopbits 1",
        "line aux 0",
        " stopbits 1",
        "line vty 0 4",
        " exec-timeout 10 0",
        " transport input ssh",
        "line vty 5 15",
        " exec-timeout 10 0",
        " transport input ssh",
        "!",
        "end",
    )

    at_size = page.lines.index("Current configuration : 0 bytes")
    page.lines[at_size] = f"Current configuration : {sum(len(one) + 1 for one in page.lines)} bytes"

    def port(
        what: str,
        at: tuple[int, int],
        telling: list,
        *searches: str,
        alone: tuple = (),
        sql: str = "",
        far: int = 10,
    ) -> None:
        mark = f"{at[0]}/0/{at[1]}"
        line = page.at[mark]
        names = [mark, *range(line, line + far)]
        page.say(
            what,
            w.pairs(telling, names) + rare(*alone),
            *searches,
            line=line + 2,
            sql=sql or w.find(searches[0]),
        )

    port(
        "rare value",
        trunk,
        ["trunk", "allowed vlan all"],
        "allowed vlan all",
        "mode trunk",
        alone=("allowed vlan all",),
    )
    told = [f"vlan {unused}", f"VLAN {unused}", f"{unused}"]
    port(
        "contradiction",
        ghost,
        told,
        f"vlan {unused}",
        "access vlan",
        alone=(f"vlan {unused}", f"vlan {unused} undefined", f"access vlan {unused}"),
    )
    mark = f"{bare[0]}/0/{bare[1]}"
    line = page.at[mark]
    page.say(
        "missing field",
        (
            *w.gone([mark, *range(line, line + 3)], "description"),
            *w.pairs(["description"], ["1 without", "missing: 1", "1 missing"]),
        ),
        "description",
        place(*bare),
        line=line,
        sql="SELECT a.n, a.text, 'no description' AS note FROM lines a JOIN lines b ON b.n = a.n + 1 "
        "WHERE a.text LIKE 'interface %' AND b.text NOT LIKE ' description%'",
        derived=True,
    )
    port(
        "rare value",
        slow,
        ["speed 10", "half", "10 Mb", "half-duplex", "duplex half"],
        "duplex half",
        "speed 10",
        alone=("duplex half", "speed 10"),
    )
    port(
        "rare value",
        filter_,
        ["bpdufilter"],
        "bpdufilter",
        "bpdu",
        alone=("bpdufilter enable", "bpdufilter"),
        far=10,
    )
    port("outlier", jumbo, ["9198", "mtu"], "mtu", "9198", alone=("mtu 9198", "9198"), far=10)
    port("outlier", many, ["4096"], "4096", "port-security maximum", alone=("4096", "maximum 4096"))
    port(
        "outlier",
        span,
        ["95.00", "level 95", "95 %", "95%"],
        "95.00",
        "storm-control",
        alone=("level 95.00", "95.00"),
        far=10,
    )
    both = [f"{one[0]}/0/{one[1]}" for one in (twin, twin_of)]
    asked = "SELECT text, count(*) AS duplicates FROM lines WHERE text LIKE '%mac-address sticky%' GROUP BY 1 HAVING duplicates > 1"
    page.say(
        "duplicate",
        w.same(sticky, *both),
        sticky,
        "mac-address sticky",
        line=page.at[both[0]] + 5,
        sql=asked,
        derived=True,
    )
    port(
        "error",
        broken,
        ["DO NOT USE", f"RMA {rma}", "broken", rma],
        "DO NOT USE",
        "RMA",
        alone=("DO NOT USE", f"RMA {rma}"),
    )
    told = ["permit ip any any", "any any"]
    tell(
        page,
        "error",
        "any",
        told,
        [10 * any_at, "CLIENTS-IN", "ACL", "access-list"],
        "permit ip any any",
        "any any",
        alone=("permit ip any any",),
    )
    tell(
        page,
        "rare value",
        "null",
        ["Null0", "blackhole", "black hole", "null route"],
        [hole],
        "Null0",
        "ip route",
        alone=("Null0",),
    )
    told = [
        "password 0",
        "plain text",
        "plaintext",
        "clear text",
        "cleartext",
        "unencrypted",
        "privilege 15",
        "password",
        "secret",
        "credential",
    ]
    tell(
        page,
        "secret",
        "secret",
        told,
        ["username backup", "user backup", "backup"],
        "password 0",
        "privilege 15",
        hidden=secret,
        alone=("privilege 15", "password 0"),
    )
    tell(
        page,
        "rare value",
        "snmp",
        ["community public", "public RW", "read-write", "public"],
        ["snmp", "SNMP"],
        "community",
        "public",
        alone=("community public RW",),
    )
    names = ["shutdown", " shutdown", "shut down", "shutdown ports", "disabled"]
    page.tally(len(off), names, "shutdown", sql=w.how_many("shutdown", "/^ shutdown$/"))
    faces = len(ports) + 4 + len(vlans)
    names = ["interfaces", "interface", "interface sections", "interface blocks", "GigabitEthernet", "ports"]
    page.say(
        "count",
        (*w.count(faces, *names), *w.count(len(ports), *names), *w.count(len(ports) + 4, *names)),
        "interface",
        sql=w.how_many("interfaces", "/^interface /"),
        derived=True,
    )
    return page.done()


LIBS = {
    "grid": "grid_new grid_resize grid_cell_add grid_load grid_fill",
    "ledger": "ledger_open ledger_find_slot ledger_append ledger_flush ledger_close",
    "codec": "codec_init codec_decode_block codec_copy codec_table codec_reset",
    "net": "net_connect net_send_all net_read_frame net_listen net_shutdown",
    "config": "config_parse config_value config_merge config_dup config_section",
    "queue": "queue_push queue_pop queue_drain queue_grow queue_peek",
    "index": "index_build index_lookup index_split index_node_new index_insert",
    "cache": "cache_get cache_put cache_evict cache_entry_new cache_warm",
}


@kind("z_valgrind_memcheck", "printed")
def z_valgrind_memcheck(rng: random.Random) -> Parts:
    """What valgrind's memcheck prints of the run of a test program, with what the program itself prints."""
    pid = rng.randint(21_000, 29_000)
    child = pid + rng.randint(31, 77)
    pre = f"=={pid}=="
    page = Page()
    spots_of = {
        f"{fn}": (f"{lib}.c", rng.randint(40, 900)) for lib, fns in LIBS.items() for fn in fns.split()
    }
    calls = list(spots_of)
    vg = "/usr/libexec/valgrind/vgpreload_memcheck-amd64-linux.so"
    used: set[str] = set()

    def frame(k: int, fn: str, head: str = pre, shift: int = 0) -> str:
        file, line = spots_of[fn]
        word = "at" if k == 0 else "by"
        return f"{head}    {word} 0x{0x109000 + 64 * line + 4096 * len(file):X}: {fn} ({file}:{line + shift})"

    def alloc(fn: str, head: str = pre, word: str = "at") -> str:
        return f"{head}    {word} 0x484{rng.randint(4096, 65535):X}: {fn} (in {vg})"

    def fresh() -> tuple[str, str]:
        """A place of its own in the source that no other report names."""
        while True:
            fn = rng.choice(calls)
            file = spots_of[fn][0]
            line = rng.randint(1000, 1999)
            if f"{file}:{line}" not in used:
                used.add(f"{file}:{line}")
                return fn, f"{file}:{line}"

    def stack(at: int, depth: int, head: str = pre, top: tuple[str, str] | None = None) -> list[str]:
        lines, chosen = [], rng.sample(calls, depth)
        for k, fn in enumerate(chosen):
            if k == 0 and top:
                lines.append(
                    f"{head}    {'at' if at == 0 else 'by'} 0x{rng.randint(0x109000, 0x12FFFF):X}: {top[0]} ({top[1]})"
                )
            else:
                lines.append(frame(at + k, fn, head))
        return [
            *lines,
            f"{head}    by 0x{rng.randint(0x109000, 0x10FFFF):X}: run_case (main_test.c:{rng.randint(60, 90)})",
            f"{head}    by 0x10B2C4: main (main_test.c:141)",
        ]

    page.add(
        f"{pre} Memcheck, a memory error detector",
        f"{pre} Copyright (C) 2002-2024, and GNU GPL'd, by Julian Seward et al.",
        f"{pre} Using Valgrind-3.23.0 and LibVEX; rerun with -h for copyright info",
        f"{pre} Command: ./build/{rng.choice(w.TEAMS)}_test --all",
        f"{pre} ",
    )
    tests = w.distinct(
        rng,
        rng.randint(320, 360),
        lambda r: f"{r.choice(list(LIBS))}_{r.choice(w.DOING)}_{r.choice(w.PLAIN)}_{r.choice(w.THINGS)}",
    )
    places = w.spots(rng, len(tests), 12, apart=6)
    fail, write, free_, syscall, large, overlap, fishy, secret_at, crash, skip, jump, fd = places
    conds = sorted(rng.sample([k for k in range(20, len(tests)) if k not in places], rng.randint(13, 18)))
    tops = {
        name: fresh()
        for name in ("write", "free", "syscall", "overlap", "fishy", "crash", "jump", "big", "fd")
    }
    secret = w.alnum(rng, 18)
    expected = rng.randint(200, 900)
    shift = rng.randint(4, 31)
    size_bad = -rng.randint(16, 90)
    freed = rng.randint(3, 9) * 32
    why = f"{rng.choice(w.PLAIN)} server is down"
    records = rng.randint(91, 104)
    heavy = rng.randint(71_000_000, 96_000_000) // 8 * 8
    sizes = [*sorted(rng.randint(16, 4096) // 8 * 8 for _ in range(records - 1)), heavy]
    kinds = [w.pick(rng, {"definitely": 4, "indirectly": 3, "possibly": 1}) for _ in range(records)]
    kinds[-1] = "possibly"
    blocks = [*(rng.randint(1, 12) for _ in range(records - 1)), 1]
    still = sum(blocks)
    check = next(k for k in range(len(tests) * 6 // 10, len(tests)) if not {k, k + 1} & {*places, *conds})
    contexts = len(conds) + 7 + sum(1 for one in kinds if one != "indirectly")
    errors = contexts + rng.randint(200, 900)
    peer = f"/var/lib/bench/{w.two(rng)}.spool"
    leaks = [f"{pre} LEAK SUMMARY:"]
    for one in ("definitely", "indirectly", "possibly"):
        lost = [k for k in range(records) if kinds[k] == one]
        total, many = sum(sizes[k] for k in lost), sum(blocks[k] for k in lost)
        leaks.append(f"{pre} {one:>13} lost: {total:,} bytes in {many} blocks")
    leaks += [
        f"{pre}    still reachable: 0 bytes in 0 blocks",
        f"{pre}         suppressed: 0 bytes in 0 blocks",
    ]
    count_ok = 0
    for k, test in enumerate(tests):
        if k in conds:
            page.add(
                f"{pre} Conditional jump or move depends on uninitialised value(s)", *stack(0, 3), f"{pre} "
            )
        if k == check:
            for r in range(records):
                fn = rng.choice(("malloc", "malloc", "calloc", "realloc"))
                page.add(
                    f"{pre} {sizes[r]:,} bytes in {blocks[r]} blocks are {kinds[r]} lost in loss record {r + 1} of {records}",
                    alloc(fn),
                    *stack(1, rng.randint(3, 5), top=tops["big"] if r == records - 1 else None),
                    f"{pre} ",
                    mark="big" if r == records - 1 else "",
                )
            page.add(*leaks, f"{pre} ")
        if k == fd:
            page.add(
                f"{pre} File descriptor 7: {peer} is already closed",
                f"{pre}    at 0x4986F2B: close (close.c:27)",
                *stack(1, 2, top=tops["fd"]),
                f"{pre}  Previously closed",
                f"{pre}    at 0x4986F2B: close (close.c:27)",
                *stack(1, 2),
                f"{pre} ",
                mark="fd",
            )
        if k == write:
            page.add(f"{pre} Invalid write of size 8", *stack(0, 3, top=tops["write"]), mark="write")
            page.add(
                f"{pre}  Address 0x{rng.randint(0x4A00000, 0x4AFFFFF):x} is 16 bytes inside a block of size {freed} free'd",
                alloc("free"),
                *stack(1, 2),
                f"{pre}  Block was alloc'd at",
                alloc("malloc"),
                *stack(1, 2),
                f"{pre} ",
            )
        if k == free_:
            page.add(
                f"{pre} Invalid free() / delete / delete[] / realloc()",
                alloc("free"),
                *stack(1, 3, top=tops["free"]),
                mark="free",
            )
            page.add(
                f"{pre}  Address 0x{rng.randint(0x4B00000, 0x4BFFFFF):x} is 0 bytes inside a block of size 48 free'd",
                alloc("free"),
                *stack(1, 2),
                f"{pre} ",
            )
        if k == syscall:
            page.add(
                f"{pre} Syscall param write(buf) points to uninitialised byte(s)",
                f"{pre}    at 0x4978A37: write (write.c:26)",
                *stack(1, 2, top=tops["syscall"]),
                mark="syscall",
            )
            page.add(f"{pre}  Address 0x1ffefff{w.hexes(rng, 3)} is on thread 1's stack", f"{pre} ")
        if k == large:
            page.add(
                f"{pre} Warning: set address range perms: large range [0x59c8{w.hexes(rng, 4)}, 0x1599c{w.hexes(rng, 4)}) (undefined)",
                mark="large",
            )
        if k == overlap:
            page.add(
                f"{pre} Source and destination overlap in memcpy(0x4c3{w.hexes(rng, 4)}, 0x4c3{w.hexes(rng, 4)}, 96)",
                alloc("memcpy@@GLIBC_2.14"),
                *stack(1, 2, top=tops["overlap"]),
                f"{pre} ",
                mark="overlap",
            )
        if k == fishy:
            page.add(
                f"{pre} Argument 'size' of function malloc has a fishy (possibly negative) value: {size_bad}",
                alloc("malloc"),
                *stack(1, 2, top=tops["fishy"]),
                f"{pre} ",
                mark="fishy",
            )
        if k == secret_at:
            page.add(
                f"connect postgresql://tester:{secret}@10.8.{rng.randint(1, 90)}.{rng.randint(2, 250)}:5432/bench",
                mark="secret",
            )
        if k == jump:
            page.add(
                f"{pre} Jump to the invalid address stated on the next line",
                f"{pre}    at 0x0: ???",
                *stack(1, 2, top=tops["jump"]),
                f"{pre}  Address 0x0 is not stack'd, malloc'd or (recently) free'd",
                f"{pre} ",
                mark="jump",
            )
        if k == crash:
            other = f"=={child}=="
            page.add(
                f"{other} ",
                f"{other} Process terminating with default action of signal 11 (SIGSEGV): dumping core",
                f"{other}  Access not within mapped region at address 0x18",
                *stack(0, 3, other, tops["crash"]),
                f"{other} ",
                mark="crash",
                shift=1,
            )
        if k == fail:
            page.add(
                f"test {k + 1:4} {test} ... FAIL",
                f"    main_test.c:{rng.randint(200, 900)}: expected {expected}, got {expected + shift}",
                mark="fail",
            )
        elif k == skip:
            page.add(f"test {k + 1:4} {test} ... SKIP ({why})", mark="skip")
        else:
            count_ok += 1
            page.add(f"test {k + 1:4} {test} ... ok")
    allocs = rng.randint(210_000, 480_000)
    page.add(
        f"{pre} ",
        f"{pre} HEAP SUMMARY:",
        f"{pre}     in use at exit: {sum(sizes):,} bytes in {still:,} blocks",
        f"{pre}   total heap usage: {allocs:,} allocs, {allocs - still:,} frees, {heavy * 3 + allocs * 61:,} bytes allocated",
        f"{pre} ",
        *leaks,
        f"{pre} Rerun with --leak-check=full to see details of leaked memory",
        f"{pre} ",
        f"{pre} Use --track-origins=yes to see where uninitialised values come from",
        f"{pre} For lists of detected and suppressed errors, rerun with: -s",
        f"{pre} ERROR SUMMARY: {errors} errors from {contexts} contexts (suppressed: 0 from 0)",
    )

    def here(
        what: str,
        mark: str,
        telling: list,
        *searches: str,
        alone: tuple = (),
        names: tuple = (),
        reach: int = 4,
    ) -> None:
        line = page.at[mark]
        top = [*tops[mark]] if mark in tops else []
        wide = [*names, *top[1:], *top[:1], *range(line, line + reach)]
        page.say(what, w.pairs(telling, wide) + rare(*alone), *searches, line=line, sql=w.find(searches[0]))

    here(
        "error",
        "write",
        ["Invalid write"],
        "Invalid write",
        "Invalid",
        alone=("Invalid write", "Invalid write of size 8"),
    )
    here(
        "error",
        "free",
        ["Invalid free", "double free"],
        "Invalid free",
        "Invalid",
        alone=("Invalid free", "Invalid free()", "double free"),
    )
    here(
        "error",
        "syscall",
        ["Syscall param", "write(buf)"],
        "Syscall param",
        "write(buf)",
        alone=("Syscall param write(buf)", "Syscall param"),
    )
    here(
        "error",
        "overlap",
        ["overlap"],
        "overlap",
        "memcpy",
        alone=("overlap in memcpy", "overlap", "Source and destination overlap"),
    )
    here("error", "fishy", ["fishy", size_bad], "fishy", str(size_bad), alone=("fishy",))
    here(
        "error",
        "jump",
        ["Jump to the invalid address", "0x0", "null pointer", "invalid address"],
        "invalid address",
        "Jump to",
        alone=("Jump to the invalid address",),
    )
    here(
        "error",
        "crash",
        ["SIGSEGV", "signal 11", "segfault"],
        "SIGSEGV",
        "signal 11",
        alone=("SIGSEGV", "signal 11 (SIGSEGV)"),
        names=(child, "0x18"),
    )
    here(
        "rare value",
        "large",
        ["large range", "set address range"],
        "large range",
        "Warning",
        alone=("large range", "Warning: set address range perms", "Warning"),
        reach=1,
    )
    here(
        "failing test",
        "fail",
        ["FAIL", "failed"],
        "FAIL",
        "expected",
        alone=("FAIL",),
        names=(tests[fail], f"test {fail + 1}", f"expected {expected}"),
        reach=2,
    )
    here(
        "rare status",
        "skip",
        ["SKIP"],
        "SKIP",
        why,
        alone=("SKIP", "skipped"),
        names=(tests[skip], f"test {skip + 1}", why),
        reach=1,
    )
    told = ["postgresql://", "tester", "password", "connection string", "credential"]
    page.say(
        "secret",
        w.pairs(told, [page.at["secret"], "5432/bench"]) + rare("postgresql://"),
        "postgresql://",
        "connect",
        line=page.at["secret"],
        hidden=secret,
        sql=w.find("postgresql://"),
    )
    here(
        "outlier",
        "big",
        [heavy, f"{heavy / 1e6:.1f} MB", f"{heavy / 2**20:.1f} MiB"],
        f"{heavy:,}",
        "/\\d+,\\d{3},\\d{3} bytes in 1 blocks/",
        alone=(heavy,),
        names=(f"loss record {records}", "possibly lost", "loss record"),
    )
    here(
        "rare value",
        "fd",
        ["already closed", "File descriptor", "closed twice", "double close"],
        "already closed",
        "File descriptor",
        alone=("already closed", "File descriptor 7"),
        names=(peer,),
    )
    page.say(
        "total",
        w.pairs([errors], [contexts, "errors", "ERROR SUMMARY"]),
        "ERROR SUMMARY",
        sql=w.find("ERROR SUMMARY"),
    )
    page.tally(
        len(conds),
        [
            "Conditional jump",
            "Conditional jump or move depends on uninitialised value(s)",
            "uninitialised value",
        ],
        "Conditional jump",
        sql=w.how_many("Conditional jump", "Conditional jump"),
    )
    page.tally(
        count_ok,
        ["ok", "... ok", "passed", "tests ok", "pass"],
        "... ok",
        sql=w.how_many("ok", "/ [.][.][.] ok$/"),
    )
    return page.done()
