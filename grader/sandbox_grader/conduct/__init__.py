"""What an agent did besides the task: errors of conduct that milestones and matched calls do not see."""

from sandbox_grader.conduct.metric import Conduct

__all__ = ("Conduct",)
