"""The places, people and names that records are made of."""

from typing import Final, NamedTuple


def _words(text: str, between: str = " ") -> tuple[str, ...]:
    return tuple(text.split(between))


class City(NamedTuple):
    name: str
    state: str
    country_code: str
    country: str
    zone: str
    currency: str
    north: float
    east: float


class Channel(NamedTuple):
    id: int
    name: str


CITIES: Final = (
    City("Lisbon", "Lisboa", "PT", "Portugal", "Europe/Lisbon", "EUR", 38.71, -9.14),
    City("Porto", "Norte", "PT", "Portugal", "Europe/Lisbon", "EUR", 41.15, -8.61),
    City("Valencia", "Valencia", "ES", "Spain", "Europe/Madrid", "EUR", 39.47, -0.38),
    City("Málaga", "Andalucía", "ES", "Spain", "Europe/Madrid", "EUR", 36.72, -4.42),
    City("Bremerhaven", "Bremen", "DE", "Germany", "Europe/Berlin", "EUR", 53.54, 8.59),
    City("Ghent", "Flanders", "BE", "Belgium", "Europe/Brussels", "EUR", 51.05, 3.72),
    City("Bergen", "Vestland", "NO", "Norway", "Europe/Oslo", "EUR", 60.39, 5.32),
    City("Trieste", "Friuli", "IT", "Italy", "Europe/Rome", "EUR", 45.65, 13.77),
)
"""All in one currency: an account's reports use one."""

AIRBNB: Final = Channel(2018, "airbnbOfficial")
VRBO: Final = Channel(2002, "homeaway")
BOOKING: Final = Channel(2005, "bookingcom")
DIRECT: Final = Channel(2000, "direct")
CHANNELS: Final = (AIRBNB, BOOKING, VRBO, DIRECT)
CHANNEL_WEIGHTS: Final = (66, 14, 12, 8)

STATUSES: Final = (
    "modified", "new", "inquiry", "cancelled", "declined", "inquiryPreapproved", "inquiryNotPossible", "ownerStay",
)  # fmt: skip
STATUS_WEIGHTS: Final = (45, 28, 13, 8, 2, 1, 1, 2)
STAYING: Final = frozenset({"new", "modified", "ownerStay"})
"""The statuses that block nights in a calendar."""

FIRST_NAMES: Final = _words(
    "Ana Bashir Chloé Dmitri Esi Farah Göran Hana Ivo Jun Kemi Liam Mireille Noor Óscar Priya Quentin Rosa Søren "
    "Tomás Ulrike Valentina Wanjiru Ximena Yuki Zofia Björn Ceren Diego Elif Fionn Håkon"
)
LAST_NAMES: Final = _words(
    "Almeida Brandt Costa Diallo Eklund Ferrari García Haas Itō Jansen Kaya Lindqvist Müller Nakamura O'Brien "
    "Petrović Quiroga Rossi Schäfer Tanaka Ueda Vermeulen Wójcik Xu Yılmaz Zimmermann Adeyemi Bonnet Çelik "
    "Dvořák"
)
COUNTRIES: Final = ("BR", "DE", "ES", "FR", "GB", "IT", "JP", "NL", "PT", "SE", "US")
MANAGERS: Final = ("Marta Lindqvist", "João Almeida", "Ines Haas")

_KINDS: Final = ("Apartment", "Loft", "Townhouse", "Studio", "Cottage", "Penthouse", "Villa", "Attic")
_LOOKS: Final = (
    "Sunny",
    "Quiet",
    "Tiled",
    "Old",
    "Bright",
    "Green",
    "Garden",
    "Corner",
    "Riverside",
    "Hidden",
)
_PLACES: Final = (
    "by the river", "near the station", "above the market", "on the square", "close to the beach", "with a terrace",
    "behind the theatre", "in the old town", "with a view",
)  # fmt: skip
LISTING_NAMES: Final = (_LOOKS, _KINDS, _PLACES)

AMENITIES: Final = _words(
    "Cable TV|Internet|Wireless internet|Air conditioning|Heating|Kitchen|Parking|Free parking|Street parking|"
    "Garage|Washing machine|Dryer|Iron|Iron board|Hair dryer|Hangers|Shampoo|Soap|Toilet paper|Towels|Bed linens|"
    "Extra pillows and blankets|Hot water|Bathtub|Shower|Bidet|Essentials|Smoke detector|Carbon monoxide detector|"
    "First aid kit|Fire extinguisher|Safe|Lock on bedroom door|Key box|Smart lock|Door staff|Elevator|"
    "Wheelchair accessible|Suitable for children|Suitable for infants|Crib|High chair|Children's toys|"
    "Children's dinnerware|Baby bath|Baby monitor|Window guards|Stair gates|Pets allowed|Smoking allowed|"
    "Suitable for events|Desk|Laptop friendly workspace|Printer|TV|Streaming services|Stereo|Books|Board games|"
    "Game console|Piano|Fireplace|Ceiling fan|Portable fan|Mosquito net|Blackout curtains|Coffee maker|Coffee|"
    "Espresso machine|Kettle|Toaster|Blender|Microwave|Oven|Stove|Refrigerator|Freezer|Dishwasher|"
    "Dishes and cutlery|Cooking basics|Baking sheet|Wine glasses|Rice maker|Barbecue utensils|BBQ grill|Balcony|"
    "Terrace|Garden|Garden furniture|Sun loungers|Hammock|Outdoor shower|Swimming pool|Hot tub|Sauna|Gym|"
    "Bicycles|Kayak|Beach essentials|Beach front|Lake access|Ski-in/ski-out|Mountain view|Sea view|City view|"
    "EV charger|Luggage drop-off|Long-term stays|Cleaning before checkout|Self check-in|24-hour check-in|"
    "Breakfast|Private entrance|Single level home|Solar panels|Rain shower|Walk-in closet|Clothes drying rack|"
    "Trash compactor|Fire pit|Outdoor kitchen|Private dock",
    "|",
)
PROPERTY_TYPES: Final = tuple(range(1, 13))
