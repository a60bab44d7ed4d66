"""What a file may say, and how it is told what is wrong with it: the file, the line, the key, and what is right."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brimgate.config.declarations import Config, ContextProtection, Override, Upstream
from brimgate.config.sources import load, parse
from brimgate.config.tree import MAX_BYTES, MAX_DEPTH, MAX_VALUES
from brimgate.engine.options import keys_of
from brimgate.errors import ConfigError
from tests.config.running import BRIMGATE, environment
from tests.config.strategies import almost_files


def complaint(text: str | bytes, name: str = "f.yaml") -> str:
    with pytest.raises(ConfigError) as caught:
        parse(text if isinstance(text, bytes) else text.encode(), name)
    return str(caught.value)


def refusal(folder: Path, text: str) -> str:
    """Also of what no key can know alone."""
    path = folder / "f.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(path, environment={})
    return str(caught.value).replace(str(path), "f.yaml")


# Aliases


@pytest.mark.parametrize(
    ("alias", "key"),
    [
        ("defaultPageSize", "default_page_size"),
        ("maxPageSize", "max_page_size"),
        ("tokenBudgetThreshold", "output_token_threshold"),
        ("chunkSize", "chunk_size"),
    ],
)
def test_the_camel_case_names_of_the_brief_mean_the_keys(alias: str, key: str) -> None:
    config = parse(f"context_protection: {{{alias}: 321}}".encode(), "f.yaml")
    assert getattr(config.context_protection, key) == 321
    assert getattr(ContextProtection(), key) != 321


def test_the_names_of_the_first_document_mean_the_keys() -> None:
    text = "context_protection: {pagination_enabled: no, summarization_enabled: off, endpoint_overrides: {/x: {pageSize: 3}}}"
    protection = parse(text.encode(), "f.yaml").context_protection
    assert not protection.enable_pagination and not protection.enable_summarization
    assert protection.endpoints == {"/x": Override(default_page_size=3)}


EVERY_ALIAS = [
    (declaration, key.name, alias)
    for declaration in (ContextProtection, Override)
    for key in keys_of(declaration)
    for alias in key.option.aliases
]


@pytest.mark.parametrize(("declaration", "key", "alias"), EVERY_ALIAS)
def test_a_key_and_its_alias_together_are_an_error(declaration: type, key: str, alias: str) -> None:
    kind = next(one for one in keys_of(declaration) if one.name == key)
    value = "{}" if key == "endpoints" else "true" if "enable" in key else "500"
    home = "context_protection:\n  " if declaration is ContextProtection else "tools:\n x:\n  "
    parse(f"{home}{alias}: {value}\n".encode(), "f.yaml")
    told = complaint(f"{home}{alias}: {value}\n  {key}: {value}\n")
    place = f"f.yaml:{3 if declaration is ContextProtection else 4}: "
    assert told.startswith(place) and f".{key}: the same as {key}, which is given too" in told, (kind, told)


# What is wrong


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("mod: production", "f.yaml:1: mod: unknown key; did you mean mode?"),
        ("xyzzy: 1", "f.yaml:1: xyzzy: unknown key; there are: mode, log_level"),
        (
            "context_protection:\n  default_pagesize: 5",
            "f.yaml:2: context_protection.default_pagesize: unknown key; did you mean default_page_size?",
        ),
        ("tools:\n  a:\n    pagesize: 5", "f.yaml:3: tools.a.pagesize: unknown key; did you mean page"),
        (
            "mode: production\nlog_level: info\nmode: development",
            "f.yaml:3: mode: is given twice (first in line 1)",
        ),
        (
            "tools:\n  a:\n    page_size: 5\n    threshold: 400\n    page_size: 6",
            "f.yaml:5: tools.a.page_size: is given twice (first in line 3)",
        ),
        ("tools:\n  a: {}\n  b: {}\n  a: {}", "f.yaml:4: tools.a: is given twice (first in line 2)"),
        (
            "upstreams:\n  a:\n    command: x\n    env:\n      A: 1\n      A: 2",
            "f.yaml:6: upstreams.a.env.A: is given twice (first in line 5)",
        ),
        (
            "context_protection:\n  tools: {}\ntools: {}",
            "f.yaml:3: tools: the same as context_protection.tools, which is given in line 2",
        ),
        ("mode: prod", "f.yaml:1: mode: must be one of production, development, not 'prod'"),
        ("mode: [production]", "f.yaml:1: mode: must be a single value"),
        ("mode:", "f.yaml:1: mode: has no value"),
        ("context_protection: 5", "f.yaml:1: context_protection: must hold keys and values"),
        ("context_protection: []", "f.yaml:1: context_protection: must hold keys and values"),
        ("tools: 5", "f.yaml:1: tools: must hold names and values"),
        ("tools:\n  x: 5", "f.yaml:2: tools.x: must hold keys and values"),
        ("tools: {x: {fields: {a: 1}}}", "tools.x.fields: must be a list of words, such as [id, name]"),
        ("tools: {x: {fields: [[a]]}}", "tools.x.fields: must be a list of words, such as [id, name]"),
        ("tools:\n  x:\n    fields:\n      - a\n      -", "f.yaml:5: tools.x.fields: an item has no value"),
        ("tools: {x: {page_size: 1.5}}", "tools.x.page_size: must be auto or a whole number, not '1.5'"),
        ("tools: {x: {page_size: ten}}", "tools.x.page_size: must be auto or a whole number, not 'ten'"),
        ("tools: {x: {page_size: ١٢}}", "tools.x.page_size: must be auto or a whole number"),
        (f"tools: {{x: {{page_size: {'9' * 5_000}}}}}", "tools.x.page_size: must be auto or a whole number"),
        (
            "tools: {x: {page_size: 9999999999999}}",
            "tools.x.page_size: must be auto or a whole number of at most 1e+12",
        ),
        (
            "tools: {x: {page_size: 0}}",
            "tools.x.page_size: must be auto or a whole number of at least 1, not 0",
        ),
        (
            "tools: {x: {threshold: 299}}",
            "tools.x.threshold: must be a whole number of at least 300, not 299",
        ),
        ("tools: {x: {rollout: 101}}", "tools.x.rollout: must be a whole number of at most 100, not 101"),
        ("tools: {x: {enabled: 1}}", "tools.x.enabled: must be true or false, not '1'"),
        ("context_protection: {token_multiplier: .nan}", "token_multiplier: must be a number, not '.nan'"),
        (
            "context_protection: {token_multiplier: nan}",
            "token_multiplier: must be a number of at least 0.05",
        ),
        ("context_protection: {token_multiplier: inf}", "token_multiplier: must be a number of at most 20"),
        ("upstreams: {a: {command: ~}}", "upstreams.a.command: has no value; write it in quotes"),
        ("upstreams: {a: {command: x, args: -y server}}", "upstreams.a.args: must be a list of words"),
        # YAML itself
        ("tools:\n\tx: 1", "f.yaml:2: YAML is indented by spaces, not by tabs"),
        ("a: 1\nb: [", "f.yaml:3: not YAML: did not find expected node content"),
        ("a: 1\n---\nb: 1", "f.yaml:2: a second document (---) begins here"),
        ("- a\n- b", "f.yaml:1: the file must hold keys and values"),
        ("just words", "f.yaml:1: the file must hold keys and values"),
        ("mode: production\n? [a]\n: b", "f.yaml:2: a key must be a word"),
        ("mode: !custom x", "f.yaml:1: mode: tags such as !custom are not used here"),
        ("!custom mode: x", "f.yaml:1: tags such as !custom are not used here"),
        (
            "mode: !!python/object/apply:os.system [ls]",
            "f.yaml:1: mode: tags such as tag:yaml.org,2002:python",
        ),
        (
            "mode: !!binary aGVsbG8=",
            "f.yaml:1: mode: tags such as tag:yaml.org,2002:binary are not used here",
        ),
        (
            "tools:\n  a: &x {page_size: 1}\n  b:\n    <<: *x",
            "f.yaml:4: tools.b: merge keys (<<) are not used here",
        ),
        ("tools:\n  a: &x\n    b: *x", "f.yaml:3: tools.a.b: *x stands within what it stands for"),
        ("tools: *x", "f.yaml:1: tools: there is no &x before this *x"),
        ("mode: a\0b", "f.yaml:1: a character that YAML does not allow"),
        ("mode: production\nlog_level: \x07", "f.yaml:2: a character that YAML does not allow"),
        (b"mode: production\nlog_level: \xff", "f.yaml:2: not UTF-8 at byte 28"),
        ("mode: production".encode("utf-16"), "f.yaml:1: not UTF-8 at byte 0"),
        (bytes(range(256)), "f.yaml:"),
        ("[" * (MAX_DEPTH + 2), f"f.yaml:1: nested deeper than {MAX_DEPTH} levels"),
        ("[" * 500_000, f"f.yaml:1: nested deeper than {MAX_DEPTH} levels"),
        ("{a: " * 200_000, f"nested deeper than {MAX_DEPTH} levels"),
        ("- " * 500_000, f"f.yaml:1: nested deeper than {MAX_DEPTH} levels"),
        ("#" * (MAX_BYTES + 1), f"f.yaml: larger than {MAX_BYTES:,} bytes"),
        (
            "keywords: [" + "a," * (MAX_VALUES + 1) + "]",
            f"f.yaml:1: keywords: more than {MAX_VALUES:,} values",
        ),
    ],
)
def test_what_is_wrong_is_told_with_file_line_and_key(text: str | bytes, says: str) -> None:
    assert says in complaint(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "context_protection:\n  default_page_size: 300",
            "f.yaml:2: context_protection.default_page_size: 300 is more than max_page_size (200)",
        ),
        (
            "context_protection:\n  default_page_size: 50\n  max_page_size: 10",
            "f.yaml:2: context_protection.default_page_size: 50 is more than max_page_size (10)",
        ),
        (
            "context_protection:\n  tokenBudgetThreshold: 13000",
            "f.yaml:2: context_protection.output_token_threshold: 13000 is more than hard_output_token_cap (12000)",
        ),
        (
            "tools:\n  x:\n    page_size: 300",
            "f.yaml:3: context_protection.tools.x.default_page_size: 300 is more than max_",
        ),
        (
            "context_protection:\n  endpoint_overrides:\n    /x:\n      threshold: 13000",
            "f.yaml:4: context_protection.endpoints./x.threshold: 13000 is more than hard_output_token_cap",
        ),
        (
            "upstreams:\n  a:\n    command: x\n    tools:\n      y:\n        pageSize: 201",
            "f.yaml:6: upstreams.a.tools.y.default_page_size: 201 is more than max_page_size (200)",
        ),
        ("upstreams:\n  a: {}", "f.yaml:2: upstreams.a.command: is missing"),
        ('upstreams: {a: {command: "x\\0y"}}', "f.yaml:1: upstreams.a.command: holds a NUL character"),
        ('upstreams: {a: {command: x, args: ["\\0"]}}', "f.yaml:1: upstreams.a.args: holds a NUL character"),
        (
            "upstreams: {a: {command: x, env: {A=B: c}}}",
            "f.yaml:1: upstreams.a.env.A=B: is not the name of a variable",
        ),
        ("read_tool: two words", "f.yaml:1: read_tool: must be a name of 1 to 64 letters"),
        ('read_tool: "a\\nb"', "f.yaml:1: read_tool: must be a name of 1 to 64 letters"),
        ("read_tool: ''", "f.yaml:1: read_tool: must be a name of 1 to 64 letters"),
    ],
)
def test_what_cannot_hold_together_is_told_with_the_line_of_what_was_given(
    text: str, says: str, tmp_path: Path
) -> None:
    assert refusal(tmp_path, text).startswith(says)


def test_several_mistakes_are_all_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = (
        "tools:\n  a:\n    page_size: 0\nmode: x\nlog_lvl: info\ncontext_protection:\n"
        "  rollout: 200\n  rollout: 5\n  endpoints: {/x: {foo: 1}}\n"
    )
    lines = complaint(text).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["f.yaml:3", "tools.a.page_size"],
        ["f.yaml:4", "mode"],
        ["f.yaml:5", "log_lvl"],
        ["f.yaml:7", "context_protection.rollout"],
        ["f.yaml:8", "context_protection.rollout"],
        ["f.yaml:9", "context_protection.endpoints./x.foo"],
    ]
    together = "upstreams: {a: {}, b: {}}\ncontext_protection: {default_page_size: 4, max_page_size: 3}\nread_tool: ' '\n"
    assert len(refusal(tmp_path, together).splitlines()) == 4


def test_of_very_many_mistakes_the_first_are_told_and_the_rest_are_counted() -> None:
    told = complaint("".join(f"key{n}: 1\n" for n in range(500))).splitlines()
    assert told[0].startswith("f.yaml:1: key0: unknown key") and told[-1] == "… and 492 more"


def test_a_key_of_any_size_or_kind_cannot_flood_or_forge_a_message() -> None:
    told = complaint(f'"{"x" * 900}": 1\n"a\\nbrimgate: INFO all is well\\x1b[2J": 2\n')
    assert len(told.splitlines()) == 2 and len(told) < 1_200 and "\x1b" not in told


def test_a_file_that_is_not_there_or_no_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: No such file"):
        load(tmp_path / "nowhere.yaml", environment={})
    with pytest.raises(ConfigError, match="Is a directory"):
        load(tmp_path, environment={})


@pytest.mark.skipif(sys.platform == "win32", reason="/dev/zero")
def test_a_file_without_end_is_refused_for_its_size() -> None:
    with pytest.raises(ConfigError, match="larger than"):
        load(Path("/dev/zero"), environment={})


# Aliases of YAML


def test_an_alias_stands_for_a_whole_value() -> None:
    config = parse(b"tools: {a: &same {page_size: 7}, b: *same}", "f.yaml")
    assert config.context_protection.tools == dict.fromkeys("ab", Override(default_page_size=7))


def bomb() -> bytes:
    """A billion laughs: ten lines that stand for 10^9 values."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines).encode()


def heavy() -> bytes:
    """One long text, and twenty thousand aliases of it: 10 GB, if each were a copy."""
    return b"context_protection: {keywords: [&a " + b"x" * 500_000 + b", *a" * (MAX_VALUES - 10) + b"]}"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (bomb(), f"f.yaml:5: a4: more than {MAX_VALUES:,} values (aliases that stand for aliases?)"),
        (heavy(), "f.yaml:1: context_protection.keywords: more than 20,000 values"),
        (b"".join(b"a%d: &a%d {x: *a%d}\n" % (n, n, n - 1) for n in range(1, 40)), "there is no &a0"),
        (
            b"a0: &a0 {}\n" + b"".join(b"a%d: &a%d {x: *a%d}\n" % (n, n, n - 1) for n in range(1, 40)),
            f"nested deeper than {MAX_DEPTH} levels",
        ),
    ],
)
def test_aliases_that_stand_for_aliases_cost_no_memory(data: bytes, says: str) -> None:
    """In a process of its own that may not have more than 1 GB of addresses."""
    program = (
        "import sys, resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from brimgate.config.sources import parse; from brimgate.errors import ConfigError\n"
        "try: parse(sys.stdin.buffer.read(), 'f.yaml')\n"
        "except ConfigError as error: print(str(error)[:300])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=data, capture_output=True, timeout=60, check=False
    )
    assert says in done.stdout.decode(), done.stderr.decode()


# What is right


@pytest.mark.parametrize(
    "text", ["", "\n\n", "# nothing\n", "---\n", "---\n...\n", "null", "{}", "\ufeff", "tools:\n"]
)
def test_a_file_that_says_nothing_leaves_the_defaults(text: str) -> None:
    assert parse(text.encode(), "f.yaml") == Config()


def test_values_mean_what_their_key_says_not_what_yaml_makes_of_them() -> None:
    text = """
log_level: ~
read_tool: 012
upstreams:
  on:
    command: yes
    args: [no, 1:30, 0x1F, 2026-11-16, 1e3, "null", "~", " spaces "]
    env: {PORT: 08080, DEBUG: true, EMPTY: "", NONE: , PAD: " x "}
context_protection:
  enabled: ON
  output_token_threshold: 4_000
  strip_vectors: null
  keywords: fire, water ,, air
  tools: {7: {fields: }, x: }
"""
    config = parse(text.encode(), "f.yaml")
    arguments = ("no", "1:30", "0x1F", "2026-11-16", "1e3", "null", "~", " spaces ")
    variables = {"PORT": "08080", "DEBUG": "true", "EMPTY": "", "NONE": "", "PAD": " x "}
    assert config.upstreams == {"on": Upstream(command="yes", args=arguments, env=variables)}
    assert (config.read_tool, config.log_level) == ("012", None)
    assert config.context_protection == ContextProtection(
        keywords=("fire", "water", "air"), tools={"7": Override(), "x": Override()}
    )


@pytest.mark.parametrize(
    "text",
    [
        '{\n\t"upstreams": {\n\t\t"a": {"command": "x", "args": ["\\ud83d\\ude00", "\\u00e9\\/\\n\\\\ud83d", "é😀"]}\n\t}\n}\n',
        '{"upstreams":{"a":{"command":"x","args":["😀","é/\\n\\\\ud83d","\\u00e9\\uD83D\\uDE00"]}}}',
    ],
)
def test_json_is_read_with_its_tabs_escapes_and_pairs_of_surrogates(text: str) -> None:
    assert json.loads(text)["upstreams"]["a"]["args"] == ["😀", "é/\n\\ud83d", "é😀"]
    assert parse(text.encode(), "f.json").upstreams["a"].args == ("😀", "é/\n\\ud83d", "é😀")


def test_half_of_a_pair_of_surrogates_is_refused_with_its_line() -> None:
    assert complaint('{\n"read_tool": "\\ud83d"}', "f.json").startswith("f.json:2: ")


# Whatever stands in a file


def loads_or_complains(data: bytes) -> None:
    try:
        config = parse(data, "f")
    except ConfigError as error:
        assert str(error).startswith("f:"), error
    else:
        assert isinstance(config, Config)


@pytest.mark.property
@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf")
@example(b"&a\n")
@example(b"%YAML 9.9\n---\n")
@example(b"%TAG ! tag:x,2000:\n--- !a b\n")
@example(b"? \n")
@example(b"a: >999999999999\n b")
def test_whatever_bytes_a_file_holds_it_is_read_or_refused_with_its_place(data: bytes) -> None:
    loads_or_complains(data)


@pytest.mark.property
@given(st.text(max_size=200))
@example("{[?}: *a")
@example("\u2028: \x85")
@example('"\\ud800": 1')
def test_whatever_text_a_file_holds_it_is_read_or_refused_with_its_place(text: str) -> None:
    loads_or_complains(text.encode("utf-8", "surrogatepass"))
    loads_or_complains(("context_protection: " + text).encode("utf-8", "surrogatepass"))


@pytest.mark.property
@given(almost_files)
def test_yaml_with_the_right_words_at_any_place_is_read_or_refused_with_its_place(text: str) -> None:
    loads_or_complains(text.encode("utf-8", "surrogatepass"))


def test_run_refuses_a_wrong_file_before_it_starts_anything(tmp_path: Path) -> None:
    path = tmp_path / "brimgate.yaml"
    path.write_text("tools:\n  x:\n    page_size: 0\n")
    marker = tmp_path / "started"
    command = [sys.executable, "-c", f"open({str(marker)!r}, 'w')"]
    done = subprocess.run(
        [*BRIMGATE, "run", "--config", str(path), "--", *command],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=20,
        check=False,
    )
    assert done.returncode == 2 and not marker.exists()
    assert (
        done.stderr
        == f"brimgate: {path}:3: tools.x.page_size: must be auto or a whole number of at least 1, not 0\n"
    )
