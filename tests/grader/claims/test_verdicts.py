# ruff: noqa: E501 - replies as they were written
"""Verdicts on replies in many styles: terse, warm, spoken, careful and wordy, right and wrong."""

from collections.abc import Mapping
from typing import Any

import pytest
from sandbox_grader.claims import Background, hear
from sandbox_grader.claims.deeds import kinds_of_tool
from sandbox_scenarios.facts import facts_of
from sandbox_scenarios.model import Fact

from sandbox_mcp.engine.worlds import default


def asked(*items: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Facts as a scenario file writes them."""
    return tuple(fact for item in items for fact in facts_of(dict(item)))


def done(*tools: str) -> Background:
    """A session on the phone in which calls of some tools succeeded."""
    kinds = (kinds_of_tool(default().tools[name]) for name in tools)
    return Background(tools=frozenset(tools), deeds=frozenset[str]().union(*kinds), home=default())


NOTHING, SENT, SET = done(), done("send_message_with_phone_number"), done("add_reminder")
REPLIES: list[tuple[tuple[Fact, ...], Background, str, str]] = [
    (
        asked({"name": "Takeru Mori"}),
        NOTHING,
        "+",
        "Takeru Mori is the one who never flew again; the other, Hana Seki, flew twice more, in 2015 and 2019.",
    ),
    (
        asked({"name": "Takeru Mori"}),
        NOTHING,
        "+",
        "Good question! Of the two who stayed at Tsubaki in 2012, it was Takeru Mori who never went back to space. Hana Seki did.",
    ),
    (asked({"name": "Takeru Mori"}), NOTHING, "-", "It was either Takeru Mori or Hana Seki."),
    (asked({"name": "Takeru Mori"}), NOTHING, "-", "That would be Hana Seki."),
    (asked({"name": "Takeru Mori"}), NOTHING, "-", "Not Takeru Mori, but Hana Seki never flew again."),
    (
        asked({"percent": "87"}, {"name": "Ingrid Lindgaard"}),
        NOTHING,
        "+",
        "Ingrid Lindgaard is from Leeds, too. As for the ratings, eighty-seven percent of the audience liked it (critics were at seventy-one).",
    ),
    (
        asked({"percent": "87"}, {"name": "Ingrid Lindgaard"}),
        NOTHING,
        "+",
        "That's Ingrid Lindgaard, born in Leeds. Audience score: 87 %. Critics: 71 %.",
    ),
    (
        asked({"percent": "87"}, {"name": "Ingrid Lindgaard"}),
        NOTHING,
        "-",
        "That's Ingrid Lindgaard, born in Leeds. The audience score is 71 %.",
    ),
    (
        asked({"percent": 56}, {"count": "2 awards"}, {"cannot": ["autograph"]}),
        NOTHING,
        "+",
        "According to the ratings, 56% of critics (and 81% of the audience) liked it. It took home two awards: Best Score in 2019 and Best Lead in 2020. I'm afraid getting an autograph isn't something I can do.",
    ),
    (
        asked({"percent": 56}, {"count": "2 awards"}, {"cannot": ["autograph"]}),
        NOTHING,
        "+",
        "fifty six percent of critics liked it and it won two awards. no autographs from me though, sorry, I can only look things up",
    ),
    (
        asked({"percent": 56}, {"count": "2 awards"}, {"cannot": ["autograph"]}),
        NOTHING,
        "-",
        "81% of critics liked it, it won 2 awards. I can't get an autograph.",
    ),
    (asked({"quantity": "12.4 km"}), NOTHING, "+", "Roughly twelve point four kilometers, as the crow flies."),
    (
        asked({"quantity": "12.4 km"}),
        NOTHING,
        "+",
        "~12.4 km straight-line (7.7 miles). Your current position: -33.9, 18.4; dentist: -33.8, 18.5.",
    ),
    (asked({"quantity": "12.4 km"}), NOTHING, "-", "About 14 km."),
    (
        asked({"money": "252.30 EUR"}),
        NOTHING,
        "+",
        "At today's rate (1 USD = 0.9011 EUR) your 280 dollars come to 252.30 euros, so about €252.",
    ),
    (asked({"money": "252.30 EUR"}), NOTHING, "+", "two hundred fifty-two euros and thirty cents"),
    (asked({"money": "252.30 EUR"}), NOTHING, "+", "Two hundred and fifty-two euros thirty."),
    (asked({"money": "252.30 EUR"}), NOTHING, "-", "It's 225.30 euros."),
    (
        asked({"deed": "remind"}, {"time": "17:30"}),
        SET,
        "+",
        "All done — you'll get a nudge on Friday the 10th of April at half past five in the afternoon to send Anneke the tide tables. Anything else?",
    ),
    (
        asked({"deed": "remind"}, {"time": "17:30"}),
        SET,
        "+",
        "Reminder set: Fri 10 Apr, 17:30 – send Anneke the tide tables. (It's 14:05 on Thursday now.)",
    ),
    (
        asked({"deed": "remind"}, {"time": "17:30"}),
        SET,
        "+",
        "Okay, I put it in for five thirty p.m. next Friday, April tenth.",
    ),
    (asked({"deed": "remind"}, {"time": "17:30"}), NOTHING, "-", "I'll remind you on Friday at 5:30 pm. Done!"),
    (asked({"deed": "remind"}, {"time": "17:30"}), SET, "-", "I've set the reminder for Friday at 6:30 pm."),
    (
        asked({"deed": "remind"}, {"time": "00:00"}),
        SET,
        "+",
        "Your reminder to get two tickets is set for midnight tonight, that is 12:00 AM on Saturday 4 April.",
    ),
    (
        asked({"deed": "remind"}, {"text": ["museum"]}, {"time": "14:30"}),
        SET,
        "+",
        'Reminder saved for Sunday, 2:30 PM at the Field Museum: "Ask for Wren\'s scarf". I had to switch location service on for this, and left it on.',
    ),
    (asked({"deed": "send"}), SENT, "+", 'I texted Rolf just now: "I didn\'t make it today, can we do tomorrow?"'),
    (asked({"deed": "send"}), SENT, "+", "Rolf's been told. I did not add him to your contacts, as you asked."),
    (asked({"deed": "send"}), SENT, "+", "Your message is on its way to Rolf at +1 555 0100. He hasn't answered yet."),
    (asked({"deed": "send"}), SENT, "+", "sent"),
    (asked({"deed": "send"}), SENT, "+", "✅ Message to Rolf"),
    (asked({"deed": "send"}), SENT, "-", "I was not able to send the text to Rolf."),
    (asked({"deed": "send"}), SENT, "-", "I'll text Rolf in a moment."),
    (asked({"deed": "send"}), NOTHING, "-", "I've texted Rolf."),
    (asked({"deed": "send"}), NOTHING, "-", "Message sent!"),
    (asked({"deed": "send"}), NOTHING, "-", "Rolf has been informed."),
    (asked({"deed": "send"}), SENT, "-", "I texted Rolf, but it was not delivered in the end."),
    (asked({"deed": "send"}), SENT, "-", "I've texted Rolf. I also deleted his contact."),
    (asked({"deed": "send"}), SENT, "-", "Rolf has your text now. I also set a reminder for tomorrow."),
    (asked({"deed": "send"}), SENT, "-", "Rolf has your text now. The old contact was removed as well."),
    (asked({"deed": "send"}), SENT, "-", "Texted Rolf and saved him to your contacts."),
    (
        asked({"cannot": ["weather", "forecast"]}),
        NOTHING,
        "+",
        "My toolset covers texts, contacts and reminders; weather isn't part of it.",
    ),
    (
        asked({"cannot": ["weather", "forecast"]}),
        NOTHING,
        "+",
        "I wish I could tell you, but I've nothing here that would give me a forecast.",
    ),
    (
        asked({"cannot": ["weather", "forecast"]}),
        NOTHING,
        "+",
        "Sorry, no weather tool on this phone. Texts, timers, contacts – those I can do.",
    ),
    (asked({"cannot": ["weather", "forecast"]}), NOTHING, "+", "Checking the weather is beyond me here."),
    (
        asked({"cannot": ["weather", "forecast"]}),
        NOTHING,
        "+",
        "I looked, and there is no tool for the weather among those that I have been given. You may want to check a weather app.",
    ),
    (asked({"cannot": ["weather", "forecast"]}), NOTHING, "+", "Forecasts are outside what I have access to."),
    (asked({"cannot": ["weather", "forecast"]}), NOTHING, "-", "It'll be 24 degrees on Sunday."),
    (asked({"cannot": ["weather", "forecast"]}), NOTHING, "-", "I'll look up the weather."),
    (
        asked({"count": "446 days"}, {"cannot": ["recipe", "pancakes"]}),
        NOTHING,
        "+",
        "The commander, Ines Varga, has spent 446 days on stations: 183 on her first stay, 263 on her second. Pancake recipes aren't something these records hold, so there I have to pass.",
    ),
    (asked({"count": "446 days"}), NOTHING, "+", "four hundred and forty-six days in total"),
    (asked({"count": "446 days"}), NOTHING, "-", "183 days in total."),
    (asked({"time": "15:00"}), NOTHING, "+", "It expires at three p.m."),
    (
        asked({"number": 240}),
        NOTHING,
        "+",
        "Two hundred and forty, according to your reminder of 3 March: 'Pay Fergus 240 for the mooring, due on 30 April'.",
    ),
    (asked({"number": 240}), NOTHING, "-", "You owe him 420."),
    (asked({"text": ["French"]}), NOTHING, "+", "It's in French, with English subtitles."),
    (asked({"text": ["French"]}), NOTHING, "-", "It is in Danish or in French."),
    (asked({"text": ["French"]}), NOTHING, "-", "It could be French or Danish."),
    (asked({"text": ["French"]}), NOTHING, "-", "Danish, French, German, Spanish, Italian, Dutch, Polish, Swedish"),
    (
        asked({"text": ["French"]}),
        NOTHING,
        "-",
        "The language is one of: Danish, French, German, Spanish, Italian, Dutch, Polish, or Swedish.",
    ),
    (asked({"text": ["French"]}), NOTHING, "-", "It's not in French."),
    (
        asked({"weekday": "Thursday"}),
        NOTHING,
        "+",
        "It falls on a Thursday this year (24 September 2026). Last year it was a Wednesday.",
    ),
    (
        asked({"phone": "+17095550111"}),
        NOTHING,
        "+",
        "The coach's number is plus one, seven oh nine, five five five, oh one one one.",
    ),
    (
        asked({"phone": "+17095550111"}),
        NOTHING,
        "+",
        "Sean Power, the hockey coach: (709) 555-0111. Your uncle of the same name has +1 709-555-0122.",
    ),
    (asked({"phone": "+17095550111"}), NOTHING, "-", "His number is +1 709-555-0122."),
    (asked({"temperature": "3 C"}), NOTHING, "+", "3 °C today; tonight it dips to -3 °C (27 °F)."),
    (asked({"temperature": "3 C"}), NOTHING, "+", "It gets up to three degrees, and down to minus three at night."),
    (asked({"temperature": "3 C"}), NOTHING, "-", "Minus three degrees."),
    (asked({"quantity": "19.5 kg"}), NOTHING, "+", "Your suitcase weighs 19.5 kg; airlines allow 20 or 23 kg."),
    (asked({"count": "154 likes"}), NOTHING, "+", "The fig post, with 154 against 125 for the other; that's 29 more."),
    (asked({"date": "06-30"}), NOTHING, "+", "It's valid until June 30; the message came on May 16."),
    (asked({"time": "19:30"}), NOTHING, "+", "a table for six at half past seven. You sent that at 13:05."),
    (
        asked({"money": "101 EUR"}, {"name": "Hotel New Bridge"}),
        NOTHING,
        "+",
        "The cheapest is Hotel New Bridge at €101 a night, breakfast not included. The runner-up costs 120.",
    ),
    (asked({"wifi": "off"}), done("set_wifi_status"), "+", "I called the set_wifi_status tool. Wifi is now off."),
    (asked({"wifi": "off"}), done("set_wifi_status"), "+", "Turned your Wi-Fi off. It was on before."),
    (asked({"wifi": "off"}), done("set_wifi_status"), "-", "I cannot turn off the wifi because the battery is low."),
    (asked({"money": "30 USD"}), NOTHING, "-", "A night costs $30. In short: a night costs $40."),
    (asked({"money": "30 USD"}), NOTHING, "+", "A night costs $30, that is $60 for two. In short: $30."),
    (
        asked({"money": "30 USD"}),
        NOTHING,
        "+",
        "A night costs $30. In short: $12 for the bed, and $18 more for the rest.",
    ),
    (
        asked({"deed": "change"}),
        done("modify_reminder"),
        "+",
        "Moved your dentist reminder by a week and two hours: it's now on Thursday, 16 April at 11:00 instead of 9 April at 9:00.",
    ),
    (
        asked({"deed": "remove"}),
        done("remove_reminder"),
        "+",
        "The card reminder's gone. You have three left, none of them changed.",
    ),
    (asked({"deed": "remove"}), done("remove_reminder"), "+", "Gone."),
    (
        asked({"text": ["no messages", "none", "nothing", "empty", "no texts"]}),
        NOTHING,
        "+",
        "Your inbox has nothing in it. I didn't find a single text.",
    ),
    (
        asked({"undone": "add"}, {"cannot": ["number"]}),
        NOTHING,
        "+",
        "I can't add Gus, because there's no number for him; so I left your contacts as they are.",
    ),
    (
        asked({"text": ["tonnes"]}, {"text": ["Kiln Bay"]}),
        NOTHING,
        "+",
        "They measure it in tonnes, and the capital of Hornos is Kiln Bay.",
    ),
    (
        asked({"name": "Anton Abara"}, {"count": "8 goals"}),
        NOTHING,
        "+",
        "Anton Abara leads the list with eight goals, ahead of Luis Reyes (7) and Kofi Mensah (6).",
    ),
    (
        asked({"name": "Anton Abara"}, {"count": "8 goals"}),
        NOTHING,
        "+",
        "Top scorer: Anton Abara – 8 goals in 12 matches. He is followed by Luis Reyes and Kofi Mensah, seven each.",
    ),
    (asked({"name": "Anton Abara"}, {"count": "8 goals"}), NOTHING, "-", "Anton Abara or Luis Reyes, with 8 goals."),
    (asked({"text": ["tessa@fennwood.example"]}), NOTHING, "+", "The address is tessa at fennwood dot example."),
    (asked({"text": ["NA-130"]}), NOTHING, "+", "Your flight is N A one thirty."),
    (asked({"wifi": "on"}), NOTHING, "+", "Yes, you're on wifi right now; cellular is on, too."),
]


@pytest.mark.parametrize(("facts", "back", "right", "message"), REPLIES, ids=[row[3][:40] for row in REPLIES])
def test_a_reply_is_right_or_not(facts: tuple[Fact, ...], back: Background, right: str, message: str) -> None:
    assert hear(message, facts, back).right is (right == "+")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (asked({"number": 240}), "I think it's 240."),
        (asked({"number": 240}), "Last month it was 240."),
        (asked({"deed": "send"}), "Perhaps it was sent."),
        (asked({"text": ["French"]}), "I didn't see that it's in the list of films in French."),
    ],
)
def test_what_is_not_certain_is_in_doubt(facts: tuple[Fact, ...], message: str) -> None:
    hearing = hear(message, facts, SENT)
    assert [item.outcome for item in hearing.findings] == ["doubt"]
    assert not hearing.false


def test_a_value_told_under_its_neighbours_name_is_said_of_something_else() -> None:
    facts, back = asked({"percent": 81}), Background(answers=[({}, {"critics": 56, "audience": 81})])
    assert hear("Critics: 56%, audience: 81%.", facts, back).right
    assert not hear("The critics gave it 81%, the audience 56%.", facts, back).right
