"""What the suite covers, counted as ToolSandbox counts, beside its published figures."""

from scenarios.stats.measure import CLASSIC, Count, Stats, measure
from scenarios.stats.page import page, update
from scenarios.stats.picture import picture

__all__ = ("CLASSIC", "Count", "Stats", "measure", "page", "picture", "update")
