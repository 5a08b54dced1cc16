"""The reader of acts: laws that hold for any message, its cost, and weights that training reproduces."""

import hashlib
import json
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_scenarios.model import Script

from bench import talk_acts, train_acts
from sandbox_mcp.play.users import Line, ScriptedUser
from sandbox_mcp.play.users.acts import Act, read_acts, wish_of
from sandbox_mcp.play.users.acts.answers import is_beside
from sandbox_mcp.play.users.acts.deeds import classes_in
from sandbox_mcp.play.users.acts.plain import sentences
from sandbox_mcp.play.users.scripted import WAITING
from tests.counted_steps import lines
from tests.each import each
from tests.laws import ASKED, at_least

WISH = wish_of("Text Fredrik that I'll be late.")
HEARD = [
    heard
    for path in sorted(train_acts.TRAINING.glob("*.txt"))
    for heard in talk_acts.parse(path.read_text("utf-8").splitlines(), path.name)
]


def test_the_weights_were_made_from_these_corpora_by_this_script() -> None:
    """If not: ``python -m bench.train_acts``."""
    assert json.loads(train_acts.TARGET.read_text("utf-8"))["made_from"] == train_acts.made_from()


@pytest.mark.hypothesis
@pytest.mark.skipif(not ASKED, reason="takes a quarter of a minute; 'make laws' does it")
def test_training_reproduces_the_weights_byte_for_byte() -> None:
    assert train_acts.written(train_acts.train(train_acts.examples())) == train_acts.TARGET.read_text("utf-8")


@given(st.text(max_size=300))
@settings(max_examples=at_least(25), deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    assert read_acts(text, WISH).act in Act


@given(st.sampled_from(HEARD), st.sampled_from(["**{}**", "{}\n", "  {}", "> {}", "{} 🙂"]))
@settings(max_examples=at_least(30), deadline=None)
def test_marks_around_a_message_change_nothing_that_it_gives_up_or_delivers(
    heard: talk_acts.HeardMessage, form: str
) -> None:
    plain = read_acts(heard.text, WISH, heard.calls)
    if "\n" not in heard.text:
        assert read_acts(form.format(heard.text), WISH, heard.calls).act is plain.act


@given(st.sampled_from(HEARD))
@settings(max_examples=at_least(30), deadline=None)
def test_what_is_met_turns_questions_into_offers_and_settles_true_claims(heard: talk_acts.HeardMessage) -> None:
    before, after = (read_acts(heard.text, WISH, heard.calls, met=met).act for met in (False, True))
    settled = after is Act.DELIVERS and before in (Act.PROMISES, Act.SMALL, Act.OPEN, Act.UNREADABLE, Act.ASKS)
    greeted = (before, after) == (Act.OPEN, Act.SMALL)  # what only greets waits to hear the wish while there is one
    assert after is before or settled or greeted or (before in (Act.LEAVE, Act.ASKS) and after is Act.OFFERS)


@pytest.mark.parametrize("piece", ["Shall I? ", "if you ", "a-", '"', "I can't do it. ", "((", "```", "to proceed "])
def test_reading_is_linear_in_the_length(piece: str) -> None:
    """Counted in lines of Python; steps of patterns are counted in tests/test_linear.py."""

    def cost(times: int) -> int:
        return lines(lambda text: read_acts(text, WISH), piece * times)

    assert cost(2000) <= 2.5 * cost(1000)


@each(
    ("words", "classes", "told"),
    [
        ("Text Fredrik that I'll be late.", {"message"}, False),
        ("How far is Osaka Castle from here?", {"place"}, True),
        ("Turn the wifi off.", {"setting"}, False),
        ("Can you save my vet in my contacts?", {"contact"}, False),
    ],
)
def test_a_wish_is_known_by_its_words(words: str, classes: set[str], told: bool) -> None:
    wish = wish_of(words)
    assert wish.classes >= classes
    assert wish.told is told or not told


def test_a_quotation_is_no_act() -> None:
    assert all("shall" not in sentence.text for sentence in sentences('The draft says "Shall I bring wine?".'))


@each(
    "said",
    [
        "Yes! I will book a table for seven.",
        "Shall we meet? I'm on my way. Let me look for the keys!",
        "No. I can't come. Sorry!",
    ],
)
@each(
    "form", ["Your last text to her was: {}", "She wrote: {}", "He says:\n\n> {}", "It's from Wren, and it reads: {}"]
)
def test_what_was_written_by_others_is_no_act_of_the_agent(said: str, form: str) -> None:
    wish = wish_of("What was the last thing I wrote to Wren?")
    assert read_acts(form.format(said), wish, 3).act is Act.DELIVERS


def test_behind_what_was_written_by_others_the_agent_may_turn_to_the_user() -> None:
    wish = wish_of("What was the last thing I wrote to Wren?")
    heard = read_acts("You wrote: Yes! I will book a table. Would you like me to text her the address?", wish, 3)
    assert heard.act is Act.OFFERS


@each(
    ("text", "act"),
    [
        ("The data of your trip:\n- Insurance: No\n- Origin: Oslo\n\nWhat should I change about it?", Act.ASKS),
        ("I can't do it, the service is off. Turn it on in the settings, and I'll send it.", Act.GIVES_UP),
        ("I can't tell which texts are from today, because there is no clock here.", Act.GIVES_UP),
        ("Found the number, texting him now.", Act.PROMISES),
        ("I now have all details and will text him next.", Act.PROMISES),
        ("Text sent. I'm pleased to confirm that Fredrik has your message.", Act.DELIVERS),
    ],
)
def test_what_surrounds_an_act_does_not_hide_it(text: str, act: Act) -> None:
    assert read_acts(text, WISH, 1).act is act


@each(
    ("wish", "text", "act"),
    [
        ("Remind me tomorrow.", "Might I bother you to tell me the hour?", Act.ASKS),
        ("Remind me tomorrow.", "I'd like to ask you to give me the time once more.", Act.ASKS),
        ("Text Fredrik that I'll be late.", "Nearly set! I still need:\n- [ ] his number\n- [x] the text", Act.ASKS),
        (
            "Text Fredrik that I'll be late.",
            "1. Fredrik Berg\n2. Fredrik Aas\n\nPlease answer with the number.",
            Act.ASKS,
        ),
        ("Turn the wifi off.", "I'd switch it off, if you wouldn't mind.", Act.LEAVE),
        (
            "Whoever texted me last is my swimming partner now. Please put that in my contacts.",
            "I can't read your messages. Do you know who texted you last?",
            Act.ASKS,
        ),
        ("How far is Osaka Castle from here?", "Before that, I have to know where you are.", Act.ASKS),
        ("Text Fredrik that I'll be late.", "Two Fredriks are in there, and I'm torn between them.", Act.ASKS),
        ("Text Fredrik that I'll be late.", "The service is down. Will you allow me to switch it on?", Act.LEAVE),
        (
            "Text Fredrik that I'll be late.",
            "This one seems right to me. If you think the same, I'll write to him.",
            Act.LEAVE,
        ),
    ],
)
def test_who_asks_by_a_roundabout_way_asks(wish: str, text: str, act: Act) -> None:
    assert read_acts(text, wish_of(wish), 1).act is act


@given(
    st.sampled_from(["Almost", "Nearly", "Not quite", "Just about"]),
    st.sampled_from(["there", "done", "finished"]),
    st.sampled_from(
        ["", "\n\nProgress report:\n- Look-up: completed\n- The rest: to follow", " with the look-up, now checking...",
         ", one more step", ", only two small steps left", ". The last step remains to be taken", ". Now I send it"]
    ),
    st.sampled_from(["How far is it?", "Text Fredrik that I'll be late.", "Turn the wifi off."]),
)  # fmt: skip
@settings(max_examples=at_least(25), deadline=None)
def test_what_is_almost_done_is_not_delivered(how: str, done: str, left: str, wish: str) -> None:
    assert read_acts(f"{how} {done}{left}.", wish_of(wish), 2).act is Act.PROMISES


@each(
    "text",
    [
        "**Timer**\n- *What:* tea\n- *When:* in 4 minutes\n- *Status:* running",
        "Timer? Set.",
        "Summary:\n- Who: you\n- Where: here\n- Timer: set for 4 minutes",
    ],
)
def test_labels_and_questions_that_answer_themselves_ask_nothing(text: str) -> None:
    assert read_acts(text, wish_of("Set a timer for four minutes."), 1, met=True).act is Act.DELIVERS


@each(
    ("wish", "text"),
    [
        ("Tell both of them that I'm moving.", "I texted both of them that you're moving."),
        ("Tell her that I'm checking.", "She knows that you are checking."),
        ("Which number do I enter?", "Enter 1775469600.0."),
        ("What do I type in?", "Type 20:30, and the day as 6."),
    ],
)
def test_an_answer_that_sounds_like_work_or_a_choice_is_an_answer(wish: str, text: str) -> None:
    assert read_acts(text, wish_of(wish), 2).act is Act.DELIVERS


def test_which_words_to_use_is_asked_rather_than_offered() -> None:
    reading = read_acts("Which Fredrik is it, and should I mention why you are late?", WISH, 1)
    assert (reading.act, reading.grants) == (Act.ASKS, False)


def test_a_message_of_others_is_named_by_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sessions.json").write_text('[{"traj": [{"role": "assistant", "content": "Sent."}]}]')
    monkeypatch.setattr(talk_acts, "DATA", tmp_path)
    digest = hashlib.sha256(b"Sent.").hexdigest()[:12]
    assert talk_acts.parse([f"T 1 y D X :: @sessions.json {digest}"])[0].text == "Sent."
    with pytest.raises(ValueError, match="no message"):
        talk_acts.parse(["T 1 y D X :: @sessions.json 000000000000"], "corpus")


def test_a_deed_of_no_known_class_is_foreign() -> None:
    assert classes_in("shall i book a taxi") == {"foreign"}


@each(
    "message",
    [
        "They write that the kiln cooled down overnight, and are in doubt about the glazing.",
        "She is not certain whether the ferry sails tonight.",
        "Your aunt would like you to confirm the dinner by six.",
        "You have three: return the library books, ring the plumber, and confirm the hotel.",
        "The note reads: bring the spare key, and tell the neighbours.",
    ],
)
def test_what_others_doubt_or_want_and_what_is_noted_is_told_rather_than_asked(message: str) -> None:
    told = wish_of("What did she write, and what have I noted?")
    assert read_acts(message, told, 1).act is Act.DELIVERS


@each(
    "message",
    [
        "There are two of them: tell me which one you mean.",
        "You have two options: turn on location, or give me your address.",
        "The currency is unclear: US or Canadian dollars.",
    ],
)
def test_what_is_left_open_is_asked_although_it_begins_like_news(message: str) -> None:
    assert read_acts(message, wish_of("How much are 85 euros in dollars?"), 0).act in (Act.ASKS, Act.LEAVE)


@each("form", ["**{}**", "> {}", "{} 🙂", "_{}_"])
@each("call", ["set_wifi_status(on=False)", '{"name": "set_wifi_status"}', "import os; os.exit()"])
def test_data_and_code_stay_unreadable_whatever_marks_stand_around_them(call: str, form: str) -> None:
    plain = read_acts(call, WISH, 0).act
    assert read_acts(form.format(call), WISH, 0).act is plain is Act.UNREADABLE


@each(
    ("text", "act"),
    [
        ("May I send it through your other number", Act.LEAVE),
        ("Could you tell me how late you'll be", Act.ASKS),
        ("You're sure that it should be Fredrik", Act.LEAVE),
        ("Only Fredrik, or the whole band", Act.ASKS),
        ("I can send it as soon as I hear from you.", Act.LEAVE),
        ("It is ready to go, but I'd like to see a yes first.", Act.LEAVE),
        ("Kindly let me know whether you agree with the wording.", Act.LEAVE),
        ("Am I permitted to turn cellular on", Act.LEAVE),
        ("Would you mind repeating his last name?", Act.ASKS),
        ("Is it Fredrik Berg or Fredrik Lind?", Act.ASKS),
        ("Still want me to send it?", Act.LEAVE),
    ],
)
def test_who_asks_without_a_question_mark_or_in_a_roundabout_way_is_heard(text: str, act: Act) -> None:
    assert read_acts(text, WISH, 1).act is act


@each("said", ["You're welcome! Have a lovely day!", "My pleasure. Good luck!", "Glad I could help!"])
def test_good_wishes_end_the_talk_once_the_wish_holds_and_wait_before(said: str) -> None:
    user = ScriptedUser(Script(()), "Text Fredrik that I'll be late.")
    for met, answer in ((True, None), (False, WAITING)):
        line = Line("agent", said, 0, met)
        assert anyio.run(user.respond, (Line("user", user.opening), line)).says == answer


@each("data", ['{"sent": true}', '[{"id": 7}]', '```json\n{"sent": true}\n```'])
def test_what_is_said_behind_data_is_read(data: str) -> None:
    assert read_acts(f"{data}\nYour text to Fredrik has been sent.", WISH, 1).act is Act.DELIVERS
    assert read_acts(f"{data}\nWhich Fredrik do you mean?", WISH, 1).act is Act.ASKS
    assert read_acts(data, WISH, 1).act is Act.UNREADABLE


def test_one_thing_done_and_one_to_come_is_no_delivery() -> None:
    assert read_acts("I've located Fredrik. On to the message.", WISH, 1).act is Act.PROMISES


@each("told", ["She is now listed as your boss.", "Ada Lind is listed as a neighbour now."])
def test_how_a_contact_is_kept_now_is_a_delivery_and_no_question_for_leave_is_an_extra_after_it(told: str) -> None:
    wish = wish_of("Change Ada Lind to a neighbour in my contacts.")
    assert read_acts(told, wish, 2).act is Act.DELIVERS
    removing = wish_of("Remove Ada Lind from my contacts.")
    assert read_acts("She's marked as your boss. You're certain you want her removed", removing, 1).act is Act.LEAVE


@each(
    ("wish", "text", "act"),
    [
        ("How far is Osaka Castle from here?", "How far is Osaka Castle? 42 km.", Act.DELIVERS),
        ("Save a new contact: Morven Ure, my vet.", "Looking for your vet? Morven Ure is saved.", Act.DELIVERS),
        ("Turn the wifi off.", "Is the wifi off? Yes, since a minute ago it has been turned off.", Act.DELIVERS),
        ("Turn the wifi off.", "Wifi off? Easy, one moment.", Act.PROMISES),
        ("Remove Homer from my contacts.", "Which Homer? I'll delete him right away.", Act.ASKS),
        ("Remove Homer from my contacts.", "Remove Homer? I'll do it once you say yes.", Act.LEAVE),
    ],
)
def test_a_question_that_is_answered_at_once_asks_nothing(wish: str, text: str, act: Act) -> None:
    assert read_acts(text, wish_of(wish), 1).act is act


@each(
    ("wish", "text", "act"),
    [
        ("Turn the wifi off.", "Your wifi is still connected. Want me to disable it?", Act.LEAVE),
        ("Turn the wifi off.", "Wifi is off. Want me to disable Bluetooth?", Act.OFFERS),
        ("Turn on the wifi.", "The wifi is off. Want me to turn it on?", Act.LEAVE),
        ("Text her and ask whether it is sold.", "I asked whether it is still for sale.", Act.DELIVERS),
        ("Save me in my contacts.", "You are in the contacts now.", Act.DELIVERS),
        ("What will the weather be tomorrow?", "You're in Oslo, it seems. Shall I get the forecast for it?", Act.LEAVE),
    ],
)
def test_how_things_stand_is_no_deed(wish: str, text: str, act: Act) -> None:
    assert read_acts(text, wish_of(wish), 1).act is act


@each(
    ("text", "act"),
    [
        ("I can't send texts. I could draft one for you, would that help?", Act.OFFERS),
        ("There is no tool for that. What I might do is start a timer. Interested?", Act.OFFERS),
        ("It didn't go out because cellular is off. I could turn it on. Would you like me to?", Act.LEAVE),
        ("I can't see anyone of that name. Is he perhaps under a nickname?", Act.ASKS),
        ("I didn't find him. Could you share his number with me?", Act.ASKS),
    ],
)
def test_behind_what_cannot_be_done_a_substitute_is_told_from_another_way(text: str, act: Act) -> None:
    assert read_acts(text, WISH, 1).act is act


@each("text", ["Hello!", "Hey hey 👋", "Good afternoon, and welcome.", "Hi there, good to see you."])
def test_a_bare_greeting_waits_to_hear_what_is_wanted(text: str) -> None:
    assert read_acts(text, WISH, 0).act is Act.OPEN


def test_agreeing_is_no_greeting() -> None:
    assert read_acts("Hi, sure thing!", WISH, 0).act is not Act.OPEN


@each(
    ("wish", "text", "beside"),
    [
        ("How far is Osaka Castle from here?", "Your phone is at 1-2 Namba, Chuo Ward.", True),
        ("How far is Osaka Castle from here?", "Osaka Castle was finished in 1597.", True),
        ("How far is Osaka Castle from here?", "It's 8.4 km.", False),
        ("How far is Osaka Castle from here?", "It is a short walk.", False),
        ("How much is 85 euros in dollars?", "One euro is 1.09 dollars.", True),
        ("How much is 85 euros in dollars?", "At one euro to 1.09 dollars, that's 92.65 dollars.", False),
        ("What will the weather be tomorrow?", "Today it's 18 degrees and cloudy.", True),
        ("What will the weather be tomorrow?", "Tomorrow it's 18 degrees, warmer than today.", False),
        ("Turn the wifi off.", "The wifi is off.", False),
    ],
)
def test_a_bare_fact_of_another_kind_than_was_asked_for_is_no_answer(wish: str, text: str, beside: bool) -> None:
    heard = wish_of(wish)
    assert is_beside(text, heard.sought, heard.words) is beside
    assert beside is (read_acts(text, heard, 1).act is not Act.DELIVERS)


@each(
    "text",
    [
        "It refused, low battery mode is on. Shall I end low battery mode and repeat?",
        "That bounced. May I switch cellular on and have another go?",
    ],
)
def test_leave_for_another_try_is_for_the_wish(text: str) -> None:
    assert read_acts(text, WISH, 1).act is Act.LEAVE


def test_leave_that_is_asked_for_in_the_words_of_the_wish_is_for_the_wish() -> None:
    wish = wish_of("What will the weather be tomorrow?")
    assert read_acts("You seem to be in Porto. Shall I check tomorrow's weather there?", wish, 1).act is Act.LEAVE


@each("text", ["What I don't have is the wording of the note.", "All I still lack is the hour."])
def test_what_is_said_to_be_missing_is_asked_for(text: str) -> None:
    assert read_acts(text, wish_of("Remind me tomorrow to call the plumber."), 1).act is Act.ASKS


@each(
    ("wish", "text", "act"),
    [
        (
            "Remove Homer from my contacts.",
            "Your list is kept by the office's server, which rejects removals.",
            Act.GIVES_UP,
        ),
        ("Turn the wifi off.", "Radios sit outside what I may touch.", Act.GIVES_UP),
        (
            "How far is Osaka Castle from here?",
            "I know where it stands, but no tool of mine tells me where you are.",
            Act.GIVES_UP,
        ),
        ("Text Fredrik that I'm late.", "Should it go to his mobile, his work phone or the landline?", Act.ASKS),
        ("How far is Osaka Castle from here?", "Would it trouble you if I read the phone's position?", Act.LEAVE),
        ("Text Fredrik that I'm late.", "Sent. He gave it a thumbs up.", Act.DELIVERS),
    ],
)
def test_limits_choices_of_three_and_oblique_leave(wish: str, text: str, act: Act) -> None:
    assert read_acts(text, wish_of(wish), 0 if act is not Act.DELIVERS else 1).act is act
