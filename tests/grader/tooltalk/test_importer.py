"""Importing ToolTalk's conversation files."""

import json

import pytest
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers import importer

from sandbox_mcp.engine.trajectory import Message, ToolCall, parse_trajectory, to_line
from tests.each import each


def api(name="AddAlarm", exception=None, response=None, **parameters):
    return {"request": {"api_name": name, "parameters": parameters}, "response": response, "exception": exception}


def user(text="Wake me at 7"):
    return {"role": "user", "text": text}


def assistant(*apis, predictions=None, text="Done", **more):
    turn = {"role": "assistant", "text": text, **more}
    if apis:
        turn["apis"] = list(apis)
    if predictions is not None:
        turn["predictions"] = [*({"role": "api", **item} for item in predictions), {"role": "assistant", "text": "Ok"}]
    return turn


def conversation(*turns, name="alarms", **more):
    return {"name": name, "metadata": {"timestamp": "2023-09-11 13:00:00"}, "conversation": list(turns), **more}


@pytest.fixture
def read(tmp_path):
    """Imports conversations, one file each, or one line each under the name ``lines``."""

    def _read(*conversations, lines=False):
        if lines:
            paths = [tmp_path / "all.jsonl"]
            paths[0].write_text("".join(json.dumps(item) + "\n" for item in conversations))
        else:
            paths = [tmp_path / f"{number}.json" for number in range(len(conversations))]
            for path, item in zip(paths, conversations, strict=True):
                path.write_text(json.dumps(item, indent=2))
        return list(importer("tooltalk")(paths))

    return _read


def trajectory(imported):
    return parse_trajectory("".join(map(to_line, imported.events)).encode())


def calls(imported):
    return [event for event in imported.events if isinstance(event, ToolCall)]


def texts(imported):
    return [(event.sender, event.content) for event in imported.events if isinstance(event, Message)]


RIGHT = api(time="07:00:00", response={"alarm_id": "1"})


class TestWithPredictions:
    def test_predictions_are_what_the_agent_did(self, read):
        (imported,) = read(
            conversation(user(), assistant(RIGHT, predictions=[api(time="08:00:00", response={"alarm_id": "2"})]))
        )
        (call,) = calls(imported)
        assert (call.tool, call.arguments, call.result) == ("AddAlarm", {"time": "08:00:00"}, {"alarm_id": "2"})
        assert texts(imported) == [("user", "Wake me at 7"), ("agent", "Ok")]
        assert imported.events[0].origin["predictions"] == "recorded"

    def test_the_ground_truth_is_the_reference_turn_by_turn(self, read):
        late = api(time="late", exception="time data", response=None)
        (imported,) = read(
            conversation(user(), assistant(RIGHT, predictions=[]), user(), assistant(late, predictions=[]))
        )
        ((first, second),) = imported.events[0].reference
        assert (first.calls[0].arguments, first.calls[0].result, first.reply) == (
            {"time": "07:00:00"},
            {"alarm_id": "1"},
            "Done",
        )
        assert (second.calls[0].error, second.calls[0].action) == ("time data", True)

    def test_a_call_knows_its_turn(self, read):
        (imported,) = read(conversation(user(), user(), assistant(RIGHT, predictions=[RIGHT, RIGHT])))
        assert [call.meta["turn"] for call in calls(imported)] == [1, 1]
        assert [len(turn.calls) for turn in imported.events[0].reference[0]] == [0, 1]

    def test_a_turn_without_predictions_is_named(self, read):
        (imported,) = read(conversation(user(), assistant(RIGHT), user(), assistant(RIGHT, predictions=[])))
        assert any("has no predictions" in loss.what for loss in imported.losses)
        assert calls(imported) == []

    @pytest.mark.parametrize(
        ("prediction", "kind"),
        [
            (api("MakeTea", exception="API MakeTea not found"), "unknown_tool"),
            (api(exception="AddAlarm.call() got an unexpected keyword argument 'x'", x=1), "unknown_argument"),
            (api(exception="AddAlarm.call() missing 1 required positional argument: 'time'"), "missing_argument"),
            (api(exception="User is not logged in"), "refused"),
            (api(exception="unconverted data remains"), "execution"),
        ],
    )
    def test_the_kind_of_a_fault_is_told_from_its_text(self, read, prediction, kind):
        (imported,) = read(conversation(user(), assistant(predictions=[prediction])))
        assert calls(imported)[0].error.kind == kind

    def test_an_unknown_tool_has_no_canonical_name(self, read):
        (imported,) = read(conversation(user(), assistant(predictions=[api("MakeTea", exception="no")])))
        assert (calls(imported)[0].tool, calls(imported)[0].name) == (None, "MakeTea")

    @pytest.mark.parametrize("parameters", [None, "time=7", [1]])
    def test_parameters_that_are_no_object_are_a_format_error(self, read, parameters):
        broken = api(exception="Failed to parse API call")
        broken["request"]["parameters"] = parameters
        (imported,) = read(conversation(user(), assistant(predictions=[broken])))
        (call,) = calls(imported)
        assert (call.error.kind, call.arguments) == ("invalid_format", {})
        assert call.raw_arguments is not None

    def test_what_the_model_answered_with_is_kept(self, read):
        (imported,) = read(conversation(user(), assistant(predictions=[{**RIGHT, "metadata": {"usage": 5}}])))
        assert calls(imported)[0].meta["metadata"] == {"usage": 5}


class TestWithoutPredictions:
    def test_the_ground_truth_stands_in(self, read):
        (imported,) = read(conversation(user(), assistant(RIGHT)))
        assert calls(imported)[0].result == {"alarm_id": "1"}
        assert texts(imported)[-1] == ("agent", "Done")

    def test_and_that_is_said(self, read):
        (imported,) = read(conversation(user(), assistant(RIGHT)))
        assert imported.events[0].origin["predictions"] == "ground truth"
        assert any("stand in" in loss.what for loss in imported.losses)


class TestSession:
    def test_everything_else_of_the_file_is_kept(self, read):
        (imported,) = read(
            conversation(user(), assistant(), user={"username": "ann"}, scenario="s", mutations=["drop"])
        )
        kept = imported.events[0].origin["conversation"]
        assert (kept["user"], kept["mutations"], kept["name"]) == ({"username": "ann"}, ["drop"], "alarms")
        assert imported.events[0].origin["prefix_replay"] is True

    def test_an_explicitly_empty_list_of_calls_is_remembered(self, read):
        (imported,) = read(conversation(user(), assistant(apis=[]), user(), assistant()))
        assert imported.events[0].origin["empty_turns"] == [0]

    def test_verdicts_of_an_earlier_evaluation_are_named_as_lost(self, read):
        (imported,) = read(conversation(user(), assistant(), metrics={"success": True}))
        assert any(loss.where == "metrics" for loss in imported.losses)
        assert "metrics" not in imported.events[0].origin["conversation"]

    def test_all_28_tools_are_listed_with_their_kind(self, read):
        (imported,) = read(conversation(user(), assistant()))
        tools = {tool.name: tool.action for tool in imported.events[0].tools}
        assert (len(tools), tools["SendEmail"], tools["SearchInbox"]) == (28, True, False)

    def test_time_stands_still_at_the_conversations_time(self, read):
        (imported,) = read(conversation(user(), assistant(RIGHT)))
        assert {event.clock for event in imported.events[1:]} == {1694437200.0}

    def test_a_conversation_may_begin_with_the_assistant(self, read):
        (imported,) = read(conversation(assistant(RIGHT), user()))
        assert [len(turn.calls) for turn in imported.events[0].reference[0]] == [1, 0]

    def test_names_are_unique_and_fit_for_files(self, read):
        found = read(*(conversation(user(), name="Add/Alarm.json@3") for _ in range(2)), lines=True)
        assert [item.name for item in found] == ["Add-Alarm.json-3", "Add-Alarm.json-3-2"]

    def test_a_file_without_a_name_gives_its_own(self, read):
        (imported,) = read({"conversation": [user()]})
        assert imported.name == "0"

    def test_a_log_written_and_read_again_is_the_same(self, read):
        (imported,) = read(conversation(user(), assistant(RIGHT, predictions=[api("MakeTea", exception="no", n=1.5)])))
        again = trajectory(imported)
        assert [again.started, *again.events, again.ended] == list(imported.events)


class TestBrokenFiles:
    @each(
        ("text", "problem"),
        [
            ("{", "is not JSON"),
            ("[5]", "expected an object"),
            ("{}", "lacks 'conversation'"),
            ('{"conversation": 5}', "conversation: expected an array, found 5"),
            ('{"conversation": [{"role": "user"}]}', r"conversation\[0\]: lacks 'text'"),
            ('{"conversation": [{"role": "system", "text": ""}]}', "a turn of role 'system'; expected"),
            (json.dumps(conversation(assistant({"request": {}}))), "lacks 'api_name'"),
            (json.dumps(conversation(assistant({**RIGHT, "exception": 5}))), "expected a string, found 5"),
            (json.dumps(conversation(assistant(api() | {"request": {"api_name": "A"}}))), "no object of parameters"),
            (json.dumps(conversation(assistant(predictions=[{"role": "tool"}]))), "a prediction of role 'tool'"),
        ],
    )
    def test_a_fault_is_named_with_its_place(self, tmp_path, text, problem):
        path = tmp_path / "broken.json"
        path.write_text(text)
        with pytest.raises(ImportFormatError, match=problem) as error:
            list(importer("tooltalk")([path]))
        assert error.value.path == str(path)

    def test_of_lines_the_line_is_named(self, tmp_path):
        path = tmp_path / "some.jsonl"
        path.write_text(json.dumps(conversation(user())) + '\n\n{"conversation": 1}\n')
        with pytest.raises(ImportFormatError) as error:
            list(importer("tooltalk")([path]))
        assert error.value.line == 3

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(ImportFormatError, match="cannot be read"):
            list(importer("tooltalk")([tmp_path / "nothing.json"]))

    def test_sessions_before_a_fault_are_still_given(self, tmp_path):
        path = tmp_path / "some.jsonl"
        path.write_text(json.dumps(conversation(user())) + "\n{}\n")
        found = importer("tooltalk")([path])
        assert next(found).name == "alarms"
        with pytest.raises(ImportFormatError):
            next(found)
