"""One episode in process: a session that a policy drives, and what it earned.

Policy: whoever drives, the log is that of any session, byte for byte but for the real clock. A policy that has nothing
more to say ends its episode as ``agent_ended``, which is graded; one whose machinery broke, as ``abandoned``, which is
not. Needs no MCP, no server and no event loop.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

from sandbox_grader.grading.rewards import Reward, RewardSpec, potential, reward_of
from sandbox_scenarios import Suite
from sandbox_scenarios.model import Scenario
from sandbox_scenarios.variants import presented

from sandbox_mcp.engine.tools import PresentedTool
from sandbox_mcp.engine.trajectory import EndReason, MemoryLog, Trajectory, UserChannel
from sandbox_mcp.play.session import AgentCall, CallResult, Reply, Session, SessionSpec, settled
from sandbox_mcp.play.session.tool_channel import SEND, SEND_TOOL, send_message
from sandbox_mcp.play.training.rollouts import Rollouts
from sandbox_mcp.play.training.tasks import TrainingTask
from sandbox_mcp.play.users import ScriptedUser, User

_Value = TypeVar("_Value")
OUT_OF_TIME = "out of time"


def by_client(kept: Mapping[str, Any] | None) -> dict[str, Any]:
    """The ``meta`` of an event for what a policy's client wants kept, such as token ids; nothing of it is graded."""
    return {"client": dict(kept)} if kept else {}


@lru_cache(maxsize=1)
def built_in() -> Suite:
    """The built-in suite, read once."""
    return Suite()


class RewardMeter:
    """What a session has earned so far. ``log`` gives its log, which is graded once it has ended."""

    __slots__ = ("_before", "_final", "_log", "_scenario", "_start", "late", "spec")

    def __init__(self, scenario: Scenario, log: Callable[[], Trajectory], spec: RewardSpec) -> None:
        self._scenario = scenario
        self._log = log
        self.spec = spec
        self.late = False
        self._final: Reward | None = None
        self._start = self._before = potential(scenario, log(), spec.doubt) if spec.steps else 0.0

    def final(self) -> Reward:
        """What the session earned; it has ended. Graded once."""
        if self._final is None:
            self._final = reward_of(self._scenario, self._log(), self.spec, late=self.late)
        return self._final

    def step(self, *, over: bool) -> float | None:
        """What the last step earned: None before the end unless steps are asked for, and where there is no reward.

        The rewards of all steps add up to the final one, exactly.
        """
        if over:
            final = self.final().value
            if final is None or not self.spec.steps:
                return final
            paid, self._before = self._before - self._start, self._start + final
            return final - paid
        if not self.spec.steps:
            return None
        now = potential(self._scenario, self._log(), self.spec.doubt)
        rise, self._before = now - self._before, now
        return rise


class Episode:
    """A scenario in play.

    ``instructions`` and ``opening`` are what the policy is told first, ``tools`` what it may call. ``steps`` counts
    what it did: a call, several calls at once, or words for the user.
    """

    def __init__(
        self,
        task: TrainingTask | str,
        *,
        suite: Suite | None = None,
        rewards: RewardSpec | None = None,
        user_channel: UserChannel = "tool",
        user: User | None = None,
        agent: Mapping[str, Any] | None = None,
        rollouts: Rollouts | None = None,
    ) -> None:
        """Begin a task, or the scenario of a name.

        ``user_channel`` says how the policy speaks to the user: with a ``tool``, or by :meth:`say` alone, as a
        ``harness``. ``user`` plays the scenario's scripted user unless another is given. ``agent`` is recorded.
        ``rollouts`` keep the log once the episode has ended.

        Raises:
            UnknownScenarioError: there is no such scenario.
            ScenarioError: there is no such variant, or no such instance.
        """
        self.task = TrainingTask(task) if isinstance(task, str) else task
        self.scenario = (suite or built_in()).get(self.task.scenario)
        spec = SessionSpec(
            self.scenario,
            self.task.variant,
            self.task.seed,
            self.task.trial,
            user_channel,
            agent={"name": "training"} if agent is None else agent,
        )
        self._memory = MemoryLog()
        player = user or ScriptedUser.of(spec.user, self.scenario.clock)
        self.session = Session(spec, player, self._memory, _presented(self.scenario, self.task.variant))
        self.opening = self.session.begin()
        self.instructions = spec.instructions
        self.tools: tuple[PresentedTool, ...] = offered(self.session)
        self.steps = 0
        self._rollouts = rollouts
        self._meter = RewardMeter(self.scenario, self._memory.trajectory, rewards or RewardSpec())

    @property
    def over(self) -> bool:
        """True if the episode has ended."""
        return self.session.over

    @property
    def log(self) -> Trajectory:
        """Everything that has happened so far."""
        return self._memory.trajectory()

    def call(self, name: str, arguments: object, kept: Mapping[str, Any] | None = None) -> CallResult:
        """Call a tool, ``send_message_to_user`` among them where it is offered. Faults are results.

        ``kept`` goes into the log with it, token ids and their probabilities for example.
        """
        return self.call_together([(name, arguments)], kept)[0]

    def call_together(
        self, calls: Sequence[tuple[str, object]], kept: Mapping[str, Any] | None = None
    ) -> list[CallResult]:
        """Call several tools at once, which may race; the results are in their order. Words for the user come last."""
        self.steps += 1
        meta = by_client(kept)
        said = [index for index, (name, _) in enumerate(calls) if self._speaks(name)]
        made = [AgentCall(name, arguments, meta) for name, arguments in calls if not self._speaks(name)]
        results = self.session.call_batch(made) if made else []
        for index in said:
            results.insert(index, _waited(self.session, partial(send_message, self.session, calls[index][1], meta)))
        return results

    def _speaks(self, name: str) -> bool:
        return name == SEND and self.session.spec.user_channel == "tool"

    def say(self, text: str, kept: Mapping[str, Any] | None = None) -> Reply:
        """Say something to the user, and get the answer; ``kept`` goes into the log with it.

        Raises:
            SessionError: the episode is over.
        """
        self.steps += 1
        return _waited(self.session, partial(self.session.say, text, by_client(kept)))

    def finish(self, reason: EndReason = "agent_ended", detail: str | None = None, *, late: bool = False) -> Reward:
        """End the episode, unless it has ended, and grade it; ``late`` where it ran out of a limit of time."""
        if not self.session.over:
            self._meter.late = late
            self.session.end(reason, OUT_OF_TIME if late and detail is None else detail)
        return self.reward()

    def reward(self) -> Reward:
        """What the episode earned.

        Raises:
            RuntimeError: it has not ended.
        """
        if not self.session.over:
            raise RuntimeError("an episode is graded once it has ended; see Episode.finish")
        found = self._meter.final()
        if self._rollouts is not None:
            rollouts, self._rollouts = self._rollouts, None
            rollouts.add(self.log)
        return found

    def step_reward(self) -> float | None:
        """What the last step earned; see :meth:`RewardMeter.step`."""
        if self.over:
            self.reward()
        return self._meter.step(over=self.over)


def offered(session: Session) -> tuple[PresentedTool, ...]:
    """The tools of a session as its policy sees them, with the one that reaches the user where there is one."""
    tools = tuple(session.tools.values())
    return (*tools, SEND_TOOL) if session.spec.user_channel == "tool" else tools


@lru_cache(maxsize=4096)
def _presented(scenario: Scenario, variant: str) -> Mapping[str, PresentedTool]:
    return presented(scenario, variant)


def _waited(session: Session, work: Callable[[], Coroutine[Any, Any, _Value]]) -> _Value:
    """What comes of the user's turn: at once with a scripted user, in a loop beside this thread with any other."""
    if isinstance(session.user, ScriptedUser):
        return settled(work())
    return asyncio.run_coroutine_threadsafe(work(), _beside()).result()


@lru_cache(maxsize=1)
def _beside() -> asyncio.AbstractEventLoop:
    """An event loop for all users that are asked over a network; what they keep open belongs to one loop."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="users", daemon=True).start()
    return loop
