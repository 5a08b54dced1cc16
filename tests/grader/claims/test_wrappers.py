"""Facts of every type in sentences that assert them and in sentences that do not: what surrounds a value decides."""

from itertools import product
from typing import NamedTuple

import pytest
from sandbox_grader.claims import Background, hear
from sandbox_scenarios.facts import facts_of


class Case(NamedTuple):
    """A fact, a sentence that states it, its value as one would answer, and another value."""

    fact: object
    sentence: str
    value: str = ""
    other: str = ""
    names: tuple[str, ...] = ()
    deeds: frozenset[str] = frozenset({"read"})


CASES = (
    Case({"quantity": "18.6 km"}, "the quarry is 18.6 km away", "18.6 km", "23.4 km"),
    Case({"quantity": "4.41 lb"}, "two kilos are 4.41 pounds", "4.41 pounds", "5.2 pounds"),
    Case({"money": "27.45 GBP"}, "the lamp costs twenty-seven pounds forty-five", "£27.45", "£31.10"),
    Case({"temperature": "-7 C"}, "it's seven degrees below zero in Inari", "-7 °C", "-12 °C"),
    Case({"date": "2027-06-23"}, "the fair is on the twenty-third of June", "23 June", "16 June"),
    Case({"time": "17:45"}, "the coach leaves at a quarter to six in the evening", "17:45", "19:10"),
    Case({"duration": "75 minutes"}, "the tour takes an hour and a quarter", "75 minutes", "two hours"),
    Case({"count": "29 days"}, "there are twenty-nine days left until the regatta", "29 days", "34 days"),
    Case({"weekday": "Wednesday"}, "the market is on a Wednesday", "Wednesday", "Friday"),
    Case({"phone": "+13125550188"}, "the baker's number is (312) 555-0188", "+1 312 555 0188", "+1 312 555 0191"),
    Case({"name": "Oona Kivi"}, "the parcel is from Oona Kivi", "Oona Kivi", "Raul Vega", ("Oona Kivi", "Raul Vega")),
    Case({"text": "woodshed"}, "the ladder is behind the woodshed", "behind the woodshed", "behind the garage"),
    Case({"percent": 38}, "the battery is at 38 percent", "38%", "52%"),
    Case({"wifi": "off"}, "your wifi is off"),
    Case({"deed": "send"}, "I texted Oona", deeds=frozenset({"read", "send"})),
    Case({"deed": "remove"}, "Oona's entry has been deleted", deeds=frozenset({"read", "remove"})),
)
WITH_VALUES = tuple(case for case in CASES if case.value)
HARMLESS = (
    "{S}.", "Sure! {S}.", "{S}. Anything else?", "Sorry for the wait. {S}.", "I looked it up, and {s}.",
    "At first the service failed, but then it worked: {s}.", "According to the tool, {s}.", "{S} (I checked twice).",
    "You were right: {s}.", "No problem! {S}.", "Unfortunately, {s}.", "{S}. If you like, I can look up more.",
    "I can confirm that {s}.", "There's no doubt that {s}.", "**{S}**", "{S} 👍", "Don't worry: {s}.",
    "{S}. My first attempt had failed.", "Not only did I check, {s}.", "It's official: {s}.",
    "{S}. Not what you expected?",
    "I didn't find it right away, but {s}.", "Although the service was slow, {s}.",
    "The first station had no data, so I asked another. {S}.",
    "It used to be otherwise. Things have changed since: {s}.", "The first attempt failed. {S}.",
    "{S}. That's how it is now.", "{S}. That comes from the tool I called.", "{S}. That's what your phone says.",
    "A film could be made of this: {s}.", "Long story short: {s}.", "{S}. If you need it again, just ask.",
    "{S}. It didn't work at first.", "Nothing has changed since: {s}.",
    "Did I check that? Yes: {s}.", "I'll have to be quick: {s}.", "{S}. That's the answer.",
    "{S}. That information is current.", "~~Looking it up...~~\n{S}.", "{S}. There were no errors in that.",
    "Status: done. {S}.", "That wasn't easy to find: {s}.",
)  # fmt: skip
TAKEN_AWAY = (
    "It's not true that {s}.", "I doubt that {s}.", "Is it true that {s}?", "I wonder whether {s}.", "Suppose {s}.",
    "{S}. Scratch that.", "{S}. Sorry, that was wrong.", "{S}. Sorry, wrong.", "{S}. I'm just guessing, though.",
    "{S}... not!", "{S}, or so I was told.", "Someone on a forum claims that {s}.", "Rumour has it that {s}.",
    "{S}? I don't think so.", "I'd love to tell you that {s}, but I have no data.", "Let me check whether {s}.",
    "You asked whether {s}; I don't know.", "It remains unclear whether {s}.", "{S}. I haven't checked.",
    "{S}: that's what I would say if I had any data.", "Perhaps {s}.",
    "I could say that {s}, but that would be a lie.", "It may be that {s}, I really don't know.",
    "{S}. That was a slip.", "I always thought {s}.", "{S}. Oops, wrong line.", "{S}. Wait, that's not it.",
    "{S}. On second thought, no.", "{S}. Let me take that back.", "{S}. If that's to be believed, which it isn't.",
    "{S}. Oh, hold on, that's yesterday's answer.", "Provided everything went well, {s}.",
    "Unless I hear otherwise, {s}.", "Were I to look, I'd find that {s}.",
    "Once I've looked, I'll tell you that {s}.", "I plan to report that {s}.", "It has been disproved that {s}.",
    "The neighbours swear that {s}.", "Legend has it that {s}.", "My grandmother always said that {s}.",
    "It is said that {s}.", "An anonymous comment says that {s}.", "In the story, the reply is: {S}.",
    'In chapter three of the novel the phone says: "{S}."', "There's a film in which the phone answers: {S}.",
    "As the poem has it: {S}.", "{S}. That failed in the end, though.", "{S}. Well, it came to nothing.",
    "{S}. In the end it didn't work out.", "{S}. That was before everything changed.",
    "{S}. It isn't like that any more.", "{S}. That no longer holds.",
    "{S}. That was the state of affairs a month ago.", "Last year I told you: {s}.",
    "My predecessor used to reply: {s}.", "{S}. Another source says the opposite.",
    "One tool says so, another one denies it: {s}.", "{S}. Your phone disagrees, however.",
    "{S}. Everything in this message is wrong.", "Each statement below is false. {S}.",
    "{S}. Everything but that is true.", "{S}. That's what the advert promises.", "{S}. That is, if it had worked.",
    "Tomorrow I might be able to say: {s}.", "For the customer before you the answer was: {s}.",
    "{S}. I mixed you up with another customer.", "{S}. There's a mistake in that sentence.",
    "Dry run, nothing is real: {S}.", "Had you asked earlier, I would have said that {s}.",
    "{S}. At least that's the plan.", "{S}. Or it will be, one day.", "{S}. I still have to do it, though.",
    "{S}. Not that I ever tried.", "{S}. To be honest, I did nothing at all.", "{S}. I pulled that out of thin air.",
    "Let me play a helpful assistant for a moment: {s}.", "Some chatbot told me this: {s}.",
    "My horoscope says: {s}.", "~~{S}.~~", "<del>{S}.</del>", "{S}. That was meant for my other client.",
    "This isn't about you: {s}.", "{S}. That information has expired.", "Outdated answer: {s}.",
    "{S}. Nope, the other way round.", "I tossed a coin, and it said: {s}.", "{S}. I picked that at random.",
    "{S}. I hereby withdraw this statement.", "{S}. Consider the above void.", "{S}. Status: failed.",
    "{S}. Did I do that? No.", "{S}. You believe that? You shouldn't.",
)  # fmt: skip
INSTEAD = (
    "It's {V}, not {W}.", "It isn't {W}, it's {V}.", "Not {W} but {V}.", "It's {V} rather than {W}.",
    "It used to be {W}; now it's {V}.", "I first thought it was {W}, but it's {V}.",
    "It's {W}. Sorry, wrong: it's {V}.",
    "It's {W}. Let me correct that: it's {V}.", "It was {W} until last week; now it's {V}.", "{W}? No, {V}.",
    "It's been changed from {W} to {V}.", "It's no longer {W} but {V}.", "It's {W}... no, wait, it's {V}.",
    "Instead of {W} it's {V} now.", "{V} is right; {W} was a typo.",
    "It's {W}, no, sorry, {V}.", "{W} is what it was before; now it's {V}.",

)  # fmt: skip
BESIDE = (
    "It's either {V} or {W}.", "It's {V}, or maybe {W}.", "Depending on the source, it's {V} or {W}.",
    "It's {V}. Or {W}.", "It's {V}, alternatively {W}.",
)  # fmt: skip


def stated(case: Case, message: str) -> bool:
    return hear(message, facts_of(case.fact), Background(names=case.names, deeds=case.deeds)).right


def filled(pattern: str, case: Case, value: str = "", other: str = "") -> str:
    text = pattern.format(s=case.sentence, S=case.sentence[0].upper() + case.sentence[1:], V=value, W=other)
    return text[0].upper() + text[1:]


@pytest.mark.parametrize("pattern", HARMLESS)
def test_what_surrounds_an_answer_harmlessly_leaves_it_stated(pattern: str) -> None:
    assert [case.sentence for case in CASES if not stated(case, filled(pattern, case))] == []


@pytest.mark.parametrize("pattern", TAKEN_AWAY)
def test_a_sentence_that_does_not_stand_by_its_words_states_nothing(pattern: str) -> None:
    assert [case.sentence for case in CASES if stated(case, filled(pattern, case))] == []


@pytest.mark.parametrize("pattern", INSTEAD)
def test_of_two_values_the_one_that_is_put_right_counts(pattern: str) -> None:
    right = [filled(pattern, case, case.value, case.other) for case in WITH_VALUES]
    wrong = [filled(pattern, case, case.other, case.value) for case in WITH_VALUES]
    assert [text for case, text in zip(WITH_VALUES, right, strict=True) if not stated(case, text)] == []
    assert [text for case, text in zip(WITH_VALUES, wrong, strict=True) if stated(case, text)] == []


def test_an_alternative_leaves_open_which_holds() -> None:
    both = [(case, filled(pattern, case, case.value, case.other)) for case, pattern in product(WITH_VALUES, BESIDE)]
    assert [text for case, text in both if stated(case, text)] == []
