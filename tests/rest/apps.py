"""Applications as people write them, with more data than a model can take."""

import json
from typing import Any

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from brimgate.rest import BrimgateMiddleware, Override
from brimgate.sandboxes.demo.log import log
from brimgate.testing.bookings import bookings

BOOKINGS: list[dict[str, Any]] = [
    {**row, "notes": f"Guest {row['id']} wrote at length. " * 90} for row in bookings(500)["result"]
]
"""About 4 KB each, as the API behind the brief has them."""
LOG = log(10_000)
FIELDS = ("id", "status", "guest.name", "arrivalDate", "price.total")
SECTIONS = {"guest": ("guest",), "money": ("price", "currency")}


def listing(number: int) -> dict[str, Any]:
    """About 40 KB, like those that went through untouched in the original."""
    return {
        "id": number,
        "name": f"House {number}",
        "status": "active",
        "description": "Near the sea. Pets welcome by arrangement. " * 300,
        "houseRules": "No smoking. Quiet after ten. " * 200,
        "listingImages": [
            {
                "id": at,
                "url": f"https://img.example/{number}/{at}.jpg",
                "caption": f"Room {at}, seen from the door",
            }
            for at in range(150)
        ],
        "price": {"base": 120.5, "currency": "EUR"},
    }


def fastapi_app(**options: Any) -> FastAPI:
    app = FastAPI()
    app.state.calls = []
    app.state.bookings = list(BOOKINGS)

    @app.get("/api/v1/bookings")
    def all_bookings(channel: str = "") -> list[dict[str, Any]]:
        app.state.calls.append("/api/v1/bookings")
        return [row for row in app.state.bookings if not channel or row["channel"] == channel]

    @app.get("/api/v1/bookings/{number}")
    def one_booking(number: int) -> dict[str, Any]:
        return next(row for row in app.state.bookings if row["id"] == number)

    @app.get("/api/v1/listings")
    def all_listings() -> dict[str, Any]:
        return {"status": "success", "result": [listing(number) for number in range(7)], "count": 7}

    @app.get("/api/v1/listings/{number}")
    def one_listing(number: int) -> dict[str, Any]:
        return {"status": "success", "result": listing(number)}

    @app.get("/small")
    def small() -> list[dict[str, int]]:
        return [{"id": number} for number in range(10)]

    @app.get("/short")
    def short() -> list[dict[str, int]]:
        return [{"id": number} for number in range(60)]

    @app.get("/logs")
    def logs() -> PlainTextResponse:
        return PlainTextResponse(LOG)

    app.add_middleware(BrimgateMiddleware, **options)
    return app


def mapped_app(**options: Any) -> FastAPI:
    """With what the operator knows of the API: field maps, sections, where one item is found."""
    return fastapi_app(
        endpoints={
            "/api/v1/bookings": Override(fields=FIELDS),
            "/api/v1/bookings/{id}": Override(fields=FIELDS, sections=SECTIONS, threshold=600),
            "/api/v1/listings": Override(fields=("id", "name", "status")),
            "/api/v1/listings/{id}": Override(fields=("id", "name", "status", "price.base")),
        },
        **options,
    )


def starlette_app(answers: dict[str, Any], **options: Any) -> Starlette:
    """Each path gives what stands for it: a response, bytes of JSON, a text, or a value."""

    async def answer(request: Request) -> Response:
        found = answers[request.scope["path"].removeprefix(request.scope["root_path"])]
        if callable(found) and not isinstance(found, Response):
            found = found(request)
        if isinstance(found, Response):
            return found
        if isinstance(found, str):
            return PlainTextResponse(found)
        if isinstance(found, bytes):
            return Response(found, media_type="application/json")
        return JSONResponse(found)

    methods = ["GET", "POST", "PUT", "DELETE", "HEAD"]
    app = Starlette(routes=[Route(path, answer, methods=methods) for path in answers])
    app.add_middleware(BrimgateMiddleware, **options)
    return app


def minified(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
