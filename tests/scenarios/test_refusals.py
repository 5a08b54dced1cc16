"""The briefs of the suite's users, asked for leave: yes to what they want, no to what they refuse."""

import anyio

from sandbox_mcp.play.users import Line, ScriptedUser
from tests.each import each
from tests.suite import SUITE


def answer(name: str, question: str) -> str | None:
    """What the user of a scenario says to the agent's first question."""
    user = SUITE.get(name).user

    async def asked() -> str | None:
        return (await ScriptedUser.of(user).respond([Line("user", user.opening), Line("agent", question)])).says

    return anyio.run(asked)


@each(
    ("name", "question"),
    [
        ("bread_is_out", "Shall I stop the bread's timer?"),
        ("coach_by_another_name", "Shall I change the entry of your hockey coach to Coach Power?"),
        ("swimming_partner", "Shall I change the entry of Hoài An to swimming partner?"),
        ("chiyos_new_number", "Shall I text Chiyo at the number in your contacts that Tuesday suits you?"),
        ("answer_the_skipper", "Shall I text Fergus that you take two crates?"),
        ("dentist_postponed_with_number", "Shall I move the dentist reminder by a week and two hours?"),
        ("sean_of_the_dinner", "Shall I text Sean, your uncle, who invited you to dinner?"),
        ("noted_twice", "Shall I delete the earlier reminder about the water filter?"),
        ("thanks_but_not_unsent", "Shall I text Bo-ra that you'll run with her tomorrow?"),
        ("signed_out_too_soon", "Shall I sign you out now?"),
        ("second_guest_unknown", "Shall I text Marco Nardini that the gym stays open until nine?"),
        ("saving_before_searching", "Shall I turn low battery mode on now?"),
    ],
)
def test_asked_for_leave_for_what_it_wants_a_user_agrees(name: str, question: str) -> None:
    assert str(answer(name, question)).startswith("Yes")


@each(
    ("name", "question"),
    [
        ("bread_is_out", "Should I stop the washing timer too?"),
        ("wifi_off_with_care", "Shall I also switch cellular service off?"),
        ("dentist_postponed_with_number", "Should I save the dentist's new number too?"),
        ("chiyos_new_number", "Chiyo's number seems to have changed. Should I update her entry?"),
        ("sean_of_the_dinner", "Shall I text your coach Sean?"),
        ("forget_number_with_date", "Shall I also set a reminder?"),
        ("early_ferry_no_switch", "Shall I switch wifi on instead?"),
        ("seedlings_later_no_changing", "Shall I delete the reminder so that you can make a new one?"),
        ("mountain_on_sunday_no_texting", "Would you like me to set a reminder to write to Annelie instead?"),
        ("prescription_no_search", "Shall I set the reminder without a place?"),
        ("car_not_quite_fixed", 'Shall I text Dmitri "Your car is fixed"?'),
        ("landlady_stays", "Are you sure that I should delete Chiyo Fujiwara?"),
    ],
)
def test_asked_for_leave_for_what_it_refuses_a_user_says_no(name: str, question: str) -> None:
    assert str(answer(name, question)).startswith("No")
