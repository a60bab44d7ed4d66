"""The engine with a memory: it puts documents into a store, and cursors lead there."""

import os
import secrets
from base64 import b64decode
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple

from brimgate.engine.cursor import Binding, Cursor, KeyRing, LazyKeyRing, number_of, peek
from brimgate.engine.decision import asked_outcome
from brimgate.engine.document import Document, Position
from brimgate.engine.policy import USUAL_PAGE, Policy
from brimgate.engine.query import BLOCK, FOCUS, WHOLE, Query, View
from brimgate.engine.replies.formatted import AnswerFormat
from brimgate.engine.replies.reply import Reply
from brimgate.engine.replies.text import Gate
from brimgate.errors import (
    AnswerOutOfReach,
    ClientError,
    CursorError,
    ListElsewhere,
    ListLost,
    OperatorError,
)
from brimgate.hold.live_lists import ListState, LiveList, LiveLists, items_needed
from brimgate.hold.loaded_tables import QuerySubject
from brimgate.hold.runtime import SweepTimer, query_runner, sweep_queries
from brimgate.hold.stores.contract import MAX_VIEWS, Siblings, SnapshotStore

if TYPE_CHECKING:
    from brimgate.engine.layout import ByteSource
    from brimgate.hold.stores.file import UserStore

KEY_VARIABLE: Final = "BRIMGATE_CURSOR_KEY"
DEFAULT_TTL_SECONDS: Final = 600
_MAX_OPENED_BYTES: Final = 128 << 20
_OWNER: Final = b"\0owner"
"""The key of the binding that is stored beside a snapshot; keys of views have four bytes."""
_LAYOUT: Final = b"\0layout1"
"""The key of the layout of a large answer, beside its snapshot in a store that is distant."""
_LIVE: Final = b"\0live"
"""Ends the id under which a store keeps that a list is still being fetched, and by which process."""
_NAMED_VIEWS: Final = {b"": WHOLE, FOCUS.key(): FOCUS, BLOCK.key(): BLOCK}
_USUAL: Final = Policy()
_TRIAL_RING: Final = KeyRing(b"no cursor of a trial is ever told")


@dataclass(frozen=True)
class Protection:
    """Holds what the engine holds back, and reads on from a cursor."""

    policy: Policy
    ring: KeyRing
    store: SnapshotStore
    ttl_seconds: int = DEFAULT_TTL_SECONDS
    live_lists: LiveLists = field(default_factory=LiveLists)
    opened_documents: "OpenedDocuments" = field(default_factory=lambda: OpenedDocuments())
    siblings: Siblings | None = None
    """The processes that share the store, if there may be any: those of one user (ADR 16), or replicas (ADR 21)."""
    sweep_timer: SweepTimer = field(default_factory=SweepTimer)

    def protect(
        self,
        data: bytes,
        binding: Binding,
        now: float,
        answer_format: AnswerFormat | None = None,
        live_list: LiveList | None = None,
    ) -> Reply | None:
        """Return the bounded first reply to an answer, or None when it fits and goes out unchanged."""
        held = self.hold(data, binding, now, live_list)
        document = held.document
        try:
            return Gate(document, self.policy, held.issue, answer_format=answer_format).first()
        except Exception:  # noqa: BLE001  # whatever we got wrong, the answer stays bounded and readable
            return self._last_resort(document, held)

    def _last_resort(self, document: Document, held: "HeldAnswer") -> Reply | None:
        """Return the answer as plain text in chunks. This makes no assumption about the content, so none can fail."""
        plain = replace(self.policy, highlights=False)
        reply = Gate(
            document.as_text, plain, lambda view, at: held.issue(replace(view, scope="text"), at)
        ).first()
        return reply and replace(reply, record=reply.record | {"degraded": True})

    def holding(self, binding: Binding, now: float, answer_format: AnswerFormat | None = None) -> "Holder":
        """Return what holds the parts of one answer."""
        return Holder(self, binding, now, answer_format)

    def hold(
        self, data: bytes, binding: Binding, now: float, live_list: LiveList | None = None
    ) -> "HeldAnswer":
        """Hold an answer.

        `live_list` is given if its list is still being fetched; more of it may have arrived meanwhile.
        """
        state = live_list.state() if live_list is not None else None
        if state is not None and state.root is not None:
            return HeldAnswer(self, binding, Document(state.data, state.root), now)
        if live_list is None or state is None or state.is_complete:
            return HeldAnswer(self, binding, self._read(data if state is None else state.data), now)
        snapshot = secrets.token_bytes(8)  # another answer may begin with the same items, then differ
        expires = self.expires_minute(now)
        self.live_lists.add(binding.principal, snapshot, live_list, now, 60.0 * expires)
        document = self.opened_documents.of_list(binding.principal, snapshot, live_list, state, expires)
        self.sweep_at(expires, now)
        return HeldAnswer(self, binding, document, now, snapshot)

    def select(self, data: bytes, binding: Binding, query: Query, now: float) -> Reply:
        """Reply to a query about an answer that is not held yet."""
        held = self.hold(data, binding, now)
        if query.sql:
            reply = self._queried(held, WHOLE, query, now)
        else:
            reply = Gate(held.document, self.policy, held.issue).read(FOCUS, Position(0), query)
        return replace(reply, outcome=asked_outcome(reply.record["kind"]))

    def read(
        self,
        cursor_text: str,
        binding: Binding,
        query: Query,
        now: float,
        answer_format: AnswerFormat | None = None,
    ) -> Reply:
        held, view, position = self.opened(cursor_text, binding, now)
        if query.sql:
            return self._queried(held, view, query, now)
        return Gate(held.document, self.policy, held.issue, answer_format=answer_format).read(
            view, position, query
        )

    def _queried(self, held: "HeldAnswer", view: View, query: Query, now: float) -> Reply:
        """Run a query. Its result is an answer of its own, held with its own cursors."""
        asked, minute = Gate(held.document, self.policy, held.issue), self.expires_minute(now)
        path = asked.query_path(view, query)
        snapshot = b"" if held.document.is_beginning else held.snapshot  # tables of a beginning are not kept
        subject = QuerySubject(held.binding.principal, snapshot, path, minute)
        result = query_runner().run(subject, held.document, query.sql)
        self.sweep_at(minute, now)
        found = HeldAnswer(self, held.binding, Document(result.data), now)
        reply = Gate(found.document, replace(self.policy, highlights=False), found.issue).result(
            result, query
        )
        return asked.counted(reply)

    def opened(self, cursor_text: str, binding: Binding, now: float) -> "tuple[HeldAnswer, View, Position]":
        """Return what a cursor leads to: a held answer, the view of it, and where to continue."""
        cursor = self.ring.unseal(cursor_text, binding, int(now // 60))
        document = self._held(cursor, binding, now)
        view = self._view(cursor, binding)
        return HeldAnswer(self, binding, document, now, cursor.snapshot), view, cursor.position

    def live_list(self, cursor_text: str, binding: Binding, now: float) -> LiveList | None:
        """Return the live list of the answer that a cursor leads to, or None if all of it is here."""
        cursor = self.ring.unseal(cursor_text, binding, int(now // 60))
        found = self.live_lists.of(binding.principal, cursor.snapshot, now)
        return None if found is None or found.is_complete else found

    async def fill(self, cursor_text: str, binding: Binding, query: Query, now: float) -> None:
        """Fetch as much of a live list as a query needs. Raise UpstreamError if it cannot be fetched.

        It runs on the event loop, and so asks no store: live lists have a place of their own.
        """
        live_list = self.live_list(cursor_text, binding, now)
        if live_list is not None:
            held, view, position = self.opened(cursor_text, binding, now)
            limit = query.limit or view.limit or self.policy.page_size
            await live_list.reach(items_needed(held.document, view, position, query, limit))

    def section(self, cursor_text: str, binding: Binding, path: str, now: float) -> bytes:
        """Return the value at a path of a held answer, as it was sent."""
        cursor = self.ring.unseal(cursor_text, binding, int(now // 60))
        document = self._held(cursor, binding, now)
        return document.raw(document.resolve(path))

    def _held(self, cursor: Cursor, binding: Binding, now: float) -> Document:
        principal, snapshot, minute = binding.principal, cursor.snapshot, int(now // 60)
        live_list = self.live_lists.of(principal, snapshot, now)
        if live_list is not None and not (state := live_list.state()).is_complete:
            return self.opened_documents.of_list(principal, snapshot, live_list, state, cursor.expires_minute)
        if live_list is not None:
            self._settle(principal, snapshot, live_list.data, now)
        known = self.opened_documents.of(principal, snapshot)
        if known is not None and (
            self.store.renew(principal, snapshot, 0, minute) or not self.store.is_reachable
        ):
            return known
        found = self.store.get(principal, snapshot, minute)
        if found is None:
            self.opened_documents.drop(principal, snapshot)
            raise self._absence(principal, snapshot, minute)
        self.sweep_at(cursor.expires_minute, now)
        document = self._found(principal, snapshot, found)
        return self.opened_documents.add(principal, snapshot, document, cursor.expires_minute)

    def _found(self, principal: str, snapshot: bytes, found: "bytes | ByteSource") -> Document:
        """Return the document of what a store has: by its layout, if only the parts that are shown are to be fetched."""
        if isinstance(found, bytes):
            return self._read(found)
        from brimgate.engine.layout import restored

        layout = self.store.get_view(principal, snapshot, _LAYOUT)
        return restored(found, layout or b"") or self._read(found.part(0, len(found)))

    def _absence(self, principal: str, snapshot: bytes, minute: int) -> ClientError:
        """Say why an answer is not here whose cursor is ours: a list that is still being fetched is in one process."""
        fetcher = self.store.get(principal, snapshot + _LIVE, minute) if self.siblings is not None else None
        if not isinstance(fetcher, bytes) or self.siblings is None:
            return CursorError()
        where = self.siblings.elsewhere(fetcher)
        return ListElsewhere(where) if where else ListLost()

    def _read(self, data: bytes) -> Document:
        return Document.read(data) if self.policy.reads_odd_json else Document(data)

    def _settle(self, principal: str, snapshot: bytes, data: bytes, now: float) -> None:
        """Make a snapshot of a list that is complete."""
        views = self.live_lists.take(principal, snapshot)
        self.store.put(principal, snapshot, data, self.expires_minute(now), int(now // 60))
        for key, view in views.items():
            self.store.put_view(principal, snapshot, key, view)
        if self.siblings is not None:
            self.store.drop(principal, snapshot + _LIVE)
        self.opened_documents.drop(principal, snapshot)  # it has only the beginning

    def expires_minute(self, now: float) -> int:
        """Return when a cursor that is issued now expires.

        That is when the next minute begins after its time: it lives as long as promised and less than a minute more,
        and its text changes only once a minute.
        """
        return int((now + self.ttl_seconds) // 60) + 1

    # Whose an answer is

    def owner(self, cursor_text: str, principal: str, upstream: str) -> Binding:
        """Return the binding that a cursor must have for `read`."""
        snapshot = peek(cursor_text).snapshot
        kept = self._kept_view(principal, snapshot, _OWNER)
        if kept is None and self.siblings is not None:
            kept = self.store.get_view(principal, snapshot + _LIVE, _OWNER)
        if kept is None:
            raise CursorError
        return self._bound(kept, principal, upstream)

    def live_owner(self, cursor_text: str, principal: str, upstream: str) -> Binding | None:
        """Return the same if the cursor leads to a live list, else None. Asks no store."""
        kept = self.live_lists.get_view(principal, peek(cursor_text).snapshot, _OWNER)
        return None if kept is None else self._bound(kept, principal, upstream)

    def _bound(self, kept: bytes, principal: str, upstream: str) -> Binding:
        """Decide whose an answer is.

        In a store of one user, it is whose it was when it was stored: any command of that user may read on. In any
        other store, it must belong to the reader and the reader's upstream.
        """
        stored = Binding.from_bytes(kept)
        if self.siblings is not None and self.siblings.are_one_user:
            return stored
        return replace(stored, principal=principal, upstream=upstream)

    def holds(self, cursor_text: str, principal: str) -> bool:
        """Return whether what a cursor leads to is held here, and not still being fetched by another process."""
        return self._kept_view(principal, peek(cursor_text).snapshot, _OWNER) is not None

    def _kept_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        view = self.live_lists.get_view(principal, snapshot, key)
        if view is None and (principal, snapshot) not in self.live_lists:
            # Of a list that is still being fetched no store knows, and we may be on the event loop.
            view = self._stored_view(principal, snapshot, key)
        return view

    def _stored_view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        """Return a view that the store keeps; while it is out of reach, the one of a document that was opened here."""
        try:
            view = self.store.get_view(principal, snapshot, key)
        except AnswerOutOfReach:
            view = self.opened_documents.view(principal, snapshot, key)
            if view is None:
                raise
        if view is not None and self.store.is_distant:
            self.opened_documents.keep_view(principal, snapshot, key, view)
        return view

    def _view(self, cursor: Cursor, binding: Binding) -> View:
        if cursor.view in _NAMED_VIEWS:
            return _NAMED_VIEWS[cursor.view]
        kept = self._kept_view(binding.principal, cursor.snapshot, cursor.view)
        if kept is None:
            raise CursorError
        return View.unpack(kept)

    def mark_live(self, binding: Binding, snapshot: bytes, expires: int, now: float) -> None:
        """Tell the processes that share the store that we fetch a list: they cannot read it."""
        if self.siblings is not None and (token := self.siblings.token):
            self.store.put(binding.principal, snapshot + _LIVE, token, expires, int(now // 60))
            self.store.put_view(binding.principal, snapshot + _LIVE, _OWNER, binding.to_bytes())

    # What has expired

    def sweep_at(self, expires_minute: int, now: float) -> None:
        self.sweep_timer.expect(expires_minute, self.sweep, now)

    def sweep(self, minute: int) -> int:
        """Drop what has expired. Return the minute in which something expires next; 0 if nothing is held."""
        following = (
            self.store.sweep(minute),
            self.live_lists.sweep(60.0 * minute),
            self.opened_documents.sweep(minute),
        )
        sweep_queries(minute)
        return min((one for one in following if one), default=0)


@dataclass(frozen=True, slots=True)
class Holder:
    """Holds the parts of one answer, for one caller and tool."""

    protection: Protection
    binding: Binding
    now: float
    answer_format: AnswerFormat | None = None

    def __call__(self, data: bytes, policy: Policy) -> Reply | None:
        """Do as `Protection.protect`, under whatever policy a part needs."""
        protection = replace(self.protection, policy=policy)
        return protection.protect(data, self.binding, self.now, self.answer_format)

    def block(self, raw: bytes) -> str:
        """Hold a content block that is read whole. Return its cursor."""
        return self.protection.hold(raw, self.binding, self.now).issue(BLOCK, Position(0))

    def has(self, cursor: str) -> bool:
        """Return whether there was room for what a cursor leads to, and still is."""
        try:
            self.protection.owner(cursor, self.binding.principal, self.binding.upstream)
        except CursorError:
            return False
        return True


class OpenedDocuments:
    """The documents in use, with the index of what was already opened, so that page k costs a slice.

    A store has only bytes. The most recently used stay opened, as many as fit, whosever they are: one that is pushed
    out is opened again from its store, at the cost of some CPU.
    """

    def __init__(self, most_bytes: int = _MAX_OPENED_BYTES) -> None:
        self._most_bytes = most_bytes
        self._documents: OrderedDict[tuple[str, bytes], _Opened] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def of(self, principal: str, snapshot: bytes) -> Document | None:
        with self._lock:
            found = self._documents.get((principal, snapshot))
            if found is None:
                return None
            self._documents.move_to_end((principal, snapshot))
            return found.document

    def of_list(
        self, principal: str, snapshot: bytes, live_list: LiveList, state: ListState, expires_minute: int
    ) -> Document:
        """Return the document of a live list as it is now."""
        known = self.of(principal, snapshot)
        if known is not None and len(known.data) == len(state.data):
            return known
        return self.add(principal, snapshot, _document_of(live_list, state), expires_minute)

    def add(self, principal: str, snapshot: bytes, document: Document, expires_minute: int) -> Document:
        with self._lock:
            before = self._drop((principal, snapshot))
            if before is not None:
                expires_minute = max(expires_minute, before.expires_minute)
            views = before.views if before is not None else {}
            self._documents[principal, snapshot] = _Opened(document, expires_minute, views)
            self._bytes += _weight(document)
            while self._bytes > self._most_bytes and len(self._documents) > 1:
                self._drop(next(iter(self._documents)))
        return document

    def keep_view(self, principal: str, snapshot: bytes, key: bytes, view: bytes) -> None:
        """Remember a view of an opened document, for when its store is out of reach."""
        with self._lock:
            found = self._documents.get((principal, snapshot))
            if found is not None and len(found.views) < MAX_VIEWS:
                found.views[key] = view

    def view(self, principal: str, snapshot: bytes, key: bytes) -> bytes | None:
        with self._lock:
            found = self._documents.get((principal, snapshot))
            return None if found is None else found.views.get(key)

    def drop(self, principal: str, snapshot: bytes) -> None:
        with self._lock:
            self._drop((principal, snapshot))

    def renew(self, principal: str, snapshot: bytes, expires_minute: int) -> None:
        """Keep a document as long as its newest cursor."""
        with self._lock:
            found = self._documents.get((principal, snapshot))
            if found is not None and found.expires_minute < expires_minute:
                self._documents[principal, snapshot] = found._replace(expires_minute=expires_minute)

    def sweep(self, minute: int) -> int:
        """Drop what has expired. Return the minute in which something expires next; 0 if there is nothing."""
        with self._lock:
            for key in [key for key, one in self._documents.items() if one.expires_minute <= minute]:
                self._drop(key)
            return min((one.expires_minute for one in self._documents.values()), default=0)

    def _drop(self, key: tuple[str, bytes]) -> "_Opened | None":
        found = self._documents.pop(key, None)
        if found is not None:
            self._bytes -= _weight(found.document)
        return found


def _weight(document: Document) -> int:
    """Return about what an opened document takes: its bytes, a copy of its list or text, and where their parts are."""
    return 3 * document.size


class _Opened(NamedTuple):
    document: Document
    expires_minute: int
    views: dict[bytes, bytes]


def _document_of(live_list: LiveList, state: ListState) -> Document:
    expected = 0 if state.is_complete else state.total
    return Document(state.data, expected=expected, growing=live_list.pointer, has_end=state.is_total_known)


class HeldAnswer:
    """One answer on its way into the store; it gets there with its first cursor."""

    def __init__(
        self, protection: Protection, binding: Binding, document: Document, now: float, snapshot: bytes = b""
    ) -> None:
        self._protection = protection
        self.binding = binding
        self.document = document
        self._is_beginning = document.is_beginning
        self._now = now
        self.snapshot = snapshot
        """Its id; empty before there is a cursor to it."""
        self._is_stored = False
        self.has_issued = False
        """Whether there is a cursor to it."""

    @property
    def number(self) -> int:
        """The number by which statistics know it; 0 before there is a cursor to it."""
        return number_of(self.snapshot) if self.has_issued else 0

    def issue(self, view: View, position: Position) -> str:
        protection = self._protection
        self.has_issued = True
        expires = protection.expires_minute(self._now)
        if not self.snapshot:
            self.snapshot = protection.ring.snapshot_id(self.document.original, self.binding)
        self._keep(_OWNER, self.binding.to_bytes(), expires)
        protection.opened_documents.renew(self.binding.principal, self.snapshot, expires)
        protection.sweep_at(expires, self._now)
        view = view if view == BLOCK else self._with_choices(view)
        key = b"" if view == WHOLE else view.key()
        if key not in _NAMED_VIEWS:
            self._keep(key, view.pack(), expires)
        return protection.ring.seal(Cursor(self.snapshot, expires, position, key), self.binding)

    def _keep(self, key: bytes, view: bytes, expires: int) -> None:
        """Keep a view, and with the first one the answer itself: beside its live list, or in the store."""
        protection, principal, snapshot = self._protection, self.binding.principal, self.snapshot
        if self._is_beginning and protection.live_lists.put_view(
            principal, snapshot, key, view, 60.0 * expires
        ):
            if key == _OWNER:
                protection.mark_live(self.binding, snapshot, expires, self._now)
            return
        if not self._is_stored and not self._is_beginning:
            self._store(expires)
            protection.opened_documents.add(principal, snapshot, self.document, expires)
            self._is_stored = True
        if not protection.store.put_view(principal, snapshot, key, view) and not self._is_beginning:
            self._store(expires)  # its store has lost it meanwhile
            protection.store.put_view(principal, snapshot, key, view)
        if protection.store.is_distant:
            protection.opened_documents.keep_view(principal, snapshot, key, view)

    def _store(self, expires: int) -> None:
        principal, snapshot, store = self.binding.principal, self.snapshot, self._protection.store
        minute = int(self._now // 60)
        if store.renew(principal, snapshot, expires, minute):
            return
        store.put(principal, snapshot, self.document.original, expires, minute)
        if store.is_distant:
            from brimgate.engine.layout import layout_of

            if layout := layout_of(self.document):
                store.put_view(principal, snapshot, _LAYOUT, layout)

    def _with_choices(self, view: View) -> View:
        """Keep the form and page size that an answer began with in its cursors."""
        policy = self._protection.policy
        form = view.form or ("" if policy.format == _USUAL.format else policy.format)
        # 50 is what REST takes for `auto`.
        limit = view.limit or (0 if policy.default_page_size == USUAL_PAGE else policy.default_page_size)
        return replace(view, form=form, limit=limit)


def ring_from_environment() -> KeyRing | None:
    """Return the keys in BRIMGATE_CURSOR_KEY (base64, comma separated, the first seals), or None."""
    text = os.environ.get(KEY_VARIABLE, "").strip()
    if not text:
        return None
    try:
        return KeyRing(*(b64decode(part, validate=True) for part in text.replace(",", " ").split()))
    except ValueError:
        raise OperatorError(
            f"{KEY_VARIABLE} must be base64, such as the output of: openssl rand -base64 32"
        ) from None


def trial_protection(policy: Policy) -> Protection:
    """Return the engine with a memory that is forgotten at once: what it would hold back is sent anyway."""
    from brimgate.hold.stores.memory import MemoryStore

    return Protection(policy, _TRIAL_RING, MemoryStore())


def process_ring() -> KeyRing:
    """Return keys for one process. Its cursors die with it, unless the environment gives keys to share."""
    return ring_from_environment() or KeyRing(secrets.token_bytes(32))


def user_protection(
    policy: Policy,
    store: "UserStore",
    ttl_seconds: int = DEFAULT_TTL_SECONDS,
    sweep_timer: SweepTimer | None = None,
) -> Protection:
    """Return the engine with the folder of this user, where any command reads on from the cursors of all (ADR 16)."""

    def load() -> KeyRing:
        try:
            return ring_from_environment() or KeyRing(store.key())
        except OperatorError as error:  # a wrong key in the environment, too, must not cost an answer
            store.give_up(error)
            return KeyRing(secrets.token_bytes(32))

    ring = LazyKeyRing(load)
    return Protection(
        policy, ring, store, ttl_seconds, siblings=store, sweep_timer=sweep_timer or SweepTimer()
    )
