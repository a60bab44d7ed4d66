"""What is printed is true: numbers about rows and lines, places, words of alarm, ends of sentences, counted tokens."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine import jsontext
from brimgate.engine.document import Document
from brimgate.engine.forms import FORMS
from brimgate.engine.preview import excerpt
from tests.engine.holding import Held, policy

HASH = "0123456789abcdef" * 2


def columns(value: object) -> str:
    text = FORMS["columns"].encode(jsontext.canonical(json.dumps(value).encode()))
    assert text is not None
    return text


def highlights(value: object, budget: int = 2_000) -> str:
    """What is said to stand out, without the map."""
    data = value if isinstance(value, str) else json.dumps(value)
    found = Held(data.encode(), policy(budget)).opening().highlights
    return found.partition("\nmap of ")[0] if found.startswith("stands out") else ""


def pods(count: int = 76, pending: int = 34) -> dict[str, object]:
    items = [
        {
            "metadata": {
                "name": f"api-{n * 7919 % 99_991:05d}",
                "uid": f"{n * 2654435761 % 2**32:08x}-4be4-4c3c-9a6e-0123456789ab",
                "labels": {
                    "app": "api",
                    "pod-template-hash": f"{n * 40503 % 65536:04x}c50{n % 7}b{500 + n % 9}",
                },
            },
            "status": {"phase": "Running", "podIP": f"10.0.0.{n}", "note": f"started by {n} " * 40},
        }
        for n in range(count)
    ]
    items[pending]["status"]["phase"] = "Pending"  # type: ignore[index]
    return {"kind": "List", "items": items}


def test_a_constant_is_said_of_the_rows_below_it_and_of_no_more() -> None:
    reply = Held(json.dumps(pods()).encode(), policy(1_500)).opening()
    shown = reply.record["shown"]["items"]
    assert shown < 34
    assert re.search(r'status(?:\.|\{[^}]*)phase="Running"', reply.content)
    assert f'"=" holds for these {shown} rows' in reply.content
    assert "every row" not in reply.text
    assert "/items/34: status.phase=Pending (1 of 76)" in reply.highlights


def test_constants_of_rows_of_several_kinds_are_said_of_their_letter() -> None:
    kinds = [{"a": n, "b": 1, "c": 2} for n in range(3)] + [{"x": n, "y": 1} for n in range(3)]
    kinds += [{"p": n, "q": 1} for n in range(3)]
    text = columns(kinds)
    assert text.startswith(
        'table 1: 9 rows, 3, 2 and 2 columns; "=" holds for the rows below with its letter'
    )
    assert FORMS["columns"].decode(text) == jsontext.canonical(json.dumps(kinds).encode())


def test_a_row_that_fits_no_header_is_not_among_those_for_which_it_holds() -> None:
    text = columns([{"a": 1, "b": 7}, {"a": 2, "b": 7}, "other"])
    assert '3 rows, 2 columns; "=" holds for the 2 rows below that are not JSON' in text


def test_a_constant_inside_an_object_that_may_be_null_says_where_it_is_null() -> None:
    text = columns([{"id": 1, "by": {"login": "ann", "type": "User"}}, {"id": 2, "by": None}])
    assert 'by?.type="User"' in text
    assert "x? is null where its cells are empty" in text


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 2)), min_size=2, max_size=12), st.booleans())
def test_the_rows_for_which_a_constant_is_said_to_hold_are_counted(
    rows: list[tuple[str, int]], nested: bool
) -> None:
    values = [
        {"n": at, "k": key, "o": {"v": value} if nested else value} for at, (key, value) in enumerate(rows)
    ]
    text = columns(values)
    said = re.search(r'"=" holds for these (\d+) rows', text)
    header = text.split("\n")[1]
    for column in ("k", "o.v" if nested else "o"):
        is_same = len({json.dumps(row[column[0]]) for row in values}) == 1
        assert (f"{column}=" in header) == is_same
    assert (said is not None) == ("=" in header)
    assert said is None or int(said[1]) == len(values)


def big_list(count: int = 90) -> bytes:
    items = [{"id": n, "name": f"part {n}", "body": f"words {n} " * 60} for n in range(count)]
    return json.dumps({"a": {"items": items}, "b": {"more": "x" * 3_000}, "c": "y" * 3_000}).encode()


@pytest.mark.parametrize("form", ["auto", "table", "lines"])
def test_a_summary_counts_rows_and_not_the_words_that_mark_its_end(form: str) -> None:
    reply = Held(big_list(), policy(1_200, format=form)).opening()
    marker = re.search(r"… ([\d,]+) more items at (/[^\s\"]*)", reply.content)
    assert reply.record["kind"] == "preview" and marker
    if said := re.search(r"(\d+) rows", reply.content):
        assert int(said[1]) + int(marker[1]) == 90
        assert f"\n{marker[0]}" in reply.content
    assert Document(big_list()).resolve(marker[2])


@pytest.mark.parametrize(
    "field",
    [
        lambda n: {"sha": f"{n * 2654435761:037x}{500 + n % 100 if n in (7, 99) else 111 + n % 300}"},
        lambda n: {"sku": f"AB-{1_000 + n * 37 % 400 if n != 50 else 1500}"},
        lambda n: {"price": f"19.{n * 5 % 1000:03d} EUR"},
        lambda n: {"at": f"12:{n % 60:02d}:{n if n != 60 else 500:03d}"},
        lambda n: {"took": f"{n * 3 if n != 60 else 512}ms"},
        lambda n: {"short": f"{n * 2654435761 % 2**28:07x}" if n != 60 else "abcdefa"},
    ],
)
def test_what_ends_like_a_status_is_no_alarm(field) -> None:  # type: ignore[no-untyped-def]
    rows = [{"id": n, **field(n), "note": f"text {n * 7919} words"} for n in range(200)]
    assert highlights(rows, 700) == ""


@pytest.mark.parametrize(
    "calm",
    [
        "an error budget says how much is allowed",
        "error rates stay low",
        "the run ended with 0 errors",
        "there was no error",
        "errors: 0",
        "passed: 12, failed: 0",
        "error=null",
        "finished without errors",
        "error_count 0",
        "wrapped in an ErrorBoundary",
        "described in /docs/errors.md",
        "see src/errors/index.ts",
        "a mission-critical path",
        "timeout=30",
    ],
)
def test_words_that_report_nothing_are_no_alarm(calm: str) -> None:
    notes = [f"{word} {n * 7919} of the {n % 13} guide" for n, word in enumerate(WORDS)]
    notes[40] = calm
    found = highlights([{"id": n, "note": note} for n, note in enumerate(notes)], 700)
    alarming = list(notes)
    alarming[40] = "Error: no such file"
    assert "/40: note=Error: no such file" in highlights(
        [{"id": n, "note": note} for n, note in enumerate(alarming)], 700
    )
    assert "/40" not in found


WORDS = [
    f"{a}{b}{c}"
    for a in ("Lor", "Mir", "Nab", "Pel", "Quo")
    for b in "aeiou"
    for c in ("n", "r", "s", "t", "l", "m")
]


@pytest.mark.parametrize(
    "alarm",
    [
        'answered "GET / HTTP/1.1" 503 12',
        "HTTP 502 Bad Gateway",
        "status=503",
        "status_code: 500",
        "error: none of the replicas answered",
        "not found error",
        "10 errors, 1 error in the parser",
        "connection refused",
    ],
)
def test_what_reports_trouble_still_is_one(alarm: str) -> None:
    notes = [f"{word} {n * 7919} of the {n % 13} guide" for n, word in enumerate(WORDS)]
    notes[40] = alarm
    assert "/40: note=" in highlights([{"id": n, "note": note} for n, note in enumerate(notes)], 700)


def test_a_field_is_told_once_and_what_was_cut_of_it_is_said() -> None:
    rows = [{"id": n, "sha": f"{n:040x}", "message": f"Fix part {n}", "files": n % 9 + 1} for n in range(300)]
    rows[222]["message"] = "Revert it all, because of a story " + "that goes on " * 60
    found = highlights(rows)
    assert found.count("Revert it all") == 1
    assert f"({len(str(rows[222]['message'])) - 120} more characters)" in found
    assert f"{222:040x}" not in found


def test_labels_have_no_hashes() -> None:
    found = highlights(pods(), 3_000)
    assert "/items/34: status.phase=Pending (1 of 76)" in found and "metadata.name=api-" in found
    assert "4be4-4c3c" not in found and "pod-template-hash" not in found


COMPONENTS = ("cache", "db", "api", "auth", "queue", "billing", "search", "mail", "cdn", "cron")
MESSAGES = ("slow query", "retrying upstream", "pool nearly full", "token expires soon")
SHAPES = {
    "logfmt": 'ts=2026-11-15T10:{m:02d}:{s:02d}Z level={l} component={c} msg="{t}" took={n}ms',
    "brackets": "2026-11-15 10:{m:02d}:{s:02d} {u} [{c}] {t} in {n} ms",
    "logger": "2026-11-15 10:{m:02d}:{s:02d} {u} app.{c}: {t} in {n} ms",
}


def log(shape: str, count: int = 400) -> list[str]:
    out: list[str] = []
    for n in range(count):
        level = "warn" if n % 33 == 5 else "info"
        text = MESSAGES[n // 33 % 4] if level == "warn" else ("request served", "job done")[n % 2]
        out.append(
            SHAPES[shape].format(
                m=n // 60 % 60,
                s=n % 60,
                l=level,
                u=level.upper(),
                c=COMPONENTS[n % 10],
                t=text,
                n=n * 7 % 80 + 5,
            )
        )
    return out


@pytest.mark.parametrize("shape", SHAPES)
def test_a_kind_of_warning_is_shown_once_however_many_components_have_it(shape: str) -> None:
    lines = log(shape)
    lines[200] = lines[200].replace("info", "error").replace("INFO", "ERROR").replace("job done", "disk gone")
    lines[200] = lines[200].replace("request served", "disk gone")
    found = highlights("\n".join(lines)).split("\n")[1:]
    assert any(line.startswith("line 201: ") and "disk gone" in line for line in found)
    assert len(found) <= 1 + len(MESSAGES)
    for text in MESSAGES:
        shown = [line for line in found if text in line]
        assert len(shown) == 1
        assert f"({sum(text in line for line in lines)} lines like this)" in shown[0]


def test_a_line_with_one_odd_number_is_not_said_to_have_others_like_it() -> None:
    lines = [
        f"10.0.0.{n % 250} - - [15/Nov/2026:10:{n // 60 % 60:02d}:{n % 60:02d} +0000]"
        f' "GET /p/{n % 40} HTTP/1.1" 200 {300 + n % 99}'
        for n in range(2_000)
    ]
    lines[1_200] = lines[1_200].replace(" 200 ", " 503 ")
    (_, found) = highlights("\n".join(lines)).split("\n")
    assert found == "line 1201: 10.0.0.200 GET /p/0 → 503; status=503 (1 of 2,000)"


@given(st.integers(1, 30), st.integers(1, 30), st.integers(400, 800))
def test_the_number_of_lines_like_this_is_their_number(errors: int, fatal: int, total: int) -> None:
    lines = [f"2026-11-15 10:00:{n % 60:02d} INFO served request {n}" for n in range(total)]
    for n in range(errors):
        lines[n * 7] = f"2026-11-15 10:00:00 ERROR cannot reach replica {n}"
    for n in range(fatal):
        lines[n * 11 + 3] = f"2026-11-15 10:00:00 FATAL shard {n} is gone"
    found = highlights("\n".join(lines), 1_000)
    for text in ("cannot reach replica", "is gone"):
        said = re.search(rf"line (\d+): [^\n]*{text}[^\n]*?(?: \((\d+) lines like this\))?(?:\n|$)", found)
        count = sum(text in line for line in lines)
        if said:
            assert text in lines[int(said[1]) - 1]
            assert int(said[2] or 1) == count


@given(st.integers(60, 200), st.data(), st.sampled_from(["", "items", "data/a~b", "x.y"]))
def test_every_place_that_is_named_exists_and_holds_what_is_said(
    count: int, data: st.DataObject, at: str
) -> None:
    odd = data.draw(st.integers(0, count - 1))
    rows = [{"id": f"R{n:05d}", "status": "ok", "note": f"note {n * 7919} " * 5} for n in range(count)]
    rows[odd]["status"] = "payment_failed"
    value: object = rows
    for key in reversed(at.split("/") if at else []):
        value = {key: value}
    found = highlights(value, 700)
    place = re.search(r"\n(/[^\n ]*): status=payment_failed \(1 of (\d+)\)", found)
    assert place and int(place[2]) == count
    document = Document(json.dumps(value).encode())
    assert json.loads(document.raw(document.resolve(place[1])))["id"] == f"R{odd:05d}"


@pytest.mark.parametrize("join", ["", "\n"])
def test_the_places_in_what_python_prints_exist(join: str) -> None:
    rows = [
        {"id": n, "status": "ok" if n != 77 else "failed", "v": n * 3 % 50, "t": (1, 2)} for n in range(400)
    ]
    text = "[" + f",{join}".join(map(repr, rows)) + ",]"
    assert highlights(text, 700).startswith(
        "stands out (there may be others):\n/77: status=failed (1 of 400)"
    )
    assert Document.read(text.encode()).resolve("/77")


STOPS = (
    "Dr. Smith", "Mr. Jones", "Mrs. Doe", "Prof. A. Weber", "e.g. the lamp", "i.e. nothing", "St. Ives", "Acme Inc. of Ohio",
    "J. R. Doe", "5 p.m. Berlin time", "9 a.m. sharp", "No. 7", "see Fig. 3", "the U.S. Army", "z.B. Brot", "v2.0 and 3.14",
    "Kant vs. Hume", "M. Dupont", "Vol. II", "am 3. Oktober", "wait... Nothing", "Smith et al. Nature", "Ph.D. Miller",
    '"Stop!" he said', "approx. five", "Jan. 5", "Co. Ltd. Asia",
)  # fmt: skip


@given(st.lists(st.sampled_from(STOPS), min_size=120, max_size=200))
def test_no_chunk_ends_at_a_stop_that_ends_no_sentence(stops: list[str]) -> None:
    ends = ("over", "3.14", "(it said so)", "2024")
    text = "".join(
        f"In room {n} they met {stop} and the others, all of {stop} in the end being {ends[n % 4]}. "
        for n, stop in enumerate(stops)
    )
    for reply in Held(text.encode(), policy(1_000)).walk():
        assert reply.content.startswith("In room ")
        assert reply.content.rstrip().endswith(tuple(f"being {end}." for end in ends))


def test_an_excerpt_does_not_end_at_an_abbreviation() -> None:
    text = (
        "They met Dr. Smith at 5 p.m. in St. Ives and went home. "
        + "The rest is told elsewhere by J. Doe. " * 20
    )
    assert excerpt(text, 60).text == "They met Dr. Smith at 5 p.m. in St. Ives and went home."
    assert excerpt(text, 20).text == "They met Dr. Smith"


@pytest.mark.parametrize(
    "end", ["It works.", "Does it?", "Yes!", 'He said "no."', "It was 3.14.", "See v2.0.", "In 2024."]
)
def test_a_sentence_that_ends_does(end: str) -> None:
    text = f"{end} " * 2_000
    for reply in Held(text.encode(), policy(1_000)).walk():
        assert reply.content.rstrip().endswith(end)


def wide_items() -> bytes:
    """Items of which one fits alone and none beside all highlights."""
    items = [{"id": n, "state": "ok", "size": n % 50, "body": f"w{n} " * 290} for n in range(600)]
    for n in range(2):
        items[100 + n * 40] |= {"size": 90_000 + n, "state": f"lost {n}", f"odd{n}": "x y " * 25}
    return json.dumps({"items": items}).encode()


def huge_items() -> bytes:
    items = [{"id": n, "state": "ok", "body": f"w{n} " * 3_000} for n in range(40)]
    items[33]["state"] = "failed"
    return json.dumps({"items": items}).encode()


def test_highlights_are_kept_when_no_item_fits() -> None:
    reply = Held(huge_items(), policy(1_000)).opening()
    assert reply.record["kind"] == "preview"
    assert "/items/33: state=failed (1 of 40)" in reply.highlights


def test_highlights_shrink_so_that_an_item_fits() -> None:
    data = wide_items()
    one = policy().estimator.ceiling(json.dumps(json.loads(data)["items"][0]))
    reply = Held(data, policy(2 * one + 240)).opening()
    assert reply.record["kind"] == "page" and reply.record["shown"]["items"] >= 1
    assert "stands out (" in reply.highlights
    # Of a smaller budget the whole is told, and the item is one call away.
    assert Held(data, policy(one + 240)).opening().record["kind"] == "preview"


@pytest.mark.parametrize("width", [300, 700, 1_500, 6_000])
def test_highlights_leave_more_than_a_scrap_of_a_text(width: int) -> None:
    lines = [f"2026-11-15 10:00:{n % 60:02d} INFO " + f"w{n} " * (width // 4) for n in range(80)]
    for n in range(10, 60, 10):
        lines[n] = f"2026-11-15 10:00:00 ERROR step {'abcdef'[n // 10]} is lost " + "e " * 90
    for budget in (600, 1_000, 2_000):
        reply = Held("\n".join(["start", *lines]).encode(), policy(budget)).opening()
        assert reply.highlights
        assert policy().estimator.ceiling(reply.content) > budget // 10


KEYS = st.sampled_from(
    [
        "a",
        "some long key",
        "漢字漢字",
        "x" * 50,
        "ÄÖÜ" * 12,
        "9Z9Z" * 10,
        "a/b~c",
        "😀" * 8,
        "e\ne",
        "aAaA" * 9,
    ]
)
PIECES = st.sampled_from(
    ["word ", "\n", "  ", "\t", "😀", "漢字", "{}[]", "aAaA", "9Z9Z", '"', "…", "0.5,", "====", "ERROR: "]
)


@given(
    st.lists(KEYS, max_size=8),
    st.lists(PIECES, min_size=40, max_size=60),
    st.sampled_from(["o200k", "claude", "cl100k", "chars4"]),
    st.sampled_from([300, 400, 1_000]),
)
def test_no_reply_is_over_its_budget_or_counts_less_than_it_costs(
    keys: list[str], pieces: list[str], family: str, budget: int
) -> None:
    value: object = "".join(pieces) * 20
    for key in keys:
        value = {key: value, "k": 1}
    held = Held(json.dumps(value, ensure_ascii=False).encode(), policy(budget, family))
    for reply in held.follow(held.first(), walking=True)[:12]:
        assert held.tokens(reply) <= reply.record["estimatedTokens"] <= budget


def test_the_path_that_a_notice_gives_as_an_example_exists() -> None:
    for data in (big_list(), huge_items()):
        reply = Held(data, policy(1_000)).opening()
        shown = re.search(r'one section: add path="(/[^"…]+)"', reply.notice)
        assert shown, reply.notice
        assert Document(data).resolve(shown[1])


def test_a_stub_in_a_table_is_explained_and_leads_to_the_value() -> None:
    facts = [{"id": n, "name": f"fact {n}", "vec": [n + 0.5] * 200} for n in range(60)]
    data = json.dumps({"facts": facts}).encode()
    held = Held(data, policy(1_000, strip_vectors=True))
    reply = held.opening()
    assert "… 200 numbers" in reply.content
    assert '"… N numbers"' in reply.where
    shown = re.search(r'path="(/[^"…]+)"', reply.notice)
    assert shown and shown[1] == "/facts/0/vec"
    assert "0.5" in held.read(reply.record["detailsAvailable"]["cursor"], path=shown[1]).content
