"""States told by verbs, deeds done to others or only drafted, and figures that are no answer of the speaker's."""

from sandbox_grader.claims import Background, hear
from sandbox_scenarios.model import Fact

from tests.each import each

REMOVED = (Fact("deed", ("remove",)), Fact("name", ("Petra Vogel",)))
PEOPLE = Background(
    given=("Petra Vogel",), deeds=frozenset({"remove"}), names=("Petra Vogel", "Peter Vogel", "Samir Haddad")
)
RATE = Fact("money", (92.31,), "USD")
LEFT = Fact("count", (41,), "day")


@each("way", ["on", "off"])
@each("words", ["I've turned {} the wifi.", "I switched {} your wifi.", "Turned {} the wifi for you."])
def test_a_switch_may_be_told_with_its_thing_behind_it(words: str, way: str) -> None:
    other = "off" if way == "on" else "on"
    back = Background(deeds=frozenset({"switch"}))
    assert hear(words.format(way), [Fact("state", (way,), "wifi")], back).right
    assert not hear(words.format(other), [Fact("state", (way,), "wifi")], back).right


@each(
    ("message", "stands"),
    [
        ("Your phone is in low battery mode.", "on"),
        ("Your phone isn't in low battery mode any more.", "off"),
        ("Your phone is now out of low battery mode.", "off"),
    ],
)
def test_a_phone_is_in_a_mode_or_out_of_it(message: str, stands: str) -> None:
    for way in ("on", "off"):
        assert hear(message, [Fact("state", (way,), "low battery mode")]).right is (way == stands)


@each(
    ("message", "right"),
    [
        ("Petra Vogel is deleted; Peter Vogel is still in your contacts.", True),
        ("I kept Petra Vogel and removed Samir Haddad.", False),
        ("Before I delete Petra Vogel, I need your word.", False),
        ("I deleted Petra Vogel, or at least I think so.", False),
    ],
)
def test_a_deed_is_told_of_whom_it_was_done_to(message: str, right: bool) -> None:
    assert hear(message, REMOVED, PEOPLE).right is right


def test_a_draft_that_leave_is_asked_for_was_not_sent() -> None:
    sent = Fact("deed", ("send",))
    assert not hear('Here is a message for her: "Home safe!" Shall I send it?', [sent]).right
    assert hear('Here is the message that I sent her: "Home safe!"', [sent]).right


@each(
    "message",
    [
        "$92.31 is a random example.",
        "Some people say that it's $92.31.",
        "$92.31, as if I knew.",
        "$92.31 would be wrong.",
        "$92.31 is what you would have got last year.",
    ],
)
def test_what_is_only_said_for_example_or_by_others_is_no_answer(message: str) -> None:
    assert not hear(message, [RATE]).right
    assert hear("You'd get $92.31 for it.", [RATE]).right


def test_a_recount_takes_the_first_count_back() -> None:
    assert not hear("41 days – or, if I count again, 39 days.", [LEFT]).right


@each(
    ("message", "fact"),
    [
        ("It's just over three miles: three point one, to be precise.", Fact("quantity", (3.1,), "mi")),
        ("Roughly thirteen kilometers.", Fact("quantity", (12.9,), "km")),
        ("That's three quarters of an hour, 45 minutes to be exact.", Fact("duration", (2700,))),
        ("Your timer has been set: 00:11:00", Fact("duration", (660,))),
        ("The difference between Oslo and Los Angeles is 9 hours.", Fact("count", (9,), "hour")),
        ("I saved her under +1 (512) 555-0143.", Fact("phone", ("+15125550143",))),
    ],
)
def test_a_value_is_heard_in_the_words_of_its_kind(message: str, fact: Fact) -> None:
    assert hear(message, [fact]).right


def test_both_ends_of_a_range_are_told_where_both_are_asked() -> None:
    ends = [Fact("temperature", (22,), "C"), Fact("temperature", (11,), "C")]
    assert hear("Between 11 and 22 degrees Celsius.", ends).right
    assert not hear("Between 11 and 24 degrees Celsius.", ends).right
    assert not hear("Between 11 and 22 degrees Celsius.", ends[:1]).right


def test_what_is_told_to_people_takes_a_message() -> None:
    far = Fact("quantity", (512.4,), "km")
    read = Background(deeds=frozenset({"read"}))
    assert hear("It's 512.4 km. I have told your family that you're on your way.", [far], read).invented
    assert not hear("It's 512.4 km, as I have told you.", [far], read).invented


@each("met", ["got a strange warning", "ran into a small snag", "received no answer"])
def test_what_was_met_with_on_the_way_is_no_deed(met: str) -> None:
    far = Fact("quantity", (512.4,), "km")
    read = Background(deeds=frozenset({"read"}))
    assert not hear(f"I looked too early and {met}. It's 512.4 km.", [far], read).invented
    assert hear("I also got a taxi for you; it's 512.4 km.", [far], read).invented


def test_unwillingness_is_no_inability() -> None:
    mail = Fact("cannot", ("email",))
    assert not hear("I could email Bruno, but I'd rather not.", [mail]).right
    assert hear("I have no way to email Bruno.", [mail]).right


@each(
    ("message", "right"),
    [
        ("It was Brandvold's.", True),
        ("Gustav did, with Ottilie Brandvold's help.", True),
        ("It goes back to Gustav Henrik Brandvold.", True),
        ("Called Brandvold.", True),
        ("That is by Dr Brandvold.", True),
        ("I asked Gustav Monday.", True),
        ("It was Ottilie Brandvold's.", False),
        ("Ottilie Brandvold invented it.", False),
        ("That was Gustav Mensah.", False),
        ("Gustav Mensah invented it.", False),
    ],
)
def test_a_part_of_a_name_counts_but_in_the_name_of_somebody_else(message: str, right: bool) -> None:
    back = Background(deeds=frozenset({"read"}), known=("Gustav Brandvold", "Ottilie Brandvold"))
    assert hear(message, [Fact("name", ("Gustav Brandvold",))], back).right is right
