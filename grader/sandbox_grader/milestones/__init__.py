"""Milestones and minefields: what should, and what must not, happen in a session.

Begin with ``strict_nodes``, whose example with three milestones explains the words that all modules use. ``matching``
assigns milestones to events; ``strict`` and the modules it uses judge our scenarios; ``compat`` and the modules it uses
judge neutral cases as ToolSandbox's own evaluator does, and ``translate`` turns the one into the other.
"""

from sandbox_grader.milestones.metric import ToolSandbox

__all__ = ("ToolSandbox",)
