"""What holds for the relay holds inside a FastMCP server: the same tests, another conversation."""

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("fastmcp", reason="FastMCP is not installed")

from tests.fastmcp.talking import conversations
from tests.relay import test_session as relay

BEHAVIOURS: list[Callable[..., None]] = [
    relay.test_a_tool_that_is_not_protected_passes_whole,
    relay.test_text_and_structured_data_that_say_the_same_are_sent_once_and_walk_back_exactly,
    relay.test_a_list_sent_as_one_block_per_item_is_recognised_as_its_structured_data,
    relay.test_true_and_one_do_not_say_the_same,
    relay.test_text_and_other_structured_data_are_both_bounded_and_both_within_reach,
    relay.test_small_blocks_beside_a_large_one_stay_where_they_were,
    relay.test_a_picture_counts_by_its_pixels_and_stays,
    relay.test_pictures_over_the_cap_are_held_and_the_first_ones_stay,
    relay.test_what_claims_to_be_a_picture_and_is_none_counts_as_text,
    relay.test_an_apps_own_page_is_not_for_the_model_and_passes,
    relay.test_an_error_result_stays_an_error_and_keeps_its_meta,
    relay.test_an_error_says_all_it_says_in_its_first_block,
    relay.test_wrong_arguments_are_answered_with_what_is_right,
    relay.test_an_argument_that_is_filled_in_with_nothing_is_not_given,
    relay.test_a_reading_keeps_to_the_rule_of_the_tool_it_is_of,
    relay.test_a_cursor_of_another_session_is_refused,
    relay.test_an_expired_cursor_says_what_to_do,
    relay.test_a_kept_schema_holds_for_a_page_that_carries_its_notice,
    relay.test_a_kept_schema_without_room_for_a_notice_makes_an_error_with_the_cursor,
    relay.test_a_kept_schema_of_a_text_holds_with_the_notice_inside_it,
    relay.test_a_schema_that_points_elsewhere_is_not_fetched,
    relay.test_a_relaxed_schema_gets_an_object_that_tells_all_within_the_budget,
    relay.test_compact_writes_small_json_in_a_cheaper_form_and_leaves_text_alone,
    relay.test_annotate_puts_the_budget_on_what_passes,
]


def with_arguments(behaviour: Callable[..., None]) -> list[Any]:
    """A behaviour once for each row of its own table, if it has one."""
    name = behaviour.__name__.removeprefix("test_")
    rows: list[dict[str, Any]] = [{}]
    for mark in getattr(behaviour, "pytestmark", []):
        names, values = mark.args
        keys = [names] if isinstance(names, str) else names
        rows = [dict(zip(keys, [row] if isinstance(names, str) else row, strict=True)) for row in values]
    return [pytest.param(behaviour, row, id=f"{name}-{at}" if row else name) for at, row in enumerate(rows)]


@pytest.mark.parametrize(("behaviour", "row"), [case for one in BEHAVIOURS for case in with_arguments(one)])
def test_the_middleware_does_as_the_relay(
    behaviour: Callable[..., None], row: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with conversations() as conversation:
        monkeypatch.setattr(relay, "Conversation", conversation)
        behaviour(**row)
