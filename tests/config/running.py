"""Brimgate with a configuration: without I/O, as a process, and as the command that checks it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from brimgate.config.declarations import Config
from brimgate.config.rule_reader import make_rules
from brimgate.config.sources import load
from tests.relay.conversation import Conversation
from tests.relay.rawclient import PATIENCE, RawClient

SERVER = [sys.executable, str(Path(__file__).parents[1] / "relay" / "faulty_server.py")]
BRIMGATE = [sys.executable, "-m", "brimgate"]


def environment(**more: str) -> dict[str, str]:
    """Ours, without what would change Brimgate, and with the state folder of the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BRIMGATE_")}
    return kept | {"BRIMGATE_STATE_DIR": os.environ["BRIMGATE_STATE_DIR"]} | more


def configured(folder: Path, text: str, name: str = "brimgate.yaml") -> Config:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load(path, environment={})


def talk(folder: Path, text: str, upstream: str = "") -> Conversation:
    """A session without I/O under a configuration file of this text."""
    conversation = Conversation()
    conversation.session.rules = make_rules(configured(folder, text), upstream)
    return conversation


def protection(folder: Path, text: str) -> Conversation:
    """The same for a line inside `context_protection:`."""
    return talk(folder, f"context_protection: {{{text}}}")


def gateway(*options: str, command: list[str] | None = None, **settings: Any) -> RawClient:
    """`brimgate run` as a process, in front of the faulty server unless told otherwise."""
    behind = ["--", *(SERVER if command is None else command)] if command != [] else []
    env = settings.pop("env", {})
    return RawClient([*BRIMGATE, "run", *options, *behind], env=environment(**env), **settings)


def upstream_yaml(**keys: Any) -> str:
    """`upstreams:` with the faulty server as the one named `faulty`."""
    faulty = {"command": SERVER[0], "args": SERVER[1:]} | keys
    return f"upstreams: {json.dumps({'faulty': faulty})}\n"


def check(*arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """`brimgate check` as a process."""
    return subprocess.run(
        [*BRIMGATE, "check", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment(**variables),
        timeout=PATIENCE,
        check=False,
    )
