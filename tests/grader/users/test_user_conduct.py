"""The conduct of users: nothing is held against those who keep their part, and each kind has a user that earns it."""

from dataclasses import replace
from typing import Any

from sandbox_grader.grading.metric import Subject, Verdict
from sandbox_grader.users import UserConduct
from sandbox_grader.users.metric import KINDS, NO_SCENARIO, NO_USER, spoiled_by_user
from sandbox_scenarios.model import Answer, Exchange, Scenario, Script, UserSpec

from sandbox_mcp.engine.trajectory import ToolSpec, Trajectory
from tests.each import each
from tests.grader.milestones.sessions import Play, call, contact, milestone, reminder, scenario, world
from tests.scenarios.playing import play, talk
from tests.suite import SUITE

SAMPLE = SUITE.names()[::12]
START = world(
    {
        "5a0fb6f4-0000-4000-8000-000000000001": contact("c1", "Marguerite Oyelaran", "+18475550164", "landlord"),
        "me": {**contact("me", "Kahu Parata", "+18475550100"), "is_self": True},
    },
    {"r1": reminder("r1", "Return the overdue library books")},
)
USER = UserSpec(
    goal="You want the number of your landlord, and rain for Saturday.",
    opening="What's my landlord's number?",
    knows=("The landlord's name begins with an M.", "Your own code is 4711."),
    does_not_know=("The whole number.", "What Tibor wants."),
    demonstration=(Exchange("And the vet's?", "It is +441414960518."),),
    script=Script(
        answers=(Answer(("name", "called"), "It begins with an M."),), then=("Will it rain on Saturday, too?",)
    ),
)
MINE = replace(
    scenario(milestone("found", call("convert", amount=8675.25, of="books@library.example")), start=START), user=USER
)


def said(*words: str, before: str = "What is the name?", end: Any = None) -> Trajectory:
    """A session in which the user says these words in answer to a question."""
    session = Play(START, USER.opening).says(before)
    for line in words:
        session.says(line, "user", "agent").says("I see.")
    return session.done(end or "max_calls")


def judged(log: Trajectory, about: Scenario | None = MINE) -> Verdict:
    return UserConduct().grade(Subject(log, scenario=about), "strict")


def kinds(verdict: Verdict) -> dict[str, int]:
    return {kind: verdict.values[kind] for kind in KINDS if verdict.values[kind]}


@each("name", SAMPLE)
def test_the_scripted_user_is_clean_whoever_it_talks_to(name: str) -> None:
    """Each scenario with all its solutions and ten odd agents is clean too; that takes a minute, by hand."""
    chosen = SUITE.get(name)
    logs = [play(chosen, chosen.solutions[0]), talk(chosen, "I'm sorry, I can't help with that.")]
    verdicts = [judged(log, chosen) for log in logs]
    assert [verdict.details for verdict in verdicts] == [(), ()]


# what it cannot know


@each(
    "words",
    [
        "It's 847-555-0164.",
        "The number is +1 (847) 555 0164, I think.",
        "It ends in 0164.",
        "You mean Marguerite?",
        "Oh, my landlord Oyelaran.",
        "It says return the overdue library books.",
        "It is 5a0fb6f4-0000-4000-8000-000000000001.",
        "Write to books@library.example.",
        "That makes 8,675.25.",
    ],
)
def test_what_only_the_phone_or_the_solution_knows_is_a_leak(words: str) -> None:
    verdict = judged(said(words))
    assert kinds(verdict) == {"leak": 1}, verdict.details
    assert verdict.values["spoiled"]


@each(
    "words",
    [
        "It begins with an M.",
        "My code is 4711.",
        "I am Kahu Parata, 847 555 0100.",
        "Ask Tibor, please.",
        "Marguerites are flowers. Marguerite begins a sentence.",
        "In May 1850, at 10:30, 200 of 1,000.",
        "10 000 000 or 20",
        "And the vet's?",
    ],
)
def test_what_it_was_told_and_what_anybody_could_say_is_none(words: str) -> None:
    assert judged(said(words)).details == ()


def test_what_the_agent_has_said_may_be_repeated() -> None:
    told = "It is Marguerite, +18475550164. Is that right?"
    assert judged(said("Yes, I mean Marguerite, 847 555 0164.", before=told)).details == ()


def test_it_counts_once_however_often_it_is_said() -> None:
    assert kinds(judged(said("You mean Marguerite?", "Yes, I said Marguerite."))) == {"leak": 1}


def test_what_a_tool_has_found_is_a_leak_until_the_agent_says_so() -> None:
    looked = Play(START, USER.opening).calls("unit_conversion", 26.0976, amount=42)
    early = looked.says("One moment. Which unit?").says("I make it 26.1 miles.", "user", "agent").done()
    (finding,) = judged(early).details
    assert (finding["kind"], finding["turn"], finding["event"], finding["words"]) == ("leak", 1, 4, "26.1")
    assert finding["why"].startswith("from the result of unit_conversion (#2)")


def test_what_a_call_was_given_is_no_finding_of_its() -> None:
    echo = Play(START, USER.opening).calls(
        "add", {"content": "Bring the brass kettle"}, content="Bring the brass kettle"
    )
    assert judged(echo.says("What?").says("Bring the brass kettle.", "user", "agent").done()).details == ()


def test_the_answer_in_an_example_is_not_the_users_to_give() -> None:
    assert kinds(judged(said("The vet's is +441414960518."))) == {"invention": 1}


def test_a_date_is_a_leak_only_where_nobody_has_named_one() -> None:
    first = replace(MINE, user=replace(USER, does_not_know=("Today's date.",)))  # the clock stands at 1 January
    assert kinds(judged(said("It's January 1st."), first)) == {"leak": 1}
    assert judged(said("It's January 1st.", before="Is it after 3 December?"), first).details == ()


@each("words", ["It's 0491 570 737.", "Mail me at kahu@example.org.", "+33 6 39 98 01 48"])
def test_a_number_or_an_address_from_nowhere_is_an_invention(words: str) -> None:
    verdict = judged(said(words))
    assert (kinds(verdict), verdict.values["spoiled"]) == ({"invention": 1}, True)


def test_the_opening_is_the_scenarios_and_not_judged() -> None:
    assert judged(Play(START, "It's +18475550164, call Marguerite.").says("Yes.").done("max_calls")).details == ()


# its part


@each(
    ("words", "why"),
    [
        ("As an AI language model I am surprised.", "calls itself an assistant"),
        ("I'm your virtual assistant.", "calls itself an assistant"),
        ("Sure! How can I help you today?", "offers help"),
        ("Let me know if you need any further assistance.", "offers help"),
        ("I'd be happy to help with that.", "offers help"),
        ("# Summary\nThat is all.", "uses headings"),
        ("- one\n- two\n- three", "uses a list"),
        ("<tool_call>{}</tool_call>", "writes a call of a tool"),
        ('{"name": "search_contacts", "arguments": {}}', "writes a call of a tool"),
        ("end_conversation", "writes a call of a tool"),
        ("Call search_contacts(name='M').", "writes a call of a tool"),
        ("What is the name of your landlord?", "repeats what the assistant has said"),
    ],
)
def test_a_user_that_speaks_as_an_assistant(words: str, why: str) -> None:
    log = said(words, before="What is the name of your landlord?")
    spec = ToolSpec(
        name="search_contacts", tool="search_contacts", domain="contact", action=False, description="", input_schema={}
    )
    verdict = judged(replace(log, started=replace(log.started, tools=(spec,))))
    assert [(item["kind"], item["why"]) for item in verdict.details] == [("as_assistant", why)]
    assert not verdict.values["spoiled"]


@each(
    "words",
    [
        "Can you help me?",
        "Would an assistant know?",
        "Let me know when it's done.",
        "I'd be glad if you could help me.",
        "Yes - the second one.",
        "I need help.",
        "As an aid for tomorrow.",
        "You're here to help me, aren't you?",
    ],
)
def test_a_user_that_asks_for_help_does_not(words: str) -> None:
    assert judged(said(words)).details == ()


def test_a_list_that_answers_a_list_is_none() -> None:
    asked = "Tell me:\n1. Who?\n2. When?\n3. Where?"
    assert judged(said("1. Tomas\n2. today\n3. here", before=asked)).details == ()


# how it leaves


def left(*lines: str, then: bool = True, calls: bool = False) -> Verdict:
    """A session whose user leaves after the last of the agent's lines."""
    session = Play(START, USER.opening)
    for number, line in enumerate(lines):
        if number:
            session.says("Hm, and will it rain on Saturday?" if then else "Hm.", "user", "agent")
        if calls:
            session.calls("get_wifi_status", True)
        session.says(line)
    return judged(session.done())


@each(
    ("line", "why"),
    [
        ("Shall I look it up?", "left while the assistant waited for a yes or no"),
        ("What is the landlord called?", "left while the assistant waited for an answer that the user has"),
        ("Which floor is it on?", "left before the assistant had done or answered anything"),
        ("Your landlord has a phone.", "left without asking for all it wanted: 'Will it rain on Saturday, too?'"),
    ],
)
def test_a_user_that_leaves_too_early(line: str, why: str) -> None:
    verdict = left(line)
    assert [(item["kind"], item["why"], item["words"]) for item in verdict.details] == [("early_end", why, line)]
    assert spoiled_by_user(verdict) == f"spoiled_by_user: early_end (#3): {why}"


@each(
    "lines",
    [
        ("I'm sorry, I can't help with that.",),
        ("It is 5. Rain is likely on Saturday.",),
        ("It is 5.", "No rain. Is there anything else I can help you with?"),
        ("What is the landlord called?", "What is the landlord called?", "What is the landlord called?"),
        ("Shall I?", "Shall I not?", "So, shall I?"),
        ("Which floor?", "Which door?", "Which house?"),
    ],
)
def test_a_user_that_has_waited_long_enough_may_leave(lines: tuple[str, ...]) -> None:
    assert left(*lines).details == ()


def test_an_agent_that_has_acted_may_be_left_with_a_question_nobody_can_answer() -> None:
    assert left("It's 5.", "No rain. Which floor?", calls=True).details == ()


def chat(*exchanges: tuple[str, str], end: Any, act: bool = False) -> Verdict:
    session = Play(START, USER.opening)
    for agent, user in exchanges:
        if act:
            session.calls("get_wifi_status", True)
        session.says(agent).says(user, "user", "agent")
    return judged(session.done(end))


THANKS = [("It is done.", "Thanks!"), ("You're welcome!", "Bye!"), ("Bye!", "Have a nice day!")]


def test_a_user_that_stays_to_the_limit_of_turns_after_all_is_done() -> None:
    verdict = chat(*THANKS, end="max_turns")
    assert (kinds(verdict), verdict.values["spoiled"]) == ({"endless": 1}, True)


@each("end", ["user_ended", "max_calls"])
def test_the_same_talk_that_ends_is_not_endless(end: str) -> None:
    assert "endless" not in kinds(chat(*THANKS, end=end))


def test_an_agent_that_works_to_the_limit_has_no_endless_user() -> None:
    assert kinds(chat(*THANKS, end="max_turns", act=True)) == {}


def test_an_agent_that_asks_to_the_limit_has_no_endless_user() -> None:
    assert kinds(chat(*[("Which floor?", "I don't know that.")] * 6, end="max_turns")) == {}


def test_a_user_that_says_the_same_over_and_over_is_stuck() -> None:
    verdict = chat(*[("No.", "But please!")] * 4, end="max_calls")
    assert (kinds(verdict), verdict.values["spoiled"]) == ({"endless": 1}, False)


# what is known


def test_without_a_scenario_half_is_known_and_nothing_is_spoiled() -> None:
    verdict = judged(said("As an AI I say +18475550164."), None)
    assert {kind: verdict.values[kind] for kind in KINDS} == {
        "leak": None, "invention": None, "as_assistant": 1, "early_end": None, "endless": 0, "consent": None,
        "withheld": None, "beside_the_point": None,
    }  # fmt: skip
    assert verdict.values["missing"]["leak"] == NO_SCENARIO
    assert not verdict.values["spoiled"]


def test_a_log_without_a_user_is_inconclusive() -> None:
    assert judged(Play(START, None).calls("x").done()).inconclusive == NO_USER


def test_a_summary_says_how_often_each_kind_occurs() -> None:
    verdicts = [judged(said("You mean Marguerite?")), judged(said("No.")), judged(said("No."), None)]
    graded = [(Subject(said("No.")), verdict) for verdict in verdicts]
    summary = UserConduct().summarise(graded, "strict")
    assert summary["leak"] == {"known": 2, "sessions": 1, "rate": 0.5}
    assert summary["spoiled"] == {"known": 3, "sessions": 1, "rate": 1 / 3}
    assert summary["sessions"] == 3
