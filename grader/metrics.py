"""The families of metrics by name. Each lives in a module of its own that loads when it is first used.

Policy: adding a family is one class in one module and one line here.
"""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import MappingProxyType

from grader.errors import GraderError
from grader.metric import Metric

FAMILIES = MappingProxyType(
    {
        "toolsandbox": "grader.milestones:ToolSandbox",
        "tooltalk": "grader.tooltalk:ToolTalk",
        "toolscan": "grader.toolscan:ToolScan",
        "mtu_bench": "grader.mtu_bench:MtuBench",
        "conduct": "grader.conduct:Conduct",
        "user_conduct": "grader.users:UserConduct",
    }
)
"""Family name to the module and class that grade it."""


@cache
def metric(name: str) -> Metric:
    """The metric family of that name.

    Raises:
        GraderError: there is none.
    """
    home = FAMILIES.get(name)
    if home is None:
        raise GraderError(f"unknown metric family {name!r}; known: {', '.join(FAMILIES)}")
    module, _, kind = home.partition(":")
    family: Metric = getattr(import_module(module), kind)()
    return family


def families() -> Iterator[Metric]:
    """All families in the order of reports."""
    return map(metric, FAMILIES)
