"""Conversations, one for each reservation, and their messages: 58 fields each, most of them null."""

import random
from datetime import timedelta
from typing import Any, Final

from brimgate.sandboxes.chance import chance_of, digits, maybe, url
from brimgate.sandboxes.demo.prose import paragraph, sentence, text
from brimgate.sandboxes.hostaway.fields import CONVERSATION, MESSAGE, complete
from brimgate.sandboxes.hostaway.reservations import reservation
from brimgate.sandboxes.hostaway.settings import Settings
from brimgate.sandboxes.hostaway.stays import Stay
from brimgate.sandboxes.hostaway.words import AIRBNB

Json = dict[str, Any]

RESOURCES: Final = ("conversationMessages", "Reservation")
_FIRST_MESSAGE: Final = 200_000_000
_MOST_MESSAGES: Final = 1_000


def conversation(settings: Settings, stay: Stay) -> Json:
    """Return a conversation with its last message only, as the real API does; all messages have a path of their own."""
    chance = chance_of(settings.seed, "conversation", stay.number)
    known: Json = {
        "id": stay.conversation_id,
        "accountId": settings.account_id,
        "listingMapId": stay.home.id,
        "reservationId": stay.id,
        "type": "host-guest-native" if stay.channel is AIRBNB else "host-guest-email",
        "recipientEmail": maybe(chance, 0.5, stay.email),
        "recipientName": stay.guest,
        "recipientPicture": maybe(chance, 0.85, url(chance, "people", 110)),
        "hostEmail": f"host{stay.number:05d}@example.com",
        "guestEmail": stay.email,
        "hasUnreadMessages": int(stay.unread),
        "messageSentOn": str(stay.sent) if stay.sent else None,
        "messageReceivedOn": str(stay.received),
        "conversationMessages": [message(settings, stay, stay.messages - 1)],
        "Reservation": reservation(settings, stay),
    }
    return complete(CONVERSATION, known)


def message(settings: Settings, stay: Stay, number: int) -> Json:
    chance = chance_of(settings.seed, f"message/{stay.number}", number)
    incoming = number % 2 == 0
    automatic = not incoming and chance.random() < 0.4
    at = str(stay.written(number))
    seen = incoming and not (stay.unread and number >= stay.messages - 2)
    zone = stay.home.city.zone
    known: Json = {
        "id": _FIRST_MESSAGE + _MOST_MESSAGES * stay.number + number,
        "accountId": settings.account_id,
        "listingMapId": stay.home.id,
        "reservationId": stay.id,
        "channelId": stay.channel.id,
        "conversationId": stay.conversation_id,
        "communicationId": chance.randint(10**5, 10**6) if automatic else None,
        "channelThreadMessageId": digits(chance, 11),
        "subject": maybe(chance, 0.25, sentence(chance)[:70]),
        "body": _body(chance, incoming=incoming, automatic=automatic),
        "isIncoming": int(incoming),
        "isSeen": int(seen),
        "isSeenBy": "system" if seen else None,
        "isSeenAt": str(stay.written(number) + timedelta(minutes=9)) if seen else None,
        "originatedBy": "guest" if incoming else "automation" if automatic else "user",
        "sentUsingHostaway": int(not incoming),
        "hash": f"{chance.getrandbits(128):032x}",
        "listingTimeZoneName": zone,
        "communicationEvent": "checkIn" if automatic else None,
        "communicationTimeDeltaSeconds": -86_400 if automatic else 0,
        "communicationApplyListingTimeZone": 1 if automatic else None,
        "communicationAlwaysTrigger": 0 if automatic else None,
        "status": "sent",
        "date": at,
        "sentToChannelDate": None if incoming else at,
        "sentToChannelAttemptDate": None if incoming else at,
        "messageSource": "channel" if incoming else "dashboard",
        "communicationType": "channel",
        "isUniquePerCommunication": 1,
        "retryCount": 0,
        "insertedOn": at,
        "updatedOn": at,
        "AirbnbOfficialMessageMetadata": _metadata(chance, stay, number, at)
        if stay.channel is AIRBNB
        else None,
        "conversationMessageNote": [],
        "conversationSnooze": [],
        "conversationArchive": [],
    }
    return complete(MESSAGE, known)


def _body(chance: random.Random, *, incoming: bool, automatic: bool) -> str:
    if automatic:
        return text(chance, 5, 3)
    return paragraph(chance, chance.randint(1, 3) if incoming else chance.randint(2, 7))


def _metadata(chance: random.Random, stay: Stay, number: int, at: str) -> Json:
    return {
        "id": chance.randint(10**7, 10**8),
        "conversationMessageId": _FIRST_MESSAGE + _MOST_MESSAGES * stay.number + number,
        "airbnbUserId": chance.randint(10**8, 10**9),
        "userName": stay.first_name if number % 2 == 0 else stay.home.contact.split()[0],
        "insertedOn": at,
        "updatedOn": at,
        "AirbnbOfficialAccount": None,
        "role": maybe(chance, 0.5, "GUEST" if number % 2 == 0 else "HOST"),
    }
