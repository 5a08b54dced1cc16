"""Tasks of a world by HTTP: splits, lists of tasks and single ones, in the form that OpenEnv and OpenReward share.

Policy: a world is one of those that the suite's scenarios are played in. The suite's files are read on first use, and
may have changed since the server began; what is wrong with them is told.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from sandbox_scenarios import ScenarioError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.websockets import WebSocket

from sandbox_mcp.play.training.hosting import EpisodeHost
from sandbox_mcp.play.training.openenv import SPLITS_TOLD, WireError
from sandbox_mcp.play.training.tasks import TaskError, TrainingTask, described, in_split

_KINDS = ("tasks", "num_tasks", "task", "task_range")
_STATUS: Mapping[str, int] = {"CAPACITY_REACHED": 503, "EXECUTION_ERROR": 500}


class TaskRoutes:
    """The tasks of a host's worlds. ``home`` is the world of routes that name none."""

    def __init__(self, host: EpisodeHost, home: str = "") -> None:
        self._host = host
        self._home = home

    def routes(self, places: Sequence[str] = ("/{env}",)) -> list[BaseRoute]:
        """The routes, relative to where they are mounted; those about one world are in each of these places."""
        return [
            Route("/list_environments", telling(lambda request: [self.world(request)])),
            *(Route(f"{place}/splits", self.splits) for place in places),
            *(Route(f"{place}/{name}", self.tasks, methods=["POST"]) for name in _KINDS for place in places),
        ]

    def world(self, request: Request | WebSocket) -> str:
        """World of a request.

        Raises:
            WireError: there is none of that name in the suite, or the suite's files cannot be used.
        """
        world = request.path_params.get("world") or self._home
        try:
            known = self._worlds
        except ScenarioError as error:  # files are read on first use, and may have changed since the server began
            raise WireError("EXECUTION_ERROR", str(error)) from error
        if world not in known:
            raise WireError("VALIDATION_ERROR", f"no scenario is of world {world!r}; known: {', '.join(known)}")
        return world

    @cached_property
    def _worlds(self) -> tuple[str, ...]:
        return self._host.suite.worlds_played()

    async def splits(self, request: Request) -> Response:
        """The splits of a world."""
        return self._foreign(request) or JSONResponse(SPLITS_TOLD)

    async def tasks(self, request: Request) -> Response:
        """Tasks of a split: all, how many, one by its index, or some."""
        if refusal := self._foreign(request):
            return refusal
        try:
            body, world = object_of(json.loads(await request.body())), self.world(request)
            split = body.get("split")
            if not isinstance(split, str):
                raise WireError("VALIDATION_ERROR", f"split is {split!r}; expected a text")
            names = in_split(self._host.suite, self._host.suite.names(world), split)
            wanted = request.url.path.rpartition("/")[2]
            if wanted == "num_tasks":
                return JSONResponse({"num_tasks": len(names)})
            if wanted == "task":
                index = _whole(body, "index", 0)
                if not 0 <= index < len(names):
                    return JSONResponse({"detail": "Invalid task index"}, 400)
                return JSONResponse({"task": self._task(names[index], index, split), "env_name": world})
            start, stop = (
                (_whole(body, "start", 0), _whole(body, "stop", len(names)))
                if wanted == "task_range"
                else (0, len(names))
            )
            rows = [self._task(name, index, split) for index, name in enumerate(names)]
            return JSONResponse({"tasks": rows[start:stop], "env_name": world})
        except (WireError, TaskError, ScenarioError, ValueError, RecursionError) as error:
            return refused(error)

    def _task(self, name: str, index: int, split: str) -> dict[str, Any]:
        return described(self._host.suite, TrainingTask(name), index, split)

    def _foreign(self, request: Request) -> Response | None:
        """A refusal of a request about another world than that of this wire."""
        env = request.path_params.get("env")
        try:
            if self.world(request).lower() == (env or self._home).lower():
                return None
        except WireError as error:
            return unknown_world(error)
        return JSONResponse({"detail": f"unknown environment {env!r}"}, 404)


def telling(tell: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """An endpoint that answers with what a function gives for a request."""

    async def answer(request: Request) -> Response:
        try:
            return JSONResponse(tell(request))
        except WireError as error:
            return unknown_world(error)

    return answer


def object_of(value: object) -> dict[str, Any]:
    """An object that a client sent.

    Raises:
        WireError: it is something else.
    """
    if not isinstance(value, dict):
        raise WireError("VALIDATION_ERROR", f"expected an object, got {type(value).__name__}")
    return cast("dict[str, Any]", value)


def _whole(body: Mapping[str, Any], name: str, default: int) -> int:
    value = body.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        raise WireError("VALIDATION_ERROR", f"{name} is {value!r}; expected a whole number")
    return value


def unknown_world(error: WireError) -> Response:
    """The refusal of a world."""
    return JSONResponse({"detail": str(error)}, _STATUS.get(error.code, 404))


def refused(error: Exception) -> Response:
    """Refusal of a request."""
    status = _STATUS.get(error.code, 422) if isinstance(error, WireError) else 422
    return JSONResponse({"detail": str(error)}, status)
