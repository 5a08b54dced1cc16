"""The HTTP control API: how a harness in any language opens sessions, speaks for its agent and collects the log.

Policy: it lies outside MCP and has its own credential, so that no agent can reset, end or look into what it is tested
in. One table of operations makes the routes and the OpenAPI document, so that the two cannot differ.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from anyio import to_thread
from pydantic import ValidationError
from sandbox_grader.errors import GraderError
from sandbox_scenarios import ScenarioError, ScenarioFileError, UnknownScenarioError
from sandbox_scenarios.variants import VARIANTS
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sandbox_mcp.engine.errors import SandboxError
from sandbox_mcp.play.server.access import session_path
from sandbox_mcp.play.server.guard import bearer_in, is_one_of, problem
from sandbox_mcp.play.server.malformed import MOST_NAMES, TooManyNamesError
from sandbox_mcp.play.server.models import (
    Body,
    CreatedSession,
    EndSession,
    NewMessage,
    NewSession,
    ScenarioInfo,
    ScenarioList,
    SessionInfo,
    SessionScores,
    UserReply,
)
from sandbox_mcp.play.server.settings import ServerSettings
from sandbox_mcp.play.session import SessionError, SessionSpec, chosen_instructions
from sandbox_mcp.play.session.manager import SessionManager, TooManySessionsError, UnknownSessionError, UnknownUserError
from sandbox_mcp.play.session.open_session import OpenSession

JSON_LINES = "application/jsonl"
_B = TypeVar("_B", bound=Body)


@dataclass(frozen=True, slots=True)
class Operation:
    """One thing a harness can do. ``gives`` None means the answer is a log in JSON Lines."""

    method: str
    path: str
    name: str
    summary: str
    gives: type[Body] | None
    takes: type[Body] | None = None
    status: int = 200
    problems: tuple[int, ...] = ()


OPERATIONS = (
    Operation("GET", "/api/scenarios", "list_scenarios", "List what can be played.", ScenarioList, problems=(500,)),
    Operation(
        "POST", "/api/sessions", "create_session", "Begin a session and get the URL for its agent.",
        CreatedSession, NewSession, 201, (400, 404, 413, 422, 500, 503),
    ),
    Operation(
        "GET", "/api/sessions/{id}", "get_session", "Tell how a session stands.", SessionInfo, problems=(404,)
    ),
    Operation(
        "DELETE", "/api/sessions/{id}", "close_session", "End a session, if it goes on, and forget it.",
        SessionInfo, problems=(404,),
    ),
    Operation(
        "POST", "/api/sessions/{id}/messages", "send_message",
        "Hand the user what the agent says, and get the user's answer.",
        UserReply, NewMessage, 200, (400, 404, 409, 413, 422),
    ),
    Operation(
        "POST", "/api/sessions/{id}/end", "end_session", "End a session; its log can still be read.",
        SessionInfo, EndSession, 200, (400, 404, 413, 422),
    ),
    Operation(
        "GET", "/api/sessions/{id}/scores", "get_scores",
        "Grade the session so far; once it is over, tell what it earned as an episode of training.",
        SessionScores, problems=(404, 422),
    ),
    Operation(
        "GET", "/api/sessions/{id}/trajectory", "get_trajectory", "Read the session's log so far.",
        None, problems=(404,),
    ),
)  # fmt: skip
"""Everything the API offers."""


class Api:
    """The operations, on one manager."""

    def __init__(self, manager: SessionManager, settings: ServerSettings) -> None:
        self._manager = manager
        self._token = settings.api_token
        self._max_body = settings.max_body

    def routes(self) -> list[Route]:
        """One route per path."""
        paths = dict.fromkeys(operation.path for operation in OPERATIONS)
        return [self._route(path, {item.method: item for item in OPERATIONS if item.path == path}) for path in paths]

    def _route(self, path: str, by_method: Mapping[str, Operation]) -> Route:
        async def handle(request: Request) -> Response:
            if not is_one_of(bearer_in(request.scope), (self._token,)):
                return problem(401, "unauthorized", "the control API needs its own token: Authorization: Bearer ...")
            operation = by_method[request.method if request.method != "HEAD" else "GET"]
            try:
                result: Body | Response = await getattr(self, operation.name)(request)
            except (SandboxError, OSError, _BadBodyError) as error:
                return _told(error)
            if isinstance(result, Response):
                return result
            return JSONResponse(result.model_dump(mode="json"), operation.status)

        return Route(path, handle, methods=list(by_method))

    async def list_scenarios(self, _: Request) -> ScenarioList:
        """All scenarios of the suite."""
        scenarios = await to_thread.run_sync(self._manager.suite.all)
        found = [ScenarioInfo.model_validate(item, from_attributes=True) for item in scenarios]
        return ScenarioList(scenarios=found, variants=list(VARIANTS), users=list(self._manager.users))

    async def create_session(self, request: Request) -> CreatedSession:
        """Begin a session."""
        wanted = await self._body(request, NewSession)
        scenario = await to_thread.run_sync(self._manager.suite.get, wanted.scenario)
        agent = wanted.agent
        if wanted.instructions is not None:
            agent = {**agent, **chosen_instructions("api", wanted.instructions)}
        spec = SessionSpec(
            scenario, wanted.variant, wanted.seed, wanted.trial, wanted.user_channel, agent=agent
        )  # fmt: skip
        opened = self._manager.create(spec, self._manager.user(wanted.user, scenario, spec.variant))
        base = f"{request.url.scheme}://{request.headers['host']}"
        return CreatedSession(
            **_info(opened).model_dump(),
            url=f"{base}{session_path(opened.token)}",
            bearer=opened.bearer,
            instructions=spec.instructions,
            opening=opened.opening,
            tools=[tool.name for tool in opened.presentation.listed],
        )

    async def get_session(self, request: Request) -> SessionInfo:
        """Report a session's state."""
        return _info(self._named(request))

    async def close_session(self, request: Request) -> SessionInfo:
        """End and forget a session."""
        opened = self._named(request)
        await self._manager.close(opened.token)
        return _info(opened)

    async def send_message(self, request: Request) -> UserReply:
        """Let the agent speak."""
        opened = self._named(request)
        message = await self._body(request, NewMessage)
        reply = await opened.say(message.text)
        return UserReply(
            reply=reply.text, over=reply.over, reason=reply.reason, notices=list(reply.notices),
            parting=reply.parting or None,
        )  # fmt: skip

    async def end_session(self, request: Request) -> SessionInfo:
        """End a session."""
        opened = self._named(request)
        wanted = await self._body(request, EndSession)
        await opened.end(wanted.reason, wanted.detail)
        return _info(opened)

    async def get_trajectory(self, request: Request) -> Response:
        """The log as it is kept."""
        lines = self._named(request).lines()
        if lines is None:
            return problem(404, "not_recorded", "this session's log is kept elsewhere")
        return Response(lines, media_type=JSON_LINES)

    async def get_scores(self, request: Request) -> SessionScores | Response:
        """What the session has scored, and earned; the query has families under ``metric``, and a reward's options."""
        from sandbox_grader.grading.rewards import RewardSpec, graded, reward_of

        opened = self._named(request)
        query = request.query_params
        spec = RewardSpec.of_texts({name: query[name] for name in query if name != "metric"})
        log = opened.trajectory()
        if log is None:
            return problem(404, "not_recorded", "this session's log is kept elsewhere")
        scenario = opened.session.spec.scenario
        scores = graded(scenario, log, spec, query.getlist("metric"))
        earned = reward_of(scenario, log, spec)
        return SessionScores(
            over=opened.session.over,
            ending=opened.session.ended,
            scored=earned.reason is None,
            reason=earned.reason,
            reward=earned.value,
            score=scores.score,
            terms=dict(earned.terms),
            figures={name: value for name, value in scores.figures().items() if value is not None},
        )

    def _named(self, request: Request) -> OpenSession:
        return self._manager.get(request.path_params["id"])

    async def _body(self, request: Request, model: type[_B]) -> _B:
        try:
            return model.model_validate_json(await self._bytes(request) or b"{}")
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            if first["type"] == "json_invalid":
                raise _BadBodyError(400, "not_json", f"the body must be one JSON object: {first['msg']}") from error
            where = ".".join(map(str, first["loc"]))
            raise _BadBodyError(422, "invalid_body", f"{where + ': ' if where else ''}{first['msg']}") from error
        except ClientDisconnect as error:
            raise _BadBodyError(400, "cut_off", "the request ended early") from error

    async def _bytes(self, request: Request) -> bytes:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > self._max_body:
                raise _BadBodyError(413, "too_large", f"a request body may have at most {self._max_body} bytes")
        if body.count(b'":') > MOST_NAMES:
            raise _BadBodyError(413, "too_large", str(TooManyNamesError()))
        return body


def _info(opened: OpenSession) -> SessionInfo:
    session = opened.session
    return SessionInfo(
        id=opened.token,
        session=session.spec.id,
        scenario=session.spec.scenario.name,
        variant=session.spec.variant,
        seed=session.spec.seed,
        trial=session.spec.trial,
        user_channel=session.spec.user_channel,
        turns=session.turns,
        calls=session.calls,
        over=session.over,
        reason=session.ended,
    )


class _BadBodyError(Exception):
    """A request body that cannot be used."""

    def __init__(self, status: int, code: str, message: str) -> None:
        self.status = status
        self.code = code
        super().__init__(message)


_TOLD: tuple[tuple[type[Exception], int, str], ...] = (
    (UnknownScenarioError, 404, "unknown_scenario"),
    (ScenarioFileError, 500, "broken_scenario"),
    (ScenarioError, 422, "unknown_variant"),
    (UnknownUserError, 422, "unknown_user"),
    (UnknownSessionError, 404, "unknown_session"),
    (TooManySessionsError, 503, "too_many_sessions"),
    (SessionError, 409, "session_over"),
    (GraderError, 422, "cannot_grade"),
    (SandboxError, 500, "cannot_begin"),
    (OSError, 500, "no_log"),
)
"""How errors are told; the first that fits."""


def _told(error: SandboxError | OSError | _BadBodyError) -> Response:
    if isinstance(error, _BadBodyError):
        return problem(error.status, error.code, str(error))
    status, code = next((status, code) for kind, status, code in _TOLD if isinstance(error, kind))
    if isinstance(error, OSError):
        return problem(status, code, f"the log cannot be kept: {error.strerror or error}")
    return problem(status, code, "\n".join(error.lines))
