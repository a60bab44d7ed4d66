"""Where other people's servers and clients are installed, and what to say where they are not."""

import shutil
from pathlib import Path
from typing import Final

from tests.world import NODE, NODE_FOLDER

_ROOT: Final = Path(__file__).resolve().parents[2]
_PACKAGES: Final = Path(__file__).resolve().parent / "node" / "node_modules"


def python_of(environment: str) -> str:
    return str(_ROOT / f".venv-{environment}" / "bin" / "python")


def program_of(environment: str, name: str) -> str:
    """Return the command that a package installed beside the Python of its environment."""
    return str(_ROOT / f".venv-{environment}" / "bin" / name)


def node_package(script: str, *arguments: str) -> list[str]:
    """Return the command line of a server from npm, run by the Node that comes in a wheel."""
    return [str(NODE), str(_PACKAGES / script), *arguments]


def chromium() -> str:
    """Return where Debian's Chromium is, or nothing."""
    return shutil.which("chromium") or ""


def what_is_missing(environment: str) -> str:
    """Say what an environment lacks to be used, and how to get it; nothing if it can be used."""
    if environment == "here":
        return ""
    if environment == "npm":
        installed = (NODE_FOLDER / "node_modules" / ".ready").exists()
        return (
            ""
            if installed
            else "the npm packages of tests/node are not installed: run `make unit` with npm's registry"
        )
    if environment == "browser":
        if not (_PACKAGES / ".ready").exists():
            return "the npm packages of tests/third_parties/node are not installed: run `make slow` with npm's registry"
        return "" if chromium() else "there is no Chromium: apt-get install chromium"
    if not (_ROOT / f".venv-{environment}" / ".ready").exists():
        return f".venv-{environment} is not installed: run `make slow` where the Python package index can be reached"
    return ""
