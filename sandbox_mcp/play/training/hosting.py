"""Episodes in a server: sessions like any other there, each leased to the client that began it.

Policy: an episode lies in memory until it has ended, and then goes to the rollouts, if these are kept. When its client
has gone before the end, it is ``abandoned``: nothing is known of what the policy would have done.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sandbox_grader.grading.rewards import Reward, RewardSpec

from sandbox_mcp.engine.trajectory import EndReason, MemoryLog, UserChannel
from sandbox_mcp.play.session import AgentCall, CallResult, Reply, SessionSpec
from sandbox_mcp.play.session.manager import SessionManager, UnknownSessionError
from sandbox_mcp.play.session.open_session import OpenSession
from sandbox_mcp.play.session.tool_channel import SEND
from sandbox_mcp.play.training.episode import OUT_OF_TIME, RewardMeter, by_client
from sandbox_mcp.play.training.rollouts import Rollouts
from sandbox_mcp.play.training.tasks import TrainingTask


class HostedEpisode:
    """An episode that a client of the server plays. ``opened`` is its session, ``steps`` counts what the policy did."""

    __slots__ = ("_log", "_meter", "_rollouts", "opened", "steps", "task")

    def __init__(
        self, task: TrainingTask, opened: OpenSession, log: MemoryLog, rewards: RewardSpec, rollouts: Rollouts | None
    ) -> None:
        self.task = task
        self.opened = opened
        self.steps = 0
        self._log = log
        self._rollouts = rollouts
        self._meter = RewardMeter(opened.session.spec.scenario, log.trajectory, rewards)
        opened.when_over(self._keep)

    def _keep(self) -> None:
        rollouts, self._rollouts = self._rollouts, None
        if rollouts is not None:
            rollouts.add(self._log.trajectory())

    @property
    def over(self) -> bool:
        """True if the episode has ended."""
        return self.opened.session.over

    async def call(
        self, calls: Sequence[tuple[str, object]], kept: Mapping[str, Any] | None = None
    ) -> list[CallResult]:
        """Make calls that were sent together; words for the user come last. Faults are results.

        ``kept`` goes into the log with them, token ids and their probabilities for example.
        """
        self.steps += 1
        meta = by_client(kept)
        said = [index for index, (name, _) in enumerate(calls) if self._speaks(name)]
        made = [AgentCall(name, arguments, meta) for name, arguments in calls if not self._speaks(name)]
        results = await self.opened.run(made) if made else []
        for index in said:
            results.insert(index, await self.opened.call(SEND, calls[index][1], kept=meta))
        return results

    def _speaks(self, name: str) -> bool:
        return name == SEND and self.opened.session.spec.user_channel == "tool"

    async def say(self, text: str, kept: Mapping[str, Any] | None = None) -> Reply:
        """Say something to the user, and get the answer; ``kept`` goes into the log with it.

        Raises:
            SessionError: the episode is over.
        """
        self.steps += 1
        return await self.opened.say(text, by_client(kept))

    async def finish(
        self, reason: EndReason = "agent_ended", detail: str | None = None, *, late: bool = False
    ) -> Reward:
        """End the episode, unless it has ended, and grade it; ``late`` where it ran out of a limit of time."""
        if not self.over:
            self._meter.late = late
            await self.opened.end(reason, OUT_OF_TIME if late and detail is None else detail)
        return self._meter.final()

    def reward(self) -> Reward:
        """What the episode earned; it has ended."""
        return self._meter.final()

    def step_reward(self) -> float | None:
        """What the last step earned; see :meth:`RewardMeter.step`."""
        return self._meter.step(over=self.over)


class EpisodeHost:
    """Begins episodes in the sessions of a server."""

    def __init__(self, manager: SessionManager, rollouts: Rollouts | None = None) -> None:
        self.manager = manager
        self.suite = manager.suite
        self._rollouts = rollouts

    def begin(
        self,
        task: TrainingTask,
        rewards: RewardSpec,
        channel: UserChannel = "tool",
        agent: Mapping[str, Any] | None = None,
    ) -> HostedEpisode:
        """Begin an episode.

        Raises:
            UnknownScenarioError: there is no such scenario.
            ScenarioError: there is no such variant, or no such instance.
            TooManySessionsError: the limit is reached.
        """
        scenario = self.suite.get(task.scenario)
        described = {"name": "training"} if agent is None else agent
        spec = SessionSpec(scenario, task.variant, task.seed, task.trial, channel, agent=described)
        log = MemoryLog()
        opened = self.manager.create(spec, self.manager.user(None, scenario, spec.variant), sink=log)
        return HostedEpisode(task, opened, log, rewards, self._rollouts)

    async def leave(self, episode: HostedEpisode) -> None:
        """Forget an episode, whose client has gone or begins another; it is abandoned unless it has ended."""
        with suppress(UnknownSessionError):  # it was given up meanwhile
            await self.manager.close(episode.opened.token)
