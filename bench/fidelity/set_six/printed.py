"""What programs print and a configuration."""

# ruff: noqa: SIM905

import random

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

TRAPS = (
    "snmp authentication|snmp linkdown|snmp linkup|snmp coldstart|transceiver all|call-home|tty|license|auth-framework|"
    "cluster|config-copy|config|config-ctid|dot1x|energywise|fru-ctrl|entity|event-manager|ike policy|power-ethernet|"
    "cpu threshold|rep|vstack|bridge newroot|stpx inconsistency|syslog|vtp|vlancreate|vlandelete|flash insertion|"
    "port-security|envmon fan|envmon shutdown|envmon supply|stackwise|bfd|bgp|hsrp|ipmulticast|isis|msdp|ospf state-change|"
    "ospf errors|ospf lsa|pim|rf|memory bufferpeak|errdisable|vlan-membership|mac-notification"
).split("|")


def _port(rng: random.Random, name: str, label: str, vlan: int) -> list[str]:
    """An ordinary access port."""
    return [
        f"interface {name}",
        f" description ACCESS {label}",
        f" switchport access vlan {vlan}",
        " switchport mode access",
        " switchport voice vlan 300",
        f" switchport port-security maximum {rng.choice((2, 3))}",
        " switchport port-security",
        " ip arp inspection limit rate 100",
        " spanning-tree portfast",
        " spanning-tree bpduguard enable",
    ]


@kind("cisco_config", "printed")
def cisco_config(rng: random.Random) -> Parts:  # noqa: C901
    """`show running-config` of a stack of switches."""
    page, base = Page(), rng.randint(40, 59)
    vlans = sorted(rng.sample(range(101, 199), 26))
    labels = w.distinct(
        rng, 240, lambda r: f"{r.choice('ABCD')}{r.randint(0, 5)}-{r.randint(1, 60):02d}-{r.randint(1, 8)}"
    )
    page.add("Building configuration...", "", "Current configuration : @SIZE@ bytes", "!")
    page.add(
        f"! Last configuration change at 10:41:07 CEST Tue May 6 2025 by {w.login(w.people(rng, 1)[0])}", "!"
    )
    page.add(
        "version 15.2",
        "no service pad",
        "service timestamps debug datetime msec localtime",
        "service password-encryption",
    )
    page.add(
        "!", "hostname SW-CORE-B2", "!", "boot-start-marker", "boot-end-marker", "!", "aaa new-model", "!"
    )
    page.add(
        "aaa authentication login default group tacacs+ local",
        "aaa session-id common",
        "clock timezone CET 1 0",
    )
    page.add(
        *(f"switch {k} provision ws-c2960x-48fps-l" for k in range(1, 6)),
        "ip routing",
        "!",
        "spanning-tree mode rapid-pvst",
        "!",
    )
    for vlan in (*vlans, 300):
        page.add(f"vlan {vlan}", f" name {rng.choice(w.TEAMS).upper()}-{vlan}", "!")
    spots = w.spots(rng, 240, 8, apart=5)
    while spots[4] % 48 in (0, 47):
        spots = w.spots(rng, 240, 8, apart=5)
    stray, half, rogue, twin, gone, filt, trunk, many = spots
    names = [f"GigabitEthernet{k // 48 + 1}/0/{k % 48 + 1}" for k in range(240)]
    labels[twin] = labels[twin - 3]
    most, closed, total = rng.choice((128, 512, 1024)), 0, 0
    for k, name in enumerate(names):
        if k == gone:
            continue
        lines = _port(rng, name, labels[k], rng.choice(vlans))
        mark, shift = "", 0
        if k == stray:
            lines[2], mark, shift = " switchport access vlan 913", "stray", 2
        elif k == half:
            lines[8:8] = [" speed 10", " duplex half"]
            mark, shift = "half", 9
        elif k == rogue:
            lines[1] = " description ERRDISABLED rogue DHCP server found - do not enable"
            mark, shift = "rogue", 1
        elif k == filt:
            lines[-1:] = [" spanning-tree bpdufilter enable"]
            mark, shift = "filt", 9
        elif k == trunk:
            lines[3], mark, shift = " switchport mode trunk", "trunk", 3
        elif k == many:
            lines[5], mark, shift = f" switchport port-security maximum {most}", "many", 5
        elif k == twin:
            mark, shift = "twin", 1
        elif k == gone + 1:
            mark = "after"
        elif rng.random() < 0.09 and k != twin - 3:
            lines.append(" shutdown")
            closed += 1
        page.add(*lines, "!", mark=mark, shift=shift)
        total += 1
    for k in range(1, 6):
        page.add(
            f"interface TenGigabitEthernet{k}/0/1",
            f" description UPLINK core {k}",
            " switchport mode trunk",
            " ip dhcp snooping trust",
            "!",
        )
        total += 1
    plain, helper = rng.sample(vlans[3:-3], 2)
    secret, other = w.alnum(rng, 8), f"10.{base}.199.{rng.randint(20, 90)}"
    for vlan in vlans:
        net = f"10.{base}.{vlan}"
        first = other if vlan == helper else "10.1.1.5"
        page.add(f"interface Vlan{vlan}", f" ip address {net}.2 255.255.255.0")
        page.add(f" ip helper-address {first}", mark="helper" if vlan == helper else "")
        page.add(
            " ip helper-address 10.1.1.6",
            " ip access-group USERS-IN in",
            " standby version 2",
            f" standby {vlan} ip {net}.1",
            f" standby {vlan} preempt",
        )
        if vlan == plain:
            page.add(f" standby {vlan} authentication text {secret}", mark="plain")
        else:
            page.add(f" standby {vlan} authentication md5 key-string 7 {w.hexes(rng, 16).upper()}")
        page.add("!")
        total += 1
    page.add("ip forward-protocol nd", "no ip http server", "!")
    nets = rng.sample(range(2, 250), 130)
    null = nets[rng.randint(30, 100)]
    for net in nets:
        if net == null:
            page.add(f"ip route 172.20.{net}.0 255.255.255.0 Null0", mark="null")
        else:
            page.add(f"ip route 172.20.{net}.0 255.255.255.0 10.{base}.255.{rng.choice((2, 3))}")
    page.add("!", "ip access-list extended USERS-IN")
    wide, temp = w.spots(rng, 230, 2, apart=20, low=0.2, high=0.8)
    for k in range(230):
        one, two = (f"10.{base}.{rng.choice(vlans)}.0 0.0.0.255" for _ in range(2))
        if k == wide:
            page.add(" permit ip any any", mark="wide")
        elif k == temp:
            page.add(" remark TEMP access for vendor until 2019-03-31, remove afterwards", mark="temp")
        elif rng.random() < 0.4:
            page.add(f" deny   ip {one} {two}")
        else:
            port = rng.choice(("443", "5061", "3389", "445", "636", "8443", "9100"))
            page.add(f" permit tcp {one} host 10.1.{rng.randint(2, 9)}.{rng.randint(10, 250)} eq {port}")
    page.add(" deny   ip any any log", "!")
    page.add("snmp-server group NETMON v3 priv")
    spot = rng.randint(3, 12)
    for k, trap in enumerate(TRAPS):
        if k == spot:
            page.add("snmp-server community public RW", mark="snmp")
        page.add(f"snmp-server enable traps {trap}")
    page.add("!", "banner motd ^C", *w.wrap(w.paragraph(rng, 26, 30), 76), "^C", "!")
    for thing in rng.sample(w.THINGS, 12):
        page.add(
            f"event manager applet {thing.upper()}-LOG", f' event syslog pattern "{thing.upper()}-5-CHANGE"'
        )
        page.add(f' action 1.0 syslog msg "{w.sentence(rng)}"', "!")
    page.add("tacacs server T1", " address ipv4 10.1.1.21", f" key 7 {w.hexes(rng, 26).upper()}", "!")
    page.add(
        "line con 0",
        " stopbits 1",
        "line vty 0 15",
        " exec-timeout 10 0",
        " transport input ssh",
        "!",
        "ntp server 10.1.1.9",
        "!",
        "end",
    )
    page.lines[2] = page.lines[2].replace("@SIZE@", str(sum(len(line) + 1 for line in page.lines)))

    def place(k: int) -> list[str]:
        return [names[k], names[k].replace("gabitEthernet", ""), labels[k], f"t{k // 48 + 1}/0/{k % 48 + 1}"]

    page.here("contradiction", "stray", ["913"], ["vlan", *place(stray)], "vlan 913", "913")
    page.here(
        "rare value",
        "half",
        ["duplex half", "speed 10", "half"],
        [*place(half), "speed 10", "duplex"],
        "duplex",
        "half",
        "speed",
    )
    page.here(
        "error",
        "rogue",
        ["rogue", "ERRDISABLED"],
        [*place(rogue)[:2], "DHCP", "do not enable"],
        "rogue",
        "ERRDISABLED",
        "do not",
    )
    label = labels[twin]
    asked = "SELECT text, count(*) AS duplicates FROM lines WHERE text LIKE ' description ACC%' GROUP BY 1 HAVING count(*) > 1"
    short = [f"{name.split('Ethernet')[1]}" for name in (names[twin - 3], names[twin])]
    page.say(
        "duplicate",
        (*w.same(label, *short),),
        label,
        f"ACCESS {label}",
        line=page.at["twin"],
        sql=asked,
        derived=True,
    )
    lost = [names[gone], names[gone].split("Ethernet")[1]]
    evidence = (
        *w.gap(lost, names[gone - 1], names[gone + 1]),
        *w.gap([], *(names[gone + d].split("Ethernet")[1] for d in (-1, 1))),
    )
    asked = (
        "SELECT a, b, 'gap' AS note FROM (SELECT text AS b, lag(text) OVER (ORDER BY n) AS a FROM lines "
        "WHERE text LIKE 'interface Gi%') WHERE number(substr(b, 30)) - number(substr(a, 30)) > 1"
    )
    page.say(
        "gap", evidence, names[gone - 1], f"/{lost[1]}$/", line=page.at["after"], sql=asked, derived=True
    )
    page.here("rare value", "filt", ["bpdufilter"], [*place(filt), "enable"], "bpdufilter")
    page.here("rare value", "trunk", ["mode trunk", "trunk"], place(trunk), "mode trunk", "trunk")
    told = [f"maximum {most}", most]
    page.here("outlier", "many", told, [*place(many), "port-security"], f"maximum {most}", "/maximum \\d{3}/")
    page.here(
        "error", "wide", ["permit ip any any"], ["USERS-IN", "permit ip any any"], "permit ip any", "any any"
    )
    page.here(
        "rare value",
        "temp",
        ["2019-03-31", "TEMP access", "vendor until"],
        ["remark", "vendor", "TEMP", "2019"],
        "remark",
        "TEMP",
        "vendor",
    )
    page.here("error", "snmp", ["community public", "community"], ["RW", "public"], "community", "RW")
    told = ["authentication text", f"standby {plain} authentication"]
    asked = "SELECT n, 'authentication text' AS word FROM lines WHERE text LIKE '%authentication text%'"
    names_ = [
        f"Vlan{plain}",
        f"standby {plain}",
        "HSRP",
        "plain",
        "clear text",
        "cleartext",
        "unencrypted",
    ]
    page.here(
        "secret",
        "plain",
        told,
        names_,
        "authentication text",
        "/authentication (?!md5)/",
        hidden=secret,
        sql=(asked,),
    )
    page.here("rare value", "null", ["Null0"], [f"172.20.{null}", "ip route"], "Null0")
    page.here("outlier", "helper", [other], ["helper", f"Vlan{helper}"], other, "helper-address")
    page.tally(
        total,
        ["interfaces", "interface", "ports"],
        "/^interface /",
        sql=w.how_many("interfaces", "/^interface /"),
    )
    page.tally(
        closed,
        ["shutdown", "shut down", "disabled"],
        "/^ shutdown/",
        sql=w.how_many("shutdown", "/^ shutdown/"),
    )
    return page.done()


class Grind:
    """Frames and blocks of one run of Memcheck."""

    def __init__(self, rng: random.Random, pid: int) -> None:
        self.rng, self.head = rng, f"=={pid}=="
        self.names = w.distinct(
            rng, 130, lambda r: f"{r.choice(w.TEAMS)}_{r.choice(w.DOING)}_{r.choice(w.THINGS)}"
        )
        self.where = {name: f"{rng.choice(w.TEAMS)}_{rng.choice(w.THINGS)}.c" for name in self.names}
        self.at = {name: rng.randint(0x10A000, 0x17F000) for name in self.names}

    def frame(self, name: str, first: bool = False, line: int = 0) -> str:
        number = line or self.rng.randint(20, 990)
        word = "   at" if first else "   by"
        return f"{self.head} {word} 0x{self.at[name] + number:X}: {name} ({self.where[name]}:{number})"

    def stack(self, top: str = "", allot: str = "", line: int = 0) -> list[str]:
        names = self.rng.sample(self.names, self.rng.randint(2, 5))
        lines = []
        if allot:
            lines.append(f"{self.head}    at 0x48{self.rng.randint(0x3F000, 0x4F000):X}: {allot}")
        if top:
            lines.append(self.frame(top, not lines, line))
        lines += [self.frame(name, not lines and not k) for k, name in enumerate(names)]
        lines.append(
            f"{self.head}    by 0x10{self.rng.randint(0x9100, 0x9F00):X}: run_suite (harness.c:{self.rng.choice((88, 97))})"
        )
        return [*lines, f"{self.head}    by 0x1092C4: main (main.c:41)"]

    def heap(self) -> list[str]:
        return self.stack(allot=self.rng.choice(MALLOCS))

    def block(self, text: str, *more: str, top: str = "", allot: str = "", line: int = 0) -> list[str]:
        head = f"{self.head} {text}"
        return [head, *self.stack(top, allot, line), *(f"{self.head} {one}" for one in more)]


MALLOCS = (
    "malloc (vg_replace_malloc.c:381)",
    "calloc (vg_replace_malloc.c:1328)",
    "realloc (vg_replace_malloc.c:1437)",
)
USUAL = {
    "Conditional jump or move depends on uninitialised value(s)": 58,
    "Use of uninitialised value of size 8": 24,
    "Invalid read of size 4": 18,
}


def _ordinary(rng: random.Random, g: Grind, text: str) -> list[str]:
    """One of the usual errors with its origin."""
    if text.startswith("Invalid"):
        size = rng.choice((16, 24, 40, 72, 136))
        return [
            *g.block(text, f" Address 0x4a{w.hexes(rng, 5)} is 0 bytes after a block of size {size} alloc'd"),
            *g.heap(),
            g.head + " ",
        ]
    return [*g.block(text, " Uninitialised value was created by a heap allocation"), *g.heap(), g.head + " "]


def _block(g: Grind, text: str) -> list[str]:
    """Where the block of an error came from."""
    if text.endswith("free'd"):
        return [
            *g.stack(allot="free (vg_replace_malloc.c:872)"),
            f"{g.head}  Block was alloc'd at",
            *g.heap(),
        ]
    return g.heap()


@kind("valgrind_memcheck", "printed")
def valgrind_memcheck(rng: random.Random) -> Parts:  # noqa: C901
    """Valgrind's Memcheck around a program whose tests print TAP."""
    page, pid = Page(), rng.randint(21_000, 58_000)
    g, child, size = Grind(rng, pid), pid + rng.randint(40, 90), rng.randint(225, 250)
    page.add(f"{g.head} Memcheck, a memory error detector")
    page.add(f"{g.head} Copyright (C) 2002-2022, and GNU GPL'd, by Julian Seward et al.")
    page.add(f"{g.head} Using Valgrind-3.19.0 and LibVEX; rerun with -h for copyright info")
    page.add(f"{g.head} Command: ./build/tests/run_all --all", f"{g.head} ", f"1..{size}")
    spots = w.spots(rng, size, 12, apart=5)
    write, free, match, call, lap, kill, fishy, handle, bad, gone, leak, slow = spots
    secret, took, jumps, contexts = w.alnum(rng, 32), rng.randint(31_000, 68_000), 0, 0
    names = [f"{rng.choice(w.DOING)} {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}" for _ in range(size)]
    tops = dict(zip(spots, rng.sample(g.names, 12), strict=True))
    at = {k: rng.randint(100, 990) for k in spots}
    buf = f"0x4a{w.hexes(rng, 5)}"
    odd = {
        write: (
            "Invalid write of size 8",
            f" Address {buf} is 16 bytes inside a block of size 64 free'd",
            "",
        ),
        free: (
            "Invalid free() / delete / delete[] / realloc()",
            f" Address {buf}0 is 0 bytes inside a block of size 48 free'd",
            "free (vg_replace_malloc.c:872)",
        ),
        match: (
            "Mismatched free() / delete / delete []",
            f" Address {buf}8 is 0 bytes inside a block of size 32 alloc'd",
            "operator delete(void*) (vg_replace_malloc.c:923)",
        ),
        call: (
            "Syscall param sendmsg(msg.msg_iov[0]) points to uninitialised byte(s)",
            f" Address {buf}4 is 12 bytes inside a block of size 512 alloc'd",
            "sendmsg (sendmsg.c:28)",
        ),
        lap: (
            f"Source and destination overlap in memcpy({buf}2, {buf}6, 96)",
            "",
            "memcpy@GLIBC_2.2.5 (vg_replace_strmem.c:1043)",
        ),
        fishy: (
            "Argument 'size' of function malloc has a fishy (possibly negative) value: -48",
            "",
            "malloc (vg_replace_malloc.c:381)",
        ),
    }
    for k in range(size):
        if k in odd:
            text, more, allot = odd[k]
            page.add(
                *g.block(text, *filter(None, [more]), top=tops[k], allot=allot, line=at[k]), mark=f"odd{k}"
            )
            page.add(*(_block(g, more) if more else []), g.head + " ")
            contexts += 1
        elif k == handle:
            page.add(f"{g.head} Warning: invalid file descriptor -1 in syscall close()", mark="handle")
            page.add(*g.stack(top=tops[k], allot="close (close.c:27)", line=at[k]))
        elif k == kill:
            other, g.head = g.head, f"=={child}=="
            page.add(
                f"{g.head} ",
                *g.block(
                    "Process terminating with default action of signal 11 (SIGSEGV)",
                    " Access not within mapped region at address 0x0",
                )[:1],
                mark="kill",
                shift=1,
            )
            page.add(
                f"{g.head}  Access not within mapped region at address 0x0", *g.stack(top=tops[k], line=at[k])
            )
            page.add(*(f"{g.head} {one}" for one in STACKED), *(f"{g.head} {one}" for one in _ended(rng)))
            g.head = other
        elif rng.random() < 0.34 and k not in (bad, gone, leak, slow):
            text = w.pick(rng, USUAL)
            jumps += text.startswith("Cond")
            contexts += 1
            page.add(*_ordinary(rng, g, text))
        if k == leak:
            page.add(f"# connect with bearer_token={secret}", mark="leak")
        elif rng.random() < 0.1:
            page.add(f"# seed {rng.randint(10_000, 99_999)}")
        if k != gone:
            time = took if k == slow else rng.randint(2, 640)
            word = "not ok" if k == bad else "ok"
            mark = {bad: "bad", gone + 1: "gone", slow: "slow"}.get(k, "")
            page.add(f"{word} {k + 1} - {names[k]} # time={time}ms", mark=mark)
        if k == bad:
            page.add(f"#   at {rng.choice(w.TEAMS)}_test.c:{rng.randint(40, 400)}: expected 0, got -22")
    page.add(f"{g.head} ", f"{g.head} HEAP SUMMARY:")
    records = rng.randint(104, 116)
    real = rng.randint(int(records * 0.35), int(records * 0.6))
    sizes, blocks = (
        sorted(rng.randint(16, 90_000) for _ in range(records)),
        [rng.randint(1, 40) for _ in range(records)],
    )
    sums = {"possibly lost": [0, 0], "still reachable": [0, 0]}
    kinds = [w.pick(rng, {"still reachable": 80, "possibly lost": 20}) for _ in range(records)]
    for k in range(records):
        if k != real:
            sums[kinds[k]][0] += sizes[k]
            sums[kinds[k]][1] += blocks[k]
    straight, blocks[real] = rng.randint(90, 400), rng.randint(6, 30)
    all_bytes, all_blocks = sum(sizes), sum(blocks)
    allocs = rng.randint(900_000, 990_000)
    page.add(f"{g.head}     in use at exit: {all_bytes:,} bytes in {all_blocks:,} blocks")
    page.add(
        f"{g.head}   total heap usage: {allocs:,} allocs, {allocs - all_blocks:,} frees, {allocs * 91:,} bytes allocated",
        f"{g.head} ",
    )
    owner = rng.choice(g.names)
    for k in range(records):
        tail = f"in loss record {k + 1} of {records}"
        if k == real:
            indirect = sizes[k] - straight
            text = f"{sizes[k]:,} ({straight:,} direct, {indirect:,} indirect) bytes in {blocks[k]} blocks"
            text += f" are definitely lost {tail}"
            page.add(*g.block(text, top=owner, allot=MALLOCS[0]), g.head + " ", mark="real")
        else:
            page.add(
                *g.block(
                    f"{sizes[k]:,} bytes in {blocks[k]} blocks are {kinds[k]} {tail}",
                    allot=rng.choice(MALLOCS),
                ),
                g.head + " ",
            )
    contexts += 1 + (lost := kinds.count("possibly lost") - (kinds[real] == "possibly lost"))
    errors = contexts - 1 - lost + rng.randint(300, 900) + 1 + lost
    page.add(f"{g.head} LEAK SUMMARY:")
    rows = {
        "definitely lost": (straight, 1),
        "indirectly lost": (sizes[real] - straight, blocks[real] - 1),
        **sums,
        "suppressed": (0, 0),
    }
    page.add(
        *(f"{g.head} {name:>18}: {one:,} bytes in {two:,} blocks" for name, (one, two) in rows.items()),
        g.head + " ",
    )
    page.add(f"{g.head} For lists of detected and suppressed errors, rerun with: -s")
    page.add(f"{g.head} ERROR SUMMARY: {errors} errors from {contexts} contexts (suppressed: 0 from 0)")

    def odd_one(k: int, telling: list, *searches: str) -> None:
        names = [tops[k], f"{g.where[tops[k]]}:{at[k]}", odd[k][0]]
        page.here("error", f"odd{k}", telling, [one for one in names if one not in telling], *searches)

    odd_one(write, ["Invalid write"], "Invalid write", "write of size")
    odd_one(free, ["Invalid free"], "Invalid free", "/Invalid (?!read)/")
    odd_one(match, ["Mismatched free", "Mismatched"], "Mismatched")
    odd_one(call, ["Syscall param", "sendmsg"], "Syscall param", "Syscall", "sendmsg")
    odd_one(lap, ["overlap in memcpy", "overlap"], "overlap", "memcpy")
    odd_one(fishy, ["fishy", "possibly negative"], "fishy", "negative")
    far = [
        tops[kill],
        f"{g.where[tops[kill]]}:{at[kill]}",
        child,
        "signal 11",
        "Process terminating",
        "address 0x0",
    ]
    page.here("error", "kill", ["SIGSEGV", "signal 11"], far, "SIGSEGV", "terminating", "signal")
    page.here(
        "error",
        "handle",
        ["invalid file descriptor", "file descriptor -1"],
        [tops[handle], "close()", "Warning", "syscall"],
        "Warning",
        "descriptor",
    )
    told = [f"not ok {bad + 1}", "not ok", "failed", "fails", "failing", "failure"]
    page.here(
        "failing test",
        "bad",
        told,
        [f"{bad + 1} - {names[bad]}", names[bad], f"not ok {bad + 1}"],
        "not ok",
        "/^not ok/",
    )
    a, b = f"ok {gone} ", f"ok {gone + 2} "
    asked = (
        "SELECT a, b, 'gap' AS note FROM (SELECT k AS b, lag(k) OVER (ORDER BY n) AS a FROM (SELECT n, CAST(substr(t, 4, "
        "instr(substr(t, 4), ' ')) AS INTEGER) AS k FROM (SELECT n, replace(text, 'not ', '') AS t FROM lines "
        "WHERE text REGEXP '^(not )?ok '))) WHERE b - a > 1"
    )
    evidence = tuple((str(gone + 1), word) for word in w.LEAP[:8]) + tuple(
        (a, b, word) for word in w.LEAP[:8]
    )
    evidence += tuple(
        (f"{gone}{sep}{gone + 2}",) for sep in ("→", " → ", "..", " to ", "|", " and ", "–", " then ")
    )
    evidence += tuple(
        (f"{name} {gone + 1}", word)
        for name in ("test", "number", "no.")
        for word in ("not run", "no result")
    )
    page.say(
        "gap", evidence, f"ok {gone} -", f"ok {gone + 2} -", line=page.at["gone"], sql=asked, derived=True
    )
    asked = ("SELECT n, 'bearer_token' AS word FROM lines WHERE text LIKE '%bearer_token%'",)
    page.here(
        "secret",
        "leak",
        ["bearer_token", "bearer"],
        ["connect", "token", "secret"],
        "token",
        "bearer",
        hidden=secret,
        sql=asked,
    )
    page.here(
        "outlier",
        "slow",
        [f"{took}", f"{took / 1000:.1f} s", f"{took / 1000:.1f}s"],
        ["time", names[slow], f"ok {slow + 1}", "ms"],
        "/time=\\d{5}/",
        "time=",
    )
    told = ["definitely lost"]
    more = [
        owner,
        f"loss record {real + 1}",
        sizes[real],
        f"{straight} bytes",
        f"{straight} direct",
        f"record {real + 1} of",
    ]
    page.here("rare value", "real", told, more, "definitely lost", "definitely")
    names = [
        "Conditional jump",
        "Conditional jump or move",
        "depends on uninitialised",
        "Conditional jump or move depends on uninitialised value(s)",
    ]
    page.tally(jumps, names, "Conditional jump", sql=w.how_many("Conditional jump", "Conditional jump"))
    evidence = (
        (f"{errors} errors",),
        ("ERROR SUMMARY", str(errors)),
        (str(errors), f"{contexts} contexts"),
        (str(errors), "errors from"),
    )
    page.say(
        "total", evidence, "ERROR SUMMARY", "contexts", line=len(page.lines), sql=w.find("ERROR SUMMARY")
    )
    return page.done()


STACKED = (
    " If you believe this happened as a result of a stack",
    " overflow in your program's main thread (unlikely but",
    " possible), you can try to increase the size of the",
    " main thread stack using the --main-stacksize= flag.",
    " The main thread stack size used in this run was 8388608.",
    "",
)


def _ended(rng: random.Random) -> list[str]:
    """The summary of a short child process."""
    size, count = rng.randint(900, 4000), rng.randint(5, 40)
    return [
        "HEAP SUMMARY:",
        f"    in use at exit: {size:,} bytes in {count} blocks",
        f"  total heap usage: {count * 9} allocs, {count * 8} frees, {size * 11:,} bytes allocated",
        "",
        "LEAK SUMMARY:",
        "   definitely lost: 0 bytes in 0 blocks",
        "   indirectly lost: 0 bytes in 0 blocks",
        "     possibly lost: 0 bytes in 0 blocks",
        f"   still reachable: {size:,} bytes in {count} blocks",
        "        suppressed: 0 bytes in 0 blocks",
        "",
        "For lists of detected and suppressed errors, rerun with: -s",
        "ERROR SUMMARY: 0 errors from 0 contexts (suppressed: 0 from 0)",
    ]
