"""The phone's switches: each on its own, and low battery mode over all of them."""

from tests.each import each
from tests.tools.phone import Phone

SERVICES = {
    "cellular": ("cellular_service", "cellular service"),
    "wifi": ("wifi", "wifi"),
    "location_service": ("location_service", "location service"),
}
ALL_OFF = {"cellular": False, "wifi": False, "location_service": False}


@each("column", SERVICES)
class TestService:
    def test_it_can_be_switched_off_and_on(self, column: str) -> None:
        tool, _ = SERVICES[column]
        phone = Phone()
        assert phone.do(f"set_{tool}_status", on=False) is None
        assert phone.off() == {column, "low_battery_mode"}
        assert phone.do(f"get_{tool}_status") is False
        phone.do(f"set_{tool}_status", on=True)
        assert phone.off() == {"low_battery_mode"}
        assert phone.do(f"get_{tool}_status") is True

    @each("on", [True, False])
    def test_being_so_already_is_an_error(self, column: str, on: bool) -> None:
        tool, label = SERVICES[column]
        phone = Phone(**{column: on})
        assert phone.fails(f"set_{tool}_status", on=on) == f"ValueError: {label} is already {'on' if on else 'off'}"

    def test_low_battery_mode_keeps_it_off(self, column: str) -> None:
        tool, label = SERVICES[column]
        phone = Phone(low_battery_mode=True, **ALL_OFF)
        text = phone.fails(f"set_{tool}_status", on=True)
        assert text == f"PermissionError: {label} cannot be turned on in low battery mode"

    def test_low_battery_mode_is_told_before_being_so_already(self, column: str) -> None:
        tool, _ = SERVICES[column]
        phone = Phone(low_battery_mode=True)
        assert phone.fails(f"set_{tool}_status", on=True).startswith("PermissionError")

    def test_in_low_battery_mode_it_may_be_switched_off(self, column: str) -> None:
        tool, _ = SERVICES[column]
        phone = Phone(low_battery_mode=True)
        phone.do(f"set_{tool}_status", on=False)
        assert column in phone.off()


class TestLowBatteryMode:
    def test_switching_it_on_switches_the_services_off(self) -> None:
        phone = Phone()
        phone.do("set_low_battery_mode_status", on=True)
        assert phone.off() == {"cellular", "wifi", "location_service"}
        assert phone.do("get_low_battery_mode_status") is True

    def test_switching_it_off_restores_nothing(self) -> None:
        phone = Phone(low_battery_mode=True, **ALL_OFF)
        phone.do("set_low_battery_mode_status", on=False)
        assert phone.off() == {"low_battery_mode", *ALL_OFF}

    @each("on", [True, False])
    def test_being_so_already_is_an_error(self, on: bool) -> None:
        text = Phone(low_battery_mode=on).fails("set_low_battery_mode_status", on=on)
        assert text == f"ValueError: low battery mode is already {'on' if on else 'off'}"

    def test_with_all_services_off_only_the_mode_changes(self) -> None:
        phone = Phone(**ALL_OFF)
        outcome = phone.call("set_low_battery_mode_status", {"on": True})
        assert len(outcome.changes) == 1


class TestLocation:
    def test_where_the_phone_is(self) -> None:
        assert Phone().do("get_current_location") == {"latitude": 41.8827, "longitude": -87.6233}

    def test_without_location_service_nobody_knows(self) -> None:
        text = Phone(location_service=False).fails("get_current_location")
        assert text == "PermissionError: location service is off"


class TestNesting:
    """A service needs low battery mode off, and a tool needs the service on."""

    def test_the_way_to_a_location(self) -> None:
        phone = Phone(low_battery_mode=True, **ALL_OFF)
        assert "location service is off" in phone.fails("get_current_location")
        assert "low battery mode" in phone.fails("set_location_service_status", on=True)
        phone.do("set_low_battery_mode_status", on=False)
        assert "location service is off" in phone.fails("get_current_location")
        phone.do("set_location_service_status", on=True)
        assert phone.do("get_current_location")

    def test_the_way_to_a_message(self) -> None:
        phone = Phone(low_battery_mode=True, **ALL_OFF)
        text = {"phone_number": "+17735550113", "content": "Hi"}
        assert "cellular service is off" in phone.fails("send_message_with_phone_number", **text)
        assert "low battery mode" in phone.fails("set_cellular_service_status", on=True)
        phone.do("set_low_battery_mode_status", on=False)
        phone.do("set_cellular_service_status", on=True)
        assert phone.do("send_message_with_phone_number", **text)

    def test_low_battery_mode_closes_the_way_again(self) -> None:
        phone = Phone()
        phone.do("set_low_battery_mode_status", on=True)
        assert "location service is off" in phone.fails("get_current_location")
