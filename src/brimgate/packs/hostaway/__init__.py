"""Hostaway, property management: its REST API as tools and as protected REST, with field maps for its real names."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from brimgate.packs.pack import Pack, Sandbox, Tool


@contextmanager
def stand_in() -> Generator[Sandbox]:
    """Run the API of `brimgate.sandboxes` on a port of its own, for as long as it is needed."""
    from brimgate.sandboxes.hostaway import sandbox  # generators and words that nobody needs with an account

    with sandbox() as running:
        settings = running.settings
        account = {"HOSTAWAY_ACCOUNT_ID": str(settings.account_id), "HOSTAWAY_API_KEY": settings.secret}
        yield Sandbox(running.url, account)


_READ: Final = Tool(reads_only=True)
_SEARCH: Final = Tool(reads_only=True, is_search=True)

PACK: Final = Pack(
    name="hostaway",
    description="the property management of Hostaway: listings, reservations, messages, reports",
    tools={
        "list_listings": _SEARCH,
        "get_listing": _READ,
        "get_listing_calendar": _READ,
        "list_reservations": _SEARCH,
        "get_reservation": _READ,
        "get_reservation_guest": _READ,
        "get_reservation_finance": _READ,
        "get_reservation_messages": _READ,
        "list_reviews": _SEARCH,
        "get_financial_report": _READ,
        "export_financial_report": _READ,
        "get_analytics": _READ,
    },
    marks=(frozenset(("list_listings", "list_reservations", "get_reservation_guest")),),
    folder=Path(__file__).parent,
    sandbox=stand_in,
)
