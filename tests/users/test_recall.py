"""What the llm user can look up: what it knows, what it does not, and how the conversation stands."""

from sandbox_scenarios.model import UserSpec

from sandbox_mcp.play.users import Line
from sandbox_mcp.play.users.recall import CHECK_GOAL, LOOK_UP, UNKNOWN, USER_TOOLS, as_function, check_goal, look_up
from tests.each import each
from tests.suite import SUITE

SPEC = UserSpec(
    goal="You want your new neighbour saved.",
    opening="Save my new neighbour.",
    knows=("Her name is Ilse van der Merwe.", "Her number is 0491 570 737, an Australian mobile."),
    does_not_know=("Her e-mail address.", "Where her brother lives."),
)


@each(
    ("question", "fact"),
    [
        ("What is her name?", SPEC.knows[0]),
        ("the neighbour's name", SPEC.knows[0]),
        ("her phone number", SPEC.knows[1]),
        ("NUMBER", SPEC.knows[1]),
        ("numbr", SPEC.knows[1]),
    ],
)
def test_what_it_knows_is_found(question: str, fact: str) -> None:
    assert look_up(SPEC, question) == f"You know: {fact}"


@each(("question", "fact"), [("her e-mail", "Her e-mail address."), ("her brother?", "Where her brother lives.")])
def test_what_it_does_not_know_is_said_so(question: str, fact: str) -> None:
    assert look_up(SPEC, question) == f"You do not know: {fact}"


@each("question", ["her birthday", "", "?!", "what is it", "0491"])
def test_what_nobody_wrote_down_it_does_not_know(question: str) -> None:
    assert look_up(SPEC, question) in (UNKNOWN, f"You know: {SPEC.knows[1]}" if question == "0491" else UNKNOWN)


@each("name", SUITE.names()[::40])
def test_nothing_but_the_scenarios_own_words_about_the_user_is_told(name: str) -> None:
    scenario = SUITE.get(name)
    facts = {f"You know: {fact}" for fact in scenario.user.knows}
    facts |= {f"You do not know: {fact}" for fact in scenario.user.does_not_know}
    for answer in scenario.user.script.answers:
        for phrase in answer.about:
            assert set(look_up(scenario.user, f"What is the {phrase}?").split("\n")) <= facts | {UNKNOWN}


DIALOGUE = [Line("user", SPEC.opening), Line("agent", "What is her name?"), Line("user", "Ilse.")]


@each(
    ("answer", "stands"),
    [
        ("Which number?", "It waits for an answer of yours."),
        ("I couldn't find her.", "Its last answer says that something cannot be done or was not found."),
        ("Saved!", "Its last answer asks nothing; whether all you want is done is for you to judge from its words."),
    ],
)
def test_the_goal_comes_with_what_was_said_and_where_the_assistant_stands(answer: str, stands: str) -> None:
    assert check_goal(SPEC, [*DIALOGUE, Line("agent", answer)]).split("\n") == [
        "What you want: You want your new neighbour saved.",
        "What you have said so far:",
        "- Save my new neighbour.",
        "- Ilse.",
        f"The assistant has answered 2 times. {stands}",
    ]


def test_before_any_answer_there_is_none_to_speak_of() -> None:
    assert check_goal(SPEC, DIALOGUE[:1]).endswith("The assistant has answered 0 times.")


@each("arguments", ["", "{oops", "[]", "7", "{}", '{"question": null}'])
def test_faulty_arguments_ask_about_nothing(arguments: str) -> None:
    assert USER_TOOLS["look_up"].call(SPEC, DIALOGUE, arguments).result == UNKNOWN


def test_arguments_nested_too_deeply_for_any_parser_ask_about_nothing() -> None:
    assert USER_TOOLS["look_up"].call(SPEC, DIALOGUE, "[" * 100_000).result == UNKNOWN


def test_the_tools_are_offered_like_any_function() -> None:
    offered = [as_function(tool.tool)["function"] for tool in USER_TOOLS.values()]
    assert [function["name"] for function in offered] == [LOOK_UP.name, CHECK_GOAL.name]
    assert offered[0]["parameters"]["required"] == ["question"]
