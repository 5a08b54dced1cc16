"""ATIF: steps and observations, copied context, sub-agents; what our own exporter adds is tested with it."""

import copy

import pytest
from sandbox_grader.errors import ImportFormatError

from tests.grader.importers.samples import ATIF, calls, ending, lost, read, read_one, said, started


@pytest.fixture
def document():
    return copy.deepcopy(ATIF)


def act(*results, calls=("t1",), **more):
    made = [{"tool_call_id": id_, "function_name": "find", "arguments": {"id": id_}} for id_ in calls]
    step = {"source": "agent", "message": "", "tool_calls": made, **more}
    return step | ({"observation": {"results": list(results)}} if results else {})


def got(content, id_="t1", **more):
    return {"source_call_id": id_, "content": content, **more}


def play(document, *steps):
    document["steps"] = list(steps)
    return read_one("atif", document)


def test_a_whole_trajectory():
    session = read_one("atif", ATIF)
    head = started(session)
    assert (session.name, head.session) == ("log-run-1", "run-1")
    assert head.agent == {"name": "pilot", "version": "1.0", "model": "m-1"}
    assert said(session) == [
        ("system", "agent", "Be brief."),
        ("user", "agent", "Where is X1?"),
        ("agent", "agent", "I look."),
        ("agent", "agent", "Looking."),
        ("agent", "user", "Gate 4."),
    ]
    assert calls(session)[0].result == {"gate": 4}
    assert [tool.name for tool in head.tools] == ["find"]
    assert ending(session) == "recorded"


def test_copied_steps_are_left_out_and_counted():
    assert "steps (1): steps copied from an earlier trajectory were left out" in lost(read_one("atif", ATIF))


def test_times_are_the_source_s():
    assert calls(read_one("atif", ATIF))[0].clock == 1767322805.0


class TestObservations:
    def test_calls_of_a_step_are_a_batch(self, document):
        session = play(document, act(got("2", "b"), got("1", "a"), calls=("a", "b")))
        assert [call.result for call in calls(session)] == [1, 2]
        assert len({call.batch for call in calls(session)}) == 1

    def test_a_result_may_come_in_a_later_step(self, document):
        session = play(document, act(), {"source": "system", "message": "", "observation": {"results": [got("1")]}})
        assert calls(session)[0].result == 1

    def test_a_result_without_id_is_that_of_the_only_call(self, document):
        session = play(document, act({"content": "1"}))
        assert calls(session)[0].result == 1
        assert "a result that names no call was given to the only call" in lost(session)

    def test_otherwise_it_is_what_the_environment_said(self, document):
        session = play(document, act({"content": "the lights go out"}, calls=("a", "b")))
        assert said(session) == [("environment", "agent", "the lights go out")]

    def test_errors_can_only_be_guessed(self, document):
        session = play(document, act(got("Error: late")))
        assert calls(session)[0].error.message == "Error: late"
        assert "the format has no error flag" in lost(session)

    def test_parts(self, document):
        parts = [{"type": "text", "text": "4"}, {"type": "image", "source": {"media_type": "image/png", "path": "x"}}]
        session = play(document, act(got(parts)))
        assert (calls(session)[0].result, calls(session)[0].meta) == (4, {"result_partial": True})
        assert "content of type 'image'" in lost(session)

    def test_a_missing_result(self, document):
        session = play(document, act())
        assert calls(session)[0].meta == {"result_missing": True}
        assert ending(session) is None

    def test_a_result_that_only_refers_to_a_sub_agent(self, document):
        session = play(document, act({"source_call_id": "t1", "subagent_trajectory_ref": [{"trajectory_id": "x"}]}))
        assert (calls(session)[0].meta, calls(session)[0].result) == ({}, "")
        assert "what a sub-agent did stands in a file of its own" in lost(session)


class TestSteps:
    def test_an_agent_that_only_thinks_says_nothing(self, document):
        step = {"source": "agent", "message": "", "reasoning_content": "Hm."}
        assert said(play(document, step)) == [("agent", "agent", "Hm.")]

    def test_an_agent_that_only_observes_says_nothing(self, document):
        step = {"source": "agent", "message": "", "observation": {"results": [{"content": "dark"}]}}
        assert said(play(document, step)) == [("environment", "agent", "dark")]

    def test_an_empty_answer_is_an_answer(self, document):
        assert said(play(document, {"source": "agent", "message": ""})) == [("agent", "user", "")]

    def test_an_unknown_source_is_named(self, document):
        assert "the unknown source 'ghost'" in lost(play(document, {"source": "ghost", "message": "boo"}))


class TestSubAgents:
    def test_each_is_part_of_the_session(self, document):
        inner = copy.deepcopy(ATIF) | {"trajectory_id": "scout", "session_id": "run-1"}
        inner["subagent_trajectories"] = [copy.deepcopy(ATIF) | {"trajectory_id": "deep", "session_id": None}]
        document["subagent_trajectories"] = [inner]
        [main] = read("atif", document)
        assert [call.name for call in calls(main)] == ["find"] * 3
        assert [words for _, to, words in said(main) if to == "user"] == ["Gate 4."]
        assert "nothing says which call started this sub-agent" in lost(main)

    def test_stands_where_the_call_that_started_it_ended(self, document):
        inner = copy.deepcopy(ATIF) | {"trajectory_id": "scout"}
        document["subagent_trajectories"] = [inner]
        step = act({"source_call_id": "t1", "subagent_trajectory_ref": [{"trajectory_id": "scout"}]})
        session = play(document, step, {"source": "agent", "message": "Done."})
        assert said(session)[-1] == ("agent", "user", "Done.")
        assert len(calls(session)) == 2


class TestDocuments:
    def test_several_in_a_file(self):
        assert len(read("atif", [ATIF, ATIF])) == 2
        assert len(read("atif", [ATIF, ATIF], "log.jsonl")) == 2

    def test_a_session_that_goes_on_elsewhere_has_no_end(self, document):
        document["continued_trajectory_ref"] = "next.json"
        session = read_one("atif", document)
        assert ending(session) is None
        assert "goes on in another file" in lost(session)

    @pytest.mark.parametrize("version", ["ATIF-v1.0", "ATIF-v1.8"])
    def test_versions_that_are_read(self, document, version):
        document["schema_version"] = version
        assert read("atif", document)

    @pytest.mark.parametrize("version", ["ATIF-v2.0", "1.7", ""])
    def test_versions_that_are_not(self, document, version):
        document["schema_version"] = version
        with pytest.raises(ImportFormatError, match=r"schema_version: is '.*'; expected ATIF-v1.x"):
            read("atif", document)

    @pytest.mark.parametrize("missing", ["schema_version", "agent", "steps"])
    def test_what_has_to_be_there(self, document, missing):
        del document[missing]
        with pytest.raises(ImportFormatError, match=f"lacks '{missing}'"):
            read("atif", document)

    def test_extra_of_others_is_left_alone(self, document):
        document["extra"] = {"sandbox_mcp": "not ours", "other": 1}
        document["steps"][1]["extra"] = {"sandbox_mcp": [1]}
        assert len(said(read_one("atif", document))) == 5


def test_a_document_of_1_8_with_prompt_tools_and_sound(document):
    document["schema_version"] = "ATIF-v1.8"
    document["agent"]["tool_definitions"] = [
        {"type": "function", "function": {"name": "find", "description": "Finds."}}
    ]
    sound = {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}}
    document["steps"] = [
        {"step_id": 1, "source": "system", "message": "Be brief."},
        {"step_id": 2, "source": "user", "message": [{"type": "text", "text": "Where is X1?"}, sound]},
        {"step_id": 3, "source": "agent", "message": "Gate 4."},
    ]
    session = read_one("atif", document)
    assert [text for _, _, text in said(session)] == ["Be brief.", "Where is X1?", "Gate 4."]
    assert [tool.name for tool in started(session).tools] == ["find"]
    assert "content of type 'audio' is not kept" in lost(session)
