"""The families of metrics by name. Each lives in a module of its own that loads when it is first used.

Policy: a family of ours is one class in one module and one line here; one of another package is an entry point of the
group ``sandbox_mcp.metrics``, found when families are first asked for. A name is given once.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any, cast

from sandbox_grader.errors import GraderError
from sandbox_grader.grading.metric import Metric, Mode, Subject, Verdict
from sandbox_grader.grading.similarity import DEFAULT, similarity
from sandbox_grader.grading.values import is_array, is_object
from sandbox_grader.plugins import found_outside, loaded, names_taken
from sandbox_mcp.engine.own_code import others_code

FAMILIES = MappingProxyType(
    {
        "toolsandbox": "sandbox_grader.milestones:ToolSandbox",
        "tooltalk": "sandbox_grader.papers.tooltalk:ToolTalk",
        "toolscan": "sandbox_grader.papers.toolscan:ToolScan",
        "mtu_bench": "sandbox_grader.papers.mtu_bench:MtuBench",
        "conduct": "sandbox_grader.conduct:Conduct",
        "faults": "sandbox_grader.conduct.coping:Coping",
        "injections": "sandbox_grader.conduct.injections:Injections",
        "user_conduct": "sandbox_grader.users:UserConduct",
    }
)
"""Family name to the module and class that grade it."""
STATEFUL, USERS = "toolsandbox", "user_conduct"
"""The family that can say nothing without state, and the one that is not about the agent."""
GROUP = "sandbox_mcp.metrics"
"""The entry points under which other packages name theirs."""
BY_VALUES = frozenset({"toolsandbox", "tooltalk", "toolscan", "conduct", "faults", "injections"})
"""The families whose summaries count the values alone, and none of the details."""
TEXTUAL = frozenset({"tooltalk"})
"""The families that compare free text by likeness."""


@cache
def metric(name: str, likeness: str = DEFAULT) -> Metric:
    """The metric family of that name, which compares free text by the similarity of the name ``likeness``.

    Raises:
        GraderError: there is no such family, no such similarity here, or the class of another package cannot be used.
    """
    home = FAMILIES.get(name)
    if home is not None:
        module, _, kind = home.partition(":")
        options = {"similarity": similarity(likeness)} if name in TEXTUAL else {}
        ours: Metric = getattr(import_module(module), kind)(**options)
        return ours
    outside = found_outside(GROUP, FAMILIES)
    if name in (taken := names_taken(GROUP, FAMILIES)):
        raise GraderError(taken[name])
    if name not in outside:
        known = ", ".join((*FAMILIES, *outside))
        raise GraderError(f"unknown metric family {name!r}; known: {known}; a figure is FAMILY.NAME, such as {EXAMPLE}")
    kind, whose = loaded(outside[name]), f"metric {name!r} of {outside[name].value}"
    made: Any = None
    if callable(kind):
        with others_code(f"{whose} cannot be made", GraderError):
            made = kind()
    if getattr(made, "name", None) != name or not callable(getattr(made, "grade", None)):
        raise GraderError(f"{whose}: expected a class with name = {name!r} and grade")
    return made


def usable_outside(names: Iterable[str]) -> list[Metric]:
    """Those of these families of other packages that can be used here, where nobody asked for them."""
    found = found_outside(GROUP, FAMILIES)
    return [_Unasked(metric(name)) for name in names if name in found and name not in unusable()]


@cache
def unusable() -> Mapping[str, str]:
    """Families of other packages that cannot be used, and why."""
    found = dict(names_taken(GROUP, FAMILIES))
    for name in found_outside(GROUP, FAMILIES):
        try:
            metric(name)
        except GraderError as error:
            found[name] = str(error)
    return MappingProxyType(found)


class _Unasked(Metric):
    """A family of another package that nobody asked for by name: where it breaks, it has nothing to say."""

    def __init__(self, family: Metric) -> None:
        self._family = family
        self.name, self.source = family.name, str(getattr(family, "source", ""))
        self.figures = getattr(family, "figures", None)

    def grade(self, subject: Subject, mode: Mode) -> Verdict:
        """Grade one session, as far as that is possible."""
        try:
            return judged_outside(self._family, subject, mode)
        except GraderError as error:
            return Verdict(inconclusive=str(error))


EXAMPLE = "toolsandbox.score"
"""How a figure is named."""


def is_known(name: str) -> bool:
    """True if there is a family of that name, here or in another package."""
    return name in FAMILIES or name in found_outside(GROUP, FAMILIES)


def families(likeness: str = DEFAULT, names: Iterable[str | Metric] | str = ()) -> list[Metric]:
    """The families of these names, or all in the order of reports: ours, then those of other packages.

    Where none is asked for, one of another package that breaks stops nothing: a session on which it breaks is
    inconclusive for it, and :func:`unusable` tells those that cannot even be made.

    Raises:
        GraderError: there is no similarity or no family of that name here.
    """
    chosen = (names,) if isinstance(names, str) else tuple(names)
    if not chosen:
        return [*(metric(name, likeness) for name in FAMILIES), *usable_outside(found_outside(GROUP, FAMILIES))]
    return [metric(one, likeness) if isinstance(one, str) else checked(one) for one in chosen]


def check_figure(figure: str, chosen: Iterable[Metric]) -> None:
    """See that the family of a figure, where it is among these, may give one of that name.

    A family of another package need not say what it may give.

    Raises:
        GraderError: it gives others alone.
    """
    family, _, name = figure.partition(".")
    if family not in FAMILIES and family in unusable():
        raise GraderError(unusable()[family])
    for one in chosen:
        known = getattr(one, "figures", None) if one.name == family else None
        if known is not None and name not in known:
            told = ", ".join(sorted(f"{family}.{other}" for other in known))
            raise GraderError(f"unknown metric {figure!r}; {family} has {told}")


def checked(given: object) -> Metric:
    """A metric that was given as an object.

    Raises:
        GraderError: it is none.
    """
    if isinstance(given, type):
        raise GraderError(f"metric {given.__name__!r} is a class; expected an object of it: {given.__name__}()")
    if not isinstance(getattr(given, "name", None), str) or not callable(getattr(given, "grade", None)):
        raise GraderError(
            f"metric {given!r} cannot be asked; expected a family's name, or an object with name and grade"
        )
    return cast("Metric", given)


def judged_outside(family: Metric, subject: Subject, mode: Mode) -> Verdict:
    """Judge one session by a family of another package.

    Raises:
        GraderError: it broke, or what it said is not a :class:`Verdict` of JSON values.
    """
    with others_code(f"metric {family.name!r} failed", GraderError):
        verdict: Any = family.grade(subject, mode)
    if not isinstance(verdict, Verdict):
        raise GraderError(f"metric {family.name!r} answered with {type(verdict).__name__}; expected a Verdict")
    values, details, inconclusive = cast("tuple[Any, ...]", (verdict.values, verdict.details, verdict.inconclusive))
    if not isinstance(inconclusive, str | None):
        raise GraderError(
            f"metric {family.name!r}: it is inconclusive for {inconclusive!r}; expected a reason, or None"
        )
    if not is_object(values):
        raise GraderError(f"metric {family.name!r}: its values are {values!r}; expected a mapping")
    if odd := [name for name in cast("Mapping[Any, Any]", values) if not isinstance(name, str)]:
        raise GraderError(f"metric {family.name!r}: among its values is one named {odd[0]!r}; expected texts as names")
    if not is_array(details):
        raise GraderError(f"metric {family.name!r}: its details are {details!r}; expected a list")
    for one in details:
        if not is_object(one):
            raise GraderError(f"metric {family.name!r}: among its details is {one!r}; expected objects")
    _need_json(family, (*values.items(), *(("details", one) for one in details)))
    return verdict


def _need_json(family: Metric, named: Iterable[tuple[str, Any]]) -> None:
    for name, value in named:
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise GraderError(f"metric {family.name!r}: {name} is {value!r}; expected what JSON can hold") from error


def summarised(family: Metric, graded: Sequence[tuple[Subject, Verdict]], mode: Mode) -> Mapping[str, Any]:
    """Sum up many sessions by a family.

    Raises:
        GraderError: a family of others broke, or gave something else than a mapping.
    """
    if family.name in FAMILIES:
        return family.summarise(graded, mode)
    with others_code(f"metric {family.name!r} failed to sum up", GraderError):
        summary: Any = family.summarise(graded, mode)
    if not is_object(summary):
        raise GraderError(f"metric {family.name!r} summed up as {type(summary).__name__}; expected a mapping")
    _need_json(family, summary.items())
    return summary


def summed_details(family: str, details: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """Figures that a summary counts from the details of a verdict."""
    if family in BY_VALUES or not details:
        return ()
    if family == "mtu_bench":
        from sandbox_grader.papers.mtu_bench.summary import without_calls

        return without_calls(details)
    return details
