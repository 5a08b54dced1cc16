"""What the suite gives to an agent that refuses everything, and to one that does as the solutions do."""

from collections.abc import Iterable

from sandbox_grader.milestones import strict
from sandbox_grader.milestones.baselines import idle, refusing
from sandbox_scenarios import Scenario, Suite

from sandbox_mcp.play.session.rehearsal import RehearsalStage


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers)


def _reference(scenario: Scenario) -> float:
    return strict.evaluate(scenario, RehearsalStage(scenario).rehearse(scenario.solutions[0]).log).score


def main() -> None:
    """Print the mean strict score per category of a silent, a refusing and the reference agent."""
    scenarios = Suite().all()
    groups: dict[str, list[Scenario]] = {"all": list(scenarios)}
    for scenario in scenarios:
        for category in scenario.categories:
            groups.setdefault(category, []).append(scenario)
    silent = {item.name: strict.evaluate(item, idle(item)).score for item in scenarios}
    refusal = {item.name: strict.evaluate(item, refusing(item)).score for item in scenarios}
    reference = {item.name: _reference(item) for item in scenarios}
    print("\nStrict score of the suite by category")
    print(f"  {'category':26}{'n':>5}{'silent':>9}{'refusing':>10}{'reference':>11}")
    for name, members in groups.items():
        means = [_mean(scores[item.name] for item in members) for scores in (silent, refusal, reference)]
        print(f"  {name:26}{len(members):5}{means[0]:9.3f}{means[1]:10.3f}{means[2]:11.3f}")
