"""SkyRL: scenarios as a text environment of ``skyrl-gym``, in process.

Policy: a model writes calls between ``<tool_call>`` and ``</tool_call>``; what it writes without any is said to the
user, whose answer it gets. SkyRL has no way to say that there is no reward, so an episode that broke raises an error,
and never counts as 0.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from sandbox_grader.grading.rewards import Reward, RewardSpec
from skyrl_gym.envs.base_text_env import (  # pyright: ignore[reportMissingImports]
    BaseTextEnv,  # pyright: ignore[reportUnknownVariableType]
    BaseTextEnvStepOutput,  # pyright: ignore[reportUnknownVariableType]
)

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.play.training.episode import Episode
from sandbox_mcp.play.training.tasks import TrainingTask

BEGIN, END = "<tool_call>", "</tool_call>"
ENTRY_POINT = "sandbox_mcp.play.training.skyrl:SandboxTextEnv"
"""What ``skyrl_gym.register`` is given."""


class BrokenEpisodeError(SandboxError):
    """An episode ended in a way that says nothing about the policy, so there is no reward."""


class SandboxTextEnv(BaseTextEnv):  # pyright: ignore[reportUntypedBaseClass]
    """One episode. ``extras`` is the row of the data set, or has it under ``extra_info``.

    ``env_config`` may have ``max_turns`` (default 30), after which the policy has stopped, and ``rewards``.
    """

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        given = extras or {}
        config: Mapping[str, Any] = cast("Mapping[str, Any]", env_config or {})
        self._task = TrainingTask.of(given.get("extra_info", given))
        self._rewards = RewardSpec.of(config.get("rewards"))
        self.max_turns = int(config.get("max_turns") or 30)
        self._earned: Reward | None = None

    def init(self, prompt: Any) -> tuple[list[dict[str, str]], dict[str, Any]]:  # noqa: ARG002 - the scenario's own
        """Begin; what the model is told: instructions, tools and how to call them, and the user's first words."""
        self.turns = 0
        self._earned = None
        self._episode = Episode(self._task, rewards=self._rewards, user_channel="harness", agent={"name": "skyrl"})
        tools = [
            {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}
            for tool in self._episode.tools
        ]
        listed = "\n".join(json.dumps({"type": "function", "function": tool}, ensure_ascii=False) for tool in tools)
        call = f'{BEGIN}\n{{"name": ..., "arguments": {{...}}}}\n{END}'
        how = f"{self._episode.instructions}\n\n# Tools\n\n<tools>\n{listed}\n</tools>\n\nCall a tool as {call}"
        told = [{"role": "system", "content": how}, {"role": "user", "content": self._episode.opening}]
        return told, dict(self._task.row())

    def step(self, action: str) -> Any:
        """Carry out what the model wrote.

        Raises:
            BrokenEpisodeError: the episode ended, and cannot be scored.
        """
        self.turns += 1
        episode = self._episode
        written = list(_calls_in(action))
        observations: list[dict[str, str]] = []
        if written:
            observations = [_response(text) for text in self._made(written)]
        elif not episode.over:
            reply = episode.say(action)
            told = [reply.text, *(f"Notice: {notice}" for notice in reply.notices)]
            if reply.text is not None:
                observations = [{"role": "user", "content": "\n".join(map(str, told))}]
        if self.turns >= self.max_turns and not episode.over:
            episode.finish()
        done = episode.over
        reward = episode.step_reward()
        if done:
            self._earned = episode.reward()
            if self._earned.value is None:
                raise BrokenEpisodeError(f"the episode cannot be scored: {self._earned.reason}")
        output = cast("Any", BaseTextEnvStepOutput)
        return output(
            observations=[] if done else observations,
            reward=reward or 0.0,
            done=done,
            metadata=self._earned.to_json() if self._earned else {},
            postprocessed_action=None,
        )

    def _made(self, written: Sequence[object]) -> list[str]:
        """What comes of calls that were written together; those that cannot be read are not among those made."""
        read = [_call(item) for item in written]
        sent = [item for item in read if not isinstance(item, str)]
        results = iter(self._episode.call_together(sent) if sent else ())
        return [item if isinstance(item, str) else next(results).text for item in read]

    def get_metrics(self) -> dict[str, float]:
        """What the episode earned, in numbers."""
        return self._earned.figures() if self._earned else {}


def _calls_in(text: str) -> Iterator[object]:
    """Every call in a text as JSON, or as a text where it is none."""
    for piece in text.split(BEGIN)[1:]:
        raw = piece.partition(END)[0].strip()
        try:
            yield json.loads(raw)
        except (ValueError, RecursionError):
            yield raw


def _call(item: object) -> tuple[str, object] | str:
    """A call, or the fault in it."""
    if isinstance(item, dict):
        call = cast("dict[str, Any]", item)
        if isinstance(call.get("name"), str):
            return call["name"], call.get("arguments", {})
    return 'FormatError: a call is written as {"name": ..., "arguments": {...}}'


def _response(text: str) -> dict[str, str]:
    return {"role": "user", "content": f"<tool_response>\n{text}\n</tool_response>"}
