"""Reload the configuration of a running gateway when its file changes."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from brimgate.config.changes import ConfigWatch
from brimgate.config.declarations import Config
from brimgate.config.show import difference, needs_restart
from brimgate.errors import OperatorError
from brimgate.watch.log import Log


class Configured(Protocol):
    config: Config

    def apply(self, config: Config) -> None:
        """Use a new configuration for all calls from now on; those under way keep the old one."""
        ...


class Reloading:
    """Reloads the configuration. A file with errors changes nothing."""

    def __init__(self, gateway: Configured, read: Callable[[], Config], log: Log) -> None:
        self._gateway, self._read, self._log = gateway, read, log

    def watch(self, path: Path) -> None:
        """Reload whenever the file changes."""
        self._watching = ConfigWatch(path, self.reload)
        self._watching.start()

    def reload(self, written_at: float) -> None:
        try:
            config = self._read()
        except OperatorError as error:
            self._log.write("config_rejected", {"reason": str(error), "kept": "the one before"}, "error")
            return
        old = self._gateway.config
        changes = difference(old, config)
        if not changes:
            return
        level = self._log.level
        self._gateway.apply(config)
        latency = round(max(time.time() - written_at, 0.0) * 1_000, 1)
        # Logged at the more verbose of both levels: a change to a quiet log is the last thing it logs.
        self._log.level, quiet = min(level, self._log.level), self._log.level
        self._log.write("config_reloaded", {"changes": changes, "latency_ms": latency})
        self._log.level = quiet
        if late := needs_restart(old, config):
            self._log.write("config_needs_restart", {"keys": late}, "warning")
