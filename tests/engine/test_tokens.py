import json
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine.tokens.estimator import (
    FAMILIES,
    WHOLE_BYTES,
    Estimator,
    family_of,
    image_size,
    image_tokens,
)
from brimgate.engine.tokens.pairs import estimate_tokens, tokens_by_block
from brimgate.engine.tokens.vocabularies import REMEMBERED_CHARACTERS, load_vocabulary

SHARED = Path(__file__).resolve().parents[2].parent / "shared"
EXACT = ("o200k", "cl100k", "llama3")
CLAUDE = ("claude", "claude-3")

needs_documents = pytest.mark.skipif(
    not (SHARED / "tokens").is_dir(), reason="the documents with true counts are not here (../shared/tokens)"
)
any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)
any_input = st.one_of(any_text, st.binary(max_size=300))


def true_counts() -> list[tuple[bytes, dict[str, int]]]:
    lines = (SHARED / "tokens" / "truth.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [((SHARED / "tokens" / "docs" / row["file"]).read_bytes(), row) for row in rows]


def share(values: list[bool]) -> float:
    return sum(values) / len(values)


def modules_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(' '.join({{name.partition('.')[0] for name in sys.modules}}))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(result.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import brimgate.engine.tokens.estimator",
        "from brimgate.engine.tokens.estimator import Estimator; Estimator().bound(10**9)",
        "from brimgate.engine.tokens.estimator import Estimator; Estimator().table('word ' * 800)",
        "from brimgate.engine.tokens.estimator import Estimator; Estimator('chars4').ceiling('word ' * 80_000)",
    ],
)
def test_a_small_estimate_loads_neither_numpy_nor_a_tokenizer(code: str) -> None:
    assert not modules_after(code) & {"numpy", "splintr"}


def test_a_count_of_a_small_text_does_not_load_numpy() -> None:
    loaded = modules_after(
        "from brimgate.engine.tokens.estimator import Estimator; Estimator().count('word ' * 800)"
    )
    assert "splintr" in loaded
    assert "numpy" not in loaded


@pytest.mark.parametrize(
    ("family", "models"),
    [
        (
            "claude",
            "claude-opus-4-7 claude-sonnet-5 anthropic/claude-opus-4.7 claude-opus-4-10 claude-opus-latest",
        ),
        ("claude", "Claude-Opus-4-7-20260416 us.anthropic.claude-opus-5-0-v1:0 claude-opus-4-8[1m]"),
        (
            "claude-3",
            "claude-3-5-haiku@20241022 us.anthropic.claude-3-5-sonnet-20241022-v2:0 claude-opus-4-6",
        ),
        (
            "claude-3",
            "claude-sonnet-4 claude-sonnet-4-20250514 claude-haiku-4-5-20251001 anthropic.claude-v2:1",
        ),
        ("o200k", "gpt-4o GPT-4o-mini chatgpt-4o-latest gpt-4.1-nano gpt-4.5-preview gpt-5 gpt-5.1-codex o1"),
        ("o200k", "openai/o3-mini o4-mini ft:gpt-4o-mini:org::1 gpt-oss-120b o200k_base"),
        (
            "cl100k",
            "gpt-4 gpt-4-turbo gpt-4-1106-preview gpt-4-32k gpt-3.5-turbo azure/gpt-35-turbo cl100k_base",
        ),
        ("llama3", "meta-llama/Meta-Llama-3.1-8B-Instruct llama3.3:70b meta.llama3-1-70b-instruct-v1:0"),
        ("claude", "gemini-2.5-pro mistral-large llama-2-70b open_llama_3b llama-4-scout"),
    ],
)
def test_a_model_name_maps_to_its_family(family: str, models: str) -> None:
    assert {model: family_of(model) for model in models.split()} == dict.fromkeys(models.split(), family)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_maps_to_itself(family: str) -> None:
    assert family_of(family) == family_of(f" {family.upper()} ") == family


def test_a_name_that_means_nothing_counts_as_the_family_that_counts_highest() -> None:
    assert family_of("") == "claude"


@given(any_text)
def test_any_model_name_has_a_family(model: str) -> None:
    assert family_of(model) in FAMILIES


@pytest.mark.parametrize("multiplier", [0, -1, float("nan"), float("inf")])
def test_a_multiplier_must_be_positive(multiplier: float) -> None:
    with pytest.raises(ValueError, match="multiplier"):
        Estimator(multiplier=multiplier)


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="claude-2"):
        Estimator("claude-2")


@given(any_text, st.integers(0, 10**9))
def test_chars4_is_the_formula_of_the_brief(text: str, byte_count: int) -> None:
    def formula(n: int) -> int:
        b = n // 4
        return b + int(b * 0.2)

    estimator = Estimator("chars4")
    assert estimator.table(text) == estimator.count(text) == estimator.ceiling(text) == formula(len(text))
    assert estimator.bound(byte_count) == formula(byte_count)


def test_chars4_counts_characters_of_bytes_too() -> None:
    assert Estimator("chars4").count("ж".encode() * 400) == 120


@pytest.mark.parametrize("family", FAMILIES)
@given(text=any_input)
def test_no_input_makes_an_estimate_fail(family: str, text: str | bytes) -> None:
    estimator = Estimator(family)
    assert min(estimator.table(text), estimator.count(text), estimator.ceiling(text)) >= 0


@pytest.mark.parametrize("family", FAMILIES)
def test_an_empty_text_costs_nothing(family: str) -> None:
    estimator = Estimator(family)
    assert [estimator.table(""), estimator.count(b""), estimator.ceiling("")] == [0, 0, 0]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("text", ["a", "é", "😀 x", "line\n" * 30_000, "日本語" * 20_000])
def test_text_and_its_bytes_cost_the_same(family: str, text: str) -> None:
    estimator = Estimator(family)
    assert estimator.table(text) == estimator.table(text.encode())
    assert estimator.count(text) == estimator.count(text.encode())
    assert estimator.ceiling(text) == estimator.ceiling(text.encode())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_lone_surrogate_is_counted(family: str) -> None:
    assert Estimator(family).count("\udcff" * 100) >= 30


@pytest.mark.parametrize("family", FAMILIES)
def test_more_text_costs_more(family: str) -> None:
    line = '{"id": 81723, "status": "confirmed", "guest": "Ana Maria Ruiz"},\n'
    estimator = Estimator(family)
    for estimate in (estimator.table, estimator.count, estimator.ceiling):
        counts = [estimate(line * lines) for lines in (1, 10, 100, 1_000, 10_000)]
        assert all(8 * less <= more <= 12 * less for less, more in pairwise(counts))


@pytest.mark.parametrize("family", FAMILIES)
def test_the_multiplier_scales_every_answer_and_rounds_up(family: str) -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 50
    plain, scaled = Estimator(family), Estimator(family, multiplier=1.1)
    assert scaled.bound(1000) == -(-plain.bound(1000) * 11 // 10)
    for name in ("table", "count", "ceiling"):
        before, after = getattr(plain, name)(text), getattr(scaled, name)(text)
        assert 1.1 * (before - 1) <= after <= 1.1 * before + 1


@pytest.mark.parametrize("family", EXACT)
def test_a_control_token_in_the_text_counts_as_the_text_it_is(family: str) -> None:
    assert Estimator(family).count("<|endoftext|>") > 4


SENTENCE = "It was the best of times, it was the worst of times; 1859 – «naïve», 日本語.\n"


def estimate_without(module: str, call: str) -> int:
    setup = (
        f"import sys; sys.modules[{module!r}] = None; from brimgate.engine.tokens.estimator import Estimator"
    )
    program = f"{setup}; print({call})"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return int(result.stdout)


@pytest.mark.parametrize("repeat", [1, 50, 3_000])
def test_without_numpy_the_table_gives_the_same_number(repeat: int) -> None:
    text = SENTENCE * repeat + " " * repeat
    assert estimate_without("numpy", f"Estimator().table({SENTENCE!r} * {repeat} + ' ' * {repeat})") == (
        Estimator().table(text)
    )


def test_without_a_tokenizer_the_table_stands_in_with_a_wider_margin() -> None:
    table = Estimator().table(SENTENCE * 100)
    assert estimate_without("splintr", f"Estimator().count({SENTENCE!r} * 100)") == table
    assert estimate_without("splintr", f"Estimator().ceiling({SENTENCE!r} * 100)") > 1.4 * table


@pytest.mark.parametrize("block_bytes", [64, 256])
@given(st.binary(max_size=2_000), st.sampled_from(["", " " * 500, "x" * 65]))
def test_the_blocks_of_a_text_make_up_the_whole(block_bytes: int, data: bytes, run: str) -> None:
    data = b"some words before " * 4 + data + run.encode()
    blocks = tokens_by_block(data, "o200k", block_bytes)
    assert len(blocks) == -(-len(data) // block_bytes)
    assert sum(blocks) >= estimate_tokens(data, "o200k") - 0.01


def test_the_blocks_of_prose_add_up_exactly() -> None:
    data = SENTENCE.encode() * 100
    assert sum(tokens_by_block(data, "claude", 256)) == pytest.approx(estimate_tokens(data, "claude"))


@pytest.mark.parametrize("family", EXACT)
@pytest.mark.parametrize("character", [" ", "a", "\n", "-", "0", "=", "~"])
@pytest.mark.parametrize("length", [200, 5_000, 1_000_000])
def test_a_run_of_one_character_costs_what_it_costs(family: str, character: str, length: int) -> None:
    estimator, text = Estimator(family), character * length
    exact = estimator.ceiling(text)
    assert estimator.table(text) == pytest.approx(exact, rel=0.1, abs=8)
    assert estimator.count(text) == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("text", ["😀" * 250_000, "─" * 300_000, "中" * 300_000, "ab" * 500_000])
def test_a_run_of_wide_characters_is_counted_right_though_the_table_is_not(text: str) -> None:
    estimator = Estimator("o200k")
    assert estimator.count(text) == pytest.approx(estimator.ceiling(text), rel=0.02)


def test_runs_inside_a_large_text_do_not_hide_the_rest() -> None:
    text = (SENTENCE + " " * 300 + "-" * 120 + "\n") * 1_000
    estimator = Estimator("o200k")
    assert estimator.count(text) == pytest.approx(estimator.ceiling(text), rel=0.03)


@pytest.mark.parametrize("family", [*EXACT, *CLAUDE])
def test_a_sample_of_a_large_text_agrees_with_the_whole(family: str) -> None:
    parts = [f'{{"row": {row}, "note": "{SENTENCE[row % 40 :].strip()}"}}\n' for row in range(4_000)]
    head, whole = "# Notes\n" + SENTENCE * 400, "".join(parts)
    estimator, text = Estimator(family), head + whole
    assert len(text.encode()) > 2 * WHOLE_BYTES
    pieces = [text[at : at + 20_000] for at in range(0, len(text), 20_000)]
    assert estimator.count(text) == pytest.approx(sum(map(estimator.count, pieces)), rel=0.03)


@pytest.mark.parametrize("family", CLAUDE)
def test_the_ceiling_of_a_family_without_public_vocabulary_has_a_margin(family: str) -> None:
    estimator = Estimator(family)
    assert 1.05 < estimator.ceiling(SENTENCE * 100) / estimator.count(SENTENCE * 100) < 1.35


@pytest.mark.parametrize("family", EXACT)
@given(text=st.text(max_size=300))
def test_the_bound_of_a_public_vocabulary_holds(family: str, text: str) -> None:
    estimator = Estimator(family)
    assert estimator.count(text) <= estimator.bound(len(text.encode()))


def test_a_tokenizer_does_not_remember_every_long_word_it_has_seen() -> None:
    vocabulary = load_vocabulary("o200k")
    filler, words = "xq" * 50_000, 100
    assert words * len(filler) > REMEMBERED_CHARACTERS
    for number in range(words):
        vocabulary.encode(chr(ord("a") + number // 26) + chr(ord("a") + number % 26) + filler)
    assert 0 < vocabulary.tokenizer.cache_len < words


@needs_documents
@pytest.mark.parametrize("family", EXACT)
def test_public_vocabularies_are_exact(family: str) -> None:
    estimator = Estimator(family)
    assert [estimator.ceiling(text) for text, _ in true_counts()] == [row[family] for _, row in true_counts()]


@needs_documents
@pytest.mark.parametrize("family", [*CLAUDE, *EXACT])
def test_counts_are_near_the_truth(family: str) -> None:
    estimator = Estimator(family)
    errors = [abs(estimator.count(text) / row[family] - 1) for text, row in true_counts()]
    assert share([error <= 0.1 for error in errors]) >= 0.95
    assert share([error <= 0.2 for error in errors]) >= 0.98


@needs_documents
@pytest.mark.parametrize("family", [*CLAUDE, *EXACT])
def test_the_table_is_within_20_percent_for_9_of_10_documents(family: str) -> None:
    estimator = Estimator(family)
    errors = [abs(estimator.table(text) / row[family] - 1) for text, row in true_counts()]
    assert share([error <= 0.2 for error in errors]) >= 0.9


@needs_documents
@pytest.mark.parametrize("family", [*CLAUDE, *EXACT])
def test_the_ceiling_is_seldom_and_the_bound_never_under_the_truth(family: str) -> None:
    estimator = Estimator(family)
    assert share([estimator.ceiling(text) >= row[family] for text, row in true_counts()]) >= 0.99
    assert all(estimator.bound(len(text)) >= row[family] for text, row in true_counts())


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(750, 1, 1), (751, 1, 2), (1092, 1092, 1590), (0, 9, 0)]
)
def test_an_image_costs_by_its_pixels(width: int, height: int, tokens: int) -> None:
    assert image_tokens(width, height) == tokens


def webp(kind: bytes, body: bytes) -> bytes:
    return b"RIFF" + struct.pack("<I", len(body) + 12) + b"WEBP" + kind + struct.pack("<I", len(body)) + body


IMAGES = {
    "png": b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 640, 480) + b"\x08\x06\0\0\0",
    "gif": b"GIF89a" + struct.pack("<HH", 640, 480) + b"\xf7\0\0",
    "jpeg": (
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0"  # a JFIF header, a fill byte, a progressive frame
        b"\xff\xff\xc2\0\x11\x08" + struct.pack(">HH", 480, 640) + b"\3\1\x22\0"
    ),
    "webp, lossy": webp(b"VP8 ", b"\x30\1\0\x9d\1\x2a" + struct.pack("<HH", 640, 480 | 0x4000)),
    "webp, lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14 | 1 << 28) + b"\0" * 8),
    "webp, extended": webp(b"VP8X", b"\x10\0\0\0" + b"\x7f\2\0" + b"\xdf\1\0"),
}


@pytest.mark.parametrize("form", IMAGES)
def test_the_size_of_an_image_is_in_its_first_bytes(form: str) -> None:
    assert image_size(IMAGES[form]) == (640, 480)


@pytest.mark.parametrize("form", IMAGES)
def test_a_cut_image_has_its_size_or_none(form: str) -> None:
    assert {image_size(IMAGES[form][:length]) for length in range(len(IMAGES[form]))} <= {None, (640, 480)}


@given(
    st.sampled_from([b"", *(image[:16] for image in IMAGES.values()), b"\xff\xd8\xff\xc0"]),
    st.binary(max_size=64),
)
def test_garbage_that_starts_like_an_image_is_no_error(head: bytes, rest: bytes) -> None:
    size = image_size(head + rest)
    assert size is None or min(size) >= 0
