"""Rules on sessions before a mean is taken: which count, and whether they know the figure.

Policy: a metric that none of the sessions knows is a fault, which names those that they have; sessions that do not
belong into one mean are told, not kept apart.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from sandbox_scenarios.instances import family_of

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.scores import SCORE, Scores
from sandbox_mcp.engine.plurals import counted

MAIN = ("tooltalk.success", "toolscan.success", "mtu_bench.right")
"""What to name where ToolSandbox's score says nothing, as of sessions that belong to no scenario."""

BUDGET, ALIKE = "budget", "alike"
"""Reasons for which a run was stopped: its budget, or first sessions that all failed for one reason."""


def cluster_of(scores: Scores) -> str:
    """The cluster of a session: the scenario, of whichever instance; the session itself where its log names none."""
    return family_of(scores.scenario) or scores.session


def why_not(scores: Scores, metric: str = SCORE) -> str | None:
    """Reason for which a session has no value that counts; None where it has one."""
    family = metric.partition(".")[0]
    missing = None if scores.number(metric) is not None else f"no {metric} in this session"
    return scores.unscored(family) or missing


def knows(metric: str, sessions: Sequence[Scores]) -> bool:
    """True if any of the sessions knows a metric; where none says anything of its family, that cannot be told."""
    if not sessions or any(item.number(metric) is not None for item in sessions):
        return True
    family, _, name = metric.partition(".")
    asked = [item.verdicts[family] for item in sessions if family in item.verdicts]
    said = [verdict.values for verdict in asked if verdict.inconclusive is None]
    return any(name in _figures(values) for values in said) or bool(name and asked and not said)


def check_metric(metric: str, sessions: Sequence[Scores]) -> None:
    """See that any of the sessions :func:`knows` a metric.

    Raises:
        GraderError: none does.
    """
    if knows(metric, sessions):
        return
    family, _, name = metric.partition(".")
    verdicts = (verdict for item in sessions for verdict in item.verdicts.items())
    known = {f"{key}.{figure}" for key, verdict in verdicts for figure in _figures(verdict.values)}
    near = [figure for figure in known if figure.startswith(f"{family}.")]
    near = near or [figure for figure in known if figure.partition(".")[2] in (metric, name)]
    families = {figure.partition(".")[0] for figure in known}
    told = ", ".join(sorted(near)) or f"those of {', '.join(sorted(families)) or 'no family'}, as FAMILY.NAME"
    raise GraderError(f"unknown metric {metric!r}; these sessions have {told}")


def another_metric(metric: str, sessions: Iterable[Scores]) -> str:
    """Metric to ask for where no session has this one; empty where nothing else counts in them either."""
    given = list(sessions)
    others = (one for one in MAIN if one != metric and any(item.value(one) is not None for item in given))
    return "".join(f"; another metric can be named, such as {one}" for one in islice(others, 1))


def _figures(values: Mapping[str, Any]) -> Iterator[str]:
    """The names of what a verdict has a number for, or could have."""
    return (name for name, value in values.items() if value is None or isinstance(value, int | float))


def mixed(sessions: Iterable[Scores]) -> list[str]:
    """Reasons to doubt the figures of these sessions: several agents in them, or repeated trials."""
    agents: Counter[str] = Counter()
    places: Counter[tuple[str, str, int, str]] = Counter()
    for item in sessions:
        model, agent = item.agent.get("model"), item.agent.get("name")
        called = str(agent or model or "unnamed") + (f" ({model})" if agent and model else "")
        agents[called] += 1
        places[cluster_of(item), item.variant, item.trial, called] += 1
    told: list[str] = []
    if len(agents) > 1:
        most = ", ".join(f"{name}: {count}" for name, count in agents.most_common(5))
        more = f" and {len(agents) - 5} more" if len(agents) > 5 else ""
        told.append(
            f"sessions of {len(agents)} agents are taken together here ({most}{more}); 'compare' and 'table' "
            "keep them apart"
        )
    if again := sum(places.values()) - len(places):
        told.append(
            f"{counted(again, 'session')} with scenario, variant, trial and agent of another one, which may be the "
            "same one twice; each counts as a further trial"
        )
    return told
