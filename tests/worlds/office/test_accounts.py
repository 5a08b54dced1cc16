"""Accounts of the office: what needs a log-in, how sessions begin and end, and what a password protects."""

from sandbox_mcp.engine.worlds import named
from tests.each import each
from tests.worlds.office.desk import Desk

WITHOUT_LOGIN = {
    "RegisterUser", "UserLogin", "SendVerificationCode", "ResetPassword", "CurrentWeather", "ForecastWeather",
    "HistoricWeather",
}  # fmt: skip
ARGUMENTS = {
    "ChangePassword": {"old_password": "a", "new_password": "b"},
    "UpdateAccountInformation": {"password": "a", "new_name": "b"},
    "DeleteAccount": {"password": "a"},
    "QueryUser": {"username": "kai"},
    "AddAlarm": {"time": "07:00:00"},
    "DeleteAlarm": {"alarm_id": "early"},
    "CreateEvent": {
        "name": "Lunch", "event_type": "event", "start_time": "2027-03-09 12:00:00", "end_time": "2027-03-09 13:00:00",
    },
    "ModifyEvent": {"event_id": "standup", "new_name": "b"},
    "DeleteEvent": {"event_id": "standup"},
    "QueryCalendar": {"start_time": "2027-03-09 00:00:00", "end_time": "2027-03-10 00:00:00"},
    "SendEmail": {"to": ["a@b.example"], "subject": "s", "body": "b"},
    "SearchInbox": {"query": "a"},
    "SendMessage": {"receiver": "kai", "message": "m"},
    "SearchMessages": {"query": "a"},
    "AddReminder": {"task": "t"},
    "CompleteReminder": {"reminder_id": "plants"},
    "DeleteReminder": {"reminder_id": "plants"},
}  # fmt: skip


def test_there_are_28_tools_in_seven_plug_ins_and_18_of_them_act() -> None:
    tools = named("office").agent_tools.values()
    assert (len(tools), len({tool.domain for tool in tools}), sum(tool.action for tool in tools)) == (28, 7, 18)


def test_21_tools_need_a_log_in() -> None:
    assert len(set(named("office").agent_tools) - WITHOUT_LOGIN) == 21


@each("tool", sorted(set(named("office").agent_tools) - WITHOUT_LOGIN))
def test_a_tool_that_needs_a_log_in_says_so(tool: str) -> None:
    assert Desk(who=None).refusal(tool, **ARGUMENTS.get(tool, {})).startswith("NotLoggedInError: nobody is logged in")


class TestSessions:
    def test_logging_in_opens_one(self) -> None:
        desk = Desk(who=None)
        desk.call("UserLogin", username="kai", password="kai-pw")
        assert desk.call("GetAccountInformation")["user"]["username"] == "kai"

    def test_logging_out_ends_it(self) -> None:
        desk = Desk()
        desk.call("LogoutUser")
        assert "nobody is logged in" in desk.refusal("GetReminders")

    @each(
        ("tool", "arguments"),
        [
            ("UserLogin", {"username": "kai", "password": "kai-pw"}),
            ("RegisterUser", {"username": "lou", "password": "x", "email": "lou@office.example"}),
        ],
    )
    def test_there_is_one_at_a_time(self, tool: str, arguments: dict[str, str]) -> None:
        assert "'ines' is logged in" in Desk().refusal(tool, **arguments)

    def test_tokens_never_collide(self) -> None:
        desk = Desk(who=None)
        registered = desk.call("RegisterUser", username="lou", password="x", email="lou@office.example")
        desk.call("LogoutUser")
        logged_in = desk.call("UserLogin", username="lou", password="x")
        assert registered["session_token"] != logged_in["session_token"]

    @each(
        ("username", "password", "why"),
        [("kai", "wrong", "The password is incorrect."), ("lou", "x", "The username does not exist.")],
    )
    def test_a_wrong_name_or_password_opens_none(self, username: str, password: str, why: str) -> None:
        assert why in Desk(who=None).refusal("UserLogin", username=username, password=password)


class TestRegistering:
    def test_makes_an_account_and_logs_it_in(self) -> None:
        desk = Desk(who=None)
        desk.call("RegisterUser", username="lou", password="x", email="lou@office.example", phone="555-010-0101")
        assert desk.call("GetAccountInformation") == {
            "user": {"username": "lou", "email": "lou@office.example", "phone": "555-010-0101", "name": None}
        }

    @each(
        ("wrong", "why"),
        [
            ({"username": "kai"}, "the username 'kai' is taken"),
            ({"email": "lou"}, "`email` has 'lou', which is not a mail address"),
            ({"phone": "5550100101"}, "expected a phone number like"),
            ({"username": " "}, "must not be empty"),
        ],
    )
    def test_refuses_what_cannot_be(self, wrong: dict[str, str], why: str) -> None:
        right = {"username": "lou", "password": "x", "email": "lou@office.example"}
        assert why in Desk(who=None).refusal("RegisterUser", **{**right, **wrong})


class TestPasswords:
    def test_a_changed_one_is_the_one_that_counts(self) -> None:
        desk = Desk()
        desk.call("ChangePassword", old_password="ines-pw", new_password="new")
        desk.call("LogoutUser")
        assert "incorrect" in desk.refusal("UserLogin", username="ines", password="ines-pw")
        desk.call("UserLogin", username="ines", password="new")

    def test_the_old_one_has_to_be_right(self) -> None:
        assert "The old password is incorrect." in Desk().refusal("ChangePassword", old_password="x", new_password="y")

    def test_a_code_resets_one(self) -> None:
        desk = Desk(who=None)
        desk.call("SendVerificationCode", username="kai", email="KAI@office.example")
        desk.call("ResetPassword", username="kai", verification_code="004711", new_password="new")
        desk.call("UserLogin", username="kai", password="new")

    def test_a_code_works_once(self) -> None:
        desk = Desk(who=None)
        desk.call("SendVerificationCode", username="kai", email="kai@office.example")
        desk.call("ResetPassword", username="kai", verification_code="004711", new_password="new")
        refused = desk.refusal("ResetPassword", username="kai", verification_code="004711", new_password="again")
        assert "The verification code is incorrect." in refused

    def test_a_code_of_another_account_does_not(self) -> None:
        desk = Desk(who=None)
        desk.call("SendVerificationCode", username="kai", email="kai@office.example")
        assert "incorrect" in desk.refusal(
            "ResetPassword", username="ines", verification_code="004711", new_password="n"
        )

    def test_a_code_that_no_scenario_states_has_six_digits_and_makes_the_last_one_void(self) -> None:
        desk = Desk(who=None)
        for _ in range(2):
            desk.call("SendVerificationCode", username="ines", email="ines@office.example")
        (sent,) = desk.rows("verification")
        assert len(sent["code"]) == 6
        assert sent["code"].isdigit()

    def test_a_code_goes_to_the_address_of_the_account_alone(self) -> None:
        refused = Desk(who=None).refusal("SendVerificationCode", username="kai", email="thief@office.example")
        assert "The email is incorrect." in refused

    def test_the_user_can_look_for_the_code(self) -> None:
        desk = Desk(who=None)
        desk.call("SendVerificationCode", username="kai", email="kai@office.example")
        assert "004711" in desk.call("look_for_code")

    def test_no_result_tells_a_password_or_a_code(self) -> None:
        desk = Desk()
        told = [desk.call("GetAccountInformation"), desk.call("QueryUser", username="kai")]
        assert "-pw" not in str(told)
        assert "004711" not in str(told)


class TestTheAccount:
    def test_a_name_alone_can_be_changed(self) -> None:
        desk = Desk()
        desk.call("UpdateAccountInformation", password="ines-pw", new_name="Ines Falk")
        assert desk.call("GetAccountInformation")["user"]["name"] == "Ines Falk"

    @each(
        ("given", "why"),
        [
            ({"password": "x", "new_name": "I"}, "The password is incorrect."),
            ({"password": "ines-pw"}, "give at least one of"),
            ({"password": "ines-pw", "new_email": "a@b.example", "new_phone_number": "1"}, "expected a phone number"),
        ],
    )
    def test_nothing_changes_unless_everything_is_right(self, given: dict[str, str], why: str) -> None:
        assert why in Desk().refusal("UpdateAccountInformation", **given)

    def test_deleting_it_takes_all_that_it_keeps_and_nothing_of_others(self) -> None:
        desk = Desk()
        desk.call("DeleteAccount", password="ines-pw")
        left = {
            table: [row["account"] for row in desk.rows(table)] for table in ("alarm", "event", "reminder", "session")
        }
        assert left == {"alarm": ["kai"], "event": [], "reminder": [], "session": []}

    def test_deleting_it_needs_its_password(self) -> None:
        assert "The password is incorrect." in Desk().refusal("DeleteAccount", password="x")

    @each(
        ("asked", "found"),
        [
            ({"username": "kai"}, ["kai"]),
            ({"email": "Kai@Office.example"}, ["kai"]),
            ({"username": "kai", "email": "ines@office.example"}, []),
            ({"username": "Kai"}, []),
        ],
    )
    def test_others_are_found_by_name_or_address_or_both(self, asked: dict[str, str], found: list[str]) -> None:
        assert [user["username"] for user in Desk().call("QueryUser", **asked)["users"]] == found

    def test_a_search_for_nobody_in_particular_is_refused(self) -> None:
        assert "give at least one of" in Desk().refusal("QueryUser")
