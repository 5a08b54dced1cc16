"""The scenarios of a sandbox-mcp server as a taskset of verifiers.

Policy: nothing of the server is imported. Its control API begins sessions, hands what the model says to the simulated
user and grades; the model reaches the tools at the URL of its session. A session that cannot be scored is an error of
the rollout, never a reward of 0.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.mcp import SharedToolServer

__all__ = (
    "SandboxEnv", "SandboxEnvConfig", "SandboxTask", "SandboxTaskConfig", "SandboxTaskData", "SandboxTaskset",
    "SandboxTasksetConfig", "UnscoredSessionError",
)  # fmt: skip

TOKEN = "SANDBOX_MCP_API_TOKEN"  # noqa: S105  (the name of a variable)
SESSION = "sandbox_mcp"
"""Where a trace keeps which session it was."""


class UnscoredSessionError(RuntimeError):
    """The session broke in a way that says nothing about the model."""


class SandboxTaskData(vf.TaskData):
    """One episode: a scenario or a fresh instance of one (``name@7``), and how it is presented."""

    scenario: str
    variant: str = "base"
    seed: int = 0


class SandboxTaskConfig(vf.TaskConfig):
    """Nothing beyond what every task can be told."""


class SandboxTasksetConfig(vf.TasksetConfig):
    """Which scenarios, on which server. The server's token is read from SANDBOX_MCP_API_TOKEN."""

    server: str = "http://127.0.0.1:8930"
    scenarios: list[str] = []  # noqa: RUF012 - a field of a pydantic model
    """All that the server has, if none is named."""
    variant: str = "base"
    instances: int = 0
    """How many fresh instances of each scenario there are, numbered from ``first``; 0 plays each as it is written."""
    first: int = 1
    seeds: int = 1
    reward: dict[str, str | float] = {}  # noqa: RUF012 - likewise
    """Options of the reward, such as ``credit`` and ``harm``."""
    task: SandboxTaskConfig = SandboxTaskConfig()


class SandboxTask(vf.Task[SandboxTaskData, vf.State, SandboxTaskConfig]):
    """An episode and its reward."""

    @property
    def key(self) -> str:
        """What tells this task from all others."""
        return f"{self.data.scenario}:{self.data.variant}:{self.data.seed}"

    @vf.reward
    async def sandbox_mcp(self, trace: vf.Trace) -> float:
        """What the session earned, as the server says.

        Raises:
            UnscoredSessionError: it earned nothing, because it broke.
        """
        earned = trace.info.get(SESSION, {}).get("scores")
        if earned is None or earned["reward"] is None:
            raise UnscoredSessionError(
                f"the session cannot be scored: {(earned or {}).get('reason', 'it never ended')}"
            )
        for name, value in {**earned["terms"], **earned["figures"]}.items():
            trace.record_metric(name.replace(".", "_"), float(value))
        return float(earned["reward"])


class SandboxTaskset(vf.Taskset[SandboxTask, SandboxTasksetConfig]):
    """The scenarios of a server as tasks."""

    def load(self) -> Iterator[SandboxTask]:
        """One task for each scenario, instance and seed."""
        config = self.config
        names = config.scenarios
        if not names:
            with httpx.Client(base_url=config.server, headers=_headers(), timeout=60) as http:
                listed = http.get("/api/scenarios").raise_for_status().json()
            names = [item["name"] for item in listed["scenarios"]]
        numbers = range(config.first, config.first + config.instances)
        for seed in range(config.seeds):
            for name in names:
                for scenario in [f"{name}@{number}" for number in numbers] or [name]:
                    data = SandboxTaskData(
                        name=scenario, prompt=None, scenario=scenario, variant=config.variant, seed=seed
                    )
                    yield SandboxTask(data, config.task)


class SandboxEnvConfig(vf.EnvConfig):
    """Who plays the agent; the user is the server's."""

    agent: vf.AgentConfig = vf.AgentConfig()


class SandboxEnv(vf.Env[SandboxEnvConfig]):
    """A conversation between the model and the server's simulated user."""

    async def run(self, task: SandboxTask, agents: Any) -> None:
        """Play one episode: the model's last words of a turn go to the user, until one of them has done."""
        config = self.taskset.config
        data = task.data
        wanted = {
            "scenario": data.scenario, "variant": data.variant, "seed": data.seed, "agent": {"name": "verifiers"},
        }  # fmt: skip
        async with httpx.AsyncClient(base_url=config.server, headers=_headers(), timeout=60) as http:
            began = await _asked(http, "POST", "/api/sessions", wanted)
            here = f"/api/sessions/{began['id']}"
            try:
                tools = {"": SharedToolServer(url=began["url"], local=True, external=True)}
                told = task.with_system_prompt(began["instructions"])
                async with agents.agent.interaction(told, tools=tools) as interaction:
                    interaction.trace.info[SESSION] = {"server": config.server, "session": began["session"]}
                    segment = await interaction.turn(began["opening"])
                    while not segment.terminated and segment.last_reply:
                        answer = await _asked(http, "POST", f"{here}/messages", {"text": segment.last_reply})
                        if answer["over"]:
                            break
                        segment = await interaction.turn(_heard(answer))
                    await _asked(http, "POST", f"{here}/end", {"reason": "agent_ended"})
                    query = {"metric": "toolsandbox", **config.reward}
                    scores = (await http.get(f"{here}/scores", params=query)).raise_for_status().json()
                    interaction.trace.info[SESSION]["scores"] = scores
            finally:
                await http.delete(here)


async def _asked(http: httpx.AsyncClient, method: str, path: str, body: Mapping[str, Any]) -> Any:
    return (await http.request(method, path, json=body)).raise_for_status().json()


def _heard(answer: Mapping[str, Any]) -> str:
    return "\n".join([answer["reply"], *(f"Notice: {notice}" for notice in answer["notices"])])


def _headers() -> dict[str, str]:
    return {"Authorization": f"Bearer {os.environ.get(TOKEN, '')}"}
