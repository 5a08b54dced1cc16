"""Finding and loading scenarios: what is read, what wins, what comes out."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sandbox_scenarios import Scenario, ScenarioFileError, Suite
from sandbox_scenarios.model import (
    Answer,
    CallConstraint,
    CallPattern,
    Exchange,
    Expected,
    MessageConstraint,
    PlannedCall,
    TableConstraint,
)  # fmt: skip
from sandbox_scenarios.values import row_id

from sandbox_mcp.engine.world import Clock
from sandbox_mcp.engine.worlds.phone import phone
from tests.each import each
from tests.scenarios.files import entry, file_of, scenario_of, written

BROKEN = "family: broken\nscenarios: [\n"


def digest_of(folder: Path, text: str) -> str:
    return Suite([written(folder, text)]).get("mine").digest


class TestFinding:
    def test_without_places_it_is_the_built_in_suite(self) -> None:
        assert "wifi_off" in Suite().names()
        assert "lakeside" not in Suite().names(), "a base is nothing to play"

    def test_names_are_in_the_order_of_files_and_of_each_file(self, tmp_path: Path) -> None:
        written(tmp_path, file_of(entry(name="zulu"), entry(name="alpha")), "a.yaml")
        written(tmp_path, file_of(entry(name="mike")), "b.yaml")
        assert Suite([tmp_path]).names() == ("zulu", "alpha", "mike")

    def test_folders_are_searched_deeply(self, tmp_path: Path) -> None:
        (tmp_path / "deep" / "deeper").mkdir(parents=True)
        written(tmp_path / "deep" / "deeper", file_of(entry()))
        assert Suite([tmp_path]).names() == ("mine",)

    def test_own_files_may_extend_the_built_in_worlds(self, tmp_path: Path) -> None:
        assert scenario_of(tmp_path).clock.zone == "America/Chicago"

    def test_own_files_win_over_built_in_ones(self, tmp_path: Path) -> None:
        suite = Suite([written(tmp_path, file_of(entry("about: Ours.", name="wifi_off")))])
        assert suite.get("wifi_off").about == "Ours."

    def test_built_in_scenarios_are_still_there(self, tmp_path: Path) -> None:
        assert Suite([written(tmp_path, file_of(entry()))]).get("wifi_off").name == "wifi_off"

    @each(
        "text",
        [
            "family: x\nscenarios:\n  - {name: mine, extends: lakeside, user: {goal: G., opening: O.}}\n",
            'family: x\nscenarios:\n  - "name": mine\n    extends: lakeside\n    user: {goal: G., opening: O.}\n',
            "family: x\nscenarios:\n  - extends: lakeside\n    name: mine\n    user: {goal: G., opening: O.}\n",
            '{"family":"x","scenarios":[{"name":"mine","extends":"lakeside","user":{"goal":"G","opening":"O"}}]}',
        ],
    )
    def test_a_scenario_is_found_however_it_is_written(self, tmp_path: Path, text: str) -> None:
        assert Suite([written(tmp_path, text)]).get("mine").name == "mine"

    def test_a_person_who_is_called_like_a_scenario_does_not_hide_it(self, tmp_path: Path) -> None:
        person = "world:\n  contact:\n    zed:\n      name: mine\n      phone_number: '+1'\n      is_self: false\n"
        written(tmp_path, file_of(entry(person, name="other")), "a.yaml")
        written(tmp_path, file_of(entry()), "b.yaml")
        assert Suite([tmp_path]).get("mine").name == "mine"


class TestReading:
    def test_a_scenario_reads_only_the_files_it_needs(self, tmp_path: Path) -> None:
        written(tmp_path, BROKEN, "broken.yaml")
        written(tmp_path, file_of(entry(base="shared")))
        written(tmp_path, file_of(entry(name="shared")), "shared.yaml")
        assert Suite([tmp_path]).get("mine").name == "mine"

    def test_a_scenario_reads_only_the_entries_it_needs(self, tmp_path: Path) -> None:
        faulty = entry("colour: blue", name="faulty")
        path = written(tmp_path, file_of(faulty, entry(name="shared"), entry(base="shared")))
        assert Suite([path]).get("mine").line == 10
        with pytest.raises(ScenarioFileError, match="scenario 'faulty': unknown key 'colour'"):
            Suite([path]).names()

    def test_an_entry_that_cannot_be_read_alone_is_read_with_the_others(self, tmp_path: Path) -> None:
        text = file_of(entry('about: "A dash\n- name: this is not an entry\nat all"'), entry(name="last"))
        path = written(tmp_path, text.replace("    - name: this", "  - name: this"))
        assert Suite([path]).get("mine").about == "A dash - name: this is not an entry at all"

    def test_listing_names_reads_all_of_the_callers_files(self, tmp_path: Path) -> None:
        written(tmp_path, BROKEN, "broken.yaml")
        written(tmp_path, file_of(entry()))
        with pytest.raises(ScenarioFileError, match=r"broken\.yaml"):
            Suite([tmp_path]).names()

    def test_a_scenario_is_built_once(self) -> None:
        suite = Suite()
        assert suite.get("wifi_off") is suite.get("wifi_off")

    def test_naming_the_package_loads_no_yaml_and_no_pydantic(self) -> None:
        code = "import sys, sandbox_scenarios; print(any(name in sys.modules for name in ('yaml', 'pydantic')))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "False\n"


class TestBuilding:
    def test_it_knows_where_it_stands(self, tmp_path: Path) -> None:
        path = written(tmp_path, file_of(entry(name="first"), entry()))
        scenario = Suite([path]).get("mine")
        assert (scenario.path, scenario.line) == (str(path), 6)

    def test_the_clock_shows_local_time(self, tmp_path: Path) -> None:
        scenario = scenario_of(tmp_path, "clock: {now: 2025-12-24 18:00:00, zone: Asia/Kathmandu, step: 0.5}")
        assert scenario.clock == Clock(datetime(2025, 12, 24, 12, 15, tzinfo=UTC).timestamp(), "Asia/Kathmandu", 0.5)

    def test_rows_have_all_columns_in_order_and_their_ids(self, tmp_path: Path) -> None:
        row = "world:\n  contact:\n    zed: {is_self: false, phone_number: +493023125, name: Zed}\n"
        contacts = scenario_of(tmp_path, row).world.table("contact")
        zed = contacts[row_id("contact", "zed")]
        assert list(zed) == [column.name for column in phone.tables["contact"].columns]
        assert dict(zed) == {
            "person_id": row_id("contact", "zed"), "name": "Zed", "phone_number": "+493023125", "relationship": None,
            "is_self": False,
        }  # fmt: skip

    def test_whole_numbers_become_what_the_column_holds(self, tmp_path: Path) -> None:
        world = scenario_of(tmp_path, "world:\n  setting: {latitude: 42}\n").world
        (setting,) = world.table("setting").values()
        assert setting["latitude"] == 42.0
        assert isinstance(setting["latitude"], float)

    def test_every_table_is_there_even_if_empty(self, tmp_path: Path) -> None:
        world = scenario_of(tmp_path, "world: {reminder: null}").world
        assert set(world.tables) == set(phone.tables)
        assert world.table("reminder") == {}

    def test_labels_may_be_numbers(self, tmp_path: Path) -> None:
        world = scenario_of(
            tmp_path, "world:\n  contact:\n    7: {name: Zed, phone_number: '+1', is_self: false}\n"
        ).world
        assert row_id("contact", "7") in world.table("contact")

    def test_limits_have_defaults(self, tmp_path: Path) -> None:
        assert (scenario_of(tmp_path).max_turns, scenario_of(tmp_path).max_calls) == (30, 100)

    def test_tools_are_named_once(self, tmp_path: Path) -> None:
        assert scenario_of(tmp_path, "tools: [get_wifi_status, get_wifi_status]").tools == ("get_wifi_status",)

    def test_the_user_with_all_it_has(self, tmp_path: Path) -> None:
        text = file_of(entry()).replace(
            "user: {goal: You want something., opening: Please do something.}",
            "user:\n      goal: G.\n      opening: O.\n      knows: [K.]\n      does_not_know: [D.]\n"
            "      demonstration: [{user: U., agent: A.}]\n"
            "      script: {answers: [{about: [x, y], say: S.}], then: [T.], confirm: Yes., unknown: No., patience: 5}",
        )
        user = Suite([written(tmp_path, text)]).get("mine").user
        assert (user.goal, user.opening, user.knows, user.does_not_know) == ("G.", "O.", ("K.",), ("D.",))
        assert user.demonstration == (Exchange("U.", "A."),)
        assert user.script.answers == (Answer(("x", "y"), "S."),)
        assert (user.script.then, user.script.confirm, user.script.unknown) == (("T.",), "Yes.", "No.")
        assert user.script.patience == 5

    def test_calls_of_a_solution_alone_and_together(self, tmp_path: Path) -> None:
        body = """\
            tools: [get_wifi_status, set_wifi_status, search_reminder]
            reference:
              - about: One way.
                turns:
                  - calls:
                      - {tool: get_wifi_status, as: state}
                      - - {tool: set_wifi_status, arguments: {on: $state}}
                        - {tool: search_reminder, arguments: {reminder_timestamp_lowerbound: 2025-05-16 09:30:00}}
                    reply: It is ${state}.
            """
        (solution,) = scenario_of(tmp_path, body).solutions
        (turn,) = solution.turns
        assert solution.about == "One way."
        assert [len(batch) for batch in turn.batches] == [1, 2]
        assert turn.calls[0] == PlannedCall("get_wifi_status", {}, "state")
        assert turn.calls[1].arguments == {"on": "$state"}
        assert turn.calls[2].arguments == {"reminder_timestamp_lowerbound": 1747405800.0}

    def test_milestones_of_every_kind(self, tmp_path: Path) -> None:
        body = """\
            milestones:
              - {id: a, about: Why., table: contact, adds: [{name: Zed}, {name: Yan}], transient: true}
              - id: b
                after: [a]
                all:
                  - {table: contact, unchanged: true, since: a}
                  - {table: reminder, is: []}
              - {id: c, any_of: [{tool: get_wifi_status}, {tool: set_wifi_status, arguments: {on: true}}]}
              - {id: d, message: {sender: user, recipient: agent, content: Hi}}
            """
        a, b, c, d = scenario_of(tmp_path, body).milestones
        rows = tuple({"name": Expected(value=name, usual="exact")} for name in ("Zed", "Yan"))
        assert a.constraints == (TableConstraint("contact", "adds", rows),)
        assert (a.about, a.transient, b.after) == ("Why.", True, ("a",))
        assert b.constraints == (
            TableConstraint("contact", "unchanged", (), "a"), TableConstraint("reminder", "is", ()),
        )  # fmt: skip
        on = Expected(value=True, usual="exact")
        patterns = (CallPattern("get_wifi_status", {}), CallPattern("set_wifi_status", {"on": on}))
        assert c.constraints == (CallConstraint(patterns),)
        assert d.constraints == (MessageConstraint(Expected(value="Hi"), "user", "agent"),)

    def test_a_branch_of_a_branch(self, tmp_path: Path) -> None:
        text = file_of(
            entry("tools: [get_wifi_status]\nabout: First.\nmax_turns: 8", name="one"),
            entry("tools+: [set_wifi_status]", name="two", base="one"),
            entry("tools+: [get_cellular_service_status]", base="two"),
        )
        scenario = Suite([written(tmp_path, text)]).get("mine")
        assert scenario.tools == ("get_wifi_status", "set_wifi_status", "get_cellular_service_status")
        assert (scenario.max_turns, scenario.about) == (8, "")


class TestDigest:
    BODY = "tools: [get_wifi_status]\nworld: {setting: {wifi: false}}\n"

    @pytest.fixture
    def digest(self, tmp_path: Path) -> str:
        return digest_of(tmp_path, file_of(entry(self.BODY)))

    def test_comments_order_of_keys_and_layout_do_not_matter(self, tmp_path: Path, digest: str) -> None:
        other = "# a comment\nworld:\n  setting:\n    wifi: false\ntools:\n  - get_wifi_status\n"
        assert digest_of(tmp_path, file_of(entry(other))) == digest

    def test_where_the_file_is_does_not_matter(self, tmp_path: Path, digest: str) -> None:
        (tmp_path / "elsewhere").mkdir()
        assert digest_of(tmp_path / "elsewhere", file_of(entry(name="first"), entry(self.BODY))) == digest

    def test_what_is_inherited_or_written_out_does_not_matter(self, tmp_path: Path, digest: str) -> None:
        half = entry("about: Half.\nworld: {setting: {wifi: false}}", name="half")
        assert digest_of(tmp_path, file_of(half, entry("tools: [get_wifi_status]", base="half"))) == digest

    def test_what_is_said_about_it_does_not_matter(self, tmp_path: Path, digest: str) -> None:
        assert digest_of(tmp_path, file_of(entry("about: Another sentence.\n" + self.BODY))) == digest

    @pytest.mark.parametrize(
        "change",
        [
            "tools: [get_wifi_status, set_wifi_status]\nworld: {setting: {wifi: false}}\n",
            "tools: [get_wifi_status]\nworld: {setting: {wifi: true}}\n",
            "tools: [get_wifi_status]\nworld: {setting: {wifi: false}}\nmax_turns: 9\n",
            "tools: [get_wifi_status]\nworld: {setting: {wifi: false}}\nclock: {now: 2025-05-16 09:30:01}\n",
        ],
    )
    def test_any_change_that_matters_shows(self, tmp_path: Path, digest: str, change: str) -> None:
        assert digest_of(tmp_path, file_of(entry(change))) != digest

    def test_a_change_of_the_base_shows(self, tmp_path: Path) -> None:
        base = entry("tools: [get_wifi_status]", name="base")
        before = digest_of(tmp_path, file_of(base, entry(base="base")))
        after = digest_of(tmp_path, file_of(base.replace("get_wifi", "get_cellular_service"), entry(base="base")))
        assert before != after

    def test_it_is_the_same_in_another_process(self) -> None:
        code = "from sandbox_scenarios import Suite; print(Suite().get('wifi_off').digest)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == Suite().get("wifi_off").digest


def test_a_scenario_cannot_be_changed() -> None:
    scenario: Scenario = Suite().get("wifi_off")
    with pytest.raises(AttributeError):
        scenario.name = "other"
    with pytest.raises(TypeError):
        scenario.world.tables["setting"]["x"] = {}


def test_no_username_is_suggested_as_a_base(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("family: mine\nscenarios:\n  - {name: mine, extends: noor_hh, about: Nothing.}\n", encoding="utf-8")
    with pytest.raises(ScenarioFileError) as raised:
        Suite([path]).get("mine")
    assert "unknown 'noor_hh'" in str(raised.value)
    assert "'noor_h'" not in str(raised.value)
