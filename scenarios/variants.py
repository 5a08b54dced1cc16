"""Variants of a scenario: the same task, with the tools presented differently. Made by code, never by hand.

Policy: tools that a scenario withholds are never offered by any variant, and are left out before distraction tools are
counted, so that three distraction tools are three. Source: ToolSandbox, appendix A.2.1.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from sandbox_mcp.tools import PresentedTool, Tool, agent_tools, present
from scenarios.errors import ScenarioError
from scenarios.model import Scenario

BASE = "base"
Selection = Callable[[Scenario], list[Tool]]


def _needed(scenario: Scenario) -> list[Tool]:
    offered = set(scenario.tools) - set(scenario.without)
    return [tool for name, tool in agent_tools().items() if name in offered]


def distractors(scenario: Scenario) -> list[Tool]:
    """All other tools the scenario may offer, the most distracting first.

    Tools of a domain that the scenario uses come before the rest; within both, the more a tool's name resembles that
    of a needed tool, the earlier. Ties keep the order of the registry.
    """
    from rapidfuzz import fuzz, utils

    needed = _needed(scenario)
    domains = {tool.domain for tool in needed}
    left_out = {tool.name for tool in needed} | set(scenario.without)

    def rank(tool: Tool) -> tuple[bool, float]:
        scores = (fuzz.WRatio(tool.name, other.name, processor=utils.default_process) for other in needed)
        return tool.domain not in domains, -max(scores, default=0.0)

    return sorted((tool for name, tool in agent_tools().items() if name not in left_out), key=rank)


def _with(count: int | None) -> Selection:
    def select(scenario: Scenario) -> list[Tool]:
        chosen = {tool.name for tool in (*_needed(scenario), *distractors(scenario)[:count])}
        return [tool for name, tool in agent_tools().items() if name in chosen]

    return select


VARIANTS: Mapping[str, Selection] = MappingProxyType(
    {
        BASE: _needed,
        "3_distraction_tools": _with(3),
        "10_distraction_tools": _with(10),
        "all_tools": _with(None),
    }
)
"""Every variant by name."""


def presented(scenario: Scenario, variant: str = BASE) -> Mapping[str, PresentedTool]:
    """The tools that a session of this scenario and variant offers, by presented name, in the order of the registry.

    Raises:
        ScenarioError: there is no such variant.
    """
    select = VARIANTS.get(variant)
    if select is None:
        raise ScenarioError(f"unknown variant {variant!r}; known: {', '.join(VARIANTS)}")
    return {tool.name: present(tool) for tool in select(scenario)}
