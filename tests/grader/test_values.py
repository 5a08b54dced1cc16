"""When two JSON values are the same for a grader."""

from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.grading.values import FREE_TEXT, form_of, same_set, same_value, says_nothing

from tests.each import each
from tests.laws import at_least

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)


@each(
    ("first", "second"),
    [
        (1, 1.0),
        ({"a": 1, "b": None}, {"a": 1}),
        ({}, {"b": None}),
        ([{"a": None}], [{}]),
        ((1, 2), [1, 2]),
        (None, None),
    ],
)
def test_the_same(first, second):
    assert same_value(first, second)


@each(
    ("first", "second"), [(True, 1), (0, False), ("1", 1), ([1, 2], [2, 1]), ({"a": 1}, {"a": 2}), (None, ""), ([], {})]
)
def test_not_the_same(first, second):
    assert not same_value(first, second)


@each(
    ("first", "second", "same"),
    [
        (["a", "b"], ["b", "a"], True),
        (["a", "a"], ["a"], True),
        (["a"], ["a", "b"], False),
        (["a", "b"], ["a"], False),
        ("a", "a", True),
        ("a", ["a"], False),
        ([1], [True], False),
    ],
)
def test_sets_ignore_order_and_repetition(first, second, same):
    assert same_set(first, second) is same


@each("value", [None, "", [], {}, {"events": []}, {"a": None, "b": {"c": ""}}])
def test_values_that_say_nothing(value):
    assert says_nothing(value)


@each("value", [0, False, "a", [0], [None], {"n": 0}, {"events": [{}]}])
def test_values_that_say_something(value):
    assert not says_nothing(value)


def test_names_of_people_and_things_are_no_free_text():
    assert not FREE_TEXT & {"name", "phone_number", "id", "to", "receiver", "location"}


@settings(deadline=None)
@given(json_values)
def test_every_value_is_the_same_as_itself(value):
    assert same_value(value, value)


@settings(deadline=None)
@given(json_values, json_values)
def test_sameness_is_symmetric(first, second):
    assert same_value(first, second) == same_value(second, first)


@settings(deadline=None)
@given(st.lists(json_values, max_size=4), st.randoms(use_true_random=False))
def test_a_shuffled_list_is_the_same_set(values, random):
    shuffled = values[:]
    random.shuffle(shuffled)
    assert same_set(values, shuffled)


@settings(max_examples=at_least(80), deadline=None)
@given(first=json_values, second=json_values)
def test_values_have_one_form_exactly_if_they_are_the_same(first, second):
    assert (form_of(first) == form_of(second)) is same_value(first, second)
