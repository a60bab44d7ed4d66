"""The server that the official conformance suite is run against, on FastMCP, in both eras, with tasks and skills.

`python -m tests.conformance.fastmcp_server --stdio`, or `--http PORT` for Streamable HTTP at /mcp.
"""

import warnings
from pathlib import Path
from typing import Any, Final

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.providers.skills import SkillsDirectoryProvider
from fastmcp.skills.extension import SkillsExtension
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.conformance.events import RETRY_MILLISECONDS, KeptEvents
from tests.conformance.fastmcp_library import add_library
from tests.conformance.fastmcp_tasks import add_tasks
from tests.conformance.fastmcp_tools import add_tools
from tests.conformance.transport import chosen_port

_SKILLS: Final = Path(__file__).with_name("skills")


def build() -> FastMCP[Any]:
    # A schema is listed as it was written: what FastMCP would resolve in it is what a scenario looks for.
    server = FastMCP("conformance-fixture", version="1.0.0", dereference_schemas=False, cache_ttl=60)
    add_tools(server)
    add_library(server)
    add_tasks(server)
    skills = SkillsDirectoryProvider(_SKILLS, experimental_skills=True)
    server.add_provider(skills)
    server.add_extension(SkillsExtension(providers=[skills]))
    return server


def serve_http(port: int) -> None:

    app = build().http_app(
        event_store=KeptEvents(), retry_interval=RETRY_MILLISECONDS, host_origin_protection=True
    )
    # As in `fixture_server`: h11 trims the values of headers.
    uvicorn.run(
        app, host="127.0.0.1", port=port, http="h11", log_level="warning", timeout_graceful_shutdown=1
    )


def main() -> None:
    warnings.simplefilter("ignore", MCPDeprecationWarning)
    if port := chosen_port(__doc__):
        serve_http(port)
    else:
        build().run("stdio", show_banner=False)


if __name__ == "__main__":
    main()
