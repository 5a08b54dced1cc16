"""The built-in suite, read once for all tests of a process."""

from sandbox_scenarios import Suite

SUITE = Suite()
