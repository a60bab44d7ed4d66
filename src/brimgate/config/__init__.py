"""Every option declared once: file, environment, command line, docs and checks derive from the declarations."""

from brimgate.config.declarations import Config, ContextProtection, Override, Server, Upstream
from brimgate.config.sources import load, load_file, parse

__all__ = ["Config", "ContextProtection", "Override", "Server", "Upstream", "load", "load_file", "parse"]
