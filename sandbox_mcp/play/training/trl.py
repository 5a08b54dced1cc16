"""TRL: a data set, environments and rewards for ``GRPOTrainer``, in process.

Policy: TRL finds tools as the public methods of an environment's class and describes them by type hints and docstrings,
so a class is made for each set of tools, and a row's column ``environment`` chooses among them. The simulated user is
part of the episode: the model reaches it with ``send_message_to_user``, and what it says last, which TRL hands to no
environment, is said to the user before the reward is given. Where there is no reward it is None, which TRL leaves out.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from types import NoneType
from typing import Any, Literal, cast

from sandbox_grader.grading.rewards import Reward, RewardSpec
from sandbox_scenarios import Suite
from sandbox_scenarios.variants import BASE

from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.play.training.episode import Episode, built_in
from sandbox_mcp.play.training.rollouts import Rollouts
from sandbox_mcp.play.training.tasks import ALL, TrainingTask, tasks

OVER = "SessionOverError: this conversation is over; stop here"
_SIMPLE: Mapping[str, Any] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "null": NoneType,
}  # fmt: skip


class SandboxEnvironment:
    """Base of the environments: all about them that is no tool is private, because TRL offers what is public."""

    _spec: "SandboxSpec"

    def __init__(self) -> None:
        self._episode: Episode | None = None

    def reset(self, **row: Any) -> str:
        """Begin the episode of a row; what the user says first goes into the prompt."""
        self._episode = self._spec.begin(TrainingTask.of(row))
        return self._episode.opening

    def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        if self._episode is None or self._episode.over:
            raise ValueError(OVER)
        result = self._episode.call(name, arguments)
        if result.error is not None:
            raise ValueError(result.error)  # TRL counts it, and shows it to the model
        return result.text

    def _finished(self, last: Mapping[str, Any]) -> Reward:
        """Say what the model said last to the user, unless they have left, and grade."""
        episode = self._episode
        if episode is None:
            return Reward(None, "no episode was begun")
        text = last.get("content")
        if not episode.over and last.get("role") == "assistant" and not last.get("tool_calls") and text:
            episode.say(str(text))
        return episode.finish()


@dataclass(frozen=True)
class SandboxSpec:
    """Scenarios for TRL's trainers, which take ``train_dataset``, ``environment_factory`` and ``reward_funcs``.

    ``selectors`` are those of ``sandbox-mcp run``, ``instances`` how many fresh instances of each scenario there are,
    numbered from ``first``. ``rollouts`` keep the episodes that have ended.
    """

    selectors: Sequence[str] = ()
    split: str = ALL
    instances: int = 0
    first: int = 1
    secret: str = ""
    variant: str = BASE
    seed: int = 0
    easiest_first: bool = False
    rewards: RewardSpec = field(default_factory=RewardSpec)
    rollouts: Rollouts | None = None
    suite: Suite = field(default_factory=built_in)

    @cached_property
    def tasks(self) -> list[TrainingTask]:
        """The tasks, in the order of the data set.

        Raises:
            TaskError: the split is unknown or empty.
            ScenarioError: a selector selects nothing.
        """
        given = (self.selectors,) if isinstance(self.selectors, str) else self.selectors
        return tasks(
            self.suite, given, split=self.split, count=self.instances, first=self.first, secret=self.secret,
            variant=self.variant, seed=self.seed, easiest_first=self.easiest_first,
        )  # fmt: skip

    def begin(self, task: TrainingTask) -> Episode:
        """An episode of a task."""
        return Episode(task, suite=self.suite, rewards=self.rewards, agent={"name": "trl"}, rollouts=self.rollouts)

    @cached_property
    def _made(self) -> tuple[dict[str, type[SandboxEnvironment]], list[dict[str, Any]]]:
        classes: dict[str, type[SandboxEnvironment]] = {}
        names: dict[tuple[tuple[str, str], ...], str] = {}
        rows: list[dict[str, Any]] = []
        for task in self.tasks:
            episode = Episode(task, suite=self.suite)
            key = tuple((tool.name, repr((tool.description, tool.schema))) for tool in episode.tools)
            if key not in names:
                names[key] = f"tools_{len(names)}"
                classes[names[key]] = environment_class(self, episode.tools, f"Sandbox{len(names)}")
            told = [{"role": "system", "content": episode.instructions}, {"role": "user", "content": ""}]
            rows.append({"prompt": told, "environment": names[key], **task.row()})
        return classes, rows

    @property
    def environment_factory(self) -> Mapping[str, type[SandboxEnvironment]]:
        """The environments by the sets of tools that the tasks present."""
        return self._made[0]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the data set; the user's first words are added when an environment is reset."""
        return self._made[1]

    @property
    def train_dataset(self) -> Any:
        """The rows as a data set of the library ``datasets``, which TRL brings along."""
        from datasets import Dataset  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

        return cast("Any", Dataset).from_list(self.rows)

    @property
    def reward_funcs(self) -> list[Callable[..., list[float | None]]]:
        """The one function that rewards all environments; one for each class would be a column for each."""
        return [sandbox_reward]


def sandbox_reward(
    completions: Sequence[Sequence[Mapping[str, Any]]] = (),
    environments: Sequence[SandboxEnvironment] = (),
    **_: Any,
) -> list[float | None]:
    """The reward of each completion in its environment; None where there is none."""
    pairs = zip(completions, environments, strict=True)
    return [env._finished(completion[-1] if completion else {}).value for completion, env in pairs]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def environment_class(spec: SandboxSpec, tools: Sequence[PresentedTool], name: str) -> type[SandboxEnvironment]:
    """A class whose public methods are ``reset`` and these tools."""
    methods = {tool.name: _method(tool) for tool in tools}
    return type(name, (SandboxEnvironment,), {"_spec": spec, **methods})


def _method(tool: PresentedTool) -> Callable[..., str]:
    """A method that describes itself as the tool does, and calls it."""
    properties = cast("Mapping[str, Mapping[str, Any]]", tool.schema.get("properties", {}))
    required = cast("Sequence[str]", tool.schema.get("required", ()))
    named = sorted(properties, key=lambda name: name not in required)

    def call(self: SandboxEnvironment, *given: Any, **more: Any) -> str:
        return self._call(tool.name, {**dict(zip(named, given, strict=False)), **more})  # pyright: ignore[reportPrivateUsage]

    hints = {name: _hint(properties[name]) for name in named}
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name in named:
        default = inspect.Parameter.empty if name in required else None
        parameters.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        )
    described: Any = call
    described.__name__ = described.__qualname__ = tool.name
    described.__signature__ = inspect.Signature(parameters, return_annotation=str)
    described.__annotations__ = {**hints, "return": str}
    lines = [f"    {name}: {_one_line(properties[name].get('description') or name)}" for name in named]
    about = tool.description.strip() or tool.name
    described.__doc__ = "\n".join([about, "", "Args:", *lines, ""]) if lines else about
    return call


def _one_line(text: object) -> str:
    return " ".join(str(text).split())


def _hint(schema: Mapping[str, Any]) -> Any:
    """The nearest type hint of a parameter's schema."""
    values = schema.get("enum")
    if values and all(isinstance(value, str | int) for value in values):
        return Literal[tuple(values)]
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return _any_of(map(_hint, options))
    kind = schema.get("type")
    if isinstance(kind, list):
        return _any_of(_hint({**schema, "type": one}) for one in cast("list[str]", kind))
    if kind == "array":
        items = schema.get("items")
        return list[_hint(items)] if items else list
    if kind == "object":
        more = schema.get("additionalProperties")
        return dict[str, _hint(cast("Mapping[str, Any]", more))] if isinstance(more, Mapping) and more else dict
    return _SIMPLE.get(str(kind), Any)


def _any_of(hints: Iterable[Any]) -> Any:
    return reduce(lambda one, other: one | other, hints)
