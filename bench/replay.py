"""``python -m bench replay [--world W] [--every N] [--instances A B]``: what a tape gets that reads nothing.

A tape of every scenario is recorded in one instance: the calls and the words of its reference as they were made there.
It is then played in another instance, chosen by the user's first sentence alone, as the one whose first sentence is
most like it. ``by name`` is a harder tape: of the same scenario, whatever the sentence.
"""

import json
import sys
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
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


def main(arguments: Sequence[str]) -> None:
    """Print the share of scenarios that a tape passes, by world, and those that it passes."""
    parser = ArgumentParser("python -m bench replay", description="What a tape gets that reads nothing.")
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help="only these scenarios")
    parser.add_argument("--world", default="*", help="only worlds that fit this pattern")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th scenario, as a sample")
    parser.add_argument("--instances", nargs=2, default=("1", "2"), metavar="LABEL", help="recorded in, and played in")
    parser.add_argument("--passing", action="store_true", help="name the scenarios that the tape of their own passes")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="also write the figures to a file, as JSON")
    options = parser.parse_intermixed_args(arguments)
    suite = Suite()
    names = options.names or suite.names(options.world)[:: options.every]
    tapes, failing = list[Taped](), list[str]()
    old, new = options.instances
    for name in names:
        tape, score = taped(suite.get(f"{name}{MARK}{old}"))
        tapes.append(tape)
        if score < 1:
            failing.append(f"{name}{MARK}{old}")
    from rapidfuzz import process

    openings = [tape.opening for tape in tapes]
    by_own_tape = list[str]()
    passed, own, worlds = defaultdict[str, int](int), defaultdict[str, int](int), defaultdict[str, int](int)
    for number, name in enumerate(names):
        scenario = suite.get(f"{name}{MARK}{new}")
        stage, opening, world = RehearsalStage(scenario), scenario.user.opening, suite.world(name)
        nearest = process.extractOne(opening, openings)
        chosen = tapes[nearest[2] if nearest else number]
        worlds[world] += 1
        for tape, found in ((chosen, passed), (tapes[number], own)):
            if strict.evaluate(scenario, stage.rehearse(tape.solution).log).score >= 1:
                found[world] += 1
                if found is own:
                    by_own_tape.append(name)
                    if options.passing:
                        print(name)
    print(f"{'world':16}{'scenarios':>10}{'tape':>8}{'by name':>9}")
    for world, count in worlds.items():
        print(f"{world:16}{count:10}{passed[world] / count:8.3f}{own[world] / count:9.3f}")
    total = len(names)
    print(f"{'all':16}{total:10}{sum(passed.values()) / total:8.3f}{sum(own.values()) / total:9.3f}  target {TARGET}")
    if options.keep:
        figures = {
            world: {
                "scenarios": count,
                "tape": round(passed[world] / count, 3),
                "by_name": round(own[world] / count, 3),
            }
            for world, count in worlds.items()
        }
        all_ = {
            "scenarios": total,
            "tape": round(sum(passed.values()) / total, 3),
            "by_name": round(len(by_own_tape) / total, 3),
        }
        kept = {"instances": [old, new], "all": all_, "worlds": figures, "passed_by_their_own_tape": by_own_tape}
        options.keep.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    if failing:
        print(f"{len(failing)} references are not at 1: {' '.join(failing)}", file=sys.stderr)
