import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from brimgate.engine import guess
from tests.in_process import here

__all__ = ["here"]

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def _keep_state_apart() -> None:
    """Give every process of the tests a state folder of their own, also those that see no variable of ours."""
    if "BRIMGATE_STATE_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="brimgate-tests-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["BRIMGATE_STATE_DIR"] = os.environ["XDG_STATE_HOME"] = folder


_keep_state_apart()
if (
    os.environ.get("HYPOTHESIS_PROFILE") == "long"
):  # `make fuzz` looks for checks of foreign data that fail, too
    guess.SWALLOWED = ()

settings.register_profile("quick", max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("long", max_examples=3_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The twelve real-sized results that lie beside the project."""
    folder = SHARED / "corpus"
    if not folder.is_dir():
        pytest.skip("../shared/corpus is not here")
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow every case that `slow_except` does not name."""
    for item in items:
        marker = item.get_closest_marker("slow_except")
        case = item.nodeid.partition("[")[2].removesuffix("]")
        if marker is not None and case not in marker.args:
            item.add_marker(pytest.mark.slow)
