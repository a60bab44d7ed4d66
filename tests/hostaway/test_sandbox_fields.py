"""Shape, size and sense of the records. The names were counted in the samples of real answers beside the project."""

import json
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from statistics import mean
from typing import Any

import pytest

from brimgate.sandboxes.hostaway import sandbox
from tests.hostaway.asking import Caller


def names(text: str) -> set[str]:
    return set(text.split())


LISTING_FIELDS = names(
    """
    id propertyTypeId name externalListingName internalListingName description thumbnailUrl houseRules
    keyPickup specialInstruction doorSecurityCode country countryCode state city street address
    publicAddress zipcode price starRating weeklyDiscount monthlyDiscount propertyRentTax
    guestPerPersonPerNightTax guestStayTax guestNightlyTax refundableDamageDeposit
    isDepositStayCollected personCapacity maxChildrenAllowed maxInfantsAllowed maxPetsAllowed lat lng
    checkInTimeStart checkInTimeEnd checkOutTime cancellationPolicy squareMeters roomType bathroomType
    bedroomsNumber bedsNumber bathroomsNumber guestBathroomsNumber minNights maxNights guestsIncluded
    cleaningFee checkinFee priceForExtraPerson instantBookable instantBookableLeadTime
    airbnbBookingLeadTime airbnbBookingLeadTimeAllowRequestToBook airbnbName airbnbSummary airbnbSpace
    airbnbAccess airbnbInteraction airbnbNeighborhoodOverview airbnbTransit airbnbNotes
    airbnbExportStatus vrboExportStatus marriotExportStatus bookingcomExportStatus expediaExportStatus
    googleExportStatus allowSameDayBooking sameDayBookingLeadTime contactName contactSurName
    contactPhone1 contactPhone2 contactLanguage contactEmail contactAddress language currencyCode
    timeZoneName wifiUsername wifiPassword cleannessStatus cleaningInstruction cleannessStatusUpdatedOn
    homeawayPropertyName homeawayPropertyHeadline homeawayPropertyDescription bookingcomPropertyName
    bookingcomPropertyRoomName bookingcomPropertyDescription invoicingContactName
    invoicingContactSurName invoicingContactPhone1 invoicingContactPhone2 invoicingContactLanguage
    invoicingContactEmail invoicingContactAddress invoicingContactCity invoicingContactZipcode
    invoicingContactCountry attachment listingAmenities listingBedTypes listingImages listingTags
    listingUnits propertyLicenseNumber propertyLicenseType propertyLicenseIssueDate
    propertyLicenseExpirationDate customFieldValues applyPropertyRentTaxToFees bookingEngineLeadTime
    cancellationPolicyId vrboCancellationPolicyId marriottCancellationPolicyId
    bookingCancellationPolicyId listingFeeSetting isRentalAgreementActive averageNightlyPrice
    bookingcomPropertyRegisteredInVcs bookingcomPropertyHasVat bookingcomPropertyDeclaresRevenue
    airbnbCancellationPolicyId airbnbListingUrl vrboListingUrl googleVrListingUrl expediaListingUrl
    averageReviewRating partnersListingMarkup airbnbOfficialListingMarkup bookingEngineMarkup
    homeawayApiMarkup marriottListingMarkup latestActivityOn bookingEngineUrls marriottListingName
    airbnbPetFeeAmount insertedOn insuranceEligibilityStatus listingSettings
    """
)
RESERVATION_FIELDS = names(
    """
    id listingMapId listingName channelId source channelName reservationId hostawayReservationId
    channelReservationId externalPropertyId externalUnitId assigneeUserId customerIcalId
    customerIcalName guestAuthHash guestPortalUrl guestPortalRevampUrl isProcessed isInitial
    isManuallyChecked isInstantBooked reservationDate pendingExpireDate guestName guestFirstName
    guestLastName guestExternalAccountId guestZipCode guestAddress guestCity guestCountry guestEmail
    guestPicture guestRecommendations guestTrips guestWork isGuestIdentityVerified
    isGuestVerifiedByEmail isGuestVerifiedByWorkEmail isGuestVerifiedByFacebook originalChannel
    isGuestVerifiedByGovernmentId isGuestVerifiedByPhone isGuestVerifiedByReviews numberOfGuests adults
    children infants pets arrivalDate departureDate isDatesUnspecified previousArrivalDate
    previousDepartureDate checkInTime checkOutTime nights phone totalPrice remainingBalance taxAmount
    channelCommissionAmount hostawayCommissionAmount cleaningFee securityDepositFee isPaid ccName
    ccNumber ccNumberEndingDigits ccExpirationYear ccExpirationMonth cvc stripeGuestId stripeMessage
    braintreeGuestId braintreeMessage currency status paymentStatus cancellationDate cancelledBy
    hostNote guestNote doorCode doorCodeVendor doorCodeInstruction comment confirmationCode
    airbnbExpectedPayoutAmount airbnbListingBasePrice airbnbListingCancellationHostFee
    airbnbListingCancellationPayout airbnbListingCleaningFee airbnbListingHostFee
    airbnbListingSecurityPrice airbnbOccupancyTaxAmountPaidToHost airbnbTotalPaidAmount
    airbnbTransientOccupancyTaxPaidAmount airbnbCancellationPolicy isStarred isArchived isPinned
    reservationCouponId customFieldValues reservationFees reservationUnit insertedOn updatedOn
    latestActivityOn customerUserId guestLocale localeForMessaging localeForMessagingSource
    listingCustomFields rentalAgreementFileUrl reservationAgreement financeField
    guestPaymentCardIsVirtual insuranceStatus claimStatus insurancePolicyId cancellationPolicyId
    hostProxyEmail
    """
)
MESSAGE_FIELDS = names(
    """
    id accountId userId listingMapId reservationId channelId conversationId communicationId
    whatsappTemplateId whatsappBusinessTemplateId airbnbThreadMessageId channelThreadMessageId ccEmail1
    ccEmail2 subject body imagesUrls bookingcomSubthreadId isIncoming isSeen isSeenBy originatedBy
    isSeenAt sentUsingHostaway hash objectKey listingTimeZoneName communicationEvent
    communicationTimeDelta communicationTimeDeltaSeconds communicationApplyListingTimeZone
    communicationAlwaysTrigger status date sentToChannelDate sentToChannelAttemptDate messageSource
    communicationType reasonFailed readableReasonFailed isUnique isUniquePerCommunication retryCount
    insertedOn updatedOn notUpdateOnReservationChange Reservation ListingMap Conversation
    AirbnbOfficialMessageMetadata communicationName attachments twilioMessageIdConversationMessageId
    whatsAppMessageIdConversationMessageId attachment conversationMessageNote conversationSnooze
    conversationArchive
    """
)


@pytest.fixture(scope="module")
def caller() -> Iterator[Caller]:
    with sandbox(reservations=400, rate_ip=0, rate_account=0) as started:
        yield Caller(started.url).sign_in()


def size(record: Any) -> int:
    return len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())


def test_a_listing_has_the_144_fields_and_the_size_of_a_real_one(caller: Caller) -> None:
    listings = caller.result("/listings", limit=80)
    assert len(LISTING_FIELDS) == 144
    assert all(set(listing) == LISTING_FIELDS for listing in listings)
    sizes = [size(listing) for listing in listings]
    assert 44_000 < mean(sizes) < 48_000
    assert min(sizes) > 30_000
    assert max(sizes) < 60_000
    assert all(len(listing["listingImages"]) > 20 for listing in listings)
    assert sum(value is None for value in listings[0].values()) > 30


def test_a_reservation_has_the_123_fields_and_the_size_of_a_real_one(caller: Caller) -> None:
    reservations = caller.result("/reservations", limit=400)
    assert len(RESERVATION_FIELDS) == 123
    assert all(set(reservation) == RESERVATION_FIELDS for reservation in reservations)
    sizes = [size(reservation) for reservation in reservations]
    assert 3_400 < mean(sizes) < 4_000
    assert min(sizes) > 3_000
    assert max(sizes) < 6_000
    for field in ("channelName", "status", "guestLocale", "paymentStatus", "comment"):
        assert len({reservation[field] for reservation in reservations}) > 2, field


def test_conversations_hold_a_whole_reservation_and_messages_of_58_fields(caller: Caller) -> None:
    conversations = caller.result("/conversations", limit=30)
    messages = [message for talk in conversations for message in talk["conversationMessages"]]
    assert len(MESSAGE_FIELDS) == 58
    assert all(set(message) == MESSAGE_FIELDS for message in messages)
    assert all(set(talk["Reservation"]) == RESERVATION_FIELDS for talk in conversations)
    assert 5_000 < mean(map(size, conversations)) < 7_500


def test_dates_money_and_ids_agree(caller: Caller) -> None:
    listings = {listing["id"]: listing for listing in caller.result("/listings", limit=80)}
    reservations = caller.result("/reservations", limit=400)
    assert len({reservation["id"] for reservation in reservations}) == 400
    for one in reservations:
        arrival, departure = date.fromisoformat(one["arrivalDate"]), date.fromisoformat(one["departureDate"])
        assert (departure - arrival).days == one["nights"] > 0
        assert one["insertedOn"] < one["arrivalDate"]
        assert one["insertedOn"] <= one["latestActivityOn"]
        home = listings[one["listingMapId"]]
        assert one["numberOfGuests"] == one["adults"] + one["children"] <= home["personCapacity"]
        assert (one["cleaningFee"], one["currency"]) == (home["cleaningFee"], home["currencyCode"])
        if one["airbnbListingBasePrice"]:
            parts = one["airbnbListingBasePrice"] + one["cleaningFee"] + (one["taxAmount"] or 0)
            assert one["totalPrice"] == pytest.approx(parts + (30 if one["pets"] else 0))


def test_no_two_stays_are_in_the_same_place_in_the_same_night(caller: Caller) -> None:
    stays = sorted(
        (one["listingMapId"], one["arrivalDate"], one["departureDate"])
        for one in caller.result("/reservations", limit=400)
    )
    for (place, _, departure), (next_place, arrival, _) in pairwise(stays):
        assert place != next_place or departure <= arrival


def test_without_resources_the_fields_stay_and_their_lists_are_empty(caller: Caller) -> None:
    (listing,) = caller.result("/listings", limit=1, includeResources=0)
    assert set(listing) == LISTING_FIELDS
    assert listing["listingImages"] == listing["listingAmenities"] == []
    (talk,) = caller.result("/conversations", limit=1, includeResources=0)
    assert (talk["Reservation"], talk["conversationMessages"]) == (None, [])
