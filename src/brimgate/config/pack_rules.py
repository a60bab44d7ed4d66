"""The rules and formatters that a pack brings for the tools of its system."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import msgspec

from brimgate.config.declarations import ContextProtection, Override
from brimgate.config.sources import parse
from brimgate.engine.decision import AnswerFormat
from brimgate.engine.policy import AnswerFormats, AnswerOptions
from brimgate.errors import OperatorError
from brimgate.packs.formatter import Trouble, answer_format_of
from brimgate.packs.pack import RULES_FILE, Pack, Scene

_USUAL: Final = AnswerOptions()


def rules_of(pack: Pack, hard_cap: float = math.inf, options: AnswerOptions = _USUAL) -> dict[str, Override]:
    """Return the rules of a pack, read like those of a configuration, beside the options for all tools."""
    return _within(hard_cap, pack, _beside(options, _read(pack).tools))


def endpoints_of(
    pack: Pack, hard_cap: float = math.inf, options: AnswerOptions = _USUAL
) -> dict[str, Override]:
    """Return the rules of a pack for REST paths."""
    return _within(hard_cap, pack, _beside(options, _read(pack).endpoints))


def _beside(options: AnswerOptions, rules: dict[str, Override]) -> dict[str, Override]:
    """Leave out the budgets of a pack where the configuration sets its own: a pack has only better defaults."""
    own = {
        name
        for name, option in (
            ("threshold", "output_token_threshold"),
            ("object_threshold", "object_threshold"),
        )
        if getattr(options, option) != getattr(_USUAL, option)
        or options.hard_output_token_cap != _USUAL.hard_output_token_cap
    }
    return {name: replace(rule, **dict.fromkeys(own)) for name, rule in rules.items()} if own else rules


def _read(pack: Pack) -> ContextProtection:
    return _parsed(pack.file(RULES_FILE), f"{pack.name}/{RULES_FILE}")


@lru_cache(8)
def _parsed(data: bytes, name: str) -> ContextProtection:
    """Read the rules once: a reload asks for them three times, at 8 ms each for Hostaway's."""
    return parse(data, name).context_protection if data else ContextProtection()


def _within(hard_cap: float, pack: Pack, rules: dict[str, Override]) -> dict[str, Override]:
    for name, rule in rules.items():
        if rule.threshold is not None and rule.threshold > hard_cap:
            raise OperatorError(
                f"{pack.name}/{RULES_FILE}: {name}: threshold {rule.threshold} is more than "
                f"hard_output_token_cap ({hard_cap})"
            )
    return rules


def answer_formats_of(pack: Pack, tool: str) -> AnswerFormats | None:
    """Return the formats for a model.

    Ids stay whole, so that they can be used, and times absolute, so that texts are stable.
    """
    if pack.tool(tool).formatter is None:
        return None

    def formats(arguments: bytes, on_trouble: Callable[[dict[str, Any]], None]) -> AnswerFormat:
        def tell(trouble: Trouble) -> None:
            on_trouble({"pack": pack.name} | trouble.fields)

        scene = Scene(_asked(arguments))
        return answer_format_of(pack, tool, lambda _: scene, tell)

    return formats


def _asked(arguments: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(arguments, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
