"""What there is to see of a server: what it lists, in both eras, and what it answers to calls that cannot act.

Policy: a check does no harm. Only tools that need arguments are called without any, which a server should refuse, and
of these only tools that look, unless all are asked for. Where one is refused, a tool that needs nothing and looks by
the server's own word is called, too, since a server may fail at each call. A tape is only read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import anyio
from mcp import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from sandbox_mcp.engine.errors import inner_errors
from sandbox_mcp.engine.worlds.recorded import TapeTool, read_tape
from sandbox_mcp.engine.worlds.recorded.guessing import named_to_look
from sandbox_mcp.engine.worlds.recorded.schemas import names_in
from sandbox_mcp.play.session.upstream import Upstream, tools_of, unreachable, wire

SECONDS = 20.0
"""How long a call of a check may take."""


@dataclass(frozen=True, slots=True)
class SeenServer:
    """A server as it was seen. ``again`` is its list asked a second time; ``eras`` are the protocol's that it speaks.

    ``refused`` has what tools answered that were called without what they need, ``failing`` the text of an error of one
    that needs nothing, and ``answers`` what a tape has recorded.
    """

    place: str
    name: str
    instructions: str
    tools: Sequence[TapeTool]
    again: Sequence[TapeTool] | None = None
    eras: Mapping[str, str] = field(default_factory=dict[str, str])
    refused: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    answers: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict[str, Sequence[Mapping[str, Any]]])
    failing: str = ""


def seen_on(path: Path) -> SeenServer:
    """What a tape shows of its server.

    Raises:
        TapeError: it cannot be used.
    """
    tape = read_tape(path)
    answers: dict[str, list[Mapping[str, Any]]] = {}
    for call in tape.calls:
        answers.setdefault(call.deed[0], []).append(call.result)
    told = tape.server
    tools = [TapeTool(tool.name, tool.listed) for tool in tape.tools.values()]
    return SeenServer(
        str(path), str(told.get("name") or path.stem), str(told.get("instructions") or ""), tools, answers=answers
    )


def seen_of(upstream: Upstream, *, calls: str = "looking") -> SeenServer:
    """What a running server shows. ``calls`` says which tools are called without what they need: looking, all, none.

    Raises:
        SandboxError: it cannot be reached.
    """
    return anyio.run(_seen, upstream, calls)


async def _seen(upstream: Upstream, calls: str) -> SeenServer:
    place = upstream.url or " ".join(upstream.command)
    eras: dict[str, str] = {}
    entered = False
    try:
        async with upstream.connected() as client:
            entered = True
            eras[str(client.protocol_version)] = "ok"
            tools = [_tool(wire(tool)) for tool in await tools_of(client)]
            info = client.server_info
            refused: dict[str, Mapping[str, Any]] = {}
            for tool in tools:
                if _callable(tool, calls):
                    with anyio.move_on_after(SECONDS):
                        refused[tool.name] = await _without_arguments(client, tool.name)
            failing = await _failing(client, tools) if refused else ""
            again = [_tool(wire(tool)) for tool in await tools_of(client)]
            instructions = client.instructions or ""
    except Exception as error:
        if entered:
            raise inner_errors(error)[0] from error
        raise unreachable(place, error) from error
    if not set(eras) & set(HANDSHAKE_PROTOCOL_VERSIONS):
        eras |= await _older(upstream)
    name = info.name if info else place
    return SeenServer(place, name, instructions, tools, again, eras, refused, failing=failing)


async def _failing(client: Any, tools: Sequence[TapeTool]) -> str:
    """The error of a tool that looks by the server's word and needs nothing; empty without one."""
    tool = next((tool for tool in tools if tool.said and not tool.acts and not needed_by(tool)), None)
    answer: Mapping[str, Any] = {}
    if tool is not None:
        with anyio.move_on_after(SECONDS):
            answer = await _without_arguments(client, tool.name)
    return text_in(answer) if answer.get("isError") is True else ""


def text_in(answer: Mapping[str, Any]) -> str:
    """The texts of a result."""
    content: Any = answer.get("content")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    return " ".join(str(cast("Any", block).get("text") or "") for block in blocks if isinstance(block, Mapping))


async def _older(upstream: Upstream) -> dict[str, str]:
    """The version of the handshake that it also speaks, or why it does not."""
    try:
        with anyio.fail_after(SECONDS):
            async with replace(upstream, mode="legacy").connected() as client:
                return {str(client.protocol_version): "ok"}
    except Exception as error:  # noqa: BLE001 - whatever the server does is what is seen of it
        return {"2025-11-25": f"refused: {inner_errors(error)[0]}"}


def _tool(listed: Mapping[str, Any]) -> TapeTool:
    return TapeTool(str(listed["name"]), listed)


def needed_by(tool: TapeTool) -> list[str]:
    """The arguments that a call must have. Those with a default may be left out, also where they are required."""
    schema: Any = tool.listed.get("inputSchema") or {}
    properties: Any = schema.get("properties")
    listed = cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else dict[str, Any]()
    return [name for name in names_in(schema.get("required")) if "default" not in (listed.get(name) or {})]


def _callable(tool: TapeTool, calls: str) -> bool:
    needs = bool(needed_by(tool))
    looks = not tool.acts or (not tool.said and named_to_look(tool.name))
    return needs and (calls == "all" or (calls == "looking" and looks))


async def _without_arguments(client: Any, name: str) -> Mapping[str, Any]:
    """What a server says to a call that lacks what its tool needs; a protocol error as its text."""
    try:
        return wire(await client.call_tool(name, {}))
    except MCPError as error:
        return {"protocol": True, "content": [{"type": "text", "text": str(error)}], "isError": True}
