"""Variants of a scenario: the same task, with the tools presented differently. Made by code, never by hand.

Policy: tools that a scenario withholds are never offered by any variant, and are left out before distraction tools are
counted, so that three distraction tools are three. What a variant hides is hidden everywhere: descriptions and errors
speak the presented names. Sources: ToolSandbox, appendix A.2.1; ToolTalk, section 4.3; ToolScan, section 5.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import Parameter, PresentedTool, Tool, World, object_schema, present, speak
from sandbox_mcp.engine.tools.fault_kinds import FaultRates
from sandbox_mcp.engine.tools.free_text import ACT, act_tool
from sandbox_mcp.engine.world.faults import Telling
from sandbox_scenarios.errors import ScenarioError
from sandbox_scenarios.injections import injection
from sandbox_scenarios.model import PERSONAS, Persona, Scenario

BASE = "base"
_NO_NAME = re.compile(r"[^A-Za-z0-9_.-]+")
"""What the names of tools may not have."""
Selection = Callable[[Scenario], list[Tool]]


def _needed(scenario: Scenario) -> list[Tool]:
    offered = set(scenario.tools) - set(scenario.without)
    return [tool for name, tool in scenario.home.agent_tools.items() if name in offered]


def _unneeded(scenario: Scenario) -> list[Tool]:
    """All other tools the scenario may offer."""
    left_out = {tool.name for tool in _needed(scenario)} | set(scenario.without) | scenario.home.gated
    return [tool for name, tool in scenario.home.agent_tools.items() if name not in left_out]


def distractors(scenario: Scenario) -> list[Tool]:
    """All other tools the scenario may offer, the most distracting first.

    Tools of a domain that the scenario uses come before the rest; within both, the more a tool's name resembles that
    of a needed tool, the earlier. Ties keep the order of the world.
    """
    needed = _needed(scenario)
    domains = {tool.domain for tool in needed}

    def rank(tool: Tool) -> tuple[bool, float]:
        scores = (_resemblance(tool.name, other.name) for other in needed)
        return tool.domain not in domains, -max(scores, default=0.0)

    return sorted(_unneeded(scenario), key=rank)


@lru_cache(maxsize=10_000)
def _resemblance(name: str, other: str) -> float:
    """Similarity of two tools' names; kept, because worlds have few names and scenarios ask often."""
    from rapidfuzz import fuzz, utils

    return fuzz.WRatio(name, other, processor=utils.default_process)


def _with(count: int | None) -> Selection:
    def select(scenario: Scenario) -> list[Tool]:
        others = _unneeded(scenario) if count is None else distractors(scenario)[:count]
        chosen = {tool.name for tool in (*_needed(scenario), *others)}
        return [tool for name, tool in scenario.home.agent_tools.items() if name in chosen]

    return select


def _with_groups(scenario: Scenario) -> list[Tool]:
    """Every tool of the groups that the scenario uses: ToolTalk's API mode ``suite``; ``exact`` is the base variant."""
    groups = {tool.domain for tool in _needed(scenario)}
    others = scenario.home.agent_tools.items()
    return [tool for name, tool in others if tool.domain in groups and name not in scenario.without]


Restyling = Callable[[PresentedTool, World], PresentedTool]


def _rename_tool(tool: PresentedTool, home: World) -> PresentedTool:
    """A name that says only the domain: its place in the alphabet among the tools of that domain.

    A domain may be called anything, the names of tools may not.
    """
    domains = {name: _NO_NAME.sub("_", other.domain) for name, other in home.agent_tools.items()}
    domain = domains[tool.tool.name]
    names = sorted(name for name, other in domains.items() if other == domain)
    return replace(tool, name=f"{domain}_{names.index(tool.tool.name)}")


OUTCOMES = ("Returns ", "Fails with ")
"""How the lines of a description begin that tell what a call comes to."""


def _drop_description(tool: PresentedTool, _: World) -> PresentedTool:
    """A tool without what it does; what it returns and how it fails stays. Source: ToolSandbox, appendix A.2.1."""
    kept = [line for line in tool.description.splitlines() if line.startswith(OUTCOMES)]
    return replace(tool, description="\n".join(kept))


def _drop_argument_descriptions(tool: PresentedTool, _: World) -> PresentedTool:
    return _with_parameters(tool, tuple(replace(parameter, description="") for parameter in tool.parameters))


def _drop_argument_types(tool: PresentedTool, _: World) -> PresentedTool:
    schema = object_schema(tool.parameters)
    properties = schema["properties"].items()
    untyped = {name: {key: item[key] for key in item if key == "description"} for name, item in properties}
    return replace(tool, schema={**schema, "properties": untyped})


def _rename_arguments(tool: PresentedTool, _: World) -> PresentedTool:
    shown = {parameter.name: f"argument_{index}" for index, parameter in enumerate(tool.parameters)}
    renamed = tuple(
        replace(parameter, name=shown[parameter.name], description=speak(parameter.description, shown))
        for parameter in tool.parameters
    )
    names = {presented: tool.names[canonical] for canonical, presented in shown.items()}
    changed = replace(tool, names=names, description=speak(tool.description, shown))
    return _with_parameters(changed, renamed)


def _drop_documentation(tool: PresentedTool, home: World) -> PresentedTool:
    return _drop_argument_descriptions(replace(tool, description=""), home)


def _with_parameters(tool: PresentedTool, parameters: tuple[Parameter, ...]) -> PresentedTool:
    return replace(tool, parameters=parameters, schema=object_schema(parameters))


@dataclass(frozen=True, slots=True)
class Variant:
    """Tools on offer and the change of each.

    ``told`` is how much errors tell of what would be valid: all, what tools say themselves, or nothing but the kind.
    ``free_text`` offers all tools through one that takes text.
    """

    select: Selection
    change: Restyling = lambda tool, _: tool
    told: Telling = "all"
    free_text: bool = False


VARIANTS: Mapping[str, Variant] = MappingProxyType(
    {
        BASE: Variant(_needed),
        "3_distraction_tools": Variant(_with(3)),
        "10_distraction_tools": Variant(_with(10)),
        "suite_tools": Variant(_with_groups),
        "all_tools": Variant(_with(None)),
        "tool_name_scrambled": Variant(_with(3), _rename_tool),
        "tool_description_scrambled": Variant(_with(3), _drop_description),
        "argument_description_scrambled": Variant(_with(3), _drop_argument_descriptions),
        "argument_type_scrambled": Variant(_with(3), _drop_argument_types),
        "argument_name_scrambled": Variant(_with(3), _rename_arguments),
        "no_documentation": Variant(_with(3), _drop_documentation),
        "all_tools_no_documentation": Variant(_with(None), _drop_documentation),
        "no_feedback": Variant(_needed, told="tool"),
        "terse_errors": Variant(_needed, told="kind"),
        "text_actions": Variant(_needed, free_text=True),
    }
)
"""Every variant by name."""


CONFIRMED = (
    "Fails with ConfirmationRequiredError: the user has to confirm each call first; the error gives the code to tell "
    "them, and once it is confirmed the same call works."
)
"""What the description of a tool says where the scenario wants its calls confirmed."""
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "no_distraction_tools": BASE,
        "three_distraction_tools": "3_distraction_tools",
        "ten_distraction_tools": "10_distraction_tools",
        "all_tools_available": "all_tools",
        "arg_description_scrambled": "argument_description_scrambled",
        "arg_type_scrambled": "argument_type_scrambled",
        "arg_name_scrambled": "argument_name_scrambled",
    }
)
"""ToolSandbox's names for variants, where they are others than ours."""


UNDER = "+"
"""Stands in a variant's name before each kind of fault that its calls get, before the number of an injection, and
before each manner of its user: ``base+after0.2+slow0.1``, ``base+injection3``, ``base+vague``."""
_INJECTION = re.compile(r"injection([1-9][0-9]{0,5})")
_KIND = re.compile(r"([a-z_]+)([0-9.]*)")


def canonical(name: str) -> str:
    """Our name of a variant that may be called by ToolSandbox's."""
    plain, under, faults = name.partition(UNDER)
    return f"{ALIASES.get(plain, plain)}{under}{faults}"


def under_faults(name: str, kinds: Sequence[str]) -> str:
    """Name of a variant whose calls get faults of these kinds, each such as ``after:0.2``.

    Raises:
        SandboxError: there is no such kind, a rate is not from 0 to 1, or they add up to more.
    """
    rates = FaultRates.reading(kinds).rates
    return "".join([name, *(f"{UNDER}{kind}{rate:g}" for kind, rate in rates.items())])


def is_under_faults(name: str) -> bool:
    """True if calls of this variant get faults."""
    return any(map(_is_fault, name.split(UNDER)[1:]))


def _is_fault(part: str) -> bool:
    return part not in PERSONAS and not _INJECTION.fullmatch(part)


def injected(name: str, number: int) -> str:
    """Name of a variant into whose results an injection comes; :mod:`sandbox_scenarios.injections` numbers them."""
    return f"{name}{UNDER}injection{number}"


def injection_in(name: str) -> int:
    """The number of the injection into the results of this variant; 0 for none."""
    found = [part for part in map(_INJECTION.fullmatch, name.split(UNDER)[1:]) if part]
    return int(found[0][1]) if found else 0


def with_persona(name: str, persona: Persona) -> str:
    """Name of a variant whose user has this manner; the name itself where it has it already."""
    return name if persona in personas_in(name) else f"{name}{UNDER}{persona}"


def personas_in(name: str) -> tuple[Persona, ...]:
    """The manners that the user of this variant has beside those in its brief."""
    asked = name.split(UNDER)[1:] if UNDER in name else ()
    return tuple(persona for persona in PERSONAS if persona in asked)


def undisturbed(name: str) -> str:
    """The variant without faults and injection, under the same personas."""
    return UNDER.join((name.partition(UNDER)[0], *personas_in(name)))


@lru_cache(maxsize=1024)
def without_faults(name: str) -> tuple[str, Mapping[str, float]]:
    """The variant in a name, without faults, injection and personas, and the rates of the faults that its calls get.

    Raises:
        ScenarioError: the name has a kind or a rate that there is not.
    """
    plain, under, kinds = name.partition(UNDER)
    if not under:
        return plain, {}
    several = [part for part in kinds.split(UNDER) if _is_fault(part)]
    parts = [_KIND.fullmatch(part) for part in several]
    listed = [f"{part[1]}:{part[2]}" if part[2] else part[1] for part in parts if part]
    if len(listed) != len(parts) or kinds.count("injection") > 1:
        told = (
            f"faults, an injection or personas after the +, such as {plain}+after0.2, {plain}+injection1, {plain}+vague"
        )
        raise ScenarioError(f"variant {name!r}: expected {told}")
    try:
        return plain, FaultRates.reading(listed).rates
    except SandboxError as error:
        raise ScenarioError(f"variant {name!r}: {error}") from error


def variant_named(name: str) -> Variant:
    """The variant of that name.

    Raises:
        ScenarioError: no variant has that name.
    """
    found = VARIANTS.get(without_faults(name)[0])
    if found is None:
        raise ScenarioError(f"unknown variant {name!r}; known: {', '.join(VARIANTS)}")
    return found


def presented(scenario: Scenario, variant: str = BASE) -> Mapping[str, PresentedTool]:
    """The tools that a session of this scenario and variant offers, by presented name, in the order of the world.

    Raises:
        ScenarioError: there is no such variant.
    """
    tools = actions(scenario, variant)
    if variant_named(variant).free_text:
        return {ACT: act_tool(tools)}
    return tools


def actions(scenario: Scenario, variant: str = BASE) -> Mapping[str, PresentedTool]:
    """The tools that can be called in the end, by name, whatever form calls of them take. Raises like `presented`."""
    found, listed = variant_named(variant), scenario.offered.get(without_faults(variant)[0])

    def shown(tool: Tool) -> PresentedTool:
        as_declared = present(tool)
        if tool.name in scenario.confirm:
            description = "\n".join(part for part in (as_declared.description, CONFIRMED) if part)
            as_declared = replace(as_declared, description=description)
        return found.change(as_declared, scenario.home)

    known, number = scenario.home.agent_tools, injection_in(variant)
    if listed is None:
        chosen = {tool.name for tool in found.select(scenario)}
        chosen |= {tool for tool, _ in injection(scenario, number).goal.calls} if number else set()
        return {tool.name: tool for tool in map(shown, (tool for name, tool in known.items() if name in chosen))}
    changed = {name: shown(known[tool]) for name, tool in listed.items()}
    return {name: replace(tool, name=name) for name, tool in changed.items()}
