"""Callers with keys, and `brimgate serve` with a file that knows them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from brimgate.guard.static_keys import digest_of, new_key
from tests.http.serving import FAULTY, Serving, serve

STDIO = {"command": FAULTY[0], "args": FAULTY[1:]}


class Keys:
    """A key for each name. Attributes are what `Serving.client` and others take as headers."""

    def __init__(self, *names: str) -> None:
        self.key = {name: new_key() for name in names}

    def of(self, name: str) -> dict[str, str]:
        return bearer(self.key[name])

    def auth(self, *names: str, **more: Any) -> dict[str, Any]:
        """The section of a file that lets these in; all, if none is named."""
        chosen = names or tuple(self.key)
        return {"mode": "static", "keys": {name: [digest_of(self.key[name])] for name in chosen}, **more}


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def write_config(folder: Path, auth: dict[str, Any], *upstreams: dict[str, Any], **sections: Any) -> Path:
    """A file with servers named `one`, `two`…"""
    path = folder / "brimgate.yaml"
    named = dict(zip(("one", "two", "three"), upstreams or (STDIO,), strict=False))
    path.write_text(json.dumps({"upstreams": named, "auth": auth, **sections}))
    return path


@contextmanager
def serving_for(
    folder: Path,
    auth: dict[str, Any],
    *upstreams: dict[str, Any],
    env: dict[str, str] | None = None,
    **sections: Any,
) -> Iterator[Serving]:
    path = write_config(folder, auth, *upstreams, **{"server": {"grace_seconds": 0}, **sections})
    with serve("--config", str(path), command=(), env=env) as serving:
        yield serving
