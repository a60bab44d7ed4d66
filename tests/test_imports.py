"""What starting costs, pinned by module list: we stand in front of every server a user has."""

import subprocess
import sys
from importlib.metadata import version

HEAVY = (
    "numpy",
    "splintr",
    "re2",
    "toon_format",
    "pydantic",
    "rich",
    "httpx",
    "aiohttp",
    "starlette",
    "mcp",
    "asyncio",
)


def loaded_by(code: str) -> set[str]:
    probe = f"{code}\nimport sys\nprint(*(name.partition('.')[0] for name in sys.modules))"
    out = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    return set(out.split())


def test_importing_the_package_and_the_engine_loads_nothing_heavy() -> None:
    assert loaded_by("import brimgate").isdisjoint({*HEAVY, "msgspec"})
    assert loaded_by("import brimgate.engine.replies.text, brimgate.hold.protection").isdisjoint(HEAVY)


def test_a_server_is_started_before_logging_and_asyncio_are_loaded() -> None:
    """See `cli/run`: it starts meanwhile."""
    assert loaded_by("import brimgate.cli.main, brimgate.cli.run").isdisjoint({*HEAVY, "logging"})


def test_a_small_answer_is_passed_without_loading_anything_heavy() -> None:
    code = """
from brimgate.engine.replies.text import Gate
from brimgate.engine.policy import Policy
from brimgate.engine.document import Document
import json
data = json.dumps({"tasks": [{"id": n, "title": "write docs"} for n in range(40)]}).encode()
assert Gate(Document(data), Policy(), lambda view, at: "").first() is None
"""
    assert loaded_by(code).isdisjoint(HEAVY)


def test_a_large_answer_loads_numpy_and_the_tokenizer_but_no_network_stack() -> None:
    code = """
from brimgate.engine.replies.text import Gate
from brimgate.engine.policy import Policy
from brimgate.engine.document import Document
import json
data = json.dumps([{"id": n, "title": f"write docs {n}"} for n in range(4000)]).encode()
assert Gate(Document(data), Policy(), lambda view, at: "").first() is not None
"""
    loaded = loaded_by(code)
    assert {"numpy", "splintr"} <= loaded
    assert loaded.isdisjoint({"pydantic", "rich", "httpx", "aiohttp", "starlette", "mcp", "asyncio"})


def test_the_public_surface_is_what_we_mean_it_to_be() -> None:
    import brimgate
    import brimgate.testing

    assert brimgate.__all__ == ["__version__"]
    assert brimgate.testing.__all__ == ["bookings"]


def test_inner_parts_of_others_that_we_use_are_those_we_have_looked_at() -> None:
    """A new minor version may change them: look at the places named here, then at this number."""
    looked_at = {
        "uvicorn": "0.54",  # front/mcp/doorkeeper.py: HttpToolsProtocol, its cycle and its timers
        "fastmcp": "4.1",  # fastmcp.py: ToolInjectionMiddleware, fastmcp_request_ctx
    }
    found = {name: ".".join(version(name).split(".")[:2]) for name in looked_at}
    assert found == looked_at
