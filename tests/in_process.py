"""The command line without a process of its own: for all that ends before a server is started."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from brimgate.cli.main import main

Here = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Here:
    """Return what runs `brimgate` in this process, as a shell would: its own folder, variables and input.

    Some commands of their own are run as processes, too: that `python -m brimgate` does the same is tested there.
    """

    def brimgate(*arguments: str, stdin: bytes = b"", **more: str) -> "subprocess.CompletedProcess[bytes]":
        capfdbinary.readouterr()
        with monkeypatch.context() as changed, tempfile.TemporaryFile() as given:
            for name in [name for name in os.environ if name.startswith("BRIMGATE_")]:
                changed.delenv(name)
            for name, value in ({"BRIMGATE_STATE_DIR": str(tmp_path / "state")} | more).items():
                changed.setenv(name, value)
            changed.chdir(tmp_path)
            given.write(stdin)
            given.seek(0)
            code = _with_input(given.fileno(), lambda: _code_of(arguments), changed)
        out, err = capfdbinary.readouterr()
        return subprocess.CompletedProcess(arguments, code, out, err)

    return brimgate


def _code_of(arguments: tuple[str, ...]) -> int:
    try:
        return main(arguments)
    except SystemExit as ended:  # argparse says so
        return ended.code if isinstance(ended.code, int) else int(bool(ended.code))


def _with_input(given: int, run: Callable[[], int], changed: pytest.MonkeyPatch) -> int:
    before = os.dup(0)
    os.dup2(given, 0)
    try:
        with open(0, encoding="utf-8", closefd=False) as stdin:
            changed.setattr(sys, "stdin", stdin)
            return run()
    finally:
        os.dup2(before, 0)
        os.close(before)
