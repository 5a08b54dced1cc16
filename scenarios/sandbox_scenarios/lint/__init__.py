"""Quick lint: what can be said about scenarios by reading them, without playing any.

Policy: every complaint names the scenario, the place in the file, what is wrong and how to mend it. A rule speaks up
only where it is sure; what takes playing to find out is for deep lint.
"""

from sandbox_scenarios.lint.complaint import Complaint, LintFinding
from sandbox_scenarios.lint.quick import RULES, lint

__all__ = ("RULES", "Complaint", "LintFinding", "lint")
