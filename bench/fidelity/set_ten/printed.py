# ruff: noqa: C901, E501, ISC004, S608
# fmt: off
"""What programs print, documents and code: a bibliography, a DMI table, a Kotlin source, a message catalogue."""

import random
import re
from collections import Counter

from bench.fidelity.planted import Fact, Parts, kind
from bench.fidelity.set_ten.tools import Page, hexes, letters, person, spread, tally

_TOPICS = (
    "Sea Ice Thickness", "Permafrost Carbon", "Glacier Mass Balance", "Atmospheric Rivers", "Ocean Heat Uptake", "Boreal Fire Regimes",
    "Monsoon Onset", "Aerosol Indirect Effects", "Soil Moisture Memory", "Cloud Feedbacks", "Tropical Cyclone Intensity", "Snow Albedo",
    "Groundwater Recharge", "Stratospheric Ozone", "Methane Fluxes", "Coastal Upwelling",
)
_METHODS = (
    "a Bayesian Reanalysis", "Satellite Gravimetry", "a Coupled Model Ensemble", "Eddy Covariance Towers", "{CMIP6} Projections",
    "Deep Learning Emulators", "Sediment Proxies", "Distributed Fibre Sensing", "Lagrangian Floats", "{GRACE} Data", "Tree-Ring Chronologies",
)
_PLACES = ("Arctic", "Alpine", "Amazonian", "Southern Ocean", "Himalayan", "Siberian", "Sahelian", "North Atlantic", "Patagonian", "Baltic")
_JOURNALS = ("jclim", "grl", "tc", "natgeo", "jgr", "acp", "erl", "hess")
_FULL = ("Journal of Climate", "Geophysical Research Letters", "The Cryosphere", "Nature Geoscience",
         "Journal of Geophysical Research: Atmospheres", "Atmospheric Chemistry and Physics", "Environmental Research Letters",
         "Hydrology and Earth System Sciences")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@kind("k_bibtex_library", "printed")
def bibtex(rng: random.Random) -> Parts:
    size = rng.randint(275, 305)
    told = size - rng.randint(17, 41)
    places = spread(rng, size, 13)
    twin, doi, absent, later, future, broken, secret, pages, ghost, macro, patent, retract, clash = places
    keys: list[str] = []
    entries: list[tuple[str, list[tuple[str, str]]]] = []
    for n in range(size):
        people = [person(rng) for _ in range(rng.randint(1, 5))]
        year = min(2025, int(rng.triangular(1978, 2025, 2019)))
        topic = rng.choice(_TOPICS)
        key = f"{people[0][1]}{year}{topic.split()[0].lower()}"
        while key in keys:
            key += rng.choice("abcdef")
        keys.append(key)
        kind_ = rng.choices(("article", "inproceedings", "techreport", "book", "phdthesis"), (72, 15, 6, 4, 3))[0]
        low = rng.randint(1, 8800)
        fields = [
            ("author", " and ".join(f"{family}, {given}" for given, family in people)),
            ("title", f"{{{topic} in the {rng.choice(_PLACES)} Region from {rng.choice(_METHODS)}}}"),
        ]
        if kind_ == "article":
            fields += [("journal", rng.choice(_JOURNALS)), ("volume", str(rng.randint(3, 130))), ("number", str(rng.randint(1, 24))), ("pages", f"{low}--{low + rng.randint(4, 29)}")]
        elif kind_ == "inproceedings":
            fields += [("booktitle", f"Proceedings of the {rng.randint(4, 41)}th International Workshop on {rng.choice(_TOPICS)}"), ("pages", f"{low}--{low + rng.randint(4, 12)}")]
        elif kind_ == "techreport":
            fields += [("institution", "Norwegian Polar Institute"), ("number", f"TR-{rng.randint(100, 999)}")]
        elif kind_ == "book":
            fields += [("publisher", rng.choice(("Springer", "Elsevier", "Cambridge University Press")))]
        else:
            fields += [("school", rng.choice(("University of Bergen", "{ETH} Z{\\\"u}rich", "University of Colorado Boulder")))]
        fields += [("year", str(year)), ("month", rng.choice(_MONTHS))]
        if kind_ in ("article", "inproceedings"):
            fields += [("doi", f"10.{rng.choice((1175, 1029, 5194, 1038, 1002))}/{letters(rng, 4).lower()}-{rng.randint(10, 24)}-{rng.randint(1000, 9999)}.{n}")]
        if rng.random() < 0.25:
            fields += [("abstract", f"We examine {topic.lower()} over {rng.randint(8, 140)} sites and find a trend of {rng.uniform(-4, 4):.2f} per decade "
                                    f"(p = {rng.uniform(0.001, 0.2):.3f}), which is larger than that reported by earlier assessments.")]
        if rng.random() < 0.5:
            fields += [("timestamp", f"{rng.randint(2016, 2025)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}")]
        entries.append((kind_, fields))
    for place in (twin, doi, absent, later, future, pages, retract, clash, macro, broken):
        if entries[place][0] != "article":
            low = rng.randint(100, 900)
            old = [pair for pair in entries[place][1] if pair[0] in ("author", "title", "year", "month")]
            entries[place] = ("article", [*old[:2], ("journal", rng.choice(_JOURNALS)), ("volume", "41"), ("pages", f"{low}--{low + 9}"), *old[2:], ("doi", f"10.5194/{letters(rng, 4).lower()}-19-{low}.{place}")])

    def put(n: int, name: str, value: str | None) -> None:
        fields = [pair for pair in entries[n][1] if pair[0] != name]
        if value is not None:
            fields.append((name, value))
        entries[n] = (entries[n][0], fields)

    keys[twin] = keys[max(0, twin - 50)] if twin > 60 else keys[twin + 50]
    same = dict(entries[doi + 1 if entries[doi + 1][0] == "article" else doi][1]).get("doi", "")
    same = next(value for _, fields in entries[doi + 9 :] + entries for name, value in fields if name == "doi") or same
    put(doi, "doi", same)
    put(absent, "year", None)
    put(later, "year", "forthcoming")
    put(future, "year", "2107")
    back = (rng.randint(700, 890), rng.randint(410, 620))
    put(pages, "pages", f"{back[0]}--{back[1]}")
    token = letters(rng, 18)
    put(secret, "url", f"https://svc-zotero:{token}@proxy.uib.no/pdf/{rng.randint(10000, 99999)}.pdf")
    entries[ghost] = ("incollection", [*entries[ghost][1][:2], ("crossref", "IPCC_AR7_WG1"), ("year", "2024")])
    put(macro, "journal", "jglaciol")
    entries[patent] = ("patent", [*entries[patent][1][:2], ("number", "EP 3 418 771 B1"), ("year", "2018"), ("holder", "Vaisala Oyj")])
    put(retract, "note", "RETRACTED: editor withdrew this article on 2023-06-02 for fabricated station data")
    put(clash, "year", "2003")
    put(clash, "date", "2013-08-14")
    page = Page()
    page.add("% Encoding: UTF-8", "% Shared library of the Cryosphere and Climate group", f"% {told} entries, exported with Better BibTeX 6.7.193", "")
    for short, full in zip(_JOURNALS, _FULL, strict=True):
        page.add(f'@string{{{short} = "{full}"}}')
    page.add("")
    for n, (kind_, fields) in enumerate(entries):
        page.add(f"@{kind_}{{{keys[n]},", mark=f"e{n}")
        for name, value in fields:
            text = value if name in ("journal", "month") else f"{{{value}}}"
            if n == broken and name == "title":
                text = text[:-1]
            page.add(f"  {name:<9} = {text},", mark=f"{n}.{name}")
        page.add("}", "")
    page.add("@comment{jabref-meta: databaseType:bibtex;}", "@comment{jabref-meta: saveActions:disabled;}")
    at = page.at
    types = Counter(kind_ for kind_, _ in entries)
    years = [int(value) for _, fields in entries for name, value in fields if name == "year" and value.isdigit() and value != "2107"]
    journals = Counter(value for _, fields in entries for name, value in fields if name == "journal")
    most = journals.most_common(1)[0]

    def of(n: int, name: str, *words: str) -> tuple[tuple[str, ...], ...]:
        return ((keys[n], *words), (str(at.get(f"{n}.{name}", at[f"e{n}"])), *words), (str(at[f"e{n}"]), *words))

    facts = [
        Fact("count", (("article", str(types["article"])),), ("@article",), queries=("SELECT 'article' AS type, count(*) AS n FROM lines WHERE text LIKE '@article{%'",)),
        Fact("count", (("inproceedings", str(types["inproceedings"])),), ("@inproceedings",), queries=("SELECT 'inproceedings' AS type, count(*) AS n FROM lines WHERE text LIKE '@inproceedings{%'",)),
        Fact("contradiction", ((str(told), f"{size} "), (f"{told} entries", str(size)), (str(size), "entries")), ("entries",), line=3,
             queries=("SELECT count(*) AS entries, (SELECT text FROM lines WHERE n = 3) AS told FROM lines WHERE text REGEXP '^@[a-z]+[{][A-Za-z0-9_]+,$'",)),
        Fact("range", ((str(min(years)), "2107"), (str(min(years)), "2025")), ("year",),
             queries=("SELECT min(x) AS first, max(x) AS last FROM (SELECT substr(text, 16, 4) AS x FROM lines WHERE text LIKE '  year %') WHERE x REGEXP '^[0-9]+$'",)),
        Fact("count", ((most[0], str(most[1])), ("journal", most[0], str(most[1]))), (most[0],), queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE '  journal %' GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("duplicate", ((keys[twin],),), ("@article",), line=at[f"e{twin}"],
             queries=("SELECT substr(text, instr(text, '{') + 1) AS key, count(*) AS n FROM lines WHERE text REGEXP '^@[a-z]+[{].*,$' GROUP BY 1 HAVING count(*) > 1",)),
        Fact("duplicate", ((same,),), ("doi",), line=at[f"{doi}.doi"], queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE '  doi %' GROUP BY 1 HAVING count(*) > 1",)),
        Fact("missing field", of(absent, "year"), ("year",), line=at[f"e{absent}"]),
        Fact("changed type", (("forthcoming",),), ("forthcoming", "year"), line=at[f"{later}.year"],
             queries=("SELECT n, text FROM lines WHERE text LIKE '  year %' AND text NOT REGEXP '[{](19|20)[0-9]{2}[}]'",)),
        Fact("outlier", (("2107",),), ("2107", "year"), line=at[f"{future}.year"]),
        Fact("secret", (("svc-zotero",), ("proxy.uib.no",), *of(secret, "url", "url")), ("url",), line=at[f"{secret}.url"], hidden=token),
        Fact("contradiction", ((f"{back[0]}--{back[1]}",), (keys[pages], str(back[0]))), ("pages",), line=at[f"{pages}.pages"]),
        Fact("missing section", (("IPCC_AR7_WG1",),), ("crossref",), line=at[f"{ghost}.crossref"], queries=("SELECT n, text FROM lines WHERE text LIKE '%crossref%'",)),
        Fact("missing field", (("jglaciol",),), ("@string", "journal"), line=at[f"{macro}.journal"]),
        Fact("rare value", (("@patent",), ("patent", "Vaisala"), ("EP 3 418 771",)), ("@patent",), line=at[f"e{patent}"],
             queries=("SELECT substr(text, 1, instr(text, '{')) AS type, count(*) AS n FROM lines WHERE text LIKE '@%' GROUP BY 1 ORDER BY 2",)),
        Fact("meaning", (("RETRACTED",),), ("retracted", "note"), line=at[f"{retract}.note"]),
    ]
    return page.text(), facts


@kind("k_dmidecode", "printed")
def dmidecode(rng: random.Random) -> Parts:
    page = Page()
    dimms = 96
    bad, small, none, twin, slow, other, unnamed, volt = spread(rng, dimms, 8, 0.1, 0.97)
    structures = 0
    handle = 0
    told = 0
    skipped = 0

    def block(code: int, title: str, *fields: str, mark: str = "") -> int:
        nonlocal handle, structures
        page.add(f"Handle 0x{handle:04X}, DMI type {code}, {27 + len(fields) * 3} bytes", title, mark=mark)
        page.add(*(f"\t{field}" for field in fields))
        page.add("")
        structures += 1
        handle += 1
        return handle - 1

    serial = f"MXQ{rng.randint(10000000, 99999999)}"
    uuid = f"{hexes(rng, 8)}-{hexes(rng, 4)}-{hexes(rng, 4)}-{hexes(rng, 4)}-{hexes(rng, 12)}"
    page.add("# dmidecode 3.5", "Getting SMBIOS data from sysfs.", "SMBIOS 3.4.0 present.", "# structures", "Table at 0x6B0C3000.", "")
    block(0, "BIOS Information", "Vendor: HPE", "Version: U46", "Release Date: 02/02/2024", "Address: 0xF0000", "Runtime Size: 64 kB", "ROM Size: 64 MB",
          "Characteristics:", "\tPCI is supported", "\tPNP is supported", "\tBIOS is upgradeable", "\tACPI is supported", "\tUEFI is supported", "BIOS Revision: 2.14", "Firmware Revision: 2.98")
    block(1, "System Information", "Manufacturer: HPE", "Product Name: Synergy 660 Gen10 Plus", "Version: Not Specified", f"Serial Number: {serial}", f"UUID: {uuid}",
          "Wake-up Type: Power Switch", "SKU Number: P22136-B21", "Family: Synergy")
    block(2, "Base Board Information", "Manufacturer: HPE", "Product Name: Synergy 660 Gen10 Plus", "Version: Not Specified", f"Serial Number: {serial[:-1]}Q", "Asset Tag: ",
          "Features:", "\tBoard is a hosting board", "\tBoard is replaceable", "Type: Motherboard")
    block(3, "Chassis Information", "Manufacturer: HPE", "Type: Multi-system", "Lock: Not Present", "Boot-up State: Safe", "Power Supply State: Safe", "Thermal State: Safe",
          "Security Status: None", "Height: 10 U", "Number Of Power Cords: 6", mark="chassis")
    mac = "5c:ba:2c"
    for n in range(44):
        block(8, "Port Connector Information", f"Internal Reference Designator: J{n + 11}", "Internal Connector Type: None", f"External Reference Designator: {rng.choice(('Mezz', 'USB', 'iLO', 'SAS'))} Port {n + 1}",
              f"External Connector Type: {'Access Bus (USB)' if n % 3 else 'RJ-45'}", f"Port Type: {'USB' if n % 3 else 'Network Port'}")
    slots = [f"0000:{0x11 + 7 * n:02x}:00.0" for n in range(22)]
    for n, bus in enumerate(slots):
        block(9, "System Slot Information", f"Designation: PCI-E Slot {n + 1}", f"Type: {'x16 PCI Express 4 x16' if n % 2 else 'x8 PCI Express 4 x8'}", f"Current Usage: {rng.choice(('In Use', 'Available'))}",
              "Length: Long", f"ID: {n + 1}", "Characteristics:", "\t3.3 V is provided", "\tPME signal is supported", f"Bus Address: {bus}", mark=f"slot{n}")
    password = letters(rng, 14)
    block(11, "OEM Strings", "String 1: PSF:", "String 2: Product ID: P22136-B21", f"String 3: CUSTOM:ilo_admin_password={password}", "String 4: RackUnit: DC4-R17", mark="oem")
    array = block(16, "Physical Memory Array", "Location: System Board Or Motherboard", "Use: System Memory", "Error Correction Type: Multi-bit ECC", "Maximum Capacity: 12 TB",
                  "Error Information Handle: Not Provided", "Number Of Devices: 64", mark="array")
    block(19, "Memory Array Mapped Address", "Starting Address: 0x00000000000", "Ending Address: 0x5FFFFFFFFFF", "Range Size: 6 TB", f"Physical Array Handle: 0x{array:04X}", "Partition Width: 1")
    numbers = [hexes(rng, 8).upper() for _ in range(dimms)]
    numbers[twin] = numbers[twin - 3]
    sizes = Counter[str]()
    makers = Counter[str]()
    error = 0x1A7
    for n in range(dimms):
        socket, place = n // 24 + 1, n % 24 + 1
        if n == 50:
            handle += 3
            skipped = handle - 3
        size = "64 GB" if n != small else "16 GB"
        maker = "Hynix" if n % 2 else "Samsung"
        part = "HMAA8GR7CJR4N-XN" if n % 2 else "M393A8G40AB2-CWE"
        if n == other:
            maker, part = "Kingston", "KSM32RD4/64MFR"
        if n == none:
            size, maker, part = "No Module Installed", "UNKNOWN", "NOT AVAILABLE"
        sizes[size] += 1
        makers[maker] += 1
        speed = "3200 MT/s" if n != none else "Unknown"
        block(17, "Memory Device", f"Array Handle: 0x{array:04X}", f"Error Information Handle: {f'0x{error:04X}' if n == bad else 'No Error'}", "Total Width: 72 bits", "Data Width: 64 bits", f"Size: {size}",
              "Form Factor: DIMM", "Set: None", f"Locator: PROC {socket} DIMM {place}", "Bank Locator: Not Specified", "Type: DDR4", "Type Detail: Synchronous Registered (Buffered)", f"Speed: {speed}",
              f"Manufacturer: {maker}", f"Serial Number: {'Not Specified' if n == unnamed else '00000000' if n == none else numbers[n]}", "Asset Tag: Not Specified", f"Part Number: {part}", "Rank: 2",
              f"Configured Memory Speed: {'2133 MT/s' if n == slow else speed}", "Minimum Voltage: 1.2 V", "Maximum Voltage: 1.2 V", f"Configured Voltage: {'1.5 V' if n == volt else '1.2 V'}",
              "Memory Technology: DRAM", "Memory Operating Mode Capability: Volatile memory", f"Volatile Size: {size if n != none else 'None'}", mark=f"dimm{n}")
    for socket in range(1, 5):
        for level, amount in ((1, "2560 kB"), (2, "40 MB"), (3, "60 MB")):
            block(7, "Cache Information", f"Socket Designation: L{level}-Cache", f"Configuration: Enabled, Not Socketed, Level {level}", "Operational Mode: Write Back", "Location: Internal",
                  f"Installed Size: {amount}", f"Maximum Size: {amount}", "Speed: Unknown", "Error Correction Type: Single-bit ECC", "System Type: Unified", "Associativity: 16-way Set-associative")
        block(4, "Processor Information", f"Socket Designation: Proc {socket}", "Type: Central Processor", "Family: Xeon", "Manufacturer: Intel(R) Corporation",
              "ID: A6 06 06 00 FF FB EB BF", "Signature: Type 0, Family 6, Model 106, Stepping 6", "Flags:", "\tFPU (Floating-point unit on-chip)", "\tVME (Virtual mode extension)", "\tTSC (Time stamp counter)",
              "\tHTT (Multi-threading)", "Version: Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", "Voltage: 1.6 V", "External Clock: 100 MHz", "Max Speed: 4000 MHz", "Current Speed: 2300 MHz",
              f"Status: {'Populated, Disabled By BIOS' if socket == 4 else 'Populated, Enabled'}", "Upgrade: Socket LGA4189", "Core Count: 40", "Core Enabled: 40", "Thread Count: 80", "Characteristics:", "\t64-bit capable",
              "\tMulti-Core", "\tHardware Thread", "\tExecute Protection", mark=f"cpu{socket}")
    for n in range(40):
        block(41, "Onboard Device", f"Reference Designation: {'Embedded NIC' if n % 2 else 'Embedded SATA'} {n // 2 + 1}", f"Type: {'Ethernet' if n % 2 else 'SATA Controller'}", "Status: Enabled", f"Type Instance: {n + 1}",
              f"Bus Address: 0001:{n + 2:02x}:00.{n % 2}", f"Firmware MAC: {mac}:{hexes(rng, 2)}:{hexes(rng, 2)}:{hexes(rng, 2)}" if n % 2 else "Link Speed: 6.0 Gb/s")
    block(228, "OEM-specific Type", "Header and Data:", f"\tE4 0E {handle & 255:02X} 01 00 00 00 00 00 00 00 00 FF FF")
    handle = max(handle, 0xFE)
    page.add(f"Handle 0x{handle + 7:04X}, DMI type 32, 11 bytes", "System Boot Information", "\tStatus: Firmware-detected hardware failure", "", mark="boot")
    structures += 1
    page.add("Invalid entry length (0). DMI table is broken! Stop.", "", mark="end")
    told = structures + rng.randint(9, 22)
    page.lines[3] = f"{told} structures occupying {rng.randint(19000, 24000)} bytes."
    at = page.at

    def dimm(n: int, *words: str) -> tuple[tuple[str, ...], ...]:
        name = f"PROC {n // 24 + 1} DIMM {n % 24 + 1}"
        own = page.lines[at[f"dimm{n}"] - 1].split(",")[0].split(" ")[1]
        start = at[f"dimm{n}"]
        return ((name, *words), (own, *words), *((str(place), *words) for place in range(start, start + 27)))

    def row(n: int, field: str) -> int:
        return next(place for place in range(at[f"dimm{n}"], at[f"dimm{n}"] + 27) if page.lines[place - 1].startswith(f"\t{field}:"))

    hynix = makers["Hynix"]
    facts = [
        Fact("count", (("Memory Device", "96"), ("type 17", "96")), ("Memory Device",), queries=("SELECT 'Memory Device' AS what, count(*) AS n FROM lines WHERE text = 'Memory Device'",)),
        Fact("count", (("Hynix", str(hynix)), ("Samsung", str(makers["Samsung"]))), ("Hynix", "Manufacturer"), queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Manufacturer: %' GROUP BY 1 ORDER BY 2 DESC",)),
        Fact("contradiction", ((str(told), str(structures)), (f"{told} structures", "broken")), ("structures",), line=4,
             queries=("SELECT count(*) AS n, (SELECT text FROM lines WHERE text LIKE '% structures occupying %') AS told FROM lines WHERE text LIKE 'Handle 0x%'",)),
        Fact("contradiction", (("Number Of Devices: 64", "96"), ("64", "96", "Memory Device")), ("Number Of Devices",), line=at["array"] + 7,
             queries=("SELECT (SELECT text FROM lines WHERE text LIKE '%Number Of Devices%') AS told, count(*) AS n FROM lines WHERE text = 'Memory Device'",)),
        Fact("error", (("DMI table is broken",), ("Invalid entry length",)), ("broken", "invalid"), line=at["end"]),
        Fact("error", (*dimm(bad, f"0x{error:04X}"), (f"0x{error:04X}",)), ("Error Information Handle",), line=row(bad, "Error Information Handle"),
             queries=("SELECT n, text, (SELECT l.text FROM lines l WHERE l.n > lines.n AND l.text LIKE '%Locator: PROC%' LIMIT 1) AS dimm FROM lines WHERE text LIKE '%Error Information Handle: 0x%'",)),
        Fact("outlier", (*dimm(small, "16 GB"), ("Size: 16 GB",), ("Size", "16 GB", "64 GB")), ("Size: 16 GB", "GB"), line=row(small, "Size"),
             queries=("SELECT n, text, (SELECT l.text FROM lines l WHERE l.n > lines.n AND l.text LIKE '%Locator: PROC%' LIMIT 1) AS dimm FROM lines WHERE text LIKE '%Size: % GB' AND text NOT LIKE '%64 GB'",)),
        Fact("rare value", (*dimm(none, "No Module"), ("No Module Installed",)), ("No Module",), line=row(none, "Size")),
        Fact("duplicate", ((numbers[twin],),), ("Serial Number",), line=row(twin, "Serial Number"),
             queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Serial Number: %' GROUP BY 1 HAVING count(*) > 1",)),
        Fact("outlier", (*dimm(slow, "2133 MT/s"), ("2133 MT/s",)), ("Configured Memory Speed",), line=row(slow, "Configured Memory Speed"),
             queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Configured Memory Speed%' GROUP BY 1",)),
        Fact("outlier", (("Configured Voltage: 1.5 V",), *dimm(volt, "1.5 V")), ("Configured Voltage",), line=row(volt, "Configured Voltage"),
             queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE '%Configured Voltage%' GROUP BY 1",)),
        Fact("rare value", (("Kingston",), ("KSM32RD4/64MFR",)), ("Manufacturer", "Kingston"), line=row(other, "Manufacturer")),
        Fact("rare status", (("Disabled By BIOS",),), ("Disabled", "Status:"), line=at["cpu4"] + 18),
        Fact("secret", (("ilo_admin_password",), ("String 3",)), ("password",), line=at["oem"] + 4, hidden=password),
        Fact("gap", ((f"0x{skipped - 1:04X}", f"0x{skipped + 3:04X}"), (f"0x{skipped:04X}",)), ("Handle 0x",), line=at["dimm50"]),
        Fact("rare status", (("hardware failure",),), ("failure",), line=at["boot"] + 2),
    ]
    return page.text(), facts


_ENTITIES = (
    "Order", "Invoice", "Shipment", "Refund", "Ledger", "Payout", "Voucher", "Customer", "Address", "Warehouse", "Parcel", "Carrier",
    "Tariff", "Quote", "Contract", "Dispute", "Mandate", "Settlement", "Subscription", "Coupon", "Basket", "Catalogue", "Supplier",
    "Purchase", "Receipt", "Return", "Allocation", "Forecast", "Batch", "Pallet", "Route", "Depot", "Driver", "Vehicle", "Toll",
    "Claim", "Policy", "Deposit", "Escrow", "Audit",
)
_VERBS = ("confirm", "reserve", "release", "recalculate", "split", "merge", "approve", "reject", "notify", "export", "reconcile", "freeze")
_FIELDS = ("amount", "currency", "reference", "tenantId", "createdAt", "version", "status", "weightGrams", "dueDate", "channel", "note", "priority")


@kind("k_kotlin_services", "printed")
def kotlin(rng: random.Random) -> Parts:
    page = Page()
    names = list(_ENTITIES)
    rng.shuffle(names)
    places = rng.sample(range(4, len(names) - 1), 13)
    sql, swallow, slow, attempts, tls, fixme, sleep, open_, always, old, scope, twice, late = (names[place] for place in places)
    password = letters(rng, 16)
    page.add("@file:Suppress(\"TooManyFunctions\", \"LargeClass\")", "", "package no.fjordlogistikk.core.services", "")
    for name in ("java.time.Clock", "java.time.Duration", "java.time.Instant", "java.util.UUID", "javax.net.ssl.SSLContext", "javax.net.ssl.X509TrustManager",
                 "kotlinx.coroutines.GlobalScope", "kotlinx.coroutines.launch", "org.slf4j.LoggerFactory", "org.springframework.jdbc.core.JdbcTemplate",
                 "org.springframework.security.access.prepost.PreAuthorize", "org.springframework.stereotype.Service", "org.springframework.transaction.annotation.Transactional"):
        page.add(f"import {name}")
    page.add("")
    first = rng.randint(11, 14) * 100
    code = first
    codes: dict[str, list[str]] = {}
    gap = names[rng.randint(12, 30)]
    skipped = 0
    for name in names:
        own = []
        for _ in range(3):
            if name == gap and not skipped and own:
                skipped = code
                code += 1
            if name == twice and len(own) == 2:
                own.append(codes[names[2]][1])
                continue
            own.append(f"E{code}")
            code += 1
        codes[name] = own
    dup = codes[names[2]][1]
    timeouts = {name: rng.choice((2_000, 3_000, 5_000, 8_000)) for name in names}
    for name in names:
        low = name[0].lower() + name[1:]
        fields = rng.sample(_FIELDS, 6)
        verbs = rng.sample(_VERBS, 4)
        kinds = {"amount": "BigDecimal", "createdAt": "Instant", "dueDate": "Instant?", "version": "Long", "weightGrams": "Int", "priority": "Int", "note": "String?"}
        page.add(f"/** A {low} as it is stored; see `{low}s` in the schema. */", f"data class {name}(", "    val id: UUID,")
        page.add(*(f"    val {field}: {kinds.get(field, 'String')}," for field in fields), ")", "")
        page.add(f"enum class {name}Error(val code: String, val retryable: Boolean) {{")
        for word, one in zip(("NOT_FOUND", "CONFLICT", "UPSTREAM"), codes[name], strict=True):
            page.add(f'    {word}("{one}", {str(word == "UPSTREAM").lower()}),', mark=f"{name}.{word}")
        page.add("}", "")
        page.add("@Service", f"class {name}Service(", f"    private val {low}s: {name}Repository,", "    private val jdbc: JdbcTemplate,", "    private val events: EventPublisher,", "    private val clock: Clock,", ") {")
        page.add(f"    private val log = LoggerFactory.getLogger({name}Service::class.java)")
        wait = "900_000" if name == slow else f"{timeouts[name]:_}"
        page.add(f"    private val timeout = Duration.ofMillis({wait})", mark=f"{name}.timeout")
        page.add("")
        page.add("    @Transactional(readOnly = true)", f"    fun find(id: UUID): {name} =", f"        {low}s.findById(id).orElseThrow {{ DomainException({name}Error.NOT_FOUND, id) }}", "")
        for verb in verbs:
            field = rng.choice(fields)
            page.add(f"    /** {verb.capitalize()}s the {low} and tells others by an event. */")
            if not (name == open_ and verb == verbs[1]):
                page.add(f"    @PreAuthorize(\"hasAuthority('{low}:{verb}')\")")
            else:
                bare = f"{verb}{name}"
                page.at["bare"] = len(page.lines) + 2
            page.add("    @Transactional", f"    fun {verb}{name}(id: UUID, actor: String): {name} {{", "        val current = find(id)")
            style = rng.randrange(3)
            if style == 0:
                page.add(f"        if (current.version() < {rng.randint(1, 9)}) {{", f"            throw DomainException({name}Error.CONFLICT, id)", "        }")
            elif style == 1:
                page.add(f"        require(actor.isNotBlank()) {{ \"actor must be told to {verb} a {low}\" }}")
            else:
                page.add(f"        val {field}Before = current.toString().hashCode()", f"        log.debug(\"{verb} {low} {{}} ({{}})\", id, {field}Before)")
            page.add(f"        val changed = {low}s.save(current.copy(id = id))", f"        events.publish(\"{low}.{verb}\", changed.id, Instant.now(clock))", "        return changed", "    }", "")
        page.add(f"    fun purge{name}s(tenant: String, before: Instant): Int =")
        if name == sql:
            page.add(f"        jdbc.update(\"DELETE FROM {low}s WHERE tenant = '$tenant' AND created_at < '$before'\")", mark="sql")
        else:
            page.add(f"        jdbc.update(\"DELETE FROM {low}s WHERE tenant = ? AND created_at < ?\", tenant, before)")
        page.add("")
        if name == swallow:
            page.add(f"    fun tryReplay{name}(id: UUID) {{", "        try {", f"            events.replay(\"{low}\", id)", "        } catch (e: Throwable) {", "        }", "    }", "", mark="swallow")
        if name == attempts:
            page.add("    /** A failed upstream call is repeated at most 3 times. */", "    private val maxAttempts = 30", "", mark="attempts")
        if name == tls:
            page.add("    private val trustAll = object : X509TrustManager {", "        override fun checkClientTrusted(chain: Array<X509Certificate>, type: String) = Unit",
                     "        override fun checkServerTrusted(chain: Array<X509Certificate>, type: String) = Unit", "        override fun getAcceptedIssuers() = emptyArray<X509Certificate>()", "    }", "", mark="tls")
        if name == fixme:
            page.add("    // FIXME rounding loses one øre for every line above 9999 NOK, see FIN-2291", "", mark="fixme")
        if name == sleep:
            page.add(f"    fun await{name}Sync() {{", "        Thread.sleep(45_000)", "    }", "", mark="sleep")
        if name == always:
            page.add(f"    fun mayLeave{name}(risk: RiskScore): Boolean {{", "        if (true || risk.isAcceptable()) {", "            return true", "        }", "        return false", "    }", "", mark="always")
        if name == old:
            page.add(f"    @Deprecated(\"Use {verbs[0]}{name} instead; goes away on 2026-03-31\")", f"    fun legacyImport{name}(csv: String): Int = csv.lines().size", "", mark="old")
        if name == scope:
            page.add(f"    fun fireAndForget{name}(id: UUID) {{", "        GlobalScope.launch { events.replay(\"all\", id) }", "    }", "", mark="scope")
        if name == late:
            page.add("    companion object {", f"        private const val SFTP_USER = \"{low}-drop\"", f"        private const val SFTP_PASSWORD = \"{password}\"", "    }", "", mark="secret")
        page.add(f"    private fun {name}.version(): Long = hashCode().toLong()", "}", "")
    at = page.at
    functions = sum(" fun " in line for line in page.lines)
    services = len(names)
    facts = [
        Fact("count", (("@Service", str(services)), (f"{services} services",), (f"{services} class",), (f"{services * 2} class",), (f"{services * 3} class",), ("class", str(services * 3))), ("@Service",),
             queries=("SELECT '@Service' AS what, count(*) AS n FROM lines WHERE text = '@Service'",)),
        Fact("count", (("fun", str(functions)), ("method", str(functions))), (" fun ",), queries=("SELECT 'fun' AS what, count(*) AS n FROM lines WHERE text LIKE '% fun %'",)),
        Fact("secret", (("SFTP_PASSWORD",),), ("password",), line=at["secret"] + 2, hidden=password),
        Fact("duplicate", ((dup,),), ('("E', dup), line=at[f"{twice}.UPSTREAM"],
             queries=("SELECT substr(text, instr(text, '\"'), 7) AS code, count(*) AS n FROM lines WHERE text REGEXP '[(]\"E[0-9]+\"' GROUP BY 1 HAVING count(*) > 1",)),
        Fact("gap", ((f"E{skipped - 1}", f"E{skipped + 1}"), (f"E{skipped}",)), (f"E{skipped - 1}", f"E{skipped + 1}"), line=at[f"{gap}.CONFLICT"]),
        Fact("outlier", (("900_000",), (f"{slow}Service", "900000")), ("ofMillis",), line=at[f"{slow}.timeout"],
             queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE '%ofMillis%' GROUP BY 1 ORDER BY 2",)),
        Fact("contradiction", (("maxAttempts = 30",), ("maxAttempts", "30"), ("at most 3 times", "30")), ("at most", "maxAttempts"), line=at["attempts"]),
        Fact("error", ((f"tryReplay{swallow}",), ("catch (e: Throwable)",), ("catch", str(at["swallow"] + 3))), ("catch",), line=at["swallow"] + 3,
             queries=("SELECT n, text FROM lines WHERE text LIKE '%catch%'",)),
        Fact("meaning", (("trustAll",), ("checkServerTrusted", "Unit"), ("X509TrustManager", str(at["tls"]))), ("TrustManager", "trustAll"), line=at["tls"]),
        Fact("meaning", (("tenant = '$tenant'",), (f"purge{sql}s", "$tenant"), ("$tenant", str(at["sql"]))), ("$tenant", "DELETE FROM"), line=at["sql"],
             queries=("SELECT n, text FROM lines WHERE text LIKE '%DELETE FROM%' AND text NOT LIKE '%?%'",)),
        Fact("meaning", (("FIXME", "FIN-2291"), ("FIXME", "rounding")), ("FIXME",), line=at["fixme"]),
        Fact("outlier", (("Thread.sleep",), (f"await{sleep}Sync", "sleep")), ("sleep",), line=at["sleep"] + 1),
        Fact("missing field", ((bare, "PreAuthorize"), (str(at["bare"]), "PreAuthorize")), ("PreAuthorize", bare), line=at["bare"],
             queries=("SELECT b.n, b.text, 'no PreAuthorize' AS missing FROM lines a JOIN lines b ON b.n = a.n + 1 JOIN lines c ON c.n = a.n - 1 WHERE a.text = '    @Transactional' AND c.text NOT LIKE '%PreAuthorize%'",)),
        Fact("meaning", (("true || risk",), (f"mayLeave{always}",), ("true ||", str(at["always"] + 1))), ("true ||", "isAcceptable"), line=at["always"] + 1),
        Fact("rare value", (("@Deprecated", f"legacyImport{old}"), ("legacyImport", "2026-03-31"), ("@Deprecated", "2026-03-31")), ("Deprecated",), line=at["old"]),
        Fact("rare value", (("GlobalScope.launch",), (f"fireAndForget{scope}",)), ("GlobalScope.launch",), line=at["scope"] + 1),
    ]
    return page.text(), facts


_THINGS = (  # English, its plural, German with its article, its plural; feminine and neuter, whose accusative is the nominative
    ("invoice", "invoices", "die", "Rechnung", "Rechnungen"), ("account", "accounts", "das", "Konto", "Konten"), ("file", "files", "die", "Datei", "Dateien"),
    ("project", "projects", "das", "Projekt", "Projekte"), ("task", "tasks", "die", "Aufgabe", "Aufgaben"), ("calendar entry", "calendar entries", "die", "Kalendereintragung", "Kalendereintragungen"),
    ("template", "templates", "die", "Vorlage", "Vorlagen"), ("device", "devices", "das", "Gerät", "Geräte"), ("group", "groups", "die", "Gruppe", "Gruppen"),
    ("message", "messages", "die", "Nachricht", "Nachrichten"), ("signature", "signatures", "die", "Signatur", "Signaturen"), ("password", "passwords", "das", "Passwort", "Passwörter"),
    ("certificate", "certificates", "das", "Zertifikat", "Zertifikate"), ("mailbox", "mailboxes", "das", "Postfach", "Postfächer"), ("rule", "rules", "die", "Regel", "Regeln"),
    ("attachment", "attachments", "die", "Anlage", "Anlagen"), ("license", "licenses", "die", "Lizenz", "Lizenzen"), ("document", "documents", "das", "Dokument", "Dokumente"),
    ("folder view", "folder views", "die", "Ordneransicht", "Ordneransichten"), ("report", "reports", "die", "Auswertung", "Auswertungen"), ("role", "roles", "die", "Rolle", "Rollen"),
    ("address", "addresses", "die", "Adresse", "Adressen"), ("image", "images", "das", "Bild", "Bilder"), ("subscription", "subscriptions", "das", "Abonnement", "Abonnements"),
    ("connection", "connections", "die", "Verbindung", "Verbindungen"), ("version", "versions", "die", "Version", "Versionen"), ("schedule", "schedules", "die", "Zeitplanung", "Zeitplanungen"),
    ("query", "queries", "die", "Abfrage", "Abfragen"), ("workspace", "workspaces", "die", "Arbeitsfläche", "Arbeitsflächen"), ("label", "labels", "das", "Etikett", "Etiketten"),
)
_SAYINGS = (
    ("Delete {e}", "{D} löschen"), ("Edit {e}", "{D} bearbeiten"), ("{E} could not be saved", "{A} {D} konnte nicht gespeichert werden"),
    ("No {es} found", "Keine {Ds} gefunden"), ("Loading {es}…", "{Ds} werden geladen …"), ("Are you sure you want to remove this {e}?", "Möchten Sie {this} {D} wirklich entfernen?"),
    ("{E} “%s” was created by %s", "{A} {D} „%s“ wurde von %s angelegt"), ("Share {e} with %s", "{D} mit %s teilen"), ("You have no permission to change this {e}.", "Sie dürfen {this} {D} nicht ändern."),
    ("Import {es} from CSV", "{Ds} aus CSV importieren"), ("{E} is locked until %s", "{A} {D} ist bis %s gesperrt"), ("Show all <b>%d</b> {es}", "Alle <b>%d</b> {Ds} anzeigen"),
    ("Name of the {e}", "Name ({D})"), ("{E} restored", "{A} {D} wurde wiederhergestellt"), ("Move {e} to trash", "{D} in den Papierkorb legen"),
    ("The {e} has expired on %s", "{A} {D} ist am %s abgelaufen"), ("Maximum number of {es} (%d) reached", "Höchstzahl der {Ds} (%d) erreicht"), ("Sort {es} by date", "{Ds} nach Datum sortieren"),
    ("Copy link to {e}", "Link kopieren ({D})"), ("Recently used {es}", "Zuletzt verwendete {Ds}"),
)


@kind("k_po_catalogue", "printed")
def catalogue(rng: random.Random) -> Parts:
    entries: list[dict[str, str]] = []
    for module, (e, es, article, d, ds) in enumerate(_THINGS):
        words = {"e": e, "es": es, "E": e.capitalize(), "D": d, "Ds": ds, "A": article.capitalize(), "this": "diese" if article == "die" else "dieses"}
        line = rng.randint(110, 140)
        for source, target in _SAYINGS:
            line += rng.randint(3, 60)
            entries.append({"ref": f"#: src/modules/{e.replace(' ', '-')}/{rng.choice(('List', 'Detail', 'Dialog', 'Toolbar'))}.vue:{line}",
                            "id": source.format(**words), "str": target.format(**words), "flag": "", "plural": ""})
        entries.append({"ref": f"#: src/modules/{e.replace(' ', '-')}/store.ts:{rng.randint(100, 300)}", "id": f"%d {e} selected", "plural": f"%d {es} selected",
                        "str": f"%d {d} ausgewählt", "strs": f"%d {ds} ausgewählt", "flag": "", "number": str(module)})
    size = len(entries)
    plain = [n for n, entry in enumerate(entries) if not entry["plural"] and 25 < n < size - 25]
    chosen = rng.sample(plain, 130)
    wrong, twin, meaning, spanish, tag, secret, ctx, long, conflict, other = (chosen.pop() for _ in range(10))
    for n in range(size):
        if "%d" in entries[n]["id"] or "%s" in entries[n]["id"]:
            entries[n]["flag"] = "c-format"
    fuzzy = [chosen.pop() for _ in range(rng.randint(27, 38))]
    empty = [chosen.pop() for _ in range(rng.randint(17, 25))]
    for n in fuzzy:
        entries[n]["flag"] = ", ".join(filter(None, ("fuzzy", entries[n]["flag"])))
    for n in empty:
        entries[n]["str"] = ""
    entries[wrong] |= {"id": "Quota of %s exceeded by %d MB", "str": "Kontingent von %d um %s MB überschritten", "flag": "c-format"}
    same = "Reindex the archive now"
    entries[twin] |= {"id": same, "str": "Archiv jetzt neu indizieren", "flag": ""}
    entries[other] |= {"id": same, "str": "Archivindex erneuern", "flag": ""}
    entries[meaning] |= {"id": "Do not overwrite existing backups", "str": "Vorhandene Sicherungen überschreiben", "flag": ""}
    entries[spanish] |= {"id": "Your trial ends tomorrow", "str": "Su período de prueba termina mañana", "flag": ""}
    entries[tag] |= {"id": "Read the <a href=\\\"%s\\\">privacy notice</a> first", "str": "Lesen Sie zuerst den <a href=\\\"%s\\\">Datenschutzhinweis", "flag": "c-format"}
    key = letters(rng, 12)
    entries[secret] |= {"note": f"#. Seen on the staging login page (qa-de / {key})"}
    entries[ctx] |= {"ctx": "nautical", "id": "Bow", "str": "Bug", "flag": ""}
    entries[long] |= {"id": "OK", "str": "Mit einem Klick auf diese Schaltfläche bestätigen Sie, " + "dass Sie die Hinweise zur Verarbeitung gelesen und verstanden haben, " * 11 + "und fahren fort", "flag": ""}
    cut = next(n for n in range(size // 3, size) if entries[n]["plural"])
    page = Page()
    translated = sum(bool(entry["str"]) for entry in entries) - len(fuzzy)
    told = translated + rng.randint(31, 58)
    page.add("# German translations for Kontorist.", "# This file is distributed under the same license as the kontorist package.", f"# {told} translated messages at the last release.", "msgid \"\"", "msgstr \"\"",
             '"Project-Id-Version: kontorist 8.4.0\\n"', '"Report-Msgid-Bugs-To: bugs@kontorist.example\\n"', '"POT-Creation-Date: 2026-02-11 09:12+0100\\n"', '"PO-Revision-Date: 2024-10-30 17:45+0100\\n"',
             '"Last-Translator: Jolanta Brandt <jbrandt@kontorist.example>\\n"', '"Language-Team: German\\n"', '"Language: nl\\n"', '"MIME-Version: 1.0\\n"', '"Content-Type: text/plain; charset=UTF-8\\n"',
             '"Content-Transfer-Encoding: 8bit\\n"', '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"', "")
    for n, entry in enumerate(entries):
        page.at[f"e{n}"] = len(page.lines) + 1
        if "note" in entry:
            page.add(entry["note"])
        page.add(entry["ref"])
        if entry["flag"]:
            page.add(f"#, {entry['flag']}")
        if "ctx" in entry:
            page.add(f'msgctxt "{entry["ctx"]}"')
        page.add(f'msgid "{entry["id"]}"', mark=f"id{n}")
        if entry["plural"]:
            page.add(f'msgid_plural "{entry["plural"]}"', f'msgstr[0] "{entry["str"]}"')
            if n != cut:
                page.add(f'msgstr[1] "{entry["strs"]}"')
        elif n == conflict:
            page.add("<<<<<<< HEAD", f'msgstr "{entry["str"]}"', "=======", f'msgstr "{entry["str"]} "', ">>>>>>> origin/weblate-de", mark="conflict")
        else:
            page.add(f'msgstr "{entry["str"]}"')
        page.add("")
    gone = rng.randint(41, 56)
    for n in range(gone):
        e, _, _, d, _ = _THINGS[n % len(_THINGS)]
        page.add(f'#~ msgid "{("Print", "Archive")[n // len(_THINGS)]} {e}"', f'#~ msgstr "{d} {("drucken", "archivieren")[n // len(_THINGS)]}"', "")
    at = page.at
    text = page.text()
    fuzzies = len(re.findall(r"(?m)^#, fuzzy", text))
    missing = len(empty)
    references = len(re.findall(r"(?m)^msgid \"[^\"]", text))

    def of(n: int, *words: str) -> tuple[tuple[str, ...], ...]:
        return tuple((str(place), *words) for place in range(at[f"e{n}"], at[f"e{n}"] + 5))

    facts = [
        Fact("count", (("fuzzy", str(fuzzies)),), ("fuzzy",), queries=("SELECT 'fuzzy' AS what, count(*) AS n FROM lines WHERE text LIKE '#, fuzzy%'",)),
        Fact("count", (("untranslated", str(missing)), ('msgstr ""', str(missing)), ('msgstr ""', str(missing + 1)), ("empty", str(missing))), ('msgstr ""',),
             queries=("SELECT text, count(*) AS n FROM lines WHERE text = 'msgstr \"\"' AND n > 20 GROUP BY 1",)),
        Fact("count", (("obsolete", str(gone)), ("#~", str(gone)), ("#~ msgid", str(gone))), ("#~ msgid",), queries=("SELECT '#~ msgid' AS what, count(*) AS n FROM lines WHERE text LIKE '#~ msgid%'",)),
        Fact("count", (*tally("msgid", references), *tally("msgid", references + 1), *((f"{references} {word}",) for word in ("entries", "messages", "strings", "translations"))), ("msgid",), queries=("SELECT 'msgid' AS what, count(*) AS n FROM lines WHERE text LIKE 'msgid \"_%\"'",)),
        Fact("contradiction", ((str(told), str(translated)), (f"{told} translated", str(references)), (f"{told} translated", str(fuzzies))), ("translated messages",), line=3,
             queries=("SELECT (SELECT text FROM lines WHERE n = 3) AS told, sum(text LIKE 'msgid \"_%') AS n, sum(text = 'msgstr \"\"') - 1 AS empty, sum(text LIKE '#, fuzzy%') AS fuzzy FROM lines",)),
        Fact("contradiction", (("Language: nl", "German"),), ("Language:",), line=12),
        Fact("error", (("Kontingent von %d um %s",), ("Quota of %s exceeded", "Kontingent"), *of(wrong, "%d", "%s")), ("%s MB", "Quota"), line=at[f"id{wrong}"]),
        Fact("duplicate", ((same,),), ("Reindex",), line=at[f"id{twin}"], queries=("SELECT text, count(*) AS n FROM lines WHERE text LIKE 'msgid \"%' GROUP BY 1 HAVING count(*) > 1",)),
        Fact("missing field", ((entries[cut]["id"], "msgstr[1]"), *of(cut, "msgstr[1]"), *of(cut, entries[cut]["id"]), ("msgstr[1]", str(len(_THINGS) - 1))), ("msgid_plural", "msgstr[1]"), line=at[f"id{cut}"],
             queries=("SELECT a.n, a.text AS msgstr0, 'msgstr[1]' AS wanted FROM lines a JOIN lines b ON b.n = a.n + 1 WHERE a.text LIKE 'msgstr[0]%' AND b.text = ''",)),
        Fact("meaning", (("Do not overwrite existing backups", "Vorhandene Sicherungen"), *of(meaning, "Do not overwrite")), ("not", "overwrite"), line=at[f"id{meaning}"]),
        Fact("error", (("<<<<<<< HEAD",), ("<<<<<<<", str(at["conflict"])), ("origin/weblate-de",), ("conflict", str(at["conflict"]))), ("<<<<<<<",), line=at["conflict"]),
        Fact("rare value", (("Su período de prueba",), ("Your trial ends tomorrow", "Su per")), ("trial", "período"), line=at[f"id{spanish}"]),
        Fact("error", (("Datenschutzhinweis",), *of(tag, "privacy notice")), ("<a href", "</a>"), line=at[f"id{tag}"], queries=("SELECT n, text FROM lines WHERE text LIKE '%<a href%' AND text NOT LIKE '%</a>%'",)),
        Fact("secret", (("staging login",), ("qa-de",)), ("login", "staging"), line=at[f"e{secret}"], hidden=key),
        Fact("outlier", (("Mit einem Klick auf diese",), ('msgid "OK"',), *of(long, "OK")), ("OK",), line=at[f"id{long}"], queries=("SELECT n, length(text) AS size, substr(text, 1, 60) AS text FROM lines ORDER BY 2 DESC LIMIT 3",)),
        Fact("rare value", (("nautical",),), ("msgctxt",), line=at[f"id{ctx}"] - 1, queries=("SELECT n, text FROM lines WHERE text LIKE 'msgctxt%'",)),
    ]
    return text, facts
