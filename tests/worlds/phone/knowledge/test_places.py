"""Places by name or kind: the real ones found from afar, the invented ones around, at most four, in a fixed order."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox_mcp.engine.worlds.phone.knowledge import InvalidQuestionError
from sandbox_mcp.engine.worlds.phone.knowledge.distance import OfflineDistance
from sandbox_mcp.engine.worlds.phone.knowledge.gazetteer import OfflineGazetteer
from sandbox_mcp.engine.worlds.phone.knowledge.places import LIMIT, OfflinePlaces, Place
from tests.each import each

PLACES = OfflinePlaces()
CUPERTINO = (37.334606, -122.009102)
MANHATTAN = (40.7549, -73.9840)


def search(text: str, around: tuple[float, float] = CUPERTINO) -> list[Place]:
    return PLACES.search(text, *around)


def names(text: str, around: tuple[float, float] = CUPERTINO) -> list[str]:
    return [place.name for place in search(text, around)]


def test_a_real_place_in_full() -> None:
    assert search("Apple Park")[0] == Place(
        name="Apple Park",
        address="1 Apple Park Way, Cupertino, California, United States",
        phone_number="+14089961010",
        latitude=37.334606,
        longitude=-122.009102,
        category="office",
        opening_hours="Mon-Fri 09:00-17:00",
        rating=4.8,
        distance_km=0.0,
        invented=("opening_hours", "rating"),
    )


def test_an_invented_place_says_what_is_made_up() -> None:
    shop = search("Copperleaf Coffee")[0]
    assert set(shop.invented) == {
        "name", "address", "phone_number", "latitude", "longitude", "opening_hours", "rating",
    }  # fmt: skip


def test_the_dictionary_form() -> None:
    found = search("Copperleaf Coffee")[0].as_dict()
    assert list(found) == [
        "name", "address", "phone_number", "latitude", "longitude", "category", "opening_hours", "rating",
        "distance_km", "invented",
    ]  # fmt: skip
    assert isinstance(found["invented"], list)


@each(
    ("text", "name"),
    [
        ("Golden Gate Bridge", "Golden Gate Bridge"),
        ("golden gate bridge", "Golden Gate Bridge"),
        ("the Golden Gate Bridge", "Golden Gate Bridge"),
        ("Golden Gate Bridge, San Francisco", "Golden Gate Bridge"),
        ("Eiffel Tower", "Eiffel Tower"),
        ("eiffle tower", "Eiffel Tower"),
        ("Grand Canyon", "Grand Canyon"),
        ("Statue of Liberty", "Statue of Liberty"),
        ("Museum of Modern Art", "Museum of Modern Art"),
        ("Big Ben, London", "Big Ben"),
        ("Louvre", "Louvre Museum"),
        ("Sagrada Familia", "Sagrada Família"),
        ("Niagara Falls", "Niagara Falls"),
        ("Mount Everest", "Mount Everest"),
        ("Stanford University", "Stanford University"),
        ("Whole Foods", "Whole Foods Market"),
        ("Whole Foods on Stevens Creek", "Whole Foods Market"),
        ("Target", "Target"),
    ],
)
def test_real_places_are_found_by_name_from_anywhere(text: str, name: str) -> None:
    assert names(text)[0] == name


@each(
    ("text", "category"),
    [
        ("coffee", "cafe"),
        ("coffee shop near me", "cafe"),
        ("pharmacy", "pharmacy"),
        ("drugstore", "pharmacy"),
        ("gas station", "gas station"),
        ("petrol", "gas station"),
        ("groceries", "supermarket"),
        ("book shop", "book store"),
        ("sushi", "japanese restaurant"),
        ("tacos", "mexican restaurant"),
        ("pizza", "pizza restaurant"),
        ("cinema", "movie theater"),
        ("haircut", "hair salon"),
        ("vet clinic", "veterinary clinic"),
        ("walk-in clinic", "urgent care clinic"),
        ("atm", "bank"),
        ("hotels", "hotel"),
        ("museum", "museum"),
        ("airport", "airport"),
        ("university", "university"),
    ],
)
def test_places_are_found_by_kind(text: str, category: str) -> None:
    found = search(text)
    assert found
    assert {place.category for place in found} == {category}


def test_what_only_has_the_kind_in_its_name_comes_after_the_kind() -> None:
    found = search("park")
    assert [place.category for place in found[:2]] == ["park", "park"]
    assert all(place.name != "Apple Park" for place in found)
    assert names("Apple Park")[0] == "Apple Park"


def test_by_kind_only_places_within_reach_are_found() -> None:
    for text in ("museum", "coffee", "airport", "hotel"):
        assert all(place.distance_km <= 50 for place in search(text))


def test_all_of_a_kind_come_nearest_first() -> None:
    for text in ("restaurant", "coffee", "bank", "museum"):
        distances = [place.distance_km for place in search(text)]
        assert distances == sorted(distances)


def test_several_branches_of_a_chain_are_told_apart() -> None:
    found = search("Copperleaf Coffee")
    assert len(found) == LIMIT
    assert {place.name for place in found} == {"Copperleaf Coffee"}
    for field in ("address", "phone_number", "distance_km"):
        assert len({getattr(place, field) for place in found}) == len(found)


def test_a_branch_is_found_by_its_street() -> None:
    assert search("Copperleaf Coffee on Laurel Lane")[0].address.startswith("475 Laurel Lane, Cupertino")


@each("text", ["copperleef coffee", "Coperleaf", "COPPERLEAF"])
def test_a_slip_of_the_pen_is_forgiven(text: str) -> None:
    assert names(text)[0] == "Copperleaf Coffee"


@each("text", ["", "   ", "the", "near me", "xyzzy", "Starbucks", "!!!", "flux capacitor repair", "coffee " * 40_000])
def test_what_there_is_not_is_not_found(text: str) -> None:
    assert search(text) == []


@each(
    ("text", "address"),
    [
        ("Paris", "Paris, Île-de-France, France"),
        ("San Francisco", "San Francisco, California, United States"),
        ("New York", "New York City, New York, United States"),
        ("Cupertino", "Cupertino, California, United States"),
        ("London", "London, England, United Kingdom"),
        ("Tokyo", "Tokyo, Japan"),
        ("Sunnyvale", "Sunnyvale, California, United States"),
    ],
)
def test_towns_are_places_too(text: str, address: str) -> None:
    town = search(text)[0]
    assert (town.address, town.category) == (address, "city")
    assert (town.phone_number, town.opening_hours, town.rating, town.invented) == (None, None, None, ())


def test_a_near_namesake_comes_before_the_famous_town() -> None:
    near_cambridge_in_america = (42.36, -71.06)
    assert search("Cambridge", near_cambridge_in_america)[0].address == "Cambridge, Massachusetts, United States"
    assert search("Cambridge")[0].address == "Cambridge, England, United Kingdom"


@each("text", ["bank", "airport"])
def test_a_kind_of_place_is_not_a_far_town_of_that_name(text: str) -> None:
    assert "city" not in {place.category for place in search(text)}


@each(
    ("text", "part"),
    [
        ("coffee in Paris", "Paris, Île-de-France, France"),
        ("hotel in Tokyo", "Tokyo, Japan"),
        ("pharmacy in Boston, Massachusetts", "Boston, Massachusetts, United States"),
        ("museums near the Eiffel Tower", "Paris, Île-de-France, France"),
        ("restaurants around Times Square", "New York City, New York, United States"),
        ("supermarket, Berlin", "Berlin, State of Berlin, Germany"),
    ],
)
def test_the_text_may_say_where(text: str, part: str) -> None:
    found = search(text)
    assert found
    assert all(part in place.address for place in found)


def test_a_place_that_is_no_place_leaves_the_search_where_it_is() -> None:
    assert names("coffee near Xanadu of the Mist") == []
    assert names("coffee near me") == names("coffee")


@each("text", ["Golden Gate Bridge", "Copperleaf Coffee", "museum", "Tower Bridge"])
def test_looking_up_a_places_coordinates_gives_its_address(text: str) -> None:
    for place in search(text):
        found = OfflineGazetteer().address(place.latitude, place.longitude)
        assert found is not None
        assert found.text == place.address


def test_at_sea_there_are_no_shops() -> None:
    assert search("coffee", (0, -30)) == []


def test_manhattan_has_what_cupertino_has_not() -> None:
    assert names("observation Empire State", MANHATTAN) == []
    assert names("Empire State", MANHATTAN)[0] == "Empire State Building"
    assert search("library", MANHATTAN)[0].distance_km < 3


@each(("latitude", "longitude"), [(91, 0), (0, 181), (float("nan"), 0)])
def test_coordinates_off_the_globe_are_refused(latitude: float, longitude: float) -> None:
    with pytest.raises(InvalidQuestionError, match="is outside"):
        PLACES.search("coffee", latitude, longitude)


def test_the_answer_may_be_changed_by_its_owner() -> None:
    search("coffee").clear()
    assert len(search("coffee")) == LIMIT


CITIES = st.sampled_from([CUPERTINO, MANHATTAN, (48.86, 2.35), (35.68, 139.76), (-33.87, 151.21)])
TEXTS = st.one_of(
    st.text(max_size=25), st.sampled_from(["coffee", "pizza in Rome", "Louvre", "book store", "Springfield"])
)


@given(TEXTS, CITIES)
@settings(deadline=None)
def test_answers_are_few_and_distances_right(text: str, around: tuple[float, float]) -> None:
    found = search(text, around)
    assert len(found) <= LIMIT
    for place in found:
        assert place.distance_km >= 0
        assert place.rating is None or 1 <= place.rating <= 5
        if " in " not in text:
            exact = OfflineDistance().kilometers(*around, place.latitude, place.longitude)
            assert place.distance_km == pytest.approx(exact, abs=0.01)


@given(TEXTS, CITIES)
@settings(deadline=None)
def test_case_and_spaces_never_matter(text: str, around: tuple[float, float]) -> None:
    assert search(f"  {text} ", around) == search(text, around)
    if text.isascii():
        assert search(text.upper(), around) == search(text.lower(), around)
