"""Invented street addresses and phone numbers for real coordinates.

Policy: all of it is made up, and the same point always gets the same. A street runs from west to east through a block
of about two kilometres, and house numbers rise along it, so neighbours share a street. Phone numbers come from ranges
kept free for fiction where a country has them, and otherwise from the example number that ``phonenumbers`` has for
it.
"""

from functools import cache, lru_cache
from math import floor

from sandbox_mcp.engine.worlds.phone.knowledge.distance import haversine_km
from sandbox_mcp.engine.worlds.phone.knowledge.seeded import choice, integer
from sandbox_mcp.engine.worlds.phone.knowledge.tables import countries, rows

ROW_DEGREES = 0.002
BLOCK_DEGREES = 0.02
HOUSES_PER_BLOCK = 800

_LANGUAGES: dict[str, tuple[str, str, str]] = {
    "en": (
        "{n} {s}",
        "{} Street|{} Avenue|{} Road|{} Lane|{} Drive",
        "Maple|Oak|Cedar|Elm|Willow|Birch|Juniper|Laurel|Hawthorn|Poplar|Orchard|Meadow|Brook|Harbor|Mill|Chapel|Linden",
    ),
    "fr": (
        "{n} {s}",
        "rue {}|avenue {}|allée {}",
        "des Lilas|des Tilleuls|du Moulin|des Érables|de la Source|des Vergers|du Lavoir|des Acacias|des Peupliers",
    ),
    "es": (
        "{s} {n}",
        "Calle {}|Avenida {}|Paseo {}",
        "del Olmo|de los Naranjos|del Molino|de las Acacias|de la Fuente|del Jardín|de los Cedros|del Mirador",
    ),
    "pt": (
        "{s}, {n}",
        "Rua {}|Avenida {}|Travessa {}",
        "das Acácias|dos Jacarandás|do Moinho|das Oliveiras|da Fonte|dos Ipês|do Pomar|das Palmeiras|do Jardim",
    ),
    "de": ("{s} {n}", "{}straße|{}weg|{}allee", "Linden|Ahorn|Birken|Mühlen|Garten|Eichen|Wiesen|Brunnen|Kastanien"),
    "it": (
        "{s}, {n}",
        "Via {}|Viale {}",
        "dei Tigli|degli Olmi|del Mulino|delle Acacie|della Fonte|dei Platani|del Frutteto|degli Ulivi|del Giardino",
    ),
    "nl": ("{s} {n}", "{}straat|{}laan|{}weg", "Linden|Eiken|Molen|Beuken|Tuin|Wilgen|Bron|Kastanje|Iepen|Boomgaard"),
}  # language: how number and street are put together, kinds of street, names
_SPOKEN = {
    "fr": "FR BE MC LU SN CI CD CM MA DZ TN",
    "es": "ES MX AR CO CL PE VE EC GT CU BO DO HN PY SV NI CR PA UY PR",
    "pt": "PT BR AO MZ CV",
    "de": "DE AT CH LI",
    "it": "IT SM VA",
    "nl": "NL SR",
}  # elsewhere streets have English names
_LANGUAGE_OF = {country: language for language, countries in _SPOKEN.items() for country in countries.split()}

FICTION = {
    "GB": "+442079460###",
    "AU": "+6125550####",
    "FR": "+3319900####",
    "DE": "+493023125###",
}  # numbers that the regulator keeps free for films and books; "#" is a digit of the caller's choice
UNKNOWN_COUNTRY = "+12015550123"
# In North America no subscriber has a number after 555; the few in use lie below 2000 and at 4334, and are left out.


def street_address(latitude: float, longitude: float, country_code: str) -> str:
    """An invented house number and street for a point, as they are written in that country."""
    form, kinds, names = _LANGUAGES[_LANGUAGE_OF.get(country_code, "en")]
    row, block = floor(latitude / ROW_DEGREES), floor(longitude / BLOCK_DEGREES)
    street = choice(kinds.split("|"), "kind of street", row, block)
    along, across = longitude / BLOCK_DEGREES - block, latitude / ROW_DEGREES - row
    house = min(floor(along * HOUSES_PER_BLOCK / 2), HOUSES_PER_BLOCK // 2 - 1)
    number = 1 + 2 * house + (across >= 0.5)
    return form.format(n=number, s=street.format(choice(names.split("|"), "street", row, block)))


def phone_number(country_code: str, latitude: float, longitude: float, number: int) -> str:
    """An invented phone number in international form for a town; numbers below 100 of one town differ."""
    drawn = integer("phone numbers", str(latitude), str(longitude)) % 10_000 + number
    if country_code in {"US", "CA"}:
        line = 2000 + drawn % 6900
        line += 100 if line >= 4300 else 0
        return f"+1{_area_code(country_code, latitude, longitude)}555{line}"
    known = countries()[country_code]["example_phone"] if country_code in countries() else ""
    pattern = FICTION.get(country_code) or f"{(known or UNKNOWN_COUNTRY)[:-4]}####"
    wild = pattern.count("#")
    return pattern[:-wild] + f"{drawn % 10**wild:0{wild}d}"


@lru_cache(maxsize=4096)
def _area_code(country_code: str, latitude: float, longitude: float) -> str:
    """The real area code whose main town is nearest."""
    codes = [code for code in _area_codes() if code[3] == country_code]
    return min(codes, key=lambda code: haversine_km(latitude, longitude, code[1], code[2]))[0]


@cache
def _area_codes() -> tuple[tuple[str, float, float, str], ...]:
    return tuple(
        (row["code"], float(row["latitude"]), float(row["longitude"]), row["country_code"])
        for row in rows("area_codes.tsv")
    )
