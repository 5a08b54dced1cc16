"""Amounts as people write them: long ones, words that are also currencies, and the end of a scale."""

from sandbox_grader.claims import hear
from sandbox_grader.claims.texts import faults
from sandbox_scenarios.facts import facts_of

from tests.each import each


@each(
    ("message", "fact"),
    [
        ("Blue Hour took $114,600,000.", {"money": "114600000 USD"}),
        ("It made 114,600,000 dollars in cinemas.", {"money": "114600000 USD"}),
        ("It made 114.6 million dollars.", {"money": "114600000 USD"}),
        ("It made $114.6M.", {"money": "114600000 USD"}),
        ("It took in $114.6 m, while the other one did not.", {"money": "114600000 USD"}),
        ("It made 114.6M US dollars, or USD 114.6 mn.", {"money": "114600000 USD"}),
        ("It made USD 114600000.", {"money": "114600000 USD"}),
        ("It made €1.2bn in all.", {"money": "1200000000 EUR"}),
        ("It made 1.2 billion euros.", {"money": "1200000000 EUR"}),
        ("It made two billion euros.", {"money": "2000000000 EUR"}),
        ("It is 940 m away, and a taxi is $9.", {"quantity": "940 m"}),
        ("The film won 3 awards.", {"count": "3 awards"}),
        ("It won three awards in all.", {"count": "3 awards"}),
        ("Critics gave it 56 out of 100.", {"number": 56}),
        ("It was played 2,681,395 times, so 2,681,395 plays.", {"count": "2681395 plays"}),
        ("It had 2681395 plays.", {"count": "2681395 plays"}),
        ("That is 8 out of 10 points.", {"number": 8}),
    ],
)
def test_is_said(message: str, fact: object) -> None:
    assert hear(message, facts_of(fact)).right


@each(
    ("message", "fact"),
    [
        ("It took $114,700,000.", {"money": "114600000 USD"}),
        ("It took $114.7M.", {"money": "114600000 USD"}),
        ("It took $114.6bn.", {"money": "114600000 USD"}),
        ("It took $114.6.", {"money": "114600000 USD"}),
        ("It costs 3 won.", {"count": "3 awards"}),
        ("It had 2,681,396 plays.", {"count": "2681395 plays"}),
        ("Call 5550178 about it.", {"money": "5550178 USD"}),
    ],
)
def test_is_not_said(message: str, fact: object) -> None:
    assert not hear(message, facts_of(fact)).right


@each(
    ("text", "model", "alike"),
    [
        ("See you on the 12th.", "See you on 12 July.", True),
        ("See you on 12 August.", "See you on 12 July.", False),
        ("See you on 12 July 2027.", "See you on 12 July 2026.", False),
        ("You owe me $5.", "You owe me 5 US dollars.", True),
        ("You owe me 5 EUR.", "You owe me 5 USD.", False),
        ("It's 5 °C.", "It's 5 degrees.", True),
        ("It's 5 °C.", "It's 5 °F.", False),
        ("I won the regatta!", "I won!", True),
        ("We lost the regatta.", "We won!", False),
        ("I missed the train, see you later.", "I caught the train.", False),
        ("I was early, not late.", "I was not late.", True),
    ],
)
def test_a_written_text_has_the_days_the_units_and_the_sense_of_its_model(text: str, model: str, alike: bool) -> None:
    assert (faults(text, [model]) is None) is alike
