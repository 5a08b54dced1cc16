"""An echo by OpenEnv's own server, for ``python -m bench training``: PORT; run where openenv is installed."""

import sys

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class EchoAction(Action):
    message: str


class EchoObservation(Observation):
    message: str = ""


class EchoEnvironment(Environment):
    """Says what it hears."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State(episode_id="e", step_count=0)

    def reset(self, seed=None, episode_id=None, **_):  # noqa: ARG002
        self._state = State(episode_id=episode_id, step_count=0)
        return EchoObservation(message="ready", done=False, reward=None)

    def step(self, action, **_):
        self._state.step_count += 1
        return EchoObservation(message=action.message, done=self._state.step_count > 1, reward=1.0)

    @property
    def state(self):
        return self._state


if __name__ == "__main__":
    app = create_fastapi_app(EchoEnvironment, EchoAction, EchoObservation, max_concurrent_envs=20_000)
    uvicorn.run(app, port=int(sys.argv[1]), log_level="error", access_log=False)
