"""Source code and documents."""

# ruff: noqa: SIM905, S608

import random
from collections import Counter
from datetime import date, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.fact_words import Page
from bench.fidelity.planted import Parts, kind

from .tools import rare, tell

TYPES = {
    "text": 5,
    "integer": 3,
    "boolean DEFAULT false NOT NULL": 2,
    "numeric(12,2)": 3,
    "timestamp with time zone DEFAULT now() NOT NULL": 2,
    "jsonb DEFAULT '{}'::jsonb NOT NULL": 1,
    "character varying(120)": 3,
    "uuid": 1,
    "date": 1,
}


@kind("z_pg_dump_schema", "printed")
def z_pg_dump_schema(rng: random.Random) -> Parts:
    """The schema of a database as pg_dump --schema-only writes it."""
    owner = f"{rng.choice(w.TEAMS)}_owner"
    tables = w.distinct(rng, rng.randint(72, 80), lambda r: f"{r.choice(w.PLAIN)}_{r.choice(w.THINGS)}")
    tables.sort()
    page = Page()

    def banner(name: str, what: str, own: str = owner, schema: str = "public") -> list[str]:
        return ["--", f"-- Name: {name}; Type: {what}; Schema: {schema}; Owner: {own}", "--", ""]

    page.add(
        "--",
        "-- PostgreSQL database dump",
        "--",
        "",
        f"\\restrict {w.alnum(rng, 40)}",
        "",
        "-- Dumped from database version 16.9",
        "-- Dumped by pg_dump version 16.10",
        "",
    )
    for name, value in (
        ("statement_timeout", "0"),
        ("lock_timeout", "0"),
        ("client_encoding", "'UTF8'"),
        ("standard_conforming_strings", "on"),
        ("check_function_bodies", "false"),
        ("row_security", "off"),
    ):
        page.add(f"SET {name} = {value};")
    page.add("", "SET default_tablespace = '';", "", "SET default_table_access_method = heap;", "")
    spots = [tables[k] for k in w.spots(rng, len(tables), 14, apart=3)]
    (
        keyless,
        naive,
        foreign,
        cascade,
        lazy,
        open_,
        unlogged,
        rls,
        small,
        float_,
        twin,
        disabled,
        late,
        definer,
    ) = spots
    old_owner = f"{rng.choice(w.GIVEN).lower()}_tmp"
    columns: dict[str, list[tuple[str, str]]] = {}
    links = {
        name: rng.sample([one for one in tables if one not in (keyless, small)], 1 if k % 3 else 2)
        for k, name in enumerate(tables)
    }
    for name in tables:
        own = w.distinct(
            rng,
            rng.randint(6, 11),
            lambda r: f"{r.choice(w.THINGS)}_{r.choice(('code', 'name', 'count', 'state', 'note', 'ref'))}",
        )
        columns[name] = [
            ("id", "bigint NOT NULL"),
            *((f"{one}_id", "bigint") for one in links[name]),
            *((one, w.pick(rng, TYPES)) for one in own),
            ("created_at", "timestamp with time zone DEFAULT now() NOT NULL"),
            ("updated_at", "timestamp with time zone DEFAULT now() NOT NULL"),
        ]
    columns[naive][-3] = (columns[naive][-3][0], "timestamp without time zone")
    columns[float_][-4] = (f"{columns[float_][-4][0].split('_')[0]}_amount", "double precision")
    columns[small][0] = ("id", "smallint NOT NULL")
    naive_col, float_col = columns[naive][-3][0], columns[float_][-4][0]
    triggers = sorted({*rng.sample(tables, 24), disabled, definer})
    secret = w.alnum(rng, 16)
    page.add(
        *banner("touch_row()", "FUNCTION"),
        "CREATE FUNCTION public.touch_row() RETURNS trigger",
        "    LANGUAGE plpgsql",
        "    AS $$",
        "BEGIN",
        "  NEW.updated_at := now();",
        "  RETURN NEW;",
        "END;",
        "$$;",
        "",
        "",
        f"ALTER FUNCTION public.touch_row() OWNER TO {owner};",
        "",
    )
    for k, name in enumerate(tables):
        if name == late:
            page.add(*banner(f"USER MAPPING {owner} SERVER legacy_erp", "USER MAPPING", owner, "-"))
            page.add(
                f"CREATE USER MAPPING FOR {owner} SERVER legacy_erp OPTIONS (",
                f"    password '{secret}',",
                "    \"user\" 'sync'",
                ");",
                "",
                "",
                mark="secret",
                shift=1,
            )
        if name == definer:
            page.add(*banner("purge_rows(integer)", "FUNCTION"))
            page.add(
                "CREATE FUNCTION public.purge_rows(days integer) RETURNS void",
                "    LANGUAGE plpgsql SECURITY DEFINER",
                "    AS $$",
                "BEGIN",
                f"  DELETE FROM public.{name} WHERE created_at < now() - make_interval(days => days);",
                "END;",
                "$$;",
                "",
                "",
                mark="definer",
                shift=1,
            )
            page.add(f"ALTER FUNCTION public.purge_rows(days integer) OWNER TO {owner};", "")
        own = old_owner if name == foreign else owner
        page.add(*banner(name, "TABLE", own))
        page.add(
            f"CREATE {'UNLOGGED ' if name == unlogged else ''}TABLE public.{name} (", mark=f"table {name}"
        )
        for j, (column, form) in enumerate(columns[name]):
            comma = "," if j < len(columns[name]) - 1 else ""
            mark = (
                "naive"
                if name == naive and column == naive_col
                else "float"
                if name == float_ and column == float_col
                else ""
            )
            page.add(f"    {column} {form}{comma}", mark=mark)
        page.add(");", "", "")
        page.add(f"ALTER TABLE public.{name} OWNER TO {own};", "", mark=f"owner {name}")
        page.add(
            *banner(f"{name}_id_seq", "SEQUENCE", own),
            f"ALTER TABLE public.{name} ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (",
            f"    SEQUENCE NAME public.{name}_id_seq",
            "    START WITH 1",
            "    INCREMENT BY 1",
            "    NO MINVALUE",
            "    NO MAXVALUE",
            "    CACHE 1",
            ");",
            "",
            "",
        )
    keys = 0
    for name in tables:
        if name != keyless:
            keys += 1
            page.add(
                *banner(f"{name} {name}_pkey", "CONSTRAINT"),
                f"ALTER TABLE ONLY public.{name}",
                f"    ADD CONSTRAINT {name}_pkey PRIMARY KEY (id);",
                "",
                "",
            )
    indexes = 0
    for name in tables:
        for column, _ in (
            rng.sample(columns[name][1:-1], rng.randint(1, 2)) if name != twin else columns[twin][1:2]
        ):
            indexes += 1
            page.add(
                *banner(f"{name}_{column}_idx", "INDEX"),
                f"CREATE INDEX {name}_{column}_idx ON public.{name} USING btree ({column});",
                "",
                "",
            )
        if name == twin:
            indexes += 1
            column = columns[twin][1][0]
            page.add(*banner(f"{name}_{column}_idx1", "INDEX"))
            page.add(
                f"CREATE INDEX {name}_{column}_idx1 ON public.{name} USING btree ({column});",
                "",
                "",
                mark="twin",
            )
    for name in triggers:
        page.add(
            *banner(f"{name} {name}_touch", "TRIGGER"),
            f"CREATE TRIGGER {name}_touch BEFORE UPDATE ON public.{name} FOR EACH ROW EXECUTE FUNCTION public.touch_row();",
            "",
        )
        if name == disabled:
            page.add(f"ALTER TABLE public.{name} DISABLE TRIGGER {name}_touch;", "", mark="disabled")
        page.add("")
    foreigns = 0
    for name in tables:
        for target in links[name]:
            foreigns += 1
            what = f"    ADD CONSTRAINT {name}_{target}_fkey FOREIGN KEY ({target}_id) REFERENCES public.{target}(id) ON DELETE "
            mode, mark = "RESTRICT;", ""
            if name == cascade and "cascade" not in page.at:
                mode, mark = "CASCADE;", "cascade"
            if name == lazy and "lazy" not in page.at:
                mode, mark = "RESTRICT NOT VALID;", "lazy"
            page.add(
                *banner(f"{name} {name}_{target}_fkey", "FK CONSTRAINT"), f"ALTER TABLE ONLY public.{name}"
            )
            page.add(what + mode, "", "", mark=mark)
        if name == rls:
            page.add(*banner(f"{rls}", "ROW SECURITY"))
            page.add(f"ALTER TABLE public.{rls} ENABLE ROW LEVEL SECURITY;", "", mark="rls")
    for name in tables:
        page.add(
            *banner(f"TABLE {name}", "ACL"),
            f"GRANT SELECT,INSERT,UPDATE ON TABLE public.{name} TO app_rw;",
            f"GRANT SELECT ON TABLE public.{name} TO app_ro;",
        )
        if name == open_:
            page.add(f"GRANT ALL ON TABLE public.{name} TO PUBLIC;", mark="open")
        page.add("", "")
    page.add("--", "-- PostgreSQL database dump complete", "--", "", f"\\unrestrict {w.alnum(rng, 40)}", "")

    def here(
        what: str, mark: str, telling: list, names: list, *searches: str, alone: tuple = (), hidden: str = ""
    ) -> None:
        tell(page, what, mark, telling, names, *searches, alone=alone, hidden=hidden)

    page.say(
        "missing field",
        (
            *w.gone([keyless, page.at[f"table {keyless}"]], "primary key", "pkey"),
            (keyless, "PRIMARY KEY", f"{keys} of {len(tables)}"),
        ),
        keyless,
        "PRIMARY KEY",
        line=page.at[f"table {keyless}"],
        sql="SELECT a.n, a.text, 'no primary key' AS note FROM lines a WHERE a.text LIKE 'CREATE TABLE public.%' AND NOT EXISTS (SELECT 1 FROM "
        "lines b WHERE b.text LIKE '%_pkey PRIMARY KEY%' AND instr(b.text, ' ' || substr(a.text, 21, length(a.text) - 22) || '_pkey'))",
        derived=True,
    )
    here(
        "rare value",
        "naive",
        ["without time zone"],
        [naive, naive_col],
        "without time zone",
        "timestamp",
        alone=("timestamp without time zone", "without time zone"),
    )
    here(
        "rare value",
        "float",
        ["double precision"],
        [float_, float_col],
        "double precision",
        alone=("double precision",),
    )
    here("rare value", f"owner {foreign}", [old_owner], [foreign, "owner", "OWNER TO"], old_owner, "OWNER TO")
    here(
        "rare value",
        "cascade",
        ["CASCADE"],
        [cascade],
        "CASCADE",
        "ON DELETE",
        alone=("ON DELETE CASCADE", "CASCADE"),
    )
    here(
        "rare value",
        "lazy",
        ["NOT VALID", "not validated", "unvalidated"],
        [lazy],
        "NOT VALID",
        alone=("NOT VALID",),
    )
    here(
        "rare value",
        "open",
        ["PUBLIC", "GRANT ALL"],
        [f"{open_} TO PUBLIC", open_],
        "GRANT ALL",
        "TO PUBLIC",
        alone=("GRANT ALL", "TO PUBLIC"),
    )
    here(
        "rare value",
        f"table {unlogged}",
        ["UNLOGGED"],
        [unlogged],
        "UNLOGGED",
        alone=("UNLOGGED", "UNLOGGED TABLE"),
    )
    here(
        "rare value",
        "rls",
        ["ROW LEVEL SECURITY", "row-level security", "RLS", "row security"],
        [rls],
        "ROW LEVEL SECURITY",
        "ROW SECURITY",
        alone=("ROW LEVEL SECURITY", "ROW SECURITY"),
    )
    tell(
        page,
        "rare value",
        f"table {small}",
        ["smallint"],
        [small],
        "smallint",
        "id smallint",
        alone=("smallint", "id smallint"),
    )
    column = columns[twin][1][0]
    both = (f"{twin}_{column}_idx", f"{twin}_{column}_idx1")
    page.say(
        "duplicate",
        (
            *((both[1], f"{both[0]}{end}") for end in (" ", ",", ")", "`", "'", '"', ":", "|", ";")),
            *w.pairs([both[1]], ["duplicate", "redundant", "same column", "twice", "identical"]),
            (twin, column, "duplicate"),
            (twin, column, "indexed twice"),
            (twin, column, "two indexes"),
        ),
        "idx1",
        f"{twin}_{column}",
        line=page.at["twin"],
        sql=w.find(f"INDEX {both[0]}"),
    )
    here(
        "rare status",
        "disabled",
        ["DISABLE TRIGGER", "disabled trigger", "trigger disabled", "disabled"],
        [disabled],
        "DISABLE TRIGGER",
        alone=("DISABLE TRIGGER",),
    )
    here(
        "rare value",
        "definer",
        ["SECURITY DEFINER"],
        ["purge_rows", definer],
        "SECURITY DEFINER",
        alone=("SECURITY DEFINER",),
    )
    here(
        "secret",
        "secret",
        ["password", "USER MAPPING", "credential", "secret"],
        ["legacy_erp", "USER MAPPING", page.at["secret"] + 2],
        "password",
        "USER MAPPING",
        hidden=secret,
        alone=("USER MAPPING",),
    )
    names = ["tables", "TABLE", "CREATE TABLE", "create table"]
    page.say(
        "count",
        (*w.count(len(tables), *names), *w.count(len(tables) - 1, "CREATE TABLE")),
        "CREATE TABLE",
        sql=w.how_many("tables", "/^CREATE (UNLOGGED )?TABLE /"),
        derived=True,
    )
    page.tally(
        foreigns,
        ["foreign keys", "FOREIGN KEY", "FK CONSTRAINT", "FK", "fkey", "foreign key constraints"],
        "FOREIGN KEY",
        sql=w.how_many("foreign keys", "FOREIGN KEY"),
    )
    return page.done()


@kind("z_changelog_md", "printed")
def z_changelog_md(rng: random.Random) -> Parts:
    """A project's change log in the form of keepachangelog.com."""
    project, page = w.two(rng), Page()
    page.add(
        "# Changelog",
        "",
        f"All notable changes to {project} will be documented in this file.",
        "",
        "The format is based on [Keep a Changelog](https://keepachangelog.com/en/1.1.0/),",
        "and this project adheres to [Semantic Versioning](https://semver.org/spec/v2.0.0.html).",
        "",
    )
    versions: list[tuple[int, int, int]] = []
    major, minor, patch = 1, 0, 0
    size = rng.randint(106, 118)
    while len(versions) < size:
        versions.append((major, minor, patch))
        if minor >= 12 and patch >= 3:
            major, minor, patch = major + 1, 0, 0
        elif patch >= rng.randint(2, 4):
            minor, patch = minor + 1, 0
        else:
            patch += 1
    places = w.spots(rng, size, 14, apart=4, low=0.08, high=0.92)
    yanked, cve, break_, back, lost, twin, undated, pause_, gone, loss, licence, default, merge, old = places
    lost = next(k for k in [lost, lost + 1, lost - 1] if versions[k][2] >= 1 and k + 1 < size and versions[k + 1][2] > 1)  # type: ignore[misc] # fmt: skip
    text = ["{}.{}.{}".format(*one) for one in versions]
    day = date(2017, rng.randint(1, 6), rng.randint(1, 27))
    days: list[date] = []
    quiet = rng.randint(400, 520)
    for k in range(size):
        day += timedelta(days=rng.randint(9, 33) if k != pause_ else quiet)
        days.append(day)
    wrong = days[back].replace(year=days[back].year + rng.randint(21, 40), day=min(28, days[back].day))
    number = 120
    entries, fixed, seen = 0, 0, Counter()
    body: list[list[tuple[str, str]]] = []

    def entry() -> str:
        nonlocal number
        number += rng.randint(1, 9)
        verb = rng.choice(
            ("Handle", "Show", "Keep", "Speed up", "Simplify", "Support", "Improve", "Rework", "Clean up")
        )
        more = rng.choice(
            (
                "",
                f" when the {rng.choice(w.THINGS)} is {rng.choice(w.PLAIN)}",
                f" in the {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)}",
            )
        )
        return f"- {verb} the {rng.choice(w.PLAIN)} {rng.choice(w.THINGS)} of a {rng.choice(w.THINGS)}{more} ([#{number}](https://github.com/acme/{project}/pull/{number}))"

    cve_id = f"CVE-20{rng.randint(19, 25)}-{rng.randint(21_000, 48_000)}"
    new_default, old_default = rng.randint(2, 6), rng.randint(40, 90)
    planted = {
        cve: (
            "Security",
            f"- Path traversal in the archive reader allowed to write files outside of the target ({cve_id}), please upgrade",
        ),
        break_: (
            "Changed",
            "- **BREAKING:** the file format of the store is now v2 and cannot be read by earlier releases",
        ),
        gone: ("Removed", "- Support for Windows Server 2016 and for 32-bit platforms"),
        loss: ("Fixed", "- Silent data loss when two writers flushed the same segment at the same moment"),
        licence: ("Changed", "- The license changed from MIT to the Business Source License 1.1"),
        default: (
            "Changed",
            f"- The default of `request_timeout` is now {new_default} s instead of {old_default} s",
        ),
        old: ("Deprecated", "- The `legacy-sync` command, it will be removed in the next major release"),
    }
    for k in range(size):
        sections: dict[str, list[str]] = {}
        for what in ("Added", "Changed", "Fixed"):
            if rng.random() < (0.9 if what == "Fixed" else 0.62):
                sections[what] = [entry() for _ in range(rng.randint(2, 6))]
        if not sections:
            sections["Fixed"] = [entry(), entry()]
        if k in planted:
            what, line = planted[k]
            sections.setdefault(what, []).insert(1, line) if what in sections else sections.update(
                {what: [line]}
            )
        body.append([(what, line) for what, lines in sections.items() for line in lines])
    order = list(range(size))[::-1]
    for k in order:
        if k == lost:
            continue
        head = f"## [{text[k]}] - {wrong if k == back else days[k]}"
        if k == undated:
            head = f"## [{text[k]}]"
        if k == yanked:
            head += " [YANKED]"
        page.add(head, "", mark=f"v{k}")
        before = ""
        for what, line in body[k]:
            if what != before:
                if before:
                    page.add("")
                page.add(f"### {what}", "")
                seen[what] += 1
                before = what
            page.add(line, mark=f"p{k}" if k in planted and line == planted[k][1] else "")
            entries += 1
            if k == merge and f"m{k}" not in page.at:
                page.add("<<<<<<< HEAD", mark=f"m{k}")
                page.add(entry(), "=======", entry(), ">>>>>>> release-notes")
                entries += 2
        if k == twin:
            page.add("", head, "", "### Fixed", "", entry(), entry(), mark="again", shift=1)
            seen["Fixed"] += 1
        page.add("")
    for k in order:
        if k != lost and k > 0:
            page.add(
                f"[{text[k]}]: https://github.com/acme/{project}/compare/v{text[k - 1 - (k - 1 == lost)]}...v{text[k]}"
            )
    fixed = seen["Fixed"]

    def here(what: str, k: int, telling: list, *searches: str, alone: tuple = (), mark: str = "p") -> None:
        line = page.at[f"{mark}{k}"]
        names = [text[k], *range(line - 3, line + 2), page.at[f"v{k}"]]
        page.say(what, w.pairs(telling, names) + rare(*alone), *searches, line=line, sql=w.find(searches[-1]))

    here(
        "rare status",
        yanked,
        ["YANKED", "yanked", "withdrawn"],
        "YANKED",
        alone=("YANKED", "[YANKED]"),
        mark="v",
    )
    here(
        "error",
        cve,
        [cve_id, "CVE-", "Path traversal"],
        "### Security",
        "CVE-",
        alone=(cve_id, "Security", "### Security"),
    )
    here(
        "change",
        break_,
        ["BREAKING", "format of the store", "cannot be read by earlier"],
        "BREAKING",
        alone=("BREAKING", "**BREAKING:**"),
    )
    here(
        "change",
        gone,
        ["Windows Server 2016", "32-bit", "Removed"],
        "### Removed",
        "Windows",
        alone=("### Removed", "Removed", "Windows Server 2016"),
    )
    here("error", loss, ["data loss", "two writers"], "data loss", "loss", alone=("data loss",))
    here(
        "change",
        licence,
        ["Business Source License", "license changed", "from MIT", "BSL", "BUSL"],
        "license",
        "MIT",
        alone=("Business Source License", "license changed"),
    )
    told = ["request_timeout", f"{new_default} s instead of {old_default} s", "default of"]
    here("change", default, told, "request_timeout", "default", alone=("request_timeout",))
    here(
        "change",
        old,
        ["legacy-sync", "Deprecated"],
        "### Deprecated",
        "legacy-sync",
        alone=("### Deprecated", "Deprecated", "legacy-sync"),
    )
    here(
        "error",
        merge,
        ["<<<<<<<", "merge conflict", "conflict marker", "<<< HEAD", ">>>>>>>", "conflict"],
        "<<<<<<<",
        "HEAD",
        alone=("<<<<<<< HEAD", "<<<<<<<"),
        mark="m",
    )
    here(
        "time jump",
        back,
        [str(wrong), wrong.year, "future"],
        str(wrong.year),
        str(wrong),
        alone=(wrong,),
        mark="v",
    )
    near = (text[lost - 1], text[lost + 1])
    page.say(
        "gap",
        w.gap([text[lost]], *(f"[{one}]" for one in near)) + w.pairs([near[0]], ["gap", "skip", "jump"]),
        near[0],
        f"[{text[lost]}]",
        line=page.at[f"v{lost + 1}"],
        sql=w.how_many(f"headings of {text[lost]}", f"## [{text[lost]}]"),
        derived=True,
    )
    same = text[twin]
    ends = (str(page.at[f"v{twin}"]), str(page.at["again"]))
    page.say(
        "duplicate",
        w.same(same, *ends),
        same,
        f"[{same}]",
        line=page.at[f"v{twin}"],
        sql="SELECT substr(text, 1, instr(text, ']')) AS version, count(*) AS duplicates FROM lines WHERE text LIKE '## [%' GROUP BY 1 HAVING duplicates > 1",
        derived=True,
    )
    spot = page.at[f"v{undated}"]
    page.say(
        "missing field",
        (*w.gone([text[undated], spot], "date", "dated", "undated"), (text[undated], "undated")),
        "/^## \\[[0-9.]+\\]$/",
        "## [",
        line=spot,
        sql="SELECT n, text, 'no date' AS note FROM lines WHERE text REGEXP '^## \\[[0-9.]+\\]$'",
        derived=True,
    )
    a, b = days[pause_ - 1], days[pause_]
    forms = [
        f"{quiet} days",
        f"{quiet} d",
        f"{quiet}d",
        f"{quiet // 30} months",
        f"{quiet // 30 + 1} months",
        f"{quiet // 30 - 1} months",
        f"{quiet}.",
        f"{quiet / 365:.1f} years",
        "a year",
        str(quiet),
    ]
    words = [
        *w.LEAP[:9],
        "between",
        "after",
        "without a release",
        "no release",
        text[pause_],
        text[pause_ - 1],
    ]
    page.say(
        "time jump",
        (
            *w.pairs(forms, [*words, a, b]),
            (str(a), str(b)),
            *w.pairs([a, b], w.LEAP[:9]),
            (f"{a:%Y-%m}", f"{b:%Y-%m}", "gap"),
        ),
        str(b),
        str(b.year),
        line=page.at[f"v{pause_}"],
        sql="SELECT n, text FROM lines WHERE text LIKE '## [%' AND (text LIKE '%{}%' OR text LIKE '%{}%')".format(
            a, b
        ),
        derived=True,
    )
    names = [
        "releases",
        "versions",
        "## [",
        "## headings",
        "level 2",
        "##",
        "h2",
        "sections",
        "version headings",
        "release headings",
    ]
    page.say(
        "count",
        (*w.count(size, *names), *w.count(size - 1, "versions", "releases")),
        "## [",
        sql=w.how_many("releases", "/^## \\[/"),
        derived=True,
    )
    page.tally(
        fixed, ["Fixed", "### Fixed", '"Fixed"'], "### Fixed", sql=w.how_many("### Fixed", "### Fixed")
    )
    assert entries > 300
    return page.done()
