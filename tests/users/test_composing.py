"""What the scripted user says is what a person would say: composed of what was asked, offered and told."""

from dataclasses import replace
from datetime import date

import anyio
from sandbox_scenarios.model import Answer, Clock, PlannedAct, Script, UserSpec

from sandbox_mcp.play.users import Line, ScriptedUser, UserAct, UserTurn
from sandbox_mcp.play.users.composing import ENOUGH, GOODBYES, REGRETS, THANKS
from sandbox_mcp.play.users.days import known_today, meant, spoken
from sandbox_mcp.play.users.own_acts import once, with_results
from sandbox_mcp.play.users.scripted import PITY, WAITING
from tests.each import each

TODAY = date(2027, 3, 15)
SCRIPT = Script(
    answers=(
        Answer(("number", "phone"), "Her number is 0491 570 737."),
        Answer(("which", "who", "name"), "Ilse, the one next door."),
        Answer(("battery",), "You can switch low battery mode off, I'm at home."),
        Answer(("jingle", "music"), "Then leave that out, and do the rest."),
    ),
)
WISH = "Text Ilse that the parcel is here, and play a jingle."


def hears(*texts: str, wish: str = WISH, script: Script = SCRIPT, calls: int = 0, met: bool = False) -> str | None:
    user = ScriptedUser(script, wish, today=TODAY)
    lines = [Line("agent", text, calls, met) for text in texts]
    return anyio.run(user.respond, [Line("user", wish), *lines]).says


def then(*wishes: str) -> Script:
    return replace(SCRIPT, then=wishes)


# an offer of what it wants next


@each(
    ("offer", "wish"),
    [
        ("It's due on Friday. Shall I put a reminder in for that?", "Good. Remind me on Thursday evening."),
        (
            "They close at six. Would you like me to send them a message?",
            "Send them a message that we'll come at five.",
        ),
        ("You're free at noon. Want me to add an event?", "Add an event at noon, lunch with Wren."),
    ],
)
def test_an_offer_of_its_next_wish_is_taken(offer: str, wish: str) -> None:
    assert hears(offer, script=then(wish), calls=1) == f"Yes, please. {wish}"


@each(
    ("offer", "wish"),
    [
        ("It's due on Friday. A text to your landlord, or anything else?", "Then put it on my list."),
        ("They close at six. A taxi there, perhaps, or anything else?", "Then write to them that we'll be late."),
    ],
)
def test_an_offer_that_may_be_another_gets_its_next_wish_without_a_no(offer: str, wish: str) -> None:
    assert hears(offer, wish="Until when is that?", script=then(wish), calls=1) == wish


@each(
    ("wish", "text"),
    [
        ("Renew my card, and keep the book for me.", "Your card is renewed. The book is yours until the end of May."),
        (WISH, "Sent to Ilse. Your other chats are as they were."),
        ("Wake me at seven.", "The alarm is set for seven. If you meant the evening, say so."),
    ],
)
def test_where_nothing_was_offered_it_declines_nothing(wish: str, text: str) -> None:
    assert hears(text, wish=wish, calls=1, met=True) is None
    assert hears(text, wish=wish, script=then("And tell Wren the same."), calls=1) == "And tell Wren the same."


def test_a_refusal_is_not_thanked() -> None:
    assert hears("Texts are beyond me. Shall I look up her address for you?") == SCRIPT.decline


def test_as_things_are_they_may_stay() -> None:
    assert hears("Wifi is on. Shall I leave it as it is?", wish="Is my wifi on?", calls=1, met=True) == "Yes, please."


# nothing that was just said


def test_asked_for_leave_it_does_not_say_again_what_the_agent_has_stated() -> None:
    text = "I'll text Ilse at 0491 570 737 that the parcel is here. Shall I send it to this number?"
    assert hears(text) == "Yes, please."


def test_leave_in_the_words_of_its_script_is_a_yes() -> None:
    text = "Low battery mode keeps the text from going out. May I switch low battery mode off?"
    assert hears(text) == "You can switch low battery mode off, I'm at home."


def test_what_it_has_said_before_it_does_not_add_to_what_is_asked_now() -> None:
    assert hears("Who is it for?", "And her phone number? I have the name.") == "Her number is 0491 570 737."


def test_a_wish_that_came_true_is_not_said_again() -> None:
    script = Script(
        (Answer(("code",), "It reads 4711."),),
        then=("The code is here, 4711. Let me in with it.", "Thanks. What's new?"),
    )
    said = hears(
        "Which code did you get?",
        "You are in, with code 4711.",
        wish="Send me a code.",
        script=script,
        calls=1,
        met=True,
    )
    assert said == "Thanks. What's new?"


# a part that cannot be done, and what a deed has cost


@each(
    "text",
    [
        "I've no way to play a jingle, but I could text Ilse. Shall I?",
        "A jingle can't be played from here. Shall I send Ilse the text alone?",
    ],
)
def test_a_part_that_is_refused_is_heard(text: str) -> None:
    assert hears(text) == "Then leave that out, and do the rest."
    assert (hears(text, script=Script()) or "").startswith((PITY, "Yes"))


def test_what_a_deed_has_cost_is_taken_note_of() -> None:
    text = "Sent. I had to turn cellular on for that, and it is still on."
    assert hears(text, script=then("And text Wren the same."), calls=1) == f"{WAITING} And text Wren the same."


def test_a_goodbye_ends_it() -> None:
    assert hears("Sent. Shall I also ring her?", "Fine. Have a good evening!", calls=1, met=True) is None
    assert hears("Sent. Shall I also ring her?", calls=1, met=True) in ENOUGH


# days


def test_pity_is_said_of_what_is_refused_and_not_of_remarks() -> None:
    wish = "Ask Tessa to bring the key to the review, and order flowers."
    remarks = (
        "Sent to Tessa: she is to bring the key. No answer so far, so the key isn't confirmed. Flowers are ordered."
    )
    refused = "Tessa has been asked to bring the key. Flowers I can't order: there is no tool for that here."
    script = Script(then=("And remind me at six.",))
    assert hears(remarks, wish=wish, script=script, calls=2) == "And remind me at six."
    assert hears(refused, wish=wish, script=script, calls=1) == f"{PITY} And remind me at six."


def test_leave_is_not_given_for_what_is_beyond_the_agent() -> None:
    script = Script(
        answers=(
            Answer(("location service",), "You may switch location service on."),
            Answer(("where", "landmark"), "Somewhere by the lake."),
        )
    )
    text = (
        "Location service is off, and I have no way to turn it on. Name me a landmark near you, or switch location"
        " service on yourself and tell me. Which would you like?"
    )
    assert hears(text, wish="Text Ilse my coordinates.", script=script) == "Somewhere by the lake."


def test_leave_given_before_is_not_given_again_word_for_word() -> None:
    script = Script(answers=(Answer(("wifi",), "Wifi can go on."),))
    user = ScriptedUser(script, "Pin my reminder to the pier.")
    asked = [Line("agent", "Wifi is off. May I turn wifi on?"), Line("agent", "It is off again. May I turn wifi on?")]
    assert anyio.run(user.respond, asked[:1]).says == "Wifi can go on."
    assert anyio.run(user.respond, asked).says == script.confirm


def test_where_it_is_is_not_where_something_else_is() -> None:
    script = Script(
        answers=(
            Answer(("where", "address"), "It's pinned in the reminder."),
            Answer(("where are you", "your position"), "Somewhere in Chicago."),
        )
    )
    asked = "I have no way to read your position. Could you tell me where you are, an address or a landmark?"
    wish = "How far is the tailor's?"
    assert hears(asked, wish=wish, script=script) == "Somewhere in Chicago."
    assert hears(asked, asked, wish=wish, script=script) is None


def test_its_own_reason_is_given_once_for_refusing_less_than_its_wish() -> None:
    script = Script(confirm="No, without the coordinates he won't find me.")
    offer = "I can't read the coordinates. I could text Ilse only that you have hurt your ankle. Would you like that?"
    assert hears(offer, wish="Text Ilse my coordinates.", script=script) == script.confirm


@each(
    ("asked", "says"),
    [
        ("The tent text is from Agnes Holm. Her?", "Yes, please."),
        ("The tent text is from Petra Lund. Her?", "Agnes Holm."),
        ("The tent text is from Petra Lund. Is that the right one?", "Agnes Holm."),
    ],
)
def test_the_one_meant_is_named_where_another_is_asked_about(asked: str, says: str) -> None:
    script = Script(answers=(Answer(("which", "who", "name"), "Agnes Holm."),))
    assert hears(asked, wish="Tell my sister she can have the tent.", script=script) == says


@each(
    ("wish", "asked", "says"),
    [
        ("Book the court for Saturday at ten.", "Which date is that Saturday?", "Saturday, 20 March 2027."),
        ("I see the vet on Tuesday the 6th.", "Tuesday the 6th of what month?", "Tuesday, 6 April 2027."),
        (
            "Remind me tomorrow to water the fig.",
            "I have no calendar. What's today's date?",
            "Today is Monday, 15 March 2027.",
        ),
    ],
)
def test_a_person_knows_the_date(wish: str, asked: str, says: str) -> None:
    assert hears(asked, wish=wish, script=Script()) == says


def test_but_not_if_its_brief_says_otherwise() -> None:
    clock = Clock(now=1805068800.0, zone="Europe/London")
    assert known_today(UserSpec("g", "o"), clock) == date(2027, 3, 15)
    assert known_today(UserSpec("g", "o", does_not_know=("Today's date.",)), clock) is None


@each(
    ("words", "day"),
    [
        ("on Friday", date(2027, 3, 19)),
        ("Monday the 29th", date(2027, 3, 29)),
        ("the 1st", date(2027, 4, 1)),
        ("tomorrow", date(2027, 3, 16)),
        ("some day", None),
    ],
)
def test_the_next_such_day_is_meant(words: str, day: date | None) -> None:
    assert meant(words, TODAY) == day


def test_days_as_people_say_them() -> None:
    assert spoken(date(2027, 3, 6)) == "Saturday, 6 March 2027"


# what strangers' sessions showed


def leaves(text: str, *, calls: int = 0, met: bool = False, wish: str = WISH, then: tuple[str, ...] = ()) -> UserTurn:
    user = ScriptedUser(Script(then=then), wish, today=TODAY)
    return anyio.run(user.respond, [Line("user", wish), Line("agent", text, calls, met)])


@each(
    ("text", "calls", "met", "words"),
    [
        ("Done, it's in your calendar.", 1, True, THANKS),
        ("I'm sorry, I can't do that here.", 0, False, REGRETS),
        ("You're welcome, have a lovely day!", 1, True, GOODBYES),
    ],
)
def test_it_leaves_with_words_that_fit(text: str, calls: int, met: bool, words: tuple[str, ...]) -> None:
    turn = leaves(text, calls=calls, met=met)
    assert turn.ends
    assert turn.parting in words


def test_praise_of_a_question_is_no_answer_to_it() -> None:
    assert leaves("Great question!").says == WAITING


def test_a_question_at_the_end_of_a_report_brings_the_next_wish_and_not_the_one_that_was_served() -> None:
    turn = leaves("The week is filled, five duties in all. Which week is next?", calls=5, then=("Now the last week.",))
    assert turn.says == "Now the last week."


def test_a_password_asked_for_with_a_yes_is_given_with_the_yes() -> None:
    script = Script((Answer(("sure", "certain"), "Yes, I'm sure."), Answer(("password",), "It's shellac.")))
    user = ScriptedUser(script, "Please delete my account.")
    asked = "Deleting it can't be undone. If you're sure, just tell me the account's password and I'll delete it."
    said = anyio.run(user.respond, [Line("user", user.opening), Line("agent", asked, 0)]).says
    assert said
    assert "It's shellac." in said
    assert "Yes" in said


def test_a_deed_that_is_left_to_the_user_gets_no_leave() -> None:
    script = Script((Answer(("location",), "You may switch location service on."),), decline="No, leave it then.")
    user = ScriptedUser(script, "Text Cemal my coordinates.")
    asked = "Shall I text him that you're on the coast, or will you switch location service on?"
    said = anyio.run(user.respond, [Line("user", user.opening), Line("agent", asked, 0)]).says
    assert said
    assert "You may" not in said


@each(
    ("text", "objection"),
    [
        ("Moved to Thursday the 17th.", "Isn't Thursday the 18th?"),
        ("It's on Thursday, March 17, now.", "Isn't Thursday the 18th?"),
        ("Moved to Thursday, 18 March.", None),
        ("Moved to Thursday, 25 March.", None),
    ],
)
def test_a_day_that_cannot_be_right_is_objected_to(text: str, objection: str | None) -> None:
    assert leaves(text, calls=1, met=True, wish="Move the meeting to Thursday.").says == objection


def test_a_day_that_the_next_wish_contradicts_is_objected_to_once() -> None:
    wish, then = "Move Wednesday's exam by a week.", ("Tell Nadja it's on the 24th now.",)
    user = ScriptedUser(Script(then=then), wish, today=TODAY)
    lines = [Line("user", wish), Line("agent", "The exam has moved from 17 March to 23 March.", 1)]
    said = anyio.run(user.respond, lines).says
    assert said == "Shouldn't that be the 24th?"
    lines += [Line("user", said), Line("agent", "Right, it is on 24 March now.", 1)]
    assert anyio.run(user.respond, lines).says == then[0]


def test_a_sentence_that_another_one_holds_is_said_once() -> None:
    assert once("I turned it, the gauge says 1.4 bar. The gauge says 1.4 bar.") == (
        "I turned it, the gauge says 1.4 bar."
    )
    assert once("Yes, please. Yes, please.") == "Yes, please."
    assert once("It is 4. It is 5.") == "It is 4. It is 5."


def test_what_was_looked_at_is_not_looked_at_again_for_something_else_that_may_stand_there() -> None:
    answers = (Answer(("plate",), "{read_plate}"), Answer(("firmware",), "{read_firmware}"))
    does = {item.say: PlannedAct(item.say.strip("{}")) for item in answers}
    user = ScriptedUser(Script(answers, does=does), "My heating is cold.")
    lines = [Line("user", user.opening), Line("agent", "What does the plate say?", 0)]
    assert anyio.run(user.respond, lines).says == "{read_plate}"
    lines += [Line("user", "It says K30."), Line("agent", "Can you see a firmware number on the plate as well?", 0)]
    assert anyio.run(user.respond, lines).says == "{read_firmware}"


# a user who stands at the machine

AT_THE_BOILER = Script(
    answers=(
        Answer(("gauge",), "The gauge says {read_gauge}."),
        Answer(("F2",), "I pressed F2."),
        Answer(("two quarter",), "I turned it by two."),
    ),
    does={
        "The gauge says {read_gauge}.": PlannedAct("read_gauge"),
        "I pressed F2.": PlannedAct("press", {"button": "F2"}),
        "I turned it by two.": PlannedAct("turn_valve", {"quarters": 2}),
    },
)


@each(
    ("instruction", "answer"),
    [
        ("Good, it is unlocked. Now turn the valve by two quarter turns.", "I turned it by two."),
        ("That's it unlocked. Press F2, and tell me once it is done.", "I pressed F2."),
        (
            "Unlocked it is. First press F2, then turn the valve by two quarter turns.",
            "I pressed F2. I turned it by two.",
        ),
        ("If the gauge still says 1.4 bar, turn the valve by two quarter turns.", "The gauge says {read_gauge}."),
        ("Please do not press F2 yet, but read the gauge.", "The gauge says {read_gauge}."),
    ],
)
def test_a_user_at_the_machine_does_what_it_is_told_and_looks_at_a_condition_first(
    instruction: str, answer: str
) -> None:
    assert hears(instruction, wish="Make my heating run again.", script=AT_THE_BOILER) == answer


def test_what_an_act_has_told_is_not_told_again_by_a_look() -> None:
    says = "I turned it by two, the gauge says {turn}. The gauge says {read_gauge}."
    came = [(UserAct("turn", {"quarters": 2}), "1.8 bar"), (UserAct("read_gauge"), "1.8 bar")]
    assert with_results(says, came) == "I turned it by two, the gauge says 1.8 bar."
    assert with_results(says, [came[0], (UserAct("read_gauge"), "1.4 bar")]).endswith("The gauge says 1.4 bar.")


def test_a_password_that_the_wish_has_said_is_said_again_and_another_is_not_known() -> None:
    asked = "Sure. Please tell me the current password and what the new one should be."
    wish = "Time for a new password. It's luff&leech, make it clove-hitch-7."
    assert hears(asked, wish=wish, script=Script()) == wish
    assert hears("What's the password?", wish="Sign me in.", script=Script()) == "I don't know that."


def test_a_number_that_is_not_the_right_one_is_not_confirmed() -> None:
    answers = (Answer(("number",), "Her number is 0491 570 618."),)
    wish = "Save my new neighbour."
    right, wrong = (
        "I have +61 491 570 618. Is that number correct?",
        "I have +1 708 555 0123. Is that number correct?",
    )
    assert hears(right, wish=wish, script=Script(answers)) == "Yes, please."
    assert hears(wrong, wish=wish, script=Script(answers)) == "No. Her number is 0491 570 618."


def test_a_thing_that_is_asked_for_by_its_name_is_told_again_rather_than_another() -> None:
    answers = (Answer(("when", "time"), "Tomorrow at noon."), Answer(("what",), "To ring Grandma."))
    script = Script(answers)
    assert hears("Sure. When?", "At what time exactly?", wish="Set a reminder.", script=script) == "Tomorrow at noon."


def test_a_warning_that_a_deed_is_for_good_is_no_refusal() -> None:
    asked = "Deleting an account cannot be undone. Are you sure you want to go ahead?"
    assert hears(asked, wish="Please delete my account.", script=Script()) == "Yes, please."


def test_who_is_asked_to_say_when_something_has_come_about_promises_it() -> None:
    asked = "I can't hear the timer, so could you tell me when it rings?"
    assert hears(asked, wish="Text Tove once the timer has rung.", script=Script()) == "All right, I will."


def test_another_number_beside_a_question_for_its_own_contradicts_nothing() -> None:
    answers = (Answer(("your", "own", "name", "number"), "I'm Saga, and my number is 070-174 06 05."),)
    asked = "I'm about to text +46 70 174 06 29. I also need your own number to add you as the owner. All right?"
    said = hears(asked, wish="Text my husband that my phone works.", script=Script(answers))
    assert said
    assert not said.startswith("No")
