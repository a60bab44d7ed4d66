"""Options that several commands share, and their meaning for the engine."""

import argparse
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from brimgate.cli.gateway import add_budget_flag, add_flags, environment_config
from brimgate.cli.output import READ_COMMAND, complain, printable, report
from brimgate.engine.cursor import Binding, answer_number
from brimgate.engine.decision import AnswerSizes, Decision, LazySizes, Outcome, sizes_of
from brimgate.engine.document import Document
from brimgate.engine.forms import AUTO, FORMS
from brimgate.engine.policy import Policy
from brimgate.engine.query import COUNT, Query, parse_query
from brimgate.engine.replies.reply import Reply, allowance
from brimgate.engine.tokens.estimator import (
    DEFAULT_FAMILY,
    MIN_BUDGET,
    Estimator,
    family_of,
    unknown_model,
)
from brimgate.errors import BadRequest, ClientError, CursorError
from brimgate.guard.principal import USER
from brimgate.hold.protection import Protection, process_ring, ring_from_environment, user_protection
from brimgate.hold.stores.file import UserStore
from brimgate.hold.stores.memory import MemoryStore

if TYPE_CHECKING:
    from brimgate.config.declarations import Config

MAX_MULTIPLIER = 20
LEAST_CONTENT = 50
PRINCIPAL, UPSTREAM = USER.id, "file"
BINDING = Binding(PRINCIPAL, UPSTREAM, "reduce")
_NOT_KEPT = "store is memory, so what is held ends with this command, and a cursor leads nowhere"


def add_budget_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("budget")
    add_budget_flag(group)
    add_flags(group, "model", "token_family")
    group.add_argument(
        "--multiplier", type=float, default=1.0, metavar="X", help="correct every token count by this factor"
    )


def add_view_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to show")
    group.add_argument(
        "--format",
        dest="form",
        choices=(AUTO, *FORMS, COUNT),
        help=f"lossless form to write JSON in; {COUNT}: only how many match --search",
    )
    group.add_argument("--limit", metavar="N", help="items on a page (default: as many as fit, at most 200)")
    group.add_argument("--fields", metavar="A,B.C", help="only these fields of each item")
    group.add_argument(
        "--path", metavar="POINTER", help='only what a JSON Pointer leads to, such as "/result/17/price"'
    )
    group.add_argument("--lines", metavar="A-B", help="only these lines of a text")
    group.add_argument(
        "--search", metavar="WORDS", help="only items or lines with these words, or matching /pattern/"
    )
    group.add_argument(
        "--pages", metavar="A-B", help="several pages (or chunks) in one reply, within the hard cap"
    )

    group.add_argument(
        "--query",
        metavar="SQL",
        help='ask with SQL, such as "SELECT status, count(*) FROM t GROUP BY status"',
    )


def chosen_family(options: argparse.Namespace) -> str:
    """Return the token family that the command line means, and say so if it is only assumed."""
    if options.token_family or not options.model:
        return options.token_family or DEFAULT_FAMILY
    if what := unknown_model(options.model):
        complain(printable(what))
    return family_of(options.model)


def make_policy(options: argparse.Namespace) -> Policy:
    family = chosen_family(options)
    try:
        if not 0 < options.multiplier <= MAX_MULTIPLIER:
            raise BadRequest(f"--multiplier must be a positive number up to {MAX_MULTIPLIER}")
        policy = Policy(estimator=Estimator(family, options.multiplier), read_tool=READ_COMMAND)
        if options.budget is None:
            return policy
        policy = policy.with_budget(options.budget)
        if options.budget < (least := allowance(policy, section=True) + LEAST_CONTENT):
            raise BadRequest(
                f"--budget {options.budget} leaves no room beside the notice: at least {least} are needed"
            )
        return policy
    except ValueError as error:
        if options.budget is not None and options.budget < MIN_BUDGET:
            raise BadRequest(f"--budget must be at least {MIN_BUDGET} tokens, not {options.budget}") from None
        raise BadRequest(str(error)) from None


def make_request(options: argparse.Namespace, policy: Policy) -> Query:
    return parse_query(
        limit=options.limit,
        fields=options.fields,
        path=options.path,
        lines=options.lines,
        search=options.search,
        pages=options.pages,
        form=options.form,
        query=options.query,
        max_limit=policy.max_page_size,
    )


class ShellAccount:
    """Reports the decisions of `reduce` and `read`."""

    def __init__(self, tool: str, policy: Policy) -> None:
        self._upstream, self._tool, self._policy = UPSTREAM, tool, policy
        self._began = time.perf_counter()

    def name(self, upstream: str, tool: str) -> None:
        """Say whose answer is read on."""
        self._upstream, self._tool = upstream, tool

    def note_reply(self, reply: Reply, cursor: str = "") -> None:
        """Report a reply; `cursor` is the one that was followed to it."""
        text = reply.text.encode("utf-8", "surrogateescape")
        self._tell(
            reply.outcome, reply.original_bytes, len(text), reply.sizes, issued_cursor=reply.has_cursor,
            followed_cursor=reply.outcome == "read", highlights=reply.highlight_count, shown=lambda: text,
            answer=answer_number(cursor) if cursor else reply.answer,
        )  # fmt: skip

    def note_passed(self, data: bytes, shown: bytes) -> None:
        outcome: Outcome = "passed" if shown is data else "rendered"
        self._tell(outcome, len(data), len(shown), partial(self._sizes, data, shown))

    def _sizes(self, data: bytes, shown: bytes) -> AnswerSizes:
        sizes = sizes_of(Document(data), self._policy)
        if shown is data:
            return sizes
        return sizes._replace(estimated_tokens=self._policy.estimator.table(shown))

    def note_refusal(self, error: ClientError) -> None:
        tokens = self._policy.estimator.table(str(error))
        has_expired = isinstance(error, CursorError)
        sizes = AnswerSizes(0, tokens)
        self._tell("refused", 0, len(str(error).encode()), sizes, reason=str(error), has_expired=has_expired)

    def _tell(self, outcome: Outcome, came: int, sent: int, sizes: LazySizes, **more: Any) -> None:
        seconds, self._began = time.perf_counter() - self._began, time.perf_counter()
        report(
            Decision(
                time.time(), USER.name, self._upstream, self._tool, outcome, came, sent, sizes, "brimgate",
                self._policy.estimator.family, engine_seconds=seconds, principal_id=USER.id,
                threshold=self._policy.output_token_threshold, **more,
            )
        )  # fmt: skip


def make_protection(policy: Policy, config: "Config | None" = None) -> Protection:
    """Return the engine with the folder of this user, so that any command can read on.

    `call` gives its configuration. Other commands have that of the environment, and are refused where it has a wrong
    key: they have done nothing yet.
    """
    if config is None:
        config = environment_config()
        ring_from_environment()
    ttl_seconds = config.context_protection.cursor_ttl_seconds
    if config.store == "memory":
        complain(_NOT_KEPT)
        return Protection(policy, process_ring(), MemoryStore(), ttl_seconds)
    return user_protection(policy, UserStore(None, complain), ttl_seconds)
