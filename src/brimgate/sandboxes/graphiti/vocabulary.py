"""The words that names, summaries, facts and episodes are made of; a form's `{slot}` is a key here."""

from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for phrase in text.replace("\n", " ").split(";"))


WORDS: Final[dict[str, tuple[str, ...]]] = {
    "stem": _words(
        "Quill Amber Basalt Cinder Drift Ember Fathom Garnet Halyard Ivory Juniper Kestrel Lumen Marrow Nimbus "
        "Obsidian Pylon Quartz Ripple Sable Tundra Umbra Vellum Willow Xenon Yarrow Zephyr Birch Cobalt Delta"
    ),
    "ending": _words("forge kit flow stack wire loom gate works path mesh core line craft bridge press yard"),
    "storage": _words("DB Store Base SQL Graph Cache Lake Vault Index Ledger KV Archive"),
    "first": _words(
        "Ana Bashir Chloé Dmitri Esi Farah Göran Hana Ivo Jun Kemi Liam Mireille Noor Óscar Priya Quentin Rosa "
        "Søren Tomás Ulrike Valentina Wanjiru Ximena Yuki Zofia Ángel Björn Ceren Diego Elif Fionn Grażyna Håkon"
    ),
    "last": _words(
        "Almeida Brandt Costa Diallo Eklund Ferrari García Haas Itō Jansen Kaya Lindqvist Müller Nakamura O'Brien "
        "Petrović Quiroga Rossi Schäfer Tanaka Ueda Vermeulen Wójcik Xu Yılmaz Zimmermann Adeyemi Bonnet Çelik "
        "Dvořák Eriksen Fischer Grün Horváth Ivanova Jørgensen Kowalska Laurent"
    ),
    "far_name": _phrases("佐藤花子; 田中健; 王小明; 李雪; 김민준; Дарья Волкова; Νίκος Παππάς; ليلى حداد"),
    "city": _words(
        "Lisbon Zürich Kyōto Oslo Málaga Utrecht Gdańsk Reykjavík Lyon Tbilisi Nairobi Montréal Kraków Valparaíso "
        "Göteborg Hanoi Ghent Porto Trieste Bergen Salvador Ljubljana Busan Tallinn Cork Freiburg Oaxaca 東京 台北"
    ),
    "quarter": _phrases(
        "Old harbour; Upper town; Market quarter; Station district; University hill; Canal side; Mill island;"
        "Botanical garden; Night market; Ferry terminal; Observatory; North pier; Textile museum; Tram depot"
    ),
    "trade": _phrases(
        "Analytics; Robotics; Bakery; Logistics; Publishing; Biotech; Instruments; Cycles; Railways; Ceramics;"
        "Seeds; Optics; Insurance; Studios; Roasters; Textiles"
    ),
    "firm": _words("GmbH Ltd Inc AG AB Labs Group Collective Cooperative Foundation Partners"),
    "field": _phrases(
        "glacier dating; coral acoustics; queue theory; yeast genetics; soil carbon; protein folding; tide tables;"
        "graph search; token budgets; speech prosody; battery recycling; orbital debris; vector indexes;"
        "seed banks; museum lighting; train timetables; error budgets; fermentation; bird migration; type inference"
    ),
    "angle": _phrases(
        "Applied; Comparative; Open questions in; A history of; Practical; Small-scale; Seasonal; Automated;"
        "Low-cost; Long-term; Regional; Experimental; Statistical; Field notes on; Introductory; Advanced"
    ),
    "dish": _phrases(
        "sourdough rye; crème brûlée; miso ramen; saffron risotto; pierogi; feijoada; kimchi stew; lemon tart;"
        "shakshuka; gravlax; mole negro; spätzle; dumplings; lentil soup; focaccia; green curry; tortilla"
    ),
    "ingredient": _phrases(
        "smoked paprika; brown butter; yuzu; cardamom; preserved lemon; buckwheat; tahini; dill; black garlic;"
        "coarse salt; rice vinegar; chestnut honey"
    ),
    "treat": _phrases(
        "window seats; night trains; dark roast; aisle seats; oat milk; quiet rooms; paper maps; short meetings;"
        "tabs; spaces; vegetarian menus; early flights; rented bicycles; dark themes; written updates; pour-over coffee"
    ),
    "doing": _phrases(
        "Rotating; Restoring; Labelling; Proofing; Calibrating; Migrating; Packing; Reviewing; Cleaning; Testing;"
        "Archiving; Translating; Draining; Splitting; Renewing; Sharpening"
    ),
    "matter": _phrases(
        "the signing keys; the nightly backup; sourdough overnight; the telescope mount; customer records;"
        "the espresso machine; travel insurance; the release notes; seed trays; the staging cluster;"
        "the spectrometer; old photographs; the on-call calendar; knives; the search index; museum loans"
    ),
    "gathering": _phrases("Summit; Workshop; Festival; Hackathon; Regatta; Book fair; Symposium; Retreat; Harvest"),
    "paper": _phrases("handbook; field guide; design note; checklist; annual report; minutes; recipe book; glossary"),
    "system": _phrases(
        "The gateway; Checkout; The booking form; The export; Search; The ticket printer; The oven control;"
        "The mobile app; The archive; The sensor hub; Sign-in; The night bus feed"
    ),
    "promise": (
        *(f"must answer within {number} ms" for number in range(20, 400, 20)),
        *(f"must keep {number} days of history" for number in range(7, 120, 7)),
        *(f"must stay below {number} MB" for number in range(16, 513, 16)),
        *_phrases(
            "must survive a restart; must work offline; must log every deletion; must fit on one screen;"
            "must refuse empty names; must read right to left; must tell the time of the place"
        ),
    ),
    "material": _words("Copper Walnut Enamel Brass Linen Granite Bamboo Porcelain Leather Glass Titanium Cork"),
    "thing": _phrases(
        "kettle; microscope; bicycle; violin; field recorder; cutting board; sextant; lantern; loom; suitcase;"
        "barometer; teapot; typewriter; compass; mortar; telescope"
    ),
    "language": _words("Python Rust Go TypeScript Elixir Kotlin OCaml Zig Swift Ruby"),
    "license": _phrases("MIT; Apache-2.0; BSD-3-Clause; MPL-2.0; proprietary"),
    "quality": _phrases(
        "small; well documented; slow to start; popular; fragile under load; easy to replace; surprisingly cheap;"
        "hard to find; older than it looks; half finished; carefully maintained; often misunderstood"
    ),
    "team": _phrases(
        "the platform team; the night shift; the lab in the annex; the travel desk; the kitchen; two volunteers;"
        "the archive; the support rota; the design guild; a retired engineer; the data group; the harbour office"
    ),
    "cause": _phrases(
        "the old one leaked; the contract ended; nobody remembered the password; it was cheaper; the tests were flaky;"
        "the river flooded; a customer asked twice; the audit said so; the map was wrong; it had been raining;"
        "the licence changed; the queue kept growing"
    ),
    "condition": _phrases(
        "the network is slow; the moon is full; more than one region is down; guests arrive late; it snows;"
        "the budget is spent; the index is rebuilt; someone is on leave; the harvest is early"
    ),
    "month": _words("January February March April May June July August September October November December"),
    "day": _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"),
    "year": tuple(str(year) for year in range(2009, 2027)),
    "number": tuple(str(number) for number in range(2, 990)),
    "ordinal": _words("second third fourth fifth sixth seventh eighth ninth"),
    "emoji": _words("👍 🎉 🚆 🍋 🧪 ☕ ✅ 🐛 👩‍🔬 🇵🇹 🥖 ❄️"),
    "greeting": _phrases("Morning!; Hej; Quick one; FYI; ¿Listo?; Ça va?; Question; おはよう; Update"),
}  # fmt: skip
