"""A document and source code."""

# ruff: noqa: S608, SIM905

import random
from datetime import date, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind


def _entry(rng: random.Random, sort: str, issue: int) -> str:
    """One line of a changelog."""
    thing, other, plain, doing = (
        rng.choice(w.THINGS),
        rng.choice(w.THINGS),
        rng.choice(w.PLAIN),
        rng.choice(w.DOING),
    )
    call = f"`{rng.choice(w.TEAMS)}.{doing}_{thing}()`"
    text = {
        "Added": (
            f"{call} to {doing} a {plain} {thing}",
            f"Option `--{plain}-{thing}` for the {other} command",
            f"Support for {plain} {other}s in {call}",
        ),
        "Changed": (
            f"{call} now returns the {plain} {other}",
            f"The {thing} is shown before the {plain} {other}",
            f"Faster {plain} {thing} for each {other}",
        ),
        "Fixed": (
            f"{call} ignored the {plain} {other}",
            f"Wrong {thing} for a {plain} {other}",
            f"Typo in the help of `--{plain}-{thing}`",
            f"The {plain} {thing} was shown beside the {other}",
        ),
    }[sort]
    return f"- {rng.choice(text)} (#{issue})."


@kind("changelog_md", "printed")
def changelog_md(rng: random.Random) -> Parts:  # noqa: C901
    """A CHANGELOG.md as of "Keep a Changelog", the newest release first, with its links at the end."""
    day, version, found = date(2018, rng.randint(1, 9), rng.randint(2, 26)), (0, 9, 0), []
    for _ in range(162):
        found.append((version, day))
        day += timedelta(days=rng.randint(3, 24))
        a, b, c = version
        version = (a, b, c + 1) if rng.random() < 0.5 else (a, b + 1, 0)
        if len(found) in (14, 70, 120):
            version = (a + 1, 0, 0)
    found.reverse()
    lone = [
        k
        for k in range(12, 150)
        if found[k][0][2] == found[k - 1][0][2] == 0
        and found[k][0][1] > 1
        and found[k - 1][0][0] == found[k][0][0]
    ]
    lost = rng.choice(lone)
    spots = w.spots(rng, len(found), 13, apart=5)
    while any(abs(k - lost) < 3 for k in spots) or spots[4] > 105:
        spots = w.spots(rng, len(found), 13, apart=5)
    breaks, cve, yanked, twin, order, still, removed, law, loss, leak, warn, link, wrong = spots
    shift = timedelta(days=rng.randint(380, 520))
    found = [(v, d + shift if k <= still else d) for k, (v, d) in enumerate(found)]
    title = f"{rng.choice(w.PLAIN)}{rng.choice(w.THINGS)}"
    names = [".".join(map(str, v)) for v, _ in found]
    dates = [f"{d:%Y-%m-%d}" for _, d in found]
    dates[order] = f"{found[order][1] - timedelta(days=rng.randint(150, 260)):%Y-%m-%d}"
    dates[wrong] = f"{dates[wrong][:8]}3{rng.randint(3, 9)}"
    page, issue = Page(), 9000
    page.add("# Changelog", "", "All notable changes to this project will be documented in this file.", "")
    page.add(
        "The format is based on [Keep a Changelog](https://keepachangelog.com/en/1.1.0/),",
        "and this project adheres to [Semantic Versioning](https://semver.org/spec/v2.0.0.html).",
        "",
    )
    secret, number = w.alnum(rng, 40), f"CVE-20{rng.randint(21, 24)}-{rng.randint(21_000, 49_999)}"
    special = {
        breaks: (
            "Changed",
            f"- **BREAKING:** `{title}.connect()` refuses plain connections; TLS is required.",
        ),
        law: ("Changed", "- The license changes from MIT to BUSL-1.1."),
        loss: (
            "Fixed",
            "- Revert the lazy compaction: it could drop committed writes (data loss) after a crash.",
        ),
        leak: (
            "Added",
            f"- Example of the API: `curl -H 'Authorization: Bearer {secret}' https://api.{title}.example/v1`.",
        ),
        cve: ("Security", f"- {number}: a crafted archive could write outside of its folder."),
        removed: ("Removed", "- Support for PostgreSQL 11 and Python 3.7."),
    }
    releases = 0
    for k, (name, at) in enumerate(zip(names, dates, strict=True)):
        if k == lost:
            continue
        for again in range(2 if k == twin else 1):
            mark = {
                yanked: "yanked",
                order: "order",
                still: "still",
                wrong: "wrong",
                twin: "twin",
                lost - 1: "lost",
            }.get(k, "")
            shown = f"{found[k][1] - timedelta(days=1):%Y-%m-%d}" if again else at
            page.add(
                f"## [{name}] - {shown}{' [YANKED]' if k == yanked else ''}", "", mark="" if again else mark
            )
            releases += 1
            if k == warn:
                text = "> **Warning:** the migration rewrites every index and can take hours; make a backup first."
                page.add(text, "", mark="warn")
            sort, told = special.get(k, ("", ""))
            heads = [one for one in ("Added", "Changed", "Fixed") if rng.random() < 0.7 or one == sort] or [
                "Fixed"
            ]
            for head in [*heads, *([sort] if sort in ("Removed", "Security") else [])]:
                lines = []
                for _ in range(rng.randint(1, 5) if head in ("Added", "Changed", "Fixed") else 0):
                    issue -= rng.randint(1, 9)
                    lines.append(_entry(rng, head, issue))
                page.add(f"### {head}", "")
                spot = rng.randint(0, len(lines))
                page.add(*lines[:spot])
                if head == sort:
                    page.add(told, mark=f"told{k}")
                page.add(*lines[spot:], "")
    link = 40 + link % 60 + (40 + link % 60 == lost)
    home = f"https://github.com/brightwater/{title}"
    for k, name in enumerate(names):
        before = names[k + 1] if k + 1 < len(names) else ""
        if k in (lost, lost - 1):
            before = names[lost + 1]
        if k == lost:
            continue
        if k == link:
            page.add(
                f"[{name}]: https://gitlab.example.net/old-mirror/{title}/-/compare/v{before}...v{name}",
                mark="link",
            )
        else:
            page.add(
                f"[{name}]: {home}/compare/v{before}...v{name}"
                if before
                else f"[{name}]: {home}/releases/tag/v{name}"
            )
    page.here("change", f"told{breaks}", ["BREAKING"], ["TLS", "connect()", names[breaks]], "BREAKING", "TLS")
    page.here(
        "change",
        f"told{cve}",
        [number],
        [names[cve], "crafted archive", "Security", dates[cve]],
        "CVE",
        "Security",
    )
    page.here("rare status", "yanked", ["YANKED"], [names[yanked], dates[yanked]], "YANKED")
    b, a = names[lost - 1], names[lost + 1]
    minor = names[lost][:-2]
    evidence = (
        *w.gap([names[lost]], a, b),
        *w.pairs([f"{minor}.x", f" {minor} ", f"v{minor}", f" {minor},"], w.LEAP[:8]),
    )
    asked = (
        "SELECT a AS newer, b AS older, 'gap' AS note FROM (SELECT text AS b, lag(text) OVER (ORDER BY n) AS a FROM lines "
        f"WHERE text LIKE '## [%') WHERE b LIKE '## [{a}]%'"
    )
    page.say("gap", evidence, f"[{a}]", minor, line=page.at["lost"], sql=asked, derived=True)
    name, other = names[twin], f"{found[twin][1] - timedelta(days=1):%Y-%m-%d}"
    asked = (
        "SELECT substr(text, 1, instr(text, ']')) AS version, count(*) AS duplicates FROM lines "
        "WHERE text LIKE '## [%' GROUP BY 1 HAVING count(*) > 1"
    )
    evidence = (*w.same(name), *w.same(f"[{name}]"), (name, dates[twin], other))
    page.say("duplicate", evidence, f"[{name}] -", "## [", line=page.at["twin"], sql=asked, derived=True)
    told = ["order", "earlier", "before", "later", "back", "older", "jump", names[order]]
    page.here("time jump", "order", [dates[order]], told, dates[order], f"[{names[order]}]")
    a, b = found[still + 1][1], found[still][1]
    length = (b - a).days
    words = (
        "gap",
        "silence",
        "pause",
        "without a release",
        "no release",
        "longest",
        "jump",
        "between",
        "break",
    )
    spelled = [
        f"{length} d",
        f"{length} days",
        f"{length}d",
        f"{length // 30} months",
        f"{length / 30.44:.1f} months",
        f"{length / 30.44:.0f} months",
    ]
    evidence = ((str(a), str(b)), (f"{a:%Y-%m}", f"{b:%Y-%m}", "gap"), (f"{a:%Y-%m}", f"{b:%Y-%m}", "→"))
    evidence += (*w.pairs(spelled, words), *w.pairs([str(a), str(b), names[still]], words[:7]))
    asked = (
        "SELECT substr(a, -10) AS later, substr(b, -10) AS earlier, 'gap' AS note FROM "
        "(SELECT text AS b, lag(text) OVER (ORDER BY n) AS a FROM lines "
        "WHERE text REGEXP '^## .*\\d$') ORDER BY julianday(substr(a, -10)) - julianday(substr(b, -10)) DESC LIMIT 3"
    )
    page.say("gap", evidence, f"{a:%Y-%m-}", str(b), line=page.at["still"], sql=asked, derived=True)
    page.here(
        "change",
        f"told{removed}",
        ["PostgreSQL 11", "Python 3.7"],
        ["Removed", "Support for", names[removed]],
        "PostgreSQL",
        "Removed",
    )
    page.here(
        "change", f"told{law}", ["BUSL", "license changes"], ["MIT", "license", names[law]], "license", "BUSL"
    )
    page.here(
        "change",
        f"told{loss}",
        ["data loss", "committed writes"],
        ["Revert", "compaction", names[loss]],
        "data loss",
        "Revert",
    )
    asked = (
        "SELECT n, 'Authorization: Bearer' AS word, substr(text, 1, 24) AS what FROM lines WHERE text LIKE '%Bearer %'",
    )
    page.here(
        "secret",
        f"told{leak}",
        ["Bearer", "Authorization"],
        ["curl", "Example of the API", "token", "secret", names[leak]],
        "Bearer",
        "Authorization",
        hidden=secret,
        sql=asked,
    )
    page.here(
        "change",
        "warn",
        ["Warning", "rewrites every index"],
        ["migration", "backup", names[warn]],
        "Warning",
        "backup",
        "migration",
    )
    page.here(
        "rare value",
        "link",
        ["gitlab.example.net", "old-mirror"],
        ["compare", "gitlab", f"[{names[link]}]"],
        "gitlab",
        "/^\\[.*\\]: (?!.*github)/",
    )
    told = [
        names[wrong],
        "invalid",
        "no such",
        "not a date",
        "impossible",
        "malformed",
        "does not exist",
        "not valid",
    ]
    page.here("error", "wrong", [dates[wrong]], told, dates[wrong], "/-3[2-9]$/")
    page.tally(
        releases,
        ["releases", "versions", "## [", "sections", "headings"],
        "## [",
        sql=w.how_many("releases", "/^## \\[/"),
    )
    asked = (
        "SELECT min(day) AS first, max(day) AS last FROM (SELECT substr(text, instr(text, '] - ') + 4, 10) AS day "
        "FROM lines WHERE text LIKE '## [%')"
    )
    page.say(
        "range",
        (*w.span(dates[-1], dates[0]), (dates[-1], names[0]), (names[-1], names[0])),
        dates[-1],
        dates[0],
        "## [",
        sql=asked,
        derived=True,
    )
    return page.done()


def _function(rng: random.Random, name: str) -> list[str]:
    """One C function with a `return 0;` before its end."""
    thing, other = rng.sample(w.THINGS, 2)
    lines = [
        f"/* {w.sentence(rng)} */",
        f"static int {name}(struct ctx *ctx, const uint8_t *buf, size_t len)",
        "{",
    ]
    sort = rng.randrange(4)
    if sort == 0:
        low = rng.randint(4, 28)
        lines += [
            "\tuint16_t n;",
            "",
            f"\tif (len < {low})",
            "\t\treturn ERR_SHORT;",
            f"\tn = get_be16(buf + {low - 2});",
            f"\tif (n > ctx->max_{thing})",
            "\t\treturn ERR_RANGE;",
        ]
        lines += [f"\tctx->{thing} = n;", f"\tctx->{other} = buf[{low // 2}] & 0x{rng.randint(1, 15):x}f;"]
    elif sort == 1:
        lines += [
            "\tchar text[64];",
            "",
            f'\tsnprintf(text, sizeof(text), "{thing}=%zu", len);',
            f"\tlog_debug(ctx, text, {rng.randint(1, 4)});",
            "\tif (buf == NULL)",
            "\t\treturn ERR_STATE;",
        ]
        lines += [f"\tctx->{other}_count++;"]
    elif sort == 2:
        step = rng.choice((2, 4, 8))
        lines += [
            "\tsize_t i;",
            "",
            f"\tfor (i = 0; i + {step} <= len; i += {step}) {{",
            f"\t\tif (ctx->{thing}s[i].id != buf[i])",
            "\t\t\tcontinue;",
        ]
        lines += [f"\t\tctx->{other} = &ctx->{thing}s[i];", "\t\tbreak;", "\t}"]
    else:
        lines += [
            f"\tstruct {thing} *one = calloc(1, sizeof(*one));",
            "",
            "\tif (one == NULL)",
            "\t\treturn ERR_MEMORY;",
            f"\tif (len > sizeof(one->{other})) {{",
            "\t\tfree(one);",
            "\t\treturn ERR_RANGE;",
            "\t}",
        ]
        lines += [f"\tmemcpy(one->{other}, buf, len);", f"\tlist_add(&ctx->{thing}s, &one->node);"]
    return [*lines, "\treturn 0;", "}", ""]


@kind("c_source", "printed")
def c_source(rng: random.Random) -> Parts:  # noqa: C901
    """A long C file: functions of a codec and a table of its opcodes."""
    page, size = Page(), rng.randint(150, 165)
    names = w.distinct(
        rng,
        size + 1,
        lambda r: (
            f"{r.choice(('parse', 'check', 'apply', 'emit', 'load'))}_{r.choice(w.TEAMS)}_{r.choice(w.THINGS)}"
        ),
    )
    page.add(
        "// SPDX-License-Identifier: MIT",
        "/*",
        " * wire.c - frames of the control channel",
        " *",
        *(f" * {line}" for line in w.wrap(w.paragraph(rng, 8, 10), 74)),
        " */",
        "",
    )
    page.add(
        *(
            f"#include <{one}.h>"
            for one in "errno stdbool stdint stdio stdlib string unistd arpa/inet".split()
        ),
        "",
        '#include "wire.h"',
        "",
    )
    for one in rng.sample(w.THINGS, 36):
        page.add(f"#define MAX_{one.upper()} {rng.choice((16, 32, 64, 128, 256, 512))}")
    page.add("")
    spots = w.spots(rng, size, 12, apart=5)
    copy, shell, leak, fix, off, jump, always, seed, law, old, far, long = spots
    secret, host, number = w.alnum(rng, 28), f"198.51.100.{rng.randint(10, 240)}", rng.randint(1000, 9999)
    inside = {
        copy: ["\tstrcpy(ctx->name, (const char *)buf + 6);"],
        shell: ['\tif (system("/usr/sbin/conntrack -F >/dev/null 2>&1") != 0)', "\t\treturn ERR_STATE;"],
        fix: ["\t/* FIXME: two workers can free the same slot here */"],
        off: [
            "#if 0 /* breaks old firmware */",
            "\tif (!verify_mac(ctx, buf, len))",
            "\t\treturn ERR_AUTH;",
            "#endif",
        ],
        jump: ["\tif (get_be32(buf) != ctx->magic)", "\t\tgoto fail;", "\t\tgoto fail;"],
        always: ["\tif (1 || check_signature(ctx, buf, len) == 0)", "\t\tctx->trusted = true;"],
        seed: [f"\tsrand({number});", "\tctx->nonce = (uint32_t)rand();"],
        far: [f'\tctx->peer.sin_addr.s_addr = inet_addr("{host}");'],
    }
    above = {
        leak: f'static const char fallback_key[] = "{secret}";',
        law: "/* Copied from net/rxrpc/input.c of Linux 5.4, GPL-2.0-only */",
        old: '__attribute__((deprecated("use emit_frame_v2, removed in 4.0")))',
    }
    todos, table = 0, size // 2
    taken = rng.sample(range(0x0100, 0x0200), 2)
    while any(not 0x0118 < one < 0x01D8 for one in taken) or abs(taken[0] - taken[1]) < 20:
        taken = rng.sample(range(0x0100, 0x0200), 2)
    twin, lost = taken
    labels = w.distinct(rng, 258, lambda r: f"{r.choice(w.TEAMS)}.{r.choice(w.DOING)}_{r.choice(w.THINGS)}")
    for k in range(size):
        if k == table:
            page.add("static const struct op ops[] = {")
            for code in range(0x0100, 0x0200):
                if code == lost:
                    continue
                flag = rng.choice(("FLAG_AUTH", "FLAG_AUTH", "FLAG_AUTH | FLAG_ACK"))
                page.add(
                    f'\t{{ 0x{code:04x}, "{labels[code - 256]}", {rng.choice(names[:table])}, {flag} }},',
                    mark="lost" if code == lost + 1 else "",
                )
                if code == twin + 9:
                    page.add(
                        f'\t{{ 0x{twin:04x}, "{labels[256]}", {rng.choice(names[:table])}, FLAG_AUTH }},',
                        mark="twin",
                    )
            page.add("};", "")
        body = _function(rng, names[k])
        at = body.index("\treturn 0;")
        if k in inside:
            lead = ["", *inside[k]] if k != jump else inside[k]
            body[at:at] = lead
        if k == jump:
            body[-2:-2] = ["fail:", "\treturn ERR_STATE;"]
        if k == long:
            extra = ["", "\tswitch (ctx->vendor) {"]
            for one in range(rng.randint(58, 70)):
                extra += [
                    f"\tcase 0x{0x2000 + one * 7:04x}:",
                    f"\t\tctx->{rng.choice(w.THINGS)} = buf[{rng.randint(2, 40)}];",
                    "\t\tbreak;",
                ]
            body[at:at] = [*extra, "\tdefault:", "\t\treturn ERR_RANGE;", "\t}"]
            length = len(body) - 2
        elif k not in spots and rng.random() < 0.09:
            todos += 1
            body[3:3] = [f"\t/* TODO: {w.sentence(rng)} */"]
        shift = at + 1 if k in inside and k != jump else at
        if k in above:
            body[1:1] = [above[k]] if k == old else []
            body[:0] = [above[k], ""] if k == leak else [above[k]] if k == law else []
            shift = 1 if k == old else 0
        page.add(*body, mark=f"at{k}" if k in spots else "", shift=shift if k != long else 1)
    page.add("int wire_dispatch(struct ctx *ctx, uint16_t code, const uint8_t *buf, size_t len)", "{")
    page.add(
        "\tfor (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)",
        "\t\tif (ops[i].code == code)",
        "\t\t\treturn ops[i].run(ctx, buf, len);",
    )
    page.add("\treturn ERR_OPCODE;", "}")

    def one(
        what: str, k: int, telling: list, more: list, *searches: str, hidden: str = "", sql: tuple = ()
    ) -> None:
        page.here(what, f"at{k}", telling, [names[k], *more], *searches, hidden=hidden, sql=sql)

    one("error", copy, ["strcpy"], ["ctx->name", "buf + 6"], "strcpy")
    one("error", shell, ["system(", "conntrack"], ["conntrack", "/usr/sbin"], "system(", "/\\bsystem\\b/")
    asked = ("SELECT n, 'fallback_key' AS name FROM lines WHERE text LIKE '%fallback_key%'",)
    one(
        "secret",
        leak,
        ["fallback_key"],
        ["static const char", "secret", "key"],
        "key[]",
        "fallback",
        hidden=secret,
        sql=asked,
    )
    one("rare value", fix, ["FIXME"], ["two workers", "same slot"], "FIXME")
    one(
        "error",
        off,
        ["#if 0", "verify_mac"],
        ["verify_mac", "breaks old firmware", "disabled"],
        "#if 0",
        "verify_mac",
    )
    a = page.at[f"at{jump}"]
    evidence = (
        *w.pairs(["goto fail"], [*w.SAME, names[jump], a, a + 1, a + 2, "unconditional", "always"]),
        ("goto fail;", "goto fail;\n"),
    )
    page.say("error", evidence, "goto fail", "goto", line=a + 1, sql=w.find("goto fail"))
    one(
        "error",
        always,
        ["if (1 ||", "1 || check_signature", "check_signature"],
        ["check_signature", "always true", "trusted"],
        "/\\(1 \\|\\|/",
        "check_signature",
    )
    one("error", seed, [f"srand({number})", "srand("], ["nonce", "rand()", str(number)], "srand", "rand()")
    one("rare value", law, ["GPL-2.0", "GPL"], ["Copied from", "Linux", "rxrpc"], "GPL", "Copied from")
    one("change", old, ["deprecated"], ["emit_frame_v2", "removed in 4.0"], "deprecated", "removed")
    one(
        "rare value",
        far,
        [host],
        ["inet_addr", "peer", "sin_addr"],
        host,
        "inet_addr",
        "/\\d+\\.\\d+\\.\\d+\\.\\d+/",
    )
    words = ("long", "largest", "biggest", "most lines", *(f"{length + d} lines" for d in range(-2, 5)))
    evidence = (*w.pairs([names[long]], [*words, *(length + d for d in range(-2, 5))]),)
    evidence += (
        (names[long], f"{page.at[f'at{long}']}-{page.at[f'at{long}'] + length - 1}"),
        (names[long], f"{page.at[f'at{long}']}–{page.at[f'at{long}'] + length - 1}"),
    )
    asked = (
        "SELECT text, lead(n) OVER (ORDER BY n) - n - 1 AS 'long' FROM lines "
        "WHERE text REGEXP '^(static )?int .*\\)$' ORDER BY 2 DESC LIMIT 2"
    )
    page.say("outlier", evidence, names[long], "switch", line=page.at[f"at{long}"], sql=asked, derived=True)
    code = f"0x{twin:04x}"
    asked = (
        "SELECT substr(text, 4, 6) AS code, count(*) AS duplicates FROM lines "
        "WHERE text LIKE '%{ 0x%' GROUP BY 1 HAVING count(*) > 1"
    )
    page.say(
        "duplicate",
        w.same(code, labels[twin - 256], labels[256]),
        code,
        line=page.at["twin"],
        sql=asked,
        derived=True,
    )
    code, a, b = (f"0x{lost + d:04x}" for d in (0, -1, 1))
    asked = (
        "SELECT a, b, 'gap' AS note FROM "
        "(SELECT substr(text, 4, 6) AS b, lag(substr(text, 4, 6)) OVER (ORDER BY n) AS a FROM lines "
        f"WHERE text LIKE '%{{ 0x%') WHERE a = '{a}' AND b <> '{code}'"
    )
    page.say("gap", w.gap([code], a, b), a, b, line=page.at["lost"], sql=asked, derived=True)
    page.tally(
        size + 1,
        ["functions", "function", "definitions"],
        "/^(static )?int /",
        sql=w.how_many("functions", "/^(static )?int .*\\)$/"),
    )
    page.tally(todos, ["TODO", "TODOs"], "TODO", sql=w.how_many("TODO", "TODO"))
    return page.done()
