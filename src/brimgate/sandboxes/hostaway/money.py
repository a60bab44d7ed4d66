"""The price of a stay, and who gets which share.

Reservations, financial fields and reports all use it, so they agree.
"""

from typing import NamedTuple

from brimgate.sandboxes.chance import chance_of
from brimgate.sandboxes.hostaway.stays import Stay
from brimgate.sandboxes.hostaway.words import AIRBNB, BOOKING, DIRECT


class Money(NamedTuple):
    base: float
    cleaning: float
    tax: float
    pet_fee: float
    guest_channel_fee: float
    host_channel_fee: float
    commission: float
    """The property manager's commission."""

    @property
    def total(self) -> float:
        """What the guest pays to the host; the channel's fee for the guest comes on top."""
        return round(self.base + self.cleaning + self.tax + self.pet_fee, 2)

    @property
    def owner_payout(self) -> float:
        return round(self.total - self.tax - self.host_channel_fee - self.commission, 2)


def money_of(seed: int, stay: Stay) -> Money:
    chance = chance_of(seed, "money", stay.number)
    base = round(stay.home.price * stay.nights * chance.uniform(0.85, 1.35), 2)
    taxed = stay.channel is not DIRECT and chance.random() < 0.8
    if stay.status == "ownerStay":
        return Money(0, stay.home.cleaning_fee, 0, 0, 0, 0, 0)
    return Money(
        base=base,
        cleaning=stay.home.cleaning_fee,
        tax=round(base * 0.06, 2) if taxed else 0,
        pet_fee=30.0 if stay.pets else 0,
        guest_channel_fee=round(base * 0.14, 2) if stay.channel is AIRBNB else 0,
        host_channel_fee=round(base * {AIRBNB: 0.03, BOOKING: 0.15, DIRECT: 0}.get(stay.channel, 0.08), 2),
        commission=round(base * 0.18, 2),
    )
