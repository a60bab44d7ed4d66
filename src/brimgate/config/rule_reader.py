"""Derive the rules of each tool and endpoint from a configuration."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final

from brimgate.config.declarations import Config, Override, RolloutOverride, Upstream
from brimgate.config.reader import Place
from brimgate.engine.policy import (
    THRESHOLDS,
    AnswerFormats,
    AnswerOptions,
    CallOptions,
    CatalogOptions,
    PathPattern,
    Policy,
    Rules,
    ToolRule,
)
from brimgate.engine.tokens.estimator import DEFAULT_FAMILY, Estimator, family_of
from brimgate.errors import OperatorError

Resolve = Callable[[str], ToolRule]


def make_rules(config: Config, upstream: str = "", budget: int | None = None) -> Rules:
    """Return the rules of an upstream.

    `budget` is one number for all shapes, from the command line; it overrides what the file says for all
    tools.
    """
    protection = config.context_protection
    general = general_rule(config, budget)
    one = config.upstreams.get(upstream, Upstream())
    patterns = [*protection.tools.items(), *one.tools.items()]
    formats: Callable[[str], AnswerFormats | None] = _no_formats
    if one.pack:
        from brimgate.config.pack_rules import answer_formats_of, rules_of
        from brimgate.packs.discovery import load_pack

        pack = load_pack(one.pack)
        general = replace(general, policy=replace(general.policy, detectors=pack.detectors))
        # First, so that the file overrides the pack.
        patterns, formats = (
            [*rules_of(pack, general.policy.hard_output_token_cap, general.policy).items(), *patterns],
            partial(answer_formats_of, pack),
        )

    def resolve(tool: str) -> ToolRule:
        rule = replace(general, formats=formats(tool))
        for pattern, override in patterns:
            if fnmatchcase(tool, pattern):
                rule = overridden(rule, override)
        return rule

    return Rules(
        resolve,
        read_tool=config.read_tool,
        ttl_seconds=protection.cursor_ttl_seconds,
        pack=one.pack,
        chained=one.chained,
        catalog=CatalogOptions(protection.catalog_tokens, protection.trim_tools),
    )


def _no_formats(_: str) -> AnswerFormats | None:
    return None


def contradictions(config: Config) -> Iterator[tuple[tuple[Place, ...], str]]:
    """Yield contradictions: the keys concerned, the one to change first, and what is wrong."""
    protection = config.context_protection
    home = ("context_protection",)
    cap, most = (*home, "hard_output_token_cap"), (*home, "max_page_size")
    if protection.default_page_size > protection.max_page_size:
        what = f"{protection.default_page_size} is more than max_page_size ({protection.max_page_size})"
        yield ((*home, "default_page_size"), most), what
    for name in THRESHOLDS:
        if getattr(protection, name) > protection.hard_output_token_cap:
            what = f"{getattr(protection, name)} is more than hard_output_token_cap ({protection.hard_output_token_cap})"
            yield ((*home, name), cap), what
    for place, form in (
        (home, protection.format),
        *((place, one.format) for place, one in _overrides(config)),
    ):
        if form == "toon" and (missing := _missing_package(form)):
            yield ((*place, "format"),), missing
    for place, override in _overrides(config):
        if (size := override.default_page_size) is not None and size > protection.max_page_size:
            what = f"{size} is more than max_page_size ({protection.max_page_size})"
            yield ((*place, "default_page_size"), most), what
        if override.threshold is not None and override.threshold > protection.hard_output_token_cap:
            what = f"{override.threshold} is more than hard_output_token_cap ({protection.hard_output_token_cap})"
            yield ((*place, "threshold"), cap), what


def _missing_package(form: str) -> str:
    from brimgate.engine.forms.plain import missing_package  # loads half the engine, for few

    return missing_package(form)


def _overrides(config: Config) -> Iterator[tuple[Place, Override]]:
    protection = config.context_protection
    for name, overrides in (("tools", protection.tools), ("endpoints", protection.endpoints)):
        for pattern, override in overrides.items():
            yield ("context_protection", name, pattern), override
    for upstream, one in config.upstreams.items():
        for pattern, override in one.tools.items():
            yield ("upstreams", upstream, "tools", pattern), override


def general_rule(config: Config, budget: int | None) -> ToolRule:
    protection = config.context_protection
    family = protection.token_family or (family_of(protection.model) if protection.model else DEFAULT_FAMILY)
    chosen = _options(protection, AnswerOptions)
    if protection.strip_vectors is None:
        chosen["strip_vectors"] = config.mode == "production"
    estimator = Estimator(family, protection.token_multiplier)
    policy = Policy(estimator=estimator, read_tool=config.read_tool, **chosen)
    if budget is not None:
        policy = policy.with_budget(budget)
    return ToolRule(policy, **_options(protection, CallOptions))


def _options(given: object, declaration: type) -> dict[str, Any]:
    """Return the values of the options that a declaration has."""
    return {one.name: getattr(given, one.name) for one in fields(declaration)}


def overridden(rule: ToolRule, override: Override) -> ToolRule:
    policy = rule.policy
    if override.threshold is not None:
        if override.threshold > policy.hard_output_token_cap:
            raise ValueError(
                f"threshold {override.threshold} is more than hard_output_token_cap ({policy.hard_output_token_cap})"
            )
        policy = policy.with_budget(override.threshold)
    given = {name: value for name, value in _options(override, Override).items() if value is not None}
    # The names agree: what a policy has is the policy's, the rest the rule's.
    of_policy = {name: value for name, value in given.items() if name in _OF_POLICY}
    of_rule = {name: value for name, value in given.items() if name in _OF_RULE}
    of_policy["sections"] = tuple(override.sections.items()) or policy.sections
    return replace(rule, policy=replace(policy, **of_policy), **of_rule)


_OF_POLICY: Final = frozenset(one.name for one in fields(Policy))
_OF_RULE: Final = frozenset(one.name for one in fields(ToolRule))


def rollout_for(config: Config, principal: str) -> RolloutOverride | None:
    """Return how the calls of a caller are rolled out, if that is told by its name."""
    found: RolloutOverride | None = None
    for pattern, override in config.context_protection.principals.items():
        if fnmatchcase(principal, pattern):
            found = override
    return found


def endpoint_rules(config: Config, packs: Iterable[str] = (), budget: int | None = None) -> Resolve:
    """Return rules by path: those of the packs, then those of the configuration.

    Of several that match the last wins.
    """
    general = general_rule(config, budget)
    patterns = [
        *_rules_of_packs(packs, general.policy),
        *config.context_protection.endpoints.items(),
    ]
    return rules_by_path(general, patterns)


def rules_by_path(general: ToolRule, patterns: Iterable[tuple[str, Override]]) -> Resolve:
    """Return rules by path. Refuse impossible overrides now, not at the first request."""
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


def _rules_of_packs(packs: Iterable[str], policy: Policy) -> Iterable[tuple[str, Override]]:
    for name in packs:
        from brimgate.config.pack_rules import endpoints_of
        from brimgate.packs.discovery import load_pack

        try:
            yield from endpoints_of(load_pack(name), policy.hard_output_token_cap, policy).items()
        except ValueError as error:
            raise OperatorError(f"the pack {name}: {error}") from None
