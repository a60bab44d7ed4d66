"""What programs print: certificates, tests, exports."""

# ruff: noqa: C408, C901, E501, S604, S608, SIM905

import random
from datetime import datetime, timedelta

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_nine.tools import (
    COMPANIES,
    counted,
    day,
    hexes,
    letters,
    line_of,
    near_line,
    person,
    seconds,
)


def _hex_block(rng: random.Random, n: int, pad: str, first: str = "", width: int = 15) -> str:
    pairs = [first] * bool(first) + [hexes(rng, 2) for _ in range(n)]
    return "\n".join(pad + ":".join(pairs[i : i + width]) + (":" if i + width < len(pairs) else "") for i in range(0, len(pairs), width))


def _gmt(t: datetime) -> str:
    return f"{t:%b} {t.day:2d} {t:%H:%M:%S %Y} GMT"


@kind("n_x509_bundle", "printed")
def x509(rng: random.Random) -> Parts:
    """openssl x509 -text of each certificate of a trust and server bundle."""
    issuers = ["C = DE, O = Albatros Trust Services GmbH, CN = Albatros Issuing CA G3", "C = US, O = Let's Encrypt, CN = R11",
               "C = DE, O = Albatros Trust Services GmbH, CN = Albatros Device CA 2"]  # fmt: skip
    n, parts, made = rng.randint(33, 36), [], []
    odd = [int(n * s) for s in (0.1, 0.2, 0.27, 0.34, 0.42, 0.48, 0.55, 0.62, 0.68, 0.75, 0.82, 0.9)]
    (expired, weak, sha1, future, v1, self_signed, ecdsa, long, nosan, clash, other_cn, key_at) = odd
    serials = [":".join(hexes(rng, 2) for _ in range(16)) for _ in range(n)]
    serials[clash] = serials[expired + 1]
    secret = ""
    for i in range(n):
        host = f"{rng.choice(['api', 'mail', 'vpn', 'edge', 'auth', 'ldap', 'mqtt', 'git', 'erp', 'cdn'])}{i:02d}.{rng.choice(['albatros.example', 'int.albatros.example', 'ops.albatros.example'])}"
        begin = day(2025, rng.randint(6, 12), rng.randint(1, 28), rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59))
        end = begin + timedelta(days=397, seconds=-1)
        issuer, subject = rng.choice(issuers), f"C = DE, L = Bremen, O = {rng.choice(COMPANIES)}, CN = {host}"
        bits, algorithm, version = rng.choice([2048, 2048, 4096]), "sha256WithRSAEncryption", 3
        if i == expired:
            begin = day(2022, 11, 3, 9, 14, 2)
            end = day(2023, 12, 5, 9, 14, 1)
        if i == weak:
            bits = 1024
        if i == sha1:
            algorithm = "sha1WithRSAEncryption"
        if i == future:
            begin, end = day(2027, 4, 1), day(2028, 4, 30)
        if i == v1:
            version = 1
        if i == self_signed:
            issuer = subject = f"C = CN, ST = Guangdong, O = IPCAM, CN = dvr-{rng.randint(1000, 9999)}.local"
        if i == long:
            end = begin + timedelta(days=36500)
        san = "*.corp-partner.example" if i == other_cn else host
        made.append((host, begin, end, issuer, subject, bits))
        out = ["Certificate:", "    Data:", f"        Version: {version} (0x{version - 1})", "        Serial Number:", f"            {serials[i]}",
               f"        Signature Algorithm: {algorithm}", f"        Issuer: {issuer}", "        Validity", f"            Not Before: {_gmt(begin)}",
               f"            Not After : {_gmt(end)}", f"        Subject: {subject}", "        Subject Public Key Info:"]  # fmt: skip
        if i == ecdsa:
            out += ["            Public Key Algorithm: id-ecPublicKey", "                Public-Key: (256 bit)", "                pub:", _hex_block(rng, 64, " " * 20, "04"),
                    "                ASN1 OID: prime256v1", "                NIST CURVE: P-256"]  # fmt: skip
        else:
            out += ["            Public Key Algorithm: rsaEncryption", f"                Public-Key: ({bits} bit)", "                Modulus:", _hex_block(rng, bits // 8, " " * 20, "00"), "                Exponent: 65537 (0x10001)"]
        if version == 3:
            out += ["        X509v3 extensions:", "            X509v3 Basic Constraints: critical", f"                CA:{'TRUE' if i == self_signed else 'FALSE'}",
                    "            X509v3 Key Usage: critical", "                Digital Signature, Key Encipherment", "            X509v3 Extended Key Usage: ",
                    "                TLS Web Server Authentication" + (", TLS Web Client Authentication" if rng.random() < 0.4 else ""), "            X509v3 Subject Key Identifier: ",
                    "                " + ":".join(hexes(rng, 2).upper() for _ in range(20))]  # fmt: skip
            if i != nosan:
                out += ["            X509v3 Subject Alternative Name: ", f"                DNS:{san}" + (f", DNS:www.{host}" if rng.random() < 0.2 and san == host else "")]
            out += ["            Authority Information Access: ", f"                OCSP - URI:http://ocsp.{'albatros.example' if 'Albatros' in issuer else 'lencr.example'}"]
        out += [f"    Signature Algorithm: {algorithm}", "    Signature Value:", _hex_block(rng, 256, " " * 8, width=18)]
        if i == key_at:
            body = [letters(rng, 64) for _ in range(20)]
            secret = body[4]
            out += ["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"]
        parts.append("\n".join(out))
    text = "\n".join(parts) + "\n"
    host = [one[0] for one in made]
    le, g3 = sum("R11" in one[3] for one in made), sum("G3" in one[3] for one in made)

    def ln(i: int) -> int:
        return line_of(text, serials[i] if i != clash else made[clash][4])

    def near(i: int, needle: str) -> int:
        return line_of(text, needle, ln(i) - 1)

    def s(what: str) -> tuple[str, ...]:
        return (f"SELECT n, text FROM lines WHERE text LIKE '%{what}%'",)

    ends = "dec  5 09:14:01 2023"
    return text, [
        Fact("outlier", ((ends,), ("2023-12-05",), (host[expired], "2023")), ("2023", "Not After"), line=line_of(text, "09:14:01 2023"), queries=(
            "SELECT substr(text, -8, 4) AS year, count(*) AS n, min(text) AS first FROM lines WHERE text LIKE '%Not After%' GROUP BY 1", "SELECT n, text FROM lines WHERE text LIKE '%Not After%' AND text NOT LIKE '%2026%' AND text NOT LIKE '%2027%'")),
        Fact("rare value", (("(1024 bit)",), ("1024", host[weak])), ("1024 bit", "Public-Key"), line=line_of(text, "(1024 bit)"), queries=(
            "SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Public-Key: (%' GROUP BY 1",)),
        Fact("rare value", (("sha1withrsa",),), ("sha1",), line=line_of(text, "sha1With"), queries=(
            "SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Signature Algorithm%' GROUP BY 1",)),
        Fact("time jump", (("apr  1 00:00:00 2027",), ("2027-04-01",), (host[future], "2027")), ("Not Before", "2027"), line=line_of(text, "Apr  1 00:00:00 2027"), queries=(
            "SELECT n, text FROM lines WHERE text LIKE '%Not Before%2027%' OR text LIKE '%Not Before%2028%'",)),
        Fact("missing section", (("version: 1 (0x0)",), (host[v1], "version", "1"), (host[v1], "extensions")), ("Version: 1",), line=line_of(text, "Version: 1 (0x0)"), queries=(
            "SELECT text, count(*) AS n, min(n) AS first FROM lines WHERE text LIKE '%Version: %' GROUP BY text",)),
        Fact("outlier", (("ipcam",), (made[self_signed][4].rsplit(" ", 1)[1],)), ("Issuer", "IPCAM"), line=line_of(text, "IPCAM"), queries=(
            "SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Issuer: %' GROUP BY 1",)),
        Fact("rare value", (("ca:true",), (made[self_signed][4].rsplit(" ", 1)[1], "ca:true")), ("CA:TRUE",), line=line_of(text, "CA:TRUE"), queries=(
            "SELECT text, count(*) AS times, min(n) AS first FROM lines WHERE text LIKE '% CA:%' GROUP BY text",)),
        Fact("rare value", (("id-ecpublickey",), ("prime256v1",), ("p-256",), ("(256 bit)",)), ("ecPublicKey",), line=line_of(text, "id-ecPublicKey"), queries=(
            "SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Public Key Algorithm%' GROUP BY 1",)),
        Fact("outlier", ((_gmt(made[long][2]).lower(),), (str(made[long][2].year), "not after"), (host[long], str(made[long][2].year))), ("Not After", str(made[long][2].year)), line=near(long, "Not After"), queries=(
            "SELECT n, text FROM lines WHERE text LIKE '%Not After%' ORDER BY substr(text, -8, 4) DESC LIMIT 3",)),
        Fact("missing section", ((host[nosan], "alternative"), (host[nosan], "san"), *near_line(line_of(text, host[nosan]), "alternative")), ("Alternative Name",), line=line_of(text, host[nosan])),
        Fact("duplicate", ((serials[clash],),), (serials[clash][:20],), line=line_of(text, serials[clash]), queries=(
            "SELECT text, count(*) AS n FROM lines WHERE text REGEXP '^ {12}([0-9a-f]{2}:){15}[0-9a-f]{2}$' GROUP BY text HAVING count(*) > 1",)),
        Fact("contradiction", (("*.corp-partner.example",), ("corp-partner",)), ("DNS:*",), line=line_of(text, "corp-partner"), queries=s("DNS:*")),
        Fact("secret", (("private key", "begin"), ("private key-----",), ("private_key",), ("private key",)), ("PRIVATE KEY",), line=line_of(text, "BEGIN PRIVATE"), hidden=secret, queries=s("PRIVATE KEY")),
        Fact("count", (*counted("certificate:", n), *counted("certificate", n), ("certificates", str(n))), ("Certificate:",), queries=("SELECT count(*) AS certificates FROM lines WHERE text = 'Certificate:'",)),
        Fact("count", (*counted("cn = r11", le), ("r11", str(le), "issuing ca g3", str(g3))), ("Issuer:",), queries=(
            "SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Issuer: %' GROUP BY 1 ORDER BY 2 DESC",)),
    ]  # fmt: skip


MODULES = ("core", "model", "persistence", "billing", "pricing", "gateway", "notify", "reports", "admin-ui")
NOUNS = "Invoice Tariff Ledger Customer Session Payment Refund Voucher Basket Quote Reminder Address Contract Meter Webhook".split()
ROLES = "Service Repository Mapper Controller Validator Scheduler Client Converter".split()


@kind("n_mvn_test", "printed")
def mvn(rng: random.Random) -> Parts:
    """mvn test of a reactor, with the logs of the tests between."""
    out, clock = ["[INFO] Scanning for projects..."], day(2026, 3, 11, 8, 12, 44)
    out += ["[WARNING] ", "[WARNING] Some problems were encountered while building the effective model for com.albatros:tariff-reports:jar:4.18.0-SNAPSHOT",
            "[WARNING] 'build.plugins.plugin.version' for org.apache.maven.plugins:maven-jar-plugin is missing. @ line 88, column 21",
            "[WARNING] ", "[INFO] ------------------------------------------------------------------------", "[INFO] Reactor Build Order:", "[INFO] "]  # fmt: skip
    out += [f"[INFO] tariff-{m:48} [jar]" for m in MODULES]
    classes, warns = 0, 0
    hikari = letters(rng, 12)
    used: list[str] = []

    def log(level: str, where_: str, what: str) -> None:
        nonlocal clock, warns
        clock += seconds(rng.expovariate(1 / 0.9) + 0.002)
        warns += level == "WARN"
        out.append(f"{clock:%Y-%m-%dT%H:%M:%S}.{clock.microsecond // 1000:03d}+01:00 {level:>5} 48211 --- [tariff] [           main] {where_:40} : {what}")

    for k, module in enumerate(MODULES[:8]):
        out += ["[INFO] ", f"[INFO] -------------------< com.albatros:tariff-{module} >-------------------", f"[INFO] Building tariff-{module} 4.18.0-SNAPSHOT [{k + 1}/9]",
                f"[INFO]   from {module}/pom.xml", "[INFO] --------------------------------[ jar ]---------------------------------", "[INFO] ",
                f"[INFO] --- resources:3.3.1:resources (default-resources) @ tariff-{module} ---", f"[INFO] Copying {rng.randint(2, 19)} resources from src/main/resources to target/classes",
                "[INFO] ", f"[INFO] --- compiler:3.13.0:compile (default-compile) @ tariff-{module} ---"]  # fmt: skip
        if k == 4:
            out.append("[WARNING] Using platform encoding (windows-1252 actually) to copy filtered resources, i.e. build is platform dependent!")
        out += [f"[INFO] Compiling {rng.randint(20, 180)} source files with javac [debug parameters release 21] to target/classes",
                f"[INFO] --- surefire:3.5.2:test (default-test) @ tariff-{module} ---"]  # fmt: skip
        if k == 6:
            out += ["[INFO] No tests to run."]
            continue
        out += ["[INFO] Using auto detected provider org.apache.maven.surefire.junitplatform.JUnitPlatformProvider", "[INFO] ", "[INFO] -------------------------------------------------------", "[INFO]  T E S T S", "[INFO] -------------------------------------------------------"]
        ran = skips = 0
        for c in range(rng.randint(13, 17)):
            name = f"{rng.choice(NOUNS)}{rng.choice(ROLES)}"
            while f"{module}.{name}" in used:
                name = f"{rng.choice(NOUNS)}{rng.choice(ROLES)}"
            used.append(f"{module}.{name}")
            full = f"com.albatros.{module.replace('-', '')}.{name}Test"
            classes += 1
            out.append(f"[INFO] Running {full}")
            for _ in range(rng.randint(1, 12)):
                log(rng.choices(["INFO", "DEBUG", "WARN"], [60, 30, 7])[0], f"c.a.{module[:4]}.{name}"[:40], rng.choice([
                    f"HikariPool-{rng.randint(1, 9)} - Start completed.", f"Loaded {rng.randint(3, 900)} tariffs in {rng.randint(2, 88)} ms",
                    f"Flyway schema version {rng.randint(12, 61)} is up to date", f"Rejected request {hexes(rng, 8)}: amount must be positive",
                    f"Saved entity id={rng.randint(1000, 99999)}", f"Published event {hexes(rng, 12)} to topic tariff.changed", "Cache miss, reading through"]))  # fmt: skip
            if k == 3 and c == 8:
                log("DEBUG", "com.zaxxer.hikari.HikariConfig", f"jdbcUrl=jdbc:oracle:thin:tariff_ci/{hikari}@//ora-ci.albatros.example:1521/TARIFF")
            if k == 5 and c == 4:
                clock -= timedelta(hours=6, minutes=2)
                log("INFO", f"c.a.gate.{name}", "Clock adjusted by test container")
                jump = out[-1]
                clock += timedelta(hours=6, minutes=2)
            tests, skip, took = rng.randint(2, 24), int(rng.random() < 0.06), f"{rng.lognormvariate(-1, 0.8):.3f}"
            if k == 2 and c == 9:
                took = "214.806"
            ran, skips = ran + tests, skips + skip
            if k == 3 and c == 11:
                bad = full
                out += [f"[ERROR] Tests run: {tests}, Failures: 1, Errors: 0, Skipped: {skip}, Time elapsed: {took} s <<< FAILURE! -- in {full}",
                        f"[ERROR] {full}.roundsVatPerLine -- Time elapsed: 0.021 s <<< FAILURE!", "org.opentest4j.AssertionFailedError: expected: <119.00> but was: <118.99>",
                        "\tat org.junit.jupiter.api.AssertionFailureBuilder.build(AssertionFailureBuilder.java:151)", f"\tat {full}.roundsVatPerLine({name}Test.java:{rng.randint(40, 300)})",
                        "\tat java.base/java.lang.reflect.Method.invoke(Method.java:580)", ""]  # fmt: skip
            elif k == 7 and c == 6:
                broken = full
                out += [f"[ERROR] Tests run: {tests}, Failures: 0, Errors: 1, Skipped: {skip}, Time elapsed: {took} s <<< ERROR! -- in {full}",
                        f"[ERROR] {full}.rendersYearlyPdf -- Time elapsed: 1.204 s <<< ERROR!", "java.lang.OutOfMemoryError: Java heap space",
                        "\tat java.base/java.util.Arrays.copyOf(Arrays.java:3541)", f"\tat {full}.rendersYearlyPdf({name}Test.java:77)", ""]  # fmt: skip
            else:
                out.append(f"[{'WARNING' if skip else 'INFO'}] Tests run: {tests}, Failures: 0, Errors: 0, Skipped: {skip}, Time elapsed: {took} s -- in {full}")
        told = ran + (30 if k == 1 else 0)
        if k == 1:
            real, said = ran, told
        out += ["[INFO] ", "[INFO] Results:", "[INFO] "]
        if k == 3:
            out += ["[ERROR] Failures: ", f"[ERROR]   {bad.rsplit('.', 1)[1]}.roundsVatPerLine expected: <119.00> but was: <118.99>", "[INFO] "]
        if k == 7:
            out += ["[ERROR] Errors: ", f"[ERROR]   {broken.rsplit('.', 1)[1]}.rendersYearlyPdf » OutOfMemory Java heap space", "[INFO] "]
        out.append(f"[{'ERROR' if k in (3, 7) else 'INFO'}] Tests run: {told}, Failures: {int(k == 3)}, Errors: {int(k == 7)}, Skipped: {skips}")
    spent = [rng.uniform(4, 60) for _ in MODULES]
    spent[2] += 214
    out += ["[INFO] ------------------------------------------------------------------------", "[INFO] Reactor Summary for tariff 4.18.0-SNAPSHOT:", "[INFO] "]
    for k, module in enumerate(MODULES):
        state = "SKIPPED" if k == 8 else f"{'FAILURE' if k in (3, 7) else 'SUCCESS'} [ {spent[k]:6.3f} s]"
        out.append(f"[INFO] {('tariff-' + module + ' ').ljust(50, '.')} {state}")
    total = f"{int(sum(spent) // 60):02d}:{int(sum(spent) % 60):02d} min"
    out += ["[INFO] ------------------------------------------------------------------------", "[INFO] BUILD FAILURE", "[INFO] ------------------------------------------------------------------------",
            f"[INFO] Total time:  {total}", f"[INFO] Finished at: {clock:%Y-%m-%dT%H:%M:%S}+01:00", "[INFO] ------------------------------------------------------------------------",
            "[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3.5.2:test (default-test) on project tariff-billing: There are test failures.", "[ERROR] -> [Help 1]"]  # fmt: skip
    text = "\n".join(out) + "\n"

    def like(what: str) -> tuple[str, ...]:
        return (f"SELECT n, text FROM lines WHERE text LIKE '%{what}%'",)

    tail = line_of(text, f"Tests run: {said}, Failures: 0")
    jumped = jump[11:23]
    return text, [
        Fact("error", (("roundsvatperline",), ("118.99",)), ("FAILURE!",), line=line_of(text, "roundsVatPerLine"), queries=like("<<< FAILURE")),
        Fact("error", (("rendersyearlypdf",), ("outofmemoryerror",)), ("OutOfMemory", "ERROR!"), line=line_of(text, "rendersYearlyPdf"), queries=like("<<< ERROR")),
        Fact("outlier", (("214.806",),), ("Time elapsed",), line=line_of(text, "214.806"), queries=(
            "SELECT n, text FROM lines WHERE text LIKE '%Time elapsed%' ORDER BY CAST(substr(text, instr(text, 'Time elapsed: ') + 14) AS REAL) DESC LIMIT 3",)),
        Fact("missing section", (("no tests to run",),), ("No tests",), line=line_of(text, "No tests to run"), queries=like("No tests")),
        Fact("rare value", (("windows-1252",), ("platform encoding",)), ("WARNING", "encoding"), line=line_of(text, "windows-1252"), queries=like("[WARNING]%encoding")),
        Fact("secret", (("tariff_ci",), ("jdbc:oracle",), ("jdbcurl", "secret")), ("jdbcUrl", "jdbc:"), line=line_of(text, "jdbc:oracle"), hidden=hikari, queries=("SELECT n, substr(text, 1, 135) FROM lines WHERE text LIKE '%jdbc:%'",)),
        Fact("time jump", ((jumped,), (jumped[:8], "clock"), ("clock adjusted by test container",)), (jumped[:8], "clock adjusted"), line=line_of(text, jump), queries=(
            "SELECT * FROM (SELECT n, substr(text, 1, 23) AS ts, lag(substr(text, 1, 23)) OVER (ORDER BY n) AS before FROM lines WHERE text LIKE '2026-%') WHERE ts < before",)),
        Fact("contradiction", (("tests", str(said), str(real)), ("results", str(said), str(real)), ("tariff-model", str(said), str(real))), (f"Tests run: {said}",), line=tail),
        Fact("rare status", (("admin-ui", "skipped"),), ("SKIPPED",), line=line_of(text, "SKIPPED"), queries=("SELECT n, text FROM lines WHERE text LIKE '%admin-ui%'",)),
        Fact("rare status", (("tariff-reports", "failure"), ("reports", "failure [")), ("Reactor Summary",), line=line_of(text, "tariff-reports ..."), queries=like("FAILURE [")),
        Fact("error", (("build failure",),), ("BUILD",), line=line_of(text, "BUILD FAILURE"), queries=like("BUILD ")),
        Fact("total", (("total time", total[:5]),), ("Total time",), line=line_of(text, "Total time"), queries=like("Total time")),
        Fact("count", (("running", str(classes)), ("classes", str(classes))), ("Running com",), queries=("SELECT count(*) AS classes FROM lines WHERE text LIKE '[INFO] Running %'",)),
        Fact("count", counted("warn", warns), (" WARN ",), queries=("SELECT substr(text, 31, 5) AS level, count(*) AS n FROM lines WHERE text LIKE '2026-%' GROUP BY 1",)),
        Fact("meaning", (("maven-jar-plugin", "missing"), ("plugin.version", "missing")), ("effective model", "WARNING"), line=line_of(text, "maven-jar-plugin"), queries=like("is missing")),
    ]  # fmt: skip


@kind("n_ldif_export", "printed")
def ldif(rng: random.Random) -> Parts:
    """ldapsearch of the people and groups of a directory."""
    out = ["# extended LDIF", "#", "# LDAPv3", "# base <dc=albatros,dc=example> with scope subtree", "# filter: (|(objectClass=inetOrgPerson)(objectClass=posixGroup))", "# requesting: ALL", "#", ""]
    n, ous = rng.randint(205, 215), ["Bremen", "Gdansk", "Porto", "Osaka"]
    uid_base, staff = 10400, 3100
    o = {name: int(n * s) for name, s in dict(mail=0.12, zero=0.21, plain=0.29, shell=0.36, dup=0.43, emp=0.5, b64=0.56, text=0.61, locked=0.67, future=0.72, klass=0.78, gap=0.84).items()}
    made, kept = [], {}
    for i in range(n):
        first, last = person(rng)
        uid = f"{first[0]}{last[:6]}{i:03d}".lower()
        ou = rng.choices(ous, [50, 24, 16, 10])[0]
        kind_ = rng.choices(["employee", "contractor", "intern"], [70, 22, 8])[0]
        number = uid_base + i
        staff += 3 if i == o["gap"] else 1
        if i == o["dup"]:
            number = uid_base + i - 40
        if i == o["zero"]:
            number = 0
        changed = day(2025, 9, 1) + seconds(rng.randint(0, 190 * 86400))
        stamp = "20310704093000Z" if i == o["future"] else f"{changed:%Y%m%d%H%M%S}Z"
        made.append((uid, number, staff, ou, kind_))
        entry = [f"# {uid}, {ou}, people, albatros.example", f"dn: uid={uid},ou={ou},ou=people,dc=albatros,dc=example", "objectClass: inetOrgPerson", "objectClass: posixAccount"]
        if i == o["klass"]:
            entry.append("objectClass: simpleSecurityObject")
        entry += [f"uid: {uid}", f"cn: {first} {last}", f"sn: {last}", f"givenName: {first}"]
        if i != o["mail"]:
            entry.append(f"mail: {first.lower()}.{last.lower()}{i}@albatros.example")
        entry += [f"uidNumber: {number}", f"gidNumber: {'staff-de' if i == o['text'] else rng.choice([500, 510, 520])}", f"homeDirectory: /home/{uid}",
                  f"loginShell: {'/usr/local/bin/backdoor.sh' if i == o['shell'] else rng.choice(['/bin/bash', '/bin/bash', '/bin/zsh', '/usr/sbin/nologin'])}",
                  f"employeeNumber: {'E-x' if i == o['emp'] else staff}", f"employeeType: {kind_}", f"title: {rng.choice(['Planner', 'Engineer', 'Clerk', 'Analyst', 'Fitter', 'Buyer'])}",
                  f"telephoneNumber: +49 421 {rng.randint(200000, 899999)}"]  # fmt: skip
        if i == o["plain"]:
            kept["pw"] = letters(rng, 10)
            entry.append(f"userPassword: {kept['pw']}")
        else:
            entry.append(f"userPassword:: e1NTSEF9{letters(rng, 40)}=")
        if i == o["b64"]:
            entry.append("description:: TGVhdmVzIDMxIE1hcmNoLCBkaXNhYmxlIGFjY291bnQg4oCTIEhS")
        if i == o["locked"]:
            entry.append("pwdAccountLockedTime: 000001010000Z")
        entry += [f"createTimestamp: {changed - timedelta(days=rng.randint(30, 2500)):%Y%m%d%H%M%S}Z", f"modifyTimestamp: {stamp}", f"entryUUID: {hexes(rng, 8)}-{hexes(rng, 4)}-103f-{hexes(rng, 4)}-{hexes(rng, 12)}", ""]
        out += entry
    for g in range(12):
        name = ["vpn", "erp-read", "erp-write", "backup-ops", "cad", "payroll", "wifi", "git", "jira", "sudoers", "print", "dms"][g]
        out += [f"# {name}, groups, albatros.example", f"dn: cn={name},ou=groups,dc=albatros,dc=example", "objectClass: posixGroup", f"cn: {name}", f"gidNumber: {700 + g}"]
        members = [made[j][0] for j in sorted(rng.sample(range(n), rng.randint(5, 22)))]
        if name == "payroll":
            members.insert(3, "ghost.admin")
        out += [f"memberUid: {m}" for m in ([] if name == "sudoers" else members)] + [""]
    said = n + 12 + rng.randint(20, 40)
    out += ["# search result", "search: 2", "result: 4 Size limit exceeded", "", f"# numResponses: {said + 1}", f"# numEntries: {said}"]
    text = "\n".join(out) + "\n"

    def ln(i: int, attribute: str = "dn: ") -> int:
        return line_of(text, attribute, line_of(text, f"dn: uid={made[i][0]},") - 1)

    def who(k: str) -> str:
        return made[o[k]][0]

    def like(what: str) -> tuple[str, ...]:
        return (f"SELECT n, text FROM lines WHERE text LIKE '{what}%'",)

    contractors = sum(m[4] == "contractor" for m in made)
    double = str(made[o["dup"]][1])
    hole = str(made[o["gap"]][2])
    return text, [
        Fact("missing field", ((who("mail"), "mail"), *near_line(ln(o["mail"]), "mail")), ("mail:",), line=ln(o["mail"])),
        Fact("outlier", (("uidnumber: 0",), (who("zero"), "uidnumber", "0")), ("uidNumber: 0",), line=ln(o["zero"], "uidNumber"), queries=("SELECT n, text FROM lines WHERE text LIKE 'uidNumber:%' ORDER BY CAST(substr(text, 12) AS INTEGER) LIMIT 3",)),
        Fact("secret", ((who("plain"), "userpassword"), (who("plain"), "secret"), (who("plain"), "password"), *near_line(ln(o["plain"], "userPassword: "), "password"), *near_line(ln(o["plain"], "userPassword: "), "secret")), ("userPassword: ",), line=ln(o["plain"], "userPassword: "), hidden=kept["pw"], queries=(
            "SELECT n, substr(text, 1, 14) AS password FROM lines WHERE text LIKE 'userPassword: %'",)),
        Fact("rare value", (("backdoor.sh",),), ("loginShell",), line=ln(o["shell"], "loginShell"), queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE 'loginShell:%' GROUP BY 1",)),
        Fact("duplicate", (("uidnumber", double),), (f"uidNumber: {double}",), line=ln(o["dup"], "uidNumber"), queries=(
            "SELECT text, count(*) AS times FROM lines WHERE text LIKE 'uidNumber:%' GROUP BY text HAVING count(*) > 1",)),
        Fact("changed type", (("employeenumber: e-x",), ("e-x", who("emp")), ("employeenumber", "e-x")), ("employeeNumber: E",), line=ln(o["emp"], "employeeNumber"), queries=("SELECT n, text FROM lines WHERE text LIKE 'employeeNumber:%' AND text NOT REGEXP '[0-9]+$'",)),
        Fact("rare value", (("description::",), (who("b64"), "description")), ("description",), line=ln(o["b64"], "description"), queries=like("description")),
        Fact("changed type", (("staff-de",),), ("gidNumber",), line=ln(o["text"], "gidNumber"), queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE 'gidNumber:%' GROUP BY 1 ORDER BY 2 LIMIT 20",)),
        Fact("rare status", (("pwdaccountlockedtime",), (who("locked"), "lock")), ("Locked",), line=ln(o["locked"], "pwdAccountLockedTime"), queries=like("pwd")),
        Fact("time jump", (("20310704093000z",), ("2031-07-04",)), ("modifyTimestamp: 2031",), line=ln(o["future"], "modifyTimestamp"), queries=("SELECT n, text FROM lines WHERE text LIKE 'modifyTimestamp:%' ORDER BY text DESC LIMIT 3",)),
        Fact("rare value", (("simplesecurityobject",),), ("objectClass",), line=ln(o["klass"], "simpleSecurity"), queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE 'objectClass:%' GROUP BY 1",)),
        Fact("meaning", (("ghost.admin",),), ("payroll", "memberUid"), line=line_of(text, "ghost.admin"), queries=(
            "SELECT n, text FROM lines WHERE text LIKE 'memberUid: %' AND substr(text, 12) NOT IN (SELECT substr(text, 6) FROM lines WHERE text LIKE 'uid: %')",)),
        Fact("gap", ((str(int(hole) - 3), hole), ("employeenumber", str(int(hole) - 1)), ("employeenumber", str(int(hole) - 2))), (f"employeeNumber: {int(hole) - 3}",), line=ln(o["gap"], "employeeNumber"), queries=(
            "SELECT * FROM (SELECT CAST(substr(text, 17) AS INTEGER) AS number, lead(CAST(substr(text, 17) AS INTEGER)) OVER (ORDER BY n) AS next FROM lines WHERE text REGEXP '^employeeNumber: [0-9]+$') WHERE next - number > 2",)),
        Fact("error", (("size limit exceeded",),), ("result:",), line=line_of(text, "Size limit"), queries=like("result")),
        Fact("contradiction", (("numentries", str(said), str(n + 12)), ("dn:", str(said), str(n + 12)), ("entries", str(said), str(n + 12))), ("numEntries",), line=line_of(text, "numEntries"), queries=(
            "SELECT count(*) AS entries, (SELECT text FROM lines WHERE text LIKE '# numEntries%') AS told FROM lines WHERE text LIKE 'dn:%'",)),
        Fact("count", counted("contractor", contractors), ("employeeType",), queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE 'employeeType:%' GROUP BY 1",)),
    ]  # fmt: skip
