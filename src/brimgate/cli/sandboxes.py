"""`--sandbox`: stand-ins in the place of systems that would need an account."""

import argparse
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from brimgate.config import Config
from brimgate.config.declarations import Upstream
from brimgate.errors import OperatorError

if TYPE_CHECKING:
    from brimgate.packs.pack import Sandbox

Read = Callable[[], Config]


def add_sandbox_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="in front of a stand-in of the pack's system, which needs no account",
    )


@contextmanager
def sandboxes(options: argparse.Namespace, read: Read) -> Generator[Read]:
    """`read`, with stand-ins if they are asked for; they end with us."""
    if not options.sandbox:
        yield read
        return
    with ExitStack() as running:
        started: dict[str, Sandbox] = {}

        def start(pack: str) -> "Sandbox":
            from brimgate.packs.discovery import load_pack

            sandbox = load_pack(pack).sandbox if pack else None
            if sandbox is None:
                what = f"the pack {pack} has no stand-in" if pack else "it is for a pack: --pack NAME"
                raise OperatorError(f"--sandbox: {what}")
            if pack not in started:
                started[pack] = running.enter_context(sandbox())
            return started[pack]

        def led_there(one: Upstream) -> Upstream:
            if not one.is_rest:
                return one
            sandbox = start(one.pack)
            return replace(one, base_url=sandbox.base_url, env={**one.env, **sandbox.env})

        def read_sandboxed() -> Config:
            config = read()
            if not any(one.is_rest for one in config.upstreams.values()):
                raise OperatorError("--sandbox: there is no REST API here; name its pack: --pack hostaway")
            return replace(config, upstreams={name: led_there(one) for name, one in config.upstreams.items()})

        yield read_sandboxed
