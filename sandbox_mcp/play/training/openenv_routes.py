"""OpenEnv's wire as routes under any prefix: WebSockets, the MCP bridge, and what its validator asks for.

Policy: clients derive ``{base}/ws`` and ``{base}/mcp`` from their base URL as texts, so a prefix leaves our own
``/mcp`` alone. A WebSocket that began its environment leases it: when it closes, the episode is over. An environment
that was made over HTTP lasts until it is closed there, or was idle for as long as any session may be.
"""

import json
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from sandbox_mcp import __version__
from sandbox_mcp.play.training.hosting import EpisodeHost
from sandbox_mcp.play.training.openenv import (
    ACTION_SCHEMA,
    OBSERVATION_SCHEMA,
    STATE_SCHEMA,
    OpenEnvClient,
    WireError,
)
from sandbox_mcp.play.training.task_routes import TaskRoutes, object_of, refused, telling, unknown_world

_INVALID, _UNKNOWN, _PARAMS, _INTERNAL, _PARSE, _CAPACITY = -32600, -32601, -32602, -32603, -32700, -32000
SHOWN_PATHS = ("/reset", "/step", "/state", "/schema", "/health", "/metadata", "/mcp")


class _RpcError(Exception):
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        self.told = {"code": code, "message": message, "data": data}
        super().__init__(message)


@dataclass(slots=True)
class _Lasting:
    """An environment that no connection leases."""

    client: OpenEnvClient
    used: float = field(default_factory=time.monotonic)


class OpenEnvWire:
    """The wire for the worlds of a host. ``world`` is the one of the routes that name none."""

    def __init__(self, host: EpisodeHost, world: str = "") -> None:
        self._host = host
        self._tasks = TaskRoutes(host, world)
        self._lasting: dict[str, _Lasting] = {}
        self._leased = 0

    def routes(self) -> list[BaseRoute]:
        """The routes, relative to where they are mounted."""
        return [
            WebSocketRoute("/ws", self.ws),
            WebSocketRoute("/mcp", self.ws_mcp),
            Route("/mcp", self.post_mcp, methods=["POST"]),
            Route("/reset", self.reset, methods=["POST"]),
            Route("/step", self.step, methods=["POST"]),
            Route("/state", self.state),
            Route("/health", telling(lambda _: {"status": "healthy"})),
            Route("/metadata", telling(self._metadata)),
            Route("/schema", telling(_schemas)),
            Route("/openapi.json", telling(_openapi)),
            *self._tasks.routes(),
        ]

    def _metadata(self, request: Request) -> Mapping[str, Any]:
        world = self._tasks.world(request)
        about = f"Scenarios of the {world} world: tools with state, a simulated user, strict rewards."
        return {
            "name": world, "description": about, "readme_content": None, "version": __version__, "author": None,
            "documentation_url": None,
        }  # fmt: skip

    # Environments

    def _made(self, world: str) -> OpenEnvClient:
        """A new environment, if there is a place for it.

        Raises:
            WireError: there is none.
        """
        most = self._host.manager.max_sessions
        if self._leased + len(self._lasting) >= most:
            self._drop_idle()
        if (now := self._leased + len(self._lasting)) >= most:
            raise WireError("CAPACITY_REACHED", f"server at capacity: {now}/{most} sessions active")
        return OpenEnvClient(self._host, world)

    def _own(self) -> str:
        """A name for an environment, such that requests with it come to this process."""
        while not self._host.manager.is_here(name := str(uuid.uuid4())):
            pass
        return name

    def _drop_idle(self) -> None:
        """Give up environments that were idle for too long; their sessions are given up by whoever manages those."""
        before = time.monotonic() - self._host.manager.idle_seconds
        for name in [name for name, item in self._lasting.items() if item.used < before]:
            del self._lasting[name]

    def _kept(self, name: object) -> OpenEnvClient | None:
        item = self._lasting.get(name) if isinstance(name, str) else None
        if item is None:
            return None
        item.used = time.monotonic()
        return item.client

    # WebSockets

    async def ws(self, socket: WebSocket) -> None:
        """OpenEnv's own messages, on an environment of this connection or on one that was made over HTTP."""
        await socket.accept()
        attached = socket.query_params.get("session_id")
        try:
            world = self._tasks.world(socket)
            client = self._kept(attached) if attached else self._made(world)
            if client is None:
                raise WireError("SESSION_ERROR", f"Unknown session_id: {attached}")
        except WireError as error:
            await socket.send_text(_error(error.code, str(error)))
            await socket.close()
            return
        await self._leasing(socket, client, attached or self._own(), leased=not attached)

    async def _leasing(self, socket: WebSocket, client: OpenEnvClient, name: str, *, leased: bool) -> None:
        self._leased += leased
        try:
            while await self._answered(socket, client, name):
                pass  # neither a message nor its answer is held while the client thinks
            await socket.close()
        except WebSocketDisconnect:
            pass
        finally:
            self._leased -= leased
            if leased:
                await client.leave()

    async def _answered(self, socket: WebSocket, client: OpenEnvClient, name: str) -> bool:
        """Answer the next message; False if it ends the connection."""
        answer = await self._answer(await _text_of(socket), client, name)
        if answer is None:
            return False
        await socket.send_text(answer)
        return True

    async def _answer(self, raw: str, client: OpenEnvClient, name: str) -> str | None:
        """The answer to one message; None ends the connection."""
        try:
            read: object = json.loads(raw)
        except (ValueError, RecursionError) as problem:
            return _error("INVALID_JSON", f"Invalid JSON: {problem}")
        try:
            message = object_of(read)
            kind, data = message.get("type", ""), cast("object", message.get("data") or {})
            match kind:
                case "reset":
                    return _line("observation", await client.reset(object_of(data)))
                case "step":
                    return _line("observation", await client.step(object_of(data)))
                case "state":
                    return _line("state", client.state())
                case "mcp":
                    return _line("mcp", await self._rpc(data, client, name))
                case "close":
                    return None
                case _:
                    return _error("UNKNOWN_TYPE", f"Unknown message type: {kind}")
        except WireError as error:
            return _error(error.code, str(error))
        except ValueError as error:
            return _error("VALIDATION_ERROR", str(error))
        except OSError as error:
            return _error("EXECUTION_ERROR", f"the episode cannot be kept: {error.strerror or error}")

    async def ws_mcp(self, socket: WebSocket) -> None:
        """Bare JSON-RPC on an environment of this connection."""
        await socket.accept()
        try:
            client, name = self._made(self._tasks.world(socket)), self._own()
        except WireError as error:
            refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": _CAPACITY, "message": str(error), "data": None}}
            await socket.send_text(json.dumps(refusal))
            await socket.close()
            return
        self._leased += 1
        try:
            while True:
                raw = await _text_of(socket)
                try:
                    answer = await self._rpc(json.loads(raw), client, name)
                except (ValueError, RecursionError) as problem:
                    answer = _parse_error(problem)
                await socket.send_text(json.dumps(answer, ensure_ascii=False))
        except WebSocketDisconnect:
            pass
        finally:
            self._leased -= 1
            await client.leave()

    # The MCP bridge

    async def post_mcp(self, request: Request) -> Response:
        """JSON-RPC by HTTP: environments that last, their tools and calls."""
        try:
            body: object = json.loads(await request.body())
        except (ValueError, RecursionError) as problem:
            return JSONResponse(_parse_error(problem))
        try:
            world = self._tasks.world(request)
        except WireError as error:
            return unknown_world(error)
        return JSONResponse(await self._rpc(body, None, None, world))

    async def _rpc(
        self, body: object, client: OpenEnvClient | None, own: str | None, world: str = ""
    ) -> dict[str, Any]:
        """The answer to a request; ``client`` is the environment of a connection, whose name is ``own``."""
        request: Mapping[str, Any] = cast("Mapping[str, Any]", body) if isinstance(body, dict) else {}
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request.get("id")}
        try:
            return {**answer, "result": await self._result(request, client, own, world)}
        except _RpcError as error:
            return {**answer, "error": error.told}
        except WireError as error:
            active = {"active_sessions": self._leased + len(self._lasting)}
            code, data = (_CAPACITY, active) if error.code == "CAPACITY_REACHED" else (_INTERNAL, None)
            return {**answer, "error": {"code": code, "message": str(error), "data": data}}

    async def _result(
        self, request: Mapping[str, Any], client: OpenEnvClient | None, own: str | None, world: str
    ) -> dict[str, Any]:
        method = request.get("method")
        if request.get("jsonrpc") != "2.0" or not isinstance(method, str):
            raise _RpcError(_INVALID, "Invalid request")
        given: object = request.get("params") or {}
        if not isinstance(given, dict):
            raise _RpcError(_PARAMS, "Invalid params")
        params = cast("dict[str, Any]", given)
        if method == "openenv/session/create":
            return {"session_id": own or self._create(world)}
        if method == "openenv/session/close":
            return await self._close(params.get("session_id"), own)
        named = params.get("session_id")
        if client is None and named:
            client = self._kept(named)
            if client is None:
                raise _RpcError(_PARAMS, f"Unknown session_id: {named}")
        client = client or OpenEnvClient(self._host, world)
        if method == "tools/list":
            return {"tools": client.tools()}
        if method == "tools/call":
            if not isinstance(params.get("name"), str):
                raise _RpcError(_PARAMS, "Missing 'name' in params")
            return await client.call(params["name"], params.get("arguments", {}))
        raise _RpcError(_UNKNOWN, f"Method not found: {method}")

    def _create(self, world: str) -> str:
        client, name = self._made(world), self._own()
        self._lasting[name] = _Lasting(client)
        return name

    async def _close(self, name: object, own: str | None) -> dict[str, Any]:
        if own is not None and name == own:
            raise _RpcError(_INVALID, "Cannot close active WebSocket-managed session via MCP method")
        item = self._lasting.pop(name, None) if isinstance(name, str) else None
        if item is None:
            raise _RpcError(
                _PARAMS, f"Unknown session_id: {name}" if name else "Invalid params - 'session_id' is required"
            )
        await item.client.leave()
        return {"session_id": name, "closed": True}

    # By HTTP alone

    async def reset(self, request: Request) -> Response:
        """Begin an episode, which ``POST /step`` goes on with if it has an ``episode_id``."""
        try:
            data = object_of(json.loads(await request.body() or b"{}"))
            name = data.get("episode_id")
            client = self._kept(name) or self._made(self._tasks.world(request))
            told = await client.reset(data)
        except (WireError, ValueError, RecursionError) as error:
            return refused(error)
        if name is not None:
            self._lasting[str(name)] = _Lasting(client)
        else:
            await client.leave()
        return JSONResponse(told)

    async def step(self, request: Request) -> Response:
        """Go on with an episode that ``POST /reset`` began under the same ``episode_id``."""
        try:
            data = object_of(json.loads(await request.body()))
            client = self._kept(data.get("episode_id"))
            if client is None:
                raise WireError("SESSION_ERROR", "POST /step needs the episode_id under which POST /reset began")
            return JSONResponse(await client.step(object_of(data.get("action"))))
        except (WireError, ValueError, RecursionError) as error:
            return refused(error)

    async def state(self, request: Request) -> Response:
        """State of the episode of ``?episode_id=`` stands."""
        client = self._kept(request.query_params.get("episode_id"))
        return JSONResponse(client.state() if client else {"episode_id": None, "step_count": 0})


def _schemas(_: Request) -> Mapping[str, Any]:
    return {
        "action": ACTION_SCHEMA, "observation": OBSERVATION_SCHEMA, "state": STATE_SCHEMA,
        "reset_observation": OBSERVATION_SCHEMA,
    }  # fmt: skip


def _openapi(_: Request) -> Mapping[str, Any]:
    paths: dict[str, Any] = {path: {} for path in SHOWN_PATHS}
    return {"openapi": "3.1.0", "info": {"title": "OpenEnv", "version": "1.0.0"}, "paths": paths}


async def _text_of(socket: WebSocket) -> str:
    """The next message.

    Raises:
        WebSocketDisconnect: the client has gone.
    """
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000), message.get("reason"))
    text = message.get("text")
    return text if text is not None else (message.get("bytes") or b"").decode("utf-8", "replace")


def _line(kind: str, data: object) -> str:
    return json.dumps({"type": kind, "data": data}, ensure_ascii=False, separators=(",", ":"))


def _error(code: str, message: str) -> str:
    return _line("error", {"message": message, "code": code})


def _parse_error(problem: Exception) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": _PARSE, "message": f"Parse error: {problem}", "data": None}}
