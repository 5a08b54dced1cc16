"""tau2-bench: results in one file and in a directory, users who call tools, and runs that the machinery spoiled."""

import copy
import json

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers import importer

from tests.grader.importers.samples import TAU2, calls, checked, ending, lost, read, read_one, said, started


@pytest.fixture
def results():
    return copy.deepcopy(TAU2)


def test_names_domain_task_and_trial():
    session = read_one("tau2", TAU2)
    head = started(session)
    assert session.name == "log-telecom-taskt1-trial0"
    assert (head.session, head.scenario, head.categories) == ("sim-1", "telecom/t1", ("telecom",))
    assert (head.trial, head.seed) == (0, 11)


def test_says_who_took_part():
    head = started(read_one("tau2", TAU2))
    assert head.agent == {"name": "llm_agent", "model": "m-1"}
    assert head.user == {"name": "user_simulator", "model": "m-2"}
    assert head.versions == {"tau2": "abc"}


def test_tools_of_the_environment_are_the_tools_offered():
    [tool] = started(read_one("tau2", TAU2)).tools
    assert (tool.name, tool.description, tool.input_schema["required"]) == ("reset_line", "Resets.", ["number"])


def test_calls_of_the_user_are_the_user_s():
    agent, user = calls(read_one("tau2", TAU2))
    assert (agent.caller, agent.tool, agent.result) == ("agent", "reset_line", "ok")
    assert (user.caller, user.tool, user.error.message) == ("user", "reboot", "battery is empty")


def test_a_message_that_only_calls_says_nothing():
    assert said(read_one("tau2", TAU2)) == [
        ("agent", "user", "Hello!"),
        ("user", "agent", "Dead line."),
        ("user", "agent", "###STOP###"),
    ]


def test_the_flag_tells_errors_so_nothing_is_guessed():
    assert "error flag" not in lost(read_one("tau2", TAU2))


def test_times_are_the_source_s():
    session = read_one("tau2", TAU2)
    assert [event.clock - 1767322800 for event in session.events[1:-1]] == [0, 1, 2, 4, 6]
    assert calls(session)[0].wall == {"time": "2026-01-02T03:00:02", "answered": "2026-01-02T03:00:03"}
    assert "no zone is named" in lost(session)


def test_the_assistant_s_actions_are_the_reference_and_the_rest_is_in_the_origin():
    session = read_one("tau2", TAU2)
    [[turn]] = started(session).reference
    assert [(call.tool, call.arguments) for call in turn.calls] == [("reset_line", {"number": "5"})]
    origin = started(session).origin
    assert origin["user_actions"][0]["name"] == "reboot"
    assert origin["compare_args"] == {"0": ["number"]}
    assert origin["criteria"] == {"communicate_info": ["done"], "reward_basis": ["DB"]}
    assert origin["reward"] == 1.0
    assert "1 reference actions of the user" in lost(session)


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("user_stop", "recorded"),
        ("max_steps", "recorded"),
        ("agent_error", "recorded"),
        ("infrastructure_error", "agent_failed"),
        ("context_window_exceeded", "agent_failed"),
        ("user_error", "user_failed"),
        ("something_new", "recorded"),
        (None, None),
    ],
)
def test_how_it_ended(results, reason, end):
    results["simulations"][0]["termination_reason"] = reason
    session = read_one("tau2", results)
    assert ending(session) == end
    assert end is None or session.events[-1].detail == reason


def test_several_results_in_one_message(results):
    run = results["simulations"][0]
    run["messages"] = [
        {"role": "assistant", "tool_calls": [{"id": i, "name": "reset_line", "arguments": {}} for i in ("a", "b")]},
        {
            "role": "tool",
            "tool_messages": [
                {"id": "b", "role": "tool", "content": "2", "error": False},
                {"id": "a", "role": "tool", "content": "1", "error": False},
            ],
        },
    ]
    assert [call.result for call in calls(read_one("tau2", results))] == [1, 2]


class TestDirectories:
    @pytest.fixture
    def folder(self, results, tmp_path):
        run = results.pop("simulations")[0]
        results["simulation_index"] = [{"id": "sim-1", "task_id": "t1", "trial": 0}]
        (tmp_path / "simulations").mkdir()
        (tmp_path / "results.json").write_text(json.dumps(results | {"timestamp": float("nan")}))
        for trial in (0, 1):
            (tmp_path / "simulations" / f"sim-{trial}.json").write_text(json.dumps(run | {"trial": trial}))
        return tmp_path

    @pytest.mark.parametrize("inner", ["", "results.json"])
    def test_runs_stand_beside_the_results(self, folder, inner):
        sessions = checked("tau2", list(importer("tau2")([folder / inner])))
        assert [started(session).trial for session in sessions] == [0, 1]
        assert started(sessions[0]).origin["file"].endswith("sim-0.json")
        assert "holds no NaN" in lost(sessions[0])

    def test_a_broken_run_is_named(self, folder):
        (folder / "simulations" / "sim-1.json").write_text("{")
        with pytest.raises(ImportFormatError, match=r"sim-1.json:1: is not JSON"):
            list(importer("tau2")([folder]))

    def test_a_folder_of_something_else(self, tmp_path):
        with pytest.raises(ImportFormatError, match=r"results.json: cannot be read"):
            list(importer("tau2")([tmp_path]))


class TestOddities:
    def test_a_task_that_is_not_in_the_file(self, results):
        results["simulations"][0]["task_id"] = 99
        session = read_one("tau2", results)
        assert started(session).scenario == "telecom/99"
        assert "task '99' is not in the file" in lost(session)

    def test_no_criteria(self, results):
        del results["tasks"][0]["evaluation_criteria"]
        assert "no evaluation criteria" in lost(read_one("tau2", results))

    def test_no_reward(self, results):
        del results["simulations"][0]["reward_info"]
        session = read_one("tau2", results)
        assert "reward" not in started(session).origin
        assert "no reward was recorded" in lost(session)

    def test_speech_in_ticks_is_named(self, results):
        run = results["simulations"][0]
        run["messages"], run["ticks"] = None, [{"tick_id": 0}]
        assert "full-duplex" in lost(read_one("tau2", results))

    def test_no_information_about_the_run(self, results):
        del results["info"]
        assert started(read_one("tau2", results)).scenario == "tau2/t1"

    def test_arguments_of_another_kind(self, results):
        results["simulations"][0]["messages"][2]["tool_calls"][0]["arguments"] = [1]
        assert calls(read_one("tau2", results))[0].raw_arguments == "[1]"

    def test_a_message_without_role(self, results):
        del results["simulations"][0]["messages"][0]["role"]
        with pytest.raises(ImportFormatError, match=r"simulations\[0\].messages\[0\]: lacks 'role'"):
            read("tau2", results)


def test_a_task_that_is_judged_without_actions_has_no_reference(results):
    results["tasks"][0]["evaluation_criteria"]["actions"] = None
    session = read_one("tau2", results)
    assert started(session).reference == ()
    assert "judged without actions" in lost(session)
    assert "reward_basis" in started(session).origin["criteria"]
