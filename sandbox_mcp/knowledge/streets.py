"""Invented street addresses and phone numbers for real coordinates.

Policy: all of it is made up, and the same point always gets the same. A street runs from west to east through a block
of about two kilometres, and house numbers rise along it, so neighbours share a street. Phone numbers come from ranges
kept free for fiction where a country has them, and otherwise from the example number of ``phonenumbers``.
"""

from functools import cache, lru_cache
from math import floor

from sandbox_mcp.knowledge.seeded import choice
from sandbox_mcp.knowledge.tables import rows

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
    "GB": "+44207946####",
    "AU": "+61255501###",
    "FR": "+3319900####",
    "DE": "+493023125###",
}  # numbers that the regulator keeps free for films and books; "#" is a digit of the caller's choice


def street_address(latitude: float, longitude: float, country_code: str) -> str:
    """An invented house number and street for a point, as they are written in that country."""
    form, kinds, names = _LANGUAGES[_LANGUAGE_OF.get(country_code, "en")]
    row, block = floor(latitude / ROW_DEGREES), floor(longitude / BLOCK_DEGREES)
    street = choice(kinds.split("|"), "kind of street", row, block)
    along = longitude / BLOCK_DEGREES - block
    number = 1 + 2 * floor(along * HOUSES_PER_BLOCK / 2) + (latitude / ROW_DEGREES - row >= 0.5)
    return form.format(n=number, s=street.format(choice(names.split("|"), "street", row, block)))


def phone_number(country_code: str, region: str, city: str, number: int) -> str:
    """An invented phone number in international form; numbers below 100 of one city differ from each other."""
    if country_code in {"US", "CA"} and region in _area_codes():
        area = choice(_area_codes()[region], "area code", city)
        return f"+1{area}55501{number % 100:02d}"
    pattern = FICTION.get(country_code) or f"{_example(country_code)[:-3]}###"
    wild = pattern.count("#")
    return pattern[:-wild] + f"{number % 1000:0{wild}d}"


@cache
def _area_codes() -> dict[str, list[str]]:
    return {row["region"]: row["codes"].split() for row in rows("area_codes.tsv")}


@lru_cache(maxsize=300)
def _example(country_code: str) -> str:
    import phonenumbers

    example = phonenumbers.example_number(country_code) or phonenumbers.example_number("US")
    return phonenumbers.format_number(example, phonenumbers.PhoneNumberFormat.E164) if example else "+12015550123"
