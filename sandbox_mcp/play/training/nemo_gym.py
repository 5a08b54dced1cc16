"""NeMo Gym's resources server.

Policy: a session is known by a cookie, or by the token header that Gym's own servers use; agents that speak MCP get its
URL, if the row asks for it. What cannot be measured has reward 0 because the field wants a number, and
``mask_sample`` besides, which says that it does not count; a session that is gone is ``session_lost``.
"""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, cast

from sandbox_grader.grading.rewards import RewardSpec
from sandbox_scenarios import ScenarioError
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.play.server.access import session_path
from sandbox_mcp.play.session.manager import TooManySessionsError
from sandbox_mcp.play.training.hosting import EpisodeHost, HostedEpisode
from sandbox_mcp.play.training.tasks import TrainingTask

COOKIE = "sandbox_mcp"
TOKEN = "X-NeMo-Gym-Session-Token"  # noqa: S105  (the name of a header)
LOST = "session_lost"
"""Gym's own word for a session that is gone; kinds of ours begin with ``sandbox_mcp:``."""
MOST_CLOSED = 100_000
"""How many closed sessions are remembered, so that a seed that comes late is refused."""


class NemoGymWire:
    """The routes, on the sessions of a host."""

    def __init__(self, host: EpisodeHost) -> None:
        self._host = host
        self._open: dict[str, HostedEpisode] = {}
        self._by_caller: dict[str, str] = {}
        self._closed: OrderedDict[str, None] = OrderedDict()

    def routes(self) -> list[BaseRoute]:
        """The routes, relative to where they are mounted."""
        return [
            Route("/seed_session", self.seed, methods=["POST"]),
            Route("/verify", self.verify, methods=["POST"]),
            Route("/close_session", self.close, methods=["POST"]),
            Route("/aggregate_metrics", self.aggregate, methods=["POST"]),
            Route("/reverify_mode", self.reverify_mode),
            Route("/{tool}", self.tool, methods=["POST"]),
        ]

    async def seed(self, request: Request) -> Response:
        """Begin a session, once for each caller that names itself."""
        try:
            body = await _read(request)
            caller = body.get("resources_session_id")
            row = cast("Mapping[str, Any]", body.get("task_data")) if caller else body
            if caller in self._closed:
                return _refused(409, "this session was closed before it was seeded")
            token = self._by_caller.get(caller) if isinstance(caller, str) else None
            episode = self._open.get(token or "")
            if episode is None:
                rewards = RewardSpec.of(row.get("rewards"))
                episode = self._host.begin(TrainingTask.of(row), rewards, "tool", {"name": "nemo-gym"})
                token = self._keep(episode, caller)
        except TooManySessionsError as error:
            return _refused(503, str(error))
        except (ScenarioError, SandboxError, ValueError) as error:
            return _refused(422, str(error))
        access = _access(episode) if row.get("mcp") else None
        if caller:
            told = {"resources_session_id": caller, "resources_tools": access, "sandbox_access": None}
        else:
            told = {"mcp": access} if access else {}
        answer = JSONResponse(told)
        answer.set_cookie(COOKIE, token or "", httponly=True, samesite="lax")
        return answer

    def _keep(self, episode: HostedEpisode, caller: object) -> str:
        token = episode.opened.token
        self._open[token] = episode
        name = caller if isinstance(caller, str) else ""
        if name:
            self._by_caller[name] = token
        episode.opened.when_forgotten(lambda: self._forget(token, name))
        return token

    def _forget(self, token: str, caller: str) -> None:
        self._open.pop(token, None)
        self._by_caller.pop(caller, None)

    def _found(self, request: Request) -> HostedEpisode | None:
        return self._open.get(request.headers.get(TOKEN) or request.cookies.get(COOKIE, ""))

    async def tool(self, request: Request) -> Response:
        """Call a tool. A fault of the call is a text that the model gets to see, with status 400."""
        episode = self._found(request)
        if episode is None:
            return _refused(404, "no session; POST /seed_session first, and send its cookie")
        raw = await request.body()
        try:
            arguments: object = json.loads(raw or b"{}")
        except (ValueError, RecursionError):
            arguments = raw.decode("utf-8", "replace")  # the session says what is wrong with it
        [result] = await episode.call([(request.path_params["tool"], arguments)])
        if result.error is not None:
            return PlainTextResponse(result.error, 400)
        return PlainTextResponse(result.text, media_type="application/json")

    async def verify(self, request: Request) -> Response:
        """Say to the user what the model said last, end the session and grade it."""
        try:
            body = await _read(request)
        except ValueError as error:
            return _refused(422, str(error))
        episode = self._found(request)
        if episode is None:
            lost = {"mask_sample": True, "failure_kind": LOST, "failure_reason": "there is no such session"}
            return JSONResponse({**body, "reward": 0.0, **lost})
        response = cast("Mapping[str, Any]", body.get("response") or {})
        if not episode.over and (said := last_words(response)):
            await episode.say(said)
        broken = response.get("error") is not None or response.get("status") == "failed"
        earned = await episode.finish("agent_failed" if broken else "agent_ended")
        masked = earned.value is None
        figures = {name: value for name, value in earned.figures().items() if name != "reward"}
        answer = {
            **body,
            **figures,
            "reward": earned.value if earned.value is not None else 0.0,
            "mask_sample": masked,
            "failure_kind": f"sandbox_mcp:{earned.ending}" if masked else None,
            "failure_reason": earned.reason,
            "ending": earned.ending,
        }
        return JSONResponse(answer)

    async def close(self, request: Request) -> Response:
        """Forget a session; one seeded later under that name is refused."""
        try:
            caller = str((await _read(request)).get("resources_session_id") or "")
        except ValueError as error:
            return _refused(422, str(error))
        self._closed[caller] = None
        if len(self._closed) > MOST_CLOSED:
            self._closed.popitem(last=False)
        episode = self._open.get(self._by_caller.get(caller, ""))
        if episode is not None:
            await self._host.leave(episode)
        return JSONResponse({"resources_session_id": caller})

    async def aggregate(self, request: Request) -> Response:
        """The mean reward of what was measured."""
        try:
            given: object = (await _read(request)).get("verify_responses") or []
        except ValueError as error:
            return _refused(422, str(error))
        answers = cast("Sequence[Mapping[str, Any]]", given)
        rewards = [float(item["reward"]) for item in answers if not item.get("mask_sample")]
        means = {"mean/reward": fmean(rewards)} if rewards else {}
        counts = {"count/measured": len(rewards), "count/masked": len(answers) - len(rewards)}
        return JSONResponse({"group_level_metrics": [], "agent_metrics": {**means, **counts}, "key_metrics": means})

    async def reverify_mode(self, _: Request) -> Response:
        """No: a session is gone once it is graded."""
        return JSONResponse("unsupported")


def last_words(response: Mapping[str, Any]) -> str:
    """The text that a response ends with; nothing where it ends with a call."""
    output = cast("Sequence[Mapping[str, Any]]", response.get("output") or ())
    spoken = [item for item in output if item.get("type") != "reasoning"]
    if not spoken or spoken[-1].get("type") != "message":
        return ""
    parts = cast("Sequence[Mapping[str, Any]]", spoken[-1].get("content") or ())
    return "".join(str(part.get("text", "")) for part in parts if part.get("type") == "output_text")


def _access(episode: HostedEpisode) -> dict[str, Any]:
    """Address and headers by which an agent reaches the session's tools over MCP."""
    opened = episode.opened
    headers = {TOKEN: opened.token, "Authorization": f"Bearer {opened.bearer}"}
    return {"server_name": "sandbox", "url_path": session_path(opened.token), "transport": "http", "headers": headers}


async def _read(request: Request) -> dict[str, Any]:
    """The body of a request.

    Raises:
        ValueError: it is not a JSON object.
    """
    try:
        body: object = json.loads(await request.body() or b"{}")
    except RecursionError as error:
        raise ValueError("the body is nested too deeply") from error
    if not isinstance(body, dict):
        raise ValueError("the body must be one JSON object")
    return cast("dict[str, Any]", body)


def _refused(status: int, detail: str) -> Response:
    return JSONResponse({"detail": detail}, status)
