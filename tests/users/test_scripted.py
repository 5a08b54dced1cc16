"""The scripted user: what it answers, what it keeps to itself, and when it leaves."""

import pytest
from sandbox_scenarios.model import Answer, Script

from sandbox_mcp.users import Line, ScriptedUser
from sandbox_mcp.users.scripted import question_in

SCRIPT = Script(
    answers=(
        Answer(("which sister", "who", "name"), "Her name is Wren."),
        Answer(("number", "phone"), "Her number ends in 113."),
    ),
    then=("And now send it to Tomas as well.",),
    confirm="Yes, do that.",
    unknown="No idea, sorry.",
    patience=2,
)


def says(*lines: str, script: Script = SCRIPT) -> str | None:
    return ScriptedUser(script).next_line(lines)


def test_it_answers_what_it_is_asked() -> None:
    assert says("What is your sister's name?") == "Her name is Wren."


def test_it_answers_two_questions_at_once() -> None:
    assert says("Who is it, and what is the phone number?") == "Her name is Wren. Her number ends in 113."


def test_it_does_not_say_what_it_was_not_asked() -> None:
    assert "113" not in (says("Could you tell me the name of your sister?") or "")


def test_what_the_agent_merely_states_is_no_question() -> None:
    assert says("I found the number of Wren and sent the message.") == "And now send it to Tomas as well."


def test_what_it_does_not_know_it_says_so() -> None:
    assert says("What is your blood type?") == "No idea, sorry."


def test_its_patience_ends() -> None:
    assert says("What is your blood type?", "What is your shoe size?") is None


def test_a_question_it_can_answer_restores_its_patience() -> None:
    assert says("Your blood type?", "Your sister's name?", "Your shoe size?") == "No idea, sorry."


def test_asked_for_permission_it_gives_it() -> None:
    assert says("I would send 'See you at seven'. Shall I go ahead?") == "Yes, do that."


def test_when_should_i_is_no_question_for_permission() -> None:
    script = Script(answers=(Answer(("when", "what time"), "At five."),))
    assert says("At what time should I remind you?", script=script) == "At five."


def test_asked_for_permission_again_it_does_not_repeat_its_answers() -> None:
    assert says("What is the name?", "Shall I use the name Wren?") == "Yes, do that."


@pytest.mark.parametrize(
    "offer",
    [
        "The message is sent. Is there anything else I can help you with?",
        "The message is sent. Let me know if you need anything else!",
        "The message is sent. Would you like me to call her as well?",
        "The message is sent. How else can I assist you?",
        "The message is sent. If you have further questions, just ask.",
    ],
)
def test_an_offer_of_more_help_is_no_question(offer: str) -> None:
    assert says(offer) == "And now send it to Tomas as well."


def test_what_it_has_said_in_answer_it_does_not_ask_for_again() -> None:
    script = Script(answers=(Answer(("anyone else",), "To Tomas as well."),), then=("To Tomas as well.", "Thanks."))
    assert says("Shall I send it to anyone else?", "Sent to both.", script=script) == "Thanks."


def test_with_nothing_left_to_ask_it_ends_the_conversation() -> None:
    assert says("Sent.", "Sent to Tomas too.") is None


def test_silence_is_met_with_a_question_mark_of_its_own() -> None:
    assert says("  ") == "No idea, sorry."


def test_without_a_script_it_ends_when_told_that_it_is_done() -> None:
    assert says("Wifi is off.", script=Script()) is None


@pytest.mark.parametrize(
    "text",
    ["Please provide the number.", "I'll need your address to go on.", "Let me know which one you mean.", "Which one?"],
)
def test_requests_without_a_question_mark_are_questions(text: str) -> None:
    assert question_in(text) == text


def test_the_same_dialogue_gets_the_same_answer_from_another_process() -> None:
    dialogue = [Line("user", "Hi"), Line("agent", "Who?"), Line("user", "Her name is Wren."), Line("agent", "Done.")]
    assert ScriptedUser(SCRIPT).next_line([line.text for line in dialogue if line.speaker == "agent"]) == SCRIPT.then[0]
