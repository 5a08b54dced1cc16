"""From a recorded session to a draft of a scenario file, and the proof that the draft can be played.

Policy: a draft loads and its reference solution scores 1.0, or it says that it does not. Everything in it was in the
log; what an author has to think about is named in the notes at its top.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from os.path import relpath
from pathlib import Path
from typing import Any

from sandbox_grader.milestones.strict import evaluate
from sandbox_scenarios import Suite

from sandbox_mcp.app.authoring.drafting.flow import Flow, flow_of, says
from sandbox_mcp.app.authoring.drafting.milestones import Drafter
from sandbox_mcp.app.authoring.drafting.minefields import minefields_of
from sandbox_mcp.app.authoring.drafting.setting import DraftSetting, setting_of
from sandbox_mcp.app.authoring.drafting.story import CONFIRMATION, DraftStory, StoryStep, refused, story_of
from sandbox_mcp.app.authoring.drafting.user import user_of
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.trajectory import Trajectory
from sandbox_mcp.engine.worlds import DEFAULT, TAPE
from sandbox_mcp.play.session.rehearsal import RehearsalStage

TO_DO = (
    "goal: say what the user wants, without giving away how",
    "knows, does_not_know: say where the user's knowledge ends",
    "script: add an answer for every sensible question",
    "milestones: keep what matters; accept other wordings and other routes",
    "minefields: keep those that an agent might really step on",
)
"""What only an author can do."""
WIDTH = 110
MAX_TURNS, MAX_CALLS, MARGIN = 30, 100, 10
"""Limits of a scenario that says none, and what a limit leaves beyond the solution."""
_TAGGED_MOMENT = re.compile(r"!!timestamp '(\d{4}-\d\d-\d\d[ \d:.+-]*)'")
"""How a moment comes out that stands between braces."""
NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Draft:
    """A scenario file in the making: its text, and the scenario's name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Proof of a draft: its reference's score, and whether the user ended the conversation."""

    score: float
    ended: bool

    @property
    def holds(self) -> bool:
        """True if the draft is as it should be."""
        return self.score > 1 - 1e-9 and self.ended


def draft(trajectory: Trajectory, suite: Suite, name: str, folder: Path | None = None) -> Draft:
    """Draft a scenario from a session; if its file is to stand in a ``folder``, it names a tape by the way from there.

    Raises:
        RunError: the name cannot name a scenario, or the log recorded no state or holds no message.
    """
    if not NAME.fullmatch(name):
        raise RunError(f"{name!r} cannot name a scenario; expected lower-case letters, digits and _, a letter first")
    story = story_of(trajectory)
    entry = entry_in(story, suite, name)
    if folder and entry.get("world") == {"recorded": story.home.origin}:
        with suppress(ValueError):  # on another drive there is no way from there
            entry["world"] = {"recorded": Path(relpath(story.home.origin, folder)).as_posix()}
    left_out = [(event.name, event.error.type if event.error else "not one of our tools") for event in story.left_out]
    notes = (*TO_DO, *(f"left out: {name} ({why})" for name, why in left_out))
    title = f"# Drafted from a session of {story.started.scenario!r}. Left to do:"
    head = "\n".join((title, *(f"# - {note}" for note in notes)))
    return Draft(name, f"{head}\n{file_of(name, entry)}")


def file_of(name: str, *entries: Mapping[str, Any]) -> str:
    """The text of a file that holds these scenarios, their moments as people write them."""
    return yaml_of({"family": name, "scenarios": list(entries)})


def yaml_of(value: Any) -> str:
    """A part of a scenario file as text."""
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=WIDTH, default_flow_style=None)
    return _TAGGED_MOMENT.sub(r"\1", text)


def entry_of(trajectory: Trajectory, suite: Suite, name: str) -> dict[str, Any]:
    """The draft of a session as an entry of a scenario file. Raises like :func:`draft`, but for the name."""
    return entry_in(story_of(trajectory), suite, name)


def prove(path: Path, name: str, places: Sequence[Path] = ()) -> Proof:
    """Load a draft from its file and play its reference solution; ``places`` have what it extends, beside the suite.

    Raises:
        ScenarioFileError: it does not load.
    """
    scenario = Suite([path, *places]).get(name)
    played = RehearsalStage(scenario).rehearse(scenario.solutions[0])
    return Proof(
        evaluate(scenario, played.log).score,
        played.ending == "user_ended" and played.turns == len(scenario.solutions[0].turns),
    )


def entry_in(story: DraftStory, suite: Suite, name: str) -> dict[str, Any]:
    """The draft of a story as an entry of a scenario file."""
    setting, flow = setting_of(story, suite), flow_of(story)
    used = {step.tool.name for step in story.steps}
    mines = minefields_of(story, setting)
    used |= {mine["tool"] for mine in mines}
    gated = sorted({step.tool.name for step in story.steps if CONFIRMATION in step.event.meta})
    entry: dict[str, Any] = {"name": name}
    if setting.base:
        entry["extends"] = setting.base
    said = " ".join(story.turns[0].said.split())
    said = said if len(said) <= 60 else f"{said[:57]}..."
    entry["about"] = f"Drafted from a session that began with {said!r}."
    entry["categories"] = list(_categories(story, flow))
    home = story.home
    if not setting.base and home.name != DEFAULT:  # a base names the world already
        entry["world"] = {"recorded": home.origin} if home.origin.endswith(TAPE) else home.name
    rows = "world" if home.name == DEFAULT else "state"
    entry.update({key: dict(value) for key, value in (("clock", setting.clock), (rows, setting.world)) if value})
    entry["tools"] = [tool for tool in home.agent_tools if tool in used]
    entry["user"] = user_of(story)
    entry["reference"] = [{"turns": list(_turns(story, flow, setting))}]
    entry["milestones"] = Drafter(story, flow, setting).milestones()
    entry.update({"minefields": mines} if mines else {})
    entry.update({"confirm": gated} if gated else {})
    gates = [name for name, gate in home.gates.items() if refused(story.left_out, gate.error)]
    entry.update({"gates": gates} if gates else {})
    if story.stateless:
        entry["allows"] = {table: ["*"] for table in home.state_tables}
        moves = 2 * (len(story.steps) + len(story.turns))
        entry.update({"max_turns": moves + MARGIN} if moves + MARGIN > MAX_TURNS else {})
        entry.update({"max_calls": 2 * len(story.steps)} if 2 * len(story.steps) > MAX_CALLS else {})
    return entry


def _categories(story: DraftStory, flow: Flow) -> Iterator[str]:
    useful = [step for step in story.steps if step.tool.action or step.number in flow.used]
    if not useful and not any(step.result is not None for step in story.steps):
        yield "insufficient_information"
        return
    yield "single_tool_call" if len(story.steps) == 1 else "multiple_tool_call"
    yield "single_user_turn" if len(story.turns) == 1 else "multiple_user_turn"
    if len(useful) > 1 and any(step.tool.name in story.home.hints.switches for step in useful):
        yield "state_dependency"
    if any(_reworded(story, flow, step) for step in story.steps):
        yield "canonicalization"


def _reworded(story: DraftStory, flow: Flow, step: StoryStep) -> bool:
    """True if an argument comes neither from the user's words nor from a call's result."""
    said = story.said_until(step.turn)
    own = (value for name, value in step.event.arguments.items() if name not in flow.arguments[step.number])
    texts = [value for value in own if isinstance(value, str | float)]
    return any(not says(said, value) and len(str(value).split()) < 3 for value in texts)


def _turns(story: DraftStory, flow: Flow, setting: DraftSetting) -> Iterator[dict[str, Any]]:
    for turn, reply in zip(story.turns, flow.replies, strict=True):
        written: list[Any] = []
        for _, batch in groupby(turn.steps, lambda step: step.event.batch):
            calls: list[dict[str, Any]] = []
            for step in batch:
                refs, label = flow.arguments[step.number], flow.labels.get(step.number)
                arguments = {
                    name: f"${flow.reference(refs[name])}"
                    if name in refs
                    else setting.argument(step.tool, name, flow.filled(step.number, (name,), value))
                    for name, value in step.event.arguments.items()
                }
                call = {"tool": step.tool.name, **({"arguments": arguments} if arguments else {})}
                calls.append({**call, **({"as": label} if label else {})})
            written.append(calls if len(calls) > 1 else calls[0])
        yield {**({"calls": written} if written else {}), "reply": reply}
