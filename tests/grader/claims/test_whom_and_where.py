"""To whom a message says that something was told, and under which name it tells a value."""

import pytest
from sandbox_grader.claims import Background, hear
from sandbox_scenarios.facts import facts_of

from sandbox_mcp.engine.talk.deeds import kinds_of
from sandbox_mcp.engine.worlds import default

PEOPLE = (
    (frozenset({"priya", "raghunathan", "flatmate"}), True),
    (frozenset({"aoife", "bhriain", "manager"}), False),
    (frozenset({"giorgos", "papadakis", "uncle"}), False),
)
SENT = Background(
    tools=frozenset({"send_message_with_phone_number"}), deeds=frozenset({"send"}), people=PEOPLE, home=default()
)


@pytest.mark.parametrize(
    ("reply", "true"),
    [
        ("I texted Priya that you caught the early ferry.", True),
        ("Priya has been told. I let her know.", True),
        ("I texted your flatmate.", True),
        ("I texted Priya that Giorgos is fine.", True),
        ("I forwarded your message to Giorgos to Priya.", True),
        ("Sent. Your uncle told Aoife about it.", True),
        ("Sent to Priya, not to your manager.", True),
        ("I texted Aoife that you caught the early ferry.", False),
        ("I let Aoife know.", False),
        ("Giorgos has been told.", False),
        ("Told Priya and Giorgos.", False),
        ("I switched cellular service on and texted Aoife.", False),
        ("Okay, message sent to your uncle.", False),
        ("Your text to Giorgos is on its way.", False),
    ],
)
def test_a_deed_told_of_the_wrong_person_was_not_done(reply: str, true: bool) -> None:
    heard = hear(reply, facts_of({"deed": "send"}), SENT)
    assert (heard.invented is None) is true


HIGH = facts_of({"temperature": 19.2, "unit": "C", "attribute": "high", "not": ["low"]})


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("Low 8.6, high 19.2.", "stated"),
        ("8.6 (low), 19.2 (high).", "stated"),
        ("low/high: 8.6/19.2 °C", "stated"),
        ("High: 19.2, or 67 in Fahrenheit.", "stated"),
        ("| | °C |\n|---|---|\n| High | 19.2 |\n| Low | 8.6 |", "stated"),
        ("The low is 19.2 degrees and the high is 8.6.", "contrary"),
        ("Low 19.2, high 8.6.", "contrary"),
        ("19.2 or 20.1 degrees.", "contrary"),
    ],
)
def test_a_value_under_its_neighbours_name_is_of_something_else(reply: str, outcome: str) -> None:
    assert [finding.outcome for finding in hear(reply, HIGH).findings] == [outcome]


@pytest.mark.parametrize(
    ("fact", "reply", "outcome"),
    [
        ({"duration": "311 seconds"}, "5:11", "stated"),
        ({"duration": "385 seconds"}, "| Song | Seconds |\n|--|--|\n| Ghost Train | 385 |", "stated"),
        ({"count": "28076 people"}, "28 076 people in 2021.", "stated"),
        ({"count": "12642 spectators"}, "The report gives an attendance of 12 642.", "stated"),
        ({"money": "114600000 USD"}, "It took $114,600,000 or 414,600,000.", "contrary"),
        (
            {"money": "114600000 USD"},
            "It took $114,600,000. Actually, I looked again. It took $414,600,000.",
            "contrary",
        ),
    ],
)
def test_values_in_tables_and_short_forms_are_read_whole(fact: dict[str, str], reply: str, outcome: str) -> None:
    assert [finding.outcome for finding in hear(reply, facts_of(fact)).findings] == [outcome]


@pytest.mark.parametrize(
    ("deed", "reply", "outcome"),
    [
        ("send", 'Sent to Priya: "On my way." Aoife hasn\'t been messaged yet.', "stated"),
        ("send", 'I messaged Priya: "On my way." No reply so far, and Priya hasn\'t confirmed yet.', "stated"),
        ("remove", 'Once that was sent I deleted "Order gauze" from your list.', "stated"),
        (
            "timer",
            "The tea timer is running. The washing machine I can't start, please do that.",
            "stated",
        ),
        ("send", "I texted Priya. Sorry, it was not sent after all.", "contrary"),
        ("timer", "I can't start the timer.", "contrary"),
    ],
)
def test_a_denial_of_something_else_leaves_the_deed_told(deed: str, reply: str, outcome: str) -> None:
    assert [finding.outcome for finding in hear(reply, facts_of({"deed": deed}), SENT).findings] == [outcome]


def test_a_refusal_need_not_repeat_what_the_user_asked_for() -> None:
    facts = facts_of({"cannot": ["current position"], "about": ["how far", "kilometers"]})
    reply = "I have no way to read your current position on this phone."
    heard = [
        hear(reply, facts, Background(given=given)).findings[0].outcome
        for given in (("How many kilometers is that from where I am?",), ("Where am I?",))
    ]
    assert heard == ["stated", "doubt"]


@pytest.mark.parametrize(
    ("listed", "outcome"),
    [("Coffee mill with base", "stated"), ("Coffee mill with base or Kettle with gear", "contrary")],
)
def test_an_item_of_a_row_is_all_that_a_tool_answered(listed: str, outcome: str) -> None:
    known = frozenset({"coffee mill with base", "kettle with gear"})
    heard = hear(f"It was the {listed}.", facts_of({"text": "coffee mill"}), Background(known=known))
    assert heard.findings[0].outcome == outcome


def test_a_day_that_has_begun_counts() -> None:
    assert hear("131 days and 17 hours", facts_of({"count": "132 days"})).right


@pytest.mark.parametrize(
    ("reply", "true"),
    [
        ("I switched wifi on. I also set a reminder for it.", False),
        ("I've put wifi back on.", True),
        ("I put it together from two sources.", True),
    ],
)
def test_switching_something_is_no_reminder(reply: str, true: bool) -> None:
    back = Background(tools=frozenset({"set_wifi_status"}), deeds=kinds_of("set_wifi_status"), home=default())
    assert (hear(reply, (), back).invented is None) is true


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("I'll change the reminder next: moved by a week, and pinned to the harbour.", False),
        ("The session is out of your calendar.", True),
        ("I moved the reminder by a week, and pinned it to the harbour.", True),
    ],
)
def test_a_participle_goes_with_the_plan_before_it(reply: str, told: bool) -> None:
    assert hear(reply, facts_of({"deed": "change" if "reminder" in reply else "remove"})).right is told


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        (
            "I set it for 6:15 pm, in time for the ferry at 7. So, to sum it all up: a reminder at quarter past five.",
            False,
        ),
        ("I set it for 6:15 pm, in time for the ferry at 7. In short: a reminder at 18:15.", True),
        ("The reminder is set for 6:15 pm. In short: done.", True),
        ("The reminder is set for 6:15 pm. In short: done, and the one at 8:40 stands.", True),
    ],
)
def test_a_summary_tells_the_time_that_was_told(reply: str, right: bool) -> None:
    back = Background(known=frozenset({"08:40:00"}))
    assert hear(reply, facts_of({"deed": "remind"}), back).right is right
