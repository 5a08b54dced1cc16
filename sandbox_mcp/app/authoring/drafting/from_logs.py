"""Scenarios over the tools of logged sessions, or of a tape: for logs without a state, whoever wrote them.

Policy: one scenario for each task, which is what a log calls its scenario, or else the words with which it begins; if
the sessions of only one named task begin with these words, it is that task. Of
several sessions of a task the one with the highest reward is the solution, and the first of those; the others only say
what the tools take. All share one tape. Where it has another answer than the session had, because a session before
asked the same, the draft goes by the tape: that is what the solution will be given.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import relpath
from pathlib import Path
from typing import Any

from sandbox_grader.grading.rebuild import rebuilt
from sandbox_grader.grading.values import is_number
from sandbox_grader.milestones.strict import evaluate
from sandbox_grader.reporting.scenario_of_log import beginnings, plain_name, task_of
from sandbox_scenarios import Suite

from sandbox_mcp.app.authoring.drafting.draft import TO_DO, Proof, entry_in, entry_of, prove, yaml_of
from sandbox_mcp.app.authoring.drafting.flow import telling
from sandbox_mcp.app.authoring.drafting.logged_tools import on_tape, tape_text
from sandbox_mcp.app.authoring.drafting.story import DraftStory, leaves, story_of
from sandbox_mcp.app.authoring.drafting.words import free_name, snake, words
from sandbox_mcp.app.run.errors import RunError
from sandbox_mcp.engine.bounded import loads
from sandbox_mcp.engine.plurals import counted
from sandbox_mcp.engine.trajectory import CallError, Message, Role, SessionStarted, ToolCall, Trajectory
from sandbox_mcp.engine.whole_files import write_whole
from sandbox_mcp.engine.worlds.recorded import Tape, TapeAnswerBook, TapeTool, read_tape, world_on
from sandbox_mcp.engine.worlds.recorded.tape import Deed, deed
from sandbox_mcp.engine.worlds.recorded.world import text_of, value_of

LONGEST = 100
"""A session with more calls than a scenario lets an agent make is no scenario."""
NAMED_BY = 4
"""Of how many of the user's first words a scenario's name is made."""
SUGGESTED = 6
"""How many minefields are suggested at most."""
SAID = 60
"""How long a value may be that a made-up reply tells."""


@dataclass(frozen=True, slots=True)
class DraftedLogs:
    """A written file, its scenarios with what came of their solutions, and why sessions were left out, by name."""

    path: Path
    proofs: Mapping[str, Proof]
    left_out: Mapping[str, str]

    @property
    def holds(self) -> bool:
        """True if every draft is as it should be."""
        return all(proof.holds for proof in self.proofs.values())


def draft_logs(sessions: Sequence[Trajectory], suite: Suite, out: Path, family: str) -> DraftedLogs:
    """Write a scenario for each task of these sessions, and a tape of what those without a state called.

    Raises:
        RunError: no session can be a scenario.
        SandboxError: a file cannot be written.
    """
    whole = [session for session in sessions if not (session.started.origin or {}).get("parent")]
    left_out: dict[str, str] = {}
    tasks: dict[str, list[Trajectory]] = {}
    for session in whole:
        if why := _unfit(session):
            left_out[session.started.session] = why
        else:
            tasks.setdefault(task_of(session.started) or _opening(session), []).append(session)
    for opening in [task for task, found in tasks.items() if not task_of(found[0].started)]:
        named = [task for task, found in tasks.items() if task != opening and _opening(found[0]) == opening]
        if len(named) == 1:
            tasks[named[0]] += tasks.pop(opening)
    if not tasks:
        told = "; ".join(f"{name}: {why}" for name, why in list(left_out.items())[:3])
        raise RunError(f"no session can become a scenario: {told or 'there is none'}")
    used = [session for found in tasks.values() for session in found]
    tape = out.with_name(f"{out.stem}.tape.jsonl")
    if stateless := [session for session in used if session.started.world is None]:
        write_whole(tape, tape_text(stateless, family))
    chosen: dict[str, Trajectory] = {}
    for task, found in tasks.items():
        named = plain_name(task) if task_of(found[0].started) else "_".join(words(task)[:NAMED_BY])
        chosen[free_name(snake(named)[:SAID].strip("_") or family, chosen)] = max(found, key=_reward)
    head = f"# Drafted from {counted(len(used), 'session')}."
    return _written(chosen, suite, tape, out, head, left_out)


def draft_tape(tape: Path, suite: Suite, out: Path, family: str) -> DraftedLogs:
    """Write a scenario for each take of a tape in which a call succeeded. Raises like :func:`draft_logs`."""
    read = read_tape(tape)
    takes = {f"{family}_{number}": take for number, take in enumerate(_takes(tape, read), 1)}
    if not takes:
        raise RunError(f"no call on the tape {str(tape)!r} succeeded, so there is nothing to draft")
    if len(takes) == 1:
        takes = {family: next(iter(takes.values()))}
    left_out = {name: why for name, take in takes.items() if (why := _unfit(take))}
    fit = {name: take for name, take in takes.items() if name not in left_out}
    if not fit:
        raise RunError(f"no take of the tape {str(tape)!r} can be a scenario: {next(iter(left_out.values()))}")
    head = f"# Drafted from the tape {tape.name}. Nobody speaks on a tape: put goal, opening and reply as people would."
    return _written(fit, suite, tape, out, head, left_out)


def _written(
    chosen: Mapping[str, Trajectory], suite: Suite, tape: Path, out: Path, head: str, left_out: Mapping[str, str]
) -> DraftedLogs:
    entries: dict[str, dict[str, Any]] = {}
    suggested: dict[str, str] = {}
    for name, session in chosen.items():
        if session.started.world is not None:
            entries[name] = entry_of(session, suite, name)
            continue
        story = story_of(_as_taped(session, read_tape(tape)), world_on(tape))
        entry = entries[name] = entry_in(story, suite, name)
        entry["user"]["does_not_know"] = ["You do not know what will be found."]
        entry["world"] = {"recorded": Path(relpath(tape.resolve(), out.resolve().parent)).as_posix()}
        suggested[name] = _suggested(story)
        if _made_up(session):  # nobody said it, so that only values of calls can be asked of it
            entry["milestones"] = [
                item for item in entry["milestones"] if "message" not in item or "values" in item["message"]["content"]
            ]
    notes = "".join(f"# - {note}\n" for note in TO_DO)
    left = "".join(f"# left out: {name}: {why}\n" for name, why in left_out.items())
    begin = f"{head} Left to do:\n{notes}{left}family: {snake(out.stem)}\nscenarios:\n"

    def write() -> None:
        write_whole(out, begin + "".join(yaml_of([entry]) + suggested.get(name, "") for name, entry in entries.items()))

    write()
    unmet = {name: _unmet(out, name, chosen[name]) for name in suggested}
    for name, ids in unmet.items():
        entries[name]["milestones"] = list(_without(entries[name]["milestones"], ids))
    if any(unmet.values()):
        write()
    return DraftedLogs(out, {name: prove(out, name) for name in chosen}, left_out)


def _unmet(out: Path, name: str, session: Trajectory) -> set[str]:
    """The milestones of a draft that its own session does not meet, as a wording that no reading finds."""
    scenario = Suite([out]).get(name)
    placed = evaluate(scenario, rebuilt(session, scenario).trajectory).placed
    met = {number for number, place in placed.items() if place.similarity > 1 - 1e-9}
    return {item.id for number, item in enumerate(scenario.milestones) if number not in met}


def _without(milestones: Sequence[Mapping[str, Any]], gone: set[str]) -> Iterator[dict[str, Any]]:
    """The milestones but for those that are gone; what came after one of these comes after what it came after."""
    before = {item["id"]: list(item.get("after", ())) for item in milestones}
    for item in milestones:
        if item["id"] not in gone:
            after = list(before[item["id"]])
            while dropped := next((name for name in after if name in gone), None):
                after = [*(name for name in after if name != dropped), *before[dropped]]
            rest = {key: value for key, value in item.items() if key not in ("id", "after")}
            yield {"id": item["id"], **({"after": list(dict.fromkeys(after))} if after else {}), **rest}


def _made_up(session: Trajectory) -> bool:
    return any(event.meta.get("made_up") for event in session.events)


def _unfit(session: Trajectory) -> str:
    """Reason for which a session cannot be a scenario; nothing where it can."""
    calls = list(on_tape(session))
    if not calls and session.started.world is None:
        return "it has no call whose result is known"
    if len(calls) > LONGEST:
        return f"it has {len(calls)} calls, and a scenario {LONGEST} at most"
    return "" if _opening(session) else "in it the user says nothing"


def _opening(session: Trajectory) -> str:
    """What the user says before the agent answers."""
    return next(iter(beginnings(session)), "")


def _reward(session: Trajectory) -> float:
    reward = (session.started.origin or {}).get("reward")
    return float(reward) if is_number(reward) else 0.0


def _as_taped(session: Trajectory, tape: Tape) -> Trajectory:
    """A session with the answers that the tape gives to its calls, and without the calls that the tape has not."""
    answers, after = TapeAnswerBook(tape), tuple[Deed, ...]()
    kept = {id(event) for event in on_tape(session)}
    events: list[Message | ToolCall] = []
    for event in session.events:
        if isinstance(event, Message) or event.caller != "agent":
            events.append(event)
            continue
        asked = tape.plain(deed(event.called, event.arguments, tape.redacted))
        result = answers.to(asked, after) if id(event) in kept else None
        if result is None:
            events.append(event)
            continue
        refused = result.get("isError") is True
        error = CallError(kind="execution", type="RecordedError", message=text_of(result)) if refused else None
        acts = tape.tools[event.called].acts
        # Acts that were sent together would race, and a tape answers them in the order that was recorded alone.
        batch, result = f"{event.batch}/{event.seq}" if acts else event.batch, None if refused else value_of(result)
        events.append(replace(event, tool=event.called, batch=batch, result=result, error=error, changes=()))
        if acts and not refused:
            after = (*after, asked)
    started = replace(session.started, world=None)
    return replace(session, started=started, events=tuple(events))


def _suggested(story: DraftStory) -> str:
    """Minefields worth a thought, as comments behind a scenario: what was tried in vain, and what else would act."""
    made = {step.tool.name for step in story.steps}
    mines: dict[str, dict[str, Any]] = {}
    for event in story.left_out:
        if event.called in story.home.agent_tools and story.home.agent_tools[event.called].action:
            again = {"arguments": dict(event.arguments)} if event.arguments else {}
            mines[free_name(f"tried_{snake(event.called)}", mines)] = {"tool": event.called, **again, "attempt": True}
    for name, tool in story.home.agent_tools.items():
        if tool.action and name not in made:
            mines.setdefault(f"called_{snake(name)}", {"tool": name})
    shown = [{"id": name, **mine} for name, mine in list(mines.items())[:SUGGESTED]]
    if not shown:
        return ""
    lines = yaml_of({"minefields": shown}).splitlines()
    head = "  # Would one of these do harm? Then take the marks off, and say under wants_not what the user refuses:"
    return "\n".join((head, *(f"  # {line}" for line in lines))) + "\n"


def _takes(path: Path, tape: Tape) -> Iterator[Trajectory]:
    """Each take with a call that succeeded as a session, with words made up for the user and the agent."""
    takes: list[list[Mapping[str, Any]]] = []
    for text in path.read_text(encoding="utf-8").split("\n"):
        try:
            line: Any = loads(text)
        except ValueError:
            continue
        if line.get("kind") == "server":
            takes.append([])
        elif line.get("kind") == "call" and line["tool"] in tape.tools:
            takes[-1].append(line)
    for take in takes:
        if any(line["result"].get("isError") is not True for line in take):
            yield _session(take, tape)


def _session(take: Sequence[Mapping[str, Any]], tape: Tape) -> Trajectory:
    done = [line for line in take if line["result"].get("isError") is not True]
    wished = [line for line in done if tape.tools[line["tool"]].acts] or done[-1:]
    opening = "Please do this for me. " + " ".join(_wish(tape.tools[line["tool"]], line) for line in wished)
    events: list[Message | ToolCall] = [_said("user", "agent", opening, 1)]
    for number, line in enumerate(take, 2):
        refused = line["result"].get("isError") is True
        error = CallError(kind="execution", type="RecordedError", message=text_of(line["result"])) if refused else None
        events.append(
            ToolCall(
                seq=number, clock=0.0, call=f"c{number}", batch=f"b{number}", caller="agent", name=line["tool"],
                tool=line["tool"], arguments=line.get("arguments", {}), error=error,
                result=None if refused else value_of(line["result"]),
            )
        )  # fmt: skip
    told = [leaf for _, leaf in leaves(value_of(done[-1]["result"])) if telling(leaf) and len(str(leaf)) <= SAID][:2]
    events.append(_said("agent", "user", f"That is done. {'; '.join(map(str, told))}".strip(), len(take) + 2))
    clock = {"now": 0.0, "zone": "UTC", "step": 1.0}
    return Trajectory(SessionStarted(session=tape.path.stem, scenario="", clock=clock), tuple(events), None)


def _said(sender: Role, recipient: Role, text: str, seq: int) -> Message:
    seen_by: tuple[Role, ...] = (sender, recipient)
    meta = {"made_up": True}
    return Message(seq=seq, clock=0.0, sender=sender, recipient=recipient, content=text, visible_to=seen_by, meta=meta)


def _wish(tool: TapeTool, line: Mapping[str, Any]) -> str:
    """A wish in words, from a tool's description and the arguments."""
    described = " ".join(str(tool.listed.get("description") or "").split()).partition(". ")[0].rstrip(".")
    said = "; ".join(
        f"{name.replace('_', ' ')} {_in_words(value)}" for name, value in line.get("arguments", {}).items()
    )
    begin = described or snake(tool.name).replace("_", " ")
    return f"{begin}{f', with {said}' if said else ''}."


def _in_words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
