"""No detector of printed text raises, whatever the text, nor takes other kinds for its own."""

import pytest

from brimgate.engine.maps import (
    access_log,
    build_log,
    checks,
    commit_log,
    diff,
    file_tree,
    infrastructure_plan,
    playbook,
    search_hits,
    stack_traces,
)
from brimgate.engine.maps.survey import Detector, TextLines

DETECTORS = [
    module.DETECTOR
    for module in (
        access_log,
        build_log,
        checks,
        commit_log,
        diff,
        file_tree,
        infrastructure_plan,
        playbook,
        search_hits,
        stack_traces,
    )
]
ODD = {
    "nothing": "",
    "one character": "x",
    "blank lines": "\n" * 500,
    "bytes": "\x00\x01\ufffd" * 300,
    "one giant line": "word " * 100_000,
    "lone surrogates": "\ud800 token = \udfff\n" * 50,
    "right to left": "שלום: 12:13: עולם\n" * 50,
    "returns": "a\r\nb\r\n" * 50,
    "json": '{"a": [1, 2, {"b": "error: x"}]}\n' * 50,
    "csv": "id,name,status\n" + "1,ana,ok\n" * 50,
    "prose": "It failed, and then it passed: nobody knows why. See chapter 3.\n" * 50,
    "code": "def f(x):\n    if x:\n        raise ValueError(x)\n    return x\n\n" * 50,
    "markdown": "# Title\n\n- one\n- two\n\n```\ncode\n```\n" * 30,
    "yaml": "a:\n  b: 1\n  c:\n    - d\n    - e\n" * 30,
    "log": "2026-11-15T00:10:22.000Z ERROR worker-0 request failed: timeout after 30 s\n"
    "2026-11-15T00:10:23.000Z INFO worker-1 done\n" * 50,
    "levels": "[INFO] user signed in\n[ERROR] payment failed: card declined\n" * 50,
}


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.kind)
@pytest.mark.parametrize("name", ODD)
def test_an_odd_text_is_no_kind_and_breaks_nothing(detector: Detector, name: str) -> None:
    text = TextLines.of(ODD[name])
    assert detector.recognise(text) == 0
    survey = detector.survey(text)
    assert "\n" not in survey.title
    assert all(1 <= one.place <= len(text.lines) for one in survey.findings)


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.kind)
def test_half_a_text_breaks_nothing(detector: Detector) -> None:
    starts = (
        "diff --git a/x b/x\n@@ -1,9 +1,9 @@\n-a",
        "commit abcdef1\nAuthor: x <",
        "___ a ___\nE",
        "@@ -1 +1 @@\n+a",
    )
    starts += (
        "Traceback (most recent call last):\n",
        "├── a\n│   └── ",
        "PLAY [x] ***\nfatal: [h]: FAILED!",
        "Plan: 1 to add",
    )
    starts += (
        "\tat x(y)\nCaused by: ",
        "FAIL: test_a (x)\n",
        "  # a will be destroyed\n",
        "1..x\nnot ok",
        '1.1.1.1 - - [x] "" 200 -',
    )
    for start in starts:
        survey = detector.survey(TextLines.of(start))
        assert all(line.text and "\n" not in line.text for line in survey.lines)
