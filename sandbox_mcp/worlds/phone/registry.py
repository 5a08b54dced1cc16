"""All tools of the phone by name."""

from collections.abc import Mapping

from sandbox_mcp.tools import Tool
from sandbox_mcp.worlds.phone.world import phone


def all_tools() -> Mapping[str, Tool]:
    """Every tool by name: domains in alphabetical order, tools as in their modules, then what every user can do."""
    return phone.tools


def agent_tools() -> Mapping[str, Tool]:
    """Every tool that an agent may be offered."""
    return phone.agent_tools
