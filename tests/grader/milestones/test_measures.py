"""Every measure of strict grading, its default and its edges."""

from typing import Any

from sandbox_grader.grading.rouge import rouge_l
from sandbox_grader.milestones.measures import (
    avoided,
    default_of,
    forms,
    is_fuzzy,
    missing,
    referred,
    similarity,
    taken,
    written,
)
from sandbox_scenarios.model import Expected, ValueRef

from tests.each import each


def nothing(_: ValueRef) -> tuple[Any, ...]:
    return ()


def giving(*values: Any) -> Any:
    return lambda _: values


def compare(expected: Expected, actual: Any, name: str = "x", lookup: Any = nothing) -> float:
    return similarity(expected, name, actual, lookup)


class TestExact:
    @each(
        ("target", "actual"),
        [("a", "a"), (1, 1.0), (True, True), (None, None), ([1, {"a": 2.0}], [1.0, {"a": 2}]), ({"a": None}, {})],
    )
    def test_equal(self, target: Any, actual: Any):
        assert compare(Expected(value=target), actual) == 1

    @each(("target", "actual"), [("a", "A"), (1, True), (0, False), ("1", 1), (None, ""), ("a", None), ([1], [1, 2])])
    def test_not_equal(self, target: Any, actual: Any):
        assert compare(Expected(value=target), actual) == 0


class TestClose:
    def test_the_tolerance_is_included(self):
        assert compare(Expected("close", 10, within=0.5), 10.5) == 1
        assert compare(Expected("close", 10, within=0.5), 10.5000001) == 0

    def test_something_expected_and_nothing_found(self):
        assert compare(Expected("close", 10, within=0.5), None) == 0

    def test_booleans_are_no_numbers(self):
        assert compare(Expected("close", 1, within=5), True) == 0
        assert compare(Expected("close", True, within=5), True) == 1

    def test_text_is_compared_exactly(self):
        assert compare(Expected("close", "today", within=5), "today") == 1

    def test_numbers_beyond_every_float(self):
        assert compare(Expected("close", 0.5, within=1), 10**400) == 0
        assert compare(Expected("close", 0.5, within=1), float("nan")) == 0


class TestText:
    def test_contains_in_any_case(self):
        assert compare(Expected("contains", "Milk"), "buy MILK today") == 1
        assert compare(Expected("contains", "Milk"), "buy bread") == 0
        assert compare(Expected("contains", "None"), None) == 0

    @each(
        ("actual", "value"), [(("a", "b"), 1), (("b", "a"), 1), (("a",), 0), (("a", "b", "c"), 0), (None, 0), ("ab", 0)]
    )
    def test_set(self, actual: Any, value: int):
        assert compare(Expected("set", ("a", "b")), actual) == value

    def test_one_of(self):
        choice = Expected("one_of", ("celsius", "Celsius", None))
        assert [compare(choice, value) for value in ("Celsius", "C", None)] == [1, 0, 1]

    def test_rouge_is_its_f1(self):
        assert compare(Expected("rouge", "buy milk today"), "buy bread today") == rouge_l(
            "buy milk today", "buy bread today"
        )

    def test_equal_texts_resemble_each_other_even_without_a_latin_letter(self):
        assert compare(Expected("rouge", "牛奶"), " 牛奶 ") == 1
        assert compare(Expected("rouge", "牛奶"), "面包") == 0

    def test_rouge_of_something_that_is_no_text(self):
        assert compare(Expected("rouge", None), None) == 1
        assert compare(Expected("rouge", "milk"), None) == 0

    def test_any(self):
        assert compare(Expected("any"), None) == 1


class TestDefaults:
    @each(
        ("name", "measure", "within"),
        [
            ("content", "rouge", None),
            ("relationship", "rouge", None),
            ("reminder_timestamp", "close", 1.0),
            ("creation_timestamp", "close", 1.0),
            ("timestamp_0", "close", 1.0),
            ("reminder_timestamp_lowerbound", "close", 1.0),
            ("latitude", "close", 0.001),
            ("longitude_1", "close", 0.001),
            ("name", "exact", None),
            ("latitudes", "exact", None),
        ],
    )
    def test_by_name(self, name: str, measure: str, within: float | None):
        assert (default_of(name).measure, default_of(name).within) == (measure, within)

    def test_a_stated_measure_wins(self):
        assert compare(Expected("exact", "buy milk"), "buy the milk", "content") == 0

    def test_a_stated_tolerance_wins(self):
        assert compare(Expected("close", 10.0, within=60), 50.0, "reminder_timestamp") == 1

    def test_a_default_tolerance_applies_to_values_from_elsewhere(self):
        wanted = Expected(ref=ValueRef("m"))
        assert compare(wanted, 100.5, "reminder_timestamp", giving(100.0)) == 1
        assert compare(wanted, 102.0, "reminder_timestamp", giving(100.0)) == 0

    def test_fuzzy_are_those_that_can_be_partly_right(self):
        assert is_fuzzy(Expected(value="x"), "content")
        assert is_fuzzy(Expected("facts", ()), "name")
        assert not is_fuzzy(Expected("exact", "x"), "content")


class TestValuesFromElsewhere:
    def test_the_best_of_several_forms(self):
        assert compare(Expected("contains", ref=ValueRef("m")), "about 21.5 degrees", lookup=giving("21", "21.5")) == 1

    def test_nothing_found_is_nothing_met(self):
        assert compare(Expected(ref=ValueRef("m")), None) == 0

    def test_all_of_them_are_named(self):
        ref, other = ValueRef("a"), ValueRef("b")
        assert referred(Expected(ref=ref, values={"x": other})) == (ref, other)

    @each(
        ("path", "to", "source", "found"),
        [
            ((), "raw", 7, (7,)),
            ((0, "id"), "raw", [{"id": "p1"}], ("p1",)),
            (("n",), "int", {"n": "12"}, (12,)),
            (("n",), "int", {"n": -2.7}, (-2,)),
            (("n",), "float", {"n": "2.5"}, (2.5,)),
            (("n",), "text", {"n": 2.5}, ("2.5",)),
            (("n",), "raw", {"n": None}, (None,)),
            (("n",), "int", {"n": "2.5"}, ()),
            (("n",), "float", {"n": None}, ()),
            (("n",), "raw", {}, ()),
            ((5,), "raw", [1], ()),
            (("a", "b"), "raw", {"a": 1}, ()),
            ((), "int", float("inf"), ()),
        ],
    )
    def test_taking(self, path: tuple[str | int, ...], to: Any, source: Any, found: tuple[Any, ...]):
        assert taken(ValueRef("m", path=path, to=to), source) == found

    def test_written_forms_of_a_number(self):
        assert taken(ValueRef("m", decimals=(0, 1, 3)), 21.25) == ("21", "21.2", "21.250")
        assert taken(ValueRef("m", decimals=(0, 1)), "21") == ("21", "21.0")
        assert taken(ValueRef("m", decimals=(1,)), "warm") == ()


class TestFacts:
    off = Expected("facts", (("wifi", "wi-fi"), ("off", "disabled")), avoid=("still on", "not off"))

    def test_all(self):
        assert compare(self.off, "I disabled the Wi-Fi.") == 1

    def test_a_share(self):
        assert compare(self.off, "The wifi, as you asked.") == 0.5

    def test_what_must_be_avoided_is_worth_more(self):
        assert compare(self.off, "The wifi is not off, it is still on.") == 0

    def test_only_something_to_avoid(self):
        calm = Expected("facts", (), avoid=("sorry",))
        assert [compare(calm, text) for text in ("Done.", "Sorry!")] == [1, 0]

    def test_no_text_states_nothing(self):
        assert compare(self.off, None) == 0

    def test_placeholders(self):
        warm = Expected("facts", (("{t} degrees", "{t}°C"),), values={"t": ValueRef("m")})
        assert compare(warm, "It is 21.5 °C", lookup=giving("21", "21.5")) == 1
        assert compare(warm, "It is 25 °C", lookup=giving("21", "21.5")) == 0
        assert compare(warm, "It is {t} degrees") == 0

    def test_braces_that_name_no_value_stay(self):
        assert list(forms("{a} {b}", {"a": ValueRef("m")}, giving(1))) == ["1 {b}"]

    def test_what_is_missing_and_what_is_wrong(self):
        assert missing(self.off, "wifi", nothing) == [("off", "disabled")]
        assert avoided(self.off, "it is still on and not off", nothing) == ["still on", "not off"]

    @each(("value", "text"), [(True, "true"), (2.0, "2.0"), (None, "None")])
    def test_values_in_a_sentence(self, value: Any, text: str):
        assert written(value) == text

    def test_a_number_too_long_to_write(self):
        assert written(10**5000) == ""

    def test_nothing_in_a_text_is_ever_evaluated(self):
        evil = Expected("facts", (("{t.__class__}", "{0}"),), values={"t": ValueRef("m")})
        assert compare(evil, "int", lookup=giving(1)) == 0
