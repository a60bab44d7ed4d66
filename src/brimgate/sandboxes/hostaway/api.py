"""The endpoints: the paths, and what each answers."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, TypeVar

from brimgate.sandboxes.hostaway import people, reports
from brimgate.sandboxes.hostaway.account import Account
from brimgate.sandboxes.hostaway.conversations import message
from brimgate.sandboxes.hostaway.days import calendar
from brimgate.sandboxes.hostaway.homes import Home
from brimgate.sandboxes.hostaway.parameters import Paging, Parameters
from brimgate.sandboxes.hostaway.search import find_homes, find_reported, find_stays, offset_after
from brimgate.sandboxes.hostaway.stays import Stay
from brimgate.sandboxes.hostaway.wire import Refusal, form_of, succeed
from brimgate.sandboxes.hostaway.words import AMENITIES
from brimgate.sandboxes.wire import Answer, Request, encode

Handler = Callable[..., Answer]
Item = TypeVar("Item")
_LONGEST_CALENDAR_DAYS: Final = 1_100
_REPORTS: Final = {
    "consolidated": reports.consolidated,
    "listingFinancials": reports.listing_financials,
    "standard": reports.standard,
}


class Api:
    def __init__(self, account: Account) -> None:
        self._account, self._settings = account, account.settings
        self._routes: list[tuple[re.Pattern[str], str, Handler]] = [
            (re.compile("/v1" + path.replace("{id}", r"(\d{1,18})")), method, handler)
            for path, method, handler in (
                ("/listings", "GET", self._listings),
                ("/listings/{id}", "GET", self._listing),
                ("/listings/{id}/calendar", "GET", self._calendar),
                ("/reservations", "GET", self._reservations),
                ("/reservations/{id}", "GET", self._reservation),
                ("/conversations", "GET", self._conversations),
                ("/conversations/{id}", "GET", self._conversation),
                ("/conversations/{id}/messages", "GET", self._messages),
                ("/financeStandardField/reservation/{id}", "GET", self._standard_fields),
                ("/finance/report/(consolidated|listingFinancials|standard)", "POST", self._report),
                ("/reviews", "GET", self._reviews),
                ("/amenities", "GET", self._amenities),
                ("/users", "GET", self._users),
            )
        ]

    def route(self, method: str, path: str) -> Callable[[Request], Answer]:
        """Return the handler. 404 and 405 come before the check of credentials."""
        allowed: list[str] = []
        for pattern, of, handler in self._routes:
            if not (found := pattern.fullmatch(path)):
                continue
            if method == of or (method == "HEAD" and of == "GET"):
                return lambda request: handler(request, *found.groups())
            allowed.append(of)
        if allowed:
            raise Refusal(405, "Method not allowed", allow=", ".join(allowed))
        raise Refusal(404, "Not found")

    def _listings(self, request: Request) -> Answer:
        asked = Parameters(request.parameters)
        resources = asked.resources()
        homes = find_homes(self._account, asked)
        return _page(homes, asked.paging(), lambda home: self._account.listing(home.position, resources))

    def _listing(self, request: Request, number: str) -> Answer:
        resources = Parameters(request.parameters).resources()
        return _one(self._account.listing(self._home(number).position, resources))

    def _calendar(self, request: Request, number: str) -> Answer:
        asked, home = Parameters(request.parameters), self._home(number)
        first = asked.day("startDate") or self._settings.now.date()
        last = asked.day("endDate") or first + timedelta(days=30)
        if not 0 <= (last - first).days <= _LONGEST_CALENDAR_DAYS:
            raise Refusal(422, f"endDate must be from startDate to {_LONGEST_CALENDAR_DAYS} days after it")
        stays = self._account.stays_at(home)
        days = calendar(self._settings, home, stays, first, last, resources=asked.resources())
        return succeed(list(days))

    def _reservations(self, request: Request) -> Answer:
        asked = Parameters(request.parameters)
        resources, paging = asked.resources(), asked.paging()
        stays = find_stays(self._account, asked)
        if (last_id := asked.integer("afterId")) is not None:
            paging = paging._replace(offset=offset_after(stays, last_id))
        return _page(stays, paging, lambda stay: self._account.reservation(stay.number, resources))

    def _reservation(self, request: Request, number: str) -> Answer:
        resources = Parameters(request.parameters).resources()
        return _one(self._account.reservation(self._stay(number).number, resources))

    def _conversations(self, request: Request) -> Answer:
        asked = Parameters(request.parameters)
        wanted, resources, paging = asked.integer("reservationId"), asked.resources(), asked.paging()
        stays = [stay for stay in reversed(self._account.stays) if wanted in (None, stay.id)]
        pages = {"page": paging.offset // paging.limit + 1, "totalPages": -(-len(stays) // paging.limit)}
        return _page(stays, paging, lambda stay: self._account.conversation(stay.number, resources), **pages)

    def _conversation(self, request: Request, number: str) -> Answer:
        resources = Parameters(request.parameters).resources()
        return _one(self._account.conversation(self._talk(number).number, resources))

    def _messages(self, request: Request, number: str) -> Answer:
        stay, paging = self._talk(number), Parameters(request.parameters).paging()
        newest_first = range(stay.messages - 1, -1, -1)
        return _page(newest_first, paging, lambda at: encode(message(self._settings, stay, at)))

    def _standard_fields(self, _: Request, number: str) -> Answer:
        return succeed(reports.standard_fields(self._settings, self._stay(number)))

    def _report(self, request: Request, kind: str) -> Answer:
        asked = Parameters(form_of(request))
        form = asked.choice("format", ("csv", "json")) or ("csv" if kind == "standard" else None)
        delimiter = asked.choice("delimiter", ("comma", "tab"))
        descending = asked.choice("sortOrder", ("asc", "desc")) == "desc"
        if not form:
            raise Refusal(422, "format is required: csv or json")
        report = _REPORTS[kind](self._settings, find_reported(self._account, asked))
        if by := asked.choice("sortBy", tuple(report.columns)):
            at = tuple(report.columns).index(by)
            report.rows.sort(key=lambda row: row[at])
        if descending:
            report.rows.reverse()
        if form == "json":
            return succeed(report.told())
        return Answer(
            200, report.as_csv("\t" if delimiter == "tab" else ",").encode(), "text/csv; charset=utf-8"
        )

    def _reviews(self, request: Request) -> Answer:
        asked = Parameters(request.parameters)
        homes, wanted, paging = (
            asked.integers("listingMapIds"),
            asked.integer("reservationId"),
            asked.paging(),
        )
        statuses = asked.texts("statuses")
        rising = (asked.choice("sortOrder", ("asc", "desc")) or "desc") == "asc"
        found = [
            stay
            for stay in people.reviewed(self._settings, self._account.stays)
            if (not homes or stay.home.id in homes) and wanted in (None, stay.id)
        ]
        told = [people.review(self._settings, stay) for stay in (found if rising else reversed(found))]
        return _page([one for one in told if not statuses or one["status"] in statuses], paging, encode)

    def _amenities(self, _: Request) -> Answer:
        return succeed([{"id": at, "name": name} for at, name in enumerate(AMENITIES, 1)])

    def _users(self, _: Request) -> Answer:
        return succeed(people.users(self._settings))

    def _home(self, number: str) -> Home:
        return _found(self._account.home(int(number)), "Listing")

    def _stay(self, number: str) -> Stay:
        return _found(self._account.stay(int(number)), "Reservation")

    def _talk(self, number: str) -> Stay:
        return _found(self._account.stay_of_conversation(int(number)), "Conversation")


def _found(item: Item | None, kind: str) -> Item:
    if item is None:
        raise Refusal(404, f"{kind} not found")
    return item


def _one(record: bytes) -> Answer:
    return Answer(200, b'{"status":"success","result":' + record + b"}")


def _page(items: Sequence[Item], paging: Paging, record: Callable[[Item], bytes], **more: Any) -> Answer:
    part: Iterable[Item] = items[paging.offset : paging.offset + paging.limit]
    rest = {"count": len(items), "limit": paging.limit, "offset": paging.offset} | more
    records = b",".join(record(item) for item in part)
    return Answer(200, b'{"status":"success","result":[' + records + b"]," + encode(rest)[1:])
