"""The field names of the real records, in the order the real API sends them. A record has every one of them."""

from collections.abc import Mapping
from typing import Any, Final


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def complete(names: tuple[str, ...], known: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with all the names in order; null where nothing is known."""
    return {name: known.get(name) for name in names}


LISTING: Final = _names(
    "id propertyTypeId name externalListingName internalListingName description thumbnailUrl houseRules keyPickup "
    "specialInstruction doorSecurityCode country countryCode state city street address publicAddress zipcode "
    "price starRating weeklyDiscount monthlyDiscount propertyRentTax guestPerPersonPerNightTax guestStayTax "
    "guestNightlyTax refundableDamageDeposit isDepositStayCollected personCapacity maxChildrenAllowed "
    "maxInfantsAllowed maxPetsAllowed lat lng checkInTimeStart checkInTimeEnd checkOutTime cancellationPolicy "
    "squareMeters roomType bathroomType bedroomsNumber bedsNumber bathroomsNumber guestBathroomsNumber minNights "
    "maxNights guestsIncluded cleaningFee checkinFee priceForExtraPerson instantBookable instantBookableLeadTime "
    "airbnbBookingLeadTime airbnbBookingLeadTimeAllowRequestToBook airbnbName airbnbSummary airbnbSpace "
    "airbnbAccess airbnbInteraction airbnbNeighborhoodOverview airbnbTransit airbnbNotes airbnbExportStatus "
    "vrboExportStatus marriotExportStatus bookingcomExportStatus expediaExportStatus googleExportStatus "
    "allowSameDayBooking sameDayBookingLeadTime contactName contactSurName contactPhone1 contactPhone2 "
    "contactLanguage contactEmail contactAddress language currencyCode timeZoneName wifiUsername wifiPassword "
    "cleannessStatus cleaningInstruction cleannessStatusUpdatedOn homeawayPropertyName homeawayPropertyHeadline "
    "homeawayPropertyDescription bookingcomPropertyName bookingcomPropertyRoomName bookingcomPropertyDescription "
    "invoicingContactName invoicingContactSurName invoicingContactPhone1 invoicingContactPhone2 "
    "invoicingContactLanguage invoicingContactEmail invoicingContactAddress invoicingContactCity "
    "invoicingContactZipcode invoicingContactCountry attachment listingAmenities listingBedTypes listingImages "
    "listingTags listingUnits propertyLicenseNumber propertyLicenseType propertyLicenseIssueDate "
    "propertyLicenseExpirationDate customFieldValues applyPropertyRentTaxToFees bookingEngineLeadTime "
    "cancellationPolicyId vrboCancellationPolicyId marriottCancellationPolicyId bookingCancellationPolicyId "
    "listingFeeSetting isRentalAgreementActive averageNightlyPrice bookingcomPropertyRegisteredInVcs "
    "bookingcomPropertyHasVat bookingcomPropertyDeclaresRevenue airbnbCancellationPolicyId airbnbListingUrl "
    "vrboListingUrl googleVrListingUrl expediaListingUrl averageReviewRating partnersListingMarkup "
    "airbnbOfficialListingMarkup bookingEngineMarkup homeawayApiMarkup marriottListingMarkup latestActivityOn "
    "bookingEngineUrls marriottListingName airbnbPetFeeAmount insertedOn insuranceEligibilityStatus "
    "listingSettings"
)
"""144 fields of a listing, as seen in a page of real ones."""
RESERVATION: Final = _names(
    "id listingMapId listingName channelId source channelName reservationId hostawayReservationId "
    "channelReservationId externalPropertyId externalUnitId assigneeUserId customerIcalId customerIcalName "
    "guestAuthHash guestPortalUrl guestPortalRevampUrl isProcessed isInitial isManuallyChecked isInstantBooked "
    "reservationDate pendingExpireDate guestName guestFirstName guestLastName guestExternalAccountId guestZipCode "
    "guestAddress guestCity guestCountry guestEmail guestPicture guestRecommendations guestTrips guestWork "
    "isGuestIdentityVerified isGuestVerifiedByEmail isGuestVerifiedByWorkEmail isGuestVerifiedByFacebook "
    "originalChannel isGuestVerifiedByGovernmentId isGuestVerifiedByPhone isGuestVerifiedByReviews numberOfGuests "
    "adults children infants pets arrivalDate departureDate isDatesUnspecified previousArrivalDate "
    "previousDepartureDate checkInTime checkOutTime nights phone totalPrice remainingBalance taxAmount "
    "channelCommissionAmount hostawayCommissionAmount cleaningFee securityDepositFee isPaid ccName ccNumber "
    "ccNumberEndingDigits ccExpirationYear ccExpirationMonth cvc stripeGuestId stripeMessage braintreeGuestId "
    "braintreeMessage currency status paymentStatus cancellationDate cancelledBy hostNote guestNote doorCode "
    "doorCodeVendor doorCodeInstruction comment confirmationCode airbnbExpectedPayoutAmount "
    "airbnbListingBasePrice airbnbListingCancellationHostFee airbnbListingCancellationPayout "
    "airbnbListingCleaningFee airbnbListingHostFee airbnbListingSecurityPrice airbnbOccupancyTaxAmountPaidToHost "
    "airbnbTotalPaidAmount airbnbTransientOccupancyTaxPaidAmount airbnbCancellationPolicy isStarred isArchived "
    "isPinned reservationCouponId customFieldValues reservationFees reservationUnit insertedOn updatedOn "
    "latestActivityOn customerUserId guestLocale localeForMessaging localeForMessagingSource listingCustomFields "
    "rentalAgreementFileUrl reservationAgreement financeField guestPaymentCardIsVirtual insuranceStatus "
    "claimStatus insurancePolicyId cancellationPolicyId hostProxyEmail"
)
"""123 fields of a reservation, as seen in a page of real ones."""
CONVERSATION: Final = _names(
    "id accountId listingMapId reservationId type recipientEmail recipientName recipientPicture hostEmail "
    "guestEmail hasUnreadMessages messageSentOn messageReceivedOn conversationMessages Reservation"
)
"""Fields of a conversation; `Reservation` is a whole one."""
MESSAGE: Final = _names(
    "id accountId userId listingMapId reservationId channelId conversationId communicationId whatsappTemplateId "
    "whatsappBusinessTemplateId airbnbThreadMessageId channelThreadMessageId ccEmail1 ccEmail2 subject body "
    "imagesUrls bookingcomSubthreadId isIncoming isSeen isSeenBy originatedBy isSeenAt sentUsingHostaway hash "
    "objectKey listingTimeZoneName communicationEvent communicationTimeDelta communicationTimeDeltaSeconds "
    "communicationApplyListingTimeZone communicationAlwaysTrigger status date sentToChannelDate "
    "sentToChannelAttemptDate messageSource communicationType reasonFailed readableReasonFailed isUnique "
    "isUniquePerCommunication retryCount insertedOn updatedOn notUpdateOnReservationChange Reservation ListingMap "
    "Conversation AirbnbOfficialMessageMetadata communicationName attachments "
    "twilioMessageIdConversationMessageId whatsAppMessageIdConversationMessageId attachment "
    "conversationMessageNote conversationSnooze conversationArchive"
)
"""58 fields of a message within a conversation."""
DAY: Final = _names(
    "id date isAvailable isProcessed status price minimumStay maximumStay closedOnArrival closedOnDeparture note "
    "countAvailableUnits availableUnitsToSell countPendingUnits countBlockingReservations countBlockedUnits "
    "desiredUnitsToSell reservations"
)
"""Fields of a day of a calendar, by the official documentation, as are those that follow."""
DAY_RESERVATION: Final = _names(
    "id listingMapId channelId channelName reservationId externalPropertyId externalRatePlanId externalUnitId "
    "externalRuid manualIcalId manualIcalName isProcessed isManuallyChecked isInstantBooked hasPullError "
    "reservationDate pendingExpireDate guestName guestFirstName guestLastName guestExternalAccountId guestCity "
    "guestCountry guestEmail guestPicture numberOfGuests adults children infants pets arrivalDate departureDate "
    "previousArrivalDate previousDepartureDate checkInTime checkOutTime nights phone totalPrice taxAmount "
    "channelCommissionAmount hostawayCommissionAmount cleaningFee securityDepositFee isPaid paymentMethod "
    "stripeGuestId currency status hostNote guestNote comment"
)
"""Fields of a reservation within a day: fewer than elsewhere, and some from an older version."""
FINANCE: Final = _names(
    "id accountId listingMapId channelId reservationId damageDeposit guestChannelFee hostChannelFee baseRate vat "
    "salesTax cityTax otherTaxes cleaningFeeValue additionalCleaningFee parkingFee towelChangeFee "
    "midstayCleaningFee roomRequestFee reservationChangeFee checkinFee lateCheckoutFee otherFees creditCardFee "
    "kitchenLinenFee linenPackageFee transferFee wristbandFee extraBedsFee serviceFee bedLinenFee bookingFee "
    "petFee skiPassFee tourismFee childrenExtraFee resortFee resortFeeAirbnb communityFeeAirbnb "
    "managementFeeAirbnb linenFeeAirbnb weeklyDiscount roomTax transientOccupancyTax lodgingTax hotelTax "
    "guestNightlyTax guestStayTax guestPerPersonPerNightTax propertyRentTax priceForExtraPerson monthlyDiscount "
    "cancellationPayout cancellationHostFee couponDiscount shareholderDiscount lastMinuteDiscount "
    "employeeDiscount otherSpecialDiscount paymentServiceProcessingFees bookingComCancellationGuestFee "
    "otaPaymentProcessingFee insuranceFee manuallySetFields customFeeValuesJson insertedOn updatedOn"
)
"""The standard financial fields of a reservation."""
REVIEW: Final = _names(
    "id accountId listingMapId reservationId autoReviewId timeDelta scheduledDateTime channelId type status "
    "rating externalReviewId externalReservationId publicReview privateFeedback revieweeResponse "
    "isRevieweeRecommended isCancelled autoReviewTemplateId reviewCategory departureDate arrivalDate listingName "
    "guestName"
)
"""Fields of a review."""
USER: Final = _names(
    "id accountId userGroupId userGroupName email icalKey passwordUpdatedOn verificationCode secondEmail "
    "firstName lastName title country city phone emergencyPhone preferredContactMethod noteBeforeContact address "
    "postalCode profilePictureUrl timezone createListing readListing updateListing deleteListing "
    "createReservation readReservation updateReservation deleteReservation readCalendar updateCalendar "
    "readBookingEngine updateBookingEngine readRevenueManagement readChannelManager updateChannelManager "
    "createTask readTask updateTask deleteTask createAutomation readAutomation updateAutomation deleteAutomation "
    "readMessage updateMessage updateIntegration createGuestInvoicing readGuestInvoicing updateGuestInvoicing "
    "deleteGuestInvoicing receiveReservationNotificationEmail isDisabledByHostaway isDisabledByAccount "
    "hasAccessToNewListings createReview readReview updateReview deleteReview createOwnerStatement "
    "readOwnerStatement updateOwnerStatement deleteOwnerStatement createGuestbook readGuestbook updateGuestbook "
    "deleteGuestbook isAdmin accessFinancialData accessContactData accessGuestNotes accessTagManagement "
    "readAnalytics readListingsFinancials readOccupancyReport lastLoginOn listingMapIds"
)
"""Fields of a user of the account."""
