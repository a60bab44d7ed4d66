"""How a change of the configuration file is noticed: by events of the system, also through links."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from brimgate.app.reload import ConfigWatch, Reload, ReloadNote
from brimgate.config.declarations import Config
from brimgate.config.sources import load
from brimgate.platform import FolderWatch
from brimgate.watch.log import Log

PATIENCE = 20.0
linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


def changes(path: Path, *steps: Callable[[], object]) -> list[bytes]:
    """What the file holds at each change that is told, one step being taken after each."""

    async def watching() -> list[bytes]:
        told: asyncio.Queue[bytes] = asyncio.Queue()
        watch = ConfigWatch(path, lambda _, content: told.put_nowait(content), path.read_bytes())
        watch.start()
        found: list[bytes] = []
        for step in steps:
            step()
            found.append(await asyncio.wait_for(told.get(), PATIENCE))
        watch.stop()
        return found

    return asyncio.run(watching())


@linux
def test_a_folder_tells_which_file_was_written(tmp_path: Path) -> None:
    watch = FolderWatch.open()
    assert watch is not None and watch.add(str(tmp_path)) and not watch.add(str(tmp_path / "missing"))
    assert list(watch.events()) == []
    (tmp_path / "one").write_text("text")
    (tmp_path / "two").mkdir()
    events = list(watch.events())
    watch.close()
    assert {name for _, name in events} == {"one", "two"}
    assert any(kind & FolderWatch.CLOSED for kind, name in events if name == "one")


def test_a_file_that_is_written_renamed_over_or_swapped_by_a_link_is_told_of(tmp_path: Path) -> None:
    """As editors, deployments and Kubernetes do it."""
    old, new = tmp_path / "..2026_01", tmp_path / "..2026_02"
    for folder, text in ((old, "a: 1"), (new, "a: 4")):
        folder.mkdir()
        (folder / "file.yaml").write_text(text)
    data, path = tmp_path / "..data", tmp_path / "file.yaml"
    data.symlink_to(old.name)
    path.symlink_to("..data/file.yaml")

    def rename_over() -> None:
        draft = old / "draft"
        draft.write_text("a: 3")
        draft.replace(old / "file.yaml")

    def swap_link() -> None:
        draft = tmp_path / "draft"
        draft.symlink_to(new.name)
        draft.replace(data)

    found = changes(path, lambda: (old / "file.yaml").write_text("a: 2"), rename_over, swap_link)
    assert found == [b"a: 2", b"a: 3", b"a: 4"]


def test_a_file_that_goes_and_comes_back_is_told_of_once_it_is_back(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("a: 1")

    def leave_and_return() -> None:
        path.unlink()
        path.write_text("a: 2")

    assert changes(path, leave_and_return) == [b"a: 2"]


class Configured:
    def __init__(self, config: Config) -> None:
        self.config = config

    def apply(self, config: Config) -> None:
        self.config = config

    def note_reload(self, note: ReloadNote) -> None:
        self.note = note


def test_what_was_noticed_applies_though_the_file_is_emptied_by_then(tmp_path: Path) -> None:
    """A writer empties a file before it fills it: read a second time, nothing would be what it says."""
    path = tmp_path / "file.yaml"
    path.write_text("")
    gateway = Configured(Config())
    reload = Reload(gateway, lambda content: load(path, {}, content=content), Log("error"))
    reload.reload(0.0, b"read_tool: more")
    assert gateway.config.read_tool == "more"
    reload.reload(0.0)
    assert gateway.config.read_tool == Config().read_tool, "asked for by a signal, it is read as it stands"
