"""What one client of OpenEnv's protocol drives: no episode, one, or one after the other.

Policy: messages are dictionaries as OpenEnv 0.10 has them. A fault of a tool is part of an observation; what is wrong
with a message is a :class:`WireError`. A reward is on the last step only, unless the client asks for steps, because
some clients add up what others take the last of. Nothing of a reward is in an observation, which models may be shown.
"""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sandbox_grader.grading.rewards import RewardError, RewardSpec
from sandbox_scenarios import ScenarioError

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.engine.tools import PresentedTool, present
from sandbox_mcp.engine.worlds import named
from sandbox_mcp.play.session import CallResult, Reply
from sandbox_mcp.play.session.manager import TooManySessionsError
from sandbox_mcp.play.session.tool_channel import SEND_TOOL
from sandbox_mcp.play.training.hosting import EpisodeHost, HostedEpisode
from sandbox_mcp.play.training.tasks import ALL, SPLITS, TaskError, TrainingTask, in_split

RESET = (
    "scenario", "variant", "seed", "trial", "episode_id", "split", "index", "user_channel", "rewards", "task",
)  # fmt: skip
"""What a reset may say; all of it may be left out."""
OVER = "SessionOverError: this episode is over"
MOST_CALLS = 128
"""How many calls one action may have."""


class WireError(SandboxError):
    """A message that cannot be answered; ``code`` is one of OpenEnv's."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class OpenEnvClient:
    """One client's environment in one world."""

    def __init__(self, host: EpisodeHost, world: str) -> None:
        self._host = host
        self._world = world
        self.episode: HostedEpisode | None = None
        self.id: str | None = None

    async def reset(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Begin an episode in place of the last one.

        Raises:
            WireError: it cannot be begun as the client wants it, or there is no place for it.
        """
        asked = _flat(data)
        if unknown := sorted(set(asked) - set(RESET)):
            raise WireError("VALIDATION_ERROR", f"unknown in reset: {', '.join(unknown)}; known: {', '.join(RESET)}")
        channel = asked.get("user_channel") or "tool"
        if channel not in ("tool", "harness"):
            raise WireError("VALIDATION_ERROR", f"user_channel is {channel!r}; expected 'tool' or 'harness'")
        await self.leave()
        try:
            task, rewards = self._task(asked), RewardSpec.of(asked.get("rewards"))
            self.episode = self._host.begin(task, rewards, channel, {"name": "openenv"})
        except (ScenarioError, TaskError, RewardError) as error:
            raise WireError("VALIDATION_ERROR", str(error)) from error
        except TooManySessionsError as error:
            raise WireError("CAPACITY_REACHED", str(error)) from error
        self.id = str(asked.get("episode_id") or uuid.uuid4())
        session = self.episode.opened.session
        instructions, opening = session.spec.instructions, self.episode.opened.opening
        observation: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": opening},
            ],
            "message": opening,
            "instructions": instructions,
            "available_tools": self.tools(),  # where "tools" is the key, OpenEnv's MCP clients drop the rest
            "metadata": {},
        }
        return {"observation": observation, "reward": None, "done": False, "metadata": self._about(self.episode)}

    def _task(self, asked: Mapping[str, Any]) -> TrainingTask:
        """The task that a reset means: a scenario by name, else one of a split by index, else by seed.

        Raises:
            TaskError: there is none.
        """
        seed = asked.get("seed")
        if "scenario" in asked:
            task = TrainingTask.of({**asked, "seed": seed})
            world = self._host.suite.get(task.scenario).home.name
            if world != self._world:
                raise TaskError(
                    f"scenario {task.scenario!r} is of world {world!r}; this is the wire of {self._world!r}"
                )
            return task
        names = self.names(asked.get("split") or "train")
        index = asked.get("index")
        chosen = index if index is not None else seed or 0
        if isinstance(chosen, bool) or not isinstance(chosen, int) or chosen < 0:
            raise TaskError(f"index is {chosen!r}; expected a whole number from 0")
        if index is not None and index >= len(names):
            raise TaskError(f"there is no task {index} among {len(names)}")
        return TrainingTask.of({**asked, "scenario": names[chosen % len(names)], "seed": seed})

    def names(self, split: str) -> list[str]:
        """The scenarios of a split of this world.

        Raises:
            TaskError: there is no such split, or nothing in it.
        """
        return in_split(self._host.suite, self._host.suite.names(self._world), split)

    async def step(self, action: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out an action.

        Raises:
            WireError: it is none, or there is no episode.
        """
        kind = action.get("type") or _kind_of(action)
        if kind == "list_tools":
            return {"observation": {"tools": self.tools("input_schema"), "metadata": {}}, "reward": None, "done": False}
        episode = self._playing()
        match kind:
            case "finish":
                await episode.finish()
                return self._observed(episode, {"message": None})
            case _ if episode.over:
                return self._observed(episode, {"message": OVER}, paid=True)
            case "call_tool":
                name, arguments = _call(action)
                [result] = await episode.call([(name, arguments)], _kept(action))
                return self._observed(episode, {"tool_name": name, "result": told(result), "error": None})
            case "call_tools":
                calls = _calls(action)
                made = await episode.call(calls, _kept(action))
                results = [{"tool_name": name, "result": told(one)} for (name, _), one in zip(calls, made, strict=True)]
                return self._observed(episode, {"results": results})
            case "say":
                return self._observed(episode, _answered(await episode.say(_text(action, "message"), _kept(action))))
            case _:
                known = "list_tools, call_tool, call_tools, say, finish"
                raise WireError("VALIDATION_ERROR", f"unknown action type {kind!r}; known: {known}")

    def _observed(self, episode: HostedEpisode, observation: dict[str, Any], *, paid: bool = False) -> dict[str, Any]:
        return {
            "observation": {**observation, "metadata": {}},
            "reward": None if paid else episode.step_reward(),
            "done": episode.over,
            "metadata": self._about(episode),
        }

    async def call(self, name: str, arguments: object) -> dict[str, Any]:
        """Call a tool outside of any step, as OpenEnv's MCP bridge does; no reward comes of it.

        Raises:
            WireError: there is no episode.
        """
        [result] = await self._playing().call([(name, arguments)])
        return told(result)

    def state(self) -> dict[str, Any]:
        """State of the episode."""
        if self.episode is None:
            return {"episode_id": None, "step_count": 0}
        return {
            **self._about(self.episode), "over": self.episode.over, "reason": self.episode.opened.session.ended,
        }  # fmt: skip

    def tools(self, schema: str = "inputSchema") -> list[dict[str, Any]]:
        """The tools of the episode, or before there is one those of the world; ``schema`` is the key of schemas."""
        if self.episode is not None:
            listed: Sequence[PresentedTool] = self.episode.opened.presentation.listed
        else:
            listed = (*(present(tool) for tool in named(self._world).agent_tools.values()), SEND_TOOL)
        return [{"name": tool.name, "description": tool.description, schema: dict(tool.schema)} for tool in listed]

    def _about(self, episode: HostedEpisode) -> dict[str, Any]:
        """What trainers get beside an observation, and models do not: the episode, and its score once it is over."""
        task = episode.task
        about = {**task.row(), "episode_id": self.id, "step_count": episode.steps}
        return {**about, "score": episode.reward().to_json()} if episode.over else about

    def _playing(self) -> HostedEpisode:
        if self.episode is None:
            raise WireError("EXECUTION_ERROR", "there is no episode yet; send reset first")
        return self.episode

    async def leave(self) -> None:
        """Forget the episode, because the client begins another or has gone."""
        episode, self.episode = self.episode, None
        if episode is not None:
            await self._host.leave(episode)


def told(result: CallResult) -> dict[str, Any]:
    """A result as MCP tells it, with the bare value under ``data``, as clients of FastMCP expect it."""
    content: dict[str, Any] = {
        "content": [{"type": "text", "text": result.text}], "isError": result.error is not None
    }  # fmt: skip
    if result.error is not None:
        return content
    structured = dict(result.structured)
    return {**content, "structuredContent": structured, "data": structured.get("result", structured)}


def _answered(reply: Reply) -> dict[str, Any]:
    return {"message": reply.text, **({"notices": list(reply.notices)} if reply.notices else {})}


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a reset says, with a task of our own lists taken apart."""
    given = {name: value for name, value in data.items() if value is not None}
    task = given.pop("task", None)
    if task is None:
        return given
    if not isinstance(task, Mapping):
        raise WireError("VALIDATION_ERROR", f"task is {task!r}; expected one of the tasks that this server lists")
    row = cast("Mapping[str, Any]", task)
    return {**{name: row[name] for name in ("scenario", "variant", "seed", "trial") if name in row}, **given}


def _kind_of(action: Mapping[str, Any]) -> str:
    """The type of an action that states none."""
    names = {"tool_name": "call_tool", "calls": "call_tools", "message": "say"}
    return next((kind for name, kind in names.items() if name in action), "")


def _kept(action: Mapping[str, Any]) -> Mapping[str, Any]:
    """Data that the client wants kept in the log with an action."""
    data: object = action.get("metadata") or {}
    if not isinstance(data, Mapping):
        raise WireError("VALIDATION_ERROR", f"metadata is {data!r}; expected an object")
    return cast("Mapping[str, Any]", data)


def _text(action: Mapping[str, Any], name: str) -> str:
    value = action.get(name)
    if not isinstance(value, str):
        raise WireError("VALIDATION_ERROR", f"{name} is {value!r}; expected a text")
    return value


def _call(action: Mapping[str, Any]) -> tuple[str, object]:
    return _text(action, "tool_name"), action.get("arguments", {})


def _calls(action: Mapping[str, Any]) -> list[tuple[str, object]]:
    calls = action.get("calls")
    if not isinstance(calls, list) or not 1 <= len(cast("list[Any]", calls)) <= MOST_CALLS:
        raise WireError("VALIDATION_ERROR", f"calls must be a list of 1 to {MOST_CALLS} objects")
    for item in cast("list[Any]", calls):
        if not isinstance(item, Mapping):
            raise WireError("VALIDATION_ERROR", f"calls has {item!r}; expected objects with tool_name and arguments")
    return [_call(item) for item in cast("list[Mapping[str, Any]]", calls)]


ACTION_SCHEMA: Mapping[str, Any] = {
    "title": "SandboxAction",
    "type": "object",
    "description": "A call of a tool, several calls at once, words for the user, or the end of the episode.",
    "properties": {
        "type": {"enum": ["list_tools", "call_tool", "call_tools", "say", "finish"], "default": "say"},
        "tool_name": {"type": "string", "description": "With call_tool: the tool."},
        "arguments": {"type": "object", "description": "With call_tool: its arguments."},
        "calls": {"type": "array", "items": {"type": "object"}, "description": "With call_tools: calls of one moment."},
        "message": {"type": "string", "description": "With say: what to say to the user."},
        "metadata": {"type": "object", "description": "Kept in the log with the action, such as token ids."},
    },
    "required": ["message"],  # a harness that has nothing but text takes this for what is said to the user
}
OBSERVATION_SCHEMA: Mapping[str, Any] = {
    "title": "SandboxObservation",
    "type": "object",
    "properties": {
        "message": {"type": ["string", "null"], "description": "What the user says; null once the user has left."},
        "messages": {"type": "array", "description": "After reset: what the model is told first."},
        "available_tools": {"type": "array", "description": "After reset: the tools of this episode."},
        "result": {"type": "object", "description": "After call_tool: its result, as MCP tells it."},
    },
}
STATE_SCHEMA: Mapping[str, Any] = {
    "title": "SandboxState",
    "type": "object",
    "properties": {"episode_id": {"type": ["string", "null"]}, "step_count": {"type": "integer"}},
}
SPLITS_TOLD = [
    {"name": name, "type": name if name in SPLITS else "validation"} for name in (*SPLITS, ALL)
]  # fmt: skip
