"""Rows of data sets, in the form of each framework; TRL's are made by :class:`.trl.SandboxSpec`.

Policy: a row has what a model is told first and what begins the episode, and nothing of what would solve it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from sandbox_scenarios import Suite

from sandbox_mcp.play.training.episode import Episode
from sandbox_mcp.play.training.tasks import TrainingTask, described

Form = Callable[[Suite, TrainingTask, int, str], dict[str, Any]]
"""Makes the row of a task, by its place among them and their split."""


def _nemo_gym(suite: Suite, task: TrainingTask, _: int, __: str) -> dict[str, Any]:
    episode = Episode(task, suite=suite)
    tools = [
        {
            "type": "function", "name": tool.name, "description": tool.description,
            "parameters": dict(tool.schema), "strict": False,
        }
        for tool in episode.tools
    ]  # fmt: skip
    asked = {"input": _told(episode), "tools": tools, "parallel_tool_calls": True}
    return {"responses_create_params": asked, **task.row()}


def _skyrl(suite: Suite, task: TrainingTask, _: int, __: str) -> dict[str, Any]:
    """The prompt is made anew by the environment, which knows how calls are written."""
    return {"prompt": _told(Episode(task, suite=suite)), "env_class": "sandbox", "extra_info": task.row()}


def _told(episode: Episode) -> list[dict[str, str]]:
    return [{"role": "system", "content": episode.instructions}, {"role": "user", "content": episode.opening}]


FORMS: Mapping[str, Form] = MappingProxyType({"nemo-gym": _nemo_gym, "skyrl": _skyrl, "plain": described})
