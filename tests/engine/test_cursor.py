import pytest
from hypothesis import given
from hypothesis import strategies as st

from brimgate.engine.cursor import MAX_CHARS, Binding, Cursor, KeyRing, peek
from brimgate.engine.document import Position
from brimgate.errors import CursorError, OperatorError

OLD, NEW = bytes(range(32)), bytes(range(100, 132))
ANN = Binding("ann", "hostaway", "list_bookings")
cursors = st.builds(
    Cursor,
    st.binary(min_size=8, max_size=8),
    st.integers(0, 2**32 - 1),
    st.builds(Position, st.integers(0, 2**32), st.integers(0, 2**32)),
    st.just(b"") | st.binary(min_size=4, max_size=4),
)


@pytest.mark.property
@given(cursors)
def test_a_sealed_cursor_opens_again_and_costs_at_most_64_characters(cursor: Cursor) -> None:
    text = KeyRing(NEW).seal(cursor, ANN)
    assert len(text) <= MAX_CHARS
    assert KeyRing(NEW).unseal(text, ANN, now_minute=-1) == cursor
    assert peek(text) == cursor


@pytest.mark.parametrize(
    "other",
    [
        Binding("bob", "hostaway", "list_bookings"),
        Binding("ann", "vikunja", "list_bookings"),
        Binding("ann", "hostaway", "get_booking"),
        Binding("annhostaway", "", "list_bookings"),
    ],
)
def test_a_cursor_fails_for_another_principal_upstream_or_tool(other: Binding) -> None:
    text = KeyRing(NEW).seal(Cursor(b"12345678", 9_999, Position(41)), ANN)
    with pytest.raises(CursorError):
        KeyRing(NEW).unseal(text, other, now_minute=0)


@pytest.mark.property
@given(cursors, st.data())
def test_a_cursor_changed_in_any_character_is_refused(cursor: Cursor, data: st.DataObject) -> None:
    text = KeyRing(NEW).seal(cursor, ANN)
    at = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("ABCDabcd0189-_=+/ é\n"))
    changed = text[:at] + letter + text[at + 1 :]
    if changed != text:
        with pytest.raises(CursorError):
            KeyRing(NEW).unseal(changed, ANN, now_minute=0)


@pytest.mark.property
@given(st.text(max_size=100) | st.from_regex(r"[A-Za-z0-9_-]{40,64}", fullmatch=True))
def test_whatever_is_given_as_a_cursor_the_error_is_the_same(text: str) -> None:
    with pytest.raises(CursorError, match="invalid or expired cursor: run the tool again from the start"):
        KeyRing(NEW).unseal(text, ANN, now_minute=0)


def test_an_expired_cursor_is_refused_with_the_same_words() -> None:
    text = KeyRing(NEW).seal(Cursor(b"12345678", 100, Position(0)), ANN)
    assert KeyRing(NEW).unseal(text, ANN, now_minute=99)
    with pytest.raises(CursorError, match="invalid or expired"):
        KeyRing(NEW).unseal(text, ANN, now_minute=100)


def test_after_a_key_change_old_cursors_still_open_and_new_ones_use_the_first_key() -> None:
    cursor = Cursor(b"12345678", 9_999, Position(3))
    before = KeyRing(OLD).seal(cursor, ANN)
    ring = KeyRing(NEW, OLD)
    assert ring.unseal(before, ANN, now_minute=0) == cursor
    assert ring.seal(cursor, ANN) == KeyRing(NEW).seal(cursor, ANN)
    with pytest.raises(CursorError):
        KeyRing(NEW).unseal(before, ANN, now_minute=0)


@pytest.mark.parametrize(
    "key",
    [b"", b"short", b"a" * 32, b"my-secret-key-is-long-enough-123", b"changeme-changeme-changeme-12345"],
)
def test_short_and_well_known_keys_are_refused(key: bytes) -> None:
    with pytest.raises(OperatorError):
        KeyRing(key)


def test_the_id_of_a_snapshot_depends_on_its_owner() -> None:
    ring, same_key = KeyRing(NEW), KeyRing(NEW)
    assert ring.snapshot_id(b"data", ANN) == same_key.snapshot_id(b"data", ANN)
    assert ring.snapshot_id(b"data", ANN) != ring.snapshot_id(b"datb", ANN)
    assert ring.snapshot_id(b"data", ANN) != ring.snapshot_id(
        b"data", Binding("bob", "hostaway", "list_bookings")
    )
