"""``python -m bench replay [--world W] [--every N] [--instances A B]``: what a tape gets that reads nothing.

A tape of every scenario is recorded in one instance: the calls and the words of its reference as they were made there.
It is then played in another instance, chosen by the user's first sentence alone, as the one whose first sentence is
most like it. ``by name`` is a harder tape: of the same scenario, whatever the sentence.
"""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from sandbox_grader.milestones import strict
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.instances import MARK
from sandbox_scenarios.model import PlannedCall, PlannedTurn, Solution

from sandbox_mcp.engine.trajectory import Message, ToolCall, Trajectory
from sandbox_mcp.play.session.rehearsal import RehearsalStage

TARGET = 0.05


@dataclass(frozen=True, slots=True)
class Taped:
    """One recorded session: how the user began, and what the reference did."""

    scenario: str
    opening: str
    solution: Solution


def taped(scenario: Scenario) -> tuple[Taped, float]:
    """The tape of a scenario's first solution, and what that scored."""
    log = RehearsalStage(scenario).rehearse(scenario.solutions[0]).log
    name = scenario.name.partition(MARK)[0]
    return Taped(name, scenario.user.opening, as_made(log)), strict.evaluate(scenario, log).score


def as_made(log: Trajectory) -> Solution:
    """The calls and words of a log, to be made again whatever comes of them."""
    turns, batch = list[PlannedTurn](), list[tuple[PlannedCall, ...]]()
    for event in log.events:
        if isinstance(event, ToolCall) and event.caller == "agent":
            batch.append((PlannedCall(event.name, dict(event.arguments), None),))
        elif isinstance(event, Message) and event.sender == "agent":
            turns.append(PlannedTurn(tuple(batch), event.content))
            batch = []
    return Solution(tuple(turns), concrete=True)


@dataclass(frozen=True, slots=True)
class Replayed:
    """Scores of two tapes on a scenario: the one with the likest first sentence, and the one of its own."""

    scenario: str
    world: str
    blind: float
    by_name: float


@dataclass(frozen=True, slots=True)
class TapeShare:
    """Shares of scenarios that tapes pass."""

    name: str
    scenarios: int
    tape: float
    by_name: float

    @classmethod
    def of(cls, name: str, found: Sequence[Replayed]) -> "TapeShare":
        """The shares among some scenarios, at least one."""
        blind, own = ([getattr(one, side) >= 1 for one in found] for side in ("blind", "by_name"))
        return cls(name, len(found), sum(blind) / len(found), sum(own) / len(found))

    def to_json(self) -> dict[str, float]:
        """The figures, as ``docs/replay.json`` has them."""
        return {"scenarios": self.scenarios, "tape": round(self.tape, 3), "by_name": round(self.by_name, 3)}


def replays(suite: Suite, names: Sequence[str], tapes: Sequence[Taped], instance: str) -> Iterator[Replayed]:
    """Play tapes, one of each scenario, in another instance of the scenarios."""
    from rapidfuzz import process

    openings = [tape.opening for tape in tapes]
    for name, own in zip(names, tapes, strict=True):
        scenario = suite.get(f"{name}{MARK}{instance}")
        stage = RehearsalStage(scenario)
        nearest = process.extractOne(scenario.user.opening, openings)
        blind, by_name = (
            strict.evaluate(scenario, stage.rehearse(tape.solution).log).score
            for tape in (tapes[nearest[2]] if nearest else own, own)
        )
        yield Replayed(name, suite.world(name), blind, by_name)


def main(arguments: Sequence[str]) -> None:
    """Print the share of scenarios that a tape passes, by world, and those that it passes."""
    parser = ArgumentParser("python -m bench replay", description="What a tape gets that reads nothing.")
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help="only these scenarios")
    parser.add_argument("--world", default="*", help="only worlds that fit this pattern")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th scenario, as a sample")
    parser.add_argument("--instances", nargs=2, default=("1", "2"), metavar="LABEL", help="recorded in, and played in")
    parser.add_argument("--passing", action="store_true", help="name the scenarios that the tape of their own passes")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="also write the figures to a file, as JSON")
    parser.add_argument("--scores", type=Path, metavar="FILE", help="also write the score of every scenario to a file")
    options = parser.parse_intermixed_args(arguments)
    suite = Suite()
    names = options.names or suite.names(options.world)[:: options.every]
    old, new = options.instances
    tapes, failing = list[Taped](), list[str]()
    for name in names:
        tape, score = taped(suite.get(f"{name}{MARK}{old}"))
        tapes.append(tape)
        if score < 1:
            failing.append(f"{name}{MARK}{old}")
    found = list(replays(suite, names, tapes, new))
    known = dict.fromkeys(one.world for one in found)
    worlds = [TapeShare.of(world, [one for one in found if one.world == world]) for world in known]
    by_own_tape = [one.scenario for one in found if one.by_name >= 1]
    if options.passing:
        print("\n".join(by_own_tape))
    print(f"{'world':16}{'scenarios':>10}{'tape':>8}{'by name':>9}")
    for share in (*worlds, total := TapeShare.of("all", found)):
        print(f"{share.name:16}{share.scenarios:10}{share.tape:8.3f}{share.by_name:9.3f}")
    print(f"target {TARGET}")
    if options.keep:
        kept = {
            "instances": [old, new],
            "all": total.to_json(),
            "worlds": {share.name: share.to_json() for share in worlds},
            "passed_by_their_own_tape": by_own_tape,
        }
        options.keep.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if options.scores:
        scores = {one.scenario: round(one.blind, 3) for one in sorted(found, key=attrgetter("scenario"))}
        told = {"instances": [old, new], "scenarios": scores}
        options.scores.write_text(json.dumps(told, indent=0) + "\n", encoding="utf-8")
    if failing:
        print(f"{len(failing)} references are not at 1: {' '.join(failing)}", file=sys.stderr)
