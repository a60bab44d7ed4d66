"""An answer that is a list of long items: the issues of a repository."""

# ruff: noqa: S608  (these queries are questions with known values in them; nothing here runs them)

import datetime
import json
import random
from collections import Counter
from typing import Any, Final

from bench.overflow.figures import differ, leaders, mean, middle, rows, settled, total
from bench.overflow.question import Question, shape
from bench.overflow.words import OBJECTS, SUBJECTS, VERBS, people, prose, sentence

LABELS: Final = {
    "bug": "d73a4a",
    "enhancement": "a2eeef",
    "documentation": "0075ca",
    "performance": "fbca04",
    "good first issue": "7057ff",
    "needs-info": "cccccc",
    "regression": "b60205",
}
REPOSITORY: Final = "https://api.github.com/repos/lumenworks/lantern"


def _user(login: str, number: int) -> dict[str, Any]:
    return {
        "login": login,
        "id": number,
        "avatar_url": f"https://avatars.githubusercontent.com/u/{number}?v=4",
        "url": f"https://api.github.com/users/{login}",
        "html_url": f"https://github.com/{login}",
        "type": "User",
        "site_admin": False,
    }


def _body(rng: random.Random) -> str:
    """What people write: what happens, the steps, a version, some output."""
    steps = "\n".join(f"{step}. {sentence(rng)}" for step in range(1, rng.randint(3, 5)))
    version = f"lantern 3.{rng.randrange(9)}.{rng.randrange(12)}, {rng.choice(('Ubuntu 24.04', 'macOS 15', 'Windows 11'))}"
    output = "\n".join(f"[{rng.randrange(10_000, 99_999)}] {sentence(rng)}" for _ in range(rng.randint(2, 5)))
    return (
        f"### What happens\n\n{prose(rng, 3, 8)}\n\n### Steps\n\n{steps}\n\n### Version\n\n{version}\n\n"
        f"### Output\n\n```\n{output}\n```\n"
    )


@shape("issues")
@settled
def issues(rng: random.Random) -> tuple[str, list[Question]]:
    """The issues of a repository as GitHub's API gives them, all pages of `gh api --paginate`, minified."""
    logins = [name.lower().replace(" ", "-") for name in people(rng, 40)]
    users = [_user(login, 1_000_000 + rng.randrange(9_000_000)) for login in logins]
    opened = datetime.datetime(2025, 6, 30, 17, 0)
    items: list[dict[str, Any]] = []
    number = 2950
    titles = [f"{subject} {verb} {thing}" for subject in SUBJECTS for verb in VERBS for thing in OBJECTS]
    for title in rng.sample(titles, 130):
        number -= rng.randrange(1, 6)
        opened -= datetime.timedelta(minutes=rng.randrange(60, 2400))
        closed = rng.random() < 0.45
        shut = opened + datetime.timedelta(minutes=rng.randrange(30, 40_000))
        names = rng.sample(list(LABELS)[:-1], rng.randint(0, 3))
        url = f"{REPOSITORY}/issues/{number}"
        items.append(
            {
                "url": url,
                "comments_url": f"{url}/comments",
                "html_url": f"https://github.com/lumenworks/lantern/issues/{number}",
                "id": 2_400_000_000 + number * 1013,
                "number": number,
                "title": title,
                "user": users[int(len(users) * rng.random() ** 2)],
                "labels": [
                    {"id": 88_000 + place, "name": name, "color": LABELS[name], "default": place < 3}
                    for place, name in enumerate(LABELS)
                    if name in names
                ],
                "state": "closed" if closed else "open",
                "locked": False,
                "milestone": None,
                "comments": int(rng.expovariate(1 / 6)),
                "created_at": f"{opened.isoformat()}Z",
                "updated_at": f"{shut.isoformat()}Z",
                "closed_at": f"{shut.isoformat()}Z" if closed else None,
                "author_association": rng.choice(("NONE", "CONTRIBUTOR", "MEMBER")),
                "reactions": {
                    "total_count": rng.randrange(9),
                    "+1": rng.randrange(6),
                    "-1": rng.randrange(2),
                },
                "body": _body(rng),
            }
        )
    for place, item in enumerate(rng.sample(items, 14)):
        item["labels"].append(
            {"id": 88_006, "name": "regression", "color": LABELS["regression"], "default": False}
        )
        if place < 7:
            item.update(state="open", closed_at=None)
    odd = items[middle(rng, 130)]
    odd["body"] = odd["body"].replace(
        "\n\n### Version",
        "\n\nAfter the restart the notes that three of us had written that morning were lost. "
        "They are in no backup either.\n\n### Version",
    )
    text = json.dumps(items, separators=(",", ":"))

    asked = items[rng.randrange(30, 100)]
    done = rng.choice([item for item in items[20:110] if item["closed_at"]])
    labelled = Counter(label["name"] for item in items for label in item["labels"])
    talk = {
        state: total(item["comments"] for item in items if item["state"] == state)
        for state in ("open", "closed")
    }
    averages = [
        (
            name,
            mean(
                item["comments"] for item in items if any(label["name"] == name for label in item["labels"])
            ),
        )
        for name in ("bug", "enhancement")
    ]
    differ(*(average for _, average in averages))
    return text, [
        Question(
            "lookup",
            f"Who opened issue #{asked['number']}, and how many comments does it have?",
            rows([(asked["user"]["login"], asked["comments"])]),
            (f"SELECT user.login, comments FROM t WHERE number = {asked['number']}",),
            (rf"/number\W+{asked['number']}\b/", str(asked["number"])),
            (f"-oE '\"number\":{asked['number']},.{{0,1800}}'",),
        ),
        Question(
            "lookup",
            f'When was the issue "{done["title"]}" closed, and what is its number?',
            rows([(done["number"], done["closed_at"])]),
            (f"SELECT number, closed_at FROM t WHERE title = '{done['title']}'",),
            (done["title"],),
            (f'-oE \'"number":[0-9]+,"title":"{done["title"]}.{{0,1800}}\'',),
        ),
        Question(
            "needle",
            "Does anybody report a loss of data? Which issue, and who reported it?",
            rows([(odd["number"], odd["user"]["login"])]),
            (
                "SELECT number, user.login, title FROM t WHERE body LIKE '%data loss%' OR body LIKE '%loss of data%'",
                "SELECT number, user.login, title FROM t WHERE body REGEXP '(?i)lost|corrupt|disappear|deleted'",
            ),
            ("data loss", "/(?i)lost|corrupt|disappear|deleted/"),
            (
                "-oiE '.{0,200}data loss.{0,200}'",
                "-oiE '\"number\":[0-9]+[^{]*|.{0,200}(lost|corrupt|disappear|deleted).{0,100}'",
            ),
        ),
        Question(
            "count",
            "How many issues are open, and how many are closed?",
            rows(Counter(item["state"] for item in items).most_common()),
            ("SELECT state, count(*) AS issues FROM t GROUP BY state",),
            (r"/state\W+open/", r"/state\W+closed/"),
            ('-o \'"state":"[a-z]*"\'',),
        ),
        Question(
            "count",
            "How many issues carry each label?",
            rows(labelled.most_common()),
            (
                "SELECT name, count(*) AS issues FROM labels GROUP BY name ORDER BY 2 DESC",
                (
                    "SELECT json_extract(l.value, '$.name') AS label, count(*) AS issues "
                    "FROM t, json_each(t.labels) AS l GROUP BY 1 ORDER BY 2 DESC"
                ),
            ),
            tuple(rf"/name\W+{name}\b/" for name in LABELS),
            ('-oE \'"name":"[^"]*"\'',),
        ),
        Question(
            "sum",
            "How many comments were written in all on open issues, and how many on closed ones?",
            rows(talk.items()),
            ("SELECT state, sum(comments) AS comments FROM t GROUP BY state",),
            (),
            ('-oE \'"state":"[a-z]*"|"comments":[0-9]+\'',),
        ),
        Question(
            "top",
            "Which three people opened the most issues, and how many did each?",
            rows(leaders(Counter(item["user"]["login"] for item in items), 3)),
            ("SELECT user.login, count(*) AS issues FROM t GROUP BY 1 ORDER BY 2 DESC LIMIT 3",),
            (),
            ('-oE \'"login":"[^"]*"\'',),
        ),
        Question(
            "compare",
            "Are bugs discussed more than enhancements? The average number of comments of both labels, to two decimals.",
            rows(averages),
            (
                (
                    "SELECT labels.name, round(avg(t.comments), 2) AS average FROM t JOIN labels ON labels.parent = t.n "
                    "WHERE labels.name IN ('bug', 'enhancement') GROUP BY 1"
                ),
                (
                    "SELECT json_extract(l.value, '$.name') AS label, round(avg(comments), 2) AS average "
                    "FROM t, json_each(t.labels) AS l WHERE label IN ('bug', 'enhancement') GROUP BY 1"
                ),
            ),
            (),
            ('-oE \'"name":"[^"]*"|"comments":[0-9]+\'',),
        ),
        Question(
            "list",
            "Give me the numbers of all open issues labelled as a regression.",
            rows(
                [item["number"]]
                for item in items
                if item["state"] == "open" and item["labels"] and item["labels"][-1]["name"] == "regression"
            ),
            (
                (
                    "SELECT t.number FROM t JOIN labels ON labels.parent = t.n "
                    "WHERE labels.name = 'regression' AND t.state = 'open'"
                ),
                "SELECT number FROM t WHERE labels LIKE '%\"regression\"%' AND state = 'open'",
            ),
            (r"/name\W+regression/", "regression"),
            ('-oE \'"number":[0-9]+|"name":"regression"|"state":"open"\'',),
        ),
    ]
