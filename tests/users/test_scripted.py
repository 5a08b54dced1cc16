"""The scripted user: what it answers, what it agrees to, what it keeps to itself, and when it leaves."""

from dataclasses import replace

import anyio
from sandbox_scenarios.model import Answer, PlannedAct, Script, UserSpec

from sandbox_mcp.play.users import Line, ScriptedUser, UserTurn
from sandbox_mcp.play.users.composing import ENOUGH, place_known
from sandbox_mcp.play.users.scripted import PUZZLED, WAITING
from tests.each import each

OPENING = "Text my sister that I'll be late."
SCRIPT = Script(
    answers=(
        Answer(("which sister", "who", "name"), "Her name is Wren."),
        Answer(("number", "phone"), "Her number ends in 113."),
    ),
    then=("And now send it to Tomas as well.",),
    confirm="Yes, do that.",
    unknown="No idea, sorry.",
)
LAST = replace(SCRIPT, then=())


def says(*lines: str, script: Script = SCRIPT) -> str | None:
    return anyio.run(ScriptedUser(script, OPENING).respond, [Line("agent", text) for text in lines]).says


def hears(text: str, calls: int = 0, *, met: bool = False, user: ScriptedUser | None = None) -> UserTurn:
    user = user or ScriptedUser(LAST, OPENING)
    return anyio.run(user.respond, [Line("user", OPENING), Line("agent", text, calls, met)])


# asked for something


def test_it_answers_what_it_is_asked() -> None:
    assert says("What is your sister's name?") == "Her name is Wren."


@each(
    "text",
    [
        "Who is it, and what is the phone number?",
        "To do this I need two things:\n- her **name**\n- her **phone number**",
        "Could you tell me who she is? Her phone number I need as well.",
    ],
)
def test_several_questions_get_several_answers(text: str) -> None:
    assert says(text) == "Her name is Wren. Her number ends in 113."


def test_it_does_not_say_what_it_was_not_asked() -> None:
    assert "113" not in (says("Could you tell me the name of your sister?") or "")


@each(
    "text",
    [
        "To do this I need her phone number.",
        "I'll need a bit more information: what's the number?",
        "Let me know the phone number and I'll send it right away.",
        "Once you give me the number, I'll text her.",
        "Please provide the number.",
    ],
)
def test_requests_without_a_question_are_answered(text: str) -> None:
    assert says(text) == "Her number ends in 113."


def test_what_it_does_not_know_it_says_so() -> None:
    assert says("What is your blood type?") == "No idea, sorry."


def test_its_patience_ends() -> None:
    assert says("What is your blood type?", "What is your shoe size?", "What is your star sign?") is None


def test_a_question_it_can_answer_restores_its_patience() -> None:
    assert says("Your blood type?", "Your eyes?", "What is her name?", "Your shoe size?") == "No idea, sorry."


@each(
    "text",
    ["What would you like me to do?", "How can I help you today?", "I'm sorry, I didn't get that. Could you rephrase?"],
)
def test_asked_what_it_wants_at_all_it_says_its_wish_again(text: str) -> None:
    assert hears(text).says == OPENING


@each(
    "text",
    ["When?", "Do you mean this Monday or the one after?", "Which Fredrik?", "At what time should I remind you?"],
)
def test_what_cannot_be_answered_with_yes_never_is(text: str) -> None:
    assert hears(text).says == "No idea, sorry."


# asked for leave


@each(
    "text",
    [
        "I would send 'See you at seven'. Shall I go ahead?",
        "Let me know if I should go ahead.",
        "Once you confirm, I'll send the message.",
        "Please confirm if you'd like me to proceed.",
        'Reply "yes" to confirm.',
        "Cellular service is off. Do you want me to turn it on?",
        "I couldn't send it because cellular service is off. Shall I switch it on and try again?",
        "Shall I create it for seven? I could also look up a florist.",
        "Shall I send it, or hold off for now?",
        '"Shall I send it?"',
    ],
)
def test_leave_for_what_serves_its_wish_is_given(text: str) -> None:
    assert (says(text) or "").startswith("Yes, do that.")


def test_asked_for_leave_again_it_does_not_repeat_its_answers() -> None:
    assert says("What is the name?", "Shall I use the name Wren?") == "Yes, do that."


def test_its_script_refuses_leave() -> None:
    script = replace(LAST, answers=(Answer(("battery",), "No, low battery mode has to stay on."),))
    assert says("May I turn off low battery mode?", script=script) == "No, low battery mode has to stay on."


def test_its_brief_refuses_leave() -> None:
    user = ScriptedUser(LAST, OPENING, wants_not=("Low battery mode switched off.",))
    assert hears("May I switch off low battery mode?", 1, user=user).says == LAST.decline


def test_a_users_brief_makes_its_scripted_user() -> None:
    spec = UserSpec("You want it.", OPENING, script=SCRIPT)
    assert ScriptedUser.of(spec).opening == OPENING


# offered more


@each(
    "text",
    [
        "The message is sent. Would you like me to set a reminder for that?",
        "I've texted Wren. Shall I also call her?",
        "Sent! I can add her to your favourites too, if you like.",
    ],
)
def test_what_goes_beyond_its_wish_is_declined(text: str) -> None:
    assert says(text, script=LAST) in ENOUGH


def test_it_declines_and_goes_on_to_what_it_still_wants() -> None:
    assert says("Sent. Shall I switch cellular off again?") == "No thanks. And now send it to Tomas as well."


def test_after_declining_it_leaves_unless_it_is_asked() -> None:
    assert says("Sent. Shall I also call her?", "All right, have a nice day!", script=LAST) is None


def test_a_wish_that_is_met_turns_leave_into_an_offer() -> None:
    assert hears("Should I switch it on?", 1, met=True).says in ENOUGH


@each(
    "offer",
    [
        "The message is sent. Is there anything else I can help you with?",
        "The message is sent. Let me know if you need anything else!",
        "The message is sent. How else can I assist you?",
        "The message is sent. If you have further questions, just ask.",
    ],
)
def test_an_offer_of_more_help_is_no_question(offer: str) -> None:
    assert says(offer) == "And now send it to Tomas as well."


# promised, delivered, refused


@each(
    "text",
    [
        "Sure! Let me take care of that for you, one moment please.",
        "I'll look up her number first.",
        "Searching your contacts now...",
    ],
)
def test_a_promise_is_waited_for(text: str) -> None:
    assert hears(text).says == WAITING


def test_promises_without_deeds_end_its_patience() -> None:
    assert says("One moment.", "I'm on it.", "Just a second.") is None


def test_progress_with_calls_does_not() -> None:
    heard = [Line("agent", "I found her, now I'm sending it.", calls=1)] * 5
    turn = anyio.run(ScriptedUser(LAST, OPENING).respond, [Line("user", OPENING), *heard])
    assert turn.says == WAITING


@each("met", [True, False])
def test_a_claim_is_believed_whatever_the_world_says(met: bool) -> None:
    assert hears("I've sent the message to Wren.", 0, met=met).says is None


def test_what_was_delivered_gets_the_next_wish() -> None:
    assert says("I found the number of Wren and sent the message.") == "And now send it to Tomas as well."


def test_with_nothing_left_to_ask_it_ends_the_conversation() -> None:
    assert says("Sent.", "Sent to Tomas too.") is None


@each(
    "text",
    ["I'm sorry, I can't send messages.", "Texting isn't something I'm able to do.", "There is no tool for that."],
)
def test_giving_up_ends_it(text: str) -> None:
    assert hears(text).says is None


def test_what_it_has_said_in_answer_it_does_not_ask_for_again() -> None:
    script = Script(answers=(Answer(("anyone else",), "To Tomas as well."),), then=("To Tomas as well.", "Thanks."))
    assert says("Who else should get it, anyone else?", "Sent to both.", script=script) == "Thanks."


@each(
    "text",
    [
        "I'm unable to text. If you need more help, I can transfer you to a human. Would you like me to do that?",
        "Texts cannot be sent on this plan. Would you like me to connect you with customer support?",
        "I can't send messages. If you'd like, I can escalate this to a supervisor. Shall I?",
    ],
)
def test_to_be_handed_on_to_others_is_beyond_its_wish(text: str) -> None:
    assert hears(text).says == LAST.decline


@each(
    "text",
    [
        "These texts cannot be sent.",
        "My tools don't let me send texts.",
        "I won't be able to text her.",
    ],
)
def test_giving_up_is_heard_however_it_is_put(text: str) -> None:
    assert hears(text).says is None


@each(
    "text",
    [
        "Shall I text Wren, or should I ask for another number first?",
        "Do you mean Wren Okafor or Wren Hill?",
        "- **Wren Okafor**\n- **Wren Hill**\n\nPlease let me know which of them you'd like to text, and I'll go ahead.",
    ],
)
def test_a_choice_is_never_answered_with_yes(text: str) -> None:
    assert not (hears(text, 1).says or "Yes").startswith("Yes")


def test_a_draft_behind_its_label_is_no_promise() -> None:
    assert hears("Sent!\n\n- **To:** Wren\n- **Text:** I'll be late, let me look for the keys.", 1).says is None


# what it cannot read


@each(
    "text",
    [
        "  ",
        '{"name": "send", "arguments": {}}',
        "Die Nachricht wurde gesendet.",
        "メッセージを送信しました。",
        "```\nx = 1\n```",
    ],
)
def test_what_it_cannot_read_it_asks_about(text: str) -> None:
    assert hears(text).says == PUZZLED


def test_names_with_marks_are_no_foreign_language() -> None:
    assert hears("Đặng Thị Lan: +17095550168").says != PUZZLED


# codes


@each("written", ["OK-12AB3F", "OK‑12AB3F", "**OK-12AB3F**", "`OK-12AB3F`", "OK–12AB3F", "_OK-12AB3F_"])
def test_codes_are_read_through_typography(written: str) -> None:
    assert hears(f"Please confirm {written}.").confirms == ("OK-12AB3F",)


def test_a_user_that_does_not_approve_declines_the_code() -> None:
    turn = hears("Please confirm OK-12AB3F.", user=ScriptedUser(replace(LAST, approves=False), OPENING))
    assert (turn.says, turn.confirms) == (LAST.decline, ())


def test_it_does_what_belongs_to_a_line_only_when_it_says_that_line() -> None:
    answers = (Answer(("door",), "Yes"), Answer(("name",), "Wren."))
    script = replace(LAST, answers=answers, confirm="Yes, do that.", does={"Yes": PlannedAct("open_door")})
    user = ScriptedUser(script, OPENING)
    assert hears("Shall I text your sister that you'll be late?", user=user) == UserTurn("Yes, do that.")
    asked = hears("What is her name, and can you open the door?", user=user)
    assert (asked.says, [act.name for act in asked.does]) == ("Yes Wren.", ["open_door"])


def test_the_same_dialogue_gets_the_same_answer_from_another_process() -> None:
    dialogue = [Line("user", "Hi"), Line("agent", "Who?"), Line("user", "Her name is Wren."), Line("agent", "Done.")]
    assert anyio.run(ScriptedUser(SCRIPT).respond, dialogue).says == SCRIPT.then[0]


@each("asked", ["Which Lan?", "Which Lan do you mean?", "I found two. Which Lan would that be?"])
def test_asked_which_one_of_a_name_it_says_the_whole_name(asked: str) -> None:
    user = ScriptedUser(LAST, "Can you give me the number of Dang Thi Lan?")
    assert anyio.run(user.respond, [Line("user", user.opening), Line("agent", asked, 1)]).says == "Dang Thi Lan."


@each("asked", ["Which Lan?", "Which number should I use?"])
def test_it_does_not_know_more_of_a_name_than_it_said(asked: str) -> None:
    user = ScriptedUser(LAST, "Can you give me the number of Lan?")
    assert "Lan" not in (anyio.run(user.respond, [Line("user", user.opening), Line("agent", asked, 1)]).says or "")


# what anybody could say offhand


def offhand(wish: str, asked: str) -> str | None:
    return anyio.run(ScriptedUser(Script(), wish).respond, [Line("user", wish), Line("agent", asked, 0)]).says


@each(
    ("wish", "asked", "says"),
    [
        ("Remove my boss from my contacts.", "Is that person in your contacts?", "As far as I know."),
        ("Text my boss that I'm ill.", "Do you have your boss in your address book?", "Please look it up."),
        ("New contact: Morven Ure, vet.", "Is she in your contacts already?", "Not yet."),
        ("What's the weather like?", "Where are you right now?", "Here, where I am now."),
        ("Text my boss that I'm ill.", "Which app should I use for that?", "Whichever you have."),
        ("Set an alarm for six.", "What time zone are you in?", "The one here."),
        ("Set an alarm for six.", "What is your phone number?", "I don't know that."),
    ],
)
def test_what_anybody_could_say_it_says(wish: str, asked: str, says: str) -> None:
    assert offhand(wish, asked) == says


@each(
    ("asked", "says"),
    [
        ("Where are you right now?", "Here, where I am now."),
        ("Which town are you in?", "In Kyoto."),
        ("I can't read your location. Where are you, and which dentist is it?", "Here, where I am now. Dr. Abe."),
        ("Where is your dentist?", "It is pinned in the reminder."),
    ],
)
def test_where_it_is_itself_is_not_where_something_else_is(asked: str, says: str) -> None:
    answers = (Answer(("where", "location"), "It is pinned in the reminder."), Answer(("which dentist",), "Dr. Abe."))
    user = ScriptedUser(Script(answers), wish := "How far is my dentist?", place=place_known(["You live in Kyoto."]))
    assert anyio.run(user.respond, [Line("user", wish), Line("agent", asked, 0)]).says == says


def proposed(wish: str, asked: str, *, met: bool) -> str | None:
    heard = [Line("user", wish), Line("agent", asked, 1, met)]
    return anyio.run(ScriptedUser(Script(), wish).respond, heard).says


@each("asked", ["Do you fancy a table at the harbour?", "Maybe you'd like a taxi to the party?"])
def test_what_is_proposed_beyond_its_wish_it_declines(asked: str) -> None:
    wish = "Set an alarm for six."
    assert proposed(wish, asked, met=True) in ENOUGH
    assert proposed(wish, asked, met=False) == "No thanks."


@each(
    "asked",
    ["Would you like a harp or a bell?", "Could you tell me the sound that you'd like it to have?"],
)
def test_what_is_asked_for_is_not_a_proposal(asked: str) -> None:
    assert proposed("Set an alarm for six.", asked, met=False) != "No thanks."


@each(
    "text",
    [
        "Should I use her work number or her home number?",
        "Text whom?",
        "Send it to whom exactly?",
        "Should it go out by itself tonight, or wait in the drafts?",
        "Is this another Wren, or should I update that entry?",
    ],
)
def test_a_yes_chooses_nothing(text: str) -> None:
    assert not (says(text) or "").startswith("Yes")
