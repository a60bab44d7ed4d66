"""The Hostaway system as a whole: the stand-in API, `brimgate serve` in front of it, and clients of both kinds."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import yaml

from brimgate.engine.tokens.estimator import Estimator
from brimgate.packs.hostaway import PACK
from brimgate.sandboxes.hostaway import Sandbox, sandbox
from tests.hostaway.asking import Caller
from tests.http.serving import Answer, LegacyClient, Serving, serve

ESTIMATOR: Final = Estimator()
RESERVATIONS: Final = 500
_CURSOR: Final = re.compile(r'(?:more|everything): brimgate_read\(cursor="([^"]+)"')
Json = dict[str, Any]


@dataclass
class System:
    api: Sandbox
    serving: Serving
    home: Path
    _mcp: LegacyClient | None = None

    @property
    def upstream(self) -> Caller:
        """The API itself, asked directly."""
        return Caller(self.api.url).sign_in()

    def control(self, path: str, /, **given: Any) -> Any:
        return Caller(self.api.url).control(path, **given)

    # MCP

    def call(self, tool: str, **arguments: Any) -> "Told":
        if self._mcp is None:
            self._mcp = self.serving.client()
            self._mcp.initialize()
        return Told(self._mcp.call(tool, **arguments)["result"])

    def read(self, cursor: str, **arguments: Any) -> "Told":
        return self.call("brimgate_read", cursor=cursor, **arguments)

    # REST

    def get(self, path: str, **query: Any) -> Answer:
        where = f"{path}?{urlencode(query)}" if query else path
        return self.serving.get(where)


@dataclass
class Told:
    """What a model gets to see of a result, and what a program reads off it."""

    result: Json

    @property
    def text(self) -> str:
        return "\n".join(block["text"] for block in self.result["content"])

    @property
    def failed(self) -> bool:
        return bool(self.result.get("isError"))

    @property
    def record(self) -> Json:
        return (self.result.get("_meta") or {}).get("brimgate/result", {})

    @property
    def tokens(self) -> int:
        return ESTIMATOR.ceiling(self.text)

    @property
    def following(self) -> str:
        """By the notice alone, as a model would."""
        found = _CURSOR.search(self.result["content"][0]["text"])
        return found[1] if found else ""


def api_without_limits(home: Path) -> Path:
    """The pack's declaration for an API that nobody else asks."""
    declared = yaml.safe_load(PACK.file("api.yaml"))
    declared["rate_limits"] = []
    path = home / "api.yaml"
    path.write_text(json.dumps(declared))
    return path


def config_of(home: Path, api: Sandbox, **sections: Any) -> Path:
    hostaway = {
        "pack": "hostaway",
        "api": str(api_without_limits(home)),
        "base_url": api.url,
        "env": {"HOSTAWAY_ACCOUNT_ID": str(api.settings.account_id), "HOSTAWAY_API_KEY": api.settings.secret},
    }
    path = home / "brimgate.yaml"
    path.write_text(json.dumps({"upstreams": {"hostaway": hostaway}, **sections}))
    return path


@contextmanager
def hostaway(home: Path, *, settings: Json | None = None, **sections: Any) -> Iterator[System]:
    usual: Json = {
        "listings": 60,
        "reservations": RESERVATIONS,
        "rate_ip": 0,
        "rate_account": 0,
        "control": True,
    }
    with (
        sandbox(**usual | (settings or {})) as api,
        serve("--config", str(config_of(home, api, **sections)), command=()) as serving,
    ):
        yield System(api, serving, home)
