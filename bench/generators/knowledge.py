"""Results of directories, mailboxes, task managers, search engines and graphs."""

from random import Random
from typing import Any

from bench.generators.encodings import compact, escaped, pretty, spaced
from bench.generators.planting import changed_type, listing, missing, outlier, rare_key, rare_value
from bench.generators.sample import Recipe
from bench.generators.vocabulary import (
    CITIES,
    COMPANIES,
    day,
    first_name,
    last_name,
    mailbox,
    noun,
    number,
    paragraph,
    person,
    phone,
    sentence,
    skewed,
    slug,
    some,
    stamp,
    title,
    token,
    uuid_text,
    weighted,
)


def _user(rng: Random, index: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": f"usr_{token(rng, 10)}",
        "given_name": first_name(rng),
        "family_name": last_name(rng),
        "email": mailbox(rng),
        "phone": phone(rng),
        "department": rng.choice(("Finance", "Vertrieb", "Développement", "Support", "物流")),
        "role": weighted(rng, ("member", 85), ("manager", 10), ("auditor", 5)),
        "office": {"city": rng.choice(CITIES), "floor": rng.randint(1, 8)},
        "logins_30d": int(skewed(rng, 22, 0.4, 0)),
        "last_seen": stamp(rng, index, 600),
        "groups": some(rng, ("vpn", "wiki", "billing", "oncall", "design", "data"), 4),
    }
    if rng.random() < 0.25:
        row["pronouns"] = rng.choice(("she/her", "he/him", "they/them"))
    return row


def _message(rng: Random, index: int) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": token(rng, 16),
        "threadId": token(rng, 16),
        "labelIds": ["INBOX", *some(rng, ("IMPORTANT", "UNREAD", "STARRED"), 2)],
        "from": f"{person(rng)} <{mailbox(rng)}>",
        "to": [mailbox(rng) for _ in range(rng.randint(1, 3))],
        "subject": title(rng),
        "date": stamp(rng, index, 1800),
        "body": "\n\n".join(paragraph(rng, 1, 4) for _ in range(rng.randint(1, 3))),
        "sizeEstimate": int(skewed(rng, 5200, 0.5, 0)),
        "spf": weighted(rng, ("pass", 92), ("neutral", 8)),
    }
    if rng.random() < 0.15:
        row["attachments"] = [{"name": f"{noun(rng)}.pdf", "bytes": int(skewed(rng, 90000, 0.6, 0))}]
    return row


def _task(rng: Random, index: int) -> dict[str, Any]:
    done = rng.random() < 0.4
    return {
        "id": 20000 + index * 3,
        "identifier": f"OPS-{token(rng, 7)}",
        "title": title(rng),
        "description": f"<p>{paragraph(rng, 1, 2)}</p>" if rng.random() < 0.6 else "",
        "done": done,
        "done_at": stamp(rng, index, 4000) if done else "0001-01-01T00:00:00Z",
        "due_date": f"{day(rng)}T12:00:00Z",
        "priority": rng.choice((0, 0, 1, 2, 3)),
        "percent_done": 1 if done else rng.choice((0, 0.25, 0.5)),
        "labels": [
            {"id": rng.randint(1, 9), "title": name} for name in some(rng, ("bug", "garden", "office"), 2)
        ]
        or None,
        "assignees": [{"id": rng.randint(1, 30), "username": noun(rng)}] if rng.random() < 0.5 else None,
        "project_id": rng.randint(1, 6),
        "position": index * 65536,
        "created": stamp(rng, index, 3600),
        "created_by": {"id": rng.randint(1, 30), "username": noun(rng), "name": person(rng)},
        "reminders": None,
        "repeat_after": 0,
        "is_favorite": rng.random() < 0.1,
    }


def _node(rng: Random, index: int) -> dict[str, Any]:
    return {
        "uuid": uuid_text(rng),
        "name": person(rng) if rng.random() < 0.5 else f"{rng.choice(COMPANIES)} {noun(rng)}",
        "labels": ["Entity", rng.choice(("Person", "Organization", "Preference"))],
        "created_at": stamp(rng, index, 800),
        "summary": paragraph(rng, 1, 3),
        "group_id": "main",
        "attributes": {"mentions": int(skewed(rng, 6, 0.5, 0)) + 1},
    }


def _fact(rng: Random, index: int) -> dict[str, Any]:
    return {
        "uuid": uuid_text(rng),
        "group_id": "main",
        "source_node_uuid": uuid_text(rng),
        "target_node_uuid": uuid_text(rng),
        "name": weighted(rng, ("WORKS_AT", 40), ("LIVES_IN", 30), ("PREFERS", 20), ("KNOWS", 10)),
        "fact": sentence(rng),
        "episodes": [uuid_text(rng) for _ in range(rng.randint(1, 2))],
        "created_at": stamp(rng, index, 500),
        "valid_at": f"{day(rng)}T00:00:00Z",
        "invalid_at": f"{day(rng)}T00:00:00Z" if rng.random() < 0.12 else None,
        "expired_at": None,
    }


def _hit(rng: Random, index: int) -> dict[str, Any]:
    return {
        "_index": f"articles-2026.{rng.randint(1, 3):02d}",
        "_id": token(rng, 20),
        "_score": round(18.0 / (1 + index / 90) + rng.random() * 0.05, 4),
        "_source": {
            "title": title(rng),
            "author": person(rng),
            "published": day(rng),
            "language": weighted(rng, ("en", 80), ("de", 15), ("fr", 5)),
            "body": paragraph(rng, 2, 5),
            "views": int(skewed(rng, 3000, 0.7, 0)),
        },
        "highlight": {"body": [f"…<em>{noun(rng)}</em> {sentence(rng)}"]},
    }


def _payload(rng: Random, kind: str) -> dict[str, Any]:
    if kind == "push":
        return {"ref": f"refs/heads/{slug(rng)}", "commits": rng.randint(1, 6), "head": token(rng, 40)}
    if kind == "review":
        return {
            "pull_request": number(rng, 4),
            "state": rng.choice(("approved", "commented")),
            "body": sentence(rng),
        }
    if kind == "deployment":
        return {"environment": rng.choice(("staging", "production")), "seconds": int(skewed(rng, 95, 0.4, 0))}
    return {"issue": number(rng, 4), "title": title(rng), "labels": some(rng, ("bug", "docs", "help"), 2)}


def _event(rng: Random, index: int) -> dict[str, Any]:
    kind = weighted(rng, ("push", 50), ("review", 20), ("issue", 20), ("deployment", 10))
    return {
        "id": f"ev{token(rng, 11)}",
        "type": kind,
        "actor": rng.choice(("ines", "bram", "wanjiru", "tomas")),
        "at": stamp(rng, index, 240),
        **_payload(rng, kind),
    }


def _feature(rng: Random, index: int) -> dict[str, Any]:
    return {
        "type": "Feature",
        "id": f"place/{token(rng, 9)}",
        "geometry": {
            "type": "Point",
            "coordinates": [round(rng.uniform(5, 17), 5), round(rng.uniform(46, 54), 5)],
        },
        "properties": {
            "name": f"{noun(rng).title()} {rng.choice(('Nord', 'Süd', 'am See'))}",
            "kind": weighted(rng, ("village", 75), ("town", 21), ("hamlet", 4)),
            "population": int(skewed(rng, 1900, 0.6, 0)),
            "elevation_m": int(rng.gauss(380, 90)),
        },
    }


def _document(rng: Random, index: int) -> dict[str, Any]:
    return {
        "_id": {"$oid": token(rng, 24)},
        "createdAt": {"$date": stamp(rng, index, 300)},
        "profile": {"name": person(rng), "tags": some(rng, ("red", "blue", "green", "amber"), 3)},
        "balance": {"$numberDecimal": str(skewed(rng, 240, 0.5))},
        "visits": int(skewed(rng, 30, 0.5, 0)),
        "settings": {
            "theme": rng.choice(("dark", "light")),
            "digest": rng.choice(("daily", "weekly", "never")),
        },
        "__v": 0,
    }


RECIPES: dict[str, Recipe] = {
    "users-unicode": listing(
        _user,
        700,
        missing("email"),
        rare_key("impersonated_by", "usr_breakglass"),
        rare_value("role", "superuser"),
        wrap=lambda rows: {"users": rows, "next_page_token": None, "total": len(rows)},
        encode=spaced,
    ),
    "users-escaped": listing(
        _user, 500, outlier("logins_30d"), changed_type("office.floor", "roof"), encode=escaped
    ),
    "users-large": listing(
        _user, 3000, rare_value("role", "owner_transfer", times=2), missing("family_name"), encode=compact
    ),
    "mail": listing(
        _message,
        260,
        rare_value("spf", "hardfail"),
        outlier("sizeEstimate"),
        wrap=lambda rows: {"messages": rows, "resultSizeEstimate": len(rows)},
        encode=compact,
    ),
    "mail-pretty": listing(
        _message, 180, missing("subject"), rare_key("quarantine", "macro in attachment"), encode=pretty
    ),
    "tasks": listing(
        _task, 420, rare_value("priority", 5), missing("due_date"), ids=("identifier",), encode=compact
    ),
    "tasks-pretty": listing(
        _task,
        260,
        changed_type("project_id", "inbox"),
        rare_key("blocked_by_legal", True),
        ids=("identifier",),
        wrap=lambda rows: {"tasks": rows, "page": 1, "total_pages": 1},
        encode=pretty,
    ),
    "graph-nodes": listing(
        _node,
        500,
        outlier("attributes.mentions"),
        missing("summary"),
        ids=("uuid",),
        wrap=lambda rows: {"message": "Nodes retrieved successfully", "nodes": rows},
        encode=compact,
    ),
    "graph-facts": listing(
        _fact,
        450,
        rare_value("name", "CONTRADICTS"),
        rare_key("retraction", {"by": "author"}),
        ids=("uuid",),
        wrap=lambda rows: {"message": "Facts retrieved successfully", "facts": rows},
        encode=spaced,
    ),
    "search-hits": listing(
        _hit,
        300,
        changed_type("_score", "not scored"),
        outlier("_source.views"),
        ids=("_id",),
        wrap=lambda rows: {
            "took": 41,
            "timed_out": False,
            "hits": {"total": {"value": len(rows)}, "hits": rows},
        },
        encode=compact,
    ),
    "events-mixed": listing(
        _event,
        1100,
        rare_value("type", "repository_deleted"),
        rare_key("forced_by_admin", True),
        encode=compact,
    ),
    "features-geo": listing(
        _feature,
        900,
        outlier("properties.population"),
        missing("geometry"),
        wrap=lambda rows: {"type": "FeatureCollection", "features": rows},
        encode=compact,
    ),
    "documents-mongo": listing(
        _document, 700, changed_type("visits", "NaN"), missing("settings"), ids=("_id.$oid",), encode=pretty
    ),
}
