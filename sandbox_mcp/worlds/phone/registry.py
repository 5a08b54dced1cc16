"""All tools by name and by domain. A domain's module is loaded when its tools are first asked for."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from sandbox_mcp.tools.definition import Tool
from sandbox_mcp.tools.user_tools import ENGINE_TOOLS

DOMAINS = ("account", "contact", "conversion", "messaging", "reminder", "search", "setting", "time", "timer")


@cache
def all_tools() -> Mapping[str, Tool]:
    """Every tool by name: domains in alphabetical order, tools as in their modules, then what every user can do."""
    modules = (import_module(f"sandbox_mcp.worlds.phone.tools.{domain}") for domain in DOMAINS)
    own = (tool for module in modules for tool in module.TOOLS)
    return MappingProxyType({tool.name: tool for tool in (*own, *ENGINE_TOOLS)})


@cache
def agent_tools() -> Mapping[str, Tool]:
    """Every tool that an agent may be offered."""
    return MappingProxyType({name: tool for name, tool in all_tools().items() if tool.caller == "agent"})
