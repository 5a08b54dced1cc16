"""Whatever a model writes, a run can be imported, logged, read back and graded, and scores stay in their bounds."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sandbox_grader.grading.metric import Subject
from sandbox_grader.papers.toolscan import ToolScan
from sandbox_grader.papers.toolscan import importer as toolscan
from sandbox_grader.papers.toolscan.scores import PATTERNS

from sandbox_mcp.engine.trajectory import parse_trajectory, to_line
from tests.laws import at_least

APIS = {
    "search": {"parameters": {"q": {"type": "str", "required": True}, "n": {"type": "DATE"}}},
    "finish": {"parameters": {"answer": {"type": "str", "required": True}}},
}
TRUTH = [{"search": [{"q": "x", "n": "optional"}]}, {"search": [{"q": "x"}, {"q": "y"}]}]

values = st.sampled_from(
    ['"x"', "'y'", "1", "None", "null", "[]", "{}", "1e999", "NaN", '"\\ud800"', "{1}", "x", "b'x'"]
)
inputs = st.dictionaries(st.sampled_from(["q", "n", "answer", "z"]), values, max_size=3).map(
    lambda given: "{" + ", ".join(f'"{name}": {value}' for name, value in given.items()) + "}"
)
names = st.sampled_from(["search", "finish", "Finish", "serch", "", "HTTPError"])
calls = st.builds(lambda name, given: f"Action: {name} with Action Input: {given}", names, inputs | st.text(max_size=8))
messages = st.lists(calls | st.text(max_size=30), max_size=12)


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "case.jsonl"

    def _read(case):
        path.write_text(json.dumps(case) + "\n")
        (imported,) = toolscan.read([path])
        data = "".join(map(to_line, imported.events)).encode()
        again = parse_trajectory(data)
        assert [again.started, *again.events, again.ended] == list(imported.events)
        return Subject(again)

    return _read


@settings(deadline=None, max_examples=at_least(25))
@given(messages, st.booleans())
@pytest.mark.parametrize("mode", ["strict", "compat"])
def test_every_run_has_a_verdict_that_is_json(read, mode, said, feedback):
    subject = read({"id": "any", "api_list": APIS, "ground_truth": TRUTH, "messages": said, "feedback": feedback})
    verdict = ToolScan().grade(subject, mode)
    assert verdict.inconclusive is None
    assert json.loads(json.dumps(dict(verdict.values), allow_nan=False)) == verdict.values
    assert json.dumps(list(verdict.details), allow_nan=False, ensure_ascii=False).encode()
    if mode == "strict":
        assert all(0.0 <= verdict.values[name] <= 1.0 for name in PATTERNS)


@settings(deadline=None, max_examples=at_least(20))
@given(messages)
def test_a_further_message_never_adds_a_missing_call(read, said):
    """More calls can only come nearer to a solution in number."""
    whole, part = (
        ToolScan().grade(read({"id": "any", "api_list": APIS, "ground_truth": TRUTH[1:], "messages": some}), "strict")
        for some in (said, said[:-1])
    )
    assert whole.values["errors"]["iac"] <= part.values["errors"]["iac"]
