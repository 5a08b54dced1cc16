"""tau-bench: what is taken from its sessions, on a small one made by hand; the real ones are in ``tests/oracles``."""

import copy

import pytest
from sandbox_grader.errors import ImportFormatError

from tests.grader.importers.samples import TAU_BENCH, calls, chat_call, ending, lost, read, read_one, said, started


@pytest.fixture
def run():
    return copy.deepcopy(TAU_BENCH[0])


def test_names_task_and_trial():
    session = read_one("tau-bench", TAU_BENCH)
    head = started(session)
    assert session.name == "log-task7-trial1"
    assert (head.scenario, head.trial) == ("tau-bench/7", 1)
    assert head.digest.startswith("sha256:")


def test_messages_keep_their_words_and_text_beside_a_call_is_a_note():
    assert said(read_one("tau-bench", TAU_BENCH)) == [
        ("system", "agent", "Be brief."),
        ("user", "agent", "Cancel X1, please."),
        ("agent", "agent", "Looking."),
        ("agent", "user", "It has left."),
        ("user", "agent", "Too bad. ###STOP###"),
    ]


def test_calls_of_one_id_are_paired_by_adjacency():
    find, cancel = calls(read_one("tau-bench", TAU_BENCH))
    assert (find.name, find.call, find.result) == ("find", "c1", {"number": "X1", "price": 120})
    assert (cancel.name, cancel.call, cancel.result) == ("cancel", "c1#2", None)
    assert cancel.meta["call_id"] == "c1"


def test_a_text_that_begins_with_error_is_a_failure_and_the_guess_is_named():
    session = read_one("tau-bench", TAU_BENCH)
    error = calls(session)[1].error
    assert (error.kind, error.message) == ("execution", "Error: X1 has departed")
    assert "results (1 of 2): the format has no error flag" in lost(session)


def test_the_task_s_actions_are_the_reference():
    [[turn]] = started(read_one("tau-bench", TAU_BENCH)).reference
    assert [(call.tool, call.arguments) for call in turn.calls] == [("cancel", {"number": "X1"})]


def test_reward_and_task_are_in_the_origin():
    origin = started(read_one("tau-bench", TAU_BENCH)).origin
    assert origin["reward"] == 0.0
    assert origin["reward_info"]["info"] == {"r_actions": 0.0}
    assert origin["task"] == {"user_id": "ada_1", "instruction": "Cancel X1.", "outputs": ["120"]}


def test_a_task_without_actions_refers_to_doing_nothing(run):
    run["info"]["task"]["actions"] = []
    [[turn]] = started(read_one("tau-bench", [run])).reference
    assert turn.calls == ()


def test_trials_of_a_task_share_its_digest_and_other_tasks_do_not(run):
    again, other = copy.deepcopy(run), copy.deepcopy(run)
    again["trial"] = 2
    other["info"]["task"]["actions"] = []
    digests = [started(session).digest for session in read("tau-bench", [run, again, other])]
    assert digests[0] == digests[1] != digests[2]


class TestEnds:
    def test_the_user_stopped(self, run):
        session = read_one("tau-bench", [run])
        assert ending(session) == "recorded"
        assert session.events[-1].detail == "the user stopped"

    def test_the_harness_scored_it_after_a_call(self, run):
        run["traj"] = run["traj"][:-2]
        assert read_one("tau-bench", [run]).events[-1].detail == "the harness scored it after a call of cancel"

    def test_cut_off_before_it_was_scored(self, run):
        run["traj"] = run["traj"][:-2]
        run["info"]["reward_info"] = None
        assert ending(read_one("tau-bench", [run])) is None

    def test_cut_off_in_a_call(self, run):
        run["traj"] = run["traj"][:-3]
        session = read_one("tau-bench", [run])
        assert ending(session) is None
        assert "the result of 'cancel' is missing" in lost(session)


class TestOddities:
    def test_no_task(self, run):
        del run["info"]["task"]
        session = read_one("tau-bench", [run])
        assert started(session).reference == ()
        assert "the task is absent" in lost(session)

    def test_a_harness_that_broke_off(self, run):
        run["info"] = {"error": "timeout"}
        session = read_one("tau-bench", [run])
        assert started(session).origin["error"] == "timeout"
        assert "the harness broke off" in lost(session)

    def test_arguments_that_are_no_json(self, run):
        run["traj"][4]["tool_calls"] = [chat_call("cancel", "{number: X1")]
        call = calls(read_one("tau-bench", [run]))[1]
        assert (call.arguments, call.raw_arguments, call.error.kind) == ({}, "{number: X1", "invalid_format")

    @pytest.mark.parametrize("missing", ["task_id", "traj"])
    def test_a_session_lacks_something(self, run, missing):
        del run[missing]
        with pytest.raises(ImportFormatError, match=rf"log.json: \[0\]: lacks '{missing}'"):
            read("tau-bench", [run])

    def test_one_session_per_line(self, run):
        assert len(read("tau-bench", [run, run], "log.jsonl")) == 2
