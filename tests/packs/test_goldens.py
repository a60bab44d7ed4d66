"""What the Graphiti pack says, byte for byte. After a change on purpose: UPDATE_GOLDENS=1 pytest tests/packs/test_goldens.py"""

import json
import os
from typing import Any

import pytest

from brimgate.packs.graphiti import PACK
from tests.packs.formatted import HERE, SCENES, as_document, said

INPUTS = {path.stem: path for path in sorted((HERE / "inputs").glob("*.json"))}
GOLDENS = HERE / "goldens"


def load(name: str) -> dict[str, Any]:
    return json.loads(INPUTS[name].read_text("utf-8"))


def outcome(name: str, scene: str) -> str:
    given = load(name)
    document = as_document(given["answer"])
    text, troubles = said(given["tool"], document, SCENES[scene](document, given["arguments"]))
    if text is not None:
        assert not troubles
        return text + "\n"
    if troubles:
        return f"(not used: {', '.join(trouble.error for trouble in troubles)})\n"
    return f"(a failure: {PACK.failure(given['answer'])})\n"


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", INPUTS)
def test_every_answer_is_worded_as_written_down(name: str, scene: str) -> None:
    golden = GOLDENS / f"{name}.{scene}.txt"
    made = outcome(name, scene).encode()
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_bytes(made)
    assert golden.exists(), f"{golden.name} is new: UPDATE_GOLDENS=1 writes it, then read it"
    assert made == golden.read_bytes()


def test_there_is_a_golden_for_every_tool_and_none_too_many() -> None:
    assert {load(name)["tool"] for name in INPUTS} == set(PACK.tools)
    assert {path.name for path in GOLDENS.iterdir()} == {
        f"{name}.{scene}.txt" for name in INPUTS for scene in SCENES
    }


def test_the_order_of_members_and_the_writing_of_json_do_not_matter() -> None:
    given = load("sample_search_nodes")
    document = as_document(given["answer"])
    spread = json.dumps(given["answer"], indent=2, sort_keys=True).encode()
    for scene in SCENES.values():
        assert (
            said(given["tool"], spread, scene(document))[0]
            == said(given["tool"], document, scene(document))[0]
        )
