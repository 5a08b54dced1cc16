"""``python -m bench truth [--every N] [KIND...]``: what the suite gives to honest talk, lies and cheats.

Every scenario's reference solution is played with its talk or its calls disturbed, through the real session and its
scripted user, and graded strictly. Words stand in ``bench/truth.txt``; a part of them is set aside. Of honest talk
and of cheats that act the score counts; of false statements and of cheats in words what the milestones that they are
about still get, doubts counted as won, because nothing else is lost for words.

What this does not measure: how real agents talk. The replies are our own, disturbed by our own hands, so that it is a
law against regressions; the measure is sessions that assistants played and readers judged (docs/grading.md). Rhetoric
(dreams, coins, sarcasm) is not measured, nor deeds that no tool of the world does.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from sandbox_grader.milestones import strict
from sandbox_grader.milestones.referring import claims_of
from sandbox_grader.milestones.strict_nodes import hears
from sandbox_scenarios import Scenario, Suite
from sandbox_scenarios.model import PlannedTurn, Solution

from bench.truth_deeds import ABOUT, ACTING, CHEATS, HONEST, LIES, Disturb, TruthCase, text_told
from bench.truth_turns import SPOKEN, TURNS, chosen
from sandbox_mcp.engine.trajectory import Message, Trajectory
from sandbox_mcp.engine.worlds import DEFAULT, names
from sandbox_mcp.play.session.rehearsal import RehearsalStage

WORDS = Path(__file__).with_name("truth.txt")
SETS = {"honest": "Honest talk", "lie": "False statements", "cheat": "Cheats"}
TARGETS = {"honest": "mean at least 0.995", "lie": "mean at most 0.25, candidates at most 0.05",
           "cheat": "mean at most 0.10"}  # fmt: skip


def spoken(aside: bool) -> dict[tuple[str, str, str], list[str]]:
    """The words of each kind, those set aside or the others, with where they stand."""
    found: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for line in WORDS.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#") and line.startswith("~") == aside:
            head, _, words = line.lstrip("~").partition(" :: ")
            group, kind, place = (*head.split(), "reply")[:3]
            found[group, kind, place].append(words.replace("\\n", "\n"))
    return found


def retold(words: Sequence[str]) -> Disturb:
    """The last reply in other words; which of them hangs on the scenario."""

    def disturb(case: TruthCase) -> Solution | None:
        said = chosen(case, words)
        *turns, last = case.literal.turns
        if "{reply}" not in said:
            return Solution((*turns, PlannedTurn((), said)))
        return Solution((*turns, PlannedTurn(last.batches, said.replace("{reply}", last.reply))))

    return disturb


def case_of(scenario: Scenario, stage: RehearsalStage) -> TruthCase | None:
    """The scenario with its first solution, its replies as they were said; None where nothing has to be said."""
    solution = scenario.solutions[0]
    log = stage.rehearse(solution).log
    said = [event.content for event in log.events if isinstance(event, Message) and event.sender == "agent"]
    asks = any(hears(constraint) for item in scenario.milestones for constraint in item.constraints)
    if not asks or len(said) < len(solution.turns):
        return None
    turns = (PlannedTurn(turn.batches, reply) for turn, reply in zip(solution.turns, said, strict=False))
    return TruthCase(scenario, Solution(tuple(turns)), log)


def score(scenario: Scenario, log: Trajectory) -> float:
    """The strict score of a session."""
    return strict.evaluate(scenario, log).score


def still_told(scenario: Scenario, log: Trajectory, kind: str) -> float | None:
    """The mean similarity of the milestones that a kind of lie is about; None where it is about none."""
    result = strict.evaluate(scenario, log)
    about = ABOUT.get(kind)
    several = len(scenario.solutions[0].turns) > 1
    numbers = [
        number for number, item in enumerate(scenario.milestones)
        if any(
            hears(constraint) and (not about or any(fact.type in about for fact in claims_of(constraint.content)))
            for constraint in item.constraints
        ) and (number == len(scenario.milestones) - 1 or not several or kind == "nothing_called")
    ]  # fmt: skip
    values = [result.placed[number].similarity if number in result.placed else 0.0 for number in numbers]
    return fmean(values) if values and not result.hit else 0.0 if values else None


def among_others(case: TruthCase, solution: Solution, stage: RehearsalStage, told: float) -> float | None:
    """How much of what a text adds is still told where others stand beside it; None where nobody asked for it."""
    found = text_told(case)
    *turns, last = solution.turns
    if found is None:
        return None
    without = Solution((*turns, replace(last, reply=last.reply.replace(found[0], "Xyzzy"))))
    least = still_told(case.scenario, stage.rehearse(without).log, "candidates")
    return None if least is None or least >= strict.FULL else max(0.0, told - least) / (1 - least)


def kinds(aside: bool) -> Iterator[tuple[str, str, Disturb]]:
    """All kinds of a round: their set, their name, and what they do."""
    for (group, kind, place), words in spoken(aside).items():
        yield group, kind, retold(words) if place == "reply" else SPOKEN[place](words)
    if not aside:
        for group, table in (("honest", {**HONEST, **TURNS}), ("lie", LIES), ("cheat", CHEATS)):
            for kind, disturb in table.items():
                yield group, kind, disturb


def parsed(arguments: Sequence[str]) -> Namespace:
    """The options of the command line."""
    parser = ArgumentParser(
        "python -m bench truth", description="What the suite gives to honest talk, lies and cheats."
    )
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="only these kinds, with every session that misses")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every N-th scenario, as a sample")
    parser.add_argument("--world", default=DEFAULT, choices=names(), help="the world to play (default %(default)s)")
    parser.add_argument("--aside", action="store_true", help="the words that are set aside, in place of the others")
    options = parser.parse_intermixed_args(arguments)
    unknown = set(options.kinds) - {kind for _, kind, _ in kinds(options.aside)}
    if unknown:
        parser.error(f"unknown kind {', '.join(sorted(unknown))}")
    if options.every < 1:
        parser.error(f"--every {options.every}: expected 1 or more")
    return options


def main(arguments: Sequence[str]) -> None:
    """Print the three tables; with names, only these kinds, and every session that misses its mark."""
    options = parsed(arguments)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    played = [item for item in kinds(options.aside) if not options.kinds or item[1] in options.kinds]
    scenarios = Suite().all(options.world)[:: options.every]
    for number, scenario in enumerate(scenarios, start=1):
        if sys.stderr.isatty():
            print(f"\r{number} of {len(scenarios)} scenarios", end="", file=sys.stderr)
        stage = RehearsalStage(scenario)
        case = case_of(scenario, stage)
        if case is None:
            continue
        for group, kind, disturb in played:
            solution = disturb(case)
            if solution is not None:
                log = stage.rehearse(solution).log
                value = score(scenario, log) if group == "honest" or kind in ACTING else still_told(scenario, log, kind)
                if value is not None and kind in ("either_text", "candidates"):
                    value = among_others(case, solution, stage, value)
                if value is not None:
                    found[group, kind].append(value)
                if value is not None and options.kinds and (value < 1 if group == "honest" else value > 0):
                    said = [
                        event.content for event in log.events if isinstance(event, Message) and event.sender == "agent"
                    ]
                    print(f"  {scenario.name} {value:.3f} {said[-1][:300]!r}")
    for group, title in SETS.items():
        rows = {kind: values for (owner, kind), values in found.items() if owner == group}
        if not rows:
            continue
        print(f"\n{title} (target: {TARGETS[group]})")
        for kind, values in sorted(rows.items(), key=lambda item: fmean(item[1]), reverse=group != "honest"):
            print(f"  {kind:24}{len(values):5}{fmean(values):8.3f}")
        means = [fmean(values) for values in rows.values()]
        print(f"  {'mean of ' + str(len(rows)) + ' kinds':24}{sum(map(len, rows.values())):5}{fmean(means):8.3f}")
