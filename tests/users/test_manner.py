"""Users under personas: what they say first, when they say the rest, and that the end stays the same."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import anyio
import pytest
from sandbox_grader.grading.scores import Scores
from sandbox_scenarios import ScenarioError, Suite
from sandbox_scenarios.model import PERSONAS, Answer, Persona, Script, Slip, UserSpec
from sandbox_scenarios.personas import MANNERS, PUSHES, applies, in_persona, insists, is_vague
from sandbox_scenarios.variants import is_under_faults, personas_in, undisturbed, with_persona, without_faults

from sandbox_mcp.app.run.evaluate import evaluate
from sandbox_mcp.engine.trajectory import read_trajectory
from sandbox_mcp.engine.trajectory.finding import find_logs
from sandbox_mcp.play.session.replay import differences
from sandbox_mcp.play.users import Line, ScriptedUser
from sandbox_mcp.play.users.llm import prompt
from tests.each import each
from tests.suite import SUITE

WISH = "Move the meeting on Thursday the 16th to the canteen."
SPEC = UserSpec(
    goal="You want the meeting moved.", opening=WISH, script=Script((Answer(("room", "floor"), "The one upstairs."),)),
    slips=(Slip("the 15th", "the 16th"),), changes=("Actually, make that the library.",),
)  # fmt: skip
DONE = ("The meeting is in the canteen now.", 1, True)
REFUSED = ("I'm sorry, I can't move meetings.", 0, False)


def user(*personas: Persona) -> ScriptedUser:
    return ScriptedUser.of(in_persona(SPEC, personas))


def talk(player: ScriptedUser, *heard: tuple[str, int, bool]) -> list[str | None]:
    """What a user answers to each of some messages."""
    lines, said = [Line("user", player.opening)], list[str | None]()
    for text, calls, met in heard:
        lines.append(Line("agent", text, calls, met))
        said.append(anyio.run(player.respond, lines).says)
        lines.append(Line("user", said[-1] or ""))
    return said


# who plays how


def test_a_vague_user_begins_with_next_to_nothing_and_keeps_its_wish() -> None:
    vague = in_persona(SPEC, ["vague"])
    assert is_vague(vague.opening)
    assert vague.wish == WISH


def test_a_vague_user_says_it_all_once_it_is_asked() -> None:
    assert talk(user("vague"), ("Sure, what is it about?", 0, False), DONE) == [WISH, None]


def test_a_vague_user_says_what_it_meant_to_an_agent_that_did_not_ask() -> None:
    assert talk(user("vague"), ("I have deleted the meeting.", 1, False)) == [f"Let me say it properly. {WISH}"]


def test_a_user_who_pushes_insists_once() -> None:
    first, second = talk(user("pushes"), REFUSED, REFUSED)
    assert first in PUSHES
    assert first
    assert insists(first)
    assert second is None


def test_a_user_who_pushes_gives_its_leave_with_a_complaint_once() -> None:
    asked = ("Shall I move the meeting to the canteen now?", 0, False)
    first, second = talk(user("pushes"), asked, asked)
    assert first
    assert first.endswith("Yes, please.")
    assert first != "Yes, please."
    assert second == "Yes, please."


def test_a_talkative_user_talks_around_its_wish() -> None:
    chatty = in_persona(SPEC, ["talkative"])
    assert chatty.opening.endswith(WISH)
    assert chatty.opening != WISH
    said = talk(user("talkative"), ("Which room is it?", 0, False))[0]
    assert said
    assert said.startswith("The one upstairs. ")


def test_a_mistaken_user_says_it_wrong_until_it_is_asked() -> None:
    mistaken = in_persona(SPEC, ["mistaken"])
    assert "the 15th" in mistaken.opening
    said = talk(user("mistaken"), ("Which room is it?", 0, False))
    assert said == ["Sorry, I said the 15th, but I meant the 16th. The one upstairs."]


def test_a_mistaken_user_is_corrected_by_what_it_is_shown() -> None:
    shown = ("I moved the meeting on Thursday the 15th.", 1, False)
    assert talk(user("mistaken"), shown, DONE) == ["Sorry, I said the 15th, but I meant the 16th.", None]


def test_a_mistaken_user_notices_nothing_that_it_is_not_shown() -> None:
    assert talk(user("mistaken"), DONE) == [None]


def test_a_user_who_changes_its_mind_says_so_in_its_first_answer() -> None:
    assert talk(user("changes_mind"), DONE, DONE) == ["Actually, make that the library.", None]
    assert talk(user("changes_mind"), ("Which room is it?", 0, False)) == [
        "Actually, make that the library. The one upstairs."
    ]


def test_a_persona_that_a_brief_has_nothing_for_is_not_played() -> None:
    plain = replace(SPEC, slips=(), changes=())
    assert in_persona(plain, ["mistaken", "changes_mind"]) is plain
    assert not applies("mistaken", plain)


def test_personas_of_the_brief_are_played_without_being_asked_for() -> None:
    assert is_vague(in_persona(replace(SPEC, personas=("vague",))).opening)


@each("persona", PERSONAS)
def test_a_model_is_told_how_to_play_and_all_that_it_wants(persona: Persona) -> None:
    told = prompt(in_persona(SPEC, [persona]))
    assert MANNERS[persona] in told
    assert persona not in ("vague", "talkative") or WISH in told


def test_every_persona_has_its_instructions() -> None:
    assert set(MANNERS) == set(get_args(Persona))


# the name of a variant


def test_a_variant_names_its_personas_beside_faults_and_injections() -> None:
    name = with_persona(with_persona("all_tools", "talkative"), "vague")
    assert name == "all_tools+talkative+vague"
    assert personas_in(f"{name}+after0.2+injection3") == ("vague", "talkative")
    assert without_faults(f"{name}+after0.2") == ("all_tools", {"after": 0.2})
    assert undisturbed(f"{name}+after0.2+injection3") == "all_tools+vague+talkative"
    assert not is_under_faults(name)
    assert with_persona(name, "vague") == name


def test_an_unknown_part_of_a_variant_is_refused() -> None:
    with pytest.raises(ScenarioError, match="vague"):
        without_faults("base+rude_!")


# whole sessions


SAMPLE = ["wifi_off", "early_ferry_asked", "married_name_no_changing", "signed_out_too_soon"]


def test_the_reference_serves_and_refusing_does_not_under_personas() -> None:
    personas = ["vague", "pushes", "talkative"]
    served = evaluate("reference", selectors=SAMPLE, persona=personas)
    refused = evaluate("refuse", selectors=SAMPLE, persona=personas)
    assert [_score(one) for one in served.sessions] == [1] * 12
    assert max(map(_score, refused.sessions)) <= 0.03
    assert not any(one.spoiled for one in (*served.sessions, *refused.sessions))


def _score(session: Scores) -> float:
    return session.verdicts["toolsandbox"].values["score"]


FILE = """
family: shown
scenarios:
  - name: wifi_on_purpose
    extends: wifi_off
    user: {persona: [mistaken, talkative], slips: [{says: the cellular service, means: the wifi}]}
"""


def test_a_brief_declares_personas_and_a_run_leaves_out_who_cannot_play_one(tmp_path: Path) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text(FILE)
    suite = Suite([path])
    brief = suite.get("wifi_on_purpose").user
    assert brief.personas == ("mistaken", "talkative")
    assert "the cellular service" in in_persona(brief).opening
    report = evaluate("reference", selectors=["wifi_on_purpose", "wifi_off"], scenarios=[path], persona="mistaken")
    assert [(one.scenario, one.variant) for one in report.sessions] == [("wifi_on_purpose", "base+mistaken")]


@each(
    ("lines", "told"),
    [
        ("{persona: mistaken}", "needs 'slips'"),
        ("{persona: changes_mind}", "needs 'changes'"),
        ("{slips: [{says: a, means: nothing of the kind}]}", "does not stand in the opening"),
        ("{persona: rude}", "vague"),
    ],
)
def test_what_a_persona_lacks_is_told(tmp_path: Path, lines: str, told: str) -> None:
    path = tmp_path / "shown.yaml"
    path.write_text(FILE.replace(FILE[FILE.index("{persona") :], lines))
    with pytest.raises(ScenarioError, match=told):
        Suite([path]).get("wifi_on_purpose")


def test_a_user_who_pushes_insists_also_where_the_agent_has_looked_for_a_way() -> None:
    assert talk(user("pushes"), (REFUSED[0], 1, True))[0] in PUSHES


def test_a_talkative_user_does_not_say_the_same_aside_twice_in_a_row() -> None:
    first, second = talk(user("talkative"), ("Which room is it?", 0, False), ("Which floor is it on?", 0, False))
    assert first
    assert second
    assert first.split(". ")[-1] != second.split(". ")[-1]


def test_a_run_under_personas_is_replayed_and_goes_on_where_it_stopped(tmp_path: Path) -> None:
    personas = ["vague", "pushes"]
    first = evaluate("reference", selectors=SAMPLE[:2], persona=personas, out=tmp_path / "run")
    again = evaluate("reference", selectors=SAMPLE[:2], persona=personas, out=tmp_path / "run")
    logs = list(find_logs([tmp_path / "run"]))
    assert [one.session for one in first.sessions] == [one.session for one in again.sessions]
    assert len(logs) == 4
    for path in logs:
        log = read_trajectory(path)
        assert not list(differences(log, SUITE.get(log.started.scenario)))
