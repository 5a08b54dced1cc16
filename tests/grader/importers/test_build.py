"""How a session is put together, whatever the format: ids, pairing, time, what is missing, what can be concluded."""

from pathlib import Path

import pytest
from sandbox_grader.importers.reading.build import CallOutcome, Names, SessionBuilder, stem
from sandbox_grader.importers.reading.values import Given, failure

from sandbox_mcp.engine.trajectory import ReferenceCall, SessionEnded, ToolCall
from tests.each import each
from tests.grader.importers.samples import calls, checked, ending, lost, said, started

NOTHING = Given({})


@pytest.fixture
def builder():
    return SessionBuilder("test", "log", "scenario")


def finished(builder, end=None, detail=None):
    [session] = checked("test", [builder.finish("name", end, detail)])
    return session


class TestNames:
    def test_are_fit_for_file_names(self):
        assert Names().unique("a b/1", "", "Trial: ½", "..") == "a-b-1-Trial"

    def test_differ_even_where_files_ignore_case(self):
        names = Names()
        assert [names.unique("Log"), names.unique("log"), names.unique("LOG")] == ["Log", "log-2", "LOG-3"]

    def test_differ_also_from_names_that_look_like_made_ones(self):
        names = Names()
        given = [names.unique(part) for part in ("a-2", "a", "A", "a", "a-2")]
        assert given == ["a-2", "a", "A-3", "a-4", "a-2-2"]

    def test_are_never_empty_nor_endless(self):
        assert Names().unique("...") == "session"
        assert len(Names().unique("x" * 500)) == 100

    @each(("path", "name"), [("/a/b.c.json", "b"), (Path("run.eval"), "run"), (".hidden", "")])
    def test_stem(self, path, name):
        assert stem(path) == name


class TestPairing:
    def test_results_find_their_calls_by_id_in_any_order(self, builder):
        batch = builder.batch()
        builder.call("f", NOTHING, batch=batch, id_="a")
        builder.call("g", NOTHING, batch=batch, id_="b")
        builder.settle("", "b", CallOutcome(2))
        builder.settle("", "a", CallOutcome(1))
        assert [call.result for call in calls(finished(builder))] == [1, 2]

    def test_a_repeated_id_means_the_latest_batch(self, builder):
        for result in (1, 2):
            builder.call("f", NOTHING, batch=builder.batch(), id_="a")
            builder.settle("", "a", CallOutcome(result))
        session = finished(builder)
        assert [(call.call, call.result) for call in calls(session)] == [("a", 1), ("a#2", 2)]
        assert calls(session)[1].meta == {"call_id": "a"}

    def test_a_late_result_does_not_go_to_an_older_call_of_its_id(self, builder):
        builder.call("f", NOTHING, batch=builder.batch(), id_="a")
        builder.call("f", NOTHING, batch=builder.batch(), id_="a")
        builder.settle("", "a", CallOutcome(2))
        first, second = calls(finished(builder))
        assert first.meta["result_missing"] is True
        assert second.result == 2

    def test_the_same_id_twice_in_one_batch_is_answered_in_order(self, builder):
        batch = builder.batch()
        for _ in range(2):
            builder.call("f", NOTHING, batch=batch, id_="a")
        for result in (1, 2):
            builder.settle("", "a", CallOutcome(result))
        assert [call.result for call in calls(finished(builder))] == [1, 2]

    def test_without_an_id_the_name_decides(self, builder):
        builder.call("f", NOTHING, batch=builder.batch())
        builder.settle("", None, CallOutcome(1), name="f")
        assert calls(finished(builder))[0].result == 1

    def test_a_result_that_nobody_asked_for_is_a_loss(self, builder):
        builder.settle("messages[3]", "zz", CallOutcome(1))
        assert 'messages[3]: a result of "zz", of which no call is open, was dropped' in lost(finished(builder))

    def test_a_missing_result_is_null_and_says_so(self, builder):
        builder.call("f", NOTHING, batch=builder.batch(), id_="a")
        session = finished(builder)
        assert calls(session)[0].result is None
        assert calls(session)[0].meta == {"result_missing": True}
        assert "event 1: the result of 'f' is missing" in lost(session)

    def test_a_made_up_id_says_that_there_was_none(self, builder):
        builder.call("f", NOTHING, batch=builder.batch())
        [call] = calls(finished(builder))
        assert call.call == "call-1"
        assert call.meta["call_id"] is None


class TestConclusions:
    @pytest.fixture
    def failing(self, builder):
        def fail(name, given=NOTHING, **more):
            opened = builder.call(name, given, batch=builder.batch(), **more)
            builder.answer(opened, CallOutcome(error=failure("Error: no")))
            [call] = calls(finished(builder))
            return call

        return fail

    def test_a_failed_call_of_a_tool_that_was_not_offered(self, builder, failing):
        builder.offer("f", "", {})
        call = failing("g")
        assert (call.tool, call.error.kind) == (None, "unknown_tool")

    def test_nothing_is_concluded_without_definitions(self, failing):
        call = failing("g")
        assert (call.tool, call.error.kind) == ("g", "execution")

    def test_nothing_is_concluded_where_the_source_vouches_for_the_tool(self, builder, failing):
        builder.offer("f", "", {})
        assert failing("g", offered=True).error.kind == "execution"

    def test_nothing_is_concluded_of_calls_of_the_user(self, builder, failing):
        builder.offer("f", "", {})
        assert failing("g", caller="user").error.kind == "execution"

    def test_arguments_that_were_no_object(self, failing):
        assert failing("f", Given({}, "oops")).error.kind == "invalid_format"

    def test_what_the_source_states_stands(self, builder):
        opened = builder.call("f", Given({}, "oops"), batch=builder.batch())
        builder.answer(opened, CallOutcome(error=failure("no", "refused"), stated=True))
        assert calls(finished(builder))[0].error.kind == "refused"

    def test_an_unknown_tool_has_no_canonical_name(self, builder):
        opened = builder.call("g", NOTHING, batch=builder.batch())
        builder.answer(opened, CallOutcome(error=failure("no", "unknown_tool"), stated=True))
        assert calls(finished(builder))[0].tool is None

    def test_a_call_that_succeeded_keeps_its_name(self, builder):
        builder.offer("f", "", {})
        builder.answer(builder.call("g", NOTHING, batch=builder.batch()), CallOutcome(1))
        session = finished(builder)
        assert calls(session)[0].tool == "g"
        assert "'g' was called without an error but is not among the tools" in lost(session)

    def test_a_tool_that_is_really_another_one(self, builder):
        builder.offer("x7", "", {})
        builder.identify("x7", tool="find", domain="air", action=False)
        builder.answer(builder.call("x7", NOTHING, batch=builder.batch()), CallOutcome(1))
        session = finished(builder)
        assert calls(session)[0].tool == "find"
        assert [(tool.name, tool.tool, tool.action) for tool in started(session).tools] == [("x7", "find", False)]


class TestErrorsByText:
    def test_where_a_format_has_no_flag_the_text_tells_and_it_is_said(self, builder):
        outcomes = [builder.judge(text, None) for text in ("Error: no", "An Error", '{"a": 1}')]
        assert [outcome.error is not None for outcome in outcomes] == [True, False, False]
        assert "results (1 of 3): the format has no error flag" in lost(finished(builder))

    def test_a_flag_is_believed(self, builder):
        assert builder.judge("Error: no", False).result == "Error: no"
        assert builder.judge("fine", True).error.message == "fine"
        assert "flag" not in lost(finished(builder))


class TestTime:
    def test_without_times_events_are_counted(self, builder):
        builder.say("user", "agent", "a")
        builder.say("agent", "user", "b")
        session = finished(builder, "recorded")
        assert [event.clock for event in session.events[1:]] == [1.0, 2.0, 2.0]
        assert started(session).clock == {"now": 0.0, "zone": "UTC", "step": 1.0}

    def test_known_times_are_carried_to_events_without_one(self, builder):
        builder.say("system", "agent", "a")
        builder.say("user", "agent", "b", stamp="2026-01-02T03:00:00Z")
        builder.say("agent", "user", "c")
        session = finished(builder)
        assert {event.clock for event in session.events[1:]} == {1767322800.0}
        assert [event.wall for event in session.events[1:]] == [{}, {"time": "2026-01-02T03:00:00Z"}, {}]

    def test_times_without_zone_are_named(self, builder):
        builder.say("user", "agent", "a", stamp="2026-01-02T03:00:00")
        assert "times: read as UTC, as no zone is named: 1 time" in lost(finished(builder))

    @pytest.mark.parametrize("stamp", ["soon", {}, True, 10**400])
    def test_times_that_are_none_are_named(self, builder, stamp):
        builder.say("user", "agent", "a", stamp=stamp)
        assert "is not a time that can be read" in lost(finished(builder))


class TestEnds:
    def test_a_known_end_is_an_event(self, builder):
        builder.say("agent", "user", "bye")
        last = finished(builder, "recorded", "said goodbye").events[-1]
        assert last == SessionEnded(seq=2, clock=1.0, reason="recorded", detail="said goodbye")

    def test_an_unknown_end_is_a_loss(self, builder):
        session = finished(builder)
        assert ending(session) is None
        assert "end: nothing shows that the session ended where the log stops" in lost(session)

    def test_a_log_is_whole_when_the_agent_has_had_the_last_word(self, builder):
        assert not builder.whole
        builder.say("user", "agent", "hi")
        assert not builder.whole
        builder.say("agent", "user", "hi")
        assert builder.whole

    def test_a_log_is_not_whole_while_a_call_is_open(self, builder):
        builder.call("f", NOTHING, batch=builder.batch(), id_="a")
        builder.say("agent", "user", "wait")
        assert not builder.whole
        assert not builder.settled
        builder.settle("", "a", CallOutcome(1))
        assert builder.whole
        assert builder.settled

    def test_what_a_sub_agent_does_behind_the_last_word_takes_no_end_away(self, builder):
        builder.say("agent", "user", "hi")
        with builder.aside():
            builder.call("f", NOTHING, batch=builder.batch(), id_="a")
            builder.settle("", "a", CallOutcome(1))
        assert builder.whole


class TestWhatIsKept:
    def test_notes_are_the_agent_s_own(self, builder):
        builder.note("hm", "reasoning")
        builder.note("  ", "text")
        session = finished(builder)
        assert said(session) == [("agent", "agent", "hm")]
        assert session.events[1].visible_to == ("agent",)

    def test_the_name_a_host_gave_and_the_tool_behind_it(self, builder):
        builder.call("mcp__air__find", NOTHING, batch=builder.batch())
        [call] = calls(finished(builder))
        assert (call.name, call.tool) == ("mcp__air__find", "find")

    def test_tools_of_unknown_effect_are_taken_as_actions_and_named(self, builder):
        builder.offer("f", "", {})
        builder.offer("g", "", {}, action=False)
        session = finished(builder)
        assert [tool.action for tool in started(session).tools] == [True, False]
        assert "taken to change state, as nothing says otherwise: 1 tool" in lost(session)

    def test_absent_definitions_are_named(self, builder):
        assert "tools: the definitions of the tools that were offered are absent" in lost(finished(builder))

    def test_a_solution_of_no_calls_is_still_one(self, builder):
        builder.refer([])
        assert started(finished(builder)).reference[0][0].calls == ()

    def test_solutions_add_up(self, builder):
        builder.refer([ReferenceCall(tool="f", arguments={"a": 1})])
        builder.refer([ReferenceCall(tool="g", arguments={})])
        assert [turns[0].calls[0].tool for turns in started(finished(builder)).reference] == ["f", "g"]

    def test_calls_of_a_batch_share_its_name(self, builder):
        batch = builder.batch()
        builder.call("f", NOTHING, batch=batch)
        builder.call("g", NOTHING, batch=batch)
        builder.call("h", NOTHING, batch=builder.batch())
        assert [event.batch for event in finished(builder).events if isinstance(event, ToolCall)] == ["b1", "b1", "b2"]
