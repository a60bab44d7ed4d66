"""Lists of rows: token transfers, candles and variants."""

# ruff: noqa: S608

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

from bench.fidelity import fact_words as w
from bench.fidelity.planted import Parts, kind

from .tools import Doc, Rows, hop, lapse, large, lost, split


def _address(rng: random.Random) -> str:
    return "0x" + w.hexes(rng, 40)


def _transfers(rng: random.Random, size: int, me: str, tokens: list[dict]) -> list[dict]:
    """A wallet's transfers as a block explorer's API lists them, with all numbers as strings."""
    now = int(datetime(2025, rng.randint(1, 6), rng.randint(1, 26), tzinfo=UTC).timestamp())
    block, nonce = rng.randint(19_000_000, 22_000_000), rng.randint(210, 960)
    others = [_address(rng) for _ in range(38)]
    top = block + 400_000
    found = []
    for _ in range(size):
        steps = rng.randint(2, 900)
        block, now = block + steps, now + steps * 12
        token = rng.choices(tokens, [9, 7, 4, 3, 2])[0]
        sent = rng.random() < 0.45
        nonce += sent
        limit = rng.choice((65_000, 84_000, 90_000, 120_000, 210_000))
        amount = int(rng.lognormvariate(5.2, 1.1) * 100) * 10 ** (token["dec"] - 2)
        found.append(
            {
                "blockNumber": str(block),
                "timeStamp": str(now),
                "hash": "0x" + w.hexes(rng, 64),
                "nonce": str(nonce if sent else rng.randint(0, 9000)),
                "from": me if sent else rng.choice(others),
                "contractAddress": token["at"],
                "to": rng.choice(others) if sent else me,
                "value": str(amount),
                "tokenName": token["name"],
                "tokenSymbol": token["symbol"],
                "tokenDecimal": str(token["dec"]),
                "transactionIndex": str(rng.randint(0, 240)),
                "gas": str(limit),
                "gasPrice": str(int(rng.uniform(3, 28) * 1e9)),
                "gasUsed": str(int(limit * rng.uniform(0.55, 0.97))),
                "input": "deprecated",
                "confirmations": str(top - block),
            }
        )
    return found


@kind("e_erc20_transfers", "rows")
def e_erc20_transfers(rng: random.Random) -> Parts:
    size = rng.randint(290, 340)
    me = _address(rng)
    words = rng.sample(w.THINGS, 5)
    tokens = [
        {
            "name": f"{rng.choice(w.PLAIN).capitalize()} {one.capitalize()}",
            "symbol": (one[:3] + rng.choice("XQZ")).upper() + str(k),
            "at": _address(rng),
            "dec": rng.choice((6, 8, 18)),
        }
        for k, one in enumerate(words)
    ]
    rows = _transfers(rng, size, me, tokens)
    spots = w.spots(rng, size, 12, apart=4)
    whale, dear, scam, fake, twin, bare, burn, hole, old, odd, over, skip = spots
    n = Doc()

    def names(k: int) -> list[str]:
        mark = rows[k]["hash"][2:]
        return [rows[k]["hash"], mark[:6], mark[:7], mark[:8], mark[:10], rows[k]["blockNumber"]]

    def at(what: str, k: int, field: str, telling: list | str, *searches: str, **more: object) -> None:
        n.at(what, f"/result/{k}/{field}", telling, names(k), *searches, **more)  # type: ignore[arg-type]

    much = rng.randint(31_000_000, 89_000_000)
    rows[whale]["value"] = str(much * 10 ** int(rows[whale]["tokenDecimal"]))
    rows[dear]["gasPrice"] = str(rng.randint(2_100, 7_900) * 10**9 + rng.randint(1, 10**8))
    host = f"claim-{rng.choice(w.THINGS)}.example.org"
    rows[scam] |= {
        "tokenName": f"Visit {host} to claim",
        "tokenSymbol": "CLAIM",
        "contractAddress": _address(rng),
    }
    rows[fake] |= {k: v for k, v in rows[1].items() if k.startswith("token")} | {
        "contractAddress": _address(rng)
    }
    rows[twin]["hash"] = rows[twin - 3]["hash"]
    del rows[bare]["tokenDecimal"]
    rows[burn] |= {"to": "0x" + "0" * 40}
    wait = rng.randint(9, 17) * 86_400 + rng.randint(900, 9000)
    for one in rows[hole:]:
        one["timeStamp"] = str(int(one["timeStamp"]) + wait)
        one["blockNumber"] = str(int(one["blockNumber"]) + wait // 12)
        one["confirmations"] = str(int(one["confirmations"]) - wait // 12)
    rows[old]["timeStamp"] = str(rng.randint(1_390_000_000, 1_430_000_000))
    rows[odd]["value"] = f"{rng.randint(11, 98) / 10}e+{rng.randint(19, 23)}"
    used = int(int(rows[over]["gas"]) * rng.uniform(1.6, 2.4))
    rows[over]["gasUsed"] = str(used)
    mine = [one for one in rows[skip:] if one["from"] == me]
    missed = rng.randint(14, 33)
    prior = next(int(one["nonce"]) for one in reversed(rows[:skip]) if one["from"] == me)
    for one in mine:
        one["nonce"] = str(int(one["nonce"]) + missed)
    first = rows.index(mine[0])
    told = [*large(much), rows[whale]["value"]]
    sql = "SELECT n, hash, CAST(value AS REAL) AS v FROM t ORDER BY v DESC LIMIT 3"
    at("outlier", whale, "value", told, rows[whale]["value"], "value", sql=sql)
    price = int(rows[dear]["gasPrice"])
    sql = "SELECT n, hash, CAST(gasPrice AS REAL) AS p FROM t ORDER BY p DESC LIMIT 3"
    at(
        "outlier",
        dear,
        "gasPrice",
        f"{price}|{price // 10**9}|{price / 1000000000.0:.1f}",
        str(price),
        "gasPrice",
        sql=sql,
    )
    sql = "SELECT tokenSymbol, count(*) FROM t GROUP BY 1 ORDER BY 2"
    at("rare value", scam, "tokenName", f"+{host}|+CLAIM|to claim", host, "CLAIM", sql=sql)
    false, symbol, true = rows[fake]["contractAddress"], rows[1]["tokenSymbol"], rows[1]["contractAddress"]
    words = split("contractAddress|contract|2 contracts|two contracts|other contract|another contract")
    evidence = (
        *w.pairs([false[2:9], false], [true[2:9], true, symbol, *names(fake), "1"]),
        *((symbol, word) for word in words[2:]),
        *((one, word) for one in names(fake) for word in words),
    )
    sql = "SELECT tokenSymbol, contractAddress, count(*) FROM t GROUP BY 1, 2 ORDER BY 3"
    place = f"/result/{fake}/contractAddress"
    n.say("contradiction", evidence, false, symbol, pointer=place, sql=sql, derived=True)
    n.twice(
        f"/result/{twin - 3}",
        f"/result/{twin}",
        rows[twin]["hash"],
        (rows[twin]["blockNumber"], rows[twin - 3]["blockNumber"]),
        "hash",
        sql="SELECT hash, count(*) AS c FROM t GROUP BY hash HAVING c > 1",
        short=[rows[twin]["hash"][2:k] for k in (8, 9, 10)],
    )
    sql = "SELECT n, hash FROM t WHERE tokenDecimal IS NULL"
    n.gone(f"/result/{bare}", "tokenDecimal", names(bare), size, sql=sql)
    told = ["0x0000000000", "zero address", "null address", "burn", "0x000"]
    at("rare value", burn, "to", told, "0x0000000000", "/0x0{40}/", alone=["0x" + "0" * 40])
    before, after = rows[hole - 1]["timeStamp"], rows[hole]["timeStamp"]
    evidence = hop(before, after, [], *names(hole), *names(hole - 1)) + w.pairs(
        lapse(int(after) - int(before)), ["gap", "jump", "pause", "silence", before, after]
    )
    days = [f"{datetime.fromtimestamp(int(one), UTC):%Y-%m-%d}" for one in (before, after)]
    evidence += (tuple(days), (before, after))
    sql = "SELECT n, timeStamp - lag(timeStamp) OVER (ORDER BY n) AS step FROM t ORDER BY step DESC LIMIT 3"
    n.say("gap", evidence, after, "timeStamp", pointer=f"/result/{hole}", sql=sql, derived=True)
    stamp = rows[old]["timeStamp"]
    year = f"{datetime.fromtimestamp(int(stamp), UTC):%Y-}"
    told = [stamp, f"{year}", year[:4]]
    sql = "SELECT n, hash, timeStamp FROM t ORDER BY CAST(timeStamp AS INTEGER) LIMIT 2"
    at("time jump", old, "timeStamp", told, stamp, "timeStamp", alone=[stamp], sql=sql)
    told = [rows[odd]["value"], "scientific", "e+", "not an integer", "exponent"]
    at("error", odd, "value", told, rows[odd]["value"], "/e[+]\\d/", alone=[rows[odd]["value"]])
    sql = "SELECT n, gas, gasUsed FROM t WHERE CAST(gasUsed AS INTEGER) > CAST(gas AS INTEGER)"
    at("contradiction", over, "gasUsed", f"{used}|gasUsed >|exceeds gas", str(used), "gasUsed", sql=sql)
    after = rows[first]["nonce"]
    forms = [missed, prior, after, prior + 1]
    evidence = hop(prior, after, [], "nonce", *names(first)) + w.pairs(
        [f"nonce {one}" for one in forms], w.LEAP[:9]
    )
    evidence += tuple(
        (str(one), "nonce", word) for one in forms for word in ("gap", "jump", "skip", "missing")
    )
    sql = f"SELECT n, nonce - lag(nonce) OVER (ORDER BY n) AS s FROM t WHERE \"from\" = '{me}' ORDER BY s DESC LIMIT 2"
    n.say("gap", evidence, f'"{after}"', "nonce", pointer=f"/result/{first}/nonce", sql=sql, derived=True)
    n.tally(
        size,
        ["transfers", "rows", "items", "result", "records", "transactions"],
        "hash",
        sql="SELECT count(*) FROM t",
    )
    done = Counter(one["tokenSymbol"] for one in rows)
    sql = "SELECT tokenSymbol, count(*) FROM t GROUP BY 1"
    n.tally(done[symbol], [symbol], symbol, sql=sql)
    out = sum(one["from"] == me for one in rows)
    n.tally(
        out,
        [me, me[2:9], "outgoing", "sent", "sends", "from the wallet"],
        me,
        sql=sql.replace("tokenSymbol", '"from"'),
    )
    n.ranged(
        rows[0]["blockNumber"],
        rows[-1]["blockNumber"],
        "blockNumber",
        sql="SELECT min(blockNumber), max(blockNumber) FROM t",
    )
    document = {"status": "1", "message": "OK", "result": rows}
    return n.parts(json.dumps(document, separators=(",", ":")))


def _candles(rng: random.Random, size: int, pair: str, start: datetime) -> list[dict]:
    price = rng.uniform(420, 3900)
    rows = []
    for k in range(size):
        first = price
        price = max(50, price * (1 + rng.gauss(0, 0.004)))
        high, low = (
            max(first, price) * (1 + rng.random() * 0.004),
            min(first, price) * (1 - rng.random() * 0.004),
        )
        volume = rng.lognormvariate(4.4, 0.5)
        rows.append(
            {
                "time": start + timedelta(hours=k),
                "symbol": pair,
                "open": f"{first:.2f}",
                "high": f"{high:.2f}",
                "low": f"{low:.2f}",
                "close": f"{price:.2f}",
                "volume": f"{volume:.3f}",
                "trades": str(int(volume * rng.uniform(6, 11))),
                "vwap": f"{(high + low + price) / 3:.2f}",
                "source": rng.choice(("ws", "ws", "ws", "rest")),
            }
        )
    return rows


@kind("e_candles", "rows")
def e_candles(rng: random.Random) -> Parts:
    """Hourly candles of a market as CSV, as a trading API exports them."""
    size = rng.randint(930, 1080)
    pair = f"{rng.choice(w.THINGS)[:4].upper()}-{rng.choice(('EUR', 'USD'))}"
    rows = _candles(rng, size, pair, datetime(2025, 1, rng.randint(2, 28), rng.randint(0, 23)))
    marks = w.spots(rng, size, 13, apart=5)
    spike, flash, still, hole, twin, cross, blank, minus, other, comma, fill, burst, fail = marks
    missed = rng.randint(7, 19)
    for one in rows[hole:]:
        one["time"] += timedelta(hours=missed)
    rows[twin]["time"] = rows[twin - 1]["time"]
    for one in rows:
        one["time"] = f"{one['time']:%Y-%m-%dT%H:%M:%SZ}"
    n = Rows(2)

    def names(k: int) -> list[str]:
        day = rows[k]["time"]
        return [day, day[:16], day[:16].replace("T", " ")] if k not in (twin, twin - 1) else []

    def row(what: str, k: int, telling: list | str, *searches: str, **more: object) -> None:
        n.row(what, k, telling, names(k), *searches, **more)  # type: ignore[arg-type]

    rows[spike]["high"] = f"{float(rows[spike]['high']) * rng.uniform(6, 9):.2f}"
    rows[flash]["low"] = f"{rng.uniform(0.4, 2.9):.2f}"
    rows[still] |= {"volume": "0.000", "trades": "0"}
    rows[cross]["high"], rows[cross]["low"] = rows[cross]["low"], rows[cross]["high"]
    rows[blank]["close"] = ""
    rows[minus]["volume"] = "-" + rows[minus]["volume"]
    alien = f"{rng.choice(w.THINGS)[:3].upper()}X-{pair[-3:]}"
    rows[other]["symbol"] = alien
    rows[comma]["vwap"] = rows[comma]["vwap"].replace(".", ",")
    rows[fill]["source"] = "backfill"
    rows[burst]["trades"] = str(rng.randint(210_000, 890_000))
    code = rng.randint(520, 529)
    rows[fail]["source"] = f"ERR_{code}_UPSTREAM"
    high, low = rows[spike]["high"], rows[flash]["low"]
    row("outlier", spike, f"+{high}|{high[:-3]}|{high[:-1]}", high, "/;\\d{4,5}[.]\\d\\d;/")
    row("outlier", flash, f"+{low}|{low[:3]}", f";{low};", "/;[0-2][.]\\d\\d;/")
    told = split("0.000|zero volume|no volume|volume 0|no trades|trades 0|volume: 0|trades: 0")
    told += ["volume is 0", "trades=0", "volume=0", "0 trades", "volume of 0"]
    row("outlier", still, told, ";0.000;0;", "/;0[.]000;/", alone=["0.000", "volume 0"])
    before, after = rows[hole - 1]["time"], rows[hole]["time"]
    short = [one[:16] for one in (before, after)]
    hours = [f"{missed} hour", f"{missed + 1} hour", f"{missed} candles", f"{missed} h", f"{missed + 1} h"]
    hours += split(
        f"{missed}h|{missed + 1}h|{missed + 1}:00|{missed} missing|{missed} rows|{missed + 1} times"
    )
    evidence = hop(before, after, [], *n.places(hole), *n.places(hole - 1)) + w.pairs(
        [*hours, (missed + 1) * 3600], [*w.LEAP[:9], *short]
    )
    evidence += (tuple(short), *w.pairs(short, w.LEAP[:9]))
    sql = f"SELECT n, text FROM lines WHERE n IN ({hole + 1}, {hole + 2})"
    n.give("gap", hole, evidence, before[:13], after[:13], sql=sql)
    when = rows[twin]["time"]
    evidence = (
        w.same(when)
        + w.same(when[:16])
        + ((str(twin + 1), str(twin + 2), "dupl"), (str(twin + 1), str(twin + 2), "same"))
    )
    n.give("duplicate", twin, evidence, when, when[:13], sql=w.find(when))
    told = split("high < low|low > high|high below low|high is below|high less than|low above|low exceeds")
    told += ["high lower", "swapped", "inverted", *[f"{rows[cross]['high']};{rows[cross]['low']}"]]
    both = (rows[cross]["high"], rows[cross]["low"])
    more = (both, *w.pairs(told[:-1], ["1 row", "1 candle", "one row", "one candle"]))
    evidence = w.pairs([*told, rows[cross]["high"]], n.places(cross, *names(cross))) + more
    n.give("contradiction", cross, evidence, ";".join(both), rows[cross]["time"][:13], derived=False)
    evidence = lost(n.places(blank, *names(blank)), ["close"], size) + w.pairs(
        [";;", "empty", "blank"], n.places(blank, *names(blank))
    )
    n.give("missing field", blank, evidence, "/;;/", ";;", derived=False)
    told = [rows[minus]["volume"], "negative"]
    row(
        "outlier",
        minus,
        told,
        rows[minus]["volume"],
        "/;-\\d/",
        alone=[rows[minus]["volume"], "negative volume"],
    )
    row("rare value", other, f"+{alien}", alien, f"/;(?!{pair})[A-Z]+-/")
    shown = rows[comma]["vwap"]
    row("error", comma, f"+{shown}|comma|not a number|quoted", shown, "/\\d,\\d/")
    row("rare value", fill, "+backfill", "backfill", "source")
    row(
        "outlier",
        burst,
        [rows[burst]["trades"], *large(int(rows[burst]["trades"]))],
        rows[burst]["trades"],
        "/;\\d{6};/",
    )
    code_word = rows[fail]["source"]
    row("error", fail, f"+{code_word}|ERR_{code}", "ERR_", str(code))
    things = ["rows", "candles", "lines", "data rows", "records", "hours", "entries"]
    n.tally(size, things, pair, sql=w.how_many("rows", "/^20\\d\\d-/"))
    rest = sum(one["source"] == "rest" for one in rows)
    n.tally(rest, ["rest"], ";rest", sql=w.how_many("rest", ";rest"))
    start, end = rows[0]["time"], rows[-1]["time"]
    ends = ((start, end), (start[:16], end[:16]), (start[:16].replace("T", " "), end[:16].replace("T", " ")))
    n.say("range", (*ends, (start[:10], end[:10])), start[:10], sql=w.find(start), derived=True)
    heads = list(rows[0])
    return n.parts("\n".join([";".join(heads), *(";".join(one.values()) for one in rows)]) + "\n")


CHROMOSOMES = {
    f"chr{name}": size
    for name, size in zip(
        [*range(1, 23), "X", "Y"],
        (
            249,
            242,
            198,
            190,
            181,
            171,
            159,
            145,
            138,
            134,
            135,
            133,
            114,
            107,
            102,
            90,
            83,
            80,
            59,
            64,
            47,
            51,
            156,
            57,
        ),
        strict=True,
    )
}


def _variants(rng: random.Random, absent: str, lengths: dict[str, int]) -> list[dict]:
    rows = []
    for chrom, length in lengths.items():
        if chrom == absent:
            continue
        count = max(9, round(length / 4_400_000 * rng.uniform(0.8, 1.2)))
        for pos in sorted(rng.sample(range(60_000, length - 900_000), count)):
            ref = rng.choice("ACGT")
            calls = [rng.choice(("0/0", "0/1", "0/1", "1/1")) for _ in range(3)]
            if set(calls) == {"0/0"}:
                calls[rng.randrange(3)] = "0/1"
            hits = sum(one.count("1") for one in calls)
            depth = [rng.randint(17, 58) for _ in calls]
            cells = [f"{gt}:{dp}:{rng.randint(40, 99)}" for gt, dp in zip(calls, depth, strict=True)]
            info = {
                "AC": str(hits),
                "AF": f"{hits / 6:.3f}",
                "AN": "6",
                "DP": str(sum(depth)),
                "MQ": f"{rng.uniform(54, 60):.2f}",
                "CLNSIG": w.pick(rng, {"Benign": 6, "Likely_benign": 4, "Uncertain_significance": 2}),
            }
            rows.append(
                {
                    "chrom": chrom,
                    "pos": pos,
                    "id": f"rs{rng.randint(1_000_000, 899_999_999)}",
                    "ref": rng.choice((ref, ref, ref, ref + rng.choice("ACGT") * rng.randint(1, 5))),
                    "alt": rng.choice([one for one in "ACGT" if one != ref]),
                    "qual": f"{rng.uniform(90, 1900):.2f}",
                    "filter": w.pick(rng, {"PASS": 88, "q10": 5, "LowDP": 7}),
                    "info": info,
                    "cells": cells,
                }
            )
    return rows


@kind("e_vcf_variants", "rows")
def e_vcf_variants(rng: random.Random) -> Parts:
    """Variants of three samples as VCF."""
    lengths = {one: size * 1_000_000 + rng.randint(-400_000, 400_000) for one, size in CHROMOSOMES.items()}
    absent = f"chr{rng.randint(9, 16)}"
    rows = _variants(rng, absent, lengths)
    size = len(rows)
    samples = [f"{rng.choice(w.TOWNS)[:3].upper()}{rng.randint(1000, 9999)}" for _ in range(3)]
    marks = w.spots(rng, size, 12, apart=6)
    bias, ill, twin, deep, back, share, void, trio, bad, plain, long, short = marks
    head = [
        "##fileformat=VCFv4.2",
        f"##fileDate=2025{rng.randint(1, 9):02d}{rng.randint(10, 28)}",
        "##source=HaplotypeCaller",
    ]
    head += [f"##contig=<ID={one},length={length},assembly=GRCh38>" for one, length in lengths.items()]
    head += [
        '##FILTER=<ID=q10,Description="Quality below 10">',
        '##FILTER=<ID=LowDP,Description="Depth below 20">',
    ]
    kinds = {"AC": "A,Type=Integer", "AF": "A,Type=Float", "AN": "1,Type=Integer", "DP": "1,Type=Integer"}
    kinds |= {"MQ": "1,Type=Float", "CLNSIG": ".,Type=String"}
    head += [f'##INFO=<ID={one},Number={type_},Description="{one}">' for one, type_ in kinds.items()]
    head += [
        f'##FORMAT=<ID={one},Number=1,Type={t},Description="{one}">'
        for one, t in (("GT", "String"), ("DP", "Integer"), ("GQ", "Integer"))
    ]
    head += ["\t".join(["#CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER", "INFO", "FORMAT", *samples])]
    n = Rows(len(head) + 1)

    def row(what: str, k: int, telling: list | str, *searches: str, **more: object) -> None:
        names = [
            rows[k]["pos"],
            *([rows[k]["id"]] if k not in (twin, twin - 4) and rows[k]["id"] != "." else []),
        ]
        n.row(what, k, telling, names, *searches, **more)  # type: ignore[arg-type]

    rows[bias]["filter"] = "StrandBias"
    rows[ill]["info"]["CLNSIG"] = "Pathogenic"
    rows[twin]["id"] = rows[twin - 4]["id"]
    depth = rng.randint(9_200, 31_000)
    rows[deep]["info"]["DP"] = str(depth)
    was = rows[back]["pos"]
    rows[back]["pos"] = behind = max(10_000, rows[back - 1]["pos"] - rng.randint(400_000, 900_000))
    fraction = f"{rng.randint(12, 48) / 10:.3f}"
    rows[share]["info"]["AF"] = fraction
    rows[void]["qual"] = "."
    rows[trio]["cells"][1] = "0/1/1" + rows[trio]["cells"][1][3:]
    rows[bad]["ref"] = "N"
    bare = rows[plain]["chrom"][3:]
    rows[plain]["chrom"] = bare
    span = rng.randint(21_000, 88_000)
    rows[long] |= {"alt": "<DEL>", "info": {"SVTYPE": "DEL", "SVLEN": f"-{span}", **rows[long]["info"]}}
    rows[short]["cells"].pop()
    ends = [k for k in range(200, size - 60) if rows[k]["chrom"] != rows[k + 1]["chrom"]]
    past = rng.choice([k for k in ends if all(abs(k - one) > 2 for one in marks)])
    end = lengths[rows[past]["chrom"]]
    rows[past]["pos"] = beyond = end + rng.randint(1_100_000, 3_000_000)
    lines = []
    for one in rows:
        info = ";".join(f"{key}={value}" for key, value in one["info"].items())
        cells = [
            one["chrom"],
            str(one["pos"]),
            one["id"],
            one["ref"],
            one["alt"],
            one["qual"],
            one["filter"],
            info,
            "GT:DP:GQ",
        ]
        lines.append("\t".join(cells + one["cells"]))
    row("rare value", bias, "+StrandBias", "StrandBias", "FILTER")
    row("rare value", ill, "=Pathogenic|+Pathogenic|^CLNSIG=Pathogenic", "Pathogenic", "CLNSIG=Path")
    ident = rows[twin]["id"]
    places = (str(rows[twin]["pos"]), str(rows[twin - 4]["pos"]))
    n.give(
        "duplicate",
        twin,
        (*w.same(ident, *places), (str(twin + n.first), str(twin - 4 + n.first), "dupl")),
        ident,
        "ID",
    )
    row("outlier", deep, [depth, *large(depth)], f"DP={depth}", "/;DP=\\d{4,}/", alone=[f"DP={depth}"])
    told = split(
        "unsorted|not sorted|out of order|backward|decreas|lower than|before the prev|not in order|drops"
    )
    evidence = w.pairs(told, n.places(back, behind, rows[back]["id"])) + w.pairs(
        [behind], [rows[back - 1]["pos"]]
    )
    sql = f"SELECT n, text, 'out of order' AS note FROM lines WHERE n IN ({back + n.first - 1}, {back + n.first})"
    n.give("contradiction", back, evidence, str(behind), rows[back]["id"], sql=sql, derived=False)
    assert was != behind
    row(
        "outlier",
        share,
        f"+AF={fraction}|{fraction}|{fraction[:3]}|AF above 1|AF > 1",
        f"AF={fraction}",
        "/AF=[1-9]/",
    )
    places = n.places(void, rows[void]["pos"], rows[void]["id"])
    evidence = lost(places, ["QUAL"], size) + w.pairs(
        ["QUAL .", "QUAL=.", "QUAL: .", "no QUAL", "QUAL is", 'QUAL "."'], places
    )
    pattern = "/\t[.]\t(PASS|q10|LowDP)/"
    n.give(
        "missing field",
        void,
        evidence,
        pattern,
        "QUAL",
        sql=f"SELECT n, text, 'QUAL missing' AS note FROM lines WHERE n = {void + n.first}",
    )
    row("rare value", trio, "+0/1/1|triploid|three alleles|3 alleles", "0/1/1", "/\\d/\\d/\\d/")
    told = [
        "REF N",
        "REF=N",
        "REF is N",
        "REF: N",
        "ref `N`",
        'REF "N"',
        "reference N",
        "\tN\t",
        "ref is `N`",
        "REF of N",
    ]
    row("rare value", bad, told, f"{rows[bad]['id']}\tN", "/\tN\t/", alone=["REF N"])
    told = split(
        f'no chr|without chr|without the chr|without `chr`|chr prefix|CHROM {bare}|"{bare}"|`{bare}`|'
        f"CHROM={bare}"
    )
    told += [f"{bare}\t{rows[plain]['pos']}", "lacks chr", 'without "chr"', f"CHROM: {bare}"]
    row("changed field", plain, told, f"/^{bare}\t/", "/^\\d+\t/", alone=[f"CHROM {bare}"])
    told = ["<DEL>", "SVTYPE=DEL", span, "SVLEN"]
    row("rare value", long, told, "<DEL>", "SVTYPE", alone=["<DEL>", "SVTYPE=DEL", "SVTYPE"])
    told = split(
        f"11 col|11 fields|11 cells|one column less|fewer|missing column|missing sample|no {samples[2]}|"
        f"{samples[2]} missing|without {samples[2]}"
    )
    places = n.places(short, rows[short]["pos"], rows[short]["id"])
    evidence = w.pairs([*told, "truncated", "short row"], places) + lost(places, [samples[2]], size)
    evidence += (("11 columns", "1"), ("12 columns", "11"), ("11 fields", "1"))
    n.give(
        "missing field",
        short,
        evidence,
        rows[short]["id"],
        "/GT:DP:GQ(\t[^\t]+){2}$/",
        sql=f"SELECT n, text, '11 columns' AS note FROM lines WHERE n = {short + n.first}",
    )
    evidence = w.pairs(
        ["beyond", "exceed", "past", "outside", "longer than", "greater than", "> length", end],
        n.places(past, beyond, rows[past]["id"]),
    )
    n.give(
        "contradiction",
        past,
        evidence,
        str(beyond),
        f"length={end}",
        sql=f"SELECT n, text FROM lines WHERE text LIKE '%{beyond}%' OR text LIKE '%length={end}%'",
    )
    told = split(
        f"no {absent}|{absent} missing|{absent} is missing|{absent} has no|without {absent}|"
        f"{absent} absent|{absent}: 0|{absent} 0|{absent} is absent"
    )
    k = int(absent[3:])
    evidence = (
        *((one,) for one in told),
        *hop(f"chr{k - 1}", f"chr{k + 1}", [], "gap"),
        (absent, "missing"),
        (absent, "no rows"),
        (absent, "0 "),
    )
    n.say(
        "gap",
        evidence,
        f"/^{absent}\t/",
        absent,
        sql=w.how_many(absent, f"/^{absent}\t/").replace(f'"{absent}"', f'"{absent} rows"'),
        derived=True,
    )
    n.tally(
        size,
        ["variants", "rows", "records", "data rows", "lines of data", "data lines", "entries"],
        "/^chr/",
        sql=w.how_many("variants", "/GT:DP:GQ/"),
    )
    passed = sum(one["filter"] == "PASS" for one in rows)
    n.tally(passed, ["PASS"], "PASS", sql=w.how_many("PASS", "\tPASS\t"))
    return n.parts("\n".join(head + lines) + "\n")
