"""OpenReward's wire (the Open Reward Standard), for its own client.

Policy: a session has a name that its client shows with every request, and is kept alive by its pings. The model's tools
are the scenario's; its last message goes to the terminal tool, which says it to the user and ends the episode. The
reward is on the result that ends it. A fault of a call is a text that the model gets to see; an episode that broke is
an error of the stream, on which the client gives the session up, and never a reward of 0.
"""

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, cast

from sandbox_grader.grading.rewards import RewardError, RewardSpec
from sandbox_scenarios import ScenarioError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sandbox_mcp import __version__
from sandbox_mcp.engine.tools import PresentedTool, present
from sandbox_mcp.engine.worlds import named
from sandbox_mcp.play.server.settings import new_token
from sandbox_mcp.play.session.manager import TooManySessionsError, UnknownSessionError
from sandbox_mcp.play.session.tool_channel import SEND_TOOL
from sandbox_mcp.play.training.hosting import EpisodeHost, HostedEpisode
from sandbox_mcp.play.training.openenv import WireError
from sandbox_mcp.play.training.task_routes import TaskRoutes, object_of, refused, telling
from sandbox_mcp.play.training.tasks import TaskError, TrainingTask, in_split

SESSION = "X-Session-ID"
LAST_WORDS = "final_message"
"""The terminal tool: it gets what the model says without a call."""
_PLACES = ("", "/{env}")
"""A client that names no variant of an environment asks without its name."""
_MOST_ANSWERS = 256
"""How many answers of a session are kept for a client that lost its connection."""


class _Played:
    """An episode of a client, and what its calls were answered."""

    __slots__ = ("answers", "episode", "rewarded")

    def __init__(self, episode: HostedEpisode) -> None:
        self.episode = episode
        self.answers: OrderedDict[str, str] = OrderedDict()
        self.rewarded = False


class OpenRewardWire:
    """The routes, on the sessions of a host. ``world`` is the one whose scenarios are the tasks."""

    def __init__(self, host: EpisodeHost, world: str) -> None:
        self._host = host
        self._world = world
        self._tasks = TaskRoutes(host, world)
        self._open: dict[str, _Played] = {}

    def routes(self) -> list[BaseRoute]:
        """The routes at a server's root, where alone the client looks for them."""
        asked = {"prompt": self.prompt, "messages": self.messages, "task_tools": self.task_tools}
        return [
            Route("/health", telling(lambda _: {"status": "ok"})),
            Route("/version", telling(lambda _: {"version": __version__, "build_sha": None})),
            Route("/create_session", self.begin_session, methods=["POST"]),
            Route("/create", self.create, methods=["POST"]),
            Route("/ping", self.ping, methods=["POST"]),
            Route("/delete", self.delete, methods=["POST"]),
            Route("/delete_session", self.delete, methods=["POST"]),
            *(Route(f"{env}/call", self.call, methods=["POST"]) for env in _PLACES),
            *(Route(f"{env}/tools", telling(self._tools)) for env in _PLACES),
            *(Route(f"{env}/{name}", tell) for env in _PLACES for name, tell in asked.items()),
            *self._tasks.routes(_PLACES),
        ]

    # Sessions

    async def begin_session(self, _: Request) -> Response:
        """A name for a session, such that requests with it come to this process."""
        while not self._host.manager.is_here(name := new_token()):
            pass
        return _stream(("task_id", name), ("end", ""))

    async def create(self, request: Request) -> Response:
        """Begin the episode of a task, or of a split and an index."""
        name = request.headers.get(SESSION, "").strip()
        if not name or name in self._open:
            return JSONResponse({"detail": f"{SESSION} is missing, or has an episode already"}, 400)
        try:
            body = object_of(json.loads(await request.body()))
            row = body.get("task_spec")
            given = object_of(row) if row is not None else {"scenario": self._nth(body)}
            task, rewards = TrainingTask.of(given), RewardSpec.of(given.get("rewards"))
            episode = self._host.begin(task, rewards, "tool", {"name": "openreward"})
        except TooManySessionsError as error:
            return JSONResponse({"detail": str(error)}, 503)
        except (WireError, ScenarioError, TaskError, RewardError, ValueError, RecursionError) as error:
            return refused(error)
        self._open[name] = _Played(episode)
        episode.opened.when_forgotten(lambda: self._forget(name))
        return JSONResponse({"sid": name})

    def _nth(self, body: Mapping[str, Any]) -> str:
        """The scenario of a split and an index.

        Raises:
            TaskError: there is none.
        """
        index = body.get("index")
        names = in_split(self._host.suite, self._host.suite.names(self._world), str(body.get("split")))
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < len(names):
            raise TaskError(f"index is {index!r}; expected a whole number from 0 to {len(names) - 1}")
        return names[index]

    def _forget(self, name: str) -> None:
        self._open.pop(name, None)

    def _played(self, request: Request) -> _Played | None:
        return self._open.get(request.headers.get(SESSION, "").strip())

    async def ping(self, request: Request) -> Response:
        """Keep the session of a client that is thinking."""
        played = self._played(request)
        if played is None:
            return _gone()
        try:
            self._host.manager.get(played.episode.opened.token)  # counts as use of it
        except UnknownSessionError:
            return _gone()
        return JSONResponse({"status": "ok"})

    async def delete(self, request: Request) -> Response:
        """Forget the session; an episode that has not ended is abandoned."""
        played = self._played(request)
        if played is not None:
            await self._host.leave(played.episode)
            self._forget(request.headers.get(SESSION, "").strip())
        return JSONResponse({"sid": request.headers.get(SESSION, "")})

    # The episode

    async def prompt(self, request: Request) -> Response:
        """Instructions and the user's first words, as blocks."""
        played = self._played(request)
        if played is None:
            return _gone()
        opened = played.episode.opened
        return JSONResponse([_text(opened.session.spec.instructions), _text(opened.opening)])

    async def messages(self, request: Request) -> Response:
        """The same as a conversation."""
        played = self._played(request)
        if played is None:
            return _gone()
        opened = played.episode.opened
        told = (("system", opened.session.spec.instructions), ("user", opened.opening))
        return JSONResponse([{"role": role, "blocks": [_text(text)], "detail": None} for role, text in told])

    async def task_tools(self, request: Request) -> Response:
        """The tools of the session's scenario."""
        played = self._played(request)
        return _gone() if played is None else JSONResponse(_listed(played.episode.opened.presentation.listed))

    def _tools(self, request: Request) -> Mapping[str, Any]:
        """All tools of the world, for clients without a session."""
        world = named(self._tasks.world(request))
        return _listed((*(present(tool) for tool in world.agent_tools.values()), SEND_TOOL))

    async def call(self, request: Request) -> Response:
        """Call a tool, or say the model's last words; asked again with the same ``task_id``, the same answer."""
        played = self._played(request)
        if played is None:
            return _gone()
        try:
            body = object_of(json.loads(await request.body()))
        except (WireError, ValueError, RecursionError) as error:
            return refused(error)
        number = body.get("task_id")
        if number is None:
            number = new_token()
            played.answers[number] = await self._answered(played, body.get("name"), body.get("input", {}))
            if len(played.answers) > _MOST_ANSWERS:
                played.answers.popitem(last=False)
        answer = played.answers.get(str(number))
        if answer is None:
            return _stream(("error", "unknown task_id"))
        return _stream(("task_id", str(number)), ("end", answer) if answer.startswith("{") else ("error", answer))

    async def _answered(self, played: _Played, name: object, given: object) -> str:
        """The answer to a call as JSON; a bare text where the episode broke."""
        episode = played.episode
        if episode.over and played.rewarded:
            return _refusal("episode_finished", f"{name!r} was not run: the episode has finished")
        if not isinstance(name, str):
            return _refusal("not_found", f"{name!r} is not a valid tool")
        if name == LAST_WORDS:
            text = cast("Mapping[str, Any]", given).get("message") if isinstance(given, Mapping) else given
            if not episode.over and isinstance(text, str) and text:
                await episode.say(text)
            await episode.finish()
            shown = ""
        else:
            [result] = await episode.call([(name, given)])
            shown = result.text if result.error is None else result.error
        played.rewarded = episode.over
        if not episode.over:
            return _output(shown, episode.step_reward(), {}, finished=False)
        earned = episode.reward()
        if earned.value is None:
            return f"the episode cannot be scored: {earned.reason}"
        return _output(shown, episode.step_reward(), {"score": earned.to_json()}, finished=True)


def _listed(tools: Sequence[PresentedTool]) -> Mapping[str, Any]:
    listed = [{"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)} for tool in tools]
    about = "What the model says without a call: it is said to the user, and ends the episode."
    return {
        "tools": listed,
        "terminal_tool": {"name": LAST_WORDS, "arg": "message", "description": about},
        "supports_score_group": False,
        "message_block_types": ["text"],
    }


def _text(text: str) -> Mapping[str, Any]:
    return {"text": text, "detail": None, "type": "text"}


def _output(text: str, reward: float | None, metadata: Mapping[str, Any], *, finished: bool) -> str:
    blocks = [_text(text)] if text else []
    output = {"blocks": blocks, "metadata": metadata, "reward": reward, "finished": finished}
    return json.dumps({"ok": True, "output": output})


def _refusal(reason: str, error: str) -> str:
    return json.dumps({"ok": False, "error": error, "reason": reason})


def _gone() -> Response:
    return JSONResponse({"detail": "there is no such session; it was deleted, or never created"}, 410)


def _stream(*events: tuple[str, str]) -> Response:
    """Events of one answer. Their data are one line each, because the client drops the blanks at a line's begin."""
    body = "".join(f"event: {kind}\r\ndata: {data}\r\n\r\n" for kind, data in events)
    return Response(body, media_type="text/event-stream", headers={"Cache-Control": "no-cache"})
