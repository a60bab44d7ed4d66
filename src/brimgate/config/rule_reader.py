"""Derive the rules of each tool and endpoint from a configuration."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TypeVar

from brimgate.config.declarations import Config, Override, Upstream
from brimgate.config.reader import Place
from brimgate.engine.policy import AnswerFormats, PathPattern, Policy, Rules, ToolRule
from brimgate.engine.tokens.estimator import Estimator, family_of
from brimgate.engine.tokens.families import DEFAULT_FAMILY
from brimgate.errors import OperatorError

_T = TypeVar("_T")
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
        # First, so that the file overrides the pack.
        patterns, formats = (
            [*rules_of(pack, general.policy.hard_cap).items(), *patterns],
            partial(answer_formats_of, pack),
        )

    def resolve(tool: str) -> ToolRule:
        rule = replace(general, formats=formats(tool))
        for pattern, override in patterns:
            if fnmatchcase(tool, pattern):
                rule = overridden(rule, override)
        return rule

    return Rules(resolve, read_tool=config.read_tool, ttl_seconds=protection.cursor_ttl_seconds)


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
    for name in ("output_token_threshold", "object_threshold", "chunk_threshold"):
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
        if override.page_size is not None and override.page_size > protection.max_page_size:
            what = f"{override.page_size} is more than max_page_size ({protection.max_page_size})"
            yield ((*place, "page_size"), most), what
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
    strip = config.mode == "production" if protection.strip_vectors is None else protection.strip_vectors
    policy = Policy(
        estimator=Estimator(family, protection.token_multiplier),
        list_threshold=protection.output_token_threshold,
        object_threshold=protection.output_token_threshold,
        mapped_object_threshold=protection.object_threshold,
        text_threshold=protection.chunk_threshold,
        hard_cap=protection.hard_output_token_cap,
        page_size=protection.default_page_size,
        max_page_size=protection.max_page_size,
        chunk_lines=protection.chunk_size,
        pagination=protection.enable_pagination,
        summarization=protection.enable_summarization,
        highlights=protection.highlights,
        highlight_share=protection.highlight_share,
        form=protection.format,
        strip_vectors=strip,
        strip_empty=protection.strip_empty,
        strip_fields=protection.strip_fields,
        keywords=protection.keywords,
        compact=protection.compact == "always",
        read_tool=config.read_tool,
    )
    if budget is not None:
        policy = policy.with_budget(budget)
    return ToolRule(
        policy,
        enabled=protection.enabled,
        rollout_percent=protection.rollout,
        output_schema=protection.output_schema,
        annotate=protection.annotate == "always",
    )


def overridden(rule: ToolRule, override: Override) -> ToolRule:
    policy = rule.policy
    if override.threshold is not None:
        if override.threshold > policy.hard_cap:
            raise ValueError(
                f"threshold {override.threshold} is more than hard_output_token_cap ({policy.hard_cap})"
            )
        policy = policy.with_budget(override.threshold)
    policy = replace(
        policy,
        page_size=_or(override.page_size, policy.page_size),
        chunk_lines=_or(override.chunk_size, policy.chunk_lines),
        pagination=_or(override.pagination_enabled, policy.pagination),
        summarization=_or(override.summarization_enabled, policy.summarization),
        highlights=_or(override.highlights, policy.highlights),
        essential_fields=_or(override.fields, policy.essential_fields),
        keywords=_or(override.keywords, policy.keywords),
        form=_or(override.format, policy.form),
        compact=policy.compact if override.compact is None else override.compact == "always",
        strip_vectors=_or(override.strip_vectors, policy.strip_vectors),
        sections=tuple(override.sections.items()) or policy.sections,
        strip_empty=_or(override.strip_empty, policy.strip_empty),
        strip_fields=_or(override.strip_fields, policy.strip_fields),
    )
    return replace(
        rule,
        policy=policy,
        enabled=_or(override.enabled, rule.enabled),
        rollout_percent=_or(override.rollout, rule.rollout_percent),
        output_schema=_or(override.output_schema, rule.output_schema),
        annotate=rule.annotate if override.annotate is None else override.annotate == "always",
        hidden=_or(override.hidden, rule.hidden),
        max_description_chars=_or(override.max_description_chars, rule.max_description_chars),
    )


def _or(given: _T | None, otherwise: _T) -> _T:
    return otherwise if given is None else given


def endpoint_rules(config: Config, packs: Iterable[str] = (), budget: int | None = None) -> Resolve:
    """Return rules by path: those of the packs, then those of the configuration.

    Of several that match the last wins.
    """
    general = general_rule(config, budget)
    patterns = [
        *_rules_of_packs(packs, general.policy.hard_cap),
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


def _rules_of_packs(packs: Iterable[str], hard_cap: int) -> Iterable[tuple[str, Override]]:
    for name in packs:
        from brimgate.config.pack_rules import endpoints_of
        from brimgate.packs.discovery import load_pack

        try:
            yield from endpoints_of(load_pack(name), hard_cap).items()
        except ValueError as error:
            raise OperatorError(f"the pack {name}: {error}") from None
