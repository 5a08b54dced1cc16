"""Mutants: spoilt and disturbed ways to play a scenario, each with the score that it should get."""

from collections.abc import Iterator

from sandbox_mcp.app.authoring.mutants.calls import calls, depends
from sandbox_mcp.app.authoring.mutants.deeds import deeds
from sandbox_mcp.app.authoring.mutants.mutant import Mutant, RehearsedSolution, ScoreSpan, case_of
from sandbox_mcp.app.authoring.mutants.talking import baselines, disturbances
from sandbox_mcp.play.session.rehearsal import RehearsalStage

__all__ = ("Mutant", "RehearsedSolution", "ScoreSpan", "case_of", "depends", "mutants_of")


def mutants_of(stage: RehearsalStage) -> Iterator[Mutant]:
    """Every mutant of a scenario; those of a solution follow its plain and disturbed plays.

    One that cannot be carried out as it is written is only played as it is, for nothing can be spoilt of it.
    """
    yield from baselines(stage.scenario)
    for number in range(len(stage.scenario.solutions)):
        case = case_of(stage, number)
        for make in (disturbances, calls, deeds) if case.carried_out else (disturbances,):
            yield from make(case)
