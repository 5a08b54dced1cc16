"""The families of metrics by name. Each lives in a module of its own that loads when it is first used.

Policy: adding a family is one class in one module and one line here.
"""

from functools import cache
from importlib import import_module
from types import MappingProxyType

from sandbox_grader.errors import GraderError
from sandbox_grader.metric import Metric
from sandbox_grader.similarity import DEFAULT, similarity

FAMILIES = MappingProxyType(
    {
        "toolsandbox": "sandbox_grader.milestones:ToolSandbox",
        "tooltalk": "sandbox_grader.tooltalk:ToolTalk",
        "toolscan": "sandbox_grader.toolscan:ToolScan",
        "mtu_bench": "sandbox_grader.mtu_bench:MtuBench",
        "conduct": "sandbox_grader.conduct:Conduct",
        "user_conduct": "sandbox_grader.users:UserConduct",
    }
)
"""Family name to the module and class that grade it."""


TEXTUAL = frozenset({"tooltalk"})
"""The families that compare free text by likeness."""


@cache
def metric(name: str, likeness: str = DEFAULT) -> Metric:
    """The metric family of that name, which compares free text by the similarity of the name ``likeness``.

    Raises:
        GraderError: there is no such family, or no such similarity here.
    """
    home = FAMILIES.get(name)
    if home is None:
        raise GraderError(f"unknown metric family {name!r}; known: {', '.join(FAMILIES)}")
    module, _, kind = home.partition(":")
    options = {"similarity": similarity(likeness)} if name in TEXTUAL else {}
    family: Metric = getattr(import_module(module), kind)(**options)
    return family


def families(likeness: str = DEFAULT) -> list[Metric]:
    """All families in the order of reports.

    Raises:
        GraderError: there is no similarity of that name here.
    """
    return [metric(name, likeness) for name in FAMILIES]
