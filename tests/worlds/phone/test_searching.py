"""How the phone searches in texts and names, and what its results say beside their numbers."""

from operator import itemgetter

from hypothesis import given
from hypothesis import strategies as st

from sandbox_mcp.engine.tools import call, present
from sandbox_mcp.engine.world import IdStream, Running
from sandbox_mcp.engine.worlds.phone import phone
from sandbox_mcp.engine.worlds.phone.tools import rules
from sandbox_mcp.engine.worlds.phone.tools.rules import fuzzy
from tests.each import each
from tests.suite import SUITE

OFFERED = {name: present(tool) for name, tool in phone.agent_tools.items()}


def found(texts: list[str], wanted: str, threshold: float = 50.0) -> list[str]:
    return [
        str(row["text"]) for row in fuzzy([{"text": text} for text in texts], itemgetter("text"), wanted, threshold)
    ]


def result(scenario: str, tool: str, **arguments: object) -> object:
    mine = SUITE.get(scenario)
    outcome = call(Running(mine.world, mine.clock, IdStream("test")), OFFERED, tool, arguments)
    assert outcome.fault is None, outcome.fault
    return outcome.result


def test_a_text_with_the_word_comes_before_one_that_only_looks_like_it() -> None:
    sink = "I'm coming about the sink on Thursday at nine."
    dinner = "Jiggs dinner at our place on Sunday, are you coming?"
    assert found([sink, dinner], "dinner")[0] == dinner


def test_a_name_that_no_text_has_finds_nobody_elses_texts() -> None:
    assert found(["They're drying on my radiator.", "They're in the lost property box."], "Tibor") == []


def test_long_words_count_for_more_than_short_ones() -> None:
    wanted = "the invoice at noon"
    assert found(["Meet at the bar at four", "Send Tevita an invoice"], wanted)[0] == "Send Tevita an invoice"


@each(("wanted", "text"), [("swim", "We go swimming."), ("swimming", "A swim at five?")])
def test_another_form_of_a_word_is_found(wanted: str, text: str) -> None:
    assert found([text], wanted) == [text]


def test_a_slip_of_the_pen_is_found() -> None:
    assert found(["Dentist appointment"], "dentsit") == ["Dentist appointment"]


@each(
    ("wanted", "name"),
    [
        ("Theo", "Théo Lacroix"),
        ("Halasz", "Tibor Halász"),
        ("Lukasz", "Łukasz"),
        ("Soren", "Søren"),
        ("Aerling", "Ærling"),
    ],
)
def test_a_name_is_found_without_its_accents(wanted: str, name: str) -> None:
    assert found([name, "Ilse van der Merwe"], wanted, 90.0) == [name]


@given(st.lists(st.text(max_size=20), max_size=8), st.text(max_size=20))
def test_what_is_found_are_rows_of_the_table_each_once(texts: list[str], wanted: str) -> None:
    rows = [{"text": text, "row": number} for number, text in enumerate(texts)]
    numbers = [row["row"] for row in fuzzy(rows, itemgetter("text"), wanted, 50.0)]
    assert len(set(numbers)) == len(numbers) <= 5


@each("name", ["pick_me_up", "swimming_partner"])
def test_a_contact_is_found_by_a_name_typed_on_another_keyboard(name: str) -> None:
    people = result(name, "search_contacts", name="Theo")
    assert isinstance(people, list)
    assert "Théo" in str(people)  # pyright: ignore[reportUnknownArgumentType]


def test_the_weather_names_its_units() -> None:
    weather = result("wind_in_knots", "search_weather_around_lat_lon", days=1)
    assert isinstance(weather, dict)
    units = [weather[key] for key in ("temperature_unit", "wind_speed_unit", "precipitation_unit")]  # pyright: ignore[reportUnknownVariableType]
    assert units == ["°C", "km/h", "mm"]


def test_the_description_of_the_weather_names_its_units() -> None:
    said = OFFERED["search_weather_around_lat_lon"].description
    assert [unit for unit in ("Celsius", "kilometers per hour", "millimeters") if unit not in said] == []


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_plain_letters_fold_as_any_others_do(text: str) -> None:
    assert rules._folded(text) == rules._folded_letters(text)


BOOK = [
    f"{first} {a}{b}{c}"
    for first in ("Ana", "Bo Li", "Karla")
    for a in "kst"
    for b in "aeiou"
    for c in ("n", "ra", "lin")
]
NAMES = st.lists(
    st.sampled_from(("ana", "karla", "li", "kan", "kara", "Søren", "abcdefghijk", "k", "", " ", "-")), max_size=4
)


@given(st.lists(NAMES.map(" ".join), max_size=4), st.sampled_from(BOOK), st.integers(0, 12), NAMES.map(" ".join))
def test_of_many_names_those_are_found_that_comparing_all_would_find(
    odd: list[str], name: str, place: int, other: str
) -> None:
    texts = [*(f"{text}{number}" for number in ("", "o", "os") for text in BOOK), "abcdefghij k k", *odd]
    turned = f"{name[place:]} {name[:place]}"
    for wanted in (other, name, name[:place] + name[place + 1 :], turned, f"{name}  {other}", f"{name} {name[:3]}"):
        index, asked = rules._Index(texts), rules._folded(wanted)
        everything = rules._alike(asked, rules._read(texts), 90.0)
        assert [sorted(index.alike(asked, 90.0)) for _ in range(2)] == [sorted(everything)] * 2


def test_a_search_that_is_made_again_finds_the_same() -> None:
    rows = [{"text": text} for text in (*(f"{text} {number}" for number in "ab" for text in BOOK), "abcdefghij k k")]
    assert [len(fuzzy(rows, itemgetter("text"), "abcdefghijk", 90.0)) for _ in range(2)] == [1, 1]
