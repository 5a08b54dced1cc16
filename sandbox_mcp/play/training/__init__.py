"""Training: scenarios as episodes with rewards, in process and over the wires of training frameworks.

``Episode`` plays one; ``tasks`` lists what can be played; ``RewardSpec`` decides what an episode earns. In process
these need neither MCP nor pydantic. The frameworks' own forms are in modules of their own, loaded on use.
"""

from sandbox_grader.grading.rewards import Reward, RewardSpec

from sandbox_mcp.play.training.episode import Episode
from sandbox_mcp.play.training.rollouts import Rollouts
from sandbox_mcp.play.training.tasks import TaskError, TrainingTask, tasks

__all__ = ("Episode", "Reward", "RewardSpec", "Rollouts", "TaskError", "TrainingTask", "tasks")
