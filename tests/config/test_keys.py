"""Every key there is changes what the relay does. A key without a case here fails the last test."""

import base64
import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brimgate.config.declarations import (
    AuthOptions,
    Config,
    ContextProtection,
    Override,
    RequestLimits,
    Server,
    Upstream,
    UpstreamCredential,
)
from brimgate.config.rule_reader import endpoint_rules
from brimgate.engine.options import keys_of
from brimgate.engine.tokens.estimator import Estimator
from brimgate.errors import ConfigError
from brimgate.sandboxes.hostaway import sandbox
from tests.config.running import BRIMGATE, configured, environment, gateway, protection, talk, upstream_yaml
from tests.hostaway.asking import SMALL
from tests.http.test_entrance import PROVED
from tests.http.test_serving_keys import CASES as SERVING_CASES
from tests.relay.conversation import Conversation, cost, record_of, texts
from tests.relay.rawclient import PATIENCE
from tests.watch.test_telemetry_keys import PROVED as RECORDED

BRIEF = """
context_protection:
  # Global settings
  output_token_threshold: 4000
  hard_output_token_cap: 12000
  default_page_size: 50
  max_page_size: 200
  enable_summarization: true
  enable_pagination: true

  # Per-endpoint overrides
  endpoints:
    /api/v1/listings:
      page_size: 50
      threshold: 4000

    /api/v1/analytics:
      summarization_enabled: false  # Always return full data
"""
"""The example of 001, as it stands there."""

ROWS = [
    {"id": n, "guest": {"name": f"Guest {n}"}, "status": "ok", "notes": f"note {n} " * 3} for n in range(900)
]
FEW = ROWS[:150]
"""More than 4,000 tokens, less than 12,000."""
OBJECT = {
    f"section{n}": {"id": n, "text": " ".join(f"word{n * 61 + k}" for k in range(60))} for n in range(30)
}
LOG = "\n".join(f"2026-11-16 12:00:{n % 60:02d} INFO request {n} served" for n in range(4_000))
SALIENT = [
    *ROWS[:400],
    {"id": 400, "guest": {"name": "Guest"}, "status": "payment_failed", "notes": ""},
    *ROWS[401:],
]
VECTORS = [{"id": n, "embedding": [n + 0.125] * 40} for n in range(200)]
STORY = (
    "It began. "
    + "Nothing of note happened, and nobody who was asked about it had seen a thing. " * 190
    + "Then came the zebra. "
    + "And so on. " * 900
)
SCHEMA = {"type": "object", "properties": {"result": {"type": "array"}}, "required": ["result"]}
TOOL = {
    "name": "tool",
    "description": "Lists guests. " * 5,
    "inputSchema": {"type": "object"},
    "outputSchema": SCHEMA,
}

Case = Callable[[Path], None]
CASES: dict[str, Case] = {}


def case(key: str) -> Callable[[Case], Case]:
    def add(function: Case) -> Case:
        CASES[key] = function
        return function

    return add


def answer(value: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}


def both(value: Any) -> dict[str, Any]:
    return answer({"result": value}) | {"structuredContent": {"result": value}}


def is_whole(talking: Conversation, value: Any, tool: str = "tool") -> bool:
    return talking.call(answer(value), tool) == answer(value)


def items(talking: Conversation, tool: str = "tool", value: Any = ROWS) -> int:
    return record_of(talking.call(answer(value), tool))["shown"]["items"]


def listed(talking: Conversation, **members: str) -> dict[str, dict[str, Any]]:
    tools = talking.exchange("tools/list", {}, {"result": {"tools": [TOOL | members]}})["result"]["tools"]
    return {tool["name"]: tool for tool in tools}


def shared(talking: Conversation) -> list[bool]:
    """Which of a hundred different calls are protected."""
    answers = [
        talking.exchange(
            "tools/call", {"name": "tool", "arguments": {"n": n}}, {"result": answer(LOG[:30_000])}
        )
        for n in range(100)
    ]
    return ["_meta" in one["result"] for one in answers]


# What holds for all, and for some tools the same: the name of the key there, here, and what is seen of it


def reduced_at_all(setting: Callable[[str], Conversation], key: str) -> None:
    assert is_whole(setting(f"{key}: false"), LOG) and not is_whole(setting(f"{key}: true"), LOG)


def smaller_chunks(setting: Callable[[str], Conversation], key: str) -> None:
    assert record_of(setting(f"{key}: 7").call(answer(LOG)))["shown"]["endLine"] == 7


def smaller_pages(setting: Callable[[str], Conversation], key: str) -> None:
    assert [items(setting(f"{key}: {size}")) for size in (7, 30)] == [7, 30]


def pages_only_over_the_cap(setting: Callable[[str], Conversation], key: str) -> None:
    assert is_whole(setting(f"{key}: false"), FEW) and not is_whole(setting(f"{key}: true"), FEW)
    assert cost(setting(f"{key}: false").call(answer(ROWS))) <= 12_000


def previews_no_objects(setting: Callable[[str], Conversation], key: str) -> None:
    large = OBJECT | {f"more{n}": OBJECT for n in range(4)}
    kinds = [record_of(setting(f"{key}: {on}").call(answer(large)))["kind"] for on in ("true", "false")]
    assert kinds == ["preview", "page"]


def shows_nothing_that_stands_out(setting: Callable[[str], Conversation], key: str) -> None:
    pages = ["\n".join(texts(setting(f"{key}: {on}").call(answer(SALIENT)))) for on in ("true", "false")]
    assert ["payment_failed" in page for page in pages] == [True, False]


def writes_in_a_form(setting: Callable[[str], Conversation], key: str) -> None:
    for form in ("json", "columns", "table", "lines", "bare", "toon"):
        assert record_of(setting(f"{key}: {form}").call(answer(ROWS)))["format"] == form


def compacts_small_answers(setting: Callable[[str], Conversation], key: str) -> None:
    small = ROWS[:30]
    assert is_whole(setting(f"{key}: never"), small)
    got = setting(f"{key}: always").call(answer(small))
    assert record_of(got)["kind"] == "complete" and cost(got) < 0.85 * cost(answer(small))


def strips_vectors(setting: Callable[[str], Conversation], key: str) -> None:
    pages = ["\n".join(texts(setting(f"{key}: {on}").call(answer(VECTORS)))) for on in ("false", "true")]
    assert ["3.125" in page for page in pages] == [True, False]


def leaves_out_empties(setting: Callable[[str], Conversation], key: str) -> None:
    noisy = [row | {"blank": None} for row in ROWS]
    pages = ["\n".join(texts(setting(f"{key}: {on}").call(answer(noisy)))) for on in ("false", "true")]
    assert ["blank" in page for page in pages] == [True, False]


def shows_the_size_of(setting: Callable[[str], Conversation], key: str) -> None:
    noisy = [row | {"trace": f"frame {number} " * 9} for number, row in enumerate(ROWS)]
    pages = ["\n".join(texts(setting(f"{key}: {names}").call(answer(noisy)))) for names in ("[]", '["tr*"]')]
    assert ["frame 1 " in page for page in pages] == [True, False]


def keeps_sentences_with(setting: Callable[[str], Conversation], key: str) -> None:
    article = {"id": 1, "story": STORY, "other": OBJECT}
    shown = [
        "\n".join(texts(setting(f"{key}: {words}").call(answer(article)))) for words in ("[]", "[zebra]")
    ]
    assert ["zebra" in text for text in shown] == [False, True]


def smaller_texts(setting: Callable[[str], Conversation], key: str) -> None:
    for threshold in (600, 3_000):
        assert threshold / 2 < cost(setting(f"{key}: {threshold}").call(answer(LOG))) <= threshold
    assert 3_500 < cost(setting(f"{key}: auto").call(answer(LOG))) <= 4_000


def lets_a_little_more_pass(setting: Callable[[str], Conversation], key: str) -> None:
    near = LOG[: int(len(LOG) * 1.15 * 4_000 / Estimator().ceiling(LOG))]
    assert is_whole(setting(f"{key}: 0.25"), near) and not is_whole(setting(f"{key}: 0"), near)


def treats_schemas(setting: Callable[[str], Conversation], key: str) -> None:
    seen: dict[str, Any] = {}
    for way in ("drop", "relax", "keep"):
        talking = setting(f"{key}: {way}")
        promised = listed(talking)["tool"].get("outputSchema")
        got = talking.call(both(ROWS))
        seen[way] = (promised, "structuredContent" in got)
        assert cost(got) <= 4_000
    assert seen == {"drop": (None, False), "relax": ({"type": "object"}, True), "keep": (SCHEMA, True)}


def annotates(setting: Callable[[str], Conversation], key: str) -> None:
    assert record_of(setting(f"{key}: always").call(answer("small")))["kind"] == "untouched"
    assert is_whole(setting(f"{key}: reduced"), "small")


def protects_a_share(setting: Callable[[str], Conversation], key: str) -> None:
    shares = [sum(shared(setting(f"{key}: {percent}"))) for percent in (0, 40, 100)]
    assert shares[0] == 0 and 20 < shares[1] < 60 and shares[2] == 100


def attachment(size: int) -> dict[str, Any]:
    resource = {"uri": "a:", "mimeType": "application/pdf", "blob": base64.b64encode(bytes(size)).decode()}
    return {"content": [{"type": "resource", "resource": resource}]}


def holds_large_blobs(setting: Callable[[str], Conversation], key: str) -> None:
    talking = setting(f"{key}: 90")
    assert talking.call(attachment(90)) == attachment(90)
    assert "application/pdf, 91 bytes" in texts(talking.call(attachment(91)))[0]
    assert setting(f"{key}: 9999999").call(attachment(999_999)) == attachment(999_999)


def shows_stubs_of_blobs(setting: Callable[[str], Conversation], key: str) -> None:
    assert setting(f"{key}: pass").call(attachment(90_000)) == attachment(90_000)
    assert "application/pdf, 90 bytes" in texts(setting(f"{key}: stub").call(attachment(90)))[0]


def has_a_mode(setting: Callable[[str], Conversation], key: str) -> None:
    whole = answer(ROWS)
    answers = {mode: setting(f"{key}: {mode}").call(whole) for mode in ("on", "off", "shadow")}
    assert answers["off"] == answers["shadow"] == whole and record_of(answers["on"])["kind"] == "page"


ALIKE = {
    "mode": has_a_mode,
    "enabled": reduced_at_all,
    "default_page_size": smaller_pages,
    "enable_pagination": pages_only_over_the_cap,
    "enable_summarization": previews_no_objects,
    "chunk_size": smaller_chunks,
    "chunk_threshold": smaller_texts,
    "text_slack": lets_a_little_more_pass,
    "highlights": shows_nothing_that_stands_out,
    "format": writes_in_a_form,
    "compact": compacts_small_answers,
    "strip_vectors": strips_vectors,
    "strip_empty": leaves_out_empties,
    "strip_fields": shows_the_size_of,
    "keywords": keeps_sentences_with,
    "max_blob_bytes": holds_large_blobs,
    "blobs": shows_stubs_of_blobs,
    "output_schema": treats_schemas,
    "annotate": annotates,
    "rollout": protects_a_share,
}


def _add_alike() -> None:
    def in_general(key: str, seen: Callable[..., None]) -> Case:
        return lambda folder: seen(lambda text: protection(folder, text), key)

    def for_some(key: str, seen: Callable[..., None]) -> Case:
        def holds_for_its_tool_alone(folder: Path) -> None:
            seen(lambda text: protection(folder, f'tools: {{"to*": {{{text}}}}}'), key)
            # Of several patterns that match the later wins; one that does not match changes nothing.
            seen(lambda text: protection(folder, f'tools: {{"*": {{}}, tool: {{{text}}}, "x*": {{}}}}'), key)

        return holds_for_its_tool_alone

    CASES.update({f"ContextProtection.{key}": in_general(key, seen) for key, seen in ALIKE.items()})
    CASES.update({f"Override.{key}": for_some(key, seen) for key, seen in ALIKE.items()})


_add_alike()


# What holds for all alone


@case("ContextProtection.output_token_threshold")
def _(folder: Path) -> None:
    for threshold in (600, 3_000):
        got = protection(folder, f"output_token_threshold: {threshold}, default_page_size: 200").call(
            answer(ROWS)
        )
        assert threshold / 2 < cost(got) <= threshold


@case("ContextProtection.object_threshold")
def _(folder: Path) -> None:
    for threshold in (700, 1_500):
        text = f"object_threshold: {threshold}, tools: {{tool: {{fields: [section1, section2]}}}}"
        got = protection(folder, text).call(answer(OBJECT))
        assert (
            cost(got)
            <= threshold
            == round(record_of(got)["estimatedTokens"] + record_of(got)["budgetRemaining"])
        )


@case("ContextProtection.hard_output_token_cap")
def _(folder: Path) -> None:
    thresholds = "output_token_threshold: 900, object_threshold: 900, chunk_threshold: 900"
    for cap in (1_000, 6_000):
        talking = protection(folder, f"{thresholds}, hard_output_token_cap: {cap}, default_page_size: 200")
        cursor = record_of(talking.call(answer(LOG)))["nextCursor"]
        assert cap / 2 < cost(talking.read(cursor=cursor, pages="1-20")) <= cap


@case("ContextProtection.max_page_size")
def _(folder: Path) -> None:
    talking = protection(folder, "max_page_size: 60")
    cursor = record_of(talking.call(answer(ROWS)))["nextCursor"]
    refused = talking.read(cursor=cursor, limit=61)
    assert refused["isError"] and "limit exceeds maximum of 60" in texts(refused)[0]
    assert record_of(talking.read(cursor=cursor, limit=60))["shown"]["items"] == 60


@case("ContextProtection.highlight_share")
def _(folder: Path) -> None:
    lines = LOG.split("\n")
    for n, word in enumerate(("disk", "network", "memory", "queue", "cache", "lock", "socket", "index")):
        lines[300 * n + 200] = f"2026-11-16 12:00:00 ERROR {' '.join([word] * (n + 6))} failed"
    told: list[int] = []
    for share in (0, 0.1, 0.5):
        got = protection(
            folder, f"highlight_share: {share}, map_share: 0, chunk_size: 50, chunk_threshold: 2000"
        ).call(answer("\n".join(lines)))
        told.append(texts(got)[1].count("ERROR"))
    assert told[0] == 0 < told[1] < told[2], told


@case("ContextProtection.map_share")
def _(folder: Path) -> None:
    for share, expected in ((0, False), (0.4, True)):
        page = texts(protection(folder, f"map_share: {share}").call(answer(json.dumps(ROWS))))[1]
        assert ("map of the whole" in page) == expected


@case("ContextProtection.alarm_words")
def _(folder: Path) -> None:
    draw = random.Random(4)
    rows = [
        {"id": n, "text": " ".join("".join(draw.choices("aeiklmnorst", k=5)) for _ in range(6))}
        for n in range(900)
    ]
    rows[600]["text"] = "haven inlet bedbug grove amber"
    for words, expected in (("[]", False), ("[bedbug]", True)):
        page = texts(
            protection(folder, f"alarm_words: {words}, annotate: always").call(answer(json.dumps(rows)))
        )[1]
        assert ("haven inlet bedbug" in page) == expected


@case("ContextProtection.model")
def _(folder: Path) -> None:
    for model, family in (("gpt-5", "o200k"), ("claude-sonnet-5", "claude"), ("gpt-4", "cl100k")):
        got = protection(folder, f"model: {model}, annotate: always").call(answer("word " * 40))
        whole = json.dumps(answer("word " * 40)).encode()
        assert record_of(got)["estimatedTokens"] == Estimator(family).count(whole)


@case("ContextProtection.token_family")
def _(folder: Path) -> None:
    whole = json.dumps(answer("word " * 40)).encode()
    for family in ("claude-3", "o200k", "llama3", "chars4"):
        got = protection(folder, f"token_family: {family}, model: claude-5, annotate: always").call(
            answer("word " * 40)
        )
        assert record_of(got)["estimatedTokens"] == Estimator(family).count(whole)


@case("ContextProtection.token_multiplier")
def _(folder: Path) -> None:
    counts = [
        record_of(protection(folder, f"token_multiplier: {factor}").call(answer(LOG)))["total"]["tokens"]
        for factor in (1, 2.5)
    ]
    assert counts[1] == pytest.approx(2.5 * counts[0], rel=0.05)


@case("ContextProtection.cursor_ttl_seconds")
def _(folder: Path) -> None:
    for seconds in (120, 1_200):
        talking = protection(folder, f"cursor_ttl_seconds: {seconds}")
        cursor = record_of(talking.call(answer(LOG)))["nextCursor"]
        talking.now += seconds
        assert "isError" not in talking.read(cursor=cursor)
        talking.now += 60
        assert talking.read(cursor=cursor)["isError"]


@case("ContextProtection.tools")
def _(folder: Path) -> None:
    talking = protection(folder, 'tools: {"list_*": {page_size: 5}, list_guests: {page_size: 9}}')
    sizes = {tool: items(talking, tool) for tool in ("list_rooms", "list_guests", "other")}
    assert sizes["list_rooms"] == 5 and sizes["list_guests"] == 9 and sizes["other"] > 100
    at_the_top = talk(folder, 'tools: {"list_*": {page_size: 5}}')
    assert items(at_the_top, "list_rooms") == 5


@case("ContextProtection.endpoints")
def _(folder: Path) -> None:
    """What they do to answers is in tests/rest and tests/systems/test_hostaway_rest.py."""
    config = configured(folder, BRIEF.replace("page_size: 50\n      t", "page_size: 20\n      t"))
    rules = endpoint_rules(config)
    assert rules("/api/v1/listings").policy.default_page_size == 20
    assert rules("/api/v1/listings/").policy.output_token_threshold == 4_000
    assert rules("/api/v1/listings/7").policy.default_page_size == 50
    assert not rules("/api/v1/analytics").policy.enable_summarization
    at_the_top = configured(folder, 'endpoints: {"*/x": {page_size: 3}, "/a/{b-c}": {page_size: 4}}')
    sizes = [
        endpoint_rules(at_the_top)(path).policy.default_page_size for path in ("/v1/x", "/a/7", "/a/7/c")
    ]
    assert sizes == [3, 4, 0]
    with pytest.raises(
        ConfigError, match=r"yaml:15: context_protection\.endpoints\./api/v1/listings\.threshold: 15000"
    ):
        configured(folder, BRIEF.replace("      threshold: 4000", "      threshold: 15000"))


# What holds for some tools alone


@case("Override.threshold")
def _(folder: Path) -> None:
    for value in (LOG, ROWS, OBJECT):
        talking = protection(folder, "tools: {tool: {threshold: 700}}")
        assert cost(talking.call(answer(value))) <= 700 < cost(talking.call(answer(value), "other"))


@case("Override.object_threshold")
def _(folder: Path) -> None:
    shown = ", ".join(f"section{at}" for at in range(15))
    rules = f"tool: {{fields: [{shown}], object_threshold: 700}}, other: {{fields: [{shown}]}}"
    talking = protection(folder, f"tools: {{{rules}}}")
    assert cost(talking.call(answer(OBJECT))) <= 700 < cost(talking.call(answer(OBJECT), "other"))


@case("Override.fields")
def _(folder: Path) -> None:
    talking = protection(folder, "tools: {tool: {fields: [id, guest.name]}}")
    page = "\n".join(texts(talking.call(answer(ROWS))))
    assert "Guest 7" in page or "guest.name" in page
    assert "note 7" not in page and "notes" not in page
    assert json.loads(talking.walk(talking.call(answer(ROWS)))) == ROWS


@case("Override.sections")
def _(folder: Path) -> None:
    talking = protection(folder, "tools: {tool: {sections: {who: [id, guest.name]}}}")
    cursor = record_of(talking.call(answer(ROWS)))["nextCursor"]
    asked = "\n".join(texts(talking.read(cursor=cursor, fields="who", format="json")))
    assert '"guest":{"name":"Guest 207"}' in asked and "note 207" not in asked
    other = protection(folder, "enabled: true")
    cursor = record_of(other.call(answer(ROWS)))["nextCursor"]
    assert "missingFields" in record_of(other.read(cursor=cursor, fields="who"))


@case("Override.hidden")
def _(folder: Path) -> None:
    talking = protection(folder, "tools: {tool: {hidden: true}}")
    assert set(listed(talking)) == {"brimgate_read"}
    onward, [refusal] = talking.client(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool","arguments":{}}}'
    )
    assert not onward and json.loads(refusal)["error"]["message"] == "Unknown tool: tool"


@case("Override.max_description_chars")
def _(folder: Path) -> None:
    talking = protection(folder, "tools: {tool: {max_description_chars: 13}}")
    told = 'Lists guests.… (all: brimgate_read(cursor="tool:tool"))'
    assert listed(talking)["tool"]["description"] == told


@case("ContextProtection.catalog_tokens")
def _(folder: Path) -> None:
    for limit, events in ((300, ["large_catalog"]), (0, [])):
        talking = protection(folder, f"catalog_tokens: {limit}")
        listed(talking, description="word " * 1_000)
        assert [note.event for note in talking.notes] == events


@case("ContextProtection.trim_tools")
def _(folder: Path) -> None:
    assert "title" not in listed(protection(folder, "trim_tools: true"), title="Tool")["tool"]
    assert "title" in listed(protection(folder, "trim_tools: false"), title="Tool")["tool"]


@case("Upstream.chained")
def _(folder: Path) -> None:
    ours = {"content": [{"type": "text", "text": "[brimgate] x"}], "_meta": {"brimgate/result": {}}}
    for chained in (True, False):
        text = f"upstreams: {{a: {{command: x, chained: {str(chained).lower()}}}}}"
        assert (talk(folder, text, upstream="a").call(ours) == ours) is chained


# The servers behind


def _environment(folder: Path, **keys: Any) -> dict[str, Any]:
    path = folder / "brimgate.yaml"
    path.write_text(upstream_yaml(**keys))
    with gateway("--config", str(path), command=[], cwd=folder) as client:
        client.greet()
        return json.loads(texts(client.call("environment")["result"])[0])


@case("Upstream.command")
def _(folder: Path) -> None:
    path = folder / "brimgate.yaml"
    path.write_text("upstreams: {faulty: {command: /nonexistent/server}}\n")
    with gateway("--config", str(path), command=[]) as client:
        assert "/nonexistent/server" in client.wait_for_log("upstream_lost")


@case("Upstream.args")
def _(folder: Path) -> None:
    path = folder / "brimgate.yaml"
    path.write_text(upstream_yaml(args=["-c", "import sys; sys.stderr.write(sys.argv[1])", "argument one"]))
    with gateway("--config", str(path), command=[]) as client:
        assert client.wait_for_log("argument one").endswith(" [faulty] argument one")


@case("Upstream.env")
def _(folder: Path) -> None:
    assert _environment(folder, env={"FAULTY_VALUE": " a b "})["value"] == " a b "


@case("Upstream.cwd")
def _(folder: Path) -> None:
    (folder / "home").mkdir()
    assert _environment(folder, cwd=str(folder / "home"))["cwd"] == str((folder / "home").resolve())
    assert _environment(folder)["cwd"] == str(folder.resolve())


@case("Upstream.pack")
def _(folder: Path) -> None:
    nodes = [
        {"uuid": f"550e8400-e29b-41d4-a716-4466554400{n:02}", "name": f"Node {n}", "labels": ["Entity", "Tool"],
         "created_at": "2026-11-15T09:00:00+00:00", "summary": f"The number {n}.", "group_id": "main",
         "attributes": {}}
        for n in range(20)
    ]  # fmt: skip
    found = answer({"message": "Nodes retrieved successfully", "nodes": nodes})
    with_it = talk(folder, "upstreams: {a: {command: x, pack: graphiti}}", upstream="a")
    formatted = texts(with_it.call(found, "search_nodes"))[1]
    assert formatted.startswith("Found 20 entities:\n1. Node 0 [Tool] - The number 0. #550e8400-e29b-41d4-")
    never = "upstreams: {a: {command: x, pack: graphiti, tools: {search_nodes: {compact: never}}}}"
    assert talk(folder, never, upstream="a").call(found, "search_nodes") == found, "what fits is left alone"
    without = talk(folder, "upstreams: {a: {command: x}}", upstream="a")
    assert without.call(found, "search_nodes") == found
    with pytest.raises(
        ConfigError, match=r"yaml:1: upstreams\.a\.pack: there is no pack nobodys; installed: "
    ):
        talk(folder, "upstreams: {a: {command: x, pack: nobodys}}")


@case("Upstream.api")
def _(folder: Path) -> None:
    (folder / "api.yaml").write_text(
        "{name: a, base_url: 'http://127.0.0.1:9', tools: {look: {path: /look}}}"
    )
    (folder / "brimgate.yaml").write_text(json.dumps({"upstreams": {"a": {"api": str(folder / "api.yaml")}}}))
    with gateway("--config", str(folder / "brimgate.yaml"), command=[]) as client:
        client.greet()
        tools = client.request("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["look", "brimgate_read"]
    with pytest.raises(ConfigError, match=r"upstreams\.a\.api: is for a REST API"):
        configured(folder, "upstreams: {a: {command: x, api: y}}")


@case("Upstream.base_url")
def _(folder: Path) -> None:
    (folder / "api.yaml").write_text(
        "{name: a, base_url: 'http://127.0.0.1:9', tools: {look: {path: /look}}}"
    )
    with sandbox(**SMALL) as api:
        for address, says in (("", "cannot be reached"), (api.url, "not find")):
            one = {"api": str(folder / "api.yaml"), "base_url": address}
            (folder / "brimgate.yaml").write_text(json.dumps({"upstreams": {"a": one}}))
            with gateway("--config", str(folder / "brimgate.yaml"), command=[]) as client:
                client.greet()
                assert says in client.call("look")["result"]["content"][0]["text"]
    with pytest.raises(ConfigError, match=r"upstreams\.a\.base_url: must be http:// or https://"):
        configured(folder, "upstreams: {a: {api: y, base_url: ftp://x}}")


@case("Upstream.tools")
def _(folder: Path) -> None:
    text = "tools: {tool: {page_size: 9}}\nupstreams: {a: {command: x, tools: {tool: {page_size: 4}}}}"
    assert items(talk(folder, text, upstream="a")) == 4
    assert items(talk(folder, text, upstream="b")) == 9


# The whole


def _run(folder: Path, text: str, *options: str, **settings: Any) -> Any:
    path = folder / "brimgate.yaml"
    path.write_text(text)
    return gateway("--config", str(path), *options, **settings)


@case("Config.store")
def _(folder: Path) -> None:
    """What it does between processes is in tests/store/test_user_folder.py."""
    large = {"name": "rows", "arguments": {}}
    for name, is_kept in (("folder", True), ("memory", False)):
        config, state = folder / "brimgate.yaml", folder / name
        config.write_text(f"store: {name}\n{upstream_yaml()}")
        with gateway("--config", str(config), command=[], env={"BRIMGATE_STATE_DIR": str(state)}) as client:
            client.greet()
            assert record_of(client.request("tools/call", large)["result"])["nextCursor"]
        assert bool([*state.rglob("*.data")]) == is_kept


@case("Config.wrapper_log")
def _(folder: Path) -> None:
    """By `brimgate call`, with a pack of somebody else's that fails."""
    info = folder / "failing-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: failing\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[brimgate.packs]\nfailing = failing:PACK\n")
    (folder / "failing.py").write_text(
        "from brimgate.packs import Pack, Tool\n"
        "PACK = Pack('failing', 'fails', {'list_tasks': Tool(lambda answer, scene: answer['nothing'])})\n"
    )
    config = folder / "brimgate.yaml"
    server = {
        "command": sys.executable,
        "args": ["-m", "brimgate.sandboxes.demo"],
        "pack": "failing",
    }
    log = folder / "notes" / "formatters.log"
    config.write_text(json.dumps({"wrapper_log": str(log), "upstreams": {"demo": server}}))
    state = {"BRIMGATE_STATE_DIR": str(folder / "state"), "PYTHONPATH": str(folder)}
    command = [*BRIMGATE, "call", "--config", str(config), "demo", "list_tasks"]
    done = subprocess.run(
        command, capture_output=True, env=environment(**state), timeout=PATIENCE, check=True
    )
    assert b"[brimgate] items #0-" in done.stdout and b"the answer lacks 'nothing'" in done.stderr
    [line] = log.read_text("utf-8").splitlines()
    noted = json.loads(line)
    assert (noted["pack"], noted["operation"]) == ("failing", "list_tasks")
    whole = [*BRIMGATE, "call", "--raw", "list_tasks", "--", server["command"], *server["args"]]
    answer = subprocess.run(
        whole, capture_output=True, env=environment(**state), timeout=PATIENCE, check=True
    )
    text = json.loads(answer.stdout)["content"][0]["text"]
    assert noted["inputBytes"] == len(text.encode()), "of the whole answer, not of its first page"
    assert not (folder / "state" / "wrapper.log").exists()


@case("Config.mode")
def _(folder: Path) -> None:
    pages = [
        "\n".join(texts(talk(folder, f"mode: {mode}").call(answer(VECTORS))))
        for mode in ("development", "production")
    ]
    assert ["3.125" in page for page in pages] == [True, False]
    assert configured(folder, "mode: development").effective_log_level == "debug"
    assert configured(folder, "mode: development\nlog_level: error").effective_log_level == "error"


@case("Config.log_level")
def _(folder: Path) -> None:
    for level, is_told in (("info", True), ("error", False)):
        with _run(folder, f"log_level: {level}\n") as client:
            client.greet()
            client.call("rows")
            client.call("die")
            client.wait_for_log("ERROR upstream_lost")
            assert any("INFO" in line for line in client.log) == is_told, client.log


@case("Config.log_format")
def _(folder: Path) -> None:
    with _run(folder, "log_format: json\n") as client:
        client.greet()
        client.call("die")
        line = json.loads(client.wait_for_log("upstream_lost"))
    assert line["level"] == "ERROR" and "exited with code 3" in line["reason"]


@case("Config.read_tool")
def _(folder: Path) -> None:
    with _run(folder, "read_tool: more\n") as client:
        client.greet()
        tools = client.request("tools/list")["result"]["tools"]
        assert [tool["name"] for tool in tools] == ["echo", "more"]
        first = client.call("rows")["result"]
        cursor = record_of(first)["nextCursor"]
        assert f'more(cursor="{cursor}")' in texts(first)[0]
        assert record_of(client.call("more", cursor=cursor)["result"])["kind"] == "page"


@case("Config.max_result_bytes")
def _(folder: Path) -> None:
    with _run(folder, "max_result_bytes: 65536\n") as client:
        client.greet()
        assert "max_result_bytes (65,536)" in client.call("too_long", bytes=70_000)["error"]["message"]
        assert "result" in client.call("too_long", bytes=60_000)


@case("Config.upstreams")
def _(folder: Path) -> None:
    text = upstream_yaml() + "".join(f"# {n}\n" for n in range(3))
    several = text.replace("upstreams: {", 'upstreams: {"other": {"command": "/nonexistent/server"}, ', 1)
    with _run(folder, text, command=[]) as client:
        client.greet()
        assert texts(client.call("echo", text="hello")["result"]) == ["hello"]
    with _run(folder, several, "--upstream", "faulty", command=[]) as client:
        client.greet()
        assert texts(client.call("echo", text="hello")["result"]) == ["hello"]
    with _run(folder, several, command=[]) as client:
        assert "choose one: --upstream other | faulty" in client.wait_for_log("several servers")
        assert client.process.wait(20) == 2


@case("Config.context_protection")
def _(folder: Path) -> None:
    with _run(folder, "context_protection: {default_page_size: 3}\n") as client:
        client.greet()
        assert record_of(client.call("rows")["result"])["shown"]["items"] == 3


@pytest.mark.parametrize("key", CASES)
def test_a_key_changes_what_the_relay_does(key: str, tmp_path: Path) -> None:
    CASES[key](tmp_path)


def test_every_key_there_is_has_a_case() -> None:
    declared = {
        f"{declaration.__name__}.{key.name}"
        for declaration in (
            Config,
            Server,
            Upstream,
            ContextProtection,
            Override,
            AuthOptions,
            RequestLimits,
            UpstreamCredential,
        )
        for key in keys_of(declaration)
        if len(key.path) == 1
    }
    assert not set(CASES) & set(SERVING_CASES) and not set(PROVED) & {*CASES, *SERVING_CASES}
    assert declared == set(CASES) | set(SERVING_CASES) | set(PROVED) | set(RECORDED)


def test_the_configuration_of_the_brief_loads_as_it_stands_there(tmp_path: Path) -> None:
    config = configured(tmp_path, BRIEF)
    assert config.context_protection == ContextProtection(
        output_token_threshold=4_000,
        hard_output_token_cap=12_000,
        default_page_size=50,
        max_page_size=200,
        enable_summarization=True,
        enable_pagination=True,
        endpoints={
            "/api/v1/listings": Override(default_page_size=50, threshold=4_000),
            "/api/v1/analytics": Override(enable_summarization=False),
        },
    )
