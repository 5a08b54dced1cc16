"""The reader of acts: laws that hold for any message, weights that training reproduces, and classes of messages."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench import talk_acts, train_acts
from sandbox_mcp.engine.talk.acts import Act, read_acts
from sandbox_mcp.engine.talk.acts.reading import sentences
from tests.counted_steps import lines
from tests.each import each
from tests.laws import ASKED, at_least

WISH = "Text Fredrik that I'll be late."
HEARD = [
    heard
    for path in sorted(train_acts.TRAINING.glob("*.txt"))
    if "played" not in path.name
    for heard in talk_acts.parse(path.read_text("utf-8").splitlines(), path.name)
]


def test_the_weights_were_made_from_these_corpora_by_this_script() -> None:
    """If not: ``python -m bench.train_acts``."""
    assert json.loads(train_acts.TARGET.read_text("utf-8"))["made_from"] == train_acts.made_from()


@pytest.mark.hypothesis
@pytest.mark.skipif(not ASKED, reason="takes half a minute; 'make laws' does it")
@pytest.mark.skipif(not talk_acts.DATA.is_dir(), reason="learns from sessions in the folder of data")
def test_training_reproduces_the_weights_byte_for_byte() -> None:
    assert train_acts.written(train_acts.train(train_acts.examples())) == train_acts.TARGET.read_text("utf-8")


@given(st.text(max_size=300))
@settings(max_examples=at_least(25), deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    assert read_acts(text, WISH).act in Act


@given(
    st.sampled_from(HEARD),
    st.sampled_from(["**{}**", "{}\n", "  {}", "<p class='x'>{}</p>", "<think>Shall I ask?</think>{}"]),
)
@settings(max_examples=at_least(30), deadline=None)
def test_marks_and_reasoning_around_a_message_change_nothing(heard: talk_acts.HeardMessage, form: str) -> None:
    if "\n" not in heard.text and "*" not in heard.text:
        assert read_acts(form.format(heard.text), WISH).act is read_acts(heard.text, WISH).act


@given(st.sampled_from(HEARD))
@settings(max_examples=at_least(30), deadline=None)
def test_what_is_met_makes_no_promise_and_no_question_of_a_claim(heard: talk_acts.HeardMessage) -> None:
    before, after = (read_acts(heard.text, WISH, heard.calls, met=met).act for met in (False, True))
    assert before is after or after in (Act.OFFERS, Act.CLOSES, Act.DELIVERS, Act.GIVES_UP)


@pytest.mark.parametrize("piece", ["Shall I? ", "if you ", "a-", '"', "I can't do it. ", "((", "> a\n", "~~"])
def test_reading_is_linear_in_the_length(piece: str) -> None:
    """Counted in lines of Python; steps of patterns are counted in tests/test_linear.py."""

    def cost(times: int) -> int:
        return lines(lambda text: read_acts(text, WISH), piece * times)

    cost(500)  # patterns are compiled when they are first used
    assert cost(2000) <= 2.5 * cost(1000)


@each(
    "text",
    [
        'The draft says "Shall I bring wine?".',
        "Here it is:\n\n> Shall I bring wine?",
        "- **Message:** Shall I bring wine?\n- **To:** Wren",
    ],
)
def test_a_quotation_and_a_draft_are_no_act(text: str) -> None:
    assert not any("wine" in sentence for sentence in sentences(text))


@each(
    ("wish", "text"),
    [
        (WISH, "Phone's locked. Code?"),
        ("What's my landlord's number?", "Not signed in. Account and password, please?"),
        ("Remind me on Friday to pay the rent.", "Friday of which week?"),
        ("Save my new neighbour.", "Name and number?"),
        ("What will the weather be?", "For what town?"),
        (WISH, "There are two of that name. The plumber or the uncle?"),
        ("Cancel my subscription.", "I need the order's number before I can do that."),
    ],
)
def test_a_question_of_one_line_asks(wish: str, text: str) -> None:
    assert read_acts(text, wish, 0).act is Act.ASKS


@each(
    ("wish", "text"),
    [
        ("Return Emma, and pay my fine.", "Emma is back on the shelf, and the fine of 3 euros is settled."),
        ("Order two crates.", "I've ordered two crates. The shop closes at six today."),
        (WISH, "Fredrik has been texted; your other chats are as they were."),
        ("Who won in 2019?", "Pilot Island, four to nil."),
        ("Wake me at seven.", "The alarm is set for seven. If that's too late, just say so."),
        ("Remind me on Friday to pay the rent.", "Set for Friday, 12 March. Correct me if you meant a later one."),
        ("Turn wifi off.", "Wifi's off. Bluetooth stays on."),
    ],
)
def test_a_statement_after_which_nothing_is_offered_delivers(wish: str, text: str) -> None:
    assert read_acts(text, wish, 1).act is Act.DELIVERS


@each(
    ("wish", "text"),
    [
        ("What's the weather like?", "I have tools for mail and appointments; the weather is not among them."),
        ("Play some jazz.", "Music isn't something that I can put on from here."),
        ("Delete Homer.", "Only looking things up is open to me, so Homer has to stay."),
        (WISH, "I tried, but it bounced: your line is blocked, and I can't unblock it."),
    ],
)
def test_a_refusal_is_heard_however_it_is_put(wish: str, text: str) -> None:
    assert read_acts(text, wish, 1).act is Act.GIVES_UP


@each("text", ["You're welcome, have a lovely evening!", "Bye now!", "Any time. Safe travels!"])
def test_a_goodbye_is_no_act_that_waits(text: str) -> None:
    assert read_acts(text, WISH, 0, met=True).act in (Act.SMALL, Act.DELIVERS)


@each(
    ("text", "act"),
    [
        ("What can I do for you today?", Act.OPEN),
        ("Sorry, I didn't understand. Could you rephrase that?", Act.OPEN),
        ("Cellular is off. Shall I switch it on?", Act.LEAVE),
        ("Sent. Shall I switch cellular off again?", Act.OFFERS),
        ("One moment, looking for his number.", Act.PROMISES),
    ],
)
def test_plain_acts(text: str, act: Act) -> None:
    assert read_acts(text, WISH, int(text.startswith("Sent"))).act is act


def test_each_sentence_has_an_act_of_its_own() -> None:
    heard = read_acts("I can't ring him. I've texted him instead. Shall I set a reminder?", WISH, 1)
    assert [item.act for item in heard.sentences][:2] == [Act.GIVES_UP, Act.DELIVERS]
    assert heard.asking == "shall i set a reminder?"


def test_a_message_of_others_is_named_by_its_digest() -> None:
    with pytest.raises(ValueError, match="is not there"):
        talk_acts.parse(["A 0 n I A :: @nowhere.json 0123456789ab"], "x")
