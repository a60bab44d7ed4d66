"""An answer that is a document: a manual in Markdown."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import random
from collections import Counter
from typing import Any, Final

from bench.overflow.figures import differ, leaders, middle, rows, settled, total
from bench.overflow.question import Question, shape
from bench.overflow.words import prose, sentence

PARTS: Final = {
    "acceptor": "Acceptor",
    "admin": "Administration API",
    "archive": "Archive",
    "audit": "Audit trail",
    "balancer": "Balancer",
    "bridge": "Bridge",
    "cache": "Page cache",
    "cluster": "Cluster membership",
    "compaction": "Compaction",
    "consumer": "Consumer groups",
    "dedup": "Deduplication",
    "election": "Leader election",
    "exporter": "Metrics exporter",
    "fetch": "Fetch pipeline",
    "gateway": "HTTP gateway",
    "index": "Index",
    "journal": "Journal",
    "keys": "Key store",
    "limits": "Rate limits",
    "mirror": "Mirroring",
    "offsets": "Offset store",
    "quota": "Quotas",
    "replica": "Replication",
    "retention": "Retention",
    "router": "Router",
    "schema": "Schema registry",
    "session": "Sessions",
    "snapshot": "Snapshots",
    "tiering": "Tiered storage",
    "topics": "Topics",
    "trace": "Tracing",
    "transaction": "Transactions",
    "upgrade": "Rolling upgrade",
    "watch": "Watchers",
}
FIRST: Final = (
    "batch",
    "buffer",
    "check",
    "flush",
    "idle",
    "lease",
    "max",
    "min",
    "poll",
    "retry",
    "scan",
    "sync",
)
SECOND: Final = (
    "bytes",
    "count",
    "delay",
    "interval",
    "limit",
    "mode",
    "size",
    "threads",
    "timeout",
    "window",
)
FAULTS: Final = (
    "BUSY",
    "CLOSED",
    "CONFLICT",
    "EXPIRED",
    "FENCED",
    "FULL",
    "MISSING",
    "REFUSED",
    "STALE",
    "UNKNOWN",
)


def _setting(rng: random.Random, part: str, name: str) -> dict[str, Any]:
    kind = rng.choice(("int", "duration", "bool"))
    defaults = {"int": str(rng.randrange(1, 5000)), "duration": f"{rng.randrange(1, 900)}s", "bool": "true"}
    return {
        "name": f"{part}.{name}",
        "kind": kind,
        "default": defaults[kind],
        "applies": rng.choices(("restart", "reload", "live"), (3, 4, 3))[0],
        "since": f"{rng.randrange(1, 5)}.{rng.randrange(10)}",
        "meaning": sentence(rng),
    }


def _chapter(rng: random.Random, number: int, part: str, code: int) -> dict[str, Any]:
    names = rng.sample([f"{first}_{second}" for first in FIRST for second in SECOND], rng.randint(6, 15))
    return {
        "title": f"## {number}. {PARTS[part]}",
        "part": part,
        "settings": [_setting(rng, part, name) for name in sorted(names)],
        "memory": rng.randrange(16, 900) * 4,
        "start": rng.randrange(2, 400),
        "errors": [
            {
                "code": f"FX-{code + place}",
                "name": f"{part.upper()}_{fault}",
                "retry": rng.choice(("yes", "no", "later")),
                "meaning": sentence(rng),
            }
            for place, fault in enumerate(sorted(rng.sample(FAULTS, rng.randint(3, 6))))
        ],
    }


def _print(rng: random.Random, chapter: dict[str, Any], remark: str) -> str:
    """A chapter: prose, the table of its settings, its resources, its errors, an example."""
    settings = "\n".join(
        f"| `{each['name']}` | {each['kind']} | {each['default']} | {each['applies']} | {each['since']} | {each['meaning']} |"
        for each in chapter["settings"]
    )
    errors = "\n".join(
        f"| {each['code']} | {each['name']} | {each['retry']} | {each['meaning']} |"
        for each in chapter["errors"]
    )
    example = "\n".join(f"{each['name']} = {each['default']}" for each in chapter["settings"][:3])
    return (
        f"{chapter['title']}\n\n{prose(rng, 4, 8)}\n\n{prose(rng, 3, 7)}\n\n"
        f"### Settings\n\n| Setting | Type | Default | Applies | Since | Meaning |\n|---|---|---|---|---|---|\n{settings}\n\n"
        f"{remark}\n\n### Resources\n\n| Resource | Minimum |\n|---|---|\n"
        f"| Memory | {chapter['memory']} MB |\n| Start-up | {chapter['start']} s |\n\n{prose(rng, 2, 5)}\n\n"
        f"### Errors\n\n| Code | Name | Retry | Meaning |\n|---|---|---|---|\n{errors}\n\n"
        f"### Example\n\n```ini\n{example}\n```\n\n{prose(rng, 3, 6)}\n"
    )


@shape("manual")
@settled
def manual(rng: random.Random) -> tuple[str, list[Question]]:
    """The manual of a message broker: a chapter for each part, with tables."""
    code = 1000
    chapters: list[dict[str, Any]] = []
    for number, part in enumerate(PARTS, 1):
        chapters.append(_chapter(rng, number, part, code))
        code += 100
    settings = [setting for chapter in chapters for setting in chapter["settings"]]
    errors = [error for chapter in chapters for error in chapter["errors"]]
    old = rng.sample(settings, 8)
    for setting in old:
        setting["meaning"] = f"Deprecated since 4.{rng.randrange(3)}. {setting['meaning']}"
    asked = rng.choice([setting for setting in settings[80:-80] if setting not in old])
    place = middle(rng, len(chapters))
    window = rng.randrange(120, 900)
    remarks = [f"> **Note:** {sentence(rng)}" for _ in chapters]
    for number in rng.sample([each for each in range(len(chapters)) if each != place], 3):
        remarks[number] = f"> **Warning:** {sentence(rng)}"
    risky = f"{chapters[place]['part']}.write_ack"
    remarks[place] = (
        f"> **Warning:** If `{risky}` is `early`, messages that were confirmed in the last {window} ms "
        "do not survive a power failure."
    )
    text = f"# Ferrox 4.2 manual\n\n{prose(rng, 6, 9)}\n\n" + "\n".join(
        _print(rng, chapter, remark) for chapter, remark in zip(chapters, remarks, strict=True)
    )

    error = rng.choice(errors[30:-30])
    applies = Counter(setting["applies"] for setting in settings)
    one, two = rng.sample(chapters, 2)
    pair = [(PARTS[chapter["part"]], str(len(chapter["settings"]))) for chapter in (one, two)]
    differ(*(count for _, count in pair))
    slowest = [
        (title, seconds)
        for title, seconds in leaders({PARTS[each["part"]]: each["start"] for each in chapters}, 3)
    ]
    chapter = (
        "(SELECT h.text FROM lines AS h WHERE h.n < l.n AND h.text LIKE '## %' ORDER BY h.n DESC LIMIT 1)"
    )
    return text, [
        Question(
            "lookup",
            f"What is the default of {asked['name']}, and since which version does it exist?",
            rows([(asked["default"], asked["since"])]),
            (f"SELECT text FROM lines WHERE text LIKE '%`{asked['name']}`%'",),
            (asked["name"],),
            (f"-n '{asked['name']}'",),
        ),
        Question(
            "lookup",
            f"What is the name of error {error['code']}, and what does it mean?",
            rows([(error["name"], error["meaning"])]),
            (f"SELECT text FROM lines WHERE text LIKE '%{error['code']}%'",),
            (error["code"],),
            (f"-n '{error['code']}'",),
        ),
        Question(
            "needle",
            "Is there a way to configure the broker so that it can lose messages? Which setting, and which value?",
            rows([(risky, "early")]),
            (
                "SELECT n, text FROM lines WHERE text REGEXP '(?i)lose|lost|loss'",
                "SELECT n, text FROM lines WHERE text LIKE '%warning%'",
            ),
            ("/(?i)lose|lost|loss/", "Warning"),
            ("-n -i -E 'lose|lost|loss'", "-n -i 'warning'"),
        ),
        Question(
            "count",
            "How many settings apply only after a restart, how many on reload, how many live?",
            rows(applies.most_common()),
            (
                (
                    "SELECT CASE WHEN text LIKE '%| restart |%' THEN 'restart' WHEN text LIKE '%| reload |%' THEN 'reload' "
                    "ELSE 'live' END AS applies, count(*) AS settings FROM lines WHERE text LIKE '| `%' GROUP BY 1"
                ),
            ),
            ("/^\\| `.*\\| restart \\|/", "/^\\| `.*\\| reload \\|/", "/^\\| `.*\\| live \\|/"),
            tuple(f"-c '| {when} |'" for when in applies),
        ),
        Question(
            "sum",
            "How much memory do all parts need together at least, in MB?",
            rows([[total(each["memory"] for each in chapters)]]),
            ("SELECT sum(CAST(substr(text, 12) AS INTEGER)) AS mb FROM lines WHERE text LIKE '| Memory |%'",),
            ("/^\\| Memory/",),
            ("-n '^| Memory |'",),
        ),
        Question(
            "top",
            "Which three parts take longest to start up, and how many seconds?",
            rows(slowest),
            (
                (
                    f"SELECT {chapter} AS part, CAST(substr(l.text, 14) AS INTEGER) AS seconds FROM lines AS l "
                    "WHERE l.text LIKE '| Start-up |%' ORDER BY 2 DESC LIMIT 3"
                ),
            ),
            ("/^\\| Start-up/", "/^\\| Start-up \\| 3[5-9]\\d/"),
            ("-n -E '^## |^. Start-up'",),
        ),
        Question(
            "compare",
            f'Does the chapter "{pair[0][0]}" or the chapter "{pair[1][0]}" have more settings? How many has each?',
            rows(pair),
            (
                (
                    f"SELECT {chapter} AS part, count(*) AS settings FROM lines AS l WHERE l.text LIKE '| `%' "
                    f"GROUP BY 1 HAVING part LIKE '%{pair[0][0]}%' OR part LIKE '%{pair[1][0]}%'"
                ),
            ),
            tuple(f"/^\\| `{each['part']}\\./" for each in (one, two)),
            tuple(f"-c '^| `{each['part']}\\.'" for each in (one, two)),
        ),
        Question(
            "list",
            "Which settings are deprecated? All their names.",
            rows([setting["name"]] for setting in old),
            ("SELECT text FROM lines WHERE text LIKE '%deprecated%'",),
            ("deprecated",),
            ("-n -i 'deprecated'",),
        ),
    ]
