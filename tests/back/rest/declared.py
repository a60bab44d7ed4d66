"""A declaration of the sandbox's API for the tests, and ways to talk to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from brimgate.back.rest.api import ApiAnswer, RestApi
from brimgate.back.rest.declaration import Api, read_api
from brimgate.sandboxes.hostaway import Sandbox
from tests.hostaway.asking import Caller

Json = dict[str, Any]
PATIENCE = 20.0
VARIABLES = {"HOSTAWAY_ACCOUNT_ID": "61148", "HOSTAWAY_API_KEY": "sandbox-secret"}
HEAD = """
name: hostaway
title: Hostaway
base_url: {env: HOSTAWAY_API_URL, default: https://api.hostaway.com/v1}
auth:
  kind: oauth_client_credentials
  token_path: /accessTokens
  client_id: {env: HOSTAWAY_ACCOUNT_ID}
  client_secret: {env: HOSTAWAY_API_KEY}
  scope: general
errors: {message: /message}
"""
TOOLS = """
tools:
  list_reservations:
    title: Reservations
    description: Reservations, the newest first.
    path: /reservations
    routes: [/bookings, /reservations]
    fixed: {query: {includeResources: 0}}
    parameters:
      listing_id: {name: listingId, schema: {type: integer}, description: Of one listing}
      arrival: {name: arrivalStartDate, schema: {type: string, format: date}}
      order: {name: sortOrder, schema: {type: string, enum: [arrivalDate, arrivalDateDesc]}}
    answer: {items: /result, as: result, keep: {count: /count}}
    paging: {style: offset, limit: limit, offset: offset, size: 100, total: /count, key: id}
  get_reservation:
    path: /reservations/{reservation_id}
    routes: ["/bookings/{reservation_id}"]
    parameters:
      reservation_id: {schema: {type: integer}}
    answer: {item: /result}
  get_guest:
    path: /reservations/{reservation_id}
    routes: ["/bookings/{reservation_id}/guest"]
    parameters:
      reservation_id: {schema: {type: integer}}
    answer: {item: /result, fields: [guestName, guestEmail, noSuchField]}
  messages_of_reservation:
    path: /conversations
    fixed: {query: {limit: 500}}
    parameters:
      reservation_id: {name: reservationId, required: true, schema: {type: integer}}
    answer: {items: /result, each: conversationMessages, as: messages}
  list_amenities:
    path: /amenities
    answer: {items: /result}
  get_anything:
    path: /listings/{name}/calendar
    parameters:
      name: {schema: {type: string}}
  consolidated_report:
    method: POST
    path: /finance/report/consolidated
    annotations: {readOnlyHint: true}
    fixed: {body: {format: json}}
    parameters:
      listings: {name: listingMapIds, schema: {type: array, items: {type: integer}}}
    body: form
    answer:
      table: {columns: /result/columns, name: name, rows: /result/rows}
      as: rows
  standard_report:
    method: POST
    path: /finance/report/standard
    body: form
    answer: {text: true}
"""


def api_of(extra: str = "", tools: str = TOOLS) -> Api:
    return read_api((HEAD + extra + tools).encode(), "hostaway.yaml")


@asynccontextmanager
async def opened(
    url: str, extra: str = "", tools: str = TOOLS, variables: Mapping[str, str] = VARIABLES
) -> AsyncIterator[RestApi]:
    api = RestApi(api_of(extra, tools), base_url=url, variables=variables)
    try:
        async with asyncio.timeout(PATIENCE):
            yield api
    finally:
        await api.close()


def told(answer: ApiAnswer) -> Any:
    return json.loads(answer.body)


class Ground:
    """The sandbox of a test, and what it was asked."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.url = sandbox.url
        self._caller = Caller(sandbox.url)

    def control(self, path: str, /, **given: Any) -> Any:
        return self._caller.control(path, **given)

    def fault(self, path: str, kind: str, **more: Any) -> None:
        self.control("/fault", path=f"/v1{path}", kind=kind, **more)

    def asked(self, path: str = "") -> list[Json]:
        return [one for one in self.control("/requests") if one["path"].startswith(f"/v1{path}")]

    async def until_asked(self, path: str, count: int) -> list[Json]:
        """Once it was asked so often; bounded by the timeout of whoever waits."""
        while len(found := await asyncio.to_thread(self.asked, path)) < count:
            pass
        return found
