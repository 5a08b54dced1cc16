"""What a message tells of what was done, list numbers, corrections and negated subjects."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from sandbox_grader.claims import Background, hear
from sandbox_scenarios.model import Fact

from tests.each import each

REMINDED = Background(
    given=("Remind me to send the tide tables, at half past five.",),
    known=("Send the tide tables",),
    numbers=frozenset({1775835000.0}),
    deeds=frozenset({"remind", "add"}),
    touched=frozenset({"Send the tide tables to Anneke, she needs 12 copies."}),
    moments=frozenset({(2026, 4, 10, 17, 30)}),
)
DONE = Fact("deed", ("remind",))


def outcome(message: str, fact: Fact, back: Background = REMINDED) -> str:
    return hear(message, [fact], back).findings[0].outcome


@each(
    "message",
    [
        "I'll remind you.",
        "I'll remind you on Friday, 10 April, at half past five.",
        "I've set the reminder for 10 April at 5:30 PM.",
        "The reminder is set for 5:30 on 10 April. It was at 4 before.",
        "I moved the reminder from 9 April to 10 April.",
    ],
)
def test_a_deed_may_be_told_in_few_words_or_many(message: str) -> None:
    assert outcome(message, DONE) == "stated"


@given(st.integers(1, 28).filter(lambda day: day != 10))
def test_no_other_day_may_be_told_of_a_deed(day: int) -> None:
    assert outcome(f"I'll remind you on {day} April.", DONE) == "contrary"
    assert outcome(f"I'll remind you on {day} April or 10 April.", DONE) == "contrary"


def test_what_was_written_may_not_be_denied() -> None:
    assert outcome("I set the reminder that she does not need 12 copies.", DONE) == "contrary"


def test_a_removal_that_nothing_did_is_no_account_of_an_addition() -> None:
    assert outcome("Your reminder is deleted.", DONE) == "contrary"


@each(("way", "told"), [("off", "on"), ("on", "off")])
def test_a_switch_that_went_one_way_does_not_stand_the_other_way(way: str, told: str) -> None:
    back = Background(deeds=frozenset({"change"}), switches={"wifi": way})
    price = Fact("money", (12,), "EUR")
    assert hear(f"It is 12 euros. Wifi is {way} now.", [price], back).findings[0].outcome == "stated"
    assert hear(f"It is 12 euros. Wifi is {told} now.", [price], back).findings[0].outcome == "contrary"


@given(st.integers(2, 400), st.sampled_from(["1. {}", "1) {}", "Here it is:\n1. {}\n2. That is all.", "- {}"]))
def test_the_number_of_a_list_item_is_not_counted(count: int, form: str) -> None:
    assert outcome(form.format(f"{count} patents"), Fact("count", (count,), "patent"), Background()) == "stated"


@each("message", ["3. That is how many patents she has.", "3", "It's 3."])
def test_a_number_that_is_all_there_is_to_a_reply_stays(message: str) -> None:
    assert outcome(message, Fact("number", (3,)), Background()) == "stated"


@given(
    st.integers(2, 90).filter(lambda count: count != 57), st.sampled_from(["dollars", "New Zealand dollars", "euros"])
)
def test_a_number_said_of_money_has_other_amounts_as_rivals(other: int, money: str) -> None:
    fact = Fact("number", (57,))
    assert outcome(f"You get 57 {money}.", fact, Background()) == "stated"
    assert outcome(f"You get 57 {money}. Actually, you get {other} {money}.", fact, Background()) == "contrary"


def test_a_value_that_tools_know_may_correct_what_was_said() -> None:
    knowing = Background(known=("counter 9",), numbers=frozenset({9.0}))
    said = "Your parcel is at counter 6. Actually, your parcel is at counter 9."
    assert outcome(said, Fact("number", (6,)), knowing) == "contrary"


def test_a_count_that_something_is_denied_of_was_not_said_unless_that_was_asked() -> None:
    said, fact = "8 people are not in there.", Fact("count", (8,), "person")
    assert outcome(said, fact, Background(given=("How many people are in there?",))) == "contrary"
    assert outcome(said, fact, Background(given=("How many people are not in there?",))) == "stated"


@each(
    "message",
    [
        "It is definitely not true that: I looked it up. It's 26.1 miles.",
        'He wrote: "It is 26.1 miles." The opposite is true, though.',
        "I'm not sure, but maybe: I looked it up. It's 26.1 miles.",
        "Either the following is true or its opposite, I can't tell: I looked it up. It's 26.1 miles.",
    ],
)
def test_what_is_said_untrue_as_a_whole_is_not_said(message: str) -> None:
    assert outcome(message, Fact("quantity", (26.1,), "mile"), Background()) != "stated"


def test_no_it_is_not_so_is_no_refusal() -> None:
    said = "I can't delete contacts, I have no tool for it."
    assert outcome(said, Fact("cannot", ("delete",)), Background()) == "stated"
    assert outcome(f"{said} No, it isn't so.", Fact("cannot", ("delete",)), Background()) == "contrary"


@given(st.integers(1, 28).filter(lambda day: day != 26))
def test_two_days_of_a_month_are_no_date(day: int) -> None:
    date = Fact("date", ("2026-11-26",))
    assert outcome("It is on November 26.", date, Background()) == "stated"
    assert outcome(f"It is on November 26 or {day}.", date, Background()) == "contrary"
    assert outcome(f"It is on {day} or 26 November.", date, Background()) == "contrary"


def test_the_users_own_measure_is_no_conversion_of_it() -> None:
    asked = Background(given=("It has been on for 384671 seconds. What's that in hours?",))
    fact = Fact("duration", (384671,))
    assert outcome("Done: it has been on for 384671 seconds.", fact, asked) != "stated"
    assert outcome("384671 seconds are 106 hours, 51 minutes and 11 seconds.", fact, asked) == "stated"


@each("behind", ["Would you like to answer?", "Shall I set a reminder?", "Is that all?"])
def test_a_question_behind_a_quotation_asks_nothing_of_what_was_quoted(behind: str) -> None:
    said = f'He wrote: "The boiler is ordered. Allow two weeks." {behind}'
    assert outcome(said, Fact("duration", (1209600,)), Background()) == "stated"


TEXTED = Background(
    given=("Text whoever of Ben and Anna is free tonight that dinner is at eight.",),
    known=("Ben Ortiz", "Anna Kowalska", "Rose Tan"),
    deeds=frozenset({"read", "send"}),
    names=("Ben Ortiz", "Anna Kowalska", "Rose Tan"),
    persons=frozenset({"Ben Ortiz", "Anna Kowalska", "Rose Tan"}),
    touched=frozenset({"Ben Ortiz", "+14155550123", "Dinner is at eight, say hello to Rose."}),
)
SENT = Fact("deed", ("send",))


@each(
    "message",
    [
        "I texted Anna.",
        "I've messaged Anna that dinner is at eight.",
        "I have informed Ben and Anna.",
        "I sent the text to Anna Kowalska: dinner is at eight.",
        "Anna was not my choice at first, but I told Anna.",
    ],
)
def test_who_was_not_told_may_not_be_said_to_have_been(message: str) -> None:
    assert hear(message, [SENT], TEXTED).false


@each(
    "message",
    [
        "I texted Ben.",
        "I texted Ben that Anna is busy.",
        "I've told Ben, as Anna has to work.",
        "I did not tell Anna. I texted Ben.",
        "I texted Anna's brother Ben.",
        "I told Rose and Ben that dinner is at eight.",  # whom the text names may well hear of it
        "I texted Ben. Should I have told Anna?",
        "I would have texted Anna, but she is busy. I texted Ben.",
        "I found Anna, and told Ben.",
    ],
)
def test_whoever_else_is_spoken_of_was_not_told(message: str) -> None:
    assert hear(message, [SENT], TEXTED).right


def test_where_deeds_were_about_nobody_whom_the_world_knows_anybody_may_have_been_told() -> None:
    back = replace(TEXTED, touched=frozenset({"+14155550199", "Dinner is at eight."}))
    assert hear("I texted Anna.", [SENT], back).right
