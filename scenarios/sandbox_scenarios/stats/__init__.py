"""What the suite covers, counted as ToolSandbox counts, beside its published figures."""

from sandbox_scenarios.stats.measure import CLASSIC, Count, Stats, measure
from sandbox_scenarios.stats.page import page, update
from sandbox_scenarios.stats.picture import picture

__all__ = ("CLASSIC", "Count", "Stats", "measure", "page", "picture", "update")
