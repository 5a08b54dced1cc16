"""The built-in suite, read and measured once for all tests of a process."""

from functools import cache

from sandbox_grader.papers.toolscan.names import name_similarity
from sandbox_scenarios import Suite
from sandbox_scenarios.stats import Stats, measure

SUITE = Suite()


@cache
def measured() -> Stats:
    """The figures of the whole suite."""
    return measure(SUITE, name_similarity)
