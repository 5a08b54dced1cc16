"""Gates: actions that the user must confirm, and phones that must be signed in to first."""

import dataclasses
from typing import Any

import anyio
from sandbox_scenarios import Scenario
from sandbox_scenarios.model import Script

from sandbox_mcp.engine.trajectory import MemoryLog, ToolCall
from sandbox_mcp.engine.world import Change, fold
from sandbox_mcp.play.session import AgentCall, Session, SessionSpec, Unconfirmed
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.users import ScriptedUser
from tests.each import each
from tests.suite import SUITE

WIFI_OFF = SUITE.get("wifi_off")
ADA = {"name": "Ada", "phone_number": "+14155550123"}
GRACE = {**ADA, "name": "Grace"}
CONFIRMED = dataclasses.replace(WIFI_OFF, tools=("add_contact", "get_wifi_status"), confirm=("add_contact",))
ACCOUNT = {"account_id": "a", "username": "ingrid", "password": "lake-side-9", "signed_in": False}
SIGNED = dataclasses.replace(
    WIFI_OFF,
    tools=("sign_in", "sign_out", "set_wifi_status"),
    gates=("sign_in",),
    world=fold(WIFI_OFF.world, [Change("account", "a", None, ACCOUNT)]),
)


def opened(scenario: Scenario, script: Script | None = None, variant: str = "base") -> tuple[Session, MemoryLog]:
    log = MemoryLog()
    session = Session(SessionSpec(scenario, variant), ScriptedUser(script or scenario.user.script), log)
    session.begin()
    return session, log


def say(session: Session, text: str) -> Any:
    return anyio.run(session.say, text)


def code_in(session: Session, arguments: dict[str, str]) -> str:
    error = session.call("add_contact", arguments).error or ""
    assert error.startswith("ConfirmationRequiredError")
    return next(word.strip(",.") for word in error.split() if word.startswith("OK-"))


def test_an_action_that_must_be_confirmed_does_not_run_at_once() -> None:
    session, log = opened(CONFIRMED)
    code_in(session, ADA)
    call = log.events[-1]
    assert isinstance(call, ToolCall)
    assert call.error is not None
    assert (call.error.kind, call.changes) == ("refused", ())


def test_once_the_user_has_confirmed_the_same_call_goes_through() -> None:
    session, log = opened(CONFIRMED)
    code = code_in(session, ADA)
    assert say(session, f"I am about to add Ada. Is that fine? The code is {code}.").text == "Yes, please."
    assert session.call("add_contact", ADA).error is None
    assert [(event.caller, event.tool) for event in log.events if isinstance(event, ToolCall)] == [
        ("agent", "add_contact"),
        ("user", "confirm_action"),
        ("agent", "add_contact"),
    ]


def test_a_confirmation_is_for_one_call_with_those_arguments() -> None:
    session, _ = opened(CONFIRMED)
    say(session, f"Shall I add Ada? {code_in(session, ADA)}")
    assert "ConfirmationRequired" in (session.call("add_contact", GRACE).error or "")
    assert session.call("add_contact", ADA).error is None
    assert "ConfirmationRequired" in (session.call("add_contact", ADA).error or "")


def test_the_users_yes_without_the_code_is_not_enough() -> None:
    session, _ = opened(CONFIRMED)
    code_in(session, ADA)
    say(session, "Shall I add Ada?")
    assert "ConfirmationRequired" in (session.call("add_contact", ADA).error or "")


def test_a_user_who_declines_confirms_nothing() -> None:
    session, log = opened(CONFIRMED, Script(approves=False, decline="No, leave her out."))
    assert say(session, f"Shall I add Ada? {code_in(session, ADA)}").text == "No, leave her out."
    assert "ConfirmationRequired" in (session.call("add_contact", ADA).error or "")
    assert not [event for event in log.events if isinstance(event, ToolCall) and event.caller == "user"]


def test_a_code_that_nobody_gave_out_confirms_nothing() -> None:
    session, log = opened(CONFIRMED)
    say(session, "Shall I add Ada? OK-ABCDEF")
    call = next(event for event in log.events if isinstance(event, ToolCall))
    assert call.error is not None
    assert call.error.message == "nothing with the code 'OK-ABCDEF' waits"


def test_queries_need_no_confirmation() -> None:
    session, _ = opened(CONFIRMED)
    assert session.call("get_wifi_status", {}).error is None


@each("stop", range(3, 9))
def test_confirmations_survive_the_process(stop: int) -> None:
    whole, log = opened(CONFIRMED)
    say(whole, f"Shall I add Ada? {code_in(whole, ADA)}")
    whole.call("add_contact", ADA)
    kept = MemoryLog()
    kept.events = log.events[:stop]
    again = Session(whole.spec, whole.user, kept)
    again.restore(kept.trajectory())
    if not any(isinstance(event, ToolCall) for event in kept.events):
        code_in(again, ADA)
    if not any(isinstance(event, ToolCall) and event.caller == "user" for event in kept.events):
        say(again, f"Shall I add Ada? {code_in(again, ADA)}")
    needs_another = any(isinstance(e, ToolCall) and e.tool == "add_contact" and e.error is None for e in kept.events)
    assert (again.call("add_contact", ADA).error is None) is not needs_another


def test_nothing_works_before_signing_in() -> None:
    session, _ = opened(SIGNED)
    assert session.call("set_wifi_status", {"on": False}).error == (
        "SignInRequiredError: nobody is signed in; call sign_in first"
    )


def test_signing_in_opens_the_phone_and_is_state() -> None:
    session, log = opened(SIGNED)
    assert session.call("sign_in", {"username": "ingrid", "password": "lake-side-9"}).error is None
    assert session.call("set_wifi_status", {"on": False}).error is None
    assert session.world.snapshot.table("account")["a"]["signed_in"] is True
    assert list(differences(log.trajectory())) == []


@each("tool", ["set_wifi_status", "get_wifi_status"])
def test_what_is_sent_together_with_signing_in_comes_too_early(tool: str) -> None:
    session, _ = opened(dataclasses.replace(SIGNED, tools=(*SIGNED.tools, "get_wifi_status")))
    arguments = {"on": False} if tool.startswith("set") else {}
    entry = AgentCall("sign_in", {"username": "ingrid", "password": "lake-side-9"})
    signed, refused = session.call_batch([entry, AgentCall(tool, arguments)])
    assert signed.error is None
    assert (refused.error or "").startswith("SignInRequiredError")


def test_what_is_sent_together_with_signing_out_comes_too_late() -> None:
    session, _ = opened(SIGNED)
    session.call("sign_in", {"username": "ingrid", "password": "lake-side-9"})
    changed, out = session.call_batch([AgentCall("set_wifi_status", {"on": False}), AgentCall("sign_out", {})])
    assert out.error is None
    assert (changed.error or "").startswith("SignInRequiredError")


@each("name", ["ingrid", "Ingrid"])
def test_a_wrong_password_is_refused(name: str) -> None:
    session, _ = opened(SIGNED)
    assert (session.call("sign_in", {"username": name, "password": "guess"}).error or "").startswith("PermissionError")


def test_signing_out_closes_the_phone_again() -> None:
    session, _ = opened(SIGNED)
    session.call("sign_in", {"username": "ingrid", "password": "lake-side-9"})
    session.call("sign_out", {})
    assert "SignInRequired" in (session.call("set_wifi_status", {"on": False}).error or "")


def test_the_way_in_is_told_under_the_name_it_has_here() -> None:
    session, _ = opened(SIGNED, variant="tool_name_scrambled")
    error = session.call("setting_7", {"on": False}).error or ""
    assert error == "SignInRequiredError: nobody is signed in; call account_0 first"


ELICITED = {"channel": "elicitation"}


def refused(session: Session, arguments: dict[str, str]) -> Unconfirmed:
    result = session.call("add_contact", arguments)
    assert isinstance(result, Unconfirmed)
    return result


def test_a_refusal_carries_its_code() -> None:
    session, _ = opened(CONFIRMED)
    result = refused(session, ADA)
    assert result.code in (result.error or "")


def test_a_call_can_be_confirmed_and_carried_out_at_once() -> None:
    session, log = opened(CONFIRMED)
    result = refused(session, ADA)
    assert session.call_confirmed(AgentCall("add_contact", ADA), result, ELICITED).error is None
    calls = [event for event in log.events if isinstance(event, ToolCall)]
    assert [(call.caller, call.tool, call.error is None) for call in calls] == [
        ("agent", "add_contact", False),
        ("user", "confirm_action", True),
        ("agent", "add_contact", True),
    ]
    assert calls[1].meta == ELICITED


def test_a_call_that_was_confirmed_at_once_is_confirmed_once() -> None:
    session, _ = opened(CONFIRMED)
    session.call_confirmed(AgentCall("add_contact", ADA), refused(session, ADA), ELICITED)
    refused(session, ADA)


def test_confirming_one_call_does_not_carry_out_another() -> None:
    session, _ = opened(CONFIRMED)
    result = session.call_confirmed(AgentCall("add_contact", GRACE), refused(session, ADA), ELICITED)
    assert isinstance(result, Unconfirmed)


def test_once_a_session_is_over_nothing_can_be_confirmed() -> None:
    session, log = opened(CONFIRMED)
    result = refused(session, ADA)
    session.end("abandoned")
    written = len(log.events)
    assert "SessionOver" in (session.call_confirmed(AgentCall("add_contact", ADA), result, ELICITED).error or "")
    assert len(log.events) == written


def test_what_was_announced_with_a_refusal_is_not_lost() -> None:
    scenario = dataclasses.replace(CONFIRMED, tools=("add_contact", "set_timer"))
    session, _ = opened(scenario)
    session.call("set_timer", {"seconds": 1, "label": "tea"})
    result = refused(session, ADA)
    assert result.notices == ("The timer 'tea' has gone off.",)
    done = session.call_confirmed(AgentCall("add_contact", ADA), result, ELICITED)
    assert done.structured["notices"] == ["The timer 'tea' has gone off."]
