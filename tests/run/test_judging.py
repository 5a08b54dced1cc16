"""A model's opinion beside the grader's verdict, over real HTTP with a scripted model."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sandbox_grader.milestones.telling import told

from sandbox_mcp.app.cli import group
from sandbox_mcp.app.endpoint.app import Endpoint
from sandbox_mcp.app.endpoint.server import running
from sandbox_mcp.app.run.judging import read, reason_in
from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.trajectory import LogWriter, Trajectory
from sandbox_mcp.play.session.rehearsal import RehearsalStage
from tests.clients.sessions import scripted
from tests.each import each
from tests.suite import SUITE

NO = """steps: [{say: '{\"stated\": false, \"why\": \"It says nothing of the kind.\"}'}]"""


def solved(name: str) -> Trajectory:
    scenario = SUITE.get(name)
    return RehearsalStage(scenario).rehearse(scenario.solutions[0]).log


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for name in ("wifi_off", "mooring_debt"):
        log = solved(name)
        with LogWriter(tmp_path / "logs" / f"{name}.jsonl") as writer:
            for event in (log.started, *log.events, log.ended):
                if event is not None:
                    writer.write(event)
    return tmp_path / "logs"


def grade(logs: Path, url: str, *more: str) -> Result:
    answers = logs.parent / "answers.ndjson"
    options = ("--judge", "m", "--judge-base-url", url, "--judge-answers", str(answers), "--no-bounds", *more)
    return CliRunner().invoke(group, ["grade", str(logs), *options])


def test_it_is_asked_once_a_fact_and_never_again_and_decides_nothing(logs: Path) -> None:
    requests: list[Mapping[str, Any]] = []
    odd = NO.replace("nothing of", "nothing\\u2028of")  # which ends a line in the eyes of some
    with running(Endpoint(scripted(odd), requests.append)) as url:
        first = json.loads(grade(logs, url, "--json").stdout)
        second = json.loads(grade(logs, url, "--json").stdout)
        answers = logs.parent / "answers.ndjson"
        for cut in (20, 0):  # as a crash leaves it, and as it was gone on with
            answers.write_bytes(answers.read_bytes()[: -cut or None])
            last = json.loads(grade(logs, url, "--json").stdout)
            assert last["judge"]["asked"] == (1 if cut else 0)
    facts = first["judge"]["facts"]
    assert facts == first["judge"]["asked"] == len(requests) - 1 > 1
    assert (second["judge"]["facts"], second["judge"]["asked"]) == (facts, 0)
    assert first["judge"]["agreement"] == second["judge"]["agreement"] == 0
    assert first["score"] == 1


def test_the_question_has_the_request_the_evidence_the_message_and_the_fact(logs: Path) -> None:
    requests: list[Mapping[str, Any]] = []
    with running(Endpoint(scripted(NO), requests.append)) as url:
        grade(logs, url)
    asked = next(text for item in requests if "mooring" in (text := item["messages"][1]["content"]))
    for part in ("What the user said", "search_reminder", "240 dollars", "The fact:\nthe number 240"):
        assert part in asked


def test_people_see_a_column_of_its_own_the_agreement_and_the_differences(logs: Path) -> None:
    with running(Endpoint(scripted(NO))) as url:
        shown = grade(logs, url).stdout
    assert "judge m: facts stated" in shown
    assert "agreement with the grader 0.000" in shown
    assert "judge not stated (It says nothing of the kind.)" in shown


def test_a_judge_that_cannot_be_asked_is_one_clear_error(logs: Path) -> None:
    done = grade(logs, "nowhere")
    assert isinstance(done.exception, SandboxError)
    assert "the judge cannot ask 'nowhere'" in str(done.exception)


@each(
    ("answer", "stated"),
    [
        ('{"stated": true, "why": "x"}', True),
        ('```json\n{"stated": FALSE}\n```', False),
        ("Yes.", True),
        ("Well", None),
    ],
)
def test_answers_are_read_in_any_wrapping(answer: str, stated: bool | None) -> None:
    assert read(answer) is stated


@each(
    ("answer", "why"),
    [
        ('{"why": "It says \\"done\\".", "stated": true}', 'It says "done".'),
        ('{"stated": true, "why": "two\nlines"}', "two\nlines"),
        (r'{"stated": true, "why": "it\'s"}', r'{"stated": true, "why": "it\'s"}'),
        ("Yes, it does. ", "Yes, it does."),
    ],
)
def test_a_reason_is_read_as_json_has_it(answer: str, why: str) -> None:
    assert reason_in(answer) == why


@each("name", ["wifi_off", "mooring_debt", "castle_in_miles", "late_for_dinner_no_address_book"])
def test_the_grader_hears_every_fact_of_a_solution(name: str) -> None:
    found = told(SUITE.get(name), solved(name))
    assert found
    assert all(item.stated for item in found)
