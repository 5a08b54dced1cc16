"""Inspect logs: samples, tool events as the best source, attachments, archives."""

import contextlib
import copy
import io
import json
import struct
import sys
import zipfile
import zlib
from dataclasses import replace

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.errors import ImportFormatError
from sandbox_grader.importers.reading import eval_archive

from sandbox_mcp.engine.trajectory.log import to_line
from tests.clients.sessions import SUITE
from tests.each import each
from tests.grader.importers.samples import INSPECT, calls, ending, lost, read, read_bytes, read_one, said, started
from tests.laws import at_least
from tests.scenarios.playing import solved


@pytest.fixture
def log():
    return copy.deepcopy(INSPECT)


@pytest.fixture
def sample(log):
    return log["samples"][0]


def use(*ids, **more):
    made = [{"id": id_, "function": "find", "arguments": {"id": id_}, "type": "function"} for id_ in ids]
    return {"role": "assistant", "content": "", "tool_calls": made, **more}


def event(id_, result="1", **more):
    return {"event": "tool", "id": id_, "function": "find", "arguments": {"id": id_}, "result": result, **more}


def test_a_whole_sample():
    session = read_one("inspect", INSPECT)
    head = started(session)
    assert session.name == "log-flights-where-epoch2"
    assert (head.session, head.scenario, head.trial) == ("sample-1", "flights/where", 1)
    assert (head.agent, head.versions) == ({"model": "mock/m-1"}, {"inspect_ai": "0.3.285"})
    assert said(session) == [
        ("system", "agent", "Be brief."),
        ("user", "agent", "Where is X1?"),
        ("agent", "agent", "I look."),
        ("agent", "agent", "Looking."),
        ("agent", "user", "gate 4"),
    ]


def test_target_and_scores_are_in_the_origin_and_no_reference():
    head = started(read_one("inspect", INSPECT))
    assert head.reference == ()
    assert (head.origin["target"], head.origin["scores"], head.origin["reward"]) == ("gate 4", {"match": "C"}, 1.0)


def test_attachments_are_put_back():
    assert calls(read_one("inspect", INSPECT))[0].result == {"gate": 4}


def test_tools_are_those_the_model_was_given():
    [tool] = started(read_one("inspect", INSPECT)).tools
    assert (tool.name, tool.description) == ("find", "Finds.")


def test_times_come_from_the_events():
    session = read_one("inspect", INSPECT)
    # What the model wrote has the time of its model event, a call that of its tool event.
    assert [event.clock - 1767322800 for event in session.events[1:7]] == [1, 1, 1, 1, 2, 2]
    [call] = calls(session)
    assert call.clock == 1767322802.0
    assert call.wall == {"time": "2026-01-02T03:00:02+00:00", "answered": "2026-01-02T03:00:03+00:00"}


@pytest.mark.parametrize(
    ("value", "reward"),
    [("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), (0.25, 0.25), (True, 1.0), ("maybe", None), ({"a": 1}, None)],
)
def test_one_score_that_is_worth_a_number_is_the_reward(log, sample, value, reward):
    sample["scores"] = {"s": {"value": value}}
    assert started(read_one("inspect", log)).origin["reward"] == reward


def test_of_several_scores_none_is_the_reward(log, sample):
    sample["scores"] = {"a": {"value": 1}, "b": {"value": 0}}
    origin = started(read_one("inspect", log)).origin
    assert "reward" not in origin
    assert origin["scores"] == {"a": 1, "b": 0}


class TestEvents:
    def play(self, log, sample, messages, events):
        sample["messages"], sample["events"] = messages, events
        return read_one("inspect", log)

    def test_an_event_beats_the_message(self, log, sample):
        shown = {"role": "tool", "tool_call_id": "a", "function": "find", "content": "shortened"}
        session = self.play(log, sample, [use("a"), shown], [event("a", "the whole of it")])
        assert calls(session)[0].result == "the whole of it"

    def test_without_an_event_the_message_counts(self, log, sample):
        shown = {"role": "tool", "tool_call_id": "a", "function": "find", "content": "3"}
        assert calls(self.play(log, sample, [use("a"), shown], []))[0].result == 3

    def test_ids_that_repeat_meet_their_events_in_order(self, log, sample):
        session = self.play(log, sample, [use("a"), use("a")], [event("a", "1"), event("a", "2")])
        assert [call.result for call in calls(session)] == [1, 2]

    def test_events_that_no_message_refers_to_keep_their_place(self, log, sample):
        session = self.play(log, sample, [use("a"), use("c")], [event("a"), event("b"), event("c"), event("d")])
        assert [call.arguments["id"] for call in calls(session)] == ["a", "b", "c", "d"]
        assert [call.meta.get("unreferenced", False) for call in calls(session)] == [False, True, False, True]
        assert "samples[0].events[1]: no message refers to this tool event" in lost(session)

    @pytest.mark.parametrize(
        ("result", "value"),
        [
            (5, 5),
            (True, True),
            ("text", "text"),
            ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
            ({"type": "text", "text": "[1]"}, [1]),
            (None, None),
        ],
    )
    def test_results_of_every_kind(self, log, sample, result, value):
        assert calls(self.play(log, sample, [use("a")], [event("a", result)]))[0].result == value

    def test_a_result_with_an_image_is_partial(self, log, sample):
        result = [{"type": "text", "text": "a"}, {"type": "image", "image": "data:"}]
        session = self.play(log, sample, [use("a")], [event("a", result)])
        assert calls(session)[0].meta == {"result_partial": True}
        assert "content of type 'image'" in lost(session)

    def test_a_result_cut_off_is_named(self, log, sample):
        session = self.play(log, sample, [use("a")], [event("a", truncated=[40000, 16384])])
        assert calls(session)[0].meta == {"result_truncated": True}
        assert "cut off at Inspect's limit" in lost(session)

    def test_an_event_under_way_has_no_result(self, log, sample):
        assert calls(self.play(log, sample, [use("a")], [event("a", pending=True)]))[0].meta == {"result_missing": True}

    def test_a_hard_failure_without_error_is_one(self, log, sample):
        assert (
            calls(self.play(log, sample, [use("a")], [event("a", failed=True)]))[0].error.message == "the tool failed"
        )

    @pytest.mark.parametrize(
        ("type_", "message", "kind"),
        [
            ("parsing", "Tool find not found", "unknown_tool"),
            ("parsing", "Additional properties are not allowed ('x' was unexpected)", "unknown_argument"),
            ("parsing", "- 'number' is a required property", "missing_argument"),
            ("parsing", "- 'no' is not of type 'integer'", "wrong_type"),
            ("parsing", "could not be parsed", "invalid_format"),
            ("approval", "rejected", "refused"),
            ("cancelled", "stopped", "refused"),
            ("timeout", "too slow", "execution"),
            ("unknown", "it broke", "execution"),
        ],
    )
    def test_errors_have_types(self, log, sample, type_, message, kind):
        error = {"type": type_, "message": message}
        [call] = calls(self.play(log, sample, [use("a")], [event("a", error=error)]))
        assert (call.error.kind, call.error.type, call.error.message) == (kind, type_, message)

    def test_errors_of_messages_have_them_too(self, log, sample):
        error = {"type": "permission", "message": "no"}
        shown = {"role": "tool", "tool_call_id": "a", "content": "", "error": error}
        [call] = calls(self.play(log, sample, [use("a"), shown], []))
        assert (call.error.kind, call.error.type) == ("execution", "permission")

    def test_arguments_that_could_not_be_parsed_are_marked(self, log, sample):
        asked = use("a")
        asked["tool_calls"][0]["parse_error"] = "no JSON"
        assert calls(self.play(log, sample, [asked], [event("a")]))[0].meta == {"parse_error": "no JSON"}


class TestMessages:
    def test_tools_of_the_provider_stand_in_the_content(self, log, sample):
        part = {"type": "tool_use", "tool_type": "web_search", "id": "w", "name": "search", "arguments": '{"q": 1}'}
        sample["messages"] = [
            {"role": "assistant", "content": [part | {"result": "[2]"}, {"type": "text", "text": "Found."}]},
            {"role": "assistant", "content": [part | {"result": "", "error": "late"}]},
        ]
        sample["events"] = []
        session = read_one("inspect", log)
        first, second = calls(session)
        assert (first.name, first.arguments, first.result) == ("search", {"q": 1}, [2])
        assert second.error.message == "late"
        assert said(session)[0] == ("agent", "user", "Found.")

    def test_encrypted_reasoning_is_named(self, log, sample):
        part = {"type": "reasoning", "reasoning": "xyz", "redacted": True}
        sample["messages"] = [{"role": "assistant", "content": [part, {"type": "text", "text": "Hi"}]}]
        session = read_one("inspect", log)
        assert "xyz" not in str(said(session))
        assert "encrypted" in lost(session)

    @pytest.mark.parametrize("given_", ["Hi", [{"role": "user", "content": "Hi"}]])
    def test_a_sample_that_never_ran_has_its_input(self, log, sample, given_):
        sample["messages"], sample["events"], sample["input"] = [], [], given_
        assert said(read_one("inspect", log)) == [("user", "agent", "Hi")]

    def test_a_missing_attachment_is_named(self, log, sample):
        sample["attachments"] = {}
        session = read_one("inspect", log)
        assert calls(session)[0].result == "attachment://aa11"
        assert "'attachment://aa11' is not among the attachments" in lost(session)


class TestEnds:
    @pytest.mark.parametrize(
        ("changes", "end", "detail"),
        [
            ({}, "recorded", None),
            ({"error": {"message": "no route"}}, "agent_failed", "no route"),
            ({"limit": {"type": "message", "limit": 5}}, "recorded", "limit: message"),
            ({"limit": {"type": "operator", "limit": 1}}, "abandoned", "limit: operator"),
        ],
    )
    def test_the_sample_tells(self, log, sample, changes, end, detail):
        sample.update(changes)
        session = read_one("inspect", log)
        assert (ending(session), session.events[-1].detail) == (end, detail)

    def test_a_sample_that_was_completed_ended_whatever_became_of_the_run(self, log):
        log["status"] = "error"
        assert ending(read_one("inspect", log)) == "recorded"

    def test_a_run_under_way_has_none(self, log, sample):
        log["status"], sample["completed_at"] = "started", None
        assert ending(read_one("inspect", log)) is None


def archive(log, method=zipfile.ZIP_DEFLATED, header="header.json"):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        file.writestr("_journal/summaries/1.json", "[]")
        for sample in log["samples"]:
            file.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        file.writestr(header, json.dumps({"version": 2, "status": "success", "eval": log["eval"]}))
    return data.getvalue()


def packed_as(method, data, content=()):
    """An archive whose members are stored, said to be packed by another method, their sizes those of ``content``."""
    data = bytearray(data)
    for mark, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        start, left = data.find(mark), list(content)
        while start >= 0:
            struct.pack_into("<H", data, start + at, method)
            if left:
                whole = left.pop(0)
                struct.pack_into("<I", data, start + at + 6, zlib.crc32(whole))
                struct.pack_into("<I", data, start + at + 14, len(whole))
            start = data.find(mark, start + 4)
    return bytes(data)


def zstandard_archive(log):
    """What Inspect writes since it packs by Zstandard, which Python itself writes from 3.14 on."""
    with zipfile.ZipFile(io.BytesIO(archive(log))) as plain:
        content = {name: plain.read(name) for name in plain.namelist()}
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, whole in content.items():
            file.writestr(name, zstandard.ZstdCompressor().compress(whole))
    return packed_as(93, data.getvalue(), content.values())


class TestArchives:
    @each("header", ["header.json", "_journal/start.json"])
    @each("name", ["log.eval", "log.json"])
    def test_hold_the_same_as_the_dump(self, header, name):
        [packed] = read_bytes("inspect", archive(INSPECT, header=header), name)
        [dumped] = read("inspect", INSPECT)
        assert packed.events[1:] == dumped.events[1:]

    def test_packed_with_zstandard_hold_the_same(self):
        [packed] = read_bytes("inspect", zstandard_archive(INSPECT), "log.eval")
        [dumped] = read("inspect", INSPECT)
        assert packed.events[1:] == dumped.events[1:]

    def test_without_zstandard_it_is_said_how_to_get_it(self, monkeypatch):
        for module in ("zstandard", "compression.zstd"):
            monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ImportFormatError, match=r"'header.json' is packed with Zstandard; pip install zstandard"):
            read_bytes("inspect", zstandard_archive(INSPECT), "log.eval")

    def test_another_compression_says_what_to_do(self):
        data = packed_as(99, archive(INSPECT, zipfile.ZIP_STORED))
        with pytest.raises(ImportFormatError, match=r"a compression that Inspect does not; .*inspect log dump"):
            read_bytes("inspect", data, "log.eval")

    @pytest.mark.parametrize("pack", [archive, zstandard_archive], ids=["deflate", "zstandard"])
    def test_no_more_of_a_member_is_unpacked_than_is_allowed(self, pack, log, monkeypatch):
        log["samples"][0]["metadata"] = {"blanks": " " * 3_000_000}
        data = pack(log)
        assert len(data) < 30_000
        assert len(read_bytes("inspect", data, "log.eval")) == 1
        monkeypatch.setattr(eval_archive, "MOST", 2_000_000)
        with pytest.raises(ImportFormatError, match=r"'samples/.*' unpacks to more than 2 MB; write it out"):
            read_bytes("inspect", data, "log.eval")

    def test_many_members_of_a_small_archive_are_not_unpacked_without_end(self, log, monkeypatch):
        monkeypatch.setattr(eval_archive, "MOST", 2_000_000)
        monkeypatch.setattr(eval_archive, "TIMES", 1)
        log["samples"] = [{**log["samples"][0], "id": n, "metadata": {"blanks": " " * 900_000}} for n in range(3)]
        with pytest.raises(ImportFormatError, match=r"unpacks to more than 1 times its size"):
            read_bytes("inspect", archive(log), "log.eval")

    def test_a_broken_sample_is_named(self):
        data = io.BytesIO(archive(INSPECT))
        with zipfile.ZipFile(data, "a") as file:
            file.writestr("samples/z_epoch_1.json", "{")
        with pytest.raises(ImportFormatError, match=r"log.eval!samples/z_epoch_1.json:1: is not JSON"):
            read_bytes("inspect", data.getvalue(), "log.eval")

    @each("data", [b"", b"PK", b"PK\x03\x04 and more", b"{}"])
    def test_no_archive_at_all(self, data):
        with pytest.raises(ImportFormatError, match=r"is not an .eval archive"):
            read_bytes("inspect", data, "log.eval")

    def test_an_archive_of_something_else(self):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as file:
            file.writestr("a.txt", "x")
        with pytest.raises(ImportFormatError, match=r"no header\.json and no journal"):
            read_bytes("inspect", data.getvalue(), "log.eval")

    @settings(max_examples=at_least(25), deadline=None)
    @given(data=st.data())
    def test_a_damaged_archive_never_raises_anything_else(self, data):
        packed = bytearray(data.draw(st.sampled_from([archive, zstandard_archive]))(INSPECT))
        for _ in range(data.draw(st.integers(1, 6))):
            packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(0, len(packed)))
        with contextlib.suppress(ImportFormatError):
            read_bytes("inspect", bytes(packed[:cut]), "log.eval")


def test_a_header_alone_says_what_is_missing(log):
    del log["samples"]
    with pytest.raises(ImportFormatError, match="holds no samples; was it dumped with --header-only"):
        read("inspect", log)


# samples of our own task


@pytest.fixture
def own_log():
    scenario = SUITE.get("wifi_off")
    trajectory = solved(scenario)
    return trajectory, "".join(map(to_line, (trajectory.started, *trajectory.events, trajectory.ended)))


def test_a_sample_that_holds_our_own_log_is_that_session(log, sample, own_log):
    trajectory, sample["store"] = own_log[0], {"sandbox_mcp:log": own_log[1]}
    session = read_one("inspect", log)
    assert (started(session), session.losses) == (replace(trajectory.started, origin=started(session).origin), ())
    assert session.events[1:-1] == trajectory.events


def test_a_log_of_ours_that_is_broken_is_told_and_the_messages_are_taken(log, sample):
    sample["store"] = {"sandbox_mcp:log": "{}"}
    session = read_one("inspect", log)
    assert started(session).scenario == "flights/where"
    assert any("sandbox_mcp:log" in loss.what for loss in session.losses)
