"""Coverage of the suite, counted as ToolSandbox counts, beside its published figures."""

from sandbox_scenarios.stats.measure import CLASSIC, Count, Stats, measure
from sandbox_scenarios.stats.page import environment_heads, page, update
from sandbox_scenarios.stats.picture import picture

__all__ = ("CLASSIC", "Count", "Stats", "environment_heads", "measure", "page", "picture", "update")
