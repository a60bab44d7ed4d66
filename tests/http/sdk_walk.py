"""A client of the SDK that calls a tool and reads to the end: `python -m tests.http.sdk_walk URL sse|http TOKEN TOOL`.

Prints the results as a JSON list. It runs as a process of its own: the SDK leaves sockets to the end of its own.
"""

import asyncio
import json
import sys
import warnings
from typing import Any

from tests.relay.replies import following


async def walk(url: str, way: str, token: str, tool: str) -> list[dict[str, Any]]:
    import httpx2
    from mcp import Client
    from mcp.client.sse import sse_client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"authorization": f"Bearer {token}"}
    results: list[dict[str, Any]] = []
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        stream = (
            sse_client(url, headers=headers)
            if way == "sse"
            else streamable_http_client(url, http_client=http)
        )
        async with Client(stream, mode="legacy") as client:
            name, arguments = tool, dict[str, Any]()
            while True:
                found = await client.call_tool(name, arguments)
                results.append(found.model_dump(mode="json", by_alias=True, exclude_none=True))
                if not (cursor := following(results[-1])):
                    return results
                name, arguments = "brimgate_read", {"cursor": cursor}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write(json.dumps(asyncio.run(walk(*sys.argv[1:5]))))
