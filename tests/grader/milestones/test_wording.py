"""What counts as the same words, and what does not."""

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.milestones.measures import says, tokens

from tests.each import each


@each(
    ("text", "wording"),
    [
        ("Wifi is OFF now", "off"),
        ("Your  Wi‑Fi\nis off", "wi-fi is"),
        ("I couldn’t do it", "couldn't"),
        ("The wifi's off.", "wifi"),
        ("'wifi' is off", "wifi"),
        ("It costs 1,200 dollars", "1200"),
        ("It costs 1200.50", "1,200.5"),
        ("at 07:05", "7:05"),
        ("at 5:30pm", "5:30 PM"),
        ("It is −5 °C", "-5"),
        ("between 3-5 days", "5"),
        ("on 2024-03-05", "2024-3-5"),
        ("Paid $5.", "5"),
        ("Paid $5.", "$5"),
        ("无线网络已关闭", "关闭"),
        ("Ｗｉｆｉ ｏｆｆ", "wifi off"),
        ("STRASSE", "straße"),
        ("San Francisco, CA", "san francisco ca"),
        ("yes", "yes"),
    ],
)
def test_is_said(text: str, wording: str):
    assert says(text, wording)


@each(
    ("text", "wording"),
    [
        ("You are offline", "off"),
        ("It is 15 degrees", "5"),
        ("It is 5 degrees", "-5"),
        ("It is 2.5 degrees", "5"),
        ("It is 12,34 and", "1234"),
        ("+15551234567", "1555"),
        ("wi-fi", "wifi"),
        ("off is wifi", "wifi is off"),
        ("it is on", ""),
        ("it is on", "!?"),
        ("", "on"),
    ],
)
def test_is_not_said(text: str, wording: str):
    assert not says(text, wording)


def test_numbers_take_one_form_without_rounding():
    assert tokens("0012.500 and 1,000,000 and 0.10 and 000") == ("12.5", "and", "1000000", "and", "0.1", "and", "0")
    assert tokens("123456789012345678901234567890.0") == ("123456789012345678901234567890",)


def test_minus_zero_is_zero():
    assert tokens("-0.0") == ("0",)


@given(st.text(), st.text())
def test_any_text_can_be_read(text: str, wording: str):
    assert says(text, wording) in (True, False)


@given(st.integers(-(10**12), 10**12))
def test_a_number_is_found_however_its_thousands_are_written(number: int):
    assert says(f"The answer is {number:,}.", str(number))


@given(st.lists(st.sampled_from(["wifi", "off", "7", "it's", "on"]), min_size=1, max_size=4))
def test_a_text_says_itself(words: list[str]):
    assert says(" ".join(words), " ".join(words))
