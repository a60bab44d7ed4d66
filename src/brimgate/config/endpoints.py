"""What a configuration means for each REST path."""

from collections.abc import Callable, Iterable

from brimgate.config.declarations import Config, Override
from brimgate.config.rule_reader import general_rule, overridden
from brimgate.engine.patterns import PathPattern
from brimgate.engine.rules import Rules, ToolRule
from brimgate.errors import OperatorError

Resolve = Callable[[str], ToolRule]


def endpoint_rules(config: Config, packs: Iterable[str] = (), budget: int | None = None) -> Resolve:
    """By the packs' rules, then by those of the configuration; of several that match the later wins."""
    general = general_rule(config, budget)
    patterns = [
        *_rules_of_packs(packs, general.policy.hard_cap),
        *config.context_protection.endpoints.items(),
    ]
    return rules_by_path(general, patterns)


def rules_by_path(general: ToolRule, patterns: Iterable[tuple[str, Override]]) -> Resolve:
    """What cannot be is refused now, not at the first request."""
    known = [(PathPattern.of(pattern), override) for pattern, override in patterns]
    for _, override in known:
        overridden(general, override)

    def resolve(path: str) -> ToolRule:
        rule = general
        for pattern, override in known:
            if pattern.match(path) is not None:
                rule = overridden(rule, override)
        return rule

    return Rules(resolve).of


def _rules_of_packs(packs: Iterable[str], hard_cap: int) -> Iterable[tuple[str, Override]]:
    for name in packs:
        from brimgate.config.packs import endpoints_of
        from brimgate.packs.discovery import load_pack

        try:
            yield from endpoints_of(load_pack(name), hard_cap).items()
        except ValueError as error:
            raise OperatorError(f"the pack {name}: {error}") from None
