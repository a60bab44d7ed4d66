"""Packs that others ship, found by their entry points in a process of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brimgate.errors import OperatorError
from brimgate.packs.discovery import installed, load_pack, pack_for
from brimgate.packs.graphiti import PACK
from brimgate.packs.pack import Pack

GOOD = """
from brimgate.packs import Pack, Tool

PACK = Pack(
    "weather", "the weather", {"forecast": Tool(lambda answer, _: answer["sky"])}, marks=(frozenset({"forecast"}),)
)
"""
_ASK = """
import json, sys
from brimgate.errors import OperatorError
from brimgate.packs.discovery import installed, load_pack, pack_for, usable

def loaded(name):
    try:
        return load_pack(name).description
    except OperatorError as error:
        return f"refused: {error}"

names = installed()
print(json.dumps({
    "installed": list(names),
    "imported": sorted(name for name in sys.modules if name.startswith("toy_")),
    "usable": [pack.name for pack in usable()],
    "loaded": {name: loaded(name) for name in names},
    "for": {tools: (found := pack_for(tools.split())) and found.description for tools in sys.argv[1:]},
}))
"""


def ship(folder: Path, module: str, code: str, *entries: str) -> None:
    """A package as pip would have installed it."""
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[brimgate.packs]\n" + "".join(f"{entry}\n" for entry in entries))


def ask(folder: Path, *tools: str) -> dict[str, Any]:
    environment = os.environ | {"PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", _ASK, *tools], env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_a_pack_of_others_is_found_by_its_entry_point_and_recognises_its_server(tmp_path: Path) -> None:
    ship(tmp_path, "toy_weather", GOOD, "weather = toy_weather:PACK")
    told = ask(tmp_path, "forecast other", "search_nodes search_memory_facts get_episodes", "nothing")
    assert told["installed"] == ["graphiti", "hostaway", "memory", "vikunja", "weather"]
    assert told["imported"] == []
    assert told["loaded"]["weather"] == "the weather"
    assert told["for"] == {
        "forecast other": "the weather",
        "search_nodes search_memory_facts get_episodes": PACK.description,
        "nothing": None,
    }


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def broken(:", "SyntaxError"),
        (
            "raise SystemExit('this machine is not good enough')",
            "SystemExit: this machine is not good enough",
        ),
        ("OTHER = 1", "AttributeError"),
        ("PACK = {'name': 'weather'}", "is a dict, not a Pack"),
    ],
    ids=["no import", "no python", "exits", "no such name", "no pack"],
)
def test_a_pack_that_cannot_be_used_is_told_and_keeps_no_other_from_being_found(
    tmp_path: Path, code: str, why: str
) -> None:
    ship(tmp_path, "toy_broken", code, "a_broken = toy_broken:PACK")
    ship(tmp_path, "toy_weather", GOOD, "weather = toy_weather:PACK")
    told = ask(tmp_path, "forecast")
    assert told["installed"] == ["a_broken", "graphiti", "hostaway", "memory", "vikunja", "weather"]
    assert told["usable"] == ["graphiti", "hostaway", "memory", "vikunja", "weather"]
    assert told["loaded"]["a_broken"].startswith("refused: the pack a_broken (toy_broken:PACK) ")
    assert why in told["loaded"]["a_broken"]
    assert told["for"] == {"forecast": "the weather"}


@pytest.mark.parametrize("module", ["toy_weather", "a_toy"])
def test_a_pack_with_the_name_of_ours_does_not_replace_it(tmp_path: Path, module: str) -> None:
    ship(tmp_path, module, GOOD, f"graphiti = {module}:PACK")
    told = ask(tmp_path)
    assert told["installed"] == ["graphiti", "hostaway", "memory", "vikunja"]
    assert told["loaded"]["graphiti"] == PACK.description


def test_of_two_others_with_one_name_it_is_always_the_same(tmp_path: Path) -> None:
    for module, description in (("toy_b", "second"), ("toy_a", "first")):
        ship(tmp_path, module, GOOD.replace("the weather", description), f"weather = {module}:PACK")
    assert ask(tmp_path)["loaded"]["weather"] == "first"


def test_a_name_nobody_has_is_refused_with_those_there_are() -> None:
    with pytest.raises(OperatorError, match=r"there is no pack hostile; installed: .*graphiti"):
        load_pack("hostile")


def test_ours_is_installed_and_recognises_new_and_old_servers() -> None:
    assert "graphiti" in installed()
    assert load_pack("graphiti") is PACK
    for names in (
        ("search_nodes", "search_memory_facts"),
        ("search_memory_nodes", "search_memory_facts"),
        ("search_nodes", "search_facts"),
        ("search_memory_nodes", "search_facts"),
    ):
        assert pack_for((*names, "get_episodes", "other")) is PACK
        assert pack_for(names) is None


def test_a_pack_without_a_folder_has_no_files(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_bytes(b"tools: {}")
    (tmp_path / "folder").mkdir()
    assert Pack("toy", "", {}).file("rules.yaml") == b""
    pack = Pack("toy", "", {}, folder=tmp_path)
    assert [pack.file(name) for name in ("rules.yaml", "samples.jsonl", "folder")] == [b"tools: {}", b"", b""]
