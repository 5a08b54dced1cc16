"""``import``: what it writes where, and what it says when there is nothing to write."""

import json
import zipfile
from pathlib import Path

from click.testing import CliRunner, Result
from sandbox_grader.importers import IMPORTERS

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import read_trajectory
from tests.each import each

CHAT = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello, too."}]
OTHER = [{"role": "user", "content": "Good-bye."}, {"role": "assistant", "content": "Come back."}]


def brought_in(format_: str, out: Path, *inputs: Path) -> Result:
    return CliRunner().invoke(group, ["import", format_, *map(str, inputs), "-o", str(out)])


def written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def words_in(folder: Path) -> dict[str, str]:
    return {path.name: read_trajectory(path).events[0].content for path in sorted(folder.glob("*"))}  # pyright: ignore[reportAttributeAccessIssue]


def test_a_file_of_the_same_name_overwrites_nothing(tmp_path: Path) -> None:
    brought_in("openai-chat", tmp_path / "out", written(tmp_path / "a/log.json", CHAT))
    brought_in("openai-chat", tmp_path / "out", written(tmp_path / "b/log.json", OTHER))
    assert words_in(tmp_path / "out") == {"log.jsonl": "Hello.", "log-2.jsonl": "Good-bye."}


def test_nor_do_two_of_one_import(tmp_path: Path) -> None:
    files = [written(tmp_path / "a/log.json", CHAT), written(tmp_path / "b/log.json", OTHER)]
    brought_in("openai-chat", tmp_path / "out", *files)
    assert words_in(tmp_path / "out") == {"log.jsonl": "Hello.", "log-2.jsonl": "Good-bye."}


def test_the_same_file_again_is_one_log(tmp_path: Path) -> None:
    file = written(tmp_path / "log.json", CHAT)
    for _ in range(2):
        brought_in("openai-chat", tmp_path / "out", file)
    assert words_in(tmp_path / "out") == {"log.jsonl": "Hello."}


NOTHING: list[tuple[str, object]] = [
    ("tau2", {"tasks": [], "simulations": []}),
    ("tau-bench", []),
    ("openai-chat", []),
    ("openai-responses", []),
    ("anthropic", []),
    ("toolscan", []),
    ("tooltalk", []),
    ("mtu", []),
    ("claude-code", []),
    ("codex", []),
    ("mcp-wire", []),
    ("toolsandbox-results", []),
    ("tau2", []),
    ("tau2", {"tasks": []}),
    ("inspect", []),
    ("inspect", {"version": 2, "status": "error", "eval": {"task": "t", "model": "m"}}),
    ("openai-chat", {"messages": []}),
    ("openai-responses", {"input": [], "output": []}),
    ("anthropic", {"messages": []}),
    ("atif", []),
    ("otel", {"resourceSpans": []}),
    ("inspect", {"version": 2, "eval": {"task": "t", "model": "m"}, "samples": []}),
]


@each(("format_", "value"), NOTHING)
def test_where_there_is_nothing_to_import_that_is_said(tmp_path: Path, format_: str, value: object) -> None:
    done = brought_in(format_, tmp_path / "out", written(tmp_path / "log.json", value))
    assert (done.exit_code, "nothing to import" in done.stderr) == (1, True), done.output
    assert "log.json" in done.stderr


@each("content", [b"", b"\n \n", b"\xef\xbb\xbf", b"[]\n"], ids=["no byte", "blanks", "a mark", "[]"])
@each("format_", sorted(IMPORTERS))
def test_a_file_without_anything_is_nothing_to_import_whatever_the_format(
    tmp_path: Path, format_: str, content: bytes
) -> None:
    (tmp_path / "log.json").write_bytes(content)
    done = brought_in(format_, tmp_path / "out", tmp_path / "log.json")
    assert (done.exit_code, "nothing to import" in done.stderr) == (1, True), done.output


def test_an_archive_without_samples_is_nothing_to_import(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "status": "error", "eval": {"task": "t"}}))
    done = brought_in("inspect", tmp_path / "out", tmp_path / "log.eval")
    assert (done.exit_code, "log.eval: holds no samples" in done.stderr.replace("!header.json", "")) == (1, True)


@each(("content", "code"), [("[]", 0), ("{", 2), ('{"no": "conversation"}', 2)])
def test_a_file_that_gives_no_session_keeps_none_of_the_others_away(tmp_path: Path, content: str, code: int) -> None:
    first, last = written(tmp_path / "a/log.json", CHAT), written(tmp_path / "c/log.json", OTHER)
    middle = tmp_path / "middle.json"
    middle.write_text(content)
    done = brought_in("openai-chat", tmp_path / "out", first, middle, last)
    assert (done.exit_code, str(middle) in done.stderr) == (code, True), done.output
    assert words_in(tmp_path / "out") == {"log.jsonl": "Hello.", "log-2.jsonl": "Good-bye."}
    names = {read_trajectory(path).started.session for path in (tmp_path / "out").iterdir()}
    assert names == {"log", "log-2"}


def call(id_: int, method: str, **params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


SPAN = {
    "traceId": "t",
    "spanId": "s",
    "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}],
}
LOG = {"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}}
BETWEEN: list[tuple[str, object]] = [
    ("openai-chat", [{"messages": CHAT}, {"messages": []}, {"messages": OTHER}]),
    ("openai-chat", [{"messages": CHAT}, {"messages": [{"content": "by whom?"}]}, {"messages": OTHER}]),
    ("anthropic", [{"messages": CHAT}, {"messages": 7}, {"messages": OTHER}]),
    ("openai-responses", [{"input": CHAT}, {"input": [], "output": []}, {"input": OTHER}]),
    ("tau-bench", [{"task_id": 1, "traj": CHAT}, {"task_id": 2}, {"task_id": 3, "traj": OTHER}]),
    (
        "tau2",
        {"tasks": [], "simulations": [{"task_id": "1", "messages": CHAT}, {}, {"task_id": "3", "messages": OTHER}]},
    ),
    ("inspect", LOG | {"samples": [{"id": 1, "messages": CHAT}, {"messages": CHAT}, {"id": 3, "messages": OTHER}]}),
    (
        "mcp-wire",
        [
            {"session": name, "message": call(1, "tools/call", **params)}
            for name, params in (("a", {"name": "f"}), ("b", {}), ("c", {"name": "f"}))
        ],
    ),
    ("atif", [{"schema_version": "ATIF-v1.7", "agent": {}, name: []} for name in ("steps", "step", "steps")]),
    (
        "otel",
        [
            SPAN
            | {"traceId": name, "attributes": [*SPAN["attributes"], {"key": "gen_ai.input.messages", "value": said}]}
            for name, said in (
                ("a", {"stringValue": "[]"}),
                ("b", {"stringValue": "[7]"}),
                ("c", {"stringValue": "[]"}),
            )
        ],
    ),
]


@each(("format_", "value"), BETWEEN)
def test_a_session_that_cannot_be_read_keeps_none_of_its_file_away(tmp_path: Path, format_: str, value: object) -> None:
    done = brought_in(format_, tmp_path / "out", written(tmp_path / "log.json", value))
    told = [line for line in done.stderr.splitlines() if line.startswith("sandbox-mcp: ")]
    assert (len(list((tmp_path / "out").iterdir())), len(told)) == (2, 1), done.output


def test_nor_does_a_damaged_sample_of_an_archive(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(LOG))
        for number, said in enumerate([json.dumps({"id": 1, "messages": CHAT}), "{", '{"id": 3}'], start=1):
            archive.writestr(f"samples/{number}_epoch_1.json", said)
    done = brought_in("inspect", tmp_path / "out", tmp_path / "log.eval")
    assert (done.exit_code, len(list((tmp_path / "out").iterdir()))) == (2, 2), done.output
    assert "2_epoch_1.json:1: is not JSON" in done.stderr


def test_a_file_of_a_folder_that_is_read_as_a_whole_keeps_none_of_the_others_away(tmp_path: Path) -> None:
    said = {"sessionId": "s", "type": "user", "uuid": "u", "message": {"role": "user", "content": "Hello."}}
    for name in ("a", "b/subagents/one", "c"):
        written(tmp_path / "project" / f"{name}.jsonl", said)
    for name in ("b", "b/subagents/other"):
        (tmp_path / "project" / f"{name}.jsonl").write_text("{")
    done = brought_in("claude-code", tmp_path / "out", tmp_path / "project")
    assert (done.exit_code, done.stderr.count("not JSON")) == (2, 2), done.output
    assert words_in(tmp_path / "out") == {"a.jsonl": "Hello.", "c.jsonl": "Hello.", "one.jsonl": "Hello."}


def of(model: str, scenario: str = "wifi_off") -> dict[str, object]:
    return {"messages": CHAT, "model": model, "metadata": {"scenario": scenario}}


def trials_in(folder: Path) -> list[tuple[str, str, int]]:
    heads = [read_trajectory(path).started for path in folder.iterdir()]
    return sorted((str(head.agent["model"]), head.scenario, head.trial) for head in heads)


@each("apart", [False, True])
def test_repetitions_that_a_format_does_not_number_are_trials(tmp_path: Path, *, apart: bool) -> None:
    told = [of("a"), of("a"), of("a", "wifi_on"), of("b")]
    files = [written(tmp_path / f"{number}.json", one) for number, one in enumerate(told)]
    done = [
        brought_in("openai-chat", tmp_path / "out", *given)
        for given in ([[file] for file in files] if apart else [files])
    ]
    expected = [("a", "wifi_off", 0), ("a", "wifi_off", 1), ("a", "wifi_on", 0), ("b", "wifi_off", 0)]
    assert trials_in(tmp_path / "out") == expected
    assert sum("counts as trial 1" in one.stdout for one in done) == 1
    brought_in("openai-chat", tmp_path / "out", *files)
    assert trials_in(tmp_path / "out") == expected


@each(("lines", "told"), [(5, 5), (6, 2), (40, 2)])
def test_of_a_file_in_another_form_not_every_line_is_told(tmp_path: Path, lines: int, told: int) -> None:
    (tmp_path / "log.jsonl").write_text('{"type": "event_msg"}\n' * lines)
    done = brought_in("openai-chat", tmp_path / "out", tmp_path / "log.jsonl")
    found = [line for line in done.stderr.splitlines() if line.startswith("sandbox-mcp: ")]
    assert (done.exit_code, len(found)) == (2, told)
    assert found[0].endswith("log.jsonl:1: lacks 'messages'; it has \"type\"")
    assert told == lines or found[1].endswith(f"log.jsonl: and {lines - 1} more parts that cannot be read")


HI = {"role": "assistant", "content": "Hi."}
COMPLETION = {"object": "chat.completion", "choices": [{"index": 0, "message": HI}]}
CHUNKS = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": word}}]} for word in "ab"]
MESSAGE = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi."}]}
EVENTS = [
    {"type": "message_start", "message": {**MESSAGE, "content": []}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi."}},
]
RESPONSE = {"object": "response", "output": [{"type": "message", **HI}]}
CANDIDATES = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}}]}
HALVES: list[tuple[str, str, list[object]]] = [
    ("openai-chat", "answers of a batch", [{"custom_id": "a", "response": {"body": COMPLETION}, "error": None}] * 2),
    ("openai-responses", "answers of a batch", [{"custom_id": "a", "response": {"body": RESPONSE}, "error": None}]),
    ("anthropic", "answers of a batch", [{"custom_id": "a", "result": {"type": "succeeded", "message": MESSAGE}}]),
    ("openai-chat", "answers of a batch", [{"key": "a", "response": CANDIDATES}]),
    ("openai-chat", "requests of a batch", [{"custom_id": "a", "method": "POST", "body": {"messages": CHAT[:1]}}]),
    ("anthropic", "requests of a batch", [{"custom_id": "a", "params": {"messages": CHAT[:1]}}] * 3),
    ("openai-chat", "a streamed answer in pieces", [*CHUNKS]),
    ("anthropic", "a streamed answer in pieces", [*EVENTS]),
    ("openai-responses", "a streamed answer in pieces", [{"type": "response.created"}, {"type": "response.completed"}]),
    ("openai-chat", "answers of a model", [COMPLETION]),
    ("openai-chat", "answers of a model", [CANDIDATES]),
]


@each(("format_", "what", "lines"), HALVES)
def test_of_one_half_of_a_conversation_it_is_said_what_to_give_instead(
    tmp_path: Path, format_: str, what: str, lines: list[object]
) -> None:
    texts = [json.dumps(line) for line in lines]
    (tmp_path / "a.jsonl").write_text("".join(f"{text}\n" for text in texts))
    (tmp_path / "b.json").write_text(f"[{', '.join(texts)}]")
    files = [tmp_path / "a.jsonl", tmp_path / "b.json"]
    if "streamed" in what:
        (tmp_path / "c.txt").write_text("".join(f"event: x\ndata: {text}\n\n" for text in texts))
        files.append(tmp_path / "c.txt")
    for file in files:
        done = brought_in(format_, tmp_path / "out", file)
        *_, told = (line for line in done.stderr.splitlines() if line.startswith("sandbox-mcp: "))
        assert told.startswith(f"sandbox-mcp: {file}: holds "), told
        assert what in told
        assert '{"messages": [...]}' in told
        file.unlink()


@each("lines", [[{"type": "event_msg"}], [{"custom_id": "a"}], [{"choices": []}], [3], [[]], ["data: x"]])
def test_what_is_no_half_of_anything_is_not_called_one(tmp_path: Path, lines: list[object]) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert "holds the" not in (said := brought_in("openai-chat", tmp_path / "out", tmp_path / "a.jsonl").stderr)
    assert "in pieces" not in said


def test_an_unknown_format_leads_to_the_one_for_any_json(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    result = CliRunner().invoke(group, ["import", "json", str(tmp_path / "x.json"), "-o", str(tmp_path / "out")])
    assert "'any' with --mapping FILE reads other JSON" in str(result.exception)


def test_a_session_that_cannot_be_judged_is_said_beside_the_mean_and_misses_a_threshold(tmp_path: Path) -> None:
    def session(result: object) -> dict[str, object]:
        function = {"name": "set_wifi_status", "arguments": '{"on": false}'}
        told = {"role": "tool", "tool_call_id": "a", "content": json.dumps({"result": result})}
        asked = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]}
        opening = {"role": "user", "content": "Please turn off the wifi on my phone."}
        said = {"role": "assistant", "content": "Wifi is now off."}
        return {"metadata": {"scenario": "wifi_off"}, "messages": [opening, asked, told, said]}

    out = tmp_path / "out"
    brought_in(
        "openai-chat", out, written(tmp_path / "a.json", session(None)), written(tmp_path / "b.json", session(17))
    )
    graded = CliRunner().invoke(group, ["grade", str(out), "--threshold", "0.5"])
    assert "1 of 2 sessions scored, mean score 1.000" in graded.output
    assert "threshold 0.5 missed: 1 session could not be scored" in graded.output
    assert 'set_wifi_status gave {"result": 17}, and again null' in graded.output
    assert graded.exit_code == 1
