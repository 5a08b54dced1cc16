"""What a user's wish has already said: asked for it, the user says its wish again instead of knowing nothing."""

import anyio
from sandbox_scenarios.model import Answer, Script

from sandbox_mcp.play.users import Line, ScriptedUser
from sandbox_mcp.play.users.composing import has_said
from tests.each import each

SAID = {
    "a day": ("How warm does it get in Osaka tomorrow?", "For which day?"),
    "a time of day": (
        "Remind me at half past six this evening to feed the cat.",
        "Is that in the morning or in the afternoon?",
    ),
    "a place": ("How warm does it get in Osaka tomorrow?", "For which place?"),
    "a person": ("Text my sister Wren that I'll be late.", "Who should I send it to?"),
    "words to write": ("Text Tomas that the projector is in room four.", "What exactly should the message say?"),
    "what it is about": ("I got a text about a parcel the other day.", "What was the message about?"),
    "a currency": ("How much is 85 euros in US dollars?", "Which currency should I convert to?"),
    "an amount": ("How much is 85 euros in US dollars?", "What is the amount?"),
    "a length": ("Set a timer for four minutes.", "How long should it be?"),
    "a unit to choose": ("How many miles is it to the castle?", "In kilometers or miles?"),
    "one of a kind": ("Drop the reminder about the permit.", "Which reminder do you mean?"),
    "a new name": ("Please rename the hockey coach to Coach Power.", "What should I change it to?"),
}
NOT_SAID = {
    "a day that the wish leaves open": (
        "Remind me to send Anneke the tide tables.",
        "When would you like to be reminded?",
    ),
    "a place that the wish leaves open": ("How cold will it get?", "For which place?"),
    "a phone number": ("Text my sister Wren that I'll be late.", "What is Wren's phone number?"),
    "a surname": ("Text my sister Wren that I'll be late.", "What is Wren's last name?"),
    "what the clock says": ("Remind me tomorrow to call the bank.", "What time is it now?"),
    "today's date": ("Remind me tomorrow to call the bank.", "What is today's date?"),
    "where the user stands": ("Remind me tomorrow in Osaka.", "Where are you right now?"),
    "something else altogether": ("Text my sister Wren that I'll be late.", "What is your shoe size?"),
    "anything, of no wish": ("", "When?"),
}


@each(("wish", "question"), SAID.values(), ids=SAID)
def test_a_wish_that_has_said_it(wish: str, question: str) -> None:
    assert has_said(wish, question.casefold())


@each(("wish", "question"), NOT_SAID.values(), ids=NOT_SAID)
def test_a_wish_that_has_not(wish: str, question: str) -> None:
    assert not has_said(wish, question.casefold())


WISH = "Remind me tomorrow at noon to ring Grandma."


def says(*lines: str, script: Script | None = None) -> str | None:
    user = ScriptedUser(script or Script(unknown="No idea."), WISH)
    return anyio.run(user.respond, [Line("agent", text) for text in lines]).says


def test_asked_for_what_it_has_said_the_user_says_it_again() -> None:
    assert says("What time should I set it for?") == WISH


def test_but_not_twice() -> None:
    assert says("What time should I set it for?", "In the morning or in the afternoon?") == "No idea."


def test_what_its_script_answers_comes_first() -> None:
    script = Script(answers=(Answer(("time",), "At twelve."),))
    assert says("What time should I set it for?", script=script) == "At twelve."


def test_its_patience_is_not_longer_for_it() -> None:
    assert says("What time?", "What is your shoe size?", "What is your blood type?") is None


NOW = {
    "today's date": ("What is today's date?", "I'd have to look."),
    "the day, in other words": ("What day is it today?", "I'd have to look."),
    "the time": ("What time is it now?", "No idea."),
    "the time zone": ("Which time zone are you in?", "No idea."),
    "both at once": ("What is today's date, and what time shall I set?", "I'd have to look. At twelve."),
    "the time of the wish": ("What time shall I set?", "At twelve."),
}


@each(("question", "answer"), NOW.values(), ids=NOW)
def test_a_question_about_now_is_not_answered_with_the_time_of_the_wish(question: str, answer: str) -> None:
    about = (Answer(("today", "today's date"), "I'd have to look."), Answer(("time", "day", "what"), "At twelve."))
    assert says(question, script=Script(answers=about, unknown="No idea.")) == answer
