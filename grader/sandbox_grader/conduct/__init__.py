"""Errors of conduct: what an agent did besides the task, and milestones and matched calls do not see."""

from sandbox_grader.conduct.metric import Conduct

__all__ = ("Conduct",)
